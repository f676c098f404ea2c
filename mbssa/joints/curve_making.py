"""Curves from what people have: functions, points, circles, ellipses, lines.

A smooth function becomes polynomials of degree 7 that follow it to about 1e-12 of the curve's size, and its
second derivative to 1e-9 of its largest value: on each piece the second derivative's Chebyshev series is cut
after degree 5, where it is all but the best polynomial, and integrated twice between the exact ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import chebyshev, polynomial

from mbssa.bounds import SMALLEST
from mbssa.joints.curves import JOINED, ORDER, Array, Curve

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

#: A curve that needs more pieces than this has a corner where no break was given.
MOST_PIECES = 2_048

#: Of the largest second derivative; of the size.
_BENDING, _PLACE = 4e-10, 5e-13

#: Points at which a piece is sampled, and what rounding there may do to a second derivative.
_NODES = 10
_ROUNDING = 2e-13


class Rough(ValueError):
    """A function that no reasonable number of polynomials follows, or that is not finite."""


def curve_from(
    function: Callable[[Array], Array], breaks: Sequence[float] | Array, closed: bool | None = None
) -> Curve:
    """A curve that follows a smooth function.

    Parameters
    ----------
    function : takes s (m,), gives points (m, 2) in metres
    breaks : (k + 1,) ascending: it must be smooth between two of them, and continuous at them
    closed : whether it ends where it begins; found out if not given

    Raises
    ------
    ValueError
        It is not finite or not smooth somewhere (:class:`Rough`), or is to be closed and is not.

    Examples
    --------
    >>> import numpy as np
    >>> egg = curve_from(lambda s: np.stack([0.03 * np.cos(s), 0.02 * np.sin(s)], 1), [0.0, 2 * np.pi])
    >>> egg.closed, egg.pieces < 40, round(egg.area / (0.03 * 0.02), 9)
    (True, True, 3.141592654)
    """
    edges = np.asarray(breaks, dtype=float)
    number = np.ones(len(edges) - 1, dtype=np.int64)
    while True:
        ends = np.concatenate(
            [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(edges, edges[1:], number, strict=False)]
            + [edges[-1:]]
        )
        with np.errstate(all="ignore"):  # what overflows is found by its NaN
            coefficients, missed = _fitted(function, ends)
        worst = np.maximum.reduceat(missed, np.concatenate([[0], np.cumsum(number)[:-1]]))
        if (worst <= 1.0).all():
            break
        # What is missed shrinks with the sixth power of a piece's length.
        if np.isnan(worst).any():
            raise Rough("has numbers too large or too small to be followed")
        grown = np.ceil(number * np.clip(1.05 * worst ** (1 / 6), 1.2, 8.0)).astype(np.int64)
        number = np.where(worst > 1.0, grown, number)
        if number.sum() > MOST_PIECES:
            s = ends[np.argmax(missed)]
            raise Rough(f"is not smooth near s = {s:.6g}; write a function without corners, jumps and poles")
    start, end = coefficients[0, :, 0], coefficients[-1].sum(axis=1)
    if closed is None:
        closed = bool(np.hypot(*(end - start)) <= JOINED * np.ptp(coefficients[:, :, 0], axis=0).max())
    return Curve(ends, coefficients, closed)


def _fitted(function: Callable[[Array], Array], ends: Array) -> tuple[Array, Array]:
    """Coefficients (n, 2, 8), and for each piece what it misses as a multiple of what it may."""
    series, bent, back = _matrices()
    half = 0.5 * np.diff(ends)[:, None]
    s = ends[:-1, None] + half * (1.0 + chebyshev.chebpts1(_NODES))
    values = _finite(function, s.ravel()).reshape(*s.shape, 2)
    corners = _finite(function, ends)
    size = float(np.ptp(values.reshape(-1, 2), axis=0).max()) or 1.0
    bending = np.einsum("bn,knc->kcb", bent @ series, values - values[:, :1])
    kept, cut = bending[..., : ORDER - 2], np.abs(bending[..., ORDER - 2 :]).sum(axis=-1)
    powers = np.einsum("pb,kcb->kcp", back, kept)
    powers[..., 0] += corners[:-1] - powers[..., 0]
    powers[..., 1] += corners[1:] - powers.sum(axis=-1)
    rate = half**2
    largest = max(float((np.abs(kept).sum(axis=-1) / rate).max()), size / (ends[-1] - ends[0]) ** 2)
    allowed = _BENDING * largest * rate + _ROUNDING * np.abs(values).max()
    u = 0.5 * (1.0 + chebyshev.chebpts1(_NODES))
    missed = np.abs(polynomial.polyval(u, np.moveaxis(powers, -1, 0)) - values.transpose(0, 2, 1))
    return powers, np.maximum(
        (cut / allowed).max(axis=1),
        missed.max(axis=(1, 2)) / (_PLACE * size + 8 * np.finfo(float).eps * np.abs(values).max()),
    )


@cache
def _matrices() -> tuple[Array, Array, Array]:
    """Values at the nodes to a Chebyshev series; that to its second derivative; six of its terms, integrated
    twice, to powers of u with 0 and 1 as the ends of the piece."""
    nodes = chebyshev.chebpts1(_NODES)
    series = chebyshev.chebvander(nodes, _NODES - 1).T * (2.0 / _NODES)
    series[0] *= 0.5
    bent = chebyshev.chebder(np.eye(_NODES), 2)
    twice = chebyshev.chebint(np.eye(ORDER - 2), 2)
    powers = np.zeros((ORDER, ORDER))
    for degree in range(ORDER):
        # T(2 u - 1) in powers of u.
        of_x = chebyshev.cheb2poly(np.eye(ORDER)[degree][: degree + 1])
        for power, factor in enumerate(of_x):
            powers[: power + 1, degree] += factor * polynomial.polypow([-1.0, 2.0], power)
    return series, bent, powers @ twice


def _finite(function: Callable[[Array], Array], s: Array) -> Array:
    with np.errstate(all="ignore"):
        points = np.asarray(function(s), dtype=float)
    wrong = ~np.isfinite(points).all(axis=1)
    if wrong.any():
        raise Rough(f"is not finite at s = {s[np.argmax(wrong)]:.6g}")
    return points


# --- shapes ----------------------------------------------------------------------------------------


def circle(radius: float, centre: Sequence[float] = (0.0, 0.0)) -> Curve:
    """A circle (m); s is the angle (rad) from x. With its centre beside the origin, an eccentric cam.

    >>> circle(0.02, (0.005, 0.0)).at(0.0)[0].round(12).tolist()
    [0.025, 0.0]
    """
    return ellipse((radius, radius), centre)


def ellipse(semi_axes: Sequence[float], centre: Sequence[float] = (0.0, 0.0), angle: float = 0.0) -> Curve:
    """An ellipse (m), its first half axis turned by ``angle`` (rad) from x; s is the eccentric angle (rad).

    >>> ellipse((0.03, 0.02), angle=np.pi / 2).at(0.0)[0].round(12).tolist()
    [0.0, 0.03]
    """
    (a, b), (x, y) = semi_axes, centre
    cosine, sine = np.cos(angle), np.sin(angle)

    def points(s: Array) -> Array:
        along, across = a * np.cos(s), b * np.sin(s)
        return np.stack([x + cosine * along - sine * across, y + sine * along + cosine * across], axis=1)

    return curve_from(points, [0.0, 2.0 * np.pi], closed=True)


def line(start: Sequence[float], end: Sequence[float]) -> Curve:
    """The straight line between two points (m), material on the left; s is the length from the first.

    >>> line((0.0, 0.0), (0.3, 0.4)).at(0.25)[0].tolist()
    [0.15, 0.2]
    """
    coefficients = np.zeros((1, 2, ORDER))
    coefficients[0, :, 0] = start
    coefficients[0, :, 1] = np.subtract(end, start)
    return Curve(np.array([0.0, np.hypot(*coefficients[0, :, 1])]), coefficients, closed=False)


# --- points ----------------------------------------------------------------------------------------


def through(points: Sequence[Sequence[float]] | Array, closed: bool = True) -> Curve:
    """The cubic spline through points (n, 2), in m; s is the length of the chords between them.

    A closed one is periodic, with or without the first point once more at the end; an open one has no knot
    at its second point and the last but one.

    Raises
    ------
    ValueError
        Too few points, or the same twice in succession.

    Examples
    --------
    >>> round_one = through([(0.02, 0.0), (0.0, 0.02), (-0.02, 0.0), (0.0, -0.02)])
    >>> round_one.pieces, round_one.closed
    (4, True)
    """
    from scipy.interpolate import CubicSpline

    knots = np.array(points, dtype=float)
    if closed and len(knots) > 1 and (knots[0] == knots[-1]).all():
        knots = knots[:-1]
    least = 3 if closed else 2
    if len(knots) < least:
        raise ValueError(f"{len(knots)} points; write {least} or more different ones")
    if closed:
        knots = np.concatenate([knots, knots[:1]])
    chords = np.hypot(*np.diff(knots, axis=0).T)
    if chords.max() < SMALLEST:
        raise ValueError(f"all points are within {SMALLEST:g} m; write them farther apart")
    # What is far below the file's digits is the same point; a spline through it would loop there.
    same = np.flatnonzero(chords <= JOINED * chords.max())
    if len(same):
        raise ValueError(
            f"points {same[0] + 1} and {(same[0] + 1) % (len(knots) - closed) + 1} are the same; "
            "write each once"
        )
    s = np.concatenate([[0.0], np.cumsum(chords)])
    spline = CubicSpline(s, knots, bc_type="periodic" if closed else "not-a-knot")
    return _of_spline(spline, closed)


def ground(points: Sequence[Sequence[float]] | Array) -> Curve:
    """The natural cubic spline y(x) through points (n, 2) with increasing x, m; material below, s is -x.

    >>> ground([(0.0, 0.0), (1.0, 1.0)]).at(-0.25)[0].tolist()
    [0.25, 0.25]
    """
    from scipy.interpolate import CubicSpline

    knots = np.array(points, dtype=float)
    return _of_spline(CubicSpline(knots[:, 0], knots, bc_type="natural"), False).reversed


def _of_spline(spline: CubicSpline, closed: bool) -> Curve:
    steps = np.diff(spline.x)[:, None]
    coefficients = np.zeros((len(steps), 2, ORDER))
    for power in range(4):
        coefficients[:, :, power] = spline.c[3 - power] * steps**power
    return Curve(spline.x, coefficients, closed)
