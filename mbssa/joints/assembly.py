"""Assembly of a mechanism at its reference, or near any configuration, by damped Gauss-Newton steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mbssa.disjoint_set import DisjointSet
from mbssa.joints.catalogue import coordinate_unit
from mbssa.joints.senses import cosines, with_senses
from mbssa.joints.system import Configuration, Rows, rows_at, unknowns
from mbssa.threads import one_blas_thread

if TYPE_CHECKING:
    from mbssa.joints.frames import Frames
    from mbssa.mechanism import Mechanism

Array = npt.NDArray[np.float64]

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

#: Cosine of two axes below which they have no sense to keep: at right angles any step may change it.
ASKEW = 0.1

#: Damping, over the square of the largest singular value: the first where a step fails, and the last.
_FIRST_DAMPING, _LAST_DAMPING = 1e-6, 1e6

#: Longest rotation of a step, rad: as far as a linear model reaches.
_REACH = 0.5


@dataclass(frozen=True, eq=False)
class Assembly:
    """Outcome of closing a mechanism.

    Attributes
    ----------
    configuration : where the bodies are now
    closed : whether every equation holds to the tolerance and every axis has the right sense
    residual : largest residual, lengths divided by the mechanism's size
    stationary : whether no small motion makes the residuals smaller: a minimum or saddle of their squares
    moved : (N,) how far each body was corrected, m, and ``turned`` (N,) rad
    fault : empty, or which joint cannot close first, and its gap
    """

    configuration: Configuration
    closed: bool
    residual: float
    moved: Array
    turned: Array
    fault: str = ""
    stationary: bool = False


def assemble(
    mechanism: Mechanism,
    frames: Frames,
    start: Configuration | None = None,
    tolerance: float = CLOSED,
    rank_tolerance: float = 1e-9,
    *,
    hold: bool = False,
    starts: int = len(STARTS),
) -> Assembly:
    """Close the constraints from a starting configuration by damped Gauss-Newton steps.

    Steps have minimum norm over the singular values above ``rank_tolerance``, so redundant equations and
    free motions do no harm; a step that does not diminish the residuals is repeated with damping
    (Levenberg-Marquardt). So a start near a closed configuration is closed there, and any other start ends at
    a stationary point of the sum of squared residuals. If that is not closed it may be a saddle (links in one
    line), so perturbed starts follow, the same ones every time. A mechanism cannot be assembled if each start
    ends at a stationary point with a residual above ``tolerance``.

    A redundant mechanism whose numbers are rounded closes only to the rounding: the smallest residual reached
    is what counts against ``tolerance``.

    Parameters
    ----------
    start : the reference if not given
    hold : driven coordinates keep their values, if the mechanism can close so; else they move with the rest
    starts : largest number of perturbed starts; 0 to stay near ``start``
    tolerance : largest residual of a closed mechanism, lengths divided by ``frames.size``

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.joints.frames import joint_frames
    >>> rotor = mbssa.load("rotor")
    >>> assemble(rotor, joint_frames(rotor)).closed
    True
    """
    with one_blas_thread(mechanism.n_bodies):
        return _assembled(mechanism, frames, start, tolerance, rank_tolerance, hold=hold, starts=starts)


def _assembled(
    mechanism: Mechanism,
    frames: Frames,
    start: Configuration | None,
    tolerance: float,
    rank_tolerance: float,
    *,
    hold: bool,
    starts: int,
) -> Assembly:
    """The outcome of :func:`assemble`, from one start after another."""
    first = start or Configuration.reference(frames)
    if not _is_dense(mechanism):
        starts = min(starts, _SPARSE_STARTS)
    best: Assembly | None = None
    dice = np.random.default_rng(11)
    for size in (0.0, *STARTS[:starts]):
        at = _perturbed(mechanism, frames, first, size, dice) if size else first
        for held in (True, False) if hold and mechanism.driven.any() else (False,):
            found = _assemble(mechanism, frames, first, at, tolerance, rank_tolerance, hold=held)
            if found.closed:
                return found
            if held:
                continue
            if size == 0 and found.residual <= max(tolerance, _rounding(frames, first)):
                # An axis is turned round. Where the file closes so, another start would hide that.
                if _largest(rows_at(mechanism, frames, first).constraints) <= max(tolerance, found.residual):
                    return found
                return _turned_back(mechanism, frames, first, tolerance, rank_tolerance, starts) or found
            # A clear gain only, so that rounding does not choose between mirror images.
            if best is None or found.residual < 0.99 * best.residual:
                best = found
    assert best is not None
    if best.residual <= max(tolerance, _rounding(frames, first)):
        return _turned_back(mechanism, frames, first, tolerance, rank_tolerance, starts) or best
    return best


def _perturbed(
    mechanism: Mechanism, frames: Frames, at: Configuration, size: float, dice: np.random.Generator
) -> Configuration:
    """Each body moved at random: rad, and lengths divided by the mechanism's size."""
    columns = unknowns(mechanism.space)
    step = np.zeros((mechanism.n_bodies, 6))
    step[1:, columns] = size * dice.uniform(-1.0, 1.0, size=(mechanism.n_bodies - 1, len(columns)))
    return at.moved(_unscaled(step, frames.size))


