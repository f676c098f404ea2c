"""A run of its own that takes its time, so that it can be killed: ``python run_alone.py EXECUTOR [FOLDER]``.

Says ``going`` once some tasks are done. Without a folder it keeps nothing; its scratch is under ``SCRATCH``.
"""

import os
import sys
import time
from pathlib import Path

import groups
import mbssa
import routes
import routes.run
from routes.plan import parallel_route, plan_of

INSTANTS = 640


def model_and_motion():
    model = groups.build(mbssa.decompose(mbssa.load("rotor")))
    return model, groups.default_motion(model.mechanism, steps=INSTANTS)


def plan_for(model, executor):
    return plan_of(model, parallel_route(model), instants=INSTANTS, chunks=20, executor=executor, workers=2)


def slow_down(share):
    if share > 0:
        time.sleep(0.02)
    if share > 0.1:
        print("going", flush=True)


if __name__ == "__main__":
    executor, *folder = sys.argv[1:]
    if not folder:
        sys.modules["routes.run"].room_for_files = lambda shapes: Path(os.environ["SCRATCH"])
    model, motion = model_and_motion()
    checkpoint = folder[0] if folder else None
    routes.run(model, plan_for(model, executor), motion, checkpoint=checkpoint, progress=slow_down)
