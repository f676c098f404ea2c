"""Assembly modes of a model's groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.assembly_modes.search import CLOSED_FORM
from groups.reports.about import group_table, model_lines
from mbssa.joints.catalogue import coordinate_unit, is_length
from mbssa.reports.table import SHOWN, Columns, Part, Report, Table, first_lines, plain
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
    columns: Columns = {
        "Modes": (lambda g: len(by_group[g]), "d"), "Reference": (lambda g: by_group[g].reference, "d"),
        "At most": (lambda g: str("?" if by_group[g].most is None else by_group[g].most), ">"),
        "All found": (lambda g: _completeness(by_group[g]), ""),
    }  # fmt: skip
    table = group_table(model, columns, list(by_group))
    parts: list[Part] = [*model_lines(model.structure), table, *_searches(listed)]
    if each:
        for found in listed:
            parts += _coordinates(model, found)
    else:
        parts += [
            "mbssa modes MODEL --group N lists the modes of one group;",
            "mbssa solve MODEL --mode N=NUMBER moves it in another than the reference's.",
        ]
    outside = [
        f"SG-{found.group} mode {mode.number}: {', '.join(names)}"
        for found in listed
        for mode in found
        if (names := _beyond(model, mode))
    ]
    beyond = (f"  {line}" for line in first_lines(outside, SHOWN))
    parts += ["outside the model's limits:", *beyond] if outside else []
    return Report(parts, lambda: [_record(model, found) for found in listed])


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


def _coordinates(model: Model, found: GroupModes) -> list[Part]:
    """The modes of one group, by the coordinates in which they differ, the solver's unknowns first."""
    units, modes = model.mechanism.units, list(found)
    known, unknowns = found[1].coordinates, model.solvers[found.group - 1].unknowns
    names = [
        name
        for name in dict.fromkeys([*(name for name in unknowns if name in known), *known])
        if len({f"{mode.coordinates[name]:.4f}" for mode in modes}) > 1
    ]
    shown = names[: _MOST_COLUMNS if len(modes) <= _FEW_MODES else _COLUMNS]
    # Joint, coordinate and unit, below each other.
    titles = {
        name: "\n".join([*name.rsplit(".", 1), given_in(coordinate_unit(name), units)[0]]) for name in names
    }
    rows = [
        {
            "number": mode.number,
            "mark": ("*" if mode.number == found.reference else "") + ("!" if _beyond(model, mode) else ""),
            **{name: round(value, 4) + 0.0 for name, value in _in_units(mode, units).items()},
            "residual": f"{mode.residual / given_in('m', units)[1]:.0e}" if mode.residual else "0",
        }
        for mode in modes
    ]
    head, last = {"Mode": ("number", "d"), "": ("mark", "")}, {f"Residual\n{units[0]}": ("residual", ">")}
    parts: list[Part] = []
    for k in range(0, max(len(shown), 1), _COLUMNS):
        some = {titles[name]: (name, ".4f") for name in shown[k : k + _COLUMNS]}
        rest = "… and {} more modes; --format json lists them"
        parts.append(Table.of(rows, {**head, **some, **last}, tight=True, shown=_SHOWN_MODES, rest=rest))
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


def _in_units(mode: AssemblyMode, units: tuple[str, str]) -> dict[str, float]:
    return {
        name: value / given_in(coordinate_unit(name), units)[1] for name, value in mode.coordinates.items()
    }


def _record(model: Model, found: GroupModes) -> dict[str, Any]:
    """The modes of a group as texts and numbers; poses are of the bodies' own origins."""
    units = model.mechanism.units
    length = given_in("m", units)[1]
    return {
        "units": units_record(units),
        "number": found.group,
        "bodies": model.structure.groups[found.group - 1].bodies,
        "type": found.type_name,
        **plain(found, "solver reference complete missing search most"),
        "truss": None if found.truss is None else str(found.truss),
        "modes": [
            {
                **plain(mode, "number signs"),
                "coordinates": _in_units(mode, units),
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
