"""Slotted cylindrical joint (CR): a pin, z of both frames, that runs in a slot along x of A."""

from functools import partial

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="CR", space="spatial", name="Slotted Cylindrical", coordinates=("slide_x", "slide_z", "angle"),
    required=("point", "axes"),
    note="axes: the slot's direction on the first body, the pin's axis on the second",
    pair=Equations(
        (("position y", blocks.Y), *blocks.ALIGNED),
        (blocks.X, blocks.Z, blocks.ANGLE),
        blocks.steps("Tx0 Tz1 Rz2"),
        blocks.SAME_SENSE,
    ),
    frames=partial(blocks.in_point, z=1, x=0), guide=0, ends=True, sided=True,
    signs="slide_x: along the first body's slot; slide_z: along the second body's pin; angle: about the"
        " pin, right-handed.",
    example="""
point = [0.3, 0.1, 0.0]
axes = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]   # the slot on the first body, the pin on the second
""",
)  # fmt: skip
