"""Structural groups and loops in the same figures."""

from functools import cache

import pytest

import mbssa
from mbssa.loops import compare_loops

WIDE = [name for name in mbssa.builtin_names() if any(len(j.bodies) > 2 for j in mbssa.load(name).joints)]
MODELS = [name for name in mbssa.builtin_names() if name not in WIDE]
MODELS += ["assur:I-8B", "assur:II-3", "assur:III-4", "assur:III-4B"]


@cache
def figures(name):
    return {way.name: way for way in compare_loops(mbssa.load(name)).ways}


@pytest.mark.parametrize("name", MODELS)
def test_every_way_solves_for_the_same_coordinates(name):
    """Only how they are divided differs."""
    totals = {way.name: sum(way.unknowns) for way in figures(name).values()}
    assert len(set(totals.values())) == 1, totals


@pytest.mark.parametrize("name", WIDE)
def test_joints_of_three_bodies_are_solved_by_groups_alone(name):
    """They are in no loop, and so in none of their systems: the loops alone do not determine the motion."""
    mechanism = mbssa.load(name)
    chosen = compare_loops(mechanism)
    wide = {joint.index for joint in mechanism.joints if len(joint.bodies) > 2}
    for found in (chosen.basis, chosen.wehage):
        assert set(found.left_out) == wide
        assert not found.determined
    totals = {way.name: sum(way.unknowns) for way in chosen.ways}
    assert totals.pop("structural groups") > max(totals.values())


@pytest.mark.parametrize("name", MODELS)
def test_no_system_of_groups_is_larger_than_all_loops_at_once(name):
    ways = figures(name)
    whole = ways["all loops at once"]
    for way in ways.values():
        assert way.largest <= whole.largest
        assert way.cubes <= whole.cubes
        assert len(way.unknowns) == len(way.sizes)


def test_rotor():
    ways = figures("rotor")
    groups, basis, wehage = (ways[name] for name in ("structural groups", "minimum cycle basis", "Wehage"))
    assert (groups.modules, groups.levels, groups.sizes) == (7, 5, (3,) * 6)
    assert (basis.modules, basis.levels, basis.sizes) == (6, 3, (3,) * 6)
    # Table 5: CL-III and CL-V are merged.
    assert (wehage.modules, sorted(wehage.sizes)) == (5, [3, 3, 3, 3, 6])


def test_the_inverse_platform_is_six_legs_either_way():
    ways = figures("stewart_inverse")
    assert ways["structural groups"].sizes == ways["minimum cycle basis"].sizes == (3,) * 6
    assert figures("stewart")["structural groups"].sizes == (15,)


def test_cuts_are_those_of_wehage_alone():
    mechanism = mbssa.load("nine_bar")
    chosen = compare_loops(mechanism, cuts=["5-7", "1-6"])
    assert [set(loop.bodies) for loop in chosen.wehage.loops] == [
        {1, 2, 3, 4, 5, 7, 8, 9},
        {1, 2, 3, 4, 5, 6},
    ]
    assert [loop.bodies for loop in chosen.basis.loops] == [(1, 2, 3, 4, 5, 6), (1, 6, 5, 7, 8, 9)]


def test_joints_of_open_chains_are_in_no_system_of_loops():
    """An arm of which nothing drives the elbow, and the same arm beside a four-bar."""
    arm = [(1, 2, "R", 1), (2, 3, "R", 0)]
    whole = compare_loops(mbssa.from_pairs(3, arm, "planar")).ways[-1]
    assert (whole.modules, whole.levels, whole.sizes) == (0, 0, ())
    bar = [(2, 4, "R", 0), (4, 5, "R", 0), (1, 5, "R", 0)]
    whole = compare_loops(mbssa.from_pairs(5, arm + bar, "planar")).ways[-1]
    assert (whole.unknowns, whole.sizes) == ((3,), (2,))
