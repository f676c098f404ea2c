"""Numbers, lists and names in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbssa.texts import counted

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism


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
