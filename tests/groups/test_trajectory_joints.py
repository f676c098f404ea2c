"""Joint coordinates, rates and accelerations out of body poses: every type of pair, and solved motions."""

from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
from groups.results.expressions import derived, expressions_of
from groups.rotations import quaternion_of
from mbssa.joints.catalogue import CATALOGUE, coordinate_unit
from mbssa.joints.equations import pose
from mbssa.joints.frames import joint_frames
from mbssa.mechanism import JointFrame, JointGeometry

TYPES = [row for row in CATALOGUE if row.pair is not None]

#: Weights of the central difference of eighth order.
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])


def slope(array, step):
    """Derivative along the first axis; four instants are lost at each end."""
    n = len(array) - 8
    return sum(w * array[k : k + n] for k, w in enumerate(WEIGHTS)) / step


def turned(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.zeros((len(angle), 3, 3))
    matrix[:, axis, axis] = 1.0
    matrix[:, i, i], matrix[:, j, j], matrix[:, i, j], matrix[:, j, i] = c, c, -s, s
    return matrix


def random_rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q * np.linalg.det(q)


def pair_of(kind, rng, at_reference):
    """Bodies 2 and 3 joined by one pair of this type, frames anywhere on them."""
    values = dict(zip(kind.coordinates, at_reference, strict=True))
    free = "FP" if kind.space == "planar" else "F"
    mechanism = mbssa.from_pairs(3, [(1, 2, free, 0), (2, 3, kind.code, 0)], kind.space)
    frames = []
    for _ in range(2):
        if kind.space == "planar":
            a = rng.uniform(-0.5, 0.5)
            frames.append(JointFrame(origin=tuple(rng.normal(size=2)), x=(np.cos(a), np.sin(a))))
        else:
            axes = random_rotation(rng)
            frames.append(JointFrame(tuple(rng.normal(size=3)), tuple(axes[:, 2]), tuple(axes[:, 0])))
    known = JointGeometry(
        frames=tuple(frames), pitch=0.3, radius=0.2, length=0.7, offsets=(0.1,), at_reference=values
    )
    return replace(mechanism, joint_geometry={1: known})


def moving(mechanism, q, time):
    """Trajectory of body 2 on a smooth motion, and of body 3 where its joint's coordinates are q (T, k)."""
    planar = mechanism.space == "planar"
    kind = mechanism.joints[1].type
    rows, frames = kind.pair, joint_frames(mechanism)
    given = {name: np.full(len(time), column[1]) for name, column in frames.parameters.items()}
    d, C, _ = pose(rows, q, given)
    s = np.sin(time)
    position, rotation = np.zeros((3, len(time), 3)), np.tile(np.eye(3), (3, len(time), 1, 1))
    position[1] = np.stack([s, np.cos(2 * time), 0 * s if planar else 0.3 * time], axis=1)
    rotation[1] = turned(2, 0.7 * time + 0.2 * s)
    if not planar:
        rotation[1] = turned(0, 1.1 * s) @ turned(1, 0.4 * time) @ rotation[1]
    axes = rotation[1] @ frames.axes[1, 0]
    rotation[2] = axes @ C @ frames.axes[1, 1].T
    at = position[1] + rotation[1] @ frames.origin[1, 0] + np.einsum("nab,nb->na", axes, d)
    position[2] = at - rotation[2] @ frames.origin[1, 1]
    return from_poses(mechanism, time, position, rotation)


def from_poses(mechanism, time, position, rotation):
    """A trajectory whose velocities and accelerations are differences of eighth order."""
    step = time[1] - time[0]
    time, position, rotation = time.copy(), position.transpose(1, 0, 2), rotation.transpose(1, 0, 2, 3)
    rate = slope(rotation, step) @ rotation[4:-4].transpose(0, 1, 3, 2)
    spin = np.stack([rate[..., 2, 1], rate[..., 0, 2], rate[..., 1, 0]], axis=-1)
    velocity = np.concatenate([slope(position, step), spin], axis=2)
    acceleration = slope(velocity, step)
    time, position, rotation, velocity = time[8:-8], position[8:-8], rotation[8:-8], velocity[4:-4]
    if mechanism.space == "planar":
        orientation = np.unwrap(np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0]), axis=0)
        position = position[..., :2]
        velocity, acceleration = velocity[..., [0, 1, 5]], acceleration[..., [0, 1, 5]]
    else:
        orientation = quaternion_of(rotation.transpose(1, 0, 2, 3)).transpose(1, 0, 2)
    status = np.zeros((len(time), 2), dtype=np.int8)
    real = np.zeros(status.shape)
    return groups.Trajectory(
        mechanism, time, position, orientation, velocity, acceleration,
        status, real, status.astype(np.int64), real + 1, np.arange(3),
    )  # fmt: skip


