"""Long motions go through the array of a block: the answers of the whole array, in memory for them alone."""

import numpy as np
import pytest
from linkages import linkage

import groups
import groups.solve
import mbssa
import routes
from groups.status import BRANCH_JUMP, OUTPUTS, PROVEN, QUALITY

NAMES = [name for name in mbssa.builtin_names() if mbssa.load(name).motion is not None]


def built(name):
    return groups.build(mbssa.decompose(mbssa.load(name)))


def assert_same(one, two, said=""):
    """Every bit."""
    for name in (*OUTPUTS, *QUALITY, *PROVEN, "kept"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=f"{said} {name}")


@pytest.fixture
def both(monkeypatch):
    """Answers by the whole array and by blocks of some instants, and whether blocks were enough."""
    enough, in_blocks = [], groups.solve._in_blocks

    def noted(*given):
        found = in_blocks(*given)
        enough.append(found is not None)
        return found

    monkeypatch.setattr(groups.solve, "_in_blocks", noted)

    def answers(model, motion, instants=30, **options):
        whole = model.solve(motion, **options)
        for name, number in (("BLOCK", 0), ("FEWEST", instants), ("BLOCKS", 2)):
            monkeypatch.setattr(groups.solve, name, number)
        return whole, model.solve(motion, **options), enough[-1]

    return answers


@pytest.mark.parametrize("name", NAMES)
def test_models(name, both):
    model = built(name)
    motion = groups.default_motion(model.mechanism, steps=100)
    for compiled in (False, True):
        for options in ({}, {"branch": "checked", "bodies": [1, 2], "level": "velocity"}):
            whole, found, enough = both(model, motion, compiled=compiled, **options)
            assert_same(whole, found, f"{name} {compiled} {options}")
            assert enough


@pytest.mark.parametrize("branch", ["checked", "proven"])
@pytest.mark.parametrize("name", ["theo_jansen", "rssr", "cam_roller"])
def test_turns_and_motions_that_begin_elsewhere(name, branch, both):
    model = built(name)
    motion = groups.constant_speed(model.mechanism, duration=5.0, steps=700).within(slice(37, None))
    for compiled in (False, True):
        whole, found, enough = both(model, motion, branch=branch, compiled=compiled)
        assert_same(whole, found)
        assert enough
    if model.mechanism.space == "planar":
        assert np.ptp(found.orientation, axis=0).max() > 4 * 2 * np.pi


@pytest.mark.parametrize("branch", ["checked", "proven"])
@pytest.mark.parametrize(("name", "duration"), [("pendulum_four_bar", 0.1), ("rotor", 1.0)])
def test_what_fails_is_answered_by_the_whole_array(name, duration, branch, both):
    model = built(name)
    motion = groups.constant_speed(model.mechanism, duration=duration, steps=200)
    for compiled in (False, True):
        whole, found, enough = both(model, motion, branch=branch, compiled=compiled)
        assert_same(whole, found)
        assert not whole.ok
        assert not enough


def test_a_dead_point_at_a_seam(both):
    """A parallelogram lies flat within a time step, at any instant of a block."""
    rows = [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0)]
    points = [{"point": place} for place in ((0.0, 0.0), (0.0, 1.0), (3.0, 1.0), (3.0, 0.0))]
    model = groups.build(mbssa.decompose(linkage(rows, points)))
    motion = groups.constant_speed(model.mechanism, duration=0.4, steps=150)
    for instants in range(10, 30):
        whole, found, enough = both(model, motion, instants, branch="checked", compiled=False)
        assert BRANCH_JUMP in whole.status
        assert_same(whole, found)
        assert not enough


def test_reports_do_not_go_back(both):
    model, told = built("pendulum_four_bar"), []
    motion = groups.constant_speed(model.mechanism, duration=0.1, steps=200)  # out of reach late
    _, _, enough = both(model, motion, progress=told.append)
    assert not enough
    last = told.index(1.0) + 1  # of the whole array, to which blocks are compared
    assert told[last:] == sorted(told[last:])


def test_a_run_that_is_stopped(both):
    model = built("rotor")
    motion, told = groups.default_motion(model.mechanism, steps=200), []

    def progress(share):
        told.append(share)
        return share < 0.5

    for branch in ("checked", "proven"):
        whole = model.solve(motion, branch=branch)
        _, found, enough = both(model, motion, branch=branch, progress=progress)
        assert enough
        done = int((found.status[:, 0] == 0).sum())
        assert 100 <= done < 140
        assert_same(whole.instants(slice(done)), found.instants(slice(done)))
        assert np.isnan(found.position[done:, 1:]).all()
        assert not (found.proof[done:]).any()


def test_plans_of_routes_have_the_same_answer(both):
    model = built("rotor")
    motion = groups.default_motion(model.mechanism, steps=200)
    _, found, enough = both(model, motion, compiled=True)
    assert enough
    route = routes.sequential_route(model)
    plan = routes.plan_of(model, route, instants=200, chunks=3, executor="threads", workers=2)
    assert_same(routes.run(model, plan, motion, compiled=True), found)
