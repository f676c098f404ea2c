"""Prismatic joint (P): translation along one axis, z of both frames, in the plane x."""

from mbssa.joints import blocks
from mbssa.joints.equations import Equations
from mbssa.joints.joint_type import JointType

SPATIAL = JointType(
    code="P", space="spatial", name="Prismatic", coordinates=("slide",), required=("axis",),
    optional=("point",),
    pair=Equations(
        (*blocks.ACROSS, *blocks.ALIGNED, *blocks.TURN),
        (blocks.Z,),
        blocks.steps("Tz0"),
        (*blocks.SAME_SENSE, (0, 0)),
    ),
    guide=2, slides=True, telescopes=True, may_be_multiple=True,
    releases=(("C", ("turn",)),),
    symbol="s", axle=True,
    signs="slide: along the axis, of the second body against the first.",
    example="""
axis = [1.0, 0.0, 0.0]
point = [0.3, 0.1, 0.0]                     # of the guide; for pictures and slides from a given place
limits = { slide = [0.0, 0.5] }
at_reference = { slide = 0.3 }              # 0 if not given
""",
)  # fmt: skip

PLANAR = JointType(
    code="P", space="planar", name="Prismatic", coordinates=("slide",), required=("axis",),
    optional=("point",),
    pair=Equations((("position y", blocks.Y), *blocks.TURN), (blocks.X,), blocks.steps("Tx0"), ((0, 0),)),
    guide=0, slides=True, telescopes=True, may_be_multiple=True,
    releases=(("SLOT", ("turn",)),),
    symbol="s",
    signs="slide: along the axis, of the second body against the first.",
    example="""
axis = [1.0, 0.0]
point = [0.3, 0.1]                          # of the guide; for pictures and slides from a given place
limits = { slide = [0.0, 0.5] }             # limits and at_reference may be left out
at_reference = { slide = 0.3 }              # 0 if not given
""",
)  # fmt: skip
