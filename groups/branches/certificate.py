"""Certificate of an interval: between two solved poses lies one branch, and both are on it."""

# Newton–Kantorovich (Deuflhard 2004, Newton Methods for Nonlinear Problems, chapter 2) about the cubic x(s)
# through the values and rates of both ends, in the norm max |z_i| / w_i, of each end on the half of the
# interval next to it. z are the unknowns, of a ball all three as one, in the plane turns of members.

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from groups.branches.closure import Blocks, Closure, Linearised
from groups.branches.states import States
from mbssa.arrays import Bools, Floats
from mbssa.joints.axes import cross

#: Largest K0, so that rounding decides nothing.
SURE = 0.99
#: Least size of 1 / J⁻¹: two branches that cross come apart by its square over the size if lengths are off by
#: as much, so that below it the rounding of lengths (some 1e-11) would decide.
NEAREST = 3e-6
#: Largest Newton step, rad or over the size, that an end may be away from the branch.
CLOSED = 1e-6
#: Steps towards the eigenvector, and the least of a weight over the largest in one of them.
PERRON, FLOOR = 8, 1e-3
#: Largest of a Hermite cubic's basis function of a rate, and error of the interpolation over the derivative.
_OF_RATE, _HERMITE = 4.0 / 27.0, 1.0 / 384.0


@dataclass(frozen=True, eq=False)
class Paths:
    """Tubes of all bodies about their cubics over K intervals: radii, derivatives of the turns, ways."""

    centre: Floats  # (K, N) radii, over the size
    turn: Floats  # (K, N) radii, rad
    turning: Floats  # (3, K, N) largest derivatives of the turns
    way: Floats  # (2, K, N) of the turns, from either end to the middle

    @staticmethod
    def still(intervals: int, bodies: int) -> Paths:
        """Bodies at rest, before any group is certified."""
        shape = intervals, bodies
        return Paths(np.zeros(shape), np.zeros(shape), np.zeros((3, *shape)), np.zeros((2, *shape)))


def certified(closure: Closure, at: States, paths: Paths) -> Bools:
    """Intervals (K,) between K + 1 instants in which a group stays on one branch; sets its bodies' paths."""
    with np.errstate(all="ignore"):
        return _certified(closure, closure.linearised(at), at, paths)


