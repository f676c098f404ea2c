"""Lines and quantities that reports have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbssa.arrays import Floats
from mbssa.reports.structure import summary_head, treatment_lines
from mbssa.reports.table import Bad, Heading, Part, first_lines
from mbssa.units import given_in

if TYPE_CHECKING:
    from mbssa import Structure


#: Faults that a page lists before it only counts the rest.
_FAULTS = 20


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
