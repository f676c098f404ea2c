"""Revolute joint (the paper's R): rotation about one axis, z of both frames."""

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="R", space="spatial", name="Revolute", method="revolute", coordinates=("angle",),
    required=("point", "axis"),
    pair=Equations(
        (*blocks.POSITION, *blocks.ALIGNED), (blocks.ANGLE,), blocks.steps("Rz0"), blocks.SAME_SENSE
    ),
    is_hinge=True, is_bearing=True, may_be_multiple=True,
    releases=(
        ("C", ("position z",)),
        ("U", ("tilt x",)),
        ("U", ("tilt y",)),
        ("S", ("tilt x", "tilt y")),
    ),
    symbol="o", axle=True, solid="axle",
    signs="angle: of the second body against the first about the axis, right-handed.",
    example="""
point = [0.3, 0.1, 0.0]                     # any point of the axis
axis = [0.0, 0.0, 1.0]
limits = { angle = [-1.5, 1.5] }            # rad, or the file's unit; limits and at_reference may be left out
at_reference = { angle = 0.5 }              # 0 if not given
""",
)  # fmt: skip

PLANAR = JointType(
    code="R", space="planar", name="Revolute", method="revolute", coordinates=("angle",),
    required=("point",),
    pair=Equations(blocks.ACROSS, (blocks.ANGLE,), blocks.steps("Rz0")),
    is_ball=True, is_hinge=True, is_bearing=True, may_be_multiple=True,
    releases=(("SLOT", ("position x",)), ("SLOT", ("position y",))),
    symbol="o", solid="axle",
    signs="angle: of the second body against the first, counter-clockwise.",
    example="point = [0.3, 0.1]",
)  # fmt: skip
