"""The life of machine code: the routines of a plan compiled, over blocks of instants."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np

from groups.engine.arrays import NOTES, Life, address_of, aligned, pitch_of
from groups.engine.loops import DOUBTFUL, ENTRY, FUNCTIONS, KNOTS, Loop, layout_of, text_of
from groups.engine.path import SMOOTH
from mbssa.arrays import Floats, Ints

if TYPE_CHECKING:
    from groups.engine.path import Course, Knots, Way
    from groups.engine.plan import Part, Plan

#: Numbers of an answer from which on its memory is kept for the next one, and most bytes.
LARGE, SPARE = 2**18, 2**28


class Host(NamedTuple):
    """A processor: its name, its features, and the lanes of its vectors; object code is for those alike."""

    name: str
    features: str
    lanes: int

    @staticmethod
    @cache
    def here() -> Host:
        import llvmlite.binding as llvm

        found = llvm.get_host_cpu_features()
        lanes = 8 if found.get("avx512f") else 4 if found.get("avx2") else 2
        return Host(llvm.get_host_cpu_name(), found.flatten(), lanes)


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
    return bytes(machine.emit_object(module))


@cache
def _initialise() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


_KINDS = {"ptr": ctypes.c_void_p, "i64": ctypes.c_int64, "double": ctypes.c_double, "i1": ctypes.c_bool}


class Program(SimpleNamespace):
    """Machine code in this process; functions whose arguments are given, as text, are attributes."""

    def __init__(self, code: bytes, functions: Mapping[str, str], others: Iterable[str] = ()) -> None:
        import llvmlite.binding as llvm

        _initialise()
        library = llvm.JITLibraryBuilder().add_object_img(code)
        for name in (*functions, *others):
            library.export_symbol(name)
        self._linked, self._alive = (_linker(), library.link(_linker(), f"plan{uuid4()}")), list[Any]()
        for name, arguments in functions.items():
            kinds = (_KINDS[argument.split()[0]] for argument in arguments.split(", "))
            setattr(self, name, ctypes.CFUNCTYPE(None, *kinds)(self._linked[1][name]))

    def entry(self, loop: Loop, geometry: Sequence[float]) -> list[int]:
        """Addresses of a function, of numbers of a geometry and of the function's tables."""
        tables = np.array([self.kept(table) for table in loop.tables], dtype=np.int64)
        return [int(self._linked[1][loop.name]), self.kept(geometry), self.kept(tables)]

    def kept(self, numbers: Any) -> int:
        """Address of numbers in an array that lives as long as the program."""
        self._alive.append(np.ascontiguousarray(numbers))
        return int(self._alive[-1].ctypes.data)


@cache
def _linker() -> Any:
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler()