def law(kind, time):
    """Coordinates that go on for several turns, but for those that have a gimbal at a quarter."""
    columns = []
    for k, (name, e) in enumerate(zip(kind.coordinates, kind.pair.coordinates, strict=True)):
        swing = 0.6 * np.sin((1.1 + 0.2 * k) * time + k) + 0.3
        swing += 1.0 if name == "distance" else 0.0  # which is never negative
        bounded = coordinate_unit(name) == "m" or e.kind in ("cardan", "elevation")
        columns.append(swing if bounded else swing + (2.0 - 0.7 * k) * time)
    return np.stack(columns, axis=1)


def test_coordinates_rates_and_accelerations_of_every_pair_that_has_equations():
    for kind in TYPES:
        agree_with_differences(kind)


def agree_with_differences(kind):
    time = np.arange(-0.08, 6.0, 0.01)
    q = law(kind, time)
    trajectory = moving(pair_of(kind, np.random.default_rng(kind.index), q[8]), q, time)
    motion = trajectory.joint("2-3")
    assert motion.names == kind.coordinates
    assert motion.units == tuple(coordinate_unit(name) for name in kind.coordinates)
    first, second = slope(q, 0.01), slope(slope(q, 0.01), 0.01)
    assert np.abs(motion.value - q[8:-8]).max() < 1e-12, kind.code
    assert np.abs(motion.rate - first[4:-4]).max() < 1e-9, kind.code
    assert np.abs(motion.acceleration - second).max() < 1e-6  # twice differenced: 1e-12 / step²
    for k, name in enumerate(kind.coordinates):
        assert (motion[name].value == motion.value[:, k]).all()
        assert (motion[name].acceleration == motion.acceleration[:, k]).all()
    expressions_agree_with_differences(trajectory)
    poses_in_any_order_have_the_same_coordinates(trajectory, motion)


def expressions_agree_with_differences(trajectory):
    """Twice each coordinate, its sine, and the way of the joint's centre."""
    texts = []
    for name in trajectory.mechanism.joints[1].type.coordinates:
        plain = f"3-2.{name}" + " / (1 m)" * (coordinate_unit(name) == "m")
        texts.append(f"2 * {plain} - ({plain}) * sin({plain})")
    for text in [*texts, "distance(2-3.centre, world.origin + 9 m * world.x)"]:
        one = trajectory.quantity(text)
        first, second = slope(one.value, 0.01), slope(slope(one.value, 0.01), 0.01)
        assert np.abs(one.rate[4:-4] - first).max() < 1e-8, text
        assert np.abs(one.acceleration[8:-8] - second).max() < 1e-5, text


def poses_in_any_order_have_the_same_coordinates(trajectory, motion):
    """Angles of poses that are no motion are those next to given ones, over turns and gimbals."""
    dice = np.random.default_rng(5)
    order = dice.permutation(len(trajectory.time))
    near = motion.value + dice.uniform(-0.5, 0.5, motion.value.shape)
    poses = replace(trajectory.instants(order), velocity=None, acceleration=None)
    texts = {name: f"2-3.{name}" for name in motion.names}
    for one in derived(poses, expressions_of(poses.mechanism, texts, ordered=False), {1: near[order]}):
        wanted = motion[one.name].value[order]
        assert np.abs(one.value - wanted).max() < 1e-12, (trajectory.mechanism.joints[1], one.name)


def kind_of(code, space="spatial"):
    return next(row for row in TYPES if (row.code, row.space) == (code, space))


