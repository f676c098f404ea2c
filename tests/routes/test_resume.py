"""Runs that are killed as a whole: the next one goes on from what is done, to the same bits."""

import os
import shutil
import signal

import numpy as np
import pytest
from plans import bits, in_sequence, model_of, motion_of
from slowly import INSTANTS, plan_for
from starting import ended, start, those_left, wait_for

import routes
from routes.plan import parallel_route, plan_of

MODEL = model_of("rotor")
MOTION = motion_of(MODEL, INSTANTS)
RIGHT = []


def resumes(folder, executors):
    """Some tasks are done and some are not; each executor goes on from a copy, to the bits of one run."""
    if not RIGHT:
        RIGHT.append(bits(routes.run(MODEL, in_sequence(plan_for(MODEL, "sequential", 2)), MOTION)))
    done = np.load(folder / "done.npy")
    assert 0 < done.sum() < len(done)
    for executor in executors:
        place = folder.with_name(executor)
        shutil.copytree(folder, place)
        shares = []
        found = routes.run(
            MODEL,
            plan_for(MODEL, executor, 2),
            MOTION,
            checkpoint=place,
            resume=True,
            progress=shares.append,
        )
        assert bits(found) == RIGHT[0]
        assert shares[0] >= 0.9 * done.mean()


@pytest.mark.parametrize("executor", ["sequential", "threads", "processes"])
def test_a_killed_run_leaves_no_process_and_is_resumed(executor, tmp_path):
    folder = tmp_path / "run"
    process = start("slowly.py", executor, 2, folder)
    below = wait_for(process, "going")
    os.kill(process.pid, signal.SIGKILL)
    ended(process)
    assert those_left(below) == []
    resumes(folder, sorted({"sequential", executor}))


def test_a_killed_rank_ends_all_ranks_and_the_run_is_resumed(tmp_path):
    folder = tmp_path / "run"
    process = start("slowly.py", "mpi", 2, folder, ranks=2)
    below = wait_for(process, "going")
    ranks = [child for child in below if child.cmdline() and "slowly.py" in " ".join(child.cmdline())]
    ranks = [child for child in ranks if "mpiexec" not in child.name() and "proxy" not in child.name()]
    second = [child for child in ranks if child.environ().get("PMI_RANK") == "1"]
    assert len(second) == 1
    second[0].send_signal(signal.SIGKILL)
    _, code = ended(process)
    assert code
    assert those_left(below) == []
    resumes(folder, ["sequential"])


def test_a_killed_run_leaves_no_scratch(tmp_path):
    """Loky's resource tracker removes the arrays, which may be in memory."""
    process = start("slowly.py", "processes", 2, scratch=tmp_path)
    below = wait_for(process, "going")
    assert len(list(tmp_path.glob("mbssa-*"))) == 1
    os.kill(process.pid, signal.SIGKILL)
    ended(process)
    assert those_left(below) == []
    assert list(tmp_path.glob("mbssa-*")) == []


def test_a_finished_run_is_read_again(tmp_path):
    motion = motion_of(MODEL, 500)
    plan = plan_of(MODEL, parallel_route(MODEL), instants=500, chunks=3, start="seeded")
    first = bits(routes.run(MODEL, plan, motion, checkpoint=tmp_path / "run"))
    assert bits(routes.run(MODEL, plan, motion, checkpoint=tmp_path / "run", resume=True)) == first
