"""The certificate of a time step, its equations and bounds, and what a proven trajectory says."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import linkages
import numpy as np
import pytest
from certified_paths import cubics, follow
from judging import judge, turning
from numpy.testing import assert_allclose
from random_linkages import dyads, four_bar, parallelogram_like, planar, six_r_group, truss

import groups
import mbssa
import routes
from groups.assembly_modes import in_modes
from groups.branches.bounds import Enclosure, Enclosures, Majorants, along_cubic, off_cubic
from groups.branches.insertion import Proof
from groups.branches.machine import CompiledTests
from groups.branches.poses import solve_proven_poses
from groups.branches.prover import prover_of
from groups.cli.running import singular_positions
from groups.engine.curves import Pieces, derivatives
from groups.engine.machine import Host
from groups.engine.solve import plan_of, solved
from groups.status import BRANCH_JUMP, CONTACT_LOST, OK, PASSED_SINGULAR, PREDECESSOR_FAILED
from mbssa.graph.nodes import Graph, curve
from routes.sweep.poses import solve_poses

MOVING = [name for name in mbssa.builtin_names() if mbssa.load(name).motion is not None]


def linkage(rows, geometry, driven=0):
    """A planar mechanism of joints (first, second, type) with geometry of each; one of them is driven."""
    return linkages.linkage([(*row, int(k == driven)) for k, row in enumerate(rows)], geometry)


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
#: Balls, rods that spin, universal joints, cylinders, what is left out, gears, a free body; all of one input.
BUILT_IN = ("rssr", "spatial_four_bar", "universal_shafts", "slider_crank", "sarrus", "planetary")
SEVERAL = ("rotor", "stewart_inverse", "rack_steering")
FINE = 25


def moved(mechanism, way, instants):
    model = groups.build(mbssa.decompose(mechanism))
    laws = {name: groups.polynomial(start, way) for name, start in model.reference_inputs.items()}
    return model, groups.sample(mechanism, laws, np.linspace(0.0, 1.0, instants))


def mechanism_of(name):
    return MADE[name]() if name in MADE else mbssa.load(name)


def of_columns(model, X, way):
    """By group and step, whether neighbouring columns are proven as they are; radii by unknown."""
    prover = prover_of(plan_of(model))
    usable = np.ones((model.structure.n_groups, X.shape[1] - 1), dtype=bool)
    return prover, prover.pieces(way, 0, X, usable, 0)


def columns_of(model, motion, **options):
    solving = solved(in_modes(model, options.get("modes")), motion, compiled=False)
    solving.settled()
    return solving


def test_another_branch_an_open_loop_or_wrong_rates_are_not_proven():
    mechanism = four_bar(1.0, 0.3, 0.8, 0.7, 0.4)
    model = groups.build(mbssa.decompose(mechanism), solvers={2: "Newton"})
    motion = turning(mechanism, 0.2, 3)
    one, other = (columns_of(model, motion, modes={2: k}) for k in (1, 2))
    plan = one.plan

    def tells(X):
        return of_columns(model, X, one.way)[1].good[1].tolist()

    assert tells(one.X) == tells(other.X) == [True, True]
    mixed = one.X.copy()
    mixed[:, 2] = other.X[:, 2]
    assert tells(mixed) == [True, False]
    fast = one.X.copy()
    fast[plan.dq] *= 20.0
    assert tells(fast) == [False, False]
    opened = one.X.copy()
    opened[plan.q, 2] += 1e-3
    assert tells(opened) == [True, False]


WAYS = {"truss": 0.004, "dyads": 0.02, "rssr": 0.02, "stewart": 0.02, "sarrus": 0.01}  # fmt: skip


@pytest.mark.parametrize(("name", "way"), WAYS.items())
def test_solutions_between_two_instants_are_within_the_tube(name, way):
    """Those of a fine motion; and where the cubic is off by more than rounding, the tube is thin."""
    mechanism = mechanism_of(name)
    model, motion = moved(mechanism, way, 2)
    coarse = columns_of(model, motion)
    _, pieces = of_columns(model, coarse.X, coarse.way)
    assert pieces.good.all()
    fine = columns_of(model, moved(mechanism, way, FINE)[1])
    plan, s = coarse.plan, np.linspace(0.0, 1.0, FINE)
    cubic = along(*coarse.X[plan.q].T, *coarse.X[plan.dq].T)
    off = np.abs(fine.X[plan.q] - np.array([cubic(t) for t in s]).T).max(axis=1)
    radius = pieces.radii[0, : plan.unknowns, 0]
    assert (off <= radius + 1e-12).all()
    rounded = off <= 1e-9
    assert (radius[~rounded] <= 1000 * off[~rounded]).all()


@pytest.mark.parametrize("name", ["rod", "slot", "distance"])
def test_coarse_motions_with_rods_slots_and_cylinders_are_those_of_fine_ones(name):
    mechanism = MADE[name]()
    model, way = groups.build(mbssa.decompose(mechanism)), {"distance": 0.15}.get(name, 0.6)
    start = next(iter(model.reference_inputs.values()))
    law = {mechanism.driven_coordinates[0]: groups.polynomial(start, way)}
    coarse, fine = (
        model.solve(groups.sample(mechanism, law, np.linspace(0, 1, n)), compiled=False, branch="proven")
        for n in (2, 41)
    )
    assert (coarse.proof == 2).all()
    assert (fine.proof == 2).all()
    assert_allclose(coarse.position[-1], fine.position[-1], atol=1e-9)


@pytest.mark.parametrize("period", [0.0, 7.0])
def test_bounds_of_curves_hold_over_their_breaks(period):
    """Of polynomials that meet with a tangent; the Hermite cubic between their ends is off by no more."""
    rng = np.random.default_rng(5)
    breaks = np.sort([0.0, *rng.uniform(0.0, 7.0, 12), 7.0])
    h, (y, m) = np.diff(breaks), rng.normal(size=(2, 14))
    y[-1], m[-1] = y[0], m[0]
    rise, a = np.diff(y) / h, rng.normal(size=13)
    third, second = (m[:-1] + m[1:] - 2 * rise) / h**2, (3 * rise - 2 * m[:-1] - m[1:]) / h
    powers = a, third - 2 * h * a, second + h * h * a, m[:-1], y[:-1]
    coefficients = np.stack(powers, axis=1)
    pieces = derivatives([Pieces(breaks, coefficients, period)] * 2)
    graph, t, bounded = Graph(), np.linspace(0.0, 1.0, 101), 0
    for _ in range(300):
        way = 10.0 ** rng.uniform(-6, 0.3)
        x0 = rng.choice(breaks) + rng.choice([0.0, rng.uniform(-way, way)])
        x1, (v0, v1) = x0 + rng.choice([-1, 1]) * way, rng.uniform(-2.0 * way, 2.0 * way, 2)
        s = along(x0, x1, v0, v1)
        centre, slope, radius, *sizes = along_cubic(x0, x1, v0, v1)
        path = Enclosure(centre, slope, radius), [*sizes, 0.0, 0.0]
        boxes = Enclosures(graph, lambda *_, path=path: path[0])
        majorants = Majorants(graph, lambda *_, path=path: path[1], boxes, {})
        for order in (0, 1):
            node, true = curve(graph.input("q", 0), pieces, 0, order), pieces(order, 0)(s(t))
            (box,), (majorant,) = boxes.of([node]), majorants.of([node])
            assert (np.abs(true - box.c - box.d * (2 * t - 1)) <= box.r).all()
            rates = pieces(order + 1, 0)(np.array([x0, x1])) * (v0, v1)
            off = np.abs(true - along(true[0], true[-1], *rates)(t)).max()
            assert off <= off_cubic(majorant) + 1e-13
            bounded += majorant[-1] < 1.0
    assert bounded > 300


def along(x0, x1, v0, v1):
    """The Hermite cubic through values and rates."""
    rise = x1 - x0
    return lambda t: x0 + t * (v0 + t * (3 * rise - 2 * v0 - v1 + t * (v0 + v1 - 2 * rise)))


def test_steps_over_the_breaks_of_a_fitted_profile_are_proven_undivided():
    """A law's cam is fitted in 79 pieces; only where its law itself breaks are steps divided."""
    mechanism = mbssa.load("cam_roller")
    model = groups.build(mbssa.decompose(mechanism))
    found = columns_of(model, groups.default_motion(mechanism, steps=361))
    good = of_columns(model, found.X, found.way)[1].good[1]
    assert set(np.flatnonzero(~good).tolist()) <= {0, 119, 120, 179, 180, 299, 300, 359}


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
    assert found.status[:, 1].tolist() == [OK] * 5 + [PASSED_SINGULAR] + [OK] * 5 + [BRANCH_JUMP, OK]
    assert found.proof[:, 1].tolist() == [2] * 5 + [0] + [1] * 5 + [0, 1]
    assert np.isnan(found.position[5, 2:]).all()
    (place,) = found.singular
    assert (place.group, place.kind) == (2, "branches cross")
    assert place.from_time == pytest.approx(0.375, abs=1e-5 / (2 * np.pi))
    (said,) = found.faults()
    assert "1 of 13 instants, first at t = 0.416667 s" in said
    assert "t = 0.375 s" in said


