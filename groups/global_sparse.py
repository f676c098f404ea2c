"""The global approach by SuperLU: Newton on a sparse system of fixed pattern, one factorisation a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from groups.global_system import GlobalRun, GlobalSystem, entries, kernel_system
from groups.kernels import global_newton as kernels
from groups.kernels.jets import SIZE, WORK
from groups.kernels.status import DROPPED, NOT_CONVERGED, OK, SINGULAR
from mbssa.compiled import compiled

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def sparse_solver(run: GlobalRun) -> Callable[[int, int, int], int]:
    """Solver of a stretch of instants, as :func:`groups.global_approach.dense_solver`."""
    m = len(run.poses[0])
    equation, derivative, column = entries(run.system)
    matrix = _Sparse(run.system, equation, column)
    system = kernel_system(run.system, equation, derivative, matrix.place)
    rows, columns = run.system.rows.kernel_rows, run.system.columns
    right = np.zeros(len(run.system.rows))
    work = np.zeros((WORK, SIZE)), np.zeros((len(right), SIZE)), matrix.jacobian, right
    stage = np.zeros((m, 3)), np.zeros((m, 3, 3)), np.zeros((m, 6)), np.zeros((m, 6))
    status, residual, iterations, condition = run.quality
    tolerance, allowance, most = run.limits
    begin, look, fill, move, velocities, accelerations, spread, end = (
        compiled(kernel)
        for kernel in (
            kernels.begin, kernels.look, kernels.fill, kernels.move,
            kernels.velocities, kernels.accelerations, kernels.spread, kernels.end,
        )
    )  # fmt: skip

    def advance(first: int, stop: int, last: int) -> int:
        for t in range(first, stop):
            begin(t, last, run.inputs[0], run.poses, stage)
            status[t], condition[t], regular = NOT_CONVERGED, 0.0, False
            for step in range(most + 1):
                worst = look(t, rows, system, run.inputs, stage, work)
                residual[t], iterations[t] = worst, step
                if not worst < np.inf:
                    break
                if worst > tolerance or run.level > 0 or step == 0:
                    fill(system, work)
                    regular = matrix.factorise()
                closed = worst <= tolerance
                if regular and not closed:
                    by = matrix.solve(right)
                    # Contradicting equations are met in the sense of least squares.
                    closed = np.abs(by).max() <= tolerance
                if closed:
                    status[t] = OK if worst <= max(tolerance, allowance) else DROPPED
                    condition[t] = matrix.pivots_ratio() if regular else 0.0
                    if run.level > 0 and not condition[t] > kernels.LEAST:
                        status[t] = SINGULAR
                    break
                if not regular:
                    status[t] = SINGULAR
                    break
                move(by, columns, stage[0], stage[1])
            if status[t] in (OK, DROPPED):
                if condition[t] > kernels.LEAST:
                    velocities(t, system, run.inputs, right)
                    spread(matrix.solve(right), columns, stage[2])
                if run.level == 2:
                    accelerations(t, rows, system, run.inputs, stage, work)
                    spread(matrix.solve(right), columns, stage[3])
            if end(t, int(status[t]), stage, run.poses):
                last = t
        return last

    return advance


class _Sparse:
    """A sparse system of fixed pattern, factorised again and again.

    With redundant equations it is the augmented one of least squares, (I, J; Jᵀ, 0), whose pivots are
    squares of those of J.
    """

    def __init__(self, system: GlobalSystem, equation: Ints, column: Ints) -> None:
        import scipy.sparse

        rows, n = len(system.rows), system.n
        self.tall = rows > n
        cells, self.place = np.unique(column * rows + equation, return_inverse=True)
        self.jacobian = np.zeros(len(cells))
        at, of = cells % rows, cells // rows
        if self.tall:
            one = np.arange(rows)
            entries = np.concatenate([at, of + rows, one]), np.concatenate([of + rows, at, one])
        else:
            entries = at, of
        size = rows + n if self.tall else n
        order = np.lexsort((entries[0], entries[1]))
        starts = np.searchsorted(entries[1][order], np.arange(size + 1))
        self._matrix = scipy.sparse.csc_array(
            (np.ones(len(order)), entries[0][order], starts), shape=(size, size)
        )
        # Where the Jacobian's numbers go: once, or twice with its transpose; the ones stay.
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        self._goes_to = back[: len(cells)], back[len(cells) : 2 * len(cells)]
        self._rows, self._padding = rows, np.zeros(n)
        self._factors: Any = None

    def factorise(self) -> bool:
        """Whether there is an inverse."""
        from scipy.sparse.linalg import splu

        for places in self._goes_to[: 2 if self.tall else 1]:
            self._matrix.data[places] = self.jacobian
        try:
            self._factors = splu(self._matrix)
        except RuntimeError:  # SuperLU's way to say that a pivot is exactly zero
            return False
        return True

    def pivots_ratio(self) -> float:
        """The smallest over the largest pivot of the Jacobian."""
        pivots = np.abs(self._factors.U.diagonal())
        ratio = float(pivots.min() / pivots.max())
        return ratio**0.5 if self.tall else ratio

    def solve(self, right: Floats) -> Floats:
        """(n,) solution with the factors."""
        if not self.tall:
            answer: Floats = self._factors.solve(right)
            return answer
        whole: Floats = self._factors.solve(np.concatenate([right, self._padding]))
        return whole[self._rows :]
