"""Method ``groups``: independent coordinates, bodies placed by the solvers of the structural groups."""

# Positions and velocities follow from the independent coordinates at every evaluation, so that no constraint
# drifts. The velocity transformation R and the bias accelerations are those of the group solvers.

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from groups.building import build
from groups.dynamics.forward.choice import better, rate_of, structure_of
from groups.dynamics.forward.equations import CannotGoOnError, Equations, Instant
from groups.dynamics.forward.events import trajectory_of
from groups.dynamics.forward.inertia import Inertia
from groups.dynamics.forward.loads import Loads
from groups.dynamics.forward.velocity_transformation import VelocityTransformation
from groups.motion import Law
from groups.posed import configuration_at, inputs_at
from groups.trajectory import STATUS, Trajectory
from mbssa.arrays import Floats, Ints
from mbssa.input_search.query import driven_by
from mbssa.joints.catalogue import is_length

if TYPE_CHECKING:
    from groups.model import Model


#: Velocity of a body (over the size) or angular velocity, for a unit rate of a coordinate, from which
#: the choice of coordinates is examined.
LARGE = 10.0

#: Reciprocal condition number of a group below which the cut tree takes over, and above which groups do
#: again.
SINGULAR, REGULAR = 2e-3, 1e-2


#: Equations that continue from a time, a trajectory of one instant, and the work done before.
Continuation = Callable[[float, "Trajectory", float], Equations]


