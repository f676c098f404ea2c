"""Force elements: every type against the potential or the work that it stands for."""

import numpy as np
import pytest

import groups
import mbssa
from groups.dynamics.equilibrium import balance


def bar(**force):
    """A four-bar linkage with one force element and no mass, away from its reference."""
    m = mbssa.Builder("planar").bodies("crank", "coupler", "rocker")
    m.revolute("frame", "crank", point=(0, 0), driven=True).revolute("crank", "coupler", point=(0.06, 0.08))
    m.revolute("coupler", "rocker", point=(0.34, 0.22)).revolute("frame", "rocker", point=(0.4, 0))
    m.motion({"1-2.angle": {"law": "harmonic", "amplitude": 0.6, "frequency": 1.0}}, steps=2001)
    return m.force(**force).build()


def spatial(**force):
    m = (
        mbssa.Builder("spatial")
        .body("arm")
        .revolute("frame", "arm", point=(0, 0, 0), axis=(1, 2, 2), driven=True)
    )
    m.motion({"1-2.angle": {"law": "harmonic", "amplitude": 0.6, "frequency": 1.0}}, steps=2001)
    return m.force(**force).build()


def solved(mechanism):
    trajectory = groups.build(mbssa.decompose(mechanism)).solve()
    assert trajectory.ok
    return trajectory, groups.forces(trajectory)


def rate_of(values, time):
    """Derivative of fourth order at the inner instants."""
    step = time[1] - time[0]
    return (values[:-4] - 8 * values[1:-3] + 8 * values[3:-1] - values[4:]) / (12 * step)


def test_a_spring_gives_back_its_energy_and_a_damper_takes():
    points = [(0.3, 0.3), (0.2, -0.1)]
    mechanism = bar(
        type="spring", bodies=["coupler", "frame"], points=points, stiffness=300, damping=7, rest=0.3, force=4
    )
    trajectory, forces = solved(mechanism)
    length = np.linalg.norm(trajectory.body("coupler").point(points[0]) - points[1], axis=1)
    rate = rate_of(length, trajectory.time)
    energy = rate_of(0.5 * 300 * (length - 0.3) ** 2 - 4 * length, trajectory.time)
    inner = forces.element_power["spring 1"][2:-2]
    np.testing.assert_allclose(inner, -energy - 7 * rate**2, atol=1e-6 * np.abs(inner).max())
    # Nothing has mass: the drive gives what the element takes.
    np.testing.assert_allclose(forces.drive_power[:, 0], -forces.element_power["spring 1"], atol=1e-12)


def test_a_spring_is_at_rest_at_the_reference_if_nothing_else_is_said():
    points = [(0.3, 0.3), (0.2, -0.1)]
    mechanism = bar(type="spring", bodies=["coupler", "frame"], points=points, stiffness=300)
    _, forces = solved(mechanism)
    assert forces.driving[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert abs(forces.driving[250, 0]) > 0.1


def test_a_spring_and_damper_on_a_coordinate():
    mechanism = bar(type="coordinate", coordinate="1-4.angle", stiffness=5, damping=0.2, rest=0.1, force=0.7)
    trajectory, forces = solved(mechanism)
    angle = trajectory.joint("1-4")["angle"]
    torque = 0.7 - 5 * (angle.value - 0.1) - 0.2 * angle.rate
    np.testing.assert_allclose(forces.element_power["coordinate 1"], torque * angle.rate, atol=1e-12)
    np.testing.assert_allclose(forces.drive_power[:, 0], -torque * angle.rate, atol=1e-12)


def test_a_coordinate_at_rest_at_the_reference():
    m = mbssa.Builder("planar", angle="deg").body("arm")
    m.revolute("frame", "arm", point=(0, 0), driven=True, at_reference={"angle": 30})
    m.force("coordinate", coordinate="1-2.angle", stiffness=2.0)
    mechanism = m.motion({"1-2.angle": {"law": "speed", "rate": 90}}, steps=2).build()
    _, forces = solved(mechanism)
    np.testing.assert_allclose(forces.driving[:, 0], [0.0, 2.0 * 90], atol=1e-9)  # N m/deg


@pytest.mark.parametrize("axes", ["world", "body"])
def test_a_force_at_a_point_does_the_work_of_its_path(axes):
    given = {"force": (3.0, -2.0, 5.0), "moment": (0.3, 0.1, -0.2)}
    mechanism = spatial(type="point", bodies=["arm"], point=(0.2, 0.3, -0.1), axes=axes, **given)
    trajectory, forces = solved(mechanism)
    arm = trajectory.body("arm")
    turn = arm.rotation if axes == "body" else np.tile(np.eye(3), (len(trajectory.time), 1, 1))
    path = rate_of(arm.point([0.2, 0.3, -0.1]), trajectory.time)
    power = np.einsum("ta,ta->t", (turn @ given["force"])[2:-2], path)
    power += np.einsum("ta,ta->t", turn @ given["moment"], arm.velocity[:, 3:])[2:-2]
    inner = forces.element_power["point 1"][2:-2]
    np.testing.assert_allclose(inner, power, atol=1e-7 * np.abs(power).max())
    np.testing.assert_allclose(forces.balance, 0.0, atol=1e-12)


def test_a_planar_force_and_moment_at_a_point():
    mechanism = bar(type="point", bodies=["rocker"], point=(0.4, 0.1), force=(2.0, 0.0), moment=0.3)
    _, forces = solved(mechanism)
    # Of what acts from outside the frame receives all: the linkage has no mass.
    np.testing.assert_allclose(forces.shaking_force, [[2.0, 0.0]] * 2001, atol=1e-12)
    assert forces.shaking_moment[0] == pytest.approx(0.3 - 0.1 * 2.0, abs=1e-12)


# --- the balance of one block ------------------------------------------------------------------------


def test_instants_that_lose_rank_are_singular_and_no_others():
    random = np.random.default_rng(0)
    matrix, loads = random.normal(size=(6, 3, 3)), random.normal(size=(6, 3, 1))
    matrix[2, :, 2] = matrix[2, :, 0] + matrix[2, :, 1]
    matrix[4] = np.nan
    found = balance(matrix, loads)
    assert found.singular.tolist() == [False, False, True, False, False, False]
    assert np.isnan(found.multipliers[[2, 4]]).all()
    regular = [0, 1, 3, 5]
    np.testing.assert_allclose(matrix[regular] @ found.multipliers[regular], -loads[regular], atol=1e-12)


def test_redundant_equations_leave_self_stresses():
    random = np.random.default_rng(1)
    matrix, loads = random.normal(size=(4, 3, 5)), random.normal(size=(4, 3, 2))
    found = balance(matrix, loads)
    assert found.multipliers.shape == (4, 5, 4)
    product = matrix @ found.multipliers
    np.testing.assert_allclose(product[:, :, :2], -loads, atol=1e-12)
    np.testing.assert_allclose(product[:, :, 2:], 0.0, atol=1e-12)
    assert (np.linalg.matrix_rank(found.multipliers[:, :, 2:]) == 2).all()


def test_bodies_that_nothing_holds_are_counted():
    random = np.random.default_rng(2)
    thin = random.normal(size=(4, 3, 2))
    found = balance(thin @ random.normal(size=(4, 2, 3)), np.zeros((4, 3, 1)))
    assert found.deficient == 1
