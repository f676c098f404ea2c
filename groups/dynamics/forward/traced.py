"""Equations of motion in all coordinates of the groups' trees, or of all bodies, as nodes of one graph."""

# Coordinates x are the driven ones and the groups' unknowns. Inputs of the graph: "x", their rates "v"; "a",
# accelerations with none of the independent ones' (or the true ones); "R", rates (n, F) for unit rates of the
# F independent ones; "law" and its two rates; "applied" forces; "t", the time. In the coordinates of all
# bodies "x" are places and orientations, angles or quaternions, then further unknowns of joints: places on
# curves, angles that count turns; "v" are the bodies' twists, then their rates.

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.forces import TYPES
from groups.dynamics.forces.at import At, Called
from groups.dynamics.state import bodies_with_mass, gravity_of
from groups.engine.kinematics import Closure, Group, Name
from groups.engine.plan import groups_of
from groups.engine.routine import slopes, units
from groups.rotations import quaternion_of
from groups.setting import Setting
from groups.tree import GroupTree, spanning
from mbssa.graph.derivative import Direction, Twist, derivative
from mbssa.graph.evaluation import evaluated
from mbssa.graph.frames import UNIT, Frame, Motion, carried, clean, cross, dot, minus, plus, relative, times
from mbssa.graph.nodes import Graph, Node, Number, absolute, cos, is_zero, sin
from mbssa.graph.source import Printed, functions
from mbssa.joints.catalogue import is_length, type_of_joint
from mbssa.joints.equations import differs, sine_cosine, value

if TYPE_CHECKING:
    from groups.model import Model
    from mbssa.arrays import Floats
    from mbssa.graph.frames import Vector

#: Share of the largest moment of inertia of a body below which an entry is rounding.
_NOISE = 1e-15
#: A derivative of a row below this is none that tells its size.
_SMALL = 1e-9
#: Step of differences, over the size or in rad.
_DIFFERENCE = 1e-5


def along(
    rates: Mapping[str, Callable[[Any], Number]], body: Callable[[int], Twist] | None = None
) -> Direction:
    """Direction in which inputs have rates by their names, and others none; and bodies have twists."""
    return Direction(lambda name, k: rates[name](k) if name in rates else 0.0, body)


