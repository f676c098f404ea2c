"""Baranov trusses: which planar groups of hinges have one position problem in common.

Whether a body is solved already makes no difference to where the others are from it. So a group of hinges
with all bodies before it taken for one link is a truss - a rigid figure of links and hinges - and all groups
cut from one truss, whichever of its links is called fixed, have the same modes.
"""

from __future__ import annotations

from dataclasses import dataclass

from mbssa import Group
from mbssa.joints.catalogue import CATALOGUE

#: Edges between numbered links, (a, b) with a < b, in rising order; a pair of links with two hinges twice.
Edges = tuple[tuple[int, int], ...]


#: Modes that a truss can have, real or not, by its edges: the degree of its polynomial. Of seven links:
#: N. Rojas & F. Thomas 2012, *On closed-form solutions to the position analysis of Baranov trusses*,
#: Mechanism and Machine Theory 50; :mod:`groups.assembly_modes.homotopy` finds as many.
MODES: dict[Edges, int] = {
    ((0, 1), (0, 2), (1, 2)): 2,
    ((0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4)): 6,
    ((0, 3), (0, 4), (1, 3), (1, 5), (2, 4), (2, 5), (3, 6), (4, 6), (5, 6)): 14,
    ((0, 3), (0, 4), (1, 3), (1, 5), (2, 4), (2, 6), (3, 6), (4, 5), (5, 6)): 16,
    ((0, 4), (0, 6), (1, 4), (1, 6), (2, 5), (2, 6), (3, 5), (3, 6), (4, 5)): 18,
}


@dataclass(frozen=True, slots=True)
class Truss:
    """A Baranov truss: number of links, and its hinges as canonical edges. Equal exactly if alike.

    >>> triangle = Truss(3, canonical(3, [(0, 1), (1, 2), (0, 2)]))
    >>> print(triangle, triangle.modes)
    3-link Baranov truss 2
    """

    links: int
    edges: Edges

    @property
    def modes(self) -> int | None:
        """Most modes that it can have; None where that is not known."""
        return MODES.get(self.edges)

    def __str__(self) -> str:
        return f"{self.links}-link Baranov truss"


def truss_of(group: Group) -> Truss | None:
    """The truss from which a group is cut; None where there is none.

    >>> import mbssa
    >>> truss_of(mbssa.decompose(mbssa.load("planar_four_bar")).groups[1]).edges
    ((0, 1), (0, 2), (1, 2))
    """
    mechanism = group.structure.mechanism
    joints = group.joint_indices.tolist()
    hinges = all(
        CATALOGUE[int(mechanism.joint_type[j])].is_ball and not mechanism.n_driven_of_joint[j] for j in joints
    )
    own = group.body_indices.tolist()
    if mechanism.space != "planar" or not hinges or 2 * len(joints) != 3 * len(own):
        return None
    link = {body: k + 1 for k, body in enumerate(own)}
    ends = [[link.get(b, 0) for b in mechanism.joint_bodies(j)[:2]] for j in joints]
    return Truss(len(own) + 1, canonical(len(own) + 1, [(a, b) for a, b in ends]))


def canonical(links: int, edges: list[tuple[int, int]]) -> Edges:
    """The least of all ways to write a graph whose links are numbered by their neighbourhoods.

    Links are told apart by colours refined from their neighbours'; where that leaves several alike, each of
    them in turn is made the first of its kind.

    >>> canonical(3, [(0, 1), (0, 1), (1, 2)]) == canonical(3, [(0, 2), (0, 1), (0, 2)])
    True
    """
    near: list[list[int]] = [[] for _ in range(links)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)

    def refined(colours: list[int]) -> list[int]:
        while True:
            seen = [(colours[k], sorted(colours[other] for other in near[k])) for k in range(links)]
            ranks = sorted({(colour, tuple(others)) for colour, others in seen})
            new = [ranks.index((colour, tuple(others))) for colour, others in seen]
            if len(ranks) == len(set(colours)):
                return new
            colours = new

    def least(colours: list[int]) -> Edges:
        colours = refined(colours)
        alike = next((c for c in sorted(set(colours)) if colours.count(c) > 1), None)
        if alike is None:
            pairs = sorted((min(colours[a], colours[b]), max(colours[a], colours[b])) for a, b in edges)
            return tuple(pairs)
        return min(
            least([2 * c + (c == alike and other != k) for other, c in enumerate(colours)])
            for k in range(links)
            if colours[k] == alike
        )

    return least([0] * links)
