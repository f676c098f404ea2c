"""A structural group as arrays for the Newton kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groups.newton import kernels
from mbssa import Group, Structure
from mbssa.joints.catalogue import CATALOGUE
from mbssa.joints.equations import Elementary, equations_of
from mbssa.joints.frames import Frames
from mbssa.joints.system import unknowns

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_CODES = {
    "along": kernels.ALONG,
    "cosine": kernels.COSINE,
    "turn": kernels.TURN,
    "cardan": kernels.CARDAN,
    "distance": kernels.DISTANCE,
    "azimuth": kernels.AZIMUTH,
    "elevation": kernels.ELEVATION,
    "screw": kernels.SCREW,
    "offset": kernels.OFFSET,
}


@dataclass(frozen=True, eq=False)
class Encoded:
    """Arguments of :func:`groups.newton.kernels.solve_group` that say what the group is.

    ``equations`` bundles what the kernel takes as one.
    """

    bodies: Ints
    columns: Ints
    equations: kernels.Equations
    drive: Ints


def encode(group: Group, frames: Frames, drives: dict[tuple[int, str], int]) -> Encoded:
    """Bodies, joints and equations of one group.

    Parameters
    ----------
    drives : row of the motion for each driven (joint index, coordinate)

    Raises
    ------
    ValueError
        A joint of a type without equations: its id and type.
    """
    structure = group.structure
    mechanism = structure.mechanism
    pairs: list[tuple[int, int]] = []
    origins, axes = [], []
    rows: list[tuple[int, int, tuple[int, ...], float, float, int]] = []
    for j in group.joint_indices.tolist():
        kind = CATALOGUE[int(mechanism.joint_type[j])]
        equations = equations_of(kind)
        if equations is None:
            raise ValueError(f"joint {mechanism.joints[j]} has no solver yet: type {kind.code}")
        place = len(pairs)
        first, second = mechanism.joint_bodies(j)
        pairs.append((first, second))
        origins.append(frames.origin[j])
        axes.append(frames.axes[j])
        values = {name: float(column[j]) for name, column in frames.parameters.items()}
        rows += [_row(e, place, values, -1) for _, e in equations.constraints]
        for name in mechanism.joints[j].driven:
            coordinate = equations.coordinates[kind.coordinates.index(name)]
            rows.append(_row(coordinate, place, values, drives[j, name]))
    for body, direction in _held_spins(structure, group):
        pairs.append((0, body))
        local = frames.rotation[body].T @ direction
        side = np.eye(3)[np.argmin(np.abs(local))]
        x = np.cross(local, side) / np.linalg.norm(np.cross(local, side))
        origins.append(np.zeros((2, 3)))
        axes.append(np.stack([np.eye(3), np.stack([x, np.cross(local, x), local], axis=1)]))
        rows.append((kernels.SPIN, len(pairs) - 1, (0, 0, 0, 0), 1.0, 0.0, -1))
    return Encoded(
        bodies=group.body_indices.astype(np.int64),
        columns=np.array(unknowns(mechanism.space), dtype=np.int64),
        equations=(
            np.array(pairs, dtype=np.int64),
            np.array(origins),
            np.array(axes),
            np.array([row[0] for row in rows], dtype=np.int64),
            np.array([row[1] for row in rows], dtype=np.int64),
            np.array([row[2] for row in rows], dtype=np.int64),
            np.array([row[3] for row in rows]),
            np.array([row[4] for row in rows]),
        ),
        drive=np.array([row[5] for row in rows], dtype=np.int64),
    )


def _row(
    e: Elementary, place: int, values: dict[str, float], drive: int
) -> tuple[int, int, tuple[int, ...], float, float, int]:
    parameter = values[e.parameter] if e.parameter is not None else 0.0
    numbers = (*e.numbers, 0, 0, 0, 0)[:4]
    return _CODES[e.kind], place, numbers, e.sign, parameter, drive


def _held_spins(structure: Structure, group: Group) -> list[tuple[int, Floats]]:
    """Bodies of the group whose idle spin is held, and the line's direction at the reference."""
    treatment = structure.treatment
    if treatment is None:
        return []
    mine = set(group.body_indices.tolist())
    return [
        (spin.bodies[0], np.array(spin.direction))
        for spin in treatment.spins
        if spin.bodies[0] in mine and spin.direction is not None
    ]
