"""Wehage's substructures of a mechanism, from a spanning tree that is chosen or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mbssa.loops.assembly import loop_graph, make_loops, put_together
from mbssa.loops.merging import way_to_frame, wehage
from mbssa.loops.spanning_tree import CutTree, chosen_tree, tree_of_cuts, tree_of_record
from mbssa.loops.structure import LoopStructure
from mbssa.mechanism import Mechanism


def wehage_substructures(
    mechanism: Mechanism,
    *,
    cuts: Sequence[str] | None = None,
    tree: Mapping[str, Any] | None = None,
) -> LoopStructure:
    """The substructures of a spanning tree with cut joints, see :func:`wehage`, and their order of solution.

    ``substructures`` are what the algorithm answers; loops that it merged stay together in ``modules``,
    which may join more: substructures that need each other's coordinates.

    Parameters
    ----------
    cuts : ids of the joints to cut, one for each independent loop
    tree : the lists of the paper's Table 1, ``P`` and ``loop_terminators``, instead. If neither is given,
        the joints with the most coordinates are cut and, of these, those farthest from the frame.

    Raises
    ------
    ValueError
        Cuts or a tree that do not leave a spanning tree of this mechanism; both given.
    TypeError
        Not a mechanism.

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.loops import wehage_substructures
    >>> rotor = wehage_substructures(mbssa.load("rotor"))
    >>> [substructure.loops for substructure in rotor.substructures]
    [(1,), (2,), (3,), (4,), (5, 6)]
    >>> [(module.loops, module.size) for module in rotor.modules]
    [((4,), 3), ((2,), 3), ((5, 6), 6), ((1,), 3), ((3,), 3)]
    """
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"takes a Mechanism, not {mechanism!r}; mbssa.load(…) reads one")
    if cuts is not None and tree is not None:
        raise ValueError("cuts and a tree are given; write one of them")
    graph = loop_graph(mechanism)
    if tree is not None:
        cut_tree = tree_of_record(graph, tree)
    elif cuts is not None:
        cut_tree = tree_of_cuts(graph, cuts)
    else:
        cut_tree = chosen_tree(graph)
    cut_open = set(cut_tree.cuts)
    kept = {ends: edge for edge, ends in enumerate(graph.ends) if edge not in cut_open}
    found = [_edges(kept, cut_tree, cut, graph.ends[cut]) for cut in cut_tree.cuts]
    loops, notes = make_loops(graph, found, [graph.joints[cut] for cut in cut_tree.cuts])
    substructures = wehage(cut_tree.parents, cut_tree.terminators)
    blocks = [substructure.loops for substructure in substructures]
    return put_together(graph, "wehage", loops, blocks, notes, substructures)


def _edges(kept: Mapping[tuple[int, int], int], tree: CutTree, cut: int, ends: tuple[int, int]) -> list[int]:
    """The cut edge and the edges of the tree between its two bodies; ``kept`` are edges by their ends."""
    ways = [way_to_frame(tree.parents, body + 1) for body in ends]
    shared = set(ways[0]) & set(ways[1])
    steps = [(body - 1, tree.parents[body - 1] - 1) for way in ways for body in way if body not in shared]
    return [cut, *(kept[min(step), max(step)] for step in steps)]
