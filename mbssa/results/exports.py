"""The structure as plain data and as text of other programs: JSON, CSV, Markdown, DOT, GraphML."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from typing import Any, Literal, get_args

from mbssa.results.tables import GROUP_COLUMNS, as_text, group_row, summary_lines, type_rows
from mbssa.structure import Structure
from mbssa.texts import as_cell

Format = Literal["table", "json", "csv", "markdown", "dot", "graphml"]


def to_dict(structure: Structure) -> dict[str, Any]:
    """Everything that ``Structure`` answers, as lists, texts and numbers.

    Body numbers and group numbers count from 1; pairs are written as in the paper's tables.

    >>> import mbssa
    >>> mbssa.decompose(mbssa.load("spatial_four_bar")).to_dict()["groups"][1]["external"]
    ['3&2S', '4&1P']
    """
    mechanism = structure.mechanism
    header, rows = type_rows(structure)
    return {
        "mechanism": {
            "name": mechanism.name,
            "title": mechanism.title,
            "space": mechanism.space,
            "n_bodies": mechanism.n_bodies,
            "n_joints": mechanism.n_joints,
            "mobility": mechanism.mobility,
            "n_driven": mechanism.n_driven,
            "body_names": [body.name for body in mechanism.bodies],
        },
        "method": structure.method,
        "determined": structure.determined,
        "note": structure.note,
        "groups": [
            {
                "number": group.number,
                "bodies": list(group.bodies),
                "type_name": group.type_name,
                "driven": list(group.driven),
                "external": [str(pair) for pair in group.external],
                "internal": [str(pair) for pair in group.internal],
                "assigned": [str(pair) for pair in group.assigned],
                "depends_on": list(group.depends_on),
                "level": group.level,
            }
            for group in structure.groups
        ],
        "levels": [list(level) for level in structure.levels],
        "types": [
            {
                "type_name": row[0],
                "count": int(row[1]),
                "in_library": {
                    name.removeprefix("in "): flag == "1"
                    for name, flag in zip(header[2:], row[2:], strict=True)
                },
            }
            for row in rows
        ],
        "parts": [
            {
                "kind": part.kind,
                "units": part.units,
                "bodies": [body + 1 for body in part.bodies],
                "joints": [mechanism.joint_ids[joint] for joint in part.joints],
                "rigid": [body + 1 for body in part.rigid],
            }
            for part in structure.parts
        ],
        "unresolved": [body + 1 for body in structure.unresolved],
    }


def as_json(structure: Structure) -> str:
    """:func:`to_dict` as JSON."""
    return json.dumps(to_dict(structure), ensure_ascii=False, indent=2) + "\n"


def as_csv(structure: Structure) -> str:
    """The table of groups, one line a group."""
    return csv_text(GROUP_COLUMNS, (group_row(group) for group in structure.groups))


def csv_text(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Any table as CSV; what spreadsheets would take for formulas has an apostrophe before it.

    >>> csv_text(("t", "x"), [(0, 1.5)])
    't,x\\n0,1.5\\n'
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(as_cell, header))
    writer.writerows(map(as_cell, row) for row in rows)
    return stream.getvalue()


def as_markdown(structure: Structure) -> str:
    """Summary, table of groups and table of types."""
    lines = summary_lines(structure)
    text = [f"# {lines[0]}", "", *(line if line.strip() else "" for line in lines[1:]), ""]
    text += markdown_table(GROUP_COLUMNS, (group_row(group) for group in structure.groups))
    text += ["", *markdown_table(*type_rows(structure))]
    return "\n".join(text) + "\n"


def markdown_table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Lines of any table as Markdown.

    >>> markdown_table(("t", "x"), [("0", "a|b")])
    ['| t | x |', '| --- | --- |', '| 0 | a\\\\|b |']
    """

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [line(header), line("---" for _ in header), *(line(row) for row in rows)]


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


_WRITERS: dict[Format, Callable[[Structure], str]] = {
    "table": lambda structure: as_text(structure) + "\n",
    "json": as_json,
    "csv": as_csv,
    "markdown": as_markdown,
    "dot": as_dot,
    "graphml": as_graphml,
}


def export(structure: Structure, form: Format) -> str:
    """The structure as text of one format.

    Raises
    ------
    ValueError
        Unknown format.
    """
    if form not in _WRITERS:
        raise ValueError(f"format {form!r} is unknown; write one of {', '.join(get_args(Format))}")
    return _WRITERS[form](structure)
