"""The commands solve, solvers and modes as a stranger uses them: answers, refusals, files, Ctrl-C."""

import importlib
import json
import os
import re
import signal
from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
from groups.cli import running
from groups.engine.solve import Solving
from groups.model import Model
from groups.reports.about import modes_report, solvers_report

BAR = mbssa.load("planar_four_bar")


@pytest.fixture
def bar(tmp_path):
    """The four-bar as a file that may be changed: ``bar(old, new, …)`` gives its path."""

    def written(*changes):
        path = tmp_path / "bar.toml"
        mbssa.save(BAR, path, force=True)
        text = path.read_text()
        for old, new in zip(changes[::2], changes[1::2], strict=True):
            assert re.search(old, text), old
            text = re.sub(old, new, text)
        path.write_text(text)
        return str(path)

    return written


@pytest.fixture
def without_solving(monkeypatch):
    """Whoever solves now fails the test."""

    def solve(*_arguments, **_options):
        pytest.fail("solved before the refusal")

    monkeypatch.setattr(Model, "solve", solve)


# --- answers ---------------------------------------------------------------------------------------


def test_the_page_names_groups_inputs_figures_and_verdict(run_mbssa):
    done = run_mbssa("solve", "planar_four_bar", "--steps", "9", "--duration", "0.5")
    assert done.exit_code == 0
    for text in ("RRR dyad", "3, 4", "1-2.angle", "9 instants, t = 0 … 0.5 s", "every group was solved"):
        assert text in done.stdout
    assert "\x1b" not in done.stdout


def test_the_record_says_what_the_trajectory_says(run_mbssa):
    done = run_mbssa("solve", "planar_four_bar", "--steps", "37", "--format", "json")
    record = json.loads(done.stdout)
    motion = groups.default_motion(BAR, steps=37)
    trajectory = groups.build(mbssa.decompose(BAR)).solve(motion)
    assert (record["ok"], record["stopped"], record["instants"]) == (True, False, 37)
    assert record["largest_residual"]["value"] == trajectory.residual.max() < 1e-14
    assert record["worst_condition"]["value"] == trajectory.condition.min()
    worst = np.unravel_index(trajectory.condition.argmin(), trajectory.condition.shape)
    assert record["worst_condition"]["time"] == trajectory.time[worst[0]]
    assert record["worst_condition"]["group"] == worst[1] + 1
    (one,) = record["inputs"]
    assert (one["lowest"], one["highest"]) == (motion.value.min(), motion.value.max())
    assert [group["solved"] for group in record["groups"]] == [37, 37]


def test_a_motion_file_of_laws_and_one_of_columns_give_the_same(run_mbssa, tmp_path):
    laws, columns = tmp_path / "laws.toml", tmp_path / "columns.csv"
    laws.write_text(
        'duration = 1\nsteps = 21\n[inputs]\n"1-2.angle" = { law = "speed", rate = 1, start = 1 }'
    )
    t = np.linspace(0, 1, 21)
    columns.write_text("time,1-2.angle\n" + "\n".join(f"{now!r},{1 + now!r}" for now in t.tolist()))
    found = []
    for path in (laws, columns):
        target = tmp_path / f"{path.stem}.npz"
        assert run_mbssa("solve", "planar_four_bar", "--motion", str(path), "-o", str(target)).exit_code == 0
        found.append(groups.load_trajectory(target))
    np.testing.assert_allclose(found[0].position, found[1].position, atol=1e-12)
    np.testing.assert_allclose(found[0].acceleration, found[1].acceleration, atol=1e-9)


def test_bodies_and_levels_that_are_kept(run_mbssa, tmp_path):
    path = tmp_path / "kept.npz"
    done = run_mbssa(
        "solve",
        "planar_four_bar",
        "--steps",
        "5",
        "--keep",
        "rocker,2",
        "--level",
        "velocity",
        "-o",
        str(path),
    )
    assert done.exit_code == 0
    trajectory = groups.load_trajectory(path)
    assert trajectory.kept.tolist() == [1, 3]
    assert trajectory.velocity is not None
    assert trajectory.acceleration is None


