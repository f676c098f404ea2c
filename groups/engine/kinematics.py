"""Kinematics of one structural group, written once on any numbers: floats, arrays, nodes of a graph.

Unknowns are the undriven coordinates of the joints of a spanning tree and, after them, auxiliary ones: the
place of a contact on its curves, an angle that counts turns. Rows are zero where the group is closed.
"""

from __future__ import annotations

import numpy as np

from groups.tree import open_group
from groups.engine import dyads
from groups.engine.curves import pieces_of
from mbssa.graph.frames import Frame, clean, dot, minus, relative, total
from mbssa.graph.nodes import atan2, curve
from groups.engine.struts import mode_of, place_strut
from groups.engine.users import traced
from mbssa.joints.cams.contact import contacts
from mbssa.joints.cams.contact_kernels import CURVE
from mbssa.joints.catalogue import is_length, type_of_joint
from mbssa.joints.equations import _SWAP, Step
from mbssa.joints.formulas import contact_rows, differs, holds_along, sine_cosine, value

#: Cosine of the angle between two axes from which on they are parallel.
_PARALLEL = 1 - 1e-9


class Uses:
    """What a group reads of others, in the order of first use: the numbering that twins share."""

    def __init__(self):
        self.bodies, self.drives, self.solved, self.given = {}, {}, {}, {}

    @staticmethod
    def of(table, key):
        return table.setdefault(key, len(table))


class Reference:
    """Numbers of the reference, floats; notes what is used."""

    def __init__(self, group):
        self.group, self.setting, self.uses = group, group.setting, group.uses

    def unknown(self, k):
        return self.group.start[k]

    def drive(self, row):
        Uses.of(self.uses.drives, row)
        return float(self.setting.inputs[row])

    def solved(self, j, name):
        Uses.of(self.uses.solved, (j, name))
        return float(self.setting.coordinates[j][name])

    def given(self, key, numbers):
        return self.uses.given.setdefault(key, clean(numbers))

    def body(self, b):
        Uses.of(self.uses.bodies, b)
        return body_at(self.setting.reference, b)


def body_at(poses, b):
    """Frame of a body at a configuration."""
    return Frame(poses.position[b].tolist(), poses.rotation[b].T.tolist(), float(poses.angle[b]))


