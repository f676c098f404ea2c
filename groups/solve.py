"""Solution of a model over a motion: group by group, or with proven branches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, get_args

import numpy as np

from groups.engine.solve import Solving, plan_of
from groups.motion import Motion, default_motion
from groups.run import finished
from groups.trajectory import Branch, Level, Trajectory, body_index, level_number
from mbssa import Mechanism
from mbssa.arrays import Ints

if TYPE_CHECKING:
    from groups.model import Model

BRANCHES: tuple[Branch, ...] = get_args(Branch)
#: Farthest way of an input in a time step, rad or m: what turns with it could not be followed.
FARTHEST = 1e4
#: Operations of a mechanism above which it is proven on request only: some hundred groups.
LARGE = 20_000
#: Seconds by NumPy, roughly, for which a motion is followed in pieces by default.
PATIENCE = 3.0
#: Fewest instants that the engine solves between two reports of progress.
SPAN = 256


def solve(
    model: Model,
    motion: Motion | None,
    bodies: Sequence[str | int] | None,
    level: Level,
    modes: Mapping[int, int] | None,
    branch: Branch | None,
    compiled: bool | None,
    progress: Callable[[float], object] | None,
) -> Trajectory:
    """Position, velocity and acceleration over a motion; see :meth:`groups.Model.solve`."""
    mechanism = model.mechanism
    motion = default_motion(mechanism) if motion is None else motion
    if not isinstance(motion, Motion):
        raise TypeError(
            f"solve takes a Motion, not a {type(motion).__name__}; groups.sample makes one of laws, "
            "groups.read_motion of a file"
        )
    if branch is not None and branch not in BRANCHES:
        raise ValueError(f"branch {branch!r}; write {', '.join(BRANCHES[:-1])} or {BRANCHES[-1]}")
    answers = level_number(level)
    kept = kept_bodies(mechanism, bodies)
    compiled = model.compiles(len(motion.time)) if compiled is None else compiled
    if modes:
        from groups.assembly_modes import in_modes

        model = in_modes(model, modes)
    if not proves(model, branch):
        solving, done, _ = _solved(model, motion, compiled, progress)
        return finished(solving, model.held_bodies(kept), answers, done).trajectory(kept)
    from groups.branches.insertion import Effort, Proof, prove_of_groups

    solving, done, wanted = _solved(model, motion, compiled, _half(progress, 0.0))
    effort = Effort(branch == "smooth", _half(progress, 0.5), patience_of(branch))
    if wanted and not model.globally:
        return Proof(solving, effort).trajectory(kept, answers)
    found = finished(solving, model.held_bodies(kept), answers, done).trajectory(None if wanted else kept)
    if not wanted:
        return found
    own = [group.body_indices for group in model.structure.groups]
    return prove_of_groups(model, motion, own, found, kept, answers, compiled, effort)


def proves(model: Model, branch: Branch | None) -> bool:
    """Whether branches are proven, which by default they are unless the mechanism is large."""
    return branch != "checked" and (branch is not None or plan_of(model).operations <= LARGE)


def patience_of(branch: Branch | None) -> float:
    """Seconds by NumPy, roughly, for which a motion is followed in pieces."""
    return PATIENCE if branch is None else inf


def _solved(
    model: Model, motion: Motion, compiled: bool, progress: Callable[[float], object] | None = None
) -> tuple[Solving, int, bool]:
    """A motion that the engine has solved, up to an instant, and whether ``progress`` goes on."""
    solving, count, done, wanted = Solving(model, motion, compiled=compiled), len(motion.time), 0, True
    _check(solving)
    solving.begin()
    span = count if progress is None else SPAN * max(1, count // (50 * SPAN))
    while done < count and wanted:
        stop = min(done + span, count)
        solving.advance(done, stop)
        done, wanted = stop, progress is None or progress(stop / count) is not False
    return solving, done, wanted


def _half(progress: Callable[[float], object] | None, begin: float) -> Callable[[float], object] | None:
    """Report of one half of the work."""
    return None if progress is None else lambda share: progress(begin + 0.5 * share)


def _check(solving: Solving) -> None:
    """Refuse numbers that are not finite, which an array may have got since, and steps that are too long."""
    motion, way = solving.motion, solving.way
    total = way.sums[-1] if way.last else way.inputs.sum()
    if math.isfinite(total) and way.longest * max(solving.plan.size, 1.0) <= FARTHEST:
        return
    for what, rows in (("value", motion.value), ("rate", motion.rate), ("acceleration", motion.acceleration)):
        for k, t in np.argwhere(~np.isfinite(rows))[:1].tolist():
            raise ValueError(f"{what} of {motion.names[k]} is not finite at t = {motion.time[t]:g} s")
    steps = np.abs(np.diff(motion.value, axis=1))
    for k, t in np.argwhere(steps > FARTHEST)[:1].tolist():
        raise ValueError(
            f"{motion.names[k]} goes {steps[k, t]:,.6g} in the time step from t = {motion.time[t]:g} s; "
            f"give more instants, so that it goes {FARTHEST:,.0f} rad or m at most"
        )


def kept_bodies(mechanism: Mechanism, bodies: Sequence[str | int] | None) -> Ints:
    """Indices of the bodies of these names or numbers, ascending; of all if none are named."""
    if bodies is None:
        return np.arange(mechanism.n_bodies)
    return np.array(sorted({body_index(mechanism, name) for name in bodies}), dtype=np.int64)
