"""The certificate of a time step, its equations and bounds, and what a proven trajectory says."""

from dataclasses import replace

import numpy as np
import pytest
from certified_paths import cubics, follow
from judging import judge, turning
from numpy.testing import assert_allclose
from random_linkages import dyads, four_bar, parallelogram_like, six_r_group, truss

import groups
import mbssa
from groups.branches.certificate import Tubes, certified
from groups.branches.closure import Closure, Poses
from groups.kernels.status import OK, PASSED_SINGULAR, WAITS
from groups.run import Carried, Run
from mbssa.mechanism import JointGeometry


def linkage(rows, geometry, driven=0):
    """A planar mechanism of joints (first, second, type) with geometry of each; one of them is driven."""
    pairs = [(a, b, code, int(k == driven)) for k, (a, b, code) in enumerate(rows)]
    n = max(b for row in rows for b in row[:2])
    made = mbssa.from_pairs(n, pairs, "planar", name="linkage")
    return replace(made, joint_geometry={k: JointGeometry(**one) for k, one in enumerate(geometry)})


def with_rod():
    """A four-bar whose coupler is a rod."""
    rows = [(1, 2, "R"), (1, 3, "R"), (2, 3, "ROD")]
    ends = ((0.3, 0.1), (0.8, 0.7))
    return linkage(rows, [{"point": (0.0, 0.0)}, {"point": (1.0, 0.0)}, {"points": ends}])


def with_body_for_rod():
    rows = [(1, 2, "R"), (1, 3, "R"), (2, 4, "R"), (4, 3, "R")]
    points = [(0.0, 0.0), (1.0, 0.0), (0.3, 0.1), (0.8, 0.7)]
    return linkage(rows, [{"point": at} for at in points])


def with_slot():
    """A crank whose pin turns a slotted lever, which carries a dyad: its group hangs on another's tube."""
    rows = [(1, 2, "R"), (1, 3, "R"), (3, 2, "SLOT"), (3, 4, "R"), (4, 5, "R"), (1, 5, "P")]
    places = [(0.0, 0.0), (0.0, -1.0), (0.3, 0.2), (0.2, 0.8), (0.9, 1.1), (0.9, 1.1)]
    geometry = [{"point": at} for at in places]
    geometry[2]["axis"], geometry[5]["axis"] = (0.3, 1.2), (1.0, 0.0)
    return linkage(rows, geometry)


def with_distance():
    """An excavator's arm: a cylinder between the frame and a lever, and a dyad on it."""
    rows = [(1, 2, "DIST"), (1, 2, "R"), (2, 3, "R"), (3, 4, "R"), (1, 4, "R")]
    geometry = [{"points": ((0.0, 0.0), (0.5, 0.8))}]
    geometry += [{"point": at} for at in ((0.8, 0.0), (0.6, 1.0), (1.5, 1.2), (1.7, 0.1))]
    return linkage(rows, geometry)


MADE = {"rod": with_rod, "slot": with_slot, "distance": with_distance, "truss": lambda: truss(1),
        "dyads": lambda: dyads(3)}  # fmt: skip
FINE = 25


def solved(mechanism, way, instants):
    model = groups.build(mbssa.decompose(mechanism))
    start = next(iter(model.reference_inputs.values()))
    (name,) = mechanism.driven_coordinates
    motion = groups.sample(mechanism, {name: groups.polynomial(start, way)}, np.linspace(0.0, 1.0, instants))
    run = Run(model, motion, np.arange(mechanism.n_bodies), 2, compiled=False)
    run.advance(0, instants, Carried.start(model.packed.memory, mechanism.n_bodies))
    assert (run.arrays.quality[0] == OK).all()
    return model, motion, run


@pytest.mark.parametrize("name", MADE)
def test_equations_hold_at_solved_poses_and_so_do_their_rates(name):
    model, motion, run = solved(MADE[name](), 0.01, 5)
    at = Poses.of(model, motion, run.arrays.outputs, 0, 5)
    for g in range(model.structure.n_groups):
        of = Closure.bounded(model, g).linearised(at)
        whole = 2 * np.pi * np.round(of.residual / (2 * np.pi))
        assert_allclose(of.residual - whole, 0.0, atol=1e-9)
        assert_allclose(of.residual_rate, 0.0, atol=1e-9)


