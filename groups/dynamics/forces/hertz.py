"""Contact of two bodies: Hertz' pressure with damping, and regularised Coulomb friction."""

# Normal force by Hunt and Crossley (1975), N = k δ^p (1 + c dδ/dt), never negative: p = 3/2 where round
# bodies press on each other, 1 at a linear stop.

from __future__ import annotations

from collections.abc import Sequence

from groups.dynamics.forces.at import At, Called
from mbssa.graph.frames import minus, plus, relative, times
from mbssa.graph.nodes import Number, above, absolute, exp, largest, sqrt
from mbssa.loads import Force


def pressure(force: Force, depth: Number, approach: Number, root: bool = True) -> tuple[Number, Number]:
    """Normal force, N or N m, and energy, J, by a penetration and its rate; linear without ``root``."""
    pressed = largest(depth, 0.0)
    spring = force.stiffness * pressed * (sqrt(pressed) if root else 1.0)
    return spring * largest(1.0 + force.damping * approach, 0.0), (0.4 if root else 0.5) * spring * pressed


def contact_loads(
    force: Force, at: At, bodies: Sequence[int], points: Sequence[Sequence[float]], radius: float,
    search: Called,
) -> Number:  # fmt: skip
    """Equal and opposite loads in the plane, none where the bodies are apart; energy."""
    # The curves, the second of which is around by a radius, are in frames at these points, with axes of the
    # world at the reference. The search gives the place, the normal away from the first body and the gap in
    # the first by the time and the pose of the second: x, y, cosine, sine.
    first, second = (
        at.body(b).end(at.frames.on_body(b, tuple(point)).tolist(), at.frames.rotation[b].T.tolist())
        for b, point in zip(bodies, points, strict=True)
    )
    d, C = relative(first, second)
    *there, x, y, gap = at.called(search, 5, at.time, *d[:2], C[0][0], C[1][0])
    place, (n_x, n_y, _) = plus(first.place, first.along([*there, 0.0])), first.along([x, y, 0.0])
    x, y = minus(*(at.velocity(body, place) for body in bodies[::-1]))[:2]
    pressed, energy = pressure(force, radius - gap, -(x * n_x + y * n_y))
    exerted = times(pressed, [n_x, n_y, 0.0])
    if force.threshold is not None:
        drag = -force.friction * pressed * tanh((x * n_y - y * n_x) / force.threshold)
        exerted = [exerted[0] + drag * n_y, exerted[1] - drag * n_x, 0.0]
    at.push(bodies[0], place, times(-1.0, exerted))
    at.push(bodies[1], place, exerted)
    return energy


def tanh(x: Number) -> Number:
    """Hyperbolic tangent."""
    small = exp(-2.0 * absolute(x))
    found = (1.0 - small) / (1.0 + small)
    return above(x, found, -found)
