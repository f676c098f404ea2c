"""All equations of a mechanism at one configuration: residuals and Jacobian, a block per joint and body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.arrays import Bools, Floats, Ints
from mbssa.joints.axes import cross, whole_turns
from mbssa.joints.catalogue import CATALOGUE, JointType, Space, is_length, type_of_joint
from mbssa.joints.equations import Elementary, Named, elementary_slopes, elementary_values
from mbssa.joints.poses import Poses, by_bodies, relative_pose
from mbssa.joints.relations import values_and_rates

if TYPE_CHECKING:
    import scipy.sparse

    from mbssa.joints.frames import Frames
    from mbssa.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Rows:
    """Equations of a mechanism at a configuration, in the order of its joints; drives after constraints."""

    residual: Floats  # (M,) m or rad; of drives 0 (where they are), or the value of the coordinate
    # jacobian: (M, S, B) by the twist of each body: velocity of its centre, angular velocity, world axes
    jacobian: Floats
    body: Ints  # (M, S) index; 0 is the frame, whose block is zero
    joint: Ints  # (M,)
    drive: Bools  # (M,)
    name: tuple[str, ...]  # of the constraint, or of the driven coordinate
    missing: tuple[int, ...] = ()  # joints without geometry or equations, which have no rows

    def __len__(self) -> int:
        return len(self.residual)

    @staticmethod
    def joined(parts: Sequence[Rows], missing: tuple[int, ...] = ()) -> Rows:
        """Rows of several parts, one behind another."""
        slots = max(part.body.shape[1] for part in parts)
        columns = zip(*(part._columns(slots) for part in parts), strict=True)
        residual, jacobian, body, joint, drive = map(np.concatenate, columns)
        name = tuple(chain.from_iterable(part.name for part in parts))
        return Rows(residual, jacobian, body, joint, drive, name, missing)

    def select(self, rows: Ints) -> Rows:
        """Some of the rows, in the order given."""
        residual, jacobian, body, joint, drive = (x[rows] for x in self._columns(self.body.shape[1]))
        name = tuple(map(self.name.__getitem__, rows.tolist()))
        return Rows(residual, jacobian, body, joint, drive, name, self.missing)

    def _columns(self, slots: int) -> tuple[Any, ...]:
        """Arrays, with zeros up to so many bodies a row."""
        jacobian, body = self.jacobian, self.body
        if more := slots - body.shape[1]:
            jacobian = np.pad(jacobian, ((0, 0), (0, more), (0, 0)))
            body = np.pad(body, ((0, 0), (0, more)))
        return self.residual, jacobian, body, self.joint, self.drive

    @property
    def constraints(self) -> Rows:
        """The rows that are not drives."""
        return self.select(np.flatnonzero(~self.drive))

    def matrix(self, bodies: Ints) -> Floats:
        """Dense (M, B n) Jacobian by the twists of these n bodies; the others stand still."""
        freedom = self.jacobian.shape[2]
        place = np.full(int(max(self.body.max(initial=0), bodies.max(initial=0))) + 1, len(bodies))
        place[bodies] = np.arange(len(bodies))
        dense = np.zeros((len(self), len(bodies) + 1, freedom))
        rows = np.arange(len(self))
        for slot in range(self.body.shape[1]):
            dense[rows, place[self.body[:, slot]]] += self.jacobian[:, slot]
        return dense[:, :-1].reshape(len(self), len(bodies) * freedom)

    def sparse(self, n_bodies: int) -> scipy.sparse.csr_array:
        """Jacobian (M, B (N - 1)) by the twists of all movable bodies."""
        import scipy.sparse

        freedom = self.jacobian.shape[2]
        row = np.repeat(np.arange(len(self)), self.body.shape[1] * freedom)
        column = (self.body[:, :, None] - 1) * freedom + np.arange(freedom)
        keep = np.broadcast_to((self.body > 0)[:, :, None], self.jacobian.shape).ravel()
        entries = (self.jacobian.ravel()[keep], (row[keep], column.ravel()[keep]))
        return scipy.sparse.csr_array(entries, shape=(len(self), freedom * (n_bodies - 1)))


def unknowns(space: Space) -> tuple[int, ...]:
    """Indices of those of v_x, v_y, v_z, w_x, w_y, w_z that a body of this space has."""
    return (0, 1, 5) if space == "planar" else (0, 1, 2, 3, 4, 5)


def first_two_bodies(mechanism: Mechanism, joints: Ints) -> Ints:
    """Body indices (n, 2) of these joints; a third body, a carrier, is left out."""
    first = mechanism.joint_start[joints]
    return np.stack([mechanism.joint_body[first], mechanism.joint_body[first + 1]], axis=1)


def rows_at(mechanism: Mechanism, frames: Frames, configuration: Poses, *, values: bool = False) -> Rows:
    """Evaluate every constraint and every drive of a mechanism, lengths divided by ``frames.size``."""
    # With ``values`` the residual of a drive is the value of its coordinate. An equation that has no value
    # here (two profiles too far apart to touch) has the residual NaN and no derivative: what goes into a
    # decomposition is finite.
    parts: list[Rows] = []
    for kind, joints in _by_type(mechanism, frames):
        if kind.pair is None:
            parts += [_relation_rows(mechanism, frames, configuration, j, values) for j in joints.tolist()]
        else:
            rows = kind.pair.constraints
            parts.append(_pair_rows(mechanism, frames, configuration, joints, rows, values))
    found = _joined(mechanism, parts, tuple(np.flatnonzero(~frames.known).tolist()))
    void = ~(np.isfinite(found.residual) & np.isfinite(found.jacobian).all(axis=(1, 2)))
    found.residual[void], found.jacobian[void] = np.nan, 0.0
    return found.select(np.lexsort((np.arange(len(found)), found.drive, found.joint)))


def _joined(mechanism: Mechanism, parts: Sequence[Rows], missing: tuple[int, ...] = ()) -> Rows:
    """Rows by the twists that bodies of the mechanism's space have; the frame has none."""
    none, index = np.zeros((0, 2, 6)), np.zeros((0, 2), dtype=np.int64)
    empty = Rows(np.zeros(0), none, index, index[:, 0], np.zeros(0, dtype=bool), ())
    rows = Rows.joined([empty, *parts], missing)
    rows.jacobian[rows.body == 0] = 0.0
    return replace(rows, jacobian=rows.jacobian[:, :, unknowns(mechanism.space)])


