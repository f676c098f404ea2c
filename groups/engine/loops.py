"""Routines printed as LLVM text: loops over blocks of instants, and what goes around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from math import inf, nan, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.engine.arrays import DOUBT, EDGE, MOST, NOTES, TOLERANCE, quintic, way
from groups.engine.path import BATCH, DIVIDED, LEAP
from groups.engine.plan import CLOCK, CONDITION, FAR, GIMBAL, QUALITY, REACH, RESIDUAL, TIME
from mbssa.arrays import Floats
from mbssa.graph.llvm import Code, Module, Writer
from mbssa.graph.nodes import Graph, above, largest, polynomial, rounded

if TYPE_CHECKING:
    from groups.engine.plan import Plan
    from groups.engine.routine import Routine

#: Instants of a block, which all groups solve before the next: what they write stays in a core's cache.
BLOCK = 128
#: Most knots that are found at once.
KNOTS = 128
#: Arguments of a routine: array, axes, geometry, tables of curves, rows, notes, those of all groups; pitches
#: of both arrays.
ARGUMENTS = (
    "ptr noalias %X, ptr noalias %S, ptr noalias %P, ptr noalias %C, ptr noalias %T, ptr noalias %M, "
    "ptr noalias %N, i64 %pitch, i64 %wide, i64 %first, i64 %end, double %limit"
)
#: Notes of no instant, and as text.
UNNOTED, BLANK = (0.0, inf, inf), ("0.0", "0x7FF0000000000000", "0x7FF0000000000000")
#: Arguments of the functions of a plan by name.
FUNCTIONS = {
    "blocks": "ptr %X, i64 %pitch, ptr %room, ptr %R, i64 %count, i1 %kept, i64 %first, i64 %end, "
    "double %limit, i64 %behind",
    "strides": "ptr %X, i64 %pitch, ptr %clock, ptr %room, ptr %R, ptr %L, i64 %last, double %most",
    "turns": "ptr %X, i64 %pitch, ptr %room, ptr %W, i64 %count, ptr %B, i64 %end",
    "measure": "ptr %X, i64 %pitch, ptr %clock, i64 %steps, ptr %S",
    "guess": "ptr %X, i64 %pitch, i64 %knots, ptr %F, ptr %H, ptr %Y",
}

#: Whole numbers of a coarse pass: its sample, steps of the batch, whether the first sample is entered, knots;
#: and whether turns are doubtful.
COURSE = SAMPLE, TRIED, ENTERS, MADE, DOUBTFUL = range(5)


def layout_of(plan: Plan, lanes: int) -> np.dtype[np.void]:
    """Memory that a thread works in; what vectors are written to stands first, so that it is aligned."""
    groups, height = len(plan.parts), plan.first_axes
    return np.dtype([
        ("axes", "f8", (plan.height - height, BLOCK + lanes)),  # of a block
        ("states", "f8", (height, 2 * lanes)),  # of a coarse pass, and the next ones
        ("knots", "f8", (KNOTS + 1, height)),  # that are found at once, and the one that fails behind them
        ("samples", "i8", (KNOTS + 1,)),
        ("course", "i8", (len(COURSE),)),
        ("wide", "f8", (1,)),  # the way of a stride
        ("least", "f8", (groups + 1, NOTES)),  # notes, at last of all groups
    ])  # fmt: skip


class Loop:
    """A function over columns that takes numbers of a geometry P and addresses C of tables of curves."""

    def __init__(self, name: str, code: Code) -> None:
        self.name, self.code = name, code
        #: Inputs (name, number) whose rows it reads; breaks and coefficients of curves.
        self.inputs, self.tables = list[tuple[str, Any]](), list[Floats]()
        self._table_of = dict[int, str]()

    def geometry(self, k: int) -> str:
        number = self.code.load(self.code.at("%P", k, first=True), "double", first=True)
        return self.code.splat(number, first=True)

    def table(self, numbers: Floats) -> str:
        if id(numbers) not in self._table_of:
            at = self.code.at("%C", len(self.tables), "ptr", first=True)
            self._table_of[id(numbers)] = self.code.load(at, "ptr", first=True)
            self.tables.append(numbers)
        return self._table_of[id(numbers)]


def text_of(plan: Plan, lanes: int) -> tuple[str, dict[Any, Loop]]:
    """Text of all functions of a plan for so many lanes, and their arguments by routine."""
    module, loops = Module(lanes), dict[Any, Loop]()
    layout = {name: kind[1] // 8 for name, kind in (layout_of(plan, lanes).fields or {}).items()}
    for part in plan.parts:
        if part.routine not in loops:
            loops[part.routine] = write_routine(module, part.routine, f"routine{len(loops)}")
    for write in (write_blocks, write_strides, write_turns):
        write(module, plan, layout)
    for write_alone in (write_measure, write_guess):
        write_alone(module, plan)
    return module.text, loops


def write_routine(module: Module, routine: Routine, name: str) -> Loop:
    """Write the function of a routine: Newton's method from the guesses, rates, bodies, quality, notes."""
    graph, n, record = routine.graph, routine.n, routine.record
    results = [*routine.step, routine.length, *routine.first, *routine.second, *routine.records]
    nodes = (graph.nodes[i] for i in graph.needed([*results, *routine.quality]))
    inputs = [data for op, _, data in nodes if op == "in" and data[0] not in ("q", "dq", "ddq")]
    n_records = len(routine.records)
    with module.function(name, ARGUMENTS) as code:
        loop = Loop(name, code)
        loop.inputs += (key for key in inputs if key[0] != "g")

        def row(place: int, number: int | None) -> str:
            """The row at a place of the table of rows, of a number of a record or of none."""
            is_axis = number is not None and number >= record.stored
            at = code.load(code.at("%T", place, "i64", first=True), "i64", first=True)
            far = code(f"mul i64 {at}, {'%wide' if is_axis else '%pitch'}", first=True)
            return code.at("%S" if is_axis else "%X", far, first=True)

        rows = [row(i, k[1] if name == "b" else None) for i, (name, k) in enumerate(loop.inputs)]
        numbers = [k % record.length for k in range(n_records)] + [None] * (3 * n + len(QUALITY))
        outs = [row(len(rows) + i, number) for i, number in enumerate(numbers)]
        given = {key: loop.geometry(key[1]) for key in inputs if key[0] == "g"}
        flat = loop.geometry(len(routine.geometry(routine.group)) + routine.n_pivots)
        limit = code.splat("%limit", first=True)
        signs = bool(routine.group.direct or routine.group.struts)
        least = [code.cell(code.number, code.constant(x)) for x in UNNOTED[: NOTES if signs else 1]]
        with code.loop("%first", "%end", str(code.lanes)) as t:
            given |= {key: code.load(code.at(at, t)) for key, at in zip(loop.inputs, rows, strict=True)}
            guess = [code.load(code.at(out, t)) for out in outs[n_records:][:n]]

            def writer(q: Sequence[str]) -> Writer:
                return Writer(code, lambda name, k: q[k] if name == "q" else given[name, k], loop.table)

            q, left, steps = _iterated(code, routine, writer, guess)
            finish = writer(q)
            stages = ("dq", routine.first), ("ddq", routine.second)
            rates = [text for stage in stages for text in finish.stage(graph, *stage)]
            records, quality = finish.write(routine.records), finish.write(routine.quality)
            far = code.constant(0.0)
            for x, start, scale in zip(q, guess, routine.scales, strict=True) if not routine.linear else ():
                off = code.intrinsic("fabs", code.binary("-", x, start))
                far = code.extreme(code.binary("*", off, code.constant(1.0 / scale)), far, smallest=False)
            ended = code.compare("ole", left, code.constant(TOLERANCE))
            quality.append(code.choose(ended, far, code.constant(inf)))
            fine = _fine(code, routine, quality, rates, flat, limit)
            bad = code(f"icmp ne i{code.lanes} {code.bits(fine)}, -1")
            solved = [*records, *q, *rates]
            for x, out in zip([*solved, *quality, steps], outs, strict=True):
                code.store(x, code.at(out, t))
            solid = code.choose(fine, code.constant(0.0), code.constant(-1.0))
            for cell, x in zip(least, (solid, quality[REACH], quality[GIMBAL]), strict=False):
                code.store(code.extreme(x, code.load(cell), smallest=True), cell)
            with code.when(bad):  # bodies are NaN, and unknowns wait where they were expected
                nothing = [*[code.constant(nan)] * n_records, *guess, *[code.constant(0.0)] * (2 * n)]
                for x, instead, out in zip(solved, nothing, outs, strict=False):
                    code.store(code.choose(fine, x, instead), code.at(out, t))
        for k, cell in enumerate(least):
            x = _called(
                code, f"vector.reduce.fminimum.v{code.lanes}f64", "double", f"{code.number} {code.load(cell)}"
            )
            for at in (code.at("%M", k), code.at("%N", k)):
                both = f"double {code.load(at, 'double')}", f"double {x}"
                code.store(_called(code, "minimum.f64", "double", *both), at, "double")
    return loop


