"""Status 0 says that a pose lies on the branch of the reference: held against a certified continuation.

Larger campaigns: ``MBSSA_CAMPAIGN=200 pytest -m slow tests/groups/branches`` takes so many mechanisms of
each family; :mod:`campaign` runs one family by itself.
"""

import os

import numpy as np
import pytest
from campaign import FAMILIES, campaign
from judging import judge, turning
from random_linkages import four_bar, planar, six_r_group

import groups
import mbssa

MECHANISMS = int(os.environ.get("MBSSA_CAMPAIGN", "3"))


def test_a_6r_group_keeps_its_branch_over_large_steps():
    mechanism = six_r_group()
    verdict = judge(mechanism, turning(mechanism, -6.01424812956567, 3), branch="proven")
    assert verdict.truth.end is None
    assert verdict.silent == ()
    assert verdict.refused == 0


@pytest.mark.slow
def test_no_single_step_of_the_6r_group_is_silently_wrong():
    mechanism = six_r_group()
    model = groups.build(mbssa.decompose(mechanism))
    steps = [turning(mechanism, way, 2) for way in np.linspace(-2.5, -5.7, 12)]
    assert [float(m.value[0, 1]) for m in steps if judge(mechanism, m, model, branch="proven").silent] == []


@pytest.mark.slow
def test_a_parallelogram_that_was_flat_between_two_instants_says_so():
    mechanism = four_bar(1.0, 0.5, 1.0, 0.5, np.pi / 4)
    verdict = judge(mechanism, turning(mechanism, 2 * np.pi, 13), branch="proven")
    assert verdict.crossed
    assert verdict.silent == ()


def test_equal_crank_and_rod_that_fold_between_two_instants_say_so():
    """Through 90° the slider comes to the crank's hinge; it stays there, or goes on to the other side."""
    mechanism = equal_slider_crank()
    verdict = judge(mechanism, turning(mechanism, np.pi / 2, 4), branch="proven")
    assert verdict.crossed
    assert verdict.silent == ()


def equal_slider_crank():
    joints = [(1, 2, "R"), (2, 3, "R"), (3, 4, "R"), (1, 4, "P")]
    pin = np.array([np.cos(np.pi / 4), np.sin(np.pi / 4)])
    points = [(0.0, 0.0), pin, (2 * pin[0], 0.0), (2 * pin[0], 0.0)]
    return planar(joints, points, 0, np.zeros(4), name="equal crank and rod")


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_no_random_answer_is_silently_wrong_and_few_regular_steps_are_refused(family):
    found = campaign(family, range(MECHANISMS), branch="proven")
    assert found["silent"] == 0, found
    for kinds in (("steps", "runs"), ("steps",) if family == "truss" else ()):
        refused = sum(found[f"refused steps in {kind}"] for kind in kinds)
        regular = sum(found[f"regular steps in {kind}"] for kind in kinds)
        assert regular > 0 or not kinds, found
        assert refused <= 0.02 * regular, found
