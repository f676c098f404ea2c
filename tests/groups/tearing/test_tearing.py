"""Groups of tearing inputs: the same motion as by the real drives, to the last level, or said not to be."""

import pickle

import numpy as np
import pytest

import groups
import mbssa
from groups.run import Run
from groups.status import NOT_COMPUTED, OK

POSE = [f"1-14.{name}" for name in ("x", "y", "z", "angle_x", "angle_y", "angle_z")]

#: By model, inputs that make other groups than its own.
BORROWED = {
    "triad": ["1-5.angle"],
    "planar_four_bar": ["1-4.angle"],
    "planar_3rrr": ["1-8.x", "1-8.y", "1-8.angle"],
    "stewart": POSE,
    "rotor": ["1-2.slide", "1-13.slide", "13-15.angle"],
}

LEVELS = ("position", "orientation", "velocity", "acceleration")


def structure_of(name):
    return mbssa.decompose(mbssa.load(name))


@pytest.fixture(scope="module")
def triad():
    return groups.build(structure_of("triad"), borrow=BORROWED["triad"])


def turning(model, *, turns=1.0, steps=181):
    return groups.constant_speed(model.mechanism, rate=2 * np.pi, duration=turns, steps=steps)


def assert_same(one, two, within=1e-9):
    """Every level is the same, by its own largest number; a quaternion and its opposite are one turn."""
    for level in LEVELS:
        a, b = getattr(one, level), getattr(two, level)
        off = np.abs(a - b)
        if level == "orientation" and a.ndim == 3:
            off = np.minimum(off, np.abs(a + b))
        assert off.max() <= within * max(1.0, np.abs(b).max()), level


def assert_same_bits(one, two):
    for level in (*LEVELS, "status", "residual", "iterations", "condition"):
        np.testing.assert_array_equal(getattr(one, level), getattr(two, level))
    np.testing.assert_array_equal(one.fallback, two.fallback)


# --- the same motion ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BORROWED)
def test_the_motion_is_that_of_the_direct_structure(name):
    structure = structure_of(name)
    direct, torn = groups.build(structure), groups.build(structure, borrow=BORROWED[name])
    motion = groups.default_motion(structure.mechanism, steps=31)
    found, wanted = torn.solve(motion, compiled=False), direct.solve(motion, compiled=False)
    assert wanted.ok
    assert found.ok
    assert_same(found, wanted)
    assert found.mechanism is structure.mechanism


@pytest.mark.parametrize("name", ["triad", "rotor"])
def test_well_inside_nothing_falls_back(name):
    structure = structure_of(name)
    torn = groups.build(structure, borrow=BORROWED[name])
    found = torn.solve(groups.default_motion(structure.mechanism, steps=61), compiled=False)
    assert not found.fallback.any()
    assert found.outer.residual.max() < 1e-12
    assert found.outer.condition.min() > 0.1


@pytest.mark.parametrize("name", ["triad"])
def test_instants_that_are_filled_are_those_solved_one_by_one(name, monkeypatch):
    structure = structure_of(name)
    torn = groups.build(structure, borrow=BORROWED[name])
    motion = groups.default_motion(structure.mechanism, steps=201)
    filled = torn.solve(motion, compiled=False)
    monkeypatch.setattr("groups.tearing.driving.STEADY", 1e9)
    alone = torn.solve(motion, compiled=False)
    assert (filled.outer.iterations != alone.outer.iterations).any()  # two ways indeed
    assert_same(filled, alone, within=1e-10)
    np.testing.assert_allclose(filled.outer.condition, alone.outer.condition, rtol=0.02)


