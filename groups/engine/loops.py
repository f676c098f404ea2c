"""Routines printed as LLVM text: loops over blocks of instants, and what goes around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, nan, pi
from typing import TYPE_CHECKING, Any

from groups.engine.arrays import EDGE, MOST, TOLERANCE, quintic, way
from groups.engine.path import BATCH, DIVIDED, FIRST_BATCH
from groups.engine.plan import CONDITION, FAR, GIMBAL, QUALITY, REACH, RESIDUAL
from mbssa.graph.llvm import Code, Module, Writer
from mbssa.graph.nodes import Graph, above, is_node, largest, polynomial, rounded

if TYPE_CHECKING:
    from groups.engine.routine import Record, Routine
    from mbssa.arrays import Floats

#: Instants of a block, which all groups solve before the next: what they write stays in a core's cache.
BLOCK = 128
#: Notes of a group: the least over instants of 0 or, not fine, -1, and of reach and gimbal where signs hold.
NOTES = 3
#: Arguments of a routine: array, axes, geometry, rows, tables of curves, notes; pitches of both arrays.
ARGUMENTS = (
    "ptr noalias %X, ptr noalias %S, ptr noalias %P, ptr noalias %T, ptr noalias %C, ptr noalias %M, "
    "i64 %pitch, i64 %wide, i64 %first, i64 %end, double %limit"
)


@dataclass(eq=False)
class Loop:
    """Arguments of the function of a routine."""

    name: str
    #: Inputs (name, number), whose rows are the first of its table of rows.
    inputs: list[tuple[str, Any]] = field(default_factory=list)
    #: Breaks and coefficients of curves.
    tables: list[Floats] = field(default_factory=list)
    #: Quality that is the same at all instants, which is not written.
    fixed: dict[int, float] = field(default_factory=dict)


class _Rows:
    """Rows of a routine in a function: inputs, then unknowns, their rates, records and quality."""

    def __init__(self, code: Code, loop: Loop, record: Record) -> None:
        self.code, self.loop, self.record = code, loop, record
        self.inputs: dict[Any, str] = {}
        self.loads: list[tuple[str, str]] = []
        self.known: dict[int, str] = {}

    def pointer(self, place: str, is_axis: bool) -> str:
        """First instant of a row, which is the one at a place of the table of rows."""
        code = self.code
        row = code.load(code.at("%T", place, "i64", first=True), "i64", first=True)
        far = code(f"mul i64 {row}, {'%wide' if is_axis else '%pitch'}", first=True)
        return code.at("%S" if is_axis else "%X", far, first=True)

    def is_axis(self, k: int) -> bool:
        """Whether a number of a record is among the axes."""
        return k >= self.record.stored

    def input(self, name: str, k: Any) -> str:
        """Text of an input."""
        code = self.code
        if (name, k) not in self.inputs:
            if name == "g":
                number = code.load(code.at("%P", k, first=True), "double", first=True)
                self.inputs[name, k] = code.splat(number, first=True)
            else:
                row = self.pointer(str(len(self.loop.inputs)), name == "b" and self.is_axis(k[1]))
                self.loop.inputs.append((name, k))
                self.inputs[name, k] = text = f"%in{len(self.loop.inputs)}"
                self.loads.append((text, row))
        return self.inputs[name, k]

    def table(self, numbers: Floats) -> str:
        """Pointer to a table."""
        if id(numbers) not in self.known:
            at = self.code.at("%C", len(self.loop.tables), "ptr", first=True)
            self.known[id(numbers)] = self.code.load(at, "ptr", first=True)
            self.loop.tables.append(numbers)
        return self.known[id(numbers)]


def write_routine(module: Module, routine: Routine, name: str) -> Loop:
    """Write the function of a routine: Newton's method from the guesses, rates, bodies, quality, notes."""
    loop, n, record = Loop(name), routine.n, routine.record
    loop.fixed = {k: routine.quality[k] for k in (REACH, GIMBAL) if not is_node(routine.quality[k])}
    loop.fixed |= {} if n else {FAR: 0.0}
    with module.function(name, ARGUMENTS) as code:
        rows = _Rows(code, loop, record)
        limit = code.splat("%limit", first=True)
        with code.loop("%first", "%end", str(code.lanes)) as t:
            loads = len(code.lines)  # inputs are loaded here, when they are known
            n_records = len(routine.records)
            outs = [f"%out{k}" for k in range(3 * n + n_records + len(QUALITY))]
            guess = [code.load(code.at(outs[k], t)) for k in range(n)]
            q, left, steps = _iterated(code, routine, rows, guess)
            finish = Writer(code, lambda name, k: q[k] if name == "q" else rows.input(name, k), rows.table)
            stages = ("dq", routine.first), ("ddq", routine.second)
            rates = [text for stage in stages for text in finish.stage(routine.graph, *stage)]
            records, quality = finish.write(routine.records), finish.write(routine.quality)
            far = _far(code, routine, q, guess, left)
            quality = [*quality, far]
            fine = _fine(code, routine, rows, quality, rates, limit)
            bad = code(f"icmp ne i{code.lanes} {code.bits(fine)}, -1")
            solved = [*q, *rates, *records]
            for k, x in enumerate(solved):
                code.store(x, code.at(outs[k], t))
            for k, x in enumerate([*quality, steps]):
                if k not in loop.fixed:
                    code.store(x, code.at(outs[len(solved) + k], t))
            _note(code, routine, quality, fine)
            with code.when(bad):  # bodies are NaN, and unknowns wait where they were expected
                nothing = [*guess, *[code.constant(0.0)] * (2 * n), *[code.constant(nan)] * n_records]
                for k, (x, instead) in enumerate(zip(solved, nothing, strict=True)):
                    code.store(code.choose(fine, x, instead), code.at(outs[k], t))
        lines, code.lines = code.lines, []
        for text, row in rows.loads:
            code.lines.append(f"  {text} = load {code.number}, ptr {code.at(row, t)}, align 8")
        code.lines = [*lines[:loads], *code.lines, *lines[loads:]]
        for k, out in enumerate(outs):
            of_record = 3 * n <= k < 3 * n + n_records and rows.is_axis((k - 3 * n) % record.length)
            row = rows.pointer(str(len(loop.inputs) + k), of_record)
            code.entry.append(f"  {out} = getelementptr double, ptr {row}, i64 0")
    return loop


