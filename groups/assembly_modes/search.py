"""Search for all placings of a group: closed forms, homotopy, and starts of Newton from many places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groups.assembly_modes import homotopy
from groups.assembly_modes.placing import CLOSED_FORM, Placing, Search, Stage, same_place
from groups.truss import truss_of
from mbssa.arrays import Floats
from mbssa.progress import Progress

#: Condition below which a position that Newton finds is no mode: it can be left without opening anything.
FLAT = 1e-7
#: Starts at most, as a multiple of those in a row that find nothing new, and starts that are drawn at once.
AT_MOST, LOT = 10, 100


@dataclass(frozen=True, eq=False)
class Task:
    """A group to be placed: its most modes, and starts in a row without a new one that end the search."""

    stage: Stage
    starts: int
    most: int | None
    told: Progress = lambda what, share: None


def placings(task: Task) -> tuple[list[Placing], Search]:
    """All placings of a group that are found, each once, closed to the tolerance."""
    stage = task.stage
    if stage.kinematics.form is not None or not stage.part.n:
        return stage.by_signs(), CLOSED_FORM
    places = Places(stage)
    search = _search(task, places)
    return places.found, search


class Places:
    """Positions of a group's tree that differ by the poses of its bodies; singular ones are left out."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        modes = stage.kinematics.modes
        self.leans = [modes[strut] for strut in stage.kinematics.struts]
        self.redundant = stage.part.routine.redundant
        #: Places that Newton met, whether they close all joints, their unknowns, and how often it met them.
        self.met, self.closes = list[Placing](), list[bool]()
        self.q, self.times = list[Floats](), list[int]()

    @property
    def found(self) -> list[Placing]:
        """Those that close all joints."""
        return [placing for placing, closes in zip(self.met, self.closes, strict=True) if closes]

    @property
    def unknowns(self) -> list[Floats]:
        """Their unknowns (n,)."""
        return [q for q, closes in zip(self.q, self.closes, strict=True) if closes]

    def solved(self, q: Floats) -> list[tuple[Floats, Placing] | None]:
        """Places that Newton finds from some unknowns (n, M), None where it finds nothing regular."""
        stage, count = self.stage, q.shape[1]
        q, rows, _, J = stage.system(count).nearest(q)
        residual = np.abs(rows).max(axis=0, initial=0.0)
        conditions = _conditions(np.nan_to_num(J) * stage.scale)
        good = np.flatnonzero((residual <= stage.tolerance / min(1.0, stage.size)) & (conditions > FLAT))
        answers: list[tuple[Floats, Placing] | None] = [None] * count
        if len(good):
            with np.errstate(all="ignore"):
                poses = stage.poses(list(q[:, good]), self.leans)
            signs = np.ones(len(good)) if self.redundant else np.sign(np.linalg.det(J[good]))
            for n, (k, sign) in enumerate(zip(good.tolist(), signs.tolist(), strict=True)):
                branch = () if stage.part.routine.linear else (int(sign),)
                answers[k] = q[:, k], stage.placing(poses, n, branch, self.leans)
        return answers

    def add(self, q: Floats, placing: Placing) -> tuple[bool, bool]:
        """Add a position; return whether it closes all joints, and whether it is a new mode."""
        for k, other in enumerate(self.met):
            if same_place(placing, other, self.stage.size):
                self.times[k] += 1
                return self.closes[k], False
        (placing,) = self.stage.with_residuals([placing])
        closes = placing.residual <= self.stage.tolerance
        self.met.append(placing)
        self.closes.append(closes)
        self.times.append(1)
        self.q.append(q)
        return closes, closes

    def add_from(self, q: Floats) -> None:
        """Add what Newton finds from some unknowns (n, M)."""
        for answer in self.solved(q) if q.shape[1] else ():
            if answer is not None:
                self.add(*answer)

    def times_met(self, count: int) -> int:
        """Number of modes that were met so often."""
        return sum(closes and n == count for n, closes in zip(self.times, self.closes, strict=True))


def _conditions(J: Floats) -> Floats:
    """(M,) least singular value over the largest, 0 where all are zero."""
    sizes = np.linalg.svd(J, compute_uv=False)
    found: Floats = sizes[:, -1] / np.maximum(sizes[:, 0], 1e-300)
    return found


def _search(task: Task, places: Places) -> Search:
    """Find the positions of a group of unknowns."""
    stage = task.stage
    start = np.array(stage.part.group.start, dtype=float)[:, None]
    if stage.part.routine.linear or task.most == 1:
        places.add_from(start)
        return CLOSED_FORM
    if not homotopy.applies(stage):
        return _from_random_starts(task, places, task.starts)
    search = _from_random_starts(task, places, min(task.starts, LOT))
    if search.complete:
        return search
    # A loop of a larger truss that does not close by as much in all positions has more of them.
    truss = truss_of(stage.group)
    degree = task.most if truss is None or truss.links <= 5 else None
    answer = homotopy.positions(stage, places.unknowns, degree, task.told)
    if answer is None or not answer.sound:
        return _from_random_starts(task, places, task.starts)
    places.add_from(np.array(answer.real, dtype=float).reshape(-1, stage.part.n).T)
    if len(answer.real) != len(places.found):
        return _from_random_starts(task, places, task.starts)
    return Search(answer.text(degree), complete=task.most in (answer.count, answer.ended))


def _from_random_starts(task: Task, places: Places, most_in_a_row: int) -> Search:
    """Newton from the reference, and from many places drawn from a fixed seed."""
    stage, rng = task.stage, np.random.default_rng(task.stage.group.number)
    start = np.array(stage.part.group.start, dtype=float)[:, None]
    places.add_from(start)
    starts, closed, last = 0, 0, 0
    while starts - last < most_in_a_row and starts < AT_MOST * most_in_a_row:
        if len(places.found) == task.most:
            break
        if starts % LOT == 0:
            answers = places.solved(start + _drawn(stage, rng))
        answer = answers[starts % LOT]
        starts += 1
        if answer is not None:
            closes, is_new = places.add(*answer)
            closed += closes
            if is_new:
                last = starts
        task.told("starting Newton", (starts - last) / most_in_a_row)
    if len(places.found) == task.most:
        return Search(f"Newton found as many as there can be, after {starts} starts", complete=True)
    once, twice = places.times_met(1), places.times_met(2)
    missing = once * (once - 1) / (2.0 * (twice + 1))
    return Search(
        f"Newton from {starts} places, of which {closed} led to a mode; the last {starts - last} found "
        f"no new one; about {missing:.0f} more are expected from how often each was met",
        complete=False,
        missing=missing,
    )


def _drawn(stage: Stage, rng: np.random.Generator) -> Floats:
    """Steps (n, LOT) from the reference: turns all round, slides within twice the size."""
    q = (
        rng.uniform(-1.0, 1.0, (len(stage.turns), LOT))
        * np.where(stage.turns, np.pi, 2.0 * stage.size)[:, None]
    )
    return np.asarray(q, dtype=np.float64)
