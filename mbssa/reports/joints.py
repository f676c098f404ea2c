"""Joint types: equations, coordinates that can be driven, geometry, solvers, models that have them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, get_args

from mbssa.group_library import CLOSED_FORMS, COSTS
from mbssa.io import builtin_names, load
from mbssa.io.schema import JointEntry
from mbssa.joints.catalogue import CATALOGUE, JointType, Space, coordinate_unit, joint_type
from mbssa.reports.table import Columns, Heading, Part, Report, Table, Verbatim, plain

#: Explanation of the abbreviations in the table.
LEGEND = (
    "closed (8), Newton: without iteration in 8 types of groups, by Newton in all others. +8: 8 more models."
)

#: Models that a line of the table names before it only counts the rest.
SHOWN_MODELS = 1


@dataclass(frozen=True, slots=True)
class Coverage:
    """Row of the catalogue and what there is for it."""

    type: JointType
    equations: int | None  # number of a joint's, without drives; None if none can be evaluated
    names: tuple[str, ...]  # of those on the relative pose of two bodies; a relation of several has none
    driven: tuple[str, ...]  # free coordinates that can be driven
    closed: tuple[str, ...]  # types of groups with such a joint that are solved without iteration
    newton: tuple[str, ...]  # those known to be solved by iteration
    models: tuple[str, ...]  # built-in ones with such a joint, those with the fewest bodies first

    @property
    def solver(self) -> str:
        """Solvers: closed forms in so many types of groups, and Newton in all others."""
        if self.equations is None:
            return "none"
        return f"closed ({len(self.closed)}), Newton" if self.closed else "Newton"

    def unit(self, coordinate: str) -> str | None:
        """Unit of a coordinate that can be measured."""
        return coordinate_unit(coordinate) if coordinate in self.driven else None


def coverage(space: Space | None = None) -> tuple[Coverage, ...]:
    """Coverage of each row of the catalogue, or of those of one space."""
    return tuple(coverage_of(row) for row in CATALOGUE if space in (None, row.space))


def coverage_of(row: JointType) -> Coverage:
    """Coverage of one row of the catalogue."""
    # 2R1P2D has an R and a P, in the plane.
    ending = "2D" if row.space == "planar" else "3D"
    groups = sorted(
        name
        for name in {*CLOSED_FORMS, *COSTS}
        if name.endswith(ending) and row.code in re.findall(r"\d+([A-Z]+)", name[:-2])
    )
    return Coverage(
        row,
        row.equations if row.has_equations else None,
        tuple(name for name, _ in row.pair.constraints) if row.pair else (),
        row.drivable if row.has_equations else (),
        tuple(name for name in groups if name in CLOSED_FORMS),
        tuple(name for name in groups if name not in CLOSED_FORMS),
        _models().get(row.index, ()),
    )


@cache
def _models() -> dict[int, tuple[str, ...]]:
    """Built-in models by the catalogue rows of their joints, small ones first."""
    found: dict[int, list[tuple[int, str]]] = {}
    for name in builtin_names():
        mechanism = load(name)
        for index in sorted(set(mechanism.joint_type.tolist())):
            found.setdefault(index, []).append((mechanism.n_bodies, name))
    return {index: tuple(name for _, name in sorted(models)) for index, models in found.items()}


def rows_of(code: str, space: Space | None = None) -> tuple[JointType, ...]:
    """Rows of the catalogue by their code, one a space; a KeyError lists the codes."""
    found = [row for row in CATALOGUE if row.code == code.upper() and space in (None, row.space)]
    if found:
        return tuple(found)
    messages = []
    for searched in (space,) if space is not None else ("planar", "spatial"):
        try:
            joint_type(code.upper(), searched)
        except KeyError as error:
            messages.append(str(error.args[0]))
    raise KeyError(next((text for text in messages if "did you mean" in text), messages[0]))


def _driven(row: Coverage) -> str:
    return "all" if row.driven == row.type.coordinates else ", ".join(row.driven) or "none"


def _geometry(row: Coverage) -> str:
    return " ".join((*row.type.required, *(f"[{field}]" for field in row.type.optional)))


def _examples(row: Coverage) -> str:
    more = len(row.models) - SHOWN_MODELS
    return ", ".join(row.models[:SHOWN_MODELS]) + (f" +{more}" if more > 0 else "") or "–"


#: Columns of the table; the screen has the notes below it.
_COLUMNS: Columns = {
    "Type": (lambda row: row.type.code, ""), "Space": (lambda row: row.type.space, ""),
    "Name": (lambda row: row.type.name, ""), "Grade": (lambda row: row.type.grade, "d"),
    "Equations": (lambda row: "none" if row.equations is None else str(row.equations), ">"),
    "Coordinates": (lambda row: ", ".join(row.type.coordinates), ""),
    "Driven": (_driven, ""), "Geometry": (_geometry, ""), "Solver": ("solver", ""),
    "Examples": (_examples, ""), "Note": (lambda row: row.type.note, ""),
}  # fmt: skip


def joints_report(rows: Sequence[Coverage]) -> Report:
    """The table of types, and the notes below it; Markdown is the table of the documentation."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.type.note:
            notes.setdefault(row.type.note, []).append(row.type.code)
    sheet = Table.of(rows, _COLUMNS)
    columns = {title: column for title, column in _COLUMNS.items() if title != "Note"}
    table = Table.of(rows, columns, whole=("Name",))
    parts: tuple[Part, ...] = (
        table,
        *(f"  {', '.join(dict.fromkeys(codes))}: {note}" for note, codes in notes.items()),
        "",
        LEGEND,
        "mbssa joints TYPE describes one type, with an example.",
    )
    return Report(parts, lambda: [record(row) for row in rows], sheet, (sheet,))


