"""Loops and their order of solution: the paper's loops, counts, and what the Jacobian says of them."""

import dataclasses
import random

import numpy as np
import pytest

import mbssa
from mbssa.io.multiple import spanning_choices
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import rows_at
from mbssa.loops import independent_loops, wehage_substructures
from mbssa.loops.solution import Block, match, order_of_solution
from mbssa.singularities.ranks import rank_of

#: All kinds of joint, passive rotations, redundant loops, merged modules.
MODELS = (
    "planar_four_bar", "theo_jansen", "cam_roller", "planetary", "rotor", "stewart", "six_sps", "bricard",
    "double_parallelogram", "universal_shafts", "micromanipulator_driven", "assur:II-3", "assur:III-4B",
)  # fmt: skip


def modules_of(found):
    return [(module.loops, module.equations, module.unknowns, module.size) for module in found.modules]


class TestPaper:
    def test_nine_bar_is_solved_loop_after_loop(self):
        """Section 1.1 and Fig. 1b: {CL-I, CL-II} have the fewest coordinates; two equations each when cut."""
        found = independent_loops(mbssa.load("nine_bar"))
        assert [set(loop.bodies) for loop in found.loops] == [{1, 2, 3, 4, 5, 6}, {1, 6, 5, 7, 8, 9}]
        assert modules_of(found) == [((1,), 3, 3, 2), ((2,), 3, 3, 2)]
        assert list(found.dag.edges) == [(1, 2)]
        assert set(found.modules[1].known) == {"1-6.angle", "5-6.angle", "1-9.angle"}

    def test_rotor_has_the_six_loops_of_section_4(self):
        found = independent_loops(mbssa.load("rotor"))
        assert {frozenset(loop.bodies) for loop in found.loops} == {
            frozenset({1, 13, 9, 10}),
            frozenset({1, 13, 9, 6, 3}),
            frozenset({13, 9, 11, 14, 16, 15}),
            frozenset({1, 13, 9, 11, 7, 4}),
            frozenset({13, 15, 16, 12, 8, 9}),
            frozenset({1, 13, 9, 8, 5, 2}),
        }
        assert found.determined
        # "18 nonlinear constraint equations ... open at their spherical joints"
        assert [module.size for module in found.modules] == [3] * 6
        codes = {found.mechanism.joints[cut].type.code for module in found.modules for cut in module.cuts}
        assert codes == {"S"}

    def test_the_loops_chosen_in_the_nine_bar_by_table_1_are_ordered_all_the_same(self):
        """Table 1 yields {CL-I, CL-III}: hierarchical too, with more coordinates."""
        tree = {"P": [0, 1, 2, 3, 4, 5, 8, 9, 1, 7, 6], "loop_terminators": [[5, 10], [1, 11]]}
        found = wehage_substructures(mbssa.load("nine_bar"), tree=tree)
        assert modules_of(found) == [((2,), 3, 3, 2), ((1,), 3, 3, 2)]
        assert sum(loop.n_coordinates for loop in found.loops) == 14

    def test_the_loops_that_table_5_merges_could_be_solved_apart(self):
        """CL-III holds six unknowns for its six equations; CL-V then has six left for its own."""
        found = wehage_substructures(mbssa.load("rotor"))
        assert (len(found.modules), found.n_apart) == (5, 6)
        assert "5 modules in 2 levels; 6 if merged loops were solved apart" in str(found)

    def test_three_of_the_six_substructures_of_table_7_cannot_be_solved_apart(self):
        """The loops iii, iv and vi share 18 unknown coordinates for 18 equations."""
        tree = {
            "P": [0, 1, 1, 7, 2, 3, 11, 5, 10, 1, 14, 8, 1, 16, 13, 12, 13, 4, 16, 8, 9, 11],
            "loop_terminators": [[9, 17], [1, 18], [19, 15], [20, 9], [6, 21], [9, 22]],
        }
        found = wehage_substructures(mbssa.load("rotor"), tree=tree)
        assert len(found.substructures) == 6
        assert modules_of(found) == [
            ((1,), 6, 6, 3),
            ((5,), 6, 6, 3),
            ((3, 4, 6), 18, 18, 9),
            ((2,), 6, 6, 3),
        ]


