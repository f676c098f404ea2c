"""Search for inputs: enumerate the actuation schemes, evaluate them, order them by a criterion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mbssa.faults import Fault, Faults, ModelError
from mbssa.input_search import database
from mbssa.input_search.best_first import Clock, Evaluate, Outcome, Progress, best_first, drawn, starts_of
from mbssa.input_search.criteria import DEFAULT
from mbssa.input_search.criteria import criterion as read_criterion
from mbssa.input_search.enumerate import Schemes, schemes
from mbssa.input_search.evaluate import Evaluated, GroupLibrary, Library, evaluate, group_library
from mbssa.input_search.query import check_number, make_query
from mbssa.input_search.result import Transformation, Transformations, transformation
from mbssa.input_search.symmetry import counted_once, interchangeable, present_inputs
from mbssa.input_search.undriven import Undriven, undriven_mechanisms
from mbssa.io.multiple import count_choices
from mbssa.mechanism import Mechanism
from mbssa.texts import counted

#: Schemes up to which the search is exhaustive.
MOST = 2_000_000

#: Schemes, and about as many sets of inputs, that are evaluated at a time: some tenths of a second, in which
#: no time limit is looked at.
_BLOCK = 4096
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
    counted: Callable[[int, int], None] | None = None,
    progress: Progress | None = None,
) -> Transformations:
    """Find the inputs that give a mechanism its best kinematic structure.

    Parameters
    ----------
    inputs : number of driven coordinates; by default as many as now, or one for each degree of freedom
    allow, forbid : joints (``1-2``) or coordinates (``1-2.slide``) that may or may not be inputs
    require : joints or coordinates that every set of inputs has
    per_joint : most inputs on one joint
    terminals : bodies, by name or number, that get a fictitious F pair with the frame whose coordinates
        may be inputs
    precision : of the geometry's numbers, m; by default from their digits
    spanning : whether other pairs may replace those of the multiple joints
    criterion : ``groups,largest`` (lexicographic) or ``2*groups-1*largest`` (weighted sum, more is better)
    every : whether ``rows`` has schemes without a valid set too
    library : type names with a closed form, or a function of a group; by default those of the installed
        packages
    costs : µs of one time step by type name; by default those of the installed packages
    most : schemes that may be evaluated, at least 1. Where there are more, the search is best first by
        exchange of one input, and may end earlier if nothing better has come for long
    time_limit : s after which the search ends with the best so far
    store : SQLite file to which the result is added; it replaces one that evaluated no more of that query
    counted : called before the search with the numbers of sets of inputs and of schemes
    progress : called with the numbers of schemes evaluated and of all

    Returns
    -------
    Transformations, best first; its ``complete`` and ``notes`` state what was not evaluated.

    Raises
    ------
    ValueError
        Unknown names, numbers or criteria, all at once; or a mechanism without admissible inputs.
    mbssa.store.StoreError
        The database cannot be used.

    Examples
    --------
    >>> import mbssa
    >>> answer = transform(mbssa.load("rotor"))
    >>> answer.n_sets, answer.n_valid, answer.best.n_groups
    (9139, 1062, 9)
    """
    from threadpoolctl import threadpool_limits

    faults = Faults()
    check_number("most", most, 1, faults)
    check_number("time_limit", time_limit, 0.0, faults)
    try:
        wanted = read_criterion(criterion)
    except ValueError as error:
        faults.add("criterion", str(error))
    try:
        query = make_query(
            mechanism, inputs=inputs, allow=allow, forbid=forbid, require=require, per_joint=per_joint,
            terminals=terminals, precision=precision, spanning=spanning,
        )  # fmt: skip
    except ModelError as error:
        faults = Faults([*error.faults, *faults])
    faults.raise_if_any(mechanism.name or "mechanism")
    if store is not None:
        database.check(mechanism, store)
    known = group_library(library, costs)
    undriven, all_choices = undriven_mechanisms(mechanism, query)
    query = replace(query, inputs=undriven[0].n_inputs)
    allowed = [schemes(base) for base in undriven]
    total = sum(each.count for each in allowed)
    n_sets = sum(each.n_sets for each in allowed)
    if total == 0:
        needed = undriven[0].n_inputs
        if (required := int(undriven[0].least.sum())) > needed:
            what = f"{required} inputs are required, and {needed} are needed; require less"
        else:
            many = int(undriven[0].most.sum())
            what = f"{needed} inputs are needed, and {many} coordinates are allowed; allow more of them"
        raise ModelError(mechanism.name or "mechanism", [Fault("inputs", what, "conflict")])
    if counted is not None:
        counted(n_sets, total)
    block, clock = block_size(total, n_sets), Clock(time_limit)

    def of_variant(variant: int, places: npt.NDArray[np.int16]) -> Evaluated:
        return evaluate(undriven[variant], places, known)

    # The matrices are small: several threads take no less time.
    with threadpool_limits(1, "blas"):
        if total <= most:
            outcome = exhaustive(of_variant, allowed, block=block, clock=clock, progress=progress)
        else:
            outcome = best_first(
                of_variant, allowed, wanted, starts_of(undriven, mechanism),
                lambda rng: drawn(undriven[int(rng.integers(len(undriven)))], rng),
                most=most, largest=block, clock=clock, progress=progress,
            )  # fmt: skip
    evaluated = outcome.evaluated.take(outcome.evaluated.determined)
    images, all_images = interchangeable(undriven)
    answer = Transformations(
        mechanism=mechanism,
        query=query,
        criterion=wanted,
        undriven=tuple(undriven),
        evaluated=counted_once(evaluated, images, undriven[0].mechanism.n_joints),
        n_sets=n_sets,
        n_distributions=total,
        n_evaluated=outcome.n_evaluated,
        complete=outcome.n_evaluated == total and all_choices,
        way="all" if total <= most else "best-first",
        stopped=outcome.stop,
        every=every,
        own=own_inputs(mechanism, undriven, known),
        notes=_notes(undriven, all_choices, all_images, outcome.stop, outcome.n_evaluated, total),
    )
    if store is not None:
        database.save(answer, store)
    return answer


def block_size(total: int, n_sets: int) -> int:
    """Schemes evaluated at a time, of ``total`` that have ``n_sets`` sets of inputs."""
    return min(_BLOCK, max(1, _SETS_AT_A_TIME * total // n_sets))


def exhaustive(
    evaluate: Evaluate,
    schemes: Sequence[Schemes],
    *,
    block: int,
    clock: Clock,
    progress: Progress | None = None,
) -> Outcome:
    """Evaluate all schemes, up to Ctrl-C or the time limit; keep those that the mobility count determines."""
    total = sum(each.count for each in schemes)
    pieces, n_evaluated = [Evaluated.empty(schemes[0].n_inputs)], 0
    try:
        for variant, several in enumerate(schemes):
            first = 0
            while first < several.count and not clock.over:
                stop = min(first + clock.fitting(n_evaluated, block), several.count)
                found = evaluate(variant, several.places(first, stop))
                pieces.append(found.take(found.determined))
                n_evaluated += stop - first
                first = stop
                if progress is not None:
                    progress(n_evaluated, total)
    except KeyboardInterrupt:
        return Outcome(Evaluated.joined(pieces), n_evaluated, "interrupted")
    return Outcome(Evaluated.joined(pieces), n_evaluated, "" if n_evaluated == total else "time")


def own_inputs(
    mechanism: Mechanism, undriven: list[Undriven], library: GroupLibrary
) -> Transformation | None:
    """Evaluate the present inputs of a mechanism; None where it has none, or another number."""
    for base in undriven:
        driven = present_inputs(mechanism, base)
        if driven is not None and mechanism.n_driven == base.n_inputs:
            # These coordinates alone, whatever the query allows.
            most = base.by_joint(driven)
            none, free = np.zeros_like(driven), np.zeros_like(most)
            alone = replace(base, allowed=driven, required=none, least=free, most=most)
            places = base.joint[driven].astype(np.int16)[None]
            return transformation(alone, evaluate(alone, places, library), 0)
    return None


def _notes(
    undriven: list[Undriven], all_choices: bool, all_images: bool, stopped: str, n_evaluated: int, total: int
) -> tuple[str, ...]:
    first = undriven[0]
    passive = counted(first.n_passive, "passive rotation") + (" is" if first.n_passive == 1 else " are")
    choices = prod(count_choices(len(each.bodies)) for each in first.bare.multiple_joints)
    left = total - n_evaluated
    why = {
        "time": "the time limit was reached: ",
        "interrupted": "the search was interrupted: ",
        "settled": "nothing better was found for long: ",
    }.get(stopped, "")
    notes = {
        "the model has no geometry for every joint: generic rank decides which inputs are valid": (
            first.basis == "generic"
        ),
        f"no inputs can be valid: {first.fault}": first.fault,
        f"{passive} not driven: inputs that lock one are not valid": first.n_passive,
        f"of {choices:,} choices of pairs for multiple joints only {len(undriven):,} were evaluated": (
            not all_choices
        ),
        "the search for symmetry reached its bound: equivalent schemes may be listed apart": not all_images,
        f"{why}{left:,} of {total:,} schemes were not evaluated, and one of them may be better": left,
    }
    return tuple(note for note, holds in notes.items() if holds)
