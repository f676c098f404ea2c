"""Planar groups that one point closes, as data for :mod:`groups.kernels.planar` and their modes.

The joints on the way from known bodies to the closing point become a chain of elementary motions: turns,
slides along x, and constant moves. Two of them, at most, are unknown. A rod that closes is a massless
link, a slot a massless slider, so both give a chain one more unknown motion and close at a point as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from groups import families
from groups.kernels import chains as chain_kernels
from groups.kernels import planar as kernels
from groups.kernels.status import OK
from groups.tree import GroupTree, Link, free_coordinates
from mbssa import Mechanism
from mbssa.joints.catalogue import CATALOGUE, JointType
from mbssa.joints.equations import Step
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


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
    >>> from groups.tree import open_group
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
    if any(_type(mechanism, j).pair is None for j in joints):
        return None
    maker = _Maker(mechanism, frames, reference, drives)
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
    >>> from groups.tree import open_group
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
    none, work = np.zeros(0), np.zeros(families.room_of(families.PLANAR, group.ints))
    with np.errstate(all="ignore"):  # NaN is the kernel's answer out of reach
        families.planar_kernel(group.ints)(
            0, group.ints, group.floats, S, 0, 1, inputs, none, memory, work, quality, 0
        )
    return S[group.bodies, :5, 0] if status[0, 0] == OK else None


# --- chains of elementary motions ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Record:
    """One step of a chain; ``at_reference`` is the coordinate's value there, ``unknown`` its own name."""

    kind: int
    source: int = 0
    body: int = 0
    numbers: tuple[float, ...] = ()
    unknown: tuple[int, int] | None = None
    at_reference: float = 0.0


@dataclass(frozen=True, slots=True)
class _Move:
    """A constant turn after a shift; the angle counts turns."""

    x: float = 0.0
    y: float = 0.0
    c: float = 1.0
    s: float = 0.0
    angle: float = 0.0

    def then(self, other: _Move) -> _Move:
        x, y = self.point(other.x, other.y)
        c, s = self.c * other.c - self.s * other.s, self.s * other.c + self.c * other.s
        return _Move(x, y, c, s, self.angle + other.angle)

    def point(self, x: float, y: float) -> tuple[float, float]:
        return self.x + self.c * x - self.s * y, self.y + self.s * x + self.c * y

    def back(self) -> _Move:
        x, y = -self.c * self.x - self.s * self.y, self.s * self.x - self.c * self.y
        return _Move(x, y, self.c, -self.s, -self.angle)


@dataclass(frozen=True, eq=False, slots=True)
class _Maker:
    """What every chain of a group is made from."""

    mechanism: Mechanism
    frames: Frames
    reference: Configuration
    drives: Mapping[tuple[int, str], int]


@dataclass(frozen=True, eq=False, slots=True)
class _Chain:
    """Records from a known body on, constants joined; see :func:`_joined`."""

    records: list[_Record] = field(default_factory=list)

    @property
    def unknown(self) -> list[int]:
        return [k for k, record in enumerate(self.records) if record.unknown is not None]


def _type(mechanism: Mechanism, joint: int) -> JointType:
    return CATALOGUE[int(mechanism.joint_type[joint])]


def _steps(maker: _Maker, joint: int) -> tuple[Step, ...]:
    pair = _type(maker.mechanism, joint).pair
    assert pair is not None
    return pair.steps


def _move(maker: _Maker, joint: int, side: int) -> _Move:
    """A joint's frame on one of its bodies."""
    origin, axes = maker.frames.origin[joint, side], maker.frames.axes[joint, side]
    c, s = float(axes[0, 0]), float(axes[1, 0])
    size = math.hypot(c, s)
    return _Move(float(origin[0]), float(origin[1]), c / size, s / size, math.atan2(s, c))


def _moved(move: _Move) -> _Record:
    return _Record(chain_kernels.MOVE, numbers=(move.x, move.y, move.c, move.s, move.angle))


