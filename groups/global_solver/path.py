"""The way of a system along its motion: Newton on all bodies at once."""

# Some instants are reached from one before them along the straight line of the inputs, in steps that the
# rates at both ends explain. The others between them are solved all at once from interpolated guesses.

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from groups.global_solver.elimination import Dense, Factors, Method, factorised
from groups.global_solver.system import State, System
from groups.status import (
    BRANCH_JUMP,
    CONTACT_LOST,
    DROPPED,
    INTERPENETRATION,
    NOT_COMPUTED,
    NOT_CONVERGED,
    OK,
    PREDECESSOR_FAILED,
    SINGULAR,
)
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.frames import cross
from mbssa.joints.axes import whole_turns
from mbssa.threads import one_blas_thread

#: Largest residual over the size of what is solved, unless the reference closes no better.
VIOLATED = 1e-9
#: After a step of this size Newton's method is done: its next error is below rounding.
LAST = 1e-9
#: Newton steps of one instant alone, and of one that is expected to be near.
STEPS, FEW = 30, 8
#: Condition below which rates have no answer, and a Newton step none either.
LEAST, HOPELESS = 1e-10, 1e-14
#: Half a radian, or half the size, is as far as a linear model is trusted.
FURTHEST = 0.5
#: Newton may lead so far from what was expected, and from what was interpolated.
FAR, NEAR = 0.1, 0.02
#: Largest step of an input in one step of a way, and of instants between two that are reached by ways.
CAP, STRIDE = 0.5, 16
#: The shortest step of a way; share by which it may differ from what the rates at its ends say, and rounding.
SHORTEST, LEAP, BLUR = 1.0 / 256, 0.1, 1e-7
#: Share of what the equations lack that contacts must be able to bear to be the cause.
BORNE = 0.5
#: Largest ratio of a residual to that of the reference, as which rounded geometry cannot close better.
ROUNDED = 100.0
#: Instants that are solved at once, at most and at least, and about how many numbers these have.
MOST, FEWEST, NUMBERS = 512, 16, 20_000
#: Parts of a motion after which progress is reported, whatever is solved at once.
PARTS = 100
#: Status of an instant that is still to be solved.
OPEN = -1


