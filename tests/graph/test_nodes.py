"""Laws of the expression graph: folding, refusals, derivatives of every operation, printed source."""

from operator import eq

import numpy as np
import pytest

from groups.engine.curves import Pieces
from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.evaluation import evaluated
from mbssa.graph.nodes import (
    FUNCTIONS,
    Graph,
    above,
    absolute,
    add,
    atan2,
    cos,
    curve,
    div,
    exp,
    is_node,
    largest,
    least,
    log,
    mul,
    neg,
    rounded,
    sin,
    sqrt,
    sub,
)
from mbssa.graph.source import functions


def inputs(n):
    graph = Graph()
    return [graph.input("q", k) for k in range(n)]


def cubic(order, axis):
    """A curve with derivatives: s³, or twice that."""
    if order:
        return cubic(order - 1, axis).derivative
    return Pieces(np.array([0.0, 1.0]), np.array([[1.0 + axis, 0.0, 0.0, 0.0]]), 0.0)


#: Every operation as a function of two numbers.
OPERATIONS = {
    "+": add, "-": sub, "*": mul, "/": div, "neg": lambda x, _: neg(x),
    "sqrt": lambda x, _: sqrt(x), "sin": lambda x, _: sin(x), "cos": lambda x, _: cos(x),
    "exp": lambda x, _: exp(x), "log": lambda x, _: log(x), "atan2": atan2,
    "abs": lambda x, y: absolute(x - y), "min": least, "max": largest,
    "rint": lambda x, _: rounded(x), "above": lambda x, y: above(x - y, x * x, y),
    "curve": lambda x, _: curve(x, cubic, 1),
}  # fmt: skip
#: Formulas in which operations meet, as users write them.
FORMULAS = {
    "powers": lambda x, y: x**3 + y**-2 + x**0.5 + x**1.5 + 2.0**y + x**y + x**0,
    "NumPy's functions": lambda x, y: (
        np.sin(x) + np.cos(y) + np.tan(x) + np.exp(y) + np.log(x) + np.sqrt(y)
        + np.arctan(x) + np.arctan2(x, y) + np.hypot(x, y) + np.arcsin(x / 3) * np.arccos(y / 3) + abs(-x)
    ),
    "arrays": lambda x, y: (
        np.array([x, 2.0, y]) @ (np.array([0.5, 0.25, 3.0]) * y) + np.cross([x, y, 1.0], [0.3, 0.2, 0.1])[1]
        + np.sum(np.array([[x, y], [y, x]]).T ** 2) + np.linalg.norm(np.array([x, y]))
    ),
}  # fmt: skip
BOTH = OPERATIONS | FORMULAS
POINTS = np.array([[0.7, 1.3], [1.9, 0.4], [2.2, 2.1]])


def test_every_operation_is_tried():
    assert {*FUNCTIONS, "+", "-", "*", "/", "neg", "curve"} == OPERATIONS.keys()


def test_equal_expressions_are_one_node():
    x, y = inputs(2)
    assert ((x + y) * sin(x)).i == (sin(x) * (y + x)).i
    assert (x - y).i != (y - x).i
    assert (-(x - y)).i == (y - x).i
    assert (x + -y).i == (x - y).i
    assert (-x * y).i == (-(y * x)).i


def test_zeros_and_ones_are_folded():
    (x,) = inputs(1)
    for same in (x + 0.0, 0.0 + x, x - 0.0, x * 1.0, 1.0 * x, x / 1.0, x**1, neg(-x), +x):
        assert same.i == x.i
    for zero in (x * 0.0, 0.0 * x, 0.0 / x, x - x):
        assert not is_node(zero)
        assert zero == 0.0
    assert (0.0 - x).op == (x * -1.0).op == "neg"
    assert add(2.0, 3.0) == 5.0
    assert derivative([2.0, x * x], Direction(lambda *_: 0.0)) == [0.0, 0.0]


@pytest.mark.parametrize(
    "decide",
    [
        lambda x, y: x == y, lambda x, y: x != 0.0, lambda x, y: eq(0.5, x), lambda x, y: x in (0.0, 1.0),
        lambda x, y: y in np.array([x, 1.0], dtype=object), lambda x, y: np.float64(1.0) == x,
        lambda x, y: np.array([x, y]) == 0.0, lambda x, y: x < y, lambda x, y: x >= 0.0,
        lambda x, y: bool(x), lambda x, y: 1.0 if x else 0.0, lambda x, y: not y, lambda x, y: x and y,
        lambda x, y: np.any([x, y]), lambda x, y: float(x), lambda x, y: int(x), lambda x, y: complex(x),
        lambda x, y: hash(x), lambda x, y: {x: 1}, lambda x, y: np.maximum(x, y),
        lambda x, y: max(x, y), lambda x, y: np.interp(x, [0.0, 1.0], [0.0, 1.0]), lambda x, y: round(x),
        lambda x, y: np.isnan(x), lambda x, y: [0][x],
    ],
)  # fmt: skip
def test_nodes_refuse_to_decide(decide):
    with pytest.raises(TypeError):
        decide(*inputs(2))


