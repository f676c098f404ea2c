"""Instants that are left: damped Newton with free pivots on all such instants, and statuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from groups.engine.arrays import EDGE, TOLERANCE, Life, all_fine, by_form, is_fine
from groups.engine.path import on_one_path
from groups.engine.plan import CONDITION, FAR, GIMBAL, REACH, RESIDUAL, STEPS
from groups.status import (
    BRANCH_JUMP,
    CONTACT_LOST,
    DROPPED,
    INTERPENETRATION,
    NOT_CONVERGED,
    OK,
    OUT_OF_REACH,
    PREDECESSOR_FAILED,
    SINGULAR,
)
from groups.status import GIMBAL as GIMBAL_LOCK
from mbssa.arrays import Bools, Floats, Ints
from mbssa.joints.axes import whole_turns

if TYPE_CHECKING:
    from groups.engine.path import Knots, Loss
    from groups.engine.plan import Part, Plan

Statuses = npt.NDArray[np.int8]

#: How far Newton may end from its guess, rad or sizes.
NEAR = 0.02
#: Condition of a closed group, scaled, below which it has no rates.
NO_RATES = 1e-7
#: Least damping, over the trace of the matrix.
REGULAR = 1e-14
#: Steps of damped least squares, and rounds of starts on the right branch.
MOST, ROUNDS = 200, 6


def statuses(life: Life, X: Floats, time: Floats, knots: Knots, before: Statuses) -> Statuses:
    """(G, T) status of every group at every instant; X is completed where the rescue finds an answer."""
    # What is not computed ``before`` stays so.
    plan, found, solved = life.plan, before.copy(), all_fine(life.plan, X, NEAR)
    placed: Bools = np.asarray(np.isfinite(plan.bodies(X)).all(axis=1))
    clear, everywhere = (np.asarray((~x).all(axis=1)).tolist() for x in (before.astype(bool), ~placed))
    sound = np.asarray(solved.all(axis=1)).tolist()
    failing, gone = {loss.group for loss in knots.lost}, set[int]()  # at some instants, at all of them
    for g, part in enumerate(plan.parts):
        untouched = clear[g] and g not in failing
        if untouched and not gone.isdisjoint(part.known):
            found[g] = PREDECESSOR_FAILED
            gone.add(g)
            continue
        whole = sound[g] and failing.isdisjoint(part.known) and all(everywhere[b] for b in part.group.own)
        if untouched and whole:
            continue
        failing.add(g)
        there = found[g] == OK
        lost = (found[list(part.known)] != OK).any(axis=0) & there
        found[g, lost] = PREDECESSOR_FAILED
        if lost.all():
            gone.add(g)
            continue
        bad = np.flatnonzero(~(solved[g] & placed[list(part.group.own)].all(axis=0)) & there & ~lost)
        if len(bad):
            found[g, bad] = _rescued(life, part, X, bad)
        losses = sorted((loss for loss in knots.lost if loss.group == g), key=lambda loss: loss.before)
        if losses and part.n and not part.routine.linear:
            smooth = on_one_path(plan, X[:, :-1], X[:, 1:], np.diff(time))[part.state - plan.first_state]
            _doubt(found[g], losses, np.asarray(smooth.all(axis=0)), part.has_one_mode)
    return found


def _doubt(status: Statuses, losses: Sequence[Loss], smooth: Bools, has_one_mode: bool) -> None:
    """Of a group that was lost, instants are on the branch only where the reference leads to them."""
    for loss in losses:
        first, back = int(np.floor(loss.before)) + 1, int(min(np.ceil(loss.back), len(status)))
        solved = status[first:back] == OK
        if back < len(status):  # what leads smoothly to where it was found again is as sure
            breaks = np.flatnonzero(~(solved & (smooth[first:back] | has_one_mode)))
            solved[breaks[-1] + 1 if len(breaks) else 0 :] = False
        status[first:back][solved] = BRANCH_JUMP
        if first and not loss.beyond and (status[first : back + 1] == OK).all():  # between two instants
            status[first : first + 1] = BRANCH_JUMP


def fine(plan: Plan, part: Part, X: Floats, near: float = NEAR) -> Bools:
    """(T,) whether a group is solved as it should be."""
    solved = is_fine(X[part.quality : part.quality + STEPS], near, plan.setting.closed, part.flat)
    return np.asarray(solved & np.isfinite(X[part.answer]).all(axis=0))


def _rescued(life: Life, part: Part, X: Floats, bad: Ints) -> Statuses:
    """Statuses of a group at some instants; its answers are written where there are some."""
    plan, Y = life.plan, life.columns(X, bad, part)
    Life.apart(life, Y, len(bad), NEAR, parts=[part])  # by NumPy: what a singular leg hangs on has its place
    code = np.where(fine(plan, part, Y), OK, NOT_CONVERGED).astype(np.int8)
    todo = np.flatnonzero(code != OK)
    if len(todo):
        if part.n:
            Z = Y[:, todo]
            code[todo] = _by_damped_newton(plan, part, Z, X)
            Y[:, todo] = Z
        elif part.routine.rows and not (part.group.struts or part.group.direct):  # they are only checked
            rows = System(plan, part, Y[:, todo]).evaluate(part.routine.system, np.arange(len(todo)), ())
            code[todo] = _explained(part, rows, np.full(len(todo), DROPPED, dtype=np.int8))
        else:
            code[todo] = _of_closed_form(part, Y)[todo]
    written = plan.rows_of_part(part)
    written = written[written < len(X)]
    X[written[:, None], bad] = Y[written]
    return code


def _of_closed_form(part: Part, Y: Floats) -> Statuses:
    reach, gimbal = Y[part.quality + REACH], Y[part.quality + GIMBAL]
    code = np.where(reach < -EDGE, OUT_OF_REACH, np.where(reach > EDGE, NOT_CONVERGED, SINGULAR))
    return np.where(~(gimbal > EDGE) & (code == NOT_CONVERGED), GIMBAL_LOCK, code)


def _by_damped_newton(plan: Plan, part: Part, Y: Floats, X: Floats) -> Statuses:
    """Statuses of columns, which are solved from where they stand, or where others of the motion X do."""
    system = System(plan, part, Y)
    q, rows, J, code = system.judged(system.start())
    good = np.flatnonzero(fine(plan, part, X))
    for _ in range(ROUNDS):  # on another branch: again from the nearest instant that is on the right one
        wrong, right = np.flatnonzero(code == BRANCH_JUMP), np.flatnonzero(code == OK)
        starts = np.concatenate([X[part.state][:, good], q[:, right]], axis=1)
        if not len(wrong) or not starts.shape[1]:
            break
        nearest = np.abs(starts[:, :, None] - Y[part.state][:, None, wrong]).sum(axis=0).argmin(axis=0)
        q2, rows2, J2, code2 = System(plan, part, Y[:, wrong]).judged(starts[:, nearest])
        better = np.flatnonzero(code2 == OK)
        if not len(better):
            break
        k = wrong[better]
        q[:, k], rows[:, k], J[k], code[k] = q2[:, better], rows2[:, better], J2[better], OK
    system.write(q, rows, J, _explained(part, rows, code))
    unplaced = (code == OK) & ~np.isfinite(Y[part.answer]).all(axis=0)
    code[unplaced] = _of_closed_form(part, Y[:, unplaced])  # a strut
    return code


def _explained(part: Part, rows: Floats, code: Statuses) -> Statuses:
    """Statuses that say of an open contact on which side it is open."""
    for gap in part.routine.group.gaps[:1]:
        open_ = np.isin(code, (NOT_CONVERGED, OUT_OF_REACH, DROPPED))
        code[open_ & (rows[gap] > 0)] = CONTACT_LOST
        code[open_ & (rows[gap] < 0)] = INTERPENETRATION
    return code


class System:
    """Rows and Jacobian of a group at some instants."""

    def __init__(self, plan: Plan, part: Part, Y: Floats) -> None:
        self.plan, self.part, self.Y = plan, part, Y
        self.n, self.m = part.n, len(part.routine.rows)
        self.scale = np.where(part.turns, 1.0, plan.size)

    def evaluate(self, functions: Any, columns: Ints, q: Any, *rates: Any) -> Any:
        (_, arrays), used = functions
        given = [self.Y[r][columns] for r in self.plan.rows(self.part, used)]
        found = arrays(given, self.part.geometry, list(q), *map(list, rates))
        count = len(columns)
        return np.array([np.broadcast_to(x, (count,)) for x in found]).reshape(len(found), count)

    def start(self) -> Floats:
        """Unknowns as they stand, or by a closed form, turned to near there."""
        q = self.Y[self.part.state]
        with np.errstate(all="ignore"):
            each = zip(by_form(self.plan, self.part, self.Y, many=True), q, strict=True)
            return np.array([np.where(np.isfinite(x), x, old) for x, old in each]).reshape(q.shape)

    def at(self, q: Any, columns: Ints) -> tuple[Any, Any]:
        """Rows (m, K), and the Jacobian (K, m, n) by scaled unknowns, real or complex."""
        found = self.evaluate(self.part.routine.system, columns, q)
        J = found[self.m :].reshape(self.m, self.n, len(columns)).transpose(2, 0, 1)
        return found[: self.m], J * self.scale

    def judged(self, start: Floats) -> tuple[Floats, Floats, Floats, Statuses]:
        """Unknowns nearest to closing the group from a start, rows, Jacobian, and statuses."""
        part, routine = self.part, self.part.routine
        q, rows, slope, J = self.nearest(start)
        closed = np.abs(rows).max(axis=0, initial=0.0) <= self.plan.setting.closed
        left, sizes, right = np.linalg.svd(np.nan_to_num(J) * self.scale, full_matrices=False)
        flat = sizes[:, -1] <= NO_RATES * np.maximum(sizes[:, 0], 1e-300)
        along = np.einsum("kmn,mk->kn", left, rows) / np.maximum(sizes, 1e-300)
        flat |= np.abs(np.einsum("kij,ki->kj", right, along)).max(axis=1) > TOLERANCE  # its place is unknown
        least = slope < 1e-2 * np.sqrt((rows * rows).sum(axis=0))
        open_ = DROPPED if routine.redundant else OUT_OF_REACH
        code = np.where(closed, np.where(flat, SINGULAR, OK), np.where(least, open_, NOT_CONVERGED))
        if routine.linear or part.dead:
            code = np.where((flat | part.dead) & ~closed, SINGULAR, code)
        elif not routine.redundant:  # the sign of the determinant is that of the reference
            sign = np.sign(np.linalg.det(np.nan_to_num(J))) * part.sign
            code = np.where((code == OK) & (sign < 0), BRANCH_JUMP, code)
        return q, rows, J, code

    @np.errstate(all="ignore")
    def nearest(self, start: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Levenberg and Marquardt's method: unknowns, rows, slope of the square, Jacobian."""
        count = start.shape[1]
        every, damping = np.arange(count), np.full(count, 1e-3)
        result, q = start.copy(), start.copy()
        slopes = np.zeros(count)
        rows, J = self.at(q, every)
        square, active = (rows * rows).sum(axis=0), every
        for step in range(MOST + 1):
            gradient = np.einsum("kmn,mk->kn", J, rows)
            slope = np.linalg.norm(gradient, axis=1)
            done = (square < 1e-30) | ((slope < 1e-4 * np.sqrt(square)) & (square > 1e-14))
            done |= (step == MOST) | (damping > 1e9) | ~np.isfinite(square)
            if done.any():
                result[:, active[done]], slopes[active[done]] = q[:, done], slope[done]
                k = ~done
                active, q, rows, J, square = active[k], q[:, k], rows[:, k], J[k], square[k]
                damping, gradient = damping[k], gradient[k]
                if not len(active):
                    break
            normal = np.einsum("kmi,kmj->kij", J, J)
            added = damping + REGULAR * np.einsum("kii->k", normal)  # beside its roundings
            normal += np.where(np.isfinite(added), added, 1.0)[:, None, None] * np.eye(self.n)
            change = np.linalg.solve(normal, gradient[..., None])[..., 0].T
            longest = np.abs(change).max(axis=0)
            change *= np.minimum(1.0, 0.5 / np.maximum(longest, 1e-300))
            tried = q - self.scale[:, None] * change
            rows2, J2 = self.at(tried, active)
            square2 = (rows2 * rows2).sum(axis=0)
            better = square2 < square
            q, rows = np.where(better, tried, q), np.where(better, rows2, rows)
            J = np.where(better[:, None, None], J2, J)
            damping = np.where(better, np.maximum(damping * 0.2, 1e-16), damping * 8.0)
            square = np.where(better, square2, square)
        turns = whole_turns(result - start) * self.part.turns[:, None]
        if turns.any():  # whole turns on the way, where no equation counts them
            off = self.at(result - turns, every)[0] - self.at(result, every)[0]
            same = np.abs(off).max(axis=0, initial=0.0) <= self.plan.setting.closed
            result = np.where(same, result - turns, result)
        rows, J = self.at(result, every)
        return result, rows, slopes, J / self.scale

    def write(self, q: Floats, rows: Floats, J: Floats, code: Statuses) -> None:
        """Write unknowns, rates, bodies and quality."""
        part, routine, Y, plan = self.part, self.part.routine, self.Y, self.plan
        every, good = np.arange(Y.shape[1]), code == OK
        dq, ddq = np.zeros_like(q), np.zeros_like(q)
        with np.errstate(all="ignore"):
            if self.n:
                back = np.zeros((len(good), self.n, self.m))
                back[good] = np.linalg.pinv(J[good])
                first, second = routine.sides
                dq = -np.einsum("knm,mk->nk", back, self.evaluate(first, every, q))
                ddq = -np.einsum("knm,mk->nk", back, self.evaluate(second, every, q, dq))
            found = self.evaluate(routine.given_rates, every, q, dq, ddq)
        count = len(part.records)
        Y[part.records] = np.where(good, found[:count], np.nan)
        Y[part.state[:, None], np.flatnonzero(good)] = q[:, good]
        Y[part.state + plan.unknowns] = np.where(good, dq, 0.0)
        Y[part.state + 2 * plan.unknowns] = np.where(good, ddq, 0.0)
        Y[part.quality + CONDITION] = np.where(code == SINGULAR, 0.0, found[count])
        Y[part.quality + REACH], Y[part.quality + GIMBAL] = found[count + 2], found[count + 3]
        Y[part.quality + RESIDUAL] = np.abs(rows).max(axis=0, initial=0.0)
        Y[part.quality + FAR] = 0.0
        Y[part.quality + STEPS] = MOST
