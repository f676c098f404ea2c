"""Assembly of a mechanism at its reference, or near any configuration, by damped Gauss-Newton steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.arrays import Floats, Ints
from mbssa.disjoint_set import DisjointSet
from mbssa.joints.axes import whole_turns
from mbssa.joints.catalogue import coordinate_unit
from mbssa.joints.limits import ROUNDING, Limits
from mbssa.joints.poses import Poses
from mbssa.joints.system import Rows, cosines_at, rows_at, senses_at, unknowns
from mbssa.threads import one_blas_thread
from mbssa.units import quantity_text

if TYPE_CHECKING:
    from mbssa.joints.frames import Frames
    from mbssa.mechanism import Mechanism


#: Largest residual, lengths divided by the mechanism's size, at which it counts as closed.
CLOSED = 1e-12

#: Unknowns up to which a step is a dense singular value decomposition.
DENSE = 3_000

#: Perturbed starts after the given one, each of random directions and of these sizes (rad, and lengths
#: divided by the mechanism's size). Small ones leave a saddle, such as links in one line.
STARTS = (0.1, 0.3, 1.0, 3.0)

#: Starts of a mechanism that is too large for dense steps.
_SPARSE_STARTS = 2

#: Largest cosine between the residual and a column of the Jacobian (as in MINPACK), over the root of the
#: residual's norm where that is below 1, at which the residual is stationary. Without the root a closed
#: configuration with a singular Jacobian would be missed: near it the cosine is as small as the distance.
STATIONARY = 1e-3

#: Share of the residual that a step of minimum norm could remove, below which only rounded redundant
#: equations are left (the relative offset of Bates and Watts, 1981).
SETTLED = 1e-8

_ITERATIONS = 200

#: Cosine of two axes below which their sense is not kept: at right angles any step may change it.
ASKEW = 0.1

#: Damping, over the square of the largest singular value: the first where a step fails, and the last.
_FIRST_DAMPING, _LAST_DAMPING = 1e-6, 1e6

#: Longest rotation of a step, rad: as far as a linear model reaches.
_REACH = 0.5


@dataclass(frozen=True, eq=False)
class Assembly:
    """Outcome of closing a mechanism."""

    configuration: Poses  # as reached
    closed: bool  # every equation holds to the tolerance and every axis has the right sense
    residual: float  # largest, lengths divided by the mechanism's size
    moved: Floats  # (N,) correction of each body, m
    turned: Floats  # (N,) rad
    fault: str = ""  # empty, or the joint that cannot close first, and its gap
    # stationary: no small motion makes the residuals smaller: a minimum or saddle of their squares
    stationary: bool = False
    outside: str = ""  # empty, or coordinates outside their limits, here and in the nearest other assembly


def assemble(
    mechanism: Mechanism,
    frames: Frames,
    start: Poses | None = None,
    tolerance: float = CLOSED,
    rank_tolerance: float = 1e-9,
    *,
    hold: bool = False,
    starts: int = len(STARTS),
) -> Assembly:
    """Close the constraints from a starting configuration by damped Gauss-Newton steps."""
    # ``tolerance`` is of lengths over ``frames.size``; ``hold`` keeps the driven coordinates if the mechanism
    # can close so. A stationary point that is not closed may be a saddle (links in one line), so perturbed
    # ``starts`` follow, the same every time. A reference that is drawn open is closed within the limits of
    # its coordinates where that can be.
    with one_blas_thread(mechanism.n_bodies):
        first = start or frames.reference
        closing = _Closing(mechanism, frames, first, tolerance, rank_tolerance)
        if not _is_dense(mechanism):
            starts = min(starts, _SPARSE_STARTS)
        hold = hold and bool(mechanism.driven.any())
        found = closing.assembled((0.0, *STARTS[:starts]), hold=hold)
        drawn_open = max(found.moved.max() / frames.size, found.turned.max()) > ROUNDING
        return closing.within_limits(found, hold=hold) if start is None and drawn_open else found


#: Equations at a configuration.
_RowsAt = Callable[[Poses], Rows]


@dataclass(frozen=True, eq=False)
class _Closing:
    """A mechanism to be closed near the configuration ``first``, from which corrections count."""

    mechanism: Mechanism
    frames: Frames
    first: Poses
    tolerance: float
    rank_tolerance: float

    def assembled(self, sizes: Sequence[float], *, hold: bool) -> Assembly:
        """The outcome from one start after another, perturbed by these sizes."""
        # A redundant mechanism whose numbers are rounded closes only to the rounding.
        rounded = max(self.tolerance, self._rounding)
        best: Assembly | None = None
        for size, at in self._starts(sizes, 11):
            for held in (True, False) if hold else (False,):
                found = self._closed(at, hold=held)
                if found.closed:
                    return found
                if held:
                    continue
                if size == 0 and found.residual <= rounded:
                    # An axis is reversed. Where the file closes so, another start would hide that.
                    if _largest(self._constraints(self.first)) <= max(self.tolerance, found.residual):
                        return found
                    return self._turned_back(sizes) or found
                # A clear gain only, so that rounding does not choose between mirror images.
                if best is None or found.residual < 0.99 * best.residual:
                    best = found
        assert best is not None
        return (self._turned_back(sizes) if best.residual <= rounded else None) or best

    def within_limits(self, found: Assembly, *, hold: bool) -> Assembly:
        """The assembly if no limit is passed, else one within the limits, else it and the next nearest."""
        limits = Limits.of(self.mechanism, self.frames)
        if not (found.closed and limits.places and _is_dense(self.mechanism)):
            return found
        if not limits.outside(found.configuration).any():
            return found
        starts = [self._led(limits, target) for target in limits.targets()]
        values, others = limits.values(found.configuration), list[tuple[float, Assembly]]()
        for held in (True, False) if hold else (False,):
            for at in starts:
                other = self._closed(at, hold=held)
                beyond = float(limits.outside(other.configuration).max())
                if other.closed and not beyond:
                    return other
                if other.closed and np.abs(limits.values(other.configuration) - values).max() > ROUNDING:
                    others.append((beyond, other))
        nearest = min(others, key=lambda each: each[0])[1:] if others else ()
        both = [limits.said(each.configuration) for each in (found, *nearest)]
        return replace(found, outside="; or ".join(both))

    def _led(self, limits: Limits, target: Floats) -> Poses:
        """A configuration whose limited coordinates are near values, closed as far as that goes."""
        led = limits.led()
        wanted = limits.aimed(rows_at(led, self.frames, self.first, values=True), target)
        return self._descended(self.first, self._towards(wanted, led), led, lambda *_: False)[0]

    def _towards(self, wanted: Rows, mechanism: Mechanism) -> _RowsAt:
        """Rows whose drives have the residuals by which their values differ from those wanted."""
        angle = [coordinate_unit(name) == "rad" for name in wanted.name]

        def rows_of(at: Poses) -> Rows:
            rows = rows_at(mechanism, self.frames, at, values=True)
            off = rows.residual - wanted.residual
            off -= np.where(angle, whole_turns(off), 0.0)
            return replace(rows, residual=np.where(rows.drive, off, rows.residual))

        return rows_of

    def _starts(self, sizes: Sequence[float], seed: int) -> Iterator[tuple[float, Poses]]:
        """Configurations with each body moved at random: rad, and lengths divided by the mechanism's size."""
        dice = np.random.default_rng(seed)
        n_bodies, columns = self.mechanism.n_bodies, unknowns(self.mechanism.space)
        for size in sizes:
            step = np.zeros((n_bodies, 6))
            if size:
                step[1:, columns] = size * dice.uniform(-1.0, 1.0, size=(n_bodies - 1, len(columns)))
            yield size, self._moved(self.first, step) if size else self.first

    def _closed(self, at: Poses, *, hold: bool) -> Assembly:
        """Descend from ``at`` to a closed or stationary configuration."""
        mechanism, frames, first = self.mechanism, self.frames, self.first
        rows_of: _RowsAt = self._constraints
        if hold:
            rows_of = self._towards(rows_at(mechanism, frames, first, values=True), mechanism)
        at, rows, stationary = self._descended(
            at, rows_of, mechanism, lambda _, rows: not CLOSED < _largest(rows) < np.inf
        )
        travel, turned = at.correction(first, frames.centre)
        fault = _fault(mechanism, frames, at, rows.constraints, max(self.tolerance, self._rounding))
        return Assembly(at, not fault, _largest(rows), travel, turned, fault, stationary)

    def _turned_back(self, sizes: Sequence[float]) -> Assembly | None:
        """Close from starts near ``first``, where some axes are reversed, with all in the right sense."""
        # Equations of their senses are added until those axes point the same way; then the constraints alone
        # are closed, and no step reverses an axis again. None where no start closes.
        for _, at in self._starts(sizes, 13):
            chosen = np.flatnonzero(self._cosines(at) < ASKEW)

            def rows_of(at: Poses, chosen: Ints = chosen) -> Rows:
                senses = senses_at(self.mechanism, self.frames, at).select(chosen)
                senses = replace(senses, residual=1.0 - senses.residual, jacobian=-senses.jacobian)
                return Rows.joined([self._constraints(at), senses])

            at, _, _ = self._descended(
                at, rows_of, self.mechanism, lambda at, _: bool((self._cosines(at) > 0).all())
            )
            if (self._cosines(at) > 0).all() and (found := self._closed(at, hold=False)).closed:
                return found
        return None

    def _descended(
        self, at: Poses, rows_of: _RowsAt, mechanism: Mechanism, done: Callable[[Poses, Rows], bool]
    ) -> tuple[Poses, Rows, bool]:
        """Configuration where a descent is done or ends, its rows, and whether it is stationary."""
        rows, damping = rows_of(at), 0.0
        for _ in range(_ITERATIONS):
            if done(at, rows):
                break
            steps = _Steps(mechanism, rows, self.rank_tolerance)
            if steps.stationary:
                return at, rows, True
            moved, damping = self._descend(at, rows_of, rows, steps, damping)
            if moved is None:
                break
            at, rows = moved
        return at, rows, False

    def _descend(
        self, at: Poses, rows_of: _RowsAt, rows: Rows, steps: _Steps, damping: float
    ) -> tuple[tuple[Poses, Rows] | None, float]:
        """Configuration after one step that diminishes the residuals, and the damping for the next."""
        # No step reverses the axis of a joint: where both senses satisfy the equations, a long step would end
        # at the wrong one. None where no damping serves: only rounding is left.
        before = float(rows.residual @ rows.residual)
        right = self._cosines(at) > ASKEW
        while damping <= _LAST_DAMPING:
            step = steps.damped(damping)
            if damping < 1 and float(np.abs(step[:, 3:]).max(initial=0.0)) > _REACH:
                damping = max(10 * damping, _FIRST_DAMPING)
                continue
            moved = self._moved(at, step)
            there = rows_of(moved)
            after = float(there.residual @ there.residual)
            gain = (before - after) / max(before - steps.predicted(step), np.finfo(float).tiny)
            if gain >= 1e-4 and (self._cosines(moved)[right] > 0).all():
                damping *= max(1 / 3, 1 - (2 * gain - 1) ** 3)
                return (moved, there), damping if damping > _FIRST_DAMPING else 0.0
            damping = max(10 * damping, _FIRST_DAMPING)
        return None, damping

    def _constraints(self, at: Poses) -> Rows:
        return rows_at(self.mechanism, self.frames, at).constraints

    def _cosines(self, at: Poses) -> Floats:
        return cosines_at(self.mechanism, self.frames, at)[0]

    def _moved(self, at: Poses, step: Floats) -> Poses:
        """A configuration after a step whose lengths are divided by the mechanism's size."""
        return at.moved(step * ([self.frames.size] * 3 + [1.0] * 3), self.frames.centre)

    @property
    def _rounding(self) -> float:
        """Rounding of residuals far from the world's origin, or on large profiles."""
        curves = (curve for relations in self.frames.relations.values() for curve in relations.curves)
        profiles = (np.abs(curve.coefficients[..., 0]).max() for curve in curves)
        far = max([np.abs(self.first.centres(self.frames.centre)).max(), *profiles])
        return 16 * float(np.finfo(float).eps) * float(far) / self.frames.size


