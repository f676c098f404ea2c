"""Compiling the kernels of a model on an empty cache, and loading them in the next process.

    python -m pytest benchmarks/test_compiling.py --benchmark-only -s

Each model has an empty folder of kernels at first. Processor time of the first process, less that of a
later one, is the price of compiling. The later process must find every kernel there: no file of the folder is
new or changed. Its first solution, less its second, is the price of loading kernels (Numba itself is imported
before). Aims, on a machine that imports NumPy, SciPy's graphs and networkx in 0.31 s: four-bar 4 s, rotor
35 s, ``stewart_inverse`` 15 s; loading 0.25 s. Here they are given as multiples of that import.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

IMPORTS = "import numpy, scipy.sparse.csgraph, networkx"
#: Seconds of the imports on the machine that the aims are for, and the aims, s.
THERE = 0.31
AIMS = {"planar_four_bar": 4.0, "rotor": 35.0, "stewart_inverse": 15.0}
LOADING = 0.25
ROUNDS = 5
SOLVE = """
import sys, time
import numba
import groups, mbssa
model = groups.build(mbssa.decompose(mbssa.load(sys.argv[1])))
took = []
for _ in range(2):
    begin = time.process_time()
    model.solve(compiled=True)
    took.append(time.process_time() - begin)
print(took[0] - took[1])
"""


def processor_time(*arguments, **environment):
    """Seconds of a process, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", *arguments], check=True, capture_output=True, env={**os.environ, **environment}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def kept(folder):
    """Every file of the folder: when it was written, and its size."""
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("name", AIMS)
def test_compiling(benchmark, tmp_path, name):
    first, _ = processor_time(SOLVE, name, NUMBA_CACHE_DIR=str(tmp_path))
    compiled = kept(tmp_path)
    assert compiled
    processes, loads, imports = [], [], []

    def later():
        process, printed = processor_time(SOLVE, name, NUMBA_CACHE_DIR=str(tmp_path))
        processes.append(process)
        loads.append(float(printed))
        imports.append(processor_time(IMPORTS)[0])

    benchmark.pedantic(later, rounds=ROUNDS)
    assert kept(tmp_path) == compiled
    unit = min(imports)
    print(f"\n\n{name}: {len(compiled)} kernels kept; imports: {unit:.2f} s")
    for what, took, aim in (
        ("compiling", first - min(processes), AIMS[name]),
        ("loading", min(loads), LOADING),
    ):
        met = "met" if took / unit <= aim / THERE else "missed"
        print(f"{what:10} {took:7.2f} s, {took / unit:6.2f} imports (aim {aim / THERE:.2f}, {met})")
