"""Steps from link to link in relative coordinates: turns, slides and constant transforms of joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from groups.kernels import layout
from mbssa.arrays import Floats
from mbssa.joints.catalogue import CATALOGUE
from mbssa.joints.equations import Step, coordinates
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration, relative_pose
from mbssa.mechanism import Mechanism

#: z of B to x of A, x of B to z of A: the cross of a universal joint at its zero.
_SWAP = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])


@dataclass(frozen=True, slots=True)
class Led:
    """A coordinate that is ``constant`` plus inputs times ratios: (row of the motion, ratio); m and rad."""

    constant: float
    shares: tuple[tuple[int, float], ...]


#: Led coordinates by (joint index, name).
Gearing = Mapping[tuple[int, str], Led]


@dataclass
class Steps:
    """Steps of all links so far."""

    kind: list[int] = field(default_factory=list)
    axis: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    drive: list[int] = field(default_factory=list)
    constant: list[int] = field(default_factory=list)
    factor: list[float] = field(default_factory=list)
    transforms: list[Floats] = field(default_factory=list)
    #: The constant transform that waits to be merged with the next.
    waiting: tuple[Floats, Floats] | None = None

    def add_constant(self, translation: Floats, rotation: Floats) -> None:
        t, R = self.waiting if self.waiting is not None else (np.zeros(3), np.eye(3))
        self.waiting = t + R @ translation, R @ rotation

    def add(self, kind: int, axis: int, unknown: int, drive: int, factor: float) -> None:
        self.flush()
        self._append(kind, axis, unknown, drive, -1, factor)

    def flush(self) -> None:
        if self.waiting is None:
            return
        t, R = self.waiting
        self.waiting = None
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


def joint_steps(
    mechanism: Mechanism,
    frames: Frames,
    reference: Configuration,
    joint: int,
    forward: bool,
    drives: Mapping[tuple[int, str], int],
    geared: Gearing,
    steps: Steps,
    names: list[str],
    x: list[float],
    balls: list[Floats],
) -> None:
    """Steps from the parent of a joint to its other body."""
    kind = CATALOGUE[int(mechanism.joint_type[joint])]
    equations = kind.pair
    if equations is None:
        raise ValueError(f"no solver yet for joint {mechanism.joints[joint]} of type {kind.code}")
    values = {name: float(column[joint]) for name, column in frames.parameters.items()}
    which = np.array([joint])
    bodies = np.array([mechanism.joint_bodies(joint)[:2]])
    d, C, _, _ = relative_pose(frames, reference, which, bodies)
    given = {name: column[which] / frames.size for name, column in frames.parameters.items()}
    at, _ = coordinates(equations, d, C, given)
    unknown: dict[int, int] = {}
    ball = _ball(equations.steps, [(joint, name) in drives for name in kind.coordinates])
    for c, name in enumerate(kind.coordinates):
        if (joint, name) in drives or (joint, name) in geared:
            continue
        unknown[c] = len(names)
        names.append(f"{mechanism.joint_ids[joint]}.{name}")
        length = any(
            step.kind == "shift" and step.coordinate == c and step.factor in (1.0, -1.0)
            for step in equations.steps
        )
        x.append(0.0 if c in ball else float(at[0, c]) * (frames.size if length else 1.0))
    if ball:
        balls.append(C[0] if forward else C[0].T)
    sides = ((frames.origin[joint, k], frames.axes[joint, k]) for k in ((0, 1) if forward else (1, 0)))
    (near, near_axes), (far, far_axes) = sides
    steps.add_constant(near, near_axes)
    order = equations.steps if forward else equations.steps[::-1]
    sense = 1.0 if forward else -1.0
    for step in order:
        if step.kind == "swap":
            steps.add_constant(np.zeros(3), _SWAP if forward else _SWAP.T)
            continue
        factor = _factor(step, values) * sense
        turn = step.kind == "turn"
        if step.coordinate in ball and turn:
            if step.coordinate == (min(ball) if forward else max(ball)):
                for k in range(3):
                    steps.add(layout.BALL_X + k, k, unknown[min(ball)] + k, -1, 1.0)
            continue
        if step.coordinate is None:
            if turn:
                steps.add_constant(np.zeros(3), _rotation(step.axis, factor))
            else:
                steps.add_constant(factor * np.eye(3)[step.axis], np.eye(3))
            continue
        row = drives.get((joint, kind.coordinates[step.coordinate]), -1)
        what = layout.TURN if turn else layout.SLIDE
        led = geared.get((joint, kind.coordinates[step.coordinate]))
        if led is not None:
            still = factor * led.constant
            if turn:
                steps.add_constant(np.zeros(3), _rotation(step.axis, still))
            else:
                steps.add_constant(still * np.eye(3)[step.axis], np.eye(3))
            for share, ratio in led.shares:
                steps.add(what, step.axis, -1, share, factor * ratio)
            continue
        steps.add(what, step.axis, unknown.get(step.coordinate, -1), row, factor)
    steps.add_constant(-far_axes.T @ far, far_axes.T)


def free_body(
    body: int,
    reference: Configuration,
    planar: bool,
    steps: Steps,
    names: list[str],
    x: list[float],
    balls: list[Floats],
    mechanism: Mechanism,
) -> None:
    """A body that nothing carries: it slides along the axes of the frame and turns freely."""
    place = reference.rotation[0].T @ (reference.position[body] - reference.position[0])
    turn = reference.rotation[0].T @ reference.rotation[body]
    first = len(names)
    name = mechanism.body_name(body)
    steps.add_constant(place, np.eye(3))
    for axis in range(2 if planar else 3):
        names.append(f"{name}.{'xyz'[axis]}")
        x.append(0.0)
        steps.add(layout.SLIDE, axis, first + axis, -1, 1.0)
    if planar:
        names.append(f"{name}.angle")
        x.append(float(reference.angle[body] - reference.angle[0]))
        steps.add(layout.TURN, 2, first + 2, -1, 1.0)
        return
    for k in range(3):
        names.append(f"{name}.turn_{'xyz'[k]}")
        x.append(0.0)
        steps.add(layout.BALL_X + k, k, first + 3 + k, -1, 1.0)
    balls.append(turn)


def _ball(steps: Sequence[Step], driven: list[bool]) -> set[int]:
    """Coordinates of three free turns about x, y, z in a row at the end: a ball, kept as a rotation."""
    if len(steps) < 3 or [(s.kind, s.axis) for s in steps[-3:]] != [("turn", 0), ("turn", 1), ("turn", 2)]:
        return set()
    found = {s.coordinate for s in steps[-3:] if s.coordinate is not None}
    return found if len(found) == 3 and not any(driven[c] for c in found) else set()


def _factor(step: Step, values: Mapping[str, float]) -> float:
    if step.factor == "normal":
        # After the swap y is -(z_A × z_B), the direction of a universal joint's offset reversed.
        return -values["offset"]
    return values[step.factor] if isinstance(step.factor, str) else step.factor


def _rotation(axis: int, angle: float) -> Floats:
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[i, i], matrix[j, j], matrix[i, j], matrix[j, i] = c, c, -s, s
    return matrix
