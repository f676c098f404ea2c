"""Solvers of a model's groups, and of each type of group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from groups.reports.about import group_table, model_lines, solver_text
from groups.solvers.library import LibraryRow
from mbssa.reports.table import SHOWN, Heading, Part, Report, Table

if TYPE_CHECKING:
    from groups.model import Model

#: Unknowns and joints that a cell lists before it only counts the rest.
_LISTED = 8


def solvers_report(model: Model, *, every: bool = False) -> Report:
    """Report on each group's solver and why it was chosen; ``every`` lists its other solvers too."""
    parts: list[Part] = [
        *model_lines(model.structure),
        _table(model),
        *_why((solver_text(solver), solver.why) for solver in model.solvers),
        "Modes are the most that a group of this kind can have; ? where the number is unknown.",
    ]
    if every:
        parts += ["", Heading("Other solvers that a group can have")]
        parts += [f"  SG-{number}: {', '.join(names)}" for number, names in _others(model)[:SHOWN]]
        parts += ["", "mbssa solve MODEL --solver GROUP=NAME solves a group by another."]
    return Report(parts, lambda: _record(model, every))


def library_report(rows: Sequence[LibraryRow]) -> Report:
    """The solver of each type of group, and why."""
    columns = ("SG type", "Chain", "Solver", "Unknowns", "Closed by", "Modes", "Degree")

    def cells(row: LibraryRow) -> tuple[str, ...]:
        numbers = (str(row.modes or "?"), str(row.degree or "?"))
        return row.type_name, row.chain, row.solver, str(row.unknowns), row.closing, *numbers

    def table(tight: bool) -> Table:
        right = ("Unknowns", "Modes", "Degree")
        return Table(columns, rows, cells, right, narrow=lambda: table(True), tight=tight)

    return Report(
        (
            table(False),
            *_why((row.solver, row.why) for row in rows),
            "A star marks driven coordinates. A leg alone has modes for its turns; ? is not known.",
        ),
        lambda: [asdict(row) for row in rows],
    )


def _why(reasons: Iterable[tuple[str, str]]) -> list[str]:
    return [Heading("Why"), *(f"  - {solver}: {why}" for solver, why in dict.fromkeys(reasons)), ""]


def _others(model: Model) -> list[tuple[int, tuple[str, ...]]]:
    """Solvers that each group can have beside the one that it has, by number of the group."""
    from groups.building import solvers_of

    return [
        (solver.number, tuple(name for name in solvers_of(model, solver.number) if name != solver.choice))
        for solver in model.solvers
    ]


def _table(model: Model) -> Table:
    columns = {
        "Unknowns": lambda g, narrow: _cell(model.solvers[g].unknowns, narrow),
        "Closed by": lambda g, narrow: _cell(model.solvers[g].closing, narrow),
        "Modes": lambda g, _: str(model.solvers[g].most_modes(model.structure.groups[g]) or "?"),
    }
    return group_table(model, columns, left=("Unknowns", "Closed by"))


def _record(model: Model, every: bool) -> list[dict[str, Any]]:
    """Solver of each group as texts and numbers; modes is None where the largest number is unknown."""
    record: list[dict[str, Any]] = [
        {
            "number": group.number,
            "bodies": list(group.bodies),
            "type": group.type_name,
            "form": solver.form,
            "solver": solver.name,
            "unknowns": list(solver.unknowns),
            "closed_by": list(solver.closing),
            "modes": solver.most_modes(group),
            "why": solver.why,
        }
        for group, solver in zip(model.structure.groups, model.solvers, strict=True)
    ]
    if every:
        for row, (_, others) in zip(record, _others(model), strict=True):
            row["others"] = list(others)
    return record


def _cell(names: Sequence[str], narrow: bool) -> str:
    more = len(names) - _LISTED
    return ("\n" if narrow else ", ").join([*names[:_LISTED], *([f"{more} more"] if more > 0 else [])]) or "–"
