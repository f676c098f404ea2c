"""Whole motions: closure, derivatives against differences, textbook formulae, planar against spatial."""

from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
from groups.motion import reference_inputs
from groups.trajectory import quaternion_of, rotation_of

#: Every built-in model but the micro-manipulator, whose published inputs cannot be driven.
MODELS = [name for name in mbssa.builtin_names() if name != "micromanipulator"]


def build(name):
    return groups.build(mbssa.decompose(mbssa.load(name)))


def near_reference(model, duration=1.0, steps=501, amplitude=0.04):
    """Every input swings about its reference, each with a phase of its own."""
    mechanism = model.structure.mechanism
    start = reference_inputs(mechanism, model.frames, model.reference)
    names = groups.driven_coordinates(mechanism)
    laws = {
        name: groups.harmonic(amplitude, 1.0, 0.3 * k, value - amplitude * np.sin(0.3 * k))
        for k, (name, value) in enumerate(zip(names, start, strict=True))
    }
    return groups.sample(mechanism, laws, np.linspace(0, duration, steps))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_closes_and_its_rates_are_the_derivatives_of_its_poses(name):
    model = build(name)
    motion = near_reference(model)
    trajectory = model.solve(motion)
    assert trajectory.ok, trajectory.faults()
    assert trajectory.residual.max() < 1e-12 * max(model.frames.size, 1.0)
    dt = motion.time[1] - motion.time[0]
    linear = trajectory.position.shape[2]
    slope = (trajectory.position[2:] - trajectory.position[:-2]) / (2 * dt)
    assert np.abs(slope - trajectory.velocity[1:-1, :, :linear]).max() < 1e-3
    slope = (trajectory.velocity[2:] - trajectory.velocity[:-2]) / (2 * dt)
    scale = max(1.0, np.abs(trajectory.acceleration).max())
    assert np.abs(slope - trajectory.acceleration[1:-1]).max() / scale < 1e-3


