"""Equations of motion of a model made ready to run: traced, printed, and their memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from groups.dynamics.forward.evaluation import (
    Room,
    write_eliminate,
    write_masses,
    write_rate,
    write_solve,
    write_straight,
)
from groups.dynamics.forward.stepping import Clock, write_advance
from groups.dynamics.forward.traced import Traced, weights
from mbssa.graph.frames import quaternion
from mbssa.graph.nodes import Number, above, sqrt
from mbssa.graph.script import MachineScript, PythonScript
from mbssa.graph.source import functions

if TYPE_CHECKING:
    from groups.model import Model
    from mbssa.arrays import Floats

#: Steps that are taken at once.
CAPACITY = 16
#: Nodes from which on compiling with effort takes a second and longer: without, it takes a fifth of that,
#: and the code is half as fast.
LARGE = 3000
#: Seconds of making machine code: at least, and by node, with effort and without.
PRICE = 0.2, 3e-4, 4e-5
#: Evaluations of a run at least, and by sample; seconds of Python for each by node; all roughly.
FEWEST, PER_SAMPLE, SECONDS = 500, 5, 2e-7


class Program:
    """Traced equations with their functions; the memory is made for each run."""

    def __init__(
        self, model: Model, applied: Sequence[str], laws: Sequence[str], asks: bool, whole: bool
    ) -> None:  # fmt: skip
        self.traced = Traced(model, applied, laws, whole)
        self.applied, self.laws, self.asks = tuple(applied), tuple(laws), asks
        self._made: dict[tuple[str, bool], Printed] = {}
        #: Seconds that Python has taken so far.
        self.spent = 0.0

    @staticmethod
    def of(
        model: Model, applied: Sequence[str], laws: Sequence[str], asks: bool, whole: bool
    ) -> Program:  # fmt: skip
        """The program of a model, made once; it ``asks`` if laws or forces are functions of time."""
        kept = _programs.setdefault(model, {})
        key = tuple(applied), tuple(laws), asks, whole
        if key not in kept:
            kept[key] = Program(model, *key)
        return kept[key]

    @cached_property
    def is_printable(self) -> bool:
        """Whether all is traced, so that machine code can be made of it."""
        nodes = self.traced.graph.nodes
        return not any(nodes[i][0] == "user" for i in self.traced.needed)

    def printed(self, integrator: str, compiled: bool) -> Printed:
        """Functions for an integrator, in one of the two lives."""
        compiled = compiled and self.is_printable
        if (integrator, compiled) not in self._made:
            self._made[integrator, compiled] = Printed(self, integrator, compiled)
        return self._made[integrator, compiled]

    @cached_property
    def price(self) -> float:
        """Seconds of making machine code, roughly; infinite where a function cannot be traced."""
        nodes = len(self.traced.needed)
        return PRICE[0] + PRICE[1 if nodes < LARGE else 2] * nodes if self.is_printable else np.inf

    def compiles(self, integrator: str) -> bool:
        """Whether machine code is made, or pays beside what Python has taken or will take at least."""
        return (integrator, True) in self._made or self.spent > self.price or self.pays(1, 0)

    def pays(self, runs: int, samples: int) -> bool:
        """Whether machine code takes less to make than Python for so many runs."""
        evaluations = runs * max(FEWEST, PER_SAMPLE * samples)
        return evaluations * SECONDS * len(self.traced.needed) > self.price

    @cached_property
    def weights(self) -> Floats:
        """(m,) inverse sizes of the rows."""
        traced = self.traced
        made, used = functions("jacobian", [], list(traced.jacobian.values()))
        values = made[0]([0.0 if name != "x" else traced.start[k] for name, k in used], ())
        return weights(traced, values)

    @cached_property
    def _bodies(self) -> tuple[Callable[..., Any], list[tuple[str, Any]]]:
        traced, numbers = self.traced, list[Number]()
        for b in range(1, traced.mechanism.n_bodies):
            frame = traced.bodies[b]
            place, velocity, acceleration = traced.state_of(frame)
            if traced.mechanism.space == "planar":
                pick = (0, 1, 5)
                numbers += [*place[:2], frame.angle]
                numbers += [velocity[k] for k in pick] + [acceleration[k] for k in pick]
            else:
                numbers += [*place, *quaternion(frame.axes, above, sqrt), *velocity, *acceleration]
        made, used = functions("bodies", [], numbers)
        return made[1], used

    def bodies(self, x: Floats, v: Floats, a: Floats) -> tuple[Floats, ...]:
        """Position, orientation, velocity and acceleration (T, N, …) of all bodies at coordinates (n, T)."""
        function, used = self._bodies
        given = {"x": x, "v": v, "a": a}
        zero = np.zeros(x.shape[1])
        found = function([given[name][k] if name in given else zero for name, k in used], ())
        rows = np.array([np.broadcast_to(number, zero.shape) for number in found])
        frames, N = self.traced.frames, self.traced.mechanism.n_bodies
        planar = self.traced.mechanism.space == "planar"
        records = np.zeros((N, 9 if planar else 19, len(zero)))
        records[1:] = rows.reshape(N - 1, -1, len(zero))
        records[0, : 2 if planar else 3] = frames.position[0, : 2 if planar else 3, None]
        if not planar:
            records[0, 3:7] = np.array(quaternion(frames.rotation[0].T.tolist(), above, sqrt))[:, None]
        plane, space = ((0, 2), 2, (3, 6), (6, 9)), ((0, 3), (3, 7), (7, 13), (13, 19))
        parts = (slice(*at) if isinstance(at, tuple) else at for at in (plane if planar else space))
        return tuple(np.moveaxis(records[:, part], -1, 0) for part in parts)


#: Programs by model.
_programs: WeakKeyDictionary[Any, dict[Any, Program]] = WeakKeyDictionary()


class Printed:
    """Functions of a program in one life, and places of their memory."""

    def __init__(self, program: Program, integrator: str, compiled: bool) -> None:
        self.program, self.compiled = program, compiled
        traced = program.traced
        room = self.room = Room(traced, len(program.applied))
        clock = self.clock = Clock(room, integrator, CAPACITY)
        script: MachineScript | PythonScript = MachineScript() if compiled else PythonScript()
        write_eliminate(script, room)
        write_solve(script, room)
        write_masses(script, room)
        write_rate(script, traced, room, program.asks)
        ends = clock.y, clock.K[0], room.x, clock.K[clock.stages], clock.h
        write_straight(script, traced, room, ends)
        write_advance(script, room, clock)
        self._script = script
        if isinstance(script, MachineScript):
            from groups.engine.machine import Host, object_code
            from groups.engine.machine import Program as Machine

            signature = [ctypes.c_void_p] * 3
            code = object_code(script.text, Host.here(), effort=2 if len(traced.needed) < LARGE else 0)
            self._machine = Machine(code, dict.fromkeys(("evaluate", "advance"), signature))

    @property
    def text(self) -> str:
        """The source, or the LLVM text."""
        script = self._script
        return script.text if isinstance(script, MachineScript) else "\n".join(script.lines)

    def memory(self, ask: Callable[[float, Any], None]) -> Memory:
        """A memory of a run, with functions on it."""
        return (_Compiled if self.compiled else Memory)(self, ask)


class Memory:
    """The memory of a run, lists of Python; ``evaluate`` and ``advance`` work on it."""

    def __init__(self, printed: Printed, ask: Callable[[float, Any], None]) -> None:
        self.printed, self.room, self.clock, self.asked = printed, printed.room, printed.clock, ask
        self.m, self.p = self._made()
        self._place()
        room, program = self.room, printed.program
        self[self.clock.samples] = np.inf
        self[room.unit : room.unit + room.n] = program.traced.unit
        self[room.weight : room.weight + room.m] = program.weights
        for k, block in enumerate(program.traced.blocks):
            for at, x in zip((room.top, room.bottom, room.left, room.right), block, strict=True):
                self.p[at + k] = x

    def _made(self) -> tuple[Any, Any]:
        script = self.printed._script
        assert isinstance(script, PythonScript)
        names = script.made(self._ask)
        self._evaluate, self._advance = names["evaluate"], names["advance"]
        return [0.0] * (self.room.size + 1), [0] * self.room.wholes

    def _place(self) -> None:
        """Lists need no addresses."""

    def __getitem__(self, k: Any) -> Any:
        return np.array(self.m[k]) if isinstance(k, slice) else self.m[k]

    def __setitem__(self, k: Any, x: Any) -> None:
        self.m[k] = np.asarray(x).tolist() if isinstance(k, slice) else float(x)

    def _ask(self, m: Any, p: Any) -> None:
        self.asked(m[self.room.time], m)

    def take(self, other: Memory) -> None:
        """Go on from another memory of the same equations."""
        self.m, self.p = np.array(other.m, dtype=np.float64), np.array(other.p, dtype=np.int64)
        self._place()

    def answer(self, k: int) -> Any:
        """The numbers of a sample."""
        at = int(self.p[self.clock.answers]) + k * self.clock.answer
        return self[at : at + self.clock.answer]

    def sampled(self, time: Sequence[float]) -> None:
        """Take these times of samples."""
        answers = [0.0] * (len(time) * self.clock.answer)
        self.m = [*self.m[: self.clock.samples], *map(float, time), np.inf, *answers]
        self.p[self.clock.answers] = self.clock.samples + len(time) + 1

    def evaluate(self, t: float, y: Floats, how: int) -> bool:
        """Evaluate a state; whether it is sound."""
        room = self.room
        self[room.time], self.p[room.how] = t, how
        self[room.given : room.given + room.state] = y
        self._evaluate(self.m, self.p)
        refused = self.m[room.rate + room.state - 1]
        return bool(refused == refused)

    def advance(self) -> None:
        """Take steps."""
        self._advance(self.m, self.p)


class _Compiled(Memory):
    """The memory of machine code: arrays."""

    def _made(self) -> tuple[Any, Any]:
        machine = self.printed._machine
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        self._raised: BaseException | None = None
        self._back = kind(self._asked_back)
        self._functions = machine.evaluate, machine.advance
        return np.zeros(self.room.size + 1), np.zeros(self.room.wholes, dtype=np.int64)

    def __getitem__(self, k: Any) -> Any:
        return self.m[k].copy() if isinstance(k, slice) else float(self.m[k])

    def __setitem__(self, k: Any, x: Any) -> None:
        self.m[k] = x

    def _asked_back(self, _: Any) -> None:
        if self._raised is None:
            try:
                self.asked(float(self.m[self.room.time]), self.m)
            except BaseException as error:  # goes on once the machine code has ended
                self._raised = error
                self.m[self.room.law : self.room.applied] = np.nan
                self.m[self.room.applied : self.room.between] = np.nan

    def sampled(self, time: Sequence[float]) -> None:
        answers = np.zeros(len(time) * self.clock.answer)
        self.m = np.concatenate([self.m[: self.clock.samples], time, [np.inf], answers])
        self.p[self.clock.answers] = self.clock.samples + len(time) + 1
        self._place()

    def _place(self) -> None:
        """Note the addresses of the memory and of the function that is called back."""
        ask = ctypes.cast(self._back, ctypes.c_void_p).value
        self._at = self.m.ctypes.data, self.p.ctypes.data, ask

    def evaluate(self, t: float, y: Floats, how: int) -> bool:
        room, m = self.room, self.m
        m[room.time], self.p[room.how] = t, how
        m[room.given : room.given + room.state] = y
        self._call(0)
        refused = m[room.rate + room.state - 1]
        return bool(refused == refused)

    def advance(self) -> None:
        self._call(1)

    def _call(self, which: int) -> None:
        self._functions[which](*self._at)
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
