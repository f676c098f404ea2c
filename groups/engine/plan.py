"""A model's groups with their routines, and the places of all numbers in one array."""

# The array X has a row for every number and a column for every instant, so that it is the storage of both
# lives and of the answer: inputs with two rates, a record for every body, unknowns, their rates, quality, the
# time and the ways of the inputs, and the bodies' axes in space, which machine code keeps for a block only.

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from groups.engine.kinematics import Group, Twins, Uses
from groups.engine.routine import Record, Routine, constants_of
from groups.rotations import plane_rotation, rotation_of
from groups.setting import Setting
from groups.tree import GroupTree
from mbssa import Mechanism, Structure
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.nodes import Number
from mbssa.joints.axes import in_space, whole_turns
from mbssa.joints.catalogue import is_length
from mbssa.joints.poses import Poses

if TYPE_CHECKING:
    from groups.branches.prover import Prover
    from groups.engine.machine import Machine
    from groups.model import Model

#: Quality of a group at an instant, in the order of its rows.
QUALITY = CONDITION, RESIDUAL, REACH, GIMBAL, FAR, STEPS = range(6)
#: Time, by time step the way of the input that goes farthest, then the longest of these, and their sums.
CLOCK = TIME, WAY, SUM = range(3)
#: Condition below which a group is singular at the reference.
FLAT = 1e-9
#: Least condition beside the reference's.
LEAST = 1e-7
#: Seconds of making machine code: at least, and by operation.
PRICE = 0.05, 7e-5
#: Seconds of an operation of floats, and of NumPy: of its call, and by instant; steps of Newton's method.
FLOATS, OPERATION, STEPWISE = 5e-8, (1e-6, 1.5e-9), 2
#: Twins from which on they are evaluated at once, on arrays.
MANY = 8


#: By structure, routines by what groups have in common that share one.
_ROUTINES: WeakKeyDictionary[Structure, dict[object, list[Routine]]] = WeakKeyDictionary()


def price_of(operations: int) -> float:
    """Seconds of making machine code of so many operations, roughly."""
    return PRICE[0] + PRICE[1] * operations


def seconds_of(operations: int, columns: int) -> float:
    """Seconds of so many operations on arrays, roughly."""
    return operations * (OPERATION[0] + OPERATION[1] * columns)


@dataclass(eq=False)
class Part:
    """A group in its model: its routine, the numbers of its geometry, and its rows in the array."""

    index: int
    group: Group
    routine: Routine
    geometry: list[float]
    flat: float  # least condition
    dead: bool  # singular there
    sign: float  # of the determinant there
    state: Ints  # rows of the unknowns
    records: Ints  # rows of its own bodies
    answer: Ints  # those of them that are part of the answer
    quality: int  # first row of its quality
    known: tuple[int, ...]  # indices of the groups that it reads
    rows_of: dict[int, Ints] = field(default_factory=dict)

    @property
    def turns(self) -> Bools:
        """(n,) whether an unknown is an angle."""
        return np.array(self.group.turns, dtype=np.bool_)

    @property
    def has_one_mode(self) -> bool:
        """Whether the sign of the determinant tells the mode, as there are two at most."""
        return self.routine.linear or self.group.form is not None

    @property
    def n(self) -> int:
        return self.routine.n


