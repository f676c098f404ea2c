"""Intersections of loci: closed forms for legs in space and dyads in the plane, on numbers alone."""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.roots import TOUCH, angle, half_tangents, quadratic, quartic, turned
from groups.kernels.vectors import Vector, cross, dot, length, minus, plus, plus_times, times, unit

Array = Any
#: A point that a joint moves: from, part with cos q, part with sin q. A slide has 0, its direction, and
#: (1, q) in the place of (cos q, sin q).
Arm = tuple[Vector, Vector, Vector]
#: A number that depends on q3: parts with 1, cos q3, sin q3, or with 1, q3, q3².
Law = Vector
#: kinds, arms of joints 1 and 3, axis 1
Leg = tuple[tuple[int, int, int], Arm, Arm, Vector]
#: slope; laws of rise and of u; room = sum - square² - u²
Conic = tuple[float, Law, Law, Law, Law]
#: A polynomial of q3 of degree two in (cos q3, sin q3) or four in q3.
Curve = tuple[float, float, float, float, float]
#: (cos q, sin q) of joints 1, 2, 3; (1, q) of slides
Place = tuple[float, float, float, float, float, float]

R, P = 0, 1
#: Sizes below this share of the whole are nothing.
_NOTHING = 1e-12
#: Slopes below this share of the rise's own are handled as small.
_FLAT = 1e-5
#: A rise that an inexact root of the quartic leaves.
_BLURRED = 3e-8
#: Axes that differ by less are one.
_ALIKE = 1e-8
#: A misfit that Newton leaves alone, and its most steps.
_EXACT, _MOST = 1e-15, 20


def reach(
    kind: int, o: Vector, z: Vector, p: Vector, t: Vector, distance: float, q: Array
) -> tuple[int, float]:
    """Solve |J(q) p - t| = ``distance`` for a joint's coordinate q."""
    if kind == P:
        away = minus(t, p)
        middle = dot(away, z)
        off = length(plus_times(away, -middle, z))
        room = (distance - off) * (distance + off)
        if room < -TOUCH * (distance * distance + off * off):
            return 0, off - distance
        half = math.sqrt(max(room, 0.0))
        q[0], q[1] = middle - half, middle + half
        return 2, 0.0
    arm, away = minus(p, o), minus(t, o)
    height = dot(minus(t, p), z)
    arm = plus_times(arm, -dot(arm, z), z)
    away = plus_times(away, -dot(away, z), z)
    a, b = length(arm), length(away)
    size = a + b + abs(height) + distance
    if min(a, b) <= _NOTHING * size:
        return 0, 0.0
    flat = (distance - height) * (distance + height)
    beyond = flat - (a - b) * (a - b)
    within = (a + b) * (a + b) - flat
    if beyond < -TOUCH * size * size:
        return 0, math.hypot(a - b, height) - distance
    if within < -TOUCH * size * size:
        return 0, distance - math.hypot(a + b, height)
    nearest = math.atan2(dot(z, cross(arm, away)), dot(arm, away))
    half = 2.0 * math.atan2(math.sqrt(max(beyond, 0.0)), math.sqrt(max(within, 0.0)))
    q[0], q[1] = _wrapped(nearest - half), _wrapped(nearest + half)
    return 2, 0.0


