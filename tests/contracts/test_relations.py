"""Random mechanisms of gears, rolling, cams and users' functions: all ways to solve them agree.

Driven bodies stand anywhere and carry one another; on any of them hang bodies whose unknowns a gear, a track,
a cam or a user's function closes, each with body frames turned and displaced at the reference.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from random_mechanisms import distance, slopes, swing

import groups
import mbssa
from mbssa.io.records import from_record
from mbssa.joints.frames import joint_frames
from mbssa.mechanism import JointFrame


def along(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def turned(angle, point):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]]) @ point


def gear(rng, own, hinge, others, *, carried):
    """A wheel on its hinge and one on another body, seen from a third or from their line of centres."""
    bodies, points = [own, others[0]], [hinge, rng.uniform(-0.3, 0.3, 2)]
    if rng.random() < 0.5:
        bodies.reverse()
        points.reverse()
    carrier = others[1:2] if carried else []
    ratio = float(rng.choice([-1, 1]) * rng.uniform(0.4, 2.5))
    return {"bodies": bodies + carrier, "type": "EPI", "points": points, "ratio": ratio}


def track(rng, own, others, code):
    bodies = [own, others[0]] if rng.random() < 0.5 else [others[0], own]
    point, axis = rng.uniform(-0.3, 0.3, 2), along(rng.uniform(0, 6))
    return {"bodies": bodies, "type": code, "point": point, "axis": axis, "radius": rng.uniform(0.05, 0.2)}


def cam(rng, own, others, follower):
    """An ellipse that touches its follower at a place taken at random."""
    a, b, turn, at = *rng.uniform(0.04, 0.06, 2), rng.uniform(-3, 3), rng.uniform(0, 6)
    origin = rng.uniform(-0.2, 0.2, 2)
    place, tangent = np.array([a, b]) * along(at), np.array([-a, b]) * along(at)[::-1]
    tangent /= np.linalg.norm(tangent)
    outwards = np.array([tangent[1], -tangent[0]])
    radius = 0.02 if follower == "roller" else 0.0
    profile = {"ellipse": {"semi_axes": [a, b]}, "follower": follower}
    if radius:
        profile["radius"] = radius
    face = turned(turn, -tangent)
    return {
        "bodies": [own, others[0]] if rng.random() < 0.5 else [others[0], own],
        "type": "L",
        "points": [origin, origin + turned(turn, place + radius * outwards)],
        "axes": [along(turn), face],
        "profile": profile,
    }


def rope_of(arms, constant):
    """A sum of squares of distances between points of neighbours, and of sines of their angles."""
    count = len(arms) - 1

    def function(q):
        total = -constant
        for k in range(count):
            c, s = np.cos(q[k, 2]), np.sin(q[k, 2])
            d, e = np.cos(q[k + 1, 2]), np.sin(q[k + 1, 2])
            x = q[k, 0] + c * arms[k, 0] - s * arms[k, 1]
            x = x - q[k + 1, 0] - d * arms[k + 1, 1] + e * arms[k + 1, 0]
            y = q[k, 1] + s * arms[k, 0] + c * arms[k, 1]
            y = y - q[k + 1, 1] - e * arms[k + 1, 1] - d * arms[k + 1, 0]
            total = total + (k + 1.0) * (x * x + y * y) + 0.05 * np.sin(q[k, 2] - q[k + 1, 2])
        return total

    return function


def rope(rng, own, others, place):
    """A function of all these bodies, zero as they stand."""
    count = int(rng.integers(1, len(others) + 1))
    bodies = [int(body) for body in rng.permutation([own, *others[:count]])]
    arms = rng.uniform(-0.3, 0.3, (count + 1, 2))

    constant = float(rope_of(arms, 0.0)(np.array([[*place[body][0], place[body][1]] for body in bodies])))
    function = rope_of(arms, constant)
    return {"bodies": bodies, "type": "USER", "function": function, "unit": "m"}


KINDS = ("gears", "gears on a carrier", "RP", "RD", "roller", "knife", "flat", "function")


def relation(rng, kind, own, hinge, others, place):
    if kind.startswith("gears"):
        return gear(rng, own, hinge, others, carried=kind != "gears")
    if kind in ("RP", "RD"):
        return track(rng, own, others, kind)
    if kind == "function":
        return rope(rng, own, [body for body in others if body > 1], place)
    return cam(rng, own, others, kind)


def record(seed):
    """Two driven bodies, and two that hang on any body and are closed by a relation."""
    rng = np.random.default_rng(seed)
    place = {body: (rng.uniform(-0.3, 0.3, 2), rng.uniform(-3, 3)) for body in range(2, 6)}
    joints = []
    for body in range(2, 6):
        parent, point = int(rng.integers(1, body)), rng.uniform(-0.3, 0.3, 2)
        ends = [parent, body] if rng.random() < 0.6 else [body, parent]
        joints.append({"bodies": ends, "type": "R", "point": point})
        if body < 4:
            joints[-1]["driven"] = ["angle"]
            continue
        others = [int(other) for other in rng.permutation([b for b in range(1, body) if b != parent])]
        joints.append(relation(rng, str(rng.choice(KINDS)), body, point, others, place))
    bodies = [{"origin": place[body][0], "orientation": place[body][1]} for body in range(2, 6)]
    return {"format": 1, "space": "planar", "body": bodies, "joint": joints}


def plain(value):
    """Lists and floats for arrays."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def mechanism(given):
    return from_record(plain(given), "random", "random")


def built(made):
    return groups.build(mbssa.decompose(made))


#: Each kind twice or more: gears, also on a carrier, rolling, drums, rollers, knives, flat faces, functions.
SEEDS = (1, 2, 5, 6, 10, 16, 18, 22)


