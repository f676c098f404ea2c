"""Equations that are no function of one relative pose: gears, rolling, cams, contacts, users' functions."""

# A *relation* is a sum of terms, each a scalar of the relative pose of two frames, or of a body's angle,
# times a factor; it holds where the sum is its ``constant``. So it binds any number of bodies. Joints made of
# relations carry no body: they only close what others carry.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mbssa.joints.axes import axes_of, in_space, whole_turns
from mbssa.joints.equations import Elementary, elementary_slopes
from mbssa.joints.poses import Poses, by_bodies, relative_pose

if TYPE_CHECKING:
    from mbssa.joints.cams.curves import Curve
    from mbssa.joints.geometry import JointGeometry
    from mbssa.joints.user import UserFunction

Array = npt.NDArray[Any]

#: Kinds of terms that a pose determines except for whole turns.
TURNING = ("counted", "line")


@dataclass(frozen=True, eq=False)
class PairFrames:
    """A frame on each of two bodies: indices, ``origin`` (2, 3) and ``axes`` (2, 3, 3) in the bodies' own."""

    bodies: tuple[int, int]
    origin: Array
    axes: Array

    @staticmethod
    def of(body: int) -> PairFrames:
        """One body with itself, for terms that read its angle alone."""
        return PairFrames((body, body), np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))


@dataclass(frozen=True, slots=True)
class Term:
    """Term of a relation, of a kind of :class:`~mbssa.joints.equations.Elementary` or of those below."""

    # turned: angle of the pair's second body in the plane, turns counted; counted: ``turn``, turns counted;
    # line: the world's angle of the line from A to B in the plane, turns counted; contact: signed gap between
    # two profiles (``numbers``: kind of the follower's); user: a function of all bodies of the joint.

    kind: str
    pair: int
    numbers: tuple[int, ...] = ()
    factor: float = 1.0  # in m where an angle counts as a length
    parameter: float = 0.0  # subtracted from an elementary or the gap, m
    near: float = 0.0  # value at the reference of an angle of a kind in TURNING

    @property
    def is_angle(self) -> bool:
        return self.kind in ("turned", "counted", "line", "turn")

    @property
    def elementary(self) -> Elementary:
        """The function of a relative pose; the parameter of a length is named ``value``."""
        if self.kind in ("counted", "turn"):
            return Elementary("turn", self.numbers)
        if self.kind == "line":
            return Elementary("azimuth")
        return Elementary(self.kind, self.numbers, parameter="value")


@dataclass(frozen=True, slots=True)
class Relation:
    """Sum of terms that holds at ``constant``, m if ``is_length``, else rad."""

    name: str
    terms: tuple[Term, ...]
    constant: float = 0.0
    is_length: bool = False
    counts_from_zero: bool = False  # angles count from the zero of their frames, else from the reference


@dataclass(frozen=True, eq=False)
class JointRelations:
    """Relations of one joint."""

    bodies: tuple[int, ...]  # indices
    pairs: tuple[PairFrames, ...]  # frames that the terms name by their place
    constraints: tuple[Relation, ...]
    coordinates: Mapping[str, Relation] = field(default_factory=dict)  # free ones that can be driven, by name
    curves: tuple[Curve, ...] = ()  # profiles of the cam and of its follower
    function: UserFunction | None = None


@dataclass(frozen=True, eq=False)
class JointCoordinate:
    """Coordinate of another joint: a function of the pose of two frames, and its value at the reference."""

    function: Elementary
    pair: PairFrames
    is_length: bool
    at_reference: float = 0.0  # m or rad; gives the whole turns of an angle, which its pose leaves open


def at_reference(relations: JointRelations, poses: Poses) -> JointRelations:
    """Relations with the constants that hold where the bodies stand now."""
    # Only of angles and rolled distances, which count from the reference: a contact or a user's function
    # holds at zero, wherever the reference is.

    def settled(relation: Relation) -> Relation:
        if not any(term.is_angle for term in relation.terms):
            return relation
        near = [float(_term(relations, term, poses[None], 1.0)[0][0]) for term in relation.terms]
        if relation.counts_from_zero:
            constant, near = relation.constant, _completed(relation, near)
        else:  # every term has its whole turns here
            constant = sum(term.factor * value for term, value in zip(relation.terms, near, strict=True))
        terms = tuple(
            replace(term, near=value) if term.kind in TURNING else term
            for term, value in zip(relation.terms, near, strict=True)
        )
        return replace(relation, terms=terms, constant=constant)

    return replace(
        relations,
        constraints=tuple(settled(relation) for relation in relations.constraints),
        coordinates={name: settled(relation) for name, relation in relations.coordinates.items()},
    )


