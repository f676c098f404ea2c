"""Loads of the joints of a solution: about their points, in their axes, at chosen parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groups.dynamics.block import JointLoads
from groups.dynamics.state import State
from groups.joint_jacobian import JointRows, joint_rows
from mbssa.arrays import Bools, Floats

#: Share of a self-stress below which a component does not take part in it, of exact geometry.
OPEN = 1e-7


@dataclass(eq=False)
class Joint:
    """Loads of one joint of a solution, evaluated when they are read."""

    state: State
    index: int
    loads: JointLoads
    chosen: Floats | None = None  # (P - 1, T) values of the parameters; None: zero
    largest: float = 0.0  # N m, of any self-stress, forces times the size
    rounding: float = OPEN  # share of it below which a component does not take part
    unknown: bool | None = None  # whether no component is known, or all are; None: those without self-stress

    @cached_property
    def columns(self) -> Floats:
        """Wrenches (S, 6, P, T) of the constraints on its bodies about its point, N and N m, world axes."""
        state, (_, loads, driving) = self.state, self.loads
        place, size = self.frame[0].T, state.frames.size
        if len(driving):
            loads = loads - np.einsum("sadt,dpt->sapt", self._driven.loads, driving)
        found = np.stack([state.about(place, each, -1.0) for each in loads])
        found[:, :3] /= size
        return found

    def seen(self, local: bool = False) -> tuple[Floats, Bools]:
        """Wrenches (S, 6, T) in world axes, or in those of :attr:`frame`; components (S, 6) left open."""
        columns, size = self.columns, np.array([self.state.frames.size] * 3 + [1.0] * 3)[:, None, None]
        if local:
            parts = columns.reshape(len(columns), 2, 3, -1, columns.shape[-1])
            columns = np.einsum("tab,skapt->skbpt", self.frame[1], parts).reshape(columns.shape)
        if self.unknown is None:
            return self.value(columns), self.takes_part(columns * size)
        return self.value(columns), np.full(columns.shape[:2], self.unknown)

    @cached_property
    def frame(self) -> tuple[Floats, Floats]:
        """Point (T, 3) m, the origin of the joint's frame on the second body; axes (T, 3, 3) of the first."""
        state, frames, j = self.state, self.state.frames, self.index
        first, second = state.mechanism.joint_bodies(j)[:2]
        turned = np.einsum("tab,b->ta", state.rotation[second], frames.origin[j, 1])
        axes = np.einsum("tab,bc->tac", state.rotation[first], frames.axes[j, 0], order="F")
        return state.position[second] + turned, axes

    def value(self, columns: Floats) -> Floats:
        """Values (…, T) of columns (…, P, T) at the chosen parameters."""
        extra, found = columns.shape[-2] - 1, columns[..., 0, :]
        if extra and self.chosen is not None:
            found = found + (columns[..., 1:, :] * self.chosen[:extra]).sum(axis=-2)
        return found

    def takes_part(self, columns: Floats) -> Bools:
        """Components (…) of columns (…, P, T), N m, that depend on parameters at any instant."""
        if columns.shape[-2] == 1 or self.largest == 0.0:
            return np.zeros(columns.shape[:-2], dtype=bool)
        with np.errstate(invalid="ignore"):
            most: Floats = np.nanmax(np.abs(columns[..., 1:, :]), axis=(-2, -1), initial=0.0)
        return np.asarray(most > self.rounding * self.largest)

    @cached_property
    def _driven(self) -> JointRows:
        """Loads of its driven coordinates alone."""
        rows = joint_rows(self.state, self.index, self.state.mechanism.joints[self.index].driven)
        return rows._replace(loads=rows.loads[:, :, rows.constraints :])

    @cached_property
    def rates(self) -> Floats:
        """Rates (D, T) of its driven coordinates, m/s over the size, or rad/s."""
        motion = np.array([self.state.motion(body) for body in self.loads.bodies])
        found: Floats = np.einsum("sadt,sat->dt", self._driven.loads, motion)
        return found

    @cached_property
    def multipliers(self) -> dict[str, Floats]:
        """Multipliers (T,) of its constraints by name, N; NaN where they are not determined."""
        rows, size, place = joint_rows(self.state, self.index), self.state.frames.size, self.frame[0].T
        wrench, unknown = (of[1] for of in self.seen())
        wrench = np.where(unknown[:, None], np.nan, wrench)
        wrench[:3] *= size
        load, loads = self.state.about(place, wrench), rows.loads[1]
        known = np.isfinite(loads).all(axis=(0, 1)) & np.isfinite(load).all(axis=0)
        found = np.full(loads.shape[1:], np.nan)
        inverse = np.linalg.pinv(np.moveaxis(loads[..., known], -1, 0))
        found[:, known] = np.einsum("tma,at->mt", inverse, load[:, known]) / size
        return dict(zip(rows.names, found, strict=True))
