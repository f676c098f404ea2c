"""Cams of every source and follower against closed formulae, other mechanisms, and the law they come from."""

from dataclasses import replace

import numpy as np
import pytest
from following import TURN, TURNING, assert_follows, differentiated, solved
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

import groups
import mbssa
from mbssa.joints.cams.follower_laws import FollowerLaw, Segment
from mbssa.joints.cams.law_cam import LawCam, Swing
from mbssa.joints.cams.profiles import profile_from

LEVELS = ("position", "orientation", "velocity", "acceleration")

turning = pytest.mark.parametrize("law", TURNING.values(), ids=TURNING)

SLIDER = 'type = "P"\naxis = [0.0, 1.0]'
ROCKER = 'type = "R"\npoint = [0.1, 0.0]'


CAM = 'type = "R"\npoint = [0.0, 0.0]'


def text(profile, point, follower=SLIDER, face=(1.0, 0.0), cam=CAM, origin=(0.0, 0.0), own=(1.0, 0.0)):
    """A model file: a driven cam with its profile's frame at the reference, and its follower."""
    coordinate = "slide" if "P" in cam else "angle"
    points, axes = (np.array(pair, dtype=float).tolist() for pair in ((origin, point), (own, face)))
    return f"""
format = 1
space = "planar"
bodies = 3

[[joint]]
bodies = [1, 2]
{cam}
driven = ["{coordinate}"]

[[joint]]
bodies = [1, 3]
{follower}

[[joint]]
bodies = [2, 3]
type = "L"
points = {points}
axes = {axes}
profile = {profile}
"""


def coordinates(trajectory):
    """The follower's and the cam's."""
    found = [trajectory.joint(name) for name in ("1-3", "1-2")]
    return [motion[motion.names[0]] for motion in found]


def assert_same(one, two, within=1e-9):
    for level in LEVELS:
        a, b = getattr(one, level), getattr(two, level)
        assert np.abs(a - b).max() < within * max(1.0, np.abs(b).max()), level


# --- closed formulae ---------------------------------------------------------------------------------

E, R, ROLLER = 0.01, 0.03, 0.008
CIRCLE = f"circle = {{ radius = {R}, centre = [{E}, 0.0] }}"
A, B = 0.04, 0.025
ELLIPSE = f"ellipse = {{ semi_axes = [{A}, {B}] }}"
TILT = 0.3
PIVOT = 0.1


def crank(radius):
    """A slider-crank's slide, upwards: the place of a roller over an eccentric circle."""
    return lambda q: E * np.sin(q) + np.sqrt(radius**2 - (E * np.cos(q)) ** 2)


def knife_on_an_ellipse(q):
    # At the angle π/2 - q of the cam.
    return A * B / np.sqrt((B * np.sin(q)) ** 2 + (A * np.cos(q)) ** 2)


def face_on_an_ellipse(q):
    return np.sqrt((A * np.sin(q)) ** 2 + (B * np.cos(q)) ** 2)


def swinging_face(q):
    """The face runs through the pivot; its angle there from the line to the cam's axis, clockwise."""
    x, y = PIVOT - E * np.cos(q), E * np.sin(q)
    return -(np.arctan(y / x) + np.arcsin(R / np.sqrt(x * x + y * y)))


