"""The cut Jacobian against finite differences, against the equations of whole bodies, far away and in mm."""

from itertools import product

import numpy as np
import pytest
from random_mechanisms import random_mechanism

import groups
import mbssa
from groups.partitioning.cutting import cut_open, linearised
from groups.trajectory import poses_of
from mbssa.io.records import from_record, to_record
from mbssa.joints.assembly import assemble
from mbssa.joints.catalogue import CATALOGUE, is_length, types_of
from mbssa.joints.equations import elementary_slopes, pose
from mbssa.joints.frames import joint_frames
from mbssa.joints.poses import Poses
from mbssa.joints.system import first_two_bodies, pose_of_joints, rows_at

STEP = 1e-6

#: Every kind of joint, trees and cuts.
MODELS = ("planar_four_bar", "theo_jansen", "cam_roller", "planetary", "rotor", "stewart", "bricard", "rssr")
MODELS += ("universal_shafts", "micromanipulator_driven", "geneva", "rack_steering", "differential", "sarrus")


def reference(mechanism, cuts=None):
    frames = joint_frames(mechanism)
    closed = assemble(mechanism, frames)
    assert closed.closed
    return cut_open(mechanism, frames, cuts), closed.configuration


def still(opened, at):
    """Coordinates (n,) and J (m, n) in one configuration."""
    (q,), (J,) = linearised(opened, at[None])
    return q, J


def placed(opened, q, base):
    """Configuration of the tree's bodies at coordinates q (n,), m and rad; others stay as in ``base``."""
    frames, mechanism = opened.frames, opened.mechanism
    p, R = base.position.copy(), base.rotation.copy()
    for link in opened.links:
        rows = CATALOGUE[int(mechanism.joint_type[link.joint])].pair
        first = [name.rpartition(".")[0] for name in opened.coordinates].index(
            mechanism.joint_ids[link.joint]
        )
        parameters = {name: values[link.joint][None] for name, values in frames.parameters.items()}
        d, C, _ = pose(rows, q[None, first : first + len(rows.coordinates)], parameters)
        a, b = mechanism.joint_bodies(link.joint)[:2]
        (o, u), (A, B) = frames.origin[link.joint], frames.axes[link.joint]
        if link.forward:
            R[b] = R[a] @ A @ C[0] @ B.T
            p[b] = p[a] + R[a] @ (o + A @ d[0]) - R[b] @ u
        else:
            R[a] = R[b] @ B @ C[0].T @ A.T
            p[a] = p[b] + R[b] @ u - R[a] @ (o + A @ d[0])
    return Poses(p, R, np.arctan2(R[:, 1, 0], R[:, 0, 0]))


def residual(opened, at):
    """(m,) of the cuts' equations, lengths over the size; of a rod its length."""
    frames, mechanism = opened.frames, opened.mechanism
    rows = rows_at(mechanism, frames, at)
    found = [np.zeros(0)]
    for cut in opened.cuts:
        if cut.rod < 0:
            found.append(rows.residual[(rows.joint == cut.joints[0]) & ~rows.drive])
            continue
        ends = []
        for joint in cut.joints:
            bodies = mechanism.joint_bodies(joint)[:2]
            side = 1 - bodies.index(cut.rod)
            ends.append(at.position[bodies[side]] + at.rotation[bodies[side]] @ frames.origin[joint, side])
        found.append([np.linalg.norm(ends[1] - ends[0]) / frames.size])
    return np.concatenate(found)


def differences(opened, q, at):
    """(m, n) by central differences, lengths over the size in rows and columns."""
    scale = np.where([*map(is_length, opened.coordinates)], opened.frames.size, 1.0)
    columns = []
    for k in range(len(q)):
        step = np.zeros(len(q))
        step[k] = STEP * scale[k]
        ahead, behind = (residual(opened, placed(opened, q + sign * step, at)) for sign in (1, -1))
        columns.append((ahead - behind) / (2 * STEP))
    return np.array(columns).T