def meet_planar(kind: Array, o: Array, d: Array, p: Array, t: Array, q: Array) -> tuple[int, float]:
    """Solve J2(q2) ``p`` = J1(q1) ``t`` for two joints of the plane."""
    x, y = p[0] - t[0], p[1] - t[1]
    if kind[0] == P and kind[1] == P:
        sine = d[0, 0] * d[1, 1] - d[0, 1] * d[1, 0]
        if abs(sine) <= _NOTHING:
            return 0, 0.0
        q[0, 0] = (x * d[1, 1] - y * d[1, 0]) / sine
        q[0, 1] = (x * d[0, 1] - y * d[0, 0]) / sine
        return 1, 0.0
    if kind[0] == P or kind[1] == P:
        slide, turn = (0, 1) if kind[0] == P else (1, 0)
        line, point = (t, p) if slide == 0 else (p, t)
        arm_x, arm_y = point[0] - o[turn, 0], point[1] - o[turn, 1]
        radius = math.hypot(arm_x, arm_y)
        x, y = o[turn, 0] - line[0], o[turn, 1] - line[1]
        e, f = d[slide, 0], d[slide, 1]
        along, off = x * e + y * f, x * f - y * e
        if radius <= _NOTHING * (abs(along) + abs(off)):
            return 0, 0.0
        room = (radius - off) * (radius + off)
        if room < -TOUCH * (radius * radius + off * off):
            return 0, abs(off) - radius
        half = math.sqrt(max(room, 0.0))
        for k in range(2):
            shift = half if k == 1 else -half
            # From the centre: along the line by the shift, and across to the line.
            at_x, at_y = shift * e - off * f, shift * f + off * e
            q[k, slide] = along + shift
            q[k, turn] = angle(arm_x * at_x + arm_y * at_y, arm_x * at_y - arm_y * at_x)
        return 2, 0.0
    x, y = o[1, 0] - o[0, 0], o[1, 1] - o[0, 1]
    apart = math.hypot(x, y)
    arm_x, arm_y = t[0] - o[0, 0], t[1] - o[0, 1]
    rod_x, rod_y = p[0] - o[1, 0], p[1] - o[1, 1]
    a, b = math.hypot(arm_x, arm_y), math.hypot(rod_x, rod_y)
    size = a + b + apart
    if min(a, b) <= _NOTHING * size:
        return 0, 0.0
    if apart <= _NOTHING * size:
        return 0, (abs(a - b) if abs(a - b) > _NOTHING * size else 0.0)
    far, near = a + b - apart, (apart + a - b) * (apart - a + b)
    if far < -TOUCH * size:
        return 0, -far
    if near < -TOUCH * size * size:
        return 0, abs(a - b) - apart
    half = 0.5 * math.sqrt(max(size * far * near, 0.0)) / apart
    x, y = x / apart, y / apart
    foot = 0.5 * (apart + (a - b) * (a + b) / apart)
    for k in range(2):
        left = half if k == 0 else -half
        at_x, at_y = foot * x - left * y, foot * y + left * x
        to_x, to_y = at_x - apart * x, at_y - apart * y
        q[k, 0] = angle(arm_x * at_x + arm_y * at_y, arm_x * at_y - arm_y * at_x)
        q[k, 1] = angle(rod_x * to_x + rod_y * to_y, rod_x * to_y - rod_y * to_x)
    return 2, 0.0


def meet(kind: Array, o: Array, z: Array, p: Array, t: Array, q: Array) -> tuple[int, float]:
    """Solve J2(q2) J3(q3) ``p`` = J1(q1) ``t`` for three joints in space."""
    leg, shifts, size, sound = _leg(kind, o, z, p, t)
    if not sound:
        return 0, 0.0
    conic = _conic(leg)
    slope, rise, _, _, _ = conic
    curve = _curve(leg[0][2], conic)
    if abs(slope) > max(_NOTHING, _FLAT * max(abs(rise[1]), abs(rise[2]))):
        largest = max(abs(curve[0]), abs(curve[1]), abs(curve[2]), abs(curve[3]), abs(curve[4]))
        if largest <= TOUCH * slope * slope:
            return 0, 0.0
        count = _meet_steep(leg, conic, curve, shifts, size, q)
    else:
        if max(abs(rise[0]), abs(rise[1]), abs(rise[2])) <= _NOTHING:
            return 0, 0.0
        count = _meet_flat(leg, conic, shifts, size, q)
    return count, (0.0 if count > 0 else size * _miss(leg, conic))


def _meet_steep(leg: Leg, conic: Conic, curve: Curve, shifts: Vector, size: float, q: Array) -> int:
    """Solutions at the roots of the quartic."""
    slope, rise, u, _, _ = conic
    turns = leg[0][2] == R
    cosine, sine = 1.0, 0.0
    if turns:
        number, roots, cosine, sine = half_tangents(curve[0], curve[1], curve[2], curve[3], curve[4])
    else:
        number, roots = quartic(curve[4], curve[3], curve[2], curve[1], curve[0])
    count = 0
    for k in range(number):
        c3, s3 = turned(roots[k], cosine, sine) if turns else (1.0, roots[k])
        v = _at(turns, rise, c3, s3)
        if abs(v) > _BLURRED:
            v /= slope
        else:  # a pair of roots in one place, one to each side
            v = math.sqrt(max(_room(turns, conic, c3, s3), 0.0))
            v = v if k % 2 == 1 else -v
        place = _place(leg, _at(turns, u, c3, s3), v, c3, s3)
        count = _added(leg, place, shifts, size, q, count)
    for k in range(1, count):
        for i in range(k, 0, -1):
            if q[i, 2] < q[i - 1, 2]:
                for j in range(3):
                    q[i, j], q[i - 1, j] = q[i - 1, j], q[i, j]
    return count


