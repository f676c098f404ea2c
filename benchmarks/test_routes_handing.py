"""Time to hand over a task that does nothing, by executor, on two workers.

    python -m pytest benchmarks/test_routes_handing.py --benchmark-only -s

*Chain*: each task waits for the one before. *Side by side*: no task waits. Of each, the least of some
rounds, which take turns. *5 % from*: the size of a task from which the handing is at most 5 % of the run,
both in a chain and side by side on two workers. For comparison, a task of the rotor: one group, 256 time
steps.
"""

from __future__ import annotations

import time
from concurrent.futures import wait
from contextlib import ExitStack

import numpy as np
from rich.console import Console
from rich.table import Table

import groups
import mbssa
from routes.dispatch import dispatch
from routes.executors import executor_named
from routes.plan import parallel_route, plan_of
from routes.run import logged_run

WORKERS = 2
ROUNDS = 5


def nothing(*_):
    return True


def dispatched(pool, at_once):
    """Calls by this project's dispatch, which follows the needs of the tasks."""

    def make(n, chain):
        before = {k: [k - 1] if chain and k else [] for k in range(n)}
        return lambda: dispatch(
            before, pool, lambda k: (nothing, k), lambda k, done: done, lambda: True, at_once
        )

    return make


def futures(pool):
    def make(n, chain):
        def chained():
            for _ in range(n):
                pool.submit(nothing).result()

        return chained if chain else lambda: wait([pool.submit(nothing) for _ in range(n)])

    return make


def joblib_on(backend, stack):
    from joblib import Parallel, delayed

    parallel = stack.enter_context(Parallel(n_jobs=WORKERS, backend=backend, batch_size=1))

    def make(n, chain):
        def chained():
            for _ in range(n):
                parallel([delayed(nothing)()])

        return chained if chain else lambda: parallel(delayed(nothing)() for _ in range(n))

    return make


def dask_graph(n, chain):
    return {f"t{k}": (nothing, f"t{k - 1}") if chain and k else (nothing,) for k in range(n)}


def dask_by(get, **choices):
    def make(n, chain):
        graph = dask_graph(n, chain)
        return lambda: get(graph, list(graph), **choices)

    return make


def ways(stack):
    """Name, how many tasks, and what makes a run of so many."""
    import dask.threaded
    import distributed

    cluster = stack.enter_context(
        distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0")
    )
    client = stack.enter_context(distributed.Client(cluster))
    threads, processes, cluster = (
        (stack.enter_context(executor_named(name).open(WORKERS)), executor_named(name).at_once(WORKERS))
        for name in ("threads", "processes", "cluster")
    )
    return (
        ("threads, this project's", 2000, dispatched(*threads)),
        ("concurrent.futures threads", 2000, futures(threads[0])),
        ("joblib.Parallel, threading", 100, joblib_on("threading", stack)),
        ("dask.threaded", 500, dask_by(dask.threaded.get, num_workers=WORKERS)),
        ("processes, this project's", 500, dispatched(*processes)),
        ("loky futures", 500, futures(processes[0])),
        ("cluster of processes, this project's", 200, dispatched(*cluster)),
        ("dask.distributed, its own graph", 200, dask_by(client.get)),
    )


def seconds(run):
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def rotor_task():
    """Seconds of a median task of the rotor: one group, 256 instants."""
    model = groups.build(mbssa.decompose(mbssa.load("rotor")))
    instants = 40 * 256
    plan = plan_of(model, parallel_route(model), instants=instants, chunks=40)
    motion = groups.default_motion(model.mechanism, steps=instants)
    logs = [logged_run(model, plan, motion).log for _ in range(3)]
    return float(np.median(logs[-1].stop - logs[-1].start))


def shown(value):
    return f"{value * 1e6:,.0f} µs" if value < 1e-3 else f"{value * 1e3:,.1f} ms"


def test_handing(benchmark):
    table = Table("Handed over by", "Chain", "Side by side", "5 % from", box=None, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    cost = {}
    with ExitStack() as stack:
        made = [(name, n, make(n, True), make(n, False)) for name, n, make in ways(stack)]
        for _, _, chain, apart in made:  # workers begin
            chain(), apart()
        for _ in range(ROUNDS):
            for name, n, *runs in made:
                for which, run in enumerate(runs):
                    found = seconds(run) / n
                    cost[name, which] = min(found, cost.get((name, which), np.inf))
        benchmark.pedantic(made[0][3], rounds=1)
    for name, *_ in made:
        chain, apart = cost[name, 0], cost[name, 1]
        table.add_row(name, shown(chain), shown(apart), shown(max(20 * chain, 20 * WORKERS * apart)))
    print()
    Console(width=110).print(table)
    print(f"\na task of the rotor, one group and 256 instants: {shown(rotor_task())}")
    names = [name for name, *_ in made]
    # What the executors rest on: neither Dask nor joblib.Parallel is cheaper than what they use.
    for mine, others in ((names[0], names[1:4]), (names[4], names[6:])):
        for other in others:
            assert cost[mine, 0] < cost[other, 0], (mine, other)
