"""Runs of sweeps: the same files whoever makes them, nothing lost and nothing twice whatever happens."""

import contextlib
import errno
import json
import os
import pickle
import platform
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future
from dataclasses import replace
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow.dataset
import pyarrow.parquet
import pytest
import sweep_alone
from sweep_alone import BLOCK

import groups
import mbssa
from groups.engine import machine
from groups.engine.machine import Host
from groups.engine.solve import plan_of
from routes.executors import ExecutorCosts, ExecutorType
from routes.lock import locked
from routes.reports.sweep import sweep_report
from routes.sweep import Sweep, SweepError, grid, open_sweep, sample, sweep
from routes.sweep import store as stores
from routes.sweep.block import packed_setup
from routes.sweep.run import prepare

MPIEXEC = Path(sys.executable).parent / "mpiexec"
on_ranks = pytest.mark.skipif(not MPIEXEC.exists(), reason="there is no mpiexec beside Python")


@pytest.fixture
def bar():
    return mbssa.load("planar_four_bar")


def turn(number=40):
    return grid({"1-2.angle": np.linspace(0.0, 6.0, number)})


def test_processes_get_the_object_code_of_a_model(bar, tmp_path, monkeypatch):
    setup = replace(prepare(bar, turn(), store=tmp_path / "store"), compiled=True)
    received, code = pickle.loads(packed_setup(setup))
    assert list(code) == [Host.here()]
    monkeypatch.setattr(machine, "object_code", mock.Mock(side_effect=AssertionError("made once more")))
    plan_of(received.model).code.update(code)
    assert received.model.compile()


def command(folder, blocks, executor, drawing="at_once", progress="goes_on", ranks=0):
    """Command of a sweep in processes of its own, see ``sweep_alone.py``."""
    launcher = [str(MPIEXEC), "-n", str(ranks)] if ranks else []
    more = [str(folder), str(blocks), executor, drawing, progress]
    return [*launcher, sys.executable, sweep_alone.__file__, *more]


def ended(started):
    here = Path(sweep_alone.__file__).parent  # where "-c" finds it
    return subprocess.run(started, cwd=here, check=False, capture_output=True, text=True, timeout=120)


def resumed(bar, folder, blocks):
    """The same sweep once more in this process: it has every case once, and no part was written twice."""
    before = {path: path.stat().st_mtime_ns for path in parts(folder)}
    assert 1 <= len(before) < blocks
    found = sweep(
        bar,
        sweep_alone.cases(blocks),
        record=["1-4.angle"],
        store=folder,
        block=BLOCK,
        executor="sequential",
        resume=True,
    )
    assert found.solved == BLOCK * (blocks - len(before))
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    assert not list((folder / "parts").glob(".*"))
    assert found["case"].tolist() == list(range(BLOCK * blocks))


def until(what, seconds=120.0):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def parts(folder):
    return sorted((folder / "parts").glob("part-*.parquet"))


