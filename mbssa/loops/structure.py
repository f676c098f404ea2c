"""The frozen answer of a linear graph algorithm: loops, and the modules in which they are solved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from mbssa.loops.merging import Substructure
from mbssa.mechanism import Mechanism

if TYPE_CHECKING:
    import networkx as nx

Method = Literal["basis", "wehage"]


@dataclass(frozen=True, slots=True)
class Loop:
    """One closed loop.

    Attributes
    ----------
    number : from 1
    bodies : body numbers in the order in which the loop is run through, the lowest first
    joints : joint indices; ``joints[k]`` joins ``bodies[k]`` and the next, the last one closes the loop
    driven, unknown : coordinates of its joints, as ``1-2.angle``
    rank : closure equations: B, or fewer where the joints of the loop span less (see
        :func:`independent_loops`)
    redundant : of these, how many follow from other loops and are left out
    cut : the joint that the user or the spanning tree cuts open, None for a minimum cycle basis

    >>> from mbssa.loops import independent_loops
    >>> import mbssa
    >>> loop = independent_loops(mbssa.load("nine_bar")).loops[1]
    >>> loop.bodies, loop.equations, loop.unknown
    ((1, 6, 5, 7, 8, 9), 3, ('1-6.angle', '5-6.angle', '5-7.angle', '7-8.angle', '8-9.angle'))
    """

    number: int
    bodies: tuple[int, ...]
    joints: tuple[int, ...]
    driven: tuple[str, ...]
    unknown: tuple[str, ...]
    rank: int
    redundant: int = 0
    cut: int | None = None

    @property
    def n_coordinates(self) -> int:
        """Weight that the minimum cycle basis minimises: the sum of the joint degrees of freedom."""
        return len(self.driven) + len(self.unknown)

    @property
    def equations(self) -> int:
        """Closure equations that are solved."""
        return self.rank - self.redundant

    def __str__(self) -> str:
        return f"CL-{self.number}{{{', '.join(map(str, self.bodies))}}}"


@dataclass(frozen=True, slots=True)
class Module:
    """Loops that must be solved together, and their results.

    Attributes
    ----------
    number : from 1, in the order of solution
    loops : numbers
    equations : closure equations of these loops
    computes : the coordinates that they determine (``state`` "under": those that they would have to)
    known : coordinates in them that are driven or computed before
    cuts : joint indices, one for each loop: opened there, the loop has fewer equations and unknowns
    size : unknowns that are left when the loops are opened at the cuts
    state : "sound"; "over", with more equations than coordinates, or "under", with fewer
    depends_on : numbers of the modules that must be solved before
    level : 1 for a module that needs the driven coordinates alone

    >>> from mbssa.loops import independent_loops
    >>> import mbssa
    >>> module = independent_loops(mbssa.load("nine_bar")).modules[1]
    >>> module.computes, module.known, module.size, module.depends_on
    (('5-7.angle', '7-8.angle', '8-9.angle'), ('1-9.angle', '5-6.angle', '1-6.angle'), 2, (1,))
    """

    number: int
    loops: tuple[int, ...]
    equations: int
    computes: tuple[str, ...]
    known: tuple[str, ...]
    cuts: tuple[int, ...]
    size: int
    state: Literal["sound", "over", "under"]
    depends_on: tuple[int, ...]
    level: int

    @property
    def unknowns(self) -> int:
        """Number of unknowns."""
        return len(self.computes)

    def __str__(self) -> str:
        return f"{self.number}: " + " + ".join(f"CL-{number}" for number in self.loops)


@dataclass(frozen=True, eq=False)
class LoopStructure:
    """Independent loops of a mechanism and the order in which they are solved.

    Attributes
    ----------
    mechanism : analysed
    method : "basis", a minimum cycle basis, or "wehage", the substructures of a spanning tree
    loops : Eq. (1) many
    modules : in the order of solution
    substructures : Wehage's, before the order of solution was looked for; empty for a basis
    n_apart : modules that there would be if merged loops did not have to stay together
    open : coordinates of joints in no loop that are not driven: no loop can compute them
    left_out : joint indices that no loop can pass: joints of three bodies, and undriven free bodies (F)
    held : coordinates of locked passive rotations, which are no unknowns
    notes : assumptions

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.loops import independent_loops
    >>> found = independent_loops(mbssa.load("rotor"))
    >>> print(*found.loops[:2], found.levels)
    CL-1{1, 10, 9, 13} CL-2{1, 3, 6, 9, 13} ((1, 3), (2, 4, 5), (6,))
    """

    mechanism: Mechanism
    method: Method
    loops: tuple[Loop, ...]
    modules: tuple[Module, ...]
    n_apart: int
    substructures: tuple[Substructure, ...] = ()
    open: tuple[str, ...] = ()
    left_out: tuple[int, ...] = ()
    held: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def determined(self) -> bool:
        """Whether the loops determine every coordinate, and none too often.

        A count: long loops can hide what short ones show, and :func:`mbssa.check` what no count shows.
        """
        three = any(len(self.mechanism.joint_bodies(joint)) > 2 for joint in self.left_out)
        return not (self.open or three) and all(module.state == "sound" for module in self.modules)

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """Module numbers by level; those of one level can be solved side by side."""
        highest = max((module.level for module in self.modules), default=0)
        return tuple(
            tuple(module.number for module in self.modules if module.level == level)
            for level in range(1, highest + 1)
        )

    @cached_property
    def dag(self) -> nx.DiGraph[int]:
        """The kinematic graph: nodes are module numbers, an edge a → b says that b needs a."""
        import networkx as nx

        dag: nx.DiGraph[int] = nx.DiGraph()
        for module in self.modules:
            dag.add_node(module.number, loops=",".join(map(str, module.loops)), level=module.level)
        for module in self.modules:
            dag.add_edges_from((before, module.number) for before in module.depends_on)
        return dag

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, ready for JSON."""
        from mbssa.reports.loops import to_dict

        return to_dict(self)

    def __str__(self) -> str:
        from mbssa.reports.loops import loops_report

        return loops_report(self).text()

    def __repr__(self) -> str:
        name = self.mechanism.name or "a mechanism"
        return f"<LoopStructure of {name}: {len(self.loops)} loops in {len(self.modules)} modules>"
