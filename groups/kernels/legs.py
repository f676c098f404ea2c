"""Struts of a group between bodies that stand already, after these have been solved."""

from __future__ import annotations

from typing import Any

from groups.kernels.layout import Floats, Ints, legs_of
from groups.kernels.status import OK
from groups.kernels.strut import CONDITION, LANES, RESIDUAL, SCRATCH, SIGNS, STATUS, cell, place
from groups.kernels.strut import FLOATS as STRUT_FLOATS
from groups.kernels.strut import INTS as STRUT_INTS

Inputs = tuple[Floats, Floats, Floats]


def solve_legs(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """Place the struts; each has a say in the group's status. Arguments as :mod:`groups.kernels` has them."""
    status, residual, _, condition = quality
    legs = legs_of(ints, floats, memory)
    scratch = work[legs.room : legs.room + SCRATCH]
    for k in range(legs.number):
        for t in range(0, count, LANES):
            lanes = min(LANES, count - t)
            place(
                legs.ints, k * STRUT_INTS, legs.floats, k * STRUT_FLOATS, S, t, lanes, inputs, first + t,
                legs.signs, k * SIGNS, level, scratch,
            )  # fmt: skip
            for lane in range(lanes):
                at = first + t + lane
                if status[group, at] == OK:
                    status[group, at] = int(scratch[cell(STATUS, lane)])
                    residual[group, at] = max(residual[group, at], scratch[cell(RESIDUAL, lane)])
                    condition[group, at] = min(condition[group, at], scratch[cell(CONDITION, lane)])
