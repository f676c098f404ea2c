"""Links that are one body, and where every link is at the zero of all joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mbssa.arrays import Floats
from mbssa.disjoint_set import DisjointSet
from mbssa.faults import Faults
from mbssa.io.robots.robot import COORDINATE, Kind, Robot, RobotJoint
from mbssa.io.robots.xml_tree import frame, inverse
from mbssa.mechanism import FRAME

#: Metres and radians within which two ways from link to link must agree where links are one body.
_AGREE = 1e-6


@dataclass(frozen=True, slots=True)
class Placed:
    """Bodies of a robot."""

    world: dict[str, Floats]  # (4, 4) frame of each link at the reference, from the root outwards
    closing: tuple[str, ...]  # joints that reach a link that another joint has reached
    body: dict[str, str]  # first link of the body that a link belongs to
    local: dict[str, Floats]  # (4, 4) frame of each link in the first link of its body

    def name(self, link: str) -> str:
        """Name of the body of a link."""
        first = self.body[link]
        return FRAME if first == next(iter(self.world)) else first


def placed(robot: Robot, faults: Faults) -> Placed | None:
    """Bodies and reference poses, for which a robot without poses gains ``values``; None with faults."""
    if robot.poses and robot.links:
        # Joints between links that joints before them have connected close loops.
        number = {name: place for place, name in enumerate(robot.links)}
        sets, joints = DisjointSet(len(number)), robot.joints.values()
        closing = tuple(j.name for j in joints if not sets.merge(number[j.parent], number[j.child]))
        return Placed(robot.poses, closing, *_merged(robot, robot.poses, faults))
    root = _root(robot, faults)
    if root is None:
        return None
    robot.values = reference_values(robot, faults)
    world, closing = _spread(robot, root, robot.values)
    lost = [name for name in robot.links if name not in world]
    if lost:
        what = f"no joints lead from the root {root!r} to {', '.join(map(repr, lost[:12]))}"
        faults.add("", what, "structure")
        return None
    return Placed(world, closing, *_merged(robot, world, faults))


def followed(joints: Mapping[str, RobotJoint], name: str) -> list[RobotJoint]:
    """A joint, the one that it follows, and so on to their leader; longer than all joints in a circle."""
    chain = [joints[name]]
    while (mimic := chain[-1].mimic) is not None and mimic.joint in joints and len(chain) <= len(joints):
        chain.append(joints[mimic.joint])
    return chain


def reference_values(
    robot: Robot, faults: Faults, given: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Value of each joint where those that mimic nothing have what is given, else zero, m or rad."""
    values: dict[str, float] = {}
    for joint in robot.joints.values():
        chain, value = followed(robot.joints, joint.name), 0.0
        if len(chain) > len(robot.joints):
            faults.add(joint.where, "mimics itself in a circle; break it", "structure")
        for each in reversed(chain):
            if each.mimic is None:
                value = (given or {}).get(each.name, 0.0)
            else:
                value = each.mimic.multiplier * value + each.mimic.offset
        values[joint.name] = value
    return values


def poses_at_zero(robot: Robot) -> dict[str, Floats]:
    """Frame (4, 4) of each link in the root's where all joints are at zero; empty without one root."""
    root = _root(robot, Faults())
    return {} if root is None else _spread(robot, root, dict.fromkeys(robot.joints, 0.0))[0]


def held(joint: RobotJoint, value: float) -> RobotJoint:
    """An R or P that stands still at a value, which is no joint therefore."""
    frame = moved(joint, value) @ joint.child_frame
    return replace(joint, kind=Kind.FIXED, frame=frame, limits=None, mimic=None)


def moved(joint: RobotJoint, value: float) -> Floats:
    """Frame (4, 4) of the child in the parent at a value of an R or P."""
    if value == 0.0 or joint.kind not in COORDINATE:
        return joint.frame @ inverse(joint.child_frame)
    from scipy.spatial.transform import Rotation

    way, none = value * joint.axes[0], np.zeros(3)
    slides = joint.kind == Kind.PRISMATIC
    step = frame(np.eye(3), way) if slides else frame(Rotation.from_rotvec(way).as_matrix(), none)
    return joint.frame @ step @ inverse(joint.child_frame)


def _root(robot: Robot, faults: Faults) -> str | None:
    children = {joint.child for joint in robot.joints.values() if not joint.closes}
    roots = [name for name in robot.links if name not in children]
    if len(roots) == 1:
        return roots[0]
    if not robot.links:
        faults.add("", "has no links", "structure")
    elif roots:
        named = ", ".join(map(repr, roots[:12]))
        faults.add("", f"{len(roots)} links are children of no joint: {named}; one is the root", "structure")
    else:
        faults.add("", "every link is the child of a joint; one, the root, stands still", "structure")
    return None


def _spread(robot: Robot, root: str, values: dict[str, float]) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """Frame of each link from the root outwards, and the joints that close loops."""
    leaving: dict[str, list[RobotJoint]] = {}
    for joint in robot.joints.values():
        if not joint.closes:
            leaving.setdefault(joint.parent, []).append(joint)
    world, order = {root: np.eye(4)}, [root]
    closing = [joint.name for joint in robot.joints.values() if joint.closes]
    for parent in order:
        for joint in leaving.get(parent, ()):
            if joint.child in world:
                closing.append(joint.name)
            else:
                world[joint.child] = world[parent] @ moved(joint, values[joint.name])
                order.append(joint.child)
    return world, tuple(closing)


def _merged(
    robot: Robot, order: Mapping[str, Floats], faults: Faults
) -> tuple[dict[str, str], dict[str, Floats]]:
    """Body and local frame of each link, along fixed joints and welds."""
    ties: dict[str, list[tuple[str, Floats, str]]] = {name: [] for name in robot.links}
    for tie in robot.ties:
        if tie.kind == Kind.FIXED:
            step = tie.frame @ inverse(tie.child_frame)
            ties[tie.parent].append((tie.child, step, tie.where))
            ties[tie.child].append((tie.parent, inverse(step), tie.where))
    body: dict[str, str] = {}
    local: dict[str, Floats] = {}
    for first in order:
        if first in body:
            continue
        body[first], local[first], reached = first, np.eye(4), [first]
        for link in reached:
            for other, step, where in ties[link]:
                frame = local[link] @ step
                if other not in body:
                    body[other], local[other] = first, frame
                    reached.append(other)
                elif np.abs(frame - local[other]).max() > _AGREE:
                    what = f"puts {other!r} elsewhere than the other fixed joints and welds of its body do"
                    faults.add(where, what, "conflict")
    return body, local
