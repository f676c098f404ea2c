"""Robotran's examples, by equations of motion that are written out by hand.

Independent and dependent coordinates are those of its tutorial on cuts. It prints masses of crank and rod
alone; lengths, springs and the other masses are ours.
"""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import groups
import mbssa
from groups.dynamics.forward.equations import Program
from mbssa.mechanism import Inertia

GRAVITY = 9.81
METHODS = ("groups", "partitioning", "lagrange")

#: Pendulum with a sliding mass on a spring, and the four-bar on it: kg, kg m², m, N/m.
BAR, BAR_MOMENT, SLIDER, SPRING, OUT, REST = 1.0, 1 / 12, 1.5, 150.0, 0.5, 0.45
LINK, LINK_MOMENT = 2.0, 0.1
PIVOT, JOINED = np.array([-0.8, 0.0]), 0.6
CRANK, ROD = np.hypot(0.4, 0.09), np.hypot(0.76, 0.57)

#: Suspension: arms, upright, wheel, chassis.
ARM = 0.4
CHASSIS, ARMS, ARM_MOMENT, UPRIGHT, WHEEL, WHEEL_MOMENT, STRUT = 20.0, 1.0, 0.02, 2.0, 5.0, 0.3, 4000.0


def pendulum_spring():
    m = mbssa.Builder("planar", name="pendulum, spring and four-bar").gravity(0, -GRAVITY)
    m.body("pendulum", inertia={"mass": BAR, "centre": (0.3, -0.4), "moment": BAR_MOMENT})
    m.body("slider", inertia={"mass": SLIDER, "centre": (0.6 * OUT, -0.8 * OUT), "moment": 0.0})
    m.body("crank", inertia={"mass": LINK, "centre": (-0.6, 0.045), "moment": LINK_MOMENT})
    m.body("rod", inertia={"mass": LINK, "centre": (-0.02, -0.195), "moment": LINK_MOMENT})
    m.revolute("frame", "pendulum", point=(0, 0), driven=True)
    m.prismatic("pendulum", "slider", point=(0.6 * OUT, -0.8 * OUT), axis=(0.6, -0.8), driven=True)
    m.revolute("frame", "crank", point=(-0.8, 0))
    m.revolute("crank", "rod", point=(-0.4, 0.09))
    m.revolute("rod", "pendulum", point=(0.36, -0.48))  # the ball cut
    return m.force("coordinate", coordinate="2-3.slide", stiffness=SPRING, rest=REST - OUT).build()


def links(turn):
    """Centres (2, 2) of crank and rod, and their angles (2,), for a turn of the pendulum."""
    angle = np.arctan2(-0.8, 0.6) + turn
    tip = JOINED * np.array([np.cos(angle), np.sin(angle)])
    between = tip - PIVOT
    distance = np.hypot(*between)
    along = (CRANK**2 - ROD**2 + distance**2) / (2 * distance)
    across = np.sqrt(CRANK**2 - along**2)
    x, y = between / distance
    pin = PIVOT + along * np.array([x, y]) + across * np.array([-y, x])
    centres = np.array([(PIVOT + pin) / 2, (pin + tip) / 2])
    return centres, np.arctan2(*np.array([pin - PIVOT, tip - pin]).T[::-1])


def carried(turn):
    """Moment of inertia of crank and rod seen from the pendulum, kg m², and the height of their weight."""
    step = 1e-5
    (before, angle_before), (after, angle_after) = links(turn - step), links(turn + step)
    speed, spin = (after - before) / (2 * step), (angle_after - angle_before) / (2 * step)
    return LINK * (speed**2).sum() + LINK_MOMENT * (spin**2).sum(), LINK * links(turn)[0][:, 1].sum()


def by_hand(t, y):
    """Lagrange's equations in the turn of the pendulum and the distance of the slider from the pivot."""
    turn, out, spin, speed = y
    step = 1e-4
    inertia, _ = carried(turn)
    (less, lower), (more, higher) = carried(turn - step), carried(turn + step)
    change, rise = (more - less) / (2 * step), (higher - lower) / (2 * step)
    angle = np.arctan2(-0.8, 0.6) + turn
    total = BAR_MOMENT + BAR * 0.25 + SLIDER * out**2 + inertia
    weight = GRAVITY * ((BAR * 0.5 + SLIDER * out) * np.cos(angle) + rise)
    faster = -(0.5 * change * spin**2 + 2 * SLIDER * out * speed * spin + weight) / total
    away = out * spin**2 - SPRING / SLIDER * (out - REST) - GRAVITY * np.sin(angle)
    return [spin, speed, faster, away]