@pytest.mark.parametrize(("code", "middle"), [("S", 1), ("SPSP", 1), ("F", 4)])
def test_angles_go_on_smoothly_over_their_gimbal(code, middle):
    """The middle angle makes two turns: principal values would jump by half a turn eight times."""
    kind, time = kind_of(code), np.arange(-0.08, 6.0, 0.01)
    q = np.full((len(time), len(kind.coordinates)), 0.2)
    q[:, middle] = 2.1 * time + 1e-3
    trajectory = moving(pair_of(kind, np.random.default_rng(3), q[8]), q, time)
    for every in (1, 190):  # 4 rad from instant to instant: the rate goes over the gimbal too
        motion = trajectory.instants(slice(0, None, every)).joint("2-3")
        assert np.abs(motion.value - q[8:-8:every]).max() < 1e-9
        assert np.abs(motion.rate[:, middle] - 2.1).max() < 1e-6


def test_a_first_angle_is_the_one_nearest_to_the_reference():
    kind, time = kind_of("R"), np.arange(-0.08, 1.0, 0.01)
    q = 0.3 + time[:, None]
    mechanism = pair_of(kind, np.random.default_rng(1), [6 * np.pi + 0.1])
    motion = moving(mechanism, q, time).joint("2-3")
    assert np.abs(motion.value - q[8:-8] - 6 * np.pi).max() < 1e-12


def test_rates_tell_whole_turns_between_instants_where_they_are_steady():
    kind, time = kind_of("R"), np.arange(-0.08, 2.0, 0.001)
    trajectory = moving(pair_of(kind, np.random.default_rng(1), [80 * time[8]]), 80 * time[:, None], time)
    coarse = trajectory.instants(slice(0, None, 100))  # 8 rad from instant to instant
    expected = 80 * coarse.time
    assert np.abs(coarse.joint("2-3")["angle"].value - expected).max() < 1e-9
    blind = replace(coarse, velocity=None, acceleration=None).joint("2-3")["angle"].value
    assert np.abs(blind - expected).max() > 1
    assert np.abs(np.exp(1j * blind) - np.exp(1j * expected)).max() < 1e-9


def test_instants_without_a_pose_are_nan_and_the_angle_goes_on_after_them():
    kind, time = kind_of("C"), np.arange(-0.08, 6.0, 0.01)
    q = law(kind, time)
    trajectory = moving(pair_of(kind, np.random.default_rng(2), q[8]), q, time)
    for array in (trajectory.position, trajectory.orientation, trajectory.velocity, trajectory.acceleration):
        array[200:230, 2] = np.nan
    motion = trajectory.joint("2-3")
    holes = np.zeros(len(trajectory.time), dtype=bool)
    holes[200:230] = True
    assert np.isnan(motion.value[holes]).all()
    assert np.isnan(motion.acceleration[holes]).all()
    assert np.abs(motion.value - q[8:-8])[~holes].max() < 1e-12


# --- solved motions ----------------------------------------------------------------------------------


def solved(name, steps=21, duration=1.0, amplitude=0.05):
    model = groups.build(mbssa.decompose(mbssa.load(name)))
    mechanism = model.structure.mechanism
    laws = {
        name: groups.harmonic(amplitude, 1.0, 0.3 * k, value - amplitude * np.sin(0.3 * k))
        for k, (name, value) in enumerate(model.reference_inputs.items())
    }
    motion = groups.sample(mechanism, laws, np.linspace(0, duration, steps))
    return model.solve(motion, compiled=False), motion


SOLVED = ["rotor", "stewart", "spatial_four_bar", "theo_jansen"]


@pytest.mark.parametrize("name", SOLVED)
def test_a_driven_coordinate_is_its_motion_on_all_levels(name):
    trajectory, motion = solved(name)
    assert trajectory.ok
    for row, driven in enumerate(motion.names):
        joint, coordinate = driven.rsplit(".", 1)
        found = trajectory.joint(joint)[coordinate]
        assert np.abs(found.value - motion.value[row]).max() < 1e-10
        assert np.abs(found.rate - motion.rate[row]).max() < 1e-9
        assert np.abs(found.acceleration - motion.acceleration[row]).max() < 1e-7


