"""Driven bodies: a group without unknowns, in one pass from each parent to its body.

A frame is carried from the parent's origin through
the steps of the joint: what it is, and how it moves, stays in a few numbers.
"""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.layout import STILL, TURN, Floats, Ints, tree_of
from groups.kernels.status import OK, WAITS
from groups.kernels.trigonometry import sine_cosine
from groups.kernels.vectors import (
    ACCELERATION,
    POSITION,
    SPIN,
    SPIN_RATE,
    VELOCITY,
    cross,
    matrix_of,
    plus,
    plus_times,
    product,
    put_rotation,
    put_vector,
    rotate,
    rotation_at,
    times,
    turned_by,
    vector_at,
    vector_of,
    void,
)

Inputs = tuple[Floats, Floats, Floats]


def solve_driven(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """A group without unknowns, without its struts; arguments as :mod:`groups.kernels` has them."""
    tree = tree_of(ints, floats)
    status, residual, iterations, condition = quality
    for t in range(first, first + count):
        status[group, t], residual[group, t], iterations[group, t], condition[group, t] = OK, 0.0, 0, 1.0
    known = len(tree.known)
    for link in range(len(tree.own)):
        body, parent = tree.own[link], tree.parent[link]
        parent = tree.known[parent] if parent < known else tree.own[parent - known]
        start, stop = tree.first_step[link], tree.first_step[link + 1]
        for t in range(count):
            p, R = vector_at(S, parent, t, POSITION), rotation_at(S, parent, t)
            if p[0] != p[0]:
                status[group, first + t] = WAITS
                residual[group, first + t] = math.nan
                condition[group, first + t] = 0.0
                void(S, body, t)
                continue
            v, w = vector_at(S, parent, t, VELOCITY), vector_at(S, parent, t, SPIN)
            a, d = vector_at(S, parent, t, ACCELERATION), vector_at(S, parent, t, SPIN_RATE)
            for s in range(start, stop):
                kind = tree.kind[s]
                if kind == STILL:
                    c = tree.constant[s]
                    shift = rotate(R, vector_of(tree.transform, c, 0))
                    p, R = plus(p, shift), product(R, matrix_of(tree.transform, c, 3))
                    if level > 0:
                        arc = cross(w, shift)
                        v, a = plus(v, arc), plus(a, plus(cross(d, shift), cross(w, arc)))
                    continue
                row, factor, k = tree.drive[s], tree.factor[s], tree.axis[s]
                axis = (R[k], R[3 + k], R[6 + k])
                amount = factor * inputs[0][row, first + t]
                rate, rise = 0.0, 0.0
                if level > 0:
                    rate, rise = factor * inputs[1][row, first + t], factor * inputs[2][row, first + t]
                if kind == TURN:
                    sine, cosine = sine_cosine(amount)
                    R = turned_by(R, k, cosine, sine)
                    if level > 0:
                        d = plus(plus_times(d, rise, axis), times(rate, cross(w, axis)))
                        w = plus_times(w, rate, axis)
                    continue
                shift = times(amount, axis)
                p = plus(p, shift)
                if level > 0:
                    arc = cross(w, shift)
                    pull = plus(cross(d, shift), cross(w, arc))
                    a = plus(plus_times(plus(a, pull), rise, axis), times(2.0 * rate, cross(w, axis)))
                    v = plus(plus_times(v, rate, axis), arc)
            put_vector(S, body, t, POSITION, p)
            put_rotation(S, body, t, R)
            if level > 0:
                put_vector(S, body, t, VELOCITY, v)
                put_vector(S, body, t, SPIN, w)
                put_vector(S, body, t, ACCELERATION, a)
                put_vector(S, body, t, SPIN_RATE, d)
