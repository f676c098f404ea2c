"""Planar joint (PL): the bodies keep one plane, whose normal is z of both frames."""

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="PL", space="spatial", name="Planar", coordinates=("slide_x", "slide_y", "angle"),
    required=("point", "axis"),
    note="axis: the normal",
    pair=Equations(
        (("position z", blocks.Z), *blocks.ALIGNED),
        (blocks.X, blocks.Y, blocks.ANGLE),
        blocks.steps("Tx0 Ty1 Rz2"),
        blocks.SAME_SENSE,
    ),
    is_plane=True, may_be_multiple=True,
    releases=(("SP", ("tilt x", "tilt y")),),
    symbol="h", solid="plate",
    signs="slide_x, slide_y: of the second body along x and y of the first's frame, in the plane; "
        "angle: about the normal, right-handed.",
    example="""
point = [0.3, 0.1, 0.0]
axis = [0.0, 0.0, 1.0]                      # the normal
""",
)  # fmt: skip
