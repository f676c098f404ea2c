"""Independent and dependent coordinates: the seeds' examples, brute force, what is redundant, bad choices."""

from itertools import combinations, product

import numpy as np
import pytest

import groups
import mbssa
from groups.partitioning import partition
from groups.partitioning.choice import METHODS
from groups.reports.partitioning import partition_report

#: Every kind of joint, loops with redundant equations, and inputs that are bound.
MODELS = ("planar_four_bar", "theo_jansen", "cam_roller", "planetary", "rotor", "stewart", "bricard", "rssr")
MODELS += ("universal_shafts", "micromanipulator", "micromanipulator_driven")


class TestSeeds:
    def test_suspension_has_five_coordinates_two_constraints_and_two_dependent(self):
        found = partition(mbssa.load("suspension"))
        assert (found.n, len(found.opened.equations), found.rank) == (5, 2, 2)
        assert found.dependent == ("3-4.angle", "2-6.angle")
        assert found.driven == ("1-2.slide", "2-3.angle", "4-5.angle")
        assert found.redundant == ()

    def test_suspension_with_nothing_driven_leaves_what_is_outside_the_loop_independent(self):
        for method in METHODS:
            found = partition(mbssa.load("suspension"), method, driven=())
            assert len(found.independent) == 3
            assert {"1-2.slide", "4-5.angle"} < set(found.independent)

    def test_all_independent_then_some_dependent_as_set_qu_and_set_qv(self):
        """Crank and rod are dependent, so the pendulum is independent: the seed's choice."""
        found = partition(
            mbssa.load("pendulum_four_bar"), independent="all", dependent=["1-3.angle", "3-4.angle"]
        )
        assert found.independent == ("1-2.angle",)
        assert found.driven == ()
        assert found.method == "given"

    def test_the_text_has_the_sets_by_number(self):
        text = partition_report(partition(mbssa.load("suspension"), driven=())).text()
        assert "set_qu([1, 4, 5])  set_qv([2, 3])  set_qc([])" in text


def test_ranks_are_those_of_singular_values_and_what_is_kept_is_regular():
    for name, method, driven in product(MODELS, METHODS, (None, ())):
        found, case = partition(mbssa.load(name), method, driven=driven), (name, method, driven)
        names = found.opened.coordinates
        free = [k for k, each in enumerate(names) if each not in found.driven]
        assert found.rank == np.linalg.matrix_rank(found.jacobian[:, free], tol=1e-9), case
        assert found.bound == np.linalg.matrix_rank(found.jacobian, tol=1e-9) - found.rank, case
        assert len(found.redundant) == len(found.opened.equations) - found.rank, case
        assert sorted((*found.independent, *found.dependent, *found.driven)) == sorted(names), case
        assert len(found.dependent) == found.rank, case
        rows = [k for k, each in enumerate(found.opened.equations) if each not in found.redundant]
        columns = [names.index(each) for each in found.dependent]
        singular = np.linalg.svd(found.jacobian[np.ix_(rows, columns)], compute_uv=False)
        assert singular[-1] > 1e-3, case
        assert found.condition == pytest.approx(singular[-1] / singular[0]), case


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["suspension", "planar_3rrr", "spatial_4r", "bricard"])
def test_of_all_choices_of_dependent_coordinates_ours_is_among_the_best(name, method):
    """By brute force: what is called regular is, and greedy pivots lose at most r! of the largest volume."""
    mechanism = mbssa.load(name)
    found = partition(mechanism, method, driven=())
    J, r, names = found.jacobian, found.rank, found.opened.coordinates
    volume = {}
    for columns in combinations(range(found.n), r):
        volume[columns] = float(np.prod(np.linalg.svd(J[:, columns], compute_uv=False)[:r]))
    ours = tuple(sorted(names.index(each) for each in found.dependent))
    bound = float(np.prod(np.arange(1, r + 1))) if method == "qr" else 4.0**r
    assert volume[ours] * bound >= max(volume.values())
    median = np.median([each for each in volume.values() if each > 1e-9])
    assert volume[ours] >= 0.999 * median
    for columns, size in list(volume.items())[:20]:
        wanted = [names[k] for k in columns]
        if size > 1e-6:
            assert set(partition(mechanism, driven=(), dependent=wanted).dependent) == set(wanted)
        elif size < 1e-12:
            with pytest.raises(ValueError, match="singular"):
                partition(mechanism, driven=(), dependent=wanted)


