"""Runs of sweeps: the same files whoever makes them, nothing lost and nothing twice whatever happens."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.dataset
import pyarrow.parquet
import pytest

import groups
import mbssa
from routes.lock import locked
from routes.sweep import Sweep, SweepError, grid, open_sweep, sample, sweep
from routes.sweep import store as stores

MPIEXEC = Path(sys.executable).parent / "mpiexec"

#: A sweep in a process of its own: folder, cases, executor, workers, whether it is resumed.
SCRIPT = """
import sys, mbssa
from mbssa.mpi_rank import rank
from routes.sweep import sample, sweep

if __name__ == "__main__":
    folder, number, executor, workers, resume = sys.argv[1:]
    cases = sample({"2-3.slide": (1.1, 1.3), "4-5.slide": (1.1, 1.3)}, int(number))
    found = sweep(mbssa.load("stewart"), cases, record=["platform.centre"], store=folder, block=500,
                  executor=executor, workers=int(workers), resume=resume == "resume")
    if rank() == 0:
        print(found.solved, found.done, flush=True)
"""


@pytest.fixture
def bar():
    return mbssa.load("planar_four_bar")


def turn(number=40):
    return grid({"1-2.angle": np.linspace(0.0, 6.0, number)})


def command(folder, number, executor="processes", workers=2, resume="anew"):
    return [sys.executable, "-c", SCRIPT, str(folder), str(number), executor, str(workers), resume]


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


@pytest.mark.parametrize("executor", ["threads", "processes", "cluster"])
def test_every_executor_makes_the_same_files(bar, tmp_path, executor):
    cases = grid({"2-3.point.x": [0.17, 0.18], "1-2.angle": np.linspace(0.0, 6.0, 20)})
    for name in ("sequential", executor):
        sweep(bar, cases, record=["coupler.tracer"], store=tmp_path / name, executor=name, block=7)
    one, two = parts(tmp_path / "sequential"), parts(tmp_path / executor)
    assert len(one) == 6
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


@pytest.mark.skipif(not MPIEXEC.exists(), reason="there is no mpiexec beside Python")
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_make_the_same_files(tmp_path, ranks):
    subprocess.run(command(tmp_path / "alone", 1200, "sequential"), check=True, capture_output=True)
    started = [str(MPIEXEC), "-n", str(ranks), *command(tmp_path / "ranks", 1200, "mpi")]
    done = subprocess.run(started, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["1200", "1200"]
    one, two = parts(tmp_path / "alone"), parts(tmp_path / "ranks")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    again = subprocess.run(started, check=False, capture_output=True, text=True)
    assert again.returncode != 0
    assert "holds a sweep already" in again.stderr


@pytest.mark.skipif(not MPIEXEC.exists(), reason="there is no mpiexec beside Python")
def test_what_one_rank_stumbles_over_ends_all_of_them(tmp_path):
    broken = """
from mbssa.mpi_rank import rank
from routes.sweep import block
solve = block.solve_poses
def stumble(*arguments):
    if rank() == 1:
        raise ZeroDivisionError("by nothing")
    return solve(*arguments)
block.solve_poses = stumble
"""
    _, _, script, *arguments = command(tmp_path, 3000, "mpi")
    started = [str(MPIEXEC), "-n", "2", sys.executable, "-c", broken + script, *arguments]
    done = subprocess.run(started, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "SweepError: block" in done.stderr
    assert "ZeroDivisionError: by nothing" in done.stderr
    again = command(tmp_path, 3000, "sequential", resume="resume")
    subprocess.run(again, check=True, capture_output=True)
    assert open_sweep(tmp_path)["case"].tolist() == list(range(3000))


#: Rank 1 takes its time, so that rank 0 is told what the other has not done yet; on top of SCRIPT.
SLOWLY = """
import time
from mbssa.mpi_rank import rank
from routes.sweep import block
solve = block.solve_poses
def slowly(*arguments):
    time.sleep(0.2 * rank())
    return solve(*arguments)
