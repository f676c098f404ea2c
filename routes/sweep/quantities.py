"""Quantities that a sweep records in every case, by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from groups import Model, Trajectory
from groups.results.expressions import Motion as Expressed
from groups.results.expressions import Operands, derived, named_operands
from groups.rotations import plane_rotation, rotation_of
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.joints.axes import in_space
from mbssa.joints.catalogue import coordinate_unit
from mbssa.joints.equations import elementary_values
from mbssa.joints.frames import Frames
from routes.sweep.parameters import hint, owner_of
from routes.sweep.poses import Poses
from routes.sweep.turns import counted

#: Position (n, 3) and rotation (n, 3, 3).
Pose = tuple[Floats, Floats]
Kind = Literal["coordinate", "point", "body", "figure", "expression"]
Limits = Mapping[str, tuple[float, float]]

#: Figures of a whole case: the worst of all groups.
FIGURES = {"residual": "m", "condition": ""}

#: Suffixes of a coordinate's name for its derivatives, and their units.
_DERIVATIVES = {"rate": "/s", "acceleration": "/s^2"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """Measured quantity: joint coordinate, point or pose of a body, figure, expression."""

    name: str  # as given by the user
    kind: Kind
    columns: tuple[str, ...]
    units: tuple[str, ...]
    index: int = -1  # of the joint or the body
    part: str = ""  # coordinate, point, figure or text of the expression
    order: int = 0  # 0 for the value, 1 for its rate, 2 for its acceleration
    bodies: tuple[int, ...] = ()  # indices of those that an expression names
    joints: tuple[int, ...] = ()  # indices of those of which an expression names an angle


def quantities_of(
    mechanism: Mechanism, frames: Frames, names: Iterable[str], *, moving: bool
) -> tuple[Quantity, ...]:
    """Quantities by name; ``moving`` cases have ``joint.coordinate.rate`` and ``.acceleration`` too."""
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


def expressions_of(mechanism: Mechanism, frames: Frames, derived: Mapping[str, str]) -> tuple[Quantity, ...]:
    """Quantities by expressions over coordinates, points and axes, :mod:`groups.results.expressions`."""
    number, vector = np.zeros(1), np.zeros((1, 3))  # units alone matter here
    operands = Operands(
        named_operands(
            mechanism,
            range(mechanism.n_bodies),
            _coordinates(mechanism, frames),
            coordinate=lambda joint, name: Expressed((number,), *_powers(name)),
            direction=lambda body, k: Expressed((vector,)),
            point=lambda body, name: Expressed((vector,), 1),
        ),
        called=mechanism.called,
        count=1,
        levels=1,
        continuous=False,
        units=mechanism.units,
    )
    found = []
    for name, motion in operands.evaluated(derived).items():
        bodies, joints = set[int](), set[int]()
        for used in operands.used(derived[name]):
            if used.startswith("world."):
                continue
            kind, index, rest = owner_of(mechanism, used)
            bodies.update([index] if kind == "body" else mechanism.joint_bodies(index)[:2])
            if kind == "joint" and coordinate_unit(rest) == "rad":
                joints.add(index)
        of = Quantity(name, "expression", (name,), (motion.unit,), part=derived[name])
        found.append(replace(of, bodies=tuple(sorted(bodies)), joints=tuple(sorted(joints))))
    return tuple(found)


def _coordinates(mechanism: Mechanism, frames: Frames) -> list[tuple[str, str]]:
    """Joint and name of every measurable coordinate."""
    return [
        (joint.id, name)
        for j, joint in enumerate(mechanism.joints)
        if frames.known[j] and joint.type.pair is not None
        for name in joint.type.coordinates
    ]


def _powers(coordinate: str) -> tuple[int, int]:
    """Exponents of m and rad in the unit of a coordinate."""
    return (1, 0) if coordinate_unit(coordinate) == "m" else (0, 1)


def _quantities(mechanism: Mechanism, frames: Frames, name: str, moving: bool) -> list[Quantity]:
    if name in FIGURES:
        return [Quantity(name, "figure", (name,), (FIGURES[name],), part=name)]
    try:
        kind, index, rest = owner_of(mechanism, name)
    except ValueError as error:
        raise ValueError(f"{error}; figures are {', '.join(FIGURES)}") from None
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
    if not frames.known[index] or joint.type.pair is None:
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
    """Indices of the bodies whose poses quantities are measured on, ascending."""
    found: set[int] = set()
    for each in quantities:
        if each.kind == "coordinate":
            found.update(mechanism.joint_bodies(each.index)[:2])
        elif each.kind == "expression":
            found.update(each.bodies)
        elif each.kind != "figure":
            found.add(each.index)
    return sorted(found)


def limits_of(mechanism: Mechanism, given: Limits) -> dict[str, tuple[float, float]]:
    """Limits of joint coordinates, m or rad: given limits, else those of the model file."""
    found = dict(mechanism.coordinate_limits)
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


def measured(
    model: Model, poses: Poses, quantities: Iterable[Quantity], inputs: Floats, compiled: bool = False
) -> dict[str, Floats]:
    """Numbers (n,) by column, of poses at rows of inputs (n, D) as :func:`solve_poses` has them."""
    # Angles count their turns along the line from the reference to the pose, quaternions have w ≥ 0.
    quantities = list(quantities)
    seen = _Seen(model, poses, _angles(model, poses, quantities, inputs, compiled))
    found = _expressed(model, seen, quantities)
    for each in quantities:
        if each.kind == "figure":
            found[each.part] = _worst(poses, each.part, 0)
        elif each.kind == "coordinate":
            found[each.columns[0]] = _coordinate_of(model, seen, each)
        elif each.kind != "expression":
            numbers = _point(model, seen, each) if each.kind == "point" else _pose(model, seen, each.index)
            found.update(zip(each.columns, numbers.T, strict=True))
    return found


def _worst(of: Poses | Trajectory, figure: str, axis: int) -> Floats:
    """The largest residual or the smallest condition of all groups."""
    found: Floats = of.residual.max(axis=axis) if figure == "residual" else of.condition.min(axis=axis)
    return found


def _angles(
    model: Model, poses: Poses, quantities: Iterable[Quantity], inputs: Floats, compiled: bool
) -> dict[tuple[str, int], Floats]:
    """Angles that quantities need, by joint and by body; NaN where a group failed."""
    joints, bodies = set[int](), set[int]()
    for each in quantities:
        joints.update([each.index] if each.kind == "coordinate" and each.units == ("rad",) else each.joints)
        bodies.update([each.index] if each.kind == "body" and "rad" in each.units else [])
    solved = ~poses.status.any(axis=0)
    if not (joints or bodies) or not solved.any():
        return {}
    found = {}
    for key, angles in counted(model, inputs[solved], sorted(joints), sorted(bodies), compiled).items():
        found[key] = np.full((len(inputs), angles.shape[1]), np.nan)
        found[key][solved] = angles
    return found


class _Seen:
    """Poses of bodies in space, each turned into matrices once, and those of joints."""

    def __init__(self, model: Model, poses: Poses, angles: dict[tuple[str, int], Floats]) -> None:
        self.model, self.poses, self.angles = model, poses, angles
        self._bodies: dict[int, Pose] = {}
        self._joints: dict[int, Pose] = {}

    def body(self, body: int) -> Pose:
        """Position (n, 3) and rotation (n, 3, 3); (1, 3) and (1, 3, 3) for the frame."""
        if body not in self._bodies:
            if body == 0:
                self._bodies[0] = _standing(self.model, 0)
            else:
                position, orientation = self.poses.of(body)
                turn = plane_rotation if orientation.ndim == 1 else rotation_of
                self._bodies[body] = in_space(position), np.ascontiguousarray(turn(orientation))
        return self._bodies[body]

    def joint(self, index: int, *, turned: bool) -> Pose:
        """d (n, 3) and C (n, 3, 3) of a joint; C only if ``turned``."""
        known = self._joints.get(index)
        if known is None or (turned and not len(known[1])):
            a, b = self.model.mechanism.joint_bodies(index)[:2]
            self._joints[index] = _relative(self.model, self.body(a), self.body(b), index, turned)
        return self._joints[index]


def _standing(model: Model, body: int) -> Pose:
    at = model.reference
    return at.position[body : body + 1], at.rotation[body : body + 1]


def _coordinate_of(model: Model, seen: _Seen, each: Quantity) -> Floats:
    """Values (n,) of one coordinate of a joint."""
    joint = model.mechanism.joints[each.index]
    rows = joint.type.pair
    assert rows is not None
    k = joint.type.coordinates.index(each.part)
    turned = rows.coordinates[k].kind not in _OF_PLACE

    def value(at: Pose) -> Floats:
        d, C = at
        given = {
            name: np.full(len(d), column[each.index]) for name, column in model.frames.parameters.items()
        }
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = elementary_values((rows.coordinates[k],), d, C, given)[:, 0]
        return found

    found = value(seen.joint(each.index, turned=turned))
    along = seen.angles.get(("joint", each.index))
    if coordinate_unit(each.part) == "m" or along is None:
        return found
    kinds = [row.kind for row in rows.coordinates]
    near, other = _nearest(found, along[:, k]), found
    if kinds[k] in _MIDDLE:
        other = np.pi - found
    elif any(kind in _MIDDLE for kind in kinds):
        other = found + np.pi
    other = _nearest(other, along[:, k])  # the same rotation, on the other side of the gimbal
    return np.where(np.abs(other - along[:, k]) < np.abs(near - along[:, k]), other, near)


#: Angles whose values beyond a quarter of a turn are those of another set of angles for one rotation.
_MIDDLE = ("cardan", "elevation")


def _nearest(angle: Floats, near: Floats) -> Floats:
    """The angle with the whole turns that bring it nearest to another one."""
    return angle - 2 * np.pi * np.nan_to_num(np.round((angle - near) / (2 * np.pi)))


#: Coordinates that depend on the place of B alone, not on its rotation.
_OF_PLACE = ("along", "distance", "azimuth", "elevation")


def _relative(model: Model, first: Pose, second: Pose, index: int, turned: bool) -> Pose:
    """A joint's second frame seen from its first."""
    frames = model.frames
    (p, R), (q, S) = first, second
    axes = _times(R, frames.axes[index, 0])
    across = q + _times(S, frames.origin[index, 1]) - p - _times(R, frames.origin[index, 0])
    d: Floats = np.einsum("nba,nb->na", axes, across)
    if not turned:
        return d, np.zeros((0, 3, 3))
    C: Floats = np.einsum("nba,nbc->nac", axes, _times(S, frames.axes[index, 1]))
    return d, np.broadcast_to(C, (len(d), 3, 3))


