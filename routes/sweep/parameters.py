"""Parameters of a sweep by name, and mechanisms with changed parameters."""

# Names are an input, or a joint's id, a body's name or "force" with a name, then keys of its table in the
# model file, entries from 1: 2-3.points[2].y, crank.points.tip.x. frames[1] and frames[2] move a joint on one
# body alone. "+" at the end adds, "&" joins names, "mode 3" is the assembly mode of group 3.

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from groups.motion import driven_coordinates
from groups.trajectory import body_index
from mbssa import Mechanism
from mbssa.joints.catalogue import coordinate_unit, is_length, type_of_joint
from mbssa.joints.frames import joint_frames
from mbssa.loads import FORCE_TYPES, Force, inertia_matrix, principal_moments
from mbssa.mechanism import BodyGeometry, JointFrame, JointGeometry

Kind = Literal["input", "rate", "joint", "body", "force", "mode"]
Key = str | int

#: Fields that may be changed, of joints and of bodies.
_JOINT = (
    "point", "points", "axis", "axes", "frames", "pitch", "ratio", "radius", "length", "offsets",
    "at_reference", "multiplier", "offset",
)  # fmt: skip
_BODY = ("origin", "orientation", "points", "inertia")

#: Fields of force elements that are no numbers, and may not be changed.
_NO_NUMBER = ("bodies", "coordinate", "axes", "factor", "function", "profile", "terrain")

#: Units of mass properties; those that are not here are kg m^2.
_INERTIA = {"mass": "kg", "centre": "m"}

_AXES = {"x": 0, "y": 1, "z": 2}
_QUATERNION = {"w": 0, "x": 1, "y": 2, "z": 3}


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that a parameter sets."""

    kind: Kind
    index: int  # of the driven coordinate, the joint, the body or the force; number of the group
    path: tuple[Key, ...] = ()  # keys from the joint's or body's geometry, or the force, down to a number

    @property
    def is_dynamic(self) -> bool:
        """Whether it matters to simulations alone."""
        return self.kind in ("rate", "force") or self.path[:1] == ("inertia",)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A column of the cases: its targets, and whether its values are offsets."""

    name: str
    targets: tuple[Target, ...]
    offset: bool

    @property
    def is_input(self) -> bool:
        """Whether it leaves the model and its modes as they are."""
        return self.targets[0].kind in ("input", "rate")


def unit_of(mechanism: Mechanism, parameter: Parameter) -> str:
    """SI unit of a parameter's values, such as m, rad or N/m; "" for a plain number."""
    target = parameter.targets[0]
    if target.kind == "mode":
        return ""
    if target.kind == "force":
        force = mechanism.forces[target.index]
        turning = force.coordinate is not None and not is_length(force.coordinate)
        return FORCE_TYPES[force.type].unit_of(str(target.path[0]), turning)
    if target.kind in ("input", "rate"):
        unit = coordinate_unit(driven_coordinates(mechanism)[target.index].rpartition(".")[2])
        return unit + "/s" * (target.kind == "rate")
    if target.path[0] == "inertia":
        return _INERTIA.get(str(target.path[1]), "kg m^2")
    if target.path[0] == "at_reference":
        return coordinate_unit(str(target.path[1]))
    if target.path[0] == "orientation":
        return "rad" if mechanism.space == "planar" else ""
    if target.path[0] in ("multiplier", "offset"):
        couples = mechanism.joint_geometry[target.index].couples or ("", "")
        first, second = (coordinate_unit(name) for name in couples)
        return second if target.path[0] == "offset" else "" if first == second else f"{second}/{first}"
    last = [key for key in target.path if isinstance(key, str)][-1] if target.kind == "joint" else "origin"
    return {"axis": "", "axes": "", "z": "", "x": "", "ratio": "", "pitch": "m/rad"}.get(last, "m")


