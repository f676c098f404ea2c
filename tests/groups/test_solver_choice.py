"""Solvers that are asked for: every one gives the default's answer, in its mode, and says where it cannot."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
from groups.motion import default_motion
from groups.setting import Setting
from groups.solvers.registry import SOLVERS
from groups.status import BRANCH_JUMP, NOT_CONVERGED, OUT_OF_REACH, PREDECESSOR_FAILED, SINGULAR

#: One model of each kind of joint and of solver.
MODELS = ["planar_four_bar", "cam_roller", "planetary", "rotor", "stewart", "bennett"]

LEVELS = ("position", "orientation", "velocity", "acceleration")
CHOICES = ("closed form", "Newton", "global dense", "global sparse")
NO_ANSWER = (NOT_CONVERGED, SINGULAR, OUT_OF_REACH, BRANCH_JUMP)


def by(structure, name):
    """A model of which every group has the solver of this name, if it can."""
    default = groups.build(structure)
    numbers = [g for g in range(1, structure.n_groups + 1) if name in groups.solvers_of(default, g)]
    return groups.build(structure, dict.fromkeys(numbers, name)), numbers


def assert_same(one, two, within=1e-9):
    """Two trajectories have the same answer, each level by its own largest number, and fail together."""
    assert (np.isnan(one.position) == np.isnan(two.position)).all()
    for level in LEVELS:
        a, b = getattr(one, level), getattr(two, level)
        assert (a is None) == (b is None)
        if a is not None:
            assert np.nanmax(np.abs(a - b)) <= within * max(1.0, np.nanmax(np.abs(b)))


# --- the same answer ---------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", CHOICES[1:])
@pytest.mark.parametrize("name", MODELS)
def test_every_solver_gives_the_answer_of_the_default(name, choice):
    structure = mbssa.decompose(mbssa.load(name))
    model, numbers = by(structure, choice)
    for number in numbers:
        assert model.solvers[number - 1].choice == choice
    half = 0.5 * structure.mechanism.motion.duration
    motion = default_motion(structure.mechanism, steps=7, duration=half)
    answer = model.solve(motion, compiled=False)
    default = groups.build(structure).solve(motion, compiled=False)
    assert default.ok
    assert answer.ok, answer.faults()
    assert_same(answer, default)
    assert answer.residual.max() < 1e-9


def test_levels_leave_out_what_was_not_asked_for():
    structure = mbssa.decompose(mbssa.load("spatial_four_bar"))
    motion = default_motion(structure.mechanism, steps=7)
    for choice in CHOICES[1:]:
        model, _ = by(structure, choice)
        for level in ("position", "velocity"):
            part = model.solve(motion, level=level, compiled=False)
            assert part.acceleration is None
            assert_same(part, groups.build(structure).solve(motion, level=level, compiled=False))


def test_one_group_between_others_reads_and_hands_on():
    """The rotor with one group in the middle by each solver: what is below it has the same answer."""
    structure = mbssa.decompose(mbssa.load("rotor"))
    motion = default_motion(structure.mechanism, steps=9)
    default = groups.build(structure).solve(motion, compiled=False)
    for choice in CHOICES[1:]:
        model = groups.build(structure, {4: choice})
        assert [solver.choice for solver in model.solvers].count(choice) == 1
        answer = model.solve(motion, compiled=False)
        assert_same(answer, default)
        kept = model.solve(motion, bodies=[12, 5], compiled=False)
        assert (kept.position == answer.position[:, [4, 11]]).all()


@pytest.mark.parametrize("choice", CHOICES[1:])
@pytest.mark.parametrize("name", ["planar_four_bar", "spatial_four_bar"])
def test_a_motion_may_start_away_from_the_reference_and_be_coarse(name, choice):
    """Ten instants over a motion that begins in its middle: the mode of the reference is found and kept."""
    structure = mbssa.decompose(mbssa.load(name))
    model, _ = by(structure, choice)
    fine = default_motion(structure.mechanism, steps=121)
    every = np.arange(40, 121, 8)
    motion = groups.from_arrays(
        structure.mechanism,
        fine.time[every],
        dict(zip(fine.names, fine.value[:, every], strict=True)),
        dict(zip(fine.names, fine.rate[:, every], strict=True)),
        dict(zip(fine.names, fine.acceleration[:, every], strict=True)),
    )
    answer = model.solve(motion, compiled=False)
    whole = groups.build(structure).solve(fine, compiled=False)
    assert answer.ok, answer.faults()
    gap = np.abs(answer.position - whole.position[every]).max()
    assert gap < 1e-9 * max(1.0, np.abs(whole.position).max())


@pytest.mark.parametrize("choice", CHOICES[1:])
@pytest.mark.parametrize(("name", "group"), [("planar_four_bar", 2), ("rotor", 7)])
def test_other_modes_are_held_too(name, group, choice):
    structure = mbssa.decompose(mbssa.load(name))
    default, model = groups.build(structure), groups.build(structure, {group: choice})
    listed = groups.modes(default, group)
    assert len(groups.modes(model, group)) == len(listed) > 1
    other = next(mode.number for mode in listed if mode.number != listed.reference)
    motion = default_motion(structure.mechanism, steps=13)
    wanted = default.solve(motion, modes={group: other}, compiled=False)
    assert np.abs(wanted.position - default.solve(motion, compiled=False).position).max() > 1e-3
    answer = model.solve(motion, modes={group: other}, compiled=False)
    if wanted.planar:
        # No way leads to another mode, so whole turns of its bodies mean nothing; but they stay as they are.
        turns = np.round((answer.orientation - wanted.orientation) / (2 * np.pi))
        assert (turns == turns[0]).all()
        answer = replace(answer, orientation=answer.orientation - 2 * np.pi * turns)
    assert_same(answer, wanted)


# --- what cannot be solved ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choice", ["Newton", *(pytest.param(one, marks=pytest.mark.slow) for one in CHOICES[2:])]
)
def test_out_of_reach_is_said_and_sound_instants_are_kept(choice):
    """A rocker-driven pendulum four-bar cannot turn fully.

    Nobody says OK where the closed form does not. It alone finds its mode in a part of the turn to which
    no way leads; the others find it again where they come back to.
    """
    structure = mbssa.decompose(mbssa.load("pendulum_four_bar"))
    motion = groups.constant_speed(structure.mechanism, steps=16)
    default = groups.build(structure).solve(motion, compiled=False)
    answer = groups.build(structure, {2: choice}).solve(motion, compiled=False)
    failed = answer.status[:, 1] != 0
    assert 0 < failed.sum() < len(failed)
    assert np.isin(answer.status[failed, 1], NO_ANSWER).all()
    assert np.isnan(answer.position[failed, 2:]).all()
    assert failed[default.status[:, 1] != 0].all()
    assert not failed[0]
    assert not failed[-1]
    assert np.abs(answer.position - default.position)[~failed].max() < 1e-9


@pytest.mark.parametrize("choice", ["Newton", pytest.param("global dense", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["suspension", "nine_bar"])
def test_where_two_solvers_say_ok_they_agree(name, choice):
    """Four times the motion leads out of reach and through dead points; nobody says OK in another mode."""
    structure = mbssa.decompose(mbssa.load(name))
    fine = default_motion(structure.mechanism, steps=41)
    start = fine.value[:, :1]
    motion = groups.from_arrays(
        structure.mechanism,
        fine.time,
        dict(zip(fine.names, start + 4.0 * (fine.value - start), strict=True)),
        dict(zip(fine.names, 4.0 * fine.rate, strict=True)),
        dict(zip(fine.names, 4.0 * fine.acceleration, strict=True)),
    )
    default = groups.build(structure).solve(motion, compiled=False)
    answer = by(structure, choice)[0].solve(motion, compiled=False)
    assert (default.status != 0).any()
    assert (answer.status == 0).mean() > 0.5
    of_body = structure.group_of_body[1:] - 1
    both = ((default.status == 0) & (answer.status == 0))[:, of_body]
    assert np.abs(answer.position - default.position)[:, 1:][both].max() < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES[2:])
def test_a_group_below_one_that_failed_waits(choice):
    structure = mbssa.decompose(mbssa.load("rotor"))
    laws = dict.fromkeys(groups.driven_coordinates(structure.mechanism), groups.speed(2.0))
    motion = groups.sample(structure.mechanism, laws, np.linspace(0.0, 2.0, 17))
    default = groups.build(structure).solve(motion, compiled=False)
    waits = default.status == PREDECESSOR_FAILED
    assert waits.any()
    model = groups.build(structure, dict.fromkeys(np.flatnonzero(waits.any(axis=0)) + 1, choice))
    answer = model.solve(motion, compiled=False)
    assert (answer.status[waits] == PREDECESSOR_FAILED).all()
    sound = (answer.status == 0).all(axis=1)
    assert 0 < sound.sum() < len(sound)
    assert np.abs(answer.acceleration - default.acceleration)[sound].max() < 1e-9


@pytest.mark.parametrize("choice", CHOICES[2:])
def test_equations_that_are_left_out_are_compared(choice):
    """A rocker's axis tilted by 0.1 mrad: the loop closes at the reference only."""
    bar = mbssa.load("spatial_4r")
    tilted = {
        j: replace(g, axis=(1e-4, 0.0, 1.0)) if bar.joint_ids[j] == "1-4" else g
        for j, g in bar.joint_geometry.items()
    }
    structure = replace(mbssa.decompose(bar), mechanism=replace(bar, joint_geometry=tilted))
    motion = groups.constant_speed(bar, steps=9)
    answer = groups.build(structure, {2: choice}).solve(motion, compiled=False)
    default = groups.build(structure).solve(motion, compiled=False)
    assert (answer.status == default.status).all()
    assert np.isnan(answer.position[1:-1, 2]).all()


