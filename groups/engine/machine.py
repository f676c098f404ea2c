"""The life of machine code: the routines of a plan compiled, over blocks of instants."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.engine.arrays import DOUBT, FINITE, Life, aligned, pitch_of
from groups.engine.loops import (
    BLOCK,
    ENTRY,
    NOTES,
    Loop,
    write_blocks,
    write_chain,
    write_guess,
    write_routine,
    write_turns,
)
from groups.engine.path import LEAP, SMOOTH
from groups.engine.plan import QUALITY
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.llvm import Module

if TYPE_CHECKING:
    from groups.engine.plan import Part, Plan

#: Most steps of a chain at once.
STEPS = 64
#: Numbers of an answer from which on its memory is kept for the next one, and most bytes.
LARGE, SPARE = 2**18, 2**28


class Host:
    """A processor: its name, its features, and the lanes of its vectors."""

    def __init__(self, name: str, features: str, lanes: int) -> None:
        self.name, self.features, self.lanes = name, features, lanes

    @staticmethod
    @cache
    def here() -> Host:
        """That of this machine."""
        import llvmlite.binding as llvm

        found = llvm.get_host_cpu_features()
        lanes = 8 if found.get("avx512f") else 4 if found.get("avx2") else 2
        return Host(llvm.get_host_cpu_name(), found.flatten(), lanes)

    def key(self) -> tuple[str, str, int]:
        """Name, features and lanes of the processors whose object code runs here."""
        return self.name, self.features, self.lanes


@dataclass(frozen=True, eq=False)
class Text:
    """Text of all functions of a plan, and their arguments by routine."""

    text: str
    loops: dict[Any, Loop]

    @staticmethod
    def of(plan: Plan, lanes: int) -> Text:
        """Print a plan's routines for so many lanes."""
        module, loops = Module(lanes), dict[Any, Loop]()
        for part in plan.parts:
            if part.routine not in loops:
                loops[part.routine] = write_routine(module, part.routine, f"routine{len(loops)}")
        for write in (write_blocks, write_chain, write_guess):
            write(module)
        write_turns(module, plan.record, DOUBT)
        return Text(module.text, loops)


def object_code(text: str, host: Host, triple: str | None = None, effort: int = 2) -> bytes:
    """Machine code of a text for a processor, of this machine unless a target is named; LLVM's ``effort``."""
    import llvmlite.binding as llvm

    _initialise()
    target = llvm.Target.from_default_triple() if triple is None else llvm.Target.from_triple(triple)
    machine = target.create_target_machine(
        cpu=host.name, features=host.features, opt=effort, jit=triple is None
    )
    module = llvm.parse_assembly(text)
    if triple is not None:
        module.triple = triple
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    found: bytes = machine.emit_object(module)
    return found


@cache
def _initialise() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


_POINTER, _WHOLE, _NUMBER = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
_SIGNATURES: dict[str, list[Any]] = {
    "blocks": [*[_POINTER] * 3, _WHOLE, _POINTER, *[_WHOLE] * 5, _NUMBER],
    "chain": [*[_POINTER] * 3, _WHOLE, _POINTER, _WHOLE, _POINTER, *[_WHOLE] * 3, _NUMBER, *[_POINTER] * 2],
    "guess": [_POINTER, *[_WHOLE] * 3, _POINTER, _WHOLE, *[_POINTER] * 3],
    "turns": [*[_POINTER] * 2, _WHOLE, *[_POINTER] * 2, _WHOLE, _POINTER, _WHOLE],
}


class Program:
    """Machine code in this process; its functions are attributes."""

    def __init__(
        self, code: bytes, signatures: Mapping[str, Sequence[Any]], others: Iterable[str] = ()
    ) -> None:
        import llvmlite.binding as llvm

        _initialise()
        library = llvm.JITLibraryBuilder().add_object_img(code)
        for name in (*signatures, *others):
            library.export_symbol(name)
        self._kept = _linker(), library.link(_linker(), f"plan{next(_numbers)}")
        for name, kinds in signatures.items():
            setattr(self, name, ctypes.CFUNCTYPE(None, *kinds)(self.address(name)))

    def __getattr__(self, name: str) -> Callable[..., None]:
        raise AttributeError(name)

    def address(self, name: str) -> int:
        """Address of a function."""
        found: int = self._kept[1][name]
        return found


