"""Contract of the types of force elements: balance, equal and opposite loads, energy, files."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from refusals import refused
from scipy.interpolate import CubicSpline

import groups
import mbssa
from groups.dynamics.forces import TYPES, exerted
from groups.dynamics.state import State
from mbssa.loads import FORCE_TYPES

MASS = {"mass": 2.0, "centre": (0.1, 0.05), "moment": 0.02}
HILLS = [(x, -0.3 + 0.02 * np.cos(5 * x)) for x in np.linspace(-1.0, 1.0, 21)]

#: By type, elements on the four-bar linkage below; the first of each is conservative where the type has such.
ELEMENTS = {
    "spring": [
        {"bodies": ["coupler", "frame"], "points": [(0.3, 0.3), (0.2, -0.1)], "stiffness": 300.0},
        {
            "bodies": ["coupler", "rocker"],
            "points": [(0.3, 0.3), (0.38, 0.05)],
            "damping": 7.0,
            "force": 4.0,
            "factor": {"law": "harmonic", "amplitude": 1.0, "frequency": 2.0, "phase": 0.3},
        },
    ],
    "coordinate": [
        {"coordinate": "1-4.angle", "stiffness": 5.0, "rest": 0.1},
        {
            "coordinate": "2-3.angle",
            "damping": 0.2,
            "force": 0.7,
            "factor": {"law": "spline", "times": [0.0, 0.4, 1.0], "values": [0.0, 1.0, -2.0]},
        },
    ],
    "friction": [
        {"coordinate": "2-3.angle", "friction": 0.8, "threshold": 0.05, "damping": 0.1},
        {"coordinate": "1-4.angle", "friction": 0.8, "threshold": 0.5},
    ],
    "point": [
        {"bodies": ["rocker"], "point": (0.4, 0.1), "force": (2.0, -3.0)},
        {
            "bodies": ["coupler"],
            "point": (0.2, 0.1),
            "force": (1.0, 2.0),
            "moment": 0.4,
            "axes": "body",
            "factor": {"law": "ramp", "start": 0.0, "end": 1.0, "duration": 0.5},
        },
    ],
    "stop": [
        {"coordinate": "1-4.angle", "stiffness": 50.0},
        {"coordinate": "1-4.angle", "stiffness": 50.0, "damping": 0.4},
    ],
    "contact": [
        {
            "bodies": ["coupler", "frame"],
            "points": [(0.2, 0.15), (0.24, 0.05)],
            "profile": {
                "ellipse": {"semi_axes": [0.07, 0.04], "angle": 0.3},
                "follower": "roller",
                "radius": 0.06,
            },
            "stiffness": 4e3,
        },
        {
            "bodies": ["coupler", "rocker"],
            "points": [(0.2, 0.15), (0.36, 0.11)],
            "profile": {
                "circle": {"radius": 0.125},
                "follower": {"curve": {"ellipse": {"semi_axes": [0.05, 0.07], "centre": [0.01, 0.0]}}},
            },
            "stiffness": 4e3,
            "damping": 0.3,
            "friction": 0.4,
            "threshold": 0.01,
        },
    ],
    "rotating_frame": [
        {"spin": 3.0, "point": (0.1, 0.2)},
        {"spin": 2.0, "factor": {"law": "formula", "formula": "1 + 0.3*sin(4*pi*t)"}},
    ],
    "terrain": [
        {"bodies": ["coupler"], "point": (0.1, -0.15), "radius": 0.145, "stiffness": 4e3, "terrain": HILLS},
        {
            "bodies": ["coupler"],
            "point": (0.1, -0.15),
            "radius": 0.145,
            "stiffness": 4e3,
            "damping": 0.3,
            "friction": 0.4,
            "threshold": 0.01,
            "terrain": HILLS,
        },
    ],
}
CASES = [(kind, place) for kind, several in ELEMENTS.items() for place in range(len(several))]

#: Types whose loads have no counterpart on another body: they act from outside.
OUTSIDE = {"point", "rotating_frame"}

#: Types that press on a penetration.
CONTACTS = {"terrain", "contact"}

#: rad, of the rocker; it moves beyond both.
LIMITS = [0.0, 0.15]


def linkage(kind, place, steps=1001, **units):
    m = mbssa.Builder("planar", **units)
    m.body("crank", inertia=MASS).body("coupler", inertia=MASS).body("rocker", inertia=MASS)
    m.revolute("frame", "crank", point=(0, 0), driven=True).revolute("crank", "coupler", point=(0.06, 0.08))
    limits = {"limits": {"angle": LIMITS}} if kind == "stop" else {}
    m.revolute("coupler", "rocker", point=(0.34, 0.22)).revolute("frame", "rocker", point=(0.4, 0), **limits)
    m.motion({"1-2.angle": {"law": "harmonic", "amplitude": 0.6, "frequency": 1.0}}, steps=steps)
    return m.gravity(0, -9.81).force(kind, **ELEMENTS[kind][place]).build()


def solved(mechanism):
    trajectory = groups.build(mbssa.decompose(mechanism)).solve(compiled=False)
    assert trajectory.ok
    return trajectory


def rate_of(values, time):
    """Derivative of fourth order at the inner instants."""
    return (values[:-4] - 8 * values[1:-3] + 8 * values[3:-1] - values[4:]) / (12 * (time[1] - time[0]))


#: Places in time, of five instants each.
STENCILS, STEP = 40, 1 / 4000


def rates_at(values):
    """Derivatives of fourth order at the middle instant of each place."""
    before, back, _, ahead, after = np.moveaxis(values.reshape(STENCILS, 5, *values.shape[1:]), 1, 0)
    return (before - 8 * back + 8 * ahead - after) / (12 * STEP)


def middle(values):
    return values[2::5]


@cache
def case(kind, place):
    """The linkage with this element, its motion about some places in time, and its forces."""
    mechanism = linkage(kind, place)
    whole = groups.default_motion(mechanism, steps=round(1 / STEP) + 1)
    at = (np.linspace(2, len(whole.time) - 3, STENCILS).round().astype(int)[:, None] + range(-2, 3)).ravel()
    parts = {level: getattr(whole, level)[:, at].copy() for level in ("value", "rate", "acceleration")}
    motion = dataclasses.replace(whole, time=whole.time[at].copy(), **parts)
    trajectory = groups.build(mbssa.decompose(mechanism)).solve(motion, compiled=False)
    assert trajectory.ok, kind
    return mechanism, trajectory, groups.forces(trajectory)


def test_every_type_is_read_evaluated_and_tested():
    assert TYPES.keys() == FORCE_TYPES.keys() == ELEMENTS.keys()


def test_powers_are_in_balance():
    for kind, place in CASES:
        _, _, forces = case(kind, place)
        assert forces.ok, (kind, place)
        assert np.abs(forces.element_power[f"{kind} 1"]).max() > 1e-2, (kind, place)
        assert np.abs(forces.balance).max() < 1e-9 * np.abs(forces.drive_power).max(), (kind, place)


def test_loads_are_equal_and_opposite():
    for kind, place in CASES:
        mechanism, trajectory, _ = case(kind, place)
        loads = exerted(mechanism.forces[0], State.of(trajectory))[0]
        if kind in OUTSIDE:
            assert [load.body for load in loads] == list(mechanism.forces[0].bodies or (1, 2, 3)), kind
            continue
        total = sum(load.about(np.zeros_like(load.point)) for load in loads)
        largest = max(np.abs(load.about(np.zeros_like(load.point))).max() for load in loads)
        assert len({load.body for load in loads}) == 2, (kind, place)
        assert np.abs(total).max() < 1e-12 * largest, (kind, place)


def test_power_is_force_times_rate_of_its_points():
    """Against the bodies' paths, differentiated by finite differences."""
    for kind, place in CASES:
        mechanism, trajectory, forces = case(kind, place)
        power = np.zeros(STENCILS)
        for load in exerted(mechanism.forces[0], State.of(trajectory))[0]:
            # About the body's origin, whose path and angle are differentiated.
            at = trajectory.position[:, load.body]
            wrench = load.about(np.array([*at.T, np.zeros(len(at))]))[[0, 1, 5]].T
            pose = np.column_stack([at, trajectory.orientation[:, load.body]])
            power += (middle(wrench) * rates_at(pose)).sum(axis=1)
        given = forces.element_power[f"{kind} 1"]
        np.testing.assert_allclose(
            power, middle(given), atol=1e-8 * np.abs(given).max(), err_msg=f"{kind} {place}"
        )


