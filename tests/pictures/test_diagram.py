"""The structural diagram: circles, rows, arrows."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest

import mbssa
from mbssa.pictures import structural_diagram

MODELS = (
    "planar_four_bar",
    "theo_jansen",
    "planetary",
    "rotor",
    "rotor_transformed",
    "micromanipulator",
    "assur:II-4B",
)


def by_id(figure):
    axes = figure.axes[0]
    return {artist.get_gid(): artist for artist in (*axes.patches, *axes.texts)}


@cache
def drawn(name):
    structure = mbssa.decompose(mbssa.load(name))
    return structure, by_id(structural_diagram(structure))


def test_circles_rows_and_arrows():
    for name in MODELS:
        structure, artists = drawn(name)
        assert artists["group-0-size"].get_text() == "0", name
        height = {0: artists["group-0"].center[1]}
        for group in structure.groups:
            assert (
                artists[f"group-{group.number}-size"].get_text() == f"({len(group.bodies)}, {group.n_driven})"
            ), name
            height[group.number] = artists[f"group-{group.number}"].center[1]
        expected = {f"arrow-{a}-{b.number}" for b in structure.groups for a in b.depends_on}
        expected |= {
            f"arrow-0-{group.number}"
            for group in structure.groups
            if any(1 in pair.others for pair in group.external)
        }
        assert {key for key in artists if key.startswith("arrow-") and "part" not in key} == expected, name
        if structure.determined:
            rows = [height[0], *(height[level[0]] for level in structure.levels)]
            assert rows == sorted(rows, reverse=True), name
            for level in structure.levels:
                assert len({height[number] for number in level}) == 1, name


def test_texts_and_circles_keep_clear():
    for name in MODELS:
        _, artists = drawn(name)
        boxes = {key: text.get_window_extent() for key, text in artists.items() if hasattr(text, "get_text")}
        assert not [(a, b) for a, b in combinations(sorted(boxes), 2) if boxes[a].overlaps(boxes[b])], name
        arrows = [patch for key, patch in artists.items() if key.startswith("arrow-")]
        assert min(text.get_fontsize() for text in artists.values() if hasattr(text, "get_text")) >= 7, name
        for arrow in arrows:
            line = arrow.get_transform().transform(arrow.get_path().interpolated(8).vertices)
            for key, box in boxes.items():
                inside = ((line > box.min) & (line < box.max)).all(axis=1)
                assert not inside.any(), (arrow.get_gid(), key)


def test_parts_are_circles_too():
    pairs = [(1, 2, "R", 1), (1, 2, "R", 0), (2, 3, "R", 0), (2, 4, "R", 1)]
    artists = by_id(structural_diagram(mbssa.decompose(mbssa.from_pairs(4, pairs, "planar"), by_count=True)))
    assert artists["part-1-size"].get_text() == "+2"
    assert artists["part-2-size"].get_text() == "−1"
    assert {"arrow-0-part-1", "arrow-part-1-1", "arrow-part-1-part-2"} <= set(artists)
    assert artists["part-2"].get_linestyle() == "dotted"
    assert "part-1-ring" in artists
    assert np.array(artists["part-1"].center)[1] > artists["part-2"].center[1]


def test_many_groups_are_refused():
    chain = [(k, k + 1, "R", 1) for k in range(1, 200)]
    with pytest.raises(ValueError, match="199 structural groups"):
        structural_diagram(mbssa.decompose(mbssa.from_pairs(200, chain, "planar")))
