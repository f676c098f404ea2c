"""Closing a mechanism whose reference is a little off, or far off, or cannot be closed."""

import numpy as np
import pytest

import mbssa
from mbssa.io.records import from_record, to_record
from mbssa.joints.assembly import _Steps, assemble
from mbssa.joints.frames import joint_frames
from mbssa.joints.limits import Limits
from mbssa.joints.system import rows_at, senses_at

CAM = """
format = 1
space = "planar"
bodies = 3

[[joint]]
bodies = [1, 2]
type = "R"
driven = true
point = [0.0, 0.0]

[[joint]]
bodies = [1, 3]
type = "P"
axis = [0.0, 1.0]

[[joint]]
bodies = [2, 3]
type = "L"
profile = {{ circle = {{ radius = 0.02, centre = [0.005, 0.0] }}, follower = "roller", radius = 0.008 }}
points = [[0.0, 0.0], [0.0, {height}]]
"""

#: Where the roller of an eccentric stands above its axis.
HEIGHT = np.sqrt(0.028**2 - 0.005**2)


def test_what_is_driven_stays_and_the_rest_closes(read):
    for off in [0.0, 1e-5, 0.002, -0.004]:
        mechanism = read(CAM.format(height=HEIGHT + off))
        found = assemble(mechanism, joint_frames(mechanism), hold=True)
        assert found.closed, off
        assert abs(found.configuration.angle[1]) < 1e-12, off
        assert abs(found.configuration.position[2, 1] + off) < 1e-12, off


def test_what_is_driven_is_moved_where_it_has_to(read):
    """The slider is driven too: two drives for one freedom cannot both stay."""
    mechanism = read(CAM.format(height=HEIGHT + 0.002).replace("axis =", "driven = true\naxis ="))
    found = assemble(mechanism, joint_frames(mechanism), hold=True)
    assert found.closed
    assert abs(found.configuration.angle[1]) > 1e-3


def chain(*links, base):
    """Links in one line from the world's origin, revolute joints between them, the last one ``base`` away."""
    ends = [0.0, *links]
    text = 'format = 1\nspace = "planar"\nbodies = ' + f"{len(links) + 1}\n"
    for k in range(len(links)):
        text += joint(k + 1, k + 2, ends[k], 0.0) + ("driven = true\n" if k == 0 else "")
    return text + joint(1, len(links) + 1, base, links[-1])


def joint(i, j, on_i, on_j):
    frames = f"[{{ origin = [{on_i}, 0] }}, {{ origin = [{on_j}, 0] }}]"
    return f'[[joint]]\nbodies = [{i}, {j}]\ntype = "R"\nframes = {frames}\n'


def noisy_starts(mechanism, frames):
    """The reference, and the reference as other processors would round it."""
    reference = frames.reference
    yield reference
    dice = np.random.default_rng(3)
    step = np.zeros((mechanism.n_bodies, 6))
    step[1:, [0, 1, 5]] = 1e-15 * dice.normal(size=(mechanism.n_bodies - 1, 3))
    yield reference.moved(step, frames.centre)


@pytest.mark.parametrize("hold", [False, True])
def test_links_that_lie_in_one_line_are_assembled(read, hold):
    """The residual of a reference with all links in one line is stationary, but not least: a saddle."""
    for text in [
        chain(1.0, 3.0, 2.0, base=3.5),
        chain(0.4, 0.5, 0.6, 0.7, base=0.3),
        chain(0.1, 0.1, 0.0, base=0.0),
        chain(0.1, 0.3, base=0.4),
        chain(0.2, 0.2, base=0.0),
        chain(1.0, 2.0, 1.0, base=4.0),
    ]:
        mechanism = read(text)
        frames = joint_frames(mechanism)
        for start in noisy_starts(mechanism, frames):
            found = assemble(mechanism, frames, start, hold=hold)
            assert found.closed, found.fault
            assert not hold or abs(found.configuration.angle[1]) < 1e-9, text


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        pytest.param(chain(0.1, 0.1, 0.0, base=5.0), 4.8, marks=pytest.mark.slow),
        (chain(0.1, 0.1, 0.0, base=0.200001), 1e-6),
        (chain(1.0, 1.0, base=3.0), 1.0),
        pytest.param(chain(0.5, 0.1, 0.1, base=0.2), 0.1, marks=pytest.mark.slow),
    ],
    ids=["far", "a millionth", "triangle", "a link too long"],
)
def test_links_too_short_are_told_everywhere_alike(read, text, gap):
    mechanism = read(text)
    frames = joint_frames(mechanism)
    for start in noisy_starts(mechanism, frames):
        found = assemble(mechanism, frames, start, hold=True)
        assert not found.closed
        assert found.stationary
        assert found.fault.startswith("joint 1-2 R cannot close: its position ")
        # The least sum of squares divides the gap among the joints alike.
        assert found.residual * frames.size == pytest.approx(gap / mechanism.n_joints, rel=1e-3)


