"""Joints as tables for the kernels: the rows that :mod:`groups.kernels.jets` evaluates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.kernels import foreign, jets
from groups.passive_rotations import LockedRotation
from mbssa.arrays import Bools, Floats, Ints
from mbssa.joints.catalogue import JointType, type_of_joint
from mbssa.joints.frames import Frames
from mbssa.joints.relations import TURNING, PairFrames
from mbssa.mechanism import Mechanism
from mbssa.trust import REMEDY

if TYPE_CHECKING:
    from mbssa.joints.cams.curves import Curve
    from mbssa.joints.user import UserFunction


#: Codes of :mod:`groups.kernels.jets` by kind of elementary equation.
CODES = {
    "along": jets.ALONG,
    "cosine": jets.COSINE,
    "turn": jets.TURN,
    "cardan": jets.CARDAN,
    "distance": jets.DISTANCE,
    "azimuth": jets.AZIMUTH,
    "elevation": jets.ELEVATION,
    "screw": jets.SCREW,
    "offset": jets.OFFSET,
    "turned": jets.TURNED,
    "counted": jets.COUNTED,
    "line": jets.LINE,
    "contact": jets.CONTACT,
    "user": jets.USER,
}

#: Codes whose values are lengths, m; the others are angles or cosines.
LENGTHS = (jets.ALONG, jets.DISTANCE, jets.SCREW, jets.OFFSET, jets.CONTACT)


@dataclass(frozen=True, eq=False)
class RowTables:
    """Equations of some joints: constraints, then drives, joint by joint; held spins come last."""

    pair: Ints
    origin: Floats
    axes: Floats
    code: Ints
    joint: Ints
    number: Ints
    sign: Floats
    parameter: Floats
    factor: Floats
    near: Floats
    first_term: Ints
    constant: Floats
    is_length: Bools
    is_gap: Bools
    drive: Ints
    source: Ints
    name: tuple[str, ...]
    curves: tuple[Curve, ...] = ()
    users: tuple[tuple[UserFunction, int], ...] = ()

    def __len__(self) -> int:
        return len(self.drive)

    @property
    def kernel_rows(self) -> jets.Rows:
        """Arguments of the kernels, with a workspace of their own."""
        return (
            self.pair, self.origin, self.axes, self.code, self.joint, self.number, self.sign, self.parameter,
            self.factor, self.near.copy(), self.curve_data, np.zeros(self.room), np.zeros((0, 2)),
        )  # fmt: skip

    @property
    def curve_data(self) -> Floats:
        """Data of all curves, one after the other."""
        return np.concatenate([np.zeros(0), *(curve.data for curve in self.curves)])

    @property
    def room(self) -> int:
        """Numbers that a call of the users' function with the most bodies needs."""
        most = int(self.number[self.code == jets.USER, 0].max(initial=0))
        return foreign.HEAD_IN + foreign.BODY_IN * most + foreign.HEAD_OUT + foreign.BODY_OUT * (most + 1)

    @property
    def equation(self) -> Ints:
        """(T,) the equation of each term."""
        return np.repeat(np.arange(len(self)), np.diff(self.first_term))

    @property
    def constraint(self) -> Bools:
        """(E,) whether each row is a constraint and no drive."""
        return self.drive < 0

    @property
    def bound(self) -> RowTables:
        """The same with the numbers, in this process, of the users' functions."""
        if not self.users:
            return self
        parameter = self.parameter.copy()
        parameter[[term for _, term in self.users]] = [foreign.number_of(call) for call, _ in self.users]
        return replace(self, parameter=parameter)

    def over(self, size: float) -> RowTables:
        """The same with lengths divided by a size, m."""
        angles = np.isin(self.code, (jets.TURNED, jets.COUNTED, jets.LINE, jets.USER, jets.MORE))
        lengths = self.is_length[self.equation]
        user, contact = self.code == jets.USER, self.code == jets.CONTACT
        return replace(
            self,
            origin=self.origin / size,
            parameter=np.where(user, self.parameter, self.parameter / size),
            factor=np.where(angles & lengths, self.factor / size, self.factor),
            sign=self.sign * np.where(user, size, np.where(contact, 1.0 / size, 1.0)),
            constant=np.where(self.is_length, self.constant / size, self.constant),
            curves=tuple(curve.scaled(1.0 / size) for curve in self.curves),
        )


