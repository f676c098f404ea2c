"""Gears, racks and rolling by textbook formulae, at all levels; turns, however few instants see them."""

import numpy as np
import pytest
from following import TURN, assert_follows, differentiated, path
from linkages import MOVING_CENTRES

import groups
import mbssa
import routes
from routes.plan import plan_of, sequential_route

LEVELS = ("value", "rate", "acceleration")


def built(mechanism, solvers=None):
    return groups.build(mbssa.decompose(mechanism), solvers)


def moved(mechanism, laws, steps=61, duration=1.0, solvers=None, **how):
    """A mechanism solved over laws of its inputs, in their order."""
    model = built(mechanism, solvers)
    laws = dict(zip(model.reference_inputs, laws, strict=True))
    motion = groups.sample(mechanism, laws, np.linspace(0.0, duration, steps))
    trajectory = model.solve(motion, compiled=False, **how)
    assert trajectory.ok, trajectory.faults()
    return trajectory


#: Laws that change their speed, so that all levels say something.
UNEVEN = (groups.polynomial(0.0, 3.0, 11.0, -4.0), groups.polynomial(0.0, -2.0, 5.0, 1.0))


def assert_sum(found, *parts, within=1e-11):
    """A coordinate is a sum of others times ratios, at all levels: ``parts`` are (ratio, coordinate)."""
    for level in LEVELS:
        wanted = sum(ratio * getattr(one, level) for ratio, one in parts)
        scale = max(1.0, *(np.abs(getattr(one, level)).max() for _, one in parts))
        assert np.abs(getattr(found, level) - wanted).max() < within * scale, level


# --- the models --------------------------------------------------------------------------------------


def test_the_planetary_gear_set_turns_by_the_formula_of_willis():
    trajectory = moved(mbssa.load("planetary"), UNEVEN[:1])
    sun, carrier = (trajectory.joint(joint)["angle"] for joint in ("1-2", "1-3"))
    assert_sum(carrier, (24 / (24 + 60), sun))
    for number in (4, 5, 6):
        # Seen from the carrier: planets turn by z_ring / z_planet of it, backwards.
        assert_sum(trajectory.joint(f"3-{number}")["angle"], (-60 / 18, carrier))
        planet = trajectory.body(number)
        assert np.abs(planet.orientation - (1 - 60 / 18) * carrier.value).max() < 1e-11
        assert np.abs(planet.velocity[:, 2] - (1 - 60 / 18) * carrier.rate).max() < 1e-10


def test_a_point_of_the_planet_runs_on_a_hypocycloid():
    trajectory = moved(mbssa.load("planetary"), UNEVEN[:1])
    R, r = 0.06, 0.018
    hypocycloid = differentiated(lambda q: rolled(q, R - r, r, -(R - r) / r))
    point = path(trajectory, "planet", "pitch")
    assert_follows(point, hypocycloid, trajectory.joint("1-3")["angle"], size=1e-3)


def rolled(q, arm, r, ratio):
    """A point at r from the centre of a wheel on an arm that turns by q, the wheel by ratio times that."""
    return [arm * np.cos(q) + r * np.cos(ratio * q), arm * np.sin(q) + r * np.sin(ratio * q)]


def test_the_case_of_the_differential_turns_by_the_mean_of_the_shafts():
    trajectory = moved(mbssa.load("differential"), UNEVEN)
    shaft, left, case, right, spider = (
        trajectory.joint(joint)["angle"] for joint in ("1-2", "1-4", "1-3", "1-5", "3-6")
    )
    assert_sum(case, (-11 / 41, shaft))
    assert_sum(case, (0.5, left), (0.5, right))
    assert_sum(spider, (-16 / 10, left), (16 / 10, case))


def test_bevel_gears_roll_on_each_other_where_their_cones_touch():
    """Without a formula: two points of two wheels at one place have one velocity."""
    trajectory = moved(mbssa.load("differential"), UNEVEN)
    ratio = 0.625
    case, left, spider = (trajectory.body(name) for name in ("case", "left", "spider"))
    # The cones touch along the line whose distances from both axes are as the radii.
    touching = case.rotation @ np.array([1.0, ratio, 0.0])
    first, second = (np.cross(body.velocity[:, 3:], touching) for body in (left, spider))
    assert np.abs(first - second).max() < 1e-12 * np.abs(first).max()