@pytest.mark.parametrize("name", MADE)
def test_the_jacobian_is_that_of_the_equations(name):
    """By the rates of the residual: they are J times the rates of what is moved at random."""
    model, motion, run = solved(MADE[name](), 0.01, 2)
    at, rng = Poses.of(model, motion, run.arrays.outputs, 0, 2), np.random.default_rng(1)
    for g in range(model.structure.n_groups):
        closure = Closure.bounded(model, g)
        v, w = rng.normal(size=(2, len(closure.own), 2)), rng.normal(size=(2, len(closure.own)))
        moved = replace(at, centre_rate=at.centre_rate.copy(), turn_rate=at.turn_rate.copy())
        moved.centre_rate[:, closure.own] += v[..., 0] + 1j * v[..., 1]
        moved.turn_rate[:, closure.own] += w
        before, after = closure.linearised(at), closure.linearised(moved)
        m = 2 * len(closure.own)
        change = np.zeros((2, closure.n))
        change[:, :m] = v.reshape(2, -1)
        change[:, m : m + closure.n_turns] = (after.turn_rate - before.turn_rate)[:, : closure.n_turns]
        for row, joint in enumerate(closure.joints):
            if joint.slide >= 0:
                speed = (after.slide_rate - before.slide_rate)[:, row]
                change[:, m + closure.n_turns + joint.slide] = speed
        found = np.einsum("tab,tb->ta", before.jacobian, change)
        assert_allclose(found, after.residual_rate - before.residual_rate, atol=1e-9)


def test_another_branch_an_open_loop_or_wrong_rates_are_not_certified():
    mechanism = four_bar(1.0, 0.3, 0.8, 0.7, 0.4)
    model = groups.build(mbssa.decompose(mechanism))
    motion, closure = turning(mechanism, 0.2, 3), Closure.bounded(model, 1)
    modes = [model.solve(motion, modes={2: k}, compiled=False) for k in (1, 2)]
    one, other = (
        Poses.of(model, motion, [a.swapaxes(0, 1) for a in (f.position, f.orientation, f.velocity)], 0, 3)
        for f in modes
    )

    def tells(poses):
        return certified(closure, poses, Tubes.none(2, 4)).tolist()

    assert tells(one) == tells(other) == [True, True]
    mixed = {name: getattr(one, name).copy() for name in ("centre", "centre_rate", "turn", "turn_rate")}
    for name, array in mixed.items():
        array[2] = getattr(other, name)[2]
    assert tells(replace(one, **mixed)) == [True, False]
    assert tells(replace(one, turn_rate=20.0 * one.turn_rate)) == [False, False]
    opened = replace(one, turn=one.turn.copy())
    opened.turn[2, 2] += 1e-3
    assert tells(opened) == [True, False]


def test_the_other_solution_is_not_within_a_tube():
    """Solutions of a fine motion between two instants lie in the tube about the cubic, and it is thin."""
    mechanism = truss(1)
    model, motion, run = solved(mechanism, 0.004, 2)
    tubes = Tubes.none(1, mechanism.n_bodies)
    at = Poses.of(model, motion, run.arrays.outputs, 0, 2)
    assert all(certified(Closure.bounded(model, g), at, tubes)[0] for g in range(model.structure.n_groups))
    _, fine, path = solved(mechanism, 0.004, FINE)
    there = Poses.of(model, fine, path.arrays.outputs, 0, FINE)
    s = np.linspace(0.0, 1.0, FINE)[:, None]
    for value, rate, radius in (("turn", "turn_rate", tubes.turn), ("centre", "centre_rate", tubes.centre)):
        (x0, x1), (v0, v1) = getattr(at, value), getattr(at, rate)
        rise = x1 - x0
        cubic = x0 + s * (v0 + s * (3 * rise - 2 * v0 - v1 + s * (v0 + v1 - 2 * rise)))
        off = np.abs(getattr(there, value) - cubic)
        assert (off <= radius + 1e-11).all()
        assert off.max() > 1e-3 * radius.max() > 0


@pytest.mark.parametrize("name", ["rod", "slot", "distance"])
def test_coarse_motions_with_rods_slots_and_cylinders_are_those_of_fine_ones(name):
    mechanism = MADE[name]()
    model, way = groups.build(mbssa.decompose(mechanism)), {"distance": 0.15}.get(name, 0.6)
    start = next(iter(model.reference_inputs.values()))
    law = {mechanism.driven_coordinates[0]: groups.polynomial(start, way)}
    coarse, fine = (
        model.solve(groups.sample(mechanism, law, np.linspace(0, 1, n)), compiled=False, branch="proven")
        for n in (2, 101)
    )
    assert (coarse.proof == 2).all()
    assert (fine.proof == 2).all()
    assert_allclose(coarse.position[-1], fine.position[-1], atol=1e-9)


def test_a_rod_is_proven_as_far_as_a_body_in_its_place():
    ends = []
    for mechanism in (with_rod(), with_body_for_rod()):
        model = groups.build(mbssa.decompose(mechanism))
        found = model.solve(turning_of(model, -2.5, 6), compiled=False, branch="proven")
        ends.append((found.proof.min(axis=1).tolist(), [one.kind for one in found.singular]))
        place = found.singular[0] if found.singular else None
        ends[-1] += () if place is None else (round(place.from_time, 4),)
    assert ends[0] == ends[1]


def turning_of(model, way, instants):
    (name,), (start,) = model.reference_inputs, model.reference_inputs.values()
    return groups.sample(
        model.mechanism, {name: groups.polynomial(start, way)}, np.linspace(0.0, 1.0, instants)
    )