@pytest.mark.slow
def test_filling_gives_way_where_a_motion_has_corners():
    """Rates jump ten times: no polynomial goes through that."""
    structure = structure_of("planar_3rrr")
    direct, torn = groups.build(structure), groups.build(structure, borrow=BORROWED["planar_3rrr"])
    start = torn.reference_inputs
    time = np.linspace(0.0, 1.0, 501)
    saw = 0.02 * (2.0 * np.abs(10.0 * time % 2.0 - 1.0) - 1.0)
    rate = 0.4 * np.sign(10.0 * time % 2.0 - 1.0)
    value = np.array([angle + (k + 1) * saw for k, angle in enumerate(start.values())])
    speeds = np.array([(k + 1) * rate for k in range(3)])
    motion = groups.Motion(time, tuple(start), value, speeds, np.zeros((3, 501)))
    found = torn.solve(motion)
    assert found.ok
    assert not found.fallback.any()
    assert_same(found, direct.solve(motion))


def test_a_structure_takes_other_drives():
    """The rotor's own inputs through the structure that the paper made for others."""
    rotor = groups.build(structure_of("rotor"))
    structure = structure_of("rotor_transformed")
    drives = groups.driven_coordinates(rotor.mechanism)
    torn = groups.build(structure, drives=drives)
    assert torn.borrowed.drives == drives
    assert torn.borrowed.shared == ("13-15.angle",)
    assert torn.borrowed.unknowns == ("1-2.slide", "1-13.slide")
    motion = groups.default_motion(rotor.mechanism, steps=61)
    assert_same(torn.solve(motion), rotor.solve(motion))


def test_the_loop_has_the_groups_between_unknowns_and_drives():
    torn = groups.build(structure_of("rotor"), borrow=BORROWED["rotor"])
    needs = {group.number: set(group.depends_on) for group in torn.structure.groups}
    loop, before = set(torn.borrowed.loop), set(torn.borrowed.before)
    assert not loop & before
    assert all(needs[g] <= loop | before for g in loop)
    assert all(needs[g] <= before for g in before)
    assert len(loop | before) < torn.structure.n_groups  # some come after it


def test_rates_are_the_derivatives_of_what_comes_before(triad):
    """Central differences miss by the square of the step."""
    misses = []
    for steps in (101, 201):
        found = triad.solve(groups.default_motion(triad.mechanism, steps=steps), compiled=False)
        pace = found.time[1]
        slope = (found.position[2:] - found.position[:-2]) / (2 * pace)
        bend = (found.velocity[2:] - found.velocity[:-2]) / (2 * pace)
        misses.append(
            (
                np.abs(slope - found.velocity[1:-1, :, :2]).max(),
                np.abs(bend - found.acceleration[1:-1]).max(),
            )
        )
    ratio = np.array(misses[0]) / np.array(misses[1])
    assert (np.abs(ratio - 4.0) < 0.4).all()


def test_the_drives_are_met_over_several_turns():
    model = groups.build(structure_of("planar_four_bar"), borrow=["2-3.angle"])
    motion = turning(model, turns=3.0, steps=181)
    found = model.solve(motion, compiled=False)
    assert found.ok
    turn = found.joint("1-2")["angle"]
    for level in ("value", "rate", "acceleration"):
        assert np.abs(getattr(turn, level) - getattr(motion, level)[0]).max() < 1e-8
    assert_same(
        found, groups.build(structure_of("planar_four_bar")).solve(motion, compiled=False), within=1e-8
    )


def test_a_motion_may_begin_away_from_the_reference(triad):
    angle = triad.reference_inputs["1-2.angle"]
    motion = groups.sample(
        triad.mechanism, {"1-2.angle": groups.harmonic(0.2, 1.0, mean=angle - 0.5)}, np.linspace(0, 1, 41)
    )
    assert_same(triad.solve(motion), groups.build(structure_of("triad")).solve(motion))


@pytest.mark.parametrize("level", ["position", "velocity"])
def test_lower_levels_are_those_of_the_whole(triad, level):
    motion = groups.default_motion(triad.mechanism, steps=61)
    part = triad.solve(motion, level=level, compiled=False)
    whole = triad.solve(motion, compiled=False)
    assert part.ok
    assert part.acceleration is None
    assert np.abs(part.position - whole.position).max() < 1e-11