def swing(side):
    """Angle of a steering knuckle by the rack's slide: its arm ends on a circle about the rack's end."""
    pin, end, arm = (np.array([side, 1.0]) * p for p in ([0.65, 0.0], [0.33, -0.16], [-0.035, -0.14]))
    a, rod = np.hypot(*arm), np.hypot(*(pin + arm - end))

    def angle(s, sign):
        x, y = end[0] + s - pin[0], end[1] - pin[1]
        far = np.sqrt(x * x + y * y)
        return sign * np.arccos((a * a + far**2 - rod**2) / (2 * a * far)) - np.arctan(x / y) - np.pi / 2

    start = np.arctan2(arm[1], arm[0])
    sign = min((1.0, -1.0), key=lambda one: abs(np.exp(1j * (angle(0.0, one) - start)) - 1.0))
    return differentiated(lambda s: angle(s, sign) - angle(0.0, sign), radius=0.005)


def test_rack_steering_moves_the_rack_by_the_pinions_arc_and_the_wheels_by_two_circles():
    trajectory = groups.build(mbssa.decompose(mbssa.load("rack_steering"))).solve()
    assert trajectory.ok, trajectory.faults()
    column, rack = trajectory.joint("1-2")["angle"], trajectory.joint("1-3")["slide"]
    assert_sum(rack, (0.008, column))
    assert column.value.max() > 1.2 * TURN
    for side, joint in ((-1.0, "1-6"), (1.0, "1-7")):
        assert_follows(trajectory.joint(joint)["angle"], swing(side), rack, size=1e-3, within=1e-10)


def test_rack_steering_nearly_meets_the_condition_of_ackermann():
    trajectory = groups.build(mbssa.decompose(mbssa.load("rack_steering"))).solve()
    inner, outer = (trajectory.joint(joint)["angle"].value for joint in ("1-6", "1-7"))
    curve = inner > np.radians(5.0)  # to the left: the left wheel is the inner one
    wanted = 1 / (1 / np.tan(inner[curve]) + 1.3 / 2.6)
    assert (inner[curve] > outer[curve]).all()
    assert np.abs(outer[curve] - np.arctan(wanted)).max() < np.radians(1.0)


# --- small mechanisms --------------------------------------------------------------------------------


def mechanism(space, joints):
    """From lines of a model file: bodies, type and the rest of each joint."""
    count = max(max(map(int, line.split("]")[0].strip(" [").split(","))) for line in joints)
    text = [f'format = 1\nspace = "{space}"\nbodies = {count}']
    for line in joints:
        bodies, _, rest = line.partition("]")
        code, *fields = rest.split(";")
        text.append("[[joint]]\nbodies = " + bodies + f']\ntype = "{code.strip()}"')
        text += [field.strip() for field in fields]
    return "\n".join(text)


@pytest.fixture
def train(read):
    def make(*joints, space="planar"):
        return read(mechanism(space, joints))

    return make


SHAFT = "[1, 2] R; driven = true; point = [0, 0]"


def test_two_wheels_on_fixed_axes_turn_inversely_as_their_radii(train):
    """External and internal meshes, the frame named as the carrier or the line of centres."""
    for code, carrier in (("EO", ""), ("EPI", ", 1")):
        for centre, ratio in ((0.3, 2.0), (0.1, -0.5), (0.1, -2.0)):
            pair = train(
                SHAFT,
                f"[1, 3] R; point = [{centre}, 0]",
                f"[2, 3{carrier}] {code}; points = [[0, 0], [{centre}, 0]]; ratio = {ratio}",
            )
            trajectory = moved(pair, UNEVEN[:1])
            assert_sum(trajectory.joint("1-3")["angle"], (-1 / ratio, trajectory.joint("1-2")["angle"]))