@pytest.mark.parametrize("find", [independent_loops, wehage_substructures])
class TestEveryModel:
    def test_the_loops_count_as_equation_1_says(self, find):
        for name in MODELS:
            mechanism = mbssa.load(name)
            found = find(mechanism)
            assert len(found.loops) == mechanism.n_joints - len(found.left_out) - (mechanism.n_bodies - 1), (
                name
            )
            assert sorted(number for module in found.modules for number in module.loops) == list(
                range(1, len(found.loops) + 1)
            ), name

    def test_each_unknown_coordinate_is_computed_once_before_it_is_needed(self, find):
        for name in MODELS:
            found = find(mbssa.load(name))
            # What a gear on a carrier or a user's function of three bodies binds is in no loop.
            wide = {j.index for j in found.mechanism.joints if len(j.bodies) > 2}
            assert wide <= set(found.left_out), name
            assert found.determined == (not wide), name
            if wide:
                continue
            computed = set()
            for module in found.modules:
                assert module.equations == module.unknowns == len(set(module.computes)), name
                assert computed.isdisjoint(module.computes), name
                joints = {joint for number in module.loops for joint in found.loops[number - 1].joints}
                driven = {
                    f"{j.id}.{at}" for j in found.mechanism.joints if j.index in joints for at in j.driven
                }
                assert set(module.known) <= computed | driven, name
                computed |= set(module.computes)
            every = {at for loop in found.loops for at in loop.unknown}
            assert computed == every - set(found.held), name

    def test_with_what_is_known_before_the_loops_of_a_module_cannot_move(self, find):
        """The Jacobian of a module's joints, with its known coordinates fixed, has full column rank."""
        for name in MODELS:
            found = find(mbssa.load(name))
            for module in found.modules:
                joints = {joint for number in module.loops for joint in found.loops[number - 1].joints}
                fixed = driven_by(found.mechanism, {*module.known, *found.held})
                rows = assembled_rows(fixed)
                mine = rows.select(np.flatnonzero(np.isin(rows.joint, sorted(joints))))
                bodies = sorted(
                    {body - 1 for number in module.loops for body in found.loops[number - 1].bodies}
                )
                rank = rank_of(mine.matrix(np.array(bodies[1:])), 1e-7)
                spins = sum(at.partition(".")[0] in ids(found, joints) for at in found.held)
                assert rank.free <= spins, (module, rank)


def ids(found, joints):
    return {found.mechanism.joint_ids[joint] for joint in joints}


def driven_by(mechanism, names):
    """The mechanism with these coordinates as its only drives."""
    bits = np.zeros(mechanism.n_joints, dtype=np.uint8)
    for joint in mechanism.joints:
        for bit, name in enumerate(joint.type.coordinates):
            bits[joint.index] |= (f"{joint.id}.{name}" in names) << bit
    return dataclasses.replace(mechanism, driven=bits, motion=None)


def assembled_rows(mechanism):
    frames = joint_frames(mechanism)
    closed = assemble(mechanism, frames)
    return rows_at(mechanism, frames, closed.configuration)


class TestWhatDoesNotComeOut:
    def test_a_chain_that_lacks_an_input_is_under(self):
        found = independent_loops(
            mbssa.from_pairs(
                5, [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (4, 5, "R", 0), (1, 5, "R", 0)], "planar"
            )
        )
        assert not found.determined
        (module,) = found.modules
        assert (module.state, module.equations, module.unknowns, module.size) == ("under", 3, 4, 3)

    def test_a_truss_is_over(self):
        found = independent_loops(
            mbssa.from_pairs(3, [(1, 2, "R", 1), (2, 3, "R", 0), (1, 3, "R", 0)], "planar")
        )
        (module,) = found.modules
        assert (module.state, module.equations, module.unknowns, module.size) == ("over", 3, 2, 1)
        assert not found.determined

    def test_a_loop_that_is_rigid_on_its_own_keeps_all_its_equations(self):
        """Two coordinates span two directions of three; that the third closes too is not to be expected."""
        found = independent_loops(mbssa.from_pairs(2, [(1, 2, "P", 0), (1, 2, "R", 0)], "planar"))
        assert found.loops[0].rank == 3
        assert found.modules[0].state == "over"

    def test_what_hangs_on_an_over_determined_loop_goes_after_it(self):
        """A driven truss 1-2-3 and a dyad 4-5 between body 3 and the frame."""
        pairs = [
            (1, 2, "R", 1),
            (2, 3, "R", 0),
            (1, 3, "R", 0),
            (3, 4, "R", 0),
            (4, 5, "R", 0),
            (1, 5, "R", 0),
        ]
        found = independent_loops(mbssa.from_pairs(5, pairs, "planar"))
        assert [module.state for module in found.modules] == ["over", "sound"]
        assert found.modules[1].depends_on == (1,)

    def test_an_open_arm_that_nothing_drives_is_in_no_loop(self):
        pairs = [(1, 2, "R", 1), (2, 3, "R", 0)]
        found = independent_loops(mbssa.from_pairs(3, pairs, "planar"))
        assert found.loops == ()
        assert found.open == ("2-3.angle",)
        assert not found.determined
        arm = independent_loops(mbssa.from_pairs(3, [(1, 2, "R", 1), (2, 3, "R", 1)], "planar"))
        assert arm.determined
        assert arm.levels == ()