def _meet_flat(leg: Leg, conic: Conic, shifts: Vector, size: float, q: Array) -> int:
    """Solutions at the two roots of the rise, to both sides of each."""
    slope, rise, u, _, _ = conic
    turns = leg[0][2] == R
    crossing = leg[0][0] == P and leg[0][1] == P  # two slides: v is not needed
    level = abs(slope) if abs(slope) > TOUCH else 0.0
    share = level / max(abs(rise[1]), abs(rise[2]), level, _NOTHING)
    count = 0
    for root in range(2):
        found, cosine, sine = _level(turns, rise, 0.0, 2.0 * level, root)
        for side in range(2 if found else 0):
            c3, s3, v = cosine, sine, 0.0
            if crossing:
                found = side == 0
            else:
                sign = 2.0 * side - 1.0
                room = _room(turns, conic, c3, s3)
                # Twice, since near a dead point of q3 each gains but half its digits.
                for _ in range(2 if level > 0.0 else 0):
                    height = sign * slope * math.sqrt(max(room, 0.0))
                    found, c3, s3 = _level(turns, rise, height, level * math.sqrt(share), root)
                    room = _room(turns, conic, c3, s3)
                found = found and room >= -TOUCH - 100.0 * share * share
                v = sign * math.sqrt(max(room, 0.0) + share * share)
            if found:
                place = _place(leg, _at(turns, u, c3, s3), v, c3, s3)
                count = _added(leg, place, shifts, size, q, count)
    return count


def _leg(kind: Array, o: Array, z: Array, p: Array, t: Array) -> tuple[Leg, Vector, float, bool]:
    """The problem about a place near the action, in axes of joint 2, divided by its size."""
    k1, k2, k3 = int(kind[0]), int(kind[1]), int(kind[2])
    z1, z2, z3 = (z[0, 0], z[0, 1], z[0, 2]), (z[1, 0], z[1, 1], z[1, 2]), (z[2, 0], z[2, 1], z[2, 2])
    o1, o2, o3 = (o[0, 0], o[0, 1], o[0, 2]), (o[1, 0], o[1, 1], o[1, 2]), (o[2, 0], o[2, 1], o[2, 2])
    near, far = (t[0], t[1], t[2]), (p[0], p[1], p[2])
    shift_1, shift_2, shift_3 = 0.0, 0.0, 0.0
    centre_1 = plus_times(o1, dot(minus(near, o1), z1), z1) if k1 == R else near
    base = plus_times(o2, dot(minus(centre_1, o2), z2), z2) if k2 == R else centre_1
    if k1 == P and k2 == R:
        shift_1 = dot(minus(base, near), z1)
        centre_1 = plus_times(near, shift_1, z1)
    if k3 == R:
        centre_3 = plus_times(o3, dot(minus(far, o3), z3), z3)
    else:
        shift_3 = dot(minus(base, far), z3)
        centre_3 = plus_times(far, shift_3, z3)
    centre_1, centre_3 = minus(centre_1, base), minus(centre_3, base)
    radius_1, radius_3 = minus(minus(near, base), centre_1), minus(minus(far, base), centre_3)
    if k2 == P:
        shift_2 = -dot(centre_3, z2)
        centre_3 = plus_times(centre_3, shift_2, z2)
    if k1 == P:
        radius_1 = (0.0, 0.0, 0.0)
    if k3 == P:
        radius_3 = (0.0, 0.0, 0.0)
    size = math.sqrt(
        dot(centre_1, centre_1) + dot(radius_1, radius_1) + dot(centre_3, centre_3) + dot(radius_3, radius_3)
    )
    sound = (k1 == P or length(radius_1) > _NOTHING * size) and (
        k3 == P or length(radius_3) > _NOTHING * size
    )
    size = size if size > 0.0 else 1.0
    if k2 == k3 and length(cross(z2, z3)) < _ALIKE:
        beside = plus_times(centre_3, -dot(centre_3, z2), z2)
        sound = sound and k2 == R and length(beside) >= _ALIKE * size
    across = plus_times(z1, -dot(z1, z2), z2)
    if k1 == P:
        first = cross(z1, z2)
    elif k2 == P or size * length(across) >= length(centre_1):
        first = across
    else:
        first = times(-1.0 / size, centre_1)
    if length(first) < _ALIKE:
        sound = sound and (k1 == P) != (k2 == P)
        first = _slanted(z2)
    a = unit(plus_times(first, -dot(first, z2), z2))
    a = plus_times(a, -dot(a, z2), z2)  # what rounding left, if the direction was nearly along the axis
    axes = (a, cross(z2, a), z2)
    small = 1.0 / size
    arm_1 = (
        _seen(axes, times(small, centre_1)),
        _seen(axes, times(small, radius_1)),
        _seen(axes, z1 if k1 == P else times(small, cross(z1, radius_1))),
    )
    arm_3 = (
        _seen(axes, times(small, centre_3)),
        _seen(axes, times(small, radius_3)),
        _seen(axes, z3 if k3 == P else times(small, cross(z3, radius_3))),
    )
    return ((k1, k2, k3), arm_1, arm_3, _seen(axes, z1)), (shift_1, shift_2, shift_3), size, sound


