"""Rank of equations together with some coordinates, by the inertia of a small matrix instead of the whole.

With the singular values σ and right vectors V of the equations, their free motions N, and the rows D of n
coordinates, A = [equations; D] has as many singular values up to s as there are motions that D leaves free,
and n less those that L⁻¹ D N has beyond s; L Lᵀ = I + E Eᵀ, E = D V / √(σ² - s²). (Inertia of
[[AᵀA - s², Dᵀ], [D, -1]] by its two Schur complements.) So n x n matrices decide where the whole one is of
hundreds of columns, but for s near a singular value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Floats, Ints
from mbssa.singularities.ranks import rank_of


@dataclass(frozen=True, eq=False)
class SplitSystem:
    """Equations and coordinates, and the coordinates along the row space and null space of the equations.

    Attributes
    ----------
    equations, coordinates : (E, U) and (C, U)
    values : (r,) singular values of the equations above the tolerance, descending
    held : (C, r) coordinates along the right vectors of these values
    motions : (U, U - r) orthonormal, the free motions
    free : (C, U - r) coordinates along them
    tolerance : ratio of singular values below which numbers count as dependent
    """

    equations: Floats
    coordinates: Floats
    values: Floats
    held: Floats
    motions: Floats
    free: Floats
    tolerance: float


def split_system(equations: Floats, coordinates: Floats, rank: int, tolerance: float) -> SplitSystem:
    """Take equations (E, U) of a known rank apart."""
    values, right = np.zeros(0), np.eye(equations.shape[1])
    if len(equations):
        _, values, right = np.linalg.svd(equations)
    held, motions = right[:rank].T, right[rank:].T
    return SplitSystem(
        equations, coordinates, values[:rank], coordinates @ held, motions, coordinates @ motions, tolerance
    )


def full_rank(whole: SplitSystem, chosen: Ints, passive: int) -> bool:
    """Return whether the equations and these coordinates leave only so many passive rotations free.

    Parameters
    ----------
    chosen : (n,) rows of the coordinates, as many as there are free motions less the passive rotations
    """
    rows = whole.coordinates[chosen]
    one, other = whole.values.max(initial=0.0), np.linalg.norm(rows, 2)
    # The largest singular value of the whole matrix is somewhere between.
    if _regular(whole, chosen, whole.tolerance * float(np.hypot(one, other))):
        return True
    if not _regular(whole, chosen, whole.tolerance * float(max(one, other))):
        return False
    matrix = np.vstack([whole.equations, rows])
    return bool(rank_of(matrix, whole.tolerance).rank >= matrix.shape[1] - passive)


def _regular(whole: SplitSystem, chosen: Ints, bound: float) -> bool:
    """Return whether all singular values but those of the passive rotations are above a bound."""
    if len(whole.values) and whole.values[-1] <= bound:
        return False
    seen = whole.held[chosen] / np.sqrt(whole.values**2 - bound**2)
    triangle: Floats = np.asarray(np.linalg.qr(np.vstack([np.eye(len(chosen)), seen.T]), mode="r"))
    values = np.linalg.svd(np.linalg.solve(triangle.T, whole.free[chosen]), compute_uv=False)
    return bool(values[-1] > bound)
