"""A coordinate partitioning, and choices of coordinates along a motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbssa.reports.table import Heading, Part, Report, Table
from mbssa.reports.wording import counted, headline, listed

if TYPE_CHECKING:
    from groups.partitioning.choice import Partitioning
    from groups.partitioning.sweep import Followed, PartitionSweep, Warned

#: Coordinates, equations and stretches that a page lists; of a larger model it lists only so many first ones.
_SHOWN = 60
_FIRST = 20

#: Names and numbers that a line lists, of a model that a page lists and of a larger one.
_IN_LINE, _OF_LARGE = 24, 8

#: Conditions that may warn of a singular position.
_WARNING = ("structural", "groups", "once", "held", "anew")

#: A coordinate below it, m or rad, is shown as zero.
_ROUNDING = 1e-12

_METHODS = {
    "complete": "Gaussian elimination with complete pivoting",
    "qr": "QR with column pivoting",
    "given": "the user's own choice",
}


# --- one configuration -----------------------------------------------------------------------------


def partition_report(found: Partitioning, rivals: Sequence[tuple[str, Partitioning]] = ()) -> Report:
    """Cuts, coordinates with their kinds, what is redundant, and ``rivals`` side by side; CSV has J too."""
    opened, kinds = found.opened, _kinds(found)
    large = found.n > _SHOWN
    rows = [
        (str(k + 1), name, _value(found.value[k]), opened.units[k], kinds[k])
        for k, name in enumerate(opened.coordinates[: _FIRST if large else None])
    ]
    parts: list[Part] = [
        Heading(headline(found.mechanism)),
        *_head(found),
        Table(("q", "Coordinate", "Value", "Unit", "Kind"), rows, right=("q", "Value")),
    ]
    if large:
        more = f"… and {found.n - _FIRST} more coordinates"
        parts.append(f"{more}; --format json or csv has all; --output FILE keeps it")
    parts += _verdict(found)
    if rivals:
        parts.append(_rival_table(rivals))
    record = {
        name: {
            "independent": [*one.driven, *one.prescribed, *one.independent],
            "dependent": list(one.dependent),
            "condition": one.condition,
            "smallest_pivot": one.smallest_pivot,
            "bound": one.bound,
        }
        for name, one in rivals
    }
    return Report(parts, lambda: to_dict(found) | {"rivals": record}, _jacobian_table(found))


def _jacobian_table(found: Partitioning) -> Table:
    """A row per coordinate: number, name, value, unit, kind, and its column of J."""
    opened, kinds = found.opened, _kinds(found)
    rows = [
        [str(k + 1), name, repr(float(found.value[k])), opened.units[k], kinds[k]]
        + [repr(entry) for entry in found.jacobian[:, k].tolist()]
        for k, name in enumerate(opened.coordinates)
    ]
    return Table(("q", "coordinate", "value", "unit", "kind", *opened.equations), rows)


def _head(found: Partitioning) -> list[str]:
    opened = found.opened
    rods = [opened.mechanism.body_name(cut.rod) for cut in opened.cuts if cut.rod >= 0]
    most = _most(found)
    cuts = "no loop to cut"
    if opened.cuts:
        cuts = f"{counted(len(opened.cuts), 'cut')}: {listed(found.cuts, most)}"
    lines = [
        f"{counted(found.n, 'coordinate')} in the tree, {counted(len(opened.equations), 'equation')} "
        f"at the cuts, {found.rank} independent",
        cuts,
    ]
    if rods:
        lines.append(f"taken out as rods without mass: {listed(rods, most)}; how they spin is no coordinate")
    if found.time is not None:
        lines.append(f"at the instant t = {found.time:.6g} s of the motion")
    by = f"{_METHODS[found.method]}, tolerance {found.tolerance:.2g}"
    lines.append(f"{by}; lengths are divided by {opened.frames.size:.4g} m, angles are in rad")
    return lines


def _verdict(found: Partitioning) -> list[str]:
    most = _most(found)
    kinds = (
        ("u, independent", found.independent),
        ("v, dependent", found.dependent),
        ("driven", found.driven + found.prescribed),
    )
    lines = [f"{_of_many(kind, names, most)}: {listed(names, most) or 'none'}" for kind, names in kinds]
    numbers = {name: str(k + 1) for k, name in enumerate(found.opened.coordinates)}
    sets = (("qu", found.independent), ("qv", found.dependent), ("qc", found.driven))
    lines.append(
        "  ".join(f"set_{kind}([{listed([numbers[name] for name in names], most)}])" for kind, names in sets)
    )
    if found.rank:
        lines.append(
            f"J_v: condition {found.condition:.2g}, smallest pivot {found.smallest_pivot:.2g}; "
            "1 is best, 0 singular"
        )
    if found.redundant:
        lines.append(f"{_of_many('redundant here', found.redundant, most)}: {listed(found.redundant, most)}")
    if found.bound:
        lines.append(
            f"what is driven is bound by the cuts: {counted(found.bound, 'combination')} of the driven "
            "coordinates cannot be prescribed here"
        )
    return lines


def _rival_table(rivals: Sequence[tuple[str, Partitioning]]) -> Table:
    def cells(rival: tuple[str, Partitioning]) -> tuple[str, ...]:
        name, one = rival
        u = listed((*one.driven, *one.prescribed, *one.independent), 8) or "none"
        bound = f", {one.bound} bound" if one.bound else ""
        return name, u, f"{one.condition:.2g}{bound}", f"{one.smallest_pivot:.2g}"

    right = ("Condition", "Smallest pivot")
    return Table(("Choice of u", "u", *right), rivals, cells, right)


def _kinds(found: Partitioning) -> list[str]:
    dependent, driven = set(found.dependent), set(found.driven)
    return [
        "dependent" if name in dependent else "driven" if name in driven else "independent"
        for name in found.opened.coordinates
    ]


def to_dict(found: Partitioning) -> dict[str, Any]:
    """A partitioning as lists, texts and numbers."""
    opened = found.opened
    return {
        "mechanism": found.mechanism.name,
        "method": found.method,
        "tolerance": found.tolerance,
        "time": found.time,
        "size": opened.frames.size,
        "n": found.n,
        "rank": found.rank,
        "cuts": [
            {
                "kind": cut.kind,
                "joints": [found.mechanism.joint_ids[j] for j in cut.joints],
                "rod": found.mechanism.body_name(cut.rod) if cut.rod >= 0 else None,
                "equations": list(cut.equations),
            }
            for cut in opened.cuts
        ],
        "coordinates": [
            {
                "number": k + 1,
                "name": name,
                "unit": opened.units[k],
                "value": _known(found.value[k]),
                "kind": kind,
            }
            for k, (name, kind) in enumerate(zip(opened.coordinates, _kinds(found), strict=True))
        ],
        "independent": list(found.independent),
        "dependent": list(found.dependent),
        "driven": list(found.driven),
        "prescribed": list(found.prescribed),
        "redundant": list(found.redundant),
        "bound": found.bound,
        "condition": found.condition,
        "smallest_pivot": found.smallest_pivot,
        "equations": list(opened.equations),
        "jacobian": found.jacobian.tolist(),
    }


# --- along a motion --------------------------------------------------------------------------------


def sweep_report(swept: PartitionSweep) -> Report:
    """Each choice with its worst position, who warns where, and where the set has to change."""
    opened, instants = swept.opened, len(swept.time)
    cuts = [f"{cut.kind} cut at {opened.cut_name(cut)}" for cut in opened.cuts]
    rows = []
    for name, one in _choices(swept):
        at = _worst(one.condition)
        u = listed(one.sets[0], 6) if len(one.sets) == 1 else "–"
        cells = ("–", "–", "–") if at is None else _cells(swept, one, at)
        rows.append((name, u, str(len(set(one.which.tolist()))), *cells))
    for name, values in (("structural groups", swept.worst_group), ("any choice: all of J", swept.whole)):
        at = _worst(values)
        condition = "–" if at is None else _number(values[at])
        if name == "structural groups" and condition == "0":
            condition = "not solved"
        rows.append((name, "–", "–", condition, "–" if at is None else f"{swept.time[at]:.4g}", "–"))
    right = ("Sets", "Condition", "at t", "Singular value")
    parts: tuple[Part, ...] = (
        Heading(headline(opened.mechanism)),
        f"{counted(len(opened.coordinates), 'coordinate')}, {listed(cuts, _IN_LINE) or 'no cut'}",
        f"{counted(instants, 'instant')}, t = {swept.time[0]:.6g} … {swept.time[-1]:.6g} s; "
        f"{swept.rank} dependent; {_METHODS[swept.method]}",
        Table(("Choice of u", "u", *right), rows, right=right),
        f"the choice made anew is the structural one at {int(swept.agree.sum())} of {instants} instants",
        *_changes(swept),
        *_warnings(swept),
    )
    return Report(parts, lambda: _sweep_record(swept), _sweep_table(swept))


def _choices(swept: PartitionSweep) -> list[tuple[str, Followed]]:
    said = {
        "structural": "what is driven",
        "once": "as given" if swept.given else "at the reference",
        "held": "changed where it must",
        "anew": "at every instant",
    }
    return [(f"{name}: {said[name]}", one) for name, one in _by_name(swept)]


def _cells(swept: PartitionSweep, one: Followed, at: int) -> tuple[str, str, str]:
    return _number(one.condition[at]), f"{swept.time[at]:.4g}", _number(one.singular[at])


def _number(value: float) -> str:
    return f"{value:.2g}"


def _value(value: float) -> str:
    return f"{value:.4g}" if abs(value) > _ROUNDING else "0"


def _worst(values: Any) -> int | None:
    sound = [k for k, value in enumerate(values.tolist()) if math.isfinite(value)]
    return min(sound, key=lambda k: (values[k], k)) if sound else None


def _changes(swept: PartitionSweep) -> list[str]:
    if not swept.changes:
        return ["the set that is chosen once need not change"]
    lines = [
        f"the independent set has to change {counted(len(swept.changes), 'time')}, where its condition is "
        f"below {swept.limit:.2g} of a new choice's:"
    ]
    lines += [
        f"  - t = {swept.time[k]:.6g} s: {listed(sorted(set(before) - set(after)), _IN_LINE)} "
        f"gives way to {listed(sorted(set(after) - set(before)), _IN_LINE)}"
        for k, before, after in swept.changes[:_SHOWN]
    ]
    return lines


def _warnings(swept: PartitionSweep) -> list[str]:
    if not swept.warnings:
        return [f"no warning: no condition is below {swept.near:.2g}"]
    lines = [
        f"near a singular position, where a condition is below {swept.near:.2g} or a determinant is zero:"
    ]
    for one in swept.warnings[:_SHOWN]:
        warning, silent, verdict = judged(swept, one)
        lines.append(f"  - t = {swept.time[one.first]:.4g} … {swept.time[one.last]:.4g} s: {verdict}")
        lines.append(f"      warn: {', '.join(warning) or 'none'}")
        lines.append(f"      do not: {', '.join(silent) or 'none'}")
    if len(swept.warnings) > _SHOWN:
        lines.append(f"  - … and {len(swept.warnings) - _SHOWN} more; --format json lists all")
    return lines


def judged(swept: PartitionSweep, one: Warned) -> tuple[list[str], list[str], str]:
    """Choices that warn in a stretch, choices that do not, and a remedy; each with its smallest condition.

    Choices have no condition, and are not listed, where bodies have no pose.
    """
    warning: list[str] = []
    silent: list[str] = []
    for name in _WARNING:
        value = getattr(one, name)
        if not math.isfinite(value):
            continue
        low = value < swept.near or name in one.crossed
        crossed = ", determinant through zero" if name in one.crossed else ""
        said = "not solved" if name == "groups" and value == 0 else _number(value)
        (warning if low else silent).append(f"{name} ({said}{crossed})")
    if not math.isfinite(one.whole):
        verdict = "no pose: the groups cannot be closed, so that there is no J to judge"
    elif one.whole < swept.near:
        verdict = f"no choice helps, J itself is singular ({_number(one.whole)})"
    elif not silent:
        verdict = "all choices are poor"
    elif any(text.startswith("structural") for text in warning):
        verdict = "what is driven is at a dead point, other independent coordinates pass it"
    elif warning:
        verdict = "the structural choice passes it"
    else:
        verdict = "no choice is singular"
    return warning, silent, verdict


def _sweep_record(swept: PartitionSweep) -> dict[str, Any]:
    """A sweep as lists, texts and numbers; None where there is no pose."""
    return {
        "mechanism": swept.opened.mechanism.name,
        "method": swept.method,
        "near": swept.near,
        "limit": swept.limit,
        "rank": swept.rank,
        "coordinates": list(swept.opened.coordinates),
        "time": swept.time.tolist(),
        "choices": {
            name: {
                "sets": [list(each) for each in one.sets],
                "which": one.which.tolist(),
                "condition": _all_known(one.condition),
                "singular": _all_known(one.singular),
                "crossings": list(one.crossings),
            }
            for name, one in _by_name(swept)
        },
        "whole": _all_known(swept.whole),
        "groups": {
            name: {"condition": _all_known(swept.groups[:, g]), "status": swept.status[:, g].tolist()}
            for g, name in enumerate(_group_columns(swept))
        },
        "agree": swept.agree.tolist(),
        "changes": [
            {"instant": k, "time": float(swept.time[k]), "before": list(before), "after": list(after)}
            for k, before, after in swept.changes
        ],
        "warnings": [
            {
                "from": float(swept.time[one.first]),
                "to": float(swept.time[one.last]),
                **{name: _known(getattr(one, name)) for name in (*_WARNING, "whole")},
                "crossed": list(one.crossed),
                **dict(zip(("warn", "silent", "verdict"), judged(swept, one), strict=True)),
            }
            for one in swept.warnings
        ],
    }


def _sweep_table(swept: PartitionSweep) -> Table:
    """A row per instant: conditions and singular values of choices, conditions of groups, and the sets."""
    header, columns = ["time"], [swept.time.tolist()]
    for name, one in _by_name(swept):
        header += [f"{name}.condition", f"{name}.singular"]
        columns += [one.condition.tolist(), one.singular.tolist()]
    header += ["whole.condition", *(f"{name}.condition" for name in _group_columns(swept))]
    columns += [swept.whole.tolist(), *swept.groups.T.tolist()]
    header += ["held.independent", "anew.independent"]
    rows = []
    for k, row in enumerate(zip(*columns, strict=True)):
        sets = [" ".join(one.sets[one.which[k]]) for one in (swept.held, swept.anew)]
        rows.append([*(repr(float(value)) for value in row), *sets])
    return Table(tuple(header), rows)


def _by_name(swept: PartitionSweep) -> list[tuple[str, Followed]]:
    return [(name, getattr(swept, name)) for name in ("structural", "once", "held", "anew")]


def _group_columns(swept: PartitionSweep) -> list[str]:
    return [f"SG-{g + 1}" for g in range(swept.groups.shape[1])]


# --- both ------------------------------------------------------------------------------------------


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _all_known(values: Any) -> list[float | None]:
    return [_known(value) for value in values.tolist()]


def _most(found: Partitioning) -> int:
    return _IN_LINE if found.n <= _SHOWN else _OF_LARGE


def _of_many(kind: str, names: Sequence[str], most: int) -> str:
    return f"{kind} ({len(names)})" if len(names) > most else kind
