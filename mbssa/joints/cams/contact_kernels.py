"""Search of the contact of a profile with a point, a face or another profile; kernels of :mod:`.contact`."""

from __future__ import annotations

import math
from typing import Any

Array = Any
#: x, y, their first and their second derivatives by u, the place within a piece.
Arc = tuple[float, float, float, float, float, float]
Pair = tuple[float, float]

POINT, FLAT, CURVE = range(3)

#: Of a contact: outward normal of A and point of B in A's axes (x, y each); the gap; and the factors of
#: v², 2 v w and w² in its second time derivative.
Found = tuple[float, float, float, float, float, float, float, float]

#: A curve is sampled where its pieces start, and between where there are fewer pieces than this.
_SAMPLES = 32
#: Samples of each of two curves whose pairs are all tried: from so many pieces on their starts are samples,
#: fewer are divided into so many, and of more than so many some are left out.
_FEW, _ENOUGH, _MOST = 24, 32, 48
#: After a step of this size (in pieces) Newton's method is done: its next error is below rounding.
_LAST_STEP = 1e-8
#: The two sides of a corner are as near as this (in pieces).
_CORNER = 1e-12
#: Curvatures cancel where this share of them is left: curves are accurate to about 1e-9 in theirs.
_DEGENERATE = 1e-7
#: Steps of Newton's method in a valley, where bisection helps, and in a cell, which the next one may replace.
_STEPS, _FEW_STEPS = 80, 20


def contacts_at(data: Array, second: int, kind: int, pose: Array, place: Array, out: Array) -> None:
    """Contacts in poses (n, 6): B's origin, x axis and y axis in A's; ``out`` as :data:`Found` begins."""
    for i in range(len(pose)):
        at, turned = (pose[i, 0], pose[i, 1]), (pose[i, 2], pose[i, 3])
        found = found_at(data, 0, second, kind, at, turned, (pose[i, 4], pose[i, 5]), 0.0, place, i)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = found[:5]


def found_at(
    data: Array, first: Any, second: Any, kind: Any, at: Pair, turned: Pair, normal: Pair, radius: float,
    place: Array, to: Any,
) -> Found:  # fmt: skip
    """Contact where B's frame is ``at`` a point in A's axes, its x axis ``turned``, y axis ``normal``."""
    # In ``data`` A's curve begins at ``first``, B's at ``second`` (CURVE only); row ``to`` of ``place`` has
    # the last place in pieces and takes the new one. ``radius``: least radii of curvature together, where
    # convex, else 0: one stationary gap alone is above -radius (Blaschke's rolling theorem): it is followed.
    if kind == POINT:
        return _on_point(data, first, at[0], at[1], radius, place, to)
    if kind == FLAT:
        return _on_face(data, first, at[0], at[1], normal, radius, place, to)
    return _on_curve(data, first, second, at[0], at[1], turned, radius, place, to)


def _on_point(data: Array, first: Any, x: float, y: float, radius: float, place: Array, to: Any) -> Found:
    """Contact of a point at the nearest place of the curve."""
    arc, free = followed(data, first, x, y, 1.0, radius, place, to)
    nx, ny, k = _normal(arc)
    rx, ry = x - arc[0], y - arc[1]
    gap = nx * rx + ny * ry
    size = math.sqrt(rx * rx + ry * ry)
    if free or size == 0.0:
        rest = 1.0 + k * gap
        return nx, ny, x, y, gap, k / rest if rest > _DEGENERATE else math.nan, 0.0, 0.0
    gap = -size if gap < 0.0 else size
    return rx / gap, ry / gap, x, y, gap, 1.0 / gap, 0.0, 0.0


def _on_face(
    data: Array, first: Any, x: float, y: float, normal: Pair, radius: float, place: Array, to: Any
) -> Found:
    """Contact at the curve's highest place along a face's normal; the face runs through (x, y)."""
    nx, ny = normal
    arc, free = followed(data, first, nx, ny, 0.0, radius, place, to)
    gap = nx * (x - arc[0]) + ny * (y - arc[1])
    bend = 0.0
    if free:
        k = _normal(arc)[2]
        bend = 1.0 / k if k != 0.0 else math.nan
    return nx, ny, arc[0] + gap * nx, arc[1] + gap * ny, gap, 0.0, 1.0, -(bend + gap)


def _on_curve(
    data: Array, first: Any, second: Any, x: float, y: float, turned: Pair, radius: float, place: Array,
    to: Any,
) -> Found:  # fmt: skip
    """Contact of two curves; B's frame is at (x, y), turned by this cosine and sine."""
    c, s = turned
    if radius > 0.0 and len(place) > 0:
        za, zb = _meeting(data, first, second, x, y, c, s, place[to, 0], place[to, 1], 1.0, 1.0)
        found = _pair_at(data, first, second, x, y, c, s, za, zb)
        if abs(found[4]) < radius:
            place[to, 0], place[to, 1] = _wound(data, first, za), _wound(data, second, zb)
            return found
    za, zb = nearest_pair(data, first, second, x, y, c, s)
    if len(place) > 0 and not math.isnan(za):
        place[to, 0], place[to, 1] = _wound(data, first, za), _wound(data, second, zb)
    return _pair_at(data, first, second, x, y, c, s, za, zb)


