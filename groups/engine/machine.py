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

from groups.engine.arrays import DOUBT, FINITE, Life, Travel, aligned, pitch_of
from groups.engine.loops import (
    BLOCK,
    ENTRY,
    NOTES,
    Loop,
    write_blocks,
    write_guess,
    write_routine,
    write_strides,
    write_travel,
    write_turns,
)
from groups.engine.path import LEAP, SMOOTH, Course
from groups.engine.plan import QUALITY
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.llvm import Module

if TYPE_CHECKING:
    from groups.engine.path import Knots, Way
    from groups.engine.plan import Part, Plan

#: Most knots that are found at once.
KNOTS = 128
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
        for write in (write_blocks, write_travel, write_strides, write_guess):
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


POINTER, WHOLE, NUMBER = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
_SIGNATURES: dict[str, list[Any]] = {
    "blocks": [*[POINTER] * 3, WHOLE, POINTER, *[WHOLE] * 5, NUMBER, *[WHOLE] * 4],
    "guess": [POINTER, *[WHOLE] * 3, POINTER, *[WHOLE] * 2, *[POINTER] * 3],
    "strides": [
        *[POINTER] * 3, WHOLE, *[POINTER] * 2, *[WHOLE] * 4, NUMBER, POINTER, WHOLE, *[POINTER] * 3,
        WHOLE, NUMBER, *[POINTER] * 4, WHOLE,
    ],
    "travel": [POINTER, *[WHOLE] * 2, POINTER, WHOLE, *[POINTER] * 3],
    "turns": [*[POINTER] * 2, WHOLE, *[POINTER] * 2, WHOLE, POINTER, WHOLE],
}  # fmt: skip


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
        self._linked, self._alive = (_linker(), library.link(_linker(), f"plan{next(_numbers)}")), list[Any]()
        for name, kinds in signatures.items():
            setattr(self, name, ctypes.CFUNCTYPE(None, *kinds)(self.address(name)))

    def __getattr__(self, name: str) -> Callable[..., None]:
        raise AttributeError(name)

    def address(self, name: str) -> int:
        """Address of a function."""
        found: int = self._linked[1][name]
        return found

    def kept(self, numbers: Any) -> int:
        """Address of numbers in an array that lives as long as the program."""
        self._alive.append(np.ascontiguousarray(numbers))
        return address_of(self._alive[-1])


_numbers = count()


@cache
def _linker() -> Any:
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler()


class Room:
    """Memory that a thread works in, and its addresses: axes of a block, vectors, a coarse pass."""

    def __init__(self, machine: Machine) -> None:
        plan, lanes = machine.plan, machine.lanes
        self.axes = aligned(plan.height - plan.first_axes, BLOCK + lanes)
        self.vector = aligned(plan.first_axes, lanes)
        self.states = aligned(plan.first_axes, 2 * lanes)
        self.states[:] = plan.start[: plan.first_axes, None]
        machine.prepare(self.states)
        self.notes = np.zeros((len(plan.parts), NOTES, lanes))
        self.before, self.doubt = np.zeros(machine.turned.shape), np.zeros(lanes)
        #: Knots of a coarse pass, which are found at once, and the one that fails behind them.
        self.samples, self.knots = np.empty(KNOTS + 1, np.int64), np.empty((KNOTS + 1, plan.first_axes))
        #: Sample, steps of a batch and in it, whether the first sample is entered, knots; way of a stride.
        self.counts, self.wide = np.zeros(5, dtype=np.int64), np.zeros(1)
        self.at_axes, self.at_states, self.at_notes = map(address_of, (self.axes, self.states, self.notes))
        self.at_before, self.at_doubt = map(address_of, (self.before, self.doubt))
        self.at_course = [address_of(a) for a in (self.counts, self.wide, self.samples, self.knots)]


