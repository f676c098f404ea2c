"""Today's answers are those of the golden record."""

import pytest
from entries import KINDS
from record import check, check_globally


def differing(runs):
    """Entries that differ, with their differences; at least one entry was checked."""
    found = dict(runs)
    assert found
    return {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "simulation by penalty"])
def test_answers_are_as_recorded(kind):
    assert differing(check(f"{kind} of ", everything=False)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_answers_are_as_recorded(kind):
    assert differing(check(f"{kind} of ")) == {}


@pytest.mark.slow
def test_default_motions_are_those_of_the_global_approach():
    assert differing(check_globally()) == {}


def test_a_difference_names_quantity_body_and_instant():
    import numpy as np
    from storage import Array, Entry, differences

    position = np.ones((3, 2, 2))
    recorded = Entry(
        {"groups": [{"number": 1}]},
        {"position": Array(position, ("time", "body", "component"))},
        {"body": ["frame", "crank"], "time": ["0 s", "0.5 s", "1 s"]},
    )
    moved = position.copy()
    moved[1, 1, 0] += 2e-9
    (table, array) = differences(
        recorded,
        Entry({"groups": [{"number": 2}]}, {"position": Array(moved, ("time", "body", "component"))}),
    )
    assert "groups[0].number: 2 instead of 1" in table
    for name in ("position", "time 1 (0.5 s)", "body 1 (crank)", "component 0", "2.0e-09 of the largest"):
        assert name in array
