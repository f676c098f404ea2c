"""One motion driven in several ways: other inputs make other groups, which go through the same poses."""

import math

import numpy as np
import pytest
from linkages import linkage
from random_mechanisms import distance

import groups
import mbssa


def gantry():
    """A gantry with a wrist that turns about z, x and y; the pose of its hand is driven."""
    X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    base = (0.0, 0.0, 0.0)
    chain = [
        ("P", base, X), ("P", base, Y), ("P", base, Z),
        ("R", (0.1, 0.0, 0.5), Z), ("R", (0.1, 0.2, 0.5), X), ("R", (0.0, 0.2, 0.4), Y),
    ]  # fmt: skip
    rows = [(k + 1, k + 2, code, 0) for k, (code, _, _) in enumerate(chain)]
    geometry = [{"point": point, "axis": axis} for _, point, axis in chain]
    return linkage([*rows, (1, 7, "F", 6)], [*geometry, {"point": base}], "spatial")


def two_loops():
    """Five bars with two cranks that turn fully, and a dyad that hangs on a coupler."""
    pairs = [(1, 2), (2, 3), (3, 4), (4, 5), (1, 5), (3, 6), (6, 7), (1, 7)]
    points = [
        (0.0, 0.0),
        (0.0, 0.2),
        (0.4, 0.9),
        (1.0, 0.15),
        (0.9, 0.0),
        (0.1, 0.8),
        (-0.6, 1.2),
        (-0.9, 0.2),
    ]
    rows = [(a, b, "R", int((a, b) in ((1, 2), (1, 5)))) for a, b in pairs]
    return linkage(rows, [{"point": point} for point in points])


def assert_the_same_by(inputs, found):
    """The motion of a trajectory, driven in other coordinates of its mechanism, is the same one."""
    assert found.ok
    led = mbssa.with_inputs(found.mechanism, inputs)
    names = groups.driven_coordinates(led)
    assert set(names) != set(groups.driven_coordinates(found.mechanism))
    moved = [found.joint(joint)[name] for joint, _, name in (each.rpartition(".") for each in names)]
    levels = (np.array([getattr(one, level) for one in moved]) for level in ("value", "rate", "acceleration"))
    again = groups.build(mbssa.decompose(led)).solve(groups.Motion(found.time, names, *levels))
    assert again.ok
    assert max(distance(again, found)) < 1e-9


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("triad", "1-5.angle"),
        ("planar_four_bar", "2-3.angle"),
        ("planar_3rrr", "2-3.angle,3-8.angle,1-4.angle"),
        ("stewart_inverse", ",".join(f"{body}-{body + 1}.slide" for body in range(2, 14, 2))),
        ("rotor", "1-2.slide,1-13.slide,13-15.angle"),
    ],
)
def test_of_built_in_models(name, inputs):
    mechanism = mbssa.load(name)
    model = groups.build(mbssa.decompose(mechanism))
    assert_the_same_by(inputs, model.solve(groups.default_motion(mechanism, steps=61)))


def test_through_the_gimbal_of_driven_cardan_angles():
    """At the gimbal a pose says no more what its Cardan angles are; the angles say what the pose is."""
    model = groups.build(mbssa.decompose(gantry()))
    laws = {name: groups.harmonic(0.1, 1.0, mean=value) for name, value in model.reference_inputs.items()}
    laws["1-7.angle_y"] = groups.speed(math.radians(110.0))
    motion = groups.sample(model.mechanism, laws, np.linspace(0.0, 1.0, 61))
    assert_the_same_by("1-2.slide,2-3.slide,3-4.slide,4-5.angle,5-6.angle,6-7.angle", model.solve(motion))


def test_over_many_turns():
    """Couplers swing, so that their angles turn as often as the cranks."""
    model, turns = groups.build(mbssa.decompose(two_loops())), 12.0
    start = model.reference_inputs
    laws = {name: groups.speed(2 * math.pi * turns, start=value) for name, value in start.items()}
    laws["1-5.angle"] = groups.speed(-2 * math.pi * turns, start=start["1-5.angle"])
    found = model.solve(groups.sample(model.mechanism, laws, np.linspace(0.0, 1.0, 1201)), branch="checked")
    assert_the_same_by("2-3.angle,4-5.angle", found)
    for name in ("2-3", "4-5"):
        value = found.joint(name)["angle"].value
        assert abs(value[-1] - value[0]) == pytest.approx(2 * math.pi * turns, abs=1e-6)
