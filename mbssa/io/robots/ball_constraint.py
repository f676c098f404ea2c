"""Ball constraints of Drake, which URDF and SDF write alike: coincident points of two links."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from mbssa.faults import Faults
from mbssa.io.robots.robot import Closure
from mbssa.io.robots.xml_tree import Element, frame, parsed


def ball_constraint(
    element: Element, links: Collection[str], full: Callable[[str], str], faults: Faults
) -> Closure | None:
    """Closure of a ball; ``full`` gives the name among the links of one that is written."""
    ends, frames = [], []
    for body, point in (("body_A", "p_AP"), ("body_B", "p_BQ")):
        where = f"{element.where} drake:ball_constraint_{body}"
        written = _written(element, body, "name") or ""
        name = full(written)
        if name not in links:
            faults.add(where, f"{written!r} is no link of the model", "unknown")
        ends.append(name)
        where, place = f"{element.where} drake:ball_constraint_{point}", _written(element, point, "value")
        frames.append(frame(np.eye(3), parsed(place, where, 3, (0.0, 0.0, 0.0), faults)))
    if ends[0] == ends[1]:
        faults.add(element.where, f"joins {ends[0]!r} to itself", "structure")
    if not all(name in links for name in ends):
        return None
    name = f"{ends[0]} {ends[1]} line {element.line}"
    return Closure(name, element.where, ends[0], ends[1], False, (frames[0], frames[1]))


def _written(element: Element, tag: str, attribute: str) -> str | None:
    """The attribute of URDF, or the text of SDF; None without the element."""
    found = element.first(f"drake:ball_constraint_{tag}")
    return None if found is None else found.attributes.get(attribute, found.text).strip()