def _called(code: Code, name: str, result: str, *operands: str) -> str:
    """A function of LLVM's own, on operands with their kinds."""
    kinds = ", ".join(operand.rpartition(" ")[0] for operand in operands)
    code.module.declare(f"{result} @llvm.{name}({kinds})")
    return code(f"call {result} @llvm.{name}({', '.join(operands)})")


def _iterated(
    code: Code, routine: Routine, writer: Callable[[Sequence[str]], Writer], guess: Sequence[str]
) -> tuple[list[str], str, str]:
    """Unknowns, size of the last step and number of steps of Newton's method."""
    zero = code.constant(0.0)
    if not routine.n:
        return [], zero, zero
    cells = [code.cell(code.number, x) for x in guess]
    left_at, steps_at = (code.cell(code.number, zero) for _ in range(2))
    going_at = code.cell(code.mask, "splat (i1 true)")
    with code.loop("0", str(MOST)):
        q = [code.load(cell) for cell in cells]
        *step, length = writer(q).write([*routine.step, routine.length])
        active = code.load(going_at, code.mask)
        for cell, x, dx in zip(cells, q, step, strict=True):  # what is there stays: no lane depends on others
            code.store(code.choose(active, code.binary("-", x, dx), x), cell)
        left = code.choose(active, length, code.load(left_at))
        code.store(left, left_at)
        going = code.compare("ogt", left, code.constant(TOLERANCE))
        code.store(going, going_at, code.mask)
        one = code.choose(going, code.constant(1.0), zero)
        code.store(code.binary("+", code.load(steps_at), one), steps_at)
        code.leave_unless(code(f"icmp ne i{code.lanes} {code.bits(going)}, 0"))
    return [code.load(cell) for cell in cells], code.load(left_at), code.load(steps_at)


