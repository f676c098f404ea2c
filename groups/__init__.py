"""Solution of each structural group: position, velocity and acceleration over a whole motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.model import Model, build, solvers_of
from groups.motion.columns import from_arrays, read_motion
from groups.motion.laws import (
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
from groups.motion.sampled import Motion, driven_coordinates
from groups.results.joints import BodyMotion, JointMotion
from groups.trajectory import Trajectory
from mbssa.lazy import lazy as _lazy

if TYPE_CHECKING:
    from groups import pictures as pictures
    from groups.assembly_modes import AssemblyMode, GroupModes, modes
    from groups.dynamics import Forces, JointForces, forces
    from groups.dynamics.forward import Event, Simulation, simulate
    from groups.dynamics.forward.small_motions import Equilibrium, Linearisation, equilibrium, linearise
    from groups.global_approach import solve_globally
    from groups.partitioning import Partitioning, PartitionSweep, partition, sweep_partition
    from groups.trajectory import load_trajectory

__all__ = [
    "AssemblyMode",
    "BodyMotion",
    "Equilibrium",
    "Event",
    "Forces",
    "GroupModes",
    "JointForces",
    "JointMotion",
    "Linearisation",
    "Model",
    "Motion",
    "PartitionSweep",
    "Partitioning",
    "Simulation",
    "Trajectory",
    "build",
    "constant",
    "constant_speed",
    "default_motion",
    "driven_coordinates",
    "equilibrium",
    "forces",
    "from_arrays",
    "harmonic",
    "linearise",
    "load_trajectory",
    "modes",
    "partition",
    "polynomial",
    "pose_path",
    "ramp",
    "read_motion",
    "sample",
    "simulate",
    "solve_globally",
    "solvers_of",
    "speed",
    "spline",
    "sweep_partition",
]

# A solution does not need these, which are imported at their first use.
__getattr__, __dir__ = _lazy(
    __name__,
    {
        "assembly_modes": ("AssemblyMode", "GroupModes", "modes"),
        "dynamics": ("Forces", "JointForces", "forces"),
        "dynamics.forward": ("Event", "Simulation", "simulate"),
        "dynamics.forward.small_motions": ("Equilibrium", "Linearisation", "equilibrium", "linearise"),
        "global_approach": ("solve_globally",),
        "partitioning": ("Partitioning", "PartitionSweep", "partition", "sweep_partition"),
        "trajectory": ("load_trajectory",),
    },
    ("pictures",),
)
