"""Effect of locked passive rotations on the other bodies, against the model whose rotation is free."""

import dataclasses

import numpy as np
import pytest
from dense_forces import with_masses

import groups
import mbssa

RATES = ("value", "rate", "acceleration")


def freed(mechanism, ball):
    """The mechanism with one more input, by which the rod turns freely."""
    return mbssa.with_inputs(mechanism, [*mechanism.driven_coordinates, f"{ball}.angle_x"])


def free_forces(trajectory, motion, ball):
    """Forces with no torque at the rod's rotation, whose place and rate are those of the convention."""
    mechanism = freed(trajectory.mechanism, ball)
    model = groups.build(mbssa.decompose(mechanism))
    roll = trajectory.joint(ball)["angle_x"]
    names = model.mechanism.driven_coordinates
    found = []
    for acceleration in (0.0, 1.0):
        own = {"value": roll.value, "rate": roll.rate, "acceleration": roll.acceleration + acceleration}
        rows = {
            what: np.array(
                [own[what] if name.startswith(ball) else getattr(motion, what)[0] for name in names]
            )
            for what in RATES
        }
        solved = model.solve(groups.Motion(motion.time, names, **rows), branch="checked", compiled=False)
        np.testing.assert_allclose(solved.position, trajectory.position, atol=1e-9)
        found.append(groups.forces(solved))
    roll = next(k for k, name in enumerate(names) if name.startswith(ball))
    without, unit = (forces.driving[:, roll] for forces in found)
    share = (-without / (unit - without))[:, None]
    return lambda of: (1 - share) * of(found[0]) + share * of(found[1])


@pytest.fixture(scope="module")
def rods():
    """A rod between balls with a general inertia, and its motion."""
    mechanism = with_masses(mbssa.load("rssr"), seed=3)
    motion = groups.default_motion(mechanism, steps=5, duration=0.2)
    return groups.build(mbssa.decompose(mechanism)).solve(motion, compiled=False), motion


def test_the_effect_is_that_of_the_freed_model(rods):
    trajectory, motion = rods
    forces, size = groups.forces(trajectory), trajectory.reference.size
    free = free_forces(trajectory, motion, "2-3")
    change, whole = [], []
    for joint in range(4):
        for part, scale in (("force", 1.0), ("moment", size)):
            locked = getattr(forces.joint(joint), part) / scale
            other = free(lambda of, j=joint, p=part: getattr(of.joint(j), p)) / scale
            change.append(np.abs(other - locked).max(axis=1))
            whole.append(np.abs(locked).max())
    expected = np.max(change, axis=0) / np.max(whole)
    assert expected.max() > 0.01
    np.testing.assert_allclose(forces.lock_effect, expected, rtol=1e-7)
    assert f"{100 * expected.max():.2g} % of the largest" in forces.acting_locks()[0]


def test_there_is_none_where_the_mass_is_on_the_line(rods):
    """A rod without inertia about its line, and a mechanism without passive rotations."""
    trajectory, _ = rods
    mechanism = trajectory.mechanism
    ends = [np.array(mechanism.joint(ball).geometry.point) for ball in ("2-3", "3-4")]
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    matrix = 0.3 * (np.eye(3) - np.outer(along, along))
    rod = mbssa.Inertia(
        2.0, tuple(0.7 * ends[0] + 0.3 * ends[1]), None, tuple(matrix.diagonal()),
        (matrix[0, 1], matrix[0, 2], matrix[1, 2]),
    )  # fmt: skip
    geometry = {**mechanism.body_geometry, 2: dataclasses.replace(mechanism.body_geometry[2], inertia=rod)}
    slender = dataclasses.replace(mechanism, body_geometry=geometry)
    found = groups.forces(groups.build(mbssa.decompose(slender)).solve(compiled=False))
    assert found.lock_effect.max() < 1e-9
    assert not found.acting_locks()
    assert not groups.forces(
        groups.build(mbssa.decompose(mbssa.load("suspension"))).solve()
    ).lock_effect.any()


def test_a_file_frees_the_rotation():
    """Whichever coordinate of a ball is driven, a simulation gives the rod the same free rotation."""
    mechanism = with_masses(mbssa.load("rssr"), seed=3)
    runs = [
        groups.simulate(
            mbssa.with_inputs(mechanism, ["1-2.angle", f"2-3.{name}"]), 0.05, steps=3, tolerance=1e-10
        )
        for name in ("angle_x", "angle_z")
    ]
    locked = groups.simulate(mechanism, 0.05, steps=3, tolerance=1e-10)
    assert "passive rotations would change reactions by up to" in locked.notes[-1]
    assert not any("passive" in note for run in runs for note in run.notes)
    one, other, held = (run.trajectory.position[:, 3] for run in (*runs, locked))
    assert np.abs(one - other).max() < 1e-8
    assert np.abs(one - held).max() > 1e-5
