"""Schedules worked out by hand, and the laws that every list schedule obeys."""

from itertools import pairwise

import numpy as np
import pytest
from synthetic import costs, deep, in_chunks, layered, log_faults, random_dag, wide

from routes.simulate import critical_path, simulate

WORKERS = (1, 2, 3, 5, 8, 40)


def tasks(seconds, needs):
    return np.array(seconds, float), *in_chunks(needs, 1)


def rows(schedule):
    return np.stack([schedule.worker, schedule.start, schedule.stop], axis=1).tolist()


def random_tasks(seed):
    """20 to 60 tasks in one to three chunks, of times that are often equal and sometimes none."""
    rng = np.random.default_rng(seed)
    needs = random_dag(int(rng.integers(10, 25)), rng.choice([0.0, 0.05, 0.2, 0.6]), seed)
    start, before = in_chunks(needs, int(rng.integers(1, 4)))
    return rng.choice([0.0, 1.0, 1.0, 2.0, 3.5], len(start) - 1), start, before


class TestByHand:
    """A (2 s); then B (3 s), C (1 s) and D (2 s) beside each other; then E (1 s)."""

    FORK = ([2, 3, 1, 2, 1], ((), (0,), (0,), (0,), (1, 2, 3)))

    def test_one_worker(self):
        schedule = simulate(*tasks(*self.FORK), 1)
        assert rows(schedule) == [[0, 0, 2], [0, 2, 5], [0, 5, 6], [0, 6, 8], [0, 8, 9]]
        assert schedule.idle.tolist() == [0.0]

    def test_two_workers(self):
        schedule = simulate(*tasks(*self.FORK), 2)
        assert rows(schedule) == [[0, 0, 2], [0, 2, 5], [1, 2, 3], [1, 3, 5], [0, 5, 6]]
        assert schedule.makespan == 6
        assert schedule.idle.tolist() == [0.0, 0.5]

    def test_more_workers_than_there_is_work_for(self):
        schedule = simulate(*tasks(*self.FORK), 4)
        assert rows(schedule) == [[0, 0, 2], [0, 2, 5], [1, 2, 3], [2, 2, 4], [0, 5, 6]]
        assert schedule.idle.tolist() == pytest.approx([0.0, 5 / 6, 4 / 6, 1.0])

    def test_handing_lengthens_each_task_on_its_worker(self):
        schedule = simulate(*tasks(*self.FORK), 2, handing=0.5)
        assert rows(schedule) == [[0, 0, 2.5], [0, 2.5, 6], [1, 2.5, 4], [1, 4, 6.5], [0, 6.5, 8]]

    def test_chunks_are_chains_of_their_own(self):
        start, before = in_chunks(deep(3), 4)
        assert simulate(np.ones(12), start, before, 4).makespan == 3

    def test_the_lowest_ready_number_goes_first_even_if_a_longer_task_waits(self):
        schedule = simulate(*tasks([1, 1, 5], ((), (), ())), 2)
        assert schedule.start.tolist() == [0, 0, 1]
        assert schedule.makespan == 6

    def test_tasks_that_take_no_time(self):
        schedule = simulate(*tasks([0, 0, 1, 0], ((), (0,), (1,), (2,))), 2)
        assert schedule.stop.tolist() == [0, 0, 1, 1]

    def test_no_tasks(self):
        schedule = simulate(*tasks([], ()), 3)
        assert schedule.makespan == 0
        assert schedule.idle.tolist() == [0, 0, 0]


def test_grahams_anomaly_a_fourth_worker_makes_it_slower():
    """R. L. Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl. Math. 17 (1969), section II."""
    needs = ((), (), (), (), (3,), (3,), (3,), (3,), (0,))
    seconds = [3, 2, 2, 2, 4, 4, 4, 4, 9]
    assert simulate(*tasks(seconds, needs), 3).makespan == 12
    assert simulate(*tasks(seconds, needs), 4).makespan == 15
    assert (
        simulate(*tasks([time - 1 for time in seconds], needs), 3).makespan == 13
    )  # and so do shorter tasks


