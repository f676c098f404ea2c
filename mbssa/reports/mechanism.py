"""A mechanism: its size, and its joints; and the built-in ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbssa.io import FAMILY, builtin_names, load
from mbssa.reports.table import SHOWN, Columns, Report, Table, plain
from mbssa.reports.wording import head

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism


def mechanism_report(mechanism: Mechanism) -> Report:
    """Summary and table of joints."""
    columns: Columns = {
        "Joint": ("id", ""),
        "Bodies": (lambda joint: [mechanism.body_name(body - 1) for body in joint.bodies], ""),
        "Type": (lambda joint: joint.type.code, ""),
        "Coordinates": (lambda joint: joint.type.coordinates, ""), "Driven": ("driven", ""),
    }  # fmt: skip
    table = Table.of(mechanism.joints, columns, shown=SHOWN)
    return Report((*head(mechanism), table))


def models_report() -> Report:
    """The built-in models with their sizes and titles."""
    records = [_record(name) for name in builtin_names()]
    keys = ("name", "space", "n_bodies", "n_joints", "mobility", "n_driven", "title")
    rows = [tuple(str(record[key]) for key in keys) for record in records]
    rows.append((f"{FAMILY}CLASS-COUNT[B]", "planar", "", "", "1", "1", "Table 16: assur:I-2 … assur:III-4B"))
    numbers = ("Bodies", "Joints", "Mobility", "Driven")
    few = Table(("Model", "Mobility", "Title"), rows, lambda row: (row[0], row[4], row[6]), ("Mobility",))
    table = Table(("Model", "Space", *numbers, "Title"), rows, right=numbers, narrow=few)
    return Report((table,), lambda: records, table)


def _record(name: str) -> dict[str, Any]:
    mechanism = load(name)
    return {
        "name": name,
        **plain(mechanism, "space n_bodies n_joints mobility n_driven"),
        "geometry": mechanism.has_geometry,
        **plain(mechanism, "title source"),
    }
