"""Closed forms of three joints and a point: they close, they are all, special positions are no obstacle."""

import itertools

import numpy as np
import pytest

from groups.kernels.loci import P, R, meet, meet_planar, reach

KINDS = [(i, j, k) for i in (R, P) for j in (R, P) for k in (R, P)]


def named(kinds):
    return "".join("RP"[kind] for kind in kinds)


def unit(v):
    return v / np.linalg.norm(v)


def across(rng, v):
    """A random unit vector at a right angle to ``v``."""
    return unit(np.cross(v, rng.normal(size=3)))


def moved(kind, o, z, q, x):
    """J(q) x, by Rodrigues' formula."""
    if kind == P:
        return x + q * z
    arm = x - o
    return o + np.cos(q) * arm + np.sin(q) * np.cross(z, arm) + (1 - np.cos(q)) * (z @ arm) * z


def misfit(problem, q):
    kind, o, z, p, t = problem
    inner = moved(kind[2], o[2], z[2], q[2], p)
    return moved(kind[1], o[1], z[1], q[1], inner) - moved(kind[0], o[0], z[0], q[0], t)


def skew(rng, o, z, e):
    """The position of random lines. Those below are special, and missed by about ``e``."""


def meeting(rng, o, z, e):
    o[1] = o[0] + e * rng.normal(size=3)


def cardan(rng, o, z, e):
    """Axes 1 and 2 as in a universal joint."""
    meeting(rng, o, z, e)
    crossing(rng, o, z, e)


def leg(rng, o, z, e):
    """A universal joint, and a line through its centre at a right angle to axis 2."""
    cardan(rng, o, z, e)
    o[2], z[2] = o[1], across(rng, z[1])


def crossing(rng, o, z, e):
    z[1] = unit(across(rng, z[0]) + e * rng.normal(size=3))


def crossing_later(rng, o, z, e):
    z[2] = unit(across(rng, z[1]) + e * rng.normal(size=3))


def parallel(rng, o, z, e):
    z[1] = unit(z[0] + e * rng.normal(size=3))


def parallel_later(rng, o, z, e):
    z[2] = unit(z[1] + e * rng.normal(size=3))


def meeting_later(rng, o, z, e):
    o[2] = o[1] + e * rng.normal(size=3)


def coaxial(rng, o, z, e):
    """Joints 1 and 2 are a cylindrical joint."""
    parallel(rng, o, z, e)
    o[1] = o[0] + rng.normal() * z[0] + e * rng.normal(size=3)


def coaxial_later(rng, o, z, e):
    parallel_later(rng, o, z, e)
    o[2] = o[1] + rng.normal() * z[1] + e * rng.normal(size=3)


POSITIONS = [
    skew,
    meeting,
    cardan,
    leg,
    crossing,
    crossing_later,
    parallel,
    parallel_later,
    meeting_later,
    coaxial,
    coaxial_later,
]
#: Positions in which some kinds of joints have no definite answer: two that do the same, all in one plane or
#: about one centre.
SINGULAR = {
    leg: ("RRR", "PRP"),
    parallel: ("PPR", "PPP"),
    parallel_later: ("RPP", "PPP"),
    coaxial: ("RRR", "RRP", "PPR", "PPP"),
    coaxial_later: ("RRR", "PRR", "RPP", "PPP"),
}


def problem(rng, kinds, position, e=0.0, reachable=True):
    """Random lines in a position and points, and a solution, of which ``t`` is moved off if need be."""
    kind = np.array(kinds)
    o, p = rng.normal(size=(3, 3)), rng.normal(size=3)
    z = np.array([unit(v) for v in rng.normal(size=(3, 3))])
    position(rng, o, z, e)
    q = np.where(kind == P, rng.normal(size=3), rng.uniform(-np.pi, np.pi, 3))
    x = moved(kind[1], o[1], z[1], q[1], moved(kind[2], o[2], z[2], q[2], p))
    t = moved(kind[0], o[0], z[0], -q[0], x)
    return (kind, o, z, p, t if reachable else t + rng.normal(size=3)), q


