"""A search that is killed, stopped or shared: nothing is lost, nothing is done twice, and it is said."""

import json
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

#: Some seconds of work in 197 blocks.
ASKED = ("rotor", "--block", "8", "--top", "2000", "--format", "csv")


def command(place, *more):
    return [sys.executable, "-m", "mbssa.cli", "transform", *ASKED, "--store", str(place), *more]


def begin(place, *more):
    return subprocess.Popen(command(place, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def asked(place, statement):
    connection = sqlite3.connect(place)
    try:
        return connection.execute(statement).fetchall()
    except sqlite3.OperationalError:  # not begun
        return []
    finally:
        connection.close()


def done(place):
    rows = asked(place, "SELECT block FROM transformation_blocks_1 WHERE done = 1") if place.exists() else []
    return {block for (block,) in rows}


def until(number, place, process):
    deadline = time.monotonic() + 120
    while len(done(place)) < number:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a search says that nobody disturbs."""
    place = tmp_path_factory.mktemp("whole") / "store"
    return subprocess.run(command(place), check=True, capture_output=True, text=True).stdout


def test_a_killed_search_goes_on_where_it_was(tmp_path, whole):
    place = tmp_path / "store"
    for blocks in (5, 40):
        process = begin(place)
        until(blocks, place, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    before = done(place)
    assert 40 <= len(before) < 190
    kept = set(asked(place, "SELECT places, bits, margin FROM transformation_rows_1"))
    asked(place, "CREATE TABLE touched AS SELECT block FROM transformation_blocks_1 WHERE 0")
    connection = sqlite3.connect(place)
    connection.execute(
        "CREATE TRIGGER note AFTER INSERT ON transformation_blocks_1 WHEN new.done = 1 "
        "BEGIN INSERT INTO touched VALUES (new.block); END"
    )
    connection.commit()
    connection.close()
    finished = subprocess.run(command(place), check=True, capture_output=True, text=True)
    assert finished.stdout == whole
    again = [block for (block,) in asked(place, "SELECT block FROM touched")]
    assert sorted([*before, *again]) == list(range(197))  # each once
    assert kept <= set(asked(place, "SELECT places, bits, margin FROM transformation_rows_1"))


def test_two_processes_share_a_search(tmp_path, whole):
    place = tmp_path / "store"
    first = begin(place)
    until(1, place, first)
    second = begin(place)
    for process in (first, second):
        said, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        assert said == whole
    assert done(place) == set(range(197))
    assert asked(place, "SELECT count(*) FROM transformation_searches_1") == [(1,)]


def test_one_goes_on_when_the_other_is_killed(tmp_path, whole):
    place = tmp_path / "store"
    first = begin(place)
    until(5, place, first)
    second = begin(place)
    until(20, place, second)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    said, errors = second.communicate(timeout=300)
    assert second.returncode == 0, errors
    assert said == whole


def test_ctrl_c_gives_the_best_so_far_and_says_what_was_not_looked_at(tmp_path, whole):
    place = tmp_path / "store"
    process = begin(place, "--format", "json", "--top", "1")
    until(30, place, process)
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    answer = json.loads(said)
    looked_at = 8 * len(done(place))
    assert 240 <= answer["looked_at"] == looked_at < 1576
    assert not answer["complete"]
    assert len(answer["rows"]) == 1
    assert f"{1576 - looked_at:,} of 1,576 distributions were not looked at" in errors
    finished = subprocess.run(command(place), check=True, capture_output=True, text=True)
    assert finished.stdout == whole


def test_a_time_limit_gives_the_best_so_far_too(tmp_path):
    limited = subprocess.run(
        command(tmp_path / "store", "--time-limit", "0.3", "--format", "json", "--top", "1"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    answer = json.loads(limited.stdout)
    assert limited.returncode == (0 if answer["rows"] else 1)
    assert not answer["complete"]
    assert "the time was up" in limited.stderr
