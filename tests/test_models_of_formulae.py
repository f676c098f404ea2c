"""Built-in models whose motion textbooks have in closed form: positions, velocities, accelerations."""

from importlib.resources import files

import following
import numpy as np
import pytest
from following import TURN, TURNING, assert_follows, differentiated, path

import groups
import mbssa


@pytest.fixture(scope="module", params=TURNING.values(), ids=TURNING)
def turning(request):
    """A whole turn of a model's input, and a bit: at constant speed, and faster and faster."""
    return lambda name: solved(name, request.param, steps=181)


def solved(name, law=None, steps=721):
    return following.solved(mbssa.load(name), law, steps)


def input_of(trajectory):
    return trajectory.joint("1-2")["angle"]


class Along:
    """What a fixed axis has of a body's rotation: the angle, its rate, its acceleration."""

    def __init__(self, body, axis, normal):
        across = np.cross(axis, normal)
        turned = body.rotation @ normal
        self.value = np.unwrap(np.arctan2(turned @ across, turned @ normal))
        self.rate = body.velocity[:, 3:] @ axis
        self.acceleration = body.acceleration[:, 3:] @ axis


# --- universal joints --------------------------------------------------------------------------------

COS_BETA, SIN_BETA = 0.8, 0.6


@differentiated
def hooke(angle):
    """tan(out) = cos(beta) tan(in), on the branch without jumps."""
    c, s = np.cos(angle), np.sin(angle)
    return angle + np.arctan((COS_BETA - 1) * s * c / (c * c + COS_BETA * s * s))


def test_the_shaft_between_two_universal_joints_turns_by_hookes_law(turning):
    trajectory = turning("universal_shafts")
    axis, normal = np.array([COS_BETA, SIN_BETA, 0.0]), np.array([0.0, 0.0, 1.0])
    for name in ("tube", "spline"):
        body = trajectory.body(name)
        middle = Along(body, axis, normal)
        assert_follows(middle, hooke, input_of(trajectory))
        # It turns about its own axis alone.
        for level in (body.velocity, body.acceleration):
            assert np.abs(np.cross(level[:, 3:], axis)).max() < 1e-11 * np.abs(level).max()


def test_hookes_speed_ratio_lies_between_the_cosine_and_its_inverse():
    trajectory = solved("universal_shafts")
    between = np.array([COS_BETA, SIN_BETA, 0.0])
    ratio = trajectory.body("tube").velocity[:, 3:] @ between / input_of(trajectory).rate
    assert (ratio.min(), ratio.max()) == pytest.approx((COS_BETA, 1 / COS_BETA), rel=1e-12)
    # Twice a turn each.
    assert np.flatnonzero(np.isclose(ratio, ratio.max(), rtol=1e-9)).tolist() == [180, 540]
    assert np.flatnonzero(np.isclose(ratio, ratio.min(), rtol=1e-9)).tolist() == [0, 360, 720]


def test_two_universal_joints_in_phase_undo_each_other(turning):
    trajectory = turning("universal_shafts")
    angle = trajectory.joint("1-5")["angle"]
    assert_follows(angle, lambda q: (q, np.ones_like(q), np.zeros_like(q)), input_of(trajectory))
    spline = trajectory.joint("3-4")["slide"]
    for level in ("value", "rate", "acceleration"):
        assert np.abs(getattr(spline, level)).max() < 1e-11


def test_two_universal_joints_out_of_phase_apply_hookes_law_twice(read):
    """The spline is put together a quarter turn wrong: tan(out) = tan(in) cos²(beta)."""
    text = files("mbssa.io.models").joinpath("universal_shafts.toml").read_text("utf-8")
    right, wrong = "axes = [[-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]", "axes = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]"
    assert text.count(right) == 1
    mechanism = read(text.replace(right, wrong))
    model = groups.build(mbssa.decompose(mechanism))
    trajectory = model.solve()
    assert trajectory.ok, trajectory.faults()
    turned = trajectory.joint("1-2")["angle"].value
    out = trajectory.joint("1-5")["angle"].value
    assert np.abs(np.sin(out) * np.cos(turned) - COS_BETA**2 * np.sin(turned) * np.cos(out)).max() < 1e-12
    speed = trajectory.joint("1-5")["angle"].rate / trajectory.joint("1-2")["angle"].rate
    assert (speed.min(), speed.max()) == pytest.approx((COS_BETA**2, COS_BETA**-2), rel=1e-9)


