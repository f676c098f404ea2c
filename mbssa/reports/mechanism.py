"""A mechanism: its size, and its joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbssa.reports.table import SHOWN, Heading, Report, Table
from mbssa.reports.wording import headline, size_line
from mbssa.texts import counted, listed

if TYPE_CHECKING:
    from mbssa.mechanism import Joint, Mechanism


def mechanism_report(mechanism: Mechanism) -> Report:
    """Summary and table of joints."""
    inputs = mechanism.driven_coordinates
    size = size_line(mechanism, counted(mechanism.n_joints, "joint"), len(inputs))
    table = Table(("Joint", "Bodies", "Type", "Coordinates", "Driven"), mechanism.joints, _cells, shown=SHOWN)
    return Report((Heading(headline(mechanism)), f"{size}: {listed(inputs, 12)}" if inputs else size, table))


def _cells(joint: Joint) -> tuple[str, ...]:
    return (
        joint.id,
        ", ".join(joint.mechanism.body_name(body - 1) for body in joint.bodies),
        joint.type.code,
        ", ".join(joint.type.coordinates) or "–",
        ", ".join(joint.driven) or "–",
    )
