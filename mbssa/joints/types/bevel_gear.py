"""Gear pair in space on any two axes of a carrier (BEVEL)."""

# θ_1 + ρ θ_2 = 0 with ρ = r_2 / r_1, negative for an internal mesh; each angle is the wheel's about its own
# axis, seen from the carrier, since the reference; axes point away from where they meet. (Uicker, Pennock and
# Shigley, Theory of Machines and Mechanisms, chapters 7 and 9.)

from __future__ import annotations

from dataclasses import replace

from mbssa.joints.axes import axes_of, in_space
from mbssa.joints.geometry import JointGeometry
from mbssa.joints.joint_type import JointType
from mbssa.joints.poses import Poses
from mbssa.joints.relations import JointRelations, PairFrames, Relation, Term, ends_of, local_frames


def _relations(bodies: tuple[int, ...], g: JointGeometry, poses: Poses) -> tuple[JointRelations, PairFrames]:
    wheels, carrier = (bodies[0], bodies[1]), bodies[2] if len(bodies) > 2 else 0
    if g.frames is not None:
        given = ends_of(bodies, g, poses)
        world = [*(poses.rotation[list(wheels)] @ given.axes)]
        centres = [*poses[list(wheels)].centres(given.origin)]
    else:
        assert g.axes is not None
        world = [axes_of(in_space(axis)) for axis in g.axes]
        centres = [in_space(p) for p in (g.points if g.points is not None else ((0.0, 0.0, 0.0),) * 2)]
    # From the carrier to each wheel, z along its axis.
    frames = tuple(
        local_frames((carrier, wheel), (centre, centre), (axes, axes), poses)
        for wheel, centre, axes in zip(wheels, centres, world, strict=True)
    )
    first, second = (Term("counted", k, (1, 0, 0, 0)) for k in range(2))
    mesh = Relation("mesh", (first, replace(second, factor=g.ratio or 1.0)))
    driven = {"angle_1": Relation("angle_1", (first,)), "angle_2": Relation("angle_2", (second,))}
    ends = local_frames(wheels, (centres[0], centres[1]), (world[0], world[1]), poses)
    return JointRelations((*wheels, carrier), frames, (mesh,), driven), ends


SPATIAL = JointType(
    code="BEVEL", space="spatial", name="Gear on any two axes", method="bevel_gear",
    coordinates=("angle_1", "angle_2", "other_1", "other_2", "other_3"), required=("axes", "ratio"),
    optional=("points",), max_bodies=3, table3=False,
    note="first and second wheel, then the carrier (the frame if not given); axes: the wheels', away "
        "from where they meet; ratio r2/r1, or of the numbers of teeth, negative for an internal mesh",
    relations=_relations, driven_in=("angle_1", "angle_2"), is_gear=True, wheels="bevel",
    signs="angle_1, angle_2: of each wheel about its own axis, right-handed, against the carrier: "
        "angle_1 + ratio x angle_2 = 0. The others only count what is left free.",
    example="""
[[joint]]                                   # the wheels' hinges
bodies = [1, 2]
type = "R"
point = [0.0, 0.0, 0.2]
axis = [0.0, 0.0, 1.0]

[[joint]]
bodies = [1, 3]
type = "R"
point = [0.1, 0.0, 0.0]
axis = [1.0, 0.0, 0.0]

[[joint]]
bodies = [2, 3, 1]                          # first wheel, second wheel, carrier (the frame if left out)
type = "BEVEL"
axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]   # the wheels', away from where they meet
ratio = 2.0
""",
)  # fmt: skip
