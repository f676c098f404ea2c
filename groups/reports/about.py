"""Lines and columns that reports of groups have in common."""

from __future__ import annotations

import math
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.reports.structure import summary_head, treatment_lines
from mbssa.reports.table import SHOWN, Heading

if TYPE_CHECKING:
    from groups.solvers.solver import Solver
    from mbssa import Group, Structure


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


def model_lines(structure: Structure, driven: Structure | None = None) -> list[str]:
    """The mechanism, its size, and what was left out or locked.

    Parameters
    ----------
    driven : the structure by the mechanism's own inputs, where it is solved by those of another
    """
    head, *rest = summary_head(structure if driven is None else driven)
    return [Heading(head), *rest, *treatment_lines(structure)]


def span_text(time: Floats) -> str:
    """Number and range of the instants (T,) of a motion, s.

    >>> import numpy as np
    >>> span_text(np.array([0.0, 0.5]))
    '2 instants, t = 0 … 0.5 s'
    """
    if len(time) == 1:
        return f"1 instant, t = {time[0]:.6g} s"
    return f"{len(time):,} instants, t = {time[0]:.6g} … {time[-1]:.6g} s"


def rest_of_groups(structure: Structure) -> list[str]:
    """The line that counts the groups that a table does not show."""
    more = structure.n_groups - SHOWN
    return [f"… and {more} more groups; --format json lists them all"] if more > 0 else []


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """A record for JSON: arrays and tuples as lists, None for numbers that are not finite.

    >>> plain({"time": np.array([0.5, np.nan]), "names": ("a",)})
    {'time': [0.5, None], 'names': ['a']}
    """
    return {key: _plain(value) for key, value in record.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return plain(value)
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
