"""Bodies of a model at values and rates of its driven coordinates, on the branch of an accepted state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.engine.arrays import Life, Quality, is_fine
from groups.engine.path import Knots
from groups.engine.plan import CONDITION, QUALITY, STEPS
from groups.engine.rescue import statuses
from groups.engine.solve import TELLING, Solving, plan_of
from groups.engine.users import OpaqueError
from groups.motion import Motion
from groups.status import NOT_CONVERGED, OK
from mbssa.arrays import Floats

if TYPE_CHECKING:
    from groups.model import Model


#: How far Newton's method may end from the unknowns that rates predict; longest way of an input that is
#: predicted at once, and that is followed; rad or sizes.
NEAR, LONGEST, FURTHEST = 0.1, 1.0, 1e3
#: Columns from which on arrays are faster than floats.
MANY = 16


class Placement:
    """Solution of all groups for the true rates and for unit rates, from the accepted state on."""

    # The first column of the array has the true rates and no second rates: its accelerations are the bias. The
    # others have the unit rate of one coordinate each: their velocities are the velocity transformation.

    def __init__(self, model: Model, compiled: bool) -> None:
        self.model, self.plan = model, plan_of(model)
        plan = self.plan
        D = plan.inputs
        # Machine code solves all columns at once, Python a few of them one by one.
        self._life, self._at_once = Life(plan), D >= MANY
        self._columns = 1 + D
        self._X = X = self._life.storage(1 + D)
        X[1 : 3 * D : 3, 1 : 1 + D] = np.eye(D)
        quality = X[plan.first_quality : plan.first_axes].reshape(len(plan.parts), len(QUALITY), -1)
        self._quality = quality[:, :, : 1 + D]
        records = plan.bodies(X)[:, :, : 1 + D]
        #: Position, orientation, velocity and acceleration (N, …, 1 + D) of all bodies.
        self.position, self.orientation, self.velocity, self.acceleration = (
            records[:, rows] for rows in plan.record.outputs
        )
        self._turning = np.array([plan.body(b) + plan.record.turn for b in plan.wound], dtype=np.intp)
        #: By group, its status where the last state has no solution.
        self.failed = np.zeros(len(plan.parts), dtype=np.int8)
        self._accepted, self._transfer = plan.start, np.zeros((plan.unknowns, D))
        self._turned = np.zeros((len(self._turning), D))
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
        self._turned = self._turns()

    def to(self, value: Floats, rate: Floats) -> bool:
        """Solve all groups at values and rates (D,); False where one has no solution on its branch."""
        try:
            return self._to(value, rate)
        except OpaqueError as error:
            raise ValueError(str(error)) from error

    def _to(self, value: Floats, rate: Floats) -> bool:
        plan, X = self.plan, self._X
        self.failed[:] = OK
        X[0 : plan.first_body : 3], X[1 : plan.first_body : 3, 0] = value[:, None], rate
        change = value - self._accepted[0 : plan.first_body : 3]
        longest = float(np.abs(change / plan.scale_of_inputs).max(initial=0.0))
        at_once = longest <= LONGEST or not (plan.unknowns or plan.wound)
        if at_once and self._solved(self._accepted[plan.q] + self._transfer @ change):
            self._continue(self._accepted, 0.5 * (self._turned + self._turns()) @ change)
            return True
        if longest > FURTHEST:
            self.failed[:] = NOT_CONVERGED
            return False
        column = self._along(value, 2 + int(longest / TELLING))
        if self.failed.any():
            return False
        if not self._solved(column[plan.q]):  # where pivots are free
            none = np.zeros((len(self.failed), self._columns), dtype=np.int8)
            columns, time = X[:, : self._columns], np.arange(float(self._columns))
            self.failed = statuses(plan, self._life, columns, time, Knots(), none).max(axis=1)
            if self.failed.any():
                return False
        self._continue(column, 0.0)
        return True

    def _solved(self, guess: Floats) -> bool:
        """True if all columns are solved, near the unknowns of a guess."""
        plan, X, life, count = self.plan, self._X, self._life, self._columns
        X[plan.q] = guess[:, None]
        if self._at_once:
            life.apart(X, count, NEAR)
        else:
            life.one_by_one(X, (0,), plan.parts)
            X[plan.q, 1:] = X[plan.q, :1]
            life.one_by_one(X, range(1, count), plan.parts)
        quality = Quality(*(self._quality[:, k] for k in range(STEPS)))
        return bool(is_fine(quality, NEAR, plan.size, plan.flat).all())

    def _along(self, value: Floats, count: int) -> Floats:
        """The column at the end of the straight way from the accepted state; ``failed`` says its statuses."""
        plan, share = self.plan, np.linspace(0.0, 1.0, count)
        start = self._accepted[0 : plan.first_body : 3]
        gap = np.repeat((value - start)[:, None], count, axis=1)
        names = self.model.mechanism.driven_coordinates
        solving = Solving(self.model, Motion(share, names, start[:, None] + share * gap, gap, 0.0 * gap))
        solving.begin(self._accepted)
        solving.advance(0, count)
        status, *_ = solving.finished(np.arange(1), 0).quality
        self.failed = status[:, -1].copy()
        return solving.last_column()

    def _turns(self) -> Floats:
        """Angular velocities for unit rates of the bodies whose angles are counted."""
        record = self.plan.record
        found: Floats = self._X[self._turning + record.velocity[2] - record.turn, 1 : self._columns]
        return found

    def _continue(self, column: Floats, turned: Floats | float) -> None:
        """Continue the orientations from those of a column, from which bodies have turned so far."""
        plan, X = self.plan, self._X
        if plan.wound:
            rows = self._turning
            off = (column[rows] + turned)[:, None] - X[rows]
            X[rows] += 2 * np.pi * np.round(off / (2 * np.pi))
        elif not plan.record.planar:
            before = plan.bodies(column[:, None])[:, 3:7, 0]
            inner = np.einsum("nkc,nk->nc", self.orientation, before)
            self.orientation[...] *= np.where(inner < 0.0, -1.0, 1.0)[:, None]
