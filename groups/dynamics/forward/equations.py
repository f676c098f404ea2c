"""Equations of motion of a method as an initial-value problem: made ready to run, run and measured."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from groups.dynamics.forces.at import coordinate_fault
from groups.dynamics.forward.course import CannotGoOnError, Run, Step, number_of
from groups.dynamics.forward.evaluation import How, Room, write_advance, write_evaluation
from groups.dynamics.forward.traced import Bodies, Traced
from groups.dynamics.state import massless
from groups.engine.solve import END
from groups.motion.sampled import name_faults
from groups.rotations import quaternion_of
from groups.status import CONTACT_LOST
from groups.trajectory import STATUS, Trajectory
from mbssa.bounds import LARGEST_LOAD, range_fault
from mbssa.graph.script import CallbackError, MachineScript, PythonScript

if TYPE_CHECKING:
    from groups.model import Model
    from groups.motion import Law
    from mbssa import Mechanism
    from mbssa.arrays import Bools, Floats

#: A force, N, or torque, N m, along a coordinate: constant, or a function of time.
Applied = float | Callable[[float], float]
#: Share of the terms of power by which their balance may be off, over the cube of the least pivot.
UNBALANCED = 1e-6
#: Integrators of :mod:`scipy.integrate`.
Integrator = Literal["DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA"]
#: Those whose steps are written for both lives of the equations in coordinates of trees.
EXPLICIT = ("DOP853", "RK45", "RK23")
#: One-step integrators, whose state may be projected on the constraints between two steps.
ONE_STEP = (*EXPLICIT, "Radau")
#: Share of an entry, or of 1, by which it is moved for a derivative.
_DIFFERENCE = 1e-7
#: Programs by model.
_programs: WeakKeyDictionary[Any, dict[Any, Program]] = WeakKeyDictionary()
#: Nodes from which on compiling with effort takes a second and longer: without, it takes a fifth of that,
#: and the code is half as fast. Effort is made up to the second number where ``compiled`` is True.
LARGE = 10_000, 25_000
#: Seconds of making machine code: at least, and by node, with effort and without.
PRICE = 0.2, 1e-4, 2e-5
#: Evaluations of a run at least, and by sample; seconds of Python for each by node; all roughly.
FEWEST, PER_SAMPLE, SECONDS = 500, 5, 2e-7


def too_small(t: float) -> str:
    """Fault of a run whose steps have become too small."""
    return (
        f"t = {t:.9g} s: no step is small enough for the tolerance, as forces or rates jump or grow without "
        "bound; see whether they are meant and whether points of a spring meet, or take a larger tolerance"
    )


class Measured(NamedTuple):
    """All bodies at T samples as one group, their energies and errors."""

    trajectory: Trajectory
    off: Floats  # (2, T) largest residual of the constraints, m, and of their rates, m/s
    work: Floats  # (T,) J
    energies: tuple[Floats, Floats, Floats]  # (T,) J: kinetic, of gravity, of elements
    inside: Sequence[str]  # coordinates that keep within their limits; others may, too
    fault: tuple[int, str] | None  # a sample, and what is off its balance there


class Program:
    """Traced equations with their functions; the memory is made for each run."""

    def __init__(
        self, model: Model, applied: Sequence[str], laws: Sequence[str], asks: bool, method: str
    ) -> None:
        kind = Traced if method in ("groups", "partitioning") else Bodies
        self.traced = kind(model, applied, laws, whole=method != "groups")
        #: Whether laws or forces are functions of time.
        self.asks, self.applied = asks, len(applied)
        #: By integrator and LLVM's effort, which is -1 in Python.
        self._made: dict[tuple[str, int], Code] = {}
        #: Seconds that Python has taken so far.
        self.spent = 0.0
        needed, nodes = self.traced.graph.needed(self.traced.results), self.traced.graph.nodes
        self.nodes = len(needed)
        #: Seconds of making machine code, roughly; infinite where a function cannot be traced.
        self.price = PRICE[0] + PRICE[1 if self.nodes < LARGE[0] else 2] * self.nodes
        if any(nodes[i][0] == "user" for i in needed):
            self.price = np.inf

    @staticmethod
    def of(model: Model, applied: Sequence[str], laws: Sequence[str], asks: bool, method: str) -> Program:
        """The program of a model, made once."""
        kept = _programs.setdefault(model, {})
        key = tuple(applied), tuple(laws), asks, method
        if key not in kept:
            kept[key] = Program(model, *key)
        return kept[key]

    def code(self, integrator: str, compiled: bool, wanted: bool = False) -> Code:
        """Functions for an integrator, in one of the two lives; machine code that is ``wanted`` is faster."""
        best = (integrator, 2) in self._made or self.nodes < LARGE[wanted]
        key = integrator, 2 * best if compiled and isfinite(self.price) else -1
        if key not in self._made:
            self._made[key] = Code(self, *key)
        return self._made[key]

    def compiles(self, integrator: str) -> bool:
        """Whether machine code is made, or pays beside what Python has taken or will take at least."""
        made = any((integrator, effort) in self._made for effort in (0, 2))
        return made or self.spent > self.price or self.pays(1, 0)

    def pays(self, runs: int, samples: int) -> bool:
        """Whether machine code takes less to make than Python for so many runs."""
        return runs * max(FEWEST, PER_SAMPLE * samples) * SECONDS * self.nodes > self.price


class Code:
    """Functions of a program in one life, and places of their memory."""

    def __init__(self, program: Program, integrator: str, effort: int) -> None:
        self.traced, self.compiled = program.traced, effort >= 0
        self.room = Room(program.traced, program.applied, integrator)
        script = self.script = MachineScript() if self.compiled else PythonScript()
        write_evaluation(script, program.traced, self.room, program.asks)
        write_advance(script, self.room)
        if isinstance(script, MachineScript):
            from groups.engine.machine import Host, object_code
            from groups.engine.machine import Program as Machine

            code = object_code(script.text, Host.here(), effort=effort)
            self.machine = Machine(code, dict.fromkeys(("evaluate_at", "advance_at"), "ptr"))


class Memory:
    """Numbers of a run with samples at some times, on which the functions of either life work."""

    def __init__(self, code: Code, asked: Callable[[float], None], time: Floats) -> None:
        room, traced = code.room, code.traced
        self.room, self.asked = room, asked
        answers = np.zeros(len(time) * room.answer)
        self.numbers = array("d", np.concatenate([np.zeros(room.samples), time, [np.inf], answers]).tobytes())
        self.wholes = array("q", bytes(room.wholes.itemsize))
        self.view, self.p = np.frombuffer(self.numbers), np.frombuffer(self.wholes, dtype=np.int64)
        named = self.view[: room.samples].view(room.numbers)[0], self.p.view(room.wholes)[0]
        #: Numbers, or one, by name.
        self._named = {name: part for part in named for name in part.dtype.names}
        self._given: Any = memoryview(self.numbers)[room.given : room.given + room.state]
        self._rate = self._named["rate"]["rate"]
        self._time, self._how, self._last = room.time, room.how, room.rate + room.state - 1
        self.kept: Any = None  # what machine code calls and reads
        self.evaluations = 0
        self._raised: BaseException | None = None
        first = room.samples + len(time) + 1
        self["unit"], self["weight"], self["answers"] = traced.unit, traced.weights, first
        blocks = np.array(traced.blocks, dtype=np.int64).reshape(-1, 4).T
        self["top"], self["bottom"], self["left"], self["right"] = blocks
        self.answers = self.view[first:].reshape(-1, room.answer)
        self.use(code)

    def use(self, code: Code) -> None:
        """Go on by the functions of either life."""
        script, self._compiled = code.script, code.compiled
        arguments: tuple[Any, ...] = self.numbers, self.wholes
        if isinstance(script, PythonScript):
            made = script.made(self.ask)
            functions = made["evaluate"], made["advance"]
        else:
            back = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.ask)
            tables = (ctypes.c_void_p * len(script.tables))(*(x.ctypes.data for x in script.tables.values()))
            memory = (each.buffer_info()[0] for each in arguments)
            at = (ctypes.c_void_p * 4)(*memory, ctypes.cast(back, ctypes.c_void_p), ctypes.addressof(tables))
            arguments, self.kept = (ctypes.addressof(at),), (back, tables, at)
            functions = code.machine.evaluate_at, code.machine.advance_at
        self._evaluate, self._advance = (partial(function, *arguments) for function in functions)

    def __getitem__(self, name: str) -> Any:
        return self._named[name][name].copy()

    def __setitem__(self, name: str, x: Any) -> None:
        self._named[name][name] = x

    def ask(self, *_: Any) -> None:
        """Write what depends on time; no exception may leave machine code."""
        if self._raised is None:
            try:
                self.asked(self.numbers[self.room.time])
            except BaseException as error:  # goes on once the functions have ended
                self._raised = error
                self["law"] = self["applied"] = np.nan

    def evaluate(self, t: float, y: Floats, how: int) -> bool:
        """Evaluate a state; whether it is sound."""
        numbers, self.evaluations = self.numbers, self.evaluations + 1
        numbers[self._time], self.wholes[self._how] = t, how
        self._given[:] = y
        self._called(self._evaluate)
        refused = numbers[self._last]
        return refused == refused

    def rate(self, t: float, y: Floats) -> Floats:
        """Derivative of a state; NaN where it is refused."""
        finite = self._compiled or isfinite(y @ y)  # functions of Python refuse infinity
        return self._rate.copy() if finite and self.evaluate(t, y, How.TRIAL) else np.full(len(y), np.nan)

    def advance(self) -> Any:
        """Take steps; their numbers (k,) by name."""
        self._called(self._advance)
        return self["record"].view(self.room.steps)[: self["taken"], 0]

    def _called(self, function: Callable[[], None]) -> None:
        try:
            function()
        except CallbackError as error:  # of a function from outside, which is raised as it is
            raise error.__cause__ or error from None
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised


class Equations(ABC):
    """Equations of motion of one method."""

    start: Floats  # (n,) state at the beginning; its last entry is the work of all loads but weight, J

    def __init__(
        self, model: Model, applied: Mapping[str, Applied], laws: Mapping[str, Law], method: str
    ) -> None:
        self.model, self.mechanism, self.laws = model, model.mechanism, laws
        self.applied = {name: _with_check(name, value) for name, value in applied.items()}
        asks = bool(laws) or any(map(callable, applied.values()))
        self.program = Program.of(model, tuple(applied), tuple(laws), asks, method)
        self.traced = self.program.traced
        #: Evaluations so far, and what rows may leave over their weights.
        self.evaluations, self.allowed = 0, np.inf
        #: Whole turns in rows (m,) at the beginning.
        self.turns = np.zeros(self.traced.m)

    @abstractmethod
    def rate(self, t: float, y: Floats) -> Floats:
        """Derivative (n,) of a state; NaN where the bodies cannot be placed."""

    def settle(self, t: float, y: Floats) -> Floats:
        """The state after an accepted step, projected on the constraints."""
        return y

    @abstractmethod
    def sample(self, t: float, y: Floats) -> Floats:
        """Coordinates, rates, second rates, work, power (or NaN), least pivot; nothing is changed."""

    def hindered(self, t: float, y: Floats) -> str:
        """A reason for small steps in a state that ends a run; empty where none is known."""
        return ""

    def weakest(self, t: float, sample: Floats) -> str:
        """The group that is nearest to a singular position."""
        return self.traced.group_names[0]

    def beyond(self, states: Floats) -> list[tuple[str, Bools]]:
        """By open profile, its group, and whether states (…, n) are beyond its ends."""
        return [
            (group, ~(np.abs(2 * states[..., i] - low - high) <= (1 + 2 * END) * (high - low)))
            for i, (low, high), group in self.traced.ends
        ]

    def keep_contact(self, t: float, y: Floats) -> None:
        """Refuse a state beyond the ends of a profile."""
        for group, gone in self.beyond(y):
            if gone:
                raise CannotGoOnError(f"t = {t:.9g} s: {group}: {STATUS[CONTACT_LOST]}")

    def run(self, run: Run) -> None:
        """Go from the first to the last instant of a run."""
        with np.errstate(over="ignore", invalid="ignore"):  # of trial steps, repeated shorter
            run.follow(self.steps(run))

    def steps(self, run: Run) -> Iterator[Step]:
        """Steps of an integrator, whose state is projected on the constraints after each."""
        import scipy.integrate
        import scipy.optimize

        request, (t, end) = run.request, run.time[[0, -1]].tolist()
        integrator, tolerance = request.integrator, request.tolerance
        options = {"rtol": tolerance, "atol": 0.01 * tolerance, "max_step": request.largest_step}
        if integrator not in EXPLICIT:
            # Differences of one size: those of SciPy grow without bound where a rate does not depend on an
            # entry, such as the work, or the length of a quaternion.
            options["jac"] = lambda t, y: scipy.optimize.approx_fprime(
                y, partial(self.rate, t), _DIFFERENCE * np.maximum(1.0, np.abs(y))
            )
        solver = getattr(scipy.integrate, integrator)(self.rate, t, self.start, end, **options)
        while solver.status == "running":
            solver.step()
            run.steps += 1
            if solver.status == "failed":
                raise CannotGoOnError(self.hindered(t, solver.y) or too_small(float(solver.t)))
            start, t = t, float(solver.t)
            self.keep_contact(t, solver.y)
            yield start, t, solver.y, solver.dense_output
            settled = self.settle(t, solver.y)
            if settled is not solver.y and integrator in ONE_STEP:
                solver.y, solver.f = settled, self.rate(t, settled)

    def samples(self, run: Run, time: Floats, inside: Callable[[float], Floats]) -> Floats:
        """Samples (t, …) at some times of a step: of its interpolant, projected on the constraints."""
        return np.array([self.sample(t, inside(t)) for t in time.tolist()])

    def instant(self, t: float, y: Floats) -> Trajectory:
        """All bodies in a state, as a trajectory of one instant."""
        return self.measured(np.array([t]), self.sample(t, y)[None]).trajectory

    def measured(self, time: Floats, samples: Floats) -> Measured:
        """All bodies, energies and errors at the times (T,) of some samples (T, …)."""
        (_, function), inputs = self.traced.measures
        traced, mechanism, T, (*_, work, power, pivot) = self.traced, self.mechanism, len(time), samples.T
        N, planar = mechanism.n_bodies, traced.planar
        laws = np.array([law(time) for law in self.laws.values()]).reshape(-1, T)
        x, v, a = samples.T, samples.T[traced.n :], samples.T[traced.n + traced.w :]
        given: dict[str, Any] = {"x": x, "v": v, "a": a, "law": laws, "t": [time]}
        numbers = function([given[name][k] for name, k in inputs], ())
        rows = np.empty((len(numbers), T))
        for row, number in zip(rows, numbers, strict=True):
            row[:] = number
        ends = (2, 3, 6, 9) if planar else (3, 12, 18, 24)
        bodies, energies, errors = np.split(rows, [N * ends[-1], len(rows) - 2 * traced.m])
        place, turn, *rates = (  # stored body by body
            np.ascontiguousarray(part.swapaxes(1, 2))
            for part in np.split(bodies.reshape(N, -1, T), ends[:-1], axis=1)
        )
        turn = turn[..., 0] if planar else quaternion_of(turn.reshape(N, T, 3, 3).swapaxes(2, 3))
        zero = np.zeros((T, 1))
        trajectory = Trajectory(
            mechanism, time, place.swapaxes(0, 1), turn.swapaxes(0, 1), rates[0].swapaxes(0, 1),
            rates[1].swapaxes(0, 1), zero.astype(np.int8), zero, zero.astype(np.int64),
            np.minimum(pivot, 1.0)[:, None], np.arange(N), group_names=("the whole mechanism",),
        )  # fmt: skip
        kinetic, gravity, stored, change, exchange = energies
        off = errors.reshape(2, -1, T)
        off[0] -= self.turns[:, None]
        off = np.abs(off) * traced.weights[:, None]
        inside = [
            name
            for name, (low, high) in mechanism.coordinate_limits.items()
            if (at := traced.place.get(mechanism.place_of(name))) is not None
            and low <= x[at].min()
            and x[at].max() <= high
        ]
        # Terms of the power that cancel leave their rounding: they are of the size of energy by rate.
        speed = np.abs(rates[0]) / np.repeat([self.traced.frames.size, 1.0], [ends[0], 1 if planar else 3])
        exchange = exchange + np.abs(power) + UNBALANCED * kinetic * speed.max(initial=0.0)
        fault = self._fault(off[0], change - power, exchange, pivot)
        largest = off.max(axis=1, initial=0.0) * traced.frames.size
        return Measured(trajectory, largest, work, (kinetic, gravity, stored), inside, fault)

    def _fault(self, off: Floats, power: Floats, exchange: Floats, pivot: Floats) -> tuple[int, str] | None:
        """The first sample at which a closing equation (m, T) or the balance of power (T,) is off."""
        close = off <= self.allowed
        largest = np.nanmax(exchange, initial=0.0) * UNBALANCED / np.minimum(pivot, 1.0) ** 3
        bad = ~close.all(axis=0) | (np.abs(power) > largest)
        if not bad.any():
            return None
        k = int(bad.argmax())
        if close[:, k].all():
            return k, f"the balance of power is off by {abs(power[k]):.2g} W"
        row = int(close[:, k].argmin())
        gap = off[row, k] * self.traced.frames.size
        return k, f"a closing equation of {self.traced.owners[row]} is off by {gap:.2g} m"


def faults_of(
    mechanism: Mechanism,
    applied: Mapping[str, Applied],
    given: Mapping[str, Mapping[str, float]],
    laws: Collection[str] = (),
    progress: Any = None,
) -> list[str]:
    """Faults of applied forces, values of released coordinates, a mechanism without masses, and progress."""
    faults, released = list[str](), tuple(x for x in mechanism.driven_coordinates if x not in laws)
    for what, values in given.items():
        twice = [name for name in values if name in laws]
        faults += [f"{what}: {name} is prescribed, and its law gives it; leave it out" for name in twice]
        names = [*released, *(name for name in values if name not in laws)]
        faults += [f"{what}: {fault}" for fault in name_faults(released, names, "value")]
        wrong = ((name, range_fault(value)) for name, value in values.items())
        faults += [f"{what} of {name} {fault}" for name, fault in wrong if fault]
    for name, value in applied.items():
        if isinstance(value, str):
            faults.append(f"applied {name!r} is a text; give a number or a function of time")
        elif not callable(value) and (fault := range_fault(value, largest=LARGEST_LOAD)):
            faults.append(f"applied {name!r} {fault}")
        if fault := coordinate_fault(mechanism, name):
            faults.append(f"applied {name!r}: {fault}")
    if len(massless(mechanism)) == mechanism.n_bodies - 1:
        faults.append("no body has mass; give bodies an inertia = { mass = …, centre = …, … }")
    if not (progress is None or callable(progress)):
        faults.append(f"progress is {progress!r}; give a function of the finished share")
    return faults


def _with_check(name: str, force: Applied) -> Applied:
    """Applied force; a function of time that returns no number is refused."""
    return (lambda t: number_of(force(t), f"applied {name!r}")) if callable(force) else force
