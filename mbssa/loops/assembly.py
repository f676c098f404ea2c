"""Parts of loops and their assembly to modules, for any algorithm that chose them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from mbssa.analysis.decompose import decompose, worth_treating
from mbssa.decomposition.treatment import Treatment
from mbssa.disjoint_set import Ends
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import Rows, rows_at
from mbssa.loops.cycle_basis import in_order, independent
from mbssa.loops.merging import Substructure
from mbssa.loops.solution import Block, Part, match, order_of_solution
from mbssa.loops.structure import Loop, LoopStructure, Method, Module
from mbssa.mechanism import Mechanism
from mbssa.singularities.ranks import EXACT, generic_rows, precision_of, rank_of, tolerance_for
from mbssa.singularities.redundancy import examine


@dataclass(frozen=True, eq=False)
class LoopGraph:
    """Graph of a mechanism for its loops: vertices are bodies, edges the joints that close loops."""

    mechanism: Mechanism
    joints: tuple[int, ...]  # joint indices of the edges
    ends: tuple[Ends, ...]  # two body indices of each edge, the lower first

    @property
    def weights(self) -> list[int]:
        """Coordinates of each edge, driven ones too."""
        return [int(self.mechanism.grade[joint]) for joint in self.joints]

    @property
    def left_out(self) -> tuple[int, ...]:
        """Joints that are no edges."""
        taken = set(self.joints)
        return tuple(joint for joint in range(self.mechanism.n_joints) if joint not in taken)

    @cached_property
    def treatment(self) -> Treatment | None:
        """Treatment that determines a mechanism whose mobility count fails."""
        return decompose(self.mechanism).treatment

    @cached_property
    def unknowns(self) -> dict[int, tuple[str, ...]]:
        """Names of the coordinates of each edge that are neither driven nor locked, by joint index."""
        held = set(self.held)
        return {
            joint: tuple(
                name for name in coordinates(self.mechanism, joint, driven=False) if name not in held
            )
            for joint in self.joints
        }

    @cached_property
    def held(self) -> tuple[str, ...]:
        """The locked coordinate of each passive rotation: the last free one of the freest joint."""
        names: list[str] = []
        for spin in self.treatment.passive_rotations if self.treatment else ():
            free = [
                [name for name in coordinates(self.mechanism, joint, driven=False) if name not in names]
                for joint, ends in zip(self.joints, self.ends, strict=True)
                if set(ends) & set(spin.bodies) and not set(ends) <= set(spin.bodies)
            ]
            names += max(free, key=len, default=())[-1:]
        return tuple(names)


def loop_graph(mechanism: Mechanism) -> LoopGraph:
    """Loop graph, whose edges are joints of two bodies without undriven free bodies (F and its like)."""
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"takes a Mechanism, not {mechanism!r}; mbssa.load(…) reads one")
    joints, ends = [], []
    for joint in range(mechanism.n_joints):
        bodies = mechanism.joint_bodies(joint)
        binds = mechanism.grade[joint] < mechanism.freedom or mechanism.driven[joint]
        if len(bodies) == 2 and binds:
            joints.append(joint)
            ends.append((min(bodies), max(bodies)))
    return LoopGraph(mechanism, tuple(joints), tuple(ends))


def coordinates(mechanism: Mechanism, joint: int, *, driven: bool) -> tuple[str, ...]:
    """The driven, or the other coordinates of a joint, as ``1-2.angle``."""
    view = mechanism.joints[joint]
    mine = [name for name in view.type.coordinates if (name in view.driven) == driven]
    return tuple(f"{view.id}.{name}" for name in mine)


def make_loops(
    graph: LoopGraph, found: Iterable[Sequence[int]], cuts: Sequence[int | None]
) -> tuple[tuple[Loop, ...], tuple[str, ...]]:
    """Loops from the edges of each, in this order, and assumptions on their ranks."""
    m = graph.mechanism
    ways = [in_order(edges, graph.ends) for edges in found]
    joints = [tuple(graph.joints[edge] for edge in edges) for _, edges in ways]
    ranks, note = loop_ranks(m, [(bodies, mine) for (bodies, _), mine in zip(ways, joints, strict=True)])
    loops = tuple(
        Loop(
            number,
            tuple(body + 1 for body in bodies),
            mine,
            tuple(name for joint in mine for name in coordinates(m, joint, driven=True)),
            tuple(name for joint in mine for name in coordinates(m, joint, driven=False)),
            rank,
            cut=cut,
        )
        for number, ((bodies, _), mine, rank, cut) in enumerate(
            zip(ways, joints, ranks, cuts, strict=True), 1
        )
    )
    return _without_redundant(graph, loops), (note,) if note else ()


def _without_redundant(graph: LoopGraph, loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """Loops without the equations that the ranks have shown to be redundant."""
    # Loops with a joint whose equations the structural groups leave out too are the first to lose theirs.
    if graph.treatment is None:
        return loops
    dropped = {each.joint for each in graph.treatment.dropped}
    order = sorted(range(len(loops)), key=lambda k: (not dropped.isdisjoint(loops[k].joints), k))
    given = match([Block(loops[k].rank, loops[k].joints) for k in order], _counts(graph))
    kept = {k: sum(mine.values()) for k, mine in zip(order, given, strict=True)}
    return tuple(replace(loop, redundant=loop.rank - kept[k]) for k, loop in enumerate(loops))


def _counts(graph: LoopGraph) -> dict[int, int]:
    return {joint: len(names) for joint, names in graph.unknowns.items()}


def put_together(
    graph: LoopGraph,
    method: Method,
    loops: tuple[Loop, ...],
    blocks: Sequence[Sequence[int]],
    notes: tuple[str, ...],
    substructures: tuple[Substructure, ...] = (),
) -> LoopStructure:
    """The answer, from loops and from the blocks of them (numbers of loops) that are not torn apart."""
    parts = order_of_solution([_block(loops, block) for block in blocks], _counts(graph))
    apart = order_of_solution([_block(loops, [loop.number]) for loop in loops], _counts(graph))
    computed: set[int] = set()
    modules = []
    for number, part in enumerate(parts, 1):
        mine = sorted(loop for place in part.blocks for loop in blocks[place])
        modules.append(_module(graph, number, part, [loops[k - 1] for k in mine], computed))
        computed |= set(part.joints)
    closed = {joint for loop in loops for joint in loop.joints}
    open_names = [name for joint in graph.joints if joint not in closed for name in graph.unknowns[joint]]
    return LoopStructure(
        mechanism=graph.mechanism,
        method=method,
        loops=loops,
        modules=tuple(modules),
        n_apart=len(apart),
        substructures=substructures,
        open=tuple(open_names),
        left_out=graph.left_out,
        held=graph.held,
        notes=notes,
    )


def _block(loops: Sequence[Loop], numbers: Sequence[int]) -> Block:
    mine = [loops[number - 1] for number in numbers]
    joints = {joint for loop in mine for joint in loop.joints}
    return Block(sum(loop.equations for loop in mine), tuple(sorted(joints)))


def _module(graph: LoopGraph, number: int, part: Part, loops: Sequence[Loop], computed: set[int]) -> Module:
    joints = sorted({joint for loop in loops for joint in loop.joints})
    mine = set(part.joints)
    cuts = _cuts(graph, loops, mine)
    equations = sum(loop.equations for loop in loops)
    computes = tuple(name for joint in joints if joint in mine for name in graph.unknowns[joint])
    known = tuple(
        name
        for joint in joints
        for name in (
            *coordinates(graph.mechanism, joint, driven=True),
            *(graph.unknowns[joint] if joint in computed else ()),
        )
    )
    opened = sum(len(graph.unknowns[joint]) for joint in cuts)
    return Module(
        number,
        tuple(loop.number for loop in loops),
        equations,
        computes,
        known,
        cuts,
        len(computes) - opened,
        part.state,
        tuple(place + 1 for place in part.depends_on),
        part.level,
    )


def _cuts(graph: LoopGraph, loops: Sequence[Loop], mine: set[int]) -> tuple[int, ...]:
    """Joints at which the loops of a module are opened: one for each, those with the most unknowns."""
    # Any joints will do on which the loops are still independent.
    columns: dict[int, int] = {}
    for bit, loop in enumerate(loops):
        for joint in loop.joints:
            columns[joint] = columns.get(joint, 0) | 1 << bit
    return most_free_cuts(columns, {joint: len(graph.unknowns[joint]) for joint in mine})


def most_free_cuts(columns: Mapping[int, int], unknowns: Mapping[int, int]) -> tuple[int, ...]:
    """Joints to cut, one a loop, with the most unknowns; ``columns``: the loops through each (bits)."""
    pivots: dict[int, int] = {}
    free = sorted((joint for joint in columns if unknowns.get(joint, 0)), key=lambda j: (-unknowns[j], j))
    return tuple(sorted(joint for joint in free if independent(columns[joint], pivots)))


# --- ranks ------------------------------------------------------------------------------------------


#: Body indices and joint indices of a loop.
BodiesAndJoints: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


def loop_ranks(mechanism: Mechanism, loops: Sequence[BodiesAndJoints]) -> tuple[list[int], str]:
    """Closure equations of each loop, and a note where they were not found at the given geometry."""
    # The relative motions that the joints of a loop allow span B directions or fewer; along the others a loop
    # that can move closes by itself. Where they span fewer, a perturbed configuration tells whether that is
    # so in this pose alone.
    b = mechanism.freedom
    if not loops:
        return [], ""
    if not worth_treating(mechanism):
        return [b] * len(loops), f"every loop counts {b} equations: too many bodies to take ranks"
    if not (mechanism.has_geometry and joint_frames(mechanism).known.all()):
        return _generic(mechanism, loops), "ranks of loops at random geometry, as not every joint has its own"
    frames = joint_frames(mechanism)
    tolerance = tolerance_for(precision_of(mechanism, frames.size))
    closed = assemble(mechanism, frames, rank_tolerance=tolerance)
    ranks = _ranks(mechanism, rows_at(mechanism, frames, closed.configuration), loops, tolerance)
    if min(ranks) == b:
        return ranks, ""
    found = examine(mechanism)
    if found.fault:
        note = f"ranks of loops at random geometry, as the given one cannot be assembled: {found.fault}"
        return _generic(mechanism, loops), note
    if found.elsewhere is not None:
        other = _ranks(mechanism, found.elsewhere.rows, loops, found.tolerance)
        ranks = [max(pair) for pair in zip(ranks, other, strict=True)]
    return ranks, ""


def _generic(mechanism: Mechanism, loops: Sequence[BodiesAndJoints]) -> list[int]:
    """At random geometry of the declared types; of two draws the higher counts."""
    draws = [_ranks(mechanism, generic_rows(mechanism, seed), loops, EXACT) for seed in (1, 2)]
    return [max(pair) for pair in zip(*draws, strict=True)]


def _ranks(mechanism: Mechanism, rows: Rows, loops: Sequence[BodiesAndJoints], tolerance: float) -> list[int]:
    missing = set(rows.missing)
    return [
        _rank(mechanism, rows, bodies, joints, tolerance) if missing.isdisjoint(joints) else mechanism.freedom
        for bodies, joints in loops
    ]


def _rank(
    mechanism: Mechanism, rows: Rows, bodies: Sequence[int], joints: Sequence[int], tolerance: float
) -> int:
    """Joint degrees of freedom less the loop's own mobility; B for a loop that is rigid on its own."""
    mine = rows.select(np.flatnonzero(np.isin(rows.joint, joints) & ~rows.drive))
    # The first body is fixed; only relative motions enter a loop.
    matrix = mine.matrix(np.array(bodies[1:], dtype=np.int64))
    mobility = mechanism.freedom * (len(bodies) - 1) - rank_of(matrix, tolerance).rank
    return int(mechanism.grade[list(joints)].sum()) - mobility if mobility else mechanism.freedom
