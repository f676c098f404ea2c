"""Stored costs are used again on the same machine, for the same kind of model only."""

from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
import routes.calibration
from mbssa.store import transaction
from routes.calibration import cost_store, costs, measuring
from routes.calibration.machine import this_machine
from routes.calibration.timing import timed
from routes.cost import made_up
from routes.executors import ExecutorCosts
from routes.plan import Plan, plan_of, sequential_route
from routes.predict import predict, scheduled
from routes.run import logged_run
from routes.tasks import tasks_of


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("MBSSA_STORE", str(path))
    return path


@pytest.fixture(scope="module")
def model():
    return groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))


@pytest.fixture(scope="module")
def motion(model):
    return groups.default_motion(model.mechanism, steps=2000)


@pytest.fixture
def measured(monkeypatch):
    """Names of measured costs, with nothing really measured."""
    seen = []

    def model_costs(model, motion, level):
        seen.append("model")
        found = made_up([1.0] * model.structure.n_groups, instants=len(motion.time))
        return replace(found, executors={}, made=str(len(seen)))

    def executor_costs(model, motion, level, found, name, workers):
        seen.append(name)
        return ExecutorCosts(0.0, 0.0, 1.0, 0.0, ((1.0, 1.0), (float(workers), 1.5)), at_once=2.0)

    monkeypatch.setattr(routes.calibration, "measured_costs", model_costs)
    monkeypatch.setattr(routes.calibration, "measured_executor", executor_costs)
    monkeypatch.setattr(routes.calibration, "this_machine", lambda: replace(this_machine(), cores=2))
    return seen


