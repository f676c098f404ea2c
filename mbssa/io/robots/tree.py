"""Mechanism as in robot formats: a tree of bodies, joints of few axes, and closures of its loops."""

# Every joint whose pose its type builds from steps, each about or along an axis by a coordinate of its own,
# is a chain of turns and shifts, taken at the assembled reference, from which the coordinates count.

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mbssa.arrays import Floats
from mbssa.disjoint_set import outwards, spanning_forest
from mbssa.faults import Fault, Faults, ModelError
from mbssa.io.robots.robot import Kind
from mbssa.joints.assembly import assemble
from mbssa.joints.equations import Equations, pose
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.poses import Poses
from mbssa.joints.system import coordinates_at
from mbssa.mechanism import Joint, Mechanism

#: Kinds that formats know as one joint with more than one coordinate.
WHOLE = {Kind.BALL, Kind.UNIVERSAL}


@dataclass(frozen=True, slots=True)
class Motion:
    """Turn about or shift along an axis, at the reference in the world."""

    turns: bool
    axis: Floats  # (3,) unit
    point: Floats  # (3,) m, on the axis
    coordinate: str  # its name in the joint
    value: float  # at the reference, m or rad
    driven: bool
    limits: tuple[float, float] | None  # lowest and highest value, counted from the reference


@dataclass(frozen=True, slots=True)
class Tie:
    """Joint from a parent to a child body (indices), as motions one after another."""

    name: str
    kind: Kind | None  # of the whole joint, None where formats have none
    parent: int
    child: int
    motions: tuple[Motion, ...]
    pitch: float | None = None  # of an H, m/rad

    def reversed(self) -> Tie:
        """The same joint from the child to the parent: coordinates keep their values."""
        turned = tuple(replace(each, axis=-each.axis) for each in self.motions[::-1])
        return Tie(self.name, self.kind, self.child, self.parent, turned, self.pitch)

    @property
    def place(self) -> Floats:
        """Point (3,) of the last motion, m."""
        return self.motions[-1].point


@dataclass(frozen=True, slots=True)
class Following:
    """A coordinate, by joint and name, that is a multiple of another one; both count from the reference."""

    leader: tuple[str, str]
    follower: tuple[str, str]
    multiplier: float
    name: str = ""  # of the coupling


@dataclass(frozen=True, eq=False)
class Tree:
    """A mechanism at its assembled reference."""

    mechanism: Mechanism
    frames: Frames  # of the model
    at: Poses  # poses of its bodies
    branches: tuple[Tie, ...]  # joints of a tree that hangs on the frame, parents before children
    closures: tuple[Tie, ...]  # all other joints
    lost: tuple[str, ...]  # what the tree does not say, a sentence each
    following: tuple[Following, ...] = ()  # couplings of their coordinates, no two with the same follower

    def inertia_of(self, body: int) -> tuple[float, Floats, Floats] | None:
        """Mass, kg, centre (3,) in the body's own axes, m, and inertia (3, 3) about it; None without mass."""
        geometry = self.mechanism.body_geometry.get(body)
        if geometry is None or geometry.inertia is None:
            return None
        inertia = geometry.inertia
        centre = np.zeros(3)
        centre[: len(inertia.centre)] = inertia.centre
        local = self.frames.rotation[body].T @ (centre - self.frames.position[body])
        return inertia.mass, local, inertia.matrix


def tree_of(mechanism: Mechanism, *, approximate: bool = False, screws: bool = True) -> Tree:
    """Spread a mechanism as a tree; loops are cut at undriven joints with many freedoms."""
    # ``approximate`` leaves out joints that are no chain of turns and shifts; ``screws``: whether the format
    # has screws.
    name = mechanism.name or "mechanism"
    frames = joint_frames(mechanism)
    unknown = [joint.id for joint in mechanism.joints if not frames.known[joint.index]]
    if unknown:
        raise ModelError(
            name, [Fault(f"joint {each}", "has no geometry; give it some", "missing") for each in unknown]
        )
    assembled = assemble(mechanism, frames, hold=True)
    if not assembled.closed:
        raise ModelError(name, [Fault("", f"cannot be assembled: {assembled.fault}")])
    at = assembled.configuration
    ties: list[Tie] = []
    faults, lost = Faults(), list[str]()
    couplings, unsaid = list[Joint](), list[Joint]()
    for joint in mechanism.joints:
        if joint.type.is_free and not joint.driven:
            lost.append(f"joint {joint.id}: binds nothing, and is left out")
            continue
        if joint.type.is_coupling:
            couplings.append(joint)
            continue
        tie = _tie(mechanism, frames, at, joint)
        if tie is not None and (screws or tie.pitch is None):
            ties.append(tie)
        else:
            unsaid.append(joint)
    following: dict[tuple[str, str], Following] = {}
    for joint in couplings:
        found = _following(mechanism, joint, ties, following)
        if found is None:
            unsaid.append(joint)
        else:
            following[found.follower] = found
    for joint in sorted(unsaid, key=lambda joint: joint.index):
        if approximate:
            lost.append(f"joint {joint.id}: type {joint.type.code} is left out")
        else:
            what = f"type {joint.type.code} has no joint in this format; --approximate leaves it out"
            faults.add(f"joint {joint.id}", what, "unsupported")
    faults.raise_if_any(name)
    branches, closures = _spread(mechanism, ties)
    reached = {0, *(tie.child for tie in branches)}
    for b in set(range(mechanism.n_bodies)) - reached:
        what = "no joint that is written leads to it; give it one"
        faults.add(f"body {mechanism.body_name(b)}", what, "structure")
    faults.raise_if_any(name)
    return Tree(mechanism, frames, at, branches, closures, tuple(lost), tuple(following.values()))


