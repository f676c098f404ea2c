"""Equilibrium and eigenfrequencies against formulas."""

import math

import numpy as np
import pytest
from dense_forces import with_masses

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


#: A four-bar on a stiff spring, 1° from rest.
NEAR_REST = """
format = 1
space = "planar"
gravity = [0.0, -9.81]
body = [
  { name = "b2", inertia = { mass = 2.0, centre = [0.2, 0.3], moment = 0.05 } },
  { name = "b3", inertia = { mass = 3.0, centre = [1.0, 0.9], moment = 0.2 } },
  { name = "b4", inertia = { mass = 1.5, centre = [1.8, 0.5], moment = 0.1 } },
]
joint = [
  { id = "A", bodies = ["frame", "b2"], type = "R", point = [0.0, 0.0], driven = true },
  { bodies = ["b2", "b3"], type = "R", point = [0.3, 0.7] },
  { bodies = ["b3", "b4"], type = "R", point = [1.7, 1.0] },
  { bodies = ["frame", "b4"], type = "R", point = [2.0, 0.0] },
]
force = [
  { type = "spring", bodies = ["frame", "b3"], points = [[1.0, 2.0], [1.0, 0.8]], stiffness = 400.0, \
damping = 6.0, rest = 1.0 },
]
"""


@pytest.mark.parametrize("off", [None, 1e-3, 2e-6])
def test_a_rest_is_found_in_a_few_steps_however_near(tmp_path, off):
    """Angle of least potential energy of weight and spring, by its derivative over solved positions."""
    path = tmp_path / "near.toml"
    path.write_text(NEAR_REST)
    mechanism, rest, shares = mbssa.load(path), 0.017244614905137668, []
    initial = None if off is None else {"A.angle": rest + off}
    found = groups.equilibrium(mechanism, initial=initial, progress=shares.append)
    assert found.found
    assert found.stable
    assert found.coordinates["A.angle"] == pytest.approx(rest, abs=1e-9)
    assert len(shares) < 10
    assert shares == sorted(shares)
    run = groups.simulate(  # at rest there, in the potential that its energies are measured by
        mechanism, 0.1, steps=3, initial={"A.angle": found.coordinates["A.angle"]}, compiled=False
    )
    assert np.ptp(run.coordinates["A.angle"]) < 1e-9
    around = [
        groups.simulate(mechanism, 1e-9, steps=2, initial={"A.angle": rest + step}, compiled=False)
        for step in (-1e-3, 0.0, 1e-3)
    ]
    low, least, high = (one.potential_energy[0] for one in around)
    assert abs(high - low) < 1e-3 * (high + low - 2 * least)


def test_an_unstable_rest_does_not_attract():
    arm = mbssa.Builder("planar").body("arm", inertia={"mass": 1.0, "centre": (1.0, 0.0)})
    arm = arm.gravity(0.0, -9.81).revolute("frame", "arm", point=(0, 0), driven=True).build()
    for start in (0, 1, np.pi / 2 - 1e-4, np.pi / 2 - 1e-7):  # whole numbers too
        found = groups.equilibrium(arm, initial={"1-2.angle": start})
        assert found.coordinates["1-2.angle"] == pytest.approx(-np.pi / 2, abs=1e-9), start
    assert not groups.equilibrium(arm, initial={"1-2.angle": np.pi / 2}).stable
    assert not groups.equilibrium(arm, applied={"1-2.angle": 1e3}).found  # turns for ever
    slides = chain([1.0, 3.0, 1.0], 50.0)
    pulled = groups.equilibrium(slides, applied={"1-3.slide": 10.0, "1-4.slide": -20.0})
    stiffness = 50.0 * np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    expected = np.linalg.solve(stiffness, [0.0, 10.0, -20.0])
    np.testing.assert_allclose(list(pulled.coordinates.values()), expected, atol=1e-9)


def efforts(model, value, rate):
    """Driving forces (D,) of a motion with these values and rates, by inverse dynamics."""
    one = groups.Motion(
        np.zeros(1), model.mechanism.driven_coordinates, value[:, None], rate[:, None], 0.0 * value[:, None]
    )
    return groups.forces(model.solve(one, branch="checked", compiled=False)).driving[0]


def differences(function, unit):
    """Derivatives (D, D) of fourth order."""
    columns = [
        (8 * (function(step) - function(-step)) - function(2 * step) + function(-2 * step))
        / (12 * step.max())
        for step in 1e-3 * np.diag(unit)
    ]
    return np.stack(columns, axis=1)