def _values(maker: _Maker, joint: int) -> list[float]:
    """Coordinates of a joint at the reference; angles are near ``at_reference``."""
    mechanism, at = maker.mechanism, maker.reference
    kind = _type(mechanism, joint)
    first, second = mechanism.joint_bodies(joint)[:2]
    a, b = (
        _Move(
            float(at.position[body, 0]),
            float(at.position[body, 1]),
            float(at.rotation[body, 0, 0]),
            float(at.rotation[body, 1, 0]),
        ).then(_move(maker, joint, side))
        for side, body in enumerate((first, second))
    )
    d = a.back().then(b)
    found = {"slide": d.x, "x": d.x, "y": d.y, "distance": math.hypot(d.x, d.y)}
    found |= {"azimuth": math.atan2(d.y, d.x), "angle": math.atan2(d.s, d.c)}
    found["roll"] = found["angle"]
    geometry = mechanism.joint_geometry.get(joint)
    given = geometry.at_reference if geometry is not None else {}
    for name in ("azimuth", "angle", "roll"):
        found[name] += 2 * math.pi * round((given.get(name, found[name]) - found[name]) / (2 * math.pi))
    return [found[name] for name in kind.coordinates]


def _motions(maker: _Maker, joint: int, steps: tuple[Step, ...], forward: bool) -> list[_Record]:
    """A joint's steps, from its first body's frame to its second's or back."""
    kind = _type(maker.mechanism, joint)
    values = _values(maker, joint)
    driven = maker.mechanism.joints[joint].driven
    records: list[_Record] = []
    quarter = _Move(c=0.0, s=1.0, angle=math.pi / 2)
    for step in steps if forward else reversed(steps):
        sign = 1.0 if forward else -1.0
        if step.coordinate is None:
            # The length of a rod, along it, or the radius of a wheel, away from its track.
            way = sign * float(maker.frames.parameters[str(step.factor)][joint])
            records.append(_moved(_Move(y=way) if step.axis == 1 else _Move(x=way)))
            continue
        sign *= float(step.factor)
        name = kind.coordinates[step.coordinate]
        kept = name in driven
        motion = _Record(
            chain_kernels.TURN if step.kind == "turn" else chain_kernels.SLIDE,
            source=maker.drives[joint, name] if kept else 0,
            numbers=(sign,),
            unknown=None if kept else (joint, step.coordinate),
            at_reference=sign * values[step.coordinate],
        )
        across = step.kind == "shift" and step.axis == 1
        records += [_moved(quarter), motion, _moved(quarter.back())] if across else [motion]
    return records


def _link_records(maker: _Maker, link: Link) -> list[_Record]:
    """From the parent's frame to the body's."""
    near, far = (0, 1) if link.forward else (1, 0)
    steps = _steps(maker, link.joint)
    return [
        _moved(_move(maker, link.joint, near)),
        *_motions(maker, link.joint, steps, link.forward),
        _moved(_move(maker, link.joint, far).back()),
        _Record(chain_kernels.BODY, body=link.body),
    ]


def _joined(records: list[_Record]) -> list[_Record]:
    """Neighbouring constant moves become one."""
    joined: list[_Record] = []
    for record in records:
        if record.kind == chain_kernels.MOVE and joined and joined[-1].kind == chain_kernels.MOVE:
            record = _moved(_Move(*joined.pop().numbers).then(_Move(*record.numbers)))
        joined.append(record)
    return joined


def _with_turns(records: list[_Record], at: Configuration) -> tuple[list[_Record], dict[int, float]]:
    """Constant angles with the turns that the reference counts; the angle after each unknown turn.

    Between two bodies with nothing but inputs the constants take the turns up, else the unknown turn does.
    """
    done: list[_Record] = []
    after: dict[int, float] = {}
    angle, pending, constant = 0.0, -1, -1
    for k, record in enumerate(records):
        if record.kind == chain_kernels.START:
            angle = float(at.angle[record.body])
        elif record.kind == chain_kernels.MOVE:
            angle += record.numbers[4]
            constant = k
        elif record.kind == chain_kernels.TURN:
            angle += record.at_reference
            if record.unknown is not None:
                pending, after[k] = k, angle
        elif record.kind == chain_kernels.BODY:
            turns = 2 * math.pi * round((float(at.angle[record.body]) - angle) / (2 * math.pi))
            angle += turns
            if pending >= 0:
                after[pending] += turns
            elif turns:
                *rest, last = done[constant].numbers
                done[constant] = replace(done[constant], numbers=(*rest, last + turns))
            pending = -1
        done.append(record)
    return done, after


