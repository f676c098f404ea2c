"""Structural groups beside the loops of the same mechanism: how many, how large, in how many levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mbssa.analysis.decompose import decompose
from mbssa.disjoint_set import spanning_forest
from mbssa.loops.assembly import LoopGraph, loop_graph
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
    graph = loop_graph(mechanism)
    ways = (
        _way_of_groups(structure, graph),
        _way_of_loops("minimum cycle basis", basis),
        _way_of_loops("Wehage", substructures),
        _way_of_all(graph, basis),
    )
    return Comparison(mechanism, structure, basis, substructures, ways)


def _way_of_loops(name: str, found: LoopStructure) -> Way:
    return Way(
        name,
        len(found.modules),
        len(found.levels),
        tuple(module.unknowns for module in found.modules),
        tuple(module.size for module in found.modules),
    )


def _way_of_groups(structure: Structure, graph: LoopGraph) -> Way:
    edge_of = {joint: edge for edge, joint in enumerate(graph.joints)}
    figures = []
    for group in structure.groups:
        mine = set(group.body_indices.tolist())
        joints = [joint for joint in group.joint_indices.tolist() if joint in edge_of]
        # Bodies that are known by then are one with the frame.
        ends = [[body if body in mine else 0 for body in graph.ends[edge_of[joint]]] for joint in joints]
        figures.append(_figures(graph, joints, [(a, b) for a, b in ends]))
    solved = [each for each in figures if each[0]]
    return Way(
        "structural groups",
        structure.n_groups,
        len(structure.levels),
        tuple(unknowns for unknowns, _ in solved),
        tuple(size for _, size in solved),
    )


def _way_of_all(graph: LoopGraph, basis: LoopStructure) -> Way:
    if not basis.loops:
        return Way("all loops at once", 0, 0, (), ())
    # Joints of open chains are in no loop, whatever is unknown there.
    closed = {joint for loop in basis.loops for joint in loop.joints}
    edges = [edge for edge, joint in enumerate(graph.joints) if joint in closed]
    unknowns, size = _figures(graph, [graph.joints[e] for e in edges], [graph.ends[e] for e in edges])
    return Way("all loops at once", 1, 1, (unknowns,), (size,))


def _figures(graph: LoopGraph, joints: Sequence[int], ends: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Unknown coordinates of these joints, and those left when all loops are cut where most are."""
    count = [len(graph.unknowns[joint]) for joint in joints]
    order = sorted(range(len(joints)), key=lambda k: (count[k], k))
    tree = set(spanning_forest(graph.mechanism.n_bodies, ends, order))
    return sum(count), sum(count[k] for k in tree)
