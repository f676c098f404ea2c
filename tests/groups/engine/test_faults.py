"""Faults that an engine can have: each kind by the smallest mechanism and motion that shows it."""

import warnings

import numpy as np
import pytest
from linkages import linkage
from random_mechanisms import CARRIERS, random_mechanism, swing

import groups
import mbssa
from groups.engine.arrays import Life
from groups.status import (
    BRANCH_JUMP,
    CONTACT_LOST,
    DROPPED,
    GIMBAL,
    OK,
    OUT_OF_REACH,
    PREDECESSOR_FAILED,
    SINGULAR,
)
from mbssa.graph.nodes import Graph

TURN = 2 * np.pi


@pytest.fixture(autouse=True)
def _without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def built(mechanism):
    mechanism = mbssa.load(mechanism) if isinstance(mechanism, str) else mechanism
    return groups.build(mbssa.decompose(mechanism))


def solved(model, motion, **options):
    """The answer of NumPy, after that of machine code, which has the same statuses."""
    coded, found = (
        model.solve(motion, compiled=compiled, branch="checked", **options) for compiled in (True, False)
    )
    np.testing.assert_array_equal(coded.status, found.status)
    return found


def moved(model, time, value, rate, second):
    """A motion of the first input from the reference on; the others rest."""
    names, start = tuple(model.reference_inputs), np.array(list(model.reference_inputs.values()))
    rows = np.zeros((3, len(names), len(time)))
    rows[0] = start[:, None]
    for of, given in zip(rows, (value, rate, second), strict=True):
        of[0] += given
    return groups.Motion(time, names, *rows)


def steady(model, way, steps):
    """The first input goes a way at constant speed."""
    time = np.linspace(0.0, 1.0, steps)
    return moved(model, time, way * time, way, 0.0)


def rest_to_rest(model, way, time, first=0.0, last=1.0):
    """The first input goes a way between two times, and rests before and after."""
    s, h = np.clip((time - first) / (last - first), 0.0, 1.0), last - first
    value = way * s**3 * (10 - 15 * s + 6 * s**2)
    return moved(
        model, time, value, way * 30 * (s * (1 - s)) ** 2 / h, way * 60 * s * (1 - s) * (1 - 2 * s) / h**2
    )


def there_and_back(model, way, steps, first=0.0, last=1.0):
    """The first input goes a way and comes back between two times; (1 - cos)² joins the rests smoothly."""
    time = np.linspace(0.0, 1.0, steps)
    inside, w = (time > first) & (time < last), TURN / (last - first)
    x = w * (time - first)
    c, s = np.cos(x), np.sin(x)
    rows = (1 - c) ** 2, 2 * w * s * (1 - c), 2 * w * w * (s * s + c * (1 - c))
    return moved(model, time, *(np.where(inside, 0.25 * way * row, 0.0) for row in rows))


def four_bar(crank, ground, coupler, rocker, angle=0.7, more=(), geometry=()):
    """A four-bar by its lengths, the crank driven."""
    tip, foot = crank * np.array([np.cos(angle), np.sin(angle)]), np.array([ground, 0.0])
    way = foot - tip
    far = np.hypot(*way)
    x = (coupler**2 - rocker**2 + far**2) / (2 * far)
    elbow = tip + (x * way + np.sqrt(coupler**2 - x * x) * np.array([-way[1], way[0]])) / far
    rows = [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0), *more]
    points = [{"point": tuple(map(float, point))} for point in ((0.0, 0.0), tip, elbow, foot)]
    return linkage(rows, [*points, *geometry])


def codes(trajectory):
    return set(trajectory.status.ravel().tolist())


