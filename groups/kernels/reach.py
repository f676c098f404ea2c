"""A circle or a line meets a sphere: one body on one hinge or slide, held at a distance, in straight code."""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.layout import METHOD, REACH, SIGN, SLIDE, STILL, cuts_of, tree_of
from groups.kernels.vectors import (
    ACCELERATION,
    POSITION,
    SPIN,
    SPIN_RATE,
    VELOCITY,
    Matrix,
    Vector,
    cross,
    dot,
    length,
    matrix_of,
    minus,
    plus,
    plus_times,
    product,
    put_rotation,
    put_vector,
    rotate,
    rotate_back,
    rotation_at,
    times,
    turned_by,
    vector_at,
    vector_of,
    void,
)
from groups.status import NOT_CONVERGED, OK, OUT_OF_REACH, PREDECESSOR_FAILED, SINGULAR
from mbssa.arrays import Floats, Ints

Inputs = tuple[Floats, Floats, Floats]
_ONE: Matrix = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_NONE: Vector = (0.0, 0.0, 0.0)
#: Condition below which a position has no rates.
FLAT = 1e-9
#: Largest negative square of a length that counts as rounding.
ROUNDING = 1e-14


def is_simple(ints: Ints, floats: Floats) -> bool:
    """Whether a group in closed form is one body in space on one hinge or slide, held by a rod."""
    tree = tree_of(ints, floats)
    moving = [kind for kind in tree.kind.tolist() if kind != STILL]
    return (
        ints[METHOD] == REACH
        and not tree.planar
        and len(tree.own) == 1
        and len(moving) == 1
        and len(tree.kind) <= 3
    )


