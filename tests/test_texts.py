"""Names and messages on terminals, in pages and in spreadsheets: nothing in them is a command."""

import csv
import io
import itertools
import json

import pytest
from refusals import refused

import groups
import mbssa
from mbssa.reports.table import Report
from mbssa.texts import as_cell, folded, from_cell

ESCAPES = [
    "\x1b[31mred",
    "a\x07",
    "\x9b2J",
    "x\u202egpj.exe",
    "\u2066a",
    "line\nbreak",
    "tab\t",
    "nul\x00",
    "\x7f",
]
FORMULAS = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "'=quoted", "==", "-a"]

MODEL = """format = 1
space = "planar"
title = {title}
[[body]]
name = {body}
points = {{ {point} = [0.0, 1.0] }}
[[joint]]
bodies = [1, 2]
id = {joint}
type = "R"
driven = 1
point = [0.0, 0.0]
[motion]
duration = 1.0
steps = 3
[motion.inputs]
{input} = {{ law = "speed", rate = 1.0 }}
"""


def model(tmp_path, **texts):
    given = {"title": "arm", "body": "arm", "point": "tip", "joint": "pin", **texts}
    given["input"] = f"{given['joint']}.angle"
    path = tmp_path / "model.toml"
    path.write_text(MODEL.format_map({key: json.dumps(text) for key, text in given.items()}))
    return path


def test_control_and_bidirectional_characters_are_refused(run_mbssa, tmp_path):
    for kind, text in itertools.product(["title", "body", "point", "joint"], ESCAPES):
        if kind == "title" and text.startswith(("line", "tab")):
            continue  # a title may have lines
        done = run_mbssa("decompose", str(model(tmp_path, **{kind: text})))
        assert done.exit_code == 2, (text, kind)
        assert "has the control character U+" in done.stderr, (text, kind)
        assert all(character.isprintable() or character in "\n\t" for character in done.stderr), (text, kind)


def test_other_ways_in_refuse_them_too():
    for text in ESCAPES[:5]:
        with refused("value at body 2 name"):
            mbssa.from_pairs(["frame", text], [(1, 2, "R", 1)], "planar")
        for node in (1, 2):
            graph = mbssa.to_networkx(mbssa.from_pairs(["frame", "arm"], [(1, 2, "R", 1)], "planar"))
            graph.nodes[node]["name"] = text
            with pytest.raises(mbssa.ModelError, match="control character"):
                mbssa.from_networkx(graph)


def test_messages_escape_what_they_quote(run_mbssa):
    for text, line in itertools.product(
        ESCAPES[:5],
        [
            "decompose {}",
            "decompose rotor --output {}/x",
            "check rotor --inputs {}",
            "solve rotor --motion {}.csv",
        ],
    ):
        done = run_mbssa(*(word.format(text) for word in line.split()))
        assert done.exit_code == 2, (line, text)
        assert all(character.isprintable() or character in "\n\t" for character in done.stderr), (line, text)


def test_a_file_name_is_escaped_where_it_names_the_mechanism(run_mbssa, tmp_path):
    path = model(tmp_path).rename(tmp_path / "\x1b[31mred.toml")
    done = run_mbssa("decompose", str(path))
    assert done.exit_code == 0
    assert done.stdout.startswith("\\u001b[31mred: arm")


def test_the_title_of_a_page_is_escaped():
    from dataclasses import replace

    mechanism = replace(mbssa.load("planar_four_bar"), title="</title>\x1b[31m\u202eevil")
    trajectory = groups.build(mbssa.decompose(mechanism)).solve(
        groups.default_motion(mechanism, steps=2), compiled=False
    )
    from groups.pictures.page import page_text

    page = page_text(trajectory, points=())
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "&lt;/title&gt;\\u001b[31m\\u202eevil" in page


def test_no_cell_is_a_formula(tmp_path):
    for text in FORMULAS:
        assert str(as_cell(text))[0] == "'", text
        assert from_cell(str(as_cell(text))) == text, text
        mechanism = mbssa.load(model(tmp_path, body=text, joint=text))
        trajectory = groups.build(mbssa.decompose(mechanism)).solve(compiled=False)
        trajectory.write_csv(tmp_path / "run.csv", joints="all", force=True)
        with (tmp_path / "run.csv").open(newline="") as stream:
            header = next(csv.reader(stream))
        assert len([cell for cell in header if cell.startswith(f"'{text}")]) > 3, text
        assert not [cell for cell in header if cell[0] in "=+-@"], text


def test_a_sheet_keeps_such_names(tmp_path):
    for text in FORMULAS:
        mechanism = mbssa.from_pairs(["frame", text], [(1, 2, "R", 1)], "planar")
        assert mbssa.save(mechanism, tmp_path / "sheet.csv", force=True) == [], text
        rows = csv.reader(io.StringIO((tmp_path / "sheet.csv").read_text("utf-8-sig")))
        assert not [cell for row in rows for cell in row if len(cell) > 1 and cell[0] in "=+-@"], text
        assert mbssa.load(tmp_path / "sheet.csv").body_names == ("frame", text), text


def test_a_motion_by_such_names(tmp_path):
    mechanism = mbssa.load(model(tmp_path, joint="=pin"))
    (tmp_path / "motion.csv").write_text("time,'=pin.angle\n0,0\n1,0.1\n2,0.3\n3,0.5\n")
    assert groups.read_motion(mechanism, tmp_path / "motion.csv").value[0, -1] == 0.5


def test_numbers_and_marks_stay():
    for value in ["-0.5", "+1e-3", "-", "1-2.angle", "", "=", 3, -2.5, None]:
        assert as_cell(value) == value, value


#: Numbers with units, none of which may be torn.
WHOLE = ("496.7 N in", "0.5 s", "12.5 N mm", "-3 deg/s^2", "7 rad/s²", "99 %", "1e-06 m")


def test_a_fold_leaves_numbers_and_units_together():
    text = f"from {' to '.join(WHOLE)}, at last"
    for width in range(12, len(text) + 2):
        lines = folded(text, width).splitlines()
        assert " ".join(lines) == text
        assert max(map(len, lines)) <= width
        assert all(any(whole in line for line in lines) for whole in WHOLE), width
        assert Report([text]).text(width).splitlines() == lines
    assert folded("  first\n\nsecond part", 8) == "  first\n\nsecond\npart"
