"""Runs on all coordinates of trees: methods ``groups`` and ``partitioning``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.forward.equations import CannotGoOnError, Instant
from groups.dynamics.forward.evaluation import (
    ALL,
    CROSSED,
    FIRST,
    KEPT,
    KINETIC,
    LEAP,
    LOOK,
    MASSLESS,
    OWN,
    PIVOT,
    POTENTIAL,
    REST,
    TRIAL,
)
from groups.dynamics.forward.events import Event, Occurrence, occurred
from groups.dynamics.forward.integration import Change, Record, too_small
from groups.dynamics.forward.program import Memory, Program
from groups.dynamics.forward.stepping import FULL, STUCK, interpolated
from groups.engine.solve import END
from groups.motion import Motion
from groups.posed import configuration_at, inputs_at
from groups.results.joints import coordinate_motion
from groups.setting import Setting
from groups.status import CONTACT_LOST
from groups.trajectory import STATUS
from mbssa.graph.script import CallbackError

if TYPE_CHECKING:
    from groups.dynamics.forward.loads import Applied
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
#: Share of a step over which a rate is a difference.
TINY = 1e-6
#: Singular positions that are noted each.
LISTED = 5


class Trees:
    """Equations of motion of a model in all coordinates of its groups' trees, or of one tree: ``whole``."""

    def __init__(
        self, model: Model, applied: Mapping[str, Applied], laws: Mapping[str, Law], integrator: str,
        tolerance: float, compiled: bool | None, whole: bool,
    ) -> None:  # fmt: skip
        self.model, self.mechanism, self.laws, self.applied = model, model.mechanism, laws, applied
        asks = bool(laws) or any(map(callable, applied.values()))
        self.program = Program.of(model, tuple(applied), tuple(laws), asks, whole)
        self.traced, self.tolerance = self.program.traced, tolerance
        self.integrator, self.adapts = integrator, compiled is None
        in_code = self.program.compiles(integrator) if compiled is None else compiled
        self.printed = self.program.printed(integrator, in_code)
        self.memory: Memory = self.printed.memory(self._ask)
        self.room, self.clock = self.printed.room, self.printed.clock
        self.evaluations, self.notes = 0, list[str]()
        self.longest_step = np.inf
        self.coordinates = tuple(n for n in self.traced.drives if n not in laws)
        self._way: tuple[Floats, Floats] | None = None
        #: Coordinates (n,) and their rates (n, D) for unit rates of the driven ones.
        self._accepted = np.array(self.traced.start), np.zeros((self.traced.n, len(self.traced.drives)))
        for i, value in enumerate(applied.values()):
            if not callable(value):
                self.memory[self.room.applied + i] = float(value)
        self.memory[self.room.allowed] = np.inf
        self.memory[self.room.close] = CLOSE * tolerance
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
            memory = self.printed.memory(self._ask)
            memory.take(self.memory)
            self.memory = memory

    # --- initial state -------------------------------------------------------------------------------

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
        model, t = self.model, float(last.time[0])
        pose = configuration_at(last.position[0], last.orientation[0])
        x = self._posed(pose)
        y = np.zeros(self.room.state)
        y[: self.traced.n] = x
        for k, name in enumerate(self.traced.drives):
            y[self.traced.n + k] = float(coordinate_motion(last, name).rate[0])
        self._take(t, y)
        off = self.instant(t, self.start).position - last.position[0]
        if not np.abs(off).max() <= SAME * model.frames.size:
            raise ValueError(
                "start: the bodies have other poses in this mechanism or by these laws at that time"
            )

    def _take(self, t: float, y: Floats) -> None:
        """Begin with a state, by the driven coordinates."""
        memory, room = self.memory, self.room
        n = self.traced.n
        sound = self._evaluate(t, y, OWN)
        if not memory[room.found] and not y[n : n + len(self.traced.drives)].any():
            sound = self._evaluate(t, y, LOOK)  # at rest: by any coordinates
        if not memory[room.found]:
            raise CannotGoOnError(self._why(y[: len(self.traced.drives)]))
        if not sound:
            raise CannotGoOnError(self._unsound())
        rest = memory[room.kept + REST]
        memory[room.allowed] = max(REDUNDANT * rest, CONSISTENT)
        self.start = memory[room.x : room.x + room.state]
        self.start[-1] = 0.0
        if not self.laws:
            self.accept()
        self._evaluate(t, self.start, LOOK)
        memory[room.speed] = memory[room.trial]
        self._note_signs()

    def _note_signs(self) -> None:
        memory, room = self.memory, self.room
        memory[room.signs : room.signs + room.pivots] = memory[room.trials : room.trials + room.pivots]

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
                self._evaluate(0.0, y, OWN)
                if self._near():
                    x, tangent, share = memory[room.x : room.x + n], memory[room.v : room.v + n], here
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
        faults = _faults(self.model, solved.status[-1])
        if faults:
            raise CannotGoOnError(faults)
        return self._posed(configuration_at(solved.position[-1], solved.orientation[-1]))

    def _posed(self, pose: Poses) -> Floats:
        """Coordinates (n,) in a pose, angles on the same turns as the bodies'."""
        model, traced = self.model, self.traced
        reference = np.array(list(model.reference_inputs.values()))
        inputs = inputs_at(model, pose, reference, model.reference)
        setting = replace(Setting.at(model.structure, model.frames, pose), inputs=inputs)
        groups = traced.made(setting)
        x = [*inputs.tolist()]
        for g, name in traced.unknowns:
            group = groups[g]
            x.append(
                float(
                    group.start[group.names.index(name)] if name in group.names else group.at_reference(*name)
                )
            )
        found = np.array(x)
        if self.mechanism.space == "planar":
            zero = np.zeros((traced.n, 1))
            away = pose.angle - self.program.bodies(found[:, None], zero, zero)[1][0]
            turns = 2 * np.pi * np.round(away / (2 * np.pi))
            for k, parent, body, sign in traced.hinges:
                found[k] += sign * (turns[body] - turns[parent])
        return found

    # --- driven coordinates alone ---------------------------------------------------------------------

    def balance(self, value: Floats, rate: Floats) -> tuple[Floats, Floats]:
        """Mass matrix (D, D) and generalised forces (D,), bias included, of the driven coordinates."""
        memory, room, n, D = self.memory, self.room, self.traced.n, len(value)
        x, tangents = self._accepted
        y = np.zeros(room.state)
        y[:n] = x + tangents @ (value - x[:D])
        y[:D], y[n : n + D] = value, rate
        self._evaluate(0.0, y, OWN)
        if not self._near():
            y[:n] = self._followed(x, value - x[:D])
            self._evaluate(0.0, y, OWN)
        order = np.argsort([int(k) for k in memory.p[room.open : room.open + D]])
        lower = memory[room.matrix : room.matrix + D * D].reshape(D, D)
        M = np.tril(lower) + np.tril(lower, -1).T
        f: Floats = memory[room.forces : room.forces + D]
        if not (np.isfinite(M).all() and np.isfinite(f).all()):
            raise CannotGoOnError(self._unsound())
        return M[np.ix_(order, order)], f[order]

    @property
    def tangents(self) -> tuple[Floats, Floats]:
        """Coordinates (n,), and their rates (n, D) for unit rates of the driven ones, of the last balance."""
        memory, room, n = self.memory, self.room, self.traced.n
        D = len(self.traced.drives)
        order = np.argsort([int(k) for k in memory.p[room.open : room.open + D]])
        R = memory[room.R : room.R + n * D].reshape(n, D)
        return memory[room.x : room.x + n], R[:, order]

    @property
    def applied_now(self) -> Floats:
        """Applied forces of the last balance, in their order."""
        found: Floats = self.memory[self.room.applied : self.room.applied + len(self.applied)]
        return found

    def accept(self) -> None:
        """Go on from the pose of the last balance."""
        self._accepted = self.tangents

    def posed_at(self, value: Floats) -> Instant:
        """All bodies at rest at values of the driven coordinates."""
        self.balance(value, np.zeros(len(value)))
        return self.instant(0.0, self.memory[self.room.x : self.room.x + self.room.state])

    def _near(self) -> bool:
        memory, room = self.memory, self.room
        return bool(memory[room.found]) and memory[room.kept + FIRST] <= LEAP * memory[room.kept + PIVOT]

    # --- evaluation ----------------------------------------------------------------------------------

    def _evaluate(self, t: float, y: Floats, how: int) -> bool:
        self.evaluations += 1
        return self.memory.evaluate(t, y, how)

    def rate(self, t: float, y: Floats) -> Floats:
        """Derivative of a state; NaN where it is refused."""
        if not np.isfinite(y).all() or not self._evaluate(t, y, TRIAL):
            return np.full(len(y), np.nan)
        found: Floats = self.memory[self.room.rate : self.room.rate + self.room.state]
        return found

    def settle(self, t: float, y: Floats) -> Floats | None:
        """The state on the constraints, by the coordinates by which the others move least."""
        if not self._evaluate(t, y, ALL):
            raise CannotGoOnError(f"t = {t:.9g} s: {self._unsound()}")
        self._note_signs()
        found: Floats = self.memory[self.room.x : self.room.x + self.room.state]
        return found

    def renewed(self, t: float, y: Floats) -> None:
        """Coordinates are chosen at every step."""

    def looked(self, t: float, y: Floats, rate: Callable[[], Floats]) -> tuple[Floats, float]:
        """Coordinates, rates and second rates (3 n,) of a state, and the least pivot; nothing is changed."""
        memory, room, n = self.memory, self.room, self.traced.n
        kept = list(memory.p[: room.restored])
        sound = self._evaluate(t, y, LOOK)
        memory.p[: room.restored] = kept
        pivot: float = min(1.0, memory[room.kept + PIVOT])
        if sound and memory[room.kept + FIRST] <= LEAP * pivot:
            there = memory[room.x : room.x + 2 * n], memory[room.rate + n : room.rate + 2 * n]
            return np.concatenate(there), pivot
        return np.concatenate([y[: 2 * n], rate()[n : 2 * n]]), pivot

    def instant(self, t: float, y: Floats) -> Instant:
        """All bodies in a state."""
        found, pivot = self.looked(t, y, lambda: np.full(len(y), np.nan))
        if not np.isfinite(found).all():
            raise CannotGoOnError(self._unsound())
        position, orientation, velocity, acceleration = self.program.bodies(*found.reshape(3, -1, 1))
        return Instant(position[0], orientation[0], velocity[0], acceleration[0], pivot)

    # --- steps ---------------------------------------------------------------------------------------

    def run(
        self, time: Floats, largest_step: float, events: Sequence[Event],
        continues: Callable[[Record, float], bool],
    ) -> Record:  # fmt: skip
        """Go from the first to the last of these instants, and sample at each of them."""
        record = Record()
        course = _Course(self, record, time, events, continues)
        try:
            course.begin(largest_step)
            while course.goes_on:
                course.advance()
        except KeyboardInterrupt:
            record.status = "stopped"
        except CannotGoOnError as error:
            record.status = f"failed: {error}"
        record.evaluations = self.evaluations + int(self.memory.p[self.clock.evaluations])
        course.finish()
        return record

    def first_step(self, t: float, duration: float) -> Any:
        """Hairer's choice."""
        order, y, tolerance = self.clock.kind.error_estimator_order, self.start, self.tolerance
        scale = 0.01 * tolerance + np.abs(y) * tolerance

        def norm(x: Floats) -> float:
            return float(np.linalg.norm(x / scale) / np.sqrt(len(x)))

        f = self.rate(t, y)
        one, two = norm(y), norm(f)
        h = min(duration, 1e-6 if one < 1e-5 or two < 1e-5 else 0.01 * one / two)
        three = norm(self.rate(t + h, y + h * f) - f) / h
        if not np.isfinite(three):
            return h
        low = max(two, three) <= 1e-15
        other = max(1e-6, h * 1e-3) if low else (0.01 / max(two, three)) ** (1 / (order + 1))
        return min(100 * h, other, duration)

    # --- faults --------------------------------------------------------------------------------------

    def where(self, y: Floats) -> str:
        """The independent coordinates and their values, for messages."""
        names = self.traced.names
        return ", ".join(f"{names[k]} = {y[k]:.6g}" for k in self.free)

    @property
    def free(self) -> list[int]:
        """Indices of the independent coordinates."""
        return sorted(int(k) for k in self.memory.p[self.room.open : self.room.open + self.traced.free])

    def _why(self, inputs: Floats) -> str:
        """Groups without a solution."""
        drives = tuple(self.traced.drives)
        at = np.repeat(inputs[:, None], 2, axis=1)
        solved = self.model.solve(Motion(np.array([0.0, 1.0]), drives, at, 0 * at, 0 * at), compiled=False)
        return _faults(self.model, solved.status[-1]) or "the groups cannot be closed in the initial pose"

    def _unsound(self) -> str:
        memory, room, F = self.memory, self.room, self.traced.free
        diagonal = memory[room.matrix : room.matrix + F * F].reshape(F, F).diagonal()
        if np.isfinite(diagonal).all() and not memory[room.rank] > MASSLESS:
            return massless_text(
                diagonal, [self.traced.names[int(k)] for k in memory.p[room.open : room.open + F]]
            )
        return "forces or accelerations are not finite; see whether points of a spring coincide"


