"""Simulated schedules: 10 to 10,000 groups in ten chunks on 1 to 1,024 workers, and whole scaling curves.

Figures: 10⁵ tasks on 1,024 workers in at most 1 s, the curve from 1 to 1,024 workers in at most 10 s.

    python -m pytest benchmarks/test_routes_simulation.py --benchmark-enable --benchmark-only
"""

import numpy as np
import pytest
from synthetic import costs, deep, in_chunks, layered, random_dag, wide

from routes.scaling import WORKERS, scaling
from routes.simulate import critical_path, simulate

CHUNKS = 10

SHAPES = {
    "wide": wide,
    "deep": deep,
    "layered": lambda groups: layered(groups // 10, 10),
    "random": lambda groups: random_dag(groups, min(0.5, 5 / groups), 1),
}


def tasks(shape, groups):
    return np.tile(costs(groups, 1), CHUNKS), *in_chunks(SHAPES[shape](groups), CHUNKS)


@pytest.mark.parametrize("workers", [1, 2, 32, 1024])
@pytest.mark.parametrize("groups", [10, 100, 1000, 10_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_schedule(benchmark, shape, groups, workers):
    case = tasks(shape, groups)
    schedule = benchmark.pedantic(simulate, (*case, workers), {"handing": 1e-5}, rounds=3, warmup_rounds=1)
    benchmark.extra_info |= {"tasks": len(case[0]), "idle": float(schedule.idle.mean())}
    least = max(critical_path(case[0] + 1e-5, *case[1:])[0], (case[0] + 1e-5).sum() / workers)
    assert least * (1 - 1e-9) <= schedule.makespan <= 2 * least
    assert benchmark.stats.stats.min <= 1.0


@pytest.mark.parametrize("shape", SHAPES)
def test_a_curve_of_10_000_groups_to_1024_workers(benchmark, shape):
    case = tasks(shape, 10_000)
    found = benchmark.pedantic(scaling, case, {"handing": 1e-5, "around": 1e-3}, rounds=1)
    benchmark.extra_info |= {
        "speed_up": dict(zip(WORKERS, found.speed_up.round(2).tolist(), strict=True)),
        "limit": found.limit,
        "enough": found.enough,
    }
    assert (found.speed_up <= min(found.limit, 1024) * (1 + 1e-9)).all()
    assert benchmark.stats.stats.min <= 10.0
