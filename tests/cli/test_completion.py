"""Shell completion, asked as the shells ask."""

import json
import subprocess
import sys

import pytest

MODEL = """
format = 1
space = "planar"
[[body]]
name = "crank"
[[joint]]
bodies = ["frame", "crank"]
type = "R"
driven = true
"""


ASK = """
import contextlib, io, json, os, sys
from mbssa.cli import main
for variables in json.load(sys.stdin):
    os.environ.update(variables)
    sys.argv[:] = ["mbssa"]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main()
        except SystemExit as stop:
            assert not stop.code, variables
    print(json.dumps([line for line in out.getvalue().splitlines() if line]))
"""


def completed(asked, folder):
    """Lines of the answer to each action of a shell on a line, all from one process."""
    variables = []
    for action, line in asked:
        options = {
            "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)},
            "zsh": {"_TYPER_COMPLETE_ARGS": line},
            "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        }[action.partition("_")[2]]
        variables.append({"_MBSSA_COMPLETE": action, **options})
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(command, input=json.dumps(variables), capture_output=True, text=True, cwd=folder)
    assert (done.stderr, done.returncode) == ("", 0)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own.toml").write_text(MODEL)
    (tmp_path / "notes.txt").write_text("")
    return tmp_path


OFFERED = {
    "mbssa dec": ["decompose"],
    "mbssa check stew": ["stewart", "stewart_inverse"],
    "mbssa check ow": ["own.toml"],
    "mbssa check ./": ["./own.toml"],
    "mbssa decompose own.toml --inputs ": ["1-2.angle"],
    "mbssa transform rotor --require 1-2.slide,13-15": ["1-2.slide,13-15", "1-2.slide,13-15.angle"],
    "mbssa solve planar_four_bar --keep c": ["crank", "coupler"],
    "mbssa solve planar_four_bar --points c": ["coupler.tracer"],
    "mbssa modes planar_four_bar --group ": ["1", "2"],
    "mbssa solve planar_four_bar --quantities driven,j": ["driven,joints"],
    "mbssa solve planar_four_bar --curves 2-3": ["2-3", "2-3.angle"],
    "mbssa solve planar_four_bar --motion ./": ["./own.toml"],
    "mbssa simulate planar_four_bar --initial 2-3": ["2-3.angle="],
    "mbssa solve nowhere.toml --keep ": [],
}


def test_bash(folder):
    answers = completed([("complete_bash", line) for line in OFFERED], folder)
    assert dict(zip(OFFERED, answers, strict=True)) == OFFERED


def test_zsh_and_fish_show_what_a_name_is_and_each_shell_has_its_script(folder):
    line = "mbssa loops own.toml --cut "
    scripts = {"bash": "complete -o", "zsh": "#compdef", "fish": "complete"}
    asked = [("complete_fish", line), ("complete_zsh", line), *((f"source_{shell}", "") for shell in scripts)]
    (fish,), (zsh,), *written = completed(asked, folder)
    assert fish == "1-2\tR, frame and crank"
    assert '"1-2":"R, frame and crank"' in zsh
    for (shell, message), lines in zip(scripts.items(), written, strict=True):
        assert any(message in line for line in lines), shell
