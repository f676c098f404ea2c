"""The table of joint types: what it says is so, and its examples are models."""

import csv
import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest

import mbssa
from mbssa.joints import CATALOGUE, joint_type, types_of
from mbssa.joints.catalogue import FREEDOM
from mbssa.joints.equations import pose
from mbssa.joints.frames import joint_frames
from mbssa.reports import joints


@pytest.fixture(scope="module")
def built_in():
    return {name: mbssa.load(name) for name in mbssa.builtin_names()}


class TestEveryType:
    def test_its_example_is_a_model_with_all_that_the_type_needs(self, read):
        for row in CATALOGUE:
            mechanism = read(row.example_file)
            joint = mechanism.joints[-1]
            assert joint.type is row, row.code
            for field in row.required:
                assert getattr(joint.geometry, field) is not None, row.code
            # Not more than a page: no field that the type does not read, which the reader would refuse.
            mbssa.decompose(mechanism, by_count=True)

    def test_its_example_keeps_to_80_columns(self):
        for row in CATALOGUE:
            assert max(map(len, row.example_file.splitlines())) <= 80, row.code

    def test_its_example_has_equations_if_it_says_so(self, read):
        for row in CATALOGUE:
            if row.code == "USER":
                continue  # its function is the user's, and not here
            mechanism = read(row.example_file)
            known = bool(joint_frames(mechanism).known[mechanism.n_joints - 1])
            assert known == (joints.coverage_of(row).equations is not None), row.code

    def test_frames_place_it_where_its_page_says_so(self, read):
        """The example's last joint, with one frame a body instead of points and axes."""
        for row in CATALOGUE:
            head, last = row.example_file.rsplit("[[joint]]", 1)
            joint = "\n".join(
                text
                for text in last.splitlines()
                if text.partition(" =")[0]
                not in ("point", "points", "axis", "axes", "limits", "at_reference")
            )
            n_bodies = 1 + re.search(r"^bodies = \[.*?\]", joint, re.MULTILINE).group().count(",")
            spatial = row.space == "spatial"
            axes = "z = [0, 0, 1], x = [1, 0, 0]" if spatial else "x = [1, 0]"
            frames = [f"{{ origin = [{0.3 * k}, 0.0{', 0.0' * spatial}], {axes} }}" for k in range(n_bodies)]
            text = f"{head}[[joint]]{joint}\nframes = [{', '.join(frames)}]\n"
            if row.takes_frames:
                assert joint_frames(read(text)).known[-1], row.code
            else:
                assert not {"point", "axis"} & {*row.required, *row.optional}, row.code

    def test_it_has_as_many_equations_as_its_grade_leaves(self):
        for row in CATALOGUE:
            found = joints.coverage_of(row)
            if found.equations is not None:
                assert found.equations == FREEDOM[row.space] - row.grade, row.code
            if row.pair is not None:
                assert len(found.names) == found.equations, row.code

    def test_it_has_a_solver_or_a_note_says_why_not(self):
        for row in CATALOGUE:
            found = joints.coverage_of(row)
            assert (found.solver == "none") == (found.equations is None), row.code
            if found.equations is None:
                assert row.note, row.code

    def test_what_can_be_driven_are_coordinates_of_its_own(self):
        for row in CATALOGUE:
            found = joints.coverage_of(row)
            assert [name for name in row.coordinates if name in found.driven] == list(found.driven), row.code

    def test_its_signs_name_every_coordinate_that_can_be_driven(self):
        for row in CATALOGUE:
            signs = row.signs
            for name in joints.coverage_of(row).driven:
                assert re.search(rf"\b{name}\b", signs), name

    def test_its_models_have_it_and_no_others(self, built_in):
        for row in CATALOGUE:
            models = joints.coverage_of(row).models
            having = [name for name, one in built_in.items() if row in [joint.type for joint in one.joints]]
            assert sorted(models) == having, row.code
            sizes = [built_in[name].n_bodies for name in models]
            assert sizes == sorted(sizes), row.code

    def test_its_page_names_all_that_a_model_file_may_say(self, run_mbssa):
        for row in CATALOGUE:
            page = run_mbssa("joints", row.code.lower(), "--space", row.space)
            assert page.exit_code == 0, row.code
            message = page.stdout
            assert message.startswith(f"{row.code}: {row.name}, {row.space}\n"), row.code
            for word in (*row.coordinates, *row.required, *row.optional):
                assert re.search(rf"^ {word} ", message, re.MULTILINE), word
            assert message.rstrip().endswith(row.example_file), row.code


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