class Group:
    """One structural group at its reference: tree, cuts, struts, names and starts of its unknowns."""

    def __init__(self, setting, number, solved_joints=(), closed_forms=True):
        self.setting, self.mechanism, self.frames = setting, setting.mechanism, setting.frames
        self.planar = self.mechanism.space == "planar"
        tree = open_group(setting.structure.groups[number], self.frames)
        self.links, self.cuts, self.struts = tree.links, tree.cuts, tree.struts
        self.solved_joints = solved_joints
        self.own = [link.body for link in tree.links] + [b for strut in tree.struts for b in strut.bodies]
        self.held = {b for strut in tree.struts for b in strut.bodies}
        self.spins = [s for s in setting.spins if s.body in self.own and s.body not in self.held]
        self.ground = Frame(clean(self.frames.position[0]), clean(self.frames.rotation[0].T))
        self.uses, self.names, self.start = Uses(), [], []
        self.zero = dict.fromkeys(self.own, 0.0)
        self.modes = dict.fromkeys(self.struts, (1.0, 1.0))
        self.curved = False
        self.form, self.mode, self.reach = dyads.Dyad.of(self) if closed_forms else None, 1.0, []
        self._find_reference()

    def _find_reference(self):
        """Starts of the unknowns, signs of the struts, zeros of the angles in the plane."""
        numbers = Reference(self)
        if self.form is not None:
            self.mode = dyads.mode_of(self, numbers, _Known(numbers, self.ground))
            if self.mode is None:  # a dead point: no root to differentiate
                self.form = None
        bodies = self.place(numbers)
        for strut in self.struts:
            self.modes[strut] = mode_of(self, numbers, bodies, strut)
        self.uses.given.clear()
        bodies, _ = self.evaluate(numbers)
        if self.planar:
            angle = self.setting.reference.angle
            off = {b: float(clean(angle[b] - bodies[b].angle)) for b in self.own}
            self.zero = {link.body: off[link.body] - off.get(link.parent, 0.0) for link in self.links}
            self.uses.given.clear()
            self.evaluate(numbers)
        self.turns = [len(name) > 2 or not is_length(name[1]) for name in self.names]

    @property
    def shape(self):
        """What groups have in common that share a routine; None for one that shares with none."""
        if any(j in self.frames.relations for j in self.cuts):
            return None
        bodies = {0: "frame"} | {b: ("known", i) for b, i in self.uses.bodies.items()}
        bodies |= {b: i for i, b in enumerate(self.own)}
        links = [(self._kind(n.joint), bodies[n.parent], bodies[n.body], n.forward) for n in self.links]
        cuts = [(self._kind(j), *self._ends(j, bodies)) for j in self.cuts]
        struts = [
            (bodies[s.base], bodies[s.tip], tuple(bodies[b] for b in s.bodies), s.held, s.slide_driven,
             *(self._kind(j) + self._ends(j, bodies) for j in (s.pin, s.ball, s.slide)))
            for s in self.struts
        ]  # fmt: skip
        return repr((links, cuts, struts, [bodies[s.body] for s in self.spins], self.form is None))

    def _kind(self, j):
        if j < 0:
            return ("free",)
        kind = type_of_joint(self.mechanism, j)
        return kind.code, *((j, name) in self.setting.drives for name in kind.coordinates)

    def _ends(self, j, bodies):
        return tuple(bodies[b] for b in self.mechanism.joint_bodies(j)[:2]) if j >= 0 else ()

    # --- numbers -------------------------------------------------------------------------------------

    def unknown(self, numbers, name, start):
        """An unknown, which is made where it is met first; ``start`` gives its value at the reference."""
        if name not in self.names:
            self.names.append(name)
            self.start.append(float(start()))
        return numbers.unknown(self.names.index(name))

    def coordinate(self, numbers, j, name):
        """A driven coordinate, one of the tree, or one that an earlier group has solved; else None."""
        row = self.setting.drives.get((j, name))
        if row is not None:
            return numbers.drive(row)
        if (j, name) in self.values:
            return self.values[j, name]
        start = self.setting.coordinates.get(j, {}).get(name, 0.0)  # a free body counts from its reference
        if any(link.joint == j for link in self.links):
            return self.unknown(numbers, (j, name), lambda: start)
        return numbers.solved(j, name) if j in self.solved_joints else None

    def side(self, numbers, j, side):
        """Origin and axes of a joint's frame on one of its bodies."""
        frames = self.frames
        return (
            numbers.given(("origin", j, side), frames.origin[j, side]),
            numbers.given(("axes", j, side), frames.axes[j, side]),
        )

    def parameter(self, numbers, j, name):
        return numbers.given((name, j), [self.frames.parameters[name][j]])[0]

    # --- tree ----------------------------------------------------------------------------------------

    def place(self, numbers):
        """Frames of the frame, the known bodies and the bodies of the tree."""
        bodies, self.values = _Known(numbers, self.ground), {}
        if self.form is not None:
            (mode,) = numbers.given(("mode",), [self.mode])
            self.values = self.form.values(numbers, bodies, mode)
        for link in self.links:
            frame = self._carried(numbers, bodies, link)
            zero = numbers.given(("zero", link.body), [self.zero[link.body]])[0]
            bodies[link.body] = Frame(frame.place, frame.axes, frame.angle + zero, frame.motion)
        return bodies

    def _carried(self, numbers, bodies, link):
        near, far, sign = (0, 1, 1) if link.forward else (1, 0, -1)
        if link.joint < 0:
            frame = body_at(self.setting.reference, link.body)
            return self._stepped(numbers, frame, link.joint, *_free(self.planar), sign)
        kind = type_of_joint(self.mechanism, link.joint)
        frame = bodies[link.parent].end(*self.side(numbers, link.joint, near))
        frame = self._stepped(numbers, frame, link.joint, kind.coordinates, kind.pair.steps, sign)
        return frame.back(*self.side(numbers, link.joint, far))

    def _stepped(self, numbers, frame, j, coordinates, steps, sign):
        """The frame after the elementary motions of a joint, taken backwards for a sign of -1."""
        for step in steps[::sign]:
            if step.kind == "swap":
                frame = Frame(frame.place, frame.turned(_SWAP.tolist()), frame.angle, frame.motion)
                continue
            x = sign * self._factor(numbers, j, step.factor)
            if step.coordinate is not None:
                coordinate = self.coordinate(numbers, j, coordinates[step.coordinate])
                is_pair = isinstance(coordinate, tuple)
                x = (coordinate[0], x * coordinate[1]) if is_pair else x * coordinate
            frame = (frame.turn if step.kind == "turn" else frame.shift)(step.axis, x)
        return frame

    def _factor(self, numbers, j, factor):
        if factor == "normal":
            return -self.parameter(numbers, j, "offset")
        return self.parameter(numbers, j, factor) if isinstance(factor, str) else factor

    # --- rows ----------------------------------------------------------------------------------------

    def evaluate(self, numbers):
        """All bodies, and the rows that are zero where the group is closed."""
        self.reach, self.gimbal, self.gaps = [], [], []
        bodies, rows = self.place(numbers), []
        for strut in self.struts:
            rows += place_strut(self, numbers, bodies, strut)
        for j in () if self.form is not None else self.cuts:
            if j in self.frames.relations:
                self._close_by_relations(numbers, bodies, rows, j)
            else:
                self._close_by_pair(numbers, bodies, rows, j)
        return bodies, rows + [self._held(numbers, bodies, spin) for spin in self.spins]

    def _driven(self, j):
        names = type_of_joint(self.mechanism, j).coordinates
        return {n: self.setting.drives[j, n] for n in names if (j, n) in self.setting.drives}

    def _close_by_pair(self, numbers, bodies, rows, j):
        """Rows of a cut joint: its equations, and its drives."""
        kind = type_of_joint(self.mechanism, j)
        a, b = self.mechanism.joint_bodies(j)[:2]
        A, B = bodies[a].end(*self.side(numbers, j, 0)), bodies[b].end(*self.side(numbers, j, 1))
        d, C = relative(A, B)
        held = [elementary for _, elementary in kind.pair.constraints if holds_along(elementary)]
        by_world = len(held) == (2 if self.planar else 3)  # a point is held: the same in any axes
        for label, elementary in kind.pair.constraints:
            name = elementary.parameter
            if by_world and elementary in held:
                axis = elementary.numbers[0]
                rows.append(B.place[axis] - A.place[axis])
                continue
            if kind.is_contact and label == kind.gap:
                self.gaps.append(len(rows))
            rows.append(value(elementary, d, C, self.parameter(numbers, j, name) if name else None))
        for name, row in self._driven(j).items():
            elementary = kind.pair.coordinates[kind.coordinates.index(name)]
            angle, x = sine_cosine(elementary, d, C), numbers.drive(row)
            rows.append(differs(*angle, x) if angle else value(elementary, d, C) - x)

    def _held(self, numbers, bodies, spin):
        """A passive rotation is held: a line of the body stays square to one of the frame."""
        in_frame = self.ground.along(numbers.given(("spin in frame", spin.body), spin.in_frame))
        in_body = bodies[spin.body].along(numbers.given(("spin in body", spin.body), spin.in_body))
        return dot(in_frame, in_body)

    def _close_by_relations(self, numbers, bodies, rows, j):
        relations, gap = self.frames.relations[j], type_of_joint(self.mechanism, j).gap
        for relation in relations.constraints:
            found = self._sum(numbers, bodies, rows, j, relations, relation)
            if gap and relation.name.startswith(gap):
                self.gaps.append(len(rows))
            rows.append(found)
        for name, row in self._driven(j).items():
            found = self._sum(numbers, bodies, rows, j, relations, relations.coordinates[name])
            rows.append(found - numbers.drive(row))

    def _sum(self, numbers, bodies, rows, j, relations, relation):
        """A sum of terms less its constant; rows of auxiliary unknowns are added on the way."""
        terms = [
            term.factor * self._term(numbers, bodies, rows, (j, relation.name, k), relations, term)
            for k, term in enumerate(relation.terms)
        ]
        return total(terms) - relation.constant

    def _term(self, numbers, bodies, rows, name, relations, term):
        pair = relations.pairs[term.pair]
        a, b = pair.bodies
        if term.kind == "turned":
            return bodies[b].angle
        if term.kind == "user":
            return self._user(bodies, relations, name[0])
        A, B = (
            bodies[x].end(
                numbers.given((*name, "origin", k), pair.origin[k]),
                numbers.given((*name, "axes", k), pair.axes[k]),
            )
            for k, x in enumerate((a, b))
        )
        d, C = relative(A, B)
        if term.kind == "contact":
            return self._contact(numbers, rows, name, relations.curves, term, d, C)
        x = minus(B.place, A.place)
        angle = (x[1], x[0]) if term.kind == "line" else sine_cosine(term.elementary, d, C)
        if angle is None:
            return value(term.elementary, d, C, term.parameter)
        counted = self._counted(numbers, pair, term) if term.kind == "counted" else None
        if counted is not None:
            return counted

        def start():
            return term.near + (atan2(*angle) - term.near + np.pi) % (2 * np.pi) - np.pi

        theta = self.unknown(numbers, name, start)
        rows.append(differs(*angle, theta))
        return theta

    def _counted(self, numbers, pair, term):
        """The angle as a sum of coordinates of parallel hinges, which count turns; None without a chain."""
        start, end = pair.bodies
        axis = self.frames.rotation[start] @ pair.axes[0][:, 2]
        reached, todo = {start: term.near}, [start]
        while todo and end not in reached:
            body = todo.pop(0)
            for j, other, sign in self._parallel_hinges(body, axis):
                x = self.coordinate(numbers, j, "angle") if other not in reached else None
                if x is not None:
                    change = x - self.setting.coordinates[j]["angle"]
                    reached[other] = reached[body] + sign * change
                    todo.append(other)
        return reached.get(end)

    def _parallel_hinges(self, body, axis):
        for j in range(self.mechanism.n_joints):
            ends = self.mechanism.joint_bodies(j)[:2]
            if not type_of_joint(self.mechanism, j).is_bearing or body not in ends:
                continue
            along = float(axis @ self.frames.rotation[ends[0]] @ self.frames.axes[j, 0, :, 2])
            if abs(along) > _PARALLEL:
                forward = ends[0] == body
                yield j, ends[1] if forward else ends[0], float(np.sign(along)) * (1.0 if forward else -1.0)

    def _user(self, bodies, relations, j):
        joint = self.mechanism.joint_ids[j]
        return traced(relations.function, self.planar, [bodies[b] for b in relations.bodies], joint)

    # --- contacts ------------------------------------------------------------------------------------

    def _contact(self, numbers, rows, name, curves, term, d, C):
        """Gap of two profiles; their places of contact are unknowns, searched at the reference alone."""
        kind, found, self.curved = term.numbers[0], [], True

        def place(k):
            if not found:
                other = curves[1] if len(curves) > 1 else None
                found.append(contacts(curves[0], other, kind, np.array([d]), np.array([C])))
            return curves[k].parameter(found[0].place[:, k])[0]

        def on(k, s, order):
            return [curve(s, pieces_of(curves[k]), axis, order) for axis in (0, 1)]

        places = [self.unknown(numbers, (*name, 0), lambda: place(0))]
        if kind == CURVE:
            places.append(self.unknown(numbers, (*name, 1), lambda: place(1)))
        found_gap, found_rows = contact_rows(
            kind, d, C, lambda k, order: on(k, places[k], order), self.frames.size
        )
        rows += found_rows
        return found_gap - term.parameter


def _free(planar):
    """Coordinates and steps of a body that no joint carries."""
    axes = (0, 1) if planar else (0, 1, 2)
    turns = ((2, "angle"),) if planar else tuple((k, f"angle_{'xyz'[k]}") for k in axes)
    steps = [Step("shift", k, n) for n, k in enumerate(axes)]
    steps += [Step("turn", k, n) for n, (k, _) in enumerate(turns, len(axes))]
    return (*("xyz"[k] for k in axes), *(name for _, name in turns)), steps


class _Known(dict):
    """Frames of bodies; those of earlier groups are read where they are met first."""

    def __init__(self, numbers, ground):
        super().__init__({0: ground})
        self.numbers = numbers

    def __missing__(self, b):
        self[b] = self.numbers.body(b)
        return self[b]
