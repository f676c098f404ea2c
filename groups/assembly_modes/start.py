"""Pose at the reference inputs whose groups are in other assembly modes than the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from groups.assembly_modes.listing import STARTS, GroupModes, modes, task_of
from groups.assembly_modes.placing import Placing, Stage
from groups.assembly_modes.search import Task, placings
from mbssa import Group
from mbssa.arrays import Floats
from mbssa.joints.poses import relative_pose
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
            chosen = _again(task_of(model, group, starts, at=at), chosen, wanted)
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
    stage = task.stage
    found, _ = placings(task)
    signs = not stage.part.routine.redundant
    alike = [p for p in found if p.laid == like.laid and (p.branch == like.branch or not signs)]
    if alike:
        return min(alike, key=lambda p: _apart(stage, p, like))
    others = f"; it can in {len(found)} modes with other signs" if found else ": out of reach"
    changed = ", ".join(f"SG-{group} in mode {number}" for group, number in wanted.items())
    raise ValueError(f"{_named(stage.group)} cannot be assembled with {changed}{others}")


def _named(group: Group) -> str:
    bodies = ", ".join(map(str, group.bodies))
    return f"SG-{group.number} (bodies {bodies})"


def _apart(stage: Stage, one: Placing, two: Placing) -> float:
    """Largest difference of the poses of bodies as the bodies see them on which they hang, over the size."""
    # The first one stands in the stage's configuration, the second one was listed at the reference.
    reference = stage.plan.setting.reference
    seen = [_seen(stage, _with(at, p)) for at, p in ((stage.at, one), (reference, two))]
    return float(np.abs(seen[0] - seen[1]).max(initial=0.0))


def _seen(stage: Stage, at: Configuration) -> Floats:
    """(links, 12) poses of bodies seen from those on which they hang, lengths over the size."""
    links = stage.kinematics.links
    parents, bodies = ([getattr(link, name) for link in links] for name in ("parent", "body"))
    poses = [(at.position[of], at.rotation[of]) for of in (parents, bodies)]
    d, C = relative_pose(poses, np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))[:2]
    return np.concatenate([d / stage.size, C.reshape(-1, 9)], axis=1)


def _with(at: Configuration, placing: Placing) -> Configuration:
    position, rotation, angle = at.position.copy(), at.rotation.copy(), at.angle.copy()
    position[placing.bodies], rotation[placing.bodies] = placing.position, placing.rotation
    angle[placing.bodies] = placing.angle
    return replace(at, position=position, rotation=rotation, angle=angle)


def _elsewhere(before: Configuration, after: Configuration, body: int) -> bool:
    same = np.array_equal(before.position[body], after.position[body])
    return not (same and np.array_equal(before.rotation[body], after.rotation[body]))
