"""Driven coordinates over time: value, rate and acceleration of each at every instant."""

from groups.motion.arrays import from_arrays
from groups.motion.files import read_motion
from groups.motion.laws import Law, constant, harmonic, polynomial, ramp, speed, spline
from groups.motion.pose import pose_path
from groups.motion.sampled import Motion, driven_coordinates, reference_inputs
from groups.motion.sampling import constant_speed, default_motion, sample

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