def test_far_starts_are_assembled():
    """With every body turned by up to half a radian and moved by half the mechanism's size."""
    for name in ["rotor", "spatial_4r", "stewart", "theo_jansen", "rssr", "bennett", "nine_bar"]:
        mechanism = mbssa.load(name)
        frames = joint_frames(mechanism)
        dice = np.random.default_rng(5)
        columns = [0, 1, 5] if mechanism.space == "planar" else [0, 1, 2, 3, 4, 5]
        step = np.zeros((mechanism.n_bodies, 6))
        step[1:, columns] = dice.uniform(-0.5, 0.5, size=(mechanism.n_bodies - 1, len(columns)))
        step[:, :3] *= frames.size
        found = assemble(mechanism, frames, frames.reference.moved(step, frames.centre))
        assert found.closed, found.fault


# --- axes that are turned round ----------------------------------------------------------------------

FLIPPED = """<robot name="flipped"><link name="base"/><link name="plate"/><link name="end"/>
  <link name="one"/><link name="two"/><link name="rod"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="plate"/><axis xyz="0 0 1"/></joint>
  <joint name="tip" type="fixed"><origin xyz="0.1 0 0" rpy="3.1 0 0"/>
    <parent link="plate"/><child link="end"/></joint>
  <joint name="about_x" type="continuous"><origin xyz="0 0.1 0"/>
    <parent link="base"/><child link="one"/><axis xyz="1 0 0"/></joint>
  <joint name="about_y" type="continuous"><parent link="one"/><child link="two"/><axis xyz="0 1 0"/></joint>
  <joint name="about_z" type="continuous"><parent link="two"/><child link="rod"/><axis xyz="0 0 1"/></joint>
</robot>"""


@pytest.fixture
def flipped(tmp_path):
    """A plate on a hinge, welded to a rod on three hinges whose axis points down in the plate."""
    (tmp_path / "robot.urdf").write_text(FLIPPED)
    (tmp_path / "robot.yaml").write_text("closed_loop: [[end, rod]]\ntype: [6d]\n")
    with pytest.warns(UserWarning, match="plate"):
        return mbssa.load(tmp_path / "robot.urdf")


def test_an_axis_turned_round_at_an_open_reference_is_turned_back(flipped):
    frames = joint_frames(flipped)
    first = frames.reference
    assert senses_at(flipped, frames, first).residual.min() < -0.9
    found = assemble(flipped, frames)
    assert found.closed, found.fault
    assert senses_at(flipped, frames, found.configuration).residual.min() > 0.9
    names = flipped.body_names
    plate, two = (found.configuration.rotation[names.index(name)] for name in ("plate", "two"))
    # The tip meets the hinges above it, by a quarter of a turn; the rod's axis is 3.1 rad from the plate's.
    np.testing.assert_allclose(plate, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-9)
    assert np.arccos(two[:, 2] @ plate[:, 2]) == pytest.approx(3.1, abs=1e-9)


