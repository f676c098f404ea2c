"""Angles at poses, with the turns that they make on straight lines of the inputs from the reference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groups import Model
from groups.branches.poses import LONGEST, lines, pieces
from groups.results.joints import joint_motion, turn_motion
from groups.run import along_lines
from mbssa.arrays import Floats

#: Rate per piece by which an angle may change in a piece, rad, and its advance may differ from the mean rate.
SURE = 1.0
#: Most times that pieces are cut into four, where an angle's turns are not sure.
FINEST = 4


def counted(
    model: Model, inputs: Floats, joints: Sequence[int], bodies: Sequence[int], compiled: bool, cuts: int = 0
) -> dict[tuple[str, int], Floats]:
    """Coordinates (n, k) of joints and angles (n, 1) of planar bodies, for each row of inputs (n, D)."""
    # Lines are cut into pieces that end where angles advance by their mean rate. NaN where a line has no end.
    number = pieces(model, inputs) * 4**cuts
    if len(inputs) > 1 and number.sum() > LONGEST:  # memory for one line is enough
        halves = [counted(model, half, joints, bodies, compiled, cuts) for half in np.array_split(inputs, 2)]
        return {key: np.concatenate([half[key] for half in halves]) for key in halves[0]}
    motion, starts, stops = lines(model, inputs, number)
    everything = np.arange(model.mechanism.n_bodies)
    trajectory = along_lines(model, motion, starts, stops, everything, 1, compiled).answer
    found: dict[tuple[str, int], Floats] = {}
    sure = np.ones(len(inputs), dtype=np.bool_)
    motions = {("joint", j): joint_motion(trajectory, j, starts) for j in joints}
    levels = {key: (one.value, one.rate, [u == "rad" for u in one.units]) for key, one in motions.items()}
    turns = {("body", b): turn_motion(trajectory, b, starts) for b in bodies}
    levels |= {key: (angle[:, None], speed[:, None], [True]) for key, (angle, speed) in turns.items()}
    for key, (angle, speed, turning) in levels.items():
        found[key] = angle[stops - 1]
        with np.errstate(invalid="ignore"):
            change, mean = np.diff(speed, axis=0), (speed[1:] + speed[:-1]) / 2
            off = np.maximum(np.abs(change), np.abs(np.diff(angle, axis=0) - mean))[:, turning].max(axis=1)
        off[starts[1:] - 1] = 0.0
        sure &= np.maximum.reduceat(np.nan_to_num(off, nan=0.0, posinf=np.inf), starts) < SURE
    again = np.flatnonzero(~sure & (4 * number <= LONGEST))
    if len(again) and cuts < FINEST:
        finer = counted(model, inputs[again], joints, bodies, compiled, cuts + 1)
        for key, angles in finer.items():
            found[key][again] = angles
    return found