def parameters_of(mechanism: Mechanism, names: Iterable[str], n_groups: int) -> tuple[Parameter, ...]:
    """Parameters of a mechanism, by their names; a ValueError has all unknown names, with remedies."""
    found, faults = [], []
    for name in names:
        text = name.strip()
        offset = text.endswith("+")
        parts = [part.strip() for part in text.removesuffix("+").split("&")]
        targets = []
        for part in parts:
            try:
                targets.append(_target(mechanism, part, n_groups))
            except ValueError as error:
                faults.append(f"{name}: {error}")
        if len(targets) < len(parts):
            continue
        if len({{"input": 0, "rate": 1}.get(target.kind) for target in targets}) > 1:
            faults.append(f"{name}: inputs, rates and geometry cannot have one value")
        elif offset and targets[0].kind == "mode":
            faults.append(f"{name}: the number of a mode is no offset; leave out the +")
        found.append(Parameter(name, tuple(targets), offset))
    taken: dict[Target, str] = {}
    for parameter in found:
        for target in parameter.targets:
            if taken.setdefault(target, parameter.name) != parameter.name:
                faults.append(f"{parameter.name}: {taken[target]} sets the same")
    if faults:
        raise ValueError("\n  ".join(dict.fromkeys(faults)))
    return tuple(found)


def owner_of(mechanism: Mechanism, text: str) -> tuple[Literal["joint", "body"], int, str]:
    """Joint or body that a dotted name begins with, its index, and the rest of the name."""
    # "joint pin.point.x" and "body pin.origin.x" distinguish the two where both are called pin.
    word, _, after = text.partition(" ")
    only = word if word in ("joint", "body") and after else None
    text = after.strip() if only else text
    cuts = [*(m.start() for m in re.finditer(r"\.", text)), len(text)]
    for cut in reversed(cuts):  # names may have dots of their own
        head, rest = text[:cut], text[cut + 1 :]
        owners: list[tuple[Literal["joint", "body"], int, str]] = []
        if only != "body":
            try:
                owners.append(("joint", mechanism.joint(head).index, rest))
            except KeyError as error:
                if "ambiguous" in str(error):
                    raise ValueError(error.args[0]) from None
        if only != "joint":
            with suppress(KeyError):
                owners.append(("body", body_index(mechanism, head), rest))
        if len(owners) == 2:
            raise ValueError(f"{head!r} is a joint and a body; write joint {text} or body {text}")
        if owners:
            return owners[0]
    head = text.split(".")[0]
    known = [*mechanism.joint_ids[:40], *(mechanism.body_name(b) for b in range(min(mechanism.n_bodies, 40)))]
    raise ValueError(f"no joint or body {head!r}; {hint(head, known, 'there are')}")


