"""Singular positions on the way of the motion that a model carries, for ``mbssa check``."""

from __future__ import annotations

import time

import numpy as np

import mbssa
from groups.engine.solve import plan_of
from groups.model import build
from groups.motion import default_motion
from groups.results.limits import excesses
from groups.status import NOT_COMPUTED
from mbssa import Mechanism

#: Instants at most: what lies between them is proven, or found.
INSTANTS = 73
#: Seconds of plain Python at which the examination of a motion ends; a longer one does not begin.
LONGEST = 10.0


def singular_positions(mechanism: Mechanism) -> list[str]:
    """A sentence for each singular position and passed limit of the model's own motion; none if too large."""
    try:
        model, motion = build(mbssa.decompose(mechanism)), default_motion(mechanism)
    except (ValueError, np.linalg.LinAlgError):
        return []
    if len(motion.time) > INSTANTS:
        motion = default_motion(mechanism, steps=INSTANTS)
    if plan_of(model).seconds(len(motion.time)) > LONGEST:
        return []
    end = time.process_time() + LONGEST
    found = model.solve(
        motion,
        level="velocity",
        branch="proven",
        compiled=False,
        progress=lambda _share: time.process_time() < end,
    )
    said = [
        f"in the model's motion SG-{one.group} of {model.group_names[one.group - 1]} is singular {one}"
        for one in found.singular
        if one.kind != "unresolved"
    ]
    said += [f"in the model's motion {one.text(mechanism.units)}" for one in excesses(found)]
    computed = int((found.status != NOT_COMPUTED).all(axis=1).sum())
    if computed < len(motion.time):
        last = f"{motion.time[max(computed - 1, 0)]:.5g} s"
        said.append(f"the model's motion was examined up to {last}; mbssa solve continues to its end")
    return said