class Plan:
    """All groups of a model; ValueError where equations do not determine one at the reference."""

    def __init__(self, model: Model) -> None:
        #: The machine code, once it is made, and the seconds that NumPy has taken without it.
        self.machine: Machine | None = None
        #: The proof of its groups, once it is printed.
        self.prover: Prover | None = None
        #: Object code by the processors that it runs on; other processes take it.
        self.code: dict[tuple[str, str, int], bytes] = {}
        self.spent = 0.0
        self.setting = Setting.at(model.structure, model.frames, model.reference, model.inputs)
        self.mechanism = model.mechanism
        self.size = float(model.frames.size)
        self.record = Record(self.mechanism.space == "planar")
        self.inputs = len(self.setting.inputs)
        lengths = np.array([is_length(c) for c in self.mechanism.driven_coordinates], dtype=np.bool_)
        self.turning_inputs, self.scale_of_inputs = ~lengths, np.where(lengths, self.size, 1.0)
        chosen = (s.form == "Newton" and s.default is not None for s in model.solvers)
        groups = groups_of(self.setting, {g for g, by_newton in enumerate(chosen) if by_newton})
        self._routines = _ROUTINES.setdefault(model.structure, {})
        self.unknowns = sum(len(group.names) for group in groups)
        self.first_body = 3 * self.inputs
        self.first_state = self.first_body + self.mechanism.n_bodies * self.record.stored
        self.first_quality = self.first_state + 3 * self.unknowns
        self.first_clock = self.first_quality + len(QUALITY) * len(groups)
        self.first_axes = self.first_clock + len(CLOCK)
        self.height = self.first_axes + self.mechanism.n_bodies * (self.record.length - self.record.stored)
        #: (bodies, numbers) rows of their records: those of the answer, and the axes, which are apart.
        stored, width = self.record.stored, self.record.length - self.record.stored
        b = np.arange(self.mechanism.n_bodies)[:, None]
        records = self.first_body + stored * b + np.arange(stored)
        self.places: Ints = np.hstack([records, self.first_axes + width * b + np.arange(width)])
        #: Rows of the unknowns by joint and coordinate, and the first of each group.
        self._row_of = dict[Any, int]()
        self._first = list[int]()
        at = self.first_state
        for group in groups:
            self._first.append(at)
            self._row_of |= {name: row for row, name in enumerate(group.names, at) if len(name) == 2}
            at += len(group.names)
        self.start = self._reference_column(groups)
        self.parts = self._parts(groups)
        self.turns = np.array([turn for g in groups for turn in g.turns], dtype=np.bool_)
        self.scale = np.where(self.turns, 1.0, self.size)
        self.flat = np.array([part.flat for part in self.parts])[:, None]
        self.q = slice(self.first_state, self.first_state + self.unknowns)
        self.dq = slice(self.q.stop, self.q.stop + self.unknowns)
        self.ddq = slice(self.dq.stop, self.dq.stop + self.unknowns)
        #: Rows of the frame: its record, and its axes.
        self.frame = [
            slice(self.first_body, self.first_body + self.record.stored),
            slice(self.first_axes, self.first_axes + self.record.length - self.record.stored),
        ]
        self.alive = np.array([not part.dead for part in self.parts])
        for part in self.parts:
            self.alive[part.index] &= self.alive[list(part.known)].all()

    @cached_property
    def routines(self) -> list[Routine]:
        """Routines of the groups, in the order of first use."""
        return list({id(part.routine): part.routine for part in self.parts}.values())

    @cached_property
    def turning(self) -> Ints:
        """Rows of the angles whose turns are counted."""
        return np.array([self.body(b) + self.record.turn for b in self.wound], dtype=np.intp)

    @cached_property
    def operations(self) -> int:
        """Operations of all groups at an instant."""
        return sum(STEPWISE * step + rest for step, rest in (part.routine.operations for part in self.parts))

    @cached_property
    def price(self) -> float:
        """Seconds of making machine code, roughly."""
        return price_of(sum(sum(routine.operations) for routine in self.routines))

    def seconds(self, instants: int) -> float:
        """Seconds of a call for so many instants by floats, or by NumPy, roughly."""
        return min(FLOATS * instants * self.operations, seconds_of(self.operations, instants))

    def pays(self, instants: int, calls: int = 1, spent: float = 0.0) -> bool:
        """Whether machine code takes less to make than NumPy for so many calls of so many instants each."""
        return self.is_printable and spent + calls * self.seconds(instants) > self.price

    def compiles(self, instants: int, calls: int = 1) -> bool:
        """Whether machine code is made, or pays beside what NumPy has taken already."""
        return self.machine is not None or self.pays(instants, calls, self.spent)

    @cached_property
    def is_printable(self) -> bool:
        """Whether all is traced, so that machine code can be made of it."""
        return not any(op == "user" for routine in self.routines for op, _, _ in routine.graph.nodes)

    def _reference_column(self, groups: Sequence[Group]) -> Floats:
        """The array's column at the reference, at rest."""
        column, reference = np.zeros(self.height), self.setting.reference
        column[0 : self.first_body : 3] = self.setting.inputs
        poses = zip(reference.position, reference.rotation, reference.angle, strict=True)
        column[self.places] = [self.record.values(*pose) for pose in poses]
        for first, group in zip(self._first, groups, strict=True):
            column[first : first + len(group.names)] = group.start
        column[self.first_quality : self.first_clock : len(QUALITY)] = 1.0
        return column

    def bodies(self, X: Floats) -> Floats:
        """(bodies, numbers, instants) records."""
        rows = X[self.first_body : self.first_state]
        return rows.reshape(self.mechanism.n_bodies, self.record.stored, X.shape[1])

    def poses(self, X: Floats) -> Poses:
        """Poses (instants, bodies) in an array of the full height."""
        bodies, axes = self.bodies(X).T, X[self.first_axes :].T
        angle, place = bodies[:, self.record.turn], bodies[:, list(self.record.position)].swapaxes(1, 2)
        if self.record.planar:
            return Poses(in_space(place), plane_rotation(angle), angle)
        rotation = axes.reshape(len(axes), -1, 3, 3)
        return Poses(place, rotation, np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0]))

    def quality(self, X: Floats) -> Floats:
        """(groups, numbers, instants) quality."""
        return X[self.first_quality : self.first_clock].reshape(len(self.parts), len(QUALITY), X.shape[1])

    def axes(self, bodies: Floats) -> Floats:
        """(bodies, numbers, instants) axes by records."""
        turn = self.record.turn
        if self.record.planar:
            return np.stack([np.cos(bodies[:, turn]), np.sin(bodies[:, turn])], axis=1)
        q = bodies[:, turn : turn + 4].transpose(0, 2, 1)
        return rotation_of(q).reshape(*q.shape[:2], 9).transpose(0, 2, 1)

    def body(self, b: int) -> int:
        """First row of a body's record."""
        return self.first_body + b * self.record.stored

    def inputs_near(self, goal: Floats) -> Floats:
        """Inputs (D,) at the reference, angles half a turn at most from those of a goal (D,)."""
        reference = self.start[0 : self.first_body : 3]
        return np.asarray(reference + whole_turns(goal - reference) * self.turning_inputs)

    def up_to(self, parts: Iterable[Part]) -> list[Part]:
        """Groups and all that they hang on, in their order."""
        found = {part.index for part in parts}
        for part in reversed(self.parts):  # what a group reads comes before it
            if part.index in found:
                found.update(part.known)
        return [self.parts[g] for g in sorted(found)]

    def placing(self, turning: Ints) -> list[Part]:
        """Groups that place bodies of which rows of angles are given, and all that they hang on."""
        bodies = set(((turning - self.first_body) // self.record.stored).tolist())
        return self.up_to(part for part in self.parts if not bodies.isdisjoint(part.group.own))

    def rows_of_part(self, part: Part) -> Ints:
        """All rows that a group writes."""
        states = [part.state + k * self.unknowns for k in range(3)]
        return np.concatenate([part.records, *states, part.quality + np.arange(len(QUALITY))])

    def rows_around(self, part: Part) -> Ints:
        """All rows that a group reads or writes."""
        parts = [self.parts[k] for k in (*part.known, part.index)]
        own = [self.rows_of_part(each) for each in parts]
        return np.concatenate([np.arange(self.first_body), self.places[0], *own])

    def rows_of_body(self, b: int) -> Ints:
        """Rows of a body's record."""
        return np.asarray(self.places[b])

    def rows_of(self, group: Group, inputs: Iterable[tuple[str, Any]]) -> list[int]:
        """Rows of inputs of a group's routine."""
        uses, found = group.uses, list[int]()
        drives, solved, bodies = list(uses.drives), list(uses.solved), list(uses.bodies)
        for name, k in inputs:
            if name == "b":
                found.append(self.places[bodies[k[0]], k[1]])
            else:
                number, order = divmod(k, 3)
                of_drive = name == "u"
                row = 3 * drives[number] if of_drive else self._row_of[solved[number]]
                found.append(row + order * (1 if of_drive else self.unknowns))
        return found

    def rows(self, part: Part, used: Sequence[tuple[str, Any]]) -> Ints:
        """Rows of the inputs that a function of a part's routine takes."""
        key = id(used)
        if key not in part.rows_of:
            part.rows_of[key] = np.array(self.rows_of(part.group, used), dtype=np.intp)
        return part.rows_of[key]

    @cached_property
    def wound(self) -> list[int]:
        """Planar bodies whose angles are counted over all instants: closed forms, and what hangs on them."""
        found = set[int]()
        for part in self.parts if self.record.planar else ():
            if part.group.direct or not found.isdisjoint(part.known):
                found.add(part.index)
        return [b for g in sorted(found) for b in self.parts[g].group.own]

    def _parts(self, groups: Sequence[Group]) -> list[Part]:
        """Groups with their routines; twins share one if its order of pivots is good for them."""
        alike: dict[object, list[Group]] = {}
        for group in groups:
            alike.setdefault(group.shape or group.index, []).append(group)
        known, found = self._known(groups), list[Part]()
        for twins in alike.values():
            constant = constants_of(twins)
            while twins:
                routine, J = self._routine_of(twins, constant)
                fits = routine.suits(J)
                fits[0] = True
                chosen = [group for group, fit in zip(twins, fits.tolist(), strict=True) if fit]
                found += self._parts_by(routine, chosen, J[fits], known)
                twins = [group for group, fit in zip(twins, fits.tolist(), strict=True) if not fit]
        return sorted(found, key=lambda part: part.index)

    def _known(self, groups: Sequence[Group]) -> list[tuple[int, ...]]:
        """By group, the indices of those that it reads."""
        owner: dict[Any, int] = {b: group.index for group in groups for b in group.own}
        owner |= {name: group.index for group in groups for name in group.names if len(name) == 2}
        needs = ({owner[x] for x in (*g.uses.bodies, *g.uses.solved) if x} for g in groups)
        return [tuple(sorted(each)) for each in needs]

    def _routine_of(self, twins: list[Group], constant: Bools) -> tuple[Routine, Floats]:
        """A routine that suits the first of some twins, and the Jacobians of all at their references."""
        same = twins[0].geometry[constant].tobytes()
        key = None if twins[0].shape is None else (twins[0].shape, constant.tobytes(), same)
        known = self._routines.get(key, [])
        for routine in known:  # of the same structure in another pose
            J = routine.jacobians_at(len(twins), self.at_reference(twins, constant))
            if routine.suits(J[:1])[0]:
                return routine, J
        routine = Routine(twins[0], self.record, constant, self.at_reference(twins[:1], constant))
        if key is not None:
            self._routines[key] = [*known, routine]
        return routine, routine.jacobians_at(len(twins), self.at_reference(twins, constant))

    def at_reference(self, twins: Sequence[Group], constant: Bools) -> Callable[[str, Any], Number]:
        """Inputs of a routine of some groups, at their references (twins,)."""

        def of(name: str, k: Any) -> Floats:
            if name == "g":
                return np.array([group.geometry[numbers[k]] for group in twins])
            if name == "q":
                return np.array([group.start[k] for group in twins])
            return self.start[[self.rows_of(group, [(name, k)])[0] for group in twins]]

        numbers = np.flatnonzero(~constant)
        return of

    def _parts_by(
        self, routine: Routine, groups: list[Group], J: Floats, known: list[tuple[int, ...]]
    ) -> list[Part]:
        """Groups of one routine, with their Jacobians at the reference."""
        conditions = routine.conditions_at(J)
        dead = conditions < FLAT
        conditions = np.maximum(conditions, 1e-300)
        with np.errstate(all="ignore"):
            shares = conditions * np.where(dead, 1.0, 1.0 / routine.pivots_at(J))
        if routine.redundant:  # pivots of squares
            shares *= conditions
        flats = conditions * (np.sqrt(LEAST) if routine.redundant and routine.n else LEAST)
        numbers = np.concatenate([shares, flats[None]]).T.tolist()
        own = self.places[np.array([group.own for group in groups], dtype=np.intp)]
        first = np.array([self._first[group.index] for group in groups], dtype=np.intp)
        states = first[:, None] + np.arange(len(groups[0].names))
        signs = np.ones(len(J)) if routine.redundant or not routine.n else np.sign(np.linalg.det(J))
        records, answers = (x.reshape(len(groups), -1) for x in (own, own[..., : self.record.stored]))
        each = zip(groups, numbers, dead.tolist(), signs.tolist(), states, records, answers, strict=True)
        return [
            Part(
                group.index, group, routine, [*routine.geometry(group), *shares], shares[-1], is_dead, sign,
                state, record, answer, self.first_quality + group.index * len(QUALITY), known[group.index],
            )
            for group, shares, is_dead, sign, state, record, answer in each
        ]  # fmt: skip


def groups_of(setting: Setting, by_newton: Collection[int] = ()) -> list[Group]:
    """All groups of a structure; those of one labelled topology are twins, which are recognised first."""
    trees, labels = setting.forest
    alike: dict[object, list[int]] = {}
    for g, label in enumerate(labels):
        alike.setdefault(g if g in by_newton else label or g, []).append(g)
    found: dict[int, Group] = {}
    for key, twins in alike.items():
        label, tree = None if isinstance(key, int) else key, trees[twins[0]]
        is_plain = not tree.struts and all(link.joint >= 0 for link in tree.links)
        if len(twins) >= MANY and is_plain and not setting.spins:
            found |= zip(twins, _at_once(setting, [trees[g] for g in twins], label), strict=True)
            continue
        for g in twins:
            found[g] = Group(setting, trees[g], label)
            found[g].find_reference(closed_forms=g not in by_newton)
    return [found[g] for g in range(len(trees))]


def _at_once(setting: Setting, trees: Sequence[GroupTree], label: object) -> list[Group]:
    """Twins, whose references are found on arrays."""
    group, count = Group(setting, trees[0], label), len(trees)
    joints, bodies = [tree.joints for tree in trees], [_bodies_of(setting.mechanism, tree) for tree in trees]
    group.twins = twins = Twins(count)
    twins.joints = dict(zip(joints[0], np.array(joints).T, strict=True))
    twins.bodies = dict(zip(bodies[0], np.array(bodies).T, strict=True))
    drives = setting.drives
    for j, every in twins.joints.items():
        for name in group.drives_of(j):
            twins.drives[drives[j, name]] = np.array([drives[twin, name] for twin in every.tolist()])
    group.zero = {b: np.zeros(count) for b in group.own}
    with np.errstate(all="ignore"):
        every_regular = group.find_reference()
    group.twins = Twins()
    starts, zeros, modes, regular = (
        np.array([np.broadcast_to(x, count) for x in every]).reshape(-1, count).T.tolist()
        for every in (group.start, group.zero.values(), [group.mode], [every_regular])
    )
    found = []
    for k, tree in enumerate(trees):
        twin = copy(group)
        twin.open(tree)
        if group.form is not None and not regular[k][0]:
            twin.forget()
            twin.find_reference()
        else:
            joint, body = (dict(zip(x[0], x[k], strict=True)) for x in (joints, bodies))
            (twin.mode,), twin.geometry, twin.start = modes[k], group.geometry[:, k].copy(), starts[k]
            twin.uses = Uses()  # without the geometry
            twin.uses.bodies = {body[b]: i for b, i in group.uses.bodies.items()}
            twin.uses.drives = {int(twins.drives[row][k]): i for row, i in group.uses.drives.items()}
            twin.names = [(joint[j], name) for j, name in group.names]
            twin.zero = dict(zip(twin.own, zeros[k], strict=True))
        found.append(twin)
    return found


def _bodies_of(mechanism: Mechanism, tree: GroupTree) -> list[int]:
    """Own bodies of a tree of links and cuts, and the known ones beside the frame, in order of its joints."""
    ends = [b for j in tree.cuts for b in mechanism.joint_bodies(j)[:2]]
    own = dict.fromkeys(link.body for link in tree.links)
    return [b for b in own | dict.fromkeys([*(link.parent for link in tree.links), *ends]) if b]
