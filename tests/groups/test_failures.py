"""What goes wrong is said by group, joint and instant; what is sound is kept; no other branch is taken."""

from dataclasses import replace

import numpy as np
import pytest
from random_mechanisms import largest_step, statuses, swing

import groups
import mbssa
from mbssa.mechanism import JointGeometry


def build(mechanism):
    mechanism = mbssa.load(mechanism) if isinstance(mechanism, str) else mechanism
    return groups.build(mbssa.decompose(mechanism))


def driven(model, steps=201, duration=1.0, **laws):
    """The model's solution under laws of its inputs, by their place: ``driven(m, a=…, b=…)``."""
    time = np.linspace(0.0, duration, steps)
    named = dict(zip(model.reference_inputs, laws.values(), strict=True))
    return model.solve(groups.sample(model.mechanism, named, time), compiled=False)


def four_bar(points, space="planar"):
    """A planar four-bar by its four hinges: frame, crank, coupler, rocker."""
    made = mbssa.from_pairs(
        ["frame", "crank", "coupler", "rocker"],
        [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0)],
        space,
    )
    z = None if space == "planar" else (0.0, 0.0, 1.0)
    return replace(
        made,
        joint_geometry={
            k: JointGeometry(point=point if z is None else (*point, 0.0), axis=z)
            for k, point in enumerate(points)
        },
    )


def sound(trajectory):
    return (trajectory.status == 0).all(axis=1)


# --- out of reach ----------------------------------------------------------------------------------


def test_a_four_bar_that_cannot_turn_is_named_and_comes_back():
    """A pendulum four-bar swung too far: lost where it does not reach, and in its mode again afterwards."""
    model = build("pendulum_four_bar")
    (start,) = model.reference_inputs.values()
    swung = driven(model, a=groups.harmonic(3.0, 1.0, 0.0, start))
    gentle = driven(model, steps=1001, a=groups.harmonic(0.2, 1.0, 0.0, start))
    assert statuses(swung) == ["ok", "out of reach"]
    (text,) = swung.faults()
    assert text.startswith("SG-2 ")
    assert "out of reach at " in text
    assert "first at t = " in text
    assert "3-4" in text
    lost = swung.status[:, 1] != 0
    assert 0 < lost.sum() < 201
    assert np.isnan(swung.position[lost, 2:]).all()
    assert np.isnan(swung.acceleration[lost, 2:]).all()
    assert np.isfinite(swung.position[:, :2]).all()  # the crank itself goes on
    # Where crank angles are the same, so is the mechanism, before the gap and after it.
    for k in np.flatnonzero(~lost & (np.abs(swung.body(2).orientation) < 0.19)):
        near = np.abs(gentle.body(2).orientation - swung.body(2).orientation[k]).argmin()
        assert np.abs(gentle.position[near] - swung.position[k]).max() < 2e-3


def test_a_rotor_slide_too_far_is_out_of_reach_and_comes_back():
    model = build("rotor_transformed")
    start = list(model.reference_inputs.values())
    far = driven(
        model,
        steps=401,
        a=groups.harmonic(1.2, 1.0, 0.0, start[0]),
        b=groups.constant(start[1]),
        c=groups.constant(start[2]),
    )
    lost = ~sound(far)
    assert 0 < lost.sum() < 401
    assert set(statuses(far)) <= {"ok", "out of reach", "predecessor group failed", "gimbal"}
    assert "out of reach" in statuses(far)
    first = far.faults()[0]
    assert first.startswith("SG-")
    assert "out of reach" in first
    # The motion is the same going and coming, the pose too.
    t = np.flatnonzero(~lost[:201])
    t = t[~lost[200 - t]]
    assert len(t) > 20
    assert np.abs(far.position[t] - far.position[200 - t]).max() < 1e-9
    # What does not depend on the lost group is sound throughout.
    fine = (far.status == 0).all(axis=0)
    for group in np.flatnonzero(fine):
        bodies = model.structure.groups[group].body_indices
        assert np.isfinite(far.position[:, bodies]).all()


