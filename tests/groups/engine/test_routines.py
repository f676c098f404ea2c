"""Groups, their twins and routines: what is traced once, what NumPy solves, zeros of angles, rows."""

import numpy as np
import pytest
from linkages import linkage

import groups
import mbssa
from groups.engine import dense, routine
from groups.engine.kinematics import Group, Reference
from groups.engine.plan import Plan, groups_of
from groups.setting import Setting
from groups.status import SINGULAR
from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.evaluation import evaluated
from mbssa.joints.catalogue import type_of_joint

ANSWERS = ("position", "orientation", "velocity", "acceleration")


def chain_of_dyads(count, flat=None):
    """A driven crank, and dyads from the elbow of the last one to the frame; one may have no base."""
    rows, points, last, at = [(1, 2, "R", 1)], [(0.0, 0.0)], 2, (0.0, 1.0)
    for k in range(count):
        first, second, x = 3 + 2 * k, 4 + 2 * k, float(k + 1)
        elbow, foot = (x, 1.0 + 0.01 * (-1) ** k), at if k == flat else (x, 0.0)
        rows += [(last, first, "R", 0), (1, second, "R", 0), (first, second, "R", 0)]
        points += [at, foot, elbow]
        last, at = second, elbow
    return linkage(rows, [{"point": point} for point in points])


def four_bar(*points):
    rows = [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0)]
    return linkage(rows, [{"point": point} for point in points])


def built(mechanism, solvers=None):
    return groups.build(mbssa.decompose(mechanism), solvers)


def setting_of(model):
    return Setting.at(model.structure, model.frames, model.reference)


def solved(mechanism, rate=0.05, steps=31):
    motion = groups.constant_speed(mechanism, rate=rate, steps=steps)
    return built(mechanism).solve(motion, branch="checked", compiled=False)


# --- twins -------------------------------------------------------------------------------------------


def test_a_thousand_dyads_are_evaluated_and_traced_once(monkeypatch):
    calls, evaluate = [], Group.evaluate

    def counted(self, numbers):
        calls.append(self.index)
        return evaluate(self, numbers)

    monkeypatch.setattr(Group, "evaluate", counted)
    plan = Plan(built(chain_of_dyads(1000)))
    assert len({id(part.routine) for part in plan.parts}) <= 3  # the crank, the first dyad, all others
    assert len(calls) <= 12


@pytest.mark.parametrize("model_name", ["assur:I-40", "assur:II-30"])
def test_twins_found_at_once_are_those_found_one_by_one(model_name, monkeypatch):
    setting = setting_of(built(mbssa.load(model_name)))
    at_once = groups_of(setting)
    monkeypatch.setattr("groups.engine.plan.MANY", 10**9)
    for one, other in zip(groups_of(setting), at_once, strict=True):
        other.prepare()
        assert (one.names, one.own, one.links, one.label) == (
            other.names,
            other.own,
            other.links,
            other.label,
        )
        assert one.start == other.start
        assert (one.mode, one.zero) == (other.mode, other.zero)
        for table in ("bodies", "drives", "solved"):
            assert getattr(one.uses, table) == getattr(other.uses, table)
        assert np.array_equal(one.geometry, other.geometry)
        assert list(one.uses.given) == list(other.uses.given)


def test_a_dyad_without_a_base_among_twins_is_no_closed_form():
    setting = setting_of(built(chain_of_dyads(20, flat=7)))
    forms = [group.form is not None for group in groups_of(setting)]
    assert forms.count(False) == 2  # the crank and that dyad


def test_twins_give_the_bodies_that_a_mechanism_of_its_own_gives():
    chain = solved(chain_of_dyads(12))
    first = solved(chain_of_dyads(3))
    assert chain.ok
    for name in ANSWERS:
        mine, theirs = (getattr(one, name)[:, : first.position.shape[1]] for one in (chain, first))
        assert np.allclose(mine, theirs, rtol=0, atol=1e-12)


# --- singular, and large, groups ---------------------------------------------------------------------


def test_a_group_whose_jacobian_is_zero_is_singular_without_an_exception():
    found = solved(four_bar(*[(0.0, 0.0)] * 4), steps=5)
    assert (found.status[:, -1] == SINGULAR).all()


@pytest.mark.parametrize("name", ["triad", "stewart", "rssr", "micromanipulator_driven", "sarrus"])
def test_both_ways_of_solving_agree(name, monkeypatch):
    def answer(least):
        monkeypatch.setattr(routine, "MANY", least)
        model = built(mbssa.load(name))
        return model.solve(branch="checked", compiled=False)

    unrolled, dense = answer(10**9), answer(1)
    assert np.array_equal(unrolled.status, dense.status)
    assert np.allclose(unrolled.condition > 0, dense.condition > 0)
    for each in ANSWERS:
        one, other = getattr(unrolled, each), getattr(dense, each)
        finite = np.isfinite(one)
        assert np.array_equal(finite, np.isfinite(other))
        assert np.abs(one - other)[finite].max() < 1e-9 * max(1.0, np.abs(one[finite]).max())


