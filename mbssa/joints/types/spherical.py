"""Spherical joint (S): one point of each body in one place; Cardan angles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mbssa.arrays import Floats
from mbssa.joints import blocks
from mbssa.joints.axes import axes_of, unit
from mbssa.joints.equations import Equations
from mbssa.joints.geometry import JointGeometry
from mbssa.joints.joint_type import Frame, JointType


def _frames(g: JointGeometry, _: Floats, __: Mapping[str, Any]) -> tuple[Frame, Frame]:
    z, x = g.axes if g.axes is not None else ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    frame = blocks.point_of(g), axes_of(unit(z), unit(x))
    return frame, frame


SPATIAL = JointType(
    code="S", space="spatial", name="Spherical", method="spherical",
    coordinates=("angle_x", "angle_y", "angle_z"), required=("point",), optional=("axes",),
    pair=Equations(blocks.POSITION, blocks.CARDAN, blocks.steps("Rx0 Ry1 Rz2")),
    frames=_frames, axis=None, is_ball=True, spin="any", may_be_multiple=True,
    releases=(("SC", ("position z",)),),
    symbol="o", fill="full", solid="ball",
    signs=blocks.CARDAN_SIGNS + ".",
    example="""
point = [0.3, 0.1, 0.0]                     # the ball's centre
# axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]  # z and x of the frames that the angles are measured in
""",
)  # fmt: skip
