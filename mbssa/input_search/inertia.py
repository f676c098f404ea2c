"""Rank of equations with some coordinates, by the inertia of a small matrix instead of the whole."""

# With singular values σ, right vectors V and free motions N of the equations and n coordinates D, A =
# [equations; D] has as many singular values up to s as motions that D leaves free, and n less those of L⁻¹ D
# N beyond s; L Lᵀ = I + E Eᵀ, E = D V / √(σ² - s²): two Schur complements of [[AᵀA - s², Dᵀ], [D, -1]].

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Floats, Ints
from mbssa.singularities.ranks import rank_of


@dataclass(frozen=True, eq=False)
class SplitSystem:
    """Equations and coordinates, the latter also along the row space and null space of the former."""

    equations: Floats  # (E, U)
    coordinates: Floats  # (C, U)
    values: Floats  # (r,) singular values of the equations above the tolerance, descending
    held: Floats  # (C, r) coordinates along the right vectors of these values
    motions: Floats  # (U, U - r) orthonormal, the free motions
    free: Floats  # (C, U - r) coordinates along them
    tolerance: float  # ratio of singular values below which numbers count as dependent


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
    """Return whether the equations and these coordinates leave only ``passive`` passive rotations free."""
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
