"""The solved motion: every body at every instant, and how sure each answer is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mbssa import Mechanism

Floats = npt.NDArray[np.float64]

#: What a status says, by its number.
STATUS = (
    "ok",
    "not converged",
    "singular",
    "waits for a group that failed",
    "out of reach",
    "mode lost",
    "dropped equations violated",
    "gimbal",
    "not computed",
)


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Poses, velocities and accelerations of all bodies, SI units, world axes.

    Stored body by body; the public arrays are views with the time first.

    Attributes
    ----------
    time : (T,) s
    position : (T, N, 3) m, of each body's own origin; planar: (T, N, 2)
    orientation : (T, N, 4) unit quaternion w, x, y, z, continuous in sign; planar: (T, N) rad, unwrapped
    velocity, acceleration : (T, N, 6) linear of the body's origin, then angular; planar: (T, N, 3)
    status : (T, G) int8 by group: 0 ok, else see :data:`STATUS`
    residual : (T, G) largest residual of the group's equations, m or rad
    iterations : (T, G) Newton steps; 0 for closed forms
    condition : (T, G) smallest over largest pivot: 1 well conditioned, 0 singular
    kept : (K,) indices of the bodies that the arrays hold, ascending; K = N where all were kept
    causes : by group, the joint that ran out; empty texts where none did, None where nobody asked
    group_names : by group, its bodies and its type; None: from the mechanism's own decomposition

    Bodies of a group whose status is not 0 are NaN at that instant.

    Examples
    --------
    >>> import groups, mbssa
    >>> crank = mbssa.load("slider_crank")
    >>> trajectory = groups.build(mbssa.decompose(crank)).solve(groups.constant_speed(crank, steps=5))
    >>> trajectory.position.shape, trajectory.orientation.shape, trajectory.status.shape
    ((5, 4, 3), (5, 4, 4), (5, 2))
    """

    mechanism: Mechanism
    time: Floats
    position: Floats
    orientation: Floats
    velocity: Floats
    acceleration: Floats
    status: npt.NDArray[np.int8]
    residual: Floats
    iterations: npt.NDArray[np.int64]
    condition: Floats
    kept: npt.NDArray[np.int64]
    causes: tuple[str, ...] | None = field(default=None, kw_only=True)
    group_names: tuple[str, ...] | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        state = "ok" if self.ok else "; ".join(self.faults())
        return f"<Trajectory of {self.mechanism.name}: {len(self.time)} instants, {state}>"

    @property
    def ok(self) -> bool:
        """Whether every group was solved at every instant."""
        return not self.status.any()

    def body(self, name: str | int) -> BodyMotion:
        """Motion of one body, by name or number.

        Raises
        ------
        KeyError
            No such body.
        """
        return BodyMotion(self, _body_index(self.mechanism, name))

    def faults(self) -> list[str]:
        """One sentence per group that failed: why, and its first instant."""
        sentences = []
        for g in np.flatnonzero(self.status.any(axis=0)).tolist():
            t = int(np.flatnonzero(self.status[:, g])[0])
            count = int((self.status[:, g] != 0).sum())
            sentences.append(
                f"SG-{g + 1} {STATUS[self.status[t, g]]} at {count} of {len(self.time)} instants, "
                f"first at t = {self.time[t]:.6g} s (residual {self.residual[t, g]:.3g})"
            )
        return sentences

    def save(self, path: str | Path) -> None:
        """Write all arrays to an ``.npz`` file."""
        np.savez(
            path,
            time=self.time,
            position=self.position,
            orientation=self.orientation,
            velocity=self.velocity,
            acceleration=self.acceleration,
            status=self.status,
            residual=self.residual,
            iterations=self.iterations,
            bodies=np.array([body.name for body in self.mechanism.bodies]),
        )

    def columns(self) -> tuple[list[str], Floats]:
        """Header and (T, columns) table of time, position, orientation, velocity, acceleration."""
        planar = self.mechanism.space == "planar"
        pose = ("x", "y", "angle") if planar else ("x", "y", "z", "qw", "qx", "qy", "qz")
        rates = ("vx", "vy", "wz") if planar else ("vx", "vy", "vz", "wx", "wy", "wz")
        seconds = ("ax", "ay", "alz") if planar else ("ax", "ay", "az", "alx", "aly", "alz")
        header, parts = ["time"], [self.time[:, None]]
        for body in self.mechanism.bodies[1:]:
            header += [f"{body.name}.{name}" for name in (*pose, *rates, *seconds)]
            orientation = self.orientation[:, body.index]
            parts += [
                self.position[:, body.index],
                orientation[:, None] if planar else orientation,
                self.velocity[:, body.index],
                self.acceleration[:, body.index],
            ]
        return header, np.concatenate(parts, axis=1)


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """View of one body of a trajectory; arrays as there, without the axis of the bodies.

    >>> import groups, mbssa
    >>> crank = mbssa.load("planar_four_bar")
    >>> trajectory = groups.build(mbssa.decompose(crank)).solve(groups.constant_speed(crank, steps=5))
    >>> trajectory.body("coupler").point("tracer").shape
    (5, 2)
    """

    trajectory: Trajectory
    index: int

    @property
    def position(self) -> Floats:
        return self.trajectory.position[:, self.index]

    @property
    def orientation(self) -> Floats:
        return self.trajectory.orientation[:, self.index]

    @property
    def velocity(self) -> Floats:
        return self.trajectory.velocity[:, self.index]

    @property
    def acceleration(self) -> Floats:
        return self.trajectory.acceleration[:, self.index]

    def point(self, at: str | Sequence[float]) -> Floats:
        """(T, 3) or (T, 2) path of a point of the body: a name of the model, or world coordinates at the
        reference.

        Raises
        ------
        KeyError
            The body has no point of that name.
        """
        from groups.model import reference_pose

        origin, rotation = reference_pose(self.trajectory.mechanism, self.index)
        geometry = self.trajectory.mechanism.body_geometry.get(self.index)
        if isinstance(at, str):
            points = geometry.points if geometry is not None else {}
            if at not in points:
                raise KeyError(f"no point {at!r}; the body has {', '.join(points) or 'none'}")
            at = points[at]
        planar = self.trajectory.mechanism.space == "planar"
        local = rotation.T @ (np.array([*at, 0.0] if planar else at) - origin)
        turned = self._rotations() @ local
        return self.position + (turned[:, :2] if planar else turned)

    def _rotations(self) -> Floats:
        if self.trajectory.mechanism.space == "planar":
            c, s = np.cos(self.orientation), np.sin(self.orientation)
            zero, one = np.zeros_like(c), np.ones_like(c)
            rows = [[c, -s, zero], [s, c, zero], [zero, zero, one]]
            return np.moveaxis(np.array(rows), 2, 0)
        return rotation_of(self.orientation)


