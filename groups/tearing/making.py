"""A model with borrowed inputs: its parts, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from groups.kernels.status import OK
from groups.model import Model, build
from groups.motion import driven_coordinates
from groups.tearing.driving import judged
from groups.tearing.loop import Loop, loop_of
from groups.tearing.posed import inputs_at
from groups.tearing.record import Borrowed, ChosenBy
from groups.trajectory import STATUS
from mbssa import Mechanism, ModelError, Structure, decompose
from mbssa.input_search.query import with_inputs

#: Condition at the reference below which an outer Newton has nothing to go by.
DEAD = 1e-9

#: How many times its condition at the reference a group, or the loop, may have at a better pose.
USUAL = 8.0

#: Sets of inputs that are tried where the best ones are not for the reference.
TRIED = 20


@dataclass(frozen=True, eq=False)
class Tearing:
    """What a model has more than others if its inputs are borrowed.

    Attributes
    ----------
    borrowed : the record
    direct : the model of the structure that the real drives make
    loop : the loop's data
    """

    borrowed: Borrowed
    direct: Model
    loop: Loop


def through_drives(
    structure: Structure, drives: Sequence[str] | str, solvers: Mapping[int, str] | None
) -> Model:
    """The model of a structure that is driven in other coordinates than it was made for.

    Raises
    ------
    ValueError
        Drives that there are not, too many or too few; drives or inputs that do not say where the mechanism
        is; a group in the loop that is solved by the global approach.
    TypeError
        No names at all.
    """
    return _model(structure, _driven(structure.mechanism, drives, "drives"), solvers, "user")


def through_inputs(
    structure: Structure, borrow: Sequence[str] | str, solvers: Mapping[int, str] | None
) -> Model:
    """The model of a driven structure that is solved by other inputs.

    Parameters
    ----------
    borrow : coordinates, which may be of a fictitious F pair (planar FP) of the frame and a body that the
        mechanism has not (``1-14.x``); or ``auto``

    Raises
    ------
    ValueError, TypeError
        As :func:`through_drives`.
    """
    if borrow == "auto":
        return _chosen(structure, solvers)
    mechanism = structure.mechanism
    _check_names(borrow, "borrow")
    terminals = _terminals(mechanism, borrow)
    borrowed = decompose(_driven(mechanism, borrow, "borrow", terminals))
    return _model(borrowed, mechanism, solvers, "user", structure)


def _chosen(structure: Structure, solvers: Mapping[int, str] | None) -> Model:
    """The model of a driven structure with the inputs that are best, which may be its own."""
    from groups.tearing.choosing import worth_borrowing

    mechanism = structure.mechanism
    own = set(driven_coordinates(mechanism))
    for inputs in worth_borrowing(mechanism)[:TRIED]:
        if set(inputs) == own:
            break
        with suppress(ValueError):  # not for the reference: the next
            borrowed = decompose(_driven(mechanism, inputs, "borrow"))
            return _model(borrowed, mechanism, solvers, "automatic", structure)
    return build(structure, solvers)


def _driven(
    mechanism: Mechanism, names: Sequence[str] | str, what: str, terminals: Sequence[int] = ()
) -> Mechanism:
    """The mechanism with these drives; all that is wrong with them at once."""
    _check_names(names, what)
    try:
        found = with_inputs(mechanism, names, terminals)
    except ModelError as error:
        raise ValueError(f"{what}: {'; '.join(fault.what for fault in error.faults)}") from None
    if found.n_driven != mechanism.n_driven:
        raise ValueError(
            f"{what}: {found.n_driven} coordinates; write {mechanism.n_driven}, as many as "
            f"{', '.join(driven_coordinates(mechanism)) or 'nothing'}"
        )
    return found


def _check_names(names: object, what: str) -> None:
    if not isinstance(names, Iterable):
        kind = type(names).__name__
        raise TypeError(f"{what} takes names of coordinates, such as ['1-2.angle'], not a {kind}")


def _terminals(mechanism: Mechanism, names: Sequence[str] | str) -> list[int]:
    """Bodies of pairs with the frame that are named and that the mechanism has not."""
    found = set()
    for name in names.split(",") if isinstance(names, str) else names:
        ends = str(name).strip().rpartition(".")[0].split("-")
        if len(ends) == 2 and all(end.isdecimal() for end in ends) and "1" in ends:
            (body,) = (int(end) for end in ends if end != "1") if ends != ["1", "1"] else (1,)
            if "-".join(["1", str(body)]) not in mechanism.joint_ids and 1 < body <= mechanism.n_bodies:
                found.add(body)
    return sorted(found)


def _model(
    structure: Structure,
    mechanism: Mechanism,
    solvers: Mapping[int, str] | None,
    chosen: ChosenBy,
    direct: Structure | None = None,
) -> Model:
    """The borrowed structure as a model, with all that meets the drives of a mechanism."""
    inputs, drives = driven_coordinates(structure.mechanism), driven_coordinates(mechanism)
    inner = _built(structure, solvers, f"the borrowed inputs {', '.join(inputs)}")
    by_drives = _built(direct or decompose(mechanism), None, f"the drives {', '.join(drives)}")
    if set(inputs) == set(drives):
        raise ValueError(f"{', '.join(drives)} are the drives themselves: there is nothing to borrow")
    extent = float(np.abs(inner.reference.position).max())
    loop = loop_of(structure, inner.frames, drives, extent)
    groups = [number + 1 for number in loop.inside.tolist()]
    record = Borrowed(
        inputs,
        drives,
        tuple(inputs[k] for k in loop.unknown.tolist()),
        tuple(groups),
        tuple(number + 1 for number in loop.before.tolist()),
        structure.n_groups,
        chosen,
    )
    at_once = [
        f"SG-{g} is solved by {solver.choice!r} and lies in the loop, which needs "
        "the group at one instant; give it another solver"
        for g, solver in enumerate(inner.solvers, start=1)
        if solver.part is not None and g in (*record.loop, *record.before)
    ]
    if at_once:
        raise ValueError("; ".join(at_once))
    loop = _judged(replace(inner, tearing=Tearing(record, by_drives, loop)))
    return replace(inner, tearing=Tearing(record, by_drives, loop))


def _built(structure: Structure, solvers: Mapping[int, str] | None, what: str) -> Model:
    if not structure.determined:
        raise ValueError(
            f"{what} do not make a structure that is determined; mbssa.check says why and what would help"
        )
    return build(structure, solvers)


def _judged(model: Model) -> Loop:
    """The loop with what good conditions are; refuses inputs that say nothing at the reference."""
    tearing = model.tearing
    assert tearing is not None
    record = tearing.borrowed
    drives = np.array(list(tearing.direct.reference_inputs.values()))
    status, group, condition, of_groups = judged(model, inputs_at(model.inner, model.reference), drives)
    if status != OK and group:
        raise ValueError(
            f"the borrowed inputs {', '.join(record.inputs)} are not for the reference: SG-{group} of "
            f"{model.group_names[group - 1]} is {STATUS[status]} there; borrow others"
        )
    if status != OK or not condition > DEAD:
        raise ValueError(
            f"the drives {', '.join(record.drives)} do not follow from the borrowed inputs "
            f"{', '.join(record.inputs)} one to one at the reference (condition {condition:.2g}): the drives "
            "are not independent there, or the reference is a dead point; drive others"
        )
    usual = np.minimum(1.0, USUAL * of_groups)
    return replace(tearing.loop, usual=usual, regular=min(1.0, USUAL * condition))