def assert_differences(opened, at, atol):
    q, J = still(opened, at)
    np.testing.assert_allclose(J, differences(opened, q, at), atol=atol)
    return q, J


def test_the_jacobian_is_that_of_differences_and_leaves_the_mobility_of_all_bodies():
    """n less the rank of J is the mobility that the constraints of whole bodies leave."""
    for name in MODELS:
        opened, at = reference(mbssa.load(name))
        q, J = assert_differences(opened, at, 2e-9)
        hung = [link.body for link in opened.links]
        np.testing.assert_allclose(
            placed(opened, q, at).position[hung], at.position[hung], atol=1e-12, err_msg=name
        )
        assert J.shape == (len(opened.equations), len(opened.coordinates)), name
        mechanism = opened.mechanism
        rows = rows_at(mechanism, opened.frames, at).constraints.matrix(np.arange(1, mechanism.n_bodies))
        spins = sum(cut.rod >= 0 for cut in opened.cuts)
        free = rows.shape[1] - np.linalg.matrix_rank(rows, tol=1e-9)
        assert len(opened.coordinates) - np.linalg.matrix_rank(J, tol=1e-9) + spins == free, name


def test_instants_of_a_motion_together_are_those_apart():
    for name in ("rotor", "suspension", "bricard"):
        mechanism = mbssa.load(name)
        motion = groups.default_motion(mechanism, steps=3)
        trajectory = groups.build(mbssa.decompose(mechanism)).solve(motion, compiled=False)
        opened, at = reference(mechanism)
        _, together = linearised(opened, poses_of(trajectory))
        for k in range(3):
            (q,), (J,) = linearised(opened, poses_of(trajectory)[k : k + 1])
            np.testing.assert_allclose(J, together[k], atol=1e-13, err_msg=name)
            np.testing.assert_allclose(together[k], differences(opened, q, at), atol=5e-9, err_msg=name)


@pytest.mark.parametrize("name", MODELS)
def test_rates_of_a_solved_motion_are_those_that_the_cuts_leave(name):
    """J q' is zero, but for prescribed equations; J_v gives the dependent rates of Model.solve."""
    mechanism = mbssa.load(name)
    model = groups.build(mbssa.decompose(mechanism))
    trajectory = model.solve(groups.default_motion(mechanism, steps=5), level="velocity")
    opened = cut_open(mechanism, model.frames, None, mechanism.driven_coordinates)
    _, J = linearised(opened, poses_of(trajectory))
    scale = np.where([*map(is_length, opened.coordinates)], opened.frames.size, 1.0)
    joints = {coordinate: coordinate.rpartition(".")[::2] for coordinate in opened.coordinates}
    rate = np.array([trajectory.joint(j)[name].rate for j, name in joints.values()]).T / scale
    gap = np.einsum("tmn,tn->tm", J, rate)[:, ~np.array(opened.prescribed, dtype=bool)]
    np.testing.assert_allclose(gap, 0.0, atol=1e-9 * max(1.0, np.abs(rate).max()))
    driven = np.isin(opened.coordinates, mechanism.driven_coordinates)
    if (
        driven.any()
        and not any(opened.prescribed)
        and np.linalg.matrix_rank(J[2][:, ~driven]) == (~driven).sum()
    ):
        found = -np.linalg.lstsq(J[2][:, ~driven], J[2][:, driven] @ rate[2, driven])[0]
        np.testing.assert_allclose(found, rate[2, ~driven], atol=1e-8 * max(1.0, np.abs(rate).max()))


