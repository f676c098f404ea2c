"""The search over inputs: count them, judge them, put the best first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mbssa.faults import Fault, ModelError
from mbssa.io.multiple import count_choices
from mbssa.mechanism import Mechanism
from mbssa.transformations.base import Base, bases
from mbssa.transformations.best_first import Found, search_inputs
from mbssa.transformations.criteria import DEFAULT, Criterion
from mbssa.transformations.criteria import criterion as read_criterion
from mbssa.transformations.distributions import Distributions, distributions
from mbssa.transformations.exhaustive import Progress, exhaustive
from mbssa.transformations.judged import Judged, judge
from mbssa.transformations.keeping import BLOCK, Search, begin, held_open
from mbssa.transformations.keys import Way, key_of
from mbssa.transformations.question import Question, ask
from mbssa.transformations.remembering import remembering
from mbssa.transformations.result import Transformation, Transformations, transformation
from mbssa.transformations.symmetry import counted_once, interchangeable, same_pairs
from mbssa.transformations.table import Library, Table, table

#: Distributions up to which all of them are judged.
MOST = 2_000_000

#: Sets of inputs that are judged at a time, about: some tenths of a second, in which nothing can stop it.
_SETS_AT_A_TIME = 500_000


def transform(
    mechanism: Mechanism,
    *,
    inputs: int | None = None,
    allow: Iterable[str] = (),
    forbid: Iterable[str] = (),
    require: Iterable[str] = (),
    per_joint: int | None = None,
    terminals: Iterable[str | int] = (),
    precision: float | None = None,
    spanning: bool = True,
    criterion: str = DEFAULT,
    every: bool = False,
    library: Library | None = None,
    costs: Mapping[str, float] | None = None,
    most: int = MOST,
    time_limit: float | None = None,
    store: str | Path | None = None,
    block: int = BLOCK,
    counted: Callable[[int, int], None] | None = None,
    progress: Progress | None = None,
) -> Transformations:
    """Find the inputs that give a mechanism its best kinematic structure.

    Parameters
    ----------
    inputs : how many coordinates are driven; if not given as many as now, or one for each free motion
    allow, forbid : joints (``1-2``) or coordinates (``1-2.slide``) that may or may not be inputs
    require : joints or coordinates that every set of inputs has
    per_joint : most inputs on one joint
    terminals : bodies, by name or number, that get a fictitious F pair with the frame whose coordinates
        may be inputs
    precision : of the geometry's numbers, m; found from their digits if not given
    spanning : whether other pairs may stand for the multiple joints
    criterion : ``groups,largest`` (lexicographic) or ``2*groups-1*largest`` (weighted sum, more is better)
    every : whether rows that the count determines are named too where no set of them is valid
    library : type names with a closed form, or a function of a group; else what installed packages have
    costs : µs an instant by type name; else what installed packages announce
    most : distributions that may be judged, 1 at least. Where there are more, the search goes from best to
        best by exchange of one input, and ends before that number if nothing better has come for long
    time_limit : s after which the search gives the best so far
    store : file where what is found is kept; a search that is kept there goes on, or is answered from it
    block : distributions judged at a time, at most; fewer where they stand for many sets
    counted : told before anything is judged how many sets of inputs there are, in how many distributions
    progress : told how many distributions were looked at, of how many

    Returns
    -------
    Transformations, best first; see its ``complete`` and ``notes`` for what was not looked at.

    Raises
    ------
    ValueError
        Names, numbers or criteria that are none, all at once; or a mechanism whose inputs cannot be sought;
        or a store for a library that is a function, whose verdicts cannot be kept.
    mbssa.store.StoreError
        The store cannot be used.

    Examples
    --------
    >>> import mbssa
    >>> answer = transform(mbssa.load("rotor"))
    >>> answer.n_sets, answer.n_valid, answer.best.n_groups
    (9139, 1062, 9)
    """
    from threadpoolctl import threadpool_limits

    faults = _limit_faults(most=most, block=block, time_limit=time_limit)
    try:
        wanted = read_criterion(criterion)
    except ValueError as error:
        faults.append(Fault("", str(error)))
    try:
        question = ask(
            mechanism,
            inputs=inputs,
            allow=allow,
            forbid=forbid,
            require=require,
            per_joint=per_joint,
            terminals=terminals,
            precision=precision,
            spanning=spanning,
        )
    except ModelError as error:
        faults = [*error.faults, *faults]
    if faults:
        raise ModelError(mechanism.name or "mechanism", faults)
    known = table(library, costs)
    found, all_choices = bases(mechanism, question)
    question = replace(question, inputs=found[0].n_inputs)
    rooms = [distributions(base) for base in found]
    total = sum(room.count for room in rooms)
    n_sets = sum(room.n_sets for room in rooms)
    if total == 0:
        raise ModelError(mechanism.name or "mechanism", [_nothing_allowed(found[0])])
    if counted is not None:
        counted(n_sets, total)
    way: Way = "all" if total <= most else "best-first"
    block = min(block, max(1, _SETS_AT_A_TIME * total // n_sets))
    search = None
    if store is not None:
        search = _kept_search(store, mechanism, question, found, rooms, known, way, block)
    # Matrices are small: more threads than one only wait for each other.
    with threadpool_limits(1, "blas"):
        if way == "all":
            looked = exhaustive(
                found, rooms, known, search=search, block=block, time_limit=time_limit, progress=progress
            )
            judged, looked_at, stopped = looked.judged, looked.looked_at, str(looked.stopped)
        else:
            best = _best_first(mechanism, found, known, wanted, search, most, block, time_limit, progress)
            judged, looked_at = best.judged.take(best.judged.determined), best.looked_at
            stopped = str(best.stop)
    images, all_images = interchangeable(found)
    notes = _notes(found, all_choices, all_images, stopped, looked_at, total)
    return Transformations(
        mechanism=mechanism,
        question=question,
        criterion=wanted,
        bases=tuple(found),
        judged=counted_once(judged, images, found[0].mechanism.n_joints),
        n_sets=n_sets,
        n_distributions=total,
        looked_at=looked_at,
        complete=looked_at == total and all_choices,
        stopped=stopped,
        every=every,
        own=own_inputs(mechanism, found, known),
        notes=notes,
    )


def _limit_faults(most: int, block: int, time_limit: float | None) -> list[Fault]:
    faults = [
        Fault(name, f"{number!r} is not a number of distributions; write 1 or more")
        for name, number in (("most", most), ("block", block))
        if isinstance(number, bool) or not isinstance(number, int) or number < 1
    ]
    if time_limit is not None and not time_limit >= 0:
        faults.append(Fault("time_limit", f"{time_limit!r} is no time; write seconds, 0 or more"))
    return faults


def _nothing_allowed(base: Base) -> Fault:
    """Why no set of inputs fits a question."""
    required, allowed = int(base.least.sum()), int(base.most.sum())
    if required > base.n_inputs:
        what = f"{required} inputs are required, and {base.n_inputs} are needed; require less"
    else:
        what = f"{base.n_inputs} inputs are needed, and {allowed} coordinates are allowed; allow more of them"
    return Fault("inputs", what)


def _kept_search(
    store: str | Path,
    mechanism: Mechanism,
    question: Question,
    found: list[Base],
    rooms: list[Distributions],
    known: Table,
    way: Way,
    block: int,
) -> Search:
    if known.asked is not None:
        raise ValueError(
            "a library that is a function cannot be kept in a store; give the names of its types"
        )
    n_inputs = found[0].n_inputs
    return begin(
        store,
        key_of(mechanism, question, n_inputs, known.types, known.costs, way),
        mechanism,
        question,
        variants=[base.mechanism for base in found],
        totals=[room.count for room in rooms],
        n_inputs=n_inputs,
        way=way,
        block=block,
    )


def _best_first(
    mechanism: Mechanism,
    found: list[Base],
    known: Table,
    wanted: Criterion,
    search: Search | None,
    most: int,
    block: int,
    time_limit: float | None,
    progress: Progress | None,
) -> Found:
    def judged(variant: int, places: npt.NDArray[np.int16]) -> Judged:
        return judge(found[variant], places, known)

    def told(looked_at: int) -> None:
        if progress is not None:
            progress(looked_at, most)

    with held_open(search):
        judging = judged if search is None else remembering(search, judged)
        return search_inputs(
            found,
            mechanism,
            judging,
            wanted,
            most=most,
            largest=block,
            time_limit=time_limit,
            progress=told,
        )


def own_inputs(mechanism: Mechanism, found: list[Base], known: Table) -> Transformation | None:
    """The inputs that a mechanism has now, judged as any other; None where it has none, or another number.

    >>> import mbssa
    >>> from mbssa.transformations.table import table
    >>> manipulator = mbssa.load("micromanipulator")
    >>> own = own_inputs(manipulator, bases(manipulator, Question())[0], table())
    >>> own.valid, own.verdict[:41]
    (False, 'SG-2{2, 3} 1C1ER1S3D has rank 11 of 12 at')
    """
    here = next((base for base in found if same_pairs(mechanism, base.bare) is not None), None)
    if here is None or mechanism.n_driven != here.n_inputs:
        return None
    # These coordinates alone, whatever the question allows.
    allowed = np.zeros_like(here.allowed)
    allowed[same_pairs(mechanism, here.bare)] = mechanism.driven
    places = np.repeat(np.arange(len(allowed)), np.bitwise_count(allowed)).astype(np.int16)[None]
    alone = replace(
        here,
        allowed=allowed,
        required=np.zeros_like(allowed),
        least=np.zeros_like(here.least),
        most=np.bitwise_count(allowed).astype(np.int64),
    )
    return transformation({here.variant: alone}, judge(alone, places, known), 0)


def _notes(
    found: list[Base],
    all_choices: bool,
    all_images: bool,
    stopped: str,
    looked_at: int,
    total: int,
) -> tuple[str, ...]:
    notes = []
    if found[0].basis == "generic":
        notes.append("the model has no geometry for every joint: generic rank decides what is valid")
    if found[0].fault:
        notes.append(f"no inputs can be valid: {found[0].fault}")
    if found[0].spins:
        spins = "1 idle spin stays" if found[0].spins == 1 else f"{found[0].spins} idle spins stay"
        notes.append(f"{spins} idle: inputs that stop one are not valid")
    if not all_choices:
        n_choices = prod(count_choices(len(each.bodies)) for each in found[0].bare.multiple_joints)
        notes.append(
            f"of {n_choices:,} choices of pairs for multiple joints the first {len(found):,} were looked at"
        )
    if not all_images:
        notes.append("symmetry was not followed to its end: distributions that are alike may be named apart")
    if looked_at < total:
        why = {
            "time": "the time was up: ",
            "interrupted": "it was stopped: ",
            "settled": "nothing better came for long: ",
        }.get(stopped, "")
        left = total - looked_at
        notes.append(
            f"{why}{left:,} of {total:,} distributions were not looked at, and one of them may be better"
        )
    return tuple(notes)