def _times(rotations: Floats, by: Floats) -> Floats:
    """Many rotations times one matrix or vector, as one large product."""
    found: Floats = (rotations.reshape(-1, 3) @ by).reshape(len(rotations), *by.shape)
    return found


def _point(model: Model, seen: _Seen, each: Quantity) -> Floats:
    found = _place(model, seen, each.index, each.part)
    return np.broadcast_to(found, (seen.poses.number, 3))[:, : len(each.columns)]


def _place(model: Model, seen: _Seen, body: int, name: str | None) -> Floats:
    """A named point of a body, or the origin of its frame, in space; one row for the frame of the world."""
    position, rotation = seen.body(body)
    if name is None:
        return position
    at = model.frames
    point = in_space(np.asarray(model.mechanism.body_geometry[body].points[name], dtype=float))
    found: Floats = position + _times(rotation, at.rotation[body].T @ (point - at.position[body]))
    return found


def _expressed(model: Model, seen: _Seen, quantities: Iterable[Quantity]) -> dict[str, Floats]:
    """Numbers (n,) of the expressions; signed angles are within half a turn of zero."""
    texts = {each.name: each.part for each in quantities if each.kind == "expression"}
    if not texts:
        return {}
    mechanism, n = model.mechanism, seen.poses.number

    def coordinate(joint: str, name: str) -> Expressed:
        index = mechanism.joint_ids.index(joint)
        value = _coordinate_of(model, seen, _coordinate(joint, joint, index, name))
        return Expressed((value,), *_powers(name))

    def direction(body: int, k: int) -> Expressed:
        return Expressed((np.broadcast_to(seen.body(body)[1][:, :, k], (n, 3)),))

    def point(body: int, name: str | None) -> Expressed:
        return Expressed((np.broadcast_to(_place(model, seen, body, name), (n, 3)),), 1)

    named = named_operands(
        mechanism, range(mechanism.n_bodies), _coordinates(mechanism, model.frames),
        coordinate=coordinate, direction=direction, point=point,
    )  # fmt: skip
    motions = Operands(named, mechanism.called, n, 1, continuous=False, units=mechanism.units).evaluated(
        texts
    )
    return {name: motion.levels[0] for name, motion in motions.items()}