block.solve_poses = slowly
"""


def on_two_ranks(folder, number, before, reports):
    """A sweep on two ranks whose progress is ``reports``."""
    _, _, script, *arguments = command(folder, number, "mpi")
    script = script.replace("resume=resume", "progress=reports, resume=resume")
    started = [str(MPIEXEC), "-n", "2", sys.executable, "-c", before + reports + script, *arguments]
    return subprocess.run(started, check=False, capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(not MPIEXEC.exists(), reason="there is no mpiexec beside Python")
def test_false_from_progress_stops_all_ranks(tmp_path):
    done = on_two_ranks(tmp_path, 30_000, SLOWLY, "reports = lambda share: share == 0.0\n")
    assert done.returncode == 0, done.stderr
    solved, there = map(int, done.stdout.split())
    assert 500 <= solved == there < 15_000
    assert not list((tmp_path / "parts").glob(".*"))
    again = command(tmp_path, 30_000, "sequential", resume="resume")
    subprocess.run(again, check=True, capture_output=True)
    assert open_sweep(tmp_path)["case"].tolist() == list(range(30_000))


@pytest.mark.skipif(not MPIEXEC.exists(), reason="there is no mpiexec beside Python")
def test_a_failure_on_one_rank_leaves_no_blocks_to_the_others(tmp_path):
    fails = "def reports(share):\n    if share > 0.0:\n        raise ZeroDivisionError('by nothing')\n"
    done = on_two_ranks(tmp_path, 30_000, SLOWLY, fails)
    assert done.returncode != 0
    assert "ZeroDivisionError: by nothing" in done.stderr
    assert 500 <= open_sweep(tmp_path).done < 15_000


@pytest.mark.skipif(not MPIEXEC.exists(), reason="there is no mpiexec beside Python")
@pytest.mark.slow
@pytest.mark.parametrize("killed", [0, 1])
def test_a_killed_rank_ends_the_sweep_with_a_word(tmp_path, killed):
    kills = f"""
import os, signal
from mbssa.mpi_rank import rank
from routes.sweep import block
solve, blocks = block.solve_poses, []
def kill(*arguments):
    blocks.append(1)
    if rank() == {killed} and len(blocks) > 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return solve(*arguments)
block.solve_poses = kill
"""
    _, _, script, *arguments = command(tmp_path, 10_000, "mpi")
    started = [str(MPIEXEC), "-n", "2", sys.executable, "-c", kills + script, *arguments]
    done = subprocess.run(started, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "error: a rank has died" in done.stderr
    assert 500 <= open_sweep(tmp_path).done < 10_000
    again = command(tmp_path, 10_000, "sequential", resume="resume")
    subprocess.run(again, check=True, capture_output=True)
    assert open_sweep(tmp_path)["case"].tolist() == list(range(10_000))


@pytest.mark.skipif(not MPIEXEC.exists(), reason="there is no mpiexec beside Python")
def test_a_failure_before_the_first_case_leaves_no_rank_waiting(tmp_path):
    done = on_two_ranks(tmp_path, 1000, "", "def reports(share):\n    raise ZeroDivisionError('at once')\n")
    assert done.returncode != 0
    assert done.stderr.count("ZeroDivisionError: at once") >= 2


def test_parts_come_in_the_order_of_the_cases_beyond_a_million(tmp_path):
    import pyarrow

    blocks = [9, 999_999, 1_000_000, 1_000_001]
    (tmp_path / "parts").mkdir()
    for block in blocks:
        stores.write_part(tmp_path, block, pyarrow.table({"case": [block], "status": ["ok"]}))
    assert Sweep(tmp_path, {})["case"].tolist() == blocks


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
    with pytest.raises(ValueError, match="another sweep") as refusal:
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
    with (
        locked(tmp_path),
        pytest.raises(SweepError, match="is being written by another run"),
    ):
        sweep(bar, turn(), store=tmp_path, executor="sequential")
    (tmp_path / ".lock").write_text("process 1 on a machine that was switched off")
    assert sweep(bar, turn(), store=tmp_path, executor="sequential").complete


#: Ends the process where it is to write something for the time that the first argument says.
KILLED = """
import os, sys
left, names = int(sys.argv.pop(1)), ("mkdir", "replace", "link", "open")
def killing(real):
    def call(path, *arguments, **named):
        global left
        if str(sys.argv[1]) in str(path) + str(arguments):
            left -= 1
            if left < 0:
                os._exit(9)
        return real(path, *arguments, **named)
    return call
import mbssa, routes, pathlib
for name in names:
    setattr(os, name, killing(getattr(os, name)))