def _certified(closure: Closure, of: Linearised, at: States, paths: Paths) -> Bools:
    step = np.diff(at.time)
    blocks = closure.blocks
    unknowns, dexp = _unknowns(closure, of, step)
    inputs = _hermite(at.value, at.rate, step)
    turns = _turns(closure, blocks, unknowns, inputs, at, step, paths)
    slides, largest = _slides(closure, unknowns, inputs, of, at)
    (d1, d2, d3), width = turns.derivatives, closure.width
    # Derivatives of a chain of turns, with the largest ones on the interval (Faà di Bruno).
    e2 = d1**2 + d2
    e3 = d1**3 + 3 * d1 * d2 + d3
    e4 = d1**4 + 6 * d1**2 * d2 + 3 * d2**2 + 4 * d1 * d3
    lines = [member for member, _, _, _ in closure.slides]
    s1, s2, s3 = slides.derivatives
    fourth = s1 * e4[:, lines] + 4 * s1 * e3[:, lines] + 6 * s2 * e2[:, lines] + 4 * s3 * d1[:, lines]
    off = paths.turn @ closure.of_roots.T

    passed = np.maximum(of.off[:-1], of.off[1:]) <= CLOSED
    radii, n_loops = np.zeros((len(step), len(blocks.influence[0]))), width * len(closure.points)
    if closure.n:
        found = []
        for end, inverse in enumerate(_inverses(closure, of, dexp)):
            here = slice(end, len(step) + end)
            rows = blocks.signed @ inverse if closure.planar else inverse
            by_loop = rows[:, :, :n_loops].reshape(len(step), rows.shape[1], -1, width)
            B = blocks.sizes(_by_turns(by_loop, of.segments[here, :, :, :width], closure.planar))
            B = np.concatenate(
                [B, blocks.sizes(np.abs(rows[:, :, n_loops : n_loops + len(closure.cosines)]))], axis=2
            )
            P = blocks.sizes(_lengths(by_loop, closure.sliding))
            # Of what no weight is in: residuals on the cubic, of every row.
            size = [_sizes(blocks, rows, part) for part in (of.residual[:-1], of.residual[1:])]
            rates = [
                _sizes(blocks, rows, part * step[:, None])
                for part in (of.residual_rate[:-1], of.residual_rate[1:])
            ]
            # eta >= |J⁻¹ F(x(s), s)|: F and its rate vanish at both ends but for what is left there, so that
            # F is at most |F''''| / 384 between (Hermite). F'''': turning segments times e4, and by Leibniz
            # slides along them.
            eta = np.maximum(*size) + _OF_RATE * (rates[0] + rates[1])
            eta += (B @ (e4 * _HERMITE + off)[..., None])[..., 0] + (P @ fourth[..., None])[..., 0] * _HERMITE
            eta += (blocks.sizes(_lengths(by_loop, closure.based)) @ paths.centre[..., None])[..., 0]
            # Changes of J: by turning segments, and by slides along turning lines.
            D, S = turns.way[end] + off, slides.way[end]
            K = (B * D[:, None]) @ blocks.influence + (P * S[:, None]) @ blocks.influence[lines]
            K += (P * D[:, None, lines]) @ blocks.of_slides
            w = _weights(K)
            turned, slid = w @ blocks.influence.T, w @ blocks.of_slides.T
            curved = (B @ (turned**2)[..., None])[..., 0] + 2.0 * (P @ (slid * turned[:, lines])[..., None])[
                ..., 0
            ]
            # k0 + k1 ρ >= |J⁻¹ (J(x, s) - J)| within ρ of x(s). If k0 < 1 and (1 - k0)² > 2 k1 eta, exactly
            # one solution is within R of the cubic, and it is within r. One branch: the tube of one end is
            # inside the ball of the other.
            k0 = ((K @ w[..., None])[..., 0] / w).max(axis=1)
            k1 = np.maximum((curved / w).max(axis=1), 1e-300)
            size_of_f = (eta / w).max(axis=1)
            square = (1.0 - k0) ** 2 - 2.0 * k1 * size_of_f
            passed &= np.abs(inverse).max(axis=(1, 2)) <= 1.0 / NEAREST
            passed &= (k0 < SURE) & (square > 1e-9) & (size[end].max(axis=1) <= CLOSED)
            root = np.sqrt(np.where(square > 0, square, 0.0))
            r, R = 2.0 * size_of_f / (1.0 - k0 + root), (1.0 - k0 + root) / k1
            found.append((r[:, None] * w, R[:, None] * w))
        (r0, R0), (r1, R1) = found
        passed &= (r0 <= R1).all(axis=1) | (r1 <= R0).all(axis=1)
        radii = np.maximum(r0, r1)

    # Paths of its own bodies, for groups that depend on it.
    tube = radii @ blocks.influence.T + off
    last = [closure.places[body].member for body in closure.own]
    paths.turn[:, closure.own] = tube[:, last]
    paths.turning[:, :, closure.own] = turns.derivatives[:, :, last]
    paths.way[:, :, closure.own] = turns.way[:, :, last]
    M = len(closure.members)
    arms, along = np.linalg.norm(closure.of_body, axis=2).T, np.abs(closure.slides_of_body).T
    bend = (e4[:, :M] * _HERMITE + tube[:, :M]) @ arms
    bend += (
        fourth * _HERMITE + largest * (e4 * _HERMITE + tube)[:, lines] + radii @ blocks.of_slides.T
    ) @ along
    paths.centre[:, closure.own] = bend + paths.centre[:, [closure.places[b].base for b in closure.own]]
    return passed


def _sizes(blocks: Blocks, rows: Floats, of: Floats) -> Floats:
    found: Floats = blocks.sizes(np.abs(rows @ of[..., None]))[..., 0]
    return found


def _by_turns(rows: Floats, segments: Floats, planar: bool) -> Floats:
    """Bounds (K, rows, M) of rows (K, rows, L, d) times turned segments (K, L, M, d)."""
    # In the plane a product of complex numbers, whose size no rotation changes; in space |<M, G>| <= |M|_F
    # |G|_F, and |M|_F <= sqrt(2) with an antisymmetric factor.
    K, n, L, d = rows.shape
    flat = rows.transpose(0, 1, 3, 2).reshape(K, n * d, L) @ segments.reshape(K, L, -1)
    outer = flat.reshape(K, n, d, -1, d)
    if planar:
        found: Floats = np.hypot(
            outer[:, :, 0, :, 0] + outer[:, :, 1, :, 1], outer[:, :, 0, :, 1] - outer[:, :, 1, :, 0]
        )
        return found
    single = np.sqrt((rows**2).sum(axis=3)) @ np.sqrt((segments**2).sum(axis=3))
    least: Floats = np.minimum(np.sqrt(2.0 * (outer**2).sum(axis=(2, 4))), single)
    return least


