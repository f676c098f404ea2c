"""Runs on all coordinates of trees: methods ``groups`` and ``partitioning``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.forward.equations import CannotGoOnError, Equations, too_small
from groups.dynamics.forward.evaluation import CAPACITY, LEAP, MASSLESS, How, Kept
from groups.dynamics.forward.integration import Change, Run
from groups.dynamics.forward.program import Memory
from groups.dynamics.forward.stepping import FULL, STUCK, interpolated
from groups.engine.solve import END
from groups.motion import Motion
from groups.posed import configuration_at, inputs_at
from groups.results.joints import coordinate_motion
from groups.setting import Setting
from groups.status import CONTACT_LOST
from groups.trajectory import STATUS
from mbssa.graph.script import CallbackError
from mbssa.joints.axes import whole_turns

if TYPE_CHECKING:
    from groups.dynamics.forward.equations import Applied
    from groups.model import Model
    from groups.motion import Law
    from groups.trajectory import Trajectory
    from mbssa.arrays import Floats
    from mbssa.joints.poses import Poses

#: Parts of the way to the initial pose, at most and at least.
STRIDE, SHORTEST = 0.02, 1e-5
#: Share of the largest energy by which the balance may be off in a step: so many tolerances, at least and at
#: most so much; and of the size of the terms of the potential energy.
OFF, LEAST_OFF, MOST_OFF, ROUNDED = 3e3, 1e-6, 0.02, 1e-12
#: Share of the run's tolerance that the squares of Newton's steps may leave.
CLOSE = 1e-3
#: What redundant equations may leave, in units of the coordinates: so many times what they do at the
#: beginning, and at least so much.
REDUNDANT, CONSISTENT = 1e3, 1e-5
#: Share of the size by which the bodies may differ where a run is continued.
SAME = 1e-6
#: Singular positions that are noted each.
LISTED = 5


class Trees(Equations):
    """Equations of motion of a model in all coordinates of its groups' trees, or of one tree: ``whole``."""

    def __init__(
        self, model: Model, applied: Mapping[str, Applied], laws: Mapping[str, Law], integrator: str,
        tolerance: float, compiled: bool | None, whole: bool,
    ) -> None:  # fmt: skip
        super().__init__(model, applied, laws, "partitioning" if whole else "groups")
        self.tolerance = tolerance
        self.integrator, self.adapts = integrator, compiled is None
        in_code = self.program.compiles(integrator) if compiled is None else compiled
        self.printed = self.program.printed(integrator, in_code, wanted=compiled is True)
        self.memory = Memory(self.printed, self._ask)
        self.room = self.printed.room
        self.coordinates = tuple(n for n in self.traced.drives if n not in laws)
        self._way: tuple[Floats, Floats] | None = None
        #: Coordinates (n,) and their rates (n, D) for unit rates of the driven ones.
        self._accepted = np.array(self.traced.start), np.zeros((self.traced.n, len(self.traced.drives)))
        self.memory["applied"] = [0.0 if callable(value) else float(value) for value in applied.values()]
        self.memory["allowed"], self.memory["close"] = self.allowed, CLOSE * tolerance
        self.start = np.zeros(self.room.state)

    def _ask(self, t: float, m: Any) -> None:
        """Write the laws and the applied forces at a time."""
        room = self.room
        for i, name in enumerate(self.laws):
            if self._way is not None:
                k = self.traced.law_rows[i]
                found: Sequence[float] = self._way[0][k], self._way[1][k], 0.0
            else:
                found = [float(x[0]) for x in self.laws[name](np.array([t]))]
            for order, x in enumerate(found):
                m[room.law + 3 * i + order] = x
        for i, value in enumerate(self.applied.values()):
            if callable(value):
                m[room.applied + i] = float(value(t))

    def adapt(self, seconds: float) -> None:
        """Note what steps in Python have taken, and go on in machine code once that pays."""
        if not self.adapts or self.printed.compiled:
            return
        self.program.spent += seconds
        if self.program.compiles(self.integrator):
            self.printed = self.program.printed(self.integrator, compiled=True)
            self.memory.use(self.printed)

    def begin(self, t: float, value: Floats, rate: Floats) -> None:
        """Take the state at the driven coordinates' values (D,) and rates (D,), from the reference on."""
        n, D = self.traced.n, len(value)
        x = np.array(self.traced.start)
        way = value - x[:D]
        if way.any():
            x = self._followed(x, way)
        y = np.zeros(self.room.state)
        y[:n], y[n : n + D] = x, rate
        self._take(t, y)

    def begin_at(self, last: Trajectory) -> None:
        """Take the state at the only instant of a trajectory."""
        t, y = float(last.time[0]), np.zeros(self.room.state)
        y[: self.traced.n] = self._posed(configuration_at(last.position[0], last.orientation[0]))
        for k, name in enumerate(self.traced.drives):
            y[self.traced.n + k] = float(coordinate_motion(last, name).rate[0])
        self._take(t, y)
        off = self.instant(t, self.start).position[0] - last.position[0]
        if not np.abs(off).max() <= SAME * self.model.frames.size:
            raise ValueError(
                "start: the bodies have other poses in this mechanism or by these laws at that time"
            )

    def _take(self, t: float, y: Floats) -> None:
        """Begin with a state, by the driven coordinates."""
        memory, n = self.memory, self.traced.n
        sound = self._evaluate(t, y, How.OWN)
        if not memory["found"] and not y[n : n + len(self.traced.drives)].any():
            sound = self._evaluate(t, y, How.LOOK)  # at rest: by any coordinates
        if not memory["found"]:
            inputs = y[: len(self.traced.drives)]
            self._solved(inputs, 0.0 * inputs)
            raise CannotGoOnError("the groups cannot be closed in the initial pose")
        if not sound:
            raise CannotGoOnError(self._unsound())
        memory["allowed"] = self.allowed = max(REDUNDANT * memory["kept"][Kept.REST], CONSISTENT)
        self.start = memory["closed"]
        self.start[-1] = 0.0
        if not self.laws:
            self.accept()
        self._evaluate(t, self.start, How.LOOK)
        memory["speed"], memory["signs"] = memory["trial"], memory["trials"]

    def _followed(self, x: Floats, way: Floats) -> Floats:
        """Coordinates at the end of the straight way of the driven ones."""
        memory, room, n, D = self.memory, self.room, self.traced.n, len(way)
        begin, share, stride = x[:D].copy(), 0.0, STRIDE
        y = np.zeros(room.state)
        tangent = np.zeros(n)
        try:
            while True:
                end = min(1.0, share + stride)
                here = end if tangent.any() else 0.0
                y[:n] = x + (here - share) * tangent
                y[:D], y[n : n + D] = begin + here * way, way
                self._way = y[:D].copy(), way
                self._evaluate(0.0, y, How.OWN)
                if self._near():
                    x, tangent, share = memory["x"], memory["v"], here
                    stride = min(2 * stride, STRIDE)
                    if share == 1.0:
                        return x
                    continue
                stride /= 2
                if stride < SHORTEST or here == 0.0:
                    return self._solved(begin, way)
        finally:
            self._way = None

    def _solved(self, begin: Floats, way: Floats) -> Floats:
        """The same by the solvers of the groups; a fault that names those without a solution."""
        share = np.linspace(0.0, 1.0, 201)
        value = (begin[:, None] + share * way[:, None], np.outer(way, np.ones_like(share)))
        motion = Motion(share, tuple(self.traced.drives), *value, 0.0 * value[0])
        solved = self.model.solve(motion, compiled=False)
        status, names = solved.status[-1], self.model.group_names
        if status.any():
            lost = np.flatnonzero(status)[:3].tolist()
            raise CannotGoOnError("; ".join(f"{names[g]}: {STATUS[int(status[g])]}" for g in lost))
        return self._posed(configuration_at(solved.position[-1], solved.orientation[-1]))

    def _posed(self, pose: Poses) -> Floats:
        """Coordinates (n,) in a pose, angles on the same turns as the bodies'."""
        model, traced = self.model, self.traced
        reference = np.array(list(model.reference_inputs.values()))
        inputs = inputs_at(model, pose, reference)
        setting = Setting.at(model.structure, model.frames, pose, inputs)
        found = np.concatenate([inputs, traced.unknowns_at(setting)])
        if self.mechanism.space == "planar":
            away = pose.angle - self.measured(np.zeros(1), self._still(found)).trajectory.orientation[0]
            turns = whole_turns(away)
            for k, parent, body, sign in traced.hinges:
                found[k] += sign * (turns[body] - turns[parent])
        return found

    def balance(self, value: Floats, rate: Floats) -> tuple[Floats, Floats]:
        """Mass matrix (D, D) and generalised forces (D,), bias included, of the driven coordinates."""
        memory, room, n, D = self.memory, self.room, self.traced.n, len(value)
        x, tangents = self._accepted
        y = np.zeros(room.state)
        y[:n] = x + tangents @ (value - x[:D])
        y[:D], y[n : n + D] = value, rate
        self._evaluate(0.0, y, How.OWN)
        if not self._near():
            y[:n] = self._followed(x, value - x[:D])
            self._evaluate(0.0, y, How.OWN)
        order, lower = np.argsort(memory["open"][:D]), memory["matrix"].reshape(D, D)
        M, f = np.tril(lower) + np.tril(lower, -1).T, memory["forces"]
        if not (np.isfinite(M).all() and np.isfinite(f).all()):
            raise CannotGoOnError(self._unsound())
        return M[np.ix_(order, order)], f[order]

    @property
    def tangents(self) -> tuple[Floats, Floats]:
        """Coordinates (n,), and their rates (n, D) for unit rates of the driven ones, of the last balance."""
        order = np.argsort(self.memory["open"][: len(self.traced.drives)])
        return self.memory["x"], self.memory["R"].reshape(self.traced.n, -1)[:, order]

    def accept(self) -> None:
        """Go on from the pose of the last balance."""
        self._accepted = self.tangents

    def posed_at(self, value: Floats) -> Trajectory:
        """All bodies at rest at values of the driven coordinates."""
        self.balance(value, np.zeros(len(value)))
        zero = np.zeros(1)
        return self.measured(zero, self._still(self.tangents[0])).trajectory

    def _still(self, x: Floats) -> Floats:
        """Sample at rest."""
        found = np.zeros((1, self.room.answer))
        found[0, : self.traced.n], found[0, -1] = x, 1.0
        return found

    def _near(self) -> bool:
        kept = self.memory["kept"]
        return bool(self.memory["found"] and kept[Kept.FIRST] <= LEAP * kept[Kept.PIVOT])

    def _evaluate(self, t: float, y: Floats, how: int) -> bool:
        self.evaluations += 1
        return self.memory.evaluate(t, y, how)

    def rate(self, t: float, y: Floats) -> Floats:
        self.evaluations += 1
        return self.memory.rate(t, y)

    def settle(self, t: float, y: Floats) -> Floats | None:
        if not self._evaluate(t, y, How.ALL):
            raise CannotGoOnError(f"t = {t:.9g} s: {self._unsound()}")
        self.memory["signs"] = self.memory["trials"]
        found: Floats = self.memory["closed"]
        return found

    def sample(self, t: float, y: Floats) -> Floats:
        memory, n = self.memory, self.traced.n
        pivots = memory.p[: self.room.restored].copy()
        near = self._evaluate(t, y, How.LOOK) and self._near()
        memory.p[: self.room.restored] = pivots
        rate, pivot = memory["rate"], memory["kept"][Kept.PIVOT]
        place = memory["closed"][: 2 * n] if near else y[: 2 * n]
        power = rate[-1] if near else np.nan
        found = np.concatenate([place, rate[n : 2 * n], [y[-1], power, pivot]])
        if not np.isfinite(found[: 3 * n]).all():
            raise CannotGoOnError(self._unsound())
        return found

    def weakest(self, t: float, sample: Floats) -> str:
        memory, traced = self.memory, self.traced
        self._evaluate(t, np.append(sample[: 2 * traced.n], 0.0), How.LOOK)
        rows, columns = memory["row"], memory["column"]
        if not len(rows):
            return traced.group_names[0]
        inverse = memory["A"].reshape(traced.m, traced.n)[rows, columns]
        scale = traced.unit[columns] * traced.weights[rows]
        return self.traced.owner(int(rows[np.argmax(np.abs(inverse) / scale)]))

    def run(self, run: Run, largest_step: float) -> None:
        """Go from the first to the last instant of a run."""
        course = _Course(self, run)
        with run.ends():
            course.begin(largest_step)
            while course.advance():
                pass
        run.evaluations = self.evaluations + self.memory["evaluations"]
        straight = "just past a singular position, on the branch that goes on straight"
        run.notes += [f"{place}: {straight}" for place in course.crossed[:LISTED]]
        if len(course.crossed) > LISTED:
            run.notes.append(f"{len(course.crossed) - LISTED} more singular positions were passed")

    def where(self, free: Iterable[int], y: Floats) -> str:
        """Coordinates and their values, for messages."""
        return ", ".join(f"{self.traced.names[k]} = {y[k]:.6g}" for k in free)

    @property
    def free(self) -> list[int]:
        """Indices of the independent coordinates."""
        return sorted(self.memory["open"][: self.traced.free].tolist())

    def stuck(self, t: float) -> str:
        """Why no step is small enough."""
        memory, fault = self.memory, None
        if memory["kept"][Kept.REST] > memory["allowed"]:
            fault = self.measured(np.array([t]), self._still(memory["x"])).fault
        if fault is None:
            return too_small(t)
        return (
            f"t = {t:.9g} s: {fault[1]} just beyond {self.where(self.free, memory['x'])}: redundant "
            "equations contradict each other there; see mbssa check"
        )

    def _unsound(self) -> str:
        memory, F = self.memory, self.traced.free
        diagonal = memory["matrix"].reshape(F, F).diagonal()
        if np.isfinite(diagonal).all() and not memory["rank"] > MASSLESS:
            return massless_text(diagonal, [self.traced.names[k] for k in memory["open"][:F]])
        return "forces or accelerations are not finite; see whether points of a spring coincide"


