"""Contacts of points, balls and cylinders with planes and with one another: formulas at all three levels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import groups
import mbssa

HEAD = 'format = 1\nspace = "spatial"\n'
#: A body that no joint guides but what it touches, driven in some of its coordinates.
FREE = '[[joint]]\nid = "free"\nbodies = [1, {body}]\ntype = "F"\npoint = [0, 0, 0]\ndriven = {driven}\n'
MOTION = "[motion]\nduration = 1.0\nsteps = 41\n[motion.inputs]\n"


@pytest.fixture
def loaded(read):
    return lambda text: read(HEAD + text)


def both(mechanism, rtol=1e-9):
    """The motion by groups, which is also that of the global approach."""
    structure = mbssa.decompose(mechanism)
    found = groups.build(structure).solve()
    assert found.ok, found.faults()
    other = groups.solve_globally(structure)
    assert other.ok, other.faults()
    assert_allclose(found.position, other.position, atol=rtol)
    assert_allclose(found.velocity, other.velocity, atol=1e3 * rtol)
    assert_allclose(found.acceleration, other.acceleration, atol=1e4 * rtol)
    return found


def assert_moves(body, position, velocity, acceleration, scale=1.0):
    assert_allclose(body.position, position, atol=1e-12 * scale)
    assert_allclose(body.velocity, velocity, atol=1e-11 * scale)
    assert_allclose(body.acceleration, acceleration, atol=1e-10 * scale)


def columns(*parts):
    return np.stack(np.broadcast_arrays(*parts), axis=1)


def law(name, value=0.0, rate=None):
    return f'"{name}" = ' + (
        f'{{ law = "constant", value = {value} }}\n'
        if rate is None
        else f'{{ law = "speed", start = {value}, rate = {rate} }}\n'
    )


def test_two_points_on_a_wall_and_a_floor_are_the_ends_of_a_ladder(loaded):
    """CBIP: the ladder's middle runs on a circle, half the ladder its radius."""
    start, rate, length = 0.4, 0.6, 2.0
    foot, head = length * np.cos(start), length * np.sin(start)
    mechanism = loaded(
        "bodies = 2\n"
        '[[joint]]\nid = "plane"\nbodies = [1, 2]\ntype = "PL"\npoint = [0, 0, 0]\naxis = [0, 0, 1]\n'
        'driven = ["angle"]\n'
        f'[[joint]]\nid = "ends"\nbodies = [1, 2]\ntype = "CBIP"\n'
        f"points = [[0, {head}, 0], [{foot}, 0, 0]]\naxes = [[1, 0, 0], [0, 1, 0]]\n"
        + MOTION
        + law("plane.angle", 0.0, -rate)
    )
    found = both(mechanism)
    ladder = found.body(2)
    middle = (foot / 2, head / 2, 0.0)
    # From the floor the ladder leans by theta, and falls as the body turns back.
    theta, half = start + rate * found.time, length / 2
    c, s = half * np.cos(theta), half * np.sin(theta)
    assert_allclose(ladder.point(middle), columns(c, s, 0.0), atol=1e-12)
    assert_allclose(ladder.point_velocity(middle)[:, :3], columns(-rate * s, rate * c, 0.0), atol=1e-11)
    expected = columns(-(rate**2) * c, -(rate**2) * s, 0.0)
    assert_allclose(ladder.point_acceleration(middle)[:, :3], expected, atol=1e-10)


