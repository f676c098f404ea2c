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
from groups.kernels.status import NOT_CONVERGED, OK, SINGULAR
from groups.motion import Motion
from groups.reference import closed_reference, inputs_from_reference
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
Progress = Callable[[float], None]

#: Largest residual of the kept equations, and of the dropped ones, over the mechanism's size.
CLOSED, VIOLATED = 1e-12, 1e-9

#: Newton steps at one instant before it counts as not converged.
STEPS = 30

#: Parts of a motion after which progress is told.
_PARTS = 100


@dataclass(frozen=True, eq=False)
class GlobalSystem:
    """A whole mechanism as one square system; lengths divided by ``size``.

    Attributes
    ----------
    rows : all equations: every joint's constraints and drives, and the held spins
    kept : (n,) rows that make the system; n unknowns
    dropped : rows that follow from them
    columns : which of v_x, v_y, v_z, w_x, w_y, w_z a body has
    size : m
    """

    rows: RowTables
    kept: Ints
    dropped: Ints
    columns: Ints
    size: float


def solve_globally(
    structure: Structure,
    motion: Motion,
    *,
    method: Method = "dense",
    level: Level = "acceleration",
    progress: Progress | None = None,
) -> Trajectory:
    """Position, velocity and acceleration of every body by Newton on all of them at once.

    The start, the convention of idle spins and the equations left out are those of the structure, whose
    groups are not used. The trajectory has one group, the whole mechanism. ``residual`` is in m: angles count
    as arcs at the mechanism's size.

    Parameters
    ----------
    method : "dense", compiled throughout, or "sparse", SciPy's SuperLU on a fixed pattern
    level : what to solve for
    progress : called with the fraction done

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
        if progress is not None:
            progress(stop / instants)
    return _trajectory(structure, motion, run, level)


def encode(structure: Structure, frames: Frames) -> GlobalSystem:
    """The square system of a structure: what its treatment dropped is left out.

    Raises
    ------
    ValueError
        Joints of types without equations, or more or fewer equations than unknowns.

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.joints.frames import joint_frames
    >>> bar = mbssa.load("spatial_4r")
    >>> system = encode(mbssa.decompose(bar), joint_frames(bar))
    >>> len(system.rows), len(system.kept), len(system.dropped)
    (21, 18, 3)
    """
    mechanism = structure.mechanism
    spins = held_spins(structure, frames)
    drives = drive_rows(mechanism)
    rows = encode_rows(mechanism, frames, range(mechanism.n_joints), range(mechanism.n_bodies), drives, spins)
    left_out = {(d.joint, d.equation) for d in structure.treatment.dropped} if structure.treatment else set()
    labels = zip(rows.source[rows.joint].tolist(), rows.name, rows.constraint.tolist(), strict=True)
    dropped = np.array([is_one and (j, name) in left_out for j, name, is_one in labels], dtype=bool)
    columns = np.array(unknowns(mechanism.space), dtype=np.int64)
    n = (mechanism.n_bodies - 1) * len(columns)
    if (~dropped).sum() != n:
        raise ValueError(f"{mechanism.name} has {int((~dropped).sum())} equations for {n} unknowns")
    scaled = replace(rows, origin=rows.origin / frames.size, parameter=rows.parameter / frames.size)
    return GlobalSystem(scaled, np.flatnonzero(~dropped), np.flatnonzero(dropped), columns, frames.size)


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


def _entries(system: GlobalSystem) -> tuple[Ints, Ints, Ints, Ints]:
    """Which numbers of the kept rows' jets go into the matrix: equation, derivative, row and column."""
    rows = system.rows
    place = np.full(6, -1)
    place[system.columns] = np.arange(len(system.columns))
    bodies = np.repeat(rows.pair[rows.joint[system.kept]], 6, axis=1)
    local = np.tile(place, 2)
    used = (bodies > 0) & (local >= 0)
    equation, derivative = np.nonzero(used)
    column = (bodies[used] - 1) * len(system.columns) + local[derivative]
    return equation, derivative, equation, column