def apart(kind, a, b, size=1.0):
    """Largest difference of two solutions, rad or sizes."""
    turn = (a - b + np.pi) % (2 * np.pi) - np.pi
    return abs(np.where(np.asarray(kind) == P, (a - b) / size, turn)).max()


def solved(case):
    q = np.empty((4, 3))
    with np.errstate(all="ignore"):  # as compiled code
        count, gap = meet(*case, q)
    return q[:count], gap


def test_every_row_closes_and_the_given_solution_is_among_them():
    for kinds, position in itertools.product(KINDS, POSITIONS):
        rng, case = np.random.default_rng(1), (named(kinds), position.__name__)
        for _ in range(12):
            given, q = problem(rng, kinds, position)
            rows, gap = solved(given)
            assert gap == 0.0, case
            if named(kinds) in SINGULAR.get(position, ()):
                assert len(rows) == 0, case
                continue
            assert min(apart(kinds, row, q) for row in rows) < 1e-8, case
            for row in rows:
                slides = abs(row[np.array(kinds) == P]).max(initial=0.0)
                assert abs(misfit(given, row)).max() < 1e-13 * (1 + slides) * 10, case
                assert (abs(row[np.array(kinds) == R]) <= np.pi).all(), case


def test_nothing_is_lost_on_the_way_into_a_special_position():
    """From 0.1 to 1e-14 of it: quartics with four roots in two places."""
    for kinds, position in itertools.product(KINDS, (meeting, cardan, crossing, parallel)):
        if named(kinds)[:2] == "PP":
            continue
        rng, case = np.random.default_rng(2), (named(kinds), position.__name__)
        for e in 10.0 ** rng.uniform(-14, -1, 25):
            given, q = problem(rng, kinds, position, e)
            rows, _ = solved(given)
            assert len(rows) % 2 == 0, (case, e)
            assert min(apart(kinds, row, q) for row in rows) < 1e-6, (case, e)
            assert all(abs(misfit(given, row)).max() < 1e-11 for row in rows), (case, e)


def by_many_starts(case, rng, starts, rounds):
    """All solutions that a damped Newton finds from random places, and the least misfit."""
    kind, o, z, p, t = case
    q = np.where(kind == P, 3 * rng.normal(size=(starts, 3)), rng.uniform(-np.pi, np.pi, (starts, 3)))

    def turned(i, v, qi):
        c, s = np.cos(qi)[:, None], np.sin(qi)[:, None]
        return v if kind[i] == P else c * v + s * np.cross(z[i], v) + (1 - c) * (v @ z[i])[:, None] * z[i]

    def place(i, x, qi):
        return x + qi[:, None] * z[i] if kind[i] == P else o[i] + turned(i, x - o[i], qi)

    def column(i, x):
        return np.broadcast_to(z[i], x.shape) if kind[i] == P else np.cross(z[i], x - o[i])

    def error(q):
        y = place(2, np.broadcast_to(p, q.shape), q[:, 2])
        x, circle = place(1, y, q[:, 1]), place(0, np.broadcast_to(t, q.shape), q[:, 0])
        third = turned(1, column(2, y), q[:, 1])
        return x - circle, np.stack([-column(0, circle), column(1, x), third], axis=2)

    damping = np.full(starts, 1e-2)
    r, jacobian = error(q)
    for _ in range(rounds):
        normal = np.einsum("nki,nkj->nij", jacobian, jacobian) + damping[:, None, None] * np.eye(3)
        trial = q - np.linalg.solve(normal, np.einsum("nki,nk->ni", jacobian, r)[..., None])[..., 0]
        now, slope = error(trial)
        better = (now**2).sum(axis=1) < (r**2).sum(axis=1)
        q = np.where(better[:, None], trial, q)
        r = np.where(better[:, None], now, r)
        jacobian = np.where(better[:, None, None], slope, jacobian)
        damping = np.clip(np.where(better, 0.1 * damping, 8 * damping), 1e-15, 1e6)
    least = np.sqrt((r**2).sum(axis=1))
    found = []
    for row in q[least < 1e-11]:
        if all(apart(kind, row, other) > 1e-6 for other in found):
            found.append(row)
    return found, least.min()


