"""Wheel on a terrain y(x) that stands still with the frame: a natural cubic spline through its points."""

# They touch at the point of the terrain next to the wheel's centre.

from __future__ import annotations

from functools import lru_cache

import numpy as np

from groups.dynamics.forces.hertz import contact_wrenches, pressure_energy
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from mbssa.arrays import Floats
from mbssa.joints.cams.contact import contacts
from mbssa.joints.cams.contact_kernels import POINT
from mbssa.joints.cams.curves import ground
from mbssa.loads import Force
from mbssa.units import quantity_text

#: Cosine between the line from the terrain to the wheel and the terrain's tangent, beyond its ends.
_SLANTED = 1e-9

#: Curves of terrains are kept: a simulation needs them at every instant.
_curve = lru_cache(maxsize=64)(ground)


def wrenches(force: Force, state: State) -> list[Wrench]:
    """Equal and opposite forces on the wheel and on the frame, none while the wheel is off the terrain."""
    return contact_wrenches(force, state, (0, force.bodies[0]), *_touch(force, state))


def energy(force: Force, state: State) -> Floats:
    """Energy (T,) of the compressed contact, J."""
    return pressure_energy(force, _touch(force, state)[2])


def _touch(force: Force, state: State) -> tuple[Floats, Floats, Floats]:
    """Points (T, 2) of the terrain next to the wheel, its normals there, and penetrations (T,), m."""
    assert force.terrain is not None
    assert force.radius is not None
    curve, body = _curve(force.terrain), force.bodies[0]
    centre = state.position[body] + state.arm(body, np.array(force.point))
    known = np.flatnonzero(np.isfinite(centre).all(axis=1))
    found = contacts(curve, None, POINT, centre[known], np.tile(np.eye(3), (len(known), 1, 1)))
    _, tangent, _ = curve.at(curve.parameter(found.place[:, 0]))
    slanted = np.abs((found.normal * tangent).sum(axis=1)) > _SLANTED * np.hypot(*tangent.T)
    if slanted.any():
        t = known[slanted.argmax()]
        units = state.trajectory.mechanism.units
        begin, end, x = (
            quantity_text(each, "m", units)
            for each in (force.terrain[0][0], force.terrain[-1][0], centre[t, 0])
        )
        raise ValueError(
            f"force {force.id} terrain: at t = {state.trajectory.time[t]:.6g} s the wheel at "
            f"x = {x} is beyond its ends, {begin} to {end}; add points"
        )
    foot, normal = np.full((2, state.instants, 2), np.nan)
    depth = np.full(state.instants, np.nan)
    depth[known], normal[known] = force.radius - found.gap, found.normal
    foot[known] = found.point - found.gap[:, None] * found.normal
    return foot, normal, depth
