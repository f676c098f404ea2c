"""What a sweep records of every case, by name, and how it is measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from groups import Model, Trajectory
from groups.results.rotations import in_space, plane_rotation, rotation_of
from mbssa import Mechanism
from mbssa.joints.catalogue import coordinate_unit
from mbssa.joints.equations import coordinates, equations_of
from mbssa.joints.frames import Frames
from routes.sweep.parameters import hint, owner_of
from routes.sweep.poses import Poses

Floats = npt.NDArray[np.float64]
Kind = Literal["coordinate", "point", "body", "figure"]
Limits = Mapping[str, tuple[float, float]]

#: Figures of a whole case: the worst of all groups.
FIGURES = {"residual": "m or rad", "condition": ""}

#: What follows the name of a coordinate for its derivatives, and their units.
_DERIVATIVES = {"rate": "/s", "acceleration": "/s^2"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """One thing to be measured: a joint's coordinate, a body's point or pose, or a figure of the case.

    Attributes
    ----------
    name : as it was asked for
    columns, units : of the numbers that it gives
    index : of the joint or the body
    part : coordinate, point or figure
    order : 0 for the value, 1 for its rate, 2 for its acceleration
    """

    name: str
    kind: Kind
    columns: tuple[str, ...]
    units: tuple[str, ...]
    index: int = -1
    part: str = ""
    order: int = 0


def quantities_of(
    mechanism: Mechanism, frames: Frames, names: Iterable[str], *, moving: bool
) -> tuple[Quantity, ...]:
    """What these names mean: joint, ``joint.coordinate``, body, ``body.point``, residual, condition.

    Parameters
    ----------
    moving : whether cases are motions, so that ``joint.coordinate.rate`` and ``.acceleration`` are there

    Raises
    ------
    ValueError
        Names that mean nothing: all of them, with what to write instead.

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.joints.frames import joint_frames
    >>> bar = mbssa.load("planar_four_bar")
    >>> for found in quantities_of(bar, joint_frames(bar), ["2-3", "coupler.tracer"], moving=False):
    ...     print(found.kind, *found.columns)
    coordinate 2-3.angle
    point coupler.tracer.x coupler.tracer.y
    """
    found: list[Quantity] = []
    faults = []
    for name in names:
        try:
            found += _quantities(mechanism, frames, name.strip(), moving)
        except ValueError as error:
            faults.append(f"{name}: {error}")
    if faults:
        raise ValueError("\n  ".join(dict.fromkeys(faults)))
    return tuple({each.columns: each for each in found}.values())


def _quantities(mechanism: Mechanism, frames: Frames, name: str, moving: bool) -> list[Quantity]:
    if name in FIGURES:
        return [Quantity(name, "figure", (name,), (FIGURES[name],), part=name)]
    try:
        kind, index, rest = owner_of(mechanism, name)
    except ValueError as error:
        raise ValueError(f"{error} Figures are {', '.join(FIGURES)}") from None
    planar = mechanism.space == "planar"
    if kind == "body":
        body = mechanism.body_name(index)
        axes = ("x", "y") if planar else ("x", "y", "z")
        if not rest:
            turn = {"angle": "rad"} if planar else dict.fromkeys(("qw", "qx", "qy", "qz"), "")
            columns = {**dict.fromkeys(axes, "m"), **turn}
            return [
                Quantity(name, "body", tuple(f"{body}.{c}" for c in columns), tuple(columns.values()), index)
            ]
        geometry = mechanism.body_geometry.get(index)
        points = list(geometry.points) if geometry is not None else []
        if rest not in points:
            raise ValueError(f"body {body} has no point {rest!r}; {hint(rest, points, 'its points are')}")
        return [
            Quantity(
                name, "point", tuple(f"{body}.{rest}.{a}" for a in axes), ("m",) * len(axes), index, rest
            )
        ]
    joint = mechanism.joints[index]
    if not frames.known[index] or equations_of(joint.type) is None:
        raise ValueError(f"joint {joint.id}, a {joint.type.code}, cannot be measured")
    names = joint.type.coordinates
    if not rest:
        return [_coordinate(name, joint.id, index, each) for each in names]
    head, _, tail = rest.rpartition(".")
    if tail in _DERIVATIVES and head in names:
        if not moving:
            raise ValueError(f"a pose has no {tail}; give a motion, or leave it out")
        return [_coordinate(name, joint.id, index, head, tail)]
    if rest not in names:
        raise ValueError(f"joint {joint.id} has no coordinate {rest!r}; {hint(rest, names, 'it has')}")
    return [_coordinate(name, joint.id, index, rest)]


def _coordinate(name: str, joint: str, index: int, part: str, derivative: str = "") -> Quantity:
    column = f"{joint}.{part}" + (f".{derivative}" if derivative else "")
    unit = coordinate_unit(part) + _DERIVATIVES.get(derivative, "")
    order = ["", *_DERIVATIVES].index(derivative)
    return Quantity(name, "coordinate", (column,), (unit,), index, part, order)


def bodies_needed(mechanism: Mechanism, quantities: Iterable[Quantity]) -> list[int]:
    """Indices of the bodies whose poses quantities are measured on, ascending.

    >>> import mbssa
    >>> from mbssa.joints.frames import joint_frames
    >>> bar = mbssa.load("planar_four_bar")
    >>> bodies_needed(bar, quantities_of(bar, joint_frames(bar), ["2-3.angle"], moving=False))
    [1, 2]
    """
    found: set[int] = set()
    for each in quantities:
        if each.kind == "coordinate":
            found.update(mechanism.joint_bodies(each.index)[:2])
        elif each.kind != "figure":
            found.add(each.index)
    return sorted(found)


def limits_of(mechanism: Mechanism, given: Limits) -> dict[str, tuple[float, float]]:
    """Limits of joint coordinates, m or rad: those of the model file, and those given, which come first.

    Raises
    ------
    ValueError
        Coordinates that there are not, a lower limit above the upper one: all of them.

    Examples
    --------
    >>> import mbssa
    >>> limits_of(mbssa.load("stewart"), {"4-5.slide": (0.9, 1.4)})["4-5.slide"]
    (0.9, 1.4)
    """
    found: dict[str, tuple[float, float]] = {}
    for j, geometry in sorted(mechanism.joint_geometry.items()):
        for name, (low, high) in geometry.limits.items():
            found[f"{mechanism.joint_ids[j]}.{name}"] = (low, high)
    faults = []
    for name, ends in given.items():
        try:
            kind, index, rest = owner_of(mechanism, name)
            joint = mechanism.joints[index]
            if kind != "joint" or rest not in joint.type.coordinates:
                raise ValueError("limits are of joint coordinates, such as 2-3.slide")
            low, high = (float(end) for end in ends)
            if math.isnan(low) or math.isnan(high) or low > high:
                raise ValueError(f"from {low} to {high} is no range; write the lower end first")
            found[f"{joint.id}.{rest}"] = (low, high)
        except (ValueError, TypeError) as error:
            faults.append(f"limit of {name}: {error}")
    if faults:
        raise ValueError("\n  ".join(faults))
    return found


# --- poses -----------------------------------------------------------------------------------------


def measured(model: Model, poses: Poses, quantities: Iterable[Quantity]) -> dict[str, Floats]:
    """(n,) numbers by column. What depends on nothing but its own pose does so to the last turn.

    Angles are those within half a turn of the reference's, quaternions those with w ≥ 0.
    """
    seen = _Seen(model, poses)
    found: dict[str, Floats] = {}
    joints: dict[int, Floats] = {}
    for each in quantities:
        if each.kind == "figure":
            array = poses.residual if each.part == "residual" else poses.condition
            worst = array.max(axis=0) if each.part == "residual" else array.min(axis=0)
            found[each.columns[0]] = worst
        elif each.kind == "coordinate":
            if each.index not in joints:
                joints[each.index] = _joint(model, seen, each.index)
            names = model.mechanism.joints[each.index].type.coordinates
            found[each.columns[0]] = joints[each.index][:, names.index(each.part)]
        else:
            numbers = _point(model, seen, each) if each.kind == "point" else _pose(model, poses, each.index)
            found.update(zip(each.columns, numbers.T, strict=True))
    return found


class _Seen:
    """Poses of bodies in space, each turned into matrices once."""

    def __init__(self, model: Model, poses: Poses) -> None:
        self.model, self.poses = model, poses
        self._known: dict[int, tuple[Floats, Floats]] = {}

    def __getitem__(self, body: int) -> tuple[Floats, Floats]:
        """Position (n, 3) and rotation (n, 3, 3); one of each for the frame, which stands still."""
        if body not in self._known:
            at = self.model.reference
            if body == 0:
                self._known[0] = at.position[:1], at.rotation[:1]
            else:
                position, orientation = self.poses.of(body)
                turn = plane_rotation if orientation.ndim == 1 else rotation_of
                self._known[body] = in_space(position), turn(orientation)
        return self._known[body]


def _joint(model: Model, seen: _Seen, index: int) -> Floats:
    """(n, k) coordinates of a joint."""
    joint, frames = model.mechanism.joints[index], model.frames
    a, b = model.mechanism.joint_bodies(index)[:2]
    found = _relative(model, seen[a], seen[b], index)
    at = model.reference
    ends = [(at.position[body : body + 1], at.rotation[body : body + 1]) for body in (a, b)]
    principal = _relative(model, ends[0], ends[1], index)[0]
    given = joint.geometry.at_reference if joint.geometry is not None else {}
    for k, name in enumerate(joint.type.coordinates):
        if coordinate_unit(name) != "m" and frames.known[index]:
            near = given.get(name, principal[k])
            found[:, k] -= 2 * np.pi * np.round((found[:, k] - near) / (2 * np.pi))
    return found


def _relative(
    model: Model, first: tuple[Floats, Floats], second: tuple[Floats, Floats], index: int
) -> Floats:
    frames = model.frames
    rows = equations_of(model.mechanism.joints[index].type)
    assert rows is not None
    (p, R), (q, S) = first, second
    axes = R @ frames.axes[index, 0]
    across = q + S @ frames.origin[index, 1] - p - R @ frames.origin[index, 0]
    n = len(across)
    d: Floats = np.einsum("nba,nb->na", axes, across) if len(axes) == n else across @ axes[0]
    C = axes.transpose(0, 2, 1) @ (S @ frames.axes[index, 1])
    C = np.broadcast_to(C, (n, 3, 3))
    parameters = {name: np.full(n, column[index]) for name, column in frames.parameters.items()}
    with np.errstate(invalid="ignore", divide="ignore"):
        values, _ = coordinates(rows, d, C, parameters)
    return values


def _point(model: Model, seen: _Seen, each: Quantity) -> Floats:
    geometry = model.mechanism.body_geometry[each.index]
    at = model.frames
    away = in_space(np.asarray(geometry.points[each.part], dtype=float)) - at.position[each.index]
    position, rotation = seen[each.index]
    found: Floats = position + rotation @ (at.rotation[each.index].T @ away)
    return np.broadcast_to(found, (seen.poses.number, 3))[:, : len(each.columns)]


def _pose(model: Model, poses: Poses, body: int) -> Floats:
    position, orientation = poses.of(body)
    if orientation.ndim == 1:
        near = model.reference.angle[body]
        angle = orientation - 2 * np.pi * np.round((orientation - near) / (2 * np.pi))
        return np.column_stack([position, angle])
    sign = np.where(orientation[:, :1] < 0.0, -1.0, 1.0)
    return np.column_stack([position, sign * orientation])


# --- motions ---------------------------------------------------------------------------------------


def followed(trajectory: Trajectory, quantities: Iterable[Quantity]) -> dict[str, Floats]:
    """(T,) numbers by column over a motion; angles go on over turns."""
    found: dict[str, Floats] = {}
    for each in quantities:
        if each.kind == "figure":
            array = trajectory.residual if each.part == "residual" else trajectory.condition
            found[each.columns[0]] = array.max(axis=1) if each.part == "residual" else array.min(axis=1)
        elif each.kind == "coordinate":
            motion = trajectory.joint(trajectory.mechanism.joint_ids[each.index])[each.part]
            level = (motion.value, motion.rates, motion.accelerations)[each.order]
            assert level is not None  # the motion was solved to this level
            found[each.columns[0]] = level
        else:
            body = trajectory.body(each.index + 1)
            if each.kind == "point":
                numbers = body.point(each.part)
            else:
                turn = body.orientation[:, None] if trajectory.planar else body.orientation
                numbers = np.concatenate([body.position, turn], axis=1)
            found.update(zip(each.columns, numbers.T, strict=True))
    return found
