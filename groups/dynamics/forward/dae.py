"""Method ``dae``: the residual form of all bodies with multipliers, integrated implicitly by SUNDIALS IDA."""

# The index-2 form of Gear, Gupta and Leimkuhler (1985): velocities fulfil the constraints' rates, and further
# multipliers the constraints themselves. The integrator alone solves the system.

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from groups.dynamics.forward.equations import CannotGoOnError
from groups.dynamics.forward.events import Event, Occurrence, values
from groups.dynamics.forward.integration import Run, too_many, too_small
from groups.dynamics.forward.lagrange import DEPENDENT, Lagrange
from mbssa.arrays import Floats

#: N m, absolute tolerance of multipliers.
_UNCONTROLLED = 1e6

#: Status of a step of IDA that ends at an event, and of one that takes too many steps.
_AT_EVENT, _TOO_MANY = 2, -1

#: Share of the time between two instants at which the integration begins: with less, the matrix of an index-2
#: problem is nearly singular.
_FIRST = 1e-3


class Residual:
    """Residual of a state y (its last entry the work), and multipliers of rates and of positions."""

    # Only rows that are independent at the beginning are kept.

    def __init__(self, equations: Lagrange, t: float) -> None:
        import scipy.linalg

        self.equations, self.n = equations, len(equations.start)
        _, rows = equations.at(t, equations.start)
        unit = equations.constraints.unit
        _, R, order = scipy.linalg.qr((rows.jacobian * unit).T, mode="economic", pivoting=True)
        size = np.abs(np.diag(R))
        self.kept = np.sort(order[: int((size > DEPENDENT * max(size.max(initial=0.0), 1e-300)).sum())])
        self.m = len(self.kept)

    def start(self, t: float) -> tuple[Floats, Floats]:
        """Consistent state and derivative."""
        equations, y = self.equations, self.equations.start
        multipliers = equations.solved(t, *equations.at(t, y)).multipliers[self.kept]
        rate = np.zeros(self.n + 2 * self.m)
        rate[: self.n] = equations.rate(t, y)
        return np.concatenate([y, multipliers, np.zeros(self.m)]), rate

    def __call__(self, t: float, y: Floats, rate: Floats, out: Floats) -> None:
        """Write the residual at a state and its derivative."""
        of, n, m = self.equations, self.n, self.m
        of.evaluations += 1
        bodies = of.bodies
        parts, rows = of.at(t, y[:n])
        J = rows.jacobian[self.kept]
        M, f, loads = bodies.inertia(t, parts)
        _, orientation, velocity, *_ = parts
        shift = (J.T @ y[n + m :]) * of.constraints.unit**2
        p, _, wide = bodies.wide
        moved = velocity[1:] - shift.reshape(-1, wide)
        first, second, third = bodies.parts
        out[first] = rate[first] - moved[:, :p].ravel()
        out[second] = rate[second] - bodies.turned(orientation, moved[:, p:])
        momentum = (M @ rate[third].reshape(-1, wide, 1)).ravel()
        out[third] = momentum + J.T @ y[n : n + m] - f
        power = float((loads * velocity).sum() - y[n : n + m] @ rows.given[self.kept])
        out[n - 1] = rate[n - 1] - power
        out[n : n + m] = rows.rate[self.kept]
        out[n + m :] = rows.residual[self.kept]


def integrate_dae(equations: Lagrange, run: Run, tolerance: float, largest_step: float) -> None:
    """Integrate the residual form from the first to the last instant of a run, or to an event that ends."""
    try:
        from sksundae.ida import IDA  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            'the method dae needs SUNDIALS: pip install -e ".[dae]" in the clone'
        ) from None
    time, events = run.time, run.events
    with run.ends():
        residual = Residual(equations, float(time[0]))
        y, rate = residual.start(float(time[0]))
        n, m = residual.n, residual.m
        # Multipliers are excluded from error control: they follow from the other unknowns.
        absolute = np.concatenate([np.full(n, 0.01 * tolerance), np.full(2 * m, _UNCONTROLLED)])
        solver = IDA(
            residual, rtol=tolerance, atol=absolute, algebraic_idx=list(range(n, n + 2 * m)),
            max_num_steps=run.most_steps, first_step=_FIRST * float(time[1] - time[0]),
            max_step=largest_step if np.isfinite(largest_step) else 0.0,  # 0: any
            eventsfn=_watched(equations, events) if events else None, num_events=len(events),
        )  # fmt: skip
        solver.init_step(float(time[0]), y, rate)
        run.samples.append(equations.sample(float(time[0]), y[:n])[None])
        run.done = 1
        for t in time[1:].tolist():
            at, last = -np.inf, None
            while at < t and last is None:  # a step ends at each event
                found = solver.step(t, method="normal")
                if not found.success:
                    reached = float(np.ravel(found.t)[-1])
                    raise CannotGoOnError(
                        too_many(reached, run.most_steps) if found.status == _TOO_MANY
                        else f"{too_small(reached)} (IDA: {found.message})"
                    )  # fmt: skip
                run.steps += 1
                equations.loads.turn()
                at = float(found.t)
                if found.status == _AT_EVENT:
                    at_once = [events[k] for k in np.flatnonzero(found.i_events[-1]).tolist()]
                    run.occurrences += [Occurrence(event.name, at, event.ends) for event in at_once]
                    last = next((event for event in at_once if event.ends), None)
            run.samples.append(equations.sample(at, np.array(found.y[:n]))[None])
            if last is not None:
                run.stopped, run.status = at, f"event {last.name}"
                break
            run.done += 1
            if not run.reported(t):
                break
    run.evaluations = equations.evaluations


def _watched(equations: Lagrange, events: Sequence[Event]) -> Callable[..., None]:
    """Values of events in the form of IDA."""

    def watched(t: float, y: Floats, rate: Floats, out: Floats) -> None:
        out[:] = values(events, equations, t, y[: len(equations.start)])

    vars(watched)["direction"] = [event.direction for event in events]
    return watched
