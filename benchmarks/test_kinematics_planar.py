"""Planar dyads: position, velocity and acceleration of all bodies of the four-bar and of Jansen's leg.

    python -m pytest benchmarks/test_kinematics_planar.py --benchmark-only -s

Ours goes through the public API. pylinkage's compiled
``step_fast_with_kinematics`` writes the same three levels of the joints' centres, not of the bodies, and
knows constant speeds only. NumPy takes whole arrays of all instants, and the joints' centres alone. Exudyn
solves positions only, statically, all bodies at once, and stores nothing on the way. Every rival's answers
are compared with ours first.
Aims: faster than NumPy, and a third of pylinkage.
"""

from __future__ import annotations

import numpy as np
import pytest

import groups
import mbssa
from benchmarks import planar_numpy
from benchmarks.race import INSTANTS, Runner, race, same
from mbssa.joints.frames import joint_frames

#: Joints whose centres a kernel or a rival takes, by their letters there.
JOINTS = {
    "planar_four_bar": {"o": "1-2", "a": "2-3", "b": "3-4", "c": "1-4"},
    "theo_jansen": {"o": "1-2", "p": "2-3", "b": "1-4", "q": "3-4", "r": "5-6", "s": "4-7", "foot": "7-8"},
}


def planar_points(mechanism: mbssa.Mechanism) -> dict[str, tuple[float, float]]:
    """World position at the reference of every joint; all bodies have their origin at the world's."""
    frames = joint_frames(mechanism)
    assert not frames.position.any()
    return {joint.id: tuple(frames.origin[joint.index, 0, :2].tolist()) for joint in mechanism.joints}


class Case:
    """One mechanism and one turn of its crank."""

    def __init__(self, name: str) -> None:
        self.mechanism = mbssa.load(name)
        self.model = groups.build(mbssa.decompose(self.mechanism))
        self.motion = groups.constant_speed(self.mechanism, rate=2 * np.pi, duration=1.0, steps=INSTANTS)
        points = planar_points(self.mechanism)
        self.points = {letter: points[joint] for letter, joint in JOINTS[name].items()}

    def ours(self):
        t = self.model.solve(self.motion, level="acceleration", compiled=True)
        return t.position, t.orientation, t.velocity, t.acceleration

    def by_numpy(self):
        m = self.motion
        points = planar_numpy.four_bar if "a" in self.points else planar_numpy.jansen
        return points(m.value[0] - m.value[0, 0], m.rate[0], m.acceleration[0], *self.points.values())


def at_joint(arrays, body, point):
    """Position, velocity and acceleration (T, 2) of a point of a body, from the bodies' arrays."""
    position, angle, velocity, acceleration = (array[:, body] for array in arrays)
    c, s = np.cos(angle), np.sin(angle)
    r = np.stack([c * point[0] - s * point[1], s * point[0] + c * point[1]], axis=1)
    across = np.stack([-r[:, 1], r[:, 0]], axis=1)
    rate, second = velocity[:, 2:], acceleration[:, 2:]
    return (
        position + r,
        velocity[:, :2] + rate * across,
        acceleration[:, :2] + second * across - rate**2 * r,
    )


def linkage(case: Case):
    """pylinkage's model, one step before the motion's first instant; and where each of its joints is.

    Joints are (index of its column, body, point).
    """
    from pylinkage.actuators import Crank
    from pylinkage.components import Ground
    from pylinkage.dyads import FixedDyad, RRRDyad
    from pylinkage.simulation import Linkage

    def distance(first, second):
        return float(np.hypot(p[first][0] - p[second][0], p[first][1] - p[second][1]))

    def direction(first, second):
        return float(np.arctan2(p[second][1] - p[first][1], p[second][0] - p[first][0]))

    p, speed = case.points, float(case.motion.rate[0, 0])
    step = speed * float(case.motion.time[1] - case.motion.time[0])
    pin = "a" if "a" in p else "p"
    o = Ground(*p["o"], name="o")
    crank = Crank(o, distance("o", pin), step, direction("o", pin) - step)

    def dyad(first, second, a, b, c):
        return RRRDyad(first, second, distance(a, c), distance(b, c), *p[c])

    if pin == "a":
        c = Ground(*p["c"], name="c")
        b = dyad(crank.output, c, "a", "c", "b")
        components, joints = [o, c, crank, b], [(2, 1, p["a"]), (3, 2, p["b"])]
    else:
        b = Ground(*p["b"], name="b")
        q, r = dyad(crank.output, b, "p", "b", "q"), dyad(crank.output, b, "p", "b", "r")
        s = FixedDyad(b, q, distance("b", "s"), direction("b", "s") - direction("b", "q"))
        foot = dyad(s, r, "s", "r", "foot")
        components = [o, b, crank, q, r, s, foot]
        joints = [(2, 1, p["p"]), (3, 2, p["q"]), (4, 4, p["r"]), (5, 3, p["s"]), (6, 6, p["foot"])]
    made = Linkage(components)
    made.set_input_velocity(crank, speed)
    made.compile()
    return made, joints


def check_linkage(case: Case, ours) -> None:
    made, joints = linkage(case)
    theirs = made.step_fast_with_kinematics(INSTANTS)
    for column, body, point in joints:
        assert same(at_joint(ours, body, point), [array[:, column] for array in theirs]) < 1e-9


@pytest.mark.parametrize("name", JOINTS)
def test_planar(benchmark, name):
    pytest.importorskip("pylinkage")
    exudyn_models = pytest.importorskip("benchmarks.exudyn_models", exc_type=ImportError)
    case = Case(name)
    ours = case.ours()
    check_linkage(case, ours)
    _, joints = linkage(case)
    for (_, body, point), found in zip(joints, case.by_numpy(), strict=True):
        assert same(at_joint(ours, body, point), [array.T for array in found]) < 1e-9
    made, _ = linkage(case)
    static = exudyn_models.planar(case.mechanism, case.motion)
    assert same([ours[0][-1, 1:], ours[1][-1, 1:]], static.run(INSTANTS // 10)) < 1e-9
    race(
        benchmark,
        f"{name}: position, velocity, acceleration of all bodies",
        Runner("ours", case.ours),
        [
            Runner("NumPy, joints' centres only", case.by_numpy, aim=1),
            Runner(
                "pylinkage step_fast_with_kinematics",
                lambda: made.step_fast_with_kinematics(INSTANTS),
                aim=1 / 3,
            ),
            Runner(
                "Exudyn static, position only", lambda: static.run(INSTANTS // 10), INSTANTS // 10, every=5
            ),
        ],
    )
