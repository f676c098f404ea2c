"""The bar on a terminal: not for short work, and nothing is left of it."""

import io
import sys

from mbssa import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_long_run_on_a_terminal_has_a_bar_that_leaves_nothing(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress.bar() as told:
        told("solving 10 instants", 0.5)
    assert terminal.getvalue() == ""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.bar() as told:
        told("solving 10 instants", 0.5)
    assert "solving 10 instants" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")


def test_a_file_gets_no_bar(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.bar() as told:
        told("solving 10 instants", 0.5)
    assert written.getvalue() == ""
