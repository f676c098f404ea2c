"""A singular position between two time steps: where it is, and what becomes of the path there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groups.branches.closure import Closure
from groups.branches.states import States
from groups.results.singular import Kind, SingularPosition

#: Smallest over largest singular value, from which on a pose is not singular.
NEAR = 1e-3
#: Part of the load outside the image of the Jacobian, over the speeds that move the group; below it branches
#: cross.
CROSSING = 1e-3


def singular_position(closure: Closure, group: int, at: States, times: Sequence[float]) -> SingularPosition:
    """Singular position of a group (by index), from its last proven pose."""
    # By the left null vector y of J: if y·F_t = 0 for the rates F_t of what moves the group, two branches
    # cross, else the path turns back (Keller 1977).
    of = closure.linearised(at)
    jacobian, condition = of.jacobian[0], 0.0
    kind: Kind = "unresolved"
    if jacobian.size and np.isfinite(jacobian).all():
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
    return SingularPosition(group + 1, float(times[0]), float(times[1]), kind, condition)
