"""Blocks of the README and of the pages do what they say; cells of the pages run when the pages are built."""

import re
import tomllib
from pathlib import Path

import numpy as np

import groups
import mbssa
from mbssa.cli import COMMANDS
from mbssa.faults import Faults
from mbssa.io.profile import profile_of
from mbssa.io.toml_file import parse_record

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def blocks(page, language):
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found
    return found


def test_python_blocks_run_one_after_another(capsys):
    names = {}
    for text in blocks("README.md", "python"):
        exec(compile(text, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "['SG-1{2}', 'SG-2{3, 4}']" in printed
    assert "the rocker swings 0.92" in printed  # law of cosines, crank and coupler in line


def test_console_blocks_print_what_they_show(run_mbssa):
    for text in blocks("README.md", "console"):
        command, *expected = text.strip().splitlines()
        arguments = command.removeprefix("$ mbssa ").split()
        done = run_mbssa(*arguments).stdout.strip()
        printed = "".join(line.rstrip() + "\n" for line in done.splitlines())
        assert re.fullmatch("".join(map(as_pattern, expected)), printed), printed


def as_pattern(line):
    """A line as it is shown; "…" at its end stands for its rest, alone for any lines."""
    if line == "…":
        return "(?:.*\n)+?"
    start, ellipsis, _ = line.rstrip().partition("…")
    return re.escape(start) + (".*" if ellipsis else "") + "\n"


def test_every_command_has_its_purpose_in_the_readme():
    rows = re.findall(r"^\| (`\w+`.*?) \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(COMMANDS)


def test_links_between_files_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), target


def test_motion_block_is_a_motion(tmp_path):
    path = tmp_path / "motion.toml"
    path.write_text(blocks("docs/how-to/solve.md", "toml")[0])
    motion = groups.read_motion(mbssa.load("planar_four_bar"), path)
    assert len(motion.time) == 401


def test_profiles_are_profiles():
    (text,) = (text for text in blocks("docs/how-to/higher-pairs.md", "toml") if text.startswith("profile"))
    tables = re.split(r"^(?=profile)", text, flags=re.MULTILINE)[1:]
    assert len(tables) == 6
    for table in tables:
        faults = Faults()
        profile_of(tomllib.loads(table)["profile"], 1e-3, np.pi / 180.0, "profile", faults)
        assert not faults


def test_gears_and_users_functions_are_joints():
    found = blocks("docs/how-to/higher-pairs.md", "toml")
    joints = [
        joint for text in found if "EPI" in text or "USER" in text for joint in tomllib.loads(text)["joint"]
    ]
    bodies = [{"name": name} for name in ("sun", "planet", "carrier", "wheel", "crank", "ram")]
    record = {"format": 1, "space": "planar", "body": bodies, "joint": joints}
    free = [{"bodies": ["frame", body["name"]], "type": "FP"} for body in bodies]
    mechanism = parse_record(record | {"joint": [*joints, *free]}, "page", "page")
    assert [joint.type.code for joint in mechanism.joints][:3] == ["EPI", "RP", "USER"]
