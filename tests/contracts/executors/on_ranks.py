"""Tests that ranks run: ``mpiexec -n N python on_ranks.py NAME,…`` prints ``fine``, or what failed."""

import sys
import time
import traceback
from contextlib import nullcontext

import pytest
from mpi4py import MPI
from plans import (
    INSTANTS,
    NAMES,
    REACTIONS,
    bits,
    check,
    check_reactions,
    faults,
    in_sequence,
    model_of,
    motion_of,
    plans_of,
)

import routes
from groups.engine.solve import Solving
from routes.job import TaskError, TaskRunner
from routes.plan import parallel_route, plan_of, sequential_route
from routes.run import logged_run

RANK, RANKS = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size


def alike():
    for name in (*NAMES, NAMES[-1]):
        check(name, "mpi", RANKS)


def what_rank_0_was_given_counts():
    model = model_of("rotor")
    right, wrong = motion_of(model), motion_of(model, 120)
    plan = plan_of(model, parallel_route(model), instants=INSTANTS, chunks=4, executor="mpi", workers=RANKS)
    other = plan_of(model, sequential_route(model), instants=120, executor="mpi", workers=RANKS)
    found = logged_run(model, other if RANK else plan, wrong if RANK else right)
    assert (found is None) == (RANK > 0)
    if not RANK:
        assert bits(found.trajectory) == bits(routes.run(model, in_sequence(plan), right))
        assert 1 <= len(set(found.log.worker.tolist())) <= RANKS


def reactions_alike():
    for name in REACTIONS:
        check_reactions(name, "mpi", RANKS)


def another_number_of_ranks():
    model = model_of("nine_bar")
    plan = next(plans_of(model, "mpi", RANKS + 1))
    with pytest.raises(ValueError, match=f"mpiexec -n {RANKS + 1}"):
        routes.run(model, plan, motion_of(model))


def one_task_fails():
    """All ranks end alike, finished tasks are kept, and the next run is sound."""
    model = model_of("rotor")
    motion = motion_of(model)
    plan = plan_of(model, parallel_route(model), instants=INSTANTS, chunks=8, executor="mpi", workers=RANKS)
    right = routes.run(model, in_sequence(plan), motion)
    advance = Solving.advance

    def failing(self, first, stop, part=None):
        if first == 128 and 0 not in part:  # every group needs the first one, which is solved by then
            raise ArithmeticError("one by nothing")
        advance(self, first, stop, part)

    Solving.advance = failing
    said = r"SG-.*, chunk 5 of 8 \(instants 128 to 159\): ArithmeticError: one by nothing"
    with pytest.raises(TaskError, match=said) as caught:
        routes.run(model, plan, motion)
    Solving.advance = advance
    kept = caught.value.trajectory
    assert (kept is None) == (RANK > 0)
    assert RANK or (kept.status[128:160, 0] == right.status[128:160, 0]).all()
    found = routes.run(model, plan, motion)
    assert RANK or bits(found) == bits(right)


def one_rank_cannot_begin():
    """Neither rank 0, whose arguments are wrong, nor another one blocks the others."""
    model = model_of("nine_bar")
    plan = plan_of(model, parallel_route(model), instants=INSTANTS, chunks=12, executor="mpi", workers=RANKS)
    with pytest.raises(ValueError, match=r"250 .* 251"):
        routes.run(model, plan, motion_of(model, 251 if RANK == 0 else 250))
    make = TaskRunner.__init__

    def begin(self, *arguments, **options):
        if RANK == RANKS - 1 and RANK > 0:
            raise MemoryError("no room")
        time.sleep(0.3)  # so that no rank goes without a task
        make(self, *arguments, **options)

    TaskRunner.__init__ = begin
    with pytest.raises(TaskError, match="MemoryError") if RANKS > 1 else nullcontext():
        routes.run(model, plan, motion_of(model))
    TaskRunner.__init__ = make


def stopped():
    model = model_of("rotor")
    plan = plan_of(model, parallel_route(model), instants=5000, chunks=20, executor="mpi", workers=RANKS)
    found = routes.run(model, plan, motion_of(model, 5000), progress=lambda share: share < 0.2)
    if not RANK:
        assert not found.ok
        assert (found.status == 0).any()


def progress_fails():
    def progress(share):
        if share > 0.2:
            raise LookupError("no screen")

    model = model_of("rotor")
    plan = plan_of(model, parallel_route(model), instants=5000, chunks=20, executor="mpi", workers=RANKS)
    with pytest.raises(LookupError, match="no screen"):
        routes.run(model, plan, motion_of(model, 5000), progress=progress)


def resumed():
    """A run that another number of ranks goes on with."""
    folder = MPI.COMM_WORLD.bcast(sys.argv[2])
    model = model_of("rotor")
    plan = plan_of(model, parallel_route(model), instants=40_000, chunks=24, executor="mpi", workers=RANKS)
    motion = motion_of(model, 40_000)
    place = f"{folder}/run"
    shares = []
    routes.run(
        model, plan, motion, compiled=False, checkpoint=place, progress=lambda s: shares.append(s) or s < 0.3
    )
    first = logged_run(model, plan, motion, checkpoint=place, resume=True)
    if not RANK:
        assert 0.3 < max(shares) < 0.95, shares
        whole = routes.run(model, in_sequence(plan), motion, compiled=False)
        assert bits(first.trajectory) == bits(whole)
        assert faults(model, first.log) == []
        assert bits(routes.run(model, in_sequence(plan), motion, checkpoint=place, resume=True)) == bits(
            first.trajectory
        )


if __name__ == "__main__":
    for what in sys.argv[1].split(","):
        MPI.COMM_WORLD.Barrier()
        try:
            globals()[what]()
        except BaseException:  # the other ranks would wait for this one
            traceback.print_exc()
            MPI.COMM_WORLD.Abort(1)
    if RANK == 0:
        print("fine", flush=True)