def _largest(rows: Rows) -> float:
    """Largest residual; infinite where an equation has no value."""
    return float(np.nan_to_num(np.abs(rows.residual), nan=np.inf).max(initial=0.0))


def _is_dense(mechanism: Mechanism) -> bool:
    """Return whether steps are taken from a dense matrix."""
    return (mechanism.n_bodies - 1) * len(unknowns(mechanism.space)) <= DENSE


class _Steps:
    """Steps (N, 6) from one configuration, lengths divided by the mechanism's size."""

    def __init__(self, mechanism: Mechanism, rows: Rows, rank_tolerance: float) -> None:
        self._residual = rows.residual
        self._shape = mechanism.n_bodies, unknowns(mechanism.space)
        self._dense, self._tolerance = _is_dense(mechanism), rank_tolerance
        if self._dense:
            self._matrix: Any = rows.matrix(np.arange(1, mechanism.n_bodies))
            # Of each block columns, the residual by its left vectors, singular values and right vectors.
            self._parts: list[tuple[Ints, Floats, Floats, Floats]] = []
            for row, column in _blocks(mechanism, rows):
                left, singular, right = np.linalg.svd(self._matrix[np.ix_(row, column)], full_matrices=False)
                self._parts.append((column, left.T @ rows.residual[row], singular, right))
            self._largest = max((float(part[2].max(initial=0.0)) for part in self._parts), default=0.0)
        else:
            self._matrix = rows.sparse(mechanism.n_bodies)
            self._largest = float(np.sqrt((self._matrix**2).sum(axis=1).max()))
        self._undamped = self._solved(0.0)

    @property
    def stationary(self) -> bool:
        """Return whether no small motion diminishes the residuals by more than their rounding."""
        size = float(np.linalg.norm(self._residual))
        columns = np.sqrt((self._matrix**2).sum(axis=0)) * size
        cosine = np.abs(self._matrix.T @ self._residual) / np.where(columns > 0, columns, 1.0)
        if cosine.max(initial=0.0) <= STATIONARY * min(1.0, size) ** 0.5:
            return True
        return float(np.linalg.norm(self._matrix @ self._undamped)) <= SETTLED * size

    def predicted(self, step: Floats) -> float:
        """Sum of squared residuals after a step, by the linear model."""
        after = self._residual + self._matrix @ step[1:, self._shape[1]].ravel()
        return float(after @ after)

    def damped(self, damping: float) -> Floats:
        """The step of minimum norm; shorter with damping, over the square of the largest singular value."""
        n_bodies, columns = self._shape
        step = np.zeros((n_bodies, 6))
        flat = self._undamped if damping == 0 else self._solved(damping)
        step[1:, columns] = flat.reshape(n_bodies - 1, len(columns))
        return step

    def _solved(self, damping: float) -> Floats:
        if not self._dense:
            import scipy.sparse.linalg

            damp = float(np.sqrt(damping)) * self._largest
            return np.asarray(
                scipy.sparse.linalg.lsmr(
                    self._matrix, -self._residual, damp=damp, atol=1e-14, btol=1e-14, maxiter=5_000
                )[0]
            )
        step = np.zeros(self._matrix.shape[1])
        for column, load, singular, right in self._parts:
            damped = singular / (singular**2 + damping * self._largest**2 + (singular == 0.0))
            if damping == 0.0:
                damped[singular <= self._tolerance * singular.max(initial=0.0)] = 0.0
            step[column] = -right.T @ (damped * load)
        return step


