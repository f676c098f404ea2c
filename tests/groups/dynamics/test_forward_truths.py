"""Forward dynamics against published motions, and against what is conserved."""

import dataclasses

import bond_graphs
import numpy as np
import pytest
from dense_forces import with_masses

import groups
import mbssa
from groups.dynamics.forward.lagrange import Lagrange
from mbssa.loads import Force

#: Angles of Andrews' squeezer as the IVP test set prints them, by index of the body (K3, K5, K7): at
#: t = 0.03 s, and at t = 0; and of the crank at t = 0.03 s, rad.
ANDREWS = {
    3: (0.0408222401307310, 0.455279819163070),
    5: (0.524409965880530, 0.487364979543843),
    7: (1.048080741042263, 1.230547444549821),
}
BETA = 15.81077119629904


@pytest.mark.parametrize(
    ("method", "tolerance", "close"),
    [("groups", 1e-9, 2e-7), pytest.param("lagrange", 1e-8, 5e-6, marks=pytest.mark.slow)],
)
def test_andrews_squeezer_ends_where_the_test_set_says(method, tolerance, close):
    found = groups.simulate(
        mbssa.load("andrews"), 0.03, method=method, tolerance=tolerance, steps=4, compiled=False
    )
    assert found.ok
    assert found.coordinates["1-2.angle"][-1] == pytest.approx(BETA, abs=close)
    for body, (last, first) in ANDREWS.items():
        turned = found.trajectory.orientation[:, body]
        assert turned[-1] - turned[0] == pytest.approx(last - first, abs=close)


@pytest.mark.parametrize(
    ("name", "method", "tolerance", "close"),
    [
        ("slider_crank", "lagrange", 1e-9, 1e-6),
        ("slider_crank_isostatic", "dae", 1e-7, 1e-5),
        pytest.param("slider_crank", "dae", 1e-7, 1e-5, marks=pytest.mark.slow),
        pytest.param("slider_crank", "penalty", 1e-6, 4e-3, marks=pytest.mark.slow),
        pytest.param("slider_crank_isostatic", "penalty", 1e-6, 4e-3, marks=pytest.mark.slow),
    ],
)
def test_methods_of_bond_graphs_on_the_slider_crank(name, method, tolerance, close):
    """Piston velocity against minimal coordinates: within 4e-3 m/s for R/C elements, as the paper has it."""
    if method == "dae":
        pytest.importorskip("sksundae")
    mechanism = bond_graphs.slider_crank(name)
    given = {"duration": 0.1, "steps": 6, "compiled": False}
    minimal = groups.simulate(mechanism, tolerance=1e-10, **given)
    other = groups.simulate(mechanism, method=method, tolerance=tolerance, **given)
    assert other.ok
    speed, reference = (found.trajectory.joint("1-4")["slide"].rate for found in (other, minimal))
    assert np.abs(reference).max() > 0.04
    np.testing.assert_allclose(speed, reference, atol=close)


@pytest.mark.parametrize(
    ("method", "tolerance", "close"),
    [
        ("lagrange", 1e-9, 1e-8),
        ("dae", 1e-8, 1e-6),
        pytest.param("penalty", 1e-7, 1e-4, marks=pytest.mark.slow),
    ],
)
def test_methods_of_bond_graphs_on_the_pendulum(method, tolerance, close):
    if method == "dae":
        pytest.importorskip("sksundae")
    mechanism = bond_graphs.pendulum()
    minimal = groups.simulate(mechanism, 0.5, tolerance=1e-10, steps=6, compiled=False)
    other = groups.simulate(
        mechanism, 0.5, method=method, tolerance=tolerance, steps=6, compiled=False, stiffness=1e6
    )
    np.testing.assert_allclose(other.coordinates["1-2.angle"], minimal.coordinates["1-2.angle"], atol=close)


def four_bars(count):
    """The planar N-four-bar benchmark: windows of unit rods of 1 kg, one freedom."""
    m = mbssa.Builder("planar", name=f"{count} windows").gravity(0.0, -9.81)
    rods = [f"rod{k}" for k in range(count + 1)]
    for k, rod in enumerate(rods):
        m.body(rod, inertia={"mass": 1.0, "centre": (float(k), 0.5), "moment": 1 / 12})
    for k in range(count):
        m.body(f"bar{k}", inertia={"mass": 1.0, "centre": (k + 0.5, 1.0), "moment": 1 / 12})
    for k, rod in enumerate(rods):
        m.revolute("frame", rod, point=(k, 0), driven=k == 0)
    for k in range(count):
        m.revolute(rods[k], f"bar{k}", point=(k, 1)).revolute(f"bar{k}", rods[k + 1], point=(k + 1, 1))
    return m.build()