# --- determinism -------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", CHOICES[2:])
def test_cuts_of_the_time_axis_change_no_bit(choice):
    structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    model = groups.build(structure, {2: choice})
    motion = groups.constant_speed(structure.mechanism, steps=97)
    whole = model.solve(motion, compiled=False)
    parts = model.solve(motion, compiled=False, progress=lambda done: True)
    for level in (*LEVELS, "status", "residual", "iterations", "condition"):
        assert np.array_equal(getattr(whole, level), getattr(parts, level), equal_nan=True), level


def test_a_model_with_other_solvers_can_be_sent_to_another_process():
    structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    for choice in CHOICES[1:3]:
        model = groups.build(structure, {2: choice})
        motion = default_motion(structure.mechanism, steps=5)
        answer = model.solve(motion, compiled=False)
        again = pickle.loads(pickle.dumps(model)).solve(motion, compiled=False)
        assert (answer.position == again.position).all()


# --- what can be asked for ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_the_default_comes_first_and_each_name_builds(name):
    structure = mbssa.decompose(mbssa.load(name))
    model, setting = groups.build(structure), Setting.of(structure)
    for group, tree in zip(structure.groups, setting.forest.trees, strict=True):
        names = groups.solvers_of(model, group.number)
        assert names == groups.solvers_of(structure, group.number)
        form = model.solvers[group.number - 1].form
        matching = next(found for kind in SOLVERS if (found := kind.match(tree, setting)) is not None)
        assert names[0] == form == matching.choice
        assert names[-2:] == ("global dense", "global sparse")
        assert ("Newton" in names) == (form != "driven")
        for choice in names:
            solver = groups.build(structure, {group.number: choice}).solvers[group.number - 1]
            assert solver.choice == choice
            assert (solver.default is None) == (choice == names[0])


