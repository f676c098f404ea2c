"""What an expert would write by hand for one mechanism: closed forms in Numba, nothing general about them.

The kernels know their mechanism: which dyad hangs where, that a leg is a U, a P and an S, that no
gimbal turns by half a turn. They keep no status, no residual, no assembly mode to choose. They write
what ``Trajectory`` holds: poses (and rates) of every body's own frame, body by body in memory, the
frame among them; angles from the reference; quaternions with a continuous sign.

Geometry comes from the model's reference through :func:`planar_points` and :func:`platform_legs`, so
that both sides solve the same mechanism to the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

import mbssa
from mbssa.joints.frames import joint_frames

Floats = npt.NDArray[np.float64]

#: Divisions need no check for zero: the motions keep clear of dead points.
compiled = numba.njit(nogil=True, cache=True, error_model="numpy")
inlined = numba.njit(inline="always", error_model="numpy")

#: Instants that are worked on together, so that what they need stays in the nearest cache.
BLOCK = 64


def planar_points(mechanism: mbssa.Mechanism) -> dict[str, tuple[float, float]]:
    """World position at the reference of every joint; all bodies have their origin at the world's."""
    frames = joint_frames(mechanism)
    assert not frames.position.any()
    return {joint.id: tuple(frames.origin[joint.index, 0, :2].tolist()) for joint in mechanism.joints}


# ------------------------------------------------------------------------------------------ planar
#
# A scratch array holds rows of BLOCK instants: six rows a point (x, y, vx, vy, ax, ay), four a link
# (cosine, sine, rate, second rate). Rows of one array at fixed places can be worked on four or eight
# instants at a time by the processor; sines, arc tangents and the scattered answers cannot, and have
# loops of their own.


@inlined
def _crank(w, n, begin, angle, rate, second, link):
    for k in range(n):
        w[link * BLOCK + k], w[(link + 1) * BLOCK + k] = np.cos(angle[begin + k]), np.sin(angle[begin + k])
        w[(link + 2) * BLOCK + k], w[(link + 3) * BLOCK + k] = rate[begin + k], second[begin + k]


@inlined
def _rest(w, point, at):
    """A point of the frame."""
    for k in range(BLOCK):
        w[point * BLOCK + k], w[(point + 1) * BLOCK + k] = at[0], at[1]
        for row in range(2, 6):
            w[(point + row) * BLOCK + k] = 0.0


@inlined
def _carried(w, n, link, known, at, other, to):
    """Rows ``to`` of another point of a link, from a ``known`` one; ``at``, ``other`` at the reference."""
    dx, dy = other[0] - at[0], other[1] - at[1]
    for k in range(n):
        cos, sin = w[link * BLOCK + k], w[(link + 1) * BLOCK + k]
        rate, second = w[(link + 2) * BLOCK + k], w[(link + 3) * BLOCK + k]
        rx, ry, square = cos * dx - sin * dy, sin * dx + cos * dy, rate * rate
        w[to * BLOCK + k] = w[known * BLOCK + k] + rx
        w[(to + 1) * BLOCK + k] = w[(known + 1) * BLOCK + k] + ry
        w[(to + 2) * BLOCK + k] = w[(known + 2) * BLOCK + k] - rate * ry
        w[(to + 3) * BLOCK + k] = w[(known + 3) * BLOCK + k] + rate * rx
        w[(to + 4) * BLOCK + k] = w[(known + 4) * BLOCK + k] - second * ry - square * rx
        w[(to + 5) * BLOCK + k] = w[(known + 5) * BLOCK + k] + second * rx - square * ry


