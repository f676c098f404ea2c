"""Steps from link to link in relative coordinates: turns, slides and constant transforms of joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from groups.kernels import layout
from mbssa.arrays import Floats
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Step

if TYPE_CHECKING:
    from groups.setting import Setting

#: z of B to x of A, x of B to z of A: the cross of a universal joint at its zero.
SWAP = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])


@dataclass(frozen=True, slots=True)
class GearRatio:
    """A coordinate that is ``constant`` plus inputs times ratios: (row of the motion, ratio); m and rad."""

    constant: float
    shares: tuple[tuple[int, float], ...]


#: Gear ratios by (joint index, name of the coordinate).
Gearing = Mapping[tuple[int, str], GearRatio]


@dataclass
class Steps:
    """Steps of all links so far, and their unknowns."""

    kind: list[int] = field(default_factory=list)
    axis: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    drive: list[int] = field(default_factory=list)
    constant: list[int] = field(default_factory=list)
    factor: list[float] = field(default_factory=list)
    transforms: list[Floats] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    x: list[float] = field(default_factory=list)
    balls: list[Floats] = field(default_factory=list)
    merged: tuple[Floats, Floats] = field(default_factory=lambda: (np.zeros(3), np.eye(3)))

    def add_constant(self, translation: Floats, rotation: Floats) -> None:
        """Add a constant transform."""
        t, R = self.merged
        self.merged = t + R @ translation, R @ rotation

    def add_shift(self, axis: int, amount: float) -> None:
        """Add a constant shift, m."""
        self.add_constant(amount * np.eye(3)[axis], np.eye(3))

    def add_turn(self, axis: int, angle: float) -> None:
        """Add a constant turn, rad."""
        c, s = np.cos(angle), np.sin(angle)
        matrix = np.eye(3)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        matrix[i, i], matrix[j, j], matrix[i, j], matrix[j, i] = c, c, -s, s
        self.add_constant(np.zeros(3), matrix)

    def add_ball(self, first: int) -> None:
        """Add the three turns of a ball, whose unknowns begin at ``first``."""
        for k in range(3):
            self.add(layout.BALL_X + k, k, first + k, -1, 1.0)

    def add_unknown(self, name: str, value: float) -> int:
        """Add an unknown; return its number."""
        self.names.append(name)
        self.x.append(value)
        return len(self.x) - 1

    def add(self, kind: int, axis: int, unknown: int, drive: int, factor: float) -> None:
        """Add a turn or a slide."""
        self.flush()
        self._append(kind, axis, unknown, drive, -1, factor)

    def flush(self) -> None:
        """Add the merged constant transform as a step, unless it is the identity."""
        t, R = self.merged
        self.merged = np.zeros(3), np.eye(3)
        if np.array_equal(R, np.eye(3)) and not t.any():
            return
        self.transforms.append(np.concatenate([t, R.ravel()]))
        self._append(layout.STILL, 0, -1, -1, len(self.transforms) - 1, 0.0)

    def _append(self, kind: int, axis: int, unknown: int, drive: int, constant: int, factor: float) -> None:
        self.kind.append(kind)
        self.axis.append(axis)
        self.unknown.append(unknown)
        self.drive.append(drive)
        self.constant.append(constant)
        self.factor.append(factor)


def joint_steps(setting: Setting, joint: int, forward: bool, geared: Gearing, steps: Steps) -> None:
    """Add the steps from the parent of a joint to its other body."""
    mechanism, frames, drives = setting.mechanism, setting.frames, setting.drives
    kind = type_of_joint(mechanism, joint)
    equations = kind.pair
    if equations is None:
        raise ValueError(f"no solver yet for joint {mechanism.joints[joint]} of type {kind.code}")
    values = {name: float(column[joint]) for name, column in frames.parameters.items()}
    at = setting.coordinates[joint]
    unknown: dict[int, int] = {}
    ball = ball_of(equations.steps, [(joint, name) in drives for name in kind.coordinates])
    for c, name in enumerate(kind.coordinates):
        if (joint, name) in drives or (joint, name) in geared:
            continue
        unknown[c] = steps.add_unknown(f"{mechanism.joint_ids[joint]}.{name}", 0.0 if c in ball else at[name])
    near, far = (0, 1) if forward else (1, 0)
    if ball:
        ends = [setting.reference.rotation[body] for body in mechanism.joint_bodies(joint)[:2]]
        steps.balls.append((ends[near] @ frames.axes[joint, near]).T @ ends[far] @ frames.axes[joint, far])
    origin, axes = frames.origin[joint], frames.axes[joint]
    steps.add_constant(origin[near], axes[near])
    sense = 1.0 if forward else -1.0
    for step in equations.steps if forward else equations.steps[::-1]:
        if step.kind == "swap":
            steps.add_constant(np.zeros(3), SWAP if forward else SWAP.T)
            continue
        factor = factor_of(step, values) * sense
        turn = step.kind == "turn"
        add_constant = steps.add_turn if turn else steps.add_shift
        if step.coordinate is None:
            add_constant(step.axis, factor)
            continue
        if step.coordinate in ball and turn:
            if step.coordinate == (min(ball) if forward else max(ball)):
                steps.add_ball(unknown[min(ball)])
            continue
        key = joint, kind.coordinates[step.coordinate]
        moves = layout.TURN if turn else layout.SLIDE
        if (ratio := geared.get(key)) is not None:
            add_constant(step.axis, factor * ratio.constant)
            for row, share in ratio.shares:
                steps.add(moves, step.axis, -1, row, factor * share)
            continue
        steps.add(moves, step.axis, unknown.get(step.coordinate, -1), drives.get(key, -1), factor)
    steps.add_constant(-axes[far].T @ origin[far], axes[far].T)


def free_body(setting: Setting, body: int, steps: Steps) -> None:
    """Add the steps of a body without a carrying joint: slides along the axes of the frame, and turns."""
    reference, name = setting.reference, setting.mechanism.body_name(body)
    planar = setting.mechanism.space == "planar"
    steps.add_constant(
        reference.rotation[0].T @ (reference.position[body] - reference.position[0]), np.eye(3)
    )
    for axis in range(2 if planar else 3):
        steps.add(layout.SLIDE, axis, steps.add_unknown(f"{name}.{'xyz'[axis]}", 0.0), -1, 1.0)
    if planar:
        turned = float(reference.angle[body] - reference.angle[0])
        steps.add(layout.TURN, 2, steps.add_unknown(f"{name}.angle", turned), -1, 1.0)
        return
    steps.add_ball(min([steps.add_unknown(f"{name}.turn_{axis}", 0.0) for axis in "xyz"]))
    steps.balls.append(reference.rotation[0].T @ reference.rotation[body])


def ball_of(steps: Sequence[Step], driven: list[bool]) -> set[int]:
    """Coordinates of three free turns about x, y, z in a row at the end: a ball, kept as a rotation."""
    if len(steps) < 3 or [(s.kind, s.axis) for s in steps[-3:]] != [("turn", 0), ("turn", 1), ("turn", 2)]:
        return set()
    found = {s.coordinate for s in steps[-3:] if s.coordinate is not None}
    return found if len(found) == 3 and not any(driven[c] for c in found) else set()


def factor_of(step: Step, values: Mapping[str, float]) -> float:
    """Factor of a step by the parameters of its joint."""
    if step.factor == "normal":
        # After the swap y is -(z_A × z_B), the direction of a universal joint's offset reversed.
        return -values["offset"]
    return values[step.factor] if isinstance(step.factor, str) else step.factor
