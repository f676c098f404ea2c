"""Machine code: the answers of NumPy for all models, the same bits for any split, on other machines too."""

import itertools
import pickle
import re
import threading

import numpy as np
import pytest

import groups
import mbssa
from groups.engine import machine
from groups.engine.arrays import pitch_of
from groups.engine.loops import text_of
from groups.engine.machine import Host, Machine, object_code
from groups.engine.plan import Plan
from groups.engine.solve import Solving, life_of, plan_of

HERE = Host.here()
#: A closed form, a curve, many unknowns and bodies, redundant equations, gears.
KINDS = ("theo_jansen", "cam_roller", "stewart", "sarrus", "planetary")


def built(name):
    return groups.build(mbssa.decompose(mbssa.load(name)))


def assert_same(one, two, name):
    """Both lives part by rounding over the condition of a group."""
    np.testing.assert_array_equal(one.status, two.status, err_msg=name)
    tolerance = max(1e-11, 1e-13 / np.nanmin(one.condition))
    for what in ("position", "orientation", "velocity", "acceleration"):
        a, b = getattr(one, what), getattr(two, what)
        np.testing.assert_array_equal(np.isnan(a), np.isnan(b), err_msg=name)
        largest = max(1.0, np.nanmax(np.abs(a), initial=0.0))
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * largest, err_msg=f"{name} {what}")


@pytest.mark.parametrize("name", [name for name in mbssa.builtin_names() if mbssa.load(name).motion])
def test_both_lives_have_one_answer(name):
    model = built(name)
    for steps in (1, 7, 361):
        motion = groups.default_motion(model.mechanism, steps=steps)
        plain, coded = (model.solve(motion, branch="checked", compiled=life) for life in (False, True))
        assert_same(plain, coded, f"{name} at {steps} instants")
        np.testing.assert_allclose(plain.residual, coded.residual, atol=1e-12 * max(1.0, model.frames.size))
        assert np.abs(plain.iterations - coded.iterations).max() <= 1
        np.testing.assert_allclose(plain.condition, coded.condition, rtol=1e-6, atol=1e-9)
    assert plan_of(model).machine is not None


@pytest.mark.parametrize("name", [*KINDS, "bricard", "micromanipulator_driven", "rotor"])
def test_both_lives_take_the_same_strides(name):
    model = built(name)
    for steps in (1, 2, 7, 61, 2000):
        motion, found = groups.default_motion(model.mechanism, steps=steps), []
        for compiled in (False, True):
            solving = Solving(model, motion, compiled=compiled)
            solving.begin()
            way = solving.way
            found.append(np.concatenate([*solving.knots.x, way.steps, way.sums, [way.longest]]))
        np.testing.assert_array_equal(found[0], found[1], err_msg=f"{name} at {steps} instants")


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("what", ["value", "rate", "acceleration"])
def test_numbers_that_are_not_finite_are_refused(what, bad, compiled):
    model = built("planar_four_bar")
    for steps, at in ((1, 0), (2, 1), (30, 0), (30, 13)):
        motion = groups.default_motion(model.mechanism, steps=steps)
        getattr(motion, what)[0, at] = bad
        with pytest.raises(ValueError, match=f"{what} of .* is not finite"):
            model.solve(motion, branch="checked", compiled=compiled)


@pytest.mark.parametrize("lanes", [lanes for lanes in (2, 4) if lanes < HERE.lanes])
@pytest.mark.parametrize("name", KINDS)
def test_processors_with_shorter_vectors(name, lanes):
    model = built(name)
    motion = groups.default_motion(model.mechanism, steps=61)
    plan_of(model).machine = Machine(plan_of(model), host=Host(HERE.name, HERE.features, lanes))
    assert_same(model.solve(motion, compiled=False), model.solve(motion, compiled=True), name)


