"""Expressions as functions of plain numbers: values, derivatives of their nodes, and what is refused."""

import numpy as np
import pytest

from mbssa.expressions import FUNCTIONS, ExpressionError, Language, Value, function_of
from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.evaluation import evaluated
from mbssa.graph.nodes import Graph
from mbssa.units import ANGLES, LENGTHS

S = np.linspace(0.1, 2.0, 9)


def test_values_are_numpys():
    text = "-2*sin(s)**2/3 + atan2(s, 1 + s) - sqrt(abs(s - pi))*exp(-s) + log(e)"
    wanted = -2 * np.sin(S) ** 2 / 3 + np.arctan2(S, 1 + S) - np.sqrt(abs(S - np.pi)) * np.exp(-S) + 1
    assert np.allclose(function_of(text, ("s",))(S), wanted, rtol=1e-15)
    assert function_of("a*s", ("s", "a"))(2.0, 3.0) == 6.0
    assert function_of("2 * pi", ())() == 2 * np.pi
    assert function_of("1 + deg(180) + s ^ 2", ("s",))(2.0) == np.pi + 5
    for power in (-3, -0.5, 0, 1, 2, 7, 31, 2.5):
        assert np.allclose(function_of(f"s ** {power}", ("s",))(S), S**power, rtol=1e-14), power
    assert np.allclose(function_of("2 ** s + s ** s", ("s",))(S), 2**S + S**S, rtol=1e-14)
    for name, numpys in {
        "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "tan": np.tan,
        "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    }.items():  # fmt: skip
        assert np.allclose(function_of(f"{name}(s / 3)", ("s",))(S), numpys(S / 3), rtol=0, atol=1e-15), name
    assert np.isfinite(function_of("tanh(s)", ("s",))(np.array([-800.0, 800.0]))).all()


#: An expression of each function, of the vectors p, q, r and the numbers a (rad) and x (m) of one parameter.
EACH = {
    "distance": "distance(p, q)",
    "angle": "angle(p, q, r) + angle(p, q - p) + angle(p - q, r, q - r)",
    "dot": "dot(p, q - r)",
    "cross": "cross(p, q).z - cross(p, q).x",
    "norm": "norm(p + q)",
    "sqrt": "sqrt(x * p.x + 4 m^2)",
    "abs": "abs(x - 2 m) * x ** -2",
    "atan2": "atan2(x, p.y)",
    "log": "log(3 rad + a)",
    **{name: f"{name}(0.3 * a)" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp")},
    **{name: f"{name}(0.3 * sin(a))" for name in ("asin", "acos", "atan")},
    **{name: f"x ** 3 - {name}(5) * x ** 2 + 2{name} * x ^ 2" for name in LENGTHS},
    **{name: f"a / (2 {name} + a) * {name}(1)" for name in ANGLES},
}
#: Operands and their first two derivatives, at a parameter t.
OPERANDS = {
    "p": ([1.0, 0.5, -0.2], [0.3, 1.0, 0.7], [0.5, -1.0, 0.4]),
    "q": ([-0.4, 1.2, 0.9], [1.0, -0.2, 0.1], [-0.6, 0.3, 0.8]),
    "r": ([0.3, -0.7, 1.1], [-0.5, 0.4, 0.9], [0.2, 0.1, -1.0]),
    "a": ([0.4], [0.8], [-0.3]),
    "x": ([0.9], [-0.6], [0.5]),
}


def values_at(results, t):
    """Values of nodes on the parabolas through the operands at t."""

    def operand(name, key):
        level, k = key
        place, rate, bend = (part[k] for part in OPERANDS[name])
        return np.array([(place + rate * t + 0.5 * bend * t * t, rate + bend * t, bend)[level]])

    return np.array([np.ravel(value)[0] for value in evaluated(results, operand)])


def test_rates_of_every_function_are_finite_differences():
    assert set(EACH) == set(FUNCTIONS)
    for name, text in EACH.items():
        graph = Graph()
        numbers = {n: [graph.input(n, (0, k)) for k in range(len(OPERANDS[n][0]))] for n in OPERANDS}
        units = {"a": (0, 1)}
        found = {
            n: Value(x if len(x) == 3 else x[0], units.get(n, (1, 0)), is_point=len(x) == 3)
            for n, x in numbers.items()
        }
        value = Language(found.get, tuple(OPERANDS)).value(text).number
        along = Direction(lambda n, key, graph=graph: graph.input(n, (key[0] + 1, key[1])))
        (rate,) = derivative([value], along)
        (second,) = derivative([rate], along)
        h = 1e-4
        before, here, after = (values_at([value, rate, second], t) for t in (-h, 0.0, h))
        assert here[1] == pytest.approx((after[0] - before[0]) / (2 * h), rel=1e-6, abs=1e-7), name
        assert here[2] == pytest.approx((after[1] - before[1]) / (2 * h), rel=1e-6, abs=1e-7), name
        assert abs(here[1]) > 1e-3, name


def test_an_angle_by_three_points_is_that_at_the_second():
    points = {"A": [3.0, 1.0, 0.0], "B": [1.0, 1.0, 0.0], "C": [1.0, 5.0, 0.0], "D": [4.0, 4.0, 0.0]}
    language = Language(lambda name: Value(points[name], (1, 0), is_point=True), tuple(points))
    for text, degrees in {
        "angle(A, B, C)": 90, "angle(C, B, A)": 90, "angle(A, B, D)": 45,
        "angle(A - B, D - B, cross(A - B, C - B))": 45, "angle(D - B, A - B, cross(A - B, C - B))": -45,
    }.items():  # fmt: skip
        value = language.value(text)
        assert (value.number, value.si) == (pytest.approx(np.deg2rad(degrees)), "rad"), text
    assert language.value("distance(A + (C - B), A)").number == 4.0


def test_units_of_a_function_are_checked():
    follower = function_of("5 mm + 2 mm * cos(3*s)", ("s",), "m", 0.001)
    assert np.allclose(follower(S), 0.005 + 0.002 * np.cos(3 * S), rtol=1e-15)
    assert np.allclose(function_of("5 + 2*cos(3*s)", ("s",), "m", 0.001)(S), follower(S), rtol=1e-15)
    with pytest.raises(ExpressionError, match=r"5 mm \+ s: m and a number have no sum"):
        function_of("5 mm + s", ("s",), "m", 0.001)
    with pytest.raises(ExpressionError, match=r"is in m\^2; write numbers without units, or in m"):
        function_of("5 mm * (1 mm)", ("s",), "m", 0.001)


#: What is no function of s, and the refusal.
REFUSED = {
    "0.1 + cis(s)": "did you mean 'cos'",
    "50 + 10*cosine(3*s)": r"did you mean 'cos'\?",
    "Sine(s)": r"did you mean 'sin'\?",
    "tanhyp(s)": r"did you mean 'tanh'\?",
    "arctan2(s, 1)": r"did you mean 'atan2'\?",
    "0.1 + t": "there is no 't'; there are s",
    "0.1*(s": "cannot be read",
    "sin": r"write sin\(…\)",
    "sin(s, 2)": "sin takes 1 argument, not 2",
    "__import__('os').system('true')": "not allowed",
    "s.real": "no 's.real'",
    "[s][0]": "not allowed",
    "(lambda: s)()": "not allowed",
    "'s'*9": "not allowed",
    "True": "not allowed",
    "2j": "not allowed",
    "_0_": "underscores and digits",
    "e_0_ + s_1_": "no 'e_0_'",
    "1 if s else 2": "not allowed",
    "(s := 2)": "not allowed",
    "9" * 1500: "no finite number",
    "9**9**9**9": r"9 \*\* 9 \*\* 9 is no finite number",
    "1 / 0 + s": "1 / 0 is no finite number",
    "s * sqrt(-1)": r"sqrt\(-1\) is no finite number",
    "log(0) * s": "no finite number",
    "(-8) ** 0.5": "no finite number",
    "s" + "+s" * 2000: "2,000 at most",
    "(" * 900 + "s" + ")" * 900: "cannot be read|nested too deeply",
    "-" * 1500 + "s": "cannot be read|nested too deeply",
}


def test_what_is_no_expression_is_refused_and_never_run():
    for text, said in REFUSED.items():
        with pytest.raises(ExpressionError, match=said):
            function_of(text, ("s",))


def test_an_angle_is_added_to_no_length():
    """A number without a unit is a length there: 50 mm and 10 degrees have no sum."""
    for text in ("50 + 10 deg * cos(3*s)", "10 deg * cos(s) - 3", "50 + rad(1)"):
        with pytest.raises(ExpressionError, match=r"has no unit, the other is in rad"):
            function_of(text, ("s",), "m", 1e-3)
    with pytest.raises(ExpressionError, match="is in rad; write numbers without units, or in m"):
        function_of("10 deg * s", ("s",), "m", 1e-3)
    for text, wanted in {
        "50 + 5 * (s - 90 deg)": 50 + 5 * (S - np.pi / 2),
        "50 * (1 - s / (90 deg))": 50 - 50 * S / (np.pi / 2),
        "50 + 10 * atan(s) + 2 * sin(pi / 2 + 10 deg)": 50
        + 10 * np.arctan(S)
        + 2 * np.sin(np.pi / 2 + np.radians(10)),
    }.items():
        np.testing.assert_allclose(function_of(text, ("s",), "m", 1e-3)(S), 1e-3 * wanted, rtol=1e-14)