def _fine(
    code: Code, routine: Routine, quality: Sequence[str], rates: Sequence[str], flat: str, limit: str
) -> str:
    """Lanes that are solved, as :func:`groups.engine.arrays.is_fine` has it, with finite rates."""
    edge, closed = code.constant(EDGE), code.constant(routine.group.setting.closed)
    total = reduce(partial(code.binary, "+"), rates, quality[FAR])
    found = code.compare("ogt", quality[CONDITION], flat)
    for how, a, b in (
        ("ole", quality[RESIDUAL], closed),
        ("ogt", quality[REACH], edge),
        ("ogt", quality[GIMBAL], edge),
        ("ole", quality[FAR], limit),
        ("ord", total, total),
    ):
        found = code.both(found, code.compare(how, a, b))
    return found


#: A routine, its geometry, tables and rows, and the place of its notes, by group.
ENTRY = 5


def write_blocks(module: Module, plan: Plan, layout: Mapping[str, int]) -> None:
    """Write ``blocks``: all groups of a table R solve a block, then the next, and note the least of it."""
    # Axes are kept for a block, or for all instants if they are ``kept``. At the last instants, which are
    # ``behind`` the motion, inputs and unknowns are those before.
    with module.function("blocks", FUNCTIONS["blocks"]) as code:
        last = code("sub i64 %end, %behind")
        with code.when(code("icmp sgt i64 %behind, 0")):
            for begin, end in ((0, plan.first_body), (plan.q.start, plan.q.stop)):
                with code.loop(str(begin), str(end)) as r:
                    row = _place(code, "%X", r, "%pitch")
                    x = code.load(code.at(row, code(f"sub i64 {last}, 1")), "double")
                    with code.loop(last, "%end") as t:
                        code.store(x, code.at(row, t), "double")
        least = code.at("%room", layout["least"])
        total = code.at(least, len(plan.parts) * NOTES)
        with code.loop("0", str(len(plan.parts) + 1)) as g:
            for k, x in enumerate(BLANK):
                code.store(x, _place(code, least, g, NOTES, k), "double")
        all_axes = code.at("%X", code(f"mul i64 {plan.first_axes}, %pitch"))
        some_axes = code.at("%room", layout["axes"])
        S = code(f"select i1 %kept, ptr {all_axes}, ptr {some_axes}")
        wide = code(f"select i1 %kept, i64 %pitch, i64 {BLOCK + code.lanes}")
        with code.blocks("%first", "%end", BLOCK) as (t, stop):
            back = code(f"select i1 %kept, i64 0, i64 {t}")
            axes = code.at(S, code(f"sub i64 0, {back}"))
            with code.loop("0", "%count") as g:
                entry = code.at("%R", code(f"mul i64 {g}, {ENTRY}"), "i64")
                call, P, C, T = (code.load(code.at(entry, k, "i64"), "ptr") for k in range(4))
                notes = code.at(least, code.load(code.at(entry, 4, "i64"), "i64"))
                code.do(
                    f"call void {call}(ptr %X, ptr {axes}, ptr {P}, ptr {C}, ptr {T}, ptr {notes}, "
                    f"ptr {total}, i64 %pitch, i64 {wide}, i64 {t}, i64 {stop}, double %limit)"
                )


