"""Runs on all coordinates of trees: methods ``groups`` and ``partitioning``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.forward.course import CannotGoOnError, Change, Run, Step
from groups.dynamics.forward.equations import EXPLICIT, Equations, Measured, Memory, too_small
from groups.dynamics.forward.evaluation import CAPACITY, FULL, LEAP, MASSLESS, STUCK, How, interpolated
from groups.motion import Motion
from groups.results.joints import coordinate_motion
from groups.setting import Setting
from groups.trajectory import STATUS, configuration_at
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
        tolerance: float, compiled: bool | None, whole: bool, time: Sequence[float] | Floats = (),
    ) -> None:  # fmt: skip
        super().__init__(model, applied, laws, "partitioning" if whole else "groups")
        self.integrator, self.tolerance, self.adapts = integrator, tolerance, compiled is None
        in_code = self.program.compiles(integrator) if compiled is None else compiled
        self.code = self.program.code(integrator, in_code, wanted=compiled is True)
        #: Later instants are sampled.
        self.room, self.memory = self.code.room, Memory(self.code, self._ask, np.array(time[1:]))
        #: Indices of the independent coordinates.
        self.free = [k for k, name in enumerate(self.traced.drives) if name not in laws]
        #: Coordinates (n,) and their rates (n, D) for unit rates of the driven ones.
        self._accepted = np.array(self.traced.start), np.zeros((self.traced.n, len(self.traced.drives)))
        self.memory["applied"] = [0.0 if callable(value) else value for value in applied.values()]
        self.memory["allowed"], self.memory["close"] = self.allowed, CLOSE * tolerance
        self.start = np.zeros(self.room.state)

    def _ask(self, t: float) -> None:
        """Write the laws and the applied forces at a time."""
        memory, applied = self.memory, self.applied.values()
        memory["law"] = [float(x[0]) for law in self.laws.values() for x in law(np.array([t]))]
        memory["applied"] = [value(t) if callable(value) else value for value in applied]

    # --- states --------------------------------------------------------------------------------------

    def begin(self, t: float, value: Floats, rate: Floats) -> None:
        """Take the state at the driven coordinates' values (D,) and rates (D,), from the reference on."""
        x = np.array(self.traced.start)
        way = value - x[: len(value)]
        try:
            x = self._followed(x, way) if way.any() else x
        except CannotGoOnError as error:
            raise CannotGoOnError(
                f"no way from the reference to the initial values: {error}; begin nearer to it"
            ) from None
        self._take(t, x, rate)

    def begin_at(self, start: Trajectory) -> None:
        """Take the state at the last instant of a trajectory."""
        last = replace(start.instants(slice(-1, None)), mechanism=self.mechanism)
        t, pose = float(last.time[0]), configuration_at(last.position[0], last.orientation[0])
        rate = [coordinate_motion(last, name).rate[0] for name in self.traced.drives]
        self._take(t, self._posed(pose), np.array(rate, dtype=np.float64))
        off = self.instant(t, self.start).position[0] - last.position[0]
        if not np.abs(off).max() <= SAME * self.model.frames.size:
            raise ValueError(
                "start: the bodies have other poses in this mechanism or by these laws at that time"
            )

    def _take(self, t: float, x: Floats, rate: Floats) -> None:
        """Begin with coordinates and the driven ones' rates."""
        memory, y, inputs = self.memory, self._state(x, rate), x[: len(rate)]
        sound = self.memory.evaluate(t, y, How.OWN)
        if not memory["found"] and not rate.any():
            sound = self.memory.evaluate(t, y, How.LOOK)  # at rest: by any coordinates
        if not memory["found"]:
            self._solved(inputs, 0.0 * inputs)
            raise CannotGoOnError("the groups cannot be closed in the initial pose")
        if not sound:
            raise CannotGoOnError(self._unsound())
        memory["allowed"] = self.allowed = max(REDUNDANT * memory["rest"], CONSISTENT)
        self.start = self._closed
        self.start[-1] = 0.0
        if not self.laws:
            self.accept()
        self.memory.evaluate(t, self.start, How.LOOK)
        memory["speed"], memory["signs"] = memory["trial"], memory["trials"]

    def _followed(self, x: Floats, way: Floats) -> Floats:
        """Coordinates at the end of the straight way of the driven ones."""
        memory, D = self.memory, len(way)
        begin, tangent, share, end, stride = x[:D].copy(), np.zeros_like(x), 0.0, 0.0, STRIDE

        def on_way(_: float) -> None:  # at any time
            memory["law"] = np.stack([begin + end * way, way, 0.0 * way])[:, self.traced.law_rows].T.ravel()

        memory.asked, asked = on_way, memory.asked
        try:
            while True:
                guess = x + (end - share) * tangent
                guess[:D] = begin + end * way
                if self._closes(guess, way):
                    x, tangent, share, stride = memory["x"], memory["v"], end, min(2 * stride, STRIDE)
                    if share == 1.0:
                        return x
                else:
                    stride /= 2
                    if stride < SHORTEST or end == 0.0:
                        return self._solved(begin, way)
                end = min(1.0, share + stride)
        finally:
            memory.asked = asked

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
        inputs = model.inputs_at(pose, reference)
        setting = Setting.at(model.structure, model.frames, pose, inputs)
        found = np.concatenate([inputs, traced.unknowns_at(setting)])
        if self.mechanism.space == "planar":
            turns = whole_turns(pose.angle - self.at_rest(found).trajectory.orientation[0])
            for k, parent, body, sign in traced.hinges:
                found[k] += sign * (turns[body] - turns[parent])
        return found

    def balance(self, value: Floats, rate: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """Mass matrix (D, D) and generalised forces (D,), bias included, of the driven coordinates."""
        (x, tangents), D, rate = self._accepted, len(value), rate + 0.0 * value
        guess = x + tangents @ (value - x[:D])
        guess[:D] = value
        if not self._closes(guess, rate):
            self._closes(self._followed(x, value - x[:D]), rate)
        order, lower = np.argsort(self.memory["open"][:D]), self.memory["matrix"]
        M, f = np.tril(lower) + np.tril(lower, -1).T, self.memory["forces"]
        if not (np.isfinite(M).all() and np.isfinite(f).all()):
            raise CannotGoOnError(self._unsound())
        return M[np.ix_(order, order)], f[order]

    @property
    def tangents(self) -> tuple[Floats, Floats]:
        """Coordinates (n,), and their rates (n, D) for unit rates of the driven ones, of the last balance."""
        order = np.argsort(self.memory["open"][: len(self.traced.drives)])
        return self.memory["x"], self.memory["R"][:, order]

    def accept(self) -> None:
        """Go on from the pose of the last balance."""
        self._accepted = self.tangents

    def at_rest(self, x: Floats, t: float = 0.0) -> Measured:
        """All bodies at rest at coordinates (n,), as one sample."""
        still = np.concatenate([x, np.zeros(self.room.answer - len(x) - 1), [1.0]])
        return self.measured(np.array([t]), still[None])

    def _state(self, x: Floats, rate: Floats) -> Floats:
        """State at coordinates and the driven ones' rates."""
        return np.concatenate([x, rate, np.zeros(self.room.state - len(x) - len(rate))])

    def _closes(self, x: Floats, rate: Floats) -> bool:
        """Whether the groups close by their own coordinates, near some, at rates of the driven ones."""
        self.memory.evaluate(0.0, self._state(x, rate), How.OWN)
        return self._near()

    @property
    def _closed(self) -> Floats:
        """The state on the constraints."""
        memory = self.memory
        return np.concatenate([memory["x"], memory["v"], [memory["work"]]])

    def _near(self) -> bool:
        return bool(self.memory["found"] and self.memory["first"] <= LEAP * self.memory["pivot"])

    def rate(self, t: float, y: Floats) -> Floats:
        return self.memory.rate(t, y)

    def settle(self, t: float, y: Floats) -> Floats:
        if not self.memory.evaluate(t, y, How.ALL):
            raise CannotGoOnError(f"t = {t:.9g} s: {self._unsound()}")
        self.memory["signs"] = self.memory["trials"]
        return self._closed

    def sample(self, t: float, y: Floats) -> Floats:
        memory, n = self.memory, self.traced.n
        pivots = memory.p[: self.room.restored].copy()
        near = self.memory.evaluate(t, y, How.LOOK) and self._near()
        memory.p[: self.room.restored] = pivots
        rate, pivot = memory["rate"], memory["pivot"]
        place = self._closed[: 2 * n] if near else y[: 2 * n]
        power = rate[-1] if near else np.nan
        found = np.concatenate([place, rate[n : 2 * n], [y[-1], power, pivot]])
        if not np.isfinite(found[: 3 * n]).all():
            raise CannotGoOnError(self._unsound())
        return found

    def weakest(self, t: float, sample: Floats) -> str:
        memory, traced = self.memory, self.traced
        self.memory.evaluate(t, np.append(sample[: 2 * traced.n], 0.0), How.LOOK)
        rows, columns = memory["row"], memory["column"]
        if not len(rows):
            return super().weakest(t, sample)
        inverse = memory["A"][rows, columns]
        scale = traced.unit[columns] * traced.weights[rows]
        return self.traced.owners[int(rows[np.argmax(np.abs(inverse) / scale)])]

    def _where(self, free: Iterable[int], y: Floats) -> str:
        """Coordinates and their values, for messages."""
        return ", ".join(f"{self.traced.names[k]} = {y[k]:.6g}" for k in free)

    def _unsound(self) -> str:
        memory, F = self.memory, self.traced.free
        diagonal = memory["matrix"].diagonal()
        if np.isfinite(diagonal).all() and not memory["rank"] > MASSLESS:
            return massless_text(diagonal, [self.traced.names[k] for k in memory["open"][:F]])
        return "forces or accelerations are not finite; see whether points of a spring coincide"

    # --- steps ---------------------------------------------------------------------------------------

    def run(self, run: Run) -> None:
        self.passed: list[str] = []
        super().run(run)
        self.evaluations = self.memory.evaluations + int(self.memory["evaluations"])
        straight = "just past a singular position, on the branch that goes on straight"
        run.notes += [f"{place}: {straight}" for place in self.passed[:LISTED]]
        if len(self.passed) > LISTED:
            run.notes.append(f"{len(self.passed) - LISTED} more singular positions were passed")

    def samples(self, run: Run, time: Floats, inside: Callable[[float], Floats]) -> Floats:
        if run.request.integrator in EXPLICIT:
            return self.memory.answers[run.done - 1 :][: len(time)].copy()
        return super().samples(run, time, inside)

    def steps(self, run: Run) -> Iterator[Step]:
        if run.request.integrator not in EXPLICIT:
            yield from super().steps(run)
            return
        memory, request, (t, end), y = self.memory, run.request, run.time[[0, -1]].tolist(), self.start
        events, relative, absolute = request.events, self.tolerance, 0.01 * self.tolerance
        step = self.room.kind(self.rate, t, y, end, rtol=relative, atol=absolute).h_abs
        memory.evaluate(t, y, How.ALL)
        memory["signs"], memory["y"] = memory["trials"], y
        memory["stage"] = memory["rate"]  # of which the first is read
        memory["t"], memory["end"], memory["step"], memory["longest"] = t, end, step, request.largest_step
        memory["relative"], memory["absolute"], memory["dense"] = relative, absolute, bool(events)
        #: The last step's end; energies at the beginning, and the largest so far.
        self.t, self.y, self.first, self.largest = t, y, [memory["kinetic"], memory["potential"]], 0.0
        self._choose(run, t, self._independent)
        why = FULL
        while why == FULL:
            memory["most"] = 1 if events else min(CAPACITY, request.most_steps - run.steps)
            start = perf_counter()
            rows = memory.advance()
            seconds, why = perf_counter() - start, memory["why"]
            size = 1 if events or request.progress is not None else max(1, len(rows))
            for k in range(0, len(rows), size):
                yield from self._sound(run, rows[k : k + size])
            if why == STUCK:
                redundant = memory["rest"] > memory["allowed"]
                if redundant and (fault := self.at_rest(memory["x"], self.t).fault):
                    place = self._where(self._independent, memory["x"])
                    raise CannotGoOnError(
                        f"t = {self.t:.9g} s: {fault[1]} just beyond {place}: redundant equations contradict "
                        "each other there; see mbssa check"
                    )
                raise CannotGoOnError(too_small(self.t))
            if self.adapts and not self.code.compiled:  # goes on in machine code once that pays
                self.program.spent += seconds
                if self.program.compiles(self.integrator):
                    self.code = self.program.code(self.integrator, compiled=True)
                    memory.use(self.code)

    @property
    def _independent(self) -> list[int]:
        return sorted(self.memory["open"][: self.traced.free].tolist())

    def _sound(self, run: Run, rows: Any) -> Iterator[Step]:
        """Some steps as one, up to one at which the balance of energy is off, or a contact ends."""
        time, states, free = rows["t"], rows["state"], np.sort(rows["free"])
        (first, weight), work = self.first, states[:, -1]
        kinetic, potential = rows["kinetic"], rows["potential"]
        off = kinetic + potential - first - weight - work
        sizes = np.append(self.largest, kinetic + np.abs(potential - weight) + np.abs(work))
        largest = np.maximum.accumulate(sizes)[1:]
        share = min(max(OFF * self.tolerance, LEAST_OFF), MOST_OFF)
        bad = [~(np.abs(off) <= share * largest + ROUNDED * (abs(weight) + largest))]
        bad += [gone for _, gone in self.beyond(states)]
        if np.any(bad):
            k = int(np.any(bad, axis=0).argmax())
            if k:
                yield from self._sound(run, rows[:k])
            t, where = f"t = {time[k]:.9g} s", self._where(free[k].astype(int), states[k])
            self.keep_contact(float(time[k]), states[k])
            raise CannotGoOnError(
                f"{t}: {self.weakest(float(time[k]), states[k])}: the balance of energy is off by "
                f"{off[k]:.2g} J at {where}; take a smaller tolerance, or another method"
            )
        self.largest = float(largest[-1])
        run.steps += len(rows)
        for k in np.flatnonzero(rows["crossed"]).tolist():
            self.passed.append(f"t = {time[k]:.6g} s: {self._where(free[k].astype(int), states[k])}")
        for k in np.flatnonzero(np.diff(free, axis=0, prepend=[self.free]).any(axis=1)).tolist():
            self._choose(run, float(time[k]), free[k].astype(int).tolist())
        start, y, self.t, self.y = self.t, self.y, float(time[-1]), states[-1]

        def inside(t: float) -> Floats:
            return interpolated(self.room, y, rows[-1]["columns"], (t - start) / rows[-1]["h"])

        yield start, self.t, self.y, lambda: inside

    def _choose(self, run: Run, t: float, free: list[int]) -> None:
        """Note a choice of independent coordinates."""
        if free != self.free:
            before, after = (tuple(self.traced.names[k] for k in each) for each in (self.free, free))
            run.changes.append(Change(t, before, after))
            self.free = free


def massless_text(diagonal: Floats, names: Sequence[str]) -> str:
    """Message on the coordinates with which no mass moves, of a mass matrix with this diagonal."""
    weak = [name for name, entry in zip(names, diagonal.tolist(), strict=True) if not entry > 0.0]
    return (
        f"no body with mass moves with {', '.join(weak or names)}; give bodies an inertia = {{ mass = …, … }}"
    )
