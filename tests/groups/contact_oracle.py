"""Gap between a profile and what it touches by another search; takes complex poses for complex steps.

What it computes is said in :mod:`mbssa.joints.cams.contact`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.joints.cams.contact_kernels import FLAT, POINT
from mbssa.joints.cams.curves import Curve

Array = npt.NDArray[Any]


#: Samples of a curve at least, among which its valleys are sought.
_SAMPLES = 64
_STEPS = 100
#: Curvatures cancel where this share of them is left: curves are accurate to about 1e-9 in theirs.
_DEGENERATE = 1e-7


def gap(curve_a: Curve, curve_b: Curve | None, kind: int, d: Array, C: Array) -> tuple[Array, Array]:
    """Signed distance (n,), m, and its derivative (n, 6) by the relative twist of B against A.

    Parameters
    ----------
    curve_a, curve_b : the profile on A; that on B for ``CURVE``, else None
    kind : POINT, FLAT or CURVE
    d, C : relative poses (n, 3), (n, 3, 3) with parallel z axes, and the twist as in
        :mod:`mbssa.joints.equations`; complex ones too, for complex steps

    >>> import numpy as np
    >>> from mbssa.joints.cams.curves import circle
    >>> d, C = np.array([[0.0, 0.05, 0.0]]), np.eye(3)[None]
    >>> value, derivative = gap(circle(0.02), None, POINT, d, C)
    >>> print(value.round(12).tolist(), (derivative.round(9) + 0.0).tolist())
    [0.03] [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]]
    """
    kinds = np.result_type(d, C, float)
    value, derivative = np.empty(len(d), kinds), np.zeros((len(d), 6), kinds)
    for i, found in enumerate(contacts(curve_a, curve_b, kind, d, C)):
        value[i] = found.gap
        derivative[i, :2] = found.normal
        derivative[i, 5] = _cross(found.point - d[i, :2], found.normal)
    return value, derivative


def touching(
    curve_a: Curve, curve_b: Curve | None, kind: int, d: Array, C: Array
) -> tuple[Array, Array, Array, Array]:
    """Place of the contact, ``s_a`` and ``s_b``, and the curvatures of A and B there; (n,) each.

    ``s_a`` and ``s_b`` are parameters of the curves, as in ``Curve.at``; for ``FLAT`` ``s_b`` is x along the
    face (m), for ``POINT`` 0. Curvatures (1/m) are positive where the material is convex; that of a face is
    0, that of a point, an end or a corner infinite.

    >>> import numpy as np
    >>> from mbssa.joints.cams.curves import circle
    >>> d, C = np.array([[0.01, 0.05, 0.0]]), np.eye(3)[None]
    >>> print([number.round(6).tolist() for number in touching(circle(0.02), None, FLAT, d, C)])
    [[1.570796], [-0.01], [50.0], [0.0]]
    """
    found = contacts(curve_a, curve_b, kind, d.real, C.real)
    columns = np.array([(one.s_a, one.s_b, one.curvature_a, one.curvature_b) for one in found]).reshape(-1, 4)
    s_a, s_b, curvature_a, curvature_b = columns.T
    return s_a, s_b, curvature_a, curvature_b


@dataclass(frozen=True, slots=True)
class Contact:
    """Of one pose: normal of A and B's point, (2,) each in A's axes; the gap; places and curvatures."""

    normal: Array
    point: Array
    gap: Any
    s_a: Any
    s_b: Any
    curvature_a: Any
    curvature_b: Any


def contacts(curve_a: Curve, curve_b: Curve | None, kind: int, d: Array, C: Array) -> list[Contact]:
    """The contact in each of (n,) poses, with the parameters of :func:`gap`."""
    if kind == POINT:
        return [_with_point(curve_a, place) for place in d[:, :2]]
    if kind == FLAT:
        return [_with_face(curve_a, place, axes[:2, :2]) for place, axes in zip(d[:, :2], C, strict=True)]
    if curve_b is None:
        raise ValueError("a contact of two curves takes two: give the follower's too")
    return [
        _with_curve(curve_a, curve_b, place, axes[:2, :2]) for place, axes in zip(d[:, :2], C, strict=True)
    ]


def _with_point(curve: Curve, point: Array) -> Contact:
    s, smooth = _nearest(curve, point, 1.0)
    c, rate, bending = curve.at(s)
    curvature: Any
    normal, curvature = _normal(rate, bending)
    across = point - c
    distance = normal @ across
    size = np.sqrt(across @ across)
    if not smooth and size != 0.0:
        distance = size if distance.real >= 0.0 else -size
        normal, curvature = across / distance, np.inf
    return Contact(normal, point, distance, s, 0.0, curvature, np.inf)


def _with_face(curve: Curve, origin: Array, axes: Array) -> Contact:
    along, normal = axes.T
    s, smooth = _nearest(curve, normal, 0.0)
    c, rate, bending = curve.at(s)
    distance = normal @ (origin - c)
    curvature = _normal(rate, bending)[1] if smooth else np.inf
    place = along @ (c - origin)
    return Contact(normal, c + distance * normal, distance, s, place, curvature, 0.0)


def _with_curve(curve_a: Curve, curve_b: Curve, origin: Array, axes: Array) -> Contact:
    s_a, s_b = _nearest_pair(curve_a, curve_b, origin.real, axes.real)
    if np.isnan(s_a):
        void = np.full(2, np.nan)
        return Contact(void, void, np.nan, np.nan, np.nan, np.nan, np.nan)
    if np.iscomplexobj(origin) or np.iscomplexobj(axes):
        step_a, step_b = _step(curve_a.at(s_a), _placed(curve_b, s_b, origin, axes))
        s_a, s_b = s_a + step_a, s_b + step_b
    a, b = curve_a.at(s_a), _placed(curve_b, s_b, origin, axes)
    normal, curvature = _normal(*a[1:])
    distance = normal @ (b[0] - a[0])
    ends = _turned(curve_a, s_a), _turned(curve_b, s_b)
    return Contact(normal, b[0], distance, *ends, curvature, _normal(*b[1:])[1])


# --- one curve --------------------------------------------------------------------------------------


def _nearest(curve: Curve, q: Array, weight: float) -> tuple[Any, bool]:
    """Minimise ``weight`` c² / 2 - q·c; return the place, and whether the curve is smooth there.

    With ``weight`` 1 that is the nearest to the point q, with 0 the farthest along q. Every valley of the
    samples is gone through, and the lowest taken.
    """
    s = curve.sampled(-(-_SAMPLES // curve.pieces))
    height = _height(curve, s, q.real, weight)
    if curve.closed:
        before, after = np.roll(height, 1), np.roll(height, -1)
        start, end = np.append(s[-1] - curve.period, s[:-1]), np.append(s[1:], s[0] + curve.period)
    else:
        before, after = np.append(np.inf, height[:-1]), np.append(height[1:], np.inf)
        start, end = np.append(s[0], s[:-1]), np.append(s[1:], s[-1])
    valley = (height <= before) & (height <= after)
    s, slope, bend, speed = _valleys(curve, s[valley], start[valley], end[valley], q.real, weight)
    lowest = int(np.argmin(_height(curve, s, q.real, weight)))
    scale = speed[lowest] * (speed[lowest] * curve.period**2 if weight else 1.0)
    smooth = bool(slope[lowest] ** 2 <= 1e-16 * scale)
    place = _turned(curve, s[lowest])
    if not smooth:
        place = curve.breaks[np.abs(curve.breaks - place).argmin()]
    if smooth and np.iscomplexobj(q):
        slope, bend, _ = _slopes(curve, place[None], q, weight)
        return place - slope[0] / bend[0], smooth
    return place, smooth


def _valleys(
    curve: Curve, s: Array, start: Array, end: Array, q: Array, weight: float
) -> tuple[Array, Array, Array, Array]:
    """Newton's method from every ``s``, between places where it falls and where it rises."""
    for _ in range(_STEPS):
        slope, bend, _ = _slopes(curve, s, q, weight)
        start, end = np.where(slope < 0, s, start), np.where(slope < 0, end, s)
        there = s - np.divide(slope, bend, out=np.full_like(s, np.inf), where=bend > 0)
        there = np.where((start <= there) & (there <= end), there, 0.5 * (start + end))
        there = np.where(slope == 0, s, there)
        far = np.abs(there - s).max()
        s = there
        if far <= 1e-9 * curve.period / curve.pieces:
            break
    return s, *_slopes(curve, s, q, weight)


