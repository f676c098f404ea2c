"""Three joints to a point: what Newton follows is what the choice among all points gives."""

import numpy as np
import pytest
from random_mechanisms import CARRIERS, random_mechanism, swing

import groups
import mbssa
from groups.kernels import meeting
from groups.motion import Motion, default_motion

LEGS = {
    "three hinges": ["a x R", "x y R", "y z R", "z b S"],
    "hinges and a slide, driven between": ["a x R", "x y R", "y z R angle", "z w P", "w b S"],
    "from both sides": ["a x P", "x y S", "y z R", "z b R"],
}


def both(model, motion, monkeypatch):
    """Solved as it is, and with all points looked at at every time step."""
    followed = model.solve(motion, compiled=False)
    with monkeypatch.context() as patch:
        patch.setattr(meeting, "CERTAIN", -1.0)
        chosen = model.solve(motion, compiled=False)
    return followed, chosen


def assert_same(followed, chosen):
    np.testing.assert_array_equal(followed.status, chosen.status)
    sound = chosen.status == 0
    least = chosen.condition[sound].min()
    np.testing.assert_allclose(followed.condition[sound], chosen.condition[sound], atol=1e-12 / least)
    for power, level in enumerate(("position", "velocity", "acceleration")):
        one, other = getattr(followed, level), getattr(chosen, level)
        np.testing.assert_allclose(one, other, rtol=1e-12 / least ** (2 * power + 1), atol=1e-12 / least)


@pytest.mark.parametrize("name", ["spatial_four_bar", "rotor"])
def test_built_in_models_are_followed(name, monkeypatch):
    model = groups.build(mbssa.decompose(mbssa.load(name)))
    followed, chosen = both(model, default_motion(model.mechanism, steps=41), monkeypatch)
    assert_same(followed, chosen)
    here = [g for g, solver in enumerate(model.solvers) if solver.name.startswith("spherical-loop")]
    assert (followed.iterations[:, here] > 0).mean() > 0.9


@pytest.mark.parametrize("steps", [13, pytest.param(41, marks=pytest.mark.slow)])
@pytest.mark.parametrize("leg", LEGS)
def test_large_swings_beyond_reach_and_back(leg, steps, monkeypatch):
    """Modes end, are lost and found again at the same time steps."""
    lost = 0
    for seed in range(2):
        model = groups.build(mbssa.decompose(random_mechanism([*CARRIERS, *LEGS[leg]], seed)))
        followed, chosen = both(model, swing(model, 0.3, steps=steps), monkeypatch)
        assert_same(followed, chosen)
        lost += (chosen.status != 0).sum()
    assert lost > 0


def test_jumps_of_all_sizes(monkeypatch):
    """A jump after time steps that were followed counts the points of the last one."""
    model = groups.build(mbssa.decompose(random_mechanism([*CARRIERS, *LEGS["three hinges"]], 2)))
    smooth = swing(model, 0.1, steps=400)
    places = np.cumsum(np.random.default_rng(0).choice([1, 1, 1, 30], 60)) % 400
    jumping = Motion(smooth.time[:60], smooth.names, *(
        np.ascontiguousarray(a[:, places]) for a in (smooth.value, smooth.rate, smooth.acceleration)
    ))  # fmt: skip
    assert_same(*both(model, jumping, monkeypatch))
