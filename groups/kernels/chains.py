"""Planar groups of chains of elementary motions."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from groups.kernels.trigonometry import angle_of
from groups.kernels.vectors import void
from groups.status import OK, OUT_OF_REACH, PREDECESSOR_FAILED, SINGULAR
from mbssa.arrays import Floats, Ints

#: Status, residual (m), iterations and condition, (G, T) each.
Quality = tuple[npt.NDArray[np.int8], Floats, Ints, Floats]
#: Value, rate and second rate of the inputs, (D, T) each.
Inputs = tuple[Floats, Floats, Floats]
Pair = tuple[float, float]
#: x, y, cos, sin, angle, then velocity and acceleration of a moving frame.
Frame = tuple[float, float, float, float, float, float, float, float, float, float, float]

N_KNOWN, N_OWN, END_A, END_B, FIRST, SECOND = 1, 2, 3, 4, 5, 6
HEAD, RECORD, NUMBERS = 7, 3, 5

START, MOVE, TURN, SLIDE, BODY = 0, 1, 2, 3, 4
UNKNOWN_1, UNKNOWN_2 = -1, -2

SIGN, ANGLE_1, ANGLE_2, MEMORY = 0, 1, 2, 3

#: Share of the square of the longest length by which a root may miss zero and still be a touching pair.
TOUCH = 4e-15
#: Sine of the angle between two motions below which they close nothing.
DEAD = 1e-9
FULL = 2.0 * math.pi

#: Numbers of a body's state.
STATE = 11


class Records(NamedTuple):
    """Steps that lead a frame from body to body, side A and then side B, (n,) arrays."""

    kind: Ints
    source: Ints
    body: Ints
    sign: Floats
    x: Floats
    y: Floats
    cos: Floats
    sin: Floats
    angle: Floats
    known: Ints
    own: Ints
    end_a: int
    end_b: int
    first: int
    second: int


def records_in(ints: Ints, floats: Floats) -> Records:
    """Read the records of both sides."""
    known = HEAD + RECORD * ints[END_B]
    own = known + ints[N_KNOWN]
    return Records(
        ints[HEAD:known:RECORD], ints[HEAD + 1 : known : RECORD], ints[HEAD + 2 : known : RECORD],
        floats[0::NUMBERS], floats[0::NUMBERS], floats[1::NUMBERS], floats[2::NUMBERS], floats[3::NUMBERS],
        floats[4::NUMBERS], ints[known:own], ints[own : own + ints[N_OWN]],
        ints[END_A], ints[END_B], ints[FIRST], ints[SECOND],
    )  # fmt: skip


def room_of(ints: Ints) -> int:
    """Numbers that the kernels need to work in: cosine and sine of every turn, by record."""
    return 2 * int(ints[END_B])


def solve_planar_driven(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Quality, level: int,
) -> None:  # fmt: skip
    """Bodies whose every coordinate is an input; arguments as :mod:`groups.kernels` has them."""
    records = records_in(ints, floats)
    status, residual, iterations, condition = quality
    q = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    turned = work.reshape(records.end_b, 2)
    for t in range(count):
        when = first + t
        residual[group, when], iterations[group, when] = 0.0, 0
        if is_predecessor_missing(records, S, t):
            status[group, when], condition[group, when] = PREDECESSOR_FAILED, 0.0
            void_own(records, S, t)
            continue
        status[group, when], condition[group, when] = OK, 1.0
        turn_inputs(records, inputs, when, turned)
        walk(records, 0, records.end_a, q, turned, inputs, when, S, t, level)


def solve_chains(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Quality, level: int,
) -> None:  # fmt: skip
    """Two unknown motions, with driven ones between; where both are on side A the second is a slide."""
    records = records_in(ints, floats)
    status, residual, iterations, condition = quality
    end_a, end_b, i, j = records.end_a, records.end_b, records.first, records.second
    one_side = j < end_a
    start_2 = 0 if one_side else end_a
    sign_2 = 1.0 if one_side else -1.0
    turned = work.reshape(end_b, 2)
    for t in range(count):
        when = first + t
        condition[group, when], residual[group, when], iterations[group, when] = 0.0, 0.0, 0
        if is_predecessor_missing(records, S, t):
            status[group, when] = PREDECESSOR_FAILED
            void_own(records, S, t)
            continue
        q = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        turn_inputs(records, inputs, when, turned)
        # In front of the first unknown motion, and from there to the closing point or to the second.
        front = walk(records, 0, i, q, turned, inputs, when, S, t, -1)
        if one_side:
            target = walk(records, end_a, end_b, q, turned, inputs, when, S, t, -1)
            between = walk(records, i + 1, j, q, turned, inputs, when, S, t, -1)
            arm = walk(records, j + 1, end_a, q, turned, inputs, when, S, t, -1)
            tool = composed(between, arm)
            if records.kind[i] == TURN:
                verdict, miss, q1, q2 = hinge_and_slide(i, front, target, between, tool, memory, turned)
            else:
                verdict, miss, q1, q2 = slide_and_slide(front, target, between, tool)
        else:
            other = walk(records, end_a, j, q, turned, inputs, when, S, t, -1)
            arm_1 = walk(records, i + 1, end_a, q, turned, inputs, when, S, t, -1)
            arm_2 = walk(records, j + 1, end_b, q, turned, inputs, when, S, t, -1)
            verdict, miss, q1, q2 = two_sided(records, front, other, arm_1, arm_2, memory, turned)
        if verdict == OK:
            q1 *= records.sign[i]
            q2 *= records.sign[j]
            q = (q1, 0.0, 0.0, q2, 0.0, 0.0)
            tip = walk(records, 0, end_a, q, turned, inputs, when, S, t, -1)
            goal = walk(records, end_a, end_b, q, turned, inputs, when, S, t, -1)
            # What each unknown motion does to the gap from the end of B to the end of A.
            x1, y1 = column(records, i, front, tip)
            second = walk(records, start_2, j, q, turned, inputs, when, S, t, -1)
            x2, y2 = column(records, j, second, tip)
            x2 *= sign_2
            y2 *= sign_2
            determinant = x1 * y2 - y1 * x2
            sizes = math.sqrt((x1 * x1 + y1 * y1) * (x2 * x2 + y2 * y2))
            condition[group, when] = abs(determinant) / sizes if sizes > 0.0 else 0.0
            if level > 0 and condition[group, when] < DEAD:
                verdict = SINGULAR
        status[group, when] = verdict
        if verdict != OK:
            residual[group, when] = miss
            void_own(records, S, t)
            continue
        if level > 0:
            x, y = goal[5] - tip[5], goal[6] - tip[6]
            rate_1, rate_2 = (x * y2 - y * x2) / determinant, (x1 * y - y1 * x) / determinant
            q = (q1, rate_1, 0.0, q2, rate_2, 0.0)
        if level > 1:
            tip = walk(records, 0, end_a, q, turned, inputs, when, S, t, -1)
            goal = walk(records, end_a, end_b, q, turned, inputs, when, S, t, -1)
            x, y = goal[8] - tip[8], goal[9] - tip[9]
            q = (
                q1,
                rate_1,
                (x * y2 - y * x2) / determinant,
                q2,
                rate_2,
                (x1 * y - y1 * x) / determinant,
            )
        tip = walk(records, 0, end_a, q, turned, inputs, when, S, t, level)
        goal = walk(records, end_a, end_b, q, turned, inputs, when, S, t, level)
        residual[group, when] = max(abs(tip[0] - goal[0]), abs(tip[1] - goal[1]))


def turn_inputs(records: Records, inputs: Inputs, when: int, turned: Floats) -> None:
    """Cosine and sine of every driven turn at an instant, by record."""
    for k in range(records.end_b):
        if records.kind[k] == TURN and records.source[k] >= 0:
            angle = records.sign[k] * inputs[0][records.source[k], when]
            turned[k, 0], turned[k, 1] = math.cos(angle), math.sin(angle)


def walk(
    records: Records,
    begin: int,
    end: int,
    q: tuple[float, float, float, float, float, float],
    turned: Floats,
    inputs: Inputs,
    when: int,
    S: Floats,
    t: int,
    write: int,
) -> Frame:
    """The frame after records ``begin`` to ``end`` - 1, from a frame at rest at the origin."""
    value, rate, second = inputs[0], inputs[1], inputs[2]
    x, y, c, s, angle = 0.0, 0.0, 1.0, 0.0, 0.0
    vx, vy, w, ax, ay, al = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(begin, end):
        kind, source, body = records.kind[k], records.source[k], records.body[k]
        if kind == START:
            x, y, c, s, angle = S[body, 0, t], S[body, 1, t], S[body, 2, t], S[body, 3, t], S[body, 4, t]
            vx, vy, w = S[body, 5, t], S[body, 6, t], S[body, 7, t]
            ax, ay, al = S[body, 8, t], S[body, 9, t], S[body, 10, t]
        elif kind == MOVE:
            dx, dy = c * records.x[k] - s * records.y[k], s * records.x[k] + c * records.y[k]
            x += dx
            y += dy
            vx -= w * dy
            vy += w * dx
            ax -= al * dy + w * w * dx
            ay += al * dx - w * w * dy
            c, s = c * records.cos[k] - s * records.sin[k], s * records.cos[k] + c * records.sin[k]
            angle += records.angle[k]
        elif kind == BODY:
            if write >= 0:
                S[body, 0, t], S[body, 1, t], S[body, 2, t], S[body, 3, t], S[body, 4, t] = x, y, c, s, angle
            if write >= 1:
                S[body, 5, t], S[body, 6, t], S[body, 7, t] = vx, vy, w
            if write >= 2:
                S[body, 8, t], S[body, 9, t], S[body, 10, t] = ax, ay, al
        else:
            sign = records.sign[k]
            if source == UNKNOWN_1:
                p, pd, pdd = sign * q[0], sign * q[1], sign * q[2]
            elif source == UNKNOWN_2:
                p, pd, pdd = sign * q[3], sign * q[4], sign * q[5]
            else:
                p, pd, pdd = (
                    sign * value[source, when],
                    sign * rate[source, when],
                    sign * second[source, when],
                )
            if kind == TURN:
                cp, sp = turned[k, 0], turned[k, 1]
                c, s = c * cp - s * sp, s * cp + c * sp
                angle += p
                w += pd
                al += pdd
            else:
                x += p * c
                y += p * s
                vx += pd * c - w * p * s
                vy += pd * s + w * p * c
                ax += (pdd - w * w * p) * c - (al * p + 2.0 * w * pd) * s
                ay += (pdd - w * w * p) * s + (al * p + 2.0 * w * pd) * c
    return x, y, c, s, angle, vx, vy, w, ax, ay, al


def is_predecessor_missing(records: Records, S: Floats, t: int) -> bool:
    """Whether a known body has no answer."""
    found = False
    for body in records.known:
        found = found or S[body, 0, t] != S[body, 0, t]
    return found


def void_own(records: Records, S: Floats, t: int) -> None:
    """Mark the group's own bodies as without an answer."""
    for body in records.own:
        void(S, body, t)


