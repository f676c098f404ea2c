"""What is known of every joint type: equations, what can be driven, who solves it, models that show it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from mbssa.gathering import builtin_names, load
from mbssa.gathering.schema import JointEntry
from mbssa.joints.catalogue import CATALOGUE, JointType, Space, coordinate_unit, joint_type
from mbssa.results.exports import csv_text, markdown_table
from mbssa.results.library import costs, libraries
from mbssa.results.tables import plain_table

if TYPE_CHECKING:
    from rich.console import Console

Format = Literal["table", "json", "csv", "markdown"]

#: Columns of the table; the screen has the notes below it.
COLUMNS = (
    "Type", "Space", "Name", "Grade", "Equations", "Coordinates", "Driven", "Geometry", "Solver", "Examples",
    "Note",
)  # fmt: skip

#: What is short in the table.
LEGEND = (
    "closed (8), Newton: without iteration in 8 types of groups, by Newton in all others. +8: 8 more models."
)

#: Models that a line of the table names before it only counts the rest.
SHOWN_MODELS = 1


@dataclass(frozen=True, slots=True)
class Coverage:
    """One row of the catalogue and what there is for it.

    Attributes
    ----------
    type : the row
    equations : how many a joint has, without drives; None if none can be evaluated
    names : of those on the relative pose of two bodies; a relation of several has none
    driven : free coordinates that can be driven
    closed : types of groups with such a joint that are solved without iteration
    newton : those that are known to be solved by iteration
    solvable : whether a solver takes it at all
    models : built-in models with such a joint, those with the fewest bodies first

    Examples
    --------
    >>> slot = coverage_of(joint_type("SLOT", "planar"))
    >>> slot.equations, slot.names, slot.driven, "quick_return" in slot.models
    (1, ('position y',), ('slide', 'angle'), True)
    """

    type: JointType
    equations: int | None
    names: tuple[str, ...]
    driven: tuple[str, ...]
    closed: tuple[str, ...]
    newton: tuple[str, ...]
    solvable: bool
    models: tuple[str, ...]

    @property
    def solver(self) -> str:
        """Who solves it: closed forms in so many types of groups, and Newton in all others."""
        if not self.solvable:
            return "none"
        if not self.closed:
            return "Newton"
        return f"closed ({len(self.closed)}), Newton"


def coverage(space: Space | None = None) -> tuple[Coverage, ...]:
    """What there is for each row of the catalogue, or for those of one space.

    >>> [row.type.code for row in coverage("planar") if row.type.grade == 1]
    ['R', 'P']
    """
    return tuple(coverage_of(row) for row in CATALOGUE if space in (None, row.space))


def coverage_of(row: JointType) -> Coverage:
    """What there is for one row of the catalogue."""
    pose, known = row.pair, row.has_equations
    closed, newton = _group_types(row)
    return Coverage(
        row,
        row.equations if known else None,
        () if pose is None else tuple(name for name, _ in pose.constraints),
        row.drivable if known else (),
        closed,
        newton,
        known and any(announced()),
        _models().get(row.index, ()),
    )


def rows_of(code: str, space: Space | None = None) -> tuple[JointType, ...]:
    """Rows of the catalogue by their code, one a space.

    >>> [row.space for row in rows_of("DIST")]
    ['spatial', 'planar']

    Raises
    ------
    KeyError
        With a sentence that says what to write instead.
    """
    found = [row for row in CATALOGUE if row.code == code.upper() and space in (None, row.space)]
    if found:
        return tuple(found)
    said = []
    for asked in (space,) if space is not None else ("planar", "spatial"):
        try:
            joint_type(code.upper(), asked)
        except KeyError as error:
            said.append(str(error.args[0]))
    raise KeyError(next((text for text in said if "did you mean" in text), said[0]))


# --- where it comes from ---------------------------------------------------------------------------


@cache
def _models() -> dict[int, tuple[str, ...]]:
    """Built-in models by the catalogue rows of their joints, small ones first."""
    found: dict[int, list[tuple[int, str]]] = {}
    for name in builtin_names():
        mechanism = load(name)
        for index in sorted(set(mechanism.joint_type.tolist())):
            found.setdefault(index, []).append((mechanism.n_bodies, name))
    return {index: tuple(name for _, name in sorted(models)) for index, models in found.items()}


@cache
def announced() -> tuple[frozenset[str], frozenset[str]]:
    """Types of groups with a closed form in a library that is here, and all whose cost is known.

    The paper's own library is not here.
    """
    ours = [types for name, types in libraries().items() if name != "mbdsbeg"]
    return frozenset().union(*ours), frozenset(costs())


def _group_types(row: JointType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Types of groups with this joint: in closed form, and others whose cost is known."""
    closed, costed = announced()
    found = sorted(name for name in closed | costed if _has(name, row))
    return tuple(name for name in found if name in closed), tuple(n for n in found if n not in closed)


