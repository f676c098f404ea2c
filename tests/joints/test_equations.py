"""Contract of every row that has equations: its own motions, derivatives, and moving the world."""

import numpy as np
import pytest

from mbssa.joints import CATALOGUE
from mbssa.joints.equations import coordinates, pose, residuals

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
        residual, _ = residuals(row.pair, d, C, values)
        assert np.abs(residual).max(initial=0) < 1e-14, row.code


def test_coordinates_are_read_back():
    for row in ROWS:
        values, q, d, C, _ = sample(row)
        found, _ = coordinates(row.pair, d, C, values)
        assert np.abs(found - q).max() < 1e-13, row.code


def test_free_motions_are_free_and_move_one_coordinate_each():
    for row in ROWS:
        values, _q, d, C, twists = sample(row)
        _, blocked = residuals(row.pair, d, C, values)
        _, rate = coordinates(row.pair, d, C, values)
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


@pytest.mark.parametrize("function", [residuals, coordinates])
def test_jacobian_against_complex_step(function):
    """At poses that need not satisfy the constraint, where no term happens to vanish."""
    for row in ROWS:
        rng = np.random.default_rng(1)
        values, _q, d, C, _ = sample(row)
        d = d + rng.uniform(-0.2, 0.2, d.shape)
        tilt = rng.uniform(-0.2, 0.2, (N, 3))
        if row.space == "planar":
            d[:, 2] = 0
            tilt[:, :2] = 0
        C = np.array([_exp(w) @ c for w, c in zip(tilt, C, strict=True)])
        _, jacobian = function(row.pair, d, C, values)
        h = 1e-30
        for axis in (0, 1, 5) if row.space == "planar" else range(6):
            direction = np.zeros(6)
            direction[axis] = 1.0
            value, _ = function(
                row.pair, d + 1j * h * direction[:3], C + 1j * h * cross_matrix(direction[3:]) @ C, values
            )
            assert np.abs(value.imag / h - jacobian[:, :, axis]).max(initial=0) < 1e-13, row.code


def _exp(w):
    angle = np.linalg.norm(w)
    K = cross_matrix(w / angle)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def test_constraints_are_independent():
    for row in ROWS:
        values, _q, d, C, _ = sample(row)
        _, jacobian = residuals(row.pair, d, C, values)
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
        residual, _ = residuals(equations, d, turned_back, values)
        fooled = np.abs(residual).max(axis=1, initial=0) < 1e-12
        free_axes = row.code in ("U", "ER", "S", "PC", "SC", "SP", "SPSP", "F", "DIST", "H")
        if row.space == "spatial" and not free_axes:
            assert fooled.all(), row.code
            assert any((turned_back[:, i, j] < 0).all() for i, j in equations.sense), row.code
