"""The tables of the paper (8, 9 and their kin), as rows and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mbssa.mechanism import Joint
from mbssa.results.library import libraries
from mbssa.search.partition import Part
from mbssa.structure import Group, Pair, Structure

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod
    from rich.table import Table

#: The paper's columns, then how many of the group's coordinates are driven and what it waits for.
GROUP_COLUMNS = (
    "SG",
    "Bodies",
    "Num bodies",
    "SG type",
    "DOFs from Ext KP",
    "Int KP",
    "DOFs to Ext KP",
    "Driven",
    "Level",
    "Needs",
)

#: Groups that a printed table lists before it only counts the rest.
SHOWN_GROUPS = 500

#: Width of a table where no terminal sets one.
WIDE = 160


def pairs_text(pairs: Iterable[Pair]) -> str:
    """Kinematic pairs in the paper's format; a dash for none.

    >>> pairs_text([Pair(10, (1,), "U", 0), Pair(13, (1,), "P", 1)])
    '10&1U.13&1P.'
    """
    return "".join(f"{pair}." for pair in pairs) or "–"


def group_row(group: Group) -> tuple[str, ...]:
    """One row of Table 8 as texts, in the order of :data:`GROUP_COLUMNS`."""
    return (
        str(group.number),
        ",".join(map(str, group.bodies)),
        str(len(group.bodies)),
        group.type_name,
        pairs_text(group.external),
        pairs_text(group.internal),
        pairs_text(group.assigned),
        str(group.n_driven or "–"),
        str(group.level),
        ",".join(map(str, group.depends_on)) or "–",
    )


def type_rows(structure: Structure) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of Table 9: group types, how many, and 1 or 0 for each library."""
    known = libraries()
    header = ("SG type", "Num of SGs", *(f"in {name}" for name in known))
    rows = [
        (name, str(count), *(str(int(name in types)) for types in known.values()))
        for name, count in structure.types.items()
    ]
    return header, rows


def summary_head(structure: Structure) -> list[str]:
    """The mechanism, its size, its mobility and its inputs."""
    m = structure.mechanism
    inputs = [f"{joint.id}.{name}" for joint in driven_joints(structure) for name in joint.driven]
    shown = ", ".join(inputs[:12]) + (f" and {len(inputs) - 12} more" if len(inputs) > 12 else "")
    title = "".join(character for character in m.title if character.isprintable())
    lines = [f"{m.name}: {title}" if title else m.name or "mechanism"]
    lines.append(
        f"{m.space}, {m.n_bodies} bodies with the frame, {m.n_joints} joints; "
        f"mobility {m.mobility} by Eq. (2), {len(inputs)} driven" + (f": {shown}" if shown else "")
    )
    return lines


def summary_lines(structure: Structure) -> list[str]:
    """What stands above the table: the mechanism, its mobility, the verdict."""
    m = structure.mechanism
    lines = summary_head(structure)
    if structure.determined:
        levels = len(structure.levels)
        lines.append(
            f"determined: {counted(structure.n_groups, 'structural group')} in {counted(levels, 'level')}"
        )
    else:
        lines.append(f"not determined: {counted(structure.n_groups, 'structural group')} found, and")
        if structure.unresolved:
            bodies = _list([str(m.bodies[b]) for b in structure.unresolved])
            lines.append(f"  not searched to the end: bodies {bodies}")
        lines += [f"  {part_sentence(structure, part)}" for part in structure.parts[:50]]
        if len(structure.parts) > 50:
            lines.append(f"  … and {len(structure.parts) - 50} more parts")
    lines += [f"  {line}" for line in treatment_lines(structure)]
    if structure.note:
        lines.append(f"note: {structure.note}")
    return lines


def treatment_lines(structure: Structure) -> list[str]:
    """What was left out or held so that a mechanism could be decomposed although the count fails."""
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
        lines.append(f"{redundant} left out: {_list(named)}")
    for part in treatment.parts:
        bodies = _list([str(m.bodies[b]) for b in part.bodies])
        lines.append(f"{part.kind} part counted with B = 3: bodies {bodies}")
    for spin in treatment.spins:
        bodies = _list([str(m.bodies[b]) for b in spin.bodies])
        lines.append(f"idle spin held at zero: {'body' if len(spin.bodies) == 1 else 'bodies'} {bodies}")
    return lines