CLOSED = {
    "knife on a formula of r": (
        '{ formula = { r = "0.05 + 0.01*cos(3*s)" }, follower = "knife" }',
        lambda q: 0.05 + 0.01 * np.cos(3 * (np.pi / 2 - q)),
        (1.0, 0.0),
    ),
    "knife on an ellipse": (f'{{ {ELLIPSE}, follower = "knife" }}', knife_on_an_ellipse, (1.0, 0.0)),
    "knife on an ellipse by formula": (
        f'{{ formula = {{ x = "{A}*sin(s)", y = "{B}*cos(s)" }}, follower = "knife" }}',
        knife_on_an_ellipse,
        (1.0, 0.0),
    ),
    "face on an ellipse": (f'{{ {ELLIPSE}, follower = "flat" }}', face_on_an_ellipse, (1.0, 0.0)),
    "roller on an eccentric": (
        f'{{ {CIRCLE}, follower = "roller", radius = {ROLLER} }}',
        crank(R + ROLLER),
        (1.0, 0.0),
    ),
    "knife on an eccentric": (f'{{ {CIRCLE}, follower = "knife" }}', crank(R), (1.0, 0.0)),
    "face on an eccentric": (f'{{ {CIRCLE}, follower = "flat" }}', lambda q: E * np.sin(q) + R, (1.0, 0.0)),
    "tilted face on an eccentric": (
        f'{{ {CIRCLE}, follower = "flat" }}',
        lambda q: (E * np.sin(q - TILT) + R) / np.cos(TILT),
        (np.cos(TILT), np.sin(TILT)),
    ),
    "circle on an eccentric": (
        f"{{ {CIRCLE}, follower = {{ curve = {{ circle = {{ radius = {ROLLER} }} }} }} }}",
        crank(R + ROLLER),
        (1.0, 0.0),
    ),
    # A hollow shoe, open: its material is outside of its circle, on the left of a clockwise run.
    "hollow shoe on an eccentric": (
        f"{{ {CIRCLE}, follower = {{ curve = {{ formula = "
        '{ x = "0.1*cos(s)", y = "-0.1*sin(s)", range = [-2.6, -0.5] } } } }',
        lambda q: E * np.sin(q) - np.sqrt((0.1 - R) ** 2 - (E * np.cos(q)) ** 2),
        (1.0, 0.0),
    ),
}


@pytest.mark.parametrize("name", CLOSED)
def test_a_translating_follower_over_a_whole_turn(read, name):
    law = TURNING["unsteady"]
    profile, formula, face = CLOSED[name]
    start = formula(np.zeros(1))[0]
    found, driver = coordinates(solved(read(text(profile, (0.0, start), face=face)), law, 41, compiled=False))
    exact = differentiated(lambda q: formula(q) - start)
    assert_follows(found, exact, driver, size=0.01, within=1e-8)
    assert np.abs(found.value - exact(driver.value)[0]).max() < 1e-12


@turning
def test_a_face_that_swings_about_its_pivot(read, law):
    start = swinging_face(np.zeros(1))[0]
    face = (np.cos(start), np.sin(start))
    profile = f'{{ {CIRCLE}, follower = "flat" }}'
    found, driver = coordinates(solved(read(text(profile, (PIVOT, 0.0), ROCKER, face)), law, 121))
    assert_follows(found, differentiated(lambda q: swinging_face(q) - start), driver, within=1e-9)


@pytest.mark.parametrize(
    ("profile", "formula"),
    [
        (
            'formula = { x = "-s", y = "0.01*sin(20*s)", range = [-0.2, 0.2] }',
            lambda x: 0.01 * np.sin(20 * x),
        ),
        ("line = [[0.3, 0.15], [-0.3, -0.15]]", lambda x: -0.5 * x),
    ],
    ids=["wave", "wedge"],
)
def test_a_cam_that_slides_lifts_a_knife_by_its_own_shape(read, profile, formula):
    model = read(
        text(f'{{ {profile}, follower = "knife" }}', (0.0, 0.0), cam='type = "P"\naxis = [1.0, 0.0]')
    )
    found, driver = coordinates(solved(model, groups.polynomial(-0.15, 0.1, 0.4, -0.2), 121))
    assert np.ptp(driver.value) > 0.25
    assert_follows(found, differentiated(formula, radius=0.02), driver, size=0.01, within=1e-9)


def test_a_roller_on_a_wedge_is_lifted_as_its_centre_s_line(read):
    """The offset curve of a line is a line."""
    up = ROLLER * np.sqrt(1.25)
    profile = f'{{ line = [[0.3, 0.15], [-0.3, -0.15]], follower = "roller", radius = {ROLLER} }}'
    model = read(text(profile, (0.0, up), cam='type = "P"\naxis = [1.0, 0.0]'))
    found, driver = coordinates(solved(model, groups.speed(0.1, start=-0.05), 21))
    assert found.value == pytest.approx(-0.5 * driver.value, abs=1e-13)
    assert np.abs(found.acceleration).max() < 1e-10


