"""Rows of whole mechanisms: world Jacobians against differences, canonical frames against shorthand."""

from dataclasses import replace

import numpy as np
import pytest

import mbssa
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import Configuration, relative_pose, rows_at
from mbssa.mechanism import JointFrame, JointGeometry

GEARS = """
format = 1
space = "planar"
[[body]]
name = "sun"
[[body]]
name = "planet"
origin = [0.3, 0.1]
[[body]]
name = "carrier"
orientation = 0.4
[[joint]]
bodies = [1, 2]
type = "R"
point = [0, 0]
[[joint]]
bodies = [4, 3]
type = "R"
point = [0.3, 0.1]
[[joint]]
bodies = [1, 4]
type = "R"
point = [0, 0]
[[joint]]
bodies = [2, 3]
type = "EPI"
points = [[0, 0], [0.3, 0.1]]
ratio = 0.5
[[joint]]
bodies = [2, 3, 4]
type = "EPI"
points = [[0, 0], [0.3, 0.1]]
ratio = -0.4
"""


@pytest.fixture
def gears(tmp_path):
    (tmp_path / "gears.toml").write_text(GEARS)
    return mbssa.load(tmp_path / "gears.toml")


def turn_about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def random_step(mechanism, frames, size, seed=0):
    step = np.random.default_rng(seed).uniform(-size, size, (mechanism.n_bodies, 6))
    step[0] = 0
    if mechanism.space == "planar":
        step[:, 2:5] = 0
    step[:, :3] *= frames.size
    return step


def check_jacobian(mechanism):
    frames = joint_frames(mechanism)
    start = Configuration.reference(frames).moved(random_step(mechanism, frames, 0.2))
    jacobian = rows_at(mechanism, frames, start).matrix(np.arange(1, mechanism.n_bodies))
    columns = (0, 1, 5) if mechanism.space == "planar" else range(6)
    h = 1e-6
    for k, (body, axis) in enumerate((b, a) for b in range(1, mechanism.n_bodies) for a in columns):
        step = np.zeros((mechanism.n_bodies, 6))
        step[body, axis] = h * (frames.size if axis < 3 else 1.0)
        plus, minus = (rows_at(mechanism, frames, start.moved(s)).residual for s in (step, -step))
        constraints = ~rows_at(mechanism, frames, start).drive
        difference = (plus - minus)[constraints] / (2 * h)
        assert np.abs(difference - jacobian[constraints, k]).max() < 1e-8


@pytest.mark.parametrize("name", mbssa.builtin_names())
def test_world_jacobian_against_differences(name):
    check_jacobian(mbssa.load(name))


def test_gear_jacobian_against_differences(gears):
    check_jacobian(gears)


def test_gears_keep_their_relation_over_many_turns(gears):
    """Sun turned by α, carrier by β: an external mesh turns the planet by ((1 + ρ) β - α) / ρ."""
    frames = joint_frames(gears)
    at = Configuration.reference(frames)
    centre = np.array([0.3, 0.1, 0.0])
    for alpha, beta in ((1.0, 0.0), (0.0, 1.0), (9.0, -7.0), (40.0, 25.0)):
        planet = (1.5 * beta - alpha) / 0.5
        turned = turn_about_z(beta)
        position = at.position.copy()
        position[2] = turned @ centre
        angle = at.angle + np.array([0.0, alpha, planet, beta])
        rotation = np.array(
            [[[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]] for a in angle]
        )
        rows = rows_at(gears, frames, Configuration(position, rotation, angle, at.centre))
        external = rows.residual[rows.joint == 3]
        assert np.abs(external).max() < 1e-12
        hinges = rows.residual[rows.joint < 3]
        assert np.abs(hinges).max() < 1e-12


@pytest.mark.parametrize("name", mbssa.builtin_names())
def test_canonical_frames_say_the_same_as_the_shorthand(name):
    mechanism = mbssa.load(name)
    frames = joint_frames(mechanism)
    planar = mechanism.space == "planar"
    geometry = {}
    for j, given in mechanism.joint_geometry.items():
        sides = tuple(
            JointFrame(
                tuple(frames.origin[j, side][: 2 if planar else 3]),
                None if planar else tuple(frames.axes[j, side][:, 2]),
                tuple(frames.axes[j, side][: 2 if planar else 3, 0]),
            )
            for side in (0, 1)
        )
        geometry[j] = JointGeometry(
            frames=sides,
            pitch=given.pitch,
            radius=given.radius,
            offsets=given.offsets,
            length=given.length or frames.parameters["length"][j] or None,
        )
    same = joint_frames(replace(mechanism, joint_geometry=geometry))
    known = list(geometry)
    assert np.abs(same.origin[known] - frames.origin[known]).max() < 1e-14
    assert np.abs(same.axes[known] - frames.axes[known]).max() < 1e-14


def test_coordinates_have_their_values_at_the_reference():
    """``at_reference`` is what the coordinates read there, whatever the type."""
    from mbssa.joints import CATALOGUE
    from mbssa.joints.equations import coordinates, equations_of

    for name in mbssa.builtin_names():
        mechanism = mbssa.load(name)
        frames = joint_frames(mechanism)
        at = Configuration.reference(frames)
        for j in range(mechanism.n_joints):
            row = CATALOGUE[int(mechanism.joint_type[j])]
            rows = equations_of(row)
            if rows is None or not frames.known[j]:
                continue
            body = np.array([mechanism.joint_bodies(j)[:2]])
            d, C, _, _ = relative_pose(frames, at, np.array([j]), body)
            parameters = {key: values[[j]] / frames.size for key, values in frames.parameters.items()}
            found, _ = coordinates(rows, d, C, parameters)
            geometry = mechanism.joint_geometry.get(j)
            wanted = dict(geometry.at_reference) if geometry is not None else {}
            for k, coordinate in enumerate(row.coordinates):
                scale = frames.size if coordinate.startswith(("slide", "x", "y", "z")) else 1.0
                assert found[0, k] * scale == pytest.approx(wanted.get(coordinate, 0.0), abs=1e-12)


@pytest.mark.parametrize("name", ["rotor", "spatial_4r", "slider_crank", "stewart", "theo_jansen", "rssr"])
def test_assembling_from_a_disturbed_start(name):
    mechanism = mbssa.load(name)
    frames = joint_frames(mechanism)
    start = Configuration.reference(frames).moved(random_step(mechanism, frames, 0.05))
    found = assemble(mechanism, frames, start)
    assert found.closed, found.fault
    assert found.residual < 1e-12
    assert found.moved.max() > 0


def test_moving_the_world_changes_no_residual():
    mechanism = mbssa.load("rotor")
    frames = joint_frames(mechanism)
    at = Configuration.reference(frames).moved(random_step(mechanism, frames, 0.1))
    turn, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))
    turn *= np.linalg.det(turn)
    shift = np.array([1.0, -2.0, 3.0])
    moved = Configuration(at.position @ turn.T + shift, turn @ at.rotation, at.angle, at.centre)
    # The frame moves with the rest: only relative poses count.
    one, two = (rows_at(mechanism, frames, c).residual for c in (at, moved))
    assert np.abs(one - two).max() < 1e-12
