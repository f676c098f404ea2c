"""Runs that are killed as a whole: the next one goes on from what is done, to the same bits."""

import os
import shutil
import signal

import numpy as np
import pytest
import run_alone
from plans import bits, in_sequence
from run_alone import model_and_motion, plan_for
from starting import ended, start, those_left, wait_for

import routes
from routes.plan import parallel_route, plan_of

SCRIPT = run_alone.__file__


@pytest.fixture(scope="module")
def rotor():
    return model_and_motion()


def resumes(rotor, folder, executors):
    """Some tasks are done and some are not; each executor goes on from a copy, to the bits of one run."""
    model, motion = rotor
    right = bits(routes.run(model, in_sequence(plan_for(model, "sequential")), motion))
    done = np.load(folder / "done.npy")
    assert 0 < done.sum() < len(done)
    for executor in executors:
        place, shares = folder.with_name(executor), []
        shutil.copytree(folder, place)
        plan = plan_for(model, executor)
        found = routes.run(model, plan, motion, checkpoint=place, resume=True, progress=shares.append)
        assert bits(found) == right
        assert shares[0] >= 0.9 * done.mean()


@pytest.mark.parametrize(
    "executor",
    ["sequential", *(pytest.param(name, marks=pytest.mark.slow) for name in ("threads", "processes"))],
)
def test_a_killed_run_leaves_no_process_and_is_resumed(rotor, executor, tmp_path):
    folder = tmp_path / "run"
    process = start(SCRIPT, executor, folder)
    below = wait_for(process, "going")
    os.kill(process.pid, signal.SIGKILL)
    ended(process)
    assert those_left(below) == []
    resumes(rotor, folder, sorted({"sequential", executor}))


@pytest.mark.slow
def test_a_killed_rank_ends_all_ranks_and_the_run_is_resumed(rotor, tmp_path):
    folder = tmp_path / "run"
    process = start(SCRIPT, "mpi", folder, ranks=2)
    below = wait_for(process, "going")
    ranks = [child for child in below if child.cmdline() and "run_alone.py" in " ".join(child.cmdline())]
    ranks = [child for child in ranks if "mpiexec" not in child.name() and "proxy" not in child.name()]
    second = [child for child in ranks if child.environ().get("PMI_RANK") == "1"]
    assert len(second) == 1
    second[0].send_signal(signal.SIGKILL)
    _, code = ended(process)
    assert code
    assert those_left(below) == []
    resumes(rotor, folder, ["sequential"])


@pytest.mark.slow
def test_a_killed_run_leaves_no_scratch(tmp_path):
    """Loky's resource tracker removes the arrays, which may be in memory."""
    process = start(SCRIPT, "processes", scratch=tmp_path)
    below = wait_for(process, "going")
    assert len(list(tmp_path.glob("mbssa-*"))) == 1
    os.kill(process.pid, signal.SIGKILL)
    ended(process)
    assert those_left(below) == []
    assert list(tmp_path.glob("mbssa-*")) == []


def test_a_finished_run_is_read_again(rotor, tmp_path):
    model, motion = rotor
    plan = plan_of(model, parallel_route(model), instants=len(motion.time), chunks=3)
    first = bits(routes.run(model, plan, motion, checkpoint=tmp_path / "run"))
    assert bits(routes.run(model, plan, motion, checkpoint=tmp_path / "run", resume=True)) == first
