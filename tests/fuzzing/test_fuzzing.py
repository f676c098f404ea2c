"""No damage to files or options ends in an exception that is not ours, in 20 s or in 2 GB.

``MBSSA_FUZZ`` is the number of cases of the slow test: 50,000 by hand.
"""

import os

import pytest
from fuzz import faults

#: Cases of the fast test, and of the slow one in CI.
FEW, MANY = 300, 3_000


def test_few_damaged_cases_are_refused_or_answered():
    assert faults(0, FEW) == {}


@pytest.mark.slow
def test_many_damaged_cases_are_refused_or_answered():
    assert faults(FEW, int(os.environ.get("MBSSA_FUZZ", MANY)) - FEW) == {}
