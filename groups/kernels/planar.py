"""Planar groups in closed form: driven bodies, dyads and chains that one point closes.

A group that closes is opened at a hinge. From bodies that are solved already, side A and side B lead to
that point; between them they have two unknown coordinates, each a turn or a slide. Opened at the place
where two loci meet, circle or line, the position is a quadratic or linear; the root is held by the sign
``memory[SIGN]``. Rates follow from the 2 x 2 system of the same two motions, exactly.

``S`` (N, B, 11): x, y (m), cos, sin, angle (rad, counts turns), v_x, v_y, w, a_x, a_y, alpha of every
body's own frame.

Layout of ``ints``
------------------
``[0]`` is the form. In the forms with loops of their own, ARMS, GUIDE and CRANK, base and own body of
side 1 and of side 2 follow, -1 for a massless one; CRANK has one side, and in place of the other the row
of its input. In the forms LED and CHAINS ``[1]`` counts the known bodies, ``[2]`` the own ones, ``[3]``
and ``[4]`` are where the records of side A and of side B end, ``[5]`` and ``[6]`` the records of the
unknown motions (both on side A if ``[6]`` is less than ``[3]``). From ``[HEAD]`` on each record has three
numbers: kind, source, body; after them stand the known bodies and the own bodies.

A record takes a frame to the next one: START reads the frame of a body, MOVE shifts and turns it by
constants, TURN turns it, SLIDE moves it along its x axis, BODY writes it as the frame of a body. The
source of TURN and SLIDE is the row of the motion, or UNKNOWN_1, UNKNOWN_2.

Layout of ``floats``
--------------------
Records: five numbers each. MOVE: shift x, y (m), then cos, sin and angle of the turn. TURN, SLIDE: the
sign of the coordinate.

ARMS (two hinges) and GUIDE (hinge and slide): side 1 from 0 and side 2 from SIDE on. A hinge: x, y of
its point on the base (:data:`HINGE`), length of the arm, x, y of the own body's origin from the hinge in
axes of which x is along the arm (:data:`ORIGIN`), cos, sin and angle from the arm to the body's x axis
(:data:`TURNED`), x, y of the closing point in the body's frame (:data:`PIN`). A guide: x, y of a point of
the line on the base, cos and sin of its direction there (:data:`ALONG`), then as before, the origin
counted from the closing point in axes of the base, and the turn from the base.

CRANK (one hinge that an input turns): x, y of the hinge on the base, sign of the coordinate at
:data:`LENGTH`, x, y of the body's origin from the hinge in the body's axes, and the turn from the base to
the body at zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from groups.kernels.status import OK, OUT_OF_REACH, SINGULAR, WAITS
from groups.kernels.vectors import void

Array = Any
#: x, y, cos, sin, angle, then velocity and acceleration of a moving frame.
Frame = tuple[float, float, float, float, float, float, float, float, float, float, float]

LED, ARMS, GUIDE, CHAINS, CRANK = 0, 1, 2, 3, 4
FORM, BASE_1, OWN_1, BASE_2, OWN_2 = 0, 1, 2, 3, 4
INPUT = 3
N_KNOWN, N_OWN, END_A, END_B, FIRST, SECOND = 1, 2, 3, 4, 5, 6
HEAD, RECORD, NUMBERS = 7, 3, 5

START, MOVE, TURN, SLIDE, BODY = 0, 1, 2, 3, 4
UNKNOWN_1, UNKNOWN_2 = -1, -2

HINGE, ALONG, LENGTH, ORIGIN, TURNED, PIN, SIDE = 0, 2, 4, 5, 7, 10, 12

SIGN, ANGLE_1, ANGLE_2, MEMORY = 0, 1, 2, 3

#: Share of the square of the longest length by which a root may miss zero and still be a touching pair.
TOUCH = 4e-15
#: Sine of the angle between two motions below which they close nothing.
DEAD = 1e-9
FULL = 2.0 * math.pi
QUARTER = 0.5 * math.pi

#: Sines k / SECTORS up to a little more than that of 45°; their cosines and angles, in turn.
SECTORS = 64
_SINES = np.arange(47) / SECTORS
TABLE = np.stack([np.sqrt(1.0 - _SINES * _SINES), np.arcsin(_SINES)], axis=1).ravel()


def solve_planar(
    group: int, ints: Array, floats: Array, S: Array, first: int, count: int, inputs: Any, time: Array,
    memory: Array, work: Array, quality: Any, level: int,
) -> None:  # fmt: skip
    """Solve one group at ``count`` instants from ``first`` on; see :mod:`groups.kernels`.

    ``memory`` (3,): the sign of the root, and per side the last angle (rad) of what its hinge turns.
    """
    status, residual, _, condition = quality
    form = ints[FORM]
    if form == ARMS:
        solve_arms(
            ints, floats, S, first, count, memory, status[group], residual[group], condition[group], level
        )
    elif form == GUIDE:
        solve_guide(
            ints, floats, S, first, count, memory, status[group], residual[group], condition[group], level
        )
    elif form == CRANK:
        solve_crank(
            ints, floats, S, first, count, inputs, status[group], residual[group], condition[group], level
        )
    elif form == LED:
        solve_led(
            ints, floats, S, first, count, inputs, status[group], residual[group], condition[group], level
        )
    else:
        solve_chains(
            ints,
            floats,
            S,
            first,
            count,
            inputs,
            memory,
            status[group],
            residual[group],
            condition[group],
            level,
        )


# --- two hinges with arms of constant length, the common dyad --------------------------------------


def solve_arms(
    ints: Array,
    floats: Array,
    S: Array,
    first: int,
    count: int,
    memory: Array,
    status: Array,
    residual: Array,
    condition: Array,
    level: int,
) -> None:
    """Two circles about points of known bodies."""
    base_1, own_1, base_2, own_2 = ints[BASE_1], ints[OWN_1], ints[BASE_2], ints[OWN_2]
    h1x, h1y, l1 = floats[HINGE], floats[HINGE + 1], floats[LENGTH]
    o1x, o1y = floats[ORIGIN], floats[ORIGIN + 1]
    c1, s1, turned_1 = floats[TURNED], floats[TURNED + 1], floats[TURNED + 2]
    p1x, p1y = floats[PIN], floats[PIN + 1]
    h2x, h2y, l2 = floats[SIDE + HINGE], floats[SIDE + HINGE + 1], floats[SIDE + LENGTH]
    o2x, o2y = floats[SIDE + ORIGIN], floats[SIDE + ORIGIN + 1]
    c2, s2, turned_2 = floats[SIDE + TURNED], floats[SIDE + TURNED + 1], floats[SIDE + TURNED + 2]
    p2x, p2y = floats[SIDE + PIN], floats[SIDE + PIN + 1]
    sign, last_1, last_2 = memory[SIGN], memory[ANGLE_1], memory[ANGLE_2]
    square = l1 * l1
    difference = (l1 - l2) * (l1 + l2)
    over_1, over_2 = 1.0 / l1, 1.0 / l2
    over_both = over_1 * over_2
    turns_1, turns_2 = turns_to(turned_1, last_1), turns_to(turned_2, last_2)
    from_1, from_2 = turned_1 + FULL * turns_1, turned_2 + FULL * turns_2
    tiny = 1e-24 * (square + l2 * l2)
    for t in range(count):
        x1, y1 = S[base_1, t, 0], S[base_1, t, 1]
        x2, y2 = S[base_2, t, 0], S[base_2, t, 1]
        verdict = OK
        miss = 0.0
        regular = 0.0
        if x1 != x1 or x2 != x2:
            verdict = WAITS
        else:
            c, s = S[base_1, t, 2], S[base_1, t, 3]
            g1x, g1y = c * h1x - s * h1y, s * h1x + c * h1y
            c, s = S[base_2, t, 2], S[base_2, t, 3]
            g2x, g2y = c * h2x - s * h2y, s * h2x + c * h2y
            x1 += g1x
            y1 += g1y
            x2 += g2x
            y2 += g2y
            dx, dy = x2 - x1, y2 - y1
            apart = dx * dx + dy * dy
            if apart <= tiny:
                # One centre: every point of the circle closes, or none.
                miss = abs(l1 - l2)
                verdict = SINGULAR if miss <= 1e-12 * (l1 + l2) else OUT_OF_REACH
            else:
                over = 1.0 / apart
                a = 0.5 + 0.5 * difference * over
                b = square * over
                h = b - a * a
                if h < 0.0:
                    if h < -TOUCH * (b + 1.0):
                        verdict = OUT_OF_REACH
                        distance = math.sqrt(apart)
                        miss = max(distance - l1 - l2, abs(l1 - l2) - distance)
                    h = 0.0
                h = sign * math.sqrt(h)
                # Sine from arm to arm.
                regular = h * apart * over_both
                if verdict == OK and level > 0 and abs(regular) < DEAD:
                    verdict = SINGULAR
        if verdict == OK:
            # Arms from either hinge to the closing point, of length one.
            u1x, u1y = over_1 * (a * dx - h * dy), over_1 * (a * dy + h * dx)
            u2x, u2y = over_2 * ((a - 1.0) * dx - h * dy), over_2 * ((a - 1.0) * dy + h * dx)
            f = 1.5 - 0.5 * (u1x * u1x + u1y * u1y)
            u1x *= f
            u1y *= f
            f = 1.5 - 0.5 * (u2x * u2x + u2y * u2y)
            u2x *= f
            u2y *= f
        if verdict != OK:
            if own_1 >= 0:
                void(S, own_1, t)
            if own_2 >= 0:
                void(S, own_2, t)
            status[first + t] = verdict
            residual[first + t] = miss
            condition[first + t] = abs(regular)
            continue
        e1x, e1y = u1x * o1x - u1y * o1y, u1y * o1x + u1x * o1y
        e2x, e2y = u2x * o2x - u2y * o2y, u2y * o2x + u2x * o2y
        ca, sa = u1x * c1 - u1y * s1, u1y * c1 + u1x * s1
        cb, sb = u2x * c2 - u2y * s2, u2y * c2 + u2x * s2
        xa, ya, xb, yb = x1 + e1x, y1 + e1y, x2 + e2x, y2 + e2y
        miss_x = (xa + ca * p1x - sa * p1y) - (xb + cb * p2x - sb * p2y)
        miss_y = (ya + sa * p1x + ca * p1y) - (yb + sb * p2x + cb * p2y)
        status[first + t] = OK
        residual[first + t] = max(abs(miss_x), abs(miss_y))
        condition[first + t] = abs(regular)
        if own_1 >= 0:
            angle = angle_of(u1x, u1y) + from_1
            if abs(angle - last_1) > math.pi:
                turns_1 += turns_to(angle, last_1)
                from_1 = turned_1 + FULL * turns_1
                angle = angle_of(u1x, u1y) + from_1
            last_1 = angle
            S[own_1, t, 0], S[own_1, t, 1] = xa, ya
            S[own_1, t, 2], S[own_1, t, 3], S[own_1, t, 4] = ca, sa, last_1
        if own_2 >= 0:
            angle = angle_of(u2x, u2y) + from_2
            if abs(angle - last_2) > math.pi:
                turns_2 += turns_to(angle, last_2)
                from_2 = turned_2 + FULL * turns_2
                angle = angle_of(u2x, u2y) + from_2
            last_2 = angle
            S[own_2, t, 0], S[own_2, t, 1] = xb, yb
            S[own_2, t, 2], S[own_2, t, 3], S[own_2, t, 4] = cb, sb, last_2
        if level == 0:
            continue
        # w1 l1 ⊥u1 - w2 l2 ⊥u2 = velocity of hinge 2 less that of hinge 1.
        w = S[base_1, t, 7]
        v1x, v1y = S[base_1, t, 5] - w * g1y, S[base_1, t, 6] + w * g1x
        w = S[base_2, t, 7]
        v2x, v2y = S[base_2, t, 5] - w * g2y, S[base_2, t, 6] + w * g2x
        dx, dy = v2x - v1x, v2y - v1y
        f = 1.0 / regular
        f1, f2 = over_1 * f, over_2 * f
        w1, w2 = (dx * u2x + dy * u2y) * f1, (dx * u1x + dy * u1y) * f2
        if own_1 >= 0:
            S[own_1, t, 5], S[own_1, t, 6], S[own_1, t, 7] = v1x - w1 * e1y, v1y + w1 * e1x, w1
        if own_2 >= 0:
            S[own_2, t, 5], S[own_2, t, 6], S[own_2, t, 7] = v2x - w2 * e2y, v2y + w2 * e2x, w2
        if level == 1:
            continue
        w, f = S[base_1, t, 7], S[base_1, t, 10]
        v1x = S[base_1, t, 8] - f * g1y - w * w * g1x
        v1y = S[base_1, t, 9] + f * g1x - w * w * g1y
        w, f = S[base_2, t, 7], S[base_2, t, 10]
        v2x = S[base_2, t, 8] - f * g2y - w * w * g2x
        v2y = S[base_2, t, 9] + f * g2x - w * w * g2y
        w1 *= w1
        w2 *= w2
        dx = v2x - v1x + w1 * l1 * u1x - w2 * l2 * u2x
        dy = v2y - v1y + w1 * l1 * u1y - w2 * l2 * u2y
        a1, a2 = (dx * u2x + dy * u2y) * f1, (dx * u1x + dy * u1y) * f2
        if own_1 >= 0:
            S[own_1, t, 8], S[own_1, t, 9] = v1x - a1 * e1y - w1 * e1x, v1y + a1 * e1x - w1 * e1y
            S[own_1, t, 10] = a1
        if own_2 >= 0:
            S[own_2, t, 8], S[own_2, t, 9] = v2x - a2 * e2y - w2 * e2x, v2y + a2 * e2x - w2 * e2y
            S[own_2, t, 10] = a2
    memory[ANGLE_1], memory[ANGLE_2] = last_1, last_2


# --- a hinge with an arm of constant length, and a guide -------------------------------------------


def solve_guide(
    ints: Array,
    floats: Array,
    S: Array,
    first: int,
    count: int,
    memory: Array,
    status: Array,
    residual: Array,
    condition: Array,
    level: int,
) -> None:
    """A circle about a point of one known body, a line of another."""
    base_1, own_1, base_2, own_2 = ints[BASE_1], ints[OWN_1], ints[BASE_2], ints[OWN_2]
    h1x, h1y, l1 = floats[HINGE], floats[HINGE + 1], floats[LENGTH]
    o1x, o1y = floats[ORIGIN], floats[ORIGIN + 1]
    c1, s1, turned_1 = floats[TURNED], floats[TURNED + 1], floats[TURNED + 2]
    p1x, p1y = floats[PIN], floats[PIN + 1]
    h2x, h2y = floats[SIDE + HINGE], floats[SIDE + HINGE + 1]
    ex, ey = floats[SIDE + ALONG], floats[SIDE + ALONG + 1]
    o2x, o2y = floats[SIDE + ORIGIN], floats[SIDE + ORIGIN + 1]
    c2, s2, turned_2 = floats[SIDE + TURNED], floats[SIDE + TURNED + 1], floats[SIDE + TURNED + 2]
    p2x, p2y = floats[SIDE + PIN], floats[SIDE + PIN + 1]
    sign, last = memory[SIGN], memory[ANGLE_1]
    square, over_1 = l1 * l1, 1.0 / l1
    turns = turns_to(turned_1, last)
    from_1 = turned_1 + FULL * turns
    for t in range(count):
        x1, y1 = S[base_1, t, 0], S[base_1, t, 1]
        x2, y2 = S[base_2, t, 0], S[base_2, t, 1]
        verdict = OK
        miss = 0.0
        regular = 0.0
        if x1 != x1 or x2 != x2:
            verdict = WAITS
        else:
            c, s = S[base_1, t, 2], S[base_1, t, 3]
            g1x, g1y = c * h1x - s * h1y, s * h1x + c * h1y
            c, s = S[base_2, t, 2], S[base_2, t, 3]
            g2x, g2y = c * h2x - s * h2y, s * h2x + c * h2y
            dirx, diry = c * ex - s * ey, s * ex + c * ey
            dx, dy = x1 + g1x - x2 - g2x, y1 + g1y - y2 - g2y
            foot = dx * dirx + dy * diry
            height = dirx * dy - diry * dx
            h = square - height * height
            if h < 0.0:
                if h < -TOUCH * square:
                    verdict = OUT_OF_REACH
                    miss = abs(height) - l1
                h = 0.0
            h = sign * math.sqrt(h)
            regular = over_1 * h
            if verdict == OK and level > 0 and abs(regular) < DEAD:
                verdict = SINGULAR
        if verdict != OK:
            if own_1 >= 0:
                void(S, own_1, t)
            if own_2 >= 0:
                void(S, own_2, t)
            status[first + t] = verdict
            residual[first + t] = miss
            condition[first + t] = abs(regular)
            continue
        # The arm, of length one, and the closing point from the base of the guide.
        u1x, u1y = over_1 * (h * dirx + height * diry), over_1 * (h * diry - height * dirx)
        f = 1.5 - 0.5 * (u1x * u1x + u1y * u1y)
        u1x *= f
        u1y *= f
        slide = foot + h
        r2x, r2y = g2x + slide * dirx, g2y + slide * diry
        e1x, e1y = u1x * o1x - u1y * o1y, u1y * o1x + u1x * o1y
        ca, sa = u1x * c1 - u1y * s1, u1y * c1 + u1x * s1
        q2x, q2y = r2x + c * o2x - s * o2y, r2y + s * o2x + c * o2y
        cb, sb = c * c2 - s * s2, s * c2 + c * s2
        xa, ya, xb, yb = x1 + g1x + e1x, y1 + g1y + e1y, x2 + q2x, y2 + q2y
        miss_x = (xa + ca * p1x - sa * p1y) - (xb + cb * p2x - sb * p2y)
        miss_y = (ya + sa * p1x + ca * p1y) - (yb + sb * p2x + cb * p2y)
        status[first + t] = OK
        residual[first + t] = max(abs(miss_x), abs(miss_y))
        condition[first + t] = abs(regular)
        if own_1 >= 0:
            angle = angle_of(u1x, u1y) + from_1
            if abs(angle - last) > math.pi:
                turns += turns_to(angle, last)
                from_1 = turned_1 + FULL * turns
                angle = angle_of(u1x, u1y) + from_1
            last = angle
            S[own_1, t, 0], S[own_1, t, 1] = xa, ya
            S[own_1, t, 2], S[own_1, t, 3], S[own_1, t, 4] = ca, sa, last
        if own_2 >= 0:
            S[own_2, t, 0], S[own_2, t, 1] = xb, yb
            S[own_2, t, 2], S[own_2, t, 3], S[own_2, t, 4] = cb, sb, S[base_2, t, 4] + turned_2
        if level == 0:
            continue
        # w1 l1 ⊥u1 - speed · direction = velocity of the guide at the closing point less the hinge's.
        w, b = S[base_1, t, 7], S[base_2, t, 7]
        v1x, v1y = S[base_1, t, 5] - w * g1y, S[base_1, t, 6] + w * g1x
        v2x, v2y = S[base_2, t, 5], S[base_2, t, 6]
        dx, dy = v2x - b * r2y - v1x, v2y + b * r2x - v1y
        f = 1.0 / (l1 * (u1x * dirx + u1y * diry))
        w1 = (dy * dirx - dx * diry) * f
        speed = l1 * w1 * (u1x * diry - u1y * dirx) - dx * dirx - dy * diry
        if own_1 >= 0:
            S[own_1, t, 5], S[own_1, t, 6], S[own_1, t, 7] = v1x - w1 * e1y, v1y + w1 * e1x, w1
        if own_2 >= 0:
            S[own_2, t, 5] = v2x - b * q2y + speed * dirx
            S[own_2, t, 6] = v2y + b * q2x + speed * diry
            S[own_2, t, 7] = b
        if level == 1:
            continue
        a = S[base_1, t, 10]
        v1x = S[base_1, t, 8] - a * g1y - w * w * g1x
        v1y = S[base_1, t, 9] + a * g1x - w * w * g1y
        a = S[base_2, t, 10]
        v2x = S[base_2, t, 8] - 2.0 * b * speed * diry
        v2y = S[base_2, t, 9] + 2.0 * b * speed * dirx
        b *= b
        w1 *= w1
        dx = v2x - a * r2y - b * r2x - v1x + w1 * l1 * u1x
        dy = v2y + a * r2x - b * r2y - v1y + w1 * l1 * u1y
        a1 = (dy * dirx - dx * diry) * f
        second = l1 * a1 * (u1x * diry - u1y * dirx) - dx * dirx - dy * diry
        if own_1 >= 0:
            S[own_1, t, 8], S[own_1, t, 9] = v1x - a1 * e1y - w1 * e1x, v1y + a1 * e1x - w1 * e1y
            S[own_1, t, 10] = a1
        if own_2 >= 0:
            S[own_2, t, 8] = v2x - a * q2y - b * q2x + second * dirx
            S[own_2, t, 9] = v2y + a * q2x - b * q2y + second * diry
            S[own_2, t, 10] = a
    memory[ANGLE_1] = last


# --- records, and the one driven hinge that is too common for them ---------------------------------


def solve_crank(
    ints: Array,
    floats: Array,
    S: Array,
    first: int,
    count: int,
    inputs: Any,
    status: Array,
    residual: Array,
    condition: Array,
    level: int,
) -> None:
    """One body on a driven hinge."""
    base, own, row = ints[BASE_1], ints[OWN_1], ints[INPUT]
    hx, hy, sign = floats[HINGE], floats[HINGE + 1], floats[LENGTH]
    ox, oy = floats[ORIGIN], floats[ORIGIN + 1]
    cz, sz, zero = floats[TURNED], floats[TURNED + 1], floats[TURNED + 2]
    value, rate, second = inputs[0][row], inputs[1][row], inputs[2][row]
    for t in range(count):
        when = first + t
        q = sign * value[when]
        cq, sq = math.cos(q), math.sin(q)
        residual[when] = 0.0
        x, y = S[base, t, 0], S[base, t, 1]
        if x != x:
            status[when], condition[when] = WAITS, 0.0
            void(S, own, t)
            continue
        status[when], condition[when] = OK, 1.0
        c, s = S[base, t, 2], S[base, t, 3]
        gx, gy = c * hx - s * hy, s * hx + c * hy
        cq, sq = cz * cq - sz * sq, sz * cq + cz * sq
        c, s = c * cq - s * sq, s * cq + c * sq
        ex, ey = c * ox - s * oy, s * ox + c * oy
        S[own, t, 0], S[own, t, 1] = x + gx + ex, y + gy + ey
        S[own, t, 2], S[own, t, 3], S[own, t, 4] = c, s, S[base, t, 4] + (zero + q)
        if level == 0:
            continue
        w = S[base, t, 7]
        own_w = w + sign * rate[when]
        S[own, t, 5] = S[base, t, 5] - w * gy - own_w * ey
        S[own, t, 6] = S[base, t, 6] + w * gx + own_w * ex
        S[own, t, 7] = own_w
        if level == 1:
            continue
        a = S[base, t, 10]
        own_a = a + sign * second[when]
        w *= w
        own_w *= own_w
        S[own, t, 8] = S[base, t, 8] - a * gy - w * gx - own_a * ey - own_w * ex
        S[own, t, 9] = S[base, t, 9] + a * gx - w * gy + own_a * ex - own_w * ey
        S[own, t, 10] = own_a


def solve_led(
    ints: Array,
    floats: Array,
    S: Array,
    first: int,
    count: int,
    inputs: Any,
    status: Array,
    residual: Array,
    condition: Array,
    level: int,
) -> None:
    """Bodies whose every coordinate is an input: nothing to close."""
    q = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    turned = np.empty((ints[END_B], 2))
    for t in range(count):
        when = first + t
        residual[when] = 0.0
        if waits(ints, S, t):
            status[when], condition[when] = WAITS, 0.0
            void_own(ints, S, t)
            continue
        status[when], condition[when] = OK, 1.0
        turn_inputs(ints, floats, inputs, when, turned)
        walk(ints, floats, 0, ints[END_A], q, turned, inputs, when, S, t, level)


def solve_chains(
    ints: Array,
    floats: Array,
    S: Array,
    first: int,
    count: int,
    inputs: Any,
    memory: Array,
    status: Array,
    residual: Array,
    condition: Array,
    level: int,
) -> None:
    """Two unknown motions, with driven ones between; where both are on side A the second is a slide."""
    end_a, end_b, i, j = ints[END_A], ints[END_B], ints[FIRST], ints[SECOND]
    one_side = j < end_a
    start_2 = 0 if one_side else end_a
    sign_2 = 1.0 if one_side else -1.0
    turned = np.empty((end_b, 2))
    for t in range(count):
        when = first + t
        condition[when], residual[when] = 0.0, 0.0
        if waits(ints, S, t):
            status[when] = WAITS
            void_own(ints, S, t)
            continue
        q = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        turn_inputs(ints, floats, inputs, when, turned)
        # In front of the first unknown motion, and from there to the closing point or to the second.
        front = walk(ints, floats, 0, i, q, turned, inputs, when, S, t, -1)
        if one_side:
            target = walk(ints, floats, end_a, end_b, q, turned, inputs, when, S, t, -1)
            between = walk(ints, floats, i + 1, j, q, turned, inputs, when, S, t, -1)
            arm = walk(ints, floats, j + 1, end_a, q, turned, inputs, when, S, t, -1)
            tool = composed(between, arm)
            if ints[HEAD + RECORD * i] == TURN:
                verdict, miss, q1, q2 = hinge_and_slide(i, front, target, between, tool, memory, turned)
            else:
                verdict, miss, q1, q2 = slide_and_slide(front, target, between, tool)
        else:
            other = walk(ints, floats, end_a, j, q, turned, inputs, when, S, t, -1)
            arm_1 = walk(ints, floats, i + 1, end_a, q, turned, inputs, when, S, t, -1)
            arm_2 = walk(ints, floats, j + 1, end_b, q, turned, inputs, when, S, t, -1)
            verdict, miss, q1, q2 = two_sided(ints, front, other, arm_1, arm_2, memory, turned)
        if verdict == OK:
            q1 *= floats[NUMBERS * i]
            q2 *= floats[NUMBERS * j]
            q = (q1, 0.0, 0.0, q2, 0.0, 0.0)
            tip = walk(ints, floats, 0, end_a, q, turned, inputs, when, S, t, -1)
            goal = walk(ints, floats, end_a, end_b, q, turned, inputs, when, S, t, -1)
            # What each unknown motion does to the gap from the end of B to the end of A.
            x1, y1 = column(ints, floats, i, front, tip)
            second = walk(ints, floats, start_2, j, q, turned, inputs, when, S, t, -1)
            x2, y2 = column(ints, floats, j, second, tip)
            x2 *= sign_2
            y2 *= sign_2
            determinant = x1 * y2 - y1 * x2
            sizes = math.sqrt((x1 * x1 + y1 * y1) * (x2 * x2 + y2 * y2))
            condition[when] = abs(determinant) / sizes if sizes > 0.0 else 0.0
            if level > 0 and condition[when] < DEAD:
                verdict = SINGULAR
        status[when] = verdict
        if verdict != OK:
            residual[when] = miss
            void_own(ints, S, t)
            continue
        if level > 0:
            x, y = goal[5] - tip[5], goal[6] - tip[6]
            rate_1, rate_2 = (x * y2 - y * x2) / determinant, (x1 * y - y1 * x) / determinant
            q = (q1, rate_1, 0.0, q2, rate_2, 0.0)
        if level > 1:
            tip = walk(ints, floats, 0, end_a, q, turned, inputs, when, S, t, -1)
            goal = walk(ints, floats, end_a, end_b, q, turned, inputs, when, S, t, -1)
            x, y = goal[8] - tip[8], goal[9] - tip[9]
            q = (
                q1,
                rate_1,
                (x * y2 - y * x2) / determinant,
                q2,
                rate_2,
                (x1 * y - y1 * x) / determinant,
            )
        tip = walk(ints, floats, 0, end_a, q, turned, inputs, when, S, t, level)
        goal = walk(ints, floats, end_a, end_b, q, turned, inputs, when, S, t, level)
        residual[when] = max(abs(tip[0] - goal[0]), abs(tip[1] - goal[1]))


def turn_inputs(ints: Array, floats: Array, inputs: Any, when: int, turned: Array) -> None:
    """Cosine and sine of every driven turn at an instant, by record."""
    for k in range(ints[END_B]):
        if ints[HEAD + RECORD * k] == TURN and ints[HEAD + RECORD * k + 1] >= 0:
            angle = floats[NUMBERS * k] * inputs[0][ints[HEAD + RECORD * k + 1], when]
            turned[k, 0], turned[k, 1] = math.cos(angle), math.sin(angle)


def walk(
    ints: Array,
    floats: Array,
    begin: int,
    end: int,
    q: tuple[float, float, float, float, float, float],
    turned: Array,
    inputs: Any,
    when: int,
    S: Array,
    t: int,
    write: int,
) -> Frame:
    """The frame after records ``begin`` to ``end`` - 1, from a frame at rest at the origin.

    ``q``: value, rate and second rate of either unknown. ``turned``: cosine and sine of every turn, by
    record. ``write``: the level up to which bodies are written, -1 for none.
    """
    value, rate, second = inputs[0], inputs[1], inputs[2]
    x, y, c, s, angle = 0.0, 0.0, 1.0, 0.0, 0.0
    vx, vy, w, ax, ay, al = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(begin, end):
        kind, source = ints[HEAD + RECORD * k], ints[HEAD + RECORD * k + 1]
        body, f = ints[HEAD + RECORD * k + 2], NUMBERS * k
        if kind == START:
            x, y, c, s, angle = S[body, t, 0], S[body, t, 1], S[body, t, 2], S[body, t, 3], S[body, t, 4]
            vx, vy, w = S[body, t, 5], S[body, t, 6], S[body, t, 7]
            ax, ay, al = S[body, t, 8], S[body, t, 9], S[body, t, 10]
        elif kind == MOVE:
            dx, dy = c * floats[f] - s * floats[f + 1], s * floats[f] + c * floats[f + 1]
            x += dx
            y += dy
            vx -= w * dy
            vy += w * dx
            ax -= al * dy + w * w * dx
            ay += al * dx - w * w * dy
            c, s = c * floats[f + 2] - s * floats[f + 3], s * floats[f + 2] + c * floats[f + 3]
            angle += floats[f + 4]
        elif kind == BODY:
            if write >= 0:
                S[body, t, 0], S[body, t, 1], S[body, t, 2], S[body, t, 3], S[body, t, 4] = x, y, c, s, angle
            if write >= 1:
                S[body, t, 5], S[body, t, 6], S[body, t, 7] = vx, vy, w
            if write >= 2:
                S[body, t, 8], S[body, t, 9], S[body, t, 10] = ax, ay, al
        else:
            sign = floats[f]
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


def waits(ints: Array, S: Array, t: int) -> bool:
    """Whether a known body has no answer."""
    found = False
    place = HEAD + RECORD * ints[END_B]
    for k in range(place, place + ints[N_KNOWN]):
        found = found or S[ints[k], t, 0] != S[ints[k], t, 0]
    return found


def void_own(ints: Array, S: Array, t: int) -> None:
    """No answer for the group's own bodies."""
    place = HEAD + RECORD * ints[END_B] + ints[N_KNOWN]
    for k in range(place, place + ints[N_OWN]):
        void(S, ints[k], t)


