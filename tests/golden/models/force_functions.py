"""Functions of the small models with forces of one's own; SI units."""

import numpy as np


def rubber(t, value, rate):
    """A torque that grows by the cube of the angle, and damps."""
    return -20.0 * value**3 - 0.3 * rate


def strap(t, length, rate):
    """A strap that pulls where it is longer than 0.6 m."""
    return -50.0 * max(length - 0.6, 0.0)


def drag(t, position, velocity):
    """A drag by the square of the speed, in a wind that grows."""
    against = np.asarray(velocity) - np.array([0.5 * t, 0.0])
    return -0.2 * np.sqrt(against @ against) * against
