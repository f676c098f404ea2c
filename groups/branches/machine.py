"""The test of all groups of a plan as machine code: over instants, then over the steps between them."""

# A function reads and writes rows of some arrays, by a table of their addresses: those that it writes, then
# those that it reads. The arrays are the engine's, X, and V of what is found of instants, each from the left
# and from the right end of a step on; and W of what is found of steps, and of their lengths.

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from math import nan, pi
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from groups.branches.bounds import along_cubic
from groups.branches.theorem import OFF, ends_of
from groups.engine.arrays import LINE, address_of, aligned, pitch_of
from groups.engine.machine import POINTER, WHOLE, Host, Program, object_code
from groups.rotations import rotation_of
from mbssa.graph.llvm import Module, Writer
from mbssa.graph.nodes import Graph, Number, cos, graph_of, rounded, sin

if TYPE_CHECKING:
    from groups.branches.prover import Proven, Prover, Test
    from groups.engine.routine import Record
    from mbssa.arrays import Floats, Ints

X, V, W = 0, 2, 4
SIDES = LEFT, RIGHT = 0, 1
#: Instants or steps of a block: what all groups find of it stays in a core's cache.
BLOCK = 256
#: Of a function: its address, geometry, tables of curves, and the place of its rows in the table.
ENTRY = 4

#: A row that a function reads: its array, and which number of a group it is.
Key: TypeAlias = tuple[int, str, Any]


class Loop:
    """A function over columns: the rows that it reads, and tables of curves."""

    def __init__(
        self, module: Module, name: str, load: Callable[[Loop, str, Any], str], results: Sequence[Number],
        stages: Sequence[tuple[str, Sequence[Number]]] = (),
    ) -> None:  # fmt: skip
        # ``load(loop, name, k)`` gives the text of an input.
        self.name, self.n_results = name, len(results)
        self.reads: list[Key] = []
        self.tables: list[Floats] = []
        self._text: dict[object, str] = {}
        with module.function(name, "ptr %T, ptr %P, ptr %C, i64 %first, i64 %end") as self.code:
            code = self.code
            with code.loop("%first", "%end", str(code.lanes)) as self.t:
                writer = Writer(code, lambda name, k: load(self, name, k), self._table)
                for given, nodes in stages:
                    graph = graph_of(results)
                    assert graph is not None
                    writer.stage(graph, given, nodes)
                for k, x in enumerate(writer.write(results)):
                    code.store(x, self._element(k))

    def _pointer(self, table: str, k: int) -> str:
        return self.code.load(self.code.at(table, k, "ptr", first=True), "ptr", first=True)

    def _element(self, place: int) -> str:
        return self.code.at(self._pointer("%T", place), self.t)

    def row(self, *key: Any) -> str:
        if key not in self._text:
            self._text[key] = self.code.load(self._element(self.n_results + len(self.reads)))
            self.reads.append(key)
        return self._text[key]

    def geometry(self, k: int) -> str:
        if k not in self._text:
            code = self.code
            number = code.load(code.at("%P", k, first=True), "double", first=True)
            self._text[k] = code.splat(number, first=True)
        return self._text[k]

    def _table(self, numbers: Floats) -> str:
        key = "table", id(numbers)
        if key not in self._text:
            self._text[key] = self._pointer("%C", len(self.tables))
            self.tables.append(numbers)
        return self._text[key]

    def numbers(self, numbers: Sequence[Number], given: Callable[[str, Any], str]) -> list[str]:
        """Texts of some numbers of another graph."""
        return Writer(self.code, given, self._table).write(numbers)


def _axes(record: Record) -> list[Number]:
    """Axes of a body by its angle or quaternion."""
    graph = Graph()
    if record.planar:
        angle = graph.input("x", record.turn)
        return [cos(angle), sin(angle)]
    q = np.array([graph.input("x", record.turn + k) for k in range(4)], dtype=object)
    return rotation_of(q).ravel().tolist()


def _at_instant(loop: Loop, name: str, k: Any) -> str:
    return loop.geometry(k) if name == "g" else loop.row(X, name, k)


class _Step:
    """Texts of the inputs of a test over steps."""

    def __init__(self, test: Test, record: Record) -> None:
        self.test, self.record = test, record
        self._paths: dict[tuple[str, Any], list[str]] = {}

    def __call__(self, loop: Loop, name: str, data: Any) -> str:
        if name == "g":
            return loop.geometry(data)
        if name == "ends":
            return self._ends(loop)
        part, kind, k = data
        if part == OFF:
            return loop.row(W, "off", (kind, k))
        if (kind, k) not in self._paths:
            self._paths[kind, k] = self._path(loop, kind, k)
        return self._paths[kind, k][int(part)]

    def _ends(self, loop: Loop) -> str:
        at_ends = {kind: [loop.row(V + side, kind, 0) for side in SIDES] for kind in ("residual", "rest")}
        at_ends["step"] = [loop.row(W, "step", 0)]
        return loop.numbers(_ends(), lambda name, k: at_ends[name][k])[0]

    def _path(self, loop: Loop, kind: str, k: Any) -> list[str]:
        both = [self._value_and_rate(loop, side, kind, k) for side in SIDES]
        given = {"x": [x for x, _ in both], "dx": [dx for _, dx in both], "step": [loop.row(W, "step", 0)]}
        winds = kind == "q" and bool(self.test.coordinates) and self.test.routine.group.turns[k]
        return loop.numbers(_path(winds), lambda name, k: given[name][k])

    def _value_and_rate(self, loop: Loop, side: int, kind: str, k: Any) -> tuple[str, str]:
        if kind in ("u", "c"):
            return loop.row(X + side, kind, k), loop.row(X + side, kind, k + 1)
        if kind == "b":
            rate = self.record.rate(lambda i: _rates.input("b", i), k[1])
            (text,) = loop.numbers([rate], lambda _, i: loop.row(X + side, "b", (k[0], i)))
            return loop.row(X + side, kind, k), text
        array = V if kind == "hard" or self.test.coordinates else X
        return loop.row(array + side, kind, k), loop.row(array + side, f"d{kind}", k)


