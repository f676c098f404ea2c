"""Best-first search by exchange of one input, where schemes are too many for an exhaustive search."""

# Neighbours of a scheme have one input on another joint, or other pairs for the multiple joints. Those of the
# best scheme are evaluated next, a few at a time; at intervals a random set of independent coordinates is
# evaluated instead, so that the search leaves local optima of the criterion.

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Literal

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Bools
from mbssa.input_search.criteria import Criterion, keys_of
from mbssa.input_search.enumerate import Schemes
from mbssa.input_search.evaluate import Evaluated
from mbssa.input_search.symmetry import present_inputs
from mbssa.input_search.undriven import Undriven
from mbssa.mechanism import Mechanism
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


def best_first(
    evaluate: Evaluate,
    schemes: Sequence[Schemes],
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
    search = _Search(evaluate, schemes, wanted, most, progress, np.random.default_rng(seed))
    clock = Clock() if clock is None else clock
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
                drawn = [draw(search.rng) for _ in range(max(1, size // _DRAWN_SHARE))]
                vain = 0 if search.enter(one for one in drawn if one is not None) else vain + 1
            else:
                search.enter(search.exchanged(size))
    except KeyboardInterrupt:
        stop = "interrupted"
    found = Evaluated.joined([Evaluated.empty(schemes[0].n_inputs), *search.blocks])
    return Outcome(found, len(found), stop)


@dataclass
class _Search:
    """State of a search."""

    evaluate: Evaluate
    schemes: Sequence[Schemes]  # that the query allows, of each choice of pairs
    wanted: Criterion
    most: int
    progress: Progress | None
    rng: np.random.Generator
    n_evaluated: int = 0
    best: tuple[float, ...] = (np.inf,)  # found among the first ``best_at``
    best_at: int = 0
    blocks: list[Evaluated] = field(default_factory=list)
    seen: set[Scheme] = field(default_factory=set)
    # open: sort keys, minus the row (newest first), and the neighbours that are not evaluated yet
    open: list[tuple[tuple[float, ...], int, Iterator[Scheme]]] = field(default_factory=list)

    @cached_property
    def may(self) -> list[Bools]:
        """Whether a joint may have w inputs (J, W), of each choice of pairs; the last column is False."""
        return [np.pad(each.ways > 0, ((0, 0), (0, 1))) for each in self.schemes]

    def enter(self, several: Iterable[Scheme]) -> bool:
        """Evaluate new schemes as far as the query and the limit allow; whether there are any."""
        n, before = self.schemes[0].n_inputs, self.n_evaluated
        new = [one for one in dict.fromkeys(several) if one not in self.seen and len(one[1]) == n]
        self.seen.update(new)
        for variant in sorted({variant for variant, _ in new}):
            places = np.array([places for v, places in new if v == variant], dtype=np.int16)
            places = places[self.schemes[variant].sets(places) > 0][: self.most - self.n_evaluated]
            if not len(places):
                continue
            # In joint order, because what rows have in common with the row before is evaluated once.
            order = np.lexsort(places.T[::-1])
            rows = self.evaluate(variant, places[order]).take(np.argsort(order))
            self.blocks.append(rows)
            invalid = np.where(rows.valid > 0, 0.0, 1.0)
            goodness = np.column_stack([invalid, *keys_of(rows, self.wanted)]).tolist()
            for k in np.flatnonzero(rows.determined).tolist():
                near = self.neighbours(variant, tuple(rows.places[k].tolist()))
                heapq.heappush(self.open, (tuple(goodness[k]), -(self.n_evaluated + k), near))
            self.n_evaluated += len(rows)
            if self.open and self.open[0][0] < self.best:
                self.best, self.best_at = self.open[0][0], self.n_evaluated
            if self.progress is not None:
                self.progress(self.n_evaluated, self.most)
        return self.n_evaluated > before

    def exchanged(self, size: int) -> list[Scheme]:
        """So many new neighbours of the best open schemes."""
        chosen: list[Scheme] = []
        while self.open and len(chosen) < size:
            chosen += islice(self.open[0][2], size - len(chosen))
            if len(chosen) < size:
                heapq.heappop(self.open)
        return chosen

    def neighbours(self, variant: int, places: tuple[int, ...]) -> Iterator[Scheme]:
        """New schemes that differ by one exchange, in random order."""
        may = self.may[variant]
        w, every = np.bincount(places, minlength=len(may)), np.arange(len(may))
        joins = np.flatnonzero(may[every, w + 1]).tolist()
        found = []
        for leaves in np.flatnonzero(may[every, w - 1]).tolist():
            at = places.index(leaves)
            rest = (*places[:at], *places[at + 1 :])
            found += [(variant, tuple(sorted((*rest, joint)))) for joint in joins if joint != leaves]
        others = np.setdiff1d(np.arange(len(self.may)), variant)
        found += [(v, places) for v in self.rng.permutation(others)[:_OTHER_CHOICES].tolist()]
        for k in self.rng.permutation(len(found)).tolist():
            if found[k] not in self.seen:
                yield found[k]


def starts_of(bases: Sequence[Undriven], mechanism: Mechanism, seed: int = 1) -> Iterator[Scheme]:
    """First schemes: the present inputs of a model, and random completions of the independent ones."""
    rng = np.random.default_rng(seed)
    for base in bases:
        driven = present_inputs(mechanism, base)
        if driven is not None:
            yield base.variant, tuple(base.joint[driven].tolist())
            yield from filter(None, (drawn(base, rng, driven) for _ in range(_REPAIRS)))


def drawn(base: Undriven, rng: np.random.Generator, driven: Bools | None = None) -> Scheme | None:
    """A random scheme with a valid set that contains the independent ones of these inputs, or None."""
    row = base.coordinates.row
    joint = base.joint[row]
    # Required coordinates first, then these inputs, then others.
    rank = np.full(len(row), 2) if driven is None else 2 - driven[row]
    rank = np.where(base.coordinates.required | (base.locked[joint] > 0), 0, rank)
    order = rng.permutation(len(row))
    left, chosen = base.most.copy(), []
    for c in order[np.argsort(rank[order], kind="stable")].tolist():
        if left[joint[c]]:
            left[joint[c]] -= 1
            chosen.append(c)
    kept = independent_rows(base.coordinates.moves[chosen], _DEPENDENT)[: base.n_inputs]
    places = tuple(np.sort(joint[chosen][kept]).tolist())
    return (base.variant, places) if len(places) == base.n_inputs else None
