"""Measured distance (DIST): binds nothing; driven, a strut that extends between two points."""

# The line from A to B is along x of A where its angles are zero; azimuth turns it about z, elevation lifts it
# towards z.

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

_NOTE = "binds nothing: between one point of each body; driven by its distance, a strut that extends"

SPATIAL = JointType(
    code="DIST", space="spatial", name="Distance Measure",
    coordinates=("distance", "azimuth", "elevation", "angle_x", "angle_y", "angle_z"), required=("points",),
    table3=False,
    note=_NOTE,
    pair=Equations(
        (),
        (blocks.DISTANCE, blocks.AZIMUTH, blocks.ELEVATION, *blocks.CARDAN),
        blocks.steps("Rz1 Ry-2 Tx0 Ry2 Rz-1 Rx3 Ry4 Rz5"),
    ),
    frames=blocks.on_line, axis=0, line="distance",
    signs=f"distance: of the points, positive; {blocks.LINE_SIGNS}; {blocks.CARDAN_SIGNS}.",
    example="""
points = [[0.0, 0.0, 0.0], [0.3, 0.1, 0.4]] # one on each body
driven = ["distance"]
""",
)  # fmt: skip

PLANAR = JointType(
    code="DIST", space="planar", name="Distance Measure", coordinates=("distance", "azimuth", "angle"),
    required=("points",), table3=False,
    note=_NOTE,
    pair=Equations((), (blocks.DISTANCE, blocks.AZIMUTH, blocks.ANGLE), blocks.steps("Rz1 Tx0 Rz-1 Rz2")),
    frames=blocks.on_line, axis=0, line="distance",
    signs="distance: of the points, positive; azimuth: of the line from the first to the second in the "
        "first body's frame, from x, counter-clockwise; angle: of the second body against the first.",
    example="""
points = [[0.0, 0.0], [0.3, 0.4]]           # one on each body
driven = ["distance"]
""",
)  # fmt: skip