@pytest.mark.parametrize(("angle", "instants"), [(np.pi / 4, 9), (0.5, 37)])
def test_a_parallelogram_runs_a_full_turn_on_its_smooth_branch(angle, instants):
    """Its coupler does not turn. With 9 instants two of them are where it lies flat."""
    mechanism = four_bar(1.0, 0.5, 1.0, 0.5, angle)
    model = groups.build(mbssa.decompose(mechanism))
    found = model.solve(turning(mechanism, 2 * np.pi, instants), compiled=False, branch="smooth")
    assert found.ok
    assert set(found.proof[:, 1].tolist()) == {2, 3}
    assert set(found.proof[:, 0].tolist()) == {2}
    assert_allclose(found.orientation[:, 2], found.orientation[0, 2], atol=1e-10)
    assert_allclose(found.velocity[:, 2, 2], 0.0, atol=1e-7)
    crank = found.orientation[:, 1] - found.orientation[0, 1] + angle
    pin = 0.5 * np.stack([np.cos(crank), np.sin(crank)], axis=1)
    assert_allclose(found.position[:, 2] - found.position[0, 2], pin - pin[0], atol=1e-9)
    assert [one.kind for one in found.singular] == ["branches cross"] * 2


def test_equal_crank_and_rod_go_on_to_the_other_side():
    """The slider runs as 2 cos; on the other branch it would stay in the crank's hinge."""
    joints = [(1, 2, "R"), (2, 3, "R"), (3, 4, "R"), (1, 4, "P")]
    side = np.sqrt(0.5)
    mechanism = planar(joints, [(0, 0), (side, side), (2 * side, 0), (2 * side, 0)], 0, np.zeros(4))
    model = groups.build(mbssa.decompose(mechanism))
    found = model.solve(turning(mechanism, 2 * np.pi, 5), compiled=False, branch="smooth")
    assert found.ok
    angle = np.pi / 4 + 2 * np.pi * found.time
    assert_allclose(
        found.position[:, 3, 0] - found.position[0, 3, 0], 2 * np.cos(angle) - 2 * side, atol=1e-9
    )
    assert_allclose(found.velocity[:, 3, 0], -4 * np.pi * np.sin(angle), atol=1e-6)


