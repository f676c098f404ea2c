"""Chains of elementary motions of planar groups: turns, slides along x, and constant moves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.kernels import chains as chain_kernels
from groups.tree import Link
from mbssa.arrays import Floats, Ints
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Step
from mbssa.joints.system import Configuration

if TYPE_CHECKING:
    from groups.setting import Setting


@dataclass(frozen=True, slots=True)
class Record:
    """One step of a chain; ``at_reference`` is the coordinate's value there, ``unknown`` its own name."""

    kind: int
    source: int = 0
    body: int = 0
    numbers: tuple[float, ...] = ()
    unknown: tuple[int, int] | None = None
    at_reference: float = 0.0


@dataclass(frozen=True, slots=True)
class Move:
    """A constant turn after a shift; the angle counts turns."""

    x: float = 0.0
    y: float = 0.0
    c: float = 1.0
    s: float = 0.0
    angle: float = 0.0

    def then(self, other: Move) -> Move:
        x, y = self.point(other.x, other.y)
        c, s = self.c * other.c - self.s * other.s, self.s * other.c + self.c * other.s
        return Move(x, y, c, s, self.angle + other.angle)

    def point(self, x: float, y: float) -> tuple[float, float]:
        return self.x + self.c * x - self.s * y, self.y + self.s * x + self.c * y

    def back(self) -> Move:
        x, y = -self.c * self.x - self.s * self.y, self.s * self.x - self.c * self.y
        return Move(x, y, self.c, -self.s, -self.angle)


@dataclass(frozen=True, eq=False, slots=True)
class Chain:
    """Records from a known body on, constants joined; see :func:`joined`."""

    records: list[Record] = field(default_factory=list)

    @property
    def unknown(self) -> list[int]:
        return [k for k, record in enumerate(self.records) if record.unknown is not None]


def steps_of(setting: Setting, joint: int) -> tuple[Step, ...]:
    """Elementary steps of a joint, from its first body to its second."""
    pair = type_of_joint(setting.mechanism, joint).pair
    assert pair is not None
    return pair.steps


def move_to(setting: Setting, joint: int, side: int) -> Move:
    """A joint's frame on one of its bodies."""
    origin, axes = setting.frames.origin[joint, side], setting.frames.axes[joint, side]
    c, s = float(axes[0, 0]), float(axes[1, 0])
    size = math.hypot(c, s)
    return Move(float(origin[0]), float(origin[1]), c / size, s / size, math.atan2(s, c))


def moved(move: Move) -> Record:
    """A constant move as a step of a chain."""
    return Record(chain_kernels.MOVE, numbers=(move.x, move.y, move.c, move.s, move.angle))


def motions_of(setting: Setting, joint: int, steps: tuple[Step, ...], forward: bool) -> list[Record]:
    """A joint's steps, from its first body's frame to its second's or back."""
    kind = type_of_joint(setting.mechanism, joint)
    values = setting.coordinates[joint]
    driven = setting.mechanism.joints[joint].driven
    records: list[Record] = []
    quarter = Move(c=0.0, s=1.0, angle=math.pi / 2)
    for step in steps if forward else reversed(steps):
        sign = 1.0 if forward else -1.0
        if step.coordinate is None:
            # The length of a rod, along it, or the radius of a wheel, away from its track.
            way = sign * float(setting.frames.parameters[str(step.factor)][joint])
            records.append(moved(Move(y=way) if step.axis == 1 else Move(x=way)))
            continue
        sign *= float(step.factor)
        name = kind.coordinates[step.coordinate]
        kept = name in driven
        motion = Record(
            chain_kernels.TURN if step.kind == "turn" else chain_kernels.SLIDE,
            source=setting.drives[joint, name] if kept else 0,
            numbers=(sign,),
            unknown=None if kept else (joint, step.coordinate),
            at_reference=sign * values[name],
        )
        across = step.kind == "shift" and step.axis == 1
        records += [moved(quarter), motion, moved(quarter.back())] if across else [motion]
    return records


def link_records(setting: Setting, link: Link) -> list[Record]:
    """From the parent's frame to the body's."""
    near, far = (0, 1) if link.forward else (1, 0)
    steps = steps_of(setting, link.joint)
    return [
        moved(move_to(setting, link.joint, near)),
        *motions_of(setting, link.joint, steps, link.forward),
        moved(move_to(setting, link.joint, far).back()),
        Record(chain_kernels.BODY, body=link.body),
    ]


def joined(records: list[Record]) -> list[Record]:
    """Neighbouring constant moves become one."""
    joined: list[Record] = []
    for record in records:
        if record.kind == chain_kernels.MOVE and joined and joined[-1].kind == chain_kernels.MOVE:
            record = moved(Move(*joined.pop().numbers).then(Move(*record.numbers)))
        joined.append(record)
    return joined


def with_turns(records: list[Record], at: Configuration) -> tuple[list[Record], dict[int, float]]:
    """Constant angles with the turns that the reference counts; the angle after each unknown turn."""
    done: list[Record] = []
    after: dict[int, float] = {}
    angle, pending, constant = 0.0, -1, -1
    for k, record in enumerate(records):
        if record.kind == chain_kernels.START:
            angle = float(at.angle[record.body])
        elif record.kind == chain_kernels.MOVE:
            angle += record.numbers[4]
            constant = k
        elif record.kind == chain_kernels.TURN:
            angle += record.at_reference
            if record.unknown is not None:
                pending, after[k] = k, angle
        elif record.kind == chain_kernels.BODY:
            turns = 2 * math.pi * round((float(at.angle[record.body]) - angle) / (2 * math.pi))
            angle += turns
            if pending >= 0:
                after[pending] += turns
            elif turns:
                *rest, last = done[constant].numbers
                done[constant] = replace(done[constant], numbers=(*rest, last + turns))
            pending = -1
        done.append(record)
    return done, after


def all_moves(records: list[Record]) -> Move:
    """The product of constant moves."""
    total = Move()
    for record in records:
        if record.kind == chain_kernels.MOVE:
            total = total.then(Move(*record.numbers))
    return total


def packed(
    form: int, records: list[Record], own: list[int], ends: tuple[int, int, int, int]
) -> tuple[Ints, Floats]:
    """Records as :func:`groups.kernels.chains.records_in` reads them."""
    known = sorted({record.body for record in records if record.kind == chain_kernels.START} - set(own))
    rows: list[int] = []
    floats = np.zeros(chain_kernels.NUMBERS * len(records))
    unknown = [chain_kernels.UNKNOWN_1, chain_kernels.UNKNOWN_2]
    for k, record in enumerate(records):
        source = record.source if record.unknown is None else unknown.pop(0)
        rows += [record.kind, source, record.body]
        floats[chain_kernels.NUMBERS * k : chain_kernels.NUMBERS * k + len(record.numbers)] = record.numbers
    return np.array([form, len(known), len(own), *ends, *rows, *known, *own], dtype=np.int64), floats
