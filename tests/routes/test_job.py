"""Jobs sent to other processes: they bring the machine code, and keep the model of the last one."""

import hashlib
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from plans import bits, model_of, motion_of

import routes
from groups.engine import machine
from groups.engine.machine import Host
from groups.engine.solve import plan_of as engine_plan_of
from routes.job import TaskRunner, job_of
from routes.plan import parallel_route, plan_of
from routes.workspace import in_memory

#: A process that solves the job in a file and must not compile it.
FORBIDDEN = """
import hashlib, pickle, sys
from pathlib import Path
from groups.engine import machine
def refuse(*_):
    raise AssertionError("compiled")
machine.object_code = refuse
from routes.job import TaskRunner
from routes.workspace import in_memory
job = pickle.loads(Path(sys.argv[1]).read_bytes())
runner = TaskRunner(job, in_memory(job.shapes))
runner.begin()
assert all(runner.perform(task) for task in range(len(job.tasks)))
print(hashlib.sha256(runner.finished().answer.position.tobytes()).hexdigest())
"""


def job_for(model):
    motion = motion_of(model, 100)
    plan = plan_of(model, parallel_route(model), instants=100, chunks=3)
    return job_of(model, motion, plan, np.arange(model.mechanism.n_bodies), 2, compiled=True)


def solved(job):
    runner = TaskRunner(job, in_memory(job.shapes))
    runner.begin()
    assert all(runner.perform(task) for task in range(len(job.tasks)))
    return runner.finished().trajectory()


def test_a_process_of_the_same_kind_takes_the_code(tmp_path):
    job = job_for(model_of("planar_four_bar"))
    mine = solved(job).position
    (tmp_path / "job").write_bytes(pickle.dumps(job))
    theirs = subprocess.run(
        [sys.executable, "-c", FORBIDDEN, tmp_path / "job"], capture_output=True, text=True, check=True
    ).stdout
    assert theirs.strip() == hashlib.sha256(mine.tobytes()).hexdigest()


def test_one_of_another_kind_compiles_and_agrees_to_rounding(monkeypatch):
    job = job_for(model_of("planar_four_bar"))
    mine, here = solved(job), Host.here()
    other, compiled = Host(here.name, here.features, 2 if here.lanes > 2 else 4), []
    monkeypatch.setattr(Host, "here", staticmethod(lambda: other))
    monkeypatch.setattr(
        machine, "object_code", lambda *of, make=machine.object_code: compiled.append(of) or make(*of)
    )
    sent = pickle.loads(pickle.dumps(job))
    theirs = solved(sent)
    assert len(compiled) == 1
    assert set(engine_plan_of(sent.model).code) == {here, other}
    for name in ("position", "orientation", "velocity", "acceleration"):
        a, b = getattr(mine, name), getattr(theirs, name)
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-11 * max(1.0, np.abs(a).max()))


def test_jobs_of_one_model_share_it_in_another_process():
    job = job_for(model_of("planar_four_bar"))
    one, two = (pickle.loads(pickle.dumps(job)) for _ in range(2))
    assert one.model is two.model is not job.model
    assert pickle.loads(pickle.dumps(job_for(model_of("rotor")))).model is not one.model


def test_two_threads_may_solve_motions_of_one_model_at_once():
    for compiled in (False, True):
        model, again = model_of("planar_four_bar"), model_of("planar_four_bar")
        motions = [motion_of(model, instants) for instants in (90, 130, 170, 210)]
        plans = [
            plan_of(model, parallel_route(model), instants=len(motion.time), chunks=2) for motion in motions
        ]

        def run(plan, motion, model=model, compiled=compiled):
            return bits(routes.run(model, plan, motion, compiled=compiled))

        with ThreadPoolExecutor(2) as pool:
            together = list(pool.map(run, plans, motions))
        assert together == [run(plan, motion, again) for plan, motion in zip(plans, motions, strict=True)], (
            compiled
        )
