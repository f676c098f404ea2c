"""Spanning tree of a group: the joints that carry its bodies, those that close it, and its struts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

from mbssa import Group, Mechanism, Structure
from mbssa.disjoint_set import outwards, spanning_forest
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Step
from mbssa.joints.frames import Frames

#: An offset between the two axes of a universal joint below this share of the size is none.
_NO_OFFSET = 1e-12


@dataclass(frozen=True, slots=True)
class Link:
    """A body and the joint by which it hangs from its parent; ``joint`` -1 is a free body."""

    parent: int
    body: int
    joint: int
    forward: bool


@dataclass(frozen=True, slots=True)
class Strut:
    """A leg of one or two bodies from a universal joint at body ``base`` to a ball joint at ``tip``."""

    base: int
    tip: int
    bodies: tuple[int, ...]
    pin: int
    ball: int
    slide: int
    held: bool
    slide_driven: bool

    @property
    def is_rod(self) -> bool:
        """Whether its length is given."""
        return self.slide < 0 or self.slide_driven


@dataclass(frozen=True, slots=True)
class GroupTree:
    """Links in an order in which parents come first, the joints that close, and the struts."""

    number: int
    known: tuple[int, ...]
    links: tuple[Link, ...]
    cuts: tuple[int, ...]
    struts: tuple[Strut, ...]

    @property
    def rods(self) -> list[Strut]:
        """Struts whose length is given."""
        return [strut for strut in self.struts if strut.is_rod]

    @property
    def joints(self) -> tuple[int, ...]:
        """Joints of the links, -1 for a free body, then those that close."""
        return *(link.joint for link in self.links), *self.cuts


class Forest(NamedTuple):
    """The trees of a structure's groups, and their labelled topologies: None of one that shares with none."""

    trees: tuple[GroupTree, ...]
    labels: tuple[object, ...]


def forest_of(structure: Structure, frames: Frames) -> Forest:
    """The trees of a structure, opened once."""
    found = _forests.get(structure)
    if found is None or found[0] is not frames:
        trees = tuple(open_group(group, frames) for group in structure.groups)
        found = _forests[structure] = frames, Forest(trees, _labels(structure, frames, trees))
    return found[1]


#: Frames and trees by structure, as long as that lives.
_forests: WeakKeyDictionary[Structure, tuple[Frames, Forest]] = WeakKeyDictionary()


def open_group(group: Group, frames: Frames, *, struts: bool = True) -> GroupTree:
    """The tree of one group; without ``struts`` none is taken out."""
    mechanism = group.structure.mechanism
    own = set(group.body_indices.tolist())
    joints = group.joint_indices.tolist()
    taken = _struts(group, frames) if struts and mechanism.space == "spatial" else ()
    inner = {body for strut in taken for body in strut.bodies}
    gone = {j for strut in taken for j in (strut.pin, strut.ball, strut.slide)}
    links, cuts = spanning(mechanism, own - inner, [j for j in joints if j not in gone])
    touched = {b for j in joints for b in frames.bodies_of(mechanism, j)}
    if any(link.joint < 0 for link in links):
        touched.add(0)  # a free body is placed in the frame
    return GroupTree(group.number, tuple(sorted(touched - own)), links, cuts, taken)


def _labels(structure: Structure, frames: Frames, trees: Sequence[GroupTree]) -> tuple[object, ...]:
    """The labelled topologies of trees; None of one that shares with none."""
    mechanism, treatment = structure.mechanism, structure.treatment
    kinds, driven = mechanism.joint_type.tolist(), mechanism.driven.tolist()
    passive = () if treatment is None else treatment.passive_rotations
    spins = [spin.bodies[0] for spin in passive if spin.direction and spin.point]

    def label(tree: GroupTree) -> object:
        if any(j in frames.relations for j in tree.cuts):
            return None
        number = {0: 0}

        def at(*bodies: int) -> tuple[int, ...]:
            return tuple(number.setdefault(b, len(number)) for b in bodies)

        def kind(j: int) -> object:
            return (kinds[j], driven[j], at(*mechanism.joint_bodies(j)[:2])) if j >= 0 else ()

        links = tuple((at(n.parent, n.body), n.forward, kind(n.joint)) for n in tree.links)
        struts = tuple(
            (at(s.base, s.tip, *s.bodies), s.held, s.slide_driven, kind(s.pin), kind(s.ball), kind(s.slide))
            for s in tree.struts
        )
        cuts = tuple(map(kind, tree.cuts))
        own = [n.body for n in tree.links] + [b for s in tree.struts for b in s.bodies]
        return links, struts, cuts, tuple(at(b) for b in spins if b in own)

    return tuple(map(label, trees))