_numbers = count()


@cache
def _linker() -> Any:
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler()


@dataclass(eq=False)
class Room:
    """Memory that a thread works in: axes of a block, a vector of instants, and a chain."""

    axes: Floats
    vector: Floats
    chain: Floats
    notes: Floats

    def __post_init__(self) -> None:
        #: Addresses of the arrays, by which machine code knows them.
        self.at = [_at(array) for array in (self.axes, self.chain, self.notes)]


class Machine(Life):
    """All groups of a plan by machine code, which runs without the interpreter's lock."""

    batch = 2**16

    def __init__(self, plan: Plan, code: bytes | None = None, host: Host | None = None) -> None:
        super().__init__(plan)
        self.host = Host.here() if host is None else host
        self.lanes = self.host.lanes
        text = Text.of(plan, self.lanes)
        #: Object code, which other processes on processors like this one may take.
        self.code = object_code(text.text, self.host) if code is None else code
        self._program = Program(self.code, _SIGNATURES, [loop.name for loop in text.loops.values()])
        self._alive: list[Any] = []
        self._entries = np.zeros((len(plan.parts), ENTRY), dtype=np.int64)
        tables = {
            loop: self._kept(np.array([_at(self._kept(t)) for t in loop.tables]))
            for loop in text.loops.values()
        }
        rows, values = list[int](), list[float]()
        for part in plan.parts:
            loop = text.loops[part.routine]
            geometry, of_rows = self._kept(np.array(part.geometry)), self._kept(self._rows_of(part, loop))
            self._entries[part.index] = (
                self._program.address(loop.name), _at(geometry), _at(of_rows), _at(tables[loop]),
                part.index * NOTES * self.lanes,
            )  # fmt: skip
            rows += [part.quality + k for k in loop.fixed]
            values += loop.fixed.values()
        self._fixed = np.array(rows, dtype=np.intp), np.array(values)[:, None]
        self._constants = [_at(self._entries), _at(self._kept(SMOOTH * plan.scale))]
        self._nothing = np.full((len(plan.parts), NOTES, self.lanes), np.inf)
        self._nothing[:, 0] = 0.0
        own, bodies = (1, plan.wound) if plan.record.planar else (4, range(1, plan.mechanism.n_bodies))
        self._turning = np.array([plan.body(b) + plan.record.turn for b in bodies], dtype=np.int64)
        self._turned = self._turning[:, None] + np.arange(own)
        self._of_thread, self._spare = threading.local(), list[Floats]()

    def _kept(self, array: Any) -> Any:
        """An array that lives as long as its address is used."""
        array = np.ascontiguousarray(array)
        self._alive.append(array)
        return array

    def _rows_of(self, part: Part, loop: Loop) -> Ints:
        """Rows in the array, or among the axes, in the order of a function's table."""
        plan = self.plan
        inputs = plan.rows_of(part.group, loop.inputs)
        states = [part.state + k * plan.unknowns for k in range(3)]
        rows = np.concatenate([inputs, *states, part.records, part.quality + np.arange(len(QUALITY))])
        return np.where(rows < plan.first_axes, rows, rows - plan.first_axes).astype(np.int64)

    @property
    def _room(self) -> Room:
        found: Room | None = getattr(self._of_thread, "room", None)
        if found is None:
            plan = self.plan
            axes = aligned(plan.height - plan.first_axes, BLOCK + self.lanes)
            vector, chain = (aligned(plan.first_axes, self.lanes * k) for k in (1, STEPS + 1))
            chain[:] = plan.start[: plan.first_axes, None]
            self.prepare(chain)
            notes = np.zeros((len(plan.parts) + 1, NOTES, self.lanes))
            found = self._of_thread.room = Room(axes, vector, chain, notes)
        return found

    # --- storage -------------------------------------------------------------------------------------

    @property
    def height(self) -> int:
        return self.plan.first_axes

    def memory(self, size: int) -> Floats:
        return np.empty(size) if size < LARGE else _lent(size, self._spare)

    def storage(self, count: int) -> Floats:
        X = aligned(self.height, pitch_of(count), self.memory)[:, :count]
        self.prepare(X)
        return X

    def prepare(self, X: Floats) -> None:
        frame = self.plan.rows_of_body(0)
        frame = frame[frame < len(X)]
        X[frame] = self.plan.start[frame, None]
        rows, values = self._fixed
        X[rows] = values

    def columns(self, X: Floats, which: Ints, part: Part) -> Floats:
        plan, Y = self.plan, super().columns(X, which, part)
        if len(X) < plan.height:  # axes were kept for a block only
            mine = [b for k in (*part.known, part.index) for b in plan.parts[k].group.own]
            axes = plan.axes(plan.bodies(Y)[mine])
            Y[plan.first_axes :].reshape(plan.mechanism.n_bodies, -1, len(which))[mine] = axes
        return Y

    def seen(
        self, X: Floats, limit: float, notes: Floats | None = None
    ) -> tuple[bool, list[tuple[float, float]]]:
        if notes is None:
            return super().seen(X, limit)
        least = notes.min(axis=2).tolist()
        ranges = [(a, -b) for n in least for a, b in (n[1::2], n[2::2])]
        return not any(n[0] for n in least), ranges

    # --- solution ------------------------------------------------------------------------------------

    def apart(
        self, X: Floats, count: int, limit: float, first: int = 0, parts: Sequence[Part] | None = None
    ) -> Floats:
        if X.shape[1] > 1 and X.strides[1] != X.itemsize:
            Y = X.copy()
            notes = self.apart(Y, count, limit, first, parts)
            X[:] = Y
            return notes
        entries, plan, notes = self._entries, self.plan, self._nothing.copy()
        rows: Ints | slice = slice(len(X))
        if parts is not None and len(parts) < len(entries):
            entries = entries[[part.index for part in parts]]
            rows = np.concatenate([plan.rows_of_part(part) for part in parts])
            rows = rows[rows < len(X)]
        elif count == X.shape[1] and self._has_room(X):  # the last vector repeats the last instant
            whole = first - (first - count) // self.lanes * self.lanes
            W = np.lib.stride_tricks.as_strided(X, (len(X), whole), X.strides)
            for given in (slice(plan.first_body), plan.q):
                W[given, count:] = X[given, count - 1 : count]
            self._blocks(W, entries, notes, first, whole, limit)
            return notes
        whole = first + (count - first) // self.lanes * self.lanes
        if whole > first:
            self._blocks(X, entries, notes, first, whole, limit)
        if whole < count:  # the last columns fill a vector
            Y = aligned(len(X), self.lanes) if len(X) > plan.first_axes else self._room.vector
            Y[:, : count - whole], Y[:, count - whole :] = X[:, whole:count], X[:, count - 1, None]
            self._blocks(Y, entries, notes, 0, self.lanes, limit)
            X[rows, whole:count] = Y[rows, : count - whole]  # others may be solved at the same time
        return notes

    def _blocks(self, X: Floats, entries: Ints, notes: Floats, first: int, end: int, limit: float) -> None:
        at, pitch, wide, moves = _at(X), X.strides[0] // 8, BLOCK + self.lanes, 1
        axes = self._room.at[0]
        if len(X) == self.plan.height:  # all axes are kept
            axes, wide, moves = at + X.strides[0] * self.plan.first_axes, pitch, 0
        table = self._constants[0] if entries is self._entries else _at(entries)
        self._program.blocks(at, axes, table, len(entries), _at(notes), pitch, wide, moves, first, end, limit)

    def one_by_one(self, X: Floats, which: Iterable[int], parts: Sequence[Part]) -> None:
        span = list(which)
        if span:
            self.apart(X, span[-1] + 1, FINITE, span[0], parts)

    def guess(self, X: Floats, time: Floats, first: Ints, knots: Floats, columns: Floats) -> None:
        plan, count = self.plan, len(time)
        Y, q = X, plan.q.start
        if not self._has_room(X):
            Y, q = aligned(plan.unknowns, count + self.lanes), 0
        states, padded = columns[plan.first_state : plan.first_quality].copy(), self._padded(time)
        self._program.guess(
            _at(Y), Y.strides[0] // 8, q, plan.unknowns, _at(padded), len(knots), _at(first), _at(knots),
            _at(states),
        )  # fmt: skip
        if Y is not X:
            X[plan.q] = Y[:, :count]

    def _has_room(self, X: Floats) -> bool:
        """Whether a vector may go beyond the last column."""
        return int(X.strides[0] // 8) >= int(X.shape[1]) + self.lanes - 1

    def _padded(self, time: Floats) -> Floats:
        return np.concatenate([time, np.full(self.lanes, time[-1])])

    def turns(self, X: Floats, time: Floats, start: Floats) -> bool:
        rows = self._turning
        if not len(rows):
            return True
        if not self._has_room(X):
            return False
        before, doubt, padded = start[self._turned], np.zeros(self.lanes), self._padded(time)
        self._program.turns(
            _at(X), _at(rows), len(rows), _at(before), _at(doubt), X.strides[0] // 8, _at(padded), X.shape[1]
        )
        return not bool(doubt.any())

    def steps_from(self, column: Floats, inputs: Floats, steps: Floats, alive: Bools) -> tuple[Floats, bool]:
        if not alive.all():  # closed forms of some groups may find them again
            return super().steps_from(column, inputs, steps, alive)
        found, plan, sure = np.zeros((self.plan.height, len(steps) + 1)), self.plan, True
        found[: len(column), 0] = column
        for k in range(0, len(steps), STEPS):
            more = slice(k, k + STEPS)
            part = found[: plan.first_axes, k + 1 : k + 1 + STEPS]
            sure &= self._chain(found[:, k], inputs[:, more], np.ascontiguousarray(steps[more]), part)
        return found, sure

    def _chain(self, column: Floats, inputs: Floats, steps: Floats, out: Floats) -> bool:
        """Columns of a chain, and whether all of them are fine, and lie on one smooth path."""
        plan, room, count, lanes = self.plan, self._room, len(steps), self.lanes
        X, notes, states = room.chain, room.notes, slice(plan.first_state, plan.first_quality)
        X[states, :lanes] = column[states, None]
        X[: plan.first_body, lanes : lanes * (count + 1)] = np.repeat(inputs, lanes, axis=1)
        notes[:] = 0.0
        (axes, chain, noted), (entries, scale) = room.at, self._constants
        self._program.chain(
            chain, axes, entries, len(self._entries), noted, X.strides[0] // 8, _at(steps), count,
            plan.q.start, plan.unknowns, LEAP, scale, noted + notes.strides[0] * len(self._entries),
        )  # fmt: skip
        out[:] = X[:, lanes : lanes * (count + 1) : lanes]
        return not notes[:, 0].any()  # of the last, it is the path


def _at(array: Any) -> int:
    """Address of an array."""
    found: int = array.__array_interface__["data"][0]
    return found


class _Loan:
    """Memory that is kept for the next answer of its size once nothing reads it any more."""

    # The system takes longer to hand out fresh pages than a closed form takes to fill them.
    def __init__(self, raw: Floats, spare: list[Floats]) -> None:
        self.raw, self.spare = raw, spare
        self.__array_interface__ = raw.__array_interface__

    def __del__(self) -> None:
        if self.raw.nbytes <= SPARE:
            self.spare[:] = [self.raw]


def _lent(size: int, spare: list[Floats]) -> Floats:
    try:
        raw = spare.pop()  # in one step: threads must not take the same memory
    except IndexError:
        raw = np.empty(size)
    return np.asarray(_Loan(raw if raw.size == size else np.empty(size), spare))
