"""Tearing inputs on motions that go through a gimbal, over many turns, or begin at a dead point."""

import math

import numpy as np
import pytest
from linkages import linkage

import groups
import mbssa
from groups.status import SINGULAR


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
    return mbssa.decompose(linkage([*rows, (1, 7, "F", 6)], [*geometry, {"point": base}], "spatial"))


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
    return mbssa.decompose(linkage(rows, [{"point": point} for point in points]))


def off(one, two):
    """Largest difference of the levels, each by its own largest number."""
    worst = 0.0
    for level in ("position", "orientation", "velocity", "acceleration"):
        a, b = getattr(one, level), getattr(two, level)
        apart = np.abs(a - b)
        if level == "orientation" and a.ndim == 3:
            apart = np.minimum(apart, np.abs(a + b))
        worst = max(worst, apart.max() / max(1.0, np.abs(b).max()))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("steps", [61])
def test_a_gimbal_of_driven_cardan_angles_is_passed_by_the_direct_structure(steps):
    """At the gimbal a pose says no more what its Cardan angles are; the angles say what the pose is."""
    structure = gantry()
    chain = ["1-2.slide", "2-3.slide", "3-4.slide", "4-5.angle", "5-6.angle", "6-7.angle"]
    direct, torn = groups.build(structure), groups.build(structure, borrow=chain)
    assert {solver.form for solver in torn.solvers} == {"driven"}
    laws = {name: groups.harmonic(0.1, 1.0, mean=value) for name, value in torn.reference_inputs.items()}
    laws["1-7.angle_y"] = groups.speed(math.radians(110.0))
    motion = groups.sample(torn.mechanism, laws, np.linspace(0.0, 1.0, steps))
    found, wanted = torn.solve(motion, compiled=False), direct.solve(motion, compiled=False)
    assert wanted.ok
    assert found.ok
    assert off(found, wanted) < 1e-9
    tilt = motion.value[motion.names.index("1-7.angle_y")]
    assert found.fallback[np.abs(tilt - math.pi / 2) < 0.01].all()
    assert not found.fallback[tilt < 1.0].any()
    assert found.outer.sentences()


@pytest.mark.slow
def test_two_unknowns_are_followed_over_many_turns():
    structure = two_loops()
    direct = groups.build(structure)
    torn = groups.build(structure, borrow=["2-3.angle", "4-5.angle"])
    assert torn.borrowed.unknowns == ("2-3.angle", "4-5.angle")
    assert len(torn.borrowed.loop) < torn.structure.n_groups  # the dyad comes after it
    turns, first = 12.0, torn.reference_inputs
    laws = {name: groups.speed(2 * math.pi * turns, start=value) for name, value in first.items()}
    laws["1-5.angle"] = groups.speed(-2 * math.pi * turns, start=first["1-5.angle"])
    motion = groups.sample(torn.mechanism, laws, np.linspace(0.0, 1.0, 1201))
    found, wanted = torn.solve(motion, compiled=False), direct.solve(motion, compiled=False)
    assert wanted.ok
    assert found.ok
    assert off(found, wanted) < 1e-9
    assert not found.fallback.any()
    for name in motion.names:
        met = found.joint(name.removesuffix(".angle"))["angle"].value
        assert abs(met[-1] - met[0]) == pytest.approx(2 * math.pi * turns)
    # Couplers swing, so that the borrowed angles turn as often as the cranks.
    for name in ("2-3", "4-5"):
        borrowed = found.joint(name)["angle"].value
        assert abs(borrowed[-1] - borrowed[0]) == pytest.approx(2 * math.pi * turns, abs=1e-6)


@pytest.mark.parametrize("steps", [41])
def test_a_motion_that_begins_at_a_dead_point_begins_with_the_direct_structure(steps):
    """Crank and coupler stretched: the rocker, which is borrowed, is at its end."""
    structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    direct, torn = groups.build(structure), groups.build(structure, borrow=["1-4.angle"])
    # Frame 0.9, rocker 0.54, crank and coupler 0.3 + 0.78; the crank's angle is from the frame's line.
    dead = math.acos((0.9**2 + 1.08**2 - 0.54**2) / (2 * 0.9 * 1.08))
    motion = groups.sample(
        torn.mechanism, {"1-2.angle": groups.speed(1.5, start=dead)}, np.linspace(0.0, 1.0, steps)
    )
    found, wanted = torn.solve(motion, compiled=False), direct.solve(motion, compiled=False)
    assert wanted.ok
    assert found.ok
    assert off(found, wanted) < 1e-9
    assert found.fallback[0]
    assert not found.fallback[-1]
    assert found.outer.status[0] == SINGULAR
    assert "0 " in found.outer.sentences()[0]
    assert "singular" in found.outer.sentences()[0]


@pytest.mark.parametrize("steps", [21, 81])
def test_a_dead_point_of_the_drives_is_called_singular(steps):
    """The rocker is driven farther than it can go: the crank's angle has no answer beyond."""
    structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    torn = groups.build(structure, drives=["1-4.angle"])
    start = torn.reference_inputs["1-4.angle"]
    motion = groups.sample(
        torn.mechanism, {"1-4.angle": groups.harmonic(1.5, 1.0, mean=start)}, np.linspace(0.0, 1.0, steps)
    )
    outer = torn.solve(motion, compiled=False).outer
    assert outer.fallback.any()
    assert (outer.status[outer.fallback] == SINGULAR).all()
