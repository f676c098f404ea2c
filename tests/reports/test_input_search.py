"""The answer of a search as text: every format says the same rows, and what was not looked at."""

import csv
import io
import json
from dataclasses import replace

import pytest

import mbssa
from mbssa.input_search.search import transform
from mbssa.reports.input_search import row_table, search_report, summary_lines


@pytest.fixture(scope="module")
def answer():
    return transform(mbssa.load("rotor"), allow=["1-2", "1-13", "9-13", "13-15", "9-10", "11-14"])


def test_every_format_has_the_same_rows(answer):
    report, table = search_report(answer, 4), row_table(answer.rows[:4])
    body = list(table.rows())
    assert list(csv.reader(io.StringIO(report.csv()))) == [list(table.columns), *map(list, body)]
    markdown = [line for line in report.markdown().splitlines() if line.startswith("| ")]
    assert markdown[2:] == ["| " + " | ".join(row) + " |" for row in body]
    text = report.text()
    for row in body:
        assert row[1] in text
    data = json.loads(report.json())
    assert [", ".join(row["inputs"]) for row in data["rows"]] == [row[1] for row in body]
    assert data["rows"] == [row.to_dict() for row in answer.rows[:4]]


def test_rows_that_are_not_printed_are_counted(answer):
    assert len(answer.rows) > 4
    assert f"… and {len(answer.rows) - 4} more rows" in search_report(answer, 4).text()
    assert "more rows" not in search_report(answer, 10_000).text()


def test_the_front_is_printed_as_one(answer):
    report = search_report(answer, 10, ("groups", "margin"))
    front = [row.to_dict() for row in answer.front("groups", "margin")[:10]]
    assert json.loads(report.json())["rows"] == front
    assert "Pareto front of groups and margin:" in report.text()


def test_counts_are_those_of_the_answer(answer):
    counts, valid, *rest = summary_lines(answer)
    assert counts == (
        f"3 inputs: {answer.n_sets:,} sets in {answer.n_distributions:,} actuation schemes; all evaluated"
    )
    assert f"{answer.n_determined:,} are determined by the mobility count, {answer.n_valid:,} valid" in valid
    assert rest[0].startswith("its own inputs 9-13.angle, 13-15.angle, 11-14.angle_1: 7 groups")
    assert rest[0].endswith("; valid")


def test_what_was_not_looked_at_is_said():
    some = transform(mbssa.load("rotor"), time_limit=0.0)
    lines = summary_lines(some)
    assert "0 evaluated, 1,576 not" in lines[0]
    assert any("were not evaluated" in line for line in lines[1:])
    assert "no valid set of inputs was found" in search_report(some, 5).text()


@pytest.mark.slow
def test_own_inputs_that_are_refused_have_their_reason():
    manipulator = mbssa.load("micromanipulator")
    driven = [joint.id for joint in manipulator.joints if joint.driven]
    answer = transform(manipulator, allow=driven)
    (own,) = [line for line in summary_lines(answer) if line.startswith("its own inputs")]
    assert "8 groups" in own
    assert "not valid: " in own
    assert "{21} 2S3D has rank 5 of 6" in own


def test_pairs_of_multiple_joints_have_a_column(answer):
    rows = answer.rows[:2]
    assert "Pairs" not in row_table(rows).columns
    table = row_table([replace(rows[0], pairs="3-4 4-6"), rows[1]])
    assert table.columns[-1] == "Pairs"
    assert [row[-1] for row in table.rows()] == ["3-4 4-6", ""]


def test_markup_in_a_title_is_printed_as_it_is():
    four_bar = replace(mbssa.load("planar_four_bar"), title="[bold]mine[/bold] [1]")
    answer = transform(four_bar)
    text = search_report(answer, 1).text()
    assert text.splitlines()[0].endswith(": [bold]mine[/bold] [1]")
