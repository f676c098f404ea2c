"""Programs in turns, by the least processor time of each: what others do on the machine does not count.

Runs of milliseconds stand beside runs of a second here. On a busy machine the long ones are interrupted and
the short ones are not, so that medians of wall-clock time would say more of the machine than of the programs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.race import Runner, on_one_core, reused_memory

#: Rounds in which everybody runs once, unless a rival says otherwise; how often ours runs in each.
ROUNDS, OURS = 7, 5


def in_turns(benchmark: Any, title: str, ours: Runner, rivals: Sequence[Runner]) -> None:
    """Run everybody in turns and print the least of each, and ratios.

    The benchmark's timer must be ``time.process_time``. What a first run compiles or allocates is done
    beforehand. LAPACK gets one thread: two that wait for each other on one core take many times as long.
    """
    seconds: dict[str, list[float]] = {rival.label: [] for rival in rivals}
    turn = iter(range(10**9))

    def rivals_first() -> None:
        number = next(turn)
        for rival in rivals:
            if number % (OURS * rival.every) == 0:
                begin = time.process_time()
                rival.run()
                seconds[rival.label].append(time.process_time() - begin)

    with on_one_core(), reused_memory(), threadpool_limits(1):
        for runner in (ours, *rivals):
            runner.run()
        benchmark.pedantic(ours.run, setup=rivals_first, rounds=ROUNDS * OURS)
    mine = 1e6 * min(benchmark.stats.stats.data) / ours.instants
    print(f"\n\n{title}\n{'':42} {'µs an instant':>14} {'ours / theirs':>14} {'aim':>8}")
    print(f"{ours.label:42} {mine:14.3f}")
    for rival in rivals:
        theirs = 1e6 * min(seconds[rival.label]) / rival.instants
        aim = "" if rival.aim is None else f"{rival.aim:8.3g}"
        met = "" if rival.aim is None else "  met" if mine <= rival.aim * theirs else "  missed"
        print(f"{rival.label:42} {theirs:14.3f} {mine / theirs:14.3g} {aim}{met}")
