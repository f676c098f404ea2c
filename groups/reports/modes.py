"""Assembly modes of a model's groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.assembly_modes.search import CLOSED_FORM
from groups.reports.about import group_table, model_lines
from mbssa.joints.catalogue import coordinate_unit, is_length
from mbssa.reports.table import SHOWN, Part, Report, Table
from mbssa.units import given_in, units_record

if TYPE_CHECKING:
    from groups.assembly_modes import AssemblyMode, GroupModes
    from groups.model import Model

#: Coordinates of a mode that one table has, and all tables of a group.
_COLUMNS, _MOST_COLUMNS = 6, 24
#: Modes of a group that have a row.
_SHOWN_MODES = 200
#: m or rad by which a coordinate may pass a limit.
_LIMIT = 1e-9
#: Modes of a group up to which all their coordinates are shown.
_FEW_MODES = 20


def modes_report(model: Model, listed: Sequence[GroupModes], *, each: bool) -> Report:
    """The number of modes of each group; with ``each`` the modes too."""
    by_group = {found.group - 1: found for found in listed}
    columns = {
        "Modes": lambda g, _: str(len(by_group[g])),
        "Reference": lambda g, _: str(by_group[g].reference),
        "At most": lambda g, _: "?" if by_group[g].most is None else str(by_group[g].most),
        "All found": lambda g, _: _completeness(by_group[g]),
    }
    table = group_table(model, columns, left=("All found",), numbers=list(by_group))
    parts: list[Part] = [*model_lines(model.structure), table, *_searches(listed)]
    if each:
        for found in listed:
            parts += _modes_parts(model, found)
    else:
        parts += [
            "mbssa modes MODEL --group N lists the modes of one group;",
            "mbssa solve MODEL --mode N=NUMBER moves it in another than the reference's.",
        ]
    parts += _outside(model, listed)
    return Report(parts, lambda: _record(model, listed))


def _outside(model: Model, listed: Sequence[GroupModes]) -> list[Part]:
    """The modes in which coordinates are outside limits."""
    lines: list[Part] = [
        f"  SG-{found.group} mode {mode.number}: {', '.join(names)}"
        for found in listed
        for mode in found
        if (names := _beyond(model, mode))
    ]
    more = [f"  … and {len(lines) - SHOWN} more; --format json lists all"] if len(lines) > SHOWN else []
    return ["outside the model's limits:", *lines[:SHOWN], *more] if lines else []


def _completeness(found: GroupModes) -> str:
    text = f"about {found.missing:.0f} missing" if found.missing >= 0.5 else "not proven"
    return ("proven" if found.complete else text) + ("" if found.truss is None else f"\n{found.truss}")


def _searches(listed: Sequence[GroupModes]) -> list[str]:
    """Searches for modes of groups without a closed form."""
    lines = []
    for found in listed[:SHOWN]:
        if found.search != CLOSED_FORM.text:
            lines.append(f"SG-{found.group}: {found.search}.")
            if not found.complete:
                lines.append("  mbssa modes MODEL --starts N searches longer.")
        if left := [str(mode.number) for mode in found if not mode.proven]:
            lines.append(
                f"SG-{found.group}: not certified as a regular solution: mode {', '.join(left[:SHOWN])}."
            )
    return lines


def _modes_parts(model: Model, found: GroupModes) -> list[Part]:
    """The modes of one group, by the coordinates in which they differ, the solver's unknowns first."""
    rows = list(found)
    unknowns = [name for name in model.solvers[found.group - 1].unknowns if name in found[1].coordinates]
    names = [
        name
        for name in (*unknowns, *(name for name in found[1].coordinates if name not in unknowns))
        if len({f"{mode.coordinates[name]:.4f}" for mode in rows}) > 1
    ]
    most = _MOST_COLUMNS if len(rows) <= _FEW_MODES else _COLUMNS
    shown = names[:most]
    parts: list[Part] = [
        _coordinates(model, rows[:_SHOWN_MODES], shown[k : k + _COLUMNS], found.reference)
        for k in range(0, max(len(shown), 1), _COLUMNS)
    ]
    parts.append("* where the reference stands")
    if len(names) > len(shown):
        parts.append(f"… and {len(names) - len(shown)} more coordinates differ; --format json lists them")
    if len(rows) > _SHOWN_MODES:
        parts.append(f"… and {len(rows) - _SHOWN_MODES} more modes; --format json lists them")
    return parts


def _beyond(model: Model, mode: AssemblyMode) -> list[str]:
    """Coordinates of a mode that are outside the limits of the model; angles of any turn count as inside."""
    found = []
    for name, (low, high) in model.mechanism.coordinate_limits.items():
        value = mode.coordinates.get(name)
        if value is None:
            continue
        if not is_length(name):
            value += 2 * np.pi * np.ceil((low - value - _LIMIT) / (2 * np.pi)) if np.isfinite(low) else 0.0
            if not np.isfinite(low):
                value -= 2 * np.pi * np.ceil((value - high - _LIMIT) / (2 * np.pi))
        if not low - _LIMIT <= value <= high + _LIMIT:
            found.append(name)
    return found


def _coordinates(model: Model, rows: Sequence[AssemblyMode], names: Sequence[str], reference: int) -> Table:
    def cells(mode: AssemblyMode) -> tuple[str, ...]:
        return (
            str(mode.number),
            ("*" if mode.number == reference else "") + ("!" if _beyond(model, mode) else ""),
            *(
                f"{round(mode.coordinates[name] / scale, 4) + 0.0:.4f}"
                for name, scale in zip(names, scales, strict=True)
            ),
            f"{mode.residual / length:.0e}" if mode.residual else "0",
        )

    units = model.mechanism.units
    unit, length = given_in("m", units)
    scales = [given_in(coordinate_unit(name), units)[1] for name in names]
    right = ("Mode", *(_title(name, units) for name in names), f"Residual\n{unit}")
    return Table(("Mode", "", *right[1:]), rows, cells, right, tight=True)


def _title(name: str, units: tuple[str, str]) -> str:
    """Joint, coordinate and unit, below each other."""
    joint, _, coordinate = name.rpartition(".")
    return f"{joint}\n{coordinate}\n{given_in(coordinate_unit(coordinate), units)[0]}"


def _record(model: Model, listed: Sequence[GroupModes]) -> list[dict[str, Any]]:
    """The modes of groups as texts and numbers; poses are of the bodies' own origins."""
    units = model.mechanism.units
    length = given_in("m", units)[1]
    return [
        {
            "units": units_record(units),
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
                    "coordinates": {
                        name: value / given_in(coordinate_unit(name), units)[1]
                        for name, value in mode.coordinates.items()
                    },
                    "bodies": (mode.bodies + 1).tolist(),
                    "position": (mode.position / length).tolist(),
                    "rotation": mode.rotation.tolist(),
                    "residual": mode.residual / length,
                    "proven": mode.proven,
                    "beyond_limits": _beyond(model, mode),
                }
                for mode in found
            ],
        }
        for found in listed
    ]
