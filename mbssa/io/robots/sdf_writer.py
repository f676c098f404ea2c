"""Writer of SDF: links, and all joints, since SDF says loops."""

from __future__ import annotations

import math

import numpy as np

from mbssa.arrays import Floats
from mbssa.io.robots.links import Step, followers_of, frame_of_body, inertia_entries, lost_of, steps_of
from mbssa.io.robots.looks import parts_of, write_shape
from mbssa.io.robots.robot import Kind
from mbssa.io.robots.tree import Tree, tree_of
from mbssa.io.robots.xml_tree import frame
from mbssa.io.robots.xml_writer import Element, Written, child, document, rpy, said
from mbssa.mechanism import Mechanism

_TYPES = {
    Kind.REVOLUTE: "revolute",
    Kind.PRISMATIC: "prismatic",
    Kind.BALL: "ball",
    Kind.UNIVERSAL: "universal",
    Kind.SCREW: "screw",
}

_VERSION, _WORLD, _MODEL = "1.10", "world", "__model__"


def write_sdf(mechanism: Mechanism, *, approximate: bool = False) -> Written:
    """SDF, no file beside it, and what it does not keep."""
    tree = tree_of(mechanism, approximate=approximate)
    root = Element("sdf", version=_VERSION)
    owner = root
    if mechanism.gravity is not None:
        owner = child(root, "world", name="world")
        child(owner, "gravity", said((*mechanism.gravity, 0.0)[:3]))
    model = child(owner, "model", name=mechanism.name or "mechanism")
    for body in range(1, mechanism.n_bodies):
        _link(model, tree, mechanism.body_name(body), frame_of_body(tree, body), body)
    followers = followers_of(tree)
    for tie in (*tree.branches, *tree.closures):
        for step in steps_of(tree, tie, whole=frozenset(_TYPES)):
            if step.child != mechanism.body_name(tie.child):
                _link(model, tree, step.child, frame(np.eye(3), step.motions[-1].point), None)
            _joint(model, tree, step, followers)
    driven = ", ".join(mechanism.driven_coordinates)
    lost = lost_of(tree, zeros=False, gravity=True)
    lost += [f"driven coordinates: {driven}"] if driven else []
    return document(root), {}, lost


def _link(model: Element, tree: Tree, name: str, at: Floats, body: int | None) -> None:
    link = child(model, "link", name=name)
    child(link, "pose", _pose(at))
    inertia = None if body is None else tree.inertia_of(body)
    if inertia is not None:
        mass, centre, tensor = inertia
        inertial = child(link, "inertial")
        child(inertial, "pose", _pose(frame(np.eye(3), centre)))
        child(inertial, "mass", said(mass))
        matrix = child(inertial, "inertia")
        for key, entry in inertia_entries(tensor).items():
            child(matrix, key, entry)
    for number, part in enumerate([] if body is None else parts_of(tree, body), start=1):
        visual = child(link, "visual", name=f"{name} {number}")
        child(visual, "pose", _pose(part.frame))
        write_shape(visual, part.record, attributes=False)


def _joint(model: Element, tree: Tree, step: Step, followers: dict[str, tuple[str, float]]) -> None:
    joint = child(model, "joint", name=step.name, type=_TYPES[step.kind])
    frame_name = tree.mechanism.body_name(0)
    child(joint, "pose", _pose(frame(np.eye(3), step.motions[-1].point)), relative_to=_MODEL)
    for tag, link in (("parent", step.parent), ("child", step.child)):
        child(joint, tag, _WORLD if link == frame_name else link)
    if step.kind == Kind.SCREW:
        assert step.pitch is not None
        child(joint, "screw_thread_pitch", said(step.pitch * math.tau))
    for tag, motion in zip(("axis", "axis2"), step.motions, strict=False):
        if step.kind == Kind.BALL:
            break
        axis = child(joint, tag)
        child(axis, "xyz", said(motion.axis), expressed_in=_MODEL)
        if motion.limits is not None and step.kind in (Kind.REVOLUTE, Kind.PRISMATIC):
            limit = child(axis, "limit")
            child(limit, "lower", said(motion.limits[0]))
            child(limit, "upper", said(motion.limits[1]))
        if step.name in followers:
            leader, multiplier = followers[step.name]
            mimic = child(axis, "mimic", joint=leader)
            for key, value in (("multiplier", multiplier), ("offset", 0.0), ("reference", 0.0)):
                child(mimic, key, said(value))


def _pose(at: Floats) -> str:
    return f"{said(at[:3, 3])} {said(rpy(at[:3, :3]))}"
