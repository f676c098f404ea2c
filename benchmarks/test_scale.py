"""A million bodies, in any numbering: seconds, memory, and how both grow.

Print the figures with

    python -m pytest benchmarks/test_scale.py --benchmark-only -s

Seconds are for ``from_pairs`` and ``decompose`` together, starting from four arrays, the median of a
few rounds. The kernels are compiled beforehand, at every size (a person's small mechanism would run
as plain Python), so the exponent compares like with like; what compiling costs is printed apart. Peak
memory is that of a fresh process that does nothing else, Python and Numba included.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mbssa
from benchmarks.mechanisms import FAMILIES, dyads
from mbssa.structure import Structure

SIZES = (10**3, 10**4, 10**5, 10**6)

#: What a fresh process runs; it prints the seconds of its first decomposition and its peak in KiB.
CHILD = """
import resource, sys, time
import mbssa
from benchmarks.mechanisms import FAMILIES
family, n_bodies, shuffled = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "True"
case = FAMILIES[family](n_bodies, 0, shuffled)
begin = time.perf_counter()
mbssa.decompose(case.mechanism())
print(time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

_seconds: dict[tuple[str, bool, int], float] = {}
_memory: dict[tuple[str, bool, int], float] = {}
_first: dict[str, float] = {}


def in_a_fresh_process(family: str, n_bodies: int, shuffled: bool, **environment: str) -> tuple[float, float]:
    """Seconds of the first decomposition there, and the peak memory in GiB."""
    root = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", CHILD, family, str(n_bodies), str(shuffled)],
        check=True,
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": root, **environment},
    )
    seconds, kibibytes = map(float, done.stdout.split())
    return seconds, kibibytes / 2**20


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    monkeypatch.setattr("mbssa.compiled.WORTH_COMPILING", 0)
    monkeypatch.setattr("mbssa.decomposition.matching.WORTH_COMPILING", 0)
    mbssa.decompose(dyads(100).mechanism())


@pytest.fixture(scope="module", autouse=True)
def _table():
    yield
    if not _seconds:
        return
    print(
        f"\n\n{'family':8} {'numbering':10}",
        *(f"{n:>11,}" for n in SIZES),
        "  exponent   peak of the largest",
    )
    for family, shuffled in dict.fromkeys(key[:2] for key in _seconds):
        done = [n for n in SIZES if (family, shuffled, n) in _seconds]
        times = [_seconds[family, shuffled, n] for n in done]
        slope = np.polyfit(np.log(done), np.log(times), 1)[0] if len(done) > 1 else np.nan
        print(
            f"{family:8} {'shuffled' if shuffled else 'as built':10}",
            *(f"{seconds:9.4f} s" for seconds in times),
            f"  {slope:8.2f}   {_memory[family, shuffled, done[-1]]:.2f} GiB",
        )
    for label, seconds in _first.items():
        print(f"first decomposition in a fresh process (30,000 bodies), {label}: {seconds:.2f} s")


@pytest.mark.parametrize("n_bodies", SIZES)
@pytest.mark.parametrize("shuffled", [False, True], ids=["as built", "shuffled"])
@pytest.mark.parametrize("family", FAMILIES)
def test_from_arrays_to_groups(benchmark, family, shuffled, n_bodies):
    case = FAMILIES[family](n_bodies, 0, shuffled)

    def decompose() -> Structure:
        return mbssa.decompose(case.mechanism())

    structure = benchmark.pedantic(decompose, rounds=3 if n_bodies >= 10**5 else 9)
    assert structure.determined
    sizes = np.bincount(structure.group_of_body[1:])[1:]
    assert (np.sort(sizes) == np.sort(case.sizes)).all()
    key = (family, shuffled, n_bodies)
    _seconds[key] = statistics.median(benchmark.stats.stats.data)
    _memory[key] = in_a_fresh_process(*(family, n_bodies, shuffled))[1]


def test_compilation(benchmark, tmp_path):
    def first() -> float:
        return in_a_fresh_process("dyads", 30_000, True, NUMBA_CACHE_DIR=str(tmp_path))[0]

    _first["nothing compiled yet"] = benchmark.pedantic(first, rounds=1)
    _first["compiled before"] = first()