def _iterated(code: Code, routine: Routine, rows: _Rows, guess: Sequence[str]) -> tuple[list[str], str, str]:
    """Unknowns, size of the last step and number of steps of Newton's method."""
    zero = code.constant(0.0)
    if not routine.n:
        return [], zero, zero
    cells = [code.cell(code.number, x) for x in guess]
    left_at, steps_at, going_at = (code.cell(code.number, zero) for _ in range(3))
    code.store(code.constant(1.0), going_at)
    with code.loop("0", str(MOST)):
        q = [code.load(cell) for cell in cells]
        writer = Writer(code, lambda name, k: q[k] if name == "q" else rows.input(name, k), rows.table)
        *step, length = writer.write([*routine.step, routine.length])
        active = code.compare("ogt", code.load(going_at), zero)
        for cell, x, dx in zip(cells, q, step, strict=True):  # what is there stays: no lane depends on others
            code.store(code.choose(active, code.binary("-", x, dx), x), cell)
        left = code.choose(active, length, code.load(left_at))
        code.store(left, left_at)
        going = code.compare("ogt", left, code.constant(TOLERANCE))
        one = code.choose(going, code.constant(1.0), zero)
        code.store(one, going_at)
        code.store(code.binary("+", code.load(steps_at), one), steps_at)
        code.leave_unless(code(f"icmp ne i{code.lanes} {code.bits(going)}, 0"))
    return [code.load(cell) for cell in cells], code.load(left_at), code.load(steps_at)


