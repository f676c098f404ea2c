"""Kinematics of one structural group, written once on any numbers: floats, arrays, nodes of a graph."""

# Unknowns are the undriven coordinates of the joints of a spanning tree and, after them, auxiliary ones: the
# place of a contact on its curves, an angle that counts turns. Rows are zero where the group is closed.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from groups.engine.curves import contact_of
from groups.engine.forms import Form, form_of
from groups.engine.struts import Side, mode_of, place_strut
from groups.engine.users import traced
from groups.setting import LockedRotation, Setting
from groups.tree import GroupTree, Link
from mbssa.arrays import Floats, Ints
from mbssa.graph.frames import Frame, clean, dot, minus, relative, total
from mbssa.graph.nodes import Number, atan2, cos, rounded, sin, sqrt
from mbssa.joints.cams.curves import Curve
from mbssa.joints.catalogue import is_length, type_of_joint
from mbssa.joints.equations import Step, differs, sine_cosine, stepped, value
from mbssa.joints.relations import PairFrames, Relation, Term

#: Joint and coordinate; of an auxiliary unknown joint, relation, term and perhaps curve.
Name: TypeAlias = tuple[Any, ...]
#: Cosine of the angle between two axes from which on they are parallel.
_PARALLEL = 1 - 1e-9


@dataclass(frozen=True)
class End:
    """Range of an unknown that is the place of a contact on an open profile."""

    joint: int
    unknown: int
    range: tuple[float, float]


class Uses:
    """Numbers of others that a group reads, in the order of first use: the numbering that twins share."""

    def __init__(self) -> None:
        self.bodies: dict[int, int] = {}
        self.drives: dict[int, int] = {}
        self.solved: dict[tuple[int, str], int] = {}
        self.given: dict[Name, Any] = {}


class Numbers(Protocol):
    """Source of the numbers of a group: its unknowns, inputs, geometry and the bodies solved before."""

    def unknown(self, k: int) -> Number: ...
    def drive(self, row: int) -> Number: ...
    def solved(self, j: int, name: str) -> Number: ...
    def given(self, key: Name, numbers: Any) -> Any: ...
    def body(self, b: int) -> Frame: ...


class Reference:
    """Numbers of the reference, floats, or arrays over twins; notes what is used."""

    def __init__(self, group: Group) -> None:
        self.group, self.setting, self.uses = group, group.setting, group.uses

    def unknown(self, k: int) -> Number:
        return self.group.start[k]

    def drive(self, row: int) -> Number:
        self.uses.drives.setdefault(row, len(self.uses.drives))
        x: Any = self.setting.inputs[self.group.twins.drives.get(row, row)]
        return x if isinstance(x, np.ndarray) else float(x)

    def solved(self, j: int, name: str) -> Number:
        self.uses.solved.setdefault((j, name), len(self.uses.solved))
        return float(self.setting.coordinates[j][name])

    def given(self, key: Name, numbers: Any) -> Any:
        if key not in self.uses.given:
            cleaned = clean(numbers)
            self.uses.given[key] = _last_as_arrays(np.array(cleaned)) if self.group.twins.count else cleaned
        return self.uses.given[key]

    def body(self, b: int) -> Frame:
        self.uses.bodies.setdefault(b, len(self.uses.bodies))
        which, poses = self.group.twins.bodies.get(b, b), self.setting.reference
        place, axes = poses.position[which], np.swapaxes(poses.rotation[which], -1, -2)
        if isinstance(which, np.ndarray):
            place, axes = (_last_as_arrays(np.moveaxis(x, 0, -1)) for x in (place, axes))
            return Frame(place, axes, poses.angle[which])
        return Frame(place.tolist(), axes.tolist(), float(poses.angle[which]))


def _last_as_arrays(numbers: Floats) -> Any:
    """Nested lists of arrays along the last axis, which is that of twins."""
    return [list(x) for x in numbers] if numbers.ndim > 2 else list(numbers)


class Twins:
    """Joints, bodies and inputs of all twins (twins,) by those of the group that stands for them."""

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.joints: dict[int, Ints] = {}
        self.bodies: dict[int, Ints] = {}
        self.drives: dict[int, Ints] = {}


