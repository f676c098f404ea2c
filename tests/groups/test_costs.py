"""The table of costs: plain data, of every type that has a solver, in an order that can be true."""

import re

from groups.solvers import library

#: Cheaper types and dearer ones, far apart on any machine: what is driven, dyads and legs, quartics, loops.
ORDER = [
    ("1R2D", "3R2D"), ("1R3D", "1P1U1S3D"), ("1P3D", "1R1U1S3D"), ("3R2D", "6R2D"),
    ("1P1U1S3D", "1P1C1S3D"), ("1R1U1S3D", "2R1U1S3D"), ("1P1U1S3D", "6P6U6S1F3D"), ("3R2D", "5R1P2D"),
]  # fmt: skip


def test_every_type_of_the_table_that_can_be_solved_has_a_cost_and_no_other():
    solved = {row.type_name for row in library.table() if row.solver != "refused"}
    assert set(library.COSTS) == solved


def test_costs_are_positive_times_of_an_instant_by_type():
    for name in library.COSTS:
        assert re.fullmatch(r"(\d+[A-Z]+)+[23]D", name), name
    assert list(library.COSTS) == sorted(library.COSTS)
    assert all(isinstance(cost, float) and 0.0 < cost < 1000.0 for cost in library.COSTS.values())


def test_what_has_less_to_solve_costs_less():
    for cheap, dear in ORDER:
        assert library.COSTS[cheap] < library.COSTS[dear], (cheap, dear)
    assert max(library.COSTS[name] for name in library.CLOSED_FORMS) < library.COSTS["6P6U6S1F3D"]
