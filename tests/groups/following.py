"""Comparison of a coordinate of a solved motion with a formula of another one, at all three levels."""

from types import SimpleNamespace

import numpy as np

import groups
import mbssa

TURN = 2 * np.pi

#: Laws of an input over a whole turn and a bit: at constant speed, and faster and faster.
TURNING = {
    "steady": groups.speed(TURN, start=0.0),
    "unsteady": groups.polynomial(0.0, 0.3 * TURN, 0.9 * TURN, -0.1 * TURN),
}


def solved(mechanism, law=None, steps=361, duration=1.0, **options):
    """A mechanism over its own motion, or over a law of its one input; every group at every instant."""
    model = groups.build(mbssa.decompose(mechanism))
    if law is None:
        motion = groups.default_motion(mechanism, steps=steps)
    else:
        (coordinate,) = model.reference_inputs
        motion = groups.sample(mechanism, {coordinate: law}, np.linspace(0.0, duration, steps))
    trajectory = model.solve(motion, **options)
    assert trajectory.ok, trajectory.faults()
    return trajectory


def assert_follows(found, formula, driver, size=1.0, speed=1.0, within=1e-11):
    """A coordinate, or a point's, is a function of another one, with rate and acceleration by the chain rule.

    ``formula`` gives the value and its first and second derivative by the driver's coordinate; differences
    are measured by the largest value of their level, at least ``size`` times a power of
    ``speed``.
    """
    value, slope, second = (np.asarray(part).T for part in formula(driver.value))
    wanted = {
        "value": value,
        "rate": slope * driver.rate,
        "acceleration": second * driver.rate**2 + slope * driver.acceleration,
    }
    for power, (level, expected) in enumerate(wanted.items()):
        given = getattr(found, level).T
        assert given.shape == expected.shape
        scale = max(size * speed**power, np.abs(expected).max())
        assert np.abs(given - expected).max() < within * scale, level


def path(trajectory, body, point):
    """Places, velocities and accelerations (T, 2) of a point of a body."""
    of = trajectory.body(body)
    return SimpleNamespace(
        value=of.point(point), rate=of.point_velocity(point), acceleration=of.point_acceleration(point)
    )


def differentiated(function, radius=0.1, order=32):
    """A formula with its first and second derivative, by Cauchy's integrals over a circle of this radius.

    ``function`` is analytic that far around every place, and takes complex numbers; it may return a list of
    components.
    """

    def at(place):
        around = np.exp(2j * np.pi * np.arange(order) / order)
        values = np.asarray(function(np.asarray(place)[:, None] + radius * around))
        return tuple(
            factor * (values * around**-power).mean(axis=-1).real.T / radius**power
            for power, factor in enumerate((1.0, 1.0, 2.0))
        )

    return at