class Traced(At):
    """Rows of the closed groups, with their derivatives, and the balance of all masses and forces."""

    # A mechanism as one group has the tree of all its bodies: ``whole``.
    def __init__(self, model: Model, applied: Sequence[str], laws: Sequence[str], whole: bool) -> None:
        self.graph, self.laws, self.whole = Graph(), tuple(laws), whole
        super().__init__(model.mechanism, model.frames, self.graph.input("t", 0))
        self.group_names = ("the whole mechanism",) if whole else model.group_names
        setting = Setting.at(model.structure, model.frames, model.reference)
        #: The first unknown of a group that is closed, coordinates by place, and frames of the bodies.
        self.first, self.place, self.bodies = 0, dict[tuple[int, str], int](), dict[int, Frame]()
        #: Coordinates: starts, names; of the unknowns the group's index and the name there.
        self.start: list[float] = []
        self.names: list[str] = []
        self.unknowns: list[tuple[int, Name]] = []
        #: Rows, the name of the group of each, and those that determine further unknowns.
        self.rows: list[Number] = []
        self.owners: list[str] = []
        self.further: list[int] = []
        #: By pivot, the rows and the coordinates of its group, from first to below end.
        self.blocks: list[tuple[int, int, int, int]] = []
        self.measured: dict[tuple[int, str], Number] = {}
        #: Of the plane: angles of the trees with the bodies before and behind the hinge, and a sign.
        self.hinges: list[tuple[int, int, int, float]] = []
        #: Places on open profiles: unknown, range, name of the group.
        self.ends: list[tuple[int, tuple[float, float], str]] = []
        named = [force.coordinate for force in self.mechanism.forces if force.coordinate is not None]
        # Coordinates along which forces act.
        wanted = dict.fromkeys(self.mechanism.place_of(name) for name in (*named, *applied))
        self._begin(setting, setting.inputs if model.inputs is None else model.inputs)
        self._close(setting, wanted)
        #: Coordinates, their rates, rows, and independent coordinates.
        self.n = self.w = len(self.start)
        self.m, self.free = len(self.rows), self.n - len(self.blocks)
        self._direct()
        #: Nonzero derivatives by (row, coordinate).
        found = slopes(self.graph, self.rows, "x", self.units)
        self.jacobian: dict[tuple[int, int], Number] = {(r, j): x for r, j, x in found if not is_zero(x)}
        #: Rates of the rows, those by the laws alone, and second rates without those of the coordinates.
        self.rates = derivative(self.rows, self.steady)
        self.moved = derivative(self.rows, along(self._law())) if laws else [0.0] * self.m
        self.bias = derivative(self.rates, self.steady)
        self._balance(applied)

    def _begin(self, setting: Setting, inputs: Floats) -> None:
        """Coordinates of the drives, and rows of their laws."""
        self.drives = list(self.mechanism.driven_coordinates)
        self.names += self.drives
        self.start += map(float, inputs)
        self.law_rows = [self.drives.index(name) for name in self.laws]
        for i, k in enumerate(self.law_rows):
            self.owners.append("the prescribed coordinates")
            self.blocks.append((i, i + 1, k, k + 1))
            self.rows.append(self.graph.input("x", k) - self.graph.input("law", 3 * i))
        self.place = dict(setting.drives)

    def made(self, setting: Setting) -> list[Group]:
        """The groups at a reference."""
        if not self.whole:
            return groups_of(setting, range(setting.structure.n_groups))
        mechanism = setting.mechanism
        links, cuts = spanning(mechanism, set(range(1, mechanism.n_bodies)), list(range(mechanism.n_joints)))
        group = Group(setting, GroupTree(1, (0,), links, cuts, ()))
        group.find_reference(closed_forms=False)
        return [group]

    def unknowns_at(self, setting: Setting) -> Floats:
        """The groups' unknowns in a pose that is closed."""
        groups, found = self.made(setting), list[Number]()
        for group, name in ((groups[g], name) for g, name in self.unknowns):
            known = name in group.names
            found.append(group.start[group.names.index(name)] if known else group.at_reference(*name))
        return np.array(found, dtype=np.float64)

    def _close(self, setting: Setting, wanted: Collection[tuple[int, str]]) -> None:
        """Rows of all groups, in their order; coordinates that no tree has get a row of their own."""
        mechanism = self.mechanism
        self.bodies[0] = Frame(clean(self.frames.position[0]), clean(self.frames.rotation[0].T))
        for group in self.made(setting):
            group.form, owner = None, self.group_names[group.index]
            top, first = len(self.rows), len(self.start)
            self.first = first
            for link in group.links:
                angle = (link.joint if link.joint >= 0 else -1 - link.body, "angle")
                if group.planar and angle in group.names:
                    unknown, sign = first + group.names.index(angle), 1.0 if link.forward else -1.0
                    self.hinges.append((unknown, link.parent, link.body, sign))
            bodies, rows = group.evaluate(self)
            self.bodies |= {b: bodies[b] for b in group.own}
            solved = {name: first + k for k, name in enumerate(group.names) if len(name) == 2}
            ends = {*group.cuts, *(j for s in group.struts for j in (s.pin, s.ball, s.slide))}
            for j, name in wanted:
                if j in ends and (j, name) not in solved and (j, name) not in self.place:
                    self.measured[j, name] = self._measure(group, bodies, rows, j, name)
            self.further += (top + k for k in group.further)
            self.rows += rows
            self.owners += [owner] * len(rows)
            self.start += [float(x) for x in group.start]
            self.ends += [(first + end.unknown, end.range, owner) for end in group.ends]
            self.unknowns += [(group.index, name) for name in group.names]
            for j, *rest in group.names:
                of = mechanism.joint_ids[j] if j >= 0 else mechanism.body_name(-1 - j)
                self.names.append(".".join([of, *map(str, rest)]))
            self.place |= solved
            self.blocks += [(top, len(self.rows), first, len(self.start))] * len(group.names)
        for key, k in self.place.items():
            self.measured[key] = self.graph.input("x", k)

    def _measure(
        self, group: Group, bodies: dict[int, Frame], rows: list[Number], j: int, name: str
    ) -> Number:
        """A coordinate of a joint that is no link: an unknown of its own, so that turns are counted."""
        if j in group.frames.relations:
            relations = group.frames.relations[j]
            return Closure(group, self, bodies, rows).sum(j, relations.coordinates[name])
        kind = type_of_joint(group.mechanism, j)
        assert kind.pair is not None
        d, C = relative(*group.ends_of(self, bodies, j))
        elementary = kind.pair.coordinates[kind.coordinates.index(name)]
        angle = sine_cosine(elementary, d, C)
        if angle is None:
            given = group.parameter(self, j, elementary.parameter) if elementary.parameter else None
            return value(elementary, d, C, given)
        theta = group.unknown(self, (j, name), lambda: group.at_reference(j, name))
        group.further.append(len(rows))
        rows.append(differs(*angle, theta))
        return theta

    # --- numbers of the groups -----------------------------------------------------------------------

    def unknown(self, k: int) -> Node:
        return self.graph.input("x", self.first + k)

    def drive(self, row: int) -> Node:
        return self.graph.input("x", row)

    def solved(self, j: int, name: str) -> Node:
        return self.graph.input("x", self.place[j, name])

    def given(self, key: Name, numbers: Any) -> Any:
        return clean(numbers)

    def body(self, b: int) -> Frame:
        return self.bodies[b]

    def _law(self) -> dict[str, Callable[[Any], Number]]:
        """Rates of the laws and of their rates."""
        return {"law": lambda k: self.graph.input("law", k + 1) if k % 3 < 2 else 0.0}

    def _direct(self) -> None:
        """Directions of unit rates, of the motion, and of it without second rates."""
        make, F = self.graph.input, self.free
        lengths = [len(name) == 2 and is_length(name[1]) for _, name in self.unknowns]
        self.unit = np.where([*map(is_length, self.drives), *lengths], self.frames.size, 1.0)

        def rate(q: int, i: int) -> Number:
            return make("R", i * F + q)

        steady = self._law() | {"x": partial(make, "v")}
        self.steady, self.moving = along(steady), along(steady | {"v": partial(make, "a")})
        self.columns = [along({"x": partial(rate, q)}) for q in range(F)]
        #: Directions of coordinates, or of bodies' twists, and which inputs change along each, as bits.
        self.units = list(units("x", self.n))

    def _balance(self, applied: Sequence[str]) -> None:
        """Mass matrix by its lower triangle, generalised forces, energies, power of elements and laws."""
        # A law's power is that of the motion without the loads': a row more, along the true rates.
        self.along_all = [*self.columns, self.steady] if self.law_rows else self.columns
        self.mass: list[list[Number]] = [[0.0] * (k + 1) for k in range(len(self.along_all))]
        self.force: list[Number] = [0.0] * len(self.along_all)
        self.kinetic = self.potential = self.stored = self.power = 0.0
        #: Of the motion with its accelerations: rate of both energies, and the size of its terms.
        self.change = self.exchange = 0.0
        gravity = gravity_of(self.mechanism)
        for b, mass, centre, matrix in bodies_with_mass(self.mechanism, self.frames):
            frame, largest = self.bodies[b], np.abs(matrix).max()
            moment = np.where(np.abs(matrix) < _NOISE * largest, 0.0, matrix).tolist()
            c = frame.end(clean(centre), UNIT)
            velocity, turn = derivative(c.place, self.moving), frame.motion.twist(self.moving)[1]
            second, spin = derivative(velocity, self.moving), frame.seen(turn)
            momentum = [dot(row, spin) for row in moment]
            faster = frame.seen(derivative(turn, self.moving))
            push = times(mass, minus(gravity, second))
            gyro = plus([dot(row, faster) for row in moment], cross(spin, momentum))
            linear = [derivative(c.place, by) for by in self.along_all]
            angular = [frame.seen(frame.motion.twist(by)[1]) for by in self.along_all]
            for k, (by, turn) in enumerate(zip(linear, angular, strict=True)):
                self.force[k] = self.force[k] + dot(by, push) - dot(turn, gyro)
                turned = [dot(row, turn) for row in moment]
                for i in range(min(k + 1, self.free)):
                    self.mass[k][i] = self.mass[k][i] + mass * dot(linear[i], by) + dot(angular[i], turned)
            for term in (-mass * dot(velocity, gravity), mass * dot(velocity, second), dot(spin, gyro)):
                self.change, self.exchange = self.change + term, self.exchange + absolute(term)
            self.kinetic = self.kinetic + 0.5 * (mass * dot(velocity, velocity) + dot(spin, momentum))
            self.potential = self.potential - mass * dot(c.place, gravity)
        for force in self.mechanism.forces:
            self.stored = self.stored + TYPES[force.type].exert(force, self)
        for i, name in enumerate(applied):
            self.along(name, self.graph.input("applied", i))

    def _exert(self, power: Callable[[Direction], Number]) -> None:
        """Add a load by its power along directions."""
        self.power = self.power + power(self.steady)
        for k, by in enumerate(self.along_all):
            self.force[k] = self.force[k] + power(by)

    # --- what force elements read, and their loads ---------------------------------------------------

    def twist(self, b: int) -> tuple[Vector, Vector]:
        frame = self.bodies[b]
        return derivative(frame.place, self.steady), frame.motion.twist(self.steady)[1]

    def coordinate(self, name: str) -> tuple[Number, Number]:
        x = self.measured[self.mechanism.place_of(name)]
        return x, derivative([x], self.steady)[0]

    def called(self, function: Called, count: int, *numbers: Number) -> list[Number]:
        graph, outside = self.graph, _Outside(function, min(1.0, self.frames.size))
        found = graph.make("user", tuple(graph.node(x).i for x in numbers), (outside, 0))
        return [graph.make("user", (found.i,), (_Part(k), 0)) for k in range(count)]

    def push(self, b: int, place: Vector, force: Vector, moment: Vector = (0.0, 0.0, 0.0)) -> None:
        about = plus(cross(place, force), moment)  # of the world's origin

        def power(by: Direction) -> Number:
            linear, angular = self.bodies[b].motion.twist(by)
            return dot(linear, force) + dot(angular, about)

        self._exert(power)

    def along(self, name: str, effort: Number) -> None:
        x = self.measured[self.mechanism.place_of(name)]
        self._exert(lambda by: effort * derivative([x], by)[0])

    # --- results -------------------------------------------------------------------------------------

    @cached_property
    def weights(self) -> Floats:
        """(m,) inverse of the largest derivative of each row at the reference."""
        values = evaluated(
            list(self.jacobian.values()), lambda name, k: self.start[k] if name == "x" else 0.0
        )
        size = np.zeros(self.m)
        for (i, j), x in zip(self.jacobian, values, strict=True):
            size[i] = max(size[i], abs(x) * self.unit[j])
        return 1.0 / np.where(size > _SMALL, size, self.frames.size)

    @cached_property
    def curvatures(self) -> tuple[list[Number], list[Number]]:
        """First and second derivatives of the rows, these along "e" and "d"; first ones of the forces."""
        # Along a direction d of the independent coordinates all coordinates go by R d, and their derivatives
        # R by S, which follows from the second derivatives of the closed rows.
        (d, e, S), force = (partial(self.graph.input, name) for name in "deS"), self.force[: self.free]
        second = derivative(derivative(self.rows, along({"x": e})), along({"x": d}))
        forces = derivative(force, along({"x": d, "R": S})) + derivative(force, along({"v": d}))
        return [*self.jacobian.values(), *second], forces

    @cached_property
    def measures(self) -> Printed:
        """By body place, angle or axes, velocity and acceleration; then energies, power, rows: in samples."""
        numbers, rates = list[Number](), (0, 1, 5) if self.planar else range(6)
        for frame in map(self.body, range(self.mechanism.n_bodies)):
            velocity = derivative(frame.place, self.moving) + list(frame.motion.twist(self.moving)[1])
            acceleration = derivative(velocity, self.moving)
            axes = [x for axis in frame.axes for x in axis]
            numbers += [*frame.place[:2], frame.angle] if self.planar else [*frame.place, *axes]
            numbers += [of[k] for of in (velocity, acceleration) for k in rates]
        energies = [self.kinetic, self.potential, self.stored, self.change, self.exchange]
        return functions("measures", [], [*numbers, *energies, *self.rows, *self.rates])

    @property
    def results(self) -> list[Number]:
        """All that an evaluation needs."""
        found = [*self.rows, *self.jacobian.values(), *self.moved, *self.bias, *self.force]
        return [*found, *chain(*self.mass), self.power, self.kinetic, self.potential]


