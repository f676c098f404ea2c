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

#: Schemes of the first block where time is limited.
_FIRST = 64

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
            return min(most, _FIRST)
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
    """Search by exchange of one input, best first; no scheme is evaluated twice."""
    # Deterministic where no time limit ends it. ``starts`` that are not allowed are passed over; the block
    # under evaluation is finished at the limit of ``clock``, so blocks become smaller; ``block`` schemes are
    # evaluated at first, ``largest`` at most.
    state = _State(evaluate, allowed, wanted, most, progress, seed, *_weights(allowed))
    clock = Clock() if clock is None else clock
    rng = np.random.default_rng(seed)
    stop: Stop = ""
    turn = vain = 0
    try:
        for one in starts:
            if allowed.holds(one) and not (clock.over and state.n_evaluated):
                _evaluate_new(state, [one])
        while not stop and (state.heap or vain < _VAIN_DRAWS):
            turn += 1
            size = min(max(block, state.n_evaluated // _SHARE), clock.fitting(state.n_evaluated, largest))
            if state.n_evaluated >= most:
                stop = "number"
            elif clock.over:
                stop = "time"
            elif state.n_evaluated > _PATIENCE * state.best_at + _AT_LEAST:
                stop = "settled"
            elif vain < _VAIN_DRAWS and (turn % _DRAW_EVERY == 0 or not state.heap):
                drawn = [draw(rng) for _ in range(max(1, size // _DRAWN_SHARE))]
                new = _evaluate_new(state, [one for one in drawn if one is not None and allowed.holds(one)])
                vain = 0 if new else vain + 1
            elif state.heap:
                _expand(state, size)
    except KeyboardInterrupt:
        stop = "interrupted"
    found = Evaluated.joined([Evaluated.empty(allowed.n_inputs), *state.blocks])
    return Outcome(found, len(found), stop)


Keys = npt.NDArray[np.uint64]


@dataclass
class _State:
    """State of a search."""

    evaluate: Evaluate
    allowed: Allowed
    wanted: Criterion
    most: int
    progress: Progress | None
    seed: int
    joint_weight: Keys
    variant_weight: Keys
    n_evaluated: int = 0
    best: tuple[float, ...] = (np.inf,)  # found among the first ``best_at``
    best_at: int = 0
    blocks: list[Evaluated] = field(default_factory=list)
    # seen: hashes of 64 bits of the schemes evaluated: sums of random numbers of joints and pairs
    seen: set[int] = field(default_factory=set)
    # heap: open schemes: sort keys, turns, minus the row (newest first), neighbours visited, scheme
    heap: list[tuple[tuple[float, ...], int, int, int, Scheme]] = field(default_factory=list)


def _weights(allowed: Allowed) -> tuple[Keys, Keys]:
    n_variants, n_joints = allowed.most.shape
    weights = np.random.default_rng(0).integers(0, 2**64, n_joints + n_variants, dtype=np.uint64)
    return weights[:n_joints], weights[n_joints:]


def _keys(state: _State, variant: int | Ints, places: npt.NDArray[np.int16]) -> list[int]:
    sums = state.joint_weight[places].sum(axis=1, dtype=np.uint64) + state.variant_weight[variant]
    keys: list[int] = sums.tolist()
    return keys


def _evaluate_new(state: _State, several: Iterable[Scheme]) -> int:
    """Evaluate new schemes as far as the limit allows; return their number."""
    by_variant: dict[int, list[tuple[int, ...]]] = {}
    for variant, places in several:
        by_variant.setdefault(variant, []).append(places)
    before = state.n_evaluated
    for variant, rows in sorted(by_variant.items()):
        table = np.array(rows, dtype=np.int16)
        new: list[int] = []
        for row, key in enumerate(_keys(state, variant, table)):
            if key not in state.seen and state.n_evaluated + len(new) < state.most:
                state.seen.add(key)
                new.append(row)
        if new:
            # In joint order, because what rows have in common with the row before is evaluated once.
            order = np.lexsort(table[new].T[::-1])
            _remember(state, state.evaluate(variant, table[new][order]).take(np.argsort(order)))
    return state.n_evaluated - before


def _remember(state: _State, rows: Evaluated) -> None:
    state.blocks.append(rows)
    invalid = np.where(rows.valid > 0, 0.0, 1.0)
    goodness = np.column_stack([invalid, *keys_of(rows, state.wanted)]).tolist()
    for k in np.flatnonzero(rows.determined).tolist():
        one = (int(rows.variant[k]), tuple(rows.places[k].tolist()))
        heapq.heappush(state.heap, (tuple(goodness[k]), 0, -(state.n_evaluated + k), 0, one))
    state.n_evaluated += len(rows)
    if state.heap and state.heap[0][0] < state.best:
        state.best, state.best_at = state.heap[0][0], state.n_evaluated
    if state.progress is not None:
        state.progress(state.n_evaluated, state.most)


def _expand(state: _State, block: int) -> None:
    """Evaluate a block of new neighbours of the best open schemes."""
    chosen: dict[int, Scheme] = {}
    kept = []
    while state.heap and len(chosen) < block:
        good, turns, serial, begin, one = heapq.heappop(state.heap)
        variant, places = _neighbours(state, one, -serial)
        keys = _keys(state, variant, places)
        end = begin
        while end < len(keys) and len(chosen) < block:
            if keys[end] not in state.seen:
                chosen[keys[end]] = (int(variant[end]), tuple(places[end].tolist()))
            end += 1
        if end < len(keys):
            kept.append((good, turns + 1, serial, end, one))
    for node in kept:
        heapq.heappush(state.heap, node)
    _evaluate_new(state, chosen.values())


def _neighbours(state: _State, one: Scheme, row: int) -> tuple[Ints, npt.NDArray[np.int16]]:
    """All schemes that differ by one exchange, in a random order seeded by the row."""
    variant, places = one
    allowed = state.allowed
    rng = np.random.default_rng((state.seed, row))
    w = np.bincount(places, minlength=allowed.most.shape[1])
    joins = np.flatnonzero(w < allowed.most[variant])
    found = [np.zeros((0, allowed.n_inputs), dtype=np.int64)]
    for leaves in np.flatnonzero(w > allowed.least[variant]).tolist():
        changed = np.tile(np.array(places), (len(joins), 1))
        changed[:, places.index(leaves)] = joins
        found.append(changed[joins != leaves])
    exchanged = np.sort(np.concatenate(found), axis=1).astype(np.int16)
    others = np.setdiff1d(np.arange(len(allowed.most)), variant)
    if len(others) > _OTHER_CHOICES:
        others = np.sort(rng.choice(others, _OTHER_CHOICES, replace=False))
    others = np.array([v for v in others.tolist() if allowed.holds((v, places))], dtype=np.int64)
    order = rng.permutation(len(exchanged) + len(others))
    variants = np.concatenate([np.full(len(exchanged), variant), others])
    same = np.tile(np.array(places, dtype=np.int16), (len(others), 1)).reshape(-1, allowed.n_inputs)
    return variants[order], np.concatenate([exchanged, same])[order]


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