ELEMENTS = {
    "spring": {"bodies": ["coupler", "frame"], "points": [(0.3, 0.3), (0.2, -0.1)], "stiffness": 300.0,
        "damping": 5.0, "force": 4.0, "factor": {"law": "harmonic", "amplitude": 1.0, "frequency": 2.0}},
    "coordinate": {"coordinate": "2-3.angle", "stiffness": 5.0, "rest": 0.1, "damping": 0.2},
    "friction": {"coordinate": "1-4.angle", "friction": 0.8, "threshold": 0.5},
    "point": {"bodies": ["coupler"], "point": (0.2, 0.1), "force": (1.0, 2.0), "axes": "body"},
}  # fmt: skip


def linkage(kind):
    """A four-bar linkage with a force element of this type."""
    inertia = {"mass": 2.0, "centre": (0.1, 0.05), "moment": 0.02}
    m = mbssa.Builder("planar")
    m.body("crank", inertia=inertia).body("coupler", inertia=inertia).body("rocker", inertia=inertia)
    m.revolute("frame", "crank", point=(0, 0), driven=True).revolute("crank", "coupler", point=(0.06, 0.08))
    m.revolute("coupler", "rocker", point=(0.34, 0.22)).revolute("frame", "rocker", point=(0.4, 0))
    return m.gravity(0, -9.81).force(kind, **ELEMENTS[kind]).build()


@pytest.mark.parametrize("name", ["stewart", "rotor", "planetary", "slider_crank", "andrews", *ELEMENTS])
def test_stiffness_and_damping_are_derivatives_of_the_driving_forces(name):
    """Redundant constraints, several inputs, gears, masses alone and force elements."""
    mechanism = linkage(name) if name in ELEMENTS else mbssa.load(name)
    if name in ("stewart", "rotor", "planetary"):
        mechanism = with_masses(mechanism)
    model = groups.build(mbssa.decompose(mechanism))
    value = np.array(list(model.reference_inputs.values())) + (0.2 if name in ELEMENTS else 0.0)
    found = groups.linearise(mechanism, at=dict(zip(model.reference_inputs, value.tolist(), strict=True)))
    unit = np.where([n.endswith("slide") for n in found.names], model.frames.size, 1.0)
    stiffness = differences(lambda step: efforts(model, value + step, 0.0 * value), unit)
    damping = differences(lambda rate: efforts(model, value, rate), unit)
    largest = np.abs(stiffness).max()
    np.testing.assert_allclose(found.stiffness, stiffness, atol=1e-9 * largest)
    np.testing.assert_allclose(found.damping, damping, atol=1e-9 * max(largest, np.abs(damping).max()))
    np.testing.assert_allclose(found.force, -efforts(model, value, 0.0 * value), atol=1e-9 * largest)


def test_a_search_that_ends_where_a_group_is_singular_is_no_rest():
    """Gravity pulls a piston to its dead centre, where its place does not tell that of the crank."""
    m = mbssa.Builder("planar", name="engine").bodies("crank", "rod").gravity(9.81, 0.0)
    m.body("piston", inertia={"mass": 1.5, "centre": (0.38, 0.0)})
    m.revolute("frame", "crank", point=(0, 0)).revolute("crank", "rod", point=(0.06, 0.08))
    m.revolute("rod", "piston", point=(0.38, 0))
    m.prismatic("frame", "piston", point=(0.38, 0), axis=(1, 0), driven=True)
    with pytest.raises(ValueError, match="engine: the search for an equilibrium leaves the workspace"):
        groups.equilibrium(m.build())
    crank = groups.equilibrium(mbssa.with_inputs(m.build(), ["1-2.angle"]))
    assert crank.found
    assert crank.stable
    assert crank.coordinates["1-2.angle"] == pytest.approx(-np.arctan2(0.08, 0.06), abs=1e-9)


