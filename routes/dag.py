"""Dependency DAG of labelled groups, the input of the enumeration of routes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from mbssa.structure import Group, Structure

if TYPE_CHECKING:
    from groups.model import Model


@dataclass(frozen=True)
class Dag:
    """The dependency DAG of labelled groups; two groups of one label cost the same.

    Attributes
    ----------
    needs : by group (index from 0), the indices of the groups that must be solved before
    labels : by group, what kind it is; all of one kind where none are given

    Raises
    ------
    ValueError
        An index that there is not, a group that needs itself directly or in a ring, labels of another
        number than groups: all of them.

    Examples
    --------
    >>> dag = Dag(((), (0,), (0,), (1, 2)))
    >>> dag.levels, dag.height
    (((0,), (1, 2), (3,)), 3)
    """

    needs: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.needs)
        object.__setattr__(self, "needs", tuple(tuple(sorted(set(before))) for before in self.needs))
        object.__setattr__(self, "labels", tuple(self.labels) or ("",) * count)
        faults = []
        if len(self.labels) != count:
            faults.append(f"{len(self.labels)} labels for {count} groups: give one for each")
        for group, before in enumerate(self.needs):
            wrong = [other for other in before if not 0 <= other < count]
            if wrong:
                faults.append(f"group {group} needs {wrong}: indices go from 0 to {count - 1}")
        if not faults and len(self.order) < count:
            ring = sorted(set(range(count)) - set(self.order))
            faults.append(f"groups {ring} (indices) need each other in a ring, or what is in one")
        if faults:
            raise ValueError("; ".join(faults))

    @staticmethod
    def of(source: Structure | Model) -> Dag:
        """The DAG of a structure, labelled by its groups' pairs; of a model, by their solvers too.

        >>> import mbssa
        >>> dag = Dag.of(mbssa.decompose(mbssa.load("stewart_inverse")))
        >>> dag.needs
        ((), (0,), (0,), (0,), (0,), (0,), (0,))
        >>> dag.labels[0], dag.labels[1]
        ('1F3D: F*(x,y,z,angle_x,angle_y,angle_z)', '1P1U1S3D: P S* | P U*')
        """
        structure = source if isinstance(source, Structure) else source.structure
        groups = structure.groups
        needs = tuple(tuple(number - 1 for number in group.depends_on) for group in groups)
        labels = tuple(f"{group.type_name}: {_chain(group)}" for group in groups)
        if not isinstance(source, Structure):
            labels = tuple(
                f"{label}; {s.form}, {s.name} ({type(s).__name__}, {s.n_unknowns})"
                for label, s in zip(labels, source.solvers, strict=True)
            )
        return Dag(needs, labels)

    def __len__(self) -> int:
        return len(self.needs)

    @cached_property
    def needed_by(self) -> tuple[tuple[int, ...], ...]:
        """By group, the groups that name it among their needs."""
        after: list[list[int]] = [[] for _ in self.needs]
        for group, before in enumerate(self.needs):
            for other in before:
                after[other].append(group)
        return tuple(map(tuple, after))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """An order of solution: among the groups that are ready, the lowest is next."""
        missing = [len(before) for before in self.needs]
        ready = [group for group, count in enumerate(missing) if not count]
        heapify(ready)
        order = []
        while ready:
            group = heappop(ready)
            order.append(group)
            for other in self.needed_by[group]:
                missing[other] -= 1
                if not missing[other]:
                    heappush(ready, other)
        return tuple(order)

    @cached_property
    def level(self) -> tuple[int, ...]:
        """By group, its level from 0: one more than the highest that it needs."""
        level = [0] * len(self)
        for group in self.order:
            level[group] = 1 + max((level[other] for other in self.needs[group]), default=-1)
        return tuple(level)

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """The groups of each level: the stages of the fully parallel route."""
        levels: list[list[int]] = [[] for _ in range(self.height)]
        for group, level in enumerate(self.level):
            levels[level].append(group)
        return tuple(map(tuple, levels))

    @property
    def height(self) -> int:
        """Number of levels: no route has fewer stages."""
        return max(self.level, default=-1) + 1


def _chain(group: Group) -> str:
    """The pairs on each body of a group, bodies sorted; ``*`` leads to solved bodies, ``(…)`` is driven."""
    mechanism = group.structure.mechanism
    bodies: dict[int, list[str]] = {body: [] for body in group.body_indices.tolist()}
    for joint in group.joint_indices.tolist():
        view, ends = mechanism.joints[joint], mechanism.joint_bodies(joint)
        own = [end for end in ends if end in bodies]
        mark = view.type.code + "*" * (len(own) < len(ends))
        if view.driven:
            mark += f"({','.join(view.driven)})"
        for body in own:
            bodies[body].append(mark)
    count = Counter(" ".join(sorted(marks)) for marks in bodies.values())
    return " | ".join(f"{k} × {marks}" if k > 1 else marks for marks, k in sorted(count.items()))
