"""Loops, their modules, and the comparison with structural groups: tables, JSON, CSV, Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from mbssa.loops.comparison import Comparison
from mbssa.loops.structure import Loop, LoopStructure, Module
from mbssa.mechanism import Mechanism
from mbssa.results.exports import csv_text, markdown_table
from mbssa.results.tables import WIDE, counted, plain_table, plain_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Format = Literal["table", "json", "csv", "markdown"]

#: Between two joints of a loop: more than between the id and the type of one.
_GAP = "  "

#: Columns of names that are long.
_NAMES = ("Joints", "Computes", "Cut open at", "Sizes", "Unknowns")

#: Titles where there is little room.
_SHORT = {
    "Coordinates": "Coord.",
    "Equations": "Eqs.",
    "Unknown": "Unkn.",
    "Unknowns": "Unkn.",
    "Substructure": "Sub.",
}

#: Loops or modules that a printed table lists before it only counts the rest.
SHOWN = 500


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table: columns, those aligned right, and rows of texts."""

    columns: tuple[str, ...]
    right: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def loop_sheet(found: LoopStructure) -> Sheet:
    """The loops: bodies in order, joints, coordinates, equations."""
    numbers = ("CL", "Coordinates", "Driven", "Unknown", "Equations")
    cut = ("Cut",) if found.method == "wehage" else ()
    columns = ("CL", "Bodies", "Joints", *cut, "Coordinates", "Driven", "Unknown", "Equations")
    return Sheet(columns, numbers, tuple(_loop_row(found, loop) for loop in found.loops))


def _loop_row(found: LoopStructure, loop: Loop) -> tuple[str, ...]:
    m = found.mechanism
    held = sum(name in found.held for name in loop.unknown)
    return (
        str(loop.number),
        ",".join(map(str, loop.bodies)),
        _GAP.join(str(m.joints[joint]) for joint in loop.joints),
        *((m.joint_ids[loop.cut],) if loop.cut is not None else ()),
        str(loop.n_coordinates),
        str(len(loop.driven) or "–"),
        str(len(loop.unknown) - held),
        str(loop.equations) if loop.equations == m.freedom else f"{loop.equations} of {m.freedom}",
    )


def module_sheet(found: LoopStructure) -> Sheet:
    """The modules in the order of solution."""
    columns = (
        "Module",
        "Loops",
        "Equations",
        "Unknowns",
        "Computes",
        "Cut open at",
        "Size",
        "Level",
        "Needs",
    )
    numbers = ("Module", "Equations", "Unknowns", "Size", "Level")
    return Sheet(columns, numbers, tuple(_module_row(found, module) for module in found.modules))


def _module_row(found: LoopStructure, module: Module) -> tuple[str, ...]:
    return (
        str(module.number),
        ",".join(map(str, module.loops)),
        str(module.equations),
        str(module.unknowns),
        ", ".join(module.computes) or "–",
        ", ".join(found.mechanism.joint_ids[joint] for joint in module.cuts) or "–",
        str(module.size),
        str(module.level),
        ",".join(map(str, module.depends_on)) or "–",
    )


def substructure_sheet(found: LoopStructure) -> Sheet:
    """Wehage's substructures with the members of their loops, virtual bodies too: Tables 2, 5 and 7."""
    rows = tuple(
        (
            str(each.number),
            ",".join(map(str, each.loops)),
            "; ".join(",".join(map(str, bodies)) for bodies in each.members),
        )
        for each in found.substructures
    )
    return Sheet(("Substructure", "Loops", "Loop members"), ("Substructure",), rows)


def comparison_sheet(comparison: Comparison) -> Sheet:
    """The ways of dividing the mechanism, one a row."""
    columns = ("Way", "Modules", "Levels", "Systems", "Unknowns", "Sizes", "Largest", "Sum of cubes")
    rows = tuple(
        (
            way.name,
            str(way.modules),
            str(way.levels),
            str(len(way.sizes)),
            _run_lengths(way.unknowns),
            _run_lengths(way.sizes),
            str(way.largest),
            f"{way.cubes:,}",
        )
        for way in comparison.ways
    )
    return Sheet(columns, ("Modules", "Levels", "Systems", "Largest", "Sum of cubes"), rows)


def _run_lengths(sizes: Sequence[int]) -> str:
    """``6 × 3, 1 × 12``: how many of each size, the smallest first."""
    return ", ".join(f"{sizes.count(size)} × {size}" for size in sorted(set(sizes))) or "–"


