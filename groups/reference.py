"""Start of every solution: the closed reference, and a motion of the driven coordinates."""

from __future__ import annotations

import numpy as np

from groups.motion import Motion, driven_coordinates
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.poses import Poses
from mbssa.mechanism import Mechanism
from mbssa.structure import Structure
from mbssa.trust import REMEDY


def closed_reference(structure: Structure) -> tuple[Frames, Poses]:
    """Geometry of a structure that can be solved, and its reference configuration with all joints closed."""
    if not isinstance(structure, Structure):
        kind = type(structure).__name__
        raise TypeError(f"a {kind} is no structure; mbssa.decompose(mechanism) gives what is taken here")
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
    if mechanism.untrusted:
        raise ValueError(f"code that a file names is not run, at {mechanism.untrusted_said}; {REMEDY}")
    closed = assemble(mechanism, frames, hold=True)
    if not closed.closed:
        raise ValueError(f"{mechanism.name} cannot be assembled: {closed.fault}")
    return frames, closed.configuration


def check_drives(mechanism: Mechanism, motion: Motion) -> None:
    """Refuse a motion of other coordinates than a mechanism has driven."""
    wanted = driven_coordinates(mechanism)
    if tuple(motion.names) != wanted:
        raise ValueError(f"the motion drives {motion.names}; the model needs {wanted}")
