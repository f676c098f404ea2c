"""Over-constrained but mobile mechanisms: redundant equations and passive rotations."""

# Redundant equations are left out of the count (a recorded, deterministic, full-rank subset is kept), and a
# body with a passive rotation gets one freedom less. Both only where ranks show that nothing else is wrong:
# the drives are independent, and every free motion left is a passive rotation.

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Literal

import numpy as np

from mbssa.arrays import Floats, Ints
from mbssa.decomposition.incidence import initialise
from mbssa.decomposition.treatment import Dropped, PassiveRotation, SpecialPart, Treatment
from mbssa.joints.assembly import CLOSED, Assembly, assemble
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.poses import Poses
from mbssa.joints.system import Rows, rows_at, unknowns
from mbssa.mechanism import Mechanism
from mbssa.singularities.passive_rotations import free_motions, passive_rotations
from mbssa.singularities.ranks import EXACT, Rank, generic_rows, precision_of, rank_of, tolerance_for
from mbssa.singularities.special_loops import special_parts

#: Mixes of free motions that are tried before a mechanism counts as stuck.
MIXES = 6
#: Singular value above which a discarded one is more than rounding.
ROUNDED = 1e-12
#: Precision, over the size, that numbers are taken to have at most where none is stated: seven digits.
DIGITS = 1e-7

#: Share of the largest from which on an equation counts among those on which another one depends.
GUARDS = 1e-6


@dataclass(frozen=True, eq=False)
class Examined:
    """Equations of a mechanism at an assembled configuration, or at random geometry."""

    mechanism: Mechanism
    rows: Rows
    tolerance: float = EXACT
    precision: float = 0.0  # of the geometry's numbers, over the size
    frames: Frames | None = None  # None for random geometry
    configuration: Poses | None = None  # likewise
    assembly: Assembly | None = None  # how the reference was closed; None for any other configuration
    seed: int = 0  # of the random geometry

    @property
    def basis(self) -> Literal["numeric", "generic"]:
        """The geometry: given, or random."""
        return "generic" if self.frames is None else "numeric"

    @property
    def size(self) -> float:
        """Length (m) that lengths are divided by."""
        return 1.0 if self.frames is None else self.frames.size

    @cached_property
    def matrix(self) -> Floats:
        """Jacobian by the twists of all movable bodies."""
        return self.rows.matrix(np.arange(1, self.mechanism.n_bodies))

    @cached_property
    def constraints(self) -> Rank:
        """Rank without drives."""
        return rank_of(self.matrix[~self.rows.drive], self.tolerance)

    @cached_property
    def all(self) -> Rank:
        """Rank with drives."""
        return rank_of(self.matrix, self.tolerance) if self.rows.drive.any() else self.constraints

    @cached_property
    def passive_rotations(self) -> list[PassiveRotation]:
        """Passive rotations of bodies here."""
        return passive_rotations(self.mechanism, self.rows, self.frames, self.configuration, self.tolerance)

    @cached_property
    def elsewhere(self) -> Examined | None:
        """The same at a perturbed configuration; None: it cannot move, or the first left no question."""
        # About 0.1 away along a mix of all free motions; where no mix leads away they exist here only. The
        # mixes are projections of fixed vectors, so they do not depend on the basis of the free motions, and
        # the result is repeatable.
        frames, at, mechanism = self.frames, self.configuration, self.mechanism
        if frames is None or at is None or self.assembly is None or not self.assembly.closed:
            return None
        if not (self.constraints.redundant or self.dependent_drives) or not self.constraints.free:
            return None
        free = free_motions(self.matrix[~self.rows.drive], self.tolerance)
        closing, dice = closing_tolerance(self.precision), np.random.default_rng(7)
        shape = mechanism.n_bodies - 1, len(columns := unknowns(mechanism.space))
        for direction, length in product(dice.normal(size=(MIXES, len(free))), (0.1, 0.025, 0.00625)):
            mix = free @ (free.T @ direction)
            move = np.zeros((mechanism.n_bodies, 6))
            move[1:, columns] = (length * (mix / np.abs(mix).max())).reshape(shape)
            move[:, :3] *= frames.size
            start = at.moved(move, frames.centre)
            there = assemble(mechanism, frames, start, closing, self.tolerance, starts=0)
            along, turned = at.correction(there.configuration, frames.centre)
            if there.closed and max(along.max() / frames.size, turned.max()) > length / 4:
                rows = rows_at(mechanism, frames, there.configuration)
                return replace(self, rows=rows, configuration=there.configuration, assembly=None)
        return None

    @property
    def fault(self) -> str:
        """Why the mechanism could not be assembled; empty where it could."""
        return self.assembly.fault if self.assembly is not None else ""

    @property
    def singular_pose(self) -> bool:
        """Return whether the reference is a singular pose: nearby, the rank of the constraints is higher."""
        return self.elsewhere is not None and self.elsewhere.constraints.rank > self.constraints.rank

    @property
    def stuck(self) -> bool:
        """Return whether the rank promises motions and redundancy, and no motion leaves the reference."""
        # A shaky configuration: its ranks hold there alone, not for the mechanism.
        moving = self.constraints.redundant > 0 and self.constraints.free > 0
        return self.assembly is not None and moving and self.elsewhere is None

    @property
    def dead_point(self) -> bool:
        """Return whether the drives depend on the rest at the reference only: nearby they do not."""
        return (
            self.elsewhere is not None
            and self.elsewhere.constraints.rank == self.constraints.rank
            and self.elsewhere.all.rank > self.all.rank
        )

    @property
    def mobility(self) -> int:
        """Free motions of the undriven mechanism."""
        return self.constraints.free

    @property
    def n_drives(self) -> int:
        return int(self.rows.drive.sum())

    @property
    def dependent_drives(self) -> int:
        """Drives that say nothing new, or contradict the rest."""
        return self.n_drives - (self.all.rank - self.constraints.rank)


