"""Structural groups of a model: their solvers, and their assembly modes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.assembly_modes.search import CLOSED_FORM
from groups.reports.about import model_lines
from mbssa.joints.catalogue import coordinate_unit, is_length
from mbssa.reports.table import SHOWN, Columns, Heading, Part, Report, Table, first_lines, plain
from mbssa.units import given_in, units_record

if TYPE_CHECKING:
    from groups.assembly_modes import AssemblyMode, GroupModes
    from groups.model import Model
    from groups.solvers.library import LibraryRow

#: Letters of a line of bodies in a narrow table; unknowns and joints that a cell lists.
_WRAPPED, _LISTED = 12, 8
#: Coordinates of a mode that one table has, and all tables of a group.
_COLUMNS, _MOST_COLUMNS = 6, 24
#: Modes of a group that have a row, and up to which all their coordinates are shown.
_SHOWN_MODES, _FEW_MODES = 200, 20
#: m or rad by which a coordinate may pass a limit.
_LIMIT = 1e-9


def group_table(model: Model, columns: Columns, numbers: Sequence[int] | None = None) -> Table:
    """A row for each group (or these indices): number, bodies, type, solver, and further columns by index."""
    groups = model.structure.groups
    head: Columns = {
        "SG": (lambda g: g + 1, "d"), "Bodies": (lambda g: ", ".join(map(str, groups[g].bodies)), ""),
        "SG type": (lambda g: groups[g].type_name, ""),
        "Solver": (lambda g: model.solvers[g].title, ""),
    }  # fmt: skip
    rest = "… and {} more groups; --format json lists them all"
    items = range(len(groups)) if numbers is None else numbers
    table = Table.of(items, {**head, **columns}, shown=SHOWN, rest=rest)

    def narrow(g: int) -> tuple[str, ...]:
        number, bodies, name, *cells = table.cells(g)
        below = "\n".join([name, *wrap(bodies, max(len(name), _WRAPPED))])
        return number, below, *(cell.replace(": ", ":\n").replace(", ", ",\n") for cell in cells)

    titles = tuple(title for title in table.columns if title != "Bodies")
    return replace(table, narrow=replace(table, columns=titles, row=narrow, tight=True))


def group_records(model: Model) -> list[dict[str, Any]]:
    """Number, bodies and type of each group, and the form and name of its solver."""
    return [
        {"number": group.number, "bodies": group.bodies, "type": group.type_name}
        | {"form": solver.form, "solver": solver.name}
        for group, solver in zip(model.structure.groups, model.solvers, strict=True)
    ]


# --- solvers -----------------------------------------------------------------------------------------


def solvers_report(model: Model, *, every: bool = False) -> Report:
    """Report on each group's solver and why it was chosen; ``every`` lists its other solvers too."""
    from groups.building import solvers_of

    records = [
        record
        | {"unknowns": solver.unknowns, "closed_by": solver.closing}
        | {"modes": solver.most_modes(group), "why": solver.why}
        | ({"others": [n for n in solvers_of(model, group.number) if n != solver.choice]} if every else {})
        for record, group, solver in zip(
            group_records(model), model.structure.groups, model.solvers, strict=True
        )
    ]
    columns: Columns = {
        "Unknowns": (lambda g: _cell(records[g]["unknowns"]), ""),
        "Closed by": (lambda g: _cell(records[g]["closed_by"]), ""),
        "Modes": (lambda g: str(records[g]["modes"] or "?"), ">"),
    }
    parts: list[Part] = [
        *model_lines(model.structure),
        group_table(model, columns),
        *_why((solver.title, solver.why) for solver in model.solvers),
        "Modes are the most that a group of this kind can have; ? where the number is unknown.",
    ]
    if every:
        parts += ["", Heading("Other solvers that a group can have")]
        parts += [f"  SG-{row['number']}: {', '.join(row['others'])}" for row in records[:SHOWN]]
        parts += ["", "mbssa solve MODEL --solver GROUP=NAME solves a group by another."]
    return Report(parts, lambda: records)


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


