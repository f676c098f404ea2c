"""What can be asked of a solved motion: bodies, points, the spatial form, faults, and rotations."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import groups
import mbssa
from groups.rotations import quaternion_of, rotation_of
from groups.trajectory import STATUS, names_of_groups


def solved(name, steps=401, rate=1.0):
    mechanism = mbssa.load(name)
    model = groups.build(mbssa.decompose(mechanism))
    laws = {
        driven: groups.harmonic(0.05 * rate, 1.0, 0.0, value)
        for driven, value in model.reference_inputs.items()
    }
    return model.solve(groups.sample(mechanism, laws, np.linspace(0, 1, steps)))


@pytest.fixture(scope="module")
def four_bar():
    return solved("planar_four_bar")


@pytest.fixture(scope="module")
def rotor():
    return solved("rotor")


def keep(trajectory, bodies, levels=("velocity", "acceleration")):
    """The trajectory that a solver leaves that was asked to keep these body indices and levels."""
    kept = np.array(bodies)
    return replace(
        trajectory,
        kept=kept,
        position=trajectory.position[:, kept],
        orientation=trajectory.orientation[:, kept],
        velocity=trajectory.velocity[:, kept] if "velocity" in levels else None,
        acceleration=trajectory.acceleration[:, kept] if "acceleration" in levels else None,
    )


# --- bodies and points -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planar_four_bar", "rssr"])
def test_a_points_velocity_and_acceleration_are_the_differences_of_its_path(name):
    trajectory = solved(name, steps=2001)
    step = trajectory.time[1]
    at = (0.3, -0.2, 0.5)[: trajectory.position.shape[2]]
    for number in range(1, trajectory.mechanism.n_bodies + 1):
        body = trajectory.body(number)
        path, velocity, acceleration = body.point(at), body.point_velocity(at), body.point_acceleration(at)
        assert path.shape == velocity.shape == acceleration.shape == body.position.shape
        slope = (path[2:] - path[:-2]) / (2 * step)
        curve = (path[2:] - 2 * path[1:-1] + path[:-2]) / step**2
        size = max(1.0, np.abs(acceleration).max())
        assert np.abs(slope - velocity[1:-1]).max() < 1e-4 * size
        assert np.abs(curve - acceleration[1:-1]).max() < 1e-3 * size


def test_a_joints_point_moves_alike_on_both_bodies(rotor):
    """On the axis of a revolute pair both bodies agree on path, velocity and acceleration."""
    found = 0
    for joint in rotor.mechanism.joints:
        if joint.type.code not in ("R", "S", "U"):
            continue
        a, b = (rotor.body(number) for number in joint.bodies)
        point = joint.geometry.point
        assert np.abs(a.point(point) - b.point(point)).max() < 1e-11
        assert np.abs(a.point_velocity(point) - b.point_velocity(point)).max() < 1e-9
        assert np.abs(a.point_acceleration(point) - b.point_acceleration(point)).max() < 1e-7
        found += 1
    assert found > 10


def test_the_point_of_a_body_starts_where_the_model_has_it(four_bar):
    tracer = four_bar.mechanism.bodies[2].geometry.points["tracer"]
    assert np.abs(four_bar.body("coupler").point("tracer")[0] - tracer).max() < 1e-12
    with pytest.raises(KeyError, match=r"'tip'.*tracer"):
        four_bar.body("coupler").point("tip")


def test_a_body_by_name_number_and_numeral(four_bar):
    one = four_bar.body("coupler").position
    for name in (3, "3"):
        assert four_bar.body(name).position is not None
        assert (four_bar.body(name).position == one).all()
    for name in ("lever", 0, 5, "-1"):
        with pytest.raises(KeyError, match="frame, crank, coupler, rocker"):
            four_bar.body(name)


def test_rotation_matrices_turn_with_the_angular_velocity(rotor, four_bar):
    for trajectory in (rotor, four_bar):
        step = trajectory.time[1]
        for number in (2, 3, 4):
            body = trajectory.body(number)
            turn = body.rotation
            assert np.abs(turn @ turn.transpose(0, 2, 1) - np.eye(3)).max() < 1e-14
            spin = trajectory.spatial().body(number).velocity[:, 3:]
            across = np.cross(spin[1:-1, None, :], turn[1:-1].transpose(0, 2, 1)).transpose(0, 2, 1)
            assert np.abs((turn[2:] - turn[:-2]) / (2 * step) - across).max() < 1e-2


def test_what_was_not_kept_is_said(four_bar):
    part = keep(four_bar, [1, 3], levels=())
    assert (part.body("rocker").position == four_bar.body("rocker").position).all()
    with pytest.raises(KeyError, match=r"coupler.* crank, rocker"):
        part.body("coupler")
    for level in ("velocity", "acceleration"):
        with pytest.raises(ValueError, match=f"level='{level}'"):
            getattr(part.body("rocker"), level)
    with pytest.raises(ValueError, match="velocity was not kept"):
        part.body("rocker").point_velocity((0.0, 0.0))
    slow = keep(four_bar, [1], levels=("velocity",))
    assert slow.body("crank").point_velocity((0.0, 0.0)).shape == (401, 2)
    with pytest.raises(ValueError, match="acceleration was not kept"):
        slow.body("crank").point_acceleration((0.0, 0.0))


# --- forms and parts ---------------------------------------------------------------------------------


def test_the_spatial_form_says_what_the_planar_one_says(four_bar):
    lifted = four_bar.spatial()
    assert (four_bar.planar, lifted.planar) == (True, False)
    assert lifted.spatial() is lifted
    assert (lifted.position[:, :, :2] == four_bar.position).all()
    assert not lifted.position[:, :, 2].any()
    assert (lifted.velocity[:, :, [0, 1, 5]] == four_bar.velocity).all()
    assert not lifted.velocity[:, :, 2:5].any()
    assert np.abs(np.linalg.norm(lifted.orientation, axis=2) - 1).max() < 1e-15
    for number in range(1, 5):
        flat, body = four_bar.body(number), lifted.body(number)
        assert np.abs(flat.rotation - body.rotation).max() < 1e-15
        for what in ("point", "point_velocity", "point_acceleration"):
            one, two = getattr(flat, what)((0.1, 0.2)), getattr(body, what)((0.1, 0.2))
            assert np.abs(one - two[:, :2]).max() < 1e-13
            assert not two[:, 2].any()
    assert keep(four_bar, [1, 2], levels=()).spatial().velocity is None


def test_a_turning_bodys_quaternion_is_continuous_in_the_spatial_form():
    mechanism = mbssa.load("planar_four_bar")
    model = groups.build(mbssa.decompose(mechanism))
    lifted = model.solve(groups.constant_speed(mechanism, duration=2.0, steps=201)).spatial()
    assert np.abs(np.diff(lifted.orientation, axis=0)).max() < 0.05


def test_spatial_arrays_are_contiguous_by_body(four_bar):
    for array in (four_bar.spatial().position, four_bar.spatial().orientation, four_bar.spatial().velocity):
        assert array[:, 1].flags.c_contiguous


def test_some_instants_are_views(rotor):
    part = rotor.instants(slice(10, 50, 4))
    assert np.shares_memory(part.position, rotor.position)
    assert (part.body(5).velocity == rotor.body(5).velocity[10:50:4]).all()
    assert part.status.shape == (10, 7)


# --- faults ------------------------------------------------------------------------------------------


def test_statuses_keep_their_numbers():
    assert STATUS == (
        "ok",
        "not converged",
        "singular",
        "predecessor group failed",
        "out of reach",
        "branch jump",
        "dropped equations violated",
        "gimbal",
        "not computed",
        "lifted off",
        "penetrates",
        "passed a singular position",
    )


def spoiled(trajectory, **more):
    status, residual = trajectory.status.copy(), trajectory.residual.copy()
    return status, residual, lambda: replace(trajectory, status=status, residual=residual, **more)


def test_a_fault_names_group_bodies_type_status_instants_and_figure(four_bar):
    status, residual, now = spoiled(four_bar)
    assert now().ok
    assert now().faults() == []
    status[100:130, 1], residual[100, 1] = 4, 0.0123
    assert not now().ok
    assert now().faults() == [
        "SG-2 of coupler, rocker (3R2D): out of reach at 30 of 401 instants, first at t = 0.25 s "
        "(residual 0.0123 m)"
    ]
    assert repr(now()) == f"<Trajectory of planar_four_bar: 401 instants, {now().faults()[0]}>"


def test_several_statuses_of_a_group_are_told_apart_in_the_order_of_their_instants(four_bar):
    status, residual, now = spoiled(four_bar, causes=("", "3-4"), condition=np.full((401, 2), 1e-13))
    status[200:202, 1], status[8, 1], residual[200:, 1], residual[8, 1] = 1, 2, 2e-3, 0.0
    assert now().faults() == [
        "SG-2 of coupler, rocker (3R2D): singular at 1 of 401 instants, first at t = 0.02 s (residual 0 m, "
        "condition 1e-13); not converged at 2 of 401 instants, first at t = 0.5 s (residual 0.002 m); "
        "closing joint 3-4"
    ]


def test_every_status_has_its_words(four_bar):
    for code, words in enumerate(STATUS[1:], start=1):
        status, _, now = spoiled(four_bar)
        status[5, 0] = code
        (text,) = now().faults()
        assert f"{words}" in text
        assert "first at t = 0.0125 s" in text


def test_what_waits_has_no_figure_and_what_was_not_computed_is_said_once(four_bar):
    status, _, now = spoiled(four_bar)
    status[300:], status[40:44, 0], status[40:44, 1] = 8, 1, 3
    assert now().faults() == [
        "SG-1 of crank (1R2D): not converged at 4 of 401 instants, first at t = 0.1 s (residual 0 m)",
        "SG-2 of coupler, rocker (3R2D): predecessor group failed at 4 of 401 instants, first at t = 0.1 s",
        "not computed: at 101 of 401 instants, first at t = 0.75 s",
    ]


def test_many_faults_are_counted_in_the_representation(rotor):
    status, _, now = spoiled(rotor)
    status[3] = 1
    assert len(now().faults()) == 7
    assert repr(now()).endswith("; and 4 more>")


def test_groups_have_the_names_that_they_were_given(four_bar):
    status, _, now = spoiled(four_bar, group_names=("the motor", "the dyad"))
    status[0, 1] = 1
    assert now().faults()[0].startswith("SG-2 of the dyad: not converged at 1 of 401")


def test_groups_of_another_decomposition_are_only_numbered(four_bar):
    status = np.zeros((len(four_bar.time), 3), dtype=np.int8)
    other = replace(four_bar, status=status, group_names=None)
    assert other.named_groups == ("", "", "")


def test_a_large_groups_bodies_are_counted():
    (name,) = names_of_groups(mbssa.decompose(mbssa.load("stewart")))
    assert name.endswith(" and 7 more (6P6U6S1F3D)")
    assert name.count(",") == 5


# --- rotations ---------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(arrays(np.float64, (20, 4), elements=st.floats(-1, 1)))
def test_quaternions_go_to_matrices_and_back(q):
    norm = np.linalg.norm(q, axis=1, keepdims=True)
    q = np.where(norm > 0.1, q / np.where(norm > 0.1, norm, 1.0), [1.0, 0.0, 0.0, 0.0])
    back = quaternion_of(rotation_of(q))
    assert np.abs(np.abs(np.sum(q * back, axis=1)) - 1).max() < 1e-14
    assert np.abs(rotation_of(back) - rotation_of(q)).max() < 1e-14
    assert np.sum(back[1:] * back[:-1], axis=1).min() >= -1e-15


def test_a_quaternions_sign_goes_on_over_turns_and_over_gaps():
    half = np.linspace(0, 6 * np.pi, 400)
    q = np.stack([np.cos(half), np.sin(half) * 0.6, np.sin(half) * 0.8, 0 * half], axis=1)
    matrices = rotation_of(q)
    assert np.abs(quaternion_of(matrices) - q).max() < 1e-13
    matrices[42:56] = np.nan  # another component is the largest after the gap than before it
    matrices[:3] = np.nan
    back = quaternion_of(np.stack([matrices, matrices]))
    assert np.isnan(back[:, 42:56]).all()
    assert np.abs(back - q)[:, np.r_[3:42, 56:400]].max() < 1e-13


def test_a_built_model_has_a_short_representation():
    model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    assert repr(model) == "<Model of planar_four_bar: 2 groups: driven, closed form>"
