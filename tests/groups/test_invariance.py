"""What must not matter: where the world stands, which way time runs, numbers, units, what is kept."""

from dataclasses import replace

import numpy as np
import pytest
from random_mechanisms import CARRIERS, World, distance, random_mechanism, rotation, swing

import groups
import mbssa

MODELS = [name for name in mbssa.builtin_names() if name != "micromanipulator"]
PLANAR = [name for name in MODELS if mbssa.load(name).space == "planar"]

#: Random groups beside the built-in models: legs of every kind of solver.
RANDOM = {
    "leg": ["a x U", "x y P", "y b S"],
    "reach": ["a x R", "x y C slide angle", "y z U", "z b S"],
    "meet": ["a x R", "x y U angle_1", "y z S", "b z R"],
    "chain": ["a x R", "x y C", "y b S"],
    "Newton": ["a x R", "x y R", "y z R", "z w C slide", "w b ER"],
    "spins": ["a x R", "x y S", "y b S"],
    "screw": ["a x H", "x y U", "y b S"],
    "rods": [*["a x SPSP"] * 3, *["b x SPSP"] * 3],
}


def build(mechanism):
    return groups.build(mbssa.decompose(mechanism))


def case(name):
    """Model and motion: a built-in model over its own, or the first random one that moves well."""
    if name not in RANDOM:
        model = build(mbssa.load(name))
        part = 0.02 if name.startswith("slider_crank") else 1.0
        return model, groups.default_motion(
            model.mechanism, steps=121, duration=part * model.mechanism.motion.duration
        )
    for seed in range(100):
        offset = 0.2 if name == "Newton" else 0.0
        model = build(random_mechanism([*CARRIERS, *RANDOM[name]], seed, offset))
        motion = swing(model, 0.03, steps=121)
        answer = model.solve(motion)
        if answer.ok and answer.condition.min() > 0.1:
            return model, motion
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
    model, motion = case(name)
    other = world(model.mechanism, 5, **kind)
    there = build(other.mechanism(model.mechanism))
    inputs = dict(zip(motion.names, other.motion(motion).value[:, 0], strict=True))
    assert set(there.reference_inputs) == set(inputs)
    here, image = model.solve(motion), there.solve(other.motion(motion))
    assert here.ok
    assert image.ok, image.faults()
    assert image.residual.max() <= 1e-10 * there.frames.size
    return other.misses(here, image)


@pytest.mark.parametrize("name", CASES)
def test_a_moved_and_turned_world_gives_a_moved_and_turned_answer(name):
    position, turn, velocity, acceleration = seen(name)
    assert max(position, turn, velocity) < 1e-9
    assert acceleration < 1e-8


@pytest.mark.parametrize("name", CASES)
def test_a_mirrored_world_gives_a_mirrored_answer(name):
    position, turn, velocity, acceleration = seen(name, mirrored=True)
    assert max(position, turn, velocity) < 1e-9
    assert acceleration < 1e-8


@pytest.mark.parametrize("name", CASES)
def test_millimetres_give_the_same_answer(name):
    """Lengths of 1000 for 1: what counts as closed, as far and as singular goes by the size."""
    position, turn, velocity, acceleration = seen(name, scale=1000.0)
    assert max(position, turn, velocity) < 1e-9
    assert acceleration < 1e-8


@pytest.mark.parametrize("name", CASES)
def test_a_kilometre_from_the_origin_only_digits_are_lost(name):
    position, turn, velocity, acceleration = seen(name, shift=1000.0)
    assert max(position, turn) < 1e-8
    assert velocity < 1e-7
    assert acceleration < 1e-5


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
    model, motion = case(name)
    forth, back = model.solve(motion), model.solve(reversed_in_time(motion))
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
    model, motion = case(name)
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
        groups.Motion(motion.time, tuple(there.reference_inputs), *(part[pick] for part in parts))
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
    position, turn, velocity, acceleration = distance(model.solve(motion), same)
    assert max(position, turn, velocity) < 1e-9
    assert acceleration < 1e-8


@pytest.mark.parametrize("name", CASES)
def test_lower_levels_are_parts_of_the_full_answer(name):
    """To the last bit in closed form; Newton goes on from other rates of old factors."""
    model, motion = case(name)
    full = model.solve(motion)
    exact = all(solver.form != "Newton" for solver in model.solvers)
    for level in ("position", "velocity"):
        part = model.solve(motion, level=level)
        assert part.ok
        assert part.acceleration is None
        assert (part.velocity is None) == (level == "position")
        pairs = [(part.position, full.position), (part.orientation, full.orientation)]
        if level == "velocity":
            pairs.append((part.velocity, full.velocity))
        for one, all_of_it in pairs:
            assert np.array_equal(one, all_of_it) if exact else np.abs(one - all_of_it).max() < 1e-10


@pytest.mark.parametrize("name", CASES)
def test_kept_bodies_have_the_same_bits(name):
    model, motion = case(name)
    full = model.solve(motion, compiled=False)  # a user's function rounds otherwise when compiled
    names = [model.mechanism.body_name(b) for b in range(model.mechanism.n_bodies)]
    for kept in ([names[-1]], names[:0:-2]):
        part = model.solve(motion, bodies=kept, compiled=False)
        assert part.position.shape[1] == len(kept)
        for body in kept:
            for level in ("position", "orientation", "velocity", "acceleration"):
                assert np.array_equal(getattr(part.body(body), level), getattr(full.body(body), level))
        for quality in ("status", "residual", "iterations", "condition"):
            assert np.array_equal(getattr(part, quality), getattr(full, quality))


@pytest.mark.parametrize("name", CASES)
def test_a_run_in_many_spans_has_the_same_bits(name):
    """Progress is told between spans of two instants here; and a model remembers nothing of its last run."""
    model, motion = case(name)
    full = model.solve(motion, compiled=False)
    spans = model.solve(motion, compiled=False, progress=lambda done: True)
    for level in ("position", "orientation", "velocity", "acceleration", "status", "residual", "condition"):
        assert np.array_equal(getattr(spans, level), getattr(full, level))


@pytest.mark.parametrize("name", PLANAR)
def test_turned_whole_turns_away_only_the_angles_differ(name):
    """A crank whose angle starts ten turns on gives the same motion."""
    model, motion = case(name)
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
        groups.Motion(motion.time, motion.names, motion.value + turns, motion.rate, motion.acceleration)
    )
    here = model.solve(motion)
    assert image.ok
    assert np.abs(image.position - here.position).max() < 1e-12
    assert np.abs(image.orientation - here.orientation).max() < 1e-12