def of_spring(trajectory):
    ends = [(0.3, 0.3), (0.2, -0.1)]
    length = np.linalg.norm(trajectory.body("coupler").point(ends[0]) - ends[1], axis=1)
    return 0.5 * 300 * (length - np.hypot(0.1, 0.4)) ** 2


def of_coordinate(trajectory):
    return 0.5 * 5 * (trajectory.joint("1-4")["angle"].value - 0.1) ** 2


def of_point(trajectory):
    return -trajectory.body("rocker").point((0.4, 0.1)) @ (2.0, -3.0)


def of_stop(trajectory):
    value = trajectory.joint("1-4")["angle"].value
    return 0.5 * 50 * (value - np.clip(value, *LIMITS)) ** 2


def of_rotating_frame(trajectory):
    """Centrifugal: -Ω²/2 of the moment of inertia of all bodies about the axis."""
    centre = np.array([trajectory.body(name).point((0.1, 0.05)) for name in ("crank", "coupler", "rocker")])
    return -0.5 * 3.0**2 * (2.0 * ((centre - (0.1, 0.2)) ** 2).sum(axis=2) + 0.02).sum(axis=0)


def of_polyline(line, points, radius):
    """Hertz: 2/5 k δ^(5/2), with the distances of centres (T, 2) from a fine polyline by brute force."""
    depth = []
    for one in points:
        k = int(((line - one) ** 2).sum(axis=1).argmin())
        # The two chords beside the nearest corner.
        a, b = line[k - 1 : k + 1], line[k : k + 2]
        share = np.clip(((one - a) * (b - a)).sum(axis=1) / ((b - a) ** 2).sum(axis=1), 0, 1)
        depth.append(radius - np.linalg.norm(a + share[:, None] * (b - a) - one, axis=1).min())
    return 0.4 * 4e3 * np.maximum(depth, 0.0) ** 2.5


