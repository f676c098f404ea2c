"""Passive rotations: the convention that makes the pose of a spinning body unique."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Floats
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.frames import Frames
from mbssa.structure import Structure

#: Cosine between a joint axis and the line of a spin above which the axis does not define a perpendicular.
_ALONG = 0.95


@dataclass(frozen=True, eq=False)
class LockedRotation:
    """One passive rotation and the axes that lock it."""

    bodies: tuple[int, ...]  # that turn as one: the first is locked
    point: Floats
    direction: Floats
    in_frame: Floats
    in_body: Floats

    @property
    def body(self) -> int:
        return self.bodies[0]


def locked_rotations(structure: Structure, frames: Frames) -> list[LockedRotation]:
    """The passive rotations of a structure and how each is held, in the order of its treatment."""
    if structure.treatment is None:
        return []
    mechanism, directions, found = structure.mechanism, [], list[LockedRotation]()
    for j in np.flatnonzero(frames.known).tolist():
        column = type_of_joint(mechanism, j).axis
        if column is not None:
            for side, body in enumerate(mechanism.joint_bodies(j)[:2]):
                directions.append(frames.rotation[body] @ frames.axes[j, side][:, column])
    axes = np.array(directions).reshape(-1, 3)  # of every joint, in the world at the reference
    for spin in structure.treatment.passive_rotations:
        if spin.direction is None or spin.point is None:
            continue
        body, line = spin.bodies[0], np.array(spin.direction)
        across = _across(line, axes)
        in_frame, in_body = frames.rotation[0].T @ across, frames.rotation[body].T @ np.cross(line, across)
        found.append(LockedRotation(spin.bodies, np.array(spin.point), line, in_frame, in_body))
    return found


def _across(line: Floats, axes: Floats) -> Floats:
    """Unit vector across a line: the best of these axes, made perpendicular to it; else a world axis."""
    # Rounded, so that equals stay equal in a turned world and the first of them is taken in any.
    cosine = np.round(np.abs(axes @ line), 9)
    if len(axes) == 0 or cosine.min() > _ALONG:
        axes, cosine = np.eye(3), np.abs(line)
    best = axes[int(np.argmin(cosine))]
    across: Floats = best - (best @ line) * line
    return across / np.linalg.norm(across)
