"""Contact of two bodies: Hertz' pressure with damping, and regularised Coulomb friction."""

# Normal force by Hunt and Crossley (1975), N = k δ^p (1 + c dδ/dt), never negative: p = 3/2 where round
# bodies press on each other, 1 at a linear stop.

from __future__ import annotations

import numpy as np

from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from mbssa.arrays import Floats
from mbssa.joints.axes import in_space
from mbssa.loads import Force


def pressure(force: Force, depth: Floats, approach: Floats, power: float = 1.5) -> Floats:
    """Normal force (T,), N or N m, by a penetration, m or rad, and its rate; NaN stays NaN."""
    spring = force.stiffness * np.where(depth < 0.0, 0.0, depth) ** power
    found: Floats = spring * np.maximum(1.0 + force.damping * approach, 0.0)
    return found


def pressure_energy(force: Force, depth: Floats, power: float = 1.5) -> Floats:
    """Energy (T,) of the compressed contact, J: k δ^(p+1) / (p + 1)."""
    found: Floats = force.stiffness / (power + 1.0) * np.where(depth < 0.0, 0.0, depth) ** (power + 1.0)
    return found


def contact_wrenches(
    force: Force, state: State, bodies: tuple[int, int], place: Floats, normal: Floats, depth: Floats
) -> list[Wrench]:
    """Equal and opposite loads in the plane at ``place`` (T, 2) m, none if ``depth`` (T,) m is negative."""
    # The normal (T, 2) points away from the first body, to the second.
    point = in_space(place)
    speeds = [state.velocity(body, point - state.position[body])[:, :2] for body in bodies]
    velocity = speeds[1] - speeds[0]
    along = np.stack([normal[:, 1], -normal[:, 0]], axis=1)
    pressed = pressure(force, depth, -(velocity * normal).sum(axis=1))
    drag = np.zeros_like(pressed)
    if force.threshold is not None:
        slip = (velocity * along).sum(axis=1)
        drag = -force.friction * pressed * np.tanh(slip / force.threshold)
    exerted = in_space(pressed[:, None] * normal + drag[:, None] * along)
    none = np.zeros_like(exerted)
    return [Wrench(body, point, sign * exerted, none) for body, sign in zip(bodies, (-1.0, 1.0), strict=True)]
