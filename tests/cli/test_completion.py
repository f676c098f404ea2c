"""Shell completion, asked as the shells ask."""

import os
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


def completed(line, folder, shell="bash", **more):
    """Completions that a shell offers for the last word of a line."""
    words = line.split(" ")
    options = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    environment = {**os.environ, "_MBSSA_COMPLETE": f"complete_{shell}", **options, **more}
    code = "import sys; sys.argv[:] = ['mbssa']; from mbssa.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=folder
    )
    assert (done.stderr, done.returncode) == ("", 0)
    return [line for line in done.stdout.splitlines() if line]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own.toml").write_text(MODEL)
    (tmp_path / "notes.txt").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("mbssa dec", ["decompose"]),
        ("mbssa check stew", ["stewart", "stewart_inverse"]),
        ("mbssa check ow", ["own.toml"]),
        ("mbssa check ./", ["./own.toml"]),
        ("mbssa decompose own.toml --inputs ", ["1-2.angle"]),
        ("mbssa transform rotor --require 1-2.slide,13-15", ["1-2.slide,13-15", "1-2.slide,13-15.angle"]),
        ("mbssa solve planar_four_bar --keep c", ["crank", "coupler"]),
        ("mbssa solve planar_four_bar --points c", ["coupler.tracer"]),
        ("mbssa modes planar_four_bar --group ", ["1", "2"]),
        ("mbssa solve planar_four_bar --quantities driven,j", ["driven,joints"]),
        ("mbssa solve planar_four_bar --curves 2-3", ["2-3", "2-3.angle"]),
        ("mbssa solve planar_four_bar --motion ./", ["./own.toml"]),
        ("mbssa simulate planar_four_bar --initial 2-3", ["2-3.angle="]),
        ("mbssa solve nowhere.toml --keep ", []),
    ],
)
def test_bash(line, offered, folder):
    assert completed(line, folder) == offered


def test_zsh_and_fish_show_what_a_name_is(folder):
    (fish,) = completed("mbssa loops own.toml --cut ", folder, "fish")
    assert fish == "1-2\tR, frame and crank"
    (zsh,) = completed("mbssa loops own.toml --cut ", folder, "zsh")
    assert '"1-2":"R, frame and crank"' in zsh


@pytest.mark.parametrize(
    ("shell", "message"), [("bash", "complete -o"), ("zsh", "#compdef"), ("fish", "complete")]
)
def test_the_script_to_install(shell, message, folder):
    assert any(message in line for line in completed("", folder, "bash", _MBSSA_COMPLETE=f"source_{shell}"))
