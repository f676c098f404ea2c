"""What a structure command must not bring in: heavy packages that it does not need."""

import json
import subprocess
import sys

HEAVY = ("numba", "networkx", "matplotlib", "joblib", "mpi4py", "scipy", "groups", "routes", "sqlite3")


def test_decompose_imports_no_heavy_package():
    script = """
import atexit, json, sys
def report():
    print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})), file=sys.stderr)
atexit.register(report)
sys.argv = ["mbssa", "decompose", "rotor"]
from mbssa.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "7 structural groups" in done.stdout
    loaded = set(json.loads(done.stderr))
    assert {"mbssa", "numpy"} <= loaded
    assert not loaded & set(HEAVY)
