"""Ball in a cylinder (SC): a point of the second body on the cylinder's axis, z of A."""

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="SC", space="spatial", name="Sphere-Cylinder",
    coordinates=("slide", "angle_x", "angle_y", "angle_z"), required=("point", "axis"),
    note="axis: the cylinder's, on the first body",
    pair=Equations(blocks.ACROSS, (blocks.Z, *blocks.CARDAN), blocks.steps("Tz0 Rx1 Ry2 Rz3")),
    guide=2, spin="any", is_contact=True, sided=True,
    signs="slide: of the ball's centre along the cylinder; " + blocks.CARDAN_SIGNS + ".",
    example="""
point = [0.3, 0.1, 0.0]                     # the ball's centre
axis = [0.0, 0.0, 1.0]                      # of the cylinder, on the first body
""",
)  # fmt: skip
