"""A solved motion: groups, residuals, conditions, faults, inputs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.reports.about import fault_lines, group_records, group_table, model_lines, quantity, span_text
from groups.results.faults import excesses
from groups.trajectory import STATUS, Trajectory
from mbssa.joints.catalogue import coordinate_unit, is_length
from mbssa.reports.structure import treatment_lines
from mbssa.reports.table import SHOWN, Bad, Columns, Good, Heading, Part, Report, Table
from mbssa.reports.wording import headline
from mbssa.texts import listed
from mbssa.units import given_in, quantity_text, units_record

if TYPE_CHECKING:
    from groups.cli.running import TimedRun
    from groups.model import Model
    from groups.motion import Motion


#: Driven coordinates and groups that a page lists before it only counts the rest.
_SHOWN, _SHOWN_GROUPS = 24, 20

#: Share of the size, of 1 rad, or of the largest number of a row, below which a number is rounding.
_ROUNDING = 1e-12

#: Corrections of the reference, over the size or in rad, that are more than what digits leave open.
_CORRECTED = 1e-4


def solution_report(model: Model, motion: Motion, run: TimedRun) -> Report:
    """The mechanism, its groups, its inputs, the figures, the faults of a run."""
    trajectory, time, units = run.trajectory, motion.time, run.trajectory.mechanism.units
    groups = [one | of for one, of in zip(group_records(model), _by_group(trajectory), strict=True)]
    inputs = list[dict[str, Any]]()
    for name, value, *rates in zip(motion.names, motion.value, motion.rate, motion.acceleration, strict=True):
        numbers = np.array([value.min(), value.max(), *np.abs(rates).max(axis=1)])
        typical = model.frames.size if is_length(name) else 1.0
        numbers[np.abs(numbers) <= _ROUNDING * max(typical, np.abs(numbers).max())] = 0.0
        row = dict(zip(("lowest", "highest", "fastest", "acceleration"), numbers.tolist(), strict=True))
        inputs.append(quantity(name, coordinate_unit(name), units, **row))
    columns = {
        "Driven": ("name", ""), "From": ("lowest", ".4g"), "To": ("highest", ".4g"),
        "Maximum velocity, /s": ("fastest", ".4g"), "Maximum acceleration, /s²": ("acceleration", ".4g"),
        "Unit": ("unit", ""),
    }  # fmt: skip
    each = f", {_duration(run.solving / len(time))} each" if len(time) > 1 and not run.stopped else ""
    compiled = f", compiled in {_duration(run.compiling)}" if run.compiling else ""
    by = f"machine code{compiled}" if run.compiled else "NumPy"
    corrections = model.reference.correction(model.frames.reference, model.frames.centre)
    moved, turned = (float(each.max(initial=0.0)) for each in corrections)
    corrected = (
        "the reference did not close as given and was corrected by up to "
        f"{quantity_text(moved, 'm', units, '.3g')} and {quantity_text(turned, 'rad', units, '.3g')}: "
        "mbssa check says of which bodies"
    )
    findings, figures = _findings(trajectory, motion)
    record = {  # groups count from 1, None is what there is not
        "mechanism": model.mechanism.name,
        "ok": trajectory.ok,
        "stopped": run.stopped,
        "instants": len(time),
        "from": time[0],
        "to": time[-1],
        "plan": run.how or None,
        "seconds": {"compiling": run.compiling, "solving": run.solving},
        **figures,
        "treatment": treatment_lines(model.structure),
        "units": units_record(units),
        "inputs": inputs,
        "groups": groups,
    }
    parts: list[Part] = [
        *model_lines(model.structure),
        group_table(model, groups, _quality(units)),
        Table.of(inputs, columns, shown=_SHOWN, rest="… and {} more; --format json lists all"),
        span_text(time),
        f"solved in {_duration(run.solving)}{each} by {by}",
        *([f"by the plan {run.how}"] if run.how else []),
        *([corrected] if moved > _CORRECTED * model.frames.size or turned > _CORRECTED else []),
        *findings,
    ]
    return Report(parts, lambda: record)


def trajectory_report(trajectory: Trajectory) -> Report:
    """A solved motion without its model: its groups, the worst figures, and the faults."""
    columns = {"SG": ("number", "d"), "Group": ("name", ""), **_quality(trajectory.mechanism.units)}
    named = zip(trajectory.named_groups, _by_group(trajectory), strict=True)
    groups = [{"number": number, "name": name} | of for number, (name, of) in enumerate(named, 1)]
    table = Table.of(groups, columns, shown=SHOWN, rest="… and {} more groups")
    title = Heading(headline(trajectory.mechanism))
    return Report((title, span_text(trajectory.time), table, *_findings(trajectory)[0]))


def _quality(units: tuple[str, str]) -> Columns:
    """Columns of solved instants, largest residual and worst condition of a group by its record."""
    return {
        "Solved": ("solved", "d"),
        f"Residual ({units[0]})": (lambda one: _residual(one["residual"]), ">"),
        "Condition": ("condition", ".2g"),
    }


def _by_group(trajectory: Trajectory) -> list[dict[str, Any]]:
    """Solved instants of each group, the others by status, and the worst figures of the solved ones."""
    found, length = [], given_in("m", trajectory.mechanism.units)[1]
    for g, status in enumerate(trajectory.status.T):
        solved = status == 0
        codes, counts = np.unique(status[~solved], return_counts=True)
        residual, condition = (of[solved, g] for of in (trajectory.residual, trajectory.condition))
        residual, condition = residual[np.isfinite(residual)], condition[np.isfinite(condition)]
        found.append(
            {
                "solved": int(solved.sum()),
                "proven": int((trajectory.proof[:, g] == 2).sum()),
                "failed": {STATUS[c]: n for c, n in zip(codes.tolist(), counts.tolist(), strict=True)},
                "residual": float(residual.max()) / length if len(residual) else None,
                "condition": float(condition.min()) if len(condition) else None,
                "iterations": int(trajectory.iterations[solved, g].max(initial=0)),
            }
        )
    return found


def _findings(trajectory: Trajectory, motion: Motion | None = None) -> tuple[list[Part], dict[str, Any]]:
    """Worst residual and condition, how the branches are held, passed limits and faults: lines and record."""
    lines, units, passed = list[Part](), trajectory.mechanism.units, excesses(trajectory)
    residual = trajectory.residual / given_in("m", units)[1]
    record = dict[str, Any](largest_residual=residual, worst_condition=-trajectory.condition)
    for name, array in record.items():
        solved = np.argwhere((trajectory.status == 0) & np.isfinite(array))
        record[name] = None
        if len(solved):
            k, g = solved[np.argmax(array[tuple(solved.T)])].tolist()
            record[name] = {"value": abs(array[k, g]), "group": g + 1, "time": trajectory.time[k]}
            where = f"(SG-{g + 1}, t = {trajectory.time[k]:.6g} s)"
            if name == "largest_residual":
                lines.append(f"largest residual {_residual(array[k, g])} {units[0]} {where}")
            else:
                value = f"smallest reciprocal condition number {-array[k, g]:.2g}"
                lines.append(f"{value} {where}; 0 is singular")
    record["faults"] = trajectory.faults(motion)
    record["beyond_limits"] = [asdict(one.shown_in(units)) for one in passed]
    if trajectory.proven is None:
        lines.append("branches: checked; --branch proven certifies them")
    else:
        count, others = trajectory.status.shape[1], ""
        proven = count - int(np.isin(trajectory.proof, (1, 3)).any(axis=0).sum())
        crossing = "continued through a crossing, and proven but for that"
        for proof, how in ((1, "checked alone"), (3, crossing)):
            some = [f"SG-{g + 1}" for g in np.flatnonzero((trajectory.proof == proof).any(axis=0)).tolist()]
            others += f"; {how}: {listed(some, _SHOWN_GROUPS)}" if some else ""
        lines.append(f"branches: proven in {proven} of {count} groups{others}")
    lines += [Good("every group was solved at every instant")] * trajectory.ok
    lines += [Bad(one.text(units)) for one in passed]
    return [*lines, *fault_lines(record["faults"])], record


def _residual(value: float | None) -> str | None:
    return f"{value:.1e}" if value else None if value is None else "0"


def _duration(seconds: float) -> str:
    """A time with three digits in the unit that fits."""
    factor, unit = next((pair for pair in ((1.0, "s"), (1e3, "ms")) if seconds * pair[0] >= 1), (1e6, "µs"))
    return f"{seconds * factor:.3g} {unit}"
