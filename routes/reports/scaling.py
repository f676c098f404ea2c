"""Predicted scaling as a table for people and as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mbssa.reports.table import Heading, Part, Report, Table, plain
from routes.plan_candidates import KINDS
from routes.scaling import ENOUGH
from routes.simulate import unit_of_time

if TYPE_CHECKING:
    from routes.scaling import Scaling


def scaling_report(found: Mapping[str, Scaling]) -> Report:
    """Predicted times on each number of workers, and their limits, by kind of plan."""
    parts: list[Part] = []
    for kind, scaling in found.items():
        parts += [Heading(f"{kind}: {KINDS[kind]}"), _table(scaling), *lines(scaling), ""]
    return Report(parts, lambda: {kind: to_dict(scaling) for kind, scaling in found.items()})


def _table(scaling: Scaling) -> Table:
    """A row for each number of workers: time, speed-up, efficiency, and the bound of Amdahl's law."""
    unit, factor = unit_of_time(float(scaling.makespan.max()))
    columns = ("Workers", f"Predicted {unit}", "Speed-up", "Efficiency", "Amdahl's bound")
    makespan, bounds = scaling.makespan * factor, scaling.amdahl(scaling.workers)
    rows = [
        (f"{workers:,}", f"{time:.4g}", f"{times:.2f}", f"{share:.0%}", f"{bound:.2f}")
        for workers, time, times, share, bound in zip(
            scaling.workers, makespan, scaling.speed_up, scaling.efficiency, bounds, strict=True
        )
    ]
    return Table(columns, rows, right=columns)


def lines(scaling: Scaling) -> list[str]:
    """Sentences on the limits of the speed-up, and on the number of workers that reaches them."""
    unit, factor = unit_of_time(scaling.critical)
    limit, critical = f"{scaling.limit:.3g}", f"{scaling.critical * factor:.3g} {unit}"
    most = scaling.sequential / scaling.serial if scaling.serial else None
    amdahl = f"speed-up at most {most:.3g}" if most else "no limit"
    enough, times = scaling.enough, f"speed-up {scaling.sequential / scaling.enough_makespan:.3g}"
    workers = "1 worker" if enough == 1 else f"{enough:,} workers"
    return [
        f"critical path {critical}: speed-up at most {limit}",
        f"serial share {100 * scaling.serial_share:.3g} %: {amdahl} by Amdahl's law",
        f"{workers}: {times}, at least {100 * ENOUGH:.0f} % of the maximum",
    ]


def to_dict(scaling: Scaling) -> dict[str, Any]:
    """Predicted scaling as lists and numbers, times in s; None for no limit."""
    return {
        **plain(scaling, "workers"),
        "seconds": scaling.makespan.tolist(),
        **plain(scaling, "speed_up efficiency"),
        "amdahl": scaling.amdahl(scaling.workers).tolist(),
        "sequential": scaling.sequential,
        "critical_path": scaling.critical,
        **plain(scaling, "limit serial_share"),
        "amdahl_limit": scaling.sequential / scaling.serial if scaling.serial else None,
        "enough": {"workers": scaling.enough, "seconds": scaling.enough_makespan},
    }
