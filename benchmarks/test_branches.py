"""Cost of proving branches, beside the same motion that is only checked.

    python -m pytest benchmarks/test_branches.py --benchmark-only -s

A turn, or the model's motion, in 361 instants, by compiled kernels and in plain Python. A certificate is
NumPy on all time steps at once: it takes about as long in both, so that in plain Python closed forms take
some times as long and Newton groups up to half as long again, and compiled kernels are far faster than any
proof. Hence the default of :meth:`groups.Model.proves`: fine motions of compiled kernels are checked.
"""

from __future__ import annotations

import time

import pytest

import groups
import mbssa

MODELS = ("planar_four_bar", "theo_jansen", "triad", "planar_3rrr", "rotor", "rssr", "stewart", "six_sps")
INSTANTS, RUNS = 361, 5


@pytest.mark.parametrize("compiled", [True, False])
def test_proof(benchmark, compiled):
    took = {}

    def all_models():
        for name in MODELS:
            model = groups.build(mbssa.decompose(mbssa.load(name)))
            motion = groups.default_motion(model.mechanism, steps=INSTANTS)
            took[name] = [least(model, motion, branch, compiled) for branch in ("checked", "proven")]

    benchmark.pedantic(all_models, rounds=1)
    print(f"\n\n{'ms, ' + ('compiled' if compiled else 'plain'):18}{'checked':>10}{'proven':>10}{'ratio':>8}")
    for name, (checked, proven) in took.items():
        print(f"{name:18}{1e3 * checked:10.2f}{1e3 * proven:10.2f}{proven / checked:8.2f}")


def least(model, motion, branch, compiled):
    """Seconds of the fastest of some runs; the first, which may compile, does not count."""
    model.solve(motion, branch=branch, compiled=compiled)
    seconds = []
    for _ in range(RUNS if compiled else 2):
        begin = time.perf_counter()
        found = model.solve(motion, branch=branch, compiled=compiled)
        seconds.append(time.perf_counter() - begin)
    assert found.proof.min() == 1 + (branch == "proven")
    return min(seconds)