class TestJoints:
    def test_two_joints_of_the_same_bodies_close_a_loop(self):
        found = independent_loops(mbssa.load("double_banana"))
        assert [loop.bodies for loop in found.loops] == [(1, 2)]
        # Two balls share the line between them: five directions of six.
        assert found.loops[0].rank == 5

    @pytest.mark.parametrize(("driven", "loops"), [(0, 1), (3, 2)])
    def test_a_free_body_closes_a_loop_only_where_it_is_driven(self, driven, loops):
        pairs = [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0), (1, 3, "FP", driven)]
        found = independent_loops(mbssa.from_pairs(4, pairs, "planar"))
        assert len(found.loops) == loops
        assert found.left_out == (() if driven else (4,))

    def test_a_gear_on_a_carrier_is_left_out_and_named(self, tmp_path):
        path = tmp_path / "gear.toml"
        path.write_text(
            'format = 1\nspace = "planar"\nbodies = 4\n'
            '[[joint]]\nbodies = [1, 3]\ntype = "R"\ndriven = 1\n'
            '[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = 1\n'
            '[[joint]]\nbodies = [3, 4]\ntype = "R"\n'
            '[[joint]]\nbodies = [2, 4, 3]\ntype = "EO"\n'
        )
        found = independent_loops(mbssa.load(path))
        assert found.left_out == (3,)
        assert found.open == ("3-4.angle",)
        assert not found.determined
        assert "2-3-4 EO, which joins three bodies" in str(found)

    def test_prismatic_joints_in_the_plane_span_two_directions(self):
        pairs = [(1, 2, "P", 1), (2, 3, "P", 0), (1, 3, "P", 0)]
        found = independent_loops(mbssa.from_pairs(3, pairs, "planar"))
        assert found.loops[0].rank == 2
        assert found.notes == ("ranks of loops at random geometry, as not every joint has its own",)

    def test_a_loop_has_as_many_equations_as_its_joints_span(self):
        for name, rank in [("spatial_4r", 3), ("bennett", 3), ("bricard", 5), ("sarrus", 5), ("rssr", 6)]:
            found = independent_loops(mbssa.load(name))
            assert found.loops[0].rank == rank, name
            assert found.determined, name

    def test_passive_rotations_are_locked(self):
        assert len(independent_loops(mbssa.load("six_sps")).held) == 6
        assert independent_loops(mbssa.load("stewart")).held == ()

    def test_loops_that_say_the_same_twice_lose_an_equation(self):
        found = independent_loops(mbssa.load("double_parallelogram"))
        assert [loop.redundant for loop in found.loops] == [0, 1]
        assert "1 equation left out; other loops say the same" in str(found)

    def test_the_pairs_of_a_multiple_joint_are_as_many_whichever_are_chosen(self, tmp_path):
        """Two dyads on one pin: the loops are other ones for other pairs, not more or fewer."""
        path = tmp_path / "pin.toml"
        path.write_text(
            'format = 1\nspace = "planar"\nbodies = 6\n'
            '[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = true\n'
            '[[joint]]\nbodies = [2, 3, 5]\ntype = "R"\n'
            '[[joint]]\nbodies = [3, 4]\ntype = "R"\n'
            '[[joint]]\nbodies = [1, 4]\ntype = "R"\n'
            '[[joint]]\nbodies = [5, 6]\ntype = "R"\n'
            '[[joint]]\nbodies = [1, 6]\ntype = "R"\n'
        )
        choices = list(spanning_choices(mbssa.load(path)))
        assert len(choices) == 3
        loops = [{loop.bodies for loop in independent_loops(choice).loops} for choice in choices]
        assert all(len(found) == 2 for found in loops)
        assert len({frozenset(found) for found in loops}) > 1
        assert all(independent_loops(choice).determined for choice in choices)