def test_n_four_bars_keep_their_energy():
    """Parallel rods: all of them swing as one, which is a pendulum with the bars at its end."""
    found = groups.simulate(
        four_bars(5), 0.4, rates={"1-2.angle": -1.0}, tolerance=1e-11, steps=11, compiled=False
    )
    assert found.ok
    assert np.ptp(found.total_energy) < 1e-8
    q, w = found.coordinates["1-2.angle"], found.trajectory.joint("1-2")["angle"].rate
    inertia, fall = 6 * (1 / 3) + 5.0, (6 * 0.5 + 5.0) * 9.81
    np.testing.assert_allclose(0.5 * inertia * (w**2 - 1.0), fall * (1 - np.cos(q)), atol=1e-7)


@pytest.mark.parametrize(("method", "count"), [("groups", 3), ("partitioning", 1)])
def test_n_four_bars_pass_their_singular_positions(method, count):
    """Where all rods lie flat, each window could go on as an anti-parallelogram; speeds must not jump."""
    found = groups.simulate(
        four_bars(count),
        1.5,
        method=method,
        rates={"1-2.angle": -1.0},
        tolerance=1e-9,
        steps=31,
        compiled=False,
    )
    assert found.ok
    q, w = found.coordinates["1-2.angle"], found.trajectory.joint("1-2")["angle"].rate
    assert q[-1] < -1.5 * np.pi  # over two flat positions, at a quarter of a turn to each side
    inertia, fall = (count + 1) / 3 + count, ((count + 1) * 0.5 + count) * 9.81
    np.testing.assert_allclose(0.5 * inertia * (w**2 - 1.0), fall * (1 - np.cos(q)), atol=1e-4)
    assert found.position_error.max() < 1e-9
    assert sum("singular position" in note for note in found.notes) == 2


def governor():
    """A flyball governor: shaft, two arms with balls, two rods, a sleeve on a spring."""
    m = mbssa.Builder("spatial", name="governor").gravity(0, 0, -9.81)
    disc = {"mass": 2.0, "centre": (0, 0, 0.5), "moments": (0.1, 0.1, 0.05)}
    m.body("shaft", inertia=disc)
    m.body("sleeve", inertia={"mass": 1.0, "centre": (0, 0, 0.4), "moments": (0.01, 0.01, 0.01)})
    for side, x in (("left", -1.0), ("right", 1.0)):
        m.body(f"arm_{side}", inertia={
            "mass": 1.5, "centre": (0.4 * x, 0, 0.6), "moments": (0.004, 0.005, 0.006)})  # fmt: skip
        m.body(f"rod_{side}", inertia={
            "mass": 0.2, "centre": (0.15 * x, 0, 0.55), "moments": (0.001, 0.001, 0.001)})  # fmt: skip
    m.revolute("frame", "shaft", point=(0, 0, 0), axis=(0, 0, 1), driven=True)
    m.prismatic("shaft", "sleeve", point=(0, 0, 0.4), axis=(0, 0, 1), driven=True)
    for side, x in (("left", -1.0), ("right", 1.0)):
        m.revolute("shaft", f"arm_{side}", point=(0, 0, 1.0), axis=(0, 1, 0))
        m.revolute(f"arm_{side}", f"rod_{side}", point=(0.3 * x, 0, 0.7), axis=(0, 1, 0))
        m.revolute(f"rod_{side}", "sleeve", point=(0, 0, 0.4), axis=(0, 1, 0))
    m.force("spring", bodies=["shaft", "sleeve"], points=[(0, 0, 1.0), (0, 0, 0.4)], stiffness=800.0)
    return m.build()


def test_a_flyball_governor_keeps_energy_and_momentum():
    found = groups.simulate(
        governor(), 0.1, rates={"1-2.angle": 10.0}, tolerance=1e-9, steps=7, compiled=False
    )
    assert found.ok
    assert np.ptp(found.coordinates["2-3.slide"]) > 0.01
    assert np.ptp(found.total_energy) < 1e-6 * found.kinetic_energy.max()
    # Gravity is along the axis, and the hinge has no friction: the moment on the frame has no part along it.
    assert np.abs(found.forces.shaking_moment[:, 2]).max() < 1e-7 * np.abs(found.forces.shaking_force).max()


#: The spatial slider-crank of multibody benchmarks (Haug 1989, chapter 12): m, kg; a slender rod.
PIVOT, CRANK, ROD = np.array([0.0, 0.1, 0.12]), 0.08, 0.3
MASSES = {"crank": 0.12, "rod": 0.5, "slider": 2.0}
SPIN = 6.0