def test_faults_of_what_is_given_are_said_and_exceptions_of_functions_raised():
    mechanism = mbssa.load("andrews")
    (name,) = mechanism.driven_coordinates
    with pytest.raises(ZeroDivisionError):
        groups.linearise(mechanism, applied={name: lambda t: 1 / 0})
    for at, message in (({name: "x"}, "is 'x'; write a number"), ({1: 1.0}, "1 is not driven")):
        with pytest.raises(ValueError, match=message):
            groups.linearise(mechanism, at=at)
    for wrong in ({"at": 5}, {"applied": 5}):
        with pytest.raises(TypeError, match="5 names no coordinates"):
            groups.linearise(mechanism, **wrong)
    with pytest.raises(TypeError, match="takes a model, a structure or a mechanism, not a str"):
        groups.equilibrium("andrews")
    with pytest.raises(ValueError, match="is a text"):
        groups.simulate(mechanism, duration=0.01, applied={name: "5"})
    for law, said in ((3.0, "is no law"), (lambda t: np.nan, "is not finite"), (lambda t: 1 / 0, "division")):
        with pytest.raises(ValueError, match=f"prescribed '{name}'.*{said}"):
            groups.simulate(mechanism, duration=0.01, prescribed={name: law})
    events = [groups.Event("a", name, np.nan), groups.Event("b", name, direction=5), "c"]
    with pytest.raises(ValueError, match=r"a: target is nan(.|\n)*b: direction is 5(.|\n)*'c' is none"):
        groups.simulate(mechanism, duration=0.01, events=events)
    nan = groups.Event("a", lambda at: np.nan)
    for wrong, message in (
        ({"start": 3}, "start: 3 is no run"),
        ({"progress": 3}, "progress is 3; give a function"),
        ({"prescribed": 3}, "prescribed 3: the model has a law"),
        (
            {"prescribed": {name: groups.spline([0.0, 0.005], [0.0, 0.01])}},
            f"prescribed '{name}': t = .* lies outside the points of the spline, .*; end before",
        ),
        ({"most_steps": np.nan}, "most_steps is nan"),
        ({"events": None}, "events: None is none"),
        ({"events": nan}, "event a: its function gives nan; return a number"),
        ({"events": [groups.Event("a", name, "x")]}, "event a: target is 'x'"),
        ({"applied": {name: lambda t: "x"}}, f"applied '{name}': its function gives 'x'; return a number"),
        ({"duration": None, "time": ["a"]}, "time is .*'a'.*; write increasing numbers"),
        ({"duration": None, "time": 0.5}, r"time has the shape \(\); write"),
    ):
        with pytest.raises(ValueError, match=message):
            groups.simulate(mechanism, **{"duration": 0.01} | wrong)
    with pytest.raises(TypeError, match="'text' names no coordinates"):
        groups.simulate(mechanism, duration=0.01, initial="text")
    with pytest.raises(ValueError, match="progress is 3"):
        groups.equilibrium(mechanism, progress=3)
    solved = groups.build(mbssa.decompose(mechanism)).solve()
    with pytest.raises(ValueError, match=f"'{name}': is nan(.|\n)*'x' is no number"):
        groups.forces(solved, applied={name: np.nan, "1-4.angle": "x"})


def test_prescribed_laws_are_those_that_sample_takes():
    arm = mbssa.Builder("planar").body("arm", inertia={"mass": 1.0, "centre": (0.3, 0.0), "moment": 0.1})
    mechanism = arm.revolute("frame", "arm", point=(0, 0), driven=True).build()
    laws = "0.2*t^2 - 0.1*t^3", lambda t: 0.2 * t**2 - 0.1 * t**3, groups.polynomial(0.0, 0.0, 0.2, -0.1)
    of_math = groups.simulate(mechanism, 1.0, steps=11, prescribed={"1-2.angle": lambda t: 0.1 * math.sin(t)})
    assert of_math.trajectory.orientation[-1, 1] == pytest.approx(0.1 * math.sin(1.0), abs=1e-9)
    found = [groups.simulate(mechanism, 1.0, prescribed={"1-2.angle": law}).trajectory for law in laws]
    for one in found[:2]:
        np.testing.assert_allclose(one.acceleration, found[2].acceleration, rtol=0, atol=1e-9)


@pytest.mark.parametrize("height", [0.3, 0.35])  # the wheel touches the ground, or is above it
def test_a_wheel_comes_to_rest_in_the_ground_by_hertz(height):
    m = mbssa.Builder("planar").gravity(0.0, -9.81)
    m.body("wheel", inertia={"mass": 10.0, "centre": (0, height), "moment": 0.5})
    m.joint("FP", "frame", "wheel", point=(0, height), driven=True)
    m.force(
        "terrain", bodies=["wheel"], point=(0, height), radius=0.3, terrain=[[-9, 0], [9, 0]], stiffness=1e6
    )
    mechanism = m.build()
    rest, depth = groups.equilibrium(mechanism), (98.1 / 1e6) ** (2 / 3)
    assert rest.found
    assert rest.coordinates["1-2.y"] == pytest.approx(0.3 - height - depth, abs=1e-9)
    bounce = groups.linearise(mechanism, at=rest.coordinates).frequency[-1]
    assert bounce == pytest.approx(np.sqrt(1.5e6 * np.sqrt(depth) / 10.0) / (2 * np.pi), rel=1e-4)


def test_a_search_that_ends_where_the_points_of_a_spring_meet_says_so():
    m = mbssa.Builder("planar").body("bead", inertia={"mass": 1.0, "centre": (0, 1)})
    m.prismatic("frame", "bead", point=(0, 0), axis=(0, 1), driven=True)
    m.force("spring", bodies=["bead", "frame"], points=[(0, 1), (0, 0)], stiffness=100.0, rest=0.0)
    with pytest.raises(ValueError, match="forces have no derivative where points of a spring meet"):
        groups.equilibrium(m.build())
