"""Plans: what fits a model, what is said of what does not, files, and the tasks that follow."""

import itertools
import json

import numpy as np
import pytest
from plans import model_of

from routes.plan import Plan, parallel_route, plan_of, sequential_route
from routes.tasks import tasks_of

STEWART = model_of("stewart_inverse")
ROTOR = model_of("rotor")


def test_what_has_nothing_beside_it_is_one_call():
    plan = plan_of(ROTOR, sequential_route(ROTOR), instants=100)
    assert plan.stages == (((1, 2, 3, 4, 5, 6, 7),),)
    split = plan_of(STEWART, [(1,), (2,), (3, 4), (5,), (6,), (7,)], instants=100)
    assert split.stages == (((1, 2),), ((3,), (4,)), ((5, 6, 7),))


def test_a_call_gives_its_groups_one_after_another():
    route = ((1,), (2, 3, 4, 5, 6, 7))
    assert plan_of(STEWART, route, instants=100).route == route
    assert parallel_route(STEWART) == route


def test_batches_share_equal_groups_evenly():
    for workers in [1, 2, 3, 4, 6, 9]:
        plan = plan_of(STEWART, parallel_route(STEWART), instants=100, workers=workers, batch=True)
        legs = sorted(g for stage in plan.stages for call in stage for g in call if g > 1)
        assert legs == [2, 3, 4, 5, 6, 7], workers
        if workers > 1:
            sizes = [len(call) for call in plan.stages[-1]]
            assert len(sizes) == min(workers, 6), workers
            assert max(sizes) - min(sizes) <= 1, workers


def test_chunks_cover_every_instant_once():
    for chunks, instants in itertools.product([1, 2, 3, 7, 31, 1000], [1, 31, 32, 33, 1000]):
        plan = plan_of(STEWART, parallel_route(STEWART), instants=instants, chunks=chunks)
        bounds = tasks_of(plan, STEWART).bounds
        assert bounds[0] == 0, (instants, chunks)
        assert bounds[-1] == instants, (instants, chunks)
        assert (np.diff(bounds) > 0).all(), (instants, chunks)
        assert (bounds[:-1] % 32 == 0).all(), (instants, chunks)
        assert len(bounds) - 1 == plan.chunks <= chunks, (instants, chunks)


def test_a_plan_that_does_not_fit_says_where():
    for stages, message in [
        ((((2,),), ((1,),)), "needs group 1, which is not solved before it"),
        ((((1,), (2,)),), "needs group 1, which is not solved before it"),
        ((((2, 1),),), "needs group 1, which is not solved before it"),
        ((((1,),), ((2,), (2,))), "group 2 is a duplicate"),
        ((((1, 99),),), "there is no group 99; the groups are 1 to 7"),
        ((((1,),),), "no stage has group 2, 3, 4, 5, 6, 7"),
    ]:
        named = {g for stage in stages for call in stage for g in call}
        if message.startswith("needs"):
            stages = (*stages, tuple((g,) for g in range(1, 8) if g not in named))
        with pytest.raises(ValueError, match=message.replace("(", "\\(")):
            Plan(stages, 100, 128).check(STEWART)


def test_all_faults_at_once():
    with pytest.raises(ValueError, match=r"chunk is 100.*wait is 'soon'.*no stage has group 7"):
        Plan((((1, 2, 3, 4, 5, 6),),), 1000, 100, wait="soon").check(STEWART)


def test_a_plan_is_data(tmp_path):
    plan = plan_of(
        STEWART,
        parallel_route(STEWART),
        instants=1000,
        chunks=3,
        wait="stage",
        executor="threads",
        workers=2,
        batch=True,
        solvers={2: "Newton"},
    )
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json") == plan
    older = json.loads(plan.to_json()) | {"start": "carried"}
    assert Plan.from_json(json.dumps(older)) == plan


def test_a_file_that_is_no_plan_says_what_is_wrong(tmp_path):
    for change, message in [
        ({"format": 2}, '"format": 1'),
        ({"chunk": "many"}, "chunk: "),
        ({"stages": [[1, 2]]}, "stages.0.0: "),
        ({"speed": 1}, "there is no field speed"),
        ({"workers": 0}, "workers is 0; write 1 or more"),
        ({"wait": "long"}, "wait: "),
    ]:
        record = json.loads(plan_of(STEWART, parallel_route(STEWART), instants=1000).to_json()) | change
        path = tmp_path / "plan.json"
        path.write_text(json.dumps(record))
        with pytest.raises(ValueError, match=message) as error:
            Plan.load(path)
        assert str(error.value).startswith(f"{path}: "), change


def test_a_file_that_is_no_json(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text("1 > 2")
    with pytest.raises(ValueError, match=r"no JSON.*mbssa routes MODEL --save"):
        Plan.load(path)


def test_tasks_wait_for_what_they_need_and_for_nothing_later():
    for wait, name in itertools.product(["stage", "needs"], ["rotor", "nine_bar", "stewart_inverse"]):
        model = model_of(name)
        plan = plan_of(model, parallel_route(model), instants=400, chunks=4, wait=wait)
        tasks = tasks_of(plan, model)
        calls = len(tasks.calls)
        assert len(tasks) == calls * plan.chunks, (name, wait)
        holder = {g: k for k, call in enumerate(tasks.calls) for g in call}
        for task in range(len(tasks)):
            chunk, call = tasks.place(task)
            before = tasks.before(task).tolist()
            assert all(need < task for need in before), (name, wait)
            reached, todo = set(), list(before)
            while todo:
                need = todo.pop()
                if need not in reached:
                    reached.add(need)
                    todo += tasks.before(need).tolist()
            for g in tasks.calls[call]:
                for needed in model.needs[g]:
                    assert holder[needed] == call or chunk * calls + holder[needed] in reached, (name, wait)
            assert all(need // calls == chunk for need in reached), (name, wait)
            if wait == "stage":
                assert {
                    chunk * calls + k for k in range(calls) if tasks.stage[k] < tasks.stage[call]
                } <= reached, (name, wait)
