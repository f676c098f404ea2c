"""Jets of contacts: closed form for circles, many points for any curve, derivatives that are derivatives."""

import numpy as np
import pytest
from lives import life_of

from groups.kernels.contact import contact
from mbssa.joints.cams.contact import gap
from mbssa.joints.cams.contact_kernels import CURVE, FLAT, POINT
from mbssa.joints.cams.curves import Curve, circle, line, through

pytestmark = pytest.mark.usefixtures("life")

KINDS = {"point": POINT, "flat": FLAT, "curve": CURVE}


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


class Stage:
    """Two bodies moving in the plane, and a contact of their frames, whose origins are ``distance`` apart."""

    def __init__(self, seed, distance, curves, kind):
        rng = np.random.default_rng(seed)
        self.curves, self.kind = curves, kind
        self.data = np.concatenate([[7.0], *(curve.data for curve in curves)])
        self.V = np.zeros((2, 6))
        self.V[:, :2], self.V[:, 5] = 0.05 * rng.normal(size=(2, 2)), rng.normal(size=2)
        self.origin = np.zeros((2, 3))
        self.origin[:, :2] = 0.1 * rng.normal(size=(2, 2))
        self.axes = [turn(angle) for angle in rng.uniform(0, 7, 2)]
        self.angle = rng.uniform(0, 7, 2)
        self.P = np.zeros((2, 3))
        self.P[:, :2] = rng.normal(size=(2, 2))
        self.put(distance * (turn(rng.uniform(0, 7)) @ [1.0, 0.0, 0.0]))

    def put(self, d):
        """Move B's origin to the place d in A's axes."""
        A, _, arms = self.frames(self.P, self.angle)[:3]
        self.P[1] = self.P[0] + arms[0] + A @ d - arms[1]

    def frames(self, P, angle):
        R = [turn(one) for one in angle]
        arms = [R[side] @ self.origin[side] for side in range(2)]
        return R[0] @ self.axes[0], R[1] @ self.axes[1], arms, P[1] + arms[1] - P[0] - arms[0]

    def pose(self):
        A, B, _, across = self.frames(self.P, self.angle)
        return A.T @ across, A.T @ B

    def jet(self, P=None, angle=None, *, moving=True, row=None, function=None, radius=0.0, place=None):
        A, B, arms, across = self.frames(self.P if P is None else P, self.angle if angle is None else angle)
        out = np.zeros((2, 15)) if row is None else row
        apart = self.V[1, :3] - self.V[0, :3]
        (function or life_of(contact))(
            columns(A), columns(B), vector(across), (vector(arms[0]), vector(arms[1])), vector(apart),
            (vector(self.V[0, 3:]), vector(self.V[1, 3:])), self.data, 1, 1 + len(self.curves[0].data),
            self.kind, radius, moving, np.zeros((0, 2)) if place is None else place, out, 1,
        )  # fmt: skip
        assert not out[0].any()
        return out[1]

    def later(self, t):
        return self.P + t * self.V[:, :3], self.angle + t * self.V[:, 5]

    def moved(self, body, m, step):
        P, angle = self.P.copy(), self.angle.copy()
        if m == 5:
            angle[body] += step
        else:
            P[body, m] += step
        return P, angle


def vector(a):
    return tuple(map(float, a))


def columns(A):
    return tuple(vector(column) for column in A.T)


def slope(f, h):
    return (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h)


def bend(f, h):
    return (-f(-2 * h) + 16 * f(-h) - 30 * f(0) + 16 * f(h) - f(2 * h)) / (12 * h * h)


def wavy(rng, points, size):
    """A smooth closed curve around the origin, with hollows."""
    angle = (np.arange(points) + rng.uniform(-0.2, 0.2, points)) * 2 * np.pi / points
    radius = size * rng.uniform(0.85, 1.15, points)
    return through(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1))


def stages(kind, distance=0.08):
    for seed in range(6):
        rng = np.random.default_rng(100 + seed)
        yield Stage(seed, distance, [wavy(rng, 7 + 5 * seed, 0.05), wavy(rng, 9, 0.015)], kind)


