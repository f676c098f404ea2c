"""Gap between a profile and a point, a face or another profile, in the plane."""

# Frame A has the profile, material left of its tangent; it touches B's origin (POINT), the line y = 0 of B
# from -y (FLAT), or B's curve (CURVE). The gap (m, positive outside) is that of the contact nearest to
# touching on whole profiles; it is stationary in the place: its derivative is that of a distance.

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Floats
from mbssa.compiled import chosen
from mbssa.graph.frames import Vector, minus, plus, times
from mbssa.graph.nodes import Number, sqrt
from mbssa.joints.cams.contact_kernels import CURVE, FLAT, POINT, contacts_at
from mbssa.joints.cams.curves import Curve

#: Square of the cosine between normal and tangent from which a place is an end or a corner.
_UNEVEN = 1e-16

#: Seconds that plain Python takes to find a contact with one curve and with two, and that compiling takes.
_SECONDS, _COMPILING = (1e-4, 6e-3), 6.0


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
    data = curve_a.data if curve_b is None else np.concatenate([curve_a.data, curve_b.data])
    # NaN where two curves have no opposed normals with k + l + k l gap > 0 (curvatures k, l), where a search
    # does not end, and at a tangent of length zero.
    found, place = np.full((len(d), 5), np.nan), np.full((len(d), 2), np.nan)
    pose = np.concatenate([d[:, :2], C[:, :2, 0], C[:, :2, 1]], axis=1)
    seek = chosen(contacts_at, _SECONDS[kind == CURVE] * len(d), compiling=_COMPILING)
    with np.errstate(all="ignore"):
        seek(data, len(curve_a.data), kind, pose, place, found)
    return Contacts(found[:, 4], found[:, :2], found[:, 2:4], place)


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
