"""Questions about inputs: names, faults, and mechanisms that are driven as somebody says."""

import numpy as np
import pytest

import mbssa
from mbssa.faults import ModelError
from mbssa.input_search.query import Query, coordinates_of, make_query, with_inputs, with_terminals
from mbssa.input_search.undriven import undriven_mechanisms


@pytest.fixture(scope="module")
def rotor():
    return mbssa.load("rotor")


def faults(call):
    with pytest.raises(ModelError) as caught:
        call()
    return [str(fault) for fault in caught.value.faults]


class TestNames:
    def test_are_written_as_the_mechanism_writes_them(self, rotor):
        query = make_query(rotor, allow=["2-1, 13-1.slide", "2-1"], terminals=["16", 9])
        assert query.allow == ("1-2", "1-13.slide")
        assert query.terminals == (9, 16)

    def test_every_fault_is_named_at_once(self, rotor):
        found = faults(
            lambda: make_query(
                rotor, inputs=0, allow=["2-99", "1-2.slid", 3], require=["1-2"], forbid=["1-2"],
                per_joint=True, terminals=["x", 1, 77], precision=-1.0,
            )
        )  # fmt: skip
        assert len(found) == 10
        for part in (
            "'2-99'",
            "1-2.slide",
            "3 is no name",
            "'x'",
            "the frame",
            "77",
            "inputs: 0",
            "True",
            "-1.0",
        ):
            assert any(part in fault for fault in found), part
        assert "require: 1-2 is forbidden too; take it out of one of the lists" in found

    def test_what_is_required_must_be_allowed(self, rotor):
        assert faults(lambda: make_query(rotor, allow=["1-2"], require=["1-3"])) == [
            "require: 1-3 is not among the allowed; add it there"
        ]

    def test_of_two_joints_between_the_same_bodies_both_have_one(self):
        twice = mbssa.from_pairs(3, [(1, 2, "R", 1), (1, 2, "P", 0), (2, 3, "R", 1)], "planar")
        names = [twice.joints[j].text for j in range(3)]
        assert names == ["1-2#1", "1-2#2", "2-3"]
        assert [coordinates_of(twice, name) for name in names] == [[(0, 0)], [(1, 0)], [(2, 0)]]
        assert "ambiguous" in faults(lambda: with_inputs(twice, ["1-2.angle"]))[0]


class TestDriven:
    def test_the_inputs_of_a_model_give_the_model_back(self):
        for name in mbssa.builtin_names():
            mechanism = mbssa.load(name)
            names = [
                f"{joint.text}.{coordinate}" for joint in mechanism.joints for coordinate in joint.driven
            ]
            again = with_inputs(mechanism, names)
            assert np.array_equal(again.driven, mechanism.driven), name
            assert again.motion == mechanism.motion, name

    def test_a_motion_of_other_coordinates_does_not_stay(self):
        four_bar = mbssa.load("planar_four_bar")
        assert with_inputs(four_bar, "1-4").motion is None

    def test_a_joint_alone_means_its_one_coordinate(self, rotor):
        assert with_inputs(rotor, "1-2,1-13").n_driven == 2
        (message,) = faults(lambda: with_inputs(rotor, ["10-1"]))
        assert "'10-1': a U has 2 coordinates; write 1-10.angle_1 or 1-10.angle_2" in message

    def test_a_coordinate_twice_is_a_fault(self, rotor):
        assert faults(lambda: with_inputs(rotor, ["1-2", "2-1.slide"])) == [
            "inputs: '2-1.slide' is written twice"
        ]


class TestTerminals:
    def test_an_undriven_terminal_binds_nothing(self, rotor):
        more = with_terminals(rotor, [9, 16])
        assert more.n_joints == rotor.n_joints + 2
        assert more.mobility == rotor.mobility
        assert [str(group) for group in mbssa.decompose(more).groups] == [
            str(group) for group in mbssa.decompose(rotor).groups
        ]

    def test_a_body_with_an_F_gets_no_second_one(self):
        stewart = mbssa.load("stewart")
        assert with_terminals(stewart, [14]) is stewart

    def test_a_planar_one_is_an_FP(self):
        assert with_terminals(mbssa.load("planar_3rrr"), [8]).joint("1-8").type.code == "FP"


class TestNumberOfInputs:
    def test_is_that_of_the_model_or_of_its_useful_motions(self):
        for name, options, number in [
            ("rotor", None, 3),
            ("rssr", None, 1),
            ("rssr", 2, 2),
            ("six_sps", None, 6),
            ("six_sps", 12, 12),
            ("bennett", None, 1),
        ]:
            assert undriven_mechanisms(mbssa.load(name), Query(inputs=options))[0][0].n_inputs == number, (
                name,
                options,
            )

    def test_without_inputs_of_its_own_passive_rotations_need_none(self):
        undriven = with_inputs(mbssa.load("rssr"), [])
        assert undriven_mechanisms(undriven, Query())[0][0].n_inputs == 1

    def test_another_number_is_refused_with_the_right_one(self):
        for name, options, message in [
            ("rotor", 5, "5 inputs for 3 .*write 3"),
            (
                "rssr",
                3,
                "3 inputs for 2 free motions, 1 of them a passive rotation; "
                "write 1, or 2 to drive the passive rotation too$",
            ),
            (
                "six_sps",
                8,
                "8 inputs for 12 free motions, 6 of them passive rotations; "
                "write 6, or 12 to drive all passive rotations too; "
                "inputs for some of the passive rotations are not searched for",
            ),
        ]:
            with pytest.raises(ModelError, match=message):
                undriven_mechanisms(mbssa.load(name), Query(inputs=options))

    def test_a_structure_that_cannot_move_has_no_inputs(self):
        truss = mbssa.from_pairs(3, [(1, 2, "R", 0), (2, 3, "R", 0), (1, 3, "R", 0)], "planar")
        with pytest.raises(ModelError, match="no free motion"):
            undriven_mechanisms(truss, Query())
