"""The loop that finds the tearing inputs over a motion, span by span."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from groups.kernels import span
from groups.kernels.jets import SIZE, WORK
from groups.kernels.torn import solve_torn
from groups.kernels.torn_filling import WIDEST
from groups.kernels.torn_state import GOAL_1, U_1, Loop, Problem, State, missed_planar, missed_spatial
from groups.motion import Motion
from mbssa.arrays import Floats, Ints
from mbssa.compiled import chosen

if TYPE_CHECKING:
    from groups.model import Model


#: Condition of a group in the loop, or of the drives' Jacobian, by level, below which the tearing inputs are
#: no measure of the pose: rounding grows with its power of -1 in poses, -2 in rates, -3 in accelerations.
CLOSE = (1e-5, 2e-3, 5e-2)

#: Least ratio to it of the drives' Jacobian for instants to be interpolated.
STEADY = 4.0

#: Solutions of the groups for one instant of the loop: at each of its steps, and beside each unknown.
TRIES = 8.0
#: Seconds that compiling the loop takes, without the groups.
COMPILING = 60.0

#: Miss of a drive's rate and acceleration, over the largest of the motion, that a last correction takes away;
#: where nothing moves, none.
NEAR, TINY = 1e-10, 1e-300


class Driver:
    """Tearing inputs of one motion of the real drives, while they are found."""

    def __init__(self, model: Model, motion: Motion, level: int, compiled: bool | None = None) -> None:
        assert model.tearing is not None
        loop = model.tearing.loop
        self.motion, self._loop = motion, loop
        self.planar = model.mechanism.space == "planar"
        instants, inputs = len(motion.time), len(loop.unknown) + len(loop.shared)
        self.found = tuple(np.zeros((inputs, instants)) for _ in range(3))
        for part, given in zip(self.found, (motion.value, motion.rate, motion.acceleration), strict=True):
            part[loop.shared] = given[loop.given]
        self.status = np.zeros(instants, dtype=np.int8)
        self.group = np.full(instants, -1, dtype=np.int64)
        self.residual = np.zeros(instants)
        self.steps = np.zeros(instants, dtype=np.int64)
        self.condition = np.ones(instants)
        #: Whether the kernels are compiled.
        self.compiled = model.compiles(instants) if compiled is None else compiled
        self._solve = chosen(solve_torn, ask=self.compiled)
        self._problem = self._posed(level)
        self._state = self._room(model)

    def restart(self, model: Model, inputs: Floats, drives: Floats) -> None:
        """Begin anew from where a model stands, with these inputs (D,) and drives (D,)."""
        packed, loop = model.packed, self._loop
        self._data = packed.data(packed.memory.copy(), packed.room, self.compiled)
        state = self._state
        state.past[:], state.mark[:] = 0.0, 0.0
        state.past[U_1], state.past[GOAL_1] = inputs[loop.unknown], drives[loop.wanted]
        state.past_shared[:] = drives[loop.given]

    @property
    def conditions(self) -> Floats:
        """Condition (G,) of each group at the last evaluation; 1 of those that are not in the loop."""
        found: Floats = self._state.group_quality[3][:, 1].copy()
        return found

    def advance(self, first: int, stop: int) -> int:
        """Find the unknowns at the instants ``first`` … ``stop`` - 1; returns how far it came."""
        with np.errstate(all="ignore"):
            reached: int = self._solve(first, stop, self._data, self._problem, self._state)
        return reached

    def missed(self, first: int, stop: int, outputs: Any, row_of: Ints) -> None:
        """Write to ``residual`` how far the drives are off in poses that were stored."""
        look = chosen(missed_planar if self.planar else missed_spatial, ask=self.compiled)
        with np.errstate(all="ignore"):
            look(first, stop, self._problem, self._state, row_of, outputs, self.residual)

    def _posed(self, level: int) -> Problem:
        """The loop and its motion for the kernels."""
        loop, motion = self._loop, self.motion
        near_1, near_2 = _near(motion, loop)
        levels = motion.value, motion.rate, motion.acceleration
        return Problem(
            loop=loop,
            planar=self.planar,
            groups=np.concatenate([loop.before, loop.inside]),
            close=CLOSE[level] * loop.usual,
            near_1=near_1,
            near_2=near_2,
            steady=STEADY * CLOSE[level] * loop.regular,
            motion=tuple(np.require(part, requirements=["C", "W"]) for part in levels),
            time=np.require(motion.time, requirements=["C", "W"]),
        )

    def _room(self, model: Model) -> State:
        """Room for the kernels to work in, and the arrays that take their answer."""
        loop, structure = self._loop, model.structure
        m, shared, stage = len(loop.unknown), len(loop.shared), len(loop.stage)
        lanes = 1 + max(m + 1, WIDEST)
        return State(
            past=np.zeros((7, m)),
            past_shared=np.zeros(shared),
            mark=np.zeros(14),
            plan=np.zeros(14, dtype=np.int64),
            states=span.states(model.frame_state, structure.mechanism.n_bodies, lanes),
            inputs=tuple(np.zeros((m + shared, lanes)) for _ in range(3)),
            clock=np.zeros(lanes),
            group_quality=(
                np.zeros((structure.n_groups, lanes), dtype=np.int8),
                np.zeros((structure.n_groups, lanes)),
                np.zeros((structure.n_groups, lanes), dtype=np.int64),
                np.ones((structure.n_groups, lanes)),
            ),
            trial=model.packed.memory.copy(),
            place=np.zeros((stage, 3)),
            turn=np.zeros((stage, 3, 3)),
            twist=np.zeros((stage, 6)),
            jets=np.zeros((WORK, SIZE)),
            table=np.zeros((m, SIZE)),
            jacobian=np.zeros((m, m)),
            order=np.zeros(m),
            right=np.zeros(m),
            now=np.zeros((9, m)),
            level=np.zeros(shared),
            inverse=np.zeros((2, m, m)),
            misses=np.zeros((3, m)),
            found=self.found,
            quality=(self.status, self.group, self.residual, self.steps, self.condition),
        )


def _near(motion: Motion, loop: Loop) -> tuple[float, float]:
    """Residuals of the drives' rates and accelerations, over their scales, that are small in a motion."""
    rates, accelerations = (
        float((np.abs(part[loop.wanted]).max(axis=1, initial=0.0) / loop.measure).max(initial=0.0))
        for part in (motion.rate, motion.acceleration)
    )
    return max(NEAR * rates, TINY), max(NEAR * (accelerations + rates * rates), TINY)


def at_reference(model: Model, inputs: Floats, drives: Floats) -> tuple[int, int, float, Floats]:
    """Status, number of a failing group or 0, conditions of the loop and of the groups at the reference."""
    assert model.tearing is not None
    column = drives[:, None].copy()
    still = Motion(np.zeros(1), model.tearing.borrowed.drives, column, 0.0 * column, 0.0 * column)
    driver = Driver(model, still, 0, False)
    driver.restart(model, inputs, drives)
    driver.advance(0, 1)
    groups = driver.conditions
    return int(driver.status[0]), int(driver.group[0]) + 1, float(driver.condition[0]), groups
