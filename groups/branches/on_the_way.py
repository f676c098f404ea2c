"""Singular positions on the way of the motion that a model carries, for ``mbssa check``."""

from __future__ import annotations

import numpy as np

import mbssa
from groups.model import build
from groups.motion import default_motion
from mbssa import Mechanism

#: Instants at most: what lies between them is proven, or found.
INSTANTS = 73
#: Seconds of plain Python beyond which a motion is not looked at.
LONGEST = 10.0


def singular_positions(mechanism: Mechanism) -> list[str]:
    """A sentence for each singular position on the way of the model's own motion.

    A model that carries no motion, or cannot be solved, has none; nor has one too large for it.

    >>> singular_positions(mbssa.load("planar_four_bar"))
    []
    """
    try:
        model, motion = build(mbssa.decompose(mechanism)), default_motion(mechanism)
    except (ValueError, np.linalg.LinAlgError):
        return []
    if len(motion.time) > INSTANTS:
        motion = default_motion(mechanism, steps=INSTANTS)
    if model.plain_seconds * len(motion.time) > LONGEST:
        return []
    found = model.solve(motion, level="velocity", branch="proven")
    return [
        f"in the model's motion SG-{one.group} of {model.group_names[one.group - 1]} is singular {one}"
        for one in found.singular
        if one.kind != "unresolved"
    ]
