"""Struts: every joint closes, rates follow positions, modes are apart, and failures say what they are."""

from types import SimpleNamespace

import numpy as np
import pytest
from lives import life_of

from groups.encoding.struts import pack, signs
from groups.kernels import strut as layout
from groups.kernels.status import GIMBAL, NOT_CONVERGED, OK, OUT_OF_REACH, PREDECESSOR_FAILED, SINGULAR
from groups.kernels.vectors import exponential

pytestmark = pytest.mark.usefixtures("life")

FRAME, A, B, ONE, TWO, HOLDER = range(6)


def turn(vector):
    return np.array(exponential(tuple(np.asarray(vector, dtype=float)))).reshape(3, 3)


def unit(vector):
    return np.asarray(vector, dtype=float) / np.linalg.norm(vector)


class Path:
    """A body that moves: cubic in place, turning about two axes at once, with its exact rates."""

    def __init__(self, rng, scale=1.0):
        self.place = rng.normal(size=(4, 3)) * scale
        self.axes = [unit(rng.normal(size=3)) for _ in range(2)]
        self.rates = rng.normal(size=(2, 2)) * 0.5
        self.start = turn(rng.normal(size=3))

    def state(self, t):
        """The 24 numbers of a body's state."""
        powers = np.array([1, t, t * t, t**3])
        one = np.array([0, 1, 2 * t, 3 * t * t])
        two = np.array([0, 0, 2, 6 * t])
        angle = self.rates @ [t, t * t]
        speed = self.rates @ [1, 2 * t]
        growth = self.rates @ [0, 2]
        first = turn(self.axes[0] * angle[0])
        carried = first @ self.axes[1]
        w = self.axes[0] * speed[0] + carried * speed[1]
        d = self.axes[0] * growth[0] + carried * growth[1]
        d = d + np.cross(self.axes[0] * speed[0], carried * speed[1])
        rotation = first @ turn(self.axes[1] * angle[1]) @ self.start
        return np.concatenate(
            [powers @ self.place, rotation.ravel(), one @ self.place, w, two @ self.place, d]
        )


def carry(state, point):
    """Position, velocity and acceleration of a point of a body."""
    w, d = state[15:18], state[21:24]
    r = state[3:12].reshape(3, 3) @ point
    bend = np.cross(d, r) + np.cross(w, np.cross(w, r))
    return state[0:3] + r, state[12:15] + np.cross(w, r), state[18:21] + bend


def geometry(seed, held_elsewhere=False):
    """A random strut in reach: arm and slide partly along the pin, offsets everywhere, second body turned."""
    rng = np.random.default_rng(seed)
    pin = unit(rng.normal(size=3))
    g = SimpleNamespace(
        centre_a=rng.normal(size=3),
        pin_a=unit(rng.normal(size=3)),
        centre_b=rng.normal(size=3),
        centre=rng.normal(size=3),
        pin=pin,
        arm=rng.normal(size=3) * 0.3,
        along=unit(unit(np.cross(pin, rng.normal(size=3))) + rng.uniform(-0.5, 0.5) * pin),
        turn=turn(rng.normal(size=3)),
        origin=rng.normal(size=3),
        a=Path(rng),
        b=Path(rng),
        holder=Path(rng) if held_elsewhere else None,
    )
    # The ball starts out on a line across the pin in A, far from the universal.
    away = unit(np.cross((g.holder or g.a).start @ g.pin_a, rng.normal(size=3)))
    root = g.a.place[0] + g.a.start @ g.centre_a
    g.b.place[0] = root + 6.0 * away - g.b.start @ g.centre_b
    return g


def packed(g, bodies=(A, B, ONE, TWO), drive=-1):
    sliding = {"along": g.along, "turn": g.turn, "origin": g.origin} if bodies[3] >= 0 else {}
    return pack(
        bodies,
        centre_a=g.centre_a,
        pin_a=g.pin_a,
        centre_b=g.centre_b,
        centre=g.centre,
        pin=g.pin,
        arm=g.arm,
        drive=drive,
        pin_body=HOLDER if g.holder else None,
        **sliding,
    )


def states(g, times):
    S = np.full((6, len(times), 24), 7.0)
    for body, path in ((A, g.a), (B, g.b), (HOLDER, g.holder or g.a)):
        S[body] = [path.state(t) for t in times]
    return S


#: Times and room, which the kernel of a strut does not need.
NONE = np.zeros(0)


