"""End stops and contacts of profiles in simulations, against formulas."""

import numpy as np
import pytest
from refusals import refused

import groups
import mbssa
from groups.dynamics.forces import exerted
from groups.dynamics.state import State

MASS, STIFFNESS, SPEED = 0.5, 2e4, 1.2


def slide(damping=None, **limits):
    """A body of 0.5 kg on a guide between two stops, 0.3 m apart."""
    m = mbssa.Builder("planar").body("block", inertia={"mass": MASS, "centre": (0, 0)})
    m.prismatic("frame", "block", point=(0, 0), axis=(1, 0), driven=True, limits={"slide": [-0.1, 0.2]})
    return m.force("stop", coordinate="1-2.slide", stiffness=STIFFNESS, damping=damping).build()


def test_a_block_bounces_between_its_stops_in_the_time_of_the_formula():
    """Half a period of the spring at each end, free flight between."""
    half, flight = np.pi * np.sqrt(MASS / STIFFNESS), 0.3 / SPEED
    whole = 2 * (half + flight)
    found = groups.simulate(
        slide(), whole, rates={"1-2.slide": SPEED}, tolerance=1e-9, steps=2, compiled=False
    )
    assert found.ok
    assert found.notes == ()  # a limit with a stop is not passed unnoticed: it is what the stop is for
    motion = found.trajectory.joint("1-2")["slide"]
    np.testing.assert_allclose(motion.value, 0.0, atol=1e-6)
    np.testing.assert_allclose(motion.rate, SPEED, rtol=1e-7)
    deepest = groups.simulate(
        slide(), 0.2 / SPEED + half / 2, rates={"1-2.slide": SPEED}, steps=9, compiled=False
    )
    reach = SPEED * np.sqrt(MASS / STIFFNESS)
    assert deepest.coordinates["1-2.slide"][-1] == pytest.approx(0.2 + reach, abs=1e-7)
    np.testing.assert_allclose(deepest.total_energy, 0.5 * MASS * SPEED**2, rtol=1e-7)


def test_damping_of_a_stop_takes_energy_as_the_formula_has_it():
    """m v dv/dδ = -k δ (1 + c v): both speeds solve v - ln(1 + c v) / c = constant at δ = 0."""
    c = 0.3
    found = groups.simulate(
        slide(c), 0.3, rates={"1-2.slide": SPEED}, tolerance=1e-10, steps=31, compiled=False
    )
    after = found.trajectory.joint("1-2")["slide"].rate[-1]
    assert -SPEED < after < -0.5 * SPEED
    left, right = (v - np.log1p(c * v) / c for v in (SPEED, after))
    assert left == pytest.approx(right, rel=1e-7)


def test_a_stop_needs_limits():
    m = mbssa.Builder("planar").body("block").prismatic("frame", "block", point=(0, 0), axis=(1, 0))
    m.force("stop", coordinate="1-2.slide", stiffness=1.0)
    with refused("value at force stop 1 coordinate"):
        m.build()


# --- profiles ----------------------------------------------------------------------------------------


def ball(height, **contact):
    """A disc of radius 0.1 m that may fall freely on what the frame carries."""
    m = mbssa.Builder("planar").gravity(0, -9.81)
    m.body("ball", inertia={"mass": 1.0, "centre": (0, height), "moment": 0.005})
    m.free_body("frame", "ball", point=(0, height), driven=["x", "y", "angle"])
    return m.force(bodies=["frame", "ball"], stiffness=1e6, **contact).build()


@pytest.mark.parametrize(
    ("profile", "height"),
    [
        ({"line": [[1.0, 0.0], [-1.0, 0.0]], "follower": "roller", "radius": 0.1}, 0.3),
        ({"circle": {"radius": 0.1}, "follower": {"curve": {"circle": {"radius": 0.1}}}}, 0.4),
    ],
)
def test_a_ball_that_falls_on_a_profile_is_stopped_at_the_depth_of_the_formula(profile, height):
    """m g (h + δ) = 2/5 k δ^(5/2), h the free fall."""
    mechanism = ball(height, type="contact", points=[(0, 0), (0, height)], profile=profile)
    lowest = groups.Event("lowest", lambda now: now.body("ball").velocity[0, 1], direction=1)
    found = groups.simulate(mechanism, 0.5, tolerance=1e-9, compiled=False, steps=11, events=[lowest])
    fall = 0.2
    deepest = 1e-3
    for _ in range(60):  # a fixed point that contracts
        deepest = (2.5 * 9.81 * (fall + deepest) / 1e6) ** 0.4
    assert found.status == "event lowest"
    np.testing.assert_allclose(found.total_energy, found.total_energy[0], atol=1e-6)
    y = found.trajectory.body("ball").point((0.0, height))[:, 1]
    assert y[-1] == pytest.approx(height - fall - deepest, abs=1e-7)


def test_a_terrain_that_moves_is_a_profile_of_its_body():
    """On a body that stands still a line as profile and as terrain press alike; one that moves is pressed."""
    common = {"stiffness": 1e5, "friction": 0.4, "threshold": 0.01, "damping": 0.2}
    m = mbssa.Builder("planar").body("belt").body("wheel")
    m.prismatic("frame", "belt", point=(0, 0), axis=(1, 0), driven=True)
    m.free_body("frame", "wheel", point=(0, 0.099), driven=["x", "y", "angle"])
    line = {"line": [[1.0, 0.0], [-1.0, 0.0]], "follower": "roller", "radius": 0.1}
    m.force("contact", bodies=["belt", "wheel"], points=[(0, 0), (0, 0.099)], profile=line, **common)
    flat = [(-1.0, 0.0), (1.0, 0.0)]
    m.force("terrain", bodies=["wheel"], point=(0, 0.099), radius=0.1, terrain=flat, **common)
    names = ("1-3.x", "1-3.y", "1-3.angle")
    for belt, alike in ((0.0, True), (0.3, False)):
        laws = {"1-2.slide": {"law": "speed", "rate": belt}}
        laws |= {
            name: {"law": "speed", "rate": rate} for name, rate in zip(names, (0.05, -0.02, 0.4), strict=True)
        }
        mechanism = m.motion(laws, duration=0.05, steps=5).build()
        state = State.of(groups.build(mbssa.decompose(mechanism)).solve(compiled=False))
        (on_belt, pressed), (_, ground) = (exerted(force, state)[0] for force in mechanism.forces)
        assert on_belt.body == 1
        np.testing.assert_allclose(pressed.force[1], ground.force[1], rtol=1e-9)
        assert (pressed.force[1] > 0).all()
        slip = 0.05 + 0.4 * 0.1 - belt  # of the wheel's lowest point, but for the penetration
        assert (np.sign(pressed.force[0]) == -np.sign(slip)).all()
        assert np.allclose(pressed.force, ground.force, rtol=1e-6) == alike


def test_curves_without_opposed_normals_are_named_with_the_instant():
    aside = {"line": [[2.0, 0.0], [1.0, 0.0]]}
    ring = {"circle": {"radius": 0.1}, "follower": {"curve": aside}}
    mechanism = ball(3.0, type="contact", points=[(0, 0), (0, 3.0)], profile=ring)
    with pytest.raises(ValueError, match="contact 1 profile: at t = 0 s"):
        groups.simulate(mechanism, 0.1, compiled=False)
