"""The table of costs beside what its types take now.

    python -m pytest benchmarks/test_type_costs.py --benchmark-only -s

Aim: within a factor of 3 on this machine, for types of every kind of solver.
"""

from __future__ import annotations

from benchmarks import type_costs
from benchmarks.race import on_one_core
from groups.solvers import library

#: A driven body, dyads, legs, a quartic, and Newton on 4 and 6 unknowns.
TYPES = ("1R3D", "3R2D", "2R1P2D", "1P1U1S3D", "1R1U1S3D", "1P1C1S3D", "6R2D", "6P6U6S1F3D")

#: How many times dearer or cheaper than the table says a type may be.
WITHIN = 3.0


def test_costs_are_those_of_the_table(benchmark):
    with on_one_core():
        costs = benchmark.pedantic(lambda: type_costs.measured(TYPES), rounds=1)
    found = type_costs.dearest(costs)
    print(f"\n\n{'type':14} {'µs now':>8} {'COSTS':>8} {'ratio':>8}")
    for name in TYPES:
        ratio = found[name] / library.COSTS[name]
        met = "met" if 1 / WITHIN <= ratio <= WITHIN else "missed"
        print(f"{name:14} {found[name]:8.3g} {library.COSTS[name]:8.3g} {ratio:8.2f}  {met}")
    assert all(1 / WITHIN <= found[name] / library.COSTS[name] <= WITHIN for name in TYPES)