def test_a_compound_train_multiplies_its_ratios(train):
    """Two meshes with two wheels on the shaft between, a reverted train: the output turns about the input."""
    trajectory = moved(
        train(
            SHAFT,
            "[1, 3] R; point = [0.09, 0]",
            "[1, 4] R; point = [0, 0]",
            "[2, 3] EO; points = [[0, 0], [0.09, 0]]; ratio = 2",
            "[3, 4] EO; points = [[0.09, 0], [0, 0]]; ratio = 3.5",
        ),
        UNEVEN[:1],
    )
    assert_sum(trajectory.joint("1-4")["angle"], (1 / 7, trajectory.joint("1-2")["angle"]))


def test_an_epicyclic_train_with_two_inputs_adds_them_up(train):
    """Sun and ring driven: (z_s w_s + z_r w_r) / (z_s + z_r) is the carrier's speed."""
    trajectory = moved(
        train(
            SHAFT,
            "[1, 3] R; driven = true; point = [0, 0]",
            "[1, 4] R; point = [0, 0]",
            "[4, 5] R; point = [42, 0]",
            "[2, 5, 4] EPI; points = [[0, 0], [42, 0]]; ratio = 0.75",
            "[3, 5, 4] EPI; points = [[0, 0], [42, 0]]; ratio = -0.3",
        ),
        UNEVEN,
    )
    sun, ring, carrier = (trajectory.joint(f"1-{body}")["angle"] for body in (2, 3, 4))
    assert_sum(carrier, (24 / 84, sun), (60 / 84, ring))
    assert_sum(trajectory.joint("4-5")["angle"], (-24 / 18, sun), (24 / 18, carrier))


def test_a_point_of_a_wheel_that_rolls_around_another_runs_on_an_epicycloid(train):
    """The carrier is driven, the inner wheel fixed."""
    R, r = 0.06, 0.02
    wheel = train(
        SHAFT,
        f"[2, 3] R; point = [{R + r}, 0]",
        f"[1, 3, 2] EPI; points = [[0, 0], [{R + r}, 0]]; ratio = {r / R}",
    )
    trajectory = moved(wheel, UNEVEN[:1])
    epicycloid = differentiated(lambda q: rolled(q, R + r, -r, (R + r) / r))
    assert_follows(path(trajectory, 3, (R, 0.0)), epicycloid, trajectory.joint("1-2")["angle"], size=1e-3)


@pytest.mark.parametrize("held", ["[1, 3] RD; point = [0, 0.4]; axis = [1, 0]; radius = 0.4", ""])
def test_a_wheel_that_a_chassis_pulls_over_the_ground_turns_by_its_way(train, held):
    """theta = -x/r; what keeps the wheel on the ground is the chassis, or beside it an RD."""
    chassis = "[1, 2] P; driven = true; axis = [1, 0]"
    hung = "[2, 3] R; point = [0, 0.4]"
    if held:  # the axle is free to rise in the chassis, so that it is the ground that carries the wheel
        joints = [chassis, "[2, 4] P; axis = [0, 1]", "[4, 3] R; point = [0, 0.4]", held]
    else:
        joints = [chassis, hung]
    trajectory = moved(train(*joints, "[1, 3] RP; point = [0, 0.4]; axis = [1, 0]; radius = 0.4"), UNEVEN[:1])
    wheel, way = trajectory.body(3), trajectory.joint("1-2")["slide"]
    for given, wanted in (
        (wheel.orientation, way.value),
        (wheel.velocity[:, 2], way.rate),
        (wheel.acceleration[:, 2], way.acceleration),
    ):
        assert np.abs(given + wanted / 0.4).max() < 1e-11 * max(1.0, np.abs(wanted).max())
    # The point that touches the ground stands still.
    touching = wheel.point_velocity((0.0, 0.4)) + wheel.velocity[:, 2:] * np.array([0.4, 0.0])
    assert np.abs(touching).max() < 1e-11


