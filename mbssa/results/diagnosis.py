"""The report of :func:`mbssa.check` as a page and as plain data."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from mbssa.results.tables import WIDE, plain_table, plain_text, summary_head, treatment_lines

if TYPE_CHECKING:
    from rich.console import Console

    from mbssa.singularities.check import Report
    from mbssa.singularities.ranks import Rank
    from mbssa.singularities.treatment import Examined


def verdict(report: Report) -> str:
    """The answer in one line."""
    if report.solvable:
        treated = report.structure.treatment is not None
        return "can be solved" + (", after the treatment above" if treated else "")
    return "cannot be solved as given"


def page(report: Report, console: Console) -> None:
    """Print the whole diagnosis: ranks, what was found, what would help, the verdict."""
    structure = report.structure
    head, *rest = summary_head(structure)
    console.print(head, style="bold", markup=False)
    for line in rest:
        console.print(line, markup=False)
    console.print()
    _print_ranks(report, console)
    _print_groups(report, console)
    for title, lines in (
        ("What was found", [_finding_line(finding) for finding in report.findings]),
        ("What was done", treatment_lines(structure)),
        ("Without a contact", [_contact_line(report, k) for k in range(len(report.contacts))]),
        (_proposals_title(report), [proposal.text for proposal in report.proposals]),
    ):
        if lines:
            console.print(title, style="bold")
            for line in lines:
                console.print(f"  - {line}", markup=False)
            console.print()
    console.print(f"Verdict: {verdict(report)}.", style="bold", markup=False)


def _proposals_title(report: Report) -> str:
    title = "Isostatic substitutes, each verified" if report.solvable else "What would help, each verified"
    if any(proposal.kind == "joints" for proposal in report.proposals):
        title += " (a changed joint for almost every geometry of its new type)"
    return title


def _finding_line(finding: Any) -> str:
    return ("! " if finding.fatal else "") + str(finding.text)


def _contact_line(report: Report, index: int) -> str:
    lost = report.contacts[index]
    mechanism = report.structure.mechanism
    joint = mechanism.joints[lost.joint]
    bodies = sorted({b for part in lost.parts if part.kind == "under" for b in part.bodies})
    names = ", ".join(str(mechanism.bodies[b]) for b in bodies)
    if not lost.missing:
        return f"{joint}: nothing is missing"
    freedoms = "freedom" if lost.missing == 1 else "freedoms"
    return f"{joint}: {lost.missing} {freedoms} too many, of {names}"


def _print_ranks(report: Report, console: Console) -> None:
    table = plain_table(
        ("", "Equations", "Unknowns", "Rank", "Redundant", "Free", "Smallest kept", "Largest dropped"),
        right=("Equations", "Unknowns", "Rank", "Redundant", "Free", "Smallest kept", "Largest dropped"),
        narrow=True,
    )
    mechanism = report.structure.mechanism
    unknowns = mechanism.freedom * (mechanism.n_bodies - 1)
    equations = unknowns - mechanism.mobility
    free = f"{mechanism.mobility}"
    table.add_row("count, undriven", str(equations), str(unknowns), "", "", free, "", "")
    driven = mechanism.mobility - mechanism.n_driven
    table.add_row(
        "count, driven", str(equations + mechanism.n_driven), str(unknowns), "", "", str(driven), "", ""
    )
    for examined in (report.generic, report.numeric):
        if examined is not None:
            for name, rank in (("undriven", examined.constraints), ("driven", examined.all)):
                table.add_row(f"{examined.basis}, {name}", *_rank_cells(rank))
            second = examined.elsewhere
            if second is not None:
                table.add_row("  second configuration, undriven", *_rank_cells(second.constraints))
                table.add_row("  second configuration, driven", *_rank_cells(second.all))
    console.print(table)
    if report.numeric is not None:
        console.print(_assumed(report.numeric), markup=False)
        console.print()


def _assumed(examined: Examined) -> str:
    size = examined.frames.size if examined.frames is not None else 1.0
    precise = f"rounded to {examined.precision * size:.0e} m" if examined.precision else "exact numbers"
    return (
        f"Assumed: {precise}; singular values below {examined.tolerance:.0e} of the largest count as 0; "
        f"lengths divided by {size:.3g} m."
    )


def _rank_cells(rank: Rank) -> tuple[str, ...]:
    kept, dropped = rank.margin
    numbers = (rank.rows, rank.columns, rank.rank, rank.redundant, rank.free)
    return (*map(str, numbers), f"{kept:.1e}", f"{dropped:.1e}" if len(rank.values) > rank.rank else "–")


def _print_groups(report: Report, console: Console) -> None:
    """Ranks of the groups; of a long list only those that fall short."""
    rows = []
    for group, (generic, numeric) in zip(report.structure.groups, report.group_ranks, strict=False):
        short = any(rank is not None and not rank.full for rank in (generic, numeric))
        if short or len(report.group_ranks) <= 30:
            rows.append(
                (
                    str(group.number),
                    ",".join(map(str, group.bodies)),
                    group.type_name,
                    str(generic) if generic is not None else "–",
                    str(numeric) if numeric is not None else "–",
                    f"{numeric.margin[0]:.1e}" if numeric is not None else "–",
                )
            )
    if not rows:
        return
    table = plain_table(
        ("SG", "Bodies", "SG type", "Generic rank", "Numeric rank", "Smallest kept"),
        right=("SG", "Generic rank", "Numeric rank", "Smallest kept"),
    )
    for row in rows[:200]:
        table.add_row(*row)
    console.print(table)


def as_text(report: Report, width: int = WIDE) -> str:
    """The page without colours, as ``print(report)`` shows it."""
    return plain_text(lambda console: page(report, console), width)


def to_dict(report: Report) -> dict[str, Any]:
    """The report as lists, texts and numbers; body numbers and group numbers count from 1."""
    mechanism = report.structure.mechanism
    return {
        "mechanism": mechanism.name,
        "solvable": report.solvable,
        "determined": report.structure.determined,
        "mobility": mechanism.mobility,
        "n_driven": mechanism.n_driven,
        "generic": _examined(report.generic),
        "numeric": _examined(report.numeric),
        "groups": [
            {"number": k + 1, "generic": _rank(generic), "numeric": _rank(numeric)}
            for k, (generic, numeric) in enumerate(report.group_ranks)
        ],
        "findings": [
            {
                "kind": finding.kind,
                "fatal": finding.fatal,
                "text": finding.text,
                "bodies": list(finding.bodies),
                "joints": list(finding.joints),
            }
            for finding in report.findings
        ],
        "treatment": treatment_lines(report.structure),
        "contacts": [
            {
                "joint": mechanism.joint_ids[lost.joint],
                "missing": lost.missing,
                "text": _contact_line(report, k),
            }
            for k, lost in enumerate(report.contacts)
        ],
        "proposals": [
            {
                "kind": proposal.kind,
                "text": proposal.text,
                "size": proposal.size,
                "types": {mechanism.joint_ids[j]: code for j, code in proposal.types},
                "inputs": [
                    f"{joint.id}.{name}"
                    for joint in proposal.apply(mechanism).joints
                    for name in joint.driven
                ]
                if proposal.kind == "inputs"
                else [],
            }
            for proposal in report.proposals
        ],
    }


def as_json(report: Report) -> str:
    """:func:`to_dict` as JSON."""
    return json.dumps(to_dict(report), ensure_ascii=False, indent=2) + "\n"


def _examined(examined: Examined | None) -> dict[str, Any] | None:
    if examined is None:
        return None
    return {
        "undriven": _rank(examined.constraints),
        "driven": _rank(examined.all),
        "second_configuration": _examined(examined.elsewhere),
        "mobility": examined.mobility,
        "dependent_inputs": examined.dependent_drives,
        "singular_pose": examined.singular_pose,
        "dead_point": examined.dead_point,
        "precision": examined.precision * (examined.frames.size if examined.frames is not None else 1.0),
        "tolerance": examined.tolerance,
        "fault": examined.fault,
    }


def _rank(rank: Rank | None) -> dict[str, Any] | None:
    if rank is None:
        return None
    return {
        "rows": rank.rows,
        "columns": rank.columns,
        "rank": rank.rank,
        "redundant": rank.redundant,
        "free": rank.free,
        "singular_values": [value if math.isfinite(value) else None for value in rank.values],
    }
