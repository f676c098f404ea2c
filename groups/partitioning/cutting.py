"""Spanning tree of a mechanism from the frame, and the cuts that close its loops."""

# The cuts are Robotran's: a rod cut is 1 equation (a massless rod, or a body between two spherical joints,
# replaced by a constant distance), a ball cut 3 or in the plane 2, a solid cut 6 or in the plane 3; any other
# joint may be cut too and gives its own equations.

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groups.tree import Link, spanning
from mbssa import Mechanism
from mbssa.joints.catalogue import coordinate_unit, type_of_joint
from mbssa.joints.frames import Frames
from mbssa.trust import REMEDY


@dataclass(frozen=True, slots=True)
class Cut:
    """Cut of a loop at one joint, or at the two at the ends of a body that becomes a rod."""

    kind: str  # ``rod``, ``ball``, ``solid``, or the type of the joint where it is none of these
    joints: tuple[int, ...]
    rod: int  # index of the body that is taken out and leaves its length; -1 for none
    equations: tuple[str, ...]  # constraints, then driven coordinates of the joint
    driven: int = 0  # how many of the equations are driven coordinates


@dataclass(frozen=True, eq=False)
class CutOpen:
    """A mechanism as a tree with cuts."""

    mechanism: Mechanism
    frames: Frames
    links: tuple[Link, ...]  # bodies with their parents and the joints between, parents first
    cuts: tuple[Cut, ...]  # in the order of their joints; a cut without equations is left out
    coordinates: tuple[str, ...]  # (n) ``joint.coordinate`` of q, in the order of the joints
    units: tuple[str, ...]  # (n) m or rad
    start: tuple[int, ...]  # by joint index, the first column of its coordinates; -1 where it is cut
    equations: tuple[str, ...]  # (m) ``joint: equation``
    prescribed: tuple[bool, ...]  # (m) driven coordinate of a cut joint

    def cut_name(self, cut: Cut) -> str:
        """Ids of the joints of a cut."""
        return " ".join(self.mechanism.joint_ids[j] for j in cut.joints)


def cut_open(
    mechanism: Mechanism, frames: Frames, cuts: Sequence[str] | None = None, driven: Iterable[str] = ()
) -> CutOpen:
    """Cut a mechanism open at the joints with the most freedom, or at those that are named."""
    # Driven coordinates count as no freedom, so that they belong to the tree where they can. A body in space
    # between two spherical joints, with no other joint, becomes a rod cut.
    bare = [j for j in range(mechanism.n_joints) if not frames.known[j]]
    if bare:
        lacks = {j: "geometry" if mechanism.joint_geometry.get(j) is None else "equations" for j in bare}
        why = ", ".join(f"{mechanism.joints[j]} has no {lacks[j]}" for j in bare)
        if mechanism.untrusted:
            why = f"code that the file names is not run, at {mechanism.untrusted_said}; {REMEDY}"
        raise ValueError(f"{mechanism.name or 'the mechanism'} cannot be cut open: {why}")
    named = None if cuts is None else _joints_named(mechanism, cuts)
    rods = _rods(mechanism, named)
    ends = {j for pair in rods.values() for j in pair}
    own = set(range(1, mechanism.n_bodies)) - set(rods)
    carrying = [
        j
        for j in range(mechanism.n_joints)
        if j not in ends and j not in (named or ()) and type_of_joint(mechanism, j).pair is not None
    ]
    links, closing = spanning(mechanism, own, carrying)
    _check_tree(mechanism, links, closing if named is not None else (), named)
    hanging, prescribed = {link.joint for link in links}, set(driven)
    found = [Cut("rod", pair, body, ("length",)) for body, pair in rods.items()]
    others = (j for j in range(mechanism.n_joints) if j not in hanging and j not in ends)
    found += [_cut(mechanism, frames, j, prescribed) for j in others]
    kept = tuple(sorted((cut for cut in found if cut.equations), key=lambda cut: cut.joints))
    ids, names, units, start = mechanism.joint_ids, list[str](), list[str](), [-1] * mechanism.n_joints
    for j in sorted(hanging):
        start[j] = len(names)
        coordinates = type_of_joint(mechanism, j).coordinates
        names += [f"{ids[j]}.{coordinate}" for coordinate in coordinates]
        units += map(coordinate_unit, coordinates)
    equations = [f"{' '.join(ids[j] for j in cut.joints)}: {name}" for cut in kept for name in cut.equations]
    drives = [k >= len(cut.equations) - cut.driven for cut in kept for k in range(len(cut.equations))]
    return CutOpen(
        mechanism, frames, links, kept, tuple(names), tuple(units), tuple(start), tuple(equations),
        tuple(drives),
    )  # fmt: skip


