"""Contract of every row that has equations: its own motions, derivatives, and moving the world."""

import numpy as np
import pytest

from mbssa.joints import CATALOGUE
from mbssa.joints.equations import elementary_motion, elementary_slopes, elementary_values, pose

ROWS = [row for row in CATALOGUE if row.pair is not None]
N = 10


def parameters(rng):
    return {
        "length": rng.uniform(0.5, 2, N),
        "pitch": rng.uniform(-0.3, 0.3, N),
        "radius": rng.uniform(0.1, 0.5, N),
        "offset": rng.uniform(-0.3, 0.3, N),
    }


def sample(row, seed=0):
    """Random coordinates within the range where each is unique, and the pose there."""
    rng = np.random.default_rng(seed)
    values = parameters(rng)
    q = rng.uniform(-1.4, 1.4, (N, row.grade))
    if "distance" in row.coordinates:
        q[:, row.coordinates.index("distance")] = rng.uniform(0.5, 2, N)
    return values, q, *pose(row.pair, q, values)


def cross_matrix(w):
    zero = np.zeros_like(w[0])
    return np.array([[zero, -w[2], w[1]], [w[2], zero, -w[0]], [-w[1], w[0], zero]])


def test_as_many_equations_and_coordinates_as_the_grade_says():
    for row in ROWS:
        equations = row.pair
        assert len(equations.constraints) == row.equations, row.code
        assert len(equations.coordinates) == row.grade, row.code


def test_the_constraint_holds_at_every_value_of_the_coordinates():
    for row in ROWS:
        values, _q, d, C, _ = sample(row)
        residual, _ = elementary_slopes(row.pair.functions, d, C, values)
        assert np.abs(residual).max(initial=0) < 1e-14, row.code


def test_coordinates_are_read_back():
    for row in ROWS:
        values, q, d, C, _ = sample(row)
        found, _ = elementary_slopes(row.pair.coordinates, d, C, values)
        assert np.abs(found - q).max() < 1e-13, row.code


def test_free_motions_are_free_and_move_one_coordinate_each():
    for row in ROWS:
        values, _q, d, C, twists = sample(row)
        _, blocked = elementary_slopes(row.pair.functions, d, C, values)
        _, rate = elementary_slopes(row.pair.coordinates, d, C, values)
        assert np.abs(blocked @ twists).max(initial=0) < 1e-13, row.code
        assert np.abs(rate @ twists - np.eye(row.grade)).max() < 1e-13, row.code


def test_free_twists_against_finite_differences_of_the_pose():
    for row in ROWS:
        values, q, _d, C, twists = sample(row)
        h = 1e-6
        for k in range(row.grade):
            step = np.zeros_like(q)
            step[:, k] = h
            d_plus, C_plus, _ = pose(row.pair, q + step, values)
            d_minus, C_minus, _ = pose(row.pair, q - step, values)
            assert np.abs((d_plus - d_minus) / (2 * h) - twists[:, :3, k]).max() < 1e-9, row.code
            spin = (C_plus - C_minus) / (2 * h) @ C.transpose(0, 2, 1)
            expected = np.array([cross_matrix(w) for w in twists[:, 3:, k]])
            assert np.abs(spin - expected).max() < 1e-9, row.code


def askew(row):
    """Poses that need not satisfy the constraint, where no term happens to vanish; a twist, its rate."""
    rng = np.random.default_rng(1)
    values, _q, d, C, _ = sample(row)
    d = d + rng.uniform(-0.2, 0.2, d.shape)
    tilt, twist, change = rng.uniform(-0.2, 0.2, (N, 3)), *rng.uniform(-0.5, 0.5, (2, N, 6))
    if row.space == "planar":
        d[:, 2] = 0
        tilt[:, :2] = twist[:, 2:5] = change[:, 2:5] = 0
    return values, d, np.array([_exp(w) @ c for w, c in zip(tilt, C, strict=True)]), twist, change


@pytest.mark.parametrize("functions", ["functions", "coordinates"])
def test_jacobian_against_differences(functions):
    for row in ROWS:
        values, d, C, _, _ = askew(row)
        chosen = getattr(row.pair, functions)
        _, jacobian = elementary_slopes(chosen, d, C, values)
        for axis in (0, 1, 5) if row.space == "planar" else range(6):
            unit = np.eye(6)[axis]

            def at(step, unit=unit, chosen=chosen, given=(d, C, values)):
                d, C, values = given
                turned = C if not unit[3:].any() else _exp(step * unit[3:]) @ C
                return elementary_values(chosen, d + step * unit[:3], turned, values)

            assert np.abs(differences(at, 2e-4)[0] - jacobian[:, :, axis]).max(initial=0) < 1e-9, row.code


def test_rates_against_differences():
    for row in ROWS:
        values, d, C, twist, change = askew(row)

        def at(time, row=row, given=(values, d, C, twist, change)):
            # At constant twist and at its constant rate, without what is of the third order.
            values, d, C, twist, change = given
            way = time * twist + 0.5 * time**2 * change
            turned = np.array([_exp(w) @ c if time else c for w, c in zip(way[:, 3:], C, strict=True)])
            return elementary_values(row.pair.coordinates, d + way[:, :3], turned, values)

        still, ends = np.zeros((N, 6)), (np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))
        bodies = (still[:, :3], np.tile(np.eye(3), (N, 1, 1)), still, still), (d, C, twist, change)
        value, *found = elementary_motion(row.pair.coordinates, bodies, ends, values)
        np.testing.assert_allclose(value, elementary_values(row.pair.coordinates, d, C, values), atol=1e-14)
        for mine, theirs in zip(found, differences(at, 5e-3), strict=True):
            assert np.abs(mine - theirs).max(initial=0) < 1e-6, row.code


def differences(function, h):
    """First and second derivatives at 0, to the fourth order."""
    below, low, here, high, above = (function(k * h) for k in (-2, -1, 0, 1, 2))
    first = (below - 8 * low + 8 * high - above) / (12 * h)
    return first, (16 * (low + high) - below - above - 30 * here) / (12 * h * h)


def _exp(w):
    angle = np.linalg.norm(w) or 1.0
    K = cross_matrix(w / angle)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def test_constraints_are_independent():
    for row in ROWS:
        values, _q, d, C, _ = sample(row)
        _, jacobian = elementary_slopes(row.pair.functions, d, C, values)
        if row.equations:
            assert np.linalg.svd(jacobian, compute_uv=False)[:, -1].min() > 1e-3, row.code


def test_the_wrong_sense_of_an_axis_is_seen():
    """Where a half turn satisfies every equation, the row must name an entry of C that tells."""
    for row in ROWS:
        values, _q, d, C, _ = sample(row)
        equations = row.pair
        for sense in equations.sense:
            assert (C[:, sense[0], sense[1]] > 0).all(), row.code
        turned_back = C @ np.diag([1.0, -1.0, -1.0])
        residual, _ = elementary_slopes(equations.functions, d, turned_back, values)
        fooled = np.abs(residual).max(axis=1, initial=0) < 1e-12
        free_axes = row.code in ("U", "ER", "S", "PC", "SC", "SP", "SPSP", "F", "DIST", "H")
        if row.space == "spatial" and not free_axes:
            assert fooled.all(), row.code
            assert any((turned_back[:, i, j] < 0).all() for i, j in equations.sense), row.code
