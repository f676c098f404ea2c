"""All sets of inputs evaluated by count and rank, beside decompose and singular values one by one.

    python -m pytest benchmarks/test_transformations.py --benchmark-only -s

Aims: the 9,139 sets of the rotor, and 10,000 sets of the micro-manipulator, in 10 s each on one core.
"""

import statistics
import time

import numpy as np
import pytest

import mbssa
from mbssa.input_search.enumerate import schemes
from mbssa.input_search.evaluate import evaluate, group_library
from mbssa.input_search.query import make_query
from mbssa.input_search.search import transform
from mbssa.input_search.undriven import undriven_mechanisms

#: Schemes that are evaluated one set at a time for the comparison.
SAMPLE = 40

_lines: list[str] = []


def one_by_one(base, evaluated):
    """Sets a second: each decomposed by its count, and where that determines it the whole matrix's rank."""
    done = valid = 0
    begun = time.perf_counter()
    for row, bits in zip(evaluated.places, evaluated.bits, strict=True):
        structure = mbssa.decompose(base.driven_by(base.names(row, bits)), by_count=True)
        valid += structure.determined and base.full_rank((base.start[row] + bits)[None])[0]
        done += 1
    return done / (time.perf_counter() - begun), valid


@pytest.mark.parametrize("name", ["rotor", "micromanipulator", "stewart"])
def test_all_sets(benchmark, name):
    mechanism = mbssa.load(name)
    base = undriven_mechanisms(mechanism, make_query(mechanism))[0][0]
    room = schemes(base)
    evaluate(base, room.numbered(np.arange(100)), group_library())
    answer = benchmark.pedantic(lambda: transform(mechanism), rounds=1)
    assert answer.complete
    seconds = statistics.median(benchmark.stats.stats.data)
    rate = answer.n_sets / seconds
    numbers = np.sort(np.random.default_rng(1).choice(room.count, SAMPLE, replace=False))
    slow, _ = one_by_one(base, evaluate(base, room.numbered(numbers), group_library()))
    _lines.append(
        f"{name:>17} {answer.n_distributions:>9,} {answer.n_sets:>11,} {answer.n_valid:>10,} {seconds:>8.2f} "
        f"{rate:>12,.0f} {slow:>12,.0f} {rate / slow:>9,.0f}"
    )


@pytest.mark.parametrize(("name", "sets"), [("rotor", 9_139), ("micromanipulator", 10_000)])
def test_some_sets(benchmark, name, sets):
    """Count and rank of so many sets alone: the base is there."""
    mechanism = mbssa.load(name)
    base = undriven_mechanisms(mechanism, make_query(mechanism))[0][0]
    room = schemes(base)
    places = room.numbered(
        np.sort(np.random.default_rng(2).choice(room.count, min(room.count, 2_000), False))
    )
    places = places[: 1 + int(np.searchsorted(np.cumsum(room.sets(places)), sets))]
    evaluated = benchmark.pedantic(lambda: evaluate(base, places, group_library()), rounds=5, warmup_rounds=1)
    seconds = statistics.median(benchmark.stats.stats.data)
    print(f"\n\n{name}: {evaluated.sets.sum():,} sets in {len(evaluated):,} schemes in {seconds:.3f} s")
    assert seconds < 10


def test_print(benchmark):
    benchmark.pedantic(lambda: None, rounds=1)
    print(
        f"\n\n{'':>17} {'distrib.':>9} {'sets':>11} {'valid':>10} {'s':>8} {'sets/s':>12} "
        f"{'one by one/s':>12} {'ratio':>9}"
    )
    print("\n".join(_lines))
