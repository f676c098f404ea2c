"""Costs of reactions: the balance of each group, measured on a motion that is solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from time import perf_counter

from groups.dynamics.one_group import Steps
from groups.model import Model
from groups.motion import Motion
from groups.trajectory import Trajectory
from routes.cost import Costs
from routes.reverse import empty_answers, steps_of

#: Repeats of a measured balance.
REPEATS = 3


def with_reactions(costs: Costs, model: Model, motion: Motion) -> Costs:
    """Costs of motions and reactions: those of a model, with the measured time of each balance."""
    # A balance is measured at the lengths of the costs of motions, up to that of the motion, and extrapolated
    # in proportion.
    trajectory, steps = model.solve(motion), steps_of(model)
    lengths = [min(length, len(motion.time)) for length in costs.lengths]
    found = {
        length: _measured(model, steps, trajectory.instants(slice(0, length))) for length in set(lengths)
    }
    back = tuple(
        tuple(
            found[there][0][g] * wanted / there for wanted, there in zip(costs.lengths, lengths, strict=True)
        )
        for g in range(len(steps.steps))
    )
    longest = max(lengths)
    around = replace(costs.around, instant=costs.around.instant + found[longest][1] / longest)
    return replace(
        costs, groups=costs.groups + back, needs=costs.needs + tuple(() for _ in back), around=around
    )


def _measured(model: Model, steps: Steps, trajectory: Trajectory) -> tuple[Sequence[float], float]:
    """s of the balance of each group, and of collecting the result."""
    seconds: list[list[float]] = []
    for _ in range(REPEATS):
        answers = empty_answers(model, len(trajectory.time))
        taken = [0.0] * len(steps.steps)
        for g in reversed(range(len(steps.steps))):
            begin = perf_counter()
            steps.perform(g, trajectory, answers)
            taken[g] = perf_counter() - begin
        begin = perf_counter()
        steps.forces(trajectory, answers)
        seconds.append([*taken, perf_counter() - begin])
    *balances, result = (median(each) for each in zip(*seconds, strict=True))
    return balances, result
