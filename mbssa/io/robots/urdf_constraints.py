"""The ``constraint`` of a URDF: a joint that closes a loop, with a frame and an axis on each of its links.

As proposed for urdfdom in 2026 (github.com/ros/urdfdom/pull/264, not merged): ``parent``, ``parent_origin``,
``parent_axis``, and the same of the child. The tree of joints stays a tree.
"""

from __future__ import annotations

from collections.abc import Mapping

from mbssa.faults import Fault
from mbssa.io.robots.kinds import Kind
from mbssa.io.robots.numbers import axis_of, origin_of
from mbssa.io.robots.robot import Closure, Link, RobotJoint
from mbssa.io.robots.xml_tree import Element

_KINDS: dict[str, Kind] = {
    "revolute": Kind.REVOLUTE,
    "continuous": Kind.REVOLUTE,
    "prismatic": Kind.PRISMATIC,
    "planar": Kind.PLANAR,
    "universal": Kind.UNIVERSAL,
    "spherical": Kind.BALL,
    "ball": Kind.BALL,
    "fixed": Kind.FIXED,
}


def constraint(
    element: Element, links: Mapping[str, Link], faults: list[Fault]
) -> RobotJoint | Closure | None:
    """A joint that closes a loop: a closure for a ball or a weld; None with faults where it is wrong."""
    said = element.attributes.get("type", "")
    kind = _KINDS.get(said)
    if kind is None:
        faults.append(Fault(element.where, f"type is {said!r}; the types are {', '.join(_KINDS)}"))
    ends = []
    for side in ("parent", "child"):
        end = element.first(side)
        name = "" if end is None else end.attributes.get("link", "").strip()
        if name not in links:
            what = f"{name!r} is no link of the model" if name else f"is missing; write <{side} link=…/>"
            faults.append(Fault(f"{element.where} {side}", what))
        ends.append(name)
    if ends[0] == ends[1] != "":
        faults.append(Fault(element.where, f"joins {ends[0]!r} to itself"))
    frames = origin_of(element, faults, "parent_origin"), origin_of(element, faults, "child_origin")
    axes = axis_of(element, faults, "parent_axis"), axis_of(element, faults, "child_axis")
    if kind is None or not set(ends) <= set(links):
        return None
    name, where, (parent, child) = element.name(), element.where, ends
    if kind in (Kind.BALL, Kind.FIXED):
        return Closure(name, where, parent, child, kind == Kind.FIXED, frames)
    return RobotJoint(name, where, kind, parent, child, frames[0], axes, child_frame=frames[1], closes=True)
