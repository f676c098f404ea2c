"""Methods in the coordinates of all bodies, every joint cut: ``lagrange``, ``penalty`` and ``dae``."""

# A state y has places and orientations of the movable bodies, and further unknowns of joints (places on
# curves, angles that count turns), the velocities of all, and the work of the loads. Further unknowns follow
# from the bodies: they are closed in every evaluation.

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg

from groups.dynamics.forward.course import CannotGoOnError, Run, Step
from groups.dynamics.forward.equations import Equations, too_small
from groups.dynamics.forward.traced import Bodies, turning
from groups.setting import Setting
from groups.trajectory import configuration_at

if TYPE_CHECKING:
    from groups.dynamics.forward.equations import Applied
    from groups.model import Model
    from groups.motion import Law
    from groups.trajectory import Trajectory
    from mbssa.arrays import Floats

#: Newton's method: most steps, the size of the last for further unknowns, and the residual, over the size,
#: from which positions need no further one.
STEPS, SMALL, CLOSED = 10, 1e-13, 1e-13
#: Residuals of closed joints from which on they are turns.
TURNED = 1e-2
#: Share of the largest singular value below which constraints depend on one another, and of a saddle point
#: without a solution.
DEPENDENT, SINGULAR = 1e-7, 1e-14
#: The same in a position that is taken for singular.
NEAR = 1e-3
#: Condition number of a body's masses from which on they are not eliminated.
HEAVY = 1e8
#: Residual of a regular system, over the size of its terms.
SOLVED = 1e-12
#: Of ``dae``: absolute tolerance of multipliers, N m; the first step, beside the time between two samples.
_UNCONTROLLED, _FIRST = 1e6, 1e-3


class Instant(NamedTuple):
    """A state, and the equations there; those of lengths are over the size."""

    t: float
    x: Floats
    v: Floats
    residual: Floats  # (E,)
    rate: Floats  # (E,)
    bias: Floats  # (E,) second time derivative at zero accelerations
    moved: Floats  # (E,) rate of prescribed coordinates alone
    jacobian: Floats  # (E, n) by the twists of the movable bodies' origins, m/s and rad/s
    masses: Floats  # (N - 1, 3 or 6, …) by origins' twists
    force: Floats  # (n,) of weight, loads and gyroscopic ones
    power: float  # of the loads, W
    second: Callable[[Floats], Floats]  # accelerations, with those of further unknowns, by the bodies'


