"""A structure that can be solved: one solver per group, in the order of the dependency DAG."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groups.motion import Motion, driven_coordinates, reference_inputs
from groups.newton import kernels
from groups.newton.encoding import Encoded, encode
from groups.trajectory import Trajectory, quaternion_of
from mbssa import Mechanism, Structure
from mbssa.compiled import compiled
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.system import Configuration

Floats = npt.NDArray[np.float64]

#: Residual at which a group counts as closed, over the mechanism's size.
CLOSED = 1e-12

#: Newton steps at one instant before it counts as not converged.
STEPS = 30

#: Instants that lead from the reference to the first instant of a motion that starts elsewhere.
RUN_IN = 50


@dataclass(frozen=True, eq=False)
class Model:
    """What :func:`build` makes of a structure; :meth:`solve` runs it over a motion.

    >>> import groups, mbssa
    >>> model = groups.build(mbssa.decompose(mbssa.load("rotor")))
    >>> len(model.encoded), model.structure.n_groups
    (7, 7)
    """

    structure: Structure
    frames: Frames
    reference: Configuration
    encoded: tuple[Encoded, ...]

    @property
    def reference_inputs(self) -> dict[str, float]:
        """Values of the driven coordinates at the reference, m and rad: where a law may well start.

        >>> import groups, mbssa
        >>> stewart = groups.build(mbssa.decompose(mbssa.load("stewart")))
        >>> round(stewart.reference_inputs["2-3.slide"], 3)
        1.195
        """
        mechanism = self.structure.mechanism
        values = reference_inputs(mechanism, self.frames, self.reference)
        return dict(zip(driven_coordinates(mechanism), values.tolist(), strict=True))

    def solve(self, motion: Motion) -> Trajectory:
        """Position, velocity and acceleration of every body over a motion, group by group.

        The first instant is reached from the model's reference configuration through intermediate
        positions of the inputs, so the assembly mode of the reference is kept.

        Raises
        ------
        ValueError
            The motion drives other coordinates than the model has.

        Examples
        --------
        >>> import groups, mbssa
        >>> crank = mbssa.load("slider_crank_isostatic")
        >>> model = groups.build(mbssa.decompose(crank))
        >>> motion = groups.constant_speed(crank, duration=1.0, steps=101)
        >>> trajectory = model.solve(motion)
        >>> trajectory.ok, float(trajectory.residual.max()) < 1e-12
        (True, True)
        """
        mechanism = self.structure.mechanism
        wanted = driven_coordinates(mechanism)
        if tuple(motion.names) != wanted:
            raise ValueError(f"the motion drives {motion.names}; the model needs {wanted}")
        lead = self._run_in(motion)
        time, value, rate, second = (np.ascontiguousarray(a) for a in lead)
        extra = len(time) - len(motion.time)
        n, instants = mechanism.n_bodies, len(time)
        position = np.zeros((n, instants, 3))
        rotation = np.zeros((n, instants, 3, 3))
        velocity, acceleration = np.zeros((n, instants, 6)), np.zeros((n, instants, 6))
        position[:, 0], rotation[:, 0] = self.reference.position, self.reference.rotation
        position[0], rotation[0] = self.reference.position[0], self.reference.rotation[0]
        n_groups = self.structure.n_groups
        status = np.zeros((n_groups, instants), dtype=np.int8)
        residual = np.zeros((n_groups, instants))
        iterations = np.zeros((n_groups, instants), dtype=np.int64)
        kernel = compiled(kernels.solve_group)
        for g, e in enumerate(self.encoded):
            kernel(
                e.bodies,
                e.columns,
                e.equations,
                e.drive,
                time,
                (value, rate, second),
                (position, rotation, velocity, acceleration),
                (status[g], residual[g], iterations[g]),
                CLOSED * self.frames.size,
                STEPS,
            )
        return _trajectory(
            mechanism,
            motion.time,
            position[:, extra:],
            rotation[:, extra:],
            velocity[:, extra:],
            acceleration[:, extra:],
            (status[:, extra:].T, residual[:, extra:].T, iterations[:, extra:].T),
        )

    def _run_in(self, motion: Motion) -> tuple[Floats, Floats, Floats, Floats]:
        """Time and inputs with instants in front that lead from the reference to the first one."""
        start = reference_inputs(self.structure.mechanism, self.frames, self.reference)
        first = motion.value[:, 0]
        parts = motion.time, motion.value, motion.rate, motion.acceleration
        if np.abs(first - start).max(initial=0.0) < 1e-9:
            return parts
        share = np.linspace(0, 1, RUN_IN, endpoint=False)
        before = motion.time[0] - 1 + share
        ramp = start[:, None] + np.outer(first - start, share)
        steady = np.repeat((first - start)[:, None], RUN_IN, axis=1)
        return (
            np.concatenate([before, motion.time]),
            np.concatenate([ramp, motion.value], axis=1),
            np.concatenate([steady, motion.rate], axis=1),
            np.concatenate([np.zeros_like(ramp), motion.acceleration], axis=1),
        )


def build(structure: Structure) -> Model:
    """A solvable model of a structure.

    Raises
    ------
    ValueError
        Not determined, without geometry, a type without equations, or a reference that cannot close:
        what and where.

    Examples
    --------
    >>> import groups, mbssa
    >>> groups.build(mbssa.decompose(mbssa.load("stewart"))).structure.n_groups
    1
    """
    mechanism = structure.mechanism
    if not structure.determined:
        raise ValueError(f"{mechanism.name} is not determined; mbssa.check says why and what would help")
    frames = joint_frames(mechanism)
    missing = [
        mechanism.joint_ids[j]
        for j in np.flatnonzero(~frames.known).tolist()
        if mechanism.joint_geometry.get(j) is None
    ]
    if missing:
        raise ValueError(f"{mechanism.name} cannot be solved: no geometry at {', '.join(missing)}")
    closed = assemble(mechanism, frames)
    if not closed.closed:
        raise ValueError(f"{mechanism.name} cannot be assembled: {closed.fault}")
    drives = {
        (joint.index, name): row
        for row, (joint, name) in enumerate(
            (joint, name) for joint in mechanism.joints if joint.driven for name in joint.driven
        )
    }
    encoded = tuple(encode(group, frames, drives) for group in structure.groups)
    return Model(structure, frames, closed.configuration, encoded)


def reference_pose(mechanism: Mechanism, body: int) -> tuple[Floats, Floats]:
    """Origin (3,) and rotation (3, 3) of a body's own frame in the world at the reference."""
    frames = joint_frames(mechanism)
    return frames.position[body], frames.rotation[body]


def _trajectory(
    mechanism: Mechanism,
    time: Floats,
    position: Floats,
    rotation: Floats,
    velocity: Floats,
    acceleration: Floats,
    quality: tuple[npt.NDArray[np.int8], Floats, npt.NDArray[np.int64]],
) -> Trajectory:
    if mechanism.space == "planar":
        angle = np.arctan2(rotation[:, :, 1, 0], rotation[:, :, 0, 0])
        orientation = _unwrapped(angle).T
        velocity, acceleration = velocity[:, :, [0, 1, 5]], acceleration[:, :, [0, 1, 5]]
        position = position[:, :, :2]
    else:
        orientation = quaternion_of(rotation).transpose(1, 0, 2)
    return Trajectory(
        mechanism,
        time,
        position.transpose(1, 0, 2),
        orientation,
        velocity.transpose(1, 0, 2),
        acceleration.transpose(1, 0, 2),
        *quality,
        condition=np.ones(quality[0].shape),
        kept=np.arange(mechanism.n_bodies),
    )


def _unwrapped(angle: Floats) -> Floats:
    """Angles (N, T) without jumps; instants without an answer are left out."""
    for row in angle:
        sound = np.isfinite(row)
        row[sound] = np.unwrap(row[sound])
    return angle