def children(process):
    """Workers of a process: what it started, and what still solves."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            line = (path.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == process and b"LokyProcess" in line:
            found.append(int(path.parent.name))
    return found


@pytest.mark.parametrize(
    "executor",
    [
        "threads",
        pytest.param("processes", marks=pytest.mark.slow),
        pytest.param("cluster", marks=pytest.mark.slow),
    ],
)
def test_every_executor_makes_the_same_files(bar, tmp_path, executor):
    cases = grid({"2-3.point.x": [0.17, 0.18], "1-2.angle": np.linspace(0.0, 6.0, 20)})
    for name in ("sequential", executor):
        sweep(bar, cases, record=["coupler.tracer"], store=tmp_path / name, executor=name, block=7)
    one, two = parts(tmp_path / "sequential"), parts(tmp_path / executor)
    assert len(one) == 6
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


@on_ranks
@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_ranks_make_the_same_files(bar, tmp_path, ranks):
    alone = {"record": ["1-4.angle"], "store": tmp_path / "alone", "executor": "sequential", "block": BLOCK}
    sweep(bar, sweep_alone.cases(20), **alone)
    done = ended(command(tmp_path / "ranks", 20, "mpi", ranks=ranks))
    assert done.stdout.split() == ["100", "100"]
    one, two = parts(tmp_path / "alone"), parts(tmp_path / "ranks")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


@on_ranks
@pytest.mark.slow
@pytest.mark.parametrize(
    ("drawing", "progress", "words"),
    [
        ("not_on_rank_1", "goes_on", ["SweepError: block", "ZeroDivisionError: by nothing"]),
        ("slowly_on_rank_1", "fails", ["ZeroDivisionError: by nothing"]),
        ("killed_on_rank_0", "goes_on", ["error: a rank has died"]),
        ("killed_on_rank_1", "goes_on", ["error: a rank has died"]),
    ],
)
def test_what_befalls_one_rank_ends_all_of_them_and_nothing_is_lost(bar, tmp_path, drawing, progress, words):
    done = ended(command(tmp_path, 60, "mpi", drawing, progress, ranks=2))
    assert done.returncode != 0
    for word in words:
        assert word in done.stderr
    resumed(bar, tmp_path, 60)


@on_ranks
@pytest.mark.slow
def test_a_failure_before_the_first_case_leaves_no_rank_waiting(tmp_path):
    done = ended(command(tmp_path, 60, "mpi", "at_once", "fails_first", ranks=2))
    assert done.returncode != 0
    assert done.stderr.count("ZeroDivisionError: at once") >= 2
    again = ended(command(tmp_path, 60, "mpi", ranks=2))
    assert again.returncode != 0
    assert "holds a sweep already" in again.stderr


@on_ranks
@pytest.mark.slow
def test_false_from_progress_stops_all_ranks(bar, tmp_path):
    done = ended(command(tmp_path, 60, "mpi", "slowly_on_rank_1", "stops", ranks=2))
    assert done.returncode == 0, done.stderr
    solved, there = map(int, done.stdout.split())
    assert BLOCK <= solved == there < 30 * BLOCK
    resumed(bar, tmp_path, 60)


def test_parts_come_in_the_order_of_the_cases_beyond_a_million(tmp_path):
    import pyarrow

    blocks = [9, 999_999, 1_000_000, 1_000_001]
    manifest = dict.fromkeys(stores._MUST_AGREE) | {"number": 1_000_002, "block": 1}
    (tmp_path / "parts").mkdir()
    for block in blocks:
        table = pyarrow.table({"case": [block], "status": ["ok"]})
        stores.write_part(tmp_path, block, table, stores.identity(manifest))
    assert Sweep(tmp_path, manifest)["case"].tolist() == blocks


def test_the_store_is_one_table_for_any_reader_of_parquet(bar, tmp_path):
    found = sweep(bar, turn(), record=["1-4.angle"], store=tmp_path, executor="sequential", block=9)
    table = pyarrow.dataset.dataset(tmp_path / "parts", format="parquet").to_table()
    assert table.num_rows == 40
    assert table.column("case").to_pylist() == list(range(40)) == found["case"].tolist()
    assert found.units == {"1-2.angle": "rad", "1-4.angle": "rad"}
    again = open_sweep(tmp_path)
    assert again.complete
    assert again.counts == {"ok": 40}
    assert again.table(["case", "1-4.angle"]).num_columns == 2
    with pytest.raises(KeyError, match="no column nothing"):
        again["nothing"]


def test_a_sweep_goes_on_where_it_was_stopped_and_rewrites_nothing(bar, tmp_path):
    shares = []

    def stop(share):
        shares.append(share)
        return len(shares) < 4

    keywords = {"record": ["1-4.angle"], "store": tmp_path, "executor": "sequential", "block": 5}
    first = sweep(bar, turn(), progress=stop, **keywords)
    assert not first.complete
    assert (first.solved, first.done) == (15, 15)
    (tmp_path / "parts" / ".part-000099.parquet.1.tmp").write_bytes(b"left by a run that was killed")
    parts(tmp_path)[1].write_bytes(b"half of a part")
    kept = {path: path.stat().st_mtime_ns for path in (parts(tmp_path)[0], parts(tmp_path)[2])}
    second = sweep(bar, turn(), resume=True, **keywords)
    assert second.complete
    assert second.solved == 30
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    assert not list((tmp_path / "parts").glob(".*"))
    assert second["case"].tolist() == list(range(40))
    assert sweep(bar, turn(), resume=True, **keywords).solved == 0


def test_every_flipped_bit_of_a_part_is_found(tmp_path):
    import pyarrow

    (tmp_path / "parts").mkdir()
    stores.write_part(tmp_path, 0, pyarrow.table({"case": [0, 1], "status": ["ok", "ok"]}), "s", b"envelope")
    data = (tmp_path / "parts" / "part-000000.parquet").read_bytes()
    assert stores.sound(data, "s", 0)
    assert not stores.sound(data, "s", 1)
    assert not stores.sound(data, "t", 0)
    flipped = (data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :] for at in range(len(data)))
    assert not any(stores.sound(each, "s", 0) for each in flipped)


def test_a_damaged_part_is_refused_and_computed_again(bar, tmp_path):
    keywords = {"record": ["1-4.angle"], "store": tmp_path, "executor": "sequential", "block": 20}
    whole = sweep(bar, turn(), **keywords)["1-4.angle"]
    second = parts(tmp_path)[1]
    data = bytearray(second.read_bytes())
    data[len(data) // 3] ^= 4
    second.write_bytes(data)
    with pytest.raises(SweepError, match=r"part-000001\.parquet: is damaged"):
        open_sweep(tmp_path)["1-4.angle"]
    again = sweep(bar, turn(), resume=True, **keywords)
    assert (again.solved, again.damaged) == (20, ("part-000001.parquet",))
    assert np.array_equal(again["1-4.angle"], whole)
    assert "part-000001.parquet was damaged" in str(sweep_report(again))


def test_a_sweep_whose_parts_were_taken_away_begins_again(bar, tmp_path):
    keywords = {"store": tmp_path, "executor": "sequential"}
    (part,) = sweep(bar, turn(), **keywords).parts
    part.unlink()
    part.parent.rmdir()
    assert sweep(bar, turn(), resume=True, **keywords).solved == 40


def test_what_differs_from_the_sweep_that_is_there_is_said(bar, tmp_path):
    keywords = {"store": tmp_path, "executor": "sequential"}
    sweep(bar, turn(), record=["1-4.angle"], **keywords)
    with pytest.raises(ValueError, match="holds a sweep already"):
        sweep(bar, turn(), record=["1-4.angle"], **keywords)
    with pytest.raises(ValueError, match=r"another sweep.*name another folder") as refusal:
        sweep(bar, turn(41), record=["2-3.angle"], limits={"1-4.angle": (0, 1)}, resume=True, **keywords)
    for key in ("cases was", "record was", "limits was"):
        assert key in str(refusal.value)
    other = mbssa.load("nine_bar")
    with pytest.raises(ValueError, match="mechanism was"):
        sweep(other, turn(), record=["1-2.angle"], resume=True, **keywords)
    newton = groups.build(mbssa.decompose(bar), {2: "Newton"})
    with pytest.raises(ValueError, match=r"solvers was \{\}, now .*Newton"):
        sweep(newton, turn(), record=["1-4.angle"], resume=True, **keywords)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("…")
    with pytest.raises(ValueError, match=r"thesis\.tex"):
        sweep(bar, turn(), store=tmp_path / "full")


def test_force_replaces_a_sweep_and_no_other_folder(bar, tmp_path):
    keywords = {"store": tmp_path / "s", "executor": "sequential"}
    sweep(bar, turn(), block=5, **keywords)
    again = sweep(bar, turn(7), record=["1-4.angle"], force=True, **keywords)
    assert (again.solved, again.done, len(again.parts)) == (7, 7, 1)
    assert sweep(bar, turn(7), record=["1-4.angle"], force=True, resume=True, **keywords).solved == 0
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("…")
    with pytest.raises(ValueError, match=r"thesis\.tex"):
        sweep(bar, turn(), store=tmp_path / "full", force=True)


@pytest.mark.parametrize("place", ["thesis.tex", "parts/thesis.tex"])
def test_force_leaves_a_sweep_beside_other_files_as_it_was(bar, tmp_path, place):
    keywords = {"store": tmp_path, "executor": "sequential"}
    sweep(bar, turn(), block=10, **keywords)
    (tmp_path / place).write_text("…")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match="nothing of it was replaced"):
        sweep(bar, turn(7), force=True, **keywords)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_parts_in_the_place_of_others_are_computed_again(bar, tmp_path):
    keywords = {"record": ["1-4.angle"], "executor": "sequential", "block": 10}
    whole = sweep(bar, turn(), store=tmp_path / "one", **keywords)["1-4.angle"]
    sweep(bar, grid({"1-2.angle": np.linspace(0.0, 5.0, 40)}), store=tmp_path / "other", **keywords)
    one, other = parts(tmp_path / "one"), parts(tmp_path / "other")
    one[1].write_bytes(one[2].read_bytes())  # of another place, and of another sweep
    one[3].write_bytes(other[3].read_bytes())
    with pytest.raises(SweepError, match=r"part-000001\.parquet: "):
        open_sweep(tmp_path / "one")["1-4.angle"]
    again = sweep(bar, turn(), store=tmp_path / "one", resume=True, **keywords)
    assert again.damaged == ("part-000001.parquet", "part-000003.parquet")
    assert np.array_equal(again["1-4.angle"], whole)


def test_files_that_are_no_parts_of_the_sweep_are_named(bar, tmp_path):
    keywords = {"store": tmp_path, "executor": "sequential", "block": 10}
    sweep(bar, turn(), **keywords)
    kept = parts(tmp_path)[1].read_bytes()
    (tmp_path / "parts" / "part-900000.parquet").write_bytes(kept)
    (tmp_path / "parts" / "part-01.parquet").write_bytes(kept)
    parts(tmp_path)[2].unlink()
    (tmp_path / "parts" / "part-000002.parquet").mkdir()
    strange = r"part-000002\.parquet, part-01\.parquet, part-900000\.parquet: .*; move it elsewhere"
    with pytest.raises(SweepError, match=strange):
        dict(open_sweep(tmp_path).counts)
    with pytest.raises(SweepError, match=strange):
        sweep(bar, turn(), resume=True, **keywords)


@pytest.mark.parametrize("text", ['{"format": 3, "num', '{"format": 3}'])
def test_a_damaged_manifest_has_a_remedy(bar, tmp_path, text):
    sweep(bar, turn(), store=tmp_path, executor="sequential")
    (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(ValueError, match=r"damaged.*; replace the sweep with force"):
        open_sweep(tmp_path)
    assert sweep(bar, turn(), store=tmp_path, executor="sequential", force=True).complete


def test_a_store_that_is_a_file_is_refused(bar, tmp_path):
    (tmp_path / "file").write_text("…")
    for store in (tmp_path / "file", tmp_path / "file" / "store"):
        with pytest.raises(ValueError, match="file is a file; name a folder"):
            sweep(bar, turn(), store=store, executor="sequential")


def test_a_sweep_goes_on_with_the_versions_that_began_it(bar, tmp_path):
    keywords = {"store": tmp_path, "executor": "sequential"}
    cases = sample({"1-2.angle": (0.0, 1.0)}, 8)
    sweep(bar, cases, **keywords)
    data = json.loads((tmp_path / "sweep.json").read_text())
    now, data["versions"]["scipy"] = data["versions"]["scipy"], "1.0.0"
    (tmp_path / "sweep.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=f"other versions.*\\n  scipy was 1.0.0, now {now}$"):
        sweep(bar, cases, resume=True, **keywords)


def test_two_runs_do_not_write_to_one_folder(bar, tmp_path):
    with locked(tmp_path), pytest.raises(SweepError, match="another run"):
        sweep(bar, turn(), store=tmp_path, executor="sequential")
    (tmp_path / ".lock").write_text("process 1 on a machine that was switched off")
    assert sweep(bar, turn(), store=tmp_path, executor="sequential").complete


#: For every moment, a process that ends where it is to write something for that time: KILLED FOLDER MOMENTS.
KILLED = """
import os, pathlib, sys
import mbssa, sweep_alone
from routes.sweep import sweep

