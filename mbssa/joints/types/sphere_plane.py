"""Sphere on a plane (SP): z of A is the plane's normal, B sits in the sphere's centre."""

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="SP", space="spatial", name="Sphere-Plane",
    coordinates=("slide_x", "slide_y", "angle_x", "angle_y", "angle_z"), required=("point", "axis"),
    optional=("radius",),
    note="axis: the plane's normal, on the first body; the sphere is on the second",
    pair=Equations(
        blocks.HEIGHT, (blocks.X, blocks.Y, *blocks.CARDAN), blocks.steps("Tx0 Ty1 Tzradius Rx2 Ry3 Rz4")
    ),
    spin="any", is_contact=True, gap="height", sided=True, solid="plate",
    signs="slide_x, slide_y: of the sphere's centre over the plane; "
    + blocks.CARDAN_SIGNS
    + ". The sphere is on the side that the normal points to.",
    example="""
point = [0.3, 0.1, 0.05]                    # the sphere's centre, on the second body
axis = [0.0, 0.0, 1.0]                      # the plane's normal, on the first body
radius = 0.05                               # 0 if not given
""",
)  # fmt: skip