def spatial_slider_crank():
    """Crank about x, slider along x; the crank points up at the reference."""
    pin, end = PIVOT + np.array([0.0, 0.0, CRANK]), np.array([0.2, 0.0, 0.0])
    along = (end - pin) / ROD
    moment = MASSES["rod"] * ROD**2 / 12 * (np.eye(3) - np.outer(along, along))
    m = mbssa.Builder("spatial", name="spatial slider-crank").gravity(0, 0, -9.81)
    m.body("crank", inertia={"mass": MASSES["crank"], "centre": PIVOT, "moments": (1e-4, 1e-5, 1e-4)})
    m.body("rod", inertia={
        "mass": MASSES["rod"], "centre": (pin + end) / 2, "moments": np.diag(moment),
        "products": [moment[0, 1], moment[0, 2], moment[1, 2]]})  # fmt: skip
    m.body("slider", inertia={"mass": MASSES["slider"], "centre": end, "moments": (1e-4, 1e-4, 1e-4)})
    m.revolute("frame", "crank", point=PIVOT, axis=(1, 0, 0), driven=True)
    m.spherical("crank", "rod", point=pin)
    first = np.cross(along, [0.0, 0.0, 1.0])
    m.universal("rod", "slider", point=end, axes=[first, np.cross(along, first)])
    return m.prismatic("frame", "slider", point=end, axis=(1, 0, 0)).build()


def slider_crank_by_formula(times):
    """Angle of the crank and place of the slider, by Lagrange's equation of the one coordinate.

    A slender rod has the energy m/6 (u² + u v + v²) with the velocities u, v of its ends.
    """
    from scipy.integrate import solve_ivp

    m, M, h = MASSES["rod"], MASSES["slider"], 1e-4

    def ends(angle):
        pin = PIVOT + CRANK * np.array([0.0, -np.sin(angle), np.cos(angle)])
        return pin, np.array([pin[0] + np.sqrt(ROD**2 - pin[1] ** 2 - pin[2] ** 2), 0.0, 0.0])

    def inertia_and_height(angle):
        (pin, end), (back, ahead) = ends(angle), (ends(angle - 1e-5), ends(angle + 1e-5))
        u, v = ((b - a) / 2e-5 for a, b in zip(back, ahead, strict=True))
        inertia = 1e-4 + m / 3 * (u @ u + u @ v + v @ v) + M * v @ v
        return np.array([inertia, 9.81 * m * (pin[2] + end[2]) / 2])

    def rate(t, state):
        angle, speed = state
        inertia, _ = inertia_and_height(angle)
        slope, fall = (inertia_and_height(angle + h) - inertia_and_height(angle - h)) / (2 * h)
        return speed, -(0.5 * slope * speed**2 + fall) / inertia

    angle = solve_ivp(rate, (0.0, times[-1]), (0.0, SPIN), t_eval=times, rtol=1e-9, atol=1e-11).y[0]
    return angle, np.array([ends(one)[1][0] for one in angle])


@pytest.mark.parametrize(("method", "duration"), [("groups", 0.8), ("partitioning", 0.2), ("lagrange", 0.4)])
def test_the_spatial_slider_crank_moves_as_its_one_equation_says(method, duration):
    found = groups.simulate(
        spatial_slider_crank(), duration, method=method, rates={"1-2.angle": SPIN}, tolerance=1e-8, steps=6,
        compiled=False,
    )  # fmt: skip
    assert found.ok
    angle, place = slider_crank_by_formula(found.time)
    assert np.ptp(place) > 0.03
    np.testing.assert_allclose(found.coordinates["1-2.angle"], angle, atol=2e-5)
    slider = found.trajectory.body("slider").point((0.2, 0.0, 0.0))[:, 0]
    np.testing.assert_allclose(slider, place, atol=2e-6)
    assert np.ptp(found.total_energy) < 1e-5


def test_spatial_linkages_keep_their_energy():
    """Redundant constraints and passive rotations included."""
    for name in ("bricard", "rssr", "double_parallelogram"):
        mechanism = with_masses(mbssa.load(name))
        (driven,) = mechanism.driven_coordinates
        found = groups.simulate(mechanism, 0.1, rates={driven: 2.0}, tolerance=1e-10, steps=3, compiled=False)
        assert found.ok, name
        assert np.abs(found.balance).max() < 1e-7 * found.kinetic_energy.max(), name


def with_elements(name, coordinates):
    """Random masses, springs between bodies, and springs and dampers along coordinates."""
    mechanism = with_masses(mbssa.load(name))
    wide = 2 if mechanism.space == "planar" else 3
    forces = [
        Force("spring", "strut", (1, 0), points=((0.3,) * wide, (1.0, -0.5, 0.4)[:wide]), stiffness=50.0,
              damping=3.0, force=2.0),
    ]  # fmt: skip
    for name in coordinates:
        joint = mechanism.joint(name.rpartition(".")[0])
        bodies = tuple(body - 1 for body in joint.bodies)
        forces.append(
            Force("coordinate", name, bodies, coordinate=name, stiffness=20.0, damping=1.5, rest=0.1)
        )
    return dataclasses.replace(mechanism, forces=tuple(forces))


