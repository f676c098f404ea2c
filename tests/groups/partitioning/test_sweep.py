"""The structural and the numerical choice along motions: dead points, flat positions, changes of the set."""

import json

import numpy as np
import pytest

import groups
import mbssa
from groups.partitioning import partition, sweep_partition
from groups.pictures.partitioning import conditions
from groups.reports.partitioning import sweep_report, verdict_of

PENDULUM, SUSPENSION, FOUR_BAR = "pendulum_four_bar", "suspension", "planar_four_bar"


def built(mechanism):
    mechanism = mbssa.load(mechanism) if isinstance(mechanism, str) else mechanism
    return groups.build(mbssa.decompose(mechanism))


def cranked(steps=361):
    """The pendulum four-bar turned once by its crank, through both dead points of the pendulum."""
    other = mbssa.with_inputs(mbssa.load(PENDULUM), ["1-3.angle"])
    return built(other).solve(groups.constant_speed(other, steps=steps), level="velocity")


@pytest.fixture(scope="module", name="turn")
def _turn():
    return sweep_partition(built(PENDULUM), cranked())


def folding(degrees=95.0, steps=191):
    """The suspension's arms swung through the position in which they are flat, at 90 degrees."""
    model = built(SUSPENSION)
    laws = {name: groups.constant(value) for name, value in model.reference_inputs.items()}
    laws["2-3.angle"] = groups.speed(np.radians(degrees), 0.0)
    return groups.sample(model.mechanism, laws, np.linspace(0.0, 1.0, steps))


class TestDeadPoint:
    """The crank passes the pendulum's dead points: the structural choice and its groups alone warn."""

    def test_it_is_where_crank_and_rod_are_in_line(self, turn):
        path = cranked()
        reach = np.linalg.norm(path.body("pendulum").point([0.36, -0.48]) - [-0.8, 0.0], axis=1)
        assert len(turn.structural.crossings) == 2
        for k, stretched in zip(turn.structural.crossings, (0.95 - 0.41, 0.95 + 0.41), strict=True):
            np.testing.assert_allclose(reach[k : k + 2], stretched, atol=1e-3)

    def test_structural_choice_and_groups_warn_and_the_others_do_not(self, turn):
        assert [one.crossed for one in turn.warnings] == [("structural",)] * 2
        for one in turn.warnings:
            assert one.lowest["structural"] < turn.near
            assert one.lowest["groups"] < turn.near
            assert min(one.lowest[name] for name in ("once", "held", "anew", "whole")) > 5 * turn.near
        assert "the driven coordinates are at a dead point" in sweep_report(turn).text()

    def test_between_samples_it_is_seen_by_its_determinant(self):
        coarse = sweep_partition(built(PENDULUM), cranked(steps=12))
        assert coarse.structural.condition.min() > coarse.near
        assert len(coarse.structural.crossings) == 2
        assert len(coarse.warnings) == 2

    def test_wherever_the_loop_is_cut(self, turn):
        path = cranked()
        for cuts in (["3-4"], ["1-3"], ["1-2"], ["1-3", "3-4"], ["2-4", "3-4"]):
            swept = sweep_partition(built(PENDULUM), path, cuts=cuts)
            assert swept.structural.crossings == turn.structural.crossings, cuts

    def test_the_users_set_has_to_change_before_it(self, turn):
        """The seed makes crank and rod dependent: the pendulum, its independent coordinate, gets stuck."""
        swept = sweep_partition(built(PENDULUM), cranked(), independent=["1-2.angle"])
        assert swept.given
        assert swept.once.crossings == turn.structural.crossings
        ((k, before, after),) = swept.changes
        assert before == ("1-2.angle",)
        assert after != before
        assert k < swept.once.crossings[0]
        assert swept.held.condition[k:].min() > 5 * swept.near


def test_only_the_numerical_choice_warns_where_its_set_is_stuck():
    """The rocker as the independent coordinate of a crank-rocker that the crank drives."""
    swept = sweep_partition(
        built(FOUR_BAR), groups.default_motion(mbssa.load(FOUR_BAR)), independent=["1-4.angle"], method="qr"
    )
    assert len(swept.warnings) == 2
    for one in swept.warnings:
        assert one.crossed == ("once",)
        assert min(value for name, value in one.lowest.items() if name != "once") > 5 * swept.near
    assert "the structural choice passes it" in sweep_report(swept).text()


def test_flat_arms_are_singular_for_every_choice():
    swept = sweep_partition(built(SUSPENSION), folding())
    (one,) = swept.warnings
    assert swept.time[one.first] < 90 / 95 < swept.time[one.last]
    assert max(one.lowest.values()) < swept.near
    assert swept.changes == ()
    assert "no choice helps" in sweep_report(swept).text()


def test_suspension_in_its_travel_warns_of_nothing():
    swept = sweep_partition(built(SUSPENSION))
    assert swept.warnings == ()
    assert "no warning" in sweep_report(swept).text()


