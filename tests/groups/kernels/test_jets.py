"""Jets of every code: their values are those of the catalogue's table, their derivatives are derivatives."""

import lives
import numpy as np
import pytest
from lives import life_of
from scipy.spatial.transform import Rotation

from groups.encoding.constraint_tables import CODES, encode_rows
from groups.encoding.user_functions import take_faults
from groups.kernels import jets
from mbssa.io.records import from_record
from mbssa.joints.equations import Elementary
from mbssa.joints.frames import joint_frames

pytestmark = pytest.mark.usefixtures("life")

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


#: Terms that are no equation of the catalogue's tables, with the angle that says their turns.
COUNTED = {
    "turned": (Elementary("turned"), np.nan),
    "counted": (Elementary("counted", (1, 2, 2, 2)), 40.0),
    "counted back": (Elementary("counted", (1, 0, 0, 0)), -900.0),
    "line": (Elementary("line"), 0.0),
    "line of many turns": (Elementary("line"), 123.0),
}
#: Contacts are tried in test_contact, users' functions below.
ELSEWHERE = {"contact", "user"}


class Stage:
    """Three bodies in random poses and velocities, and a joint between the last and the second."""

    def __init__(self, seed, *, planar=False):
        rng = np.random.default_rng(seed)
        self.P = rng.normal(size=(3, 3))
        self.V = rng.normal(size=(3, 6))
        self.T = rng.uniform(-30.0, 30.0, 3)
        self.pair = np.array([[0, 1], [2, 1]])
        self.origin = rng.normal(size=(2, 2, 3))
        if planar:
            self.P[:, 2], self.V[:, 2:5], self.origin[:, :, 2] = 0.0, 0.0, 0.0
            self.R = about_z(self.T)
            self.axes = about_z(rng.uniform(-3.0, 3.0, 4)).reshape(2, 2, 3, 3)
        else:
            self.R = Rotation.random(3, random_state=rng).as_matrix()
            self.axes = Rotation.random(4, random_state=rng).as_matrix().reshape(2, 2, 3, 3)

    def jet(self, e, P=None, R=None, T=None, *, moving=True, table=None, near=np.nan, factor=1.0):
        number = np.array([(*e.numbers, 0, 0, 0, 0)[:4]])
        parameter = np.array([PARAMETERS.get(e.parameter, 0.0)])
        code = np.array([CODES[e.kind]])
        rows = (
            self.pair, self.origin, self.axes, code, np.array([1]), number, np.array([e.sign]), parameter,
            np.array([factor]), np.array([near]), np.zeros(0), np.zeros(1), np.zeros((0, 2)),
        )  # fmt: skip
        table = np.zeros((1, jets.SIZE)) if table is None else table
        P, R, T = self.P if P is None else P, self.R if R is None else R, self.T if T is None else T
        work = np.zeros((jets.WORK, jets.SIZE))
        life_of(jets.evaluate)(0, 1, rows, P, R, self.V, T, moving, work, table)
        return table[0]

    def moved(self, body, step):
        """Poses after a small motion of one body: translation of its origin, rotation vector."""
        P, R, T = self.P.copy(), self.R.copy(), self.T.copy()
        P[body] += step[:3]
        R[body] = Rotation.from_rotvec(step[3:]).as_matrix() @ R[body]
        T[body] += step[5]
        return P, R, T

    def later(self, t):
        """Poses after a time at constant velocities: no accelerations."""
        turns = Rotation.from_rotvec(t * self.V[:, 3:]).as_matrix()
        return self.P + t * self.V[:, :3], turns @ self.R, self.T + t * self.V[:, 5]


def about_z(angles):
    return Rotation.from_rotvec(np.outer(angles, [0.0, 0.0, 1.0])).as_matrix()


def slope(f, h=1e-3):
    return (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h)


def bend(f, h=1e-3):
    return (-f(-2 * h) + 16 * f(-h) - 30 * f(0) + 16 * f(h) - f(2 * h)) / (12 * h * h)


@pytest.fixture(params=range(3))
def stage(request):
    return Stage(request.param)


def test_every_code_is_tried():
    tried = {e.kind for e in EQUATIONS.values()} | {e.kind for e, _ in COUNTED.values()}
    assert tried | ELSEWHERE == set(CODES)
    assert sorted([*CODES.values(), jets.MORE]) == list(range(15))


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
    check_derivatives(stage, EQUATIONS[name], range(6))


def check_derivatives(stage, e, columns, **more):
    """By the twists in some columns and by time, against differences of the value."""
    jet = stage.jet(e, **more)
    for side in range(2):
        for m in columns:
            step = np.eye(6)[m]
            by = slope(
                lambda h, s=side, d=step: stage.jet(e, *stage.moved(stage.pair[1, s], h * d), **more)[0]
            )
            assert abs(jet[1 + 6 * side + m] - by) < 1e-8 * (1 + abs(by))
    rate, second = (f(lambda t: stage.jet(e, *stage.later(t), **more)[0]) for f in (slope, bend))
    assert abs(jet[14] - rate) < 1e-7 * (1 + abs(rate))
    assert abs(jet[13] - second) < 1e-5 * (1 + abs(second))
    a, b = stage.pair[1]
    assert abs(jet[14] - jet[1:7] @ stage.V[a] - jet[7:13] @ stage.V[b]) < 1e-13 * (1 + abs(rate))


