"""Side file of closed loops and motors, which a URDF cannot express, in the layout of robot.yaml."""

# closed_loop: [[knee_A, knee_B]], links or joints (their children), of type: [6d] (3d: a ball at their
# origins; 6d: welded); name_mot: [hip], driven; joint_name: [ankle] with joint_type: [SPHERICAL], FIXED or
# UJOINT_XY (about x, then y, of its frame).

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mbssa.bounds import SIDE_CHARACTERS
from mbssa.faults import Faults, ModelError
from mbssa.files import read_text
from mbssa.io.robots.robot import Closure, Kind, Robot, RobotJoint

_KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class SideFile:
    """Lists of names, each of the keys of the file; empty where it has none."""

    path: Path
    pairs: tuple[tuple[str, str], ...]
    kinds: tuple[str, ...]
    motors: tuple[str, ...]
    changed: tuple[str, ...]
    changed_to: tuple[str, ...]


def side_file_of(model: Path, faults: Faults) -> SideFile | None:
    """The side file beside a model: of the same name, else ``robot.yaml``; None if there is neither."""
    names = [*(f"{model.stem}{ending}" for ending in _ENDINGS), *(f"robot{ending}" for ending in _ENDINGS)]
    path = next((model.parent / name for name in names if (model.parent / name).is_file()), None)
    if path is None:
        return None
    if path.resolve().parent != model.resolve().parent:
        faults.add(path.name, "is a link out of the folder of the model; put the file there", "file")
        return None
    try:
        return _read(path, faults)
    except ModelError as error:
        faults += [fault.at(f"{path.name} {fault.place}") for fault in error.faults]
        return None


def _read(path: Path, faults: Faults) -> SideFile | None:
    text = read_text(path, "YAML")
    if len(text) > SIDE_CHARACTERS:
        what = f"is longer than {SIDE_CHARACTERS:,} characters, which no side file is"
        faults.add(path.name, what, "size")
        return None
    try:
        content = plain_yaml(text)
    except YamlError as error:
        line = f" line {error.line}" if error.line else ""
        faults.add(f"{path.name}{line}", f"is not YAML of texts, lists and mappings: {error}", "syntax")
        return None
    if not isinstance(content, dict):
        faults.add(path.name, f"has no keys; write some of {', '.join(_KEYS)}", "missing")
        return None
    for key in content:
        if key not in _KEYS:
            what = f"{key!r} is not a key of a side file; it has {', '.join(_KEYS)}"
            faults.add(path.name, what, "unknown")
    names = {key: _names(content, key, path, faults) for key in _KEYS[1:]}
    pairs = _pairs(content, path, faults)
    if len(names["type"]) != len(pairs):
        what = f"{len(names['type'])} for {len(pairs)} closures; write 3d or 6d for each"
        faults.add(f"{path.name} type", what, "conflict")
    if len(names["joint_name"]) != len(names["joint_type"]):
        what = f"{len(names['joint_type'])} for {len(names['joint_name'])} names; write one for each"
        faults.add(f"{path.name} joint_type", what, "conflict")
    return SideFile(path, pairs, *(names[key] for key in _KEYS[1:]))


def _names(content: dict[str, Any], key: str, path: Path, faults: Faults) -> tuple[str, ...]:
    value = content.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        faults.add(f"{path.name} {key}", "is no list of names; write [name, name]")
        return ()
    return tuple(value)


def _pairs(content: dict[str, Any], path: Path, faults: Faults) -> tuple[tuple[str, str], ...]:
    value = content.get("closed_loop")
    found = []
    for number, pair in enumerate(value if isinstance(value, list) else [], 1):
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(each, str) for each in pair):
            found.append((pair[0], pair[1]))
        else:
            faults.add(f"{path.name} closed_loop {number}", "is no pair of frames; write [A, B]")
    if value is not None and not isinstance(value, list):
        faults.add(f"{path.name} closed_loop", "is no list; write [[A, B], [C, D]]")
    return tuple(found)