def _has(type_name: str, row: JointType) -> bool:
    """Whether ``2R1P2D`` has a P, in the plane."""
    pairs = re.findall(r"\d+([A-Z]+)", type_name[:-2])
    return type_name.endswith("2D" if row.space == "planar" else "3D") and row.code in pairs


# --- as text ---------------------------------------------------------------------------------------


def line(row: Coverage) -> tuple[str, ...]:
    """The cells of a row, in the order of :data:`COLUMNS`."""
    kind = row.type
    driven = "all" if row.driven == kind.coordinates else ", ".join(row.driven) or "none"
    more = len(row.models) - SHOWN_MODELS
    return (
        kind.code,
        kind.space,
        kind.name,
        str(kind.grade),
        "none" if row.equations is None else str(row.equations),
        ", ".join(kind.coordinates),
        driven,
        " ".join((*kind.required, *(f"[{field}]" for field in kind.optional))),
        row.solver,
        ", ".join(row.models[:SHOWN_MODELS]) + (f" +{more}" if more > 0 else "") or "–",
        kind.note,
    )


def as_markdown(rows: Sequence[Coverage]) -> str:
    """The table as it stands in the documentation."""
    return "\n".join(markdown_table(COLUMNS, (line(row) for row in rows))) + "\n"


def as_csv(rows: Sequence[Coverage]) -> str:
    """The table, one line a type."""
    return csv_text(COLUMNS, (line(row) for row in rows))


def as_json(rows: Sequence[Coverage]) -> str:
    """Everything that is known of the types, pages included."""
    return json.dumps([record(row) for row in rows], ensure_ascii=False, indent=2) + "\n"


def record(row: Coverage) -> dict[str, Any]:
    """What is known of a type, as lists, texts and numbers.

    >>> record(coverage_of(joint_type("H", "spatial")))["coordinates"]
    [{'name': 'angle', 'unit': 'rad', 'driven': True}]
    """
    kind = row.type
    return {
        "code": kind.code,
        "space": kind.space,
        "name": kind.name,
        "table3": kind.table3,
        "grade": kind.grade,
        "equations": row.equations,
        "equation_names": list(row.names),
        "coordinates": [
            {"name": name, "unit": _unit(name, row), "driven": name in row.driven}
            for name in kind.coordinates
        ],
        "required": list(kind.required),
        "optional": list(kind.optional),
        "solver": row.solver,
        "closed": list(row.closed),
        "newton": list(row.newton),
        "models": list(row.models),
        "note": kind.note,
        "signs": kind.signs,
        "example": kind.example_file,
    }


def print_table(rows: Sequence[Coverage], console: Console) -> None:
    """The table on a console, and the notes below it."""
    from rich.markup import escape

    table = plain_table(COLUMNS[:-1], right=("Grade", "Equations"))
    table.columns[COLUMNS.index("Name")].no_wrap = True
    notes: dict[str, list[str]] = {}
    for row in rows:
        *cells, note = line(row)
        table.add_row(*map(escape, cells))
        if note:
            notes.setdefault(note, []).append(row.type.code)
    console.print(table)
    for note, codes in notes.items():
        console.print(f"  {', '.join(dict.fromkeys(codes))}: {note}", markup=False)
    console.print(f"\n{LEGEND}\nmbssa joints TYPE says more of one type, with an example.", markup=False)


