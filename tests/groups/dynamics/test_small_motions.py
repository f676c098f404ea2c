"""Equilibrium and eigenfrequencies against formulas."""

import numpy as np
import pytest

import groups
import mbssa


def chain(masses, stiffness):
    """Carts in a row on springs, between walls."""
    m = mbssa.Builder("planar", name="carts")
    for k, mass in enumerate(masses):
        m.body(f"cart{k}", inertia={"mass": mass, "centre": (k + 1.0, 0.0)})
        m.prismatic("frame", f"cart{k}", point=(k + 1.0, 0), axis=(1, 0), driven=True)
    names = ["frame", *(f"cart{k}" for k in range(len(masses))), "frame"]
    for k in range(len(names) - 1):
        m.force("spring", bodies=names[k : k + 2], points=[(k, 0), (k + 1, 0)], stiffness=stiffness)
    return m.build()


def test_carts_on_springs_swing_as_the_textbook_says():
    found = groups.linearise(chain([2.0, 2.0, 2.0], 50.0))
    speeds = 2 * np.sqrt(50.0 / 2.0) * np.sin(np.pi * np.arange(1, 4) / 8)
    np.testing.assert_allclose(2 * np.pi * found.frequency, speeds, rtol=1e-7)
    np.testing.assert_allclose(found.damping_ratio, 0.0, atol=1e-8)
    first = found.modes[:, 0].real
    np.testing.assert_allclose(first / first[0], [1.0, 2**0.5, 1.0], atol=1e-6)
    assert found.moved_most(0) == "1-3.slide"
    played = found.mode(0, amplitude=0.05)
    assert played.ok
    assert np.ptp(played.joint("1-3")["slide"].value) == pytest.approx(0.1, rel=1e-2)


def test_a_damped_pendulum_hangs_and_decays():
    m = mbssa.Builder("planar").body("arm", inertia={"mass": 2.0, "centre": (0.5, 0.0), "moment": 0.1})
    m.gravity(0.0, -9.81).revolute("frame", "arm", point=(0, 0), driven=True)
    arm = m.force("coordinate", coordinate="1-2.angle", damping=0.3).build()
    rest = groups.equilibrium(arm)
    assert rest.found
    assert rest.stable
    assert rest.coordinates["1-2.angle"] == pytest.approx(-np.pi / 2, abs=1e-9)
    small = groups.linearise(arm, at=rest.coordinates)
    inertia, stiffness = 0.1 + 2.0 * 0.25, 2.0 * 9.81 * 0.5
    natural = np.sqrt(stiffness / inertia)
    assert abs(small.eigenvalues[0]) == pytest.approx(natural, rel=1e-7)
    assert small.damping_ratio[0] == pytest.approx(0.3 / (2 * np.sqrt(stiffness * inertia)), rel=1e-7)
    upright = groups.linearise(arm, at={"1-2.angle": np.pi / 2})
    assert upright.eigenvalues.real.max() > 0.0
    with pytest.raises(ValueError, match="does not oscillate"):
        upright.mode(0)
    with pytest.raises(ValueError, match="crank is not driven"):
        groups.linearise(arm, at={"crank": 1.0})


def test_an_eigenfrequency_is_that_of_a_small_simulated_motion():
    """Of a closed loop, by the period of its own swing."""
    crank = mbssa.load("slider_crank")
    rest = groups.equilibrium(crank)
    small = groups.linearise(crank, at=rest.coordinates)
    value = rest.coordinates["1-2.angle"]
    period = 1.0 / small.frequency[0]
    found = groups.simulate(
        crank, period, initial={"1-2.angle": value + 1e-3}, tolerance=1e-10, steps=3, compiled=False
    )
    swing = found.coordinates["1-2.angle"] - value
    np.testing.assert_allclose(swing, [1e-3, -1e-3, 1e-3], atol=2e-6)
