"""The driven coordinates of a mechanism: their names and their values at the reference."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.faults import meant
from mbssa.joints.assembly import assemble
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.poses import Poses
from mbssa.joints.system import coordinates_at

if TYPE_CHECKING:
    from groups.motion import Motion

#: Numbers of a joint's bodies: names that differ by them alone are coordinates of two joints.
_JOINT = re.compile(r"\d+")


def driven_coordinates(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of the driven coordinates in the order of the joints.

    >>> import mbssa
    >>> driven_coordinates(mbssa.load("rotor"))
    ('9-13.angle', '13-15.angle', '11-14.angle_1')
    """
    return mechanism.driven_coordinates


def drive_rows(mechanism: Mechanism) -> dict[tuple[int, str], int]:
    """Row of the motion for each driven (joint index, coordinate)."""
    return {mechanism.place_of(name): row for row, name in enumerate(mechanism.driven_coordinates)}


def reference_inputs(mechanism: Mechanism, frames: Frames, at: Poses) -> Floats:
    """Values (D,) of the driven coordinates in a configuration, m and rad; angles near ``at_reference``."""
    # A coordinate of a type without equations on a relative pose (gears, cams) has its at_reference.
    values = []
    for j in np.flatnonzero(mechanism.driven).tolist():
        joint = mechanism.joints[j]
        kind = type_of_joint(mechanism, j)
        if kind.pair is None:
            near = joint.geometry.at_reference if joint.geometry is not None else {}
            values += [near.get(name, 0.0) for name in joint.driven]
        else:
            found = dict(zip(kind.coordinates, coordinates_at(mechanism, frames, at, [j])[0], strict=True))
            values += [found[name] for name in joint.driven]
    return np.array(values)


def reference_values(mechanism: Mechanism) -> dict[str, float]:
    """Values of the driven coordinates in the assembled reference configuration, m and rad."""
    bare = [mechanism.joint_ids[j] for j in mechanism.without_geometry if mechanism.driven[j]]
    if bare:
        raise ValueError(
            f"no geometry at {', '.join(bare)}, so the reference has no values to start from; "
            "give the joints geometry, or a start of its own to every law"
        )
    frames = joint_frames(mechanism)
    at = assemble(mechanism, frames, hold=True).configuration
    values = reference_inputs(mechanism, frames, at).tolist()
    return dict(zip(driven_coordinates(mechanism), values, strict=True))


def name_faults(names: tuple[str, ...], given: Iterable[str], what: str) -> list[str]:
    """Driven coordinates that are not among ``given``, and given ones that are not driven."""
    given = list(given)
    faults = [f"no {what} for {name}" for name in names if name not in given]
    for name in given:
        if name not in names:
            misspelt = [known for known in names if _JOINT.sub("", known) != _JOINT.sub("", str(name))]
            hint = meant(name, misspelt).rstrip() or f"driven are {', '.join(names) or 'none'}"
            faults.append(f"{name} is not driven; {hint}")
    return faults


def check_drives(mechanism: Mechanism, motion: Motion) -> None:
    """Refuse a motion of other coordinates than a mechanism has driven."""
    wanted = driven_coordinates(mechanism)
    if tuple(motion.names) != wanted:
        raise ValueError(f"the motion drives {motion.names}; the model needs {wanted}")
