"""A run that takes its time, so that it can be killed: ``python slowly.py EXECUTOR WORKERS [FOLDER]``.

Says ``going`` once some tasks are done. Without a folder it keeps nothing; its scratch is under ``SCRATCH``.
"""

import os
import sys
import time
from pathlib import Path

from plans import model_of, motion_of

import routes
import routes.run
from routes.plan import parallel_route, plan_of

INSTANTS = 20_000


def plan_for(model, executor, workers):
    return plan_of(
        model, parallel_route(model), instants=INSTANTS, chunks=40, executor=executor, workers=workers
    )


def slow_down(share):
    if share > 0:
        time.sleep(0.02)
    if share > 0.1:
        print("going", flush=True)


if __name__ == "__main__":
    executor, workers, *folder = sys.argv[1:]
    if not folder:
        sys.modules["routes.run"].room_for_files = lambda shapes: Path(os.environ["SCRATCH"])
    model = model_of("rotor")
    try:
        routes.run(
            model,
            plan_for(model, executor, int(workers)),
            motion_of(model, INSTANTS),
            checkpoint=folder[0] if folder else None,
            progress=slow_down,
        )
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(130)
    print("ended", flush=True)
