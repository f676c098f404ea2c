"""Paths of a body whose whole pose is driven: there and back, rates, the gimbal lock."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import groups
import mbssa

T = np.linspace(0.0, 2.0, 81)


def platform(*, driven="true", turned=False, bodies="[1, 2]", space="spatial"):
    """A free body whose frames stand anywhere: the pose that the path means is that of the body itself."""
    origin, orientation = "[0.2, -0.1, 0.4]", "[0.5, 0.5, -0.5, 0.5]"
    frames = """frames = [
        { origin = [0.3, 0.1, -0.2], z = [0.2, 1, 0.1], x = [1, 0, 0.5] },
        { origin = [0.1, 0.5, 0.6], z = [1, 0.2, 0], x = [0, 0.3, 1] }]"""
    kind = "F"
    if space == "planar":
        origin, orientation, kind = "[0.2, -0.1]", "0.7", "FP"
        frames = "frames = [{ origin = [0.3, 0.1], x = [1, 2] }, { origin = [0.1, 0.5], x = [0, 1] }]"
    text = f"""
        format = 1
        space = "{space}"
        [[body]]
        origin = {origin}
        orientation = {orientation}
        [[joint]]
        bodies = {bodies}
        type = "{kind}"
        driven = {driven}
        {frames if turned else ""}
    """
    from mbssa.io.toml_file import parse_toml

    return parse_toml("\n".join(line.strip() for line in text.splitlines()), "platform", "platform")


#: Orientation of the spatial platform at its reference, where the plain frames have angles of 0.
REFERENCE = Rotation.from_quat([0.5, -0.5, 0.5, 0.5])


def path():
    """Positions (T, 3) and rotations of a wandering body, far from the lock of the plain frames."""
    place = np.stack([0.3 * np.sin(2 * T), 0.2 * np.cos(T), 0.5 + 0.1 * T], axis=1)
    vector = np.stack([0.4 * np.sin(T), 0.3 * np.cos(2 * T), 0.5 * T], axis=1)
    return place, Rotation.from_rotvec(vector) * REFERENCE


def solved(mechanism, laws, time=T):
    return groups.build(mbssa.decompose(mechanism)).solve(groups.sample(mechanism, laws, time))


@pytest.mark.parametrize("bodies", ["[1, 2]", "[2, 1]"])
@pytest.mark.parametrize("turned", [False, True])
def test_the_body_follows_the_path(bodies, turned):
    mechanism = platform(bodies=bodies, turned=turned)
    place, turns = path()
    body = solved(mechanism, groups.pose_path(mechanism, "1-2", T, place, turns)).body(2)
    assert np.abs(body.position - place).max() < 1e-11
    w, x, y, z = body.orientation.T
    assert (Rotation.from_quat(np.stack([x, y, z, w], axis=1)).inv() * turns).magnitude().max() < 1e-11


def test_between_two_bodies_that_move_it_is_the_pose_of_the_second_in_the_axes_of_the_first():
    free = mbssa.Builder("spatial").bodies("first", "second")
    free.joint("F", "frame", "first", driven=True).joint("F", "first", "second", driven=True)
    mechanism = free.build()
    place, turns = path()
    laws = groups.pose_path(mechanism, "1-2", T, place, turns) | groups.pose_path(
        mechanism, "2-3", T, place[::-1], turns.inv()
    )
    first, second = map(solved(mechanism, laws).body, ("first", "second"))
    axes = first.rotation.transpose(0, 2, 1)
    seen = np.einsum("tab,tb->ta", axes, second.position - first.position)
    assert np.abs(seen - place[::-1]).max() < 1e-11
    assert np.abs(axes @ second.rotation - turns.inv().as_matrix()).max() < 1e-11


@pytest.mark.parametrize("bodies", ["[1, 2]", "[2, 1]"])
def test_rates_between_the_points_are_derivatives(bodies):
    mechanism = platform(bodies=bodies, turned=True)
    laws = groups.pose_path(mechanism, "1-2", T, *path())
    h = 1e-5
    t = np.linspace(0.013, 1.987, 77)
    for law in laws.values():
        before, at, after = (law(t + shift) for shift in (-h, 0.0, h))
        for level in (0, 1):
            slope = (after[level] - before[level]) / (2 * h)
            assert np.abs(slope - at[level + 1]).max() < 1e-5 * max(1.0, np.abs(at[level + 1]).max())


def test_quaternions_of_either_sign_matrices_and_rotations_are_one_path():
    mechanism = platform()
    place, turns = path()
    x, y, z, w = turns.as_quat().T
    quaternions = np.stack([w, x, y, z], axis=1) * np.where(np.arange(len(T)) % 3, 1.0, -1.0)[:, None]
    t = np.linspace(0, 2, 33)
    answers = [
        groups.sample(mechanism, groups.pose_path(mechanism, "1-2", T, place, turn), t)
        for turn in (turns, quaternions, turns.as_matrix())
    ]
    for other in answers[1:]:
        assert np.abs(other.value - answers[0].value).max() < 1e-12
        assert np.abs(other.acceleration - answers[0].acceleration).max() < 1e-9


def test_a_solved_trajectory_is_a_path():
    """The pose that the platform of the inverse Stewart model takes, given back as a path."""
    mechanism = mbssa.load("stewart_inverse")
    first = solved(mechanism, {name: _law(mechanism, name) for name in groups.driven_coordinates(mechanism)})
    body = first.body("platform")
    laws = groups.pose_path(mechanism, "1-14", T, body.position, body.orientation)
    again = groups.sample(mechanism, laws, T)
    wanted = groups.default_motion(mechanism, duration=2.0, steps=len(T))
    assert np.abs(again.value - wanted.value).max() < 1e-9
    assert np.abs(again.rate - wanted.rate).max() < 1e-3
    assert np.abs(again.acceleration - wanted.acceleration).max() < 5e-2


def _law(mechanism, name):
    motion = groups.default_motion(mechanism, duration=2.0, steps=len(T))
    row = motion.names.index(name)
    return lambda t: (motion.value[row], motion.rate[row], motion.acceleration[row])


def test_angles_are_unwrapped_over_turns_from_the_reference_on():
    mechanism = platform()
    place, _ = path()
    turns = Rotation.from_rotvec(np.outer(5 * T, [0, 0, 1])) * REFERENCE
    law = groups.pose_path(mechanism, "1-2", T, place, turns)["1-2.angle_z"]
    t = np.linspace(0, 2, 1001)
    value, rate, _ = law(t)
    assert np.abs(np.diff(value)).max() < 0.02
    assert value[-1] - value[0] == pytest.approx(10.0)
    assert rate == pytest.approx(np.full(1001, 5.0), abs=1e-6)


def test_a_planar_path():
    mechanism = platform(space="planar", turned=True)
    place = np.stack([np.sin(T), 0.3 * T], axis=1)
    angle = 4 * T - np.pi
    trajectory = solved(mechanism, groups.pose_path(mechanism, "1-2", T, place, np.angle(np.exp(1j * angle))))
    body = trajectory.body(2)
    assert np.abs(body.position - place).max() < 1e-12
    assert np.abs(np.exp(1j * body.orientation) - np.exp(1j * angle)).max() < 1e-12
    assert np.abs(body.velocity[:, 2] - 4.0).max() < 1e-9


def test_the_gimbal_lock_is_named_with_its_instant():
    mechanism = platform()
    turns = Rotation.from_rotvec(np.outer(T, [0, np.pi / 2, 0])) * REFERENCE
    with pytest.raises(ValueError, match=r"t = 1 s, where angle_y"):
        groups.pose_path(mechanism, "1-2", T, path()[0], turns)
    # Between two points of the path too.
    coarse = np.array([0.0, 0.7, 1.4, 2.1])
    turns = Rotation.from_rotvec(np.outer(coarse, [0, np.pi / 2.1, 0])) * REFERENCE
    with pytest.raises(ValueError, match=r"gimbal .* t = 1\.05 s"):
        groups.pose_path(mechanism, "1-2", coarse, np.zeros((4, 3)), turns)


def test_every_fault_of_a_path_comes_at_once():
    mechanism = platform()
    place, turns = path()
    time = T.copy()
    time[3] = time[2]
    place[5, 1] = np.nan
    quaternions = np.tile([1.0, 0.0, 0.0, 0.0], (len(T), 1))
    quaternions[7] = [0.5, 0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="instant 3") as caught:
        groups.pose_path(mechanism, "1-2", time, place, quaternions)
    assert "positions are not finite at t = 0.125 s" in str(caught.value)
    assert "orientations at t = 0.175 s are no unit quaternion: off by 0.5" in str(caught.value)
    with pytest.raises(ValueError, match=r"positions .*\(81, 2\).*orientations"):
        groups.pose_path(mechanism, "1-2", T, place[:, :2], quaternions[:4])
    mirrored = turns.as_matrix() @ np.diag([1.0, 1.0, -1.0])
    with pytest.raises(ValueError, match="rotation matrix"):
        groups.pose_path(mechanism, "1-2", T, path()[0], mirrored)
    with pytest.raises(ValueError, match="3 instants"):
        groups.pose_path(mechanism, "1-2", T[:3], path()[0][:3], turns[:3])
    laws = groups.pose_path(mechanism, "1-2", T, path()[0], turns)
    with pytest.raises(ValueError, match=r"1-2.x: t = 2.5 s"):
        groups.sample(mechanism, laws, [0.0, 2.5])


def test_only_a_fully_driven_free_joint_takes_a_path():
    place, turns = path()
    with pytest.raises(ValueError, match="z, angle_x, angle_y, angle_z"):
        groups.pose_path(platform(driven='["x", "y"]'), "1-2", T, place, turns)
    with pytest.raises(ValueError, match="1-2 S"):
        groups.pose_path(mbssa.load("stewart_inverse"), "1-2", T, place, turns)
    with pytest.raises(ValueError, match=r"no joint '1-99'"):
        groups.pose_path(mbssa.load("stewart_inverse"), "1-99", T, place, turns)


def test_a_turn_of_no_clear_sense_is_refused():
    turns = Rotation.from_rotvec(np.outer([0, 0.5, 1.0, 4.0, 4.5], [1, 0, 0]))
    with pytest.raises(ValueError, match=r"172 degrees .*t = 2 s"):
        groups.pose_path(platform(), "1-2", np.arange(5.0), np.zeros((5, 3)), turns)
