"""One contract for all executors: the bits of the sequential one, no task before what it needs."""

from dataclasses import replace

import pytest
from plans import NAMES, bits, check, faults, in_sequence, model_of, motion_of
from starting import ended, start
from threadpoolctl import threadpool_info

import routes
from groups.run import Run
from routes.plan import parallel_route, plan_of
from routes.run import logged_run

HERE_ALONE = ("threads", "processes", "threading", "loky")


@pytest.mark.parametrize("executor", HERE_ALONE)
@pytest.mark.parametrize("name", NAMES)
def test_the_bits_of_the_sequential_executor_and_a_sound_log(name, executor):
    check(name, executor, workers=2)


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers_gives_the_same_bits_twice(executor, workers):
    check("rotor", executor, workers)
    check("rotor", executor, workers)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_both_workers_work_where_there_is_enough_to_do(executor):
    model = model_of("stewart_inverse")
    plan = plan_of(
        model, parallel_route(model), instants=50_000, chunks=12, start="seeded", executor=executor, workers=2
    )
    logs = [logged_run(model, plan, motion_of(model, 50_000)).log for _ in range(2)]
    assert set(logs[1].worker.tolist()) == {0, 1}


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_of_mpi(ranks, tmp_path):
    tests = (
        "alike,what_rank_0_was_given_counts,another_number_of_ranks,one_task_fails,one_rank_cannot_begin,"
        "nobody_wants_it,who_is_told_fails,clocks,resumed"
    )
    said, code = ended(start("on_ranks.py", tests, tmp_path, ranks=ranks), 300)
    assert (said.strip(), code) == ("fine", 0)


def test_a_registered_backend_of_the_users():
    """dask.distributed, on this machine."""
    distributed = pytest.importorskip("distributed")
    model = model_of("rotor")
    motion = motion_of(model)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        for start_ in ("carried", "seeded"):
            plan = plan_of(
                model, parallel_route(model), instants=500, chunks=4, start=start_, executor="dask", workers=2
            )
            outcome = logged_run(model, plan, motion)
            assert bits(outcome.trajectory) == bits(routes.run(model, in_sequence(plan), motion))
            assert faults(model, plan, outcome.log) == []


@pytest.mark.parametrize("name", ["gremlins", "multiprocessing"])
def test_executors_that_there_are_not(name):
    model = model_of("nine_bar")
    plan = plan_of(model, parallel_route(model), instants=500, executor=name, workers=2)
    with pytest.raises(
        ValueError, match=r"write sequential, threads, processes or mpi, or .* dask, loky, thr"
    ):
        routes.run(model, plan, motion_of(model))


def test_mpi_without_mpiexec_says_how_to_start_it():
    """Outside of mpiexec there is one rank."""
    said, code = ended(start("on_ranks.py", "another_number_of_ranks,alike"), 60)
    assert (said.strip(), code) == ("fine", 0)


@pytest.mark.parametrize("solver", ["global dense", "global sparse"])
def test_workers_of_the_global_approach_have_one_thread_of_blas_each(solver, monkeypatch):
    model = model_of("rotor")
    motion = motion_of(model, 64)
    plan = plan_of(
        model, parallel_route(model), instants=64, executor="threads", workers=2, solvers={4: solver}
    )
    seen = []
    advance = Run.advance

    def watched(self, *arguments):
        seen.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        advance(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "advance", watched)
        by_threads = bits(routes.run(model, plan, motion))
    assert set(seen) == {1}
    assert by_threads == bits(routes.run(model, in_sequence(plan), motion))
    assert by_threads == bits(routes.run(model, replace(plan, executor="processes"), motion))


def test_a_script_without_a_guard_can_use_processes(tmp_path):
    """As multiprocessing has it, workers would run the script again."""
    script = tmp_path / "script.py"
    script.write_text(
        "import groups, mbssa, routes\n"
        "model = groups.build(mbssa.decompose(mbssa.load('nine_bar')))\n"
        "motion = groups.default_motion(model.mechanism, steps=100)\n"
        "plan = routes.plan_of(\n"
        "    model, routes.parallel_route(model), instants=100, executor='processes', workers=2\n"
        ")\n"
        "print(routes.run(model, plan, motion).ok)\n"
    )
    said, code = ended(start(script), 60)
    assert (said.strip(), code) == ("True", 0)