def joint_report(rows: Sequence[Coverage]) -> Report:
    """One type in full, a page for each space; all but the text as :func:`joints_report`."""
    parts = [part for row in rows for part in ("", *_page(row))]
    return replace(joints_report(rows), parts=parts[1:])


def record(row: Coverage) -> dict[str, Any]:
    """Facts of a type as lists, texts and numbers."""
    kind = row.type
    return {
        **plain(kind, "code space name table3 grade"),
        "equations": row.equations,
        "equation_names": list(row.names),
        "coordinates": [
            {"name": name, "unit": row.unit(name), "driven": name in row.driven} for name in kind.coordinates
        ],
        **plain(kind, "required optional"),
        **plain(row, "solver closed newton models"),
        **plain(kind, "note signs"),
        "example": kind.example_file,
    }


def _page(row: Coverage) -> list[Part]:
    kind = row.type
    origin = "Table 3 of the paper" if kind.table3 else "an addition to Table 3 of the paper"
    equations = "no equations: it can be decomposed and counted, not solved"
    if row.equations is not None:
        named = f": {', '.join(row.names)}" if row.names else ", a relation of its bodies"
        count = f"{row.equations} equation{'s' * (row.equations > 1)}{named}"
        equations = count if row.equations else "no equation: it binds nothing"
    zeros = "Zero at the reference"
    if kind.relations is None:
        zeros += " unless at_reference or frames set another" + ", but for the distance" * (
            "distance" in row.driven
        )
    coordinates = [
        (name, row.unit(name) or "–", "yes" if name in row.driven else "no") for name in kind.coordinates
    ]
    parts: list[Part] = [
        Heading(f"{kind.code}: {kind.name}, {kind.space}"),
        f"grade {kind.grade}, {origin}",
        equations,
        *([kind.note] if kind.note else []),
        *(["may join more than two bodies"] if kind.may_be_multiple else []),
        Table(("Coordinate", "Unit", "Can be driven"), coordinates),
        kind.signs,
        f"{zeros}.\n" if row.driven else "",
        Table(("Geometry", "", "Meaning"), _geometry_rows(row)),
        f"Solver: {row.solver}",
    ]
    for method, types in (("closed form", row.closed), ("Newton", row.newton)):
        if types:
            parts.append(f"  {method}: {', '.join(types)}")
    models = ", ".join(row.models) or "none"
    return [*parts, f"Built-in models: {models}", "\nExample, a whole file:\n", Verbatim(kind.example_file)]


def _geometry_rows(row: Coverage) -> list[tuple[str, str, str]]:
    """The fields of a ``[[joint]]`` that the type reads, and the keys of a profile."""
    kind = row.type
    fields = [(name, "required") for name in kind.required] + [(name, "optional") for name in kind.optional]
    if kind.takes_frames:
        fields.append(("frames", "instead"))
    if row.driven:
        fields.append(("limits", "optional"))
        if kind.relations is None:
            fields.append(("at_reference", "optional"))
    rows = []
    for name, need in fields:
        rows.append((name, need, JointEntry.model_fields[name].description or ""))
        if name == "profile":
            rows += [(f"  .{key}", "", meaning) for key, meaning in _profile_keys()]
    return rows


def _profile_keys() -> list[tuple[str, str]]:
    """Keys of a cam's profile that have a meaning in words: their own, or those of their table."""
    from pydantic import BaseModel

    from mbssa.io.profile import ProfileEntry

    found = []
    for key, field in ProfileEntry.model_fields.items():
        words = field.description
        for part in get_args(field.annotation):
            if words is None and isinstance(part, type) and issubclass(part, BaseModel):
                words = (part.__doc__ or "").partition("\n")[0]
        if words:
            found.append((key, words))
    return found