class BodyCoordinates(Equations):
    """Equations of motion in the coordinates of all bodies, which serve in every position."""

    traced: Bodies

    def __init__(
        self, model: Model, applied: Mapping[str, Applied], laws: Mapping[str, Law], begin: Trajectory
    ) -> None:
        super().__init__(model, applied, laws, "lagrange")
        traced = self.traced
        self.n = traced.twists
        self.unit = traced.unit[: self.n]
        #: Rows that determine further unknowns, and constraints.
        self.more = np.array(traced.further, dtype=np.int64)
        self.own = np.setdiff1d(np.arange(traced.m), self.more)
        position, orientation = begin.position[0], begin.orientation[0]
        setting = Setting.at(model.structure, model.frames, configuration_at(position, orientation))
        assert begin.velocity is not None
        v = np.concatenate([begin.velocity[0, 1:].ravel(), np.zeros(traced.w - self.n + 1)])
        y = np.concatenate([traced.posed(position, orientation), traced.unknowns_at(setting), v])
        t = float(begin.time[0])
        off = self.at(t, y).residual
        self.turns[self.own] = np.where(np.abs(off) > TURNED, off, 0.0) / traced.scale[self.own]
        self.first = self.at(t, y)
        self.start = np.concatenate([self.first.x, self.first.v, [0.0]])

    @abstractmethod
    def solved(self, at: Instant) -> tuple[Floats, float, Floats]:
        """Accelerations (n,), power of loads and laws, W, and multipliers (E,), in a state."""

    def at(self, t: float, y: Floats) -> Instant:
        """The equations in a state."""
        traced, n, own, more = self.traced, self.n, self.own, self.more
        x, v = y[: traced.n].copy(), y[traced.n : -1].copy()
        if not traced.planar:
            q = x[: traced.poses].reshape(-1, 7)[:, 3:]
            q /= np.linalg.norm(q, axis=1, keepdims=True)
        law = [float(x[0]) for law in self.laws.values() for x in law(np.array([t]))]
        applied = [f(t) if callable(f) else f for f in self.applied.values()]
        given = {"law": law, "t": [t], "applied": applied, "a": [0.0] * traced.w}
        for _ in range(STEPS):
            moving = given | {"x": x.tolist(), "v": v.tolist()}
            rows, J, M, f, power = traced.motion(moving, self.turns)
            inverse = np.linalg.inv(J[more, n:])
            step = inverse @ rows[:2, more].T
            if (np.abs(step) <= SMALL * (1.0 + np.abs(v).max(initial=0.0))).all():
                break
            x[traced.poses :] -= step[:, 0]
            v[n:] -= step[:, 1]
        bias, slopes, share = rows[2, more], J[more, :n], J[own, n:] @ inverse
        force = f[:n] - (inverse @ slopes).T @ f[n:]

        def second(a: Floats) -> Floats:
            return np.concatenate([a, -inverse @ (bias + slopes @ a)])

        residual, rate, still, moved = rows[:, own] - rows[:, more] @ share.T
        J = J[own, :n] - share @ slopes
        return Instant(t, x, v, residual, rate, still, moved, J, M, force, power, second)

    def rates(self, x: Floats, v: Floats) -> Floats:
        """Rates of poses and further unknowns, by twists and their rates."""
        if self.traced.planar:
            return v
        twists = v[: self.n].reshape(-1, 6)
        turned = turning(x[: self.traced.poses].reshape(-1, 7)[:, 3:].T, twists[:, 3:].T)
        poses = np.column_stack([twists[:, :3], *turned])
        return np.concatenate([poses.ravel(), v[self.n :]])

    def rate(self, t: float, y: Floats) -> Floats:
        if not np.isfinite(y).all():
            return np.full(len(y), np.nan)
        at = self.at(t, y)
        second, power, _ = self.solved(at)
        return np.concatenate([self.rates(at.x, at.v), at.second(second), [power]])

    def sample(self, t: float, y: Floats) -> Floats:
        at = self.at(t, y)  # the power is not watched, and no pivot is small
        return np.concatenate([at.x, at.v, at.second(self.solved(at)[0]), [y[-1], np.nan, 1.0]])