class TestWhatIsComputed:
    @pytest.mark.parametrize("method", ["complete", "qr"])
    def test_anew_and_with_drives_are_what_a_partition_at_that_instant_says(self, method):
        for name in ("planar_3rrr", "spatial_4r"):
            model = built(name)
            motion = groups.default_motion(model.mechanism, steps=3)
            swept, trajectory = sweep_partition(model, motion, method=method), model.solve(motion)
            for k in (0, 2):
                at = trajectory.instants(slice(k, k + 1))
                found = partition(model.mechanism, method, at=at, driven=())
                assert swept.anew.sets[swept.anew.which[k]] == found.independent, (name, k)
                driven = partition(model.mechanism, method, at=at)
                assert swept.structural.condition[k] == pytest.approx(driven.condition), (name, k)

    def test_the_held_set_is_never_far_worse_than_a_new_one(self):
        for name, limit in (("theo_jansen", 0.9), ("theo_jansen", 1.0), ("double_parallelogram", 1.0)):
            swept = sweep_partition(built(name), limit=limit)
            assert (swept.held.condition >= limit * swept.anew.condition - 1e-12).all(), (name, limit)
            assert swept.changes or name == "double_parallelogram", (name, limit)

    def test_groups_are_conditioned_better_than_all_coordinates_at_once(self):
        """The paper's advantage (f)."""
        for name in ("rotor", "stewart", "andrews", "theo_jansen"):
            model = built(name)
            swept = sweep_partition(model, groups.default_motion(model.mechanism, steps=41))
            assert swept.worst_group.min() > 2 * swept.structural.condition.min()
            assert swept.worst_group.min() > 2 * swept.anew.condition.min()

    def test_redundant_equations_have_no_determinant(self):
        swept = sweep_partition(built("spatial_4r"))
        assert swept.rank == 2
        assert swept.structural.crossings == ()

    def test_agreement_is_of_sets(self):
        swept = sweep_partition(built("spatial_four_bar"))
        assert swept.agree.all()
        assert not sweep_partition(built("stewart")).agree.any()


class TestWithoutPoses:
    def test_instants_out_of_reach_are_nan_and_null(self):
        swept = sweep_partition(built(PENDULUM), groups.constant_speed(mbssa.load(PENDULUM), steps=41))
        lost = swept.status.any(axis=1)
        assert lost.any()
        assert not lost.all()
        for one in (swept.structural, swept.once, swept.held, swept.anew):
            assert np.isnan(one.condition[lost]).all()
            assert np.isfinite(one.condition[~lost]).all()
        assert swept.worst_group[lost].max() == 0
        record = json.loads(sweep_report(swept).json())
        condition = record["choices"]["once"]["condition"]
        assert all(condition[k] is None for k in np.flatnonzero(lost))
        assert not swept.agree[lost].any()
        (warned,) = [one for one in swept.warnings if not np.isfinite(one.lowest["whole"])]
        assert lost[warned.first : warned.last + 1].all()
        assert verdict_of(swept, warned) == (["groups (not solved)"], [], verdict_of(swept, warned)[2])
        assert "no pose" in verdict_of(swept, warned)[2]
        assert "(nan" not in sweep_report(swept).text()

    def test_bad_input_is_refused(self):
        model, other = built(PENDULUM), built(FOUR_BAR)
        motion = groups.constant_speed(model.mechanism, steps=41)
        elsewhere = groups.constant_speed(other.mechanism, steps=5)
        for said, arguments in (
            ("another mechanism", {"path": other.solve(elsewhere)}),
            ("not solved: SG-2", {"path": model.solve(motion)}),
            ("1, .* 2", {"independent": ["1-2.angle", "1-3.angle"]}),
            ("near is 2", {"near": 2}),
            ("limit is -1", {"limit": -1}),
            ("'lu'", {"method": "lu"}),
        ):
            with pytest.raises(ValueError, match=said):
                sweep_partition(model, **arguments)


def test_csv_has_a_row_per_instant_with_all_conditions(turn):
    header, *rows = sweep_report(turn).csv().splitlines()
    assert len(rows) == len(turn.time)
    columns = header.split(",")
    assert columns[:3] == ["time", "structural.condition", "structural.singular"]
    assert float(rows[118].split(",")[1]) == turn.structural.condition[118]
    assert rows[0].split(",")[columns.index("anew.independent")] == "3-4.angle"


class TestPicture:
    def test_each_curve_can_be_seen_and_changes_are_in_the_key(self, turn):
        given = sweep_partition(built(PENDULUM), cranked(steps=121), independent=["1-2.angle"])
        (axes,) = conditions(given).axes
        curves = {line.get_label(): line for line in axes.get_lines()}
        # The structural choice and the user's are one and the same: the thinner one lies above, with gaps.
        assert curves["once"].get_linewidth() < curves["structural"].get_linewidth()
        assert curves["once"].get_linestyle() != "-"
        names = [line.get_label() for line in axes.get_lines()]
        assert names.index("once") > names.index("structural")
        assert "held changes" in [text.get_text() for text in axes.figure.legends[0].get_texts()]
        assert "held changes" not in [text.get_text() for text in conditions(turn).legends[0].get_texts()]

    def test_instants_without_a_pose_do_not_spoil_the_scale(self):
        swept = sweep_partition(built(PENDULUM), groups.constant_speed(mbssa.load(PENDULUM), steps=41))
        assert np.isnan(swept.structural.condition).any()
        (axes,) = conditions(swept).axes
        assert axes.get_ylim() == (pytest.approx(1e-4), pytest.approx(1.3))
        sound = sweep_partition(built(FOUR_BAR), groups.constant_speed(mbssa.load(FOUR_BAR), steps=25))
        lowest = min(one.condition.min() for one in (sound.structural, sound.once, sound.held, sound.anew))
        assert conditions(sound).axes[0].get_ylim()[0] == pytest.approx(0.5 * min(lowest, sound.whole.min()))