def write_measure(module: Module, plan: Plan) -> None:
    """Write ``measure``: by time step the way of the input that goes farthest, the longest, and the sums."""
    # As :meth:`groups.engine.arrays.Life.measure` has it; inputs over the entries of S.
    graph = Graph()
    (y, v, a), (y1, v1, a1) = ([graph.input(side, k) for k in range(3)] for side in "lr")
    h, scale, most = (graph.input(name, 0) for name in ("h", "scale", "most"))
    ahead, behind = (largest(abs(v), 0.5 * h * abs(a)) for v, a in ((v1, a1), (v, a)))
    farthest = largest(most, largest(abs(y1 - y), largest(ahead, behind) * h) / scale)
    with module.function("measure", FUNCTIONS["measure"]) as code:
        time, way, sums = (_place(code, "%clock", str(k), "%pitch") for k in CLOCK)
        with code.loop("0", "%steps", str(code.lanes)) as t:  # what is beyond is written again
            after = code(f"add i64 {t}, 1")
            h_ = code.binary("-", *(code.load(code.at(time, at)) for at in (after, t)))
            most_at = code.cell(code.number, code.constant(0.0))
            with code.loop("0", str(plan.inputs)) as d:
                rows = _rows_below(code, _place(code, "%X", code(f"mul i64 {d}, 3"), "%pitch"), "%pitch")
                given = {
                    side: [code.load(code.at(r, at)) for r in rows] for side, at in (("l", t), ("r", after))
                }
                given |= {"h": [h_], "most": [code.load(most_at)]}
                given["scale"] = [code.splat(code.load(code.at("%S", d), "double"))]
                code.store(_formulas(code, given).write([farthest])[0], most_at)
            code.store(code.load(most_at), code.at(way, t))
        total, longest = (code.cell("double", "0.0") for _ in range(2))
        code.store("0.0", sums, "double")
        with code.loop("0", "%steps") as t:
            step = code.load(code.at(way, t), "double")
            more = code(f"fadd double {code.load(total, 'double')}, {step}")
            code.store(more, total, "double")
            code.store(more, code.at(sums, code(f"add i64 {t}, 1")), "double")
            both = f"double {step}", f"double {code.load(longest, 'double')}"
            code.store(_called(code, "maximum.f64", "double", *both), longest, "double")
        code.store(code.load(longest, "double"), code.at(way, "%steps"), "double")


