"""Coordinates over time as data: of joints, bodies and points, and derived quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from groups.results.joints import CoordinateMotion, joint_motion, measurable
from mbssa import Joint
from mbssa.arrays import Floats
from mbssa.units import given_in

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


#: Curves that a picture draws by default.
CURVES_BY_DEFAULT = 8

#: Joints and bodies that a message lists.
_LISTED = 40

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
    for body in sorted(set(trajectory.kept.tolist()) & set(trajectory.mechanism.body_geometry)):
        for point in trajectory.mechanism.body_geometry[body].points:
            curves += _of_point(trajectory, body, point)
    curves.sort(key=lambda curve: not curve.driven)
    return [converted(curve, trajectory.mechanism.units) for curve in curves]


def curves_by_default(trajectory: Trajectory) -> list[Curve]:
    """Driven coordinates, then those of the joints on the frame: the first 8."""
    on_frame = {
        j.index for j in trajectory.mechanism.joints if 0 in trajectory.mechanism.joint_bodies(j.index)[:2]
    }
    curves: list[Curve] = []
    for joint in sorted(measurable(trajectory), key=lambda j: (not j.driven, j.index not in on_frame)):
        if len(curves) < CURVES_BY_DEFAULT and (joint.driven or joint.index in on_frame):
            curves += _of_joint(trajectory, joint)
    return sorted(curves, key=lambda curve: not curve.driven)[:CURVES_BY_DEFAULT]


def derived_curves(trajectory: Trajectory, expressions: Mapping[str, str]) -> list[Curve]:
    """Quantities by name, as :meth:`groups.Trajectory.quantity` has them."""
    from groups.results.expressions import derived

    return list(_curves(derived(trajectory, expressions))) if expressions else []


def converted(curve: Curve, units: tuple[str, str]) -> Curve:
    """A curve in these units of length and angle."""
    unit, scale = given_in(curve.unit, units)
    return replace(curve, unit=unit, parts=tuple(part / scale for part in curve.parts), si=curve.unit)


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
    """Curves of this name, or all of the joint, body or point of this name."""
    mechanism = trajectory.mechanism
    # Curves by what stands before the last point of their names, made when they are needed.
    makers: dict[str, Callable[[], Iterable[Curve]]] = {}
    for body in range(mechanism.n_bodies):
        owner, geometry = mechanism.body_name(body), mechanism.body_geometry.get(body)
        makers[owner] = partial(_of_body, trajectory, body)
        for point in geometry.points if geometry is not None else ():
            makers[f"{owner}.{point}"] = partial(_of_point, trajectory, body, point)
    makers |= {joint.id: partial(_of_joint, trajectory, joint) for joint in mechanism.joints}
    whole, one = mechanism.called(f"{name}.")[:-1], mechanism.called(name)
    if whole in makers:
        return list(makers[whole]())
    there = list(makers.get(one.rpartition(".")[0], tuple)())
    found = [curve for curve in there if curve.label == one]
    if found:
        return found
    if there:
        raise ValueError(f"no coordinate {name!r}; there are {', '.join(curve.label for curve in there)}")
    raise ValueError(
        f"no coordinate {name!r}: write joint.coordinate or body.x; the joints are "
        f"{', '.join(mechanism.joint_ids[:_LISTED])}, the bodies "
        f"{', '.join(sorted(map(mechanism.body_name, range(mechanism.n_bodies)))[:_LISTED])}"
    )


def _curves(motions: Iterable[CoordinateMotion], driven: Sequence[str] = ()) -> Iterator[Curve]:
    for one in motions:
        yield Curve(one.name, one.unit, one.name.rpartition(".")[2] in driven, one.levels)


def _of_joint(trajectory: Trajectory, joint: Joint) -> Iterable[Curve]:
    motion = joint_motion(trajectory, joint)
    return _curves((motion[name] for name in motion.names), joint.driven)


def _of_body(trajectory: Trajectory, index: int) -> Iterator[Curve]:
    body = trajectory.body(index + 1)
    name = trajectory.mechanism.body_name(index)
    rates = [
        array[:, body.place] for array in (trajectory.velocity, trajectory.acceleration) if array is not None
    ]
    yield from _along(name, [body.position, *rates])
    if trajectory.planar:
        yield Curve(f"{name}.angle", "rad", False, (body.orientation, *(rate[:, 2] for rate in rates)))


def _of_point(trajectory: Trajectory, body: int, point: str) -> Iterator[Curve]:
    levels = trajectory.body(body + 1).point_levels(point)
    yield from _along(f"{trajectory.mechanism.body_name(body)}.{point}", levels)


def _along(name: str, levels: Sequence[Floats]) -> Iterator[Curve]:
    """Curves along the axes of vectors (T, 2) or (T, 3)."""
    for k, axis in enumerate("xyz"[: levels[0].shape[1]]):
        yield Curve(f"{name}.{axis}", "m", False, tuple(level[:, k] for level in levels))
