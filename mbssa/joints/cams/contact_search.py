"""Search of the contact of a profile with a point, a face or another profile, in many poses side by side."""

# Vectors of the plane are complex numbers x + i y; places on curves count in pieces. Samples show where a
# contact may be; Newton's method finds it.

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats
from mbssa.joints.cams.curves import Curve

Plane = npt.NDArray[np.complex128]
Array = npt.NDArray[Any]

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


def dot(a: Plane, b: Plane) -> Floats:
    """Scalar products of vectors."""
    return a.real * b.real + a.imag * b.imag


def _cross(a: Plane, b: Plane) -> Floats:
    return a.real * b.imag - a.imag * b.real


def nearest(curve: Curve, towards: Plane, weight: float) -> tuple[Floats, Array]:
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


def nearest_pair(curve_a: Curve, curve_b: Curve, at: Plane, turned: Plane) -> Floats:
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
    size = abs(pair_at(curve_a, curve_b, at[row], turned[row], z)[2])
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
        apart, across = dot(tangent_a, r), _cross(tangent_a, tangent_b)
        apart_a, apart_b = dot(bending_a, r) - dot(tangent_a, tangent_a), dot(tangent_a, tangent_b)
        across_a, across_b = _cross(bending_a, tangent_b), _cross(tangent_a, bending_b)
        pivot = apart_a * across_b - apart_b * across_a
        step = np.array([apart_b * across - across_b * apart, across_a * apart - apart_a * across]) / pivot
        done = (abs(step) < _LAST_STEP).all(axis=0)
        found[:, left[done]] = (z + step)[:, done]
        z = z + np.minimum(np.maximum(step, -reach), reach)
        goes_on = ~done & (pivot != 0.0) & (abs(z - start) < 2.0 * reach).all(axis=0)
        left, z, start = left[goes_on], z[:, goes_on], start[:, goes_on]
    return found


def pair_at(
    curve_a: Curve, curve_b: Curve, at: Plane, turned: Plane, z: Floats
) -> tuple[Plane, Plane, Floats]:
    """Outward normal of A, point of B and gap at pairs of places (2, n); NaN if it is no contact."""
    a, tangent_a, bending_a = curve_a.arcs(z[0])
    b, tangent_b, bending_b = curve_b.arcs(z[1]) * turned
    speed_a, speed_b = abs(tangent_a), abs(tangent_b)
    k, other = _cross(tangent_a, bending_a) / speed_a**3, _cross(tangent_b, bending_b) / speed_b**3
    normal, point = -1j * tangent_a / speed_a, at + b
    gap = dot(normal, point - a)
    fits = k + other + k * other * gap > _DEGENERATE * (abs(k) + abs(other))
    fits &= dot(tangent_a, tangent_b) < 0.0
    for curve, place in zip((curve_a, curve_b), z, strict=True):
        if not curve.closed:
            fits &= (place >= -_LAST_STEP) & (place <= curve.pieces + _LAST_STEP)
    gap[~fits], normal[~fits] = np.nan, complex(np.nan, np.nan)
    return normal, point, gap