class TestKeeping:
    def test_nothing_is_measured_a_second_time(self, model, motion, measured):
        first = costs(model, motion)
        assert measured == ["model", "threads"]
        assert costs(model, motion) == first
        assert measured == ["model", "threads"]

    def test_unless_it_is_asked_for(self, model, motion, measured):
        first = costs(model, motion)
        again = costs(model, motion, recalibrate=True)
        assert measured == 2 * ["model", "threads"]
        assert again.made != first.made
        assert costs(model, motion) == again

    def test_another_executor_is_measured_beside_what_there_is(self, model, motion, measured):
        costs(model, motion, executors=[])
        found = costs(model, motion, executors=["threads", "processes"])
        assert measured == ["model", "threads", "processes"]
        assert set(found.executors) == {"threads", "processes"}

    def test_what_a_busy_machine_has_hidden_is_measured_again(self, model, motion, measured, monkeypatch):
        hidden = ExecutorCosts(0.0, 0.0, 1.0, 0.0, ((1.0, 1.0), (2.0, 1.0)), at_once=1.1)
        monkeypatch.setattr(routes.calibration, "measured_executor", lambda *_: hidden)
        costs(model, motion)
        shown = replace(hidden, at_once=1.9)
        monkeypatch.setattr(routes.calibration, "measured_executor", lambda *_: shown)
        assert costs(model, motion).executor("threads") == shown
        monkeypatch.setattr(routes.calibration, "measured_executor", lambda *_: hidden)
        assert costs(model, motion).executor("threads") == shown

    def test_what_was_measured_before_it_was_stopped_is_kept(self, model, motion, measured, monkeypatch):
        def stopped(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(routes.calibration, "measured_executor", stopped)
            with pytest.raises(KeyboardInterrupt):
                costs(model, motion)
        costs(model, motion)
        assert measured == ["model", "threads"]

    def test_mpi_is_a_guess(self, model, motion, measured):
        found = costs(model, motion, executors=["mpi"])
        assert measured == ["model"]
        assert found.executor("mpi").assumed

    def test_another_machine_measures_its_own(self, model, motion, measured, monkeypatch):
        here = replace(this_machine(), cores=2)
        costs(model, motion, executors=[])
        for field in ({"processor": "another"}, {"cores": 64}, {"features": "avx9"}, {"llvmlite": "0.1"}):
            there = replace(here, **field)
            monkeypatch.setattr(routes.calibration, "this_machine", lambda there=there: there)
            measured.clear()
            costs(model, motion, executors=[])
            assert measured == ["model"], field

    def test_so_do_another_level_and_another_number_of_instants(self, model, motion, measured):
        costs(model, motion, executors=[])
        costs(model, motion, executors=[], level="position")
        costs(model, groups.default_motion(model.mechanism, steps=8000), executors=[])
        assert measured == 3 * ["model"]
        costs(model, groups.default_motion(model.mechanism, steps=2100), executors=[])
        assert measured == 3 * ["model"]

    def test_lengths_and_angles_do_not_matter_but_solvers_do(self, model):
        mechanism = mbssa.load("planar_four_bar")
        again = groups.build(mbssa.decompose(mechanism))
        assert cost_store.signature(again) == cost_store.signature(model)
        newton = groups.build(again.structure, {2: "Newton"})
        assert cost_store.signature(newton) != cost_store.signature(model)
        other = groups.build(mbssa.decompose(mbssa.load("slider_crank_isostatic")))
        assert cost_store.signature(other) != cost_store.signature(model)

    def test_what_another_version_has_written_is_measured_anew(self, model, motion, measured, store):
        costs(model, motion, executors=[])
        with transaction([], store) as opened:
            opened.execute("UPDATE calibrations_1 SET costs = '{\"format\": 99}'")
        costs(model, motion, executors=[])
        assert measured == ["model", "model"]

    def test_no_such_level(self, model, motion):
        with pytest.raises(ValueError, match="'speed'"):
            costs(model, motion, level="speed")


class TestMeasuring:
    @pytest.mark.slow
    def test_a_model_is_really_measured(self, model):
        for instants in (1, 33, 300):
            motion = groups.default_motion(model.mechanism, steps=instants)
            found = costs(model, motion)
            assert found.instants == found.lengths[-1] == instants
            assert found.machine == this_machine().processor
            table = np.array(found.groups)
            assert (table > 0).all(), instants
            assert (np.diff(table, axis=1) >= 0).all(), instants
            assert not found.executor("sequential").assumed, instants
            assert found.made.startswith("20"), instants
            plan = plan_of(model, sequential_route(model), instants=instants)
            assert predict(model, plan, found).seconds > found.around.fixed > 0, instants

    @pytest.mark.slow
    def test_another_solver_is_measured_beside_the_default(self, model):
        motion = groups.default_motion(model.mechanism, steps=64)
        found = costs(model, motion, executors=[], alternatives={2: "Newton"})
        plan = Plan((((1,),), ((2,),)), 64, 64, solvers={2: "Newton"})
        tasks = tasks_of(plan, model)
        default = found.task_seconds(tasks, replace(plan, solvers={}))
        assert found.task_seconds(tasks, plan)[1] != default[1]
        assert found.task_seconds(tasks, plan)[0] == default[0]
        assert costs(model, motion, executors=[], alternatives={2: "Newton"}) == found

    def test_disturbed_costs_are_put_in_order(self):
        # The first is longer than a longer chunk; the last is longer than the chunks that make it up.
        table = measuring._in_order((64, 128, 256), np.array([[1.0, 0.5, 0.9], [1.0, 1.5, 9.0]]))
        assert table.tolist() == [[0.5, 0.5, 0.9], [1.0, 1.5, 3.0]]

    def test_the_beginning_of_a_motion_is_its_beginning(self, model, motion):
        part = measuring.first_instants(motion, 100)
        whole = logged_run(model, Plan((((1, 2),),), 2000, 2016), motion).trajectory
        short = logged_run(model, Plan((((1, 2),),), 100, 128), part).trajectory
        assert (short.position == whole.position[:100]).all()

    def test_timings_are_of_every_task(self, model, motion):
        plan = plan_of(model, sequential_route(model), instants=2000, chunks=4)
        found = timed(model, {"it": (plan, motion)}, "position", 0.0)["it"]
        assert len(found.durations) == 4
        assert len(found.seconds) == 3
        assert (found.spans < found.seconds).all()
        assert found.durations.max() <= found.spans.max()
        assert found.noise >= 0

    def test_threads_slow_each_other_down_by_their_work(self):
        for worked, spans, expected in [
            ([12.0, 12.0], [6.0, 6.0], (2.0, 1.2)),  # both at once, 20 % slower
            (
                [10.0, 11.5],
                [10.0, 11.5 / 1.75],
                (1.75, 1.2),
            ),  # once undisturbed for three quarters of the time
            ([10.0, 10.0], [10.0, 10.0], (1.0, 1.0)),  # in turns: nothing was seen
        ]:
            from routes.calibration.executors import _contention
            from routes.calibration.timing import Timing

            def timing(workers, worked, spans):
                plan = Plan((((1,),),), 64, 32, "needs", "threads", workers)
                return Timing(plan, np.array(spans), np.array(spans), np.array(worked), None, np.ones(2), 0.0)

            found = _contention(timing(1, [10.0, 10.0], [10.0, 10.0]), timing(2, worked, spans))
            assert found == pytest.approx(expected), worked

    def test_costs_of_an_executor_are_found_again_from_what_it_took(self, model):
        from routes.calibration.executors import _fitted
        from routes.calibration.timing import Timing

        known = ExecutorCosts(0.0, 0.0, 3e-4, 0.0, ((1.0, 1.0), (2.0, 1.3)))
        base = made_up([0.01, 0.02], instants=2000, executors={"threads": known})
        plan = Plan((((1,),), ((2,),)), 2000, 256, "needs", "threads", 2)
        tasks = tasks_of(plan, model)
        took = scheduled(tasks, base.task_seconds(tasks, plan), plan, base, 2).makespan
        took = np.array([took, 2 * took])
        timing = Timing(plan, took, took, took, None, np.ones(16), 0.0)
        found = _fitted(
            replace(known, handing=0.0), lambda costs, s: replace(costs, handing=s), timing, model, base
        )
        assert found.handing == pytest.approx(3e-4, rel=0.2)

    def test_what_is_saved_is_found_again(self, model):
        from routes.calibration.timing import Timing

        costs = replace(
            made_up([1.0, 2.0], instants=1000),
            needs=((), (1,)),
            group_of_body=(-1, 0, 1, 1),
            joined=0.1,
            loaded=1e-4,
        )
        timings = []
        for chunks in (1, 4):
            plan = measuring.together(2, 1024, chunks)
            length = min(plan.chunk, plan.instants)
            log = type("Log", (), {"bounds": np.arange(chunks + 1)})()
            durations = np.full(chunks, costs.call_seconds([(0, 1)], length)[0])
            timings.append(Timing(plan, np.ones(1), np.ones(1), np.ones(1), log, durations, 0.0))
        assert measuring._saved(replace(costs, joined=0.0, loaded=0.0), timings) == pytest.approx((0.1, 1e-4))


def test_costs_around_the_tasks_are_never_negative():
    assert measuring._not_negative([[1.0, 1.0], [2.0, 3.0]], [3.0, 8.0]) == pytest.approx((1.0, 2.0))
    assert min(measuring._not_negative([[1.0, 0.0], [1.0, 1.0]], [2.0, 1.0])) == 0.0