def of_terrain(trajectory):
    x = np.linspace(-0.5, 0.7, 40_001)
    curve = CubicSpline(*np.array(HILLS).T, bc_type="natural")
    return of_polyline(np.column_stack([x, curve(x)]), trajectory.body("coupler").point((0.1, -0.15)), 0.145)


def of_contact(trajectory):
    """In the coupler's axes, where its ellipse stands still and the roller's centre moves."""
    origin, one = (trajectory.body("coupler").point(at) for at in ((0.2, 0.15), (1.2, 0.15)))
    x, out = one - origin, np.array((0.24, 0.05)) - origin
    centre = np.column_stack([(x * out).sum(axis=1), x[:, 0] * out[:, 1] - x[:, 1] * out[:, 0]])
    t = np.linspace(-0.1, 2 * np.pi + 0.1, 40_001)
    x, y = 0.07 * np.cos(t), 0.04 * np.sin(t)
    line = np.column_stack([np.cos(0.3) * x - np.sin(0.3) * y, np.sin(0.3) * x + np.cos(0.3) * y])
    return of_polyline(line, centre, 0.06)


POTENTIALS = {
    "spring": of_spring,
    "coordinate": of_coordinate,
    "stop": of_stop,
    "point": of_point,
    "terrain": of_terrain,
    "contact": of_contact,
    "rotating_frame": of_rotating_frame,
}

