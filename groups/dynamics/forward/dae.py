"""Method ``dae``: the residual form of all bodies with multipliers, integrated implicitly by SUNDIALS IDA."""

# The index-2 form of Gear, Gupta and Leimkuhler (1985): velocities fulfil the constraints' rates, and further
# multipliers the constraints themselves. The integrator alone solves the system.

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from groups.dynamics.forward.equations import CannotGoOnError, too_small
from groups.dynamics.forward.lagrange import DEPENDENT, Lagrange

if TYPE_CHECKING:
    from mbssa.arrays import Floats

#: N m, absolute tolerance of multipliers.
_UNCONTROLLED = 1e6


class Residual(Lagrange):
    """Residual of a state y (its last entry the work), and multipliers of rates and of positions."""

    # Only rows that are independent at the beginning are kept.

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        at = self.at(self.t, self.start)
        _, R, order = scipy.linalg.qr((at.jacobian * self.unit).T, mode="economic", pivoting=True)
        size = np.abs(np.diag(R))
        self.kept = np.sort(order[: int((size > DEPENDENT * max(size.max(initial=0.0), 1e-300)).sum())])
        n, states, m = self.traced.n, len(self.start), len(self.kept)
        #: Further unknowns and their rates, and multipliers.
        self.further = [*range(self.traced.poses, n), *range(n + self.n, states - 1)]
        self.algebraic = [*self.further, *range(states, states + 2 * m)]
        #: Consistent state and derivative.
        self.complete = np.concatenate([self.start, self.solved(at)[2][self.kept], np.zeros(m)])
        self.begun = np.append(self.rate(self.t, self.start), np.zeros(2 * m))

    def settle(self, t: float, y: Floats) -> None:
        """No projection: the integrator keeps the constraints."""

    def __call__(self, t: float, y: Floats, rate: Floats, out: Floats) -> None:
        """Write the residual at a state and its derivative."""
        self.evaluations += 1
        n, m, q = len(self.start), len(self.kept), self.traced.n
        at, first, multipliers = self.at(t, y[:n]), slice(q, q + self.n), y[n : n + m]
        J, masses = at.jacobian[self.kept], at.masses
        shift = np.append((J.T @ y[n + m :]) * self.unit**2, np.zeros(self.traced.w - self.n))
        out[:q] = rate[:q] - self.rates(y[:q], at.v - shift)
        momentum = (masses @ rate[first].reshape(*masses.shape[:2], 1)).ravel()
        out[first] = momentum + J.T @ multipliers - at.force
        out[n - 1] = rate[n - 1] - at.power + float(multipliers @ at.given[self.kept])
        out[self.further] = (y[:n] - np.concatenate([at.x, at.v, [0.0]]))[self.further]
        out[n : n + m], out[n + m :] = at.rate[self.kept], at.residual[self.kept]


class Implicit:
    """Steps of SUNDIALS IDA, in the manner of SciPy's integrators."""

    def __init__(
        self, residual: Residual, t: float, end: float, rtol: float, atol: float, max_step: float,
        first_step: float,
    ) -> None:  # fmt: skip
        try:
            from sksundae.ida import IDA  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                'the method dae needs SUNDIALS: pip install -e ".[dae]" in the clone'
            ) from None
        self.t, self.y, self.end, self.status = t, residual.start, end, "running"
        self._hindered = residual.hindered
        # Multipliers are excluded from error control: they follow from the other unknowns.
        absolute = np.full(len(residual.complete), _UNCONTROLLED)
        absolute[: len(self.y)] = atol
        self._solver = IDA(
            residual, rtol=rtol, atol=absolute, algebraic_idx=residual.algebraic, first_step=first_step,
            max_step=max_step if np.isfinite(max_step) else 0.0,  # 0: any
        )  # fmt: skip
        self._solver.init_step(t, residual.complete, residual.begun)

    def step(self) -> None:
        """Go one step on."""
        t = self.t
        while self.t == t:  # after a look back the end of the last step comes first
            found = self._solver.step(self.end, method="onestep", tstop=self.end)
            if not found.success:
                fault = self._hindered(t, self.y) or f"{too_small(t)} (IDA: {found.message})"
                raise CannotGoOnError(fault)
            self.t, self.y = float(found.t), np.array(found.y[: len(self.y)])
        self.status = "running" if self.t < self.end else "finished"

    def dense_output(self) -> Callable[[float], Floats]:
        """States within the last step."""
        t, y = self.t, self.y
        return lambda at: y if at == t else np.array(self._solver.step(at).y[: len(y)])
