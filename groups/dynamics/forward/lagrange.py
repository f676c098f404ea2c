"""Method ``lagrange``: the saddle point of masses and constraints, with multipliers and projection."""

# M a + Jᵀ λ = f, J a = -J' v; of redundant constraints the multipliers of least norm. Positions and
# velocities are projected on the constraints after every accepted step and at every sample (no Baumgarte
# stabilisation).

from __future__ import annotations

import numpy as np

from groups.dynamics.forward.absolute import BodyCoordinates, Rows, Solved
from groups.dynamics.forward.equations import CannotGoOnError, Instant
from mbssa.arrays import Floats

#: Residual, over the size, from which positions need no further Newton step, and the most steps.
CLOSED, STEPS = 1e-13, 10

#: Share of the largest singular value below which constraints depend on one another.
DEPENDENT = 1e-9


class Lagrange(BodyCoordinates):
    """Equations of motion of all bodies with multipliers."""

    def settle(self, t: float, y: Floats) -> Floats | None:
        found = self.projected(t, y)
        self.loads.turn()
        return found

    def instant(self, t: float, y: Floats) -> Instant:
        return super().instant(t, self.projected(t, y))

    def projected(self, t: float, y: Floats) -> Floats:
        """A state projected on the constraints, by the least motions and rates."""
        for _ in range(STEPS):
            _, rows = self.at(t, y)
            if np.abs(rows.residual).max(initial=0.0) <= CLOSED:
                break
            unit = self.constraints.unit
            step = _least(rows.jacobian * unit, -rows.residual)
            y = self.bodies.moved(y, step * unit)
            if np.abs(step).max(initial=0.0) <= CLOSED:
                break
        _, rows = self.at(t, y)
        if not np.abs(rows.residual).max(initial=0.0) < 1e-6:
            raise CannotGoOnError(f"t = {t:.9g} s: the constraints cannot be closed again")
        unit = self.constraints.unit
        found = y.copy()
        found[self.bodies.parts[2]] += _least(rows.jacobian * unit, -rows.rate) * unit
        return found

    def solved(self, t: float, parts: tuple[Floats, ...], rows: Rows) -> Solved:
        """Solve the saddle point; multipliers in N m, of lengths over the size."""
        self.evaluations += 1
        M, f, loads = self.bodies.inertia(t, parts)
        J, n, E = rows.jacobian, len(M), len(rows.jacobian)
        saddle = np.zeros((n + E, n + E))
        saddle[:n, :n], saddle[:n, n:], saddle[n:, :n] = M, J.T, J
        # Masses and constraints are scaled alike, so that one rank tolerance serves both.
        weight = float(np.trace(M)) / n or 1.0
        saddle[:n, :n] /= weight
        right = np.concatenate([f / weight, -rows.bias])
        try:
            found = np.asarray(np.linalg.solve(saddle, right), dtype=np.float64)
            doubtful = not np.isfinite(found).all() or np.abs(saddle @ found - right).max() > 1e-6 * (
                1.0 + np.abs(right).max()
            )
        except np.linalg.LinAlgError:
            doubtful = True
        # Multipliers of a matrix that is singular up to rounding are meaningless.
        if doubtful or np.abs(found[n:]).max(initial=0.0) > 1e9 * (1.0 + np.abs(right).max()):
            found = _least(saddle, right)
            if np.abs(saddle @ found - right).max() > 1e-5 * (1.0 + np.abs(right).max()):
                raise CannotGoOnError(
                    f"t = {t:.9g} s: the saddle point has no solution; a body without mass is free to move, "
                    "or the position is singular"
                )
        second, multipliers = found[:n], found[n:] * weight
        power = float((loads * parts[2]).sum() - multipliers @ rows.given)
        return Solved(second, power, multipliers, 1.0)


def _least(matrix: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=DEPENDENT)[0], dtype=np.float64)