#: Types that store energy; the work of a given force is not stored.
STORING = POTENTIALS.keys() - {"point"}


def test_a_conservative_element_stores_its_potential_and_gives_it_back():
    for kind in FORCE_TYPES:
        mechanism, trajectory, forces = case(kind, 0)
        stored = exerted(mechanism.forces[0], State.of(trajectory))[1]
        if kind not in STORING:
            assert (stored == 0.0).all(), kind
        if kind not in POTENTIALS:
            continue
        potential, given = POTENTIALS[kind](trajectory), forces.element_power[f"{kind} 1"]
        if kind in STORING:
            np.testing.assert_allclose(stored, potential, atol=1e-6 * np.abs(potential).max(), err_msg=kind)
        lost = -rates_at(potential)
        # The power of a contact begins with δ^(3/2): of limited smoothness, as is its difference quotient.
        tolerance = 1e-4 if kind in CONTACTS else 1e-6
        # That of a stop begins with a corner, which no difference quotient may reach over.
        beyond = (potential > 0.0).reshape(STENCILS, 5)
        smooth = (beyond.all(axis=1) | ~beyond.any(axis=1)) | (kind != "stop")
        assert smooth.mean() > 0.9, kind
        assert beyond.any() or kind not in ("stop", *CONTACTS), kind
        np.testing.assert_allclose(
            middle(given)[smooth], lost[smooth], atol=tolerance * np.abs(given).max(), err_msg=kind
        )


def test_a_damper_and_a_force_with_a_factor_have_the_power_of_their_formula():
    _, trajectory, forces = case("coordinate", 1)
    factor = CubicSpline([0.0, 0.4, 1.0], [0.0, 1.0, -2.0], bc_type="natural")(trajectory.time)
    rate = trajectory.joint("2-3")["angle"].rate
    expected, given = (0.7 * factor - 0.2 * rate) * rate, forces.element_power["coordinate 1"]
    np.testing.assert_allclose(given, expected, atol=1e-6 * np.abs(expected).max())
    _, trajectory, forces = case("spring", 1)
    ends = trajectory.body("coupler").point((0.3, 0.3)), trajectory.body("rocker").point((0.38, 0.05))
    rate = rates_at(np.linalg.norm(ends[0] - ends[1], axis=1))
    expected = (4.0 * np.sin(4 * np.pi * middle(trajectory.time) + 0.3) - 7.0 * rate) * rate
    given = middle(forces.element_power["spring 1"])
    np.testing.assert_allclose(given, expected, atol=1e-6 * np.abs(expected).max())


def test_a_coordinate_is_at_rest_at_the_reference_unless_it_is_given():
    m = mbssa.Builder("planar", angle="deg").body("arm")
    m.revolute("frame", "arm", point=(0, 0), driven=True, at_reference={"angle": 30})
    m.force("coordinate", coordinate="1-2.angle", stiffness=2.0)
    mechanism = m.motion({"1-2.angle": {"law": "speed", "rate": 90}}, steps=2).build()
    forces = groups.forces(solved(mechanism))
    np.testing.assert_allclose(forces.driving[:, 0], [0.0, 2.0 * 90], atol=1e-9)  # N m/deg


