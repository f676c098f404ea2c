"""What plans are predicted to take, beside what they take: costs measured here and now, in memory.

    python -m pytest benchmarks/test_routes_prediction.py --benchmark-only -s

10⁴ instants, plans run in turns, the least of 15 repeats, as in a study. Aims: half of the predictions within
20 %, and the plan that is predicted to be the fastest within 10 % of the one that is. On a machine that does
something else at the same time, or does so only while costs are measured, both may be missed; the load is
printed.
"""

from __future__ import annotations

import os
from statistics import median
from time import perf_counter

import pytest
from synthetic import dyads

import groups
import mbssa
from groups.model import Model
from routes.calibration import costs
from routes.calibration.machine import give_back_memory
from routes.plan import Plan, parallel_route, plan_of, sequential_route
from routes.predict import predict
from routes.run import logged_run

INSTANTS, REPEATS, WORKERS = 10_000, 15, 2

MODELS = (
    "rotor",
    "rotor_transformed",
    "stewart_inverse",
    "stewart",
    "nine_bar",
    "micromanipulator_driven",
    "100 dyads",
)

EXECUTORS = ("threads", "processes")


def plans(model: Model) -> dict[str, Plan]:
    """Plans of every kind, by name."""
    groups_, one_by_one, by_levels = model.structure.n_groups, sequential_route(model), parallel_route(model)
    alone = tuple(((g,),) for g in range(1, groups_ + 1))
    found = {
        "sequential": plan_of(model, one_by_one, instants=INSTANTS),
        "sequential, a call a group": Plan(alone, INSTANTS, 10_016),
        "sequential, 16 chunks": plan_of(model, one_by_one, instants=INSTANTS, chunks=16),
    }
    for executor in EXECUTORS:
        by = {"instants": INSTANTS, "executor": executor, "workers": WORKERS}
        found |= {
            f"{executor}, time chunks": plan_of(model, one_by_one, chunks=WORKERS, **by),
            f"{executor}, 8 time chunks": plan_of(model, one_by_one, chunks=8, **by),
            f"{executor}, stages": plan_of(model, by_levels, wait="stage", **by),
            f"{executor}, batched stages": plan_of(model, by_levels, wait="stage", batch=True, **by),
            f"{executor}, chunked stages": plan_of(model, by_levels, chunks=4, batch=True, **by),
        }
    return found


@pytest.mark.parametrize("name", MODELS)
def test_prediction(benchmark, name, monkeypatch):
    monkeypatch.setenv("MBSSA_STORE", ":memory:")
    mechanism = dyads(100) if name == "100 dyads" else mbssa.load(name)
    model = groups.build(mbssa.decompose(mechanism))
    motion = groups.default_motion(mechanism, steps=INSTANTS)
    begin = perf_counter()
    found = costs(model, motion, executors=EXECUTORS, workers=WORKERS, recalibrate=True)
    calibrated = perf_counter() - begin
    tried = plans(model)
    predicted = {plan: predict(model, tried[plan], found).seconds for plan in tried}
    seconds: dict[str, list[float]] = {plan: [] for plan in tried}

    def all_in_turn() -> None:
        for plan in tried:
            give_back_memory()
            seconds[plan].append(logged_run(model, tried[plan], motion, compiled=True).seconds)

    benchmark.pedantic(all_in_turn, rounds=REPEATS, warmup_rounds=1)
    measured = {plan: min(took[1:]) for plan, took in seconds.items()}  # the first one was the warm-up
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(
        f"\n\n{name}: {INSTANTS:,} instants, calibrated in {calibrated:.1f} s, noise {found.noise:.0%}{load}"
    )
    print(f"{'':32} {'predicted':>10} {'measured':>10} {'error':>8}")
    for plan in sorted(tried, key=measured.__getitem__):
        error = predicted[plan] / measured[plan] - 1.0
        print(f"{plan:32} {1e3 * predicted[plan]:7.2f} ms {1e3 * measured[plan]:7.2f} ms {error:+8.0%}")
    middle = median(abs(predicted[plan] / measured[plan] - 1.0) for plan in tried)
    best = min(tried, key=predicted.__getitem__)
    lost = measured[best] / min(measured.values()) - 1.0
    print(f"{'median error':32} {middle:41.0%}   aim 20 %  {_met(middle <= 0.2)}")
    print(f"{'predicted best over best':32} {lost:+41.0%}   aim 10 %  {_met(lost <= 0.1)}   {best}")


def _met(met: bool) -> str:
    return "met" if met else "missed"