@pytest.mark.parametrize("factor", [-2.5, 0.3])
@pytest.mark.parametrize("name", EQUATIONS)
def test_a_factor_multiplies_the_whole_jet(stage, name, factor):
    e = EQUATIONS[name]
    assert np.abs(stage.jet(e, factor=factor) - factor * stage.jet(e)).max() < 1e-14
    at_rest = stage.jet(e, moving=False, table=np.full((1, jets.SIZE), 7.0), factor=factor)
    assert (at_rest[13:] == 7.0).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("factor", [1.0, -0.4])
@pytest.mark.parametrize("name", COUNTED)
def test_derivatives_of_angles_that_count_turns(name, factor, seed):
    e, near = COUNTED[name]
    planar = e.kind != "counted"
    stage = Stage(seed, planar=planar)
    check_derivatives(stage, e, (0, 1, 5) if planar else range(6), near=near, factor=factor)


@pytest.mark.parametrize("name", COUNTED)
def test_values_of_angles_that_count_turns(name):
    """What the pose tells of the angle, and of all those the one next to what is near."""
    e, near = COUNTED[name]
    stage = Stage(4, planar=e.kind != "counted")
    value = stage.jet(e, near=near)[0]
    a, b = stage.pair[1]
    if e.kind == "turned":
        assert value == stage.T[b]
        return
    A, B = stage.R[a] @ stage.axes[1, 0], stage.R[b] @ stage.axes[1, 1]
    if e.kind == "line":
        across = stage.P[b] + stage.R[b] @ stage.origin[1, 1] - stage.P[a] - stage.R[a] @ stage.origin[1, 0]
        expected = np.arctan2(across[1], across[0])
    else:
        i, j, k, m = e.numbers
        expected = np.arctan2((A.T @ B)[i, j], (A.T @ B)[k, m])
    assert abs(value - near) <= np.pi + 1e-12
    assert abs(np.exp(1j * value) - np.exp(1j * expected)) < 1e-12
    assert abs(stage.jet(e, near=near + 6 * np.pi)[0] - value - 6 * np.pi) < 1e-12
    assert abs(stage.jet(e, near=value, factor=-3.0)[0] + 3.0 * value) < 1e-12


@pytest.mark.parametrize("name", COUNTED)
def test_of_turns_too_only_what_a_newton_step_needs_is_written_at_rest(name):
    e, near = COUNTED[name]
    stage = Stage(1, planar=e.kind != "counted")
    jet = stage.jet(e, moving=False, table=np.full((1, jets.SIZE), 7.0), near=near)
    assert (jet[:13] == stage.jet(e, near=near)[:13]).all()
    assert (jet[13:] == 7.0).all()


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
        np.array([0, 1, 1]), number, np.ones(3), np.zeros(3), np.ones(3), np.full(3, np.nan), np.zeros(0),
        np.zeros(1),
        np.zeros((0, 2)),
    )  # fmt: skip
    work = np.zeros((jets.WORK, jets.SIZE))
    whole, part = np.zeros((3, jets.SIZE)), np.zeros((3, jets.SIZE))
    evaluate = life_of(jets.evaluate)
    evaluate(0, 3, rows, stage.P, stage.R, stage.V, stage.T, True, work, whole)
    evaluate(1, 2, rows, stage.P, stage.R, stage.V, stage.T, True, work, part)
    assert (part[1] == whole[1]).all()
    assert not part[[0, 2]].any()
    assert (whole[2] == stage.jet(Elementary("along", (0,)))).all()


def test_angles_miss_without_whole_turns():
    for code in CODES.values():
        periodic = code in (jets.TURN, jets.CARDAN, jets.AZIMUTH, jets.ELEVATION)
        assert abs(jets.shortest(code, 0.1 - 6 * np.pi) - (0.1 if periodic else 0.1 - 6 * np.pi)) < 1e-14


# --- functions of many bodies ----------------------------------------------------------------------


def flat(q):
    """Every coordinate of every body counts, and no two alike."""
    return np.sum(np.sin(q[:, 0] + 2.0 * q[:, 1]) * q[:, 1]) + np.sum(np.cos(0.1 * q[:, 2]) * q[:, 0])


def solid(p, R):
    total = p[0, 0] * p[0, 1] - R[0, 1, 2]
    for k in range(len(p)):
        total = total + np.sin(p[k, 0] + 2.0 * p[k, 1] - p[k, 2]) * R[k, 0, 1] + R[k, 2, 1] * R[0, 0, 0]
    return total


