"""Side file of closed loops and motors, which a URDF cannot express, in the layout of robot.yaml."""

# closed_loop: [[knee_A, knee_B]], links or joints (their children), of type: [6d] (3d: a ball at their
# origins; 6d: welded); name_mot: [hip], driven; joint_name: [ankle] with joint_type: [SPHERICAL], FIXED or
# UJOINT_XY (about x, then y, of its frame).

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mbssa.bounds import SIDE_CHARACTERS
from mbssa.faults import Faults, ModelError
from mbssa.files import read_text
from mbssa.io.robots.robot import Kind, Robot, RobotJoint

_KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
_ENDINGS = (".yaml", ".yml")


def complete(robot: Robot, model: Path, faults: Faults) -> None:
    """Add what the file beside a model says: that of the same name, else ``robot.yaml``, if there is one."""
    names = [f"{stem}{ending}" for stem in (model.stem, "robot") for ending in _ENDINGS]
    path = next((model.parent / name for name in names if (model.parent / name).is_file()), None)
    content = None if path is None else _content(path, model, faults)
    if path is None or content is None:
        return
    file = path.name
    for key in content:
        if key not in _KEYS:
            what = f"{key!r} is not a key of a side file; it has {', '.join(_KEYS)}"
            faults.add(file, what, "unknown")
    kinds, motors, changed, changed_to = (_names(content, key, file, faults) for key in _KEYS[1:])
    pairs = _pairs(content.get("closed_loop"), file, faults)
    if len(kinds) != len(pairs):
        what = f"{len(kinds)} for {len(pairs)} closures; write 3d or 6d for each"
        faults.add(f"{file} type", what, "conflict")
    if len(changed) != len(changed_to):
        what = f"{len(changed_to)} for {len(changed)} names; write one for each"
        faults.add(f"{file} joint_type", what, "conflict")
    robot.notes.append(f"closures, motors and joint types are from {file}")
    for name, kind in zip(changed, changed_to, strict=False):
        if name not in robot.joints:
            # Files of a collection name joints of its other robots here.
            robot.notes.append(f"{file} joint_name: {name!r} is no joint of the model; left out")
        elif (joint := _changed(robot.joints[name], kind)) is None:
            what = f"{kind!r} of {name!r}; write SPHERICAL, FIXED, or UJOINT_ and two different axes"
            faults.add(f"{file} joint_type", what)
        else:
            robot.joints[name] = joint
            robot.notes.append(f"{file}: {name!r} is {kind}")
    for name in motors:
        if name not in robot.joints:
            faults.add(f"{file} name_mot", f"{name!r} is no joint of the model", "unknown")
        elif robot.joints[name].kind in (Kind.FIXED, Kind.FREE):
            faults.add(f"{file} name_mot", f"{name!r} has no coordinate to drive")
    robot.driven = tuple(motors) or robot.driven
    for number, (pair, kind) in enumerate(zip(pairs, kinds, strict=False), 1):
        where = f"{file} closed_loop {number}"
        first, second = (_link(robot, name, where, faults) for name in pair)
        if kind.lower() not in ("3d", "6d"):
            faults.add(f"{where} type", f"is {kind!r}; write 3d, a ball, or 6d, a weld")
        closed = Kind.FIXED if kind.lower() == "6d" else Kind.BALL
        name = f"{pair[0]} {pair[1]}"
        robot.closures.append(RobotJoint(name, where, closed, first, second, np.eye(4), closes=True))


def _content(path: Path, model: Path, faults: Faults) -> dict[str, Any] | None:
    if path.resolve().parent != model.resolve().parent:
        faults.add(path.name, "is a link out of the folder of the model; put the file there", "file")
        return None
    try:
        text = read_text(path, "YAML")
    except ModelError as error:
        faults += [fault.at(f"{path.name} {fault.place}") for fault in error.faults]
        return None
    if len(text) > SIDE_CHARACTERS:
        what = f"is longer than {SIDE_CHARACTERS:,} characters, which no side file is"
        faults.add(path.name, what, "size")
        return None
    before = len(faults)
    content = _plain_yaml(text, path.name, faults)
    if len(faults) == before and not isinstance(content, dict):
        faults.add(path.name, f"has no keys; write some of {', '.join(_KEYS)}", "missing")
    return content if isinstance(content, dict) else None


