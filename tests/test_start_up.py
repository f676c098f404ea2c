"""Commands import no heavy package that they do not need."""

import json
import subprocess
import sys

import pytest

HEAVY = (
    "llvmlite",
    "networkx",
    "matplotlib",
    "joblib",
    "mpi4py",
    "scipy",
    "routes",
    "sqlite3",
    "pandas",
    "starlette",
    "mbssa_studio",
)
SCRIPT = """
import atexit, json, sys
def report():
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
atexit.register(report)
from mbssa.cli import main
main()
"""


def imported_by(*arguments):
    """Modules that a command imports."""
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stderr.splitlines()[-1]))
    assert {"mbssa", "numpy"} <= loaded
    return loaded


def test_decompose_imports_no_heavy_package():
    assert not imported_by("decompose", "rotor") & {*HEAVY, "groups"}


def test_no_structure_of_a_model_loads_a_compiler():
    script = "import sys, mbssa; [mbssa.decompose(mbssa.load(name)) for name in mbssa.builtin_names()]; "
    script += "assert not {'llvmlite', 'networkx', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_neither_does_the_machine_of_stored_costs():
    script = (
        "import sys; from routes.calibration.machine import this_machine; assert this_machine().llvmlite; "
    )
    script += "assert 'llvmlite' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    "model",
    [
        "planar_four_bar",
        "cam_roller",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("rotor", "stewart", "rope_hoist")),
    ],
)
def test_a_small_solution_imports_neither_a_compiler_nor_linear_algebra(model):
    assert not imported_by("solve", model) & set(HEAVY)


@pytest.mark.parametrize("command", ["forces", "modes", "partition"])
def test_a_report_imports_no_pictures(command):
    assert not imported_by(command, "planar_four_bar") & {"groups.pictures", "matplotlib", "networkx"}


def test_neither_does_its_table(tmp_path):
    assert not imported_by("solve", "planar_four_bar", "--output", str(tmp_path / "a.csv")) & set(HEAVY)


@pytest.mark.slow
def test_machine_code_needs_no_linear_algebra():
    loaded = imported_by("solve", "planar_four_bar", "--compiled")
    assert "llvmlite" in loaded
    assert "scipy.linalg" not in loaded
