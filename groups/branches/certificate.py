"""The certificate of an interval: between two solved poses lies one branch, and both are on it.

Along an interval every unknown follows the cubic x(s), s from 0 to 1, through the values and rates of both
ends. With the Jacobian J of an end, in the norm max |e_i| / w_i, on the half of the interval next to it,

    eta >= |J⁻¹ F(x(s), s)|,    K0 + K1 ρ >= |J⁻¹ (J(x, s) - J)|  within ρ of x(s):

if K0 < 1 and (1 - K0)² > 2 K1 eta, exactly one solution is within R = (1 - K0 + root) / K1 of the cubic, and
it is within r = 2 eta / (1 - K0 + root), root² = (1 - K0)² - 2 K1 eta (Newton–Kantorovich; Deuflhard 2004,
*Newton Methods for Nonlinear Problems*, chapter 2). If that holds from both ends, and one tube of solutions
is inside the other's ball in the middle, they are one branch.

The bounds, with E_m of the m-th derivative of exp(i φ(s)) by s (Faà di Bruno), of φ' φ'' φ''' the largest on
the interval, and D the way of φ from the end to the middle:

- F and its rate vanish at both ends but for what is left there, so that it is at most |F''''| / 384
  in between (the error of Hermite interpolation). F'''' is the sum of the turning segments times E_4, and
  of the slides along turning lines, by Leibniz.
- J changes by what its segments turn, D + ρ w, and its slides move.
- A row of J⁻¹ times a turned segment is the product of complex numbers, whose size no rotation changes: the
  bound of each row for each turning body is sharp.

The weights w are free: they come near the eigenvector of K0's matrix (Perron), for which K0 is least. What
other groups solved is on its cubic up to the radius of its own tube.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groups.branches.closure import Closure, Linearised, Poses

Floats = npt.NDArray[np.float64]

#: Largest K0, so that rounding decides nothing.
SURE = 0.99
#: Least size of 1 / J⁻¹: two branches that cross come apart by its square over the size if lengths are off by
#: as much, so that below it the rounding of lengths (some 1e-11) would decide.
NEAREST = 3e-6
#: Largest Newton step, rad or over the size, that an end may be away from the branch.
CLOSED = 1e-6
#: Steps towards the eigenvector, and the least of a weight over the largest in one of them.
PERRON, FLOOR = 8, 1e-3
#: Largest of a Hermite cubic's basis function of a rate.
_OF_RATE = 4.0 / 27.0


@dataclass(frozen=True, eq=False)
class Tubes:
    """Radii (K, N) about the cubics of all bodies, of their centres (over the size) and turns (rad)."""

    centre: Floats
    turn: Floats

    @staticmethod
    def none(intervals: int, bodies: int) -> Tubes:
        return Tubes(np.zeros((intervals, bodies)), np.zeros((intervals, bodies)))


def certified(closure: Closure, at: Poses, tubes: Tubes) -> npt.NDArray[np.bool_]:
    """(K,) intervals between K + 1 instants over which a group stays on one branch.

    Parameters
    ----------
    tubes : of the groups that it hangs on; its own bodies' are written there
    """
    with np.errstate(all="ignore"):
        return _certified(closure, closure.linearised(at), np.diff(at.time), at, tubes)


def _certified(
    closure: Closure, of: Linearised, step: Floats, at: Poses, tubes: Tubes
) -> npt.NDArray[np.bool_]:
    m, equations = 2 * len(closure.own), 2 * len(closure.joints)
    inverse = _inverses(of.jacobian)
    by_joint = inverse[:, :, 0:equations:2] - 1j * inverse[:, :, 1:equations:2]
    by_turn = _by_point(np.abs(by_joint @ of.segments), m)
    reach = _by_point(np.abs(by_joint), m)
    of_known = _of_known(closure, of, inverse, reach, at, tubes, m)
    angles = [joint.angle for joint in closure.joints if joint.angle >= 0]
    left, right = of.residual[:-1].copy(), of.residual[1:].copy()
    whole = 2 * np.pi * np.round(left[:, angles] / (2 * np.pi))
    left[:, angles] -= whole
    right[:, angles] -= whole

    turns = _cubic(of.turn, of.turn_rate, step, range(len(closure.own), closure.n_turns))
    slides = _cubic(of.slide, of.slide_rate, step)
    known = np.zeros((len(step), closure.n_members))
    known[:, closure.n_turns :] = tubes.turn[:, closure.known]
    d1, d2, d3 = turns.first, turns.second, turns.third
    e2 = d1**2 + d2
    e3 = d1**3 + 3 * d1 * d2 + d3
    e4 = d1**4 + 6 * d1**2 * d2 + 3 * d2**2 + 4 * d1 * d3
    sliding = [(row, joint) for row, joint in enumerate(closure.joints) if joint.line >= 0]
    found, passed = [], np.ones(len(step), dtype=np.bool_)
    for end in (0, 1):
        here = slice(end, len(step) + end)
        B, P = by_turn[here], reach[here]
        D, S = turns.way[end] + known, slides.way[end]
        # Of what no weight is in: residuals on the cubic, of every row.
        size = [np.abs(inverse[here] @ part[:, :, None])[:, :, 0] for part in (left, right)]
        rates = [
            np.abs(inverse[here] @ part[:, :, None])[:, :, 0] * step[:, None]
            for part in (of.residual_rate[:-1], of.residual_rate[1:])
        ]
        left_over = _by_point(np.maximum(*size) + _OF_RATE * (rates[0] + rates[1]), m)
        eta = left_over + (B @ e4[:, :, None])[:, :, 0] / 384.0 + of_known[end]
        # Changes of J: by turning segments, and by slides along turning lines.
        K = B[:, :, : closure.n_turns] * D[:, None, : closure.n_turns]
        K = np.concatenate([K, np.zeros((*K.shape[:2], closure.n_slides))], axis=2)
        for row, joint in sliding:
            by, line = P[:, :, row], joint.line
            s1, s2, s3 = slides.first[:, row], slides.second[:, row], slides.third[:, row]
            fourth = s1 * e4[:, line] + 4 * s1 * e3[:, line] + 6 * s2 * e2[:, line] + 4 * s3 * d1[:, line]
            eta += by * fourth[:, None] / 384.0
            if line < closure.n_turns:
                K[:, :, line] += by * S[:, None, row]
            if joint.slide >= 0:
                K[:, :, closure.n_turns + joint.slide] += by * D[:, None, line]
        own = slice(len(closure.own), None)  # rows of turns and slides, after one for each centre
        w = _weights(K[:, own])
        curved = (B[:, :, : closure.n_turns] @ (w[:, : closure.n_turns] ** 2)[:, :, None])[:, :, 0]
        for row, joint in sliding:
            if joint.slide >= 0 and joint.line < closure.n_turns:
                both = w[:, joint.line] * w[:, closure.n_turns + joint.slide]
                curved += 2.0 * P[:, :, row] * both[:, None]
        flat = (K @ w[:, :, None])[:, :, 0]
        k0, k1 = (flat[:, own] / w).max(axis=1), np.maximum((curved[:, own] / w).max(axis=1), 1e-300)
        size_of_f = (eta[:, own] / w).max(axis=1)
        square = (1.0 - k0) ** 2 - 2.0 * k1 * size_of_f
        passed &= np.abs(inverse[here]).max(axis=(1, 2)) <= 1.0 / NEAREST
        passed &= (k0 < SURE) & (square > 1e-9) & (size[end][:, m:].max(axis=1) <= CLOSED)
        root = np.sqrt(np.where(square > 0, square, 0.0))
        r, R = 2.0 * size_of_f / (1.0 - k0 + root), (1.0 - k0 + root) / k1
        centre = eta + flat * r[:, None] + curved * (r**2)[:, None]
        found.append((r[:, None] * w, R[:, None] * w, centre[:, : len(closure.own)]))
    (r0, R0, c0), (r1, R1, c1) = found
    passed &= (r0 <= R1).all(axis=1) | (r1 <= R0).all(axis=1)
    tubes.turn[:, closure.own] = np.maximum(r0, r1)[:, : len(closure.own)]
    tubes.centre[:, closure.own] = np.maximum(c0, c1)
    return passed


def _inverses(jacobian: Floats) -> Floats:
    """Inverses, NaN where there is none."""
    found: Floats = np.full_like(jacobian, np.nan)
    sound = np.isfinite(jacobian).all(axis=(1, 2))
    try:
        found[sound] = np.linalg.inv(jacobian[sound])
    except np.linalg.LinAlgError:
        for k in np.flatnonzero(sound).tolist():
            with suppress(np.linalg.LinAlgError):
                found[k] = np.linalg.inv(jacobian[k])
    return found


def _by_point(rows: Floats, m: int) -> Floats:
    """Bounds by rows, with the two rows of each of the m / 2 centres in one."""
    found: Floats = np.concatenate([np.hypot(rows[:, 0:m:2], rows[:, 1:m:2]), rows[:, m:]], axis=1)
    return found


def _of_known(
    closure: Closure, of: Linearised, inverse: Floats, reach: Floats, at: Poses, tubes: Tubes, m: int
) -> list[Floats]:
    """For both ends (K, rows): what the tubes of other groups' bodies add to the residual."""
    found = []
    for end in (0, 1):
        here = slice(end, len(at.time) - 1 + end)
        added = np.zeros((len(at.time) - 1, reach.shape[1]))
        for row, joint in enumerate(closure.joints):
            for side, body in enumerate(joint.bodies):
                if body not in closure.known:
                    continue
                arm = np.full(len(added), abs(joint.arms[side]))
                if side == 0 and joint.direction is not None:
                    arm = arm + np.maximum(np.abs(of.slide[:-1, row]), np.abs(of.slide[1:, row]))
                off = tubes.centre[:, body] + arm * tubes.turn[:, body]
                added += reach[here, :, row] * off[:, None]
                if joint.angle >= 0:
                    turned = _by_point(np.abs(inverse[here, :, joint.angle]), m)
                    added += turned * tubes.turn[:, body, None]
        found.append(added)
    return found