def _formulas(code: Code, given: Mapping[str, Sequence[str]]) -> Writer:
    """Writer of formulas of numbers that are given."""
    return Writer(code, lambda name, k: given[name][k], lambda _: "")


def write_strides(module: Module, plan: Plan, layout: Mapping[str, int]) -> None:
    """Write ``strides``: the coarse pass over samples of inputs, up to where a step of one sample fails."""
    # The rule of strides is that of :class:`groups.engine.path.Follower`. All lanes do the same. L: how far
    # an unknown may be off.
    graph = Graph()
    before, after = ([graph.input(side, k) for k in range(3)] for side in "lr")
    h, (q, v, a), (q1, v1, a1) = graph.input("h", 0), before, after
    expected, off = q + h * (v + 0.5 * h * a), abs(q1 - q - way(h, v, v1, a, a1))
    with module.function("strides", FUNCTIONS["strides"]) as code:
        lanes, pitch, height, n = code.lanes, 2 * code.lanes, plan.first_axes, plan.unknowns
        V, K, Y, wide_at = (code.at("%room", layout[k]) for k in ("states", "samples", "knots", "wide"))
        sample, tried, enters, made, _ = (code.at("%room", layout["course"] + k) for k in COURSE)

        time, ways, sums = (_place(code, "%clock", str(k), "%pitch") for k in CLOCK)

        def whole(pointer: str) -> str:
            return code.load(pointer, "i64")

        def real(pointer: str, k: str | int = 0) -> str:
            return code.load(code.at(pointer, k), "double")

        def moves(step: str) -> str:
            return code(f"fcmp ogt double {real(ways, step)}, 0.0")

        def written(i: str, number: Any, h: str, **columns: int) -> tuple[str, str]:
            """A number of the states of an unknown before and after the step, and the row of the unknown."""
            row = _place(code, V, code(f"add i64 {i}, {plan.q.start}"), pitch)
            rows = _rows_below(code, row, str(n * pitch))
            given = {side: [code.load(code.at(p, column)) for p in rows] for side, column in columns.items()}
            return _formulas(code, {**given, "h": [h]}).write([number])[0], row

        with code.loop("0", str(KNOTS)):
            k, entering = whole(sample), code(f"icmp ne i64 {whole(enters)}, 0")
            code.leave_unless(code(f"or i1 {code(f'icmp slt i64 {k}, %last')}, {entering}"))
            with code.when(code(f"icmp eq i64 {whole(tried)}, {BATCH}")):  # strides are widened
                wide = code.smaller("double", code(f"fmul double {real(wide_at)}, 2.0"), "%most")
                code.store(wide, wide_at, "double")
                code.store("0", tried, "i64")
            # ---- the next sample
            far, moving = code(f"fadd double {real(sums, k)}, {real(wide_at)}"), moves(k)
            to = code.cell("i64", code(f"add i64 {k}, {code(f'select i1 {entering}, i64 0, i64 1')}"))
            end = code(f"select i1 {entering}, i64 0, i64 {code('add i64 %last, 1')}")
            with code.loop(code(f"add i64 {k}, 2"), end) as i:
                code.leave_unless(code(f"fcmp ole double {real(sums, i)}, {far}"))
                code.leave_unless(code(f"icmp eq i1 {moves(code(f'sub i64 {i}, 1'))}, {moving}"))
                code.store(i, to, "i64")
            j = whole(to)
            # ---- its state
            step = code.splat(code(f"fsub double {real(time, j)}, {real(time, k)}"))
            with code.loop("0", str(plan.first_body)) as d:
                x = code.splat(real(_place(code, "%X", d, "%pitch"), j))
                code.store(x, _place(code, V, d, pitch, lanes))
            with code.loop("0", str(n)) as i:
                x, row = written(i, expected, step, l=0)
                code.store(x, code.at(row, lanes))
            code.do(
                f"call void @blocks(ptr {V}, i64 {pitch}, ptr %room, ptr %R, i64 {len(plan.parts)}, "
                f"i1 false, i64 {lanes}, i64 {pitch}, double {LEAP!r}, i64 0)"
            )
            # ---- whether it is fine, and on a smooth path
            noted = real(code.at("%room", layout["least"] + len(plan.parts) * NOTES))
            fine = code.cell("i1", code(f"fcmp oeq double {noted}, 0.0"))
            with code.loop("0", str(n)) as i:
                smooth = code.compare(
                    "ole", written(i, off, step, l=0, r=lanes)[0], code.splat(real("%L", i))
                )
                lane = code(f"extractelement {code.mask} {smooth}, i32 0")
                code.store(code(f"and i1 {code.load(fine, 'i1')}, {lane}"), fine, "i1")
            with code.loop("0", str(height)) as r:
                x = real(_place(code, V, r, pitch, lanes))
                code.store(x, _place(code, Y, whole(made), height, r), "double")
            code.store(j, code.at(K, whole(made), "i64"), "i64")
            divides, found = code(f"icmp sgt i64 {code(f'sub i64 {j}, {k}')}, 1"), code.load(fine, "i1")
            with code.when(found), code.loop("0", str(3 * n)) as i:
                row = _place(code, V, code(f"add i64 {i}, {plan.q.start}"), pitch)
                code.store(code.load(code.at(row, lanes)), row)
            gone = code(f"fsub double {real(sums, j)}, {real(sums, k)}")
            with code.when(code(f"icmp ugt i1 {divides}, {found}")):
                code.store(code(f"fdiv double {gone}, {float(DIVIDED)!r}"), wide_at, "double")
            more, all_made = (code(f"add i64 {whole(cell)}, 1") for cell in (tried, made))
            for cell, on, off in (
                (sample, j, k), (enters, "0", whole(enters)), (made, all_made, whole(made)),
                (tried, more, "0"),
            ):  # fmt: skip
                code.store(code(f"select i1 {found}, i64 {on}, i64 {off}"), cell, "i64")
            code.leave_unless(code(f"or i1 {found}, {divides}"))


