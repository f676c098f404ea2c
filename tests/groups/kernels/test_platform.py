"""A free body on six rods, in straight code: what the general way finds, statuses included."""

from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
from groups.kernels import platform, relative
from groups.kernels.status import OK
from groups.motion.sampling import reference_values
from mbssa.mechanism import BodyGeometry

LEVELS = ("position", "velocity", "acceleration")

FEET = [(1.06, 0.28), (-0.29, 1.06), (-0.77, 0.78), (-0.77, -0.78), (-0.29, -1.06), (1.06, -0.28)]
HEADS = [(0.42, 0.42), (0.15, 0.58), (-0.58, 0.16), (-0.58, -0.16), (0.15, -0.58), (0.42, -0.42)]


def on_a_turntable(path):
    """A plate on five jacks and a rod, of which three stand on a turntable and the others on the frame."""
    joint = "[[joint]]\nbodies = [{}, {}]\ntype = {}\npoint = {}\n"
    text = [joint.format(1, 2, '"R"', [0.0] * 3) + 'axis = [0.1, 0.0, 1.0]\ndriven = ["angle"]']
    first = 4
    for leg, (foot, head) in enumerate(zip(FEET, HEADS, strict=True)):
        low, high = np.array([*foot, 0.0]), np.array([*head, 1.1])
        along = high - low
        across = np.cross(along, [1.0, 0.0, 0.0])
        axes = [across.tolist(), np.cross(along, across).tolist()]
        last = first if leg == 5 else first + 1
        text.append(joint.format(1 + leg % 2, first, '"U"', low.tolist()) + f"axes = {axes}")
        if last > first:
            slides = f'axis = {along.tolist()}\ndriven = ["slide"]'
            text.append(joint.format(first, last, '"P"', low.tolist()) + slides)
        text.append(joint.format(last, 3, '"S"', high.tolist()))
        first = last + 1
    path.write_text(f'format = 1\nspace = "spatial"\nbodies = {first - 1}\n' + "\n".join(text))
    return mbssa.load(path)


@pytest.fixture
def both(monkeypatch):
    """A model solved by straight code, and by the general way; how often the first left to the second."""

    def solve(mechanism, motion, **options):
        structure = mbssa.decompose(mechanism)
        model = groups.build(structure)
        assert model.packed.kernels.count(platform.solve_platform) == 1
        left = []
        with monkeypatch.context() as patch:
            patch.setattr(platform, "solve", lambda *a: left.append(a[7]) or relative.solve(*a))
            straight = model.solve(motion, compiled=False, branch="checked", **options)
        with monkeypatch.context() as patch:
            patch.setattr(platform, "is_simple", lambda *_: False)
            model = groups.build(structure)
            assert model.packed.kernels.count(relative.solve_cuts) == 1
            return straight, model.solve(motion, compiled=False, branch="checked", **options), len(left)

    return solve


def assert_same(one, two, within=1e-11):
    np.testing.assert_array_equal(one.status, two.status)
    for name in LEVELS:
        a, b = getattr(one, name), getattr(two, name)
        if a is not None and a.size:
            size = max(1.0, np.nan_to_num(np.abs(b)).max())
            np.testing.assert_allclose(a, b, rtol=0.0, atol=within * size, err_msg=name)
    np.testing.assert_allclose(one.orientation, two.orientation, rtol=0.0, atol=within)
    # Without rates the factors of a time step before may stand.
    at_hand = 1e-9 if one.velocity is not None and one.velocity.size else 1e-2
    solved = one.status == OK
    np.testing.assert_allclose(one.condition[solved], two.condition[solved], rtol=at_hand)


@pytest.mark.parametrize("steps", [9, 61])
@pytest.mark.parametrize("name", ["stewart", "six_sps"])
def test_built_in_platforms_at_steps_of_any_size(both, name, steps):
    mechanism = mbssa.load(name)
    straight, general, left = both(mechanism, groups.default_motion(mechanism, steps=steps))
    assert straight.ok, straight.faults()
    assert left < steps / 2 or steps == 9
    assert_same(straight, general)


@pytest.mark.parametrize("level", ["position", "velocity"])
def test_lower_levels(both, level):
    mechanism = mbssa.load("stewart")
    straight, general, left = both(mechanism, groups.default_motion(mechanism, steps=30), level=level)
    assert left < 6
    assert_same(straight, general)


def test_steps_of_two_lengths_on_bodies_that_move(tmp_path, both):
    mechanism = on_a_turntable(tmp_path / "model.toml")
    start = reference_values(mechanism)
    laws = {
        name: groups.harmonic(0.05 + 0.01 * k, 0.7 + 0.1 * k, mean=value)
        for k, (name, value) in enumerate(start.items())
    }
    time = np.concatenate([np.arange(30) / 60, 0.5 + np.arange(12) / 25])
    straight, general, left = both(mechanism, groups.sample(mechanism, laws, time))
    assert straight.ok, straight.faults()
    assert left < 10
    assert_same(straight, general)
    assert np.abs(general.velocity[:, 1]).max() > 0.1


def test_legs_that_reach_too_far_and_come_back(both):
    """One leg grows until nothing closes, and comes back: the same time steps have an answer either way."""
    mechanism = mbssa.load("stewart")
    laws = {name: groups.constant(value) for name, value in reference_values(mechanism).items()}
    name = next(iter(laws))
    laws[name] = groups.harmonic(2.5, 1.0, mean=reference_values(mechanism)[name])
    time = np.concatenate([np.arange(6) / 1000, [0.25], 0.496 + np.arange(6) / 1000])
    straight, general, left = both(mechanism, groups.sample(mechanism, laws, time))
    assert left < 6
    assert_same(straight, general)
    sound = (straight.status == OK).all(axis=1)
    assert sound[0]
    assert sound[-1]
    assert not sound.all()


def test_a_frame_that_stands_elsewhere_is_left_to_the_general_way(both):
    mechanism = mbssa.load("stewart")
    placed = {**mechanism.body_geometry, 0: BodyGeometry(origin=(0.1, 0.2, 0.3))}
    mechanism = replace(mechanism, body_geometry=placed)
    straight, general, left = both(mechanism, groups.default_motion(mechanism, steps=5))
    assert straight.ok, straight.faults()
    assert left == 1
    assert_same(straight, general, within=0.0)