def print_page(row: Coverage, console: Console) -> None:
    """All of one type on a console."""
    from rich.markup import escape

    kind = row.type
    console.print(f"{kind.code}: {kind.name}, {kind.space}", style="bold", markup=False)
    origin = "Table 3 of the paper" if kind.table3 else "an addition to Table 3 of the paper"
    says = [f"grade {kind.grade}, {origin}"]
    if row.equations is None:
        says.append("no equations: it can be decomposed and counted, not solved")
    elif row.equations:
        named = f": {', '.join(row.names)}" if row.names else ", a relation of its bodies"
        says.append(f"{row.equations} equation{'s' * (row.equations > 1)}{named}")
    else:
        says.append("no equation: it binds nothing")
    if kind.note:
        says.append(kind.note)
    if kind.may_be_multiple:
        says.append("may join more than two bodies")
    for text in says:
        console.print(text, markup=False)
    coordinates = plain_table(("Coordinate", "Unit", "Can be driven"))
    for name in kind.coordinates:
        coordinates.add_row(name, _unit(name, row) or "–", "yes" if name in row.driven else "no")
    console.print(coordinates)
    console.print(kind.signs, markup=False)
    console.print(f"{_zeros(row)}\n" if row.driven else "", markup=False)
    console.print(_geometry(row))
    console.print(f"Solver: {row.solver}", markup=False)
    for said, types in (("closed form", row.closed), ("Newton", row.newton)):
        if types:
            console.print(f"  {said}: {', '.join(types)}", markup=False)
    console.print(f"Built-in models: {', '.join(row.models) or 'none'}", markup=False)
    console.print("\nExample, a whole file:\n", markup=False)
    console.print(escape(kind.example_file), soft_wrap=True)


def _unit(coordinate: str, row: Coverage) -> str | None:
    """Of a coordinate that can be measured; others only count what is left free."""
    return coordinate_unit(coordinate) if coordinate in row.driven else None


def _zeros(row: Coverage) -> str:
    """Where the coordinates that can be measured are zero."""
    if row.type.relations is not None:
        return "Zero at the reference."
    zero = "Zero at the reference unless at_reference or frames say otherwise"
    return f"{zero}, but for the distance." if "distance" in row.driven else f"{zero}."


def _geometry(row: Coverage) -> Any:
    """The fields of a ``[[joint]]`` that the type reads, and the keys of a profile."""
    from rich.markup import escape

    kind = row.type
    table = plain_table(("Geometry", "", "Meaning"))
    fields = JointEntry.model_fields
    for names, said in ((kind.required, "required"), (kind.optional, "optional")):
        for name in names:
            table.add_row(name, said, escape(fields[name].description or ""))
            if name == "profile":
                for key, meaning in _profile_keys():
                    table.add_row(f"  .{key}", "", escape(meaning))
    if kind.takes_frames:
        table.add_row("frames", "instead", escape(fields["frames"].description or ""))
    if row.driven:
        table.add_row("limits", "optional", escape(fields["limits"].description or ""))
        if kind.relations is None:
            table.add_row("at_reference", "optional", escape(fields["at_reference"].description or ""))
    return table


def _profile_keys() -> list[tuple[str, str]]:
    """Keys of a cam's profile that have a meaning in words: their own, or those of their table."""
    from pydantic import BaseModel

    from mbssa.gathering.profile import ProfileEntry

    found = []
    for key, field in ProfileEntry.model_fields.items():
        words = field.description
        for part in get_args(field.annotation):
            if words is None and isinstance(part, type) and issubclass(part, BaseModel):
                words = (part.__doc__ or "").partition("\n")[0]
        if words:
            found.append((key, words))
    return found