def followed(
    data: Array, first: Any, x: float, y: float, weight: float, radius: float, place: Array, to: Any
) -> tuple[Arc, bool]:
    """Result of :func:`nearest`, followed from its last place if no other place can be nearer."""
    if radius > 0.0 and len(place) > 0:
        z, smooth = _lowest_about(data, first, x, y, weight, place[to, 0], 1.0)
        arc = arc_at(data, first, z)
        nx, ny, _ = _normal(arc)
        if smooth and nx * (x - weight * arc[0]) + ny * (y - weight * arc[1]) > -weight * radius:
            place[to, 0] = _wound(data, first, z)
            return arc, True
    z, smooth = nearest(data, first, x, y, weight)
    if len(place) > 0 and not math.isnan(z):
        place[to, 0] = _wound(data, first, z)
    return arc_at(data, first, z), smooth


def _wound(data: Array, first: Any, z: float) -> float:
    """The same place of a curve; of a closed one on its first turn."""
    return z - data[first] * math.floor(z / data[first]) if data[first + 1] > 0.5 else z


def nearest(data: Array, first: Any, x: float, y: float, weight: float) -> tuple[float, bool]:
    """Place (pieces) of a curve with the least weight c² / 2 - (x, y)·c; and whether it is smooth there."""
    # A ``weight`` of 1 gives the nearest to the point (x, y), 0 the farthest along that vector. NaN where the
    # search does not end; ends and corners are not smooth.
    pieces, closed = int(data[first]), data[first + 1] > 0.5
    finer = 1 if pieces >= _SAMPLES else 1 + (_SAMPLES - 1) // pieces
    reach, count = 1.0 / finer, pieces * finer
    least, place, smooth = math.inf, math.nan, False
    here = _height(data, first, x, y, weight, 0.0)
    before = _height(data, first, x, y, weight, (count - 1) * reach) if closed else math.inf
    for i in range(count if closed else count + 1):
        z = i * reach
        if i + 1 < count:
            after = _height(data, first, x, y, weight, (i + 1) * reach)
        elif i == count:
            after = math.inf
        else:
            after = _height(data, first, x, y, weight, 0.0 if closed else float(pieces))
        if here <= before and here <= after:
            # No lower in this valley than twice what a parabola falls.
            slope, bend = _slopes(arc_at(data, first, z), x, y, weight)
            if bend <= 0.0 or here - slope * slope / bend < least:
                z, even = _lowest_about(data, first, x, y, weight, z, reach)
                low = _height(data, first, x, y, weight, z)
                if low < least:
                    least, place, smooth = low, z, even
        before, here = here, after
    return place, smooth


def _lowest_about(
    data: Array, first: Any, x: float, y: float, weight: float, z: float, reach: float
) -> tuple[float, bool]:
    """Lowest place of the valley of the same function about the place z, and whether it is smooth there."""
    # Newton's method between places where it falls and where it rises; steps no longer than ``reach``.
    pieces, closed = int(data[first]), data[first + 1] > 0.5
    falls, rises = -math.inf, math.inf
    for _ in range(_STEPS):
        arc = arc_at(data, first, z)
        slope, bend = _slopes(arc, x, y, weight)
        if slope < 0.0:
            falls = z
        else:
            rises = z
        step = -slope / bend if bend > 0.0 else -math.copysign(reach, slope)
        if abs(step) < _LAST_STEP or slope == 0.0:
            return z + step if slope != 0.0 else z, True
        there = z + min(max(step, -reach), reach)
        if not closed:
            there = min(max(there, 0.0), float(pieces))
            if there == z:
                return z, False
        if rises - falls < _CORNER:
            speed = arc[2] * arc[2] + arc[3] * arc[3]
            even = slope * slope <= 1e-16 * speed * (speed if weight > 0.0 else 1.0)
            return z, even
        if not falls < there < rises:
            there = 0.5 * (falls + rises)
        z = there
    return math.nan, False