class Way:
    """Newton's method on a system, of a group or of all, from its closed start on."""

    def __init__(self, system: System, method: Method | None = None) -> None:
        self.system, self.method = system, method
        rows, entries = system.step(system.start)
        factors = Dense(system, entries)
        #: Sign of the determinant, which is held; 0 at a dead point, and where equations are redundant.
        regular = not system.redundant and factors.condition[0] > LEAST
        self.sign = float(factors.sign[0]) if regular else 0.0
        self.allowance = max(VIOLATED, ROUNDED * float(np.abs(rows).max(initial=0.0)))
        #: Inputs where a way began that failed, how far these were from its end, its status and residual.
        self._wall = np.zeros((0, 1)), np.zeros((0, 1)), OK, 0.0

    # --- one call of Newton ----------------------------------------------------------------------------

    def newton(self, state: State, most: int, farthest: float) -> tuple[Bools, Floats, Ints, Factors]:
        """Solve all instants of a state in place: solved (T,), residuals, steps, and the last factors."""
        system, T = self.system, state.X.shape[1]
        gone, steps, solved = np.zeros((system.n, T)), np.zeros(T, dtype=np.int64), np.zeros(T, dtype=bool)
        for _ in range(most):
            rows, entries = system.step(state)
            factors = factorised(system, self.method, entries)
            x = -factors.solve(rows)
            size = np.abs(x).max(axis=0)
            going = ~solved & np.isfinite(size) & (np.abs(gone).max(axis=0, initial=0.0) <= farthest)
            x *= np.where(size > FURTHEST, FURTHEST / size, 1.0)
            x[:, ~going] = 0.0
            system.move(state, x)
            gone += x
            steps += going
            solved |= going & (size <= LAST)
            if not (going & ~solved).any():
                break
        solved = solved & (np.abs(gone).max(axis=0, initial=0.0) <= farthest)
        return solved, np.abs(rows).max(axis=0), steps, factors

    def _factors(self, state: State) -> Factors:
        return factorised(self.system, self.method, self.system.step(state)[1])

    def _rates(self, state: State, factors: Factors) -> None:
        """Velocities and accelerations of what is not given, by the rates of the inputs."""
        for rate, which in zip(state.motion, ("rate", "second"), strict=True):
            own = rate[len(rate) - self.system.n :]
            own[:] = 0.0
            own[:] = -factors.solve(self.system.rates(which, state))

    def _holds(self, factors: Factors) -> Bools:
        """Whether the determinant's sign is the one that is held."""
        return np.asarray(not self.sign or factors.sign * self.sign >= 0.0)

    # --- ways --------------------------------------------------------------------------------------------

    def _reach(self, start: State, goal: State) -> None:
        """Go from one instant to another along the straight line of the inputs, as if it took a second."""
        # Where rates alone have no answer the goal gets a pose too.
        system, share, steps = self.system, 0.0, 0
        before, given = start.at(slice(None)), len(start.motion[0]) - system.n
        before.inputs[1], before.inputs[2], before.motion[:] = goal.inputs[0] - start.inputs[0], 0.0, 0.0
        before.motion[0, :given] = system.between(start, goal)[:given]
        factors = self._factors(before)
        if factors.condition[0] > LEAST:
            self._rates(before, factors)
        length = longest = CAP / max(float(np.abs(before.inputs[1]).max(initial=0.0)), CAP)
        while True:
            length = min(length, 1.0 - share)
            now = before.at(slice(None))
            system.move(now, length * (before.motion[0] + 0.5 * length * before.motion[1]))
            now.inputs[0] += length * before.inputs[1]
            if share + length >= 1.0:  # to the last digit
                self._aim(now, goal)
            solved, residual, taken, factors = self.newton(now, FEW, FAR)
            steps += int(taken[0])
            if solved[0] and factors.condition[0] > LEAST and self._holds(factors).all():
                self._rates(now, factors)
                # A step has to be what the rates at both ends say, of bodies and of unknowns.
                (v, a), (w, b), h, way = before.motion, now.motion, length, system.between(before, now)
                off = way - 0.5 * h * (v + w) - h * h / 12.0 * (a - b)
                parts = [np.split(np.abs(x), [len(way) - system.unknowns]) for x in (off, way)]
                most = [(x.max(initial=0.0), y.max(initial=0.0)) for x, y in zip(*parts, strict=True)]
                if all(x <= LEAP * y + BLUR for x, y in most):
                    before, share = now, share + length
                    if share >= 1.0:
                        goal.pose[:], goal.unknown[:] = now.pose, now.unknown
                        goal.status[0], goal.steps[0], goal.residual[0] = OK, steps, residual[0]
                        return
                    length = min(length * (2.0 if taken[0] <= 3 else 1.0), longest)
                    continue
            length *= 0.5
            if length < SHORTEST:
                break
        self._aim(before, goal)
        solved, residual, taken, factors = self.newton(before, STEPS, np.inf)
        flat = factors.condition[0] <= (LEAST if solved[0] else HOPELESS)
        goal.pose[:], goal.unknown[:] = before.pose, before.unknown
        goal.status[0] = SINGULAR if flat else BRANCH_JUMP if solved[0] else NOT_CONVERGED
        goal.steps[0], goal.residual[0] = steps + taken[0], residual[0]

    def _aim(self, state: State, goal: State) -> None:
        """Give a state the inputs and the given bodies of another."""
        state.inputs[0], known = goal.inputs[0], self.system.known
        state.pose[:, :known] = goal.pose[:, :known]

    # --- many instants -------------------------------------------------------------------------------------

    def solve(
        self, state: State, time: Floats, level: int, progress: Callable[[float], object] | None = None
    ) -> None:
        """Solve all instants of a state, of which given bodies and inputs are set, block by block."""
        T, last, done, wanted = len(time), self.system.start, 0, True
        block = max(FEWEST, min(MOST, NUMBERS // max(self.system.n, 1)))
        with np.errstate(all="ignore"), one_blas_thread(self.system.bodies):
            for first in range(0, T, block):
                at = slice(first, min(first + block, T))
                part = state.at(at)
                self._solve_block(part, last, time[at], level)
                state.X[:, at] = part.X
                if part.sound.any():
                    last = part.at([np.flatnonzero(part.sound)[-1]])
                while progress is not None and wanted and done < at.stop:
                    done = min(done + -(-T // PARTS), T)
                    wanted = progress((done + 1) / (T + 1)) is not False  # the reference is the first of them
                if not wanted:
                    state.status[done:], state.residual[done:] = NOT_COMPUTED, np.nan
                    state.steps[done:] = state.condition[done:] = 0.0
                    break

    def _solve_block(self, state: State, last: State, time: Floats, level: int) -> None:
        waits = np.isnan(state.pose[:, : self.system.known].sum(axis=(0, 1)))
        state.status[:] = np.where(waits, PREDECESSOR_FAILED, OPEN)
        # Instants, the last one too, between which no input goes far.
        sound = np.flatnonzero(~waits).tolist()
        knots, start = sound[:1], last
        travel = np.abs(np.diff(state.inputs[0], axis=1, prepend=state.inputs[0, :, :1])).cumsum(axis=1)
        for t in sound[1:]:
            way = (travel[:, t] - travel[:, knots[-1]]).max(initial=0.0)
            if (way > 0.5 * CAP or t - knots[-1] > STRIDE) and t - 1 > knots[-1] and not waits[t - 1]:
                knots.append(t - 1)
        if knots and knots[-1] != sound[-1]:
            knots.append(sound[-1])
        for t in knots:
            if self._reached(state, start, t, level):
                start = state.at([t])
        self._fill_between(state, knots, time)
        for t in np.flatnonzero(state.status == OPEN).tolist():
            before = np.flatnonzero(state.status[:t] == OK)
            self._reached(state, state.at([before[-1]]) if len(before) else last, t, level)
        at = np.flatnonzero(state.status == OK)
        if len(at):
            now = state.at(at)
            self._finish(now, level)
            state.X[:, at] = now.X

    def _reached(self, state: State, start: State, t: int, level: int) -> bool:
        """Whether an instant is reached; what cannot be is said, if it is at the end of a stretch."""
        goal, known, planar = state.at([t]), self.system.known, self.system.planar
        origin, to_wall, *wall = self._wall
        way, is_behind = goal.inputs[0] - start.inputs[0], False
        if known == 1 and np.array_equal(origin, start.inputs[0]):  # perhaps past what could not be reached
            length, distance = np.linalg.norm(way), np.linalg.norm(to_wall)
            aside = np.abs(way / length - to_wall / distance).max()
            is_behind = bool(0.0 < distance <= length and aside < 1e-9)
        if is_behind:
            goal.status[0], goal.residual[0] = wall
        else:
            self._reach(start, goal)
            if goal.status[0] != OK and known > 1 and planar:  # poses alone are given: there is a shorter way
                near = start.at(slice(None))
                near.pose[4, :known] += whole_turns((goal.pose[4] - near.pose[4])[:known])
                if (near.pose[4] != start.pose[4]).any():
                    self._reach(near, goal)
            if goal.status[0] == SINGULAR and level == 0 and goal.residual[0] <= VIOLATED:
                goal.status[0] = OK
            if goal.status[0] not in (OK, SINGULAR):  # a way may lead over a dead point
                self._wall = start.inputs[0], way, goal.status[0], goal.residual[0]
        state.X[:, [t]] = goal.X
        return bool(goal.status[0] == OK)

    def _fill_between(self, state: State, knots: list[int], time: Floats) -> None:
        """Instants between two that were reached, all at once from cubics through these and their rates."""
        system, reached = self.system, state.status == OK
        pairs = [(a, b) for a, b in pairwise(knots) if reached[a] and reached[b] and b > a + 1]
        if not pairs:
            return
        ends = np.unique(pairs)
        at = state.at(ends)
        self._rates(at, self._factors(at))
        between = np.concatenate([np.arange(a + 1, b) for a, b in pairs])
        between = between[state.status[between] == OPEN]
        right = np.searchsorted(ends, between)
        a, b, guess = at.at(right - 1), at.at(right), state.at(between)
        begin, end = time[ends[right - 1]], time[ends[right]]
        way, ahead, h = system.between(a, b), b.motion[0].copy(), end - begin
        x, known = (time[between] - begin) / h, system.known
        if not system.planar:  # rate of the rotation vector from a to b, whose derivative turns with it
            turn, spin = (system.twists(vector)[3:] for vector in (way, ahead))
            swept = cross([*turn], [*spin])
            spin += np.array(cross([*turn], swept)) / 12.0 - 0.5 * np.array(swept)
        way = h * a.motion[0] * x * (1 - x) ** 2 + way * x * x * (3 - 2 * x) - h * ahead * x * x * (1 - x)
        guess.pose[:, known:], guess.unknown[:] = a.pose[:, known:], a.unknown
        system.move(guess, way[len(way) - system.n :])
        solved, guess.residual[:], guess.steps[:], factors = self.newton(guess, FEW, NEAR)
        solved &= self._holds(factors)
        guess.status[:] = OK
        state.X[:, between[solved]] = guess.X[:, solved]

    def _finish(self, now: State, level: int) -> None:
        """Residuals, conditions and rates where the equations are met, and contacts where they are not."""
        rows, entries = self.system.step(now)
        factors, worst = factorised(self.system, self.method, entries), np.abs(rows).max(axis=0)
        now.residual[:], now.condition[:] = worst, factors.condition
        if level > 0:
            self._rates(now, factors)
            now.status[~(factors.condition > LEAST)] = SINGULAR
        # Far from the world's origin a residual cannot fall below the rounding of the positions.
        rounding = 64 * np.finfo(float).eps * float(np.nanmax(np.abs(now.pose[:2]), initial=0.0))
        off = np.flatnonzero((worst > max(rounding, self.allowance)) & (now.status == OK))
        now.status[off] = DROPPED
        gaps = np.flatnonzero(self.system.is_gap)
        for k, matrix in zip(off.tolist(), self.system.dense(entries[:, off]), strict=True):
            # Combinations of equations that no motion changes: do contacts bear what they lack?
            fixed = np.linalg.svd(matrix)[0][:, matrix.shape[1] :].T
            lack = fixed @ rows[:, k]
            borne, *_ = np.linalg.lstsq(fixed[:, gaps], lack, rcond=1e-9)
            unborne = np.linalg.norm(fixed[:, gaps] @ borne - lack)
            if len(gaps) and unborne <= (1.0 - BORNE) * np.linalg.norm(lack):
                gap = float(borne[np.abs(borne).argmax()])
                now.status[k] = CONTACT_LOST if gap > 0.0 else INTERPENETRATION
                now.residual[k] = abs(gap)
