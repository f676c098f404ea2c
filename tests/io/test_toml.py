"""The native format: what is read, in which units, and what a joint is called."""

import json
import math
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest
from refusals import refused

import mbssa
from mbssa.io.schema import LAWS, ModelFile

SPATIAL = """
format = 1
space = "spatial"
title = "A title"
source = "A source"
notes = ["one", "two"]
units = { length = "mm", angle = "deg" }
[[body]]
name = "slider"
origin = [0, 0, 100]
orientation = [0.5, 0.5, 0.5, 0.5]
points = { tip = [0, 0, 250] }
inertia = { mass = 2.0, centre = [0, 0, 150], moments = [3e4, 3e4, 1e4] }
visual = { mesh = "slider.stl" }
[[body]]
name = "screw"
[[joint]]
id = "guide"
bodies = ["frame", "slider"]
type = "C"
driven = ["angle"]
point = [0, 0, 10]
axis = [0, 0, 3]
limits = { slide = [-20, 20], angle = [-90, 90] }
at_reference = { slide = 5, angle = 45 }
[[joint]]
bodies = [3, "slider"]
type = "H"
driven = true
pitch = 36
frames = [{ origin = [1, 2, 3], z = [0, 0, 1], x = [1, 0, 0] }, { origin = [4, 5, 6], z = [0, 1, 0] }]
"""


def test_everything_is_kept_in_si(read):
    mechanism = read(SPATIAL)
    assert (mechanism.title, mechanism.source, mechanism.notes) == ("A title", "A source", ("one", "two"))
    assert [body.name for body in mechanism.bodies] == ["frame", "slider", "screw"]
    slider = mechanism.bodies[1].geometry
    assert slider.origin == pytest.approx((0, 0, 0.1))
    assert slider.orientation == (0.5, 0.5, 0.5, 0.5)
    assert slider.points["tip"] == pytest.approx((0, 0, 0.25))
    assert (slider.inertia.mass, slider.inertia.products) == (2.0, None)
    assert slider.inertia.centre == pytest.approx((0, 0, 0.15))
    assert slider.inertia.moments == pytest.approx((0.03, 0.03, 0.01))
    assert slider.visual == {"mesh": "slider.stl", "scale": 0.001}
    guide = mechanism.joint("guide")
    assert guide.bodies == (1, 2)
    assert guide.driven == ("angle",)
    assert guide.geometry.point == pytest.approx((0, 0, 0.01))
    assert guide.geometry.axis == (0, 0, 3)
    assert guide.geometry.limits["slide"] == pytest.approx((-0.02, 0.02))
    assert guide.geometry.limits["angle"] == pytest.approx((-math.pi / 2, math.pi / 2))
    assert dict(guide.geometry.at_reference) == pytest.approx({"slide": 0.005, "angle": math.pi / 4})
    screw = mechanism.joint("2-3")
    assert screw.bodies == (3, 2)
    assert screw.geometry.pitch == pytest.approx(0.036 / math.radians(1))
    assert screw.geometry.frames[1].origin == pytest.approx((0.004, 0.005, 0.006))
    assert screw.geometry.frames[1].x is None
    assert mechanism.has_geometry


def test_a_planar_body_has_an_angle(read):
    mechanism = read(
        'format = 1\nspace = "planar"\nunits = { angle = "deg" }\n[[body]]\norientation = 90\n'
        '[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = 1\n'
    )
    assert mechanism.bodies[1].geometry.orientation == pytest.approx((math.pi / 2,))
    assert not mechanism.has_geometry


def test_driven_by_name_count_and_true(read):
    head = 'format = 1\nspace = "spatial"\nbodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "C"\n'
    for given, driven in {
        '["angle"]': ("angle",),
        '["angle", "slide"]': ("slide", "angle"),
        "1": ("slide",),
        "true": ("slide", "angle"),
        "false": (),
        "0": (),
    }.items():
        assert read(f"{head}driven = {given}\n").joints[0].driven == driven


