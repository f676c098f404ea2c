"""Inertia forces in a frame of reference that rotates: centrifugal, Coriolis' and Euler's."""

# F = -m (dΩ/dt × r + Ω × (Ω × r) + 2 Ω × v), r from the axis' point to the centre of mass, v relative.
# M = -(I (dΩ/dt + Ω × ω) + (Ω + ω) × I (Ω + ω) - ω × I ω): Euler's equations with Ω + ω.
# Goldstein, Poole and Safko, Classical Mechanics, section 4.10.

from __future__ import annotations

from groups.dynamics.forces.at import At, vector_of
from groups.dynamics.forces.formulas import factor_and_rate
from groups.dynamics.state import bodies_with_mass, inertia_times
from mbssa.graph.frames import cross, dot, minus, plus, times
from mbssa.graph.nodes import Number
from mbssa.loads import Force


def exert(force: Force, at: At) -> Number:
    """Loads on all bodies with mass, at their centres of mass; energy -(m |Ω × r|² + Ω · I Ω) / 2, J."""
    # The centrifugal energy is a potential while Ω is constant.
    given, (factor, rate) = vector_of(force.spin), factor_and_rate(force, at)
    turn, faster = times(factor, given), times(rate, given)
    energy: Number = 0.0
    for body, mass, centre, moment in bodies_with_mass(at.mechanism, at.frames):
        frame, spin = at.body(body), at.twist(body)[1]
        place = plus(frame.place, frame.along(centre))
        out, whole = minus(place, vector_of(force.point)), plus(turn, spin)
        swept = cross(turn, out)
        acceleration = plus(
            cross(faster, out), cross(turn, swept), times(2.0, cross(turn, at.velocity(body, place)))
        )
        change = minus(
            plus(
                inertia_times(frame, moment, plus(faster, cross(turn, spin))),
                cross(whole, inertia_times(frame, moment, whole)),
            ),
            cross(spin, inertia_times(frame, moment, spin)),
        )
        at.push(body, place, times(-mass, acceleration), times(-1.0, change))
        energy = energy - 0.5 * (mass * dot(swept, swept) + dot(turn, inertia_times(frame, moment, turn)))
    return energy
