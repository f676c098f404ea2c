"""Driven coordinates over time: value, rate and acceleration of each at every instant."""

from groups.motion.columns import from_arrays as from_arrays
from groups.motion.columns import read_motion as read_motion
from groups.motion.laws import Law as Law
from groups.motion.laws import constant_speed as constant_speed
from groups.motion.laws import default_motion as default_motion
from groups.motion.laws import sample as sample
from groups.motion.laws import speed as speed
from groups.motion.sampled import Motion as Motion
from groups.motion.sampled import driven_coordinates as driven_coordinates
from groups.motion.sampled import reference_inputs as reference_inputs