@pytest.mark.parametrize("axes", ["world", "body"])
def test_a_force_at_a_point_in_space_does_the_work_of_its_path(axes):
    force, moment, point = (3.0, -2.0, 5.0), (0.3, 0.1, -0.2), (0.2, 0.3, -0.1)
    m = mbssa.Builder("spatial").body("arm")
    m.revolute("frame", "arm", point=(0, 0, 0), axis=(1, 2, 2), driven=True)
    m.motion({"1-2.angle": {"law": "harmonic", "amplitude": 0.6, "frequency": 1.0}}, steps=2001)
    m.force("point", bodies=["arm"], point=point, axes=axes, force=force, moment=moment)
    trajectory = solved(m.build())
    forces, arm = groups.forces(trajectory), trajectory.body("arm")
    turn = arm.rotation if axes == "body" else np.tile(np.eye(3), (len(trajectory.time), 1, 1))
    path = rate_of(arm.point(point), trajectory.time)
    power = ((turn @ force)[2:-2] * path).sum(axis=1)
    power += ((turn @ moment) * arm.velocity[:, 3:]).sum(axis=1)[2:-2]
    inner = forces.element_power["point 1"][2:-2]
    np.testing.assert_allclose(inner, power, atol=1e-7 * np.abs(power).max())
    np.testing.assert_allclose(forces.balance, 0.0, atol=1e-12)


def test_the_frame_of_a_massless_linkage_receives_what_acts_from_outside():
    m = mbssa.Builder("planar").bodies("crank", "coupler", "rocker")
    m.revolute("frame", "crank", point=(0, 0), driven=True).revolute("crank", "coupler", point=(0.06, 0.08))
    m.revolute("coupler", "rocker", point=(0.34, 0.22)).revolute("frame", "rocker", point=(0.4, 0))
    m.motion({"1-2.angle": {"law": "harmonic", "amplitude": 0.6, "frequency": 1.0}}, steps=21)
    m.force("point", bodies=["rocker"], point=(0.4, 0.1), force=(2.0, 0.0), moment=0.3)
    forces = groups.forces(solved(m.build()))
    np.testing.assert_allclose(forces.shaking_force, [[2.0, 0.0]] * 21, atol=1e-12)
    assert forces.shaking_moment[0] == pytest.approx(0.3 - 0.1 * 2.0, abs=1e-12)


def test_friction_takes_power_at_every_rate():
    for place, element in enumerate(ELEMENTS["friction"]):
        _, trajectory, forces = case("friction", place)
        power = forces.element_power["friction 1"]
        assert (power <= 0.0).all(), place
        joint, _, name = element["coordinate"].rpartition(".")
        fast = np.abs(trajectory.joint(joint)[name].rate) > 20 * element["threshold"]
        rate = trajectory.joint(joint)[name].rate[fast]
        coulomb = -element["friction"] * np.abs(rate) - element.get("damping", 0.0) * rate**2
        np.testing.assert_allclose(power[fast], coulomb, rtol=1e-12)


def velocity(state, body, place):
    linear, spin = np.split(state.twist[body], 2, axis=1)
    return (linear + np.cross(spin, np.transpose(place) - state.position[body])).T


@pytest.mark.parametrize("kind", sorted(CONTACTS))
def test_a_contact_never_pulls_and_its_friction_opposes_the_slip(kind):
    mechanism, trajectory, _ = case(kind, 1)
    state = State.of(trajectory)
    carrier, wheel = exerted(mechanism.forces[0], state)[0]
    free = dataclasses.replace(mechanism.forces[0], friction=0.0)
    _, normal = exerted(free, state)[0]
    slip = velocity(state, wheel.body, wheel.point) - velocity(state, carrier.body, wheel.point)
    out = (0.0, 1.0, 0.0) if kind == "terrain" else (1.0, 0.0, 0.0)  # from the carrier, about
    assert (out @ normal.force >= 0.0).all()
    assert (out @ normal.force).min() == 0.0 < (out @ normal.force).max()
    drag = wheel.force - normal.force
    assert ((drag * slip).sum(axis=0) <= 1e-15).all()
    pressed = np.linalg.norm(normal.force, axis=0)
    assert (np.linalg.norm(drag, axis=0) <= 0.4 * pressed * (1 + 1e-12)).all()


