"""What goes wrong in the middle of a run: it is said where and why, what is done is kept, nobody is left."""

import os
import signal
import sys
import threading

import cloudpickle
import psutil
import pytest
from plans import bits, in_sequence, model_of, motion_of
from starting import ended, start, those_left, wait_for

import routes
from groups.kernels.status import NOT_COMPUTED, OK
from groups.run import Run
from routes.executors import elsewhere, processes
from routes.job import TaskError
from routes.plan import parallel_route, plan_of

MODEL = model_of("rotor")
INSTANTS = 500
MOTION = motion_of(MODEL)
RIGHT = {}

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def a_plan(executor, start_="carried"):
    return plan_of(
        MODEL, parallel_route(MODEL), instants=INSTANTS, chunks=8, start=start_, executor=executor, workers=2
    )


def right(plan):
    if plan.start not in RIGHT:
        RIGHT[plan.start] = bits(routes.run(MODEL, in_sequence(plan), MOTION))
    return RIGHT[plan.start]


def breaking(how):
    """``perform_in`` of a process in which the first instant of chunk 5 breaks it."""

    def perform_in(folder, task):
        bench, _ = elsewhere._bench(folder)
        if bench.job.tasks.span(task)[0] == 256:
            bench.run.advance = how
        return elsewhere.perform_in(folder, task)

    return perform_in


def divide(*_):
    raise ArithmeticError("one by nothing")


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def kept_and_resumed(error, plan, folder):
    """Some instants are there and later ones are said not to be; another run goes on to the right bits."""
    status = error.trajectory.status
    assert (status[:32, 0] == OK).all()
    assert (status[256:] == NOT_COMPUTED).any()
    assert bits(routes.run(MODEL, plan, MOTION, checkpoint=folder, resume=True)) == right(plan)


SAID = r"SG-\d .*, chunk 5 of 8 \(instants 256 to 319\): "


@pytest.mark.parametrize("start_", ["carried", "seeded"])
@pytest.mark.parametrize("executor", ["sequential", "threads", "threading"])
def test_an_exception_in_one_chunk_is_named(executor, start_, tmp_path, monkeypatch):
    advance = Run.advance

    def failing(self, first, stop, carried, part=None):
        if first == 256:
            raise ArithmeticError("one by nothing")
        advance(self, first, stop, carried, part)

    plan, folder = a_plan(executor, start_), tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Run, "advance", failing)
        with pytest.raises(TaskError, match=SAID + "Arith.*nothing") as caught:
            routes.run(MODEL, plan, MOTION, checkpoint=folder)
    kept_and_resumed(caught.value, plan, folder)


@pytest.mark.parametrize("start_", ["carried", "seeded"])
def test_an_exception_in_another_process_is_named(start_, tmp_path, monkeypatch):
    plan, folder = a_plan("processes", start_), tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(processes, "perform_in", breaking(divide))
        with pytest.raises(TaskError, match=SAID + "Arith.*nothing") as caught:
            routes.run(MODEL, plan, MOTION, checkpoint=folder)
    kept_and_resumed(caught.value, plan, folder)


@pytest.mark.parametrize("start_", ["carried", "seeded"])
def test_a_process_that_is_killed_is_named_by_its_task(start_, tmp_path, monkeypatch):
    plan, folder = a_plan("processes", start_), tmp_path / "run"
    before = {child.pid for child in psutil.Process().children()}
    said = SAID + r"its process died, \{SIGKILL\(-9\)"
    with monkeypatch.context() as patch:
        patch.setattr(processes, "perform_in", breaking(die))
        with pytest.raises(TaskError, match=said) as caught:
            routes.run(MODEL, plan, MOTION, checkpoint=folder)
    after = [child for child in psutil.Process().children() if child.pid not in before]
    assert those_left([child for child in after if "resource_tracker" not in " ".join(child.cmdline())]) == []
    kept_and_resumed(caught.value, plan, folder)


def test_processes_that_died_between_two_runs_are_replaced():
    plan = a_plan("processes")
    before = {child.pid for child in psutil.Process().children()}
    assert bits(routes.run(MODEL, plan, MOTION)) == right(plan)
    pool = processes._pools[2]
    for child in psutil.Process().children():
        if child.pid not in before and child.pid in pool._processes:
            child.kill()
            child.wait()
    done = threading.Event()
    done.wait(0.5)  # until loky has seen it
    assert bits(routes.run(MODEL, plan, MOTION)) == right(plan)


@pytest.mark.parametrize("executor", ["sequential", "threads", "processes", "threading", "loky"])
def test_a_run_that_nobody_wants_any_more_ends_and_is_resumed(executor, tmp_path):
    plan, folder = a_plan(executor), tmp_path / "run"
    found = routes.run(MODEL, plan, MOTION, checkpoint=folder, progress=lambda share: share < 0.3)
    assert (found.status == NOT_COMPUTED).any()
    assert (found.status[:32, 0] == OK).all()
    assert bits(routes.run(MODEL, plan, MOTION, checkpoint=folder, resume=True)) == right(plan)


@pytest.mark.parametrize("executor", ["sequential", "threads", "processes", "threading", "loky"])
def test_an_exception_of_the_one_who_is_told_of_the_progress_is_its_own(executor, tmp_path):
    def progress(share):
        if share > 0.3:
            raise LookupError("no screen")

    plan, folder = a_plan(executor), tmp_path / "run"
    with pytest.raises(LookupError, match="no screen"):
        routes.run(MODEL, plan, MOTION, checkpoint=folder, progress=progress)
    assert bits(routes.run(MODEL, plan, MOTION, checkpoint=folder, resume=True)) == right(plan)


@pytest.mark.parametrize("executor", ["sequential", "threads", "processes", "mpi"])
def test_ctrl_c_ends_all(executor, tmp_path):
    process = start("slowly.py", executor, 2, tmp_path / "run", ranks=2 if executor == "mpi" else 0)
    below = wait_for(process, "going")
    os.killpg(process.pid, signal.SIGINT)
    said, code = ended(process)
    assert "interrupted" in said
    assert "ended" not in said
    assert "Traceback" not in said
    assert code
    assert those_left(below) == []


def test_scratch_folders_go_with_their_run(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["routes.run"], "room_for_files", lambda shapes: tmp_path)
    routes.run(MODEL, a_plan("processes"), MOTION)
    assert list(tmp_path.iterdir()) == []
