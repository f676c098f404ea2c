"""Placings of a group's bodies by the engine, where known bodies and inputs stand in a configuration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.assembly_modes.residuals import largest_residual
from groups.engine.forms import form_of
from groups.engine.numbers import Name
from groups.engine.rescue import System
from groups.engine.solve import plan_of
from groups.engine.struts import place_strut, squares_of
from mbssa.arrays import Floats, Ints
from mbssa.graph.frames import Frame, clean
from mbssa.joints.system import Configuration, coordinates_at

if TYPE_CHECKING:
    from groups.engine.kinematics import Group as Kinematics
    from groups.engine.plan import Part
    from groups.model import Model
    from groups.tree import Strut
    from mbssa import Group
    from mbssa.graph.nodes import Number

#: Poses (rad, or of the size) that differ by less are one, and the largest residual, over the size.
SAME, CLOSED = 1e-6, 1e-9
#: Residuals of redundant equations, over those of the reference, which rounded geometry leaves open.
ROUNDED = 100.0

#: Signs of a strut: of its slide, and of its turn about its own line.
Lean = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Placing:
    """One way to place the own bodies of a group."""

    bodies: Ints
    position: Floats
    rotation: Floats
    angle: Floats
    branch: tuple[int, ...]
    laid: tuple[int, ...]
    residual: float = 0.0


@dataclass(frozen=True, slots=True)
class Search:
    """Origin of a list of placings: a text, whether it is complete, and the number that it may lack."""

    text: str
    complete: bool
    missing: float = 0.0


#: The search of a closed form.
CLOSED_FORM = Search("a closed form gives all", complete=True)


class Stage:
    """A group with its known bodies in a configuration, at the inputs of the reference."""

    def __init__(self, model: Model, group: Group, at: Configuration | None = None) -> None:
        self.plan = plan_of(model)
        self.group, self.frames, self.size = group, model.frames, float(model.frames.size)
        self.at = self.plan.setting.reference if at is None else at
        self.part: Part = self.plan.parts[group.number - 1]
        self.inputs = self.plan.setting.inputs
        self.column = self._column()
        #: The group with every closed form that it has, also at a dead point.
        self.kinematics: Kinematics = copy(self.part.group)
        self.kinematics.form = form_of(self.kinematics)
        self.kinematics.direct = self.kinematics.form is not None
        self.counts_turns = bool(self.kinematics.planar and not self.kinematics.direct)
        self.turns = self.part.turns
        self.scale = np.where(self.turns, 1.0, self.size)
        self.tolerance = CLOSED * self.size
        if self.part.routine.redundant:
            there = self.plan.setting.reference
            one = replace(
                there, position=there.position[None], rotation=there.rotation[None], angle=there.angle[None]
            )
            left_open = largest_residual(group, self.frames, one, self.inputs)[0]
            self.tolerance = float(np.fmax(self.tolerance, ROUNDED * left_open))

    def _column(self) -> Floats:
        """The array's column with the known bodies in the configuration."""
        plan, at, uses = self.plan, self.at, self.part.group.uses
        column = plan.start.copy()
        if at is plan.setting.reference:
            return column
        for b in uses.bodies:
            column[plan.rows_of_body(b)] = plan.record.values(at.position[b], at.rotation[b], at.angle[b])
        mechanism = plan.mechanism
        for j, name in uses.solved:
            names = mechanism.joints[j].type.coordinates
            values = coordinates_at(mechanism, self.frames, at, [j])[0]
            column[plan.row_of(j, name)] = values[names.index(name)]
        return column

    def system(self, count: int) -> System:
        """Rows and Jacobian at so many positions."""
        return System(self.plan, self.part, np.repeat(self.column[:, None], count, axis=1))

    def poses(self, q: Sequence[Any], leans: Sequence[Lean], sign: float = 1.0) -> Poses:
        """Frames of the own bodies by unknowns, signs of the struts, and that of a closed form's root."""
        kinematics = self.kinematics
        kinematics.reach, kinematics.gimbal = [], []
        numbers = _Standing(self, q, sign, dict(zip(kinematics.struts, leans, strict=True)))
        bodies = kinematics.place(numbers)
        for strut in kinematics.struts:
            place_strut(kinematics, numbers, bodies, strut)
        return {b: bodies[b] for b in self.group.body_indices.tolist()}

    def tree(self, q: Sequence[Any], values: Mapping[Name, Any] | None = None) -> Mapping[int, Frame]:
        """Frames of the bodies of the tree, some of whose coordinates have these values."""
        return self.kinematics.placed(_Standing(self, q, 1.0, {}), values or {})

    def length_squared(self, strut: Strut) -> float:
        """Square of the length of a strut whose length is given."""
        numbers = _Standing(self, self.part.group.start, 1.0, self.kinematics.modes)
        bodies = self.kinematics.placed(numbers, {})
        return float(squares_of(self.kinematics, numbers, bodies, strut)[1])

    def placing(self, poses: Poses, k: int, branch: tuple[int, ...], leans: Sequence[Lean]) -> Placing:
        """Position k of some poses."""
        position = [[_entry(x, k) for x in frame.place] for frame in poses.values()]
        columns = [[[_entry(x, k) for x in axis] for axis in frame.axes] for frame in poses.values()]
        laid = tuple(int(sign) for lean in leans for sign in lean)
        rotation = np.array(columns).swapaxes(1, 2)
        angle = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
        counted = [_entry(frame.angle, k) for frame in poses.values()]
        near = counted if self.counts_turns else self.at.angle[self.group.body_indices]
        angle += 2 * np.pi * np.round((near - angle) / (2 * np.pi))
        return Placing(self.group.body_indices, np.array(position), rotation, angle, branch, laid)

    def with_residuals(self, found: Sequence[Placing]) -> list[Placing]:
        """Placings with the largest residual of any joint, by the catalogue's equations."""
        residuals = largest_residual(self.group, self.frames, placed_at(self.at, found), self.inputs).tolist()
        return [replace(p, residual=value) for p, value in zip(found, residuals, strict=True)]

    def by_signs(self) -> list[Placing]:
        """The placing of every sign of a closed form; of a leg alone of all of its signs."""
        kinematics, found = self.kinematics, list[Placing]()
        signs = (1.0, -1.0) if kinematics.form is not None else (1.0,)
        for sign in signs:
            for leans in self._leans():
                try:
                    poses = self.poses(self.part.group.start, leans, sign)
                except (ZeroDivisionError, ValueError):  # out of reach, or at a dead point
                    continue
                branch = (int(sign),) if len(signs) > 1 else ()
                placing = self.placing(poses, 0, branch, leans)
                if np.isfinite(placing.position).all() and not self._is_known(placing, found):
                    found.append(placing)
        return [p for p in self.with_residuals(found) if p.residual <= self.tolerance]

    def _leans(self) -> Iterator[tuple[Lean, ...]]:
        """Signs of the struts: as at the reference beside other bodies, all of a leg alone."""
        kinematics = self.kinematics
        at_reference = tuple(kinematics.modes[strut] for strut in kinematics.struts)
        if kinematics.links or not kinematics.struts:
            yield at_reference
            return
        (strut,) = kinematics.struts
        slides = (1.0, -1.0) if strut.slide >= 0 and not strut.slide_driven else (1.0,)
        yield from ((lean,) for lean in itertools.product(slides, (1.0, -1.0)))

    def _is_known(self, placing: Placing, found: Sequence[Placing]) -> bool:
        return any(same_place(placing, other, self.size) for other in found)


