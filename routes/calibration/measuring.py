"""Costs of a model, identified from runs of real plans."""

# The plans, on a short piece of the motion: all groups in one call, each group in its own calls over chunks
# of several lengths, and all groups in one call over chunks. So costs include effects of a real run, such as
# first access to memory.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from groups.model import Model, build
from groups.motion import Motion
from groups.trajectory import LEVELS, Level
from mbssa.arrays import Floats
from routes.calibration.machine import this_machine
from routes.calibration.timing import LEAST, Timing, noise, timed
from routes.cost import Around, Costs
from routes.executors import ExecutorCosts
from routes.plan import GRAIN, Plan, even_chunk
from routes.run import logged_run

#: Time budget for measuring a model with one executor, s.
BUDGET = 1.5

#: Chunk lengths that are measured, and the whole piece.
LENGTHS = (64, 256, 1024, 4096)

#: Tasks of one run, about.
TASKS = 2000


def measured_costs(model: Model, motion: Motion, level: Level) -> Costs:
    """Costs of a model's tasks on this machine, run in sequence."""
    rate, tiny = _rate(model, motion, level)
    piece = first_instants(motion, _affordable(len(motion.time), rate))
    runs = _sequential_runs(model, piece)
    timings = timed(model, {"tiny": (tiny, first_instants(motion, tiny.instants)), **runs}, level, BUDGET)
    alone = {name: timing for name, timing in timings.items() if name.startswith("alone")}
    by_length = {
        timing.plan.chunk if timing.plan.chunks > 1 else timing.plan.instants: timing.by_call
        for timing in alone.values()
    }
    lengths = tuple(sorted(by_length))
    table = _in_order(lengths, np.array([by_length[length] for length in lengths]).T)
    needs = model.neighbours
    whole = Costs(
        machine=this_machine().processor,
        cores=this_machine().cores,
        level=LEVELS.index(level),
        instants=len(motion.time),
        lengths=lengths,
        groups=tuple(map(tuple, table.tolist())),
        needs=needs,
        group_of_body=tuple((model.structure.group_of_body - 1).tolist()),
        joined=0.0,
        loaded=0.0,
        around=Around(0.0, 0.0, 0.0, 0.0),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        noise=noise(timings.values()),
    )
    joined, loaded = _saved(
        whole, [timings[name] for name in ("together", "8 chunks", "32 chunks") if name in timings]
    )
    costs = replace(
        whole,
        joined=joined,
        loaded=loaded,
        around=_around(timings),
        executors={"sequential": ExecutorCosts(0.0, 0.0, _gap(timings.values()), 0.0)},
    )
    return _for_the_whole(costs, model, motion, len(piece.time), rate, level)


def with_alternatives(
    costs: Costs, model: Model, motion: Motion, level: Level, alternatives: Mapping[int, str]
) -> Costs:
    """Costs that have other solvers of some groups too, by group number."""
    found = measured_costs(build(model.structure, solvers=alternatives), motion, level)
    table = {
        f"{g} {name}": tuple(float(found.group_seconds(length)[g - 1]) for length in costs.lengths)
        for g, name in alternatives.items()
    }
    return replace(costs, alternatives={**costs.alternatives, **table})


def first_instants(motion: Motion, count: int) -> Motion:
    """The beginning of a motion."""
    return motion if count >= len(motion.time) else motion.within(slice(count))


def affordable(costs: Costs, instants: int) -> int:
    """Instants of a motion that can be run often enough within the budget."""
    whole = float(costs.group_seconds(costs.lengths[-1]).sum())
    return _affordable(instants, whole / costs.lengths[-1])


def alone(groups: int, instants: int, chunk: int, **choices: object) -> Plan:
    """A plan in which each group is a call of its own."""
    stages = tuple(((g,),) for g in range(1, groups + 1))
    return Plan(stages, instants, chunk, **choices)  # type: ignore[arg-type]


def together(groups: int, instants: int, chunks: int, **choices: object) -> Plan:
    """A plan in which all groups are one call."""
    stages = ((tuple(range(1, groups + 1)),),)
    return Plan(stages, instants, even_chunk(instants, chunks), **choices)  # type: ignore[arg-type]