def test_a_cycloid(train):
    """A point of the tread of a wheel on the ground."""
    r = 0.4
    trajectory = moved(
        train(
            "[1, 2] P; driven = true; axis = [1, 0]",
            "[2, 3] R; point = [0, 0.4]",
            "[1, 3] RP; point = [0, 0.4]; axis = [1, 0]; radius = 0.4",
        ),
        (groups.polynomial(0.0, 2.0, 1.0),),
    )

    cycloid = differentiated(lambda x: [x - r * np.sin(x / r), r - r * np.cos(x / r)])
    assert_follows(path(trajectory, 3, (0.0, 0.0)), cycloid, trajectory.joint("1-2")["slide"], size=1e-3)


WATT = (
    SHAFT,
    "[2, 3] R; point = [0.1, 0]",
    "[3, 4] R; point = [0.35, 0.3]",
    "[1, 4] R; point = [0.3, 0]",
    "[1, 5] R; point = [0, 0]",
    "[5, 3] EPI; points = [[0, 0], [0.1, 0]]; ratio = 1",
)


def test_gears_at_the_elbow_of_a_linkage_turn_with_the_line_of_their_centres(train):
    """A four-bar whose crank pin carries a wheel fixed to the coupler and one on the crank's axis.

    The sun-and-planet gear of Watt: with equal wheels the shaft turns twice as fast as the crank, less the
    coupler's own angle.
    """
    watt = train(*WATT)
    trajectory = moved(watt, UNEVEN[:1])
    crank, shaft = (trajectory.joint(f"1-{body}")["angle"] for body in (2, 5))
    coupler = trajectory.body(3)
    for level, of_coupler in zip(
        LEVELS, (coupler.orientation, coupler.velocity[:, 2], coupler.acceleration[:, 2]), strict=True
    ):
        wanted = 2 * getattr(crank, level) - of_coupler
        assert np.abs(getattr(shaft, level) - wanted).max() < 1e-10 * max(1.0, np.abs(wanted).max())
    assert crank.value[-1] > TURN


BEVEL = (
    "[1, 2] R; driven = true; point = [0, 0, 0]; axis = [0, 0, 1]",
    "[1, 3] R; point = [0, 0, 0]; axis = [0.8660254037844386, 0, 0.5]",
)


@pytest.mark.parametrize("ratio", [1.5, -2.0])
def test_bevel_gears_at_any_shaft_angle_turn_inversely_as_their_radii(train, ratio):
    pair = train(
        *BEVEL,
        f"[2, 3] BEVEL; axes = [[0, 0, 1], [0.8660254037844386, 0, 0.5]]; ratio = {ratio}",
        space="spatial",
    )
    trajectory = moved(pair, UNEVEN[:1])
    assert_sum(trajectory.joint("1-3")["angle"], (-1 / ratio, trajectory.joint("1-2")["angle"]))


# --- turns -------------------------------------------------------------------------------------------

FAST = {"planetary": (1000 * TURN,), "differential": (4000.0, -900.0)}


@pytest.mark.parametrize("name", ["planetary", "differential"])
@pytest.mark.parametrize("steps", [11, 301])
def test_hundreds_of_turns_are_counted_however_few_instants_see_them(name, steps):
    laws = [groups.polynomial(0.0, 0.3 * rate, 0.7 * rate) for rate in FAST[name]]
    trajectory = moved(mbssa.load(name), laws, steps=steps)
    if name == "planetary":
        sun = trajectory.body("sun").orientation
        for body, ratio in (("carrier", 2 / 7), ("planet", -2 / 3), ("planet_2", -2 / 3)):
            assert np.abs(trajectory.body(body).orientation - ratio * sun).max() < 1e-9
        return
    time = trajectory.time
    shaft, left = (rate * (0.3 * time + 0.7 * time**2) for rate in FAST[name])
    case = -11 / 41 * shaft
    along_y = {"case": case, "left": left, "right": 2 * case - left}
    for body, angle in along_y.items():
        turned = trajectory.body(body).rotation @ np.array([0.0, 0.0, 1.0])
        wanted = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1)
        assert np.abs(turned - wanted).max() < 1e-9, body


