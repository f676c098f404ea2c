"""Pin in a slot (SLOT, planar): a point of the second body on a line of the first, x of A."""

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

PLANAR = JointType(
    code="SLOT", space="planar", name="Pin in slot", coordinates=("slide", "angle"),
    required=("point", "axis"), table3=False,
    note="axis: the slot's direction, on the first body; the pin is on the second",
    pair=Equations((("position y", blocks.Y),), (blocks.X, blocks.ANGLE), blocks.steps("Tx0 Rz1")),
    guide=0, slides=True, ends=True, sided=True, solid="rider",
    signs="slide: of the second body's pin along the first body's slot; angle: of the second body "
        "against the first, counter-clockwise.",
    example="""
point = [0.3, 0.1]                          # the pin, on the second body
axis = [1.0, 0.0]                           # of the slot, on the first body
""",
)  # fmt: skip
