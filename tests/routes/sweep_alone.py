"""A sweep of its own: ``python sweep_alone.py FOLDER BLOCKS EXECUTOR DRAWING PROGRESS``."""

import os
import signal
import sys
import time
from dataclasses import replace
from functools import partial

import numpy as np

import mbssa
from mbssa.mpi_rank import rank
from routes.sweep import grid, sweep

BLOCK = 5


def cases(blocks):
    return grid({"1-2.angle": np.linspace(0.0, 6.0, BLOCK * blocks)})


# --- how a block is drawn --------------------------------------------------------------------------------


def at_once(draw, start, stop):
    return draw(start, stop)


def slowly(draw, start, stop):
    time.sleep(0.1)
    return draw(start, stop)


def slowly_on_rank_1(draw, start, stop):
    """Delay on rank 1, so that rank 0 receives its blocks unfinished."""
    time.sleep(0.2 * rank())
    return draw(start, stop)


def not_on_rank_1(draw, start, stop):
    if rank() == 1:
        raise ZeroDivisionError("by nothing")
    return draw(start, stop)


def killed_on(number, draw, start, stop):
    if rank() == number and start > 30:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)  # so that no rank does all blocks before another one begins
    return draw(start, stop)


killed_on_rank_0, killed_on_rank_1 = partial(killed_on, 0), partial(killed_on, 1)


# --- what progress says ----------------------------------------------------------------------------------


def goes_on(share):
    return True


def stops(share):
    return share == 0.0


def fails(share):
    if share > 0.0:
        raise ZeroDivisionError("by nothing")


def fails_first(share):
    raise ZeroDivisionError("at once")


if __name__ == "__main__":
    import sweep_alone  # workers find its functions by this name

    folder, blocks, executor, drawing, progress = sys.argv[1:]
    given = cases(int(blocks))
    found = sweep(
        mbssa.load("planar_four_bar"),
        replace(given, _source=partial(getattr(sweep_alone, drawing), given._source)),
        record=["1-4.angle"],
        store=folder,
        block=BLOCK,
        executor=executor,
        workers=2,
        progress=getattr(sweep_alone, progress),
    )
    if rank() == 0:
        print(found.solved, found.done, flush=True)