@pytest.mark.parametrize("name", ["planetary", "differential"])
@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_every_executor_counts_the_same_turns(name, executor):
    mechanism = mbssa.load(name)
    model = built(mechanism)
    laws = dict(zip(model.reference_inputs, map(groups.speed, FAST[name]), strict=True))
    motion = groups.sample(mechanism, laws, np.linspace(0.0, 1.0, 301))
    plan = plan_of(model, sequential_route(model), instants=301, chunks=4, workers=2, executor=executor)
    mine, theirs = routes.run(model, plan, motion), model.solve(motion)
    for array in ("position", "orientation", "velocity", "acceleration", "status"):
        assert getattr(mine, array).tobytes() == getattr(theirs, array).tobytes()


@pytest.mark.parametrize("name", ["planetary", "differential", "rack_steering"])
@pytest.mark.parametrize("solver", ["Newton", "global dense"])
def test_what_ratios_say_newton_finds_too(name, solver):
    mechanism = mbssa.load(name)
    model = built(mechanism)
    geared = {one.number for one in model.solvers if one.name == "gears"}
    assert geared
    motion = groups.default_motion(mechanism, steps=21, duration=0.05 * mechanism.motion.duration)
    mine = model.solve(motion)
    theirs = built(mechanism, dict.fromkeys(geared, solver)).solve(motion)
    assert theirs.ok, theirs.faults()
    for level in ("position", "orientation", "velocity", "acceleration"):
        a, b = getattr(mine, level), getattr(theirs, level)
        assert np.abs(a - b).max() < 1e-10 * max(1.0, np.abs(a).max()), level


# --- coordinates of the joints themselves ------------------------------------------------------------


def test_a_mesh_has_the_angles_of_its_wheels_against_the_carrier():
    trajectory = moved(mbssa.load("planetary"), UNEVEN[:1])
    mesh, ring = trajectory.joint("2-3-4"), trajectory.joint("ring")
    assert mesh.names == ("angle_1", "angle_2")
    assert mesh.units == ("rad", "rad")
    sun, carrier, planet = (trajectory.joint(joint)["angle"] for joint in ("1-2", "1-3", "3-4"))
    assert_sum(mesh["angle_1"], (1, sun), (-1, carrier))
    assert_sum(mesh["angle_2"], (1, planet))
    assert_sum(ring["angle_1"], (-1, carrier))
    for one, ratio in ((mesh, 0.75), (ring, -0.3)):
        for level in LEVELS:
            miss = getattr(one["angle_1"], level) + ratio * getattr(one["angle_2"], level)
            assert np.abs(miss).max() < 1e-11 * np.abs(getattr(sun, level)).max()


def test_a_bevel_mesh_has_the_angles_of_its_wheels_about_their_axes():
    trajectory = moved(mbssa.load("differential"), UNEVEN)
    mesh, far = trajectory.joint("3-4-6"), trajectory.joint("3-5-6")
    left, right, case, spider = (trajectory.joint(joint)["angle"] for joint in ("1-4", "1-5", "1-3", "3-6"))
    assert_sum(mesh["angle_1"], (1, left), (-1, case))
    assert_sum(mesh["angle_2"], (1, spider))
    assert_sum(far["angle_1"], (-1, right), (1, case))  # its axis points to the right


def test_without_a_carrier_angles_are_against_the_line_of_centres(train):
    watt = train(*WATT)
    trajectory = moved(watt, UNEVEN[:1])
    mesh = trajectory.joint("3-5")
    crank, shaft = (trajectory.joint(f"1-{body}")["angle"] for body in (2, 5))
    assert_sum(mesh["angle_1"], (1, shaft), (-1, crank), within=1e-10)


def test_a_rolling_joint_has_its_roll_and_no_lift():
    trajectory = groups.build(mbssa.decompose(mbssa.load("rack_steering"))).solve()
    pinion = trajectory.joint("pinion")
    assert pinion.names == ("roll", "lift")
    assert pinion.units == ("rad", "m")
    assert_sum(pinion["roll"], (1, trajectory.joint("1-2")["angle"]))
    for level in LEVELS:
        assert np.abs(getattr(pinion["lift"], level)).max() < 1e-14


