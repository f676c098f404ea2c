"""Contacts that end: outside of limits, out of reach, or left open by an equation that is only checked."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import groups
import mbssa
import routes
from groups.status import CONTACT_LOST, INTERPENETRATION, OK, PREDECESSOR_FAILED

ARM, HEIGHT = np.hypot(0.5, 0.2), 0.2

#: A hinged arm whose ball rests on a plate that goes up and down, and a slide that hangs on the arm.
BALL = f"""
format = 1
space = "spatial"
bodies = 4

[[joint]]
id = "plate"
bodies = [1, 2]
type = "P"
point = [0.5, 0.0, 0.15]
axis = [0.0, 0.0, 1.0]
driven = ["slide"]

[[joint]]
id = "hinge"
bodies = [1, 3]
type = "R"
point = [0.0, 0.0, 0.0]
axis = [0.0, -1.0, 0.0]

[[joint]]
id = "ball"
bodies = [2, 3]
type = "SP"
point = [0.5, 0.0, {HEIGHT}]
axis = [0.0, 0.0, 1.0]
radius = 0.05
LIMITS

[[joint]]
id = "rider"
bodies = [3, 4]
type = "P"
point = [0.5, 0.0, {HEIGHT}]
axis = [0.0, 1.0, 0.0]
driven = ["slide"]
"""

#: Speed of the Geneva wheel's driver, rad/s.
GENEVA = 2 * np.pi


def plate(mechanism, way, steps=41):
    """The plate by ``way`` (m) in a second, the rider at rest."""
    time = np.linspace(0.0, 1.0, steps)
    laws = {"plate.slide": groups.speed(way), "rider.slide": groups.constant(0.0)}
    return groups.sample(mechanism, laws, time)


@pytest.mark.parametrize("name", ["closed form", "Newton", "global dense", "global sparse"])
def test_the_pin_leaves_its_slot_under_every_solver(name):
    """The slide is the pin's distance from the wheel's axis: sqrt(a^2 + c^2 - 2 a c cos(alpha))."""
    mechanism = mbssa.load("geneva")
    motion = groups.constant_speed(mechanism, rate=GENEVA, duration=0.5, steps=361)
    found = groups.build(mbssa.decompose(mechanism), {2: name}).solve(motion)
    alpha = GENEVA * found.time - np.pi / 3
    slide = np.sqrt(0.05**2 + 0.1**2 - 2 * 0.05 * 0.1 * np.cos(alpha))
    outside = (slide > 0.087) | (slide < 0.049)
    assert outside.any()
    assert_array_equal(found.status[:, 1], np.where(outside, CONTACT_LOST, OK))
    assert not found.status[:, 0].any()
    assert_array_equal(np.isnan(found.body("wheel").orientation), outside)
    assert_array_equal(np.isnan(found.body("wheel").acceleration).any(axis=1), outside)
    (said,) = found.faults()
    first = np.flatnonzero(outside)[0]
    assert f"lifted off at {outside.sum()} of 361 instants, first at t = {found.time[first]:.6g} s" in said
    assert f"SLOT 2-3.slide is {slide[first] * 1000:.6g} mm, outside 49 … 87 mm" in said
    assert_allclose(found.residual[first, 1], slide[first] - 0.087, atol=1e-12)


def test_the_global_approach_says_so_too():
    mechanism = mbssa.load("geneva")
    structure = mbssa.decompose(mechanism)
    motion = groups.constant_speed(mechanism, rate=GENEVA, duration=0.5, steps=361)
    by_groups = groups.build(structure).solve(motion)
    found = groups.solve_globally(structure, motion)
    assert_array_equal(found.status[:, 0], by_groups.status[:, 1])
    assert found.contacts == (by_groups.contacts[1],)
    assert_array_equal(np.isnan(found.body("driver").position[:, 0]), found.status[:, 0] == CONTACT_LOST)


def test_every_way_to_solve_says_the_same(tmp_path):
    """Machine code, threads, some bodies only, and a file."""
    mechanism = mbssa.load("geneva")
    model = groups.build(mbssa.decompose(mechanism))
    motion = groups.constant_speed(mechanism, rate=2 * GENEVA, duration=1.0, steps=1001)
    found = model.solve(motion)
    assert (found.status == CONTACT_LOST).any()
    assert found.status[-1, 1] == found.status[0, 1] == OK
    route = routes.sequential_route(model)
    plan = routes.plan_of(model, route, instants=1001, chunks=2, executor="threads", workers=2)
    others = [
        model.solve(motion, compiled=True),
        model.solve(motion, bodies=["driver"]),
        routes.run(model, plan, motion),
    ]
    for other in others:
        assert_array_equal(other.status, found.status)
        assert other.faults() == found.faults()
    assert others[1].position.shape == (1001, 1, 2)
    found.save(tmp_path / "run.npz")
    assert groups.load_trajectory(tmp_path / "run.npz").faults() == found.faults()


def test_a_contact_goes_on_where_it_comes_back():
    """The solver goes on behind the limits, so that the motion within them is what it is without any."""
    mechanism = mbssa.load("kinematic_coupling")
    model = groups.build(mbssa.decompose(mechanism))
    time = np.linspace(0.0, 1.0, 401)
    high = groups.sample(mechanism, {"1-2.slide": groups.harmonic(0.07, 1.0)}, time)
    found = model.solve(high)
    phi = np.arcsin(0.07 * np.sin(2 * np.pi * time) / 0.08)
    off = 0.08 * np.cos(phi) < 0.055
    assert off.any()
    assert_array_equal(found.status[:, 1] == CONTACT_LOST, off)
    assert_allclose(found.body("platform").rotation[~off, 2, 1], np.sin(phi[~off]), atol=1e-11)
    assert re.search(r"SP flat\.slide_y is -25\.\d+ mm, outside -25 … 25 mm", found.faults()[0])


def test_who_hangs_on_a_lifted_body_waits(read):
    mechanism = read(BALL.replace("LIMITS", "limits = { slide_x = [-0.1, 0.02] }"))
    found = groups.build(mbssa.decompose(mechanism)).solve(plate(mechanism, 0.3))
    height = HEIGHT + 0.3 * found.time
    off = np.sqrt(ARM**2 - height**2) - 0.5 < -0.1
    assert off.any()
    by = {group.bodies: group.number - 1 for group in mbssa.decompose(mechanism).groups}
    assert_array_equal(found.status[:, by[(3,)]], np.where(off, CONTACT_LOST, OK))
    assert_array_equal(found.status[:, by[(4,)]], np.where(off, PREDECESSOR_FAILED, OK))
    assert np.isnan(found.body(4).position[off]).all()


def test_limits_of_what_is_no_contact_are_wishes(read):
    text = BALL.replace("LIMITS", "").replace('driven = ["slide"]\n\n', 'driven = ["slide"]\nLIM\n\n', 1)
    mechanism = read(text.replace("LIM", "limits = { slide = [-0.01, 0.01] }"))
    model = groups.build(mbssa.decompose(mechanism))
    assert model.watches == ()
    assert model.solve(plate(mechanism, 0.3)).ok


@pytest.mark.parametrize(
    ("way", "code", "word"), [(0.6, INTERPENETRATION, "penetrates"), (-1.0, CONTACT_LOST, "lifted off")]
)
def test_a_plate_that_the_ball_cannot_reach(read, way, code, word):
    """The ball's centre is never higher than the arm is long, nor lower: what is left is the gap."""
    mechanism = read(BALL.replace("LIMITS", ""))
    structure = mbssa.decompose(mechanism)
    found = groups.build(structure).solve(plate(mechanism, way))
    height = HEIGHT + way * found.time
    g = next(group.number - 1 for group in structure.groups if group.bodies == (3,))
    beyond = np.abs(height) > ARM
    assert beyond.any()
    assert_array_equal(found.status[:, g] == code, beyond)
    assert_array_equal(found.status[:, g] == OK, ~beyond)
    gap = np.abs(height) - ARM
    assert_allclose(found.residual[beyond, g], gap[beyond], atol=1e-6)
    first = np.flatnonzero(beyond)[0]
    said = next(text for text in found.faults() if text.startswith(f"SG-{g + 1} "))
    assert f"{word} at {beyond.sum()} of 41" in said
    assert f"contact SP ball: gap {(1 if code == CONTACT_LOST else -1) * gap[first]:.3g} m" in said