def test_there_are_no_other_solutions_and_the_gap_is_the_least_distance():
    for kinds, position in itertools.product(KINDS, (skew, cardan, parallel, crossing_later)):
        if named(kinds) in SINGULAR.get(position, ()):
            continue
        rng, case = np.random.default_rng(3), (named(kinds), position.__name__)
        for reachable in (True, False):
            given, _ = problem(rng, kinds, position, reachable=reachable)
            rows, gap = solved(given)
            found, least = by_many_starts(given, rng, starts=100, rounds=40)
            assert len(rows) == len(found), case
            for row in rows:
                assert min(apart(kinds, row, other) for other in found) < 1e-6, case
            if len(rows) == 0:
                assert gap == pytest.approx(least, rel=1e-2), case


def arm(target):
    """Two links of 1 and 0.5 on a universal joint at the origin; joint 3 is parallel to axis 2."""
    kind = np.array([R, R, R])
    o = np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    z = np.array([[0.0, 0, 1], [0, 1, 0], [0, 1, 0]])
    return kind, o, z, np.array([1.5, 0, 0]), np.array(target, dtype=float)


def test_out_of_reach_by_a_length():
    for distance, gap in ((2.0, 0.5), (1.501, 1e-3), (0.3, 0.2)):
        rows, missing = solved(arm(distance * unit(np.array([1.0, -2, 0.5]))))
        assert len(rows) == 0, distance
        assert missing == pytest.approx(gap, rel=1e-6)


def test_a_stretched_arm_is_a_double_root_not_a_lost_one():
    for short in (0.0, 1e-15, 1e-12, 1e-9, 1e-6):
        case = arm((1.5 - short) * unit(np.array([1.0, -2, 0.5])))
        rows, _ = solved(case)
        assert len(rows) == 4, short
        # The cosine rule: 1 - cos q3 = short (2 · 1.5 - short) / (2 · 1 · 0.5).
        bend = np.sqrt(2 * short * 3)
        assert np.sort(abs(rows[:, 2])) == pytest.approx(np.full(4, bend), abs=3e-8 + 1e-3 * bend)
        assert all(abs(misfit(case, row)).max() < 1e-12 for row in rows), short


def test_a_point_on_its_axis_has_no_definite_turn():
    rng = np.random.default_rng(6)
    (kind, o, z, p, t), _ = problem(rng, (R, R, R), skew)
    assert meet(kind, o, z, p, o[0] + 2 * z[0], np.empty((4, 3))) == (0, 0.0)
    assert meet(kind, o, z, o[2] - z[2], t, np.empty((4, 3))) == (0, 0.0)


def test_parallel_axes_in_space_leave_a_freedom():
    """A planar chain of three turns can reach a point of its plane in many ways, and no other."""
    rng = np.random.default_rng(7)
    o, p, z = rng.normal(size=(3, 3)), rng.normal(size=3), np.tile([0.0, 0, 1], (3, 1))
    kind = np.array([R, R, R])
    assert meet(kind, o, z, p, np.array([0.3, 0.2, p[2]]), np.empty((4, 3))) == (0, 0.0)
    count, gap = meet(kind, o, z, p, np.array([0.3, 0.2, p[2] + 0.25]), np.empty((4, 3)))
    assert count == 0
    assert gap >= 0.25 - 1e-9


@pytest.mark.parametrize("kind", [R, P], ids="RP")
def test_reach_closes_and_says_by_how_much_it_fails(kind):
    rng = np.random.default_rng(8)
    q = np.empty(2)
    for _ in range(100):
        o, p, t = rng.normal(size=(3, 3))
        z = unit(rng.normal(size=3))
        wanted = rng.uniform(-3, 3)
        distance = np.linalg.norm(moved(kind, o, z, wanted, p) - t)
        count, gap = reach(kind, o, z, p, t, distance, q)
        assert (count, gap) == (2, 0.0)
        for angle in q:
            assert np.linalg.norm(moved(kind, o, z, angle, p) - t) == pytest.approx(distance, rel=1e-12)
        assert min(abs(np.exp(1j * (q - wanted)) - 1)) < 1e-6
        scan = rng.uniform(-np.pi, np.pi, 5) if kind == R else rng.normal(size=5) * 5
        lengths = [np.linalg.norm(moved(kind, o, z, angle, p) - t) for angle in scan]
        count, gap = reach(kind, o, z, p, t, 0.01, q)
        assert count == 2 or min(lengths) >= 0.01 + gap - 1e-12
        if kind == R:
            count, gap = reach(kind, o, z, p, t, 50.0, q)
            assert count == 0
            assert max(lengths) <= 50 - gap + 1e-12