def test_joint_ids_are_unique_and_found_either_way_round(read):
    mechanism = read(
        'format = 1\nspace = "planar"\nbodies = 3\n'
        '[[joint]]\nbodies = [2, 1]\ntype = "R"\n'
        '[[joint]]\nbodies = [3, 2]\ntype = "R"\n'
        '[[joint]]\nbodies = [2, 3]\ntype = "P"\n'
    )
    assert [joint.id for joint in mechanism.joints] == ["1-2", "2-3", "2-3#2"]
    assert mechanism.joint("2-1").index == 0
    assert mechanism.joint("3-2#2").type.code == "P"
    assert mechanism.joint("2-3#1").type.code == "R"
    with pytest.raises(KeyError, match="ambiguous"):
        mechanism.joint("2-3")
    with pytest.raises(KeyError, match="ambiguous"):
        mechanism.joint("3-2")
    with pytest.raises(KeyError, match="no joint '1-3'"):
        mechanism.joint("1-3")


def test_columns_are_frozen(read):
    mechanism = read(SPATIAL)
    with pytest.raises(ValueError, match="read-only"):
        mechanism.joint_body[0] = 5
    with pytest.raises(TypeError):
        mechanism.joint_geometry[0] = None
    with pytest.raises(AttributeError):
        mechanism.n_bodies = 3


def test_a_path_a_string_and_a_built_in_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rotor.toml").write_text(
        'format = 1\nspace = "planar"\nbodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\n'
    )
    assert mbssa.load("rotor").n_bodies == 16
    assert mbssa.load("./rotor.toml").n_bodies == mbssa.load(tmp_path / "rotor.toml").n_bodies == 2
    assert mbssa.load("rotor.toml").name == "rotor"


def test_the_schema_describes_every_field(run_mbssa):
    printed = json.loads(run_mbssa("schema").stdout)
    assert printed == ModelFile.model_json_schema()
    assert printed["properties"]["format"]["const"] == 1
    entry = printed["$defs"]["JointEntry"]["properties"]
    described = {name for name, field in entry.items() if "description" in field}
    assert described == set(entry)
    laws = {name: printed["$defs"][name] for name in printed["$defs"] if name.endswith("Law")}
    assert len(laws) == 7
    for table in (*laws.values(), printed["$defs"]["MotionEntry"]):
        assert table["additionalProperties"] is False
        assert all("description" in field for field in table["properties"].values())
    assert printed["$defs"]["JointEntry"]["additionalProperties"] is False


def test_the_schema_accepts_what_the_reader_accepts():
    jsonschema.validate(tomllib.loads(SPATIAL), ModelFile.model_json_schema())
    jsonschema.validate(tomllib.loads(SPATIAL + MOTION), ModelFile.model_json_schema())


MOTION = """
[motion]
duration = 2
steps = 11
[motion.inputs]
"guide.angle" = { law = "harmonic", amplitude = 90, frequency = 2, phase = 180, mean = 45 }
"2-3.angle" = { law = "polynomial", coefficients = [180, 360] }
"""

#: A law in mm and degrees, and its parameters in SI.
IN_SI = {
    '{ law = "constant", value = 90 }': {"value": math.pi / 2},
    '{ law = "constant" }': {},
    '{ law = "speed", rate = 180, start = -90 }': {"rate": math.pi, "start": -math.pi / 2},
    '{ law = "ramp", end = 90, begin = 1, duration = 0.5 }': {
        "end": math.pi / 2,
        "begin": 1.0,
        "duration": 0.5,
    },
    '{ law = "spline", times = [0, 1, 3], values = [0, 90, 180] }': {
        "times": (0.0, 1.0, 3.0),
        "values": (0.0, math.pi / 2, math.pi),
    },
}


def test_a_motion_is_kept_in_si(read):
    motion = read(SPATIAL + MOTION).motion
    assert (motion.duration, motion.steps) == (2.0, 11)
    assert list(motion.inputs) == ["guide.angle", "2-3.angle"]
    harmonic, polynomial = motion.inputs.values()
    assert (harmonic.name, polynomial.name) == ("harmonic", "polynomial")
    assert harmonic.parameters == pytest.approx(
        {"amplitude": math.pi / 2, "frequency": 2.0, "phase": math.pi, "mean": math.pi / 4}
    )
    assert polynomial.parameters["coefficients"] == pytest.approx((math.pi, 2 * math.pi))
    assert read(SPATIAL).motion is None


def test_every_law_is_kept_in_si(read):
    for law in IN_SI:
        text = MOTION.replace('{ law = "polynomial", coefficients = [180, 360] }', law)
        parameters = read(SPATIAL + text).motion.inputs["2-3.angle"].parameters
        assert set(parameters) == set(IN_SI[law]), law
        for name, value in IN_SI[law].items():
            assert parameters[name] == pytest.approx(value), law


