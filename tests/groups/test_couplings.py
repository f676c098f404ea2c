"""Couplings of joint coordinates beside driven coordinates, gears and all other ways to solve the same."""

import numpy as np
import pytest
from random_mechanisms import distance, random_mechanism, slopes, swing

import groups
import mbssa
from mbssa.io.records import from_record, to_record

#: Joints of a random mechanism, of which the last one's last coordinate follows the first coordinate.
FOLLOWING = {
    "joints without a common body": (
        ["frame a R angle", "a b R angle", "frame c R angle", "c d R angle"], "2-3.angle", "4-5.angle",
    ),
    "slide by slide": (["frame a P slide", "a b P slide"], "1-2.slide", "2-3.slide"),
    "slide by an angle": (["frame a R angle", "frame b C angle slide"], "1-2.angle", "1-3.slide"),
    "angle by a slide": (["frame a P slide", "a b R angle", "b c H angle"], "1-2.slide", "3-4.angle"),
    "a screw of a C": (["frame a C angle slide"], "1-2#1.angle", "1-2#1.slide"),
    "pins of two U": (["frame a U angle_1 angle_2", "a b U angle_1 angle_2"], "1-2.angle_1", "2-3.angle_2"),
    "turn of a ball": (
        ["frame a R angle", "a b S angle_x angle_y angle_z"], "1-2.angle", "2-3.angle_z",
    ),
}  # fmt: skip

MULTIPLIER = -0.7


def coupling(bodies, first, second, multiplier, offset=0.0):
    given = {"couples": [first, second], "multiplier": multiplier, "offset": offset}
    return {"bodies": bodies, "type": "COUPLING", **given}


def mechanism(space, *joints, **more):
    record = {"format": 1, "space": space, "joint": list(joints), **more}
    record["bodies"] = max(body for joint in joints for body in joint["bodies"])
    return from_record(record, "coupled", "coupled")


def solved(made, motion=None, solvers=None):
    answer = groups.build(mbssa.decompose(made), solvers or {}).solve(
        groups.constant_speed(made, steps=13) if motion is None else motion, compiled=False
    )
    assert answer.ok, answer.faults()
    return answer


def coordinate(answer, name):
    joint, _, which = name.rpartition(".")
    return answer.joint(joint)[which]


@pytest.fixture(
    params=["joints without a common body", "slide by an angle", "angle by a slide", "turn of a ball"]
)
def case(request):
    """A mechanism with all coordinates driven, and the same with one coupled to another; its offset."""
    return following(request.param)


def following(name):
    """The case of :data:`FOLLOWING` with this name."""
    joints, first, second = FOLLOWING[name]
    driven = random_mechanism(joints, len(name))
    at = groups.build(mbssa.decompose(driven)).reference_inputs
    offset = at[second.replace("#1", "")] - MULTIPLIER * at[first.replace("#1", "")]
    record = to_record(driven)
    record["joint"][-1]["driven"].remove(second.rpartition(".")[2])
    ends = {int(b) for name in (first, second) for b in name[:3].split("-")}
    names = {1: "frame", 2: "a", 3: "b", 4: "c", 5: "d"}
    record["joint"].append(coupling([names[b] for b in sorted(ends)], first, second, MULTIPLIER, offset))
    return driven, from_record(record, "coupled", "coupled"), first, second, offset


def led(driven, motion, first, second, offset):
    """The motion of the mechanism whose coordinates are all driven."""
    names, levels = groups.driven_coordinates(driven), []
    for level in (motion.value, motion.rate, motion.acceleration):
        shift = offset if level is motion.value else 0.0
        rows = dict(zip(motion.names, level, strict=True))
        rows[second.replace("#1", "")] = shift + MULTIPLIER * rows[first.replace("#1", "")]
        levels.append(np.array([rows[name] for name in names]))
    return groups.Motion(motion.time, names, *levels)