def _following(
    mechanism: Mechanism, joint: Joint, ties: list[Tie], taken: Mapping[tuple[str, str], Following]
) -> Following | None:
    """A coupling of two coordinates that formats have as joints; None where they have not, or both follow."""
    single = [tie for tie in ties if tie.kind not in WHOLE | {Kind.SCREW}]
    said = {(tie.name, motion.coordinate) for tie in single for motion in tie.motions}
    geometry = joint.geometry
    assert geometry is not None
    assert geometry.couples is not None
    assert geometry.multiplier is not None
    named = (name.rpartition(".") for name in geometry.couples)
    first, second = ((mechanism.joint(each).id, coordinate) for each, _, coordinate in named)
    if not {first, second} <= said:
        return None
    if second not in taken:
        return Following(first, second, geometry.multiplier, joint.id)
    return None if first in taken else Following(second, first, 1.0 / geometry.multiplier, joint.id)


def _tie(mechanism: Mechanism, frames: Frames, at: Poses, joint: Joint) -> Tie | None:
    """A joint as motions; None where its type is no chain of them."""
    equations, first = joint.type.pair, mechanism.joint_bodies(joint.index)[0]
    if equations is None:
        return None
    pitch = float(frames.parameters["pitch"][joint.index]) if _is_screw(equations) else None
    followed = [step.coordinate for step in equations.steps if step.coordinate is not None]
    if pitch is None and (
        sorted(followed) != list(range(joint.type.grade))
        or any(step.coordinate is not None and not isinstance(step.factor, float) for step in equations.steps)
    ):
        return None
    motions = tuple(_motions(mechanism, frames, at, joint, equations, first))
    kind = Kind(joint.type.code) if joint.type.code in set(Kind) else None
    if kind in WHOLE and (mechanism.space == "planar" or joint.driven or not _meets(motions)):
        kind = None
    bodies = mechanism.joint_bodies(joint.index)
    return Tie(joint.id, kind, bodies[0], bodies[1], motions, pitch)


def _is_screw(equations: Equations) -> bool:
    """One turn, and a shift along the same axis by a pitch."""
    return [step.factor for step in equations.steps if step.coordinate == 0][1:] == ["pitch"]


def _meets(motions: tuple[Motion, ...]) -> bool:
    """Return whether all turns are about one point."""
    points = [motion.point for motion in motions if motion.turns]
    return all(np.allclose(point, points[0], rtol=0, atol=1e-9) for point in points)


def _motions(
    mechanism: Mechanism, frames: Frames, at: Poses, joint: Joint, equations: Equations, first: int
) -> Iterator[Motion]:
    """The motions of a joint: its steps carried out at the reference, one after another."""
    value = coordinates_at(mechanism, frames, at, [joint.index])[0]
    parameters = {name: column[[joint.index]] for name, column in frames.parameters.items()}
    turn = at.rotation[first] @ frames.axes[joint.index, 0]
    place = at.position[first] + at.rotation[first] @ frames.origin[joint.index, 0]
    limits = joint.geometry.limits if joint.geometry is not None else {}
    seen: set[int] = set()
    for number, step in enumerate(equations.steps):
        so_far = replace(equations, steps=equations.steps[:number])
        shift, turned, _ = pose(so_far, value[None], parameters)
        if step.coordinate is None or step.coordinate in seen:
            continue
        seen.add(step.coordinate)
        assert isinstance(step.factor, float)
        name = joint.type.coordinates[step.coordinate]
        at_reference = float(value[step.coordinate])
        ends = limits.get(name)
        yield Motion(
            step.kind == "turn",
            step.factor * (turn @ turned[0])[:, step.axis],
            place + turn @ shift[0],
            name,
            at_reference,
            name in joint.driven,
            None if ends is None else (ends[0] - at_reference, ends[1] - at_reference),
        )


def _spread(mechanism: Mechanism, ties: list[Tie]) -> tuple[tuple[Tie, ...], tuple[Tie, ...]]:
    """Joints of a spanning tree from the frame outwards, and the others."""
    # Driven joints come first, then those with few freedoms: loops are cut at the joints of most freedoms.
    order = sorted(
        range(len(ties)), key=lambda k: (not any(m.driven for m in ties[k].motions), len(ties[k].motions), k)
    )
    ends = [(tie.parent, tie.child) for tie in ties]
    chosen = sorted(spanning_forest(mechanism.n_bodies, ends, order))
    branches = [ties[k] if forward else ties[k].reversed() for k, forward in outwards(ends, chosen, [0])]
    depth = {0: 0}
    for tie in branches:
        depth[tie.child] = depth[tie.parent] + len(tie.motions)
    # A closure starts at the outer body: what it leads to is then found after the body that it closes at.
    closures = [tie for k, tie in enumerate(ties) if k not in chosen]
    others = [
        tie if depth.get(tie.parent, 0) >= depth.get(tie.child, 0) else tie.reversed() for tie in closures
    ]
    return tuple(branches), tuple(others)