def test_equations_of_senses_against_finite_differences(flipped):
    frames = joint_frames(flipped)
    dice = np.random.default_rng(3)
    step = np.zeros((flipped.n_bodies, 6))
    step[1:] = dice.uniform(-1, 1, (flipped.n_bodies - 1, 6))
    at = frames.reference.moved(step, frames.centre)
    matrix = senses_at(flipped, frames, at).matrix(np.arange(1, flipped.n_bodies))
    h = 1e-6
    for column in range(matrix.shape[1]):
        step = np.zeros((flipped.n_bodies, 6))
        step[1 + column // 6, column % 6] = h * (frames.size if column % 6 < 3 else 1.0)
        plus, minus = (senses_at(flipped, frames, at.moved(s, frames.centre)).residual for s in (step, -step))
        np.testing.assert_allclose(matrix[:, column], (plus - minus) / (2 * h), atol=1e-8)


def test_axes_drawn_at_right_angles_find_their_sense():
    """Bodies turned by 2 rad, so that some axes are nearly at right angles, where any step changes a sign."""
    for seed in range(8):
        mechanism = mbssa.load("spatial_4r")
        frames = joint_frames(mechanism)
        turn = np.random.default_rng(seed).normal(size=(3, 3))
        step = np.zeros((4, 6))
        step[1:, 3:] = 2.0 * turn / np.linalg.norm(turn, axis=1, keepdims=True)
        drawn = frames.reference.moved(step, frames.centre)
        found = assemble(mechanism, frames, drawn)
        assert found.closed, (seed, found.fault)
        assert (senses_at(mechanism, frames, found.configuration).residual > 0.999).all(), seed


def test_steps_by_parts_are_those_of_the_whole():
    """Two linkages on one frame: the step of minimum norm, and a damped one, of the whole matrix."""
    record = to_record(mbssa.load("spatial_4r"))
    for body in list(record["body"]):
        record["body"].append(body | {"name": f"{body['name']} again"})
    again = {"frame": "frame"} | {b["name"]: f"{b['name']} again" for b in record["body"][:3]}
    for joint in list(record["joint"]):
        twin = {**joint, "bodies": [again[b] for b in joint["bodies"]]}
        record["joint"].append({key: value for key, value in twin.items() if key not in ("id", "driven")})
    record.pop("motion", None)
    mechanism = from_record(record, "twins", "twins")
    frames = joint_frames(mechanism)
    moved = np.random.default_rng(3).uniform(-0.1, 0.1, (mechanism.n_bodies, 6))
    moved[0] = 0.0
    rows = rows_at(mechanism, frames, frames.reference.moved(moved, frames.centre)).constraints
    steps = _Steps(mechanism, rows, 1e-9)
    assert [len(columns) for columns, *_ in steps._parts] == [18, 18]
    matrix = rows.matrix(np.arange(1, mechanism.n_bodies))
    whole = np.linalg.lstsq(matrix, -rows.residual, rcond=1e-9)[0]
    assert np.abs(steps.damped(0.0)[1:].ravel() - whole).max() < 1e-12
    damping = 1e-3 * np.linalg.norm(matrix, 2) ** 2
    normal = np.linalg.solve(matrix.T @ matrix + damping * np.eye(36), -matrix.T @ rows.residual)
    assert np.abs(steps.damped(1e-3)[1:].ravel() - normal).max() < 1e-12


def open_loop(b, d, coupler=0.0, rocker=0.0):
    """A four-bar of bars drawn at some angles, with limits of the angles b and d."""
    joint = '[[joint]]\nid = "{}"\nbodies = ["{}", "{}"]\ntype = "R"\nframes = [{}, {}]\n{}\n'
    at = "{{ origin = [{}, 0] }}".format
    return f"""
format = 1
space = "planar"
body = [{{ name = "crank" }}, {{ name = "coupler", origin = [0.3, 0], orientation = {coupler} }},
        {{ name = "rocker", origin = [0.6, 0], orientation = {rocker} }}]
""" + "".join([
        joint.format("a", "frame", "crank", at(0), at(0), "driven = true"),
        joint.format("b", "crank", "coupler", at(0.3), at(0), f"limits = {{ angle = [{b}] }}"),
        joint.format("d", "frame", "rocker", at(0.6), at(0), f"limits = {{ angle = [{d}] }}"),
        joint.format("c", "coupler", "rocker", at(0.7), at(0.5), ""),
    ])  # fmt: skip


def triangle(side):
    """Angles b and d of the coupler of 0.7 m from (0.3, 0) and the rocker of 0.5 m from (0.6, 0)."""
    b = side * np.arccos((0.3**2 + 0.7**2 - 0.5**2) / (2 * 0.3 * 0.7))
    d = np.pi - side * np.arccos((0.3**2 + 0.5**2 - 0.7**2) / (2 * 0.3 * 0.5))
    return b, (d + np.pi) % (2 * np.pi) - np.pi


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("turns", [0, 2 * np.pi])
def test_an_open_loop_is_closed_within_the_limits_of_its_joints(read, side, turns):
    b, d = triangle(side)
    mechanism = read(open_loop(f"{b - 0.3}, {b + 0.3}", f"{d - 0.2 + turns}, {d + 0.4 + turns}"))
    frames = joint_frames(mechanism)
    found = assemble(mechanism, frames, hold=True)
    assert found.closed
    assert not found.outside
    limits = Limits.of(mechanism, frames)
    np.testing.assert_allclose(limits.values(found.configuration), [b, d + turns], atol=1e-9)
    assert not limits.outside(found.configuration).any()


def test_without_an_assembly_within_the_limits_the_nearest_two_are_named(read):
    """A rocker held at d leaves two angles b, neither of which is allowed."""
    b, d = triangle(1)
    mechanism = read(open_loop(f"{b + 0.5}, {b + 0.51}", f"{d}, {d + 0.01}"))
    found = assemble(mechanism, joint_frames(mechanism), hold=True)
    assert found.closed
    assert found.outside.count("b.angle = ") == 2
    report = mbssa.check(mechanism)
    assert [found.outside in finding.text for finding in report.findings if "limits" in finding.text] == [
        True
    ]


def test_a_loop_that_is_drawn_closed_stays_outside_the_limits_of_its_joints(read):
    b, d = triangle(1)
    mechanism = read(open_loop(f"{-b - 0.3}, {-b + 0.3}", "-4, 4", b, d))
    found = assemble(mechanism, joint_frames(mechanism), hold=True)
    assert found.closed
    assert found.moved.max() < 1e-9
