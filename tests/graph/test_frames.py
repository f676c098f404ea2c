"""A rigid body's rule: rates of frames are those of their coordinates, of first and second order."""

import numpy as np
import pytest

from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.evaluation import evaluated
from mbssa.graph.frames import UNIT, Frame, Motion, clean, quaternion, relative
from mbssa.graph.nodes import Graph, above, cos, sin, sqrt

#: Origin and axes, by rows, of a joint on a body.
SIDE = [0.3, -0.2, 0.5], np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0].tolist()


def chain(q):
    """Turns and shifts about oblique axes, forward and back."""
    frame = Frame([0.1, 0.2, 0.3], UNIT)
    frame = frame.turn(0, q[0]).end(*SIDE).turn(2, q[1] * q[0]).shift(1, q[2])
    frame = frame.back(*SIDE).turn(1, (cos(q[3]), sin(q[3]))).shift(2, q[1] + 0.5 * q[2])
    return frame.end([0.0, 0.4, -0.1], UNIT)


def numbers(frame):
    return [*frame.place, *(x for axis in frame.axes for x in axis)]


def at(t):
    """Coordinates at a time, and two rates."""
    k = np.arange(1.0, 5.0)
    return 0.3 * k + np.sin(k * t), k * np.cos(k * t), -(k**2) * np.sin(k * t)


def rates():
    """Numbers of the chain and two derivatives by time, as functions of the coordinates and their rates."""
    graph = Graph()
    frame = chain([graph.input("q", k) for k in range(4)])
    time = Direction(lambda name, k: graph.input("d" + name, k))
    first = derivative(numbers(frame), time)
    return frame, first, derivative(first, time), time


def values(nodes, t):
    given = dict(zip(("q", "dq", "ddq"), at(t), strict=True))
    return np.array(evaluated(nodes, lambda name, k: float(given[name][k])))


def differences(nodes, t, h=1e-3):
    near = [values(nodes, t + k * h) for k in (-2, -1, 1, 2)]
    return (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h)


@pytest.mark.parametrize("t", [0.0, 0.4, 2.5])
def test_rates_of_a_chain_are_finite_differences(t):
    frame, first, second, _ = rates()
    np.testing.assert_allclose(values(numbers(frame), t), numbers(chain(at(t)[0].tolist())), atol=1e-15)
    np.testing.assert_allclose(values(first, t), differences(numbers(frame), t), atol=2e-9)
    np.testing.assert_allclose(values(second, t), differences(first, t), atol=2e-8)


def test_the_twist_carries_the_frame():
    frame, first, _, time = rates()
    linear, angular = (values(x, 0.7) for x in frame.motion.twist(time))
    place, *axes = values(numbers(frame), 0.7).reshape(4, 3)
    moved, *turned = values(first, 0.7).reshape(4, 3)
    np.testing.assert_allclose(moved, linear + np.cross(angular, place), atol=1e-14)
    np.testing.assert_allclose(turned, np.cross(angular, axes), atol=1e-14)


def test_a_body_that_was_solved_before_carries_what_hangs_on_it():
    graph = Graph()
    x = [graph.input("b", k) for k in range(3)]
    frame = Frame(x, UNIT, 0.0, Motion(None, body=7)).end([0.0, 1.0, 0.0], UNIT).shift(0, graph.input("q", 0))
    by = Direction(lambda *_: 2.0, lambda b: ([1.0, 0.0, 0.0], [0.0, 0.0, float(b)]))
    found = evaluated(derivative(frame.place, by), lambda name, k: [3.0, 4.0, 5.0][k])
    np.testing.assert_allclose(found, [1.0 - 7.0 * 5.0 + 2.0, 7.0 * 6.0, 0.0])


def test_back_undoes_end():
    frame = chain(at(1.0)[0].tolist())
    again = frame.end(*SIDE).back(*SIDE)
    np.testing.assert_allclose(numbers(again), numbers(frame), atol=1e-15)
    d, C = relative(frame, frame.end(*SIDE))
    np.testing.assert_allclose(d, SIDE[0], atol=1e-15)
    np.testing.assert_allclose(C, SIDE[1], atol=1e-15)


@pytest.mark.parametrize("seed", range(8))
def test_quaternions_turn_as_their_axes(seed):
    axes = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    axes *= np.linalg.det(axes)
    w, *v = quaternion(axes.tolist(), above, sqrt)
    assert w * w + np.dot(v, v) == pytest.approx(1.0, abs=1e-15)
    turned = [e + 2 * np.cross(v, np.cross(v, e) + w * e) for e in np.eye(3)]
    np.testing.assert_allclose(turned, axes, atol=1e-15)


def test_geometry_is_cleaned_of_rounding_alone():
    assert clean([[1.0 - 1e-16, 1e-17], [-1.0, 0.3]]) == [[1.0, 0.0], [-1.0, 0.3]]
    assert clean([1e-14]) == [1e-14]
