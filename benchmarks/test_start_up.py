"""``mbssa decompose rotor`` as a whole process, beside importing the libraries it could need.

    python -m pytest benchmarks/test_start_up.py --benchmark-only -s

Aim: at most 1.4 times ``python -c "import numpy, scipy.sparse.csgraph, networkx"``.
"""

import statistics
import subprocess
import sys
import time

ROUNDS = 15
IMPORTS = [sys.executable, "-c", "import numpy, scipy.sparse.csgraph, networkx"]
DECOMPOSE = [sys.executable, "-m", "mbssa.cli", "decompose", "rotor"]


def test_whole_process(benchmark):
    """Interleaved, so that a busy machine slows both alike."""
    imports = []

    def baseline():
        start = time.perf_counter()
        subprocess.run(IMPORTS, check=True)
        imports.append(time.perf_counter() - start)

    done = benchmark.pedantic(
        subprocess.run, (DECOMPOSE,), {"check": True, "capture_output": True}, setup=baseline, rounds=ROUNDS
    )
    assert b"7 structural groups" in done.stdout
    ours, theirs = statistics.median(benchmark.stats.stats.data), statistics.median(imports)
    print(f"\n\ndecompose rotor {ours:.3f} s, the imports {theirs:.3f} s, ratio {ours / theirs:.2f}")
