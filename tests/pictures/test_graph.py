"""The structural graph: what is in it, that it can be read, and that it is always the same."""

import io
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import cache
from itertools import combinations

import numpy as np
import pytest

import mbssa
from mbssa.io import builtin_names
from mbssa.pictures import save, structural_graph
from mbssa.pictures.hues import body_colours, tinted

#: All kinds of joint, parts and levels; the other built-in models are slow.
SOME = ("planar_four_bar", "theo_jansen", "planetary", "cam_roller", "spatial_four_bar", "mixed")
of_models = pytest.mark.parametrize(
    "names",
    [SOME, pytest.param([*sorted({*builtin_names()} - {*SOME}), "assur:II-4B"], marks=pytest.mark.slow)],
    ids=["some", "others"],
)
MIXED = [
    *[(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0), (4, 5, "R", 0), (1, 5, "P", 1)],
    *[(1, 5, "R", 1), (5, 6, "R", 0), (6, 7, "R", 0), (3, 8, "R", 0), (8, 9, "P", 0), (2, 10, "R", 1)],
]


@cache
def structure_of(name):
    if name == "mixed":
        return mbssa.decompose(mbssa.from_pairs(10, MIXED, "planar"), by_count=True)
    return mbssa.decompose(mbssa.load(name))


@cache
def drawn(name):
    return structural_graph(structure_of(name))


def by_id(figure):
    axes = figure.axes[0]
    return {artist.get_gid(): artist for artist in (*axes.patches, *axes.collections, *axes.texts)}


def numbers(kind, artists):
    return {key for key in artists if key.startswith(f"{kind}-") and key.count("-") == 1}


@of_models
def test_one_vertex_a_body_and_one_line_a_coordinate(names):
    for name in names:
        structure, artists = structure_of(name), by_id(drawn(name))
        m = structure.mechanism
        assert numbers("body", artists) == {f"body-{k + 1}" for k in range(m.n_bodies)}, name
        joints = [key for key in artists if key.startswith("joint-") and not key.endswith("-type")]
        wide = {j.index for j in m.joints if len(j.bodies) > 2}
        squares = [key for key in joints if key.endswith("-square")]
        arms = [key for key in joints if "-arm-" in key]
        assert len(squares) == len(wide), name
        assert len(arms) == sum(len(m.joints[j].bodies) for j in wide), name
        assert {key.partition("-arm-")[0] for key in arms} == {
            key.removesuffix("-square") for key in squares
        }, name
        # An arm has as many lines as its joint has coordinates.
        on_arms = sum(len(artists[key].get_linewidths()) for key in arms)
        assert on_arms == sum(len(m.joints[j].bodies) * m.grade[j] for j in wide), name
        plain = [key for key in joints if key not in (*squares, *arms)]
        widths = [tuple(artists[key].get_linewidths()) for key in plain]
        assert len(plain) == m.n_joints - len(wide), name
        assert sum(map(len, widths)) == sum(m.grade[j] for j in range(m.n_joints) if j not in wide), name
        bold = max(map(max, widths))
        if m.n_driven:
            assert sum(row.count(bold) for row in widths) == m.n_driven, name
        assert numbers("group", artists) == {f"group-{group.number}" for group in structure.groups}, name
        for group in structure.groups:
            level = f" ({structure.level_of_group[group.number - 1]})" if len(structure.levels) > 1 else ""
            assert artists[f"group-{group.number}-label"].get_text() == f"SG-{group.number}{level}", name


@of_models
def test_no_text_lies_on_another_or_on_a_foreign_body(names):
    for name in names:
        artists = by_id(drawn(name))
        boxes = {key: text.get_window_extent() for key, text in artists.items() if hasattr(text, "get_text")}
        touching = [
            (a, b) for a, b in combinations(sorted(boxes), 2) if boxes[a].overlaps(boxes[b])
        ]  # fmt: skip
        assert not touching, name
        for body in numbers("body", artists):
            circle = artists[body].get_window_extent()
            middle, radius = np.array([circle.x0 + circle.x1, circle.y0 + circle.y1]) / 2, circle.width / 2
            for key, box in boxes.items():
                nearest = np.clip(middle, box.min, box.max)
                assert key == f"{body}-number" or np.hypot(*(nearest - middle)) > radius, (body, key)


@of_models
def test_outlines_hold_exactly_their_bodies(names):
    from matplotlib.path import Path as Outline

    for name in names:
        structure, artists = structure_of(name), by_id(drawn(name))
        middles = {key: centre(artists[key]) for key in numbers("body", artists)}
        for group in structure.groups:
            outline = Outline(artists[f"group-{group.number}"].get_xy())
            mine = {f"body-{body}" for body in group.bodies}
            assert {key for key, middle in middles.items() if outline.contains_point(middle)} == mine, name
            rim = outline.vertices
            for key, middle in middles.items():
                assert np.hypot(*(rim - middle).T).min() > 3.0, (group.number, key)


def centre(patch):
    low, high = patch.get_path().transformed(patch.get_patch_transform()).get_extents().get_points()
    return (low + high) / 2