def examine_generic(mechanism: Mechanism) -> Examined:
    """Ranks at random geometry of the declared joint types; two draws, the higher rank counts."""
    draws = [Examined(mechanism, generic_rows(mechanism, seed), seed=seed) for seed in (1, 2)]
    return max(draws, key=lambda draw: (draw.constraints.rank, draw.all.rank))


def examine_known(mechanism: Mechanism, precision: float | None = None) -> Examined:
    """Ranks at the given geometry where all of it is known, else at random geometry."""
    known = mechanism.has_geometry and joint_frames(mechanism).known.all()
    return examine(mechanism, precision) if known else examine_generic(mechanism)


def examine(mechanism: Mechanism, precision: float | None = None) -> Examined:
    """Ranks at the assembled reference; if they fall short, at a perturbed configuration too."""
    # Kept with the mechanism: decompose and check ask for one.
    known: dict[float | None, Examined] = vars(mechanism).setdefault("_examined", {})
    if precision not in known:
        frames = joint_frames(mechanism)
        relative = precision_of(mechanism, frames.size, precision)
        tolerance, closing = tolerance_for(relative), closing_tolerance(relative)
        closed = assemble(mechanism, frames, tolerance=closing, rank_tolerance=tolerance, hold=True)
        at = closed.configuration
        rows = rows_at(mechanism, frames, at)
        known[precision] = Examined(mechanism, rows, tolerance, relative, frames, at, closed)
    return known[precision]


def closing_tolerance(precision: float) -> float:
    """Largest residual, over the size, at which a mechanism of this relative precision is closed."""
    return max(CLOSED, 10 * precision)


