"""Continuation through a bifurcation: the smooth branch of two that cross."""

# What rates and accelerations extrapolate from a pose before the crossing meets the smooth branch with an
# error of third order in the way, the other with one of first order. The group, solved from there, has to
# lead back to that pose in the same way.

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.engine.arrays import quintic
from groups.motion import Motion
from groups.posed import configuration_at, posed
from mbssa.arrays import Floats
from mbssa.graph.nodes import polynomial

if TYPE_CHECKING:
    from groups.branches.insertion import Proof
    from groups.engine.path import Way
    from groups.engine.plan import Plan
    from groups.engine.rescue import Statuses
    from groups.model import Model


#: Way of the inputs on either side of a crossing, rad or over the size, over which it is gone through at
#: once; and the least before it.
ACROSS, LEAST_BEFORE = 1e-3, 1e-5
#: Share of the way by which extrapolations may miss.
STRAIGHT = 0.02


@dataclass(frozen=True, eq=False)
class Step:
    """One time step: inputs between two samples, at times from 0 on; when it begins, and for how long."""

    way: Way
    names: tuple[str, ...]
    begins: float
    lasts: float

    def at(self, shares: Floats) -> Motion:
        """Inputs at shares of the step."""
        value, rate, acceleration = (self.way.at(shares)[order::3] for order in range(3))
        return Motion(self.way.time_at(shares), self.names, value, rate, acceleration)

    def time_at(self, shares: Floats) -> Floats:
        """Times of a motion at shares of the step."""
        return self.begins + shares * self.lasts


@dataclass(frozen=True, eq=False)
class Crossed:
    """The pose behind a crossing, at a share of a time step, and the model that goes on from there."""

    share: float
    time: float
    inputs: Floats  # (3 D,)
    column: Floats
    status: Statuses  # (G,)
    model: Model


class Trail:
    """Columns that were solved in a time step, by share."""

    def __init__(self, step: Step, plan: Plan) -> None:
        self.step, self.plan = step, plan
        self.shares, self.poses = list[float](), list[tuple[Floats, ...]]()

    def _pose(self, column: Floats) -> tuple[Floats, ...]:
        """Position, orientation, velocity and acceleration (N, …) in a column."""
        bodies = self.plan.bodies(column[:, None])[:, :, 0]
        return tuple(bodies[:, of].copy() for of in self.plan.record.outputs)

    def add(self, columns: Floats, shares: Floats) -> None:
        self.shares += shares.tolist()
        self.poses += map(self._pose, columns.T)

    def crossed(self, proof: Proof, at: float) -> Crossed | None:
        """The pose behind a crossing that is near a share of the step; None where there is none."""
        longest, length = self.step.way.longest, float(self.step.way.time[1])
        across = min(ACROSS / longest, 0.2)
        before = [k for k, share in enumerate(self.shares) if share <= at - across]
        k = before[-1] if before else 0
        if not self.shares or (at - self.shares[k]) * longest < LEAST_BEFORE:
            return None
        share = at + (at - self.shares[k])
        seconds = (share - self.shares[k]) * length
        inputs = self.step.way.at(np.array([share]))[:, 0]
        near, model = extrapolated(self.poses[k], seconds), proof.model
        try:
            there = posed(model, configuration_at(*near), inputs[0::3])
        except (ValueError, np.linalg.LinAlgError):  # it is singular there
            return None
        value, rate, acceleration = (inputs[order::3, None] for order in range(3))
        motion = Motion(np.zeros(1), self.step.names, value, rate, acceleration)
        solving, status = proof.piece(motion, None, there)
        if status.any():
            return None
        pose = self._pose(solving.X[:, 0])
        # A tolerance in units of the way of the inputs: lengths are over the size.
        limit = STRAIGHT * (share - self.shares[k]) * longest
        there_and_back = ((near, pose), (extrapolated(pose, -seconds), self.poses[k]))
        for one, other in there_and_back:
            for a, b, unit in zip(one[:2], other[:2], (model.frames.size, 1.0), strict=True):
                if not np.abs(a - b).max(initial=0.0) <= limit * unit:
                    return None
        self.shares, self.poses = [self.shares[k]], [self.poses[k]]
        time = self.step.begins + share * length
        return Crossed(share, time, inputs, solving.column(), status[:, 0], there)

    def between(self, crossed: Crossed) -> Floats:
        """Records (N, numbers) of the bodies at the end of the step, by the poses around it."""
        seconds = (crossed.share - self.shares[0]) * float(self.step.way.time[1])
        s = (1.0 - self.shares[0]) / (crossed.share - self.shares[0])
        (p, q, v, a), (p1, q1, v1, a1) = self.poses[0], self._pose(crossed.column)
        d = p.shape[1]
        place = polynomial(s, quintic((p, v[:, :d], a[:, :d]), (p1, v1[:, :d], a1[:, :d]), seconds))
        turn = polynomial(s, quintic((q, *_rates_of(q, v, a)), (q1, *_rates_of(q1, v1, a1)), seconds))
        # Rates by the cubic through those on either side and their accelerations.
        rise, one, two = v1 - v, a * seconds, a1 * seconds
        bend, third = 3 * rise - 2 * one - two, one + two - 2 * rise
        velocity = v + s * (one + s * (bend + s * third))
        acceleration = (one + s * (2 * bend + s * 3 * third)) / seconds
        turn = turn[:, None] if turn.ndim == 1 else _unit(turn)
        return np.concatenate([place, turn, velocity, acceleration], axis=1)


def _unit(q: Floats) -> Floats:
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))


def _rates_of(q: Floats, v: Floats, a: Floats) -> tuple[Floats, Floats]:
    """First and second derivatives of angles, or of quaternions: 2 q' = ω q."""
    if q.ndim == 1:
        return v[:, 2], a[:, 2]

    def half(w: Floats, of: Floats) -> Floats:
        scalar = -(w * of[:, 1:]).sum(axis=1, keepdims=True)
        return 0.5 * np.concatenate([scalar, of[:, :1] * w + np.cross(w, of[:, 1:])], axis=1)

    first = half(v[:, 3:], q)
    return first, half(a[:, 3:], q) + half(v[:, 3:], first)


def extrapolated(pose: tuple[Floats, ...], seconds: float) -> tuple[Floats, Floats]:
    """Positions and orientations after some seconds, by rates and accelerations."""
    p, q, v, a = pose
    d = p.shape[-1]
    place = p + seconds * v[:, :d] + seconds**2 / 2 * a[:, :d]
    first, second = _rates_of(q, v, a)
    turned = q + seconds * first + seconds**2 / 2 * second
    return place, turned if q.ndim == 1 else _unit(turned)
