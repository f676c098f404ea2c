"""The builder makes what a model file makes, with the same checks; a Delta robot in a dozen lines."""

import inspect
import re
import tomllib

import numpy as np
import pytest
from refusals import codes, refused

import groups
import mbssa
from mbssa.io.records import to_record
from mbssa.joints.catalogue import CATALOGUE
from mbssa.loads import FORCE_TYPES

TOML = """
format = 1
space = "spatial"
title = "A screw in a nut"
units = { length = "mm", angle = "deg" }
[[body]]
name = "nut"
points = { tip = [0, 0, 250] }
[[body]]
name = "screw"
[[joint]]
id = "guide"
bodies = ["frame", "nut"]
type = "P"
driven = ["slide"]
axis = [0, 0, 1]
limits = { slide = [-20, 20] }
at_reference = { slide = 5 }
[[joint]]
bodies = ["nut", "screw"]
type = "H"
point = [0, 0, 10]
axis = [0, 0, 1]
pitch = 36
[[joint]]
bodies = ["frame", "screw"]
type = "R"
point = [0, 0, 0]
axis = [0, 0, 1]
[motion]
duration = 2.0
steps = 11
[motion.inputs]
"guide.slide" = { law = "ramp", end = 20 }
"""


def screw(space="spatial"):
    up = np.array([0, 0, 1])
    m = mbssa.Builder(space, name="screw", length="mm", angle="deg", title="A screw in a nut")
    m.body("nut", points={"tip": np.array([0, 0, 250.0])}).bodies("screw")
    limits = {"slide": (-20, 20)}
    at = {"slide": np.float64(5)}
    m.prismatic("frame", "nut", id="guide", driven="slide", axis=up, limits=limits, at_reference=at)
    m.helical("nut", "screw", point=(0, 0, 10), axis=up, pitch=36, driven=None)
    m.revolute("frame", "screw", point=(0, 0, 0), axis=up)
    return m.motion({"guide.slide": {"law": "ramp", "end": 20}}, duration=2.0, steps=11)


def delta():
    m = mbssa.Builder("spatial", name="delta", length="mm", angle="deg").body("platform")
    for k in range(3):
        out = np.array([np.cos(2 * np.pi / 3 * k), np.sin(2 * np.pi / 3 * k), 0.0])
        across = np.cross([0, 0, 1], out)
        hip, elbow, ankle = 200 * out, 350 * out, 50 * out - [0, 0, 400]
        pins = (across, np.cross(ankle - elbow, across))
        m.bodies(f"arm {k}", f"rod {k}")
        m.revolute("frame", f"arm {k}", id=f"motor {k}", point=hip, axis=across, driven=True)
        m.universal(f"arm {k}", f"rod {k}", point=elbow, axes=pins)
        m.universal("platform", f"rod {k}", point=ankle, axes=pins)
    swing = {"law": "harmonic", "amplitude": 20, "frequency": 1}
    return m.motion({f"motor {k}.angle": {**swing, "phase": 50 * k} for k in range(3)}).build()


class TestDelta:
    def test_has_at_most_fifteen_lines(self):
        assert len(inspect.getsource(delta).strip().splitlines()) <= 15

    def test_is_solved_and_its_platform_only_translates(self):
        mechanism = delta()
        assert mechanism.mobility == mechanism.n_driven == 3
        found = groups.build(mbssa.decompose(mechanism)).solve(compiled=False)
        assert found.ok
        platform = found.body("platform")
        assert np.allclose(platform.orientation, platform.orientation[0], atol=1e-9)
        moved = platform.position - platform.position[0]
        assert np.ptp(moved[:, 2]) > 0.01
        # The textbook's closure: each rod keeps its length between an elbow on a circle and the moved ankle.
        for k, angle in enumerate(2 * np.pi / 3 * np.arange(3)):
            out, up = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([0.0, 0.0, 1.0])
            phase = np.radians(50 * k)
            turned = np.radians(20) * (np.sin(2 * np.pi * found.time + phase) - np.sin(phase))
            elbow = 0.2 * out + 0.15 * (np.outer(np.cos(turned), out) - np.outer(np.sin(turned), up))
            rod = np.linalg.norm(0.05 * out - 0.4 * up + moved - elbow, axis=1)
            assert np.allclose(rod, np.hypot(0.3, 0.4), atol=1e-9)


