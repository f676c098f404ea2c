"""The picture of a tree of routes: all is in it, nothing lies on anything else, the same bytes each time."""

from itertools import islice, pairwise

import numpy as np
import pytest
from synthetic import deep, random_dag, wide

import mbssa
from mbssa.pictures.style import MM_PER_INCH
from routes.dag import Dag
from routes.enumeration import best_first, tree, tree_of
from routes.plots import draw_tree, routes_tree
from routes.plots.tree import _folded

MODELS = ("stewart_inverse", "nine_bar")


@pytest.fixture(params=MODELS)
def found(request):
    return tree(mbssa.decompose(mbssa.load(request.param)))


def texts(figure, gid):
    return [text for text in figure.axes[0].texts if text.get_gid() == gid]


def test_a_box_for_each_stage_and_an_end_for_each_route(found):
    figure = routes_tree(found)
    stages = sorted(" ∥ ".join(map(str, node[-1])) for node in found if node)
    assert sorted(text.get_text() for text in texts(figure, "groups")) == stages
    assert len(texts(figure, "end")) == sum(not following for _, following in found.out_degree())


def test_a_folded_tree_has_every_route_once(found):
    """Rows with names and those that stand for several add up; each letter has one continuation."""
    ends = [text.get_text() for text in texts(routes_tree(found, fold=True), "end")]
    routes_there = sum(not following for _, following in found.out_degree())
    assert sum(int(end.split()[0]) if end.endswith("routes") else 1 for end in ends) == routes_there
    assert ends[0].startswith("sequential")
    assert "parallel" in ends[-1]
    drawn, letters, rows = _folded(found, set())
    after = {node: {route[len(node) :] for route in found if route[: len(node)] == node} for node in letters}
    for one, letter in letters.items():
        assert {frozenset(after[other]) for other in letters if letters[other] == letter} == {
            frozenset(after[one])
        }
        assert (one in rows) == (not drawn.out_degree(one))


def test_routes_with_a_time_keep_their_row(found):
    shown = {node: 0.001 for node, following in found.out_degree() if not following}
    assert len(texts(routes_tree(found, seconds=shown, fold=True), "end")) == len(shown)


@pytest.mark.parametrize("fold", [False, True])
def test_no_text_on_another_or_outside(found, fold):
    figure = routes_tree(
        found, title="Routes", seconds=None if fold else dict.fromkeys(found, 0.0123), fold=fold
    )
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    page = figure.bbox
    for box in boxes:
        assert page.x0 <= box.x0 <= box.x1 <= page.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
    for k, one in enumerate(boxes):
        for other in boxes[:k]:
            assert not (
                min(one.x1, other.x1) > max(one.x0, other.x0)
                and min(one.y1, other.y1) > max(one.y0, other.y0)
            )


def test_sequential_on_top_parallel_at_the_bottom_and_the_best_are_named(found):
    leaves = [node for node, following in found.out_degree() if not following]
    best = leaves[len(leaves) // 2]
    ends = texts(routes_tree(found, best=best, seconds={best: 0.25}), "end")
    message = [end.get_text() for end in ends]
    heights = [end.get_position()[1] for end in ends]
    assert all(a < b for a, b in pairwise(heights))  # mm, downwards
    assert message[0].startswith("sequential")
    assert "parallel" in message[-1]
    assert message[len(leaves) // 2].endswith("best, 250 ms")


def test_the_same_bytes_twice(tmp_path):
    nine_bar = tree(mbssa.decompose(mbssa.load("nine_bar")))
    for ending in ("svg", "pdf"):
        for name in ("a", "b"):
            draw_tree(nine_bar, tmp_path / f"{name}.{ending}", title="Nine-bar")
        one, two = (tmp_path / f"{name}.{ending}" for name in ("a", "b"))
        assert one.read_bytes() == two.read_bytes(), ending


def test_the_best_of_many():
    dag = Dag(random_dag(20, 0.1, 1))
    best = [route for _, route in islice(best_first(dag, np.linspace(1.0, 2.0, 20), 4, stage=0.1), 40)]
    figure = routes_tree(tree_of(dag, best), best=best[0])
    assert len(texts(figure, "end")) == 40
    assert figure.get_figheight() * MM_PER_INCH < 300


def test_many_groups_side_by_side_take_several_lines():
    figure = routes_tree(tree_of(Dag(wide(41)), [((1,), tuple(range(2, 42)))]))
    lines = texts(figure, "groups")[1].get_text().split("\n")
    assert len(lines) > 3
    assert max(map(len, lines)) < 40


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"128 rows.* 120"):
        routes_tree(tree(Dag(wide(9))))
    with pytest.raises(ValueError, match=r"50 stages"):
        routes_tree(tree(Dag(deep(50))))
    with pytest.raises(ValueError, match="no route"):
        routes_tree(tree(Dag(wide(3))), best=((1,),))