def assert_is_finer(model, motion_of, steps, finer):
    """Instants that are ok in both motions agree; the second has ``finer`` times as many time steps."""
    one, fine = (solved(model, motion_of(n)) for n in (steps, finer * (steps - 1) + 1))
    both = (one.status == OK).all(axis=1) & (fine.status[::finer] == OK).all(axis=1)
    assert both.any()
    assert np.abs(one.position - fine.position[::finer])[both].max() < 1e-6
    assert np.abs(one.orientation - fine.orientation[::finer])[both].max() < 1e-6
    return one, fine


# --- events and strides -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["EO", "EPI"])
def test_a_turn_between_two_rests_is_seen(kind):
    gear = {"points": ((0.5, 0.0), (1.5, 0.0)), "ratio": 0.7}
    drag_link = four_bar(
        1, 0.5, 1.1, 1.2, more=[(1, 5, "R", 0), (4, 5, kind, 0)], geometry=[{"point": (1.5, 0.0)}, gear]
    )
    model = built(drag_link)
    found = solved(model, rest_to_rest(model, TURN, np.linspace(0, 1, 2001), 0.5, 0.52))
    assert found.ok
    turned = found.orientation[-1] - found.orientation[0]
    assert turned == pytest.approx([0, TURN, TURN, TURN, -TURN / 0.7], abs=1e-9)


@pytest.mark.parametrize(
    "name", ["spatial_4r", "triad", "universal_shafts", "cam_roller", "bennett", "cam_flat"]
)
@pytest.mark.parametrize("width", [0.02, 0.005])
def test_a_fast_turn_is_followed(name, width):
    model, time = built(name), np.linspace(0, 1, 4001)
    found = solved(model, rest_to_rest(model, TURN, time, 0.5, 0.5 + width))
    assert found.ok
    inside = np.linspace(0.5, 0.5 + width, 40 * round(4000 * width) + 1)
    fine = solved(model, rest_to_rest(model, TURN, inside, 0.5, 0.5 + width)).instants(slice(None, None, 40))
    assert np.abs(found.position[2000 : 2000 + len(fine.time)] - fine.position).max() < 1e-6


def test_where_it_is_ill_conditioned_it_is_not_lost_at_the_start():
    model = built(random_mechanism([*CARRIERS, "c d P", "a c ER", "b d PL"], 566433))
    one, _ = assert_is_finer(model, lambda steps: swing(model, 0.6, steps, seed=566433), 601, 4)
    assert (one.status[:550] == OK).all()


def test_a_pulse_out_of_reach_leaves_long_strides(monkeypatch):
    steps_from, count = Life.steps_from, [0]

    def counted(self, column, inputs, time, alive):
        X = steps_from(self, column, inputs, time, alive)
        count[0] += X.shape[1] - 1
        return X

    monkeypatch.setattr(Life, "steps_from", counted)
    model = built("planar_3rrr")
    found = solved(model, there_and_back(model, 3.0, 40001, 0.5, 0.512))
    lost = np.flatnonzero((found.status != OK).any(axis=1))
    assert 100 < len(lost) < 400
    assert codes(found) == {OK, OUT_OF_REACH}
    assert np.ptp(lost) + 1 == len(lost)
    assert count[0] < 1000


@pytest.mark.parametrize("far", [1e3, 1e4, -1e4])
def test_a_motion_begins_far_away(far, monkeypatch):
    model, time = built("triad"), np.linspace(0, 1, 11)
    steps_from, calls = Life.steps_from, []

    def counted(self, *given):
        calls.append(len(given[2]))
        return steps_from(self, *given)

    monkeypatch.setattr(Life, "steps_from", counted)
    found = solved(model, moved(model, time, far + time, 1.0, 0.0))
    near = solved(model, moved(model, time, far % TURN + time, 1.0, 0.0))
    assert found.ok
    assert np.abs(found.position - near.position).max() < 1e-8
    assert sum(calls) < 200


# --- gaps ---------------------------------------------------------------------------------------------


