"""Driven coordinates over time: value, rate and acceleration of each at every instant."""

from groups.motion.arrays import from_arrays
from groups.motion.files import read_motion
from groups.motion.inputs import drive_rows, driven_coordinates, reference_inputs
from groups.motion.laws import Law, constant, harmonic, polynomial, ramp, speed, spline
from groups.motion.pose import pose_path
from groups.motion.sampled import Motion
from groups.motion.sampling import constant_speed, default_motion, sample

__all__ = [
    "Law",
    "Motion",
    "constant",
    "constant_speed",
    "default_motion",
    "drive_rows",
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
