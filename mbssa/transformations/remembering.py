"""A search from best to best that goes on where it was: what it has judged is in the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from mbssa.transformations.judged import Judged
from mbssa.transformations.keeping import Search, kept, remember

#: Judges distributions (K, n) of a variant.
Judge = Callable[[int, npt.NDArray[np.int16]], Judged]


def remembering(search: Search, judge: Judge) -> Judge:
    """A judge for a search from best to best that judges nothing twice, and keeps what it judges.

    Parameters
    ----------
    judge : takes a variant and (K, n) distributions; returns their rows in the same order

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.
    """
    pieces = [kept(search)]
    known: dict[tuple[int, bytes], tuple[int, int]] = {}

    def note(piece: int) -> None:
        for row, key in enumerate(_keys(pieces[piece].variant.tolist(), pieces[piece].places)):
            known.setdefault(key, (piece, row))

    def judged_once(variant: int, places: npt.NDArray[np.int16]) -> Judged:
        keys = _keys([variant] * len(places), places)
        new = [k for k, key in enumerate(keys) if key not in known]
        if new:
            pieces.append(judge(variant, places[new]))
            remember(search, pieces[-1])
            note(len(pieces) - 1)
        where = np.array([known[key] for key in keys], dtype=np.int64).reshape(-1, 2)
        order = np.argsort(where[:, 0], kind="stable")
        parts = [
            pieces[piece].take(where[where[:, 0] == piece, 1]) for piece in np.unique(where[:, 0]).tolist()
        ]
        return Judged.joined([pieces[0].take(order[:0]), *parts]).take(np.argsort(order))

    note(0)
    return judged_once


def _keys(variants: Sequence[int], places: npt.NDArray[np.int16]) -> list[tuple[int, bytes]]:
    return [(variant, row.tobytes()) for variant, row in zip(variants, places, strict=True)]