def test_a_coupled_coordinate_is_a_driven_one_with_the_law_of_the_other():
    for name in FOLLOWING:
        driven, made, first, second, offset = following(name)
        motion = swing(groups.build(mbssa.decompose(made)), 0.3)
        answer = solved(made, motion)
        same = solved(driven, led(driven, motion, first, second, offset))
        assert max(distance(answer, same)) < 1e-12, name
        one, two = (coordinate(answer, name) for name in (first, second))
        assert np.abs(two.value - offset - MULTIPLIER * one.value).max() < 1e-12, name
        assert np.abs(two.acceleration - MULTIPLIER * one.acceleration).max() < 1e-10, name


def test_all_ways_to_solve_it_agree(case):
    _, made, *_ = case
    model = groups.build(mbssa.decompose(made))
    motion = swing(model, 0.3, steps=7, duration=0.1)
    answer = model.solve(motion, compiled=False)
    for method in ("dense", "sparse"):
        theirs = groups.solve_globally(mbssa.decompose(made), motion, method=method, compiled=False)
        assert theirs.ok, theirs.faults()
        assert max(distance(answer, theirs)) < 1e-9
    number = len(mbssa.decompose(made).groups)
    assert max(distance(answer, solved(made, motion, {number: "Newton"}))) < 1e-10
    coarse, fine = (
        np.array(slopes(model, lambda n: swing(model, 0.1, n, 0.25), steps)) for steps in (31, 61)
    )
    assert (fine < np.maximum(coarse / 3, 1e-7)).all()


def test_it_is_checked():
    made = following("joints without a common body")[1]
    report = mbssa.check(made)
    assert report.solvable
    unknowns = 6 * (made.n_bodies - 1)
    assert report.generic.all.rank == report.numeric.all.rank == unknowns


def test_coarse_steps_of_a_group_without_unknowns_are_proven():
    made = following("angle by a slide")[1]
    model = groups.build(mbssa.decompose(made))
    coarse, fine = (
        model.solve(swing(model, 0.6, steps=n), branch="proven", compiled=False) for n in (5, 401)
    )
    assert (coarse.proof == 2).all()
    np.testing.assert_allclose(coarse.position, fine.position[::100], atol=1e-12)


PINION = {"bodies": [1, 2], "type": "R", "point": [0, 0, 0.1], "axis": [0, 0, 1], "driven": ["angle"]}
RACK = {"bodies": [1, 3], "type": "P", "point": [0, 0.05, 0], "axis": [1, 0, 0]}


@pytest.mark.parametrize("solver", ["closed form", "Newton"])
def test_a_rack_counts_the_turns_of_its_pinion(solver):
    rack = RACK | {"at_reference": {"slide": 0.01}}
    made = mechanism("spatial", PINION, rack, coupling([1, 2, 3], "1-2.angle", "1-3.slide", 0.05, 0.01))
    answer = solved(made, groups.constant_speed(made, rate=20.0, duration=3.0, steps=61), {2: solver})
    turn, slide = coordinate(answer, "1-2.angle"), coordinate(answer, "1-3.slide")
    assert turn.value[-1] == pytest.approx(60.0)
    assert np.abs(slide.value - (0.01 + 0.05 * turn.value)).max() < 1e-13


def test_turns_that_the_reference_says_count():
    """A screw-like pair that has made three turns where it is drawn."""
    angle = 6 * np.pi + 0.4
    pinion = PINION | {"at_reference": {"angle": angle}}
    rack = RACK | {"at_reference": {"slide": 0.05 * angle}}
    made = mechanism("spatial", pinion, rack, coupling([1, 2, 3], "1-2.angle", "1-3.slide", 0.05))
    answer = solved(made)
    assert np.abs(answer.position[0]).max() < 1e-14
    assert coordinate(answer, "1-3.slide").value[-1] == pytest.approx(0.05 * (angle + 2 * np.pi))