def square(half):
    corners = half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    coefficients = np.zeros((4, 2, 8))
    coefficients[:, :, 0], coefficients[:, :, 1] = corners, np.roll(corners, -1, axis=0) - corners
    return Curve(np.arange(5.0), coefficients, True)


# --- circles: all fifteen numbers in closed form ----------------------------------------------------


def of_centres(stage, centres, radii):
    """Jet of the distance of two points fixed to the bodies, less both radii."""
    A, B, arms, across = stage.frames(stage.P, stage.angle)
    arms = arms[0] + A @ centres[0], arms[1] + B @ centres[1]
    r = across + B @ centres[1] - A @ centres[0]
    size = np.linalg.norm(r)
    n = r / size
    swing = [np.cross(stage.V[side, 3:], arms[side]) for side in range(2)]
    rate = stage.V[1, :3] + swing[1] - stage.V[0, :3] - swing[0]
    inwards = np.cross(stage.V[1, 3:], swing[1]) - np.cross(stage.V[0, 3:], swing[0])
    second = n @ inwards + (rate @ rate - (n @ rate) ** 2) / size
    by = [-n, -np.cross(arms[0], n), n, np.cross(arms[1], n)]
    return np.concatenate([[size - sum(radii)], *by, [second, n @ rate]])


def of_face(stage, centre, radius):
    """Jet of the distance of a point of A from the face, which is fixed to B, less the radius."""
    A, B, arms, across = stage.frames(stage.P, stage.angle)
    a, n, spin = arms[0] + A @ centre, B[:, 1], stage.V[1, 3:]
    r = across - A @ centre
    swing = [np.cross(stage.V[0, 3:], a), np.cross(spin, arms[1])]
    rate = stage.V[1, :3] + swing[1] - stage.V[0, :3] - swing[0]
    inwards = np.cross(spin, swing[1]) - np.cross(stage.V[0, 3:], swing[0])
    turning = np.cross(spin, n)
    second = n @ inwards + 2 * turning @ rate + np.cross(spin, turning) @ r
    by = [-n, -np.cross(a, n), n, np.cross(arms[1] - r, n)]
    return np.concatenate([[n @ r - radius], *by, [second, turning @ r + n @ rate]])


@pytest.mark.parametrize("distance", [0.09, 0.055])
@pytest.mark.parametrize("name", KINDS)
def test_circles_in_closed_form(name, distance):
    centres = np.array([[0.01, -0.004, 0.0], [-0.003, 0.005, 0.0]])
    curves = [circle(0.05, centres[0, :2]), circle(0.02, centres[1, :2])]
    for seed in range(10):
        stage = Stage(seed, distance, curves, KINDS[name])
        if name == "flat":
            expected = of_face(stage, centres[0], 0.05)
        elif name == "point":
            expected = of_centres(stage, [centres[0], np.zeros(3)], [0.05])
        else:
            expected = of_centres(stage, centres, [0.05, 0.02])
        miss = np.abs(stage.jet() - expected)
        # A circle is fitted to 1e-12 in its points, and less in what curvature follows from.
        assert np.delete(miss, 13).max() < 1e-10
        assert miss[13] < 1e-8 * (1 + abs(expected[13]))


def test_a_circle_in_a_hole():
    hole, pin = circle(0.05).reversed, circle(0.02)
    stage = Stage(0, 0.012, [hole, pin], CURVE)
    assert abs(stage.jet()[0] - (0.05 - 0.02 - 0.012)) < 1e-12
    distance = of_centres(stage, np.zeros((2, 3)), [0.0])
    assert np.allclose(stage.jet()[1:], -distance[1:], rtol=1e-7, atol=1e-9)
    for radius in (0.05, 0.06):  # too large: as deep as the least way in
        jet = Stage(0, 0.012, [hole, circle(radius)], CURVE).jet()
        assert abs(jet[0] - (0.05 - radius - 0.012)) < 1e-12


# --- any curve --------------------------------------------------------------------------------------


