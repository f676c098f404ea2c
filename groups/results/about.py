"""What tables of groups begin with, number, bodies, type and solver, as wide as the screen allows."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groups.registry import Solver
    from mbssa import Group

#: Letters of a line of bodies in a narrow table.
_WRAPPED = 12


def solver_text(solver: Solver) -> str:
    """Form and name of a solver in one: ``closed form: RRR dyad``, ``Newton, 6 unknowns``.

    >>> import groups, mbssa
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> solver_text(model.solvers[1])
    'closed form: RRR dyad'
    """
    return solver.name if solver.name.startswith(solver.form) else f"{solver.form}: {solver.name}"


def about_columns(narrow: bool) -> tuple[str, ...]:
    """Titles of :func:`about`."""
    return ("SG", "SG type") if narrow else ("SG", "Bodies", "SG type")


def about(group: Group, solver: Solver, narrow: bool) -> tuple[str, ...]:
    """Number, bodies, type and solver of a group; in a narrow table the bodies are below the type."""
    bodies, text = ", ".join(map(str, group.bodies)), solver_text(solver)
    if not narrow:
        return str(group.number), bodies, group.type_name, text
    below = wrap(bodies, max(len(group.type_name), _WRAPPED))
    return (
        str(group.number),
        "\n".join([group.type_name, *below]),
        text.replace(": ", ":\n").replace(", ", ",\n"),
    )
