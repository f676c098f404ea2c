"""Equations of motion of a model made ready to run: traced, printed, and the memory of a run."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from math import isfinite
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from groups.dynamics.forward.bodies import Bodies
from groups.dynamics.forward.evaluation import How, Room, write_evaluation
from groups.dynamics.forward.stepping import write_advance
from groups.dynamics.forward.traced import Block, Traced
from mbssa.graph.script import CallbackError, MachineScript, PythonScript
from mbssa.graph.source import Printed, functions

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
#: Evaluations of a run at least, and by sample; seconds of Python for each by node; all roughly.
FEWEST, PER_SAMPLE, SECONDS = 500, 5, 2e-7


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

    @cached_property
    def measures(self) -> Printed:
        """Functions of what is measured in samples."""
        return functions("measures", [], self.traced.measures)


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
            self._machine = Machine(code, dict.fromkeys(("evaluate", "advance"), [ctypes.c_void_p] * 4))

    def functions(self, memory: Memory) -> tuple[Callable[[], None], Callable[[], None]]:
        """``evaluate`` and ``advance`` of a memory."""
        script = self.script
        if isinstance(script, PythonScript):
            names, own = script.made(memory.ask), (memory.numbers, memory.wholes)
            return partial(names["evaluate"], *own), partial(names["advance"], *own)
        back = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(memory.ask)
        tables = (ctypes.c_void_p * len(script.tables))(*(x.ctypes.data for x in script.tables.values()))
        memory.kept = back, tables
        at = (each.buffer_info()[0] for each in (memory.numbers, memory.wholes))
        arguments = *at, ctypes.cast(back, ctypes.c_void_p).value, ctypes.addressof(tables)
        return partial(self._machine.evaluate, *arguments), partial(self._machine.advance, *arguments)


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
        self._given, self._rate = self._named["given"]["given"], self._named["rate"]["rate"]
        self.kept: Any = None  # what machine code calls and reads
        self._raised: BaseException | None = None
        first = room.samples + len(time) + 1
        self["unit"], self["weight"], self["answers"] = traced.unit, traced.weights, first
        for name, x in zip(Block._fields, zip(*traced.blocks, strict=True), strict=False):
            self[name] = x
        self._answers = self.view[first:].reshape(-1, room.answer)
        self.use(code)

    def use(self, code: Code) -> None:
        """Go on by the functions of either life."""
        self._compiled, (self._evaluate, self._advance) = code.compiled, code.functions(self)

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

    def answers(self, first: int, time: Floats) -> Floats:
        """The numbers (t, …) of the samples at these times, from one on."""
        return self._answers[first : first + len(time)].copy()

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
        finite = self._compiled or isfinite(y @ y)  # functions of Python refuse infinity
        return self._rate.copy() if finite and self.evaluate(t, y, How.TRIAL) else np.full(len(y), np.nan)

    def advance(self) -> Floats:
        """Take steps; their numbers (k, …)."""
        self._called(self._advance)
        found: Floats = self["record"][: self["taken"]]
        return found

    def _called(self, function: Callable[[], None]) -> None:
        try:
            function()
        except CallbackError as error:  # of a function from outside, which is raised as it is
            raise error.__cause__ or error from None
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
