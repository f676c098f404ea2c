"""Driven bodies: a group without unknowns, in one pass from each parent to its body."""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.layout import STILL, TURN, Tree, tree_of
from groups.kernels.trigonometry import sine_cosine
from groups.kernels.vectors import (
    ACCELERATION,
    POSITION,
    SPIN,
    SPIN_RATE,
    VELOCITY,
    Matrix,
    Vector,
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
from groups.status import OK, PREDECESSOR_FAILED
from mbssa.arrays import Floats, Ints
from mbssa.compiled import merged

Inputs = tuple[Floats, Floats, Floats]
#: Position, rotation, velocity, spin, acceleration and spin's rate of a frame, world axes.
State = tuple[Vector, Matrix, Vector, Vector, Vector, Vector]


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
            if S[parent, 0, t] != S[parent, 0, t]:
                status[group, first + t] = PREDECESSOR_FAILED
                residual[group, first + t] = math.nan
                condition[group, first + t] = 0.0
                void(S, body, t)
                continue
            state = carried(tree, start, stop, state_at(S, parent, t), inputs, first + t, level)
            put_state(S, body, t, state, level)


@merged
def carried(
    tree: Tree, start: int, stop: int, state: State, inputs: Inputs, instant: int, level: int
) -> State:
    """The state of a frame after some steps, of which none is an unknown; up to ``level``."""
    p, R, v, w, a, d = state
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
        amount = factor * inputs[0][row, instant]
        rate, rise = 0.0, 0.0
        if level > 0:
            rate, rise = factor * inputs[1][row, instant], factor * inputs[2][row, instant]
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
    return p, R, v, w, a, d


def state_at(S: Floats, body: int, t: int) -> State:
    """The state of a body at an instant."""
    return (
        vector_at(S, body, t, POSITION), rotation_at(S, body, t), vector_at(S, body, t, VELOCITY),
        vector_at(S, body, t, SPIN), vector_at(S, body, t, ACCELERATION), vector_at(S, body, t, SPIN_RATE),
    )  # fmt: skip


def put_state(S: Floats, body: int, t: int, state: State, level: int) -> None:
    """Write the state of a body at an instant; from level 1 on, rates."""
    p, R, v, w, a, d = state
    put_vector(S, body, t, POSITION, p)
    put_rotation(S, body, t, R)
    if level > 0:
        put_vector(S, body, t, VELOCITY, v)
        put_vector(S, body, t, SPIN, w)
        put_vector(S, body, t, ACCELERATION, a)
        put_vector(S, body, t, SPIN_RATE, d)
