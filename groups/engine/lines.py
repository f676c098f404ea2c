"""Many lines of instants that begin at the reference each, such as those to the poses of a sweep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.engine.path import STRIDE, goes_on
from groups.engine.rescue import Statuses, statuses
from groups.engine.solve import Solving, plan_of, solved
from mbssa.arrays import Bools, Floats, Ints
from mbssa.joints.axes import whole_turns

if TYPE_CHECKING:
    from groups.engine.arrays import Life
    from groups.model import Model
    from groups.motion import Motion

#: Numbers of the lines that are solved together.
NUMBERS = 4_000_000


def batches(model: Model, first: Ints, stop: Ints) -> Iterator[slice]:
    """Lines whose numbers fit into some memory together."""
    most, begin = max(1, NUMBERS // plan_of(model).height), 0
    while begin < len(first):
        end = max(begin + 1, int(np.searchsorted(stop, first[begin] + most, side="right")))
        yield slice(begin, end)
        begin = end


def solve_lines(
    model: Model, motion: Motion, first: Ints, stop: Ints, compiled: bool
) -> tuple[Solving, Statuses]:
    """Solve lines from instants ``first`` to ``stop`` - 1; what is solved, and its statuses (G, T)."""
    # They go side by side; a line that is not followed so is solved by itself, which says why.
    solving = Solving(model, motion, compiled=compiled)
    plan, found = solving.plan, np.zeros((len(solving.plan.parts), len(motion.time)), dtype=np.int8)
    with np.errstate(all="ignore"):
        sound = _side_by_side(solving, first, stop)
    if not plan.unknowns:  # closed forms tell of each instant by itself
        return solving, statuses(plan, solving.life, solving.X, motion.time, solving.knots, found)
    for line in np.flatnonzero(~sound).tolist():
        span = slice(int(first[line]), int(stop[line]))
        one = solved(model, motion.within(span), compiled=compiled)
        found[:, span] = statuses(plan, one.life, one.X, one.way.time, one.knots, found[:, span])
        solving.X[:, span] = one.X
    return solving, found


def _side_by_side(solving: Solving, first: Ints, stop: Ints) -> Bools:
    """Solve lines in strides of all of them at once; which were followed to their ends."""
    plan, life, X, scale = solving.plan, solving.life, solving.X, solving.way.scale[:, None]
    inputs = X[: plan.first_body]
    behind = slice(plan.first_body, len(X))
    X[behind, first] = plan.start[behind, None]
    life.prepare(X)
    Y = X[:, first]
    life.apart(Y, len(first), np.inf)
    X[:, first] = Y
    sound = np.array(goes_on(plan, X[:, first], X[:, first], plan.alive, 0.0)[0]) | (not plan.unknowns)
    for j in range(1, int((stop - first).max(initial=0))):
        lines = np.flatnonzero(sound & (first + j < stop))
        before, at = first[lines] + j - 1, first[lines] + j
        rise, Y = inputs[:, at] - inputs[:, before], X[:, before]
        count = 1 + int((np.abs(rise[0::3]) / scale).max(initial=0.0) / STRIDE)
        for k in range(1, count + 1):
            h = 1.0 / count
            Z = onward(life, Y, inputs[:, before] + k * h * rise, h)
            sound[lines] &= goes_on(plan, Y, Z, plan.alive, h)[0] | (not plan.unknowns)
            Y = Z
        X[behind, at] = Y[behind]
    return sound


def onward(life: Life, X: Floats, inputs: Floats, h: Any) -> Floats:
    """Columns at other inputs (3 D, n), a step h behind some (height, n), from where rates lead."""
    plan, Y = life.plan, X.copy()
    Y[: plan.first_body] = inputs
    Y[plan.q] += h * (X[plan.dq] + 0.5 * h * X[plan.ddq])
    life.apart(Y, Y.shape[1], np.inf)
    if plan.wound:  # turns of angles of closed forms are counted on by their rates
        angles = plan.turning
        spins = angles - plan.record.turn + plan.record.velocity[2]
        off = X[angles] + 0.5 * h * (X[spins] + Y[spins]) - Y[angles]
        Y[angles] += np.nan_to_num(whole_turns(off))
    return Y