def completed(robot: Robot, side: SideFile, faults: Faults) -> Robot:
    """The robot with the closures, driven joints and changed joints of a side file."""
    file = side.path.name
    joints, said = dict(robot.joints), [f"closures, motors and joint types are from {file}"]
    for name, kind in zip(side.changed, side.changed_to, strict=False):
        if name not in joints:
            # Files of a collection name joints of its other robots here.
            said.append(f"{file} joint_name: {name!r} is no joint of the model; left out")
        elif (changed := _changed(joints[name], kind)) is None:
            what = f"{kind!r} of {name!r}; write SPHERICAL, FIXED, or UJOINT_ and two different axes"
            faults.add(f"{file} joint_type", what)
        else:
            joints[name] = changed
            said.append(f"{file}: {name!r} is {kind}")
    for name in side.motors:
        if name not in joints:
            faults.add(f"{file} name_mot", f"{name!r} is no joint of the model", "unknown")
        elif joints[name].kind in (Kind.FIXED, Kind.FREE):
            faults.add(f"{file} name_mot", f"{name!r} has no coordinate to drive")
    return replace(
        robot,
        joints=joints,
        closures=(*robot.closures, *_closures(robot, side, faults)),
        driven=side.motors or robot.driven,
        notes=(*robot.notes, *said),
    )


def _changed(joint: RobotJoint, kind: str) -> RobotJoint | None:
    if kind == "SPHERICAL":
        return replace(joint, kind=Kind.BALL, limits=None, mimic=None)
    if kind == "FIXED":
        return replace(joint, kind=Kind.FIXED, limits=None, mimic=None)
    axes = re.fullmatch(r"UJOINT_([XYZ])([XYZ])", kind)
    if axes is None or axes[1] == axes[2]:
        return None
    pins = tuple(np.eye(3)["XYZ".index(letter)] for letter in axes.groups())
    return replace(joint, kind=Kind.UNIVERSAL, axes=pins, limits=None, mimic=None)


def _closures(robot: Robot, side: SideFile, faults: Faults) -> Sequence[Closure]:
    found = []
    for number, (pair, kind) in enumerate(zip(side.pairs, side.kinds, strict=False), 1):
        where = f"{side.path.name} closed_loop {number}"
        links = [_link(robot, name, where, faults) for name in pair]
        if kind.lower() not in ("3d", "6d"):
            faults.add(f"{where} type", f"is {kind!r}; write 3d, a ball, or 6d, a weld")
        first, second = links
        if first is not None and second is not None:
            name = f"{pair[0]} {pair[1]}"
            found.append(Closure(name, where, first, second, kind.lower() == "6d"))
    return found


def _link(robot: Robot, frame: str, where: str, faults: Faults) -> str | None:
    """The link whose own frame is meant: a link's name, or a joint's, which moves with its child."""
    of_joint = robot.joints[frame].child if frame in robot.joints else None
    of_link = frame if frame in robot.links else None
    if of_joint is None and of_link is None:
        faults.add(where, f"{frame!r} is neither a link nor a joint of the model", "unknown")
    if None not in (of_joint, of_link) and of_joint != of_link:
        what = f"{frame!r} is a link, and a joint whose child is {of_joint!r}; rename one"
        faults.add(where, what, "conflict")
    return of_link or of_joint


# --- YAML ---------------------------------------------------------------------------------------------


class YamlError(Exception):
    """Fault of a text, at a line if that is known."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what)
        self.line = line


def plain_yaml(text: str) -> Any:
    """Texts, lists and dictionaries of a document; None for other content."""
    # No tags, anchors or merges, no key twice, no numbers or dates.
    import yaml

    # One guard: the parser has exceptions of many kinds for texts that are none.
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
        return None if node is None else _value(node, set())
    except YamlError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise YamlError(str(error.problem), None if mark is None else mark.line + 1) from None
    except Exception as error:
        raise YamlError(f"{type(error).__name__}, as of a text that is nested too deep") from None


def _value(node: Any, seen: set[int]) -> Any:
    import yaml

    line = node.start_mark.line + 1
    if id(node) in seen:
        raise YamlError("an anchor is named again; write it out", line)
    seen.add(id(node))
    if node.tag.rpartition(":")[2] not in ("str", "seq", "map"):
        raise YamlError(f"the tag {node.tag!r} is not read; take it out", line)
    if isinstance(node, yaml.ScalarNode):
        return None if not node.style and node.value in ("", "~", "null") else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_value(each, seen) for each in node.value]
    found: dict[str, Any] = {}
    for key, value in node.value:
        name, line = _value(key, seen), key.start_mark.line + 1
        if not isinstance(name, str) or name == "<<":
            raise YamlError("a key is no text", line)
        if name in found:
            raise YamlError(f"the key {name!r} is there twice; write it once", line)
        found[name] = _value(value, seen)
    return found
