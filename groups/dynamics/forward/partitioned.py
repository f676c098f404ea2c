"""Method ``partitioning``: independent and dependent relative coordinates of a cut tree."""

# v by Newton from h(q) = 0 of the cut joints, q = (u, v); v' = B u', v'' = B u'' + c, B = -J_v⁻¹ J_u, c =
# -J_v⁻¹ (J' q'). M q'' = f + Jᵀ λ is reduced by T = (1, B), for which Tᵀ Jᵀ = 0 (Wehage and Haug 1982,
# Generalized coordinate partitioning; Robotran does the same).

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import numpy as np

from groups.building import build
from groups.dynamics.forward.absolute import Constraints, Rows
from groups.dynamics.forward.cut_tree import cut_tree
from groups.dynamics.forward.equations import CannotGoOnError, Equations, Instant
from groups.dynamics.forward.loads import Loads
from groups.dynamics.forward.minimal import LARGE, Minimal, massless_text, second_rates
from groups.motion import Law
from groups.rotations import plane_rotation, rotation_of, twist_in_space
from mbssa import Structure, decompose
from mbssa.arrays import Floats
from mbssa.joints.axes import in_space
from mbssa.joints.catalogue import is_length

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa.joints.frames import Frames


#: Residual, over the size, from which loops need no further Newton step; of a closed loop; most steps.
CLOSED, GOOD, STEPS = 1e-12, 1e-9, 20

#: Share of the largest singular value below which constraints of loops depend on one another.
DEPENDENT = 1e-9


@dataclass(frozen=True, eq=False)
class _Solved:
    """One evaluation: second rates (D,) of the tree's coordinates, rates (D,), power of loads, condition."""

    second: Floats
    rate: Floats
    power: float
    condition: float