def encode_rows(
    mechanism: Mechanism,
    frames: Frames,
    joints: Sequence[int],
    place: Mapping[int, int] | Sequence[int] | Ints,
    drives: Mapping[tuple[int, str], int],
    spins: Sequence[LockedRotation] = (),
) -> RowTables:
    """Equations of some joints."""
    unknown = [j for j in joints if not frames.known[j]]
    if unknown:
        named = ", ".join(f"{mechanism.joints[j]} (type {type_of_joint(mechanism, j).code})" for j in unknown)
        if mechanism.untrusted:
            raise ValueError(f"code that a file names is not run, at {mechanism.untrusted_said}; {REMEDY}")
        raise ValueError(f"no geometry at joints {named}")
    rows = _Rows([], [], [], [])
    for j in joints:
        if j in frames.relations:
            _add_relations(rows, type_of_joint(mechanism, j), frames, j, drives)
        else:
            _add_pair(rows, mechanism, frames, j, drives)
    for spin, axes in zip(spins, _spin_axes(spins), strict=True):
        rows.pairs.append(PairFrames((0, spin.body), np.zeros((2, 3)), axes))
        spun = _Term(jets.COSINE, len(rows.pairs) - 1, (2, 2, 0, 0))
        rows.equations.append(_Equation("spin", (spun,), -1, -1))
    return rows.tables(place)


@dataclass(frozen=True, slots=True)
class _Term:
    code: int
    pair: int
    number: tuple[int, ...] = (0, 0, 0, 0)
    sign: float = 1.0
    parameter: float = 0.0
    factor: float = 1.0
    near: float = np.nan


@dataclass(frozen=True, slots=True)
class _Equation:
    name: str
    terms: tuple[_Term, ...]
    drive: int
    source: int
    constant: float = 0.0
    is_length: bool = False
    is_gap: bool = False


@dataclass(frozen=True, slots=True)
class _Rows:
    """Equations as they come together."""

    pairs: list[PairFrames]
    equations: list[_Equation]
    curves: list[Curve]
    functions: list[UserFunction]

    def tables(self, place: Mapping[int, int] | Sequence[int] | Ints) -> RowTables:
        terms = [term for equation in self.equations for term in equation.terms]
        sizes = [len(equation.terms) for equation in self.equations]
        users = [k for k, term in enumerate(terms) if term.code == jets.USER]
        return RowTables(
            pair=np.array([[place[b] for b in pair.bodies] for pair in self.pairs], dtype=np.int64).reshape(
                -1, 2
            ),
            origin=np.array([pair.origin for pair in self.pairs]).reshape(-1, 2, 3),
            axes=np.array([pair.axes for pair in self.pairs]).reshape(-1, 2, 3, 3),
            code=np.array([term.code for term in terms], dtype=np.int64),
            joint=np.array([term.pair for term in terms], dtype=np.int64),
            number=np.array([term.number for term in terms], dtype=np.int64).reshape(-1, 4),
            sign=np.array([term.sign for term in terms], dtype=np.float64),
            parameter=np.array([term.parameter for term in terms], dtype=np.float64),
            factor=np.array([term.factor for term in terms], dtype=np.float64),
            near=np.array([term.near for term in terms], dtype=np.float64),
            first_term=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            constant=np.array([equation.constant for equation in self.equations], dtype=np.float64),
            is_length=np.array([equation.is_length for equation in self.equations], dtype=bool),
            is_gap=np.array([equation.is_gap for equation in self.equations], dtype=bool),
            drive=np.array([equation.drive for equation in self.equations], dtype=np.int64),
            source=np.array([equation.source for equation in self.equations], dtype=np.int64),
            name=tuple(equation.name for equation in self.equations),
            curves=tuple(self.curves),
            users=tuple(zip(self.functions, users, strict=True)),
        )