def solve(ints, floats, S, pair, level=2, inputs=None, one_by_one=False):
    """``S`` with the strut in it, and the group's quality."""
    S = S.copy()
    count = S.shape[1]
    quality = (
        np.full((1, count), -1, dtype=np.int8),
        np.full((1, count), np.nan),
        np.full((1, count), -1, dtype=np.int32),
        np.full((1, count), np.nan),
    )
    inputs = inputs or (np.zeros((0, count)),) * 3
    memory = np.array(pair, dtype=float)
    kernel = life_of(layout.solve_struts)
    for first, length in [(t, 1) for t in range(count)] if one_by_one else [(0, count)]:
        block = np.ascontiguousarray(S[:, first : first + length].swapaxes(1, 2))
        kernel(0, ints, floats, block, first, length, inputs, NONE, memory, NONE, quality, level)
        S[:, first : first + length] = block.swapaxes(1, 2)
    return S, SimpleNamespace(
        status=quality[0][0], residual=quality[1][0], iterations=quality[2][0], condition=quality[3][0]
    )


def miss(g, S, t, last=TWO):
    """Largest miss of all joint equations, each from the poses alone."""
    rotation = S[:, t, 3:12].reshape(-1, 3, 3)
    position = S[:, t, 0:3]
    centre = position[A] + rotation[A] @ g.centre_a - position[ONE] - rotation[ONE] @ g.centre
    pins = (rotation[HOLDER] @ g.pin_a) @ (rotation[ONE] @ g.pin)
    found = [np.abs(centre).max(), abs(pins), np.abs(rotation[ONE] @ rotation[ONE].T - np.eye(3)).max()]
    end = g.centre + g.arm
    if last == TWO:
        found.append(np.abs(rotation[TWO] - rotation[ONE] @ g.turn).max())
        offset = rotation[ONE].T @ (position[TWO] - position[ONE]) - g.origin
        found.append(np.abs(np.cross(offset, g.along)).max())
        end = g.turn.T @ (end - g.origin)
    ball = position[last] + rotation[last] @ end - position[B] - rotation[B] @ g.centre_b
    return max([*found, np.abs(ball).max()])


def size(S):
    return np.nanmax(np.abs(S[:, :, 0:3]))


def slides(g, S):
    """Slide and its two rates, from the states of the strut's two bodies."""
    rows = []
    for state_1, state_2 in zip(S[ONE], S[TWO], strict=True):
        axis = state_1[3:12].reshape(3, 3) @ g.along
        w, d = state_1[15:18], state_1[21:24]
        r = state_2[0:3] - state_1[0:3]
        value = (state_1[3:12].reshape(3, 3).T @ r - g.origin) @ g.along
        rate = axis @ (state_2[12:15] - state_1[12:15] - np.cross(w, r))
        carried = np.cross(d, r) + np.cross(w, np.cross(w, r)) + 2 * rate * np.cross(w, axis)
        rows.append((value, rate, axis @ (state_2[18:21] - state_1[18:21] - carried)))
    return np.array(rows).T


def one_body(seed, held_elsewhere=False):
    """Geometry of a strut without a slide, and a B whose ball keeps the strut's length from the universal."""
    g = geometry(seed, held_elsewhere)
    swing = Path(np.random.default_rng(seed + 1000))
    g.arm = np.cross(g.pin, g.arm) + 0.1 * g.pin
    reach = np.linalg.norm(g.arm) * swing.start.T @ unit(np.cross((g.holder or g.a).start @ g.pin_a, g.arm))
    g.centre_b = np.zeros(3)

    def state(t):
        root = carry(g.a.state(t), g.centre_a)
        swung = swing.state(t)
        swung[0:3] = swung[12:15] = swung[18:21] = 0.0
        tip = carry(swung, reach)
        swung[0:3], swung[12:15], swung[18:21] = (r + q for r, q in zip(root, tip, strict=True))
        return swung

    g.b = SimpleNamespace(state=state)
    return g


MODES = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
TIMES = np.linspace(-0.2, 0.3, 37)


