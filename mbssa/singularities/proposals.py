"""Proposals: other inputs, or joints with more freedom; each is verified before it is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import combinations, islice, product
from typing import Literal

import numpy as np

from mbssa.arrays import Floats, Ints
from mbssa.decomposition.incidence import initialise
from mbssa.decomposition.matching import match
from mbssa.disjoint_set import DisjointSet
from mbssa.joints.catalogue import JointType, joint_type, type_of_joint
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import Rows, rows_at
from mbssa.mechanism import ByteArray, JointGeometry, Mechanism, MultipleJoint
from mbssa.singularities.passive_rotations import free_motions
from mbssa.singularities.ranks import dependences, generic_rows
from mbssa.singularities.redundancy import Examined, examine, examine_generic, independent_rows, treat
from mbssa.texts import joined

#: Released directions must span the dependences: smallest singular value of their block.
_SPANS = 1e-6

#: Sets of coordinates that are tried where several inputs are missing, and those that are proposed.
_SETS_TRIED, _MOST_SETS = 300, 12

#: Combinations of joints that are tried before the search for releases stops, those of them that are
#: verified, as each costs a few ranks, and those that are proposed.
_TRIED, _VERIFIED, _MOST_JOINTS = 20_000, 30, 6


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that makes the mechanism solvable, already verified.

    ``kind``: "inputs" (drive other coordinates) or "joints" (change joint types), described by ``text``;
    ``driven`` is the new mask of driven coordinates by joint (inputs), ``types`` the new codes by joint
    index (joints), ``directions`` the released direction of those whose new type takes an axis that the old
    one lacks, in world axes at the reference; ``size`` how many coordinates or joints change.

    >>> import mbssa
    >>> proposal = mbssa.check(mbssa.load("spatial_4r")).proposals[1]
    >>> proposal.text
    'change 2-3 from R to U and 3-4 from R to S'
    >>> proposal.apply(mbssa.load("spatial_4r")).mobility
    1
    """

    kind: Literal["inputs", "joints"]
    text: str
    size: int
    driven: tuple[int, ...] = ()
    types: tuple[tuple[int, str], ...] = ()
    directions: tuple[tuple[int, tuple[float, ...]], ...] = ()

    def apply(self, mechanism: Mechanism) -> Mechanism:
        """Return the changed mechanism.

        A joint of another type keeps the geometry that the new type takes, and has its released direction as
        the axis that it lacks: of the slot of a SLOT or SC on the first body, of the second pin of a U.
        """
        if self.kind == "inputs":
            return replace(mechanism, driven=np.array(self.driven, dtype=np.uint8))
        types, geometry = mechanism.joint_type.copy(), dict(mechanism.joint_geometry)
        changed, directions = dict(self.types), dict(self.directions)
        for joint, code in changed.items():
            row = joint_type(code, mechanism.space)
            types[joint] = row.index
            kept = _readable(geometry.pop(joint, None), row)
            if joint in directions:
                kept = _completed(mechanism, joint, row, directions[joint])
            if kept is not None:
                geometry[joint] = kept
        several = tuple(
            part for each in mechanism.multiple_joints for part in _remaining(mechanism, each, changed)
        )
        return replace(mechanism, joint_type=types, joint_geometry=geometry, multiple_joints=several)


def _remaining(mechanism: Mechanism, several: MultipleJoint, changed: Collection[int]) -> list[MultipleJoint]:
    """Joints of three or more bodies that are left of one whose changed pairs are joints of their own."""
    kept = [joint for joint in several.joints if joint not in changed]
    parts = DisjointSet(mechanism.n_bodies)
    for joint in kept:
        parts.merge(*mechanism.joint_bodies(joint))
    part_of = {joint: parts[mechanism.joint_bodies(joint)[0]] for joint in sorted(kept)}
    return [
        MultipleJoint(
            tuple(body for body in several.bodies if parts[body] == part),
            tuple(joint for joint in part_of if part_of[joint] == part),
        )
        for part, count in Counter(part_of.values()).items()
        if count > 1
    ]


def _completed(
    mechanism: Mechanism, joint: int, row: JointType, direction: tuple[float, ...]
) -> JointGeometry:
    """Geometry of a changed joint at its old place, with the released direction."""
    frames = joint_frames(mechanism)
    body = mechanism.joint_bodies(joint)[0]
    rotation, n = frames.rotation[body], len(direction)
    point = tuple((frames.position[body] + rotation @ frames.origin[joint, 0])[:n].tolist())
    if "axes" in row.required:
        axis = tuple((rotation @ frames.axes[joint, 0, :, 2]).tolist())
        return JointGeometry(point=point, axes=(axis, direction))
    return JointGeometry(point=point, axis=direction)


