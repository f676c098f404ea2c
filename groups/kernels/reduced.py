"""Inertia and loads of all bodies in the independent coordinates: the velocity transformation Rᵀ M R.

The arrays are those of a run over 2 + D instants, all but the first in one pose. Instant 1 has the true
rates and no second rates: its accelerations are the bias R' q'. Instant 2 + k has a unit rate of coordinate
k alone: its velocities are column k of R (García de Jalón and Bayo 1994, *Kinematic and dynamic simulation of
multibody systems*, chapter 5). The cost is linear in the number of bodies.
"""

from __future__ import annotations

import math
from typing import Any

Array = Any


def reduce_planar(
    body: Array, mass: Array, centre: Array, moment: Array, gravity: Array, angle: Array, velocity: Array,
    acceleration: Array, loads: Array, inertia: Array, force: Array,
) -> None:  # fmt: skip
    """Mass matrix (D, D) and generalised forces (D,) of bodies in the plane, bias included.

    Parameters
    ----------
    body : (b,) indices of bodies with mass; mass (b,), moment (b, 1, 1) about the centre of mass
    centre : (b, 2) centres of mass from the bodies' origins, in their own axes
    angle, velocity, acceleration : (N, 2 + D), (N, 2 + D, 3)
    loads : (N, 3) applied force at the body's origin, and moment about it
    inertia, force : the answer
    """
    D = len(force)
    for i in range(D):
        force[i] = 0.0
        for j in range(D):
            inertia[i, j] = 0.0
    for n in range(len(body)):
        b, m, polar = body[n], mass[n], moment[n, 0, 0]
        c, s = math.cos(angle[b, 1]), math.sin(angle[b, 1])
        x = c * centre[n, 0] - s * centre[n, 1]
        y = s * centre[n, 0] + c * centre[n, 1]
        w, faster = velocity[b, 1, 2], acceleration[b, 1, 2]
        fx = m * (gravity[0] - (acceleration[b, 1, 0] - faster * y - w * w * x))
        fy = m * (gravity[1] - (acceleration[b, 1, 1] + faster * x - w * w * y))
        for i in range(D):
            u, v, turn = velocity[b, 2 + i, 0], velocity[b, 2 + i, 1], velocity[b, 2 + i, 2]
            u -= turn * y
            v += turn * x
            force[i] += u * fx + v * fy - turn * polar * faster
            for j in range(i + 1):
                other = velocity[b, 2 + j, 2]
                along = velocity[b, 2 + j, 0] - other * y
                across = velocity[b, 2 + j, 1] + other * x
                inertia[i, j] += m * (u * along + v * across) + polar * turn * other
    for b in range(1, len(loads)):
        for i in range(D):
            for k in range(3):
                force[i] += velocity[b, 2 + i, k] * loads[b, k]
    for i in range(D):
        for j in range(i):
            inertia[j, i] = inertia[i, j]


