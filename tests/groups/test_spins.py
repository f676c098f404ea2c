"""Passive rotations are held by geometry: definite, path-independent, and turned with the world."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import groups
import mbssa
from groups import solve_globally
from groups.motion import default_motion
from groups.motion.sampled import reference_values
from groups.rotations import rotation_of
from groups.setting import locked_rotations
from mbssa.joints.frames import joint_frames

SPINNING = ["rssr", "six_sps"]


def spins_of(mechanism):
    return locked_rotations(mbssa.decompose(mechanism), joint_frames(mechanism))


@pytest.mark.parametrize("name", SPINNING)
def test_the_axes_are_across_the_line_and_each_other_at_the_reference(name):
    mechanism = mbssa.load(name)
    frames = joint_frames(mechanism)
    spins = spins_of(mechanism)
    assert spins
    for spin in spins:
        fixed, moving = frames.rotation[0] @ spin.in_frame, frames.rotation[spin.body] @ spin.in_body
        for one, other in ((fixed, moving), (fixed, spin.direction), (moving, spin.direction)):
            assert abs(one @ other) < 1e-12
        assert abs(np.linalg.norm(fixed) - 1) < 1e-12
        assert abs(np.linalg.norm(moving) - 1) < 1e-12


@pytest.mark.parametrize("name", SPINNING)
def test_the_axes_stay_across_and_a_closed_path_leads_home(name):
    mechanism = mbssa.load(name)
    start = list(reference_values(mechanism).items())
    turns = [
        (n, groups.harmonic(0.05, 1.0, phase, v - 0.05 * np.sin(phase))) for phase, (n, v) in enumerate(start)
    ]
    motion = groups.sample(mechanism, dict(turns), np.linspace(0.0, 1.0, 21))
    trajectory = solve_globally(mbssa.decompose(mechanism), motion, compiled=False)
    assert trajectory.ok
    for spin in spins_of(mechanism):
        turned = rotation_of(trajectory.orientation[:, spin.body]) @ spin.in_body
        assert np.abs(turned @ spin.in_frame).max() < 1e-12
    assert np.abs(np.diff(trajectory.position, axis=0)).max() > 1e-4
    assert np.abs(trajectory.position[0] - trajectory.position[-1]).max() < 1e-12
    assert np.abs(trajectory.orientation[0] - trajectory.orientation[-1]).max() < 1e-12


@pytest.mark.parametrize("name", SPINNING)
def test_a_turned_world_gives_a_turned_answer(name):
    base = replace(mbssa.load(name), body_geometry={})
    turn = Rotation.from_rotvec([0.7, -1.1, 0.4]).as_matrix()

    def turned(vector):
        return None if vector is None else tuple((turn @ vector).tolist())

    geometry = {
        j: replace(
            g,
            point=turned(g.point),
            axis=turned(g.axis),
            axes=None if g.axes is None else tuple(turned(v) for v in g.axes),
        )
        for j, g in base.joint_geometry.items()
    }
    other = replace(base, joint_geometry=geometry)
    for one, two in zip(spins_of(base), spins_of(other), strict=True):
        assert np.abs(np.abs(turn @ one.in_frame @ two.in_frame) - 1) < 1e-12
    motion = default_motion(base, steps=9)
    here, there = (solve_globally(mbssa.decompose(m), motion, compiled=False) for m in (base, other))
    point = np.array([0.3, -0.2, 0.5])
    for body in range(2, base.n_bodies + 1):
        path, image = here.body(body).point(point), there.body(body).point(turn @ point)
        assert np.abs(path @ turn.T - image).max() < 1e-9


def test_without_an_axis_across_the_line_a_world_axis_is_taken():
    """A slide in line with the rod, and ball joints: no joint axis is across."""
    mechanism = mbssa.load("rssr")
    along = spins_of(mechanism)[0].direction
    geometry = {
        j: replace(g, axis=tuple(along.tolist())) if g.axis is not None else g
        for j, g in mechanism.joint_geometry.items()
    }
    structure = replace(mbssa.decompose(mechanism), mechanism=replace(mechanism, joint_geometry=geometry))
    (spin,) = locked_rotations(structure, joint_frames(structure.mechanism))
    nearest = np.eye(3)[np.argmin(np.abs(along))]
    expected = nearest - (nearest @ along) * along
    assert np.abs(spin.in_frame - expected / np.linalg.norm(expected)).max() < 1e-12


def test_what_does_not_spin_is_not_held():
    assert spins_of(mbssa.load("rotor")) == []
    assert spins_of(mbssa.load("spatial_4r")) == []
