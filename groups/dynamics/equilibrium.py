"""Multipliers of a group's equations in equilibrium with the loads on its bodies, at all instants at once."""

# Where the group has more equations than its bodies have freedoms, a space of multipliers is indeterminate:
# the self-stress of redundant constraints. It is kept as further columns of the loads.

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Bools, Floats

#: Ratio of singular values below which equations depend on one another.
DEPENDENT = 1e-8

#: Multipliers of a probe of magnitude 1 beyond which the rank is determined.
SUSPICIOUS = 1e5

#: Numbers of the matrices that are decomposed together.
_TOGETHER = 4_000_000


@dataclass(frozen=True, eq=False)
class Balance:
    """Multipliers of one block of bodies."""

    multipliers: Floats  # (T, m, P + k) N m: of the load, by each of P - 1 parameters, and by k new ones
    singular: Bools  # (T,) instants at which the equations lose rank
    deficient: int  # motions of the bodies that no equation constrains, at the other instants


def balance(transposed: Floats, loads: Floats) -> Balance:
    """Solve A λ = -b over time: transposed Jacobian A (T, n, m), loads b (T, n, P) and their derivatives."""
    _instants, n, m = transposed.shape
    finite = np.isfinite(transposed).all(axis=(1, 2)) & np.isfinite(loads).all(axis=(1, 2))
    sound: Bools = np.asarray(finite, dtype=np.bool_)
    if n == m:
        found, doubtful = _square(transposed, loads, sound)
        if not doubtful.any():
            return Balance(found, doubtful, 0)
        if not doubtful[sound].all():
            return _checked(transposed, loads, found, doubtful)
    return _by_singular_values(transposed, loads, sound)


def _square(transposed: Floats, loads: Floats, sound: Bools) -> tuple[Floats, Bools]:
    """Solutions by elimination, and the instants at which the rank is in doubt."""
    # A probe is solved with the loads: a load in general position, whose solution is large wherever the
    # matrix is nearly singular, for any loads.
    probe = np.broadcast_to(np.cos(np.arange(1.0, loads.shape[1] + 1))[:, None], (*loads.shape[:2], 1))
    right = np.concatenate([-loads, probe], axis=2)
    found = np.full(right.shape, np.nan)
    try:
        # A matrix that is not finite may count as singular, and one that is singular ends the call for all.
        found[sound] = np.linalg.solve(transposed[sound], right[sound])
    except np.linalg.LinAlgError:
        return found[:, :, :-1], sound.copy()
    size = np.abs(found[:, :, -1]).max(axis=1, initial=0.0)
    return found[:, :, :-1], sound & ~(size <= SUSPICIOUS)


def _checked(transposed: Floats, loads: Floats, found: Floats, doubtful: Bools) -> Balance:
    """The same where some instants may be singular."""
    values = np.linalg.svd(transposed[doubtful], compute_uv=False)
    singular = doubtful.copy()
    singular[doubtful] = values[:, -1] < DEPENDENT * values[:, 0]
    found[singular] = np.nan
    return Balance(found, singular, 0)


def _by_singular_values(transposed: Floats, loads: Floats, sound: Bools) -> Balance:
    instants, n, m = transposed.shape
    columns = loads.shape[2]
    rank = np.full(instants, -1)
    part = max(1, _TOGETHER // (n * n + m * m))
    pieces = []
    for start in range(0, instants, part):
        here = start + np.flatnonzero(sound[start : start + part])
        if len(here):
            left, values, right = np.linalg.svd(transposed[here])
            rank[here] = (values > DEPENDENT * values[:, :1]).sum(axis=1)
            pieces.append((here, left, values, right))
    full = int(rank.max(initial=0))
    free = m - full
    found = np.full((instants, m, columns + free), np.nan)
    for here, left, values, right in pieces:
        regular = rank[here] == full
        here, left, values, right = here[regular], left[regular], values[regular], right[regular]
        inner = left.transpose(0, 2, 1) @ loads[here]
        solved = right[:, :full].transpose(0, 2, 1) @ (inner[:, :full] / values[:, :full, None])
        found[here, :, :columns] = -solved
        found[here, :, columns:] = right[:, full:].transpose(0, 2, 1)
    return Balance(found, sound & (rank < full), n - full)