def _pose(model: Model, seen: _Seen, body: int) -> Floats:
    position, orientation = seen.poses.of(body)
    if orientation.ndim == 1:
        near = seen.angles.get(("body", body), np.zeros((1, 1)))[:, 0]
        return np.column_stack([position, _nearest(orientation, near)])
    sign = np.where(orientation[:, :1] < 0.0, -1.0, 1.0)
    return np.column_stack([position, sign * orientation])


# --- motions ---------------------------------------------------------------------------------------


def followed(trajectory: Trajectory, quantities: Iterable[Quantity]) -> dict[str, Floats]:
    """Numbers (T,) by column over a motion; angles are continuous over turns."""
    quantities = list(quantities)
    texts = {each.name: each.part for each in quantities if each.kind == "expression"}
    found = {one.name: one.value for one in derived(trajectory, texts)} if texts else {}
    for each in quantities:
        if each.kind == "figure":
            found[each.part] = _worst(trajectory, each.part, 1)
        elif each.kind == "coordinate":
            motion = trajectory.joint(each.index)[each.part]
            level = (motion.value, motion.rates, motion.accelerations)[each.order]
            assert level is not None  # the motion was solved to this level
            found[each.columns[0]] = level
        elif each.kind != "expression":
            body = trajectory.body(each.index + 1)
            if each.kind == "point":
                numbers = body.point(each.part)
            else:
                turn = body.orientation[:, None] if trajectory.planar else body.orientation
                numbers = np.concatenate([body.position, turn], axis=1)
            found.update(zip(each.columns, numbers.T, strict=True))
    return found