def test_three_points_on_the_faces_of_a_corner(loaded):
    """CTRP: whatever the body's turn, each face says one coordinate of its origin."""
    ends = np.array([[0.5, 0.1, 0.2], [0.2, 0.4, 0.1], [0.3, 0.2, 0.6]])
    rate = 0.8
    mechanism = loaded(
        "bodies = 2\n"
        + FREE.format(body=2, driven='["angle_x", "angle_y", "angle_z"]')
        + f'[[joint]]\nid = "corner"\nbodies = [1, 2]\ntype = "CTRP"\npoints = {ends.tolist()}\n'
        "axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n"
        + MOTION
        + law("free.angle_x", 0.2)
        + law("free.angle_y", -0.1)
        + law("free.angle_z", 0.0, rate)
    )
    found = both(mechanism)
    t = found.time
    cx, sx, cy, sy = np.cos(0.2), np.sin(0.2), np.cos(-0.1), np.sin(-0.1)
    tilt = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]]) @ np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    spin = tilt[:, 2] * rate
    across = np.array([[0, -spin[2], spin[1]], [spin[2], 0, -spin[0]], [-spin[1], spin[0], 0]])
    c, s, o, i = np.cos(rate * t), np.sin(rate * t), 0.0 * t, 0.0 * t + 1.0
    R = tilt @ np.moveaxis(np.array([[c, -s, o], [s, c, o], [o, o, i]]), 2, 0)
    arms = np.stack([(R @ ends[k])[:, k] for k in range(3)], axis=1)
    sweep = np.stack([(across @ R @ ends[k])[:, k] for k in range(3)], axis=1)
    pull = np.stack([(across @ across @ R @ ends[k])[:, k] for k in range(3)], axis=1)
    still = np.zeros((len(t), 3))
    assert_moves(
        found.body(2),
        np.diag(ends) - arms,
        np.concatenate([-sweep, still + spin], axis=1),
        np.concatenate([-pull, still], axis=1),
    )


def test_four_points_three_on_a_table_and_one_at_a_wall(loaded):
    """CTEP: the table keeps the body flat, the wall keeps its point at a height while the body turns."""
    rate, speed, point = 0.9, 0.3, np.array([0.4, 0.3, 0.1])
    mechanism = loaded(
        "bodies = 2\n"
        + FREE.format(body=2, driven='["x", "angle_z"]')
        + '[[joint]]\nid = "seat"\nbodies = [1, 2]\ntype = "CTEP"\n'
        f"points = [[0, 0, 0], [0.5, 0, 0], [0.2, 0.4, 0], {point.tolist()}]\n"
        "axes = [[0, 0, 1], [0, 0, 1], [0, 0, 1], [0, -1, 0]]\n"
        + MOTION
        + law("free.x", 0.0, speed)
        + law("free.angle_z", 0.0, rate)
    )
    found = both(mechanism)
    angle, o = rate * found.time, 0.0
    reach, wide = (
        point[0] * np.sin(angle) + point[1] * np.cos(angle),
        point[0] * np.cos(angle) - point[1] * np.sin(angle),
    )
    assert_moves(
        found.body(2),
        columns(speed * found.time, point[1] - reach, o),
        columns(speed, -rate * wide, o, o, o, rate + 0.0 * angle),
        columns(o, rate**2 * reach, o, o, o, o),
    )


def test_five_points_leave_a_slide_up_a_slope(loaded):
    """CPEP: three feet on a slope and two at a wall; what goes ahead goes up by the slope's tangent."""
    slope, speed = 0.35, 0.4
    up = [-float(np.sin(slope)), 0.0, float(np.cos(slope))]
    feet = [[x, y, x * float(np.tan(slope))] for x, y in ((0.0, 0.0), (0.5, 0.1), (0.2, 0.4))]
    mechanism = loaded(
        "bodies = 2\n"
        + FREE.format(body=2, driven='["x"]')
        + '[[joint]]\nid = "seat"\nbodies = [1, 2]\ntype = "CPEP"\n'
        f"points = {[*feet, [0.0, 0.5, 0.1], [0.6, 0.5, 0.1]]}\n"
        f"axes = {[up, up, up, [0, -1, 0], [0, -1, 0]]}\n" + MOTION + law("free.x", 0.0, speed)
    )
    found = both(mechanism)
    way, o, rise = speed * found.time, 0.0, np.tan(slope)
    assert_moves(
        found.body(2),
        columns(way, o, rise * way),
        columns(speed + 0.0 * way, o, rise * speed, o, o, o),
        np.zeros((len(way), 6)),
    )


