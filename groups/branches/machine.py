"""The test of all groups of a plan as machine code: over instants, then over the steps between them."""

# A function reads and writes rows of some arrays, by a table of their addresses: those that it writes, then
# those that it reads.

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import nan, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.branches.bounds import along_cubic
from groups.engine.arrays import LINE, address_of, aligned, pitch_of
from groups.engine.loops import Loop
from groups.engine.machine import Host, Program, object_code
from groups.rotations import rotation_of
from mbssa.graph.llvm import Module, Writer
from mbssa.graph.nodes import Graph, Number, cos, graph_of, rounded, sin

if TYPE_CHECKING:
    from groups.branches.prover import Place, Prover, Tubes
    from groups.branches.theorem import Test
    from groups.engine.routine import Record
    from mbssa.arrays import Floats

#: Instants or steps of a block: what all groups find of it stays in a core's cache.
BLOCK = 256
#: Of a function: its address, geometry, tables of curves, and the place of its rows in the table.
ENTRY = 4
#: Arguments of what calls them: entries, and addresses of rows.
RUN = "ptr %E, i64 %count, ptr %T, i64 %end"


class Function(Loop):
    """A function over columns that writes rows of results and reads those of inputs."""

    def __init__(
        self, module: Module, name: str, results: Sequence[Number],
        stages: Sequence[tuple[str, Sequence[Number]]] = (), winds: Callable[[str, Any], bool] | None = None,
    ) -> None:  # fmt: skip
        # ``winds`` tells of a path (kind, number) whether it is that of a principal angle.
        self.n_results, self.winds = len(results), winds
        self._rows, self._paths = dict[Any, str](), dict[Any, list[str]]()
        with module.function(name, "ptr %T, ptr %P, ptr %C, i64 %first, i64 %end") as code:
            super().__init__(name, code)
            with code.loop("%first", "%end", str(code.lanes)) as self.t:
                writer = Writer(code, self._load, self.table)
                for given, nodes in stages:
                    graph = graph_of(results)
                    assert graph is not None
                    writer.stage(graph, given, nodes)
                for k, x in enumerate(writer.write(results)):
                    code.store(x, self._element(k))

    def _element(self, place: int) -> str:
        row = self.code.load(self.code.at("%T", place, "ptr", first=True), "ptr", first=True)
        return self.code.at(row, self.t)

    def _load(self, name: str, k: Any) -> str:
        """Text of an input: of a number of the geometry or of a row, or of a path by both of its ends."""
        if name == "g":
            return self.geometry(k)
        if name == "path":
            part, *path = k
            return self._path(*path)[int(part)]
        if (name, k) not in self._rows:
            self._rows[name, k] = self.code.load(self._element(self.n_results + len(self.inputs)))
            self.inputs.append((name, k))
        return self._rows[name, k]

    def _path(self, kind: str, k: Any) -> list[str]:
        if (kind, k) not in self._paths:

            def end(name: str, side: int) -> str:
                return self._load(name, 0 if name == "step" else (kind, k, side))

            assert self.winds is not None
            path = _path(self.winds(kind, k))
            self._paths[kind, k] = Writer(self.code, end, self.table).write(path)
        return self._paths[kind, k]


def _axes(record: Record) -> list[Number]:
    """Axes of a body by its record, and their rates."""
    graph = Graph()
    x: list[Number] = [graph.input("x", k) for k in range(record.stored)]
    if record.planar:
        x += [cos(x[record.turn]), sin(x[record.turn])]
    else:
        x += rotation_of(np.array(x[record.turn : record.turn + 4], dtype=object)).ravel().tolist()
    return [*x[record.stored :], *(record.rate(x.__getitem__, k) for k in record.axes)]


@cache
def _path(winds: bool) -> list[Number]:
    """The path of a number by its values and rates at both ends; principal angles go on as these say."""
    graph = Graph()
    (a, b), rates = ([graph.input(name, side) for side in (0, 1)] for name in ("value", "rate"))
    before, after = (graph.input("step", 0) * rate for rate in rates)
    if winds:
        b = b + 2 * pi * rounded((a + 0.5 * (before + after) - b) * (0.5 / pi))
    return list(along_cubic(a, b, before, after))