def _by_type(mechanism: Mechanism, frames: Frames) -> Iterator[tuple[JointType, Ints]]:
    """Types of the joints that have equations, with the indices of these."""
    types = mechanism.joint_type
    for index in np.unique(types[frames.known]).tolist():
        yield CATALOGUE[index], np.flatnonzero((types == index) & frames.known)


def cosines_at(mechanism: Mechanism, frames: Frames, at: Poses) -> tuple[Floats, Ints]:
    """Cosines (n,) between parallel axes, positive where their sense is right, and their joints (n,)."""
    cosines, indices = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for kind, joints in _by_type(mechanism, frames):
        if kind.pair is not None and kind.pair.sense:
            C = pose_of_joints(frames, at, joints, first_two_bodies(mechanism, joints))[1]
            cosines.append(C[:, *np.transpose(kind.pair.sense)].ravel())
            indices.append(np.repeat(joints, len(kind.pair.sense)))
    return np.concatenate(cosines), np.concatenate(indices)


def senses_at(mechanism: Mechanism, frames: Frames, at: Poses) -> Rows:
    """Rows whose residuals are these cosines."""
    parts: list[Rows] = []
    for kind, joints in _by_type(mechanism, frames):
        if kind.pair is not None and kind.pair.sense:
            cosines = tuple(("sense", Elementary("cosine", entry)) for entry in kind.pair.sense)
            parts.append(_pair_rows(mechanism, frames, at, joints, cosines))
    return _joined(mechanism, parts)


