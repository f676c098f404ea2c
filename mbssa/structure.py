"""The frozen answer: :class:`Structure`, its groups, and how they depend on each other."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbssa.arrays import Bools, Ints, ranges
from mbssa.decomposition.flow import rows
from mbssa.decomposition.incidence import Incidence
from mbssa.decomposition.partition import Part, Partition
from mbssa.decomposition.treatment import Treatment
from mbssa.joints.catalogue import CATALOGUE, TYPE_ORDER
from mbssa.mechanism import Mechanism, Views

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse

#: Bodies up to which the results matrix is a dense array.
DENSE_RESULTS = 1_000


class Pair(NamedTuple):
    """One kinematic pair as the paper's tables print it: ``10&1U``, seen from ``body``.

    Body numbers, Table 3's code, joint index. A relation of three bodies has the others in ``others``.

    >>> str(Pair(10, (1,), "U", 0))
    '10&1U'
    """

    body: int
    others: tuple[int, ...]
    type: str
    joint: int

    def __str__(self) -> str:
        return "&".join(map(str, (self.body, *self.others))) + self.type


@dataclass(frozen=True, eq=False)
class Structure:
    """Kinematic structure of a mechanism: its structural groups in the order of solution.

    Attributes
    ----------
    mechanism : what was decomposed
    method : "matching" or "exhaustive"
    determined : whether the count determines every body: no over- or under-constrained part, and
        none that the search has not come to
    group_of_body : (N,) int64, group number of each body; 0 for the frame and for bodies in no group
    joint_group : (J,) int64, the group that a joint is solved with; 0 where it is in no group
    parts : what is not determined, over-constrained parts first
    note : remarks of the search
    treatment : redundant constraints left out and passive rotations held so that the groups could be found
        although the mobility count fails; None where it determines them
    unresolved : bodies (indices) that the search has put neither in a group nor in a part; the
        matching leaves none, the exhaustive search may

    Examples
    --------
    >>> import mbssa
    >>> structure = mbssa.decompose(mbssa.load("spatial_four_bar"))
    >>> [group.bodies for group in structure.groups]
    [(2,), (3, 4)]
    >>> structure.groups[1].type_name, structure.groups[1].depends_on
    ('1P1C1S3D', (1,))
    >>> structure.results[0]
    array([0, 1, 2, 2])
    """

    mechanism: Mechanism
    method: str
    incidence: Incidence
    group_of_body: Ints
    joint_group: Ints
    needs_start: Ints
    needs: Ints
    level_of_group: Ints
    parts: tuple[Part, ...] = ()
    note: str = ""
    unresolved: tuple[int, ...] = ()
    treatment: Treatment | None = None

    def __post_init__(self) -> None:
        for column in (self.group_of_body, self.joint_group, self.needs, self.level_of_group):
            column.flags.writeable = False

    @property
    def determined(self) -> bool:
        """Whether the count, after a treatment if there is one, determines every body.

        Necessary, not sufficient: the rank of a group can still fall short, see :func:`mbssa.check`.
        """
        return not self.parts and not self.unresolved

    @property
    def n_groups(self) -> int:
        """Number of structural groups."""
        return len(self.level_of_group)

    @property
    def groups(self) -> Sequence[Group]:
        """The groups in canonical order, made on demand; ``groups[0]`` is number 1."""
        return _Groups(self, range(1, self.n_groups + 1), Group)

    def group(self, number: int) -> Group:
        """The group with this number, as it is printed; the first is 1.

        Raises
        ------
        ValueError
            No number of a group.

        Examples
        --------
        >>> import mbssa
        >>> mbssa.decompose(mbssa.load("planar_four_bar")).group(2).bodies
        (3, 4)
        """
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not (whole and 1 <= number <= self.n_groups):
            raise ValueError(f"no group {number!r}; the groups are 1 to {self.n_groups}")
        return self.groups[int(number) - 1]

    @cached_property
    def members(self) -> tuple[Ints, Ints]:
        """Bodies by group: group g has ``members[1][members[0][g - 1] : members[0][g]]``, ascending."""
        return _rows(self.group_of_body, self.n_groups)

    @cached_property
    def _joints(self) -> tuple[Ints, Ints]:
        return _rows(self.joint_group, self.n_groups)

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """Group numbers by level: a group's level is one more than the highest it depends on."""
        start, numbers = _rows(self.level_of_group, int(self.level_of_group.max(initial=0)))
        return tuple(tuple((numbers[start[k] : start[k + 1]] + 1).tolist()) for k in range(len(start) - 1))

    @cached_property
    def results(self) -> Ints | scipy.sparse.csr_array:
        """The paper's Results_SA, (N, N): row 0 is the group of each body (0: none).

        Elsewhere ``results[y, j] = c`` where body j gives its external pair to body y: c = 1 from the
        frame, else 1 + the number of j's group (Eqs. 11 and 16). Sparse beyond 1,000 bodies.
        """
        n = self.mechanism.n_bodies
        # Bodies in no group come last: all other bodies come before them.
        turn = np.where(self.group_of_body > 0, self.group_of_body, self.n_groups + 1)
        turn[0] = 0
        one, other = self.incidence.slot_pairs()
        later, earlier = self.incidence.slot_body[one], self.incidence.slot_body[other]
        forward = turn[earlier] < turn[later]
        grouped = np.flatnonzero(self.group_of_body)
        cells = np.unique(np.stack([later[forward], earlier[forward]]), axis=1)
        row, column = np.hstack([cells, [np.zeros_like(grouped), grouped]])
        values = np.where(row > 0, turn[column] + 1, self.group_of_body[column])
        if n <= DENSE_RESULTS:
            dense = np.zeros((n, n), dtype=np.int64)
            dense[row, column] = values
            return dense
        import scipy.sparse

        return scipy.sparse.csr_array((values, (row, column)), shape=(n, n))

    @cached_property
    def dag(self) -> nx.DiGraph[int]:
        """Dependency DAG: nodes are group numbers, an edge a → b says that b needs a."""
        import networkx as nx

        dag: nx.DiGraph[int] = nx.DiGraph()
        for group in self.groups:
            dag.add_node(
                group.number,
                bodies=",".join(map(str, group.bodies)),
                type_name=group.type_name,
                level=group.level,
                n_driven=group.n_driven,
            )
        for group in self.groups:
            dag.add_edges_from((before, group.number) for before in group.depends_on)
        return dag

    @property
    def types(self) -> dict[str, int]:
        """Number of groups of each type name, in order of first appearance (Tables 9, 11, 15)."""
        return dict(Counter(group.type_name for group in self.groups))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, ready for JSON; see :mod:`mbssa.reports.structure`."""
        from mbssa.reports.structure import to_dict

        return to_dict(self)

    def __str__(self) -> str:
        from mbssa.reports.structure import structure_report

        return structure_report(self).text()

    def _repr_html_(self) -> str:
        from mbssa.reports.html import DRAWN, html_of

        picture = "mbssa.pictures:structural_graph" if self.mechanism.n_bodies <= DRAWN else None
        return html_of(self, "mbssa.reports.structure:structure_report", picture)

    def __repr__(self) -> str:
        state = "determined" if self.determined else "not determined"
        return f"<Structure of {self.mechanism.name or 'a mechanism'}: {self.n_groups} groups, {state}>"


@dataclass(frozen=True, slots=True)
class Group:
    """View of one structural group SG-number.

    ``external`` are the pairs with the frame and with earlier groups, ``internal`` those among its
    own bodies, ``assigned`` those that it gives on to later bodies; all sorted by body numbers.

    >>> import mbssa
    >>> group = mbssa.decompose(mbssa.load("rotor")).groups[3]
    >>> print(group, group.type_name, *group.external, group.depends_on, group.level)
    SG-4{11, 14, 16} 2R1U1S3D 11&9R 16&15R (1, 2) 3
    """

    structure: Structure
    number: int

    @property
    def body_indices(self) -> Ints:
        """Ascending body indices."""
        start, bodies = self.structure.members
        return bodies[start[self.number - 1] : start[self.number]]

    @property
    def bodies(self) -> tuple[int, ...]:
        """Ascending body numbers."""
        return tuple((self.body_indices + 1).tolist())

    @property
    def joint_indices(self) -> Ints:
        """Indices of the joints that are solved with this group, external and internal."""
        start, joints = self.structure._joints
        return joints[start[self.number - 1] : start[self.number]]

    @property
    def type_name(self) -> str:
        """Pairs by type in the order of Table 3, then the space: ``1R1P1U1S3D``."""
        rows = self.structure.mechanism.joint_type[self.joint_indices].tolist()
        count = Counter(CATALOGUE[row].code for row in rows)
        name = "".join(f"{count[code]}{code}" for code in sorted(count, key=TYPE_ORDER.__getitem__))
        return name + ("2D" if self.structure.mechanism.space == "planar" else "3D")

    @property
    def driven(self) -> tuple[str, ...]:
        """Driven coordinates of its joints, as ``1-2.angle``."""
        mechanism = self.structure.mechanism
        return tuple(
            f"{mechanism.joint_ids[j]}.{name}"
            for j in self.joint_indices.tolist()
            if mechanism.driven[j]
            for name in mechanism.joints[j].driven
        )

    @property
    def n_driven(self) -> int:
        """n_c of Eq. (3)."""
        return int(self.structure.mechanism.n_driven_of_joint[self.joint_indices].sum())

    @property
    def external(self) -> tuple[Pair, ...]:
        """Pairs with the frame and with earlier groups, by body numbers."""
        return self._pairs(self.joint_indices, own=False)

    @property
    def internal(self) -> tuple[Pair, ...]:
        """Pairs among its own bodies, by body numbers."""
        return self._pairs(self.joint_indices, own=True)

    @property
    def assigned(self) -> tuple[Pair, ...]:
        """Pairs that it gives on to later bodies, by body numbers."""
        incidence = self.structure.incidence
        start, bodies = incidence.body_start, self.body_indices
        touching = incidence.slot_joint[incidence.body_slot[ranges(start[bodies], start[bodies + 1])[1]]]
        given_on = np.unique(touching[self.structure.joint_group[touching] != self.number])
        return self._pairs(given_on, own=False)

    @property
    def depends_on(self) -> tuple[int, ...]:
        """Numbers of the groups that must be solved before."""
        s = self.structure
        return tuple((s.needs[s.needs_start[self.number - 1] : s.needs_start[self.number]] + 1).tolist())

    @property
    def level(self) -> int:
        """1 for a group that needs only the frame."""
        return int(self.structure.level_of_group[self.number - 1])

    def _pairs(self, joints: Ints, *, own: bool) -> tuple[Pair, ...]:
        """Pairs of these joints seen from this group; ``own`` selects those wholly inside it."""
        mechanism = self.structure.mechanism
        mine = set(self.body_indices.tolist())
        pairs = []
        for j in joints.tolist():
            ends = mechanism.joint_bodies(j)
            if all(end in mine for end in ends) != own:
                continue
            body = min(end for end in ends if end in mine)
            others = tuple(sorted(end + 1 for end in ends if end != body))
            pairs.append(Pair(body + 1, others, mechanism.joints[j].type.code, j))
        return tuple(sorted(pairs))

    def __str__(self) -> str:
        return f"SG-{self.number}{{{', '.join(map(str, self.bodies))}}}"


class _Groups(Views[Group]):
    def __repr__(self) -> str:
        shown = ", ".join(str(group) for group in self[:20])
        return f"<{len(self)} groups: {shown}{', …' if len(self) > 20 else ''}>"


def build_structure(
    mechanism: Mechanism,
    incidence: Incidence,
    partition: Partition,
    method: str,
    treatment: Treatment | None = None,
) -> Structure:
    """Number the groups of a partition canonically and order them."""
    # Of the groups that are ready, the one with fewest bodies is next, then the one with the lowest body
    # number. The result depends on which bodies form a group, not on how the search found them.
    label, count = partition.label, partition.n_groups
    first = incidence.joint_start[:-1]
    slot_label = label[incidence.slot_body]
    # Labels ascend with dependence, so a joint between groups is solved with the highest.
    owner = np.maximum.reduceat(slot_label, first)
    loose = _joints_in_no_group(incidence, partition)
    after = np.repeat(owner, np.diff(incidence.joint_start))
    units = incidence.units if treatment is None else treatment.units
    constrains = np.repeat((units > 0) & ~loose, np.diff(incidence.joint_start))
    arc = (slot_label >= 0) & (slot_label != after) & constrains
    arcs = np.unique(slot_label[arc] * max(count, 1) + after[arc])

    size = np.bincount(label[label >= 0], minlength=count)
    lowest = np.full(count, mechanism.n_bodies, dtype=np.int64)
    members = np.flatnonzero(label >= 0)
    np.minimum.at(lowest, label[members], members)
    order, level = canonical_order(size, lowest, arcs // max(count, 1), arcs % max(count, 1))

    number = np.zeros(count + 1, dtype=np.int64)  # number[-1] stays 0: in no group
    number[order] = np.arange(1, count + 1)
    group_of_body = number[label]
    # A joint without equations (an undriven F) binds nothing; it is listed with the later group.
    joint_group = np.maximum.reduceat(group_of_body[incidence.slot_body], first)
    joint_group[loose] = 0
    needs_start, needs = _csr(number[arcs % max(count, 1)] - 1, number[arcs // max(count, 1)] - 1, count)
    return Structure(
        mechanism=mechanism,
        method=method,
        incidence=incidence,
        group_of_body=group_of_body,
        joint_group=joint_group,
        needs_start=needs_start,
        needs=needs,
        level_of_group=level,
        parts=partition.parts,
        note=partition.note,
        unresolved=partition.unresolved,
        treatment=treatment,
    )


def canonical_order(size: Ints, lowest: Ints, before: Ints, after: Ints) -> tuple[Ints, Ints]:
    """Canonical order of groups: of those that are ready, fewest bodies, then lowest body; their levels."""
    waits = np.bincount(after, minlength=len(size)).tolist()
    later = rows(len(size), before, after)
    rank = np.empty_like(size)
    rank[by_rank := np.lexsort((lowest, size))] = np.arange(len(size))
    ranks, group_of = rank.tolist(), by_rank.tolist()
    heap = [ranks[group] for group, count in enumerate(waits) if not count]
    heapq.heapify(heap)
    level, order = [1] * len(size), []
    while heap:
        group = group_of[heapq.heappop(heap)]
        order.append(group)
        for other in later[group]:
            level[other] = max(level[other], level[group] + 1)
            waits[other] -= 1
            if not waits[other]:
                heapq.heappush(heap, ranks[other])
    numbers = np.array(order, dtype=np.int64)
    return numbers, np.array(level, dtype=np.int64)[numbers]


def _joints_in_no_group(incidence: Incidence, partition: Partition) -> Bools:
    """Joints (J,) that bind an over-constrained part, or have a body that no group solves."""
    # An over-constrained part goes before the groups that hang on it; an under-constrained one, and what the
    # search has not come to, go after the groups that they hang on.
    unsolved = np.zeros(incidence.n_bodies, dtype=bool)
    unsolved[list(partition.unresolved)] = True
    binds = np.zeros(len(incidence.units), dtype=bool)
    for part in partition.parts:
        if part.kind == "under":
            unsolved[list(part.bodies)] = True
        elif not part.rigid:
            binds[list(part.joints)] = True
    unsolved &= partition.label < 0  # a group with a rigid sub-chain is a part and a group
    return binds | np.logical_or.reduceat(unsolved[incidence.slot_body], incidence.joint_start[:-1])


def _csr(row: Ints, column: Ints, n_rows: int) -> tuple[Ints, Ints]:
    """Compressed rows of (row, column) entries, columns ascending."""
    order = np.lexsort((column, row))
    start = np.zeros(n_rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=n_rows), out=start[1:])
    return start, column[order]


def _rows(number: Ints, count: int) -> tuple[Ints, Ints]:
    """Items by number 1 … count, each row ascending; items numbered 0 are in no row."""
    start, items = _csr(number, np.arange(len(number)), count + 1)
    return start[1:], items
