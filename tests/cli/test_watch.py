"""A command repeated at each save of its file."""

import os
import signal
import subprocess
import sys
import time

import pytest

PIN = 'format = 1\nspace = "planar"\nbodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\npoint = [0.0, 0.0]\n'
DRIVEN = "driven = true\n"


@pytest.fixture
def watched(tmp_path):
    """Start a command with --watch on a model; wait for texts that it prints; it ends by Ctrl-C."""
    path, log = tmp_path / "pin.toml", tmp_path / "log"
    path.write_text(PIN + DRIVEN)
    started = []

    def start(command, *more):
        with log.open("wb") as stream:
            words = [sys.executable, "-m", "mbssa", command, path.name, "--watch", *more]
            environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
            started.append(
                subprocess.Popen(words, stdout=stream, stderr=stream, cwd=tmp_path, env=environment)
            )
        return path, waits

    def waits(text):
        until = time.monotonic() + 60
        while text not in log.read_text():
            assert time.monotonic() < until, log.read_text()
            assert started[0].poll() is None, log.read_text()
            time.sleep(0.05)

    yield start
    started[0].send_signal(signal.SIGINT)
    assert started[0].wait(20) == 130


def test_a_save_repeats_the_command_also_after_an_error(watched):
    path, waits = watched("decompose")
    waits("\ndetermined: 1 structural group")
    path.write_text(PIN.replace('"R"', '"Q"'))
    waits("error: pin.toml: [[joint]] 1")
    path.write_text(PIN)
    waits("\nnot determined: 0 structural groups")


@pytest.mark.slow
def test_a_picture_is_written_anew(watched):
    path, waits = watched("draw", "--output", "pin.svg")
    waits("wrote pin.svg")
    picture = path.with_name("pin.svg")
    before = picture.read_bytes()
    other = path.with_name("other")
    other.write_text(PIN.replace("[0.0, 0.0]", "[3.0, 0.0]"))
    other.replace(path)  # as editors save
    waits("was saved at")
    until = time.monotonic() + 60
    while picture.read_bytes() == before:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_model_that_is_no_file_cannot_be_watched(run_mbssa):
    result = run_mbssa("check", "rotor", "--watch")
    assert result.exit_code == 2
    assert "rotor is no file; name a model file" in " ".join(result.stderr.replace("│", " ").split())
