"""The truth of the branch tests is itself held against closed forms, and its bound against random poses."""

import certified_paths
import numpy as np
import pytest
from certified_paths import Bound, Closure, State, Walk, cubics, follow
from judging import turning
from random_linkages import four_bar, parallelogram_like, platform, six_r_group, spatial_chain, truss

import groups
import mbssa


def branch_of(mechanism, way, instants):
    motion = turning(mechanism, way, instants)
    return follow(mechanism, cubics(motion), motion.time)


def tips(ground, crank, coupler, rocker, angles):
    """The coupler's end of the open four-bar at crank angles."""
    pin = crank * np.exp(1j * angles)
    way = ground - pin
    apart = np.abs(way)
    foot = 0.5 * (apart + (coupler - rocker) * (coupler + rocker) / apart)
    return pin + (foot + 1j * np.sqrt(coupler**2 - foot**2)) * way / apart


def test_a_crank_rocker_is_followed_over_a_turn():
    instants = 5
    lengths, start = (1.0, 0.3, 0.8, 0.7), 0.4
    mechanism = four_bar(*lengths, start)
    branch = branch_of(mechanism, 2 * np.pi, instants)
    assert branch.end is None
    tip = branch.position[:, 2] + np.einsum("tab,b->ta", branch.rotation[:, 2], [*_two(lengths, start)])
    wanted = tips(*lengths, start + np.linspace(0, 2 * np.pi, instants))
    assert np.abs(tip[:, 0] + 1j * tip[:, 1] - wanted).max() < 1e-10


def _two(lengths, start):
    tip = tips(*lengths, np.array([start]))[0]
    return tip.real, tip.imag


def test_a_double_rocker_ends_where_coupler_and_rocker_are_in_line():
    ground, crank, coupler, rocker, start = 1.0, 0.9, 0.35, 0.4, 0.3
    branch = branch_of(four_bar(ground, crank, coupler, rocker, start), 2.0, 2)
    reach = coupler + rocker
    last = np.arccos((ground**2 + crank**2 - reach**2) / (2 * ground * crank))
    assert branch.singular
    assert branch.end == pytest.approx((last - start) / 2.0, abs=1e-6)


@pytest.mark.slow
def test_a_parallelogram_is_singular_where_it_is_flat():
    mechanism = four_bar(1.0, 0.5, 1.0, 0.5, np.pi / 4)
    branch = branch_of(mechanism, 2 * np.pi, 13)
    assert branch.singular
    assert branch.end == pytest.approx(0.375, abs=1e-6)  # 6e-6 rad before it
    assert len(branch.position) == 5
    angle = np.arctan2(branch.rotation[:, 3, 1, 0], branch.rotation[:, 3, 0, 0])
    assert np.abs(angle - 2 * np.pi * np.arange(5) / 12).max() < 1e-8


@pytest.mark.parametrize("make", [truss, spatial_chain, platform, parallelogram_like])
def test_second_derivatives_stay_below_the_bound(make):
    """J⁻¹ (J(x, u) - J0) at random places within the weights, against the constant a of that step."""
    mechanism, rng = next(filter(None, map(make, range(9)))), np.random.default_rng(0)
    c = Closure(mechanism)
    u = c.reference_inputs()
    state = State(c, c.position, c.rotation, c.slides)
    walk = Walk(state, u, None, None)
    change = np.full(len(u), 1e-3)
    _, _, _, arms = walk.state.linearised(u)
    bound = Bound(walk.state, walk.inverse, arms)
    weight = bound.weights(walk.response @ change, 0 * walk.response[:, 0])
    a = bound.bend(weight, change)
    weight, change = weight / (10 * a), change / (10 * a)  # where the bound is a tenth
    moving, blocks = c.n_bodies - 1, (c.d + c.nr) * (c.n_bodies - 1)

    def within():
        step = np.zeros(c.n)
        turns = step[:blocks].reshape(moving, -1)[:, c.d :]
        turns[:] = rng.normal(size=turns.shape)
        turns *= (weight[:moving] / np.linalg.norm(turns, axis=1))[:, None]
        step[blocks:] = weight[moving:] * rng.choice([-1, 1], c.n - blocks)
        return step, change * rng.choice([-1, 1], len(u))

    def norm(vector):
        turns = np.linalg.norm(vector[:blocks].reshape(moving, -1)[:, c.d :], axis=1)
        return (np.concatenate([turns, np.abs(vector[blocks:])]) / weight).max()

    largest = 0.0
    for _ in range(30):
        (x, du), (h, dh) = within(), within()
        # The second derivative along h at x, by central differences of the residual.
        e = 1e-2
        sides = [walk.state.moved(x + k * e * h).linearised(u + du + k * e * dh)[0] for k in (-1, 0, 1)]
        second = (sides[0] - 2 * sides[1] + sides[2]) / e**2
        largest = max(largest, norm(walk.inverse @ second))
    assert 0.0 < largest <= 0.1 * (1 + 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2])
def test_shorter_steps_find_the_same_branch(seed, monkeypatch):
    mechanism = truss(seed)
    long = branch_of(mechanism, 1.0, 9)
    monkeypatch.setattr(certified_paths, "SURE", 0.1)
    short = branch_of(mechanism, 1.0, 9)
    known = min(len(long.position), len(short.position))
    if all(branch.end is None or branch.singular for branch in (long, short)):  # no steps ran out
        assert abs(len(long.position) - len(short.position)) <= 1
    assert np.abs(long.position[:known] - short.position[:known]).max() < 1e-9


@pytest.mark.slow
def test_poses_between_instants_are_those_of_a_finer_motion():
    mechanism = six_r_group()
    motion = turning(mechanism, -6.01424812956567, 2)
    coarse = follow(mechanism, cubics(motion), motion.time)
    fine = branch_of(mechanism, -6.01424812956567, 5)
    between = coarse.at(np.linspace(0.0, 1.0, 5))
    assert np.abs(between.position - fine.position).max() < 1e-9
    assert np.abs(between.rotation - fine.rotation).max() < 1e-9


@pytest.mark.slow
def test_fine_motions_of_newton_agree_with_it():
    mechanism = six_r_group()
    motion = turning(mechanism, -6.01424812956567, 181)
    found = groups.build(mbssa.decompose(mechanism)).solve(motion, compiled=False)
    branch = follow(mechanism, cubics(motion), motion.time)
    assert found.ok
    assert branch.end is None
    assert np.abs(found.position - branch.position).max() < 1e-9
