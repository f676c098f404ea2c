"""Bodies and mass matrix at a state: branch, turns, failures, and what is conserved."""

import dataclasses

import numpy as np
import pytest
from dense_forces import with_masses

import groups
import mbssa
from groups.assembly_modes import in_modes
from groups.dynamics.forward.trees import Trees
from groups.dynamics.state import State, masses
from groups.motion import Motion
from mbssa.input_search.query import with_inputs

NAMES = ["planar_four_bar", "andrews", "planar_3rrr", "quick_return", "rssr", "stewart", "rotor"]


def states(model, far, count=3):
    """Values and rates near the reference, over the size."""
    rng = np.random.default_rng(3)
    value = np.array(list(model.reference_inputs.values()))
    unit = np.array([model.frames.size if "slide" in name else 1.0 for name in model.reference_inputs])
    return [(value + far * unit * rng.uniform(-1, 1, len(value)), unit * rng.normal(size=len(value)))
            for _ in range(count)]  # fmt: skip


def begun(model, value, rate=None):
    found = Trees(model, {}, {}, "DOP853", 1e-12, compiled=False, whole=False)
    found.begin(0.0, value, 0.0 * value if rate is None else rate)
    return found


def solved(model, value, rate, second):
    """The bodies by ``Model.solve`` on the straight way from the reference."""
    start, share = np.array(list(model.reference_inputs.values())), np.linspace(0.0, 1.0, 60)
    way = start[:, None] + np.outer(value - start, share)
    rates = np.repeat(np.array([rate, second])[:, :, None], 60, axis=2)
    return model.solve(Motion(share, tuple(model.reference_inputs), way, *rates), compiled=False)


@pytest.mark.parametrize("name", NAMES)
def test_the_bodies_are_those_of_a_motion(name):
    """Place, velocity and acceleration, at values and rates of the driven coordinates."""
    model = groups.build(mbssa.decompose(with_masses(mbssa.load(name))))
    for value, rate in states(model, 0.1):
        trees = begun(model, value, rate)
        mine = trees.instant(0.0, trees.start)
        second = trees.rate(0.0, trees.start)[trees.traced.n :][: len(value)]
        right = solved(model, value, rate, second)
        assert right.ok
        for part in ("position", "orientation", "velocity", "acceleration"):
            other = getattr(right, part)[-1]
            found = getattr(mine, part)[0]
            if part == "orientation" and found.ndim == 2:
                found = found * np.where((found * other).sum(axis=1) < 0, -1.0, 1.0)[:, None]
            np.testing.assert_allclose(found, other, atol=1e-8 * max(1.0, np.abs(other).max()))


@pytest.mark.parametrize("name", ["planar_four_bar", "andrews", "quick_return"])
def test_a_long_way_is_that_of_a_motion(name):
    """The same branch, and the same turns of every body, forwards and back."""
    model = groups.build(mbssa.decompose(with_masses(mbssa.load(name))))
    start = np.array(list(model.reference_inputs.values()))
    for way in (0.8, 4.0, -9.0):
        trees = begun(model, start + way)
        share, still = np.linspace(0.0, 1.0, 400), np.zeros((1, 400))
        turned = start[:, None] + way * share
        right = model.solve(Motion(share, tuple(model.reference_inputs), turned, still, still))
        mine = trees.instant(0.0, trees.start)
        np.testing.assert_allclose(mine.position[0], right.position[-1], atol=1e-9)
        np.testing.assert_allclose(mine.orientation[0], right.orientation[-1], atol=1e-9)


def test_a_pose_out_of_reach_says_why():
    """A four-bar that its rocker drives beyond the reach of its crank."""
    mechanism = with_masses(with_inputs(mbssa.load("planar_four_bar"), ["1-4.angle"]))
    for way in (-0.5, 2.0):
        start = float(groups.build(mbssa.decompose(mechanism)).reference_inputs["1-4.angle"])
        with pytest.raises(ValueError, match=r"initial values: .*coupler.*: out of reach; begin nearer"):
            groups.simulate(mechanism, initial={"1-4.angle": start + way}, compiled=False)


@pytest.mark.parametrize("name", NAMES)
def test_the_mass_matrix_gives_the_kinetic_energy_and_its_derivative(name):
    """T = ½ u'ᵀ M u', and u'ᵀ (M u'' - f) = T' less the power of the weights."""
    mechanism = with_masses(mbssa.load(name))
    model = groups.build(mbssa.decompose(mechanism))
    value, rate = states(model, 0.1, 1)[0]
    second = rate[::-1].copy()
    M, f = begun(model, value).balance(value, rate)
    np.testing.assert_allclose(M, M.T, atol=1e-12 * np.abs(M).max())
    right = solved(model, value, rate, second).instants(slice(-1, None))
    energies = masses(State.of(dataclasses.replace(right, mechanism=mechanism)))[1]
    (kinetic,), (change,), (weight,) = energies
    assert 0.5 * rate @ M @ rate == pytest.approx(kinetic, rel=1e-9)
    power = rate @ (M @ second - f)
    scale = abs(change) + abs(weight) + 1e-3 * kinetic
    assert power == pytest.approx(change - weight, abs=1e-8 * scale)


