"""Machine code of the engine: first answers, whole calls, threads, memory, and large structures.

    python -m pytest benchmarks/test_machine.py --benchmark-only -s
    BEFORE=FOLDER:FOLDER python -m pytest benchmarks/test_machine.py --benchmark-only -s -k whole_calls

First answers are those of a new process, beside one that imports NumPy, SciPy's graphs and networkx alone,
in turns. Whole calls are ``Model.solve(compiled=True)`` with checked branches, of built models whose code is
made; with ``BEFORE``, checkouts of other commits, those of all in turns, each in a process of its own (by
the Python of its ``.venv``, if it has one), after their answers are compared; ``MODELS`` names some alone.
Two threads solve the instants in chunks; beside them stand two processes that only count, as the cores of a
machine may be shared. Memory is the most that the process held, less what it held before and less the answer.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import groups
import mbssa
import routes

MODELS = os.environ.get("MODELS", "").split() or [
    name for name in mbssa.builtin_names() if mbssa.load(name).motion is not None
]
#: Wanted times over those of commit 2786a98 by model, at 361 and 20,000 instants.
WANTED = {
    "planar_four_bar": (0.6, 0.45), "theo_jansen": (0.6, 0.45), "cam_roller": (0.6, 0.17),
    "stewart": (0.6, 0.35), "rotor": (0.33, 0.2), "triad": (0.33, 0.1), "bricard": (0.2, 0.1),
    "micromanipulator_driven": (0.2, 0.1),
}  # fmt: skip
IMPORTS = "import numpy, scipy.sparse.csgraph, networkx"
FIRST = """
import groups, mbssa
groups.build(mbssa.decompose(mbssa.load({name!r}))).solve(compiled=True)
"""
#: Answers to lines "model steps runs": the least time of some calls, and the sum of all positions.
SERVER = """
import sys, time
import numpy as np
import groups, mbssa
models = {}
for line in sys.stdin:
    name, steps, runs = line.split()
    of = mbssa.load(name)
    model = models.setdefault(name, groups.build(mbssa.decompose(of)))
    motion, took = groups.default_motion(of, steps=int(steps)), []
    for _ in range(1 + int(runs)):
        begin = time.perf_counter()
        answer = model.solve(motion, compiled=True, branch="checked")
        took.append(time.perf_counter() - begin)
        total = float(np.abs(answer.position).sum() + np.abs(answer.acceleration).sum())
        del answer
    print(min(took[1:]), total, flush=True)
"""
MEMORY = """
import ctypes, re, resource
import groups, mbssa
of = mbssa.load({name!r})
model = groups.build(mbssa.decompose(of))
model.solve(groups.default_motion(of, steps=1000), compiled=True)
motion = groups.default_motion(of, steps=1_000_000)
def held(what):
    return 1024 * int(re.search(what + r":\\s+(\\d+)", open("/proc/self/status").read())[1])
ctypes.CDLL(None).malloc_trim(0)
before, began = held("VmRSS"), resource.getrusage(resource.RUSAGE_SELF)
answer = model.solve(motion, compiled=True, **{options!r})
ended = resource.getrusage(resource.RUSAGE_SELF)
arrays = [getattr(answer, name) for name in ("position", "orientation", "velocity", "acceleration", "status",
                                             "residual", "iterations", "condition", "proven")]
print(held("VmHWM") - before, sum(a.nbytes for a in arrays if a is not None), ended.ru_utime - began.ru_utime,
      ended.ru_stime - began.ru_stime)
