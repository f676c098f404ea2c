"""This process among the ranks of an MPI run, as its launcher tells it; nothing of MPI is imported."""

from __future__ import annotations

import os

#: What launchers tell the processes that they start: number, and how many there are.
_LAUNCHERS = (
    ("PMI_RANK", "PMI_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "SLURM_NTASKS"),
)


def launched() -> bool:
    """Whether ``mpiexec``, or something like it, started this process."""
    return any(name in os.environ for name, _ in _LAUNCHERS)


def rank() -> int:
    """This process's number; 0 where there is no other.

    >>> rank()
    0
    """
    return _read(0, 0)


def size() -> int:
    """How many processes the launcher started; 1 where there is none.

    >>> size()
    1
    """
    return _read(1, 1)


def _read(which: int, otherwise: int) -> int:
    for names in _LAUNCHERS:
        text = os.environ.get(names[which], "")
        if names[0] in os.environ and text.isdigit():
            return int(text)
    return otherwise
