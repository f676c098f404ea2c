"""Plane curves as pieces of polynomials: profiles of cams, of their followers, of contacts."""

# Piece k runs over breaks[k] <= s <= breaks[k + 1], a polynomial of degree 7 in u = 0 … 1. Material is left
# of the tangent, the outward normal (t_y, -t_x) right. A smooth function is followed to 1e-12 of its size:
# the Chebyshev series of its second derivative is cut after degree 5 and integrated twice.

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Chebyshev, Polynomial, chebyshev, polynomial

from mbssa.bounds import SMALLEST

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

Array = npt.NDArray[Any]

#: Coefficients of one piece: degree 7.
ORDER = 8

#: Exponents of u, beside one another.
_POWERS = np.arange(ORDER)[:, None]
#: A curve is sampled where its pieces start, and between where there are fewer pieces than this.
_SAMPLES = 32

#: Two ends of a closed curve, or of two pieces, are the same point below this share of the curve's size.
JOINED = 1e-9

#: A function that needs more pieces than this has a corner where no break was given.
MOST_PIECES = 2_048


#: Tolerances of a fit: share of the largest second derivative, share of the size, rounding of the former.
_BENDING, _PLACE, _ROUNDING = 4e-10, 5e-13, 2e-13
#: Points at which a piece is sampled.
_NODES = 10


