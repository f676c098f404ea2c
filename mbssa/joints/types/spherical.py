"""Spherical joint (S): one point of each body in one place; Cardan angles."""

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="S", space="spatial", name="Spherical", method="spherical",
    coordinates=("angle_x", "angle_y", "angle_z"), required=("point",), optional=("axes",),
    pair=Equations(blocks.POSITION, blocks.CARDAN, blocks.steps("Rx0 Ry1 Rz2")),
    frames=blocks.in_point, axis=None, is_ball=True, spin="any", may_be_multiple=True,
    releases=(("SC", ("position z",)),),
    symbol="o", fill="full", solid="ball",
    signs=blocks.CARDAN_SIGNS + ".",
    example="""
point = [0.3, 0.1, 0.0]                     # the ball's centre
# axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]  # z and x of the frames that the angles are measured in
""",
)  # fmt: skip