def test_an_instant_alone_gives_what_it_gives_among_others():
    moments = ("time", "position", "orientation", "velocity", "acceleration", "status")
    for kind, place in CASES:
        mechanism, trajectory, _ = case(kind, place)
        whole = exerted(mechanism.forces[0], State.of(trajectory))[0]
        for t in (0, 77):
            parts = {name: getattr(trajectory, name)[t : t + 1] for name in moments}
            alone = exerted(mechanism.forces[0], State.of(dataclasses.replace(trajectory, **parts)))[0]
            for single, several in zip(alone, whole, strict=True):
                close = {"rtol": 1e-12, "atol": 1e-12, "err_msg": f"{kind} {place}"}
                np.testing.assert_allclose(single.force[:, 0], several.force[:, t], **close)
                np.testing.assert_allclose(single.moment[:, 0], several.moment[:, t], **close)


@pytest.mark.parametrize("ending", ["toml", "npz"])
def test_files_keep_it(ending, tmp_path):
    for kind, place in CASES:
        mechanism = linkage(kind, place)
        path = tmp_path / f"{kind}{place}.{ending}"
        assert mbssa.save(mechanism, path) == [], (kind, place)
        assert mbssa.load(path).forces == mechanism.forces, (kind, place)


#: By type, an element in mm and deg beside the same in SI units.
IN_MILLIMETRES = {
    "spring": (
        {"bodies": ["coupler", "frame"], "points": [(300, 300), (200, -100)], "stiffness": 0.3},
        {"stiffness": 300.0, "points": ((0.3, 0.3), (0.2, -0.1))},
    ),
    "coordinate": (
        {"coordinate": "1-4.angle", "stiffness": 1e3, "rest": 90, "force": 500},
        {"stiffness": 180 / np.pi, "rest": np.pi / 2, "force": 0.5},
    ),
    "friction": (
        {"coordinate": "1-4.angle", "friction": 800, "threshold": 90, "damping": 1e3},
        {"friction": 0.8, "threshold": np.pi / 2, "damping": 180 / np.pi},
    ),
    "point": (
        {
            "bodies": ["rocker"],
            "point": (400, 100),
            "force": (2, -3),
            "moment": 500,
            "factor": {"law": "harmonic", "amplitude": 2, "frequency": 3, "phase": 90},
        },
        {
            "moment": 0.5,
            "factor": mbssa.motion.InputLaw(
                "harmonic", {"amplitude": 2.0, "frequency": 3.0, "phase": np.pi / 2}
            ),
        },
    ),
    "stop": (
        {"coordinate": "1-4.angle", "stiffness": 1e3, "damping": 0.5},
        {"stiffness": 180 / np.pi, "damping": 0.5 * 180 / np.pi},
    ),
    "contact": (
        {
            "bodies": ["coupler", "frame"],
            "points": [(200, 150), (240, 50)],
            "profile": {"circle": {"radius": 60}, "follower": "roller", "radius": 20},
            "stiffness": 2.0,
            "damping": 3e-4,
            "friction": 0.4,
            "threshold": 10,
        },
        {
            "points": ((0.2, 0.15), (0.24, 0.05)),
            "profile": {"circle": {"radius": 0.06}, "follower": "roller", "radius": 0.02},
            "stiffness": 2.0 * 1e3**1.5,
            "damping": 0.3,
            "friction": 0.4,
            "threshold": 0.01,
        },
    ),
    "rotating_frame": ({"spin": 90, "point": (100, 200)}, {"spin": np.pi / 2, "point": (0.1, 0.2)}),
    "terrain": (
        {
            "bodies": ["coupler"],
            "point": (100, -150),
            "radius": 200,
            "stiffness": 2.0,
            "damping": 3e-4,
            "friction": 0.4,
            "threshold": 10,
            "terrain": [(-1000, -300), (1000, -250)],
        },
        {
            "radius": 0.2,
            "stiffness": 2.0 * 1e3**1.5,
            "damping": 0.3,
            "friction": 0.4,
            "threshold": 0.01,
            "terrain": ((-1.0, -0.3), (1.0, -0.25)),
        },
    ),
}


