"""Numbers that a sweep records in every case, by name: their columns, and the expressions that give them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from groups import Model, Trajectory
from groups.results.expressions import Operand, derived, expression, expressions_of
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.joints.catalogue import coordinate_unit
from mbssa.joints.frames import Frames
from routes.sweep.parameters import hint, owner_of
from routes.sweep.poses import Poses, trajectory_of
from routes.sweep.turns import counted

Kind = Literal["coordinate", "point", "body", "figure", "expression"]
Limits = Mapping[str, tuple[float, float]]

#: Figures of a whole case: the worst of all groups.
FIGURES = {"residual": "m", "condition": ""}

#: Suffixes of a coordinate's name for its derivatives, and their units.
_DERIVATIVES = {"rate": "/s", "acceleration": "/s^2"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure, the pose of a body, or one number by its expression; ``expression`` is one of the user's."""

    kind: Kind
    columns: tuple[str, ...]
    units: tuple[str, ...]
    text: str = ""  # of the expression
    order: int = 0  # 0 for the value, 1 for its rate, 2 for its acceleration
    index: int = 0  # of the body
    operands: tuple[Operand, ...] = ()


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


def user_quantities(mechanism: Mechanism, frames: Frames, texts: Mapping[str, str]) -> tuple[Quantity, ...]:
    """Quantities by expressions, :mod:`groups.results.expressions`."""
    found, faults = expressions_of(mechanism, texts, ordered=False), []
    for name, one in found.items():
        joints = {each.index for each in one.operands if each.kind == "coordinate"}
        faults += [
            f"{name}={texts[name]}: {_unmeasured(mechanism, j)}"
            for j in joints
            if not _is_measured(mechanism, frames, j)
        ]
    if faults:
        raise ValueError("\n  ".join(faults))
    return tuple(
        Quantity("expression", (name,), (one.unit,), texts[name], operands=one.operands)
        for name, one in found.items()
    )


def _is_measured(mechanism: Mechanism, frames: Frames, joint: int) -> bool:
    return bool(frames.known[joint]) and mechanism.joints[joint].type.pair is not None


def _unmeasured(mechanism: Mechanism, joint: int) -> str:
    view = mechanism.joints[joint]
    return f"joint {view.id}, a {view.type.code}, cannot be measured"


def _quantities(mechanism: Mechanism, frames: Frames, name: str, moving: bool) -> list[Quantity]:
    if name in FIGURES:
        return [Quantity("figure", (name,), (FIGURES[name],), name)]
    try:
        kind, index, rest = owner_of(mechanism, name)
    except ValueError as error:
        raise ValueError(f"{error}; figures are {', '.join(FIGURES)}") from None
    if kind == "body":
        return _of_body(mechanism, index, rest)
    joint = mechanism.joints[index]
    if not _is_measured(mechanism, frames, index):
        raise ValueError(_unmeasured(mechanism, index))
    names, (head, _, tail) = joint.type.coordinates, rest.rpartition(".")
    derivative = tail if tail in _DERIVATIVES and head in names else ""
    if derivative and not moving:
        raise ValueError(f"a pose has no {tail}; give a motion, or leave it out")
    chosen = [head if derivative else rest] if rest else names
    if chosen[0] not in names:
        raise ValueError(f"joint {joint.id} has no coordinate {rest!r}; {hint(rest, names, 'it has')}")
    order, per = ["", *_DERIVATIVES].index(derivative), _DERIVATIVES.get(derivative, "")
    return [
        _single(
            mechanism, "coordinate", f"{joint.id}.{each}{f'.{derivative}' * bool(derivative)}",
            coordinate_unit(each) + per, f"{joint.text}.{each}", order,
        )
        for each in chosen
    ]  # fmt: skip


def _of_body(mechanism: Mechanism, index: int, point: str) -> list[Quantity]:
    """The pose of a body, or a point of it."""
    planar, body = mechanism.space == "planar", mechanism.body_name(index)
    axes = ("x", "y") if planar else ("x", "y", "z")
    if not point:
        turn = {"angle": "rad"} if planar else dict.fromkeys(("qw", "qx", "qy", "qz"), "")
        columns = {**dict.fromkeys(axes, "m"), **turn}
        names = tuple(f"{body}.{c}" for c in columns)
        return [Quantity("body", names, tuple(columns.values()), index=index)]
    geometry = mechanism.body_geometry.get(index)
    points = list(geometry.points) if geometry is not None else []
    if point not in points:
        raise ValueError(f"body {body} has no point {point!r}; {hint(point, points, 'its points are')}")
    return [
        _single(mechanism, "point", f"{body}.{point}.{axis}", "m", f"{body}.{point}.{axis}") for axis in axes
    ]


def _single(mechanism: Mechanism, kind: Kind, column: str, unit: str, text: str, order: int = 0) -> Quantity:
    operands = expression(mechanism, text, ordered=False).operands
    return Quantity(kind, (column,), (unit,), text, order, operands=operands)


def bodies_needed(mechanism: Mechanism, quantities: Iterable[Quantity]) -> list[int]:
    """Indices of the bodies whose poses quantities are measured on, ascending."""
    found: set[int] = set()
    for each in quantities:
        found.update([each.index] if each.kind == "body" else [])
        found.update(body for operand in each.operands for body in operand.bodies(mechanism))
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


# --- values ----------------------------------------------------------------------------------------


def measured(
    model: Model, poses: Poses, quantities: Iterable[Quantity], inputs: Floats, compiled: bool = False
) -> dict[str, Floats]:
    """Numbers (n,) by column, of poses at rows of inputs (n, D) as :func:`solve_poses` has them."""
    # Angles count their turns along the line from the reference to the pose, quaternions have w ≥ 0.
    quantities = list(quantities)
    joints = {
        each.index
        for quantity in quantities
        for each in quantity.operands
        if each.kind == "coordinate" and coordinate_unit(str(each.part)) == "rad"
    }
    bodies = {each.index for each in quantities if each.kind == "body" and "rad" in each.units}
    near = {}
    solved = ~poses.status.any(axis=0)
    if (joints or bodies) and solved.any():
        for key, angles in counted(model, inputs[solved], sorted(joints), sorted(bodies), compiled).items():
            near[key] = np.full((len(inputs), angles.shape[1]), np.nan)
            near[key][solved] = angles
    turns = {index: angles[:, 0] for (kind, index), angles in near.items() if kind == "body"}
    trajectory = trajectory_of(model, poses, turns)
    return followed(
        trajectory, quantities, {j: angles for (kind, j), angles in near.items() if kind == "joint"}
    )


def followed(
    trajectory: Trajectory, quantities: Iterable[Quantity], near: Mapping[int, Floats] | None = None
) -> dict[str, Floats]:
    """Numbers (T,) by column over a motion, or at poses, :func:`groups.results.expressions.derived`."""
    quantities = list(quantities)
    texts = {each.text for each in quantities if each.operands or each.kind == "expression"}
    motions = {one.name: one for one in derived(trajectory, {text: text for text in texts}, near)}
    found: dict[str, Floats] = {}
    for each in quantities:
        if each.kind == "figure":
            worst = trajectory.residual.max(axis=1), trajectory.condition.min(axis=1)
            found[each.text] = worst[list(FIGURES).index(each.text)]
        elif each.kind == "body":
            body = trajectory.body(each.index + 1)
            turn = body.orientation[:, None] if trajectory.planar else body.orientation
            numbers = np.concatenate([body.position, turn], axis=1)
            found.update(zip(each.columns, numbers.T, strict=True))
        else:
            found[each.columns[0]] = motions[each.text].levels[each.order]
    return found
