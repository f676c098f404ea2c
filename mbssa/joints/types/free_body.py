"""Free body (F, FP in the plane): binds nothing, and places its second body where it is driven."""

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="F", space="spatial", name="Free body, spatial", method="free_body",
    coordinates=("x", "y", "z", "angle_x", "angle_y", "angle_z"), optional=("point",),
    pair=Equations(
        (), (blocks.X, blocks.Y, blocks.Z, *blocks.CARDAN), blocks.steps("Tx0 Ty1 Tz2 Rx3 Ry4 Rz5")
    ),
    frames=blocks.in_point, axis=None,
    signs="x, y, z: of the second body's point in the first's frame; " + blocks.CARDAN_SIGNS + ".",
    example="""
point = [0.3, 0.1, 0.0]                     # of the second body; the origin of its frame if not given
""",
)  # fmt: skip

PLANAR = JointType(
    code="FP", space="planar", name="Free body, planar", method="free_body", coordinates=("x", "y", "angle"),
    optional=("point",),
    pair=Equations((), (blocks.X, blocks.Y, blocks.ANGLE), blocks.steps("Tx0 Ty1 Rz2")),
    frames=blocks.in_point,
    signs="x, y: of the second body's point in the first's frame; angle: counter-clockwise.",
    example="""
point = [0.3, 0.1]                          # of the second body; the origin of its frame if not given
""",
)  # fmt: skip