def _far(code: Code, routine: Routine, q: Sequence[str], guess: Sequence[str], left: str) -> str:
    """Distance of the unknowns from their guess; infinite where Newton's method has not come to its end."""
    far = code.constant(0.0)
    if not routine.n:
        return far
    if not routine.linear:
        for x, start, scale in zip(q, guess, routine.scales, strict=True):
            off = code.intrinsic("fabs", code.binary("-", x, start))
            far = code.extreme(code.binary("*", off, code.constant(1.0 / scale)), far, smallest=False)
    return code.choose(code.compare("ole", left, code.constant(TOLERANCE)), far, code.constant(inf))


def _fine(
    code: Code, routine: Routine, rows: _Rows, quality: Sequence[str], rates: Sequence[str], limit: str
) -> str:
    """Lanes that are solved, as :func:`groups.engine.arrays.is_fine` has it, with finite rates."""
    flat = rows.input("g", len(routine.geometry(routine.group)) + routine.n_pivots)
    edge, closed = code.constant(EDGE), code.constant(routine.group.setting.closed)
    found = code.compare("ogt", quality[CONDITION], flat)
    total = quality[FAR]
    for rate in rates:
        total = code.binary("+", total, rate)
    for how, a, b in (
        ("ole", quality[RESIDUAL], closed),
        ("ogt", quality[REACH], edge),
        ("ogt", quality[GIMBAL], edge),
        ("ole", quality[FAR], limit),
        ("ord", total, total),
    ):
        found = code.both(found, code.compare(how, a, b))
    return found


def _note(code: Code, routine: Routine, quality: Sequence[str], fine: str) -> None:
    """Note :data:`NOTES`, by lanes."""
    notes = [code.choose(fine, code.constant(0.0), code.constant(-1.0))]
    if routine.group.direct or routine.group.struts:
        notes += [quality[REACH], quality[GIMBAL]]
    for k, x in enumerate(notes):
        at = code.at("%M", code.lanes * k, first=True)
        code.store(code.extreme(x, code.load(at), smallest=True), at)


#: A routine, its geometry, rows and tables, and the place of its notes, by group.
ENTRY = 5


def write_blocks(module: Module) -> None:
    """Write ``blocks``: all groups of a table R solve a block, then the next."""
    # Axes are kept for a block, or for all instants if they do not ``move``. At the last instants, which are
    # ``behind`` the motion, the inputs, and n unknowns from q on, are those before.
    with module.function(
        "blocks",
        "ptr %X, ptr %S, ptr %R, i64 %count, ptr %M, i64 %pitch, i64 %wide, i64 %moves, i64 %first, "
        "i64 %end, double %limit, i64 %behind, i64 %inputs, i64 %q, i64 %n",
    ) as code:
        last = code("sub i64 %end, %behind")
        for begin, end in (("0", "%inputs"), ("%q", code("add i64 %q, %n"))):
            with code.loop(begin, end) as r:
                row = code.at("%X", code(f"mul i64 {r}, %pitch"))
                x = code.load(code.at(row, code(f"sub i64 {last}, 1")), "double")
                with code.loop(last, "%end") as t:
                    code.store(x, code.at(row, t), "double")
        with code.blocks("%first", "%end", BLOCK) as (t, stop):
            axes = code.at("%S", code(f"sub i64 0, {code(f'mul i64 %moves, {t}')}"))
            with code.loop("0", "%count") as g:
                entry = code.at("%R", code(f"mul i64 {g}, {ENTRY}"), "i64")
                call, P, T, C = (code.load(code.at(entry, k, "i64"), "ptr") for k in range(4))
                notes = code.at("%M", code.load(code.at(entry, 4, "i64"), "i64"))
                code.do(
                    f"call void {call}(ptr %X, ptr {axes}, ptr {P}, ptr {T}, ptr {C}, ptr {notes}, "
                    f"i64 %pitch, i64 %wide, i64 {t}, i64 {stop}, double %limit)"
                )