@inlined
def _dyad(w, n, a, b, first, second, a0, b0, c0):
    """Two links that meet at C, one from A, one from B; rows ``first`` and ``second`` of the links."""
    ux0, uy0 = c0[0] - a0[0], c0[1] - a0[1]
    wx0, wy0 = c0[0] - b0[0], c0[1] - b0[1]
    square_1, square_2 = ux0 * ux0 + uy0 * uy0, wx0 * wx0 + wy0 * wy0
    inverse_1, inverse_2 = 1.0 / square_1, 1.0 / square_2
    side = 1.0 if ux0 * wy0 - uy0 * wx0 > 0 else -1.0
    for k in range(n):
        dx = w[b * BLOCK + k] - w[a * BLOCK + k]
        dy = w[(b + 1) * BLOCK + k] - w[(a + 1) * BLOCK + k]
        inverse = 1.0 / (dx * dx + dy * dy)
        along = 0.5 * (1.0 + (square_1 - square_2) * inverse)
        across = side * np.sqrt(square_1 * inverse - along * along)
        ux, uy = along * dx - across * dy, along * dy + across * dx
        wx, wy = ux - dx, uy - dy
        w[first * BLOCK + k] = (ux0 * ux + uy0 * uy) * inverse_1
        w[(first + 1) * BLOCK + k] = (ux0 * uy - uy0 * ux) * inverse_1
        w[second * BLOCK + k] = (wx0 * wx + wy0 * wy) * inverse_2
        w[(second + 1) * BLOCK + k] = (wx0 * wy - wy0 * wx) * inverse_2
        # v_C = v_A + rate_1 J u = v_B + rate_2 J w; J turns by a quarter.
        determinant = 1.0 / (ux * wy - uy * wx)
        vx = w[(b + 2) * BLOCK + k] - w[(a + 2) * BLOCK + k]
        vy = w[(b + 3) * BLOCK + k] - w[(a + 3) * BLOCK + k]
        rate_1, rate_2 = (vx * wx + vy * wy) * determinant, (vx * ux + vy * uy) * determinant
        square_rate_1, square_rate_2 = rate_1 * rate_1, rate_2 * rate_2
        px = w[(b + 4) * BLOCK + k] - w[(a + 4) * BLOCK + k] + square_rate_1 * ux - square_rate_2 * wx
        py = w[(b + 5) * BLOCK + k] - w[(a + 5) * BLOCK + k] + square_rate_1 * uy - square_rate_2 * wy
        w[(first + 2) * BLOCK + k], w[(second + 2) * BLOCK + k] = rate_1, rate_2
        w[(first + 3) * BLOCK + k] = (px * wx + py * wy) * determinant
        w[(second + 3) * BLOCK + k] = (px * ux + py * uy) * determinant


@inlined
def _write(w, n, begin, link, point, at, body, angle, out):
    """Body frame from one of its points; ``angle`` (T,) where it is known, else empty."""
    position, orientation, velocity, acceleration = out
    for k in range(n):
        t = begin + k
        cos, sin = w[link * BLOCK + k], w[(link + 1) * BLOCK + k]
        rate, second = w[(link + 2) * BLOCK + k], w[(link + 3) * BLOCK + k]
        rx, ry, square = cos * at[0] - sin * at[1], sin * at[0] + cos * at[1], rate * rate
        position[body, t, 0] = w[point * BLOCK + k] - rx
        position[body, t, 1] = w[(point + 1) * BLOCK + k] - ry
        orientation[body, t] = angle[t] if len(angle) else np.arctan2(sin, cos)
        velocity[body, t, 0] = w[(point + 2) * BLOCK + k] + rate * ry
        velocity[body, t, 1] = w[(point + 3) * BLOCK + k] - rate * rx
        velocity[body, t, 2] = rate
        acceleration[body, t, 0] = w[(point + 4) * BLOCK + k] + second * ry + square * rx
        acceleration[body, t, 1] = w[(point + 5) * BLOCK + k] - second * rx + square * ry
        acceleration[body, t, 2] = second


@compiled
def _planar_arrays(n, instants):
    position, orientation = np.empty((n, instants, 2)), np.empty((n, instants))
    velocity, acceleration = np.empty((n, instants, 3)), np.empty((n, instants, 3))
    position[0], orientation[0], velocity[0], acceleration[0] = 0.0, 0.0, 0.0, 0.0
    return position, orientation, velocity, acceleration


@compiled
def four_bar(angle, rate, second, o, a, b, c):
    """Crank O-A, coupler A-B, rocker C-B; angle from the reference, rate, second rate (T,) of the crank.

    Returns position (N, T, 2), angle (N, T), velocity and acceleration (N, T, 3).
    """
    out, unknown = _planar_arrays(4, len(angle)), np.empty(0)
    w = np.empty(30 * BLOCK)
    _rest(w, 0, o)
    _rest(w, 6, c)
    for begin in range(0, len(angle), BLOCK):
        n = min(BLOCK, len(angle) - begin)
        _crank(w, n, begin, angle, rate, second, 12)
        _carried(w, n, 12, 0, o, a, 16)
        _dyad(w, n, 16, 6, 22, 26, a, c, b)
        _write(w, n, begin, 12, 0, o, 1, angle, out)
        _write(w, n, begin, 22, 16, a, 2, unknown, out)
        _write(w, n, begin, 26, 6, c, 3, unknown, out)
    return out