@dataclass(frozen=True, eq=False)
class Cubic:
    """Largest derivatives (K, ...) by s of cubics; ``way`` from each end to the middle."""

    first: Floats
    second: Floats
    third: Floats
    way: tuple[Floats, Floats]


def _cubic(value: Floats, rate: Floats, step: Floats, wrapped: range = range(0)) -> Cubic:
    """The cubics through values and rates (T, ...); ``wrapped`` columns go the way nearest their rates."""
    v0, v1 = rate[:-1] * step[:, None], rate[1:] * step[:, None]
    rise = np.diff(value, axis=0)
    for k in wrapped:
        rise[:, k] -= 2 * np.pi * np.round((rise[:, k] - 0.5 * (v0[:, k] + v1[:, k])) / (2 * np.pi))
    bend, third = 3 * rise - 2 * v0 - v1, v0 + v1 - 2 * rise
    second = np.maximum(np.abs(2 * bend), np.abs(2 * bend + 6 * third))
    top = -bend / np.where(np.abs(third) > 1e-300, 3 * third, np.inf)  # where the rate is extreme
    extreme = np.where((top > 0) & (top < 1), v0 + top * (2 * bend + top * 3 * third), 0.0)
    first = np.maximum(np.maximum(np.abs(v0), np.abs(v1)), np.abs(extreme))
    way = tuple(np.minimum(first / 2, np.abs(v) / 2 + second / 8) for v in (v0, v1))
    return Cubic(first, second, np.abs(6 * third), (way[0], way[1]))


def _weights(K: Floats) -> Floats:
    """(K, q) weights near the eigenvector of the largest eigenvalue of matrices (K, q, q) >= 0."""
    w = np.ones(K.shape[:2])
    for _ in range(PERRON):
        new = (K @ w[:, :, None])[:, :, 0]
        new = np.maximum(new / np.maximum(new.max(axis=1, keepdims=True), 1e-300), FLOOR)
        w = np.sqrt(w * new)
        w /= w.max(axis=1, keepdims=True)
    return w
