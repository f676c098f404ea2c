"""Follower laws: the follower's place over the angle of the cam, as rises, dwells and returns.

Each rise or return is one dimensionless law y(x) of x in 0 … 1, from y = 0 to y = 1, stretched over its
angle. All are symmetric: y(1 - x) = 1 - y(x). Sources: R. L. Norton, *Cam Design and Manufacturing
Handbook*, on double-dwell cams (harmonic, cycloidal, modified trapezoid, 3-4-5 and 4-5-6-7 polynomials and
their peaks); J. J. Uicker, G. R. Pennock and J. E. Shigley, *Theory of Machines and Mechanisms*, on cams.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.polynomial import polynomial

from mbssa.joints.curves import Array

Kind = Literal["cycloidal", "345", "4567", "modified_trapezoid", "harmonic", "parabolic", "uniform"]

KINDS: tuple[Kind, ...] = get_args(Kind)

TURN = 2.0 * np.pi

#: Angles (rad), and heights as shares of the highest, closer than this are the same.
CLOSE = 1e-9

#: Steps to both sides of an angle (rad) at which something may jump.
_BESIDE = 1e-10

#: y, y', y'', y''' of x.
Four = tuple[Array, Array, Array, Array]


@dataclass(frozen=True, slots=True)
class Segment:
    """One stretch of a law: over ``over`` (rad) the follower moves by ``by`` (m, or rad if it swings).

    ``by`` is positive for a rise, negative for a return and 0 for a dwell, which has no ``kind``.

    >>> Segment(np.pi, 0.02, "345").kind
    '345'
    """

    over: float
    by: float = 0.0
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class _Shape:
    """A dimensionless law: its values, and where between 0 and 1 its derivatives jump."""

    at: Callable[[Array], Four]
    breaks: tuple[float, ...] = ()


@dataclass(frozen=True)
class FollowerLaw:
    """A follower's place over a whole turn of the cam, from the height 0 at the angle 0 back to it.

    ValueError with all faults of the segments, one a line: they must cover the turn, end at the height at
    which they begin, and never go below it.

    >>> law = FollowerLaw((Segment(np.pi, 0.02, "cycloidal"), Segment(np.pi, -0.02, "cycloidal")))
    >>> law.at(np.pi / 2)[0].round(12).item(), law.rise
    (0.01, 0.02)
    """

    segments: tuple[Segment, ...]

    def __post_init__(self) -> None:
        if faults := law_faults(self.segments):
            raise ValueError("\n".join(faults))

    @cached_property
    def starts(self) -> Array:
        """Angles (rad) at which the segments begin, and at last the whole turn: (number + 1,)."""
        starts = np.concatenate([[0.0], np.cumsum([segment.over for segment in self.segments])])
        starts[-1] = TURN
        return starts

    @cached_property
    def heights(self) -> Array:
        """The place (m or rad) at which each segment begins, and at last 0: (number + 1,)."""
        heights = np.concatenate([[0.0], np.cumsum([segment.by for segment in self.segments])])
        heights[np.abs(heights) <= CLOSE * heights.max()] = 0.0
        return heights

    @property
    def rise(self) -> float:
        """The highest place (m or rad)."""
        return float(self.heights.max())

    @cached_property
    def breaks(self) -> Array:
        """Angles (rad), 0 and the whole turn among them, between which all derivatives are smooth."""
        inner = [
            start + x * segment.over
            for start, segment in zip(self.starts, self.segments, strict=False)
            for x in (0.0, *(_SHAPES[segment.kind].breaks if segment.kind else ()))
        ]
        return np.array([*inner, TURN])

    def at(self, angle: Array | float) -> Four:
        """s, s', s'', s''' at angles of the cam (rad, any turn): derivatives by the angle.

        Units m, m/rad, m/rad², m/rad³, or rad for m if the follower swings. Where a derivative jumps it is
        that of the segment that begins there.
        """
        angle = np.asarray(np.mod(angle, TURN), dtype=float)
        number = np.clip(np.searchsorted(self.starts, angle, side="right") - 1, 0, len(self.segments) - 1)
        out = tuple(np.zeros_like(angle) for _ in range(4))
        for k, segment in enumerate(self.segments):
            here = number == k
            values = segment_at(segment, angle[here] - self.starts[k])
            for derivative, (array, value) in enumerate(zip(out, values, strict=True)):
                array[here] = value + (self.heights[k] if derivative == 0 else 0.0)
        return out[0], out[1], out[2], out[3]

    def jumps(self, derivative: int = 1) -> tuple[tuple[float, float], ...]:
        """Angles (rad) at which a derivative by the angle (1, 2 or 3) jumps, with the jump there.

        >>> law = FollowerLaw((Segment(np.pi, 0.02, "harmonic"), Segment(np.pi, -0.02, "345")))
        >>> law.jumps(), [(angle, round(jump, 9)) for angle, jump in law.jumps(2)][0]
        ((), (0.0, 0.01))
        """
        here = self.breaks[:-1]
        before, after = self.at(here - _BESIDE)[derivative], self.at(here + _BESIDE)[derivative]
        found = (
            np.abs(after - before) > 1e-5 * self.rise / min(one.over for one in self.segments) ** derivative
        )
        return tuple((float(here[k]), float(after[k] - before[k])) for k in np.flatnonzero(found))


def segment_at(segment: Segment, angle: Array) -> Four:
    """Displacement of a segment, ``angle`` (n,) after its start, and three derivatives by the angle."""
    if segment.kind is None:
        return np.zeros_like(angle), np.zeros_like(angle), np.zeros_like(angle), np.zeros_like(angle)
    values = _SHAPES[segment.kind].at(np.clip(angle / segment.over, 0.0, 1.0))
    y, y1, y2, y3 = (segment.by * value / segment.over**k for k, value in enumerate(values))
    return y, y1, y2, y3


def law_faults(segments: Sequence[Segment]) -> list[str]:
    """Faults that keep segments from being a law over a whole turn, a sentence each."""
    if not segments:
        return ["has no segments; write rises, dwells and returns that cover 360°"]
    faults = []
    covered = np.rad2deg(sum(segment.over for segment in segments))
    if abs(covered - 360.0) > 1e-7:
        much = f"{360.0 - covered:.7g}° more" if covered < 360.0 else f"{covered - 360.0:.7g}° less"
        faults.append(f"covers {covered:.10g}° of the turn of 360°; write {much}, a dwell if nothing moves")
    heights = np.cumsum([segment.by for segment in segments])
    largest = float(np.abs(heights).max())
    if largest == 0.0:
        faults.append("never moves the follower; write a rise and a return, or a circle instead of a law")
    elif abs(heights[-1]) > CLOSE * largest:
        rises = sum(segment.by for segment in segments if segment.by > 0)
        returns = -sum(segment.by for segment in segments if segment.by < 0)
        faults.append(f"rises by {rises:g} and returns by {returns:g}; write as much of both")
    if (heights < -CLOSE * largest).any():
        k = int(np.argmax(heights < -CLOSE * largest))
        faults.append(
            f"segment {k + 1} returns below the height of the angle 0; "
            "begin the law where the follower is lowest"
        )
    return faults


def peak_factors(kind: Kind) -> tuple[float, float, float]:
    """Largest |y'|, |y''| and |y'''| of a dimensionless law; they come with rise/angle, rise/angle², ….

    >>> [round(factor, 4) for factor in peak_factors("cycloidal")]
    [2.0, 6.2832, 39.4784]
    """
    # Every law here has its extremes at eighths, or where a polynomial's next derivative vanishes.
    x = np.linspace(0.0, 1.0, 9)
    if kind in _POLYNOMIALS:
        power = _POLYNOMIALS[kind]
        roots = [polynomial.polyroots(polynomial.polyder(power, k)) for k in (2, 3, 4)]
        real = np.concatenate([root.real[np.abs(root.imag) < 1e-9] for root in roots])
        x = np.concatenate([x, real[(real > 0.0) & (real < 1.0)]])
    _, *rates = _SHAPES[kind].at(x)
    first, second, third = (float(np.abs(rate).max()) for rate in rates)
    return first, second, third


# --- the dimensionless laws --------------------------------------------------------------------------


def _cycloidal(x: Array) -> Four:
    turned = TURN * x
    sine, cosine = np.sin(turned), np.cos(turned)
    return x - sine / TURN, 1.0 - cosine, TURN * sine, TURN**2 * cosine


def _harmonic(x: Array) -> Four:
    sine, cosine = np.sin(np.pi * x), np.cos(np.pi * x)
    return 0.5 * (1.0 - cosine), 0.5 * np.pi * sine, 0.5 * np.pi**2 * cosine, -0.5 * np.pi**3 * sine


def _uniform(x: Array) -> Four:
    return x, np.ones_like(x), np.zeros_like(x), np.zeros_like(x)


def _parabolic(x: Array) -> Four:
    late = x >= 0.5
    rest = 1.0 - x
    return (
        np.where(late, 1.0 - 2.0 * rest * rest, 2.0 * x * x),
        np.where(late, 4.0 * rest, 4.0 * x),
        np.where(late, -4.0, 4.0),
        np.zeros_like(x),
    )


#: Peak acceleration of the modified trapezoid, 4.888….
_TRAPEZOID = 8.0 * np.pi / (2.0 + np.pi)


def _modified_trapezoid(x: Array) -> Four:
    """A quarter sine to the constant acceleration, a half cosine over to the other, a quarter sine back."""
    late = x > 0.5
    z = np.where(late, 1.0 - x, x)
    a, w = _TRAPEZOID, 2.0 * TURN
    v1, y1 = a / w, a * (0.125 - 1.0 / w) / w  # at x = 1/8
    v2, y2 = v1 + 0.25 * a, y1 + 0.25 * v1 + a / 32.0  # at x = 3/8
    held, down = z - 0.125, w * (z - 0.375)
    stretch = [z < 0.125, z < 0.375]
    y = np.select(
        stretch,
        [a * (z - np.sin(w * z) / w) / w, y1 + v1 * held + 0.5 * a * held * held],
        y2 + v2 * (z - 0.375) + a * (1.0 - np.cos(down)) / w**2,
    )
    v = np.select(stretch, [v1 * (1.0 - np.cos(w * z)), v1 + a * held], v2 + v1 * np.sin(down))
    b = np.select(stretch, [a * np.sin(w * z), np.full_like(z, a)], a * np.cos(down))
    j = np.select(stretch, [a * w * np.cos(w * z), np.zeros_like(z)], -a * w * np.sin(down))
    return np.where(late, 1.0 - y, y), v, np.where(late, -b, b), j


#: Powers of x of the polynomial laws.
_POLYNOMIALS: dict[str, list[float]] = {
    "345": [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
    "4567": [0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0],
}


def _polynomial(powers: Sequence[float]) -> Callable[[Array], Four]:
    derivatives = [polynomial.polyder(powers, k) if k else np.asarray(powers) for k in range(4)]

    def at(x: Array) -> Four:
        # From the nearer end, where the law is flat: exact to the last digits there.
        late = x > 0.5
        z = np.where(late, 1.0 - x, x)
        y, v, b, j = (polynomial.polyval(z, powers) for powers in derivatives)
        return np.where(late, 1.0 - y, y), v, np.where(late, -b, b), j

    return at


_SHAPES: dict[str, _Shape] = {
    "cycloidal": _Shape(_cycloidal),
    "345": _Shape(_polynomial(_POLYNOMIALS["345"])),
    "4567": _Shape(_polynomial(_POLYNOMIALS["4567"])),
    "modified_trapezoid": _Shape(_modified_trapezoid, (0.125, 0.375, 0.625, 0.875)),
    "harmonic": _Shape(_harmonic),
    "parabolic": _Shape(_parabolic, (0.5,)),
    "uniform": _Shape(_uniform),
}