@pytest.mark.parametrize(("branch", "proof"), [("checked", 1), ("proven", 2)])
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("steps", [9, 361])
def test_a_third_crank_out_of_line_holds_the_plate_through_the_flat_poses_of_two(
    steps, compiled, branch, proof
):
    """The plate only shifts, over the whole turn: what is redundant nearly everywhere forbids to turn it."""
    made = mbssa.Builder("planar").bodies("plate", "c1", "c2", "c3")
    pivots, pin = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.8]]), np.array([0.3, 0.4])
    for k, pivot in enumerate(pivots, 1):
        made.revolute("frame", f"c{k}", point=pivot, driven=k == 1)
        made.revolute(f"c{k}", "plate", point=pivot + pin)
    mechanism = made.build()
    structure = mbssa.decompose(mechanism)
    assert [group.bodies for group in structure.groups] == [(3,), (2, 4, 5)]
    motion = groups.default_motion(mechanism, steps=steps)
    found = groups.build(structure).solve(motion, branch=branch, compiled=compiled)
    assert (found.proof == proof).all()
    angle = motion.value[0] - motion.value[0, 0]
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shift = np.einsum("ijt,j->ti", turn, pin) - pin
    assert_allclose(found.orientation[:, 1], found.orientation[0, 1], atol=1e-12)
    assert_allclose(found.position[:, 1] - found.position[0, 1], shift, atol=1e-12)
    assert_allclose(found.velocity[:, 1, 2], 0.0, atol=1e-10)
    cranks = found.orientation[:, 2:] - found.orientation[0, 2:]
    assert_allclose(cranks, np.tile(angle[:, None], 3), atol=1e-12)


