"""Made-up DAGs and mechanisms of any size, that keep predictions honest: the same seed gives the same one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

import mbssa
from mbssa.mechanism import JointGeometry, Mechanism
from mbssa.motion import DefaultMotion, InputLaw
from routes.event_log import EventLog

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Points = npt.NDArray[np.complex128]

#: Of each group, the indices from 0 of those that it needs, all lower than its own.
Needs = tuple[tuple[int, ...], ...]


def wide(groups: int) -> Needs:
    """One group, and all others that need it and nothing else: as the legs of a platform do.

    >>> wide(4)
    ((), (0,), (0,), (0,))
    """
    return tuple((0,) if group else () for group in range(groups))


def deep(groups: int) -> Needs:
    """A chain: each group needs the one before.

    >>> deep(4)
    ((), (0,), (1,), (2,))
    """
    return tuple((group - 1,) if group else () for group in range(groups))


def layered(levels: int, width: int) -> Needs:
    """Levels of equal width: each group needs the one below it and that one's neighbour, in a ring.

    >>> layered(2, 3)
    ((), (), (), (0, 1), (1, 2), (0, 2))
    """
    return tuple(
        tuple(sorted({(level - 1) * width + (place + step) % width for step in (0, 1)})) if level else ()
        for level in range(levels)
        for place in range(width)
    )


def random_dag(groups: int, density: float, seed: int = 0) -> Needs:
    """Each group needs each lower one with the probability ``density``, independently.

    >>> random_dag(5, 0.5, seed=1)
    ((), (0,), (0, 1), (2,), (0, 1, 2, 3))
    """
    rng = np.random.default_rng(seed)
    needed = rng.binomial(np.arange(groups), density).tolist()
    return tuple(
        tuple(sorted(rng.choice(group, count, replace=False).tolist())) if count else ()
        for group, count in enumerate(needed)
    )


def costs(groups: int, seed: int = 0, *, least: float = 1e-5, most: float = 1e-3) -> Floats:
    """(groups,) s of each group's task: random, evenly spread between two powers of ten.

    >>> costs(3).round(6).tolist()
    [0.000188, 3.5e-05, 1.2e-05]
    """
    spread = np.random.default_rng(seed).uniform(np.log10(least), np.log10(most), groups)
    powers: Floats = 10.0**spread
    return powers


def in_chunks(needs: Needs, chunks: int) -> tuple[Ints, Ints]:
    """Tasks of groups that are cut into chunks, as :func:`routes.simulate.simulate` takes them.

    Parameters
    ----------
    needs : of each group, the groups that it needs: the same chunk of them
    chunks : how many

    Returns
    -------
    Starts (n + 1,) and needs (m,) of n = chunks · groups tasks; task = chunk · groups + group.

    >>> start, before = in_chunks(deep(2), 2)
    >>> [before[start[t]:start[t + 1]].tolist() for t in range(4)]
    [[], [0], [], [2]]
    """
    groups = len(needs)
    flat = np.array([need for before in needs for need in before], dtype=np.int64)
    owner = np.repeat(np.arange(groups), [len(before) for before in needs])
    shift = groups * np.arange(chunks)[:, None]
    needed, task = (shift + flat).ravel(), (shift + owner).ravel()
    start = np.zeros(groups * chunks + 1, dtype=np.int64)
    np.cumsum(np.bincount(task, minlength=groups * chunks), out=start[1:])
    return start, needed[np.argsort(task, kind="stable")]


def log_faults(events: Floats, needs_start: Ints, needs: Ints) -> list[str]:
    """Faults of a run (n, 3) of tasks as groups of one chunk; needs as of ``in_chunks``."""
    calls = tuple((task,) for task in range(len(events)))
    log = EventLog.of(events, calls, np.array([0, 1]))
    return log.faults([part.tolist() for part in np.split(needs, needs_start[1:-1])])


# --- a mechanism -----------------------------------------------------------------------------------

#: Instants of one turn at which a mechanism is made to close, and of the motion that it carries.
_TURN, _STEPS = 360, 361

#: m: radius of the cranks; how far the points go from their mean on which groups stand; from there to a
#: pivot on the frame; between columns and between levels.
_CRANK, _WAY, _ARM, _APART, _UP = 0.15, 0.12, 0.5, 0.6, 0.4

#: m: feet of a group nearer or farther than this at any instant are not used.
_NEAREST, _FARTHEST = 0.25, 1.5

#: Where on a link another group may stand, in lengths of the link from its foot.
_PLACES = np.arange(0.3, 1.65, 0.1)


@dataclass(frozen=True, eq=False)
class _Link:
    """A body over a turn: (T,) complex base point and direction, and its length, m."""

    body: int
    base: Points
    along: Points
    length: float


@dataclass(frozen=True, eq=False)
class _Foot:
    """A point of a body (0 is the frame) that a group stands on: (T,) complex m."""

    body: int
    path: Points


class _Drawing:
    """Bodies and joints as they are added."""

    def __init__(self) -> None:
        self.bodies = 1
        self.pairs: list[tuple[int, int, str, int]] = []
        self.geometry: list[JointGeometry] = []

    def body(self) -> int:
        self.bodies += 1
        return self.bodies - 1

    def joint(self, a: int, b: int, at: complex, *, driven: int = 0, slot: complex | None = None) -> None:
        """A hinge at a point, or, with its direction on body a, a slot in which a pin of body b runs."""
        self.pairs.append((a + 1, b + 1, "R" if slot is None else "SLOT", driven))
        axis = None if slot is None else (slot.real, slot.imag)
        self.geometry.append(JointGeometry(point=(at.real, at.imag), axis=axis))


def dyads(
    groups: int = 100, width: int = 10, *, cranks: int = 1, slots: float = 0.2, seed: int = 0
) -> Mechanism:
    """A planar mechanism of so many structural groups, which closes over a whole turn of its cranks.

    Cranks are the first level; every further level has ``width`` groups in columns, the last level what
    is left. A group is an RRR dyad, or one body on a hinge with a slot. It stands on the group below it
    in its column, and on the frame or, as some dyads do, on a group of the column beside it.

    Parameters
    ----------
    groups : structural groups in all, cranks too
    width : groups of a level above the first, and the most that can be solved side by side; 1 is a chain
    cranks : driven cranks, no more than ``width``; all turn once in the second that the motion lasts
    slots : share of groups with a slot, from 0 to 1
    seed : of all that is random

    Returns
    -------
    A mechanism with geometry and a motion of 361 instants, whose groups form 1 + (groups - cranks) / width
    levels, rounded up. Lengths of links leave room in every position of the motion: neither stretched
    nor folded. Cranks that turn otherwise than in step may not have that room.

    Raises
    ------
    ValueError
        Numbers of groups, columns or cranks, or a share, that cannot be: all faults at once.

    Examples
    --------
    >>> import mbssa
    >>> from synthetic import dyads
    >>> structure = mbssa.decompose(dyads(groups=12, width=4))
    >>> structure.n_groups, [len(level) for level in structure.levels]
    (12, [1, 4, 4, 3])
    """
    faults = []
    if not 1 <= cranks <= width:
        faults.append(f"cranks = {cranks} with width = {width}: write 1 to as many as the width")
    if groups < max(cranks, 1):
        faults.append(f"groups = {groups}: write {max(cranks, 1)}, the number of cranks, or more")
    if not 0 <= slots <= 1:
        faults.append(f"slots = {slots}: write a share from 0 to 1")
    if faults:
        raise ValueError("; ".join(faults))
    rng = np.random.default_rng(seed)
    drawing = _Drawing()
    below = [_crank(drawing, rng, place) for place in range(cranks)]
    for first in range(cranks, groups, width):
        level = 1 + (first - cranks) // width
        columns = range(min(width, groups - first))
        place = [column * _APART + level * _UP * 1j for column in columns]
        below = [
            _group(
                drawing, rng, below[column % len(below)], _beside(below, column, rng), place[column], slots
            )
            for column in columns
        ]
    made = mbssa.from_pairs(drawing.bodies, drawing.pairs, "planar", name=f"dyads_{groups}")
    turn = InputLaw("speed", {"rate": 2 * np.pi})
    inputs = {f"1-{crank + 2}.angle": turn for crank in range(cranks)}
    return replace(
        made,
        joint_geometry=dict(enumerate(drawing.geometry)),
        motion=DefaultMotion(duration=1.0, steps=_STEPS, inputs=inputs),
        title=f"{groups} groups, {width} beside each other, seed {seed}",
        source="made up by synthetic",
    )


def _crank(drawing: _Drawing, rng: np.random.Generator, place: int) -> list[_Link]:
    pivot = place * _APART + 0j
    along = np.exp(1j * (rng.uniform(0, 2 * np.pi) + np.arange(_TURN) * 2 * np.pi / _TURN))
    body = drawing.body()
    drawing.joint(0, body, pivot, driven=1)
    return [_Link(body, np.full(_TURN, pivot), along, _CRANK)]


def _beside(below: Sequence[list[_Link]], column: int, rng: np.random.Generator) -> list[_Link] | None:
    """A group of the level below in a column next to this one; None for the frame."""
    side = column + (1 if rng.random() < 0.5 else -1)
    if rng.random() < 0.5 or side < 0 or side % len(below) == column % len(below):
        return None
    return below[side % len(below)]


def _group(
    drawing: _Drawing,
    rng: np.random.Generator,
    below: list[_Link],
    beside: list[_Link] | None,
    place: complex,
    slots: float,
) -> list[_Link]:
    """A group on the one below; a dyad also on the one beside, if its feet stay within reach; its links."""
    one = _foot(below, rng)
    middle = one.path.mean()
    way = np.angle(place - middle)
    if rng.random() < slots:
        # Across the pin's way, so that the pin turns the arm and does not only run along the slot.
        across = np.angle(np.mean((one.path - middle) ** 2)) / 2 + np.pi / 2
        if np.cos(across - way) < 0:
            across += np.pi
        return _arm(drawing, one, _Foot(0, np.full(_TURN, middle + _ARM * np.exp(1j * across))))
    two = _foot(beside, rng) if beside is not None else one
    distance = np.abs(two.path - one.path)
    if not _NEAREST <= distance.min() <= distance.max() <= _FARTHEST:
        way += rng.uniform(-0.5, 0.5)
        two = _Foot(0, np.full(_TURN, middle + _ARM * np.exp(1j * way)))
    return _dyad(drawing, rng, one, two)


def _foot(links: list[_Link], rng: np.random.Generator) -> _Foot:
    """A point of one of the links whose way is near what all groups get, or else the nearest to it."""
    paths = np.array([link.base + _PLACES[:, None] * link.length * link.along for link in links])
    ways = np.abs(paths - paths.mean(axis=-1, keepdims=True)).max(axis=-1)
    fit = np.argwhere(np.abs(ways - _WAY) < 0.2 * _WAY)
    if not len(fit):
        fit = np.argwhere(np.abs(ways - _WAY) == np.abs(ways - _WAY).min())
    link, place = fit[rng.integers(len(fit))]
    return _Foot(links[link].body, paths[link, place])


def _dyad(drawing: _Drawing, rng: np.random.Generator, one: _Foot, two: _Foot) -> list[_Link]:
    """Two links from two feet to their hinge, which stays on one side of the line between the feet.

    On the side where the link that turns less turns more: a foot that went around the hinge would leave
    the other link still.
    """
    between = two.path - one.path
    distance = np.abs(between)
    a, b = (distance.max() * rng.uniform(0.7, 0.8, 2)).tolist()
    along = (distance**2 + a * a - b * b) / (2 * distance)
    across = 1j * np.sqrt(a * a - along**2)
    hinges = [one.path + between / distance * (along + side * across) for side in (1, -1)]
    hinge = max(hinges, key=lambda at: min(_turns((at - one.path) / a), _turns((at - two.path) / b)))
    first, second = drawing.body(), drawing.body()
    drawing.joint(one.body, first, one.path[0])
    drawing.joint(first, second, hinge[0])
    drawing.joint(two.body, second, two.path[0])
    return [
        _Link(first, one.path, (hinge - one.path) / a, a),
        _Link(second, two.path, (hinge - two.path) / b, b),
    ]


def _turns(along: Points) -> float:
    """Largest distance of unit vectors from their mean direction."""
    return float(np.abs(along - along.mean()).max())


def _arm(drawing: _Drawing, pin: _Foot, pivot: _Foot) -> list[_Link]:
    """One body on a pivot, whose slot is led by the pin."""
    to = pin.path - pivot.path
    along = to / np.abs(to)
    body = drawing.body()
    drawing.joint(pivot.body, body, pivot.path[0])
    drawing.joint(body, pin.body, pin.path[0], slot=along[0])
    return [_Link(body, pivot.path, along, float(np.abs(to).mean()))]
