"""Best-first search by exchange of one input, where schemes are too many for an exhaustive search."""

# Neighbours of a scheme have one input on another joint, or other pairs for the multiple joints. Those of the
# best scheme are evaluated next, a few at a time; at intervals a random set of independent coordinates is
# evaluated instead, so that the search leaves local optima of the criterion.

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats, Ints
from mbssa.input_search.criteria import Criterion, keys_of
from mbssa.input_search.evaluate import Evaluated
from mbssa.input_search.symmetry import present_inputs
from mbssa.input_search.undriven import Undriven
from mbssa.mechanism import ByteArray, Mechanism
from mbssa.singularities.redundancy import independent_rows

#: Reasons for which a search ends before it has evaluated all schemes.
Stop = Literal["", "time", "number", "settled", "interrupted"]

#: Takes the number of schemes evaluated, and the number of all.
Progress = Callable[[int, int], object]

#: Evaluates schemes (K, n) with one choice of pairs, by its number.
Evaluate = Callable[[int, npt.NDArray[np.int16]], Evaluated]

#: A scheme: number of a choice of pairs for the multiple joints, and the joint of each input, ascending.
Scheme = tuple[int, tuple[int, ...]]

#: Schemes evaluated at a time: at first, later as a share of those evaluated before, and at most. Small
#: blocks turn to better schemes sooner, large ones are evaluated faster.
BLOCK = 64
_SHARE = 16
LARGEST = 4096

#: Every so many blocks random sets, this share of a block, are evaluated instead of neighbours.
_DRAW_EVERY = 4
_DRAWN_SHARE = 16

#: Successive draws without a new scheme after which drawing ends.
_VAIN_DRAWS = 50

#: A search has settled after this many times the work of finding its best, and so many schemes more, without
#: an improvement.
_PATIENCE = 10
_AT_LEAST = 20_000

#: Random completions of the independent present inputs.
_REPAIRS = 8

#: Distance of a row of unit size from the span of others below which it is dependent.
_DEPENDENT = 1e-7

