"""The command partition as a stranger uses it."""

import csv
import io
import json
import re

import pytest
from synthetic import dyads

import mbssa


def test_page_has_cuts_kinds_sets_and_rivals(run_mbssa):
    done = run_mbssa("partition", "suspension")
    assert done.exit_code == 0
    for text in ("ball cut at 4-6", "v, dependent: 3-4.angle, 2-6.angle", "pivoted QR", "set_qv([3, 5])"):
        assert text in done.stdout
    assert "\x1b" not in done.stdout


def test_json_and_csv(run_mbssa, tmp_path):
    record = json.loads(run_mbssa("partition", "suspension", "--driven", "none", "--format", "json").stdout)
    assert record["rank"] == 2
    assert len(record["independent"]) == 3
    assert record["rivals"]["structural: what the model drives"]["dependent"] == ["3-4.angle", "2-6.angle"]
    path = tmp_path / "q.csv"
    assert run_mbssa("partition", "suspension", "-f", "csv", "-o", str(path)).stdout == ""
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [row["kind"] for row in rows] == ["driven", "driven", "dependent", "driven", "dependent"]


def test_the_users_choice(run_mbssa):
    done = run_mbssa(
        "partition", "pendulum_four_bar", "--independent", "all", "--dependent", "1-3.angle,3-4.angle"
    )
    assert done.exit_code == 0
    assert "the user's own choice" in done.stdout
    assert "set_qu([1])  set_qv([2, 3])" in done.stdout
    done = run_mbssa("partition", "suspension", "--driven", "none", "--dependent", "1-2.slide,2-6.angle")
    assert done.exit_code == 2
    assert "singular: 1-2.slide" in done.stderr


def test_inputs_that_are_bound_are_exit_1_and_said(run_mbssa):
    done = run_mbssa("partition", "micromanipulator")
    assert done.exit_code == 1
    assert "4 combinations" in done.stdout


@pytest.mark.slow
def test_the_page_of_a_large_model_is_short_and_json_and_csv_have_all(run_mbssa, tmp_path):
    path = tmp_path / "chain.toml"
    mbssa.save(dyads(60), path)
    page = run_mbssa("partition", str(path)).stdout
    record = json.loads(run_mbssa("partition", str(path), "-f", "json").stdout)
    rows = run_mbssa("partition", str(path), "-f", "csv").stdout.splitlines()[1:]
    assert len(page.splitlines()) < 50
    assert max(map(len, page.splitlines())) < 200
    more = re.search(r"… and (\d+) more coordinates; --format json or csv has all", page)
    shown = re.findall(r"^ +\d+ +\S+\.\w+ ", page, re.MULTILINE)
    assert len(shown) + int(more[1]) == record["n"] == len(record["coordinates"]) == len(rows)
    assert f"v, dependent ({record['rank']}): " in page


def test_at_a_time_of_the_motion(run_mbssa):
    at = json.loads(run_mbssa("partition", "suspension", "--at", "0.05", "-f", "json").stdout)
    values = {each["name"]: each["value"] for each in at["coordinates"]}
    assert values["4-5.angle"] == pytest.approx(0.05 * 2 * 3.141592653589793)
    assert at["time"] == pytest.approx(0.05)
    near = run_mbssa("partition", "suspension", "--at", "0.0512").stdout
    assert "t = 0.05 s" in near
    assert "t = " not in run_mbssa("partition", "suspension").stdout
    assert "0 to 1 s" in run_mbssa("partition", "suspension", "--at", "2").stderr


def test_sweep_through_the_dead_point(run_mbssa, tmp_path):
    picture, page = tmp_path / "dead.svg", tmp_path / "dead.txt"
    done = run_mbssa(
        "partition", "pendulum_four_bar", "--sweep", "--drive", "1-3.angle", "--independent", "1-2.angle",
        "--plot", str(picture), "-o", str(page),
    )  # fmt: skip
    assert (done.exit_code, done.stderr) == (0, "")
    text = page.read_text()
    assert "at a dead point" in text
    assert "1-2.angle gives way" in text
    assert picture.read_text().startswith("<?xml")


def test_sweep_as_json(run_mbssa):
    done = run_mbssa("partition", "rotor", "--sweep", "--steps", "11", "-f", "json", "--method", "qr")
    record = json.loads(done.stdout)
    assert len(record["time"]) == len(record["choices"]["anew"]["which"]) == 11
    assert len(record["groups"]) == 7


