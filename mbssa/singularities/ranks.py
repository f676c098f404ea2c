"""Ranks of the constraint Jacobian, of a whole mechanism and group by group."""

# Three ranks are kept apart: the *count* (Eq. (2) and the matching), the *generic* rank (random geometry that
# respects the joint types: a law of the topology), and the *numeric* rank (the given geometry).

from __future__ import annotations

from dataclasses import dataclass, replace
from math import hypot
from typing import TYPE_CHECKING

import numpy as np

from mbssa.arrays import Floats, Ints, ranges
from mbssa.decomposition.treatment import DENSE
from mbssa.joints.axes import plane_rotation
from mbssa.joints.catalogue import CATALOGUE, JointType, type_of_joint
from mbssa.joints.equations import pose
from mbssa.joints.frames import Frames, coupled_coordinates
from mbssa.joints.poses import Poses
from mbssa.joints.relations import JointRelations
from mbssa.joints.system import Rows, rows_at
from mbssa.mechanism import JointGeometry, Mechanism

if TYPE_CHECKING:
    from mbssa.structure import Structure


#: Ratio of singular values below which exact numbers count as dependent: true defects lie near 1e-16,
#: regular mechanisms of 3 to 33 bodies above 1e-3.
EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class Rank:
    """Rank of one block of equations."""

    rows: int
    columns: int
    rank: int
    tolerance: float  # the rank counts values above this times the largest
    values: tuple[float, ...]  # singular values, descending, lengths divided by the mechanism's size

    @property
    def redundant(self) -> int:
        """Equations that follow from the others (or contradict them)."""
        return self.rows - self.rank

    @property
    def free(self) -> int:
        """Motions that no equation stops."""
        return self.columns - self.rank

    @property
    def full(self) -> bool:
        return self.redundant == 0 and self.free == 0

    @property
    def margin(self) -> tuple[float, float]:
        """Smallest retained and largest discarded singular value, both over the largest of all."""
        largest = self.values[0] if self.values else 1.0
        kept = self.values[self.rank - 1] / largest if self.rank else 0.0
        dropped = self.values[self.rank] / largest if self.rank < len(self.values) else 0.0
        return kept, dropped

    def __str__(self) -> str:
        return f"{self.rank} of {self.columns}" + (f" from {self.rows}" if self.rows != self.columns else "")


def rank_of(matrix: Floats, tolerance: float = EXACT) -> Rank:
    """Rank by singular values."""
    return ranks_of(matrix[None], tolerance)[0]


def ranks_of(matrices: Floats, tolerance: float) -> list[Rank]:
    """Ranks of matrices (n, rows, columns) by singular values."""
    n, rows, columns = matrices.shape
    values = np.linalg.svd(matrices, compute_uv=False) if rows and columns else np.zeros((n, 0))
    ranks = (values > tolerance * values[:, :1]).sum(axis=1).tolist()
    pairs = zip(ranks, values.tolist(), strict=True)
    return [Rank(rows, columns, rank, tolerance, tuple(each)) for rank, each in pairs]


def dependences(matrix: Floats, rank: Rank) -> Floats:
    """Orthonormal basis (rows, redundant) of the dependences among the rows of a matrix."""
    return np.asarray(np.linalg.svd(matrix)[0][:, rank.rank :], dtype=np.float64)


