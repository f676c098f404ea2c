"""The global approach: dense is sparse, both are the groups, rates are derivatives, faults are said."""

from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
from groups import solve_globally
from groups.global_approach import as_one_group
from groups.motion import default_motion
from groups.solvers.global_approach import system_of
from mbssa.joints.frames import joint_frames

#: One model of each kind of joint.
MODELS = ["planar_four_bar", "theo_jansen", "cam_roller", "planetary", "rotor", "stewart", "bennett",
          "universal_shafts"]  # fmt: skip

LEVELS = ("position", "orientation", "velocity", "acceleration")


def instants(name, steps=201, part=0.2):
    """The structure and a part of its own motion, in steps as fine as the whole has."""
    structure = mbssa.decompose(mbssa.load(name))
    duration = structure.mechanism.motion.duration * part
    return structure, default_motion(structure.mechanism, steps=steps, duration=duration)


def distance(one, two):
    """Largest difference of two trajectories, each level by its own largest number."""
    return max(
        np.abs(getattr(one, level) - getattr(two, level)).max() / max(1.0, np.abs(getattr(one, level)).max())
        for level in LEVELS
    )


@pytest.mark.parametrize("name", MODELS)
def test_dense_is_sparse(name):
    structure, motion = instants(name, 7, 0.01)
    dense = solve_globally(structure, motion, compiled=False)
    assert dense.ok, dense.faults()
    assert dense.status.shape == dense.residual.shape == dense.condition.shape == (7, 1)
    assert dense.residual.max() < 1e-11 * max(1.0, joint_frames(structure.mechanism).size)
    assert dense.condition.min() > 1e-6
    assert distance(dense, solve_globally(structure, motion, method="sparse", compiled=False)) < 1e-9