def _height(curve: Curve, s: Array, q: Array, weight: float) -> Array:
    c = curve.at(s)[0]
    height: Array = ((0.5 * weight * c - q) * c).sum(axis=-1)
    return height


def _slopes(curve: Curve, s: Array, q: Array, weight: float) -> tuple[Array, Array, Array]:
    """First and second derivatives of the height by s, and the square of the curve's own rate."""
    c, rate, bending = curve.at(s)
    r = weight * c - q
    speed = (rate * rate).sum(axis=-1)
    return (r * rate).sum(axis=-1), weight * speed + (r * bending).sum(axis=-1), speed


# --- two curves -------------------------------------------------------------------------------------


def _nearest_pair(curve_a: Curve, curve_b: Curve, origin: Array, axes: Array) -> tuple[Any, Any]:
    """Parameters where the tangents are parallel, the distance is along the normal, and it is least.

    A cell of both curves' samples may hold such a pair if both conditions change sign in it.
    """
    ends_a, ends_b = (_grid(curve) for curve in (curve_a, curve_b))
    a, b = curve_a.at(ends_a), _placed(curve_b, ends_b, origin, axes)
    apart = np.einsum("ic,ijc->ij", a[1], b[0][None] - a[0][:, None])
    across = _cross(a[1][:, None], b[1][None])
    opposed = a[1] @ b[1].T < 0
    low, high = _extremes(apart)
    spare = 0.25 * (high - low)
    flat, steep = _extremes(across)
    may = (low - spare <= 0) & (high + spare >= 0) & (flat <= 0) & (steep >= 0) & _corners(opposed).any(0)
    i, j = np.nonzero(may)
    s_a, s_b = 0.5 * (ends_a[i] + ends_a[i + 1]), 0.5 * (ends_b[j] + ends_b[j + 1])
    reach_a, reach_b = np.diff(ends_a)[i], np.diff(ends_b)[j]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(_STEPS):
            steps = _step(curve_a.at(s_a), _placed(curve_b, s_b, origin, axes))
            s_a = s_a + np.clip(steps[0], -reach_a, reach_a)
            s_b = s_b + np.clip(steps[1], -reach_b, reach_b)
            done = (np.abs(steps[0]) < 1e-9 * reach_a) & (np.abs(steps[1]) < 1e-9 * reach_b)
            if (done | np.isnan(s_a)).all():
                break
        a, b = curve_a.at(s_a), _placed(curve_b, s_b, origin, axes)
        (normal, one), (_, two) = _normal(*a[1:]), _normal(*b[1:])
        distance = (normal * (b[0] - a[0])).sum(axis=-1)
        allowed = one + two + one * two * distance > _DEGENERATE * (np.abs(one) + np.abs(two))
    allowed &= done if len(i) else False
    allowed &= _within(curve_a, s_a) & _within(curve_b, s_b) & ((a[1] * b[1]).sum(axis=-1) < 0)
    if not allowed.any():
        return np.nan, np.nan
    best = int(np.argmin(np.where(allowed, np.abs(distance), np.inf)))
    return s_a[best], s_b[best]


