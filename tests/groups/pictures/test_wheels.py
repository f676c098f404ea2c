"""Wheels are drawn where they touch: pitch circles of gears, cones, and tracks."""

import numpy as np
import pytest

import mbssa
from groups.pictures.shapes import guides_of, marks_of, shapes_of
from mbssa.joints.frames import joint_frames


def drawn(name):
    mechanism = mbssa.load(name)
    frames = joint_frames(mechanism)
    bodies = range(mechanism.n_bodies)
    marks = marks_of(mechanism, frames, bodies)
    position = frames.position[None].repeat(2, axis=0)
    quaternion = np.tile([1.0, 0.0, 0.0, 0.0], (2, mechanism.n_bodies, 1))
    guides, marks = guides_of(mechanism, frames, marks, bodies, position, quaternion)
    return mechanism, frames, marks, guides, shapes_of(mechanism, frames, marks, guides, bodies)


def test_the_wheels_of_a_planetary_set_have_their_pitch_radii_and_the_frame_its_ring():
    mechanism, _, _, _, shapes = drawn("planetary")
    radii = {
        mechanism.body_name(b): sorted({round(circle[2], 9) for circle in shape.circles})
        for b, shape in enumerate(shapes)
    }
    assert radii == {
        "frame": [0.06], "sun": [0.024], "carrier": [],
        "planet": [0.018], "planet_2": [0.018], "planet_3": [0.018],
    }  # fmt: skip


def test_the_circles_of_bevel_gears_touch():
    mechanism, frames, marks, _, _ = drawn("differential")
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
    mechanism, _, _, guides, shapes = drawn("rack_steering")
    (circle,) = shapes[1].circles
    assert circle[2] == 0.008
    assert not shapes[2].circles
    (track,) = (guide for guide in guides if mechanism.joint_ids[guide.joint] == "pinion")
    assert mechanism.body_name(track.body) == "rack"
    assert track.ends[:, 1] == pytest.approx([-0.16, -0.16])