#: Frames by own body, on floats or arrays over positions.
Poses = dict[int, Frame]


class _Standing:
    """Numbers of a group by unknowns and signs, beside the known bodies of a stage."""

    def __init__(self, stage: Stage, q: Sequence[Any], sign: float, leans: Mapping[Strut, Lean]) -> None:
        self.stage, self.q, self.sign = stage, q, sign
        self.leans = {strut.bodies: lean for strut, lean in leans.items()}

    def unknown(self, k: int) -> Number:
        return self.q[k]

    def drive(self, row: int) -> Number:
        return float(self.stage.inputs[row])

    def solved(self, j: int, name: str) -> Number:
        return float(self.stage.column[self.stage.plan.row_of(j, name)])

    def given(self, key: Name, numbers: Any) -> Any:
        if key[0] == "mode":
            return [self.sign] if len(key) == 1 else self.leans[key[1]]
        at_reference = self.stage.part.group.uses.given
        return at_reference[key] if key in at_reference else clean(numbers)

    def body(self, b: int) -> Frame:
        at = self.stage.at
        return Frame(at.position[b].tolist(), at.rotation[b].T.tolist(), float(at.angle[b]))


def _entry(x: Any, k: int) -> float:
    return float(x[k]) if isinstance(x, np.ndarray) and x.ndim else float(x)


def placed_at(at: Configuration, found: Sequence[Placing]) -> Configuration:
    """Poses of all bodies in M placings of a group: position (M, N, 3), rotation (M, N, 3, 3)."""
    position = np.repeat(at.position[None], len(found), axis=0)
    rotation = np.repeat(at.rotation[None], len(found), axis=0)
    angle = np.repeat(at.angle[None], len(found), axis=0)
    for k, placing in enumerate(found):
        position[k, placing.bodies], rotation[k, placing.bodies] = placing.position, placing.rotation
        angle[k, placing.bodies] = placing.angle
    return Configuration(position, rotation, angle, at.centre)


def same_place(a: Placing, b: Placing, size: float) -> bool:
    """Whether two placings have the same poses to :data:`SAME`."""
    return bool(
        np.abs(a.position - b.position).max(initial=0.0) <= SAME * size
        and np.abs(a.rotation - b.rotation).max(initial=0.0) <= SAME
    )
