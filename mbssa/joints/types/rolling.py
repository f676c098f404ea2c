"""A wheel on a straight track in the plane: rolling without slip (RP), and touching alone (RD)."""

# A is on the track, x along it; B is in the wheel's centre, on the side of +y. Rolling: x + r (θ_2 - θ_1) = 0
# since the reference. (Uicker, Pennock and Shigley, Theory of Machines and Mechanisms, chapters 7 and 9.)

from __future__ import annotations

import numpy as np

from mbssa.joints import blocks
from mbssa.joints.equations import Elementary, Equations
from mbssa.joints.geometry import JointGeometry
from mbssa.joints.joint_type import JointType
from mbssa.joints.poses import Poses
from mbssa.joints.relations import JointRelations, PairFrames, Relation, Term, ends_of, local_frames


def _relations(bodies: tuple[int, ...], g: JointGeometry, poses: Poses) -> tuple[JointRelations, PairFrames]:
    track, wheel = first = (bodies[0], bodies[1])
    radius = g.radius or 1.0
    if g.frames is not None:
        ends = ends_of(bodies, g, poses)
    else:
        (foot, axes), (centre, _) = blocks.on_track(g, np.zeros(3), {"radius": radius})
        ends = local_frames(first, (foot, centre), (axes, axes), poses)
    pairs = (ends, PairFrames.of(track), PairFrames.of(wheel))
    way = (Term("along", 0, (0,)), Term("turned", 2, factor=radius), Term("turned", 1, factor=-radius))
    driven = {
        "roll": Relation("roll", (Term("turned", 2), Term("turned", 1, factor=-1.0))),
        "lift": Relation("lift", (Term("along", 0, (1,), parameter=radius),), is_length=True),
    }
    return JointRelations(first, pairs, (Relation("rolling", way, is_length=True),), driven), ends


ROLLING = JointType(
    code="RP", space="planar", name="Pure Rolling", coordinates=("roll", "lift"),
    required=("point", "axis", "radius"),
    note="a straight track along the axis on the first body, a wheel on the second, on the axis's "
        "left; point: the wheel's centre. It binds the rolled way alone: what keeps the wheel on its "
        "track is an RD, or bearings",
    relations=_relations, rolls=True, wheels="track",
    signs="roll: angle of the wheel against the track, counter-clockwise, so that it turns backwards "
        "while it runs along the axis; lift: of the wheel off the track.",
    example="""
[[joint]]                                   # keeps the wheel on its track
bodies = [1, 2]
type = "RD"
point = [0.0, 0.05]
axis = [1.0, 0.0]
radius = 0.05

[[joint]]                                   # keeps it from slipping
bodies = [1, 2]                             # the track, the wheel
type = "RP"
point = [0.0, 0.05]                         # the wheel's centre
axis = [1.0, 0.0]                           # of the track; the wheel is on its left
radius = 0.05
""",
)  # fmt: skip

WITH_SLIP = JointType(
    code="RD", space="planar", name="Rolling with slip", method="rolling_with_slip",
    coordinates=("roll", "slide"), required=("point", "axis", "radius"),
    note="touching alone, of the track and the wheel that an RP has; rolling and sliding are free",
    pair=Equations(
        (("height", Elementary("along", (1,), parameter="radius")),),
        (blocks.ANGLE, blocks.X),
        blocks.steps("Tx1 Tyradius Rz0"),
    ),
    frames=blocks.on_track, is_contact=True, gap="height", wheels="track",
    signs="roll: angle of the wheel against the track, counter-clockwise; "
    "slide: of its centre along the axis.",
    example="""
[[joint]]
bodies = [1, 2]                             # the track, the wheel
type = "RD"
point = [0.0, 0.05]                         # the wheel's centre
axis = [1.0, 0.0]                           # of the track; the wheel is on its left
radius = 0.05
""",
)  # fmt: skip