def _blocks(mechanism: Mechanism, rows: Rows) -> list[tuple[Ints, Ints]]:
    """Rows and columns of what joints connect without the frame, such as legs on a fixed pelvis."""
    sets, freedom = DisjointSet(mechanism.n_bodies), rows.jacobian.shape[2]
    for bodies in dict.fromkeys(map(tuple, rows.body.tolist())):
        moving = [body for body in bodies if body]
        for body in moving[1:]:
            sets.merge(moving[0], body)
    part = np.array([sets[body] for body in range(mechanism.n_bodies)])
    of_row = part[rows.body.max(axis=1)]
    of_column = np.repeat(part[1:], freedom)
    return [
        (np.flatnonzero(of_row == label), np.flatnonzero(of_column == label)) for label in np.unique(of_row)
    ]


def _fault(mechanism: Mechanism, frames: Frames, at: Poses, rows: Rows, tolerance: float) -> str:
    """Sentence on the first joint that is open or reversed; empty where all are closed."""
    void = np.flatnonzero(np.isnan(rows.residual))
    if len(void):
        where = f"joint {mechanism.joints[int(rows.joint[void[0]])]} cannot close"
        return f"{where}: its {rows.name[void[0]]} has no value here; bring its bodies to where they touch"
    open_rows = np.flatnonzero(np.abs(rows.residual) > tolerance)
    if len(open_rows):
        joint = int(rows.joint[open_rows].min())
        mine = np.flatnonzero(rows.joint == joint)
        worst = mine[np.argmax(np.abs(rows.residual[mine]))]
        name = rows.name[worst]
        gap = abs(float(rows.residual[worst]))
        is_length = name.startswith(("position", "height", "length", "advance"))
        value, unit = (gap * frames.size, "m") if is_length else (gap, "rad")
        shown = quantity_text(value, unit, mechanism.units, ".3g")
        return f"joint {mechanism.joints[joint]} cannot close: its {name} is off by {shown}"
    # A parallel axis that points the other way satisfies every equation and is wrong.
    cosine, joints = cosines_at(mechanism, frames, at)
    wrong = joints[cosine < 0]
    if not len(wrong):
        return ""
    where = f"joint {mechanism.joints[int(wrong[0])]}"
    return f"{where} closes with its axis turned round; reverse it on one of its bodies"
