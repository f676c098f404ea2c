"""The picture of two criteria: every row is in it, and its front is the answer's."""

import numpy as np
import pytest

import mbssa
from mbssa.input_search.search import transform
from mbssa.pictures import save
from mbssa.pictures.front import pareto_front


@pytest.fixture(scope="module")
def answer():
    return transform(mbssa.load("rotor"), allow=["1-2", "1-13", "9-13", "13-15", "9-10", "11-14", "6-9"])


def artist(figure, gid):
    (found,) = [each for each in figure.findobj() if each.get_gid() == gid]
    return found


def test_the_line_is_the_front(answer):
    figure = pareto_front(answer, "groups", "margin")
    expected = [[row.n_groups, row.margin] for row in answer.front("groups", "margin")]
    np.testing.assert_allclose(artist(figure, "front").get_xydata(), expected)
    assert len(expected) > 1


def test_every_row_has_its_dot(answer):
    figure = pareto_front(answer, "groups", "largest")
    dots = {tuple(at) for at in artist(figure, "structures").get_offsets().tolist()}
    assert dots == {(row.n_groups, row.largest) for row in answer.rows}


def test_the_inputs_of_numbered_points_stand_below(answer):
    figure = pareto_front(answer, "groups", "margin")
    for number, row in enumerate(answer.front("groups", "margin")[:9], 1):
        assert artist(figure, f"number-{number}").get_text() == str(number)
        assert artist(figure, f"inputs-{number}").get_text().split(None, 1)[1] == ", ".join(row.inputs)


def test_its_own_inputs_are_marked(answer):
    figure = pareto_front(answer, "groups", "cost")
    at = artist(figure, "own").get_xydata()
    np.testing.assert_allclose(at, [[answer.own.n_groups, answer.own.cost]])


def test_the_same_picture_gives_the_same_bytes(answer, tmp_path):
    for name in ("one.svg", "two.svg"):
        save(pareto_front(answer), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_what_cannot_be_drawn_is_refused(answer, tmp_path):
    with pytest.raises(ValueError, match="unknown 'size'"):
        pareto_front(answer, "groups", "size")
    with pytest.raises(ValueError, match="no valid set"):
        pareto_front(transform(mbssa.load("rotor"), allow=["9-10"]))