# --- groups without anything unknown ---------------------------------------------------------------


def _led(tree: GroupTree, maker: _Maker) -> PlanarGroup | None:
    records: list[_Record] = []
    for link in tree.links:
        chain = [_Record(chain_kernels.START, body=link.parent), *_link_records(maker, link)]
        records += _with_turns(_joined(chain), maker.reference)[0]
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
        ints, floats = _packed(kernels.LED, records, _known(records, own), own, ends)
    codes = ", ".join(_type(maker.mechanism, link.joint).code for link in tree.links)
    memory = np.array([1.0, 0.0, 0.0])
    return PlanarGroup(ints, floats, memory, f"driven {codes}", 1, None, np.array(own, dtype=np.int64))


def _crank(records: list[_Record]) -> tuple[Ints, Floats]:
    """One body on one driven hinge; both constant turns become one."""
    start, to_hinge, turn, to_body, body = records
    front, rest = _Move(*to_hinge.numbers), _Move(*to_body.numbers)
    turned = replace(front, x=0.0, y=0.0).then(replace(rest, x=0.0, y=0.0))
    x, y = replace(rest, x=0.0, y=0.0).back().point(rest.x, rest.y)
    ints = np.array([kernels.CRANK, start.body, body.body, turn.source, -1], dtype=np.int64)
    numbers = [front.x, front.y, 0.0, 0.0, turn.numbers[0], x, y, turned.c, turned.s, turned.angle]
    return ints, np.array(numbers)


def _known(records: list[_Record], own: list[int]) -> list[int]:
    return sorted({record.body for record in records if record.kind == chain_kernels.START} - set(own))


def _packed(
    form: int, records: list[_Record], known: list[int], own: list[int], ends: tuple[int, int, int, int]
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


def _closed(tree: GroupTree, cut: int, maker: _Maker) -> PlanarGroup | None:
    mechanism = maker.mechanism
    ends = mechanism.joint_bodies(cut)[:2]
    sides = [_path(tree, body) for body in ends]
    own = [link.body for side in sides for link in side]
    if len(own) != len(tree.links) or len(set(own)) != len(own):
        return None
    records = [
        [
            _Record(chain_kernels.START, body=side[0].parent if side else body),
            *(record for link in side for record in _link_records(maker, link)),
        ]
        for side, body in zip(sides, ends, strict=True)
    ]
    unknown = [record for side in records for record in side if record.unknown is not None]
    if len({record.unknown for record in unknown}) != len(unknown):
        return None  # the unknown azimuth of a rod turns there and back
    kind = _type(mechanism, cut)
    if "angle" not in kind.coordinates or "angle" in mechanism.joints[cut].driven:
        if len(unknown) == 2 and all(record.kind == chain_kernels.SLIDE for record in unknown):
            raise ValueError(_only_slides(tree, mechanism))
        return None
    _close(maker, cut, records)
    chains = [_Chain(_joined(side)) for side in records]
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


def _close(maker: _Maker, cut: int, records: list[list[_Record]]) -> None:
    """Lead both sides to the closing point, that of the joint's second body."""
    kind, steps = _type(maker.mechanism, cut), _steps(maker, cut)
    while steps and steps[-1].kind == "turn":
        steps = steps[:-1]  # a turn about the closing point does not move it
    near, far = 0, 1
    if kind.line == "rod" and not maker.mechanism.n_driven_of_joint[cut]:
        # A rod looks the same from its other end: there it is a circle about a known point.
        near, far = (1, 0) if any(record.unknown for record in records[0]) else (0, 1)
    records[near] += [_moved(_move(maker, cut, near)), *_motions(maker, cut, steps, True)]
    records[far].append(_moved(_move(maker, cut, far)))


def _only_slides(tree: GroupTree, mechanism: Mechanism) -> str:
    joints = sorted({link.joint for link in tree.links} | set(tree.cuts))
    names = ", ".join(mechanism.joint_ids[j] for j in joints)
    bodies = ", ".join(str(mechanism.bodies[link.body]) for link in tree.links)
    return (
        f"group {tree.number} (bodies {bodies}) has only slides on the way around, at {names}: they turn "
        "nothing, so it is singular in every position; make one of them a hinge (R) or a pin in a slot (SLOT)"
    )


def _joint_of(record: _Record) -> int:
    assert record.unknown is not None
    return record.unknown[0]


def _name(tree: GroupTree, cut: int, chains: list[_Chain], mechanism: Mechanism) -> str:
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
        name = f"{letter} and {_type(mechanism, cut).code}"
    joints = sorted({link.joint for link in tree.links} | {cut})
    driven = [_type(mechanism, j).code for j in joints if mechanism.n_driven_of_joint[j]]
    return f"{name} with driven {', '.join(driven)}" if driven else name


def _general(maker: _Maker, chains: list[_Chain]) -> PlanarGroup:
    records: list[_Record] = []
    angles = []
    places = []
    for chain in chains:
        fixed, after = _with_turns(chain.records, maker.reference)
        places += [len(records) + k for k in chain.unknown]
        angles += [after.get(k, 0.0) for k in chain.unknown]
        records += fixed
    own = [record.body for record in records if record.kind == chain_kernels.BODY]
    ends = (len(chains[0].records), len(records), places[0], places[1])
    ints, floats = _packed(kernels.CHAINS, records, _known(records, own), own, ends)
    memory = np.array([1.0, *angles])
    return PlanarGroup(ints, floats, memory, "", 2, None, np.array(own, dtype=np.int64))


def _fast(maker: _Maker, chains: list[_Chain]) -> PlanarGroup | None:
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
    front: _Move
    to_body: _Move
    to_point: _Move


def _constant(chain: _Chain) -> _Side | None:
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
        _all_moves(chain.records[:k]),
        _all_moves(chain.records[k:body]),
        _all_moves(chain.records[body:]),
    )