def joints_at(bodies: Iterable[int], ends: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    """Joints of each of some bodies, by the bodies of every joint."""
    at: dict[int, list[int]] = {body: [] for body in bodies}
    for j, body in ((j, body) for j, own in ends.items() for body in own if body in at):
        at[body].append(j)
    return at


def free_coordinates(mechanism: Mechanism, joint: int) -> int:
    """Coordinates of a joint that are not driven."""
    return int(mechanism.grade[joint] - mechanism.n_driven_of_joint[joint])


def ball_of(steps: Sequence[Step], driven: Sequence[bool]) -> set[int]:
    """Coordinates of three free turns about x, y, z in a row at the end of a joint's steps: a ball."""
    if len(steps) < 3 or [(s.kind, s.axis) for s in steps[-3:]] != [("turn", 0), ("turn", 1), ("turn", 2)]:
        return set()
    found = {s.coordinate for s in steps[-3:] if s.coordinate is not None}
    return found if len(found) == 3 and not any(driven[c] for c in found) else set()


def spanning(
    mechanism: Mechanism, own: set[int], joints: list[int]
) -> tuple[tuple[Link, ...], tuple[int, ...]]:
    """Kruskal's tree by undriven freedom; hinges stay open where a slide can carry."""
    ends = {j: mechanism.joint_bodies(j)[:2] for j in joints}

    def weight(j: int) -> tuple[int, bool, bool, int]:
        first, second = ends[j]
        slides = type_of_joint(mechanism, j).slides
        return free_coordinates(mechanism, j), not slides, first in own and second in own, j

    number = {body: k for k, body in enumerate(sorted(own), 1)}  # 0 is all that is known
    carriers = sorted((j for j in joints if type_of_joint(mechanism, j).pair is not None), key=weight)
    pairs = [(number.get(a, 0), number.get(b, 0)) for a, b in map(ends.__getitem__, carriers)]
    pairs += [(0, k) for k in number.values()]
    tree = spanning_forest(len(number) + 1, pairs, range(len(pairs)))
    free = {k - len(carriers) + 1 for k in tree if k >= len(carriers)}
    links = [Link(0, body, -1, True) for body, k in number.items() if k in free]
    chosen = sorted((k for k in tree if k < len(carriers)), key=carriers.__getitem__)
    for k, forward in outwards(pairs, chosen, {0, *free}):
        j = carriers[k]
        parent, body = ends[j] if forward else ends[j][::-1]
        links.append(Link(parent, body, j, forward))
    carrying = {link.joint for link in links}
    return tuple(links), tuple(j for j in joints if j not in carrying)


def _struts(group: Group, frames: Frames) -> tuple[Strut, ...]:
    mechanism, treatment = group.structure.mechanism, group.structure.treatment
    spins = () if treatment is None else [{*spin.bodies} for spin in treatment.passive_rotations]
    joints = group.joint_indices.tolist()
    at = joints_at(sorted(group.body_indices.tolist()), {j: mechanism.joint_bodies(j) for j in joints})

    def beyond(joint: int, body: int) -> int:
        first, second = mechanism.joint_bodies(joint)[:2]
        return second if first == body else first

    def is_point(joint: int) -> bool:
        """Whether it holds a point of each body together: a ball, or a universal joint without offset."""
        kind = type_of_joint(mechanism, joint)
        offset = abs(float(frames.parameters["offset"][joint]))
        holds = kind.is_ball or (kind.is_universal and offset <= _NO_OFFSET * frames.size)
        return holds and not mechanism.n_driven_of_joint[joint]

    def strut_from(body: int) -> Strut | None:
        """One body between two points, or two bodies with a slide between them; ``body`` is the first."""
        slides = [j for j in at[body] if type_of_joint(mechanism, j).is_slider]
        if len(at[body]) != 2 or len(slides) > 1:
            return None
        slide, bodies = slides[0] if slides else -1, [body]
        if slides:
            mate = beyond(slide, body)
            if mate not in at or mate < body or len(at[mate]) != 2:
                return None
            bodies.append(mate)
        ends = [j for b in bodies for j in at[b] if j != slide]
        if len(ends) != 2 or not all(map(is_point, ends)):
            return None
        balls = [type_of_joint(mechanism, j).is_ball for j in ends]
        held = all(balls)
        if held != any(spin <= {*bodies} for spin in spins) or not any(balls):
            return None
        if not held and balls[0]:
            ends, bodies = ends[::-1], bodies[::-1]
        base, tip = beyond(ends[0], bodies[0]), beyond(ends[1], bodies[-1])
        driven = slide >= 0 and bool(mechanism.n_driven_of_joint[slide])
        made = Strut(base, tip, tuple(bodies), ends[0], ends[1], slide, held, driven)
        alone = len(at) <= 2 and not {base, tip} & at.keys()  # as one of unknown length has to be
        return made if base != tip and (made.is_rod or alone) else None

    found, used = list[Strut](), set[int]()
    for body in at:
        strut = strut_from(body)
        if strut is not None and used.isdisjoint({*strut.bodies, strut.base, strut.tip}):
            found.append(strut)
            used.update(strut.bodies)
    return tuple(found)