@pytest.mark.parametrize("name", KINDS)
def test_no_split_changes_a_bit(name):
    model = built(name)
    motion, plan = groups.default_motion(model.mechanism, steps=101), plan_of(model)
    life_of(plan, True)
    whole = Solving(model, motion, np.zeros((plan.height, pitch_of(101)))[:, :101], compiled=True)
    whole.begin()
    whole.advance(0, 101)
    for bounds in ([0, 8, 101], [0, 1, 3, 50, 101], [0, 100, 101]):
        spans = list(itertools.pairwise(bounds))
        apart = Solving(model, motion, np.zeros((plan.height, pitch_of(101)))[:, :101], compiled=True)
        apart.begin()
        for part in plan.parts:
            for first, stop in reversed(spans):
                apart.advance(first, stop, [part.index])
        np.testing.assert_array_equal(whole.X, apart.X, err_msg=str(bounds))
    own = Solving(model, motion, compiled=True)  # which keeps axes for a block only
    own.begin()
    own.advance(0, 101)
    np.testing.assert_array_equal(own.X, whole.X[: len(own.X)])


def test_threads_and_pickles():
    model = built("rotor")
    motions = [groups.default_motion(model.mechanism, steps=steps) for steps in (300, 301, 302, 303)]
    alone = [model.solve(motion, compiled=True) for motion in motions]
    fresh = pickle.loads(pickle.dumps(model))
    assert plan_of(fresh).machine is None
    found = [None] * len(motions)

    def solve(k):
        for _ in range(5):
            found[k] = fresh.solve(motions[k], compiled=True)

    threads = [threading.Thread(target=solve, args=(k,)) for k in range(len(motions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, two in zip(alone, found, strict=True):
        np.testing.assert_array_equal(one.acceleration, two.acceleration)


def test_object_code_is_taken_over(monkeypatch):
    model, other = built("cam_swing"), built("cam_swing")
    motion = groups.default_motion(model.mechanism, steps=50)
    wanted = model.solve(motion, compiled=True)
    code = plan_of(model).machine.code
    monkeypatch.setattr(machine, "object_code", None)  # it is not made again
    plan_of(other).machine = Machine(plan_of(other), code)
    np.testing.assert_array_equal(other.solve(motion, compiled=True).position, wanted.position)


def test_memory_is_used_again_when_nothing_reads_it():
    model = built("rotor")
    motion = groups.default_motion(model.mechanism, steps=2000)
    first = model.solve(motion, compiled=True)
    kept, copied = first.position, first.position.copy()
    del first
    second = model.solve(motion, compiled=True)
    np.testing.assert_array_equal(kept, copied)
    assert not np.shares_memory(kept, second.position)
    place = second.position.__array_interface__["data"][0]
    del second
    assert model.solve(motion, compiled=True).position.__array_interface__["data"][0] == place


def test_when_it_is_made():
    model = built("stewart")
    plan = plan_of(model)
    assert not model.compiles(361)
    assert model.compiles(1_000_000)
    motion = groups.default_motion(model.mechanism, steps=361)
    model.solve(motion)
    assert plan.machine is None
    assert plan.spent > 0
    plan.spent = plan.price  # of many motions
    model.solve(motion)
    assert plan.machine is not None
    assert model.compiles(1)
    assert model.compile_seconds == 0.0


@pytest.mark.parametrize(
    ("triple", "name", "lanes"),
    [("aarch64-unknown-linux-gnu", "generic", 2), ("x86_64-pc-windows-msvc", "x86-64", 2)],
)
def test_other_machines_need_no_library(triple, name, lanes):
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    for model in map(built, ("cam_roller", "six_sps")):
        text = text_of(Plan(model), lanes)[0]
        assert all("@llvm." in line for line in text.splitlines() if line.startswith("declare"))
        code = object_code(text, Host(name, "", lanes), triple)
        assert not re.search(rb"chkstk|\b_?(sin|cos|exp|log|rint|floor|fma|memcpy|memset)\b", code)