def _grid(curve: Curve) -> Array:
    """Samples of a curve with both ends, also of a closed one."""
    s = curve.sampled(-(-_SAMPLES // curve.pieces))
    return np.append(s, curve.breaks[-1]) if curve.closed else s


def _step(a: tuple[Array, Array, Array], b: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """A step of Newton's method on both conditions, by s of A and of B."""
    r = b[0] - a[0]
    apart, across = (a[1] * r).sum(axis=-1), _cross(a[1], b[1])
    apart_a = (a[2] * r).sum(axis=-1) - (a[1] * a[1]).sum(axis=-1)
    apart_b = (a[1] * b[1]).sum(axis=-1)
    across_a, across_b = _cross(a[2], b[1]), _cross(a[1], b[2])
    pivot = apart_a * across_b - apart_b * across_a
    return (apart_b * across - across_b * apart) / pivot, (across_a * apart - apart_a * across) / pivot


def _placed(curve: Curve, s: Any, origin: Array, axes: Array) -> tuple[Array, Array, Array]:
    """A curve of B in A's axes, and its derivatives."""
    c, rate, bending = curve.at(s)
    return origin + c @ axes.T, rate @ axes.T, bending @ axes.T


def _corners(of: Array) -> Array:
    """The four corners of every cell, (4, rows - 1, columns - 1)."""
    return np.stack([of[:-1, :-1], of[1:, :-1], of[:-1, 1:], of[1:, 1:]])


def _extremes(of: Array) -> tuple[Array, Array]:
    corners = _corners(of)
    return corners.min(axis=0), corners.max(axis=0)


def _within(curve: Curve, s: Array) -> Array:
    """Whether a curve goes as far as s."""
    spare = 1e-8 * curve.period / curve.pieces
    inside: Array = (s >= curve.breaks[0] - spare) & (s <= curve.breaks[-1] + spare)
    return inside | curve.closed


# --- both -------------------------------------------------------------------------------------------


def _normal(rate: Array, bending: Array) -> tuple[Array, Array]:
    """Outward normal and curvature."""
    speed = np.sqrt((rate * rate).sum(axis=-1))[..., None]
    normal = np.stack([rate[..., 1], -rate[..., 0]], axis=-1) / speed
    return normal, _cross(rate, bending) / speed[..., 0] ** 3


def _cross(a: Array, b: Array) -> Array:
    cross: Array = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return cross


def _turned(curve: Curve, s: Any) -> Any:
    """A parameter of a closed curve within its own range."""
    if not curve.closed:
        return s
    return s - curve.period * np.floor((s.real - curve.breaks[0]) / curve.period)
