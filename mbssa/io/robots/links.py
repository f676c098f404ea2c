"""Bodies and massless links of a tree, with their frames at the reference; what stands between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mbssa.io.robots.kinds import Kind
from mbssa.io.robots.tree import WHOLE, Array, Motion, Tie, Tree
from mbssa.io.robots.xml_writer import frame


@dataclass(frozen=True, slots=True)
class Step:
    """One joint of a description between two links, by name.

    ``motions`` are one, or those of a whole ball, universal or planar joint; ``kind`` as the format has it.
    """

    name: str
    kind: Kind
    parent: str
    child: str
    motions: tuple[Motion, ...]
    pitch: float | None = None


def steps_of(tree: Tree, tie: Tie, end: str | None = None, *, whole: frozenset[Kind]) -> Iterator[Step]:
    """A joint as one step where the format has its kind, else as steps over massless links.

    Parameters
    ----------
    end : name of the last link, instead of the child body
    whole : kinds of several coordinates, and screws, that the format has
    """
    parent = tree.mechanism.body_name(tie.parent)
    last = tree.mechanism.body_name(tie.child) if end is None else end
    if tie.kind in whole and (tie.kind in WHOLE or tie.kind == Kind.SCREW):
        assert tie.kind is not None
        yield Step(tie.name, tie.kind, parent, last, tie.motions, tie.pitch)
        return
    for number, motion in enumerate(tie.motions, start=1):
        several = len(tie.motions) > 1
        kind = Kind.REVOLUTE if motion.turns else Kind.PRISMATIC
        link = last if number == len(tie.motions) else f"{tie.name} link {number}"
        name = f"{tie.name} {motion.coordinate}" if several else tie.name
        yield Step(name, kind, parent, link, (motion,))
        parent = link


def frame_of_body(tree: Tree, body: int) -> Array:
    """(4, 4) of a body's own frame in the world at the reference."""
    return frame(tree.at.rotation[body], tree.at.position[body])


def upright(motions: tuple[Motion, ...]) -> Array:
    """(3, 3) axes of a frame with x and y along the two pins of a universal joint, or z along a normal."""
    if len(motions) == 2:
        x, y = motions[0].axis, motions[1].axis
        return np.stack([x, y, np.cross(x, y)], axis=1)
    return np.eye(3)