def test_a_group_waits_for_one_that_failed():
    model = build("theo_jansen")
    long = dict(model.mechanism.joint_geometry)
    x, y = long[0].point
    # A crank three times as long tears the legs apart somewhere on its turn.
    ratio = 3.0
    crank_end = long[1].point
    far = (x + ratio * (crank_end[0] - x), y + ratio * (crank_end[1] - y))
    moved = {
        j: replace(g, point=far) if g.point is not None and np.allclose(g.point, crank_end) else g
        for j, g in long.items()
    }
    other = build(replace(model.mechanism, joint_geometry=moved))
    (start,) = other.reference_inputs.values()
    turned = driven(other, a=groups.speed(2 * np.pi, start))
    assert "out of reach" in statuses(turned)
    assert "predecessor group failed" in statuses(turned)
    waits = (turned.status == 3).any(axis=1)
    assert (turned.status[waits] == 4).any(axis=1).all()  # one does not wait for nothing
    for g, group in enumerate(other.structure.groups):
        bad = turned.status[:, g] != 0
        assert np.isnan(turned.position[bad][:, group.body_indices]).all()
        assert np.isfinite(turned.position[~bad][:, group.body_indices]).all()


@pytest.mark.slow
def test_a_stewart_leg_too_long_is_said_and_the_platform_comes_back():
    model = build("stewart")
    start = list(model.reference_inputs.values())
    laws = {f"leg{k}": groups.constant(value) for k, value in enumerate(start)}
    laws["leg0"] = groups.harmonic(1.5, 1.0, 0.0, start[0])
    trajectory = driven(model, steps=61, **laws)
    ok = sound(trajectory)
    assert ok[0]
    assert np.isnan(trajectory.position[~ok, 1:]).all()
    assert trajectory.residual[ok].max() < 1e-10
    assert largest_step(trajectory) < 0.5
    assert not trajectory.ok  # 1.5 m is more than any pose gives
    assert set(statuses(trajectory)) <= {"ok", "out of reach", "not converged", "branch jump", "singular"}
    (text,) = trajectory.faults()
    assert text.startswith("SG-1 of cylinder_1, piston_1")
    assert "first at t = " in text


# --- dead points -----------------------------------------------------------------------------------


def until_it_is_said(trajectory):
    """The instants before the first that is not sound."""
    bad = np.flatnonzero(~sound(trajectory))
    return slice(0, bad[0] if len(bad) else None)


def arms(theta):
    """The pin of the four-bar of sides 1, 2.5, 2, 1.5 on the smooth way through its flat pose."""
    a, b = np.stack([np.cos(theta), np.sin(theta)], axis=-1), np.array([1.5, 0.0])
    way = b - a
    d = np.linalg.norm(way, axis=-1, keepdims=True)
    x = (d * d + 2.5**2 - 2.0**2) / (2 * d)
    height = np.sqrt(np.maximum(2.5**2 - x * x, 0.0)) * np.where(np.sin(theta / 2) > 0, 1, -1)[..., None]
    along = way / d
    return a + x * along + height * np.stack([-along[..., 1], along[..., 0]], axis=-1)


@pytest.mark.parametrize("steps", [14, 15, 200, 201])
def test_a_change_point_four_bar_goes_on_smoothly_or_says_so(steps):
    """Sides 1, 2.5, 2, 1.5: flat where the crank points along the frame, from where it may go either way."""
    start = np.pi / 2
    pin = arms(np.array([start]))[0]
    model = build(four_bar([(0.0, 0.0), (0.0, 1.0), tuple(pin.tolist()), (1.5, 0.0)]))
    trajectory = driven(model, steps=steps, a=groups.speed(-np.pi))
    (crank,) = (start - np.pi * trajectory.time,)
    said = until_it_is_said(trajectory)
    path = trajectory.body("rocker").point(pin)
    before = crank > 0
    assert (
        before[said].sum() >= before.sum() - 1
    )  # up to the flat pose all is sound, but the instant before it
    assert np.abs(path - arms(crank))[said].max() < 1e-6


@pytest.mark.parametrize("steps", [8, 9, 40, 41])
def test_a_parallelogram_does_not_become_an_antiparallelogram(steps):
    """Rocker and crank turn alike through both flat poses, or it is said; odd numbers hit them."""
    model = build(four_bar([(0.0, 0.0), (0.0, 1.0), (2.0, 1.0), (2.0, 0.0)]))
    trajectory = driven(model, steps=steps, a=groups.speed(2 * np.pi))
    crank, coupler, rocker = trajectory.orientation[:, 1:].T
    said = until_it_is_said(trajectory)
    assert (crank[said] < np.pi / 2 - 1e-9).sum() >= steps // 4
    assert np.abs(rocker - crank)[said].max() < 1e-9
    assert np.abs(coupler)[said].max() < 1e-9