class TestOrderOfSolution:
    """Against the definition: strong components of the matched graph do not depend on the matching."""

    def test_parts_do_not_depend_on_the_order_of_the_blocks(self):
        for seed in range(20):
            dice = random.Random(seed)
            unknowns = {joint: dice.randint(1, 3) for joint in range(9)}
            blocks = [Block(dice.randint(1, 4), tuple(sorted(dice.sample(range(9), 4)))) for _ in range(6)]
            order = list(range(6))
            dice.shuffle(order)
            first = order_of_solution(blocks, unknowns)
            second = order_of_solution([blocks[k] for k in order], unknowns)
            named = {(tuple(sorted(order[k] for k in part.blocks)), part.state) for part in second}
            assert {(part.blocks, part.state) for part in first} == named, seed

    def test_the_matching_is_as_large_as_the_largest(self):
        for seed in range(20):
            networkx = pytest.importorskip("networkx")
            dice = random.Random(seed)
            unknowns = {joint: dice.randint(0, 3) for joint in range(6)}
            blocks = [Block(dice.randint(1, 4), tuple(sorted(dice.sample(range(6), 3)))) for _ in range(5)]
            flow = networkx.DiGraph()
            for k, block in enumerate(blocks):
                flow.add_edge("source", ("block", k), capacity=block.equations)
                for joint in block.joints:
                    flow.add_edge(("block", k), ("joint", joint))
            for joint, count in unknowns.items():
                flow.add_edge(("joint", joint), "sink", capacity=count)
            given = match(blocks, unknowns)
            assert sum(sum(mine.values()) for mine in given) == networkx.maximum_flow_value(
                flow, "source", "sink"
            ), seed
            for block, mine in zip(blocks, given, strict=True):
                assert sum(mine.values()) <= block.equations, seed
                assert set(mine) <= set(block.joints), seed


def random_mechanism(seed):
    """A tree of bodies, more joints at random, and as many drives as Eq. (2) leaves freedoms."""
    dice = random.Random(seed)
    space = dice.choice(["planar", "spatial"])
    codes = ["R", "R", "P", "SLOT"] if space == "planar" else ["R", "P", "C", "U", "S", "S", "SP", "F"]
    n = dice.randint(3, 7)
    pairs = [[dice.randint(1, k - 1), k, dice.choice(codes), 0] for k in range(2, n + 1)]
    pairs += [[*dice.sample(range(1, n + 1), 2), dice.choice(codes), 0] for _ in range(dice.randint(0, n))]
    undriven = mbssa.from_pairs(n, [tuple(pair) for pair in pairs], space)
    room = [joint for joint in undriven.joints for _ in range(joint.type.grade)]
    for joint in dice.sample(room, min(len(room), max(undriven.mobility, 0))):
        pairs[joint.index][3] += 1
    return mbssa.from_pairs(n, [tuple(pair) for pair in pairs], space)


@pytest.mark.slow
def test_what_groups_can_solve_loops_determine_whichever_are_chosen():
    """A Jacobian of full rank in bodies has full rank in loops, so a matching is found in any basis."""
    looked_at = 0
    for seed in range(300):
        mechanism = random_mechanism(seed)
        if mbssa.decompose(mechanism).determined and mbssa.check(mechanism).solvable:
            looked_at += len(independent_loops(mechanism).loops) > 0
            assert independent_loops(mechanism).determined, seed
            assert wehage_substructures(mechanism).determined, seed
    assert looked_at >= 20


def test_only_mechanisms_are_taken():
    for find in (independent_loops, wehage_substructures):
        with pytest.raises(TypeError, match="'rotor'"):
            find("rotor")