def test_bad_options_are_exit_2_and_named(run_mbssa):
    for options, said in (
        (["--method", "lu"], "'lu' is not one of 'complete', 'qr'"),
        (["--tolerance", "2"], "--tolerance 2.0"),
        (["--drive", "1-3.angle"], "--sweep"),
        (["--steps", "3"], "--at SECONDS"),
        (["--sweep", "--at", "1", "--driven", "x"], "--driven:"),
        (["--sweep", "--drive", "1-9.angle,1-3.x"], "--drive: '1-3.x'"),
        (["--sweep", "--plot", "x.gif"], "--plot x.gif"),
        (["--sweep", "--drive", " , "], "'--drive': names nothing"),
        (["--sweep", "--independent", "all"], "dependent coordinates: 0"),
        (["--cut", "1-9"], "cuts: no joint '1-9'"),
    ):
        done = run_mbssa("partition", "pendulum_four_bar", *options)
        assert (done.exit_code, done.stdout) == (2, ""), options
        assert said in done.stderr, options
    twice = ["--independent", "1-2.angle,3-4.angle", "--dependent", "1-2.angle,3-4.angle,1-3.angle"]
    said = run_mbssa("partition", "pendulum_four_bar", *twice).stderr
    assert "1-2.angle: independent and dependent, and driven" in said
    assert "3-4.angle: independent and dependent;" in said


def test_without_geometry_the_joints_are_named(run_mbssa, tmp_path):
    path = tmp_path / "bare.toml"
    path.write_text('format = 1\nspace = "planar"\nbodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\n')
    done = run_mbssa("partition", str(path))
    assert done.exit_code == 2
    assert "1-2 R" in done.stderr


def bar(*points, bodies=4, last=(1, 4)):
    """A planar chain of hinges at these points, driven at the first, with the last one between ``last``."""
    ends = [(k, k + 1) for k in range(1, len(points))] + [last]
    joints = [
        f'[[joint]]\nbodies = [{a}, {b}]\ntype = "R"\npoint = {list(at)}\ndriven = {str(k == 0).lower()}\n'
        for k, ((a, b), at) in enumerate(zip(ends, points, strict=True))
    ]
    return f'format = 1\nspace = "planar"\nbodies = {bodies}\n' + "".join(joints)


FOUR_BAR = bar((0, 0), (0, 1), (2, 1.5), (2, 0))


def test_what_is_rigid_without_its_drives_has_no_independent_coordinates(run_mbssa, tmp_path):
    path = tmp_path / "truss.toml"
    path.write_text(FOUR_BAR + '[[joint]]\nbodies = [1, 3]\ntype = "R"\npoint = [1, 3]\n')
    done = run_mbssa("partition", str(path))
    assert done.exit_code == 1
    rows = {line.strip().split("  ")[0]: line for line in done.stdout.splitlines()}
    assert rows["complete pivoting"].split()[2] == "none"
    assert "1 bound" in rows["structural: what the model drives"]


def test_a_structural_choice_that_lacks_inputs_is_said_to_be_filled_up(run_mbssa, tmp_path):
    path = tmp_path / "five.toml"
    path.write_text(bar((0, 0), (0, 1), (1, 2), (2, 1), (2, 0), bodies=5, last=(1, 5)))
    assert "structural: what the model drives, and pivots" in run_mbssa("partition", str(path)).stdout
    assert "and pivots" not in run_mbssa("partition", "suspension").stdout


def test_no_file_is_written_over_one_that_is_read_or_written(run_mbssa, tmp_path):
    path, picture = tmp_path / "bar.toml", tmp_path / "a.svg"
    path.write_text(FOUR_BAR)
    for options in (["--output", str(path)], ["--sweep", "--plot", str(picture), "-o", str(picture)]):
        done = run_mbssa("partition", str(path), *options)
        assert done.exit_code == 2
        assert "name another file" in done.stderr
    assert path.read_text() == FOUR_BAR
    assert not picture.exists()


def test_a_reference_that_does_not_close_is_exit_1(run_mbssa, tmp_path):
    path = tmp_path / "open.toml"
    text = FOUR_BAR
    for point, (first, second) in {
        "[0, 0]": ("[0, 0]", "[0, 0]"),
        "[0, 1]": ("[0, 1]", "[0, 0]"),
        "[2, 1.5]": ("[0, 1]", "[0, 1]"),
        "[2, 0]": ("[9, 0]", "[0, 0]"),
    }.items():
        frames = f"frames = [{{ origin = {first} }}, {{ origin = {second} }}]"
        text = text.replace(f"point = {point}\n", f"{frames}\n")
    path.write_text(text)
    done = run_mbssa("partition", str(path))
    assert done.exit_code == 1
    assert "cannot be assembled" in done.stderr


def test_other_inputs_that_cannot_be_moved_so_far_are_exit_1(run_mbssa):
    """The rocker of a crank-rocker makes no turn."""
    done = run_mbssa("partition", "planar_four_bar", "--sweep", "--drive", "1-4")
    assert done.exit_code == 1
    assert "driven by 1-4" in done.stderr
    assert "SG-2" in done.stderr
