"""Velocity transformation and bias accelerations of all bodies by the solvers of the structural groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.engine.arrays import Quality, is_fine
from groups.engine.plan import CONDITION, QUALITY, STEPS
from groups.engine.solve import END, TELLING, Solving, life_of, plan_of
from groups.motion import Motion
from groups.status import CONTACT_LOST, NOT_CONVERGED, OK
from mbssa.arrays import Floats

if TYPE_CHECKING:
    from groups.model import Model


#: How far Newton's method may end from the unknowns that rates predict; longest way of an input that is
#: predicted at once, and that is followed; rad or sizes.
NEAR, LONGEST, FURTHEST = 0.1, 1.0, 1e3
#: Columns from which on arrays are faster than floats.
MANY = 16


class VelocityTransformation:
    """Pose, velocity transformation and bias accelerations of all bodies, on the branch of a state."""

    # The first column of the array has the true rates and no second rates: its accelerations are the bias.
    # The others have the unit rate of one coordinate each: their velocities are the velocity transformation.

    def __init__(self, model: Model, compiled: bool) -> None:
        self.model, self.plan = model, plan_of(model)
        plan, D = self.plan, self.plan.inputs
        # Here the life is chosen, and whether it solves all columns at once or one by one.
        self._life, self._compiled = life_of(plan, compiled), compiled
        self._at_once, lanes = D >= MANY or self._life is plan.machine, self._life.lanes
        self._columns = 1 + D
        self._X = X = self._life.storage(-(-(1 + D) // lanes) * lanes)
        X[: plan.first_body] = 0.0
        X[1 : 3 * D : 3, 1 : 1 + D] = np.eye(D)
        quality = X[plan.first_quality : plan.first_axes].reshape(len(plan.parts), len(QUALITY), -1)
        self._quality = quality[:, :, : 1 + D]
        records = plan.bodies(X)[:, :, : 1 + D]
        #: Position, orientation, velocity and acceleration (N, …, 1 + D) of all bodies.
        self.position, self.orientation, self.velocity, self.acceleration = (
            records[:, rows] for rows in plan.record.outputs
        )
        self._turning = plan.turning
        self._ends = [
            (part, part.state[end.unknown], end.range) for part in plan.parts for end in part.group.ends
        ]
        #: By group, its status where the last state has no solution.
        self.failed = np.zeros(len(plan.parts), dtype=np.int8)
        self._accepted, self._transfer = plan.start, np.zeros((plan.unknowns, D))
        self._spins = self._turning - plan.record.turn + plan.record.velocity[2]
        self._spin = np.zeros((len(self._turning), D))
        if self.to(plan.start[0 : 3 * D : 3], np.zeros(D)):
            self.accept()

    @property
    def conditions(self) -> Floats:
        """(G,) reciprocal condition numbers."""
        return np.abs(self._quality[:, CONDITION, 0])

    def accept(self) -> None:
        """Continue from the present state."""
        plan, X = self.plan, self._X
        self._accepted, self._transfer = X[:, 0].copy(), X[plan.dq, 1 : self._columns].copy()
        self._spin = X[self._spins, 1 : self._columns].copy()

    def to(self, value: Floats, rate: Floats) -> bool:
        """Solve all groups at values and rates (D,); False where one has no solution on its branch."""
        plan, X = self.plan, self._X
        self.failed[:] = OK
        X[0 : plan.first_body : 3], X[1 : plan.first_body : 3, 0] = value[:, None], rate
        change = value - self._accepted[0 : plan.first_body : 3]
        longest = float(np.abs(change / plan.scale_of_inputs).max(initial=0.0))
        at_once = longest <= LONGEST or not (plan.unknowns or plan.wound)
        if at_once and self._solved(self._accepted[plan.q] + self._transfer @ change):
            spin = 0.5 * (self._spin + X[self._spins, 1 : self._columns])
            self._continue(self._accepted[self._turning] + spin @ change)
        else:
            self._continue(self._along(value, longest)[self._turning])
        for part, row, (low, high) in self._ends:
            rounding = END * (high - low)
            if not low - rounding <= X[row, 0] <= high + rounding:
                self.failed[part.index] = CONTACT_LOST
        return not self.failed.any()

    def _solved(self, guess: Floats) -> bool:
        """True if all columns are solved, near the unknowns of a guess."""
        plan, X, life, count = self.plan, self._X, self._life, self._columns
        X[plan.q] = guess[:, None]
        if self._at_once:
            life.apart(X, X.shape[1], NEAR)
        else:
            life.one_by_one(X, (0,), plan.parts)
            X[plan.q, 1:] = X[plan.q, :1]
            life.one_by_one(X, range(1, count), plan.parts)
        quality = Quality(*(self._quality[:, k] for k in range(STEPS)))
        return bool(is_fine(quality, NEAR, plan.size, plan.flat).all())

    def _along(self, value: Floats, longest: float) -> Floats:
        """The column at the end of the straight way from the accepted state; ``failed`` is set."""
        plan, start = self.plan, self._accepted[0 : self.plan.first_body : 3]
        if longest > FURTHEST:
            self.failed[:] = NOT_CONVERGED
            return self._accepted
        share = np.linspace(0.0, 1.0, 2 + int(longest / TELLING))
        gap = np.repeat((value - start)[:, None], len(share), axis=1)
        names = self.model.mechanism.driven_coordinates
        way = Motion(share, names, start[:, None] + share * gap, gap, 0.0 * gap)
        solving = Solving(self.model, way, compiled=self._compiled)
        solving.begin(self._accepted)
        solving.advance(0, len(share))
        self.failed[:] = solving.finished(np.arange(1), 0).quality[0][:, -1]
        column = solving.last_column()
        if not self.failed.any() and not self._solved(column[plan.q]):
            self.failed[:] = NOT_CONVERGED
        return column

    def _continue(self, angle: Floats) -> None:
        """Continue the orientations: to near these angles in the plane, in space from the accepted ones."""
        plan, X = self.plan, self._X
        if plan.wound:
            X[self._turning] += 2 * np.pi * np.round((angle[:, None] - X[self._turning]) / (2 * np.pi))
        elif not plan.record.planar:
            before = plan.bodies(self._accepted[:, None])[:, 3:7, 0]
            inner = np.einsum("nkc,nk->nc", self.orientation, before)
            self.orientation[...] *= np.where(inner < 0.0, -1.0, 1.0)[:, None]
