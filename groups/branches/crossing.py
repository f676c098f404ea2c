"""Singular positions between two time steps: what becomes of the path there, and how it goes on smoothly."""

# What rates and accelerations extrapolate from a pose before the crossing meets the smooth branch with an
# error of third order in the way, the other with one of first order. The group, solved from there, has to
# lead back to that pose in the same way.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.branches.theorem import by_equations, coordinates_of
from groups.motion import Motion
from groups.results.faults import Kind, SingularPosition
from groups.trajectory import configuration_at
from mbssa.arrays import Floats
from mbssa.graph.evaluation import evaluated
from mbssa.graph.nodes import Number

if TYPE_CHECKING:
    from groups.branches.insertion import Proof
    from groups.engine.path import Way
    from groups.engine.plan import Part, Plan
    from groups.engine.rescue import Statuses
    from groups.model import Model


#: Way of the inputs on either side of a crossing, rad or over the size, over which it is gone through at
#: once; and the least before it.
ACROSS, LEAST_BEFORE = 1e-3, 1e-5
#: Share of the way by which extrapolations may miss.
STRAIGHT = 0.02
#: Smallest over largest singular value, from which on a pose is not singular.
NEAR = 1e-3
#: Part of the load outside the image of the Jacobian, over the speeds that move the group; below it branches
#: cross.
CROSSING = 1e-3
#: How many times as long as the piece that is not proven the way to where a path turns back may seem.
TURNING = 20.0
#: Numbers of planar poses, of these with velocities, and of records.
_PLANAR = 3, 6, 9


@dataclass(frozen=True, eq=False)
class Crossed:
    """The pose behind a crossing, at a share of a time step, and the model that goes on from there."""

    share: float
    time: float
    inputs: Floats  # (3 D,)
    column: Floats
    status: Statuses  # (G,)
    model: Model


@dataclass(frozen=True, eq=False)
class Step:
    """One time step: inputs between two samples, at times from 0 on; when it begins, and for how long."""

    plan: Plan
    way: Way
    names: tuple[str, ...]
    begins: float
    lasts: float
    #: Shares of the step that were solved, and records of the bodies (N, numbers) there.
    shares: list[float] = field(default_factory=list)
    records: list[Floats] = field(default_factory=list)

    def at(self, shares: Floats) -> Motion:
        """Inputs at shares of the step."""
        value, rate, acceleration = (self.way.at(shares)[order::3] for order in range(3))
        return Motion(self.way.time_at(shares), self.names, value, rate, acceleration)

    def time_at(self, shares: Floats) -> Floats:
        """Times of a motion at shares of the step."""
        return self.begins + shares * self.lasts

    def crossed(self, proof: Proof, at: float) -> Crossed | None:
        """The pose behind a crossing that is near a share of the step; None where there is none."""
        longest, length = self.way.longest, float(self.way.time[1])
        across = min(ACROSS / longest, 0.2)
        k = max((k for k, share in enumerate(self.shares) if share <= at - across), default=0)
        if not self.shares or (at - self.shares[k]) * longest < LEAST_BEFORE:
            return None
        share, before = at + (at - self.shares[k]), self.records[k]
        seconds = (share - self.shares[k]) * length
        inputs = self.way.at(np.array([share]))[:, 0]
        near, model, d = extrapolated(before, seconds), proof.model, len(self.plan.record.position)
        try:
            turn = near[:, d] if self.plan.record.planar else near[:, d:]
            there = model.posed(configuration_at(near[:, :d], turn), inputs[0::3])
        except (ValueError, np.linalg.LinAlgError):  # it is singular there
            return None
        motion = Motion(np.zeros(1), self.names, *(inputs[order::3, None] for order in range(3)))
        solving, status = proof.piece(motion, None, there)
        if status.any():
            return None
        after = self.plan.bodies(solving.X)[:, :, 0]
        # A tolerance in units of the way of the inputs: lengths are over the size.
        unit = np.repeat([model.frames.size, 1.0], [d, near.shape[1] - d])
        limit = STRAIGHT * (share - self.shares[k]) * longest
        for one, other in ((near, after), (extrapolated(after, -seconds), before)):
            if not np.abs((one - other[:, : len(unit)]) / unit).max() <= limit:
                return None
        self.shares[:], self.records[:] = [self.shares[k]], [before]
        time = self.begins + share * length
        return Crossed(share, time, inputs, solving.column(), status[:, 0], there)

    def between(self, crossed: Crossed) -> Floats:
        """Records (N, numbers) of the bodies at the end of the step, by cubics through those around it."""
        from scipy.interpolate import CubicHermiteSpline

        ends = self.records[0], self.plan.bodies(crossed.column[:, None])[:, :, 0]
        n = ends[0].shape[1] - len(self.plan.record.acceleration)
        rates = [np.hstack([_rates(X)[0], X[:, n:]]) for X in ends]
        times = np.array([self.shares[0], crossed.share]) * float(self.way.time[1])
        path = CubicHermiteSpline(times, [X[:, :n] for X in ends], rates)
        found, rate = (path(self.way.time[1], order) for order in (0, 1))
        return np.hstack([_unit(found), rate[:, n - ends[0].shape[1] :]])