@compiled
def jansen(angle, rate, second, o, p, b, q, r, s, foot):
    """Crank O-P, dyads P-Q-B, P-R-B and S-T-R (``foot`` is T); arrays as for :func:`four_bar`."""
    out, unknown = _planar_arrays(8, len(angle)), np.empty(0)
    w = np.empty(58 * BLOCK)
    _rest(w, 0, o)
    _rest(w, 6, b)
    for begin in range(0, len(angle), BLOCK):
        n = min(BLOCK, len(angle) - begin)
        _crank(w, n, begin, angle, rate, second, 12)
        _carried(w, n, 12, 0, o, p, 16)
        _dyad(w, n, 16, 6, 22, 26, p, b, q)
        _dyad(w, n, 16, 6, 30, 34, p, b, r)
        _carried(w, n, 26, 6, b, s, 38)
        _carried(w, n, 34, 6, b, r, 44)
        _dyad(w, n, 38, 44, 50, 54, s, r, foot)
        _write(w, n, begin, 12, 0, o, 1, angle, out)
        _write(w, n, begin, 22, 16, p, 2, unknown, out)
        _write(w, n, begin, 26, 6, b, 3, unknown, out)
        _write(w, n, begin, 30, 16, p, 4, unknown, out)
        _write(w, n, begin, 34, 6, b, 5, unknown, out)
        _write(w, n, begin, 50, 38, s, 6, unknown, out)
        _write(w, n, begin, 54, 44, r, 7, unknown, out)
    return out


# ---------------------------------------------------------------------------------------- platforms


@dataclass(frozen=True)
class Legs:
    """Six legs U-P-S between a body with the gimbals and one with the balls; reference in the world.

    Attributes
    ----------
    fixed, moving : (6, 3) joint centres at the frame and on the platform (from the platform's origin)
    pin : (6, 3) first axis of the gimbal, on the body that carries it; cross : (6, 3) the second, on the
        leg, in the sense that makes ``rise`` positive; third : (6, 3) pin x cross
    length, lean, rise : (6,) of the reference: distance of the centres, and the direction's share along
        pin and third
    origin : (3,) of the platform's own frame
    """

    fixed: Floats
    moving: Floats
    pin: Floats
    cross: Floats
    third: Floats
    length: Floats
    lean: Floats
    rise: Floats
    origin: Floats

    @property
    def arrays(self) -> tuple[Floats, ...]:
        return tuple(vars(self).values())


def platform_legs(mechanism: mbssa.Mechanism) -> Legs:
    """Legs of ``stewart`` (gimbals at the frame) or ``stewart_inverse`` (gimbals on the platform)."""
    frames = joint_frames(mechanism)
    origin = frames.position[13]
    fixed, moving, pin, cross = (np.zeros((6, 3)) for _ in range(4))
    for joint in mechanism.joints:
        j, bodies = joint.index, mechanism.joint_bodies(joint.index)
        leg = (min(b for b in bodies if b) - 1) // 2
        if joint.type.code in ("U", "S"):
            if 0 in bodies:
                fixed[leg] = frames.origin[j, bodies.index(0)]
            else:
                moving[leg] = frames.origin[j, bodies.index(13)]
        if joint.type.code == "U":
            on_leg = 0 if 0 < bodies[0] < 13 else 1
            cross[leg], pin[leg] = frames.axes[j, on_leg, :, 2], frames.axes[j, 1 - on_leg, :, 2]
    difference = origin + moving - fixed
    length = np.linalg.norm(difference, axis=1)
    direction = difference / length[:, None]
    third = np.cross(pin, cross)
    sense = np.sign((direction * third).sum(axis=1))[:, None]
    cross, third = sense * cross, sense * third
    lean, rise = (direction * pin).sum(axis=1), (direction * third).sum(axis=1)
    return Legs(fixed, moving, pin, cross, third, length, lean, rise, origin)


@inlined
def _row(v, i):
    return v[i, 0], v[i, 1], v[i, 2]


