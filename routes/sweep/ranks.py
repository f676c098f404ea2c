"""This process among the ranks of an MPI run; a process of its own where there is none.

``mpi4py`` is imported only where a launcher has started this process.
"""

from __future__ import annotations

import os
from typing import Any

#: What launchers tell the processes that they start.
_VARIABLES = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")


def launched() -> bool:
    """Whether ``mpiexec`` started this process."""
    return any(name in os.environ for name in _VARIABLES)


def rank() -> int:
    """This process's number, 0 without MPI; asked of the environment, so that MPI need not be there."""
    return next((int(os.environ[name]) for name in _VARIABLES if name in os.environ), 0)


def world() -> Any:
    """All ranks, as ``mpi4py`` has them.

    Raises
    ------
    ModuleNotFoundError
        ``mpi4py`` is not installed: what to write.
    """
    try:
        from mpi4py import MPI
    except ModuleNotFoundError:
        raise ModuleNotFoundError('runs under MPI need mpi4py: pip install "mbssa[mpi]"') from None
    return MPI.COMM_WORLD
