"""Data that all groups of a structure share while their solvers are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groups.motion import reference_inputs
from groups.tree import Forest, forest_of
from mbssa import Mechanism, Structure
from mbssa.arrays import Floats
from mbssa.joints.assembly import assemble
from mbssa.joints.catalogue import CATALOGUE, type_of_joint
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.poses import Poses
from mbssa.joints.system import coordinates_at
from mbssa.trust import REMEDY

#: Largest residual of a group that is closed, in units of the size where that is large.
CLOSED = 1e-9
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
        # Across the line: the best axis, made perpendicular to it; else one of the world. Rounded, so that
        # equals stay equal in a turned world and the first of them is taken in any.
        body, line, choice = spin.bodies[0], np.array(spin.direction), axes
        cosine = np.round(np.abs(axes @ line), 9)
        if len(axes) == 0 or cosine.min() > _ALONG:
            choice, cosine = np.eye(3), np.abs(line)
        best = choice[int(np.argmin(cosine))]
        across = best - (best @ line) * line
        across /= np.linalg.norm(across)
        in_frame, in_body = frames.rotation[0].T @ across, frames.rotation[body].T @ np.cross(line, across)
        found.append(LockedRotation(spin.bodies, np.array(spin.point), line, in_frame, in_body))
    return found


def without_equation(mechanism: Mechanism) -> list[str]:
    """Driven coordinates that have no equation, such as the place of contact on a cam."""
    places = [(name, *mechanism.place_of(name)) for name in mechanism.driven_coordinates]
    return [name for name, j, coordinate in places if coordinate not in type_of_joint(mechanism, j).drivable]


@dataclass(frozen=True, eq=False)
class Setting:
    """A structure with its geometry, its reference configuration and its inputs there."""

    structure: Structure
    frames: Frames
    reference: Poses
    drives: Mapping[tuple[int, str], int]
    inputs: Floats
    spins: Sequence[LockedRotation]

    @cached_property
    def closed(self) -> float:
        """Largest residual of a closed group, m; the precision of the geometry where it is redundant."""
        size, treatment = float(self.frames.size), self.structure.treatment
        precision = treatment.precision if treatment is not None and treatment.dropped else 0.0
        return max(CLOSED * max(1.0, size), 10.0 * precision * size)

    @staticmethod
    def of(structure: Structure) -> Setting:
        """Setting of a structure that can be solved, its reference closed at all joints."""
        if not isinstance(structure, Structure):
            kind = type(structure).__name__
            raise TypeError(f"a {kind} is no structure; mbssa.decompose(mechanism) gives what is taken here")
        mechanism = structure.mechanism
        if not structure.determined:
            raise ValueError(f"{mechanism.name} is not determined; mbssa.check says why and what would help")
        frames = joint_frames(mechanism)
        unknown, ids = np.flatnonzero(~frames.known).tolist(), mechanism.joint_ids
        if missing := [ids[j] for j in unknown if j not in mechanism.joint_geometry]:
            raise ValueError(f"{mechanism.name} cannot be solved: no geometry at {', '.join(missing)}")
        if bare := without_equation(mechanism):
            raise ValueError(f"{mechanism.name} cannot be solved: no joint is driven in {', '.join(bare)}")
        if mechanism.untrusted:
            raise ValueError(f"code that a file names is not run, at {mechanism.untrusted_said}; {REMEDY}")
        closed = assemble(mechanism, frames, hold=True)
        if not closed.closed:
            raise ValueError(f"{mechanism.name} cannot be assembled: {closed.fault}")
        return Setting.at(structure, frames, closed.configuration)

    @staticmethod
    def at(structure: Structure, frames: Frames, reference: Poses, inputs: Floats | None = None) -> Setting:
        """Setting of a structure whose reference is closed; inputs (D,) where angles have turned."""
        mechanism = structure.mechanism
        if inputs is None:
            inputs = reference_inputs(mechanism, frames, reference)
        drives = {mechanism.place_of(name): row for row, name in enumerate(mechanism.driven_coordinates)}
        return Setting(structure, frames, reference, drives, inputs, locked_rotations(structure, frames))

    @property
    def mechanism(self) -> Mechanism:
        return self.structure.mechanism

    @property
    def planar(self) -> bool:
        return self.mechanism.space == "planar"

    @property
    def forest(self) -> Forest:
        """The trees of the groups, in their order, and their labelled topologies."""
        return forest_of(self.structure, self.frames)

    @cached_property
    def carriers(self) -> dict[int, int]:
        """By joint that carries a body, the index of the group whose tree has it."""
        trees = enumerate(self.forest.trees)
        return {link.joint: g for g, tree in trees for link in tree.links if link.joint >= 0}

    @cached_property
    def coordinates(self) -> dict[int, dict[str, float]]:
        """Coordinates of the joints at the reference, m and rad, by joint index and name."""
        mechanism, found = self.mechanism, dict[int, dict[str, float]]()
        for row in np.unique(mechanism.joint_type[self.frames.known]).tolist():
            which = np.flatnonzero((mechanism.joint_type == row) & self.frames.known).tolist()
            if CATALOGUE[row].pair is not None:
                with np.errstate(divide="ignore", invalid="ignore"):  # rates of angles without a direction
                    values = coordinates_at(mechanism, self.frames, self.reference, which).tolist()
                named = (dict(zip(CATALOGUE[row].coordinates, each, strict=True)) for each in values)
                found |= zip(which, named, strict=True)
        return found
