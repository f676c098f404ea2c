"""Linear coupling (COUPLING): q_2 = offset + multiplier q_1 of coordinates of any two joints."""

# Angles and slides in any combination; the joints need no body in common (a finger, a rack, a mimic joint of
# a robot). The coordinates are those of the joints, from their zeros: the equation holds as written, wherever
# the reference is.

from __future__ import annotations

from functools import partial

import numpy as np

from mbssa.joints.geometry import JointGeometry
from mbssa.joints.joint_type import JointType
from mbssa.joints.poses import Poses
from mbssa.joints.relations import JointCoordinate, JointRelations, PairFrames, Relation, Term


def _relations(bodies: tuple[int, ...], g: JointGeometry, poses: Poses) -> tuple[JointRelations, PairFrames]:
    first, second = poses.coordinates
    multiplier, offset = g.multiplier or 1.0, g.offset or 0.0
    # A length times its factor stays a length in units of the mechanism's size; an angle's may be in metres.
    weights = (-multiplier, 1.0) if second.is_length or not first.is_length else (-1.0, 1.0 / multiplier)
    relation = Relation(
        "coupling",
        (_term(first, 0, weights[0]), _term(second, 1, weights[1])),
        offset * weights[1],
        is_length=first.is_length or second.is_length,
        counts_from_zero=True,
    )
    pairs = (first.pair, second.pair)
    of = tuple(dict.fromkeys((*first.pair.bodies, *second.pair.bodies)))
    return JointRelations(of, pairs, (relation,)), _ends(bodies, pairs)


def _term(coordinate: JointCoordinate, pair: int, weight: float) -> Term:
    function = coordinate.function
    # The angle of minus a sine is minus the angle.
    kind = "counted" if function.kind == "turn" else function.kind
    near = function.sign * coordinate.at_reference
    return Term(kind, pair, function.numbers, function.sign * weight, near=near)


def _ends(bodies: tuple[int, ...], pairs: tuple[PairFrames, PairFrames]) -> PairFrames:
    """Frames of the first joint on the first body, and of the second joint on the second, where these are."""
    ends = [
        next((pair, pair.bodies.index(body)) for pair in order if body in pair.bodies)
        for body, order in zip(bodies, (pairs, pairs[::-1]), strict=False)
    ]
    origin, axes = (np.array([getattr(pair, key)[side] for pair, side in ends]) for key in ("origin", "axes"))
    return PairFrames((bodies[0], bodies[1]), origin, axes)


_type = partial(
    JointType, code="COUPLING", name="Coupling of two coordinates", method="coupling", max_bodies=4,
    required=("couples", "multiplier"), optional=("offset",), table3=False,
    note="second coordinate = offset + multiplier x first; bodies: those of the two joints, each once",
    relations=_relations, driven_in=(), is_coupling=True, axis=None, sided=True, symbol="x",
    signs="The equation is of the coordinates of the two joints that it names, with their signs and zeros, "
        "in rad and m or the file's units. Its own coordinates only count what is left free.",
)  # fmt: skip

SPATIAL = _type(
    space="spatial", coordinates=("other_1", "other_2", "other_3", "other_4", "other_5"),
    example="""
[[joint]]                                   # a pinion, and its rack on another body
bodies = [1, 2]
type = "R"
point = [0.0, 0.0, 0.1]
axis = [0.0, 0.0, 1.0]

[[joint]]
bodies = [1, 3]
type = "P"
point = [0.0, 0.05, 0.0]
axis = [1.0, 0.0, 0.0]
at_reference = { slide = 0.01 }

[[joint]]
bodies = [2, 3, 1]                          # those of both joints
type = "COUPLING"
couples = ["1-2.angle", "1-3.slide"]        # joint and coordinate, by id or numbers of bodies
multiplier = 0.05                           # slide = 0.01 + 0.05 x angle
offset = 0.01                               # 0 if left out
""",
)  # fmt: skip

PLANAR = _type(
    space="planar", coordinates=("other_1", "other_2"),
    example="""
[[joint]]                                   # two fingers of a gripper
bodies = [1, 2]
type = "R"
point = [-0.02, 0.0]

[[joint]]
bodies = [1, 3]
type = "R"
point = [0.02, 0.0]

[[joint]]
bodies = [2, 3, 1]                          # those of both joints
type = "COUPLING"
couples = ["1-2.angle", "1-3.angle"]        # joint and coordinate, by id or numbers of bodies
multiplier = -1.0                           # the second turns the other way
""",
)  # fmt: skip
