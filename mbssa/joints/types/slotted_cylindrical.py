"""Slotted cylindrical joint (CR): a pin, z of both frames, that runs in a slot along x of A."""

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
    assert g.axes is not None
    slot, pin = (unit(axis) for axis in g.axes)
    frame = blocks.point_of(g), axes_of(pin, slot)
    return frame, frame


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
    frames=_frames, guide=0, ends=True, sided=True,
    signs="slide_x: along the first body's slot; slide_z: along the second body's pin; angle: about the"
        " pin, right-handed.",
    example="""
point = [0.3, 0.1, 0.0]
axes = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]   # the slot on the first body, the pin on the second
""",
)  # fmt: skip
