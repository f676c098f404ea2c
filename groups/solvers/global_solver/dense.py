"""The global approach by the compiled kernel: elimination that skips zeros."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from groups.kernels import global_newton as kernels
from groups.solvers.global_solver.system import GlobalRun, GlobalSystem
from mbssa.compiled import chosen

#: Solves instants first … stop - 1 of a run after the last that has an answer; the last then, and how far.
Advance = Callable[[GlobalRun, int, int, int], tuple[int, int]]


#: Seconds that compiling a solver of the global approach takes.
COMPILING = 40.0


def dense_solver(system: GlobalSystem, compiled: bool) -> Advance:
    """Solver of stretches of a system's runs, as :func:`groups.kernels.global_newton.solve_dense` says."""
    rows, places = system.rows.bound(compiled).kernel_rows, system.dense
    kernel = chosen(kernels.solve_dense, ask=compiled)
    room = system.stage(), system.work(), (np.zeros(system.n, dtype=np.int64), np.zeros(system.n))

    def advance(run: GlobalRun, first: int, stop: int, last: int) -> tuple[int, int]:
        with np.errstate(all="ignore"):
            return kernel(
                first, stop, last, rows, places, run.inputs, run.poses, run.quality, run.limits, *room,
                run.level,
            )  # fmt: skip

    return advance
