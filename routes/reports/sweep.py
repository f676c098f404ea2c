"""Report of a sweep, as a page and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groups.trajectory import PROOF
from mbssa.reports.table import Heading, Part, Report, Table, Verbatim
from mbssa.texts import counted, listed
from routes.sweep.cases import described
from routes.sweep.store import PARTS

if TYPE_CHECKING:
    from routes.sweep.result import Sweep

#: Columns that a page lists before it only counts the rest.
_SHOWN = 40


def sweep_report(found: Sweep, title: str = "") -> Report:
    """The model, the cases by status, the pace, and the columns."""
    total = found.done
    rows = [(f"{number:,}", name, f"{number / total:.1%}") for name, number in found.counts.items()]
    if found.within is not None:
        rows.append((f"{found.within:,}", "within all limits", f"{found.within / total:.1%}"))
    parts: list[Part] = [
        Heading(title or found.manifest["model"]),
        described(found.parameters, found.number, found.manifest["cases"]),
        Table(("Cases", "Status", "Share"), rows, right=("Cases", "Share")),
    ]
    parts += [f"{name}: {why}" for name, why in found.reasons.items()]
    if found.proofs:
        proven = [f"{found.proofs[name]:,} {name}" for name in PROOF if name in found.proofs]
        parts.append(f"branches from the reference, cases: {', '.join(proven)}")
    if found.solved:
        pace = found.solved / found.seconds
        parts.append(f"{found.solved:,} cases in {found.seconds:.3g} s: {pace:,.0f} a second")
    elif found.complete:
        parts.append("all cases were there already")
    if found.damaged:
        again = "was damaged; its cases were" if len(found.damaged) == 1 else "were damaged; their cases were"
        parts.append(f"{listed(found.damaged, _SHOWN)} {again} computed again")
    if not found.complete:
        parts.append(f"{total:,} of {found.number:,} cases are there; --resume goes on")
    if found.parts:
        units = found.units
        names = [f"{name} ({units[name]})" if units.get(name) else name for name in found.column_names]
        parts.append(f"columns, in SI units: {listed(names, _SHOWN)}")
    files_there = counted(len(found.parts), "Parquet file")
    parts.append(Verbatim(f"written: {found.folder / PARTS} ({files_there})"))
    return Report(parts, lambda: record(found))


def record(found: Sweep) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "model": found.manifest["model"],
        "store": str(found.folder),
        "parts": len(found.parts),
        "cases": found.number,
        "done": found.done,
        "complete": found.complete,
        "status": found.counts,
        "reasons": found.reasons,
        "proof": found.proofs,
        "within": found.within,
        "solved": found.solved,
        "damaged": list(found.damaged),
        "seconds": found.seconds,
        "columns": found.column_names,
        "units": found.units,
    }
