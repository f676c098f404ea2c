"""``mbssa check``: the rotor as a process beyond start-up, and ranks of many dyads.

    python -m pytest benchmarks/test_ranks.py --benchmark-only -s

Aims: at most 0.5 s beyond start-up (``mbssa --version``); ranks of 10,000 dyads in seconds, growing
linearly.
"""

import statistics
import subprocess
import sys
import time

import numpy as np
import pytest

import mbssa
from benchmarks.mechanisms import dyads
from mbssa.singularities.ranks import generic_rows, group_ranks

ROUNDS = 11
VERSION = [sys.executable, "-m", "mbssa.cli", "--version"]
CHECK = [sys.executable, "-m", "mbssa.cli", "check", "rotor"]

_seconds: dict[int, float] = {}


def test_check_of_the_rotor(benchmark):
    """Interleaved with a process that only starts up."""
    start_up = []

    def baseline():
        start = time.perf_counter()
        subprocess.run(VERSION, check=True, capture_output=True)
        start_up.append(time.perf_counter() - start)

    done = benchmark.pedantic(
        subprocess.run, (CHECK,), {"check": True, "capture_output": True}, setup=baseline, rounds=ROUNDS
    )
    assert b"can be solved" in done.stdout
    ours, base = statistics.median(benchmark.stats.stats.data), statistics.median(start_up)
    print(f"\n\ncheck rotor {ours:.3f} s, start-up {base:.3f} s, beyond start-up {ours - base:.3f} s")


@pytest.mark.parametrize("n_dyads", [100, 1_000, 10_000, 100_000])
def test_ranks_of_dyads(benchmark, n_dyads):
    structure = mbssa.decompose(dyads(2 + 2 * n_dyads).mechanism())

    def ranks():
        return group_ranks(structure, generic_rows(structure.mechanism))

    found = benchmark.pedantic(ranks, rounds=3, warmup_rounds=1)
    assert all(rank.full for rank in found)
    assert len(found) == n_dyads + 1
    _seconds[n_dyads] = statistics.median(benchmark.stats.stats.data)


def test_print_ranks(benchmark):
    benchmark.pedantic(lambda: None, rounds=1)
    print(f"\n\n{'dyads':>8} {'ranks, s':>9} {'µs a dyad':>10}")
    for n, seconds in _seconds.items():
        print(f"{n:8} {seconds:9.3f} {1e6 * seconds / n:10.1f}")
    if len(_seconds) > 1:
        exponent = np.polyfit(np.log(list(_seconds)), np.log(list(_seconds.values())), 1)[0]
        print(f"scaling exponent {exponent:.2f}")
