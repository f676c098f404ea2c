"""Wheels are drawn where they touch: teeth of gears that mesh, cones, and tracks."""

import numpy as np
import pytest

import groups
import mbssa
from groups.pictures.scene import scene_of
from groups.trajectory import at_rest
from mbssa.joints.frames import joint_frames


def drawn(name):
    """The scene at the reference."""
    mechanism = mbssa.load(name)
    frames = joint_frames(mechanism)
    rest = at_rest(mechanism, frames.reference, np.arange(mechanism.n_bodies))
    return frames, scene_of(rest, 1)


def rims(frames, scene):
    """World points of the rims by body and pitch radius: (radius, teeth, points)."""
    found = {}
    for outline in (line for line in scene.lines if not line.kind):
        points = frames.position[outline.body] + outline.points @ frames.rotation[outline.body].T
        found.setdefault(scene.mechanism.body_name(outline.body), []).append(points)
    return found


def pitch_radius(points, centre):
    """Mean of the radii of tip and root, which lie 1 module over and 1.25 under the pitch circle."""
    away = np.linalg.norm(points - centre, axis=1)
    teeth = len(points) // 4
    return away.max() / (1 + 2 / teeth), away.min() / (1 - 2.5 / teeth), teeth


def test_the_wheels_of_a_planetary_set_have_their_pitch_radii_and_teeth_in_their_ratio():
    frames, scene = drawn("planetary")
    found = rims(frames, scene)
    assert {name: len(lines) for name, lines in found.items()} == {
        "sun": 1, "planet": 1, "planet_2": 1, "planet_3": 1, "frame": 2,
    }  # fmt: skip
    teeth = {}
    for name, radius in (("sun", 0.024), ("planet", 0.018), ("planet_2", 0.018), ("planet_3", 0.018)):
        (points,) = found[name]
        centre = points[:-1].mean(axis=0)
        tip, root, teeth[name] = pitch_radius(points, centre)
        assert (tip, root) == pytest.approx((radius, radius), rel=1e-9)
    ring = min(found["frame"], key=lambda line: np.linalg.norm(line, axis=1).max())
    away = np.linalg.norm(ring, axis=1)
    teeth["frame"] = len(ring) // 4
    assert away.min() == pytest.approx(0.06 * (1 - 2 / teeth["frame"]))
    assert teeth["sun"] / teeth["planet"] == pytest.approx(4 / 3)
    assert teeth["frame"] / teeth["planet"] == pytest.approx(10 / 3)


@pytest.mark.parametrize(
    ("name", "first", "second"), [("planetary", "sun", "planet"), ("planetary", "planet", "frame")]
)
def test_teeth_stand_in_gaps(name, first, second):
    """No tip of the one lies in the material of the other, and some lie below its tips."""
    from matplotlib.path import Path

    frames, scene = drawn("planetary")
    found = rims(frames, scene)
    one, other = found[first][0][:, :2], found[second][0][:, :2]
    inside = Path(other).contains_points(one)
    if second == "frame":
        inside = ~inside
    assert not inside.any()
    gap = np.linalg.norm(one[:, None] - other[None], axis=2).min()
    assert gap < 0.1 * np.ptp(one[:, 0])


def test_the_circles_of_bevel_gears_touch():
    frames, scene = drawn("differential")
    mechanism, marks = scene.mechanism, scene.marks
    radii = {mechanism.joint_ids[mark.joint]: mark.radii for mark in marks if mark.radii is not None}
    assert radii["final_drive"] == pytest.approx((0.022, 0.082))
    assert radii["3-4-6"] == pytest.approx((0.032, 0.02))
    for mark in marks:
        if mark.radii is None:
            continue
        # The rims come nearest to each other in one point.
        rims = []
        for side, body in enumerate(mark.bodies):
            turn = np.linspace(0, 2 * np.pi, 7201)[:, None]
            axes, radius = frames.rotation[body] @ mark.axes[side], mark.radii[side]
            rims.append(mark.origin[side] + radius * (np.cos(turn) * axes[:, 0] + np.sin(turn) * axes[:, 1]))
        coarse, fine = rims[0][::60], rims[1]
        near = np.linalg.norm(coarse[:, None] - fine[None, ::60], axis=2).min()
        assert near < 0.1 * min(mark.radii)


def test_a_rack_is_the_track_of_its_pinion_a_wheel_of_that_radius():
    frames, scene = drawn("rack_steering")
    found = rims(frames, scene)
    (pinion,) = found["column"]
    tip, root, _ = pitch_radius(pinion, pinion[:-1].mean(axis=0))
    assert (tip, root) == pytest.approx((0.008, 0.008), rel=1e-9)
    (rack,) = found["rack"]
    assert rack[:, 1].mean() == pytest.approx(-0.16, abs=0.001)
    (track,) = (line for line in scene.lines if line.kind == "track")
    assert scene.mechanism.body_name(track.body) == "rack"
    assert track.points[:, 1] == pytest.approx([-0.16, -0.16])


def test_a_wheel_on_the_ground_is_smooth():
    wheel = mbssa.load({
        "format": 1,
        "space": "planar",
        "body": [{"name": "cart"}, {"name": "wheel"}],
        "joint": [
            {"bodies": [1, 2], "type": "P", "axis": [1.0, 0.0], "driven": 1},
            {"bodies": [2, 3], "type": "R", "point": [0.0, 0.05]},
            {"bodies": [1, 3], "type": "RP", "point": [0.0, 0.05], "axis": [1.0, 0.0], "radius": 0.05},
        ],
    })  # fmt: skip
    motion = groups.sample(wheel, {"1-2.slide": groups.speed(0.1)}, np.linspace(0.0, 1.0, 5))
    trajectory = groups.build(mbssa.decompose(wheel)).solve(motion)
    assert trajectory.ok
    scene = scene_of(trajectory, 5)
    (rim,) = (line for line in scene.lines if not line.kind)
    assert np.linalg.norm(rim.points - rim.points[:-1].mean(axis=0), axis=1) == pytest.approx(0.05)