class Machine(Life):
    """All groups of a plan by machine code, which runs without the interpreter's lock."""

    def __init__(self, plan: Plan, code: bytes | None = None, host: Host | None = None) -> None:
        super().__init__(plan)
        self.host = Host.here() if host is None else host
        self.lanes = self.host.lanes
        text = Text.of(plan, self.lanes)
        #: Object code, which other processes on processors like this one may take.
        self.code = object_code(text.text, self.host) if code is None else code
        self._program = Program(self.code, _SIGNATURES, [loop.name for loop in text.loops.values()])
        kept = self._program.kept
        self._entries = np.zeros((len(plan.parts), ENTRY), dtype=np.int64)
        tables = {
            loop: kept(np.array([kept(t) for t in loop.tables], dtype=np.int64))
            for loop in text.loops.values()
        }
        rows, values = list[int](), list[float]()
        for part in plan.parts:
            loop = text.loops[part.routine]
            self._entries[part.index] = (
                self._program.address(loop.name), kept(part.geometry), kept(self._rows_of(part, loop)),
                tables[loop], part.index * NOTES * self.lanes,
            )  # fmt: skip
            rows += [part.quality + k for k in loop.fixed]
            values += loop.fixed.values()
        self._standing = {
            height: self._at_all_instants(height, rows, values) for height in (plan.first_axes, plan.height)
        }
        linear = [part.routine.linear for part in plan.parts for _ in part.state]
        smooth = np.where(linear, np.inf, SMOOTH * plan.scale)
        self._at_entries, self._at_smooth = address_of(self._entries), kept(smooth)
        self._nothing = np.array([0.0, np.inf, np.inf])[:, None]
        self._every = np.ones((len(plan.parts), KNOTS), dtype=np.bool_)
        own, bodies = (1, plan.wound) if plan.record.planar else (4, range(1, plan.mechanism.n_bodies))
        self._turning = np.array([plan.body(b) + plan.record.turn for b in bodies], dtype=np.int64)
        self.turned = self._turning[:, None] + np.arange(own)
        self._at_turning, self._at_scale = address_of(self._turning), kept(plan.scale_of_inputs)
        self._of_thread, self._spare = threading.local(), list[Floats]()

    def _at_all_instants(self, height: int, rows: list[int], values: list[float]) -> tuple[Ints, Floats]:
        """Rows, and their values, of the frame and of what is the same at all instants."""
        frame = self.plan.rows_of_body(0)
        frame = frame[frame < height]
        same = np.concatenate([self.plan.start[frame], values])[:, None]
        return np.concatenate([frame, np.array(rows, dtype=np.intp)]), same

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
            found = self._of_thread.room = Room(self)
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
        rows, values = self._standing[len(X)]
        X[rows] = values

    def columns(self, X: Floats, which: Ints, part: Part) -> Floats:
        plan, Y = self.plan, super().columns(X, which, part)
        if len(X) < plan.height:  # axes were kept for a block only
            mine = [b for k in (*part.known, part.index) for b in plan.parts[k].group.own]
            axes = plan.axes(plan.bodies(Y)[mine])
            Y[plan.first_axes :].reshape(plan.mechanism.n_bodies, -1, len(which))[mine] = axes
        return Y

    def seen(self, X: Floats, limit: float, notes: Floats | None = None) -> tuple[bool, Floats]:
        if notes is None:
            return super().seen(X, limit)
        return not np.count_nonzero(notes[:, 0]), notes[:, 1:]

    # --- solution ------------------------------------------------------------------------------------

    def apart(
        self, X: Floats, count: int, limit: float, first: int = 0, parts: Sequence[Part] | None = None
    ) -> Floats:
        if X.shape[1] > 1 and X.strides[1] != X.itemsize:
            Y = X.copy()
            notes = self.apart(Y, count, limit, first, parts)
            X[:] = Y
            return notes
        entries, plan = self._entries, self.plan
        self._room.notes[:] = self._nothing
        if parts is not None and len(parts) < len(entries):
            entries = entries[[part.index for part in parts]]
        if count == X.shape[1] and self._has_room(X):  # the last vector repeats the last instant
            whole = first - (first - count) // self.lanes * self.lanes
            self._blocks(X, entries, first, whole, limit, whole - count)
            return self._noted()
        whole = first + (count - first) // self.lanes * self.lanes
        if whole > first:
            self._blocks(X, entries, first, whole, limit)
        if whole < count:  # the last columns fill a vector
            Y = aligned(len(X), self.lanes) if len(X) > plan.first_axes else self._room.vector
            Y[:, : count - whole], Y[:, count - whole :] = X[:, whole:count], X[:, count - 1, None]
            self._blocks(Y, entries, 0, self.lanes, limit)
            rows: Ints | slice = slice(len(X))
            if entries is not self._entries:
                rows = np.concatenate([plan.rows_of_part(part) for part in parts or ()])
                rows = rows[rows < len(X)]
            X[rows, whole:count] = Y[rows, : count - whole]  # others may be solved at the same time
        return self._noted()

    def _noted(self) -> Floats:
        """(G, NOTES) notes of the thread's last call."""
        found: Floats = self._room.notes.min(axis=2)
        return found

    def _blocks(self, X: Floats, entries: Ints, first: int, end: int, limit: float, behind: int = 0) -> None:
        room, at, pitch, wide, moves = self._room, address_of(X), X.strides[0] // 8, BLOCK + self.lanes, 1
        plan, axes = self.plan, room.at_axes
        if len(X) == plan.height:  # all axes are kept
            axes, wide, moves = at + X.strides[0] * plan.first_axes, pitch, 0
        table = self._at_entries if entries is self._entries else address_of(entries)
        self._program.blocks(
            at, axes, table, len(entries), room.at_notes, pitch, wide, moves, first, end, limit,
            behind, plan.first_body if behind else 0, plan.q.start, plan.unknowns if behind else 0,
        )  # fmt: skip

    def one_by_one(self, X: Floats, which: Iterable[int], parts: Sequence[Part]) -> None:
        span = list(which)
        if span:
            self.apart(X, span[-1] + 1, FINITE, span[0], parts)

    def guess(self, X: Floats, time: Floats, first: Ints, knots: Floats, columns: Floats) -> None:
        plan, count = self.plan, len(time)
        Y, q = X, plan.q.start
        if not self._has_room(X):
            Y, q = aligned(plan.unknowns, count + self.lanes), 0
        states, time = columns[plan.first_state : plan.first_quality].copy(), np.ascontiguousarray(time)
        self._program.guess(
            address_of(Y), Y.strides[0] // 8, q, plan.unknowns, address_of(time), count, len(knots),
            address_of(first), address_of(knots), address_of(states),
        )  # fmt: skip
        if Y is not X:
            X[plan.q] = Y[:, :count]

    def _has_room(self, X: Floats) -> bool:
        """Whether a vector may go beyond the last column."""
        return int(X.strides[0] // 8) >= int(X.shape[1]) + self.lanes - 1

    def turns(self, X: Floats, way: Way, start: Floats) -> bool:
        if not len(self._turning):
            return True
        if not self._has_room(X):
            return False
        room, (at_X, at_time, *_) = self._room, way.measured.at  # inputs are the first rows
        room.before[:], room.doubt[:] = start[self.turned], 0.0
        self._program.turns(
            at_X, self._at_turning, len(self._turning), room.at_before, room.at_doubt, X.strides[0] // 8,
            at_time, X.shape[1],
        )  # fmt: skip
        return not np.count_nonzero(room.doubt)

    # --- coarse pass ---------------------------------------------------------------------------------

    def travelled(self, time: Floats, inputs: Floats) -> Travel:
        last, unit = len(time) - 1, inputs.shape[1] == 1 or inputs.strides[1] == 8
        inputs = inputs if unit else inputs.copy()
        kept = inputs, np.ascontiguousarray(time), np.empty(2 * last + self.lanes + 2)
        at_inputs, at_time, at = map(address_of, kept)
        first = last + self.lanes  # of the sums; steps are written by whole vectors
        self._program.travel(
            at_inputs,
            inputs.strides[0] // 8,
            len(inputs) // 3,
            at_time,
            last,
            self._at_scale,
            at,
            at + 8 * first,
        )
        room = kept[2]
        of = at_inputs, at_time, at, at + 8 * first
        return Travel(room[:last], room[first:-1], float(room[-1]), kept, of)

    def ahead(self, way: Way, knots: Knots, course: Course, most: float) -> Course:
        room = self._room
        room.counts[:] = int(course.x), course.batch, 0, course.enters, 0
        room.wide[0] = course.wide
        made, column = KNOTS, course.column
        while made == KNOTS:
            self._strides(column, way.measured, most)
            x, batch, _, enters, made = room.counts.tolist()
            if made:
                room.counts[-1] = 0
                columns, alive = room.knots[:made].copy().T, self._every[:, :made]
                knots.add(room.samples[:made].astype(float), columns, alive)
                column = columns[:, -1]
        return Course(float(x), column.copy(), float(room.wide[0]), batch, bool(enters))

    def steps_from(self, column: Floats, inputs: Floats, time: Floats, alive: Bools) -> tuple[Floats, bool]:
        plan, room, count = self.plan, self._room, len(time) - 1
        if not alive.all():  # closed forms of some groups may find them again
            X, sure = super().steps_from(column, inputs, time, alive)
            return X[: plan.first_axes], sure
        kept = np.empty((plan.first_body, count + 1)), time, np.zeros(count + 1)
        kept[0][:, 1:] = inputs
        at = tuple(map(address_of, kept))
        room.counts[:], room.wide[0] = (0, 2**62, 0, 0, 0), -1.0  # one sample at a time
        self._strides(column, Travel(*kept[-1:] * 2, 0.0, kept, (*at, at[-1])), -1.0)
        made = int(room.counts[-1])
        found = room.knots[: min(made + 1, count)].T
        return np.concatenate([column[: plan.first_axes, None], found], axis=1), made == count

    def _strides(self, column: Floats, way: Travel, most: float) -> None:
        """Find knots from a column on; behind them stands the one that failed."""
        plan, room = self.plan, self._room
        states = slice(plan.first_state, plan.first_quality)
        room.states[states, : self.lanes] = column[states, None]
        room.notes[:, 0] = 0.0
        (inputs, time, steps, sums), pitch = way.at, way.kept[0].strides[0] // 8
        self._program.strides(
            room.at_states, room.at_axes, self._at_entries, len(self._entries), room.at_notes,
            self._at_smooth, plan.first_body, plan.q.start, plan.unknowns, plan.first_axes, LEAP, inputs,
            pitch, time, steps, sums, len(way.kept[1]) - 1, most, *room.at_course, KNOTS,
        )  # fmt: skip


def address_of(array: Any) -> int:
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
