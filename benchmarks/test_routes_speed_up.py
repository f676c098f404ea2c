"""Two workers against one, and what running a plan costs beside the model's own ``solve``.

    python -m pytest benchmarks/test_routes_speed_up.py --benchmark-only -s

Aims: with two threads 90 % of what two busy loops gain, for 100,000 instants of the rotor and of the forward
Stewart platform; the inverse platform, which is bound by memory, within 10 % of what two threads gain that
only copy the same arrays; the sequential executor at most 5 % slower than ``Model.solve``.

Everybody runs in turns, so that a busy machine slows all alike; ratios are of medians. A run includes
everything: planning apart, coarse pass, arrays, tasks, looking back.
"""

from __future__ import annotations

import hashlib
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import groups
import mbssa
import routes

INSTANTS = 100_000
ROUNDS = 15


def model_of(name):
    return groups.build(mbssa.decompose(mbssa.load(name)))


def run(model, plan, motion):
    return routes.run(model, plan, motion, compiled=True)


def busy(threads):
    """The same work by one thread or by several, without the interpreter's lock."""
    block = bytes(2**20)

    def part(_):
        for _ in range(240 // threads):
            hashlib.sha256(block).digest()

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, range(threads)))


def in_turns(runners, rounds=ROUNDS):
    """Median seconds of each, by label."""
    for solve in runners.values():
        solve()
    seconds = {label: [] for label in runners}
    for _ in range(rounds):
        for label, solve in runners.items():
            begin = time.perf_counter()
            solve()
            seconds[label].append(time.perf_counter() - begin)
    return {label: statistics.median(times) for label, times in seconds.items()}


def plans(model, instants, workers=2):
    one = routes.plan_of(model, routes.sequential_route(model), instants=instants)
    two = {
        chunks: routes.plan_of(
            model,
            routes.sequential_route(model),
            instants=instants,
            chunks=chunks,
            executor="threads",
            workers=workers,
        )
        for chunks in (workers, 2 * workers, 4 * workers)
    }
    return one, two


@pytest.mark.parametrize("name", ["rotor", "rotor_transformed", "stewart"])
def test_two_threads(benchmark, name):
    model = model_of(name)
    motion = groups.default_motion(model.mechanism, steps=INSTANTS)
    one, two = plans(model, INSTANTS)
    runners = {"sequential": lambda: run(model, one, motion)}
    for chunks, plan in two.items():
        runners[f"threads × 2, {chunks} chunks"] = lambda plan=plan: run(model, plan, motion)
    assert all(solve().ok for solve in runners.values())
    runners |= {threads: lambda threads=threads: busy(threads) for threads in (1, 2)}
    found = benchmark.pedantic(in_turns, args=(runners,), rounds=1)
    gain = found.pop(1) / found.pop(2)
    show(f"{name}, {INSTANTS:,} instants", found, aim=0.9 * gain)
    print(f"{'two busy loops':34} {gain:24.2f}")


def test_two_threads_beside_a_copy(benchmark):
    model = model_of("stewart_inverse")
    motion = groups.default_motion(model.mechanism, steps=INSTANTS)
    one, two = plans(model, INSTANTS)
    answer = model.solve(motion, compiled=True)
    arrays = [
        np.ascontiguousarray(a.swapaxes(0, 1))
        for a in (answer.position, answer.orientation, answer.velocity, answer.acceleration)
    ]
    assert answer.ok

    def copy(threads):
        into = [np.empty_like(array) for array in arrays]
        cuts = np.linspace(0, INSTANTS, threads + 1).astype(int)

        def part(k):
            for array, target in zip(arrays, into, strict=True):
                target[:, cuts[k] : cuts[k + 1]] = array[:, cuts[k] : cuts[k + 1]]

        if threads == 1:
            part(0)
            return
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(part, range(threads)))

    runners = {"sequential": lambda: run(model, one, motion)}
    for chunks, plan in two.items():
        runners[f"threads × 2, {chunks} chunks"] = lambda plan=plan: run(model, plan, motion)
    runners |= {"copy": lambda: copy(1), "copy, 2 threads": lambda: copy(2)}
    found = benchmark.pedantic(in_turns, args=(runners,), rounds=1)
    gain = found["copy"] / found["copy, 2 threads"]
    copies = {label: found.pop(label) for label in ("copy", "copy, 2 threads")}
    show(f"stewart_inverse, {INSTANTS:,} instants", found, aim=0.9 * gain)
    print(f"{'copying the same arrays':34} {1e3 * copies['copy']:10.1f} ms {gain:10.2f} by 2 threads")


@pytest.mark.parametrize("instants", [1_000, 10_000, 100_000])
@pytest.mark.parametrize("name", ["planar_four_bar", "rotor", "stewart_inverse"])
def test_sequential_executor_beside_solve(benchmark, name, instants):
    model = model_of(name)
    motion = groups.default_motion(model.mechanism, steps=instants)
    plan = routes.plan_of(model, routes.sequential_route(model), instants=instants)
    runners = {"solve": lambda: model.solve(motion, compiled=True), "run": lambda: run(model, plan, motion)}
    assert runners["run"]().position.tobytes() == runners["solve"]().position.tobytes()
    rounds = max(ROUNDS, 1_000_000 // instants // 4)
    found = benchmark.pedantic(in_turns, args=(runners, rounds), rounds=1)
    more = found["run"] / found["solve"] - 1
    print(
        f"\n{name}, {instants:,} instants: solve {1e3 * found['solve']:.3f} ms, by a sequential plan "
        f"{more:+.1%} (aim at most +5 %: {'met' if more <= 0.05 else 'missed'})"
    )


def show(title, found, aim):
    print(f"\n\n{title}\n{'':34} {'median':>13} {'speed-up':>10}")
    first = next(iter(found.values()))
    best = first / min(found.values())
    for label, seconds in found.items():
        print(f"{label:34} {1e3 * seconds:10.1f} ms {first / seconds:10.2f}")
    print(f"best {best:.2f}, aim {aim:.2f}: {'met' if best >= aim else 'missed'}")
