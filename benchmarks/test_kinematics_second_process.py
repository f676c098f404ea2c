"""``mbssa solve rotor --steps 1`` as a whole process, once kernels were compiled by one before it.

    python -m pytest benchmarks/test_kinematics_second_process.py --benchmark-only -s

Compiled kernels are kept in a folder of this benchmark's own, empty at first. The second process must
find all of them there: no file of the folder is new or changed after it.
Aim: at most 3 s.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

SOLVE = [sys.executable, "-m", "mbssa.cli", "solve", "rotor", "--steps", "1"]
AIM = 3.0
ROUNDS = 9


def kept(folder):
    """Every file of the folder: when it was written, and its size."""
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*") if path.is_file()
    }


def test_second_process(benchmark, tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def solve():
        return subprocess.run(SOLVE, check=True, capture_output=True, env=environment)

    begin = time.perf_counter()
    solve()
    first = time.perf_counter() - begin
    compiled = kept(tmp_path)
    assert compiled
    benchmark.pedantic(solve, rounds=ROUNDS)
    assert kept(tmp_path) == compiled
    took = statistics.median(benchmark.stats.stats.data)
    met = "met" if took <= AIM else "missed"
    print(
        f"\n\nmbssa solve rotor --steps 1: {first:.1f} s the first time, then {took:.2f} s "
        f"(aim {AIM:.0f} s, {met}), {len(compiled)} files of compiled kernels, none changed"
    )