def write_travel(module: Module) -> None:
    """Write ``travel``: by time step the way of the input that goes farthest, its sums, and the longest."""
    # As :meth:`groups.engine.arrays.Life.travelled` has it; D inputs, each over its entry of S.
    graph = Graph()
    (y, v, a), (y1, v1, a1) = ([graph.input(side, k) for k in range(3)] for side in "lr")
    h, scale, most = (graph.input(name, 0) for name in ("h", "scale", "most"))
    ahead, behind = (largest(abs(v), 0.5 * h * abs(a)) for v, a in ((v1, a1), (v, a)))
    farthest = largest(most, largest(abs(y1 - y), largest(ahead, behind) * h) / scale)
    with module.function(
        "travel", "ptr %X, i64 %pitch, i64 %inputs, ptr %time, i64 %steps, ptr %S, ptr %travel, ptr %gone"
    ) as code:
        with code.loop("0", "%steps", str(code.lanes)) as t:
            inside = _below(code, t, "%steps")
            after = code(f"add i64 {t}, 1")
            times = (_some(code, code.at("%time", at), inside) for at in (after, t))
            most_at = code.cell(code.number, code.constant(0.0))
            given = {"h": [code.binary("-", *times)]}
            with code.loop("0", "%inputs") as d:
                row = code.at("%X", code(f"mul i64 {code(f'mul i64 {d}, 3')}, %pitch"))
                rows = _rows_below(code, row, "%pitch")
                for side, at in (("l", t), ("r", after)):
                    given[side] = [_some(code, code.at(r, at), inside) for r in rows]
                given["scale"] = [code.splat(code.load(code.at("%S", d), "double"))]
                given["most"] = [code.load(most_at)]
                writer = Writer(code, lambda name, k: given[name][k], lambda _: "")
                code.store(writer.write([farthest])[0], most_at)
            code.store(code.load(most_at), code.at("%travel", t))
        total, longest = (code.cell("double", "0.0") for _ in range(2))
        code.store("0.0", "%gone", "double")
        with code.loop("0", "%steps") as t:
            step = code.load(code.at("%travel", t), "double")
            more = code(f"fadd double {code.load(total, 'double')}, {step}")
            code.store(more, total, "double")
            code.store(more, code.at("%gone", code(f"add i64 {t}, 1")), "double")
            far = code(f"fcmp ugt double {step}, {code.load(longest, 'double')}")
            best = code(f"select i1 {far}, double {step}, double {code.load(longest, 'double')}")
            code.store(best, longest, "double")
        end = code.at("%gone", code("add i64 %steps, 1"))
        code.store(code.load(longest, "double"), end, "double")