def test_turns_are_not_lost_over_a_gap():
    model = built("planar_3rrr")
    for way in (2.0, 4.0, 6.0):
        found = solved(model, there_and_back(model, way, 601))
        assert OUT_OF_REACH in codes(found)
        assert (found.status[-1] == OK).all()
        assert np.abs(found.orientation[-1] - found.orientation[0]).max() < 1e-9
        lost = (found.status != OK).any(axis=1)
        jumps = np.abs(np.diff(found.orientation, axis=0))[~lost[1:] & ~lost[:-1]]
        assert jumps.max() < 1.0


@pytest.mark.parametrize("turns", [-3, 3, 10])
def test_over_gaps_angles_go_the_shorter_way_by_every_solver(turns):
    mechanism = four_bar(1.2, 2.0, 1.5, 1.0, np.pi / 3)
    both = [groups.build(mbssa.decompose(mechanism), named) for named in ({}, {2: "Newton"})]
    motion = groups.constant_speed(mechanism, rate=TURN * turns, steps=120 * abs(turns) + 1)
    one, other = (model.solve(motion, compiled=False) for model in both)
    sound = (one.status == OK).all(axis=1)
    assert 0.3 < sound.mean() < 0.9
    assert np.array_equal(sound, (other.status == OK).all(axis=1))
    np.testing.assert_allclose(other.orientation[sound], one.orientation[sound], atol=1e-9)


def test_the_table_of_three_cranks_does_not_turn_where_one_of_them_is_longer():
    """It is violated in between, and stands upright behind."""
    made, feet = mbssa.Builder("planar").bodies("a", "b", "c", "table"), ((0, 0), (2, 0), (0.5, 0.9))
    for name, (x, y) in zip("abc", feet, strict=True):
        length = 1 + 1e-6 * (name == "c")
        made.revolute("frame", name, point=(x, y), driven=name == "a")
        made.revolute(name, "table", point=(x + 0.5 * length, y + 0.75**0.5 * length))
    mechanism = made.build()
    model = groups.build(mbssa.decompose(mechanism))
    found = model.solve(groups.constant_speed(mechanism, steps=361), compiled=False)
    sound = (found.status == OK).all(axis=1)
    assert np.count_nonzero(np.diff(sound)) > 1
    assert np.abs(found.orientation[sound, 4]).max() < 1e-3


def test_a_full_turn_of_an_input_is_its_reference_again():
    model = built("planar_3rrr")
    found = solved(model, steady(model, TURN, 301))
    assert OUT_OF_REACH in codes(found)
    assert (found.status[-20:] == OK).all()
    assert np.abs(found.position[-1] - found.position[0]).max() < 1e-9


def test_teeth_that_part_are_lost_contacts_and_meet_again():
    model = built("involute_teeth")
    found = solved(model, there_and_back(model, 1.0, 201))
    assert codes(found) == {OK, CONTACT_LOST}
    assert np.abs(found.orientation[-1] - found.orientation[0]).max() < 1e-9


@pytest.mark.parametrize("steps", [2, 3, 5, 9, 41])
@pytest.mark.parametrize(("sides", "angle"), [((1, 1, 1.15, 0.85), 0.7), ((100, 100, 1.15, 0.85), 0.015)])
def test_behind_a_hole_turns_do_not_depend_on_the_steps(sides, angle, steps):
    model = built(four_bar(*sides, angle))
    found = solved(model, steady(model, -2 * angle, steps))
    assert codes(found) <= {OK, OUT_OF_REACH}
    assert found.orientation[-1] - found.orientation[0] == pytest.approx(
        [0, -2 * angle, np.pi - 2 * angle, np.pi - 2 * angle], abs=2 * np.pi
    )
    finest = solved(model, steady(model, -2 * angle, 201))
    assert found.orientation[-1] == pytest.approx(finest.orientation[-1], abs=1e-9)