def test_gap_to_a_point_is_the_least_distance_of_many_points():
    for stage in stages(POINT, 0.06):
        rng = np.random.default_rng(3)
        curve = stage.curves[0]
        points = curve.at(np.linspace(curve.breaks[0], curve.breaks[-1], 20_001))[0]
        for _ in range(10):
            stage.put([*rng.uniform(-0.07, 0.07, 2), 0.0])
            d, _ = stage.pose()
            across = d[:2] - points
            least = np.hypot(*across.T).min()
            turns = np.ptp(np.unwrap(np.arctan2(*across.T)))
            assert abs(stage.jet()[0] - (-least if turns > 6 else least)) < 1e-9 / least


def test_gap_to_a_face_is_that_of_the_highest_of_many_points():
    for stage in stages(FLAT):
        curve = stage.curves[0]
        points = curve.at(np.linspace(curve.breaks[0], curve.breaks[-1], 20_001))[0]
        for angle in np.linspace(0, 6, 13):
            stage.angle[0] = angle
            d, C = stage.pose()
            assert abs(stage.jet()[0] + ((points - d[:2]) @ C[:2, 1]).max()) < 1e-8


def test_gap_of_two_curves_is_the_least_distance_of_many_points():
    for stage in stages(CURVE):
        points = [c.at(np.linspace(c.breaks[0], c.breaks[-1], 1500))[0] for c in stage.curves]
        for angle in np.linspace(0, 6, 5):
            stage.put(0.085 * np.array([np.cos(angle), np.sin(angle), 0.0]))
            d, C = stage.pose()
            across = (d[:2] + points[1] @ C[:2, :2].T)[None] - points[0][:, None]
            least = np.sqrt((across**2).sum(axis=-1)).min()
            assert abs(stage.jet()[0] - least) < 1e-7 / least


def test_overlapping_convex_curves_are_as_deep_as_the_least_way_out():
    ellipses = [through(size * corners(0.6)) for size in (0.05, 0.02)]
    normals = np.stack([np.cos(np.linspace(0, 2 * np.pi, 5001)), np.sin(np.linspace(0, 2 * np.pi, 5001))])
    for seed in range(5):
        stage = Stage(seed, 0.035, ellipses, CURVE)
        d, C = stage.pose()
        points = [c.at(np.linspace(c.breaks[0], c.breaks[-1], 3000))[0] for c in ellipses]
        others = d[:2] + points[1] @ C[:2, :2].T
        apart = ((others @ normals).min(axis=0) - (points[0] @ normals).max(axis=0)).max()
        assert apart < 0
        assert abs(stage.jet()[0] - apart) < 1e-7


def corners(flatness):
    angle = np.arange(24) * 2 * np.pi / 24
    return np.stack([np.cos(angle), flatness * np.sin(angle)], axis=1)


@pytest.mark.parametrize("name", KINDS)
def test_derivatives_by_the_twists_and_by_time(name):
    for stage in stages(KINDS[name]):
        jet = stage.jet()
        for body in range(2):
            for m in range(6):
                if m in (2, 3, 4):
                    continue
                by = slope(lambda h, b=body, k=m, s=stage: s.jet(*s.moved(b, k, h))[0], 1e-5)
                assert abs(jet[1 + 6 * body + m] - by) < 1e-8
        rate = slope(lambda t, s=stage: s.jet(*s.later(t))[0], 1e-5)
        second = bend(lambda t, s=stage: s.jet(*s.later(t))[0], 1e-4)
        assert abs(jet[14] - rate) < 1e-8
        assert abs(jet[13] - second) < 1e-5 * (1 + abs(second))
        assert abs(jet[14] - jet[1:13] @ stage.V.ravel()) < 1e-14


@pytest.mark.parametrize("name", KINDS)
def test_the_gap_of_the_relative_pose_is_the_same(name):
    for stage in stages(KINDS[name]):
        d, C = stage.pose()
        value, derivative = gap(stage.curves[0], stage.curves[1], stage.kind, d[None], C[None])
        A, _, arms, _ = stage.frames(stage.P, stage.angle)
        force, moment = A @ derivative[0, :3], A @ derivative[0, 3:]
        jet = stage.jet()
        assert abs(jet[0] - value[0]) < 1e-15
        assert np.abs(jet[7:10] - force).max() < 1e-13
        assert np.abs(jet[10:13] - moment - np.cross(arms[1], force)).max() < 1e-13


