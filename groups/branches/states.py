"""Poses, rates and inputs at some instants, as the certificate of branches reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.rotations import plane_rotation, rotation_of, twist_in_space
from mbssa.arrays import Floats, Ints
from mbssa.joints.axes import cross, in_space
from mbssa.joints.catalogue import is_length

if TYPE_CHECKING:
    from groups.model import Model
    from groups.motion import Motion


@dataclass(frozen=True, eq=False)
class States:
    """Poses and rates of all bodies and inputs at instants, lengths over the size, per s."""

    time: Floats  # (T,) s
    centre: Floats  # (T, N, 3) mean of each body's joints
    velocity: Floats  # (T, N, 3) of the centre
    rotation: Floats  # (T, N, 3, 3)
    spin: Floats  # (T, N, 3) rad/s
    angle: Floats  # (T, N) rad, of planar bodies; else without rows
    value: Floats  # (T, D) of the inputs
    rate: Floats  # (T, D) of the inputs

    @staticmethod
    def of(model: Model, motion: Motion, outputs: tuple[Floats, ...], at: slice | Ints) -> States:
        """Poses at some instants of arrays (N, T, ...) of all bodies."""
        size, planar = model.frames.size, model.mechanism.space == "planar"
        position, turn, twist = (array[:, at].swapaxes(0, 1) for array in outputs[:3])
        rotation = plane_rotation(turn) if planar else rotation_of(turn)
        if planar:
            position, twist = in_space(position), twist_in_space(twist)
        arm = (rotation @ model.frames.centre[:, :, None])[..., 0]
        velocity = twist[..., :3] + cross(twist[..., 3:], arm)
        over = np.array([size if is_length(name) else 1.0 for name in motion.names])
        value, rate = (array[:, at].T / over for array in (motion.value, motion.rate))
        return States(
            motion.time[at], (position + arm) / size, velocity / size, rotation, twist[..., 3:],
            turn if planar else np.zeros((len(turn), 0)), value, rate,
        )  # fmt: skip