def column(ints: Array, floats: Array, k: int, at: Frame, tip: Frame) -> tuple[float, float]:
    """Velocity of a tip for a unit rate of the motion of record k, whose frame is ``at``."""
    sign = floats[NUMBERS * k]
    if ints[HEAD + RECORD * k] == TURN:
        return sign * (at[1] - tip[1]), sign * (tip[0] - at[0])
    return sign * at[2], sign * at[3]


# --- loci and where they meet ----------------------------------------------------------------------


def two_sided(
    ints: Array, front: Frame, other: Frame, arm_1: Frame, arm_2: Frame, memory: Array, turned: Array
) -> tuple[int, float, float, float]:
    """One unknown on either side: status, miss (m), and how far the two motions go.

    ``front``, ``other``: frames at the motions; ``arm_1``, ``arm_2``: the closing point from there.
    """
    i, j = ints[FIRST], ints[SECOND]
    turn_1, turn_2 = ints[HEAD + RECORD * i] == TURN, ints[HEAD + RECORD * j] == TURN
    locus_1 = circle(front, arm_1) if turn_1 else line(front, arm_1)
    locus_2 = circle(other, arm_2) if turn_2 else line(other, arm_2)
    verdict, miss, x, y = meet(turn_1, locus_1, turn_2, locus_2, memory[SIGN])
    if verdict != OK:
        return verdict, miss, 0.0, 0.0
    q1 = turn(i, front, arm_1, x, y, memory, ANGLE_1, turned) if turn_1 else along(locus_1, x, y)
    q2 = turn(j, other, arm_2, x, y, memory, ANGLE_2, turned) if turn_2 else along(locus_2, x, y)
    return OK, 0.0, q1, q2


