"""One part of a DAG whose routes are searched by themselves, with costs as integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from routes.enumeration.listing import State, canonical
from routes.enumeration.parts import members
from routes.enumeration.symmetry import Shape


@dataclass(frozen=True, eq=False)
class Part:
    """Groups of a DAG, the dearest first, that other groups come wholly before or wholly after.

    Costs are integers, so that equal routes have equal sums: a stage costs ``stage`` and the larger of
    ``workers`` times its dearest group and all its groups together.

    Attributes
    ----------
    groups : indices in the DAG
    cost : by group, none dearer than the one before
    needs : by group, a bit mask of groups of the part
    twin : by group, a bit mask of the one that must not come later, since it is the same; or 0
    shape : of the part; ``places`` has the groups (indices here) at the places of the shape
    """

    groups: tuple[int, ...]
    cost: tuple[int, ...]
    needs: tuple[int, ...]
    twin: tuple[int, ...]
    stage: int
    workers: int
    shape: Shape
    places: tuple[int, ...]

    @cached_property
    def all(self) -> int:
        """The set of all groups."""
        return (1 << len(self.groups)) - 1

    @cached_property
    def alike(self) -> bool:
        """Whether routes can be the same in other ways than by exchanging single groups."""
        return _alike(self.shape)

    def ready(self, done: int) -> int:
        """The groups that can be solved after the groups ``done``."""
        left = self.all & ~done
        return sum(1 << x for x in members(left) if not self.needs[x] & ~done)

    def stage_cost(self, dearest: int, together: int) -> int:
        return self.stage + max(self.workers * dearest, together)

    def same(self, stages: Sequence[int], undecided: int = 0) -> State:
        """The same for all beginnings of routes that symmetry makes one.

        Sets of groups by stage, and of those that can still join the last.
        """
        stage_of = [0] * len(self.groups)
        for x in members(undecided):
            stage_of[x] = -1
        for number, mask in enumerate(stages, start=1):
            for x in members(mask):
                stage_of[x] = number
        return canonical(self.shape, [stage_of[x] for x in self.places])


def _alike(shape: Shape) -> bool:
    if shape.turns:
        return True
    large = [part for part in shape.parts if part.kind != "single"]
    if shape.kind == "parallel" and len({part.number for part in large}) < len(large):
        return True
    return any(map(_alike, large))
