"""Mechanisms from rows of joints with their geometry."""

from dataclasses import replace

import mbssa
from mbssa.mechanism import JointGeometry


def linkage(rows, geometry, space="planar", name="linkage"):
    """A mechanism of joints (first, second, type, driven), bodies from 1, with the geometry of each joint."""
    made = mbssa.from_pairs(max(b for row in rows for b in row[:2]), rows, space, name=name)
    return replace(made, joint_geometry={k: JointGeometry(**one) for k, one in enumerate(geometry)})


#: Two wheels whose centres are on cranks, the second driven by the mesh alone.
MOVING_CENTRES = """
format = 1
space = "planar"
body = [{ name = "a" }, { name = "b" }, { name = "wheel" }, { name = "other" }]

[[joint]]
bodies = ["frame", "a"]
type = "R"
driven = true
point = [0.0, 0.0]

[[joint]]
bodies = ["frame", "b"]
type = "R"
driven = true
point = [1.0, 0.2]

[[joint]]
bodies = ["a", "wheel"]
type = "R"
driven = true
point = [0.3, 0.0]

[[joint]]
bodies = ["b", "other"]
type = "R"
point = [1.5, 0.2]

[[joint]]
bodies = ["wheel", "other"]
type = "EO"
points = [[0.3, 0.0], [1.5, 0.2]]
ratio = 1.37
"""
