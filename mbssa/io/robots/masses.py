"""Mass properties of a body that several links make up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbssa.arrays import Floats
from mbssa.io.robots.robot import Record
from mbssa.loads import inertia_matrix, principal_moments


@np.errstate(over="ignore", invalid="ignore")  # of numbers that overflow no body is left
def combined(parts: Sequence[tuple[Floats, Record]], world: Floats) -> tuple[Record | None, str]:
    """Table ``inertia`` of a body, and the reason where there is none."""
    # ``parts``: frame (4, 4) of each centre of mass in the body's, and ``mass`` with ``ixx`` … ``iyz``;
    # ``world`` (4, 4) of the body's frame at the reference.
    masses = np.array([record.get("mass", 0.0) for _, record in parts])
    total = float(masses.sum())
    if total <= 0.0 or (masses < 0.0).any():
        return None, f"the mass is {total:g}"
    places = np.array([frame[:3, 3] for frame, _ in parts])
    centre = masses @ places / total
    matrix = np.zeros((3, 3))
    for (frame, record), mass, place in zip(parts, masses, places, strict=True):
        own = inertia_matrix(
            [record.get(key, 0.0) for key in ("ixx", "iyy", "izz")],
            [record.get(key, 0.0) for key in ("ixy", "ixz", "iyz")],
        )
        away = place - centre
        matrix += frame[:3, :3] @ own @ frame[:3, :3].T
        matrix += mass * (away @ away * np.eye(3) - np.outer(away, away))
    shown, wrong = principal_moments(matrix)
    if wrong:
        return None, f"the principal moments {shown} are those of no body"
    return {
        "mass": total,
        "centre": (world[:3, :3] @ centre + world[:3, 3]).tolist(),
        "moments": np.diag(matrix).tolist(),
        "products": [float(matrix[i]) for i in ((0, 1), (0, 2), (1, 2))],
    }, ""
