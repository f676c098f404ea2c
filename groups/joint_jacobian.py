"""Loads of a joint's equations on its bodies: the transposed Jacobian, by unit multipliers."""

# The transpose maps the multipliers to loads on the bodies: a constraint's to a reaction, a coordinate's to
# the force or torque along it. Forces are times the mechanism's size, so that every multiplier is in N m and
# singular values may be compared; moments are about the one point of the state, so that loads add up.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from groups.setting import LockedRotation
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.graph.frames import Frame, cross
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Elementary, Equations, elementary_slopes, elementary_values, pose
from mbssa.joints.frames import Frames
from mbssa.joints.poses import Poses, relative_pose
from mbssa.joints.relations import values_and_rates
from mbssa.joints.system import unknowns

if TYPE_CHECKING:
    from groups.tree import Link


@dataclass(frozen=True, eq=False)
class PosesOverTime:
    """Poses of N bodies at T instants."""

    mechanism: Mechanism
    frames: Frames  # geometry at the reference, m
    position: Floats  # (N, T, 3) m, of each body's origin
    rotation: Floats  # (N, T, 3, 3)
    angle: Floats  # (N, T) rad, planar alone

    @staticmethod
    def over(mechanism: Mechanism, frames: Frames, poses: Poses) -> PosesOverTime:
        """Poses (T, N) body by body."""
        arrays = (x.swapaxes(0, 1) for x in (poses.position, poses.rotation, poses.angle))
        return PosesOverTime(mechanism, frames, *arrays)

    @property
    def instants(self) -> int:
        """T."""
        return int(self.position.shape[1])

    @cached_property
    def point(self) -> Floats:
        """The point of space (3, 1), m, about which loads of all bodies are taken, amid the mechanism."""
        frames = self.frames
        centres = frames.position + np.einsum("nab,nb->na", frames.rotation, frames.centre)
        return np.asarray(centres.mean(axis=0)[:, None])

    def frame(self, body: int) -> Frame:
        """Frame of a body: place (3, T), axes (3, 3, T) column by column."""
        return Frame(self.position[body].T, self.rotation[body].T, self.angle[body])

    def about(self, place: Floats, wrench: Floats, sign: float = 1.0) -> Floats:
        """Wrenches (6, …, T), forces times size, about the point of all loads, given about a place (3, T)."""
        # With a sign of -1 the other way round.
        arm = (place - self.point) * (sign / self.frames.size)
        arm = arm.reshape(3, *[1] * (wrench.ndim - 2), -1)
        found = wrench.copy()
        found[3:] += cross(arm, wrench[:3])
        return found


class PairPose(NamedTuple):
    """Relative pose of the two frames of a joint."""

    equations: Equations
    d: Floats  # (T, 3) from the origin of A to that of B over the size, in the axes of A
    C: Floats  # (T, 3, 3) in the axes of A
    parameters: dict[str, Floats]  # (1,) of the equations
    axes: Floats  # (T, 3, 3) of A, world
    point: Floats  # (3, T) m, of B, world
    bodies: tuple[int, ...]  # indices

    def coordinates(self, size: float) -> Floats:
        """Coordinates (T, k), m and principal angles in rad."""
        found = elementary_values(self.equations.coordinates, self.d, self.C, self.parameters)
        return found * [size if one.is_length else 1.0 for one in self.equations.coordinates]

    def rows(self, poses: PosesOverTime, functions: tuple[Elementary, ...]) -> JointRows:
        """Equations that are these functions of the relative pose."""
        rate = elementary_slopes(functions, *self[1:4])[1].reshape(poses.instants, len(functions), 2, 3)
        turned = np.einsum("tab,tekb->kaet", self.axes, rate)
        second = poses.about(self.point, turned.reshape(6, *turned.shape[2:]))
        return self.bodies, np.stack([-second, second])


#: Indices of the S bodies of a joint, and loads (S, 6, e, T) on them by unit multipliers of e equations.
JointRows: TypeAlias = tuple[tuple[int, ...], Floats]


def pair_pose(poses: PosesOverTime, *joints: int, rod: int = -1) -> PairPose:
    """Relative pose at a joint (index) between two frames, or of the ends of a rod between two joints."""
    mechanism, frames = poses.mechanism, poses.frames
    equations = type_of_joint(mechanism, joints[0]).pair
    assert equations is not None
    sides = ((b, j, k) for j in joints for k, b in enumerate(mechanism.joint_bodies(j)[:2]) if b != rod)
    bodies, *which = map(tuple, zip(*sides, strict=True))
    ends, size = [(poses.position[body], poses.rotation[body]) for body in bodies], frames.size
    d, C, axes, arms, _ = relative_pose(ends, frames.origin[*which], frames.axes[*which])
    given = {name: np.array([value]) for name, value in frames.sized_parameters(joints[0]).items()}
    return PairPose(equations, d / size, C, given, axes, (ends[1][0] + arms[1]).T, bodies)