def cut_coordinates(opened: CutOpen) -> tuple[str, ...]:
    """Names of the coordinates of cut joints: none of rods, the driven ones of gears and the like."""
    mechanism, found = opened.mechanism, list[str]()
    ends = {j for cut in opened.cuts if cut.rod >= 0 for j in cut.joints}
    for j in (j for j in range(mechanism.n_joints) if opened.start[j] < 0 and j not in ends):
        kind = type_of_joint(mechanism, j)
        names = kind.coordinates if kind.pair else mechanism.joints[j].driven
        found += [f"{mechanism.joint_ids[j]}.{name}" for name in names]
    return tuple(found)


def _joints_named(mechanism: Mechanism, names: Sequence[str]) -> tuple[int, ...]:
    found, faults = set(), []
    for name in names:
        try:
            found.add(mechanism.joint(name).index)
        except KeyError as error:
            faults.append(f"cuts: {error.args[0]}")
    if faults:
        raise ValueError("\n  ".join(faults))
    return tuple(sorted(found))


def _rods(mechanism: Mechanism, named: tuple[int, ...] | None) -> dict[int, tuple[int, ...]]:
    """Bodies that are replaced by rods, each with its two joints."""
    if named is None and mechanism.space == "planar":
        return {}
    at: dict[int, list[int]] = {body: [] for body in range(1, mechanism.n_bodies)}
    for j in range(mechanism.n_joints):
        for body in mechanism.joint_bodies(j):
            if body:
                at[body].append(j)
    rods: dict[int, tuple[int, ...]] = {}
    for body, joints in at.items():
        others = {b for j in joints for b in mechanism.joint_bodies(j)} - {body}
        if len(joints) != 2 or len(others) != 2 or others & set(rods):
            continue
        if named is not None and not set(joints) <= set(named):
            continue
        if all(type_of_joint(mechanism, j).is_ball and not mechanism.driven[j] for j in joints):
            rods[body] = (joints[0], joints[1])
    return rods


def _check_tree(
    mechanism: Mechanism, links: tuple[Link, ...], closing: tuple[int, ...], named: tuple[int, ...] | None
) -> None:
    faults = []
    loose = [mechanism.body_name(link.body) for link in links if link.joint < 0]
    if loose:
        ids = ", ".join(mechanism.joint_ids[j] for j in named or ())
        why = f" once {ids} are cut" if ids else " but gears, contacts or functions"
        several = "bodies" if len(loose) > 1 else "body"
        faults.append(f"{several} {', '.join(loose)} would be unconnected{why}; cut fewer joints")
    if closing:
        ids = ", ".join(mechanism.joint_ids[j] for j in closing)
        faults.append(
            f"cuts: the joints that are left still have loops; cut {ids} too, or others of the loops"
        )
    if faults:
        raise ValueError("\n  ".join(faults))


def _cut(mechanism: Mechanism, frames: Frames, joint: int, driven: set[str]) -> Cut:
    of, identity = type_of_joint(mechanism, joint), mechanism.joint_ids[joint]
    if of.pair is None:
        names = tuple(relation.name for relation in frames.relations[joint].constraints)
    else:
        names = tuple(name for name, _ in of.pair.constraints)
    drives = tuple(name for name in of.drivable if f"{identity}.{name}" in driven)
    kind = of.code
    if (names == ("length",) and not drives) or (of.line == "distance" and drives == ("distance",)):
        kind = "rod"
    elif of.is_ball and not drives:
        kind = "ball"
    elif len(names) + len(drives) == mechanism.freedom:
        kind = "solid"
    return Cut(kind, (joint,), -1, (*names, *drives), len(drives))