"""
RUNS = 3


def seconds_of(*command, **environment):
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, *command], check=True, capture_output=True, env={**os.environ, **environment}
    )
    return time.perf_counter() - begin


def test_first_answers(benchmark):
    took: dict[str, list[float]] = {name: [] for name in ("", *MODELS)}

    def all_models():
        for _ in range(RUNS):
            for name, seconds in took.items():
                seconds.append(seconds_of("-c", FIRST.format(name=name) if name else IMPORTS))

    benchmark.pedantic(all_models, rounds=1)
    imports = statistics.median(took.pop(""))
    print(f"\n\nimports alone {imports:.2f} s; first compiled answers, s, and beside these")
    for name, seconds in took.items():
        print(f"{name:26} {statistics.median(seconds):6.2f} {statistics.median(seconds) / imports:6.2f}")


class Server:
    """A process that solves models of a checkout."""

    def __init__(self, folder):
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"}
        own = Path(folder) / ".venv" / "bin" / "python"
        self.process = subprocess.Popen(
            [own if own.exists() else sys.executable, "-c", SERVER], cwd=folder, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def seconds(self, name, steps, runs):
        self.process.stdin.write(f"{name} {steps} {runs}\n")
        self.process.stdin.flush()
        return map(float, self.process.stdout.readline().split())


def test_whole_calls(benchmark):
    here, before = Path(__file__).parents[1], os.environ.get("BEFORE", "").split(os.pathsep)
    servers = [Server(folder) for folder in (here, *before) if folder]
    took, steps_of = {}, {1: 100, 361: 40, 20_000: 8}

    def all_models():
        for steps, runs in steps_of.items():
            for name in MODELS:
                best = [np.inf] * len(servers)
                for _ in range(RUNS):
                    found = [tuple(server.seconds(name, steps, runs)) for server in servers]
                    best = [min(a, b[0]) for a, b in zip(best, found, strict=True)]
                    totals = [b[1] for b in found]
                    np.testing.assert_allclose(totals, totals[0], rtol=1e-9, atol=1e-9, err_msg=name)
                took[name, steps] = best

    benchmark.pedantic(all_models, rounds=1)
    for server in servers:
        server.process.communicate()
    others = "".join(f" {'before':>9} {'ratio':>6}" for _ in servers[1:])
    print(f"\n\n{'whole call, ms':26} {'instants':>9} {'now':>9}{others} {'wanted':>6}")
    for (name, steps), (now, *rest) in took.items():
        beside = "".join(f" {1e3 * seconds:9.3f} {now / seconds:6.2f}" for seconds in rest)
        wanted = f" {WANTED[name][steps > 361]:6.2f}" if steps > 1 and name in WANTED else ""
        print(f"{name:26} {steps:9} {1e3 * now:9.3f}{beside}{wanted}")


def test_one_instant(benchmark):
    of = mbssa.load("rotor")
    model, motion = groups.build(mbssa.decompose(of)), groups.default_motion(of, steps=1)
    model.compile()
    benchmark(lambda: model.solve(motion, compiled=True, branch="checked"))


COUNT = (
    "import time\nb = time.perf_counter()\nfor k in range(30_000_000): pass\nprint(time.perf_counter() - b)"
)


def together(count):
    """Seconds of as many processes that count, at once."""
    begin = time.perf_counter()
    processes = [
        subprocess.Popen([sys.executable, "-c", COUNT], stdout=subprocess.PIPE) for _ in range(count)
    ]
    for process in processes:
        process.communicate()
    return time.perf_counter() - begin


def test_two_threads(benchmark):
    of = mbssa.load("rotor")
    model, instants = groups.build(mbssa.decompose(of)), 1_000_000
    motion = groups.default_motion(of, steps=instants)
    route = routes.sequential_route(model)
    plans = [
        routes.plan_of(model, route, instants=instants, chunks=8, executor=executor, workers=workers)
        for executor, workers in (("sequential", 1), ("threads", 2))
    ]
    took: list[list[float]] = [[], [], [], []]

    def all_of_them():
        for _ in range(3):
            for k, plan in enumerate(plans):
                begin = time.perf_counter()
                routes.run(model, plan, motion, compiled=True, branch="checked")
                took[k].append(time.perf_counter() - begin)
            for k in (1, 2):
                took[1 + k].append(together(k))

    benchmark.pedantic(all_of_them, rounds=1)
    alone, both, one, two = map(min, took)
    print(
        f"\n\n10⁶ instants of the rotor: {alone:.2f} s, by two threads {both:.2f} s, {alone / both:.2f} times"
    )
    print(f"two processes that count do {2 * one / two:.2f} times the work of one")


@pytest.mark.parametrize("branch", ["checked", "proven"])
@pytest.mark.parametrize("options", [{}, {"bodies": [1], "level": "position"}])
def test_memory(benchmark, options, branch):
    options = {**options, "branch": branch}

    def measured():
        text = MEMORY.format(name="rotor", options=options)
        return subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True).stdout

    held, answer, user, system = map(float, benchmark.pedantic(measured, rounds=1).split())
    print(
        f"\n\n10⁶ instants of the rotor {options}: answer {answer / 1e6:.0f} MB, held {held / 1e6:.0f} MB, "
        f"{held / answer:.2f} times; {user:.2f} s, and {system:.2f} s of the system"
    )


def test_dyads(benchmark):
    took = {}

    def all_of_them():
        begin = time.perf_counter()
        of = mbssa.load("assur:I-10000")
        structure = mbssa.decompose(of)
        took["decompose"] = time.perf_counter() - begin
        begin = time.perf_counter()
        model = groups.build(structure)
        took["build"] = time.perf_counter() - begin
        motion = groups.default_motion(of, steps=101)
        for what in ("first solve", "second solve"):
            begin, processor = time.perf_counter(), time.process_time()
            model.solve(motion, compiled=True, branch="checked")
            took[what], took[f"of the processor in the {what}"] = (
                time.perf_counter() - begin, time.process_time() - processor,
            )  # fmt: skip

    benchmark.pedantic(all_of_them, rounds=1)
    print("\n\n10,000 dyads at 101 instants, s: " + ", ".join(f"{k} {v:.2f}" for k, v in took.items()))
