"""Pieces of the time axis that are solved apart, each from a seed of a coarse pass."""

import numpy as np
import pytest

import groups
import mbssa

MODELS = ["rotor", "stewart", "theo_jansen", "planar_3rrr", "rssr"]


@pytest.mark.parametrize("name", MODELS)
def test_chunks_give_the_answer_of_the_whole(name):
    model = groups.build(mbssa.decompose(mbssa.load(name)))
    motion = groups.default_motion(model.mechanism, steps=61)
    whole = model.solve(motion, compiled=False)
    pieces = model.solve(motion, chunks=7, compiled=False)
    assert whole.ok
    assert pieces.ok
    for level, most in (
        ("position", 1e-10),
        ("orientation", 1e-10),
        ("velocity", 1e-9),
        ("acceleration", 1e-7),
    ):
        assert np.abs(getattr(whole, level) - getattr(pieces, level)).max() < most, level
    assert np.array_equal(pieces.position, model.solve(motion, chunks=7, compiled=False).position)


def test_chunks_are_counted():
    model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    with pytest.raises(ValueError, match="0 chunks"):
        model.solve(chunks=0)