def _lengths(rows: Floats, signs: Floats) -> Floats:
    """Lengths (K, rows, S) of sums, with signs (L, S), of rows (K, rows, L, d)."""
    found: Floats = np.sqrt(((rows.transpose(0, 1, 3, 2) @ signs) ** 2).sum(axis=2))
    return found


def _inverses(closure: Closure, of: Linearised, dexp: Floats) -> tuple[Floats, Floats]:
    """Inverses (K, n, rows) at both ends of intervals, of balls by their rotation vectors."""
    if not closure.balls:
        found = _inverse(of.jacobian)
        return found[:-1], found[1:]
    first, last = of.jacobian[:-1], of.jacobian[1:].copy()
    for k, (_, column, _) in enumerate(closure.balls):
        last[:, :, column : column + 3] = last[:, :, column : column + 3] @ dexp[:, k]
    if closure.gauges:  # the same gauge over the interval
        last[:, -len(closure.gauges) :] = first[:, -len(closure.gauges) :]
    return _inverse(first), _inverse(last)


def _inverse(jacobian: Floats) -> Floats:
    """Inverses or pseudo-inverses, NaN where there is none."""
    by = np.linalg.inv if jacobian.shape[1] == jacobian.shape[2] else np.linalg.pinv
    found: Floats = np.full_like(jacobian.transpose(0, 2, 1), np.nan)
    sound = np.isfinite(jacobian).all(axis=(1, 2))
    try:
        found[sound] = by(jacobian[sound])
    except np.linalg.LinAlgError:
        for k in np.flatnonzero(sound).tolist():
            with suppress(np.linalg.LinAlgError):
                found[k] = by(jacobian[k])
    return found


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of cubics by s: largest derivatives (3, K, ...), ways (2, K, ...) from ends to the middle."""

    derivatives: Floats
    way: Floats


def _hermite(value: Floats, rate: Floats, step: Floats, wrapped: Bools | float = 0.0) -> Floats:
    """Cubics (3, K, ...) through values and rates (T, ...): rise, rates at both ends."""
    # Columns that are `wrapped` go the way nearest their rates.
    v0, v1 = rate[:-1] * step[:, None], rate[1:] * step[:, None]
    rise = np.diff(value, axis=0)
    rise -= wrapped * (2 * np.pi * np.round((rise - 0.5 * (v0 + v1)) / (2 * np.pi)))
    return np.stack([rise, v0, v1])


def _bounds(cubics: Floats) -> Bounds:
    rise, v0, v1 = cubics
    bend, third = 3 * rise - 2 * v0 - v1, v0 + v1 - 2 * rise
    second = np.maximum(np.abs(2 * bend), np.abs(2 * bend + 6 * third))
    top = -bend / np.where(np.abs(third) > 1e-300, 3 * third, np.inf)  # where the rate is extreme
    extreme = np.where((top > 0) & (top < 1), v0 + top * (2 * bend + top * 3 * third), 0.0)
    first = np.maximum(np.maximum(np.abs(v0), np.abs(v1)), np.abs(extreme))
    way = np.stack([np.minimum(first / 2, np.abs(v) / 2 + second / 8) for v in (v0, v1)])
    return Bounds(np.stack([first, second, np.abs(6 * third)]), way)


def _unknowns(closure: Closure, of: Linearised, step: Floats) -> tuple[Floats, Floats]:
    """The cubics of all unknowns, and what makes turns of rates of rotation vectors at the second end."""
    cubics = _hermite(of.x, of.rate, step, closure.is_angle)
    dexp = np.zeros((len(step), len(closure.balls), 3, 3))
    for k, (_, first, along) in enumerate(closure.balls):
        rise, _, v1 = cubics[:, :, first : first + 3]
        if along.any():
            n0, n1 = of.line[:-1, k], of.line[1:, k]
            across = cross(n0, n1)
            sine, cosine = np.linalg.norm(across, axis=1), (n0 * n1).sum(axis=1)
            rise[:] = across * (np.arctan2(sine, cosine) / np.where(sine > 0, sine, 1.0))[:, None]
        else:
            rise[:] = _logarithm(of.ball[1:, k] @ of.ball[:-1, k].transpose(0, 2, 1))
        dexp[:, k] = _rate_of_exponential(rise)
        back = _inverse(dexp[:, k])
        v1[:] = (back @ v1[..., None])[..., 0]
        if along.any():  # no spin about the first line
            spin = (back @ n1[..., None])[..., 0]
            v1 -= ((n0 * v1).sum(axis=1) / (n0 * spin).sum(axis=1))[:, None] * spin
    return cubics, dexp


def _logarithm(rotation: Floats) -> Floats:
    """Rotation vectors (K, 3), NaN near half a turn."""
    axis = 0.5 * np.stack(
        [rotation[:, j, i] - rotation[:, i, j] for i, j in ((1, 2), (2, 0), (0, 1))], axis=1
    )
    sine, cosine = np.linalg.norm(axis, axis=1), 0.5 * (np.trace(rotation, axis1=1, axis2=2) - 1.0)
    factor = np.where(sine > 1e-9, np.arctan2(sine, cosine) / np.where(sine > 1e-9, sine, 1.0), 1.0)
    found: Floats = axis * np.where((cosine < 0) & (sine < 1e-6), np.nan, factor)[:, None]
    return found


def _rate_of_exponential(c: Floats) -> Floats:
    """Matrices (K, 3, 3) from rates of rotation vectors to angular velocities."""
    angle = np.linalg.norm(c, axis=1)
    small = angle < 1e-2
    at = np.where(small, 1.0, angle)
    one = np.where(small, 0.5 - angle**2 / 24 + angle**4 / 720, (1 - np.cos(at)) / at**2)
    two = np.where(small, 1 / 6 - angle**2 / 120 + angle**4 / 5040, (at - np.sin(at)) / at**3)
    hat = np.zeros((len(c), 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        hat[:, j, i], hat[:, i, j] = c[:, k], -c[:, k]
    found: Floats = np.eye(3) + one[:, None, None] * hat + two[:, None, None] * (hat @ hat)
    return found


def _turns(
    closure: Closure, blocks: Blocks, unknowns: Floats, inputs: Floats, at: States, step: Floats, paths: Paths
) -> Bounds:
    """Largest derivatives and ways of all members and cosines; in the plane of sums with their signs."""
    if closure.planar:
        known = _hermite(at.angle, at.spin[..., 2], step, 1.0) @ closure.of_roots_signed.T
        return _bounds(unknowns @ closure.turned.T + inputs @ closure.turned_by_inputs.T + known)
    own, given, by_inputs = _bounds(unknowns), _bounds(inputs), np.abs(closure.turned_by_inputs).T
    parts = []
    for mine, theirs, known in (
        (own.derivatives, given.derivatives, paths.turning), (own.way, given.way, paths.way)
    ):  # fmt: skip
        sized = np.stack([blocks.sizes(one[..., None])[..., 0] for one in mine])
        parts.append(sized @ blocks.influence.T + theirs @ by_inputs + known @ closure.of_roots.T)
    return Bounds(parts[0], parts[1])


def _slides(
    closure: Closure, unknowns: Floats, inputs: Floats, of: Linearised, at: States
) -> tuple[Bounds, Floats]:
    """Largest derivatives and ways of slides, and (K, slides) their largest sizes."""
    source = [s if s >= 0 else closure.n - 1 - s for _, _, s, _ in closure.slides]
    factor = np.array([factor for _, _, _, factor in closure.slides])
    bounds = _bounds(np.concatenate([unknowns, inputs], axis=2)[:, :, source] * factor)
    size = np.abs(np.concatenate([of.x, at.value], axis=1)[:, source] * factor)
    return bounds, np.maximum(size[:-1], size[1:]) + bounds.derivatives[0] / 2


def _weights(K: Floats) -> Floats:
    """Weights (K, q) near the eigenvector of the largest eigenvalue of matrices (K, q, q) >= 0."""
    # Any weights prove; k0 is least for the eigenvector (Perron).
    w = np.ones(K.shape[:2])
    for _ in range(PERRON):
        new = (K @ w[:, :, None])[:, :, 0]
        new = np.maximum(new / np.maximum(new.max(axis=1, keepdims=True), 1e-300), FLOOR)
        w = np.sqrt(w * new)
        w /= w.max(axis=1, keepdims=True)
    return w
