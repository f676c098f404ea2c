"""The global approach: all bodies and all equations of a mechanism in one system per instant.

What the structural groups spare. It is kept as the oracle of every group solver, and as the baseline that
their speed is measured against.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from groups.encoding import RowTables, drive_rows, encode_rows
from groups.kernels import global_newton as kernels
from groups.kernels.jets import SIZE, WORK
from groups.kernels.status import DROPPED, NOT_CONVERGED, OK, SINGULAR
from groups.motion import Motion, default_motion
from groups.reference import closed_reference, inputs_from_reference
from groups.results.faults import STATUS
from groups.results.rotations import quaternion_of
from groups.spins import held_spins
from groups.trajectory import Trajectory
from mbssa.compiled import compiled
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration, unknowns
from mbssa.structure import Structure

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Method = Literal["dense", "sparse"]
Level = Literal["position", "velocity", "acceleration"]
Progress = Callable[[float], object]

#: Largest residual of what was solved, and of what follows from it, over the mechanism's size.
CLOSED, VIOLATED = 1e-12, 1e-9

#: Newton steps at one instant before it counts as not converged.
STEPS = 30

#: Parts of a motion after which progress is told.
_PARTS = 100


@dataclass(frozen=True, eq=False)
class GlobalSystem:
    """A whole mechanism as one system; lengths divided by ``size``.

    Attributes
    ----------
    rows : all equations: every joint's constraints and drives, and the held spins
    n : unknowns; as many equations are independent
    columns : which of v_x, v_y, v_z, w_x, w_y, w_z a body has
    size : m
    """

    rows: RowTables
    n: int
    columns: Ints
    size: float

    @property
    def redundant(self) -> int:
        """How many equations follow from the others."""
        return len(self.rows) - self.n


def solve_globally(
    structure: Structure,
    motion: Motion | None = None,
    *,
    method: Method = "dense",
    level: Level = "acceleration",
    progress: Progress | None = None,
) -> Trajectory:
    """Position, velocity and acceleration of every body by Newton on all of them at once.

    The start and the convention of idle spins are those of :func:`groups.build`; the groups are not used,
    and of redundant equations none is left out for good. The trajectory has one group, the whole mechanism.
    ``residual`` is in m: angles count as arcs at the mechanism's size.

    Parameters
    ----------
    motion : inputs over time; the model's own by default
    method : "dense", compiled throughout, or "sparse", SciPy's SuperLU on a fixed pattern
    level : the last level of answer that is wanted
    progress : called with the share that is done now and then; False from it stops the run, and what was
        not computed says so in its status

    Raises
    ------
    ValueError
        Not determined, without geometry, types without equations, a reference that cannot close, a motion
        that drives other coordinates, or a method or level that there is not.

    Examples
    --------
    >>> import groups, mbssa
    >>> crank = mbssa.load("slider_crank_isostatic")
    >>> motion = groups.constant_speed(crank, steps=11)
    >>> trajectory = groups.solve_globally(mbssa.decompose(crank), motion)
    >>> trajectory.ok, trajectory.status.shape
    (True, (11, 1))
    """
    for given, allowed, what in ((method, get_args(Method), "method"), (level, get_args(Level), "level")):
        if given not in allowed:
            raise ValueError(f"no {what} {given!r}; there are {', '.join(allowed)}")
    motion = default_motion(structure.mechanism) if motion is None else motion
    frames, reference = closed_reference(structure)
    system = encode(structure, frames)
    lead = inputs_from_reference(structure, frames, reference, motion)
    run = _Run.of(system, reference, lead, get_args(Level).index(level))
    advance = _dense(run) if method == "dense" else _sparse(run)
    instants, last = len(lead[0]), 0
    part = instants if progress is None else -(-instants // _PARTS)
    for first in range(1, instants, part):
        stop = min(first + part, instants)
        last = advance(first, stop, last)
        if progress is not None and progress(stop / instants) is False:
            run.stop_at(stop)
            break
    return _trajectory(structure, motion, run, level)


def encode(structure: Structure, frames: Frames) -> GlobalSystem:
    """All equations of a structure.

    Raises
    ------
    ValueError
        Joints of types without equations, or fewer equations than unknowns.

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.joints.frames import joint_frames
    >>> bar = mbssa.load("spatial_4r")
    >>> system = encode(mbssa.decompose(bar), joint_frames(bar))
    >>> len(system.rows), system.n, system.redundant
    (21, 18, 3)
    """
    mechanism = structure.mechanism
    spins = held_spins(structure, frames)
    drives = drive_rows(mechanism)
    rows = encode_rows(mechanism, frames, range(mechanism.n_joints), range(mechanism.n_bodies), drives, spins)
    columns = np.array(unknowns(mechanism.space), dtype=np.int64)
    n = (mechanism.n_bodies - 1) * len(columns)
    if len(rows) < n:
        raise ValueError(f"{mechanism.name} has {len(rows)} equations for {n} unknowns")
    scaled = replace(rows, origin=rows.origin / frames.size, parameter=rows.parameter / frames.size)
    return GlobalSystem(scaled, n, columns, frames.size)


@dataclass(frozen=True, eq=False)
class _Run:
    """One motion of a system, lengths divided by its size; arrays body by body."""

    system: GlobalSystem
    inputs: kernels.Inputs
    poses: kernels.Poses
    quality: kernels.Quality
    limits: kernels.Limits
    level: int

    @staticmethod
    def of(system: GlobalSystem, reference: Configuration, inputs: kernels.Inputs, level: int) -> _Run:
        bodies, instants = len(reference.position), len(inputs[0])
        rows = system.rows
        units = np.ones(len(inputs[1]))
        units[rows.drive[rows.is_length & ~rows.constraint]] = system.size
        position = np.repeat(reference.position[:, None] / system.size, instants, axis=1)
        rotation = np.repeat(reference.rotation[:, None], instants, axis=1)
        # Far from the world's origin a residual cannot fall below the rounding of the positions.
        rounding = 64 * np.finfo(float).eps * float(np.abs(position[:, 0]).max())
        return _Run(
            system,
            (np.ascontiguousarray(inputs[0]), *(a / units[:, None] for a in inputs[1:])),
            (position, rotation, np.zeros((bodies, instants, 6)), np.zeros((bodies, instants, 6))),
            (
                np.zeros(instants, dtype=np.int8),
                np.zeros(instants),
                np.zeros(instants, dtype=np.int32),
                np.zeros(instants),
            ),
            (max(CLOSED, rounding), VIOLATED, STEPS),
            level,
        )

    def stop_at(self, done: int) -> None:
        """Say of all later instants that they were not computed."""
        for array in self.poses:
            array[1:, done:] = np.nan
        self.quality[0][done:] = STATUS.index("not computed")
        self.quality[1][done:] = np.nan


def _entries(system: GlobalSystem) -> tuple[Ints, Ints, Ints]:
    """Which numbers of the jets go into the matrix: equation, derivative, and column."""
    rows = system.rows
    place = np.full(6, -1)
    place[system.columns] = np.arange(len(system.columns))
    bodies = np.repeat(rows.pair[rows.joint], 6, axis=1)
    local = np.tile(place, 2)
    used = (bodies > 0) & (local >= 0)
    equation, derivative = np.nonzero(used)
    return equation, derivative, (bodies[used] - 1) * len(system.columns) + local[derivative]


def _slots(system: GlobalSystem, equation: Ints, derivative: Ints, place: Ints) -> kernels.System:
    slots = np.full((len(system.rows), 12), -1, dtype=np.int64)
    slots[equation, derivative] = place
    return system.rows.drive, slots, system.columns


def _dense(run: _Run) -> Callable[[int, int, int], int]:
    """Solver of a stretch of instants by the compiled kernel; it returns the last instant solved."""
    equation, derivative, column = _entries(run.system)
    system = _slots(run.system, equation, derivative, equation * run.system.n + column)
    rows = run.system.rows.kernel_rows
    kernel = compiled(kernels.solve_dense)

    def advance(first: int, stop: int, last: int) -> int:
        answer: int = kernel(
            first, stop, last, rows, system, run.inputs, run.poses, run.quality, run.limits, run.level
        )
        return answer

    return advance


def _sparse(run: _Run) -> Callable[[int, int, int], int]:
    """The same by SuperLU, one call per factorisation."""
    m = len(run.poses[0])
    equation, derivative, column = _entries(run.system)
    matrix = _Sparse(run.system, equation, column)
    system = _slots(run.system, equation, derivative, matrix.place)
    rows, columns = run.system.rows.kernel_rows, run.system.columns
    right = np.zeros(len(run.system.rows))
    work = np.zeros((WORK, SIZE)), np.zeros((len(right), SIZE)), matrix.jacobian, right
    stage = np.zeros((m, 3)), np.zeros((m, 3, 3)), np.zeros((m, 6)), np.zeros((m, 6))
    status, residual, iterations, condition = run.quality
    tolerance, allowance, most = run.limits
    begin, look, fill, move, velocities, accelerations, spread, end = (
        compiled(kernel)
        for kernel in (
            kernels.begin, kernels.look, kernels.fill, kernels.move,
            kernels.velocities, kernels.accelerations, kernels.spread, kernels.end,
        )
    )  # fmt: skip

    def advance(first: int, stop: int, last: int) -> int:
        for t in range(first, stop):
            begin(t, last, run.inputs[0], run.poses, stage)
            status[t], condition[t] = NOT_CONVERGED, 0.0
            for step in range(most + 1):
                worst = look(t, rows, system, run.inputs, stage, work)
                residual[t], iterations[t] = worst, step
                if not worst < np.inf:
                    break
                if worst > tolerance or run.level > 0 or step == 0:
                    fill(system, work)
                    condition[t] = matrix.factorise()
                regular = condition[t] > kernels.HOPELESS
                by = matrix.solve(right) if regular else right
                # Contradicting equations are met in the sense of least squares.
                if worst <= tolerance or (regular and np.abs(by).max() <= tolerance):
                    status[t] = OK if worst <= max(tolerance, allowance) else DROPPED
                    if run.level > 0 and not condition[t] > kernels.LEAST:
                        status[t] = SINGULAR
                    break
                if not regular:
                    status[t] = SINGULAR
                    break
                move(by, columns, stage[0], stage[1])
            if status[t] in (OK, DROPPED):
                if condition[t] > kernels.LEAST:
                    velocities(t, system, run.inputs, right)
                    spread(matrix.solve(right), columns, stage[2])
                if run.level == 2:
                    accelerations(t, rows, system, run.inputs, stage, work)
                    spread(matrix.solve(right), columns, stage[3])
            if end(t, int(status[t]), stage, run.poses):
                last = t
        return last

    return advance


class _Sparse:
    """A sparse system of fixed pattern, factorised again and again.

    With redundant equations it is the augmented one of least squares, (I, J; Jᵀ, 0), whose pivots are
    squares of those of J.
    """

    def __init__(self, system: GlobalSystem, equation: Ints, column: Ints) -> None:
        import scipy.sparse

        rows, n = len(system.rows), system.n
        self.tall = rows > n
        cells, self.place = np.unique(column * rows + equation, return_inverse=True)
        self.jacobian = np.zeros(len(cells))
        at, of = cells % rows, cells // rows
        if self.tall:
            one = np.arange(rows)
            entries = np.concatenate([at, of + rows, one]), np.concatenate([of + rows, at, one])
        else:
            entries = at, of
        size = rows + n if self.tall else n
        order = np.lexsort((entries[0], entries[1]))
        starts = np.searchsorted(entries[1][order], np.arange(size + 1))
        self._matrix = scipy.sparse.csc_array(
            (np.ones(len(order)), entries[0][order], starts), shape=(size, size)
        )
        # Where the Jacobian's numbers go: once, or twice with its transpose; the ones stay.
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        self._goes_to = back[: len(cells)], back[len(cells) : 2 * len(cells)]
        self._rows, self._padding = rows, np.zeros(n)
        self._factors: Any = None

    def factorise(self) -> float:
        """The smallest over the largest pivot; 0 where there is no inverse."""
        from scipy.sparse.linalg import splu

        for places in self._goes_to[: 2 if self.tall else 1]:
            self._matrix.data[places] = self.jacobian
        try:
            self._factors = splu(self._matrix)
        except RuntimeError:  # SuperLU's way to say that a pivot is exactly zero
            return 0.0
        pivots = np.abs(self._factors.U.diagonal())
        ratio = float(pivots.min() / pivots.max())
        return ratio**0.5 if self.tall else ratio

    def solve(self, right: Floats) -> Floats:
        """(n,) solution with the factors."""
        if not self.tall:
            answer: Floats = self._factors.solve(right)
            return answer
        whole: Floats = self._factors.solve(np.concatenate([right, self._padding]))
        return whole[self._rows :]


def _trajectory(structure: Structure, motion: Motion, run: _Run, level: Level) -> Trajectory:
    """The motion's own instants, lengths in metres again."""
    extra = len(run.inputs[0]) - len(motion.time)
    position, rotation, velocity, acceleration = (a[:, extra:] for a in run.poses)
    for linear in (position, velocity[:, :, :3], acceleration[:, :, :3]):
        linear *= run.system.size
    status, residual, iterations, condition = (a[extra:, None] for a in run.quality)
    orientation = quaternion_of(rotation)
    if structure.mechanism.space == "planar":
        orientation = _unwrapped(np.arctan2(rotation[:, :, 1, 0], rotation[:, :, 0, 0]))
        position, velocity, acceleration = (
            position[:, :, :2],
            velocity[:, :, [0, 1, 5]],
            acceleration[:, :, [0, 1, 5]],
        )
    return Trajectory(
        structure.mechanism,
        motion.time,
        position.swapaxes(0, 1),
        orientation.swapaxes(0, 1),
        velocity.swapaxes(0, 1) if run.level > 0 else None,
        acceleration.swapaxes(0, 1) if run.level > 1 else None,
        status,
        residual * run.system.size,
        iterations,
        condition,
        np.arange(len(position)),
        group_names=("the whole mechanism",),
    )


def _unwrapped(angle: Floats) -> Floats:
    """Angles (N, T) without jumps; instants without an answer are left out."""
    for row in angle:
        sound = np.isfinite(row)
        row[sound] = np.unwrap(row[sound])
    return angle
