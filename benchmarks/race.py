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

    Twice: with the memory of a new process, whose pages the system hands out one by one, and with memory that
    was used before (:func:`reused_memory`). What one run compiles or loads is done beforehand.
    """
    runners = (ours, *rivals)
    with on_one_core():
        for runner in runners:
            runner.run()
        with fresh_memory():
            fresh = in_turns(runners, rounds)
        with reused_memory():
            for runner in runners:
                runner.run()
            reused: dict[str, list[float]] = {rival.label: [] for rival in rivals}
            turn = iter(range(10**9))

            def rivals_first() -> None:
                number = next(turn)
                for rival in rivals:
                    if number % rival.every == 0:
                        reused[rival.label].append(seconds_of(rival))

            benchmark.pedantic(ours.run, setup=rivals_first, rounds=rounds)
    reused[ours.label] = benchmark.stats.stats.data
    mine = [1e6 * statistics.median(each[ours.label]) / ours.instants for each in (fresh, reused)]
    what = "µs an instant, and ours / theirs"
    print(f"\n\n{title}\n{what:42} {'fresh memory':>19} {'reused memory':>19}   aim")
    print(f"{ours.label:42} {mine[0]:10.3f} {'':8} {mine[1]:10.3f}")
    for rival in rivals:
        theirs = [1e6 * statistics.median(each[rival.label]) / rival.instants for each in (fresh, reused)]
        ratios = [ours_took / took for ours_took, took in zip(mine, theirs, strict=True)]
        aim = ""
        if rival.aim is not None:
            met = ["met" if ratio <= rival.aim else "missed" for ratio in ratios]
            aim = f"   {rival.aim:.3g}  {met[0] if met[0] == met[1] else ' / '.join(met)}"
        few = "" if rival.instants == ours.instants else f"   (from {rival.instants} instants)"
        columns = " ".join(f"{t:10.3f} {r:8.3g}" for t, r in zip(theirs, ratios, strict=True))
        print(f"{rival.label:42} {columns}{aim}{few}")


def in_turns(runners: Sequence[Runner], rounds: int) -> dict[str, list[float]]:
    """Seconds of each runner's runs, by label."""
    seconds: dict[str, list[float]] = {runner.label: [] for runner in runners}
    for number in range(rounds):
        for runner in runners:
            if number % runner.every == 0:
                seconds[runner.label].append(seconds_of(runner))
    return seconds


def seconds_of(runner: Runner) -> float:
    """Seconds of one run; its answer is freed after that."""
    begin = time.perf_counter()
    answer = runner.run()
    took = time.perf_counter() - begin
    del answer
    return took


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


#: Sizes, bytes, from which glibc takes an array from the system and gives freed memory back: as at its start.
AT_FIRST = 128 * 1024


@contextlib.contextmanager
def fresh_memory() -> Iterator[None]:
    """Large arrays come from pages that were never touched, as those of a new process do."""
    allocate_from(AT_FIRST, AT_FIRST)
    yield


@contextlib.contextmanager
def reused_memory() -> Iterator[None]:
    """Large arrays come from memory that was used before, where the C library lets us say so.

    The system's charge for fresh pages is as high as a closed form's work. A process that solves again and
    again can get used ones, but glibc gives them now and then only: whom it favours would be chance.
    """
    allocate_from(2**31 - 1, 2**30)
    yield
    allocate_from(AT_FIRST, AT_FIRST)


def allocate_from(trim: int, pages: int) -> None:
    """Set from which sizes, bytes, glibc gives freed memory back, and gives an array pages of its own."""
    library = ctypes.CDLL(None) if os.name == "posix" else None
    mallopt = getattr(library, "mallopt", None)
    if library is not None and mallopt is not None:
        mallopt(-1, trim)  # M_TRIM_THRESHOLD
        mallopt(-3, pages)  # M_MMAP_THRESHOLD
        library.malloc_trim(0)


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
