"""No damage to files or options ends in an exception that is not ours, in 20 s or in 2 GB.

``MBSSA_FUZZ`` is the number of cases of the slow test: 50,000 by hand.
"""

import os

import pytest
from fuzz import faults

#: Cases of the fast tests, by lots, and of the slow one in CI.
FEW, LOT, MANY = 200, 10, 3_000


@pytest.mark.parametrize("first", range(0, FEW, LOT))
def test_few_damaged_cases_are_refused_or_answered(first):
    assert faults(first, LOT) == {}


@pytest.mark.slow
def test_many_damaged_cases_are_refused_or_answered():
    assert faults(FEW, int(os.environ.get("MBSSA_FUZZ", MANY)) - FEW) == {}