def test_the_pages_have_every_law_with_its_parameters_and_which_may_be_left_out():
    page = (Path(__file__).parents[2] / "docs/how-to/solve.md").read_text(encoding="utf-8")
    for name, table in LAWS.items():
        (row,) = re.findall(rf"^\| `{name}` \|.*\|(.*)\|$", page, flags=re.MULTILINE)
        found = {key: bool(bracket) for bracket, key in re.findall(r"(\[?)`(\w+)", row)}
        fields = table.model_fields.items()
        assert found == {key: not field.is_required() for key, field in fields if key != "law"}


def test_lengths_of_a_motion_are_lengths(read):
    text = SPATIAL.replace('driven = ["angle"]', 'driven = ["slide", "angle"]')
    text += MOTION + '"guide.slide" = { law = "speed", rate = 5 }'
    assert read(text).motion.inputs["guide.slide"].parameters == {"rate": 0.005}


class TestShorthand:
    HEAD = 'format = 1\nspace = "planar"\n[[body]]\nname = "crank"\npoints = { tip = [1, 2] }\n[[body]]\n'
    CRANK = '[[joint]]\nid = "motor"\nbodies = ["ground", "crank"]\ntype = "R"\ndriven = 1\npoint = [0, 0]\n'

    def test_ground_is_the_frame(self, read):
        assert read(self.HEAD + self.CRANK + '[[joint]]\nbodies = ["ground", 3]\ntype = "P"\n').joint(
            "1-3"
        ).bodies == (1, 3)

    def test_no_movable_body_is_called_the_frame(self, read):
        for name in ["ground", "frame"]:
            with pytest.raises(
                mbssa.ModelError,
                match=rf"\[\[body\]\] 2 \({name}\): name '{name}' is taken by the fixed body",
            ):
                read(f'{self.HEAD}name = "{name}"\n{self.CRANK}')

    def test_a_point_of_a_body_is_its_coordinates(self, read):
        joints = '[[joint]]\nbodies = [2, 3]\ntype = "R"\npoint = "crank.tip"\n'
        joints += '[[joint]]\nbodies = [1, 3]\ntype = "ROD"\npoints = [[0, 5], "3.end"]\n'
        units = 'units = { length = "mm" }\n'
        text = self.HEAD.replace("[[body]]\nname", f"{units}[[body]]\nname")
        mechanism = read(f"{text}points = {{ end = [4, 0] }}\n{self.CRANK}{joints}")
        assert mechanism.joint("2-3").geometry.point == pytest.approx((1e-3, 2e-3))
        assert mechanism.joint("1-3").geometry.points[1] == pytest.approx((4e-3, 0))

    def test_points_that_there_are_not_are_faults_beside_others(self, read):
        joints = '[[joint]]\nbodies = [2, 3]\ntype = "R"\npoint = "crank.tpi"\naxis = [1, 0]\n'
        joints += '[[joint]]\nbodies = [1, 3]\ntype = "ROD"\npoints = ["x", "y"]\n'
        with pytest.raises(mbssa.ModelError) as caught:
            read(self.HEAD + self.CRANK + joints)
        assert [str(fault) for fault in caught.value.faults] == [
            "[[joint]] 2 (2, 3) point: 'crank.tpi' is no point of a body; did you mean 'crank.tip'? "
            "the points are crank.tip",
            "[[joint]] 3 (1, 3) points[1]: 'x' is no point of a body; the points are crank.tip",
            "[[joint]] 3 (1, 3) points[2]: 'y' is no point of a body; the points are crank.tip",
            "[[joint]] 2 (2, 3) axis: an R does not read it; it takes point, frames",
        ]

    def test_bodies_name_a_joint_that_has_an_id(self, read):
        for name in ["motor", "1-2", "2-1", "1-2#1"]:
            mechanism = read(
                f"{self.HEAD}{self.CRANK}[[joint]]\nbodies = [2, 3]\ntype = 'R'\n"
                f"[motion.inputs]\n'{name}.angle' = {{ law = 'speed', rate = 2 }}\n"
            )
            assert mechanism.joint(name).id == "motor", name
            assert list(mechanism.motion.inputs) == ["motor.angle"], name
            assert mbssa.with_inputs(mechanism, f"{name}.angle").driven_coordinates == ("motor.angle",), name

    def test_two_laws_of_one_coordinate_are_a_fault(self, read):
        law = "{ law = 'constant' }"
        laws = f"[motion.inputs]\n'1-2.angle' = {law}\n'motor.angle' = {law}\n"
        with refused("unknown at [motion] 1-2.angle"):
            read(f"{self.HEAD}{self.CRANK}[[joint]]\nbodies = [2, 3]\ntype = 'R'\n{laws}")

    def test_ids_go_before_bodies_and_several_joints_are_ambiguous(self, read):
        mechanism = read(
            'format = 1\nspace = "planar"\nbodies = 3\n'
            '[[joint]]\nid = "2-3"\nbodies = [1, 2]\ntype = "R"\n'
            '[[joint]]\nid = "pin"\nbodies = [2, 3]\ntype = "R"\n'
            '[[joint]]\nid = "slot"\nbodies = [3, 2]\ntype = "P"\n'
        )
        assert mechanism.joint("2-3").index == 0
        assert mechanism.joint("1-2").index == 0
        assert mechanism.joint("2-3#2").id == "slot"
        other = read(
            'format = 1\nspace = "planar"\nbodies = 3\n[[joint]]\nbodies = [1, 2]\ntype = "R"\n'
            '[[joint]]\nid = "pin"\nbodies = [2, 3]\ntype = "R"\n'
            '[[joint]]\nid = "slot"\nbodies = [3, 2]\ntype = "P"\n'
        )
        assert other.joint("3-2#1").id == "pin"
        with pytest.raises(KeyError, match="ambiguous: write 2-3#1"):
            other.joint("2-3")