def hinge_and_slide(
    i: int, front: Frame, target: Frame, between: Frame, tool: Frame, memory: Array, turned: Array
) -> tuple[int, float, float, float]:
    """A hinge, then a slide on the arm that it turns: the target's distance says how far it is out.

    ``between``: the slide's frame seen from the hinge's; ``tool``: the closing point from there at zero.
    """
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
    """How far a point of a line is from the line's zero."""
    return (x - locus[0]) * locus[2] + (y - locus[1]) * locus[3]


def turn(k: int, at: Frame, arm: Frame, x: float, y: float, memory: Array, slot: int, turned: Array) -> float:
    """How far the hinge of record k turns so that its arm's end is at x, y; ``memory`` counts the turns."""
    dx, dy = x - at[0], y - at[1]
    size = math.sqrt((dx * dx + dy * dy) * (arm[0] * arm[0] + arm[1] * arm[1]))
    c, s = at[2], at[3]
    if size > 0.0:
        c, s = (arm[0] * dx + arm[1] * dy) / size, (arm[0] * dy - arm[1] * dx) / size
    # The angle of the frame after the turn: near that of the instant before.
    angle = angle_of(c, s)
    angle += FULL * turns_to(angle, memory[slot])
    memory[slot] = angle
    turned[k, 0], turned[k, 1] = c * at[2] + s * at[3], s * at[2] - c * at[3]
    return angle - at[4]