def column(records: Records, k: int, at: Frame, tip: Frame) -> Pair:
    """Velocity of a tip for a unit rate of the motion of record k, whose frame is ``at``."""
    sign = records.sign[k]
    if records.kind[k] == TURN:
        return sign * (at[1] - tip[1]), sign * (tip[0] - at[0])
    return sign * at[2], sign * at[3]


# --- loci and where they meet ----------------------------------------------------------------------


def two_sided(
    records: Records, front: Frame, other: Frame, arm_1: Frame, arm_2: Frame, memory: Floats, turned: Floats
) -> tuple[int, float, float, float]:
    """One unknown on either side: status, miss (m), and how far the two motions go."""
    i, j = records.first, records.second
    turn_1, turn_2 = records.kind[i] == TURN, records.kind[j] == TURN
    locus_1 = circle(front, arm_1) if turn_1 else line(front, arm_1)
    locus_2 = circle(other, arm_2) if turn_2 else line(other, arm_2)
    verdict, miss, x, y = meet(turn_1, locus_1, turn_2, locus_2, memory[SIGN])
    if verdict != OK:
        return verdict, miss, 0.0, 0.0
    q1 = turn(i, front, arm_1, x, y, memory, ANGLE_1, turned) if turn_1 else along(locus_1, x, y)
    q2 = turn(j, other, arm_2, x, y, memory, ANGLE_2, turned) if turn_2 else along(locus_2, x, y)
    return OK, 0.0, q1, q2