class Lagrange(BodyCoordinates):
    """Equations of motion of all bodies with multipliers."""

    # M a + Jᵀ λ = f, J a = -J' v; of redundant constraints the multipliers of least norm. Positions and
    # velocities are projected on the constraints after every accepted step and at every sample (no Baumgarte
    # stabilisation). Where a trial state is off the constraints, redundant ones contradict each other a
    # little: their number is that of the beginning, no matter how small a singular value is there.

    @cached_property
    def redundant(self) -> int:
        """Number of constraints that depend on the others."""
        sizes = self._sizes(self.first)
        return len(self.own) - int((sizes > DEPENDENT * sizes.max(initial=0.0)).sum())

    @cached_property
    def heavy(self) -> bool:
        """Whether every body has a mass and moments of inertia, about any axis."""
        M = self.first.masses
        unit = self.unit.reshape(*M.shape[:2])
        return bool((np.linalg.cond(M * unit[:, :, None] * unit[:, None]) < HEAVY).all())

    def _sizes(self, at: Instant) -> Floats:
        """Singular values of the constraints."""
        return np.asarray(np.linalg.svd(at.jacobian * self.unit, compute_uv=False), dtype=np.float64)

    def hindered(self, t: float, y: Floats) -> str:
        sizes = self._sizes(self.at(t, y))[: len(self.own) - self.redundant]
        if not len(sizes) or sizes[-1] > NEAR * sizes[0]:
            return ""
        return (
            f"stopped at t = {t:.9g} s just before a singular position, at which constraints depend on one "
            "another; take the method groups, which steps over it"
        )

    def sample(self, t: float, y: Floats) -> Floats:
        return super().sample(t, self.settle(t, y))

    def settle(self, t: float, y: Floats) -> Floats:
        """A state projected on the constraints, by the least motions and rates."""
        found = y.copy()
        for _ in range(STEPS):
            at = self.at(t, found)
            if np.abs(at.residual).max(initial=0.0) <= CLOSED:
                break
            step = self._least(at.jacobian * self.unit, -at.residual)
            moved = np.append(step * self.unit, np.zeros(self.traced.w - self.n))
            found[: self.traced.n] = at.x + self.rates(at.x, moved)
            if np.abs(step).max(initial=0.0) <= CLOSED:
                break
        at = self.at(t, found)
        if not np.abs(at.residual).max(initial=0.0) < 1e-6:
            raise CannotGoOnError(f"t = {t:.9g} s: the constraints cannot be closed again")
        at.v[: self.n] += self._least(at.jacobian * self.unit, -at.rate) * self.unit
        return np.concatenate([at.x, at.v, y[-1:]])

    def solved(self, at: Instant) -> tuple[Floats, float, Floats]:
        """Solve the saddle point; multipliers in N m, of lengths over the size."""
        self.evaluations += 1
        M, f, J = at.masses, at.force, at.jacobian
        n, E = len(f), len(J)
        found = np.full(n + E, np.nan)
        if self.heavy:  # the multipliers alone, of a fraction of the size
            # Body by body: products of so small matrices keep to one thread.
            slopes = J.reshape(E, *M.shape[:2]).transpose(1, 2, 0)
            over = np.linalg.solve(M, np.concatenate([slopes, f.reshape(len(M), -1, 1)], axis=2))
            known = (slopes.swapaxes(1, 2) @ over).sum(axis=0)
            found[n:] = self._least(known[:, :E], known[:, E] + at.bias)
            found[:n] = (over @ np.append(-found[n:], 1.0)).ravel()
        if not np.isfinite(found).all():
            saddle = np.zeros((n + E, n + E))
            saddle[:n, :n], saddle[:n, n:], saddle[n:, :n] = scipy.linalg.block_diag(*M), J.T, J
            # Masses and constraints are scaled alike, so that one rank tolerance serves both.
            weight = float(np.trace(saddle)) / n or 1.0
            saddle[:n, :n] /= weight
            found = self._least(saddle, np.concatenate([f / weight, -at.bias]))
            found[n:] *= weight
        if not np.isfinite(found).all():
            raise CannotGoOnError(
                f"t = {at.t:.9g} s: the saddle point has no solution; a body without mass is free to move, "
                "or the position is singular"
            )
        return found[:n], at.power + float(found[n:] @ at.moved), found[n:]

    def _least(self, matrix: Floats, right: Floats) -> Floats:
        """The least solution, with as many redundant rows as at the beginning; NaN where there is none."""
        if not len(matrix):
            return np.zeros(matrix.shape[1])
        if not self.redundant:
            with suppress(np.linalg.LinAlgError):
                if len(matrix) == matrix.shape[1]:
                    found = np.linalg.solve(matrix, right)
                else:
                    found = matrix.T @ np.linalg.solve(matrix @ matrix.T, right)
                scale = np.abs(right).max() + np.abs(matrix).max() * np.abs(found).max()
                if np.abs(matrix @ found - right).max() <= SOLVED * scale:
                    return np.asarray(found, dtype=np.float64)
        U, sizes, V = np.linalg.svd(matrix, full_matrices=False)
        rank = len(matrix) - self.redundant
        if rank and not sizes[rank - 1] > SINGULAR * sizes[0]:
            return np.full(matrix.shape[1], np.nan)
        least: Floats = V[:rank].T @ ((U[:, :rank].T @ right) / sizes[:rank])
        return least


class Penalty(BodyCoordinates):
    """Equations of motion of all bodies, each free, between springs (N/m) and dampers (N s/m)."""

    # Each constraint φ = 0 pulls with -(k φ + c φ') along its direction, as in bond graphs. Constraints may
    # depend on one another, so that hyperstatic mechanisms are simulated as they are; a joint opens by its
    # reaction over k. Constraints on directions have the same stiffness at the mechanism's size, in N m/rad
    # and N m s/rad.

    def run(self, run: Run) -> None:
        request, size = run.request, self.traced.frames.size
        self.k, self.c = request.stiffness * size**2, request.damping * size**2
        M = self.first.masses
        missing = np.flatnonzero(np.linalg.matrix_rank(M) < M.shape[1])
        light = [self.mechanism.body_name(b + 1) for b in missing.tolist()]
        if light:
            raise CannotGoOnError(
                f"the method penalty needs mass and inertia of every body; {', '.join(light)} "
                "can move or turn without; give them an inertia, or take another method"
            )
        super().run(run)

    def solved(self, at: Instant) -> tuple[Floats, float, Floats]:
        """Solve for the accelerations; power of the loads and laws: what joints take is off the balance."""
        self.evaluations += 1
        pull = -(self.k * at.residual + self.c * at.rate)
        force = (at.force + at.jacobian.T @ pull).reshape(*at.masses.shape[:2], 1)
        second = np.asarray(np.linalg.solve(at.masses, force), dtype=np.float64).ravel()
        return second, at.power - float(pull @ at.moved), pull


