"""The tree of a group: where its bodies are at given unknowns, and how they move at given rates."""

from __future__ import annotations

from groups.kernels.layout import BALL_X, BALL_Z, SLIDE, STILL, Equations, Pose, Rates, Tree
from groups.kernels.trigonometry import sine_cosine
from groups.kernels.vectors import (
    ACCELERATION,
    POSITION,
    ROTATION,
    SPIN,
    SPIN_RATE,
    VELOCITY,
    Vector,
    cross,
    exponential,
    matrix_of,
    minus,
    plus,
    plus_times,
    product,
    put_matrix_of,
    put_of,
    rotate,
    times,
    turned_by,
    vector_in,
    vector_of,
)
from mbssa.arrays import Floats
from mbssa.compiled import merged


@merged
def forward(tree: Tree, pose: Pose) -> None:
    """Place the own bodies for the unknowns ``pose.x``; axis and point of every step, in the world."""
    stage, known = pose.stage, len(tree.known)
    ball = 0
    for link in range(len(tree.own)):
        parent = tree.parent[link]
        p, R = vector_of(stage, parent, POSITION), matrix_of(stage, parent, ROTATION)
        turned = 0.0
        for s in range(tree.first_step[link], tree.first_step[link + 1]):
            kind = tree.kind[s]
            if kind == STILL:
                c = tree.constant[s]
                p = plus(p, rotate(R, vector_of(tree.transform, c, 0)))
                R = product(R, matrix_of(tree.transform, c, 3))
                continue
            k = tree.axis[s]
            along = (R[k], R[3 + k], R[6 + k])
            factor = tree.factor[s]
            put_of(pose.along, s, 0, times(factor, along))
            put_of(pose.point, s, 0, p)
            if kind >= BALL_X:
                if kind == BALL_Z:
                    R = product(R, matrix_of(pose.ball, ball, 0))
                    ball += 1
                continue
            unknown = tree.unknown[s]
            amount = factor * (pose.x[unknown] if unknown >= 0 else pose.u[tree.drive[s]])
            if kind == SLIDE:
                p = plus_times(p, amount, along)
            else:
                sine, cosine = sine_cosine(amount)
                R = turned_by(R, k, cosine, sine)
                turned += amount
        put_of(stage, known + link, POSITION, p)
        put_matrix_of(stage, known + link, ROTATION, R)
        if tree.planar == 1:
            pose.turned[known + link] = pose.turned[parent] + turned + tree.turn_zero[link]


def move(tree: Tree, pose: Pose, step: Floats) -> None:
    """Change the unknowns by a step (n,); balls turn by small rotation vectors."""
    for k in range(len(pose.x)):
        pose.x[k] += step[k]
    ball = 0
    for s in range(len(tree.kind)):
        if tree.kind[s] == BALL_X:
            turn = exponential(vector_in(step, tree.unknown[s]))
            put_matrix_of(pose.ball, ball, 0, product(turn, matrix_of(pose.ball, ball, 0)))
            ball += 1


def swing_known(tree: Tree, pose: Pose, rates: Rates) -> None:
    """Twists of the known bodies and their rates at the group's centre."""
    centre, stage = vector_in(tree.centre, 0), pose.stage
    for k in range(len(tree.known)):
        arm = minus(vector_of(stage, k, POSITION), centre)
        w, v = vector_of(stage, k, SPIN), vector_of(stage, k, VELOCITY)
        wd, a = vector_of(stage, k, SPIN_RATE), vector_of(stage, k, ACCELERATION)
        put_of(rates.twist, k, 0, w)
        put_of(rates.twist, k, 3, minus(v, cross(w, arm)))
        put_of(rates.rise, k, 0, wd)
        put_of(rates.rise, k, 3, minus(minus(a, cross(wd, arm)), cross(w, v)))


@merged
def swing(
    tree: Tree, pose: Pose, rates: Rates, inputs: tuple[Floats, Floats, Floats], instant: int, level: int
) -> None:
    """Velocities of the own bodies along the tree at ``rates.first``; from level 2 on, accelerations too."""
    centre, stage = vector_in(tree.centre, 0), pose.stage
    for link in range(len(tree.own)):
        parent = tree.parent[link]
        w, v = vector_of(rates.twist, parent, 0), vector_of(rates.twist, parent, 3)
        wd, a = vector_of(rates.rise, parent, 0), vector_of(rates.rise, parent, 3)
        w_before, v_before = w, v
        for s in range(tree.first_step[link], tree.first_step[link + 1]):
            kind = tree.kind[s]
            if kind == STILL:
                continue
            unknown = tree.unknown[s]
            if unknown >= 0:
                rate, rise = rates.first[unknown], 0.0
            else:
                row = tree.drive[s]
                rate, rise = inputs[1][row, instant], inputs[2][row, instant]
            if kind <= BALL_X:  # the turns of one ball are seen from the same frame
                w_before, v_before = w, v
            along = vector_of(pose.along, s, 0)
            if kind == SLIDE:
                if level == 2:
                    a = plus(plus_times(a, rise, along), times(rate, cross(w_before, along)))
                v = plus_times(v, rate, along)
                continue
            moment = cross(along, minus(centre, vector_of(pose.point, s, 0)))
            if level == 2:
                bend = plus(cross(w_before, moment), cross(v_before, along))
                wd = plus(plus_times(wd, rise, along), times(rate, cross(w_before, along)))
                a = plus(plus_times(a, rise, moment), times(rate, bend))
            w, v = plus_times(w, rate, along), plus_times(v, rate, moment)
        k = len(tree.known) + link
        put_of(rates.twist, k, 0, w)
        put_of(rates.twist, k, 3, v)
        arm = minus(vector_of(stage, k, POSITION), centre)
        speed: Vector = plus(v, cross(w, arm))
        put_of(stage, k, VELOCITY, speed)
        put_of(stage, k, SPIN, w)
        if level == 2:
            put_of(rates.rise, k, 0, wd)
            put_of(rates.rise, k, 3, a)
            put_of(stage, k, ACCELERATION, plus(plus(a, cross(wd, arm)), cross(w, speed)))
            put_of(stage, k, SPIN_RATE, wd)


def rise(tree: Tree, pose: Pose, equations: Equations, rates: Rates) -> None:
    """Add what the accelerations ``rates.second`` of the unknowns do to the own bodies."""
    centre, stage = vector_in(tree.centre, 0), pose.stage
    for k in range(len(tree.known), len(stage)):
        arm = minus(vector_of(stage, k, POSITION), centre)
        for m in range(len(rates.second)):
            if tree.influence[k, m] == 1:
                amount = rates.second[m]
                w, v = vector_of(equations.unit, m, 0), vector_of(equations.unit, m, 3)
                more = plus(v, cross(w, arm))
                put_of(stage, k, SPIN_RATE, plus_times(vector_of(stage, k, SPIN_RATE), amount, w))
                put_of(stage, k, ACCELERATION, plus_times(vector_of(stage, k, ACCELERATION), amount, more))