class Partitioned:
    """Equations of motion in the independent coordinates of a cut tree; prescribed ones have ``laws``."""

    # `regular` makes the equations to return to; it gives None where the position is not regular for them.

    def __init__(
        self, structure: Structure, frames: Frames, loads: Loads, laws: Mapping[str, Law],
        begin: Trajectory, compiled: bool, work: float = 0.0,
        regular: Callable[[float, Trajectory, float], Equations | None] | None = None,
    ) -> None:  # fmt: skip
        tree, cut = cut_tree(structure.mechanism)
        self.mechanism, self.loads, self.laws = structure.mechanism, loads, dict(laws)
        self.tree = Minimal.at(build(decompose(tree)), loads, begin, {}, compiled)
        self.loops = Constraints(structure, frames, {}, compiled, cut)
        self.names = tree.driven_coordinates
        self.unit = np.array([frames.size if is_length(name) else 1.0 for name in self.names])
        self.evaluations, self.notes = 0, list[str]()
        D = len(self.names)
        self._q, self._sound = self.tree.start[:D].copy(), self.tree.start[:D].copy()
        self._transfer = np.zeros((D, 0))
        self._divide([self.names.index(name) for name in self.mechanism.driven_coordinates])
        rate = self.tree.start[D : 2 * D]
        self.start = np.concatenate([self._q[self.free], rate[self.free], [work]])
        self._regular = regular

    def _divide(self, independent: list[int]) -> None:
        """Take these coordinates of the tree as u, those with a law after the free ones."""
        self.u = np.array(sorted(independent, key=lambda k: (self.names[k] in self.laws, k)), dtype=np.int64)
        self.v = np.setdiff1d(np.arange(len(self.names)), self.u)
        prescribed = np.array([self.names[k] in self.laws for k in self.u.tolist()], dtype=bool)
        self.free, self.prescribed = self.u[~prescribed], np.flatnonzero(prescribed)
        self.coordinates = tuple(self.names[k] for k in self.free.tolist())

    def rate(self, t: float, y: Floats) -> Floats:
        if not np.isfinite(y).all():
            return np.full(len(y), np.nan)
        try:
            found = self._solved(t, y)
        except CannotGoOnError:
            return np.full(len(y), np.nan)
        return np.concatenate([y[len(self.free) : -1], found.second[self.free], [found.power]])

    def settle(self, t: float, y: Floats) -> None:
        """Keep v of an accepted step as the next start; no constraint drifts, since v follows from u."""
        found = self._solved(t, y)
        self.tree.settle(t, np.concatenate([self._q, found.rate, [0.0]]))
        self._sound = self._q.copy()
        self.loops.turns()

    def instant(self, t: float, y: Floats) -> Instant:
        found = self._solved(t, y)
        made = self.tree.accelerated(found.second)
        return Instant(made.position, made.orientation, made.velocity, made.acceleration, found.condition)

    def renewed(self, t: float, y: Floats) -> Equations | None:
        """Another division of the same coordinates where rates of v grow; see :class:`Equations`."""
        if self._regular is not None:
            at = self.tree.trajectory().instants(slice(0, 1))
            found = self._regular(t, at, float(y[-1]))
            if found is not None:
                return found
        scaled = self._transfer[self.v] * self.unit[self.u] / self.unit[self.v, None]
        if np.abs(scaled).max(initial=0.0) < LARGE:
            return None
        fixed = self.u[self.prescribed]
        open_ = np.setdiff1d(np.arange(len(self.names)), fixed)
        pivots_of = resolve_name("groups.partitioning.pivoting:pivots_of")
        order = pivots_of((self._jacobian * self.unit)[None][:, :, open_], "complete").columns[0]
        other = sorted([*open_[order[len(self.v) :]].tolist(), *fixed.tolist()])
        if other == sorted(self.u.tolist()):
            return None
        following = copy(self)
        following.notes, following.evaluations = [], 0
        following._divide(other)
        following.start = np.concatenate([self._q[following.free], self._rate[following.free], y[-1:]])
        return following

    def _solved(self, t: float, y: Floats) -> _Solved:
        self.evaluations += 1
        F = len(self.free)
        u, rate = np.empty(len(self.u)), np.empty(len(self.u))
        u[:F], rate[:F] = y[:F], y[F : 2 * F]
        given = np.zeros(len(self.prescribed))
        for row, k in enumerate(self.prescribed.tolist()):
            value, first, second = self.laws[self.names[self.u[k]]](np.array([t]))
            u[k], rate[k], given[row] = value[0], first[0], second[0]
        self._close(t, u)
        dependent = self._transfer @ rate
        M, f = self.tree.balance(t, np.concatenate([self._q, dependent, [0.0]]))
        M, f = M.copy(), f.copy()
        curved = np.zeros(len(self.names))
        rows = self._rows(t)
        curved[self.v] = self._dependent(
            rows.bias + rows.jacobian @ self._flat(self.tree.bias[:, None])[:, 0]
        )
        T = self._transfer
        try:
            mass, force = T.T @ M @ T, T.T @ (f - M @ curved)
            independent = second_rates(mass, force, np.arange(F), self.prescribed, given)
        except np.linalg.LinAlgError:
            raise CannotGoOnError(massless_text(np.diag(mass)[:F], self.coordinates)) from None
        if independent is None:
            raise CannotGoOnError("forces or accelerations are not finite")
        power = float(np.vdot(self.loads.at(t, *self.tree.pose), self.tree.pose[2]))
        power += float((mass @ independent - force)[self.prescribed] @ rate[self.prescribed])
        self._rate = dependent
        return _Solved(T @ independent + curved, dependent, power, self._condition)

    def _close(self, t: float, u: Floats) -> None:
        """Find v by Newton from the last accepted one, and the transfer T of rates."""
        for start in (self._q, self._sound):
            q = start.copy()
            if self._transfer.shape[1]:
                q += self._transfer @ (u - q[self.u])
            q[self.u] = u
            if self._closed(t, q):
                return
        dependent = ", ".join(self.names[k] for k in self.v.tolist())
        raise CannotGoOnError(f"t = {t:.9g} s: {dependent} cannot close the loops")

    def _closed(self, t: float, q: Floats) -> bool:
        still = np.zeros(len(q) + 1)
        for _ in range(STEPS):
            if not np.isfinite(q).all() or not self.tree.place(t, np.concatenate([q, still])):
                return False
            rows = self._rows(t)
            self._jacobian = rows.jacobian @ self._flat(self.tree.transformation)
            self._factor()
            off = np.abs(rows.residual).max(initial=0.0)
            if off <= CLOSED:
                break
            step = self._dependent(rows.residual)
            q[self.v] += step
            if np.abs(step / self.unit[self.v]).max(initial=0.0) <= CLOSED and off <= GOOD:
                break
        else:
            if off > GOOD:
                return False
        self._q = q
        T = np.zeros((len(q), len(self.u)))
        T[self.u, np.arange(len(self.u))] = 1.0
        T[self.v] = self._dependent(self._jacobian[:, self.u])
        self._transfer = T
        return True

    def _factor(self) -> None:
        """Pseudoinverse of J_v, which allows redundant rows of loops; and its condition."""
        U, values, V = np.linalg.svd(self._jacobian[:, self.v] * self.unit[self.v], full_matrices=False)
        least, most = (values[-1], values[0]) if len(values) else (1.0, 1.0)
        self._condition = float(least / most) if most else 0.0
        if len(values) < len(self.v) or self._condition < DEPENDENT:
            names = ", ".join(self.names[k] for k in self.u.tolist())
            raise CannotGoOnError(f"{names} do not determine the other coordinates: the position is singular")
        self._inverse = self.unit[self.v, None] * (V.T / values) @ U.T

    def _dependent(self, right: Floats) -> Floats:
        """Solution x of J_v x = -right."""
        found: Floats = -self._inverse @ right
        return found

    def _rows(self, t: float) -> Rows:
        position, orientation, velocity = self.tree.pose
        rotation = plane_rotation(orientation) if self.loads.planar else rotation_of(orientation)
        angle = orientation if self.loads.planar else np.zeros(len(position))
        return self.loops.at(t, in_space(position), rotation, twist_in_space(velocity), angle)

    def _flat(self, velocities: Floats) -> Floats:
        """Twists (n, k) of the movable bodies one below the other, of velocities (N, k, 3 or 6)."""
        flat: Floats = velocities[1:].swapaxes(1, 2).reshape(-1, velocities.shape[1])
        return flat