def group_ranks(structure: Structure, rows: Rows, tolerance: float = EXACT) -> list[Rank | None]:
    """Rank of every group on its own bodies, the others standing still; None where it is too large."""
    # Groups of one size are decomposed together, so that ten thousand dyads take a fraction of a second.
    number = structure.joint_group[rows.joint]
    group_of_body = structure.group_of_body
    start, members = structure.members
    place = np.zeros(structure.mechanism.n_bodies, dtype=np.int64)
    sizes = np.diff(start)
    owner, item = ranges(start[:-1], start[1:])
    place[members[item]] = item - start[owner]
    order = np.argsort(number, kind="stable")
    begin = np.searchsorted(number[order], np.arange(1, structure.n_groups + 2))
    heights = np.diff(begin)
    freedom = rows.jacobian.shape[2]
    answer: list[Rank | None] = [None] * structure.n_groups
    for height, size in sorted(set(zip(heights.tolist(), sizes.tolist(), strict=True))):
        if size * freedom > DENSE:
            continue
        which = np.flatnonzero((heights == height) & (sizes == size))
        # Batches of bounded memory: 64 MB of matrices at a time.
        batch = max(1, 8_000_000 // max(1, height * size * freedom))
        for lot in np.array_split(which, -(-len(which) // batch)):
            picked = order[begin[lot][:, None] + np.arange(height)]
            blocks = np.zeros((len(lot), height, size + 1, freedom))
            for slot in range(rows.body.shape[1]):
                body = rows.body[picked, slot]
                own = group_of_body[body] == (lot + 1)[:, None]
                column = np.where(own, place[body], size)
                k, r = np.indices(column.shape)
                blocks[k, r, column] += rows.jacobian[picked, slot]
            matrices = blocks[:, :, :size].reshape(len(lot), height, size * freedom)
            for g, rank in zip(lot.tolist(), ranks_of(matrices, tolerance), strict=True):
                answer[g] = rank
    return answer


def generic_rows(mechanism: Mechanism, seed: int = 1) -> Rows:
    """Constraint and drive rows at random geometry of the declared joint types."""
    # Every joint gets random frames and a random position; cams and users' functions get as many random rows
    # as they have equations.
    dice = np.random.default_rng(seed)
    n_joints, n = mechanism.n_joints, mechanism.n_bodies
    parameters = {
        name: dice.uniform(0.5, 1.5, n_joints) for name in ("length", "pitch", "radius", "offset", "ratio")
    }
    if mechanism.space == "planar":
        axes = plane_rotation(dice.uniform(-np.pi, np.pi, n_joints))
        point = dice.uniform(-1, 1, (n_joints, 3)) * (1.0, 1.0, 0.0)
    else:
        axes = np.asarray(np.linalg.qr(dice.normal(size=(n_joints, 3, 3)))[0], dtype=np.float64)
        axes[:, :, 2] *= np.linalg.det(axes)[:, None]
        point = dice.uniform(-1, 1, (n_joints, 3))
    for several in mechanism.multiple_joints:
        # One pin: its pairs lie on one line.
        pairs = list(several.joints)
        axes[pairs], point[pairs] = axes[pairs[0]], point[pairs[0]]
    origin = np.stack([point, point], axis=1)
    both = np.stack([axes, axes], axis=1)
    known = np.zeros(n_joints, dtype=bool)
    relations: dict[int, JointRelations] = {}
    random: dict[int, JointGeometry] = {}
    still = Poses.of(np.zeros((n, 3)))
    for index in np.unique(mechanism.joint_type).tolist():
        joints = np.flatnonzero(mechanism.joint_type == index)
        kind = CATALOGUE[index]
        rows = kind.pair
        if rows is None:
            found = (
                (j, _random_geometry(kind, mechanism.joint_geometry.get(j), dice)) for j in joints.tolist()
            )
            random |= {j: geometry for j, geometry in found if geometry is not None}
            continue
        known[joints] = True
        q = dice.uniform(-1, 1, (len(joints), kind.grade))
        d, C, _ = pose(rows, q, {name: values[joints] for name, values in parameters.items()})
        # B is the random frame; A is placed so that B is at these coordinates.
        both[joints, 0] = axes[joints] @ C.transpose(0, 2, 1)
        origin[joints, 0] = point[joints] - np.einsum("nab,nb->na", both[joints, 0], d)
    frames = Frames(
        still.position, still.rotation, origin, both, np.zeros((n, 3)), parameters, known, 1.0, relations
    )
    for j, geometry in random.items():
        coupled = coupled_coordinates(mechanism, geometry, frames)
        relate = type_of_joint(mechanism, j).relations
        if coupled is not None and relate is not None:
            at = replace(still, coordinates=coupled)
            relations[j] = relate(mechanism.joint_bodies(j), geometry, at)[0]
    known[list(relations)] = True
    rows_known = rows_at(mechanism, frames, frames.reference)
    return _with_random_rows(mechanism, rows_known, np.flatnonzero(~known), dice)


def _random_geometry(
    kind: JointType, given: JointGeometry | None, dice: np.random.Generator
) -> JointGeometry | None:
    """Random geometry for a type with relations; None for a profile or a function, which are not random."""
    # Nor are the coordinates that a coupling names, which are topology: taken from the model if given.
    couples = given.couples if given is not None else None
    if (
        kind.relations is None
        or {"profile", "function"} & {*kind.required}
        or kind.is_coupling > bool(couples)
    ):
        return None
    count = kind.contacts or 2
    vectors = dice.uniform(-1, 1, (2, count, 2 if kind.space == "planar" else 3))
    points, axes = (tuple(map(tuple, of.tolist())) for of in vectors)
    ratio, radius = dice.uniform(0.5, 1.5, 2).tolist()
    return JointGeometry(
        point=points[0], points=points, axis=axes[0], axes=axes, ratio=ratio, radius=radius,
        couples=couples, multiplier=ratio,
    )  # fmt: skip


def _with_random_rows(mechanism: Mechanism, rows: Rows, joints: Ints, dice: np.random.Generator) -> Rows:
    """Stand-ins for joints without equations: random wrenches; of two bodies opposite ones, of more any."""
    # B random rows for each joint, so that those of coordinates exist, driven or not.
    B, parts = mechanism.freedom, [rows]
    for j, wrench in zip(joints.tolist(), dice.normal(size=(len(joints), B, B)), strict=True):
        kind, driven = type_of_joint(mechanism, j), mechanism.joints[j].driven
        row = [*range(kind.equations), *(kind.equations + kind.coordinates.index(name) for name in driven)]
        body = np.tile(mechanism.joint_bodies(j), (len(row), 1))
        if kind.is_coupling or "function" in kind.required:
            jacobian = dice.normal(size=(*body.shape, B))
        else:
            body, jacobian = body[:, :2], np.stack([-wrench[row], wrench[row]], axis=1)
        jacobian[body == 0] = 0.0
        drive, names = np.arange(len(row)) >= kind.equations, ("contact",) * kind.equations + driven
        parts.append(Rows(np.zeros(len(row)), jacobian, body, np.full(len(row), j), drive, names))
    return Rows.joined(parts)


def precision_of(mechanism: Mechanism, size: float, stated: float | None = None) -> float:
    """The stated precision (m) over the size; else half a unit of the last decimal of rounded numbers."""
    # Relative: of points over the mechanism's ``size``, of directions over their length. Short numbers are
    # exact. A coordinate of a point counts as rounded from 6 significant digits and 5 decimals, a component
    # of a direction from 5 decimals, since 0.000001 beside 1 is a rounding too.
    if stated is not None:
        return stated / size
    bodies, joints = mechanism.body_geometry.values(), mechanism.joint_geometry.values()
    frames = [frame for joint in joints for frame in joint.frames or ()]
    points = [*(body.origin for body in bodies), *(frame.origin for frame in frames)]
    points += [point for joint in joints for point in (joint.point, *(joint.points or ()))]
    directions = [axis for joint in joints for axis in (joint.axis, *(joint.axes or ()))]
    directions += [axis for frame in frames for axis in (frame.z, frame.x)]
    off = [_rounding(v, digits=1) for body in bodies for v in body.orientation or ()]
    off += [_rounding(v, digits=6) / size for point in points for v in point or ()]
    off += [_rounding(v, digits=1) / hypot(*axis) for axis in directions if axis for v in axis]
    return max(off, default=0.0)


def _rounding(value: float, digits: int) -> float:
    # 15 digits: a change of units must not turn 12.34 mm into 17 digits of metres.
    mantissa, _, exponent = f"{value:.14e}".partition("e")
    written = mantissa.lstrip("-").replace(".", "").rstrip("0")
    last = int(exponent) - (len(written) - 1)
    return 0.5 * 10.0**last if len(written) >= digits and -13 <= last <= -5 else 0.0


def tolerance_for(precision: float) -> float:
    """Ratio of singular values below which numbers of this relative precision count as dependent."""
    return max(EXACT, 10.0 * precision)
