"""Solvers and assembly modes of a model's groups, as tables and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from groups.results.summary import solver_text
from mbssa.joints.catalogue import coordinate_unit
from mbssa.results.tables import SHOWN_GROUPS, plain_table, summary_head, treatment_lines

if TYPE_CHECKING:
    from rich.console import Console

    from groups.model import Model
    from groups.modes import GroupModes

#: Unknowns and joints that a cell lists before it only counts the rest, and coordinates of a mode.
_LISTED = 8
#: Modes of a group that a table lists before it only counts the rest.
_SHOWN_MODES = 100


def solvers_page(model: Model, console: Console) -> None:
    """Print the solver of each group, what it solves for, what closes it, and why it was chosen."""
    _print_head(model, console)
    right = ("SG", "Modes")
    table = plain_table(("SG", "Bodies", "SG type", "Solver", "Unknowns", "Closed by", "Modes", "Why"), right)
    for group, solver in list(zip(model.structure.groups, model.solvers, strict=True))[:SHOWN_GROUPS]:
        table.add_row(
            str(group.number),
            ", ".join(map(str, group.bodies)),
            group.type_name,
            solver_text(solver),
            _cell(solver.unknowns),
            _cell(solver.closing),
            "?" if solver.modes is None else str(solver.modes),
            solver.why,
        )
    console.print(table)
    _print_rest(model, console)
    console.print("Modes: at most so many; ? where nobody knows. mbssa modes lists those that there are.")


def solvers_record(model: Model) -> list[dict[str, Any]]:
    """The solver of each group as texts and numbers; modes is None where nobody knows the most."""
    return [
        {
            "number": group.number,
            "bodies": list(group.bodies),
            "type": group.type_name,
            "form": solver.form,
            "solver": solver.name,
            "unknowns": list(solver.unknowns),
            "closed_by": list(solver.closing),
            "modes": solver.modes,
            "why": solver.why,
        }
        for group, solver in zip(model.structure.groups, model.solvers, strict=True)
    ]


def modes_page(model: Model, listed: Sequence[GroupModes], console: Console, *, each: bool) -> None:
    """Print how many modes the groups have; with ``each`` every mode of them too."""
    _print_head(model, console)
    right = ("SG", "Modes", "Reference", "At most")
    table = plain_table(
        ("SG", "Bodies", "SG type", "Solver", "Modes", "Reference", "All found", "At most"), right
    )
    for found in listed[:SHOWN_GROUPS]:
        table.add_row(
            str(found.group),
            ", ".join(map(str, model.structure.groups[found.group - 1].bodies)),
            found.type_name,
            solver_text(model.solvers[found.group - 1]),
            str(len(found)),
            str(found.reference),
            "yes" if found.complete else "perhaps not",
            ("?" if found.most is None else str(found.most))
            + (f", {found.truss}" if found.truss is not None else ""),
        )
    console.print(table)
    if len(listed) > SHOWN_GROUPS:
        _print_rest(model, console)
    if each:
        for found in listed:
            _print_modes(found, console)
    else:
        console.print(
            "mbssa modes MODEL --group N lists the modes of one group; mbssa solve MODEL --mode N=NUMBER"
        )
        console.print("moves it in another than the reference's.")


def _print_modes(found: GroupModes, console: Console) -> None:
    """The modes of one group: a column per mode-dependent coordinate, up to some."""
    names = list(found[1].coordinates)[:_LISTED]
    units = [coordinate_unit(name.rpartition(".")[2]) for name in names]
    titles = [f"{name} [{unit}]" for name, unit in zip(names, units, strict=True)]
    table = plain_table(("Mode", "Signs", *titles, "Residual"), ("Mode", *titles, "Residual"))
    for mode in list(found)[:_SHOWN_MODES]:
        table.add_row(
            f"{mode.number}{' (reference)' if mode.number == found.reference else ''}",
            " ".join("+" if sign > 0 else "-" for sign in mode.signs) or "–",
            *(f"{mode.coordinates[name]:.4f}" for name in names),
            f"{mode.residual:.0e}",
        )
    console.print(table)
    more = len(found[1].coordinates) - len(names)
    if more > 0:
        console.print(f"… and {more} more coordinates of each; --format json lists all")
    if len(found) > _SHOWN_MODES:
        console.print(f"… and {len(found) - _SHOWN_MODES} more modes; --format json lists all")


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


def _cell(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "") or "–"