#: Other choices of pairs that are neighbours of one scheme.
_OTHER_CHOICES = 16


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a search."""

    evaluated: Evaluated  # in the order of evaluation
    n_evaluated: int  # not all of them need be in ``evaluated``
    stop: Stop  # "time", "number" (limits), "settled" (no gain for long), "interrupted"; "": nothing new left


class Clock:
    """Time limit of a search, in s; None for none. ``now`` returns the time in s."""

    def __init__(self, limit: float | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._start = now, now()
        self._limit = np.inf if limit is None else limit

    @property
    def over(self) -> bool:
        """Return whether the time is up."""
        return self._now() - self._start >= self._limit

    def fitting(self, done: int, most: int) -> int:
        """Schemes that take a quarter of the time left at the rate so far, between 1 and ``most``."""
        if self._limit == np.inf:
            return most
        if not done:
            return min(most, BLOCK)
        spent = self._now() - self._start
        return max(1, min(most, int((self._limit - spent) / 4 * done / max(spent, 1e-6))))


@dataclass(frozen=True, eq=False)
class Allowed:
    """Schemes that the query allows."""

    least: Ints  # (V, J) fewest inputs on joint j with choice v of pairs
    most: Ints  # (V, J) likewise
    n_inputs: int  # of all joints together

    @staticmethod
    def of(bases: Sequence[Undriven]) -> Allowed:
        """Schemes of a mechanism, given once for each choice of pairs for its multiple joints."""
        least, most = np.stack([base.least for base in bases]), np.stack([base.most for base in bases])
        return Allowed(least, most, bases[0].n_inputs)

    def holds(self, one: Scheme) -> bool:
        """Return whether a scheme is allowed."""
        variant, places = one
        w = np.bincount(np.array(places, dtype=np.int64), minlength=self.most.shape[1])
        fits = (w >= self.least[variant]) & (w <= self.most[variant])
        return len(places) == self.n_inputs and bool(fits.all())


def best_first(
    evaluate: Evaluate,
    allowed: Allowed,
    wanted: Criterion,
    starts: Iterable[Scheme],
    draw: Callable[[np.random.Generator], Scheme | None],
    *,
    most: int,
    clock: Clock | None = None,
    progress: Progress | None = None,
    seed: int = 1,
    block: int = BLOCK,
    largest: int = LARGEST,
) -> Outcome:
    """Search by exchange of one input, best first, and by chance; no scheme is evaluated twice."""
    # Deterministic where no time limit ends it. ``starts`` that are not allowed are passed over; the block
    # under evaluation is finished at the limit of ``clock``, so blocks become smaller; ``block`` schemes are
    # evaluated at first, ``largest`` at most.
    search = _Search(evaluate, allowed, wanted, most, progress)
    clock = Clock() if clock is None else clock
    rng = np.random.default_rng(seed)
    stop: Stop = ""
    turn = vain = 0
    try:
        for one in starts:
            if not (clock.over and search.n_evaluated):
                search.enter([one])
        while not stop and (search.open or vain < _VAIN_DRAWS):
            turn += 1
            size = min(max(block, search.n_evaluated // _SHARE), clock.fitting(search.n_evaluated, largest))
            if search.n_evaluated >= most:
                stop = "number"
            elif clock.over:
                stop = "time"
            elif search.n_evaluated > _PATIENCE * search.best_at + _AT_LEAST:
                stop = "settled"
            elif vain < _VAIN_DRAWS and (turn % _DRAW_EVERY == 0 or not search.open):
                drawn = [draw(rng) for _ in range(max(1, size // _DRAWN_SHARE))]
                vain = 0 if search.enter([one for one in drawn if one is not None]) else vain + 1
            else:
                search.exchange(size, rng)
    except KeyboardInterrupt:
        stop = "interrupted"
    found = Evaluated.joined([Evaluated.empty(allowed.n_inputs), *search.blocks])
    return Outcome(found, len(found), stop)


@dataclass
class _Search:
    """State of a search."""

    evaluate: Evaluate
    allowed: Allowed
    wanted: Criterion
    most: int
    progress: Progress | None
    n_evaluated: int = 0
    best: tuple[float, ...] = (np.inf,)  # found among the first ``best_at``
    best_at: int = 0
    blocks: list[Evaluated] = field(default_factory=list)
    seen: set[Scheme] = field(default_factory=set)
    # open: sort keys, minus the row (newest first), scheme, and its neighbours where some were evaluated
    open: list[tuple[tuple[float, ...], int, Scheme, list[Scheme]]] = field(default_factory=list)

    def enter(self, several: Iterable[Scheme]) -> int:
        """Evaluate new schemes as far as the limit allows; return their number."""
        new = [one for one in dict.fromkeys(several) if one not in self.seen and self.allowed.holds(one)]
        new = new[: self.most - self.n_evaluated]
        self.seen.update(new)
        for variant in sorted({variant for variant, _ in new}):
            places = np.array([places for v, places in new if v == variant], dtype=np.int16)
            # In joint order, because what rows have in common with the row before is evaluated once.
            order = np.lexsort(places.T[::-1])
            self._remember(self.evaluate(variant, places[order]).take(np.argsort(order)))
        return len(new)

    def _remember(self, rows: Evaluated) -> None:
        self.blocks.append(rows)
        invalid = np.where(rows.valid > 0, 0.0, 1.0)
        goodness = np.column_stack([invalid, *keys_of(rows, self.wanted)]).tolist()
        for k in np.flatnonzero(rows.determined).tolist():
            one = (int(rows.variant[k]), tuple(rows.places[k].tolist()))
            heapq.heappush(self.open, (tuple(goodness[k]), -(self.n_evaluated + k), one, []))
        self.n_evaluated += len(rows)
        if self.open and self.open[0][0] < self.best:
            self.best, self.best_at = self.open[0][0], self.n_evaluated
        if self.progress is not None:
            self.progress(self.n_evaluated, self.most)

    def exchange(self, size: int, rng: np.random.Generator) -> None:
        """Evaluate a block of new neighbours of the best open schemes."""
        chosen: list[Scheme] = []
        kept = []
        while self.open and len(chosen) < size:
            goodness, row, one, left = heapq.heappop(self.open)
            left = left or self.neighbours(one, rng)
            room = size - len(chosen)
            chosen += [each for each in left[:room] if each not in self.seen]
            if left[room:]:
                kept.append((goodness, row, one, left[room:]))
        for node in kept:
            heapq.heappush(self.open, node)
        self.enter(chosen)

    def neighbours(self, one: Scheme, rng: np.random.Generator) -> list[Scheme]:
        """All schemes that differ by one exchange, in random order."""
        variant, places = one
        w = np.bincount(places, minlength=self.allowed.most.shape[1])
        joins = np.flatnonzero(w < self.allowed.most[variant]).tolist()
        found = []
        for leaves in np.flatnonzero(w > self.allowed.least[variant]).tolist():
            at = places.index(leaves)
            rest = (*places[:at], *places[at + 1 :])
            found += [(variant, tuple(sorted((*rest, joint)))) for joint in joins if joint != leaves]
        others = np.setdiff1d(np.arange(len(self.allowed.most)), variant)
        found += [(v, places) for v in rng.permutation(others)[:_OTHER_CHOICES].tolist()]
        return [found[k] for k in rng.permutation(len(found)).tolist()]


def starts_of(bases: Sequence[Undriven], mechanism: Mechanism, seed: int = 1) -> list[Scheme]:
    """First schemes: the present inputs of a model, and random completions of the independent ones."""
    rng = np.random.default_rng(seed)
    starts: list[Scheme | None] = []
    for base in bases:
        driven = present_inputs(mechanism, base)
        if driven is not None:
            now = np.repeat(np.arange(len(driven)), np.bitwise_count(driven)).tolist()
            starts += [(base.variant, tuple(now)), *(_drawn(base, driven, rng) for _ in range(_REPAIRS))]
    return [one for one in starts if one is not None]


def drawn_scheme(bases: Sequence[Undriven], rng: np.random.Generator) -> Scheme | None:
    """A random scheme with a valid set of inputs; None where the draw finds none."""
    base = bases[int(rng.integers(len(bases)))]
    return _drawn(base, np.zeros_like(base.allowed), rng)


def _drawn(base: Undriven, driven: ByteArray, rng: np.random.Generator) -> Scheme | None:
    """A random valid set that contains the independent present inputs."""
    joint = np.repeat(np.arange(base.mechanism.n_joints), base.mechanism.grade)
    bit = np.arange(len(joint)) - base.start[joint]
    rank = np.full(len(joint), 2)
    rank[driven[joint] >> bit & 1 == 1] = 1
    rank[(base.required[joint] >> bit & 1 == 1) | (base.locked[joint] > 0)] = 0
    may = np.flatnonzero(base.allowed[joint] >> bit & 1)
    places = drawn_inputs(base.moves[may], joint[may], rank[may], base.most, base.n_inputs, _DEPENDENT, rng)
    return None if places is None else (base.variant, places)


def drawn_inputs(
    rows: Floats,
    joint: Ints,
    rank: Ints,
    most: Ints,
    n_inputs: int,
    tolerance: float,
    rng: np.random.Generator,
) -> tuple[int, ...] | None:
    """Joints of a random valid set of inputs; None where the draw finds none."""
    # ``rows`` (C, f) are coordinates along the free motions; of ``rank`` (C,) lower ones come first, those of
    # one rank in random order; ``tolerance`` as in independent_rows.
    order = rng.permutation(len(rows))
    order = order[np.argsort(rank[order], kind="stable")]
    count = np.zeros(len(most), dtype=np.int64)
    chosen = []
    for c in order.tolist():
        if count[joint[c]] < most[joint[c]]:
            count[joint[c]] += 1
            chosen.append(c)
    kept = independent_rows(rows[chosen], tolerance)
    if len(kept) < n_inputs:
        return None
    return tuple(sorted(int(joint[chosen[k]]) for k in kept[:n_inputs].tolist()))