#: What the pages say in words, of their own examples: which way the second body goes (its point, or a turn).
WAYS = {
    ("spatial", "R"): {"angle": ("turns", Z)},
    ("spatial", "P"): {"slide": ("goes", X)},
    ("spatial", "H"): {"angle": ("turns", Z)},
    ("spatial", "C"): {"slide": ("goes", Z), "angle": ("turns", Z)},
    ("spatial", "ER"): {"angle_1": ("turns", Z), "angle_2": ("turns", X)},
    ("spatial", "U"): {"angle_1": ("turns", Z), "angle_2": ("turns", X)},
    ("spatial", "S"): {"angle_x": ("turns", X), "angle_y": ("turns", Y), "angle_z": ("turns", Z)},
    ("spatial", "PL"): {"angle": ("turns", Z)},
    ("spatial", "CR"): {"slide_x": ("goes", X), "slide_z": ("goes", Z), "angle": ("turns", Z)},
    ("spatial", "SC"): {"slide": ("goes", Z)},
    ("spatial", "PC"): {"slide_x": ("goes", X), "angle_z": ("turns", Z), "angle_x": ("turns", X)},
    ("spatial", "F"): {"x": ("goes", X), "z": ("goes", Z), "angle_x": ("turns", X)},
    ("spatial", "DIST"): {"distance": ("goes", (0.3, 0.1, 0.4))},
    ("planar", "R"): {"angle": ("turns", Z)},
    ("planar", "P"): {"slide": ("goes", X)},
    ("planar", "RD"): {"roll": ("turns", Z), "slide": ("goes", X)},
    ("planar", "FP"): {"x": ("goes", X), "y": ("goes", Y), "angle": ("turns", Z)},
    ("planar", "SLOT"): {"slide": ("goes", X), "angle": ("turns", Z)},
    ("planar", "ROD"): {"azimuth": ("goes", (-0.4, 0.3, 0.0)), "angle": ("turns", Z)},
    ("planar", "DIST"): {"distance": ("goes", (0.3, 0.4, 0.0)), "azimuth": ("goes", (-0.4, 0.3, 0.0))},
}


def test_coordinates_have_the_signs_of_their_page(read):
    for space, code in WAYS:
        mechanism = read(joint_type(code, space).example_file)
        frames, rows = joint_frames(mechanism), joint_type(code, space).pair
        names = joint_type(code, space).coordinates
        start = np.zeros((1, len(names)))
        for k, name in enumerate(names):
            start[0, k] = mechanism.joints[0].geometry.at_reference.get(name, 0.0)
        if "distance" in names:
            points = mechanism.joints[0].geometry.points
            start[0, names.index("distance")] = np.linalg.norm(np.subtract(*points))
        _, _, twists = pose(rows, start, {name: value[:1] for name, value in frames.parameters.items()})
        for name, (kind, way) in WAYS[space, code].items():
            half = twists[0, :3] if kind == "goes" else twists[0, 3:]
            found = frames.axes[0, 0] @ half[:, names.index(name)]
            assert found / np.linalg.norm(found) == pytest.approx(way / np.linalg.norm(way), abs=1e-12), name


