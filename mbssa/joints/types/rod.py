"""Binary link of constant length (SPSP, ROD in the plane): two points at a constant distance."""

# The line from A to B is along x of A where its angles are zero; azimuth turns it about z, elevation lifts it
# towards z.

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="SPSP", space="spatial", name="Sphere-Sphere",
    coordinates=("azimuth", "elevation", "angle_x", "angle_y", "angle_z"), required=("points",),
    optional=("length",),
    note="a rod of constant length between one point of each body",
    pair=Equations(
        blocks.LENGTH,
        (blocks.AZIMUTH, blocks.ELEVATION, *blocks.CARDAN),
        blocks.steps("Rz0 Ry-1 Txlength Ry1 Rz-0 Rx2 Ry3 Rz4"),
    ),
    frames=blocks.on_line, axis=0, line="rod", spin="any", gap="length", symbol="o", fill="full",
    signs=f"{blocks.LINE_SIGNS}; {blocks.CARDAN_SIGNS}.",
    example="""
points = [[0.0, 0.0, 0.0], [0.3, 0.1, 0.4]] # the rod's ends, one on each body
# length = 0.5                              # the points' distance if not given
""",
)  # fmt: skip

PLANAR = JointType(
    code="ROD", space="planar", name="Binary link of constant length", method="rod",
    coordinates=("azimuth", "angle"),
    required=("points",), optional=("length",), table3=False,
    note="constant distance between one point of each body",
    pair=Equations(blocks.LENGTH, (blocks.AZIMUTH, blocks.ANGLE), blocks.steps("Rz0 Txlength Rz-0 Rz1")),
    frames=blocks.on_line, axis=0, line="rod", symbol="o",
    signs="azimuth: of the rod in the first body's frame, from x, counter-clockwise; angle: of the "
        "second body against the first.",
    example="""
points = [[0.0, 0.0], [0.3, 0.4]]           # the rod's ends, one on each body
# length = 0.5                              # the points' distance if not given
""",
)  # fmt: skip