def test_the_other_mode_is_the_mirror_image(run_mbssa, tmp_path):
    """The joint of coupler and rocker lies on the other side of the line between their other joints."""
    paths = [tmp_path / f"{number}.npz" for number in (1, 2)]
    for number, path in zip((1, 2), paths, strict=True):
        done = run_mbssa(
            "solve", "planar_four_bar", "--steps", "31", "--mode", f"2={number}", "-o", str(path)
        )
        assert done.exit_code == 0
    one, two = map(groups.load_trajectory, paths)
    pin, pivot = one.body("crank").point((0.18, 0.24)), np.array([0.9, 0.0])
    along = (pivot - pin) / np.linalg.norm(pivot - pin, axis=1)[:, None]
    ends = [each.body("rocker").point((0.9, 0.54)) - pin for each in (one, two)]
    mirrored = 2 * (ends[0] * along).sum(axis=1)[:, None] * along - ends[0]
    np.testing.assert_allclose(mirrored, ends[1], atol=1e-12)
    assert np.linalg.norm(ends[0] - ends[1], axis=1).min() > 0.1


def test_every_kind_of_file_is_written(run_mbssa, tmp_path):
    names = ["a.npz", "a.csv", "a.nc", "a.svg", "a.html"]
    arguments = [f"--output={tmp_path / name}" for name in names[:3]]
    for name in names[3:]:
        arguments.append(f"--{'plot' if name.endswith('svg') else 'animate'}={tmp_path / name}")
    done = run_mbssa("solve", "planar_four_bar", "--steps", "5", "--points", "coupler.tracer", *arguments)
    assert done.exit_code == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == sorted(names)
    assert [line.rsplit("/")[-1] for line in done.stdout.splitlines() if "written" in line] == names
    assert "coupler.tracer" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_curves_are_chosen_by_name_and_in_the_units_of_the_file(run_mbssa, tmp_path):
    path = tmp_path / "a.svg"
    asked = ["solve", "cam_roller", "--steps", "9", f"--plot={path}", "--quantity", "half=1-3.slide / 2"]
    done = run_mbssa(*asked, "--curves", "half,1-3.slide")
    assert done.exit_code == 0, done.stderr
    drawn = path.read_text(encoding="utf-8")
    assert all(
        text in drawn for text in ("half", "1-3.slide", "position (mm)", "velocity (mm/s)", "time (s)")
    )
    assert "1-2.angle" not in drawn
    done = run_mbssa(*asked, "--force", "--curves", "half,unknown")
    assert (done.exit_code, "no coordinate 'unknown'" in done.stderr) == (2, True)
    for text in ("180 - 1-2.angle", "1-2.angle + 1", "follower.x - 5"):
        done = run_mbssa(*asked, "--force", "--curves", text)
        assert (done.exit_code, "write --quantity NAME=" in done.stderr) == (2, True), text
    done = run_mbssa(*asked[:4], "--curves", "1-2")
    assert (done.exit_code, "write --plot FILE too" in done.stderr) == (2, True)


