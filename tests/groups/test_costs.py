"""The table of costs: plain data, of every type that has a solver, in an order that can be true."""

import re

import pytest

from groups import library

#: Cheaper types and dearer ones, far apart on any machine: what is driven, dyads and legs, quartics, loops.
ORDER = [
    ("1R2D", "3R2D"), ("1R3D", "1P1U1S3D"), ("1P3D", "1R1U1S3D"), ("3R2D", "6R2D"),
    ("1P1U1S3D", "1P1C1S3D"), ("1R1U1S3D", "2R1U1S3D"), ("1P1U1S3D", "6P6U6S1F3D"), ("3R2D", "5R1P2D"),
]  # fmt: skip


def test_every_type_of_the_table_that_can_be_solved_has_a_cost_and_no_other():
    solved = {row.type_name for row in library.table() if row.solver != "refused"}
    assert set(library.COSTS) == solved


def test_every_closed_form_has_a_cost():
    assert set(library.CLOSED_FORMS) <= set(library.COSTS)


def test_types_are_written_as_types_are():
    for name in library.COSTS:
        assert re.fullmatch(r"(\d+[A-Z]+)+[23]D", name), name
    assert list(library.COSTS) == sorted(library.COSTS)


def test_costs_are_positive_times_of_an_instant():
    assert all(isinstance(cost, float) and 0.0 < cost < 1000.0 for cost in library.COSTS.values())


@pytest.mark.parametrize(("cheap", "dear"), ORDER)
def test_what_has_less_to_solve_costs_less(cheap, dear):
    assert library.COSTS[cheap] < library.COSTS[dear]


def test_no_closed_form_costs_as_much_as_a_platform():
    assert max(library.COSTS[name] for name in library.CLOSED_FORMS) < library.COSTS["6P6U6S1F3D"]
