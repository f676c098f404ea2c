"""The way of a system along its motion: Newton on all bodies at once."""

# Some instants are reached from one before them along the straight line of the inputs, in steps that the
# rates at both ends explain. The others between them are solved all at once from interpolated guesses.

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from groups.global_solver.elimination import Factors, Method, dense, factorised
from groups.global_solver.system import State, System, cross, turn_between, turned
from groups.status import (
    BRANCH_JUMP,
    CONTACT_LOST,
    DROPPED,
    INTERPENETRATION,
    NOT_CONVERGED,
    OK,
    PREDECESSOR_FAILED,
    SINGULAR,
)
from mbssa.arrays import Bools, Floats, Ints
from mbssa.threads import one_blas_thread

#: Largest residual of what was solved, over the size, and of equations that follow from it.
CLOSED, VIOLATED = 1e-12, 1e-9
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


@dataclass(eq=False)
class Answer:
    """A state at T instants, and how well each was solved."""

    state: State
    status: Ints
    residual: Floats
    steps: Ints
    condition: Floats


def sign_of(system: System, state: State) -> float:
    """Sign of the determinant at a pose; 0 at a dead point, and where equations are redundant."""
    factors = factorised(system, "dense", system.step(state)[1])
    return float(factors.sign[0]) if factors.condition[0] > LEAST else 0.0


