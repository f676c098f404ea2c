"""Closing a mechanism whose reference is a little off, or far off, or cannot be closed."""

import numpy as np
import pytest

import mbssa
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import Configuration

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


@pytest.mark.parametrize("off", [0.0, 1e-5, 0.002, -0.004])
def test_what_is_driven_stays_and_the_rest_closes(read, off):
    mechanism = read(CAM.format(height=HEIGHT + off))
    found = assemble(mechanism, joint_frames(mechanism), hold=True)
    assert found.closed
    assert abs(found.configuration.angle[1]) < 1e-12
    assert abs(found.configuration.position[2, 1] + off) < 1e-12


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
    reference = Configuration.reference(frames)
    yield reference
    dice = np.random.default_rng(3)
    for size in (1e-17, 1e-15):
        step = np.zeros((mechanism.n_bodies, 6))
        step[1:, [0, 1, 5]] = size * dice.normal(size=(mechanism.n_bodies - 1, 3))
        yield reference.moved(step)


@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        chain(1.0, 3.0, 2.0, base=3.5),
        chain(0.4, 0.5, 0.6, 0.7, base=0.3),
        chain(0.1, 0.1, 0.0, base=0.0),
        chain(0.1, 0.3, base=0.4),
        chain(0.2, 0.2, base=0.0),
        chain(1.0, 2.0, 1.0, base=4.0),
    ],
    ids=["four-bar", "five-bar", "folded, a link of no length", "stretched", "folded", "stretched four-bar"],
)
def test_links_that_lie_in_one_line_are_assembled(read, text, hold):
    """The residual of a reference with all links in one line is stationary, but not least: a saddle."""
    mechanism = read(text)
    frames = joint_frames(mechanism)
    for start in noisy_starts(mechanism, frames):
        found = assemble(mechanism, frames, start, hold=hold)
        assert found.closed, found.fault
        assert not hold or abs(found.configuration.angle[1]) < 1e-9


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        (chain(0.1, 0.1, 0.0, base=5.0), 4.8),
        (chain(0.1, 0.1, 0.0, base=0.200001), 1e-6),
        (chain(1.0, 1.0, base=3.0), 1.0),
        (chain(0.5, 0.1, 0.1, base=0.2), 0.1),
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


@pytest.mark.parametrize(
    "name", ["rotor", "spatial_4r", "stewart", "theo_jansen", "rssr", "bennett", "nine_bar"]
)
def test_far_starts_are_assembled(name):
    """With every body turned by up to half a radian and moved by half the mechanism's size."""
    mechanism = mbssa.load(name)
    frames = joint_frames(mechanism)
    dice = np.random.default_rng(5)
    columns = [0, 1, 5] if mechanism.space == "planar" else [0, 1, 2, 3, 4, 5]
    step = np.zeros((mechanism.n_bodies, 6))
    step[1:, columns] = dice.uniform(-0.5, 0.5, size=(mechanism.n_bodies - 1, len(columns)))
    step[:, :3] *= frames.size
    found = assemble(mechanism, frames, Configuration.reference(frames).moved(step))
    assert found.closed, found.fault
