"""Graph of the joints that close loops; loops of it and their assembly to modules, whatever chose them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from mbssa.analysis.decompose import decompose, worth_treating
from mbssa.decomposition.treatment import Treatment
from mbssa.disjoint_set import Ends
from mbssa.joints.frames import joint_frames
from mbssa.loops.cycle_basis import independent
from mbssa.loops.merging import Substructure
from mbssa.loops.solution import Block, match, order_of_solution
from mbssa.loops.structure import Loop, LoopStructure, Module
from mbssa.mechanism import Mechanism
from mbssa.singularities.ranks import generic_rows, rank_of
from mbssa.singularities.redundancy import Examined, examine

#: Body indices of a loop, and its joints, as :func:`mbssa.loops.cycle_basis.in_order` gives them.
Cycle: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class LoopGraph:
    """Graph of a mechanism for its loops: vertices are bodies, edges the joints that close loops."""

    mechanism: Mechanism

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise TypeError(f"takes a Mechanism, not {self.mechanism!r}; mbssa.load(…) reads one")

    @cached_property
    def ends(self) -> dict[int, Ends]:
        """Body indices, the lower first, of joints of two bodies; undriven free bodies (F) are none."""
        m = self.mechanism
        binding = np.flatnonzero((m.grade < m.freedom) | (m.driven > 0)).tolist()
        pairs = ((joint, m.joint_bodies(joint)) for joint in binding)
        return {joint: (min(pair), max(pair)) for joint, pair in pairs if len(pair) == 2}

    @cached_property
    def treatment(self) -> Treatment | None:
        """Treatment that determines a mechanism whose mobility count fails."""
        return decompose(self.mechanism).treatment

    def coordinates(self, joint: int, *, driven: bool) -> tuple[str, ...]:
        """The driven, or the other coordinates of a joint, as ``1-2.angle``."""
        view = self.mechanism.joints[joint]
        return tuple(f"{view.id}.{c}" for c in view.type.coordinates if (c in view.driven) == driven)

    @cached_property
    def held(self) -> tuple[str, ...]:
        """The locked coordinate of each passive rotation: the last free one of the freest joint."""
        names: list[str] = []
        for spin in self.treatment.passive_rotations if self.treatment else ():
            free = [
                [name for name in self.coordinates(joint, driven=False) if name not in names]
                for joint, ends in self.ends.items()
                if set(ends) & set(spin.bodies) and not set(ends) <= set(spin.bodies)
            ]
            names += max(free, key=len, default=())[-1:]
        return tuple(names)

    @cached_property
    def unknowns(self) -> dict[int, tuple[str, ...]]:
        """Names of the coordinates of each edge that are neither driven nor locked."""
        return {
            joint: tuple(name for name in self.coordinates(joint, driven=False) if name not in self.held)
            for joint in self.ends
        }

    @cached_property
    def counts(self) -> dict[int, int]:
        """Number of the unknown coordinates of each edge."""
        return {joint: len(names) for joint, names in self.unknowns.items()}


def loop_structure(
    graph: LoopGraph,
    cycles: Sequence[Cycle],
    cuts: Sequence[int] | None = None,
    substructures: tuple[Substructure, ...] = (),
) -> LoopStructure:
    """The answer from loops; those of a spanning tree come with its cuts and their substructures."""
    loops, note = _loops(graph, cycles, [None] * len(cycles) if cuts is None else cuts)
    apart = _modules(graph, loops, [(loop.number,) for loop in loops])
    modules = apart if cuts is None else _modules(graph, loops, [each.loops for each in substructures])
    closed = {joint for loop in loops for joint in loop.joints}
    return LoopStructure(
        mechanism=graph.mechanism,
        method="basis" if cuts is None else "wehage",
        loops=loops,
        modules=modules,
        n_apart=len(apart),
        substructures=substructures,
        open=tuple(name for joint in graph.ends if joint not in closed for name in graph.unknowns[joint]),
        left_out=tuple(joint for joint in range(graph.mechanism.n_joints) if joint not in graph.ends),
        held=graph.held,
        notes=(note,) if note else (),
    )


def _loops(
    graph: LoopGraph, cycles: Sequence[Cycle], cuts: Sequence[int | None]
) -> tuple[tuple[Loop, ...], str]:
    """Loops without the equations that ranks have shown to be redundant; an assumption on their ranks."""
    ranks, note = loop_ranks(graph.mechanism, cycles)
    loops = [
        Loop(
            number,
            tuple(body + 1 for body in bodies),
            joints,
            tuple(name for joint in joints for name in graph.coordinates(joint, driven=True)),
            tuple(name for joint in joints for name in graph.coordinates(joint, driven=False)),
            rank,
            cut=cut,
        )
        for number, ((bodies, joints), rank, cut) in enumerate(zip(cycles, ranks, cuts, strict=True), 1)
    ]
    if graph.treatment is not None:
        # Loops with a joint whose equations the structural groups leave out too are the first to lose theirs.
        dropped = {each.joint for each in graph.treatment.dropped}
        order = sorted(range(len(loops)), key=lambda k: not dropped.isdisjoint(loops[k].joints))
        matched = match([Block(loops[k].rank, loops[k].joints) for k in order], graph.counts)
        for k, mine in zip(order, matched, strict=True):
            loops[k] = replace(loops[k], redundant=loops[k].rank - mine.total())
    return tuple(loops), note


def _modules(graph: LoopGraph, loops: Sequence[Loop], blocks: Sequence[Sequence[int]]) -> tuple[Module, ...]:
    """Modules in the order of solution; the loops of a block (their numbers) stay together."""

    def joints_of(numbers: Iterable[int]) -> list[int]:
        return sorted({joint for number in numbers for joint in loops[number - 1].joints})

    def equations_of(numbers: Iterable[int]) -> int:
        return sum(loops[number - 1].equations for number in numbers)

    parts = order_of_solution(
        [Block(equations_of(block), tuple(joints_of(block))) for block in blocks], graph.counts
    )
    computed: set[int] = set()
    modules = []
    for number, part in enumerate(parts, 1):
        mine = sorted(loop for place in part.blocks for loop in blocks[place])
        computes = tuple(name for joint in part.joints for name in graph.unknowns[joint])
        known: list[str] = []
        for joint in joints_of(mine):
            known += graph.coordinates(joint, driven=True)
            known += graph.unknowns[joint] if joint in computed else ()
        cuts = _cuts(graph, [loops[k - 1] for k in mine], part.joints)
        size = len(computes) - sum(graph.counts[joint] for joint in cuts)
        modules.append(
            Module(
                number,
                tuple(mine),
                equations_of(mine),
                computes,
                tuple(known),
                cuts,
                size,
                part.state,
                part.depends_on,
                part.level,
            )
        )
        computed |= set(part.joints)
    return tuple(modules)


def _cuts(graph: LoopGraph, loops: Sequence[Loop], joints: Iterable[int]) -> tuple[int, ...]:
    """Joints at which loops are opened, one for each, those with the most unknowns."""
    # Any joints will do on which the loops are still independent.
    pivots: dict[int, int] = {}
    through = {
        joint: sum(1 << bit for bit, loop in enumerate(loops) if joint in loop.joints) for joint in joints
    }
    freest = sorted(joints, key=lambda joint: (-graph.counts[joint], joint))
    return tuple(sorted(joint for joint in freest if independent(through[joint], pivots)))


def loop_ranks(mechanism: Mechanism, cycles: Sequence[Cycle]) -> tuple[list[int], str]:
    """Closure equations of each loop, and a note where they were not found at the given geometry."""
    # The relative motions that the joints of a loop allow span B directions or fewer; along the others a loop
    # that can move closes by itself. Where they span fewer, a perturbed configuration tells whether that is
    # so in this pose alone.
    if not cycles:
        return [], ""
    if not worth_treating(mechanism):
        b = mechanism.freedom
        return [b] * len(cycles), f"every loop counts {b} equations: too many bodies to take ranks"
    known = mechanism.has_geometry and joint_frames(mechanism).known.all()
    found = examine(mechanism) if known else None
    if found is None or found.fault:
        why = f"the given one cannot be assembled: {found.fault}" if found else "not every joint has its own"
        lots = [_ranks(Examined(mechanism, generic_rows(mechanism, seed)), cycles) for seed in (1, 2)]
        return [*map(max, *lots)], f"ranks of loops at random geometry, as {why}"
    ranks = _ranks(found, cycles)
    if min(ranks) < mechanism.freedom and found.elsewhere is not None:
        ranks = [*map(max, ranks, _ranks(found.elsewhere, cycles))]
    return ranks, ""


def _ranks(found: Examined, cycles: Sequence[Cycle]) -> list[int]:
    """Joint degrees of freedom of each loop less its own mobility; B for one that is rigid on its own."""
    mechanism, rows, ranks = found.mechanism, found.rows, []
    for bodies, joints in cycles:
        mine = rows.select(np.flatnonzero(np.isin(rows.joint, joints) & ~rows.drive))
        # The first body is fixed; only relative motions enter a loop.
        matrix = mine.matrix(np.array(bodies[1:], dtype=np.int64))
        mobility = mechanism.freedom * (len(bodies) - 1) - rank_of(matrix, found.tolerance).rank
        known = mobility and set(rows.missing).isdisjoint(joints)
        ranks.append(int(mechanism.grade[list(joints)].sum()) - mobility if known else mechanism.freedom)
    return ranks
