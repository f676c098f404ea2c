"""Coordinates of the tree and the Jacobian J of the cuts' equations by them, where the bodies stand."""

# The engine's formulas on nodes, joint by joint between bodies whose poses are inputs: the work for a joint
# does not grow with the length of the tree. The screw of a coordinate moves all bodies behind its joint.
# Lengths are over the mechanism's size, in rows and in columns, so that J is without units and its singular
# values and pivots may be compared.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from groups.engine.kinematics import Closure, Group
from groups.engine.numbers import Known, Name, Reference
from groups.partitioning.cutting import Cut, CutOpen
from groups.setting import Setting
from groups.tree import GroupTree
from mbssa import decompose
from mbssa.arrays import Floats
from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.evaluation import evaluated
from mbssa.graph.frames import UNIT, ZERO, Frame, Motion, carried, clean, relative
from mbssa.graph.nodes import Graph, Number
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Elementary, measured
from mbssa.joints.poses import Poses
from mbssa.joints.system import unknowns

#: Numbers of nodes that are kept at a time: so many instants are evaluated together.
_NUMBERS = 20_000_000

#: Body, joint, and side of the joint.
_End = tuple[int, int, int]


def linearised(opened: CutOpen, poses: Poses) -> tuple[Floats, Floats]:
    """Coordinates (T, n), m and principal angles in rad, and J (T, m, n); NaN where a body was not placed."""
    count, n, units = len(poses.position), len(opened.coordinates), unknowns(opened.mechanism.space)
    scale = np.where(np.array(opened.units) == "m", opened.frames.size, 1.0)[:, None, None]
    J, first = np.zeros((count, len(opened.equations), n)), 0
    with np.errstate(all="ignore"):
        group = _Open(opened, poses)
        nodes = _Nodes(group)
        numbers, blocks = [x[c] for x in group.screws(nodes) for c in units], list[tuple[slice, list[int]]]()
        for cut in opened.cuts:
            bodies, rows = group.equations(nodes, cut)
            for b in (b for b in bodies if b):
                blocks.append((slice(first, first + len(rows)), group.behind[b]))
                numbers += [x for c in units for x in derivative(rows, _by_body(b, c))]
            first += len(rows)
        together = max(1, _NUMBERS // (len(nodes.graph.nodes) + 1))
        for k in (slice(start, start + together) for start in range(0, count, together)):
            values = np.zeros((len(numbers), len(J[k])))
            for row, x in zip(values, evaluated(numbers, group.at(k)), strict=True):
                row[:] = x
            screws, at = values[: n * len(units)].reshape(n, len(units), -1) * scale, n * len(units)
            for rows_of_cut, behind in blocks:
                after = at + len(units) * (rows_of_cut.stop - rows_of_cut.start)
                slopes, at = values[at:after].reshape(len(units), -1, len(J[k])), after
                J[k, rows_of_cut, behind] += np.einsum("cet,nct->ten", slopes, screws[behind])
    return group.value, J


class _Open(Group):
    """All bodies of a mechanism as one group, each where it stands; unknowns are on arrays (T,)."""

    def __init__(self, opened: CutOpen, poses: Poses) -> None:
        reference = opened.frames.reference
        setting = Setting(decompose(opened.mechanism), opened.frames, reference, {}, np.zeros(0), ())
        super().__init__(setting, GroupTree(0, (), opened.links, (), ()), None, {}, 0)
        self.opened, self.poses, self.by_poses = opened, poses, True
        self.value = np.empty((len(poses.position), len(opened.coordinates)))
        #: By body, the columns of the coordinates that move it.
        self.behind: dict[int, list[int]] = {0: []}
        numbers = _Instants(self)
        for link in opened.links:
            kind, first = type_of_joint(self.mechanism, link.joint), opened.start[link.joint]
            assert kind.pair is not None
            values = self._measured(numbers, self._ends(link.joint), kind.pair.coordinates)
            columns = list(range(first, first + len(values)))
            for k, x in zip(columns, values, strict=True):
                self.value[:, k] = x
            self.behind[link.body] = [*self.behind[link.parent], *columns]
        for cut in opened.cuts:
            self.equations(numbers, cut)

    def at(self, which: slice) -> Callable[[str, Any], Number]:
        """Inputs of nodes at some instants."""
        poses = self.poses[which]
        axes = poses.rotation.swapaxes(-1, -2).reshape(*poses.angle.shape, 9)
        bodies = np.concatenate([poses.position, axes, poses.angle[..., None]], axis=-1)

        def of(name: str, k: Any) -> Number:
            if name == "b":
                return bodies[:, k[0], k[1]]
            return self.value[which, k] if name == "q" else np.atleast_1d(self.start[k])[which]

        return of

    def coordinate(self, numbers: Any, j: int, name: str) -> Number:
        names = type_of_joint(self.mechanism, j).coordinates
        return numbers.graph.input("q", self.opened.start[j] + names.index(name))

    def screws(self, nodes: Any) -> list[list[Number]]:
        """Screws of the coordinates about the world's origin, by column."""
        found: list[list[Number]] = [[] for _ in self.opened.coordinates]
        for link in self.links:
            motion, first = self._carried(nodes, nodes.bodies, link).motion, self.opened.start[link.joint]
            for k in range(first, first + len(type_of_joint(self.mechanism, link.joint).coordinates)):
                found[k] = [x for part in motion.twist(_by_coordinate(k)) for x in part]
        return found

    def equations(self, numbers: Any, cut: Cut) -> tuple[Sequence[int], list[Number]]:
        """Bodies of a cut, and its equations over the size."""
        j, size, bodies = cut.joints[0], self.frames.size, numbers.bodies
        drives = cut.equations[len(cut.equations) - cut.driven :]
        if j in self.frames.relations:
            relations = self.frames.relations[j]
            chosen = [*relations.constraints, *(relations.coordinates[name] for name in drives)]
            scales = [size if relation.is_length else 1.0 for relation in chosen]
            rows = [Closure(self, numbers, bodies).sum(j, relation) for relation in chosen]
            return relations.bodies, [x / scale for x, scale in zip(rows, scales, strict=True)]
        if cut.rod >= 0:
            ends = [end for joint in cut.joints for end in self._ends(joint) if end[0] != cut.rod]
            functions = [Elementary("distance")]
        else:
            kind, ends = type_of_joint(self.mechanism, j), self._ends(j)
            assert kind.pair is not None
            functions = [function for _, function in kind.pair.constraints]
            functions += [kind.pair.coordinates[kind.coordinates.index(name)] for name in drives]
        rows = self._measured(numbers, ends, functions)
        return [b for b, _, _ in ends], [
            x / size if function.is_length else x for x, function in zip(rows, functions, strict=True)
        ]

    def _ends(self, j: int) -> list[_End]:
        return [(b, j, side) for side, b in enumerate(self.mechanism.joint_bodies(j)[:2])]

    def _measured(self, numbers: Any, ends: Sequence[_End], functions: Sequence[Elementary]) -> list[Number]:
        """Functions of the relative pose of two frames."""
        d, C = relative(*(numbers.bodies[b].end(*self.side(numbers, j, side)) for b, j, side in ends))
        (_, j, _), *_ = ends
        given = [self.parameter(numbers, j, f.parameter) if f.parameter else None for f in functions]
        return [measured(f, d, C, x) for f, x in zip(functions, given, strict=True)]


class _Instants(Reference):
    """Numbers of bodies where they stand, on arrays (T,)."""

    def __init__(self, group: _Open) -> None:
        super().__init__(group)
        self.poses, self.bodies = group.poses, Known(self, group.ground)

    def body(self, b: int) -> Frame:
        place, axes = self.poses.position[:, b].T, self.poses.rotation[:, b].transpose(2, 1, 0)
        return Frame(list(place), [list(axis) for axis in axes], self.poses.angle[:, b])


class _Nodes:
    """Numbers of bodies where they stand, as nodes."""

    def __init__(self, group: _Open) -> None:
        self.graph, self.planar, nodes = Graph(), group.planar, cast("Any", self)
        self.bodies = Known(nodes, group.ground)

    def unknown(self, k: int) -> Number:
        return self.graph.input("s", k)

    def given(self, _: Name, numbers: Any) -> Any:
        return clean(numbers)

    def body(self, b: int) -> Frame:
        motion, x = Motion(None, body=b), [self.graph.input("b", (b, i)) for i in range(13)]
        place: list[Number] = x[:3]
        axes: list[list[Number]] = [[*x[3:6]], [*x[6:9]], [*x[9:12]]]
        if self.planar:
            place, axes = [*x[:2], 0.0], [[*x[3:5], 0.0], [*x[6:8], 0.0], [*UNIT[2]]]
        return Frame(carried(motion, place, True), [carried(motion, a) for a in axes], x[12], motion)


def _by_coordinate(k: int) -> Direction:
    return Direction(lambda name, i: float(name == "q" and i == k))


def _by_body(b: int, component: int) -> Direction:
    """Unit velocity of a body's point at the world's origin, or unit angular velocity."""
    twist = [float(k == component) for k in range(6)]
    return Direction(
        lambda name, k: twist[5] if name == "b" and k == (b, 12) else 0.0,
        lambda body: (twist[:3], twist[3:]) if body == b else (ZERO, ZERO),
    )
