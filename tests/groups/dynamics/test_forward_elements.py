"""Force elements along simulated motions, against formulas."""

import numpy as np
import pytest
from dense_forces import with_masses
from scipy.optimize import brentq

import groups
import mbssa

MASS = 2.0


def slider(axis, **force):
    m = mbssa.Builder("planar").body("mass", inertia={"mass": MASS, "centre": (0, 0.2)})
    m.gravity(0, -9.81).prismatic("frame", "mass", point=(0, 0.2), axis=axis, driven=True)
    return m.force(**force).build()


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_a_dropped_wheel_bounces_on_the_terrain(damping):
    """Without damping it comes back to its height and keeps its energy; with damping it loses some."""
    mechanism = slider(
        (0, 1), type="terrain", bodies=["mass"], point=(0, 0.2), radius=0.1, stiffness=1e5, damping=damping,
        terrain=[(-1, 0), (1, 0)],
    )  # fmt: skip
    found = groups.simulate(mechanism, 0.345, tolerance=1e-8, steps=93, compiled=False)
    assert found.ok
    fall = np.sqrt(2 * 0.1 / 9.81)
    height = found.coordinates["1-2.slide"]
    falling = found.time < fall - 1e-9
    np.testing.assert_allclose(height[falling], -0.5 * 9.81 * found.time[falling] ** 2, atol=1e-7)
    deepest = brentq(lambda d: MASS * 9.81 * (0.1 + d) - 0.4 * 1e5 * d**2.5, 1e-4, 0.1)
    assert -0.1 - deepest - 1e-6 < height.min() < -0.1 - 0.5 * deepest
    after = found.time > fall + 0.05
    if damping == 0.0:
        assert np.ptp(found.total_energy) < 1e-5
        assert height[after].max() > -1e-4
    else:
        assert found.total_energy[0] - found.total_energy[-1] > 0.1
        assert -0.1 < height[after].max() < -0.01


def rolling(**torque):
    """A disc of radius 0.1 m on a level terrain, into which its weight presses it; free in the plane."""
    m = mbssa.Builder("planar").gravity(0, -9.81)
    m.body("carrier").body("lift").body(
        "disc", inertia={"mass": MASS, "centre": (0, 0.1), "moment": 0.5 * MASS * 0.1**2}
    )
    sink = (MASS * 9.81 / 1e6) ** (2 / 3)
    m.prismatic("frame", "carrier", point=(0, 0.1), axis=(1, 0), driven=True)
    m.prismatic("carrier", "lift", point=(0, 0.1), axis=(0, 1), driven=True)
    m.revolute("lift", "disc", point=(0, 0.1), driven=True)
    m.force(
        "terrain", bodies=["disc"], point=(0, 0.1), radius=0.1 + sink, stiffness=1e6, damping=1.0,
        friction=0.4, threshold=THRESHOLD, terrain=[(-1, 0), (3, 0)],
    )  # fmt: skip
    if torque:
        m.force("coordinate", coordinate="3-4.angle", **torque)
    return m.build()


THRESHOLD = 0.01


def slip_of(found):
    speed = found.trajectory.joint("1-2")["slide"].rate
    return speed, speed + 0.1 * found.trajectory.joint("3-4")["angle"].rate


def test_a_sliding_disc_comes_to_roll():
    """It slows down by the friction until its rim is as fast as its centre: at 2/3 of its first speed."""
    found = groups.simulate(
        rolling(), 0.12, rates={"1-2.slide": 1.0}, tolerance=1e-7, steps=13, compiled=False
    )
    speed, slip = slip_of(found)
    sliding = found.time < 0.8 / (3 * 0.4 * 9.81)
    np.testing.assert_allclose(speed[sliding], 1.0 - 0.4 * 9.81 * found.time[sliding], atol=2e-3)
    assert speed[-1] == pytest.approx(2 / 3, abs=1e-3)
    assert abs(slip[-1]) < 1e-4


def test_the_slip_of_a_driven_disc_settles():
    """Under a torque T the rim pulls with F = 2 T / 3 R, for which it slips by the friction's own law."""
    found = groups.simulate(rolling(force=-0.6), 0.2, tolerance=1e-7, steps=21, compiled=False)
    speed, slip = slip_of(found)
    pull = 2 * 0.6 / (3 * 0.1)
    settled = -THRESHOLD * np.arctanh(pull / (0.4 * MASS * 9.81))
    np.testing.assert_allclose(slip[found.time > 0.12], settled, atol=2e-5)
    assert (speed[-1] - speed[12]) / (found.time[-1] - found.time[12]) == pytest.approx(pull / MASS, rel=1e-3)


def test_coulomb_friction_stops_a_mass():
    """m dv/dt = -F tanh(v / w) has sinh(v / w) = sinh(v0 / w) exp(-F t / (m w))."""
    force, threshold = 4.0, 0.02
    mechanism = slider((1, 0), type="friction", coordinate="1-2.slide", friction=force, threshold=threshold)
    found = groups.simulate(
        mechanism, 0.6, rates={"1-2.slide": 1.0}, tolerance=1e-8, steps=41, compiled=False
    )
    decay = np.exp(-force * found.time / (MASS * threshold))
    expected = threshold * np.arcsinh(np.sinh(1.0 / threshold) * decay)
    rate = found.trajectory.joint("1-2")["slide"].rate
    np.testing.assert_allclose(rate, expected, atol=1e-6)
    assert rate[-1] < 1e-3


def test_a_law_of_time_drives_a_mass():
    omega = 2 * np.pi * 3.0
    law = {"law": "harmonic", "amplitude": 1.0, "frequency": 3.0}
    mechanism = slider((1, 0), type="coordinate", coordinate="1-2.slide", force=5.0, factor=law)
    found = groups.simulate(mechanism, 0.5, tolerance=1e-11, steps=11, compiled=False)
    expected = 5.0 / (MASS * omega) * (found.time - np.sin(omega * found.time) / omega)
    np.testing.assert_allclose(found.coordinates["1-2.slide"], expected, atol=1e-8)


@pytest.mark.parametrize("method", ["groups", "lagrange", "dae"])
def test_a_contact_beyond_the_end_of_a_tooth_ends_a_run(method):
    if method == "dae":
        pytest.importorskip("sksundae")
    mechanism = with_masses(mbssa.load("involute_teeth"))
    found = groups.simulate(mechanism, 0.05, method=method, steps=3, compiled=False)
    assert found.status.startswith("failed: t = 0.0")
    assert found.status.endswith(": lifted off")
