"""Lines and columns that reports of groups have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from mbssa.arrays import Floats
from mbssa.reports.structure import summary_head, treatment_lines
from mbssa.reports.table import SHOWN, Bad, Columns, Heading, Part, Table, first_lines
from mbssa.units import given_in

if TYPE_CHECKING:
    from groups.model import Model
    from mbssa import Structure


#: Faults that a page lists before it only counts the rest.
_FAULTS = 20

#: Letters of a line of bodies in a narrow table.
_WRAPPED = 12


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


def model_lines(structure: Structure) -> list[str]:
    """Lines on the mechanism and its size."""
    head, *rest = summary_head(structure)
    return [Heading(head), *rest, *treatment_lines(structure)]


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
