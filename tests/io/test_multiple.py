"""Joints of three or more bodies: spanning choices, driven pairs, what the search makes of them."""

from itertools import combinations

import networkx as nx
import pytest

import mbssa
from mbssa.io.edited_text import with_types_and_inputs
from mbssa.io.multiple import count_choices, paper_choices, spanning_choices
from mbssa.io.toml_file import parse_toml
from mbssa.singularities.proposals import Proposal

STAR = """
format = 1
space = "planar"
bodies = 6
[[joint]]
bodies = [1, 2]
type = "R"
driven = true
[[joint]]
bodies = [2, 3, 5]
type = "R"
id = "pin"
point = [1, 1]
[[joint]]
bodies = [3, 4]
type = "R"
[[joint]]
bodies = [1, 4]
type = "R"
[[joint]]
bodies = [5, 6]
type = "R"
[[joint]]
bodies = [1, 6]
type = "R"
"""


def test_one_entry_becomes_one_pair_fewer_than_its_bodies(read):
    mechanism = read(STAR)
    assert mechanism.n_joints == 7
    assert [(joint.id, joint.bodies) for joint in mechanism.joints][1:3] == [
        ("pin", (2, 3)),
        ("pin#2", (2, 5)),
    ]
    (several,) = mechanism.multiple_joints
    assert several.bodies == (1, 2, 4)
    assert several.joints == (1, 2)
    assert mechanism.joints[1].geometry == mechanism.joints[2].geometry
    assert [group.bodies for group in mbssa.decompose(mechanism).groups] == [(2,), (3, 4), (5, 6)]


def test_choices_are_all_spanning_trees(read):
    choices = list(spanning_choices(read(STAR)))
    pairs = {frozenset(joint.bodies for joint in choice.joints[1:3]) for choice in choices}
    assert len(choices) == len(pairs) == count_choices(3) == 3
    for choice in choices:
        assert mbssa.decompose(choice).determined


def test_choices_contain_the_driven_pairs(read):
    mechanism = read(
        'format = 1\nspace = "planar"\nbodies = 5\n'
        '[[joint]]\nbodies = [1, 2, 3, 4]\ntype = "R"\ndriven_pairs = [[3, 4]]\n'
        '[[joint]]\nbodies = [4, 5]\ntype = "R"\n'
    )
    assert [(joint.bodies, bool(joint.driven)) for joint in mechanism.joints[:3]] == [
        ((3, 4), True),
        ((1, 2), False),
        ((1, 3), False),
    ]
    choices = list(spanning_choices(mechanism))
    assert len(choices) == count_choices(4, [(2, 3)]) == 8
    for choice in choices:
        driven = [joint.bodies for joint in choice.joints if joint.driven]
        assert [set(pair) for pair in driven] == [{3, 4}]


def test_counts_against_brute_force():
    """Every set of n - 1 pairs: the paper's N_an; those that are trees: Cayley's n^(n-2)."""
    for n in [3, 4, 5, 6]:
        pairs = list(combinations(range(n), 2))
        sets = [nx.Graph(chosen) for chosen in combinations(pairs, n - 1)]
        trees = [g for g in sets if len(g) == n and nx.is_connected(g)]
        assert len(sets) == paper_choices(n), n
        assert len(trees) == count_choices(n) == n ** (n - 2), n
        for wanted in ([(0, 1)], [(0, 1), (1, 2)], [(0, 1), (n - 2, n - 1)]):
            if n == 3 and wanted[-1] == (1, 2) and len(wanted) == 2:
                assert count_choices(n, wanted) == 1, n
                continue
            holding = [g for g in trees if all(g.has_edge(*pair) for pair in wanted)]
            assert len(holding) == count_choices(n, wanted), n


def test_check_reports_the_choices(read):
    report = mbssa.check(read(STAR))
    texts = [finding.text for finding in report.findings if finding.kind == "choices"]
    assert "3 spanning choices of pairs (the paper's N_an counts 3 sets of pairs)" in texts[0]
    assert texts[1] == "groups of these sizes, by choice: 1+2+2 (3 of 3)"


def test_frames_of_each_body_follow_the_pairs(read):
    mechanism = read(
        'format = 1\nspace = "planar"\nbodies = 4\n'
        '[[joint]]\nbodies = [2, 3, 4]\ntype = "R"\n'
        "frames = [{ origin = [2, 0] }, { origin = [3, 0] }, { origin = [4, 0] }]\n"
        '[[joint]]\nbodies = [1, 2]\ntype = "R"\n'
    )
    for choice in [mechanism, *spanning_choices(mechanism)]:
        for joint in choice.joints[:2]:
            assert [frame.origin[0] for frame in joint.geometry.frames] == list(joint.bodies)


FOUR_ON_A_PIN = """
format = 1
space = "planar"
units = { length = "mm" }
body = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]

[[joint]]  # shared
bodies = ["a", "b", "c", "d"]
type = "R"
point = [1, 2]  # here
%s
[[joint]]
bodies = [1, "a"]
type = "R"
point = [0, 0]
"""


@pytest.mark.parametrize("identity", ["", 'id = "pin"\n'])
@pytest.mark.parametrize("changed", [0, 1, 2])
def test_a_changed_pair_leaves_its_shared_pin_in_the_text(identity, changed):
    text = FOUR_ON_A_PIN % identity
    mechanism = parse_toml(text, "model", "model")
    proposal = Proposal("joints", "", 1, types=((changed, "SLOT"),), directions=((changed, (0.6, 0.8)),))
    wanted = proposal.apply(mechanism)
    edited = with_types_and_inputs(text, wanted)
    assert "# shared" in edited
    made = parse_toml(edited, "model", "model")
    assert {joint.id: (joint.bodies, joint.type.code) for joint in made.joints} == {
        joint.id: (joint.bodies, joint.type.code) for joint in wanted.joints
    }
    (slot,) = (joint for joint in made.joints if joint.type.code == "SLOT")
    assert slot.geometry.point == pytest.approx((0.001, 0.002))
    assert slot.geometry.axis == pytest.approx((0.6, 0.8))
    (shared,) = wanted.multiple_joints
    assert len(shared.bodies) == 3
