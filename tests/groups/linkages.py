"""Mechanisms from rows of joints with their geometry."""

from dataclasses import replace

import mbssa
from mbssa.mechanism import JointGeometry


def linkage(rows, geometry, space="planar", name="linkage"):
    """A mechanism of joints (first, second, type, driven), bodies from 1, with the geometry of each joint."""
    made = mbssa.from_pairs(max(b for row in rows for b in row[:2]), rows, space, name=name)
    return replace(made, joint_geometry={k: JointGeometry(**one) for k, one in enumerate(geometry)})
