"""NumPy and machine code: one answer; kernels in plain Python and compiled: the same bits."""

import numpy as np
import pytest

import groups
import mbssa
from groups.motion import default_motion
from mbssa import compiled

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


def add(x: float, y: float) -> float:
    return x + y


@pytest.fixture
def ledger(monkeypatch):
    """A process that has chosen nothing yet and has imported no Numba, with an empty cache."""
    monkeypatch.setattr(compiled, "_rented", {})
    monkeypatch.setattr(compiled, "is_kept", lambda _: False)
    monkeypatch.setattr(compiled, "compiled", lambda function: ("compiled", function))
    monkeypatch.delitem(compiled.sys.modules, "numba", raising=False)


@pytest.mark.usefixtures("ledger")
def test_python_is_rented_until_it_has_cost_as_much_as_the_compiled_kernel():
    price = compiled.IMPORTING + compiled.LOADING + compiled.SHARE * 8.0
    lives = [compiled.chosen(add, 0.3 * price, compiling=8.0) for _ in range(5)]
    assert lives == [add, add, add, ("compiled", add), ("compiled", add)]
    assert compiled.chosen(add, 0.0) == ("compiled", add)


@pytest.mark.usefixtures("ledger")
def test_what_is_asked_for_overrules():
    assert compiled.chosen(add, 1e9, ask=False) is add
    assert compiled.chosen(add, 0.0) is add
    assert compiled.chosen(add, ask=True) == ("compiled", add)
    assert compiled.chosen(add, 0.0) == ("compiled", add)  # it is loaded
