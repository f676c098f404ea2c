"""The search where there are too many distributions to look at all: exchange one input, best first.

A distribution's neighbours have one input on another joint, or other pairs for the multiple joints. What is
known to be best has its neighbours judged next, a few at a time: something better among them goes first. Now
and then a set that a lottery of independent coordinates drew is judged instead, so that a valley of the
criterion does not hold the search for ever.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from mbssa.mechanism import ByteArray, IntArray, Mechanism
from mbssa.singularities.treatment import independent_rows
from mbssa.transformations.base import Base
from mbssa.transformations.criteria import Criterion, keys_of
from mbssa.transformations.judged import Judged
from mbssa.transformations.symmetry import same_pairs

Array = npt.NDArray[np.float64]

#: Inputs as the search knows them: a choice of pairs, and the joint of each input, ascending.
Distribution = tuple[int, tuple[int, ...]]

#: Distributions judged at a time: so many at first, later this share of those judged before, but not more
#: than the last number. Small blocks turn to what is better sooner, large ones are judged faster.
BLOCK = 64
_SHARE = 16
LARGEST = 4096

#: Every so many blocks sets are drawn, this share of a block, instead of neighbours.
_DRAW_EVERY = 4
_DRAWN_SHARE = 16

#: Draws in a row that find nothing new before drawing stops.
_VAIN_DRAWS = 50

#: A search has settled when this many times the work of finding its best, and so many distributions more,
#: have brought nothing better.
_PATIENCE = 10
_AT_LEAST = 20_000

#: Repairs of the inputs that the model has: what is independent of them, the rest by chance.
_REPAIRS = 8

#: Distance of a row of unit size from the span of others below which it counts as dependent.
_DEPENDENT = 1e-7

#: Other choices of pairs that are looked at as neighbours of one distribution.
_OTHER_CHOICES = 16

Stop = Literal["", "time", "number", "settled", "interrupted"]


@dataclass(frozen=True, eq=False)
class Room:
    """Which distributions the question allows.

    Attributes
    ----------
    least, most : (V, J) int64, fewest and most inputs on joint j with choice v of pairs
    n_inputs : of all joints together
    """

    least: IntArray
    most: IntArray
    n_inputs: int

    def holds(self, one: Distribution) -> bool:
        """Whether a distribution is allowed.

        >>> room = Room(np.array([[0, 0]]), np.array([[1, 2]]), 2)
        >>> room.holds((0, (0, 1))), room.holds((0, (0, 0)))
        (True, False)
        """
        variant, places = one
        w = np.bincount(np.array(places, dtype=np.int64), minlength=self.most.shape[1])
        fits = (w >= self.least[variant]) & (w <= self.most[variant])
        return len(places) == self.n_inputs and bool(fits.all())


@dataclass(frozen=True, eq=False)
class Found:
    """What a search came to: rows in the order in which they were judged.

    ``stop`` says why it ended: "" where neither exchange nor chance brought anything new, else its "time" was
    up, it had judged the "number" that it may, nothing better had come for long ("settled"), or it was
    "interrupted" (Ctrl-C).
    """

    judged: Judged
    stop: Stop

    @property
    def looked_at(self) -> int:
        """Distributions judged."""
        return len(self.judged)


Judge = Callable[[int, npt.NDArray[np.int16]], Judged]


def best_first(
    judge: Judge,
    room: Room,
    wanted: Criterion,
    starts: Iterable[Distribution],
    draw: Callable[[np.random.Generator], Distribution | None],
    *,
    most: int,
    time_limit: float | None = None,
    progress: Callable[[int], None] | None = None,
    seed: int = 1,
    block: int = BLOCK,
    largest: int = LARGEST,
) -> Found:
    """Search by exchange of one input, best first.

    The same for the same arguments where no time limit ends it. Every distribution is judged once.

    Parameters
    ----------
    judge : judges distributions (K, n) of one choice of pairs
    room : what is allowed
    wanted : what is better
    starts : distributions to begin with; those that are not allowed are passed over
    draw : a new one by chance, or None
    most : distributions that may be judged
    time_limit : seconds; what is being judged when they are over is finished, so blocks get smaller
    progress : is called with the number judged so far
    block, largest : distributions judged at a time, first and at most
    """
    state = _State(judge, room, wanted, most, progress, seed, *_weights(room))
    begun = time.monotonic()
    deadline = np.inf if time_limit is None else begun + time_limit
    dice = np.random.default_rng(seed)
    stop: Stop = ""
    turn = vain = 0
    try:
        for one in starts:
            if room.holds(one) and (time.monotonic() < deadline or not state.looked_at):
                _judge_new(state, [one])
        while not stop and (state.heap or vain < _VAIN_DRAWS):
            turn += 1
            size = min(max(block, state.looked_at // _SHARE), largest, _in_time(state, begun, deadline))
            if state.looked_at >= most:
                stop = "number"
            elif time.monotonic() >= deadline:
                stop = "time"
            elif state.looked_at > _PATIENCE * state.best_at + _AT_LEAST:
                stop = "settled"
            elif vain < _VAIN_DRAWS and (turn % _DRAW_EVERY == 0 or not state.heap):
                drawn = [draw(dice) for _ in range(max(1, size // _DRAWN_SHARE))]
                new = _judge_new(state, [one for one in drawn if one is not None and room.holds(one)])
                vain = 0 if new else vain + 1
            elif state.heap:
                _expand(state, size)
    except KeyboardInterrupt:
        stop = "interrupted"
    return Found(Judged.joined([Judged.empty(room.n_inputs), *state.blocks]), stop)


def _in_time(state: _State, begun: float, deadline: float) -> int:
    """Distributions that take a quarter of the time that is left; 1 at least, even if they do not."""
    now = time.monotonic()
    if deadline == np.inf:
        return LARGEST
    return max(1, int((deadline - now) / 4 * state.looked_at / max(now - begun, 1e-3)))


Keys = npt.NDArray[np.uint64]


@dataclass
class _State:
    """What a search knows while it runs.

    ``seen`` holds a number of 64 bits for each distribution judged, the sum of random numbers of its joints
    and its choice of pairs. ``heap`` holds what may lead on: how good it is, how often it was its turn, minus
    its row (the newest first), how many of its neighbours have been gone through, and itself. ``best`` was
    found among the first ``best_at``.
    """

    judge: Judge
    room: Room
    wanted: Criterion
    most: int
    progress: Callable[[int], None] | None
    seed: int
    joint_weight: Keys
    variant_weight: Keys
    looked_at: int = 0
    best: tuple[float, ...] = (np.inf,)
    best_at: int = 0
    blocks: list[Judged] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    heap: list[tuple[tuple[float, ...], int, int, int, Distribution]] = field(default_factory=list)


def _weights(room: Room) -> tuple[Keys, Keys]:
    n_variants, n_joints = room.most.shape
    weights = np.random.default_rng(0).integers(0, 2**64, n_joints + n_variants, dtype=np.uint64)
    return weights[:n_joints], weights[n_joints:]


def _keys(state: _State, variant: int | IntArray, places: npt.NDArray[np.int16]) -> list[int]:
    sums = state.joint_weight[places].sum(axis=1, dtype=np.uint64) + state.variant_weight[variant]
    keys: list[int] = sums.tolist()
    return keys


def _judge_new(state: _State, several: Iterable[Distribution]) -> int:
    """Judge those that are new and may still be judged; how many they are."""
    by_variant: dict[int, list[tuple[int, ...]]] = {}
    for variant, places in several:
        by_variant.setdefault(variant, []).append(places)
    before = state.looked_at
    for variant, rows in sorted(by_variant.items()):
        table = np.array(rows, dtype=np.int16)
        new: list[int] = []
        for row, key in enumerate(_keys(state, variant, table)):
            if key not in state.seen and state.looked_at + len(new) < state.most:
                state.seen.add(key)
                new.append(row)
        if new:
            # In joint order, because what rows have in common with the row before is judged once.
            order = np.lexsort(table[new].T[::-1])
            _remember(state, state.judge(variant, table[new][order]).take(np.argsort(order)))
    return state.looked_at - before


def _remember(state: _State, rows: Judged) -> None:
    state.blocks.append(rows)
    invalid = np.where(rows.valid > 0, 0.0, 1.0)
    goodness = np.column_stack([invalid, *keys_of(rows, state.wanted)]).tolist()
    for k in np.flatnonzero(rows.determined).tolist():
        one = (int(rows.variant[k]), tuple(rows.places[k].tolist()))
        heapq.heappush(state.heap, (tuple(goodness[k]), 0, -(state.looked_at + k), 0, one))
    state.looked_at += len(rows)
    if state.heap and state.heap[0][0] < state.best:
        state.best, state.best_at = state.heap[0][0], state.looked_at
    if state.progress is not None:
        state.progress(state.looked_at)


def _expand(state: _State, block: int) -> None:
    """Judge new neighbours, so many, of the best that have any left."""
    chosen: dict[int, Distribution] = {}
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
    _judge_new(state, chosen.values())


def _neighbours(state: _State, one: Distribution, row: int) -> tuple[IntArray, npt.NDArray[np.int16]]:
    """All distributions that differ by one exchange, in an order by chance that the row decides."""
    variant, places = one
    room = state.room
    dice = np.random.default_rng((state.seed, row))
    w = np.bincount(places, minlength=room.most.shape[1])
    joins = np.flatnonzero(w < room.most[variant])
    found = [np.zeros((0, room.n_inputs), dtype=np.int64)]
    for leaves in np.flatnonzero(w > room.least[variant]).tolist():
        changed = np.tile(np.array(places), (len(joins), 1))
        changed[:, places.index(leaves)] = joins
        found.append(changed[joins != leaves])
    exchanged = np.sort(np.concatenate(found), axis=1).astype(np.int16)
    others = np.setdiff1d(np.arange(len(room.most)), variant)
    if len(others) > _OTHER_CHOICES:
        others = np.sort(dice.choice(others, _OTHER_CHOICES, replace=False))
    others = np.array([v for v in others.tolist() if room.holds((v, places))], dtype=np.int64)
    order = dice.permutation(len(exchanged) + len(others))
    variants = np.concatenate([np.full(len(exchanged), variant), others])
    same = np.tile(np.array(places, dtype=np.int16), (len(others), 1)).reshape(-1, room.n_inputs)
    return variants[order], np.concatenate([exchanged, same])[order]


def search_inputs(
    found: Sequence[Base],
    mechanism: Mechanism,
    judge: Judge,
    wanted: Criterion,
    *,
    most: int,
    largest: int = LARGEST,
    time_limit: float | None = None,
    progress: Callable[[int], None] | None = None,
    seed: int = 1,
) -> Found:
    """Search from the inputs that a model has now, from their repairs, and from valid sets by chance.

    Parameters
    ----------
    found : the undriven mechanism, a base for each choice of pairs for its multiple joints
    mechanism : as it is driven now
    judge, wanted, most, largest, time_limit, progress, seed : as :func:`best_first` takes them

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.transformations.base import bases
    >>> from mbssa.transformations.criteria import criterion
    >>> from mbssa.transformations.judged import judge
    >>> from mbssa.transformations.question import Question
    >>> from mbssa.transformations.table import table
    >>> rotor, known = mbssa.load("rotor"), table()
    >>> found = bases(rotor, Question())[0]
    >>> def judged(variant, places):
    ...     return judge(found[variant], places, known)
    >>> looked = search_inputs(found, rotor, judged, criterion("groups"), most=157)
    >>> looked.stop, int(looked.judged.n_groups[looked.judged.valid > 0].max())
    ('number', 9)
    """
    room = Room(
        np.stack([base.least for base in found]), np.stack([base.most for base in found]), found[0].n_inputs
    )
    dice = np.random.default_rng(seed)
    starts: list[Distribution | None] = []
    for base in found:
        here = same_pairs(mechanism, base.bare)
        if here is not None:
            driven = np.zeros_like(mechanism.driven)
            driven[here] = mechanism.driven
            now = np.repeat(np.arange(len(driven)), np.bitwise_count(driven)).tolist()
            starts += [(base.variant, tuple(now)), *(_drawn(base, driven, dice) for _ in range(_REPAIRS))]

    def draw(dice: np.random.Generator) -> Distribution | None:
        base = found[int(dice.integers(len(found)))]
        return _drawn(base, np.zeros_like(mechanism.driven), dice)

    sound = [one for one in starts if one is not None]
    return best_first(
        judge, room, wanted, sound, draw,
        most=most, largest=largest, time_limit=time_limit, progress=progress, seed=seed,
    )  # fmt: skip


def _drawn(base: Base, driven: ByteArray, dice: np.random.Generator) -> Distribution | None:
    """A valid set by chance, made of what is driven now as far as that is independent."""
    joint = np.repeat(np.arange(base.mechanism.n_joints), base.mechanism.grade)
    bit = np.arange(len(joint)) - base.start[joint]
    rank = np.full(len(joint), 2)
    known = np.flatnonzero(joint < len(driven))
    rank[known[driven[joint[known]] >> bit[known] & 1 == 1]] = 1
    rank[(base.required[joint] >> bit & 1 == 1) | (base.locked[joint] > 0)] = 0
    may = np.flatnonzero(base.allowed[joint] >> bit & 1)
    places = drawn_inputs(base.moves[may], joint[may], rank[may], base.most, base.n_inputs, _DEPENDENT, dice)
    return None if places is None else (base.variant, places)


def drawn_inputs(
    rows: Array,
    joint: IntArray,
    rank: IntArray,
    most: IntArray,
    n_inputs: int,
    tolerance: float,
    dice: np.random.Generator,
) -> tuple[int, ...] | None:
    """Joints of a valid set of inputs drawn by chance; None where the draw leads to none.

    Parameters
    ----------
    rows : (C, f) what each coordinate stops of the free motions
    joint : (C,) joint of each coordinate
    rank : (C,) coordinates of a lower rank come first, those of one rank in an order by chance
    most : (J,) most inputs on each joint
    n_inputs : coordinates wanted
    tolerance : as :func:`mbssa.singularities.treatment.independent_rows` takes it

    Examples
    --------
    >>> dice = np.random.default_rng(1)
    >>> rows = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> drawn_inputs(rows, np.arange(3), np.array([1, 0, 1]), np.array([1, 1, 1]), 2, 1e-9, dice)
    (1, 2)
    """
    order = dice.permutation(len(rows))
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