def summary_lines(found: LoopStructure) -> list[str]:
    """What stands above the tables: the mechanism, Eq. (1), the verdict, and all that was left out."""
    m = found.mechanism
    pairs = m.n_joints - len(found.left_out)
    lines = _head(m)
    movable = m.n_bodies - 1
    loops = counted(len(found.loops), "independent loop")
    eq = f"C = P − N_m = {pairs} − {movable}"
    if pairs - movable != len(found.loops):
        eq += f" + {len(found.loops) - pairs + movable}, for the bodies that no pair binds to the frame"
    how = "with the fewest coordinates" if found.method == "basis" else "of a spanning tree with cut joints"
    lines.append(f"{loops} {how}; Eq. (1): {eq}")
    if found.method == "wehage":
        together = [f"{{{', '.join(map(str, s.loops))}}}" for s in found.substructures if len(s.loops) > 1]
        merged = f", loops {' and '.join(together)} merged" if together else ""
        lines.append(counted(len(found.substructures), "substructure") + " by Wehage's rule" + merged)
        lines += _disagreement(found)
    levels = counted(len(found.levels), "level")
    verdict = "determined" if found.determined else "not determined"
    apart = (
        f"; {found.n_apart} if merged loops were solved apart" if found.n_apart > len(found.modules) else ""
    )
    lines.append(f"{verdict}: {counted(len(found.modules), 'module')} in {levels}{apart}")
    return lines + [f"  {line}" for line in _faults(found)] + [f"note: {note}" for note in found.notes]


def _head(m: Mechanism) -> list[str]:
    title = "".join(character for character in m.title if character.isprintable())
    return [
        f"{m.name}: {title}" if title else m.name or "mechanism",
        f"{m.space}, {m.n_bodies} bodies with the frame, {counted(m.n_joints, 'joint')}; "
        f"mobility {m.mobility} by Eq. (2), {m.n_driven} driven",
    ]


def _disagreement(found: LoopStructure) -> list[str]:
    """Where the order of solution joins substructures that the rule keeps apart."""
    of_loop = {loop: each.number for each in found.substructures for loop in each.loops}
    lines = []
    for module in found.modules:
        mine = sorted({of_loop[loop] for loop in module.loops})
        if len(mine) > 1:
            numbers = ", ".join(map(str, mine))
            lines.append(f"  substructures {numbers} need each other's coordinates: module {module.number}")
    return lines


def _faults(found: LoopStructure) -> list[str]:
    m = found.mechanism
    lines = []
    for module in found.modules:
        if module.state != "sound":
            more = "more" if module.state == "over" else "fewer"
            by = abs(module.equations - module.unknowns)
            lines.append(f"module {module.number} has {counted(by, 'equation')} {more} than unknowns")
    for loop in found.loops:
        if loop.rank < m.freedom:
            lines.append(
                f"CL-{loop.number}: its joints span {loop.rank} of {m.freedom} directions; "
                f"{counted(m.freedom - loop.rank, 'equation')} left out"
            )
        if loop.redundant:
            lines.append(
                f"CL-{loop.number}: {counted(loop.redundant, 'equation')} left out; other loops say the same"
            )
    if found.held:
        lines.append(f"held at zero, as the body spins idly: {', '.join(found.held)}")
    if found.open:
        lines.append(f"in no loop and not driven: {', '.join(found.open)}")
    for joint in found.left_out:
        three = len(m.joint_bodies(joint)) > 2
        why = "joins three bodies: no loop can use it" if three else "binds nothing and is not driven"
        lines.append(f"left out: {m.joints[joint]}, which {why}")
    return lines


def to_dict(found: LoopStructure) -> dict[str, Any]:
    """Everything that a ``LoopStructure`` answers, as lists, texts and numbers.

    >>> import mbssa
    >>> from mbssa.loops import independent_loops
    >>> independent_loops(mbssa.load("nine_bar")).to_dict()["modules"][1]["depends_on"]
    [1]
    """
    ids = found.mechanism.joint_ids
    return {
        "mechanism": {"name": found.mechanism.name, "space": found.mechanism.space},
        "method": found.method,
        "determined": found.determined,
        "loops": [
            {
                "number": loop.number,
                "bodies": list(loop.bodies),
                "joints": [ids[joint] for joint in loop.joints],
                "driven": list(loop.driven),
                "unknown": list(loop.unknown),
                "rank": loop.rank,
                "equations": loop.equations,
                "redundant": loop.redundant,
                "cut": None if loop.cut is None else ids[loop.cut],
            }
            for loop in found.loops
        ],
        "substructures": [
            {"number": each.number, "loops": list(each.loops), "members": [list(b) for b in each.members]}
            for each in found.substructures
        ],
        "modules": [
            {
                "number": module.number,
                "loops": list(module.loops),
                "equations": module.equations,
                "computes": list(module.computes),
                "known": list(module.known),
                "cuts": [ids[joint] for joint in module.cuts],
                "size": module.size,
                "state": module.state,
                "depends_on": list(module.depends_on),
                "level": module.level,
            }
            for module in found.modules
        ],
        "n_apart": found.n_apart,
        "levels": [list(level) for level in found.levels],
        "open": list(found.open),
        "held": list(found.held),
        "left_out": [ids[joint] for joint in found.left_out],
        "notes": list(found.notes),
    }


