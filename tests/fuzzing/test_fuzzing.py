"""No damage to files or options ends in an exception that is not ours, in 20 s or in 2 GB.

``MBSSA_FUZZ`` is the number of cases of the slow test: 50,000 by hand.
"""

import os

import fuzz
import pytest
from fuzz import faults

#: Cases of the fast test, and of the slow one in CI.
FEW, MANY = 50, 2_000


#: Cases that were faults: long numbers of lines, more inputs on a joint than a machine word holds, more turns
#: in a time step than can be followed, and motions that ``check`` looked at for minutes.
ONCE, ONCE_LONG = (103908, 109945, 134831, 136233, 144026), (124250, 133296, 147440, 149988)


@pytest.mark.parametrize(
    "numbers", [ONCE, pytest.param(ONCE_LONG, marks=pytest.mark.slow)], ids=["once", "long"]
)
def test_cases_that_were_faults_are_not(numbers):
    assert [faults(number, 1) for number in numbers] == [{}] * len(numbers)


def test_few_damaged_cases_are_refused_or_answered():
    assert faults(0, FEW) == {}


def test_a_case_that_takes_too_much_memory_is_stopped(monkeypatch):
    monkeypatch.setattr(fuzz.cli, "main", lambda: bytearray(int(2 * fuzz.BYTES)))
    assert "MemoryError" in faults(0, 1)[0]


@pytest.mark.slow
def test_by_hand_cases_run_in_a_process_of_their_own():
    assert [(k, outcome.fault) for k, outcome in fuzz.outcomes(0, 3)] == [(0, ""), (1, ""), (2, "")]


@pytest.mark.slow
def test_many_damaged_cases_are_refused_or_answered():
    assert faults(FEW, int(os.environ.get("MBSSA_FUZZ", MANY)) - FEW) == {}
