"""A joint type is one file: a toy type in this file is counted, checked, solved, drawn and documented."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import groups
import mbssa
from mbssa.io.records import from_record
from mbssa.joints import CATALOGUE, blocks, catalogue, joint_type, register
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType
from mbssa.reports.joints import coverage_of

ROOT = Path(mbssa.__file__).parents[1]

#: Where types are named: their own files, chains of bodies that are data, and the joints of other formats.
NAMED = ("mbssa/joints/types/", "groups/solvers/library.py", "mbssa/io/robots/robot.py")

#: Schoenflies motion: all translations, and rotation about a direction that both bodies share.
SCHOENFLIES = JointType(
    code="XXXR",
    space="spatial",
    name="Schoenflies",
    coordinates=("slide_x", "slide_y", "slide_z", "angle"),
    required=("point", "axis"),
    table3=False,
    pair=Equations(
        blocks.ALIGNED,
        (blocks.X, blocks.Y, blocks.Z, blocks.ANGLE),
        blocks.steps("Tx0 Ty1 Tz2 Rz3"),
        blocks.SAME_SENSE,
    ),
    symbol="*",
    signs="slide_x, slide_y, slide_z: along the first body's axes; angle: about the axis.",
    example="""
[[joint]]
bodies = [1, 2]
type = "XXXR"
point = [0.3, 0.1, 0.0]
axis = [0.0, 0.0, 1.0]
""",
)


@pytest.fixture
def schoenflies():
    yield register(SCHOENFLIES)
    assert CATALOGUE.pop() is SCHOENFLIES
    del catalogue._BY_KEY["XXXR", "spatial"], catalogue.TYPE_ORDER["XXXR"]


@pytest.fixture
def tilted(schoenflies):
    """A crank tilts a body that turns in it, against a ball in the frame."""
    joints = [
        {"bodies": [1, 2], "type": "R", "point": [0, 0, 0], "axis": [1, 0, 0], "driven": ["angle"]},
        {"bodies": [2, 3], "type": "XXXR", "point": [0, 0, 0.2], "axis": [0, 0, 1], "driven": ["angle"]},
        {"bodies": [1, 3], "type": "S", "point": [0.4, 0.1, 0.3]},
    ]
    law = {"law": "speed", "rate": 1.0}
    motion = {"duration": 1.0, "steps": 5, "inputs": {"1-2.angle": law, "2-3.angle": {**law, "rate": -2.0}}}
    record = {"format": 1, "space": "spatial", "bodies": 3, "joint": joints, "motion": motion}
    return from_record(record, "tilted", "tilted")


class TestAToyType:
    def test_is_counted_and_named(self, tilted):
        structure = mbssa.decompose(tilted)
        assert structure.determined
        assert [group.type_name for group in structure.groups] == ["1R3D", "1S1XXXR3D"]

    def test_is_checked(self, tilted):
        report = mbssa.check(tilted)
        assert report.solvable
        # Its two tilts, the five of the hinge and the three of the ball, in general and as it stands.
        assert report.generic.constraints.rank == report.numeric.constraints.rank == 10
        loose = replace(tilted, driven=np.array([1, 0, 0], dtype=np.uint8))
        assert not mbssa.check(loose).solvable

    def test_is_solved(self, tilted):
        found = groups.build(mbssa.decompose(tilted)).solve(compiled=False)
        assert found.status.max() == 0
        t = found.time
        about_x = np.stack([np.cos(t / 2), np.sin(t / 2), 0 * t, 0 * t], axis=1)
        assert found.body(2).orientation == pytest.approx(about_x, abs=1e-12)
        # R_x(t) R_z(-2t), and the ball stays where it is.
        both = np.stack(
            [
                np.cos(t / 2) * np.cos(t),
                np.sin(t / 2) * np.cos(t),
                np.sin(t / 2) * np.sin(t),
                -np.cos(t / 2) * np.sin(t),
            ],
            axis=1,
        )
        third = found.body(3)
        assert third.orientation == pytest.approx(both, abs=1e-12)
        w, v = third.orientation[:, :1], third.orientation[:, 1:]
        ball = np.tile([0.4, 0.1, 0.3], (len(t), 1))
        turned = ball + 2 * np.cross(v, np.cross(v, ball) + w * ball)
        assert third.position + turned == pytest.approx(ball, abs=1e-12)
        arm = ball - third.position
        assert third.velocity[:, :3] + np.cross(third.velocity[:, 3:], arm) == pytest.approx(0.0, abs=1e-12)

    def test_is_drawn(self, tilted):
        pytest.importorskip("matplotlib")
        from groups.pictures.drawing import mechanism_at

        figure = mechanism_at(groups.build(mbssa.decompose(tilted)).solve(compiled=False), 2)
        (axes,) = figure.axes
        assert "*" in {line.get_marker() for line in axes.lines}
        assert "XXXR schoenflies" in {text.get_text() for legend in figure.legends for text in legend.texts}

    def test_is_documented(self, schoenflies, run_mbssa, read):
        page = run_mbssa("joints", "xxxr")
        assert page.stdout.startswith("XXXR: Schoenflies, spatial\n")
        assert page.stdout.rstrip().endswith(SCHOENFLIES.example_file)
        assert read(SCHOENFLIES.example_file).joints[-1].type is schoenflies
        assert coverage_of(schoenflies).names == ("tilt x", "tilt y")

    def test_is_refused_twice_or_with_equations_of_both_kinds(self, schoenflies):
        with pytest.raises(ValueError, match="duplicate"):
            register(SCHOENFLIES)
        with pytest.raises(ValueError, match="relations"):
            register(replace(SCHOENFLIES, code="XXX", relations=print))
        assert joint_type("XXXR", "spatial") is schoenflies


CODES = {row.code for row in CATALOGUE}


def codes_in(tree):
    """Lines that name a type: codes of several letters, and letters compared or listed with their like."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in CODES and len(node.value) > 1:
            yield node.lineno
        elements = []
        if isinstance(node, ast.Compare):
            if not any(
                isinstance(part, ast.Attribute | ast.Name) and "code" in ast.unparse(part)
                for part in (node.left, *node.comparators)
            ):
                continue
            elements = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("joint_type"):
            elements = node.args
        elif isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) > 1:
            elements = node.elts if all(isinstance(each, ast.Constant) for each in node.elts) else []
            elements = elements if {each.value for each in elements} <= CODES else []
        elif isinstance(node, ast.Dict):
            keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            elements = node.keys if keys and {*keys} <= CODES else []
        if any(isinstance(each, ast.Constant) and each.value in CODES for each in elements):
            yield node.lineno


def test_no_module_branches_on_the_code_of_a_type():
    quoted = re.compile("|".join(f"[\"']{code}[\"']" for code in sorted(CODES)))
    found = []
    for package in ("mbssa", "groups", "routes"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
            if not name.startswith(NAMED) and quoted.search(text):
                found += [f"{name}:{line}" for line in codes_in(ast.parse(text))]
    assert found == []
    for part in (ROOT / "groups/pictures/viewer").glob("*.js"):
        assert not set(re.findall(r"""["']([A-Z]{2,})["']""", part.read_text("utf-8"))) & CODES, part.name


def test_a_branch_on_a_code_is_found_and_other_letters_are_none():
    for line in (
        'row.code in ("R", "PL")',
        'kind.code == "R"',
        '_BALLS = {"S", "C"}',
        'wanted = {"R": 1, "P": 2}',
        'x = joint_type("R", space)',
        'y = name == "SPSP"',
    ):
        assert list(codes_in(ast.parse(line))), line
    for line in ('array.layout == "C"', 'Option(metavar="S")', 'np.require(a, ["C", "W"])'):
        assert not list(codes_in(ast.parse(line))), line