def _completed(relation: Relation, values: list[float]) -> list[float]:
    """Values of the terms with their given turns; the last has those of the least residual."""
    near = [
        value + (whole_turns(term.near - value) if term.kind in TURNING else 0.0)
        for term, value in zip(relation.terms, values, strict=True)
    ]
    last = relation.terms[-1]
    if last.kind in TURNING:
        before = sum(term.factor * value for term, value in zip(relation.terms[:-1], near, strict=False))
        near[-1] += whole_turns((relation.constant - before) / last.factor - near[-1])
    return near


# --- frames ----------------------------------------------------------------------------------------


def ends_of(
    bodies: tuple[int, ...], g: JointGeometry, poses: Poses, axes: tuple[Array, Array] = (np.eye(3),) * 2
) -> PairFrames:
    """Frames of the first two bodies, as the geometry gives them, or from its points with these axes."""
    first = (bodies[0], bodies[1])
    if g.frames is not None:
        origin = np.array([in_space(frame.origin) for frame in g.frames[:2]])
        return PairFrames(first, origin, np.array([axes_of(frame.z, frame.x) for frame in g.frames[:2]]))
    assert g.points is not None
    return local_frames(first, (in_space(g.points[0]), in_space(g.points[1])), axes, poses)


def local_frames(
    bodies: tuple[int, int], points: tuple[Array, Array], axes: tuple[Array, Array], poses: Poses
) -> PairFrames:
    """Frames on two bodies that stand at these points and axes of the world at the reference."""
    at = poses[list(bodies)]
    back = at.rotation.swapaxes(1, 2)
    origin = (back @ (np.array(points) - at.position)[..., None])[..., 0]
    return PairFrames(bodies, origin, back @ np.array(axes))


# --- evaluation ------------------------------------------------------------------------------------


def values_and_rates(
    relations: JointRelations, chosen: Sequence[Relation], poses: Poses, size: float
) -> tuple[Array, Array]:
    """Residuals (T, e) of relations over ``size``, and derivatives (T, e, bodies, 6) by the twists."""
    # Twist: velocity of each body's origin, angular velocity, world axes. Angles in TURNING are completed by
    # whole turns to their values at the reference, and, unless they count from zero, by those of the least
    # residual.
    found = np.zeros((len(poses.angle), len(chosen)))
    rates = np.zeros((*found.shape, len(relations.bodies), 6))
    for row, relation in enumerate(chosen):
        unit = size if relation.is_length else 1.0
        total, counted = found[:, row], []
        total -= relation.constant / unit
        for term in relation.terms:
            value, by_body = _term(relations, term, poses, size)
            factor = term.factor / (unit if term.is_angle or term.kind == "user" else 1.0)
            if term.kind in TURNING:
                value = value + whole_turns(term.near - value)
                counted.append(abs(factor))
            total += factor * value
            for body, rate in by_body:
                rates[:, row, relations.bodies.index(body)] += factor * rate
        if counted and not relation.counts_from_zero:
            turn = 2 * np.pi * min(counted)
            total -= turn * np.round(total / turn)
    return found, rates


def _term(
    relations: JointRelations, term: Term, poses: Poses, size: float
) -> tuple[Array, list[tuple[int, Array]]]:
    """Value (T,) of a term, and its derivative (T, 6) by the twist of each of its bodies."""
    pair = relations.pairs[term.pair]
    a, b = pair.bodies
    if term.kind == "user":
        from mbssa.joints.user import value_and_derivative

        assert relations.function is not None
        of = list(relations.bodies)
        each = [value_and_derivative(relations.function, poses[t, of]) for t in range(len(poses.angle))]
        by_body = np.array([rates for _, rates in each]).swapaxes(0, 1) * ([size] * 3 + [1.0] * 3)
        return np.array([value for value, _ in each]), list(zip(of, by_body, strict=True))
    if term.kind == "turned":
        return poses.angle[:, b], [(b, np.eye(6)[5])]
    ends = [(poses.position[:, body] / size, poses.rotation[:, body]) for body in pair.bodies]
    d, C, axes, arms, across = relative_pose(ends, pair.origin / size, pair.axes)
    if term.kind == "contact":
        from mbssa.joints.cams.contact import gap

        other = relations.curves[1] if len(relations.curves) > 1 else None
        value, rate = gap(relations.curves[0], other, term.numbers[0], d * size, C)
        value, rate = (value - term.parameter) / size, rate / ([1.0] * 3 + [size] * 3)
    else:
        given = {"value": np.full(len(d), term.parameter / size)}
        value, rate = (found[:, 0] for found in elementary_slopes((term.elementary,), d, C, given))
    first, second = by_bodies(rate[:, None], axes, (arms[0] + across, arms[1]))[:, 0].swapaxes(0, 1)
    if term.kind == "line":  # the azimuth is seen from A, the line's angle from the world
        value, first = value + np.arctan2(axes[:, 1, 0], axes[:, 0, 0]), first + np.eye(6)[5]
    return value, [(a, first), (b, second)]
