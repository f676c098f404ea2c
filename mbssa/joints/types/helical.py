"""Helical joint (H): rotation about one axis with an advance along it of pitch times angle."""

from mbssa.joints import blocks
from mbssa.joints.equations import SCREWED, Elementary, Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="H", space="spatial", name="Helical (screw)", method="helical", coordinates=("angle",),
    required=("point", "axis", "pitch"),
    note="slide = pitch x angle",
    pair=Equations(
        (*blocks.ACROSS, *blocks.ALIGNED, ("advance", Elementary("screw", parameter="pitch"))),
        (SCREWED,),
        blocks.steps("Rz0 Tz0*pitch"),
        blocks.SAME_SENSE,
    ),
    is_bearing=True,
    releases=(("C", ("advance",)),),
    symbol="D", axle=True, solid="axle",
    signs="angle: about the axis, right-handed; the second body advances along it by pitch times angle,"
        " so that a positive pitch is a right-handed screw.",
    example="""
point = [0.3, 0.1, 0.0]
axis = [0.0, 0.0, 1.0]
pitch = 0.002                               # length unit per angle unit
""",
)  # fmt: skip
