"""``mbssa solve`` with workers, plans and checkpoints: which plan it takes, and what it refuses."""

from dataclasses import replace

import pytest

import groups
import mbssa
import routes
from groups.cli.running import Request
from routes.calibration import costs
from routes.cli.solve import runner

ROTOR = groups.build(mbssa.decompose(mbssa.load("rotor")))
MOTION = groups.default_motion(ROTOR.mechanism, steps=3000)
BLANK = Request(None, None, None, None, False)


@pytest.fixture
def plan_file(tmp_path):
    plan = routes.plan_of(
        ROTOR, routes.parallel_route(ROTOR), instants=3000, chunks=3, executor="threads", workers=2
    )
    plan.save(tmp_path / "plan.json")
    return tmp_path / "plan.json"


@pytest.fixture
def empty_store(monkeypatch, tmp_path):
    monkeypatch.setenv("MBSSA_STORE", str(tmp_path / "store.sqlite"))


def options(motion=MOTION, **request):
    return runner(replace(BLANK, **request), ROTOR, motion, "acceleration")


def test_without_costs_a_default_that_says_so(empty_store):
    found = options(workers=2)
    assert (found.plan.executor, found.plan.workers, found.plan.chunks) == ("threads", 2, 4)
    assert "a default: " in found.how


@pytest.mark.slow
def test_costs_of_another_length_are_better_than_none(empty_store):
    costs(ROTOR, groups.default_motion(ROTOR.mechanism, steps=500), executors=["threads"], workers=2)
    assert "predicted fastest" in options(workers=2).how


def test_a_named_executor_is_used(empty_store):
    costs(ROTOR, MOTION, executors=["threads"], workers=2)
    one = groups.default_motion(ROTOR.mechanism, steps=600)
    named = options(one, workers=2, executor="threads")
    assert named.plan.executor == "threads"


def test_a_plan_may_be_run_by_others(plan_file):
    for request_, executor, workers in [
        ({}, "threads", 2),
        ({"executor": "processes"}, "processes", 2),
        ({"workers": 5}, "threads", 5),
        ({"executor": "processes", "workers": 3}, "processes", 3),
    ]:
        found = options(plan=plan_file, **request_).plan
        assert (found.executor, found.workers) == (executor, workers), request_
        assert found.stages == routes.Plan.load(plan_file).stages, request_


def test_a_sequential_plan_on_two_workers_is_run_by_threads(tmp_path):
    plan = routes.plan_of(ROTOR, routes.sequential_route(ROTOR), instants=3000, chunks=4)
    plan.save(tmp_path / "one.json")
    assert options(plan=tmp_path / "one.json", workers=2).plan.executor == "threads"


def test_under_mpiexec_ranks_run_a_plan(plan_file, monkeypatch):
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setenv("PMI_SIZE", "4")
    found = options(plan=plan_file).plan
    assert (found.executor, found.workers) == ("mpi", 4)
    assert options(executor="mpi").plan.chunks == 4
    with pytest.raises(ValueError, match=r"launcher .* executor mpi"):
        options(executor="threads")


def test_under_mpiexec_nothing_is_studied(run_mbssa, monkeypatch):
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setenv("PMI_SIZE", "2")
    done = run_mbssa("routes", "rotor")
    assert done.exit_code == 2
    assert "start it without mpiexec" in done.stderr


def test_faults_of_a_plan_name_its_file(plan_file):
    other = groups.build(mbssa.decompose(mbssa.load("nine_bar")))
    with pytest.raises(ValueError, match=r"plan\.json: .* fit"):
        runner(replace(BLANK, plan=plan_file), other, MOTION, "position")
    text = plan_file.read_text().replace('"threads"', '"gremlins"')
    plan_file.write_text(text)
    with pytest.raises(ValueError, match=r"plan\.json: no executor 'gremlins'"):
        options(plan=plan_file)


def test_resume_goes_on_from_a_checkpoint_only():
    with pytest.raises(ValueError, match="write --checkpoint FOLDER too"):
        options(resume=True)


def test_a_checkpoint_is_cut_finely_and_resumed_by_others(tmp_path, empty_store):
    first = options(workers=2, checkpoint=tmp_path / "run")
    assert first.plan.chunks > 4
    part = first(MOTION, progress=lambda share: share < 0.3)
    assert (part.status == 8).any()
    second = options(workers=1, checkpoint=tmp_path / "run", resume=True)
    assert second.plan.executor == "sequential"
    assert second.plan.chunk == first.plan.chunk
    assert second(MOTION).ok
    with pytest.raises(ValueError, match="keeps a run of rotor at 3,000 instants; name another folder"):
        options(groups.default_motion(ROTOR.mechanism, steps=99), checkpoint=tmp_path / "run", resume=True)


def test_the_command_says_by_which_plan(run_mbssa, plan_file, tmp_path):
    done = run_mbssa("solve", "rotor", "--steps", "3000", "--plan", str(plan_file))
    assert done.exit_code == 0
    assert "by the plan 1 > 2|3 > 4 > 5|6 > 7, 3 chunks of 1024, threads × 2" in done.stdout
    wrong = run_mbssa("solve", "rotor", "--steps", "99", "--plan", str(plan_file))
    assert wrong.exit_code == 2
    assert "3,000 instants" in wrong.stderr
