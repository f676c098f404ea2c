"""Coordinates of all bodies, every joint cut, with masses, constraints and their derivatives in a state."""

# Shared by the methods lagrange, penalty and dae. A state y has places and orientations of the movable
# bodies, and further unknowns of joints (places on curves, angles that count turns), the velocities of all,
# and the work of the loads. Further unknowns follow from the bodies: they are closed in every evaluation.

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.dynamics.forward.bodies import Bodies, turning
from groups.dynamics.forward.equations import Equations
from groups.posed import configuration_at
from groups.setting import Setting

if TYPE_CHECKING:
    from groups.dynamics.forward.equations import Applied
    from groups.model import Model
    from groups.motion import Law
    from groups.trajectory import Trajectory
    from mbssa.arrays import Floats

#: Steps of Newton's method for further unknowns at most, and the size of the last.
STEPS, SMALL = 10, 1e-13
#: Residuals of closed joints from which on they are turns.
TURNED = 1e-2


@dataclass(frozen=True, eq=False)
class Instant:
    """A state, and the equations there; those of lengths are over the size."""

    t: float
    x: Floats
    v: Floats
    residual: Floats  # (E,)
    jacobian: Floats  # (E, n) by the twists of the movable bodies' origins, m/s and rad/s
    rate: Floats  # (E,)
    bias: Floats  # (E,) second time derivative at zero accelerations
    given: Floats  # (E,) rate of prescribed coordinates
    masses: Floats  # (N - 1, 3 or 6, …) by origins' twists
    force: Floats  # (n,) of weight, loads and gyroscopic ones
    power: float  # of the loads, W
    further: Callable[[Floats], Floats]  # accelerations of further unknowns by those of the bodies


class BodyCoordinates(Equations):
    """Equations of motion in the coordinates of all bodies, which serve in every position."""

    traced: Bodies

    def __init__(
        self, model: Model, applied: Mapping[str, Applied], laws: Mapping[str, Law], method: str,
        begin: Trajectory,
    ) -> None:  # fmt: skip
        super().__init__(model, applied, laws, method)
        traced = self.traced
        self.size, self.planar, self.n = traced.frames.size, traced.planar, traced.twists
        #: Constraints, and rows that determine further unknowns.
        group = traced.group
        self.more = np.array([*group.further, *range(len(group.source), traced.m)], dtype=np.int64)
        self.own = np.setdiff1d(np.arange(traced.m), self.more)
        self.unit = traced.unit[: self.n]
        at = configuration_at(begin.position[0], begin.orientation[0])
        further = traced.unknowns_at(Setting.at(model.structure, model.frames, at))
        x = np.concatenate([traced.posed(begin.position[0], begin.orientation[0]), further])
        assert begin.velocity is not None
        v = np.concatenate([begin.velocity[0, 1:].ravel(), np.zeros(traced.w - self.n)])
        self.t = float(begin.time[0])
        y = np.concatenate([x, v, [0.0]])
        off = self.at(self.t, y).residual
        self.turns[self.own] = np.where(np.abs(off) > TURNED, off, 0.0) / traced.scale[self.own]
        first = self.at(self.t, y)
        self.start = np.concatenate([first.x, first.v, [0.0]])

    @abstractmethod
    def solved(self, at: Instant) -> tuple[Floats, float, Floats]:
        """Accelerations (n,), power of loads and laws, W, and multipliers (E,), in a state."""

    def at(self, t: float, y: Floats) -> Instant:
        """The equations in a state."""
        traced, n, own, more = self.traced, self.n, self.own, self.more
        x, v = y[: traced.n].copy(), y[traced.n : -1].copy()
        if not self.planar:
            q = x[: traced.poses].reshape(-1, 7)[:, 3:]
            q /= np.linalg.norm(q, axis=1, keepdims=True)
        law = [float(x[0]) for law in self.laws.values() for x in law(np.array([t]))]
        applied = [f(t) if callable(f) else f for f in self.applied.values()]
        given = {"law": law, "t": [t], "applied": applied, "a": [0.0] * traced.w}
        for _ in range(STEPS):
            moving = given | {"x": x.tolist(), "v": v.tolist()}
            residual, J, rate, moved, bias, M, f, power = traced.motion(moving, self.turns)
            inverse = np.linalg.inv(J[more, n:])
            step = inverse @ np.stack([residual[more], rate[more]], axis=1)
            if (np.abs(step) <= SMALL * (1.0 + np.abs(v).max(initial=0.0))).all():
                break
            x[traced.poses :] -= step[:, 0]
            v[n:] -= step[:, 1]
        share = J[own, n:] @ inverse
        force = f[:n] - (inverse @ J[more, :n]).T @ f[n:]

        def reduced(rows: Floats) -> Floats:
            found: Floats = rows[own] - share @ rows[more]
            return found

        def further(second: Floats) -> Floats:
            found: Floats = -inverse @ (bias[more] + J[more, :n] @ second)
            return found

        return Instant(
            t, x, v, reduced(residual), reduced(J[:, :n]), reduced(rate), reduced(bias), -reduced(moved),
            M, force, power, further,
        )  # fmt: skip

    def rates(self, x: Floats, v: Floats) -> Floats:
        """Rates of poses and further unknowns, by twists and their rates."""
        if self.planar:
            return v
        twists = v[: self.n].reshape(-1, 6)
        turned = turning(x[: self.traced.poses].reshape(-1, 7)[:, 3:].T, twists[:, 3:].T)
        poses = np.column_stack([twists[:, :3], *turned])
        return np.concatenate([poses.ravel(), v[self.n :]])

    def rate(self, t: float, y: Floats) -> Floats:
        if not np.isfinite(y).all():
            return np.full(len(y), np.nan)
        at = self.at(t, y)
        second, power, _ = self.solved(at)
        return np.concatenate([self.rates(at.x, at.v), second, at.further(second), [power]])

    def sample(self, t: float, y: Floats) -> Floats:
        # The power is not watched, and no pivot is small.
        at = self.at(t, y)
        second, *_ = self.solved(at)
        return np.concatenate([at.x, at.v, second, at.further(second), [y[-1], np.nan, 1.0]])

    def weakest(self, t: float, sample: Floats) -> str:
        return self.traced.group_names[0]
