"""A user's constraint (USER): a function of the poses of any number of bodies, zero where it holds."""

from __future__ import annotations

from functools import partial

import numpy as np

from mbssa.joints.geometry import JointGeometry
from mbssa.joints.joint_type import JointType
from mbssa.joints.poses import Poses
from mbssa.joints.relations import JointRelations, PairFrames, Relation, Term


def _relations(
    bodies: tuple[int, ...], g: JointGeometry, _: Poses, *, planar: bool
) -> tuple[JointRelations, PairFrames]:
    from mbssa.joints.user import UserFunction

    assert g.function is not None
    still = np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))
    spread = bodies if len(bodies) % 2 == 0 else (*bodies, bodies[-1])
    pairs = tuple(PairFrames((a, b), *still) for a, b in zip(spread[::2], spread[1::2], strict=True))
    relation = Relation("function", (Term("user", 0),), is_length=g.unit == "m")
    function = UserFunction(g.function, len(bodies), planar, g.derivative)
    return JointRelations(bodies, pairs, (relation,), function=function), pairs[0]


_type = partial(
    JointType, code="USER", name="User's constraint", method="user_constraint", required=("function",),
    optional=("derivative", "unit"), max_bodies=100, table3=False,
    note="function of the poses of its bodies, zero where the constraint holds; one equation a joint",
    driven_in=(),
    signs="The coordinates only count what is left free. The function takes the poses of its bodies, in "
        "their order: in the plane q (bodies, 3) with rows x, y, angle; in space p (bodies, 3) and R "
        "(bodies, 3, 3); m and rad.",
)  # fmt: skip

SPATIAL = _type(
    space="spatial", coordinates=("other_1", "other_2", "other_3", "other_4", "other_5"),
    relations=partial(_relations, planar=False),
    example="""
[[joint]]
bodies = [1, 2]
type = "P"
axis = [0.0, 0.0, 1.0]

[[joint]]
bodies = [1, 3]
type = "P"
axis = [0.0, 1.0, 1.0]

[[joint]]
bodies = [2, 3]                             # any number
type = "USER"
function = "my_constraints:same_height"     # def same_height(p, R): return p[0, 2] - p[1, 2]
unit = "m"
""",
)  # fmt: skip

PLANAR = _type(
    space="planar", coordinates=("other_1", "other_2"), relations=partial(_relations, planar=True),
    example="""
[[joint]]
bodies = [1, 2]
type = "R"
point = [0.0, 0.0]

[[joint]]
bodies = [1, 3]
type = "R"
point = [0.3, 0.1]

[[joint]]
bodies = [2, 3]                             # any number
type = "USER"
function = "my_constraints:same_angle"      # def same_angle(q): return q[0, 2] - q[1, 2]
unit = "rad"
""",
)  # fmt: skip