def _write_run(module: Module) -> None:
    """Write ``run``: all functions E go over a block of columns, then the next."""
    with (
        module.function("run", RUN) as code,
        code.blocks("0", "%end", BLOCK) as (t, stop),
        code.loop("0", "%count") as k,
    ):
        entry = code.at("%E", code(f"mul i64 {k}, {ENTRY}"), "i64")
        call, P, C = (code.load(code.at(entry, k, "i64"), "ptr") for k in range(3))
        rows = code.at("%T", code.load(code.at(entry, 3, "i64"), "i64"), "ptr")
        code.do(f"call void {call}(ptr {rows}, ptr {P}, ptr {C}, i64 {t}, i64 {stop})")


class CompiledTests:
    """All tests of a prover as machine code."""

    def __init__(self, prover: Prover, host: Host | None = None) -> None:
        self.prover, plan, host = prover, prover.plan, Host.here() if host is None else host
        module, record = Module(host.lanes), plan.record
        loops: dict[Test, tuple[Function, Function]] = {}
        for k, test in enumerate(dict.fromkeys(of.test for of in prover.groups)):
            instants = Function(module, f"instants{k}", test.instants, test.stages)
            loops[test] = instants, Function(module, f"steps{k}", test.steps, winds=test.winds)
        axes = Function(module, "axes", _axes(record))
        _write_run(module)
        names = [axes.name, *(loop.name for both in loops.values() for loop in both)]
        program = Program(object_code(module.text, host), {"run": RUN}, names)
        calls, places = (list[int](), list[int]()), list["Place"]()

        def call(stage: int, loop: Function, geometry: Sequence[float], of: Iterable[Place]) -> None:
            calls[stage].extend([*program.entry(loop, geometry), len(places)])
            places.extend(of)

        for body in prover.bodies:
            rows = plan.rows_of_body(body)[record.stored :].tolist()
            rows += [*map(prover.rate, rows), *(plan.body(body) + k for _, k in axes.inputs)]
            call(0, axes, [], map(prover.of_row, rows))
        for of in prover.groups:
            for stage, (loop, writes) in enumerate(zip(loops[of.test], prover.writes(of), strict=True)):
                reads = (prover.place(of, *key) for key in loop.inputs)
                call(stage, loop, of.part.geometry, [*writes, *reads])
        #: Addresses and numbers of the calls over instants and over steps, and the places of all rows.
        self._calls = [(program.kept(np.array(of, dtype=np.int64)), len(of) // ENTRY) for of in calls]
        self._arrays, self._rows = np.array(places, dtype=np.int64).reshape(-1, 2).T
        self._program, self._of_thread = program, threading.local()

    def _room(self, columns: int) -> tuple[Floats, Floats]:
        """Memory of a thread for what is found of instants and of steps."""
        found: tuple[Floats, Floats] | None = getattr(self._of_thread, "room", None)
        if found is None or found[0].shape[1] < pitch_of(columns):
            heights, pitch = (self.prover.height, self.prover.never + 1), pitch_of(columns)
            found = self._of_thread.room = aligned(heights[0], pitch), aligned(heights[1], pitch)
            found[1][: len(self.prover.plan.parts)], found[1][self.prover.never] = -1.0, nan
        return found

    def tubes(self, columns: Floats, apart: int, h: Floats) -> Tubes:
        """Margins and radii of steps h (K,) between columns and those so far to the right."""
        count = columns.shape[1]
        if columns.strides[1] != 8 or columns.strides[0] // 8 < count + LINE:
            wide = aligned(len(columns), pitch_of(count))  # a vector may go beyond the last
            wide[:, :count], wide[:, count:] = columns, columns[:, -1:]
            columns = wide[:, :count]
        instants, steps = self._room(count)
        steps[self.prover.step, : len(h)] = h
        (x, of_x), (v, of_v), of_steps = ((address_of(A), A.strides[0]) for A in (columns, instants, steps))
        right = 8 * apart
        arrays = [(x, of_x), (x + right, of_x), (v, of_v), (v + right, of_v), of_steps]
        starts, pitches = np.array(arrays, dtype=np.int64).T
        table = starts[self._arrays] + pitches[self._arrays] * self._rows
        for call, end in zip(self._calls, (count, len(h)), strict=True):
            self._program.run(*call, address_of(table), end)
        margins, radii = self.prover.tubes_of(steps[:, : len(h)])
        return margins.copy(), radii.copy()
