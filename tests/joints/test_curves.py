"""Curves: what a builder is given comes back in points and both derivatives, exactly where it can be."""

import pickle

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from mbssa.joints.cams.curves import Curve, circle, curve_from, ellipse, line, through

TURN = 2 * np.pi


def polar(s, r, r1, r2):
    along, across = np.stack([np.cos(s), np.sin(s)], -1), np.stack([-np.sin(s), np.cos(s)], -1)
    r, r1, r2 = (np.asarray(v)[..., None] for v in (r, r1, r2))
    return r * along, r1 * along + r * across, (r2 - r) * along + 2 * r1 * across


WAVES = {
    "circle beside the origin": lambda s: (
        np.stack([0.01 + 0.03 * np.cos(s), 0.03 * np.sin(s)], -1),
        np.stack([-0.03 * np.sin(s), 0.03 * np.cos(s)], -1),
        np.stack([-0.03 * np.cos(s), -0.03 * np.sin(s)], -1),
    ),
    "three lobes": lambda s: polar(
        s, 0.05 + 0.01 * np.cos(3 * s), -0.03 * np.sin(3 * s), -0.09 * np.cos(3 * s)
    ),
    "twenty ripples": lambda s: polar(
        s, 0.05 + 0.002 * np.cos(20 * s), -0.04 * np.sin(20 * s), -0.8 * np.cos(20 * s)
    ),
    "a bump": lambda s: polar(
        s,
        0.05 + 0.01 * np.exp(-40 * (s - 3) ** 2),
        -0.8 * (s - 3) * np.exp(-40 * (s - 3) ** 2),
        0.01 * (6400 * (s - 3) ** 2 - 80) * np.exp(-40 * (s - 3) ** 2),
    ),
}


def test_a_curve_follows_its_function_to_twelve_digits_and_its_second_derivative_to_nine():
    for name in WAVES:
        exact = WAVES[name]
        curve = curve_from(lambda s, exact=exact: exact(s)[0], np.linspace(0.0, TURN, 9))
        assert curve.closed, name
        s = np.random.default_rng(3).uniform(0.0, TURN, 5000)
        for got, wanted, share in zip(curve.at(s), exact(s), (1e-12, 1e-10, 1e-9), strict=True):
            assert np.abs(got - wanted).max() <= share * np.abs(wanted).max(), name


def test_pieces_join_in_both_derivatives():
    for name in WAVES:
        curve = curve_from(lambda s, name=name: WAVES[name](s)[0], np.linspace(0.0, TURN, 9))
        powers = np.arange(8)
        length = np.diff(curve.breaks)[:, None]
        a = curve.coefficients
        ends = (a.sum(-1), (a * powers).sum(-1) / length, (a * powers * (powers - 1)).sum(-1) / length**2)
        starts = (a[..., 0], a[..., 1] / length, 2 * a[..., 2] / length**2)
        for end, start, share in zip(ends, starts, (1e-12, 1e-10, 2e-9), strict=True):
            assert np.abs(np.roll(end, 1, axis=0) - start).max() <= share * np.abs(start).max(), name


def test_closed_curves_are_periodic_and_open_ones_go_on():
    ring, bar = circle(0.02), line((0.0, 0.0), (0.0, 2.0))
    assert np.allclose(ring.at(1.0)[0], ring.at(1.0 - 3 * TURN)[0], atol=1e-15)
    assert bar.at(-1.0)[0].tolist() == [0.0, -1.0]


def test_shapes_of_s_are_kept():
    curve = circle(0.02)
    assert [part.shape for part in curve.at(np.zeros((3, 4)))] == [(3, 4, 2)] * 3
    assert curve.curvature(np.zeros((3, 4))).shape == (3, 4)


@pytest.mark.parametrize("closed", [True, False])
def test_arcs_by_places_are_points_by_the_parameter(closed):
    curve = through(np.random.default_rng(1).normal(size=(7, 2)), closed)
    place = np.linspace(-0.7, curve.pieces + 0.7, 50)
    lengths = np.diff(curve.breaks)
    piece = np.floor(place).astype(int)
    turn, piece = divmod(piece, curve.pieces) if closed else (0, piece.clip(0, curve.pieces - 1))
    rest = place - turn * curve.pieces - piece
    s = curve.breaks[piece] + turn * curve.period + rest * lengths[piece]
    for order, (one, other) in enumerate(zip(curve.arcs(place), curve.at(s), strict=True)):
        wanted = (other[:, 0] + 1j * other[:, 1]) * lengths[piece] ** order
        assert np.abs(one - wanted).max() < 1e-12 * np.abs(wanted).max()


