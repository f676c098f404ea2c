"""Cylinder on a plane (PC): z of A is the plane's normal, z of B the cylinder's axis."""

# The angles are zero where z of B is x of A and x of B is z of A; angle_z turns about z of A, angle_x about z
# of B.

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="PC", space="spatial", name="Plane-Cylinder",
    coordinates=("slide_x", "slide_y", "angle_x", "angle_z"), required=("point", "axes"),
    optional=("radius",),
    note="axes: the plane's normal on the first body, the cylinder's axis on the second",
    pair=Equations(
        (*blocks.HEIGHT, *blocks.UPRIGHT),
        (blocks.X, blocks.Y, *blocks.CROSS[::-1]),
        blocks.steps("Tx0 Ty1 Tzradius Rz3 swap Rz2"),
    ),
    frames=blocks.on_crossed_axes, spin="axis", is_contact=True, gap="height", sided=True, solid="cross",
    signs="slide_x, slide_y: of the cylinder's point over the plane, x along the cylinder at the "
        "reference; angle_z: about the plane's normal; angle_x: about the cylinder's axis; "
        "right-handed. The cylinder is on the side that the normal points to.",
    example="""
point = [0.3, 0.1, 0.05]                    # of the cylinder's axis
axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]   # the plane's normal on the first body, the cylinder's axis
radius = 0.05                               # 0 if not given
""",
)  # fmt: skip
