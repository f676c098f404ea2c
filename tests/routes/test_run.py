"""Runs of plans: the answer of the model itself, whatever the plan; what is refused; what is kept."""

from dataclasses import replace
from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from plans import ARRAYS, bits, motion_of

import groups
import mbssa
import routes
from groups.engine.solve import Solving
from mbssa.mechanism import JointGeometry
from routes.plan import Plan, parallel_route, plan_of, sequential_route
from routes.run import logged_run

#: Closed forms, one group before many alike, and Newton.
NAMES = ("rotor", "stewart_inverse", "nine_bar by Newton")
INSTANTS = 192


@cache
def model_of(name):
    name, _, newton = name.partition(" by ")
    return groups.build(mbssa.decompose(mbssa.load(name)), {6: newton} if newton else {})


def test_one_call_in_one_chunk_or_many_is_the_model_itself():
    for name, level in product(NAMES, ["position", "velocity", "acceleration"]):
        model = model_of(name)
        motion = motion_of(model, INSTANTS)
        theirs = model.solve(motion, level=level)
        for chunks in (1, 3):
            plan = plan_of(model, sequential_route(model), instants=INSTANTS, chunks=chunks)
            mine = routes.run(model, plan, motion, level=level)
            assert plan.chunks == chunks
            for array in ARRAYS:
                a, b = getattr(mine, array), getattr(theirs, array)
                assert (a is None and b is None) or a.tobytes() == b.tobytes(), (name, level, chunks, array)


def test_every_route_gives_the_answer_of_the_model():
    for name in NAMES:
        model = model_of(name)
        motion = motion_of(model, INSTANTS)
        theirs = model.solve(motion)
        size = model.frames.size
        for batch in (False, True):
            case = name, batch
            plan = plan_of(model, parallel_route(model), instants=INSTANTS, chunks=4, batch=batch, workers=2)
            mine = routes.run(model, plan, motion)
            assert mine.ok, case
            assert np.abs(mine.position - theirs.position).max() < 1e-10 * size, case
            assert np.abs(mine.orientation - theirs.orientation).max() < 1e-10, case
            for array in ("velocity", "acceleration"):
                a, b = getattr(mine, array), getattr(theirs, array)
                assert np.abs(a - b).max() < 1e-9 * np.abs(b).max(), (*case, array)


def test_kept_bodies_are_those_of_the_whole():
    for name in ["rotor", "nine_bar"]:
        model = model_of(name)
        motion = motion_of(model, INSTANTS)
        plan = plan_of(
            model, parallel_route(model), instants=INSTANTS, chunks=3, executor="threads", workers=2
        )
        whole = routes.run(model, plan, motion)
        some = routes.run(model, plan, motion, bodies=[1, 4, 7])
        assert some.kept.tolist() == [0, 3, 6], name
        for array in ARRAYS[:4]:
            assert getattr(some, array).tobytes() == getattr(whole, array)[:, [0, 3, 6]].tobytes(), name


def test_modes_reach_every_chunk():
    model = model_of("rotor")
    other = groups.modes(model, 6)
    number = next(k for k in range(1, 1 + len(other.modes)) if k != other.reference)
    motion = motion_of(model, INSTANTS)
    theirs = model.solve(motion, modes={6: number})
    plan = plan_of(model, parallel_route(model), instants=INSTANTS, chunks=3)
    mine = routes.run(model, plan, motion, modes={6: number})
    np.testing.assert_array_equal(mine.status, theirs.status)
    np.testing.assert_allclose(mine.position, theirs.position, rtol=0.0, atol=1e-9)
    assert np.nanmax(np.abs(mine.position - model.solve(motion).position)) > 1e-3


def test_the_log_reads_as_the_groups_need():
    model = model_of("rotor")
    motion = motion_of(model, INSTANTS)
    plan = plan_of(model, parallel_route(model), instants=INSTANTS, chunks=6, executor="threads", workers=3)
    outcome = logged_run(model, plan, motion)
    assert outcome.log.faults(model.needs) == []
    assert 0 < outcome.log.schedule().makespan < outcome.seconds


def test_out_of_reach_is_the_same_fault_in_every_plan():
    model = model_of("nine_bar")
    inputs = model.reference_inputs
    laws = {name: groups.ramp(value, value + 4.0, 0.0, 1.0) for name, value in inputs.items()}
    motion = groups.sample(model.mechanism, laws, np.linspace(0.0, 1.0, INSTANTS))
    theirs = model.solve(motion)
    assert not theirs.ok
    plan = plan_of(model, parallel_route(model), instants=INSTANTS, chunks=4)
    mine = routes.run(model, plan, motion)
    assert (mine.status == theirs.status).all()
    assert mine.faults() == theirs.faults()


def test_a_plan_of_another_length_is_refused():
    model = model_of("rotor")
    plan = plan_of(model, sequential_route(model), instants=100)
    with pytest.raises(ValueError, match=r"100 .* 192"):
        routes.run(model, plan, motion_of(model, INSTANTS))


