"""Jets of every code: their values are those of the catalogue's table, their derivatives are derivatives."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from groups.encoding import CODES
from groups.kernels import jets
from mbssa.compiled import compiled
from mbssa.joints.equations import Elementary

EQUATIONS = {
    "along": Elementary("along", (1,)),
    "height": Elementary("along", (2,), parameter="radius"),
    "cosine": Elementary("cosine", (2, 1)),
    "turn": Elementary("turn", (1, 2, 2, 2), -1.0),
    "cardan": Elementary("cardan"),
    "distance": Elementary("distance", parameter="length"),
    "distance as a coordinate": Elementary("distance"),
    "azimuth": Elementary("azimuth"),
    "elevation": Elementary("elevation"),
    "screw": Elementary("screw", parameter="pitch"),
    "offset x": Elementary("offset", (0,), parameter="offset"),
    "offset y": Elementary("offset", (1,), parameter="offset"),
    "offset z": Elementary("offset", (2,), parameter="offset"),
}
PARAMETERS = {"radius": 0.3, "length": 0.8, "pitch": 0.2, "offset": -0.4}


class Stage:
    """Three bodies in random poses and velocities, and a joint between the last and the second."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.P = rng.normal(size=(3, 3))
        self.R = Rotation.random(3, random_state=rng).as_matrix()
        self.V = rng.normal(size=(3, 6))
        self.pair = np.array([[0, 1], [2, 1]])
        self.origin = rng.normal(size=(2, 2, 3))
        self.axes = Rotation.random(4, random_state=rng).as_matrix().reshape(2, 2, 3, 3)

    def jet(self, e, P=None, R=None, *, moving=True, table=None):
        number = np.array([(*e.numbers, 0, 0, 0, 0)[:4]])
        parameter = np.array([PARAMETERS.get(e.parameter, 0.0)])
        code = np.array([CODES[e.kind]])
        rows = (
            self.pair, self.origin, self.axes, code, np.array([1]), number, np.array([e.sign]), parameter,
        )  # fmt: skip
        table = np.zeros((1, jets.SIZE)) if table is None else table
        P, R = self.P if P is None else P, self.R if R is None else R
        compiled(jets.evaluate)(0, 1, rows, P, R, self.V, moving, np.zeros((jets.WORK, jets.SIZE)), table)
        return table[0]

    def moved(self, body, step):
        """Poses after a small motion of one body: translation of its origin, rotation vector."""
        P, R = self.P.copy(), self.R.copy()
        P[body] += step[:3]
        R[body] = Rotation.from_rotvec(step[3:]).as_matrix() @ R[body]
        return P, R

    def later(self, t):
        """Poses after a time at constant velocities: no accelerations."""
        turns = Rotation.from_rotvec(t * self.V[:, 3:]).as_matrix()
        return self.P + t * self.V[:, :3], turns @ self.R


def slope(f, h=1e-3):
    return (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h)


def bend(f, h=1e-3):
    return (-f(-2 * h) + 16 * f(-h) - 30 * f(0) + 16 * f(h) - f(2 * h)) / (12 * h * h)


@pytest.fixture(params=range(3))
def stage(request):
    return Stage(request.param)


def test_every_code_is_tried():
    assert {e.kind for e in EQUATIONS.values()} == set(CODES)
    assert sorted(CODES.values()) == list(range(9))


@pytest.mark.parametrize("name", EQUATIONS)
def test_value_is_that_of_the_catalogue(stage, name):
    e = EQUATIONS[name]
    a, b = stage.pair[1]
    A, B = stage.R[a] @ stage.axes[1, 0], stage.R[b] @ stage.axes[1, 1]
    across = stage.P[b] + stage.R[b] @ stage.origin[1, 1] - stage.P[a] - stage.R[a] @ stage.origin[1, 0]
    if name == "distance as a coordinate":
        expected = np.linalg.norm(across)
    else:
        given = {key: np.array([value]) for key, value in PARAMETERS.items()}
        (expected,), _ = e((A.T @ across)[None], (A.T @ B)[None], given)
    assert abs(stage.jet(e)[0] - expected) < 1e-14


@pytest.mark.parametrize("name", EQUATIONS)
def test_derivatives_by_the_twists_and_by_time(stage, name):
    e = EQUATIONS[name]
    jet = stage.jet(e)
    for side in range(2):
        for m in range(6):
            step = np.eye(6)[m]
            by = slope(lambda h, s=side, d=step: stage.jet(e, *stage.moved(stage.pair[1, s], h * d))[0])
            assert abs(jet[1 + 6 * side + m] - by) < 1e-8 * (1 + abs(by))
    rate, second = (f(lambda t: stage.jet(e, *stage.later(t))[0]) for f in (slope, bend))
    assert abs(jet[14] - rate) < 1e-7 * (1 + abs(rate))
    assert abs(jet[13] - second) < 1e-5 * (1 + abs(second))
    a, b = stage.pair[1]
    assert abs(jet[14] - jet[1:7] @ stage.V[a] - jet[7:13] @ stage.V[b]) < 1e-13 * (1 + abs(rate))


@pytest.mark.parametrize("name", EQUATIONS)
def test_at_rest_only_what_a_newton_step_needs_is_written(stage, name):
    e = EQUATIONS[name]
    table = np.full((1, jets.SIZE), 7.0)
    jet = stage.jet(e, moving=False, table=table)
    assert (jet[:13] == stage.jet(e)[:13]).all()
    assert (jet[13:] == 7.0).all()


def test_a_part_of_the_rows_is_evaluated(stage):
    """Rows of two joints in one table: each part writes its own rows."""
    number = np.zeros((3, 4), dtype=np.int64)
    rows = (
        stage.pair, stage.origin, stage.axes, np.array([jets.ALONG, jets.COSINE, jets.ALONG]),
        np.array([0, 1, 1]), number, np.ones(3), np.zeros(3),
    )  # fmt: skip
    work = np.zeros((jets.WORK, jets.SIZE))
    whole, part = np.zeros((3, jets.SIZE)), np.zeros((3, jets.SIZE))
    evaluate = compiled(jets.evaluate)
    evaluate(0, 3, rows, stage.P, stage.R, stage.V, True, work, whole)
    evaluate(1, 2, rows, stage.P, stage.R, stage.V, True, work, part)
    assert (part[1] == whole[1]).all()
    assert not part[[0, 2]].any()
    assert (whole[2] == stage.jet(Elementary("along", (0,)))).all()


def test_angles_miss_without_whole_turns():
    for code in CODES.values():
        periodic = code in (jets.TURN, jets.CARDAN, jets.AZIMUTH, jets.ELEVATION)
        assert abs(jets.shortest(code, 0.1 - 6 * np.pi) - (0.1 if periodic else 0.1 - 6 * np.pi)) < 1e-14
