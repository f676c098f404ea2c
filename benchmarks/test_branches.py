"""Cost of proving branches, beside the same motion that is only checked.

    python -m pytest benchmarks/test_branches.py --benchmark-only -s

The motions of all built-in models that move, by NumPy and by machine code; least processor time of some
calls, and of the first proof, which prints the test of each type of group, and compiles it.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

import groups
import mbssa
from groups.branches.prover import prover_of
from groups.engine.solve import plan_of

MODELS = [name for name in mbssa.builtin_names() if mbssa.load(name).motion is not None]
RUNS = 5


@pytest.mark.parametrize(("compiled", "instants"), [(False, 361), (True, 361), (True, 10_000)])
def test_proof(benchmark, compiled, instants):
    took = {}

    def all_models():
        for name in MODELS:
            model = groups.build(mbssa.decompose(mbssa.load(name)))
            motion = groups.default_motion(model.mechanism, steps=instants)
            begin = time.thread_time()
            if compiled:
                prover_of(plan_of(model)).compile()
            first = 1e3 * (time.thread_time() - begin) + seconds(model, motion, "proven", compiled, 1)
            checked = seconds(model, motion, "checked", compiled, 1 + RUNS)
            took[name] = checked, seconds(model, motion, "proven", compiled, RUNS), first

    benchmark.pedantic(all_models, rounds=1)
    life = "machine code" if compiled else "NumPy"
    print(
        f"\n\n{f'ms, {instants} instants, {life}':36}{'checked':>10}{'proven':>10}{'ratio':>8}{'first':>10}"
    )
    for name, (checked, proven, first) in took.items():
        print(f"{name:36}{checked:10.2f}{proven:10.2f}{proven / checked:8.2f}{first:10.1f}")
    ratios = [proven / checked for checked, proven, _ in took.values()]
    print(f"{'median, largest':36}{'':20}{np.median(ratios):8.2f}{max(ratios):10.2f}")


def seconds(model, motion, branch, compiled, runs):
    """Shortest time of several calls, ms; checks that every group is proven if the branch is ``proven``."""
    found = []
    for _ in range(runs):
        begin = time.thread_time()
        answer = model.solve(motion, branch=branch, compiled=compiled)
        found.append(1e3 * (time.thread_time() - begin))
    assert answer.proof.min() == 1 + (branch == "proven")
    return min(found)
