"""Struts of a group between bodies that stand already, after these have been solved."""

from __future__ import annotations

from typing import Any

from groups.kernels.lanes import room
from groups.kernels.layout import legs_of
from groups.kernels.strut import CONDITION, LANES, RESIDUAL, ROWS, SIGNS, STATUS, place, strut_in
from groups.kernels.strut import FLOATS as STRUT_FLOATS
from groups.kernels.strut import INTS as STRUT_INTS
from groups.status import OK
from mbssa.arrays import Floats, Ints

Inputs = tuple[Floats, Floats, Floats]


def solve_legs(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """Place the struts; the first fault is the group's status. Arguments as of :mod:`groups.kernels`."""
    status, residual, _, condition = quality
    legs = legs_of(ints, floats, memory)
    W = room(ROWS, LANES)
    for leg in range(legs.number):
        strut = strut_in(legs.ints, leg * STRUT_INTS, legs.floats, leg * STRUT_FLOATS)
        for t in range(0, count, LANES):
            n = min(LANES, count - t)
            place(strut, legs.signs, leg * SIGNS, S, t, n, inputs, first + t, level, W)
            for k in range(n):
                at = first + t + k
                if status[group, at] == OK:
                    status[group, at] = int(W[STATUS, k])
                    residual[group, at] = max(residual[group, at], W[RESIDUAL, k])
                    condition[group, at] = min(condition[group, at], W[CONDITION, k])
