"""Plane curves as pieces of polynomials: profiles of cams, of their followers, of anything that touches.

One representation serves formulas, points, follower laws and shapes alike, so that the contact has one
kernel. A curve is n pieces of degree 7; piece k runs over ``breaks[k] <= s <= breaks[k + 1]`` and is a
polynomial in u = (s - s_k) / (s_{k+1} - s_k), in 0 … 1. Points are (x, y) in the curve's own frame, in
metres. The material is on the left of the tangent and the outward normal (t_y, -t_x) on its right, so a
closed curve runs counter-clockwise around its material. Builders: :mod:`mbssa.joints.curve_making`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

#: Coefficients of one piece: degree 7.
ORDER = 8

#: Two ends of a closed curve, or of two pieces, are the same point below this share of the curve's size.
JOINED = 1e-9

#: Share of its largest curvature by which a convex curve may be hollow: straight sides are rounded numbers.
_STRAIGHT = 1e-9
#: Sine of the angle from which the tangents of two pieces have a corner between them.
_CORNER = 1e-7


@dataclass(frozen=True, eq=False)
class Curve:
    """A plane curve: ``breaks`` (n + 1,) ascending values of s, ``coefficients`` (n, 2, 8), ``closed``.

    ``coefficients[k, 0]`` are those of x in piece k, of u⁰ … u⁷, ``coefficients[k, 1]`` those of y; metres.
    s has the unit of what made the curve: rad for a law, a polar formula and round shapes, m for a line and
    for points, else that of the formula. ValueError for arrays that do not fit together, and for a closed
    curve whose ends are apart.

    >>> import numpy as np
    >>> coefficients = np.zeros((1, 2, 8))
    >>> coefficients[0, 0, :2] = 0.0, 3.0
    >>> coefficients[0, 1, :2] = 1.0, 4.0
    >>> line = Curve(np.array([0.0, 2.0]), coefficients, closed=False)
    >>> point, rate, bending = line.at(np.array([0.0, 1.0]))
    >>> print(point.tolist(), rate[0].tolist(), bending[0].tolist())
    [[0.0, 1.0], [1.5, 3.0]] [1.5, 2.0] [0.0, 0.0]
    """

    breaks: Array
    coefficients: Array
    closed: bool

    def __post_init__(self) -> None:
        breaks = np.array(self.breaks, dtype=float)
        coefficients = np.array(self.coefficients, dtype=float)
        if breaks.ndim != 1 or len(breaks) < 2 or not (np.diff(breaks) > 0).all():
            raise ValueError("breaks: write at least two ascending numbers")
        if coefficients.shape != (len(breaks) - 1, 2, ORDER):
            raise ValueError(
                f"coefficients: have shape {coefficients.shape}; {len(breaks) - 1} pieces take "
                f"({len(breaks) - 1}, 2, {ORDER})"
            )
        if not (np.isfinite(breaks).all() and np.isfinite(coefficients).all()):
            raise ValueError("a curve takes finite numbers only")
        for array in (breaks, coefficients):
            array.setflags(write=False)
        object.__setattr__(self, "breaks", breaks)
        object.__setattr__(self, "coefficients", coefficients)
        object.__setattr__(self, "closed", bool(self.closed))
        start, end = coefficients[0, :, 0], coefficients[-1].sum(axis=1)
        if self.closed and np.hypot(*(end - start)) > JOINED * self.size:
            raise ValueError(
                "a closed curve ends where it begins; this one begins at "
                f"{start.tolist()} and ends at {end.tolist()}"
            )

    # --- points ------------------------------------------------------------------------------------

    def at(self, s: Array | float) -> tuple[Array, Array, Array]:
        """Points, first and second derivatives by s; each of the shape of ``s`` and (2,) behind it.

        A closed curve is periodic in s; an open one goes on beyond its ends as its end pieces do. Complex
        ``s`` is taken, for complex steps: the piece is that of the real part.
        """
        s = np.asarray(s)
        turned = s - self.period * np.floor((s.real - self.breaks[0]) / self.period) if self.closed else s
        piece = np.clip(np.searchsorted(self.breaks, turned.real, side="right") - 1, 0, self.pieces - 1)
        length = np.diff(self.breaks)[piece][..., None]
        u = (turned - self.breaks[piece])[..., None] / length
        a = self.coefficients[piece]
        value = a[..., ORDER - 1] + 0.0 * u
        rate, bending = np.zeros_like(value), np.zeros_like(value)
        for power in range(ORDER - 2, -1, -1):
            bending = bending * u + 2.0 * rate
            rate = rate * u + value
            value = value * u + a[..., power]
        return value, rate / length, bending / length**2

    def parameter(self, place: Array) -> Array:
        """Values of s at places in pieces: 2.5 is the middle of the third.

        >>> from mbssa.joints.curve_making import line
        >>> line((0.0, 0.0), (3.0, 4.0)).parameter(np.array([0.5])).tolist()
        [2.5]
        """
        return np.interp(place, np.arange(len(self.breaks)), self.breaks)

    def curvature(self, s: Array | float) -> Array:
        """Signed curvature (1/m), of the shape of ``s``: positive where the material is convex.

        Infinite or NaN where the derivative vanishes (a corner in the parameter). The radius of curvature is
        its inverse.

        >>> import numpy as np
        >>> from mbssa.joints.curve_making import circle
        >>> circle(0.02).curvature(np.array([0.0, 1.0])).round(6).tolist()
        [50.0, 50.0]
        """
        _, rate, bending = self.at(s)
        with np.errstate(divide="ignore", invalid="ignore"):
            turned = rate[..., 0] * bending[..., 1] - rate[..., 1] * bending[..., 0]
            return np.asarray(turned / (rate * rate).sum(axis=-1) ** 1.5)

    def sampled(self, per_piece: int) -> Array:
        """Values of s: ``per_piece`` in each piece, evenly, and the end of an open curve."""
        inside = np.arange(per_piece) / per_piece
        s = (self.breaks[:-1, None] + np.diff(self.breaks)[:, None] * inside).ravel()
        return s if self.closed else np.append(s, self.breaks[-1])

    # --- what it is --------------------------------------------------------------------------------

    @property
    def pieces(self) -> int:
        """Number of its polynomials."""
        return len(self.breaks) - 1

    @property
    def period(self) -> float:
        """The range of s (for a closed curve its period)."""
        return float(self.breaks[-1] - self.breaks[0])

    @cached_property
    def size(self) -> float:
        """The larger side of the box around the ends of its pieces and points between them (m)."""
        u = np.linspace(0.0, 1.0, 9)[:, None] ** np.arange(ORDER)
        points = np.einsum("kcp,up->kuc", self.coefficients, u).reshape(-1, 2)
        return float(np.ptp(points, axis=0).max())

    @cached_property
    def around(self) -> tuple[Array, float]:
        """Centre (2,) and radius (m) of a circle around the curve, a little larger than the smallest.

        A piece lies within the polygon of its coefficients in Bernstein's basis.

        >>> from mbssa.joints.curve_making import circle
        >>> centre, radius = circle(0.02).around
        >>> bool(0.02 <= radius < 0.0205)
        True
        """
        corners = (self.coefficients @ _to_bernstein(ORDER)).swapaxes(1, 2).reshape(-1, 2)
        centre = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        return centre, float(np.hypot(*(corners - centre).T).max())

    @cached_property
    def area(self) -> float:
        """½ ∮ (x dy - y dx) (m²): the area within a closed curve, positive if it runs counter-clockwise."""
        u, weights = np.polynomial.legendre.leggauss(ORDER)
        powers = (0.5 * (u + 1.0))[:, None] ** np.arange(ORDER)
        rates = np.zeros((ORDER, ORDER))
        rates[:, 1:] = powers[:, :-1] * np.arange(1, ORDER)
        points = np.einsum("kcp,up->kuc", self.coefficients, powers)
        along = np.einsum("kcp,up->kuc", self.coefficients, rates)
        turned = points[..., 0] * along[..., 1] - points[..., 1] * along[..., 0]
        return float(0.25 * (turned @ weights).sum())

    @cached_property
    def turning(self) -> float:
        """Turns of the tangent's direction: 1 if closed, counter-clockwise and simple.

        Any other number of a closed curve says that it crosses itself; 1 does not say that it does not.
        """
        u = np.linspace(0.0, 1.0, 17)[:, None] ** np.arange(ORDER - 1)
        rates = self.coefficients[..., 1:] * np.arange(1, ORDER) / np.diff(self.breaks)[:, None, None]
        x, y = np.einsum("kcp,up->cku", rates, u).reshape(2, -1)
        if self.closed:
            x, y = np.append(x, x[0]), np.append(y, y[0])
        turned = np.arctan2(x[:-1] * y[1:] - y[:-1] * x[1:], x[:-1] * x[1:] + y[:-1] * y[1:])
        return float(turned.sum() / (2.0 * np.pi))

    @cached_property
    def least_radius(self) -> float:
        """Least radius of curvature (m), or less, of a smooth and convex curve; 0 for any other.

        Convex is a closed curve that runs once around its material and turns to the left everywhere, and an
        open one that does so by half a turn at most.

        >>> from mbssa.joints.curve_making import circle
        >>> 0.0 < circle(0.02).least_radius < 0.02, circle(0.02).reversed.least_radius
        (True, 0.0)
        """
        powers = np.arange(1, ORDER)
        rate = self.coefficients[..., 1:] * powers
        bending = rate[..., 1:] * powers[:-1]
        turns = np.array(
            [np.convolve(r[0], b[1]) - np.convolve(r[1], b[0]) for r, b in zip(rate, bending, strict=True)]
        )
        # A polynomial is nowhere less than the least of its coefficients in Bernstein's basis.
        if (turns @ _to_bernstein(turns.shape[1])).min() < -_STRAIGHT * np.abs(turns).max():
            return 0.0
        end, start = rate.sum(axis=-1), rate[..., 0]
        if self.closed:
            start = np.roll(start, -1, axis=0)
        else:
            end, start = end[:-1], start[1:]
        sizes = np.hypot(*end.T) * np.hypot(*start.T)
        corner = np.abs(end[:, 0] * start[:, 1] - end[:, 1] * start[:, 0]) > _CORNER * sizes
        if corner.any() or self.turning > (1.0 + _CORNER if self.closed else 0.5):
            return 0.0
        return 0.5 / max(float(self.curvature(self.sampled(16)).max()), 1.0 / self.size)

    @cached_property
    def data(self) -> Array:
        """All of it as one flat float64 array for kernels, of length 2 + (n + 1) + 16 n.

        [n, 1.0 if closed else 0.0, s_0 … s_n, then for each piece its 8 coefficients of x and its 8 of y].
        """
        head = (float(self.pieces), float(self.closed))
        flat = np.concatenate([head, self.breaks, self.coefficients.ravel()])
        flat.setflags(write=False)
        return flat

    # --- others made of it -------------------------------------------------------------------------

    def scaled(self, factor: float) -> Curve:
        """The same curve ``factor`` times as large, about the origin of its frame; ``factor`` > 0."""
        if not factor > 0:
            raise ValueError(f"a curve is scaled by a positive number, not {factor:g}")
        return Curve(self.breaks, self.coefficients * factor, self.closed)

    @property
    def reversed(self) -> Curve:
        """The same points run through backwards: its point at s is that of this curve at -s."""
        # x(1 - u): the coefficients of each power, by Taylor's theorem at u = 1.
        power = np.arange(ORDER)
        about_one = _BINOMIAL * (-1.0) ** power[:, None]
        turned = np.einsum("qp,kcp->kcq", about_one, self.coefficients)
        return Curve(-self.breaks[::-1], turned[::-1], self.closed)

    @property
    def counter_clockwise(self) -> Curve:
        """This curve, or if it is closed and runs clockwise, :attr:`reversed`."""
        return self.reversed if self.closed and self.area < 0 else self


#: ``_BINOMIAL[q, p]`` is p over q: (1 - u)ᵖ = sum over q of that times (-u)^q.
_BINOMIAL = np.array(
    [[float(np.prod([(p - i) / (i + 1) for i in range(q)])) for p in range(ORDER)] for q in range(ORDER)]
)


def _to_bernstein(order: int) -> Array:
    """(order, order) by which coefficients of powers give those in Bernstein's basis."""
    return np.array([[comb(i, j) / comb(order - 1, j) for i in range(order)] for j in range(order)])