@of_models
def test_texts_can_be_read_and_the_picture_fits_a_page(names):
    for name in names:
        figure = drawn(name)
        assert min(text.get_fontsize() for text in figure.axes[0].texts) >= 7, name
        width, height = figure.get_size_inches() * 25.4
        assert 85 - 1e-6 <= width <= 170, name
        assert height <= 230, name
        page = figure.bbox
        for text in figure.axes[0].texts:
            box = text.get_window_extent()
            assert page.x0 <= box.x0, name
            assert box.x1 <= page.x1, name
            assert page.y0 <= box.y0, name
            assert box.y1 <= page.y1, name


def test_parts_differ_in_colour_and_in_line():
    from matplotlib.colors import to_rgba

    structure, artists = structure_of("mixed"), by_id(drawn("mixed"))
    assert [part.kind for part in structure.parts] == ["over", "under", "under"]
    looks = {}
    for kind in ("over", "under"):
        for part in structure.parts:
            for body in (number + 1 for number in part.bodies if part.kind == kind):
                circle = artists[f"body-{body}"]
                looks.setdefault(kind, set()).add((circle.get_facecolor(), circle.get_linestyle()))
                assert (f"body-{body}-ring" in artists) == (kind == "over")
    assert len(looks["over"]) == len(looks["under"]) == 1
    (over,), (under,) = looks.values()
    assert over[0] != under[0]
    assert under[1] == "dotted"
    sound = artists["body-10"]
    shade = tinted(body_colours(structure)[9], 0.4)  # of its group, paler
    assert sound.get_facecolor() == to_rgba(shade)
    assert artists["part-1-label"].get_text() == f"over by {structure.parts[0].units}"
    entries = [artist for key, artist in artists.items() if re.fullmatch(r"legend-\d+", key)]
    legend = {entry.get_text() for entry in entries}
    assert {"frame", "body", "over-constrained", "under-constrained", "free coordinate"} <= legend


def test_a_joint_of_three_bodies_is_a_square(tmp_path):
    path = tmp_path / "gears.toml"
    path.write_text(
        'format = 1\nspace = "planar"\nbodies = 4\njoint = [{ bodies = [1, 2], type = "R", driven = 1 }, '
        '{ bodies = [2, 3], type = "R" }, '
        '{ bodies = [1, 4], type = "R" }, { bodies = [2, 3, 4], type = "EO" }]'
    )
    artists = by_id(structural_graph(mbssa.decompose(mbssa.load(path), by_count=True)))
    assert {key for key in artists if key.startswith("joint-2-3-4-arm") and "type" not in key} == {
        f"joint-2-3-4-arm-{body}" for body in (2, 3, 4)
    }
    assert artists["joint-2-3-4-square-type"].get_text() == "EO"


def test_two_joints_of_the_same_bodies_are_two_bundles():
    pairs = [(1, 2, "R", 1), (1, 2, "P", 0)]
    artists = by_id(structural_graph(mbssa.decompose(mbssa.from_pairs(2, pairs, "planar"), by_count=True)))
    assert {"joint-1-2", "joint-1-2.2"} <= set(artists)
    assert artists["joint-1-2-type"].get_position() != artists["joint-1-2.2-type"].get_position()


def test_names_stand_beside_the_bodies():
    artists = by_id(structural_graph(structure_of("suspension"), names=True))
    names = {body.name for body in structure_of("suspension").mechanism.bodies}
    assert {text.get_text() for key, text in artists.items() if key.endswith("-name")} == names


def test_svg_has_the_ids():
    stream = io.BytesIO()
    drawn("spatial_four_bar").savefig(stream, format="svg")
    ids = {
        element.get("id"): element for element in ET.fromstring(stream.getvalue()).iter() if element.get("id")
    }
    assert {"body-1", "body-4", "joint-2-3", "joint-2-3-type", "group-1", "group-2-label"} <= set(ids)
    assert len(list(ids["joint-2-3"].iter("{http://www.w3.org/2000/svg}path"))) == 3


@pytest.mark.slow
def test_the_same_bytes_again_and_under_another_hash_seed(tmp_path):
    script = (
        "import mbssa, sys\nfrom mbssa.pictures import save, structural_graph\n"
        "figure = structural_graph(mbssa.decompose(mbssa.load('spatial_four_bar')))\n"
        "[save(figure, f'{sys.argv[1]}.{ending}') for ending in ('svg', 'pdf')]"
    )
    environment = dict(os.environ, PYTHONHASHSEED="12345")
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "other")], check=True, env=environment)
    for ending in ("svg", "pdf"):
        here, other = tmp_path / f"here.{ending}", tmp_path / f"other.{ending}"
        save(structural_graph(structure_of("spatial_four_bar")), here)
        assert here.read_bytes() == other.read_bytes()
        save(drawn("spatial_four_bar"), here)
        assert here.read_bytes() == other.read_bytes()


def test_a_large_mechanism_is_refused():
    chain = [(k, k + 1, "R", 1) for k in range(1, 200)]
    with pytest.raises(ValueError, match="200 bodies"):
        structural_graph(mbssa.decompose(mbssa.from_pairs(200, chain, "planar")))