@inlined
def _gimbal(x, y, z, pin, cross, third, lean, rise):
    """Quaternion that turns a leg into the direction (x, y, z), both seen by the gimbal's carrier.

    About the pin, then about the cross: no product of matrices, no branch. With the direction's shares
    lean = sin(tilt), rise = cos(tilt) at the reference, half angles follow from square roots.
    """
    along = x * pin[0] + y * pin[1] + z * pin[2]
    aside = x * cross[0] + y * cross[1] + z * cross[2]
    up = x * third[0] + y * third[1] + z * third[2]
    flat = np.sqrt(1.0 - along * along)
    c = np.sqrt(0.5 + 0.5 * up / flat)  # half the turn about the pin
    s = -0.5 * aside / (flat * c)
    cos = flat * rise + along * lean
    sin = along * rise - flat * lean
    k = np.sqrt(0.5 + 0.5 * cos)  # half the turn about the cross
    h = 0.5 * sin / k
    ck, sk, ch, sh = c * k, s * k, c * h, s * h
    return (
        ck,
        sk * pin[0] + ch * cross[0] + sh * third[0],
        sk * pin[1] + ch * cross[1] + sh * third[1],
        sk * pin[2] + ch * cross[2] + sh * third[2],
    )


@inlined
def _turned(w, x, y, z, v):
    """Vector ``v`` turned by a unit quaternion."""
    a, b, c = v
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx)


