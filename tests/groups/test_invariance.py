"""What must not matter: where the world stands, which way time runs, numbers, units, what is kept."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from random_mechanisms import CARRIERS, World, distance, random_mechanism, rotation, swing

import groups
import mbssa

#: One model of each kind of joint and of solver.
PLANAR = ["planar_four_bar", "theo_jansen", "cam_roller", "planetary", "rope_hoist"]
MODELS = [*PLANAR, "rotor", "stewart", "bennett", "universal_shafts"]

#: Random groups beside the built-in models: legs of every kind of solver.
RANDOM = {
    "leg": ["a x U", "x y P", "y b S"],
    "reach": ["a x R", "x y C slide angle", "y z U", "z b S"],
    "meet": ["a x R", "x y U angle_1", "y z S", "b z R"],
    "Newton": ["a x R", "x y R", "y z R", "z w C slide", "w b ER"],
    "screw": ["a x H", "x y U", "y b S"],
    "rods": [*["a x SPSP"] * 3, *["b x SPSP"] * 3],
}


def build(mechanism):
    return groups.build(mbssa.decompose(mechanism))


@cache
def case(name):
    """Model, motion and answer: a built-in model over its own, or the first random one that moves well."""
    if name not in RANDOM:
        model = build(mbssa.load(name))
        motion = groups.default_motion(model.mechanism, steps=31)
        return model, motion, model.solve(motion, compiled=False)
    for seed in range(100):
        offset = 0.2 if name == "Newton" else 0.0
        model = build(random_mechanism([*CARRIERS, *RANDOM[name]], seed, offset))
        motion = swing(model, 0.03, steps=13)
        answer = model.solve(motion, compiled=False)
        if answer.ok and answer.condition.min() > 0.1:
            return model, motion, answer
    raise AssertionError("none of 100 random mechanisms moves well")


CASES = [*MODELS, *RANDOM]


def world(base, seed, mirrored=False, shift=1.0, scale=1.0):
    """A random other world; a plane stays the plane z = 0."""
    rng = np.random.default_rng(seed)
    away = shift * rng.uniform(-1, 1, 3)
    turn = rotation(rng)
    if base.space == "planar":
        angle = rng.uniform(-3, 3)
        c, s = np.cos(angle), np.sin(angle)
        turn, away = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]), away * (1, 1, 0)
    return World(turn @ np.diag([1, -1 if mirrored else 1, 1]), away, scale)


def seen(name, **kind):
    """How the answer in another world differs from the answer here seen there."""
    model, motion, here = case(name)
    other = world(model.mechanism, 5, **kind)
    there = build(other.mechanism(model.mechanism))
    inputs = dict(zip(motion.names, other.motion(motion).value[:, 0], strict=True))
    assert set(there.reference_inputs) == set(inputs)
    image = there.solve(other.motion(motion), compiled=False)
    assert here.ok
    assert image.ok, image.faults()
    assert image.residual.max() <= 1e-10 * there.frames.size
    return other.misses(here, image)


#: Other worlds, and how far the answer there may be from the one here: poses, velocities, accelerations.
WORLDS = {
    "moved and turned": ({}, (1e-9, 1e-9, 1e-8)),
    "mirrored": ({"mirrored": True}, (1e-9, 1e-9, 1e-8)),
    "in millimetres: what counts as closed and as singular goes by the size": (
        {"scale": 1000.0}, (1e-9, 1e-9, 1e-8),
    ),
    "a kilometre from the origin: only digits are lost": ({"shift": 1000.0}, (1e-8, 1e-7, 1e-5)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_another_world_has_the_answer_as_it_is_seen_there(name):
    for what, (kind, within) in WORLDS.items():
        position, turn, velocity, acceleration = seen(name, **kind)
        misses = max(position, turn), velocity, acceleration
        assert (np.array(misses) < within).all(), (what, misses)


def reversed_in_time(motion):
    return groups.Motion(
        motion.time,
        motion.names,
        motion.value[:, ::-1].copy(),
        -motion.rate[:, ::-1],
        motion.acceleration[:, ::-1].copy(),
    )


@pytest.mark.parametrize("name", CASES)
def test_time_reversed_passes_the_same_poses(name):
    model, motion, forth = case(name)
    back = model.solve(reversed_in_time(motion), compiled=False)
    assert back.ok, back.faults()
    mirror = replace(
        back,
        position=back.position[::-1],
        orientation=back.orientation[::-1],
        velocity=-back.velocity[::-1],
        acceleration=back.acceleration[::-1],
    )
    position, turn, velocity, acceleration = distance(forth, mirror)
    assert max(position, turn, velocity) < 1e-9
    assert acceleration < 1e-8


def renumbered(base, seed):
    """The mechanism with its bodies and joints in another order."""
    rng = np.random.default_rng(seed)
    order = [0, *(1 + rng.permutation(base.n_bodies - 1)).tolist()]
    joints = rng.permutation(base.n_joints).tolist()
    new = {old: k for k, old in enumerate(order)}
    bodies = [[new[body] for body in base.joint_bodies(j)] for j in joints]
    names = None if base.body_names is None else tuple(base.body_names[b] for b in order)
    return order, joints, replace(
        base,
        joint_start=np.cumsum([0, *map(len, bodies)]),
        joint_body=np.concatenate(bodies),
        joint_type=base.joint_type[joints],
        driven=base.driven[joints],
        body_names=names,
        joint_names={},
        joint_geometry={k: base.joint_geometry[j] for k, j in enumerate(joints) if j in base.joint_geometry},
        body_geometry={new[b]: g for b, g in base.body_geometry.items()},
        multiple_joints=(),
        motion=None,
    )  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_numbers_of_bodies_and_joints_do_not_matter(name):
    model, motion, here = case(name)
    base = model.mechanism
    order, joints, other = renumbered(base, 7)
    there = build(other)
    rows = {}
    for k, j in enumerate(joints):
        for coordinate in base.joints[j].driven:
            rows[f"{other.joint_ids[k]}.{coordinate}"] = motion.names.index(
                f"{base.joint_ids[j]}.{coordinate}"
            )
    pick = [rows[one] for one in there.reference_inputs]
    parts = (motion.value, motion.rate, motion.acceleration)
    image = there.solve(
        groups.Motion(motion.time, tuple(there.reference_inputs), *(part[pick] for part in parts)),
        compiled=False,
    )
    assert image.ok, image.faults()
    back = np.argsort(order)
    same = replace(
        image,
        position=image.position[:, back],
        orientation=image.orientation[:, back],
        velocity=image.velocity[:, back],
        acceleration=image.acceleration[:, back],
    )
    position, turn, velocity, acceleration = distance(here, same)
    assert max(position, turn, velocity) < 1e-9
    assert acceleration < 1e-8


@pytest.mark.parametrize("name", CASES)
def test_kept_bodies_lower_levels_and_many_spans_have_the_same_bits(name):
    """A model remembers nothing of its last run; Newton goes on from other rates of old factors.

    Progress is reported between spans of two instants here.
    """
    model, motion, full = case(name)
    levels = ("position", "orientation", "velocity", "acceleration")
    qualities = ("status", "residual", "iterations", "condition")
    names = [model.mechanism.body_name(b) for b in range(model.mechanism.n_bodies)]
    for kept in ([names[-1]], names[:0:-2]):
        part = model.solve(motion, bodies=kept, compiled=False)
        assert part.position.shape[1] == len(kept)
        for body in kept:
            for level in levels:
                assert np.array_equal(getattr(part.body(body), level), getattr(full.body(body), level))
        for quality in qualities:
            assert np.array_equal(getattr(part, quality), getattr(full, quality))
    spans = model.solve(motion, compiled=False, progress=lambda done: True)
    for array in (*levels, *qualities):
        assert np.array_equal(getattr(spans, array), getattr(full, array)), array
    exact = all(solver.form != "Newton" for solver in model.solvers)
    for level in ("position", "velocity"):
        part = model.solve(motion, level=level, compiled=False)
        assert part.ok
        assert part.acceleration is None
        assert (part.velocity is None) == (level == "position")
        pairs = [(part.position, full.position), (part.orientation, full.orientation)]
        if level == "velocity":
            pairs.append((part.velocity, full.velocity))
        for one, all_of_it in pairs:
            assert np.array_equal(one, all_of_it) if exact else np.abs(one - all_of_it).max() < 1e-10


@pytest.mark.parametrize("name", PLANAR)
def test_turned_whole_turns_away_only_the_angles_differ(name):
    """A crank whose angle starts ten turns on gives the same motion."""
    model, motion, here = case(name)
    turns = np.array([[20 * np.pi if ".angle" in one else 0.0] for one in motion.names])
    base = model.mechanism
    geometry = dict(base.joint_geometry)
    for j in np.flatnonzero(base.driven).tolist():
        said = dict(geometry[j].at_reference)
        angle = model.reference_inputs.get(f"{base.joint_ids[j]}.angle")
        if angle is not None:
            geometry[j] = replace(
                geometry[j], at_reference=said | {"angle": said.get("angle", 0.0) + 20 * np.pi}
            )
    there = build(replace(base, joint_geometry=geometry))
    image = there.solve(
        groups.Motion(motion.time, motion.names, motion.value + turns, motion.rate, motion.acceleration),
        compiled=False,
    )
    assert image.ok
    assert np.abs(image.position - here.position).max() < 1e-12
    assert np.abs(image.orientation - here.orientation).max() < 1e-12