def test_a_fixed_cam_moves_the_follower_that_runs_around_it(read):
    """The frame has the profile: a knife slides on a turning arm, at r of the arm's angle."""
    model = read("""
format = 1
space = "planar"
bodies = 3

[[joint]]
bodies = [1, 2]
type = "R"
point = [0.0, 0.0]
driven = ["angle"]

[[joint]]
bodies = [2, 3]
type = "P"
axis = [1.0, 0.0]

[[joint]]
bodies = [1, 3]
type = "L"
points = [[0.0, 0.0], [0.06, 0.0]]
axes = [[1.0, 0.0], [1.0, 0.0]]
profile = { formula = { r = "0.05 + 0.01*cos(3*s)" }, follower = "knife" }
""")
    trajectory = solved(model, TURNING["unsteady"], 121)
    exact = differentiated(lambda q: 0.01 * np.cos(3 * q) - 0.01)
    found = trajectory.joint("2-3")["slide"]
    assert_follows(found, exact, trajectory.joint("1-2")["angle"], size=0.01, within=1e-9)


# --- points ------------------------------------------------------------------------------------------


def test_a_knife_on_a_spline_through_points(read):
    """SciPy's periodic spline through the same points, met by the knife's line by bisection."""
    angle = np.linspace(0.0, TURN, 13)[:-1]
    radius = 0.04 + 0.004 * np.cos(angle) + 0.003 * np.sin(2 * angle)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    profile = f'{{ points = {points.tolist()}, follower = "knife" }}'
    around = np.concatenate([points, points[:1]])
    chord = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(around, axis=0).T))])
    spline = CubicSpline(chord, around, bc_type="periodic")

    def meets(q):
        """Where the ray at the angle q of the cam meets the spline: r and its derivatives by q."""
        across = np.array([-np.sin(q), np.cos(q)])
        ahead = np.array([np.cos(q), np.sin(q)])
        guess = np.interp(q % TURN, np.append(angle, TURN), chord)
        reach = 0.5 * chord[-1] / len(angle)
        s = brentq(lambda s: spline(s) @ across, guess - reach, guess + reach, xtol=1e-15)
        c, c1, c2 = (spline(s, nu) for nu in (0, 1, 2))
        r = c @ ahead
        # c(s(q)) = r(q) e(q), differentiated twice, along the ray and across it.
        s1 = r / (c1 @ across)
        r1 = c1 @ ahead * s1
        s2 = (2 * r1 - c2 @ across * s1**2) / (c1 @ across)
        return r, r1, c2 @ ahead * s1**2 + c1 @ ahead * s2 + r

    start = meets(np.pi / 2)[0]

    def formula(q):
        r, r1, r2 = np.array([meets(np.pi / 2 - one) for one in q]).T
        return r - start, -r1, r2

    found, driver = coordinates(solved(read(text(profile, (0.0, start))), TURNING["unsteady"], 121))
    assert_follows(found, formula, driver, size=0.01, within=1e-9)


# --- other mechanisms --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shoe", "length"),
    [
        (f"circle = {{ radius = {ROLLER} }}", R + ROLLER),
        ('formula = { x = "0.1*cos(s)", y = "-0.1*sin(s)", range = [-2.9, -0.2] }', 0.1 - R),
    ],
    ids=["round shoe", "hollow shoe"],
)
@turning
def test_two_circles_are_a_four_bar(read, shoe, length, law):
    """The coupler runs between their centres: the sum of the radii, or their difference."""
    pivot, arm = np.array([0.1, 0.0]), 0.08
    # The arm stands where the coupler just reaches, above the line of the pivots.
    crank_pin = np.array([E, 0.0])
    apart = pivot - crank_pin
    ground = np.linalg.norm(apart)
    along = (ground**2 + length**2 - arm**2) / (2 * ground)
    centre = crank_pin + np.array([along, np.sqrt(length**2 - along**2)])
    towards = (centre - crank_pin) / length
    # The middle of the hollow arc, on y of its frame, is where the line of centres meets it beyond the cam.
    face = (-towards[1], towards[0])
    profile = f"{{ {CIRCLE}, follower = {{ curve = {{ {shoe} }} }} }}"
    cam = solved(read(text(profile, centre, ROCKER, face)), law, 61)
    rod = f'type = "ROD"\npoints = [[{E}, 0.0], {centre.tolist()}]'
    bar_text = text("{ }", centre, ROCKER).split("[[joint]]")
    bar = solved(
        read("[[joint]]".join(bar_text[:3]) + f"[[joint]]\nbodies = [2, 3]\n{rod}\n", "bar"), law, 61
    )
    for level in LEVELS:
        one, other = getattr(cam, level), getattr(bar, level)
        assert np.abs(one - other).max() < 1e-8 * max(1.0, np.abs(other).max()), level


