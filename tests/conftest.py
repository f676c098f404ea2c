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

#: Tests of what takes ranks, factors or least squares: their answers must not depend on how the linear
#: algebra rounds. ``.ci/run`` runs them under two processor kernels and numbers of threads of OpenBLAS.
LAPACK = (
    "contracts/test_relations.py", "groups/partitioning", "groups/test_contacts.py", "groups/test_gears.py",
    "groups/test_global_approach.py", "groups/test_invariance.py", "groups/test_library.py",
    "groups/test_lift_off.py", "groups/test_motion.py", "groups/test_motion_pose.py",
    "groups/test_solver_choice.py", "groups/test_spins.py", "groups/tearing", "joints", "loops",
    "reports/test_paper_tables.py", "decomposition/test_methods_agree.py", "singularities",
    "test_models_of_cams.py", "test_models_of_formulae.py", "input_search",
)  # fmt: skip


#: Tests that take more than a second of a fast processor in plain Python, or that ask for compiled kernels:
#: a line each, all cases of a test where the line names none. They are marked slow, and run in ``.ci/run``.
SLOW = frozenset((HERE / "slow.txt").read_text().splitlines())

# Expected texts have the default width.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")  # readline, which pytest imports, sets it where os.environ does not see it

# Shells start what runs in the background with Ctrl-C ignored, and its children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Mark the tests of :data:`LAPACK` and of :data:`SLOW`."""
    paths = [HERE / name for name in LAPACK]
    for item in items:
        if any(item.path.is_relative_to(path) for path in paths):
            item.add_marker(pytest.mark.lapack)
        if item.path.is_relative_to(HERE):
            case = f"{item.path.relative_to(HERE).as_posix()}::{item.nodeid.partition('::')[2]}"
            if case in SLOW or case.partition("[")[0] in SLOW:
                item.add_marker(pytest.mark.slow)


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