@pytest.mark.parametrize("name", ["stewart", "six_sps", "triad", "planar_four_bar", "cam_roller"])
def test_two_instants_of_the_same_inputs(name):
    """All rates are whole turns, or lengths that are out of reach between."""
    model = built(name)
    start = np.array(list(model.reference_inputs.values()))[:, None] * np.ones(2)
    rates = TURN * np.ones_like(start)
    found = solved(
        model, groups.Motion(np.array([0.0, 1.0]), tuple(model.reference_inputs), start, rates, 0 * rates)
    )
    assert found.ok
    assert np.abs(found.position[1] - found.position[0]).max() < 1e-9


def test_a_closed_loop_of_six_legs_ends_in_the_reference():
    model = built("stewart")
    names, start = tuple(model.reference_inputs), np.array(list(model.reference_inputs.values()))[:, None]
    phase = np.arange(6)[:, None] * np.pi / 3

    def loop(steps, size):
        time = np.linspace(0, 1, steps)
        c, s = (of(TURN * time + phase) for of in (np.cos, np.sin))
        value = start + size * (c - np.cos(phase))
        return groups.Motion(time, names, value, -size * TURN * s, -size * TURN**2 * c)

    for size in (0.2, 0.5):
        one, _ = assert_is_finer(model, lambda steps, size=size: loop(steps, size), 51, 4)
        assert one.ok == (size < 0.3)
        assert (one.status[-1] == OK).all()
        assert np.abs(one.position[-1] - one.position[0]).max() < 1e-9


# --- dead points --------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [1, 2, 3])
@pytest.mark.parametrize("steps", [2, 3, 4, 5, 7, 9, 13])
def test_turns_of_closed_forms_are_counted_in_coarse_steps(turns, steps):
    model = built(four_bar(1, 0.5, 1.1, 1.2))
    found = solved(model, rest_to_rest(model, turns * TURN, np.linspace(0, 1, steps)))
    assert found.ok
    whole = turns * TURN
    assert found.orientation[-1] - found.orientation[0] == pytest.approx([0, whole, whole, whole], abs=1e-9)


@pytest.mark.parametrize("sides", [(1, 2.5, 2, 1.5), (2.5, 1, 1.5, 2), (1, 1.5, 2.5, 2), (2.5, 2, 1, 1.5)])
@pytest.mark.parametrize("steps", [14, 53, 521])
def test_a_flat_pose_inside_a_step_is_said_once(sides, steps):
    """The sign of the root holds there, the smooth way does not."""
    model = built(four_bar(*sides))
    found = solved(model, steady(model, TURN, steps))
    jumped = np.flatnonzero(found.status[:, 1] == BRANCH_JUMP)
    assert len(jumped) == 1
    flat = np.pi if sides[0] + sides[1] == sides[2] + sides[3] else 0.0
    before, after = (0.7 + found.orientation[k, 1] for k in (jumped[0] - 1, jumped[0]))
    assert np.floor((before - flat) / TURN) != np.floor((after - flat) / TURN)


def test_groups_far_behind_one_that_turned_back_have_no_answer_either():
    """Two dyads, one on the other, behind a rocker that jumps in its flat pose."""
    more = [(4, 5, "R", 0), (5, 6, "R", 0), (1, 6, "R", 0), (6, 7, "R", 0), (7, 8, "R", 0), (1, 8, "R", 0)]
    places = [(1.0, 1.0), (5.0, 3.0), (6.0, 0.0), (5.0, 3.0), (9.0, 4.0), (9.0, 0.0)]
    model = built(four_bar(1, 2.5, 2, 1.5, more=more, geometry=[{"point": place} for place in places]))
    found = solved(model, steady(model, TURN, 521))
    (jumped,) = np.flatnonzero(found.status[:, 1] == BRANCH_JUMP)
    assert found.status[jumped, 2:].tolist() == [PREDECESSOR_FAILED] * 2


@pytest.mark.parametrize("steps", [3, 5, 9, 13])
def test_legs_in_coarse_steps_do_not_jump(steps):
    model = built("stewart_inverse")
    assert solved(model, groups.default_motion(model.mechanism, steps=steps)).ok