def hinge_and_slide(
    i: int, front: Frame, target: Frame, between: Frame, tool: Frame, memory: Floats, turned: Floats
) -> tuple[int, float, float, float]:
    """A hinge, then a slide on the arm that it turns: the target's distance determines the slide."""
    c, s = between[2], between[3]
    out, offset = tool[0] * c + tool[1] * s, tool[1] * c - tool[0] * s
    dx, dy = target[0] - front[0], target[1] - front[1]
    square = dx * dx + dy * dy
    root = square - offset * offset
    if root < -TOUCH * offset * offset:
        return OUT_OF_REACH, abs(offset) - math.sqrt(square), 0.0, 0.0
    slide = memory[SIGN] * math.sqrt(max(root, 0.0)) - out
    point = (tool[0] + slide * c, tool[1] + slide * s, c, s, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return OK, 0.0, turn(i, front, point, target[0], target[1], memory, ANGLE_1, turned), slide


def slide_and_slide(
    front: Frame, target: Frame, between: Frame, tool: Frame
) -> tuple[int, float, float, float]:
    """Two slides one after the other: as :func:`hinge_and_slide`."""
    one = line(front, tool)
    second = composed(front, between)
    back = (target[0], target[1], second[2], second[3])
    verdict, miss, x, y = lines_meet(one, back)
    return verdict, miss, along(one, x, y), -along(back, x, y)


def composed(one: Frame, two: Frame) -> Frame:
    """A frame seen from another that is seen from a third, at rest."""
    c, s = one[2], one[3]
    x, y = one[0] + c * two[0] - s * two[1], one[1] + s * two[0] + c * two[1]
    c, s = c * two[2] - s * two[3], s * two[2] + c * two[3]
    return x, y, c, s, one[4] + two[4], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


def circle(at: Frame, arm: Frame) -> tuple[float, float, float, float]:
    """Path of a point that a hinge turns: centre, radius, 0."""
    return at[0], at[1], math.sqrt(arm[0] * arm[0] + arm[1] * arm[1]), 0.0


def line(at: Frame, arm: Frame) -> tuple[float, float, float, float]:
    """Path of a point that a slide moves: the point at zero, and the direction."""
    c, s = at[2], at[3]
    return at[0] + c * arm[0] - s * arm[1], at[1] + s * arm[0] + c * arm[1], c, s


def along(locus: tuple[float, float, float, float], x: float, y: float) -> float:
    """Signed distance of a point of a line from the line's zero."""
    return (x - locus[0]) * locus[2] + (y - locus[1]) * locus[3]


def turn(
    k: int, at: Frame, arm: Frame, x: float, y: float, memory: Floats, slot: int, turned: Floats
) -> float:
    """Angle of the revolute joint of record k with its arm's end at x, y; ``memory`` counts the turns."""
    dx, dy = x - at[0], y - at[1]
    size = math.sqrt((dx * dx + dy * dy) * (arm[0] * arm[0] + arm[1] * arm[1]))
    c, s = at[2], at[3]
    if size > 0.0:
        c, s = (arm[0] * dx + arm[1] * dy) / size, (arm[0] * dy - arm[1] * dx) / size
    # The angle of the frame after the turn: near that of the instant before.
    angle: float = angle_of(c, s)
    angle += FULL * turns_to(angle, memory[slot])
    memory[slot] = angle
    turned[k, 0], turned[k, 1] = c * at[2] + s * at[3], s * at[2] - c * at[3]
    return angle - at[4]


def turns_to(angle: float, last: float) -> int:
    """Turns that bring an angle nearest to the last one."""
    return math.floor((last - angle) / FULL + 0.5)


def meet(
    turn_1: bool,
    one: tuple[float, float, float, float],
    turn_2: bool,
    two: tuple[float, float, float, float],
    sign: float,
) -> tuple[int, float, float, float]:
    """Intersection of two loci: status, distance by which they miss each other (m), x, y."""
    if turn_1 and turn_2:
        return circles_meet(one[0], one[1], one[2], two[0], two[1], two[2], sign)
    if turn_1:
        return circle_meets_line(one[0], one[1], one[2], two[0], two[1], two[2], two[3], sign)
    if turn_2:
        return circle_meets_line(two[0], two[1], two[2], one[0], one[1], one[2], one[3], sign)
    return lines_meet(one, two)


def lines_meet(
    one: tuple[float, float, float, float], two: tuple[float, float, float, float]
) -> tuple[int, float, float, float]:
    """Two lines; parallel ones close nothing."""
    sine = one[2] * two[3] - one[3] * two[2]
    dx, dy = two[0] - one[0], two[1] - one[1]
    if abs(sine) < DEAD:
        return SINGULAR, abs(one[2] * dy - one[3] * dx), 0.0, 0.0
    out = (dx * two[3] - dy * two[2]) / sine
    return OK, 0.0, one[0] + out * one[2], one[1] + out * one[3]


def circles_meet(
    x1: float, y1: float, l1: float, x2: float, y2: float, l2: float, sign: float
) -> tuple[int, float, float, float]:
    """Two circles; ``sign`` +1: the point on the left of the way from the first centre to the second."""
    dx, dy = x2 - x1, y2 - y1
    apart, square = dx * dx + dy * dy, l1 * l1
    if apart <= 1e-24 * (square + l2 * l2):
        # One centre: every point of the circle closes, or none.
        miss = abs(l1 - l2)
        return SINGULAR if miss <= 1e-12 * (l1 + l2) else OUT_OF_REACH, miss, 0.0, 0.0
    over = 1.0 / apart
    a, b = 0.5 + 0.5 * ((l1 - l2) * (l1 + l2)) * over, square * over
    h = b - a * a
    if h < -TOUCH * (b + 1.0):
        distance = math.sqrt(apart)
        return OUT_OF_REACH, max(distance - l1 - l2, abs(l1 - l2) - distance), 0.0, 0.0
    h = sign * math.sqrt(max(h, 0.0))
    return OK, 0.0, x1 + a * dx - h * dy, y1 + a * dy + h * dx


def circle_meets_line(
    x: float, y: float, radius: float, px: float, py: float, c: float, s: float, sign: float
) -> tuple[int, float, float, float]:
    """A circle, and a line through (px, py) along (c, s); ``sign`` +1: the point farther along it."""
    dx, dy = x - px, y - py
    foot, height = c * dx + s * dy, c * dy - s * dx
    square = radius * radius
    root = square - height * height
    if root < -TOUCH * square:
        return OUT_OF_REACH, abs(height) - radius, 0.0, 0.0
    foot += sign * math.sqrt(max(root, 0.0))
    return OK, 0.0, px + foot * c, py + foot * s
