"""Solution of each structural group: position, velocity and acceleration over a whole motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.building import build, solvers_of
from groups.model import Model
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
from groups.results.bodies import BodyMotion
from groups.results.joints import JointMotion
from groups.trajectory import Trajectory

if TYPE_CHECKING:
    from typing import Any

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

#: Modules of the names that a solution does not need, imported at first use.
_HOMES = {
    **dict.fromkeys(("AssemblyMode", "GroupModes", "modes"), "assembly_modes"),
    **dict.fromkeys(("Forces", "JointForces", "forces"), "dynamics"),
    **dict.fromkeys(("Event", "Simulation", "simulate"), "dynamics.forward"),
    **dict.fromkeys(
        ("Equilibrium", "Linearisation", "equilibrium", "linearise"), "dynamics.forward.small_motions"
    ),
    "solve_globally": "global_approach",
    **dict.fromkeys(("Partitioning", "PartitionSweep", "partition", "sweep_partition"), "partitioning"),
    "load_trajectory": "trajectory",
}


#: Modules for users, imported on first use.
_MODULES = ("pictures",)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"groups.{name}")
    if name in _HOMES:
        found = getattr(import_module(f"groups.{_HOMES[name]}"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'groups' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
