"""Bodies at rest as a motion, on which pictures, columns and coordinates are tried or taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.rotations import quaternion_of
from groups.trajectory import Trajectory
from mbssa.arrays import Ints

if TYPE_CHECKING:
    from mbssa import Mechanism
    from mbssa.joints.poses import Poses


def at_rest(
    mechanism: Mechanism, poses: Poses, bodies: Ints, level: int = 0, n_groups: int = 0
) -> Trajectory:
    """Bodies (K,) that stand still in these poses, one instant or several, with so many solved groups."""
    planar = mechanism.space == "planar"
    position = poses.position[..., bodies, :].reshape(-1, len(bodies), 3)
    rotation = poses.rotation[..., bodies, :, :].reshape(-1, len(bodies), 3, 3)
    still, ok = np.zeros((*position.shape[:2], 3 if planar else 6)), np.zeros((len(position), n_groups))
    return Trajectory(
        mechanism,
        np.arange(len(position), dtype=float),
        position[..., :2] if planar else position,
        np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0]) if planar else quaternion_of(rotation),
        still if level > 0 else None,
        still if level > 1 else None,
        ok.astype(np.int8),
        ok,
        ok.astype(np.int64),
        ok + 1.0,
        bodies,
    )
