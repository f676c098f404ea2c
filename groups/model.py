"""A structure that can be solved: one solver per group, in the order of the dependency DAG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from groups.encoding import drive_rows
from groups.kernels import span
from groups.kernels.status import MODE_LOST, NOT_COMPUTED, NOT_CONVERGED, OUT_OF_REACH, SINGULAR
from groups.motion import Motion, default_motion, driven_coordinates, reference_inputs
from groups.reference import check_drives, closed_reference
from groups.registry import Solver, choose
from groups.results.faults import names_of_groups
from groups.spins import held_spins
from groups.trajectory import LEVELS, Level, Trajectory, body_index
from mbssa import Mechanism, Structure
from mbssa.compiled import compiled
from mbssa.joints.catalogue import coordinate_unit
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Bytes of the states of one block: they stay in a core's own cache.
BLOCK = 192 * 1024

#: Instants between two reports of progress.
REPORTED = 78 * 256

#: How far (rad, or of the mechanism's size) an input may go between two instants of a coarse pass.
COARSE = 0.2

_NOBODY = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Model:
    """What :func:`build` makes of a structure; :meth:`solve` runs it over a motion.

    ``solvers`` has one entry per group, in their order.

    >>> import groups, mbssa
    >>> model = groups.build(mbssa.decompose(mbssa.load("rotor")))
    >>> [solver.form for solver in model.solvers[:3]]
    ['closed form', 'driven', 'closed form']
    """

    structure: Structure
    frames: Frames
    reference: Configuration
    solvers: tuple[Solver, ...]
    _packed: Packed = field(repr=False)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that is solved."""
        return self.structure.mechanism

    @cached_property
    def _held(self) -> Ints:
        """Indices of the groups that a determinant watches: two roots, or Newton on as many equations."""
        held = [
            g
            for g, solver in enumerate(self.solvers)
            if (solver.form == "closed form" and solver.roots == 2)
            or (solver.form == "Newton" and not solver.redundant)
        ]
        return np.array(held, dtype=np.int64)

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """By group, its bodies and its type."""
        return names_of_groups(self.structure)

    @property
    def reference_inputs(self) -> dict[str, float]:
        """Values of the driven coordinates at the reference, m and rad: where a law may well start.

        >>> import groups, mbssa
        >>> stewart = groups.build(mbssa.decompose(mbssa.load("stewart")))
        >>> round(stewart.reference_inputs["2-3.slide"], 3)
        1.195
        """
        values = reference_inputs(self.mechanism, self.frames, self.reference)
        return dict(zip(driven_coordinates(self.mechanism), values.tolist(), strict=True))

    def solve(
        self,
        motion: Motion | None = None,
        *,
        bodies: Sequence[str | int] | None = None,
        level: Level = "acceleration",
        modes: Mapping[int, int] | None = None,
        chunks: int = 1,
        progress: Callable[[float], object] | None = None,
    ) -> Trajectory:
        """Position, velocity and acceleration of every body over a motion, group by group.

        The assembly mode of the reference is kept: closed forms hold a sign, Newton is led from the
        reference to the first instant and on from instant to instant.

        Parameters
        ----------
        motion : inputs over time; the model's own by default
        bodies : names or numbers of the bodies to keep; all by default
        level : the last level of answer that is wanted
        modes : number of the assembly mode, as :func:`groups.modes` counts them, by number of the group
        chunks : pieces of the time axis that are solved apart, each from a seed of a coarse pass
        progress : called with the share that is done now and then; False from it stops the run, and what
            was not computed says so in its status

        Raises
        ------
        ValueError
            The motion drives other coordinates than the model has, or the model has no motion of its own;
            a mode that there is not.
        KeyError
            A body that there is not.

        Examples
        --------
        >>> import groups, mbssa
        >>> crank = mbssa.load("slider_crank_isostatic")
        >>> model = groups.build(mbssa.decompose(crank))
        >>> trajectory = model.solve(groups.constant_speed(crank, duration=1.0, steps=101))
        >>> trajectory.ok, float(trajectory.residual.max()) < 1e-12
        (True, True)
        """
        mechanism = self.mechanism
        motion = default_motion(mechanism) if motion is None else motion
        if not isinstance(motion, Motion):
            raise TypeError(
                f"solve takes a Motion, not a {type(motion).__name__}; groups.sample makes one of laws, "
                "groups.read_motion of a file"
            )
        if chunks < 1:
            raise ValueError(f"{chunks} chunks; write 1 or more")
        if level not in LEVELS:
            raise ValueError(f"no level {level!r}; write one of {', '.join(LEVELS)}")
        memory = self._packed.memory
        if modes:
            from groups.assembly_modes import starting_memory

            memory = starting_memory(self, modes)
        run = Run(self, motion, _kept(mechanism, bodies), LEVELS.index(level))
        instants = len(motion.time)
        # Reports come at whole blocks, so that they change no bit of the answer.
        every = instants if progress is None else min(REPORTED, max(1, instants // (50 * 256)) * 256)
        starts = np.linspace(0, instants, max(1, min(chunks, instants)), endpoint=False).astype(np.int64)
        seeds = seed(self, motion, starts, memory) if chunks > 1 else [Carried.start(memory, len(run.kept))]
        done, wanted = 0, True
        for at, begin, stop in zip(seeds, starts.tolist(), [*starts[1:].tolist(), instants], strict=True):
            carried = at.of(run.kept)
            while done < stop and wanted:
                end = min((done // every + 1) * every, stop)
                run.advance(done, end, carried)
                done = end
                wanted = progress is None or progress(done / instants) is not False
            run.look_back(begin, done)
        run.stop_at(done)
        return run.trajectory()


@dataclass(frozen=True, eq=False)
class Packed:
    """The solvers' data in arrays of their own kind, as :mod:`groups.kernels.span` takes them."""

    ints: Ints
    int_start: Ints
    floats: Floats
    float_start: Ints
    memory: Floats
    memory_start: Ints
    code: Ints


@dataclass(frozen=True, eq=False)
class Carried:
    """What a run carries from one instant to the next: the groups' memory, and the last orientations.

    ``orientation`` (rows, 4), zero before the first instant: quaternions go on in its sign.
    """

    memory: Floats
    orientation: Floats

    @staticmethod
    def start(memory: Floats, rows: int) -> Carried:
        """Before the first instant."""
        return Carried(memory.copy(), np.zeros((rows, 4)))

    def of(self, kept: Ints) -> Carried:
        """A copy for a run that keeps these bodies; one of all bodies is reduced to them."""
        rows = self.orientation if len(self.orientation) == len(kept) else self.orientation[kept]
        return Carried(self.memory.copy(), rows.copy())


class Run:
    """One motion being solved: the arrays that take the answer. Spans of time may be solved apart.

    Raises
    ------
    ValueError
        The motion drives other coordinates than the model has.
    """

    def __init__(self, model: Model, motion: Motion, kept: Ints, level: int) -> None:
        mechanism = model.mechanism
        check_drives(mechanism, motion)
        self.model, self.motion, self.kept, self.level = model, motion, kept, level
        self.planar = mechanism.space == "planar"
        n, instants, rows = mechanism.n_bodies, len(motion.time), len(kept)
        shapes = [(2,), (), (3,), (3,)] if self.planar else [(3,), (4,), (6,), (6,)]
        lengths = [instants, instants, instants if level > 0 else 0, instants if level > 1 else 0]
        self.outputs = tuple(
            np.empty((rows, length, *shape)) for length, shape in zip(lengths, shapes, strict=True)
        )
        groups = model.structure.n_groups
        self.quality = (
            np.zeros((groups, instants), dtype=np.int8),
            np.zeros((groups, instants)),
            np.zeros((groups, instants), dtype=np.int64),
            np.ones((groups, instants)),
        )
        self._row_of = np.full(n, -1, dtype=np.int64)
        self._row_of[kept] = np.arange(rows)
        start, bodies = model.structure.members
        mine = self._row_of[bodies]
        keep = mine >= 0
        self._rows = (np.concatenate([[0], np.cumsum(keep)])[start], mine[keep])
        self._frame = _frame_state(model.reference, self.planar)
        size = len(self._frame)
        # Struts are solved 32 instants at a time.
        self._block = min(max(16, instants), max(1, min(8, BLOCK // (n * size * 256))) * 32)
        # Kernels are compiled for arrays of one kind: plain, and writable.
        self._time = np.require(motion.time, requirements=["C", "W"])
        self._inputs = tuple(
            np.require(part, requirements=["C", "W"])
            for part in (motion.value, motion.rate, motion.acceleration)
        )
        code = model._packed.code
        if not self.planar:
            self._solve = compiled(span.solve_spatial)
        elif (code == span.PLANAR).all():
            self._solve = compiled(span.solve_planar_closed)
        else:
            self._solve = compiled(span.solve_planar_any)
        self._order = np.arange(groups)

    def advance(self, first: int, stop: int, carried: Carried) -> None:
        """Solve the instants ``first`` … ``stop`` - 1 of all groups; ``carried`` goes on with them."""
        packed = self.model._packed
        states = span.states(len(self._row_of), self._block, self.planar)
        states[0] = self._frame
        self._solve(
            self._order,
            (
                packed.ints, packed.int_start, packed.floats, packed.float_start, carried.memory,
                packed.memory_start, packed.code,
            ),
            states,
            (first, stop, self.level),
            self._inputs,
            self._time,
            self.quality,
            (self._row_of, _NOBODY, self.kept, carried.orientation),
            self.outputs,
        )  # fmt: skip

    def look_back(self, first: int, stop: int) -> None:
        """Take back instants at which a closed form turned back at a dead point between two of them."""
        held = self.model._held
        if stop - first < 4 or not len(held):
            return
        status, condition = self.quality[0], self.quality[3]
        mark = compiled(span.turned_back)
        position, orientation, velocity, acceleration = self.outputs
        angle = orientation if self.planar else np.zeros((0, 0))
        paths = (position, angle, velocity, acceleration)
        if mark(held, self._rows, first, stop, self._time, status, condition, paths, self.model.frames.size):
            structure = self.model.structure
            for g in held.tolist():
                lost = first + np.flatnonzero(status[g, first:stop] == MODE_LOST)
                for row in self._row_of[structure.groups[g].body_indices].tolist():
                    if row >= 0:
                        for array in self.outputs:
                            if array.shape[1]:
                                array[row, lost] = np.nan

    def stop_at(self, done: int) -> None:
        """Say of all later instants that they were not computed."""
        if done >= len(self.motion.time):
            return
        for array in self.outputs:
            array[:, done:] = np.nan
        self.quality[0][:, done:] = NOT_COMPUTED
        self.quality[1][:, done:] = np.nan
        self.quality[3][:, done:] = np.nan

    def trajectory(self) -> Trajectory:
        """What was found."""
        model = self.model
        position, orientation, velocity, acceleration = (np.swapaxes(a, 0, 1) for a in self.outputs)
        status, residual, iterations, condition = self.quality
        return Trajectory(
            model.mechanism,
            self.motion.time,
            position,
            orientation,
            velocity if self.level > 0 else None,
            acceleration if self.level > 1 else None,
            status.T,
            residual.T,
            iterations.T,
            condition=condition.T,
            kept=self.kept,
            causes=_causes(model.solvers, status) if status.any() else None,
            group_names=model.group_names,
        )


def seed(model: Model, motion: Motion, starts: Ints, memory: Floats) -> list[Carried]:
    """What to carry into chunks of a motion that begin at these instants, ascending, the first at 0.

    A coarse pass over so few instants that no input goes farther than :data:`COARSE` between two of them, and
    the instant before each start.
    """
    n = model.mechanism.n_bodies
    size = model.frames.size
    scale = np.array([size if _is_length(name) else 1.0 for name in motion.names])
    way = np.abs(np.diff(motion.value, axis=1)) / scale[:, None]
    gone = np.concatenate([[0.0], np.cumsum(way.max(axis=0, initial=0.0))])
    coarse = np.flatnonzero(np.diff(np.floor(gone / COARSE), prepend=-1.0) > 0)
    instants = np.unique(np.concatenate([coarse, starts[1:] - 1]))
    thin = Motion(
        motion.time[instants],
        motion.names,
        np.ascontiguousarray(motion.value[:, instants]),
        np.ascontiguousarray(motion.rate[:, instants]),
        np.ascontiguousarray(motion.acceleration[:, instants]),
    )
    run = Run(model, thin, np.arange(n), 0)
    carried = Carried.start(memory, n)
    seeds = [Carried.start(memory, n)]
    done = 0
    for before in np.searchsorted(instants, starts[1:] - 1).tolist():
        run.advance(done, before + 1, carried)
        done = before + 1
        seeds.append(carried.of(run.kept))
    return seeds


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
    if not isinstance(structure, Structure):
        raise TypeError(f"build takes what mbssa.decompose gives, not a {type(structure).__name__}")
    mechanism = structure.mechanism
    frames, reference = closed_reference(structure)
    drives = drive_rows(mechanism)
    inputs = reference_inputs(mechanism, frames, reference)
    spins = held_spins(structure, frames)
    solvers = tuple(choose(group, frames, reference, drives, inputs, spins) for group in structure.groups)
    return Model(structure, frames, reference, solvers, _pack(solvers))


def _pack(solvers: Sequence[Solver]) -> Packed:
    def joined(parts: list[Any], kind: type) -> tuple[Any, Ints]:
        start = np.zeros(len(parts) + 1, dtype=np.int64)
        np.cumsum([len(part) for part in parts], out=start[1:])
        return np.concatenate([np.zeros(0, dtype=kind), *parts]), start

    ints, int_start = joined([solver.ints for solver in solvers], np.int64)
    floats, float_start = joined([solver.floats for solver in solvers], np.float64)
    memory, memory_start = joined([solver.memory for solver in solvers], np.float64)
    code = np.array([solver.code for solver in solvers], dtype=np.int64)
    return Packed(ints, int_start, floats, float_start, memory, memory_start, code)


def _kept(mechanism: Mechanism, bodies: Sequence[str | int] | None) -> Ints:
    if bodies is None:
        return np.arange(mechanism.n_bodies)
    return np.array(sorted({body_index(mechanism, name) for name in bodies}), dtype=np.int64)


def _is_length(coordinate: str) -> bool:
    return coordinate_unit(coordinate.rpartition(".")[2]) == "m"


def _causes(solvers: Sequence[Solver], status: npt.NDArray[np.int8]) -> tuple[str, ...]:
    """By group, the joints that ran out where it came to a dead point or out of reach."""
    ends = (NOT_CONVERGED, SINGULAR, OUT_OF_REACH, MODE_LOST)
    return tuple(
        " or ".join(solver.closing) if np.isin(status[g], ends).any() else ""
        for g, solver in enumerate(solvers)
    )


def _frame_state(reference: Configuration, planar: bool) -> Floats:
    """The frame's state: it stands where the reference has it."""
    position, rotation = reference.position[0], reference.rotation[0]
    if planar:
        c, s = rotation[0, 0], rotation[1, 0]
        return np.array([position[0], position[1], c, s, np.arctan2(s, c), 0, 0, 0, 0, 0, 0])
    return np.concatenate([position, rotation.ravel(), np.zeros(12)])
