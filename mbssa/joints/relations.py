"""Equations that are no function of one relative pose: gears, rolling, cams, contacts, users' functions.

A *relation* is a sum of terms, each a scalar of the relative pose of two frames, or of a body's angle, times
a factor; it holds where the sum is its ``constant``. So it binds any number of bodies. Joints made of
relations carry no body: they only close what others carry.

Gears (Uicker, Pennock and Shigley, *Theory of Machines and Mechanisms*, chapters 7 and 9), ρ = r_2 / r_1,
negative for an internal mesh, angles since the reference: (θ_1 - φ) + ρ (θ_2 - φ) = 0, where φ is the angle
of the carrier, or without one that of the line from the centre of wheel 1 to that of wheel 2. In space each
angle is the wheel's about its own axis, seen from the carrier; axes point away from where they meet.

Rolling on a straight track along x, on the side of +y: x + r (θ_2 - θ_1) = 0 since the reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mbssa.joints.equations import Elementary

if TYPE_CHECKING:
    from mbssa.joints.curves import Curve
    from mbssa.joints.user import UserFunction

Array = npt.NDArray[Any]

#: Kinds of terms that a pose tells but for whole turns.
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
    """One summand.

    ``kind`` is one of :class:`mbssa.joints.equations.Elementary`, or

    ===========  =================================================================================
    ``turned``   angle of the pair's second body in the plane, which counts turns
    ``counted``  the ``turn`` of that elementary, turns counted
    ``line``     the world's angle of the line from A to B in the plane, turns counted
    ``contact``  signed gap between two profiles, ``numbers`` the kind of the follower's
    ``user``     a user's function of all bodies of the joint
    ===========  =================================================================================

    ``parameter`` is what an elementary or the gap is less, m; ``factor`` is in m where an angle counts as a
    length; ``near`` is the value at the reference of an angle whose turns a pose does not tell.
    """

    kind: str
    pair: int
    numbers: tuple[int, ...] = ()
    factor: float = 1.0
    parameter: float = 0.0
    near: float = 0.0

    @property
    def is_angle(self) -> bool:
        return self.kind in ("turned", "counted", "line", "turn")

    @property
    def elementary(self) -> Elementary:
        """The function of a relative pose, its parameter named ``value``."""
        kind = "turn" if self.kind == "counted" else self.kind
        return Elementary(kind, self.numbers, parameter="value")


@dataclass(frozen=True, slots=True)
class Relation:
    """A sum of terms that holds at ``constant``, m if ``is_length``, else rad."""

    name: str
    terms: tuple[Term, ...]
    constant: float = 0.0
    is_length: bool = False


@dataclass(frozen=True, eq=False)
class JointRelations:
    """The relations of one joint.

    Attributes
    ----------
    bodies : indices of the joint's bodies
    pairs : frames that the terms name by their place
    constraints : what always holds; coordinates : free coordinates that can be driven, by name
    curves : profiles of the cam and of its follower
    function : the user's
    """

    bodies: tuple[int, ...]
    pairs: tuple[PairFrames, ...]
    constraints: tuple[Relation, ...]
    coordinates: Mapping[str, Relation] = field(default_factory=dict)
    curves: tuple[Curve, ...] = ()
    function: UserFunction | None = None

    def sized(self, size: float) -> JointRelations:
        """The same in a mechanism of this size, m, which says how long the steps of derivatives are."""
        if self.function is None:
            return self
        return replace(self, function=replace(self.function, size=size))


@dataclass(frozen=True, eq=False)
class Poses:
    """Bodies of a mechanism somewhere: ``position`` (N, 3), m, ``rotation`` (N, 3, 3), ``angle`` (N,)."""

    position: Array
    rotation: Array
    angle: Array


def at_reference(relations: JointRelations, poses: Poses) -> JointRelations:
    """The same with the constants that hold where the bodies stand now.

    Only of angles and rolled ways, which are told since the reference: a contact or a user's function holds
    at zero, wherever the reference is.
    """

    def settled(relation: Relation) -> Relation:
        if not any(term.is_angle for term in relation.terms):
            return relation
        terms = tuple(
            replace(term, near=_term(relations, term, poses, 1.0)[0]) if term.kind in TURNING else term
            for term in relation.terms
        )
        # No turn is left off here: every term says how many it has.
        constant = sum(term.factor * _term(relations, term, poses, 1.0)[0] for term in terms)
        return replace(relation, terms=terms, constant=constant)

    return replace(
        relations,
        constraints=tuple(settled(relation) for relation in relations.constraints),
        coordinates={name: settled(relation) for name, relation in relations.coordinates.items()},
    )


# --- making ----------------------------------------------------------------------------------------


def gear(wheels: tuple[int, int], carrier: int | None, ratio: float, centres: Array) -> JointRelations:
    """Two wheels in the plane.

    Parameters
    ----------
    centres : (2, 3) of the wheels, in their own frames
    carrier : index of the body that carries both; None for the line of centres
    """
    i, j = wheels
    pairs = [PairFrames.of(i), PairFrames.of(j)]
    if carrier is None:
        pairs.append(PairFrames(wheels, centres, np.tile(np.eye(3), (2, 1, 1))))
        arm = Term("line", 2)
    else:
        pairs.append(PairFrames.of(carrier))
        arm = Term("turned", 2)
    first, second = Term("turned", 0), Term("turned", 1, factor=ratio)
    return JointRelations(
        wheels if carrier is None else (*wheels, carrier),
        tuple(pairs),
        (Relation("mesh", (first, second, replace(arm, factor=-(1.0 + ratio)))),),
        {
            "angle_1": Relation("angle_1", (first, replace(arm, factor=-1.0))),
            "angle_2": Relation("angle_2", (Term("turned", 1), replace(arm, factor=-1.0))),
        },
    )


def bevel(
    wheels: tuple[int, int], carrier: int, ratio: float, frames: tuple[PairFrames, PairFrames]
) -> JointRelations:
    """Two wheels in space on axes of a carrier: ``frames`` from the carrier to each, z along the axis."""
    turn = (1, 0, 0, 0)
    first, second = Term("counted", 0, turn), Term("counted", 1, turn)
    return JointRelations(
        (*wheels, carrier),
        frames,
        (Relation("mesh", (first, replace(second, factor=ratio))),),
        {"angle_1": Relation("angle_1", (first,)), "angle_2": Relation("angle_2", (second,))},
    )


def rolling(frames: PairFrames, radius: float) -> JointRelations:
    """A wheel on a straight track: x of A is along the track, the wheel's centre is B's origin."""
    track, wheel = frames.bodies
    pairs = (frames, PairFrames.of(track), PairFrames.of(wheel))
    way = (Term("along", 0, (0,)), Term("turned", 2, factor=radius), Term("turned", 1, factor=-radius))
    roll = Relation("roll", (Term("turned", 2), Term("turned", 1, factor=-1.0)))
    lift = Relation("lift", (Term("along", 0, (1,), parameter=radius),), is_length=True)
    return JointRelations(
        frames.bodies, pairs, (Relation("rolling", way, is_length=True),), {"roll": roll, "lift": lift}
    )


def points_on_planes(bodies: tuple[int, int], frames: tuple[PairFrames, ...]) -> JointRelations:
    """Points of the second body on planes of the first: z of each A is its plane's normal."""
    constraints = tuple(
        Relation(f"height {k + 1}", (Term("along", k, (2,)),), is_length=True) for k in range(len(frames))
    )
    return JointRelations(bodies, frames, constraints)


