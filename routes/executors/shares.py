"""Which rank does which task, and which ranks need its results: alike on all ranks, before the run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from routes.job import Bench, Job
from routes.simulate import simulate

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def owners(job: Job, done: Bools, ranks: int) -> Ints:
    """(tasks,) the rank of each; 0 for what is done.

    Chunks that start apart are dealt in one piece to each rank, which then waits for nobody. Chunks that go
    on from each other keep a call on one rank, where its memory is; with one chunk, or fewer chunks than
    ranks, calls are dealt as a list of tasks would be.
    """
    tasks, n = job.tasks, len(job.tasks.calls)
    chunks = len(tasks.bounds) - 1
    found = np.zeros((chunks, n), dtype=np.int64)
    left = ~done.reshape(chunks, n)
    some = np.flatnonzero(left.any(axis=1))
    weight = np.array([len(call) for call in tasks.calls], dtype=np.float64)
    if job.plan.start == "seeded" and len(some) >= ranks:
        found[some] = (np.arange(len(some)) * ranks // len(some))[:, None]
    elif job.plan.start == "carried" and chunks > 1:
        load = np.zeros(ranks)
        for call in np.argsort(-weight * left.sum(axis=0), kind="stable").tolist():
            found[:, call] = rank = int(load.argmin())
            load[rank] += weight[call] * left[:, call].sum()
    else:
        seconds = (left * weight * np.diff(tasks.bounds)[:, None]).ravel()
        found = simulate(seconds, tasks.needs_start, tasks.needs, ranks).worker.reshape(chunks, n)
    found[~left] = 0
    return found.ravel()


def sources(bench: Bench) -> list[list[int]]:
    """For each call, the others whose results of the same chunk it computes with, or waits for."""
    call_of = {body: call for call, part in enumerate(bench.parts) for body in part.written.tolist()}
    return [
        sorted({call_of[body] for body in part.loaded.tolist()} | set(bench.job.tasks.before(call).tolist()))
        for call, part in enumerate(bench.parts)
    ]


def receivers(bench: Bench, done: Bools, owner: Ints) -> dict[int, list[int]]:
    """For each task, the ranks beside its own and 0 that need its results; rank 0 gets all of them anyway."""
    n = len(bench.job.tasks.calls)
    place, left = owner.reshape(-1, n), ~done.reshape(-1, n)
    pairs: set[tuple[int, int]] = set()
    for call, needed in enumerate(sources(bench)):
        for source in needed:
            apart = left[:, call] & (place[:, source] != place[:, call]) & (place[:, call] > 0)
            chunk = np.flatnonzero(apart)
            pairs.update(zip((chunk * n + source).tolist(), place[chunk, call].tolist(), strict=True))
    found: dict[int, list[int]] = {}
    for task, rank in sorted(pairs):
        found.setdefault(task, []).append(rank)
    return found
