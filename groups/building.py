"""Making a model of a structure: a solver for each group, and the loop where inputs are borrowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from groups.model import Model
from groups.motion import driven_coordinates
from groups.results.borrowed import Borrowed, ChosenBy
from groups.setting import Setting
from groups.solvers.registry import alternatives, choose, choose_all
from groups.status import OK
from groups.trajectory import STATUS
from mbssa import Mechanism, ModelError, Structure, decompose

if TYPE_CHECKING:
    from groups.kernels.torn_state import Loop

#: Condition at the reference below which an outer Newton has nothing to go by.
DEAD = 1e-9

#: Largest ratio of the condition of a group, or of the loop, at a better pose to that at the reference.
USUAL = 8.0

#: Sets of inputs that are tried where the best ones are singular at the reference.
TRIED = 20


def model_of(given: Model | Structure | Mechanism) -> Model:
    """A model itself, or that of a structure or mechanism with the solvers that its groups get by default."""
    if isinstance(given, Mechanism):
        given = decompose(given)
    return build(given) if isinstance(given, Structure) else given


def build(
    structure: Structure,
    solvers: Mapping[int, str] | None = None,
    *,
    drives: Sequence[str] | str | None = None,
    borrow: Sequence[str] | str | None = None,
) -> Model:
    """A solvable model of a structure.

    With ``drives`` or ``borrow`` the groups are those of other inputs than are driven: the groups are solved
    for *tearing* inputs, and an outer Newton finds these so that the drives are met. Where their
    structure is singular or out of reach the structure of the drives solves those instants, and the
    trajectory says so.

    Parameters
    ----------
    solvers : by number of the group, where it shall not be the one that it gets by default, ``closed form``,
        ``Newton``, ``global dense`` or ``global sparse``; :func:`solvers_of` says which a group can have
    drives : coordinates that are really driven (``1-2.angle``), as many as the structure was made for; the
        structure's own inputs are then borrowed
    borrow : the structure is that of the real drives; it is solved by the one of these coordinates, which
        may be of a fictitious F pair (planar FP) between the frame and a body; or ``auto``: those with the
        fewest groups without a closed form, then the fewest unknowns, then the cheapest, of all that
        :func:`mbssa.transform` finds. If these are its own nothing is borrowed

    Raises
    ------
    ValueError
        Not determined, without geometry, a type without equations, or a reference that cannot close:
        what and where. Groups or solvers that there are not: all of them. Drives or tearing inputs that
        there are not, too many or too few, or that do not say where the mechanism is.

    Examples
    --------
    >>> import groups, mbssa
    >>> structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    >>> [solver.choice for solver in groups.build(structure).solvers]
    ['driven', 'closed form']
    >>> [solver.choice for solver in groups.build(structure, {2: "Newton"}).solvers]
    ['driven', 'Newton']
    >>> stewart = mbssa.decompose(mbssa.load("stewart"))
    >>> [solver.name for solver in groups.build(stewart).solvers]
    ['Newton, 6 unknowns']
    >>> pose = [f"1-14.{name}" for name in ("x", "y", "z", "angle_x", "angle_y", "angle_z")]
    >>> sorted({solver.name for solver in groups.build(stewart, borrow=pose).solvers})
    ['a leg between two points', 'driven']
    """
    if not isinstance(structure, Structure):
        raise TypeError(f"build takes what mbssa.decompose gives, not a {type(structure).__name__}")
    if drives is not None and borrow is not None:
        raise ValueError("drives and borrow at once; write one of them")
    if drives is not None or borrow is not None:
        if borrow is not None:
            return _through_inputs(structure, borrow, solvers)
        return _through_drives(structure, drives or (), solvers)
    setting = Setting.of(structure)
    chosen = choose_all(setting, solvers or {})
    return Model(structure, setting.frames, setting.reference, chosen)


def solvers_of(of: Model | Structure, group: int) -> tuple[str, ...]:
    """Names of the solvers that :func:`build` can give a group, its default first.

    Raises
    ------
    ValueError
        A group that there is not, or a structure that cannot be solved.

    Examples
    --------
    >>> import groups, mbssa
    >>> structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    >>> groups.solvers_of(structure, 2)
    ('closed form', 'Newton', 'global dense', 'global sparse')
    """
    structure = of if isinstance(of, Structure) else of.structure
    found = structure.group(group)
    if isinstance(of, Model):
        given = of.solver(group)
        return alternatives(found, Setting.at(structure, of.frames, of.reference), given.default or given)
    setting = Setting.of(structure)
    return alternatives(found, setting, choose(found, setting))


def _through_drives(
    structure: Structure, drives: Sequence[str] | str, solvers: Mapping[int, str] | None
) -> Model:
    """Model of a structure that is driven in other coordinates than it was made for."""
    return _model(structure, _driven(structure.mechanism, drives, "drives"), solvers, "user")


def _through_inputs(
    structure: Structure, borrow: Sequence[str] | str, solvers: Mapping[int, str] | None
) -> Model:
    """Model of a driven structure that is solved by other inputs, or by ``auto`` ones."""
    # A coordinate may be of a fictitious F pair (planar FP) of the frame and a body that the mechanism has
    # not, as 1-14.x.
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
    from mbssa.input_search.query import with_inputs

    _check_names(names, what)
    try:
        found = with_inputs(mechanism, names, terminals)
    except ModelError as error:
        raise ValueError(f"{what}: {'; '.join(fault.message for fault in error.faults)}") from None
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
    """The tearing structure as a model, with all that meets the drives of a mechanism."""
    from groups.tearing.loop import Tearing, loop_of

    inputs, drives = driven_coordinates(structure.mechanism), driven_coordinates(mechanism)
    inner = _built(structure, solvers, f"the tearing inputs {', '.join(inputs)}")
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
    loop = _conditioned_loop(replace(inner, tearing=Tearing(record, by_drives, loop)))
    return replace(inner, tearing=Tearing(record, by_drives, loop))


def _built(structure: Structure, solvers: Mapping[int, str] | None, what: str) -> Model:
    if not structure.determined:
        raise ValueError(
            f"{what} do not make a structure that is determined; mbssa.check says why and what would help"
        )
    return build(structure, solvers)


def _conditioned_loop(model: Model) -> Loop:
    """The loop with its usual conditions; refuses inputs that are singular at the reference."""
    from groups.posed import inputs_at
    from groups.tearing.driving import at_reference

    tearing = model.tearing
    assert tearing is not None
    record = tearing.borrowed
    drives = np.array(list(tearing.direct.reference_inputs.values()))
    status, group, condition, of_groups = at_reference(model, inputs_at(model.inner, model.reference), drives)
    if status != OK and group:
        raise ValueError(
            f"the tearing inputs {', '.join(record.inputs)} cannot be used at the reference: SG-{group} of "
            f"{model.group_names[group - 1]} is {STATUS[status]} there; name others"
        )
    if status != OK or not condition > DEAD:
        raise ValueError(
            f"the drives {', '.join(record.drives)} do not follow from the tearing inputs "
            f"{', '.join(record.inputs)} one to one at the reference (condition {condition:.2g}): the drives "
            "are not independent there, or the reference is a dead-centre position; drive others"
        )
    usual = np.minimum(1.0, USUAL * of_groups)
    return tearing.loop._replace(usual=usual, regular=min(1.0, USUAL * condition))