def _cell(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join([*names[:_LISTED], *([f"{more} more"] if more > 0 else [])]) or "–"


# --- assembly modes ----------------------------------------------------------------------------------


def modes_report(model: Model, listed: Sequence[GroupModes], *, each: bool) -> Report:
    """The number of modes of each group; with ``each`` the modes too."""
    units, length = model.mechanism.units, given_in("m", model.mechanism.units)[1]
    records: dict[int, dict[str, Any]] = {
        found.group - 1: {
            "units": units_record(units),
            "number": found.group,
            "bodies": model.structure.groups[found.group - 1].bodies,
            "type": found.type_name,
            **plain(found, "solver reference complete missing search most"),
            "truss": None if found.truss is None else str(found.truss),
            "modes": [
                {
                    **plain(mode, "number signs"),
                    "coordinates": {
                        name: value / given_in(coordinate_unit(name), units)[1]
                        for name, value in mode.coordinates.items()
                    },
                    "bodies": mode.bodies + 1,
                    "position": mode.position / length,
                    "rotation": mode.rotation,
                    "residual": mode.residual / length,
                    "proven": mode.proven,
                    "beyond_limits": _beyond(model, mode),
                }
                for mode in found
            ],
        }
        for found in listed
    }

    def complete(g: int) -> str:
        missing, truss = records[g]["missing"], records[g]["truss"]
        text = f"about {missing:.0f} missing" if missing >= 0.5 else "not proven"
        return ("proven" if records[g]["complete"] else text) + ("" if truss is None else f"\n{truss}")

    columns: Columns = {
        "Modes": (lambda g: len(records[g]["modes"]), "d"),
        "Reference": (lambda g: records[g]["reference"], "d"),
        "At most": (lambda g: str("?" if records[g]["most"] is None else records[g]["most"]), ">"),
        "All found": (complete, ""),
    }  # fmt: skip
    parts: list[Part] = [*model_lines(model.structure), group_table(model, columns, list(records))]
    for one in list(records.values())[:SHOWN]:
        if one["search"] != CLOSED_FORM.text:
            parts.append(f"SG-{one['number']}: {one['search']}.")
            parts += ["  mbssa modes MODEL --starts N searches longer."] * (not one["complete"])
        if left := [str(mode["number"]) for mode in one["modes"] if not mode["proven"]]:
            numbers = ", ".join(left[:SHOWN])
            parts.append(f"SG-{one['number']}: not certified as a regular solution: mode {numbers}.")
    if each:
        for found in listed:
            parts += _coordinates(model, found, records[found.group - 1])
    else:
        parts += [
            "mbssa modes MODEL --group N lists the modes of one group;",
            "mbssa solve MODEL --mode N=NUMBER moves it in another than the reference's.",
        ]
    outside = [
        f"SG-{one['number']} mode {mode['number']}: {', '.join(mode['beyond_limits'])}"
        for one in records.values()
        for mode in one["modes"]
        if mode["beyond_limits"]
    ]
    beyond = (f"  {line}" for line in first_lines(outside, SHOWN))
    parts += ["outside the model's limits:", *beyond] if outside else []
    return Report(parts, lambda: list(records.values()))


def _coordinates(model: Model, found: GroupModes, record: dict[str, Any]) -> list[Part]:
    """The modes of one group, by the coordinates in which they differ, the solver's unknowns first."""
    units, modes, known = model.mechanism.units, record["modes"], found[1].coordinates
    unknowns = [name for name in model.solvers[found.group - 1].unknowns if name in known]
    names = [
        name
        for name in dict.fromkeys([*unknowns, *known])
        if len({f"{mode.coordinates[name]:.4f}" for mode in found}) > 1
    ]
    shown = names[: _MOST_COLUMNS if len(modes) <= _FEW_MODES else _COLUMNS]

    def mark(mode: dict[str, Any]) -> str:
        return ("*" if mode["number"] == found.reference else "") + ("!" if mode["beyond_limits"] else "")

    def residual(mode: dict[str, Any]) -> str:
        return f"{mode['residual']:.0e}" if mode["residual"] else "0"

    parts: list[Part] = []
    for k in range(0, max(len(shown), 1), _COLUMNS):
        columns: dict[str, Any] = {"Mode": ("number", "d"), "": (mark, "")}
        for name in shown[k : k + _COLUMNS]:  # joint, coordinate and unit, below each other
            title = "\n".join([*name.rsplit(".", 1), given_in(coordinate_unit(name), units)[0]])
            columns[title] = (lambda mode, name=name: round(mode["coordinates"][name], 4) + 0.0, ".4f")
        columns[f"Residual\n{units[0]}"] = residual, ">"
        rest = "… and {} more modes; --format json lists them"
        parts.append(Table.of(modes, columns, tight=True, shown=_SHOWN_MODES, rest=rest))
    parts.append("* where the reference stands")
    if len(names) > len(shown):
        parts.append(f"… and {len(names) - len(shown)} more coordinates differ; --format json lists them")
    return parts


def _beyond(model: Model, mode: AssemblyMode) -> list[str]:
    """Coordinates of a mode that are outside the limits of the model; angles of any turn count as inside."""
    found = []
    for name, (low, high) in model.mechanism.coordinate_limits.items():
        value = mode.coordinates.get(name)
        if value is not None and not is_length(name):
            least = low if np.isfinite(low) else high - 2 * np.pi
            value += 2 * np.pi * np.ceil((least - value - _LIMIT) / (2 * np.pi))
        if value is not None and not low - _LIMIT <= value <= high + _LIMIT:
            found.append(name)
    return found