@dataclass(frozen=True, eq=False)
class Curve:
    """Plane curve in pieces of degree 7; s in rad (laws, round shapes) or m (lines, points)."""

    breaks: Array  # (n + 1,) ascending values of s
    coefficients: Array  # (n, 2, 8) m, of x and y in each piece, of u⁰ … u⁷
    closed: bool

    def __post_init__(self) -> None:
        breaks = np.array(self.breaks, dtype=float)
        coefficients = np.array(self.coefficients, dtype=float)
        if breaks.ndim != 1 or len(breaks) < 2 or not (np.diff(breaks) > 0).all():
            raise ValueError("breaks: write at least two ascending numbers")
        if coefficients.shape != (wanted := (len(breaks) - 1, 2, ORDER)):
            what = f"have shape {coefficients.shape}; {len(breaks) - 1} pieces take {wanted}"
            raise ValueError(f"coefficients: {what}")
        if not (np.isfinite(breaks).all() and np.isfinite(coefficients).all()):
            raise ValueError("a curve takes finite numbers only")
        breaks.setflags(write=False)
        coefficients.setflags(write=False)
        vars(self).update(breaks=breaks, coefficients=coefficients, closed=bool(self.closed))
        if self.closed and self.opening > JOINED * self.size:
            start, end = coefficients[0, :, 0].tolist(), coefficients[-1].sum(axis=1).tolist()
            what = f"this one begins at {start} and ends at {end}"
            raise ValueError(f"a closed curve ends where it begins; {what}")

    # --- points ------------------------------------------------------------------------------------

    def at(self, s: Array | float) -> tuple[Array, Array, Array]:
        """Points, first and second derivatives by s; each of the shape of ``s`` and (2,) behind it."""
        # A closed curve is periodic in s; an open one goes on beyond its ends as its end pieces do.
        point, rate, bending = (np.stack([z.real, z.imag], axis=-1) for z in self._at(s))
        return point, rate, bending

    def _at(self, s: Array | float) -> tuple[Array, Array, Array]:
        """The same as x + i y, of the shape of ``s``."""
        s = np.asarray(s, dtype=float)
        if self.closed:
            s = s - self.period * np.floor((s - self.breaks[0]) / self.period)
        piece = np.clip(np.searchsorted(self.breaks, s, side="right") - 1, 0, self.pieces - 1)
        length = np.diff(self.breaks)[piece]
        point, rate, bending = self._in_pieces(piece, (s - self.breaks[piece]) / length)
        return point, rate / length, bending / length**2

    def arcs(self, place: Array) -> Array:
        """Points, first and second derivatives by the place in pieces, x + i y: (3, n) of places (n,)."""
        # A place of 2.5 is the middle of the third piece; closed and open curves go on as in ``at``.
        piece = np.floor(place)
        if not self.closed:
            piece = np.clip(piece, 0.0, self.pieces - 1.0)
        return self._in_pieces(piece.astype(np.int64) % self.pieces, place - piece)

    def _in_pieces(self, piece: Array, u: Array) -> Array:
        """Points, first and second derivatives by u, x + i y: (3, …)."""
        arcs = self._derivatives[piece] @ u[..., None, None] ** _POWERS
        return np.moveaxis(arcs[..., 0].view(np.complex128), -1, 0)

    @cached_property
    def _derivatives(self) -> Array:
        """Coefficients (n, 6, 8) of x, y, their first and their second derivatives by u."""
        levels = (polynomial.polyder(self.coefficients, k, axis=-1) for k in range(3))
        padded = [np.pad(level, ((0, 0), (0, 0), (0, k))) for k, level in enumerate(levels)]
        return np.concatenate(padded, axis=1)

    @cached_property
    def samples(self) -> tuple[Array, Array]:
        """Places in pieces, from 0 to their number, at most 1 apart, and :meth:`arcs` there."""
        finer = -(-_SAMPLES // self.pieces)
        place = np.arange(self.pieces * finer + 1) / finer
        return place, self.arcs(place)

    def parameter(self, place: Array) -> Array:
        """Values of s at places in pieces: 2.5 is the middle of the third."""
        return np.interp(place, np.arange(len(self.breaks)), self.breaks)

    def curvature(self, s: Array | float) -> Array:
        """Signed curvature (1/m), of the shape of ``s``: positive where the material is convex."""
        # Infinite or NaN where the derivative vanishes (a corner in the parameter).
        _, rate, bending = self._at(s)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(cross(rate, bending) / np.abs(rate) ** 3)

    def sampled(self, per_piece: int) -> Array:
        """Values of s: ``per_piece`` in each piece, evenly, and the end of an open curve."""
        s = self.parameter(np.arange(self.pieces * per_piece + 1) / per_piece)
        return s[:-1] if self.closed else s

    # --- properties --------------------------------------------------------------------------------

    @property
    def pieces(self) -> int:
        """Number of its polynomials."""
        return len(self.breaks) - 1

    @property
    def period(self) -> float:
        """The range of s (for a closed curve its period)."""
        return float(self.breaks[-1] - self.breaks[0])

    @property
    def opening(self) -> float:
        """Distance between its ends (m)."""
        return float(np.hypot(*(self.coefficients[-1].sum(axis=1) - self.coefficients[0, :, 0])))

    def _everywhere(self, u: Array) -> Array:
        """Points, first and second derivatives at these places u (k,) of every piece: (3, n, k)."""
        return self._in_pieces(np.arange(self.pieces)[:, None], u)

    @cached_property
    def size(self) -> float:
        """The larger side of the box around the ends of its pieces and points between them (m)."""
        points = self._everywhere(np.linspace(0.0, 1.0, 9))[0]
        return float(max(np.ptp(points.real), np.ptp(points.imag)))

    @cached_property
    def around(self) -> tuple[Array, float]:
        """Centre (2,) and radius (m) of a circle around the curve, a little larger than the smallest."""
        # A piece lies within the polygon of its coefficients in Bernstein's basis.
        bernstein = [[comb(i, j) / comb(ORDER - 1, j) for i in range(ORDER)] for j in range(ORDER)]
        corners = (self.coefficients @ np.array(bernstein)).swapaxes(1, 2).reshape(-1, 2)
        centre = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        return centre, float(np.hypot(*(corners - centre).T).max())

    @cached_property
    def area(self) -> float:
        """½ ∮ (x dy - y dx) (m²): the area within a closed curve, positive if it runs counter-clockwise."""
        nodes, weights = np.polynomial.legendre.leggauss(ORDER)
        point, rate, _ = self._everywhere(0.5 * (nodes + 1.0))
        return float(0.25 * (weights * cross(point, rate)).sum())

    @cached_property
    def turning(self) -> float:
        """Turns of the tangent's direction: 1 if closed, counter-clockwise and simple."""
        # A closed curve with any other number crosses itself; one with 1 may.
        rate = self._everywhere(np.linspace(0.0, 1.0, 17))[1].ravel()
        turns = np.angle(rate * np.roll(rate, 1).conj())
        return float(turns[0 if self.closed else 1 :].sum() / (2.0 * np.pi))

    @cached_property
    def corners(self) -> Array:
        """Jumps (n,), rad, of the tangent's direction at the starts of the pieces; 0 at an open curve's."""
        start, end = self._everywhere(np.array([0.0, 1.0]))[1].T
        turns = np.angle(start * np.roll(end, 1).conj())
        if not self.closed:
            turns[0] = 0.0
        return np.asarray(turns)

    # --- curves made of it -------------------------------------------------------------------------

    def scaled(self, factor: float) -> Curve:
        """The same curve ``factor`` times as large, about the origin of its frame; ``factor`` > 0."""
        if not factor > 0:
            raise ValueError(f"a curve is scaled by a positive number, not {factor:g}")
        return Curve(self.breaks, self.coefficients * factor, self.closed)

    @property
    def reversed(self) -> Curve:
        """The same points run through backwards: its point at s is that of this curve at -s."""
        # (1 - u)ᵖ is the sum over q of (p over q) (-u)^q.
        about_one = [[comb(p, q) * (-1.0) ** q for q in range(ORDER)] for p in range(ORDER)]
        return Curve(-self.breaks[::-1], (self.coefficients @ np.array(about_one))[::-1], self.closed)

    @property
    def counter_clockwise(self) -> Curve:
        """This curve, or if it is closed and runs clockwise, :attr:`reversed`."""
        return self.reversed if self.closed and self.area < 0 else self


def cross(a: Array, b: Array) -> Array:
    """Cross products of plane vectors x + i y."""
    return np.asarray(a.real * b.imag - a.imag * b.real)


# --- functions -------------------------------------------------------------------------------------


def curve_from(
    function: Callable[[Array], Array], breaks: Sequence[float] | Array, closed: bool | None = None
) -> Curve:
    """Curve of a function of s (m,), points (m, 2), smooth between the breaks and continuous at them."""
    # ValueError where it is not finite or not smooth, or is to be closed and is not.
    edges = np.asarray(breaks, dtype=float)
    number = np.ones(len(edges) - 1, dtype=np.int64)
    while True:
        ends = np.interp(np.arange(number.sum() + 1), np.append(0, np.cumsum(number)), edges)
        with np.errstate(all="ignore"):  # an overflow is found by its NaN
            coefficients, error = _fitted(function, ends)
        worst = np.maximum.reduceat(error, np.cumsum(number) - number)
        if (worst <= 1.0).all():
            break
        # The error shrinks with the sixth power of a piece's length.
        if np.isnan(worst).any():
            raise ValueError("has numbers too large or too small to be followed")
        grown = np.ceil(number * np.clip(1.05 * worst ** (1 / 6), 1.2, 8.0)).astype(np.int64)
        number = np.where(worst > 1.0, grown, number)
        if number.sum() > MOST_PIECES:
            s = ends[np.argmax(error)]
            raise ValueError(
                f"is not smooth near s = {s:.6g}; write a function without corners, jumps and poles"
            )
    if closed is None:
        curve = Curve(ends, coefficients, False)
        closed = curve.opening <= JOINED * curve.size
    return Curve(ends, coefficients, closed)


def _fitted(function: Callable[[Array], Array], ends: Array) -> tuple[Array, Array]:
    """Coefficients (n, 2, 8), and the error of each piece as a multiple of the tolerance."""
    to_bending, to_powers = _matrices()
    nodes = chebyshev.chebpts1(_NODES)
    half = 0.5 * np.diff(ends)[:, None]
    s = ends[:-1, None] + half * (1.0 + nodes)
    values = _finite(function, s.ravel()).reshape(*s.shape, 2)
    corners = _finite(function, ends)
    largest_value = np.abs(values).max()
    size = float(np.ptp(values.reshape(-1, 2), axis=0).max()) or 1.0
    bending = np.einsum("bn,knc->kcb", to_bending, values - values[:, :1])
    kept, cut = bending[..., : ORDER - 2], np.abs(bending[..., ORDER - 2 :]).sum(axis=-1)
    powers = np.einsum("pb,kcb->kcp", to_powers, kept)
    powers[..., 0] += corners[:-1] - powers[..., 0]
    powers[..., 1] += corners[1:] - powers.sum(axis=-1)
    rate = half**2
    largest = max(float((np.abs(kept).sum(axis=-1) / rate).max()), size / (ends[-1] - ends[0]) ** 2)
    allowed = _BENDING * largest * rate + _ROUNDING * largest_value
    fit = polynomial.polyval(0.5 * (1.0 + nodes), np.moveaxis(powers, -1, 0))
    error = np.abs(fit - values.transpose(0, 2, 1)).max(axis=(1, 2))
    return powers, np.maximum(
        (cut / allowed).max(axis=1), error / (_PLACE * size + 8 * np.finfo(float).eps * largest_value)
    )


@cache
def _matrices() -> tuple[Array, Array]:
    """Matrices from values at the nodes to the Chebyshev series of the 2nd derivative, and to powers of u."""
    # Of the series six terms are integrated twice; 0 and 1 are the ends of the piece.
    series = chebyshev.chebvander(chebyshev.chebpts1(_NODES), _NODES - 1).T * (2.0 / _NODES)
    series[0] *= 0.5
    unit = Polynomial.identity()
    powers = [Chebyshev.basis(degree, domain=[0, 1])(unit) for degree in range(ORDER)]
    to_powers = np.array([np.pad(p.coef, (0, ORDER - len(p.coef))) for p in powers]).T
    twice = chebyshev.chebint(np.eye(ORDER - 2), 2)
    return chebyshev.chebder(np.eye(_NODES), 2) @ series, to_powers @ twice


def _finite(function: Callable[[Array], Array], s: Array) -> Array:
    with np.errstate(all="ignore"):
        points = np.asarray(function(s), dtype=float)
    wrong = ~np.isfinite(points).all(axis=1)
    if wrong.any():
        raise ValueError(f"is not finite at s = {s[np.argmax(wrong)]:.6g}")
    return points


# --- shapes ----------------------------------------------------------------------------------------


def circle(radius: float, centre: Sequence[float] = (0.0, 0.0)) -> Curve:
    """Circle (m), with its centre beside the origin an eccentric cam; s is the angle (rad) from x."""
    return ellipse((radius, radius), centre)


def ellipse(semi_axes: Sequence[float], centre: Sequence[float] = (0.0, 0.0), angle: float = 0.0) -> Curve:
    """Ellipse (m), its first half axis at ``angle`` (rad) from x; s is the eccentric angle (rad)."""
    (a, b), (x, y) = semi_axes, centre
    cosine, sine = np.cos(angle), np.sin(angle)

    def points(s: Array) -> Array:
        along, across = a * np.cos(s), b * np.sin(s)
        return np.stack([x + cosine * along - sine * across, y + sine * along + cosine * across], axis=1)

    return curve_from(points, [0.0, 2.0 * np.pi], closed=True)


def line(start: Sequence[float], end: Sequence[float]) -> Curve:
    """Straight line between two points (m), material on the left; s is the length from the first."""
    coefficients = np.zeros((1, 2, ORDER))
    coefficients[0, :, 0] = start
    coefficients[0, :, 1] = np.subtract(end, start)
    return Curve(np.array([0.0, np.hypot(*coefficients[0, :, 1])]), coefficients, closed=False)


# --- points ----------------------------------------------------------------------------------------


def through(points: Sequence[Sequence[float]] | Array, closed: bool = True) -> Curve:
    """Cubic spline through points (n, 2), in m; s is the length of the chords between them."""
    # A closed one is periodic, with or without the first point once more at the end; an open one has no knot
    # at its second point and the last but one.
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
    # Points that are nearer than the file's digits are the same; a spline through both would loop there.
    same = np.flatnonzero(chords <= JOINED * chords.max())
    if len(same):
        after = (same[0] + 1) % (len(knots) - closed) + 1
        raise ValueError(f"points {same[0] + 1} and {after} are the same; write each once")
    s = np.concatenate([[0.0], np.cumsum(chords)])
    return _of_spline(CubicSpline(s, knots, bc_type="periodic" if closed else "not-a-knot"), closed)


def ground(points: Sequence[Sequence[float]] | Array) -> Curve:
    """Natural cubic spline y(x) through points (n, 2) with increasing x, m; material below, s is -x."""
    from scipy.interpolate import CubicSpline

    knots = np.array(points, dtype=float)
    return _of_spline(CubicSpline(knots[:, 0], knots, bc_type="natural"), False).reversed


def _of_spline(spline: CubicSpline, closed: bool) -> Curve:
    coefficients = np.zeros((len(spline.x) - 1, 2, ORDER))
    for power in range(4):
        coefficients[:, :, power] = spline.c[3 - power] * np.diff(spline.x)[:, None] ** power
    return Curve(spline.x, coefficients, closed)