# --- cams from laws, placed anywhere -----------------------------------------------------------------

RISES = FollowerLaw(
    (Segment(1.9, 0.015, "4567"), Segment(0.7), Segment(2.1, -0.015, "cycloidal"), Segment(TURN - 4.7))
)
SWINGS = FollowerLaw(
    (Segment(1.9, 0.25, "345"), Segment(0.7), Segment(2.1, -0.25, "modified_trapezoid"), Segment(TURN - 4.7))
)


def law_text(law):
    moves = ("dwell" if one.kind is None else "rise" if one.by > 0 else "return" for one in law.segments)
    entries = [
        f"{{ dwell = {one.over!r} }}"
        if move == "dwell"
        else f'{{ {move} = {abs(one.by)!r}, over = {one.over!r}, kind = "{one.kind}" }}'
        for move, one in zip(moves, law.segments, strict=True)
    ]
    return f"[{', '.join(entries)}]"


def from_law(cam, place, heading, start=0.0):
    """A model file of a cam from a law: its axis at ``place``, x of the law at this angle of the world.

    The reference is where the cam has turned by ``start`` of the law.
    """
    turn, at_start = np.exp(1j * heading), np.array([start])
    swing = cam.swing
    axis, own = turn, turn * np.exp(1j * cam.sense * start)
    if cam.follower == "flat":
        alpha, h, *_ = (float(value[0]) for value in cam.support(at_start))
        alpha += cam.sense * start
        at, face = h * np.exp(1j * alpha), -1j * np.exp(1j * alpha) * turn
    else:
        at, face = complex(cam.trace(at_start)[0][0]), 1.0 + 0j
    at, pivot = place + at * turn, place + (swing.pivot if swing else 0.0) * turn

    def pair(z):
        return [float(z.real), float(z.imag)]

    keys = [f'follower = "{cam.follower}"', f"base = {cam.base!r}", f'turns = "{cam.turns}"']
    keys += [f"radius = {cam.radius!r}"] * bool(cam.radius) + [f"offset = {cam.offset!r}"] * bool(cam.offset)
    if swing:
        keys.append(f'swing = {{ pivot = {swing.pivot!r}, arm = {swing.arm!r}, side = "{swing.side}" }}')
    keys.append(f"law = {law_text(cam.law)}")
    follower = f'type = "R"\npoint = {pair(pivot)}' if swing else f'type = "P"\naxis = {pair(axis)}'
    return text(
        f"{{ {', '.join(keys)} }}", pair(at), follower, pair(face), f'type = "R"\npoint = {pair(place)}',
        pair(place), pair(own),
    )  # fmt: skip


LAWFUL = {
    "roller": LawCam(RISES, "roller", 0.04, 0.01),
    "roller, left": LawCam(RISES, "roller", 0.04, 0.01, offset=0.01),
    "knife, right": LawCam(RISES, "knife", 0.05, offset=-0.015),
    "face": LawCam(RISES, "flat", 0.05),
    "swinging roller, left": LawCam(SWINGS, "roller", 0.05, 0.01, swing=Swing(0.12, 0.1, "left")),
    "swinging roller, right": LawCam(SWINGS, "roller", 0.05, 0.01, swing=Swing(0.12, 0.1, "right")),
    "swinging knife": LawCam(SWINGS, "knife", 0.06, swing=Swing(0.12, 0.1, "left")),
    "swinging face through its pivot": LawCam(SWINGS, "flat", 0.06, swing=Swing(0.15, 0.0, "left")),
    "swinging face, right": LawCam(SWINGS, "flat", 0.06, swing=Swing(0.15, 0.01, "right")),
}


@pytest.mark.parametrize("name", LAWFUL)
def test_a_cam_from_a_law_gives_the_law_back(read, name):
    """Whichever way it turns, from foot or top, whatever follows it: s, s' w, s'' w² + s' a."""
    for turns, start in (("counter-clockwise", 0.0), ("clockwise", 2.0)):
        gives_its_law_back(read, name, turns, start)


