"""Coordinate partitioning beside the structural choice: time, condition, and who warns where.

    python -m pytest benchmarks/test_partitioning.py --benchmark-only -s

The numerical choice eliminates one dense matrix of all loops at once, which takes cubic time, and whose
condition falls with every dyad in a chain. The structural one is a matching, and each group has a
condition of its own (the paper's advantage (f)). Along a motion, each warns of other positions.
"""

import statistics
import time

import numpy as np
import pytest

import groups
import mbssa
from groups.partitioning import partition, sweep_partition
from groups.reports.partitioning import sweep_report

INSTANTS = 10_000

_rows: list[tuple[int, float, float, float, float, float]] = []


@pytest.mark.parametrize("n_dyads", [10, 50, 100, 200])
def test_chain_of_dyads(benchmark, n_dyads):
    mechanism = mbssa.load(f"assur:I-{n_dyads}")
    start = time.perf_counter()
    structure = mbssa.decompose(mechanism)
    decomposing = time.perf_counter() - start
    start = time.perf_counter()
    pivoted = partition(mechanism, "qr", driven=())
    orthogonal = time.perf_counter() - start
    found = benchmark.pedantic(partition, (mechanism,), {"driven": ()}, rounds=3)
    assert len(found.independent) == len(pivoted.independent) == 1
    model = groups.build(structure)
    laws = {name: groups.constant(value) for name, value in model.reference_inputs.items()}
    standing = model.solve(groups.sample(mechanism, laws, [0.0]))
    complete = statistics.median(benchmark.stats.stats.data)
    worst = float(standing.condition.min())
    _rows.append((found.n, decomposing, complete, orthogonal, found.condition, worst))
    assert worst > 10 * found.condition


@pytest.mark.parametrize("name", ["rotor", "stewart", "planar_four_bar"])
def test_sweep(benchmark, name):
    model = groups.build(mbssa.decompose(mbssa.load(name)))
    motion = groups.default_motion(model.mechanism, steps=INSTANTS)
    model.solve(motion, level="position")
    start = time.perf_counter()
    model.solve(motion, level="position")
    solving = time.perf_counter() - start
    swept = benchmark.pedantic(sweep_partition, (model, motion), rounds=3, warmup_rounds=1)
    following = statistics.median(benchmark.stats.stats.data)
    print(
        f"\n\n{name}: {INSTANTS:,} instants, groups solved in {1e3 * solving:.1f} ms, choices followed in "
        f"{1e3 * following:.0f} ms; smallest condition {swept.worst_group.min():.2g} of groups, "
        f"{np.nanmin(swept.structural.condition):.2g} of the structural J_v, "
        f"{np.nanmin(swept.anew.condition):.2g} of J_v anew"
    )


def _pendulum():
    mechanism = mbssa.load("pendulum_four_bar")
    other = mbssa.with_inputs(mechanism, ["1-3.angle"])
    path = groups.build(mbssa.decompose(other)).solve(
        groups.constant_speed(other, steps=361), level="velocity"
    )
    return sweep_partition(groups.build(mbssa.decompose(mechanism)), path, independent=["1-2.angle"])


def _suspension():
    model = groups.build(mbssa.decompose(mbssa.load("suspension")))
    laws = {name: groups.constant(value) for name, value in model.reference_inputs.items()}
    laws["2-3.angle"] = groups.speed(np.radians(95.0), 0.0)
    return sweep_partition(model, groups.sample(model.mechanism, laws, np.linspace(0.0, 1.0, 191)))


def _crank_rocker():
    model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    return sweep_partition(model, independent=["1-4.angle"])


@pytest.mark.parametrize("swept", [_pendulum, _suspension, _crank_rocker])
def test_who_warns(benchmark, swept):
    found = benchmark.pedantic(swept, rounds=1)
    assert found.warnings
    print(f"\n\n{sweep_report(found).text()}")


def test_print_chains(benchmark):
    benchmark.pedantic(lambda: None, rounds=1)
    print(f"\n\n{'q':>5} {'decompose':>10} {'complete':>9} {'QR':>9}   smallest condition")
    for n, decomposing, complete, orthogonal, condition, worst in _rows:
        print(
            f"{n:>5} {1e3 * decomposing:>7.1f} ms {1e3 * complete:>6.0f} ms {1e3 * orthogonal:>6.0f} ms   "
            f"{condition:.1e} of J_v, {worst:.1e} of the groups"
        )
