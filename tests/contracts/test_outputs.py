"""One rule for every command that writes files: an output is never an input, nor replaces one unasked."""

from pathlib import Path

import pytest

import mbssa
from mbssa.cli.application import application

#: Option by which each command writes a file, its ending, and the command; {m} is a model's file.
WRITTEN = {
    ("schema", "--output"): (".json", "schema"),
    ("joints", "--output"): (".txt", "joints R"),
    ("decompose", "--output"): (".toml", "decompose {m}"),
    ("decompose", "--picture"): (".svg", "decompose {m}"),
    ("decompose", "--diagram"): (".svg", "decompose {m}"),
    ("check", "--output"): (".toml", "check {m}"),
    ("convert", "TO"): (".toml", "convert {m}"),
    ("new", "NAME"): (".toml", "new"),
    ("cams", "--output"): (".toml", "cams {m}"),
    ("cams", "--picture"): (".svg", "cams {m}"),
    ("loops", "--output"): (".toml", "loops {m}"),
    ("loops", "--plot"): (".svg", "loops {m}"),
    ("transform", "--output"): (".toml", "transform {m} --most 3"),
    ("transform", "--save"): (".toml", "transform {m} --most 3 --row 1"),
    ("transform", "--plot"): (".svg", "transform {m} --most 3"),
    ("transformations", "--output"): (".toml", "transformations {store}"),
    ("transformations", "--save"): (".toml", "transformations {store} --model crank --row 1"),
    ("draw", "--output"): (".svg", "draw {m}"),
    ("solve", "--output"): (".csv", "solve {m} --steps 2 --no-compiled"),
    ("solve", "--plot"): (".svg", "solve {m} --steps 2 --no-compiled"),
    ("solve", "--animate"): (".html", "solve {m} --steps 2 --no-compiled"),
    ("modes", "--pictures"): (".svg", "modes {m}"),
    ("forces", "--output"): (".csv", "forces {m} --steps 2"),
    ("forces", "--plot"): (".svg", "forces {m} --steps 2"),
    ("forces", "--animate"): (".html", "forces {m} --steps 2"),
    ("simulate", "--output"): (".csv", "simulate {m} --duration 0.01 --steps 2 --no-compiled"),
    ("simulate", "--energies"): (".csv", "simulate {m} --duration 0.01 --steps 2 --no-compiled"),
    ("simulate", "--reactions"): (".csv", "simulate {m} --duration 0.01 --steps 2 --no-compiled"),
    ("simulate", "--plot"): (".svg", "simulate {m} --duration 0.01 --steps 2 --no-compiled"),
    ("simulate", "--animate"): (".html", "simulate {m} --duration 0.01 --steps 2 --no-compiled"),
    ("linearise", "--output"): (".csv", "linearise {m}"),
    ("linearise", "--animate"): (".html", "linearise {m}"),
    ("partition", "--output"): (".toml", "partition {m}"),
    ("partition", "--plot"): (".svg", "partition {m} --sweep --steps 2"),
    ("routes", "--save"): (".json", "routes {m}"),
    ("routes", "--gantt"): (".svg", "routes {m}"),
    ("routes", "--tree"): (".svg", "routes {m}"),
    ("routes", "--curve"): (".svg", "routes {m} --simulate-workers 1,2"),
    ("sweep", "--plot"): (".svg", "sweep {m} --grid 1-2.angle=0:1:2 --store {folder}/cases"),
}

#: Options that name a file or a folder which is read, or which keeps what is found from run to run.
OTHER = {
    ("transform", "--store"), ("transformations", "FILE"), ("solve", "--motion"), ("solve", "--plan"),
    ("solve", "--checkpoint"), ("forces", "--motion"), ("partition", "--motion"), ("routes", "--motion"),
    ("sweep", "--motion"), ("sweep", "--cases"), ("sweep", "--store"), ("loops", "--tree"),
    ("simulate", "--restart"),
}  # fmt: skip


@pytest.fixture
def line(tmp_path):
    """The words of a command that writes to a path: its model is ``crank.toml``, a cam for ``cams``."""

    def line(command, option, path):
        asked = WRITTEN[command, option][1]
        model, store = tmp_path / "crank.toml", tmp_path / "searches.sqlite"
        names = {"cams": "cam_flat", "sweep": "slider_crank", "simulate": "slider_crank"}
        names["linearise"] = "slider_crank"
        name = names.get(command, "planar_four_bar")
        model.unlink(missing_ok=True)
        mbssa.save(mbssa.load(name), model)
        if "{store}" in asked:
            mbssa.transform(mbssa.load(model), store=store)
        words = asked.format(m=model, store=store, folder=tmp_path).split()
        return [*words, *([option] if option.startswith("-") else []), str(path)]

    return line


def test_every_option_that_names_a_file_is_here():
    found = set()
    for name, command in application().commands.items():
        for each in command.params:
            if "Path" in str(each.type_descriptor.annotation):
                found.add((name, each.opts[0] if each.param_type_name == "option" else each.metavar))
    # A folder to read from, which every command has that reads a robot or a mesh.
    assert {each for each in found if each[1] != "--allow"} == WRITTEN.keys() | OTHER