def gives_its_law_back(read, name, turns, start):
    cam = replace(LAWFUL[name], turns=turns)
    way = 1.0 if turns == "counter-clockwise" else -1.0
    motion = groups.polynomial(0.0, way * 0.3 * TURN, way * 0.9 * TURN, -way * 0.1 * TURN)
    found, driver = coordinates(
        solved(read(from_law(cam, 0.03 - 0.02j, 2.1, start)), motion, 61, compiled=False)
    )
    first = cam.law.at(start)[0]
    # An arm left of the line from the cam to its pivot rises clockwise.
    sign = -1.0 if cam.swing and cam.swing.side == "left" else 1.0

    def exact(angle):
        s, s1, s2, _ = cam.law.at(way * angle + start)
        return sign * (s - first), sign * way * s1, sign * s2

    assert np.ptp(found.value) == pytest.approx(cam.law.rise, rel=1e-3)
    assert_follows(found, exact, driver, size=cam.law.rise, within=1e-8)


ON_AN_ARM = """
format = 1
space = "planar"
bodies = 4
[[joint]]
bodies = [1, 2]
type = "R"
point = [0.0, 0.0]
driven = ["angle"]
[[joint]]
bodies = [1, 4]
type = "R"
point = [0.2, 0.1]
driven = ["angle"]
[[joint]]
bodies = [4, 3]
JOINT
[[joint]]
bodies = BODIES
type = "L"
points = POINTS
axes = [[1.0, 0.0], [1.0, 0.0]]
profile = PROFILE
"""


@pytest.mark.parametrize("follower", ["roller", "flat", "curve"])
def test_a_contact_holds_follower_or_profile_on_an_arm_that_turns(read, follower):
    """As the global approach says it: the cam turns, or the profile hangs on the arm over what turns."""
    shoe = f"{{ curve = {{ circle = {{ radius = {ROLLER} }} }} }}" if follower == "curve" else f'"{follower}"'
    more = f", radius = {ROLLER}" if follower == "roller" else ""
    height = R if follower == "flat" else float(np.sqrt((R + ROLLER) ** 2 - E**2))
    for joint in ('type = "P"\naxis = [0.1, 1.0]', 'type = "R"\npoint = [0.1, 0.0]'):
        for bodies, points in (
            ("[2, 3]", [[0.0, 0.0], [0.0, height]]),
            ("[3, 2]", [[0.0, -height], [0.0, 0.0]]),
        ):
            model = ON_AN_ARM.replace("JOINT", joint).replace("BODIES", bodies).replace("POINTS", str(points))
            mechanism = read(model.replace("PROFILE", f"{{ {CIRCLE}, follower = {shoe}{more} }}"))
            laws = {"1-2.angle": groups.harmonic(0.5, 0.7), "1-4.angle": groups.harmonic(0.05, 1.3)}
            motion = groups.sample(mechanism, laws, np.linspace(0.0, 0.5, 13))
            structure = mbssa.decompose(mechanism)
            found = groups.build(structure).solve(motion, compiled=False)
            assert found.ok, (joint, bodies, found.faults())
            assert_same(found, groups.solve_globally(structure, motion, compiled=False), within=1e-8)


# --- solved otherwise --------------------------------------------------------------------------------


def several(name, steps=61):
    mechanism = mbssa.load(name)
    return mbssa.decompose(mechanism), groups.default_motion(mechanism, steps=steps)


