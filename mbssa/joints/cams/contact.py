"""Gap between a profile and a point, a face or another profile, in the plane."""

# Frame A has the profile, material left of its tangent; it touches B's origin (POINT), the line y = 0 of B
# from -y (FLAT), or B's curve (CURVE). The gap (m, positive outside) is that of the contact nearest to
# touching on whole profiles; it is stationary in the place: its derivative is that of a distance.

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Floats
from mbssa.graph.frames import Vector, minus, plus, times
from mbssa.graph.nodes import Number, sqrt
from mbssa.joints.cams.contact_search import Plane, dot, nearest, nearest_pair, pair_at
from mbssa.joints.cams.curves import Curve

#: Counterparts of a profile: a point, a straight face, another profile.
POINT, FLAT, CURVE = range(3)

#: Square of the cosine between normal and tangent from which a place is an end or a corner.
_UNEVEN = 1e-16

#: Samples of poses that are searched side by side: so many that their tables fit a processor's cache.
_TOGETHER = 100_000


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contacts in n poses."""

    gap: Floats  # (n,) m
    normal: Floats  # (n, 2) outward normal of A, in A's axes
    point: Floats  # (n, 2) of B, m, in A's axes
    place: Floats  # (n, 2) in pieces of both curves; only the first for POINT and FLAT


def contacts(curve_a: Curve, curve_b: Curve | None, kind: int, d: Floats, C: Floats) -> Contacts:
    """Search the contact in each of n relative poses d (n, 3), C (n, 3, 3) of B against A."""
    # The z axes are parallel; ``curve_b`` is None but for CURVE.
    if kind == CURVE and curve_b is None:
        raise ValueError("a contact of two curves takes two: give the follower's too")
    # NaN where two curves have no opposed normals with k + l + k l gap > 0 (curvatures k, l), where a search
    # does not end, and at a tangent of length zero.
    at, turned, face = (v[:, 0] + 1j * v[:, 1] for v in (d, C[:, :, 0], C[:, :, 1]))
    place, smooth = np.full((len(d), 2), np.nan), np.zeros(len(d), dtype=bool)
    with np.errstate(all="ignore"):
        each = len(curve_a.samples[0]) * (len(curve_b.samples[0]) if curve_b and kind == CURVE else 1)
        count = -(-_TOGETHER // each)
        for part in (slice(k, k + count) for k in range(0, len(d), count)):
            if curve_b is not None and kind == CURVE:
                place[part] = nearest_pair(curve_a, curve_b, at[part], turned[part]).T
            elif kind == POINT:
                place[part, 0], smooth[part] = nearest(curve_a, at[part], 1.0)
            else:
                place[part, 0], smooth[part] = nearest(curve_a, face[part], 0.0)
        if curve_b is not None and kind == CURVE:
            normal, point, gap = pair_at(curve_a, curve_b, at, turned, place.T)
        elif kind == POINT:
            c, tangent, _ = curve_a.arcs(place[:, 0])
            normal, point, r = -1j * tangent / abs(tangent), at, at - c
            gap = dot(normal, r)
            end = ~smooth & (r != 0.0)
            gap = np.where(end, np.copysign(abs(r), gap), gap)
            normal = np.where(end, r / gap, normal)
        else:
            c = curve_a.arcs(place[:, 0])[0]
            normal, gap = face, dot(face, at - c)
            point = c + gap * normal
        for curve, k in ((curve_a, 0), (curve_b, 1)):
            if curve is not None and curve.closed:
                place[:, k] %= curve.pieces
    return Contacts(gap, _pairs(normal), _pairs(point), place)


def _pairs(z: Plane) -> Floats:
    return z.view(np.float64).reshape(-1, 2)


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
    speed = (rate * rate).sum(axis=1)
    slope = (found.normal * rate).sum(axis=1)
    curvature = np.where(slope**2 > _UNEVEN * speed, np.inf, curvature)
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