@pytest.mark.parametrize("name", ["rotor", "bennett", "spatial_4r", "stewart", "nine_bar", "rssr"])
def test_rates_converge_to_the_derivatives_with_the_square_of_the_step(name):
    """A difference of half the step errs a quarter: the rates are exact, not themselves differences."""
    model = build(name)
    errors = []
    for steps in (201, 401, 801):
        motion = near_reference(model, steps=steps)
        trajectory = model.solve(motion)
        dt = motion.time[1] - motion.time[0]
        slope = (trajectory.velocity[2:] - trajectory.velocity[:-2]) / (2 * dt)
        at = slice((steps - 1) // 100 - 1, None, (steps - 1) // 100)
        errors.append(np.abs((slope - trajectory.acceleration[1:-1])[at]).max())
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert 3.5 < errors[1] / errors[2] < 4.5


@pytest.mark.parametrize("name", ["slider_crank", "slider_crank_isostatic"])
def test_slider_crank_formulae(name):
    """Bond-graph seed: r = 0.2 m, l = 1 m; x = r cos θ + sqrt(l² - r² sin² θ) and its derivatives."""
    model = build(name)
    mechanism = model.structure.mechanism
    motion = groups.sample(
        mechanism, {"1-2.angle": groups.speed(1.0, np.pi / 4)}, np.linspace(0, 2 * np.pi, 721)
    )
    trajectory = model.solve(motion)
    assert trajectory.ok
    r, length, angle = 0.2, 1.0, motion.value[0]
    s, c = np.sin(angle), np.cos(angle)
    root = np.sqrt(length**2 - (r * s) ** 2)
    x = r * c + root
    v = -r * s - r * r * s * c / root
    a = -r * c - r * r * (c * c - s * s) / root - (r * r * s * c) ** 2 / root**3
    piston = trajectory.body("piston")
    pin = mechanism.joint("3-4").geometry.point
    assert np.abs(piston.point(pin)[:, 0] - x).max() < 1e-14
    assert np.abs(piston.velocity[:, 0] - v).max() < 1e-14
    assert np.abs(piston.acceleration[:, 0] - a).max() < 1e-13


def test_spatial_4r_is_the_planar_four_bar():
    flat, drawn = build("planar_four_bar"), build("spatial_4r")
    time = np.linspace(0, 1, 401)
    answers = []
    for model in (flat, drawn):
        mechanism = model.structure.mechanism
        (start,) = reference_inputs(mechanism, model.frames, model.reference)
        answers.append(
            model.solve(groups.sample(mechanism, {"1-2.angle": groups.speed(2 * np.pi, start)}, time))
        )
    one, two = answers
    assert one.ok
    assert two.ok
    assert np.abs(one.position - two.position[:, :, :2]).max() < 1e-10
    assert np.abs(two.position[:, :, 2]).max() < 1e-12
    assert np.abs(one.velocity - two.velocity[:, :, [0, 1, 5]]).max() < 1e-9
    assert np.abs(one.acceleration - two.acceleration[:, :, [0, 1, 5]]).max() < 1e-7
    half = 2 * np.arctan2(two.orientation[:, :, 3], two.orientation[:, :, 0])
    assert np.abs(np.exp(1j * half) - np.exp(1j * one.orientation)).max() < 1e-10


def test_freudensteins_equation():
    """k1 cos ψ - k2 cos φ + k3 = cos(φ - ψ): crank a at φ, coupler b, rocker c at ψ, frame d."""
    model = build("planar_four_bar")
    mechanism = model.structure.mechanism
    points = [np.array(mechanism.joint(name).geometry.point) for name in ("1-2", "2-3", "3-4", "1-4")]
    a, b, c, d = (np.linalg.norm(points[k] - points[j]) for k, j in ((1, 0), (2, 1), (2, 3), (3, 0)))
    (start,) = reference_inputs(mechanism, model.frames, model.reference)
    motion = groups.sample(mechanism, {"1-2.angle": groups.speed(2 * np.pi, start)}, np.linspace(0, 1, 361))
    trajectory = model.solve(motion)
    base = np.arctan2(*(points[3] - points[0])[::-1])
    crank = trajectory.body("crank").point(points[1]) - points[0]
    rocker = trajectory.body("rocker").point(points[2]) - points[3]
    phi, psi = (np.arctan2(v[:, 1], v[:, 0]) - base for v in (crank, rocker))
    k1, k2, k3 = d / a, d / c, (a * a - b * b + c * c + d * d) / (2 * a * c)
    assert (
        np.abs(k1 * np.cos(psi) - k2 * np.cos(phi) + k3 - np.cos(phi - psi)).max() < 1e-11
    )  # links close to 1e-12 x size


def test_stewart_forward_of_inverse_is_the_pose():
    """Leg lengths of the inverse structure put into the forward one give the platform's pose back."""
    inverse, forward = build("stewart_inverse"), build("stewart")
    poses = near_reference(inverse, steps=101)
    legs = inverse.solve(poses)
    assert legs.ok
    platform = legs.body(14)
    lengths, names = [], groups.driven_coordinates(forward.structure.mechanism)
    for name in names:
        joint = forward.structure.mechanism.joint(name.rpartition(".")[0])
        foot, head = (
            forward.structure.mechanism.joint(other).geometry.point
            for other in (f"1-{joint.bodies[0]}", f"{joint.bodies[1]}-14")
        )
        size = np.linalg.norm(platform.point(head) - foot, axis=1)
        nominal = np.linalg.norm(np.subtract(head, foot))
        at = joint.geometry.at_reference.get("slide", 0.0)
        lengths.append(groups.spline(poses.time, size - nominal + at)(poses.time))
    columns = np.array(lengths)
    motion = groups.Motion(poses.time, names, columns[:, 0], columns[:, 1], columns[:, 2])
    answer = forward.solve(motion)
    assert answer.ok
    assert np.abs(answer.body(14).position - platform.position).max() < 1e-9
    assert np.abs(answer.body(14).orientation - platform.orientation).max() < 1e-9


def test_time_reversed_motion_gives_the_same_poses():
    model = build("rotor")
    motion = near_reference(model)
    forth = model.solve(motion)
    back = model.solve(
        groups.Motion(
            motion.time,
            motion.names,
            motion.value[:, ::-1].copy(),
            -motion.rate[:, ::-1],
            motion.acceleration[:, ::-1].copy(),
        )
    )
    assert np.abs(forth.position - back.position[::-1]).max() < 1e-11
    assert np.abs(forth.velocity + back.velocity[::-1]).max() < 1e-9
    assert np.abs(forth.acceleration - back.acceleration[::-1]).max() < 1e-8


def test_a_motion_may_start_away_from_the_reference():
    model = build("planar_four_bar")
    mechanism = model.structure.mechanism
    motion = groups.sample(mechanism, {"1-2.angle": groups.speed(1.0, 3.0)}, np.linspace(0, 1, 11))
    trajectory = model.solve(motion)
    assert trajectory.ok
    assert trajectory.position.shape == (11, 4, 2)
    crank = trajectory.body("crank").orientation
    (start,) = reference_inputs(mechanism, model.frames, model.reference)
    assert np.abs(crank - (motion.value[0] - start)).max() < 1e-12


def test_out_of_reach_is_said_and_sound_instants_are_kept():
    """A rocker-driven pendulum four-bar cannot turn fully."""
    model = build("pendulum_four_bar")
    mechanism = model.structure.mechanism
    motion = groups.constant_speed(mechanism, steps=501)
    trajectory = model.solve(motion)
    assert not trajectory.ok
    (text,) = trajectory.faults()
    assert text.startswith("SG-2 ")
    assert "first at t = " in text
    failed = trajectory.status[:, 1] != 0
    assert 0 < failed.sum() < 501
    assert np.isnan(trajectory.position[failed, 2]).all()
    assert np.isfinite(trajectory.position[~failed]).all()
    assert np.isfinite(trajectory.position[:, 1]).all()  # the crank itself goes on


def test_what_cannot_be_solved_is_refused_before():
    with pytest.raises(ValueError, match="not determined"):
        groups.build(mbssa.decompose(mbssa.from_pairs(3, [(1, 2, "R", 1), (2, 3, "R", 0)], "planar")))
    four_bar = [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0)]
    with pytest.raises(ValueError, match="no geometry at 1-2, 2-3, 3-4, 1-4"):
        groups.build(mbssa.decompose(mbssa.from_pairs(4, four_bar, "planar")))