@pytest.mark.parametrize("name", ["cam_roller", "cam_flat", "cam_swing"])
def test_rates_are_the_derivatives_of_the_places(name):
    """Central differences, which converge with the square of the step where the jerk does not jump."""
    mechanism = mbssa.load(name)
    law = profile_from(mechanism.joint("2-3").geometry.profile).law
    errors = []
    for steps in (361, 721):
        found, _ = coordinates(solved(mechanism, TURNING["steady"], steps))
        step = 1.0 / (steps - 1)
        angle = np.linspace(0.0, TURN, steps)[1:-1]
        near = np.abs(angle[:, None] - law.breaks).min(axis=1)
        smooth = near > TURN * 1.5 / 360
        error = [
            np.abs((ahead[2:] - ahead[:-2]) / (2 * step) - rate[1:-1])[smooth].max() / np.abs(rate).max()
            for ahead, rate in ((found.value, found.rate), (found.rate, found.acceleration))
        ]
        errors.append(error)
    coarse, fine = np.array(errors)
    assert (coarse < 4e-3).all()
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("name", ["cam_roller", "cam_flat", "cam_swing"])
def test_finite_differences_miss_the_acceleration_where_the_jerk_jumps_and_nowhere_else(name):
    """There the central difference over h is off by h / 4 of the jump; the acceleration is the law's."""
    mechanism = mbssa.load(name)
    law = profile_from(mechanism.joint("2-3").geometry.profile).law
    jumps = dict(law.jumps(3))
    angle = np.array([*jumps, *np.deg2rad([20.0, 100.0, 200.0, 310.0])])
    expected = np.array([*jumps.values(), *np.zeros(4)])
    h = 1e-4
    time = np.sort(np.concatenate([angle - h, angle, angle + h]))
    inputs = {mechanism.driven_coordinates[0]: groups.speed(1.0, start=0.0)}
    found, _ = coordinates(
        groups.build(mbssa.decompose(mechanism)).solve(groups.sample(mechanism, inputs, time + TURN))
    )
    here = np.searchsorted(time, np.sort(angle))
    difference = (found.rate[here + 1] - found.rate[here - 1]) / (2 * h)
    order = np.argsort(angle)
    missed = difference - found.acceleration[here]
    largest = np.abs(found.acceleration).max()
    assert np.abs(missed - 0.25 * h * expected[order]).max() < 2e-7 * largest
    assert np.abs(found.acceleration[here] - law.at(np.sort(angle) + 1e-9)[2]).max() < 1e-7 * largest
    assert len(jumps) == {"cam_roller": 4, "cam_flat": 0, "cam_swing": 4}[name]


@pytest.mark.parametrize("name", ["cam_roller", "cam_swing"])
@pytest.mark.parametrize("solver", ["global dense", "global sparse"])
def test_other_solvers_give_the_same_answer(name, solver):
    structure, motion = several(name, 13)
    default = groups.build(structure)
    assert groups.solvers_of(default, 2)[0] == "Newton"
    other = groups.build(structure, {2: solver}).solve(motion, compiled=False)
    assert other.ok, other.faults()
    assert_same(other, default.solve(motion))


@pytest.mark.parametrize("name", ["cam_roller", "cam_flat", "cam_swing"])
@pytest.mark.parametrize(("turns", "each"), [(20, 7), (-15, 1.3)])
def test_many_turns_at_few_instants_each(name, turns, each):
    """Every turn of the cam counts, forwards or backwards, and the follower is where its law says."""
    mechanism = mbssa.load(name)
    law = profile_from(mechanism.joint("2-3").geometry.profile).law
    motion = groups.speed(turns * TURN, start=0.0)
    trajectory = solved(mechanism, motion, int(abs(turns) * each) + 1)
    found, driver = coordinates(trajectory)
    assert driver.value[-1] == pytest.approx(turns * TURN, rel=1e-13)
    assert_follows(found, lambda angle: law.at(angle)[:3], driver, size=law.rise, within=1e-8)


@pytest.mark.parametrize("name", ["cam_roller", "cam_flat", "cam_swing", "involute_teeth"])
def test_a_cam_joint_has_the_angle_between_its_bodies(name):
    """All turns of it, with its rates: of the follower against the cam."""
    trajectory = solved(mbssa.load(name), groups.polynomial(0.0, 0.2, 0.3), 41)
    between = trajectory.joint("2-3")["angle"]
    cam, follower = (trajectory.body(k) for k in (2, 3))
    assert np.abs(between.value - (follower.orientation - cam.orientation)).max() < 1e-12
    assert np.abs(between.rate - (follower.velocity - cam.velocity)[:, 2]).max() < 1e-12
    assert np.abs(between.acceleration - (follower.acceleration - cam.acceleration)[:, 2]).max() < 1e-10


