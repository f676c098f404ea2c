"""Time that a group takes in plain Python: what decides whether its kernels are worth a compiler.

Measured on one core of one machine, over all built-in models, up to accelerations, by
``benchmarks/test_plain.py``. What counts is the ratio to :data:`mbssa.compiled.IMPORTING`, measured there
too: plain Python pays for some 500 instants of the rotor and some 40,000 of a four-bar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.kernels import cam, layout, planar, platform, relative
from groups.solvers.families import PLANAR

if TYPE_CHECKING:
    from groups.solvers.registry import Solver

#: µs an instant: planar groups by their form, a strut, a link without unknowns, and a rod on one joint.
_PLANAR = {planar.CRANK: 11.0, planar.LED: 31.0, planar.ARMS: 6.6, planar.GUIDE: 18.0}
_CHAINS, _STRUT, _LINK, _REACH = 175.0, 75.0, 80.0, 10.0
#: µs an instant: a body that one contact holds, a body on six rods, one rod or three joints
#: to a point through several links.
_BY_KERNEL = {
    cam.solve_cam: 165.0,
    platform.solve_platform: 480.0,
    relative.solve_closed_form: 420.0,
}
#: µs an instant: any other group in relative coordinates, each of its unknowns, each term of its equations,
#: and a contact of curves.
_RELATIVE, _UNKNOWN, _TERM, _CURVE = 340.0, 290.0, 55.0, 600.0
#: µs an instant of the global approach: each equation, and each triple of equations that elimination takes.
_EQUATION, _TRIPLE = 220.0, 0.07


def plain_microseconds(solver: Solver) -> float:
    """Time of one instant of a group, µs.

    >>> import groups, mbssa
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> [plain_microseconds(solver) for solver in model.solvers]
    [11.0, 6.6]
    """
    ints = solver.ints
    if solver.part is not None:
        return global_microseconds(len(solver.part.system.rows))
    if solver.family == PLANAR:
        return _PLANAR.get(int(ints[planar.FORM]), _CHAINS)
    if solver.family.microseconds is not None:
        return solver.family.microseconds
    struts = _STRUT * int(ints[layout.N_STRUTS])
    if solver.kernel in _BY_KERNEL:
        return struts + _BY_KERNEL[solver.kernel]
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
