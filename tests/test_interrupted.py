"""Ctrl-C at any moment, once or several times: exit 130, and never a traceback."""

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import time
from unittest import mock

import pytest

from groups.cli.running import stoppable_progress
from mbssa import cli

#: Presses Ctrl-C as a module is imported, so many times, and again as the process ends.
PRESSED = """
import atexit, os, signal, sys
wanted, times = sys.argv.pop(1), int(sys.argv.pop(1))
def press():
    for _ in range(times):
        os.kill(os.getpid(), signal.SIGINT)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            print("pressed", flush=True)
            atexit.register(press)
            press()
sys.meta_path.insert(0, Finder())
from mbssa.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("module", "times"),
    [
        ("mbssa.cli", 1), ("mbssa.cli", 3), ("mbssa.mpi_rank", 2), ("typer", 1), ("numpy", 3),
        ("pydantic", 2), ("groups.cli.solve", 1), ("groups.cli.running", 3),
    ],
)  # fmt: skip
def test_ctrl_c_as_a_module_is_imported(module, times):
    command = [sys.executable, "-c", PRESSED, module, str(times), "solve", "rotor", "--no-compiled"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["pressed"]
    assert done.returncode == 130
    assert done.stderr == "stopped by Ctrl-C\n"


class Importing:
    """A library that meets Ctrl-C as it is imported by a command, and would hide a KeyboardInterrupt."""

    def find_spec(self, name, path=None, target=None):
        if name == "half_there":
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise AttributeError("module 'half' has no attribute 'there'") from None


@pytest.mark.parametrize("handler", ["cli", "solve"])
def test_ctrl_c_as_a_command_imports_a_library(monkeypatch, capfd, handler):
    """It ends the process at once: libraries make other exceptions of it, and are half there then."""
    monkeypatch.setattr(sys, "meta_path", [Importing(), *sys.meta_path])
    monkeypatch.setattr(os, "_exit", mock.Mock(side_effect=SystemExit))
    before = signal.signal(signal.SIGINT, cli._interrupt)
    around = stoppable_progress("before") if handler == "solve" else contextlib.nullcontext()
    try:
        with pytest.raises(SystemExit), around:
            importlib.import_module("half_there")
    finally:
        signal.signal(signal.SIGINT, before)
    os._exit.assert_called_once_with(130)
    assert capfd.readouterr().err.endswith("stopped by Ctrl-C\n")


def test_ctrl_c_ends_a_run_that_has_not_begun_and_stops_one_that_has():
    with pytest.raises(KeyboardInterrupt), stoppable_progress("before"):
        signal.raise_signal(signal.SIGINT)
    with stoppable_progress("after") as progress:
        assert progress(0.1)
        signal.raise_signal(signal.SIGINT)
        assert not progress(0.2)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("command", "step"),
    [("linearise", "groups.cli.linearise.equilibrium"), ("decompose", "mbssa.cli.decompose.loaded"),
     ("simulate", "groups.cli.simulate.load")],
)  # fmt: skip
def test_ctrl_c_in_a_command_is_said(run_mbssa, monkeypatch, command, step):
    """Typer makes an exit without a word of it."""

    def pressed(*_, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(step, pressed)
    done = run_mbssa(command, "slider_crank")
    assert (done.exit_code, done.stdout) == (130, "")
    assert done.stderr.startswith("stopped by Ctrl-C")


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["solve", "stewart", "--no-compiled", "--steps", "100000"],
                                       ["transform", "stewart", "--precision", "1e-5"]])  # fmt: skip
def test_a_second_and_a_third_one_while_it_computes(arguments):
    command = [sys.executable, "-m", "mbssa", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        time.sleep(3.0)
        for _ in range(3):
            assert run.poll() is None
            run.send_signal(signal.SIGINT)
            time.sleep(0.02)
            if run.poll() is not None:
                break
        said = run.communicate(timeout=60)[1]
    assert run.returncode in (130, -signal.SIGINT)  # Python gives signals back before it has ended
    assert "Traceback" not in said