class Known(dict[int, Frame]):
    """Frames of bodies; those of earlier groups are read where they are met first."""

    def __init__(self, numbers: Numbers, ground: Frame) -> None:
        super().__init__({0: ground})
        self.numbers = numbers

    def __missing__(self, b: int) -> Frame:
        self[b] = self.numbers.body(b)
        return self[b]


class Group:
    """One structural group at its reference: tree, cuts, struts, names and starts of its unknowns."""

    def __init__(self, setting: Setting, tree: GroupTree, label: object = None) -> None:
        self.setting, self.mechanism, self.frames = setting, setting.mechanism, setting.frames
        self.planar, self.label = setting.planar, label
        self.ground = Frame(clean(self.frames.position[0]), clean(self.frames.rotation[0].T))
        self.open(tree)
        self.spins = [s for s in setting.spins if s.body in self.own and s.body not in self.held]
        self.modes = dict.fromkeys(self.struts, (1.0, 1.0))
        self.twins, self.curved = Twins(), False
        #: Whether angles of relations are functions of poses, which are principal; else unknowns or sums.
        self.by_poses = False
        #: A closed form, and whether it solves: its angles do not count turns.
        self.form: Form | None = None
        self.direct = False
        self.mode: Number = 1.0
        #: Coordinates that need no unknown, and those that the closed form gives.
        self.values: Mapping[Name, Number] = {}
        self.closed: dict[Name, Number] = {}
        self.forget()

    def open(self, tree: GroupTree) -> None:
        """Take the bodies and joints of a tree."""
        self.index, self.links, self.cuts, self.struts = tree.number - 1, tree.links, tree.cuts, tree.struts
        self.own = [link.body for link in tree.links] + [b for strut in tree.struts for b in strut.bodies]
        self.held = {b for strut in tree.struts for b in strut.bodies}

    def forget(self) -> None:
        """Begin without unknowns and numbers."""
        self.uses = Uses()
        self.names: list[Name] = []
        self.start: list[Number] = []
        self.turns: list[bool] = []
        self.zero: dict[int, Number] = dict.fromkeys(self.own, 0.0)
        self.reach: list[Number] = []
        self.gimbal: list[Number] = []
        self.gaps: list[int] = []
        self.ends: list[End] = []
        #: Rows that determine auxiliary unknowns.
        self.further: list[int] = []
        #: All numbers of the geometry, in order of use: (numbers,) or (numbers, twins).
        self.geometry: Floats = np.zeros(0)

    def find_reference(self, closed_forms: bool = True) -> Number:
        """Starts of the unknowns, signs of closed forms and struts, zeros of the angles in the plane."""
        # It returns whether a closed form is at no dead point, where it has no root to differentiate.
        numbers, regular = Reference(self), np.True_
        self.form = form_of(self)
        if self.form is not None:
            self.mode, regular = self._mode_of_form(self.form, numbers)
            if not np.any(regular):
                self.form = None
        self.direct = closed_forms and self.form is not None and not self.frames.relations
        bodies = self.place(numbers)
        for strut in self.struts:
            self.modes[strut] = mode_of(self, numbers, bodies, strut)
        if self.planar:
            angle, of = self.setting.reference.angle, self.twins.bodies
            off = {b: np.array(clean(angle[of.get(b, b)] - bodies[b].angle))[()] for b in self.own}
            self.zero = {link.body: off[link.body] - off.get(link.parent, 0.0) for link in self.links}
        self.uses.given.clear()
        self.evaluate(numbers)
        shape = (-1, self.twins.count) if self.twins.count else (-1,)
        parts = [np.reshape(np.array(x, dtype=float), shape) for x in self.uses.given.values()]
        self.geometry = np.concatenate([np.zeros((0, *shape[1:])), *parts])
        self.turns = [len(name) > 2 or not is_length(name[1]) for name in self.names]
        return regular

    def _mode_of_form(self, form: Form, numbers: Reference) -> tuple[Number, Number]:
        """The sign with which a dyad stands as at the reference, by trial, and whether one does."""
        misses: list[Number] = []
        for sign in (1.0, -1.0):
            self.reach, miss = [], 0.0
            try:
                for name, x in form.values(numbers, sign).items():
                    at = self.at_reference(*name)
                    turn = isinstance(x, tuple)
                    c, s = (x[0] - cos(at), x[1] - sin(at)) if turn else ((x - at) / self.frames.size, 0.0)
                    miss += sqrt(c * c + s * s)
            except (ZeroDivisionError, ValueError):
                miss = np.inf
            misses.append(np.where(np.isfinite(miss), miss, np.inf)[()])
        return np.where(misses[1] < misses[0], -1.0, 1.0)[()], np.isfinite(np.minimum(*misses))

    def at_reference(self, j: int, name: str) -> Number:
        """A coordinate at the reference; 0 where a body is free, which counts from there."""
        every = self.setting.coordinates
        if j in self.twins.joints:
            return np.array([every[twin][name] for twin in self.twins.joints[j].tolist()])
        return float(every.get(j, {}).get(name, 0.0))

    @property
    def shape(self) -> object:
        """The type of groups that share a routine; None for one that shares with none."""
        return None if self.label is None else (self.label, self.form is None, self.direct)

    def prepare(self) -> None:
        """Note the geometry, which is left out of twins until one is traced."""
        if not self.uses.given and len(self.geometry):
            self.form = None if self.form is None else form_of(self)
            self.evaluate(Reference(self))

    def unknown(self, numbers: Numbers, name: Name, start: Callable[[], Number]) -> Number:
        """An unknown, which is made where it is met first; ``start`` gives its value at the reference."""
        if name not in self.names:
            self.names.append(name)
            self.start.append(start())
        return numbers.unknown(self.names.index(name))

    def coordinate(self, numbers: Numbers, j: int, name: str) -> Number | None:
        """A driven coordinate, one of the tree, or one that an earlier group has solved; else None."""
        row = self.setting.drives.get((j, name))
        if row is not None:
            return numbers.drive(row)
        if (j, name) in self.values:
            return self.values[j, name]
        if any(_joint_of(link) == j for link in self.links):
            return self.unknown(numbers, (j, name), lambda: self.at_reference(j, name))
        # Earlier groups have solved the coordinates of joints in their trees.
        before = self.setting.carriers.get(j, self.index) < self.index
        return numbers.solved(j, name) if before else None

    def side(self, numbers: Numbers, j: int, side: int) -> Side:
        """Origin and axes of a joint's frame on one of its bodies."""
        which = self.twins.joints.get(j, j)
        origin, axes = (table[which, side] for table in (self.frames.origin, self.frames.axes))
        if self.twins.count:
            origin, axes = np.moveaxis(origin, 0, -1), np.moveaxis(axes, 0, -1)
        return numbers.given(("origin", j, side), origin), numbers.given(("axes", j, side), axes)

    def parameter(self, numbers: Numbers, j: int, name: str) -> Number:
        which = self.twins.joints.get(j, j)
        return numbers.given((name, j), [self.frames.parameters[name][which]])[0]

    def place(self, numbers: Numbers) -> dict[int, Frame]:
        """Frames of the frame, the known bodies and the bodies of the tree."""
        if self.form is None:
            return self.placed(numbers, {})
        (mode,) = numbers.given(("mode",), [self.mode])
        self.closed = self.form.values(numbers, mode)
        if not self.direct:
            self.reach = []
        return self.placed(numbers, self.closed if self.direct else {})

    def placed(self, numbers: Numbers, values: Mapping[Name, Number]) -> dict[int, Frame]:
        """Frames of the bodies of the tree, some of whose coordinates have these values."""
        bodies, self.values = Known(numbers, self.ground), values
        for link in self.links:
            frame = self._carried(numbers, bodies, link)
            zero = numbers.given(("zero", link.body), [self.zero[link.body]])[0]
            bodies[link.body] = Frame(frame.place, frame.axes, frame.angle + zero, frame.motion)
        return bodies

    def _carried(self, numbers: Numbers, bodies: dict[int, Frame], link: Link) -> Frame:
        """The frame of a body after the elementary motions of its joint, taken backwards from the child."""
        near, far, sign = (0, 1, 1) if link.forward else (1, 0, -1)
        j = _joint_of(link)
        if j < 0:
            b, poses = link.body, self.setting.reference
            place = numbers.given(("place", b), poses.position[b])
            axes = numbers.given(("pose", b), poses.rotation[b].T)
            frame = Frame(place, axes, numbers.given(("angle", b), [poses.angle[b]])[0])
            coordinates, steps = _free(self.planar)
        else:
            kind = type_of_joint(self.mechanism, j)
            assert kind.pair is not None
            frame = bodies[link.parent].end(*self.side(numbers, j, near))
            coordinates, steps = kind.coordinates, list(kind.pair.steps)
        frame = stepped(
            frame,
            steps,
            lambda k: self.coordinate(numbers, j, coordinates[k]),
            lambda name: self.parameter(numbers, j, name),
            sign,
        )
        return frame if j < 0 else frame.back(*self.side(numbers, j, far))

    def evaluate(self, numbers: Numbers) -> tuple[dict[int, Frame], list[Number]]:
        """All bodies, and the rows that are zero where the group is closed."""
        self.reach, self.gimbal, self.gaps, self.ends, self.further = [], [], [], [], []
        closure = Closure(self, numbers, self.place(numbers))
        for strut in self.struts:
            closure.rows += place_strut(self, numbers, closure.bodies, strut)
        for j in self.cuts:
            closure.close(j)
        closure.rows += map(closure.held, self.spins)
        return closure.bodies, closure.rows

    def ends_of(self, numbers: Numbers, bodies: Mapping[int, Frame], j: int) -> tuple[Frame, Frame]:
        """The frames of a joint on its two bodies."""
        a, b = self.mechanism.joint_bodies(j)[:2]
        return bodies[a].end(*self.side(numbers, j, 0)), bodies[b].end(*self.side(numbers, j, 1))

    def drives_of(self, j: int) -> dict[str, int]:
        """Driven coordinates of a joint, with the numbers of their drives."""
        names = type_of_joint(self.mechanism, j).coordinates
        return {n: self.setting.drives[j, n] for n in names if (j, n) in self.setting.drives}


