"""The command line as a stranger uses it: formats, exit codes, files, the same bytes every time."""

import json
import os
import subprocess
import sys

import pytest

import mbssa


def process(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "mbssa.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


LOOSE = 'format = 1\nspace = "planar"\nbodies = 3\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = 1\n'
LOOSE += '[[joint]]\nbodies = [2, 3]\ntype = "R"\n'


def test_decompose_prints_table_8_and_exits_0(run_mbssa):
    result = run_mbssa("decompose", "rotor")
    assert result.exit_code == 0
    assert "determined: 7 structural groups in 5 levels" in result.stdout
    for text in ("9,10,13", "1R1P1U1S3D", "10&1U.13&1P.", "9&6S.9&8R.9&11R.13&15R.", "2R1U1S3D"):
        assert text in result.stdout
    assert "\x1b" not in result.stdout


def test_every_format_to_a_file_and_to_the_terminal(run_mbssa, tmp_path):
    for form in ["json", "csv", "markdown", "dot", "graphml", "table"]:
        printed = run_mbssa("decompose", "stewart_inverse", "--format", form)
        assert printed.exit_code == 0, form
        path = tmp_path / "answer"
        path.write_text("old")
        written = run_mbssa(
            "decompose", "stewart_inverse", "--format", form, "--output", str(path), "--force"
        )
        assert (written.exit_code, written.stdout) == (0, ""), form
        assert os.listdir(tmp_path) == ["answer"], form
        if form != "table":  # the table on a terminal has its width
            assert path.read_text() == printed.stdout, form
        assert "1P1U1S3D" in path.read_text(), form


def test_not_determined_exits_1_and_prints_the_answer(run_mbssa, tmp_path):
    path = tmp_path / "loose.toml"
    path.write_text(LOOSE)
    result = run_mbssa("decompose", str(path))
    assert result.exit_code == 1
    assert "not determined" in result.stdout
    assert "under-constrained by 1: body 3" in result.stdout
    result = run_mbssa("decompose", str(path), "--format", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["parts"][0]["bodies"] == [3]
    assert "under-constrained by 1" in result.stderr


def test_exhaustive_search_finds_the_same_groups(run_mbssa):
    fast = json.loads(run_mbssa("decompose", "rotor", "-f", "json").stdout)
    slow = json.loads(run_mbssa("decompose", "rotor", "-f", "json", "--method", "exhaustive").stdout)
    assert slow["method"] == "exhaustive"
    assert slow["groups"] == fast["groups"]


def test_exhaustive_search_stops_at_its_time_limit(run_mbssa):
    result = run_mbssa("decompose", "assur:III-4B", "--method", "exhaustive", "--time-limit", "0.1")
    assert result.exit_code == 1
    assert "0.1 s" in result.stdout


def test_models_lists_every_model(run_mbssa):
    listed = json.loads(run_mbssa("models", "--format", "json").stdout)
    assert [row["name"] for row in listed] == list(mbssa.builtin_names())
    assert all(row["title"] and row["source"] for row in listed)
    table = run_mbssa("models").stdout
    assert all(name in table for name in mbssa.builtin_names())
    assert "assur:CLASS-COUNT[B]" in table
    assert run_mbssa("models", "--format", "xml").exit_code == 2


def test_joints_lists_the_catalogue(run_mbssa):
    table = run_mbssa("joints").stdout
    for text in ("Penta Punctual Contact", "slide, angle", "pitch", "[offsets]"):
        assert text in table


def test_help_has_an_example_for_every_command(run_mbssa):
    for command in ("models", "joints", "schema", "decompose"):
        assert f"Example: mbssa {command}" in run_mbssa(command, "--help").stdout


def test_version(run_mbssa):
    from importlib.metadata import version

    assert run_mbssa("--version").stdout == f"mbssa {version('mbssa')}\n"


def test_the_same_bytes_under_any_hash_seed():
    script = (
        "import sys; from mbssa.cli import main\n"
        "for form in ('json', 'table', 'graphml'):\n"
        "    sys.argv = ['mbssa', 'decompose', 'micromanipulator', '-f', form]\n"
        "    try: main()\n"
        "    except SystemExit: print(form)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(outputs) == 1
    (output,) = outputs
    assert len(output) > 2000
    assert output.rstrip().endswith("graphml")


def test_a_reader_that_has_seen_enough_is_no_error():
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"set -o pipefail; {sys.executable} -m mbssa.cli decompose assur:I-300 -f json | head -1",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""
    assert done.returncode == 0


def test_terminals_without_dashes_and_closed_ones_get_no_traceback():
    plain = process("decompose", "rotor", PYTHONIOENCODING="ascii")
    assert (plain.returncode, plain.stderr) == (0, "")
    assert "1R1P1U1S3D" in plain.stdout
    closed = subprocess.run(
        ["bash", "-c", f"{sys.executable} -W error -m mbssa decompose rotor >&-"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (closed.returncode, closed.stderr) == (0, "")


def test_a_full_disk_is_a_sentence():
    full = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m mbssa decompose rotor > /dev/full"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert full.returncode == 2
    assert "No space left" in full.stderr
    assert "Traceback" not in full.stderr


def test_output_goes_into_pipes_and_keeps_the_mode_of_files(run_mbssa, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        assert run_mbssa("schema", "--output", str(pipe)).exit_code == 0
        assert json.loads(reader.stdout.read())["title"].startswith("mbssa model file")
    private = tmp_path / "private.json"
    private.write_text("old")
    private.chmod(0o600)
    assert run_mbssa("schema", "--output", str(private), "--force").exit_code == 0
    assert private.stat().st_mode & 0o777 == 0o600


def test_precision_is_a_length(run_mbssa):
    for value in ("inf", "1e300", "nan", "-1", "5 deg"):
        for command in ("check", "transform"):
            done = run_mbssa(command, "rotor", "--precision", value)
            assert (done.exit_code, "--precision" in done.stderr) == (2, True), (command, value)


def test_a_precision_is_in_the_units_of_the_model_or_its_own(run_mbssa):
    assert mbssa.load("fixture").units[0] == "mm"
    bare, written = (run_mbssa("check", "fixture", "--precision", text) for text in ("1e-2", "1e-5 m"))
    assert bare.stdout == written.stdout
    assert bare.stdout != run_mbssa("check", "fixture", "--precision", "1e-3").stdout


def test_two_pictures_do_not_go_to_one_file(run_mbssa, tmp_path):
    path = str(tmp_path / "one.svg")
    result = run_mbssa("decompose", "rotor", "--picture", path, "--diagram", path)
    assert result.exit_code == 2
    assert "--picture writes to it" in result.stderr
    assert not os.listdir(tmp_path)


def test_other_inputs_are_decomposed_and_checked_without_a_file(run_mbssa):
    """Table 10: nine groups; a leg driven beside two that already move its end leaves no rank."""
    transformed = run_mbssa("decompose", "rotor", "--inputs", "1-2,1-13.slide,13-15")
    assert transformed.exit_code == 0
    assert "determined: 9 structural groups in 6 levels" in transformed.stdout
    assert run_mbssa("check", "rotor", "--inputs", "1-2,1-13,1-4").exit_code == 0
    assert run_mbssa("check", "rotor", "--inputs", "1-2,1-13,1-10.angle_1").exit_code == 1


def test_a_terminal_has_coordinates_that_may_be_driven(run_mbssa):
    pose = ",".join(f"1-14.{c}" for c in ("x", "y", "z", "angle_x", "angle_y", "angle_z"))
    floating = run_mbssa("decompose", "six_sps", "--inputs", pose, "--terminal", "platform")
    assert "1F3D" in floating.stdout
    short = run_mbssa("decompose", "six_sps", "--inputs", "1-14.*", "--terminal", "14")
    assert short.stdout == floating.stdout
    alone = run_mbssa("decompose", "six_sps", "--terminal", "14")
    assert alone.exit_code == 2
    assert "--inputs" in alone.stderr


def test_all_wrong_inputs_are_named_at_once(run_mbssa):
    result = run_mbssa("decompose", "rotor", "--inputs", "1-2,1-99,2-5")
    assert result.exit_code == 2
    assert "1-99" in result.stderr
    assert "2-5.angle_1 or 2-5.angle_2" in result.stderr


def test_what_nothing_else_catches_is_a_sentence(monkeypatch, run_mbssa):
    for error, said in [
        (MemoryError("no room"), "error: out of memory (no room)"),
        (RecursionError(), "error: nested too deeply"),
    ]:

        def fail(*_, error=error, **__):
            raise error

        monkeypatch.setattr(mbssa, "decompose", fail)
        monkeypatch.setattr("mbssa.cli.inputs.load", fail)
        result = run_mbssa("decompose", "rotor")
        assert result.exit_code == 2, said
        assert result.stderr.startswith(said), said
        assert result.stderr.count("\n") == 1, said


def test_no_width_is_too_small_for_a_table(run_mbssa, monkeypatch):
    wide = run_mbssa("decompose", "planar_four_bar").stdout
    monkeypatch.setenv("COLUMNS", "0")
    assert run_mbssa("decompose", "planar_four_bar").stdout == wide
    monkeypatch.setenv("COLUMNS", "1")
    narrow = run_mbssa("decompose", "planar_four_bar").stdout
    assert "3R2D" in narrow
    assert max(map(len, narrow.splitlines())) <= 20


def test_a_word_of_thousands_of_characters_is_not_repeated_whole(run_mbssa):
    word = "a" * 5000
    for arguments in (("check", word), ("draw", "planar_four_bar", "--inputs", word)):
        done = run_mbssa(*arguments)
        assert done.exit_code == 2
        assert "characters)" in done.stderr
        assert len(done.stderr) < 1000


def test_the_program_alone_prints_its_help(run_mbssa):
    result = run_mbssa()
    assert result.exit_code == 0
    assert "Usage:" in result.stdout


def test_a_wrong_value_of_an_option_says_what_to_write(run_mbssa):
    for option, value, said in (
        ("--steps", "abc", "write a whole number"),
        ("--duration", "abc", "write a number"),
        ("--branch", "foo", "'foo' is not one of 'checked', 'proven', 'smooth'"),
    ):
        result = run_mbssa("solve", "planar_four_bar", option, value)
        assert result.exit_code == 2, option
        assert result.stderr.startswith(f"error: Invalid value for '{option}': {said}; see "), option
        assert result.stderr.endswith("mbssa solve --help\n"), option


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
class TestColours:
    """On a terminal, verdicts are green or red."""

    SCRIPT = (
        "import sys; from mbssa.cli import main\n"
        "for line in sys.argv[1:]:\n"
        "    sys.argv = ['mbssa', *line.split()]\n"
        "    try: main()\n"
        "    except SystemExit: pass"
    )

    def shown(self, *lines, **more):
        """Output of commands on a terminal."""
        import pty

        here, there = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200", **more}
        if "NO_COLOR" not in more:
            environment.pop("NO_COLOR", None)
        command = [sys.executable, "-c", self.SCRIPT, *lines]
        with subprocess.Popen(command, stdout=there, stderr=there, stdin=there, env=environment):
            os.close(there)
            found = b""
            try:
                while part := os.read(here, 65536):
                    found += part
            except OSError:  # the other end is closed
                pass
        os.close(here)
        return found.decode()

    def test_good_verdicts_are_green_and_bad_ones_and_errors_are_red(self, tmp_path):
        path = tmp_path / "loose.toml"
        path.write_text(LOOSE)
        text = self.shown("decompose planar_four_bar", f"check {path}", "decompose nothing.toml")
        assert "\x1b[32mdetermined: 2 structural groups" in text
        assert "\x1b[31mVerdict: cannot be solved" in text
        assert "\x1b[1;31merror:\x1b[0m" in text

    def test_no_color_is_respected(self):
        plain = self.shown("decompose planar_four_bar", NO_COLOR="1")
        assert "determined: 2 structural groups" in plain
        assert "\x1b[3" not in plain

    def test_a_pipe_has_none(self):
        done = process("decompose", "planar_four_bar", FORCE_COLOR="1", TERM="xterm-256color")
        assert "determined: 2" in done.stdout
        assert "\x1b" not in done.stdout