@pytest.mark.parametrize("held_elsewhere", [False, True])
@pytest.mark.parametrize("pair", MODES)
@pytest.mark.parametrize("seed", range(10))
class TestSliding:
    def test_every_joint_closes(self, seed, pair, held_elsewhere):
        g = geometry(seed, held_elsewhere)
        S, quality = solve(*packed(g), states(g, TIMES), pair)
        assert (quality.status == OK).all()
        for t in range(len(TIMES)):
            assert miss(g, S, t) <= 1e-13 * size(S)
            assert quality.residual[t] <= 1e-13 * size(S)
        assert (quality.iterations == 0).all()

    def test_rates_are_those_of_the_positions(self, seed, pair, held_elsewhere):
        g = geometry(seed, held_elsewhere)
        ints, floats = packed(g)
        steps = (2e-4, 1e-4)
        times = [0.05, *(0.05 + sign * h for h in steps for sign in (1, -1))]
        S, quality = solve(ints, floats, states(g, times), pair)
        assert (quality.status == OK).all()
        for body in (ONE, TWO):
            errors = [differences(S[body], 1 + 2 * k, h) for k, h in enumerate(steps)]
            assert_second_order(errors, S[body, 0])

    def test_signs_are_read_back_from_the_poses(self, seed, pair, held_elsewhere):
        g = geometry(seed, held_elsewhere)
        ints, floats = packed(g)
        S, quality = solve(ints, floats, states(g, TIMES), pair, level=0)
        rotation = S[:, :, 3:12].reshape(6, -1, 3, 3)
        assert (quality.status == OK).all()
        for t in range(len(TIMES)):
            poses = [(S[body, t, 0:3], rotation[body, t]) for body in (A, B, ONE)]
            assert signs(floats, *poses, pin_rotation=rotation[HOLDER, t]).tolist() == list(pair)

    def test_a_driven_slide_gives_the_same(self, seed, pair, held_elsewhere):
        g = geometry(seed, held_elsewhere)
        S, quality = solve(*packed(g), states(g, TIMES), pair)
        assert (quality.status == OK).all()
        value, rate, second = slides(g, S)
        inputs = tuple(np.stack([np.zeros_like(row), row]) for row in (value, rate, second))
        driven, driven_quality = solve(*packed(g, drive=1), states(g, TIMES), pair, inputs=inputs)
        assert (driven_quality.status == OK).all()
        scale = np.abs(S).max() / quality.condition.min() ** 3
        np.testing.assert_allclose(driven, S, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("held_elsewhere", [False, True])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("seed", range(10))
class TestOneBody:
    def test_every_joint_closes(self, seed, side, held_elsewhere):
        g = one_body(seed, held_elsewhere)
        S, quality = solve(*packed(g, (A, B, ONE, -1)), states(g, TIMES), (1, side))
        assert (quality.status == OK).all()
        for t in range(len(TIMES)):
            assert miss(g, S, t, last=ONE) <= 1e-13 * size(S)
        assert (S[TWO] == 7.0).all()

    def test_rates_are_those_of_the_positions(self, seed, side, held_elsewhere):
        g = one_body(seed, held_elsewhere)
        steps = (2e-4, 1e-4)
        times = [0.05, *(0.05 + sign * h for h in steps for sign in (1, -1))]
        S, quality = solve(*packed(g, (A, B, ONE, -1)), states(g, times), (1, side))
        assert (quality.status == OK).all()
        assert_second_order([differences(S[ONE], 1 + 2 * k, h) for k, h in enumerate(steps)], S[ONE, 0])


def differences(rows, k, h):
    """Velocity and acceleration of a body by central differences of rows k and k + 1."""
    ahead, behind = rows[k], rows[k + 1]
    here = rows[0, 3:12].reshape(3, 3)
    turning = (ahead[3:12] - behind[3:12]).reshape(3, 3) / (2 * h) @ here.T
    skew = (turning - turning.T) / 2
    w = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    v = (ahead[0:3] - behind[0:3]) / (2 * h)
    return np.concatenate([v, w, (ahead[12:18] - behind[12:18]) / (2 * h)]) - rows[0, 12:24]


def assert_second_order(errors, row):
    coarse, fine = (np.abs(error).max() for error in errors)
    rounding = 1e-9 * np.abs(row).max()
    assert fine <= coarse / 3.5 + rounding
    assert coarse <= 1e-4 * max(1.0, np.abs(row).max() ** 3)


@pytest.mark.parametrize("seed", range(10))
def test_modes_are_apart(seed):
    g = geometry(seed)
    ints, floats = packed(g)
    found = [solve(ints, floats, states(g, [0.0]), pair, level=0)[0][ONE, 0, 3:12] for pair in MODES]
    for k, rotation in enumerate(found):
        for other in found[:k]:
            assert np.abs(rotation - other).max() > 1e-3


class TestBlocks:
    @pytest.mark.parametrize("level", [0, 2])
    def test_an_instant_does_not_know_its_neighbours(self, level):
        g = geometry(4)
        together, quality = solve(*packed(g), states(g, TIMES), (1, -1), level)
        apart, apart_quality = solve(*packed(g), states(g, TIMES), (1, -1), level, one_by_one=True)
        np.testing.assert_array_equal(together, apart)
        np.testing.assert_array_equal(quality.residual, apart_quality.residual)

    def test_time_reversed(self):
        g = geometry(5)
        there = states(g, TIMES)
        back = there[:, ::-1].copy()
        back[:, :, 12:18] *= -1
        forth, _ = solve(*packed(g), there, (-1, 1))
        again, _ = solve(*packed(g), back, (-1, 1))
        again[:, :, 12:18] *= -1
        np.testing.assert_array_equal(forth[[ONE, TWO]], again[[ONE, TWO]][:, ::-1])

    def test_lower_levels_leave_rates_alone(self):
        g = geometry(4)
        full, _ = solve(*packed(g), states(g, TIMES), (1, 1))
        for level, written in ((0, 12), (1, 18)):
            part, _ = solve(*packed(g), states(g, TIMES), (1, 1), level)
            np.testing.assert_array_equal(part[[ONE, TWO], :, :written], full[[ONE, TWO], :, :written])
            assert (part[[ONE, TWO], :, written:] == 7.0).all()


class TestFailures:
    """Plain geometry: universal at the origin of A with its pin along x, slide along z of the first body."""

    def strut(self, arm=(0, 0, 0), pin=(0, 1, 0), along=(0, 0, 1), drive=-1, **more):
        zero = [0, 0, 0]
        return pack(
            (FRAME, B, ONE, TWO),
            centre_a=zero,
            pin_a=[1, 0, 0],
            centre_b=zero,
            centre=zero,
            pin=pin,
            arm=arm,
            along=along,
            drive=drive,
            **more,
        )

    def at(self, *points):
        S = np.zeros((6, len(points), 24))
        S[:, :, 3:12] = np.eye(3).ravel()
        S[B, :, 0:3] = points
        return S

    def test_out_of_reach(self):
        ints, floats = self.strut(arm=[0, 2, 0])
        S, quality = solve(ints, floats, self.at([0, 0, 3], [0, 0.5, 1], [0, 0, 3]), (1, 1))
        assert quality.status.tolist() == [OK, OUT_OF_REACH, OK]
        assert quality.residual[1] == pytest.approx(2 - np.hypot(0.5, 1))
        assert np.isnan(S[[ONE, TWO], 1]).all()
        assert np.isfinite(S[[ONE, TWO]][:, [0, 2]]).all()

    @pytest.mark.parametrize("level", [0, 1, 2])
    def test_gimbal(self, level):
        S, quality = solve(*self.strut(), self.at([0, 0, 3], [3, 0, 0], [3, 1e-12, 0]), (1, 1), level)
        assert quality.status.tolist() == [OK, GIMBAL, GIMBAL]
        assert np.isnan(S[[ONE, TWO], 1:]).all()
        assert (quality.condition[1:] == 0).all()

    def test_gimbal_of_an_arm_that_leans_along_the_pin(self):
        ints, floats = self.strut(arm=[0, 1, 0])
        _, quality = solve(ints, floats, self.at([3, 1.01, 0], [3, 0.99, 0]), (1, 1))
        assert quality.status.tolist() == [OK, GIMBAL]

    def test_close_to_a_gimbal_the_joints_still_close(self):
        S, quality = solve(*self.strut(), self.at([3, 1e-7, 2e-7]), (1, 1), 0)
        assert quality.status[0] == OK
        rotation = S[ONE, 0, 3:12].reshape(3, 3)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-14)
        assert abs(rotation[0, 1]) < 1e-15
        np.testing.assert_allclose(S[TWO, 0, 0:3], [3, 1e-7, 2e-7], atol=1e-15)

    def test_dead_point_has_a_position_but_no_rates(self):
        strut, S = self.strut(arm=[3, 0, 0]), self.at([0, 0, 3])
        placed, quality = solve(*strut, S, (1, 1), 0)
        assert quality.status[0] == OK
        assert quality.condition[0] == 0
        assert np.isfinite(placed[[ONE, TWO], 0]).all()
        placed, quality = solve(*strut, S, (1, 1), 1)
        assert quality.status[0] == SINGULAR
        assert np.isnan(placed[[ONE, TWO], 0]).all()

    def test_waits(self):
        S = self.at([0, 0, 3], [0, 0, 3])
        S[B, 0] = np.nan
        solved, quality = solve(*self.strut(), S, (1, 1))
        assert quality.status.tolist() == [PREDECESSOR_FAILED, OK]
        assert np.isnan(solved[[ONE, TWO], 0]).all()

    def test_waits_for_the_body_that_holds_the_pin(self):
        S = self.at([0, 0, 3], [0, 0, 3])
        S[HOLDER, 0] = np.nan
        _, quality = solve(*self.strut(pin_body=HOLDER), S, (1, 1))
        assert quality.status.tolist() == [PREDECESSOR_FAILED, OK]

    def test_a_given_length_that_does_not_fit(self):
        inputs = (np.array([[3.0, 3.1]]), np.zeros((1, 2)), np.zeros((1, 2)))
        S, quality = solve(*self.strut(drive=0), self.at([0, 0, 3], [0, 0, 3]), (1, 1), inputs=inputs)
        assert quality.status.tolist() == [OK, NOT_CONVERGED]
        assert quality.residual[1] == pytest.approx(0.1)
        assert np.isnan(S[[ONE, TWO], 1]).all()

    def test_bad_data_is_refused(self):
        with pytest.raises(ValueError, match="`pin` has no direction"):
            self.strut(pin=[0, 0, 0])
        with pytest.raises(ValueError, match="give `along`"):
            self.strut(along=None)