def driven_joints(structure: Structure) -> list[Joint]:
    """Joints with a driven coordinate."""
    m = structure.mechanism
    return [m.joints[j] for j in m.n_driven_of_joint.nonzero()[0].tolist()]


def part_sentence(structure: Structure, part: Part, *, advise: bool = True) -> str:
    """What is wrong with one part, in a sentence that names bodies, joints and the number of units."""
    m = structure.mechanism
    bodies = _list([str(m.bodies[b]) for b in part.bodies])
    joints = _list([_joint_text(structure, j) for j in part.joints])
    several = len(part.bodies) > 1
    if part.kind == "over" and part.rigid:
        return (
            f"over-constrained by {part.units}: bodies {bodies} hold each other more than rigidly, "
            f"through {joints}"
        )
    if part.kind == "over":
        return (
            f"over-constrained by {part.units}: {'bodies' if several else 'body'} {bodies}, "
            f"bound by {joints}"
            + (f"; release {counted(part.units, 'coordinate')} or drive as many fewer" if advise else "")
        )
    if part.rigid:
        rigid = _list([str(b + 1) for b in part.rigid])
        return f"under-constrained by {part.units}: bodies {bodies}, because {rigid} move as one body"
    return (
        f"under-constrained by {part.units}: {'bodies' if several else 'body'} {bodies}, "
        f"held by {joints}"
        + (f"; drive {counted(part.units, 'more coordinate')} or add as many constraints" if advise else "")
    )


def _joint_text(structure: Structure, joint: int) -> str:
    view = structure.mechanism.joints[joint]
    driven = f" (driven: {', '.join(view.driven)})" if view.driven else ""
    return f"{view.id} {view.type.code}{driven}"


def _list(items: list[str], most: int = 30) -> str:
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "level"), counted(9139, "set"), counted(2, "body")
    ('1 level', '9,139 sets', '2 bodies')
    """
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("dy") else f"{noun}s"
    return f"{number:,} {noun}"


def page(structure: Structure, console: Console) -> None:
    """Print the whole answer on a console: summary, table of groups, table of types."""
    head, *rest = summary_lines(structure)
    console.print(head, style="bold", markup=False)
    for line in rest:
        console.print(line, markup=False)
    if not structure.n_groups:
        return
    print_fitting(console, lambda narrow: _group_table(structure, narrow=narrow))
    if structure.n_groups > SHOWN_GROUPS:
        console.print(f"… and {structure.n_groups - SHOWN_GROUPS} more groups; --format csv lists them all")
    header, rows = type_rows(structure)
    types = plain_table(header, right=header[1:])
    for row in rows:
        types.add_row(*row)
    console.print(types)


def plain_table(columns: Iterable[str], right: Iterable[str] = (), *, narrow: bool = False) -> Table:
    """An empty table in the one style of this project, with ``right`` columns aligned right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=narrow)
    for column in columns:
        justify: JustifyMethod = "right" if column in right else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column == "SG type")
    return table


def print_fitting(console: Console, table_of: Callable[[bool], Table]) -> None:
    """Print a table; if it is too wide for the screen, its narrow form."""
    table = table_of(False)
    if console.measure(table, options=console.options.update(width=10_000)).maximum > console.width:
        table = table_of(True)
    console.print(table)


def _group_table(structure: Structure, *, narrow: bool) -> Table:
    """Table 8; where it is too wide for the screen, each pair and some bodies take a line of their own."""
    table = plain_table(GROUP_COLUMNS, ("SG", "Num bodies", "Driven", "Level"), narrow=narrow)
    for group in structure.groups[:SHOWN_GROUPS]:
        cells = group_row(group)
        if narrow:
            cells = tuple(cell.strip(".").replace(".", "\n").replace(",", ", ") for cell in cells)
        table.add_row(*cells)
    return table


def as_text(structure: Structure, width: int = WIDE) -> str:
    """The page without colours, as ``print(structure)`` shows it."""
    return plain_text(lambda console: page(structure, console), width)


def plain_text(print_on: Callable[[Console], None], width: int = WIDE) -> str:
    """What is printed on a console, without colours and without blanks at the ends of lines."""
    from io import StringIO

    from rich.console import Console

    stream = StringIO()
    print_on(Console(file=stream, width=width, color_system=None, highlight=False))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())
