"""Starting a run in processes of its own, and looking after what it leaves."""

import os
import subprocess
import sys
from pathlib import Path

import psutil

from mbssa.mpi_rank import mpiexec

HERE = Path(__file__).parent


def start(script, *arguments, ranks=0, scratch=""):
    command = [sys.executable, "-W", "error", str(HERE / script), *map(str, arguments)]
    if ranks:
        command = [str(mpiexec()), "-n", str(ranks), *command]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "SCRATCH": str(scratch)},
    )


def wait_for(process, line):
    """Processes under it, once it has said something."""
    lines = []
    for said in process.stdout:
        if said.strip() == line:
            return psutil.Process(process.pid).children(recursive=True)
        lines.append(said)
    raise AssertionError(f"it ended without {line!r}: {''.join(lines)}")


def those_left(processes, seconds=10.0):
    """Which of them are still there after some time."""
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def ended(process, seconds=30.0):
    """What it said in the end, and its code."""
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
        raise
    return said, process.returncode
