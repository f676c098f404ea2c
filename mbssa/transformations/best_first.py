"""The search where there are too many distributions to look at all: exchange one input, best first.

A distribution's neighbours have one input on another joint, or other pairs for the multiple joints. What is
known to be best has its neighbours judged next, a few at a time: something better among them goes first. Now
and then a set that a lottery of independent coordinates drew is judged instead, so that a valley of the
criterion does not hold the search for ever.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from mbssa.mechanism import IntArray
from mbssa.singularities.treatment import independent_rows
from mbssa.transformations.criteria import Criterion, keys_of
from mbssa.transformations.judged import Judged

Array = npt.NDArray[np.float64]

#: Inputs as the search knows them: a choice of pairs, and the joint of each input, ascending.
Distribution = tuple[int, tuple[int, ...]]

#: Distributions judged at a time.
BLOCK = 64

#: Every so many blocks a drawn set is judged instead of neighbours.
_DRAW_EVERY = 4

#: Draws in a row that find nothing new before drawing stops.
_VAIN_DRAWS = 50

#: Other choices of pairs that are looked at as neighbours of one distribution.
_OTHER_CHOICES = 16

Stop = Literal["", "time", "number", "interrupted"]


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
    up, it had judged the "number" that it may, or it was "interrupted" (Ctrl-C).
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
    time_limit : seconds; what is being judged when they are over is finished
    progress : is called with the number judged so far
    """
    state = _State(judge, room, wanted, most, progress, seed, *_weights(room))
    deadline = np.inf if time_limit is None else time.monotonic() + time_limit
    dice = np.random.default_rng(seed)
    stop: Stop = ""
    turn = vain = 0
    try:
        for one in starts:
            if room.holds(one) and state.looked_at < most:
                _judge_new(state, one[0], np.array([one[1]], dtype=np.int16))
        while not stop and (state.heap or vain < _VAIN_DRAWS):
            turn += 1
            if state.looked_at >= most:
                stop = "number"
            elif time.monotonic() >= deadline:
                stop = "time"
            elif vain < _VAIN_DRAWS and (turn % _DRAW_EVERY == 0 or not state.heap):
                vain = 0 if _judge_drawn(state, draw(dice)) else vain + 1
            elif state.heap:
                _expand(state, block)
    except KeyboardInterrupt:
        stop = "interrupted"
    return Found(Judged.joined([Judged.empty(room.n_inputs), *state.blocks]), stop)


Keys = npt.NDArray[np.uint64]


@dataclass
class _State:
    """What a search knows while it runs.

    ``seen`` holds a number of 64 bits for each distribution judged, the sum of random numbers of its joints
    and its choice of pairs. ``heap`` holds what may lead on: how good it is, how often it was its turn, minus
    its row (the newest first), how many of its neighbours have been gone through, and itself.
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


def _judge_drawn(state: _State, drawn: Distribution | None) -> int:
    if drawn is None or not state.room.holds(drawn):
        return 0
    return _judge_new(state, drawn[0], np.array([drawn[1]], dtype=np.int16))


def _judge_new(state: _State, variant: int, places: npt.NDArray[np.int16]) -> int:
    """Judge those that are new and may still be judged; how many they are."""
    new: list[int] = []
    for row, key in enumerate(_keys(state, variant, places)):
        if key not in state.seen and state.looked_at + len(new) < state.most:
            state.seen.add(key)
            new.append(row)
    if not new:
        return 0
    rows = state.judge(variant, places[new])
    state.blocks.append(rows)
    invalid = np.where(rows.valid > 0, 0.0, 1.0)
    goodness = np.column_stack([invalid, *keys_of(rows, state.wanted)]).tolist()
    for k in np.flatnonzero(rows.determined).tolist():
        one = (variant, tuple(rows.places[k].tolist()))
        heapq.heappush(state.heap, (tuple(goodness[k]), 0, -(state.looked_at + k), 0, one))
    state.looked_at += len(new)
    if state.progress is not None:
        state.progress(state.looked_at)
    return len(new)


def _expand(state: _State, block: int) -> None:
    """Judge some new neighbours of the best that has any left."""
    good, turns, serial, begin, one = heapq.heappop(state.heap)
    variant, places = _neighbours(state, one, -serial)
    keys = _keys(state, variant, places)
    end = begin
    chosen: list[int] = []
    while end < len(keys) and len(chosen) < block:
        if keys[end] not in state.seen:
            chosen.append(end)
        end += 1
    if end < len(keys):
        heapq.heappush(state.heap, (good, turns + 1, serial, end, one))
    for v in np.unique(variant[chosen]).tolist():
        _judge_new(state, v, places[[k for k in chosen if variant[k] == v]])


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


def drawn_inputs(
    rows: Array,
    joint: IntArray,
    required: npt.NDArray[np.bool_],
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
    required : (C,) coordinates that come first
    most : (J,) most inputs on each joint
    n_inputs : coordinates wanted
    tolerance : as :func:`mbssa.singularities.treatment.independent_rows` takes it

    Examples
    --------
    >>> dice = np.random.default_rng(1)
    >>> rows = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> none = np.zeros(3, dtype=bool)
    >>> drawn_inputs(rows, np.array([0, 1, 2]), none, np.array([1, 1, 1]), 2, 1e-9, dice)
    (0, 2)
    """
    order = dice.permutation(len(rows))
    order = order[np.argsort(~required[order], kind="stable")]
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