def test_columns_and_tables_are_in_the_units_of_the_file(run_mbssa, tmp_path):
    path = tmp_path / "a.csv"
    asked = ["solve", "cam_roller", "--steps", "5", "--output", str(path)]
    done = run_mbssa(*asked, "--quantities", "driven,bodies", "--bodies", "2")
    assert re.search(r"^ 1-2\.angle +0 +360 .* deg$", done.stdout, re.MULTILINE)
    assert path.read_text().startswith("time [s],1-2.angle [deg],1-2.angle.rate [deg/s],")
    degrees = path.read_text().splitlines()
    done = run_mbssa(*asked, "--quantities", "driven", "--units", "si", "--force")
    assert re.search(r"^ 1-2\.angle +0 +6\.283 .* rad$", done.stdout, re.MULTILINE)
    radians = path.read_text().splitlines()
    assert float(degrees[-1].split(",")[1]) == pytest.approx(np.degrees(float(radians[-1].split(",")[1])))
    assert len(degrees[0].split(",")) == 4 + 9
    done = run_mbssa(*asked[:4], "--joints", "1-2")
    assert "are for columns; write --output FILE.csv too" in done.stderr
    done = run_mbssa(*asked[:4], "--quantities", "driven,foo")
    assert (done.exit_code, "--quantities foo: no such kind; there are driven," in done.stderr) == (2, True)
    done = run_mbssa(*asked[:4], "--output", str(tmp_path / "b.csv"), "--joints", "7-9")
    assert done.exit_code == 2
    assert "no joint '7-9'" in done.stderr
    assert not (tmp_path / "b.csv").exists()
    asked[-1] = str(tmp_path / "c.csv")
    done = run_mbssa(*asked, "--quantity", "lift=distance(2.tip, frame.origin)", "--quantity", "a")
    assert "--quantity a: write NAME=EXPRESSION" in done.stderr
    done = run_mbssa(*asked, "--quantity", "turn=2*1-2.angle", "--quantities", "groups")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "c.csv").read_text().startswith("time [s],turn [deg],turn.rate [deg/s],")


def test_rounding_prints_as_zero(run_mbssa):
    done = run_mbssa("solve", "micromanipulator_driven", "--steps", "5")
    table = done.stdout[done.stdout.index("Driven") :].split("instants")[0]
    assert "e-1" not in table
    assert "e-2" not in table


# --- faults ----------------------------------------------------------------------------------------


def test_a_crank_that_cannot_turn_fully_is_named_and_the_rest_is_kept(run_mbssa, bar, tmp_path):
    path = bar(r"point = \[0\.18, 0\.24\]", "point = [0.45, 0.60]")
    target = tmp_path / "stuck.csv"
    done = run_mbssa("solve", path, "--steps", "361", "--output", str(target))
    assert done.exit_code == 1
    angle = groups.default_motion(BAR, steps=361).value[0] - np.arctan2(0.24, 0.18) + np.arctan2(0.60, 0.45)
    tip = 0.75 * np.array([np.cos(angle), np.sin(angle)]) - np.array([[0.9], [0.0]])
    coupler = np.hypot(0.9 - 0.45, 0.54 - 0.60)
    away = np.hypot(*tip)
    out = (away > coupler + 0.54) | (away < abs(coupler - 0.54))
    first = out.argmax() / 360
    assert "SG-2 of coupler, rocker (3R2D): out of reach" in " ".join(done.stdout.split())
    assert f"at {out.sum()} of 361 instants, first at t = {first:.6g} s" in " ".join(done.stdout.split())
    assert "closing joint 3-4" in " ".join(done.stdout.split())
    rows = np.genfromtxt(target, delimiter=",", skip_header=1)
    assert np.isnan(rows).any(axis=1).tolist() == out.tolist()


def test_inputs_that_depend_on_each_other_are_refused_with_some_that_work(run_mbssa, without_solving):
    done = run_mbssa("solve", "micromanipulator")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "4 of the 6 inputs depend on the rest" in done.stderr
    names = re.search(r"then driven: (.*)", done.stderr)[1].split(", ")
    mechanism = mbssa.load("micromanipulator")
    (proposal, *_) = mbssa.check(mechanism).proposals
    better = proposal.apply(mechanism)
    assert tuple(names) == groups.driven_coordinates(better)
    assert mbssa.check(better).solvable


def test_the_first_proposal_for_a_missing_input_can_be_solved(run_mbssa, bar):
    path = bar(r'driven = \["angle"\]\n', "", r"(?s)\[motion\].*", "")
    refused = run_mbssa("solve", path)
    assert refused.exit_code == 1
    assert "under-constrained by 1" in refused.stderr
    assert "drive 1-2.angle; then driven: 1-2.angle" in refused.stderr


