"""Follower laws: place of the follower over the angle of the cam, as rises, dwells and returns."""

# Each rise or return is one dimensionless law y(x) in 0 … 1 over its angle, y(1 - x) = 1 - y(x). Sources: R.
# L. Norton, Cam Design and Manufacturing Handbook (double-dwell cams: harmonic to 4-5-6-7 polynomials, and
# their peaks); Uicker, Pennock and Shigley, Theory of Machines and Mechanisms (cams).

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.polynomial import polynomial

from mbssa.joints.cams.curves import Array

Kind = Literal["cycloidal", "345", "4567", "modified_trapezoid", "harmonic", "parabolic", "uniform"]

KINDS: tuple[Kind, ...] = get_args(Kind)

TURN = 2.0 * np.pi

#: Angles (rad), and heights as shares of the highest, closer than this are the same.
CLOSE = 1e-9

#: Steps to both sides of an angle (rad) at which something may jump.
_BESIDE = 1e-10

#: Length of a zone of length 0, as a divisor.
_TINY = 1e-200

#: y, y', y'', y''' of x.
Four = tuple[Array, Array, Array, Array]


@dataclass(frozen=True, slots=True)
class Segment:
    """Segment of a law: over ``over`` (rad) the follower moves by ``by`` (m, or rad if it swings)."""

    over: float
    by: float = 0.0  # positive for a rise, negative for a return, 0 for a dwell, which has no ``kind``
    kind: Kind | None = None


#: Zones b, c, d of the laws of the sine-constant-cosine acceleration (SCCA) family; b + c + d = 1.
_SCCA = {
    "cycloidal": (0.5, 0.0, 0.5),
    "modified_trapezoid": (0.25, 0.5, 0.25),
    "harmonic": (0.0, 0.0, 1.0),
    "parabolic": (0.0, 1.0, 0.0),
}

#: Powers of x of the polynomial laws and of their three derivatives.
_POLYNOMIALS = {
    kind: [polynomial.polyder(np.array(powers), order) for order in range(4)]
    for kind, powers in (
        ("345", [0.0, 0.0, 0.0, 10.0, -15.0, 6.0]),
        ("4567", [0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0]),
        ("uniform", [0.0, 1.0]),
    )
}

#: Places between 0 and 1 at which a derivative jumps.
_BREAKS = {"modified_trapezoid": (0.125, 0.375, 0.625, 0.875), "parabolic": (0.5,)}


@dataclass(frozen=True)
class FollowerLaw:
    """Place of a follower over a whole turn of the cam, from the height 0 at the angle 0 back to it."""

    # ValueError with all faults of the segments: they must cover the turn, end at the height at which they
    # begin, and never go below it.

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
            for x in (0.0, *_BREAKS.get(segment.kind or "", ()))
        ]
        return np.array([*inner, TURN])

    def at(self, angle: Array | float) -> Four:
        """Place s (m; rad of a swing) and derivatives s', s'', s''' by the cam's angle (rad, any turn)."""
        # Where a derivative jumps it is that of the segment that begins there.
        angle = np.asarray(np.mod(angle, TURN), dtype=float)
        number = np.clip(np.searchsorted(self.starts, angle, side="right") - 1, 0, len(self.segments) - 1)
        out = np.zeros((4, *angle.shape))
        for k, segment in enumerate(self.segments):
            here = number == k
            out[:, here] = segment_at(segment, angle[here] - self.starts[k])
        return self.heights[number] + out[0], out[1], out[2], out[3]

    def derivative(self, order: int, angle: Array) -> Array:
        """One derivative by the angle at angles of the cam (rad)."""
        return self.at(angle)[order]

    def jumps(self, derivative: int = 1) -> tuple[tuple[float, float], ...]:
        """Angles (rad) at which a derivative by the angle (1, 2 or 3) jumps, with the jump there."""
        here = self.breaks[:-1]
        jump = self.derivative(derivative, here + _BESIDE) - self.derivative(derivative, here - _BESIDE)
        least = 1e-5 * self.rise / min(one.over for one in self.segments) ** derivative
        return tuple((float(here[k]), float(jump[k])) for k in np.flatnonzero(np.abs(jump) > least))


def segment_at(segment: Segment, angle: Array) -> Four:
    """Displacement of a segment, ``angle`` (n,) after its start, and three derivatives by the angle."""
    zero = np.zeros_like(angle)
    if segment.kind is None:
        return zero, zero, zero, zero
    x = np.clip(angle / segment.over, 0.0, 1.0)
    late = x >= 0.5
    # From the nearer end, where the law is flat: exact to the last digits there.
    near = np.where(late, 1.0 - x, x)
    if segment.kind in _SCCA:
        y, y1, y2, y3 = _scca(segment.kind, near)
    else:
        y, y1, y2, y3 = (polynomial.polyval(near, powers) for powers in _POLYNOMIALS[segment.kind])
    values = np.where(late, 1.0 - y, y), y1, np.where(late, -y2, y2), y3
    y, y1, y2, y3 = (segment.by * value / segment.over**k for k, value in enumerate(values))
    return y, y1, y2, y3


def _scca(kind: str, x: Array) -> Four:
    """Dimensionless law of the SCCA family up to x = ½."""
    # The acceleration rises over b/2 as a sine, is constant over c/2, and falls over d/2 as a cosine.
    b, c, d = _SCCA[kind]
    p, q = max(b, _TINY) / np.pi, max(d, _TINY) / np.pi
    held, falling = x - 0.5 * b, x - 0.5 * (b + c)
    rise, fall = x / p, np.maximum(falling, 0.0) / q
    # Velocity and place at the ends of the first two zones, for the largest acceleration 1.
    v1, y1 = p, p * (0.5 * b - p)
    v2, y2 = v1 + 0.5 * c, y1 + 0.5 * c * (v1 + 0.25 * c)
    largest = 0.5 / (y2 + 0.5 * d * v2 + q * q)
    sine, cosine, sine_2, cosine_2 = np.sin(rise), np.cos(rise), np.sin(fall), np.cos(fall)
    rises = p * (x - p * sine), p * (1.0 - cosine), sine, cosine / p
    holds: tuple[Any, ...] = y1 + held * (v1 + 0.5 * held), v1 + held, 1.0, 0.0
    falls = y2 + v2 * falling + q * q * (1.0 - cosine_2), v2 + q * sine_2, cosine_2, -sine_2 / q
    first, second = x < 0.5 * b, x < 0.5 * (b + c)
    y, v, a, j = (
        largest * np.where(first, one, np.where(second, two, three))
        for one, two, three in zip(rises, holds, falls, strict=True)
    )
    return y, v, a, j


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
        faults.append(f"rises by {rises:g} and returns by {returns:g} (m or rad); write as much of both")
    if (heights < -CLOSE * largest).any():
        k = int(np.argmax(heights < -CLOSE * largest))
        what = f"segment {k + 1} returns below the height of the angle 0"
        faults.append(f"{what}; begin the law where the follower is lowest")
    return faults
