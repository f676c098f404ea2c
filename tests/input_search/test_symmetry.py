"""Automorphisms against all permutations; orbits of distributions against what permutations do to them."""

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

import mbssa
from mbssa.input_search.evaluate import Evaluated
from mbssa.input_search.symmetry import across_variants, counted_once, orbits, symmetry
from mbssa.io.multiple import spanning_choices
from mbssa.mechanism import MultipleJoint


def random_mechanism(seed, n_bodies=6):
    """A connected planar mechanism of R and P joints, some of them twice between the same bodies."""
    dice = np.random.default_rng(seed)
    pairs = [
        (int(dice.integers(1, b)), b, str(dice.choice(["R", "R", "P"])), 0) for b in range(2, n_bodies + 1)
    ]
    for _ in range(int(dice.integers(0, 4))):
        a, b = dice.choice(n_bodies, 2, replace=False) + 1
        pairs.append((int(a), int(b), str(dice.choice(["R", "R", "P", "SLOT"])), 0))
    return mbssa.from_pairs(n_bodies, pairs, "planar")


def edges(mechanism, turn):
    """Joints as the permutation of the bodies leaves them; the sides of a SLOT stay apart."""
    found = Counter()
    for joint in mechanism.joints:
        ends = [turn[body - 1] for body in joint.bodies]
        found[(joint.type.code, tuple(ends if joint.type.code == "SLOT" else sorted(ends)))] += 1
    return found


def by_brute_force(mechanism):
    """Number of automorphisms, and the orbits of the joints."""
    n = mechanism.n_bodies
    here = edges(mechanism, range(n))
    equal = math.prod(math.factorial(count) for count in here.values())
    key = [
        (j.type.code, tuple(b - 1 for b in (j.bodies if j.type.code == "SLOT" else sorted(j.bodies))))
        for j in mechanism.joints
    ]
    order, alike = 0, np.zeros((len(key), len(key)), dtype=bool)
    for rest in permutations(range(1, n)):
        turn = (0, *rest)
        if edges(mechanism, turn) != here:
            continue
        order += equal
        for i, (code, ends) in enumerate(key):
            goal = tuple(turn[b] for b in ends)
            goal = (code, goal if code == "SLOT" else tuple(sorted(goal)))
            alike[i] |= [k == goal for k in key]
    return order, alike


def joint_orbits(found, n_joints):
    first = orbits(np.arange(n_joints)[:, None], found.joints)
    return first[:, None] == first[None, :]


def test_generators_make_what_all_permutations_find():
    for seed in range(20):
        mechanism = random_mechanism(seed)
        found = symmetry(mechanism)
        order, alike = by_brute_force(mechanism)
        assert found.complete, seed
        assert found.order == order, seed
        assert (joint_orbits(found, mechanism.n_joints) == alike).all(), seed


def test_generators_are_automorphisms():
    for seed in range(20):
        mechanism = random_mechanism(seed, 9)
        found = symmetry(mechanism)
        for body, joint in zip(found.bodies, found.joints, strict=True):
            assert body[0] == 0, seed
            for j in range(mechanism.n_joints):
                ends = [int(body[b]) for b in mechanism.joint_bodies(j)]
                image = list(mechanism.joint_bodies(int(joint[j])))
                sided = mechanism.joints[j].type.code == "SLOT"
                assert (ends == image) if sided else (sorted(ends) == sorted(image)), seed
                assert mechanism.joint_type[joint[j]] == mechanism.joint_type[j], seed


def test_graphs_that_colours_alone_do_not_tell_apart():
    # Two rings of three, one ring of six: every body looks the same until one is singled out.
    def ring(bodies):
        return [(a, b, "R", 0) for a, b in zip(bodies, [*bodies[1:], bodies[0]], strict=True)]

    held = [(1, b, "R", 0) for b in range(2, 8)]
    two = mbssa.from_pairs(7, [*held, *ring([2, 3, 4]), *ring([5, 6, 7])], "planar")
    one = mbssa.from_pairs(7, [*held, *ring([2, 3, 4, 5, 6, 7])], "planar")
    assert symmetry(two).order == 72
    assert symmetry(one).order == 12


def test_built_in_models():
    for model, order in [
        ("stewart", 720),
        ("stewart_inverse", 720),
        ("six_sps", 720),
        ("planar_3rrr", 6),
        ("andrews", 6),
        ("rotor", 2),
        ("rotor_transformed", 2),
        ("micromanipulator", 2),
        ("slider_crank", 1),
    ]:
        found = symmetry(mbssa.load(model))
        assert (found.order, found.complete) == (order, True), model


def test_driven_coordinates_do_not_count_and_labels_do():
    mechanism = mbssa.load("planar_3rrr")
    assert symmetry(mechanism).order == symmetry(replace(mechanism, driven=mechanism.driven * 0)).order == 6
    label = np.zeros(mechanism.n_joints, dtype=np.int64)
    label[mechanism.joint("1-2").index] = 1
    assert symmetry(mechanism, label).order == 2
    assert symmetry(mechanism, None, np.arange(mechanism.n_bodies)).order == 1


def test_many_equal_legs():
    n = 60
    pairs = [
        pair
        for k in range(n)
        for pair in [(1, 2 + 2 * k, "R", 0), (2 + 2 * k, 3 + 2 * k, "P", 0), (3 + 2 * k, 1, "R", 0)]
    ]
    found = symmetry(mbssa.from_pairs(1 + 2 * n, pairs, "planar"))
    assert found.order == 2**n * math.factorial(n)
    assert len(found.joints) < 4 * n


