"""One table and one report for every format."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mbssa.reports.table import Heading, Report, Table, Verbatim

WIDE = Table(("Name", "Number"), [("[red]arm|1", "1"), ("=2+3", "22")], right=("Number",))


def test_a_text_escapes_no_name_and_aligns_numbers():
    lines = Report((Heading("title"), "a line", WIDE)).text().splitlines()
    assert lines[:2] == ["title", "a line"]
    assert any(line.endswith("[red]arm|1        1") for line in lines)


def test_markdown_and_csv_guard_their_own_marks():
    report = Report((Heading("title"), "a line", WIDE, Heading("more"), "last"), sheet=WIDE)
    assert report.markdown() == (
        "# title\n\na line\n\n| Name | Number |\n| --- | --- |\n| [red]arm\\|1 | 1 |\n| =2+3 | 22 |\n\n"
        "## more\n\nlast\n"
    )
    assert list(csv.reader(io.StringIO(report.csv())))[1:] == [["[red]arm|1", "1"], ["'=2+3", "22"]]


def test_json_is_the_record_and_made_when_it_is_asked_for():
    report = Report((), lambda: {"name": "Bügel", "values": [1.5, None]})
    assert json.loads(report.export("json")) == {"name": "Bügel", "values": [1.5, None]}
    assert "Bügel" in report.json()


def test_a_long_table_counts_what_a_text_leaves_out():
    made = []
    table = Table(("k",), range(1_000_000), lambda k: made.append(k) or (str(k),), shown=3)
    assert Report((table,)).text().splitlines()[-1] == "… and 999997 more rows"
    assert made == [0, 1, 2]


def test_a_table_too_wide_for_the_screen_has_its_narrow_form():
    table = replace(WIDE, narrow=replace(WIDE, columns=("N", "No"), right=("No",)))
    assert "Number" in Report((table,)).text(width=80)
    assert "Number" not in Report((table,)).text(width=15)


def test_what_is_verbatim_is_never_broken():
    path = "/a/path with blanks/" * 5
    assert Report((Verbatim(path),)).text(width=20) == path
    assert len(Report((path,)).text(width=20).splitlines()) > 1


def test_a_table_without_rows_is_left_out():
    empty = Table(("k",), ())
    assert Report((Heading("title"), empty)).text() == "title"
    assert Report((Heading("title"), empty)).markdown() == "# title\n"


def test_a_format_that_there_is_not():
    with pytest.raises(ValueError, match="unknown"):
        Report(()).export("xml")
    for form in ("json", "csv"):
        with pytest.raises(ValueError, match=f"no {form.upper()}"):
            Report(()).export(form)


def test_no_word_is_broken_however_narrow_the_screen():
    for width in [200, 40, 24, 20]:
        items = [("1-2.slide, 13-15.angle", "9"), ("8-9.angle", "12")]
        text = Report((Table(("Inputs", "Groups"), items, right=("Groups",)),)).text(width=width)
        assert {"1-2.slide,", "13-15.angle", "8-9.angle", "Inputs", "Groups", "12"} <= set(text.split()), (
            width
        )


def test_records_have_their_numbers_on_the_right_and_a_sign_where_there_is_none():
    rows = [
        {"name": "slide", "value": 0.25},
        {"name": "turn", "value": float("nan")},
        {"name": "", "value": None},
    ]
    table = Table.of(rows, {"Coordinate": ("name", ""), "Value": ("value", ".1e")})
    assert (table.columns, table.right) == (("Coordinate", "Value"), ["Value"])
    assert list(table.rows()) == [["slide", "2.5e-01"], ["turn", "–"], ["", "–"]]


def test_json_of_arrays_paths_and_numbers_that_are_not_finite():
    record = {
        "array": np.array([[1.0, np.inf]]),
        "count": np.int64(3),
        "file": Path("a.csv"),
        "pair": (1, 2.5),
    }
    found = json.loads(Report((), lambda: record).json())
    assert found == {"array": [[1.0, None]], "count": 3, "file": "a.csv", "pair": [1, 2.5]}