@pytest.mark.parametrize("name", ["bennett", "rssr", "planar_3rrr"])
def test_rates_converge_to_the_derivatives_with_the_square_of_the_step(name):
    errors = []
    for steps in (21, 41):
        structure, motion = instants(name, steps, 0.02)
        trajectory = solve_globally(structure, motion, compiled=False)
        dt = motion.time[1] - motion.time[0]
        at = slice((steps - 1) // 10 - 1, None, (steps - 1) // 10)
        linear = trajectory.position.shape[2]
        velocity = (trajectory.position[2:] - trajectory.position[:-2]) / (2 * dt)
        acceleration = (trajectory.velocity[2:] - trajectory.velocity[:-2]) / (2 * dt)
        errors.append(
            (
                np.abs((velocity - trajectory.velocity[1:-1, :, :linear])[at]).max(),
                np.abs((acceleration - trajectory.acceleration[1:-1])[at]).max(),
            )
        )
    for coarse, fine in zip(*errors, strict=True):
        assert 3.5 < coarse / fine < 4.5


@pytest.mark.parametrize("method", ["dense", "sparse"])
@pytest.mark.parametrize("name", ["bennett"])
def test_levels_leave_out_what_was_not_asked_for(name, method):
    structure, motion = instants(name, 7, 0.02)
    whole = solve_globally(structure, motion, method=method, compiled=False)
    for number, level in enumerate(("position", "velocity")):
        part = solve_globally(structure, motion, method=method, level=level, compiled=False)
        assert part.ok
        assert np.abs(part.position - whole.position).max() < 1e-11
        assert part.acceleration is None
        assert (part.velocity is None) == (number == 0)
        if part.velocity is not None:
            assert np.abs(part.velocity - whole.velocity).max() < 1e-9


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_a_motion_may_start_away_from_the_reference(method):
    structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    laws = {"1-2.angle": groups.speed(1.0, 3.0)}
    motion = groups.sample(structure.mechanism, laws, np.linspace(0, 1, 11))
    trajectory = solve_globally(structure, motion, method=method, compiled=False)
    assert trajectory.ok
    assert trajectory.position.shape == (11, 4, 2)
    assert distance(trajectory, groups.build(structure).solve(motion, compiled=False)) < 1e-9


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_out_of_reach_is_said_and_sound_instants_are_kept(method):
    """A rocker-driven pendulum four-bar cannot turn fully."""
    structure = mbssa.decompose(mbssa.load("pendulum_four_bar"))
    motion = groups.constant_speed(structure.mechanism, steps=61)
    trajectory = solve_globally(structure, motion, method=method, compiled=False)
    failed = trajectory.status[:, 0] != 0
    assert 0 < failed.sum() < len(failed)
    assert np.isnan(trajectory.position[failed, 1:]).all()
    assert np.isfinite(trajectory.position[~failed]).all()
    assert (trajectory.residual[~failed] < 1e-11).all()
    (text,) = trajectory.faults()
    assert "the whole mechanism" in text


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_inputs_that_cannot_drive_are_singular(method):
    """The published micro-manipulator: two ball joints of one body share a bar, for any geometry."""
    structure = mbssa.decompose(mbssa.load("micromanipulator"))
    motion = groups.constant_speed(structure.mechanism, rate=0.01, steps=3)
    trajectory = solve_globally(structure, motion, method=method, compiled=False)
    assert (trajectory.status[:, 0] != 0).all()
    assert trajectory.condition.max() < 1e-9


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_redundant_equations_are_compared(method):
    """A rocker's axis tilted by 0.1 mrad: the loop closes at the reference only."""
    bar = mbssa.load("spatial_4r")
    tilted = {
        j: replace(g, axis=(1e-4, 0.0, 1.0)) if bar.joint_ids[j] == "1-4" else g
        for j, g in bar.joint_geometry.items()
    }
    sound = mbssa.decompose(bar)
    structure = replace(sound, mechanism=replace(bar, joint_geometry=tilted))
    trajectory = solve_globally(structure, groups.constant_speed(bar, steps=9), method=method, compiled=False)
    assert trajectory.status[0, 0] == 0
    assert (trajectory.status[1:-1, 0] == 6).all()
    assert np.isfinite(trajectory.position).all()
    assert 1e-6 < trajectory.residual.max() < 1e-3
    assert "dropped equations violated" in trajectory.faults()[0]


def test_the_system_has_every_equation():
    structure = mbssa.decompose(mbssa.load("rssr"))
    solver, _ = as_one_group(structure)
    system = system_of(solver.group, solver.setting)
    assert system.m == system.n == 6 * (structure.mechanism.n_bodies - 1)
    assert system.redundant == 0
    # Ball joints alone hold the coupler: its spin is a row of its body only, behind those of all joints.
    rows = [5 + 1, 3, 3, 5]  # one angle is driven
    assert system.m == sum(rows) + 1
    assert [(of.kind.rows, of.joints) for of in system.joints][-1] == (1, 1)
    assert not system.is_gap.any()


def test_progress_is_told_and_can_stop_the_run():
    structure, motion = instants("planar_four_bar", 101)
    told = []
    whole = solve_globally(structure, motion, progress=told.append, compiled=False)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert (whole.position == solve_globally(structure, motion, compiled=False).position).all()
    stopped = solve_globally(structure, motion, progress=lambda done: done < 0.5, compiled=False)
    done = stopped.status[:, 0] == 0
    assert 0 < done.sum() < 101
    assert (stopped.position[done] == whole.position[done]).all()
    assert np.isnan(stopped.position[~done, 1:]).all()


@pytest.mark.parametrize("method", ["dense", "sparse"])
@pytest.mark.parametrize("steps", [4, 9])
def test_coarse_steps_past_a_nearly_flat_pose_keep_the_branch(steps, method):
    """Short and long side are as long as the two others but for 1e-3: the branches come near each other."""
    a, b, c, d, angle = 1.2093505, 1.04157881, 1.3166484, 1.14803326, 1.0
    crank, frame = a * np.array([np.cos(angle), np.sin(angle)]), np.array([d, 0.0])
    apart = np.linalg.norm(frame - crank)
    along = (frame - crank) / apart
    x = (apart**2 + b**2 - c**2) / (2 * apart)
    pin = crank + x * along + np.sqrt(b**2 - x**2) * np.array([-along[1], along[0]])
    bar = mbssa.Builder("planar").bodies("crank", "coupler", "rocker")
    bar.joint("R", "frame", "crank", driven=["angle"], point=(0.0, 0.0))
    bar.joint("R", "crank", "coupler", point=tuple(crank))
    bar.joint("R", "coupler", "rocker", point=tuple(pin))
    bar.joint("R", "frame", "rocker", point=tuple(frame))
    structure = mbssa.decompose(bar.build())
    coarse, fine = (
        solve_globally(
            structure,
            groups.sample(structure.mechanism, {"1-2.angle": groups.speed(3.0)}, np.linspace(0.0, 1.0, n)),
            method=method,
        )
        for n in (steps, 100 * (steps - 1) + 1)
    )
    assert fine.ok
    assert coarse.ok
    np.testing.assert_allclose(coarse.position, fine.position[::100], atol=1e-9)


def test_behind_a_stretch_out_of_reach_the_straight_line_of_the_inputs_decides():
    """A crank that swings back is followed; one that goes on to the other interval is not."""
    structure = mbssa.decompose(mbssa.load("pendulum_four_bar"))
    on = solve_globally(structure, groups.constant_speed(structure.mechanism, steps=61))
    first = int((on.status[:, 0] != 0).argmax())
    assert (on.status[first:, 0] != 0).all()
    (name,) = groups.build(structure).reference_inputs
    start = groups.build(structure).reference_inputs[name]
    time = np.linspace(0.0, 1.0, 61)
    value = start + 2.0 * np.sin(2 * np.pi * time)
    rate, second = (np.gradient(value, time), np.zeros(61))
    swing = groups.Motion(time, (name,), value[None], rate[None], second[None])
    back = solve_globally(structure, swing)
    assert (back.status != 0).any()
    assert back.status[-1, 0] == 0
    np.testing.assert_allclose(back.position[-1], back.position[0], atol=1e-9)


def test_what_cannot_be_solved_is_refused_before():
    structure, motion = instants("slider_crank", 5)
    with pytest.raises(ValueError, match="cholesky"):
        solve_globally(structure, motion, method="cholesky")
    with pytest.raises(ValueError, match="jerk"):
        solve_globally(structure, motion, level="jerk")
    with pytest.raises(ValueError, match="the motion drives"):
        solve_globally(mbssa.decompose(mbssa.load("rotor")), motion)
    open_chain = mbssa.from_pairs(3, [(1, 2, "R", 1), (2, 3, "R", 0)], "planar")
    with pytest.raises(ValueError, match="not determined"):
        solve_globally(mbssa.decompose(open_chain), motion)


def test_elimination_is_sparse_from_a_number_of_unknowns(monkeypatch):
    from groups.global_solver import elimination

    structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    motion = groups.constant_speed(structure.mechanism, steps=5)
    by = {m: solve_globally(structure, motion, method=m, compiled=False) for m in ("dense", "sparse")}
    unknowns = 3 * (structure.mechanism.n_bodies - 1)
    for limit, method in ((unknowns + 1, "dense"), (unknowns, "sparse")):
        monkeypatch.setattr(elimination, "SPARSE_FROM", limit)
        found = solve_globally(structure, motion, compiled=False)
        assert (found.position == by[method].position).all()
        assert (found.condition == by[method].condition).all()
    assert (by["dense"].condition != by["sparse"].condition).any()


def test_cardan_angles_are_led_beyond_a_quarter_turn():
    """The cosine of the middle angle is negative there; both approaches find the same rotation."""
    made = mbssa.Builder("spatial").bodies("gimbal")
    made.joint("S", "frame", "gimbal", point=[0, 0, 0], driven=["angle_x", "angle_y", "angle_z"])
    mechanism = made.build()
    laws = {"1-2.angle_x": (0.3, 0.2), "1-2.angle_y": (0.0, 2.0), "1-2.angle_z": (-0.2, 0.5)}
    motion = groups.sample(
        mechanism, {name: groups.polynomial(*law) for name, law in laws.items()}, np.linspace(0.0, 2.0, 51)
    )
    structure = mbssa.decompose(mechanism)
    one, other = groups.build(structure).solve(motion), groups.solve_globally(structure, motion)
    assert one.ok
    assert other.ok
    turned = np.abs((one.orientation * other.orientation).sum(axis=2))
    np.testing.assert_allclose(turned, 1.0, atol=1e-12)