def comparison_record(comparison: Comparison) -> list[dict[str, Any]]:
    """The figures of each way as plain data."""
    return [
        {
            "way": way.name,
            "modules": way.modules,
            "levels": way.levels,
            "unknowns": list(way.unknowns),
            "sizes": list(way.sizes),
            "largest": way.largest,
            "sum_of_cubes": way.cubes,
        }
        for way in comparison.ways
    ]


def page(found: LoopStructure, console: Console, comparison: Comparison | None = None) -> None:
    """Print summary and tables on a console."""
    head, *rest = summary_lines(found)
    console.print(head, style="bold", markup=False)
    for line in rest:
        console.print(line, markup=False)
    for sheet in _sheets(found, comparison):
        table = _table(sheet, narrow=False)
        # Lists of names may wrap; only what would have to break a name is too wide.
        if console.measure(table, options=console.options.update(width=10_000)).minimum > console.width:
            table = _table(sheet, narrow=True)
        console.print(table)
        if len(sheet.rows) > SHOWN:
            console.print(f"… and {len(sheet.rows) - SHOWN} more; --format csv lists them all")
    if comparison is not None:
        for line in _remarks(comparison):
            console.print(line, markup=False)


def _table(sheet: Sheet, *, narrow: bool) -> Table:
    """The first rows; where there is little room, each name takes a line of its own."""
    from rich.markup import escape

    titles = [_SHORT.get(title, title) if narrow else title for title in sheet.columns]
    right = [title for title, whole in zip(titles, sheet.columns, strict=True) if whole in sheet.right]
    table = plain_table(titles, right, narrow=narrow)
    for row in sheet.rows[:SHOWN]:
        cells = map(_in_lines, sheet.columns, row) if narrow else row
        table.add_row(*map(escape, cells))
    return table


def _in_lines(title: str, cell: str) -> str:
    if title == "Bodies":
        return cell.replace(",", ", ")
    return cell.replace(_GAP, "\n").replace(", ", "\n") if title in _NAMES else cell


def _remarks(comparison: Comparison) -> list[str]:
    """What the comparison does not say in figures."""
    lines = ["Sizes: unknowns when each loop is cut open where it has the most; the cubes are of these."]
    groups = comparison.ways[0]
    if idle := groups.modules - len(groups.sizes):
        lines.append(
            f"{counted(idle, 'structural group')} with nothing to solve (driven bodies): modules, but "
            "no systems. Loops have no such modules and levels."
        )
    if not comparison.structure.determined:
        lines.append("The structural groups are not determined: only those that were found are counted.")
    return lines


def _sheets(found: LoopStructure, comparison: Comparison | None) -> list[Sheet]:
    sheets = [loop_sheet(found), module_sheet(found)]
    if found.method == "wehage":
        sheets.insert(1, substructure_sheet(found))
    if comparison is not None:
        sheets.append(comparison_sheet(comparison))
    return [sheet for sheet in sheets if sheet.rows]


def as_text(found: LoopStructure, comparison: Comparison | None = None, width: int = WIDE) -> str:
    """The page without colours, as ``print(loops)`` shows it."""
    return plain_text(lambda console: page(found, console, comparison), width)


def export(found: LoopStructure, form: Format, comparison: Comparison | None = None) -> str:
    """The loops as text of one format; CSV has the modules, or the comparison where there is one.

    Raises
    ------
    ValueError
        Unknown format.
    """
    if form == "table":
        return as_text(found, comparison) + "\n"
    if form == "json":
        record = to_dict(found)
        if comparison is not None:
            record["comparison"] = comparison_record(comparison)
        return json.dumps(record, ensure_ascii=False, indent=2) + "\n"
    if form == "csv":
        sheet = module_sheet(found) if comparison is None else comparison_sheet(comparison)
        return csv_text(sheet.columns, sheet.rows)
    if form == "markdown":
        return _markdown(found, comparison)
    raise ValueError(f"format {form!r} is unknown; write one of {', '.join(get_args(Format))}")


def _markdown(found: LoopStructure, comparison: Comparison | None) -> str:
    head, *rest = summary_lines(found)
    text = [f"# {head}", "", *rest]
    for sheet in _sheets(found, comparison):
        text += ["", *markdown_table(sheet.columns, sheet.rows)]
    if comparison is not None:
        text += ["", *_remarks(comparison)]
    return "\n".join(text) + "\n"
