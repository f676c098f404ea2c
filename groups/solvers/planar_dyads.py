"""Planar dyads: two unknown motions that close at one point."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from groups.encoding.planar_chains import (
    Chain,
    Move,
    Record,
    all_moves,
    joined,
    link_records,
    motions_of,
    move_to,
    moved,
    packed,
    steps_of,
    with_turns,
)
from groups.kernels import chains as kernels
from groups.kernels import planar
from groups.setting import Setting
from groups.solvers.planar import PlanarSolver, closing_joints, planar_state
from groups.solvers.solver import Data, Kernel
from groups.tree import GroupTree, Link
from mbssa import Mechanism
from mbssa.arrays import Floats, Ints
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.system import Configuration

#: Kernels by form, with their costs.
KERNELS = {
    planar.ARMS: Kernel(planar.solve_arms, 3.0, 6.6),
    planar.GUIDE: Kernel(planar.solve_guide, 3.0, 18.0),
    planar.CHAINS: Kernel(kernels.solve_chains, 6.0, 175.0),
}


@dataclass(frozen=True, eq=False)
class PlanarDyad(PlanarSolver):
    """Solver of two unknown motions that a hinge, a slot or a rod closes; one or two roots."""

    form = "closed form"
    #: Place of the joint that closes among those of the tree.
    last: int = -1

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> PlanarDyad | None:
        """Return the solver of two unknown motions that one joint closes; None for other groups."""
        cuts = closing_joints(tree, setting)
        if cuts is None or len(cuts) != 1:
            return None
        (cut,) = cuts
        chains = _chains(tree, cut, setting)
        if chains is None:
            return None
        slides = all(chain.records[k].kind == kernels.SLIDE for chain in chains for k in chain.unknown)
        ways = [[_joint_of(chain.records[k]) for k in chain.unknown] for chain in chains]
        roots, last = 1 if slides else 2, tree.joints.index(cut if ways[1] else ways[0][1])
        return cls(
            tree.number,
            _name(tree, cut, chains, setting.mechanism),
            "two unknowns at most, and one hinge, slot or rod closes them",
            *_unknowns_and_closing(tree, setting, last),
            partial(_data, tree, setting, roots),
            roots=roots,
            last=last,
        )

    def of_twin(self, tree: GroupTree, setting: Setting) -> PlanarDyad | None:
        """Return the solver of a group of the same labelled topology; None where its name may differ."""
        if any(setting.mechanism.n_driven_of_joint[j] for j in tree.joints):
            return None
        unknowns, closing = _unknowns_and_closing(tree, setting, self.last)
        data = partial(_data, tree, setting, self.roots)
        return replace(self, number=tree.number, unknowns=unknowns, closing=closing, data=data)

    @property
    def kernel(self) -> Kernel:
        """Kernel of the group's form."""
        return KERNELS[int(self.ints[planar.FORM])]

    @property
    def n_unknowns(self) -> int:
        """Number of unknown motions, that of a rod or a slot included."""
        return 2


def _data(tree: GroupTree, setting: Setting, roots: int | None) -> Data:
    """Data for the kernels, with the sign of the reference."""
    cuts = closing_joints(tree, setting)
    chains = None if cuts is None else _chains(tree, cuts[0], setting)
    assert chains is not None
    ints, floats, angles = _fast(setting, chains) or _general(setting, chains)
    data = Data(ints, floats, np.array([1.0, *angles]))
    solver = PlanarDyad(tree.number, "", "", (), (), data, roots=roots)
    return _in_reference_mode(solver, setting).made


