"""Motions forwards and reactions backwards as one plan."""

import numpy as np
import pytest

import groups
import mbssa
import routes
from routes.plan import Plan
from routes.reverse import needs_of


def model_of(name):
    return groups.build(mbssa.decompose(mbssa.load(name)))


@pytest.fixture(scope="module")
def four_bar():
    return model_of("planar_four_bar")


def test_a_stewart_platform_has_its_legs_dag_with_reactions():
    model = model_of("stewart_inverse")
    dag = routes.dag_with_reactions(model)
    assert dag.levels == ((0,), tuple(range(1, 7)), tuple(range(8, 14)), (7,))
    # The six legs are interchangeable as pairs of a motion and its reactions.
    assert routes.count(dag) < routes.count(dag, symmetry=False)


def test_spring_needs_motion_of_both_its_groups():
    arm = {"mass": 1.0, "centre": (0.5, 0.0), "moment": 0.1}
    m = mbssa.Builder("planar").body("one", inertia=arm).body("two", inertia=arm)
    m = m.revolute("frame", "one", point=(0, 0), driven=True)
    m = m.revolute("frame", "two", point=(0, 0), driven=True)
    apart = groups.build(mbssa.decompose(m.build()))
    assert needs_of(apart)[2:] == ((0,), (1,))
    m = m.force("spring", bodies=("one", "two"), points=((1, 0), (0, 1)), stiffness=5.0)
    joined = groups.build(mbssa.decompose(m.build()))
    assert needs_of(joined)[2:] == ((0, 1), (0, 1))


def test_enumerated_routes_all_run_to_the_same_bits():
    model = model_of("slider_crank_isostatic")
    motion = groups.default_motion(model.mechanism, steps=40)
    found = []
    for route in routes.enumerate(routes.dag_with_reactions(model)):
        plan = routes.plan_of(model, routes.signed(route, model.structure.n_groups), instants=40)
        found.append(routes.forces(model, plan, motion))
    assert len(found) == routes.count(routes.dag_with_reactions(model))
    for forces in found:
        assert np.array_equal(forces.driving, found[0].driving)
        assert abs(forces.balance).max() < 1e-9


def test_plan_of_reactions_comes_back_from_its_text(four_bar):
    plan = routes.plan_of(four_bar, routes.sequential_with_reactions(four_bar), instants=10)
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.backwards


def test_wrong_route_is_refused(four_bar):
    for route, message in [
        ([(1,), (2,), (-1,), (-2,)], "group -1 needs group -2"),
        ([(1,), (-2,), (2,), (-1,)], "group -2 needs group 2"),
        ([(1,), (2,), (-2,)], "no stage has group -1"),
        ([(1,), (2,), (-2,), (-1,), (-3,)], "there is no group -3"),
    ]:
        with pytest.raises(ValueError, match=message):
            routes.plan_of(four_bar, route, instants=10)


def test_chunks_levels_and_plans_that_do_not_fit_are_refused(four_bar):
    dag_with_reactions = routes.sequential_with_reactions(four_bar)
    with pytest.raises(ValueError, match="whole motion"):
        routes.plan_of(four_bar, dag_with_reactions, instants=64, chunks=2)
    plan = routes.plan_of(four_bar, dag_with_reactions, instants=10)
    motion = groups.default_motion(four_bar.mechanism, steps=10)
    with pytest.raises(ValueError, match=r"accelerations.*leave bodies out"):
        routes.run(four_bar, plan, motion, level="position", bodies=[1])
    alone = routes.plan_of(four_bar, routes.sequential_route(four_bar), instants=10)
    with pytest.raises(ValueError, match="no reactions"):
        routes.forces(four_bar, alone, motion)


def test_redundant_equations_are_named():
    model = model_of("slider_crank")
    with pytest.raises(ValueError, match=r"SG-2 has 15 equations for 12 freedoms.*groups\.forces"):
        routes.dag_with_reactions(model)


def test_motion_with_failures_gives_what_one_piece_gives():
    model = model_of("rotor")
    motion = groups.default_motion(model.mechanism, steps=50)
    far = motion.value.copy()
    far[0, 20:] += 100.0  # no slide of the rotor is so long
    motion = groups.Motion(motion.time, motion.names, far, motion.rate, motion.acceleration)
    plan = routes.plan_of(model, routes.sequential_with_reactions(model), instants=50)
    found = routes.forces(model, plan, motion, branch="checked")
    right = groups.forces(found.trajectory, model.structure)
    assert not right.ok
    assert np.array_equal(found.status, right.status)
    assert np.array_equal(found.driving, right.driving, equal_nan=True)


def test_checkpoint_of_reactions_is_resumed(tmp_path):
    model = model_of("stewart_inverse")
    motion = groups.default_motion(model.mechanism, steps=40)
    plan = routes.plan_of(model, [(1,), tuple(range(2, 8)), tuple(range(-7, -1)), (-1,)], instants=40)
    shares = []

    def stop(share):
        shares.append(share)
        return share < 0.6

    stopped = routes.forces(model, plan, motion, branch="checked", checkpoint=tmp_path / "run", progress=stop)
    assert stopped is None
    found = routes.forces(model, plan, motion, branch="checked", checkpoint=tmp_path / "run", resume=True)
    right = groups.forces(found.trajectory, model.structure)
    assert np.array_equal(found.driving, right.driving)


@pytest.mark.slow
def test_study_predicts_and_runs_reactions():
    model = model_of("stewart_inverse")
    motion = groups.default_motion(model.mechanism, steps=64)
    study = routes.study(model, motion, workers=2, executors=["threads"], top=1, repeats=1, forces=True)
    assert study.best.backwards
    assert study.told_apart == 308_682_013
    assert all(trial.prediction.seconds > 0.0 for trial in study.trials)
    assert routes.forces(model, study.best, motion).ok
