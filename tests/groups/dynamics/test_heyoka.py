"""Runs against Lagrange's equations that heyoka derives, and integrates by Taylor series, of its own."""

import math

import numpy as np
import pytest
from pendulums import double_pendulum

import groups
import mbssa

hy = pytest.importorskip("heyoka", reason='heyoka is not installed: pip install "heyoka>=7"')
pytestmark = pytest.mark.slow

GRAVITY = 9.81


def rate_of(expression, coordinates, rates):
    """Total derivative by time of an expression of the coordinates."""
    return sum(hy.diff(expression, q) * v for q, v in zip(coordinates, rates, strict=True))


def truth(energies, coordinates, rates, start, times):
    """Coordinates and rates at times, of kinetic and potential energy and a dissipation function."""
    kinetic, potential, lost = energies
    equations = hy.lagrangian(kinetic - potential, coordinates, rates, lost)
    return hy.taylor_adaptive(equations, start, tol=1e-17).propagate_grid(times)[-1]


def pendulums():
    """Two bars of 1 m, 1 kg and 0.08 kg m² in a row."""
    (a, b), (u, v) = q, w = hy.make_vars("a", "b"), hy.make_vars("u", "v")
    first = 0.5 * hy.cos(a), 0.5 * hy.sin(a)
    second = 2 * first[0] + 0.5 * hy.cos(a + b), 2 * first[1] + 0.5 * hy.sin(a + b)
    kinetic = 0.5 * sum(rate_of(x, q, w) ** 2 for x in (*first, *second))
    kinetic += 0.04 * u**2 + 0.04 * (u + v) ** 2
    energies = kinetic, GRAVITY * (first[1] + second[1]), hy.expression(0.0)
    return double_pendulum(), {"1-2.angle": 0.0, "2-3.angle": 0.0}, (energies, q, w), [0.0, 0.0, 0.0, 0.0]


CRANK, ROD, STIFFNESS, DAMPING, REST = 0.15, 0.35, 300.0, 0.05, 0.45


def slider_crank():
    """A crank with a damper and a rod; a spring between the slider and the frame's origin."""
    c, s = CRANK * math.cos(1.0), CRANK * math.sin(1.0)
    end = c + math.sqrt(ROD**2 - s**2)
    m = mbssa.Builder("planar").gravity(0.0, -GRAVITY)
    m.body("crank", inertia={"mass": 1.2, "centre": (c / 2, s / 2), "moment": 0.004})
    m.body("rod", inertia={"mass": 0.8, "centre": ((c + end) / 2, s / 2), "moment": 0.012})
    m.body("slider", inertia={"mass": 0.5, "centre": (end, 0.0)})
    m.revolute("frame", "crank", id="A", point=(0, 0), driven=True, at_reference={"angle": 1.0})
    m.revolute("crank", "rod", point=(c, s)).revolute("rod", "slider", point=(end, 0))
    m.prismatic("frame", "slider", point=(end, 0), axis=(1, 0))
    m.force("spring", bodies=("frame", "slider"), points=((0, 0), (end, 0)), stiffness=STIFFNESS, rest=REST)
    m.force("coordinate", coordinate="A.angle", damping=DAMPING)
    q, w = hy.make_vars("q", "w")
    x = CRANK * hy.cos(q) + hy.sqrt(ROD**2 - CRANK**2 * hy.sin(q) ** 2)
    y = CRANK * hy.sin(q)
    speed, turn = rate_of(x, [q], [w]), hy.diff(hy.asin(y / ROD), q) * w
    rod = (rate_of((CRANK * hy.cos(q) + x) / 2, [q], [w]), rate_of(y / 2, [q], [w]))
    kinetic = 0.5 * (0.004 + 1.2 * CRANK**2 / 4) * w**2 + 0.25 * speed**2
    kinetic += 0.4 * (rod[0] ** 2 + rod[1] ** 2) + 0.006 * turn**2
    potential = GRAVITY * (0.6 + 0.4) * y + 0.5 * STIFFNESS * (x - REST) ** 2
    energies = kinetic, potential, 0.5 * DAMPING * w**2
    return m.build(), {"A.angle": 6.0}, (energies, [q], [w]), [1.0, 6.0]


def top_and_flap():
    """In space: a body on a universal joint in the frame, and a flap hinged to it."""
    upper, lower = (0.0, 0.1, -0.4), (0.1, 0.0, -0.9)
    moments = ((0.05, 0.04, 0.02), (0.03, 0.035, 0.01))
    hinge = -0.7
    m = mbssa.Builder("spatial").gravity(0.0, 0.0, -GRAVITY)
    m.body("top", inertia={"mass": 2.0, "centre": upper, "moments": moments[0]})
    m.body("flap", inertia={"mass": 1.5, "centre": lower, "moments": moments[1]})
    m.universal("frame", "top", id="U", point=(0, 0, 0), axes=((1, 0, 0), (0, 1, 0)), driven=True)
    m.revolute("top", "flap", id="R", point=(0, 0, hinge), axis=(1, 0, 0), driven=True)
    (a, b, c), (u, v, w) = q, rates = hy.make_vars("a", "b", "c"), hy.make_vars("u", "v", "w")

    def about_x(angle, p):
        return p[0], hy.cos(angle) * p[1] - hy.sin(angle) * p[2], hy.sin(angle) * p[1] + hy.cos(angle) * p[2]

    def placed(p):
        return about_x(a, (hy.cos(b) * p[0] + hy.sin(b) * p[2], p[1], hy.cos(b) * p[2] - hy.sin(b) * p[0]))

    x, y, z = about_x(c, (lower[0], lower[1], lower[2] - hinge))
    centres = placed(upper), placed((x, y, z + hinge))
    spin = (u * hy.cos(b), v, u * hy.sin(b))  # in axes of the top
    turned = about_x(-c, spin)
    spins = spin, (turned[0] + w, turned[1], turned[2])
    kinetic = hy.expression(0.0)
    for mass, centre, about, moment in zip((2.0, 1.5), centres, spins, moments, strict=True):
        kinetic += 0.5 * mass * sum(rate_of(x, q, rates) ** 2 for x in centre)
        kinetic += 0.5 * sum(i * turn**2 for i, turn in zip(moment, about, strict=True))
    potential = GRAVITY * (2.0 * centres[0][2] + 1.5 * centres[1][2])
    start = {"U.angle_1": 1.0, "U.angle_2": -2.0, "R.angle": 3.0}
    energies = kinetic, potential, hy.expression(0.0)
    return m.build(), start, (energies, q, rates), [0.0, 0.0, 0.0, 1.0, -2.0, 3.0]


@pytest.mark.parametrize("case", [pendulums, slider_crank, top_and_flap])
@pytest.mark.parametrize("compiled", [False, True])
def test_runs_agree_to_twelve_digits(case, compiled):
    mechanism, rates, equations, start = case()
    run = groups.simulate(mechanism, 1.0, rates=rates, steps=5, tolerance=1e-13, compiled=compiled)
    found = np.transpose([run.coordinates[name] for name in rates])
    expected = truth(*equations, start, run.time)[:, : len(start) // 2]
    assert run.status == "finished"
    assert np.abs(found - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())
