"""Cam and follower in the plane (L): a profile on the first body, its follower on the second."""

from __future__ import annotations

from mbssa.joints.axes import axes_of, in_space
from mbssa.joints.geometry import JointGeometry
from mbssa.joints.joint_type import JointType
from mbssa.joints.poses import Poses
from mbssa.joints.relations import JointRelations, PairFrames, Relation, Term, ends_of


def _relations(bodies: tuple[int, ...], g: JointGeometry, poses: Poses) -> tuple[JointRelations, PairFrames]:
    from mbssa.joints.cams.profiles import profile_from

    assert g.profile is not None
    profile = profile_from(g.profile)
    x, y = g.axes if g.axes is not None else ((1.0, 0.0), (1.0, 0.0))
    ends = ends_of(bodies, g, poses, (axes_of(x=in_space(x)), axes_of(x=in_space(y))))
    first, second = ends.bodies
    pairs = (ends, PairFrames.of(first), PairFrames.of(second))
    gap = Relation("gap", (Term("contact", 0, (profile.kind,), parameter=profile.radius),), is_length=True)
    angle = Relation("angle", (Term("turned", 2), Term("turned", 1, factor=-1.0)))
    return JointRelations(ends.bodies, pairs, (gap,), {"angle": angle}, profile.curves), ends


PLANAR = JointType(
    code="L", space="planar", name="Cam/point-curve/curve-curve", method="cam",
    coordinates=("contact", "angle"), required=("profile", "points"), optional=("axes",),
    note="points: origin of the cam's profile, on the first body, and the follower's, on the second: "
        "centre of the roller, tip of the knife edge, point of the flat face; axes: x of the profile,"
        " and along the face with the cam on its right",
    relations=_relations, driven_in=("angle",), is_contact=True, gap="gap", sided=True,
    signs="angle: of the follower against the cam, counter-clockwise. A closed profile has its material"
        " inside; the gap between profile and follower is zero where they touch and positive where "
        "they are apart.",
    example="""
[[joint]]                                   # the cam turns
bodies = [1, 2]
type = "R"
point = [0.0, 0.0]

[[joint]]                                   # its follower slides
bodies = [1, 3]
type = "P"
axis = [1.0, 0.0]

[[joint]]
bodies = [2, 3]                             # the cam, the follower
type = "L"
profile = { circle = { radius = 0.05, centre = [0.02, 0] }, follower = "knife" }
points = [[0.0, 0.0], [0.07, 0.0]]          # the origin of the cam's profile, the follower's edge
""",
)  # fmt: skip