@pytest.mark.parametrize("command", ["solve", "solvers", "modes"])
def test_missing_geometry_is_listed_joint_by_joint(command, run_mbssa, bar, without_solving):
    path = bar(r"(?m)^(point|at_reference) = .*\n", "")
    done = run_mbssa(command, path)
    assert done.exit_code == 1
    assert all(f"{joint} R (point)" in done.stderr for joint in ("1-2", "2-3", "3-4", "1-4"))


def test_one_input_without_a_motion_goes_through_one_turn(run_mbssa, bar):
    done = run_mbssa("solve", bar(r"(?s)\[motion\].*", ""))
    assert done.exit_code == 0
    assert "bar.toml carries no motion: 1-2.angle goes through one turn in 1 s" in done.stderr


def test_the_motion_that_is_proposed_can_be_run(run_mbssa, tmp_path):
    path = str(tmp_path / "platform.toml")
    mbssa.save(replace(mbssa.load("stewart"), motion=None), path)
    refused = run_mbssa("solve", path)
    assert refused.exit_code == 2
    proposed = re.search(r"(?s)\[motion\].*?\n\nor", refused.stderr)[0][:-2]
    file = tmp_path / "motion.toml"
    file.write_text(proposed)
    assert run_mbssa("solve", path, "--motion", str(file)).exit_code == 0
    assert "\ntime [s],2-3.slide [m]," in refused.stderr


# --- bad input -------------------------------------------------------------------------------------


#: Arguments of solve, and what is named in the refusal.
MISTAKES = [
    (["--motion", "nan.csv"], "line 3 1-2.angle"),
    (["--motion", "unsorted.csv"], "line 4 time: 0.1"),
    (["--motion", "repeated.csv"], "line 4 time: 0.2"),
    (["--motion", "none.csv"], "none.csv"),
    (["--motion", "bar.pdf"], ".toml or .csv"),
    (["--keep", "nobody,7"], "--keep: no body 'nobody'"),
    (["--keep", ","], "'--keep': names nothing"),
    (["--mode", "two"], "--mode two"),
    (["--mode", "9=1", "--keep", "x"], "2 faults"),
    (["--mode", "9=1"], "no group 9"),
    (["--mode", "2=1,2=2"], "already has mode 1"),
    (["--output", "nowhere/x.csv"], "no folder nowhere"),
    (["--output", "x.txt"], ".npz, .csv, .nc, .parquet"),
    (["--output", "folder.csv"], "is a folder"),
    (["--output", "x.csv", "--output", "./x.csv"], "x.csv: --output"),
    (["--output", "good.csv", "--motion", "good.csv"], "good.csv is read"),
    (["--output", "/proc/x.csv"], "cannot be written there"),
    (["--plot", "x.gif"], "x.gif"),
    (["--animate", "x.png"], "x.png"),
    (["--animate", "x.html", "--fps", "20"], "--frames, --fps, --width"),
    (["--animate", "x.gif", "--width", "5"], "--width = 5"),
    (["--points", "coupler.tracer"], "--plot FILE or --animate FILE"),
    (["--plot", "x.svg", "--points", ","], "'--points': names nothing"),
    (["--plot", "x.svg", "--points", "coupler.trace"], "no point 'trace'"),
    (["--animate", "x.html", "--points", "nobody.tracer"], "no body 'nobody'"),
    (["--animate", "x.gif", "--points", "coupler.tracer", "--keep", "2"], "coupler was not kept"),
    (["--plot", "x.svg", "--keep", "1"], "--points"),
    (["--duration", "-1"], "duration is -1.0"),
    (["--duration", "nan"], "duration is nan"),
    (["--steps", "0"], "'--steps'"),
    (["--steps", "1000000000000"], "need 362,000 GB"),
    (["--level", "jerk"], "'jerk'"),
    (["--format", "xml"], "table or json"),
]  # fmt: skip