class TestRedundant:
    def test_a_planar_loop_in_space_has_three_that_hold_it_in_its_plane(self):
        for name, method in product(("spatial_4r", "slider_crank"), METHODS):
            found = partition(mbssa.load(name), method)
            assert found.redundant == ("3-4: position z", "3-4: tilt x", "3-4: tilt y"), (name, method)
        assert partition(mbssa.load("planar_four_bar")).redundant == ()

    def test_as_many_as_the_loop_has_too_many(self):
        for name, many in (("bennett", 3), ("bricard", 1), ("sarrus", 1), ("double_parallelogram", 1)):
            mechanism = mbssa.load(name)
            found = partition(mechanism, driven=())
            assert len(found.redundant) == many, name
            assert len(found.independent) == mechanism.mobility + many, name

    def test_inputs_that_the_paper_prints_for_the_micro_manipulator_are_bound(self):
        """Its groups of two balls on one body lose a rank each; driven otherwise, nothing is redundant."""
        found = partition(mbssa.load("micromanipulator"))
        assert (found.bound, len(found.redundant)) == (4, 4)
        assert "4 combinations of them cannot be prescribed" in partition_report(found).text()
        for sound in (
            partition(mbssa.load("micromanipulator"), driven=()),
            partition(mbssa.load("micromanipulator_driven")),
        ):
            assert (sound.bound, sound.redundant) == (0, ())


class TestDriven:
    def test_a_driven_coordinate_of_a_cut_joint_is_an_equation(self):
        found = partition(mbssa.load("pendulum_four_bar"), cuts=["1-2"])
        assert found.prescribed == ("1-2: angle",)
        assert found.driven == ()
        assert (found.n, found.rank, len(found.independent)) == (3, 3, 0)

    def test_others_than_the_models_may_be_driven(self):
        found = partition(mbssa.load("pendulum_four_bar"), driven=["1-3.angle"])
        assert found.driven == ("1-3.angle",)
        assert "1-3.angle" not in found.dependent

    def test_one_that_is_named_independent_is_no_longer_driven(self):
        found = partition(mbssa.load("pendulum_four_bar"), independent=["1-2.angle"])
        assert (found.independent, found.driven) == (("1-2.angle",), ())

    def test_idle_spins_of_legs_are_what_stays_independent(self):
        found = partition(mbssa.load("six_sps"))
        assert len(found.driven) == len(found.independent) == 6
        assert found.bound == 0


def refused(match, name="suspension", **arguments):
    with pytest.raises(ValueError, match=match) as error:
        partition(mbssa.load(name), **arguments)
    return str(error.value)


class TestBadChoices:
    def test_too_many(self):
        said = refused("4, .* 2", driven=(), independent=["4-5.angle"])
        for text in ("1-2.slide", "2-3.angle, 3-4.angle, 2-6.angle", "dependent = "):
            assert text in said

    def test_too_few(self):
        assert "2-3.angle, 2-6.angle" in refused("1, .* 2", driven=(), dependent=["3-4.angle"])

    def test_singular_with_the_coordinates_concerned_and_one_that_would_do(self):
        said = refused("singular: 1-2.slide", driven=(), dependent=["1-2.slide", "2-6.angle"])
        would_do = said.rpartition("dependent = ")[2].split(", ")
        assert "2-6.angle" in would_do
        found = partition(mbssa.load("suspension"), driven=(), dependent=would_do)
        assert set(found.dependent) == set(would_do)

    def test_all_names_that_there_are_not_at_once(self):
        said = refused("independent: ", independent=["1-2.slid"], dependent=["9"], driven=["2-3.angel"])
        for text in ("'1-2.slid'", "dependent: no coordinate '9'", "driven: no coordinate '2-3.angel'"):
            assert text in said

    def test_what_is_driven_cannot_depend(self):
        refused("2-3.angle is driven", dependent=["2-3.angle", "2-6.angle"])

    def test_both_lists_must_name_all(self):
        independent = ["1-2.slide", "4-5.angle", "2-3.angle"]
        refused("2-6.angle: neither", independent=independent, dependent=["3-4.angle"])

    def test_arguments(self):
        refused("'lu'", method="lu")
        refused("tolerance is 1.0", tolerance=1.0)
        refused("one text", independent="1-2.slide")

    def test_a_reference_that_cannot_close(self):
        """Links of 0.1 m, 0.1 m and 0 between supports 5 m apart."""
        with pytest.raises(ValueError, match="cannot be assembled"):
            partition(bar_of_frames(5.0))

    def test_what_a_dense_matrix_is_too_large_for_is_refused_before_it_is_made(self):
        refused("3,000 equations in 3,001", "assur:I-1500", driven=())


