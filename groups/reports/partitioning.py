"""A coordinate partitioning, and choices of coordinates along a motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.reports.about import quantity, span_text
from mbssa.reports.table import Columns, Heading, Part, Report, Table
from mbssa.reports.table import plain as fields
from mbssa.reports.wording import headline
from mbssa.texts import counted, listed
from mbssa.units import given_in, quantity_text, units_record

if TYPE_CHECKING:
    from groups.partitioning.choice import Partitioning
    from groups.partitioning.sweep import Followed, PartitionSweep, Stretch
    from mbssa.arrays import Floats

#: Coordinates, equations and stretches that a page lists; of a larger model it lists only so many first ones.
_SHOWN = 60
_FIRST = 20

#: Names and numbers that a line lists, of a model that a page lists and of a larger one.
_IN_LINE, _OF_LARGE = 24, 8

#: A coordinate below it, m or rad, is shown as zero.
_ROUNDING = 1e-12

_METHODS = {
    "complete": "Gaussian elimination with complete pivoting",
    "qr": "QR with column pivoting",
    "given": "the user's own choice",
}

#: Choices of a sweep, in words; ``once`` may be the user's.
_CHOICES = {
    "structural": "driven coordinates",
    "once": "at the reference",
    "held": "changed where it must",
    "anew": "at every instant",
}


# --- one configuration -----------------------------------------------------------------------------


def partition_report(found: Partitioning, rivals: Sequence[tuple[str, Partitioning]] = ()) -> Report:
    """Cuts, coordinates with their kinds, what is redundant, and ``rivals`` side by side; CSV has J too."""
    rows = _rows(found)
    columns = {
        "q": ("number", "d"), "Coordinate": ("name", ""), "Value": ("value", ".4g"), "Unit": ("unit", ""),
        "Kind": ("kind", ""),
    }  # fmt: skip

    def sheet_cells(k: int) -> list[str]:
        return [
            *(str(rows[k][key]) for key, _ in columns.values()),
            *map(repr, found.jacobian[:, k].tolist()),
        ]

    rounded = [
        row if abs(value) > _ROUNDING else row | {"value": 0.0}
        for row, value in zip(rows, found.value, strict=True)
    ]
    rest = "… and {} more coordinates; --format json or csv has all; --output FILE keeps it"
    coordinates = Table.of(rounded, columns, shown=_FIRST if found.n > _SHOWN else None, rest=rest)
    head = Heading(headline(found.mechanism))
    parts: list[Part] = [head, *_head(found), coordinates, *_verdict(found), _rival_table(rivals)]
    sheet = Table((*map(str.lower, columns), *found.opened.equations), range(found.n), sheet_cells)
    return Report(parts, lambda: to_dict(found, rivals), sheet)


def _head(found: Partitioning) -> list[str]:
    opened, most = found.opened, _most(found)
    rods = [opened.mechanism.body_name(cut.rod) for cut in opened.cuts if cut.rod >= 0]
    cuts = f"{counted(len(found.cuts), 'cut')}: {listed(found.cuts, most)}"
    lines = [
        f"{counted(found.n, 'coordinate')} in the tree, {counted(len(opened.equations), 'equation')} "
        f"at the cuts, {found.rank} independent",
        cuts if found.cuts else "no loop to cut",
    ]
    if rods:
        lines.append(f"taken out as rods without mass: {listed(rods, most)}; how they spin is no coordinate")
    if found.time is not None:
        lines.append(f"at the instant t = {found.time:.6g} s of the motion")
    size = quantity_text(opened.frames.size, "m", found.mechanism.units, ".4g")
    by = f"{_METHODS[found.method]}, tolerance {found.tolerance:.2g}"
    return [*lines, f"{by}; in J lengths are divided by {size}, angles are in rad"]


def _rows(found: Partitioning) -> list[dict[str, Any]]:
    kinds = dict.fromkeys(found.dependent, "dependent") | dict.fromkeys(found.driven, "driven")
    columns = found.opened.coordinates, found.opened.units, found.value.tolist()
    return [
        {
            "number": k,
            **quantity(name, unit, found.mechanism.units, value=value),
            "kind": kinds.get(name, "independent"),
        }
        for k, (name, unit, value) in enumerate(zip(*columns, strict=True), 1)
    ]


def _verdict(found: Partitioning) -> list[str]:
    most = _most(found)

    def line(kind: str, names: Sequence[str]) -> str:
        many = f" ({len(names)})" if len(names) > most else ""
        return f"{kind}{many}: {listed(names, most) or 'none'}"

    numbers = {name: str(k + 1) for k, name in enumerate(found.opened.coordinates)}
    sets = (("qu", found.independent), ("qv", found.dependent), ("qc", found.driven))
    lines = [
        line("u, independent", found.independent),
        line("v, dependent", found.dependent),
        line("driven", found.driven + found.prescribed),
        "  ".join(f"set_{kind}([{listed([numbers[name] for name in names], most)}])" for kind, names in sets),
    ]
    if found.rank:
        quality = f"condition {found.condition:.2g}, smallest pivot {found.smallest_pivot:.2g}"
        lines.append(f"J_v: {quality}; 1 is best, 0 singular")
    if found.redundant:
        lines.append(line("redundant here", found.redundant))
    if found.bound:
        bound = f"{counted(found.bound, 'combination')} of them cannot be prescribed here"
        lines.append(f"the driven coordinates are bound by the cuts: {bound}")
    return lines


def _rival_table(rivals: Sequence[tuple[str, Partitioning]]) -> Table:
    def condition(rival: tuple[str, Partitioning]) -> str:
        bound = f", {rival[1].bound} bound" if rival[1].bound else ""
        return f"{rival[1].condition:.2g}{bound}"

    columns: Columns = {
        "Choice of u": (lambda rival: rival[0], ""),
        "u": (lambda rival: listed(_independent(rival[1]), 8) or "none", ""),
        "Condition": (condition, ">"), "Smallest pivot": (lambda rival: rival[1].smallest_pivot, ".2g"),
    }  # fmt: skip
    return Table.of(rivals, columns)


def _independent(found: Partitioning) -> tuple[str, ...]:
    """Driven coordinates, and the independent ones."""
    return *found.driven, *found.prescribed, *found.independent


def _most(found: Partitioning) -> int:
    return _IN_LINE if found.n <= _SHOWN else _OF_LARGE


def to_dict(found: Partitioning, rivals: Sequence[tuple[str, Partitioning]] = ()) -> dict[str, Any]:
    """A partitioning as lists, texts and numbers."""
    mechanism, opened, quality = found.mechanism, found.opened, "condition smallest_pivot bound"
    return {
        "mechanism": mechanism.name,
        **fields(found, "method tolerance time"),
        "size": opened.frames.size / given_in("m", mechanism.units)[1],
        **fields(found, "n rank"),
        "cuts": [
            {
                "kind": cut.kind,
                "joints": [mechanism.joint_ids[j] for j in cut.joints],
                "rod": mechanism.body_name(cut.rod) if cut.rod >= 0 else None,
                "equations": cut.equations,
            }
            for cut in opened.cuts
        ],
        "units": units_record(mechanism.units),
        "coordinates": _rows(found),
        **fields(found, f"independent dependent driven prescribed redundant {quality}"),
        "equations": opened.equations,
        "jacobian": found.jacobian,
        "rivals": {
            name: {"independent": _independent(one), **fields(one, f"dependent {quality}")}
            for name, one in rivals
        },
    }


# --- along a motion --------------------------------------------------------------------------------


def sweep_report(swept: PartitionSweep) -> Report:
    """Each choice with its worst position, the warnings of each, and the changes of the set."""
    opened = swept.opened
    cuts = [f"{cut.kind} cut at {opened.cut_name(cut)}" for cut in opened.cuts]
    texts = _CHOICES | ({"once": "as given"} if swept.given else {})
    rows = [
        _cells(swept, f"{name}: {texts[name]}", one.condition, one) for name, one in swept.choices.items()
    ]
    rows.append(_cells(swept, "structural groups", swept.worst_group, zero="not solved"))
    rows.append(_cells(swept, "any choice: all of J", swept.whole))
    right = ("Sets", "Condition", "at t", "Singular value")
    parts: tuple[Part, ...] = (
        Heading(headline(opened.mechanism)),
        f"{counted(len(opened.coordinates), 'coordinate')}, {listed(cuts, _IN_LINE) or 'no cut'}",
        f"{span_text(swept.time)}; {swept.rank} dependent; {_METHODS[swept.method]}",
        Table(("Choice of u", "u", *right), rows, right=right),
        f"the choice made anew is the structural one at {swept.agree.sum()} of {len(swept.time)} instants",
        *_changes(swept),
        *_warnings(swept),
    )
    return Report(parts, lambda: _sweep_record(swept), _sweep_table(swept))


def _cells(
    swept: PartitionSweep, title: str, values: Floats, one: Followed | None = None, zero: str = "0"
) -> tuple[str, ...]:
    """A choice where its condition is smallest: title, u, sets, condition, time and singular value."""
    u = listed(one.sets[0], 6) if one is not None and len(one.sets) == 1 else "–"
    sets = "–" if one is None else str(len(np.unique(one.which)))
    if not np.isfinite(values).any():
        return title, u, sets, "–", "–", "–"
    at = int(np.nanargmin(values))
    condition = f"{values[at]:.2g}" if values[at] else zero
    return title, u, sets, condition, f"{swept.time[at]:.4g}", f"{one.singular[at]:.2g}" if one else "–"


def _changes(swept: PartitionSweep) -> list[str]:
    if not swept.changes:
        return ["the set that is chosen once need not change"]
    return [
        f"the independent set has to change {counted(len(swept.changes), 'time')}, where its condition is "
        f"below {swept.limit:.2g} of a new choice's:",
        *(
            f"  - t = {swept.time[k]:.6g} s: {listed(sorted(set(before) - set(after)), _IN_LINE)} "
            f"gives way to {listed(sorted(set(after) - set(before)), _IN_LINE)}"
            for k, before, after in swept.changes[:_SHOWN]
        ),
    ]


def _warnings(swept: PartitionSweep) -> list[str]:
    if not swept.warnings:
        return [f"no warning: no condition is below {swept.near:.2g}"]
    lines = [
        f"near a singular position, where a condition is below {swept.near:.2g} or a determinant is zero:"
    ]
    for one in swept.warnings[:_SHOWN]:
        warning, silent, verdict = verdict_of(swept, one)
        lines.append(f"  - t = {swept.time[one.first]:.4g} … {swept.time[one.last]:.4g} s: {verdict}")
        lines.append(f"      warn: {', '.join(warning) or 'none'}")
        lines.append(f"      do not: {', '.join(silent) or 'none'}")
    if len(swept.warnings) > _SHOWN:
        lines.append(f"  - … and {len(swept.warnings) - _SHOWN} more; --format json lists all")
    return lines


def verdict_of(swept: PartitionSweep, one: Stretch) -> tuple[list[str], list[str], str]:
    """Choices that warn in a stretch, choices that do not, and a remedy; each with its smallest condition."""
    # Choices have no condition, and are not listed, where bodies have no pose.
    warning, silent = list[str](), list[str]()
    choices = dict(one.lowest)
    whole = choices.pop("whole")
    for name, value in choices.items():
        if not math.isfinite(value):
            continue
        low = value < swept.near or name in one.crossed
        crossed = ", determinant through zero" if name in one.crossed else ""
        text = "not solved" if name == "groups" and value == 0 else f"{value:.2g}"
        (warning if low else silent).append(f"{name} ({text}{crossed})")
    if not math.isfinite(whole):
        verdict = "no pose: the groups cannot be closed, so that there is no J to judge"
    elif whole < swept.near:
        verdict = f"no choice helps, J itself is singular ({whole:.2g})"
    elif not silent:
        verdict = "all choices are poor"
    elif any(text.startswith("structural") for text in warning):
        verdict = "the driven coordinates are at a dead point; other independent coordinates pass it"
    elif warning:
        verdict = "the structural choice passes it"
    else:
        verdict = "no choice is singular"
    return warning, silent, verdict


def _sweep_record(swept: PartitionSweep) -> dict[str, Any]:
    """A sweep as lists, texts and numbers; None where there is no pose."""
    keys, time, opened = "sets which condition singular crossings", swept.time, swept.opened
    of_groups = enumerate(zip(swept.groups.T, swept.status.T, strict=True), 1)
    return {
        "mechanism": opened.mechanism.name,
        "coordinates": opened.coordinates,
        **fields(swept, "method near limit rank time whole agree"),
        "choices": {name: fields(one, keys) for name, one in swept.choices.items()},
        "groups": {f"SG-{g}": {"condition": at, "status": status} for g, (at, status) in of_groups},
        "changes": [
            {"instant": k, "time": time[k], "before": before, "after": after}
            for k, before, after in swept.changes
        ],
        "warnings": [
            {"from": time[one.first], "to": time[one.last], **one.lowest, "crossed": one.crossed}
            | dict(zip(("warn", "silent", "verdict"), verdict_of(swept, one), strict=True))
            for one in swept.warnings
        ],
    }


def _sweep_table(swept: PartitionSweep) -> Table:
    """A row per instant: conditions and singular values of choices, conditions of groups, and the sets."""
    columns: dict[str, Any] = {"time": swept.time}
    for name, one in swept.choices.items():
        columns |= {f"{name}.condition": one.condition, f"{name}.singular": one.singular}
    columns["whole.condition"] = swept.whole
    columns |= {f"SG-{g + 1}.condition": values for g, values in enumerate(swept.groups.T)}
    numbers = np.column_stack(list(columns.values()))

    def cells(k: int) -> list[str]:
        sets = [" ".join(one.sets[one.which[k]]) for one in (swept.held, swept.anew)]
        return [*map(repr, numbers[k].tolist()), *sets]

    return Table((*columns, "held.independent", "anew.independent"), range(len(numbers)), cells)