def test_mistakes_are_named_before_anything_is_solved(run_mbssa, without_solving, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = "time,1-2.angle\n0,1\n"
    (tmp_path / "nan.csv").write_text(head + "0.1,nan\n")
    (tmp_path / "unsorted.csv").write_text(head + "0.2,1\n0.1,1\n")
    (tmp_path / "repeated.csv").write_text(head + "0.2,1\n0.2,1\n")
    (tmp_path / "good.csv").write_text(head + "0.2,1\n0.3,1\n0.4,1\n")
    (tmp_path / "folder.csv").mkdir()
    before = sorted(os.listdir(tmp_path))
    for arguments, said in MISTAKES:
        done = run_mbssa("solve", "planar_four_bar", *arguments)
        assert (done.exit_code, done.stdout) == (2, ""), arguments
        assert said in done.stderr, (arguments, done.stderr)
        assert sorted(os.listdir(tmp_path)) == before, arguments


def test_a_mode_that_there_is_not_is_a_sentence(run_mbssa):
    done = run_mbssa("solve", "planar_four_bar", "--mode", "2=7")
    assert done.exit_code == 2
    assert "SG-2 has modes 1 to 2" in done.stderr


def test_an_output_that_fails_at_the_end_does_not_hide_the_answer(run_mbssa, tmp_path, monkeypatch):
    def full(_columns, path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("groups.trajectory.write_table", full)
    other = tmp_path / "a.npz"
    done = run_mbssa(
        "solve", "planar_four_bar", "--steps", "3", "-o", str(tmp_path / "a.csv"), "-o", str(other)
    )
    assert done.exit_code == 2
    assert "No space left on device" in done.stderr
    assert "every group was solved" in done.stdout
    assert other.exists()


def test_numbers_of_a_model_too_large_for_a_picture_are_written(run_mbssa, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.import_module("groups.pictures.page"), "MOST_BODIES", 3)
    asked = ["solve", "planar_four_bar", "--steps", "3", "--output", str(tmp_path / "a.csv")]
    refused = run_mbssa(*asked, "--animate", str(tmp_path / "a.html"))
    assert (refused.exit_code, "name fewer with --keep" in refused.stderr) == (2, True)
    assert run_mbssa(*asked).exit_code == 0


# --- Ctrl-C, compiling, progress --------------------------------------------------------------------


def test_ctrl_c_keeps_what_there_is(run_mbssa, tmp_path, monkeypatch):
    advance, spans = Solving.advance, []

    def interrupted(self, first, stop, *rest):
        spans.append(stop)
        if len(spans) == 4:
            signal.raise_signal(signal.SIGINT)
        advance(self, first, stop, *rest)

    monkeypatch.setattr(Solving, "advance", interrupted)
    path = tmp_path / "part.npz"
    before = signal.getsignal(signal.SIGINT)
    done = run_mbssa("solve", "planar_four_bar", "--steps", "5000", "--output", str(path))
    reached = spans[-1]
    assert len(spans) == 4
    assert 0 < reached < 5000
    assert done.exit_code == 130
    assert "stopped by Ctrl-C" in done.stderr
    assert f"not computed: at {5000 - reached} of 5000 instants" in done.stdout
    trajectory = groups.load_trajectory(path)
    assert (trajectory.status[:reached] == 0).all()
    assert (trajectory.status[reached:] == 8).all()
    assert np.isfinite(trajectory.position[:reached]).all()
    assert np.isnan(trajectory.position[reached:, 1:]).all()
    assert (trajectory.position[reached:, 0] == trajectory.position[0, 0]).all()  # the frame
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_before_the_first_instant(run_mbssa, tmp_path, monkeypatch):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Model, "solve", interrupted)
    done = run_mbssa("solve", "planar_four_bar", "--output", str(tmp_path / "none.npz"))
    assert (done.exit_code, done.stdout) == (130, "")
    assert "stopped" in done.stderr
    assert os.listdir(tmp_path) == []


def test_compiling_that_takes_longer_is_told_and_timed(run_mbssa, monkeypatch):
    done = run_mbssa("solve", "planar_four_bar", "--steps", "200000")
    assert "by machine code, compiled in" in done.stdout
    assert "compiling" not in done.stderr
    monkeypatch.setattr(running, "ANNOUNCED", 0.01)
    done = run_mbssa("solve", "planar_four_bar", "--steps", "200000")
    assert done.stderr.count("compiling the model: about 0 s") == 1


@pytest.mark.parametrize(("branch", "told"), [(None, 0), ("checked", 0), ("proven", 1), ("smooth", 1)])
def test_a_proof_that_is_asked_for_and_takes_longer_is_told(run_mbssa, monkeypatch, branch, told):
    monkeypatch.setattr(running, "ANNOUNCED_PROOF", 0.0)
    done = run_mbssa("solve", "planar_four_bar", *(["--branch", branch] if branch else []))
    assert done.exit_code == 0
    assert done.stderr.count("proving the branches: about 0 s") == told


# --- solvers and modes -------------------------------------------------------------------------------


def test_every_group_has_a_solver_and_a_reason(run_mbssa):
    for name in ("planar_four_bar", "cam_roller", "planetary", "rotor", "stewart", "bennett"):
        done = run_mbssa("solvers", name, "--format", "json")
        assert done.exit_code == 0, name
        rows = json.loads(done.stdout)
        assert [row["number"] for row in rows] == list(range(1, len(rows) + 1)), name
        for row in rows:
            assert row["form"] in ("driven", "closed form", "Newton"), name
            assert row["solver"], name
            assert row["why"], name
            assert row["form"] == "Newton" or row["modes"] >= 1, name


@pytest.mark.parametrize("name", ["rotor", "stewart"])
def test_no_name_is_broken_on_a_terminal_of_80_columns(name):
    model = groups.build(mbssa.decompose(mbssa.load(name)))
    text = solvers_report(model).text(80)
    assert max(map(len, text.splitlines())) <= 80
    for solver in model.solvers:
        assert all(unknown in text for unknown in solver.unknowns)
        assert all(joint in text for joint in solver.closing)


def test_all_names_the_other_solvers_of_a_group(run_mbssa):
    done = run_mbssa("solvers", "stewart_inverse", "--all")
    assert done.exit_code == 0
    assert "SG-1: global dense, global sparse\n" in done.stdout
    assert "SG-2: Newton, global dense, global sparse\n" in done.stdout
    rows = json.loads(run_mbssa("solvers", "stewart_inverse", "--all", "--format", "json").stdout)
    assert rows[1]["others"] == ["Newton", "global dense", "global sparse"]
    assert "others" not in json.loads(run_mbssa("solvers", "rssr", "--format", "json").stdout)[0]
    assert "others" not in run_mbssa("solvers", "stewart_inverse").stdout
    alone = run_mbssa("solvers", "--all")
    assert alone.exit_code == 2
    assert "--all: is for the groups of a model" in alone.stderr


def test_a_group_is_solved_by_the_solver_that_is_asked_for(run_mbssa):
    asked = ["--solver", "2=Newton", "--solver", "SG-1=global-dense", "--steps", "21"]
    done = run_mbssa("solve", "planar_four_bar", *asked)
    assert done.exit_code == 0
    for text in ("global dense, 3 unknowns", "Newton, 2 unknowns", "every group was solved at every instant"):
        assert text in done.stdout
    record = json.loads(run_mbssa("solve", "planar_four_bar", *asked, "--format", "json").stdout)
    assert [group["form"] for group in record["groups"]] == ["global", "Newton"]


def test_every_fault_of_a_solver_that_is_asked_for_is_named_at_once(run_mbssa):
    asked = ["2=cholesky", "1=Newton", "2=Newton", "2=global dense", "7=Newton", "Newton"]
    done = run_mbssa("solve", "planar_four_bar", *(f"--solver={one}" for one in asked), "--mode", "9=1")
    assert done.exit_code == 2
    assert done.stdout == ""
    for text in (
        "6 faults",
        "--mode 9=1: ",
        "--solver 2=cholesky: ",
        "closed form, Newton, global dense, global sparse",
        "--solver 1=Newton: ",
        "--solver 2=global dense: ",
        "--solver 7=Newton: ",
        "--solver Newton: write GROUP=NAME",
    ):
        assert text in done.stderr


def test_modes_are_counted_and_listed(run_mbssa):
    rows = json.loads(run_mbssa("modes", "rotor", "--format", "json").stdout)
    model = groups.build(mbssa.decompose(mbssa.load("rotor")))
    found = groups.modes(model)
    assert [len(row["modes"]) for row in rows] == [len(one) for one in found]
    assert [row["reference"] for row in rows] == [one.reference for one in found]
    listed = run_mbssa("modes", "rotor", "--group", "4")
    assert listed.exit_code == 0
    assert re.search(rf"(?m)^ +{found[3].reference}  +\*", listed.stdout)
    assert run_mbssa("modes", "rotor", "--group", "8").exit_code == 2


def test_residuals_of_modes_are_in_the_length_unit(run_mbssa, bar):
    model = bar("format = 1", 'format = 1\nunits = { length = "mm" }')
    found = groups.modes(groups.build(mbssa.decompose(mbssa.load(model))), 2)
    (row,) = json.loads(run_mbssa("modes", model, "--group", "2", "--format", "json").stdout)
    assert row["units"]["residual"] == "mm"
    assert [mode["residual"] for mode in row["modes"]] == pytest.approx(
        [1e3 * mode.residual for mode in found]
    )
    heading = run_mbssa("modes", model, "--group", "2").stdout.splitlines()
    assert any(line.split()[:1] == ["Mode"] and line.split()[-1] == "mm" for line in heading)


@pytest.mark.slow
def test_every_mode_has_a_row_and_the_search_is_told():
    model = groups.build(mbssa.decompose(mbssa.load("stewart")))
    found = groups.modes(model, 1)
    text = modes_report(model, [found], each=True).text(80)
    shown = [int(number) for number in re.findall(r"(?m)^ +(\d+)  [ *]  .*e-\d+ *$", text)]
    assert shown == 4 * [mode.number for mode in found]  # 24 coordinates, six in a table
    assert re.search(r"SG-1: 40 complex positions were\s+followed, ", text)
    assert re.search(r"8\s+are\s+real,\s+20\s+are\s+not", text)


def test_a_search_by_newton_says_how_many_may_be_missing(run_mbssa):
    answer = run_mbssa("modes", "universal_shafts", "--starts", "5", "--format", "json")
    listed = json.loads(answer.stdout)[1]
    assert listed["complete"] is False
    assert re.search(r"the last 5 found no new one; about \d+ more are expected", listed["search"])
    assert run_mbssa("modes", "universal_shafts", "--starts", "0").exit_code == 2


def test_help_has_an_example_for_every_command(run_mbssa):
    for command in ("solve", "solvers", "modes"):
        assert f"Example: mbssa {command}" in run_mbssa(command, "--help").stdout


@pytest.mark.slow
def test_solvers_without_a_model_lists_every_type_of_group(run_mbssa):
    done = run_mbssa("solvers")
    assert done.exit_code == 0
    for text in ("RRR dyad", "a leg between two points", "C[slide]-ER-S", "5-link Baranov truss", "refused"):
        assert text in done.stdout
    rows = json.loads(run_mbssa("solvers", "--format", "json").stdout)
    assert {row["type_name"] for row in rows} >= {"3R2D", "1P1U1S3D", "2R1U1S3D", "6P6U6S1F3D"}
