"""Gaps of contacts: closed form, places that fit, SciPy's search, derivatives by differences."""

import numpy as np
import pytest
from scipy.optimize import root

from mbssa.joints.cams.contact import CURVE, FLAT, POINT, gap, touching
from mbssa.joints.cams.curves import circle, ellipse, line, through

KINDS = {"point": POINT, "flat": FLAT, "curve": CURVE}


def poses(n, distance, seed=0):
    rng = np.random.default_rng(seed)
    towards, angle = rng.uniform(0, 2 * np.pi, (2, n))
    d = distance * np.stack([np.cos(towards), np.sin(towards), np.zeros(n)], axis=1)
    return d, turns(angle)


def turns(angle):
    zero = np.zeros_like(angle)
    c, s = np.cos(angle), np.sin(angle)
    return np.stack(
        [np.stack([c, -s, zero], -1), np.stack([s, c, zero], -1), np.stack([zero, zero, zero + 1], -1)], -2
    )


def wavy(points=11, waves=2, others=3, depth=0.006):
    angle = np.arange(points) * 2 * np.pi / points
    radius = 0.05 + depth * np.cos(waves * angle) + 0.003 * np.sin(others * angle)
    return through(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1))


CURVES = (wavy(), ellipse((0.02, 0.015)))


def test_circles_in_closed_form():
    a, b = np.array([0.01, -0.004]), np.array([-0.003, 0.005])
    curves = circle(0.05, a), circle(0.02, b)
    d, C = poses(20, 0.08)
    value, derivative = gap(*curves, POINT, d, C)
    across = d[:, :2] - a
    assert np.abs(value - np.hypot(*across.T) + 0.05).max() < 1e-12
    assert np.abs(derivative[:, :2] - across / np.hypot(*across.T)[:, None]).max() < 1e-9
    assert np.abs(derivative[:, 2:]).max() < 1e-12
    value, _ = gap(*curves, FLAT, d, C)
    assert np.abs(value - (across * C[:, :2, 1]).sum(axis=1) + 0.05).max() < 1e-12
    value, _ = gap(*curves, CURVE, d, C)
    centre = across + C[:, :2, :2] @ b
    assert np.abs(value - np.hypot(*centre.T) + 0.07).max() < 1e-12


def searched(curve_a, curve_b, kind, d, C):
    """Gap and places (s_a, s_b) outside of the profiles: the least of many samples, then stationary."""

    def across(s, t):
        (a, rate_a, _), (b, rate_b, _) = curve_a.at(s), curve_b.at(t)
        if kind != CURVE:
            b, rate_b = np.zeros_like(b), np.zeros_like(b)
        return d + b @ C.T - a, rate_a, rate_b @ C.T

    s, t = (np.linspace(curve.breaks[0], curve.breaks[-1], 800) for curve in (curve_a, curve_b))
    r, _, _ = across(s[:, None], t[None] if kind == CURVE else t[None, :1])
    heights = r @ C[:, 1] if kind == FLAT else np.hypot(*np.moveaxis(r, -1, 0))
    i, j = np.unravel_index(heights.argmin(), heights.shape)

    def slopes(places):
        r, rate_a, rate_b = across(*places)
        if kind == CURVE:
            return [r @ rate_a, r @ rate_b]
        return [(C[:, 1] if kind == FLAT else r) @ rate_a, places[1]]

    s, t = root(slopes, [s[i], t[j] if kind == CURVE else 0.0], tol=1e-14).x
    r, _, _ = across(s, t)
    if kind == FLAT:
        return C[:, 1] @ r, s, -C[:, 0] @ r
    return np.hypot(*r), s, t


def test_another_search_finds_the_same():
    for name in KINDS:
        d, C = poses(12, 0.08)
        value, _ = gap(*CURVES, KINDS[name], d, C)
        places = np.transpose(touching(*CURVES, KINDS[name], d, C)[:2])
        for k in range(12):
            wanted, *at = searched(*CURVES, KINDS[name], d[k, :2], C[k, :2, :2])
            assert value[k] == pytest.approx(wanted, abs=1e-13), name
            for found, s, curve in zip(places[k], at, CURVES, strict=True):
                period = 1e9 if curve is CURVES[1] and name == "flat" else curve.period
                assert abs((found - s + period / 2) % period - period / 2) < 1e-8, name


def test_derivatives_are_those_of_the_gap():
    for name in KINDS:
        d, C = poses(12, 0.08)
        _, derivative = gap(*CURVES, KINDS[name], d, C)
        assert (derivative[:, 2:5] == 0.0).all(), name
        h = 1e-6
        for m in (0, 1, 5):
            ahead, behind = (
                gap(*CURVES, KINDS[name], d + sign * h * np.eye(6)[m, :3],
                    turns(np.full(12, sign * h if m == 5 else 0.0)) @ C)[0]
                for sign in (1, -1)
            )  # fmt: skip
            assert np.abs((ahead - behind) / (2 * h) - derivative[:, m]).max() < 1e-9, name


