"""Several programs over the same motion, in turns and on one core, and a table of what each took."""

from __future__ import annotations

import contextlib
import ctypes
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Instants of every motion here, unless a rival says otherwise.
INSTANTS = 10_000

#: Rounds; each lets everybody run once.
ROUNDS = 21


@dataclass(frozen=True)
class Runner:
    """A contestant.

    Attributes
    ----------
    run : answers for all instants, ready to be called again
    instants : how many that is
    aim : our time per instant shall be at most so many times this runner's; None where there is no aim
    every : runs in one round of so many, where a run takes seconds
    """

    label: str
    run: Callable[[], Any]
    instants: int = INSTANTS
    aim: float | None = None
    every: int = 1


def race(benchmark: Any, title: str, ours: Runner, rivals: Sequence[Runner], rounds: int = ROUNDS) -> None:
    """Time everybody in turns, so that a busy machine slows all alike; print medians and ratios.

    What one run compiles or allocates is done beforehand.
    """
    seconds: dict[str, list[float]] = {rival.label: [] for rival in rivals}
    turn = iter(range(10**9))

    def rivals_first() -> None:
        number = next(turn)
        for rival in rivals:
            if number % rival.every == 0:
                begin = time.perf_counter()
                rival.run()
                seconds[rival.label].append(time.perf_counter() - begin)

    with on_one_core(), reused_memory():
        for runner in (ours, *rivals):
            runner.run()
        benchmark.pedantic(ours.run, setup=rivals_first, rounds=rounds)
    mine = 1e6 * statistics.median(benchmark.stats.stats.data) / ours.instants
    print(f"\n\n{title}\n{'':42} {'µs an instant':>14} {'ours / theirs':>14} {'aim':>8}")
    print(f"{ours.label:42} {mine:14.3f}")
    for rival in rivals:
        theirs = 1e6 * statistics.median(seconds[rival.label]) / rival.instants
        aim = f"{rival.aim:8.3g}" if rival.aim is not None else ""
        met = "" if rival.aim is None else "  met" if mine <= rival.aim * theirs else "  missed"
        few = "" if rival.instants == ours.instants else f"   (from {rival.instants} instants)"
        print(f"{rival.label:42} {theirs:14.3f} {mine / theirs:14.3g} {aim}{met}{few}")


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """Threads that any library may start share one core; nothing to do where that cannot be asked for."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def reused_memory() -> Iterator[None]:
    """Large arrays come from memory that was used before, where the C library lets us say so.

    The system's charge for fresh pages is as high as a closed form's work, and glibc asks for them now
    and then only: whom it hits would be chance.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        never = 2**31 - 1
        mallopt(-1, never)  # M_TRIM_THRESHOLD: keep what is freed
        mallopt(-3, 2**30)  # M_MMAP_THRESHOLD: no array so large that it gets pages of its own
    yield


def same(ours: Sequence[Floats], theirs: Sequence[Floats], quaternions: Sequence[int] = ()) -> float:
    """Largest difference of two lists of arrays, over 1 or the largest number where that is larger.

    Quaternions are at the places ``quaternions``; q and -q are the same turn.
    """
    worst = 0.0
    for place, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert a.shape == b.shape
        if place in quaternions:
            b = b * np.sign((a * b).sum(axis=-1, keepdims=True))
        worst = max(worst, float(np.abs(a - b).max() / max(1.0, np.abs(b).max())))
    return worst
