"""Fixtures that several tests share."""

import contextlib
import io
import sys
from types import SimpleNamespace

import numpy
import pytest

import mbssa
from mbssa import cli


@pytest.fixture(name="np")
def _numpy():
    return numpy


@pytest.fixture
def read(tmp_path):
    """Read the text of a model file: ``read('format = 1 …')``."""

    def read(text, name="model"):
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        return mbssa.load(path)

    return read


@pytest.fixture
def run_mbssa(monkeypatch):
    """Run the command ``mbssa`` in this process: ``run_mbssa("models").stdout``."""

    def run(*arguments):
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["mbssa", *arguments])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                cli.main()
                code = 0
            except SystemExit as stop:
                code = stop.code or 0
        return SimpleNamespace(exit_code=code, stdout=out.getvalue(), stderr=err.getvalue())

    return run