def _add_pair(
    rows: _Rows, mechanism: Mechanism, frames: Frames, j: int, drives: Mapping[tuple[int, str], int]
) -> None:
    """Equations of a joint on the relative pose of its two bodies."""
    kind = type_of_joint(mechanism, j)
    equations = kind.pair
    assert equations is not None
    first, second = mechanism.joint_bodies(j)[:2]
    rows.pairs.append(PairFrames((first, second), frames.origin[j], frames.axes[j]))
    values = {name: float(column[j]) for name, column in frames.parameters.items()}
    chosen = [(name, e, -1) for name, e in equations.constraints]
    chosen += [
        (name, e, drives[j, name])
        for name, e in zip(kind.coordinates, equations.coordinates, strict=True)
        if (j, name) in drives
    ]
    for name, e, drive in chosen:
        parameter = values[e.parameter] if e.parameter is not None else 0.0
        term = _Term(CODES[e.kind], len(rows.pairs) - 1, _four(e.numbers), e.sign, parameter)
        is_length, is_gap = term.code in LENGTHS, name == kind.gap
        rows.equations.append(_Equation(name, (term,), drive, j, is_length=is_length, is_gap=is_gap))


def _add_relations(
    rows: _Rows, kind: JointType, frames: Frames, j: int, drives: Mapping[tuple[int, str], int]
) -> None:
    """Equations of a joint that are sums of terms."""
    driven = [(name, drives[j, name]) for name in kind.coordinates if (j, name) in drives]
    relations = frames.relations[j]
    missing = [name for name, _ in driven if name not in relations.coordinates]
    if missing:
        raise ValueError(f"coordinate {missing[0]!r} of a joint cannot be driven: it has no equation")
    first = len(rows.pairs)
    rows.pairs.extend(relations.pairs)
    place = sum(len(curve.data) for curve in rows.curves)
    after = place + (len(relations.curves[0].data) if relations.curves else 0)
    rows.curves.extend(relations.curves)
    chosen = [(relation, -1) for relation in relations.constraints]
    chosen += [(relations.coordinates[name], drive) for name, drive in driven]
    for relation, drive in chosen:
        terms = []
        for term in relation.terms:
            number, sign, parameter, near = _four(term.numbers), 1.0, term.parameter, np.nan
            if term.kind == "contact":
                number = (place, after, term.numbers[0], 0)
                radii = [curve.least_radius for curve in relations.curves]
                sign = sum(radii) if min(radii) > 0.0 else 0.0
            elif term.kind == "user":
                number, parameter = (len(relations.bodies), 0, 0, 0), 0.0
                assert relations.function is not None
                rows.functions.append(relations.function)
            elif term.kind in TURNING:
                near = term.near
            code = CODES[term.kind]
            terms.append(_Term(code, first + term.pair, number, sign, parameter, term.factor, near))
            if term.kind == "user":
                terms += [
                    _Term(jets.MORE, first + k, (len(relations.bodies), 2 * k, 0, 0), factor=term.factor)
                    for k in range(1, len(relations.pairs))
                ]
        rows.equations.append(
            _Equation(
                relation.name,
                tuple(terms),
                drive,
                j,
                relation.constant,
                relation.is_length,
                drive < 0 and kind.gap != "" and relation.name.startswith(kind.gap),
            )
        )


def _four(numbers: Sequence[int]) -> tuple[int, ...]:
    return (*numbers, 0, 0, 0, 0)[:4]


def _spin_axes(spins: Sequence[LockedRotation]) -> Floats:
    """(S, 2, 3, 3) frames whose z axes are those of the convention; their x and y are not used."""
    axes = np.zeros((len(spins), 2, 3, 3))
    for k, spin in enumerate(spins):
        axes[k, 0, :, 2], axes[k, 1, :, 2] = spin.in_frame, spin.in_body
    return axes