SLIDER = """
format = 1
space = "spatial"
bodies = 2
[[joint]]
id = "way"
bodies = [1, 2]
type = "P"
point = [0.0, 0.0, 0.0]
axis = [1.0, 0.0, 0.0]
driven = ["slide"]
[[joint]]
id = "foot"
bodies = [1, 2]
type = "SP"
point = [0.4, 0.0, 0.2]
axis = [SLOPE, 0.0, 1.0]
radius = 0.05
"""


@pytest.mark.parametrize("name", ["groups", "dense", "sparse"])
@pytest.mark.parametrize("slope", [1e-5, -1e-5, 0.0])
def test_a_contact_that_is_only_checked(read, slope, name):
    """A slide that should run along a plane leaves it, or runs into it, by the slope times the way."""
    mechanism = read(SLIDER.replace("SLOPE", str(slope)))
    structure = mbssa.decompose(mechanism)
    motion = groups.constant_speed(mechanism, rate=1.0, duration=1.0, steps=11)
    if name == "groups":
        found = groups.build(structure).solve(motion)
    else:
        found = groups.solve_globally(structure, motion, method=name)
    code = {1.0: CONTACT_LOST, -1.0: INTERPENETRATION, 0.0: OK}[float(np.sign(slope))]
    assert found.status[0, 0] == OK
    assert (found.status[1:, 0] == code).all()
    if slope:
        assert_allclose(found.residual[1:, 0], 1e-5 * found.time[1:], rtol=1e-3)
        assert f"contact SP foot: gap {slope * 0.1:.3g} m" in found.faults()[0]
        assert np.isnan(found.body(2).position[1:]).all()


def test_the_page_and_the_flags_know_the_words():
    from groups.trajectory import STATUS

    assert STATUS[CONTACT_LOST] == "lifted off"
    assert STATUS[INTERPENETRATION] == "penetrates"


def test_other_inputs_say_it_too(read):
    """The arm is driven, not the plate's height: the ball leaves its plate at the same places."""
    mechanism = read(BALL.replace("LIMITS", "limits = { slide_x = [-0.1, 0.02] }"))
    led = mbssa.with_inputs(mechanism, ["hinge.angle", "rider.slide"])
    model = groups.build(mbssa.decompose(led))
    time = np.linspace(0.0, 1.0, 101)
    laws = {"hinge.angle": groups.speed(0.6), "rider.slide": groups.constant(0.0)}
    found = model.solve(groups.sample(model.mechanism, laws, time))
    off = ARM * np.cos(np.arctan2(0.2, 0.5) + 0.6 * time) < 0.4
    assert off.any()
    assert_array_equal((found.status == CONTACT_LOST).any(axis=1), off)
    assert_array_equal(np.isnan(found.body(2).position[:, 0]), off)