def _readable(geometry: JointGeometry | None, row: JointType) -> JointGeometry | None:
    """Geometry for a type from that of another type; None if it needs more."""
    if geometry is None or (
        geometry.frames is None and any(getattr(geometry, field) is None for field in row.required)
    ):
        return None
    read = {*row.required, *row.optional, "frames"}
    fields = ("point", "points", "axis", "axes", "frames", "radius", "length", "offsets")
    return JointGeometry(**{field: getattr(geometry, field) for field in fields if field in read})


def propose_inputs(found: Examined, precision: float | None = None) -> list[Proposal]:
    """Other driven coordinates that determine the mechanism, fewest changes first."""
    # Inputs that depend on the rest are taken back (the last in joint order first); free motions that are no
    # passive rotation get a new input each. One missing input: every single coordinate that would do;
    # several: sets of coordinates. A structure that cannot move gets none.
    if not found.mobility:
        return []
    mechanism, rows = found.mechanism, found.rows
    order = np.lexsort((np.arange(len(rows)), rows.joint, rows.drive))
    kept = order[independent_rows(found.matrix[order], found.tolerance)]
    driven, taken_back = mechanism.driven.copy(), []
    for r in np.setdiff1d(np.flatnonzero(rows.drive), kept).tolist():
        joint, name = int(rows.joint[r]), rows.name[r]
        driven[joint] &= ~np.uint8(1 << type_of_joint(mechanism, joint).coordinates.index(name))
        taken_back.append(f"{mechanism.joint_ids[joint]}.{name}")
    free = free_motions(found.matrix[kept], found.tolerance)
    # A passive rotation needs no input, and moves only its own bodies, whose columns are left out.
    bare = replace(found, mechanism=replace(mechanism, driven=driven), rows=rows.select(np.sort(kept)))
    spinning = [b - 1 for spin in bare.passive_rotations for b in spin.bodies] if free.shape[1] else []
    if spinning:
        others = np.delete(free.reshape(-1, 6, free.shape[1]), spinning, axis=0).reshape(-1, free.shape[1])
        _, values, right = np.linalg.svd(others, full_matrices=True)
        free = free @ right[: int((values > 1e-9).sum())].T
    proposals = []
    for added in _additions(found, free, driven):
        mask = driven.copy()
        for joint, bit in added:
            mask[joint] |= 1 << bit
        changed = replace(mechanism, driven=mask)
        if (added or taken_back) and mask.any() and solvable(changed, found.basis, precision):
            names = [
                f"{mechanism.joint_ids[j]}.{type_of_joint(mechanism, j).coordinates[bit]}" for j, bit in added
            ]
            said = (("no longer drive", taken_back), ("drive", names))
            text = "; ".join(f"{verb} {joined(inputs)}" for verb, inputs in said if inputs)
            size = len(taken_back) + len(names)
            proposals.append(Proposal("inputs", text, size, driven=tuple(mask.tolist())))
    return proposals


def _additions(found: Examined, free: Floats, driven: ByteArray) -> list[list[tuple[int, int]]]:
    """Sets of coordinates, as (joint, bit), that stop all free motions."""
    if not free.shape[1]:
        return [[]]
    every = coordinate_rows(found)
    moved = every.matrix(np.arange(1, found.mechanism.n_bodies)) @ free
    options = []
    for r in range(len(every)):
        joint = int(every.joint[r])
        bit = type_of_joint(found.mechanism, joint).coordinates.index(every.name[r])
        if not driven[joint] >> bit & 1 and np.linalg.norm(moved[r]) > 1e-6:
            options.append((r, (joint, bit)))
    tried = islice(combinations(options, free.shape[1]), _SETS_TRIED)
    spanning = (chosen for chosen in tried if _spans(moved[[r for r, _ in chosen]]))
    sets = [[option for _, option in chosen] for chosen in islice(spanning, _MOST_SETS)]
    if not sets:
        chosen_rows = independent_rows(moved[[r for r, _ in options]], 1e-7)
        if len(chosen_rows) == free.shape[1]:
            sets.append([options[k][1] for k in chosen_rows.tolist()])
    return sets


def coordinate_rows(found: Examined) -> Rows:
    """Rows of every free coordinate of every joint, as if all were driven, where ``found`` was taken."""
    driven = np.array([(1 << k) - 1 for k in found.mechanism.grade.tolist()], dtype=np.uint8)
    everything = replace(found.mechanism, driven=driven)
    if found.frames is None or found.configuration is None:
        rows = generic_rows(everything, found.seed)
    else:
        rows = rows_at(everything, found.frames, found.configuration)
    return rows.select(np.flatnonzero(rows.drive))


