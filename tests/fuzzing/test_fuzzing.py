"""No damage to files or options ends in an exception that is not ours, in 20 s or in 2 GB.

``MBSSA_FUZZ`` is the number of cases of the slow test: 50,000 by hand.
"""

import os

import fuzz
import pytest
from fuzz import faults

#: Cases of the fast tests, by lots, and of the slow one in CI.
FEW, LOT, MANY = 200, 10, 3_000


@pytest.mark.parametrize("first", range(0, FEW, LOT))
def test_few_damaged_cases_are_refused_or_answered(first):
    assert faults(first, LOT) == {}


def test_a_case_that_takes_too_much_memory_is_stopped(monkeypatch):
    monkeypatch.setattr(fuzz.cli, "main", lambda: bytearray(int(2 * fuzz.BYTES)))
    assert "MemoryError" in faults(0, 1)[0]


@pytest.mark.slow
def test_by_hand_cases_run_in_a_process_of_their_own():
    assert [(k, outcome.fault) for k, outcome in fuzz.outcomes(0, 3)] == [(0, ""), (1, ""), (2, "")]


@pytest.mark.slow
def test_many_damaged_cases_are_refused_or_answered():
    assert faults(FEW, int(os.environ.get("MBSSA_FUZZ", MANY)) - FEW) == {}