def test_smooth_goes_on_through_no_workspace_limit():
    mechanism = four_bar(1.0, 0.5, 0.6, 0.5, 1.0)
    model = groups.build(mbssa.decompose(mechanism))
    motion = turning(mechanism, 2 * np.pi, 13)
    smooth, proven = (model.solve(motion, compiled=False, branch=b) for b in ("smooth", "proven"))
    assert not smooth.ok
    assert smooth.faults() == proven.faults()
    assert [one.kind for one in smooth.singular] == ["path ends"]


@pytest.mark.parametrize("nearly", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("links", [(2.0, 1.0, 2.0, 1.0), (1.0, 1.0, 1.0, 1.0)], ids=["kite", "rhombus"])
def test_near_kites_and_rhombi_are_proven_over_a_whole_turn(links, nearly):
    """A crank a little too short comes near to another branch twice, and meets none."""
    ground, crank, coupler, rocker = links
    mechanism = four_bar(ground, crank - nearly, coupler, rocker, 0.7)
    model = groups.build(mbssa.decompose(mechanism))
    for instants in (13, 91):
        found = model.solve(turning(mechanism, 2 * np.pi, instants), branch="proven", compiled=False)
        assert found.ok
        assert (found.proof == 2).all()


def test_only_a_path_that_gets_faster_as_a_root_is_said_to_end():
    """A near-rhombus by Newton turns within 1e-7 rad of the crank: regular, and too fast for a proof."""
    for links, kind in (((1.0, 1.0 - 1e-7, 1.0, 1.0), "unresolved"), ((1.0, 0.5, 0.7, 0.5), "path ends")):
        mechanism = four_bar(*links, 1.0)
        model = groups.build(mbssa.decompose(mechanism), solvers={2: "Newton"})
        found = model.solve(turning(mechanism, 2 * np.pi, 20), branch="proven", compiled=False)
        assert [one.kind for one in found.singular] == [kind]


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
    assert found.status[at].tolist() == [OK, PASSED_SINGULAR, PREDECESSOR_FAILED]
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
    assert_allclose(found.velocity[0, 6], [*found.velocity[0, 6, :2], 0.3], atol=1e-12)


def test_arrays_have_the_instants_of_the_motion_and_the_levels_that_are_wanted(tmp_path):
    found = parallelogram(level="position", bodies=[3])
    assert found.velocity is None
    assert found.position.shape == (13, 1, 2)
    assert found.instants(slice(0, 5)).proof.min() == 2
    found.save(tmp_path / "run.npz")
    again = groups.load_trajectory(tmp_path / "run.npz")
    assert (again.proof == found.proof).all()
    assert again.faults() == found.faults()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("steps", [13, 91])
@pytest.mark.parametrize("name", MOVING)
def test_every_model_is_proven_whole(name, steps, compiled):
    mechanism = mbssa.load(name)
    model = groups.build(mbssa.decompose(mechanism))
    motion = groups.default_motion(mechanism, steps=steps)
    found = model.solve(motion, branch="proven", compiled=compiled)
    checked = model.solve(motion, branch="checked", compiled=compiled)
    assert (found.proof == 2).all()
    for array in ("position", "orientation", "velocity", "acceleration"):
        assert (getattr(found, array) == getattr(checked, array)).all()


@pytest.mark.parametrize("lanes", [None, 2])
@pytest.mark.parametrize(
    "name", ["rotor", "theo_jansen", "cam_roller", "involute_teeth", "andrews", "bricard"]
)
def test_machine_code_tells_what_numpy_tells(name, lanes):
    """Whole steps and halves of them; of a group that reads closed forms, curves, redundant rows."""
    mechanism = mbssa.load(name)
    model = groups.build(mbssa.decompose(mechanism))
    motion = groups.default_motion(mechanism, steps=31)
    X = columns_of(model, motion).X
    prover, h = prover_of(plan_of(model)), np.diff(motion.time)
    host = Host.here() if lanes is None else Host(Host.here().name, "", lanes)
    compiled = CompiledTests(prover, host=host)
    for columns, apart, length in ((X, 1, h), (X[:, ::2], 1, h[::2] + h[1::2]), (X, 3, 3.0 * h[:28])):
        with np.errstate(all="ignore"):
            margins, radii = prover.tests(1, compiled=False)(columns, apart, length)
        mine = compiled.tubes(columns, apart, length)
        assert ((margins > 0.0) == (mine[0] > 0.0)).all()
        known = np.isfinite(radii[0]) & (margins > 0.0).all(axis=0)
        assert_allclose(mine[1][0, known], radii[0, known], rtol=1e-2, atol=1e-13)
        assert_allclose(mine[1][1, known], radii[1, known], rtol=1e-4)


def test_a_later_group_out_of_reach_leaves_the_proofs_of_others_whole():
    made = mbssa.Builder("planar").bodies("crank", "coupler", "ternary", "rod", "rocker")
    made.revolute("frame", "crank", point=[0, 0], driven=True).revolute("crank", "coupler", point=[30, 40])
    made.revolute("coupler", "ternary", point=[150, 90]).revolute("frame", "ternary", point=[140, 0])
    made.revolute("ternary", "rod", point=[210, 60]).revolute("rod", "rocker", point=[300, 80])
    mechanism = made.revolute("frame", "rocker", point=[280, 0]).build()
    model = groups.build(mbssa.decompose(mechanism))
    found = model.solve(groups.default_motion(mechanism, steps=361), branch="proven")
    assert (found.proof[:, :2] == 2).all()
    assert (found.status[:, 2] != OK).any()
    assert [(one.group, one.kind) for one in found.singular] == [(3, "path ends")]


def test_groups_without_a_proof_are_checked():
    """In a flat parallelogram, whose sign holds where its path does not."""
    mechanism = four_bar(1.0, 0.5, 1.0, 0.5, np.pi / 4)
    model = groups.build(mbssa.decompose(mechanism))
    motion = turning(mechanism, 2 * np.pi, 14)
    prover_of(plan_of(model)).sure[:] = False
    found, checked = (model.solve(motion, branch=branch, compiled=False) for branch in ("proven", "checked"))
    assert not checked.ok
    assert found.status.tolist() == checked.status.tolist()
    assert (found.proof < 2).all()


def test_other_words_for_the_branch_are_refused():
    mechanism = mbssa.load("planar_four_bar")
    model = groups.build(mbssa.decompose(mechanism))
    with pytest.raises(ValueError, match="'sure'"):
        model.solve(branch="sure")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["global dense", "global sparse", "Newton"])
