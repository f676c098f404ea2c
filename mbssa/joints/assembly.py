"""Closing a mechanism at its reference, or near any configuration: Newton with rank-revealing steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mbssa.joints.catalogue import CATALOGUE, coordinate_unit
from mbssa.joints.equations import equations_of
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration, Rows, first_two_bodies, relative_pose, rows_at, unknowns
from mbssa.mechanism import Mechanism

Array = npt.NDArray[np.float64]

#: Largest residual, lengths divided by the mechanism's size, at which it counts as closed.
CLOSED = 1e-12

#: Unknowns up to which a step is a dense singular value decomposition.
DENSE = 3_000

_ITERATIONS = 50


@dataclass(frozen=True, eq=False)
class Assembly:
    """Outcome of closing a mechanism.

    Attributes
    ----------
    configuration : where the bodies are now
    closed : whether every equation holds to the tolerance and every axis has the right sense
    residual : largest residual, lengths divided by the mechanism's size
    moved : (N,) how far each body was corrected, m, and ``turned`` (N,) rad
    fault : empty, or which joint cannot close first, and its gap
    """

    configuration: Configuration
    closed: bool
    residual: float
    moved: Array
    turned: Array
    fault: str = ""


def assemble(
    mechanism: Mechanism,
    frames: Frames,
    start: Configuration | None = None,
    tolerance: float = CLOSED,
    rank_tolerance: float = 1e-9,
    *,
    hold: bool = False,
) -> Assembly:
    """Close the constraints from a starting configuration by Gauss-Newton.

    Steps have minimum norm over the singular values above ``rank_tolerance``, so redundant equations and
    free motions do no harm. A redundant mechanism whose numbers are rounded closes only to the rounding:
    the smallest residual reached is what counts against ``tolerance``.

    Parameters
    ----------
    start : the reference if not given
    hold : what is driven keeps its value, if the mechanism can close so; else it is moved with the rest
    tolerance : largest residual of a closed mechanism, lengths divided by ``frames.size``

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.joints.frames import joint_frames
    >>> rotor = mbssa.load("rotor")
    >>> assemble(rotor, joint_frames(rotor)).closed
    True
    """
    first = start or Configuration.reference(frames)
    if hold and mechanism.driven.any():
        held = _assemble(mechanism, frames, first, tolerance, rank_tolerance, hold=True)
        if held.closed:
            return held
    return _assemble(mechanism, frames, first, tolerance, rank_tolerance, hold=False)


def _assemble(
    mechanism: Mechanism,
    frames: Frames,
    first: Configuration,
    tolerance: float,
    rank_tolerance: float,
    *,
    hold: bool,
) -> Assembly:
    at, best = first, first
    smallest = np.inf
    step_size = np.inf
    wanted = rows_at(mechanism, frames, first, values=True) if hold else None
    for _ in range(_ITERATIONS):
        rows = _rows(mechanism, frames, at, wanted)
        residual = float(np.abs(rows.residual).max(initial=0.0))
        if residual < smallest:
            smallest, best = residual, at
        if residual <= CLOSED or step_size < 1e-15 or not np.isfinite(residual):
            break
        step = _step(mechanism, frames, rows, rank_tolerance)
        step_size = float(np.abs(step).max(initial=0.0))
        # A long step on a far start overshoots: half a radian is as far as a linear model reaches.
        at = at.moved(_unscaled(step * min(1.0, 0.5 / step_size) if step_size > 0 else step, frames.size))
    moved = np.linalg.norm(best.centres - first.centres, axis=1)
    trace = np.einsum("nab,nab->n", best.rotation, first.rotation)
    turned = np.arccos(np.clip((trace - 1) / 2, -1, 1))
    # Digits that are lost far from the world's origin open nothing.
    rounding = 16 * np.finfo(float).eps * float(np.abs(first.centres).max()) / frames.size
    fault = _fault(mechanism, frames, best, max(tolerance, rounding))
    return Assembly(best, not fault, smallest, moved, np.where(turned < 1e-7, 0.0, turned), fault)


def _rows(mechanism: Mechanism, frames: Frames, at: Configuration, wanted: Rows | None) -> Rows:
    """The constraints; with drives that keep what they were at ``wanted``, if that is given."""
    if wanted is None:
        return rows_at(mechanism, frames, at).constraints
    rows = rows_at(mechanism, frames, at, values=True)
    off = rows.residual - wanted.residual
    angle = [coordinate_unit(name) == "rad" for name in rows.name]
    off -= np.where(angle, 2 * np.pi * np.round(off / (2 * np.pi)), 0.0)
    return replace(rows, residual=np.where(rows.drive, off, rows.residual))


def _step(mechanism: Mechanism, frames: Frames, rows: Rows, rank_tolerance: float) -> Array:
    """Minimum-norm step (N, 6), lengths divided by the mechanism's size."""
    bodies = np.arange(1, mechanism.n_bodies)
    columns = unknowns(mechanism.space)
    step = np.zeros((mechanism.n_bodies, 6))
    if len(bodies) * len(columns) <= DENSE:
        solved = np.linalg.lstsq(rows.matrix(bodies), -rows.residual, rcond=rank_tolerance)[0]
    else:
        import scipy.sparse.linalg

        solved = scipy.sparse.linalg.lsmr(
            rows.sparse(mechanism.n_bodies), -rows.residual, atol=1e-14, btol=1e-14, maxiter=5_000
        )[0]
    step[1:, columns] = solved.reshape(len(bodies), len(columns))
    return step


def _unscaled(step: Array, size: float) -> Array:
    return np.concatenate([step[:, :3] * size, step[:, 3:]], axis=1)


def _fault(mechanism: Mechanism, frames: Frames, at: Configuration, tolerance: float) -> str:
    """The first joint that is open or turned round, in a sentence; empty where all are closed."""
    rows = rows_at(mechanism, frames, at).constraints
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
    for index in np.unique(mechanism.joint_type[frames.known]).tolist():
        rows = equations_of(CATALOGUE[index])
        if rows is None or not rows.sense:
            continue
        joints = np.flatnonzero((mechanism.joint_type == index) & frames.known)
        body = first_two_bodies(mechanism, joints)
        _, C, _, _ = relative_pose(frames, at, joints, body)
        for i, j in rows.sense:
            wrong = np.flatnonzero(C[:, i, j] < 0)
            if len(wrong):
                joint = mechanism.joints[int(joints[wrong[0]])]
                return f"joint {joint} closes with its axis turned round; reverse it on one of its bodies"
    return ""
