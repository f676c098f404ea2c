"""Equations of one joint over time: their Jacobian by the twists of its bodies.

Its transpose maps the equations' multipliers to the loads on the bodies: a constraint's to a reaction, a
coordinate's to the force or torque along it. Lengths are divided by the mechanism's size, in equations and in
velocities, so that every multiplier is in N m and singular values may be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groups.dynamics.state import State
from groups.rotations import cross
from groups.solvers.passive_rotations import HeldSpin
from mbssa.joints.catalogue import CATALOGUE
from mbssa.joints.equations import Equations, coordinates, residuals
from mbssa.joints.relations import JointRelations, Poses, value_and_rates

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointRows:
    """Equations of one joint.

    Attributes
    ----------
    bodies : (S) indices
    names : of the e equations, constraints first, then coordinates
    constraints : how many of them are constraints
    jacobian : (T, e, S, 6) by the velocity of each body's centre over the size, and its angular velocity
    point : (T, 3) m, where the joint is: the origin of its frame on the second body
    axes : (T, 3, 3) of its frame on the first body, columns in world axes
    """

    bodies: tuple[int, ...]
    names: tuple[str, ...]
    constraints: int
    jacobian: Floats
    point: Floats
    axes: Floats


def joint_rows(state: State, joint: int, named: Sequence[str] = ()) -> JointRows:
    """The constraints of a joint, and those of its coordinates that are named.

    Parameters
    ----------
    joint : index
    named : coordinates, in the order of their rows
    """
    mechanism, frames = state.trajectory.mechanism, state.frames
    bodies = mechanism.joint_bodies(joint)[:2]
    axes = [state.rotation[body] @ frames.axes[joint, side] for side, body in enumerate(bodies)]
    points = [
        state.position[body] + state.rotation[body] @ frames.origin[joint, side]
        for side, body in enumerate(bodies)
    ]
    equations = CATALOGUE[int(mechanism.joint_type[joint])].pair
    if equations is None:
        relations = frames.relations[joint]
        constraints = [relation.name for relation in relations.constraints]
        jacobian = _of_relations(state, relations, named)
        bodies = relations.bodies
    else:
        constraints = [name for name, _ in equations.constraints]
        jacobian = _of_pair(state, joint, equations, named, axes, points)
    return JointRows(bodies, (*constraints, *named), len(constraints), jacobian, points[1], axes[0])


def spin_rows(state: State, spin: HeldSpin) -> JointRows:
    """The convention that holds a passive rotation, as an equation between the frame and the body.

    Its multiplier is the moment that holds the body as the pins of a universal joint in the frame would.
    """
    across = state.frames.rotation[0] @ spin.in_frame
    about = cross(state.rotation[spin.body] @ spin.in_body, np.broadcast_to(across, (state.instants, 3)))
    jacobian = np.zeros((state.instants, 1, 2, 6))
    jacobian[:, 0, 0, 3:], jacobian[:, 0, 1, 3:] = -about, about
    axes = np.broadcast_to(np.eye(3), (state.instants, 3, 3))
    return JointRows((0, spin.body), ("passive rotation",), 1, jacobian, state.centre[spin.body], axes)


def _of_pair(
    state: State,
    joint: int,
    equations: Equations,
    named: Sequence[str],
    axes: list[Floats],
    points: list[Floats],
) -> Floats:
    """A row (f, m) in A's axes acts at B's origin on the second body, and is turned round on the first."""
    mechanism, size = state.trajectory.mechanism, state.frames.size
    back = axes[0].transpose(0, 2, 1)
    d = (back @ ((points[1] - points[0]) / size)[:, :, None])[:, :, 0]
    C = back @ axes[1]
    given = {
        name: np.full(len(d), float(values[joint]) / (1.0 if name == "ratio" else size))
        for name, values in state.frames.parameters.items()
    }
    _, rate = residuals(equations, d, C, given)
    if named:
        kind = CATALOGUE[int(mechanism.joint_type[joint])]
        _, rates = coordinates(equations, d, C, given)
        rate = np.concatenate([rate, rates[:, [kind.coordinates.index(name) for name in named]]], axis=1)
    force, moment = rate[:, :, :3] @ back, rate[:, :, 3:] @ back
    jacobian = np.empty((*rate.shape[:2], 2, 6))
    for side, (sign, body) in enumerate(zip((-1.0, 1.0), mechanism.joint_bodies(joint), strict=False)):
        arm = ((points[1] - state.centre[body]) / size)[:, None]
        jacobian[:, :, side, :3] = sign * force
        jacobian[:, :, side, 3:] = sign * (moment + cross(arm, force))
    return jacobian


def _of_relations(state: State, relations: JointRelations, named: Sequence[str]) -> Floats:
    """Relations are evaluated instant by instant; NaN where a body has no pose."""
    chosen = [*relations.constraints, *(relations.coordinates[name] for name in named)]
    bodies, size = list(relations.bodies), state.frames.size
    jacobian = np.full((state.instants, len(chosen), len(bodies), 6), np.nan)
    placed = np.isfinite(state.position[bodies]).all(axis=(0, 2))
    for t in np.flatnonzero(placed).tolist():
        at = Poses(state.position[:, t], state.rotation[:, t], state.angle[:, t])
        for row, relation in enumerate(chosen):
            jacobian[t, row] = value_and_rates(relations, relation, at, size)[1]
    lever = (state.centre[bodies] - state.position[bodies]).swapaxes(0, 1) / size
    # Derivatives by the velocity of the origin become those by that of the centre.
    jacobian[..., 3:] -= cross(lever[:, None], jacobian[..., :3])
    return jacobian