def turns_to(angle: float, last: float) -> int:
    """Turns that bring an angle nearest to the last one."""
    return math.floor((last - angle) / FULL + 0.5)


def angle_of(c: float, s: float) -> float:
    """Angle of a vector of length one: atan2 to 4e-16 rad, without a call that clears the registers."""
    x, y = abs(c), abs(s)
    steep = y > x
    low, high = (x, y) if steep else (y, x)
    k = int(low * SECTORS + 0.5)
    d = low * TABLE[2 * k] - high * (k / SECTORS)
    square = d * d
    angle: float = TABLE[2 * k + 1] + d * (
        1.0 + square * (1.0 / 6.0 + square * (3.0 / 40.0 + square * (15.0 / 336.0)))
    )
    if steep:
        angle = QUARTER - angle
    if c < 0.0:
        angle = math.pi - angle
    return math.copysign(angle, s)


def meet(
    turn_1: bool,
    one: tuple[float, float, float, float],
    turn_2: bool,
    two: tuple[float, float, float, float],
    sign: float,
) -> tuple[int, float, float, float]:
    """Where two loci meet: status, how far they miss each other (m), x, y."""
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
    a, b = 0.5 + 0.5 * (l1 - l2) * (l1 + l2) / apart, square / apart
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
    root = radius * radius - height * height
    if root < -TOUCH * radius * radius:
        return OUT_OF_REACH, abs(height) - radius, 0.0, 0.0
    foot += sign * math.sqrt(max(root, 0.0))
    return OK, 0.0, px + foot * c, py + foot * s
