"""The built-in model with a user's function: a rope over a drum and a pulley, by its textbook formula."""

from pathlib import Path

import numpy as np
import pytest

import groups
import mbssa
from mbssa.io.models import rope_hoist
from mbssa.joints.user_sources import imported

DRUM, PULLEY = 0.3, 0.1
X, Y = 7.88, 6.16


def solved(mechanism, laws, duration=2.0, steps=201, **chosen):
    model = groups.build(mbssa.decompose(mechanism))
    time = np.linspace(0.0, duration, steps)
    trajectory = model.solve(groups.sample(mechanism, laws, time), **chosen)
    assert trajectory.ok, trajectory.faults()
    return trajectory


def straight(x):
    """Length and direction of the straight rope, by the angle under which a tangent of two circles lies."""
    distance = np.hypot(x, Y)
    direction = np.arctan2(Y, x) - np.arcsin((DRUM - PULLEY) / distance)
    return distance * np.cos(np.arcsin((DRUM - PULLEY) / distance)), direction


LAWS = {"1-2.slide": groups.harmonic(3.0, 0.4), "1-3.angle": groups.polynomial(0.0, 9.0, -2.0, -1.0)}


@pytest.fixture(scope="module")
def hoist():
    return solved(mbssa.load("rope_hoist"), LAWS)


def test_the_load_hangs_where_the_rope_ends(hoist):
    slide, angle = hoist.joint("1-2")["slide"].value, hoist.joint("1-3")["angle"].value
    load = hoist.body("load").position
    length, direction = straight(X + slide)
    # What lies on the drum, what is straight, what lies on the pulley, what hangs.
    rope = DRUM * (angle - direction) + length + PULLEY * (direction + np.pi / 2) + (Y - load[:, 1])
    assert np.ptp(rope) < 1e-13 * rope[0]
    np.testing.assert_allclose(load[:, 0], X + PULLEY + slide, rtol=1e-15)


def test_the_load_rises_by_what_is_wound_up_and_what_the_trolley_takes(hoist):
    slide, angle = hoist.joint("1-2")["slide"], hoist.joint("1-3")["angle"]
    length, direction = straight(X + slide.value)
    load = hoist.body("load")
    rise = DRUM * angle.rate + np.cos(direction) * slide.rate
    assert np.abs(load.velocity[:, 1] - rise).max() < 1e-13 * np.abs(rise).max()
    bend = np.sin(direction) ** 2 / length * slide.rate**2
    rise = DRUM * angle.acceleration + np.cos(direction) * slide.acceleration + bend
    assert np.abs(bend).max() > 0.01 * np.abs(rise).max()
    assert np.abs(load.acceleration[:, 1] - rise).max() < 1e-12 * np.abs(rise).max()


def test_the_global_approach_hangs_it_there_too(hoist):
    mechanism = mbssa.load("rope_hoist")
    motion = groups.sample(mechanism, LAWS, hoist.time)
    at_once = groups.solve_globally(mbssa.decompose(mechanism), motion)
    assert at_once.ok, at_once.faults()
    for level in ("position", "velocity", "acceleration"):
        wanted = getattr(hoist.body("load"), level)
        assert np.abs(getattr(at_once.body("load"), level) - wanted).max() < 1e-10 * np.abs(wanted).max()


def test_the_function_is_traced_and_beside_its_model():
    from mbssa.joints.poses import Poses
    from mbssa.joints.user import UserFunction, check_function

    source = mbssa.load("rope_hoist").joint("rope").geometry.function
    function = UserFunction(source, 3, True, size=5.0)
    assert function.resolve().function is rope_hoist.rope
    assert groups.build(mbssa.decompose(mbssa.load("rope_hoist"))).compile()
    check_function(function, Poses.of(np.array([[0, 0, 0], [X, Y, 0], [X + PULLEY, 2.16, 0]])))
    assert Path(rope_hoist.__file__).with_suffix(".toml").is_file()


def test_files_may_name_the_former_package_of_the_models() -> None:
    assert imported("mbssa.gathering.models.rope_hoist:rope") is rope_hoist.rope