# --- where the tearing structure is singular --------------------------------------------------------


@pytest.mark.parametrize("name", ["triad", "planar_four_bar"])
@pytest.mark.parametrize("steps", [91])
def test_a_dead_point_of_the_borrowed_structure_is_passed_by_the_direct_one(name, steps):
    """A full turn of the crank: the rocker, which is borrowed, turns back twice."""
    structure = structure_of(name)
    direct, torn = groups.build(structure), groups.build(structure, borrow=BORROWED[name])
    motion = turning(torn, turns=2.0, steps=steps)
    found, wanted = torn.solve(motion, compiled=False), direct.solve(motion, compiled=False)
    assert found.ok
    assert wanted.ok
    assert 4 <= found.fallback.sum() < steps / 4
    assert_same(found, wanted)
    said = found.outer.sentences()
    assert said
    assert all("direct structure" in sentence or "more" in sentence for sentence in said)
    assert (found.outer.status[found.fallback] != OK).all()
    assert not found.outer.status[~found.fallback].any()


def test_what_nobody_can_solve_has_a_status_and_no_pose():
    """The rocker is driven farther than it can go."""
    four_bar = mbssa.load("planar_four_bar")
    structure = mbssa.decompose(four_bar)
    torn = groups.build(structure, drives=["1-4.angle"])
    start = torn.reference_inputs["1-4.angle"]
    time = np.linspace(0.0, 1.0, 81)
    motion = groups.sample(torn.mechanism, {"1-4.angle": groups.harmonic(1.5, 1.0, mean=start)}, time)
    found = torn.solve(motion, compiled=False)
    failed = (found.status != OK).any(axis=1)
    assert failed.any()
    assert not failed[0]
    assert (np.isnan(found.position).any(axis=(1, 2)) == failed).all()
    sound = np.flatnonzero(~failed)
    met = found.joint("1-4")["angle"].value[sound] - motion.value[0, sound]
    assert np.abs(met - 2 * np.pi * np.round(met / (2 * np.pi))).max() < 1e-9
    assert found.faults()


# --- the same again ----------------------------------------------------------------------------------


def test_a_run_repeats_to_the_last_bit(triad):
    motion = turning(triad, turns=1.0, steps=61)
    first = triad.solve(motion, compiled=False)
    assert_same_bits(first, triad.solve(motion, compiled=False))
    assert_same_bits(first, triad.solve(motion, chunks=4, compiled=False))
    assert_same_bits(first, pickle.loads(pickle.dumps(triad)).solve(motion, compiled=False))
    again = groups.build(structure_of("triad"), borrow=triad.borrowed.inputs)
    assert again.borrowed == triad.borrowed
    assert_same_bits(first, again.solve(motion, compiled=False))


def test_an_automatic_choice_is_recorded_and_repeats():
    structure = structure_of("triad")
    automatic = groups.build(structure, borrow="auto")
    assert automatic.borrowed.chosen == "automatic"
    assert all(solver.form != "Newton" for solver in automatic.solvers)
    assert groups.build(structure, borrow="auto").borrowed == automatic.borrowed
    by_name = groups.build(structure, borrow=automatic.borrowed.inputs)
    motion = groups.default_motion(structure.mechanism, steps=61)
    assert_same_bits(automatic.solve(motion, compiled=False), by_name.solve(motion, compiled=False))


def test_where_nothing_is_better_nothing_is_borrowed():
    assert groups.build(structure_of("planar_four_bar"), borrow="auto").borrowed is None


def test_a_terminal_may_be_borrowed():
    """The platform gets an F pair that the mechanism has not."""
    structure = structure_of("planar_3rrr")
    torn = groups.build(structure, borrow=BORROWED["planar_3rrr"])
    assert torn.structure.mechanism.n_joints == structure.mechanism.n_joints + 1
    assert torn.mechanism is structure.mechanism
    assert {solver.form for solver in torn.solvers} == {"driven", "closed form"}