#: The graph of rates of bodies' numbers.
_rates = Graph()


@cache
def _ends() -> list[Number]:
    graph = Graph()
    residual, rest = ([graph.input(kind, side) for side in SIDES] for kind in ("residual", "rest"))
    return [ends_of(residual, rest, graph.input("step", 0))]


@cache
def _path(winds: bool) -> list[Number]:
    """The path of a number by its values and rates at both ends; principal angles go on as these say."""
    graph = Graph()
    (a, b), rates = ([graph.input(name, side) for side in SIDES] for name in ("x", "dx"))
    before, after = (graph.input("step", 0) * rate for rate in rates)
    if winds:
        b = b + 2 * pi * rounded((a + 0.5 * (before + after) - b) * (0.5 / pi))
    return list(along_cubic(a, b, before, after))


def _write_run(module: Module) -> None:
    """Write ``run``: all functions E go over a block of columns, then the next."""
    with (
        module.function("run", "ptr %E, i64 %count, ptr %T, i64 %end") as code,
        code.blocks("0", "%end", BLOCK) as (t, stop),
        code.loop("0", "%count") as k,
    ):
        entry = code.at("%E", code(f"mul i64 {k}, {ENTRY}"), "i64")
        call, P, C = (code.load(code.at(entry, k, "i64"), "ptr") for k in range(3))
        rows = code.at("%T", code.load(code.at(entry, 3, "i64"), "i64"), "ptr")
        code.do(f"call void {call}(ptr {rows}, ptr {P}, ptr {C}, i64 {t}, i64 {stop})")


