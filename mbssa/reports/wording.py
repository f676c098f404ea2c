"""Head of a report: a mechanism and its size in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbssa.reports.table import Heading
from mbssa.texts import counted, listed

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism


def titled(name: str, title: str) -> str:
    """Name, and behind it the title if there is one."""
    printable = "".join(filter(str.isprintable, title))
    return f"{name}: {printable}" if printable else name


def headline(mechanism: Mechanism) -> str:
    """Name and title of a mechanism."""
    return titled(mechanism.name or "mechanism", mechanism.title)


def size_line(mechanism: Mechanism, *, inputs: bool = True) -> str:
    """Space, bodies, joints, mobility and number of driven coordinates, and their names."""
    names = f": {listed(mechanism.driven_coordinates, 12)}" if inputs and mechanism.n_driven else ""
    return (
        f"{mechanism.space}, {counted(mechanism.n_bodies, 'body')} with the frame, "
        f"{counted(mechanism.n_joints, 'joint')}; "
        f"mobility {mechanism.mobility} by Eq. (2), {mechanism.n_driven} driven{names}"
    )


def head(mechanism: Mechanism) -> list[str]:
    """Headline and size, above a table."""
    return [Heading(headline(mechanism)), size_line(mechanism)]