@pytest.mark.parametrize("name", BOTH)
def test_printed_source_is_direct_evaluation(name):
    x, y = inputs(2)
    (floats, arrays), used = functions("f", [], [BOTH[name](x, y)])
    assert used == []
    wanted = [float(BOTH[name](*point)) for point in POINTS.tolist()]
    np.testing.assert_allclose([floats((), (), point)[0] for point in POINTS.tolist()], wanted, rtol=1e-14)
    np.testing.assert_allclose(arrays((), (), POINTS.T)[0], wanted, rtol=1e-14)
    node = BOTH[name](x, y)
    np.testing.assert_allclose(evaluated([node], lambda _, k: POINTS.T[k])[0], wanted, rtol=1e-14)


@pytest.mark.parametrize("name", BOTH)
def test_derivatives_are_finite_differences(name):
    """First and second along (1, 0.5), fourth order; kinks and steps are elsewhere."""
    x, y = inputs(2)

    def rate(_, k):
        return (1.0, 0.5)[k]

    first = derivative([BOTH[name](x, y)], Direction(rate))
    second = derivative(first, Direction(rate))
    h, way = 1e-3, np.array([1.0, 0.5])

    def value(node, point):
        return float(evaluated(node, lambda _, k: float(point[k]))[0])

    for point in POINTS:
        for node, slope in (([BOTH[name](x, y)], first), (first, second)):
            near = [value(node, point + k * h * way) for k in (-2, -1, 1, 2)]
            differences = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h)
            assert value(slope, point) == pytest.approx(differences, rel=1e-8, abs=1e-8)


def test_derivatives_of_analytic_formulas_are_complex_steps():
    """Exact to rounding."""

    def formula(x, y):
        return np.exp(np.sin(x) * y) / (x * x + np.sqrt(y)) - np.log(x + y) * np.cos(x / y)

    x, y = inputs(2)
    (slope,) = derivative([formula(x, y)], Direction(lambda _, k: float(k == 0)))
    for a, b in POINTS.tolist():
        exact = formula(a + 1e-30j, b).imag / 1e-30
        assert evaluated([slope], lambda _, k, at=(a, b): at[k])[0] == pytest.approx(exact, rel=1e-13)


def test_deep_expressions_have_derivatives_and_source():
    """Neither recursion nor Python's limit of nested parentheses ends them."""
    (x,) = inputs(1)
    y = x
    for _ in range(3000):
        y = sin(y) + 1.0
    (slope,) = derivative([y], Direction(lambda *_: 1.0))
    (floats, _), _ = functions("f", [], [y, slope])
    value, rate = floats((), (), (0.3,))
    exact = 0.3 + 1e-30j
    for _ in range(3000):
        exact = np.sin(exact) + 1.0
    assert value == pytest.approx(exact.real, rel=1e-13)
    assert rate == pytest.approx(exact.imag / 1e-30, rel=1e-9, abs=1e-300)


def test_stages_are_inputs_of_what_follows():
    graph = Graph()
    q, rate, g = graph.input("q", 0), graph.input("dq", 0), graph.input("g", 0)
    one, other = graph.input("u", 3), graph.input("b", (1, 2))
    (floats, arrays), used = functions("f", [("dq", [q * one])], [rate * rate + other, g, 2.0, rate])
    assert used == [("u", 3), ("b", (1, 2))]
    assert floats([3.0, 0.5], [7.0], [2.0]) == (36.5, 7.0, 2.0, 6.0)
    found = arrays([np.array([3.0, 1.0]), 0.5], [7.0], [2.0])
    np.testing.assert_array_equal(found[0], [36.5, 4.5])
    (floats, _), _ = functions("f", [("dq", [1.5])], [rate * rate])
    assert floats([], []) == (2.25,)


def test_what_is_not_finite_can_be_printed():
    graph = Graph()
    x = graph.input("q", 0)
    (floats, arrays), _ = functions("f", [], [x * np.inf, x + np.nan, -np.inf])
    for life in (floats, arrays):
        np.testing.assert_array_equal(life([], [], [2.0]), [np.inf, np.nan, -np.inf])


@pytest.mark.parametrize("function", [least, largest])
def test_the_least_and_the_largest_of_nan_are_nan(function):
    x, y = inputs(2)
    (floats, arrays), _ = functions("f", [], [function(x, y)])
    for pair in ((1.0, np.nan), (np.nan, 1.0)):
        assert np.isnan(function(*pair))
        assert np.isnan(floats((), (), pair)[0])
        assert np.isnan(arrays((), (), np.array(pair)[:, None])[0]).all()