def row_names(mechanism: Mechanism, frames: Frames, joint: int) -> tuple[str, ...]:
    """Names of the constraints of a joint (index)."""
    pair = type_of_joint(mechanism, joint).pair
    if pair is None:
        return tuple(relation.name for relation in frames.relations[joint].constraints)
    return tuple(name for name, _ in pair.constraints)


def joint_rows(poses: PosesOverTime, joint: int, named: Sequence[str] = ()) -> JointRows:
    """Constraints of a joint (index), then its ``named`` coordinates; of relations NaN without a pose."""
    kind, size = type_of_joint(poses.mechanism, joint), poses.frames.size
    if kind.pair is not None:
        chosen = [kind.pair.coordinates[kind.coordinates.index(name)] for name in named]
        return pair_pose(poses, joint).rows(poses, (*kind.pair.functions, *chosen))
    relations = poses.frames.relations[joint]
    every = [*relations.constraints, *(relations.coordinates[name] for name in named)]
    bodies = list(relations.bodies)
    loads = np.full((len(bodies), 6, len(every), poses.instants), np.nan)
    placed = np.flatnonzero(np.isfinite(poses.position[bodies]).all(axis=(0, 2)))
    at = Poses(*(a[:, placed].swapaxes(0, 1) for a in (poses.position, poses.rotation, poses.angle)))
    if len(placed):
        loads[..., placed] = values_and_rates(relations, every, at, size)[1].transpose(2, 3, 1, 0)
    about = [poses.about(poses.position[b].T, of) for b, of in zip(bodies, loads, strict=True)]
    return relations.bodies, np.array(about)


def link_twists(poses: PosesOverTime, link: Link, turns: Sequence[int] = ()) -> Floats:
    """Twists (6, k, T) of a link's body against its parent at unit rates, lengths over the size."""
    # Of the coordinates ``turns`` about the world's axes, so that no pose is singular.
    if link.joint < 0:  # a free body: about its own place, wherever it is
        unit = np.eye(6)[:, list(unknowns(poses.mechanism.space)), None]
        point, twists = poses.position[link.body].T, np.tile(unit, poses.instants)
    else:
        pair = pair_pose(poses, link.joint)
        values, point = elementary_values(pair.equations.coordinates, *pair[1:4]), pair.point
        local = pose(pair.equations, values, pair.parameters)[2].reshape(poses.instants, 2, 3, -1)
        twists = np.einsum("tab,tkbe->kaet", pair.axes, local).reshape(6, -1, poses.instants)
        if turns:
            twists[:3, turns], twists[3:, turns] = 0.0, np.eye(3)[:, :, None]
    twists[:3] += np.array(cross(twists[3:], (poses.point - point)[:, None] / poses.frames.size))
    return twists if link.forward else -twists


def tree_rows(
    poses: PosesOverTime, links: Sequence[Link], twists: Sequence[Floats], rows: Sequence[JointRows]
) -> Floats:
    """Transposed Jacobian (T, n, m) of rows by the coordinates of a tree, with the twists at its links."""
    m, n, path = 0, 0, dict[int, list[tuple[slice, Floats]]]()
    for link, along in zip(links, twists, strict=True):
        path[link.body] = [*path.get(link.parent, ()), (slice(n, n := n + along.shape[1]), along)]
    found = np.zeros((poses.instants, n, sum(loads.shape[2] for _, loads in rows)))
    for bodies, loads in rows:
        its = slice(m, m := m + loads.shape[2])
        for body, load in zip(bodies, loads, strict=True):
            for mine, along in path.get(body, ()):  # before both bodies, loads cancel to the last digit
                found[:, mine, its] += np.einsum("akt,aet->tke", along, load)
    return found


def spin_rows(poses: PosesOverTime, spin: LockedRotation) -> JointRows:
    """Equation that locks a passive rotation, between the frame and the body."""
    # Its multiplier is the moment that the pins of a universal joint in the frame would hold the body with.
    line = np.einsum("tab,b->at", poses.rotation[spin.body], spin.in_body)
    loads = np.zeros((2, 6, 1, poses.instants))
    loads[1, 3:, 0] = cross(line, poses.frames.rotation[0] @ spin.in_frame)
    loads[0] = -loads[1]
    return (0, spin.body), loads
