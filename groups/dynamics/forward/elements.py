"""Linear force elements as tables for the kernels; all others go through :mod:`groups.dynamics.forces`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from groups.dynamics.forces.at import Solved
from groups.dynamics.state import State
from groups.kernels import elements as kernels
from groups.kernels.constraint_tables import encode_rows
from groups.kernels.jets import SIZE, WORK
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.compiled import chosen
from mbssa.joints.axes import in_space
from mbssa.joints.catalogue import is_length
from mbssa.joints.frames import Frames
from mbssa.loads import Force

#: Largest rotation in a step, rad, less than half a turn, so that turns are counted correctly.
FARTHEST = 1.5


def is_linear(force: Force) -> bool:
    """True for springs and coordinate forces with stiffness, damping, rest and a constant force alone."""
    if force.type not in ("spring", "coordinate") or not isinstance(force.force, float | int | None):
        return False
    plain = Force(
        force.type, force.id, force.bodies, coordinate=force.coordinate, points=force.points,
        stiffness=force.stiffness, damping=force.damping, rest=force.rest, force=force.force,
    )  # fmt: skip
    return plain == force


class Linear:
    """Elements for which ``is_linear`` holds, and forces by number along the ``applied`` coordinates."""

    def __init__(
        self, mechanism: Mechanism, frames: Frames, forces: Sequence[Force], applied: Sequence[str],
        still: State, compiled: bool,
    ) -> None:  # fmt: skip
        n = mechanism.n_bodies
        springs = [force for force in forces if force.points is not None]
        along = [(force.coordinate, force) for force in forces if force.coordinate is not None]
        self._stage = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 6)), np.zeros(n)
        self._springs = _springs(springs, frames) if springs else None
        names = [*(name for name, _ in along), *applied]
        self._coordinates = None
        if names:
            laws = np.zeros((len(names), 4))
            for c, (name, force) in enumerate(along):
                rest = force.rest
                if rest is None:
                    rest = Solved(still).at_reference(name) if force.stiffness else 0.0
                laws[c] = _law(force, rest)
            self._coordinates = _coordinates(mechanism, frames, names, laws, still)
        self._given = len(along)
        planar = mechanism.space == "planar"
        self._set = chosen(kernels.stage_planar if planar else kernels.stage_spatial, ask=compiled)
        self._pull, self._push = chosen(kernels.pull, ask=compiled), chosen(kernels.push, ask=compiled)

    @property
    def longest_step(self) -> float:
        """s in which angles with a stiffness turn by :data:`FARTHEST` at their last rates."""
        if self._coordinates is None:
            return math.inf
        counted = self._coordinates[4] & (self._coordinates[2][:, 0] != 0.0)
        fastest = float(np.abs(self._coordinates[5][counted, 1]).max(initial=0.0))
        return FARTHEST / fastest if fastest > 0.0 else math.inf

    def at(
        self, position: Floats, orientation: Floats, velocity: Floats, given: Mapping[str, float],
        loads: Floats,
    ) -> None:  # fmt: skip
        """Add all of them to ``loads`` (N, 6); ``given`` are the further forces by their names."""
        self._set(position, orientation, velocity, self._stage)
        if self._springs is not None:
            self._pull(self._stage, self._springs, loads)
        if self._coordinates is not None:
            for row, value in enumerate(given.values(), start=self._given):
                self._coordinates[2][row, 3] = value
            self._push(self._stage, self._coordinates, loads)


def _springs(forces: Sequence[Force], frames: Frames) -> kernels.Springs:
    body = np.array([force.bodies for force in forces], dtype=np.int64)
    point, law = np.zeros((len(forces), 2, 3)), np.zeros((len(forces), 4))
    for k, force in enumerate(forces):
        ends = [in_space(np.array(end)) for end in force.points or ()]
        for side, end in enumerate(ends):
            b = force.bodies[side]
            point[k, side] = frames.rotation[b].T @ (end - frames.position[b])
        rest = float(np.linalg.norm(ends[1] - ends[0])) if force.rest is None else force.rest
        law[k] = _law(force, rest)
    return body, point, law


def _law(force: Force, rest: float) -> tuple[float, float, float, float]:
    """Stiffness, damping, rest and constant force of a linear element along a line or a coordinate."""
    constant = force.force or 0.0
    assert not isinstance(constant, tuple)
    return force.stiffness, force.damping, rest, constant


def _coordinates(
    mechanism: Mechanism, frames: Frames, names: Sequence[str], laws: Floats, still: State
) -> kernels.Coordinates:
    places = [mechanism.place_of(name) for name in names]
    distinct = {key: row for row, key in enumerate(dict.fromkeys(places))}
    rows = encode_rows(
        mechanism, frames, sorted({joint for joint, _ in distinct}), range(mechanism.n_bodies), distinct
    )
    equation = {int(row): e for e, row in enumerate(rows.drive) if row >= 0}
    chosen_rows = [equation[distinct[place]] for place in places]
    terms = np.array([[rows.first_term[e], rows.first_term[e + 1]] for e in chosen_rows], dtype=np.int64)
    last = np.array([[Solved(still).at_reference(name), 0.0] for name in names])
    return (
        rows.kernel_rows, terms, laws, rows.constant[chosen_rows].copy(),
        np.array([not is_length(name) for name in names]), last, np.zeros((WORK, SIZE)),
        np.zeros((len(rows.code), SIZE)),
    )  # fmt: skip
