"""A motion of a model with tearing inputs: the loop, the groups, and the direct structure where it must."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from groups.motion import Motion, driven_coordinates
from groups.posed import configuration_at, inputs_at, posed
from groups.reference import check_drives
from groups.results.arrays import Arrays
from groups.results.borrowed import Outer
from groups.run import REPORTED, Run, RunState
from groups.status import BRANCH_JUMP, OK, SINGULAR
from groups.tearing.driving import CLOSE, Driver
from groups.trajectory import Trajectory
from mbssa.arrays import Ints
from mbssa.joints.system import Configuration

if TYPE_CHECKING:
    from groups.model import Model


#: Miss of a drive in the answer, over its measure, that is none.
MET = 1e-9

#: Instants that the direct structure solves before the tearing structure is tried again, at most.
LONGEST = 64

#: Instants that are solved before their answer is looked at.
BLOCK = 1024


def solve_torn(
    model: Model,
    motion: Motion,
    kept: Ints,
    level: int,
    progress: Callable[[float], object] | None = None,
    compiled: bool | None = None,
    proven: bool = False,
) -> Trajectory:
    """Motion of the real drives, solved with the tearing structure; ``kept`` are ascending body indices."""
    check_drives(model.mechanism, motion)
    solving = _Solving(model, motion, max(level, 1) if proven else level, compiled)
    instants = len(motion.time)
    every = instants if progress is None else min(REPORTED, max(1, instants // (50 * 256)) * 256)
    done, reported = 0, every
    while done < instants:
        done = solving.advance(done, min(done + BLOCK, instants))
        if done >= reported and done < instants:
            reported = (done // every + 1) * every
            if progress is not None and progress(done / instants) is False:
                break
    if progress is not None and done == instants:
        progress(1.0)
    if not proven:
        return solving.trajectory(done, kept)
    from groups.branches.insertion import prove_of_groups

    assert model.tearing is not None
    torn = solving.trajectory(done, solving.all)
    bodies = [group.body_indices for group in model.structure.groups]
    return prove_of_groups(model.tearing.direct, bodies, motion, torn, kept, level, compiled)


class _Solving:
    """One motion being solved."""

    def __init__(self, model: Model, motion: Motion, level: int, compiled: bool | None) -> None:
        assert model.tearing is not None
        self.model, self.motion, self.level = model, motion, level
        self.inner, self.direct, self.loop = model.inner, model.tearing.direct, model.tearing.loop
        self.driver = Driver(model, motion, level, compiled)
        self.compiled = self.driver.compiled
        n, instants = model.mechanism.n_bodies, len(motion.time)
        self.all = np.arange(n)
        self.borrowed = Motion(motion.time, driven_coordinates(self.inner.mechanism), *self.driver.found)
        self.run = Run(self.inner, self.borrowed, self.all, level, compiled=self.compiled)
        self.state = RunState.start(self.inner.packed.memory, n)
        self.arrays = self.run.arrays
        self.by_direct: Run | None = None
        self.fallback = np.zeros(instants, dtype=np.bool_)
        self.inputs = inputs_at(self.inner, self.inner.reference)
        drives = np.array(list(self.direct.reference_inputs.values()))
        self.driver.restart(self.inner, self.inputs, drives)
        self.least = CLOSE[level] * self.loop.regular
        self.stretch, self.width = 0, 1

    def advance(self, first: int, stop: int) -> int:
        """Solve the instants ``first`` … ``stop`` - 1 and perhaps some more; returns how far it came."""
        reached = self._by_borrowed(first, stop)
        return reached if reached == stop else self._by_direct(reached)

    def _by_borrowed(self, first: int, stop: int) -> int:
        """Solve with the tearing structure; returns the first instant that it is not for, or stop."""
        reached = self.driver.advance(first, stop)
        if reached == first:
            return first
        self.run.advance(first, reached, self.state)
        driver = self.driver
        driver.missed(first, reached, self.arrays.outputs, self.all)
        mine = np.concatenate([self.loop.before, self.loop.inside])
        status = self.arrays.quality[0][mine, first:reached]
        off = ~(driver.residual[first:reached] <= MET)
        flat = driver.condition[first:reached] < self.least
        bad = np.flatnonzero((status != OK).any(axis=0) | off | flat)
        if not len(bad):
            return reached
        at = first + int(bad[0])
        failed = np.flatnonzero(status[:, bad[0]])
        driver.group[at] = mine[failed[0]] if len(failed) else -1
        without = SINGULAR if flat[bad[0]] else BRANCH_JUMP
        driver.status[at] = status[failed[0], bad[0]] if len(failed) else without
        return at

    def _by_direct(self, first: int) -> int:
        """Solve with the direct structure until the tearing structure can go on; returns how far that is."""
        instants, driver = len(self.motion.time), self.driver
        self.run.look_back(self.stretch, first)
        before = self._pose(first - 1)
        run, state = self._direct_run(first, before)
        # Where the tearing structure fails repeatedly it is not tried again at each instant.
        done, width = first, self.width if first - self.stretch < self.width else 1
        why = driver.status[first], driver.group[first]
        while done < instants:
            if driver.status[done] != OK:  # else not tried: the direct structure has no pose before it
                why = driver.status[done], driver.group[done]
            end = min(done + width, instants)
            run.advance(done, end, state)
            self.fallback[done:end] = True
            driver.status[done:end], driver.group[done:end] = why
            done = end
            width = min(2 * width, LONGEST)
            pose = self._pose(done - 1)
            if done < instants and pose is not None and self._goes_on(done, first, before, pose, state):
                break
        run.look_back(first, done)
        driver.missed(first, done, self.arrays.outputs, self.all)
        self._spread(run, first, done)
        self.state.orientation[:] = state.orientation
        self.stretch, self.width = done, width
        return done

    def _direct_run(self, first: int, pose: Configuration | None) -> tuple[Run, RunState]:
        """A run of the direct structure from a pose, into the same arrays of bodies."""
        at = self.direct
        if pose is not None:
            with suppress(ValueError):  # singular there: solved from the reference
                at = posed(self.direct, pose, self.motion.value[:, first - 1])
        if self.by_direct is None:
            rows = Arrays.empty(at, len(self.motion.time), 0, self.level)
            self.quality = rows.quality
        arrays = Arrays(self.arrays.outputs, self.quality)
        self.by_direct = Run(at, self.motion, self.all, self.level, arrays, self.compiled)
        return self.by_direct, RunState(at.packed.memory.copy(), self.state.orientation.copy())

    def _goes_on(
        self, t: int, first: int, before: Configuration | None, pose: Configuration, state: RunState
    ) -> bool:
        """Whether the tearing structure can go on at an instant from the pose before it."""
        # The pose `before` is that at the instant before the `first` at which the structure failed.
        value = self.driver.found[0]
        known, was = (self.inputs, self.inner.reference) if before is None else (value[:, first - 1], before)
        inputs = inputs_at(self.inner, pose, known, was)
        inputs[self.loop.shared] = self.motion.value[self.loop.given, t - 1]
        value[:, t - 1] = inputs
        try:
            at = posed(self.inner, pose, inputs)
        except ValueError:
            self.driver.status[t], self.driver.group[t] = SINGULAR, -1
            return False
        self.driver.restart(at, inputs, self.motion.value[:, t - 1])
        if self.driver.advance(t, t + 1) == t:
            return False
        if self.driver.condition[t] < self.least:
            self.driver.status[t], self.driver.group[t] = SINGULAR, -1
            return False
        self.driver.restart(at, inputs, self.motion.value[:, t - 1])
        self.run = Run(at, self.borrowed, self.all, self.level, self.arrays, self.compiled)
        self.state = RunState(at.packed.memory.copy(), state.orientation)
        return True

    def _pose(self, t: int) -> Configuration | None:
        """Poses of all bodies at an instant; None before the first, or where one has no solution."""
        if t < 0:
            return None
        position, orientation = (array[:, t] for array in self.arrays.outputs[:2])
        if not np.isfinite(position).all():
            return None
        return configuration_at(self.inner, position, orientation)

    def _spread(self, run: Run, first: int, stop: int) -> None:
        """Status of the direct structure's groups, given for the groups that have their bodies."""
        found, direct = self.arrays.quality, self.direct.structure
        span = slice(first, stop)
        for group in self.inner.structure.groups:
            g = group.number - 1
            theirs = np.unique(direct.group_of_body[group.body_indices]) - 1
            status, residual, iterations, condition = (part[theirs, span] for part in run.arrays.quality)
            first_bad = (status != OK).argmax(axis=0)
            found[0][g, span] = status[first_bad, np.arange(stop - first)]
            found[1][g, span] = residual.max(axis=0)
            found[2][g, span] = iterations.max(axis=0)
            found[3][g, span] = condition.min(axis=0)

    def trajectory(self, done: int, kept: Ints) -> Trajectory:
        """Trajectory of the bodies that are kept."""
        self.run.look_back(self.stretch, done)
        self.run.stop_at(done)
        borrowed, driver = self.model.borrowed, self.driver
        assert borrowed is not None
        outer = Outer(
            borrowed,
            self.fallback,
            np.where(self.fallback, driver.status, OK).astype(np.int8),
            np.where(self.fallback, driver.group + 1, 0),
            driver.residual,
            driver.steps,
            driver.condition,
            self.model.group_names,
        )
        return replace(self.run.trajectory(kept), mechanism=self.model.mechanism, outer=outer)