def test_a_positive_pitch_is_a_right_handed_screw(read):
    mechanism = read(joint_type("H", "spatial").example_file)
    frames = joint_frames(mechanism)
    parameters = {name: value[:1] for name, value in frames.parameters.items()}
    _, _, twists = pose(joint_type("H", "spatial").pair, np.zeros((1, 1)), parameters)
    advance, turn = frames.axes[0, 0] @ twists[0, :3, 0], frames.axes[0, 0] @ twists[0, 3:, 0]
    assert advance == pytest.approx(0.002 * turn, abs=1e-15)


def test_types_of_groups_are_told_by_their_codes_not_by_letters():
    """1SP3D has neither an S nor a P, and 1P2D no P in space."""
    assert "1SP3D" in joints.coverage_of(joint_type("SP", "spatial")).closed
    assert "1SP3D" not in joints.coverage_of(joint_type("S", "spatial")).closed
    assert "1P2D" not in joints.coverage_of(joint_type("P", "spatial")).closed
    assert "3R2D" in joints.coverage_of(joint_type("R", "planar")).closed
    assert "6R2D" in joints.coverage_of(joint_type("R", "planar")).newton


def test_the_table_has_a_line_for_every_type(run_mbssa):
    table = run_mbssa("joints").stdout
    for row in CATALOGUE:
        assert re.search(rf"^ {row.code} +{row.space} +{re.escape(row.name)} ", table, re.MULTILINE)
        assert row.note in re.sub(r"\s+", " ", table)
    planar = run_mbssa("joints", "--space", "planar").stdout
    assert "spatial" not in planar
    assert len(re.findall(r"^ [A-Z]+ +planar", planar, re.MULTILINE)) == len(types_of("planar"))


def test_all_formats_say_the_same(run_mbssa, tmp_path):
    records = json.loads(run_mbssa("joints", "-f", "json").stdout)
    sheet = list(csv.DictReader(io.StringIO(run_mbssa("joints", "-f", "csv").stdout)))
    markdown = run_mbssa("joints", "-f", "markdown").stdout.splitlines()
    assert len(records) == len(sheet) == len(markdown) - 2 == len(CATALOGUE)
    for record, line, row in zip(records, sheet, CATALOGUE, strict=True):
        assert (record["code"], record["space"]) == (line["Type"], line["Space"]) == (row.code, row.space)
        assert str(record["equations"]) == line["Equations"].replace("none", "None")
        assert record["solver"] == line["Solver"]
        assert record["example"] == row.example_file
        assert [one["name"] for one in record["coordinates"]] == list(row.coordinates)
    path = tmp_path / "joints.csv"
    assert run_mbssa("joints", "-f", "csv", "--output", str(path)).stdout == ""
    assert path.read_text() == run_mbssa("joints", "-f", "csv").stdout
    assert run_mbssa("joints", "--format", "xml").exit_code == 2


def test_a_code_of_both_spaces_has_two_pages(run_mbssa):
    message = run_mbssa("joints", "R").stdout
    assert "R: Revolute, spatial" in message
    assert "R: Revolute, planar" in message
    assert [record["space"] for record in json.loads(run_mbssa("joints", "R", "-f", "json").stdout)] == [
        "spatial",
        "planar",
    ]


def test_an_unknown_type_is_told_what_to_write(run_mbssa):
    for arguments, says in [
        (["revolution"], "did you mean 'R'"),
        (["FP", "--space", "spatial"], "planar"),
        (["Ö"], "'Ö'"),
    ]:
        result = run_mbssa("joints", *arguments)
        assert (result.exit_code, result.stdout) == (2, ""), arguments
        assert result.stderr.startswith("error: "), arguments
        assert says in result.stderr, arguments


def test_the_table_needs_no_package_that_solves():
    script = (
        "import sys; sys.argv = ['mbssa', 'joints', 'U']\n"
        "from mbssa.cli.application import application\n"
        "application()(standalone_mode=False)\n"
        "print('loaded', sorted({'groups', 'scipy', 'networkx', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded []"
