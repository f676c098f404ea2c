"""Tasks done by other processes of this machine: they map the arrays of the run, which nobody sends.

A folder inside the workspace's carries what they need: the job, whether it is still wanted, who does which
task. It is there while the run lasts.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groups.run import Carried
from routes.executors.sealed import read_sealed, write_sealed
from routes.job import Bench
from routes.workspace import opened

#: Beginning of the folder's name.
_NAME = "job-"

#: What keeps libraries from threads of their own in a worker, as they load.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA", "VECLIB_MAXIMUM")
}


#: Bytes that a process writes before it maps the arrays anew.
MAPPED = 64e6


@dataclass(frozen=True, eq=False)
class Handed:
    """A run that other processes work on.

    Attributes
    ----------
    folder : what they are told
    unwanted : (1,) anything but 0 stops them
    at : (tasks,) the process that is doing, or has done, a task; 0 before
    """

    folder: str
    unwanted: npt.NDArray[np.int64]
    at: npt.NDArray[np.int64]

    def stop(self) -> None:
        """Say that nobody wants it any more."""
        self.unwanted[0] = 1


@contextmanager
def handed_over(bench: Bench) -> Iterator[Handed]:
    """Make a run known to other processes while the context lasts; its arrays must be files."""
    home = bench.space.folder
    assert home is not None
    # What compiles here once, others load.
    bench.run.advance(0, 0, Carried(bench.space.memory[0].copy(), bench.space.last[0].copy()), bench.parts[0])
    for left in home.glob(f"{_NAME}*"):
        shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=_NAME, dir=home))
    try:
        write_sealed(bench.job, folder)
        np.zeros(1 + len(bench.job.tasks), dtype=np.int64).tofile(folder / "state")
        yield _handed(folder)
    finally:
        _open.pop(str(folder), None)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def scratch(home: Path) -> Iterator[Path]:
    """A folder that is gone afterwards, even if this process is killed: loky's tracker outlives it."""
    from joblib.externals.loky.backend import resource_tracker

    folder = Path(tempfile.mkdtemp(prefix="mbssa-", dir=home))
    resource_tracker.register(str(folder), "folder")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        resource_tracker.unregister(str(folder), "folder")


def perform_in(folder: str, task: int) -> bool:
    """Do one task of the run that a folder tells of, in a process or thread that knows nothing else.

    False if it was no longer wanted.

    Raises
    ------
    TaskError
        With the groups, the instants and the cause.
    """
    bench, handed = _bench(folder)
    handed.at[task] = os.getpid()
    done = bench.perform(task, _worker(folder), lambda: not handed.unwanted[0])
    _let_go(folder, bench, task)
    return done


def _handed(folder: Path) -> Handed:
    state = np.memmap(folder / "state", dtype=np.int64, mode="r+").view(np.ndarray)
    return Handed(str(folder), state[:1], state[1:])


_opening = threading.Lock()
_open: dict[str, tuple[Bench, Handed]] = {}
_touched = 0.0
_mine = threading.local()


def _bench(folder: str) -> tuple[Bench, Handed]:
    """The run of a folder, opened once in a process; the one before is let go."""
    global _touched
    with _opening:
        if folder not in _open:
            _open.clear()
            path, _touched = Path(folder), 0.0
            _open[folder] = Bench(read_sealed(path), opened(path.parent)), _handed(path)
        return _open[folder]


def _let_go(folder: str, bench: Bench, task: int) -> None:
    """Map the arrays anew once much of them has been written.

    The pages of a mapping count as its process's own, and loky ends processes that grow.
    """
    global _touched
    job, (first, stop) = bench.job, bench.job.tasks.span(task)
    share = len(job.tasks.calls[job.tasks.place(task)[1]]) / job.model.structure.n_groups
    with _opening:
        _touched += (
            share
            * (stop - first)
            / len(job.motion.time)
            * sum(array.nbytes for array in bench.space.answer.outputs)
        )
        if _touched > MAPPED:
            _open.pop(folder, None)


def _worker(folder: str) -> int:
    """Number of this worker, from 0: the first that nobody else has taken."""
    if getattr(_mine, "folder", None) != folder:
        number = 0
        while True:
            try:
                (Path(folder) / f"worker-{number}").touch(exist_ok=False)
                break
            except FileExistsError:
                number += 1
        _mine.folder, _mine.number = folder, number
    found: int = _mine.number
    return found
