"""Pieces of the time axis that are solved apart, each from a seed of a coarse pass."""

import numpy as np
import pytest

import groups
import mbssa

MODELS = ["rotor", "stewart", "theo_jansen", "planar_3rrr", "bennett", "rssr", "micromanipulator_driven"]


@pytest.mark.parametrize("name", MODELS)
def test_chunks_give_the_answer_of_the_whole(name):
    model = groups.build(mbssa.decompose(mbssa.load(name)))
    motion = groups.default_motion(model.mechanism, steps=401)
    whole, pieces = model.solve(motion), model.solve(motion, chunks=7)
    assert whole.ok
    assert pieces.ok
    for level, most in (
        ("position", 1e-10),
        ("orientation", 1e-10),
        ("velocity", 1e-9),
        ("acceleration", 1e-7),
    ):
        assert np.abs(getattr(whole, level) - getattr(pieces, level)).max() < most, level
    assert np.array_equal(pieces.position, model.solve(motion, chunks=7).position)


def test_chunks_are_counted():
    model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    with pytest.raises(ValueError, match="0 chunks; write 1 or more"):
        model.solve(chunks=0)
