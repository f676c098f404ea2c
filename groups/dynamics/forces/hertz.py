"""Contact of two bodies: Hertz' pressure with damping, and regularised Coulomb friction."""

# Normal force by Hunt and Crossley (1975), N = k δ^p (1 + c dδ/dt), never negative: p = 3/2 where round
# bodies press on each other, 1 at a linear stop.

from __future__ import annotations

from groups.dynamics.forces.at import At
from mbssa.graph.frames import Vector, minus, times
from mbssa.graph.nodes import Number, above, absolute, exp, largest, sqrt
from mbssa.loads import Force


def pressure(force: Force, depth: Number, approach: Number, root: bool = True) -> Number:
    """Normal force, N or N m, by a penetration, m or rad, and its rate; linear without ``root``."""
    pressed = largest(depth, 0.0)
    spring = force.stiffness * pressed * (sqrt(pressed) if root else 1.0)
    return spring * largest(1.0 + force.damping * approach, 0.0)


def pressure_energy(force: Force, depth: Number, root: bool = True) -> Number:
    """Energy of the compressed contact, J: k δ^(p+1) / (p + 1)."""
    pressed = largest(depth, 0.0)
    square = pressed * pressed
    return force.stiffness * (0.4 * square * sqrt(pressed) if root else 0.5 * square)


def contact_loads(
    force: Force, at: At, bodies: tuple[int, int], place: Vector, normal: Vector, depth: Number
) -> None:
    """Equal and opposite loads in the plane at ``place`` (m), none where ``depth`` (m) is negative."""
    # The normal points away from the first body, to the second.
    x, y = minus(*(at.velocity(body, place) for body in bodies[::-1]))[:2]
    n_x, n_y = normal[:2]
    pressed = pressure(force, depth, -(x * n_x + y * n_y))
    exerted = times(pressed, [n_x, n_y, 0.0])
    if force.threshold is not None:
        drag = -force.friction * pressed * tanh((x * n_y - y * n_x) / force.threshold)
        exerted = [exerted[0] + drag * n_y, exerted[1] - drag * n_x, 0.0]
    at.push(bodies[0], place, times(-1.0, exerted))
    at.push(bodies[1], place, exerted)


def tanh(x: Number) -> Number:
    """Hyperbolic tangent."""
    small = exp(-2.0 * absolute(x))
    found = (1.0 - small) / (1.0 + small)
    return above(x, found, -found)