def test_driven_meshes_are_listed_with_the_driven_coordinates(train):
    driven = train(
        "[1, 2] R; point = [0, 0]",
        "[1, 3] R; point = [0.3, 0]",
        "[2, 3, 1] EO; driven = ['angle_2']; points = [[0, 0], [0.3, 0]]; ratio = 2",
    )
    trajectory = moved(driven, UNEVEN[:1])
    mesh = trajectory.joint("1-2-3")
    assert_sum(trajectory.joint("1-2")["angle"], (-2, mesh["angle_2"]))
    law = UNEVEN[0](trajectory.time)[0] if callable(UNEVEN[0]) else None
    assert law is None or np.abs(mesh["angle_2"].value - law).max() < 1e-12


@pytest.mark.parametrize("name", ["planetary", "differential"])
def test_joint_angles_count_the_turns_that_few_instants_see(name):
    """In the plane by the bodies' own angles, in space by rates and accelerations."""
    laws = [groups.polynomial(0.0, 0.3 * rate, 0.7 * rate) for rate in FAST[name]]
    trajectory = moved(mbssa.load(name), laws, steps=31)
    driver = trajectory.joint("1-2")["angle"].value
    time = trajectory.time
    assert np.abs(driver - FAST[name][0] * (0.3 * time + 0.7 * time**2)).max() < 1e-9
    ratio = {"planetary": 2 / 7, "differential": -11 / 41}[name]
    assert np.abs(trajectory.joint("1-3")["angle"].value - ratio * driver).max() < 1e-9


def test_contacts_have_no_coordinates_to_measure(train):
    body = "[1, 2] F; driven = ['x', 'y', 'angle_x', 'angle_z']; point = [0, 0, 0]"
    edge = "[1, 2] CBIP; points = [[0, 0, 0], [1, 0, 0]]; axes = [[0, 0, 1], [0, 0, 1]]"
    trajectory = moved(train(body, edge, space="spatial"), [groups.constant(0.0)] * 4, steps=3)
    with pytest.raises(ValueError, match="CBIP"):
        trajectory.joint("1-2#2")


def test_lifted_into_space_a_mesh_has_the_same_angles():
    trajectory = moved(mbssa.load("planetary"), UNEVEN[:1])
    plane, space = trajectory.joint("2-3-4"), trajectory.spatial().joint("2-3-4")
    for one, other in ((plane.value, space.value), (plane.rates, space.rates)):
        assert np.abs(one - other).max() < 1e-11 * np.abs(one).max()


def test_turns_are_counted_from_the_reference_to_where_a_motion_begins(read):
    """A gear on a line of moving centres, begun many turns away, and led there finely."""
    model = groups.build(mbssa.decompose(read(MOVING_CENTRES)))
    start = np.array(list(model.reference_inputs.values()))
    names, far = tuple(model.reference_inputs), np.array([14.0, -11.0, 9.0])
    there = groups.Motion(np.zeros(1), names, (start + far)[:, None], np.zeros((3, 1)), np.zeros((3, 1)))
    share = np.linspace(0.0, 1.0, 401)
    value, rate = start[:, None] + np.outer(far, share), np.repeat(far[:, None], 401, axis=1)
    led = model.solve(groups.Motion(share, names, value, rate, np.zeros((3, 401))))
    found = model.solve(there)
    assert found.ok
    assert led.ok
    assert np.abs(found.orientation[0] - led.orientation[-1]).max() < 1e-9


def test_wheels_of_a_belt_turn_alike_without_a_carrier():
    """The ratio -1, in which the line of centres has no part."""
    made = mbssa.Builder("planar").bodies("first", "second")
    made.revolute("frame", "first", point=[0, 0], driven=True).revolute("frame", "second", point=[3, 0])
    made.ordinary_gear("first", "second", points=[[0, 0], [3, 0]], ratio=-1.0)
    mechanism = made.build()
    assert mbssa.check(mechanism).solvable
    structure, motion = mbssa.decompose(mechanism), groups.constant_speed(mechanism, steps=25)
    for found in (groups.build(structure).solve(motion), groups.solve_globally(structure, motion)):
        first, second = (found.body(name).orientation for name in ("first", "second"))
        np.testing.assert_allclose(second, first, atol=1e-12)