def _unit(X: Floats) -> Floats:
    """Poses (N, numbers), or what begins with them, with quaternions of unit length."""
    if X.shape[1] not in _PLANAR:
        X[:, 3:7] /= np.linalg.norm(X[:, 3:7], axis=1, keepdims=True)
    return X


def _rates(X: Floats) -> tuple[Floats, Floats]:
    """First and second derivatives of poses by records: of quaternions by 2 q' = ω q."""
    if X.shape[1] in _PLANAR:
        return X[:, 3:6], X[:, 6:]

    def half(w: Floats, of: Floats) -> Floats:
        scalar = -(w * of[:, 1:]).sum(axis=1, keepdims=True)
        return 0.5 * np.concatenate([scalar, of[:, :1] * w + np.cross(w, of[:, 1:])], axis=1)

    v, w, a, b = np.split(X[:, 7:], 4, axis=1)
    first = half(w, X[:, 3:7])
    return np.hstack([v, first]), np.hstack([a, half(b, X[:, 3:7]) + half(w, first)])


def extrapolated(X: Floats, seconds: float) -> Floats:
    """Poses after some seconds, by records: by rates and accelerations."""
    first, second = _rates(X)
    return _unit(X[:, : first.shape[1]] + seconds * first + seconds**2 / 2 * second)


def singular_position(plan: Plan, group: int, column: Floats, times: Sequence[float]) -> SingularPosition:
    """Singular position of a group (by index), from the column of its last proven pose."""
    # By the left null vector y of J: if y·F_t = 0 for the rates F_t of what moves the group, two branches
    # cross, else the path turns back (Keller 1977).
    kind: Kind = "unresolved"
    part, left_time = plan.parts[group], 0.0
    if not part.group.direct:
        # By the rates: before it turns back the unknowns go as the root of the time that is left. A path that
        # only turns fast near another branch, over which steps may be as hard to prove, goes on.
        v, a = (column[part.state + k * plan.unknowns] / part.routine.scales for k in (1, 2))
        left_time = float(v @ v) / (2.0 * max(float(v @ a), 1e-300))
    jacobian, moved, speed = _linearised(plan, part, column)
    condition = 0.0
    if jacobian.size and np.isfinite(jacobian).all():
        left, values, _ = np.linalg.svd(jacobian)
        condition = float(values[-1] / values[0])
        outside = abs(left[:, jacobian.shape[1] - 1] @ moved) / max(speed * values[0], 1e-300)
        if condition < NEAR and outside < CROSSING:
            kind = "branches cross"
        elif condition < NEAR and left_time < TURNING * (times[1] - times[0]):
            kind = "path ends"
    return SingularPosition(group + 1, float(times[0]), float(times[1]), kind, condition)


def _linearised(plan: Plan, part: Part, column: Floats) -> tuple[Floats, Floats, float]:
    """Jacobian (rows, n) by unknowns over their sizes, rates of rows by what moves the group, its speed."""
    axes = plan.axes(plan.bodies(column[:, None])).ravel()
    column = np.append(column[: plan.first_axes], axes)
    direct, part = part.group.direct, by_equations(plan, part, {}) if part.group.direct else part
    own, routine = part.group, part.routine
    q: list[Number] = column[part.state].tolist()

    def of(name: str, k: Any) -> Number:
        if name in ("g", "q"):
            return (part.geometry if name == "g" else q)[k]
        return float(column[plan.rows_of(own, [(name, k)])[0]])

    if direct:
        q = evaluated(coordinates_of(routine), of)
    with np.errstate(all="ignore"):
        rows = [evaluated(row, of) for row in routine.jacobian]
        J = np.array(rows).reshape(len(rows), routine.n) * routine.scales
        moved = np.array(evaluated(routine.first_side, of))
    drives = [3 * row for row in own.uses.drives]
    speeds = [np.abs(column[row + 1]) / plan.scale_of_inputs[row // 3] for row in drives]
    for b in own.uses.bodies.keys() - set(own.own):
        velocity = np.abs(column[plan.rows_of_body(b)[list(plan.record.velocity)]])
        n = len(plan.record.position)
        speeds += [velocity[:n].max() / plan.size, velocity[n:].max()]
    return J, moved, float(max(speeds, default=0.0))
