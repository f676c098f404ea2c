"""Studies: what is tried, what is said of it, and what the fastest plan gives."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from plans import model_of

import groups
import routes
from routes.cost import made_up
from routes.executors import ExecutorCosts
from routes.plan_candidates import KINDS, candidates
from routes.reports.study import record, short, study_report, verdict
from routes.study import of_length

STEWART = model_of("stewart_inverse")
MOTION = groups.default_motion(STEWART.mechanism, steps=640)


@pytest.fixture(scope="module")
def found():
    return routes.study(STEWART, MOTION, workers=2, executors=["threads"], top=1, repeats=2)


def test_sequential_is_always_among_those_that_are_run(found):
    alone = found.sequential
    assert alone.plan.workers == 1
    assert alone.plan.stages == (((1, 2, 3, 4, 5, 6, 7),),)
    assert found.speed_up(alone) == 1.0
    assert len(alone.measured) == 2


def test_every_kind_is_predicted_and_its_best_is_run(found):
    kinds = {"sequential", "time chunks", "stages", "batched stages", "chunked stages"}
    assert kinds <= set(found.predicted) <= set(KINDS)
    assert {trial.kind for trial in found.trials} == set(found.predicted)
    assert found.routes == 32
    assert found.told_apart == 4683


def test_the_fastest_comes_first_and_gives_the_answer(found):
    seconds = [trial.seconds for trial in found.trials]
    assert seconds == sorted(seconds)
    assert found.best == found.trials[0].plan
    mine = routes.run(STEWART, found.best, MOTION)
    assert np.abs(mine.position - STEWART.solve(MOTION).position).max() < 1e-12


def test_what_was_run_kept_to_the_order_of_the_groups(found):
    for trial in found.trials:
        assert trial.log.faults(STEWART.needs) == []
        assert ((trial.idle >= 0) & (trial.idle <= 1)).all()
        assert (trial.idle < 1).any()
        assert len(trial.idle) == trial.plan.workers


def test_a_study_as_data(found):
    data = json.loads(json.dumps(record(found)))
    assert data["routes"] == 32
    assert [trial["kind"] for trial in data["trials"]] == [trial.kind for trial in found.trials]
    plan = routes.Plan.from_json(json.dumps(data["trials"][0]["plan"]))
    assert plan == found.best


def test_a_study_as_a_page(found):
    text = study_report(found).text()
    assert "32 routes" in text
    assert "4,683 told apart" in text
    for trial in found.trials:
        assert short(trial.plan).partition(",")[0] in text  # long plans are wrapped
    assert "Fastest: " in text
    html = found._repr_html_()
    assert all(f">{trial.kind}<" in html for trial in found.trials)
    assert "image/svg+xml" in html


def test_the_verdict_says_when_sequential_wins(found):
    slowest = max(found.trials, key=lambda trial: trial.seconds)
    assert slowest.kind != "sequential" or found.best.workers > 1
    text = " ".join(verdict(found))
    if found.trials[0].kind == "sequential":
        assert "sequential wins" in text
    else:
        assert "over sequential" in text


def test_one_worker_leaves_sequential_alone():
    alone = routes.study(STEWART, MOTION, workers=1, repeats=1)
    assert {trial.plan.workers for trial in alone.trials} == {1}
    assert alone.parallel is None
    assert "write --workers 2 or more" in " ".join(verdict(alone))


def test_a_motion_that_is_too_short_to_be_cut_says_so():
    model = model_of("planar_four_bar")
    found = routes.study(model, groups.default_motion(model.mechanism, steps=300), workers=2, repeats=1)
    assert found.parallel is None
    assert "write --steps 512" in " ".join(verdict(found))


def test_a_page_fits_its_screen(found):
    for width in [60, 80, 200]:
        from io import StringIO

        from rich.console import Console

        screen = StringIO()
        study_report(found).print_on(Console(file=screen, width=width))
        lines = screen.getvalue().splitlines()
        assert max(map(len, lines)) <= width, width
        threads = sum(trial.plan.executor == "threads" for trial in found.trials)
        assert sum(" threads" in line for line in lines) >= threads or width < 200, width
        for trial in found.trials:
            assert trial.kind in screen.getvalue(), width


def test_less_than_one_is_refused():
    for name in ["workers", "top", "repeats"]:
        with pytest.raises(ValueError, match=f"{name} is 0"):
            routes.study(STEWART, MOTION, **{name: 0})


def test_no_such_executor_is_refused():
    with pytest.raises(ValueError, match="magic"):
        routes.study(STEWART, MOTION, executors=["magic"])


def plans(model, workers, solvers=None, executors=("threads",), instants=10_000):
    groups_there = model.structure.n_groups
    return list(
        candidates(
            model,
            instants,
            workers=workers,
            executors=executors,
            seconds=np.full(groups_there, 1e-3),
            stage=1e-5,
            call=1e-5,
            most=50,
            solvers=solvers or {},
        )
    )


def test_every_candidate_fits_its_model():
    for name, workers in itertools.product(["rotor", "stewart", "nine_bar"], [1, 2, 4]):
        model = model_of(name)
        found = plans(model, workers, executors=("threads", "processes"))
        for candidate in found:
            candidate.plan.check(model)
            assert candidate.plan.instants == 10_000, (workers, name)
            assert candidate.kind in KINDS, (workers, name)
        assert found[0].kind == "sequential", (workers, name)
        assert (len(found) > 1) == (workers > 1), (workers, name)


def test_cheaper_solvers_are_tried_alone_and_in_chunks():
    found = plans(model_of("rotor"), 2, solvers={4: "Newton"})
    with_others = [c for c in found if c.plan.solvers]
    assert {c.kind for c in with_others} == {"other solvers", "time chunks, other solvers"}
    assert all(dict(c.plan.solvers) == {4: "Newton"} for c in with_others)


def test_short_motions_are_not_cut():
    assert {c.plan.chunks for c in plans(STEWART, 2, instants=100)} == {1}


def test_a_plan_of_another_length_keeps_its_chunks():
    for instants in [32, 100, 5_000, 10**6]:
        plan = routes.plan_of(STEWART, routes.parallel_route(STEWART), instants=10_000, chunks=4)
        longer = of_length(plan, instants)
        longer.check(STEWART)
        assert longer.instants == instants, instants
        assert 1 <= longer.chunks <= min(4, instants // 32), instants


def test_parallel_pays_from_where_its_prediction_is_less():
    """Threads cost 1 ms, and halve 1 µs an instant: they pay from 2,000 instants on.

    Where they take so many times as long as predicted: 1.25 (1 + n / 2) < n from n = 3,333 (thousands) on.
    """
    nothing = ExecutorCosts(0.0, 0.0, 0.0, 0.0)
    threads = ExecutorCosts(1e-3, 0.0, 0.0, 0.0, ((1.0, 1.0), (2.0, 1.0)))
    costs = made_up([1e-3 / 7] * 7, instants=1000, executors={"sequential": nothing, "threads": threads})
    route = routes.sequential_route(STEWART)
    one = routes.plan_of(STEWART, route, instants=10_000)
    two = routes.plan_of(STEWART, route, instants=10_000, chunks=2, executor="threads", workers=2)
    long = groups.default_motion(STEWART.mechanism, steps=10_000)
    runs = [
        (kind, plan, routes.predict(STEWART, plan, costs), routes.logged_run(STEWART, plan, long).log)
        for kind, plan in (("time chunks", two), ("sequential", one))
    ]
    for slower, pays in ((1.0, 2000), (1.25, 3333), (2.0, None)):
        trials = tuple(
            routes.Trial(kind, plan, said, (said.seconds * (slower if plan is two else 1.0),), log)
            for kind, plan, said, log in runs
        )
        found = routes.Study(STEWART, long, 2, "acceleration", trials, 32, 4683, {}, costs)
        assert found.pays_from == (pays and pytest.approx(pays, abs=70)), slower


def disturbed(found, **seconds):
    """A study with other measured times, by kind; 9 s of the rest."""
    trials = [replace(trial, measured=seconds.get(trial.kind, (9.0,))) for trial in found.trials]
    return replace(found, trials=tuple(sorted(trials, key=lambda t: t.seconds)))


def test_times_are_the_least_that_were_measured(found):
    one = disturbed(found, sequential=(9.0, 8.0, 30.0), stages=(5.0, 4.0, 70.0))
    trial = next(t for t in one.trials if t.kind == "stages")
    assert (trial.seconds, one.sequential.seconds, one.speed_up(trial)) == (4.0, 8.0, 2.0)
    assert not one.is_doubtful(trial)


def test_a_speed_up_beyond_the_workers_is_doubted_where_the_solvers_are_the_same(found):
    one = disturbed(found, sequential=(4.36, 9.0), stages=(1.0, 1.1))
    trial = next(t for t in one.trials if t.kind == "stages")
    assert one.is_doubtful(trial)
    assert "4.36 is more than 2 workers can give" in " ".join(verdict(one))
    assert [t["doubtful"] for t in record(one)["trials"] if t["kind"] == "stages"] == [True]
    cheaper = replace(trial, plan=replace(trial.plan, solvers={2: "Newton"}))
    assert not one.is_doubtful(cheaper)


def test_every_choice_of_solvers_is_run_once_before_it_is_measured(monkeypatch):
    model = model_of("planar_four_bar")
    ran, costs = [], made_up([1e-3, 1e-3], instants=640)
    costs = replace(costs, alternatives={"2 Newton": (1e-4, 2e-4)})

    def logged(of, plan, *arguments, **options):
        ran.append(plan)
        return run(of, plan, *arguments, **options)

    run = routes.study.__globals__["logged_run"]
    monkeypatch.setitem(routes.study.__globals__, "logged_run", logged)
    monkeypatch.setitem(routes.study.__globals__, "calibrated", lambda *_, **__: costs)
    motion = groups.default_motion(model.mechanism, steps=640)
    found = routes.study(model, motion, workers=1, executors=[], top=1, repeats=1)
    assert sorted(map(str, ran)) == sorted(2 * [str(t.plan) for t in found.trials])
    assert [bool(plan.solvers) for plan in ran].count(True) == 2


def test_best_plan_goes_by_the_costs():
    nothing = ExecutorCosts(0.0, 0.0, 0.0, 0.0, ((1.0, 1.0), (2.0, 1.0)))
    dear = ExecutorCosts(10.0, 0.0, 0.0, 0.0)
    for threads, workers in ((nothing, 2), (dear, 1)):
        costs = made_up([1e-3] * 7, instants=640, executors={"sequential": nothing, "threads": threads})
        plan = routes.best_plan(STEWART, MOTION, workers=2, costs=costs)
        assert plan.workers == workers
    forced = routes.best_plan(STEWART, MOTION, workers=2, costs=costs, parallel=True)
    assert forced.workers == 2


def test_ranks_are_not_studied_from_one_process():
    with pytest.raises(ValueError, match="executor mpi: "):
        routes.study(STEWART, MOTION, executors=["threads", "mpi"])


def test_a_store_that_cannot_be_read_does_not_prevent_a_solution(run_mbssa, tmp_path, monkeypatch):
    path = tmp_path / "store.sqlite"
    path.write_text("this is no store" * 100)
    monkeypatch.setenv("MBSSA_STORE", str(path))
    done = run_mbssa("solve", "rotor", "--workers", "2")
    assert done.exit_code == 0
    assert "a default: " in done.stdout
    calls = run_mbssa("routes", "rotor", "--steps", "500")
    assert calls.exit_code == 2
    assert "MBSSA_STORE" in calls.stderr


def test_sequential_is_no_parallel_executor():
    found = routes.study(STEWART, MOTION, workers=2, executors=["sequential"], repeats=1)
    assert {trial.plan.workers for trial in found.trials} == {1}
    assert found.parallel is None


def test_routes_that_cannot_be_searched_leave_the_one_by_levels(monkeypatch):
    def refuse(*_arguments, **_options):
        raise routes.TooLarge("too many turns")

    monkeypatch.setattr("routes.plan_candidates.best_first", refuse)
    kinds = {candidate.kind for candidate in plans(STEWART, 2)}
    assert {"stages", "time chunks"} <= kinds


def test_another_solver_has_to_save_enough():
    """Half of its own group's time, but not a twentieth, and not where that group hardly counts."""
    for newton, others, chosen in [(0.5, 1.0, {4: "Newton"}), (0.95, 1.0, {}), (0.5, 100.0, {})]:
        from dataclasses import replace

        from routes.study import _cheaper

        seconds = [others] * 7
        seconds[3] = 1.0
        costs = made_up(seconds, instants=1000)
        costs = replace(costs, alternatives={"4 Newton": (newton, 2.0 * newton)})
        assert _cheaper(1000, costs) == chosen, (newton, others)