def _all_moves(records: list[_Record]) -> _Move:
    total = _Move()
    for record in records:
        if record.kind == chain_kernels.MOVE:
            total = total.then(_Move(*record.numbers))
    return total


def _hinge(side: _Side) -> list[float] | None:
    """Numbers of a hinge; None where the closing point is the hinge itself."""
    arm = side.to_body.then(side.to_point)
    length = math.hypot(arm.x, arm.y)
    if length == 0.0:
        return None
    along = _Move(0.0, 0.0, arm.x / length, arm.y / length, math.atan2(arm.y, arm.x)).back()
    body = along.then(side.to_body)
    return [side.front.x, side.front.y, 0.0, 0.0, length, *_own_numbers(body, side.to_point)]


def _guide(side: _Side, at: Configuration) -> list[float]:
    """Numbers of a guide, with the turns that the reference counts."""
    turned = replace(side.front, x=0.0, y=0.0)
    body = turned.then(side.to_body)
    point = body.then(side.to_point)
    x, y = side.front.x + point.x, side.front.y + point.y
    own = _Move(body.x - point.x, body.y - point.y, body.c, body.s, body.angle)
    if side.own >= 0:
        turns = float(at.angle[side.own] - at.angle[side.base]) - body.angle
        own = replace(own, angle=body.angle + 2 * math.pi * round(turns / (2 * math.pi)))
    return [x, y, turned.c, turned.s, 0.0, *_own_numbers(own, side.to_point)]


def _own_numbers(body: _Move, to_point: _Move) -> list[float]:
    return [body.x, body.y, body.c, body.s, body.angle, to_point.x, to_point.y]


def _in_reference_mode(group: PlanarGroup, joints: list[int], maker: _Maker) -> PlanarGroup:
    """The sign whose solution is the reference; +1 where both are, at a dead point."""
    state = planar_state(maker.reference)
    wanted = state[group.bodies, :4]
    scale = np.array([maker.frames.size, maker.frames.size, 1.0, 1.0])
    values = np.zeros(len(maker.drives))
    for joint in joints:
        kind = _type(maker.mechanism, joint)
        for name, value in zip(kind.coordinates, _values(maker, joint), strict=True):
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