@pytest.mark.parametrize("steps", [9, 20])
@pytest.mark.parametrize("way", [-np.pi, np.pi])
def test_a_double_parallelogram_stays_one_or_says_so(steps, way):
    model = build("double_parallelogram")
    (start,) = model.reference_inputs.values()
    trajectory = driven(model, steps=steps, a=groups.ramp(start, start + way, 0.0, 1.0))
    ok = sound(trajectory)
    angle = trajectory.orientation[ok]
    assert ok[0]
    assert np.abs(angle[:, 2:4] - angle[:, [1]]).max() < 1e-9
    assert np.abs(angle[:, 4]).max() < 1e-9


@pytest.mark.parametrize("steps", [20, 41])
def test_sarrus_table_keeps_to_its_line_or_says_so(steps):
    """Down through the flat pose, where all six axes lie in one plane and the table could tilt."""
    model = build("sarrus")
    (start,) = model.reference_inputs.values()
    law = groups.ramp(start, start + 1.2, 0.0, 1.0)
    trajectory = driven(model, steps=steps, a=law)
    ok = sound(trajectory)
    table = trajectory.body("table")
    height = np.sin(np.arctan2(0.3, 0.4) - (law(trajectory.time)[0] - start)) - 0.6
    assert ok.sum() > steps // 3
    assert np.abs(table.position[ok, 2] - height[ok]).max() < 1e-9
    assert np.abs(table.position[ok, :2]).max() < 1e-9
    assert np.abs(table.rotation[ok] - np.eye(3)).max() < 1e-9