def dependent(mechanism):
    """Coordinates of the whole mechanism's tree that are not driven."""
    traced = Program.of(groups.build(mbssa.decompose(mechanism)), (), (), False, "partitioning").traced
    return set(traced.names) - set(traced.drives)


@pytest.mark.parametrize("method", METHODS)
def test_pendulum_and_spring_with_a_four_bar(method):
    mechanism = pendulum_spring()
    assert dependent(mechanism) == {"1-4.angle", "4-5.angle"}  # Robotran's third and fourth joint
    found = groups.simulate(
        mechanism, 0.3, method=method, rates={"1-2.angle": -1.0}, tolerance=1e-10, steps=4, compiled=False
    )
    exact = solve_ivp(by_hand, (0, 0.3), [0, OUT, -1.0, 0], rtol=1e-10, atol=1e-12, t_eval=found.time)
    assert found.coordinates["1-2.angle"] == pytest.approx(exact.y[0], abs=2e-6)
    assert found.coordinates["2-3.slide"] + OUT == pytest.approx(exact.y[1], abs=2e-6)
    assert np.ptp(found.total_energy) < 1e-7


def suspension():
    """The built-in suspension with masses, and a strut below the chassis."""
    mechanism = mbssa.load("suspension")
    bodies = {
        "chassis": (CHASSIS, (0.0, 0.5), 1.0), "lower_arm": (ARMS, (0.2, 0.4), ARM_MOMENT),
        "upper_arm": (ARMS, (0.2, 0.65), ARM_MOMENT), "upright": (UPRIGHT, (0.4, 0.5), 0.05),
        "wheel": (WHEEL, (0.4, 0.5), WHEEL_MOMENT),
    }  # fmt: skip
    geometry = {
        mechanism.body_names.index(name): mbssa.BodyGeometry(inertia=Inertia(mass, centre, moment=moment))
        for name, (mass, centre, moment) in bodies.items()
    }
    strut = mbssa.loads.Force(
        "coordinate", "strut", (0, 1), coordinate="1-2.slide", stiffness=STRUT, rest=0.0
    )
    return dataclasses.replace(mechanism, body_geometry=geometry, gravity=(0.0, -GRAVITY), forces=(strut,))


def heave(t, y):
    """Lift h of the chassis and angle q of the arms, on whose parallelogram the upright does not turn."""
    lift, arm, faster, spin = y
    outer = 2 * ARMS * ARM / 2 + (UPRIGHT + WHEEL) * ARM
    total = CHASSIS + 2 * ARMS + UPRIGHT + WHEEL
    moment = 2 * (ARM_MOMENT + ARMS * ARM**2 / 4) + (UPRIGHT + WHEEL) * ARM**2
    cosine, sine = np.cos(arm), np.sin(arm)
    mass = np.array([[total, outer * cosine], [outer * cosine, moment]])
    force = [outer * sine * spin**2 - total * GRAVITY - STRUT * lift, -outer * GRAVITY * cosine]
    return [faster, spin, *np.linalg.solve(mass, force)]


@pytest.mark.parametrize("method", METHODS)
def test_suspension_with_superimposed_arms(method):
    mechanism = suspension()
    assert dependent(mechanism) == {"3-4.angle", "2-6.angle"}
    found = groups.simulate(
        mechanism, 0.1, method=method, rates={"4-5.angle": 7.0, "2-3.angle": 2.0}, tolerance=1e-10, steps=5,
        compiled=False,
    )  # fmt: skip
    exact = solve_ivp(heave, (0, 0.1), [0, 0, 0, 2.0], rtol=1e-11, atol=1e-13, t_eval=found.time)
    assert found.coordinates["1-2.slide"] == pytest.approx(exact.y[0], abs=1e-8)
    assert found.coordinates["2-3.angle"] == pytest.approx(exact.y[1], abs=1e-8)
    assert found.coordinates["4-5.angle"] == pytest.approx(7.0 * found.time, abs=1e-8)  # no torque
    # The dependent coordinates by the closed form of the source: q3 = -q2, q5 = q2.
    for joint, sign in (("3-4", -1), ("2-6", 1)):
        one = found.trajectory.joint(joint)["angle"]
        assert one.value == pytest.approx(sign * found.coordinates["2-3.angle"], abs=1e-9)
        assert one.rate == pytest.approx(sign * found.trajectory.joint("2-3")["angle"].rate, abs=1e-8)
