"""A solved motion: groups, residuals, conditions, faults, inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.reports.about import group_table, model_lines, span_text
from groups.results.limits import excesses
from groups.trajectory import STATUS, Trajectory
from mbssa.arrays import Floats
from mbssa.joints.catalogue import coordinate_unit, is_length
from mbssa.reports.structure import treatment_lines
from mbssa.reports.table import SHOWN, Bad, Good, Heading, Part, Report, Table, written_lines
from mbssa.reports.wording import headline
from mbssa.units import SI, given_in, quantity_text, units_record

if TYPE_CHECKING:
    from pathlib import Path

    from groups.cli.running import TimedRun
    from groups.model import Model
    from groups.motion import Motion


#: Driven coordinates and faults that a page lists before it only counts the rest.
_SHOWN_INPUTS = 24
_SHOWN_FAULTS = 20

#: Share of the size, of 1 rad, or of the largest number of a row, below which a number is rounding.
_ROUNDING = 1e-12

#: Corrections of the reference, over the size or in rad, that are more than what digits leave open.
CORRECTED = 1e-4


@dataclass(frozen=True, eq=False)
class Summary:
    """A run and what it was made of: ``files`` were written; tables are in ``units`` of length and angle."""

    model: Model
    motion: Motion
    run: TimedRun
    files: Sequence[Path] = ()
    units: tuple[str, str] = SI

    @property
    def trajectory(self) -> Trajectory:
        return self.run.trajectory


def _largest_residual(trajectory: Trajectory, units: tuple[str, str]) -> dict[str, Any] | None:
    """The largest residual of a solved instant, with the group's number and the time, s."""
    found = _worst(trajectory, trajectory.residual, largest=True)
    return found and found | {"value": found["value"] / given_in("m", units)[1]}


def _worst_condition(trajectory: Trajectory) -> dict[str, Any] | None:
    """The smallest condition of a solved instant, with the group's number and the time, s."""
    return _worst(trajectory, trajectory.condition, largest=False)


def _worst(trajectory: Trajectory, array: Floats, *, largest: bool) -> dict[str, Any] | None:
    solved = (trajectory.status == 0) & np.isfinite(array)
    if not solved.any():
        return None
    worst = np.where(solved, array if largest else -array, -np.inf)
    instant, group = np.unravel_index(int(worst.argmax()), worst.shape)
    return {
        "value": float(array[instant, group]),
        "group": int(group) + 1,
        "time": float(trajectory.time[instant]),
    }


def solution_report(summary: Summary) -> Report:
    """The mechanism, its groups, its inputs, the figures, the faults, the files of a run."""
    parts: list[Part] = [
        *model_lines(summary.model.structure),
        group_table(summary.model, _quality(_by_group(summary.trajectory, summary.units), summary.units)),
        _input_table(summary),
        *_run_lines(summary),
        *_corrected(summary.model, summary.units),
        *_quality_lines(summary.trajectory, summary.units),
        *(Bad(one.text(summary.units)) for one in excesses(summary.trajectory)),
        *_fault_lines(summary.trajectory.faults(summary.motion)),
        *written_lines(summary.files),
    ]
    return Report(parts, lambda: to_dict(summary))


def trajectory_report(trajectory: Trajectory) -> Report:
    """A solved motion without its model: its groups, the worst figures, and the faults."""
    units = trajectory.mechanism.units
    columns = _quality(_by_group(trajectory, units), units)
    groups = Table(
        ("SG", "Group", *columns),
        range(trajectory.status.shape[1]),
        lambda g: (str(g + 1), trajectory.named_groups[g], *(cell(g, False) for cell in columns.values())),
        ("SG", *columns),
        shown=SHOWN,
        rest="… and {} more groups",
    )
    return Report(
        (
            Heading(headline(trajectory.mechanism)),
            span_text(trajectory.time),
            groups,
            *_quality_lines(trajectory, units),
            *(Bad(one.text(units)) for one in excesses(trajectory)),
            *_fault_lines(trajectory.faults()),
        )
    )


def _quality(
    found: Sequence[dict[str, Any]], units: tuple[str, str]
) -> dict[str, Callable[[int, bool], str]]:
    """Columns of solved instants, largest residual and worst condition of the groups."""

    def number(g: int, name: str, text: Callable[[float], str]) -> str:
        return "–" if found[g][name] is None else text(found[g][name])

    return {
        "Solved": lambda g, _: str(found[g]["solved"]),
        f"Residual ({units[0]})": lambda g, _: number(g, "residual", _residual),
        "Condition": lambda g, _: number(g, "condition", "{:.2g}".format),
    }


def _by_group(trajectory: Trajectory, units: tuple[str, str]) -> list[dict[str, Any]]:
    """Solved instants of each group, the others by status, and the worst figures of the solved ones."""
    found = []
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
                "residual": float(residual.max()) / given_in("m", units)[1] if len(residual) else None,
                "condition": float(condition.min()) if len(condition) else None,
                "iterations": int(trajectory.iterations[solved, g].max(initial=0)),
            }
        )
    return found


def _input_table(summary: Summary) -> Table:
    right = ("From", "To", "Maximum velocity, /s", "Maximum acceleration, /s²")

    def cells(one: dict[str, Any]) -> tuple[str, ...]:
        numbers = (one["lowest"], one["highest"], one["fastest"], one["acceleration"])
        typical = summary.model.frames.size if is_length(one["name"]) else 1.0
        scale = given_in(coordinate_unit(one["name"]), summary.units)[1]
        least = _ROUNDING * max(typical / scale, *map(abs, numbers))
        shown = (number if abs(number) > least else 0.0 for number in numbers)
        return one["name"], *(f"{number:.4g}" for number in shown), one["unit"]

    return Table(
        ("Driven", *right, "Unit"),
        _inputs(summary),
        cells,
        right,
        shown=_SHOWN_INPUTS,
        rest="… and {} more; --format json lists all",
    )


