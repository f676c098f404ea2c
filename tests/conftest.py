"""Fixtures that several tests share."""

import contextlib
import io
import os
import signal
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest

import mbssa
from mbssa import cli

HERE = Path(__file__).parent

#: Tests of ranks and of least squares: their answers must not depend on how the linear algebra rounds.
#: ``.ci/run`` runs them under two processor kernels and numbers of threads of OpenBLAS.
LAPACK = tuple(
    f"{HERE}{os.sep}{Path(name)}"
    for name in (
        "decomposition/test_methods_agree.py", "groups/partitioning", "joints/test_assembly.py",
        "joints/test_system.py", "loops", "reports/test_paper_tables.py", "singularities",
    )
)  # fmt: skip

# Expected texts have the default width.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")  # readline, which pytest imports, sets it where os.environ does not see it

# Shells start what runs in the background with Ctrl-C ignored, and its children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Mark the tests of :data:`LAPACK`."""
    for item in items:
        if str(item.path).startswith(LAPACK):
            item.add_marker(pytest.mark.lapack)


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
        interrupt, show = signal.getsignal(signal.SIGINT), warnings.showwarning
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                cli.main()
                code = 0
            except SystemExit as stop:
                code = stop.code or 0
            finally:
                signal.signal(signal.SIGINT, interrupt)
                warnings.showwarning = show
        return SimpleNamespace(exit_code=code, stdout=out.getvalue(), stderr=err.getvalue())

    return run