class _Course:
    """A run under way."""

    def __init__(
        self, trees: Trees, record: Record, time: Floats, events: Sequence[Event],
        continues: Callable[[Record, float], bool],
    ) -> None:  # fmt: skip
        self.trees, self.record, self.time, self.events, self.continues = (
            trees,
            record,
            time,
            events,
            continues,
        )
        self.states: list[Floats] = []
        self.pivots: list[float] = []
        self.goes_on = True
        self.t, self.y = float(time[0]), trees.start
        self.before: list[float] = []
        self.crossed: list[str] = []
        self._energy, self._potential, self._first = 0.0, 0.0, 0.0

    def begin(self, largest_step: float) -> None:
        """Set the clock, and take the first sample."""
        trees, memory, room, clock = self.trees, self.trees.memory, self.trees.room, self.trees.clock
        end = float(self.time[-1])
        self.before = [event.value(trees, self.t, self.y) for event in self.events]
        step = trees.first_step(self.t, end - self.t)
        self._sample(self.t, self.y, lambda: memory[clock.K[0] : clock.K[0] + room.state])
        memory.sampled(self.time[1:].tolist())
        trees._evaluate(self.t, self.y, ALL)
        trees._note_signs()
        memory[clock.y : clock.y + room.state] = self.y
        memory[clock.K[0] : clock.K[0] + room.state] = memory[room.rate : room.rate + room.state]
        memory[room.near] = 0.0
        for at, x in (
            (clock.t, self.t), (clock.end, end), (clock.step, step), (clock.longest, largest_step),
            (clock.relative, trees.tolerance), (clock.absolute, 0.01 * trees.tolerance), (clock.again, 0.0),
        ):  # fmt: skip
            memory[at] = x
        memory.p[clock.dense] = int(bool(self.events))
        kinetic, potential = memory[room.kept + KINETIC], memory[room.kept + POTENTIAL]
        self._energy, self._potential, self._first = kinetic, potential, kinetic + potential
        self._changed(self.t, trees.free)

    def advance(self) -> None:
        """Take some steps, and look at each."""
        memory, clock, start = self.trees.memory, self.trees.clock, perf_counter()
        memory.advance()
        seconds = perf_counter() - start
        for k in range(int(memory.p[clock.taken])):
            at = clock.record + k * clock.width
            if not self._step(memory[at : at + clock.width]):
                self.goes_on = False
                return
        why = memory.p[clock.why]
        if why == STUCK:
            raise CannotGoOnError(too_small(self.t))
        self.goes_on = why == FULL
        self.trees.adapt(seconds)

    def _step(self, row: Floats) -> bool:
        """Look at a step; False if the run ends there."""
        trees, clock, room = self.trees, self.trees.clock, self.trees.room
        N = room.state
        t, h = float(row[0]), float(row[1])
        kept, state = row[2 : 2 + len(KEPT)], row[clock.heads : clock.heads + 2 * N]
        y1, f1 = state[:N], state[N:]
        y0, t0, columns = self.y, self.t, row[clock.heads + 2 * N :].reshape(-1, N)
        self.record.steps += 1
        self._watch(t, kept, y1)
        if kept[CROSSED]:
            self.crossed.append(f"t = {t:.6g} s: {trees.where(y1)}")

        def inside(at: float) -> Floats:
            return np.asarray(interpolated(clock, y0, columns, [(at - t0) / h])[0])

        def rate(at: float) -> Floats:
            if at == t:
                return f1
            one, other = max(at - TINY * h, t0), min(at + TINY * h, t)
            return (inside(other) - inside(one)) / (other - one)

        found, last, stop = list[Occurrence](), None, t
        if self.events:
            found, self.before = occurred(self.events, trees, inside, t0, t, y1, self.before)
            last = next((one for one in found if one.ends), None)
            stop = t if last is None else last.time
        done = len(self.record.time)
        while done < len(self.time) and self.time[done] <= stop:
            at = float(self.time[done])
            *state, work, pivot = trees.memory.answer(done - 1)
            if pivot == pivot:
                self._keep(at, np.array(state), min(1.0, pivot), work)
            else:
                self._sample(at, inside(at), partial(rate, at))
            done += 1
        self.record.events += [one for one in found if one.time <= stop]
        if last is not None:
            if self.record.time[-1] < stop:
                self._sample(stop, inside(stop), lambda: rate(stop))
            self.record.status = f"event {last.name}"
            return False
        self.t, self.y = t, y1
        free = [int(k) for k in row[2 + len(KEPT) : clock.heads]]
        self._changed(t, sorted(free))
        return self.continues(self.record, t)

    def _changed(self, t: float, free: list[int]) -> None:
        names, trees = self.trees.traced.names, self.trees
        after = tuple(names[k] for k in free)
        if set(after) != set(trees.coordinates):
            self.record.changes.append(Change(t, trees.coordinates, after))
            trees.coordinates = after

    def _watch(self, t: float, kept: Floats, y: Floats) -> None:
        """Watch the balance of energy."""
        kinetic, potential, work = kept[KINETIC], kept[POTENTIAL], y[-1]
        off = kinetic + potential - self._first - work
        size = kinetic + abs(potential - self._potential) + abs(work)
        self._energy = max(self._energy, size)
        share = min(max(OFF * self.trees.tolerance, LEAST_OFF), MOST_OFF)
        if not abs(off) <= share * self._energy + ROUNDED * (abs(self._potential) + self._energy):
            raise CannotGoOnError(
                f"t = {t:.9g} s: the balance of energy is off by {off:.2g} J at {self.trees.where(y)}; take "
                "a smaller tolerance, or another method"
            )
        for k, (low, high), g in self.trees.traced.ends:
            if not low - END * (high - low) <= y[k] <= high + END * (high - low):
                name = self.trees.model.group_names[g]
                raise CannotGoOnError(f"t = {t:.9g} s: {name}: {STATUS[CONTACT_LOST]}")

    def _sample(self, t: float, y: Floats, rate: Callable[[], Floats]) -> None:
        self._keep(t, *self.trees.looked(t, y, rate), float(y[-1]))

    def _keep(self, t: float, state: Floats, pivot: float, work: float) -> None:
        self.states.append(state)
        self.pivots.append(pivot)
        self.record.time.append(t)
        self.record.work.append(work)

    def finish(self) -> None:
        """Place the bodies at all samples; note the singular positions on the way."""
        for place in self.crossed[:LISTED]:
            self.record.notes.append(
                f"{place}: just past a singular position, on the branch that goes on straight"
            )
        if len(self.crossed) > LISTED:
            self.record.notes.append(f"{len(self.crossed) - LISTED} more singular positions were passed")
        if self.states:
            found = np.array(self.states).T.reshape(3, self.trees.traced.n, -1)
            self.record.bodies = self.trees.program.bodies(*found)
            self.record.condition = np.array(self.pivots)


def massless_text(diagonal: Floats, names: Sequence[str]) -> str:
    """Message on the coordinates with which no mass moves, of a mass matrix with this diagonal."""
    weak = [name for name, entry in zip(names, diagonal.tolist(), strict=True) if not entry > 0.0]
    return (
        f"no body with mass moves with {', '.join(weak or names)}; give bodies an inertia = {{ mass = …, … }}"
    )


def _faults(model: Model, status: Any) -> str:
    return "; ".join(
        f"{model.group_names[g]}: {STATUS[int(status[g])]}" for g in np.flatnonzero(status)[:3].tolist()
    )


@contextmanager
def calling_back() -> Iterator[None]:
    """Exceptions of functions from outside are raised as they are."""
    try:
        yield
    except CallbackError as error:
        raise error.__cause__ or error from None