def _inputs(summary: Summary) -> list[dict[str, Any]]:
    motion, rows = summary.motion, []
    for row, name in enumerate(motion.names):
        unit, scale = given_in(coordinate_unit(name), summary.units)
        rows.append(
            {
                "name": name,
                "unit": unit,
                "lowest": float(motion.value[row].min()) / scale,
                "highest": float(motion.value[row].max()) / scale,
                "fastest": float(np.abs(motion.rate[row]).max()) / scale,
                "acceleration": float(np.abs(motion.acceleration[row]).max()) / scale,
            }
        )
    return rows


def _fault_lines(faults: Sequence[str]) -> list[Part]:
    if not faults:
        return []
    lines = [Bad(f"  - {fault}") for fault in faults[:_SHOWN_FAULTS]]
    if len(faults) > _SHOWN_FAULTS:
        lines.append(Bad(f"  - … and {len(faults) - _SHOWN_FAULTS} more; --format json lists all"))
    return ["", Heading("Faults"), *lines]


def _run_lines(summary: Summary) -> list[str]:
    """The instants, the time that they took, and by what and which plan."""
    run, time = summary.run, summary.motion.time
    each = f", {_duration(run.solving / len(time))} each" if len(time) > 1 and not run.stopped else ""
    compiled = f", compiled in {_duration(run.compiling)}" if run.compiling else ""
    by = f"machine code{compiled}" if run.compiled else "NumPy"
    lines = [span_text(time), f"solved in {_duration(run.solving)}{each} by {by}"]
    return [*lines, f"by the plan {run.how}"] if run.how else lines


def _quality_lines(trajectory: Trajectory, units: tuple[str, str]) -> list[str]:
    """Worst residual and condition, how the branches are held, and whether all was solved."""
    lines = []
    if largest := _largest_residual(trajectory, units):
        lines.append(f"largest residual {_residual(largest['value'])} {units[0]} {_where(largest)}")
    if worst := _worst_condition(trajectory):
        value = f"smallest reciprocal condition number {worst['value']:.2g}"
        lines.append(f"{value} {_where(worst)}; 0 is singular")
    lines.append(branches(trajectory))
    if trajectory.ok:
        lines.append(Good("every group was solved at every instant"))
    return lines


def branches(trajectory: Trajectory) -> str:
    """Line on the groups whose branch is proven wherever solved, and on those only checked."""
    if trajectory.proven is None:
        return "branches: checked; --branch proven certifies them"
    count, listed = trajectory.status.shape[1], ""
    proven = count - int(np.isin(trajectory.proof, (1, 3)).any(axis=0).sum())
    for proof, said in ((1, "checked alone"), (3, "continued through a crossing, and proven but for that")):
        some = [f"SG-{g + 1}" for g in np.flatnonzero((trajectory.proof == proof).any(axis=0)).tolist()]
        more = f" and {len(some) - _SHOWN_FAULTS} more" if len(some) > _SHOWN_FAULTS else ""
        listed += f"; {said}: {', '.join(some[:_SHOWN_FAULTS])}{more}" if some else ""
    return f"branches: proven in {proven} of {count} groups{listed}"


def _corrected(model: Model, units: tuple[str, str]) -> list[str]:
    """A sentence on the correction of a reference that did not close; none within rounding."""
    corrections = model.reference.correction(model.frames.reference, model.frames.centre)
    moved, turned = (float(each.max(initial=0.0)) for each in corrections)
    if moved <= CORRECTED * model.frames.size and turned <= CORRECTED:
        return []
    return [
        "the reference did not close as given and was corrected by up to "
        f"{quantity_text(moved, 'm', units, '.3g')} and {quantity_text(turned, 'rad', units, '.3g')}: "
        "mbssa check says of which bodies"
    ]


def _where(worst: dict[str, Any]) -> str:
    return f"(SG-{worst['group']}, t = {worst['time']:.6g} s)"


def _residual(value: float) -> str:
    return f"{value:.1e}" if value else "0"


def _duration(seconds: float) -> str:
    """A time with three digits in the unit that fits."""
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def to_dict(summary: Summary) -> dict[str, Any]:
    """A run as lists, texts and numbers; groups count from 1, None is what there is not."""
    structure, run, time = summary.model.structure, summary.run, summary.motion.time
    units = summary.units
    return {
        "mechanism": structure.mechanism.name,
        "ok": summary.trajectory.ok,
        "stopped": run.stopped,
        "instants": len(time),
        "from": float(time[0]),
        "to": float(time[-1]),
        "plan": run.how or None,
        "seconds": {"compiling": run.compiling, "solving": run.solving},
        "largest_residual": _largest_residual(summary.trajectory, units),
        "worst_condition": _worst_condition(summary.trajectory),
        "faults": summary.trajectory.faults(summary.motion),
        "beyond_limits": [asdict(one.shown_in(units)) for one in excesses(summary.trajectory)],
        "treatment": treatment_lines(structure),
        "units": units_record(units),
        "inputs": _inputs(summary),
        "groups": [
            {
                "number": group.number,
                "bodies": list(group.bodies),
                "type": group.type_name,
                "form": solver.form,
                "solver": solver.name,
                **found,
            }
            for group, solver, found in zip(
                structure.groups, summary.model.solvers, _by_group(summary.trajectory, units), strict=True
            )
        ],
        "files": [str(path) for path in summary.files],
    }
