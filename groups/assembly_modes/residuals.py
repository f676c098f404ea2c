"""Residuals of a group's joint equations, from the catalogue, in many placings at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from groups.motion import drive_rows
from mbssa import Group
from mbssa.arrays import Floats
from mbssa.joints.catalogue import coordinate_unit, type_of_joint
from mbssa.joints.equations import Equations, elementary_values
from mbssa.joints.frames import Frames
from mbssa.joints.poses import relative_pose
from mbssa.joints.relations import TURNING, JointRelations, Relation, value_and_rates
from mbssa.joints.system import Configuration

#: Kinds of terms that count turns, and turns that each of them may be from the reference.
COUNTING, TURNS = (*TURNING, "turned"), 2


def largest_residual(group: Group, frames: Frames, placed: Configuration, inputs: Floats) -> Floats:
    """(M,) largest residual of any joint of a group, driving constraints included, m; angles as arcs."""
    mechanism = group.structure.mechanism
    drives = drive_rows(mechanism)
    worst = np.zeros(len(placed.position))
    for joint, rows, names, d, C, given in _pairs(group, frames, placed):
        value = elementary_values(tuple(equation for _, equation in rows.constraints), d, C, given)
        arm = np.array([1.0 if equation.is_length else frames.size for _, equation in rows.constraints])
        worst = np.maximum(worst, (arm * np.abs(value)).max(axis=1, initial=0.0))
        if mechanism.n_driven_of_joint[joint]:
            found = elementary_values(rows.coordinates, d, C, given)
            for k, name in enumerate(names):
                if (joint, name) in drives:
                    gap = found[:, k] - inputs[drives[joint, name]]
                    if coordinate_unit(name) != "m":
                        gap = frames.size * (gap - 2 * np.pi * np.round(gap / (2 * np.pi)))
                    worst = np.maximum(worst, np.abs(gap))
        for i, j in rows.sense:
            worst[C[:, i, j] <= 0.0] = np.inf
    relations = [frames.relations[j] for j in group.joint_indices.tolist() if j in frames.relations]
    for k in range(len(worst) if relations else 0):
        one = replace(placed, position=placed.position[k], rotation=placed.rotation[k], angle=placed.angle[k])
        gaps = [_gap(of, relation, one, frames.size) for of in relations for relation in of.constraints]
        worst[k] = max(worst[k], *gaps)
    return worst


def _gap(of: JointRelations, relation: Relation, at: Configuration, size: float) -> float:
    """Residual of a relation, m; angles as arcs, and of those that count turns whichever turns fit."""
    value, _ = value_and_rates(of, relation, at, 1.0)
    turns = [2 * np.pi * abs(term.factor) for term in relation.terms if term.kind in COUNTING]
    counts = np.array(list(itertools.product(range(-TURNS, TURNS + 1), repeat=len(turns))))
    gap = np.abs(value + counts @ np.array(turns)).min() * (1.0 if relation.is_length else size)
    return float(np.nan_to_num(gap, nan=np.inf))


def joint_coordinates(group: Group, frames: Frames, placed: Configuration) -> dict[str, Floats]:
    """(M,) each: the coordinates of the group's joints that no input gives, ``joint.coordinate``; m, rad."""
    mechanism = group.structure.mechanism
    drives = drive_rows(mechanism)
    found: dict[str, Floats] = {}
    for joint, rows, names, d, C, given in _pairs(group, frames, placed):
        values = elementary_values(rows.coordinates, d, C, given)
        for k, name in enumerate(names):
            if (joint, name) not in drives:
                found[f"{mechanism.joint_ids[joint]}.{name}"] = values[:, k]
    return found


def _pairs(
    group: Group, frames: Frames, placed: Configuration
) -> Iterator[tuple[int, Equations, tuple[str, ...], Floats, Floats, dict[str, Floats]]]:
    """Of each joint of a group that is a pair: equations, names of its coordinates, their arguments."""
    for joint in group.joint_indices.tolist():
        kind = type_of_joint(group.structure.mechanism, joint)
        if kind.pair is not None:
            bodies = group.structure.mechanism.joint_bodies(joint)[:2]
            ends = [(placed.position[:, body], placed.rotation[:, body]) for body in bodies]
            d, C = relative_pose(ends, frames.origin[joint], frames.axes[joint])[:2]
            given = {name: np.full(len(d), column[joint]) for name, column in frames.parameters.items()}
            yield joint, kind.pair, kind.coordinates, d, C, given