def test_a_ball_on_a_rising_plane_lifts_its_arm(loaded):
    """SP: l sin(phi) = h."""
    rate, x, h = 0.2, 0.5, 0.2
    mechanism = loaded(
        "bodies = 3\n"
        f'[[joint]]\nid = "lift"\nbodies = [1, 2]\ntype = "P"\npoint = [{x}, 0, {h}]\naxis = [0, 0, 1]\n'
        'driven = ["slide"]\n'
        '[[joint]]\nid = "hinge"\nbodies = [1, 3]\ntype = "R"\npoint = [0, 0, 0]\naxis = [0, -1, 0]\n'
        f'[[joint]]\nid = "ball"\nbodies = [2, 3]\ntype = "SP"\npoint = [{x}, 0, {h}]\naxis = [0, 0, 1]\n'
        "radius = 0.05\n" + MOTION + law("lift.slide", 0.0, rate)
    )
    found = both(mechanism)
    arm = np.hypot(x, h)
    phi = np.arcsin((h + rate * found.time) / arm)
    first = rate / (arm * np.cos(phi))
    hinge = found.joint("hinge")["angle"]
    assert_allclose(hinge.value, phi - np.arctan2(h, x), atol=1e-12)
    assert_allclose(hinge.rate, first, atol=1e-11)
    assert_allclose(hinge.acceleration, first**2 * np.tan(phi), atol=1e-10)


def test_a_cylinder_lies_on_a_plane_that_tilts(loaded):
    """PC: the cylinder leans as the plane does, a radius above it: z cos(theta) + x sin(theta) = r."""
    rate, x, r = 0.7, 0.3, 0.05
    mechanism = loaded(
        "bodies = 3\n"
        '[[joint]]\nid = "hinge"\nbodies = [1, 2]\ntype = "R"\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n'
        'driven = ["angle"]\n'
        f'[[joint]]\nid = "free"\nbodies = [1, 3]\ntype = "F"\npoint = [{x}, 0, {r}]\n'
        'driven = ["x", "y", "angle_x", "angle_z"]\n'
        f'[[joint]]\nid = "touch"\nbodies = [2, 3]\ntype = "PC"\npoint = [{x}, 0, {r}]\n'
        f"axes = [[0, 0, 1], [1, 0, 0]]\nradius = {r}\n"
        + MOTION
        + law("hinge.angle", 0.0, rate)
        + "".join(law(f"free.{name}", 0.0) for name in ("x", "y", "angle_x", "angle_z"))
    )
    found = both(mechanism)
    theta, o = rate * found.time, 0.0
    c, s = np.cos(theta), np.sin(theta)
    roller = found.body(3)
    centre = (x, 0.0, r)
    assert_allclose(roller.point(centre), columns(x, o, (r - x * s) / c), atol=1e-12)
    speed = rate * (r * s - x) / c**2
    assert_allclose(roller.point_velocity(centre)[:, :3], columns(o, o, speed), atol=1e-11)
    rise = rate**2 * (r * (1 + s**2) - 2 * x * s) / c**3
    assert_allclose(roller.point_acceleration(centre)[:, :3], columns(o, o, rise), atol=1e-10)
    assert_allclose(roller.velocity[:, 3:], columns(o, rate + o * theta, o), atol=1e-11)


def test_two_balls_stay_two_radii_apart(loaded):
    """SPSP: one ball is pushed along, the other rides on it."""
    speed, x, z = -0.3, 0.4, 0.3
    mechanism = loaded(
        "bodies = 3\n"
        f'[[joint]]\nid = "push"\nbodies = [1, 2]\ntype = "P"\npoint = [{x}, 0, 0]\naxis = [1, 0, 0]\n'
        'driven = ["slide"]\n'
        f'[[joint]]\nid = "guide"\nbodies = [1, 3]\ntype = "P"\npoint = [0, 0, {z}]\naxis = [0, 0, 1]\n'
        f'[[joint]]\nid = "balls"\nbodies = [2, 3]\ntype = "SPSP"\npoints = [[{x}, 0, 0], [0, 0, {z}]]\n'
        + MOTION
        + law("push.slide", 0.0, speed)
    )
    found = both(mechanism)
    way = x + speed * found.time
    height = np.sqrt(x**2 + z**2 - way**2)
    first = -way * speed / height
    guide = found.joint("guide")["slide"]
    assert_allclose(guide.value, height - z, atol=1e-12)
    assert_allclose(guide.rate, first, atol=1e-11)
    assert_allclose(guide.acceleration, -(speed**2 + first**2) / height, atol=1e-10)