@pytest.mark.slow
def test_bodies_are_kept_and_runs_stopped_as_ever(triad):
    motion = groups.default_motion(triad.mechanism, steps=1201)
    whole = triad.solve(motion, compiled=False)
    kept = triad.solve(motion, bodies=["coupler"], compiled=False)
    np.testing.assert_array_equal(kept.position[:, 0], whole.body("coupler").position)
    np.testing.assert_array_equal(kept.instants(slice(5, 9)).outer.residual, whole.outer.residual[5:9])
    shares = []
    stopped = triad.solve(motion, compiled=False, progress=lambda share: bool(shares.append(share)))
    done = int(np.flatnonzero((stopped.status == NOT_COMPUTED).all(axis=1))[0])
    assert 0 < done < 1201
    assert shares
    np.testing.assert_array_equal(stopped.position[:done], whole.position[:done])
    assert np.isnan(stopped.position[done:, 1:]).all()


# --- what is refused ---------------------------------------------------------------------------------


def test_all_faulty_names_are_said_at_once():
    with pytest.raises(ValueError, match="borrow: ") as refused:
        groups.build(structure_of("rotor"), borrow=["1-2.slid", "1-99.angle", "13-15.angle"])
    assert "slid" in str(refused.value)
    assert "1-99" in str(refused.value)


def test_as_many_are_borrowed_as_driven(triad):
    with pytest.raises(ValueError, match="2 coordinates"):
        groups.build(structure_of("triad"), borrow=["1-5.angle", "1-6.angle"])
    with pytest.raises(ValueError, match="0 coordinates"):
        groups.build(structure_of("triad"), drives=[])


def test_drives_and_borrowed_at_once_are_refused():
    with pytest.raises(ValueError, match="at once"):
        groups.build(structure_of("triad"), drives=["1-5.angle"], borrow=["1-6.angle"])


def test_the_drives_themselves_are_nothing_to_borrow():
    with pytest.raises(ValueError, match="nothing to borrow"):
        groups.build(structure_of("triad"), borrow=["1-2.angle"])


def test_borrowed_inputs_that_the_count_refuses():
    with pytest.raises(ValueError, match="tearing inputs"):
        groups.build(structure_of("rotor"), borrow=["1-2.slide", "1-13.slide", "2-5.angle_1"])


def test_drives_that_the_count_refuses():
    with pytest.raises(ValueError, match="drives"):
        groups.build(structure_of("rotor"), drives=["1-2.slide", "1-13.slide", "2-5.angle_1"])


def test_drives_or_inputs_that_depend_on_each_other_are_refused():
    """The micro-manipulator's published inputs pass the count, and drive nothing at any geometry."""
    published, working = (structure_of(name) for name in ("micromanipulator", "micromanipulator_driven"))
    with pytest.raises(ValueError, match="independent"):
        groups.build(working, drives=groups.driven_coordinates(published.mechanism))
    with pytest.raises(ValueError, match=r"tearing inputs .* at the reference"):
        groups.build(published, drives=groups.driven_coordinates(working.mechanism))


def test_a_group_of_the_loop_cannot_be_solved_globally():
    with pytest.raises(ValueError, match=r"SG-3 .* the loop"):
        groups.build(structure_of("triad"), {3: "global dense"}, borrow=BORROWED["triad"])


def test_modes_and_parts_of_a_run_are_not_for_borrowed_inputs(triad):
    motion = groups.default_motion(triad.mechanism, steps=11)
    with pytest.raises(ValueError, match="modes"):
        triad.solve(motion, modes={3: 1})
    with pytest.raises(ValueError, match=r"model\.solve"):
        Run(triad, motion, np.arange(6), 2)


def test_a_motion_of_the_borrowed_inputs_is_refused(triad):
    with pytest.raises(ValueError, match="the model needs"):
        triad.solve(groups.constant_speed(triad.structure.mechanism, steps=5))
