"""Names of the graph of a group: its chains of joints, and the Baranov truss from which it is cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from groups.tree import joints_at
from mbssa import Group
from mbssa.joints.catalogue import type_of_joint
from mbssa.texts import counted

#: Modes that a truss can have, real or not, by its hinges between numbered links: the degree of its
#: polynomial. Of seven links: N. Rojas & F. Thomas 2012, *On closed-form solutions to the position analysis
#: of Baranov trusses*, Mechanism and Machine Theory 50; :mod:`groups.assembly_modes.homotopy` finds as many.
#: Of nine links, all 28 trusses: as many as that found at two random geometries of each.
MODES = {
    "01 02 12": 2,
    "03 04 13 14 23 24": 6,
    "03 04 13 15 24 25 36 46 56": 14,
    "03 04 13 15 24 26 36 45 56": 16,
    "04 06 14 16 25 26 35 36 45": 18,
    "03 04 13 15 24 26 37 48 56 57 68 78": 38,
    "03 04 13 15 24 26 37 48 56 58 67 78": 46,
    "03 04 13 15 24 26 37 48 57 58 67 68": 40,
    "03 04 13 15 26 27 38 45 46 57 68 78": 50,
    "03 04 13 16 25 27 38 45 47 56 68 78": 46,
    "03 04 15 16 27 28 35 36 47 48 57 68": 50,
    "03 04 15 16 27 28 35 37 46 48 58 67": 58,
    "03 05 13 16 24 27 34 48 56 57 68 78": 46,
    "03 06 13 17 24 25 34 48 56 57 68 78": 50,
    "04 05 14 16 25 27 36 37 48 58 68 78": 30,
    "04 05 14 18 25 28 36 38 46 57 67 78": 42,
    "04 05 15 16 26 27 34 38 47 58 68 78": 36,
    "04 05 15 17 24 28 36 38 46 58 67 78": 44,
    "04 05 16 17 24 28 35 38 46 57 68 78": 40,
    "04 06 14 18 25 28 35 38 47 56 67 78": 42,
    "04 06 14 18 25 28 35 38 47 57 67 68": 48,
    "04 06 15 16 24 28 35 38 47 57 68 78": 40,
    "04 06 15 17 24 28 35 38 47 56 68 78": 44,
    "04 07 14 18 25 28 36 38 45 56 67 78": 52,
    "04 08 15 18 26 28 37 38 45 46 57 67": 56,
    "05 06 15 17 24 28 34 38 46 58 67 78": 48,
    "05 06 15 17 26 27 37 38 47 48 58 68": 42,
    "05 06 15 17 26 28 37 38 47 48 58 67": 48,
    "05 07 14 18 24 28 36 38 45 56 67 78": 48,
    "05 07 15 17 26 28 36 38 47 48 58 67": 54,
    "05 07 15 18 26 27 37 38 47 48 56 68": 48,
    "05 08 15 18 26 28 36 38 47 48 57 67": 54,
    "06 07 16 17 26 28 36 38 47 48 57 58": 52,
}


@dataclass(frozen=True, slots=True)
class Truss:
    """A Baranov truss: number of links, and most modes that it can have; None where that is not known."""

    links: int
    modes: int | None

    def __str__(self) -> str:
        return f"{self.links}-link Baranov truss"


def truss_of(group: Group) -> Truss | None:
    """The truss from which a group is cut; None where there is none."""
    mechanism = group.structure.mechanism
    joints = group.joint_indices.tolist()
    turning = all(type_of_joint(mechanism, j).is_ball and not mechanism.n_driven_of_joint[j] for j in joints)
    own = group.body_indices.tolist()
    if mechanism.space != "planar" or not turning or 2 * len(joints) != 3 * len(own):
        return None
    link = {body: k + 1 for k, body in enumerate(own)}
    hinges = [(link.get(a, 0), link.get(b, 0)) for a, b, *_ in map(mechanism.joint_bodies, joints)]
    return Truss(len(own) + 1, modes_of(hinges))


def modes_of(hinges: Iterable[tuple[int, int]]) -> int | None:
    """Modes of the truss with these hinges between numbered links; None where it is not known."""
    ends = [sorted(pair) for pair in hinges]
    written = " ".join(sorted(f"{a}{b}" for a, b in ends))
    if written in MODES or len(written) not in map(len, MODES):  # so networkx is seldom imported
        return MODES.get(written)
    import networkx

    graph: networkx.MultiGraph[int] = networkx.MultiGraph(ends)
    for text, modes in MODES.items():
        known = [(int(pair[0]), int(pair[1])) for pair in text.split()]
        if networkx.is_isomorphic(graph, networkx.MultiGraph(known)):
            return modes
    return None


def chain_of(group: Group) -> str:
    """Chains of joints of a group, as ``R-R-R``; a star follows a driven joint."""
    mechanism, own = group.structure.mechanism, group.body_indices.tolist()
    ends = {j: mechanism.joint_bodies(j)[:2] for j in group.joint_indices.tolist()}
    at, code = joints_at(own, ends), dict[int, str]()
    inner = {body for body in own if len(at[body]) == 2}
    for view in map(mechanism.joints.__getitem__, ends):
        star = f"[{', '.join(view.driven)}]" if view.driven else ""
        code[view.index] = view.type.code + ("*" if len(view.driven) == view.type.grade else star)
    best, chains, left = max if mechanism.space == "planar" else min, Counter[str](), dict(ends)
    # Chains begin at a joint of a hub or of a body that is solved already; a ring has no such joint.
    for first in sorted(ends, key=lambda j: inner.issuperset(ends[j])):
        if first not in left:
            continue
        a, b = left.pop(first)
        body, codes = a if a in inner else b, [code[first]]
        while body in inner and (following := [j for j in at[body] if j in left]):
            a, b = left.pop(following[0])
            codes.append(code[following[0]])
            body = b if a == body else a
        chains["-".join(best(codes, codes[::-1]))] += 1
    held = ", ".join(f"{n} × {chain}" if n > 1 else chain for chain, n in sorted(chains.items()))
    solid = sum(len(joints) > 2 for joints in at.values())
    return f"{counted(solid, 'body')} on {held}" if solid else held
