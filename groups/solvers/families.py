"""Families of group kernels: the kernel of each group, its costs, and its address in this process.

A family is compiled, kept on disk and loaded alone. Struts that stand between bodies of a group, or between
bodies that are solved before it, are placed by a kernel of their own after the group's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.kernels import (
    cam,
    chains,
    driven,
    invoke,
    layout,
    legs,
    planar,
    platform,
    reach,
    relative,
    strut,
)
from mbssa.arrays import Floats, Ints
from mbssa.compiled import address_of

if TYPE_CHECKING:
    from groups.solvers.registry import Solver

Kernel = Callable[..., None]

#: By kernel: seconds that compiling it takes on an empty cache, alone; µs an instant in plain Python, if that
#: is the same for all its groups.
KERNELS: dict[Kernel, tuple[float, float | None]] = {
    planar.solve_crank: (2.0, 11.0),
    planar.solve_arms: (3.0, 6.6),
    planar.solve_guide: (3.0, 18.0),
    chains.solve_planar_driven: (3.0, 31.0),
    chains.solve_chains: (6.0, 175.0),
    strut.solve_struts: (12.0, 75.0),
    legs.solve_legs: (12.0, None),
    driven.solve_driven: (5.0, None),
    reach.solve_reach: (8.0, 10.0),
    relative.solve_geared: (8.0, None),
    relative.solve_closed_form: (35.0, 420.0),
    relative.solve_cuts: (25.0, None),
    relative.solve_rows: (45.0, None),
    cam.solve_cam: (50.0, 165.0),
    platform.solve_platform: (30.0, 480.0),
}
#: Seconds that compiling another one takes, roughly, and the loop over blocks.
OTHER, LOOP = 20.0, 4.0
#: µs an instant in plain Python of groups in relative coordinates: each strut, each link without unknowns;
#: any other group, each of its unknowns, each term of its equations, and a contact of curves.
_STRUT, _LINK, _GROUP, _UNKNOWN, _TERM, _CURVE = 75.0, 80.0, 340.0, 290.0, 55.0, 600.0
#: µs an instant of the global approach: each equation, and each triple of equations in the elimination.
_EQUATION, _TRIPLE = 220.0, 0.07


def _by_method(ints: Ints, floats: Floats) -> Kernel:
    """The kernel of a group in relative coordinates, by what closes it."""
    if ints[layout.N_ROWS] > 0:
        return cam.solve_cam if cam.is_simple(ints, floats) else relative.solve_rows
    if ints[layout.N_UNKNOWNS] == 0:
        return relative.solve_geared if ints[layout.PLANAR] else driven.solve_driven
    if ints[layout.METHOD] != layout.NEWTON:
        return reach.solve_reach if reach.is_simple(ints, floats) else relative.solve_closed_form
    return platform.solve_platform if platform.is_simple(ints, floats) else relative.solve_cuts


def planar_kernel(ints: Ints, _floats: Floats | None = None) -> Kernel:
    """The kernel of a planar group in closed form, by its form."""
    by_form: dict[int, Kernel] = {
        planar.CRANK: planar.solve_crank,
        planar.ARMS: planar.solve_arms,
        planar.GUIDE: planar.solve_guide,
        planar.DRIVEN: chains.solve_planar_driven,
        planar.CHAINS: chains.solve_chains,
    }
    return by_form[int(ints[planar.FORM])]


def _strut_kernel(_ints: Ints, _floats: Floats) -> Kernel:
    return strut.solve_struts


def _no_kernel(*_: object) -> None:
    return None


def _legs(ints: Ints) -> Kernel | None:
    return legs.solve_legs if ints[layout.N_STRUTS] > 0 else None


def _no_room(_ints: Ints) -> int:
    return 0


def _room(ints: Ints) -> int:
    return int(ints[layout.N_WORK])


def _planar_room(ints: Ints) -> int:
    return chains.room_of(ints) if ints[planar.FORM] in (planar.DRIVEN, planar.CHAINS) else 0


@dataclass(frozen=True)
class Family:
    """A layout of a group's data, and the kernels that read it.

    Attributes
    ----------
    kernel : of ints and floats: the kernel that solves the group; None where that is the global approach
    room : of ints: numbers that the kernel has to work in
    legs : of ints: the kernel that places the group's struts after its other bodies; None where it has none
    microseconds : time of one instant in plain Python, roughly; None where the data say it
    """

    name: str
    kernel: Callable[[Ints, Floats], Kernel | None]
    room: Callable[[Ints], int] = _no_room
    legs: Callable[[Ints], Kernel | None] = _no_kernel
    microseconds: float | None = None


#: Planar closed form, a strut alone, relative coordinates, and the global approach, which has no kernel here.
PLANAR = Family("planar", planar_kernel, _planar_room)
STRUT = Family("strut", _strut_kernel, microseconds=75.0)
RELATIVE = Family("relative", _by_method, _room, _legs)
GLOBAL = Family("global", _no_kernel)


def kernels_of(solvers: Sequence[Solver]) -> dict[Kernel, float]:
    """The kernels of some groups, each with the seconds that compiling it takes."""
    found = [kernel for s in solvers for kernel in (s.kernel, s.legs) if kernel is not None]
    return {kernel: KERNELS.get(kernel, (OTHER, None))[0] for kernel in found}


def plain_microseconds(solver: Solver) -> float:
    """Time of one instant of a group in plain Python, µs.

    It decides whether kernels are worth a compiler. Measured on one core of one machine, over all built-in
    models, up to accelerations, by ``benchmarks/test_plain.py``. Its ratio to
    :data:`mbssa.compiled.IMPORTING`, measured there too, counts: plain Python pays for some 500 instants of
    the rotor and some 40,000 of a four-bar.

    >>> import groups, mbssa
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> [plain_microseconds(solver) for solver in model.solvers]
    [11.0, 6.6]
    """
    ints, kernel = solver.ints, solver.kernel
    if solver.part is not None:
        return global_microseconds(len(solver.part.system.rows))
    if solver.family.microseconds is not None:
        return solver.family.microseconds
    fixed = KERNELS[kernel][1] if kernel else None
    if solver.family == PLANAR and fixed is not None:
        return fixed
    struts = _STRUT * int(ints[layout.N_STRUTS])
    if fixed is not None:
        return struts + fixed
    unknowns, terms = int(ints[layout.N_UNKNOWNS]), int(ints[layout.N_TERMS])
    if unknowns == 0 and terms == 0:
        return struts + _LINK * int(ints[layout.N_LINKS])
    curves = _CURVE if ints[layout.N_CURVES] > 0 else 0.0
    return struts + _GROUP + _UNKNOWN * unknowns + _TERM * terms + curves


def global_microseconds(equations: int) -> float:
    """Time of one instant of the global approach in plain Python, µs."""
    return _EQUATION * equations + _TRIPLE * equations**3


@lru_cache(256)
def bound(kernels: tuple[Kernel | None, ...], legs: tuple[Kernel | None, ...], compiled: bool) -> Any:
    """Both for :func:`groups.kernels.invoke.invoke`: addresses, or the kernels themselves; 0 for None."""
    if not compiled:
        return tuple([kernel or 0 for kernel in each] for each in (kernels, legs))
    addresses = [[_address(kernel) if kernel else 0 for kernel in each] for each in (kernels, legs)]
    return tuple(np.array(each, dtype=np.int64) for each in addresses)


@cache
def _address(kernel: Kernel) -> int:
    return address_of(kernel, invoke.signature())