def propose_joints(found: Examined) -> list[Proposal]:
    """Changes of joint types that take exactly the redundant constraints away, fewest joints first."""
    # The exactly constrained (isostatic) alternatives of an over-constrained mechanism: R to C, U, S; P to C
    # … A set of equations can be given up without a loss when its block of the left null space is regular.
    mechanism, redundant = found.mechanism, found.all.redundant
    if not redundant:
        return []
    blocks = [dependences(found.matrix, found.all)]
    if found.elsewhere is not None and found.elsewhere.all.redundant == redundant:
        blocks.append(dependences(found.elsewhere.matrix, found.elsewhere.all))
    options = _release_options(found, blocks[0])
    choices = (
        (joints, choice)
        for n_joints in range(1, min(redundant, len(options)) + 1)
        for joints in combinations(sorted(options), n_joints)
        for choice in product(*(options[j] for j in joints))
    )
    proposals: list[Proposal] = []
    verified = 0
    for joints, choice in islice(choices, _TRIED):
        if verified >= _VERIFIED or len(proposals) >= _MOST_JOINTS:
            break
        given_up = np.concatenate([rows for _, rows in choice])
        types = tuple((j, code) for j, (code, _) in zip(joints, choice, strict=True))
        if (
            len(given_up) != redundant
            or not all(_spans(block[given_up]) for block in blocks)
            or any(other.types == types for other in proposals)
        ):
            continue
        verified += 1
        changes = [
            f"{mechanism.joint_ids[j]} from {mechanism.joints[j].type.code} to {code}" for j, code in types
        ]
        released = ((j, _released_direction(found, j, code, blocks[0])) for j, code in types)
        directions = tuple((j, direction) for j, direction in released if direction is not None)
        text = f"change {joined(changes)}"
        proposal = Proposal("joints", text, len(joints), types=types, directions=directions)
        changed = proposal.apply(mechanism)
        # Neither count nor generic rank may find anything redundant or free but passive rotations, nor the
        # rank at the reference, where there is one.
        sound = examine_generic(changed).all.redundant == 0 and solvable(changed, "generic")
        if sound and mechanism.has_geometry:
            sound = changed.has_geometry and solvable(changed, "numeric")
        if sound:
            proposals.append(proposal)
    return proposals


def _released_direction(found: Examined, joint: int, code: str, null: Floats) -> tuple[float, ...] | None:
    """World direction that a changed joint releases, where its new type takes an axis that it lacks."""
    # Of the directions that the release allows: that of the reaction, whose release is the best conditioned.
    mechanism = found.mechanism
    row, old = joint_type(code, mechanism.space), type_of_joint(mechanism, joint)
    geometry = mechanism.joint_geometry.get(joint)
    lacking: list[str] = [
        field for field in ("axis", "axes") if field in row.required and field not in old.required
    ]
    if not lacking and geometry is not None and _readable(geometry, row) is None:
        lacking = ["point"]
    if found.frames is None or geometry is None or not lacking:
        return None
    local = np.zeros(3)
    if lacking == ["point"]:
        local[old.guide] = 1.0
    else:
        names = [names[0] for other, names in old.releases if other == code and len(names) == 1]
        rows = [r for r in np.flatnonzero(found.rows.joint == joint).tolist() if found.rows.name[r] in names]
        reaction, _, _ = np.linalg.svd(null[rows], full_matrices=False)
        for r, weight in zip(rows, reaction[:, 0], strict=True):
            local["xyz".index(found.rows.name[r][-1])] = weight
        if found.rows.name[rows[0]].startswith("tilt"):  # the cosine of x and z is tilted about y
            local = np.cross(local, [0.0, 0.0, 1.0])
    frames = found.frames
    world = frames.rotation[mechanism.joint_bodies(joint)[0]] @ frames.axes[joint, 0] @ local
    world = (world * np.sign(world[np.abs(world).argmax()])).round(12) + 0.0
    return tuple(world[: 2 if mechanism.space == "planar" else 3].tolist())


def _spans(block: Floats) -> bool:
    return bool(np.linalg.svd(block, compute_uv=False)[-1] > _SPANS)


def _release_options(found: Examined, null: Floats) -> dict[int, list[tuple[str, Ints]]]:
    """Changes by joint: the new code and the rows given up, where these rows take part in a dependence."""
    mechanism, rows = found.mechanism, found.rows
    taking_part = np.linalg.norm(null, axis=1) > _SPANS
    options: dict[int, list[tuple[str, Ints]]] = {}
    for j in np.unique(rows.joint[taking_part & ~rows.drive]).tolist():
        if mechanism.driven[j]:
            continue
        mine = np.flatnonzero((rows.joint == j) & ~rows.drive)
        for code, names in type_of_joint(mechanism, j).releases:
            released = np.array([r for r in mine.tolist() if rows.name[r] in names], dtype=np.int64)
            if taking_part[released].all():
                options.setdefault(j, []).append((code, released))
    return options


def solvable(mechanism: Mechanism, basis: str, precision: float | None = None) -> bool:
    """Return whether count and rank determine a mechanism, passive rotations and redundancy aside."""
    found = examine(mechanism, precision) if basis == "numeric" else examine_generic(mechanism)
    if found.all.full:
        return not match(initialise(mechanism)).parts
    return treat(mechanism, precision) is not None
