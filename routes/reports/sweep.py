"""Report of a sweep, as a page and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbssa.results.tables import plain_table
from routes.sweep.cases import described
from routes.sweep.store import PARTS

if TYPE_CHECKING:
    from rich.console import Console

    from routes.sweep.cases import Cases
    from routes.sweep.result import Sweep

#: Columns that a page lists before it only counts the rest.
_SHOWN = 40


def page(found: Sweep, cases: Cases, title: str, files: Sequence[Path], console: Console) -> None:
    """Print a sweep: the model, the cases and what became of them, the pace, the columns, where it all is."""
    console.print(title, style="bold", markup=False)
    console.print(f"{described(cases)}", markup=False)
    total = found.done
    table = plain_table(("Cases", "", "Share"), ("Cases", "Share"))
    for name, number in found.counts.items():
        table.add_row(f"{number:,}", name, f"{number / total:.1%}")
    if found.within is not None:
        table.add_row(f"{found.within:,}", "within all limits", f"{found.within / total:.1%}")
    console.print(table)
    if found.solved:
        pace = found.solved / found.seconds
        console.print(f"{found.solved:,} cases in {found.seconds:.3g} s: {pace:,.0f} a second", markup=False)
    else:
        console.print("all cases were there already", markup=False)
    if not found.complete:
        console.print(f"{found.done:,} of {found.number:,} cases are there; --resume goes on", markup=False)
    units = found.units
    names = [f"{name} ({units[name]})" if units.get(name) else name for name in found.column_names]
    more = f" … and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    console.print(f"columns: {', '.join(names[:_SHOWN])}{more}", markup=False)
    place = found.folder / PARTS
    console.print(f"written: {place} ({_counted(len(found.parts))})", markup=False, soft_wrap=True)
    for path in files:
        console.print(f"written: {path}", markup=False, soft_wrap=True)


def _counted(parts: int) -> str:
    return f"{parts} Parquet file{'' if parts == 1 else 's'}"


def record(found: Sweep, files: Sequence[Path]) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "model": found.manifest["model"],
        "store": str(found.folder),
        "parts": len(found.parts),
        "cases": found.number,
        "done": found.done,
        "complete": found.complete,
        "status": found.counts,
        "within": found.within,
        "solved": found.solved,
        "seconds": found.seconds,
        "columns": found.column_names,
        "units": found.units,
        "files": [str(path) for path in files],
    }