def test_any_solver_is_proven_and_led_back_where_it_jumped(name):
    mechanism = six_r_group()
    structure = mbssa.decompose(mechanism)
    motion = turning(mechanism, -6.01424812956567, 3)
    want = groups.build(structure).solve(motion, branch="proven", compiled=False)
    model = groups.build(structure, solvers={} if name == "Newton" else {2: name})
    found = model.solve(motion, branch="proven", compiled=False)
    jumped = model.solve(motion, branch="checked", compiled=False)
    if name != "Newton":  # which goes along the way in strides of its own, so that it does not jump
        assert np.abs(jumped.position - want.position).max() > 0.1
    everything = np.arange(mechanism.n_bodies)
    again = Proof(solved(model, motion, compiled=False)).in_place_of(jumped, everything, 2)
    for one in (want, found, again):
        assert (one.proof == 2).all()
        assert_allclose(one.position, want.position, atol=1e-9)
        assert_allclose(one.acceleration, want.acceleration, atol=1e-6)


@pytest.mark.slow
def test_the_global_approach_is_proven_by_the_groups():
    mechanism = six_r_group()
    structure = mbssa.decompose(mechanism)
    motion = turning(mechanism, -6.01424812956567, 3)
    want = groups.build(structure).solve(motion, branch="proven", compiled=False)
    found = groups.solve_globally(structure, motion, branch="proven", compiled=False)
    assert found.proof.tolist() == [[2]] * 3
    assert_allclose(found.position, want.position, atol=1e-8)


