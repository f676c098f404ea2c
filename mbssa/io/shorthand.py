"""Shorthand of model files: pins of a U that its rod gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from mbssa.io.schema import JointEntry
from mbssa.joints.catalogue import types_of

#: Sine below which a pin and a rod's line are parallel.
_PARALLEL = 1e-6


def pins_of(
    joint: JointEntry, joints: list[JointEntry], index_of: Callable[[int | str], int]
) -> list[list[float]] | None:
    """Pins of a U that has one of them or none, where a rod gives the rest; else None."""
    # Given the first pin, the second is perpendicular to it and to the rod, the joint's second body. Without
    # pins both are perpendicular to a rod that ends in an S (only its rotation about itself depends on them).
    # The rod's line goes from the U to its one other joint; to the S behind that if it is a P or C.
    if joint.point is None or len(joint.point) != 3 or len(joint.bodies) != 2:
        return None
    first = joint.axes[0] if joint.axes else None
    ends = [index_of(body) for body in joint.bodies]
    lines = []
    for end in ends if first is None else ends[1:]:
        other = _far_end(joint, end, joints, index_of)
        if other is not None and (first is not None or other.type in _spatial("is_ball")):
            lines.append(np.subtract(other.point, joint.point))  # type: ignore[arg-type]
    if len(lines) != 1:
        return None
    (line,) = lines
    if first is None:
        first = np.cross(np.eye(3)[np.argmin(np.abs(line))], line).tolist()
    if len(first) != 3:
        return None
    second = np.cross(line, first)
    size = float(np.linalg.norm(line) * np.linalg.norm(first))
    if not np.linalg.norm(second) > _PARALLEL * size:
        return None
    return [list(first), (second / np.linalg.norm(second)).tolist()]


def _spatial(trait: Literal["is_ball", "telescopes"]) -> set[str]:
    """Codes of the spatial types with a trait: those that end a rod's line, or that it goes through."""
    return {row.code for row in types_of("spatial") if getattr(row, trait)}


def _far_end(
    joint: JointEntry, body: int, joints: list[JointEntry], index_of: Callable[[int | str], int]
) -> JointEntry | None:
    """The joint with a point at the other end of a rod; None where the body is no rod."""
    seen = [joint]
    while True:
        others = [
            each for each in joints if all(each is not s for s in seen) and body in map(index_of, each.bodies)
        ]
        if body == 0 or len(others) != 1 or len(others[0].bodies) != 2:
            return None
        (other,) = others
        if other.type not in _spatial("telescopes") or len(seen) > 1:
            return other if other.point is not None and len(other.point) == 3 else None
        seen.append(other)
        body = next(index_of(each) for each in other.bodies if index_of(each) != body)