def reduce_spatial(
    body: Array, mass: Array, centre: Array, moment: Array, gravity: Array, quaternion: Array,
    velocity: Array, acceleration: Array, loads: Array, inertia: Array, force: Array,
) -> None:  # fmt: skip
    """The same in space: ``moment`` (b, 3, 3) in body axes, ``quaternion`` (N, 2 + D, 4), twists of six."""
    D = len(force)
    for i in range(D):
        force[i] = 0.0
        for j in range(D):
            inertia[i, j] = 0.0
    for n in range(len(body)):
        b, m = body[n], mass[n]
        e, p, q, r = quaternion[b, 1, 0], quaternion[b, 1, 1], quaternion[b, 1, 2], quaternion[b, 1, 3]
        xx, xy, xz = 1 - 2 * (q * q + r * r), 2 * (p * q - e * r), 2 * (p * r + e * q)
        yx, yy, yz = 2 * (p * q + e * r), 1 - 2 * (p * p + r * r), 2 * (q * r - e * p)
        zx, zy, zz = 2 * (p * r - e * q), 2 * (q * r + e * p), 1 - 2 * (p * p + q * q)
        cx, cy, cz = centre[n, 0], centre[n, 1], centre[n, 2]
        x, y, z = xx * cx + xy * cy + xz * cz, yx * cx + yy * cy + yz * cz, zx * cx + zy * cy + zz * cz
        # Inertia about the centre of mass in world axes: R I Rᵀ.
        ax = xx * moment[n, 0, 0] + xy * moment[n, 1, 0] + xz * moment[n, 2, 0]
        ay = xx * moment[n, 0, 1] + xy * moment[n, 1, 1] + xz * moment[n, 2, 1]
        az = xx * moment[n, 0, 2] + xy * moment[n, 1, 2] + xz * moment[n, 2, 2]
        bx = yx * moment[n, 0, 0] + yy * moment[n, 1, 0] + yz * moment[n, 2, 0]
        by = yx * moment[n, 0, 1] + yy * moment[n, 1, 1] + yz * moment[n, 2, 1]
        bz = yx * moment[n, 0, 2] + yy * moment[n, 1, 2] + yz * moment[n, 2, 2]
        dx = zx * moment[n, 0, 0] + zy * moment[n, 1, 0] + zz * moment[n, 2, 0]
        dy = zx * moment[n, 0, 1] + zy * moment[n, 1, 1] + zz * moment[n, 2, 1]
        dz = zx * moment[n, 0, 2] + zy * moment[n, 1, 2] + zz * moment[n, 2, 2]
        Ixx, Iyy, Izz = ax * xx + ay * xy + az * xz, bx * yx + by * yy + bz * yz, dx * zx + dy * zy + dz * zz
        Ixy, Ixz, Iyz = ax * yx + ay * yy + az * yz, ax * zx + ay * zy + az * zz, bx * zx + by * zy + bz * zz
        wx, wy, wz = velocity[b, 1, 3], velocity[b, 1, 4], velocity[b, 1, 5]
        sx, sy, sz = acceleration[b, 1, 3], acceleration[b, 1, 4], acceleration[b, 1, 5]
        # a = a_origin + α × r + ω × (ω × r)
        hx, hy, hz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
        fx = m * (gravity[0] - (acceleration[b, 1, 0] + sy * z - sz * y + wy * hz - wz * hy))
        fy = m * (gravity[1] - (acceleration[b, 1, 1] + sz * x - sx * z + wz * hx - wx * hz))
        fz = m * (gravity[2] - (acceleration[b, 1, 2] + sx * y - sy * x + wx * hy - wy * hx))
        # m = -(I α + ω × I ω)
        px = Ixx * wx + Ixy * wy + Ixz * wz
        py = Ixy * wx + Iyy * wy + Iyz * wz
        pz = Ixz * wx + Iyz * wy + Izz * wz
        mx = -(Ixx * sx + Ixy * sy + Ixz * sz + wy * pz - wz * py)
        my = -(Ixy * sx + Iyy * sy + Iyz * sz + wz * px - wx * pz)
        mz = -(Ixz * sx + Iyz * sy + Izz * sz + wx * py - wy * px)
        for i in range(D):
            tx, ty, tz = velocity[b, 2 + i, 3], velocity[b, 2 + i, 4], velocity[b, 2 + i, 5]
            ux = velocity[b, 2 + i, 0] + ty * z - tz * y
            uy = velocity[b, 2 + i, 1] + tz * x - tx * z
            uz = velocity[b, 2 + i, 2] + tx * y - ty * x
            force[i] += ux * fx + uy * fy + uz * fz + tx * mx + ty * my + tz * mz
            gx, gy, gz = (
                Ixx * tx + Ixy * ty + Ixz * tz,
                Ixy * tx + Iyy * ty + Iyz * tz,
                (Ixz * tx + Iyz * ty + Izz * tz),
            )
            for j in range(i + 1):
                ox, oy, oz = velocity[b, 2 + j, 3], velocity[b, 2 + j, 4], velocity[b, 2 + j, 5]
                vx = velocity[b, 2 + j, 0] + oy * z - oz * y
                vy = velocity[b, 2 + j, 1] + oz * x - ox * z
                vz = velocity[b, 2 + j, 2] + ox * y - oy * x
                inertia[i, j] += m * (ux * vx + uy * vy + uz * vz) + gx * ox + gy * oy + gz * oz
    for b in range(1, len(loads)):
        for i in range(D):
            for k in range(6):
                force[i] += velocity[b, 2 + i, k] * loads[b, k]
    for i in range(D):
        for j in range(i):
            inertia[j, i] = inertia[i, j]
