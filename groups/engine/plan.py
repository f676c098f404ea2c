"""A model's groups with their routines, and the places of all numbers in one array.

The array X has a row for every number and a column for every instant, so that it is the storage of both lives
and of the answer: inputs with two rates, a record for every body, unknowns, their rates, quality, and the
bodies' axes in space, which machine code keeps for a block of instants only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from groups.engine.kinematics import Group
from groups.engine.routine import Record, Routine, constants_of
from groups.setting import Setting
from mbssa.arrays import Floats
from mbssa.joints.catalogue import is_length

#: Quality of a group at an instant, in the order of its rows.
QUALITY = CONDITION, RESIDUAL, REACH, GIMBAL, FAR, STEPS = range(6)
#: Condition below which a group is singular at the reference.
FLAT = 1e-9
#: Least condition beside the reference's.
LEAST = 1e-7


@dataclass(eq=False)
class Part:
    """A group in its model: its routine, the numbers of its geometry, and its rows in the array."""

    index: int
    group: Group
    routine: Routine
    geometry: list
    flat: float  # least condition
    dead: bool  # singular there
    sign: float  # of the determinant there
    state: np.ndarray  # rows of the unknowns
    records: np.ndarray  # rows of its own bodies
    answer: np.ndarray  # those of them that are part of the answer
    quality: int  # first row of its quality
    known: tuple[int, ...]  # indices of the groups that it reads
    rows_of: dict = field(default_factory=dict)

    @property
    def n(self):
        return self.routine.n

    @property
    def turns(self):
        """(n,) whether an unknown is an angle."""
        return np.array(self.group.turns, dtype=np.bool_)


class Plan:
    """All groups of a model.

    Raises
    ------
    ValueError
        A group that its equations do not determine at the reference.
    """

    def __init__(self, model):
        structure = model.structure
        self.lives, self.asked = {}, 0
        self.setting = Setting.at(structure, model.frames, model.reference)
        self.mechanism = model.mechanism
        self.size = float(model.frames.size)
        self.record = Record(self.mechanism.space == "planar")
        self.inputs = len(self.setting.inputs)
        self.scale_of_inputs = np.array(
            [self.size if is_length(c) else 1.0 for c in self.mechanism.driven_coordinates]
        )
        self.turning_inputs = np.array(
            [not is_length(c) for c in self.mechanism.driven_coordinates], dtype=bool
        )
        groups = self._groups(structure, model.solvers)
        self.unknowns = sum(len(group.names) for group in groups)
        self.first_body = 3 * self.inputs
        self.first_state = self.first_body + self.mechanism.n_bodies * self.record.stored
        self.first_quality = self.first_state + 3 * self.unknowns
        self.first_axes = self.first_quality + len(QUALITY) * len(groups)
        self.height = self.first_axes + self.mechanism.n_bodies * (self.record.length - self.record.stored)
        self._place_unknowns(groups)
        self.start = self._reference_column(groups)
        #: What machine code finds before the first instant: the first quaternion has the sign that it has.
        self.before = self.start[self.first_body : self.first_axes + 1] * self.record.planar
        self.parts = self._parts(groups)
        self.scale = np.concatenate([[1.0 if t else self.size for t in g.turns] for g in groups] + [[]])
        self.turns = np.concatenate([g.turns for g in groups] + [[]]).astype(bool)
        self.flat = np.array([part.flat for part in self.parts])[:, None]
        self.q = slice(self.first_state, self.first_state + self.unknowns)
        self.dq = slice(self.q.stop, self.q.stop + self.unknowns)
        self.ddq = slice(self.dq.stop, self.dq.stop + self.unknowns)
        self.operations = np.array([part.routine.operations for part in self.parts]).sum(axis=0)
        self.wound = self._wound()
        self.alive = np.array([not part.dead for part in self.parts])
        for part in self.parts:
            self.alive[part.index] &= self.alive[list(part.known)].all()
        nodes = (node for part in self.parts for node in part.routine.graph.nodes)
        #: Whether users' functions have to be called in Python.
        self.is_opaque = any(op == "user" for op, _, _ in nodes)
        #: Parts whose signs hold where their paths may not.
        self.signed = [part for part in self.parts if part.group.form is not None or part.group.struts]

    def _groups(self, structure, solvers):
        found, solved = [], set()
        for g in range(structure.n_groups):
            solver = solvers[g]
            forms = solver.form != "Newton" or solver.default is None
            found.append(Group(self.setting, g, frozenset(solved), forms))
            solved |= {link.joint for link in found[-1].links if link.joint >= 0}
        return found

    def _place_unknowns(self, groups):
        """Rows of the unknowns by joint and coordinate, and of each group."""
        self._row_of, self._first, at = {}, [], self.first_state
        for group in groups:
            self._first.append(at)
            for name in group.names:
                self._row_of[name[:2] if len(name) == 2 else (group, name)] = at
                at += 1

    def _reference_column(self, groups):
        """The array's column at the reference, at rest."""
        column, reference = np.zeros(self.height), self.setting.reference
        column[0 : self.first_body : 3] = self.setting.inputs
        for b in range(self.mechanism.n_bodies):
            values = self.record.values(reference.position[b], reference.rotation[b], reference.angle[b])
            column[self.rows_of_body(b)] = values
        for first, group in zip(self._first, groups, strict=True):
            column[first : first + len(group.names)] = group.start
        column[self.first_quality : self.first_axes : len(QUALITY)] = 1.0
        return column

    def bodies(self, X):
        """(bodies, numbers, instants) records."""
        return X[self.first_body : self.first_state].reshape(-1, self.record.stored, X.shape[1])

    def body(self, b):
        """First row of a body's record."""
        return self.first_body + b * self.record.stored

    def rows_of_body(self, b):
        """Rows of a body's record: those of the answer, and its axes, which in space are apart."""
        stored, length = self.record.stored, self.record.length
        axes = self.first_axes + b * (length - stored) + np.arange(length - stored)
        return np.concatenate([self.body(b) + np.arange(stored), axes])

    def row(self, group, name, k):
        """Row of an input of a group's routine."""
        uses = group.uses
        if name == "u":
            return 3 * list(uses.drives)[k // 3] + k % 3
        if name == "c":
            return self._row_of[list(uses.solved)[k // 3]] + k % 3 * self.unknowns
        body, number = k
        return self.rows_of_body(list(uses.bodies)[body])[number]

    def row_of(self, part, name, k):
        """Row of an input of a part's routine, or of an unknown."""
        return int(part.state[k]) if name == "q" else int(self.row(part.group, name, k))

    def rows(self, part, used):
        """Rows of the inputs that a function of a part's routine takes."""
        key = id(used)
        if key not in part.rows_of:
            part.rows_of[key] = np.array([self.row(part.group, *x) for x in used], dtype=np.intp)
        return part.rows_of[key]

    def _wound(self):
        """Planar bodies whose angles are counted over all instants: closed forms, and what hangs on them."""
        found = set()
        for part in self.parts:
            if part.group.form is not None or found & set(part.known):
                found.add(part.index)
        return [b for g in sorted(found) for b in self.parts[g].group.own]

    # --- twins ---------------------------------------------------------------------------------------

    def _parts(self, groups):
        twins, owner = {}, {}
        for group in groups:
            twins.setdefault(group.shape or id(group), []).append(group)
        constants = {key: constants_of(members) for key, members in twins.items()}
        routines, parts = {}, []
        for g, group in enumerate(groups):
            key = group.shape or id(group)
            known = tuple(sorted({owner[b] for b in group.uses.bodies if b}))
            known = tuple(sorted({*known, *(owner[j, n] for j, n in group.uses.solved)}))
            routine = self._shared(routines.setdefault(key, []), group, constants[key])
            parts.append(self._part(g, group, routine, known))
            owner |= dict.fromkeys(group.own, g) | {name: g for name in group.names if len(name) == 2}
        return parts

    def _shared(self, routines, group, constant):
        """A routine of this type whose order of pivots is good for the group, else one of its own."""

        def column(name, k):
            return self.start[self.row(group, name, k)]

        for routine in routines:
            if routine.suits(routine.numbers(group, column)[0], group):
                return routine
        routines.append(Routine(group, self.record, constant, column))
        return routines[-1]

    def _part(self, g, group, routine, known):
        J, _ = routine.numbers(group, lambda name, k: self.start[self.row(group, name, k)])
        pivots, condition = routine.pivots_at(J)
        dead = condition < FLAT
        sign = 1.0 if routine.redundant or not routine.n else float(np.sign(np.linalg.det(J)))
        condition = max(condition, 1e-300)
        shares = [condition * (1.0 if dead else 1.0 / p) for p in pivots]
        if routine.redundant:  # pivots of squares
            shares = [condition * x for x in shares]
        flat = condition * (np.sqrt(LEAST) if routine.redundant else LEAST)
        geometry = [*routine.geometry(group), *shares, flat]
        state = np.arange(self._first[g], self._first[g] + len(group.names))
        own = [self.rows_of_body(b) for b in group.own]
        records = np.concatenate([*own, []]).astype(int)
        quality = self.first_quality + g * len(QUALITY)
        answer = records[records < self.first_state]
        return Part(g, group, routine, geometry, flat, dead, sign, state, records, answer, quality, known)
