"""A singular position between two time steps: where it is, and what becomes of the path there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from groups.branches.closure import Closure, Poses

#: Smallest over largest singular value, from which on a pose is not singular.
NEAR = 1e-3
#: What lies outside the image of the Jacobian, over the speeds that move the group; below it branches cross.
CROSSING = 1e-3

Kind = Literal["branches cross", "path ends", "unresolved"]
_SAID = {
    "branches cross": "two branches cross there; the group is proven up to it",
    "path ends": "the branch turns back there (workspace limit)",
    "unresolved": "no shorter step could be proven; give more instants there",
}


@dataclass(frozen=True)
class SingularPosition:
    """A place on the way at which a group's branch could not be proven to go on.

    Attributes
    ----------
    group : its number
    from_time, to_time : s, of the piece that is not proven: the group is up to its beginning; where two
        branches cross they do so some 1e-6 of an input's way (rad, or of the size) from there. Both are the
        first instant if it is on the way there from the reference
    kind : whether two branches cross, the path ends, or steps ran out
    condition : smallest over largest singular value of the group's Jacobian at ``from_time``

    >>> str(SingularPosition(2, 0.375, 0.375, "path ends", 1e-7))
    'near t = 0.375 s: the branch turns back there (workspace limit)'
    """

    group: int
    from_time: float
    to_time: float
    kind: Kind
    condition: float

    def __str__(self) -> str:
        return f"near t = {self.from_time:.5g} s: {_SAID[self.kind]}"


def singular_position(closure: Closure, group: int, at: Poses, times: Sequence[float]) -> SingularPosition:
    """Of a group (by index), from its last proven pose.

    By the left null vector y of J: with y·F_t = 0 for the rates F_t of what moves the group two branches
    cross, else the path turns back (Keller 1977).
    """
    of = closure.linearised(at)
    jacobian, condition, kind = of.jacobian[0], 0.0, "unresolved"
    if np.isfinite(jacobian).all():
        left, values, _ = np.linalg.svd(jacobian)
        condition = float(values[-1] / values[0])
        # What is still where own unknowns stand still; of free slides and rods y sees nothing.
        moved = of.residual_rate[0] - of.jacobian[0] @ of.rate[0]
        speeds = [at.rate[0], at.velocity[0, closure.known], at.spin[0, closure.known]]
        outside = abs(left[:, closure.n - 1] @ moved) / max(
            *(float(np.abs(v).max(initial=0.0)) for v in speeds), 1e-300
        )
        if condition < NEAR:
            kind = "branches cross" if outside < CROSSING else "path ends"
    return SingularPosition(group + 1, float(times[0]), float(times[1]), kind, condition)  # type: ignore[arg-type]
