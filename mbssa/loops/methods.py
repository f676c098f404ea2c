"""Loop methods: independent loops with the fewest coordinates, and Wehage's substructures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from mbssa.loops.assembly import LoopGraph, loop_structure
from mbssa.loops.cycle_basis import in_order, minimum_cycle_basis
from mbssa.loops.merging import way_to_frame, wehage
from mbssa.loops.spanning_tree import chosen_tree, tree_of_cuts, tree_of_record
from mbssa.loops.structure import LoopStructure
from mbssa.mechanism import Mechanism


def independent_loops(mechanism: Mechanism) -> LoopStructure:
    """The independent loops whose joints have the fewest coordinates, and their order of solution.

    Joints are edges with their degrees of freedom as weight, and a minimum cycle basis is taken:
    C = P - N_m loops, Eq. (1). Two joints of the same two bodies close a loop; a joint of three or more
    bodies on one pin is replaced by pairs. A gear on a carrier, which joins three bodies, and an undriven
    free body (F) are left out and named.

    A loop has B closure equations (3 in the plane, 6 in space), or fewer where it moves on its own and the
    relative motions that its joints allow span less: 3 for a planar or spherical loop modelled in space,
    2 for prismatic joints in the plane. That rank is taken at the assembled geometry, without geometry at
    random geometry of the declared types, and not at all beyond 1,200 units of freedom. Equations that
    follow from other loops are left out where the structural groups need the same treatment;
    ``redundant`` counts them.

    Raises
    ------
    TypeError
        Not a mechanism.

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.loops import independent_loops
    >>> nine_bar = independent_loops(mbssa.load("nine_bar"))
    >>> print(*nine_bar.loops)
    CL-1{1, 2, 3, 4, 5, 6} CL-2{1, 6, 5, 7, 8, 9}
    >>> [(str(module), module.size, module.depends_on) for module in nine_bar.modules]
    [('1: CL-1', 2, ()), ('2: CL-2', 2, (1,))]
    """
    graph, grade = LoopGraph(mechanism), mechanism.grade.tolist()
    joints = list(graph.ends)
    basis = minimum_cycle_basis(
        mechanism.n_bodies, list(graph.ends.values()), [grade[joint] for joint in joints]
    )
    cycles = [in_order([joints[edge] for edge in edges], graph.ends) for edges in basis]
    cycles.sort(key=lambda cycle: (sum(grade[joint] for joint in cycle[1]), len(cycle[1]), cycle))
    return loop_structure(graph, cycles)


def wehage_substructures(
    mechanism: Mechanism, *, cuts: Sequence[str] | None = None, tree: Mapping[str, Any] | None = None
) -> LoopStructure:
    """The substructures of a spanning tree with cut joints, see :func:`wehage`, and their order of solution.

    ``substructures`` are the result of the algorithm; merged loops stay together in ``modules``, which also
    join substructures that depend on each other's coordinates.

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
    if cuts is not None and tree is not None:
        raise ValueError("cuts and a tree are given; write one of them")
    graph = LoopGraph(mechanism)
    if tree is not None:
        chosen = tree_of_record(graph, tree)
    else:
        chosen = chosen_tree(graph) if cuts is None else tree_of_cuts(graph, cuts)
    kept = {ends: joint for joint, ends in graph.ends.items() if joint not in chosen.cuts}

    def joints_above(body: int) -> set[int]:
        # No joint binds the first body of a loose part to the frame: -1, on both sides of its cuts.
        steps = pairwise(way_to_frame(chosen.parents, body + 1))
        return {kept.get((min(step) - 1, max(step) - 1), -1) for step in steps}

    cycles = []
    for cut in chosen.cuts:
        one, other = map(joints_above, graph.ends[cut])
        cycles.append(in_order([cut, *(one ^ other)], graph.ends))
    return loop_structure(graph, cycles, chosen.cuts, wehage(chosen.parents, chosen.terminators))
