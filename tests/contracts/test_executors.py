"""Contract of all executors: the bits of the sequential one, sound logs, named failures."""

import ast
import os
import signal
import sys
import threading
import time
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import cloudpickle
import psutil
import pytest
from plans import (
    INSTANTS,
    NAMES,
    REACTIONS,
    bits,
    check,
    check_reactions,
    faults,
    in_sequence,
    model_of,
    motion_of,
)
from starting import ended, start, those_left, wait_for
from threadpoolctl import threadpool_info

import routes
import routes.executors
from groups.dynamics.one_group import Steps
from groups.engine.solve import Solving
from groups.status import NOT_COMPUTED, OK
from mbssa import mpi_rank
from routes import handover
from routes.executors import executor_named, executor_names
from routes.job import TaskError
from routes.plan import parallel_route, plan_of, sequential_with_reactions
from routes.run import logged_run

ALL = executor_names()
#: Executors whose workers are not started by a launcher.
HERE = [name for name in ALL if name != "mpi"]
MODEL = model_of("rotor")
MOTION = motion_of(MODEL)

cloudpickle.register_pickle_by_value(sys.modules[__name__])
on_ranks = pytest.mark.skipif(not mpi_rank.mpiexec().exists(), reason="there is no mpiexec beside Python")


@contextmanager
def two_workers(*, processes):
    """Two workers of ``distributed`` on this machine."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "processes": processes}
    with distributed.LocalCluster(**options) as made, distributed.Client(made):
        yield


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with two_workers(processes=False):
        yield


def a_plan(executor, workers=2):
    return plan_of(
        MODEL, parallel_route(MODEL), instants=INSTANTS, chunks=8, executor=executor, workers=workers
    )


def run(plan, **options):
    return routes.run(MODEL, plan, MOTION, compiled=False, **options)


def right(plan):
    return bits(run(in_sequence(plan)))


# --- the standard interface ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HERE)
def test_it_is_a_factory_of_standard_executors(name):
    with executor_named(name).open(2) as pool:
        assert isinstance(pool, Executor)
        assert sorted(future.result() for future in [pool.submit(pow, n, 2) for n in range(9)]) == [
            n * n for n in range(9)
        ]
        assert isinstance(pool.submit(divmod, 1, 0).exception(), ZeroDivisionError)


def test_an_executor_is_one_file(tmp_path, monkeypatch):
    """A new file is found by its name, predicted, and runs a plan."""
    (tmp_path / "single.py").write_text(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from routes.executors.base import ExecutorCosts, ExecutorType\n"
        "EXECUTOR = ExecutorType('single', lambda workers: ThreadPoolExecutor(1), 'separate',\n"
        "                        ExecutorCosts(0.0, 0.0, 0.0, 0.0))\n"
    )
    monkeypatch.setattr(routes.executors, "__path__", [*routes.executors.__path__, str(tmp_path)])
    assert "single" in executor_names()
    plan = a_plan("single", 3)
    assert bits(run(plan)) == right(plan)


def test_unknown_executors_are_refused():
    for name in ("gremlins", "base", "loky"):
        with pytest.raises(ValueError, match=f"'{name}'.* {', '.join(ALL)}"):
            run(a_plan(name))


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("routes.executors.base.find_spec", lambda _: None)
    with pytest.raises(ValueError, match=r"\[cluster\]"):
        executor_named("cluster")


# --- the same bits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", HERE)
def test_the_bits_of_the_model_itself_and_a_sound_log(executor):
    for name in NAMES:
        check(name, executor, workers=2)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_any_number_of_workers_gives_the_same_bits_twice(executor):
    for workers in (1, 3, 3):
        check("nine_bar", executor, workers)


@pytest.mark.parametrize("executor", HERE)
def test_reactions_are_those_of_one_piece_to_the_bit(executor):
    for name in REACTIONS:
        check_reactions(name, executor, 2)


@on_ranks
@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 4])
def test_ranks_of_mpi(number, tmp_path):
    tests = (
        "alike,what_rank_0_was_given_counts,another_number_of_ranks,one_task_fails,one_rank_cannot_begin,"
        "stopped,progress_fails,resumed,reactions_alike"
    )
    said, code = ended(start("on_ranks.py", tests, tmp_path, ranks=number), 300)
    assert (said.strip(), code) == ("fine", 0)


@pytest.mark.slow
def test_one_rank_needs_no_mpiexec():
    said, code = ended(start("on_ranks.py", "another_number_of_ranks,alike"), 60)
    assert (said.strip(), code) == ("fine", 0)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["threads", "processes", "cluster"])
def test_both_workers_work_where_there_is_enough_to_do(executor):
    model = model_of("stewart_inverse")
    plan = plan_of(model, parallel_route(model), instants=2_000, chunks=12, executor=executor, workers=2)
    logs = [logged_run(model, plan, motion_of(model, 2_000), compiled=False).log for _ in range(2)]
    assert set(logs[1].worker.tolist()) == {0, 1}
    assert faults(model, logs[1]) == []


def test_workers_of_reactions_have_one_thread_of_blas_each(monkeypatch):
    plan = plan_of(MODEL, sequential_with_reactions(MODEL), instants=64, executor="threads", workers=2)
    import scipy.sparse.linalg  # noqa: F401  # the limit is one of libraries that are loaded by then

    seen = []
    perform = Steps.perform

    def watched(self, *arguments):
        seen.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        perform(self, *arguments)

    monkeypatch.setattr(Steps, "perform", watched)
    assert routes.forces(MODEL, plan, motion_of(MODEL, 64), compiled=False).ok
    assert set(seen) == {1}


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["global dense", "global sparse"])
def test_the_global_approach_gives_the_same_bits_everywhere(solver):
    motion = motion_of(MODEL, 64)
    plan = plan_of(MODEL, parallel_route(MODEL), instants=64, workers=2, solvers={4: solver})
    alone = bits(routes.run(MODEL, plan, motion, compiled=False))
    for executor in ("threads", "processes", "cluster"):
        found = routes.run(MODEL, replace(plan, executor=executor), motion, compiled=False)
        assert alone == bits(found), executor


@pytest.mark.slow
def test_a_script_without_a_guard_can_use_processes(tmp_path):
    """With multiprocessing, workers would run the script again."""
    script = tmp_path / "script.py"
    script.write_text(
        "import groups, mbssa, routes\n"
        "model = groups.build(mbssa.decompose(mbssa.load('nine_bar')))\n"
        "motion = groups.default_motion(model.mechanism, steps=100)\n"
        "plan = routes.plan_of(\n"
        "    model, routes.parallel_route(model), instants=100, executor='processes', workers=2\n"
        ")\n"
        "print(routes.run(model, plan, motion, compiled=False).ok)\n"
    )
    said, code = ended(start(script), 60)
    assert (said.strip(), code) == ("True", 0)


# --- failures --------------------------------------------------------------------------------------------


#: First instant of chunk 5.
BREAKING = 128


@contextmanager
def broken(executor, how):
    """In the workers, chunk 5 breaks at its first time step."""
    memory = executor_named(executor).memory
    original = handover.HANDOVERS[memory]

    @contextmanager
    def breaking(runner):
        with original(runner) as given:
            tasks = runner.job.tasks

            def call(task):
                made = given.call(task)
                return (breaks, how, *made) if tasks.span(task)[0] == BREAKING else made

            yield replace(given, call=call)

    handover.HANDOVERS[memory] = breaking
    try:
        yield
    finally:
        handover.HANDOVERS[memory] = original


def breaks(how, function, *arguments):
    advance = Solving.advance

    def failing(self, first, *more):
        if first == BREAKING:
            how()
        advance(self, first, *more)

    Solving.advance = failing
    try:
        return function(*arguments)
    finally:
        Solving.advance = advance


def divide():
    raise ArithmeticError("one by nothing")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def start_both(executor):
    """Wait until both workers run: one that is still starting may hold the first chunk for seconds."""

    def worker():
        time.sleep(0.05)
        return os.getpid(), threading.get_native_id()

    with executor_named(executor).open(2) as pool:
        tasks = executor_named(executor).at_once(2)
        running = set()
        while len(running) < min(tasks, 2):
            running |= {future.result() for future in [pool.submit(worker) for _ in range(tasks)]}


def kept_and_resumed(error, plan, folder):
    """Some time steps are there, later ones are not computed; a resumed run has the right bits."""
    status = error.trajectory.status
    assert (status[:32, 0] == OK).all()
    assert (status[BREAKING:] == NOT_COMPUTED).any()
    assert bits(run(plan, checkpoint=folder, resume=True)) == right(plan)


SAID = r"SG-\d .*, chunk 5 of 8 \(instants 128 to 159\)"


@pytest.mark.parametrize("executor", HERE)
def test_an_exception_is_named_by_its_task(executor, tmp_path):
    start_both(executor)
    plan, folder = a_plan(executor), tmp_path / "run"
    with broken(executor, divide), pytest.raises(TaskError, match=SAID + ": Arith.*nothing") as caught:
        run(plan, checkpoint=folder)
    assert MODEL.structure.n_groups * 4 <= caught.value.task < MODEL.structure.n_groups * 5
    kept_and_resumed(caught.value, plan, folder)


@pytest.mark.slow
def test_a_killed_process_is_named_by_its_task(tmp_path):
    start_both("processes")
    plan, folder = a_plan("processes"), tmp_path / "run"
    before = {child.pid for child in psutil.Process().children()}
    with (
        broken("processes", die),
        pytest.raises(TaskError, match=SAID + r".*worker process died.*SIGKILL\(-9\)") as caught,
    ):
        run(plan, checkpoint=folder)
    after = [child for child in psutil.Process().children() if child.pid not in before]
    assert those_left([child for child in after if "resource_tracker" not in " ".join(child.cmdline())]) == []
    kept_and_resumed(caught.value, plan, folder)


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_is_replaced(tmp_path):
    once = tmp_path / "once"

    def die_once():
        if not once.exists():
            once.touch()
            die()

    plan = a_plan("cluster")
    with two_workers(processes=True), broken("cluster", die_once):
        assert bits(run(plan)) == right(plan)
    assert once.exists()


@pytest.mark.slow
def test_processes_that_died_between_two_runs_are_replaced():
    plan = a_plan("processes")
    assert bits(run(plan)) == right(plan)
    with executor_named("processes").open(2) as pool:
        died = pool.submit(os.getpid).result()
    psutil.Process(died).kill()
    threading.Event().wait(0.5)  # until loky has noticed
    assert bits(run(plan)) == right(plan)


@pytest.mark.slow
def test_processes_that_end_while_tasks_wait_are_replaced():
    """loky ends processes that grow, and idle ones; its thread warns of it, which is an error here."""

    def grow(number):
        sys.modules[f"grown by {number}"] = bytearray(b"1") * 400_000_000
        time.sleep(1.1)  # memory is measured every second
        return os.getpid()

    with executor_named("processes").open(2) as pool:
        workers = {future.result(timeout=60) for future in [pool.submit(grow, n) for n in range(7)]}
    assert len(workers) > 2


def test_processes_leave_ctrl_c_to_their_parent_from_their_first_line():
    """The mask is that with which they were started; the handler comes after their imports."""
    with executor_named("processes").open(2) as pool:
        assert signal.SIGINT in pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, []).result()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.parametrize("executor", HERE)
def test_a_stopped_run_ends_and_is_resumed(executor, tmp_path):
    start_both(executor)
    plan, folder = a_plan(executor), tmp_path / "run"
    found = run(plan, checkpoint=folder, progress=lambda share: share < 0.3)
    assert (found.status == NOT_COMPUTED).any()
    assert (found.status[:32, 0] == OK).all()
    assert bits(run(plan, checkpoint=folder, resume=True)) == right(plan)


@pytest.mark.parametrize("executor", HERE)
def test_an_exception_of_the_progress_callback_ends_the_run(executor, tmp_path):
    def progress(share):
        if share > 0.3:
            raise LookupError("no screen")

    plan, folder = a_plan(executor), tmp_path / "run"
    with pytest.raises(LookupError, match="no screen"):
        run(plan, checkpoint=folder, progress=progress)
    assert bits(run(plan, checkpoint=folder, resume=True)) == right(plan)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["sequential", "threads", "processes", "mpi", "cluster"])
def test_ctrl_c_ends_all(executor, tmp_path):
    process = start("slowly.py", executor, 2, tmp_path / "run", ranks=2 if executor == "mpi" else 0)
    below = wait_for(process, "going")
    os.killpg(process.pid, signal.SIGINT)
    said, code = ended(process)
    assert "interrupted" in said
    assert "ran to its end" not in said
    assert "Traceback" not in said
    assert code
    assert those_left(below) == []


def test_scratch_folders_go_with_their_run(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["routes.run"], "room_for_files", lambda shapes: tmp_path)
    run(a_plan("processes"))
    assert list(tmp_path.iterdir()) == []


def test_no_file_outside_depends_on_the_name_of_an_executor():
    """Defaults and examples name executors; conditions do not."""
    package, found = Path(routes.__file__).parent, []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text("utf-8")
        if path.parent.name in ("executors", "plots", "pictures") or not any(
            f'"{name}"' in text for name in ALL
        ):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Compare) and "kind" not in (source := ast.unparse(node)):
                found += [f"{path.name}:{node.lineno}"] if any(f"'{name}'" in source for name in ALL) else []
    assert found == []