class Residual(Lagrange):
    """Residual of a state y (its last entry the work), and multipliers of rates and of positions: ``dae``."""

    # The index-2 form of Gear, Gupta and Leimkuhler (1985): velocities fulfil the constraints' rates, and
    # further multipliers the constraints themselves. The integrator, SUNDIALS IDA, alone solves the system.

    def __call__(self, t: float, y: Floats, rate: Floats, out: Floats) -> None:
        """Write the residual at a state and its derivative."""
        self.evaluations += 1
        n, m, q = len(self.start), len(self.kept), self.traced.n
        at, first, multipliers = self.at(t, y[:n]), slice(q, q + self.n), y[n : n + m]
        J, masses = at.jacobian[self.kept], at.masses
        shift = np.append((J.T @ y[n + m :]) * self.unit**2, np.zeros(self.traced.w - self.n))
        out[:q] = rate[:q] - self.rates(y[:q], at.v - shift)
        momentum = (masses @ rate[first].reshape(*masses.shape[:2], 1)).ravel()
        out[first] = momentum + J.T @ multipliers - at.force
        out[n - 1] = rate[n - 1] - at.power - float(multipliers @ at.moved[self.kept])
        out[self.further] = (y[:n] - np.concatenate([at.x, at.v, [0.0]]))[self.further]
        out[n : n + m], out[n + m :] = at.rate[self.kept], at.residual[self.kept]

    def steps(self, run: Run) -> Iterator[Step]:
        try:
            from sksundae.ida import IDA  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                'the method dae needs SUNDIALS: pip install -e ".[dae]" in the clone'
            ) from None
        at, n, states = self.first, self.traced.n, len(self.start)
        # Only rows that are independent at the beginning are kept.
        _, R, order = scipy.linalg.qr((at.jacobian * self.unit).T, mode="economic", pivoting=True)
        size = np.abs(np.diag(R))
        self.kept = np.sort(order[: int((size > DEPENDENT * max(size.max(initial=0.0), 1e-300)).sum())])
        self.further = [*range(self.traced.poses, n), *range(n + self.n, states - 1)]
        still = np.zeros(2 * len(self.kept))
        whole, rate = np.append(self.start, still), np.append(self.rate(at.t, self.start), still)
        whole[states : states + len(self.kept)] = self.solved(at)[2][self.kept]
        # Multipliers are excluded from error control: they follow from the other unknowns.
        longest, tolerance = run.request.largest_step, run.request.tolerance
        absolute = np.full(len(whole), _UNCONTROLLED)
        absolute[:states] = 0.01 * tolerance
        ida: Any = IDA(
            self, rtol=tolerance, atol=absolute, algebraic_idx=[*self.further, *range(states, len(whole))],
            # With less, the matrix of an index-2 problem is nearly singular.
            first_step=_FIRST * float(run.time[1] - run.time[0]),
            max_step=longest if np.isfinite(longest) else 0.0,  # 0: any
        )  # fmt: skip
        (t, end), y = run.time[[0, -1]].tolist(), self.start
        ida.init_step(t, whole, rate)

        def inside(at: float) -> Floats:
            return y if at == t else np.array(ida.step(at).y[:states])

        while t < end:
            found = ida.step(end, method="onestep", tstop=end)
            if not found.success:
                raise CannotGoOnError(self.hindered(t, y) or f"{too_small(t)} (IDA: {found.message})")
            if found.t > t:  # after a look back the end of the last step comes first
                start, t, y = t, float(found.t), np.array(found.y[:states])
                run.steps += 1
                self.keep_contact(t, y)
                yield start, t, y, lambda: inside
