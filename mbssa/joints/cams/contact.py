"""Gap between a profile and a point, a face or another profile, in the plane, in many poses side by side."""

# Frame A has the profile, material left of its tangent; it touches B's origin (POINT), the line y = 0 of B
# from -y (FLAT), or B's curve (CURVE). The gap (m, positive outside) is that of the contact nearest to
# touching on whole profiles; it is stationary in the place: its derivative is that of a distance. Vectors of
# the plane are complex numbers x + i y; places on curves count in pieces. Samples show where a contact may
# be; Newton's method finds it.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats
from mbssa.graph.frames import Vector, minus, plus, times
from mbssa.graph.nodes import Number, sqrt
from mbssa.joints.cams.curves import Curve, cross

Plane = npt.NDArray[np.complex128]
Array = npt.NDArray[Any]

#: Counterparts of a profile: a point, a straight face, another profile.
POINT, FLAT, CURVE = range(3)

#: Square of the cosine between normal and tangent from which a place is an end or a corner.
_UNEVEN = 1e-16
#: Samples of poses that are searched side by side: so many that their tables fit a processor's cache.
_TOGETHER = 100_000
#: After a step of this size (in pieces) Newton's method is done: its next error is below rounding.
_LAST_STEP = 1e-8
#: The two sides of a corner are as near as this (in pieces).
_CORNER = 1e-12
#: Curvatures cancel where this share of them is left: curves are accurate to about 1e-9 in theirs.
_DEGENERATE = 1e-7
#: Steps of Newton's method in a valley, where bisection helps, and in a cell, which another may replace.
_STEPS, _FEW_STEPS = 80, 20
#: Corners of a cell of samples.
_CORNERS = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])[:, :, None]


class Contacts(NamedTuple):
    """Contacts in n poses."""

    gap: Floats  # (n,) m
    normal: Floats  # (n, 2) outward normal of A, in A's axes
    point: Floats  # (n, 2) of B, m, in A's axes
    place: Floats  # (n, 2) in pieces of both curves; only the first for POINT and FLAT