def cam(frames: PairFrames, kind: int, radius: float, curves: tuple[Curve, ...]) -> JointRelations:
    """A profile on the first body and a follower on the second: a point, a flat face or another profile."""
    first, second = frames.bodies
    pairs = (frames, PairFrames.of(first), PairFrames.of(second))
    gap = Relation("gap", (Term("contact", 0, (kind,), parameter=radius),), is_length=True)
    angle = Relation("angle", (Term("turned", 2), Term("turned", 1, factor=-1.0)))
    return JointRelations(frames.bodies, pairs, (gap,), {"angle": angle}, curves)


def user(bodies: tuple[int, ...], function: UserFunction, *, is_length: bool) -> JointRelations:
    """A user's function of these bodies."""
    spread = bodies if len(bodies) % 2 == 0 else (*bodies, bodies[-1])
    still = np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))
    pairs = tuple(PairFrames((a, b), *still) for a, b in zip(spread[::2], spread[1::2], strict=True))
    relation = Relation("function", (Term("user", 0),), is_length=is_length)
    return JointRelations(bodies, pairs, (relation,), function=function)


# --- evaluation ------------------------------------------------------------------------------------


def value_and_rates(
    relations: JointRelations, relation: Relation, poses: Poses, size: float
) -> tuple[float, Array]:
    """What a relation misses by, and its derivative by the twists of the joint's bodies.

    Lengths are divided by ``size``. The derivative (bodies, 6) is by the velocity of each body's origin and
    its angular velocity, world axes. Angles that only the pose tells are completed by whole turns to what
    they were at the reference, and those by the turns with which the relation misses least.
    """
    total, counted = -relation.constant / (size if relation.is_length else 1.0), []
    rates = np.zeros((len(relations.bodies), 6))
    for term in relation.terms:
        value, by_body = _term(relations, term, poses, size)
        factor = term.factor / size if relation.is_length and term.is_angle else term.factor
        if relation.is_length and term.kind == "user":
            factor /= size
        if term.kind in TURNING:
            value += 2 * np.pi * np.round((term.near - value) / (2 * np.pi))
            counted.append(abs(factor))
        total += factor * value
        for body, rate in by_body:
            rates[relations.bodies.index(body)] += factor * rate
    if counted:
        turn = 2 * np.pi * min(counted)
        total -= turn * np.round(total / turn)
    return float(total), rates


