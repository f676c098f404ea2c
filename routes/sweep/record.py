"""Numbers that a sweep records in every case, by name: their columns, and the expressions that give them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from groups import Model, Trajectory
from groups.results.expressions import Expression, derived, expression, expressions_of
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.joints.catalogue import coordinate_unit
from mbssa.joints.frames import Frames
from routes.sweep.parameters import hint, owner_of
from routes.sweep.poses import unwound
from routes.sweep.turns import counted

Limits = Mapping[str, tuple[float, float]]

#: Figures of a whole case: the worst of all groups.
FIGURES = {"residual": "m", "condition": ""}

#: Suffixes of a coordinate's name for its derivatives, and their units.
_DERIVATIVES = {"": "", "rate": "/s", "acceleration": "/s^2"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """An expression, or the pose of a body, or a figure, which has its name."""

    columns: tuple[str, ...]
    units: tuple[str, ...]
    expression: Expression | None = None
    order: int = 0  # 0 for the value, 1 for its rate, 2 for its acceleration
    text: str = ""  # of the user's expression
    body: int = -1  # index; -1 for none


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


def user_quantities(
    mechanism: Mechanism, frames: Frames, texts: Mapping[str, str], *, moving: bool
) -> tuple[Quantity, ...]:
    """Quantities by expressions, :mod:`groups.results.expressions`."""
    found, faults = expressions_of(mechanism, texts, moving), []
    for name, one in found.items():
        try:
            for operand in one.operands:
                if operand.kind == "coordinate":
                    _check_measurable(mechanism, frames, operand.index)
        except ValueError as error:
            faults.append(f"{name}={texts[name]}: {error}")
    if faults:
        raise ValueError("\n  ".join(faults))
    return tuple(Quantity((name,), (one.unit,), one, text=texts[name]) for name, one in found.items())


def _check_measurable(mechanism: Mechanism, frames: Frames, index: int) -> None:
    joint = mechanism.joints[index]
    if not frames.known[index] or joint.type.pair is None:
        raise ValueError(f"joint {joint.id}, a {joint.type.code}, cannot be measured")


def _quantities(mechanism: Mechanism, frames: Frames, name: str, moving: bool) -> list[Quantity]:
    if name in FIGURES:
        return [Quantity((name,), (FIGURES[name],))]
    try:
        kind, index, rest = owner_of(mechanism, name)
    except ValueError as error:
        raise ValueError(f"{error}; figures are {', '.join(FIGURES)}") from None
    if kind == "body":
        return _of_body(mechanism, index, rest)
    _check_measurable(mechanism, frames, index)
    joint, (head, _, tail) = mechanism.joints[index], rest.rpartition(".")
    names = joint.type.coordinates
    if head not in names or tail not in _DERIVATIVES:
        head, tail = rest, ""
    elif not moving:
        raise ValueError(f"a pose has no {tail}; give a motion, or leave it out")
    if rest and head not in names:
        raise ValueError(f"joint {joint.id} has no coordinate {rest!r}; {hint(rest, names, 'it has')}")
    order = [*_DERIVATIVES].index(tail)
    return [
        Quantity(
            (f"{joint.id}.{each}.{tail}".rstrip("."),),
            (coordinate_unit(each) + _DERIVATIVES[tail],),
            expression(mechanism, f"{joint.text}.{each}"),
            order,
        )
        for each in ([head] if rest else names)
    ]


def _of_body(mechanism: Mechanism, index: int, point: str) -> list[Quantity]:
    """The pose of a body, or a point of it."""
    planar, body = mechanism.space == "planar", mechanism.body_name(index)
    axes = ("x", "y") if planar else ("x", "y", "z")
    if not point:
        turn = {"angle": "rad"} if planar else dict.fromkeys(("qw", "qx", "qy", "qz"), "")
        columns = {f"{body}.{name}": unit for name, unit in (dict.fromkeys(axes, "m") | turn).items()}
        return [Quantity(tuple(columns), tuple(columns.values()), body=index)]
    geometry = mechanism.body_geometry.get(index)
    points = list(geometry.points) if geometry is not None else []
    if point not in points:
        raise ValueError(f"body {body} has no point {point!r}; {hint(point, points, 'its points are')}")
    names = [f"{body}.{point}.{axis}" for axis in axes]
    return [Quantity((name,), ("m",), expression(mechanism, name)) for name in names]


def bodies_needed(mechanism: Mechanism, quantities: Iterable[Quantity]) -> list[int]:
    """Indices of the bodies whose poses quantities are measured on, ascending."""
    found: set[int] = set()
    for each in quantities:
        found.update([each.body] if each.body >= 0 else [])
        for operand in each.expression.operands if each.expression else ():
            found.update(operand.bodies(mechanism))
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
    model: Model, poses: Trajectory, quantities: Iterable[Quantity], inputs: Floats, compiled: bool = False
) -> dict[str, Floats]:
    """Numbers (n,) by column, of poses at rows of inputs (n, D) as :func:`solve_poses` has them."""
    # Angles count their turns along the line from the reference to the pose, quaternions have w ≥ 0.
    quantities = list(quantities)
    operands = [one for each in quantities if each.expression for one in each.expression.operands]
    turning = {
        one.index for one in operands if one.kind == "coordinate" and coordinate_unit(str(one.part)) == "rad"
    }
    bodies = {each.body for each in quantities if each.body >= 0 and "rad" in each.units}
    near: dict[str, dict[int, Floats]] = {"joint": {}, "body": {}}
    solved = ~poses.status.any(axis=1)
    if (turning or bodies) and solved.any():
        found = counted(model, inputs[solved], sorted(turning), sorted(bodies), compiled)
        for (kind, index), angles in found.items():
            near[kind][index] = np.full((len(inputs), angles.shape[1]), np.nan)
            near[kind][index][solved] = angles
    return followed(unwound(poses, near["body"]), quantities, near["joint"])


def followed(
    trajectory: Trajectory, quantities: Iterable[Quantity], near: Mapping[int, Floats] | None = None
) -> dict[str, Floats]:
    """Numbers (T,) by column over a motion, or at poses, where ``near`` has coordinates by joint."""
    quantities = list(quantities)
    found = {"residual": trajectory.residual.max(axis=1), "condition": trajectory.condition.min(axis=1)}
    expressions = {each.columns[0]: each.expression for each in quantities if each.expression}
    motions = {one.name: one.levels for one in derived(trajectory, expressions, near)}
    for each in quantities:
        if each.expression:
            found[each.columns[0]] = motions[each.columns[0]][each.order]
        elif each.body >= 0:
            body = trajectory.body(each.body + 1)
            turn = body.orientation[:, None] if trajectory.planar else body.orientation
            numbers = np.concatenate([body.position, turn], axis=1)
            found.update(zip(each.columns, numbers.T, strict=True))
    return {name: found[name] for each in quantities for name in each.columns}
