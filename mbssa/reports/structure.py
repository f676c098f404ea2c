"""Structural groups: the tables of the paper (8, 9 and their kin), and graphs for other programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from mbssa.group_library import LIBRARIES
from mbssa.reports.table import SHOWN, Bad, Columns, Good, Report, Table, plain
from mbssa.reports.wording import head
from mbssa.texts import bodies_text, counted, listed

if TYPE_CHECKING:
    from mbssa.decomposition.partition import Part
    from mbssa.structure import Group, Structure

Format = Literal["table", "json", "csv", "markdown", "dot", "graphml"]


def structure_report(structure: Structure) -> Report:
    """Summary, table of groups, table of group types."""
    rest = "… and {} more groups; --format csv lists them all"
    groups = Table.of(structure.groups, _COLUMNS, shown=SHOWN, rest=rest)
    groups = replace(groups, narrow=replace(groups, row=_narrow_row, tight=True))
    header, rows = type_rows(structure)
    types = Table(header, rows, right=header[1:])
    return Report((*summary_lines(structure), groups, types), lambda: to_dict(structure), sheet=groups)


def export(structure: Structure, form: Format) -> str:
    """Text of a structure in one format."""
    if form not in get_args(Format):
        raise ValueError(f"format {form!r} is unknown; write one of {', '.join(get_args(Format))}")
    if form == "dot":
        return as_dot(structure)
    return as_graphml(structure) if form == "graphml" else structure_report(structure).export(form)


def _pairs(name: str) -> Callable[[Group], str]:
    """Kinematic pairs of a group in the paper's format; a dash for none."""
    return lambda group: "".join(f"{pair}." for pair in getattr(group, name)) or "–"


#: The paper's columns, then number of driven coordinates, level and predecessors of the group.
_COLUMNS: Columns = {
    "SG": ("number", "d"), "Bodies": ("bodies", ""), "Num bodies": (lambda group: len(group.bodies), "d"),
    "SG type": ("type_name", ""), "DOFs from Ext KP": (_pairs("external"), ""),
    "Int KP": (_pairs("internal"), ""), "DOFs to Ext KP": (_pairs("assigned"), ""),
    "Driven": (lambda group: group.n_driven or None, "d"), "Level": ("level", "d"),
    "Needs": ("depends_on", ""),
}  # fmt: skip


def group_row(group: Group) -> tuple[str, ...]:
    """One row of Table 8 as texts."""
    return tuple(Table.of((), _COLUMNS).cells(group))


def _narrow_row(group: Group) -> tuple[str, ...]:
    """The row for a narrow screen: each pair, and some bodies, on a line of their own."""
    return tuple(cell.strip(".").replace(".", "\n").replace(",", ", ") for cell in group_row(group))