def parallelogram(**options):
    mechanism = four_bar(1.0, 0.5, 1.0, 0.5, np.pi / 4)
    model = groups.build(mbssa.decompose(mechanism))
    return model.solve(turning(mechanism, 2 * np.pi, 13), compiled=False, branch="proven", **options)


def test_a_flat_parallelogram_is_named_with_group_time_and_kind():
    found = parallelogram()
    assert found.status[:, 1].tolist() == [OK] * 5 + [PASSED_SINGULAR] + [OK] * 7
    assert found.proof[:, 1].tolist() == [2] * 5 + [0] + [1] * 7
    assert np.isnan(found.position[5, 2:]).all()
    (place,) = found.singular
    assert (place.group, place.kind) == (2, "branches cross")
    assert place.from_time == pytest.approx(0.375, abs=1e-5 / (2 * np.pi))
    (said,) = found.faults()
    assert "passed a singular position at 1 of 13 instants, first at t = 0.416667 s" in said
    assert "near t = 0.375 s: two branches cross there" in said


@pytest.mark.slow
def test_branches_that_rounding_alone_keeps_apart_are_not_proven():
    """Lengths of an exact parallelogram are rounded: at 1e-8 rad its branches do not meet."""
    mechanism = parallelogram_like(145)
    verdict = judge(mechanism, turning(mechanism, 2.345613, 2), branch="proven")
    assert verdict.crossed
    assert verdict.silent == ()


def test_groups_that_hang_on_an_unproven_one_wait_and_are_checked_from_there_on():
    flat = [(1, 2, "R"), (2, 3, "R"), (3, 4, "R"), (1, 4, "R"), (4, 5, "R"), (5, 6, "R"), (1, 6, "R")]
    made = four_bar(1.0, 0.5, 1.0, 0.5, np.pi / 4)
    points = [made.joint_geometry[k].point for k in range(4)] + [(1.2, 0.5), (1.9, 0.9), (2.2, 0.0)]
    mechanism = linkage(flat, [{"point": at} for at in points])
    model = groups.build(mbssa.decompose(mechanism))
    found = model.solve(turning(mechanism, 1.1 * np.pi, 8), compiled=False, branch="proven")
    at = int(np.flatnonzero(found.status[:, 1])[0])
    assert found.status[at].tolist() == [OK, PASSED_SINGULAR, WAITS]
    assert (found.proof[at + 1 :, 2] < 2).all()
    assert [one.group for one in found.singular] == [2]


def test_a_motion_that_begins_away_from_the_reference_is_led_there():
    mechanism = six_r_group()
    model = groups.build(mbssa.decompose(mechanism))
    name, start = next(iter(model.reference_inputs.items()))
    law = groups.polynomial(start - 2.6, -0.3)
    motion = groups.sample(mechanism, {name: law}, np.linspace(0.0, 1.0, 2))
    found = model.solve(motion, compiled=False, branch="proven")
    truth = follow(mechanism, cubics(motion), motion.time)
    assert (found.proof == 2).all()
    assert_allclose(found.position, truth.position, atol=1e-8)


def test_arrays_have_the_instants_of_the_motion_and_the_levels_that_are_wanted(tmp_path):
    found = parallelogram(level="position", bodies=[3])
    assert found.velocity is None
    assert found.position.shape == (13, 1, 2)
    assert found.instants(slice(0, 5)).proof.min() == 2
    found.save(tmp_path / "run.npz")
    again = groups.load_trajectory(tmp_path / "run.npz")
    assert (again.proof == found.proof).all()
    assert again.faults() == found.faults()


def test_groups_without_a_bound_are_checked():
    mechanism = mbssa.load("slider_crank_isostatic")
    model = groups.build(mbssa.decompose(mechanism))
    motion = groups.constant_speed(mechanism, steps=13)
    found = model.solve(motion, branch="proven", compiled=False)
    assert (found.proof == 1).all()
    assert_allclose(found.position, model.solve(motion, compiled=False).position)


def test_other_words_for_the_branch_are_refused():
    mechanism = mbssa.load("planar_four_bar")
    model = groups.build(mbssa.decompose(mechanism))
    with pytest.raises(ValueError, match="'sure'; write checked or proven"):
        model.solve(branch="sure")
    borrowed = groups.build(mbssa.decompose(mechanism), drives=["1-4.angle"])
    with pytest.raises(ValueError, match="not for borrowed inputs"):
        borrowed.solve(groups.constant_speed(borrowed.mechanism, duration=0.1, steps=3), branch="proven")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_dyads_keep_their_branch_over_large_steps(seed):
    mechanism = dyads(seed)
    for way in (0.5, -2.0):
        verdict = judge(mechanism, turning(mechanism, way, 2), branch="proven")
        assert verdict.silent == ()
        assert verdict.refused == 0
