"""Workers own the cores: linear algebra inside of them has no threads of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from routes.job import Job


@contextmanager
def one_for_each(job: Job) -> Iterator[None]:
    """One thread of BLAS for each worker of this process, while its tasks last.

    Only the global approach calls BLAS; looking for its libraries takes a millisecond, which others are
    spared.
    """
    if job.plan.workers == 1 or not any(solver.form == "global" for solver in job.model.solvers):
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