@inlined
def _matrix(w, x, y, z):
    """Rotation of a unit quaternion, row by row."""
    return (
        *(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        *(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        *(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


@inlined
def _of_cardan(a, b, c):
    """Quaternion of three angles about x, then the new y, then the new z."""
    ca, sa, cb, sb = np.cos(0.5 * a), np.sin(0.5 * a), np.cos(0.5 * b), np.sin(0.5 * b)
    cc, sc = np.cos(0.5 * c), np.sin(0.5 * c)
    return (
        ca * cb * cc - sa * sb * sc,
        sa * cb * cc + ca * sb * sc,
        ca * sb * cc - sa * cb * sc,
        ca * cb * sc + sa * sb * cc,
    )


@inlined
def _leg_rows(u, k, w, x, y, z, along, excess, fixed):
    """Rows 0 to 2: cylinder; 3 to 5: piston; 6 to 9: the quaternion of both.

    ``along`` is the leg's direction, ``excess`` its length over the reference's.
    """
    rx, ry, rz = _turned(w, x, y, z, fixed)
    px, py, pz = fixed[0] - rx, fixed[1] - ry, fixed[2] - rz
    u[k], u[BLOCK + k], u[2 * BLOCK + k] = px, py, pz
    u[3 * BLOCK + k], u[4 * BLOCK + k] = px + excess * along[0], py + excess * along[1]
    u[5 * BLOCK + k] = pz + excess * along[2]
    u[6 * BLOCK + k], u[7 * BLOCK + k], u[8 * BLOCK + k], u[9 * BLOCK + k] = w, x, y, z


@compiled
def _write_leg(u, n, begin, i, position, orientation):
    for k in range(n):
        t = begin + k
        for row in range(3):
            position[1 + 2 * i, t, row] = u[row * BLOCK + k]
            position[2 + 2 * i, t, row] = u[(3 + row) * BLOCK + k]
        for row in range(4):
            orientation[1 + 2 * i, t, row] = u[(6 + row) * BLOCK + k]
            orientation[2 + 2 * i, t, row] = u[(6 + row) * BLOCK + k]


@compiled
def _spatial_arrays(n, instants):
    position, orientation = np.empty((n, instants, 3)), np.empty((n, instants, 4))
    position[0], orientation[0], orientation[0, :, 0] = 0.0, 0.0, 1.0
    return position, orientation


@compiled
def _inverse_leg(p, u, n, fixed, moving, pin, cross, third, length, lean, rise):
    """One leg over a block; ``p`` holds rows of the platform: matrix, quaternion, position."""
    a, b, c = moving
    for k in range(n):
        m00, m01, m02 = p[k], p[BLOCK + k], p[2 * BLOCK + k]
        m10, m11, m12 = p[3 * BLOCK + k], p[4 * BLOCK + k], p[5 * BLOCK + k]
        m20, m21, m22 = p[6 * BLOCK + k], p[7 * BLOCK + k], p[8 * BLOCK + k]
        w, x, y, z = p[9 * BLOCK + k], p[10 * BLOCK + k], p[11 * BLOCK + k], p[12 * BLOCK + k]
        dx = p[13 * BLOCK + k] + m00 * a + m01 * b + m02 * c - fixed[0]
        dy = p[14 * BLOCK + k] + m10 * a + m11 * b + m12 * c - fixed[1]
        dz = p[15 * BLOCK + k] + m20 * a + m21 * b + m22 * c - fixed[2]
        distance = np.sqrt(dx * dx + dy * dy + dz * dz)
        inverse = 1.0 / distance
        dx, dy, dz = dx * inverse, dy * inverse, dz * inverse
        # The gimbal sits on the platform: the direction as the platform sees it, then back.
        lx, ly, lz = (
            m00 * dx + m10 * dy + m20 * dz,
            m01 * dx + m11 * dy + m21 * dz,
            m02 * dx + m12 * dy + m22 * dz,
        )
        gw, gx, gy, gz = _gimbal(lx, ly, lz, pin, cross, third, lean, rise)
        lw = w * gw - x * gx - y * gy - z * gz
        lx = w * gx + x * gw + y * gz - z * gy
        ly = w * gy - x * gz + y * gw + z * gx
        lz = w * gz + x * gy - y * gx + z * gw
        _leg_rows(u, k, lw, lx, ly, lz, (dx, dy, dz), distance - length, fixed)


@compiled
def stewart_inverse(pose, legs):
    """Poses of all bodies from the platform's x, y, z and three angles: ``pose`` (6, T).

    Returns position (14, T, 3) and quaternion (14, T, 4).
    """
    fixed, moving, pin, cross, third, length, lean, rise, _ = legs
    instants = pose.shape[1]
    position, orientation = _spatial_arrays(14, instants)
    p, u = np.empty(16 * BLOCK), np.empty(10 * BLOCK)
    for begin in range(0, instants, BLOCK):
        n = min(BLOCK, instants - begin)
        for k in range(n):
            t = begin + k
            w, x, y, z = _of_cardan(pose[3, t], pose[4, t], pose[5, t])
            m = _matrix(w, x, y, z)
            for row in range(9):
                p[row * BLOCK + k] = m[row]
            p[9 * BLOCK + k], p[10 * BLOCK + k], p[11 * BLOCK + k], p[12 * BLOCK + k] = w, x, y, z
            orientation[13, t, 0], orientation[13, t, 1] = w, x
            orientation[13, t, 2], orientation[13, t, 3] = y, z
            for row in range(3):
                p[(13 + row) * BLOCK + k] = position[13, t, row] = pose[row, t]
        for i in range(6):
            f, v = _row(fixed, i), _row(moving, i)
            axes = _row(pin, i), _row(cross, i), _row(third, i)
            _inverse_leg(p, u, n, f, v, axes[0], axes[1], axes[2], length[i], lean[i], rise[i])
            _write_leg(u, n, begin, i, position, orientation)
    return position, orientation


@compiled
def _forward_leg(d, u, n, fixed, pin, cross, third, lean, rise):
    """One leg over a block; ``d`` holds rows of its direction and of its length over the reference's."""
    for k in range(n):
        x, y, z = d[k], d[BLOCK + k], d[2 * BLOCK + k]
        gw, gx, gy, gz = _gimbal(x, y, z, pin, cross, third, lean, rise)
        _leg_rows(u, k, gw, gx, gy, gz, (x, y, z), d[3 * BLOCK + k], fixed)


@compiled
def _solve_in_place(a):
    """Gauss with row pivoting on the (6, 7) array; the answer is left in the last column."""
    for k in range(6):
        best = k
        for i in range(k + 1, 6):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        if best != k:
            for j in range(k, 7):
                a[k, j], a[best, j] = a[best, j], a[k, j]
        inverse = 1.0 / a[k, k]
        for i in range(k + 1, 6):
            factor = a[i, k] * inverse
            for j in range(k + 1, 7):
                a[i, j] -= factor * a[k, j]
    for k in range(5, -1, -1):
        total = a[k, 6]
        for j in range(k + 1, 6):
            total -= a[k, j] * a[j, 6]
        a[k, 6] = total / a[k, k]


@compiled
def stewart_forward(lengths, legs, closed, steps):
    """Poses of all bodies from the six leg lengths: ``lengths`` (6, T), near the reference at first.

    Newton on the platform's pose from a straight continuation of the last two answers, until no leg is
    off by more than ``closed``; ``steps`` at most. Returns position (14, T, 3) and quaternion (14, T, 4),
    and the number of Newton steps in all; NaN from the block on in which an instant did not converge.
    """
    fixed, moving, pin, cross, third, length, lean, rise, origin = legs
    instants = lengths.shape[1]
    position, orientation = _spatial_arrays(14, instants)
    system, arm, along = np.empty((6, 7)), np.empty((6, 3)), np.empty((6, 3))
    d, u = np.empty(24 * BLOCK), np.empty(10 * BLOCK)
    px, py, pz = origin[0], origin[1], origin[2]
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    total = 0
    for t in range(instants):
        if t > 1:
            px = 2 * position[13, t - 1, 0] - position[13, t - 2, 0]
            py = 2 * position[13, t - 1, 1] - position[13, t - 2, 1]
            pz = 2 * position[13, t - 1, 2] - position[13, t - 2, 2]
            w = 2 * orientation[13, t - 1, 0] - orientation[13, t - 2, 0]
            x = 2 * orientation[13, t - 1, 1] - orientation[13, t - 2, 1]
            y = 2 * orientation[13, t - 1, 2] - orientation[13, t - 2, 2]
            z = 2 * orientation[13, t - 1, 3] - orientation[13, t - 2, 3]
            scale = 1.0 / np.sqrt(w * w + x * x + y * y + z * z)
            w, x, y, z = w * scale, x * scale, y * scale, z * scale
        for _ in range(steps + 1):
            m00, m01, m02, m10, m11, m12, m20, m21, m22 = _matrix(w, x, y, z)
            worst = 0.0
            for i in range(6):
                a, b, c = moving[i, 0], moving[i, 1], moving[i, 2]
                ax = m00 * a + m01 * b + m02 * c
                ay = m10 * a + m11 * b + m12 * c
                az = m20 * a + m21 * b + m22 * c
                dx, dy, dz = px + ax - fixed[i, 0], py + ay - fixed[i, 1], pz + az - fixed[i, 2]
                distance = np.sqrt(dx * dx + dy * dy + dz * dz)
                inverse = 1.0 / distance
                arm[i, 0], arm[i, 1], arm[i, 2] = ax, ay, az
                along[i, 0], along[i, 1], along[i, 2] = dx * inverse, dy * inverse, dz * inverse
                system[i, 6] = lengths[i, t] - distance
                worst = max(worst, abs(system[i, 6]))
            if worst <= closed:
                break
            for i in range(6):
                dx, dy, dz = along[i, 0], along[i, 1], along[i, 2]
                ax, ay, az = arm[i, 0], arm[i, 1], arm[i, 2]
                system[i, 0], system[i, 1], system[i, 2] = dx, dy, dz
                system[i, 3], system[i, 4], system[i, 5] = (
                    ay * dz - az * dy,
                    az * dx - ax * dz,
                    ax * dy - ay * dx,
                )
            _solve_in_place(system)
            total += 1
            px, py, pz = px + system[0, 6], py + system[1, 6], pz + system[2, 6]
            hx, hy, hz = 0.5 * system[3, 6], 0.5 * system[4, 6], 0.5 * system[5, 6]
            w, x, y, z = (
                w - hx * x - hy * y - hz * z,
                x + hx * w + hy * z - hz * y,
                y + hy * w + hz * x - hx * z,
                z + hz * w + hx * y - hy * x,
            )
            scale = 1.0 / np.sqrt(w * w + x * x + y * y + z * z)
            w, x, y, z = w * scale, x * scale, y * scale, z * scale
        if not worst <= closed:
            begin = t - t % BLOCK
            position[1:, begin:], orientation[1:, begin:] = np.nan, np.nan
            break
        position[13, t, 0], position[13, t, 1], position[13, t, 2] = px, py, pz
        orientation[13, t, 0], orientation[13, t, 1] = w, x
        orientation[13, t, 2], orientation[13, t, 3] = y, z
        k = t % BLOCK
        for i in range(6):
            for row in range(3):
                d[(4 * i + row) * BLOCK + k] = along[i, row]
            d[(4 * i + 3) * BLOCK + k] = lengths[i, t] - length[i]
        if k == BLOCK - 1 or t == instants - 1:
            for i in range(6):
                of_leg = d[4 * i * BLOCK : 4 * (i + 1) * BLOCK]
                axes = _row(pin, i), _row(cross, i), _row(third, i)
                _forward_leg(of_leg, u, k + 1, _row(fixed, i), axes[0], axes[1], axes[2], lean[i], rise[i])
                _write_leg(u, k + 1, t - k, i, position, orientation)
    return position, orientation, total
