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


def completed(lines, folder, shell="bash", **more):
    """Completions that a shell offers for the last word of each line, all from one process."""
    asked = []
    for line in lines:
        options = {
            "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)},
            "zsh": {"_TYPER_COMPLETE_ARGS": line},
            "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        }[shell]
        asked.append({"_MBSSA_COMPLETE": f"complete_{shell}"} | options | more)
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, cwd=folder)
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
    assert dict(zip(OFFERED, completed(OFFERED, folder), strict=True)) == OFFERED


def test_zsh_and_fish_show_what_a_name_is(folder):
    line = "mbssa loops own.toml --cut "
    assert completed([line], folder, "fish") == [["1-2\tR, frame and crank"]]
    ((zsh,),) = completed([line], folder, "zsh")
    assert '"1-2":"R, frame and crank"' in zsh


def test_the_script_to_install(folder):
    for shell, message in (("bash", "complete -o"), ("zsh", "#compdef"), ("fish", "complete")):
        (lines,) = completed([""], folder, "bash", _MBSSA_COMPLETE=f"source_{shell}")
        assert any(message in line for line in lines), shell
