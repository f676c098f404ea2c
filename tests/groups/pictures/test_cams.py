"""Outlines of cams and followers: where the bodies are, they touch and do not cross."""

import numpy as np
import pytest

import groups
import mbssa
from groups.pictures.scene import Scene, outlines_of, scene_of
from mbssa.joints.frames import joint_frames


def outlines(name, steps=37, bodies=None):
    """The scene of a model's own motion, and the outlines in it."""
    mechanism = mbssa.load(name)
    model = groups.build(mbssa.decompose(mechanism))
    trajectory = model.solve(groups.default_motion(mechanism, steps=steps), bodies=bodies, compiled=False)
    scene = scene_of(trajectory, steps)
    return scene, outlines_of(scene)


def distances(line, points):
    """(n,) of points (n, 2) to a line through points (m, 2)."""
    start, along = line[:-1], np.diff(line, axis=0)
    share = ((points[:, None] - start) * along).sum(-1) / (along * along).sum(-1)
    nearest = start + np.clip(share, 0.0, 1.0)[..., None] * along
    return np.linalg.norm(points[:, None] - nearest, axis=-1).min(axis=1)


@pytest.mark.parametrize("name", ["cam_roller", "cam_swing"])
def test_a_roller_touches_its_profile_at_every_instant(name):
    scene, (profile, roller) = outlines(name)
    assert (profile.body, roller.body) == (1, 2)
    assert profile.closed
    assert roller.closed
    radius = np.ptp(roller.points[:, 0]) / 2
    rims = scene.world(1, profile.points)[..., :2]
    centres = scene.world(2, roller.points)[:, :-1, :2].mean(axis=1)
    for rim, centre in zip(rims, centres, strict=True):
        assert distances(rim, centre[None]) == pytest.approx(radius, rel=2e-3)


def test_a_face_is_as_wide_as_the_cam_needs():
    """15.04 mm to both sides and a little more; the profile stays below it."""
    scene, (profile, face) = outlines("cam_flat", 73)
    assert not face.closed
    assert (face.points[0, 0] > -0.022) & (face.points[0, 0] < -0.015)
    assert face.points[0, 0] == pytest.approx(-face.points[1, 0], rel=0.01)
    rims, faces = scene.world(1, profile.points), scene.world(2, face.points)
    gap = faces[:, 0, 1] - rims[..., 1].max(axis=1)
    assert (gap > -1e-9).all()
    assert (gap < 1e-4).all()


def test_two_profiles_touch_and_do_not_cross():
    scene, (first, second) = outlines("involute_teeth", 13)
    assert (first.body, second.body) == (1, 2)
    assert not first.closed
    for a, b in zip(*(scene.world(line.body, line.points)[..., :2] for line in (first, second)), strict=True):
        assert distances(a, b).min() < 2e-5


def test_what_is_not_drawn_has_no_outline():
    _, found = outlines("cam_flat", 5, bodies=["tappet"])
    (face,) = found
    assert face.body == 2
    # Where the cam is not known, the face is as wide as the cam.
    assert np.ptp(face.points[:, 0]) == pytest.approx(0.081, rel=0.05)


def test_mechanisms_without_cams_have_none():
    assert outlines("planar_four_bar", 5)[1] == []


def test_profiles_of_force_elements_and_terrains_are_drawn_with_their_rollers():
    m = mbssa.Builder("planar", length="mm").bodies("cam", "lifter")
    m.revolute("frame", "cam", point=(5, 0), driven=True).prismatic(
        "frame", "lifter", point=(0, 50), axis=(0, 1), driven=True
    )
    eccentric = {"circle": {"radius": 30, "centre": [12, 0]}, "follower": "roller", "radius": 10}
    m.force("contact", bodies=["cam", "lifter"], points=[(5, 0), (0, 50)], profile=eccentric, stiffness=1.0)
    hill = [(-100, -30), (0, -20), (100, -30)]
    m.force("terrain", bodies=["lifter"], point=(0, 50), radius=8, terrain=hill, stiffness=1.0)
    mechanism = m.build()
    frames = joint_frames(mechanism)
    poses = frames.position[None], np.tile([1.0, 0.0, 0.0, 0.0], (1, 3, 1))
    still = Scene(mbssa.decompose(mechanism), frames, (0, 1, 2), *poses, np.zeros(1, dtype=int))
    found = outlines_of(still)
    assert [(one.body, one.closed) for one in found] == [(1, True), (2, True), (0, False), (2, True)]
    cam, roller, ground, wheel = (frames.position[one.body, :2] + one.points[:, :2] for one in found)
    np.testing.assert_allclose(np.hypot(*(cam - (0.017, 0.0)).T), 0.03, rtol=1e-9)
    np.testing.assert_allclose(np.hypot(*(roller - (0.0, 0.05)).T), 0.01, rtol=1e-9)
    np.testing.assert_allclose(np.hypot(*(wheel - (0.0, 0.05)).T), 0.008, rtol=1e-9)
    assert np.abs(ground - (0.0, -0.02)).sum(axis=1).min() < 1e-3
