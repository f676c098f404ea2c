"""Structural groups beside the loops of the same mechanism: how many, how large, in how many levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mbssa.analysis.decompose import decompose
from mbssa.disjoint_set import Ends, spanning_forest
from mbssa.loops.assembly import LoopGraph
from mbssa.loops.methods import independent_loops, wehage_substructures
from mbssa.loops.structure import LoopStructure
from mbssa.mechanism import Mechanism
from mbssa.structure import Structure


@dataclass(frozen=True, slots=True)
class Way:
    """One way to divide a mechanism, in the figures that can be compared.

    Attributes
    ----------
    name : "structural groups", "minimum cycle basis", "Wehage", "all loops at once"
    modules : number of modules solved in sequence; groups that are one driven body count
    levels : length of the longest chain of modules
    unknowns : relative coordinates that each module solves for; modules without any are not listed
    sizes : of these, unknowns left when every loop is cut at the joint with the most unknowns

    >>> from mbssa.loops import compare_loops
    >>> import mbssa
    >>> groups = compare_loops(mbssa.load("nine_bar")).ways[0]
    >>> groups.modules, groups.unknowns, groups.sizes, groups.largest, groups.cubes
    (6, (3, 3), (2, 2), 2, 16)
    """

    name: str
    modules: int
    levels: int
    unknowns: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def largest(self) -> int:
        """Unknowns of the largest system."""
        return max(self.sizes, default=0)

    @property
    def cubes(self) -> int:
        """Sum of the cubes of the sizes, which the work of solving grows with."""
        return sum(size**3 for size in self.sizes)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Structural groups and loops of one mechanism.

    ``ways`` are rows of figures; ``structure``, ``basis`` and ``wehage`` are their sources.

    >>> from mbssa.loops import compare_loops
    >>> import mbssa
    >>> for way in compare_loops(mbssa.load("rotor")).ways:
    ...     print(f"{way.name}: {way.modules} modules, {way.levels} levels, sizes {way.sizes}")
    structural groups: 7 modules, 5 levels, sizes (3, 3, 3, 3, 3, 3)
    minimum cycle basis: 6 modules, 3 levels, sizes (3, 3, 3, 3, 3, 3)
    Wehage: 5 modules, 2 levels, sizes (3, 3, 6, 3, 3)
    all loops at once: 1 modules, 1 levels, sizes (18,)
    """

    mechanism: Mechanism
    structure: Structure
    basis: LoopStructure
    wehage: LoopStructure
    ways: tuple[Way, ...]


def compare_loops(
    mechanism: Mechanism, *, cuts: Sequence[str] | None = None, tree: Mapping[str, Any] | None = None
) -> Comparison:
    """Structural groups, a minimum cycle basis, Wehage's substructures, and all loops at once.

    All are measured in relative coordinates: the unknown coordinates of a module, and those left of
    them when each of its loops is opened at the joint with the most. The loops of a group are those that its
    joints close with the bodies that are already known.

    Parameters
    ----------
    cuts, tree : for Wehage's substructures, see :func:`wehage_substructures`

    Raises
    ------
    ValueError, TypeError
        As :func:`wehage_substructures`.

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.loops import compare_loops
    >>> [way.largest for way in compare_loops(mbssa.load("stewart_inverse")).ways]
    [3, 3, 3, 18]
    """
    basis = independent_loops(mechanism)
    substructures = wehage_substructures(mechanism, cuts=cuts, tree=tree)
    structure = decompose(mechanism)
    graph = LoopGraph(mechanism)
    # Joints of open chains are in no loop, whatever is unknown there.
    closed = {joint: graph.ends[joint] for loop in basis.loops for joint in loop.joints}
    groups = []
    for group in structure.groups:
        # Bodies that are known by then are one with the frame.
        mine = set(group.body_indices.tolist())
        pairs = ((j, graph.ends[j]) for j in group.joint_indices.tolist() if j in graph.ends)
        groups.append({j: (a if a in mine else 0, b if b in mine else 0) for j, (a, b) in pairs})
    levels = 1 if closed else 0
    ways = (
        _way(graph, "structural groups", structure.n_groups, len(structure.levels), groups),
        _way_of_loops("minimum cycle basis", basis),
        _way_of_loops("Wehage", substructures),
        _way(graph, "all loops at once", levels, levels, [closed]),
    )
    return Comparison(mechanism, structure, basis, substructures, ways)


def _way_of_loops(name: str, found: LoopStructure) -> Way:
    unknowns = tuple(module.unknowns for module in found.modules)
    sizes = tuple(module.size for module in found.modules)
    return Way(name, len(found.modules), len(found.levels), unknowns, sizes)


def _way(
    graph: LoopGraph, name: str, modules: int, levels: int, systems: Iterable[Mapping[int, Ends]]
) -> Way:
    """Figures of systems of joints, each with the bodies that it joins."""
    figures = []
    for ends in systems:
        # The tree that is left when all loops are cut where most coordinates are unknown.
        order = sorted(ends, key=lambda joint: (graph.counts[joint], joint))
        tree = spanning_forest(graph.mechanism.n_bodies, ends, order)
        if unknowns := sum(graph.counts[joint] for joint in ends):
            figures.append((unknowns, sum(graph.counts[joint] for joint in tree)))
    return Way(name, modules, levels, tuple(n for n, _ in figures), tuple(size for _, size in figures))
