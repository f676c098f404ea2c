"""Numbers, lists and names in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mbssa.texts import counted as counted

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism


def listed(items: Sequence[str], most: int = 30) -> str:
    """First items with commas between, and the number of the others."""
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")


def headline(mechanism: Mechanism) -> str:
    """Name and title of a mechanism."""
    title = "".join(character for character in mechanism.title if character.isprintable())
    name = mechanism.name or "mechanism"
    return f"{name}: {title}" if title else name


def size_line(mechanism: Mechanism, joints: str, driven: int) -> str:
    """Space, bodies, joints, mobility and driven coordinates."""
    return (
        f"{mechanism.space}, {counted(mechanism.n_bodies, 'body')} with the frame, {joints}; "
        f"mobility {mechanism.mobility} by Eq. (2), {driven} driven"
    )