def rotation_of(quaternion: Floats) -> Floats:
    """(..., 3, 3) rotation matrices of unit quaternions w, x, y, z.

    >>> rotation_of(np.array([1.0, 0.0, 0.0, 0.0])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quaternion_of(rotation: Floats) -> Floats:
    """(..., T, 4) unit quaternions of rotation matrices (..., T, 3, 3), continuous in sign along T.

    The largest of the four squares is taken first, so no digit is lost (Shepperd 1978).
    """
    r = rotation
    trace = r[..., 0, 0] + r[..., 1, 1] + r[..., 2, 2]
    squares = np.stack([trace, r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]], axis=-1)
    q = np.full((*r.shape[:-2], 4), np.nan)
    sound = np.isfinite(trace)
    best = np.where(sound, np.argmax(np.nan_to_num(squares, nan=-9.0), axis=-1), -1)
    for k in range(4):
        here = best == k
        m = r[here]
        if not len(m):
            continue
        total = m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
        if k == 0:
            root = np.sqrt(1 + total)
            parts = [root, *((m[:, b, a] - m[:, a, b]) / root for a, b in ((1, 2), (2, 0), (0, 1)))]
        else:
            i, j, n = k - 1, k % 3, (k + 1) % 3
            root = np.sqrt(1 + 2 * m[:, i, i] - total)
            parts = [(m[:, n, j] - m[:, j, n]) / root, root, root, root]
            parts[1 + i] = root
            parts[1 + j] = (m[:, j, i] + m[:, i, j]) / root
            parts[1 + n] = (m[:, n, i] + m[:, i, n]) / root
        q[here] = 0.5 * np.stack(parts, axis=-1)
    return _continuous(q)


def _continuous(q: Floats) -> Floats:
    inner = np.nansum(q[..., 1:, :] * q[..., :-1, :], axis=-1)
    flips = np.cumprod(np.where(inner < 0, -1.0, 1.0), axis=-1)
    q[..., 1:, :] *= flips[..., None]
    return q


def _body_index(mechanism: Mechanism, name: str | int) -> int:
    for body in mechanism.bodies:
        if name in (body.name, body.number, str(body.number)):
            return body.index
    names = ", ".join(body.name for body in mechanism.bodies)
    raise KeyError(f"no body {name!r}; the bodies are {names}")