@pytest.mark.parametrize("name", KINDS)
def test_compiled_and_plain_are_one(name):
    stage = next(stages(KINDS[name]))
    assert np.abs(stage.jet() - stage.jet(function=contact)).max() < 1e-14


@pytest.mark.parametrize("name", KINDS)
def test_at_rest_only_what_a_newton_step_needs_is_written(name):
    stage = next(stages(KINDS[name]))
    row = np.zeros((2, 15))
    row[1] = 7.0
    jet = stage.jet(moving=False, row=row)
    assert (jet[:13] == stage.jet()[:13]).all()
    assert (jet[13:] == 7.0).all()


# --- followed from where it was ----------------------------------------------------------------------


def ellipse(size, flatness):
    return through(size * corners(flatness))


def opened(curve, pieces):
    """The first pieces of a curve."""
    return Curve(curve.breaks[: pieces + 1], curve.coefficients[:pieces], False)


@pytest.mark.parametrize("open_", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_a_convex_contact_that_is_followed_is_the_one_that_is_sought(name, open_):
    """Wherever it was last, on thin profiles, far away and deep inside; poses without a contact too."""
    found = 0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        curves = [ellipse(0.05, 0.3), ellipse(0.02, 0.6)]
        if open_:
            curves = [opened(curve, 11) for curve in curves]
        radius = curves[0].least_radius + (curves[1].least_radius if name == "curve" else 0.0)
        assert all(curve.least_radius > 0 for curve in curves)
        stage, place = Stage(seed, 0.05, curves, KINDS[name]), np.zeros((2, 2))
        for _ in range(20):
            stage.put([*rng.uniform(-0.08, 0.08, 2), 0.0])
            stage.angle = rng.uniform(0, 7, 2)
            sought, followed = stage.jet(), stage.jet(radius=radius, place=place)
            size = np.nan_to_num(np.abs(sought)).max()
            np.testing.assert_allclose(followed, sought, rtol=0.0, atol=1e-8 * max(1.0, size))
            np.testing.assert_allclose(followed[0], sought[0], rtol=0.0, atol=1e-14)
            found += not np.isnan(sought[0])
    assert found > 5


@pytest.mark.parametrize("name", KINDS)
def test_where_nothing_can_be_followed_it_is_sought(name):
    for stage in stages(KINDS[name]):
        assert stage.curves[0].least_radius == 0.0
        place = np.full((2, 2), 0.3)
        assert np.array_equal(stage.jet(place=place), stage.jet(), equal_nan=True)


# --- where formulas tend to fail --------------------------------------------------------------------


def test_a_point_on_the_curve_has_the_jet_of_its_neighbours():
    for stage in stages(POINT):
        curve = stage.curves[0]
        for s in np.linspace(curve.breaks[0], curve.breaks[-1], 7):
            c, rate, _ = curve.at(s)
            normal = np.array([rate[1], -rate[0]]) / np.hypot(*rate)
            jets = []
            for height in (-1e-6, 0.0, 1e-6):
                stage.put([*(c + height * normal), 0.0])
                jets.append(stage.jet())
                assert abs(jets[-1][0] - height) < 1e-15
            below, on, above = jets
            A = stage.frames(stage.P, stage.angle)[0]
            assert np.abs(on[7:9] - (A[:2, :2] @ normal)).max() < 1e-12
            assert np.abs(on - (below + above) / 2).max() < 1e-7


def test_beyond_an_end_the_distance_is_that_of_the_end():
    end = np.array([0.03, 0.01, 0.0])
    stage = Stage(1, 0.05, [line((-0.02, 0.0), (0.03, 0.01)), circle(0.01)], POINT)
    for d, sign in (((0.05, -0.01, 0.0), 1), ((0.05, 0.04, 0.0), -1)):
        stage.put(np.array(d))
        expected = sign * of_centres(stage, [end, np.zeros(3)], [0.0])
        assert np.abs(stage.jet() - expected).max() < 1e-12
    stage.put(end)
    assert np.isfinite(stage.jet()).all()
    assert abs(stage.jet()[0]) < 1e-16


@pytest.mark.parametrize(
    ("d", "corner", "value"), [((0.07, 0.08), True, np.hypot(0.02, 0.03)), ((0.02, 0.045), False, -0.005)]
)
def test_corners_and_sides_of_a_square(d, corner, value):
    stage = Stage(2, 0.1, [square(0.05), circle(0.01)], POINT)
    stage.put([*d, 0.0])
    jet = stage.jet()
    assert abs(jet[0] - value) < 1e-12
    if corner:
        assert (
            np.abs(jet - of_centres(stage, [np.array([0.05, 0.05, 0.0]), np.zeros(3)], [0.0])).max() < 1e-10
        )


@pytest.mark.parametrize("angle", [0.3, -0.02])
def test_a_corner_under_a_face(angle):
    stage = Stage(2, 0.1, [square(0.05), circle(0.01)], FLAT)
    stage.axes[0], stage.axes[1], stage.angle[:] = np.eye(3), turn(angle), 0.0
    expected = of_face(stage, np.array([-0.05 if angle > 0 else 0.05, 0.05, 0.0]), 0.0)
    assert np.abs(stage.jet() - expected).max() < 1e-10


def test_what_has_no_second_derivative_says_so():
    """A point in the centre of curvature; a straight side that turns against a face; arcs that fit."""
    stage = Stage(3, 0.0, [circle(0.05), circle(0.01)], POINT)
    jet = stage.jet()
    assert abs(jet[0] + 0.05) < 1e-12
    assert np.isnan(jet[13])
    assert np.isfinite(np.delete(jet, 13)).all()
    stage = Stage(3, 0.1, [square(0.05), circle(0.01)], FLAT)
    stage.axes = [np.eye(3), np.eye(3)]
    stage.angle[:] = 0.4
    assert np.isnan(stage.jet()[13])
    stage.V[0, 5] = stage.V[1, 5]
    assert np.isfinite(stage.jet()).all()
    assert np.isnan(Stage(3, 0.0, [circle(0.05).reversed, circle(0.05)], CURVE).jet()).all()


def test_poses_that_are_no_numbers_give_none():
    for kind in KINDS.values():
        stage = next(stages(kind))
        stage.P[0, 0] = np.nan
        assert np.isnan(stage.jet()[0])
        assert np.isnan(stage.jet(function=contact)[0])


def test_of_two_lobes_the_higher_is_found_however_little_it_is():
    """A face over two lobes of equal height: turned to and fro, it lies on one or on the other."""
    angle = np.pi / 2 + np.arange(12) * 2 * np.pi / 12
    radius = 0.05 + 0.01 * np.cos(2 * angle) ** 2
    curve = through(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1))
    points = curve.at(np.linspace(curve.breaks[0], curve.breaks[-1], 200_001))[0]
    stage = Stage(4, 0.0, [curve, circle(0.01)], FLAT)
    for turned in np.pi / 4 + np.linspace(-1e-3, 1e-3, 21):
        stage.angle[1] = turned
        stage.put(np.zeros(3))
        _, C = stage.pose()
        assert abs(stage.jet()[0] + (points @ C[:2, 1]).max()) < 1e-10


@pytest.mark.parametrize("name", KINDS)
def test_another_size_of_all_lengths_makes_no_difference(name):
    for stage in stages(KINDS[name]):
        other = Stage(0, 0.0, [curve.scaled(1e3) for curve in stage.curves], stage.kind)
        other.P, other.V, other.origin = 1e3 * stage.P, stage.V.copy(), 1e3 * stage.origin
        other.V[:, :3] *= 1e3
        other.axes, other.angle = stage.axes, stage.angle
        scale = np.ones(15)
        scale[[0, 4, 5, 6, 10, 11, 12, 13, 14]] = 1e3
        assert np.allclose(other.jet(), scale * stage.jet(), rtol=1e-9, atol=1e-9)
