"""``mbssa draw``: the mechanism with its groups in colour, where it can be solved and where it cannot."""

import numpy as np
import pytest

import groups
import mbssa
from groups.cli.draw import _at_inputs, _at_time
from groups.pictures import mechanism_at
from mbssa.pictures.hues import HUES, body_colours, group_hues

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", ["micromanipulator", "planar_four_bar"])
def test_a_model_is_drawn_whether_it_can_be_solved_or_not(name, tmp_path, run_mbssa):
    path = tmp_path / "picture.svg"
    done = run_mbssa("draw", name, "--output", str(path))
    assert done.exit_code == 0, done.stderr
    text = path.read_text()
    structure = mbssa.decompose(mbssa.load(name))
    for group in structure.groups:
        assert f"SG-{group.number} {group.type_name}" in text
    for body in structure.mechanism.bodies[1:]:
        assert f">{body.name}<" in text  # text that can be searched


def test_every_group_has_a_hue_of_its_own_and_its_bodies_shades():
    structure = mbssa.decompose(mbssa.load("assur:I-8B"))
    many = mbssa.decompose(mbssa.load("micromanipulator"))
    for found in (structure, many):
        hues = group_hues(found)
        assert len(set(hues.values())) == found.n_groups
        colours = body_colours(found)
        for group in found.groups:
            assert len({colours[body] for body in group.body_indices.tolist()}) == len(group.bodies)
    assert {hue.colour for hue in group_hues(many).values()} == set(HUES)


def test_the_picture_of_a_time_is_that_of_the_whole_motion():
    bar = mbssa.load("planar_four_bar")
    model = groups.build(mbssa.decompose(bar))
    whole = model.solve(groups.default_motion(bar, steps=101), compiled=False)
    for k in (0, 30, 100):
        part = _at_time(bar, float(whole.time[k]))
        assert part.time[-1] == pytest.approx(whole.time[k])
        assert np.abs(part.position[-1] - whole.position[k]).max() < 1e-12


def test_the_picture_of_inputs_has_them():
    bar = mbssa.load("planar_four_bar")
    found = _at_inputs(bar, ["1-2.angle=200deg"])
    joint = found.joint("1-2")
    assert joint.value[-1] == pytest.approx(np.deg2rad(200))
    figure = mechanism_at(found, -1, where="1-2.angle=200deg")
    titles = [text.get_text() for text in figure.texts if text.get_gid() == "title"]
    assert titles == ["planar_four_bar, 1-2.angle=200deg"]


def test_faults_are_told_in_a_sentence(tmp_path, run_mbssa):
    path = tmp_path / "picture.svg"
    for arguments, said in (
        (("planar_four_bar", "--inputs", "1-2.angle"), "NAME=VALUE"),
        (("planar_four_bar", "--inputs", "2-3.angle=1"), "2-3.angle"),
        (("planar_four_bar", "--inputs", "1-2.angle=1", "--time", "0.5"), "one of the two"),
        (("planar_four_bar", "--points", "coupler.tracer"), "--time"),
        (("planar_four_bar", "--time", "0.5", "--points", "coupler.nose"), "'nose'"),
        (("micromanipulator", "--time", "0.5"), "no motion"),
    ):
        done = run_mbssa("draw", *arguments, "--output", str(path))
        assert done.exit_code == 2, arguments
        assert said in done.stderr, arguments
        assert not path.exists(), arguments
