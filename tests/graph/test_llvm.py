"""Graphs as machine code: the functions are those of NumPy, on every number of lanes, without a library."""

import re

import numpy as np
import pytest

from groups.engine.curves import Pieces
from groups.engine.machine import Host, Program, object_code
from mbssa.graph.llvm import Module, Writer
from mbssa.graph.nodes import (
    Graph,
    above,
    absolute,
    atan2,
    cos,
    curve,
    exp,
    largest,
    least,
    log,
    rounded,
    sin,
    sqrt,
)

HERE = Host.here()
RNG = np.random.default_rng(5)
#: Functions, the same of NumPy, and the numbers that they are tried at, besides those of FAR.
FUNCTIONS = {
    "sin": (sin, np.sin, [RNG.uniform(-1e4, 1e4, 4000)]),
    "cos": (cos, np.cos, [RNG.uniform(-1e4, 1e4, 4000)]),
    "atan2": (atan2, np.arctan2, [RNG.normal(size=4000), RNG.normal(size=4000)]),
    "exp": (exp, np.exp, [RNG.uniform(-745, 709, 4000)]),
    "log": (log, np.log, [np.exp(RNG.uniform(-700, 700, 4000))]),
    "sqrt": (sqrt, np.sqrt, [RNG.uniform(0, 1e6, 400)]),
    "abs": (absolute, np.abs, [RNG.normal(size=400)]),
    "rint": (rounded, np.rint, [RNG.uniform(-1e9, 1e9, 400)]),
    "min": (least, np.minimum, [RNG.normal(size=400), RNG.normal(size=400)]),
    "max": (largest, np.maximum, [RNG.normal(size=400), RNG.normal(size=400)]),
}  # fmt: skip


def hosts():
    """This processor with fewer lanes too."""
    return [Host(HERE.name, HERE.features, lanes) for lanes in (2, 4, 8) if lanes <= HERE.lanes]


def written(host, results, count, tables):
    """Text of a function of rows of numbers, which writes rows of results."""
    module = Module(host.lanes)
    with module.function("calculate", "ptr %X, ptr %Y, ptr %C, i64 %pitch, i64 %end") as code:
        places = {}

        def table(numbers):
            if id(numbers) not in places:
                at = code.at("%C", len(tables), "ptr", first=True)
                places[id(numbers)] = code.load(at, "ptr", first=True)
                tables.append(numbers)
            return places[id(numbers)]

        with code.loop("0", "%end", str(host.lanes)) as t:
            rows = [code.load(code.at(code.at("%X", code(f"mul i64 %pitch, {k}")), t)) for k in range(count)]
            found = Writer(code, lambda _, k: rows[k], table).write(results)
            for k, x in enumerate(found):
                code.store(x, code.at(code.at("%Y", code(f"mul i64 %pitch, {k}")), t))
    return module.text