@pytest.mark.parametrize("cuts", [["3-4"], ["2-3"], ["1-2"], ["1-4"], ["2-3", "3-4"]])
def test_wherever_a_loop_is_cut_the_motion_that_is_left_is_the_same(cuts):
    """The null vector of J gives the same ratio of the speeds of crank and rocker."""
    mechanism = mbssa.load("planar_four_bar")
    opened, at = reference(mechanism, cuts)
    _, J = assert_differences(opened, at, 1e-9)
    _, singular, right = np.linalg.svd(J)
    assert np.sum(singular > 1e-9) == len(opened.coordinates) - 1
    speed = dict(zip(opened.coordinates, right[-1], strict=True))
    crank = groups.build(mbssa.decompose(mechanism)).solve(groups.constant_speed(mechanism, steps=2))
    rocker = crank.joint("1-4")["angle"].rate[0] / crank.joint("1-2")["angle"].rate[0]
    known = {"1-4.angle", "1-2.angle"} <= set(speed)
    if known:
        assert speed["1-4.angle"] / speed["1-2.angle"] == pytest.approx(rocker)
    else:
        assert set(cuts) & {"1-2", "1-4"}


def moved(name, scale, shift):
    """A built-in model in other units of length, and elsewhere."""
    record = to_record(mbssa.load(name))
    record.pop("motion", None)
    for entry in record["joint"]:
        if "point" in entry:
            entry["point"] = [scale * (x + s) for x, s in zip(entry["point"], shift, strict=False)]
    for body in record.get("body", ()):
        body.pop("points", None)
    return from_record(record, "moved", "moved")


def test_units_and_place_do_not_matter():
    for name in ("spatial_4r", "suspension", "rssr", "slider_crank_isostatic"):
        ours, at = reference(mbssa.load(name))
        _, J = still(ours, at)
        for scale, shift in ((1e3, (0, 0, 0)), (1.0, (1e4, -2e4, 3e4)), (1e-3, (5, 5, 5))):
            theirs, there = reference(moved(name, scale, shift))
            np.testing.assert_allclose(
                J, still(theirs, there)[1], atol=1e-9, err_msg=f"{name} {scale} {shift}"
            )


def geared(**drives):
    """Two wheels on a carrier, coaxial with the first."""
    joints = [
        {"bodies": [1, 2], "type": "R", "point": [0, 0]},
        {"bodies": [2, 3], "type": "R", "point": [0.3, 0.1]},
        {"bodies": [1, 4], "type": "R", "point": [0, 0]},
        {"bodies": [4, 3, 2], "type": "EO", "points": [[0, 0], [0.3, 0.1]], "ratio": 0.5},
    ]
    joints[3 if "wheels" in drives else 0]["driven"] = drives.get("wheels", ["angle"])
    return from_record({"format": 1, "space": "planar", "bodies": 4, "joint": joints}, "gears", "gears")


def test_gears_are_cut_with_one_equation():
    opened, at = reference(geared())
    assert opened.equations == ("2-3-4: mesh",)
    _, J = assert_differences(opened, at, 1e-9)
    # Willis: w4 + 0.5 w3 = 1.5 w2, with w3 = w2 + the hinge's speed.
    ratio = J[0] / J[0][opened.coordinates.index("1-4.angle")]
    np.testing.assert_allclose(ratio, [-1.0, 0.5, 1.0], atol=1e-12)


def test_instants_without_a_pose_are_nan_and_others_are_not():
    mechanism = mbssa.load("planar_four_bar")
    opened, _ = reference(mechanism)
    solved = groups.build(mbssa.decompose(mechanism)).solve(groups.constant_speed(mechanism, steps=4))
    poses = poses_of(solved)
    poses.position[2, 3] = np.nan
    _, J = linearised(opened, poses)
    assert np.isfinite(J).all(axis=(1, 2)).tolist() == [True, True, False, True]


def test_some_bodies_are_not_enough():
    mechanism = mbssa.load("planar_four_bar")
    model = groups.build(mbssa.decompose(mechanism))
    with pytest.raises(ValueError, match="all bodies"):
        poses_of(model.solve(groups.constant_speed(mechanism, steps=2), bodies=[2]))


