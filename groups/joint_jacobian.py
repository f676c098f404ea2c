"""Poses of all bodies over time, and the Jacobian of a joint's equations by the twists of its bodies."""

# The transpose maps the multipliers to loads on the bodies: a constraint's to a reaction, a coordinate's to
# the force or torque along it. Lengths are over the mechanism's size, in equations and in velocities, so that
# every multiplier is in N m and singular values may be compared.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbssa.arrays import Floats
from mbssa.joints.axes import cross
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Elementary, Equations, elementary_slopes
from mbssa.joints.poses import Poses, by_bodies, relative_pose
from mbssa.joints.relations import JointRelations, values_and_rates

if TYPE_CHECKING:
    from groups.passive_rotations import LockedRotation
    from mbssa import Mechanism
    from mbssa.joints.frames import Frames


@dataclass(frozen=True, eq=False)
class PosesOverTime:
    """Poses of N bodies at T instants."""

    mechanism: Mechanism
    frames: Frames  # geometry at the reference, m
    position: Floats  # (N, T, 3) m, of each body's origin
    rotation: Floats  # (N, T, 3, 3)
    angle: Floats  # (N, T) rad, planar alone

    @property
    def instants(self) -> int:
        """T."""
        return int(self.position.shape[1])

    @cached_property
    def centre(self) -> Floats:
        """Mean (N, T, 3) of each body's joints, m, about which its loads are taken."""
        found: Floats = self.position + np.einsum("ntab,nb->nta", self.rotation, self.frames.centre)
        return found

    def frame_of(self, joint: int) -> tuple[Floats, Floats]:
        """Origin (T, 3), m, of a joint's frame on its second body; axes (T, 3, 3) of that on its first."""
        first, second = self.mechanism.joint_bodies(joint)[:2]
        place: Floats = self.position[second] + self.rotation[second] @ self.frames.origin[joint, 1]
        axes: Floats = self.rotation[first] @ self.frames.axes[joint, 0]
        return place, axes


class PairPose(NamedTuple):
    """Relative pose of the two frames of a joint."""

    equations: Equations
    d: Floats  # (T, 3) from the origin of A to that of B over the size, in the axes of A
    C: Floats  # (T, 3, 3) in the axes of A
    parameters: dict[str, Floats]  # (T,) of the equations
    axes: Floats  # (T, 3, 3) of A, world
    point: Floats  # (T, 3) m, of B, world


def pair_pose(poses: PosesOverTime, joint: int) -> PairPose:
    """Relative pose at a joint (index) between two frames."""
    mechanism, frames = poses.mechanism, poses.frames
    equations = type_of_joint(mechanism, joint).pair
    assert equations is not None
    bodies, size = mechanism.joint_bodies(joint)[:2], frames.size
    ends = [(poses.position[body], poses.rotation[body]) for body in bodies]
    d, C, axes, arms, _ = relative_pose(ends, frames.origin[joint], frames.axes[joint])
    given = {name: np.full(len(d), value) for name, value in frames.sized_parameters(joint).items()}
    return PairPose(equations, d / size, C, given, axes, ends[1][0] + arms[1])


@dataclass(frozen=True, eq=False)
class JointRows:
    """Equations of one joint: constraints first, then coordinates."""

    bodies: tuple[int, ...]  # (S) indices
    names: tuple[str, ...]
    constraints: int  # how many of the e equations are constraints
    # (T, e, S, 6) by the velocity of each body's centre over the size, and its angular velocity
    jacobian: Floats
    point: Floats  # (T, 3) m, where the joint is: the origin of its frame on the second body
    axes: Floats  # (T, 3, 3) of its frame on the first body, columns in world axes
    residual: Floats  # (T, e) lengths over the size; of coordinates their values


def joint_rows(poses: PosesOverTime, joint: int, named: Sequence[str] = ()) -> JointRows:
    """Constraints of a joint (index), and the equations of its ``named`` coordinates, in this order."""
    mechanism, frames = poses.mechanism, poses.frames
    kind = type_of_joint(mechanism, joint)
    if kind.pair is not None:
        pair, bodies = pair_pose(poses, joint), mechanism.joint_bodies(joint)[:2]
        chosen = [kind.pair.coordinates[kind.coordinates.index(name)] for name in named]
        functions = (*(function for _, function in kind.pair.constraints), *chosen)
        names = [name for name, _ in kind.pair.constraints]
        residual, jacobian = pair_rows(poses, bodies, pair, functions)
        place = pair.point, pair.axes
    else:
        relations, place = frames.relations[joint], poses.frame_of(joint)
        bodies, names = relations.bodies, [relation.name for relation in relations.constraints]
        residual, jacobian = _of_relations(poses, relations, named)
    return JointRows(bodies, (*names, *named), len(names), jacobian, *place, residual)


def spin_rows(poses: PosesOverTime, spin: LockedRotation) -> JointRows:
    """Equation that locks a passive rotation, between the frame and the body."""
    # Its multiplier is the moment that the pins of a universal joint in the frame would hold the body with.
    across = poses.frames.rotation[0] @ spin.in_frame
    about = cross(poses.rotation[spin.body] @ spin.in_body, np.broadcast_to(across, (poses.instants, 3)))
    jacobian = np.zeros((poses.instants, 1, 2, 6))
    jacobian[:, 0, 0, 3:], jacobian[:, 0, 1, 3:] = -about, about
    axes = np.broadcast_to(np.eye(3), (poses.instants, 3, 3))
    point, residual = poses.centre[spin.body], np.zeros((poses.instants, 1))
    return JointRows((0, spin.body), ("passive rotation",), 1, jacobian, point, axes, residual)


def pair_rows(
    poses: PosesOverTime, bodies: Sequence[int], pair: PairPose, functions: tuple[Elementary, ...]
) -> tuple[Floats, Floats]:
    """Values (T, e) of functions of two frames, and derivatives (T, e, 2, 6) as in :class:`JointRows`."""
    values, rate = elementary_slopes(functions, *pair[1:4])
    first, second = ((pair.point - poses.centre[body]) / poses.frames.size for body in bodies)
    return values, by_bodies(rate, pair.axes, (first, second))


def _of_relations(
    poses: PosesOverTime, relations: JointRelations, named: Sequence[str]
) -> tuple[Floats, Floats]:
    """The same of relations; NaN where a body has no pose."""
    chosen = [*relations.constraints, *(relations.coordinates[name] for name in named)]
    bodies, size = list(relations.bodies), poses.frames.size
    values = np.full((poses.instants, len(chosen)), np.nan)
    jacobian = np.full((*values.shape, len(bodies), 6), np.nan)
    placed = np.flatnonzero(np.isfinite(poses.position[bodies]).all(axis=(0, 2)))
    if len(placed):
        at = Poses(*(a[:, placed].swapaxes(0, 1) for a in (poses.position, poses.rotation, poses.angle)))
        values[placed], jacobian[placed] = values_and_rates(relations, chosen, at, size)
    lever = (poses.centre[bodies] - poses.position[bodies]).swapaxes(0, 1) / size
    # Derivatives by the velocity of the origin become those by that of the centre.
    jacobian[..., 3:] -= cross(lever[:, None], jacobian[..., :3])
    return values, jacobian
