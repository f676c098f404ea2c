"""Methods ``lagrange``, by multipliers, and ``penalty``: joints as springs and dampers, as in bond graphs."""

# Lagrange: M a + Jᵀ λ = f, J a = -J' v; of redundant constraints the multipliers of least norm. Positions and
# velocities are projected on the constraints after every accepted step and at every sample (no Baumgarte
# stabilisation).

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from groups.dynamics.forward.absolute import BodyCoordinates, Instant
from groups.dynamics.forward.equations import CannotGoOnError

if TYPE_CHECKING:
    from mbssa.arrays import Floats

#: Residual, over the size, from which positions need no further Newton step, and the most steps.
CLOSED, STEPS = 1e-13, 10

#: Share of the largest singular value below which constraints depend on one another, and of a saddle point
#: without a solution.
DEPENDENT, SINGULAR = 1e-7, 1e-14
#: The same in a position that is taken for singular.
NEAR = 1e-3
#: Condition number of a body's masses from which on they are not eliminated.
HEAVY = 1e8
#: Residual of a regular system, over the size of its terms.
SOLVED = 1e-12


class Lagrange(BodyCoordinates):
    """Equations of motion of all bodies with multipliers."""

    # Where a trial state is off the constraints, redundant ones contradict each other a little: their number
    # is that of the beginning, no matter how small a singular value is there.
    @cached_property
    def redundant(self) -> int:
        """Number of constraints that depend on the others."""
        jacobian = self.at(self.t, self.start).jacobian
        sizes = np.linalg.svd(jacobian * self.unit, compute_uv=False)
        return len(jacobian) - int((sizes > DEPENDENT * sizes.max(initial=0.0)).sum())

    @cached_property
    def heavy(self) -> bool:
        """Whether every body has a mass and moments of inertia, about any axis."""
        M = self.at(self.t, self.start).masses
        unit = self.unit.reshape(*M.shape[:2])
        return bool((np.linalg.cond(M * unit[:, :, None] * unit[:, None]) < HEAVY).all())

    def hindered(self, t: float, y: Floats) -> str:
        jacobian = self.at(t, y).jacobian
        sizes = np.linalg.svd(jacobian * self.unit, compute_uv=False)[: len(jacobian) - self.redundant]
        if not len(sizes) or sizes[-1] > NEAR * sizes[0]:
            return ""
        return (
            f"stopped at t = {t:.9g} s just before a singular position, at which constraints depend on one "
            "another; take the method groups, which steps over it"
        )

    def settle(self, t: float, y: Floats) -> Floats | None:
        return self.projected(t, y)

    def sample(self, t: float, y: Floats) -> Floats:
        return super().sample(t, self.projected(t, y))

    def projected(self, t: float, y: Floats) -> Floats:
        """A state projected on the constraints, by the least motions and rates."""
        found = y.copy()
        for _ in range(STEPS):
            at = self.at(t, found)
            if np.abs(at.residual).max(initial=0.0) <= CLOSED:
                break
            step = self._least(at.jacobian * self.unit, -at.residual)
            moved = np.append(step * self.unit, np.zeros(self.traced.w - self.n))
            found[: self.traced.n] = at.x + self.rates(at.x, moved)
            if np.abs(step).max(initial=0.0) <= CLOSED:
                break
        at = self.at(t, found)
        if not np.abs(at.residual).max(initial=0.0) < 1e-6:
            raise CannotGoOnError(f"t = {t:.9g} s: the constraints cannot be closed again")
        at.v[: self.n] += self._least(at.jacobian * self.unit, -at.rate) * self.unit
        return np.concatenate([at.x, at.v, y[-1:]])

    def solved(self, at: Instant) -> tuple[Floats, float, Floats]:
        """Solve the saddle point; multipliers in N m, of lengths over the size."""
        self.evaluations += 1
        M, f, J = at.masses, at.force, at.jacobian
        n, E = len(f), len(J)
        found = np.full(n + E, np.nan)
        if self.heavy:  # the multipliers alone, of a fraction of the size
            # Body by body: products of so small matrices keep to one thread.
            slopes = J.reshape(E, len(M), -1).transpose(1, 2, 0)
            over = np.linalg.solve(M, np.concatenate([slopes, f.reshape(len(M), -1, 1)], axis=2))
            known = (slopes.swapaxes(1, 2) @ over).sum(axis=0)
            found[n:] = self._least(known[:, :E], known[:, E] + at.bias)
            found[:n] = (over @ np.append(-found[n:], 1.0)).ravel()
        if not np.isfinite(found).all():
            saddle = np.zeros((n + E, n + E))
            saddle[:n, :n], saddle[:n, n:], saddle[n:, :n] = scipy.linalg.block_diag(*M), J.T, J
            # Masses and constraints are scaled alike, so that one rank tolerance serves both.
            weight = float(np.trace(saddle)) / n or 1.0
            saddle[:n, :n] /= weight
            found = self._least(saddle, np.concatenate([f / weight, -at.bias]))
            found[n:] *= weight
        if not np.isfinite(found).all():
            raise CannotGoOnError(
                f"t = {at.t:.9g} s: the saddle point has no solution; a body without mass is free to move, "
                "or the position is singular"
            )
        return found[:n], at.power - float(found[n:] @ at.given), found[n:]

    def _least(self, matrix: Floats, right: Floats) -> Floats:
        """The least solution, with as many redundant rows as at the beginning; NaN where there is none."""
        if not len(matrix):
            return np.zeros(matrix.shape[1])
        if not self.redundant:
            with suppress(np.linalg.LinAlgError):
                if len(matrix) == matrix.shape[1]:
                    found = np.linalg.solve(matrix, right)
                else:
                    found = matrix.T @ np.linalg.solve(matrix @ matrix.T, right)
                scale = np.abs(right).max() + np.abs(matrix).max() * np.abs(found).max()
                if np.abs(matrix @ found - right).max() <= SOLVED * scale:
                    return np.asarray(found, dtype=np.float64)
        U, sizes, V = np.linalg.svd(matrix, full_matrices=False)
        rank = len(matrix) - self.redundant
        if rank and not sizes[rank - 1] > SINGULAR * sizes[0]:
            return np.full(matrix.shape[1], np.nan)
        least: Floats = V[:rank].T @ ((U[:, :rank].T @ right) / sizes[:rank])
        return least