def test_motions_are_checked():
    rotor = mbssa.load("rotor")
    with pytest.raises(ValueError, match=r"no law for 9-13\.angle.*1-2\.angle is not driven"):
        groups.sample(rotor, {"1-2.angle": groups.speed(1.0)}, [0.0, 1.0])
    names = groups.driven_coordinates(rotor)
    good = np.zeros((3, 2))
    for time, value, says in (
        ([0.0, 0.0], good, "does not increase at instant 1"),
        ([0.0, np.nan], good, "not finite"),
        ([0.0, 1.0], np.full((3, 2), np.nan), r"value of 9-13\.angle is not finite"),
        ([0.0, 1.0], np.zeros((2, 2)), "shape"),
    ):
        with pytest.raises(ValueError, match=says):
            groups.Motion(np.array(time), names, value, good, good)


LAWS = {
    "constant": groups.constant(0.7),
    "speed": groups.speed(-2.0, 0.3),
    "polynomial": groups.polynomial(1.0, -2.0, 0.5, 0.25),
    "harmonic": groups.harmonic(0.4, 1.5, 0.2, -0.1),
    "ramp": groups.ramp(-1.0, 2.0, 0.2, 0.6),
    "spline": groups.spline([0.0, 0.3, 0.5, 1.0], [0.0, 1.0, -1.0, 0.5]),
}


@pytest.mark.parametrize("name", LAWS)
def test_rates_of_every_law_are_its_derivatives(name):
    h = 1e-5
    t = np.linspace(0.01, 0.99, 172)  # none on a knot of the spline
    before, at, after = (LAWS[name](t + shift) for shift in (-h, 0.0, h))
    for level in (0, 1):
        slope = (after[level] - before[level]) / (2 * h)
        assert np.abs(slope - at[level + 1]).max() < 1e-3


def test_quaternions_are_those_of_the_rotations_and_continuous():
    rng = np.random.default_rng(0)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    angle = np.linspace(0, 6 * np.pi, 400)
    K = np.cross(axis, np.eye(3)).T
    turns = np.eye(3) + np.sin(angle)[:, None, None] * K + (1 - np.cos(angle))[:, None, None] * K @ K
    q = quaternion_of(turns[None])[0]
    assert np.abs(rotation_of(q) - turns).max() < 1e-14
    assert np.abs(np.diff(q, axis=0)).max() < 0.05
    expected = np.column_stack([np.cos(angle / 2), np.sin(angle / 2)[:, None] * axis])
    assert min(np.abs(q - expected).max(), np.abs(q + expected).max()) < 1e-12


def test_a_moved_and_turned_world_gives_a_moved_and_turned_answer():
    base = mbssa.load("rotor")
    turn, _ = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))
    turn *= np.linalg.det(turn)
    shift = np.array([0.4, -1.0, 2.0])

    def moved(vector, place):
        return None if vector is None else tuple((turn @ vector + (shift if place else 0)).tolist())

    geometry = {
        j: replace(
            g,
            point=moved(g.point, True),
            axis=moved(g.axis, False),
            axes=None if g.axes is None else tuple(moved(v, False) for v in g.axes),
        )
        for j, g in base.joint_geometry.items()
    }
    other = replace(base, joint_geometry=geometry, body_geometry={})
    here, there = (groups.build(mbssa.decompose(m)) for m in (replace(base, body_geometry={}), other))
    motion = near_reference(here)
    one, two = here.solve(motion), there.solve(motion)
    for body in range(2, 17):
        point = (0.3, 0.1, 0.2)
        path, image = one.body(body).point(point), two.body(body).point(moved(point, True))
        assert np.abs(path @ turn.T + shift - image).max() < 1e-9


def test_trajectory_by_name_number_and_file(tmp_path):
    model = build("theo_jansen")
    trajectory = model.solve(near_reference(model, steps=11))
    foot = trajectory.mechanism.bodies[7]
    assert (trajectory.body(foot.name).position == trajectory.body(8).position).all()
    with pytest.raises(KeyError, match="no body 'leg9'"):
        trajectory.body("leg9")
    trajectory.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as stored:
        assert (stored["position"] == trajectory.position).all()
        assert stored["bodies"].tolist()[0] == "frame"
    header, table = trajectory.columns()
    assert len(header) == table.shape[1] == 1 + 7 * 9
    assert header[:4] == [
        "time",
        *(f"{trajectory.mechanism.bodies[1].name}.{k}" for k in ("x", "y", "angle")),
    ]
