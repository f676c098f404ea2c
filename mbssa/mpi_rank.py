"""This process among the ranks that ``mpiexec`` has started; MPI itself is not loaded for that."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

#: Environment variables of a rank's number and the number of ranks: MPICH and Intel, Open MPI, MVAPICH.
_VARIABLES = (
    ("PMI_RANK", "PMI_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
)


def launched(environment: Mapping[str, str] | None = None) -> tuple[int, int] | None:
    """Number of this rank from 0, and how many there are; None outside of ``mpiexec``."""
    given = os.environ if environment is None else environment
    for rank, size in _VARIABLES:
        if given.get(rank, "").isdecimal() and given.get(size, "").isdecimal():
            return int(given[rank]), int(given[size])
    # srun sets the number of ranks of every step, and of a batch script, which is none, as well.
    if "PMIX_RANK" in given and given.get("SLURM_STEP_NUM_TASKS", "").isdecimal():
        return int(given["PMIX_RANK"]), int(given["SLURM_STEP_NUM_TASKS"])
    return None


def rank() -> int:
    """Number of this process; 0 where there is no other."""
    found = launched()
    return found[0] if found else 0


def size() -> int:
    """Number of processes that the launcher started; 1 without a launcher."""
    found = launched()
    return found[1] if found else 1


def mpiexec() -> Path:
    """The ``mpiexec`` of the environment that Python runs in: another may come first on PATH."""
    name = "mpiexec.exe" if sys.platform == "win32" else "mpiexec"
    found = Path(sys.executable).with_name(name)
    if not found.exists():
        raise FileNotFoundError(
            f"there is no {found}; install the extra: pip install -e '.[mpi]' in the clone"
        )
    return found