def write_strides(module: Module) -> None:
    """Write ``strides``: the coarse pass over samples of inputs, up to where a step of one sample fails."""
    # The rule of strides is that of :class:`groups.engine.path.Follower`. All lanes do the same. V holds the
    # state and the next one; I: sample, steps of the batch and in it, whether the first sample is entered,
    # knots; W: the way of a stride. Knots go to K (samples) and Y (columns of ``height``), the step that
    # failed behind them. L says how far an unknown may be off a smooth path.
    graph = Graph()
    before, after = ([graph.input(side, k) for k in range(3)] for side in "lr")
    h, (q, v, a), (q1, v1, a1) = graph.input("h", 0), before, after
    expected, off = q + h * (v + 0.5 * h * a), abs(q1 - q - way(h, v, v1, a, a1))
    with module.function(
        "strides",
        "ptr %V, ptr %S, ptr %R, i64 %count, ptr %M, ptr %L, i64 %inputs, i64 %q, i64 %n, i64 %height, "
        "double %limit, ptr %X, i64 %pitch, ptr %time, ptr %travel, ptr %gone, i64 %last, double %most, "
        "ptr %I, ptr %W, ptr %K, ptr %Y, i64 %room",
    ) as code, code.loop("0", "%room"):  # fmt: skip
        lanes, pitch = code.lanes, 2 * code.lanes
        sample, batch, tried, enters, made = (code.at("%I", k, "i64") for k in range(5))

        def whole(pointer: str) -> str:
            return code.load(pointer, "i64")

        def real(pointer: str, k: str | int = 0) -> str:
            return code.load(code.at(pointer, k), "double")

        def moves(step: str) -> str:
            return code(f"fcmp ogt double {real('%travel', step)}, 0.0")

        k, entering = whole(sample), code(f"icmp ne i64 {whole(enters)}, 0")
        code.leave_unless(code(f"or i1 {code(f'icmp slt i64 {k}, %last')}, {entering}"))
        with code.when(code(f"icmp eq i64 {whole(tried)}, {whole(batch)}")):  # strides are widened
            wide, longer = code(f"fmul double {real('%W')}, 2.0"), code(f"mul i64 {whole(batch)}, 2")
            code.store("0", tried, "i64")
            code.store(code.smaller("double", wide, "%most"), "%W", "double")
            code.store(code.smaller("i64", longer, str(BATCH)), batch, "i64")
        # ---- the next sample
        far, moving = code(f"fadd double {real('%gone', k)}, {real('%W')}"), moves(k)
        to = code.cell("i64", code(f"add i64 {k}, {code(f'select i1 {entering}, i64 0, i64 1')}"))
        end = code(f"select i1 {entering}, i64 0, i64 {code('add i64 %last, 1')}")
        with code.loop(code(f"add i64 {k}, 2"), end) as i:
            code.leave_unless(code(f"fcmp ole double {real('%gone', i)}, {far}"))
            code.leave_unless(code(f"icmp eq i1 {moves(code(f'sub i64 {i}, 1'))}, {moving}"))
            code.store(i, to, "i64")
        j = whole(to)
        # ---- its state
        step = code.splat(code(f"fsub double {real('%time', j)}, {real('%time', k)}"))

        def written(i: str, number: Any, **columns: int) -> tuple[str, str]:
            """A number of the states of an unknown before and after the step, and the row of the unknown."""
            row = _place(code, "%V", code(f"add i64 {i}, %q"), pitch)
            rows = _rows_below(code, row, code(f"mul i64 %n, {pitch}"))
            given = {side: [code.load(code.at(p, column)) for p in rows] for side, column in columns.items()}
            given["h"] = [step]
            return Writer(code, lambda name, k: given[name][k], lambda _: "").write([number])[0], row

        with code.loop("0", "%inputs") as d:
            x = code.splat(real(_place(code, "%X", d, "%pitch", j)))
            code.store(x, _place(code, "%V", d, pitch, lanes))
        with code.loop("0", "%n") as i:
            x, row = written(i, expected, l=0)
            code.store(x, code.at(row, lanes))
        code.do(
            f"call void @blocks(ptr %V, ptr {code.at('%S', -lanes)}, ptr %R, i64 %count, ptr %M, i64 {pitch},"
            f" i64 {BLOCK}, i64 0, i64 {lanes}, i64 {pitch}, double %limit, i64 0, i64 0, i64 0, i64 0)"
        )
        # ---- whether it is fine, and on a smooth path
        fine = code.cell("i1", "true")
        with code.loop("0", "%n") as i:
            smooth = code.compare("ole", written(i, off, l=0, r=lanes)[0], code.splat(real("%L", i)))
            lane = code(f"extractelement {code.mask} {smooth}, i32 0")
            code.store(code(f"and i1 {code.load(fine, 'i1')}, {lane}"), fine, "i1")
        with code.loop("0", "%count") as g:
            note = _place(code, "%M", g, NOTES * lanes)
            solved = code(f"fcmp oeq double {real(note)}, 0.0")
            code.store(code(f"and i1 {code.load(fine, 'i1')}, {solved}"), fine, "i1")
            code.store("0.0", note, "double")
        with code.loop("0", "%height") as r:
            x = real(_place(code, "%V", r, pitch, lanes))
            code.store(x, _place(code, "%Y", whole(made), "%height", r), "double")
        code.store(j, code.at("%K", whole(made), "i64"), "i64")
        divides, found = code(f"icmp sgt i64 {code(f'sub i64 {j}, {k}')}, 1"), code.load(fine, "i1")
        with code.when(found):
            with code.loop("0", code("mul i64 %n, 3")) as i:
                row = _place(code, "%V", code(f"add i64 {i}, %q"), pitch)
                code.store(code.load(code.at(row, lanes)), row)
            for cell, x in (
                (sample, j),
                (enters, "0"),
                *((p, f"add i64 {whole(p)}, 1") for p in (tried, made)),
            ):
                code.store(code(x) if " " in x else x, cell, "i64")
        with code.when(code(f"xor i1 {found}, true")):
            for cell, x in ((batch, str(FIRST_BATCH)), (tried, "0")):
                code.store(x, cell, "i64")
            with code.when(divides):
                gone = code(f"fsub double {real('%gone', j)}, {real('%gone', k)}")
                code.store(code(f"fdiv double {gone}, {float(DIVIDED)!r}"), "%W", "double")
        code.leave_unless(code(f"or i1 {found}, {divides}"))


