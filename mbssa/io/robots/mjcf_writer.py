"""Writer of MJCF: nested bodies with their joints, equalities that close loops, and motors."""

from __future__ import annotations

import numpy as np

from mbssa.arrays import Floats
from mbssa.io.robots.links import followers_of, frame_of_body, lost_of
from mbssa.io.robots.looks import parts_of
from mbssa.io.robots.robot import Kind, Part
from mbssa.io.robots.tree import Tie, Tree, tree_of
from mbssa.io.robots.xml_tree import frame, inverse
from mbssa.io.robots.xml_writer import Element, Written, child, document, quaternion, said
from mbssa.mechanism import Mechanism

#: Mass, kg, and inertia, kg m², of bodies without: MuJoCo moves no body without mass.
_MASS, _INERTIA = 1e-3, 1e-6


def write_mjcf(mechanism: Mechanism, *, approximate: bool = False) -> Written:
    """MJCF, no file beside it, and what it does not keep."""
    tree = tree_of(mechanism, approximate=approximate)
    writer = _Writer(tree)
    lost = lost_of(tree, zeros=True, gravity=True)
    if writer.massless:
        lost.append(f"that bodies have no mass: MuJoCo moves none without, so each has {_MASS:g} kg")
    if writer.thin:
        lost.append(f"moments of inertia of zero, of {', '.join(writer.thin)}: small ones instead")
    return document(writer.root), {}, lost


class _Writer:
    """The document of a tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.root, self.massless = tree, Element("mujoco", model=tree.mechanism.name), False
        self.thin: list[str] = []
        child(self.root, "compiler", angle="radian", autolimits="true")
        gravity = tree.mechanism.gravity or (0.0, 0.0, 0.0)
        child(self.root, "option", gravity=said((*gravity, 0.0)[:3]))
        self.world = child(self.root, "worldbody")
        self.asset, self.equality, self.actuator = map(Element, ("asset", "equality", "actuator"))
        self.elements = {0: self.world}
        for tie in tree.branches:
            self._branch(tie)
        for tie in tree.closures:
            self._closure(tie)
        followers = followers_of(tree).items()
        for each, (follower, (leader, by)) in zip(tree.following, followers, strict=True):
            # Both are counted from the reference, as MuJoCo counts them from ref.
            names = {"name": each.name, "joint1": follower, "joint2": leader}
            child(self.equality, "joint", **names, polycoef=said((0.0, by, 0.0, 0.0, 0.0)))
        for section in (self.asset, self.equality, self.actuator):
            if len(section):
                self.root.append(section)

    def _name(self, body: int) -> str:
        return self.tree.mechanism.body_name(body) if body else "world"

    def _branch(self, tie: Tie) -> None:
        at = frame_of_body(self.tree, tie.child)
        body = self._body(tie.parent, self._name(tie.child), at, tie.child)
        self.elements[tie.child] = body
        self._joints(body, tie, at)

    def _body(self, parent: int, name: str, at: Floats, index: int | None) -> Element:
        local = inverse(frame_of_body(self.tree, parent)) @ at
        turned = quaternion(local[:3, :3])
        body = child(self.elements[parent], "body", name=name, pos=said(local[:3, 3]), quat=said(turned))
        inertia = None if index is None else self.tree.inertia_of(index)
        if inertia is None:
            self.massless |= index is not None
            child(body, "inertial", pos="0 0 0", mass=said(_MASS), diaginertia=said([_INERTIA] * 3))
        else:
            mass, centre, tensor = inertia
            moments, axes = np.linalg.eigh(tensor)
            if moments[0] < _INERTIA:
                self.thin.append(name)
                # Of a planar body only the last moment is known, and A + B >= C must hold.
                flat = moments[1] < 0.5 * moments[2]
                moments = np.array([0.5, 0.5, 1.0]) * moments[2] if flat else np.maximum(moments, _INERTIA)
                tensor = axes @ np.diag(moments) @ axes.T
            numbers = tensor[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]
            child(body, "inertial", pos=said(centre), mass=said(mass), fullinertia=said(numbers))
        for part in () if index is None else parts_of(self.tree, index):
            self._geom(body, part)
        return body

    def _geom(self, body: Element, part: Part) -> None:
        """A shape that is seen and touches nothing; MuJoCo has half of its sizes."""
        record, turned = part.record, quaternion(part.frame[:3, :3])
        geom = child(body, "geom", type=record["shape"], pos=said(part.frame[:3, 3]), quat=said(turned))
        geom.attrib |= {"contype": "0", "conaffinity": "0", "mass": "0", "group": "1"}
        if record["shape"] == "mesh":
            name = f"mesh {len(self.asset) + 1}"
            scale = said(np.broadcast_to(record.get("scale", 1.0), 3))
            child(self.asset, "mesh", name=name, file=str(record["file"]), scale=scale)
            geom.set("mesh", name)
        elif record["shape"] == "box":
            geom.set("size", said(np.array(record["size"]) / 2))
        else:
            half = [record["length"] / 2] if "length" in record else []
            geom.set("size", said([record["radius"], *half]))

    def _joints(self, body: Element, tie: Tie, at: Floats) -> None:
        """Joints of a body, which MuJoCo carries out one after another."""
        back = inverse(at)
        if tie.kind == Kind.BALL and not any(motion.driven for motion in tie.motions):
            child(body, "joint", name=tie.name, type="ball", pos=said((back @ [*tie.place, 1.0])[:3]))
            return
        for motion in tie.motions:
            name = tie.name if len(tie.motions) == 1 else f"{tie.name} {motion.coordinate}"
            kind = "hinge" if motion.turns else "slide"
            place, axis = (back @ [*motion.point, 1.0])[:3], back[:3, :3] @ motion.axis
            joint = child(body, "joint", name=name, type=kind, ref=said(motion.value))
            joint.attrib |= {"pos": said(place), "axis": said(axis)}
            if motion.limits is not None:
                joint.set("range", said(np.array(motion.limits) + motion.value))
            if motion.driven:
                child(self.actuator, "motor", name=name, joint=name)
            if tie.pitch is not None:
                slide = child(body, "joint", name=f"{tie.name} slide", type="slide")
                slide.attrib |= {
                    "ref": said(tie.pitch * motion.value),
                    "pos": said(place),
                    "axis": said(axis),
                }
                follows = {"joint1": f"{tie.name} slide", "joint2": name}
                child(self.equality, "joint", **follows, polycoef=said((0.0, tie.pitch, 0.0, 0.0, 0.0)))

    def _closure(self, tie: Tie) -> None:
        if tie.kind == Kind.BALL:
            anchor = inverse(frame_of_body(self.tree, tie.parent)) @ [*tie.place, 1.0]
            child(self.equality, "connect", name=tie.name, body1=self._name(tie.parent),
                  body2=self._name(tie.child), anchor=said(anchor[:3]))  # fmt: skip
            return
        # The joint leads to a body of its own, which is welded to the other, and stands after it: the first
        # of welded bodies gives its name to the body that they are.
        order = [self.world, *self.world.iter("body")]
        if order.index(self.elements[tie.parent]) < order.index(self.elements[tie.child]):
            tie = tie.reversed()
        at, name = frame(np.eye(3), tie.place), f"{tie.name} end"
        self._joints(self._body(tie.parent, name, at, None), tie, at)
        child(self.equality, "weld", name=tie.name, body1=name, body2=self._name(tie.child))
