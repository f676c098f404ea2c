"""The engine in NumPy: whole calls of all built-in models, first answers, and large structures.

    python -m pytest benchmarks/test_engine.py --benchmark-only -s

Whole calls are ``Model.solve(compiled=False)`` of a built model with velocities, accelerations and checked
branches. First answers are ``mbssa solve`` in a process of its own with an empty folder of kernels, beside
one that imports NumPy, SciPy's graphs and networkx alone, in turns.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import groups
import mbssa
from groups.engine.plan import Plan

MODELS = [name for name in mbssa.builtin_names() if mbssa.load(name).motion is not None]
IMPORTS = [sys.executable, "-c", "import numpy, scipy.sparse.csgraph, networkx"]
INSTANTS = (361, 1000)
#: Runs of each call and process; the least counts.
RUNS = 5


def least_seconds(call):
    """Least time of some runs, s."""

    def once():
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin

    return min(once() for _ in range(RUNS))


def test_whole_calls(benchmark):
    took = {}

    def all_models():
        for name in MODELS:
            of = mbssa.load(name)
            model = groups.build(mbssa.decompose(of))
            motions = [groups.default_motion(of, steps=steps) for steps in INSTANTS]
            took[name] = [
                least_seconds(lambda m=motion, of=model: of.solve(m, compiled=False, branch="checked"))
                for motion in motions
            ]

    benchmark.pedantic(all_models, rounds=1)
    print(f"\n\n{'whole call, ms':26}" + "".join(f"{steps:>8}" for steps in INSTANTS))
    for name, seconds in took.items():
        print(f"{name:26}" + "".join(f"{1e3 * s:8.2f}" for s in seconds))


def test_first_answers(benchmark):
    seconds: dict[str, list[float]] = {name: [] for name in ("", *MODELS)}

    def all_models():
        for _ in range(RUNS):
            for name, taken in seconds.items():
                command = [sys.executable, "-m", "mbssa", "solve", name] if name else IMPORTS
                begin = time.perf_counter()
                subprocess.run(command, check=True, capture_output=True)
                taken.append(time.perf_counter() - begin)

    benchmark.pedantic(all_models, rounds=1)
    imports = statistics.median(seconds.pop(""))
    print(f"\n\nimports alone {imports:.2f} s; first answers, s, and beside these")
    for name, taken in seconds.items():
        print(f"{name:26} {statistics.median(taken):6.2f} {statistics.median(taken) / imports:6.2f}")


def test_large_structures(benchmark):
    took = {}

    def all_of_them():
        for name in ("assur:I-1000", "assur:I-10000", "assur:II-8B", "assur:II-17B", "assur:III-17B"):
            structure = mbssa.decompose(mbssa.load(name))
            begin = time.perf_counter()
            model = groups.build(structure)
            built = time.perf_counter()
            unknowns = max(part.n for part in Plan(model).parts)
            took[name] = built - begin, time.perf_counter() - built, unknowns

    benchmark.pedantic(all_of_them, rounds=1)
    print(f"\n\n{'s':18} {'build':>8} {'plan':>8} {'largest group':>14}")
    for name, (build, plan, unknowns) in took.items():
        print(f"{name:18} {build:8.2f} {plan:8.2f} {unknowns:14}")