def calculated(host, results, rows):
    """Rows of results at rows of numbers."""
    X = np.array(rows, dtype=float)
    whole = -(-X.shape[1] // host.lanes) * host.lanes
    X = np.concatenate([X, np.repeat(X[:, -1:], whole - X.shape[1], axis=1)], axis=1)
    Y, tables = np.empty((len(results), whole)), []
    text = written(host, results, len(X), tables)
    program = Program(object_code(text, host), {"calculate": "ptr, ptr, ptr, i64, i64"})
    pointers = np.array([numbers.ctypes.data for numbers in tables])
    program.calculate(X.ctypes.data, Y.ctypes.data, pointers.ctypes.data, whole, whole)
    return Y[:, : len(rows[0])]


@pytest.mark.parametrize("host", hosts(), ids=lambda host: f"{host.lanes} lanes")
def test_functions_are_those_of_numpy(host):
    for name, (function, wanted, given) in FUNCTIONS.items():
        graph = Graph()
        (found,) = calculated(host, [function(*[graph.input("x", k) for k in range(len(given))])], given)
        np.testing.assert_allclose(found, wanted(*given), rtol=4e-16, atol=2e-16, err_msg=name)


def test_what_is_no_number_stays_so():
    graph = Graph()
    x, y = (graph.input("x", k) for k in range(2))
    nan = np.nan
    found = calculated(HERE, [least(x, y), largest(x, y), least(x, 1.0), largest(2.0, x), sqrt(x), log(x)],
                       [[nan, 1.0, nan, -1.0], [1.0, nan, nan, 3.0]])  # fmt: skip
    assert np.isnan(found[:2, :3]).all()
    assert (found[:2, 3] == [-1.0, 3.0]).all()
    assert np.isnan(found[2:4, [0, 2]]).all()
    assert np.isnan(found[4:, 3]).all()


def test_exponentials_end_in_zero_and_infinity():
    graph = Graph()
    (found,) = calculated(HERE, [exp(graph.input("x", 0))], [[-1e4, -746.0, 0.0, 709.0, 710.0, 1e4]])
    assert found[[0, 1, 4, 5]].tolist() == [0.0, 0.0, np.inf, np.inf]
    np.testing.assert_allclose(found[2:4], np.exp([0.0, 709.0]), rtol=4e-16)


def test_choices_and_signs():
    graph = Graph()
    x = graph.input("x", 0)
    found = calculated(HERE, [above(x, 1.0, -1.0), -x, 2.0 * x - 1.0 / x], [[-2.0, 0.0, 0.5]])
    np.testing.assert_array_equal(found[:2], [[-1.0, -1.0, 1.0], [2.0, -0.0, -0.5]])
    np.testing.assert_allclose(found[2, [0, 2]], [-3.5, -1.0])


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("count", [1, 2, 5, 32])
def test_curves(closed, count):
    breaks = np.concatenate([[0.3], 0.3 + np.cumsum(RNG.uniform(0.1, 1.0, count))])
    period = np.ptp(breaks) if closed else 0.0
    coordinates = [Pieces(breaks, c, period) for c in RNG.normal(size=(2, count, 5))]

    def pieces(order, axis):
        return coordinates[axis] if order == 0 else pieces(order - 1, axis).derivative

    steps = Pieces(breaks, np.arange(float(count))[:, None], period)  # another curve with the same breaks
    s = np.concatenate([RNG.uniform(breaks[0] - 3, breaks[-1] + 3, 500), breaks])
    graph = Graph()
    x = graph.input("x", 0)
    wanted = [*(pieces(order, axis) for order in range(3) for axis in range(2)), steps]
    curves = [curve(x, pieces, axis, order) for order in range(3) for axis in range(2)]
    found = calculated(HERE, [*curves, curve(x, lambda order, axis: steps, 0)], [s])
    away = s[:, None] - breaks
    away -= np.round(away / period) * period if closed else 0.0
    inside = np.abs(away).min(axis=1) > 1e-12  # at a break it may be either piece
    for mine, theirs in zip(found, wanted, strict=True):
        scale = np.abs(theirs(s)[inside]).max(initial=1.0)
        np.testing.assert_allclose(mine[inside], theirs(s)[inside], atol=1e-12 * scale)


TARGETS = {
    "x86_64-pc-windows-msvc": ("x86-64", "", 2),
    "x86_64-unknown-linux-gnu": ("x86-64-v3", "", 4),
    "aarch64-unknown-linux-gnu": ("generic", "", 2),
    "arm64-apple-macosx": ("apple-m1", "", 2),
}


@pytest.mark.parametrize("triple", TARGETS)
def test_other_machines_need_no_library(triple):
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    graph, host = Graph(), Host(*TARGETS[triple])
    x = [graph.input("x", k) for k in range(60)]
    results = [
        function(*x[: len(given)]) * y
        for y in x  # so many that the stack is large
        for function, _, given in FUNCTIONS.values()
    ]
    code = object_code(written(host, results, len(x), []), host, triple)
    assert not re.search(rb"chkstk|\b_?(sin|cos|exp|log|rint|floor|fma|memcpy|memset)\b", code)
    assert b"calculate" in code