def test_where_two_hinges_meet_a_dyad_is_out_of_reach():
    model = built(four_bar(1, 1, 1.15, 0.85))
    middle = solved(model, steady(model, -1.4, 3)).status[1]
    assert middle.tolist() == [OK, OUT_OF_REACH]


def test_parallel_lines_cost_one_instant():
    guide = linkage(
        [(1, 2, "R", 1), (1, 3, "P", 0), (2, 3, "SLOT", 0)],
        [
            {"point": (0.0, 0.0), "at_reference": {"angle": 1.0}},
            {"point": (1.0, 0.5), "axis": (1.0, 0.0)},
            {"point": (1.0, 0.5), "axis": (np.cos(1.0), np.sin(1.0))},
        ],
    )
    model = built(guide)
    found = solved(model, steady(model, -3.0, 100))
    assert np.flatnonzero((found.status != OK).any(axis=1)).tolist() == [33]
    assert codes(found) == {OK, SINGULAR}


# --- sizes and quality --------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [1e-4, 1e-6, 1e-8])
def test_a_loop_may_be_much_smaller_than_the_mechanism(share):
    points = [
        (0.0, 0.0),
        (0.0, share),
        (2 * share, 2 * share),
        (3 * share, 0.0),
        (10.0, 0.0),
        (10.0, 1.0),
        (12.0, 2.0),
    ]
    rows = [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0), (1, 5, "R", 1), (5, 6, "R", 0)]
    rows += [(6, 7, "R", 0), (1, 7, "R", 0)]
    model = built(linkage(rows, [{"point": point} for point in [*points, (13.0, 0.0)]]))
    assert solved(model, steady(model, TURN, 41)).ok


def test_closed_forms_tell_residual_and_condition():
    model = built(four_bar(1, 2, 1.2, 2))
    found = solved(model, steady(model, 0.9, 9))
    coupler, rocker = (found.orientation[:, b] - found.orientation[0, b] for b in (2, 3))
    start = np.arccos(np.clip(found.condition[0, 1], 0, 1))  # sine of the angle between coupler and rocker
    between = coupler - rocker
    sine = [np.abs(np.sin(sign * (np.pi / 2 - start) + between)) for sign in (1, -1)]
    assert min(np.abs(of - found.condition[:, 1]).max() for of in sine) < 1e-9
    long = built(four_bar(1, 1e6, 1e6, 2))
    answer = solved(long, steady(long, TURN, 41))
    assert 0 < answer.residual[:, 1].max() < 1e-8


@pytest.mark.parametrize(("joints", "seed", "amplitude"), [
    (["b c PL", "a c PL"], 162651, 0.3),
    (["c d SP", "b d PL", "b d PC", "b c S", "frame c S"], 674277, 1.5),
    (["a d S", "c d P", "c a SP", "frame d S"], 160698, 1.0),
])  # fmt: skip
def test_groups_that_are_singular_everywhere_are_said(joints, seed, amplitude):
    model = built(random_mechanism([*CARRIERS, *joints], seed))
    assert codes(solved(model, swing(model, amplitude, 9))) <= {OK, SINGULAR, PREDECESSOR_FAILED}


def test_all_joints_in_one_point_are_singular():
    rows = [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0)]
    model = built(linkage(rows, [{"point": (0.0, 0.0)}] * 4))
    assert codes(solved(model, steady(model, 1.0, 5))) == {OK, SINGULAR}


def test_numbers_that_are_traced_refuse_to_be_compared():
    node = Graph().input("q", 0)
    for compare in (lambda: node == 0.0, lambda: node != 0.0, lambda: node in [0.0]):
        with pytest.raises(TypeError):
            compare()


# --- redundant, parallel, nearly so -------------------------------------------------------------------