def _place(code: Code, base: str, row: str, pitch: str | int, column: str | int = 0) -> str:
    """Pointer to a number of a row."""
    return code.at(base, code(f"add i64 {code(f'mul i64 {row}, {pitch}')}, {column}"))


def _rows_below(code: Code, row: str, far: str) -> list[str]:
    """A row, and those of the first and second rates."""
    first = code.at(row, far)
    return [row, first, code.at(first, far)]


def write_guess(module: Module, plan: Plan) -> None:
    """Write ``guess``: quintics between knots at times H, from the samples F on each, with states Y."""
    graph = Graph()
    left, right = ([graph.input(side, k) for k in range(3)] for side in "lr")
    h, start, t = (graph.input(name, 0) for name in ("h", "start", "t"))
    c = quintic(left, right, h)
    value = polynomial((t - start) / h, c)
    with module.function("guess", FUNCTIONS["guess"]) as code, code.loop("1", "%knots") as i:
        before, time = code(f"sub i64 {i}, 1"), _place(code, "%X", str(plan.first_clock + TIME), "%pitch")
        a, b = (code.load(code.at("%F", k, "i64"), "i64") for k in (before, i))
        t0, t1 = (code.load(code.at("%H", k), "double") for k in (before, i))
        given = {"start": [code.splat(t0)], "h": [code.splat(code(f"fsub double {t1}, {t0}"))]}
        with code.loop("0", str(plan.unknowns)) as j:
            row = code.at("%Y", code(f"mul i64 {j}, %knots"))
            rows = _rows_below(code, row, code(f"mul i64 {plan.unknowns}, %knots"))
            for side, at in (("l", before), ("r", i)):
                given[side] = [code.splat(code.load(code.at(p, at), "double")) for p in rows]
            out = _place(code, "%X", code(f"add i64 {j}, {plan.q.start}"), "%pitch")
            writer = _formulas(code, given)
            writer.write(c)
            with code.loop(a, b, str(code.lanes)) as column:  # what is beyond is written again
                given["t"] = [code.load(code.at(time, column))]
                code.store(writer.write([value])[0], code.at(out, column))


