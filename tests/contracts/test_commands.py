"""Contract of commands: each of the table is found, has one file, and is imported only when asked for."""

import inspect
import re
import subprocess
import sys
from pkgutil import resolve_name

from mbssa.cli import COMMANDS, RUNNER


def test_a_command_is_a_documented_function_with_an_example(run_mbssa, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for name, place in COMMANDS.items():
        text = inspect.getdoc(resolve_name(place))
        assert text.splitlines()[0].endswith("."), name
        assert f"Example: mbssa {name}" in text
        page = run_mbssa(name, "--help")
        assert page.exit_code == 0, name
        assert max(map(len, page.stdout.splitlines())) <= 80, name
        # Neither a type in Python's words, nor a choice that is broken in the middle of a word.
        assert not re.findall(r"<(?:str|path|bool|int|float)>|[{}]|<[\w|]+\|\w+ ", page.stdout), name


def test_help_lists_all_commands_in_their_order(run_mbssa):
    listed = run_mbssa("--help").stdout.partition("Commands:")[2]
    assert re.findall(r"^  (\w+)", listed, re.MULTILINE) == list(COMMANDS)


def test_a_mistyped_command_gets_a_suggestion(run_mbssa):
    done = run_mbssa("decomposse", "rotor")
    assert done.exit_code == 2
    assert "Did you mean 'decompose'" in done.stderr


def test_the_runner_of_plans_is_there():
    assert callable(resolve_name(RUNNER))


def test_commands_are_imported_when_they_are_asked_for_and_values_import_neither_them_nor_reports():
    script = (
        "import sys, mbssa.structure, mbssa.analysis.check, mbssa.loops.comparison, groups.model\n"
        "import groups.assembly_modes, groups.solvers.library, groups.partitioning.sweep, groups.trajectory\n"
        "print([name for name in sys.modules if '.reports' in name or '.cli' in name or name == 'rich'])\n"
        "from mbssa.cli.application import application; app = application()\n"
        "print(sorted(name for name in sys.modules if name in set(sys.argv[1:])), list(app.commands))"
    )
    modules = {place.partition(":")[0] for place in COMMANDS.values()}
    command = [sys.executable, "-c", script, *modules]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", f"[] {list(COMMANDS)}"]