def contacts(curve_a: Curve, curve_b: Curve | None, kind: int, d: Floats, C: Floats) -> Contacts:
    """Search the contact in each of n relative poses d (n, 3), C (n, 3, 3) of B against A."""
    # The z axes are parallel. NaN where two curves have no opposed normals with k + l + k l gap > 0
    # (curvatures k, l), where a search does not end, and at a tangent of length zero.
    other = curve_b if kind == CURVE else None
    if kind == CURVE and other is None:
        raise ValueError("a contact of two curves takes two: give the follower's too")
    at, turned, face = (v[:, 0] + 1j * v[:, 1] for v in (d, C[:, :, 0], C[:, :, 1]))
    towards, weight = (face, 0.0) if kind == FLAT else (at, 1.0)
    place, smooth = np.full((len(d), 2), np.nan), np.zeros(len(d), dtype=bool)
    count = -(-_TOGETHER // (len(curve_a.samples[0]) * (len(other.samples[0]) if other else 1)))
    with np.errstate(all="ignore"):
        for part in (slice(k, k + count) for k in range(0, len(d), count)):
            if other is not None:
                place[part] = _nearest_pair(curve_a, other, at[part], turned[part]).T
            else:
                place[part, 0], smooth[part] = _nearest(curve_a, towards[part], weight)
        if other is not None:
            normal, point, gap = _pair_at(curve_a, other, at, turned, place.T)
        else:
            c, tangent, _ = curve_a.arcs(place[:, 0])
            normal, point, r = face if kind == FLAT else -1j * tangent / abs(tangent), at, at - c
            gap = dot(normal, r)
            if kind == FLAT:
                point = c + gap * normal
            else:
                end = ~smooth & (r != 0.0)
                gap = np.where(end, np.copysign(abs(r), gap), gap)
                normal = np.where(end, r / gap, normal)
    for k, curve in enumerate((curve_a, other)):
        if curve is not None and curve.closed:
            place[:, k] %= curve.pieces
    return Contacts(gap, _pairs(normal), _pairs(point), place)


def _pairs(z: Plane) -> Floats:
    return np.stack([z.real, z.imag], axis=1)


def gap(curve_a: Curve, curve_b: Curve | None, kind: int, d: Floats, C: Floats) -> tuple[Floats, Floats]:
    """Signed distance (n,), m, and its derivative (n, 6) by the relative twist of B against A."""
    found = contacts(curve_a, curve_b, kind, d, C)
    arm, normal = found.point - d[:, :2], found.normal
    derivative = np.zeros((len(d), 6))
    derivative[:, :2] = normal
    derivative[:, 5] = arm[:, 0] * normal[:, 1] - arm[:, 1] * normal[:, 0]
    return found.gap, derivative


def touching(
    curve_a: Curve, curve_b: Curve | None, kind: int, d: Floats, C: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Place of the contact, ``s_a`` and ``s_b``, and the curvatures (1/m) of A and B there; (n,) each."""
    # ``s_a`` and ``s_b`` are parameters as in ``Curve.at``; for FLAT ``s_b`` is x along the face (m), for
    # POINT 0. Curvatures are positive where the material is convex; that of a face is 0, that of a point, an
    # end or a corner infinite.
    found = contacts(curve_a, curve_b, kind, d, C)
    s_a = curve_a.parameter(found.place[:, 0])
    curvature = curve_a.curvature(s_a)
    if curve_b is not None and kind == CURVE:
        s_b = curve_b.parameter(found.place[:, 1])
        return s_a, s_b, curvature, curve_b.curvature(s_b)
    c, rate, _ = curve_a.at(s_a)
    uneven = (found.normal * rate).sum(axis=1) ** 2 > _UNEVEN * (rate * rate).sum(axis=1)
    curvature = np.where(uneven, np.inf, curvature)
    if kind == POINT:
        return s_a, np.zeros(len(d)), curvature, np.full(len(d), np.inf)
    return s_a, ((c - d[:, :2]) * C[:, :2, 0]).sum(axis=1), curvature, np.zeros(len(d))


def contact_rows(
    kind: int, d: Vector, C: Sequence[Vector], on: Callable[[int, int], Vector], size: Number
) -> tuple[Number, list[Number]]:
    """Gap of two profiles at given places of contact, and what is zero where these are right, in sizes."""
    # ``on(k, order)`` is the point of profile k at its place, or a derivative of it.
    d, x, y = d[:2], [C[0][0], C[1][0]], [C[0][1], C[1][1]]
    point, tangent = on(0, 0), on(0, 1)
    speed = sqrt(_flat(tangent, tangent))
    tangent = [v / speed for v in tangent]
    normal = [tangent[1], -tangent[0]]
    if kind == FLAT:  # the tangent is along the face
        return _flat(minus(d, point), y), [size * _flat(tangent, y)]
    rows = []
    if kind == CURVE:
        q, way = on(1, 0), on(1, 1)
        d = plus(d, times(q[0], x), times(q[1], y))
        rows.append(size * _flat(normal, plus(times(way[0], x), times(way[1], y))))
    rows.append(_flat(minus(d, point), tangent))
    return _flat(minus(d, point), normal), rows


def _flat(a: Vector, b: Vector) -> Number:
    return a[0] * b[0] + a[1] * b[1]


# --- search ----------------------------------------------------------------------------------------


def dot(a: Plane, b: Plane) -> Floats:
    return a.real * b.real + a.imag * b.imag


def _nearest(curve: Curve, towards: Plane, weight: float) -> tuple[Floats, Array]:
    """Places (n,) of a curve with the least weight c² / 2 - towards·c; and whether it is smooth there."""
    # A ``weight`` of 1 gives the nearest to the point ``towards``, 0 the farthest along that vector. NaN
    # where the search does not end; ends and corners are not smooth.
    places, (points, _, _) = curve.samples
    high = np.full((len(towards), len(places) + 2), np.inf)
    high[:, 1:-1] = _height(points, towards[:, None], weight)
    if curve.closed:
        high[:, 0], high[:, -1] = high[:, -3], high[:, 2]
    here = high[:, 1:-1]
    row, sample = np.nonzero((here <= high[:, :-2]) & (here <= high[:, 2:]))
    z, even = _lowest_about(curve, towards[row], weight, places[sample], places[1])
    low = _height(curve.arcs(z)[0], towards[row], weight)
    place, smooth = np.full(len(towards), np.nan), np.zeros(len(towards), dtype=bool)
    rows, best = _least(row, low)
    place[rows], smooth[rows] = z[best], even[best]
    return place, smooth


def _height(c: Plane, towards: Plane, weight: float) -> Floats:
    return dot(0.5 * weight * c - towards, c)


def _least(row: Array, size: Floats) -> tuple[Array, Array]:
    """Rows that occur in ascending ``row``, and where each has its least size."""
    first = np.flatnonzero(np.diff(row, prepend=-1))
    return row[first], np.lexsort((size, row))[first]


def _lowest_about(
    curve: Curve, towards: Plane, weight: float, z: Floats, reach: float
) -> tuple[Floats, Array]:
    """Lowest places of the valleys of that function about the places z, and whether it is smooth there."""
    # Newton's method between places where it falls and where it rises; steps no longer than ``reach``.
    found, smooth, left = np.full(len(z), np.nan), np.zeros(len(z), dtype=bool), np.arange(len(z))
    falls, rises = np.full(len(z), -np.inf), np.full(len(z), np.inf)
    for _ in range(_STEPS):
        c, tangent, bending = curve.arcs(z)
        r, speed = weight * c - towards[left], dot(tangent, tangent)
        slope, bend = dot(r, tangent), weight * speed + dot(r, bending)
        falls, rises = np.where(slope < 0.0, z, falls), np.where(slope < 0.0, rises, z)
        step = np.where(bend > 0.0, -slope / bend, -np.copysign(reach, slope))
        step[slope == 0.0] = 0.0
        there = z + np.minimum(np.maximum(step, -reach), reach)
        if not curve.closed:
            there = there.clip(0.0, curve.pieces)
        done, stuck = abs(step) < _LAST_STEP, there == z
        ends = done | stuck | (rises - falls < _CORNER)
        if ends.any():
            even = slope * slope <= 1e-16 * speed * (speed if weight > 0.0 else 1.0)
            at = left[ends]
            found[at], smooth[at] = np.where(done, z + step, z)[ends], (done | ~stuck & even)[ends]
        if ends.all():
            break
        z = np.where((falls < there) & (there < rises), there, 0.5 * (falls + rises))
        left, z, falls, rises = (v[~ends] for v in (left, z, falls, rises))
    return found, smooth


def _nearest_pair(curve_a: Curve, curve_b: Curve, at: Plane, turned: Plane) -> Floats:
    """Places (2, n) where the distance is along both normals, these are opposed, and it is least."""
    # NaN where there is no such pair that the curvatures allow. Such a pair has two conditions, each zero
    # along a line in the plane of both places: a cell of samples may hold one if both change sign within.
    (za, (a, tangent_a, _)), (zb, (b, tangent_b, _)) = curve_a.samples, curve_b.samples
    product = (turned[:, None] * tangent_a.conj())[:, :, None] * tangent_b
    left = product.imag > 0.0
    four = [left[:, i : i + len(za) - 1, j : j + len(zb) - 1] for i in (0, 1) for j in (0, 1)]
    mixed = (four[0] != four[1]) | (four[0] != four[2]) | (four[0] != four[3])
    row, i, j = np.nonzero(mixed & (product.real[:, :-1, 1:] < 0.0))
    # A contact has no distance along A's tangent; it may leave the range of the corners' by a quarter of it.
    corners = np.array([i, j])[:, None] + _CORNERS
    apart = dot(tangent_a[corners[0]], at[row] + turned[row] * b[corners[1]] - a[corners[0]])
    low, high = apart.min(axis=0), apart.max(axis=0)
    spare = 0.25 * (high - low)
    row, i, j = (v[(low <= spare) & (high >= -spare)] for v in (row, i, j))
    reach = np.array([[za[1]], [zb[1]]])
    z = _meeting(curve_a, curve_b, at[row], turned[row], (np.array([i, j]) + 0.5) * reach, reach)
    size = abs(_pair_at(curve_a, curve_b, at[row], turned[row], z)[2])
    place = np.full((2, len(at)), np.nan)
    rows, best = _least(row, size)
    place[:, rows] = np.where(np.isnan(size), np.nan, z)[:, best]
    return place


def _meeting(curve_a: Curve, curve_b: Curve, at: Plane, turned: Plane, z: Floats, reach: Floats) -> Floats:
    """Newton's method on both conditions from cells' middles; NaN where it leaves its neighbourhood."""
    found, left, start = np.full(z.shape, np.nan), np.arange(z.shape[1]), z
    for _ in range(_FEW_STEPS):
        if not len(left):
            break
        a, tangent_a, bending_a = curve_a.arcs(z[0])
        b, tangent_b, bending_b = curve_b.arcs(z[1]) * turned[left]
        r = at[left] + b - a
        apart, across = dot(tangent_a, r), cross(tangent_a, tangent_b)
        apart_a, apart_b = dot(bending_a, r) - dot(tangent_a, tangent_a), dot(tangent_a, tangent_b)
        across_a, across_b = cross(bending_a, tangent_b), cross(tangent_a, bending_b)
        pivot = apart_a * across_b - apart_b * across_a
        step = np.array([apart_b * across - across_b * apart, across_a * apart - apart_a * across]) / pivot
        done = (abs(step) < _LAST_STEP).all(axis=0)
        found[:, left[done]] = (z + step)[:, done]
        z = z + np.minimum(np.maximum(step, -reach), reach)
        goes_on = ~done & (pivot != 0.0) & (abs(z - start) < 2.0 * reach).all(axis=0)
        left, z, start = left[goes_on], z[:, goes_on], start[:, goes_on]
    return found


def _pair_at(
    curve_a: Curve, curve_b: Curve, at: Plane, turned: Plane, z: Floats
) -> tuple[Plane, Plane, Floats]:
    """Outward normal of A, point of B and gap at pairs of places (2, n); NaN if it is no contact."""
    a, tangent_a, bending_a = curve_a.arcs(z[0])
    b, tangent_b, bending_b = curve_b.arcs(z[1]) * turned
    speed_a, speed_b = abs(tangent_a), abs(tangent_b)
    k, other = cross(tangent_a, bending_a) / speed_a**3, cross(tangent_b, bending_b) / speed_b**3
    normal, point = -1j * tangent_a / speed_a, at + b
    gap = dot(normal, point - a)
    fits = k + other + k * other * gap > _DEGENERATE * (abs(k) + abs(other))
    fits &= dot(tangent_a, tangent_b) < 0.0
    for curve, place in zip((curve_a, curve_b), z, strict=True):
        if not curve.closed:
            fits &= (place >= -_LAST_STEP) & (place <= curve.pieces + _LAST_STEP)
    gap[~fits], normal[~fits] = np.nan, complex(np.nan, np.nan)
    return normal, point, gap
