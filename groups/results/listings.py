"""Solvers and assembly modes of a model's groups, as tables and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from groups.assembly_modes.placing import CLOSED_FORM
from groups.library import LibraryRow, most_modes
from groups.results.about import about, about_columns, solver_text
from mbssa.joints.catalogue import coordinate_unit
from mbssa.results.tables import SHOWN_GROUPS, plain_table, print_fitting, summary_head, treatment_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from groups.assembly_modes import GroupModes
    from groups.model import Model

#: Unknowns and joints that a cell lists before it only counts the rest, and coordinates of a mode.
_LISTED = 8
_COLUMNS = 6
#: Modes of a group that have a row.
_SHOWN_MODES = 200


def solvers_page(model: Model, console: Console, *, every: bool = False) -> None:
    """Print the solver of each group, what it solves for, what closes it, and why it was chosen.

    With ``every`` the other solvers that it can have, too.
    """
    _print_head(model, console)
    print_fitting(console, lambda narrow: _solver_table(model, narrow))
    _print_rest(model, console)
    console.print("Why", style="bold")
    for solver, why in dict.fromkeys((solver_text(solver), solver.why) for solver in model.solvers):
        console.print(f"  - {solver}: {why}", markup=False)
    console.print()
    console.print("Modes are the most that a group of this kind can have; ? where nobody knows.")
    if every:
        console.print("\nOther solvers that a group can have", style="bold")
        for number, others in _others(model)[:SHOWN_GROUPS]:
            console.print(f"  SG-{number}: {', '.join(others)}", markup=False)
        console.print("\nmbssa solve MODEL --solver GROUP=NAME solves a group by another.")


def _others(model: Model) -> list[tuple[int, tuple[str, ...]]]:
    """By number of the group, the solvers that it can have beside the one that it has."""
    from groups.model import solvers_of  # which shows its results by this file

    return [
        (solver.number, tuple(name for name in solvers_of(model, solver.number) if name != solver.choice))
        for solver in model.solvers
    ]


def library_page(rows: Sequence[LibraryRow], console: Console) -> None:
    """Print which solver each type of group gets, and why."""

    def table_of(narrow: bool) -> Table:
        columns = ("SG type", "Chain", "Solver", "Unknowns", "Closed by", "Modes", "Degree")
        table = plain_table(columns, ("Unknowns", "Modes", "Degree"), narrow=narrow)
        for row in rows:
            numbers = (str(row.modes or "?"), str(row.degree or "?"))
            table.add_row(
                row.type_name, escape(row.chain), row.solver, str(row.unknowns), row.closing, *numbers
            )
        return table

    print_fitting(console, table_of)
    console.print("Why", style="bold")
    for solver, why in dict.fromkeys((row.solver, row.why) for row in rows):
        console.print(f"  - {solver}: {why}", markup=False)
    console.print()
    console.print("A star marks what is driven. A leg alone has modes for its turns; ? is not known.")


def _solver_table(model: Model, narrow: bool) -> Table:
    columns = (*about_columns(narrow), "Solver", "Unknowns", "Closed by", "Modes")
    table = plain_table(columns, ("SG", "Modes"), narrow=narrow)
    for group, solver in list(zip(model.structure.groups, model.solvers, strict=True))[:SHOWN_GROUPS]:
        table.add_row(
            *about(group, solver, narrow),
            _cell(solver.unknowns, narrow),
            _cell(solver.closing, narrow),
            str(most_modes(model, group) or "?"),
        )
    return table


def solvers_record(model: Model, *, every: bool = False) -> list[dict[str, Any]]:
    """The solver of each group as texts and numbers; modes is None where nobody knows the most.

    With ``every`` the other solvers that it can have, too.
    """
    record: list[dict[str, Any]] = [
        {
            "number": group.number,
            "bodies": list(group.bodies),
            "type": group.type_name,
            "form": solver.form,
            "solver": solver.name,
            "unknowns": list(solver.unknowns),
            "closed_by": list(solver.closing),
            "modes": most_modes(model, group),
            "why": solver.why,
        }
        for group, solver in zip(model.structure.groups, model.solvers, strict=True)
    ]
    if every:
        for row, (_, others) in zip(record, _others(model), strict=True):
            row["others"] = list(others)
    return record


def modes_page(model: Model, listed: Sequence[GroupModes], console: Console, *, each: bool) -> None:
    """Print how many modes the groups have; with ``each`` the modes of them too."""
    _print_head(model, console)
    print_fitting(console, lambda narrow: _count_table(model, listed, narrow))
    if len(listed) > SHOWN_GROUPS:
        _print_rest(model, console)
    _print_searches(listed, console)
    if each:
        for found in listed:
            _print_modes(model, found, console)
    else:
        console.print("mbssa modes MODEL --group N lists the modes of one group;")
        console.print("mbssa solve MODEL --mode N=NUMBER moves it in another than the reference's.")


def _count_table(model: Model, listed: Sequence[GroupModes], narrow: bool) -> Table:
    columns = (*about_columns(narrow), "Solver", "Modes", "Reference", "At most", "All found")
    table = plain_table(columns, ("SG", "Modes", "Reference", "At most"), narrow=narrow)
    for found in listed[:SHOWN_GROUPS]:
        truss = "" if found.truss is None else f"\n{found.truss}"
        table.add_row(
            *about(model.structure.groups[found.group - 1], model.solvers[found.group - 1], narrow),
            str(len(found)),
            str(found.reference),
            "?" if found.most is None else str(found.most),
            _completeness(found) + truss,
        )
    return table


def _completeness(found: GroupModes) -> str:
    if found.complete:
        return "yes"
    return f"about {found.missing:.0f} missing" if found.missing >= 0.5 else "it seems"


def _print_searches(listed: Sequence[GroupModes], console: Console) -> None:
    """How the modes were found that no closed form gives."""
    for found in listed[:SHOWN_GROUPS]:
        if found.search != CLOSED_FORM.text:
            console.print(f"SG-{found.group}: {found.search}.", markup=False)
            if not found.complete:
                console.print("  mbssa modes MODEL --starts N searches longer.", markup=False)


def _print_modes(model: Model, found: GroupModes, console: Console) -> None:
    """The modes of one group, by the coordinates in which they differ, the solver's unknowns first."""
    rows = list(found)
    asked = [name for name in model.solvers[found.group - 1].unknowns if name in found[1].coordinates]
    names = [
        name
        for name in (*asked, *(name for name in found[1].coordinates if name not in asked))
        if len({f"{mode.coordinates[name]:.4f}" for mode in rows}) > 1
    ]
    shown = names[:_COLUMNS]
    titles = [_title(name) for name in shown]
    table = plain_table(("Mode", "", *titles, "Residual"), ("Mode", *titles, "Residual"), narrow=True)
    for mode in rows[:_SHOWN_MODES]:
        table.add_row(
            str(mode.number),
            "*" if mode.number == found.reference else "",
            *(f"{round(mode.coordinates[name], 4) + 0.0:.4f}" for name in shown),
            f"{mode.residual:.0e}" if mode.residual else "0",
        )
    console.print(table)
    console.print("* where the reference stands")
    if len(names) > len(shown):
        console.print(f"… and {len(names) - len(shown)} more coordinates differ; --format json lists them")
    if len(rows) > _SHOWN_MODES:
        console.print(f"… and {len(rows) - _SHOWN_MODES} more modes; --format json lists them")


