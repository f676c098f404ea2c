"""The cut Jacobian J: how the equations of the cuts change with the relative coordinates of the tree.

It is put together from the joints' own rows (:mod:`mbssa.joints.equations`): a coordinate's free twist
moves every body behind its joint, and a cut's rows say what the relative twist of its two bodies does.
Lengths are divided by the mechanism's size, in rows and in columns: a slide counts in sizes, an angle in
rad, so that J is without units and its singular values and pivots may be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.partitioning.cutting import Cut, CutOpen
from groups.results.rotations import in_space, plane_rotation, rotation_of
from mbssa.joints.catalogue import CATALOGUE
from mbssa.joints.equations import Equations, coordinates, pose, residuals
from mbssa.joints.relations import Poses as OneInstant
from mbssa.joints.relations import value_and_rates
from mbssa.joints.system import Configuration

if TYPE_CHECKING:
    from groups.trajectory import Trajectory

Floats = npt.NDArray[np.float64]

#: Numbers that the twists of all bodies may take at a time: so many instants are evaluated together.
_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class Poses:
    """All bodies at T instants: ``position`` (T, N, 3) m, ``rotation`` (T, N, 3, 3), ``angle`` (T, N) rad,
    which has a meaning in the plane alone."""

    position: Floats
    rotation: Floats
    angle: Floats

    def instants(self, which: slice) -> Poses:
        """Some of them, as views."""
        return Poses(self.position[which], self.rotation[which], self.angle[which])

    @staticmethod
    def at(configuration: Configuration) -> Poses:
        """One instant."""
        return Poses(configuration.position[None], configuration.rotation[None], configuration.angle[None])

    @staticmethod
    def of(trajectory: Trajectory) -> Poses:
        """All instants of a motion; NaN where a body was not placed.

        Raises
        ------
        ValueError
            Not all bodies were kept.
        """
        if len(trajectory.kept) < trajectory.mechanism.n_bodies:
            raise ValueError("a partition needs the poses of all bodies; solve without bodies=…")
        flat = trajectory.orientation
        rotation = plane_rotation(flat) if trajectory.planar else rotation_of(flat)
        angle = flat if trajectory.planar else np.zeros(flat.shape[:2])
        return Poses(in_space(trajectory.position), rotation, angle)


def cut_jacobian(opened: CutOpen, poses: Poses) -> Floats:
    """(T, m, n) derivative of the cuts' equations by the coordinates, lengths divided by the size.

    NaN at instants where a body was not placed.

    >>> import mbssa
    >>> from groups.partitioning.cutting import cut_open
    >>> from mbssa.joints.frames import joint_frames
    >>> from mbssa.joints.system import Configuration
    >>> bar = mbssa.load("pendulum_four_bar")
    >>> frames = joint_frames(bar)
    >>> cut_jacobian(cut_open(bar, frames), Poses.at(Configuration.reference(frames))).shape
    (1, 2, 3)
    """
    instants, n = len(poses.position), len(opened.coordinates)
    found = np.zeros((instants, len(opened.equations), n))
    together = max(1, _NUMBERS // (6 * (n + 1) * (len(opened.links) + 1)))
    for start in range(0, instants, together):
        block = slice(start, start + together)
        with np.errstate(invalid="ignore", divide="ignore"):
            reached = _Reached(opened, poses.instants(block))
            first = 0
            for cut in opened.cuts:
                found[block, first : first + len(cut.equations)] = reached.rows(cut)
                first += len(cut.equations)
    return found


def coordinate_values(opened: CutOpen, poses: Poses) -> Floats:
    """(T, n) relative coordinates, m and principal angles in rad.

    >>> import mbssa
    >>> from groups.partitioning.cutting import cut_open
    >>> from mbssa.joints.frames import joint_frames
    >>> from mbssa.joints.system import Configuration
    >>> bar = mbssa.load("planar_four_bar")
    >>> frames = joint_frames(bar)
    >>> reference = Poses.at(Configuration.reference(frames))
    >>> coordinate_values(cut_open(bar, frames), reference).round(3).tolist()
    [[0.927, 0.0, 0.0]]
    """
    values = np.full((len(poses.position), len(opened.coordinates)), np.nan)
    size = opened.frames.size
    with np.errstate(invalid="ignore", divide="ignore"):
        for link in opened.links:
            rows, d, C, given, _, _ = _measured(opened, poses, link.joint)
            first = opened.start[link.joint]
            values[:, first : first + len(rows.coordinates)] = coordinates(rows, d, C, given)[0]
    return values * np.where(np.array(opened.units) == "m", size, 1.0)


class _Reached:
    """Twists of all bodies by the coordinates: (T, 6, n), of the point at ``middle``, then angular."""

    def __init__(self, opened: CutOpen, poses: Poses) -> None:
        self.opened, self.poses = opened, poses
        # Far from the world's origin, digits would be lost: points are measured from the bodies' middle.
        self.middle = poses.position.mean(axis=1)
        still = np.zeros((len(poses.position), 6, len(opened.coordinates)))
        self.twist = {0: still}
        for link in opened.links:
            rows, d, C, given, axes, point = _measured(opened, poses, link.joint)
            q, _ = coordinates(rows, d, C, given)
            _, _, free = pose(rows, q, given)
            moved = self._in_world(free, axes, point)
            twist = self.twist[link.parent].copy()
            first = opened.start[link.joint]
            twist[:, :, first : first + moved.shape[2]] += moved if link.forward else -moved
            self.twist[link.body] = twist

    def _arm(self, point: Floats) -> Floats:
        arm: Floats = (point - self.middle) / self.opened.frames.size
        return arm

    def _in_world(self, free: Floats, axes: Floats, point: Floats) -> Floats:
        """Twists in a joint's axes at its point, as twists of the middle in the world's."""
        linear, angular = axes @ free[:, :3], axes @ free[:, 3:]
        arm = self._arm(point)[:, :, None]
        return np.concatenate([linear - np.cross(angular, arm, axis=1), angular], axis=1)

    def _at(self, body: int, point: Floats) -> Floats:
        """(T, 6, n) twists of a body at a point (T, 3)."""
        twist = self.twist[body]
        arm = self._arm(point)[:, :, None]
        linear = twist[:, :3] + np.cross(twist[:, 3:], arm, axis=1)
        return np.concatenate([linear, twist[:, 3:]], axis=1)

    def rows(self, cut: Cut) -> Floats:
        """(T, e, n) of one cut."""
        opened, joint = self.opened, cut.joints[0]
        if cut.rod >= 0:
            return self._rod(cut)
        row = CATALOGUE[int(opened.mechanism.joint_type[joint])]
        if row.pair is None:
            return self._related(cut)
        rows, d, C, given, axes, point = _measured(opened, self.poses, joint)
        first, second = opened.mechanism.joint_bodies(joint)[:2]
        relative = self._at(second, point) - self._at(first, point)
        inverse = axes.transpose(0, 2, 1)
        turned = np.concatenate([inverse @ relative[:, :3], inverse @ relative[:, 3:]], axis=1)
        _, rate = residuals(rows, d, C, given)
        parts = [rate @ turned]
        if cut.driven:
            _, rate = coordinates(rows, d, C, given)
            which = [row.coordinates.index(name) for name in cut.equations[-cut.driven :]]
            parts.append(rate[:, which] @ turned)
        return np.concatenate(parts, axis=1)

    def _rod(self, cut: Cut) -> Floats:
        """The distance of the two points that a body between two balls holds apart."""
        frames, mechanism = self.opened.frames, self.opened.mechanism
        ends, points = [], []
        for joint in cut.joints:
            bodies = mechanism.joint_bodies(joint)[:2]
            side = 1 if bodies[0] == cut.rod else 0
            body = bodies[side]
            turned = self.poses.rotation[:, body] @ frames.origin[joint, side]
            points.append(self.poses.position[:, body] + turned)
            ends.append(body)
        across = points[1] - points[0]
        along = across / np.linalg.norm(across, axis=1)[:, None]
        apart = self._at(ends[1], points[1])[:, :3] - self._at(ends[0], points[0])[:, :3]
        row: Floats = along[:, None, :] @ apart
        return row

    def _related(self, cut: Cut) -> Floats:
        """Relations (gears, contacts, users' functions) are by the twists of bodies, an instant at a time."""
        opened, poses = self.opened, self.poses
        relations = opened.frames.relations[cut.joints[0]]
        chosen = [*relations.constraints]
        chosen += [relations.coordinates[name] for name in cut.equations[len(chosen) :]]
        found = np.full((len(poses.position), len(chosen), len(opened.coordinates)), np.nan)
        for t in range(len(poses.position)):
            at = OneInstant(poses.position[t], poses.rotation[t], poses.angle[t])
            if not np.isfinite(at.position).all():
                continue
            twists = [self._at_instant(body, at.position[body], t) for body in relations.bodies]
            for row, relation in enumerate(chosen):
                _, rates = value_and_rates(relations, relation, at, opened.frames.size)
                found[t, row] = np.einsum("bi,bin->n", rates, np.array(twists))
        return found

    def _at_instant(self, body: int, point: Floats, t: int) -> Floats:
        twist = self.twist[body][t]
        arm = (point - self.middle[t]) / self.opened.frames.size
        linear = twist[:3] + np.cross(twist[3:], arm[:, None], axis=0)
        return np.concatenate([linear, twist[3:]])


def _measured(
    opened: CutOpen, poses: Poses, joint: int
) -> tuple[Equations, Floats, Floats, dict[str, Floats], Floats, Floats]:
    """A joint's equations, d (T, 3), C (T, 3, 3), parameters, axes of A in the world, B's origin there."""
    frames, mechanism = opened.frames, opened.mechanism
    rows = CATALOGUE[int(mechanism.joint_type[joint])].pair
    assert rows is not None  # relations carry nothing and are cut in their own way
    axes, points = [], []
    for side, body in enumerate(mechanism.joint_bodies(joint)[:2]):
        R = poses.rotation[:, body]
        axes.append(R @ frames.axes[joint, side])
        points.append(poses.position[:, body] + R @ frames.origin[joint, side])
    inverse = axes[0].transpose(0, 2, 1)
    d = np.einsum("tab,tb->ta", inverse, points[1] - points[0]) / frames.size
    given = {
        name: np.full(len(d), float(values[joint]) / (1.0 if name == "ratio" else frames.size))
        for name, values in frames.parameters.items()
    }
    return rows, d, inverse @ axes[1], given, axes[0], points[1]
