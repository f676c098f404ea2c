"""NumPy and machine code: one answer."""

import numpy as np
import pytest

import groups
import mbssa
from groups.motion import default_motion

OUTPUTS = ("position", "orientation", "velocity", "acceleration")


def assert_one_answer(one, two, name):
    """Two algorithms part by rounding over the condition of a group, by more at pieces of a profile."""
    assert (one.status == two.status).all(), name
    tolerance = 1e-9 if name.startswith("cam") else max(1e-11, 1e-13 / one.condition.min())
    for output in OUTPUTS:
        a, b = getattr(one, output), getattr(two, output)
        if output == "orientation" and a.ndim == 3:
            b = b * np.sign((a * b).sum(axis=2, keepdims=True))
        assert np.abs(a - b).max() <= tolerance * max(1.0, np.abs(b).max()), f"{name}: {output}"


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["Newton", "global dense", "global sparse"])
def test_other_solvers(choice):
    for name in ("triad", "rotor", "cam_roller", "sarrus"):
        structure = mbssa.decompose(mbssa.load(name))
        default = groups.build(structure)
        numbers = [g for g in range(1, structure.n_groups + 1) if choice in groups.solvers_of(default, g)]
        model = groups.build(structure, dict.fromkeys(numbers, choice))
        motion = default_motion(model.mechanism, steps=12)
        assert_one_answer(model.solve(motion, compiled=False), model.solve(motion, compiled=True), name)


@pytest.mark.slow
def test_simulations():
    for name in ("andrews", "stewart"):
        plain, compiled_ = (
            groups.simulate(mbssa.load(name), 0.003, steps=4, compiled=way) for way in (False, True)
        )
        for array in ("position", "orientation", "velocity", "acceleration"):
            one, other = (getattr(found.trajectory, array) for found in (plain, compiled_))
            largest = max(1.0, np.abs(one).max())
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-9 * largest, err_msg=f"{name} {array}")