def _conic(leg: Leg) -> Conic:
    """Joint 1's circle or line, as seen by joint 2."""
    kinds, arm_1, arm_3, axis = leg
    (fa, fb, fz), radius, _ = arm_1
    across, beside, along = axis
    turns = kinds[2] == R
    ya, yb, yz = _law(turns, arm_3, 0), _law(turns, arm_3, 1), _law(turns, arm_3, 2)
    if kinds[1] == P:
        if kinds[0] == P:
            return 0.0, ya, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        return along, ya, (0.0, 0.0, 0.0), (dot(radius, radius), 0.0, 0.0), yb
    centre, cosine, sine = arm_3
    if kinds[2] == R:
        constant = dot(centre, centre) + dot(cosine, cosine)
        squared = (constant, 2.0 * dot(centre, cosine), 2.0 * dot(centre, sine))
    else:
        squared = (dot(centre, centre), 2.0 * dot(centre, sine), 1.0)
    if kinds[0] == P:
        rise = plus((along * fb - beside * fz, 0.0, 0.0), times(beside, yz))
        return along, rise, (fa, 0.0, 0.0), squared, yz
    square = dot(radius, radius)
    if across >= -fa:
        share = along / across
        constant = 0.5 * (square + fa * fa - fb * fb)
        rise = plus_times(plus_times((constant, 0.0, 0.0), -0.5, squared), -fa * share, yz)
        return -fb, rise, plus_times((fa, 0.0, 0.0), -share, yz), squared, yz
    u = times(-0.5 / fa, plus_times((square - fa * fa - fb * fb, 0.0, 0.0), -1.0, squared))
    rise = plus_times(times(-across, plus((-fa, 0.0, 0.0), u)), -along, yz)
    return beside, rise, u, squared, yz


def _curve(kind: int, conic: Conic) -> Curve:
    """rise² - slope² room: parts with 1, cos q, sin q, cos 2q, sin 2q, or with powers of q."""
    slope, rise, u, total, square = conic
    e = slope * slope
    a, b, c = _squared(kind, rise), _squared(kind, square), _squared(kind, u)
    return (
        a[0] + e * (b[0] + c[0] - total[0]),
        a[1] + e * (b[1] + c[1] - total[1]),
        a[2] + e * (b[2] + c[2] - total[2]),
        a[3] + e * (b[3] + c[3]),
        a[4] + e * (b[4] + c[4]),
    )


def _squared(kind: int, x: Law) -> Curve:
    """The square of a number that depends on q3."""
    if kind == P:
        return x[0] * x[0], 2.0 * x[0] * x[1], x[1] * x[1] + 2.0 * x[0] * x[2], 2.0 * x[1] * x[2], x[2] * x[2]
    c, s = x[1] * x[1], x[2] * x[2]
    return x[0] * x[0] + 0.5 * (c + s), 2.0 * x[0] * x[1], 2.0 * x[0] * x[2], 0.5 * (c - s), x[1] * x[2]


def _law(turns: bool, arm: Arm, k: int) -> Law:
    """A coordinate of the moved point as it depends on q3."""
    return (arm[0][k], arm[1][k], arm[2][k]) if turns else (arm[0][k], arm[2][k], 0.0)


def _at(turns: bool, x: Law, c: float, s: float) -> float:
    """A number that depends on q3, there."""
    return x[0] + c * x[1] + s * x[2] if turns else x[0] + s * (x[1] + s * x[2])