def nearest_pair(data: Array, first: Any, second: Any, x: float, y: float, c: float, s: float) -> Pair:
    """Places (pieces) where the distance is along both normals, these are opposed, and it is least."""
    # NaN where there is no such pair that the curvatures allow. Such a pair has two conditions, each zero
    # along a line in the plane of both places: a cell of samples may hold one if both change sign within.
    pieces_a, pieces_b = int(data[first]), int(data[second])
    stride_a, stride_b = _stride(pieces_a), _stride(pieces_b)
    rows, columns = math.ceil(pieces_a / stride_a), math.ceil(pieces_b / stride_b)
    # The tangents that are read off where pieces of B start.
    direct, jump, start_b = columns if stride_b >= 1.0 else 0, 16 * int(stride_b), int(second) + 3 + pieces_b
    least, place_a, place_b = math.inf, math.nan, math.nan
    old = _seen(arc_at(data, first, 0.0), x, y, c, s)
    for i in range(1, rows + 1):
        new = _seen(arc_at(data, first, min(i * stride_a, float(pieces_a))), x, y, c, s)
        p, q = False, False
        for j in range(columns + 1):
            z = min(j * stride_b, float(pieces_b))
            if j < direct:
                dx, dy = data[start_b + jump * j + 1], data[start_b + jump * j + 9]
            else:
                k = min(int(z), pieces_b - 1)
                dx, dy = _tangent(data, start_b + 16 * k, z - k)
            r, t = old[2] * dy > old[3] * dx, new[2] * dy > new[3] * dx
            if j > 0 and (r != t or p != q or p != r) and old[2] * dx + old[3] * dy < 0.0:
                last = (j - 1) * stride_b
                left, right = _point(data, second, last), _point(data, second, z)
                if _may_meet(old, new, left, right, least):
                    start = (i - 0.5) * stride_a
                    za, zb = _meeting(
                        data, first, second, x, y, c, s, start, last + 0.5 * stride_b, stride_a, stride_b
                    )
                    size = abs(_pair_at(data, first, second, x, y, c, s, za, zb)[4])
                    if size < least:
                        least, place_a, place_b = size, za, zb
            p, q = r, t
        old = new
    return place_a, place_b


def _may_meet(old: Arc, new: Arc, left: Pair, right: Pair, least: float) -> bool:
    """Return whether a contact nearer to touching than ``least`` may be in a cell, by the cell's corners."""
    # A contact has no distance along A's tangent. Both parts of the distance may leave the range of the
    # corners' by a quarter of it.
    a, e = _parts(old, left)
    b, f = _parts(old, right)
    c, g = _parts(new, left)
    d, h = _parts(new, right)
    low, high = min(min(a, b), min(c, d)), max(max(a, b), max(c, d))
    spare = 0.25 * (high - low)
    if low > spare or high < -spare:
        return False
    low, high = min(min(e, f), min(g, h)), max(max(e, f), max(g, h))
    spare = 0.25 * (high - low) + least
    return low <= spare and high >= -spare


def _parts(a: Arc, b: Pair) -> tuple[float, float]:
    """Vector from a place of A to a point, along A's tangent (in units of the derivative) and its normal."""
    rx, ry = b[0] - a[0], b[1] - a[1]
    return a[2] * rx + a[3] * ry, a[4] * rx + a[5] * ry


def _meeting(
    data: Array, first: Any, second: Any, x: float, y: float, c: float, s: float, za: float, zb: float,
    reach_a: float, reach_b: float,
) -> tuple[float, float]:  # fmt: skip
    """Newton's method on both conditions from a cell's middle; NaN where it leaves its neighbourhood."""
    from_a, from_b = za, zb
    for _ in range(_FEW_STEPS):
        a, b = arc_at(data, first, za), _placed(arc_at(data, second, zb), x, y, c, s)
        rx, ry = b[0] - a[0], b[1] - a[1]
        apart, across = a[2] * rx + a[3] * ry, a[2] * b[3] - a[3] * b[2]
        apart_a = a[4] * rx + a[5] * ry - a[2] * a[2] - a[3] * a[3]
        apart_b = a[2] * b[2] + a[3] * b[3]
        across_a, across_b = a[4] * b[3] - a[5] * b[2], a[2] * b[5] - a[3] * b[4]
        pivot = apart_a * across_b - apart_b * across_a
        if pivot == 0.0:
            break
        step_a = (apart_b * across - across_b * apart) / pivot
        step_b = (across_a * apart - apart_a * across) / pivot
        if abs(step_a) < _LAST_STEP and abs(step_b) < _LAST_STEP:
            return za + step_a, zb + step_b
        za += min(max(step_a, -reach_a), reach_a)
        zb += min(max(step_b, -reach_b), reach_b)
        if not (abs(za - from_a) < 2.0 * reach_a and abs(zb - from_b) < 2.0 * reach_b):
            break
    return math.nan, math.nan


