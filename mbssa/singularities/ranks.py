"""Ranks of the constraint Jacobian, of a whole mechanism and group by group."""

# Three ranks are kept apart: the *count* (Eq. (2) and the matching), the *generic* rank (random geometry that
# respects the joint types: a law of the topology), and the *numeric* rank (the given geometry).

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mbssa.arrays import Floats, Ints
from mbssa.decomposition.treatment import DENSE
from mbssa.joints.axes import plane_rotation
from mbssa.joints.catalogue import CATALOGUE, JointType, type_of_joint
from mbssa.joints.equations import pose
from mbssa.joints.frames import Frames, coupled_coordinates
from mbssa.joints.poses import Poses
from mbssa.joints.relations import JointRelations
from mbssa.joints.system import Rows, first_two_bodies, rows_at
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
    return _rank(matrix.shape, _singular_values(matrix), tolerance)


def _singular_values(matrices: Floats) -> Floats:
    if 0 in matrices.shape[-2:]:
        return np.zeros((*matrices.shape[:-2], 0))
    return np.asarray(np.linalg.svd(matrices, compute_uv=False), dtype=np.float64)


def _rank(shape: tuple[int, ...], values: Floats, tolerance: float) -> Rank:
    rank = int((values > tolerance * values[0]).sum()) if len(values) and values[0] > 0 else 0
    return Rank(shape[-2], shape[-1], rank, tolerance, tuple(values.tolist()))


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
    place[members[start[0] :]] = np.arange(start[-1] - start[0]) - np.repeat(start[:-1] - start[0], sizes)
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
            values = _singular_values(matrices)
            for g, row in zip(lot.tolist(), values, strict=True):
                answer[g] = _rank((height, size * freedom), row, tolerance)
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
    planar = mechanism.space == "planar"
    axes = _random_axes(dice, n_joints, planar)
    point = dice.uniform(-1, 1, (n_joints, 3))
    if planar:
        point[:, 2] = 0.0
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
    for j, geometry in random.items():
        coupled = coupled_coordinates(mechanism, geometry, origin, both, known, {})
        relate = type_of_joint(mechanism, j).relations
        if coupled is not None and relate is not None:
            at = replace(still, coordinates=coupled)
            relations[j] = relate(mechanism.joint_bodies(j), geometry, at)[0]
    known[list(relations)] = True
    frames = Frames(
        still.position, still.rotation, origin, both, np.zeros((n, 3)), parameters, known, 1.0, relations
    )
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
    if not len(joints):
        return rows
    B = mechanism.freedom
    # B random rows for each joint, so that those of coordinates exist, driven or not.
    wrench = dice.normal(size=(len(joints), B, B))
    entries: list[tuple[int, int, int, str, bool]] = []
    for k, j in enumerate(joints.tolist()):
        kind, mask = type_of_joint(mechanism, j), int(mechanism.driven[j])
        entries += [(j, k, row, "contact", False) for row in range(kind.equations)]
        driven = [(bit, name) for bit, name in enumerate(kind.coordinates) if mask >> bit & 1]
        entries += [(j, k, kind.equations + bit, name, True) for bit, name in driven]
    which, case, row = np.array([entry[:3] for entry in entries], dtype=np.int64).reshape(-1, 3).T
    sizes = np.diff(mechanism.joint_start)
    body = np.zeros((len(which), max(2, rows.body.shape[1], int(sizes[joints].max()))), dtype=np.int64)
    body[:, :2] = first_two_bodies(mechanism, which)
    jacobian = np.zeros((*body.shape, B))
    jacobian[:, 1] = wrench[case, row]
    jacobian[:, 0] = -jacobian[:, 1]
    for r, j in enumerate(which.tolist()):
        kind = type_of_joint(mechanism, j)
        if kind.is_coupling or "function" in kind.required:
            body[r, : sizes[j]] = mechanism.joint_bodies(j)
            jacobian[r, : sizes[j]] = dice.normal(size=(sizes[j], B))
    jacobian[body == 0] = 0.0
    drive, name = np.array([entry[4] for entry in entries], dtype=bool), tuple(e[3] for e in entries)
    return Rows.joined([rows, Rows(np.zeros(len(which)), jacobian, body, which, drive, name)])


def _random_axes(dice: np.random.Generator, n: int, planar: bool) -> Floats:
    if planar:
        return plane_rotation(dice.uniform(-np.pi, np.pi, n))
    axes = np.asarray(np.linalg.qr(dice.normal(size=(n, 3, 3)))[0], dtype=np.float64)
    axes[:, :, 2] *= np.linalg.det(axes)[:, None]
    return axes


def precision_of(mechanism: Mechanism, size: float, stated: float | None = None) -> float:
    """The stated precision (m) over the size; else half a unit of the last decimal of rounded numbers."""
    # Relative: of points over the mechanism's ``size``, of directions over their length. Short numbers are
    # exact. A coordinate of a point counts as rounded from 6 significant digits and 5 decimals, a component
    # of a direction from 5 decimals, since 0.000001 beside 1 is a rounding too.
    if stated is not None:
        return stated / size
    worst = 0.0
    for body in mechanism.body_geometry.values():
        worst = max([worst, *(_rounding(v, digits=6) / size for v in body.origin or ())])
        worst = max([worst, *(_rounding(v, digits=1) for v in body.orientation or ())])
    for geometry in mechanism.joint_geometry.values():
        frames = geometry.frames or ()
        directions = [geometry.axis, *(geometry.axes or ()), *(f.z for f in frames), *(f.x for f in frames)]
        points = [geometry.point, *(geometry.points or ()), *(f.origin for f in frames)]
        for vector in directions:
            norm = float(np.linalg.norm(vector)) if vector is not None else 1.0
            worst = max([worst, *(_rounding(v, digits=1) / norm for v in vector or ())])
        for vector in points:
            worst = max([worst, *(_rounding(v, digits=6) / size for v in vector or ())])
    return worst


def _rounding(value: float, digits: int) -> float:
    # 15 digits: a change of units must not turn 12.34 mm into 17 digits of metres.
    mantissa, _, exponent = f"{value:.14e}".partition("e")
    written = mantissa.lstrip("-").replace(".", "").rstrip("0")
    last = int(exponent) - (len(written) - 1)
    return 0.5 * 10.0**last if len(written) >= digits and -13 <= last <= -5 else 0.0


def tolerance_for(precision: float) -> float:
    """Ratio of singular values below which numbers of this relative precision count as dependent."""
    return max(EXACT, 10.0 * precision)
