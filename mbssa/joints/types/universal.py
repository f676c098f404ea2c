"""Universal joint (U) and a ball whose pin runs in a slot (ER, a U in kinematic terms): two crossing pins."""

# z of each frame is the pin of its body. The angles are zero where z of B is x of A and x of B is z of A;
# angle_1 turns about z of A, angle_2 about z of B.

from mbssa.joints import blocks
from mbssa.joints.equations import Elementary, Equations
from mbssa.joints.joint_type import JointType

_OFFSET = tuple(
    (name, Elementary("offset", (axis,), parameter="offset"))
    for axis, (name, _) in enumerate(blocks.POSITION)
)
_PAIR = Equations((*_OFFSET, *blocks.UPRIGHT), blocks.CROSS, blocks.steps("Rz0 swap Tynormal Rz1"))

SLOTTED_SPHERICAL = JointType(
    code="ER", space="spatial", name="Slotted Spherical", coordinates=("angle_1", "angle_2"),
    required=("point", "axes"),
    note="a U in kinematic terms",
    pair=_PAIR,
    frames=blocks.on_crossed_axes, is_universal=True, symbol="P", solid="cross",
    signs="angle_1: about the first body's pin; angle_2: about the second's; right-handed. A ball whose"
        " pin runs in a slot: one rotation of three is held.",
    example="""
point = [0.3, 0.1, 0.0]                     # the ball's centre
axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]   # of the first body and of the second, at right angles
""",
)  # fmt: skip

SPATIAL = JointType(
    code="U", space="spatial", name="Universal", coordinates=("angle_1", "angle_2"),
    required=("point", "axes"), optional=("offsets",),
    pair=_PAIR,
    frames=blocks.on_crossed_axes, is_universal=True, pins_from_rod=True,
    releases=(("S", ("angle between the axes",)),),
    symbol="P", solid="cross",
    signs="angle_1: about the first body's pin; angle_2: about the second's; right-handed.",
    example="""
point = [0.3, 0.1, 0.0]                     # where the pins cross
axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]   # the pin on the first body, the pin on the second
# offsets = [0.01]                          # where the pins do not meet: their distance
""",
)  # fmt: skip
