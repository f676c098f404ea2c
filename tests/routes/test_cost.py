"""Costs obey the laws of costs, and a prediction is the schedule of them that one finds by hand."""

from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
from routes.cost import Around, Costs, made_up
from routes.executors import ExecutorCosts, executor_named
from routes.plan import Plan, parallel_route, plan_of, sequential_route
from routes.predict import predict
from routes.tasks import tasks_of

FREE = ExecutorCosts(0.0, 0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def stewart():
    """One group, and six equal ones that need its body."""
    return groups.build(mbssa.decompose(mbssa.load("stewart_inverse")))


@pytest.fixture
def costs():
    """Of the same: the platform 1 s and each leg 2 s for 1,000 instants."""
    return replace(
        made_up([1.0] + 6 * [2.0], instants=1000),
        needs=((), *(((1,),) * 6)),
        group_of_body=(-1, 0, *(g for g in range(1, 7) for _ in range(2))),
    )


def with_executor(costs, **of_it):
    return replace(costs, executors={"threads": replace(FREE, **of_it), "sequential": FREE})


class TestCalls:
    LENGTHS = (32, 33, 500, 1000, 1500, 2000, 10_000)

    def test_longer_chunks_take_longer(self, costs):
        table = tuple((0.1, 0.4, 0.5) for _ in costs.groups)
        costs = replace(costs, lengths=(64, 256, 1024), groups=table)
        found = [costs.group_seconds(length)[0] for length in self.LENGTHS]
        assert (np.diff(found) > 0).all()
        assert np.interp(128, [64, 256], [0.1, 0.4]) == pytest.approx(costs.group_seconds(128)[0])

    def test_a_call_takes_its_groups_less_what_they_save(self, costs):
        for length in self.LENGTHS:
            costs = replace(costs, joined=0.01, loaded=1e-4)
            apart = costs.call_seconds([(g,) for g in range(7)], length)
            assert apart == pytest.approx(costs.group_seconds(length)), length
            # The platform is not brought in for any of six legs; or for two of three.
            together, legs = costs.call_seconds([tuple(range(7)), (1, 2, 3)], length)
            assert together == pytest.approx(max(apart.sum() - 6 * 0.01 - 6e-4 * length, apart.max())), length
            assert legs == pytest.approx(max(apart[1:4].sum() - 2 * 0.01 - 2e-4 * length, apart.max())), (
                length
            )

    def test_a_call_takes_no_less_than_its_longest_group(self, costs):
        assert replace(costs, joined=100.0).call_seconds([(0, 1)], 1000) == pytest.approx(2.0)

    def test_tasks_follow_their_chunks(self, stewart, costs):
        plan = plan_of(stewart, parallel_route(stewart), instants=1000, chunks=3)
        tasks = tasks_of(plan, stewart)
        found = costs.task_seconds(tasks, plan).reshape(3, 7)
        assert found.sum(axis=0) == pytest.approx([1.0] + 6 * [2.0])
        assert found[:, 0] == pytest.approx(np.diff(tasks.bounds) / 1000)

    def test_another_solver_has_its_own_costs(self, stewart, costs):
        plan = replace(plan_of(stewart, parallel_route(stewart), instants=1000), solvers={2: "Newton"})
        tasks = tasks_of(plan, stewart)
        with pytest.raises(ValueError, match="2 Newton"):
            costs.task_seconds(tasks, plan)
        costs = replace(costs, alternatives={"2 Newton": (5.0, 10.0)})
        assert costs.task_seconds(tasks, plan).tolist() == [1, 5, 2, 2, 2, 2, 2]

    def test_costs_survive_text(self, costs):
        full = replace(
            with_executor(costs, slowdown=((1.0, 1.0), (2.0, 1.7))), alternatives={"2 Newton": (1.0, 2.0)}
        )
        assert Costs.from_json(full.to_json()) == full
        with pytest.raises(ValueError, match="format"):
            Costs.from_json('{"format": 1}')


class TestAround:
    def test_it_is_the_sum_of_what_a_plan_has(self, stewart, costs):
        costs = replace(with_executor(costs, start=1000.0), around=Around(1.0, 0.01, 2.0, 3.0))
        one = plan_of(stewart, sequential_route(stewart), instants=100)
        assert costs.around_seconds(one, tasks_of(one, stewart)) == pytest.approx(2.0)
        # Seven calls, four chunks: 6 calls and 27 tasks more.
        plan = Plan(tuple(((g,),) for g in range(1, 8)), 100, 32, "needs", "threads", 2)
        expected = 2.0 + 6 * 2.0 + 27 * 3.0 + 1000.0
        assert costs.around_seconds(plan, tasks_of(plan, stewart)) == pytest.approx(expected)


class TestPredictions:
    """Against schedules made by hand."""

    def test_stages(self, stewart, costs):
        for workers, seconds in [(1, 13.0), (2, 7.0), (3, 5.0), (6, 3.0), (100, 3.0)]:
            plan = plan_of(
                stewart,
                parallel_route(stewart),
                instants=1000,
                executor="threads",
                workers=workers,
                wait="stage",
            )
            found = predict(stewart, plan, costs)
            assert found.seconds == pytest.approx(seconds), workers
            assert found.critical[0] == pytest.approx(3.0), workers
            assert found.idle.sum() == pytest.approx(workers - 13.0 / seconds), workers

    def test_chunks_side_by_side(self, stewart, costs):
        plan = plan_of(
            stewart, sequential_route(stewart), instants=960, chunks=3, executor="threads", workers=2
        )
        third = 13.0 * 0.32
        assert predict(stewart, plan, costs).seconds == pytest.approx(2 * third)
        assert predict(stewart, plan, costs, workers=3).seconds == pytest.approx(third)

    def test_sequential_has_one_worker_whatever_is_said(self, stewart, costs):
        plan = replace(plan_of(stewart, parallel_route(stewart), instants=1000), workers=4)
        assert predict(stewart, plan, costs).seconds == pytest.approx(13.0)

    def test_handing_start_and_waking_come_on_top(self, stewart, costs):
        costs = with_executor(costs, start=0.5, handing=0.1, wake=0.01)
        plan = plan_of(stewart, parallel_route(stewart), instants=1000, executor="threads", workers=2)
        # 1 + (2 2 2 / 2 2 2) on two workers: four tasks in a chain, and the second worker has waited.
        assert predict(stewart, plan, costs).seconds == pytest.approx(0.5 + 7.0 + 4 * 0.1 + 0.01)

    def test_only_what_runs_at_once_slows_each_other_down(self, stewart, costs):
        costs = with_executor(costs, slowdown=((1.0, 1.0), (2.0, 1.5)))
        plan = plan_of(stewart, parallel_route(stewart), instants=1000, executor="threads", workers=2)
        assert predict(stewart, plan, costs).seconds == pytest.approx(1.0 + 1.5 * 6.0)
        assert predict(stewart, replace(plan, workers=1), costs).seconds == pytest.approx(13.0)

    def test_beyond_the_cores_workers_take_turns_unless_they_are_elsewhere(self, stewart, costs):
        costs = replace(with_executor(costs, slowdown=((1.0, 1.0), (2.0, 1.5))), cores=2)
        plan = plan_of(stewart, parallel_route(stewart), instants=1000, executor="threads", workers=6)
        assert predict(stewart, plan, costs).seconds == pytest.approx(1.0 + 2.0 * 1.5 * 3)
        assert predict(stewart, plan, costs, simulated=True).seconds == pytest.approx(1.0 + 2.0 * 1.5)

    def test_a_guess_says_so(self, stewart, costs):
        plan = plan_of(stewart, parallel_route(stewart), instants=1000, executor="mpi", workers=2)
        assert predict(stewart, plan, replace(costs, executors={})).assumed
        assert replace(costs, executors={}).handing("mpi") == executor_named("mpi").costs.handing
        assert not predict(stewart, plan, costs).assumed

    def test_costs_of_another_model_are_refused(self, stewart):
        with pytest.raises(ValueError, match="2 groups"):
            predict(stewart, plan_of(stewart, parallel_route(stewart), instants=10), made_up([1.0, 1.0]))
