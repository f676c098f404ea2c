"""The command ``mbssa sweep``: what it prints, draws and refuses, and how it ends."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from routes.sweep import open_sweep

MPIEXEC = Path(sys.executable).parent / "mpiexec"
MBSSA = [sys.executable, "-m", "mbssa.cli", "sweep"]


def test_the_page_says_what_became_of_the_cases(run_mbssa, tmp_path):
    done = run_mbssa(
        "sweep", "stewart_inverse", "--grid", "1-14.x=-1:1:5", "--grid", "1-14.z=0.8,1,1.2", "--record",
        "platform.centre,2-3.slide", "--limit", "2-3.slide=0.9:1.5", "--store", str(tmp_path / "reach"),
        "--executor", "sequential", "--plot", str(tmp_path / "reach.png"),
    )  # fmt: skip
    assert (done.exit_code, done.stderr) == (0, "")
    assert "grid of 5 x 3: 1-14.x, 1-14.z" in done.stdout
    assert "within all limits" in done.stdout
    assert "15 cases in" in done.stdout
    assert f"written: {tmp_path}/reach/parts (1 Parquet file)" in done.stdout
    assert (tmp_path / "reach.png").stat().st_size > 10_000
    assert open_sweep(tmp_path / "reach").complete


def test_json_says_the_same(run_mbssa, tmp_path):
    arguments = [
        "sweep", "planar_four_bar", "--sample", "2-3.point.x+=normal:0:0.001", "--number", "16",
        "--seed", "4",
        "--motion", "own", "--steps", "31", "--record", "1-4.angle", "--store", str(tmp_path / "bars"),
        "--executor", "sequential", "--format", "json",
    ]  # fmt: skip
    data = json.loads(run_mbssa(*arguments).stdout)
    assert data["status"] == {"ok": 16}
    assert data["complete"]
    assert data["columns"][-3:] == ["1-4.angle.min", "1-4.angle.max", "1-4.angle.final"]
    assert data["units"]["1-4.angle.max"] == "rad"
    again = json.loads(run_mbssa(*arguments, "--resume").stdout)
    assert (again["solved"], again["done"]) == (0, 16)
    refused = run_mbssa(*arguments)
    assert refused.exit_code == 2
    assert "holds a sweep already" in refused.stderr
    assert json.loads(run_mbssa(*arguments, "--force").stdout)["solved"] == 16


def test_columns_of_the_store_are_si_whatever_the_units(run_mbssa, tmp_path):
    arguments = ["--grid", "1-2.angle=90deg", "--record", "1-4.angle,coupler.tracer", "--units", "mm,deg"]
    done = run_mbssa(
        "sweep", "planar_four_bar", *arguments, "--store", str(tmp_path / "s"), "--executor", "sequential"
    )
    assert done.exit_code == 0
    assert "columns, in SI units" in done.stdout
    units = {"1-2.angle": "rad", "1-4.angle": "rad", "coupler.tracer.x": "m", "coupler.tracer.y": "m"}
    assert open_sweep(tmp_path / "s").units == units
    assert "columns of FOLDER are SI" in " ".join(run_mbssa("sweep", "--help").stdout.split())


REFUSED = [
    ((), ["write one of --grid, --sample and --cases"]),
    (
        ("--grid", "1-2.angle", "--limit", "x", "--mode", "9=1", "--axes", "a"),
        ["4 faults", "--grid 1-2.angle: write NAME=", "--limit x:", "no group 9", "--axes:"],
    ),
    (
        ("--grid", "1-2.angel=0:1:3", "--record", "2-3.slide", "--limit", "9-9.angle=0:1"),
        ["3 faults", "did you mean '1-2.angle'?", "no coordinate 'slide'", "limit of 9-9.angle"],
    ),
    (("--grid", "1-2.angle=0:1:3", "--plot", "x.gif"), ["ends in none of .png"]),
    (("--grid", "1-2.angle=0:1:3", "--plot", "x.png", "--axes", "nothing"), ["axes: no column nothing"]),
    (
        ("--grid", "1-2.angle=0:1:3", "--plot", "x.png", "--record", "1-2.angle"),
        ["nothing was recorded that could be drawn over 1-2.angle"],
    ),
    (("--grid", "1-2.angle=0:1:3", "--executor", "magic"), ["no executor 'magic'"]),
    (("--grid", "1-2.angle=0:1:3", "--executor", "mpi"), ["mpiexec -n 2"]),
    (("--grid", "1-2.angle=0:1:3", "--motion", "own"), ["write 1-2.angle+"]),
    (("--grid", "1-2.angle=0:1:3", "--mode", "2=9"), ["SG-2 has modes 1 to 2", "not 9"]),
    (("--grid", "crank.points.foo.x=0:1:3"), ["body crank has no points in the model"]),
    (("--cases", "nowhere.csv"), ["--cases nowhere.csv: No such file"]),
    (("--sample", "1-2.angle=0:1", "--number", "4", "--method", "dice"), ["no method 'dice'"]),
]  # fmt: skip


def test_what_cannot_be_is_refused_before_anything_is_written(run_mbssa, tmp_path):
    store = tmp_path / "store"
    for arguments, message in REFUSED:
        done = run_mbssa("sweep", "planar_four_bar", *arguments, "--store", str(store))
        assert done.exit_code == 2, arguments
        assert "Traceback" not in done.stderr, arguments
        for text in message:
            assert text in done.stderr, arguments
        assert not (store / "sweep.json").exists(), arguments


def test_a_model_that_cannot_be_solved_is_refused(run_mbssa, tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(
        'format = 1\nspace = "planar"\n[[body]]\nname = "arm"\n'
        '[[joint]]\nbodies = [1, 2]\ntype = "R"\npoint = [0.0, 0.0]\n'
    )
    done = run_mbssa("sweep", str(path), "--grid", "1-2.point.x=0:1:3", "--store", str(tmp_path / "s"))
    assert done.exit_code == 1
    assert "drive 1-2.angle" in done.stderr


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_written_and_exits_130(tmp_path):
    store = tmp_path / "long"
    cases = ["--grid", "1-2.angle=0:6:400000", "--block", "1000", "--record", "1-4.angle"]
    started = [*MBSSA, "planar_four_bar", *cases, "--store", str(store), "--workers", "2"]
    with subprocess.Popen(started, stderr=subprocess.PIPE, text=True) as run:
        while len(list((store / "parts").glob("part-*.parquet"))) < 3:
            assert run.poll() is None
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        message = run.communicate(timeout=60)[1]
    assert run.returncode == 130
    assert "stopped by Ctrl-C" in message
    assert "Traceback" not in message
    found = open_sweep(store)
    assert 3000 <= found.done < 400_000
    assert found.done == 1000 * len(found.parts)


@pytest.mark.slow
@pytest.mark.skipif(not MPIEXEC.exists(), reason="there is no mpiexec beside Python")
def test_under_mpiexec_the_ranks_share_the_cases_and_one_speaks(tmp_path):
    cases = ["--grid", "1-2.angle=0:6:40", "--block", "5", "--record", "1-4.angle"]
    started = [str(MPIEXEC), "-n", "2", *MBSSA, "planar_four_bar", *cases, "--store", str(tmp_path / "ranks")]
    done = subprocess.run(started, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("40 cases in") == 1
    assert open_sweep(tmp_path / "ranks").counts == {"ok": 40}
    refused = subprocess.run([*started, "--limit", "oops"], check=False, capture_output=True, text=True)
    assert refused.returncode == 2
    assert refused.stderr.count("--limit oops: write NAME=LOW:HIGH") == 1