pathlib.Path.mkdir = killing(pathlib.Path.mkdir)
"""


@pytest.mark.slow
@pytest.mark.parametrize("resume", ["anew", "resume"])
@pytest.mark.parametrize("moment", range(12))
def test_wherever_a_run_is_killed_as_it_begins_another_one_does_it(tmp_path, moment, resume):
    started = command(tmp_path / "sweep", 600, "sequential", 1)
    started[2] = KILLED + started[2]
    started.insert(3, str(moment))
    killed = subprocess.run(started, check=False, capture_output=True, text=True)
    assert killed.returncode in (0, 9), killed.stderr
    there = (tmp_path / "sweep" / "sweep.json").exists()
    again = command(tmp_path / "sweep", 600, "sequential", 1, resume="resume" if there else resume)
    done = subprocess.run(again, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert open_sweep(tmp_path / "sweep")["case"].tolist() == list(range(600))
    left = [path.name for path in (tmp_path / "sweep").rglob(".*") if path.name != ".lock"]
    assert left == []


@pytest.mark.parametrize("left", [["parts"], ["parts", ".lock"], [".sweep.json.ab12cd34"], []])
@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_without_a_manifest_begins_a_sweep(bar, tmp_path, left, resume):
    for name in left:
        (tmp_path / name).mkdir() if name == "parts" else (tmp_path / name).write_text("{")
    assert sweep(bar, turn(), store=tmp_path, executor="sequential", resume=resume).complete
    assert {path.name for path in tmp_path.iterdir()} == {"parts", ".lock", "sweep.json"}


def test_parts_without_a_manifest_are_left_alone(bar, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part-000000.parquet").write_text("cases")
    with pytest.raises(ValueError, match=r"is not empty \(parts\) and holds no sweep"):
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
    with pytest.raises(SweepError, match="block 4 cannot be written: No space left on device"):
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
    with pytest.raises(SweepError, match=r"block \d, cases \d+ to \d+, the first with .*: ZeroDivisionError"):
        sweep(bar, turn(), store=tmp_path, executor=executor, block=5)
    assert open_sweep(tmp_path).done >= 15


def test_cases_that_cannot_be_drawn_are_said_with_the_cause(bar, tmp_path):
    def broken(start, stop):
        raise ZeroDivisionError("by nothing")

    cases = replace(turn(), _source=broken)
    with pytest.raises(
        SweepError, match=r"block 1, cases 0 to 39, which cannot be drawn: ZeroDiv.*: by noth"
    ):
        sweep(bar, cases, store=tmp_path, executor="sequential")


def test_a_killed_worker_loses_nothing(tmp_path):
    with subprocess.Popen(command(tmp_path, 60_000), stderr=subprocess.PIPE, text=True) as run:
        until(lambda: len(parts(tmp_path)) > 3)
        os.kill(children(run.pid)[0], signal.SIGKILL)
        message = run.communicate(timeout=120)[1]
    assert run.returncode != 0
    assert "a worker process was killed" in message
    check_that_it_goes_on(tmp_path, 60_000)


def test_a_killed_run_loses_nothing_and_leaves_no_process(tmp_path):
    with subprocess.Popen(command(tmp_path, 60_000), stderr=subprocess.PIPE, text=True) as run:
        until(lambda: len(parts(tmp_path)) > 3)
        workers = children(run.pid)
        assert workers
        run.kill()
        run.communicate(timeout=120)
    until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    check_that_it_goes_on(tmp_path, 60_000)


def check_that_it_goes_on(folder, number):
    before = {path: path.stat().st_mtime_ns for path in parts(folder)}
    assert 3 < len(before) < number // 500
    done = subprocess.run(
        command(folder, number, resume="resume"), check=True, capture_output=True, text=True
    )
    solved, total = map(int, done.stdout.split())
    assert total == number
    assert solved == number - 500 * len(before)
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    assert open_sweep(folder)["case"].tolist() == list(range(number))


def test_the_manifest_says_what_the_sweep_is_of(bar, tmp_path):
    sweep(
        bar, sample({"1-2.angle": (0.0, 1.0)}, 8), record=["1-4.angle"], store=tmp_path, executor="sequential"
    )
    data = json.loads((tmp_path / "sweep.json").read_text())
    assert data["format"] == 1
    assert data["model"] == "planar_four_bar"
    assert data["cases"]["method"] == "sobol"
    assert set(data["versions"]) == {"mbssa", "numpy", "scipy", "numba"}
    data["format"] = 2
    (tmp_path / "sweep.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="format 2"):
        open_sweep(tmp_path)