def test_reach_at_a_dead_point_gives_two_equal_rows():
    q = np.empty(2)
    o, z, p, t = np.zeros(3), np.array([0.0, 0, 1]), np.array([1.0, 0, 0]), np.array([0.0, 3.0, 0])
    assert reach(R, o, z, p, t, 2.0, q) == (2, 0.0)
    assert q == pytest.approx([np.pi / 2, np.pi / 2])
    assert reach(R, o, z, p, t, 4.0, q) == (2, 0.0)
    assert abs(np.exp(1j * q) + 1j).max() < 1e-7
    assert reach(R, o, z, p, t, 1.5, q) == (0, 0.5)
    assert reach(R, o, z, p, t, 4.5, q) == (0, 0.5)
    assert reach(R, o, z, p, np.array([0.0, 0, 2]), 4.5, q) == (0, 0.0)


def moved_in_the_plane(kind, o, d, q, x):
    turn = np.array([[np.cos(q), -np.sin(q)], [np.sin(q), np.cos(q)]])
    return x + q * d if kind == P else o + turn @ (x - o)


@pytest.mark.parametrize("kinds", [(R, R), (R, P), (P, R), (P, P)], ids=named)
def test_planar_dyads_close_and_are_all(kinds):
    rng = np.random.default_rng(9)
    kind, q = np.array(kinds), np.empty((2, 2))
    for _ in range(100):
        o, p = rng.normal(size=(2, 2)), rng.normal(size=2)
        d = np.array([unit(v) for v in rng.normal(size=(2, 2))])
        wanted = np.where(kind == P, rng.normal(size=2), rng.uniform(-np.pi, np.pi, 2))
        x = moved_in_the_plane(kinds[1], o[1], d[1], wanted[1], p)
        t = moved_in_the_plane(kinds[0], o[0], d[0], -wanted[0], x)
        count, gap = meet_planar(kind, o, d, p, t, q)
        assert (count, gap) == ((1 if kinds == (P, P) else 2), 0.0)
        assert min(apart(kind, row, wanted) for row in q[:count]) < 1e-7
        for row in q[:count]:
            ends = [moved_in_the_plane(kinds[i], o[i], d[i], row[i], (t, p)[i]) for i in (0, 1)]
            assert abs(ends[0] - ends[1]).max() < 1e-12 * (1 + abs(row).max())


def test_planar_loci_that_miss_say_by_how_much():
    none, q = np.zeros((2, 2)), np.empty((2, 2))
    centres = np.array([[0.0, 0], [4, 0]])
    across_x = np.array([[0.0, 1], [0, 1]])
    for p, gap in (([5.0, 0], 2.0), ([4.0, 7], 2.0)):  # radius 1 about 0; 1 or 7 about (4, 0)
        count, missing = meet_planar(np.array([R, R]), centres, none, np.array(p), np.array([0.0, 1]), q)
        assert (count, missing) == (0, pytest.approx(gap))
    count, missing = meet_planar(
        np.array([P, R]), centres, across_x, np.array([4.0, 1]), np.array([2.0, 0]), q
    )
    assert (count, missing) == (0, pytest.approx(1.0))
    same = np.array([P, P])
    assert meet_planar(same, centres, across_x, np.zeros(2), np.ones(2), q) == (0, 0.0)
    touching = meet_planar(np.array([R, R]), centres, none, np.array([1.0, 0]), np.array([0.0, 1]), q)
    assert touching == (2, 0.0)
    assert q == pytest.approx(np.array([[-np.pi / 2, 0], [-np.pi / 2, 0]]), abs=1e-7)