def test_the_kinematic_coupling_tilts_by_the_screw_s_height():
    """b sin(phi) = h, at all three levels."""
    found = both(mbssa.load("kinematic_coupling"), rtol=1e-8)
    b, w = 0.08, 2 * np.pi
    h, v, a = 0.04 * np.sin(w * found.time), 0.04 * w * np.cos(w * found.time), 0.0
    a = -(w**2) * h
    phi = np.arcsin(h / b)
    first = v / (b * np.cos(phi))
    second = (a + b * np.sin(phi) * first**2) / (b * np.cos(phi))
    platform, o = found.body("platform"), 0.0 * h
    assert_allclose(platform.position, 0.0, atol=1e-12)
    assert_allclose(platform.rotation[:, 2, 1], np.sin(phi), atol=1e-11)
    assert_allclose(platform.velocity[:, 3:], columns(first, o, o), atol=1e-9)
    assert_allclose(platform.acceleration[:, 3:], columns(second, o, o), atol=1e-8)
    assert_allclose(found.joint("flat")["slide_y"].value, b * np.cos(phi) - b, atol=1e-12)


def test_the_fixture_s_workpiece_turns_on_thales_circle():
    """tan(beta) = s/200 mm, and where the corner is, at all three levels."""
    found = both(mbssa.load("fixture"), rtol=1e-8)
    w, d = 2 * np.pi, 0.2
    s, v = 0.02 * np.sin(w * found.time), 0.02 * w * np.cos(w * found.time)
    a = -(w**2) * s
    beta = np.arctan2(s, d)
    first = v * d / (d**2 + s**2)
    second = a * d / (d**2 + s**2) - 2 * s * v**2 * d / (d**2 + s**2) ** 2
    pins = np.array([0.05, 0.0]), np.array([0.0, 0.1])
    between, middle = pins[0] - pins[1], (pins[0] + pins[1]) / 2

    def doubled(angle):
        """a - ((a - c).t) t is the middle less half of a - c, mirrored at t."""
        c, sn = np.cos(2 * angle), np.sin(2 * angle)
        return columns(c * between[0] + sn * between[1], sn * between[0] - c * between[1])

    quarter = np.pi / 4
    place = pins[0] - (between + doubled(beta)) / 2
    assert_allclose(np.linalg.norm(place - middle, axis=1), np.linalg.norm(between) / 2, rtol=1e-12)
    rate = -doubled(beta + quarter) * first[:, None]
    bend = -doubled(beta + quarter) * second[:, None] + 2 * doubled(beta) * first[:, None] ** 2
    piece, o = found.body("workpiece"), 0.0 * s
    assert_moves(
        piece,
        columns(place[:, 0], place[:, 1], o),
        columns(rate[:, 0], rate[:, 1], o, o, o, first),
        columns(bend[:, 0], bend[:, 1], o, o, o, second),
        scale=10.0,
    )


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_three_normals_in_one_plane_do_not_hold_a_body(loaded, turn):
    """A body on a slide that points at a corner of three walls, all upright: nothing holds its height."""
    across = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.6, 0.8, 0.0]]
    across[2][2] = turn
    mechanism = loaded(
        "bodies = 2\n"
        + FREE.format(body=2, driven='["angle_x", "angle_y", "angle_z"]')
        + '[[joint]]\nid = "corner"\nbodies = [1, 2]\ntype = "CTRP"\n'
        f"points = [[0.5, 0.1, 0.2], [0.2, 0.4, 0.1], [0.3, 0.2, 0.6]]\naxes = {across}\n"
    )
    report = mbssa.check(mechanism)
    if turn:
        assert report.solvable
    else:
        assert not report.solvable
