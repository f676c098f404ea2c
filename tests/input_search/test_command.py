"""``mbssa transform`` and ``mbssa transformations``: what they print, write and refuse, and how they end."""

import csv
import io
import json
import os
import re
import sqlite3

import pytest

from mbssa.input_search.search import transform
from mbssa.io import load, written_text
from mbssa.store import VERSION

#: A query about the rotor that takes a fraction of a second: 3 of these, 220 distributions.
SOME = ("rotor", "--allow", "1-2,1-3,1-4,1-13,8-9,9-11,9-13,13-15,15-16,1-10.angle_1,11-14.angle_1")
BEST = ["1-13.slide", "8-9.angle", "13-15.angle"]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with two searches of the rotor and one of a four-bar."""
    place = tmp_path_factory.mktemp("store") / "searches.sqlite"
    rotor, allow = load(SOME[0]), SOME[2].split(",")
    for mechanism, options in (
        (rotor, {"allow": allow}),
        (rotor, {"allow": allow, "forbid": ["1-2"]}),
        (load("planar_four_bar"), {}),
    ):
        transform(mechanism, store=place, **options)
    return str(place)


class TestTransform:
    def test_the_page_says_what_was_asked_looked_at_and_found(self, run_mbssa):
        done = run_mbssa("transform", *SOME, "--top", "2")
        assert done.exit_code == 0
        assert done.stderr.endswith(" actuation schemes\n")
        head, counts, valid, own, order, *table = done.stdout.splitlines()
        assert head == "rotor: Helicopter rotor control, original inputs"
        assert counts.endswith("all evaluated")
        assert "valid (full rank at the given geometry)" in valid
        assert own.startswith("its own inputs 9-13.angle, 13-15.angle, 11-14.angle_1: 7 groups")
        assert order == "best by groups,largest,closed,cost:"
        assert ", ".join(BEST) in table[3]
        assert table[3].split()[-12:-7] == ["9", "2", "6", "2", "9"]
        assert "more rows" in done.stdout

    def test_json_has_the_keys_of_a_transformation_and_decompose_agrees(self, run_mbssa):
        done = run_mbssa("transform", *SOME, "--top", "3", "--format", "json")
        data = json.loads(done.stdout)
        assert data["complete"]
        assert data["rows"][0]["inputs"] == BEST
        assert set(data["rows"][0]) == {
            "inputs", "n_groups", "largest", "levels", "width", "closed_forms", "cost", "valid", "sets",
            "valid_sets", "alike", "alike_valid", "margin", "pairs", "verdict", "groups", "types",
        }  # fmt: skip
        for row in data["rows"]:
            options = ("decompose", "rotor", "--inputs", ",".join(row["inputs"]), "--format", "json")
            structure = json.loads(run_mbssa(*options).stdout)
            assert len(structure["groups"]) == row["n_groups"]
            assert len(structure["levels"]) == row["levels"]
            assert [group["bodies"] for group in structure["groups"]] == row["groups"]

    def test_a_row_becomes_a_model_file(self, run_mbssa, tmp_path):
        path = tmp_path / "best.toml"
        done = run_mbssa("transform", *SOME, "--top", "1", "--row", "2", "--save", str(path))
        assert done.exit_code == 0
        assert "best.toml does not keep" not in done.stderr
        second = json.loads(run_mbssa("transform", *SOME, "--format", "json").stdout)["rows"][1]
        saved = load(path)
        driven = [f"{joint.id}.{name}" for joint in saved.joints for name in joint.driven]
        assert driven == second["inputs"]
        assert json.loads(run_mbssa("decompose", str(path), "-f", "json").stdout)["determined"]

    def test_a_saved_row_keeps_units_and_comments(self, run_mbssa, tmp_path):
        path = tmp_path / "best.toml"
        before = written_text("theo_jansen").splitlines()
        run_mbssa("transform", "theo_jansen", "--require", "1-4", "--row", "1", "--save", str(path))
        after = path.read_text().splitlines()
        assert set(after) - set(before) <= {'driven = ["angle"]'}
        assert 'length = "cm"' in after
        assert {line for line in before if "#" in line and "[motion]" not in line} <= set(after)
        assert [joint.id for joint in load(path).joints if joint.driven] == ["1-4"]

    def test_csv_and_markdown_have_the_rows_too(self, run_mbssa, tmp_path):
        rows = list(csv.reader(io.StringIO(run_mbssa("transform", *SOME, "--format", "csv").stdout)))
        assert rows[0][:3] == ["Row", "Inputs", "Groups"]
        assert rows[1][:3] == ["1", ", ".join(BEST), "9"]
        assert len(rows) == 11
        path = tmp_path / "answer.md"
        assert run_mbssa("transform", *SOME, "--format", "markdown", "-o", str(path)).stdout == ""
        assert f"| 1 | {', '.join(BEST)} | 9 |" in path.read_text()

    def test_the_front_of_two_criteria_is_listed_and_drawn(self, run_mbssa, tmp_path):
        path = tmp_path / "front.svg"
        options = ("--pareto", "groups,levels", "--plot", str(path), "--format", "json", "--top", "99")
        rows = json.loads(run_mbssa("transform", *SOME, *options).stdout)["rows"]
        values = [(row["n_groups"], row["levels"]) for row in rows]
        assert len(values) > 1
        assert values == sorted(values, reverse=True)
        assert [levels for _, levels in values] == sorted({levels for _, levels in values}, reverse=True)
        assert 'id="front"' in path.read_text()

    def test_a_criterion_decides_the_order(self, run_mbssa):
        rows = json.loads(
            run_mbssa("transform", *SOME, "--criterion", "-1*groups", "-f", "json", "--top", "400").stdout
        )["rows"]
        groups = [row["n_groups"] for row in rows]
        assert groups == sorted(groups)
        assert groups[0] < groups[-1]

    def test_sets_that_are_not_valid_are_listed_where_asked_for(self, run_mbssa):
        options = ("transform", "rotor", "--allow", "13-15,1-2,4-7", "--top", "100", "--format", "json")
        valid = json.loads(run_mbssa(*options).stdout)["rows"]
        every = json.loads(run_mbssa(*options, "--all").stdout)["rows"]
        assert all(row["verdict"] == "valid" for row in valid)
        others = [row for row in every if not row["valid"]]
        assert len(others) == len(every) - len(valid) > 0
        assert all("rank" in row["verdict"] for row in others)

    def test_none_valid_is_exit_1(self, run_mbssa):
        done = run_mbssa("transform", "rotor", "--allow", "9-10")
        assert done.exit_code == 1
        assert "no set of inputs is valid" in done.stdout
        assert "its own inputs" in done.stdout

    def test_no_time_is_said(self, run_mbssa):
        done = run_mbssa("transform", *SOME, "--time-limit", "0")
        assert done.exit_code == 1
        assert "no valid set of inputs was found" in done.stdout
        assert "the time limit was reached" in done.stdout

    def test_bad_input_is_refused_with_all_its_faults(self, run_mbssa, tmp_path, monkeypatch):
        for options, message in [
            (
                (
                    "--allow",
                    "1-99",
                    "--forbid",
                    "2-5.x",
                    "--inputs",
                    "0",
                    "--criterion",
                    "grups",
                    "--row",
                    "1",
                    "--pareto",
                    "a",
                    "--plot",
                    "x.gif",
                ),
                [
                    "7 faults",
                    "--allow: no joint '1-99'",
                    "--forbid: ",
                    "--inputs: 0",
                    "did you mean 'groups'",
                    "--row and --save",
                    "--pareto a: write two of",
                    "x.gif",
                ],
            ),
            (("--inputs", "5"), ["5 inputs for 3 free motions; write 3"]),
            (("--terminal", "99", "--per-joint", "0"), ["--terminal: no body '99'", "--per-joint: 0 is"]),
            (("--row", "5000", "--save", "out.toml"), ["--row 5000: there are"]),
            (("--row", "1", "--save", "out.yaml"), ["--save out.yaml: ends in none of .toml, .m"]),
            (("--output", "nowhere/x"), ["there is no folder nowhere"]),
            (("--output", "x.csv", "--row", "1", "--save", "x.csv"), ["name another file"]),
            (("--output", "s", "--store", "s"), ["--output s: s is read by this run; name another file"]),
            (("--store", "nowhere/s"), ["--store nowhere/s: there is no folder nowhere"]),
            (("--require", " , "), ["'--require': names nothing"]),
            (("--criterion", ""), ["--criterion"]),
            (("--require", "1-2", "--forbid", "1-2"), ["--require: 1-2 is forbidden too"]),
        ]:
            monkeypatch.chdir(tmp_path)
            done = run_mbssa("transform", *SOME, *options)
            assert done.exit_code == 2, options
            for text in message:
                assert text in done.stderr, (options, text)
            assert not list(tmp_path.iterdir()), options


class TestStores:
    def test_the_searches_are_listed(self, run_mbssa, store):
        done = run_mbssa("transformations", store)
        assert done.exit_code == 0
        assert re.findall(r"^ *(\d) +([a-z]\w+)", done.stdout, re.MULTILINE) == [
            ("1", "rotor"), ("2", "rotor"), ("3", "planar_four_bar")
        ]  # fmt: skip
        data = json.loads(run_mbssa("transformations", store, "--format", "json").stdout)
        assert data[0]["best"]["inputs"] == BEST
        assert data[1]["question"].endswith("forbid 1-2")
        assert all(search["complete"] for search in data)

    def test_rows_are_those_of_the_search_filtered_and_sorted(self, run_mbssa, store):
        whole = json.loads(run_mbssa("transform", *SOME, "-f", "json", "--top", "500").stdout)["rows"]
        options = ("transformations", store, "--search", "1", "--format", "json", "--top", "500")
        rows = json.loads(run_mbssa(*options).stdout)
        keys = set(rows[0]) & set(whole[0])
        assert {"inputs", "n_groups", "largest", "cost", "valid_sets", "margin", "pairs"} <= keys
        margins = [[row["margin"] for row in each] for each in (rows, whole)]
        assert margins[0] == pytest.approx(margins[1], rel=1e-12)
        keys.remove("margin")
        assert [{key: row[key] for key in keys} for row in rows] == [
            {key: row[key] for key in keys} for row in whole
        ]
        some = json.loads(
            run_mbssa(*options, "--where", "groups>=8 and open=0", "--sort", "levels,cost").stdout
        )
        expected = [row for row in whole if row["n_groups"] >= 8 and row["closed_forms"] == row["n_groups"]]
        expected.sort(key=lambda row: (row["levels"], row["cost"]))
        assert [row["inputs"] for row in some] == [row["inputs"] for row in expected]
        assert 0 < len(some) < len(whole)

    def test_searches_of_one_model_are_told_apart(self, run_mbssa, store):
        done = run_mbssa("transformations", store, "--model", "rotor", "--sort", "2*groups-1*largest")
        assert done.stdout.splitlines()[1].split()[-1] == "Search"

    def test_a_row_is_had_back_from_the_store_alone(self, run_mbssa, store, tmp_path):
        path = tmp_path / "second.toml"
        options = ("--model", "rotor", "--where", "groups>=9", "--row", "1", "--save", str(path))
        assert run_mbssa("transformations", store, *options).exit_code == 0
        data = json.loads(run_mbssa("decompose", str(path), "--format", "json").stdout)
        assert len(data["groups"]) == 9

    def test_what_cannot_be_asked_is_refused(self, run_mbssa, store, tmp_path, monkeypatch):
        for options, message in [
            (("--model", "stewart"), "no such search; the searches are 1 (rotor), 2 (rotor)"),
            (("--where", "groups~3", "--where", "grups>1", "--sort", "x"), "3 faults"),
            (("--where", "groups>=8; DROP TABLE x"), "--where 'groups>=8; DROP TABLE x'"),
            (("--model", "rotor", "--row", "999", "--save", "x.toml"), "--row 999: there are"),
            (("--row", "1"), "--row and --save"),
        ]:
            monkeypatch.chdir(tmp_path)
            done = run_mbssa("transformations", store, *options)
            assert done.exit_code == 2, options
            assert message in done.stderr, options
            assert not list(tmp_path.iterdir()), options

    def test_nothing_found_is_exit_1(self, run_mbssa, store):
        assert run_mbssa("transformations", store, "--where", "groups>=99").exit_code == 1

    def test_files_that_are_no_store_are_named_and_left_alone(self, run_mbssa, tmp_path):
        text, other, newer = (tmp_path / name for name in ("text", "other", "newer"))
        text.write_text("notes of mine " * 500)
        for path, statement in (
            (other, "CREATE TABLE theirs (a)"),
            (newer, f"PRAGMA user_version = {VERSION + 1}"),
        ):
            if path == newer:
                run_mbssa("transform", "planar_four_bar", "--store", str(newer))
            connection = sqlite3.connect(path)
            connection.execute(statement)
            connection.commit()
            connection.close()
        for path, message in ((text, "no store"), (other, "another program's"), (newer, "a newer version")):
            before = path.read_bytes()
            for command in (("transform", "planar_four_bar", "--store"), ("transformations",)):
                done = run_mbssa(*command, str(path))
                assert done.exit_code == 2
                assert message in done.stderr
                assert "MBSSA_STORE" not in done.stderr
            if path != other:  # SQLite notes in it how it was opened
                assert path.read_bytes() == before
        missing = run_mbssa("transformations", str(tmp_path / "missing"))
        assert (missing.exit_code, "there is no such file" in missing.stderr) == (2, True)
        assert not (tmp_path / "missing").exists()

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_store_that_may_not_be_written_is_named(self, run_mbssa, tmp_path):
        place = tmp_path / "store"
        run_mbssa("transform", "planar_four_bar", "--store", str(place))
        place.chmod(0o444)
        tmp_path.chmod(0o555)
        done = run_mbssa("transform", "planar_four_bar", "--store", str(place))
        tmp_path.chmod(0o755)
        assert done.exit_code == 2
        assert "give leave to write it" in done.stderr


def test_a_model_that_exists_is_replaced_by_force_alone(run_mbssa, tmp_path):
    path = tmp_path / "precious.toml"
    path.write_text("mine")
    options = ("transform", *SOME, "--row", "1", "--save", str(path))
    refused = run_mbssa(*options)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert path.read_text() == "mine"
    assert run_mbssa(*options, "--force").exit_code == 0
    assert path.read_text() != "mine"


@pytest.mark.slow
def test_the_examples_of_the_help_run(run_mbssa, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = " ".join(run_mbssa("transform", "--help").stdout.split())
    examples = re.findall(r"Example: mbssa (transform .*?)(?= Example:| Arguments:|$)", text)
    assert len(examples) == 3
    for example in examples:
        assert run_mbssa(*example.split()).exit_code == 0, example
