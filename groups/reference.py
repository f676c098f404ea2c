"""Start of every solution: the closed reference, and the way from there to a motion's first instant."""

from __future__ import annotations

import numpy as np

from groups.motion import Motion, driven_coordinates, reference_inputs
from mbssa.arrays import Floats
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.system import Configuration
from mbssa.mechanism import Mechanism
from mbssa.structure import Structure

#: Instants that lead from the reference to the first instant of a motion that starts elsewhere.
RUN_IN = 50


def closed_reference(structure: Structure) -> tuple[Frames, Configuration]:
    """Geometry of a structure that can be solved, and its reference configuration with all joints closed."""
    mechanism = structure.mechanism
    if not structure.determined:
        raise ValueError(f"{mechanism.name} is not determined; mbssa.check says why and what would help")
    frames = joint_frames(mechanism)
    missing = [
        mechanism.joint_ids[j]
        for j in np.flatnonzero(~frames.known).tolist()
        if mechanism.joint_geometry.get(j) is None
    ]
    if missing:
        raise ValueError(f"{mechanism.name} cannot be solved: no geometry at {', '.join(missing)}")
    closed = assemble(mechanism, frames, hold=True)
    if not closed.closed:
        raise ValueError(f"{mechanism.name} cannot be assembled: {closed.fault}")
    return frames, closed.configuration


def check_drives(mechanism: Mechanism, motion: Motion) -> None:
    """Refuse a motion of other coordinates than a mechanism has driven."""
    wanted = driven_coordinates(mechanism)
    if tuple(motion.names) != wanted:
        raise ValueError(f"the motion drives {motion.names}; the model needs {wanted}")


def inputs_from_reference(
    structure: Structure, frames: Frames, reference: Configuration, motion: Motion
) -> tuple[Floats, Floats, Floats, Floats]:
    """Time (T' + T,) and inputs (D, T' + T) of a motion, with T' instants in front that lead to it."""
    # The very first is the reference at rest; where the motion starts elsewhere, RUN_IN instants go there in
    # a straight line of the inputs.
    check_drives(structure.mechanism, motion)
    start = reference_inputs(structure.mechanism, frames, reference)
    gap = motion.value[:, 0] - start
    count = 1 if np.abs(gap).max(initial=0.0) < 1e-9 else RUN_IN
    share = np.linspace(0.0, 1.0, count, endpoint=False)
    rate = np.repeat(gap[:, None], count, axis=1) if count > 1 else np.zeros((len(gap), 1))
    return (
        np.concatenate([motion.time[0] - 1.0 + share, motion.time]),
        np.concatenate([start[:, None] + np.outer(gap, share), motion.value], axis=1),
        np.concatenate([rate, motion.rate], axis=1),
        np.concatenate([np.zeros((len(gap), count)), motion.acceleration], axis=1),
    )