def _place(code: Code, base: str, row: str, pitch: str | int, column: str | int = 0) -> str:
    """Pointer to a number of a row."""
    return code.at(base, code(f"add i64 {code(f'mul i64 {row}, {pitch}')}, {column}"))


def _rows_below(code: Code, row: str, far: str) -> list[str]:
    """A row, and those of the first and second rates."""
    first = code.at(row, far)
    return [row, first, code.at(first, far)]


def write_guess(module: Module) -> None:
    """Write ``guess``: quintics between knots at times H, from the samples F on each, with states Y."""
    graph = Graph()
    left, right = ([graph.input(side, k) for k in range(3)] for side in "lr")
    h, start, t = (graph.input(name, 0) for name in ("h", "start", "t"))
    c = quintic(left, right, h)
    s = (t - start) / h
    value = polynomial(s, c)
    with module.function(
        "guess",
        "ptr %X, i64 %pitch, i64 %q, i64 %n, ptr %time, i64 %count, i64 %knots, ptr %F, ptr %H, ptr %Y",
    ) as code, code.loop("1", "%knots") as i:  # fmt: skip
        before = code(f"sub i64 {i}, 1")
        a, b = (code.load(code.at("%F", k, "i64"), "i64") for k in (before, i))
        t0, t1 = (code.load(code.at("%H", k), "double") for k in (before, i))
        given = {"start": [code.splat(t0)], "h": [code.splat(code(f"fsub double {t1}, {t0}"))]}
        far = code("mul i64 %n, %knots")
        with code.loop("0", "%n") as j:
            row = code.at("%Y", code(f"mul i64 {j}, %knots"))
            for side, at in (("l", before), ("r", i)):
                states = (code.load(code.at(p, at), "double") for p in _rows_below(code, row, far))
                given[side] = [code.splat(x) for x in states]
            out = code.at("%X", code(f"mul i64 {code(f'add i64 {j}, %q')}, %pitch"))
            writer = Writer(code, lambda name, k: given[name][k], lambda _: "")
            writer.write(c)
            with code.loop(a, b, str(code.lanes)) as column:
                given["t"] = [_some(code, code.at("%time", column), _below(code, column, "%count"))]
                code.store(writer.write([value])[0], code.at(out, column))