def _pair_rows(
    mechanism: Mechanism, frames: Frames, at: Poses, joints: Ints, rows: Named, values: bool | None = None
) -> Rows:
    """Rows of joints of one type that relate two bodies' poses; of drives too where ``values`` is given."""
    body, kind = first_two_bodies(mechanism, joints), type_of_joint(mechanism, joints[0])
    d, C, axes, lever = pose_of_joints(frames, at, joints, body)
    names, functions = [name for name, _ in rows], [function for _, function in rows]
    keep = np.ones((len(joints), len(names)), dtype=bool)
    mask = mechanism.driven[joints]
    if values is not None and kind.pair is not None and mask.any():
        names, functions = names + list(kind.coordinates), functions + list(kind.pair.coordinates)
        keep = np.hstack([keep, (mask[:, None] >> np.arange(kind.grade)) & 1 == 1])
    value, rate = elementary_slopes(tuple(functions), d, C, frames.sized_parameters(joints))
    which, number = np.nonzero(keep)
    drive, name = number >= len(rows), tuple(map(names.__getitem__, number.tolist()))
    residual = np.where(drive & (not values), 0.0, value[which, number])
    jacobian = by_bodies(rate, axes, (lever[:, 0], lever[:, 1]))[which, number]
    return Rows(residual, jacobian, body[which], joints[which], drive, name)


def pose_of_joints(
    frames: Frames, at: Poses, joints: Ints, body: Ints
) -> tuple[Floats, Floats, Floats, Floats]:
    """Relative pose d (n, 3), C (n, 3, 3) of joints; axes of A in the world, levers (n, 2, 3)."""
    # Lengths are divided by ``frames.size``. A lever goes from the body's centre to B's origin, world axes.
    origin = (frames.origin[joints] - frames.centre[body]) / frames.size
    centres = at.centres(frames.centre)
    ends = [(centres[b] / frames.size, at.rotation[b]) for b in body.T]
    d, C, axes, (near, far), across = relative_pose(ends, origin, frames.axes[joints])
    return d, C, axes, np.stack([near + across, far], axis=1)


def coordinates_at(mechanism: Mechanism, frames: Frames, at: Poses, joints: Sequence[int]) -> Floats:
    """Coordinates (n, k) of joints of one type in a configuration, m, rad; angles near ``at_reference``."""
    kind, which = type_of_joint(mechanism, joints[0]), np.array(joints)
    assert kind.pair is not None
    d, C, _, _ = pose_of_joints(frames, at, which, first_two_bodies(mechanism, which))
    found: Floats = elementary_values(kind.pair.coordinates, d, C, frames.sized_parameters(which))
    lengths = np.array([is_length(name) for name in kind.coordinates], dtype=np.bool_)
    found[:, lengths] *= frames.size
    for row, joint in zip(found, joints, strict=True):
        near = frames.at_reference(mechanism, joint)
        for k, name in enumerate(kind.coordinates):
            if name in near and not lengths[k] and kind.pair.coordinates[k].parameter is None:
                row[k] += whole_turns(near[name] - row[k])
    return found


def _relation_rows(mechanism: Mechanism, frames: Frames, at: Poses, joint: int, values: bool) -> Rows:
    """Rows of a joint whose equations are relations of its bodies."""
    relations = frames.relations[joint]
    driven = [name for name in mechanism.joints[joint].driven if name in relations.coordinates]
    chosen = [*relations.constraints, *(relations.coordinates[name] for name in driven)]
    (value,), (rates,) = values_and_rates(relations, chosen, at[None], frames.size)
    bodies, count = np.array(relations.bodies), len(chosen)
    # Jacobians are by the velocities of the bodies' centres.
    lever = np.einsum("nab,nb->na", at.rotation[bodies], frames.centre[bodies]) / frames.size
    rates[..., 3:] -= cross(lever, rates[..., :3])
    drive = np.arange(count) >= len(relations.constraints)
    residual, name = np.where(drive & (not values), 0.0, value), tuple(one.name for one in chosen)
    return Rows(residual, rates, np.tile(bodies, (count, 1)), np.full(count, joint), drive, name)