def _title(name: str) -> str:
    """Joint, coordinate and unit, below each other."""
    joint, _, coordinate = name.rpartition(".")
    return escape(f"{joint}\n{coordinate}\n{coordinate_unit(coordinate)}")


def modes_record(model: Model, listed: Sequence[GroupModes]) -> list[dict[str, Any]]:
    """The modes of groups as texts and numbers, m and rad; poses are of the bodies' own origins."""
    return [
        {
            "number": found.group,
            "bodies": list(model.structure.groups[found.group - 1].bodies),
            "type": found.type_name,
            "solver": found.solver,
            "reference": found.reference,
            "complete": found.complete,
            "missing": found.missing,
            "search": found.search,
            "most": found.most,
            "truss": None if found.truss is None else str(found.truss),
            "modes": [
                {
                    "number": mode.number,
                    "signs": list(mode.signs),
                    "coordinates": mode.coordinates,
                    "bodies": (mode.bodies + 1).tolist(),
                    "position": mode.position.tolist(),
                    "rotation": mode.rotation.tolist(),
                    "residual": mode.residual,
                }
                for mode in found
            ],
        }
        for found in listed
    ]


def _print_head(model: Model, console: Console) -> None:
    head, *rest = summary_head(model.structure)
    console.print(head, style="bold", markup=False)
    for line in (*rest, *treatment_lines(model.structure)):
        console.print(line, markup=False)


def _print_rest(model: Model, console: Console) -> None:
    more = model.structure.n_groups - SHOWN_GROUPS
    if more > 0:
        console.print(f"… and {more} more groups; --format json lists them all")


def _cell(names: Sequence[str], narrow: bool) -> str:
    more = len(names) - _LISTED
    return ("\n" if narrow else ", ").join(
        [*map(escape, names[:_LISTED]), *([f"{more} more"] if more > 0 else [])]
    ) or "–"