def solve_reach(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """A simple group, without its struts; arguments as :mod:`groups.kernels` has them."""
    status, residual, iterations, condition = quality
    tree, cuts = tree_of(ints, floats), cuts_of(ints, floats)
    own, a = tree.own[0], tree.known[tree.parent[0]]
    # The joint in its parent, and the body in the joint.
    near, near_turn, far, far_turn = _NONE, _ONE, _NONE, _ONE
    step = 0
    if tree.kind[0] == STILL:
        k = tree.constant[0]
        near, near_turn = vector_of(tree.transform, k, 0), matrix_of(tree.transform, k, 3)
        step = 1
    slides = tree.kind[step] == SLIDE
    if len(tree.kind) > step + 1:
        k = tree.constant[step + 1]
        far, far_turn = vector_of(tree.transform, k, 0), matrix_of(tree.transform, k, 3)
    axis = tree.axis[step]
    # The end of the rod on the group's own body, and the other.
    moves = 1 if tree.influence[cuts.rod[0, 1], 0] == 1 else 0
    held = vector_of(cuts.rod_point, 0, 3 * moves)
    e = plus(far, rotate(far_turn, held))
    other = vector_of(cuts.rod_point, 0, 3 - 3 * moves)
    c = tree.known[cuts.rod[0, 1 - moves]]
    row, squares = cuts.rod[0, 2], vector_of(cuts.rod_point, 0, 6)
    sign = memory[SIGN] * tree.factor[step]
    size, near_enough = cuts.limit[0], cuts.limit[1]
    for t in range(count):
        instant = first + t
        iterations[group, instant] = 0
        condition[group, instant] = 0.0
        residual[group, instant] = math.nan
        if S[a, 0, t] != S[a, 0, t] or S[c, 0, t] != S[c, 0, t]:
            status[group, instant] = PREDECESSOR_FAILED
            void(S, own, t)
            continue
        turn_a, at_a = rotation_at(S, a, t), vector_at(S, a, t, POSITION)
        F = product(turn_a, near_turn)
        to_o = rotate(turn_a, near)
        o = plus(at_a, to_o)
        to_t = rotate(rotation_at(S, c, t), other)
        end = plus(vector_at(S, c, t, POSITION), to_t)
        g = rotate_back(F, minus(end, o))
        s = inputs[0][row, instant] if row >= 0 else 0.0
        square = squares[0] + s * (squares[1] + s * squares[2])
        reach = math.sqrt(max(square, 0.0))
        z = (F[axis], F[3 + axis], F[6 + axis])
        met, beyond, cosine, sine, slide, lean = closed(slides, along(e, axis), along(g, axis), square, sign)
        if met != OK:
            status[group, instant] = met
            residual[group, instant] = beyond
            void(S, own, t)
            continue
        J = turned_by(F, axis, cosine, sine)
        joint = plus_times(o, slide, z)
        turn = product(J, far_turn)
        position = plus(joint, rotate(J, far))
        arm = rotate(turn, held)
        rod = minus(plus(position, arm), end)
        miss = abs(length(rod) - reach)
        residual[group, instant] = miss
        condition[group, instant] = lean
        # Near a dead point a root halves the digits of its square.
        if not miss <= max(near_enough, 1e-8 * size):
            status[group, instant] = NOT_CONVERGED
            void(S, own, t)
            continue
        if level > 0 and lean < FLAT:
            status[group, instant] = SINGULAR
            void(S, own, t)
            continue
        status[group, instant] = OK
        put_vector(S, own, t, POSITION, position)
        put_rotation(S, own, t, turn)
        if level == 0:
            continue
        ds = inputs[1][row, instant] if row >= 0 else 0.0
        dds = inputs[2][row, instant] if row >= 0 else 0.0
        slope = (0.5 * squares[1] + s * squares[2]) / reach
        stretch = slope * ds
        n = times(1.0 / reach, rod)
        w_a, w_c = vector_at(S, a, t, SPIN), vector_at(S, c, t, SPIN)
        v_a = vector_at(S, a, t, VELOCITY)
        arc_t = cross(w_c, to_t)
        v_t = plus(vector_at(S, c, t, VELOCITY), arc_t)
        from_a = minus(plus(position, arm), at_a)
        # What a unit rate does to the held point, and to the body's origin.
        u = z if slides else cross(z, minus(plus(position, arm), o))
        lead = plus(v_a, cross(w_a, from_a))
        rate = (stretch + dot(n, minus(v_t, lead))) / dot(n, u)
        w = w_a if slides else plus_times(w_a, rate, z)
        to_body = minus(position, at_a)
        u_body = z if slides else cross(z, minus(position, o))
        put_vector(S, own, t, VELOCITY, plus_times(plus(v_a, cross(w_a, to_body)), rate, u_body))
        put_vector(S, own, t, SPIN, w)
        if level == 1:
            continue
        d_a, d_c = vector_at(S, a, t, SPIN_RATE), vector_at(S, c, t, SPIN_RATE)
        a_a = vector_at(S, a, t, ACCELERATION)
        a_t = plus(vector_at(S, c, t, ACCELERATION), plus(cross(d_c, to_t), cross(w_c, arc_t)))
        apart = minus(plus_times(lead, rate, u), v_t)
        swing = 2.0 * rate
        bend = _NONE if slides else times(rate * rate, cross(z, u))
        a_p = plus(plus(a_a, cross(d_a, from_a)), cross(w_a, cross(w_a, from_a)))
        a_p = plus(plus_times(a_p, swing, cross(w_a, u)), bend)
        closing = dot(n, apart)
        bow = (squares[2] - slope * slope) / reach
        wanted = slope * dds + bow * ds * ds - (dot(apart, apart) - closing * closing) / reach
        rise = (wanted + dot(n, minus(a_t, a_p))) / dot(n, u)
        bend = _NONE if slides else times(rate * rate, cross(z, u_body))
        a_b = plus(plus(a_a, cross(d_a, to_body)), cross(w_a, cross(w_a, to_body)))
        a_b = plus(plus(plus_times(a_b, swing, cross(w_a, u_body)), bend), times(rise, u_body))
        put_vector(S, own, t, ACCELERATION, a_b)
        d = d_a if slides else plus(plus_times(d_a, rise, z), times(rate, cross(w_a, z)))
        put_vector(S, own, t, SPIN_RATE, d)


def closed(
    slides: bool, e: Vector, g: Vector, square: float, sign: float
) -> tuple[int, float, float, float, float, float]:
    """Turn about, or slide along, the third axis that brings ``e`` to a distance from ``g``."""
    ex, ey, ez = e
    gx, gy, gz = g
    reach = math.sqrt(max(square, 0.0))
    if slides:
        room = square - (ex - gx) * (ex - gx) - (ey - gy) * (ey - gy)
        if room < -ROUNDING * square:
            return OUT_OF_REACH, math.sqrt(square - room) - reach, 1.0, 0.0, 0.0, 0.0
        root = math.sqrt(max(room, 0.0))
        return OK, 0.0, 1.0, 0.0, gz - ez + sign * root, root / reach
    x, y = ex * gx + ey * gy, ex * gy - ey * gx
    rings = ex * ex + ey * ey + gx * gx + gy * gy
    wanted = 0.5 * ((gz - ez) * (gz - ez) + rings - square)
    far2 = x * x + y * y
    room = far2 - wanted * wanted
    if room < -ROUNDING * far2 or not far2 > 0.0:
        return OUT_OF_REACH, (abs(wanted) - math.sqrt(far2)) / max(reach, 1e-300), 1.0, 0.0, 0.0, 0.0
    root = math.sqrt(max(room, 0.0))
    over = 1.0 / far2
    cosine = (wanted * x - sign * root * y) * over
    sine = (wanted * y + sign * root * x) * over
    # Twice as near to one: rounding of the root is not seen in the length of the turn.
    trim = 0.5 * (3.0 - cosine * cosine - sine * sine)
    return OK, 0.0, cosine * trim, sine * trim, 0.0, root / (reach * math.sqrt(ex * ex + ey * ey))


def along(a: Vector, axis: Any) -> Vector:
    """Components of a vector with that along ``axis`` last, in a right-handed order."""
    if axis == 2:
        return a
    if axis == 0:
        return a[1], a[2], a[0]
    return a[2], a[0], a[1]
