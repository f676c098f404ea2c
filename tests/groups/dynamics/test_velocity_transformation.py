"""Velocity transformation and mass matrix at a state: branch, turns, failures, and what is conserved."""

import dataclasses

import numpy as np
import pytest
from dense_forces import with_masses

import groups
import mbssa
from groups.dynamics.forward.loads import Loads
from groups.dynamics.forward.minimal import Minimal
from groups.dynamics.forward.velocity_transformation import VelocityTransformation
from groups.dynamics.masses import masses
from groups.dynamics.state import State
from groups.motion import Motion
from groups.posed import in_modes
from groups.status import NOT_CONVERGED, OUT_OF_REACH
from mbssa.input_search.query import with_inputs

NAMES = ["planar_four_bar", "andrews", "planar_3rrr", "quick_return", "rssr", "stewart", "rotor"]


def built(name):
    return groups.build(mbssa.decompose(mbssa.load(name)))


def states(model, far, count=3):
    """Values and rates near the reference, over the size."""
    rng = np.random.default_rng(3)
    value = np.array(list(model.reference_inputs.values()))
    unit = np.array([model.frames.size if "slide" in name else 1.0 for name in model.reference_inputs])
    return [(value + far * unit * rng.uniform(-1, 1, len(value)), unit * rng.normal(size=len(value)))
            for _ in range(count)]  # fmt: skip


def solved(model, value, rate, second):
    """The bodies by ``Model.solve`` on the straight way from the reference."""
    start, share = np.array(list(model.reference_inputs.values())), np.linspace(0.0, 1.0, 60)
    way = start[:, None] + np.outer(value - start, share)
    rates = np.repeat(np.array([rate, second])[:, :, None], 60, axis=2)
    return model.solve(Motion(share, tuple(model.reference_inputs), way, *rates), compiled=False)


@pytest.mark.parametrize("name", NAMES)
def test_the_bodies_are_those_of_a_motion(name):
    """Place, velocity R u' and acceleration R u'' + bias, from the reference in one step."""
    model = built(name)
    bodies = VelocityTransformation(model, False)
    for value, rate in states(model, 0.1):
        second = rate[::-1].copy()
        assert bodies.to(value, rate), bodies.failed
        right = solved(model, value, rate, second)
        assert right.ok
        velocity = bodies.velocity[..., 1:] @ rate
        acceleration = bodies.acceleration[..., 0] + bodies.velocity[..., 1:] @ second
        for mine, other in (
            (bodies.position[..., 0], right.position),
            (bodies.orientation[..., 0], right.orientation),
            (bodies.velocity[..., 0], right.velocity),
            (velocity, right.velocity),
            (acceleration, right.acceleration),
        ):
            np.testing.assert_allclose(mine, other[-1], atol=1e-8 * max(1.0, np.abs(other[-1]).max()))


@pytest.mark.parametrize("name", ["planar_four_bar", "andrews", "quick_return"])
def test_a_long_step_is_many_short_ones(name):
    """The same branch, and the same turns of every body, forwards and back."""
    model = built(name)
    long, short = VelocityTransformation(model, False), VelocityTransformation(model, False)
    start, still = np.array(list(model.reference_inputs.values())), np.zeros(1)
    for way in (0.8, 4.0, -9.0):
        for share in np.linspace(0.0, 1.0, 200):
            assert short.to(start + share * way, still)
            short.accept()
        assert long.to(start + way, still)
        np.testing.assert_allclose(long.position, short.position, atol=1e-9)
        np.testing.assert_allclose(long.orientation, short.orientation, atol=1e-9)
        assert short.to(start, still)
        short.accept()
        np.testing.assert_allclose(short.orientation[..., 0], model.reference.angle, atol=1e-9)


def test_quaternions_continue_in_sign():
    model = built("rssr")
    bodies = VelocityTransformation(model, False)
    start, last = np.array(list(model.reference_inputs.values())), None
    for angle in np.linspace(0.0, 4 * np.pi, 300):
        assert bodies.to(start + angle, np.zeros(1))
        bodies.accept()
        now = bodies.orientation[..., 0].copy()
        assert last is None or ((now * last).sum(axis=1) > 0.9).all()
        last = now


def test_a_failed_step_says_why_and_changes_nothing():
    """A four-bar that its rocker drives beyond the reach of its crank."""
    model = groups.build(mbssa.decompose(with_inputs(mbssa.load("planar_four_bar"), ["1-4.angle"])))
    bodies = VelocityTransformation(model, False)
    start, still = np.array(list(model.reference_inputs.values())), np.zeros(1)
    assert bodies.to(start, still)
    before = bodies.position.copy()
    for way, status in ((-0.5, OUT_OF_REACH), (2.0, OUT_OF_REACH), (1e6, NOT_CONVERGED)):
        assert not bodies.to(start + way, still)
        assert status in bodies.failed
    assert bodies.to(start, still)
    assert not bodies.failed.any()
    np.testing.assert_allclose(bodies.position, before, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_mass_matrix_gives_the_kinetic_energy_and_its_derivative(name):
    """T = ½ u'ᵀ M u', and u'ᵀ (M u'' - f) = T' less the power of the weights."""
    mechanism = with_masses(mbssa.load(name))
    model = groups.build(mbssa.decompose(mechanism))
    value, rate = states(model, 0.1, 1)[0]
    equations = Minimal(model, Loads(mechanism, model.frames, {}, False), value, rate, {}, False)
    second = rate[::-1].copy()
    M, f = (array.copy() for array in equations.balance(0.0, equations.start))
    np.testing.assert_allclose(M, M.T, atol=1e-12 * np.abs(M).max())
    right = solved(model, value, rate, second).instants(slice(-1, None))
    energy = masses(State.of(dataclasses.replace(right, mechanism=mechanism)))[1]
    assert 0.5 * rate @ M @ rate == pytest.approx(energy.kinetic[0], rel=1e-9)
    power = rate @ (M @ second - f)
    scale = abs(energy.kinetic_power[0]) + abs(energy.gravity_power[0]) + 1e-3 * energy.kinetic[0]
    assert power == pytest.approx(energy.kinetic_power[0] - energy.gravity_power[0], abs=1e-8 * scale)


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