def test_a_plan_of_another_model_is_refused():
    plan = plan_of(model_of("rotor"), sequential_route(model_of("rotor")), instants=INSTANTS)
    model = model_of("nine_bar")
    with pytest.raises(ValueError, match="no group 7"):
        routes.run(model, plan, motion_of(model, INSTANTS))


def test_a_stopped_run_has_the_results_of_finished_tasks():
    model = model_of("rotor")
    motion = motion_of(model, INSTANTS)
    for executor in ("sequential", "threads"):
        plan = plan_of(
            model, parallel_route(model), instants=INSTANTS, chunks=5, executor=executor, workers=2
        )
        whole = routes.run(model, plan, motion)
        part = routes.run(model, plan, motion, progress=lambda share: share < 0.5)
        missing = part.status == 8
        assert 0 < missing.mean() < 1
        for g, group in enumerate(model.structure.groups):
            rows = group.body_indices
            found = ~missing[:, g]
            assert np.isnan(part.position[missing[:, g]][:, rows]).all()
            assert (part.position[found][:, rows] == whole.position[found][:, rows]).all()
        assert (part.position[:, 0] == whole.position[:, 0]).all()


def test_progress_goes_from_nothing_to_all():
    model = model_of("stewart_inverse")
    for workers in (1, 2, 5):
        reports = []
        plan = plan_of(
            model, parallel_route(model), instants=128, chunks=4, executor="threads", workers=workers
        )
        routes.run(model, plan, motion_of(model, 128), progress=reports.append)
        assert reports == sorted(reports), workers
        assert reports[-1] == pytest.approx(1.0, abs=1e-14), workers  # a sum of shares


def test_a_failure_names_groups_instants_and_cause(monkeypatch):
    model, instants = model_of("rotor"), 160
    motion = motion_of(model, instants)
    solve = Solving.advance

    def failing(self, first, stop, part=None):
        if part is not None and 3 in part and first >= 64:
            raise MemoryError("no room")
        solve(self, first, stop, part)

    monkeypatch.setattr(Solving, "advance", failing)
    for executor in ("sequential", "threads"):
        plan = plan_of(
            model, parallel_route(model), instants=instants, chunks=5, executor=executor, workers=2
        )
        with pytest.raises(
            routes.TaskError, match=r"SG-4 .*chunk [345] of 5 \(instants \d+ to \d+\): MemoryError: no room"
        ) as error:
            routes.run(model, plan, motion)
        found = error.value.trajectory
        assert (found.status[:32, 3] == 0).all()
        assert (found.status[64:, 3] == 8).all()


def test_kept_bodies_of_a_model_with_a_global_solver():
    """The global approach reads bodies from the arrays that nobody has asked for."""
    structure = model_of("nine_bar").structure
    model = groups.build(structure, solvers={6: "global dense"})
    motion = motion_of(model, 96)
    mine = [int(body) + 1 for body in structure.groups[5].body_indices]
    theirs = model.solve(motion, bodies=mine)
    for executor, route in product(["sequential", "threads"], [sequential_route, parallel_route]):
        case = executor, route.__name__
        plan = plan_of(model, route(model), instants=96, chunks=3, executor=executor, workers=2)
        found = routes.run(model, plan, motion, bodies=mine)
        assert found.ok, case
        assert np.abs(found.position - theirs.position).max() < 1e-9, case


def test_solvers_of_a_plan_come_beside_those_of_the_model():
    """Newton counts its steps; a closed form takes none."""
    model = groups.build(model_of("rotor").structure, solvers={7: "Newton"})
    motion = motion_of(model, 100)
    plan = plan_of(model, sequential_route(model), instants=100, solvers={6: "Newton"})
    steps = routes.run(model, plan, motion).iterations.max(axis=0)
    assert steps[5] > 0
    assert steps[6] > 0
    assert steps[4] == 0


@pytest.mark.slow
def test_a_failure_stops_the_other_threads_in_the_middle(monkeypatch):
    from groups.engine.solve import Solving

    model = model_of("rotor")
    instants = 200_000
    motion = motion_of(model, instants)
    solve, reached = Solving.advance, []

    def failing(self, first, stop, which=None):
        if first >= instants // 2:
            raise MemoryError("no room")
        reached.append(stop)
        solve(self, first, stop, which)

    monkeypatch.setattr(Solving, "advance", failing)
    plan = plan_of(model, sequential_route(model), instants=instants, chunks=2, executor="threads", workers=2)
    with pytest.raises(routes.TaskError, match="chunk 2 of 2"):
        routes.run(model, plan, motion, bodies=[1])
    assert max(reached) < instants // 2


def test_a_changed_result_does_not_change_its_checkpoint(tmp_path):
    model = model_of("rotor")
    motion = motion_of(model, 100)
    plan = plan_of(model, sequential_route(model), instants=100, chunks=2)
    found = routes.run(model, plan, motion, checkpoint=tmp_path / "run")
    found.position[:] = 7.0
    again = routes.run(model, plan, motion, checkpoint=tmp_path / "run", resume=True)
    assert bits(again) == bits(model.solve(motion))