def test_what_is_there_stays_without_force(run_mbssa, tmp_path, line):
    for (command, option), (ending, _) in WRITTEN.items():
        path = tmp_path / f"mine{ending}"
        path.write_text("mine")
        done = run_mbssa(*line(command, option, path))
        assert (done.exit_code, done.stdout) == (2, ""), (command, option)
        assert done.stderr == f"error: {option} {path}: exists; write --force to replace it\n"
        assert path.read_text() == "mine", (command, option)


#: Those that solve nothing and draw nothing.
QUICK = (
    "schema",
    "joints",
    "decompose",
    "check",
    "convert",
    "new",
    "cams",
    "loops",
    "transform",
    "partition",
)


@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_force_replaces_it(run_mbssa, tmp_path, line, quick):
    for (command, option), (ending, _) in WRITTEN.items():
        if command in ("routes", "sweep") or (command, option) == ("transform", "--plot"):
            continue
        if quick != (command in QUICK and ending not in (".svg", ".html")):
            continue
        path = tmp_path / f"mine{ending}"
        path.write_text("mine")
        done = run_mbssa(*line(command, option, path), "--force")
        assert done.exit_code in (0, 1), (command, option, done.stderr)
        assert path.read_bytes() != b"mine", (command, option)


#: First words of standard output by the command that writes numbers or a picture there.
PRINTED = {
    "solve": "time [s],",
    "forces": "time [s],",
    "simulate": "time [s],",
    "linearise": "mode,",
    "draw": "<?xml",
}


@pytest.mark.parametrize(
    "command",
    ["check", "solve", "forces", *(pytest.param(c, marks=pytest.mark.slow) for c in list(PRINTED)[2:])],
)
def test_output_dash_is_standard_output(run_mbssa, tmp_path, monkeypatch, line, command):
    monkeypatch.chdir(tmp_path)
    done = run_mbssa(*line(command, "--output", "-"))
    assert done.exit_code in (0, 1)
    assert done.stdout.startswith(PRINTED.get(command, "crank:"))
    if command in PRINTED and command != "draw":
        assert "written: standard output" in done.stderr
    assert not Path("-").exists()


def test_a_dash_elsewhere_is_refused(run_mbssa, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    for command, option in WRITTEN:
        if option.startswith("--") and option != "--output":
            done = run_mbssa(*line(command, option, "-"))
            assert done.exit_code == 2, (command, option)
            assert f"{option} -: only --output writes to standard output" in done.stderr, (command, option)
    kept = {"new": "new", "transform --store": "transform", "solve --checkpoint": "solve"}
    kept["sweep --store"] = "sweep"
    for words, command in kept.items():
        model = [] if command == "new" else ["planar_four_bar"]
        done = run_mbssa(command, *model, *words.split()[1:], "-")
        option = words.partition(" ")[2] or "NAME"
        assert done.exit_code == 2, words
        assert f"{option} -: only --output writes to standard output; name a" in done.stderr, words
    assert not Path("-").exists()
    assert not Path("-.toml").exists()
    for command in PRINTED.keys() - {"draw"}:
        done = run_mbssa(*line(command, "--output", "-"), "--format", "json")
        assert (done.exit_code, done.stdout) == (2, ""), command
        assert "--output -: --format json" in done.stderr, command
    twice = run_mbssa("solve", "crank", "--output", "-", "--output", "-")
    assert (twice.exit_code, twice.stdout) == (2, "")


@pytest.mark.parametrize("forced", [False, True])
def test_a_model_is_never_replaced(run_mbssa, tmp_path, line, forced):
    for command, option in WRITTEN:
        ending, asked = WRITTEN[command, option]
        if "{m}" not in asked:
            continue
        folder = tmp_path / f"{command}{option}"
        folder.mkdir()
        link, model = folder / f"link{ending}", tmp_path / "crank.toml"
        words = line(command, option, link)
        before = model.read_bytes()
        link.symlink_to(model)
        done = run_mbssa(*words, *(["--force"] if forced else []))
        assert done.exit_code == 2, (command, option)
        assert f"{option} {link}: {model} is read" in done.stderr, (command, option)
        assert model.read_bytes() == before, (command, option)


def test_other_inputs_are_never_replaced(run_mbssa, tmp_path):
    model, motion = tmp_path / "crank.toml", tmp_path / "motion.csv"
    mbssa.save(mbssa.load("planar_four_bar"), model)
    motion.write_text("time,1-2.angle\n0,0.7\n1,0.8\n")
    before = motion.read_bytes()
    asked = ["--motion", str(motion), "--output", str(motion), "--force"]
    assert run_mbssa("solve", str(model), *asked).exit_code == 2
    assert run_mbssa("partition", str(model), "--sweep", *asked).exit_code == 2
    assert motion.read_bytes() == before


def test_what_is_no_file_is_written_to(run_mbssa):
    assert run_mbssa("decompose", "rotor", "--output", "/dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()