def write_turns(module: Module, record: Record, doubt: float) -> None:
    """Write ``turns``: angles counted from column to column by their rates, or quaternions kept in sign."""
    # W has the rows of orientation of ``count`` bodies, B their values before the first column; D takes 1
    # where the rates tell less than ``doubt``, a share of a turn.
    graph, planar = Graph(), record.planar
    own = 1 if planar else 4
    of = [0, *(k[2] - record.turn for k in (record.velocity, record.acceleration))] if planar else range(4)
    now, before = ([graph.input(name, k) for k in range(len(of))] for name in ("now", "before"))
    if planar:
        h = graph.input("time", 1) - graph.input("time", 0)
        (angle, w, a), (angle0, w0, a0) = now, before
        off = (angle0 + way(h, w0, w, a0, a) - angle) * (0.5 / pi)
        step: Any = rounded(off)
        unsure = above(h, abs(off - step) - doubt, graph.node(-1.0))
    else:
        inner = sum((x * y for x, y in zip(now[1:], before[1:], strict=True)), now[0] * before[0])
        step, unsure = above(-inner, graph.node(-1.0), graph.node(1.0)), graph.node(-1.0)
    op, unit = ("+", 0.0) if planar else ("*", 1.0)
    with module.function(
        "turns", "ptr %X, ptr %W, i64 %count, ptr %B, ptr %D, i64 %pitch, ptr %time, i64 %end"
    ) as code, code.loop("0", "%count") as b:  # fmt: skip
        first = code(f"mul i64 {code.load(code.at('%W', b, 'i64'), 'i64')}, %pitch")
        rows = [code.at("%X", code(f"add i64 {first}, {code(f'mul i64 %pitch, {k}')}")) for k in of]
        start = [
            code.load(code.at("%B", code(f"add i64 {code(f'mul i64 {b}, {own}')}, {k}")), "double")
            for k in range(own)
        ]
        zero = code.constant(0.0)
        cells = [code.cell(code.number, code.splat(start[k]) if k < own else zero) for k in range(len(of))]
        clock = code.cell(code.number, code.splat(code.load("%time", "double")))
        base = code.cell(code.number, code.constant(unit))
        with code.loop("0", "%end", str(code.lanes)) as t:
            values = [code.load(code.at(row, t)) for row in rows]
            inside = _below(code, t, "%end")
            time = _some(code, code.at("%time", t), inside)
            given = {
                "now": values,
                "before": [_behind(code, code.load(cell), x) for cell, x in zip(cells, values, strict=True)],
                "time": [_behind(code, code.load(clock), time), time],
            }
            writer = Writer(code, lambda name, k: given[name][k], lambda _: "")
            by, doubtful = writer.write([step, unsure])
            doubted = code.both(inside, code.compare("ogt", doubtful, zero))
            doubts = code.choose(doubted, code.constant(1.0), code.load("%D"))
            code.store(doubts, "%D")
            total = code.binary(op, code.load(base), _accumulated(code, op, unit, by))
            for cell, x in zip([*cells, clock], [*values, time], strict=True):
                code.store(x, cell)
            last = ", ".join([f"i32 {code.lanes - 1}"] * code.lanes)
            code.store(_shuffled(code, total, total, last), base)
            for row, x in zip(rows[:own], values[:own], strict=True):
                turned = code.binary("*", total, x if not planar else code.constant(2 * pi))
                code.store(code.binary("+", x, turned) if planar else turned, code.at(row, t))


def _below(code: Code, index: str, end: str) -> str:
    """Mask of the lanes from an index on that are below an end."""
    one = code(f"insertelement {code.whole} poison, i64 {code(f'sub i64 {end}, {index}')}, i32 0")
    left = code(
        f"shufflevector {code.whole} {one}, {code.whole} poison, <{code.lanes} x i32> zeroinitializer"
    )
    steps = ", ".join(f"i64 {k}" for k in range(code.lanes))
    return code(f"icmp slt {code.whole} <{steps}>, {left}")


def _some(code: Code, pointer: str, mask: str) -> str:
    """Numbers of some lanes at a pointer, 0 in the others."""
    of = f"@llvm.masked.load.v{code.lanes}f64.p0"
    code.module.declare(f"{code.number} {of}(ptr, i32, {code.mask}, {code.number})")
    given = f"ptr {pointer}, i32 8, {code.mask} {mask}, {code.number} zeroinitializer"
    return code(f"call {code.number} {of}({given})")


def _shuffled(code: Code, a: str, b: str, order: str) -> str:
    return code(f"shufflevector {code.number} {a}, {code.number} {b}, <{code.lanes} x i32> <{order}>")


def _behind(code: Code, before: str, now: str) -> str:
    """The columns before those of a vector."""
    order = ", ".join(f"i32 {code.lanes - 1 + k}" for k in range(code.lanes))
    return _shuffled(code, before, now, order)


def _accumulated(code: Code, op: str, unit: float, x: str) -> str:
    """Sums or products of the first lanes."""
    by = 1
    while by < code.lanes:
        order = ", ".join(f"i32 {k if k < by else code.lanes + k - by}" for k in range(code.lanes))
        x, by = code.binary(op, x, _shuffled(code, code.constant(unit), x, order)), 2 * by
    return x
