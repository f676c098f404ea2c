"""Inertia and loads of all bodies in the independent coordinates: the velocity transformation Rᵀ M R."""

from __future__ import annotations

import numpy as np

from groups.dynamics.masses import MassTable
from mbssa.arrays import Floats

_W, _X, _Y, _Z = np.eye(4)
#: E(q) = q @ _E and G(q) = q @ _G by rows, of quaternions q: the rotation is E Gᵀ (Nikravesh 1988, 6.3).
_E = np.array([[-_X, _W, -_Z, _Y], [-_Y, _Z, _W, -_X], [-_Z, -_Y, _X, _W]]).reshape(12, 4).T
_G = np.array([[-_X, _W, _Z, -_Y], [-_Y, -_Z, _W, _X], [-_Z, _Y, -_X, _W]]).reshape(12, 4).T
#: The matrix of v × … is v @ _CROSS by rows.
_CROSS = np.cross(np.eye(3)[:, None], np.eye(3)).swapaxes(1, 2).reshape(3, 9)


class Inertia:
    """Mass matrices (N, w, w) of all bodies about their origins, world axes; w is 3 in the plane, else 6."""

    def __init__(self, table: MassTable, bodies: int, planar: bool) -> None:
        self.planar, (linear, wide) = planar, (2, 3) if planar else (3, 6)
        mass, self._static = np.zeros(bodies), np.zeros((bodies, 3))
        self._moment = np.zeros((bodies, 3, 3))
        r, m, at = table.centre, table.mass[:, None], table.body
        mass[at], self._static[at] = table.mass, m * r
        square = (r * r).sum(axis=1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None]
        self._moment[at] = table.moment + m[:, :, None] * square
        self._matrix = np.zeros((bodies, wide, wide))
        for k in range(linear):
            self._matrix[:, k, k] = mass
        self._gravity = np.concatenate([table.gravity[:linear], np.zeros(wide - linear)])
        if planar:
            self._matrix[:, 2, 2] = self._moment[:, 2, 2]
            self._plane = self._static[:, 0] + 1j * self._static[:, 1]

    def reduced(
        self, orientation: Floats, velocity: Floats, bias: Floats, loads: Floats
    ) -> tuple[Floats, Floats]:
        """Mass matrix (D, D) and generalised forces (D,) of the coordinates, with loads (N, w)."""
        # Velocities (N, w, 1 + D) are for the true rates, then for unit rates; the bias accelerations (N, w)
        # for zero second rates.
        N, wide, columns = velocity.shape
        wrench = self._planar(orientation, velocity) if self.planar else self._spatial(orientation, velocity)
        moved = np.empty((N, wide, columns))  # by unit rates, then by what is left without second rates
        moved[:, :, :-1], moved[:, :, -1] = velocity[:, :, 1:], self._gravity - bias
        momentum = self._matrix @ moved
        momentum[:, :, -1] += wrench + loads
        found = moved[:, :, :-1].reshape(-1, columns - 1).T @ momentum.reshape(-1, columns)
        return found[:, :-1], found[:, -1]

    def _planar(self, angle: Floats, velocity: Floats) -> Floats:
        """Centrifugal wrenches (N, 3); the matrices are turned."""
        static, matrix = self._plane * np.exp(1j * angle), self._matrix
        matrix[:, 0, 2] = matrix[:, 2, 0] = -static.imag
        matrix[:, 1, 2] = matrix[:, 2, 1] = static.real
        square = velocity[:, 2, 0] ** 2
        return np.stack([square * static.real, square * static.imag, 0.0 * square], axis=1)

    def _spatial(self, quaternion: Floats, velocity: Floats) -> Floats:
        """Centrifugal and gyroscopic wrenches (N, 6); the matrices are turned."""
        R = (quaternion @ _E).reshape(-1, 3, 4) @ (quaternion @ _G).reshape(-1, 3, 4).swapaxes(1, 2)
        matrix, spin = self._matrix, velocity[:, 3:, 0]
        static = (R @ self._static[:, :, None])[:, :, 0]
        shift = (static @ _CROSS).reshape(-1, 3, 3)
        matrix[:, 3:, :3], matrix[:, :3, 3:] = shift, -shift
        matrix[:, 3:, 3:] = R @ self._moment @ R.swapaxes(1, 2)
        turn = (spin @ _CROSS).reshape(-1, 3, 3)
        wrench = np.empty((len(R), 6))
        wrench[:, :3] = (turn @ (turn @ static[:, :, None]))[:, :, 0]
        wrench[:, 3:] = (turn @ (matrix[:, 3:, 3:] @ spin[:, :, None]))[:, :, 0]
        return -wrench
