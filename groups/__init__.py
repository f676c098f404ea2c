"""How each structural group is solved: position, velocity and acceleration over a whole motion."""

from groups.assembly_modes import AssemblyMode, GroupModes, modes
from groups.global_approach import solve_globally
from groups.model import Model, build, solvers_of
from groups.motion import (
    Motion,
    constant,
    constant_speed,
    default_motion,
    driven_coordinates,
    from_arrays,
    harmonic,
    polynomial,
    pose_path,
    ramp,
    read_motion,
    sample,
    speed,
    spline,
)
from groups.partitioning import Partitioning, PartitionSweep, partition, sweep_partition
from groups.results.archive import load_trajectory
from groups.results.joints import JointMotion
from groups.tearing import Borrowed
from groups.trajectory import BodyMotion, Trajectory

__all__ = [
    "AssemblyMode",
    "BodyMotion",
    "Borrowed",
    "GroupModes",
    "JointMotion",
    "Model",
    "Motion",
    "PartitionSweep",
    "Partitioning",
    "Trajectory",
    "build",
    "constant",
    "constant_speed",
    "default_motion",
    "driven_coordinates",
    "from_arrays",
    "harmonic",
    "load_trajectory",
    "modes",
    "partition",
    "polynomial",
    "pose_path",
    "ramp",
    "read_motion",
    "sample",
    "solve_globally",
    "solvers_of",
    "speed",
    "spline",
    "sweep_partition",
]
