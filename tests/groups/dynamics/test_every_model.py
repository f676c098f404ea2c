"""The commands forces and simulate on built-in models with random masses: balances of power and energy."""

import json

import pytest
from dense_forces import with_masses

import mbssa

#: Singular where its file has it, and without a motion; ``micromanipulator_driven`` has other inputs.
SINGULAR = {"micromanipulator"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in mbssa.builtin_names() if name not in SINGULAR])
def test_forces_and_simulation_of_a_built_in_model(name, run_mbssa, tmp_path):
    path = tmp_path / "model.toml"
    mbssa.save(with_masses(mbssa.load(name)), path)
    environment = ["--trust", "--format", "json"]
    forces = run_mbssa("forces", str(path), "--steps", "5", *environment)
    assert forces.exit_code == 0, forces.stderr
    found = json.loads(forces.stdout)
    # Drives, gravity and elements give what the kinetic energy takes.
    assert found["balance"] < 1e-7 * found["largest_power"]
    run = run_mbssa(
        "simulate", str(path), "--duration", "0.01", "--steps", "3", "--no-compiled", *environment
    )
    assert run.exit_code == 0, run.stderr
    simulated = json.loads(run.stdout)
    assert simulated["status"] == "finished"
    assert simulated["end"] == pytest.approx(0.01)
    energy = max(map(abs, [*simulated["kinetic_energy"], *simulated["potential_energy"]]))
    assert simulated["balance"] < 1e-6 * energy
    assert simulated["position_error"] < 1e-8


def test_a_model_that_is_singular_at_its_reference_says_so(run_mbssa, tmp_path):
    path = tmp_path / "model.toml"
    mbssa.save(with_masses(mbssa.load("micromanipulator")), path)
    done = run_mbssa("simulate", str(path), "--duration", "0.01")
    assert done.exit_code in (1, 2)
    assert "singular" in done.stderr
