"""Independent loops with the fewest coordinates, and the order in which they are solved."""

from __future__ import annotations

from mbssa.loops.assembly import loop_graph, make_loops, put_together
from mbssa.loops.cycle_basis import in_order, minimum_cycle_basis
from mbssa.loops.structure import LoopStructure
from mbssa.mechanism import Mechanism


def independent_loops(mechanism: Mechanism) -> LoopStructure:
    """The independent loops whose joints have the fewest coordinates, and their order of solution.

    Joints are edges with their grade as weight, and a minimum cycle basis is taken: C = P - N_m loops,
    Eq. (1). Two joints of the same two bodies close a loop; a joint of three or more bodies on one pin is
    the pairs that stand for it. A gear on a carrier, which joins three bodies, and a free body (F) that
    nothing drives are left out and named.

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
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"takes a Mechanism, not {mechanism!r}; mbssa.load(…) reads one")
    graph = loop_graph(mechanism)
    found = minimum_cycle_basis(mechanism.n_bodies, graph.ends, graph.weights)
    weight = graph.weights
    found.sort(key=lambda edges: (sum(weight[e] for e in edges), len(edges), in_order(edges, graph.ends)))
    loops, notes = make_loops(graph, found, [None] * len(found))
    return put_together(graph, "basis", loops, [[loop.number] for loop in loops], notes)
