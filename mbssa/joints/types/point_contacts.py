"""Contacts in 2 to 5 points (CBIP, CTRP, CTEP, CPEP): of the second body on planes of the first."""

from __future__ import annotations

from mbssa.joints.axes import axes_of, in_space
from mbssa.joints.geometry import JointGeometry
from mbssa.joints.joint_type import JointType
from mbssa.joints.poses import Poses
from mbssa.joints.relations import JointRelations, PairFrames, Relation, Term, local_frames


def _relations(bodies: tuple[int, ...], g: JointGeometry, poses: Poses) -> tuple[JointRelations, PairFrames]:
    """Heights over planes: z of each A is its plane's normal."""
    assert g.points is not None
    assert g.axes is not None
    first = (bodies[0], bodies[1])
    frames = tuple(
        local_frames(first, (in_space(p),) * 2, (axes_of(z=in_space(n)),) * 2, poses)
        for p, n in zip(g.points, g.axes, strict=True)
    )
    constraints = tuple(
        Relation(f"height {k + 1}", (Term("along", k, (2,)),), is_length=True) for k in range(len(frames))
    )
    return JointRelations(first, frames, constraints), frames[0]


def _contacts(
    count: int, code: str, name: str, coordinates: tuple[str, ...], points: str, axes: str
) -> JointType:
    return JointType(
        code=code, space="spatial", name=name, coordinates=coordinates, required=("points", "axes"),
        note="point contacts: a point and its plane's normal for each",
        relations=_relations, driven_in=(), is_contact=True, gap="height", contacts=count, sided=True,
        signs="Points of the second body touch planes of the first, whose normals point to the second. The "
        "coordinates only count what is left free.",
        example=f"""
points = {points}
axes = {axes}
""",
    )  # fmt: skip


FIVE = _contacts(
    5, "CPEP", "Penta Punctual Contact", ("motion",),
    "[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0],\n          [0.0, 1.0, 0.0], [0.0, 0.0, 0.5], [1.0, 0.0, 0.5]]",
    "[[0.0, 0.0, 1.0], [0.0, 0.0, 1.0],\n        [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]",
)  # fmt: skip
FOUR = _contacts(
    4, "CTEP", "Tetra Punctual Contact", ("motion_1", "motion_2"),
    "[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.5]]",
    "[[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]",
)  # fmt: skip
THREE = _contacts(
    3, "CTRP", "Tri Punctual Contact", ("slide_x", "slide_y", "angle"),
    "[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]",
    "[[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]",
)  # fmt: skip
TWO = _contacts(
    2, "CBIP", "Bi Punctual Contact", ("slide_x", "slide_y", "angle_x", "angle_z"),
    "[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]",
    "[[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]",
)  # fmt: skip