def test_a_search_that_stops_says_so_and_what_it_found_is_sound():
    mechanism = mbssa.load("six_sps")
    orders = {most: symmetry(mechanism, most=most) for most in (10, 300, 600, 700, 100_000)}
    assert not orders[10].complete
    assert orders[10].order == 1
    assert orders[100_000].complete
    for found in orders.values():
        assert math.factorial(6) % found.order == 0
        assert found.complete == (found.order == 720)


def every_scheme(n_joints, n_inputs):
    return np.array(list(combinations_with_replacement(range(n_joints), n_inputs)), dtype=np.int16)


def test_orbits_of_schemes_against_all_automorphisms():
    for n_inputs in [1, 2, 3]:
        for seed in range(6):
            mechanism = random_mechanism(seed, 5)
            found = symmetry(mechanism)
            places = every_scheme(mechanism.n_joints, n_inputs)
            first = orbits(places, found.joints)
            group = {tuple(range(mechanism.n_joints))}
            waits = list(group)
            for element in waits:
                for image in found.joints.tolist():
                    product = tuple(image[j] for j in element)
                    if product not in group:
                        group.add(product)
                        waits.append(product)
            assert len(group) == found.order, (seed, n_inputs)
            row = {tuple(p): k for k, p in enumerate(places.tolist())}
            for k, p in enumerate(places.tolist()):
                members = {tuple(sorted(element[j] for j in p)) for element in group}
                assert first[k] == min(row[m] for m in members), (seed, n_inputs)


def kinds_by_level(mechanism, places):
    """Types of the groups level by level; None where the count does not come out."""
    w = np.bincount(places, minlength=mechanism.n_joints)
    if (w > mechanism.grade).any():
        return None
    structure = mbssa.decompose(replace(mechanism, driven=((1 << w) - 1).astype(np.uint8)), by_count=True)
    if not structure.determined:
        return None
    return [sorted(structure.groups[g - 1].type_name for g in level) for level in structure.levels]


@pytest.mark.parametrize(("model", "n_inputs"), [("planar_3rrr", 3), ("andrews", 1), ("rotor", 3)])
def test_criteria_are_equal_within_an_orbit(model, n_inputs):
    mechanism = mbssa.load(model)
    found = symmetry(mechanism)
    places = every_scheme(mechanism.n_joints, n_inputs)
    first = orbits(places, found.joints)
    moved = np.flatnonzero(first != np.arange(len(places)))
    dice = np.random.default_rng(1)
    determined = 0
    for k in dice.choice(moved, min(len(moved), 50), replace=False).tolist():
        kinds = kinds_by_level(mechanism, places[k])
        assert kinds == kinds_by_level(mechanism, places[first[k]])
        determined += kinds is not None
    assert determined > 3


def test_the_row_with_most_valid_sets_represents_its_orbit():
    rows = Evaluated.empty(1, 6)
    rows.places[:, 0] = np.arange(6)
    rows.valid[:] = [0, 0, 0, 2, 0, 1]
    counted = counted_once(rows, np.array([[2, 3, 5, 1, 4, 0]]), 6)
    assert counted.alike.tolist() == [0, 0, 0, 2, 1, 3]
    assert counted.alike_valid.tolist() == [0, 0, 0, 1, 0, 1]


def test_without_symmetry_every_row_is_its_own_orbit():
    places = every_scheme(4, 2)
    none = np.zeros((0, 4), dtype=np.int64)
    assert orbits(places, none).tolist() == list(range(len(places)))
    assert orbits(places[:0], none).tolist() == []


def test_rows_are_told_apart_however_many_joints():
    places = every_scheme(40, 4)
    image = np.arange(40)[::-1][None]
    first = orbits(places, image)
    flipped = np.sort(39 - places, axis=1)
    smaller = np.array([tuple(p) <= tuple(q) for p, q in zip(places.tolist(), flipped.tolist(), strict=True)])
    assert (first == np.arange(len(places))).sum() == smaller.sum()
    with pytest.raises(ValueError, match="repeated"):
        orbits(np.array([[0, 1], [0, 1]]), np.array([[1, 0]]))


PIN = [(1, 2, "R", 0), (1, 3, "R", 0), (1, 4, "R", 0), (2, 3, "R", 0), (2, 4, "R", 0)]


def test_a_multiple_joint_is_kept_as_one():
    mechanism = mbssa.from_pairs(4, PIN, "planar")
    pinned = replace(mechanism, multiple_joints=(MultipleJoint((1, 2, 3), (3, 4)),))
    # As pairs, body 2 is the middle of a star; as one joint, all three bodies are alike.
    assert symmetry(pinned, as_one=False).order == 2
    found = symmetry(pinned)
    assert found.order == 6
    variants = list(spanning_choices(pinned))
    images = across_variants(found, variants)
    assert images.shape == (len(found.joints), 15)
    assert (np.sort(images, axis=1) == np.arange(15)).all()
    # One input of three joints to the frame or two pairs, in three variants: three are different.
    places = np.arange(15)[:, None]
    assert len(np.unique(orbits(places, images))) == len(
        {pair_kind(v, j) for v in variants for j in range(5)}
    )


def pair_kind(variant, j):
    """A drive up to exchanges of the bodies: of the hub's joint, of another's, or of a pair."""
    hub = next(b for b in (1, 2, 3) if all(b in variant.joint_bodies(k) for k in (3, 4)))
    return "pair" if j > 2 else hub in variant.joint_bodies(j)


def test_automorphisms_that_lead_out_of_the_variants_are_left_out():
    pinned = replace(mbssa.from_pairs(4, PIN, "planar"), multiple_joints=(MultipleJoint((1, 2, 3), (3, 4)),))
    found = symmetry(pinned)
    (only,) = [v for v in spanning_choices(pinned) if 1 in v.joint_bodies(3) and 1 in v.joint_bodies(4)]
    images = across_variants(found, [only])
    assert len(images) < len(found.joints)
