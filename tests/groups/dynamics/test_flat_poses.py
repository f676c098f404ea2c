"""Runs through flat poses, where two branches cross, against equations of one freedom; near misses."""

import dataclasses
import math

import numpy as np
import pytest
from dense_forces import with_masses
from scipy.integrate import solve_ivp

import groups
import mbssa

GRAVITY = 9.81
BAR = {"mass": 1.0, "moment": 1 / 12}
QUICK, MANY = 10, 200


def energy_truth(mass, slope, force, start, rate, duration):
    """End of M(q) q'' + M'(q) q'² / 2 = f(q)."""
    found = solve_ivp(
        lambda _, y: [y[1], (force(y[0]) - 0.5 * slope(y[0]) * y[1] ** 2) / mass(y[0])],
        (0, duration), [start, rate], rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    return found.y[0, -1]


# --- parallelograms ----------------------------------------------------------------------------------


def row_of_bars(count, length=1.0):
    """Cranks of 1 m in a row, joined by bars: all turn alike."""
    m = mbssa.Builder("planar").gravity(0.0, -GRAVITY)
    for k in range(count + 1):
        x = k * length
        m.body(f"crank {k}", inertia=BAR | {"centre": (x, 0.5)})
        driven = {"driven": True, "at_reference": {"angle": np.pi / 2}} if k == 0 else {}
        m.revolute("frame", f"crank {k}", id=f"foot {k}", point=(x, 0.0), **driven)
    for k in range(count):
        x = k * length
        m.body(f"bar {k}", inertia=BAR | {"centre": (x + length / 2, 1.0)})
        m.revolute(f"crank {k}", f"bar {k}", point=(x, 1.0))
        m.revolute(f"bar {k}", f"crank {k + 1}", point=(x + length, 1.0))
    return m.build()


def bars_truth(count, rate, duration):
    inertia, weight = (count + 1) / 3 + count, GRAVITY * ((count + 1) / 2 + count)
    return energy_truth(
        lambda _: inertia, lambda _: 0.0, lambda q: -weight * np.cos(q), np.pi / 2, rate, duration
    )


def parallelogram(seed):
    random = np.random.default_rng(seed)
    return random.uniform(0.4, 3.0), random.choice([-1, 1]) * random.uniform(0.5, 4.0)


def goes_on_as_one(count, length, rate, duration, compiled):
    run = groups.simulate(
        row_of_bars(count, length), duration, rates={"foot 0.angle": rate}, tolerance=1e-9, steps=3,
        compiled=compiled,
    )  # fmt: skip
    assert run.status == "finished"
    assert run.coordinates["foot 0.angle"][-1] == pytest.approx(bars_truth(count, rate, duration), abs=1e-5)


@pytest.mark.parametrize("seed", range(QUICK))
def test_parallelograms_go_through_flat_poses(seed):
    goes_on_as_one(1, *parallelogram(seed), 3.0, compiled=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(QUICK, MANY // 2))
def test_a_hundred_parallelograms(seed):
    goes_on_as_one(1, *parallelogram(seed), 3.0, compiled=seed % 5 > 0)


@pytest.mark.parametrize(("count", "duration"), [(2, 10.0), (8, 5.0)])
def test_a_row_of_four_bars_moves_as_one(count, duration):
    """IFToMM's benchmark A02."""
    goes_on_as_one(count, 1.0, -1.0, duration, compiled=True)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 8, 40])
def test_a_long_row_for_ten_seconds(count):
    goes_on_as_one(count, 1.0, -1.0, 10.0, compiled=True)


# --- slider-cranks -----------------------------------------------------------------------------------


def slider_crank(start):
    """Crank and rod of 1 m: at a right angle of the crank the slider is over its pivot."""
    c, s = math.cos(start), math.sin(start)
    m = mbssa.Builder("planar").gravity(0.0, -GRAVITY)
    m.body("crank", inertia={"mass": 1.0, "centre": (c / 2, s / 2), "moment": 0.08})
    m.body("rod", inertia={"mass": 1.0, "centre": (1.5 * c, s / 2), "moment": 0.08})
    m.body("slider", inertia={"mass": 0.5, "centre": (2 * c, 0.0)})
    m.revolute("frame", "crank", id="A", point=(0, 0), driven=True, at_reference={"angle": start})
    m.revolute("crank", "rod", point=(c, s)).revolute("rod", "slider", point=(2 * c, 0))
    return m.prismatic("frame", "slider", id="P", point=(2 * c, 0), axis=(1, 0)).build()


def slider_truth(start, rate, duration):
    return energy_truth(
        lambda q: 0.41 + 2.25 * np.sin(q) ** 2 + 0.25 * np.cos(q) ** 2 + 2 * np.sin(q) ** 2,
        lambda q: 8.0 * np.sin(q) * np.cos(q),
        lambda q: -GRAVITY * np.cos(q), start, rate, duration,
    )  # fmt: skip


def slides_on(start, rate, compiled):
    run = groups.simulate(
        slider_crank(start), 1.0, rates={"A.angle": rate}, tolerance=1e-9, steps=3, compiled=compiled
    )
    assert run.status == "finished"
    angle = run.coordinates["A.angle"]
    assert angle[-1] == pytest.approx(slider_truth(start, rate, 1.0), abs=1e-5)
    slide = run.trajectory.body("slider").point((2 * math.cos(start), 0.0))[:, 0]
    np.testing.assert_allclose(slide, 2 * np.cos(angle), atol=1e-8)
    return run


@pytest.mark.parametrize("rate", range(3, 13))
def test_slider_cranks_of_equal_bars_slide_on(rate):
    run = slides_on(0.6435011087932844, float(rate), compiled=True)
    assert any("singular position" in note for note in run.notes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(MANY // 2))
def test_a_hundred_slider_cranks(seed):
    random = np.random.default_rng(seed)
    slides_on(random.uniform(0.2, 1.3), random.choice([-1, 1]) * random.uniform(3, 12), seed % 5 > 0)


# --- rhombi, near misses, folds ----------------------------------------------------------------------


def four_bar(B, C, D, driven="A"):
    points = {"A": np.zeros(2), "B": np.array(B), "C": np.array(C), "D": np.array(D)}
    m = mbssa.Builder("planar").gravity(0.0, -GRAVITY)
    for name, (p, q) in {"crank": "AB", "bar": "BC", "rocker": "CD"}.items():
        m.body(name, inertia=BAR | {"centre": tuple((points[p] + points[q]) / 2)})
    ends = {"A": ("frame", "crank"), "B": ("crank", "bar"), "C": ("bar", "rocker"), "D": ("frame", "rocker")}
    for joint, bodies in ends.items():
        m.revolute(*bodies, id=joint, point=tuple(points[joint].tolist()), driven=joint == driven)
    return m.build()


@pytest.mark.parametrize("rate", [-1.0, -2.0, -3.0, -4.0])
def test_a_rhombus_stays_a_rhombus(rate):
    run = groups.simulate(
        four_bar((0.0, 1.0), (1.0, 1.0), (1.0, 0.0)), 1.0, rates={"A.angle": rate}, tolerance=1e-9, steps=3
    )
    assert run.status == "finished"
    angle = run.coordinates["A.angle"][-1] - run.coordinates["A.angle"][0] + np.pi / 2
    assert angle == pytest.approx(bars_truth(1, rate, 1.0), abs=1e-5)


def test_multipliers_end_before_a_flat_pose_by_its_name():
    rhombus = four_bar((0.0, 1.0), (1.0, 1.0), (1.0, 0.0))
    run = groups.simulate(
        rhombus, 1.0, method="lagrange", rates={"A.angle": -1.0}, most_steps=60, compiled=False
    )
    assert "just before a singular position" in run.status
    assert 0.6 < run.time[-1] < 0.8


@pytest.mark.parametrize("more", [1e-2, 1e-4, 1e-6, -1e-3, -1e-5])
def test_a_near_miss_is_no_passage(more):
    """A rocker of 1 m and a little more: near the flat pose it turns round fast instead of passing."""
    B, D, r = np.array([0.0, 1.0]), np.array([1.0, 0.0]), 1.0 + more
    x = D - B
    q = np.linalg.norm(x)
    turn = math.atan2(x[1], x[0]) + math.acos((1 + q * q - r * r) / (2 * q))
    mechanism = four_bar(B, B + np.array([math.cos(turn), math.sin(turn)]), D)
    run = {"rates": {"A.angle": -2.2}, "steps": 3}
    fine = groups.simulate(mechanism, 0.6, tolerance=1e-10, largest_step=3e-4, **run)
    for tolerance in (1e-5, 1e-7):
        found = groups.simulate(mechanism, 0.6, tolerance=tolerance, **run)
        assert found.status == "finished"
        away = found.trajectory.position[-1] - fine.trajectory.position[-1]
        assert np.abs(away).max() < max(1e-3, 100 * tolerance)


def test_a_driven_rocker_turns_back():
    """The motion is the same by either driven joint, though neither can lead over its dead points."""
    ends = {}
    for driven in "AD":
        run = groups.simulate(
            four_bar((0.5, 0.7), (1.2, 0.9), (1.3, 0.0), driven), 4.0, tolerance=1e-9, steps=3
        )
        assert run.status == "finished"
        ends[driven] = run.trajectory.position[-1]
    np.testing.assert_allclose(ends["A"], ends["D"], atol=1e-5)


# --- published values, conservation ------------------------------------------------------------------


def test_andrews_squeezer_ends_where_the_test_set_says():
    """IVP test set: the crank's angle after 0.03 s, rad."""
    for compiled in (False, True):
        run = groups.simulate(mbssa.load("andrews"), 0.03, steps=2, tolerance=1e-10, compiled=compiled)
        assert run.coordinates["1-2.angle"][-1] == pytest.approx(15.81077119629904, abs=1e-6)


@pytest.mark.parametrize("method", ["groups", "partitioning", "lagrange"])
def test_redundant_linkages_by_each_method(method):
    """Six bars in a plane-symmetric loop (IFToMM's A04): each method by its own treatment of redundancy."""
    bricard = with_masses(mbssa.load("bricard"))
    bricard = dataclasses.replace(bricard, gravity=(0.0, 0.0, -GRAVITY))
    run = groups.simulate(bricard, 0.4, method=method, steps=3, tolerance=1e-8)
    right = groups.simulate(bricard, 0.4, steps=3, tolerance=1e-10, compiled=False)
    assert run.ok
    assert np.ptp(run.kinetic_energy) > 1e-3
    np.testing.assert_allclose(run.trajectory.position, right.trajectory.position, atol=1e-6)


@pytest.mark.parametrize("integrator", ["RK45", "RK23", "Radau", "BDF", "LSODA"])
def test_each_integrator_ends_where_the_others_do(integrator):
    start, rate = 0.6435011087932844, 1.0
    run = {"rates": {"A.angle": rate}, "steps": 2, "compiled": False}
    found = groups.simulate(slider_crank(start), 0.3, integrator=integrator, tolerance=1e-6, **run)
    assert found.ok
    assert found.coordinates["A.angle"][-1] == pytest.approx(
        slider_truth(0.6435011087932844, rate, 0.3), abs=1e-4
    )


@pytest.mark.parametrize("seed", range(3))
def test_random_chains_in_space_keep_energy_and_momentum(seed):
    """Three bodies on ball joints and hinges, without weight; the moment about the first joint is its own."""
    random = np.random.default_rng(seed)
    m = mbssa.Builder("spatial")
    points = np.cumsum(random.uniform(0.2, 0.6, (4, 3)), axis=0)
    names = ["frame", "a", "b", "c"]
    for k, name in enumerate(names[1:]):
        centre = (points[k] + points[k + 1]) / 2
        m.body(name, inertia={"mass": random.uniform(0.5, 2), "centre": tuple(centre),
                              "moments": tuple(0.05 + random.uniform(0, 0.02, 3))})  # fmt: skip
    m.spherical("frame", "a", point=tuple(points[0]))
    for k in (1, 2):
        axis = random.normal(size=3)
        m.revolute(names[k], names[k + 1], point=tuple(points[k]), axis=tuple(axis))
    chain = m.build()
    names = [*(f"1-2.angle_{k}" for k in "xyz"), "2-3.angle", "3-4.angle"]
    rates = dict(zip(names, random.normal(size=5).tolist(), strict=True))
    run = groups.simulate(chain, 1.0, rates=rates, tolerance=1e-10, steps=9)
    assert run.ok
    assert np.ptp(run.kinetic_energy) < 1e-7 * run.kinetic_energy[0]
    moment = angular_momentum(chain, run.trajectory, points[0])
    np.testing.assert_allclose(moment, moment[:1].repeat(9, axis=0), atol=1e-7)


def angular_momentum(mechanism, trajectory, about):
    """(T, 3) kg m²/s about a point that stands still."""
    found = np.zeros((len(trajectory.time), 3))
    for b, geometry in mechanism.body_geometry.items():
        if geometry.inertia is None:
            continue
        body = trajectory.body(mechanism.body_name(b))
        centre = np.array(geometry.inertia.centre)
        place = body.point(tuple(centre))
        w, x, y, z = trajectory.orientation[:, b].T
        R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                      [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                      [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip
        R = R.transpose(2, 0, 1)
        linear, spin = trajectory.velocity[:, b, :3], trajectory.velocity[:, b, 3:]
        velocity = linear + np.cross(spin, place - trajectory.position[:, b])
        own = (R @ geometry.inertia.matrix @ R.transpose(0, 2, 1) @ spin[:, :, None])[:, :, 0]
        found += geometry.inertia.mass * np.cross(place - about, velocity) + own
    return found