def test_a_large_group_is_not_eliminated_symbol_by_symbol():
    (part,) = (part for part in Plan(built(mbssa.load("assur:II-8B"))).parts if part.n)
    assert part.n == 32
    assert part.routine.dense
    assert len(part.routine.graph.nodes) < 200 * part.n


def test_a_large_group_says_where_it_is_singular_or_out_of_reach(monkeypatch):
    def statuses(least):
        monkeypatch.setattr(routine, "MANY", least)
        return solved(mbssa.load("planar_3rrr"), rate=1.5, steps=16).status

    assert np.array_equal(statuses(10**9), statuses(1))


def test_inverses_of_singular_matrices_are_not_numbers_and_spare_the_others():
    J = np.array([[[1.0, 2.0], [2.0, 4.0]], [[2.0, 0.0], [0.0, 4.0]]])
    matrix, pivot = dense.inverse_of(J, np.ones(2))
    assert np.isnan(matrix[0]).all()
    assert np.allclose(matrix[1], [[0.5, 0.0], [0.0, 0.25]])
    assert pivot[0] == 0.0
    assert 0.1 < pivot[1] < 1.0
    assert dense.inverse_of(-J[1:] * [1, -1], np.ones(2)).pivot < 0


@pytest.mark.parametrize("name", ["stewart", "micromanipulator_driven", "triad", "cam_swing"])
def test_jacobians_of_what_depends_on_an_unknown_are_those_of_everything(name):
    for part in Plan(built(mbssa.load(name))).parts:
        one = part.routine
        dice = np.random.default_rng(3)
        numbers = {}

        def value(name, k, numbers=numbers, dice=dice):
            return numbers.setdefault((name, k), float(dice.uniform(0.2, 1.0)))

        for j in range(one.n):
            by = Direction(lambda name, k, j=j: 1.0 if name == "q" and k == j else 0.0)
            column = [row[j] for row in one.jacobian]
            plain = evaluated(derivative(one.rows, by), value)
            assert np.allclose(np.array(evaluated(column, value)), np.array(plain), rtol=1e-12, atol=1e-12)


# --- angles and rows ---------------------------------------------------------------------------------


def three_legs(**at_reference):
    """A platform on three chains of two hinged bodies, whose angles have these values at the reference."""
    feet = [(0.0, 0.0), (3.0, 0.0), (1.5, 3.0)]
    knees = [(-0.3, 1.0), (3.4, 1.0), (2.4, 2.6)]
    ends = [(0.8, 1.2), (2.2, 1.3), (1.5, 1.9)]
    made = mbssa.Builder("planar").bodies(*"abcdefp")
    for k, (upper, lower) in enumerate(["ab", "cd", "ef"]):
        keys = [
            {"at_reference": {"angle": at_reference[name]}} if name in at_reference else {}
            for name in (upper, lower, f"p{k}")
        ]
        made.revolute("frame", upper, point=feet[k], driven=True, **keys[0])
        made.revolute(upper, lower, point=knees[k], **keys[1])
        made.revolute(lower, "p", point=ends[k], **keys[2])
    return made.build()


def test_reference_angles_that_are_no_sums_of_coordinates_are_kept_along_a_chain():
    turned = {"a": 0.4, "b": 2.2, "p0": -5.0, "d": 7.0}
    plain, counted = (solved(three_legs(**keys), rate=0.02) for keys in ({}, turned))
    assert plain.ok
    assert counted.ok
    assert np.abs(plain.orientation[0]).max() < 1e-12
    for name in ANSWERS:
        assert np.allclose(getattr(plain, name), getattr(counted, name), rtol=0, atol=1e-11)


def test_rows_that_hold_a_point_are_distances_in_world_axes():
    model = built(mbssa.load("spatial_four_bar"))
    cuts = 0
    for group in groups_of(setting_of(model)):
        group.prepare()
        for j in group.cuts:
            kind = type_of_joint(group.mechanism, j)
            if not (kind.is_ball and kind.space == "spatial"):
                continue
            cuts += 1
            group.start = [x + 0.1 for x in group.start]
            bodies, rows = group.evaluate(Reference(group))
            ends = [
                bodies[b].end(*group.side(Reference(group), j, side)).place
                for side, b in enumerate(group.mechanism.joint_bodies(j)[:2])
            ]
            assert np.allclose(rows[:3], np.subtract(ends[1], ends[0]), rtol=0, atol=1e-15)
    assert cuts
