"""Base of the solvers in relative coordinates: joint coordinates along a spanning tree, and struts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from groups.encoding.relative_coordinates import RelativeGroup
from groups.kernels import cam, jets, layout
from groups.kernels.legs import solve_legs
from groups.kernels.relative import solve_rows
from groups.placing.placing import CLOSED, CLOSED_FORM, Placing, Search, Task
from groups.placing.relative import Places, Room
from groups.solvers.solver import Data, Kernel, Solver
from groups.tree import GroupTree
from mbssa.arrays import Floats, Ints

#: µs of one strut in an instant of plain Python.
STRUT = 75.0
#: µs of an iterated group in an instant of plain Python, of each of its unknowns, of each term of its
#: equations, and of a contact of curves.
_GROUP, _UNKNOWN, _TERM, _CURVE = 340.0, 290.0, 55.0, 600.0


@dataclass(frozen=True, eq=False)
class RelativeSolver(Solver):
    """Solver whose data are laid out by :mod:`groups.kernels.layout`."""

    @classmethod
    def of(cls, tree: GroupTree, group: RelativeGroup, name: str, why: str, roots: int | None = None) -> Self:
        """Return the solver of an encoded group."""
        return cls(
            tree.number,
            name,
            why,
            group.unknowns,
            group.closing,
            Data(group.ints, group.floats, group.memory),
            roots,
            users=group.users,
        )

    @property
    def room(self) -> int:
        """Length of the kernel's workspace."""
        return int(self.ints[layout.N_WORK])

    @property
    def kernel(self) -> Kernel:
        """Kernel of Newton on joint equations."""
        if cam.is_simple(self.ints, self.floats):
            return Kernel(cam.solve_cam, 50.0, 165.0)
        return Kernel(solve_rows, 55.0, self.iteration)

    @property
    def iteration(self) -> float:
        """Time of an instant of Newton in plain Python, µs."""
        unknowns, terms = int(self.ints[layout.N_UNKNOWNS]), int(self.ints[layout.N_TERMS])
        curves = _CURVE if self.ints[layout.N_CURVES] > 0 else 0.0
        return _GROUP + _UNKNOWN * unknowns + _TERM * terms + curves

    @property
    def legs(self) -> Kernel | None:
        """Kernel that places the struts after the other bodies; None where it has none."""
        struts = int(self.ints[layout.N_STRUTS])
        return Kernel(solve_legs, 8.0, STRUT * struts) if struts else None

    @property
    def redundant(self) -> bool:
        """Whether more equations close the group than it has unknowns, so that some are only checked."""
        return layout.is_redundant(self.ints)

    @property
    def tolerance(self) -> float:
        """Largest residual of a joint in an assembly mode, over the size."""
        size, _, left_out = layout.cuts_of(self.ints, self.floats).limit
        return float(left_out / size) if self.redundant else CLOSED

    @property
    def counts_by_instants(self) -> bool:
        """Whether turns of some angle are counted from instant to instant alone."""
        rows = layout.rows_of(self.ints, self.floats, np.zeros(self.room))
        return bool((np.isin(rows.code, (jets.COUNTED, jets.LINE)) & (rows.near_from == -1)).any())

    def strut_data(self, memory: Floats) -> tuple[Ints, Floats, Floats]:
        """Constants of the struts, and the part of a memory that holds their signs."""
        legs = layout.legs_of(self.ints, self.floats, memory)
        return legs.ints, legs.floats, legs.signs

    def placings(self, task: Task) -> tuple[list[Placing], Search]:
        """All placings of the group's bodies, and how they were found."""
        room = Room.staged(task)
        places = Places(task, room)
        search = self.search(task, room, places)
        return list(places.placings()), search

    def search(self, task: Task, room: Room, places: Places) -> Search:
        """Add the positions of the tree that close; without unknowns there is one."""
        places.add(*room.taken())
        return CLOSED_FORM