@pytest.fixture(scope="module")
def cases():
    """Random mechanisms by seed: their records, themselves, models, motions and answers."""
    made = {}
    for seed in SEEDS:
        given = record(seed)
        one = mechanism(given)
        model = built(one)
        motion = swing(model, 0.01, steps=21)
        answer = model.solve(motion, compiled=False)
        assert answer.ok, (seed, answer.faults())
        assert answer.condition.min() > 1e-2, seed
        made[seed] = given, one, model, motion, answer
    return made


def assert_same(one, two, case="", within=1e-8):
    assert two.ok, (case, two.faults())
    assert max(distance(one, two)) < within, case


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_the_global_approach_gives_the_same_answer(cases, method):
    for seed, (_, made, _, motion, answer) in cases.items():
        theirs = groups.solve_globally(mbssa.decompose(made), motion, method=method, compiled=False)
        assert_same(answer, theirs, seed)
        assert max(answer.residual.max(), theirs.residual.max()) < 1e-10, seed


def test_rates_are_derivatives(cases):
    for seed, (_, _, model, _, _) in cases.items():
        motion_of = partial(swing, model, 0.01)
        coarse, fine = (np.array(slopes(model, motion_of, steps)) for steps in (51, 101))
        assert (fine < np.maximum(coarse / 3, 1e-7)).all(), seed


def test_frames_say_the_same(cases):
    for seed, (_, made, _, motion, answer) in cases.items():
        frames = joint_frames(made)
        geometry = dict(made.joint_geometry)
        for j, given in geometry.items():
            if made.joints[j].type.code != "USER":
                sides = tuple(
                    JointFrame(tuple(frames.origin[j, side][:2]), x=tuple(frames.axes[j, side][:2, 0]))
                    for side in (0, 1)
                )
                geometry[j] = replace(given, frames=sides, point=None, points=None, axis=None, axes=None)
        assert_same(answer, built(replace(made, joint_geometry=geometry)).solve(motion, compiled=False), seed)


def test_wheels_change_places_with_the_inverse_of_their_ratio(cases):
    for seed, (given, _, _, motion, answer) in cases.items():
        joints = []
        for joint in given["joint"]:
            if joint["type"] == "EPI":
                one, two, *carrier = joint["bodies"]
                swapped = {"bodies": [two, one, *carrier], "points": joint["points"][::-1]}
                joint = joint | swapped | {"ratio": 1 / joint["ratio"]}
            joints.append(joint)
        model = built(mechanism(given | {"joint": joints}))
        assert_same(answer, model.solve(motion, compiled=False), seed)


def test_a_gear_on_a_line_of_centres_that_stands_askew_starts_at_the_reference():
    """The constant of a mesh keeps the turns of its terms, whatever part of a turn the ratio makes."""
    for angle in (-3.1, -0.8, 1.5, 3.1):
        for ratio in (-0.85, -1.5, 0.3):
            centre = 0.2 * along(angle)
            pair = {
                "format": 1,
                "space": "planar",
                "body": [{"orientation": 2.0}, {"orientation": -2.5}],
                "joint": [
                    {"bodies": [1, 2], "type": "R", "point": [0.0, 0.0], "driven": ["angle"]},
                    {"bodies": [1, 3], "type": "R", "point": centre},
                    {"bodies": [2, 3], "type": "EO", "points": [[0.0, 0.0], centre], "ratio": ratio},
                ],
            }
            made = mechanism(pair)
            model = groups.build(mbssa.decompose(made), {2: "Newton"})
            answer = model.solve(swing(model, 0.3, steps=9), compiled=False)
            assert answer.ok, answer.faults()
            turn = answer.orientation - answer.orientation[0]
            assert np.abs(turn[:, 2] + turn[:, 1] / ratio).max() < 1e-12
            assert answer.orientation[0].tolist() == pytest.approx([0.0, 2.0, -2.5], abs=1e-12)


def ring(count, ratio=1.0):
    """Wheels on the corners of a polygon, each in mesh with both neighbours; the first is driven."""
    corners = [along(2 * np.pi * k / count) for k in range(count)]
    joints = [{"bodies": [1, k + 2], "type": "R", "point": corners[k]} for k in range(count)]
    joints[0]["driven"] = ["angle"]
    for k in range(count):
        points = [corners[k], corners[(k + 1) % count]]
        bodies = [k + 2, (k + 1) % count + 2]
        joints.append({"bodies": bodies, "type": "EO", "points": points, "ratio": 1.0 if k else ratio})
    return mechanism({"format": 1, "space": "planar", "bodies": count + 1, "joint": joints})


@pytest.mark.parametrize("count", [4, 6])
def test_an_even_ring_of_wheels_turns_and_one_mesh_is_redundant(count):
    found = mbssa.check(ring(count))
    assert {"redundant", "mobility"} <= {finding.kind for finding in found.findings}
    assert not any(finding.fatal for finding in found.findings)
    model = built(ring(count))
    motion = groups.constant_speed(model.mechanism, steps=21)
    answer = model.solve(motion, compiled=False)
    assert_same(answer, groups.solve_globally(mbssa.decompose(model.mechanism), motion, compiled=False))
    assert answer.residual.max() < 1e-12
    sense = (-1.0) ** np.arange(count)
    assert np.abs(answer.orientation[:, 1:] - sense * motion.value[0][:, None]).max() < 1e-12


def test_a_ring_whose_meshes_contradict_one_another_locks():
    for count, ratio in ((3, 1.0), (5, 1.0), (4, 1.25)):
        locked = ring(count, ratio)
        found = mbssa.check(locked)
        assert any(finding.fatal and "no motion" in finding.text for finding in found.findings), count
        with pytest.raises(ValueError, match="not determined"):
            built(locked)