def type_rows(structure: Structure) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of Table 9: group types, how many, and 1 or 0 for each library."""
    header = ("SG type", "Num of SGs", *(f"in {name}" for name in LIBRARIES))
    rows = [
        (name, str(count), *(str(int(name in types)) for types in LIBRARIES.values()))
        for name, count in structure.types.items()
    ]
    return header, rows


def summary_lines(structure: Structure) -> list[str]:
    """The mechanism, its mobility and the verdict, above the tables."""
    m = structure.mechanism
    lines = head(m)
    groups = counted(structure.n_groups, "structural group")
    if structure.determined:
        lines.append(Good(f"determined: {groups} in {counted(len(structure.levels), 'level')}"))
    else:
        lines.append(Bad(f"not determined: {groups} found, and"))
        if structure.unresolved:
            lines.append(f"  not searched to the end: {bodies_text(m, structure.unresolved)}")
        lines += [f"  {part_sentence(structure, part)}" for part in structure.parts[:50]]
        if len(structure.parts) > 50:
            lines.append(f"  … and {len(structure.parts) - 50} more parts")
    lines += [f"  {line}" for line in treatment_lines(structure)]
    if structure.note:
        lines.append(f"note: {structure.note}")
    return lines


def treatment_lines(structure: Structure) -> list[str]:
    """Constraints left out and rotations locked so that a mechanism could be decomposed."""
    treatment = structure.treatment
    if treatment is None:
        return []
    m = structure.mechanism
    lines = []
    if treatment.dropped:
        by_joint: dict[int, list[str]] = {}
        for dropped in treatment.dropped:
            by_joint.setdefault(dropped.joint, []).append(dropped.equation)
        named = [f"{m.joints[j]} ({', '.join(names)})" for j, names in by_joint.items()]
        redundant = counted(len(treatment.dropped), "redundant constraint")
        lines.append(f"{redundant} left out: {listed(named)}")
    for part in treatment.parts:
        lines.append(f"{part.kind} part counted with B = 3: {bodies_text(m, part.bodies)}")
    for spin in treatment.passive_rotations:
        lines.append(f"passive rotation locked: {bodies_text(m, spin.bodies)}")
    return lines


def part_sentence(structure: Structure, part: Part, *, advise: bool = True) -> str:
    """The fault of one part, in a sentence that names bodies, joints and the number of units."""
    m = structure.mechanism
    joints = []
    for joint in (m.joints[j] for j in part.joints):
        joints.append(f"{joint} (driven: {', '.join(joint.driven)})" if joint.driven else str(joint))
    bodies, by, units = bodies_text(m, part.bodies), listed(joints), part.units
    if part.kind == "over" and part.rigid:
        return f"over-constrained by {units}: {bodies} hold each other more than rigidly, through {by}"
    if part.kind == "over":
        advice = f"; release {counted(units, 'coordinate')} or drive as many fewer"
        return f"over-constrained by {units}: {bodies}, bound by {by}{advice * advise}"
    if part.rigid:
        rigid = listed([str(b + 1) for b in part.rigid])
        return f"under-constrained by {units}: {bodies}, because {rigid} move as one body"
    advice = f"; drive {counted(units, 'more coordinate')} or add as many constraints"
    return f"under-constrained by {units}: {bodies}, held by {by}{advice * advise}"


def to_dict(structure: Structure) -> dict[str, Any]:
    """Content of a ``Structure`` as lists, texts and numbers."""
    # Body numbers and group numbers count from 1; pairs are written as in the paper's tables.
    mechanism = structure.mechanism
    return {
        "mechanism": {
            **plain(mechanism, "name title space n_bodies n_joints mobility n_driven"),
            "body_names": [body.name for body in mechanism.bodies],
        },
        **plain(structure, "method determined note"),
        "groups": [
            {
                **plain(group, "number bodies type_name driven"),
                **{
                    pairs: list(map(str, getattr(group, pairs)))
                    for pairs in ("external", "internal", "assigned")
                },
                **plain(group, "depends_on level"),
            }
            for group in structure.groups
        ],
        **plain(structure, "levels"),
        "types": [
            {
                "type_name": name,
                "count": count,
                "in_library": {library: name in types for library, types in LIBRARIES.items()},
            }
            for name, count in structure.types.items()
        ],
        "parts": [
            {
                **plain(part, "kind units"),
                "bodies": [body + 1 for body in part.bodies],
                "joints": [mechanism.joint_ids[joint] for joint in part.joints],
                "rigid": [body + 1 for body in part.rigid],
            }
            for part in structure.parts
        ],
        "unresolved": [body + 1 for body in structure.unresolved],
    }


def as_dot(structure: Structure) -> str:
    """The structural diagram for Graphviz: frame 0, groups as (N_m, n_c), top to bottom by level."""
    lines = ["digraph structure {", "  rankdir=TB;", "  node [shape=circle];", '  0 [label="0"];']
    for group in structure.groups:
        bodies = ",".join(map(str, group.bodies))
        lines.append(
            f'  {group.number} [label="({len(group.bodies)},{group.n_driven})" '
            f'xlabel="{group.number}" tooltip="SG-{group.number}{{{bodies}}} {group.type_name}"];'
        )
    for group in structure.groups:
        held = any(1 in pair.others for pair in group.external)
        before = ([0] if held else []) + list(group.depends_on)
        lines += [f"  {number} -> {group.number};" for number in before]
    for level in structure.levels:
        lines.append("  { rank=same; " + " ".join(f"{number};" for number in level) + " }")
    return "\n".join([*lines, "}"]) + "\n"


def as_graphml(structure: Structure) -> str:
    """The dependency DAG as GraphML, nodes numbered as groups."""
    import networkx as nx

    return "\n".join(nx.generate_graphml(structure.dag)) + "\n"
