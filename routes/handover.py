"""Tasks of a run as calls for the workers of an executor, by how these reach the arrays of the run."""

from __future__ import annotations

import pickle
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from routes.dispatch import Call
from routes.job import Job, TaskRunner
from routes.workspace import in_memory, opened

#: Prefix of the folder with the data of a run for other processes.
NAME = "job-"

#: Bytes that a process writes before it maps the arrays again.
MAPPED = 64e6

#: Arrays of a motion.
_MOTION = ("time", "value", "rate", "acceleration")


@dataclass(frozen=True)
class Handover:
    """Calls for the tasks of a run."""

    call: Callable[[int], Call]  # of a task, the function and its arguments
    take: Callable[[int, Any], bool]  # takes a task and the result of its call; False if it has to run again


@contextmanager
def shared(runner: TaskRunner) -> Iterator[Handover]:
    """Calls for workers in this process."""
    yield Handover(lambda task: (runner.perform, task), lambda task, done: done)


# --- processes of this machine, which map the arrays ---------------------------------------------------


@contextmanager
def mapped(runner: TaskRunner) -> Iterator[Handover]:
    """Calls for processes of this machine; the arrays of the run must be files."""
    home = runner.space.folder
    assert home is not None
    for left in home.glob(f"{NAME}*"):
        shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=NAME, dir=home))
    try:
        motion = runner.job.motion
        for name in _MOTION:
            np.save(folder / f"{name}.npy", getattr(motion, name))
        first = replace(motion, **{name: getattr(motion, name)[..., :1] for name in _MOTION})
        small = replace(runner.job, motion=first)
        (folder / "job").write_bytes(pickle.dumps(small, protocol=5))
        np.zeros(1, dtype=np.uint8).tofile(folder / "stop")
        runner.stop = _stop(folder)
        yield Handover(lambda task: (perform_mapped, str(folder), task), lambda task, done: done)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def perform_mapped(folder: str, task: int) -> bool:
    """Perform one task of the run in a folder; False if the run has been stopped."""
    runner = _mapped.get(folder)
    if runner is None:
        _mapped.clear()
        _mapped[folder] = runner = _opened(Path(folder))
    done = runner.perform(task)
    # Pages of a mapping count as memory of their process, and loky ends processes that grow.
    first, stop = runner.job.tasks.span(task)
    runner.written += runner.space.numbers[:, first:stop].nbytes
    if runner.written > MAPPED:
        _mapped.clear()
    return done


_mapped: dict[str, TaskRunner] = {}


def _opened(folder: Path) -> TaskRunner:
    job = pickle.loads((folder / "job").read_bytes())
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r").view(np.ndarray) for name in _MOTION}
    runner = TaskRunner(replace(job, motion=replace(job.motion, **arrays)), opened(folder.parent))
    runner.stop = _stop(folder)
    return runner


def _stop(folder: Path) -> npt.NDArray[np.uint8]:
    return np.memmap(folder / "stop", dtype=np.uint8, mode="r+").view(np.ndarray)


# --- processes with memory of their own ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Performed:
    """Result of a task of another machine."""

    arrays: list[npt.NDArray[Any]]  # results, as TaskRunner.places_of lists them
    begin: float  # s of the clock of the machine
    end: float  # s of the clock of the machine
    host: str
    worker: int  # thread of the host


@contextmanager
def separate(runner: TaskRunner) -> Iterator[Handover]:
    """Calls that carry the inputs of a task, and return its results."""
    # A worker without the job returns None; the task is then sent again, with the job.
    key, job = uuid4().hex, pickle.dumps(runner.job, protocol=5)
    missed: set[int] = set()
    clocks: dict[str, float] = {socket.gethostname(): 0.0}
    workers: dict[tuple[str, int], int] = {}

    def call(task: int) -> Call:
        inputs = [np.ascontiguousarray(array[at]) for array, at in runner.places_of(task)[0]]
        return perform_separately, key, job if task in missed else None, task, inputs

    def take(task: int, found: Performed | None) -> bool:
        if found is None:
            missed.add(task)
            return False
        for (array, at), part in zip(runner.places_of(task)[1], found.arrays, strict=True):
            array[at] = part
        # Clocks of other machines are aligned as if the first result had taken no time to arrive.
        ahead = clocks.setdefault(found.host, found.end - runner.now())
        number = workers.setdefault((found.host, found.worker), len(workers))
        runner.note(task, found.begin - ahead, found.end - ahead, number)
        return True

    yield Handover(call, take)


def perform_separately(
    key: str, job: bytes | None, task: int, inputs: list[npt.NDArray[Any]]
) -> Performed | None:
    """Perform one task in memory of this process; None if the job is not here."""
    runner = _separate.get(key)
    if runner is None:
        if job is None:
            return None
        _separate.clear()
        made: Job = pickle.loads(job)
        if made.plan.backwards:  # the only caller of BLAS
            from threadpoolctl import threadpool_limits

            threadpool_limits(1)
        runner = TaskRunner(made, in_memory(made.shapes))
        runner.solving.life.prepare(runner.solving.X)
        _separate[key] = runner  # other threads may take it from now on
    reads, writes = runner.places_of(task)
    for (array, at), part in zip(reads, inputs, strict=True):
        array[at] = part
    runner.perform(task)
    arrays = [np.ascontiguousarray(array[at]) for array, at in writes]
    begin, end, _ = runner.space.log[task].tolist()
    return Performed(arrays, begin, end, socket.gethostname(), threading.get_native_id())


_separate: dict[str, TaskRunner] = {}

HANDOVERS: dict[str, Callable[[TaskRunner], AbstractContextManager[Handover]]] = {
    "shared": shared,
    "mapped": mapped,
    "separate": separate,
}


@contextmanager
def scratch(home: Path) -> Iterator[Path]:
    """Temporary folder that loky's resource tracker removes even if this process is killed."""
    from joblib.externals.loky.backend import resource_tracker

    folder = Path(tempfile.mkdtemp(prefix="mbssa-", dir=home))
    resource_tracker.register(str(folder), "folder")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        resource_tracker.unregister(str(folder), "folder")
