"""The loop that finds the borrowed inputs over a motion, span by span."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from groups.kernels import span, torn
from groups.kernels.jets import SIZE, WORK
from groups.motion import Motion
from mbssa.compiled import chosen

if TYPE_CHECKING:
    from groups.model import Model
    from groups.tearing.loop import Loop

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Condition of a group in the loop, or of the drives' Jacobian, by level, below which the borrowed inputs are
#: no measure of the pose: rounding grows with its power of -1 in poses, -2 in rates, -3 in accelerations.
CLOSE = (1e-5, 2e-3, 5e-2)

#: How many times that the drives' Jacobian has to be for instants to be filled between others.
STEADY = 4.0

#: How often the groups are solved for one instant of the loop: at each of its steps, beside each unknown.
TRIES = 8.0
#: Seconds that compiling the loop takes, without the groups.
COMPILING = 60.0

#: Miss of a drive's rate and acceleration, over the largest of the motion, that a last correction takes away;
#: where nothing moves, none.
NEAR, TINY = 1e-10, 1e-300


class Driver:
    """The borrowed inputs of one motion while they are found.

    Attributes
    ----------
    found : value, rate, acceleration (D, T) of the borrowed inputs
    status (T,) int8, group (T,) index or -1, residual, steps, condition (T,) : what became of each instant

    Parameters
    ----------
    motion : of the real drives
    compiled : whether kernels are compiled; by default where that is faster than plain Python
    """

    def __init__(self, model: Model, motion: Motion, level: int, compiled: bool | None = None) -> None:
        assert model.tearing is not None
        loop = model.tearing.loop
        self.motion, self._loop = motion, loop
        self.planar = model.mechanism.space == "planar"
        instants, m = len(motion.time), len(loop.unknown)
        inputs = len(loop.unknown) + len(loop.shared)
        self.found = tuple(np.zeros((inputs, instants)) for _ in range(3))
        for part, given in zip(self.found, (motion.value, motion.rate, motion.acceleration), strict=True):
            part[loop.shared] = given[loop.given]
        self.status = np.zeros(instants, dtype=np.int8)
        self.group = np.full(instants, -1, dtype=np.int64)
        self.residual = np.zeros(instants)
        self.steps = np.zeros(instants, dtype=np.int64)
        self.condition = np.ones(instants)
        self._time = np.require(motion.time, requirements=["C", "W"])
        self._motion = tuple(
            np.require(part, requirements=["C", "W"])
            for part in (motion.value, motion.rate, motion.acceleration)
        )
        self._task = (
            self.planar, loop.before, loop.inside, np.concatenate([loop.before, loop.inside]), loop.unknown,
            loop.shared, loop.wanted, loop.given, loop.scale, loop.measure, loop.stage,
            CLOSE[level] * loop.usual, loop.closed, *_near(motion, loop),
            STEADY * CLOSE[level] * loop.regular,
        )  # fmt: skip
        #: Whether the kernels are compiled.
        self.compiled = model.compiles(instants) if compiled is None else compiled
        self._solve = chosen(torn.solve_torn, ask=self.compiled)
        self._past = np.zeros((7, m)), np.zeros(len(loop.shared)), np.zeros(14)
        self._plan = np.zeros(14, dtype=np.int64)
        self._bench = self._room(model)
        self._check = self._room(model)

    def restart(self, model: Model, inputs: Floats, drives: Floats) -> None:
        """Begin anew from where a model stands, with these inputs (D,) and drives (D,)."""
        packed, loop = model.packed, self._loop
        self._data = packed.data(packed.memory.copy(), packed.room, self.compiled)
        past, shared, mark = self._past
        past[:], mark[:] = 0.0, 0.0
        past[torn.U_1], past[torn.GOAL_1] = inputs[loop.unknown], drives[loop.wanted]
        shared[:] = drives[loop.given]

    @property
    def conditions(self) -> Floats:
        """(G,) condition of each group at the last look; 1 of those that are not in the loop."""
        found: Floats = self._bench[torn.QUALITY][3][:, 1].copy()
        return found

    def advance(self, first: int, stop: int) -> int:
        """Find the unknowns at the instants ``first`` … ``stop`` - 1; returns how far it came."""
        quality = self.status, self.group, self.residual, self.steps, self.condition
        with np.errstate(all="ignore"):
            reached: int = self._solve(
                first, stop, self._data, self._task, self._loop.rows.kernel_rows, self._motion,
                self._time, *self._past, self._plan, self._bench, self.found, quality,
            )  # fmt: skip
        return reached

    def missed(self, first: int, stop: int, outputs: Any, row_of: Ints) -> None:
        """Say in ``residual`` how far the drives are off in poses that were stored."""
        look = chosen(torn.missed_planar if self.planar else torn.missed_spatial, ask=self.compiled)
        with np.errstate(all="ignore"):
            look(
                first, stop, self._task, self._loop.rows.kernel_rows, self._motion, self._check, row_of,
                outputs, self.residual,
            )  # fmt: skip

    def _room(self, model: Model) -> Any:
        """Arrays to work in, as :mod:`groups.kernels.torn` takes them."""
        loop, structure = self._loop, model.structure
        m, n, stage = len(loop.unknown), structure.mechanism.n_bodies, len(loop.stage)
        lanes = 1 + max(m + 1, torn.WIDEST)
        S = span.states(model.frame_state, n, lanes)
        inputs = len(loop.unknown) + len(loop.shared)
        quality = (
            np.zeros((structure.n_groups, lanes), dtype=np.int8),
            np.zeros((structure.n_groups, lanes)),
            np.zeros((structure.n_groups, lanes), dtype=np.int64),
            np.ones((structure.n_groups, lanes)),
        )
        nobody = np.zeros(0, dtype=np.int64)
        kept = np.full(n, -1, dtype=np.int64), nobody, nobody, np.zeros((0, 4))
        plane = np.zeros((0, 0, 2)), np.zeros((0, 0)), np.zeros((0, 0, 3)), np.zeros((0, 0, 3))
        space = np.zeros((0, 0, 3)), np.zeros((0, 0, 4)), np.zeros((0, 0, 6)), np.zeros((0, 0, 6))
        return (
            S,
            tuple(np.zeros((inputs, lanes)) for _ in range(3)),
            np.zeros(lanes),
            quality,
            model.packed.memory.copy(),
            np.zeros((stage, 3)),
            np.zeros((stage, 3, 3)),
            np.zeros((stage, 6)),
            np.zeros((WORK, SIZE)),
            np.zeros((m, SIZE)),
            np.zeros(m * m + 2 * m),
            np.zeros((9, m)),
            np.zeros(len(loop.shared)),
            kept,
            plane if self.planar else space,
            np.zeros((2, m, m)),
            np.zeros((3, m)),
        )


def _near(motion: Motion, loop: Loop) -> tuple[float, float]:
    """Misses of the drives' rates and accelerations, over their scales, that are small in a motion."""
    rates, accelerations = (
        float((np.abs(part[loop.wanted]).max(axis=1, initial=0.0) / loop.measure).max(initial=0.0))
        for part in (motion.rate, motion.acceleration)
    )
    return max(NEAR * rates, TINY), max(NEAR * (accelerations + rates * rates), TINY)


def judged(model: Model, inputs: Floats, drives: Floats) -> tuple[int, int, float, Floats]:
    """Status, number of a group that fails or 0, and condition of the loop where the model stands.

    The last is the condition of each group there (G,).

    Parameters
    ----------
    inputs, drives : (D,) at the reference, m and rad
    """
    assert model.tearing is not None
    column = drives[:, None].copy()
    still = Motion(np.zeros(1), model.tearing.borrowed.drives, column, 0.0 * column, 0.0 * column)
    driver = Driver(model, still, 0, False)
    driver.restart(model, inputs, drives)
    driver.advance(0, 1)
    groups = driver.conditions
    return int(driver.status[0]), int(driver.group[0]) + 1, float(driver.condition[0]), groups