def test_curvature_and_area_of_an_ellipse():
    a, b = 0.03, 0.02
    curve = ellipse((a, b), (0.5, -0.2), 0.7)
    s = np.linspace(0.0, TURN, 50)
    wanted = a * b / (a**2 * np.sin(s) ** 2 + b**2 * np.cos(s) ** 2) ** 1.5
    assert np.allclose(curve.curvature(s), wanted, rtol=2e-9)
    assert curve.area == pytest.approx(np.pi * a * b, rel=1e-12)


def test_reversed_runs_through_the_same_points_backwards():
    curve = through(np.random.default_rng(1).normal(size=(7, 2)), closed=False)
    s = np.linspace(curve.breaks[0], curve.breaks[-1], 41)[1:-1]
    for order, (one, other) in enumerate(zip(curve.at(s), curve.reversed.at(-s), strict=True)):
        assert np.allclose(other, (-1) ** order * one, atol=1e-11 * np.abs(one).max())


def test_counter_clockwise_turns_only_what_runs_clockwise():
    ring = circle(0.02)
    assert ring.counter_clockwise is ring
    assert ring.reversed.area == pytest.approx(-ring.area)
    assert ring.reversed.counter_clockwise.area == pytest.approx(ring.area)


def test_how_often_the_tangent_turns():
    def drawn(x, y):
        return curve_from(lambda s: np.stack([x(s), y(s)], 1), [0.0, TURN])

    assert circle(0.02).turning == pytest.approx(1.0)
    assert circle(0.02).reversed.turning == pytest.approx(-1.0)
    assert drawn(np.sin, lambda s: np.sin(2 * s)).turning == pytest.approx(0.0, abs=1e-9)
    loop = drawn(lambda s: (0.5 + np.cos(s)) * np.cos(s), lambda s: (0.5 + np.cos(s)) * np.sin(s))
    assert loop.turning == pytest.approx(2.0)
    assert line((0.0, 0.0), (1.0, 1.0)).turning == 0.0


def test_scaled():
    curve = circle(20.0, (5.0, 0.0)).scaled(1e-3)
    assert np.allclose(curve.at(0.0)[0], [0.025, 0.0])
    assert curve.area == pytest.approx(np.pi * 0.02**2)
    with pytest.raises(ValueError, match="positive"):
        curve.scaled(-1.0)


def test_a_periodic_spline_is_exactly_scipys():
    points = np.random.default_rng(5).normal(size=(9, 2))
    around = np.concatenate([points, points[:1]])
    s = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(around, axis=0).T))])
    spline = CubicSpline(s, around, bc_type="periodic")
    t = np.linspace(0.0, s[-1], 200)[:-1]
    for curve in (through(points), through(around)):
        for order, got in enumerate(curve.at(t)):
            assert np.allclose(got, spline(t, order), rtol=0, atol=1e-12 * np.abs(got).max())


def test_an_open_spline_of_two_points_is_their_line():
    assert np.allclose(through([(0, 0), (3, 4)], closed=False).at(2.5)[0], [1.5, 2.0])


def test_points_that_are_the_same_are_named():
    with pytest.raises(ValueError, match="2 and 3"):
        through([(0, 0), (1, 0), (1, 0), (0, 1)])
    with pytest.raises(ValueError, match="2 points"):
        through([(0, 0), (1, 0)])


def test_what_no_polynomials_follow_is_said():
    for function, said in [
        (lambda s: np.stack([s, np.abs(s - 1.1)], 1), "not smooth near s = 1."),
        (lambda s: np.stack([s, np.sqrt(s - 1.0)], 1), "not finite"),
        (lambda s: np.stack([s, 1.0 / (s - 1.0)], 1), "not (smooth|finite)"),
    ]:
        with pytest.raises(ValueError, match=said):
            curve_from(function, [0.0, 2.0])


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="ascending"):
        Curve(np.array([0.0, 0.0]), np.zeros((1, 2, 8)), False)
    with pytest.raises(ValueError, match=r"take \(1, 2, 8\)"):
        Curve(np.array([0.0, 1.0]), np.zeros((1, 2, 4)), False)
    with pytest.raises(ValueError, match="begins"):
        Curve(np.array([0.0, 1.0]), line((0, 0), (1, 1)).coefficients, True)


def test_a_curve_survives_a_pickle_and_cannot_be_written_to():
    curve = pickle.loads(pickle.dumps(circle(0.02)))
    assert (curve.breaks == circle(0.02).breaks).all()
    assert (curve.coefficients == circle(0.02).coefficients).all()
    with pytest.raises(ValueError, match="read-only"):
        circle(0.02).coefficients[0, 0, 0] = 1.0
