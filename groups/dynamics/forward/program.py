"""Equations of motion of a model made ready to run: traced, printed, and their memory."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from groups.dynamics.forward.evaluation import How, Room, write_evaluation
from groups.dynamics.forward.stepping import write_advance
from groups.dynamics.forward.traced import Block, Traced
from groups.rotations import quaternion_of
from groups.trajectory import Trajectory
from mbssa.graph.script import MachineScript, PythonScript
from mbssa.graph.source import functions

if TYPE_CHECKING:
    from groups.model import Model
    from mbssa.arrays import Floats

#: Programs by model.
_programs: WeakKeyDictionary[Any, dict[Any, Program]] = WeakKeyDictionary()
#: Nodes from which on compiling with effort takes a second and longer: without, it takes a fifth of that,
#: and the code is half as fast. Effort is made up to the second number where ``compiled`` is True.
LARGE = 10_000, 25_000
#: Seconds of making machine code: at least, and by node, with effort and without.
PRICE = 0.2, 1e-4, 2e-5
#: Share of the terms of power by which their balance may be off, over the cube of the least pivot.
UNBALANCED = 1e-6
#: Evaluations of a run at least, and by sample; seconds of Python for each by node; all roughly.
FEWEST, PER_SAMPLE, SECONDS = 500, 5, 2e-7


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
        if method in ("groups", "partitioning"):
            self.traced = Traced(model, applied, laws, whole=method == "partitioning")
        else:
            from groups.dynamics.forward.bodies import Bodies

            self.traced = Bodies(model, applied, laws, whole=True)
        self.applied, self.laws, self.asks = tuple(applied), tuple(laws), asks
        #: By integrator and LLVM's effort, which is -1 in Python.
        self._made: dict[tuple[str, int], Printed] = {}
        #: Seconds that Python has taken so far.
        self.spent = 0.0

    @staticmethod
    def of(model: Model, applied: Sequence[str], laws: Sequence[str], asks: bool, method: str) -> Program:
        """The program of a model, made once; it ``asks`` if laws or forces are functions of time."""
        kept = _programs.setdefault(model, {})
        key = tuple(applied), tuple(laws), asks, method
        if key not in kept:
            kept[key] = Program(model, *key)
        return kept[key]

    @cached_property
    def is_printable(self) -> bool:
        """Whether all is traced, so that machine code can be made of it."""
        nodes = self.traced.graph.nodes
        return not any(nodes[i][0] == "user" for i in self.traced.needed)

    def printed(self, integrator: str, compiled: bool, wanted: bool = False) -> Printed:
        """Functions for an integrator, in one of the two lives; machine code that is ``wanted`` is faster."""
        compiled = compiled and self.is_printable
        best = (integrator, 2) in self._made or len(self.traced.needed) < LARGE[wanted]
        effort = 2 * best if compiled else -1
        if (integrator, effort) not in self._made:
            self._made[integrator, effort] = Printed(self, integrator, effort)
        return self._made[integrator, effort]

    @cached_property
    def price(self) -> float:
        """Seconds of making machine code, roughly; infinite where a function cannot be traced."""
        nodes = len(self.traced.needed)
        return PRICE[0] + PRICE[1 if nodes < LARGE[0] else 2] * nodes if self.is_printable else np.inf

    def compiles(self, integrator: str) -> bool:
        """Whether machine code is made, or pays beside what Python has taken or will take at least."""
        made = any((integrator, effort) in self._made for effort in (0, 2))
        return made or self.spent > self.price or self.pays(1, 0)

    def pays(self, runs: int, samples: int) -> bool:
        """Whether machine code takes less to make than Python for so many runs."""
        evaluations = runs * max(FEWEST, PER_SAMPLE * samples)
        return evaluations * SECONDS * len(self.traced.needed) > self.price

    @cached_property
    def _measures(self) -> tuple[Callable[..., Any], list[tuple[str, Any]]]:
        (_, of_arrays), inputs = functions("measures", [], self.traced.measures)
        return of_arrays, inputs

    def measured(
        self, time: Floats, samples: Floats, laws: Floats, allowed: float, turns: Floats
    ) -> Measured:
        """All bodies, energies and errors at samples (T, …) by the values of the laws (3 L, T)."""
        # Samples are coordinates, rates, second rates, work, power (NaN where it is not known), least pivot.
        (function, inputs), traced, T = self._measures, self.traced, len(time)
        mechanism, n = traced.mechanism, traced.n
        N, planar, (*_, work, power, pivot) = mechanism.n_bodies, mechanism.space == "planar", samples.T
        x, v, a = samples.T, samples.T[n:], samples.T[n + traced.w :]
        given: dict[str, Any] = {"x": x, "v": v, "a": a, "law": laws, "t": [time]}
        numbers = function([given[name][k] for name, k in inputs], ())
        rows = np.array([np.broadcast_to(number, T) for number in numbers])
        ends = np.cumsum((2, 1, 3, 3) if planar else (3, 9, 6, 6)).tolist()
        bodies, frames = np.zeros((N, ends[-1], T)), traced.frames
        of_bodies, energies, errors = np.split(rows, [(N - 1) * ends[-1], len(rows) - 2 * traced.m])
        bodies[1:] = of_bodies.reshape(N - 1, -1, T)
        bodies[0, : ends[0]] = frames.position[0, : ends[0], None]
        if not planar:
            bodies[0, 3:12] = frames.rotation[0].T.reshape(9, 1)
        place, turn, velocity, acceleration = (  # stored body by body
            np.ascontiguousarray(x.swapaxes(1, 2)) for x in np.split(bodies, ends[:-1], axis=1)
        )
        turn = turn[..., 0] if planar else quaternion_of(turn.reshape(N, T, 3, 3).swapaxes(2, 3))
        zero = np.zeros((T, 1))
        trajectory = Trajectory(
            mechanism, time, place.swapaxes(0, 1), turn.swapaxes(0, 1), velocity.swapaxes(0, 1),
            acceleration.swapaxes(0, 1), zero.astype(np.int8), zero, zero.astype(np.int64),
            np.minimum(pivot, 1.0)[:, None], np.arange(N),
            group_names=("the whole mechanism",),
        )  # fmt: skip
        residual, rates = np.split(errors, 2)
        off = np.abs([residual - turns[:, None], rates]) * traced.weights[:, None]
        kinetic, gravity, stored, change, exchange = energies
        inside = [
            name
            for name, (low, high) in mechanism.coordinate_limits.items()
            if (at := traced.limited[name]) is not None
            and low <= samples[:, at].min()
            and samples[:, at].max() <= high
        ]
        fault = self._fault(off[0], change - power, exchange + np.abs(power), pivot, allowed)
        largest = off.max(axis=1, initial=0.0) * frames.size
        return Measured(trajectory, largest, work, (kinetic, gravity, stored), inside, fault)

    def _fault(
        self, off: Floats, power: Floats, exchange: Floats, pivot: Floats, allowed: float
    ) -> tuple[int, str] | None:
        """The first sample at which a closing equation (m, T) or the balance of power (T,) is off."""
        traced, close = self.traced, off <= allowed
        largest = np.nanmax(exchange, initial=0.0) * UNBALANCED / np.minimum(pivot, 1.0) ** 3
        bad = ~close.all(axis=0) | (np.abs(power) > largest)
        if not bad.any():
            return None
        k = int(bad.argmax())
        if close[:, k].all():
            return k, f"the balance of power is off by {abs(power[k]):.2g} W"
        row = int(close[:, k].argmin())
        gap = off[row, k] * traced.frames.size
        return k, f"a closing equation of {traced.owner(row)} is off by {gap:.2g} m"


class Printed:
    """Functions of a program in one life, and places of their memory."""

    def __init__(self, program: Program, integrator: str, effort: int) -> None:
        self.program, self.compiled = program, effort >= 0
        traced = program.traced
        room = self.room = Room(traced, len(program.applied), integrator)
        script = self.script = MachineScript() if self.compiled else PythonScript()
        write_evaluation(script, traced, room, program.asks)
        write_advance(script, room)
        if isinstance(script, MachineScript):
            from groups.engine.machine import Host, object_code
            from groups.engine.machine import Program as Machine

            code = object_code(script.text, Host.here(), effort=effort)
            self._machine = Machine(code, dict.fromkeys(("evaluate", "advance"), [ctypes.c_void_p] * 4))

    def functions(self, memory: Memory) -> tuple[Callable[[], None], Callable[[], None]]:
        """``evaluate`` and ``advance`` of a memory."""
        script, arguments = self.script, tuple[Any, ...]()
        if isinstance(script, PythonScript):
            names, arguments = script.made(memory.ask), (memory.numbers, memory.wholes)
            return partial(names["evaluate"], *arguments), partial(names["advance"], *arguments)
        back = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(memory.asked_back)
        tables = (ctypes.c_void_p * len(script.tables))(*(x.ctypes.data for x in script.tables.values()))
        at = (each.buffer_info()[0] for each in (memory.numbers, memory.wholes))
        arguments = *at, ctypes.cast(back, ctypes.c_void_p).value, ctypes.addressof(tables)
        memory.kept = back, tables
        return partial(self._machine.evaluate, *arguments), partial(self._machine.advance, *arguments)


class Memory:
    """Numbers of a run, on which the functions of either life work."""

    def __init__(self, printed: Printed, asked: Callable[[float, Any], None]) -> None:
        room, traced = printed.room, printed.program.traced
        self.room, self.asked, self._printed = room, asked, printed
        self.numbers, self.wholes = array("d", bytes(8 * (room.size + 1))), array("q", bytes(8 * room.wholes))
        self.view, self.p = np.frombuffer(self.numbers), np.frombuffer(self.wholes, dtype=np.int64)
        self.kept: Any = None  # what machine code calls and reads
        self._raised: BaseException | None = None
        self["unit"], self["weight"] = traced.unit, traced.weights
        for name, x in zip(Block._fields, zip(*traced.blocks, strict=True), strict=False):
            self[name] = x
        self.sampled(np.zeros(0))

    def use(self, printed: Printed) -> None:
        """Go on by the functions of either life."""
        self._printed = printed
        self._evaluate, self._advance = printed.functions(self)

    def __getitem__(self, name: str) -> Any:
        numbers, at = self._at(name)
        found = numbers[at]
        return found.copy() if isinstance(at, slice) else found.item()

    def __setitem__(self, name: str, x: Any) -> None:
        numbers, at = self._at(name)
        numbers[at] = x

    def _at(self, name: str) -> tuple[Any, slice | int]:
        places = self.room.whole_places
        return (self.p, places[name]) if name in places else (self.view, self.room.places[name])

    def ask(self, m: Any, p: Any) -> None:
        """Write what depends on time."""
        self.asked(m[self.room.time], m)

    def asked_back(self, _: Any) -> None:
        """The same from machine code, which no exception may leave."""
        if self._raised is None:
            try:
                self.asked(self.numbers[self.room.time], self.numbers)
            except BaseException as error:  # goes on once the machine code has ended
                self._raised = error
                self.view[self.room.law : self.room.between] = np.nan

    def sampled(self, time: Floats) -> None:
        """Take these times of samples."""
        begin, answers = self.room.samples, np.zeros(len(time) * self.room.answer)
        self.numbers = array("d", np.concatenate([self.view[:begin], time, [np.inf], answers]).tobytes())
        self.view = np.frombuffer(self.numbers)
        self._given, self._rate = (self.view[self.room.places[name]] for name in ("given", "rate"))
        self["answers"] = begin + len(time) + 1
        self.use(self._printed)

    def steps(self) -> Floats:
        """The numbers (k, …) of the steps that were taken."""
        found: Floats = self["record"].reshape(-1, self.room.width)
        return found[: self["taken"]]

    def answers(self, first: int, time: Floats) -> Floats:
        """The numbers (t, …) of the samples at these times, from one on."""
        return self.view[self["answers"] :].reshape(-1, self.room.answer)[first:][: len(time)].copy()

    def evaluate(self, t: float, y: Floats, how: int) -> bool:
        """Evaluate a state; whether it is sound."""
        room, numbers = self.room, self.numbers
        numbers[room.time], self.wholes[room.how] = t, how
        self._given[:] = y
        self._called(self._evaluate)
        refused = numbers[room.rate + room.state - 1]
        return refused == refused

    def rate(self, t: float, y: Floats) -> Floats:
        """Derivative of a state; NaN where it is refused."""
        finite = self._printed.compiled or isfinite(y @ y)  # functions of Python refuse infinity
        return self._rate.copy() if finite and self.evaluate(t, y, How.TRIAL) else np.full(len(y), np.nan)

    def advance(self) -> None:
        """Take steps."""
        self._called(self._advance)

    def _called(self, function: Callable[[], None]) -> None:
        function()
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
