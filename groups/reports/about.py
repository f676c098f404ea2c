"""A model and its groups: lines that reports have in common, solvers, assembly modes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.assembly_modes.search import CLOSED_FORM
from mbssa.arrays import Floats
from mbssa.joints.catalogue import coordinate_unit, is_length
from mbssa.reports.structure import treatment_lines
from mbssa.reports.table import SHOWN, Bad, Columns, Heading, Part, Report, Table, first_lines, plain
from mbssa.reports.wording import head
from mbssa.units import given_in, units_record

if TYPE_CHECKING:
    from groups.assembly_modes import AssemblyMode, GroupModes
    from groups.model import Model
    from groups.solvers.library import LibraryRow
    from mbssa import Structure

#: Faults that a page lists before it only counts the rest.
_FAULTS = 20
#: Letters of a line of bodies in a narrow table; unknowns and joints that a cell lists.
_WRAPPED, _LISTED = 12, 8
#: Coordinates of a mode that one table has, and all tables of a group.
_COLUMNS, _MOST_COLUMNS = 6, 24
#: Modes of a group that have a row, and up to which all their coordinates are shown.
_SHOWN_MODES, _FEW_MODES = 200, 20
#: m or rad by which a coordinate may pass a limit.
_LIMIT = 1e-9


def model_lines(structure: Structure) -> list[str]:
    """Lines on the mechanism and its size."""
    return [*head(structure.mechanism), *treatment_lines(structure)]


def span_text(time: Floats) -> str:
    """Number and range of the instants (T,) of a motion, s."""
    if len(time) == 1:
        return f"1 instant, t = {time[0]:.6g} s"
    return f"{len(time):,} instants, t = {time[0]:.6g} … {time[-1]:.6g} s"


def fault_lines(faults: Sequence[str]) -> list[Part]:
    """Heading and a line for each of the first faults; none where there are none."""
    lines = [Bad(f"  - {fault}") for fault in first_lines(faults, _FAULTS)]
    return ["", Heading("Faults"), *lines] if faults else []


def quantity(name: str, si: str, units: tuple[str, str], **numbers: float) -> dict[str, Any]:
    """Record of a quantity in other units of length and angle: its name, unit and numbers that are in SI."""
    unit, scale = given_in(si, units)
    return {"name": name, "unit": unit, **{key: number / scale for key, number in numbers.items()}}


def group_records(model: Model) -> list[dict[str, Any]]:
    """Number, bodies and type of each group, and the form and name of its solver."""
    return [
        {"number": group.number, "bodies": group.bodies, "type": group.type_name}
        | {"form": solver.form, "solver": solver.name}
        for group, solver in zip(model.structure.groups, model.solvers, strict=True)
    ]


def group_table(model: Model, records: Sequence[dict[str, Any]], columns: Columns) -> Table:
    """A row for each group by its record: number, bodies, type, solver, and further columns."""
    head: Columns = {
        "SG": ("number", "d"), "Bodies": (lambda one: ", ".join(map(str, one["bodies"])), ""),
        "SG type": ("type", ""), "Solver": (lambda one: model.solvers[one["number"] - 1].title, ""),
    }  # fmt: skip
    rest = "… and {} more groups; --format json lists them all"
    table = Table.of(records, {**head, **columns}, shown=SHOWN, rest=rest)

    def narrow(one: dict[str, Any]) -> tuple[str, ...]:
        number, bodies, name, *cells = table.cells(one)
        below = "\n".join([name, *wrap(bodies, max(len(name), _WRAPPED))])
        return number, below, *(cell.replace(": ", ":\n").replace(", ", ",\n") for cell in cells)

    titles = tuple(title for title in table.columns if title != "Bodies")
    return replace(table, narrow=replace(table, columns=titles, row=narrow, tight=True))


# --- solvers -----------------------------------------------------------------------------------------


def solvers_report(model: Model, *, every: bool = False) -> Report:
    """Report on each group's solver and why it was chosen; ``every`` lists its other solvers too."""
    from groups.model import solvers_of

    records = group_records(model)
    for one, group, solver in zip(records, model.structure.groups, model.solvers, strict=True):
        one |= {"unknowns": solver.unknowns, "closed_by": solver.closing}
        one |= {"modes": solver.most_modes(group), "why": solver.why}
        if every:
            one["others"] = [name for name in solvers_of(model, group.number) if name != solver.choice]

    def cell(names: Sequence[str]) -> str:
        more = len(names) - _LISTED
        return ", ".join([*names[:_LISTED], *([f"{more} more"] if more > 0 else [])]) or "–"

    columns: Columns = {
        "Unknowns": (lambda one: cell(one["unknowns"]), ""),
        "Closed by": (lambda one: cell(one["closed_by"]), ""),
        "Modes": (lambda one: str(one["modes"] or "?"), ">"),
    }
    parts: list[Part] = [
        *model_lines(model.structure),
        group_table(model, records, columns),
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
    table, why = Table.of(records, columns, none="?"), _why((row.solver, row.why) for row in rows)
    note = "A star marks driven coordinates. A leg alone has modes for its turns; ? is not known."
    return Report((table, *why, note), lambda: records)


def _why(reasons: Iterable[tuple[str, str]]) -> list[str]:
    return [Heading("Why"), *(f"  - {solver}: {why}" for solver, why in dict.fromkeys(reasons)), ""]


# --- assembly modes ----------------------------------------------------------------------------------


def modes_report(model: Model, listed: Sequence[GroupModes], *, each: bool) -> Report:
    """The number of modes of each group; with ``each`` the modes too."""
    units, length = model.mechanism.units, given_in("m", model.mechanism.units)[1]

    def of_mode(mode: AssemblyMode) -> dict[str, Any]:
        coordinates = {n: v / given_in(coordinate_unit(n), units)[1] for n, v in mode.coordinates.items()}
        return (
            plain(mode, "number signs")
            | {"coordinates": coordinates, "bodies": mode.bodies + 1, "position": mode.position / length}
            | {"rotation": mode.rotation, "residual": mode.residual / length, "proven": mode.proven}
            | {"beyond_limits": _beyond(model, mode)}
        )

    records: list[dict[str, Any]] = [
        {
            "units": units_record(units),
            "number": found.group,
            "bodies": model.structure.groups[found.group - 1].bodies,
            "type": found.type_name,
            **plain(found, "solver reference complete missing search most"),
            "truss": None if found.truss is None else str(found.truss),
            "modes": [of_mode(mode) for mode in found],
        }
        for found in listed
    ]

    def complete(one: dict[str, Any]) -> str:
        missing, truss = one["missing"], one["truss"]
        text = f"about {missing:.0f} missing" if missing >= 0.5 else "not proven"
        return ("proven" if one["complete"] else text) + ("" if truss is None else f"\n{truss}")

    columns: Columns = {
        "Modes": (lambda one: len(one["modes"]), "d"), "Reference": ("reference", "d"),
        "At most": (lambda one: str("?" if one["most"] is None else one["most"]), ">"),
        "All found": (complete, ""),
    }  # fmt: skip
    parts: list[Part] = [*model_lines(model.structure), group_table(model, records, columns)]
    for one in records[:SHOWN]:
        if one["search"] != CLOSED_FORM:
            parts.append(f"SG-{one['number']}: {one['search']}.")
            parts += ["  mbssa modes MODEL --starts N searches longer."] * (not one["complete"])
        if left := [str(mode["number"]) for mode in one["modes"] if not mode["proven"]]:
            numbers = ", ".join(left[:SHOWN])
            parts.append(f"SG-{one['number']}: not certified as a regular solution: mode {numbers}.")
    if each:
        for found, one in zip(listed, records, strict=True):
            parts += _coordinates(model, found, one)
    else:
        parts += [
            "mbssa modes MODEL --group N lists the modes of one group;",
            "mbssa solve MODEL --mode N=NUMBER moves it in another than the reference's.",
        ]
    outside = [
        f"SG-{one['number']} mode {mode['number']}: {', '.join(mode['beyond_limits'])}"
        for one in records
        for mode in one["modes"]
        if mode["beyond_limits"]
    ]
    beyond = (f"  {line}" for line in first_lines(outside, SHOWN))
    parts += ["outside the model's limits:", *beyond] if outside else []
    return Report(parts, lambda: records)


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

    marks = {of["number"]: "!" * bool(of["beyond_limits"]) for of in modes}
    marks[found.reference] = "*" + marks.get(found.reference, "")
    parts: list[Part] = []
    for k in range(0, max(len(shown), 1), _COLUMNS):
        columns: dict[str, Any] = {"Mode": ("number", "d"), "": (lambda of: marks[of["number"]], "")}
        for name in shown[k : k + _COLUMNS]:  # joint, coordinate and unit, below each other
            title = "\n".join([*name.rsplit(".", 1), given_in(coordinate_unit(name), units)[0]])
            columns[title] = (lambda mode, name=name: round(mode["coordinates"][name], 4) + 0.0, ".4f")
        title = f"Residual\n{units[0]}"
        columns[title] = (lambda mode: f"{mode['residual']:.0e}" if mode["residual"] else "0", ">")
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