def grid(cranks, tilt=0.0, offset=0.0):
    """A table on parallel cranks in space, the first driven; the second may be tilted or off the plane."""
    rows, axis = [(1, 2 + k, "R", int(k == 0)) for k in range(cranks)], (0.0, 0.0, 1.0)
    feet = [(float(k), 0.3 * k * (k - 1), offset * k) for k in range(cranks)]
    geometry = [{"point": p, "axis": (tilt, 0.0, 1.0) if k == 1 else axis} for k, p in enumerate(feet)]
    rows += [(2 + k, 2 + cranks, "R", 0) for k in range(cranks)]
    geometry += [{"point": (x + 0.6, y + 0.8, z), "axis": axis} for x, y, z in feet]
    return linkage(rows, geometry, "spatial")


@pytest.mark.parametrize(("given", "wanted"), [
    ({"cranks": 5}, {OK}), ({"cranks": 3, "offset": 1e-12}, {OK}), ({"cranks": 2, "tilt": 1e-12}, {OK}),
    ({"cranks": 2, "tilt": 1e-5}, {OK, DROPPED, BRANCH_JUMP}),
])  # fmt: skip
def test_redundant_grids(given, wanted):
    model = built(grid(**given))

    def swung(steps):
        time = np.linspace(0, 1, steps)
        x = TURN * time
        return moved(model, time, 0.4 * np.sin(x), 0.4 * TURN * np.cos(x), -0.4 * TURN**2 * np.sin(x))

    one, _ = assert_is_finer(model, swung, 51, 4)
    assert codes(one) <= wanted
    assert DROPPED not in wanted or DROPPED in codes(one)


@pytest.mark.parametrize("offset", [1e-9, 1e-12])
def test_a_tiny_offset_of_a_universal_joint(offset):
    model = built(random_mechanism([*CARRIERS, "a c U", "c d P", "d b S"], 2, offset))
    one, fine = (solved(model, swing(model, 0.3, steps)) for steps in (61, 241))
    assert codes(one) <= {OK, OUT_OF_REACH, GIMBAL}
    both = (one.status == OK).all(axis=1) & (fine.status[::4] == OK).all(axis=1)
    assert np.abs(one.position - fine.position[::4])[both].max() < 1e-6


@pytest.mark.parametrize("name", ["cam_flat", "cam_roller", "cam_swing"])
def test_cams_turn_back_at_their_breaks(name):
    model = built(name)
    for degrees in range(30, 360, 30):
        way, time = np.deg2rad(degrees), np.linspace(0.0, 1.0, 41)
        there, back = rest_to_rest(model, way, time, 0.0, 0.5), rest_to_rest(model, -way, time, 0.5, 1.0)
        both = groups.Motion(
            time, there.names, there.value + back.value - there.value[:, :1], there.rate + back.rate,
            there.acceleration + back.acceleration,
        )  # fmt: skip
        found = solved(model, both)
        assert found.ok, degrees
        assert np.abs(found.position[-1] - found.position[0]).max() < 1e-9


@pytest.mark.parametrize(("name", "group"), [("planar_four_bar", 2), ("triad", 2), ("stewart_inverse", 3)])
def test_other_modes_hold_in_coarse_steps(name, group):
    model = built(name)
    one, fine = (
        solved(model, groups.default_motion(model.mechanism, steps=steps), modes={group: 2})
        for steps in (31, 301)
    )
    assert one.ok
    assert np.abs(one.position - fine.position[::10]).max() < 1e-6


def test_poses_that_differ_in_a_sign_share_no_routine():
    """The sign of a root is folded into what is traced."""
    model = built("planar_four_bar")
    motion = groups.default_motion(model.mechanism, steps=3)
    for mode in groups.modes(model, 2):
        found = solved(model, motion, modes={2: mode.number})
        assert found.position[0, mode.bodies] == pytest.approx(mode.position[:, :2], abs=1e-9)