@pytest.mark.parametrize("driven", [["angle_2"], ["angle_1", "angle_2"]])
def test_a_gear_that_is_driven_adds_how_far_its_wheels_turn(driven):
    mechanism = geared(wheels=driven)
    frames = joint_frames(mechanism)
    opened = cut_open(mechanism, frames, driven=[f"2-3-4.{name}" for name in driven])
    _, J = still(opened, assemble(mechanism, frames).configuration)
    assert opened.equations == ("2-3-4: mesh", *(f"2-3-4: {name}" for name in driven))
    # The second wheel turns on the carrier, body 2, as the hinge 2-3 does; the first as 1-4 less 1-2.
    expected = {"angle_1": [-1.0, 0.0, 1.0], "angle_2": [0.0, 1.0, 0.0]}
    order = [opened.coordinates.index(name) for name in ("1-2.angle", "2-3.angle", "1-4.angle")]
    np.testing.assert_allclose(J[1:, order], [expected[name] for name in driven], atol=1e-12)


SPATIAL_TYPES = [row.code for row in types_of("spatial") if row.pair is not None]


def measured(opened, joint, names, at):
    """Free coordinates of a joint, lengths over the size."""
    frames, mechanism = opened.frames, opened.mechanism
    joints = np.array([joint])
    d, C, _, _ = pose_of_joints(frames, at, joints, first_two_bodies(mechanism, joints))
    row = mechanism.joints[joint].type
    given = {name: values[joints] / frames.size for name, values in frames.parameters.items()}
    value = elementary_slopes(row.pair.coordinates, d, C, given)[0][0]
    return np.array([value[row.coordinates.index(name)] for name in names])


def test_every_type_in_the_tree():
    """A body on the frame by a joint of this type and by a hinge, in either direction, at random."""
    for code, seed in product(SPATIAL_TYPES, (0, 1)):
        mechanism = random_mechanism([f"frame x {code}", "frame x R"], seed)
        opened, at = reference(mechanism, [mechanism.joint_ids[1]])
        q, J = still(opened, at)
        assert J.shape == (5, mechanism.joints[0].type.grade), (code, seed)
        np.testing.assert_allclose(J, differences(opened, q, at), atol=1e-8, err_msg=f"{code} {seed}")


def test_every_type_cut_with_its_coordinates_prescribed():
    for code, seed in product(SPATIAL_TYPES, (0, 1)):
        mechanism = random_mechanism(["frame x F", f"frame x {code}"], seed)
        name, kind = mechanism.joint_ids[1], mechanism.joints[1].type
        frames = joint_frames(mechanism)
        driven = [f"{name}.{each}" for each in kind.coordinates]
        opened = cut_open(mechanism, frames, [name], driven)
        assert [cut.kind for cut in opened.cuts] == ["solid"], (code, seed)
        at = assemble(mechanism, frames).configuration
        q, J = still(opened, at)
        free = 6 - kind.grade
        wanted = differences(opened, q, at)[:free]
        np.testing.assert_allclose(J[:free], wanted, atol=1e-8, err_msg=f"{code} {seed}")
        scale = np.where([*map(is_length, opened.coordinates)], frames.size, 1.0)
        for k in range(6):
            step = STEP * scale[k] * np.eye(6)[k]
            ahead, behind = (
                measured(opened, 1, kind.coordinates, placed(opened, q + sign * step, at)) for sign in (1, -1)
            )
            turns = np.round((ahead - behind) / (2 * np.pi)) * 2 * np.pi
            rate = (ahead - behind - turns) / (2 * STEP)
            np.testing.assert_allclose(J[free:, k], rate, atol=1e-7, err_msg=f"{code} {seed}")


@pytest.mark.parametrize(
    "joints",
    [
        ["frame x U", "x y P", "y b S", "frame b PL"],
        ["frame x R", "x y R", "y z R", "z w C slide", "w b ER", "b frame C"],
        ["frame x SPSP", "x y S", "y frame SPSP", "x frame SPSP"],
    ],
)
def test_chains_with_offsets_in_either_direction(joints):
    for seed in (0, 1):
        assert_differences(*reference(random_mechanism(joints, seed, offset=0.3)), 1e-8)