class TestPins:
    """A U whose pins its rod gives: the second, or both where the rod ends in an S."""

    HEAD = 'format = 1\nspace = "spatial"\nbody = [{ name = "rod" }, { name = "ram" }, { name = "top" }]\n'
    TOP = '[[joint]]\nbodies = ["ground", "top"]\ntype = "F"\n'

    @staticmethod
    def joint(a, b, code, more=""):
        return f'[[joint]]\nbodies = ["{a}", "{b}"]\ntype = "{code}"\n{more}\n'

    def leg(self, axes="", last="S", more="", ends="frame rod"):
        joints = self.joint(*ends.split(), "U", f"point = [1, 0, 0]\n{axes}")
        joints += self.joint("rod", "ram", "P", "axis = [1, 2, 3]")
        joints += self.joint("ram", "top", last, f"point = [2, 2, 3]\n{more}")
        return self.HEAD + joints + self.TOP

    @pytest.mark.parametrize("ends", ["frame rod", "rod frame"])
    def test_both_are_perpendicular_to_a_rod_that_ends_in_a_sphere(self, read, np, ends):
        first, second = read(self.leg(ends=ends)).joints[0].geometry.axes
        line = np.array([1.0, 2.0, 3.0])
        assert np.allclose([np.dot(first, line), np.dot(second, line), np.dot(first, second)], 0, atol=1e-12)

    def test_the_second_follows_from_the_first(self, read, np):
        first, second = read(self.leg("axes = [[0, 1, 0]]")).joints[0].geometry.axes
        assert first == (0, 1, 0)
        assert second == pytest.approx(np.array([-3, 0, 1]) / np.sqrt(10)) or second == pytest.approx(
            np.array([3, 0, -1]) / np.sqrt(10)
        )

    def test_pins_that_decide_of_the_motion_have_no_default(self, read):
        with refused("missing at [[joint]] 1 (frame, rod) axes"):
            read(self.leg(last="U", more="axes = [[1, 0, 0], [0, 1, 0]]"))

    @pytest.mark.parametrize("axes", ["", "axes = [[0, 1, 0]]\n"])
    def test_no_pins_are_missing_where_the_rod_may_be_a_body_that_does_not_exist(self, read, axes):
        leg = self.leg(axes + "limits = { angle = [0, 1] }").replace('"ram", "top"', '"arm", "top"')
        with refused(
            "unknown at [[joint]] 1 (frame, rod) limits.angle", "unknown at [[joint]] 3 (arm, top) bodies"
        ):
            read(leg)

    def test_a_first_pin_along_the_rod_gives_no_second(self, read):
        with refused("value at [[joint]] 1 (frame, rod) axes"):
            read(self.leg("axes = [[1, 2, 3]]"))

    def test_a_body_of_three_joints_is_no_rod(self, read):
        with refused("missing at [[joint]] 1 (frame, rod) axes"):
            read(self.leg() + self.joint("rod", "top", "SPSP", "points = [[0, 0, 0], [1, 1, 1]]"))