def _assemble(
    mechanism: Mechanism,
    frames: Frames,
    first: Configuration,
    at: Configuration,
    tolerance: float,
    rank_tolerance: float,
    *,
    hold: bool,
) -> Assembly:
    """Descend from ``at`` to a closed or stationary configuration; corrections count from ``first``."""
    wanted = rows_at(mechanism, frames, first, values=True) if hold else None

    def rows_of(at: Configuration) -> Rows:
        return _rows(mechanism, frames, at, wanted)

    rows = rows_of(at) if wanted is None or at is not first else _held(wanted, wanted)
    stationary, damping = False, 0.0
    for _ in range(_ITERATIONS):
        if not CLOSED < _largest(rows) < np.inf:
            break
        steps = _Steps(mechanism, rows, rank_tolerance)
        stationary = steps.stationary
        if stationary:
            break
        moved, damping = _descend(mechanism, frames, at, rows_of, rows, steps, damping)
        if moved is None:
            break
        at, rows = moved
    travel = np.linalg.norm(at.centres - first.centres, axis=1)
    trace = np.einsum("nab,nab->n", at.rotation, first.rotation)
    turned = np.arccos(np.clip((trace - 1) / 2, -1, 1))
    fault = _fault(mechanism, frames, at, rows.constraints, max(tolerance, _rounding(frames, first)))
    residual = _largest(rows)
    return Assembly(at, not fault, residual, travel, np.where(turned < 1e-7, 0.0, turned), fault, stationary)


def _turned_back(
    mechanism: Mechanism,
    frames: Frames,
    first: Configuration,
    tolerance: float,
    rank_tolerance: float,
    starts: int,
) -> Assembly | None:
    """Close from starts near ``first``, where some axes are turned round, with all in the right sense.

    At first the equations also say that those axes point the same way; as soon as they do, the constraints
    alone are closed, and no step turns an axis round again. None where no start closes.
    """
    dice = np.random.default_rng(13)
    for size in (0.0, *STARTS[:starts]):
        at = _perturbed(mechanism, frames, first, size, dice) if size else first
        chosen = cosines(mechanism, frames, at)[0] < ASKEW

        def rows_of(at: Configuration, chosen: npt.NDArray[np.bool_] = chosen) -> Rows:
            return with_senses(rows_at(mechanism, frames, at).constraints, mechanism, frames, at, chosen)

        rows, damping = rows_of(at), 0.0
        for _ in range(_ITERATIONS):
            if (cosines(mechanism, frames, at)[0] > 0).all():
                found = _assemble(mechanism, frames, first, at, tolerance, rank_tolerance, hold=False)
                if found.closed:
                    return found
                break
            steps = _Steps(mechanism, rows, rank_tolerance)
            moved, damping = _descend(mechanism, frames, at, rows_of, rows, steps, damping)
            if moved is None:
                break
            at, rows = moved
    return None