ONE_JOINT = """
format = 1
space = "spatial"
bodies = 3

[[joint]]
bodies = [1, 2]
type = "R"
driven = ["angle"]
point = [0.0, 0.0, 0.0]
axis = [1.0, 0.0, 0.0]

[[joint]]
bodies = [2, 3]
type = "U"
point = [0.3, 0.0, 0.0]
axes = [[0.0, 0.0, 1.0], [-0.6, 0.8, 0.0]]

[[joint]]
bodies = [1, 3]
type = "R"
point = [0.7, 0.3, 0.0]
axis = [0.8, 0.6, 0.0]

[motion]
steps = 361

[motion.inputs]
"1-2.angle" = { law = "speed", rate = 6.283185307179586 }
"""


def test_one_universal_joint_between_two_hinges_has_three_equations_too_many(read):
    """As the notes of universal_shafts say; it turns by the same law when they are left out."""
    mechanism = read(ONE_JOINT)
    assert mechanism.mobility == -2
    report = mbssa.check(mechanism)
    assert report.solvable
    assert any("3 constraints are redundant" in finding.text for finding in report.findings)
    trajectory = groups.build(mbssa.decompose(mechanism)).solve()
    assert trajectory.ok, trajectory.faults()
    assert_follows(trajectory.joint("1-3")["angle"], hooke, input_of(trajectory))


# --- quick return ------------------------------------------------------------------------------------

CRANK, PIVOTS, LEVER, ROD, GUIDE = 0.1, 0.2, 0.4, 0.25, 0.4


@differentiated
def lever(angle):
    """tan(phi) = r sin(theta) / (d + r cos(theta))."""
    return np.arctan(CRANK * np.sin(angle) / (PIVOTS + CRANK * np.cos(angle)))


@differentiated
def ram(phi):
    """x = -L sin(phi) + sqrt(l² - (h - L cos(phi))²)."""
    return np.sqrt(ROD**2 - (GUIDE - LEVER * np.cos(phi)) ** 2) - LEVER * np.sin(phi)


@differentiated
def reach(angle):
    """The law of cosines: the pin's distance from the lever's pivot."""
    return np.sqrt(CRANK**2 + PIVOTS**2 + 2 * CRANK * PIVOTS * np.cos(angle))


def test_the_slotted_lever_swings_as_the_textbook_says(turning):
    trajectory = turning("quick_return")
    assert_follows(trajectory.joint("1-3")["angle"], lever, input_of(trajectory))
    assert_follows(trajectory.joint("3-2")["slide"], reach, input_of(trajectory))


def test_the_ram_follows_the_lever_as_a_slider_does_its_crank(turning):
    trajectory = turning("quick_return")
    assert_follows(trajectory.joint("1-5")["slide"], ram, trajectory.joint("1-3")["angle"])
    tool = trajectory.body("ram")
    assert np.abs(tool.point("tool")[:, 1] - GUIDE).max() < 1e-12
    assert np.abs(tool.orientation).max() < 1e-12


def test_the_quick_return_ratio():
    """(180 + 2a)/(180 - 2a) with a = asin(r/d) = 30 degrees, from where the ram turns back."""
    from scipy.interpolate import CubicHermiteSpline

    trajectory = solved("quick_return")
    time, slide, swing = trajectory.time, trajectory.joint("1-5")["slide"], trajectory.joint("1-3")["angle"]
    left, right = CubicHermiteSpline(time, slide.rate, slide.acceleration).roots(extrapolate=False)
    slow = time[-1] - (right - left)
    # The ram turns back between two instants: one of them has the extreme value.
    low, high = (slide.value[at - 1 : at + 1] for at in np.searchsorted(time, (left, right)))
    assert (low.min(), high.max()) == (slide.value.min(), slide.value.max())
    a = np.arcsin(CRANK / PIVOTS)
    assert max(slow, right - left) / min(slow, right - left) == pytest.approx(
        (np.pi + 2 * a) / (np.pi - 2 * a), rel=1e-6
    )
    turns = CubicHermiteSpline(time, swing.rate, swing.acceleration).roots(extrapolate=False)
    ends = CubicHermiteSpline(time, swing.value, swing.rate)(turns)
    assert (ends.min(), ends.max()) == pytest.approx((-a, a), abs=1e-6)


# --- Oldham coupling ---------------------------------------------------------------------------------

OFFSET = 0.02


