"""Threads of linear algebra: one thread is fastest for matrices of some hundred rows."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

#: Bodies up to which BLAS takes one thread by itself.
_FEW = 10


def one_blas_thread(n_bodies: int) -> AbstractContextManager[object]:
    """Return a context in which BLAS takes one thread for matrices of so many bodies."""
    # More threads only wait for each other, seconds long where other programs want the processors too.
    if n_bodies <= _FEW:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1, "blas")
    return limits
