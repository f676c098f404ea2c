"""Structural groups and loops in the same figures."""

from functools import cache

import mbssa
from mbssa.loops import compare_loops

#: Joints of three bodies are in no loop.
WIDE = ("planetary", "differential", "rope_hoist")
MODELS = (
    "planar_four_bar", "theo_jansen", "cam_roller", "rotor", "rotor_transformed", "stewart", "six_sps",
    "bricard",
    "double_parallelogram", "universal_shafts", "micromanipulator_driven", "assur:II-3", "assur:III-4B",
)  # fmt: skip


@cache
def figures(name):
    return {way.name: way for way in compare_loops(mbssa.load(name)).ways}


def test_every_way_solves_for_the_same_coordinates():
    """Only how they are divided differs."""
    for name in MODELS:
        totals = {way.name: sum(way.unknowns) for way in figures(name).values()}
        assert len(set(totals.values())) == 1, (name, totals)


def test_joints_of_three_bodies_are_solved_by_groups_alone():
    """They are in no loop, and so in none of their systems: the loops alone do not determine the motion."""
    for name in WIDE:
        mechanism = mbssa.load(name)
        chosen = compare_loops(mechanism)
        wide = {joint.index for joint in mechanism.joints if len(joint.bodies) > 2}
        for found in (chosen.basis, chosen.wehage):
            assert set(found.left_out) == wide, name
            assert not found.determined, name
        totals = {way.name: sum(way.unknowns) for way in chosen.ways}
        assert totals.pop("structural groups") > max(totals.values()), name


def test_no_system_of_groups_is_larger_than_all_loops_at_once():
    for name in MODELS:
        ways = figures(name)
        whole = ways["all loops at once"]
        for way in ways.values():
            assert way.largest <= whole.largest, name
            assert way.cubes <= whole.cubes, name
            assert len(way.unknowns) == len(way.sizes), name


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
