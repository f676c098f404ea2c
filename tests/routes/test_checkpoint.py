"""Folders that keep a run: what they refuse, what they name, what a full disk leaves."""

import errno
import itertools
import os
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from plans import bits, in_sequence, model_of, motion_of

import groups
import mbssa
import routes
from routes import workspace
from routes.plan import parallel_route, plan_of

MODEL = model_of("stewart_inverse")
MOTION = motion_of(MODEL, 256)
PLAN = plan_of(MODEL, parallel_route(MODEL), instants=256, chunks=4)


def stopped(folder, plan=PLAN):
    routes.run(MODEL, plan, MOTION, checkpoint=folder, progress=lambda share: share < 0.4)
    return folder


def resumed(folder, plan=PLAN, motion=MOTION, model=MODEL, **choices):
    return routes.run(model, plan, motion, checkpoint=folder, resume=True, **choices)


@pytest.mark.slow
def test_another_executor_may_resume_a_run(tmp_path):
    right = bits(routes.run(MODEL, PLAN, MOTION))
    folder = stopped(tmp_path / "run", replace(PLAN, executor="threads", workers=2))
    assert bits(resumed(folder, replace(PLAN, executor="processes", workers=3))) == right


@pytest.mark.parametrize(
    "executor", ["sequential", "threads", pytest.param("processes", marks=pytest.mark.slow)]
)
def test_a_checkpoint_changes_no_bit(executor, tmp_path):
    plan = replace(PLAN, executor=executor, workers=2)
    kept = routes.run(MODEL, plan, MOTION, checkpoint=tmp_path / "run")
    assert bits(kept) == bits(routes.run(MODEL, in_sequence(plan), MOTION))


def test_another_run_is_refused_by_what_differs(tmp_path):
    folder = stopped(tmp_path / "run")
    other = plan_of(MODEL, parallel_route(MODEL), instants=256, chunks=2)
    faster = groups.Motion(MOTION.time / 2, MOTION.names, MOTION.value, MOTION.rate, MOTION.acceleration)
    for change, message in (
        ({"plan": other}, "plan"),
        ({"motion": faster}, "motion"),
        ({"level": "position"}, "level"),
    ):
        with pytest.raises(ValueError, match=rf"another run \(other {message}\)"):
            resumed(folder, **change)
    transformed = groups.build(mbssa.decompose(mbssa.load("stewart")))
    plan = plan_of(transformed, parallel_route(transformed), instants=256, chunks=4)
    with pytest.raises(ValueError, match=r"keeps another run \(other .*model.*\); name another"):
        resumed(folder, plan, motion_of(transformed, 256), transformed)
    assert bits(resumed(folder)) == bits(routes.run(MODEL, PLAN, MOTION))


def test_folders_that_are_not_for_this_are_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(ValueError, match="has other files"):
        routes.run(MODEL, PLAN, MOTION, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="keeps no run"):
        resumed(tmp_path)
    with pytest.raises(ValueError, match="from a checkpoint"):
        routes.run(MODEL, PLAN, MOTION, resume=True)
    stopped(tmp_path / "run")
    with pytest.raises(ValueError, match="keeps a run already"):
        routes.run(MODEL, PLAN, MOTION, checkpoint=tmp_path / "run")
    assert (tmp_path / "thesis.tex").read_text() == "all of it"


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("…")
    for folder in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(ValueError, match="file is a file; name a folder"):
            stopped(folder)


def test_files_of_a_run_killed_at_its_start_do_not_prevent_another(tmp_path):
    """Arrays, and a record that is half written: no run that could be resumed, and none that is lost."""
    folder = stopped(tmp_path / "run")
    (folder / "run.json").rename(folder / ".run.json.ab12cd34")
    with pytest.raises(ValueError, match="keeps no run"):
        resumed(folder)
    assert bits(routes.run(MODEL, PLAN, MOTION, checkpoint=folder)) == bits(routes.run(MODEL, PLAN, MOTION))
    assert not list(folder.glob(".run.json.*"))
    (folder / ".run.json.ab12cd34").write_text("{")
    assert resumed(folder).ok
    assert not list(folder.glob(".run.json.*"))


def test_arrays_that_no_run_has_left_are_left_alone(tmp_path):
    np.save(tmp_path / "position.npy", np.arange(3))
    with pytest.raises(ValueError, match="has other files"):
        routes.run(MODEL, PLAN, MOTION, checkpoint=tmp_path)
    assert np.load(tmp_path / "position.npy").tolist() == [0, 1, 2]


def test_a_damaged_folder_is_refused(tmp_path):
    whole = stopped(tmp_path / "whole")
    for name, how in itertools.product(["numbers", "done", "log"], ["gone", "cut", "other"]):
        path = shutil.copytree(whole, tmp_path / f"{name} {how}") / f"{name}.npy"
        if how == "gone":
            path.unlink()
        elif how == "cut":
            os.truncate(path, path.stat().st_size // 2)
        else:
            np.save(path, np.zeros((3, 5, 2)))
        with pytest.raises(ValueError, match=rf"{name} {how} is damaged"):
            resumed(path.parent)


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("executor", ["sequential", pytest.param("processes", marks=pytest.mark.slow)])
def test_a_full_disk_is_said_before_the_run_and_leaves_nothing(executor, there, tmp_path, monkeypatch):
    """The room of all files is claimed at the start: later, it would be a crash."""
    folder = tmp_path / "run"
    if there:
        folder.mkdir()
    plan = replace(PLAN, executor=executor, workers=2)

    def full(handle, start, size):
        if size > 100_000:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        with pytest.raises(OSError, match=r"No space left.*run/\w+\.npy"):
            routes.run(MODEL, plan, MOTION, checkpoint=folder)
    assert folder.exists() == there
    assert not there or list(folder.iterdir()) == []
    assert routes.run(MODEL, plan, MOTION, checkpoint=folder).ok


def test_a_disk_that_really_is_full(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("only who may mount a small disk can fill it")
    try:
        with pytest.raises(OSError, match=r"No space left.*run/\w+\.npy"):
            routes.run(MODEL, PLAN, MOTION, checkpoint=disk / "run")
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_room_without_a_way_to_claim_it(monkeypatch, tmp_path):
    """Systems without posix_fallocate write all the same."""
    monkeypatch.delattr(workspace.os, "posix_fallocate")
    assert routes.run(MODEL, PLAN, MOTION, checkpoint=tmp_path / "run").ok