def _term(
    relations: JointRelations, term: Term, poses: Poses, size: float
) -> tuple[float, list[tuple[int, Array]]]:
    pair = relations.pairs[term.pair]
    a, b = pair.bodies
    if term.kind == "user":
        from mbssa.joints.user import value_and_derivative

        assert relations.function is not None
        of = list(relations.bodies)
        value, rates = value_and_derivative(
            relations.function, poses.position[of], poses.rotation[of], poses.angle[of]
        )
        rates = np.array(rates)
        rates[:, :3] *= size
        return value, list(zip(of, rates, strict=True))
    upright = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    if term.kind == "turned":
        return float(poses.angle[b]), [(b, upright)]
    axes = poses.rotation[a] @ pair.axes[0]
    arms = [poses.rotation[body] @ pair.origin[side] / size for side, body in enumerate(pair.bodies)]
    across = poses.position[b] / size + arms[1] - poses.position[a] / size - arms[0]
    d = (axes.T @ across)[None]
    C = (axes.T @ poses.rotation[b] @ pair.axes[1])[None]
    if term.kind == "contact":
        from mbssa.joints.contact import gap

        curves = [curve.scaled(1.0 / size) for curve in relations.curves]
        found, rate = gap(curves[0], curves[1] if len(curves) > 1 else None, term.numbers[0], d, C)
        value = float(found[0]) - term.parameter / size
    elif term.kind == "line":
        azimuth, rate = Elementary("azimuth")(d, C, {})
        value = float(azimuth[0] + np.arctan2(axes[1, 0], axes[0, 0]))
    else:
        found, rate = term.elementary(d, C, {"value": np.array([term.parameter / size])})
        value = float(found[0])
    force, moment = axes @ rate[0, :3], axes @ rate[0, 3:]
    lever = across + arms[0], arms[1]
    by_a = -np.concatenate([force, moment + np.cross(lever[0], force)])
    if term.kind == "line":
        by_a = by_a + upright
    return value, [(a, by_a), (b, np.concatenate([force, moment + np.cross(lever[1], force)]))]
