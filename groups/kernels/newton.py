"""Newton on the closure equations of a group, from a pose near the solution, and how near one can get."""

from __future__ import annotations

import math

from groups.kernels.layout import (
    FACTORS,
    FRESH,
    LOOKED,
    MEASURE,
    RUN,
    SIGN,
    Equations,
    Group,
    Pose,
    Rows,
    Tree,
    group_of,
    rows_of,
)
from groups.kernels.linear import factorise, substitute
from groups.kernels.loop_closure import jacobian, residuals
from groups.kernels.path import recall
from groups.kernels.tree import forward, move
from groups.status import NOT_CONVERGED, OK, SINGULAR
from mbssa.arrays import Floats, Ints
from mbssa.compiled import merged, separate

#: (status, Newton steps, residual, sign of the determinant, condition)
Answer = tuple[int, int, float, float, float]

#: Newton steps before a time step counts as not converged, and those that polish a closed form.
MOST, POLISH = 25, 3
#: Newton factorises anew at every so manieth time step; in between, factors may serve once more.
EVERY = 4
#: Condition below which a Newton step has no direction.
NONE = 1e-14
#: Steps of damped least squares where nothing closes, and the largest of them, rad or of the size.
NEARER, CAREFUL = 80, 0.5


def place(tree: Tree, pose: Pose, equations: Equations) -> None:
    """Place the own bodies for the unknowns; the jets are of another pose now."""
    forward(tree, pose)
    equations.flags[LOOKED] = 0.0


def linearise(g: Group, rows: Rows | None) -> tuple[float, float]:
    """Jacobian and its factors at the present pose: sign of the determinant and condition."""
    scale = jacobian(g, rows, g.equations.matrix, False)
    sign, smallest, _ = factorise(g.equations.matrix, g.equations.order)
    return sign, smallest / scale


@merged
def by_chord(g: Group, rows: Rows | None, instant: int) -> Answer:
    """One step with the factors of a time step just before; not converged where that does not close."""
    equations = g.equations
    if instant % EVERY == 0 or equations.flags[FACTORS] == 0.0 or g.memory.head[RUN] < 3.0:
        return NOT_CONVERGED, 0, math.nan, 0.0, 0.0
    right = equations.right
    place(g.tree, g.pose, equations)
    if not residuals(g, rows) < 1e300:
        return NOT_CONVERGED, 0, math.nan, 0.0, 0.0
    substitute(equations.matrix, equations.order, right)
    for k in range(len(right)):
        right[k] *= -g.tree.scale[k]
    move(g.tree, g.pose, right)
    place(g.tree, g.pose, equations)
    worst = residuals(g, rows)
    status = OK if worst <= g.cuts.limit[1] else NOT_CONVERGED
    return status, 1, worst, g.memory.head[SIGN], equations.flags[MEASURE]


def newton(g: Group, rows: Rows | None, most: int, may_stand: bool) -> Answer:
    """Solve for the unknowns from where they are."""
    equations, right = g.equations, g.equations.right
    status, steps, worst, sign, condition = NOT_CONVERGED, 0, math.nan, 0.0, 0.0
    while True:
        place(g.tree, g.pose, equations)
        worst = residuals(g, rows)
        done = worst <= g.cuts.limit[1] and (steps > 0 or may_stand)
        if done:
            status = OK
        if (done and steps > 0) or steps >= most or not worst < 1e300:
            break
        sign, condition = linearise(g, rows)
        equations.flags[FACTORS] = 1.0
        equations.flags[MEASURE] = condition
        if done:
            equations.flags[FRESH] = 1.0
            break
        if not condition > NONE:
            status = SINGULAR
            break
        substitute(equations.matrix, equations.order, right)
        largest = 0.0
        for k in range(len(right)):
            largest = max(largest, abs(right[k]))
        share = -1.0 if largest <= 0.5 else -0.5 / largest
        for k in range(len(right)):
            right[k] *= share * g.tree.scale[k]
        move(g.tree, g.pose, right)
        steps += 1
    return status, steps, worst, sign, condition


def cuts_from(ints: Ints, floats: Floats, memory: Floats, work: Floats, most: int) -> int:
    """Newton from the unknowns in ``work`` of a group that pins and rods close; the status."""
    return newton(group_of(ints, floats, memory, work), None, most, False)[0]


def rows_from(ints: Ints, floats: Floats, memory: Floats, work: Floats, most: int) -> int:
    """Newton from the unknowns in ``work`` of a group with joint equations; the status."""
    g = group_of(ints, floats, memory, work)
    return newton(g, rows_of(ints, floats, work), most, False)[0]


@separate
def approach(g: Group, rows: Rows | None) -> float:
    """Go from the last time step as near to closing as it gets; returns the largest residual left, m."""
    tree, pose, equations, path = g.tree, g.pose, g.equations, g.path
    n, right, matrix = len(pose.x), equations.right, equations.matrix
    normal, order, by, slope = equations.normal, equations.normal_order, equations.by, equations.slope
    recall(g, rows)
    place(tree, pose, equations)
    worst = residuals(g, rows)
    least, damping, better = square_of(right), 1e-3, True
    for _ in range(NEARER):
        if not least < math.inf or least == 0.0 or damping > 1e9:
            break
        if better:
            jacobian(g, rows, matrix, False)
            for i in range(n):
                total = 0.0
                for r in range(n):
                    total += matrix[r, i] * right[r]
                slope[i] = total
            for k in range(n):
                path.other[k] = pose.x[k]
            for b in range(len(pose.ball)):
                for m in range(9):
                    path.other_ball[b, m] = pose.ball[b, m]
        for i in range(n):
            for j in range(n):
                total = damping if i == j else 0.0
                for r in range(n):
                    total += matrix[r, i] * matrix[r, j]
                normal[i, j] = total
            by[i] = slope[i]
        factorise(normal, order)
        substitute(normal, order, by)
        largest = 0.0
        for k in range(n):
            largest = max(largest, abs(by[k]))
        share = -1.0 if largest <= CAREFUL else -CAREFUL / largest
        for k in range(n):
            path.change[k] = share * by[k] * tree.scale[k]
        move(tree, pose, path.change)
        place(tree, pose, equations)
        residuals(g, rows)
        square = square_of(right)
        better = square < least
        if better:
            least = square
            damping *= 0.2
        else:
            damping *= 8.0
            for k in range(n):
                pose.x[k] = path.other[k]
            for b in range(len(pose.ball)):
                for m in range(9):
                    pose.ball[b, m] = path.other_ball[b, m]
    place(tree, pose, equations)
    worst = residuals(g, rows)
    # The Jacobian lies where factors were.
    equations.flags[FACTORS], equations.flags[FRESH] = 0.0, 0.0
    return worst


def square_of(numbers: Floats) -> float:
    """Sum of the squares of some numbers."""
    total = 0.0
    for k in range(len(numbers)):
        total += numbers[k] * numbers[k]
    return total
