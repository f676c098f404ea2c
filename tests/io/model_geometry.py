"""Points, distances and angles of mechanisms, for tests of the built-in models."""

import math
from collections.abc import Iterable

from mbssa.mechanism import JointGeometry, Mechanism, Vector


def geometry(mechanism: Mechanism, joint: str) -> JointGeometry:
    found = mechanism.joint(joint).geometry
    assert found is not None
    return found


def point(mechanism: Mechanism, joint: str) -> Vector:
    found = geometry(mechanism, joint).point
    assert found is not None
    return found


def distance(mechanism: Mechanism, first: str, second: str) -> float:
    return math.dist(point(mechanism, first), point(mechanism, second))


def dot(u: Iterable[float], v: Iterable[float]) -> float:
    return sum(a * b for a, b in zip(u, v, strict=True))


def angle_between(u: Vector, v: Vector) -> float:
    """Sine of the angle between two lines, from the cross product, sharp near 0."""
    cross = [u[i - 2] * v[i - 1] - u[i - 1] * v[i - 2] for i in range(3)]
    return math.hypot(*cross) / (math.hypot(*u) * math.hypot(*v))
