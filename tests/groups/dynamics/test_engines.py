"""Shaking forces of engines against the harmonics of their pistons, as phasor sums give them."""

import numpy as np
import pytest

import groups
import mbssa

RADIUS, ROD, MASS, SPEED = 0.045, 0.15, 0.6, 200.0


def engine(cranks, sides=None):
    """Pistons along y on one crankshaft, seen along its axis: massless rods, throws at these angles, rad.

    A cylinder on the side -1 is below the shaft.
    """
    sides = [1] * len(cranks) if sides is None else sides
    m = mbssa.Builder("planar", name="engine").body("shaft")
    m.revolute("frame", "shaft", point=(0, 0), driven=True)
    for number, (angle, side) in enumerate(zip(cranks, sides, strict=True), 1):
        pin = RADIUS * np.array([np.sin(angle), np.cos(angle)])
        height = float(pin[1] + side * np.sqrt(ROD**2 - pin[0] ** 2))
        rod, piston = f"rod_{number}", f"piston_{number}"
        m.body(rod).body(piston, inertia={"mass": MASS, "centre": (0.0, height)})
        m.revolute("shaft", rod, point=tuple(pin)).revolute(rod, piston, point=(0.0, height))
        m.prismatic("frame", piston, point=(0.0, height), axis=(0, 1))
    turn = 2 * np.pi / SPEED
    return m.motion({"1-2.angle": {"law": "speed", "rate": -SPEED}}, duration=turn, steps=257).build()


def harmonics(values):
    """Amplitudes of cosine at the first multiples of the shaft's speed, over one turn."""
    return 2 * np.fft.rfft(values[:-1]).real / (len(values) - 1)


def shaking(mechanism):
    trajectory = groups.build(mbssa.decompose(mechanism)).solve()
    forces = groups.forces(trajectory)
    assert trajectory.ok
    assert forces.ok
    return forces


def piston_series():
    """Coefficients of cos kθ in the height r cos θ + l sqrt(1 - λ² sin² θ) of a piston, by quadrature."""
    theta = 2 * np.pi * np.arange(4096) / 4096
    height = RADIUS * np.cos(theta) + np.sqrt(ROD**2 - (RADIUS * np.sin(theta)) ** 2)
    return {k: 2 * np.mean(height * np.cos(k * theta)) for k in (1, 2, 4, 6)}


def test_one_cylinder_shakes_with_its_pistons_series():
    found = harmonics(shaking(engine([0.0])).shaking_force[:, 1])
    for k, amplitude in piston_series().items():
        assert found[k] == pytest.approx(MASS * (k * SPEED) ** 2 * amplitude, rel=1e-6)
    ratio = RADIUS / ROD
    textbook = MASS * SPEED**2 * RADIUS * (ratio + ratio**3 / 4 + 15 * ratio**5 / 128)
    assert found[2] == pytest.approx(textbook, rel=1e-3)


def test_an_inline_four_has_no_first_harmonic_and_four_times_the_second():
    """Throws at 0, 180, 180 and 0 degrees: the first harmonics cancel, the even ones add."""
    forces = shaking(engine([0.0, np.pi, np.pi, 0.0]))
    found, single = harmonics(forces.shaking_force[:, 1]), piston_series()
    scale = MASS * SPEED**2 * RADIUS
    assert abs(found[[1, 3, 5]]).max() < 1e-9 * scale
    for k in (2, 4, 6):
        assert found[k] == pytest.approx(4 * MASS * (k * SPEED) ** 2 * single[k], rel=1e-6)
    np.testing.assert_allclose(forces.shaking_force[:, 0].mean(), 0.0, atol=1e-9 * scale)


def test_a_boxer_four_shakes_not_at_all():
    """Opposed pistons on opposed throws mirror each other; what is left is a couple along the shaft."""
    forces = shaking(engine([0.0, np.pi, np.pi, 0.0], [1, -1, 1, -1]))
    scale = MASS * SPEED**2 * RADIUS
    assert np.abs(forces.shaking_force).max() < 1e-9 * scale
