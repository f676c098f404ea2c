"""Coordinates over time as data: of joints, bodies and points, and derived quantities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.results.joints import joint_motion, measurable
from mbssa import Joint
from mbssa.arrays import Floats
from mbssa.units import given_in

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


#: Curves that a picture draws by default.
CURVES_BY_DEFAULT = 8

#: Quantities of a panel, by the SI unit of the value.
_TITLES = {
    "m": ("position", "velocity", "acceleration"),
    "N": ("force", "", ""),
    "N m": ("moment", "", ""),
    "W": ("power", "", ""),
    "rad": ("angle", "angular velocity", "angular acceleration"),
}
_OTHERWISE = ("value", "rate", "second derivative")


@dataclass(frozen=True, eq=False)
class Curve:
    """One coordinate over time."""

    label: str
    unit: str
    driven: bool
    parts: tuple[Floats, ...]  # value, rate and acceleration (T,), as many as were kept
    si: str = ""  # SI unit where ``unit`` is another

    @property
    def titles(self) -> tuple[str, ...]:
        """Quantities of value, rate and acceleration in words, with their units."""
        words = _TITLES.get(self.si or self.unit, _OTHERWISE)
        units = self.unit, f"{self.unit or '1'}/s", f"{self.unit or '1'}/s²"
        return tuple(f"{word} ({unit})" if unit else word for word, unit in zip(words, units, strict=True))


def every_curve(trajectory: Trajectory) -> list[Curve]:
    """Coordinates of all joints, the driven ones first, then those of named points; in the file's units."""
    curves = [curve for joint in measurable(trajectory) for curve in _of_joint(trajectory, joint)]
    kept = np.asarray(trajectory.kept).tolist()
    for body in sorted(set(kept) & set(trajectory.mechanism.body_geometry)):
        curves += _of_points(trajectory, trajectory.mechanism.body_name(body))
    curves.sort(key=lambda curve: not curve.driven)
    return [converted(curve, trajectory.mechanism.units) for curve in curves]


def curves_by_default(trajectory: Trajectory) -> list[Curve]:
    """Driven coordinates, then those of the joints on the frame: the first 8."""
    mechanism = trajectory.mechanism
    drawn = set(np.asarray(trajectory.kept).tolist()) | {0}
    joints = [j for j in range(mechanism.n_joints) if set(mechanism.joint_bodies(j)[:2]) <= drawn]
    joints.sort(key=lambda j: (not mechanism.driven[j], 0 not in mechanism.joint_bodies(j)))
    curves: list[Curve] = []
    for j in joints:
        if mechanism.driven[j] or 0 in mechanism.joint_bodies(j):
            try:
                found = _of_joint(trajectory, mechanism.joints[j])
            except ValueError:
                continue
            curves += found
        if len(curves) >= CURVES_BY_DEFAULT:
            break
    return sorted(curves, key=lambda curve: not curve.driven)[:CURVES_BY_DEFAULT]


def derived_curves(trajectory: Trajectory, expressions: Mapping[str, str]) -> list[Curve]:
    """Quantities by name, as :meth:`groups.Trajectory.quantity` has them."""
    from groups.results.expressions import derived

    found = derived(trajectory, expressions) if expressions else ()
    return [Curve(one.name, one.unit, False, one.levels) for one in found]


def converted(curve: Curve, units: tuple[str, str]) -> Curve:
    """A curve in these units of length and angle."""
    unit, scale = given_in(curve.unit, units)
    return Curve(curve.label, unit, curve.driven, tuple(part / scale for part in curve.parts), curve.unit)


def named_curves(trajectory: Trajectory, names: Sequence[str], derived: Mapping[str, Curve]) -> list[Curve]:
    """Curves of coordinates, joints, bodies, points and derived quantities by name."""
    curves: list[Curve] = []
    faults = []
    for name in [names] if isinstance(names, str) else names:
        try:
            curves += [derived[name]] if name in derived else _find(trajectory, name)
        except (KeyError, ValueError) as fault:
            faults.append(str(fault.args[0]))
    if faults:
        expression = "for an expression write --quantity NAME=EXPRESSION (derived in Python), and NAME here"
        raise ValueError("; ".join([*faults, expression]))
    return curves


def _find(trajectory: Trajectory, name: str) -> list[Curve]:
    mechanism = trajectory.mechanism
    owner, dot, coordinate = name.rpartition(".")
    with suppress(KeyError):
        return _of_joint(trajectory, mechanism.joint(name))
    joint = None
    with suppress(KeyError):
        joint = mechanism.joint(owner)
    if dot and joint is not None:
        trajectory.joint(joint.index)[coordinate]
        label = f"{joint.id}.{coordinate}"
        return [curve for curve in _of_joint(trajectory, joint) if curve.label == label]
    names = {mechanism.body_name(body) for body in range(mechanism.n_bodies)}
    if name in names:
        return [
            curve for curve in _of_body(trajectory, name) if curve.label.count(".") == name.count(".") + 1
        ]
    body = max((body for body in names if name.startswith(f"{body}.")), key=len, default=None)
    if body is not None:
        there = [*_of_body(trajectory, body), *_of_points(trajectory, body)]
        found = [curve for curve in there if name in (curve.label, curve.label.rpartition(".")[0])]
        if not found:
            labels = ", ".join(curve.label for curve in there)
            raise ValueError(f"no coordinate {name!r}; body {body} has {labels}")
        return found
    raise ValueError(
        f"no coordinate {name!r}: write joint.coordinate or body.x; the joints are "
        f"{', '.join(mechanism.joint_ids[:40])}, the bodies {', '.join(sorted(names)[:40])}"
    )


def _of_joint(trajectory: Trajectory, joint: Joint) -> list[Curve]:
    motion = joint_motion(trajectory, joint)
    coordinates = [motion[name] for name in motion.names]
    return [
        Curve(one.name, one.unit, one.name.rpartition(".")[2] in joint.driven, one.levels)
        for one in coordinates
    ]


def _of_body(trajectory: Trajectory, name: str) -> list[Curve]:
    body = trajectory.body(name)
    planar = trajectory.planar
    rates = [a for a in (trajectory.velocity, trajectory.acceleration) if a is not None]
    place = np.asarray(trajectory.kept).tolist().index(body.index)
    curves = [
        Curve(f"{name}.{axis}", "m", False, (body.position[:, k], *(rate[:, place, k] for rate in rates)))
        for k, axis in enumerate("xy" if planar else "xyz")
    ]
    if planar:
        turn = (body.orientation, *(rate[:, place, 2] for rate in rates))
        curves.append(Curve(f"{name}.angle", "rad", False, turn))
    return curves


def _of_points(trajectory: Trajectory, name: str) -> list[Curve]:
    body = trajectory.body(name)
    geometry = trajectory.mechanism.body_geometry.get(body.index)
    return [
        Curve(f"{name}.{point}.{axis}", "m", False, tuple(level[:, k] for level in levels))
        for point in (geometry.points if geometry is not None else ())
        for levels in [body.point_levels(point)]
        for k, axis in enumerate("xy" if trajectory.planar else "xyz")
    ]