def bar_of_frames(base):
    """The four-bar with links of 0.1 m, 0.1 m and 0, all bodies at the world's origin, its supports apart."""
    from mbssa.io.records import from_record, to_record

    record = to_record(mbssa.load("planar_four_bar"))
    for entry in record["joint"]:
        entry.pop("point")
        entry.pop("at_reference", None)
        first, second = entry["bodies"]
        on_first = base if (first, second) == ("frame", "rocker") else 0.0
        entry["frames"] = [{"origin": [on_first, 0.0]}, {"origin": [0.1, 0.0]}]
    return from_record(record, "open", "open")


def test_a_reference_far_from_closed_is_assembled():
    """Supports at one place and a link of no length: the two other links fold over each other."""
    found = partition(bar_of_frames(0.0))
    value = dict(zip(found.opened.coordinates, found.value, strict=True))
    assert value["2-3.angle"] % (2 * np.pi) == pytest.approx(np.pi, abs=1e-5)


class TestInstants:
    def test_at_an_instant_the_coordinates_stand_where_the_motion_is(self):
        mechanism = mbssa.load("suspension")
        trajectory = groups.build(mbssa.decompose(mechanism)).solve()
        found = partition(mechanism, at=trajectory.instants(slice(20, 21)))
        for name, value in zip(found.opened.coordinates, found.value, strict=True):
            joint, _, coordinate = name.rpartition(".")
            assert value == pytest.approx(trajectory.joint(joint)[coordinate].value[20], abs=1e-12)

    def test_flat_arms_lose_a_rank(self):
        mechanism = mbssa.load("suspension")
        model = groups.build(mbssa.decompose(mechanism))
        laws = {name: groups.constant(value) for name, value in model.reference_inputs.items()}
        laws["2-3.angle"] = groups.speed(np.pi / 2, 0.0)
        near = model.solve(groups.sample(mechanism, laws, np.linspace(0.0, 1.0 - 1e-4, 50)))
        conditions = [
            partition(mechanism, driven=(), at=near.instants(slice(k, k + 1))).condition for k in (0, 25, 49)
        ]
        assert conditions[0] > conditions[1] > 1e3 * conditions[2]
        flat = partition(mechanism, driven=(), at=near.instants(slice(49, 50)), tolerance=1e-3)
        assert (flat.rank, len(flat.redundant), len(flat.independent)) == (1, 1, 4)

    def test_several_instants_are_refused(self):
        mechanism = mbssa.load("suspension")
        trajectory = groups.build(mbssa.decompose(mechanism)).solve()
        with pytest.raises(ValueError, match="201 instants"):
            partition(mechanism, at=trajectory)

    def test_an_instant_that_was_not_solved_is_refused(self):
        mechanism = mbssa.load("pendulum_four_bar")
        model = groups.build(mbssa.decompose(mechanism))
        trajectory = model.solve(groups.constant_speed(mechanism, steps=41))
        bad = int(np.flatnonzero(trajectory.status.any(axis=1))[0])
        with pytest.raises(ValueError, match="out of reach"):
            partition(mechanism, at=trajectory.instants(slice(bad, bad + 1)))


def test_an_open_chain_has_nothing_to_depend(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(
        'format = 1\nspace = "planar"\nbodies = 3\n'
        '[[joint]]\nbodies = [1, 2]\ntype = "R"\npoint = [0, 0]\n'
        '[[joint]]\nbodies = [2, 3]\ntype = "P"\naxis = [1, 0]\n'
    )
    found = partition(mbssa.load(str(path)))
    assert (found.independent, found.rank, found.condition) == (("1-2.angle", "2-3.slide"), 0, 1.0)
    assert "no loop to cut" in partition_report(found).text()


def test_a_model_whose_numbers_are_rounded_keeps_its_redundant_equations():
    """Digits that are lost tilt an axis by 1e-6: more than the tolerance, less than what they mean."""
    from mbssa.io.records import from_record, to_record

    record = to_record(mbssa.load("spatial_4r"))
    record.pop("motion")
    record["joint"][1]["axis"] = [0.000001, 0.0, 1.0]
    found = partition(from_record(record, "tilted", "tilted"))
    assert found.tolerance > 1e-7
    assert len(found.redundant) == 3


def test_an_instant_of_another_mechanism():
    bar = mbssa.load("planar_four_bar")
    path = groups.build(mbssa.decompose(bar)).solve(groups.constant_speed(bar, steps=1))
    with pytest.raises(ValueError, match="another mechanism"):
        partition(mbssa.load("spatial_4r"), at=path)
