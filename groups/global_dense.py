"""The global approach by the compiled kernel: elimination that skips zeros."""

from __future__ import annotations

from collections.abc import Callable

from groups.global_system import GlobalRun, GlobalSystem
from groups.kernels import global_newton as kernels
from mbssa.compiled import compiled

#: Solves instants first … stop - 1 of a run after the last that has an answer; the last then, and how far.
Advance = Callable[[GlobalRun, int, int, int], tuple[int, int]]


def dense_solver(system: GlobalSystem) -> Advance:
    """Solver of stretches of a system's runs, as :func:`groups.kernels.global_newton.solve_dense` says."""
    rows, places = system.rows.bound().kernel_rows, system.dense
    kernel = compiled(kernels.solve_dense)

    def advance(run: GlobalRun, first: int, stop: int, last: int) -> tuple[int, int]:
        answer: tuple[int, int] = kernel(
            first, stop, last, rows, places, run.inputs, run.poses, run.quality, run.limits, run.level
        )
        return answer

    return advance