def test_a_reference_that_does_not_hold_it_is_assembled():
    made = mechanism("spatial", PINION, RACK, coupling([1, 2, 3], "1-2.angle", "1-3.slide", 0.05, 0.03))
    assert solved(made).body(3).position[0] == pytest.approx([0.03, 0.0, 0.0])


BAR = [
    {"bodies": [1, 2], "type": "R", "point": [0.0, 0.0], "driven": ["angle"]},
    {"bodies": [2, 3], "type": "R", "point": [0.1, 0.2]},
    {"bodies": [3, 4], "type": "R", "point": [0.5, 0.4]},
    {"bodies": [1, 4], "type": "R", "point": [0.4, 0.0]},
]


@pytest.mark.parametrize("solver", ["closed form", "Newton"])
def test_what_a_loop_leads_leads_a_finger_that_hangs_elsewhere(solver):
    """The rocker's angle against the coupler, and a slide on another moving body."""
    swinging = {"bodies": [1, 5], "type": "R", "point": [0.7, 0.1]}
    finger = {"bodies": [5, 6], "type": "P", "point": [0.8, 0.1], "axis": [1.0, 0.5]}
    made = mechanism(
        "planar", *BAR, swinging, finger, coupling([1, 4, 5], "1-4.angle", "1-5.angle", -1.5),
        coupling([3, 4, 5, 6], "3-4.angle", "5-6.slide", 0.2),
    )  # fmt: skip
    answer = solved(made, solvers=None if solver == "closed form" else {3: solver, 4: solver})
    rocker, swing_ = coordinate(answer, "1-4.angle"), coordinate(answer, "1-5.angle")
    knee, slide = coordinate(answer, "3-4.angle"), coordinate(answer, "5-6.slide")
    assert np.ptp(rocker.value) > 0.5
    for one, two, factor in ((rocker, swing_, -1.5), (knee, slide, 0.2)):
        for level in ("value", "rate", "acceleration"):
            assert np.abs(getattr(two, level) - factor * getattr(one, level)).max() < 1e-9
    theirs = groups.solve_globally(
        mbssa.decompose(made), groups.constant_speed(made, steps=13), compiled=False
    )
    assert max(distance(answer, theirs)) < 1e-9


def test_a_coupling_of_two_cranks_in_one_loop_is_a_pair_of_gears():
    """A geared five-bar: the coupling stands in an undriven loop of several bodies."""
    cranks = [
        {"bodies": [1, 2], "type": "R", "point": [0.0, 0.0], "driven": ["angle"]},
        {"bodies": [1, 3], "type": "R", "point": [0.3, 0.0]},
        {"bodies": [2, 4], "type": "R", "point": [0.05, 0.1]},
        {"bodies": [3, 5], "type": "R", "point": [0.35, 0.08]},
        {"bodies": [4, 5], "type": "R", "point": [0.2, 0.4]},
    ]
    gear = {"bodies": [2, 3, 1], "type": "EPI", "points": [[0.0, 0.0], [0.3, 0.0]], "ratio": 2.0}
    geared = solved(mechanism("planar", *cranks, gear))
    coupled = solved(mechanism("planar", *cranks, coupling([1, 2, 3], "1-2.angle", "1-3.angle", -0.5)))
    assert max(distance(geared, coupled)) < 1e-12


def test_a_coupling_carries_force():
    """A force on the rack is a moment on the pinion: F times the multiplier."""
    inertia = [
        {"name": "pinion"},
        {"name": "rack", "inertia": {"mass": 2.0, "centre": [0, 0, 0], "moments": [1e-3] * 3}},
    ]
    record = {
        "format": 1, "space": "spatial", "body": inertia, "gravity": [-10.0, 0.0, 0.0],
        "joint": [PINION, RACK, coupling([1, 2, 3], "1-2.angle", "1-3.slide", 0.05)],
    }  # fmt: skip
    made = from_record(record, "rack", "rack")
    found = groups.forces(solved(made))
    assert found.driving[:, 0].tolist() == pytest.approx([2.0 * 10.0 * 0.05] * 13)
