"""Contract of commands: each of the table is found, has one file, and is imported only when asked for."""

import inspect
import re
import subprocess
import sys
from pkgutil import resolve_name

import pytest

from mbssa.cli import COMMANDS, RUNNER
from mbssa.cli.application import application


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_a_documented_function_with_an_example(name, run_mbssa, monkeypatch):
    function = resolve_name(COMMANDS[name])
    text = inspect.getdoc(function)
    assert text.splitlines()[0].endswith(".")
    assert f"Example: mbssa {name}" in text
    monkeypatch.setenv("COLUMNS", "80")
    page = run_mbssa(name, "--help")
    assert page.exit_code == 0
    assert max(map(len, page.stdout.splitlines())) <= 80
    # Neither a type in Python's words, nor a choice that is broken in the middle of a word.
    assert not re.findall(r"<(?:str|path|bool|int|float)>|[{}]|<[\w|]+\|\w+ ", page.stdout)


def test_help_lists_all_commands_in_their_order(run_mbssa):
    listed = run_mbssa("--help").stdout.partition("Commands:")[2]
    assert re.findall(r"^  (\w+)", listed, re.MULTILINE) == list(COMMANDS)


def test_a_mistyped_command_gets_a_suggestion(run_mbssa):
    done = run_mbssa("decomposse", "rotor")
    assert done.exit_code == 2
    assert "Did you mean 'decompose'" in done.stderr


def test_the_runner_of_plans_is_there():
    assert callable(resolve_name(RUNNER))


def test_commands_are_imported_when_they_are_asked_for():
    script = (
        "import sys; from mbssa.cli.application import application; app = application()\n"
        "print(sorted(name for name in sys.modules if name in set(sys.argv[1:])))"
    )
    modules = {place.partition(":")[0] for place in COMMANDS.values()}
    done = subprocess.run(
        [sys.executable, "-c", script, *modules], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_application_knows_its_commands_without_importing_them():
    assert list(application().commands) == list(COMMANDS)


def test_values_import_neither_reports_nor_commands():
    script = (
        "import sys, mbssa.structure, mbssa.analysis.check, mbssa.loops.comparison, groups.model\n"
        "import groups.assembly_modes, groups.solvers.library, groups.partitioning.sweep, groups.trajectory\n"
        "print([name for name in sys.modules if '.reports' in name or '.cli' in name or name == 'rich'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
