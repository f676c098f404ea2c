"""The answer of :func:`mbssa.check`: ranks, findings, proposals, the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbssa.reports.structure import treatment_lines
from mbssa.reports.table import Bad, Columns, Good, Heading, Part, Report, Table, plain
from mbssa.reports.wording import head
from mbssa.units import given_in, quantity_text, units_record

if TYPE_CHECKING:
    from mbssa.analysis.check import ContactLost
    from mbssa.analysis.check import Report as Check
    from mbssa.singularities.ranks import Rank
    from mbssa.singularities.redundancy import Examined

#: Groups up to which each has a row; of more, only those whose rank falls short, at most so many.
_EACH, _SHOWN = 30, 200


def check_report(check: Check) -> Report:
    """Ranks, findings, proposals, verdict."""
    structure = check.structure
    parts: list[Part] = [*head(structure.mechanism), "", _rank_table(check)]
    if check.numeric is not None:
        parts += [_assumed(check.numeric), ""]
    parts.append(_group_table(check))
    helps = "Exactly constrained (isostatic) alternatives" if check.solvable else "What would help"
    changed = any(proposal.kind == "joints" for proposal in check.proposals)
    generic = " (a changed joint for almost every geometry of its new type)" if changed else ""
    for title, lines in (
        ("What was found", ["! " * finding.fatal + finding.text for finding in check.findings]),
        ("What was done", treatment_lines(structure)),
        ("Without a contact", [_contact_text(check, lost) for lost in check.contacts]),
        (f"{helps}, each verified{generic}", [proposal.text for proposal in check.proposals]),
    ):
        if lines:
            parts += [Heading(title), *(f"  - {line}" for line in lines), ""]
    line = Good if check.solvable else Bad
    return Report([*parts, line(f"Verdict: {verdict(check)}.")], lambda: to_dict(check))


def verdict(check: Check) -> str:
    """The answer in one line."""
    if check.solvable:
        treated = check.structure.treatment is not None
        return "can be solved" + (", after the treatment above" if treated else "")
    if check.structure.determined and all(f.kind == "unread" for f in check.findings if f.fatal):
        return "solvable as far as the file was read, which is not all that its answers depend on"
    return "cannot be solved as given"


def _contact_text(check: Check, lost: ContactLost) -> str:
    mechanism = check.structure.mechanism
    joint = mechanism.joints[lost.joint]
    bodies = sorted({b for part in lost.parts if part.kind == "under" for b in part.bodies})
    names = ", ".join(str(mechanism.bodies[b]) for b in bodies)
    if not lost.missing:
        return f"{joint}: nothing is missing"
    freedoms = "freedom" if lost.missing == 1 else "freedoms"
    return f"{joint}: {lost.missing} {freedoms} too many, of {names}"


def _rank_table(check: Check) -> Table:
    """A row for each kind of rank without drives, and one with them."""
    mechanism = check.structure.mechanism
    unknowns = mechanism.freedom * (mechanism.n_bodies - 1)
    counted = [
        {"rows": unknowns - mechanism.mobility + n, "columns": unknowns, "free": mechanism.mobility - n}
        for n in (0, mechanism.n_driven)
    ]
    found: list[tuple[str, list[dict[str, Any]]]] = [("count", counted)]
    for examined in filter(None, (check.generic, check.numeric)):
        for name, one in ((examined.basis, examined), ("perturbed configuration", examined.elsewhere)):
            if one is not None:
                found.append((name, [_rank_row(one.constraints), _rank_row(one.all)]))
    columns: Columns = {
        "": ("name", ""), "Equations": ("rows", "d"), "Unknowns": ("columns", "d"), "Rank": ("rank", "d"),
        "Redundant": ("redundant", "d"), "Free": ("free", "d"), "Smallest retained": ("kept", ".1e"),
        "Largest discarded": ("dropped", ">"),
    }  # fmt: skip
    rows, narrow = [], []
    for name, both in found:
        states = [*zip(("undriven", "driven"), both, strict=True)]
        rows += [{"name": f"{name}, {state}", **row} for state, row in states]
        narrow += [{"name": name.split()[0]}, *({"name": state, **row} for state, row in states)]
    short = Table.of(narrow, columns, "", tight=True)
    return Table.of(rows, columns, "", tight=True, narrow=short)


def _rank_row(rank: Rank) -> dict[str, Any]:
    kept, dropped = rank.margin
    largest = f"{dropped:.1e}" if len(rank.values) > rank.rank else "–"
    return {**plain(rank, "rows columns rank redundant free"), "kept": kept, "dropped": largest}


def _assumed(examined: Examined) -> str:
    size, units = examined.size, examined.mechanism.units
    digits = quantity_text(examined.precision * size, "m", units, ".0e")
    precise = f"rounded to {digits}" if examined.precision else "exact numbers"
    return (
        f"Assumed: {precise}; singular values below {examined.tolerance:.0e} of the largest count as 0; "
        f"lengths divided by {quantity_text(size, 'm', units, '.3g')}."
    )


def _group_table(check: Check) -> Table:
    """Ranks of the groups; of a long list only those that fall short."""
    rows = [
        (group, generic, numeric)
        for group, (generic, numeric) in zip(check.structure.groups, check.group_ranks, strict=False)
        if len(check.group_ranks) <= _EACH
        or any(rank is not None and not rank.full for rank in (generic, numeric))
    ]
    columns: Columns = {
        "SG": (lambda row: row[0].number, "d"), "Bodies": (lambda row: row[0].bodies, ""),
        "SG type": (lambda row: row[0].type_name, ""),
        "Generic rank": (lambda row: row[1] and str(row[1]), ">"),
        "Numeric rank": (lambda row: row[2] and str(row[2]), ">"),
        "Smallest retained": (lambda row: row[2] and row[2].margin[0], ".1e"),
    }  # fmt: skip
    return Table.of(rows[:_SHOWN], columns)


def to_dict(check: Check) -> dict[str, Any]:
    """The check as lists, texts and numbers; body numbers and group numbers count from 1."""
    mechanism = check.structure.mechanism
    return {
        "mechanism": mechanism.name,
        "solvable": check.solvable,
        "determined": check.structure.determined,
        **plain(mechanism, "mobility n_driven"),
        "units": units_record(mechanism.units),
        "generic": _examined(check.generic),
        "numeric": _examined(check.numeric),
        "groups": [
            {"number": k + 1, "generic": _rank(generic), "numeric": _rank(numeric)}
            for k, (generic, numeric) in enumerate(check.group_ranks)
        ],
        "findings": [plain(finding, "kind fatal text bodies joints") for finding in check.findings],
        "treatment": treatment_lines(check.structure),
        "contacts": [
            {
                "joint": mechanism.joint_ids[lost.joint],
                "missing": lost.missing,
                "text": _contact_text(check, lost),
            }
            for lost in check.contacts
        ],
        "proposals": [
            {
                **plain(proposal, "kind text size"),
                "types": {mechanism.joint_ids[j]: code for j, code in proposal.types},
                "inputs": list(proposal.apply(mechanism).driven_coordinates)
                if proposal.kind == "inputs"
                else [],
            }
            for proposal in check.proposals
        ],
    }


def _examined(examined: Examined | None) -> dict[str, Any] | None:
    if examined is None:
        return None
    return {
        "undriven": _rank(examined.constraints),
        "driven": _rank(examined.all),
        "second_configuration": _examined(examined.elsewhere),
        "mobility": examined.mobility,
        "dependent_inputs": examined.dependent_drives,
        **plain(examined, "singular_pose dead_point"),
        "precision": examined.precision * examined.size / given_in("m", examined.mechanism.units)[1],
        **plain(examined, "tolerance fault"),
    }


def _rank(rank: Rank | None) -> dict[str, Any] | None:
    if rank is None:
        return None
    values = plain(rank, "values")["values"]
    return {**plain(rank, "rows columns rank redundant free"), "singular_values": values}
