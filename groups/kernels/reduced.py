"""Inertia and loads of all bodies in the independent coordinates: the velocity transformation Rᵀ M R."""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.vectors import (
    cross,
    dot,
    matrix_of,
    minus,
    plus,
    product,
    rotate,
    rotation_of,
    times,
    transposed,
    vector_of,
)

Array = Any


def reduce_planar(
    body: Array, mass: Array, centre: Array, moment: Array, gravity: Array, angle: Array, velocity: Array,
    acceleration: Array, loads: Array, inertia: Array, force: Array,
) -> None:  # fmt: skip
    """Mass matrix (D, D) and generalised forces (D,) of bodies in the plane, bias included."""
    D = len(force)
    clear(inertia, force)
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
    finish(velocity, loads, inertia, force)


def reduce_spatial(
    body: Array, mass: Array, centre: Array, moment: Array, gravity: Array, quaternion: Array,
    velocity: Array, acceleration: Array, loads: Array, inertia: Array, force: Array,
) -> None:  # fmt: skip
    """The same in space: ``moment`` (b, 3, 3) in body axes, ``quaternion`` (N, 2 + D, 4), twists of six."""
    D = len(force)
    clear(inertia, force)
    g = gravity[0], gravity[1], gravity[2]
    for n in range(len(body)):
        b, m = body[n], mass[n]
        R = rotation_of(quaternion[b, 1, 0], quaternion[b, 1, 1], quaternion[b, 1, 2], quaternion[b, 1, 3])
        r = rotate(R, vector_of(centre, n, 0))
        # Inertia about the centre of mass in world axes: R I Rᵀ.
        own = matrix_of(moment[n].reshape(1, 9), 0, 0)
        J = product(product(R, own), transposed(R))
        w, faster = vector_of(velocity[b], 1, 3), vector_of(acceleration[b], 1, 3)
        # a = a_origin + α × r + ω × (ω × r); moment -(I α + ω × I ω)
        a = plus(vector_of(acceleration[b], 1, 0), plus(cross(faster, r), cross(w, cross(w, r))))
        f = times(m, minus(g, a))
        torque = times(-1.0, plus(rotate(J, faster), cross(w, rotate(J, w))))
        for i in range(D):
            turn = vector_of(velocity[b], 2 + i, 3)
            speed = plus(vector_of(velocity[b], 2 + i, 0), cross(turn, r))
            force[i] += dot(speed, f) + dot(turn, torque)
            momentum = rotate(J, turn)
            for j in range(i + 1):
                other = vector_of(velocity[b], 2 + j, 3)
                along = plus(vector_of(velocity[b], 2 + j, 0), cross(other, r))
                inertia[i, j] += m * dot(speed, along) + dot(momentum, other)
    finish(velocity, loads, inertia, force)


def clear(inertia: Array, force: Array) -> None:
    """Set both answers to zero."""
    for i in range(len(force)):
        force[i] = 0.0
        for j in range(len(force)):
            inertia[i, j] = 0.0


def finish(velocity: Array, loads: Array, inertia: Array, force: Array) -> None:
    """Add the applied loads, and the upper half of the symmetric mass matrix."""
    for i in range(len(force)):
        for b in range(1, len(loads)):
            for k in range(loads.shape[1]):
                force[i] += velocity[b, 2 + i, k] * loads[b, k]
        for j in range(i):
            inertia[j, i] = inertia[i, j]