class Minimal:
    """Equations of motion in the driven coordinates without ``laws``, in the mode of the reference."""

    def __init__(
        self, model: Model, loads: Loads, value: Floats, rate: Floats, laws: Mapping[str, Law],
        compiled: bool, t: float = 0.0, work: float = 0.0,
    ) -> None:  # fmt: skip
        self.model, self.loads, self.laws, self.compiled = model, loads, dict(laws), compiled
        self.mechanism = model.mechanism
        names = self.mechanism.driven_coordinates
        self.names, self.evaluations = names, 0
        self.notes: list[str] = []
        self._refused: set[tuple[str, ...]] = set()
        self.free = np.array([k for k, name in enumerate(names) if name not in laws], dtype=np.int64)
        self.prescribed = np.array([k for k, name in enumerate(names) if name in laws], dtype=np.int64)
        self.coordinates = tuple(names[k] for k in self.free.tolist())
        self.unit = np.array([model.frames.size if is_length(name) else 1.0 for name in names])
        self.start = np.concatenate([value[self.free], rate[self.free], [work]])
        self._value, self._rate = value.copy(), rate.copy()
        self._kinematics = VelocityTransformation(model, compiled)
        self._inertia = Inertia(loads.table, self.mechanism.n_bodies, loads.planar)
        self._second, self._power = np.zeros(len(self.prescribed)), 0.0
        #: Equations by which the motion passes a position at which a group is singular.
        self.past_singularity: Continuation | None = None
        if self.place(t, self.start):
            self._kinematics.accept()

    def rate(self, t: float, y: Floats) -> Floats:
        F = len(self.free)
        solved = self._accelerations(t, y) if math.isfinite(y.dot(y)) else None
        if solved is None:
            return np.full(len(y), np.nan)
        return np.concatenate([y[F : 2 * F], solved[self.free], [self._power]])

    def settle(self, t: float, y: Floats) -> None:
        """Keep the branch of an accepted step; no constraint drifts."""
        if not self.place(t, y):
            raise CannotGoOnError(f"t = {t:.9g} s: {self.why()}")
        self._kinematics.accept()

    def instant(self, t: float, y: Floats) -> Instant:
        second = self._accelerations(t, y)
        if second is None:
            raise CannotGoOnError(self.why())
        return self.accelerated(second)

    def accelerated(self, second: Floats) -> Instant:
        """All bodies at the state of the last evaluation, with these second rates (D,)."""
        acceleration = self.bias + self._kinematics.velocity[..., 1:] @ second
        position, orientation, velocity = (array.copy() for array in self.pose)
        return Instant(position, orientation, velocity, acceleration, self.condition)

    def renewed(self, t: float, y: Floats) -> Equations | None:
        """See :class:`Equations`; called after :meth:`settle`, which places the bodies."""
        if self.past_singularity is not None and self.condition < SINGULAR:
            following = self._passing(t, float(y[-1]))
            if following is not None:
                return following
        transformation = self.transformation * self.unit[None, :, None]
        linear, size = 2 if self.loads.planar else 3, self.model.frames.size
        largest = max(
            np.abs(transformation[:, self.free, :linear]).max(initial=0.0) / size,
            np.abs(transformation[:, self.free, linear:]).max(initial=0.0),
        )
        if largest < LARGE:
            return None
        chosen = better(self.trajectory(), size, self.free, self.unit, tuple(self.laws))
        if chosen is None or set(chosen) == set(self.names) or chosen in self._refused:
            return None
        try:
            return self._driven_by(chosen, float(y[-1]))
        except ValueError as error:
            self._refused.add(chosen)
            self.notes.append(f"t = {t:.6g} s: {', '.join(chosen)} would be better coordinates, but {error}")
            return None

    def _passing(self, t: float, work: float) -> Equations | None:
        """Equations that pass the singular position ahead; None where there are none."""
        assert self.past_singularity is not None
        group = self.model.group_names[int(self._kinematics.conditions.argmin())]
        near = f"t = {t:.6g} s: {group} is near a singular position"
        try:
            following = self.past_singularity(t, self.trajectory().instants(slice(0, 1)), work)
        except ValueError as error:
            self.past_singularity = None
            self.notes.append(f"{near}, which no cut tree can pass: {error}")
            return None
        self.notes.append(f"{near}, passed in relative coordinates of a cut tree")
        return following

    def _driven_by(self, names: tuple[str, ...], work: float) -> Minimal:
        """The same motion in other coordinates; a ValueError where their groups cannot be solved."""
        model = build(structure_of(driven_by(self.mechanism, names)))
        now = self.trajectory().instants(slice(0, 1))
        made = Minimal.at(model, self.loads, now, self.laws, self.compiled, work)
        made.past_singularity = self.past_singularity
        return made

    @classmethod
    def at(
        cls, model: Model, loads: Loads, trajectory: Trajectory, laws: Mapping[str, Law], compiled: bool,
        work: float = 0.0,
    ) -> Minimal:  # fmt: skip
        """Equations of motion from the pose and the rates of a trajectory of one instant on."""
        pose = configuration_at(model, trajectory.position[0], trajectory.orientation[0])
        reference = np.array(list(model.reference_inputs.values()))
        value = inputs_at(model, pose, reference, model.reference)
        rate = np.array([rate_of(trajectory, name) for name in model.mechanism.driven_coordinates])
        model, t = replace(model, reference=pose, inputs=value), float(trajectory.time[0])
        return cls(model, loads, value, rate, laws, compiled, t, work)

    @property
    def condition(self) -> float:
        """Smallest reciprocal condition number of a group, of the last evaluation."""
        return float(self._kinematics.conditions.min(initial=1.0))

    @property
    def transformation(self) -> Floats:
        """Velocities (N, D, 3 or 6) of all bodies for unit rates, of the last evaluation."""
        return self._kinematics.velocity[..., 1:].swapaxes(1, 2)

    @property
    def bias(self) -> Floats:
        """Accelerations (N, 3 or 6) of all bodies at zero second rates, of the last evaluation."""
        return self._kinematics.acceleration[..., 0]

    @property
    def pose(self) -> tuple[Floats, Floats, Floats]:
        """Position, orientation and velocity of all bodies, of the last evaluation."""
        bodies = self._kinematics
        return bodies.position[..., 0], bodies.orientation[..., 0], bodies.velocity[..., 0]

    def trajectory(self) -> Trajectory:
        """The 1 + D instants of the last evaluation: the true rates, then unit rates."""
        b, time = self._kinematics, self._t + 1e-9 * np.arange(1.0 + len(self.names))
        arrays = (np.moveaxis(a, -1, 0) for a in (b.position, b.orientation, b.velocity, b.acceleration))
        instants = [Instant(x, q, v, a, self.condition) for x, q, v, a in zip(*arrays, strict=True)]
        return trajectory_of(self.mechanism, time, instants)

    def place(self, t: float, y: Floats) -> bool:
        """Solve all groups in a state; False where one has no solution."""
        F, self._t = len(self.free), t
        self._value[self.free], self._rate[self.free] = y[:F], y[F : 2 * F]
        for row, k in enumerate(self.prescribed.tolist()):
            value, rate, second = self.laws[self.names[k]](np.array([t]))
            self._value[k], self._rate[k], self._second[row] = value[0], rate[0], second[0]
        return self._kinematics.to(self._value, self._rate)

    def _accelerations(self, t: float, y: Floats) -> Floats | None:
        """Second rates (D,); None where a group has no solution."""
        self.evaluations += 1
        if not self.place(t, y):
            return None
        M, f = self._balance(t)
        try:
            found = second_rates(M, f, self.free, self.prescribed, self._second)
        except np.linalg.LinAlgError:
            raise CannotGoOnError(massless_text(M[self.free, self.free], self.coordinates)) from None
        if found is None:
            return None
        self._power = float(np.vdot(self._loads, self._kinematics.velocity[..., 0]))
        if len(self.prescribed):
            driving = M[self.prescribed] @ found - f[self.prescribed]
            self._power += float(driving @ self._rate[self.prescribed])
        return found

    def balance(self, t: float, y: Floats) -> tuple[Floats, Floats]:
        """Mass matrix (D, D) and generalised forces (D,) of all driven coordinates in a state."""
        if not self.place(t, y):
            raise CannotGoOnError(self.why())
        return self._balance(t)

    def _balance(self, t: float) -> tuple[Floats, Floats]:
        self._loads = self.loads.at(t, *self.pose)
        return self._inertia.reduced(self.pose[1], self._kinematics.velocity, self.bias, self._loads)

    def why(self) -> str:
        """Groups without a solution; where all have one, the fault of the forces."""
        failed = np.flatnonzero(self._kinematics.failed)
        if not len(failed):
            return "forces or accelerations are not finite; see whether points of a spring coincide"
        return "; ".join(
            f"{self.model.group_names[g]}: {STATUS[int(self._kinematics.failed[g])]}"
            for g in failed[:3].tolist()
        )


def second_rates(M: Floats, f: Floats, free: Ints, prescribed: Ints, given: Floats) -> Floats | None:
    """Second rates (D,) of all coordinates, those ``prescribed`` as ``given``; None where not finite."""
    found = np.empty(len(f))
    if len(f) == 1 and len(free):
        if M[0, 0] <= 0.0:
            raise np.linalg.LinAlgError
        found[0] = f[0] / M[0, 0]
        return found if math.isfinite(found[0]) else None
    found[prescribed] = given
    right = f[free] - M[np.ix_(free, prescribed)] @ given if len(prescribed) else f
    found[free] = np.linalg.solve(M[np.ix_(free, free)] if len(prescribed) else M, right)
    return found if np.isfinite(found).all() else None


def massless_text(diagonal: Floats, names: Sequence[str]) -> str:
    """Message on the coordinates with which no mass moves, of a mass matrix with this diagonal."""
    weak = [name for name, entry in zip(names, diagonal, strict=True) if not entry > 0.0]
    return (
        f"no body with mass moves with {', '.join(weak or names)}; give bodies an inertia = {{ mass = …, … }}"
    )