def _kernel_system(system: GlobalSystem, slots: Ints) -> kernels.System:
    return system.kept, system.dropped, system.rows.drive, slots, system.columns


def _dense(run: _Run) -> Callable[[int, int, int], int]:
    """Solver of a stretch of instants by the compiled kernel; it returns the last instant solved."""
    n = len(run.system.kept)
    equation, derivative, row, column = _entries(run.system)
    slots = np.full((n, 12), -1, dtype=np.int64)
    slots[equation, derivative] = row * n + column
    system = _kernel_system(run.system, slots)
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
    import scipy.sparse

    n, m = len(run.system.kept), len(run.poses[0])
    equation, derivative, row, column = _entries(run.system)
    cells, places = np.unique(column * n + row, return_inverse=True)
    slots = np.full((n, 12), -1, dtype=np.int64)
    slots[equation, derivative] = places
    data = np.zeros(len(cells))
    starts = np.searchsorted(cells // n, np.arange(n + 1))
    matrix = scipy.sparse.csc_array((data, cells % n, starts), shape=(n, n))
    system, rows = _kernel_system(run.system, slots), run.system.rows.kernel_rows
    work = np.zeros((WORK, SIZE)), np.zeros((len(run.system.rows), SIZE)), matrix.data, np.zeros(n)
    stage = np.zeros((m, 3)), np.zeros((m, 3, 3)), np.zeros((m, 6)), np.zeros((m, 6))
    columns, right = run.system.columns, work[3]
    status, residual, iterations, condition = run.quality
    begin, linearise, move = compiled(kernels.begin), compiled(kernels.linearise), compiled(kernels.move)
    velocities, spread = compiled(kernels.velocities), compiled(kernels.spread)
    accelerations, end = compiled(kernels.accelerations), compiled(kernels.end)
    compare_dropped = compiled(kernels.compare_dropped)

    def advance(first: int, stop: int, last: int) -> int:
        for t in range(first, stop):
            begin(t, last, run.inputs[0], run.poses, stage)
            status[t] = NOT_CONVERGED
            factors: Any = None
            for step in range(STEPS + 1):
                worst = linearise(t, rows, system, run.inputs, stage, work)
                residual[t], iterations[t] = worst, step
                if not worst < np.inf:
                    break
                closed = worst <= run.limits[0]
                if not closed or run.level > 0 or step == 0:
                    factors = _factors(matrix)
                if closed:
                    condition[t] = _pivots_ratio(factors)
                    sound = run.level == 0 or condition[t] > kernels.LEAST
                    status[t] = OK if sound else SINGULAR
                elif factors is None:
                    status[t] = SINGULAR
                if status[t] != NOT_CONVERGED:
                    break
                move(factors.solve(right), columns, stage[0], stage[1])
            if status[t] == OK:
                if condition[t] > kernels.LEAST:
                    velocities(t, system, run.inputs, right)
                    spread(factors.solve(right), columns, stage[2])
                if run.level == 2:
                    accelerations(t, rows, system, run.inputs, stage, work)
                    spread(factors.solve(right), columns, stage[3])
                compare_dropped(t, rows, system, run.inputs, work[1], run.quality, run.limits)
            if end(t, int(status[t]), stage, run.poses):
                last = t
        return last

    return advance


def _factors(matrix: Any) -> Any:
    """SuperLU's factors; None where the matrix has no inverse."""
    import scipy.sparse.linalg

    try:
        return scipy.sparse.linalg.splu(matrix)
    except RuntimeError:  # its way to say that a pivot is exactly zero
        return None


def _pivots_ratio(factors: Any) -> float:
    if factors is None:
        return 0.0
    pivots = np.abs(factors.U.diagonal())
    return float(pivots.min() / pivots.max())


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