def killing(real):
    def call(path, *arguments, **named):
        global left
        if str(folder) in str(path) + str(arguments):
            left -= 1
            if left < 0:
                os._exit(9)
        return real(path, *arguments, **named)
    return call

def run(**more):
    return sweep(bar, sweep_alone.cases(4), store=folder, executor="sequential", block=5, **more)

bar = mbssa.load("planar_four_bar")
folder = pathlib.Path(sys.argv[1])
run()  # imports all that it needs
for left in range(int(sys.argv[2])):
    folder = pathlib.Path(sys.argv[1] + f"-{left}")
    if not os.fork():
        for name in ("mkdir", "replace", "link", "open"):
            setattr(os, name, killing(getattr(os, name)))
        pathlib.Path.mkdir = killing(pathlib.Path.mkdir)
        run()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_wherever_a_run_is_killed_as_it_begins_another_one_does_it(bar, tmp_path):
    done = ended([sys.executable, "-c", KILLED, str(tmp_path / "sweep"), "12"])
    codes = done.stdout.split()
    assert len(codes) == 12, done.stderr
    assert {"9"} <= set(codes) <= {"0", "9"}
    keywords = {"executor": "sequential", "block": 5}
    for moment in range(12):
        folder = tmp_path / f"sweep-{moment}"
        there = (folder / "sweep.json").exists()
        resume = there or bool(moment % 2)
        found = sweep(bar, sweep_alone.cases(4), store=folder, resume=resume, **keywords)
        assert found["case"].tolist() == list(range(20)), moment
        left = [path.name for path in folder.rglob(".*") if path.name != ".lock"]
        assert left == [], moment