class Way:
    """Newton's method on a system, of a group or of all; ``sign`` is that of the determinant, 0 for any."""

    def __init__(
        self, system: System, method: Method, allowance: float = VIOLATED, sign: float = 0.0
    ) -> None:
        self.system, self.method, self.allowance, self.sign = system, method, allowance, sign
        #: Inputs where a way began that failed, how far these were from its end, its status and residual.
        self._wall = np.zeros((0, 1)), np.zeros((0, 1)), OK, 0.0

    # --- one call of Newton ----------------------------------------------------------------------------

    def newton(self, state: State, most: int, farthest: float) -> tuple[Bools, Floats, Ints, Factors]:
        """Solve all instants of a state in place: solved (T,), residuals, steps, and the last factors."""
        system, gone = self.system, np.zeros((self.system.n, state.instants))
        steps, solved = np.zeros(state.instants, dtype=np.int64), np.zeros(state.instants, dtype=bool)
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

    def rates(self, state: State, factors: Factors) -> None:
        """Velocities and accelerations of the bodies that are not given, by the rates of the inputs."""
        known = self.system.known
        for rate, more, which in (
            (state.velocity, state.unknown_rate, "rate"), (state.acceleration, state.unknown_second, "second")
        ):  # fmt: skip
            rate[:, known:], more[:] = 0.0, 0.0
            rate[:, known:], more[:] = self.system.split(-factors.solve(self.system.rates(which, state)))

    def _holds(self, factors: Factors) -> Bools:
        """Whether the determinant's sign is the one that is held."""
        return np.array(factors.sign * self.sign >= 0.0) if self.sign else np.ones(1, dtype=bool)

    @staticmethod
    def _tolerance(state: State) -> float:
        """Far from the world's origin a residual cannot fall below the rounding of the positions."""
        extent = float(np.nanmax(np.abs(state.pose[:2]), initial=0.0))
        return max(CLOSED, 64 * np.finfo(float).eps * extent)

    # --- ways --------------------------------------------------------------------------------------------

    def reach(self, start: State, goal: State) -> tuple[int, State, int, float]:
        """Go from one instant along the straight line of the inputs: status, state, steps, residual."""
        before, share, steps = self._line(start, goal), 0.0, 0
        _, entries = self.system.step(before)
        factors = factorised(self.system, self.method, entries)
        if factors.condition[0] > LEAST:
            self.rates(before, factors)
        travel = float(np.abs(before.rate).max(initial=0.0))
        length = min(1.0, CAP / travel) if travel else 1.0
        while share < 1.0:
            length = min(length, 1.0 - share)
            now = self._moved(before, length)
            if share + length >= 1.0:  # to the last digit
                now.value, now.pose[:, : self.system.known] = (
                    goal.value.copy(),
                    goal.pose[:, : self.system.known],
                )
            solved, worst, taken, factors = self.newton(now, FEW, FAR)
            steps += int(taken[0])
            sound = solved[0] and factors.condition[0] > LEAST and self._holds(factors).all()
            if sound:
                self.rates(now, factors)
                if self._explained(before, now, length):
                    before, share = now, share + length
                    length *= 2.0 if taken[0] <= 3 else 1.0
                    length = min(length, CAP / travel) if travel else length
                    continue
            length *= 0.5
            if length < SHORTEST:
                return self._failed(before, goal, steps)
        found = goal.at(slice(None))
        found.pose, found.unknown = before.pose, before.unknown
        return OK, found, steps, float(worst[0])

    def _failed(self, last: State, goal: State, steps: int) -> tuple[int, State, int, float]:
        """Why an instant cannot be reached; one where rates alone have no answer has a state."""
        now, known = last.at(slice(None)), self.system.known
        now.value, now.pose[:, :known] = goal.value.copy(), goal.pose[:, :known]
        solved, worst, taken, factors = self.newton(now, STEPS, np.inf)
        found = goal.at(slice(None))
        found.pose, found.unknown = now.pose, now.unknown
        if not solved[0]:
            status = SINGULAR if factors.condition[0] <= HOPELESS else NOT_CONVERGED
        else:
            status = SINGULAR if factors.condition[0] <= LEAST else BRANCH_JUMP
        return status, found, steps + int(taken[0]), float(worst[0])

    def _line(self, start: State, goal: State) -> State:
        """The start, with the rates of the straight line to the goal, a second long."""
        known, found = self.system.known, start.at(slice(None))
        found.rate, found.second = goal.value - start.value, np.zeros_like(start.value)
        before, after = start.pose[:, :known], goal.pose[:, :known]
        found.acceleration[:] = 0.0
        if self.system.planar:
            found.velocity[:, :known] = (after - before)[[0, 1, 4]]
        else:
            found.velocity[:3, :known] = (after - before)[:3]
            found.velocity[3:, :known] = turn_between(before[3:], after[3:])
        return found

    def _moved(self, before: State, h: float) -> State:
        """The state after a time, by its rates; the rates stay."""
        system, now = self.system, before.at(slice(None))
        way = h * (before.velocity + 0.5 * h * before.acceleration)
        if system.planar:
            now.pose[:2] += way[:2]
            system.turn(now.pose, now.pose[4] + way[2])
        else:
            now.pose[:3] += way[:3]
            now.pose[3:] = turned(way[3:], now.pose[3:])
        now.unknown += h * (before.unknown_rate + 0.5 * h * before.unknown_second)
        now.value = before.value + h * before.rate
        return now

    def _between(self, before: State, after: State) -> tuple[Floats, Floats]:
        """Displacements of the bodies (3 or 6, N, T) and of the further unknowns (Q, T)."""
        change = after.pose - before.pose
        if self.system.planar:
            return change[[0, 1, 4]], after.unknown - before.unknown
        turn = turn_between(before.pose[3:], after.pose[3:])
        return np.concatenate([change[:3], turn]), after.unknown - before.unknown

    def _explained(self, before: State, after: State, h: float) -> bool:
        """Whether a step is what the rates at both ends say."""
        bodies, unknown = self._between(before, after)
        off = bodies - 0.5 * h * (before.velocity + after.velocity)
        off -= h * h / 12.0 * (before.acceleration - after.acceleration)
        more = unknown - 0.5 * h * (before.unknown_rate + after.unknown_rate)
        more -= h * h / 12.0 * (before.unknown_second - after.unknown_second)
        for part, way in ((off, bodies), (more, unknown)):
            largest = float(np.abs(way).max(initial=0.0))
            if not np.abs(part).max(initial=0.0) <= LEAP * largest + BLUR:
                return False
        return True

    # --- many instants -------------------------------------------------------------------------------------

    def solve(self, last: State, state: State, time: Floats, level: int) -> tuple[Answer, State]:
        """Solve the instants of a state, of which bodies that are given and inputs are set; the last then."""
        T = state.instants
        answer = Answer(state, np.full(T, -1), np.full(T, np.nan), np.zeros(T, dtype=np.int64), np.zeros(T))
        waits = np.isnan(state.pose[:, : self.system.known].sum(axis=(0, 1)))
        answer.status[waits] = PREDECESSOR_FAILED
        with np.errstate(all="ignore"), one_blas_thread(self.system.bodies):
            knots = self._knots(state, waits)
            start = last
            for t in knots:
                if self._reached(answer, start, t, level):
                    start = state.at([t])
            self._fill_between(answer, knots, time)
            for t in np.flatnonzero(answer.status == -1).tolist():
                before = np.flatnonzero(answer.status[:t] == OK)
                self._reached(answer, state.at([before[-1]]) if len(before) else last, t, level)
            self._finish(answer, level)
        sound = np.flatnonzero((answer.status == OK) | (answer.status == DROPPED))
        return answer, state.at([sound[-1]]) if len(sound) else last

    def _reached(self, answer: Answer, start: State, t: int, level: int) -> bool:
        """Whether an instant is reached; what cannot be is said, if it is at the end of a stretch."""
        goal = answer.state.at([t])
        if self._is_behind(start, goal):
            answer.status[t], answer.residual[t] = self._wall[2:]
            return False
        status, found, answer.steps[t], answer.residual[t] = self.reach(start, goal)
        known = self.system.known
        if status != OK and known > 1 and self.system.planar:  # poses alone are given: there is a shorter way
            near = start.at(slice(None))
            near.pose[4, :known] += 2 * np.pi * np.round((goal.pose[4] - near.pose[4])[:known] / (2 * np.pi))
            if (near.pose[4] != start.pose[4]).any():
                status, found, answer.steps[t], answer.residual[t] = self.reach(near, goal)
        if status == OK or (status == SINGULAR and level == 0 and answer.residual[t] <= VIOLATED):
            answer.state.put([t], found)
            answer.status[t] = OK
            return True
        answer.status[t] = status
        if status != SINGULAR:  # a way may lead over a dead point
            self._wall = start.value, goal.value - start.value, status, float(answer.residual[t])
        return False

    def _is_behind(self, start: State, goal: State) -> bool:
        """Whether the straight line from here to there passes a place that could not be reached from here."""
        origin, to_wall, _, _ = self._wall
        if self.system.known > 1 or not np.array_equal(origin, start.value):
            return False
        way = goal.value - origin
        length, distance = np.linalg.norm(way), np.linalg.norm(to_wall)
        return bool(0.0 < distance <= length) and bool(np.abs(way / length - to_wall / distance).max() < 1e-9)

    def _knots(self, state: State, waits: Bools) -> list[int]:
        """Instants, the last one too, between which no input goes far."""
        sound = np.flatnonzero(~waits)
        if not len(sound):
            return []
        knots = [int(sound[0])]
        for t in sound[1:].tolist():
            way = np.abs(np.diff(state.value[:, knots[-1] : t + 1], axis=1)).sum(axis=1).max(initial=0.0)
            if (way > 0.5 * CAP or t - knots[-1] > STRIDE) and t - 1 > knots[-1] and not waits[t - 1]:
                knots.append(t - 1)
        if knots[-1] != sound[-1]:
            knots.append(int(sound[-1]))
        return knots

    def _fill_between(self, answer: Answer, knots: list[int], time: Floats) -> None:
        """Instants between two that were reached, all at once from interpolated guesses."""
        state, ends = answer.state, [t for t in knots if answer.status[t] == OK]
        pairs = [(a, b) for a, b in pairwise(knots) if a in ends and b in ends and b > a + 1]
        if not pairs:
            return
        at = state.at(ends)
        _, entries = self.system.step(at)
        self.rates(at, factorised(self.system, self.method, entries))
        between = np.concatenate([np.arange(a + 1, b) for a, b in pairs])
        between = between[answer.status[between] == -1]
        place = {t: k for k, t in enumerate(ends)}
        owner = np.searchsorted([a for a, _ in pairs], between, side="right") - 1
        left, right = ([place[pairs[k][s]] for k in owner.tolist()] for s in (0, 1))
        a, b = (time[np.array(ends)[side]] for side in (left, right))
        guess = self._interpolated(at.at(left), at.at(right), state.at(between), time[between] - a, b - a)
        solved, worst, steps, factors = self.newton(guess, FEW, NEAR)
        solved &= self._holds(factors)
        good = between[solved]
        state.put(good, guess.at(solved))
        answer.status[good], answer.residual[good], answer.steps[good] = OK, worst[solved], steps[solved]

    def _interpolated(self, a: State, b: State, at: State, t: Floats, h: Floats) -> State:
        """States by cubics through two states and their rates, at times behind the first."""
        (bodies, unknown), known = self._between(a, b), self.system.known
        ahead = b.velocity
        if not self.system.planar:  # rate of the rotation vector from a to b, whose derivative turns with it
            turn, spin = bodies[3:], ahead[3:]
            swept = cross(turn, spin)
            ahead = np.concatenate([ahead[:3], spin - 0.5 * swept + cross(turn, swept) / 12.0])
        x = t / h
        way = h * a.velocity * x * (1 - x) ** 2 + bodies * x * x * (3 - 2 * x) - h * ahead * x * x * (1 - x)
        more = h * a.unknown_rate * x * (1 - x) ** 2 + unknown * x * x * (3 - 2 * x)
        more -= h * b.unknown_rate * x * x * (1 - x)
        at.pose[:, known:], at.unknown = a.pose[:, known:], a.unknown
        way = way[:, known:].swapaxes(0, 1).reshape(-1, len(x))
        self.system.move(at, np.concatenate([way, more]))
        return at

    def _finish(self, answer: Answer, level: int) -> None:
        """Residuals, conditions and rates where the equations are met, and contacts where they are not."""
        state, at = answer.state, np.flatnonzero(answer.status == OK)
        if not len(at):
            return
        now = state.at(at)
        rows, entries = self.system.step(now)
        factors, worst = factorised(self.system, self.method, entries), np.abs(rows).max(axis=0)
        answer.residual[at], answer.condition[at] = worst, factors.condition
        if level > 0:
            self.rates(now, factors)
            state.put(at, now)
            answer.status[at[~(factors.condition > LEAST)]] = SINGULAR
        off = np.flatnonzero((worst > max(self._tolerance(now), self.allowance)) & (answer.status[at] == OK))
        answer.status[at[off]] = DROPPED
        for k, matrix in zip(off.tolist(), dense(self.system, entries[:, off]), strict=True):
            gap = self._gap(matrix, rows[:, k])
            if gap:
                answer.status[at[k]] = CONTACT_LOST if gap > 0.0 else INTERPENETRATION
                answer.residual[at[k]] = abs(gap)

    def _gap(self, jacobian: Floats, missed: Floats) -> float:
        """The largest gap if only contacts miss; 0 if they cannot bear what the equations lack."""
        gaps = np.flatnonzero(self.system.is_gap)
        if not len(gaps):
            return 0.0
        left, _, _ = np.linalg.svd(jacobian)
        # Combinations of equations that no motion changes.
        fixed = left[:, jacobian.shape[1] :].T
        lack = fixed @ missed
        borne, *_ = np.linalg.lstsq(fixed[:, gaps], lack, rcond=1e-9)
        if np.linalg.norm(fixed[:, gaps] @ borne - lack) > (1.0 - BORNE) * np.linalg.norm(lack):
            return 0.0
        return float(borne[np.abs(borne).argmax()])
