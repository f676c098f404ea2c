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
    instants, n, m = transposed.shape
    columns = loads.shape[2]
    sound = np.asarray(np.isfinite(transposed).all(axis=(1, 2)) & np.isfinite(loads).all(axis=(1, 2)))
    found, rank = np.full((instants, m, columns), np.nan), np.full(instants, -1)
    if n == m:
        found, regular = _eliminated(transposed, loads, sound)
        rank[regular] = n
    # The rank of the other instants is by singular values, in pieces whose factors fit the memory.
    doubtful, pieces = np.flatnonzero(sound & (rank < 0)), []
    part = max(1, _TOGETHER // (n * n + m * m + 1))
    for here in (doubtful[k : k + part] for k in range(0, len(doubtful), part)):
        left, values, right = np.linalg.svd(transposed[here])
        rank[here] = (values > DEPENDENT * values[:, :1]).sum(axis=1)
        pieces.append((here, left, values, right))
    full = int(rank.max(initial=0))
    found = np.pad(found, ((0, 0), (0, 0), (0, m - full)), constant_values=np.nan)
    for here, left, values, right in pieces:
        kept = rank[here] == full
        here, left, values, right = here[kept], left[kept], values[kept], right[kept]
        inner = left.transpose(0, 2, 1) @ loads[here]
        solved = right[:, :full].transpose(0, 2, 1) @ (inner[:, :full] / values[:, :full, None])
        found[here, :, :columns] = -solved
        found[here, :, columns:] = right[:, full:].transpose(0, 2, 1)
    singular = sound & (rank < full)
    found[singular] = np.nan
    return Balance(found, singular, n - full)


def _eliminated(transposed: Floats, loads: Floats, sound: Bools) -> tuple[Floats, Bools]:
    """Solutions by elimination, and the instants at which the rank is certainly full."""
    # A probe is solved with the loads: a load in general position, whose solution is large wherever the
    # matrix is nearly singular, for any loads.
    probe = np.broadcast_to(np.cos(np.arange(1.0, loads.shape[1] + 1))[:, None], (*loads.shape[:2], 1))
    right = np.concatenate([-loads, probe], axis=2)
    found = np.full(right.shape, np.nan)
    try:
        # A matrix that is not finite may count as singular, and one that is singular ends the call for all.
        found[sound] = np.linalg.solve(transposed[sound], right[sound])
    except np.linalg.LinAlgError:
        return found[:, :, :-1], np.zeros_like(sound)
    size = np.abs(found[:, :, -1]).max(axis=1, initial=0.0)
    return found[:, :, :-1], sound & (size <= SUSPICIOUS)
