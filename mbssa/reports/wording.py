"""Numbers, lists and names in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "level"), counted(9139, "set"), counted(2, "body")
    ('1 level', '9,139 sets', '2 bodies')
    """
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("dy") else f"{noun}s"
    return f"{number:,} {noun}"


def listed(items: Sequence[str], most: int = 30) -> str:
    """The first items with commas between, and how many more there are.

    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")


def headline(mechanism: Mechanism) -> str:
    """Name and title of a mechanism.

    >>> import mbssa
    >>> headline(mbssa.load("rotor"))
    'rotor: Helicopter rotor control, original inputs'
    """
    title = "".join(character for character in mechanism.title if character.isprintable())
    name = mechanism.name or "mechanism"
    return f"{name}: {title}" if title else name


def size_line(mechanism: Mechanism, joints: str, driven: int) -> str:
    """Space, bodies, joints, mobility and driven coordinates."""
    return (
        f"{mechanism.space}, {mechanism.n_bodies} bodies with the frame, {joints}; "
        f"mobility {mechanism.mobility} by Eq. (2), {driven} driven"
    )