def _room(turns: bool, conic: Conic, c: float, s: float) -> float:
    """The square of v that the length of joint 2's arm leaves."""
    u, square = _at(turns, conic[2], c, s), _at(turns, conic[4], c, s)
    return _at(turns, conic[3], c, s) - square * square - u * u


def _level(turns: bool, rise: Law, height: float, margin: float, root: int) -> tuple[bool, float, float]:
    """Whether rise = ``height`` somewhere, or would be with ``margin``, and the first or second place."""
    constant = rise[0] - height
    if not turns:
        number, low, high = quadratic(rise[2], rise[1], constant - math.copysign(margin, rise[2]))
        return root < number, 1.0, (low if root == 0 else high)
    most = math.sqrt(rise[1] * rise[1] + rise[2] * rise[2])
    wide = most + margin
    if most <= _NOTHING or abs(constant) > wide * (1.0 + TOUCH):
        return False, 1.0, 0.0
    c, s = _direction(-constant, math.sqrt(max((wide - constant) * (wide + constant), 0.0)))
    s = s if root == 1 else -s
    e, f = rise[1] / most, rise[2] / most
    return True, c * e - s * f, c * f + s * e


def _place(leg: Leg, u: float, v: float, c3: float, s3: float) -> Place:
    """Joints 1 and 2 where joint 3 and the part (u, v) of the meeting point are known."""
    kinds, (centre, radius, side), arm_3, axis = leg
    ya, yb, yz = _end(arm_3, c3, s3)
    if kinds[1] == P and kinds[0] == P:
        s1 = yb / axis[1]
        return 1.0, s1, 1.0, s1 * axis[2] - yz, c3, s3
    if kinds[1] == P:
        c2, s2 = 1.0, -axis[0] * v - yz
        x = ya, yb, yz + s2
    else:
        c2, s2 = _direction(ya * u + yb * v, ya * v - yb * u)
        x = c2 * ya - s2 * yb, s2 * ya + c2 * yb, yz
    away = minus(x, centre)
    c1, s1 = (1.0, dot(away, side)) if kinds[0] == P else _direction(dot(away, radius), dot(away, side))
    return c1, s1, c2, s2, c3, s3


def _direction(c: float, s: float) -> tuple[float, float]:
    """(``c``, ``s``) at length one; (1, 0) for nothing."""
    size = math.sqrt(c * c + s * s)
    return (c / size, s / size) if size > 0.0 else (1.0, 0.0)


def _end(arm: Arm, c: float, s: float) -> Vector:
    """The point that a joint moves."""
    return plus_times(plus_times(arm[0], c, arm[1]), s, arm[2])


def _slope(arm: Arm, c: float, s: float) -> Vector:
    """Its derivative by q."""
    return plus_times(times(c, arm[2]), -s, arm[1])


def _misfit(leg: Leg, place: Place) -> tuple[Vector, Vector, Vector, Vector]:
    """J2 J3 p - J1 t and its derivatives by q1, q2, q3."""
    c1, s1, c2, s2, c3, s3 = place
    y, slope = _end(leg[2], c3, s3), _slope(leg[2], c3, s3)
    first = times(-1.0, _slope(leg[1], c1, s1))
    if leg[0][1] == P:
        return minus((y[0], y[1], y[2] + s2), _end(leg[1], c1, s1)), first, (0.0, 0.0, 1.0), slope
    x = c2 * y[0] - s2 * y[1], s2 * y[0] + c2 * y[1], y[2]
    third = c2 * slope[0] - s2 * slope[1], s2 * slope[0] + c2 * slope[1], slope[2]
    return minus(x, _end(leg[1], c1, s1)), first, (-x[1], x[0], 0.0), third


def _moved(kinds: tuple[int, int, int], place: Place, step: Vector) -> Place:
    """A place after a step of q1, q2, q3."""
    c1, s1, c2, s2, c3, s3 = place
    c1, s1 = (c1, s1 + step[0]) if kinds[0] == P else _direction(c1 - s1 * step[0], s1 + c1 * step[0])
    c2, s2 = (c2, s2 + step[1]) if kinds[1] == P else _direction(c2 - s2 * step[1], s2 + c2 * step[1])
    c3, s3 = (c3, s3 + step[2]) if kinds[2] == P else _direction(c3 - s3 * step[2], s3 + c3 * step[2])
    return c1, s1, c2, s2, c3, s3