def test_a_roller_can_sit_on_the_other_side_of_its_cam():
    """The other mode: beneath the cam, on the same line, 96 mm lower where it starts."""
    structure, motion = several("cam_roller")
    model = groups.build(structure)
    beneath = next(
        trajectory
        for trajectory in (model.solve(motion, modes={2: mode}) for mode in (1, 2))
        if trajectory.joint("1-3")["slide"].value[0] < -0.05
    )
    assert beneath.ok
    made = profile_from(structure.mechanism.joint("2-3").geometry.profile)
    # The line of the roller cuts the pitch curve twice.
    centre = beneath.body("follower").point("roller")
    angle = beneath.joint("1-2")["angle"].value
    on_the_cam = (centre[:, 0] + 1j * centre[:, 1]) * np.exp(-1j * (angle + np.pi / 2))
    s = np.linspace(-TURN, 0.0, 200_001)
    pitch = made.cam.pitch.at(s)[0] @ [1.0, 1j]
    assert max(np.abs(pitch - place).min() for place in on_the_cam) < 2e-6


def test_the_follower_drives_the_cam_where_it_rises(read):
    """The law backwards, from the middle of the rise: the cam's angle from the follower's place."""
    cam, start = LAWFUL["roller"], 0.95
    model = from_law(cam, 0j, np.pi / 2, start).replace('driven = ["angle"]', "")
    model = model.replace('type = "P"', 'type = "P"\ndriven = ["slide"]')
    slide, angle = coordinates(solved(read(model), groups.polynomial(0.0, -0.006, 0.012), 61))
    assert np.ptp(slide.value) > 0.005

    def exact(q):
        s, s1, s2, _ = cam.law.at(q + start)
        return s - cam.law.at(start)[0], s1, s2

    assert_follows(slide, exact, angle, size=cam.law.rise, within=1e-8)


def test_the_angle_between_follower_and_cam_can_be_driven(read):
    """A follower that slides does not turn: its angle against the cam is the cam's, backwards."""
    profile = f'{{ {CIRCLE}, follower = "flat" }}'
    model = text(profile, (0.0, R)).replace('driven = ["angle"]', "")
    model = model.replace('type = "L"', 'type = "L"\ndriven = ["angle"]')
    law, time = TURNING["unsteady"], np.linspace(0.0, 1.0, 61)
    trajectory = solved(read(model), law, len(time))
    turned = trajectory.joint("1-2")["angle"]
    assert turned.value == pytest.approx(-law(time)[0], abs=1e-12)
    assert_follows(
        trajectory.joint("1-3")["slide"], differentiated(lambda q: E * np.sin(q)), turned, size=E, within=1e-9
    )


def test_two_valves_on_one_shaft(read):
    """Two cams on one body, a third of a turn apart; one of them works a lever behind its tappet."""
    profile = f'{{ {CIRCLE}, follower = "flat" }}'
    turned = [float(np.cos(TURN / 3)), float(np.sin(TURN / 3))]
    start = float(E * np.sin(TURN / 3) + R)
    model = (
        text(profile, (0.0, R)).replace("bodies = 3\n", "bodies = 5\n")
        + f"""
[[joint]]
bodies = [1, 4]
{SLIDER}

[[joint]]
bodies = [2, 4]
type = "L"
points = [[0.0, 0.0], [0.0, {start!r}]]
axes = [{turned}, [1.0, 0.0]]
profile = {profile}

[[joint]]
bodies = [1, 5]
type = "R"
point = [0.1, {start!r}]

[[joint]]
bodies = [5, 4]
type = "SLOT"
point = [0.0, {start!r}]
axis = [1.0, 0.0]
"""
    )
    mechanism = read(model)
    assert [tuple(g.bodies) for g in mbssa.decompose(mechanism).groups] == [(2,), (3,), (4,), (5,)]
    trajectory = solved(mechanism, TURNING["unsteady"], 61)
    driver = trajectory.joint("1-2")["angle"]
    for joint, phase in (("1-3", 0.0), ("1-4", TURN / 3)):
        lift = differentiated(lambda q, phase=phase: E * (np.sin(q + phase) - np.sin(phase)))
        assert_follows(trajectory.joint(joint)["slide"], lift, driver, size=E, within=1e-9)
    lever = differentiated(lambda q: -np.arctan(E * (np.sin(q + TURN / 3) - np.sin(TURN / 3)) / 0.1))
    assert_follows(trajectory.joint("1-5")["angle"], lever, driver, size=0.1, within=1e-9)
