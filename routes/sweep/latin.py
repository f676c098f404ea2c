"""Latin hypercube sampling by random access: each worker draws its own part."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats

Words = npt.NDArray[np.uint64]

#: Rounds of the permutation; four are enough for one that looks random, two are to spare.
_ROUNDS = 6

#: Steps between seeds of one stream of numbers: the golden ratio, as splitmix64 has it.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def latin(start: int, stop: int, number: int, wide: int, seed: int) -> Floats:
    """Points (stop - start, wide) in the unit cube, of a Latin hypercube of ``number``."""
    # Each column of the whole has one point in each of `number` equal strata. A permutation, evaluated for
    # each case alone, gives its stratum, and a hash its place within.
    at = np.arange(start, stop, dtype=np.uint64)
    found = np.empty((len(at), wide))
    for column in range(wide):
        within, *keys = np.random.SeedSequence([seed, column]).generate_state(1 + _ROUNDS, np.uint64)
        share = (_mixed(at * _GOLDEN + within) >> np.uint64(11)) * 2.0**-53
        found[:, column] = (_permuted(at, number, keys) + share) / number
    return found


def _permuted(at: Words, number: int, keys: list[np.uint64]) -> Words:
    """Images of some numbers under a permutation of 0 … ``number`` - 1."""
    # A Feistel network permutes the next power of 4; from beyond the end it is followed on until it comes
    # back (M. Luby and C. Rackoff, 1988; J. Black and P. Rogaway, 2002).
    half = np.uint64(max(1, ((number - 1).bit_length() + 1) // 2))
    low = (np.uint64(1) << half) - np.uint64(1)
    found = at.copy()
    todo = np.arange(len(at))
    while len(todo):
        left, right = found[todo] >> half, found[todo] & low
        for key in keys:
            left, right = right, left ^ (_mixed(right + key) & low)
        found[todo] = (left << half) | right
        todo = todo[found[todo] >= number]
    return found


def _mixed(words: Words) -> Words:
    """A hash of 64 bits, each of which depends on all of the word's (splitmix64, in the public domain)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