def write_turns(module: Module, plan: Plan, layout: Mapping[str, int]) -> None:
    """Write ``turns``: angles counted from column to column by their rates, or quaternions kept in sign."""
    # W has the rows of orientation of ``count`` bodies, B is a column before the first one. It is noted where
    # the rates tell less than a share of a turn.
    graph, record = Graph(), plan.record
    planar, turn = record.planar, record.turn
    of = [0, *(k[2] - turn for k in (record.velocity, record.acceleration))] if planar else range(4)
    now, before = ([graph.input(name, k) for k in range(4)] for name in ("now", "before"))
    if planar:  # the last ones are times
        (angle, w, a, t1), (angle0, w0, a0, t0) = now, before
        off = (angle0 + way(t1 - t0, w0, w, a0, a) - angle) * (0.5 / pi)
        step: Any = rounded(off)
        unsure = above(t1 - t0, abs(off - step) - DOUBT, graph.node(-1.0))
    else:
        inner = sum((x * y for x, y in zip(now[1:], before[1:], strict=True)), now[0] * before[0])
        step, unsure = above(-inner, graph.node(-1.0), graph.node(1.0)), graph.node(-1.0)
    op, unit = ("+", 0.0) if planar else ("*", 1.0)
    with module.function("turns", FUNCTIONS["turns"]) as code:
        zero, doubt = code.constant(0.0), code.cell(code.number, code.constant(0.0))
        with code.loop("0", "%count") as b:
            first = code.load(code.at("%W", b, "i64"), "i64")
            rows = [_place(code, "%X", code(f"add i64 {first}, {k}"), "%pitch") for k in of]
            rows += [_place(code, "%X", str(plan.first_clock + TIME), "%pitch")] * planar
            own = rows[:1] if planar else rows
            begin = [code.at("%B", code(f"add i64 {first}, {k}")) for k in range(len(own))]
            splats = [code.splat(code.load(at, "double")) for at in (*begin, *rows[len(own) :])]
            *cells, base = (code.cell(code.number, x) for x in (*splats, code.constant(unit)))
            with code.loop("0", "%end", str(code.lanes)) as t:
                values = [code.load(code.at(row, t)) for row in rows]
                order = range(code.lanes - 1, 2 * code.lanes - 1)
                each = list(zip(cells, values, strict=True))
                earlier = [_shuffled(code, code.load(cell), x, order) for cell, x in each]
                by, doubtful = _formulas(code, {"now": values, "before": earlier}).write([step, unsure])
                inside = _called(
                    code, f"get.active.lane.mask.v{code.lanes}i1.i64", code.mask, f"i64 {t}", "i64 %end"
                )
                doubted = code.both(inside, code.compare("ogt", doubtful, zero))
                code.store(code.choose(doubted, code.constant(1.0), code.load(doubt)), doubt)
                total = code.binary(op, code.load(base), _accumulated(code, op, unit, by))
                code.store(_shuffled(code, total, total, [code.lanes - 1] * code.lanes), base)
                for cell, x in each:
                    code.store(x, cell)
                for row, x in zip(own, values, strict=False):
                    turned = code.binary("*", total, x if not planar else code.constant(2 * pi))
                    code.store(code.binary("+", x, turned) if planar else turned, code.at(row, t))
        mask = code.bits(code.compare("ogt", code.load(doubt), zero))
        code.store(
            code(f"zext i{code.lanes} {mask} to i64"), code.at("%room", layout["course"] + DOUBTFUL), "i64"
        )


def _shuffled(code: Code, a: str, b: str, order: Iterable[int]) -> str:
    lanes = ", ".join(f"i32 {k}" for k in order)
    return code(f"shufflevector {code.number} {a}, {code.number} {b}, <{code.lanes} x i32> <{lanes}>")


def _accumulated(code: Code, op: str, unit: float, x: str) -> str:
    """Sums or products of the first lanes."""
    by = 1
    while by < code.lanes:
        order = (k if k < by else code.lanes + k - by for k in range(code.lanes))
        x, by = code.binary(op, x, _shuffled(code, code.constant(unit), x, order)), 2 * by
    return x
