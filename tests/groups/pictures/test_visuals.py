"""Outlines and meshes of model files in pictures."""

import base64
import json
import re
from importlib import import_module

import numpy as np
import pytest

import groups
import mbssa
from groups.pictures import page
from groups.pictures.page import solids_of
from groups.pictures.scene import scene_of
from groups.trajectory import at_rest
from mbssa.joints.frames import joint_frames

#: A tetrahedron.
CORNERS = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 4.0]])
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
MODEL = """
format = 1
space = "spatial"
[[body]]
name = "arm"
origin = [1, 0, 0]
orientation = [0.6, 0.0, 0.0, 0.8]
visual = {{ mesh = "arm.{ending}", scale = 0.5 }}
[[joint]]
bodies = [1, 2]
type = "R"
point = [0, 0, 0]
axis = [0, 0, 1]
driven = true
"""


def stl():
    lines = ["solid arm"]
    for face in FACES:
        corners = "".join(f"vertex {' '.join(map(str, CORNERS[i]))}\n" for i in face)
        lines.append(f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet")
    return "\n".join([*lines, "endsolid arm"])


def obj():
    corners = [f"v {' '.join(map(str, corner))}" for corner in CORNERS]
    return "\n".join(
        ["mtllib ../../secret.mtl", *corners, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES)]
    )


@pytest.fixture
def arm(tmp_path):
    def make(ending, text):
        (tmp_path / "arm.toml").write_text(MODEL.format(ending=ending), encoding="utf-8")
        if text is not None:
            (tmp_path / f"arm.{ending}").write_text(text, encoding="utf-8")
        return mbssa.load(tmp_path / "arm.toml")

    return make


@pytest.mark.parametrize(("ending", "text"), [("stl", stl()), ("obj", obj())])
def test_a_mesh_is_in_the_frame_of_its_body(arm, tmp_path, ending, text):
    pytest.importorskip("trimesh", reason="meshes need trimesh: pip install 'mbssa[meshes]'")
    mechanism = arm(ending, text)
    trajectory = groups.build(mbssa.decompose(mechanism)).solve(groups.constant_speed(mechanism, steps=3))
    page(trajectory, tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script id="motion" type="application/json">(.*?)</script>', text)[1])
    (solid,) = data["solids"]
    found = np.frombuffer(base64.b64decode(solid["corners"]), "<f4").reshape(-1, 3, 3)
    wanted = 0.5 * CORNERS[np.array(FACES)]
    assert {tuple(np.sort(face, axis=0).ravel()) for face in found.tolist()} == {
        tuple(np.sort(face, axis=0).ravel()) for face in wanted.tolist()
    }
    assert data["bodies"][solid["body"]]["name"] == "arm"
    assert [line for line in data["lines"] if line["body"] == solid["body"]] == []


@pytest.mark.parametrize(
    ("text", "why"), [(None, "no file"), ("solid nothing\nendsolid", ""), ("\x00" * 200, "")]
)
def test_a_mesh_that_cannot_be_read_is_left_out_and_named(arm, text, why):
    pytest.importorskip("trimesh", reason="meshes need trimesh: pip install 'mbssa[meshes]'")
    with pytest.warns(UserWarning, match=rf"arm\.stl of body arm .*{why}"):
        assert solids_of(arm("stl", text), [0, 1]) == []


def test_shapes_of_a_robot_are_where_its_file_has_them(tmp_path):
    pytest.importorskip("trimesh", reason="meshes need trimesh: pip install 'mbssa[meshes]'")
    (tmp_path / "arm.urdf").write_text(
        """<robot name="arm"><link name="base"/>
        <link name="arm"><visual><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><geometry>
        <box size="2 4 6"/></geometry></visual><visual><geometry><sphere radius="0.5"/></geometry></visual>
        <visual><geometry><mesh filename="package://arm/arm.dae"/></geometry></visual></link>
        <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
        </joint></robot>""",
        encoding="utf-8",
    )
    with pytest.warns(UserWarning, match="notes"):
        arm = mbssa.load(tmp_path / "arm.urdf")
    with pytest.warns(UserWarning, match=r"arm\.dae of body arm .*\.stl and \.obj"):
        (_, box), (_, ball) = solids_of(arm, [1])
    corners = box.reshape(-1, 3)
    np.testing.assert_allclose(
        [corners.min(axis=0), corners.max(axis=0)], [[-1, -1, -3], [3, 1, 3]], atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.norm(ball, axis=2), 0.5, rtol=1e-12)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.stl").write_text(stl(), encoding="utf-8")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "arm.toml").write_text(MODEL.format(ending="stl"), encoding="utf-8")
    (tmp_path / "model" / "arm.stl").symlink_to(tmp_path / "elsewhere" / "secret.stl")
    with pytest.warns(UserWarning, match="arm.stl leaves"):
        assert solids_of(mbssa.load(tmp_path / "model" / "arm.toml"), [1]) == []


def test_without_trimesh_says_what_to_install(arm, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.warns(UserWarning, match=r"\[meshes\]"):
        assert solids_of(arm("stl", stl()), [1]) == []


def test_more_triangles_than_a_page_shows_are_left_out(arm, monkeypatch):
    pytest.importorskip("trimesh", reason="meshes need trimesh: pip install 'mbssa[meshes]'")
    monkeypatch.setattr(import_module("groups.pictures.page"), "MOST_TRIANGLES", 3)
    with pytest.warns(UserWarning, match="3 triangles"):
        assert solids_of(arm("stl", stl()), [1]) == []


def test_the_slots_of_the_geneva_wheel_hold_the_pin():
    """The pin is in the outline of its slot, not in the material, all along the step."""
    from matplotlib.path import Path

    wheel = mbssa.load("geneva")
    frames = joint_frames(wheel)
    scene = scene_of(at_rest(wheel, frames.reference, np.arange(3)), 1)
    outlines = {wheel.body_name(o.body): o.points[:, :2] for o in scene.lines if not o.kind}
    angle = np.deg2rad(np.linspace(-60.0, 60.0, 41))
    turned = np.arctan2(0.5 * np.sin(angle), 1 - 0.5 * np.cos(angle))
    for alpha, beta in zip(angle, -turned, strict=True):
        pin = 0.05 * np.array([np.cos(alpha), np.sin(alpha)])
        back = beta + turned[0]  # from the wheel's angle now to that at the reference
        away = pin - [0.1, 0.0]
        c, s = np.cos(-back), np.sin(-back)
        local = np.array([0.1 + c * away[0] - s * away[1], s * away[0] + c * away[1]])
        for side in np.linspace(0.0, 2 * np.pi, 12, endpoint=False):
            rim = local + 0.0045 * np.array([np.cos(side), np.sin(side)])
            assert not Path(outlines["wheel"]).contains_point(rim)
