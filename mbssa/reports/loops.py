"""Loops, their modules, and the comparison with structural groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mbssa.reports.table import SHOWN, Bad, Columns, Good, Heading, Report, Table, plain
from mbssa.reports.wording import headline, size_line
from mbssa.texts import counted

if TYPE_CHECKING:
    from mbssa.loops.comparison import Comparison
    from mbssa.loops.structure import LoopStructure

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


def loops_report(found: LoopStructure, comparison: Comparison | None = None) -> Report:
    """Summary, loops and modules, and the comparison; CSV has the modules, or the comparison."""
    m, ids = found.mechanism, found.mechanism.joint_ids
    wehage = found.method == "wehage"
    cut: Columns = {"Cut": (lambda loop: ids[loop.cut], "")} if wehage else {}
    loops: Columns = {
        "CL": ("number", "d"),
        "Bodies": ("bodies", ""),
        "Joints": (lambda loop: _GAP.join(str(m.joints[joint]) for joint in loop.joints), ""),
        **cut,
        "Coordinates": ("n_coordinates", "d"),
        "Driven": (lambda loop: len(loop.driven) or None, "d"),
        "Unknown": (lambda loop: sum(name not in found.held for name in loop.unknown), "d"),
        "Equations": (
            lambda loop: f"{loop.equations}" + f" of {m.freedom}" * (loop.equations != m.freedom),
            ">",
        ),
    }
    # Members with virtual bodies: Tables 2, 5 and 7.
    substructures: Columns = {
        "Substructure": ("number", "d"),
        "Loops": ("loops", ""),
        "Loop members": (lambda each: "; ".join(",".join(map(str, bodies)) for bodies in each.members), ""),
    }
    modules: Columns = {
        "Module": ("number", "d"), "Loops": ("loops", ""), "Equations": ("equations", "d"),
        "Unknowns": ("unknowns", "d"), "Computes": ("computes", ""),
        "Cut open at": (lambda module: [ids[joint] for joint in module.cuts], ""),
        "Size": ("size", "d"), "Level": ("level", "d"), "Needs": ("depends_on", ""),
    }  # fmt: skip
    tables = [_table(found.loops, loops)]
    tables += [_table(found.substructures, substructures)] if wehage else []
    tables.append(_table(found.modules, modules))
    if comparison is None:
        return Report((*summary_lines(found), *tables), lambda: to_dict(found), sheet=tables[-1])
    ways: Columns = {
        "Way": ("name", ""), "Modules": ("modules", "d"), "Levels": ("levels", "d"),
        "Systems": (lambda way: len(way.sizes), "d"),
        "Unknowns": (lambda way: _run_lengths(way.unknowns), ""),
        "Sizes": (lambda way: _run_lengths(way.sizes), ""), "Largest": ("largest", "d"),
        "Sum of cubes": ("cubes", ",d"),
    }  # fmt: skip
    tables.append(_table(comparison.ways, ways))
    remarks = ["Sizes: unknowns when each loop is cut open where it has the most; the cubes are of these."]
    groups = comparison.ways[0]
    if idle := groups.modules - len(groups.sizes):
        remarks.append(
            f"{counted(idle, 'structural group')} with nothing to solve (driven bodies): modules, but "
            "no systems. Loops have no such modules and levels."
        )
    if not comparison.structure.determined:
        remarks.append("The structural groups are not determined: only those that were found are counted.")

    def record() -> dict[str, Any]:
        names = "modules levels unknowns sizes largest"
        figures = [
            {"way": way.name, **plain(way, names), "sum_of_cubes": way.cubes} for way in comparison.ways
        ]
        return to_dict(found) | {"comparison": figures}

    return Report((*summary_lines(found), *tables, *remarks), record, sheet=tables[-1])


def _table(items: Sequence[Any], columns: Columns) -> Table:
    """A table whose names take a line each where there is little room: only names may not be broken."""
    rest = "… and {} more; --format csv lists them all"
    table = Table.of(items, columns, wraps=True, shown=SHOWN, rest=rest)
    whole = tuple(columns)
    narrow = replace(
        table,
        columns=tuple(_SHORT.get(title, title) for title in whole),
        right=[_SHORT.get(title, title) for title in table.right],
        row=lambda item: tuple(map(_in_lines, whole, table.cells(item))),
        tight=True,
    )
    return replace(table, narrow=narrow)


def _in_lines(title: str, cell: str) -> str:
    if title == "Bodies":
        return cell.replace(",", ", ")
    return cell.replace(_GAP, "\n").replace(", ", "\n") if title in _NAMES else cell


def _run_lengths(sizes: Sequence[int]) -> str:
    """Numbers of each size, the smallest first: ``6 × 3, 1 × 12``."""
    return ", ".join(f"{sizes.count(size)} × {size}" for size in sorted(set(sizes))) or "–"


def summary_lines(found: LoopStructure) -> list[str]:
    """Head of the tables: the mechanism, Eq. (1), the verdict, and all that was left out."""
    m = found.mechanism
    pairs = m.n_joints - len(found.left_out)
    movable = m.n_bodies - 1
    loops = counted(len(found.loops), "independent loop")
    eq = f"C = P − N_m = {pairs} − {movable}"
    if pairs - movable != len(found.loops):
        eq += f" + {len(found.loops) - pairs + movable}, for the bodies that no pair binds to the frame"
    how = "with the fewest coordinates" if found.method == "basis" else "of a spanning tree with cut joints"
    lines = [Heading(headline(m)), size_line(m, inputs=False), f"{loops} {how}; Eq. (1): {eq}"]
    if found.method == "wehage":
        together = [f"{{{', '.join(map(str, s.loops))}}}" for s in found.substructures if len(s.loops) > 1]
        merged = f", loops {' and '.join(together)} merged" if together else ""
        lines.append(counted(len(found.substructures), "substructure") + " by Wehage's rule" + merged)
        # Substructures that the order of solution joins and the rule separates.
        of_loop = {loop: each.number for each in found.substructures for loop in each.loops}
        for module in found.modules:
            mine = sorted({of_loop[loop] for loop in module.loops})
            if len(mine) > 1:
                numbers = ", ".join(map(str, mine))
                lines.append(
                    f"  substructures {numbers} need each other's coordinates: module {module.number}"
                )
    levels = counted(len(found.levels), "level")
    line, verdict = (Good, "determined") if found.determined else (Bad, "not determined")
    apart = (
        f"; {found.n_apart} if merged loops were solved apart" if found.n_apart > len(found.modules) else ""
    )
    lines.append(line(f"{verdict}: {counted(len(found.modules), 'module')} in {levels}{apart}"))
    return lines + [f"  {line}" for line in _faults(found)] + [f"note: {note}" for note in found.notes]


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
        lines.append(f"held at zero (passive rotations): {', '.join(found.held)}")
    if found.open:
        lines.append(f"in no loop and not driven: {', '.join(found.open)}")
    for joint in found.left_out:
        three = len(m.joint_bodies(joint)) > 2
        why = "joins three bodies: no loop can use it" if three else "binds nothing and is not driven"
        lines.append(f"left out: {m.joints[joint]}, which {why}")
    return lines


def to_dict(found: LoopStructure) -> dict[str, Any]:
    """Content of a ``LoopStructure`` as lists, texts and numbers."""
    ids = found.mechanism.joint_ids
    return {
        "mechanism": plain(found.mechanism, "name space"),
        **plain(found, "method determined"),
        "loops": [
            {
                **plain(loop, "number bodies"),
                "joints": [ids[joint] for joint in loop.joints],
                **plain(loop, "driven unknown rank equations redundant"),
                "cut": None if loop.cut is None else ids[loop.cut],
            }
            for loop in found.loops
        ],
        "substructures": [plain(each, "number loops members") for each in found.substructures],
        "modules": [
            {
                **plain(module, "number loops equations computes known"),
                "cuts": [ids[joint] for joint in module.cuts],
                **plain(module, "size state depends_on level"),
            }
            for module in found.modules
        ],
        **plain(found, "n_apart levels open held"),
        "left_out": [ids[joint] for joint in found.left_out],
        **plain(found, "notes"),
    }
