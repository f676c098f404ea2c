"""Every block of the README does what it says."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import groups
import mbssa
from mbssa.io.profile import profile_of
from mbssa.io.toml_file import parse_record

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def blocks(language):
    found = [text for kind, text in BLOCKS if kind == language]
    assert found
    return found


def test_python_blocks_run_one_after_another(capsys):
    names = {}
    for text in blocks("python"):
        exec(compile(text, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "SG-1{14} 1F3D" in printed
    assert "((1,), (2, 3, 4, 5, 6, 7))" in printed
    assert "over 2 [2]\nunder 1 [3]" in printed
    assert "(721, 3) -0.14183366" in printed


@pytest.mark.parametrize("text", blocks("console"))
def test_console_blocks_print_what_they_show(text):
    command, *expected = text.strip().splitlines()
    arguments = command.removeprefix("$ mbssa ").split()
    done = subprocess.run(
        [sys.executable, "-m", "mbssa.cli", *arguments], capture_output=True, text=True, check=False
    )
    said = re.sub(r"compiling kernels, .*\n|[\d,]+ sets of inputs in .*\n", "", done.stderr)
    printed = "".join(line.rstrip() + "\n" for line in (done.stdout + said).strip().splitlines())
    assert re.fullmatch("".join(map(as_pattern, expected)), printed), printed


def as_pattern(line):
    """A line as it is shown; "…" at its end stands for its rest, alone for any lines."""
    if line == "…":
        return "(?:.*\n)+?"
    start, ellipsis, _ = line.rstrip().partition("…")
    return re.escape(start) + (".*" if ellipsis else "") + "\n"


def test_model_block_is_a_model(tmp_path):
    (text,) = (text for text in blocks("toml") if "A slider-crank" in text)
    path = tmp_path / "slider_crank.toml"
    path.write_text(text)
    mechanism = mbssa.load(path)
    assert mechanism.has_geometry
    assert [group.bodies for group in mbssa.decompose(mechanism).groups] == [(2,), (3, 4)]


def test_motion_block_is_a_motion(tmp_path):
    path = tmp_path / "motion.toml"
    path.write_text(blocks("toml")[0])
    motion = groups.read_motion(mbssa.load("planar_four_bar"), path)
    assert len(motion.time) == 401


def test_profiles_are_profiles():
    (text,) = (text for text in blocks("toml") if text.startswith("profile"))
    tables = re.split(r"^(?=profile)", text, flags=re.MULTILINE)[1:]
    assert len(tables) == 6
    for table in tables:
        faults = []
        profile_of(tomllib.loads(table)["profile"], 1e-3, np.pi / 180.0, "profile", faults)
        assert not faults


def test_gears_and_users_functions_are_joints():
    texts = [text for text in blocks("toml") if "EPI" in text or "USER" in text]
    joints = [joint for text in texts for joint in tomllib.loads(text)["joint"]]
    bodies = [{"name": name} for name in ("sun", "planet", "carrier", "wheel", "crank", "ram")]
    record = {"format": 1, "space": "planar", "body": bodies, "joint": joints}
    free = [{"bodies": ["frame", body["name"]], "type": "FP"} for body in bodies]
    mechanism = parse_record(record | {"joint": [*joints, *free]}, "README.md", "README")
    assert [joint.type.code for joint in mechanism.joints][:3] == ["EPI", "RP", "USER"]


def test_sheet_block_is_a_model(tmp_path):
    (text,) = blocks("csv")
    path = tmp_path / "four_bar.csv"
    path.write_text(text)
    assert [group.bodies for group in mbssa.decompose(mbssa.load(path)).groups] == [(2,), (3, 4)]


def test_every_command_of_the_table_exists(run_mbssa):
    shown = set(re.findall(r"^\| `mbssa (\w+)", README, re.MULTILINE))
    helped = set(re.findall(r"^│ (\w+) ", run_mbssa("--help").stdout, re.MULTILINE))
    assert shown == helped