def test_a_folder_without_a_manifest_begins_a_sweep(bar, tmp_path):
    lefts = (["parts"], ["parts", ".lock"], [".sweep.json.ab12cd34"], [])
    for number, (left, resume) in enumerate(product(lefts, [False, True])):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in left:
            (folder / name).mkdir() if name == "parts" else (folder / name).write_text("{")
        assert sweep(bar, turn(), store=folder, executor="sequential", resume=resume).complete, left
        assert {path.name for path in folder.iterdir()} == {"parts", ".lock", "sweep.json"}, left


def test_parts_without_a_manifest_are_left_alone(bar, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part-000000.parquet").write_text("cases")
    with pytest.raises(ValueError, match=r"not empty \(parts\)"):
        sweep(bar, turn(), store=tmp_path, executor="sequential")


def test_a_disk_that_is_full_as_the_sweep_begins(bar, tmp_path, monkeypatch):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(stores, "write_whole", full)
        with pytest.raises(OSError, match="No space left"):
            sweep(bar, turn(), store=tmp_path, executor="sequential")
    assert sweep(bar, turn(), store=tmp_path, executor="sequential").complete


def test_a_full_disk_is_said_and_what_is_there_is_kept(bar, tmp_path, monkeypatch):
    written = []
    real = pyarrow.parquet.write_table

    def write(table, stream, **options):
        if len(written) == 3:
            stream.write(b"as far as it goes")
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(table)
        real(table, stream, **options)

    monkeypatch.setattr(pyarrow.parquet, "write_table", write)
    keywords = {"record": ["1-4.angle"], "store": tmp_path, "executor": "sequential", "block": 5}
    with pytest.raises(SweepError, match=r"block 4 .*No space left"):
        sweep(bar, turn(), **keywords)
    assert len(parts(tmp_path)) == 3
    assert not list((tmp_path / "parts").glob(".*"))
    monkeypatch.undo()
    assert sweep(bar, turn(), resume=True, **keywords).complete


@pytest.mark.parametrize("executor", ["sequential", "threads"])
def test_what_a_worker_stumbles_over_is_said_with_its_cases(bar, tmp_path, monkeypatch, executor):
    from routes.sweep import block

    def broken(model, inputs, *_):
        if (inputs > 3.0).any():
            raise ZeroDivisionError("by nothing")
        return solve(model, inputs, *_)

    solve = block.solve_poses
    monkeypatch.setattr(block, "solve_poses", broken)
    with pytest.raises(SweepError, match=r"block \d, cases \d+ to \d+, .*1-2\.angle.*: ZeroDivisionError"):
        sweep(bar, turn(), store=tmp_path, executor=executor, block=5)
    assert open_sweep(tmp_path).done >= 15


def test_cases_that_cannot_be_drawn_are_said_with_the_cause(bar, tmp_path):
    def broken(start, stop):
        raise ZeroDivisionError("by nothing")

    cases = replace(turn(), _source=broken)
    with pytest.raises(SweepError, match=r"block 1, cases 0 to 39, .*drawn: ZeroDiv.*: by noth"):
        sweep(bar, cases, store=tmp_path, executor="sequential")


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(bar, tmp_path):
    started = command(tmp_path, 60, "processes", "slowly")
    with subprocess.Popen(started, stderr=subprocess.PIPE, text=True) as run:
        until(lambda: len(parts(tmp_path)) > 3 or run.poll() is not None)
        os.kill(children(run.pid)[0], signal.SIGKILL)
        message = run.communicate(timeout=120)[1]
    assert run.returncode != 0
    assert "a worker process was killed" in message
    resumed(bar, tmp_path, 60)


@pytest.mark.parametrize("executor", ["sequential", pytest.param("processes", marks=pytest.mark.slow)])
def test_a_killed_run_loses_nothing_and_leaves_no_process(bar, tmp_path, executor):
    started = command(tmp_path, 60, executor, "slowly")
    with subprocess.Popen(started, stderr=subprocess.PIPE, text=True) as run:
        until(lambda: len(parts(tmp_path)) > 3 or run.poll() is not None)
        workers = children(run.pid)
        assert bool(workers) == (executor == "processes")
        run.kill()
        run.communicate(timeout=120)
    until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    resumed(bar, tmp_path, 60)


def test_the_manifest_says_what_the_sweep_is_of(bar, tmp_path):
    sweep(
        bar, sample({"1-2.angle": (0.0, 1.0)}, 8), record=["1-4.angle"], store=tmp_path, executor="sequential"
    )
    data = json.loads((tmp_path / "sweep.json").read_text())
    assert data["format"] == 3
    assert data["model"] == "planar_four_bar"
    assert data["cases"]["method"] == "sobol"
    assert set(data["versions"]) == {"mbssa", "numpy", "scipy", "llvmlite"}
    data["format"] = 2
    (tmp_path / "sweep.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="format 2"):
        open_sweep(tmp_path)


class Elsewhere(Executor):
    """Tasks at once, in another folder."""

    def __init__(self, folder):
        self.folder = folder

    def submit(self, function, *arguments):
        done = Future()
        with contextlib.chdir(self.folder):
            try:
                done.set_result(function(*arguments))
            except SweepError as error:
                done.set_exception(error)
        return done


@pytest.mark.parametrize("apart", [False, True])
def test_workers_in_another_folder_write_to_a_relative_store(bar, tmp_path, monkeypatch, apart):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    pool = Elsewhere(tmp_path / "there")
    kind = ExecutorType(
        "elsewhere", lambda _: contextlib.nullcontext(pool), "separate", ExecutorCosts(0.0, 0.0, 0.0, 0.0)
    )
    monkeypatch.setattr(sys.modules["routes.sweep.run"], "executor_named", lambda _: kind)
    if apart:
        monkeypatch.setattr(stores, "whole", mock.Mock(side_effect=FileNotFoundError(2, "No such file")))
        with pytest.raises(SweepError, match=f"cannot be written on {re.escape(platform.node())}: "):
            sweep(bar, turn(4), record=["1-4.angle"], store="store")
        return
    sweep(bar, turn(4), record=["1-4.angle"], store="store")
    assert len(parts(tmp_path / "here" / "store")) == 1