class _Calls:
    """Functions with their geometry and rows, which run one after another over blocks of columns."""

    def __init__(self, program: Program) -> None:
        self.program, self._entries, self._places = program, list[int](), list[tuple[int, int]]()

    def add(self, loop: Loop, geometry: Sequence[float], places: Iterable[tuple[int, int]]) -> None:
        """Go on with a function whose rows are (array, row)."""
        kept = self.program.kept
        tables = kept(np.array([kept(table) for table in loop.tables], dtype=np.int64))
        self._entries += [self.program.address(loop.name), kept(geometry), tables, len(self._places)]
        self._places += places

    @cached_property
    def _tables(self) -> tuple[Ints, Ints, Ints]:
        arrays, rows = np.array(self._places, dtype=np.int64).reshape(-1, 2).T
        return np.array(self._entries, dtype=np.int64), arrays, rows

    def run(self, arrays: Sequence[tuple[int, int]], count: int) -> None:
        """Call them for so many columns of arrays, whose addresses and bytes of a row are given."""
        entries, of, rows = self._tables
        starts, pitches = np.array(arrays, dtype=np.int64).T
        table = starts[of] + pitches[of] * rows
        self.program.run(address_of(entries), len(entries) // ENTRY, address_of(table), count)


class CompiledTests:
    """All tests of a prover as machine code."""

    def __init__(self, prover: Prover, code: bytes | None = None, host: Host | None = None) -> None:
        self.plan, self.n, host = prover.plan, prover.unknowns, Host.here() if host is None else host
        module, record = Module(host.lanes), self.plan.record
        loops: dict[Test, tuple[Loop, Loop]] = {}
        for k, test in enumerate(dict.fromkeys(of.test for of in prover.groups)):
            instants = Loop(module, f"instants{k}", _at_instant, test.instants, test.stages)
            loops[test] = instants, Loop(module, f"steps{k}", _Step(test, record), test.results)
        axes = Loop(module, "axes", _at_instant, _axes(record))
        _write_run(module)
        self.code = object_code(module.text, host) if code is None else code
        names = [axes.name, *(loop.name for both in loops.values() for loop in both)]
        program = Program(self.code, {"run": [POINTER, WHOLE, POINTER, WHOLE]}, names)
        self._of_thread = threading.local()
        read = {
            row
            for of in prover.groups
            for loop in loops[of.test]
            for row in self.plan.rows_of(of.group, [(kind, k) for _, kind, k in loop.reads if kind == "b"])
        }
        self._place_rows(prover, {row for row in read if row >= self.plan.first_axes})
        self._instants, self._steps = _Calls(program), _Calls(program)
        for body, first in self._axes.items():
            reads = ((X, self.plan.body(body) + k) for _, _, k in axes.reads)
            self._instants.add(axes, [], [*((V, first + k) for k in range(axes.n_results)), *reads])
        for of in prover.groups:
            for calls, loop, found in zip(
                (self._instants, self._steps), loops[of.test], self._found(of), strict=True
            ):
                calls.add(loop, of.geometry, [*found, *(self._place(of, *key) for key in loop.reads)])

    def _place_rows(self, prover: Prover, axes_read: Iterable[int]) -> None:
        # V: residuals and what is left of rates, by group; hard numbers and unknowns, then the rates of both;
        # axes. W: margins by group; radii e and R by unknown; what bodies are off; lengths; not a number.
        plan, axes = self.plan, len(self.plan.record.axes)
        self._first_number, self._hard_numbers = 2 * len(plan.parts), prover.n_hard
        self._rates = prover.n_hard + self.n
        at = self._first_number + 2 * self._rates
        bodies = {(row - plan.first_axes) // axes for row in axes_read}
        self._axes: dict[int, int] = {b: at + axes * k for k, b in enumerate(sorted(bodies))}
        self._height_of_instants = at + axes * len(bodies)
        self._off: dict[int, int] = {}
        self._radii, at = len(plan.parts), len(plan.parts) + 2 * self.n
        for of in prover.groups:
            if not of.test.coordinates:
                self._off |= zip(of.part.state.tolist(), (self._radii + of.state).tolist(), strict=True)
            self._off |= zip(of.rows, range(at, at + len(of.rows)), strict=True)
            at += len(of.rows)
        self._step, self._never = at, at + 1

    def _numbers(self, of: Proven, kind: str, k: int) -> int:
        """Row of V of a hard number or an unknown, or, by ``d`` before the kind, of its rate."""
        number = of.first_hard + k if kind.endswith("hard") else self._hard_numbers + int(of.state[k])
        return self._first_number + number + (self._rates if kind.startswith("d") else 0)

    def _found(self, of: Proven) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Places of what a group's functions find of instants, and of steps."""
        counts = {"hard": of.test.n_hard, "q": len(of.test.coordinates)}
        numbers = [
            self._numbers(of, d + kind, k) for d in ("", "d") for kind, n in counts.items() for k in range(n)
        ]
        steps = [of.part.index, *(self._radii + of.state), *(self._radii + self.n + of.state)]
        steps += [self._off[row] for row in of.rows]
        first = 2 * of.part.index
        return [(V, row) for row in (first, first + 1, *numbers)], [(W, int(row)) for row in steps]

    def _place(self, of: Proven, array: int, kind: str, k: Any) -> tuple[int, int]:
        """Place of what a group's functions read."""
        plan = self.plan
        if array == W:
            return W, self._step if kind == "step" else self._off.get(
                plan.rows_of(of.group, [k])[0], self._never
            )
        if kind in ("residual", "rest"):
            return array, 2 * of.part.index + (kind == "rest")
        if array >= V:
            return array, self._numbers(of, kind, k)
        if kind in ("q", "dq"):
            return array, int(of.part.state[k]) + (plan.unknowns if kind == "dq" else 0)
        (row,) = plan.rows_of(of.group, [(kind, k)])
        if row < plan.first_axes:
            return array, row
        body, axis = divmod(row - plan.first_axes, len(plan.record.axes))
        return array + V - X, self._axes[body] + axis

    def _room(self, columns: int) -> tuple[Floats, Floats]:
        """Memory of a thread for what is found of instants and of steps."""
        found: tuple[Floats, Floats] | None = getattr(self._of_thread, "room", None)
        if found is None or found[0].shape[1] < pitch_of(columns):
            heights = self._height_of_instants, self._never + 1
            found = self._of_thread.room = tuple(aligned(n, pitch_of(columns)) for n in heights)
            found[1][: self._radii], found[1][self._never] = -1.0, nan
        return found

    def tubes(self, columns: Floats, apart: int, h: Floats) -> tuple[Floats, Floats, Floats]:
        """Margins (G, K), radii e and R (n, K) of steps h (K,) from columns to those so far to the right."""
        count = columns.shape[1]
        if columns.strides[1] != 8 or columns.strides[0] // 8 < count + LINE:
            wide = aligned(len(columns), pitch_of(count))  # a vector may go beyond the last
            wide[:, :count], wide[:, count:] = columns, columns[:, -1:]
            columns = wide[:, :count]
        instants, steps = self._room(count)
        K, G, n = len(h), self._radii, self.n
        steps[self._step, :K] = h
        arrays = [(address_of(A), A.strides[0]) for A in (columns, instants, steps)]
        (x, of_x), (v, of_v), of_steps = arrays
        far = 8 * apart
        places = [(x, of_x), (x + far, of_x), (v, of_v), (v + far, of_v), of_steps]
        self._instants.run(places, count)
        self._steps.run(places, K)
        found = steps[: G + 2 * n, :K].copy()
        return found[:G], found[G : G + n], found[G + n :]