@pytest.mark.parametrize("name", SOLVED)
def test_rates_of_every_joint_are_the_differences_of_its_coordinates(name):
    trajectory, motion = solved(name, steps=41, duration=0.04)
    step = motion.time[1]
    for joint in trajectory.mechanism.joints:
        found = trajectory.joint(joint.id)
        size = max(1.0, np.abs(found.acceleration).max())
        assert np.abs(slope(found.value, step) - found.rate[4:-4]).max() < 1e-7 * size, joint.id
        assert np.abs(slope(found.rate, step) - found.acceleration[4:-4]).max() < 1e-7 * size, joint.id


def test_a_full_turn_of_a_crank_counts():
    model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    (start,) = model.reference_inputs.values()
    crank = model.structure.mechanism
    motion = groups.sample(crank, {"1-2.angle": groups.speed(2 * np.pi, start)}, np.linspace(0, 3, 301))
    trajectory = model.solve(motion)
    for form in (trajectory, trajectory.spatial()):
        assert np.abs(form.joint("1-2")["angle"].value - motion.value[0]).max() < 1e-10
        assert np.abs(form.joint("1-2")["angle"].acceleration).max() < 1e-8


def test_a_joint_of_the_frame_needs_the_other_body_only():
    trajectory, motion = solved("planar_four_bar", steps=21)
    kept = np.array([1])
    crank = replace(
        trajectory,
        kept=kept,
        **{
            level: getattr(trajectory, level)[:, kept]
            for level in ("position", "orientation", "velocity", "acceleration")
        },
    )
    assert np.abs(crank.joint("1-2")["angle"].value - motion.value[0]).max() < 1e-12
    with pytest.raises(KeyError, match=r"coupler.*crank"):
        crank.joint("2-3")


def test_what_cannot_be_measured_says_why():
    trajectory, _ = solved("planar_four_bar", steps=5)
    with pytest.raises(KeyError, match=r"'5-6'.*1-2"):
        trajectory.joint("5-6")
    with pytest.raises(KeyError, match=r"2-3 .*'slide'.*angle"):
        trajectory.joint("2-3")["slide"]
    still = replace(trajectory, velocity=None, acceleration=None).joint("2-3")
    assert still.value.shape == (5, 1)
    with pytest.raises(ValueError, match="level='velocity'"):
        _ = still.rate
    with pytest.raises(ValueError, match="the acceleration was not kept"):
        _ = still["angle"].acceleration
    gears = mbssa.from_pairs(3, [(1, 2, "R", 1), (1, 3, "R", 0), (2, 3, "EO", 0)], "planar")
    geared = replace(trajectory, mechanism=gears)
    with pytest.raises(ValueError, match=r"joint 2-3 .*geometry"):
        geared.joint("2-3")
    with pytest.raises(ValueError, match=r"joint 1-2 .*geometry"):
        geared.joint("1-2")


def test_angles_behind_a_gap_are_the_nearest():
    """The rod's rate grows without bound at the edge; the crank ends where it began."""
    along = np.array([1.0, 0.2, 0.0]) / np.hypot(1.0, 0.2)
    across = np.cross(along, [0.0, 0.0, 1.0])
    pivot = np.array([1.5, 0.8, 0.3])
    end = pivot + np.cross(along, across / np.linalg.norm(across))
    made = mbssa.Builder("spatial").bodies("crank", "rod", "rocker")
    made.revolute("frame", "crank", point=[0, 0, 0], axis=[0, 0, 1], driven=True)
    made.spherical("crank", "rod", point=[0.5, 0, 0])
    made.universal("rocker", "rod", point=end.tolist(), axes=[along.tolist()], id="u")
    made.revolute("frame", "rocker", point=pivot.tolist(), axis=along.tolist(), id="r")
    model = groups.build(mbssa.decompose(made.build()))
    motion = groups.sample(
        model.mechanism, {"1-2.angle": groups.speed(2 * np.pi)}, np.linspace(0.0, 1.0, 641)
    )
    found = model.solve(motion, compiled=False, branch="checked")
    assert not found.ok
    for joint, coordinate in (("u", "angle_1"), ("u", "angle_2"), ("r", "angle")):
        value = found.joint(joint)[coordinate].value
        assert value[-1] == pytest.approx(value[0], abs=1e-9), f"{joint}.{coordinate}"
