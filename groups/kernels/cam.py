"""A cam and its follower in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from groups.kernels.jets import CONTACT
from groups.kernels.layout import (
    N_PINS,
    N_RODS,
    N_UNKNOWNS,
    N_WORK,
    PACE,
    PLANAR,
    RUN,
    SIGN,
    SLIDE,
    STILL,
    Group,
    group_of,
    rows_of,
    tree_of,
)
from groups.kernels.meeting import LARGE
from groups.kernels.newton import MOST
from groups.kernels.path import keep_places
from groups.kernels.relative import keep_known_of, solve
from groups.kernels.trigonometry import sine_cosine
from groups.kernels.vectors import Matrix, Vector, matrix_of, product, rotate, vector_of
from groups.status import OK
from mbssa.arrays import Floats, Ints
from mbssa.joints.cams.contact_kernels import found_at

Array = Any
Inputs = tuple[Floats, Floats, Floats]
_ONE: Matrix = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_NONE: Vector = (0.0, 0.0, 0.0)


def is_simple(ints: Ints, floats: Floats) -> bool:
    """Test of a group with joint equations: one body on one hinge or slide, held by one contact."""
    if not ints[PLANAR] or ints[N_UNKNOWNS] != 1 or ints[N_PINS] or ints[N_RODS]:
        return False
    tree, rows = tree_of(ints, floats), rows_of(ints, floats, np.zeros(ints[N_WORK]))
    moving = np.flatnonzero(tree.kind != STILL)
    return (
        len(tree.own) == 1 and len(tree.kind) <= 3 and len(moving) == 1
        and rows.code.tolist() == [CONTACT] and rows.drive.tolist() == [-1]
    )  # fmt: skip


def solve_cam(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """A simple group; arguments as :mod:`groups.kernels` has them."""
    g, rows = group_of(ints, floats, memory, work), rows_of(ints, floats, work)
    status, residual, iterations, condition = quality
    tree, last, head = g.tree, g.memory, g.memory.head
    size, closed, scale = g.cuts.limit[0], g.cuts.limit[1], tree.scale[0]
    known, own, parent = len(tree.known), tree.own[0], tree.known[tree.parent[0]]
    # The joint in its parent, and the body in the joint.
    near, near_turn, far, far_turn, step = _NONE, _ONE, _NONE, _ONE, 0
    if tree.kind[0] == STILL:
        k = tree.constant[0]
        near, near_turn, step = vector_of(tree.transform, k, 0), matrix_of(tree.transform, k, 3), 1
    if len(tree.kind) > step + 1:
        k = tree.constant[step + 1]
        far, far_turn = vector_of(tree.transform, k, 0), matrix_of(tree.transform, k, 3)
    arm, turn = rotate(near_turn, far), product(near_turn, far_turn)
    slides, factor, axis = tree.kind[step] == SLIDE, tree.factor[step], tree.axis[step]
    centre, arm_z, zero = complex(near[0], near[1]), complex(arm[0], arm[1]), complex(turn[0], turn[3])
    way = factor * complex(near_turn[axis], near_turn[3 + axis])
    # The contact between both frames, of which the group's own body has one.
    joint, kind, radius = rows.joint[0], rows.number[0, 2], rows.sign[0]
    curve_a, curve_b = rows.number[0, 0], rows.number[0, 1]
    own_a = rows.pair[joint, 0] == known
    other = tree.known[rows.pair[joint, 1 if own_a else 0]]
    side = -1.0 if own_a else 1.0
    to_a, axis_a = in_plane(rows.origin, rows.axes, joint, 0)
    to_b, axis_b = in_plane(rows.origin, rows.axes, joint, 1)
    per, wanted = rows.scale[0] * rows.weight[0], rows.parameter[0] + rows.zero[0] / rows.weight[0]
    kept = -1
    for t in range(count):
        instant = first + t
        pace = time[instant] - time[instant - 1] if instant > 0 else 0.0
        x, guess = predicted(g, pace)
        z_p, e_p = complex(S[parent, 0, t], S[parent, 1, t]), complex(S[parent, 2, t], S[parent, 3, t])
        z_c, e_c = complex(S[other, 0, t], S[other, 1, t]), complex(S[other, 2, t], S[other, 3, t])
        pivot, along = z_p + e_p * centre, e_p * way
        steps = 0
        while True:
            if slides:
                z, e, moves = pivot + e_p * arm_z + x * along, e_p * zero, along
            else:
                sine, cosine = sine_cosine(factor * x)
                e = e_p * complex(cosine, sine)
                z, e, moves = pivot + e * arm_z, e * zero, along
            z_a, e_a, z_b, e_b = (z, e, z_c, e_c) if own_a else (z_c, e_c, z, e)
            frame, touched = e_a * axis_a, e_b * axis_b
            start = z_a + e_a * to_a
            at = (z_b + e_b * to_b - start) * frame.conjugate()
            turned = touched * frame.conjugate()
            nx, ny, px, py, gap, vv, vw, ww = found_at(
                rows.curves, curve_a, curve_b, kind, (at.real, at.imag), (turned.real, turned.imag),
                (-turned.imag, turned.real), radius, last.place, 0,
            )  # fmt: skip
            normal, touch = frame * complex(nx, ny), start + frame * complex(px, py)
            if not slides:
                moves = factor * 1j * (touch - pivot)
            miss, slope = per * (gap - wanted), dot(normal, moves)
            worst, entry = abs(miss) * size, side * per * slope * scale
            if (worst <= closed and steps > 0) or steps >= MOST or not (worst < 1e300 and abs(entry) > 0.0):
                break
            change = miss / entry
            x -= scale * (change if abs(change) <= 0.5 else 0.5 * change / abs(change))
            steps += 1
        sound = worst <= closed and steps > 0 and abs(x - guess) <= LARGE * scale and entry * head[SIGN] > 0.0
        if not sound:
            if kept >= 0:
                keep_known_of(g, S, kept, inputs, first + kept)
            solve(group, g, rows, None, True, S, first, t, t + 1, inputs, time, quality, level)
            kept = -1
            continue
        S[own, 0, t], S[own, 1, t], S[own, 2, t], S[own, 3, t] = z.real, z.imag, e.real, e.imag
        S[own, 4, t] = S[parent, 4, t] + (0.0 if slides else factor * x) + tree.turn_zero[0]
        if level > 0:
            spin_p, spin_c = S[parent, 7, t], S[other, 7, t]
            v_p, v_c = complex(S[parent, 5, t], S[parent, 6, t]), complex(S[other, 5, t], S[other, 6, t])
            lead = v_p + spin_p * 1j * (touch - z_p) - v_c - spin_c * 1j * (touch - z_c)
            rate = -dot(normal, lead) / slope
            travel = along if slides else factor * 1j * (z - pivot)
            v = v_p + spin_p * 1j * (z - z_p) + rate * travel
            spin = spin_p if slides else spin_p + factor * rate
            S[own, 5, t], S[own, 6, t], S[own, 7, t] = v.real, v.imag, spin
            if level > 1:
                bend_p, bend_c = S[parent, 10, t], S[other, 10, t]
                a_p, a_c = complex(S[parent, 8, t], S[parent, 9, t]), complex(S[other, 8, t], S[other, 9, t])
                # Accelerations of both bodies' points at the contact; the unknown's own is still 0.
                a = a_p + (bend_p * 1j - spin_p * spin_p) * (z - z_p) + 2.0 * spin_p * rate * 1j * travel
                if not slides:
                    a += factor * rate * rate * 1j * travel
                mine = a + (bend_p * 1j - spin * spin) * (touch - z)
                theirs = a_c + (bend_c * 1j - spin_c * spin_c) * (touch - z_c)
                passing = side * (lead + rate * moves)
                spin_a, turning = (spin, spin_c - spin) if own_a else (spin_c, spin - spin_c)
                rolled = dot(1j * normal, passing)
                second = side * dot(normal, mine - theirs) - 2.0 * spin_a * dot(normal, 1j * passing)
                second += vv * rolled * rolled
                if turning != 0.0:  # a straight side that does not turn against a face has no infinity
                    second += turning * (2.0 * vw * rolled + ww * turning)
                rise = -side * second / slope
                a += rise * travel
                S[own, 8, t], S[own, 9, t] = a.real, a.imag
                S[own, 10, t] = bend_p if slides else bend_p + factor * rise
        last.change_third[0], last.change_before[0] = last.change_before[0], last.change[0]
        last.change[0], last.x[0] = x - last.x[0], x
        keep_places(last)
        even = abs(pace - head[PACE]) <= 1e-6 * abs(pace)
        head[RUN], head[PACE] = head[RUN] + 1.0 if even else 1.0, pace
        kept = t
        status[group, instant], residual[group, instant] = OK, worst
        iterations[group, instant], condition[group, instant] = steps, 1.0
    if kept >= 0:
        keep_known_of(g, S, kept, inputs, first + kept)


def in_plane(origin: Array, axes: Array, joint: Any, side: Any) -> tuple[complex, complex]:
    """Origin and x axis of a joint's frame on one of its bodies."""
    axis = complex(axes[joint, side, 0, 0], axes[joint, side, 1, 0])
    return complex(origin[joint, side, 0], origin[joint, side, 1]), axis


def dot(a: complex, b: complex) -> float:
    """Scalar product."""
    return a.real * b.real + a.imag * b.imag


def predicted(g: Group, pace: float) -> tuple[float, float]:
    """Prediction by the last four time steps, and that of :func:`groups.kernels.path.predict`."""
    last, run = g.memory, g.memory.head[RUN]
    x, d, before = last.x[0], last.change[0], last.change_before[0]
    share, bend, third = 0.0, 0.0, 0.0
    if run >= 2.0:
        share = pace / last.head[PACE]
        if run >= 3.0 and abs(share - 1.0) <= 1e-6:
            bend = share * d - before
            if run >= 4.0:
                third = d - 2.0 * before + last.change_third[0]
            for m in range(2):
                z, y = last.place[0, 2 + m], last.place[0, 4 + m]
                last.place[0, m] = z + 2.0 * (z - y) - (y - last.place[0, 6 + m])
    guess = x + share * d + bend
    return guess + third, guess
