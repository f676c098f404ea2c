"""Names of geometry are the words of a model file: changing one is editing the file."""

import re
from importlib.resources import files

import numpy as np
import pytest

import groups
import mbssa
from mbssa.io.records import to_record
from mbssa.io.toml_file import parse_toml
from routes.sweep.parameters import changed, framed, parameters_of


def source(name):
    return (files("mbssa.io.models") / f"{name}.toml").read_text()


def edited(name, old, new):
    text = source(name)
    assert text.count(old) == 1
    return parse_toml(text.replace(old, new), name, name)


def apply(mechanism, **values):
    names = list(values)
    found = parameters_of(mechanism, names, mbssa.decompose(mechanism).n_groups)
    return changed(framed(mechanism, found), found, list(values.values()))


CHANGES = [
    ("planar_four_bar", "2-3.point.x", 0.2, "point = [0.18, 0.24]", "point = [0.2, 0.24]"),
    ("planar_four_bar", "2-3.point[2]", 0.25, "point = [0.18, 0.24]", "point = [0.18, 0.25]"),
    ("planar_four_bar", "3-2.point.y+", 0.5, "point = [0.18, 0.24]", "point = [0.18, 0.74]"),
    ("planar_four_bar", "coupler.points.tracer.y", 1.0, "tracer = [0.4, 0.65]", "tracer = [0.4, 1.0]"),
    (
        "stewart_inverse", "platform.origin.z+", 0.25,
        "origin = [0.0, 0.0, 1.0]", "origin = [0.0, 0.0, 1.25]",
    ),
    ("stewart_inverse", "4-5.axis.x", 0.5, "axis = [0.44, -0.48, 1.0]", "axis = [0.5, -0.48, 1.0]"),
    (
        "stewart_inverse", "3-14.axes[1].z", 0.5,
        "axes = [[0.42, 0.42, 0.21], [-0.42, 0.42, 0.0]]",
        "axes = [[0.42, 0.42, 0.5], [-0.42, 0.42, 0.0]]",
    ),
]  # fmt: skip


def test_a_name_changes_what_the_file_has_under_it():
    for model, name, value, old, new in CHANGES:
        mechanism = apply(mbssa.load(model), **{name: value})
        assert to_record(mechanism) == to_record(edited(model, old, new)), name


@pytest.mark.parametrize("model", ["planar_four_bar", "rotor", "stewart_inverse"])
def test_frames_of_a_joint_say_the_same_as_its_points_and_axes(model):
    mechanism = mbssa.load(model)
    names = {
        f"{joint.id}.frames[2].origin.y+": 0.0
        for joint in mechanism.joints
        if joint.geometry is not None and not joint.driven
    }
    twin = apply(mechanism, **names)
    assert any(joint.geometry.frames for joint in twin.joints if joint.geometry)
    one, two = (
        groups.build(mbssa.decompose(each)).solve(
            level="velocity", motion=groups.default_motion(mechanism, steps=7)
        )
        for each in (mechanism, twin)
    )
    assert np.abs(one.position - two.position).max() < 1e-9
    assert np.abs(one.velocity - two.velocity).max() < 1e-8


def test_a_frame_moves_a_joint_on_one_body_alone():
    mechanism = mbssa.load("planar_four_bar")
    twin = apply(mechanism, **{"2-3.frames[1].origin.x+": 0.01})
    before, after = mechanism.joint("2-3").geometry.point, twin.joint("2-3").geometry.frames
    assert after[0].origin == pytest.approx((before[0] + 0.01, before[1]))
    assert after[1].origin == pytest.approx(before)


def test_one_value_for_several():
    twin = apply(mbssa.load("planar_four_bar"), **{"1-2.point.y & 1-4.point.y": -0.1})
    assert twin.joint("1-2").geometry.point == (0.0, -0.1)
    assert twin.joint("1-4").geometry.point == (0.9, -0.1)


WRONG = [
    ("1-2.angel", "did you mean '1-2.angle'?"),
    ("2-3.angle", "is not driven; driven are 1-2.angle"),
    ("2-3.pointt.x", "did you mean 'point'?"),
    ("2-3.point", "is more than a number; write .x, .y, …"),
    ("2-3.point.z", "has .x, .y, not z"),
    ("2-3.point[3]", "has .x, .y, not [3]"),
    ("2-3.point.x.y", "is a number; nothing comes after it"),
    ("2-3.length", "has no 'length' in the model"),
    ("coupler.points.trace.x", "did you mean 'tracer'?"),
    ("crnk.origin.x", "did you mean 'crank'?"),
    ("mode 3", "there is no group 3; the groups are 1 to 2"),
    ("mode 2+", "no offset"),
    ("1-2.angle & 2-3.point.x", "cannot have one value"),
]


def test_a_name_that_means_nothing_is_refused_with_what_to_write():
    for name, message in WRONG:
        with pytest.raises(ValueError, match=re.escape(message)):
            parameters_of(mbssa.load("planar_four_bar"), [name], 2)


def test_all_names_are_refused_at_once():
    with pytest.raises(ValueError, match=r"1-2\.angel") as refusal:
        parameters_of(mbssa.load("planar_four_bar"), ["1-2.angel", "mode 7", "1-2.angle", "2-1.angle+"], 2)
    assert "mode 7" in str(refusal.value)
    assert "2-1.angle+: 1-2.angle sets the same" in str(refusal.value)