def _largest(rows: Rows) -> float:
    """Largest residual; infinite where an equation has no value."""
    return float(np.nan_to_num(np.abs(rows.residual), nan=np.inf).max(initial=0.0))


def _rounding(frames: Frames, at: Configuration) -> float:
    """Digits that are lost far from the world's origin, or on large profiles, which open nothing."""
    curves = (curve for relations in frames.relations.values() for curve in relations.curves)
    far = max([np.abs(at.centres).max(), *(np.abs(curve.coefficients[..., 0]).max() for curve in curves)])
    return 16 * float(np.finfo(float).eps) * float(far) / frames.size


def _descend(
    mechanism: Mechanism,
    frames: Frames,
    at: Configuration,
    rows_of: Callable[[Configuration], Rows],
    rows: Rows,
    steps: _Steps,
    damping: float,
) -> tuple[tuple[Configuration, Rows] | None, float]:
    """The configuration after one step that diminishes the residuals, and the damping for the next.

    No step turns the axis of a joint round: where both senses satisfy the equations, a long step would end at
    the wrong one. None where no damping serves: what is left is rounding.
    """
    before = float(rows.residual @ rows.residual)
    right = cosines(mechanism, frames, at)[0] > ASKEW
    while damping <= _LAST_DAMPING:
        step = steps.damped(damping)
        turn = float(np.abs(step[:, 3:]).max(initial=0.0))
        if turn > _REACH and damping < 1:
            damping = max(10 * damping, _FIRST_DAMPING)
            continue
        moved = at.moved(_unscaled(step, frames.size))
        there = rows_of(moved)
        after = float(there.residual @ there.residual)
        gain = (before - after) / max(before - steps.predicted(step), np.finfo(float).tiny)
        if gain >= 1e-4 and (cosines(mechanism, frames, moved)[0][right] > 0).all():
            damping *= max(1 / 3, 1 - (2 * gain - 1) ** 3)
            return (moved, there), damping if damping > _FIRST_DAMPING else 0.0
        damping = max(10 * damping, _FIRST_DAMPING)
    return None, damping


def _rows(mechanism: Mechanism, frames: Frames, at: Configuration, wanted: Rows | None) -> Rows:
    """The constraints; with drives that keep what they were at ``wanted``, if that is given."""
    if wanted is None:
        return rows_at(mechanism, frames, at).constraints
    return _held(rows_at(mechanism, frames, at, values=True), wanted)


def _held(rows: Rows, wanted: Rows) -> Rows:
    """Residuals of drives are what their values differ by from those wanted."""
    off = rows.residual - wanted.residual
    angle = [coordinate_unit(name) == "rad" for name in rows.name]
    off -= np.where(angle, 2 * np.pi * np.round(off / (2 * np.pi)), 0.0)
    return replace(rows, residual=np.where(rows.drive, off, rows.residual))


def _is_dense(mechanism: Mechanism) -> bool:
    """Whether steps are taken from a dense matrix."""
    return (mechanism.n_bodies - 1) * len(unknowns(mechanism.space)) <= DENSE