class Penalty(BodyCoordinates):
    """Equations of motion of all bodies, each free, between springs (N/m) and dampers (N s/m)."""

    # Each constraint φ = 0 pulls with -(k φ + c φ') along its direction. Constraints may depend on one
    # another, so that hyperstatic mechanisms are simulated as they are; a joint opens by its reaction over k.
    # Constraints on directions have the same stiffness at the mechanism's size, in N m/rad and N m s/rad.

    def set(self, stiffness: float, damping: float) -> None:
        """Set the springs and dampers of the joints."""
        self.k, self.c = stiffness * self.size**2, damping * self.size**2
        M = self.at(self.t, self.start).masses
        missing = np.flatnonzero(np.linalg.matrix_rank(M) < M.shape[1])
        light = [self.mechanism.body_name(b + 1) for b in missing.tolist()]
        if light:
            raise CannotGoOnError(
                f"the method penalty needs mass and inertia of every body; {', '.join(light)} "
                "can move or turn without; give them an inertia, or take another method"
            )

    def solved(self, at: Instant) -> tuple[Floats, float, Floats]:
        """Solve for the accelerations; power of the loads and laws: what joints take is off the balance."""
        self.evaluations += 1
        pull = -(self.k * at.residual + self.c * at.rate)
        force = (at.force + at.jacobian.T @ pull).reshape(*at.masses.shape[:2], 1)
        second = np.asarray(np.linalg.solve(at.masses, force), dtype=np.float64).ravel()
        return second, at.power + float(pull @ at.given), pull
