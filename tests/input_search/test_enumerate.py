"""Schemes of inputs: counted before they are listed, numbered in order, and no set forgotten."""

from itertools import combinations

import numpy as np
import pytest
from every_set import sets_of_row

import mbssa
from mbssa.input_search.enumerate import Schemes, schemes
from mbssa.input_search.query import coordinates_of, make_query
from mbssa.input_search.undriven import undriven_mechanisms

#: What the query of the issue counts.
FIGURES = {"rotor": (1_576, 9_139), "micromanipulator": (790_506, 25_827_165), "stewart": (85_151, 5_245_786)}


def room_of(name, **options):
    mechanism = mbssa.load(name)
    base = undriven_mechanisms(mechanism, make_query(mechanism, **options))[0][0]
    return base, schemes(base)


def test_known_figures():
    for name in FIGURES:
        _, room = room_of(name)
        assert (room.count, room.n_sets) == FIGURES[name], name


QUESTIONS = [
    {},
    {"per_joint": 1},
    {"forbid": ["8-9", "1-10.angle_1"]},
    {"require": ["1-10"]},
    {"require": ["1-10.angle_2", "1-2"]},
    {"allow": ["1-2", "1-10", "11-14", "12-16.angle_y"]},
    {"terminals": [9], "require": ["1-9"], "per_joint": 2},
]


def test_all_sets_of_coordinates_that_a_question_allows():
    """Brute force over all sets of three of the rotor's coordinates."""
    for options in QUESTIONS:
        base, room = room_of("rotor", **options)
        mechanism = base.mechanism
        every = [(j, bit) for j in range(mechanism.n_joints) for bit in range(int(mechanism.grade[j]))]

        meant = {
            key: [set(coordinates_of(mechanism, name)) for name in options.get(key, [])]
            for key in ("allow", "forbid", "require")
        }
        allowed = set(every) if not meant["allow"] else set().union(*meant["allow"])
        allowed -= set().union(*meant["forbid"], set())
        wanted = set()
        for chosen in combinations(every, 3):
            joints = [j for j, _ in chosen]
            fits = set(chosen) <= allowed and all(each & set(chosen) for each in meant["require"])
            if fits and all(joints.count(j) <= options.get("per_joint", 9) for j in joints):
                wanted.add(chosen)
        listed = [
            tuple(zip(places.tolist(), bits, strict=True))
            for places in room.places()
            for bits in sets_of_row(base, places)
        ]
        assert len(listed) == room.n_sets == room.sets(room.places()).sum(), options
        assert set(listed) == wanted, options


def test_numbers_are_in_lexicographic_order():
    _, room = room_of("rotor")
    places = room.places()
    rows = [tuple(row) for row in places.tolist()]
    assert rows == sorted(set(rows))
    assert len(rows) == room.count
    some = np.array([1575, 0, 700, 701])
    assert np.array_equal(room.numbered(some), places[some])
    assert np.array_equal(room.places(100, 140), places[100:140])


def test_more_than_a_machine_word_are_counted_and_not_numbered():
    ways = np.ones((80, 13), dtype=object)
    huge = Schemes(60, ways)
    assert huge.count > 2**62
    with pytest.raises(ValueError, match="numbered"):
        huge.places(0, 1)


def test_sets_are_counted_as_long_as_they_fit():
    """An upper bound by the joint with most sets does not refuse a count."""
    ways = np.ones((30, 4), dtype=object)
    ways[0, 3] = 20
    room = Schemes(25, ways)
    assert room.n_sets < 2**62 < 20**25
    some = room.places(0, 100)
    assert sorted(set(room.sets(some).tolist())) == [20]
    huge = np.full((30, 4), 20, dtype=object)
    with pytest.raises(ValueError, match="counted"):
        Schemes(25, huge).sets(some)


def test_nothing_is_allowed():
    room = Schemes(3, np.array([[1, 1], [1, 1]], dtype=object))
    assert (room.count, room.n_sets) == (0, 0)
    assert room.places().shape == (0, 3)
