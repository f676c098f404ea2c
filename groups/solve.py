"""Solution of a model over a motion: group by group, or with proven branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np

from groups.engine.solve import Solving
from groups.motion import Motion, default_motion
from groups.posed import in_modes
from groups.run import REPORTED, Run, RunState, finished, seed
from groups.trajectory import Branch, Level, Trajectory, body_index, level_number
from mbssa import Mechanism
from mbssa.arrays import Ints

if TYPE_CHECKING:
    from groups.model import Model


_ONE_CHUNK = np.zeros(1, dtype=np.int64)
#: Fewest instants that the engine solves between two reports of progress.
SPAN = 256


def solve(
    model: Model,
    motion: Motion | None,
    bodies: Sequence[str | int] | None,
    level: Level,
    modes: Mapping[int, int] | None,
    chunks: int,
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
    if branch is not None and branch not in get_args(Branch):
        raise ValueError(
            f"branch {branch!r}; write {', '.join(get_args(Branch)[:-1])} or {get_args(Branch)[-1]}"
        )
    if chunks < 1:
        raise ValueError(f"{chunks} chunks; write 1 or more")
    answers = level_number(level)
    kept = kept_bodies(mechanism, bodies)
    if branch is None:
        branch = "proven" if model.proves(motion) else "checked"
    smooth = branch == "smooth"
    by_kernels = model.globally or (model.compiles(len(motion.time)) if compiled is None else compiled)
    if not by_kernels and branch == "checked":
        return _solve_by_engine(in_modes(model, modes), motion, kept, answers, progress)
    memory = model.memory_in(modes, motion)
    if not by_kernels:
        from groups.branches.insertion import prove

        everything = np.arange(mechanism.n_bodies)
        model = in_modes(model, modes)
        found = _solve_by_engine(model, motion, everything, max(answers, 1 + smooth), watches=False)
        return prove(model, motion, found, kept, answers, memory, False, smooth, progress)
    if branch != "checked":
        from groups.branches.insertion import solve_proven

        start = memory if modes or model.by_instants else model.packed.memory
        return solve_proven(model, motion, kept, answers, start, progress, compiled, smooth)
    held = model.held_bodies(kept)
    run = Run(model, motion, held, answers, compiled=compiled)
    instants = len(motion.time)
    # Reports come at whole blocks, so that they change no bit of the answer.
    blocks = max(1, instants // (50 * 256)) if run.compiled else 1
    every = instants if progress is None else min(REPORTED, 256 * blocks)
    starts, seeds = _ONE_CHUNK, [RunState.start(memory, len(run.kept))]
    if chunks > 1:
        starts = np.linspace(0, instants, min(chunks, instants), endpoint=False).astype(np.int64)
        seeds = seed(model, motion, starts, memory)
    state = seeds[0].of(run.kept) if chunks > 1 else seeds[0]
    first, done, wanted = 0, 0, True
    for at, stop in zip(seeds, [*starts[1:].tolist(), instants], strict=True):
        if at.pose is not None:
            seed_state = at.of(run.kept)
            if seed_state.pose is not None and run.comes_to(first, done, seed_state.pose):
                state = seed_state  # else this chunk goes on from the last one
        first = done
        while done < stop and wanted:
            end = min((done // every + 1) * every, stop)
            run.advance(done, end, state)
            done = end
            wanted = progress is None or progress(done / instants) is not False
        if not wanted:
            break
    run.look_back(0, done)
    run.stop_at(done)
    return run.trajectory(kept)


def _solve_by_engine(
    model: Model,
    motion: Motion,
    kept: Ints,
    level: int,
    progress: Callable[[float], object] | None = None,
    *,
    watches: bool = True,
) -> Trajectory:
    """Trajectory of a motion whose branches are checked."""
    solving, count, done, wanted = Solving(model, motion), len(motion.time), 0, True
    solving.begin()
    span = count if progress is None else SPAN * max(1, count // (50 * SPAN))
    while done < count and wanted:
        stop = min(done + span, count)
        solving.advance(done, stop)
        done, wanted = stop, progress is None or progress(stop / count) is not False
    return finished(solving, model.held_bodies(kept), level, done, watches=watches).trajectory(kept)


def kept_bodies(mechanism: Mechanism, bodies: Sequence[str | int] | None) -> Ints:
    """Indices of the bodies of these names or numbers, ascending; of all if none are named."""
    if bodies is None:
        return np.arange(mechanism.n_bodies)
    return np.array(sorted({body_index(mechanism, name) for name in bodies}), dtype=np.int64)
