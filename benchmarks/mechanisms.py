"""Random mechanisms of any size whose structural groups are known, made as arrays.

Every family grows from the frame and one driven crank (body 2) by adding groups of one kind, each
joined to random bodies that are already there. So the groups, and how many bodies each has, are known
beforehand. ``shuffled`` renumbers all movable bodies at random, puts the joints in random order and
swaps the two bodies of random joints: nothing of the order of growth is left in the numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import mbssa
from mbssa.joints.catalogue import Space
from mbssa.mechanism import Mechanism

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Case:
    """Columns of one mechanism, and the answer that a decomposition must give.

    Attributes
    ----------
    n_bodies : N with the frame; the wish, rounded down to whole groups
    columns : ``(i, j, type, driven)`` for :func:`mbssa.from_pairs`; body numbers from 1
    sizes : (n_groups,) bodies of the groups, ascending; None where the answer is not known beforehand
    """

    n_bodies: int
    columns: tuple[Ints, Ints, Any, Ints]
    space: Space
    sizes: Ints | None

    def mechanism(self) -> Mechanism:
        return mbssa.from_pairs(self.n_bodies, self.columns, self.space)


def dyads(n_bodies: int, seed: int = 0, shuffled: bool = False) -> Case:
    """Planar dyads (2 bodies, 3 R), each between two different bodies that are already there."""
    rng = np.random.default_rng(seed)
    count = _groups(n_bodies, 2)
    first = 2 + 2 * np.arange(count)
    left, right = _two_different(rng, first)
    i = np.stack([left, first, right], axis=1)
    j = np.stack([first, first + 1, first + 1], axis=1)
    return _grown(rng, i, j, "R", 2, "planar", shuffled)


def rings(n_bodies: int, seed: int = 0, shuffled: bool = False) -> Case:
    """Planar groups of 12 bodies and 18 R: a ring of six ternary links, each with a leg.

    The leg is one binary link; its other end is joined to a random body that is already there.
    """
    rng = np.random.default_rng(seed)
    count = _groups(n_bodies, 12)
    first = (2 + 12 * np.arange(count))[:, None]
    ring = first + np.arange(6)
    leg = ring + 6
    foot = rng.integers(0, np.repeat(first, 6, axis=1))
    i = np.concatenate([ring, ring, foot], axis=1)
    j = np.concatenate([np.roll(ring, -1, axis=1), leg, leg], axis=1)
    return _grown(rng, i, j, "R", 12, "planar", shuffled)


def legs(n_bodies: int, seed: int = 0, shuffled: bool = False) -> Case:
    """Spatial groups 1P1U1S3D and 1R1U1S3D, mixed: body -P or R- body -U- body -S- body."""
    rng = np.random.default_rng(seed)
    count = _groups(n_bodies, 2)
    first = 2 + 2 * np.arange(count)
    left, right = _two_different(rng, first)
    i = np.stack([left, first, right], axis=1)
    j = np.stack([first, first + 1, first + 1], axis=1)
    codes = np.empty((count, 3), dtype="U1")
    codes[:, 0] = np.where(rng.random(count) < 0.5, "P", "R")
    codes[:, 1:] = ("U", "S")
    return _grown(rng, i, j, codes, 2, "spatial", shuffled)


#: The families of the scale benchmark.
FAMILIES: dict[str, Callable[[int, int, bool], Case]] = {"dyads": dyads, "rings": rings, "legs": legs}


def _groups(n_bodies: int, size: int) -> int:
    """How many groups of ``size`` bodies fit besides the frame and the crank."""
    if n_bodies < 2 + size:
        raise ValueError(f"n_bodies = {n_bodies}; one group needs at least {2 + size}")
    return (n_bodies - 2) // size


def _two_different(rng: np.random.Generator, first: Ints) -> tuple[Ints, Ints]:
    """Two different body indices below ``first``, for each of its entries."""
    left = rng.integers(0, first)
    right = rng.integers(0, first - 1)
    return left, right + (right >= left)


def _grown(
    rng: np.random.Generator, i: Ints, j: Ints, codes: Any, size: int, space: Space, shuffled: bool
) -> Case:
    """The crank 1-2 and then the groups, whose pairs are the rows of ``i`` and ``j``."""
    sizes = np.full(len(i) + 1, size)
    sizes[0] = 1
    if not isinstance(codes, str):
        codes = np.concatenate([["R"], codes.ravel()])
    i = np.concatenate([[0], i.ravel()])
    j = np.concatenate([[1], j.ravel()])
    driven = np.zeros(len(i), dtype=np.int64)
    driven[0] = 1
    case = Case(2 + size * (len(sizes) - 1), (i + 1, j + 1, codes, driven), space, sizes)
    return _shuffle(case, rng) if shuffled else case


def _shuffle(case: Case, rng: np.random.Generator) -> Case:
    i, j, codes, driven = case.columns
    number = np.concatenate([[0, 1], 2 + rng.permutation(case.n_bodies - 1)])
    row = rng.permutation(len(i))
    i, j = number[i[row]], number[j[row]]
    swap = rng.random(len(i)) < 0.5
    i, j = np.where(swap, j, i), np.where(swap, i, j)
    codes = codes if isinstance(codes, str) else codes[row]
    return Case(case.n_bodies, (i, j, codes, driven[row]), case.space, case.sizes)
