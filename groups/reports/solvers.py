"""Solvers of a model's groups, and of each type of group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from groups.reports.about import group_records, group_table, model_lines
from groups.solvers.library import LibraryRow
from mbssa.reports.table import SHOWN, Columns, Heading, Part, Report, Table

if TYPE_CHECKING:
    from groups.model import Model

#: Unknowns and joints that a cell lists before it only counts the rest.
_LISTED = 8


def solvers_report(model: Model, *, every: bool = False) -> Report:
    """Report on each group's solver and why it was chosen; ``every`` lists its other solvers too."""
    groups, solvers = model.structure.groups, model.solvers
    columns: Columns = {
        "Unknowns": (lambda g: _cell(solvers[g].unknowns), ""),
        "Closed by": (lambda g: _cell(solvers[g].closing), ""),
        "Modes": (lambda g: str(solvers[g].most_modes(groups[g]) or "?"), ">"),
    }
    parts: list[Part] = [
        *model_lines(model.structure),
        group_table(model, columns),
        *_why((solver.title, solver.why) for solver in solvers),
        "Modes are the most that a group of this kind can have; ? where the number is unknown.",
    ]
    if every:
        others = _record(model, every)[:SHOWN]
        parts += ["", Heading("Other solvers that a group can have")]
        parts += [f"  SG-{row['number']}: {', '.join(row['others'])}" for row in others]
        parts += ["", "mbssa solve MODEL --solver GROUP=NAME solves a group by another."]
    return Report(parts, lambda: _record(model, every))


def library_report(rows: Sequence[LibraryRow]) -> Report:
    """The solver of each type of group, and why."""
    records = [asdict(row) for row in rows]
    columns = {
        "SG type": ("type_name", ""), "Chain": ("chain", ""), "Solver": ("solver", ""),
        "Unknowns": ("unknowns", "d"), "Closed by": ("closing", ""), "Modes": ("modes", "d"),
        "Degree": ("degree", "d"),
    }  # fmt: skip
    return Report(
        (
            Table.of(records, columns, none="?"),
            *_why((row.solver, row.why) for row in rows),
            "A star marks driven coordinates. A leg alone has modes for its turns; ? is not known.",
        ),
        lambda: records,
    )


def _why(reasons: Iterable[tuple[str, str]]) -> list[str]:
    return [Heading("Why"), *(f"  - {solver}: {why}" for solver, why in dict.fromkeys(reasons)), ""]


def _record(model: Model, every: bool) -> list[dict[str, Any]]:
    """Solver of each group as texts and numbers; modes is None where the largest number is unknown."""
    from groups.model import solvers_of

    return [
        record
        | {
            "unknowns": solver.unknowns,
            "closed_by": solver.closing,
            "modes": solver.most_modes(group),
            "why": solver.why,
        }
        | ({"others": [n for n in solvers_of(model, group.number) if n != solver.choice]} if every else {})
        for record, group, solver in zip(
            group_records(model), model.structure.groups, model.solvers, strict=True
        )
    ]


def _cell(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join([*names[:_LISTED], *([f"{more} more"] if more > 0 else [])]) or "–"