def test_plans_are_proven():
    mechanism = six_r_group()
    model = groups.build(mbssa.decompose(mechanism))
    motion = turning(mechanism, -6.01424812956567, 9)
    plan = routes.plan_of(model, routes.sequential_route(model), instants=9, executor="threads", workers=2)
    found = routes.run(model, plan, motion, branch="proven", compiled=False, bodies=[3], level="position")
    want = model.solve(motion, branch="proven", compiled=False)
    assert (found.proof == 2).all()
    assert found.velocity is None
    assert_allclose(found.position[:, 0], want.position[:, 2], atol=1e-9)


@pytest.mark.slow
def test_dyads_keep_their_branch_over_large_steps():
    for seed in range(3):
        mechanism = dyads(seed)
        for way in (0.5, -2.0):
            verdict = judge(mechanism, turning(mechanism, way, 2), branch="proven")
            assert (verdict.silent, verdict.refused) == ((), 0), (seed, way)


@pytest.mark.parametrize("name", ["Newton", "closed form"])
def test_poses_of_a_sweep_are_those_of_proven_motions(name):
    """Those that a motion straight from the reference has, at whatever end of it; beyond its limit none."""
    mechanism = four_bar(1.0, 0.5, 0.6, 0.5, 1.0)
    model = groups.build(mbssa.decompose(mechanism), solvers={2: name})
    (start,) = model.reference_inputs.values()
    ways = np.array([-0.3, 0.2] if name == "Newton" else [-0.3, 0.4, 0.8])
    found = solve_poses(model, start + ways[:, None], np.arange(4), branch="proven")
    for k, way in enumerate(ways):
        alone = model.solve(turning(mechanism, way, 2), compiled=False, branch="proven")
        assert (found.status[k] == 0).tolist() == (alone.status[-1] == 0).tolist()
        assert_allclose(found.position[k], alone.position[-1], atol=1e-9)
    assert not found.status[:2].any()
    assert found.status[2:, 1].all()


def with_two_dyads():
    """A crank's dyad that comes to an end of its reach, and one beside it that does not."""
    rows = [(1, 2, "R"), (2, 3, "R"), (3, 4, "R"), (1, 4, "R"), (2, 5, "R"), (5, 6, "R"), (1, 6, "R")]
    points = [(0, 0), (0.3, 0.4), (0.9, 0.6), (1.0, 0.0), (0.3, 0.4), (-1.0, 1.4), (-0.9, -0.3)]
    return linkage(rows, [{"point": at} for at in points])


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("mechanism", "reach", "solved_whole"),
    [
        (lambda: mbssa.load("planar_3rrr"), 0.6, 2),
        (lambda: mbssa.load("rotor"), 0.4, 2),
        (lambda: four_bar(1.0, 0.5, 1.0, 0.5, np.pi / 4), 4.0, 2),
        (with_two_dyads, 2.5, 3),
    ],
    ids=["planar_3rrr", "rotor", "flat", "two dyads"],
)
def test_lines_side_by_side_say_what_each_says_by_itself(mechanism, reach, solved_whole, compiled):
    """Also where some fail, or pass a singular position: status, proof and pose, by group."""
    made = mechanism()
    model = groups.build(mbssa.decompose(made))
    start = np.array(list(model.reference_inputs.values()))
    way = np.random.default_rng(3).uniform(-reach, reach, (6, len(start)))
    found = solve_poses(model, start + way, np.arange(made.n_bodies), branch="proven", compiled=compiled)
    assert solved_whole <= (found.status == OK).all(axis=1).sum() < 6
    for k, one in enumerate(way):
        value, rate = np.stack([start, start + one], axis=1), np.stack([one, one], axis=1)
        motion = groups.Motion(np.array([0.0, 1.0]), tuple(model.reference_inputs), value, rate, 0 * rate)
        alone = model.solve(motion, branch="proven", compiled=compiled)
        assert found.status[k].tolist() == alone.status[-1].tolist()
        assert found.proof[k].tolist() == alone.proof[-1].tolist()
        assert_allclose(found.position[k], alone.position[-1], atol=1e-9)