def enough_instants(groups: int, length: int, instants: int) -> int:
    """Time steps for enough chunks of a length, and not too many tasks."""
    return min(instants, length * max(8, TASKS // groups))


def _rate(model: Model, motion: Motion, level: Level) -> tuple[float, Plan]:
    """s of one time step, roughly, after compilation; and a plan of a few time steps."""
    groups, instants = model.structure.n_groups, len(motion.time)
    tiny = together(groups, min(instants, 2 * GRAIN), 1)
    small = together(groups, min(instants, 32 * GRAIN), 1)
    logged_run(model, tiny, first_instants(motion, tiny.instants), level=level, compiled=True)
    rates: list[float] = []
    for plan in (tiny, small, small):
        if rates and min(rates) * small.instants > BUDGET / 5:
            break
        log = logged_run(model, plan, first_instants(motion, plan.instants), level=level, compiled=True).log
        rates.append(float((log.stop - log.start).sum()) / plan.instants)
    return min(rates), tiny


def _affordable(instants: int, rate: float) -> int:
    runs = len(LENGTHS) + 5
    return max(min(instants, 4 * GRAIN), min(instants, int(BUDGET / (runs * LEAST * rate))))


def _sequential_runs(model: Model, piece: Motion) -> dict[str, tuple[Plan, Motion]]:
    groups, instants = model.structure.n_groups, len(piece.time)
    runs = {"together": (together(groups, instants, 1), piece)}
    for length in (*(length for length in LENGTHS if length < 0.7 * instants), instants):
        part = first_instants(piece, enough_instants(groups, length, instants))
        chunk = length if length < instants else even_chunk(instants, 1)
        runs[f"alone {length}"] = alone(groups, len(part.time), chunk), part
    for chunks in (8, 32):
        if instants > chunks * GRAIN:
            runs[f"{chunks} chunks"] = together(groups, instants, chunks), piece
    return runs


def _in_order(lengths: Sequence[int], table: Floats) -> Floats:
    """Costs made monotonic and subadditive over chunk lengths, by reduction: disturbances only add time."""
    # A shorter chunk takes no more than a longer one, and a longer one no more than its parts.
    found: Floats = np.minimum.accumulate(table[:, ::-1], axis=1)[:, ::-1].copy()
    for k in range(1, len(lengths)):
        found[:, k] = np.minimum(found[:, k], found[:, k - 1] * lengths[k] / lengths[k - 1])
    return found


def _saved(costs: Costs, runs: list[Timing]) -> tuple[float, float]:
    """Seconds (>= 0) saved by each group that joins a call, and by each body and step that is not loaded."""
    groups = len(costs.groups)
    if groups == 1:
        return 0.0, 0.0
    bodies = sum(len(needed) for needed in costs.needs)
    rows, saved = [], []
    for timing in runs:
        length = min(timing.plan.chunk, timing.plan.instants)
        apart = float(costs.group_seconds(length).sum())
        rows.append([(groups - 1) / apart, bodies * length / apart])
        saved.append((apart - float(timing.by_call[0])) / apart)
    return _not_negative(rows, saved)


def _around(timings: Mapping[str, Timing]) -> Around:
    tiny, one = timings["tiny"], timings["together"]
    span = one.plan.instants - tiny.plan.instants
    instant = max(0.0, one.around - tiny.around) / span if span > 0 else 0.0
    fixed = tiny.around - instant * tiny.plan.instants
    rows, rest = [], []
    for name, timing in timings.items():
        if name.startswith("alone"):
            calls, tasks = len(timing.log.calls), len(timing.log.start)
            rows.append([calls - 1.0, tasks - 1.0])
            rest.append(timing.around - fixed - instant * timing.plan.instants)
    call, task = _not_negative(rows, rest)
    return Around(fixed, instant, call, task)


def _not_negative(rows: list[list[float]], values: list[float]) -> tuple[float, float]:
    """Two non-negative costs by least squares."""
    from scipy.optimize import nnls

    if not rows:
        return 0.0, 0.0
    first, second = nnls(np.array(rows), np.array(values))[0].tolist()
    return first, second


def _gap(timings: Iterable[Timing]) -> float:
    """s between two tasks of one worker."""
    found = []
    for timing in timings:
        log = timing.log
        if len(log.start) > 100:
            found.append(float(np.median(log.start[1:] - log.stop[:-1])))
    return max(0.0, min(found, default=5e-6))


def _for_the_whole(
    costs: Costs, model: Model, motion: Motion, measured: int, rate: float, level: Level
) -> Costs:
    """Costs of a piece, scaled by one run of the whole motion, since Newton's iterations vary."""
    instants = len(motion.time)
    if measured == instants or rate * instants > BUDGET / 3:
        return costs
    plan = together(len(costs.groups), instants, 1)
    logs = [logged_run(model, plan, motion, level=level, compiled=True).log for _ in range(2)]
    least = min(float((log.stop - log.start).sum()) for log in logs)
    predicted = float(costs.call_seconds([tuple(range(len(costs.groups)))], instants)[0])
    ratio = min(max(least / predicted, 0.5), 2.0)
    return replace(
        costs,
        groups=tuple(tuple(ratio * s for s in row) for row in costs.groups),
        joined=ratio * costs.joined,
        loaded=ratio * costs.loaded,
    )