def test_elements_are_those_of_inverse_dynamics():
    for name, coordinates in {
        "planar_four_bar": ["2-3.angle"],
        "quick_return": ["1-6.slide"],
        "stewart": ["2-3.slide"],
        "spatial_4r": ["2-3.angle", "3-4.angle"],
    }.items():
        ids = mbssa.load(name).joint_ids
        wanted = [one for one in coordinates if one.rpartition(".")[0] in ids]
        found = groups.simulate(with_elements(name, wanted), 0.02, steps=3, compiled=False)
        scale = np.abs(np.nan_to_num(found.forces.shaking_force)).max()
        np.testing.assert_allclose(found.forces.driving, 0.0, atol=1e-9 * scale, err_msg=name)
        assert np.abs(found.balance).max() < 1e-6 * max(found.kinetic_energy.max(), 1.0), name


@pytest.mark.parametrize("name", ["planar_four_bar", "slider_crank_isostatic", "stewart"])
def test_reactions_by_groups_are_the_multipliers(name):
    """Along a run: group by group in reverse order, and all bodies at once with the drives released."""
    mechanism = with_masses(mbssa.load(name))
    structure = mbssa.decompose(mechanism)
    found = groups.simulate(structure, 0.02, steps=3, compiled=False)
    model = groups.build(structure)
    last = found.trajectory.instants(slice(-1, None))
    lagrange = Lagrange(model, {}, {}, last)
    at = lagrange.at(0.02, lagrange.start)
    multipliers = lagrange.solved(at)[2]
    joints = np.repeat(range(mechanism.n_joints), [len(j.type.pair.constraints) for j in mechanism.joints])
    wide, linear = (3, 2) if lagrange.traced.planar else (6, 3)
    for joint in mechanism.joints:
        body = joint.bodies[1] - 1
        if body == 0:
            continue
        mine = np.flatnonzero(joints == joint.index)
        load = -at.jacobian[mine].T @ multipliers[mine]
        force = load[(body - 1) * wide : (body - 1) * wide + linear]
        scale = np.abs(found.forces.shaking_force[-1]).max()
        np.testing.assert_allclose(found.forces.joint(joint.id).force[-1], force, atol=1e-8 * scale)


@pytest.mark.parametrize("method", ["groups", "lagrange"])
def test_the_smallest_pendulum_keeps_its_moment_of_inertia(method):
    """A speck of 1e-9 kg on an arm of 10 µm: moments of inertia of 1e-19 kg m² are no rounding."""
    mass, length = 1e-9, 1e-5
    m = mbssa.Builder("planar").gravity(0.0, -9.81).revolute("frame", "speck", point=(0, 0), driven=True)
    m.body("speck", inertia={"mass": mass, "centre": (0.0, -length), "moment": mass * length**2})
    mechanism, speed = m.build(), np.sqrt(9.81 / (2 * length))
    small = groups.linearise(mechanism)
    assert small.frequency == pytest.approx([speed / (2 * np.pi)], rel=1e-9)
    found = groups.simulate(
        mechanism, 5.0 / speed, initial={"1-2.angle": 1e-3}, method=method, compiled=False
    )
    np.testing.assert_allclose(found.coordinates["1-2.angle"], 1e-3 * np.cos(speed * found.time), atol=1e-8)


def test_a_body_that_turns_freely_keeps_its_energy_and_is_called_sound():
    """No load acts, and the terms of the power cancel but for rounding."""
    m = mbssa.Builder("spatial").joint("F", "frame", "wing_nut", point=(0, 0, 0), driven=True)
    m.body("wing_nut", inertia={"mass": 1.0, "centre": (0, 0, 0), "moments": (1.0, 2.0, 2.5)})
    rates = {"1-2.angle_y": 3.0, "1-2.angle_x": 0.01, "1-2.x": 1.0}
    found = groups.simulate(m.build(), 10.0, rates=rates, steps=101)
    assert found.status == "finished"
    assert np.ptp(found.kinetic_energy) < 1e-6


@pytest.mark.parametrize("method", ["lagrange", "dae"])
def test_a_body_without_constraints_flies_on(method):
    if method == "dae":
        pytest.importorskip("sksundae")
    m = mbssa.Builder("planar").body("puck", inertia={"mass": 1.0, "centre": (0, 0), "moment": 1.0})
    mechanism = m.joint("FP", "frame", "puck", point=(0, 0), driven=True).build()
    found = groups.simulate(mechanism, 1.0, rates={"1-2.x": 2.0, "1-2.angle": 3.0}, method=method, steps=3)
    assert found.status == "finished"
    np.testing.assert_allclose(found.coordinates["1-2.x"], [0.0, 1.0, 2.0], atol=1e-7)