def _pair_at(
    data: Array, first: Any, second: Any, x: float, y: float, c: float, s: float, za: float, zb: float
) -> Found:
    """Contact at a pair of places; NaN if it is none."""
    a, b = arc_at(data, first, za), _placed(arc_at(data, second, zb), x, y, c, s)
    nx, ny, k = _normal(a)
    _, _, other = _normal(b)
    gap = nx * (b[0] - a[0]) + ny * (b[1] - a[1])
    fit = k + other + k * other * gap
    opposed = a[2] * b[2] + a[3] * b[3] < 0.0 and fit > _DEGENERATE * (abs(k) + abs(other))
    if not (opposed and _within(data, first, za) and _within(data, second, zb)):
        nx = ny = gap = math.nan
    return nx, ny, b[0], b[1], gap, k * other / fit, k / fit, -(1.0 + k * gap) / fit


def _within(data: Array, first: Any, z: float) -> bool:
    """Test of a place z: on the curve, or beyond its ends."""
    return bool(data[first + 1] > 0.5 or -_LAST_STEP <= z <= data[first] + _LAST_STEP)


def _stride(pieces: int) -> float:
    """Distance (pieces) of the samples of a curve where pairs of samples are tried."""
    if pieces < _FEW:
        return 1.0 / (1 + (_ENOUGH - 1) // pieces)
    return float(1 + (pieces - 1) // _MOST)


def arc_at(data: Array, first: Any, z: float) -> Arc:
    """The curve whose data begins at ``first``, at the place z in pieces (2.5: the middle of its third)."""
    if not abs(z) < 1e9:
        return math.nan, math.nan, math.nan, math.nan, math.nan, math.nan
    pieces, floor = int(data[first]), math.floor(z)
    k = floor % pieces
    if data[first + 1] < 0.5:
        floor = k = min(max(floor, 0), pieces - 1)
    u = z - floor
    place = int(first) + 3 + pieces + 16 * k
    x, y, dx, dy, ddx, ddy = data[place + 7], data[place + 15], 0.0, 0.0, 0.0, 0.0
    for power in range(6, -1, -1):
        ddx, ddy = ddx * u + dx, ddy * u + dy
        dx, dy = dx * u + x, dy * u + y
        x, y = x * u + data[place + power], y * u + data[place + 8 + power]
    return x, y, dx, dy, 2.0 * ddx, 2.0 * ddy


def _height(data: Array, first: Any, x: float, y: float, weight: float, z: float) -> float:
    """Weight c² / 2 - (x, y)·c at the place z."""
    cx, cy = _point(data, first, z)
    return (0.5 * weight * cx - x) * cx + (0.5 * weight * cy - y) * cy


def _point(data: Array, first: Any, z: float) -> Pair:
    """The curve at the place z; read off where a piece starts."""
    pieces, k = int(data[first]), int(z)
    if z == k and 0 <= k < pieces:
        place = int(first) + 3 + pieces + 16 * k
        return data[place], data[place + 8]
    arc = arc_at(data, first, z)
    return arc[0], arc[1]


def _tangent(data: Array, place: int, u: float) -> Pair:
    """The derivative by u in the piece whose coefficients begin at ``place``."""
    dx, dy = 7.0 * data[place + 7], 7.0 * data[place + 15]
    for power in range(6, 0, -1):
        dx, dy = dx * u + power * data[place + power], dy * u + power * data[place + 8 + power]
    return dx, dy


def _slopes(arc: Arc, x: float, y: float, weight: float) -> tuple[float, float]:
    """First and second derivatives of the height by u."""
    rx, ry = weight * arc[0] - x, weight * arc[1] - y
    bend = weight * (arc[2] * arc[2] + arc[3] * arc[3]) + rx * arc[4] + ry * arc[5]
    return rx * arc[2] + ry * arc[3], bend


def _normal(arc: Arc) -> tuple[float, float, float]:
    """Outward normal and curvature; NaN where the tangent vanishes."""
    speed = math.sqrt(arc[2] * arc[2] + arc[3] * arc[3])
    if not speed > 0.0:
        return math.nan, math.nan, math.nan
    return arc[3] / speed, -arc[2] / speed, (arc[2] * arc[5] - arc[3] * arc[4]) / (speed * speed * speed)


def _placed(arc: Arc, x: float, y: float, c: float, s: float) -> Arc:
    """A curve of B in A's axes."""
    return (
        x + c * arc[0] - s * arc[1], y + s * arc[0] + c * arc[1],
        c * arc[2] - s * arc[3], s * arc[2] + c * arc[3],
        c * arc[4] - s * arc[5], s * arc[4] + c * arc[5],
    )  # fmt: skip


def _seen(arc: Arc, x: float, y: float, c: float, s: float) -> Arc:
    """Point, derivative and outward normal of a curve of A in B's axes."""
    rx, ry = arc[0] - x, arc[1] - y
    dx, dy = c * arc[2] + s * arc[3], c * arc[3] - s * arc[2]
    speed = math.sqrt(dx * dx + dy * dy)
    over = 1.0 / speed if speed > 0.0 else 0.0
    return c * rx + s * ry, c * ry - s * rx, dx, dy, dy * over, -dx * over