def test_a_checkpoint_of_other_solvers_is_not_resumed(tmp_path):
    structure = model_of("rotor").structure
    motion = groups.default_motion(structure.mechanism, steps=64)
    dense, sparse = (groups.build(structure, solvers={3: f"global {how}"}) for how in ("dense", "sparse"))
    plan = plan_of(dense, sequential_route(dense), instants=64)
    routes.run(dense, plan, motion, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match=r"another run \(other solvers\)"):
        routes.run(sparse, plan, motion, checkpoint=tmp_path / "run", resume=True)


def test_bad_arguments_are_refused_by_name():
    model = model_of("rotor")
    motion = motion_of(model, 50)
    plan = plan_of(model, sequential_route(model), instants=50)
    with pytest.raises(ValueError, match="no level 'speed'"):
        routes.run(model, plan, motion, level="speed")
    with pytest.raises(TypeError, match="not a str"):
        routes.run(model, plan, "motion.csv")
    with pytest.raises(ValueError, match=r"chunks is 0.*workers is -1"):
        plan_of(model, sequential_route(model), instants=50, chunks=0, workers=-1)


def test_a_dead_point_between_two_chunks_is_seen():
    """A parallelogram is flat at a quarter and three quarters of this turn: at instants 128 and 384."""
    hinges = [(0.0, 0.0), (0.0, 1.0), (2.0, 1.0), (2.0, 0.0)]
    bare = mbssa.from_pairs(4, [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0)], "planar")
    geometry = {k: JointGeometry(point=point, axis=None) for k, point in enumerate(hinges)}
    model = groups.build(mbssa.decompose(replace(bare, joint_geometry=geometry)))
    (name,) = model.reference_inputs
    motion = groups.sample(model.mechanism, {name: groups.speed(2 * np.pi)}, np.linspace(0.0, 1.0, 512))
    whole = np.flatnonzero((model.solve(motion).status != 0).any(axis=1))
    assert whole.tolist() == [128, 384]
    for chunk in (32, 64, 96, 128, 384):
        found = routes.run(model, Plan((((1, 2),),), 512, chunk), motion)
        assert np.flatnonzero((found.status != 0).any(axis=1)).tolist() == [128, 384], chunk


@pytest.mark.slow
def test_after_a_gap_chunks_go_on_as_one_run_does():
    """The rotor's inputs leave what it can reach, and come back: which branch it is on then is a choice."""
    model = model_of("rotor")
    laws = {
        name: lambda t, a=amplitude, f=frequency, v=value: v + a * np.sin(2 * np.pi * f * t)
        for (name, value), amplitude, frequency in zip(
            model.reference_inputs.items(), (0.9, 1.1, 0.8), (2.0, 3.0, 1.0), strict=True
        )
    }
    motion = groups.sample(model.mechanism, laws, np.linspace(0.0, 1.0, 1601))
    theirs = model.solve(motion)
    assert 0.02 < (theirs.status != 0).mean() < 0.9
    for executor, chunks in (("sequential", 3), ("threads", 7)):
        plan = plan_of(
            model, sequential_route(model), instants=1601, chunks=chunks, executor=executor, workers=2
        )
        mine = routes.run(model, plan, motion)
        assert (mine.status == theirs.status).all(), chunks
        assert np.nanmax(np.abs(mine.position - theirs.position)) < 1e-9, chunks


def test_inputs_that_jump_between_two_chunks_are_no_fault():
    """Only where the coarse pass has been elsewhere is a beginning astray, not where rates say nothing."""
    model = model_of("planar_four_bar")
    time = np.linspace(0.0, 1.0, 512)
    for kink in (127.01, 127.5, 127.99):
        (name,), (start,) = zip(*model.reference_inputs.items(), strict=True)
        value = start + 0.3 * np.where(time < time[1] * kink, time, 2.0 * kink * time[1] - time)
        still = np.zeros((1, 512))
        motion = groups.Motion(time, (name,), value[None], still, still)
        plan = plan_of(model, sequential_route(model), instants=512, chunks=4)
        assert model.solve(motion).ok, kink
        assert routes.run(model, plan, motion).ok, kink


def test_two_runs_do_not_share_a_checkpoint(tmp_path):
    from routes.lock import locked

    model = model_of("rotor")
    motion = motion_of(model, 100)
    plan = plan_of(model, sequential_route(model), instants=100, chunks=2)
    routes.run(model, plan, motion, checkpoint=tmp_path / "run", progress=lambda share: share < 0.4)
    with locked(tmp_path / "run"), pytest.raises(ValueError, match="another run"):
        routes.run(model, plan, motion, checkpoint=tmp_path / "run", resume=True)
    assert routes.run(model, plan, motion, checkpoint=tmp_path / "run", resume=True).ok


@pytest.mark.parametrize(("name", "steps"), [("rotor", 37), ("theo_jansen", 5)])
def test_steps_of_a_plan_are_divided_for_their_proof_by_machine_code(name, steps):
    model = model_of(name)
    motion = motion_of(model, steps)
    plan = plan_of(model, model.structure.levels, instants=steps, executor="sequential")
    found, whole = (run(motion, compiled=True) for run in (partial(routes.run, model, plan), model.solve))
    assert found.proof.tolist() == whole.proof.tolist()
    np.testing.assert_array_equal(found.position, whole.position)
