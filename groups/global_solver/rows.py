"""Equations by type of joint, written on the poses of its bodies, derived and printed once for the type."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from groups.engine.kinematics import Group, Known, Numbers
from groups.engine.routine import Inputs, Record, constants_of
from groups.setting import Setting
from groups.tree import GroupTree, Link
from mbssa.arrays import Floats
from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.frames import Frame
from mbssa.graph.nodes import Graph, Number, is_node
from mbssa.graph.source import Printed, functions
from mbssa.joints.catalogue import is_length, type_of_joint
from mbssa.joints.relations import JointRelations, Relation

#: Input of a function: name, and number; of a body its number and the place in its record.
Input = tuple[str, Any]


class Joint(Group):
    """A joint, or the passive rotations of a body, without a tree: all bodies are given, the frame too."""

    calls_functions = True
    #: Joints of the same key share their kind; None of one that shares with none.
    key: Hashable = None

    def placed(self, numbers: Numbers, values: Mapping[Any, Number]) -> dict[int, Frame]:
        bodies = Known(numbers, self.ground)
        del bodies[0]
        return bodies

    def coordinate(self, numbers: Numbers, j: int, name: str) -> None:
        """None: angles that count turns are unknowns."""


class Kind(NamedTuple):
    """Printed rows of a type, and which of their derivatives there are: row, and twist or rate."""

    rows: int
    entries: list[tuple[int, Input]]
    #: Functions ``step``: rows, then entries; ``rate`` and ``second`` derivative of the rows by time.
    functions: Mapping[str, Printed]


#: Kinds by what their joints have in common, for this process; those of curves and functions are not kept.
_kinds: dict[Hashable, Kind] = {}


def kind_of(joints: Sequence[Joint], record: Record) -> tuple[Kind, Floats]:
    """The type of joints of one key, which is printed once, and their geometry (joints, numbers)."""
    joint, constant = joints[0], constants_of(joints)
    geometry = np.array([each.geometry for each in joints])[:, ~constant]
    whole = joint.key, record.planar, constant.tobytes(), joint.geometry[constant].tobytes()
    if joint.key is not None and whole in _kinds:
        return _kinds[whole], geometry
    graph = Graph()
    inputs = Inputs(graph, joint, record, constant)
    rows, time = joint.evaluate(inputs)[1], inputs.time()
    rate = derivative(rows, time)
    moved: list[Input] = [("b", (b, k)) for b in range(len(joint.uses.bodies)) for k in record.velocity]
    entries = dict[tuple[int, Input], Any]()
    for one in [*moved, *(("dq", k) for k in range(len(joint.names)))]:
        # A rate is linear in twists and rates, and its derivative by one is the entry of that.
        slopes = enumerate(derivative(rate, Direction(lambda *key, one=one: float(key == one))))
        entries |= {(r, one): slope for r, slope in slopes if is_node(slope) or slope != 0.0}
    results = {"step": [*rows, *entries.values()], "rate": rate, "second": derivative(rate, time)}
    printed = {which: functions("rows", [], found) for which, found in results.items()}
    kind = Kind(len(rows), list(entries), printed)
    if joint.key is not None:
        _kinds[whole] = kind
    return kind, geometry


def joints_of(setting: Setting, joints: Sequence[int], bodies: Iterable[int]) -> list[Joint]:
    """Joints, with their drives, and the passive rotations of some bodies, by a setting in sizes."""
    found = list[Joint]()
    for j in joints:
        joint = Joint(setting, GroupTree(1, (0,), (), (j,), ()))
        relations, driven = setting.frames.relations.get(j), tuple(joint.drives_of(j))
        if relations is None:
            joint.key = type_of_joint(setting.mechanism, j), driven
        elif not relations.curves and relations.function is None:
            pairs = [tuple(relations.bodies.index(b) for b in pair.bodies) for pair in relations.pairs]
            every = [*relations.constraints, *(relations.coordinates[name] for name in driven)]
            joint.key = repr((pairs, driven, every))
        found.append(joint)
    for b in bodies:
        joint = Joint(setting, GroupTree(1, (0,), (Link(0, b, -1, True),), (), ()))
        if joint.spins:
            joint.key = len(joint.spins)
            found.append(joint)
    for joint in found:
        joint.find_reference(closed_forms=False)
    return found


def in_sizes(setting: Setting) -> tuple[Setting, Floats]:
    """A setting whose lengths are over the size of the mechanism, and units (D,) of the inputs."""
    frames, size = setting.frames, setting.frames.size
    units = np.ones(len(setting.inputs))
    units[[row for (_, name), row in setting.drives.items() if is_length(name)]] = size
    found = replace(
        setting,
        frames=replace(
            frames,
            position=frames.position / size,
            origin=frames.origin / size,
            parameters=frames.sized_parameters(slice(None)),
            size=1.0,
            relations={j: _in_sizes(relations, size) for j, relations in frames.relations.items()},
        ),
        reference=replace(setting.reference, position=setting.reference.position / size),
        inputs=setting.inputs / units,
    )
    return found, units


def _in_sizes(relations: JointRelations, size: float) -> JointRelations:
    def sized(relation: Relation) -> Relation:
        unit, terms = size if relation.is_length else 1.0, []
        for term in relation.terms:
            factor = term.factor / (unit if term.is_angle or term.kind == "user" else 1.0)
            terms.append(replace(term, factor=factor, parameter=term.parameter / size))
        return replace(relation, terms=tuple(terms), constant=relation.constant / unit)

    return replace(
        relations,
        pairs=tuple(replace(pair, origin=pair.origin / size) for pair in relations.pairs),
        constraints=tuple(map(sized, relations.constraints)),
        coordinates={name: sized(relation) for name, relation in relations.coordinates.items()},
        curves=tuple(curve.scaled(1.0 / size) for curve in relations.curves),
    )