def test_the_places_of_the_contact_fit_its_gap():
    for name in KINDS:
        kind = KINDS[name]
        d, C = poses(12, 0.08)
        value, _ = gap(*CURVES, kind, d, C)
        s_a, s_b, curvature_a, curvature_b = touching(*CURVES, kind, d, C)
        c, rate, _ = CURVES[0].at(s_a)
        normal = np.stack([rate[:, 1], -rate[:, 0]], axis=1) / np.hypot(*rate.T)[:, None]
        if kind == POINT:
            on_b = np.zeros_like(c)
        elif kind == FLAT:
            on_b = np.stack([s_b, np.zeros_like(s_b)], axis=1)
        else:
            on_b, other, _ = CURVES[1].at(s_b)
            assert np.abs(curvature_b - CURVES[1].curvature(s_b)).max() < 1e-9, name
            assert (np.einsum("ni,nij,nj->n", rate, C[:, :2, :2], other) < 0).all(), name
        reached = d[:, :2] + np.einsum("nij,nj->ni", C[:, :2, :2], on_b)
        assert np.abs(c + value[:, None] * normal - reached).max() < 1e-14, name
        assert np.abs(curvature_a - CURVES[0].curvature(s_a)).max() < 1e-9, name
        if kind != CURVE:
            assert (curvature_b == (np.inf if kind == POINT else 0.0)).all(), name
        for s, curve in ((s_a, CURVES[0]), *(((s_b, CURVES[1]),) if kind == CURVE else ())):
            assert ((s >= curve.breaks[0]) & (s < curve.breaks[-1])).all(), name


def test_of_many_contacts_that_nearest_to_touching_is_found():
    """Profiles with waves, apart and far within one another; the gaps are those of 1500 × 1500 samples."""
    star = wavy(120, 12, 5, 0.01)
    d = np.array(
        [[0.19070013, 0.12807905, 0.0], [-0.02697661, 0.09807522, 0.0], [-0.02658467, -0.00652183, 0.0]]
    )
    angle = np.array([-2.59191033664421, 0.12419208114999845, -1.2249819241693365])
    value, _ = gap(CURVES[0], star, CURVE, d, turns(angle))
    assert value == pytest.approx([0.11404, 0.000625, -0.064891], abs=1e-5)


def test_inside_is_negative():
    d, C = poses(8, 0.03)
    assert (gap(CURVES[0], None, POINT, d, C)[0] < 0).all()
    assert (gap(CURVES[0].reversed, None, POINT, d, C)[0] > 0).all()


def test_an_end_is_nearest_beyond_it_and_highest_under_a_slanted_face():
    side = line((0.0, 0.0), (0.03, 0.0))
    C = turns(np.array([0.0, 0.2]))
    d = np.array([[0.06, -0.04, 0.0], [0.015, -0.04, 0.0]])
    value, derivative = gap(side, None, POINT, d, C)
    assert np.abs(value - [0.05, 0.04]).max() < 1e-15
    assert np.abs(derivative[:, :2] - [[0.6, -0.8], [0.0, -1.0]]).max() < 1e-12
    s_a, _, curvature, _ = touching(side, None, POINT, d, C)
    assert np.abs(s_a - [0.03, 0.015]).max() < 1e-12
    assert curvature.tolist() == [np.inf, 0.0]
    value, _ = gap(side, None, FLAT, np.zeros((1, 3)), turns(np.array([0.2])))
    assert abs(value[0] - 0.0) < 1e-15  # the start is the higher: the face falls to the left
    value, _ = gap(side, None, FLAT, np.zeros((1, 3)), turns(np.array([-0.2])))
    assert abs(value[0] + 0.03 * np.sin(0.2)) < 1e-15


def test_a_pin_rolls_in_a_hollow_that_is_wider():
    d, C = poses(5, 0.012)
    value, _ = gap(circle(0.05).reversed, circle(0.02), CURVE, d, C)
    assert np.abs(value - 0.018).max() < 1e-12


def test_arcs_that_fit_have_no_contact_of_their_own():
    value, derivative = gap(circle(0.05).reversed, circle(0.05), CURVE, np.zeros((1, 3)), np.eye(3)[None])
    assert np.isnan(value).all()
    assert np.isnan(derivative[:, [0, 1, 5]]).all()


def test_a_contact_of_curves_takes_two():
    with pytest.raises(ValueError, match="takes two"):
        gap(circle(0.05), None, CURVE, np.zeros((1, 3)), np.eye(3)[None])
