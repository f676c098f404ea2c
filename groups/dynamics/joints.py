"""Loads of the joints of a solution: about their points, in their axes, at chosen parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groups.dynamics.inverse import Solution, solve_backwards
from groups.dynamics.masses import Wrench, bodies_with_mass, inertia_times
from groups.joint_jacobian import joint_rows
from groups.setting import locked_rotations
from mbssa.arrays import Bools, Floats
from mbssa.graph.frames import cross, dot, plus

if TYPE_CHECKING:
    from mbssa import Structure

#: Moment of inertia about a line, over that about the body's origin, below which there is none.
_SLENDER = 1e-12


@dataclass(frozen=True, eq=False)
class Joint:
    """Loads of one joint of a solution, evaluated when they are read."""

    solution: Solution
    index: int
    unknown: bool = False  # no component is known

    @property
    def bodies(self) -> tuple[int, ...]:
        return self.solution.joints[self.index].bodies

    @cached_property
    def columns(self) -> Floats:
        """Wrenches (S, 6, P, T) of the constraints on its bodies about its point, N and N m, world axes."""
        state, (_, loads, driving) = self.solution.state, self.solution.joints[self.index]
        if len(driving):
            loads = loads - np.einsum("sadt,dpt->sapt", self._driven, driving)
        place = self.frame[0].T
        return np.stack([state.about(place, each, -1.0) for each in loads]) / state.scale[:, None]

    def seen(self, local: bool = False) -> tuple[Floats, Bools]:
        """Wrenches (S, 6, T) in world axes, or of :attr:`frame`, NaN where unknown; open parts (S, 6)."""
        columns, of = self.columns, self.solution
        if local:
            parts = columns.reshape(len(columns), 2, 3, -1, columns.shape[-1])
            columns = np.einsum("tab,skapt->skbpt", self.frame[1], parts).reshape(columns.shape)
        is_open = of.is_open(columns * of.state.scale[:, None])
        return np.where((is_open | self.unknown)[..., None], np.nan, of.value(columns)), is_open

    @cached_property
    def frame(self) -> tuple[Floats, Floats]:
        """Point (T, 3) m, the origin of the joint's frame on the second body; axes (T, 3, 3) of the first."""
        state, frames, j = self.solution.state, self.solution.state.frames, self.index
        first, second = state.mechanism.joint_bodies(j)[:2]
        turned = np.einsum("tab,b->ta", state.rotation[second], frames.origin[j, 1])
        axes = np.einsum("tab,bc->tac", state.rotation[first], frames.axes[j, 0], order="F")
        return state.position[second] + turned, axes

    @cached_property
    def _driven(self) -> Floats:
        """Loads (S, 6, D, T) of its driven coordinates alone."""
        state, driven = self.solution.state, self.solution.state.mechanism.joints[self.index].driven
        loads = joint_rows(state, self.index, driven)[1]
        return loads[:, :, loads.shape[2] - len(driven) :]

    @property
    def rates(self) -> Floats:
        """Rates (D, T) of its driven coordinates, m/s over the size, or rad/s."""
        motion = np.array([self.solution.state.motion(body) for body in self.bodies])
        return np.asarray(np.einsum("sadt,sat->dt", self._driven, motion))

    @property
    def multipliers(self) -> Floats:
        """Multipliers (e, T) of its constraints, N; NaN where they are not determined."""
        state, loads = self.solution.state, joint_rows(self.solution.state, self.index)[1][1]
        load = state.about(self.frame[0].T, self.seen()[0][1] * state.scale)
        known = np.isfinite(loads).all(axis=(0, 1)) & np.isfinite(load).all(axis=0)
        found = np.full(loads.shape[1:], np.nan)
        inverse = np.linalg.pinv(np.moveaxis(loads[..., known], -1, 0))
        found[:, known] = np.einsum("tma,at->mt", inverse, load[:, known]) / state.frames.size
        return found


def effect_of_locks(solution: Solution, structure: Structure) -> Floats:
    """Largest change (T,) of a joint's loads, over the largest in the motion, if the bodies turned freely."""
    # Free, the bodies of a passive rotation would take the angular acceleration -M / I about their line more:
    # M is the lock's moment about the line, I their moment of inertia. The loads of this acceleration, less
    # the moment of the lock, change the reactions of all joints.
    state, changes = solution.state, list[Wrench]()
    if not solution.locks:
        return np.zeros(state.instants)
    frames = state.frames
    for spin in locked_rotations(structure, frames):
        frame = state.frame(spin.body)
        line = np.array(frame.along(frames.rotation[spin.body].T @ spin.direction))
        place = np.array(plus(frame.place, frame.along(frames.on_body(spin.body, tuple(spin.point)))))
        whole, parts = 0.0, list[Wrench]()  # what an angular acceleration of 1 rad/s² takes
        for body, mass, centre, moment in bodies_with_mass(state.mechanism, frames):
            if body in spin.bodies:
                near = state.frame(body)
                at = np.array(plus(near.place, near.along(centre)))
                force = mass * np.array(cross(line, at - place))
                parts.append(Wrench(body, at, force, np.array(inertia_times(near, moment, line))))
                whole += np.trace(moment) + mass * frames.size**2
        inertia = sum((dot(line, of.about(place)[3:]) for of in parts), np.zeros(state.instants))
        lock = solution.locks[spin.body].loads[1, 3:, 0]
        about, heavy = dot(lock, line), inertia > _SLENDER * whole
        faster = np.divide(about, inertia, out=np.zeros_like(about), where=heavy)
        changes += [of._replace(force=faster * of.force, moment=faster * of.moment) for of in parts]
        changes.append(Wrench(spin.body, place, np.zeros_like(line), -lock))
    size = np.append([1.0] * 3, [frames.size] * 3)[:, None]

    def largest(of: Solution) -> Floats:
        wrenches = [Joint(of, j).columns[:, :, 0] / size for j in of.joints]
        found: Floats = np.max([np.abs(wrench).max(axis=(0, 1)) for wrench in wrenches], axis=0)
        return found

    change = largest(solve_backwards(state, changes, structure))
    most = np.nanmax(largest(solution), initial=0.0)
    return change / most if most > 0.0 else change