def _unknowns_and_closing(
    tree: GroupTree, setting: Setting, last: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Undriven coordinates of the joints that carry the group's bodies, and the joint that closes."""
    mechanism = setting.mechanism
    unknowns = tuple(
        f"{mechanism.joint_ids[link.joint]}.{name}"
        for link in tree.links
        for name in type_of_joint(mechanism, link.joint).coordinates
        if (link.joint, name) not in setting.drives
    )
    return unknowns, (mechanism.joint_ids[tree.joints[last]],)


def _chains(tree: GroupTree, cut: int, setting: Setting) -> list[Chain] | None:
    """Chains of both sides to the closing point, that with an unknown motion first; None of other groups."""
    mechanism = setting.mechanism
    ends = mechanism.joint_bodies(cut)[:2]
    sides = [_path(tree, body) for body in ends]
    own = [link.body for side in sides for link in side]
    if len(own) != len(tree.links) or len(set(own)) != len(own):
        return None
    records = [
        [
            Record(kernels.START, body=side[0].parent if side else body),
            *(record for link in side for record in link_records(setting, link)),
        ]
        for side, body in zip(sides, ends, strict=True)
    ]
    unknown = [record for side in records for record in side if record.unknown is not None]
    if len({record.unknown for record in unknown}) != len(unknown):
        return None  # the unknown azimuth of a rod turns there and back
    kind = type_of_joint(mechanism, cut)
    if "angle" not in kind.coordinates or "angle" in mechanism.joints[cut].driven:
        if len(unknown) == 2 and all(record.kind == kernels.SLIDE for record in unknown):
            raise ValueError(_only_slides(tree, mechanism))
        return None
    _close(setting, cut, records)
    chains = [Chain(joined(side)) for side in records]
    if sum(len(chain.unknown) for chain in chains) != 2:
        return None
    if not chains[0].unknown:
        chains.reverse()
    if not chains[1].unknown and chains[0].records[chains[0].unknown[1]].kind != kernels.SLIDE:
        return None  # the tree opens at an inner hinge, so this does not come up
    return chains


def _path(tree: GroupTree, body: int) -> list[Link]:
    """Links from a known body to this one."""
    by_body = {link.body: link for link in tree.links}
    path: list[Link] = []
    while body in by_body:
        path.append(by_body[body])
        body = by_body[body].parent
    return path[::-1]


def _close(setting: Setting, cut: int, records: list[list[Record]]) -> None:
    """Lead both sides to the closing point, that of the joint's second body."""
    kind, steps = type_of_joint(setting.mechanism, cut), steps_of(setting, cut)
    while steps and steps[-1].kind == "turn":
        steps = steps[:-1]  # a turn about the closing point does not move it
    near, far = 0, 1
    if kind.line == "rod" and not setting.mechanism.n_driven_of_joint[cut]:
        # A rod looks the same from its other end: there it is a circle about a known point.
        near, far = (1, 0) if any(record.unknown for record in records[0]) else (0, 1)
    records[near] += [moved(move_to(setting, cut, near)), *motions_of(setting, cut, steps, True)]
    records[far].append(moved(move_to(setting, cut, far)))


def _only_slides(tree: GroupTree, mechanism: Mechanism) -> str:
    joints = sorted({link.joint for link in tree.links} | set(tree.cuts))
    names = ", ".join(mechanism.joint_ids[j] for j in joints)
    bodies = ", ".join(str(mechanism.bodies[link.body]) for link in tree.links)
    return (
        f"group {tree.number} (bodies {bodies}) has only slides on the way around, at {names}: they turn "
        "nothing, so it is singular in every position; make one of them a hinge (R) or a pin in a slot (SLOT)"
    )


def _joint_of(record: Record) -> int:
    assert record.unknown is not None
    return record.unknown[0]


def _name(tree: GroupTree, cut: int, chains: list[Chain], mechanism: Mechanism) -> str:
    ways = [
        [
            (_joint_of(chain.records[k]), "R" if chain.records[k].kind == kernels.TURN else "P")
            for k in chain.unknown
        ]
        for chain in chains
    ]
    around = [*ways[0], (cut, "R"), *reversed(ways[1])]
    if sum(joint == cut for joint, _ in around) == 1:
        letters = "".join(letter for _, letter in around)
        name = f"{max(letters, letters[::-1])} dyad"
    else:
        (letter,) = [letter for joint, letter in around if joint != cut]
        name = f"{letter} and {type_of_joint(mechanism, cut).code}"
    joints = sorted({link.joint for link in tree.links} | {cut})
    driven = [type_of_joint(mechanism, j).code for j in joints if mechanism.n_driven_of_joint[j]]
    return f"{name} with driven {', '.join(driven)}" if driven else name


def _general(setting: Setting, chains: list[Chain]) -> tuple[Ints, Floats, list[float]]:
    """Data of any chains, and the angles of the hinges at the reference."""
    records: list[Record] = []
    angles = []
    places = []
    for chain in chains:
        fixed, after = with_turns(chain.records, setting.reference)
        places += [len(records) + k for k in chain.unknown]
        angles += [after.get(k, 0.0) for k in chain.unknown]
        records += fixed
    own = [record.body for record in records if record.kind == kernels.BODY]
    ends = (len(chains[0].records), len(records), places[0], places[1])
    return *packed(planar.CHAINS, records, own, ends), angles


def _fast(setting: Setting, chains: list[Chain]) -> tuple[Ints, Floats, list[float]] | None:
    """Data of the forms with kernels of their own: nothing driven, a hinge, and a hinge or a slide."""
    sides = [_constant(chain) for chain in chains]
    one, two = sides
    if one is None or two is None or kernels.TURN not in (one.kind, two.kind):
        return None
    if one.kind != kernels.TURN:
        chains.reverse()
        one, two = two, one
    floats: list[float] = []
    angles = []
    for side in (one, two):
        if side.kind == kernels.TURN:
            numbers = _hinge(side)
            if numbers is None:
                return None
            floats += numbers
        else:
            floats += _guide(side, setting.reference)
        angles.append(float(setting.reference.angle[side.own]) if side.own >= 0 else 0.0)
    form = planar.ARMS if two.kind == kernels.TURN else planar.GUIDE
    ints = np.array([form, one.base, one.own, two.base, two.own], dtype=np.int64)
    return ints, np.array(floats), angles


@dataclass(frozen=True, slots=True)
class _Side:
    """A side of one unknown motion: constants in front of it, to its own body, and on to the point."""

    kind: int
    base: int
    own: int
    front: Move
    to_body: Move
    to_point: Move


def _constant(chain: Chain) -> _Side | None:
    """A chain that is one unknown motion and at most one body; None for any other."""
    kinds = [record.kind for record in chain.records]
    motions = [k for k, kind in enumerate(kinds) if kind in (kernels.TURN, kernels.SLIDE)]
    bodies = [k for k, kind in enumerate(kinds) if kind == kernels.BODY]
    if len(motions) != 1 or len(chain.unknown) != 1 or len(bodies) > 1:
        return None
    (k,) = motions
    body = bodies[0] if bodies else k
    return _Side(
        kinds[k],
        chain.records[0].body,
        chain.records[body].body if bodies else -1,
        all_moves(chain.records[:k]),
        all_moves(chain.records[k:body]),
        all_moves(chain.records[body:]),
    )


def _hinge(side: _Side) -> list[float] | None:
    """Numbers of a hinge; None where the closing point is the hinge itself."""
    arm = side.to_body.then(side.to_point)
    length = math.hypot(arm.x, arm.y)
    if length == 0.0:
        return None
    along = Move(0.0, 0.0, arm.x / length, arm.y / length, math.atan2(arm.y, arm.x)).back()
    body = along.then(side.to_body)
    return [side.front.x, side.front.y, 0.0, 0.0, length, *_own_numbers(body, side.to_point)]


def _guide(side: _Side, at: Configuration) -> list[float]:
    """Numbers of a guide, with the turns that the reference counts."""
    turned = replace(side.front, x=0.0, y=0.0)
    body = turned.then(side.to_body)
    point = body.then(side.to_point)
    x, y = side.front.x + point.x, side.front.y + point.y
    own = Move(body.x - point.x, body.y - point.y, body.c, body.s, body.angle)
    if side.own >= 0:
        turns = float(at.angle[side.own] - at.angle[side.base]) - body.angle
        own = replace(own, angle=body.angle + 2 * math.pi * round(turns / (2 * math.pi)))
    return [x, y, turned.c, turned.s, 0.0, *_own_numbers(own, side.to_point)]


def _own_numbers(body: Move, to_point: Move) -> list[float]:
    return [body.x, body.y, body.c, body.s, body.angle, to_point.x, to_point.y]


def _in_reference_mode(solver: PlanarDyad, setting: Setting) -> PlanarDyad:
    """The solver with the sign whose answer is the reference; +1 where both are, at a dead point."""
    group, reference, size = setting.structure.group(solver.number), setting.reference, setting.frames.size
    there = planar_state(reference, group.body_indices.tolist())
    best, least = solver, math.inf
    for sign in (1.0, -1.0)[: solver.roots]:
        mode = solver.with_sign(sign)
        poses = mode.poses(group, reference, setting.inputs)
        if poses is None:
            continue
        off = float(np.abs((poses[:, :4] - there[:, :4]) / np.array([size, size, 1.0, 1.0])).max())
        if off < least - 1e-9:
            best, least = mode, off
    return best
