"""The data of all groups' solvers, packed for the kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.kernels import invoke, span
from groups.solvers.solver import Solver
from mbssa.arrays import Floats, Ints
from mbssa.compiled import address_of

if TYPE_CHECKING:
    from mbssa.joints.user import UserFunction


Run = Callable[..., None]


@dataclass(frozen=True, eq=False)
class Packed:
    """The solvers' data in arrays of their own kind, one solver after another."""

    ints: Ints
    int_start: Ints
    floats: Floats
    float_start: Ints
    memory: Floats
    memory_start: Ints
    work_start: Ints
    kernels: tuple[Run | None, ...]
    legs: tuple[Run | None, ...]
    users: tuple[tuple[UserFunction, int], ...] = ()

    def data(self, memory: Floats, work: Floats, compiled: bool) -> span.Data:
        """Arguments of the kernels: with the memory, room to work in, and addresses of this process."""
        return span.Data(
            self.ints, self.int_start, self.floats_of(compiled), self.float_start, memory, self.memory_start,
            work, self.work_start, *_bound(self.kernels, self.legs, compiled),
        )  # fmt: skip

    @property
    def room(self) -> Floats:
        """Room for the kernels of all groups."""
        return np.zeros(self.work_start[-1])

    def floats_of(self, compiled: bool) -> Floats:
        """Array ``floats`` with the addresses of the users' functions in this process, zero in ``floats``."""
        if not self.users:
            return self.floats
        from groups.encoding.user_functions import addresses

        floats = self.floats.copy()
        found = addresses([function for function, _ in self.users], compiled)
        floats[[place for _, place in self.users]] = found
        return floats


def pack(solvers: Sequence[Solver]) -> Packed:
    """The solvers' data in one array of each kind."""

    def joined(parts: list[Any], kind: type) -> tuple[Any, Ints]:
        start = np.zeros(len(parts) + 1, dtype=np.int64)
        np.cumsum([len(part) for part in parts], out=start[1:])
        return np.concatenate([np.zeros(0, dtype=kind), *parts]), start

    ints, int_start = joined([solver.ints for solver in solvers], np.int64)
    floats, float_start = joined([solver.floats for solver in solvers], np.float64)
    memory, memory_start = joined([solver.memory for solver in solvers], np.float64)
    work_start = np.zeros(len(solvers) + 1, dtype=np.int64)
    np.cumsum([solver.room for solver in solvers], out=work_start[1:])
    kernels, legs = (
        tuple(kernel.run if kernel is not None else None for kernel in each)
        for each in ([solver.kernel for solver in solvers], [solver.legs for solver in solvers])
    )
    users = [
        (function, int(first) + place)
        for first, solver in zip(float_start[:-1], solvers, strict=True)
        for function, place in solver.users
    ]
    floats[[place for _, place in users]] = 0.0
    return Packed(
        ints, int_start, floats, float_start, memory, memory_start, work_start, kernels, legs, tuple(users)
    )


@lru_cache(256)
def _bound(kernels: tuple[Run | None, ...], legs: tuple[Run | None, ...], compiled: bool) -> Any:
    """Both for :func:`groups.kernels.invoke.invoke`: addresses, or the kernels themselves; 0 for None."""
    if not compiled:
        return tuple([kernel or 0 for kernel in each] for each in (kernels, legs))
    addresses = [[_address(kernel) if kernel else 0 for kernel in each] for each in (kernels, legs)]
    return tuple(np.array(each, dtype=np.int64) for each in addresses)


@cache
def _address(kernel: Run) -> int:
    return address_of(kernel, invoke.signature())
