"""One unknown joint, with any number of driven ones around it, and one rod in space, in straight code.

Bodies beyond the unknown joint have poses and rates in its moving frame that inputs alone prescribe. The
rod's end is one of their points, so that :func:`groups.kernels.reach.closed` gives the turn or slide. Its
rates follow from those of the distance, and the bodies from the motion of the frame and their own in it.
"""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.driven import Inputs, State, carried, put_state, state_at
from groups.kernels.layout import SIGN, SLIDE, Floats, Ints, Tree, cuts_of, tree_of
from groups.kernels.reach import FLAT, along, closed
from groups.kernels.status import NOT_CONVERGED, OK, SINGULAR, WAITS
from groups.kernels.vectors import (
    Vector,
    cross,
    dot,
    length,
    minus,
    plus,
    plus_times,
    product,
    rotate,
    rotate_back,
    times,
    turned_by,
    vector_of,
    void,
)

_NONE = (0.0, 0.0, 0.0)
#: A frame in itself.
_STILL: State = (_NONE, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), _NONE, _NONE, _NONE, _NONE)


def solve_rod_chain(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """A group without its struts; arguments as :mod:`groups.kernels` has them."""
    status, residual, iterations, condition = quality
    tree, cuts = tree_of(ints, floats), cuts_of(ints, floats)
    known, links = len(tree.known), len(tree.own)
    step, lead = 0, 0
    while tree.unknown[step] < 0:
        step += 1
    while tree.first_step[lead + 1] <= step:
        lead += 1
    axis, factor, slides = tree.axis[step], tree.factor[step], tree.kind[step] == SLIDE
    # The rod's end beyond the joint, and the other.
    moves = 1 if tree.influence[cuts.rod[0, 1], 0] == 1 else 0
    body, held = body_of(tree, cuts.rod[0, moves]), vector_of(cuts.rod_point, 0, 3 * moves)
    goal, other = body_of(tree, cuts.rod[0, 1 - moves]), vector_of(cuts.rod_point, 0, 3 - 3 * moves)
    row, squares = cuts.rod[0, 2], vector_of(cuts.rod_point, 0, 6)
    for t in range(count):
        instant = first + t
        iterations[group, instant] = 0
        condition[group, instant] = 0.0
        residual[group, instant] = math.nan
        waits = False
        for k in range(known):
            waits = waits or S[tree.known[k], 0, t] != S[tree.known[k], 0, t]
        if waits:
            status[group, instant] = WAITS
            void_all(tree, S, t)
            continue
        # Bodies before the joint in the world, those beyond it in the joint's frame for now.
        for link in range(links):
            begin, stop = tree.first_step[link], tree.first_step[link + 1]
            state = _STILL
            if link == lead:
                begin = step + 1
            else:
                state = state_at(S, body_of(tree, tree.parent[link]), t)
            put_state(S, tree.own[link], t, carried(tree, begin, stop, state, inputs, instant, level), level)
        near = state_at(S, body_of(tree, tree.parent[lead]), t)
        near = carried(tree, tree.first_step[lead], step, near, inputs, instant, level)
        o, F, v_o, w, a_o, d = near
        z = (F[axis], F[3 + axis], F[6 + axis])
        e = point_of(state_at(S, body, t), held)
        end = point_of(state_at(S, goal, t), other)
        s = inputs[0][row, instant] if row >= 0 else 0.0
        square = squares[0] + s * (squares[1] + s * squares[2])
        size = math.sqrt(max(square, 0.0))
        to_end = rotate_back(F, minus(end[0], o))
        met, beyond, cosine, sine, slide, lean = closed(
            slides, along(e[0], axis), along(to_end, axis), square, memory[SIGN] * factor
        )
        if met != OK:
            status[group, instant] = met
            residual[group, instant] = beyond
            void_all(tree, S, t)
            continue
        shift = times(slide, z)
        frame = plus(o, shift), turned_by(F, axis, cosine, sine), v_o, w, a_o, d
        rod = minus(carried_by(frame, e)[0], end[0])
        miss = abs(length(rod) - size)
        residual[group, instant] = miss
        condition[group, instant] = lean
        # Near a dead point a root halves the digits of its square.
        if not miss <= max(cuts.limit[1], 1e-8 * cuts.limit[0]):
            status[group, instant] = NOT_CONVERGED
            void_all(tree, S, t)
            continue
        if level > 0 and lean < FLAT:
            status[group, instant] = SINGULAR
            void_all(tree, S, t)
            continue
        status[group, instant] = OK
        if level > 0:
            n = times(1.0 / size, rod)
            slope = (0.5 * squares[1] + s * squares[2]) / size
            ds = inputs[1][row, instant] if row >= 0 else 0.0
            dds = inputs[2][row, instant] if row >= 0 else 0.0
            # As if the joint stood still, then with its rate, then with its acceleration.
            arc = cross(w, shift)
            v = plus(v_o, arc)
            a = plus(a_o, plus(cross(d, shift), cross(w, arc)))
            frame = frame[0], frame[1], v, w, a, d
            p, speed, _ = carried_by(frame, e)
            u = z if slides else cross(z, minus(p, frame[0]))
            over = 1.0 / dot(n, u)
            rate = (slope * ds + dot(n, minus(end[1], speed))) * over
            if slides:
                frame = (
                    frame[0],
                    frame[1],
                    plus_times(v, rate, z),
                    w,
                    plus_times(a, 2.0 * rate, cross(w, z)),
                    d,
                )
            else:
                frame = frame[0], frame[1], v, plus_times(w, rate, z), a, plus_times(d, rate, cross(w, z))
            _, speed, pull = carried_by(frame, e)
            apart = minus(speed, end[1])
            closing = dot(n, apart)
            bow = (squares[2] - slope * slope) / size
            wanted = slope * dds + bow * ds * ds - (dot(apart, apart) - closing * closing) / size
            rise = (wanted + dot(n, minus(end[2], pull))) * over
            if slides:
                frame = frame[0], frame[1], frame[2], w, plus_times(frame[4], rise, z), d
            else:
                frame = frame[0], frame[1], v, frame[3], a, plus_times(frame[5], rise, z)
        for link in range(lead, links):
            if tree.influence[known + link, 0] == 1:
                own = tree.own[link]
                put_state(S, own, t, moved_with(frame, state_at(S, own, t), level), level)


def body_of(tree: Tree, place: int) -> int:
    """The body at a place of the group's stage."""
    known = len(tree.known)
    body: int = tree.known[place] if place < known else tree.own[place - known]
    return body


def void_all(tree: Tree, S: Floats, t: int) -> None:
    """Say that no body of the group has an answer at an instant."""
    for link in range(len(tree.own)):
        void(S, tree.own[link], t)


def point_of(state: State, arm: Vector) -> tuple[Vector, Vector, Vector]:
    """Place, velocity and acceleration of a body's point, ``arm`` in its axes."""
    p, R, v, w, a, d = state
    r = rotate(R, arm)
    arc = cross(w, r)
    return plus(p, r), plus(v, arc), plus(a, plus(cross(d, r), cross(w, arc)))


def carried_by(frame: State, point: tuple[Vector, Vector, Vector]) -> tuple[Vector, Vector, Vector]:
    """Place, velocity and acceleration in the world of a point that moves in a frame."""
    p, R, v, w, a, d = frame
    r, speed = rotate(R, point[0]), rotate(R, point[1])
    arc = cross(w, r)
    pull = plus(plus(cross(d, r), cross(w, arc)), plus_times(rotate(R, point[2]), 2.0, cross(w, speed)))
    return plus(p, r), plus(plus(v, arc), speed), plus(a, pull)


def moved_with(frame: State, state: State, level: int) -> State:
    """The state in the world of a body that moves in a frame; up to ``level``."""
    p, R, v, w, a, d = state
    turn, spin = frame[1], frame[3]
    R = product(turn, R)
    if level == 0:
        return plus(frame[0], rotate(turn, p)), R, v, w, a, d
    p, v, a = carried_by(frame, (p, v, a))
    w, d = rotate(turn, w), rotate(turn, d)
    return p, R, v, plus(spin, w), a, plus(plus(frame[5], d), cross(spin, w))
