"""Spanning tree of a mechanism from the frame, the cuts that close its loops, and their Jacobian."""

# The cuts are Robotran's: a rod cut is 1 equation (a massless rod, or a body between two spherical joints,
# replaced by a constant distance), a ball cut 3 or in the plane 2, a solid cut 6 or in the plane 3; any other
# joint may be cut too and gives its own equations.

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from groups.joint_jacobian import PosesOverTime, joint_rows, link_twists, pair_pose, row_names, tree_rows
from groups.tree import Link, joints_at, spanning
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.faults import BETWEEN
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Elementary
from mbssa.joints.frames import Frames
from mbssa.joints.poses import Poses
from mbssa.trust import REMEDY


class Cut(NamedTuple):
    """Cut of a loop at one joint, or at the two at the ends of a body that becomes a rod."""

    joints: tuple[int, ...]
    name: str  # ids of the joints
    kind: str  # ``rod``, ``ball``, ``solid``, or the type of the joint where it is none of these
    rod: int  # index of the body that is taken out and leaves its length; -1 for none
    equations: tuple[str, ...]  # names of the constraints, then of the driven coordinates
    drives: tuple[str, ...]  # driven coordinates of the joint


@dataclass(frozen=True, eq=False)
class CutOpen:
    """A mechanism as a tree with cuts."""

    mechanism: Mechanism
    frames: Frames
    links: tuple[Link, ...]  # bodies with their parents and the joints between, parents first
    cuts: tuple[Cut, ...]  # in the order of their joints; a cut without equations is left out
    coordinates: tuple[str, ...]  # (n) ``joint.coordinate`` of q, in the order of the joints
    equations: tuple[str, ...]  # (m) ``joint: equation``
    prescribed: tuple[bool, ...]  # (m) driven coordinate of a cut joint

    @property
    def cut_texts(self) -> tuple[str, ...]:
        """The cuts, each with its kind: ``ball cut at 2-4``."""
        return tuple(f"{cut.kind} cut at {cut.name}" for cut in self.cuts)

    @property
    def drives(self) -> list[str]:
        """Driven coordinates of cut joints, by their names."""
        return [f"{cut.name}.{name}" for cut in self.cuts for name in cut.drives]


def cut_open(
    mechanism: Mechanism, frames: Frames, cuts: Sequence[str] | None = None, driven: Iterable[str] = ()
) -> CutOpen:
    """Cut a mechanism open at the joints with the most freedom, or at those that are named."""
    # Driven coordinates count as no freedom, so that they belong to the tree where they can. A body in space
    # between two spherical joints, with no other joint, becomes a rod cut.
    joints, ids, name = range(mechanism.n_joints), mechanism.joint_ids, mechanism.name or "the mechanism"
    if bare := [mechanism.joints[j] for j in joints if not frames.known[j]]:
        given = mechanism.joint_geometry
        why = ", ".join(f"{j} has no {'equations' if j.index in given else 'geometry'}" for j in bare)
        if mechanism.untrusted:
            why = f"code that the file names is not run, at {mechanism.untrusted_said}; {REMEDY}"
        raise ValueError(f"{name} cannot be cut open: {why}")
    named, faults = set[int](), list[str]()
    for text in cuts or ():
        try:
            named.add(mechanism.joint(text).index)
        except KeyError as error:
            faults.append(f"cuts: {error.args[0]}")
    if faults:
        raise ValueError(BETWEEN.join(faults))
    # Bodies that are replaced by rods, each with its two joints.
    balls = {j for j in joints if type_of_joint(mechanism, j).is_ball and not mechanism.driven[j]}
    balls &= named if cuts is not None else set(joints if mechanism.space == "spatial" else ())
    rods = dict[int, tuple[int, ...]]()
    at = joints_at(range(1, mechanism.n_bodies), {j: mechanism.joint_bodies(j) for j in joints})
    for body, pair in at.items():
        others = {b for j in pair for b in mechanism.joint_bodies(j)} - {body}
        if len(pair) == len(others) == 2 and balls.issuperset(pair) and others.isdisjoint(rods):
            rods[body] = tuple(pair)
    ends = {j for both in rods.values() for j in both}
    carrying = [j for j in joints if j not in ends | named and type_of_joint(mechanism, j).pair is not None]
    links, closing = spanning(mechanism, set(range(1, mechanism.n_bodies)) - set(rods), carrying)
    if loose := [mechanism.body_name(link.body) for link in links if link.joint < 0]:
        gone = ", ".join(ids[j] for j in sorted(named))
        why = f"once {gone} are cut" if gone else "but gears, contacts or functions"
        several = "bodies" if len(loose) > 1 else "body"
        faults.append(f"{several} {', '.join(loose)} would be unconnected {why}; cut fewer joints")
    if closing and cuts is not None:
        remedy = f"cut {', '.join(ids[j] for j in closing)} too, or others of the loops"
        faults.append(f"cuts: the joints that are left still have loops; {remedy}")
    if faults:
        raise ValueError(BETWEEN.join(faults))
    hanging, prescribed = sorted(link.joint for link in links), set(driven)
    found = [
        Cut(both, " ".join(ids[j] for j in both), "rod", body, ("length",), ()) for body, both in rods.items()
    ]
    for j in joints:
        if j in ends.union(hanging):
            continue
        of, constraints = type_of_joint(mechanism, j), row_names(mechanism, frames, j)
        drivable = of.drivable if of.pair is not None else frames.relations[j].coordinates
        own, kind = tuple(each for each in drivable if f"{ids[j]}.{each}" in prescribed), of.code
        if (constraints == ("length",) and not own) or (of.line == "distance" and own == ("distance",)):
            kind = "rod"
        elif of.is_ball and not own:
            kind = "ball"
        elif len(constraints) + len(own) == mechanism.freedom:
            kind = "solid"
        found.append(Cut((j,), ids[j], kind, -1, constraints + own, own))
    kept = tuple(sorted(cut for cut in found if cut.equations))
    q = [(j, coordinate) for j in hanging for coordinate in type_of_joint(mechanism, j).coordinates]
    coordinates = tuple(f"{ids[j]}.{coordinate}" for j, coordinate in q)
    equations = tuple(f"{cut.name}: {e}" for cut in kept for e in cut.equations)
    drives = tuple(k < len(cut.drives) for cut in kept for k in reversed(range(len(cut.equations))))
    return CutOpen(mechanism, frames, links, kept, coordinates, equations, drives)


def linearised(opened: CutOpen, poses: Poses) -> tuple[Floats, Floats]:
    """Coordinates (T, n), m and principal angles in rad, and J (T, m, n); NaN where a body was not placed."""
    # Lengths are over the mechanism's size, in rows and in columns, so that J is without units and its
    # singular values and pivots may be compared.
    at, links = PosesOverTime.over(opened.mechanism, opened.frames, poses), opened.links
    with np.errstate(all="ignore"):
        values = [pair_pose(at, link.joint).coordinates(opened.frames.size) for link in links]
        rows = [
            joint_rows(at, cut.joints[0], cut.drives)
            if cut.rod < 0
            else pair_pose(at, *cut.joints, rod=cut.rod).rows(at, (Elementary("distance"),))
            for cut in opened.cuts
        ]
        J = tree_rows(at, links, [link_twists(at, link) for link in links], rows).swapaxes(1, 2)
    joints = [link.joint for link, value in zip(links, values, strict=True) for _ in range(value.shape[1])]
    order = np.argsort(joints, kind="stable")
    return np.concatenate(values, axis=1)[:, order], J[:, :, order]
