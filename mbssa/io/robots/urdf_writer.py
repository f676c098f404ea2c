"""Writer of URDF: a tree of links, and the side file that closes its loops."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from mbssa.arrays import Floats
from mbssa.io.robots.links import Step, followers_of, frame_of_body, inertia_entries, lost_of, steps_of
from mbssa.io.robots.looks import parts_of, write_shape
from mbssa.io.robots.robot import Kind
from mbssa.io.robots.tree import Motion, Tree, tree_of
from mbssa.io.robots.xml_tree import frame, inverse
from mbssa.io.robots.xml_writer import Element, Written, child, document, rpy, said
from mbssa.mechanism import Mechanism

#: Kinds of several coordinates that the side file has, with its words.
_WHOLE = {Kind.BALL: "SPHERICAL", Kind.UNIVERSAL: "UJOINT_XY"}

#: Beyond any travel: URDF asks for limits of every prismatic joint. Readers here take it for none.
_FAR = 1e9


def write_urdf(mechanism: Mechanism, *, approximate: bool = False) -> Written:
    """URDF, its side file, and what they do not keep."""
    tree = tree_of(mechanism, approximate=approximate, screws=False)
    writer = _Writer(tree)
    return document(writer.root), {".yaml": writer.side_file()}, lost_of(tree, zeros=False, gravity=False)


class _Writer:
    """The document of a tree; ``frames`` are those of its links in the world at the reference."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.root = tree, Element("robot", name=tree.mechanism.name or "mechanism")
        self.frames: dict[str, Floats] = {}
        self.loops: list[tuple[str, str, str]] = []
        self.changed: list[tuple[str, str]] = []
        self.motors: list[str] = []
        self.followers = followers_of(tree)
        for name in tree.mechanism.notes:
            self.root.append(ElementTree.Comment(f" {name.replace('--', '- -')} "))
        self._link(tree.mechanism.body_name(0), frame_of_body(tree, 0), 0)
        for tie in tree.branches:
            self._steps(list(steps_of(tree, tie, whole=frozenset(_WHOLE))), tie.child)
        for tie in tree.closures:
            other = tree.mechanism.body_name(tie.child)
            if tie.kind == Kind.BALL:
                ends = [f"{tie.name} on {tree.mechanism.body_name(body)}" for body in (tie.parent, tie.child)]
                for body, end in zip((tie.parent, tie.child), ends, strict=True):
                    self._fixed(tree.mechanism.body_name(body), end, frame(np.eye(3), tie.place))
                self.loops.append((ends[0], ends[1], "3d"))
                continue
            last, seat = f"{tie.name} end", f"{tie.name} on {other}"
            self._steps(list(steps_of(tree, tie, last, whole=frozenset(_WHOLE))), None)
            self._fixed(other, seat, self.frames[last])
            self.loops.append((last, seat, "6d"))

    def _steps(self, steps: list[Step], body: int | None) -> None:
        for number, step in enumerate(steps, start=1):
            mine = body if number == len(steps) else None
            turn = np.eye(3) if mine is None else self.tree.at.rotation[mine]
            if step.kind == Kind.UNIVERSAL:
                x, y = (motion.axis for motion in step.motions)
                turn = np.stack([x, y, np.cross(x, y)], axis=1)
            self._link(step.child, frame(turn, step.motions[-1].point), mine)
            self._joint(step)

    def _link(self, name: str, at: Floats, body: int | None) -> None:
        self.frames[name] = at
        link = child(self.root, "link", name=name)
        inertia = None if body is None else self.tree.inertia_of(body)
        if inertia is not None and body is not None:
            mass, centre, tensor = inertia
            place = inverse(at) @ frame_of_body(self.tree, body)
            inertial = child(link, "inertial")
            _origin(inertial, place @ frame(np.eye(3), centre))
            child(inertial, "mass", value=said(mass))
            child(inertial, "inertia", **inertia_entries(tensor))
        for part in () if body is None else parts_of(self.tree, body):
            visual = child(link, "visual")
            _origin(visual, inverse(at) @ frame_of_body(self.tree, body or 0) @ part.frame)
            write_shape(visual, part.record, attributes=True)

    def _joint(self, step: Step) -> None:
        motion = step.motions[-1]
        single = step.kind not in _WHOLE
        joint = child(self.root, "joint", name=step.name, type=_type(step.kind, motion))
        child(joint, "parent", link=step.parent)
        child(joint, "child", link=step.child)
        at = self.frames[step.child]
        _origin(joint, inverse(self.frames[step.parent]) @ at)
        axis = at[:3, :3].T @ motion.axis if single else np.array([0.0, 0.0, 1.0])
        child(joint, "axis", xyz=said(axis))
        if step.kind == Kind.PRISMATIC or motion.limits is not None:
            low, high = motion.limits or (-_FAR, _FAR)
            child(joint, "limit", lower=said(low), upper=said(high), effort="0", velocity="0")
        if step.name in self.followers:
            leader, multiplier = self.followers[step.name]
            child(joint, "mimic", joint=leader, multiplier=said(multiplier), offset="0")
        if not single:
            self.changed.append((step.name, _WHOLE[step.kind]))
        if motion.driven:
            self.motors.append(step.name)

    def _fixed(self, parent: str, name: str, at: Floats) -> None:
        self.frames[name] = at
        child(self.root, "link", name=name)
        joint = child(self.root, "joint", name=f"{name} fixed", type="fixed")
        child(joint, "parent", link=parent)
        child(joint, "child", link=name)
        _origin(joint, inverse(self.frames[parent]) @ at)

    def side_file(self) -> bytes:
        """Closures, motors and changed joints as YAML."""
        import yaml

        content = {
            "closed_loop": [list(pair[:2]) for pair in self.loops],
            "type": [pair[2] for pair in self.loops],
            "name_mot": self.motors,
            "joint_name": [name for name, _ in self.changed],
            "joint_type": [kind for _, kind in self.changed],
        }
        content = {key: value for key, value in content.items() if value}
        text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, allow_unicode=True)
        return text.encode()


def _type(kind: Kind, motion: Motion) -> str:
    if kind == Kind.PRISMATIC:
        return "prismatic"
    return "continuous" if motion.limits is None else "revolute"


def _origin(element: Element, at: Floats) -> None:
    child(element, "origin", xyz=said(at[:3, 3]), rpy=said(rpy(at[:3, :3])))