def test_the_tables_of_a_file_and_its_text_make_the_same_mechanism():
    from_text = to_record(mbssa.load(TOML))
    assert to_record(screw().build()) == from_text
    tables = tomllib.loads(TOML)
    assert to_record(mbssa.load(tables)) == from_text
    assert tables == tomllib.loads(TOML)
    assert mbssa.load(TOML).name == mbssa.load(tables).name == "model"


def test_what_is_saved_is_what_is_built(tmp_path):
    assert screw().save(tmp_path / "screw.toml") == []
    assert to_record(mbssa.load(tmp_path / "screw.toml")) == to_record(screw().build())


def test_building_again_after_a_fault_and_after_more():
    m = mbssa.Builder("planar").body("crank").revolute("frame", "crank", point=(0, 0))
    assert m.build().n_joints == m.build().n_joints == 1
    m.revolute("crank", "rod", point=(1, 0))
    with refused("unknown at joint 2 (crank, rod) bodies"):
        m.build()
    assert m.bodies("rod").build().n_joints == 2
    assert repr(m) == "<Builder builder: planar, 3 bodies with the frame, 2 joints>"


def test_all_faults_at_once():
    m = screw("planar").revolute("frame", "nut", id="pivot", pont=(0, 0)).body("nut")
    with pytest.raises(mbssa.ModelError) as caught:
        m.build()
    assert codes(caught.value.faults) == [
        "value at body 1 (nut) points.tip",
        "value at joint 1 (guide) axis",
        "value at joint 2 (nut, screw) point",
        "value at joint 2 (nut, screw) axis",
        "value at joint 3 (frame, screw) point",
        "value at joint 3 (frame, screw) axis",
        "unknown at joint 4 (pivot) pont",
        "duplicate at body 3 (nut)",
        "unknown at joint 2 (nut, screw) type",
    ]


def test_text_that_is_no_model():
    for text in ["format = 1\nspace =", "rotor\n"]:
        with refused("syntax at TOML"):
            mbssa.load(text)


class TestMethods:
    def test_each_type_has_one(self):
        for row in CATALOGUE:
            method = getattr(mbssa.Builder, row.method)
            m = mbssa.Builder(row.space)
            assert method(m, 1, 2, id="it") is m, row.code
            assert m._record["joint"] == [{"bodies": (1, 2), "type": row.code, "id": "it"}], row.code
            assert row.code in method.__doc__, row.code
            assert ", ".join(row.coordinates) in method.__doc__, row.code
            assert re.fullmatch(r"[a-z_]+", row.method), row.code

    def test_the_types_of_forces_are_listed_with_their_keys(self):
        text = mbssa.Builder.force.__doc__
        for name, row in FORCE_TYPES.items():
            assert f'"{name}"``: {", ".join(row.required)} [{", ".join(row.optional)}]' in text

    def test_no_type_hides_another_or_a_method_of_the_builder(self):
        assert len({(row.method, row.space) for row in CATALOGUE}) == len(CATALOGUE)
        own = {"body", "bodies", "joint", "motion", "build", "save", "name"}
        assert not own & {row.method for row in CATALOGUE}

    def test_a_misspelt_method_is_told_apart(self):
        with pytest.raises(AttributeError, match="revolut"):
            _ = mbssa.Builder("planar").revolut


def test_a_saved_builder_keeps_its_numbers_and_units(tmp_path):
    m = mbssa.Builder("planar", name="bar", length="mm", angle="deg").body("crank", points={"tip": (0, 40)})
    m = m.bodies("rod", "rocker").revolute("frame", "crank", point=(0, 0), driven=True)
    m = m.revolute("crank", "rod", point="crank.tip").revolute("rod", "rocker", point=(120, 80))
    m = m.revolute("frame", "rocker", point=(100, 0)).motion({"1-2.angle": {"law": "speed", "rate": 360}})
    path = tmp_path / "bar.toml"
    assert m.save(path) == []
    text = path.read_text()
    assert all(part in text for part in ('length = "mm"', 'point = "crank.tip"', "rate = 360", "[120, 80]"))
    again, built = mbssa.load(path), m.build()
    assert (again.joint_geometry, again.body_geometry) == (built.joint_geometry, built.body_geometry)
    assert (again.motion, again.units) == (built.motion, ("mm", "deg"))
    with pytest.raises(FileExistsError):
        m.save(path)