def test_a_chosen_solver_names_the_default():
    structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    newton, dense = (groups.build(structure, {2: name}).solvers[1] for name in ("Newton", "global dense"))
    assert newton.why == dense.why == "chosen instead of closed form: RRR dyad"
    assert newton.name == "Newton, 2 unknowns"
    assert newton.unknowns == ("2-3.angle", "1-4.angle")
    assert dense.name == "global dense, 6 unknowns"
    assert dense.unknowns == (
        "coupler.x",
        "coupler.y",
        "coupler.angle",
        "rocker.x",
        "rocker.y",
        "rocker.angle",
    )
    assert dense.closing == newton.default.closing == ("3-4",)


def test_every_fault_of_a_choice_is_named_at_once():
    structure = mbssa.decompose(mbssa.load("stewart_inverse"))
    with pytest.raises(ValueError, match="no group 9") as caught:
        groups.build(structure, {9: "Newton", 2: "newton", 1: "Newton"})
    for named in ("1 to 7", "SG-2", "'newton'", "closed form, Newton, global dense, global sparse", "SG-1"):
        assert named in str(caught.value)
    with pytest.raises(ValueError, match="no closed form"):
        groups.build(mbssa.decompose(mbssa.load("stewart")), {1: "closed form"})
    with pytest.raises(ValueError, match="no group 3"):
        groups.solvers_of(mbssa.decompose(mbssa.load("planar_four_bar")), 3)


def test_solvers_and_groups_are_had_by_number():
    model = groups.build(mbssa.decompose(mbssa.load("rotor")))
    for group in model.structure.groups:
        assert model.structure.group(group.number).bodies == group.bodies
        assert model.solver(group.number) is model.solvers[group.number - 1]
        assert model.solver(group.number).number == group.number


@pytest.mark.parametrize("number", ["2", 0, 1.0, True])
def test_what_is_no_number_of_a_group_is_told(number):
    structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    model = groups.build(structure)
    for asked in (
        lambda: groups.build(structure, {number: "Newton"}),
        lambda: groups.solvers_of(model, number),
        lambda: model.solver(number),
        lambda: model.solve(groups.default_motion(model.mechanism, steps=2), modes={number: 1}),
    ):
        with pytest.raises(ValueError, match=rf"no group {number!r}"):
            asked()


def test_other_values_than_are_taken_are_refused_by_what_is():
    mechanism = mbssa.load("planar_four_bar")
    structure = mbssa.decompose(mechanism)
    trajectory = groups.build(structure).solve()
    for call, error, said in (
        (lambda: groups.build(mechanism), TypeError, "mbssa.decompose"),
        (lambda: groups.solve_globally(mechanism), TypeError, "mbssa.decompose"),
        (lambda: groups.modes(structure), TypeError, "groups.build"),
        (lambda: groups.build(structure, ["Newton"]), TypeError, "by number of the group"),
        (lambda: trajectory.joint(99), KeyError, "indices from 0 to 3"),
        (lambda: trajectory.joint(1.0), KeyError, "no joint 1.0"),
    ):
        with pytest.raises(error, match=said):
            call()
