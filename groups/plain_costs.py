"""Time that a group takes in plain Python: what decides whether its kernels are worth a compiler.

Measured on one core of one machine, over all built-in models, up to accelerations, by
``benchmarks/test_plain.py``. What counts is the ratio to :data:`mbssa.compiled.IMPORTING`, measured there
too: plain Python pays for some 300 instants of the rotor and some 70,000 of a four-bar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.families import PLANAR, STRUT
from groups.kernels import cam, layout, planar, platform

if TYPE_CHECKING:
    from groups.registry import Solver

#: µs an instant: planar groups by their form, a strut, a link without unknowns, and a rod on one joint.
_PLANAR = {planar.CRANK: 2.0, planar.LED: 12.0, planar.ARMS: 5.0, planar.GUIDE: 5.0}
_CHAINS, _STRUT, _LINK, _REACH = 95.0, 200.0, 12.0, 130.0
#: µs an instant: a body that one contact holds.
_CAM = 60.0
#: µs an instant: a body on six rods.
_PLATFORM = 500.0
#: µs an instant: any other group in relative coordinates, each of its unknowns, each term of its equations,
#: and a contact of curves.
_RELATIVE, _UNKNOWN, _TERM, _CURVE = 80.0, 170.0, 15.0, 250.0
#: µs an instant of the global approach: each equation, and each triple of equations that elimination takes.
_EQUATION, _TRIPLE = 100.0, 0.01


def plain_microseconds(solver: Solver) -> float:
    """Time of one instant of a group, µs.

    >>> import groups, mbssa
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> [plain_microseconds(solver) for solver in model.solvers]
    [2.0, 5.0]
    """
    ints = solver.ints
    if solver.part is not None:
        return global_microseconds(len(solver.part.system.rows))
    if solver.code == PLANAR:
        return _PLANAR.get(int(ints[planar.FORM]), _CHAINS)
    if solver.code == STRUT:
        return _STRUT
    if solver.kernel is cam.solve_cam:
        return _CAM
    struts = _STRUT * int(ints[layout.N_STRUTS])
    if solver.kernel is platform.solve_platform:
        return struts + _PLATFORM
    unknowns, terms = int(ints[layout.N_UNKNOWNS]), int(ints[layout.N_TERMS])
    if unknowns == 0 and terms == 0:
        return struts + _LINK * int(ints[layout.N_LINKS])
    if ints[layout.METHOD] == layout.REACH and ints[layout.N_LINKS] == 1:
        return struts + _REACH
    curves = _CURVE if ints[layout.N_CURVES] > 0 else 0.0
    return struts + _RELATIVE + _UNKNOWN * unknowns + _TERM * terms + curves


def global_microseconds(equations: int) -> float:
    """Time of one instant of the global approach, µs."""
    return _EQUATION * equations + _TRIPLE * equations**3
