"""Blocks of cases handed to workers, each a job of its own: processes, threads, ranks, or none of them."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext, suppress
from typing import Any, Literal

from mbssa.ranks import rank
from routes.executors.last_words import last_words
from routes.executors.mpi import mpi
from routes.executors.parent import follow
from routes.sweep.block import Setup, solve_block, unpacked
from routes.sweep.store import SweepError, claim, close_claims, release_claims

Executor = Literal["processes", "threads", "sequential", "mpi"]
EXECUTORS: tuple[Executor, ...] = ("processes", "threads", "sequential", "mpi")

#: Called with the number of cases that are done; False from it stops the run.
Told = Callable[[int], object]


def perform(setup: Setup, todo: Sequence[int], executor: Executor, workers: int, told: Told) -> int:
    """Solve and write blocks; returns how many cases this process, or its workers, solved.

    Raises
    ------
    SweepError
        A block failed, or a worker was killed; the parts that are written stay.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        if executor == "mpi":
            lost = f"error: a rank has died; cases that are written are kept, resume {setup.folder}"
            with last_words(lost) if rank() == 0 else nullcontext():
                return _by_ranks(setup, todo, told)
        if executor == "sequential" or len(todo) < 2:
            return _one_by_one(setup, todo, told)
        return _by_joblib(setup, todo, executor, min(workers, len(todo)), told)


def _one_by_one(setup: Setup, todo: Iterable[int], told: Told) -> int:
    done = 0
    for block in todo:
        done += solve_block(setup, block)
        if told(done) is False:
            break
    return done


def _by_joblib(setup: Setup, todo: Sequence[int], executor: Executor, workers: int, told: Told) -> int:
    from joblib import Parallel, delayed, parallel_config

    threads = executor == "threads"
    sent: Any = setup if threads else pickle.dumps(setup)
    backend: dict[str, Any] = {"backend": "threading"} if threads else _PROCESSES
    done = 0
    with parallel_config(n_jobs=workers, **backend):
        results = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")(
            delayed(_job)(sent, block, os.getpid()) for block in todo
        )
        try:
            for cases in results:
                done += cases
                if told(done) is False:
                    break
        except BrokenProcessPool as error:
            raise SweepError(
                f"a worker process was killed after {done:,} cases of this run (by the system, where memory "
                f"ran out); what is written is kept: resume {setup.folder} with fewer workers"
            ) from error
        except BaseException:
            if not threads:
                _end_workers()
            raise
        finally:
            results.close()
    return done


#: BLAS and Numba have one thread in each worker: the workers have the cores.
_PROCESSES: dict[str, Any] = {"backend": "loky", "inner_max_num_threads": 1}


def _end_workers() -> None:
    """Leave no process behind that still solves what nobody waits for."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True, kill_workers=True)


def _job(setup: Setup | bytes, block: int, parent: int) -> int:
    if isinstance(setup, Setup):
        return solve_block(setup, block)
    follow(parent)
    return solve_block(unpacked(setup), block)


def _taken_by(rank: int, size: int, setup: Setup, todo: Sequence[int]) -> Iterator[int]:
    """Blocks that this rank comes to first: of its own share, then of the others'.

    Ranks claim them by files. To count in the memory of one of them would mean to wait until that one has
    finished its block.
    """
    begin = rank * len(todo) // size
    for block in (*todo[begin:], *todo[:begin]):
        if claim(setup.folder, block):
            yield block


def _by_ranks(setup: Setup, todo: Sequence[int], told: Told) -> int:
    """Blocks shared out among ranks; what went wrong on any is raised on all."""
    comm = mpi().COMM_WORLD
    failure: str | None = None
    done = 0

    def all_told(cases: int) -> object:
        return told(cases * comm.Get_size())

    try:
        mine = _taken_by(comm.Get_rank(), comm.Get_size(), setup, todo)
        done = _one_by_one(setup, mine, all_told)
    except Exception as error:  # other ranks wait for this one
        failure = str(error) if isinstance(error, SweepError) else f"{type(error).__name__}: {error}"
    # Who is through has found no block left; who was stopped, or failed, leaves none to the others either.
    with suppress(OSError):  # where nothing can be written, they fail by themselves
        close_claims(setup.folder)
    reports: list[tuple[int, str | None]] = comm.allgather((done, failure))
    if comm.Get_rank() == 0:
        release_claims(setup.folder)
    failures = [f"rank {k}: {text}" for k, (_, text) in enumerate(reports) if text is not None]
    if failures:
        raise SweepError("\n  ".join(failures))
    return sum(cases for cases, _ in reports)