def _turned(quaternion: Vector, e: Vector) -> list[Number]:
    """A vector turned by a unit quaternion."""
    twice = times(2.0, cross(quaternion[1:], e))
    return plus(e, times(quaternion[0], twice), cross(quaternion[1:], twice))


def turning(quaternion: Vector, spin: Vector) -> list[Number]:
    """Rate of a unit quaternion by an angular velocity."""
    (w, *axis), half = quaternion, times(0.5, spin)
    return [-1.0 * dot(half, axis), *plus(times(w, half), cross(half, axis))]


def _unit(k: int, i: int) -> Number:
    return float(i == k)


class Bodies(Traced):
    """Rows of all joints by the bodies, with their derivatives, and the balance of masses and forces."""

    def _begin(self, setting: Setting, inputs: Floats) -> None:
        mechanism = self.mechanism
        self.law_rows = []
        #: Numbers of a body's pose and of its twist.
        self.wide, self.degrees = (3, 3) if self.planar else (7, 6)
        pose = setting.reference
        self.start += self.posed(
            pose.position, pose.angle if self.planar else quaternion_of(pose.rotation)
        ).tolist()
        #: Numbers of all poses, and of all twists: those of further unknowns follow.
        self.poses, self.twists = len(self.start), self.degrees * (mechanism.n_bodies - 1)

    def drive(self, row: int) -> Node:
        return self.graph.input("law", 3 * row)

    def body(self, b: int) -> Frame:
        if b in self.bodies:
            return self.bodies[b]
        first, motion = (b - 1) * self.wide, Motion(None, body=b)
        x: list[Number] = [self.graph.input("x", first + k) for k in range(self.wide)]
        if self.planar:
            c, s = cos(x[2]), sin(x[2])
            place, axes, angle = [*x[:2], 0.0], [[c, s, 0.0], [-s, c, 0.0], UNIT[2]], x[2]
        else:
            place, axes, angle = x[:3], [_turned(x[3:], e) for e in UNIT], 0.0
        # Carried twice: a rate is made of what the vectors are themselves, and has a rate again.
        place = carried(motion, carried(motion, place, True), True)
        return Frame(place, [carried(motion, carried(motion, e)) for e in axes], angle, motion)

    def made(self, setting: Setting) -> list[Group]:
        """The mechanism as one group."""
        places = [self.mechanism.place_of(name) for name in self.laws]
        inputs = np.array([setting.inputs[setting.drives[place]] for place in places])
        setting = replace(setting, drives={place: i for i, place in enumerate(places)}, inputs=inputs)
        group = self.group = Group(setting, GroupTree(1, (0,), (), tuple(range(self.mechanism.n_joints)), ()))
        group.own, group.spins = [*range(1, self.mechanism.n_bodies)], list(setting.spins)
        group.find_reference(closed_forms=False)
        return [group]

    def posed(self, position: Floats, orientation: Floats) -> Floats:
        """Places and orientations of the movable bodies, one body after another."""
        at = position[1:, : 2 if self.planar else 3]
        return np.concatenate([at, orientation[1:].reshape(len(at), -1)], axis=1).ravel()

    def _direct(self) -> None:
        self.free = self.w = self.twists + self.n - self.poses
        make = self.graph.input
        k, linear = np.arange(self.w), 2 if self.planar else 3
        self.unit = np.where((k < self.twists) & (k % self.degrees < linear), self.frames.size, 1.0)

        def moving(rate: Callable[[int], Number], more: dict[str, Callable[[Any], Number]]) -> Direction:
            def body(b: int) -> Twist:
                x = [rate((b - 1) * self.degrees + k) for k in range(self.degrees)]
                linear, spin = ([*x[:2], 0.0], [0.0, 0.0, x[2]]) if self.planar else (x[:3], x[3:])
                return plus(linear, cross(self.bodies[b].place, spin)), spin

            # Of a body the angle in the plane alone is no vector that is carried.
            return along({"x": lambda k: rate(k - self.poses + self.twists)} | more, body)

        v, law, pose = partial(make, "v"), self._law(), (1 << self.wide) - 1
        self.steady, self.moving = moving(v, law), moving(v, law | {"v": partial(make, "a")})
        self.columns = [moving(partial(_unit, k), {}) for k in range(self.w)]
        bits = [pose << k // self.degrees * self.wide for k in range(self.twists)]
        bits += [1 << k for k in range(self.poses, self.n)]
        self.units = list(zip(self.columns, bits, strict=True))

    @cached_property
    def scale(self) -> Floats:
        """(m,) one over the size of rows that are lengths, which go with places; else 1."""
        linear = {r for r, k in self.jacobian if k < self.twists and self.unit[k] != 1.0}
        return np.array([1.0 / self.frames.size if r in linear else 1.0 for r in range(self.m)])

    @cached_property
    def motion(self) -> Callable[[Mapping[str, Sequence[float]], Floats], tuple[Any, ...]]:
        """A function of the inputs and of turns (m,) in the rows."""
        # It gives rows (4, m): residuals, rates, second rates, rates by the laws; J, masses, forces, power.
        masses = {(k, i): x for k, row in enumerate(self.mass) for i, x in enumerate(row) if not is_zero(x)}
        rows = [*self.rows, *self.rates, *self.bias, *self.moved, *self.jacobian.values()]
        results = [*rows, *self.force, self.power, *masses.values()]
        (function, _), inputs = functions("motion", [], results)
        ends = np.cumsum([4 * self.m, len(self.jacobian), self.w, 1]).tolist()
        places = tuple(np.array([*self.jacobian], dtype=np.int64).reshape(-1, 2).T)
        k, i = np.array([*masses], dtype=np.int64).reshape(-1, 2).T
        body, row, column = k // self.degrees, k % self.degrees, i % self.degrees

        def motion(given: Mapping[str, Sequence[float]], turns: Floats) -> tuple[Any, ...]:
            values = np.array(function([given[name][k] for name, k in inputs], ()), dtype=np.float64)
            every, slopes, force, power, masses = np.split(values, ends)
            rows = every.reshape(4, self.m)
            rows[0] -= turns
            J = np.zeros((self.m, self.w))
            M = np.zeros((self.twists // self.degrees, self.degrees, self.degrees))
            J[places] = slopes
            M[body, row, column] = M[body, column, row] = masses
            return rows * self.scale, J * self.scale[:, None], M, force, float(power[0])

        return motion


class _Outside:
    """A function of arrays at floats or arrays; its derivatives are by differences."""

    def __init__(self, function: Called, size: float) -> None:
        self.function, self.step = function, _DIFFERENCE * size

    def of(self, order: int) -> Callable[..., Any]:
        return self._slopes if order else self._values

    def _values(self, *numbers: Number) -> Sequence[Number]:
        found = self.function(*np.broadcast_arrays(*map(np.atleast_1d, numbers)))
        return found if any(isinstance(x, np.ndarray) for x in numbers) else [float(x[0]) for x in found]

    def _slopes(self, *numbers: Number) -> Sequence[Number]:
        x, along = np.split(np.array(np.broadcast_arrays(*numbers), dtype=np.float64), 2)
        h = self.step / max(float(np.abs(along).max()), 1e-300)
        ends = (self._values(*(x + k * along)) for k in (-h, h))
        return [(after - before) / (2 * h) for before, after in zip(*ends, strict=True)]


class _Part:
    """One of several values, which is linear in them."""

    def __init__(self, k: int) -> None:
        self.k = k

    def of(self, order: int) -> Callable[..., Number]:
        return lambda *vectors: vectors[order][self.k]
