"""Newton on all equations of a system at once, by dense or by sparse elimination."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from groups.kernels import global_newton as kernels
from groups.solvers.global_solver.system import GlobalRun, GlobalSystem
from groups.status import BRANCH_JUMP, DROPPED, NOT_CONVERGED, OK, PREDECESSOR_FAILED, SINGULAR
from mbssa.arrays import Floats, Ints
from mbssa.compiled import chosen

Method = Literal["dense", "sparse"]

#: Solves instants first … stop - 1 of a run after the last that has an answer; the last then, and how far.
Advance = Callable[[GlobalRun, int, int, int], tuple[int, int]]

#: Seconds that compiling a solver of the global approach takes.
COMPILING = 40.0
#: Unknowns from which on sparse elimination is the faster one: it takes 2.2 times as long as the dense one
#: with 123 unknowns, a third of its time with 363 (compiled, time steps of ``assur:I-20B`` and ``I-60B``).
SPARSE_FROM = 200


#: µs of an instant in plain Python: each equation, and each triple of equations in the elimination.
_EQUATION, _TRIPLE = 220.0, 0.07


def microseconds(equations: int) -> float:
    """Time of one instant of the global approach in plain Python, µs."""
    return _EQUATION * equations + _TRIPLE * equations**3


def method_for(system: GlobalSystem) -> Method:
    """The faster elimination, by the number of unknowns."""
    return "sparse" if system.n >= SPARSE_FROM else "dense"


def solver_of(system: GlobalSystem, method: Method, compiled: bool) -> Advance:
    """Solver of stretches of a system's runs, as of :func:`groups.kernels.global_newton.solve_dense`."""
    return (_dense if method == "dense" else _sparse)(system, compiled)


def _dense(system: GlobalSystem, compiled: bool) -> Advance:
    """One compiled kernel for all instants: elimination that skips zeros."""
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


def _sparse(system: GlobalSystem, compiled: bool) -> Advance:
    """SuperLU on a fixed pattern, one factorisation a step; the instants in Python."""
    matrix = _SparseMatrix(system)
    places = system.with_places(matrix.place)
    rows, columns, known = system.rows.bound(compiled).kernel_rows, system.columns, system.known
    stage, work = system.stage(), system.work(matrix.jacobian)
    right = work[3]
    choose: Callable[[Any], Any] = partial(chosen, ask=compiled)
    begin, assemble, fill, move, velocities, accelerations, spread, end = (
        choose(kernel)
        for kernel in (
            kernels.begin, kernels.assemble, kernels.fill, kernels.move,
            kernels.velocities, kernels.accelerations, kernels.spread, kernels.end,
        )
    )  # fmt: skip

    gone = np.zeros(system.n)

    def newton(run: GlobalRun, t: int) -> tuple[int, bool]:
        """Status, and whether there are factors; ``gone`` is the length of the step."""
        _, residual, iterations, condition = run.quality
        tolerance, allowance, most, _, _ = run.limits
        regular = False
        gone[:] = 0.0
        for step in range(most + 1):
            worst = assemble(t, rows, places, run.inputs, stage, work)
            residual[t], iterations[t] = worst, step
            if not worst < np.inf:
                return NOT_CONVERGED, regular
            if worst > tolerance or run.level > 0 or step == 0:
                fill(places, work)
                regular = matrix.factorise()
            closed = worst <= tolerance
            if regular and not closed:
                by = matrix.solve(right)
                # Contradicting equations are met in the sense of least squares.
                closed = np.abs(by).max() <= tolerance
            if closed:
                condition[t] = matrix.pivots_ratio() if regular else 0.0
                if run.level > 0 and not condition[t] > kernels.LEAST:
                    return SINGULAR, regular
                return OK if worst <= max(tolerance, allowance) else DROPPED, regular
            if not regular:
                return SINGULAR, regular
            move(by, columns, known, stage, gone)
        return NOT_CONVERGED, regular

    def rates(run: GlobalRun, t: int) -> None:
        """Velocities and accelerations on the stage, with the factors."""
        if run.quality[3][t] > kernels.LEAST and (run.level > 0 or known == 1):
            velocities(t, rows, places, run.inputs, stage, work)
            spread(matrix.solve(right), columns, known, stage[2])
        if run.level == 2:
            accelerations(t, rows, places, run.inputs, stage, work)
            spread(matrix.solve(right), columns, known, stage[3])

    def advance(run: GlobalRun, first: int, stop: int, last: int) -> tuple[int, int]:
        status, residual, _, condition = run.quality
        farthest, sign = run.limits[3:]
        for t in range(first, stop):
            condition[t] = 0.0
            if not begin(t, last, known, run.inputs[0], rows, run.poses, stage):
                status[t], residual[t] = PREDECESSOR_FAILED, np.nan
            else:
                status[t], regular = newton(run, t)
                if status[t] in (OK, DROPPED):
                    turned = sign and regular and matrix.determinant() * sign < 0.0
                    if turned or np.abs(gone).max(initial=0.0) > farthest:
                        status[t] = BRANCH_JUMP
                    else:
                        rates(run, t)
                if status[t] not in (OK, DROPPED) and farthest < np.inf:
                    return last, t
            if end(t, last, int(status[t]), known, run.inputs[0], rows, work, run.poses, stage, run.level):
                last = t
        return last, stop

    return advance


class _SparseMatrix:
    """A sparse system of fixed pattern, factorised again and again."""

    def __init__(self, system: GlobalSystem) -> None:
        import scipy.sparse

        rows, n = len(system.rows), system.n
        term, _, column = system.entries
        equation = system.rows.equation[term]
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
        except RuntimeError:  # SuperLU found a pivot of exactly zero
            return False
        return True

    def pivots_ratio(self) -> float:
        """The smallest over the largest pivot of the Jacobian."""
        pivots = np.abs(self._factors.U.diagonal())
        ratio = float(pivots.min() / pivots.max())
        return ratio**0.5 if self.tall else ratio

    def determinant(self) -> float:
        """Sign of the determinant of the Jacobian; 0 for a tall one, which has none."""
        if self.tall:
            return 0.0
        factors = self._factors
        negative = np.count_nonzero(factors.U.diagonal() < 0.0)
        swaps = _swaps(factors.perm_r) + _swaps(factors.perm_c)
        return -1.0 if (negative + swaps) % 2 else 1.0

    def solve(self, right: Floats) -> Floats:
        """(n,) solution with the factors."""
        if not self.tall:
            answer: Floats = self._factors.solve(right)
            return answer
        whole: Floats = self._factors.solve(np.concatenate([right, self._padding]))
        return whole[self._rows :]


def _swaps(order: Ints) -> int:
    """Number of transpositions that make a permutation; its parity is what counts."""
    left, swaps = order.tolist(), 0
    for k in range(len(left)):
        while left[k] != k:
            other = left[k]
            left[k], left[other] = left[other], other
            swaps += 1
    return swaps
