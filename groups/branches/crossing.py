"""Continuation through a bifurcation: the smooth branch of two that cross."""

# What rates and accelerations extrapolate from a pose before the crossing meets the smooth branch with an
# error of third order in the way, the other with one of first order. The group, solved from there, has to
# lead back to that pose in the same way.

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from groups.engine.arrays import quintic
from groups.motion import Motion
from groups.posed import configuration_at
from groups.run import Run, RunState
from mbssa.arrays import Floats
from mbssa.graph.nodes import polynomial

if TYPE_CHECKING:
    from groups.model import Model


#: Way of the inputs on either side of a crossing, rad or over the size, over which it is gone through at
#: once; and the least before it.
ACROSS, LEAST_BEFORE = 1e-3, 1e-5
#: Share of the way by which extrapolations may miss.
STRAIGHT = 0.02


@dataclass(frozen=True, eq=False)
class Crossed:
    """The pose behind a crossing: at a share of a time step, at a time, the only instant of a run."""

    share: float
    time: float
    run: Run
    state: RunState


@dataclass(eq=False)
class Trail:
    """Poses that were solved in a time step, by share: position, orientation, velocity and acceleration."""

    step: Motion
    way: float
    shares: list[float] = field(default_factory=list)
    poses: list[tuple[Floats, ...]] = field(default_factory=list)

    def add(self, run: Run, shares: Floats) -> None:
        """Poses of a run at its first instants."""
        self.shares += shares.tolist()
        self.poses += [tuple(array[:, k].copy() for array in run.arrays.outputs) for k in range(len(shares))]

    def crossed(self, model: Model, at: float, run_of: Callable[[Motion], Run]) -> Crossed | None:
        """The pose behind a crossing that is near a share of the step; None where there is none."""
        across = min(ACROSS / self.way, 0.2)
        before = [k for k, share in enumerate(self.shares) if share <= at - across]
        k = before[-1] if before else 0
        if not self.shares or (at - self.shares[k]) * self.way < LEAST_BEFORE:
            return None
        share = at + (at - self.shares[k])
        seconds = (share - self.shares[k]) * float(np.diff(self.step.time)[0])
        motion = at_shares(self.step, np.array([share]))
        near = extrapolated(self.poses[k], seconds)
        there = from_pose(model, near, motion.value[:, 0])
        if there is None:
            return None
        like = run_of(motion)
        run = Run(there, motion, like.kept, like.level, like.arrays, like.compiled)
        state = run.advance(0, 1, RunState(model=there))
        if run.arrays.quality[0][:, 0].any():
            return None
        pose = tuple(array[:, 0] for array in run.arrays.outputs)
        # A tolerance in units of the way of the inputs: lengths are over the size.
        limit = STRAIGHT * (share - self.shares[k]) * self.way
        there_and_back = ((near, pose), (extrapolated(pose, -seconds), self.poses[k]))
        for one, other in there_and_back:
            for a, b, unit in zip(one[:2], other[:2], (model.frames.size, 1.0), strict=True):
                if not np.abs(a - b).max(initial=0.0) <= limit * unit:
                    return None
        time = float(self.step.time[0] + share * np.diff(self.step.time)[0])
        self.shares, self.poses = [self.shares[k]], [self.poses[k]]
        return Crossed(share, time, run, state)

    def between(self, crossed: Crossed, into: Run, at: int) -> None:
        """Write the pose at the end of the step, which is near the crossing, by what is around it."""
        length = float(np.diff(self.step.time)[0])
        seconds = (crossed.share - self.shares[0]) * length
        s = (1.0 - self.shares[0]) / (crossed.share - self.shares[0])
        p, q, v, a = self.poses[0]
        p1, q1, v1, a1 = (array[:, 0] for array in crossed.run.arrays.outputs)
        d = p.shape[-1]
        into.begin_anew(at, at + 1)
        outputs = into.arrays.outputs
        places = quintic((p, v[:, :d], a[:, :d]), (p1, v1[:, :d], a1[:, :d]), seconds)
        turns = quintic((q, *_rates_of(q, v, a)), (q1, *_rates_of(q1, v1, a1)), seconds)
        outputs[0][:, at], turned = polynomial(s, places), polynomial(s, turns)
        outputs[1][:, at] = turned if q.ndim == 1 else turned / np.linalg.norm(turned, axis=1, keepdims=True)
        # Rates by the cubic through those on either side and their accelerations.
        rise, one, two = v1 - v, a * seconds, a1 * seconds
        bend, third = 3 * rise - 2 * one - two, one + two - 2 * rise
        outputs[2][:, at] = v + s * (one + s * (bend + s * third))
        outputs[3][:, at] = (one + s * (2 * bend + s * 3 * third)) / seconds


def _rates_of(q: Floats, v: Floats, a: Floats) -> tuple[Floats, Floats]:
    """First and second derivatives of angles, or of quaternions: 2 q' = ω q."""
    if q.ndim == 1:
        return v[:, 2], a[:, 2]

    def half(w: Floats, of: Floats) -> Floats:
        scalar = -(w * of[:, 1:]).sum(axis=1, keepdims=True)
        return 0.5 * np.concatenate([scalar, of[:, :1] * w + np.cross(w, of[:, 1:])], axis=1)

    first = half(v[:, 3:], q)
    return first, half(a[:, 3:], q) + half(v[:, 3:], first)


def extrapolated(pose: tuple[Floats, ...], seconds: float) -> list[Floats]:
    """Positions and orientations after some seconds, by rates and accelerations."""
    p, q, v, a = pose
    d = p.shape[-1]
    place = p + seconds * v[:, :d] + seconds**2 / 2 * a[:, :d]
    first, second = _rates_of(q, v, a)
    turned = q + seconds * first + seconds**2 / 2 * second
    return [place, turned if q.ndim == 1 else turned / np.linalg.norm(turned, axis=1, keepdims=True)]


def from_pose(model: Model, pose: list[Floats], inputs: Floats) -> Model | None:
    """The model that goes on from a pose; None where it is singular."""
    from groups.posed import posed

    try:
        return posed(model, configuration_at(*pose), inputs)
    except (ValueError, np.linalg.LinAlgError):
        return None


def at_shares(step: Motion, shares: Floats) -> Motion:
    """Instants of the cubic through the values and rates of two; time begins at 0."""
    length = step.time[1] - step.time[0]
    rise = np.diff(step.value)
    one, two = step.rate[:, :1] * length, step.rate[:, 1:] * length
    bend, third = 3 * rise - 2 * one - two, one + two - 2 * rise
    value = step.value[:, :1] + shares * (one + shares * (bend + shares * third))
    rate = (one + shares * (2 * bend + shares * 3 * third)) / length
    acceleration = (2 * bend + 6 * shares * third) / length**2
    for array, given in ((value, step.value), (rate, step.rate), (acceleration, step.acceleration)):
        for share, k in ((0.0, 0), (1.0, 1)):
            array[:, shares == share] = given[:, k : k + 1]
    return Motion(shares * length, step.names, value, rate, acceleration)