class Users:
    """Joints of a user's function of some of six bodies in random poses and velocities, in that order."""

    def __init__(self, space, joints, *, size=1.0):
        rng = np.random.default_rng(len(joints) + sum(map(sum, joints)))
        self.function, self.joints, self.planar = (
            (flat if space == "planar" else solid),
            joints,
            space == "planar",
        )
        record = {"format": 1, "space": space, "bodies": 6}
        free = "FP" if self.planar else "F"
        record["joint"] = [{"bodies": [1, body], "type": free} for body in range(2, 7)]
        record["joint"] += [
            {"bodies": [b + 1 for b in bodies], "type": "USER", "function": self.function}
            for bodies in joints
        ]
        mechanism = from_record(record, "users", "users")
        tables = encode_rows(mechanism, joint_frames(mechanism), range(5, 5 + len(joints)), range(6), {})
        self.tables = tables.over(size).bound(lives.COMPILED)
        self.T = rng.uniform(-30.0, 30.0, 6)
        self.P, self.V = rng.normal(size=(6, 3)), rng.normal(size=(6, 6))
        if self.planar:
            self.P[:, 2], self.V[:, 2:5] = 0.0, 0.0
        self.R = about_z(self.T) if self.planar else Rotation.random(6, random_state=rng).as_matrix()

    @property
    def columns(self):
        return (0, 1, 5) if self.planar else range(6)

    def value(self, k, P, R, T):
        of = list(self.joints[k])
        if self.planar:
            return self.function(np.column_stack([P[of, :2], T[of]]))
        return self.function(P[of], R[of])

    def table(self, *, moving=True):
        """(T, SIZE) jets of all terms; those that nobody writes are 7."""
        rows, work = self.tables.kernel_rows, np.zeros((jets.WORK, jets.SIZE))
        table = np.full((len(self.tables.code), jets.SIZE), 7.0)
        life_of(jets.evaluate)(0, len(table), rows, self.P, self.R, self.V, self.T, moving, work, table)
        assert take_faults() == ()
        return table

    def terms(self, k):
        return range(*self.tables.first_term[k : k + 2])

    def derivative(self, k, table):
        """(6, 6) of a joint's function by the twist of every body, as those who solve add it up."""
        found = np.zeros((6, 6))
        for r in self.terms(k):
            for side, body in enumerate(self.tables.pair[self.tables.joint[r]]):
                found[body] += table[r, 1 + 6 * side : 7 + 6 * side]
        return found

    moved, later = Stage.moved, Stage.later


#: Even and odd numbers of bodies; many before few, whose room is then written upon; the frame among them.
JOINTS = {
    "two": [(2, 4)],
    "three": [(3, 1, 5)],
    "four": [(4, 3, 1, 2)],
    "five": [(5, 4, 3, 2, 1)],
    "five, three, two and three": [(1, 2, 3, 4, 5), (5, 3, 1), (2, 4), (1, 4, 2)],
    "with the frame": [(0, 3), (2, 0, 4)],
}


@pytest.mark.parametrize("space", ["planar", "spatial"])
@pytest.mark.parametrize("case", JOINTS)
def test_functions_of_many_bodies(space, case):
    users = Users(space, JOINTS[case])
    table = users.table()
    for k, bodies in enumerate(users.joints):
        first, *others = users.terms(k)
        assert abs(table[first, 0] - users.value(k, users.P, users.R, users.T)) < 1e-12
        assert not table[others][:, [0, 13, 14]].any()
        found = users.derivative(k, table)
        for body in range(6):
            for m in users.columns:
                by = slope(lambda h, k=k, b=body, m=m: users.value(k, *users.moved(b, h * np.eye(6)[m])))
                assert abs(found[body, m] - by) < 1e-8 * (1 + abs(by))
        rate, second = (f(lambda t, k=k: users.value(k, *users.later(t))) for f in (slope, bend))
        assert abs(table[first, 14] - rate) < 1e-7 * (1 + abs(rate))
        assert abs(table[first, 13] - second) < 1e-5 * (1 + abs(second))
        columns = list(users.columns)
        whole = sum(found[body, columns] @ users.V[body, columns] for body in bodies)
        assert abs(table[first, 14] - whole) < 1e-11 * (1 + abs(rate))


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_functions_at_rest(space):
    users = Users(space, JOINTS["five, three, two and three"])
    still, table = users.table(moving=False), users.table()
    assert (still[:, :13] == table[:, :13]).all()
    first = [users.terms(k)[0] for k in range(4)]
    assert (still[first][:, 13:] == 7.0).all()


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_functions_get_metres_whatever_positions_are_divided_by(space):
    """Positions and speeds over 0.2 m: derivatives by them are 0.2 times as large, all else is the same."""
    one, other = (Users(space, JOINTS["five, three, two and three"], size=size) for size in (1.0, 0.2))
    other.P /= 0.2
    other.V[:, :3] /= 0.2
    wanted, found = one.table(), other.table()
    for side in range(2):
        wanted[:, 1 + 6 * side : 4 + 6 * side] *= 0.2
    assert np.abs(found - wanted).max() < 1e-9
