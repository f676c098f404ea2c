"""Tables 1, 2 and 4 to 7 of the paper, and the law of merging."""

import pytest

from mbssa.loops import wehage

TABLE_1 = ([0, 1, 2, 3, 4, 5, 8, 9, 1, 7, 6], [[5, 10], [1, 11]])
TABLE_4 = (
    [0, 1, 1, 1, 2, 3, 3, 9, 13, 1, 9, 8, 1, 11, 13, 15, 5, 10, 6, 7, 16, 12],
    [[9, 18], [9, 19], [14, 21], [11, 20], [16, 22], [8, 17]],
)
TABLE_6 = (
    [0, 1, 1, 7, 2, 3, 11, 5, 10, 1, 14, 8, 1, 16, 13, 12, 13, 4, 16, 8, 9, 11],
    [[9, 17], [1, 4], [19, 15], [20, 9], [6, 21], [9, 22]],
)


def loops_and_members(found):
    return [(each.loops, each.members) for each in found]


def test_table_2_nine_bar():
    """Members as printed, in another order and under other loop numbers: the paper prints ii before i."""
    first, second = wehage(*TABLE_1)
    assert (first.loops, second.loops) == ((1,), (2,))
    assert sorted(first.members[0]) == sorted([1, 2, 7, 3, 8, 4, 5, 9, 10])
    assert sorted(second.members[0]) == sorted([1, 2, 3, 4, 5, 6, 11])


def test_table_5_rotor_with_the_parent_that_is_meant():
    parents = list(TABLE_4[0])
    parents[7 - 1] = 4
    assert loops_and_members(wehage(parents, TABLE_4[1])) == [
        ((1,), ((1, 13, 10, 9, 18),)),
        ((2,), ((1, 13, 3, 6, 9, 19),)),
        ((4,), ((1, 13, 4, 9, 7, 11, 20),)),
        ((6,), ((1, 13, 2, 9, 5, 8, 17),)),
        ((3, 5), ((13, 9, 15, 11, 16, 14, 21), (13, 15, 9, 8, 12, 16, 22))),
    ]


def test_table_4_as_it_is_printed_changes_one_body_of_one_loop():
    printed = wehage(*TABLE_4)
    assert [each.loops for each in printed] == [(1,), (2,), (4,), (6,), (3, 5)]
    assert printed[2].members == ((1, 13, 3, 9, 7, 11, 20),)


def test_table_7_follows_from_table_6_as_it_is_printed():
    """Loop ii comes last and begins with body 2: terminators [1, 4], not [1, 18], were given."""
    assert loops_and_members(wehage(*TABLE_6)) == [
        ((1,), ((1, 10, 13, 9, 17),)),
        ((3,), ((1, 2, 13, 5, 8, 12, 16, 19, 15),)),
        ((4,), ((1, 2, 10, 5, 8, 20, 9),)),
        ((5,), ((1, 3, 10, 9, 6, 21),)),
        ((6,), ((1, 10, 2, 5, 8, 12, 16, 14, 11, 9, 22),)),
        ((2,), ((2, 5, 8, 12, 16, 14, 11, 7, 1, 4),)),
    ]


def test_table_6_with_the_terminators_that_are_meant_adds_the_virtual_body():
    parents, terminators = TABLE_6
    meant = wehage(parents, [[1, 18] if pair == [1, 4] else pair for pair in terminators])
    assert [each.loops for each in meant] == [each.loops for each in wehage(*TABLE_6)]
    assert meant[5].members == ((2, 5, 8, 12, 16, 14, 11, 7, 4, 1, 18),)


class TestMerging:
    """2 hangs on the frame 1; 3 and 4 on 2; 5 and 6 on 3 and 4."""

    parents = (0, 1, 2, 2, 3, 4)

    def test_loops_on_one_base_that_share_a_body_are_merged(self):
        found = wehage([*self.parents, 4, 6], [[5, 7], [5, 8]])
        assert [each.loops for each in found] == [(1, 2)]

    def test_loops_on_one_base_that_share_none_are_not(self):
        found = wehage([*self.parents, 3, 4], [[5, 7], [6, 8]])
        assert [each.loops for each in found] == [(1,), (2,)]

    def test_loops_on_the_frame_are_never_merged(self):
        found = wehage([0, 1, 1, 2, 3, 3], [[4, 5], [4, 6]])
        assert [each.loops for each in found] == [(1,), (2,)]
        assert set(found[0].members[0]) & set(found[1].members[0]) == {1, 2, 3, 4}

    def test_a_loop_that_fits_two_substructures_joins_them(self):
        """Base 2: legs 3, 4, 5, 6. Loops 3-4 and 5-6 share no body, 4-5 shares one with each."""
        found = wehage([0, 1, 2, 2, 2, 2, 4, 6, 5], [[3, 7], [5, 8], [4, 9]])
        assert [each.loops for each in found] == [(1, 2, 3)]


def test_lists_that_are_no_tree_are_refused():
    for parents, terminators, words in [
        ([], [], "body 1, the frame"),
        ([1, 1], [], "body 1, the frame"),
        ([0, 3, 9], [], "parent of body 3 is 9; write one of 1 to 3"),
        ([0, 3, 2], [], "bodies 2, 3 do not lead to the frame"),
        ([0, 1, 1], [[2, 2], [2, 4]], r"terminators 1 are \[2, 2\].*terminators 2 are \[2, 4\]"),
    ]:
        with pytest.raises(ValueError, match=words):
            wehage(parents, terminators)