class _Steps:
    """Steps (N, 6) from one configuration, lengths divided by the mechanism's size."""

    def __init__(self, mechanism: Mechanism, rows: Rows, rank_tolerance: float) -> None:
        self._residual = rows.residual
        self._shape = mechanism.n_bodies, unknowns(mechanism.space)
        self._dense, self._tolerance = _is_dense(mechanism), rank_tolerance
        if self._dense:
            self._matrix: Any = rows.matrix(np.arange(1, mechanism.n_bodies))
            self._parts = [_Part.of(self._matrix, *each, rows.residual) for each in _blocks(mechanism, rows)]
            self._largest = max((float(part.singular.max(initial=0.0)) for part in self._parts), default=0.0)
        else:
            self._matrix = rows.sparse(mechanism.n_bodies)
            self._largest = float(np.sqrt((self._matrix**2).sum(axis=1).max()))
        self._undamped = self._solved(0.0)

    @property
    def stationary(self) -> bool:
        """Whether no small motion diminishes the residuals by more than their rounding."""
        size = float(np.linalg.norm(self._residual))
        columns = np.sqrt((self._matrix**2).sum(axis=0)) * size
        cosine = np.abs(self._matrix.T @ self._residual) / np.where(columns > 0, columns, 1.0)
        if cosine.max(initial=0.0) <= STATIONARY * min(1.0, size) ** 0.5:
            return True
        return float(np.linalg.norm(self._matrix @ self._undamped)) <= SETTLED * size

    def predicted(self, step: Array) -> float:
        """Sum of squared residuals after a step, by the linear model."""
        after = self._residual + self._matrix @ step[1:, self._shape[1]].ravel()
        return float(after @ after)

    def damped(self, damping: float) -> Array:
        """The step of minimum norm; shorter with damping, over the square of the largest singular value."""
        n_bodies, columns = self._shape
        step = np.zeros((n_bodies, 6))
        flat = self._undamped if damping == 0 else self._solved(damping)
        step[1:, columns] = flat.reshape(n_bodies - 1, len(columns))
        return step

    def _solved(self, damping: float) -> Array:
        if not self._dense:
            return self._iterated(float(np.sqrt(damping)) * self._largest)
        step = np.zeros(self._matrix.shape[1])
        for part in self._parts:
            step[part.columns] = part.step(damping * self._largest**2, self._tolerance)
        return step

    def _iterated(self, damp: float) -> Array:
        import scipy.sparse.linalg

        solved: Array = scipy.sparse.linalg.lsmr(
            self._matrix, -self._residual, damp=damp, atol=1e-14, btol=1e-14, maxiter=5_000
        )[0]
        return solved


@dataclass(frozen=True, slots=True)
class _Part:
    """Singular value decomposition of a block: ``load`` is the residual by its left vectors."""

    columns: npt.NDArray[np.int64]
    load: Array
    singular: Array
    right: Array

    @staticmethod
    def of(
        matrix: Array, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], residual: Array
    ) -> _Part:
        left, singular, right = np.linalg.svd(matrix[np.ix_(rows, columns)], full_matrices=False)
        return _Part(columns, left.T @ residual[rows], singular, right)

    def step(self, damping: float, tolerance: float) -> Array:
        """The step of minimum norm over the singular values above the tolerance, or a damped one."""
        if damping == 0.0:
            keep = self.singular > tolerance * self.singular.max(initial=0.0)
            step: Array = -self.right[keep].T @ (self.load[keep] / self.singular[keep])
            return step
        return np.asarray(-self.right.T @ (self.load * self.singular / (self.singular**2 + damping)))


def _blocks(mechanism: Mechanism, rows: Rows) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
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


def _unscaled(step: Array, size: float) -> Array:
    return np.concatenate([step[:, :3] * size, step[:, 3:]], axis=1)


def _fault(mechanism: Mechanism, frames: Frames, at: Configuration, rows: Rows, tolerance: float) -> str:
    """The first joint that is open or turned round, in a sentence; empty where all are closed."""
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
        shown = f"{gap * frames.size:.3g} m" if is_length else f"{gap:.3g} rad"
        return f"joint {mechanism.joints[joint]} cannot close: its {name} is off by {shown}"
    return _turned_round(mechanism, frames, at)


def _turned_round(mechanism: Mechanism, frames: Frames, at: Configuration) -> str:
    """An axis that is parallel but points the other way satisfies every equation and is wrong."""
    cosine, joints = cosines(mechanism, frames, at)
    wrong = joints[cosine < 0]
    if not len(wrong):
        return ""
    joint = mechanism.joints[int(wrong[0])]
    return f"joint {joint} closes with its axis turned round; reverse it on one of its bodies"
