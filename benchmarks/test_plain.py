"""Built-in models in plain Python: what an instant takes, as estimated, and whole processes without a cache.

    python -m pytest benchmarks/test_plain.py --benchmark-only -s

The estimates of ``groups/solvers`` decide from how many instants on compiled kernels are
loaded: where plain Python would take as long as that. They hold if the ratio of measured to
estimated is the same for all models; its level is that of the machine.
Aims for whole processes on an empty cache, on a machine that imports NumPy, SciPy's graphs and networkx in
0.31 s: the four-bar 0.45 s, the rotor 0.8 s, every other model 1.5 s, ``involute_teeth`` and
``micromanipulator_driven`` 2.5 s. Here they are given as multiples of that import, timed in turns.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

import groups
import mbssa

MODELS = [name for name in mbssa.builtin_names() if mbssa.load(name).motion is not None]
IMPORTS = [sys.executable, "-c", "import numpy, scipy.sparse.csgraph, networkx"]
#: Seconds of the imports on the machine that the aims are for, and the aims, s.
THERE = 0.31
AIMS = {"planar_four_bar": 0.45, "rotor": 0.8, "involute_teeth": 2.5, "micromanipulator_driven": 2.5}
OTHERS = 1.5
#: Runs of each process; the least counts.
RUNS = 5


def test_estimates(benchmark):
    """Instants of each model's own motion, in plain Python."""
    took = {}

    def all_models():
        for name in MODELS:
            model = groups.build(mbssa.decompose(mbssa.load(name)))
            motion = groups.default_motion(model.mechanism)
            begin = time.process_time()
            model.solve(motion, compiled=False)
            took[name] = (time.process_time() - begin) / len(motion.time), model.plain_seconds

    benchmark.pedantic(all_models, rounds=1)
    print(f"\n\n{'µs an instant':26} {'measured':>10} {'estimated':>10} {'ratio':>8}")
    for name, (measured, estimated) in took.items():
        print(f"{name:26} {1e6 * measured:10.0f} {1e6 * estimated:10.0f} {measured / estimated:8.2f}")


def test_whole_processes(benchmark, tmp_path):
    """``mbssa solve`` of every model with an empty folder of kernels, and the imports, in turns."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    seconds: dict[str, list[float]] = {name: [] for name in ("", *MODELS)}

    def once(name):
        command = [sys.executable, "-m", "mbssa", "solve", name] if name else IMPORTS
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=environment)
        seconds[name].append(time.perf_counter() - begin)

    def all_in_turn():
        for name in seconds:
            once(name)

    benchmark.pedantic(all_in_turn, rounds=RUNS)
    assert not any(tmp_path.rglob("*.kernel"))
    imports = statistics.median(seconds.pop(""))
    print(f"\n\nimports: {imports:.2f} s\n{'whole process':26} {'s':>8} {'imports':>8} {'aim':>8}")
    for name, took in seconds.items():
        ratio, aim = min(took) / imports, AIMS.get(name, OTHERS) / THERE
        met = "met" if ratio <= aim else "missed"
        print(f"{name:26} {min(took):8.2f} {ratio:8.2f} {aim:8.2f}  {met}")