def test_the_oldham_coupling_turns_all_its_bodies_alike(turning):
    trajectory = turning("oldham")
    driver = input_of(trajectory)
    assert_follows(trajectory.joint("1-4")["angle"], lambda q: (q, np.ones_like(q), np.zeros_like(q)), driver)
    disc = trajectory.body("disc")
    assert np.abs(disc.orientation - driver.value).max() < 1e-12
    assert np.abs(disc.velocity[:, 2] - driver.rate).max() < 1e-11 * np.abs(driver.rate).max()


def test_the_disc_of_the_oldham_coupling_slides_harmonically(turning):
    trajectory = turning("oldham")
    driver = input_of(trajectory)
    for joint, phase in (("2-3", 0.0), ("4-3", np.pi / 2)):
        harmonic = differentiated(lambda q, phase=phase: OFFSET * np.cos(q - phase))
        assert_follows(trajectory.joint(joint)["slide"], harmonic, driver, size=OFFSET)


def test_the_disc_of_the_oldham_coupling_runs_twice_around_a_circle(turning):
    """Its centre sees both shafts under a right angle: Thales' circle, at twice the speed of the shafts."""
    trajectory = turning("oldham")
    centre = path(trajectory, "disc", "centre")
    circle = differentiated(lambda q: OFFSET / 2 * np.array([1.0 + np.cos(2 * q), np.sin(2 * q)]))
    assert_follows(centre, circle, input_of(trajectory), size=OFFSET, within=1e-12)


# --- Geneva wheel ------------------------------------------------------------------------------------

SLOTS, PIN, AXES = 6, 0.05, 0.1
STROKE = np.pi / 2 - np.pi / SLOTS


@differentiated
def indexing(angle):
    """beta = atan(lambda sin(alpha) / (1 - lambda cos(alpha))), clockwise."""
    return -np.arctan(PIN * np.sin(angle) / (AXES - PIN * np.cos(angle)))


@differentiated
def depth(angle):
    """The law of cosines: the pin's distance from the wheel's axis."""
    return np.sqrt(PIN**2 + AXES**2 - 2 * PIN * AXES * np.cos(angle))


def test_the_geneva_wheel_follows_the_pin():
    for law in [
        None,
        groups.ramp(-STROKE, STROKE, 0.0, 1.0),
        groups.polynomial(-STROKE, 0.5 * STROKE, 0.0, 1.5 * STROKE),
    ]:
        trajectory = solved("geneva", law)
        driver = input_of(trajectory)
        assert (driver.value[0], driver.value[-1]) == pytest.approx((-STROKE, STROKE), rel=1e-12), law
        assert_follows(trajectory.joint("1-3")["angle"], indexing, driver)
        assert_follows(trajectory.joint("3-2")["slide"], depth, driver)


def test_the_geneva_wheel_steps_by_one_slot_and_begins_and_ends_without_a_knock():
    trajectory = solved("geneva")
    driver, wheel, slide = (
        input_of(trajectory),
        *(trajectory.joint(joint)[name] for joint, name in (("1-3", "angle"), ("3-2", "slide"))),
    )
    assert wheel.value[0] - wheel.value[-1] == pytest.approx(TURN / SLOTS, rel=1e-12)
    assert np.abs(wheel.rate[[0, -1]]).max() < 1e-12 * np.abs(wheel.rate).max()
    # The pin enters along the slot; the textbook's acceleration there is tan(pi/n) of the driver's speed².
    assert np.abs(slide.rate[[0, -1]]) == pytest.approx(PIN * driver.rate[[0, -1]], rel=1e-12)
    assert np.abs(wheel.acceleration[[0, -1]]) == pytest.approx(
        np.tan(np.pi / SLOTS) * driver.rate[[0, -1]] ** 2, rel=1e-11
    )
    assert -wheel.rate.min() == pytest.approx(driver.rate[0], rel=1e-12)  # lambda/(1 - lambda) = 1


def test_the_pin_of_the_geneva_wheel_stays_in_its_slot_for_this_step_alone():
    trajectory = solved("geneva")
    low, high = mbssa.load("geneva").joint("3-2").geometry.limits["slide"]
    slide = trajectory.joint("3-2")["slide"].value
    assert low < slide.min()
    assert slide.max() < high
    mechanism = mbssa.load("geneva")
    laws = {"1-2.angle": groups.speed(TURN, start=-1.02 * STROKE)}
    motion = groups.sample(mechanism, laws, np.linspace(0.0, 0.01, 721))
    longer = groups.build(mbssa.decompose(mechanism)).solve(motion)
    out = longer.status[:, 1] != 0
    assert out[0]
    assert not out[-1]
    assert np.isnan(longer.body("wheel").orientation[out]).all()
    assert "SLOT 2-3.slide is" in longer.faults()[0]
