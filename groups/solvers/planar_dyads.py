"""Planar groups that one point closes, as data for :mod:`groups.kernels.planar` and their modes.

The joints on the way from known bodies to the closing point become a chain of elementary motions: turns,
slides along x, and constant moves. Two of them, at most, are unknown. A rod that closes is a massless
link, a slot a massless slider, so both give a chain one more unknown motion and close at a point as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from groups.encoding.planar_chains import (
    Chain,
    Maker,
    Move,
    Record,
    all_moves,
    joined,
    link_records,
    motions_of,
    move_to,
    moved,
    steps_of,
    type_of,
    values_of,
    with_turns,
)
from groups.encoding.tree import GroupTree, Link, free_coordinates
from groups.kernels import chains as chain_kernels
from groups.kernels import planar as kernels
from groups.kernels.status import OK
from groups.solvers import families
from mbssa import Mechanism
from mbssa.arrays import Floats, Ints
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration


@dataclass(frozen=True, eq=False)
class PlanarGroup:
    """Arguments of the planar kernel that say what a group is.

    Attributes
    ----------
    ints, floats : layout at the top of :mod:`groups.kernels.planar`
    memory : (3,) what the kernel starts from: the sign of the reference's assembly mode, and the angles
        (rad) near which its hinges start
    name : of the closed form, as ``RRR dyad``
    n_modes : 2 where a root is held by the sign, else 1
    runs_out : the joint at whose place the loci part at a dead point or out of reach; None if nothing closes
    bodies : (n,) the group's own, in the order in which they are written
    """

    ints: Ints
    floats: Floats
    memory: Floats
    name: str
    n_modes: int
    runs_out: int | None
    bodies: Ints


@dataclass(frozen=True, eq=False)
class PlanarMode:
    """One assembly mode at one instant: the ``memory`` that holds it, and the pose of every own body.

    ``poses`` (n, 5): x, y (m), cos, sin, angle (rad), in the order of :attr:`PlanarGroup.bodies`.
    """

    memory: Floats
    poses: Floats


def encode_planar(
    tree: GroupTree,
    mechanism: Mechanism,
    frames: Frames,
    reference: Configuration,
    drives: Mapping[tuple[int, str], int],
) -> PlanarGroup | None:
    """The data of a group that the planar kernel solves; None for any other.

    Parameters
    ----------
    reference : the assembled configuration: its assembly mode is kept, angles start near its own
    drives : row of the motion for each driven (joint index, coordinate)

    Raises
    ------
    ValueError
        Nothing but slides on the way around: they only translate, so 2 of their 3 equations say anything.

    Examples
    --------
    >>> import mbssa
    >>> from groups.encoding.tree import open_group
    >>> from mbssa.joints.frames import joint_frames
    >>> four_bar = mbssa.load("planar_four_bar")
    >>> frames = joint_frames(four_bar)
    >>> start = Configuration.reference(frames)
    >>> for group in mbssa.decompose(four_bar).groups:
    ...     found = encode_planar(open_group(group, frames), four_bar, frames, start, {(0, "angle"): 0})
    ...     print(found.name, found.n_modes, found.runs_out)
    driven R 1 None
    RRR dyad 2 2
    """
    if mechanism.space != "planar" or tree.struts or any(link.joint < 0 for link in tree.links):
        return None
    joints = [link.joint for link in tree.links] + list(tree.cuts)
    if any(type_of(mechanism, j).pair is None for j in joints):
        return None
    maker = Maker(mechanism, frames, reference, drives)
    cuts = [j for j in tree.cuts if free_coordinates(mechanism, j) < mechanism.freedom]
    if len(cuts) > 1:
        return None
    return _closed(tree, cuts[0], maker) if cuts else _led(tree, maker)


def planar_modes(group: PlanarGroup, state: Floats, values: npt.ArrayLike) -> tuple[PlanarMode, ...]:
    """All assembly modes where the known bodies stand and the inputs are given; the reference's first.

    Parameters
    ----------
    state : (N, 11) every body's state as the kernels have it; only poses of known bodies are read
    values : (D,) of all inputs, m and rad

    Returns
    -------
    As many modes as there are: none out of reach, one at a dead point and where nothing is quadratic.

    Examples
    --------
    >>> import mbssa
    >>> from groups.encoding.tree import open_group
    >>> from mbssa.joints.frames import joint_frames
    >>> four_bar = mbssa.load("planar_four_bar")
    >>> frames = joint_frames(four_bar)
    >>> start, dyad = Configuration.reference(frames), mbssa.decompose(four_bar).groups[1]
    >>> found = encode_planar(open_group(dyad, frames), four_bar, frames, start, {(0, "angle"): 0})
    >>> modes = planar_modes(found, planar_state(start), [0.0])
    >>> len(modes), bool(np.abs(modes[0].poses[:, :2]).max() < 1e-12)
    (2, True)
    """
    found: list[PlanarMode] = []
    for flip in (1.0, -1.0)[: group.n_modes]:
        memory = group.memory.copy()
        memory[chain_kernels.SIGN] *= flip
        start = memory.copy()
        poses = _solved(group, memory, state, np.asarray(values, dtype=float))
        if poses is not None and not any(np.array_equal(poses, mode.poses) for mode in found):
            found.append(PlanarMode(start, poses))
    return tuple(found)


def planar_state(at: Configuration) -> Floats:
    """(N, 11) state of every body at rest in a configuration.

    >>> from mbssa.joints.frames import joint_frames
    >>> import mbssa
    >>> planar_state(Configuration.reference(joint_frames(mbssa.load("planar_four_bar")))).shape
    (4, 11)
    """
    state = np.zeros((len(at.position), chain_kernels.STATE))
    state[:, :2] = at.position[:, :2]
    state[:, 2], state[:, 3], state[:, 4] = at.rotation[:, 0, 0], at.rotation[:, 1, 0], at.angle
    return state


def _solved(group: PlanarGroup, memory: Floats, state: Floats, values: Floats) -> Floats | None:
    """Poses (n, 5) of the own bodies by the kernel itself, run as plain Python."""
    S = np.array(state[:, :, None])
    column = values.reshape(-1, 1)
    inputs = (column, np.zeros_like(column), np.zeros_like(column))
    status, iterations = np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int64)
    quality = (status, np.zeros((1, 1)), iterations, np.zeros((1, 1)))
    none, work = np.zeros(0), np.zeros(families.PLANAR.room(group.ints))
    with np.errstate(all="ignore"):  # NaN is the kernel's answer out of reach
        families.planar_kernel(group.ints)(
            0, group.ints, group.floats, S, 0, 1, inputs, none, memory, work, quality, 0
        )
    return S[group.bodies, :5, 0] if status[0, 0] == OK else None


# --- groups without anything unknown ---------------------------------------------------------------


def _led(tree: GroupTree, maker: Maker) -> PlanarGroup | None:
    records: list[Record] = []
    for link in tree.links:
        chain = [Record(chain_kernels.START, body=link.parent), *link_records(maker, link)]
        records += with_turns(joined(chain), maker.reference)[0]
    if any(record.unknown is not None for record in records):
        return None
    own = [link.body for link in tree.links]
    crank = [
        chain_kernels.START,
        chain_kernels.MOVE,
        chain_kernels.TURN,
        chain_kernels.MOVE,
        chain_kernels.BODY,
    ]
    if [record.kind for record in records] == crank:
        ints, floats = _crank(records)
    else:
        ends = (len(records), len(records), 0, 0)
        ints, floats = _packed(kernels.DRIVEN, records, _known(records, own), own, ends)
    codes = ", ".join(type_of(maker.mechanism, link.joint).code for link in tree.links)
    memory = np.array([1.0, 0.0, 0.0])
    return PlanarGroup(ints, floats, memory, f"driven {codes}", 1, None, np.array(own, dtype=np.int64))


def _crank(records: list[Record]) -> tuple[Ints, Floats]:
    """One body on one driven hinge; both constant turns become one."""
    start, to_hinge, turn, to_body, body = records
    front, rest = Move(*to_hinge.numbers), Move(*to_body.numbers)
    turned = replace(front, x=0.0, y=0.0).then(replace(rest, x=0.0, y=0.0))
    x, y = replace(rest, x=0.0, y=0.0).back().point(rest.x, rest.y)
    ints = np.array([kernels.CRANK, start.body, body.body, turn.source, -1], dtype=np.int64)
    numbers = [front.x, front.y, 0.0, 0.0, turn.numbers[0], x, y, turned.c, turned.s, turned.angle]
    return ints, np.array(numbers)


def _known(records: list[Record], own: list[int]) -> list[int]:
    return sorted({record.body for record in records if record.kind == chain_kernels.START} - set(own))


def _packed(
    form: int, records: list[Record], known: list[int], own: list[int], ends: tuple[int, int, int, int]
) -> tuple[Ints, Floats]:
    rows: list[int] = []
    floats = np.zeros(chain_kernels.NUMBERS * len(records))
    unknown = [chain_kernels.UNKNOWN_1, chain_kernels.UNKNOWN_2]
    for k, record in enumerate(records):
        source = record.source if record.unknown is None else unknown.pop(0)
        rows += [record.kind, source, record.body]
        floats[chain_kernels.NUMBERS * k : chain_kernels.NUMBERS * k + len(record.numbers)] = record.numbers
    return np.array([form, len(known), len(own), *ends, *rows, *known, *own], dtype=np.int64), floats


# --- groups that close -----------------------------------------------------------------------------


def _closed(tree: GroupTree, cut: int, maker: Maker) -> PlanarGroup | None:
    mechanism = maker.mechanism
    ends = mechanism.joint_bodies(cut)[:2]
    sides = [_path(tree, body) for body in ends]
    own = [link.body for side in sides for link in side]
    if len(own) != len(tree.links) or len(set(own)) != len(own):
        return None
    records = [
        [
            Record(chain_kernels.START, body=side[0].parent if side else body),
            *(record for link in side for record in link_records(maker, link)),
        ]
        for side, body in zip(sides, ends, strict=True)
    ]
    unknown = [record for side in records for record in side if record.unknown is not None]
    if len({record.unknown for record in unknown}) != len(unknown):
        return None  # the unknown azimuth of a rod turns there and back
    kind = type_of(mechanism, cut)
    if "angle" not in kind.coordinates or "angle" in mechanism.joints[cut].driven:
        if len(unknown) == 2 and all(record.kind == chain_kernels.SLIDE for record in unknown):
            raise ValueError(_only_slides(tree, mechanism))
        return None
    _close(maker, cut, records)
    chains = [Chain(joined(side)) for side in records]
    if sum(len(chain.unknown) for chain in chains) != 2:
        return None
    if not chains[0].unknown:
        chains.reverse()
    if not chains[1].unknown and chains[0].records[chains[0].unknown[1]].kind != chain_kernels.SLIDE:
        return None  # the tree opens at an inner hinge, so this does not come up
    group = _fast(maker, chains) or _general(maker, chains)
    slides = all(chain.records[k].kind == chain_kernels.SLIDE for chain in chains for k in chain.unknown)
    ways = [[_joint_of(chain.records[k]) for k in chain.unknown] for chain in chains]
    group = replace(
        group,
        name=_name(tree, cut, chains, mechanism),
        runs_out=cut if ways[1] else ways[0][1],
        n_modes=1 if slides else 2,
    )
    return _in_reference_mode(group, [*(link.joint for link in tree.links), cut], maker)


def _path(tree: GroupTree, body: int) -> list[Link]:
    """Links from a known body to this one."""
    by_body = {link.body: link for link in tree.links}
    path: list[Link] = []
    while body in by_body:
        path.append(by_body[body])
        body = by_body[body].parent
    return path[::-1]


def _close(maker: Maker, cut: int, records: list[list[Record]]) -> None:
    """Lead both sides to the closing point, that of the joint's second body."""
    kind, steps = type_of(maker.mechanism, cut), steps_of(maker, cut)
    while steps and steps[-1].kind == "turn":
        steps = steps[:-1]  # a turn about the closing point does not move it
    near, far = 0, 1
    if kind.line == "rod" and not maker.mechanism.n_driven_of_joint[cut]:
        # A rod looks the same from its other end: there it is a circle about a known point.
        near, far = (1, 0) if any(record.unknown for record in records[0]) else (0, 1)
    records[near] += [moved(move_to(maker, cut, near)), *motions_of(maker, cut, steps, True)]
    records[far].append(moved(move_to(maker, cut, far)))


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
            (_joint_of(chain.records[k]), "R" if chain.records[k].kind == chain_kernels.TURN else "P")
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
        name = f"{letter} and {type_of(mechanism, cut).code}"
    joints = sorted({link.joint for link in tree.links} | {cut})
    driven = [type_of(mechanism, j).code for j in joints if mechanism.n_driven_of_joint[j]]
    return f"{name} with driven {', '.join(driven)}" if driven else name


