"""Writer of MJCF: nested bodies with their joints, equalities that close loops, and motors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from mbssa.arrays import Floats
from mbssa.io.robots.from_mechanism import robot_of, turned
from mbssa.io.robots.looks import sizes_of
from mbssa.io.robots.robot import INERTIA, Kind, Link, RobotJoint
from mbssa.io.robots.xml_tree import Node, Written, child, document, inverse, pos_quat, said
from mbssa.loads import inertia_matrix
from mbssa.mechanism import Mechanism

#: Mass, kg, and inertia, kg m², of bodies without: MuJoCo moves no body without mass.
_MASS, _INERTIA = 1e-3, 1e-6
_NO_MASS = {"pos": "0 0 0", "mass": said(_MASS), "diaginertia": said([_INERTIA] * 3)}

#: Attributes of shapes that are seen, and touch and weigh nothing.
_SEEN = {"contype": "0", "conaffinity": "0", "mass": "0", "group": "1"}


def write_mjcf(mechanism: Mechanism, *, approximate: bool = False) -> Written:
    """MJCF, no file beside it, and what it does not keep."""
    keeps = ("zeros", "gravity", "drives")
    robot, lost = robot_of(mechanism, (Kind.BALL, Kind.SCREW), keeps=keeps, approximate=approximate)
    root = Node("mujoco", model=mechanism.name)
    child(root, "compiler", angle="radian", autolimits="true")
    child(root, "option", gravity=said(np.zeros(3) if robot.gravity is None else robot.gravity))
    world = child(root, "worldbody")
    asset, equality, actuator = map(Node, ("asset", "equality", "actuator"))
    elements = {next(iter(robot.links)): world}
    thin = list[str]()

    def body(parent: str, name: str, at: Floats) -> Node:
        return child(elements[parent], "body", name=name, **pos_quat(inverse(robot.poses[parent]) @ at))

    def joints(element: Node, chain: Sequence[RobotJoint], at: Floats) -> None:
        """Joints of a body, which MuJoCo carries out one after another; ``at`` (4, 4) of the body."""
        for step in chain:
            there = inverse(at) @ robot.poses[step.parent] @ step.frame
            pos, axis = said(there[:3, 3]), said(there[:3, :3] @ step.axes[0])
            if step.kind == Kind.BALL:
                child(element, "joint", name=step.name, type="ball", pos=pos)
                continue
            kind, value = "slide" if step.kind == Kind.PRISMATIC else "hinge", robot.values[step.name]
            joint = child(element, "joint", name=step.name, type=kind, ref=said(value), pos=pos, axis=axis)
            if step.limits is not None:
                joint.set("range", said(np.array(step.limits) + value))
            if step.name in robot.driven:
                child(actuator, "motor", name=step.name, joint=step.name)
            if step.pitch is not None:
                name, ref = f"{step.name} slide", said(step.pitch * value)
                child(element, "joint", name=name, type="slide", ref=ref, pos=pos, axis=axis)
                follow("", name, step.name, step.pitch)

    def follow(name: str, follower: str, leader: str, by: float) -> None:
        # Both are counted from the reference, as MuJoCo counts them from ref.
        names = ({"name": name} if name else {}) | {"joint1": follower, "joint2": leader}
        child(equality, "joint", **names, polycoef=said((0.0, by, 0.0, 0.0, 0.0)))

    def parts(element: Node, link: Link) -> None:
        """Mass, and shapes that are seen and touch nothing; MuJoCo has half of their sizes."""
        if link.inertia is None:
            child(element, "inertial", **_NO_MASS)
        else:
            record = link.inertia.record
            tensor = inertia_matrix(*([record[key] for key in keys] for keys in INERTIA))
            moments, axes = np.linalg.eigh(tensor)
            if moments[0] < _INERTIA:
                thin.append(link.name)
                # Of a planar body only the last moment is known, and A + B >= C must hold.
                flat = moments[1] < 0.5 * moments[2]
                moments = np.array([0.5, 0.5, 1.0]) * moments[2] if flat else np.maximum(moments, _INERTIA)
                tensor = axes @ np.diag(moments) @ axes.T
            numbers = tensor[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]
            centre, mass = said(link.inertia.frame[:3, 3]), said(record["mass"])
            child(element, "inertial", pos=centre, mass=mass, fullinertia=said(numbers))
        for part in link.visuals:
            shape = part.record["shape"]
            geom = child(element, "geom", type=shape, **pos_quat(part.frame), **_SEEN)
            if shape == "mesh":
                geom.set("mesh", f"mesh {len(asset) + 1}")
                child(asset, "mesh", name=geom.attrib["mesh"], **sizes_of(part.record, "file"))
            elif shape == "box":
                geom.set("size", said(np.array(part.record["size"]) / 2))
            else:
                half = [part.record["length"] / 2] if "length" in part.record else []
                geom.set("size", said([part.record["radius"], *half]))

    for name, steps in groupby(robot.joints.values(), key=lambda step: step.where):
        chain = list(steps)
        parent, end, at = chain[0].parent, chain[-1].child, robot.poses[chain[-1].child]
        if not chain[-1].closes:
            elements[end] = body(parent, end, at)
            parts(elements[end], robot.links[end])
            joints(elements[end], chain, at)
            continue
        # The joint leads to a body of its own, which is welded to the other, and stands after it: the first
        # of welded bodies gives its name to the body that they are.
        order = [world, *world.iter("body")]
        if chain[0].kind != Kind.BALL and order.index(elements[parent]) < order.index(elements[end]):
            chain, parent, end = turned(chain), end, parent
        first, second = (elements[link].get("name", "world") for link in (parent, end))
        if chain[0].kind == Kind.BALL:
            anchor = said(chain[0].frame[:3, 3])
            child(equality, "connect", name=name, body1=first, body2=second, anchor=anchor)
            continue
        at = robot.poses[chain[-1].parent] @ chain[-1].frame
        loose = body(parent, f"{name} end", at)
        child(loose, "inertial", **_NO_MASS)
        joints(loose, chain, at)
        child(equality, "weld", name=name, body1=f"{name} end", body2=second)
    for step in robot.joints.values():
        if step.mimic is not None:
            follow(step.mimic.name, step.name, step.mimic.joint, step.mimic.multiplier)
    root.extend(section for section in (asset, equality, actuator) if len(section))
    if any(robot.links[name].inertia is None for name in [*elements][1:]):
        lost.append(f"that bodies have no mass: MuJoCo moves none without, so each has {_MASS:g} kg")
    if thin:
        lost.append(f"moments of inertia of zero, of {', '.join(thin)}: small ones instead")
    return document(root), {}, lost
