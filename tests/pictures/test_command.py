"""``mbssa decompose MODEL --picture FILE --diagram FILE``."""

import json
import subprocess
import sys

import pytest

SIGNATURES = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


def test_both_pictures_are_written(run_mbssa, tmp_path):
    for ending in SIGNATURES:
        graph, diagram = tmp_path / f"graph.{ending}", tmp_path / f"diagram.{ending.upper()}"
        done = run_mbssa("decompose", "spatial_four_bar", "--picture", str(graph), "--diagram", str(diagram))
        assert done.exit_code == 0, ending
        for path in (graph, diagram):
            assert path.read_bytes().startswith(SIGNATURES[ending]), ending


def test_an_unknown_ending_names_the_three_and_leaves_no_file(run_mbssa, tmp_path):
    good, bad = str(tmp_path / "good.svg"), str(tmp_path / "four_bar.jpg")
    for option, other in (("--picture", "--diagram"), ("--diagram", "--picture")):
        done = run_mbssa("decompose", "spatial_four_bar", option, bad, other, good)
        assert done.exit_code == 2, option
        assert done.stdout == "", option
        assert done.stderr.endswith("ends in none of .png, .svg, .pdf\n"), option
        assert not list(tmp_path.iterdir()), option


def test_a_directory_that_is_not_there(run_mbssa, tmp_path):
    path = tmp_path / "nowhere" / "four_bar.svg"
    done = run_mbssa("decompose", "spatial_four_bar", "--diagram", str(path))
    assert done.exit_code == 2
    assert str(path) in done.stderr


def test_matplotlib_missing_is_a_sentence(run_mbssa, tmp_path, monkeypatch):
    monkeypatch.setattr("mbssa.pictures.limits.find_spec", lambda name: None)
    done = run_mbssa("decompose", "spatial_four_bar", "--picture", str(tmp_path / "four_bar.svg"))
    assert done.exit_code == 2
    assert done.stderr == 'error: pictures need Matplotlib: pip install -e ".[pictures]" in the clone\n'


@pytest.mark.slow
def test_matplotlib_comes_only_with_a_picture(tmp_path):
    script = (
        "import atexit, json, sys\n"
        "atexit.register(lambda: print(json.dumps('matplotlib' in sys.modules), file=sys.stderr))\n"
        "import mbssa.pictures\n"
        "sys.argv = ['mbssa', 'decompose', 'spatial_four_bar', *sys.argv[1:]]\n"
        "from mbssa.cli import main\nmain()"
    )
    for arguments, loaded in (([], False), (["--diagram", str(tmp_path / "four_bar.svg")], True)):
        command = [sys.executable, "-c", script, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert json.loads(done.stderr) is loaded
