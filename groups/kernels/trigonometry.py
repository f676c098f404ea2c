"""Sine and cosine together, and the angle of a vector."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from groups.kernels.lanes import select
from mbssa.compiled import inlined

#: pi / 2 in parts whose products with small integers are exact.
_FIRST, _SECOND, _THIRD = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21
_PER_QUARTER = 2.0 / math.pi
_FAR = 1e5
#: A number that rounds what it is added to, and taken from again, to an integer.
_ROUND = 1.5 * 2.0**52
_HALF_TURN, _QUARTER_TURN = math.pi, 0.5 * math.pi

_S3, _S5, _S7 = -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0
_S9, _S11, _S13, _S15 = 1.0 / 362880.0, -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0
_C4, _C6, _C8 = 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0
_C10, _C12, _C14, _C16 = -1.0 / 3628800.0, 1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0


def sine_cosine(x: float) -> tuple[float, float]:
    """Sine and cosine of an angle, rad."""
    quarters = math.floor(x * _PER_QUARTER + 0.5)
    r = ((x - quarters * _FIRST) - quarters * _SECOND) - quarters * _THIRD
    z = r * r
    sine = r + r * z * (
        _S3 + z * (_S5 + z * (_S7 + z * (_S9 + z * (_S11 + z * (_S13 + z * _S15)))))
    )  # fmt: skip
    cosine = 1.0 - (
        0.5 * z - z * z * (_C4 + z * (_C6 + z * (_C8 + z * (_C10 + z * (_C12 + z * (_C14 + z * _C16))))))
    )
    quarter = int(quarters) & 3
    if quarter == 1:
        sine, cosine = cosine, -sine
    elif quarter == 2:
        sine, cosine = -sine, -cosine
    elif quarter == 3:
        sine, cosine = -cosine, sine
    if not abs(x) < _FAR:
        sine, cosine = math.sin(x), math.cos(x)
    return sine, cosine


@inlined
def sines_cosines(x: Any) -> tuple[Any, Any]:
    """Sines and cosines of many angles (rad) below :func:`far`, without a branch: for loops over lanes."""
    quarters = (x * _PER_QUARTER + _ROUND) - _ROUND
    r = ((x - quarters * _FIRST) - quarters * _SECOND) - quarters * _THIRD
    z = r * r
    sine = r + r * z * (
        _S3 + z * (_S5 + z * (_S7 + z * (_S9 + z * (_S11 + z * (_S13 + z * _S15)))))
    )  # fmt: skip
    cosine = 1.0 - (
        0.5 * z - z * z * (_C4 + z * (_C6 + z * (_C8 + z * (_C10 + z * (_C12 + z * (_C14 + z * _C16))))))
    )
    quarter = quarters - 4.0 * np.floor(0.25 * quarters)
    odd = abs(quarter - 2.0) == 1.0
    one, other = select(odd, cosine, sine), select(odd, sine, cosine)
    return select(quarter >= 2.0, -one, one), select(abs(quarter - 1.5) < 1.0, -other, other)


def far(x: float) -> bool:
    """Whether an angle is too large for :func:`sines_cosines`, or no number."""
    return not abs(x) < _FAR


#: Chebyshev interpolant of (arctan(t) / t - 1) / t², by powers of t², for t up to tan(pi / 8).
_A0, _A1, _A2, _A3 = -0.3333333333333333, 0.19999999999995516, -0.14285714284665774, 0.11111111015195309
_A4, _A5, _A6, _A7 = -0.09090904575650782, 0.07692183133280336, -0.06664510633750784, 0.05858141811996762
_A8, _A9, _A10 = -0.05085412397753877, 0.03923057432867238, -0.019175553432568746


@inlined
def angle_of(c: Any, s: Any) -> Any:
    """Angle (rad) of a vector of length one, within 5e-16, without a branch: for loops over lanes."""
    x, y = abs(c), abs(s)
    steep = y > x
    t = select(steep, x, y) / (1.0 + select(steep, y, x))  # tangent of half the angle
    z = t * t
    high = _A5 + z * (_A6 + z * (_A7 + z * (_A8 + z * (_A9 + z * _A10))))
    low = _A0 + z * (_A1 + z * (_A2 + z * (_A3 + z * (_A4 + z * high))))
    angle = 2.0 * (t + t * z * low)
    angle = select(steep, _QUARTER_TURN - angle, angle)
    angle = select(c < 0.0, _HALF_TURN - angle, angle)
    return select(s < 0.0, -angle, angle)
