"""Pose at the reference inputs whose groups are in other assembly modes than the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from groups.assembly_modes.listing import STARTS, GroupModes, modes, task_of
from groups.kernels import layout
from groups.placing.placing import Placing, Task, placings
from groups.solvers.solver import Solver
from mbssa import Group
from mbssa.joints.system import Configuration

if TYPE_CHECKING:
    from groups.model import Model


def starting_pose(model: Model, wanted: Mapping[int, int], *, starts: int = STARTS) -> Configuration:
    """Pose at the reference inputs with ``wanted`` modes by group number."""
    # A group below a changed one finds its known bodies elsewhere than in the list of `modes`. It takes the
    # mode with the same signs as the one wanted, else as the reference's; of several, the one with the
    # nearest unknowns.
    known = _known_modes(model, wanted, starts)
    at, moved = model.reference, set[int]()
    for group in model.structure.groups:
        touched = {
            body for j in group.joint_indices.tolist() for body in model.mechanism.joint_bodies(j)
        } & moved
        if group.number not in wanted and not touched:
            continue
        listed = known.get(group.number) or modes(model, group.number, starts=starts)
        number = wanted.get(group.number, listed.reference)
        if number == listed.reference and not touched:
            continue
        chosen = listed[number]._placing
        if touched:
            task = replace(task_of(model, group, starts), at=at, near=chosen.memory)
            chosen = _again(task, chosen, wanted)
        before, at = at, _with(at, chosen)
        moved |= {body for body in chosen.bodies.tolist() if _elsewhere(before, at, body)}
    return at


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


def _again(task: Task, like: Placing, wanted: Mapping[int, int]) -> Placing:
    """The placing with the present known bodies that is nearest to one of the list."""
    found, _ = placings(task)
    signs = not task.solver.redundant
    alike = [p for p in found if p.laid == like.laid and (p.branch == like.branch or not signs)]
    if alike:
        return min(alike, key=lambda p: _apart(task.solver, task.frames.size, p, like))
    others = f"; it can in {len(found)} modes with other signs" if found else ": out of reach"
    changed = ", ".join(f"SG-{group} in mode {number}" for group, number in wanted.items())
    raise ValueError(f"{_named(task.group)} cannot be assembled with {changed}{others}")


def _named(group: Group) -> str:
    bodies = ", ".join(map(str, group.bodies))
    return f"SG-{group.number} (bodies {bodies})"


def _apart(solver: Solver, size: float, one: Placing, two: Placing) -> float:
    """Largest difference of the unknowns, rad or of the size."""
    if not len(one.x):
        return 0.0
    tree = layout.tree_of(solver.ints, solver.floats)
    turns = np.isin(np.arange(len(one.x)), tree.unknown[tree.kind == layout.TURN])
    slides = np.isin(np.arange(len(one.x)), tree.unknown[tree.kind == layout.SLIDE]) & ~turns
    gap = one.x - two.x
    gap = np.where(turns, np.abs(gap - 2 * np.pi * np.round(gap / (2 * np.pi))), np.abs(gap) / size)
    largest = float(gap[turns | slides].max(initial=0.0))
    return max(largest, float(np.abs(one.balls - two.balls).max(initial=0.0)))


def _with(at: Configuration, placing: Placing) -> Configuration:
    position, rotation, angle = at.position.copy(), at.rotation.copy(), at.angle.copy()
    position[placing.bodies], rotation[placing.bodies] = placing.position, placing.rotation
    angle[placing.bodies] = placing.angle
    return replace(at, position=position, rotation=rotation, angle=angle)


def _elsewhere(before: Configuration, after: Configuration, body: int) -> bool:
    same = np.array_equal(before.position[body], after.position[body])
    return not (same and np.array_equal(before.rotation[body], after.rotation[body]))