@dataclass(eq=False)
class Closure:
    """The rows of a group that are zero where it is closed, while they are written."""

    group: Group
    numbers: Numbers
    bodies: dict[int, Frame]
    rows: list[Number] = field(default_factory=list)

    def close(self, j: int) -> None:
        """Rows of a cut joint: its equations, and its drives."""
        group, numbers, rows = self.group, self.numbers, self.rows
        kind, driven = type_of_joint(group.mechanism, j), group.drives_of(j)
        if j in group.frames.relations:
            relations = group.frames.relations[j]
            for relation in relations.constraints:
                found = self.sum(j, relation)
                if kind.gap and relation.name.startswith(kind.gap):
                    group.gaps.append(len(rows))
                rows.append(found)
            for name, row in driven.items():
                rows.append(self.sum(j, relations.coordinates[name]) - numbers.drive(row))
            return
        assert kind.pair is not None
        A, B = group.ends_of(numbers, self.bodies, j)
        d, C = relative(A, B)
        held = [e for e in kind.pair.functions if e.kind == "along" and not e.parameter]
        by_world = len(held) == (2 if group.planar else 3)  # a point is held: the same in any axes
        for label, elementary in kind.pair.constraints:
            if by_world and elementary in held:
                axis = elementary.numbers[0]
                rows.append(B.place[axis] - A.place[axis])
                continue
            if kind.is_contact and label == kind.gap:
                group.gaps.append(len(rows))
            of = elementary.parameter
            rows.append(value(elementary, d, C, group.parameter(numbers, j, of) if of else None))
        for name, row in driven.items():
            elementary = kind.pair.coordinates[kind.coordinates.index(name)]
            angle, x = sine_cosine(elementary, d, C), numbers.drive(row)
            rows.append(differs(*angle, x) if angle else value(elementary, d, C) - x)

    def held(self, spin: LockedRotation) -> Number:
        """A passive rotation is held: a line of the body stays square to one of the frame."""
        given, body = self.numbers.given, spin.body
        in_frame = self.group.ground.along(given(("spin in frame", body), spin.in_frame))
        return dot(in_frame, self.bodies[body].along(given(("spin in body", body), spin.in_body)))

    def sum(self, j: int, relation: Relation) -> Number:
        """A sum of terms less its constant; rows of auxiliary unknowns are added on the way."""
        first = len(self.rows)
        terms = [
            term.factor * self._term((j, relation.name, k), term) for k, term in enumerate(relation.terms)
        ]
        self.group.further += range(first, len(self.rows))
        return total(terms) - relation.constant

    def _term(self, name: Name, term: Term) -> Number:
        group, given, bodies = self.group, self.numbers.given, self.bodies
        relations = group.frames.relations[name[0]]
        pair = relations.pairs[term.pair]
        if term.kind == "turned":
            return bodies[pair.bodies[1]].angle
        if term.kind == "user":
            assert relations.function is not None
            function = replace(relations.function, size=float(group.frames.size))
            reference = group.setting.reference[list(relations.bodies)]
            frames = [bodies[b] for b in relations.bodies]
            return traced(function, frames, reference, group.mechanism.joint_ids[name[0]])
        A, B = (
            bodies[x].end(
                given((*name, "origin", k), pair.origin[k]), given((*name, "axes", k), pair.axes[k])
            )
            for k, x in enumerate(pair.bodies)
        )
        d, C = relative(A, B)
        if term.kind == "contact":
            group.curved, of = True, relations.curves
            unknown = partial(self._on_profile, name, of)
            gap, rows = contact_of(term.numbers[0], of, d, C, group.frames.size, unknown)
            self.rows += rows
            return gap - term.parameter
        x = minus(B.place, A.place)
        elementary = term.elementary
        angle = (x[1], x[0]) if term.kind == "line" else sine_cosine(elementary, d, C)
        if angle is None:
            return value(elementary, d, C, term.parameter)

        def start() -> Number:
            x = atan2(*angle)
            return x + 2 * np.pi * rounded((term.near - x) * (0.5 / np.pi))

        if group.by_poses:
            return start()
        if term.kind == "counted":
            at_reference = start() if isinstance(self.numbers, Reference) else 0.0
            (begin,) = given((*name, "begin"), [at_reference])
            counted = self._counted(pair, begin)
            if counted is not None:
                return counted

        theta = group.unknown(self.numbers, name, start)
        self.rows.append(differs(*angle, theta))
        return theta

    def _counted(self, pair: PairFrames, begin: Number) -> Number | None:
        """The angle as a sum of coordinates of parallel hinges, which count turns; None without a chain."""
        group, (start, end) = self.group, pair.bodies
        frames, mechanism = group.frames, group.mechanism
        axis = frames.rotation[start] @ pair.axes[0][:, 2]
        reached: dict[int, Number] = {start: begin}
        todo = [start]
        while todo and end not in reached:
            body = todo.pop(0)
            for j in range(mechanism.n_joints):
                ends = mechanism.joint_bodies(j)[:2]
                if not type_of_joint(mechanism, j).is_bearing or body not in ends or {*ends} <= {*reached}:
                    continue
                along = float(axis @ frames.rotation[ends[0]] @ frames.axes[j, 0, :, 2])
                x = group.coordinate(self.numbers, j, "angle") if abs(along) > _PARALLEL else None
                if x is not None:
                    other, sign = (ends[1], along) if ends[0] == body else (ends[0], -along)
                    x = x - group.setting.coordinates[j]["angle"]
                    reached[other] = reached[body] + float(np.sign(sign)) * x
                    todo.append(other)
        return reached.get(end)

    def _on_profile(self, name: Name, curves: Sequence[Curve], k: int, start: Callable[[], Number]) -> Number:
        """The place of a contact on one of its curves, an unknown."""
        group, of = self.group, (*name, k)
        s = group.unknown(self.numbers, of, start)
        if not curves[k].closed:
            low, high = curves[k].breaks[[0, -1]].tolist()
            group.ends.append(End(name[0], group.names.index(of), (low, high)))
        return s


def _free(planar: bool) -> tuple[tuple[str, ...], list[Step]]:
    """Coordinates and steps of a body that no joint carries."""
    axes = (0, 1) if planar else (0, 1, 2)
    turns = ((2, "angle"),) if planar else tuple((k, f"angle_{'xyz'[k]}") for k in axes)
    steps = [Step("shift", k, n) for n, k in enumerate(axes)]
    steps += [Step("turn", k, n) for n, (k, _) in enumerate(turns, len(axes))]
    return (*("xyz"[k] for k in axes), *(name for _, name in turns)), steps


def _joint_of(link: Link) -> int:
    """The joint by which a body hangs, as a name: that of a free body is its own and below zero."""
    return link.joint if link.joint >= 0 else -1 - link.body