def _general(maker: Maker, chains: list[Chain]) -> PlanarGroup:
    records: list[Record] = []
    angles = []
    places = []
    for chain in chains:
        fixed, after = with_turns(chain.records, maker.reference)
        places += [len(records) + k for k in chain.unknown]
        angles += [after.get(k, 0.0) for k in chain.unknown]
        records += fixed
    own = [record.body for record in records if record.kind == chain_kernels.BODY]
    ends = (len(chains[0].records), len(records), places[0], places[1])
    ints, floats = _packed(kernels.CHAINS, records, _known(records, own), own, ends)
    memory = np.array([1.0, *angles])
    return PlanarGroup(ints, floats, memory, "", 2, None, np.array(own, dtype=np.int64))


def _fast(maker: Maker, chains: list[Chain]) -> PlanarGroup | None:
    """The forms that are worth loops of their own: nothing driven, a hinge, and a hinge or a slide."""
    sides = [_constant(chain) for chain in chains]
    one, two = sides
    if one is None or two is None or chain_kernels.TURN not in (one.kind, two.kind):
        return None
    if one.kind != chain_kernels.TURN:
        chains.reverse()
        one, two = two, one
    floats: list[float] = []
    angles = []
    for side in (one, two):
        if side.kind == chain_kernels.TURN:
            numbers = _hinge(side)
            if numbers is None:
                return None
            floats += numbers
        else:
            floats += _guide(side, maker.reference)
        angles.append(float(maker.reference.angle[side.own]) if side.own >= 0 else 0.0)
    form = kernels.ARMS if two.kind == chain_kernels.TURN else kernels.GUIDE
    ints = np.array([form, one.base, one.own, two.base, two.own], dtype=np.int64)
    own = [side.own for side in (one, two) if side.own >= 0]
    memory = np.array([1.0, *angles])
    return PlanarGroup(ints, np.array(floats), memory, "", 2, None, np.array(own, dtype=np.int64))


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
    motions = [k for k, kind in enumerate(kinds) if kind in (chain_kernels.TURN, chain_kernels.SLIDE)]
    bodies = [k for k, kind in enumerate(kinds) if kind == chain_kernels.BODY]
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


def _in_reference_mode(group: PlanarGroup, joints: list[int], maker: Maker) -> PlanarGroup:
    """The sign whose solution is the reference; +1 where both are, at a dead point."""
    state = planar_state(maker.reference)
    wanted = state[group.bodies, :4]
    scale = np.array([maker.frames.size, maker.frames.size, 1.0, 1.0])
    values = np.zeros(len(maker.drives))
    for joint in joints:
        kind = type_of(maker.mechanism, joint)
        for name, value in zip(kind.coordinates, values_of(maker, joint), strict=True):
            if (joint, name) in maker.drives:
                values[maker.drives[joint, name]] = value
    best, least = group, math.inf
    for sign in (1.0, -1.0)[: group.n_modes]:
        memory = np.array([sign, *group.memory[1:]])
        poses = _solved(group, memory.copy(), state, values)
        if poses is None:
            continue
        off = float(np.abs((poses[:, :4] - wanted) / scale).max())
        if off < least - 1e-9:
            best, least = replace(group, memory=memory), off
    return best
