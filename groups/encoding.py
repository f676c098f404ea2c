"""Joints as tables for the kernels: the rows that :mod:`groups.kernels.jets` evaluates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groups.kernels import jets
from groups.spins import HeldSpin
from mbssa.joints.catalogue import CATALOGUE
from mbssa.joints.equations import Elementary, equations_of
from mbssa.joints.frames import Frames
from mbssa.mechanism import Mechanism

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Codes of :mod:`groups.kernels.jets` by kind of elementary equation.
CODES = {
    "along": jets.ALONG,
    "cosine": jets.COSINE,
    "turn": jets.TURN,
    "cardan": jets.CARDAN,
    "distance": jets.DISTANCE,
    "azimuth": jets.AZIMUTH,
    "elevation": jets.ELEVATION,
    "screw": jets.SCREW,
    "offset": jets.OFFSET,
}

#: Codes whose values are lengths, m; the others are angles or cosines.
LENGTHS = (jets.ALONG, jets.DISTANCE, jets.SCREW, jets.OFFSET)


@dataclass(frozen=True, eq=False)
class RowTables:
    """Equations of some joints: constraints, then drives, joint by joint; held spins come last.

    Attributes
    ----------
    pair : (J, 2) places of the joints' bodies on the stage
    origin : (J, 2, 3) and ``axes`` : (J, 2, 3, 3), the joints' frames on their bodies
    code, sign, parameter : (E,); ``number`` : (E, 4), see :mod:`groups.kernels.jets`
    joint : (E,) row of ``pair``
    drive : (E,) row of the motion; -1 for a constraint
    source : (J,) joint index in the mechanism; -1 for a held spin
    name : names of the equations: the constraint's, the driven coordinate's, or "spin"
    """

    pair: Ints
    origin: Floats
    axes: Floats
    code: Ints
    joint: Ints
    number: Ints
    sign: Floats
    parameter: Floats
    drive: Ints
    source: Ints
    name: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.code)

    @property
    def kernel_rows(self) -> jets.Rows:
        """What the kernels take."""
        return (
            self.pair, self.origin, self.axes, self.code, self.joint, self.number, self.sign, self.parameter,
        )  # fmt: skip

    @property
    def constraint(self) -> npt.NDArray[np.bool_]:
        """(E,) whether each row is a constraint and no drive."""
        return self.drive < 0

    @property
    def is_length(self) -> npt.NDArray[np.bool_]:
        """(E,) whether each row is in metres; else in rad."""
        return np.isin(self.code, LENGTHS)


def drive_rows(mechanism: Mechanism) -> dict[tuple[int, str], int]:
    """Row of the motion for each driven (joint index, coordinate).

    >>> import mbssa
    >>> drive_rows(mbssa.load("planar_four_bar"))
    {(0, 'angle'): 0}
    """
    driven = [(joint.index, name) for joint in mechanism.joints if joint.driven for name in joint.driven]
    return {key: row for row, key in enumerate(driven)}


def encode_rows(
    mechanism: Mechanism,
    frames: Frames,
    joints: Sequence[int],
    place: Mapping[int, int] | Sequence[int] | Ints,
    drives: Mapping[tuple[int, str], int],
    spins: Sequence[HeldSpin] = (),
) -> RowTables:
    """Equations of some joints.

    Parameters
    ----------
    joints : joint indices
    place : place on the stage of each body index that the joints and spins touch
    drives : row of the motion for each driven (joint index, coordinate); what is not there is no row
    spins : bodies whose idle spin is held

    Raises
    ------
    ValueError
        Joints of types without equations: their ids and types.

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.joints.frames import joint_frames
    >>> crank = mbssa.load("planar_four_bar")
    >>> rows = encode_rows(crank, joint_frames(crank), [0], range(4), drive_rows(crank))
    >>> rows.name, rows.drive.tolist()
    (('position x', 'position y', 'angle'), [-1, -1, 0])
    """
    unknown = [j for j in joints if equations_of(CATALOGUE[int(mechanism.joint_type[j])]) is None]
    if unknown:
        named = ", ".join(
            f"{mechanism.joints[j]} (type {CATALOGUE[int(mechanism.joint_type[j])].code})" for j in unknown
        )
        raise ValueError(f"no solver yet for joints {named}")
    rows: list[tuple[str, int, int, tuple[int, ...], float, float, int]] = []
    for k, j in enumerate(joints):
        kind = CATALOGUE[int(mechanism.joint_type[j])]
        equations = equations_of(kind)
        assert equations is not None
        values = {name: float(column[j]) for name, column in frames.parameters.items()}
        rows += [_row(name, e, k, values, -1) for name, e in equations.constraints]
        rows += [
            _row(name, e, k, values, drives[j, name])
            for name, e in zip(kind.coordinates, equations.coordinates, strict=True)
            if (j, name) in drives
        ]
    rows += [("spin", jets.COSINE, len(joints) + k, (2, 2, 0, 0), 1.0, 0.0, -1) for k in range(len(spins))]
    bodies = [mechanism.joint_bodies(j)[:2] for j in joints] + [(0, spin.body) for spin in spins]
    names, code, joint, number, sign, parameter, drive = zip(*rows, strict=True) if rows else ((),) * 7
    chosen = np.array(joints, dtype=np.int64)
    return RowTables(
        pair=np.array([[place[a], place[b]] for a, b in bodies], dtype=np.int64).reshape(-1, 2),
        origin=np.concatenate([frames.origin[chosen], np.zeros((len(spins), 2, 3))]),
        axes=np.concatenate([frames.axes[chosen], _spin_axes(spins)]),
        code=np.array(code, dtype=np.int64),
        joint=np.array(joint, dtype=np.int64),
        number=np.array(number, dtype=np.int64).reshape(-1, 4),
        sign=np.array(sign, dtype=np.float64),
        parameter=np.array(parameter, dtype=np.float64),
        drive=np.array(drive, dtype=np.int64),
        source=np.concatenate([chosen, np.full(len(spins), -1, dtype=np.int64)]),
        name=tuple(names),
    )


def _row(
    name: str, e: Elementary, joint: int, values: Mapping[str, float], drive: int
) -> tuple[str, int, int, tuple[int, ...], float, float, int]:
    parameter = values[e.parameter] if e.parameter is not None else 0.0
    return name, CODES[e.kind], joint, (*e.numbers, 0, 0, 0, 0)[:4], e.sign, parameter, drive


def _spin_axes(spins: Sequence[HeldSpin]) -> Floats:
    """(S, 2, 3, 3) frames whose z axes are those of the convention; their x and y are not used."""
    axes = np.zeros((len(spins), 2, 3, 3))
    for k, spin in enumerate(spins):
        axes[k, 0, :, 2], axes[k, 1, :, 2] = spin.in_frame, spin.in_body
    return axes
