"""A singular position between two time steps: where it is, and what becomes of the path there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.branches.prover import with_axes
from groups.branches.theorem import by_equations, coordinates_of
from groups.results.faults import Kind, SingularPosition
from mbssa.graph.evaluation import evaluated

if TYPE_CHECKING:
    from groups.engine.plan import Plan
    from mbssa.arrays import Floats
    from mbssa.graph.nodes import Number

#: Smallest over largest singular value, from which on a pose is not singular.
NEAR = 1e-3
#: Part of the load outside the image of the Jacobian, over the speeds that move the group; below it branches
#: cross.
CROSSING = 1e-3
#: How many times as long as the piece that is not proven the way to where a path turns back may seem.
TURNING = 20.0


def singular_position(plan: Plan, group: int, column: Floats, times: Sequence[float]) -> SingularPosition:
    """Singular position of a group (by index), from the column of its last proven pose."""
    # By the left null vector y of J: if y·F_t = 0 for the rates F_t of what moves the group, two branches
    # cross, else the path turns back (Keller 1977).
    kind: Kind = "unresolved"
    jacobian, moved, speed = _linearised(plan, group, column)
    condition = 0.0
    if jacobian.size and np.isfinite(jacobian).all():
        left, values, _ = np.linalg.svd(jacobian)
        condition = float(values[-1] / values[0])
        outside = abs(left[:, jacobian.shape[1] - 1] @ moved) / max(speed * values[0], 1e-300)
        if condition < NEAR and outside < CROSSING:
            kind = "branches cross"
        elif condition < NEAR and _left(plan, group, column) < TURNING * (times[1] - times[0]):
            kind = "path ends"
    return SingularPosition(group + 1, float(times[0]), float(times[1]), kind, condition)


def _left(plan: Plan, group: int, column: Floats) -> float:
    """Time until a path turns back by its rates, 0 of a closed form; infinite where it gets no faster."""
    # There the unknowns go as the root of the time that is left. A path that only turns fast near another
    # branch, over which steps may be as hard to prove, goes on.
    part = plan.parts[group]
    if part.group.direct:
        return 0.0
    v, a = (column[part.state + k * plan.unknowns] / part.routine.scales for k in (1, 2))
    return float(v @ v) / (2.0 * max(float(v @ a), 1e-300))


def _linearised(plan: Plan, group: int, column: Floats) -> tuple[Floats, Floats, float]:
    """Jacobian (rows, n) by unknowns over their sizes, rates of rows by what moves the group, its speed."""
    part, column = plan.parts[group], with_axes(plan, column[:, None])[:, 0]
    own, routine, geometry = part.group, part.routine, part.geometry
    if part.group.direct:
        own, routine = by_equations(plan, part, {})
        geometry = routine.geometry(own)
    q: list[Number] = column[part.state].tolist()

    def of(name: str, k: Any) -> Number:
        if name in ("g", "q"):
            return (geometry if name == "g" else q)[k]
        return float(column[plan.rows_of(own, [(name, k)])[0]])

    if part.group.direct:
        q = evaluated(coordinates_of(routine), of)
    with np.errstate(all="ignore"):
        rows = [evaluated(row, of) for row in routine.jacobian]
        J = np.array(rows).reshape(len(rows), routine.n) * routine.scales
        moved = np.array(evaluated(routine.first_side, of))
    drives = [3 * row for row in own.uses.drives]
    speeds = [np.abs(column[row + 1]) / plan.scale_of_inputs[row // 3] for row in drives]
    for b in own.uses.bodies.keys() - set(own.own):
        velocity = np.abs(column[plan.rows_of_body(b)[list(plan.record.velocity)]])
        n = len(plan.record.position)
        speeds += [velocity[:n].max() / plan.size, velocity[n:].max()]
    return J, moved, float(max(speeds, default=0.0))