class Room(threading.local):
    """Memory that a thread works in, by its layout; each has its own."""

    def __init__(self, plan: Plan, lanes: int) -> None:
        layout = layout_of(plan, lanes)
        block = aligned(1, layout.itemsize // 8)
        self.at, self.vector = address_of(block), aligned(plan.first_axes, lanes)
        self.least: Floats
        self.states, self.least, self.knots, self.wide, self.counts, self.samples = (
            block.view(layout)[0, 0][name]
            for name in ("states", "least", "knots", "wide", "course", "samples")
        )
        self.states[:] = plan.start[: plan.first_axes, None]


class Machine(Life):
    """All groups of a plan by machine code, which runs without the interpreter's lock."""

    def __init__(self, plan: Plan, code: bytes | None = None, host: Host | None = None) -> None:
        super().__init__(plan)
        self.host = Host.here() if host is None else host
        self.lanes, self.height = self.host.lanes, plan.first_axes
        text, loops = text_of(plan, self.lanes)
        #: Object code, which other processes on processors like this one may take.
        self.code = object_code(text, self.host) if code is None else code
        self._program = Program(self.code, FUNCTIONS, [loop.name for loop in loops.values()])
        kept = self._program.kept
        self._entries = np.zeros((len(plan.parts), ENTRY), dtype=np.int64)
        for part in plan.parts:  # rows are those in the array, or among the axes
            loop = loops[part.routine]
            rows = np.concatenate([plan.rows_of(part.group, loop.inputs), plan.rows_of_part(part)])
            rows = np.where(rows < plan.first_axes, rows, rows - plan.first_axes).astype(np.int64)
            entry = self._program.entry(loop, part.geometry)
            self._entries[part.index] = *entry, kept(rows), part.index * NOTES
        linear = [part.routine.linear for part in plan.parts for _ in part.state]
        self._at_entries = kept(self._entries)
        self._at_smooth = kept(np.where(linear, np.inf, SMOOTH * plan.scale))
        self._at_scale = kept(plan.scale_of_inputs)
        self._every = np.ones((len(plan.parts), KNOTS), dtype=np.bool_)
        bodies = plan.wound if plan.record.planar else range(1, plan.mechanism.n_bodies)
        turning = [plan.body(b) + plan.record.turn for b in bodies]
        self._turning = kept(np.array(turning, dtype=np.int64)), len(turning)
        self._room, self._spare = Room(plan, self.lanes), dict[int, Floats]()

    def memory(self, size: int) -> Floats:
        if size < LARGE:
            return np.empty(size)
        raw = self._spare.pop(0, None)  # in one step: threads must not take the same memory
        if raw is None or raw.size != size:
            raw = np.empty(size)
        return np.asarray(_Loan(raw, self._spare))

    def storage(self, count: int) -> Floats:
        X = aligned(self.height, pitch_of(count), self.memory, count)
        self.prepare(X)
        return X

    def apart(
        self, X: Floats, count: int, limit: float, first: int = 0, parts: Sequence[Part] | None = None
    ) -> Floats:
        entries = self._entries
        if parts is not None and len(parts) < len(entries):
            entries = entries[[part.index for part in parts]]
        whole = first + (count - first) // self.lanes * self.lanes
        room = int(X.strides[0]) // 8 - count  # for a vector beyond the last column
        if whole < count == X.shape[1] and room >= self.lanes - 1:  # it repeats the last instant
            return self._blocks(X, entries, first, whole + self.lanes, limit, whole + self.lanes - count)
        notes = self._blocks(X, entries, first, whole, limit)
        if whole < count:  # the last columns fill a vector
            Y = aligned(len(X), self.lanes) if len(X) > self.height else self._room.vector
            Y[:, : count - whole], Y[:, count - whole :] = X[:, whole:count], X[:, count - 1, None]
            notes = np.minimum(notes, self._blocks(Y, entries, 0, self.lanes, limit))
            rows: Ints | slice = slice(len(X))
            if entries is not self._entries:
                rows = np.concatenate([self.plan.rows_of_part(part) for part in parts or ()])
                rows = rows[rows < len(X)]
            X[rows, whole:count] = Y[rows, : count - whole]  # others may be solved at the same time
        return notes

    def _blocks(
        self, X: Floats, entries: Ints, first: int, end: int, limit: float, behind: int = 0
    ) -> Floats:
        """Solve some columns; the notes."""
        room = self._room
        table = self._at_entries if entries is self._entries else address_of(entries)
        self._program.blocks(
            address_of(X), X.strides[0] // 8, room.at, table, len(entries), len(X) > self.height, first, end,
            limit, behind,
        )  # fmt: skip
        return room.least.copy()

    def guess(self, X: Floats, first: Ints, knots: Floats, columns: Floats) -> None:
        states = columns[self.plan.first_state : self.plan.first_quality].copy()
        given = map(address_of, (first, knots, states))
        self._program.guess(address_of(X), X.strides[0] // 8, len(knots), *given)

    def turns(self, X: Floats, start: Floats) -> bool:
        at_rows, count = self._turning
        if not count:
            return True
        self._program.turns(
            address_of(X), X.strides[0] // 8, self._room.at, at_rows, count, address_of(start), X.shape[1]
        )
        return not int(self._room.counts[DOUBTFUL])

    def measure(self, way: Way) -> None:
        X, clock = address_of(way.X), address_of(way.clock)
        self._program.measure(X, way.X.strides[0] // 8, clock, way.last, self._at_scale)

    def ahead(self, way: Way, knots: Knots, course: Course, most: float) -> Course:
        room, states = self._room, slice(self.plan.first_state, self.plan.first_quality)
        x, column, room.wide[0], enters = course
        room.counts[:] = int(x), 0, enters, 0, 0
        room.states[states, : self.lanes] = column[states, None]
        self._program.strides(
            address_of(way.X), way.X.strides[0] // 8, address_of(way.clock), room.at, self._at_entries,
            self._at_smooth, way.last, most,
        )  # fmt: skip
        x, _, enters, made, _ = room.counts.tolist()
        if made:
            columns = room.knots[:made].copy().T
            knots.add(room.samples[:made].astype(float), columns, self._every[:, :made])
            column = columns[:, -1].copy()
        return float(x), column, float(room.wide[0]), bool(enters)


class _Loan:
    """Memory that is kept for the next answer of its size once nothing reads it any more."""

    # The system takes longer to hand out fresh pages than a closed form takes to fill them.
    def __init__(self, raw: Floats, spare: dict[int, Floats]) -> None:
        self.raw, self.spare = raw, spare
        self.__array_interface__ = raw.__array_interface__

    def __del__(self) -> None:
        if self.raw.nbytes <= SPARE:
            self.spare[0] = self.raw