def hint(word: str, known: Sequence[str], otherwise: str) -> str:
    """Text ``did you mean 'x'?``, or all known words."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"{otherwise} {', '.join(known) or 'nothing'}"


def _target(mechanism: Mechanism, text: str, n_groups: int) -> Target:
    mode = re.fullmatch(r"mode\s+(?:SG-)?(\d+)", text)
    if mode is not None:
        group = int(mode[1])
        if not 1 <= group <= n_groups:
            raise ValueError(f"there is no group {group}; the groups are 1 to {n_groups}")
        return Target("mode", group)
    inputs = driven_coordinates(mechanism)
    if text in inputs:
        return Target("input", inputs.index(text))
    if text.endswith(".rate") and text.removesuffix(".rate") in inputs:
        return Target("rate", inputs.index(text.removesuffix(".rate")))
    if text.startswith("force "):
        return _force_target(mechanism, text.removeprefix("force ").strip())
    kind, index, rest = owner_of(mechanism, text)
    if kind == "joint":
        joint = mechanism.joints[index]
        name = f"{joint.id}.{rest}"
        if name in inputs:
            return Target("input", inputs.index(name))
        if rest in joint.type.coordinates:
            raise ValueError(f"is not driven; driven are {', '.join(inputs) or 'none'}")
        near = difflib.get_close_matches(name, inputs, n=1)
        if near and re.split(r"[.\[]", rest)[0] not in _JOINT:
            raise ValueError(f"did you mean {near[0]!r}?")
    keys = _keys(rest, _BODY if kind == "body" else _JOINT)
    if kind == "body":
        geometry: Any = mechanism.geometry_of(index)
        what = f"body {mechanism.body_name(index)}"
    else:
        geometry = mechanism.joint_geometry.get(index)
        what = f"joint {mechanism.joints[index].id}"
        if geometry is None:
            raise ValueError(f"{what} has no geometry")
        if keys[0] == "frames":
            geometry = with_frames(mechanism, index)
    return Target(kind, index, _checked(geometry, keys, what))


def _force_target(mechanism: Mechanism, text: str) -> Target:
    """Parameter that ``strut.stiffness`` names, of the force element ``strut``."""
    for index, force in enumerate(mechanism.forces):
        if text.startswith(f"{force.id}."):
            numbers = [key for key in FORCE_TYPES[force.type].takes if key not in _NO_NUMBER]
            keys = _keys(text.removeprefix(f"{force.id}."), numbers)
            return Target("force", index, _checked(force, keys, f"force {force.id}"))
    known = [force.id for force in mechanism.forces]
    raise ValueError(f"no force {text.partition('.')[0]!r}; {hint(text, known, 'there are')}")


def _keys(rest: str, fields: Sequence[str]) -> list[Key]:
    """Keys of a text: ``points[2].y`` as points, 1, y."""
    keys: list[Key] = []
    for part in rest.split(".") if rest else []:
        match = re.fullmatch(r"(.*?)((?:\[\d+\])*)", part)
        assert match is not None
        keys.append(match[1])
        keys += [int(entry) - 1 for entry in re.findall(r"\d+", match[2])]
    if not keys or keys[0] not in fields:
        word = str(keys[0]) if keys else ""
        raise ValueError(f"{word!r} cannot be changed; {hint(word, fields, 'what can is')}")
    return keys


def _checked(value: Any, keys: Sequence[Key], what: str) -> tuple[Key, ...]:
    """The keys with axes as numbers; they must lead to a number."""
    path: list[Key] = []
    for place, key in enumerate(keys):
        named = what + "".join(f" {k}" if isinstance(k, str) else f"[{k + 1}]" for k in keys[:place])
        if dataclasses.is_dataclass(value) and isinstance(key, str):
            value = getattr(value, key, None)
            if value is None:
                raise ValueError(f"{named} has no {key!r} in the model")
        elif isinstance(value, Mapping):
            if not value:
                raise ValueError(f"{what} has no {keys[place - 1]} in the model")
            if key not in value:
                raise ValueError(f"{named} has no {key!r}; {hint(str(key), list(value), 'it has')}")
            value = value[key]
        elif isinstance(value, tuple):
            axes = _QUATERNION if keys[place - 1] == "orientation" and len(value) == 4 else _AXES
            names = [name for name, k in axes.items() if k < len(value)]
            vector = not isinstance(value[0], tuple | JointFrame) and keys[place - 1] != "offsets"
            if isinstance(key, str) and vector and key in names:
                key = axes[key]
            if not isinstance(key, int) or not 0 <= key < len(value):
                there = ", ".join(f".{n}" for n in names) if vector else f"[1] to [{len(value)}]"
                raise ValueError(
                    f"{named} has {there}, not {key if isinstance(key, str) else f'[{key + 1}]'}"
                )
            value = value[key]
        else:
            raise ValueError(f"{named} is a number; nothing comes after it")
        path.append(key)
    if isinstance(value, tuple) and len(value) == 1:  # the angle of a planar body
        path.append(0)
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, int | float):
        inside = ".x, .y, …" if isinstance(value, tuple) else "one of its numbers"
        raise ValueError(f"is more than a number; write {inside}")
    return tuple(path)


def framed(mechanism: Mechanism, parameters: Iterable[Parameter]) -> Mechanism:
    """The mechanism with frames of the joints whose frames are to be changed."""
    joints = dict(mechanism.joint_geometry)
    for parameter in parameters:
        for target in parameter.targets:
            if target.kind == "joint" and target.path[0] == "frames":
                joints[target.index] = with_frames(mechanism, target.index)
    return replace(mechanism, joint_geometry=joints)


def changed(mechanism: Mechanism, parameters: Sequence[Parameter], values: Sequence[float]) -> Mechanism:
    """A mechanism that is :func:`framed`, with its geometry, masses and forces changed."""
    of: dict[str, dict[int, Any]] = {
        "joint": dict(mechanism.joint_geometry),
        "body": dict(mechanism.body_geometry),
        "force": dict(enumerate(mechanism.forces)),
    }
    for parameter, value in zip(parameters, values, strict=True):
        for target in parameter.targets:
            if target.kind in of:
                record = of[target.kind].get(target.index, BodyGeometry())
                record = _set(record, target.path, float(value), parameter.offset)
                _sound(record, parameter.name)
                of[target.kind][target.index] = record
    return replace(
        mechanism, joint_geometry=of["joint"], body_geometry=of["body"], forces=tuple(of["force"].values())
    )


def _set(at: Any, path: tuple[Key, ...], value: float, offset: bool) -> Any:
    if not path:
        return at + value if offset else value
    key, rest = path[0], path[1:]
    if isinstance(at, tuple):
        assert isinstance(key, int)
        return (*at[:key], _set(at[key], rest, value, offset), *at[key + 1 :])
    if isinstance(at, Mapping):
        return {**at, key: _set(at[key], rest, value, offset)}
    assert isinstance(key, str)
    return replace(at, **{key: _set(getattr(at, key), rest, value, offset)})


def _sound(geometry: JointGeometry | BodyGeometry | Force, name: str) -> None:
    if isinstance(geometry, Force):
        negative = [key for key in ("stiffness", "damping", "friction") if getattr(geometry, key) < 0.0]
        if negative:
            raise ValueError(f"{name}: the {negative[0]} is negative")
        return
    if isinstance(geometry, BodyGeometry):
        inertia = geometry.inertia
        if inertia is not None:
            wrong = principal_moments(inertia_matrix(inertia.moments or (0.0, 0.0, 0.0), inertia.products))[1]
            if not inertia.mass > 0.0:
                wrong = "the mass must be positive"
            elif (inertia.moment or 0.0) < 0.0:
                wrong = "the moment may not be negative"
            if wrong:
                raise ValueError(f"{name}: mass and moments of inertia are of no body: {wrong}")
        if geometry.orientation is not None and len(geometry.orientation) == 4:
            norm = float(np.linalg.norm(geometry.orientation))
            if norm == 0.0:
                raise ValueError(f"{name}: the orientation is a zero quaternion")
            # A frozen record that has just been made here.
            turned = tuple(part / norm for part in geometry.orientation)
            object.__setattr__(geometry, "orientation", turned)
        return
    for field in ("length", "radius"):
        value = getattr(geometry, field)
        if value is not None and value <= 0:
            raise ValueError(f"{name}: the {field} is {value:g}; it must be positive")
    directions = [geometry.axis, *(geometry.axes or ())]
    directions += [axis for frame in geometry.frames or () for axis in (frame.z, frame.x)]
    if any(axis is not None and not any(axis) for axis in directions):
        raise ValueError(f"{name}: an axis is a zero vector")


def with_frames(mechanism: Mechanism, joint: int) -> JointGeometry:
    """Geometry of a joint by a frame on each body, converted from the form in the model file."""
    geometry = mechanism.joint_geometry[joint]
    if geometry.frames is not None:
        return geometry
    row = type_of_joint(mechanism, joint)
    found = joint_frames(mechanism)
    if not found.known[joint] or mechanism.joint_start[joint + 1] - mechanism.joint_start[joint] > 2:
        raise ValueError(f"joint {mechanism.joint_ids[joint]}: a {row.code} has no frames on its bodies")
    planar = row.space == "planar"
    wide = 2 if planar else 3
    frames = tuple(
        JointFrame(
            tuple(found.origin[joint, side, :wide].tolist()),
            None if planar else tuple(found.axes[joint, side, :, 2].tolist()),
            tuple(found.axes[joint, side, :wide, 0].tolist()),
        )
        for side in (0, 1)
    )
    length = geometry.length
    if length is None and geometry.points is not None and row.line == "rod":
        length = float(found.parameters["length"][joint])
    return replace(
        geometry, point=None, points=None, axis=None, axes=None, frames=frames, length=length, at_reference={}
    )
