"""Screws: the advance tells how often they have turned, in proofs, answers and assembly modes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import groups
import mbssa


def lead_screw():
    made = mbssa.Builder("spatial").bodies("screw", "nut")
    made.revolute("frame", "screw", point=[0, 0, 0], axis=[0, 0, 1], driven=True)
    made.helical("screw", "nut", point=[0, 0, 0], axis=[0, 0, 1], pitch=0.01)
    made.prismatic("frame", "nut", axis=[0, 0, 1])
    return made.build()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("branch", ["proven", "smooth"])
def test_a_lead_screw_is_proven_over_many_turns(branch, compiled):
    mechanism = lead_screw()
    motion = groups.constant_speed(mechanism, rate=60.0, steps=101)
    found = groups.build(mbssa.decompose(mechanism)).solve(motion, branch=branch, compiled=compiled)
    assert (found.proof == 2).all()
    turned = motion.value[0] - motion.value[0, 0]
    assert_allclose(found.body("nut").position[:, 2], -0.01 * turned, atol=1e-13)
    assert_allclose(found.joint("2-3")["angle"].value, -turned, atol=1e-11)


@pytest.mark.parametrize("start", [20.0, 4.0, -7.0])
def test_the_angle_of_a_driven_screw_is_its_advance_over_the_pitch(start):
    mechanism = mbssa.Builder("spatial").bodies("nut")
    mechanism.helical("frame", "nut", point=[0, 0, 0], axis=[0, 0, 1], pitch=0.01, driven=True)
    mechanism = mechanism.build()
    law = {"1-2.angle": groups.polynomial(start, 1.0)}
    motion = groups.sample(mechanism, law, np.linspace(0.0, 1.0, 5))
    found = groups.build(mbssa.decompose(mechanism)).solve(motion)
    assert_allclose(found.joint("1-2")["angle"].value, motion.value[0], atol=1e-12)
    assert_allclose(found.body("nut").position[:, 2], 0.01 * motion.value[0], atol=1e-14)


def test_modes_beyond_half_a_turn_are_those_that_a_motion_starts_from():
    made = mbssa.Builder("spatial").bodies("crank", "screw")
    made.revolute("frame", "crank", point=[0, 0, 0], axis=[1, 0, 0], driven=True)
    made.helical("frame", "screw", point=[2, 0, 0], axis=[0, 0, 1], pitch=0.2)
    made.joint("SPSP", "crank", "screw", points=[[0, 0.3, 0.4], [2.3, 0.6, 0.5]])
    mechanism = made.build()
    model, motion = groups.build(mbssa.decompose(mechanism)), groups.constant_speed(mechanism, rate=0.1)
    listed = groups.modes(model, 2)
    turned = [mode.coordinates["1-3.angle"] for mode in listed]
    assert max(map(abs, turned)) > np.pi
    for number, (mode, angle) in enumerate(zip(listed, turned, strict=True), 1):
        assert_allclose(mode.position[0, 2], 0.2 * angle, atol=1e-12)
        found = model.solve(motion, modes={2: number})
        assert_allclose(found.body("screw").position[0], mode.position[0], atol=1e-9)
        assert found.joint("1-3")["angle"].value[0] == pytest.approx(angle)
