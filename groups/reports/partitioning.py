"""A coordinate partitioning, and choices of coordinates along a motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.reports.about import quantity, span_text
from mbssa.joints.catalogue import coordinate_unit
from mbssa.reports.table import Columns, Heading, Part, Report, Table, first_lines
from mbssa.reports.table import plain as fields
from mbssa.reports.wording import headline
from mbssa.texts import counted, listed
from mbssa.units import given_in, quantity_text, units_record

if TYPE_CHECKING:
    from groups.partitioning.choice import Partitioning
    from groups.partitioning.sweep import PartitionSweep, Stretch
    from mbssa.arrays import Floats

#: Coordinates, equations and stretches that a page lists; of a larger model it lists only so many first ones.
_SHOWN, _FIRST = 60, 20
#: Names and numbers that a line lists.
_IN_LINE = 24
#: A coordinate below it, in its unit, is shown as zero.
_ROUNDING = 1e-10

_METHODS = {
    "complete": "Gaussian elimination with complete pivoting",
    "qr": "QR with column pivoting",
    "given": "the user's own choice",
}


# --- one configuration -----------------------------------------------------------------------------


def partition_report(found: Partitioning, rivals: Sequence[tuple[str, Partitioning]] = ()) -> Report:
    """Cuts, coordinates with their kinds, what is redundant, and ``rivals`` side by side; CSV has J too."""
    opened, mechanism, record = found.opened, found.mechanism, _record(found, rivals)
    rows, keys = record["coordinates"], ("number", "name", "value", "unit", "kind")

    def line(kind: str, names: Sequence[str]) -> str:
        many = f" ({len(names)})" if len(names) > _IN_LINE else ""
        return f"{kind}{many}: {listed(names, _IN_LINE) or 'none'}"

    columns: Columns = {
        "q": ("number", "d"), "Coordinate": ("name", ""),
        "Value": (lambda row: row["value"] if abs(row["value"]) > _ROUNDING else 0.0, ".4g"),
        "Unit": ("unit", ""), "Kind": ("kind", ""),
    }  # fmt: skip
    rest = "… and {} more coordinates; --format json or csv has all; --output FILE keeps it"
    size = quantity_text(opened.frames.size, "m", mechanism.units, ".4g")
    number = {row["name"]: str(row["number"]) for row in rows}
    sets = {"qu": found.independent, "qv": found.dependent, "qc": found.driven}
    texts = [f"set_{kind}([{listed([number[n] for n in own], _IN_LINE)}])" for kind, own in sets.items()]
    parts: list[Part] = [
        Heading(headline(mechanism)),
        f"{counted(found.n, 'coordinate')} in the tree, {counted(len(opened.equations), 'equation')} "
        f"at the cuts, {found.rank} independent",
        f"{counted(len(found.cuts), 'cut')}: {listed(found.cuts, _IN_LINE)}"
        if found.cuts
        else "no loop to cut",
    ]
    if rods := [cut["rod"] for cut in record["cuts"] if cut["rod"]]:
        names = listed(rods, _IN_LINE)
        parts.append(f"taken out as rods without mass: {names}; how they spin is no coordinate")
    if found.time is not None:
        parts.append(f"at the instant t = {found.time:.6g} s of the motion")
    parts += [
        f"{_METHODS[found.method]}, tolerance {found.tolerance:.2g}; "
        f"in J lengths are divided by {size}, angles are in rad",
        Table.of(rows, columns, shown=_FIRST if found.n > _SHOWN else None, rest=rest),
        line("u, independent", found.independent),
        line("v, dependent", found.dependent),
        line("driven", found.driven + found.prescribed),
        "  ".join(texts),
    ]
    if found.rank:
        quality = f"condition {found.condition:.2g}, smallest pivot {found.smallest_pivot:.2g}"
        parts.append(f"J_v: {quality}; 1 is best, 0 singular")
    if found.redundant:
        parts.append(line("redundant here", found.redundant))
    if found.bound:
        bound = f"{counted(found.bound, 'combination')} of them cannot be prescribed here"
        parts.append(f"the driven coordinates are bound by the cuts: {bound}")
    table: Columns = {
        "Choice of u": ("choice", ""), "u": (lambda rival: listed(rival["independent"], 8) or "none", ""),
        "Condition": (
            lambda rival: f"{rival['condition']:.2g}, {rival['bound']} bound".removesuffix(", 0 bound"), ">"
        ),
        "Smallest pivot": ("smallest_pivot", ".2g"),
    }  # fmt: skip
    parts.append(Table.of([{"choice": name, **rival} for name, rival in record["rivals"].items()], table))
    sheet = Table(
        (*map(str.lower, columns), *opened.equations),
        range(found.n),
        lambda k: [*(str(rows[k][key]) for key in keys), *map(repr, found.jacobian[:, k].tolist())],
    )
    return Report(parts, lambda: record, sheet)


def _record(found: Partitioning, rivals: Sequence[tuple[str, Partitioning]]) -> dict[str, Any]:
    """A partitioning as lists, texts and numbers."""
    mechanism, opened, quality = found.mechanism, found.opened, "condition smallest_pivot bound"
    kinds = dict.fromkeys(found.dependent, "dependent") | dict.fromkeys(found.driven, "driven")
    of_coordinates = zip(opened.coordinates, found.value.tolist(), strict=True)
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
        "coordinates": [
            {"number": k, **quantity(name, coordinate_unit(name), mechanism.units, value=value)}
            | {"kind": kinds.get(name, "independent")}
            for k, (name, value) in enumerate(of_coordinates, 1)
        ],
        **fields(found, f"independent dependent driven prescribed redundant {quality}"),
        "equations": opened.equations,
        "jacobian": found.jacobian,
        "rivals": {
            name: {"independent": [*one.driven, *one.prescribed, *one.independent]}
            | fields(one, f"dependent {quality}")
            for name, one in rivals
        },
    }


# --- along a motion --------------------------------------------------------------------------------


def sweep_report(swept: PartitionSweep) -> Report:
    """Each choice with its worst position, the warnings of each, and the changes of the set."""
    opened, time, rows = swept.opened, swept.time, list[dict[str, Any]]()
    conditions, choices = swept.conditions, swept.choices
    for name, title in {
        "structural": "structural: driven coordinates",
        "once": f"once: {'as given' if swept.given else 'at the reference'}",
        "held": "held: changed where it must", "anew": "anew: at every instant",
        "groups": "structural groups", "whole": "any choice: all of J",
    }.items():  # fmt: skip
        values, one = conditions[name], choices.get(name)
        row: dict[str, Any] = {"title": title}
        if one is not None:
            row |= {"u": listed(one.sets[0], 6) if len(one.sets) == 1 else None, "sets": len(one.sets)}
        if np.isfinite(values).any():
            at = int(np.nanargmin(values))
            condition = f"{values[at]:.2g}" if values[at] or name != "groups" else "not solved"
            row |= {"condition": condition, "t": time[at], "singular": one and one.singular[at]}
        rows.append(row)
    table = {
        "Choice of u": ("title", ""), "u": ("u", ""), "Sets": ("sets", "d"), "Condition": ("condition", ">"),
        "at t": ("t", ".4g"), "Singular value": ("singular", ".2g"),
    }  # fmt: skip
    warnings, changes = [(one, *verdict_of(swept, one)) for one in swept.warnings], list[str]()
    for k, before, after in swept.changes:
        gone, come = (listed(sorted({*a} - {*b}), _IN_LINE) for a, b in ((before, after), (after, before)))
        changes.append(f"  - t = {time[k]:.6g} s: {gone} gives way to {come}")
    times = f"the independent set has to change {counted(len(changes), 'time')}"
    change = f"{times}, where its condition is below {swept.limit:.2g} of a new choice's:"
    never = "the set that is chosen once need not change"
    near = f"where a condition is below {swept.near:.2g} or a determinant is zero"
    none = f"no warning: no condition is below {swept.near:.2g}"
    stretches = [
        f"  - t = {time[one.first]:.4g} … {time[one.last]:.4g} s: {verdict}\n"
        f"      warn: {', '.join(warn) or 'none'}\n      do not: {', '.join(silent) or 'none'}"
        for one, warn, silent, verdict in warnings
    ]
    parts: list[Part] = [
        Heading(headline(opened.mechanism)),
        f"{counted(len(opened.coordinates), 'coordinate')}, {listed(opened.cut_texts, _IN_LINE) or 'no cut'}",
        f"{span_text(time)}; {swept.rank} dependent; {_METHODS[swept.method]}",
        Table.of(rows, table),
        f"the choice made anew is the structural one at {swept.agree.sum()} of {len(time)} instants",
        *[change if changes else never, *first_lines(changes, _SHOWN)],
        *[f"near a singular position, {near}:" if warnings else none, *first_lines(stretches, _SHOWN)],
    ]
    columns: dict[str, Sequence[Any] | Floats] = {"time": time}
    for name, one in choices.items():
        columns |= {f"{name}.condition": one.condition, f"{name}.singular": one.singular}
    columns["whole.condition"] = swept.whole
    columns |= {f"SG-{g + 1}.condition": values for g, values in enumerate(swept.groups.T)}
    for name in ("held", "anew"):
        columns[f"{name}.independent"] = [" ".join(choices[name].sets[k]) for k in choices[name].which]
    sheet = Table(tuple(columns), range(len(time)), lambda k: [str(of[k]) for of in columns.values()])

    def record() -> dict[str, Any]:
        keys = "sets which condition singular crossings"
        of_groups = enumerate(zip(swept.groups.T, swept.status.T, strict=True), 1)
        return {
            "mechanism": opened.mechanism.name,
            "coordinates": opened.coordinates,
            **fields(swept, "method near limit rank time whole agree"),
            "choices": {name: fields(one, keys) for name, one in choices.items()},
            "groups": {f"SG-{g}": {"condition": at, "status": status} for g, (at, status) in of_groups},
            "changes": [
                {"instant": k, "time": time[k], "before": before, "after": after}
                for k, before, after in swept.changes
            ],
            "warnings": [
                {"from": time[one.first], "to": time[one.last], **one.lowest, "crossed": one.crossed}
                | {"warn": warn, "silent": silent, "verdict": verdict}
                for one, warn, silent, verdict in warnings
            ],
        }

    return Report(parts, record, sheet)


def verdict_of(swept: PartitionSweep, one: Stretch) -> tuple[list[str], list[str], str]:
    """Choices that warn in a stretch, choices that do not, and a remedy; each with its smallest condition."""
    # Choices have no condition, and are not listed, where bodies have no pose.
    warning, silent = list[str](), list[str]()
    whole = one.lowest["whole"]
    for name, value in one.lowest.items():
        if name != "whole" and math.isfinite(value):
            crossed = ", determinant through zero" if name in one.crossed else ""
            text = "not solved" if name == "groups" and value == 0 else f"{value:.2g}"
            (warning if value < swept.near or crossed else silent).append(f"{name} ({text}{crossed})")
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