def treat(mechanism: Mechanism, precision: float | None = None) -> Treatment | None:
    """Treatment of a mechanism whose count does not determine it; None where there is none."""
    found = examine_known(mechanism, precision)
    if found.fault or found.singular_pose or found.stuck:
        return None
    spins = found.passive_rotations
    sound = found.dependent_drives == 0 and found.all.free == len(spins)
    if not sound or found.all.full:
        return None
    # Redundant means so wherever the mechanism goes: at the given geometry, and at a perturbed configuration.
    if found.all.redundant and found.elsewhere is None:
        return None
    parts: tuple[SpecialPart, ...] = ()
    if found.frames is not None and found.configuration is not None and found.all.redundant:
        parts = tuple(special_parts(mechanism, found.frames, found.configuration, 10 * found.tolerance))
    # A drive is never dropped; then joints in their order. A loop of a planar or spherical part is closed in
    # its own three freedoms, by the joints that close it.
    rows, closing = found.rows, np.zeros(mechanism.n_joints, dtype=bool)
    for part in parts:
        closing[list(set(part.joints) - set(part.tree))] = True
    order = np.lexsort((np.arange(len(rows)), rows.joint, closing[rows.joint], ~rows.drive))
    kept = independent_rows(found.matrix[order], found.tolerance)
    if len(kept) != found.all.rank:
        return None
    dropped = np.setdiff1d(np.arange(len(rows)), order[kept])
    if rows.drive[dropped].any():
        return None
    incidence = initialise(mechanism)
    units = incidence.units - np.bincount(rows.joint[dropped], minlength=mechanism.n_joints)
    freedom = incidence.freedom_of_body
    for part in parts:
        freedom[list(part.bodies)] = 3
        # Each tree joint spends three units on holding one body to the plane or the point.
        units[list(part.tree)] -= 3
    for spin in spins:
        freedom[spin.bodies[0]] -= 1
    return Treatment(
        units,
        freedom,
        tuple(Dropped(int(rows.joint[r]), rows.name[r]) for r in dropped.tolist()),
        tuple(spins),
        parts,
        found.basis,
        _precision_of(found, precision is not None),
    )


def _precision_of(found: Examined, stated: bool) -> float:
    """Precision of the geometry, over the size, to which dropped equations hold over a whole motion."""
    # Equations that depend on one another but for rounding errors are held to these. Others are so only at
    # the precision of the numbers, or at that of the ranks, and a motion leads farther than the ranks look.
    if stated:
        return found.precision
    ranks = [each.constraints for each in (found, found.elsewhere) if each is not None]
    gap = max((value for rank in ranks for value in rank.values[rank.rank :]), default=0.0)
    if ROUNDED < gap <= 0.5 * found.precision:
        return min(found.precision, DIGITS)
    return EXACT if gap > ROUNDED else 0.0


def guards(
    mechanism: Mechanism, label: Ints, treatment: Treatment, precision: float | None = None
) -> list[tuple[int, int]]:
    """Bodies that are to be in one group with others, by the groups of a treated mechanism (N,)."""
    # A dropped constraint that depends on all joints of an earlier group's loops depends on its branch, and
    # forbids the others, which that group could go over to by itself: both are solved together.
    found = examine_known(mechanism, precision)
    at, ties = found.elsewhere, set[tuple[int, int]]()
    if at is None or not treatment.dropped:
        return []
    names = {(dropped.joint, dropped.equation) for dropped in treatment.dropped}
    of_rows = zip(at.rows.joint.tolist(), at.rows.name, strict=True)
    dropped = np.array([row in names for row in of_rows], dtype=bool) & ~at.rows.drive
    kept = at.rows.joint[~dropped]
    shares = np.abs(np.linalg.lstsq(at.matrix[~dropped].T, at.matrix[dropped].T, rcond=None)[0].T)
    groups = np.array([label[list(mechanism.joint_bodies(j))].max() for j in range(mechanism.n_joints)])
    looped = set(np.flatnonzero(np.bincount(groups) > np.bincount(label[1:])).tolist())
    for j, share in zip(at.rows.joint[dropped].tolist(), shares, strict=True):
        without = np.bincount(kept, share > GUARDS * share.max(), mechanism.n_joints) == 0
        others = looped - {groups[j], *groups[without].tolist()}
        ties |= {(int(np.argmax(label == g)), int(np.argmax(label == groups[j]))) for g in others}
    return sorted(ties)


def independent_rows(matrix: Floats, tolerance: float) -> Ints:
    """Indices of the rows that are independent of those before them (Gram-Schmidt, done twice)."""
    n = matrix.shape[1]
    basis = np.zeros((min(matrix.shape), n))
    kept: list[int] = []
    for r, row in enumerate(matrix):
        if len(kept) == n:
            break
        size = np.linalg.norm(row)
        if size == 0:
            continue
        rest = row / size
        for _ in range(2):
            rest = rest - basis[: len(kept)].T @ (basis[: len(kept)] @ rest)
        left = np.linalg.norm(rest)
        # The distance from a span shrinks faster than singular values do: be 10 times stricter.
        if left > 10 * tolerance:
            basis[len(kept)] = rest / left
            kept.append(r)
    return np.array(kept, dtype=np.int64)
