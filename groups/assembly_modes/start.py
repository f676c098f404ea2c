"""Pose at the reference inputs whose groups are in other assembly modes than the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from groups.assembly_modes.listing import GroupModes, modes
from groups.assembly_modes.search import STARTS, Assembly, Placement, searched
from groups.engine.solve import plan_of
from mbssa.joints.axes import whole_turns
from mbssa.joints.poses import Poses

if TYPE_CHECKING:
    from groups.model import Model


def in_modes(model: Model, modes: Mapping[int, int] | None) -> Model:
    """The model with its reference in other assembly modes, by number of the group, at the same inputs."""
    if not modes:
        return model
    return model.posed(starting_pose(model, modes), model.inputs)


def starting_pose(model: Model, wanted: Mapping[int, int], *, starts: int = STARTS) -> Poses:
    """Pose at the reference inputs with ``wanted`` modes by group number."""
    # A group below a changed one finds its known bodies elsewhere than in the list of `modes`. It takes the
    # mode with the same signs as the one wanted, else as the reference's; of several, the one with the
    # nearest unknowns.
    known = _known_modes(model, wanted, starts)
    plan, moved = plan_of(model), set[int]()
    column = plan.start.copy()
    for group, part in zip(model.structure.groups, plan.parts, strict=True):
        touched = {
            body for j in group.joint_indices.tolist() for body in model.mechanism.joint_bodies(j)
        } & moved
        if group.number not in wanted and not touched:
            continue
        listed = known.get(group.number) or modes(model, group.number, starts=starts)
        number = wanted.get(group.number, listed.reference)
        if number == listed.reference and not touched:
            continue
        chosen = listed[number]._placement
        if touched:
            chosen = _again(Assembly(model, group, starts, column=column.copy()), chosen, wanted)
        rows = plan.rows_of_part(part)
        column[rows] = chosen.column[rows]
        turn = [plan.body(body) + plan.record.turn for body in group.body_indices.tolist()]
        if part.group.direct and plan.record.planar:
            column[turn] += whole_turns(plan.start[turn] - column[turn])
        rows_of = {body: plan.rows_of_body(body) for body in group.body_indices.tolist()}
        moved |= {body for body, of in rows_of.items() if not np.array_equal(column[of], plan.start[of])}
    return plan.poses(column[:, None])[0] if moved else model.reference


def _known_modes(model: Model, wanted: Mapping[int, int], starts: int) -> dict[int, GroupModes]:
    """Modes of the groups that are wanted; refuses groups and modes that do not exist."""
    faults, known = [], {}
    for group, number in wanted.items():
        try:
            known[group] = listed = modes(model, model.structure.group(group).number, starts=starts)
        except ValueError as error:
            faults.append(str(error))
            continue
        if not (isinstance(number, int) and 1 <= number <= len(listed)):
            there = "mode 1 alone" if len(listed) == 1 else f"modes 1 to {len(listed)}"
            found = there if listed.complete else f"{there} that were found"
            faults.append(f"SG-{group} has {found} (the reference's is {listed.reference}), not {number!r}")
    if faults:
        raise ValueError("; ".join(faults))
    return known


def _again(assembly: Assembly, like: Placement, wanted: Mapping[int, int]) -> Placement:
    """The placement beside the present known bodies that is nearest to one of the list."""
    searched(assembly)
    signs, found = not assembly.part.routine.redundant, assembly.found
    alike = [p for p in found if p.laid == like.laid and (p.branch == like.branch or not signs)]
    if alike:
        off = np.array([p.column[assembly.part.state] for p in alike]) - like.column[assembly.part.state]
        off -= whole_turns(off) * assembly.part.turns
        return alike[int(np.abs(off / assembly.scale).max(axis=1, initial=0.0).argmin())]
    others = f"; it can in {len(found)} modes with other signs" if found else ": out of reach"
    changed = ", ".join(f"SG-{group} in mode {number}" for group, number in wanted.items())
    bodies, number = ", ".join(map(str, assembly.group.bodies)), assembly.group.number
    raise ValueError(f"SG-{number} (bodies {bodies}) cannot be assembled with {changed}{others}")