def _added(leg: Leg, place: Place, shifts: Vector, size: float, q: Array, count: int) -> int:
    """Newton from a place; writes the solution, if it is one, as the next row of ``q``; the count after."""
    kinds = leg[0]
    misfit, first, second, third = _misfit(leg, place)
    error = dot(misfit, misfit)
    strayed = 0.0
    for _ in range(_MOST):
        if error <= _EXACT * _EXACT:
            break
        normal = cross(second, third)
        volume = dot(first, normal)
        if volume == 0.0:
            break
        share = -1.0 / volume
        step = (
            share * dot(misfit, normal),
            share * dot(misfit, cross(third, first)),
            share * dot(misfit, cross(first, second)),
        )
        closer = _moved(kinds, place, step)
        misfit, first, second, third = _misfit(leg, closer)
        now = dot(misfit, misfit)
        if now >= error and error > _NOTHING * _NOTHING:
            # Beside a dead point the first steps are too long.
            for _ in range(4):
                step = times(0.5, step)
                closer = _moved(kinds, place, step)
                misfit, first, second, third = _misfit(leg, closer)
                now = dot(misfit, misfit)
                if now < error:
                    break
        if not now < error:
            break
        strayed += abs(step[2])
        place, error = closer, now
    if not error <= _NOTHING * _NOTHING or strayed > 0.1:
        return count
    c1, s1, c2, s2, c3, s3 = place
    q[count, 0] = size * s1 + shifts[0] if kinds[0] == P else angle(c1, s1)
    q[count, 1] = size * s2 + shifts[1] if kinds[1] == P else angle(c2, s2)
    q[count, 2] = size * s3 + shifts[2] if kinds[2] == P else angle(c3, s3)
    return count + 1


def _miss(leg: Leg, conic: Conic) -> float:
    """The least distance between the two points that a descent from the best of a few places finds."""
    kinds = leg[0]
    turns = kinds[2] == R
    least = math.inf
    best = (1.0, 0.0, 1.0, 0.0, 1.0, 0.0)
    for k in range(16):
        q3 = math.pi * (k - 7.5) / 8.0
        c3, s3 = (math.cos(q3), math.sin(q3)) if turns else (1.0, math.tan(0.5 * q3))
        v = math.sqrt(max(_room(turns, conic, c3, s3), 0.0))
        for side in range(2):
            place = _place(leg, _at(turns, conic[2], c3, s3), v if side == 1 else -v, c3, s3)
            misfit = _misfit(leg, place)[0]
            error = dot(misfit, misfit)
            if error < least:
                least, best = error, place
    damping = 1e-3
    for _ in range(60):
        misfit, first, second, third = _misfit(leg, best)
        a, b, c = dot(first, first) + damping, dot(second, second) + damping, dot(third, third) + damping
        d, e, f = dot(second, third), dot(first, third), dot(first, second)
        one, two, three = (a, f, e), (f, b, d), (e, d, c)
        right = -dot(first, misfit), -dot(second, misfit), -dot(third, misfit)
        normal = cross(two, three)
        volume = dot(one, normal)
        step = (
            dot(right, normal) / volume,
            dot(right, cross(three, one)) / volume,
            dot(right, cross(one, two)) / volume,
        )
        place = _moved(kinds, best, step)
        misfit = _misfit(leg, place)[0]
        error = dot(misfit, misfit)
        if error < least:
            gain = least - error
            least, best, damping = error, place, 0.2 * damping + 1e-12
            if gain <= 1e-12 * least:
                break
        else:
            damping *= 5.0
    return math.sqrt(least)


def _seen(axes: tuple[Vector, Vector, Vector], x: Vector) -> Vector:
    """Coordinates of a vector along three axes."""
    return dot(axes[0], x), dot(axes[1], x), dot(axes[2], x)


def _slanted(x: Vector) -> Vector:
    """A direction that is not along ``x``."""
    a, b, c = abs(x[0]), abs(x[1]), abs(x[2])
    if a <= b and a <= c:
        return 1.0, 0.0, 0.0
    return (0.0, 1.0, 0.0) if b <= c else (0.0, 0.0, 1.0)


def _wrapped(x: float) -> float:
    """An angle within (-2π, 2π], in (-π, π]."""
    if x > math.pi:
        return x - 2.0 * math.pi
    return x if x > -math.pi else x + 2.0 * math.pi
