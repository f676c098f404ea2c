"""Spring, damper and applied force or torque on a joint coordinate."""

from __future__ import annotations

import numpy as np

from groups.dynamics.forces.factor import amount_of
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from groups.joint_jacobian import joint_rows
from groups.results.joints import coordinate_motion
from mbssa.arrays import Floats
from mbssa.joints.catalogue import is_length
from mbssa.loads import Force


def wrenches(force: Force, state: State) -> list[Wrench]:
    """Force along the coordinate: force + function - stiffness (value - rest) - damping x rate, N or N m."""
    assert force.coordinate is not None
    motion = coordinate_motion(state.trajectory, force.coordinate)
    effort = amount_of(force, state, motion.value, motion.rate) - force.damping * motion.rate
    if force.stiffness:
        effort -= force.stiffness * (motion.value - _rest(force, state))
    return along_coordinate(state, force.coordinate, effort)


def energy(force: Force, state: State) -> Floats:
    """Energy (T,), J: half the stiffness times the square of the coordinate less its rest."""
    if not force.stiffness:
        return np.zeros(state.instants)
    assert force.coordinate is not None
    found: Floats = coordinate_motion(state.trajectory, force.coordinate).value - _rest(force, state)
    return 0.5 * force.stiffness * found**2


def along_coordinate(state: State, coordinate: str, effort: Floats) -> list[Wrench]:
    """Loads on the bodies of a joint by a force or torque (T,) along its coordinate, N or N m."""
    joint, name = state.trajectory.mechanism.place_of(coordinate)
    rows = joint_rows(state, joint, (name,))
    size = state.frames.size
    scaled = effort * (size if is_length(name) else 1.0)
    return [
        Wrench(
            body,
            state.centre[body],
            scaled[:, None] * rows.jacobian[:, -1, slot, :3] / size,
            scaled[:, None] * rows.jacobian[:, -1, slot, 3:],
        )
        for slot, body in enumerate(rows.bodies)
    ]


def _rest(force: Force, state: State) -> float:
    """Value without spring force, m or rad; that of the reference if not given."""
    assert force.coordinate is not None
    return value_at_reference(state, force.coordinate) if force.rest is None else force.rest


def value_at_reference(state: State, name: str) -> float:
    """A joint coordinate at the mechanism's reference, m or rad."""
    from groups.pictures.scene import at_rest

    mechanism = state.trajectory.mechanism
    still = state.frames.reference
    rest = at_rest(mechanism, still, np.arange(mechanism.n_bodies), 0, 1)
    return float(coordinate_motion(rest, name).value[0])