@pytest.mark.parametrize("steps", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_a_singular_stewart_pose_is_not_passed_silently(steps):
    """Turned by about a right angle a platform is singular at any height (Fichter 1986)."""
    # Where steps are long, the motion between the instants misses that pose, and a proof goes round it.
    inverse, forward = build("stewart_inverse"), build("stewart")
    turned = {name: groups.constant(value) for name, value in inverse.reference_inputs.items()}
    turned["1-14.angle_z"] = groups.ramp(0.0, 2.2, 0.0, 1.0)
    poses = groups.sample(inverse.mechanism, turned, np.linspace(0.0, 1.0, steps))
    legs = inverse.solve(poses, compiled=False)
    assert legs.ok, legs.faults()
    names = tuple(forward.reference_inputs)
    slides = [legs.joint(name.removesuffix(".slide"))["slide"] for name in names]
    columns = [np.array([getattr(s, level) for s in slides]) for level in ("value", "rate", "acceleration")]
    motion = groups.Motion(legs.time, names, *columns)
    answer = forward.solve(motion, compiled=False, branch="checked")
    said = until_it_is_said(answer)
    angle = turned["1-14.angle_z"](legs.time)[0]
    assert not answer.ok
    assert set(statuses(answer)) <= {"ok", "singular", "not converged", "branch jump"}
    assert angle[said].max() > (1.2 if steps < 100 else 1.5)
    assert angle[said].max() < 1.62
    assert np.abs(answer.body(14).position - legs.body(14).position)[said].max() < 1e-6
    assert np.abs(answer.body(14).rotation - legs.body(14).rotation)[said].max() < 1e-6


def leg_past_its_pin(height):
    """A U-P-S leg whose ball is carried along y at x = 1, and so high over the first axis of its U."""
    made = mbssa.from_pairs(
        ["frame", "lower", "upper", "carrier"],
        [(1, 2, "U", 0), (2, 3, "P", 0), (3, 4, "S", 0), (1, 4, "P", 1)],
        "spatial",
    )
    ball = np.array([1.0, -1.0, height])
    across = np.cross((1.0, 0.0, 0.0), ball)
    geometry = [
        JointGeometry(point=(0.0, 0.0, 0.0), axes=((1.0, 0.0, 0.0), tuple(across.tolist()))),
        JointGeometry(point=(0.0, 0.0, 0.0), axis=tuple(ball.tolist())),
        JointGeometry(point=tuple(ball.tolist())),
        JointGeometry(point=tuple(ball.tolist()), axis=(0.0, 1.0, 0.0)),
    ]
    return build(replace(made, joint_geometry=dict(enumerate(geometry))))


@pytest.mark.parametrize("steps", [20, 21, 201])
def test_the_gimbal_of_a_strut_is_said(steps):
    """The ball passes through the line of the first pin: there the lower body can turn freely."""
    trajectory = driven(leg_past_its_pin(0.0), steps=steps, a=groups.speed(2.0))
    said = until_it_is_said(trajectory)
    y = -1.0 + 2.0 * trajectory.time
    assert (y[said] < 0).sum() >= (y < 0).sum() - 1
    lower = trajectory.body("lower")
    pointing = np.stack([np.ones(steps), y, np.zeros(steps)], axis=1)
    pointing /= np.linalg.norm(pointing, axis=1, keepdims=True)
    first = np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
    assert np.abs(lower.rotation[said] @ first - pointing[said]).max() < 1e-9
    assert np.abs(lower.rotation[said, 2, 2] - 1).max() < 1e-9  # it does not flip over its pin
    if steps % 2:
        middle = steps // 2
        assert statuses(trajectory) == ["ok", "gimbal"]
        assert trajectory.status[middle].max() == 7
        assert np.isnan(trajectory.body("lower").position[middle]).all()
        assert np.isfinite(trajectory.body("carrier").position).all()
        (text,) = trajectory.faults()
        assert "gimbal at 1 of" in text
        assert "first at t = 0.5 s" in text


@pytest.mark.parametrize("steps", [201])
def test_past_its_gimbal_a_strut_turns_quickly_but_soundly(steps):
    trajectory = driven(leg_past_its_pin(0.05), steps=steps, a=groups.speed(2.0))
    assert trajectory.ok, trajectory.faults()
    assert trajectory.residual.max() < 1e-12
    axis = trajectory.body("lower").rotation @ (np.array([1.0, -1.0, 0.05]) / np.sqrt(2.0025))
    y = -1.0 + 2.0 * trajectory.time
    way = np.stack([np.ones(steps), y, np.full(steps, 0.05)], axis=1)
    assert np.abs(axis - way / np.linalg.norm(way, axis=1, keepdims=True)).max() < 1e-9


# --- large steps and small swings ------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["rotor", pytest.param("stewart", marks=pytest.mark.slow), "nine_bar", "planar_3rrr"]
)
def test_large_steps_are_right_or_said(name):
    """Swings of all inputs at once, five instants a period."""
    model = build(name)
    for seed in range(3):
        few = model.solve(swing(model, 0.12, steps=6, seed=seed), compiled=False)
        many = model.solve(swing(model, 0.12, steps=101, seed=seed), compiled=False)
        many = many.instants(slice(0, None, 20))
        both = sound(few) & sound(many)
        assert both[0], seed
        assert np.abs(few.position - many.position)[both].max() < 1e-9, seed


# --- motions that are none -------------------------------------------------------------------------


def test_motions_are_checked():
    rotor = mbssa.load("rotor")
    with pytest.raises(ValueError, match=r"9-13\.angle.*1-2\.angle is not driven"):
        groups.sample(rotor, {"1-2.angle": groups.speed(1.0)}, [0.0, 1.0])
    names = groups.driven_coordinates(rotor)
    good = np.zeros((3, 2))
    for time, value, says in (
        ([0.0, 0.0], good, "instant 1"),
        ([1.0, 0.0], good, "instant 1"),
        ([0.0, np.nan], good, "not finite"),
        ([0.0, np.inf], good, "not finite"),
        ([0.0, 1.0], np.full((3, 2), np.nan), r"value of 9-13\.angle"),
        ([0.0, 1.0], np.array([[0, 0], [0, np.inf], [0, 0]]), r"value of 13-15\.angle"),
        ([0.0, 1.0], np.zeros((2, 2)), "shape"),
    ):
        with pytest.raises(ValueError, match=says):
            groups.Motion(np.array(time), names, value, good, good)
    for part in (1, 2):
        parts = [good, good, good]
        parts[part] = np.full((3, 2), np.nan)
        with pytest.raises(ValueError, match="is not finite"):
            groups.Motion(np.array([0.0, 1.0]), names, *parts)