class _Course:
    """Steps of a run, and the balances that they are watched by."""

    def __init__(self, trees: Trees, run: Run) -> None:
        self.trees, self.run = trees, run
        self.t, self.y = float(run.time[0]), trees.start
        self.crossed: list[str] = []

    def begin(self, largest_step: float) -> None:
        """Set the clock, and take the first sample."""
        trees, run, end = self.trees, self.run, float(self.run.time[-1])
        memory, relative, absolute = trees.memory, trees.tolerance, 0.01 * trees.tolerance
        run.begin(trees)
        step = trees.room.kind(trees.rate, self.t, self.y, end, rtol=relative, atol=absolute).h_abs
        memory.sampled(run.time[1:])
        trees._evaluate(self.t, self.y, How.ALL)
        memory["signs"] = memory["trials"]
        memory["y"], memory["begun"], memory["near"], memory["again"] = self.y, memory["rate"], 0.0, 0.0
        memory["t"], memory["end"], memory["step"], memory["longest"] = self.t, end, step, largest_step
        memory["relative"], memory["absolute"] = relative, absolute
        memory["dense"], kept = bool(run.events), memory["kept"]
        self.first = kept[Kept.KINETIC], kept[Kept.POTENTIAL]
        self.largest = 0.0
        self._changed(self.t, trees.free)

    def advance(self) -> bool:
        """Take some steps, and look at them; False at the end of the run."""
        trees, run, memory = self.trees, self.run, self.trees.memory
        single = bool(run.events) or run.progress is not None
        memory["most"] = 1 if run.events else min(CAPACITY, run.most_steps - run.steps)
        start = perf_counter()
        memory.advance()
        seconds, why, rows = perf_counter() - start, memory["why"], memory.steps()
        size = 1 if single else max(1, len(rows))
        for k in range(0, len(rows), size):
            if not self._stepped(rows[k : k + size]):
                return False
        if why == STUCK:
            raise CannotGoOnError(trees.stuck(self.t))
        trees.adapt(seconds)
        return bool(why == FULL)

    def _stepped(self, rows: Floats) -> bool:
        """Look at some steps; False if the run ends there."""
        trees, run, room, N = self.trees, self.run, self.trees.room, self.trees.room.state
        states, free = rows[:, room.heads : room.heads + N], np.sort(rows[:, 2 + len(Kept) : room.heads])
        fault = self._watch(rows[:, 0], rows[:, 2 : 2 + len(Kept)].T, states.T, free)
        if fault is not None:
            k, text = fault
            if k:
                self._stepped(rows[:k])
            raise CannotGoOnError(text)
        run.steps += len(rows)
        t, y = float(rows[-1, 0]), states[-1]
        for k in np.flatnonzero(rows[:, 2 + Kept.CROSSED]).tolist():
            place = trees.where(free[k].astype(int), states[k])
            self.crossed.append(f"t = {rows[k, 0]:.6g} s: {place}")

        def inside(at: float, y0: Floats = self.y, t0: float = self.t) -> Floats:
            columns = rows[-1, room.heads + 2 * N :].reshape(-1, N)
            return np.asarray(interpolated(room, y0, columns, [(at - t0) / rows[-1, 1]])[0])

        answers = partial(trees.memory.answers, run.done - 1)
        if not run.passed(trees, self.t, t, y, inside, answers):
            return False
        self.t, self.y = t, y
        for k in np.flatnonzero(np.diff(free, axis=0, prepend=[self.free]).any(axis=1)).tolist():
            self._changed(float(rows[k, 0]), free[k].astype(int).tolist())
        return run.goes_on(t)

    def _changed(self, t: float, free: list[int]) -> None:
        names, trees = self.trees.traced.names, self.trees
        self.free, after = free, tuple(names[k] for k in free)
        if set(after) != set(trees.coordinates):
            self.run.changes.append(Change(t, trees.coordinates, after))
            trees.coordinates = after

    def _watch(self, time: Floats, kept: Floats, y: Floats, free: Floats) -> tuple[int, str] | None:
        """The first of some steps at which the balance of energy is off, or a contact has ended."""
        trees, traced = self.trees, self.trees.traced
        first, weight = self.first
        kinetic, potential, work = kept[Kept.KINETIC], kept[Kept.POTENTIAL], y[-1]
        off = kinetic + potential - first - weight - work
        sizes = np.append(self.largest, kinetic + np.abs(potential - weight) + np.abs(work))
        largest = np.maximum.accumulate(sizes)[1:]
        self.largest = float(largest[-1])
        share = min(max(OFF * trees.tolerance, LEAST_OFF), MOST_OFF)
        bad = ~(np.abs(off) <= share * largest + ROUNDED * (abs(weight) + largest))
        left = []
        for i, (low, high), g in traced.ends:
            least, most = low - END * (high - low), high + END * (high - low)
            left.append((traced.group_names[g], ~((least <= y[i]) & (y[i] <= most))))
        bad = np.any([bad, *(gone for _, gone in left)], axis=0)
        if not bad.any():
            return None
        k = int(bad.argmax())
        t = f"t = {time[k]:.9g} s"
        for name, gone in left:
            if gone[k]:
                return k, f"{t}: {name}: {STATUS[CONTACT_LOST]}"
        group = trees.weakest(float(time[k]), y[:, k])
        return k, (
            f"{t}: {group}: the balance of energy is off by {off[k]:.2g} J at "
            f"{trees.where(free[k].astype(int), y[:, k])}; take a smaller tolerance, or another method"
        )


def massless_text(diagonal: Floats, names: Sequence[str]) -> str:
    """Message on the coordinates with which no mass moves, of a mass matrix with this diagonal."""
    weak = [name for name, entry in zip(names, diagonal.tolist(), strict=True) if not entry > 0.0]
    return (
        f"no body with mass moves with {', '.join(weak or names)}; give bodies an inertia = {{ mass = …, … }}"
    )


@contextmanager
def calling_back() -> Iterator[None]:
    """Exceptions of functions from outside are raised as they are."""
    try:
        yield
    except CallbackError as error:
        raise error.__cause__ or error from None