def _names(content: dict[str, Any], key: str, file: str, faults: Faults) -> list[str]:
    names = content.get(key)
    if isinstance(names, list) and all(isinstance(each, str) for each in names):
        return names
    if names is not None:
        faults.add(f"{file} {key}", "is no list of names; write [name, name]")
    return []


def _pairs(pairs: Any, file: str, faults: Faults) -> Sequence[tuple[str, str]]:
    if pairs is not None and not isinstance(pairs, list):
        faults.add(f"{file} closed_loop", "is no list; write [[A, B], [C, D]]")
    found = list[tuple[str, str]]()
    for number, pair in enumerate(pairs if isinstance(pairs, list) else [], 1):
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(each, str) for each in pair):
            found.append((pair[0], pair[1]))
        else:
            faults.add(f"{file} closed_loop {number}", "is no pair of frames; write [A, B]")
    return found


def _changed(joint: RobotJoint, kind: str) -> RobotJoint | None:
    axes = re.fullmatch(r"UJOINT_([XYZ])([XYZ])", kind)
    if axes is not None and axes[1] != axes[2]:
        pins = tuple(np.eye(3)["XYZ".index(letter)] for letter in axes.groups())
        return replace(joint, kind=Kind.UNIVERSAL, axes=pins, limits=None, mimic=None)
    whole = {"SPHERICAL": Kind.BALL, "FIXED": Kind.FIXED}.get(kind)
    return None if whole is None else replace(joint, kind=whole, limits=None, mimic=None)


def _link(robot: Robot, frame: str, where: str, faults: Faults) -> str:
    """The link whose own frame is meant: a link's name, or a joint's, which moves with its child."""
    of_joint = robot.joints[frame].child if frame in robot.joints else None
    of_link = frame if frame in robot.links else None
    if of_joint is None and of_link is None:
        faults.add(where, f"{frame!r} is neither a link nor a joint of the model", "unknown")
    if None not in (of_joint, of_link) and of_joint != of_link:
        what = f"{frame!r} is a link, and a joint whose child is {of_joint!r}; rename one"
        faults.add(where, what, "conflict")
    return of_link or of_joint or ""


def _plain_yaml(text: str, file: str, faults: Faults) -> Any:
    """Texts, lists and dictionaries of a document; None for other content."""
    # No tags, anchors or merges, no key twice, no numbers or dates.
    import yaml

    seen = set[int]()

    def value_of(node: yaml.Node) -> Any:
        if id(node) in seen:
            refuse("an anchor is named again; write it out", node)
        seen.add(id(node))
        if node.tag.rpartition(":")[2] not in ("str", "seq", "map"):
            refuse(f"the tag {node.tag!r} is not read; take it out", node)
        if isinstance(node, yaml.ScalarNode):
            return None if not node.style and node.value in ("", "~", "null") else node.value
        if isinstance(node, yaml.SequenceNode):
            return [value_of(each) for each in node.value]
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = value_of(key)
            if not isinstance(name, str) or name == "<<":
                refuse("a key is no text", key)
            if name in found:
                refuse(f"the key {name!r} is there twice; write it once", key)
            found[name] = value_of(value)
        return found

    def refuse(what: str, node: yaml.Node) -> None:
        raise yaml.MarkedYAMLError(problem=what, problem_mark=node.start_mark)

    # One guard: the parser has exceptions of many kinds for texts that are none.
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
        return None if node is None else value_of(node)
    except Exception as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark is not None else ""
        deep = f"{type(error).__name__}, as of a text that is nested too deep"
        what = f"is not YAML of texts, lists and mappings: {getattr(error, 'problem', deep)}"
        faults.add(f"{file}{line}", what, "syntax")
        return None
