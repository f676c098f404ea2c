"""A model file is data: no command, and no call, runs code that it names unless it is trusted."""

import pickle

import pytest

import groups
import mbssa
from mbssa.io.models import rope_hoist
from mbssa.trust import VARIABLE

#: Every command that takes a model, with what makes it take the model apart or solve it.
COMMANDS = {
    "decompose": [], "check": [], "loops": ["--compare"], "cams": [], "transform": [], "partition": [],
    "solve": ["--no-compiled", "--steps", "2"], "solvers": [], "modes": [], "routes": ["--steps", "2"],
    "sweep": ["--grid", "1-2.slide=0:1:2", "--store", "cases", "--executor", "sequential"],
    "convert": ["copy.toml"],
}  # fmt: skip

#: Those that need no equations of the joint.
BY_NUMBER = ("decompose", "check", "loops", "transform")


@pytest.fixture(params=[".toml", ".npz"])
def own(request, tmp_path, monkeypatch):
    """The rope hoist by a function of a file that leaves a mark where it is imported."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    code = "from mbssa.io.models.rope_hoist import rope\nopen('mark', 'w').close()\n"
    (tmp_path / "own.py").write_text(code)
    mbssa.save(mbssa.load("rope_hoist"), tmp_path / "hoist.toml")
    text = (tmp_path / "hoist.toml").read_text()
    (tmp_path / "hoist.toml").write_text(text.replace("mbssa.io.models.rope_hoist:", "own.py:"))
    path = tmp_path / f"hoist{request.param}"
    if path.suffix == ".npz":
        mbssa.save(mbssa.load(tmp_path / "hoist.toml"), path)
    return path


def test_no_command_imports_what_a_model_names(run_mbssa, own):
    for command in COMMANDS:
        done = run_mbssa(command, str(own), *COMMANDS[command])
        assert not own.with_name("mark").exists(), command
        assert "Traceback" not in done.stderr, command
        if command in BY_NUMBER:
            assert done.exit_code == (1 if command == "loops" else 0), command
            assert "counts by its number of equations" in " ".join((done.stdout + done.stderr).split()), (
                command
            )
        if command not in ("cams", "convert"):
            said = " ".join((done.stdout + done.stderr).split())
            assert f"rope ({own.with_name('own.py')}:rope)" in said, command
            assert "--trust" in said, command


@pytest.mark.parametrize(
    ("command", "how"),
    [("check", "option"), ("solve", "option"), ("partition", "option"), ("solve", "environment")],
)
def test_what_is_trusted_runs(run_mbssa, own, command, how, monkeypatch):
    if how == "environment":
        monkeypatch.setenv(VARIABLE, "1")
    done = run_mbssa(command, str(own), *COMMANDS[command], *(["--trust"] if how == "option" else []))
    assert (done.exit_code, "is not run" in done.stdout + done.stderr) == (0, False)
    assert own.with_name("mark").exists()


def test_the_option_is_for_one_run(run_mbssa, own):
    run_mbssa("decompose", str(own), "--trust")
    own.with_name("mark").unlink()
    run_mbssa("decompose", str(own))
    assert not own.with_name("mark").exists()


def test_from_python(own):
    plain = mbssa.load(own)
    assert [group.bodies for group in mbssa.decompose(plain).groups] == [
        group.bodies for group in mbssa.decompose(mbssa.load("rope_hoist")).groups
    ]
    assert mbssa.check(plain).numeric is None
    with pytest.raises(ValueError, match=r"is not run, at rope \(.*trust=True"):
        groups.build(mbssa.decompose(plain))
    assert not own.with_name("mark").exists()
    trusted = mbssa.load(own, trust=True)
    assert pickle.loads(pickle.dumps(trusted)).has_geometry
    assert groups.build(mbssa.decompose(trusted)).solve(compiled=False).ok


def test_functions_in_python_and_built_in_models_need_no_trust(own):
    given = mbssa.load(own, functions={"rope": rope_hoist.rope})
    assert given.has_geometry
    assert mbssa.load("rope_hoist").has_geometry
    assert not own.with_name("mark").exists()