@pytest.mark.slow
def test_no_pose_of_a_sweep_is_on_another_branch():
    """Poses of the 6R2D group, which are led along the straight line from the reference."""
    mechanism = six_r_group()
    model = groups.build(mbssa.decompose(mechanism))
    (start,) = model.reference_inputs.values()
    ways = np.linspace(-3.1, -0.1, 12)
    motion = turning(mechanism, -3.1, 2)
    truth = follow(mechanism, cubics(motion), motion.time).at(np.sort(ways / -3.1))
    assert len(truth.position) == len(ways)
    for branch in ("checked", None):
        found = solve_poses(model, start + ways[::-1, None], np.arange(mechanism.n_bodies), branch=branch)
        sound = ~found.status.any(axis=1)
        off = np.abs(found.position - truth.position).max(axis=(1, 2)) > 1e-6
        assert not (sound & off).any(), branch
        assert sound.all() or branch == "checked"


def test_check_finds_the_singular_positions_of_the_models_motion():
    """A parallelogram's turn; the four-bar that is built in has none."""
    flat = replace(four_bar(1.0, 0.5, 1.0, 0.5, 0.7), name="flat")
    said = singular_positions(flat)
    assert len(said) == 1
    assert "SG-2 of" in said[0]
    assert "branches cross" in said[0]
    assert singular_positions(mbssa.load("planar_four_bar")) == []


def test_threads_may_prove_motions_of_one_new_model():
    mechanism = mbssa.load("rotor")
    model, motion = groups.build(mbssa.decompose(mechanism)), groups.default_motion(mechanism, steps=31)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: model.solve(motion, branch="proven", compiled=False), range(4)))
    assert all((one.proof == 2).all() for one in found)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_contact_that_leaves_an_open_profile_is_lost_in_proofs_too(compiled):
    """The line ends at 0.5; beyond, a polynomial is no profile."""
    made = mbssa.Builder("planar").bodies("cam", "follower")
    made.prismatic("frame", "cam", axis=[1, 0], driven=True).prismatic("frame", "follower", axis=[0, 1])
    profile = {"line": [[-0.5, 0], [0.5, 0]], "follower": "roller", "radius": 0.1}
    mechanism = made.cam("cam", "follower", profile=profile, points=[[0, 0], [0, 0.1]]).build()
    model = groups.build(mbssa.decompose(mechanism))
    motion = groups.sample(mechanism, {"1-2.slide": groups.polynomial(0.0, 0.9)}, np.linspace(0.0, 1.0, 5))
    for branch in ("checked", "proven", "smooth"):
        found = model.solve(motion, branch=branch, compiled=compiled)
        assert found.status[:, 1].tolist() == [OK, OK, OK, CONTACT_LOST, CONTACT_LOST], branch
        assert found.proof[:3, 1].min() == (1 if branch == "checked" else 2)
    run = solve_proven_poses(model, np.array([[-0.9], [-0.3], [0.3], [0.9]]), compiled)[0]
    assert run.answer.status[:, 1].tolist() == [CONTACT_LOST, OK, OK, CONTACT_LOST]
