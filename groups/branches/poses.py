"""Proof of many poses, each on the straight line of the inputs from the reference to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.branches.insertion import Proof, way_to
from groups.motion import Motion
from groups.results.arrays import Arrays
from groups.results.schema import QUALITY
from groups.run import Run, RunState
from mbssa.arrays import Floats

if TYPE_CHECKING:
    from groups.model import Model


#: Least piece of a line: nearer to a singular position than that, rad or over the size, none is looked for.
LEAST = 1e-3


def solve_proven_poses(model: Model, inputs: Floats, memory: Floats) -> Arrays:
    """Positions and status of all bodies and groups for rows of inputs (n, D), as a run has n instants."""
    # All lines are tried at once, whole; those that are not certified are followed in pieces.
    n, everything = len(inputs), np.arange(model.mechanism.n_bodies)
    names = tuple(model.reference_inputs)
    starts = np.array([way_to(model, names, goal) for goal in inputs]).reshape(n, len(names))
    value = np.stack([starts, inputs], axis=1).reshape(2 * n, -1).T.copy()
    rate = np.repeat(inputs - starts, 2, axis=0).T.copy()
    pairs = Motion(np.arange(2.0 * n), names, value, rate, np.zeros_like(value))
    run = Run(model, pairs, everything, 1)
    state = RunState.start(memory, len(everything))
    for case in range(n):
        state.memory[:], state.orientation[:] = memory, 0.0
        run.advance(2 * case, 2 * case + 2, state)
    proof = Proof(model, pairs, 1, memory, run.compiled)
    passed = proof.passed(run, 0, 2 * n)[::2][:, proof.sure].all(axis=1)
    none = np.zeros((len(everything), 0, run.arrays.outputs[2].shape[2]))
    found = {name: array[:, 1::2].copy() for name, array in run.arrays.by_name().items()}
    found |= dict.fromkeys(("velocity", "acceleration"), none)
    still = np.zeros((len(names), 1))
    for case in np.flatnonzero(~passed).tolist():
        one = Motion(np.zeros(1), names, inputs[case][:, None].copy(), still, still)
        proven = Proof(model, one, 0, memory, run.compiled, least=LEAST).trajectory(everything)
        for name in ("position", "orientation", *QUALITY):
            found[name][:, case] = getattr(proven, name)[0]
    return Arrays.named(found)
