"""Limits of joint coordinates at one configuration: distances outside, and places inside to start from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mbssa.arrays import Bools, Floats
from mbssa.joints.axes import whole_turns
from mbssa.joints.catalogue import coordinate_unit, is_length, type_of_joint
from mbssa.joints.poses import Poses
from mbssa.joints.system import Rows, coordinates_at
from mbssa.units import quantity_text

if TYPE_CHECKING:
    from mbssa.joints.frames import Frames
    from mbssa.mechanism import Mechanism

#: Distance outside, rad or a length over the mechanism's size, that is rounding.
ROUNDING = 1e-6

#: Unknowns times targets: of large mechanisms few are tried.
_EFFORT, _MOST, _FEWEST = 1_000, 24, 4


@dataclass(frozen=True, eq=False)
class Limits:
    """Coordinates that have limits."""

    mechanism: Mechanism
    frames: Frames
    places: tuple[tuple[int, int], ...]  # joint and coordinate
    names: tuple[str, ...]  # of the coordinates
    lengths: Bools  # (n,) whether they are in m
    low: Floats  # (n,) m or rad
    high: Floats

    @classmethod
    def of(cls, mechanism: Mechanism, frames: Frames) -> Limits:
        """The limits of coordinates that follow from the poses of two bodies."""
        places, names, ends = [], [], []
        for joint, geometry in sorted(mechanism.joint_geometry.items()):
            kind = type_of_joint(mechanism, joint)
            for name, pair in geometry.limits.items():
                if kind.pair is not None and frames.known[joint] and name in kind.drivable:
                    places.append((joint, kind.coordinates.index(name)))
                    names.append(name)
                    ends.append(pair)
        low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
        lengths = np.array([is_length(name) for name in names], dtype=bool)
        return cls(mechanism, frames, tuple(places), tuple(names), lengths, low, high)

    def values(self, at: Poses) -> Floats:
        """Coordinates (n,), m or rad, angles in the turn that is nearest to their limits."""
        mechanism, frames = self.mechanism, self.frames
        found = np.array([coordinates_at(mechanism, frames, at, [joint])[0, k] for joint, k in self.places])
        return found + np.where(self.lengths, 0.0, whole_turns(0.5 * (self.low + self.high) - found))

    def outside(self, at: Poses) -> Floats:
        """Distances (n,) outside, rad or lengths over the mechanism's size; zero inside."""
        value = self.values(at)
        beyond = np.maximum(np.maximum(self.low - value, value - self.high), 0.0)
        beyond /= np.where(self.lengths, self.frames.size, 1.0)
        return np.where(beyond > ROUNDING, beyond, 0.0)

    def led(self) -> Mechanism:
        """The mechanism with these coordinates driven beside its own."""
        driven = self.mechanism.driven.copy()
        for joint, k in self.places:
            driven[joint] |= 1 << k
        return replace(self.mechanism, driven=driven)

    def targets(self) -> Iterator[Floats]:
        """Values (n,) inside: the middle, then others at random, the same every time."""
        dice = np.random.default_rng(17)
        yield 0.5 * (self.low + self.high)
        for _ in range(max(_FEWEST, min(_MOST, _EFFORT // (6 * self.mechanism.n_bodies)))):
            yield self.low + dice.uniform(0.0, 1.0, len(self.low)) * (self.high - self.low)

    def aimed(self, rows: Rows, target: Floats) -> Rows:
        """Rows of :meth:`led` whose residuals are the values to be reached, lengths over the size."""
        residual, sized = rows.residual.copy(), target / np.where(self.lengths, self.frames.size, 1.0)
        coordinates = np.array(rows.name)
        for (joint, k), name, aim in zip(self.places, self.names, sized.tolist(), strict=True):
            if self.mechanism.driven[joint] >> k & 1 == 0:
                residual[rows.drive & (rows.joint == joint) & (coordinates == name)] = aim
        return replace(rows, residual=residual)

    def said(self, at: Poses) -> str:
        """The coordinates that are outside at a configuration, with their values."""
        ids, units, value = self.mechanism.joint_ids, self.mechanism.units, self.values(at).tolist()
        return ", ".join(
            f"{ids[self.places[n][0]]}.{self.names[n]} = "
            + quantity_text(value[n], coordinate_unit(self.names[n]), units, ".4g")
            for n in np.flatnonzero(self.outside(at)).tolist()
        )
