"""Driven coordinates over time: value, rate and acceleration of each at every instant."""

from groups.motion.columns import from_arrays, read_motion
from groups.motion.laws import (
    Law,
    constant,
    constant_speed,
    default_motion,
    harmonic,
    polynomial,
    ramp,
    sample,
    speed,
    spline,
)
from groups.motion.pose import pose_path
from groups.motion.sampled import Motion, driven_coordinates, reference_inputs

__all__ = [
    "Law",
    "Motion",
    "constant",
    "constant_speed",
    "default_motion",
    "driven_coordinates",
    "from_arrays",
    "harmonic",
    "polynomial",
    "pose_path",
    "ramp",
    "read_motion",
    "reference_inputs",
    "sample",
    "speed",
    "spline",
]