def test_a_run_begins_in_the_mode_of_its_model():
    mechanism = with_masses(mbssa.load("planar_four_bar"))
    model = groups.build(mbssa.decompose(mechanism))
    other = in_modes(model, {2: 3 - groups.modes(model, 2).reference})
    first, second = (groups.simulate(of, 0.05, steps=3, compiled=False) for of in (model, other))
    assert first.ok
    assert second.ok
    assert np.abs(first.trajectory.position[0] - second.trajectory.position[0]).max() > 0.1
    np.testing.assert_allclose(
        second.trajectory.position[0, :, :2], other.reference.position[:, :2], atol=1e-9
    )


def test_a_group_of_the_global_approach_runs_in_relative_coordinates():
    structure = mbssa.decompose(with_masses(mbssa.load("slider_crank")))
    run = {"rates": {"1-2.angle": 3.0}, "steps": 3, "compiled": False}
    right = groups.simulate(groups.build(structure), 0.05, **run)
    found = groups.simulate(groups.build(structure, {2: "global dense"}), 0.05, **run)
    np.testing.assert_array_equal(found.trajectory.position, right.trajectory.position)
    assert any("SG-2: solved in relative coordinates" in note for note in found.notes)


def test_a_contact_ends_with_its_profile():
    """Teeth that part: the run fails there, as a motion does."""
    mechanism = with_masses(mbssa.load("involute_teeth"))
    model = groups.build(mbssa.decompose(mechanism))
    found = groups.simulate(
        model, 0.5, rates={mechanism.driven_coordinates[0]: 5.0}, steps=21, compiled=False
    )
    assert found.status.startswith("failed")
    assert 0.05 < found.time[-1] < 0.2


def test_users_functions_are_called_and_their_faults_end_the_run():
    """A rod as a function that cannot be traced: the motion of the rod itself."""
    inertia = {"mass": 1.0, "centre": [0.1, 0.0], "moment": 0.01}

    def crank_slider(joint):
        builder = {
            "format": 1, "space": "planar", "gravity": [0.0, -9.81],
            "body": [
                {"name": "crank", "origin": [0.1, 0.0], "inertia": inertia},
                {"name": "ram", "origin": [0.4, 0.0]},
            ],
            "joint": [
                {"bodies": ["frame", "crank"], "type": "R", "driven": ["angle"], "point": [0.0, 0.0]},
                {"bodies": ["frame", "ram"], "type": "P", "point": [0.4, 0.0], "axis": [1.0, 0.0]},
                {"bodies": ["crank", "ram"], "id": "rod"} | joint,
            ],
        }  # fmt: skip
        run = {"rates": {"1-2.angle": 2.0}, "steps": 5, "compiled": False}
        return groups.simulate(mbssa.load(builder), 0.4, **run)

    def rod(q):
        return np.sqrt((q[1, 0] - q[0, 0]) ** 2 + (q[1, 1] - q[0, 1]) ** 2) - 0.3

    def late(q):
        if q[0, 0].real < 0.09:
            raise RuntimeError("behind the wall")
        return rod(q) + {0.1: 0.0}.get(q[0, 0], 0.0)

    user = {"type": "USER", "unit": "m"}
    right = crank_slider({"type": "ROD", "points": [[0.1, 0.0], [0.4, 0.0]]})
    found = crank_slider(user | {"function": lambda q: rod(q) + {0.1: 0.0}.get(q[0, 0], 0.0)})
    np.testing.assert_allclose(found.trajectory.position, right.trajectory.position, atol=1e-8)
    with pytest.raises(ValueError, match=r"joint rod: .*late: RuntimeError: behind the wall"):
        crank_slider(user | {"function": late})


@pytest.mark.parametrize(
    "name", [*NAMES, "cam_roller", "planetary", "universal_shafts", "bricard", "suspension"]
)
def test_both_lives_agree(name):
    """Rates of a state in Python and in machine code, which calls no library."""
    model = groups.build(mbssa.decompose(with_masses(mbssa.load(name))))
    value = np.array(list(model.reference_inputs.values()))
    rates = []
    for compiled in (False, True):
        trees = Trees(model, {}, {}, "DOP853", 1e-12, compiled=compiled, whole=False)
        trees.begin(0.0, value, np.full(len(value), 0.3))
        rates.append(trees.rate(0.0, trees.start))
    np.testing.assert_allclose(*rates, atol=1e-11 * np.abs(rates[0]).max())
    declared = [line for line in trees.code.script.text.splitlines() if line.startswith("declare")]
    assert all("@llvm." in line for line in declared)
