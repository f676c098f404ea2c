"""Cylindrical joint (C): translation along one axis and rotation about it."""

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="C", space="spatial", name="Cylindrical", coordinates=("slide", "angle"),
    required=("point", "axis"),
    pair=Equations(
        (*blocks.ACROSS, *blocks.ALIGNED),
        (blocks.Z, blocks.ANGLE),
        blocks.steps("Tz0 Rz1"),
        blocks.SAME_SENSE,
    ),
    guide=2, is_bearing=True, telescopes=True, spin="axis", may_be_multiple=True,
    releases=(("SC", ("tilt x", "tilt y")),),
    symbol="s", fill="half", axle=True, solid="rider",
    signs="slide: along the axis; angle: about it, right-handed.",
    example="""
point = [0.3, 0.1, 0.0]
axis = [0.0, 0.0, 1.0]
""",
)  # fmt: skip