class TestLaws:
    """Of 60 random sets of tasks."""

    def test_the_checker_of_logs_finds_nothing(self):
        for seed, case in enumerate(map(random_tasks, range(60))):
            for workers in WORKERS:
                schedule = simulate(*case, workers, handing=0.25)
                log = np.stack([schedule.start, schedule.stop, schedule.worker], axis=1)
                assert log_faults(log, *case[1:]) == [], (seed, workers)
                assert schedule.worker.max() < workers, (seed, workers)

    def test_between_the_bounds(self):
        """No schedule is shorter than max(critical path, work / W), which is at most the best there is.

        A list schedule is at most work / W + (1 - 1 / W) critical path, and so at most 2 - 1 / W times
        the best.
        """
        for seed, case in enumerate(map(random_tasks, range(60))):
            work, critical = case[0].sum(), critical_path(*case)[0]
            for workers in WORKERS:
                makespan = simulate(*case, workers).makespan
                best = max(critical, work / workers)
                upper = min(work / workers + (1 - 1 / workers) * critical, (2 - 1 / workers) * best)
                assert best * (1 - 1e-12) <= makespan <= upper * (1 + 1e-12), (seed, workers)

    def test_one_worker_takes_the_sum_and_enough_workers_the_critical_path(self):
        for seed, case in enumerate(map(random_tasks, range(60))):
            alone, all_at_once = simulate(*case, 1), simulate(*case, len(case[0]))
            assert alone.makespan == pytest.approx(case[0].sum(), rel=1e-12), seed
            assert alone.idle.tolist() == pytest.approx([0.0], abs=1e-12), seed
            assert all_at_once.makespan == critical_path(*case)[0], seed

    def test_no_worker_is_idle_while_a_task_is_ready(self):
        for seed, case in enumerate(map(random_tasks, range(60))):
            _, start, before = case
            for workers in (2, 3):
                found = simulate(*case, workers)
                at_work = (found.start[:, None] <= found.start) & (found.stop[:, None] > found.start)
                for task, begin in enumerate(found.start):
                    ready = found.stop[before[start[task] : start[task + 1]]].max(initial=0.0)
                    between = (found.start >= ready) & (found.start < begin)
                    assert (at_work.sum(axis=0)[between] == workers).all(), (seed, workers, task)

    def test_idle_shares_make_up_what_work_leaves_of_the_makespan(self):
        for seed, case in enumerate(map(random_tasks, range(60))):
            schedule = simulate(*case, 3)
            busy = ((1 - schedule.idle) * schedule.makespan).sum()
            assert busy == pytest.approx(case[0].sum()), seed

    def test_the_critical_path_is_a_chain_of_that_length(self):
        for seed, (seconds, start, before) in enumerate(map(random_tasks, range(60))):
            length, path = critical_path(seconds, start, before)
            assert sum(seconds[list(path)]) == pytest.approx(length, rel=1e-12), seed
            for one, two in pairwise(path):
                assert one in before[start[two] : start[two + 1]], seed


def test_the_same_tasks_give_the_same_schedule():
    case = costs(400, 3), *in_chunks(random_dag(100, 0.05, 3), 4)
    assert rows(simulate(*case, 7)) == rows(simulate(*case, 7))


@pytest.mark.parametrize(
    ("needs", "levels"), [(wide(50), 2), (deep(50), 50), (layered(5, 10), 5)], ids=["wide", "deep", "layered"]
)
def test_equal_tasks_have_a_critical_path_of_one_task_a_level(needs, levels):
    assert critical_path(np.ones(50), *in_chunks(needs, 1))[0] == levels


def test_all_faults_are_told_at_once():
    with pytest.raises(ValueError, match=r"seconds\[1\] = -1.0.*task 0 needs task 1"):
        simulate(np.array([1.0, -1.0]), np.array([0, 1, 1]), np.array([1]), 2)
    with pytest.raises(ValueError, match=r"workers = 0"):
        simulate(np.array([1.0]), np.array([0, 0]), np.array([]), 0)
    with pytest.raises(ValueError, match=r"handing = nan"):
        simulate(np.array([1.0]), np.array([0, 0]), np.array([]), 1, handing=np.nan)
    with pytest.raises(ValueError, match="needs_start: write 3"):
        critical_path(np.array([1.0, 1.0]), np.array([0, 1]), np.array([0]))
