"""Catalogue of joint types, one file each; a file may hold a type of both spaces, or several alike."""

# A type is added by its file; tests/contracts/test_joint_types.py then holds it to the contract of all types.
# mbssa.joints.register adds one from outside.

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from mbssa.joints.joint_type import JointType

#: Table 3 in its order, then additions: the order in which a group's type name lists its pairs (1R1P1U1S3D).
_ORDER = (
    "R P H CPEP C ER U L EO EPI CTEP RP RD S PL CR CTRP FP SC PC CBIP SP SPSP F "
    "SLOT ROD DIST BEVEL COUPLING USER"
)


def _place(row: JointType) -> tuple[int, bool]:
    codes = _ORDER.split()
    return codes.index(row.code) if row.code in codes else len(codes), row.space == "planar"


_FILES = [import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__)]
_ROWS = (row for file in _FILES for row in vars(file).values() if isinstance(row, JointType))
TYPES: tuple[JointType, ...] = tuple(sorted(_ROWS, key=_place))
