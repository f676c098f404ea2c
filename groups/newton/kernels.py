"""Newton on one structural group over a whole motion, compiled: position, velocity, acceleration.

Every equation is built from two scalars of a pair of frames (Haug 1989, chapter 9): ``dot-2``, an axis
of A times the vector from A's origin to B's, and ``dot-1``, an axis of A times an axis of B. Each is a
*jet* of 15 numbers: its value, its derivative by the twists (v_A, w_A, v_B, w_B) of the two bodies in world
axes about their origins, its second time derivative at zero accelerations, and its first. Angles, distances
and screws are composed of jets by the chain rule, so one table serves all three levels of answer exactly.

Arrays: ``position`` (N, T, 3) and ``rotation`` (N, T, 3, 3) of every body, ``velocity`` and
``acceleration`` (N, T, 6): linear of the origin, then angular, world axes. The group's own bodies are
written, all others are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
#: Bundles of arrays; :func:`solve_group` says what is in each.
Equations = tuple[Array, Array, Array, Array, Array, Array, Array, Array]
Inputs = tuple[Array, Array, Array]
Poses = tuple[Array, Array, Array, Array]
Quality = tuple[Array, Array, Array]
#: bodies; place of each body among them, -1 outside; columns
Group = tuple[Array, Array, Array]
#: matrix, right side, velocity of known bodies, curvature, jets, jet
Work = tuple[Array, Array, Array, Array, Array, Array]

ALONG, COSINE, TURN, CARDAN, DISTANCE, AZIMUTH, ELEVATION, SCREW, OFFSET, SPIN = range(10)

OK, NOT_CONVERGED, SINGULAR, NOT_REACHED = range(4)


def solve_group(
    bodies: Array,
    columns: Array,
    equations: Equations,
    drive: Array,
    time: Array,
    inputs: Inputs,
    poses: Poses,
    quality: Quality,
    tolerance: float,
    most: int,
) -> None:
    """Solve one group at every instant, warm-started from the instant before, in place.

    Parameters
    ----------
    bodies : (n,) body indices of the group; their poses at instant 0 start Newton
    columns : (c,) which of v_x, v_y, v_z, w_x, w_y, w_z are unknown
    equations : pair (J, 2) body indices; origin (J, 2, 3) and axes (J, 2, 3, 3), the joints' local frames;
        and of each equation code, joint, number (4), sign, parameter, as in :mod:`mbssa.joints.equations`
    drive : (E,) row of the inputs; -1 for a constraint
    inputs : value, rate, acceleration (D, T)
    poses : position, rotation, velocity, acceleration of all bodies
    quality : status, residual (m or rad), iterations, (T,) each
    """
    status, residual, iterations = quality
    position, rotation, _, _ = poses
    pair, code = equations[0], equations[3]
    n, c, n_rows = len(bodies), len(columns), len(code)
    place = np.full(position.shape[0], -1, dtype=np.int64)
    for k in range(n):
        place[bodies[k]] = k
    group = (bodies, place, columns)
    work = (
        np.zeros((n_rows, n * c)),
        np.zeros(n_rows),
        np.zeros(n_rows),
        np.zeros(n_rows),
        np.zeros((5, 15)),
        np.zeros(15),
    )
    right = work[1]
    last = -1
    for t in range(len(time)):
        if last >= 0:
            predict(bodies, time[t] - time[last], last, t, poses)
        elif t > 0:
            for k in range(n):
                position[bodies[k], t] = position[bodies[k], 0]
                rotation[bodies[k], t] = rotation[bodies[k], 0]
        sound = True
        for k in range(len(pair)):
            for side in range(2):
                b = pair[k, side]
                if place[b] < 0 and not np.isfinite(position[b, t, 0]):
                    sound = False
        if not sound:
            status[t] = NOT_REACHED
            void(bodies, t, poses)
            continue
        status[t] = NOT_CONVERGED
        worst = np.inf
        for iteration in range(most):
            iterations[t] = iteration
            assemble(t, group, equations, drive, inputs, poses, work, False)
            worst = 0.0
            for r in range(n_rows):
                worst = max(worst, abs(right[r]))
            if not np.isfinite(worst):
                break
            if worst <= tolerance and iteration > 0:
                status[t] = OK
                break
            step, regular = solved(work[0], right)
            if not regular:
                status[t] = SINGULAR
                break
            largest = 0.0
            for k in range(n * c):
                largest = max(largest, abs(step[k]))
            # Half a radian or half a metre is as far as a linear model is trusted.
            scale = 1.0 if largest <= 0.5 else 0.5 / largest
            for k in range(n):
                move(bodies[k], t, step[k * c : (k + 1) * c] * scale, columns, position, rotation)
        residual[t] = worst
        if status[t] == OK:
            status[t] = levels(t, group, equations, drive, inputs, poses, work)
        if status[t] != OK:
            void(bodies, t, poses)
            continue
        last = t


def levels(
    t: Any, group: Group, equations: Equations, drive: Array, inputs: Inputs, poses: Poses, work: Work
) -> Any:
    """Velocity and acceleration at an instant whose positions are solved; the status."""
    bodies, _, columns = group
    matrix, right, known, curve, _, _ = work
    n, c = len(bodies), len(columns)
    for k in range(n):
        poses[2][bodies[k], t] = 0.0
        poses[3][bodies[k], t] = 0.0
    for level in range(2):
        # First with the group at rest: what the known bodies' velocities do. Then the curvature terms
        # of all velocities, and the known bodies' accelerations.
        assemble(t, group, equations, drive, inputs, poses, work, True)
        if level == 1:
            carried(t, group, equations, poses, work)
        for r in range(len(right)):
            driven = 0.0
            if drive[r] >= 0:
                driven = inputs[1][drive[r], t] if level == 0 else inputs[2][drive[r], t]
            right[r] = driven - known[r] - (curve[r] if level == 1 else 0.0)
        answer, regular = solved(matrix, right)
        if not regular:
            return SINGULAR
        for k in range(n):
            for m in range(c):
                if level == 0:
                    poses[2][bodies[k], t, columns[m]] = answer[k * c + m]
                else:
                    poses[3][bodies[k], t, columns[m]] = answer[k * c + m]
    return OK


def carried(t: Any, group: Group, equations: Equations, poses: Poses, work: Work) -> None:
    """``known`` (E,): what the accelerations of bodies outside the group do to each equation."""
    place = group[1]
    pair, joint = equations[0], equations[4]
    _, _, known, _, _, jet = work
    for r in range(len(known)):
        evaluate(t, r, equations, poses, work)
        total = 0.0
        for side in range(2):
            b = pair[joint[r], side]
            if place[b] < 0:
                for m in range(6):
                    total += jet[1 + 6 * side + m] * poses[3][b, t, m]
        known[r] = total


def assemble(
    t: Any,
    group: Group,
    equations: Equations,
    drive: Array,
    inputs: Inputs,
    poses: Poses,
    work: Work,
    moving: bool,
) -> None:
    """Jacobian, minus residual, and with ``moving`` the velocity of known bodies and the curvature."""
    _, place, columns = group
    pair, code, joint = equations[0], equations[3], equations[4]
    matrix, right, known, curve, _, jet = work
    c = len(columns)
    for r in range(len(code)):
        k = joint[r]
        evaluate(t, r, equations, poses, work)
        miss = jet[0]
        if drive[r] >= 0:
            miss -= inputs[0][drive[r], t]
            if code[r] in (TURN, CARDAN, AZIMUTH, ELEVATION):
                miss -= 2 * np.pi * np.round(miss / (2 * np.pi))
        right[r] = -miss
        for column in range(matrix.shape[1]):
            matrix[r, column] = 0.0
        total = 0.0
        for side in range(2):
            b = pair[k, side]
            if place[b] >= 0:
                for m in range(c):
                    matrix[r, place[b] * c + m] += jet[1 + 6 * side + columns[m]]
            elif moving:
                for m in range(6):
                    total += jet[1 + 6 * side + m] * poses[2][b, t, m]
        known[r] = total
        curve[r] = jet[13]


def evaluate(t: Any, r: Any, equations: Equations, poses: Poses, work: Work) -> None:
    """The jet of equation r: value, 12 derivatives, curvature, rate."""
    _, _, _, code, joint, number, sign, parameter = equations
    jets, jet = work[4], work[5]
    k = joint[r]
    what = code[r]
    if what in (ALONG, OFFSET):
        dot_2(t, k, number[r, 0], equations, poses, jet)
        if what == ALONG:
            jet[0] -= parameter[r]
        elif number[r, 0] < 2:
            # The common normal z_A × z_B has the components (-C[1, 2], C[0, 2], 0) in A.
            first, factor = (1, 1.0) if number[r, 0] == 0 else (0, -1.0)
            dot_1(t, k, first, 2, equations, poses, jets[0])
            for m in range(15):
                jet[m] += factor * parameter[r] * jets[0, m]
    elif what == COSINE:
        dot_1(t, k, number[r, 0], number[r, 1], equations, poses, jet)
    elif what == SPIN:
        # A body's rotation rate about a line fixed in it: held at zero.
        spin(t, k, equations, poses, jet)
    elif what == TURN:
        dot_1(t, k, number[r, 0], number[r, 1], equations, poses, jets[0])
        dot_1(t, k, number[r, 2], number[r, 3], equations, poses, jets[1])
        for m in range(15):
            jets[0, m] *= sign[r]
        angle(jets[0], jets[1], jet)
    elif what == CARDAN:
        for axis in range(3):
            dot_1(t, k, 0, axis, equations, poses, jets[axis])
        length(jets, 2, jets[4])
        angle(jets[2], jets[4], jet)
    elif what == SCREW:
        dot_2(t, k, 2, equations, poses, jets[2])
        dot_1(t, k, 1, 0, equations, poses, jets[0])
        dot_1(t, k, 0, 0, equations, poses, jets[1])
        angle(jets[0], jets[1], jets[3])
        jets[3, 0] += 2 * np.pi * np.round((jets[2, 0] / parameter[r] - jets[3, 0]) / (2 * np.pi))
        for m in range(15):
            jet[m] = jets[2, m] - parameter[r] * jets[3, m]
    else:
        for axis in range(3):
            dot_2(t, k, axis, equations, poses, jets[axis])
        if what == DISTANCE:
            length(jets, 3, jet)
            jet[0] -= parameter[r]
        elif what == AZIMUTH:
            angle(jets[1], jets[0], jet)
        else:
            length(jets, 2, jets[4])
            angle(jets[2], jets[4], jet)


def dot_2(t: Any, k: Any, axis: Any, equations: Equations, poses: Poses, jet: Array) -> None:
    """Axis of A times the vector from A's origin to B's, m."""
    pair, origin, axes, _, _, _, _, _ = equations
    position, rotation, velocity, _ = poses
    a, b = pair[k, 0], pair[k, 1]
    n0, n1, n2 = world(rotation, a, t, axes[k, 0, 0, axis], axes[k, 0, 1, axis], axes[k, 0, 2, axis])
    a0, a1, a2 = world(rotation, a, t, origin[k, 0, 0], origin[k, 0, 1], origin[k, 0, 2])
    b0, b1, b2 = world(rotation, b, t, origin[k, 1, 0], origin[k, 1, 1], origin[k, 1, 2])
    r0 = position[b, t, 0] + b0 - position[a, t, 0] - a0
    r1 = position[b, t, 1] + b1 - position[a, t, 1] - a1
    r2 = position[b, t, 2] + b2 - position[a, t, 2] - a2
    jet[0] = n0 * r0 + n1 * r1 + n2 * r2
    jet[1], jet[2], jet[3] = -n0, -n1, -n2
    jet[4], jet[5], jet[6] = cross(n0, n1, n2, r0 + a0, r1 + a1, r2 + a2)
    jet[7], jet[8], jet[9] = n0, n1, n2
    jet[10], jet[11], jet[12] = cross(b0, b1, b2, n0, n1, n2)
    # With w of A and B: n·(r̈) + 2 ṅ·ṙ + n̈·r at zero accelerations.
    p0, p1, p2 = velocity[a, t, 3], velocity[a, t, 4], velocity[a, t, 5]
    q0, q1, q2 = velocity[b, t, 3], velocity[b, t, 4], velocity[b, t, 5]
    d0, d1, d2 = cross(p0, p1, p2, n0, n1, n2)
    e0, e1, e2 = cross(p0, p1, p2, d0, d1, d2)
    u0, u1, u2 = cross(p0, p1, p2, a0, a1, a2)
    x0, x1, x2 = cross(p0, p1, p2, u0, u1, u2)
    w0, w1, w2 = cross(q0, q1, q2, b0, b1, b2)
    y0, y1, y2 = cross(q0, q1, q2, w0, w1, w2)
    s0 = velocity[b, t, 0] + w0 - velocity[a, t, 0] - u0
    s1 = velocity[b, t, 1] + w1 - velocity[a, t, 1] - u1
    s2 = velocity[b, t, 2] + w2 - velocity[a, t, 2] - u2
    jet[13] = (
        n0 * (y0 - x0) + n1 * (y1 - x1) + n2 * (y2 - x2)
        + 2 * (d0 * s0 + d1 * s1 + d2 * s2)
        + e0 * r0 + e1 * r1 + e2 * r2
    )  # fmt: skip
    jet[14] = d0 * r0 + d1 * r1 + d2 * r2 + n0 * s0 + n1 * s1 + n2 * s2


def dot_1(t: Any, k: Any, first: Any, second: Any, equations: Equations, poses: Poses, jet: Array) -> None:
    """Axis ``first`` of A times axis ``second`` of B."""
    pair, _, axes, _, _, _, _, _ = equations
    _, rotation, velocity, _ = poses
    a, b = pair[k, 0], pair[k, 1]
    n0, n1, n2 = world(rotation, a, t, axes[k, 0, 0, first], axes[k, 0, 1, first], axes[k, 0, 2, first])
    m0, m1, m2 = world(rotation, b, t, axes[k, 1, 0, second], axes[k, 1, 1, second], axes[k, 1, 2, second])
    jet[0] = n0 * m0 + n1 * m1 + n2 * m2
    jet[1], jet[2], jet[3] = 0.0, 0.0, 0.0
    jet[7], jet[8], jet[9] = 0.0, 0.0, 0.0
    g0, g1, g2 = cross(n0, n1, n2, m0, m1, m2)
    jet[4], jet[5], jet[6] = g0, g1, g2
    jet[10], jet[11], jet[12] = -g0, -g1, -g2
    p0, p1, p2 = velocity[a, t, 3], velocity[a, t, 4], velocity[a, t, 5]
    q0, q1, q2 = velocity[b, t, 3], velocity[b, t, 4], velocity[b, t, 5]
    d0, d1, d2 = cross(p0, p1, p2, n0, n1, n2)
    e0, e1, e2 = cross(p0, p1, p2, d0, d1, d2)
    f0, f1, f2 = cross(q0, q1, q2, m0, m1, m2)
    h0, h1, h2 = cross(q0, q1, q2, f0, f1, f2)
    jet[13] = (
        e0 * m0 + e1 * m1 + e2 * m2
        + 2 * (d0 * f0 + d1 * f1 + d2 * f2)
        + n0 * h0 + n1 * h1 + n2 * h2
    )  # fmt: skip
    jet[14] = d0 * m0 + d1 * m1 + d2 * m2 + n0 * f0 + n1 * f1 + n2 * f2


def spin(t: Any, k: Any, equations: Equations, poses: Poses, jet: Array) -> None:
    """Rate of B's rotation about z of B's frame; nothing on the level of position."""
    axes, rotation, b = equations[2], poses[1], equations[0][k, 1]
    for m in range(15):
        jet[m] = 0.0
    z0, z1, z2 = world(rotation, b, t, axes[k, 1, 0, 2], axes[k, 1, 1, 2], axes[k, 1, 2, 2])
    jet[10], jet[11], jet[12] = z0, z1, z2
    # d/dt (z · w) = z · α + (w × z) · w, and the last is 0.


def angle(sine: Array, cosine: Array, jet: Array) -> None:
    """atan2 of two jets."""
    y, x = sine[0], cosine[0]
    square = x * x + y * y
    jet[0] = np.arctan2(y, x)
    for m in range(1, 15):
        jet[m] = (x * sine[m] - y * cosine[m]) / square
    jet[13] -= 2 * (x * cosine[14] + y * sine[14]) * jet[14] / square


def length(jets: Array, terms: Any, jet: Array) -> None:
    """Root of the sum of squares of the first ``terms`` jets."""
    square = 0.0
    speeds = 0.0
    for i in range(terms):
        square += jets[i, 0] ** 2
        speeds += jets[i, 14] ** 2
    size = np.sqrt(square)
    for m in range(1, 15):
        total = 0.0
        for i in range(terms):
            total += jets[i, 0] * jets[i, m]
        jet[m] = total / size
    jet[0] = size
    jet[13] += (speeds - jet[14] ** 2) / size


def cross(a0: Any, a1: Any, a2: Any, b0: Any, b1: Any, b2: Any) -> tuple[Any, Any, Any]:
    """Vector product."""
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


def world(rotation: Array, b: Any, t: Any, x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
    """A vector of body b in world axes."""
    r = rotation[b, t]
    return (
        r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
        r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
        r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
    )


def predict(bodies: Array, dt: Any, last: Any, t: Any, poses: Poses) -> None:
    """Start the group at instant t where velocity and acceleration of instant ``last`` lead it."""
    position, rotation, velocity, acceleration = poses
    for k in range(len(bodies)):
        b = bodies[k]
        for m in range(3):
            position[b, t, m] = (
                position[b, last, m] + dt * velocity[b, last, m] + 0.5 * dt * dt * acceleration[b, last, m]
            )
            for i in range(3):
                rotation[b, t, m, i] = rotation[b, last, m, i]
        turn(
            rotation[b, t],
            dt * velocity[b, last, 3] + 0.5 * dt * dt * acceleration[b, last, 3],
            dt * velocity[b, last, 4] + 0.5 * dt * dt * acceleration[b, last, 4],
            dt * velocity[b, last, 5] + 0.5 * dt * dt * acceleration[b, last, 5],
        )


def move(b: Any, t: Any, step: Array, columns: Array, position: Array, rotation: Array) -> None:
    """One body by a small motion: translation of its origin and rotation vector, world axes."""
    w0, w1, w2 = 0.0, 0.0, 0.0
    for m in range(len(columns)):
        column = columns[m]
        if column < 3:
            position[b, t, column] += step[m]
        elif column == 3:
            w0 = step[m]
        elif column == 4:
            w1 = step[m]
        else:
            w2 = step[m]
    turn(rotation[b, t], w0, w1, w2)


def turn(r: Array, w0: Any, w1: Any, w2: Any) -> None:
    """Rotate a rotation matrix by a rotation vector, and keep it orthogonal to the last digit."""
    size = np.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
    if size == 0.0:
        return
    u0, u1, u2 = w0 / size, w1 / size, w2 / size
    s, c = np.sin(size), np.cos(size)
    for i in range(3):
        x, y, z = r[0, i], r[1, i], r[2, i]
        along = (u0 * x + u1 * y + u2 * z) * (1 - c)
        k0, k1, k2 = cross(u0, u1, u2, x, y, z)
        r[0, i] = c * x + s * k0 + along * u0
        r[1, i] = c * y + s * k1 + along * u1
        r[2, i] = c * z + s * k2 + along * u2
    # Gram-Schmidt on the columns: rounding would grow over a long motion.
    for i in range(2):
        norm = np.sqrt(r[0, i] ** 2 + r[1, i] ** 2 + r[2, i] ** 2)
        for m in range(3):
            r[m, i] /= norm
        if i == 0:
            inner = r[0, 0] * r[0, 1] + r[1, 0] * r[1, 1] + r[2, 0] * r[2, 1]
            for m in range(3):
                r[m, 1] -= inner * r[m, 0]
    r[0, 2], r[1, 2], r[2, 2] = cross(r[0, 0], r[1, 0], r[2, 0], r[0, 1], r[1, 1], r[2, 1])


def void(bodies: Array, t: Any, poses: Poses) -> None:
    """No answer at this instant; its status says why."""
    position, rotation, velocity, acceleration = poses
    for k in range(len(bodies)):
        position[bodies[k], t] = np.nan
        rotation[bodies[k], t] = np.nan
        velocity[bodies[k], t] = np.nan
        acceleration[bodies[k], t] = np.nan


def solved(matrix: Array, right: Array) -> tuple[Array, Any]:
    """Solution of a square system by elimination with row pivots, of a taller one by least squares.

    Not regular where a pivot falls below 1e-11 of the largest entry.
    """
    rows, size = matrix.shape
    if rows > size:
        a = matrix.T @ matrix
        b = matrix.T @ right
        # Redundant rows are consistent, so normal equations lose digits, not the answer: refine once.
        first, regular = eliminated(a, b, 1e-18)
        if not regular:
            return first, False
        more, _ = eliminated(a, matrix.T @ (right - matrix @ first), 1e-18)
        return first + more, True
    return eliminated(matrix, right, 1e-11)


def eliminated(matrix: Array, right: Array, least: float) -> tuple[Array, Any]:
    """Gaussian elimination of a copy."""
    size = len(right)
    a = matrix.copy()
    x = right.copy()
    largest = 0.0
    for i in range(size):
        for j in range(size):
            largest = max(largest, abs(a[i, j]))
    for k in range(size):
        pivot = k
        for i in range(k + 1, size):
            if abs(a[i, k]) > abs(a[pivot, k]):
                pivot = i
        if not abs(a[pivot, k]) > least * largest:
            return x, False
        if pivot != k:
            for j in range(k, size):
                a[k, j], a[pivot, j] = a[pivot, j], a[k, j]
            x[k], x[pivot] = x[pivot], x[k]
        for i in range(k + 1, size):
            factor = a[i, k] / a[k, k]
            if factor != 0.0:
                for j in range(k + 1, size):
                    a[i, j] -= factor * a[k, j]
                x[i] -= factor * x[k]
    for k in range(size - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, size):
            total -= a[k, j] * x[j]
        x[k] = total / a[k, k]
    return x, True
