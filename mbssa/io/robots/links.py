"""Bodies and massless links of a tree, with their frames at the reference; what stands between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mbssa.arrays import Floats
from mbssa.io.robots.looks import meshes_named
from mbssa.io.robots.robot import Kind
from mbssa.io.robots.tree import Motion, Tie, Tree
from mbssa.io.robots.xml_tree import frame
from mbssa.io.robots.xml_writer import said


@dataclass(frozen=True, slots=True)
class Step:
    """Joint of a description between two links, by name."""

    name: str
    kind: Kind  # as the format has it
    parent: str
    child: str
    motions: tuple[Motion, ...]  # one, or those of a whole ball or universal joint
    pitch: float | None = None


def steps_of(tree: Tree, tie: Tie, end: str | None = None, *, whole: frozenset[Kind]) -> Iterator[Step]:
    """Joint as one step where the format has its kind (``whole``), else as steps over massless links."""
    parent = tree.mechanism.body_name(tie.parent)
    last = tree.mechanism.body_name(tie.child) if end is None else end
    if tie.kind is not None and tie.kind in whole:
        yield Step(tie.name, tie.kind, parent, last, tie.motions, tie.pitch)
        return
    for number, motion in enumerate(tie.motions, start=1):
        several = len(tie.motions) > 1
        kind = Kind.REVOLUTE if motion.turns else Kind.PRISMATIC
        link = last if number == len(tie.motions) else f"{tie.name} link {number}"
        name = f"{tie.name} {motion.coordinate}" if several else tie.name
        yield Step(name, kind, parent, link, (motion,))
        parent = link


def followers_of(tree: Tree) -> dict[str, tuple[str, float]]:
    """Leader and multiplier of each step that follows another one, by their names in :func:`steps_of`."""
    several = {tie.name for tie in (*tree.branches, *tree.closures) if len(tie.motions) > 1}

    def name(joint: str, coordinate: str) -> str:
        return f"{joint} {coordinate}" if joint in several else joint

    return {name(*each.follower): (name(*each.leader), each.multiplier) for each in tree.following}


def frame_of_body(tree: Tree, body: int) -> Floats:
    """Frame (4, 4) of a body's own in the world at the reference."""
    return frame(tree.at.rotation[body], tree.at.position[body])


def lost_of(tree: Tree, *, zeros: bool, gravity: bool) -> list[str]:
    """Parts of a mechanism that a robot's description does not keep, a sentence each."""
    mechanism = tree.mechanism
    shifted = [
        f"{tie.name}.{motion.coordinate} = {motion.value:.6g}"
        for tie in (*tree.branches, *tree.closures)
        for motion in tie.motions
        if abs(motion.value) > 1e-12
    ]
    sentences = {
        f"zeros of coordinates: they count from the reference, where {', '.join(shifted)}": shifted
        and not zeros,
        "the motion": mechanism.motion is not None,
        "gravity": mechanism.gravity is not None and not gravity,
        "that parts of the file that it comes from were not read": mechanism.unread,
        "force elements": mechanism.forces,
        "that the mechanism is planar: its joints have parallel axes in space": mechanism.space == "planar",
    }
    return [*tree.lost, *meshes_named(tree), *(text for text, lost in sentences.items() if lost)]


def inertia_entries(tensor: Floats) -> dict[str, str]:
    """Six entries of an inertia (3, 3) by their names in URDF and SDF."""
    return {f"i{'xyz'[i]}{'xyz'[j]}": said(tensor[i, j]) for i in range(3) for j in range(i, 3)}