def test_units_are_converted():
    for kind in FORCE_TYPES:
        given, expected = IN_MILLIMETRES[kind]
        m = mbssa.Builder("planar", length="mm", angle="deg").bodies("crank", "coupler", "rocker")
        m.revolute("frame", "crank", point=(0, 0), driven=True).revolute("crank", "coupler", point=(60, 80))
        m.revolute("coupler", "rocker", point=(340, 220))
        m.revolute("frame", "rocker", point=(400, 0), limits={"angle": [0, 10]})
        force = m.force(kind, **given).build().forces[0]
        for key, value in expected.items():
            if key in ("factor", "profile"):
                assert getattr(force, key) == value, kind
            else:
                np.testing.assert_allclose(getattr(force, key), value, rtol=1e-12, err_msg=f"{kind} {key}")


def test_all_faults_are_said_at_once():
    m = mbssa.Builder("planar").bodies("arm")
    m.revolute("frame", "arm", point=(0, 0), driven=True)
    m.force("friction", coordinate="1-2.angle", friction=-1.0)
    m.force("terrain", bodies=["arm"], point=(0, 1), radius=0, stiffness=1e5, friction=0.3, terrain=[(0, 0)])
    m.force("terrain", bodies=["arm"], point=(0, 1), radius=1, stiffness=1e5, terrain=[(1, 0), (0, 0)])
    m.force("terrain", bodies=["arm"], point=(0, 1), radius=1, stiffness=1e5, terrain=[(1, 0, 0), (2, 0)])
    m.force("terrain", bodies=["frame"], point=(0, 1), radius=1, stiffness=1e5, terrain=[(1, 0), (2, 0)])
    m.force("coordinate", coordinate="1-2.angle", damping=1, factor={"law": "ramp", "end": 1})
    spline = {"law": "spline", "times": [0, 1, 1], "values": [0, 1]}
    m.force("coordinate", coordinate="1-2.angle", force=1, factor=spline)
    with refused(
        "value at force 1 (friction) friction",
        "value at force 2 (terrain) radius",
        "value at force 2 (terrain) terrain",
        "value at force 4 (terrain) terrain[1]",
        "missing at force 1 (friction) threshold",
        "missing at force 2 (terrain) threshold",
        "value at force 3 (terrain) terrain[2]",
        "unsupported at force 5 (terrain) bodies",
        "conflict at force 6 (coordinate) factor",
        "missing at force 6 (coordinate) factor duration",
        "value at force 7 (coordinate) factor values",
        "value at force 7 (coordinate) factor times[3]",
    ):
        m.build()


def test_a_terrain_is_for_planar_models():
    m = mbssa.Builder("spatial").bodies("arm")
    m.revolute("frame", "arm", point=(0, 0, 0), axis=(0, 0, 1), driven=True)
    m.force("terrain", bodies=["arm"], point=(0, 0, 0), radius=1, stiffness=1, terrain=[(0, 0), (1, 0)])
    with refused("unsupported at force 1 (terrain) type"):
        m.build()


def test_what_an_element_does_not_reach_is_said_with_the_instant():
    late = {"law": "spline", "times": [0.0, 0.5], "values": [0.0, 1.0]}
    mechanism = linkage("coordinate", 1, steps=11)
    short = dataclasses.replace(
        mechanism.forces[0],
        factor=mbssa.motion.InputLaw("spline", {key: tuple(late[key]) for key in ("times", "values")}),
    )
    trajectory = solved(dataclasses.replace(mechanism, forces=(short,)))
    with pytest.raises(ValueError, match=r"coordinate 1 factor: t = 0\.6"):
        groups.forces(trajectory)
    mechanism = linkage("terrain", 0, steps=11)
    short = dataclasses.replace(mechanism.forces[0], terrain=((0.5, -0.3), (1.0, -0.3)))
    trajectory = solved(dataclasses.replace(mechanism, forces=(short,)))
    with pytest.raises(ValueError, match=r"terrain 1 terrain: at t = 0 s .* x = 0\.1"):
        groups.forces(trajectory)
