"""Algorithms written once: the same numbers as Python and as machine code, and as written by hand."""

import ctypes
import math

import numpy as np
import pytest

from groups.engine.machine import Host, Program, object_code
from mbssa.graph.nodes import Graph, sin, sqrt
from mbssa.graph.script import CallbackError, MachineScript, PythonScript

#: Places: numbers 0 … 9, a sum, a root, a count.
SUM, ROOT, TIME = 10, 11, 12
COUNT = 0


def write(c):
    """Sum of x sin x of the positive numbers up to the first above 5, their number, a root of the last."""
    graph = Graph()
    x = graph.input("x", 0)
    with c.function("run", ROOT):
        c.ask()
        total, k = c.variable(c.value(0.0, "number")), c.variable(c.value(0, "whole"))
        c.put_whole(COUNT, 0)
        with c.repeat():
            at = k.get()
            given = c.number(at)
            with c.when((given > 0.0) & (given <= 5.0)):
                formula = c.formulas(lambda *_: at, [sin(x) * x])
                total.set(total.get() + formula([sin(x) * x])[0])
                c.put_whole(COUNT, c.whole(COUNT) + 1)
            k.set(at + 1)
            c.leave((given > 5.0) | (at >= 9))
        c.put(SUM, total.get() + c.number(TIME))
        last = c.formulas(lambda *_: 9, [sqrt(x)])
        c.put(ROOT, last([sqrt(x)])[0])


def by_hand(numbers, time):
    total, count = time, 0
    for x in numbers:
        if 0.0 < x <= 5.0:
            total, count = total + math.sin(x) * x, count + 1
        if x > 5.0:
            break
    return total, count


def in_python(numbers, time, write=write):
    script = PythonScript()
    write(script)

    def ask(m, _):
        m[TIME] = time

    m, p = [*numbers, 0.0, 0.0, 0.0], [0]
    script.made(ask)["run"](m, p)
    return np.array(m), p[COUNT]


def in_machine_code(numbers, time, write=write):
    script = MachineScript()
    write(script)
    program = Program(object_code(script.text, Host.here()), {"run": "ptr, ptr, ptr, ptr"})
    m, p = np.array([*numbers, 0.0, 0.0, 0.0]), np.zeros(1, dtype=np.int64)

    def ask(_):
        m[TIME] = time

    kept = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ask)
    program.run(m.ctypes.data, p.ctypes.data, ctypes.cast(kept, ctypes.c_void_p), None)
    return m, p[COUNT]


def write_choices(c):
    """A number, a whole number and a condition, each chosen by the sign of the first number."""
    with c.function("run", ROOT):
        x, y = c.number(0), c.number(1)
        c.put(SUM, c.chosen(x > 0.0, x, y))
        c.put_whole(COUNT, c.chosen(x > 0.0, c.value(1, "whole"), c.value(2, "whole")))
        with c.when(c.chosen(x > 0.0, y > 0.0, y <= 0.0)):
            c.put(ROOT, 1.0)


@pytest.mark.parametrize("run", [in_python, in_machine_code])
def test_values_of_each_kind_are_chosen(run):
    for x in (-1.0, 1.0):
        for y in (-2.0, 2.0):
            m, count = run([x, y, *[0.0] * 8], 0.0, write_choices)
            right = (x, 1, y > 0.0) if x > 0.0 else (y, 2, y <= 0.0)
            assert (m[SUM], count, m[ROOT]) == right


@pytest.mark.parametrize("run", [in_python, in_machine_code])
def test_loops_conditions_and_formulas(run):
    random = np.random.default_rng(5)
    for _ in range(20):
        numbers = [*random.uniform(-3, 5.5, 9).tolist(), 2.0]
        m, count = run(numbers, 0.25)
        total, right = by_hand(numbers, 0.25)
        assert count == right
        assert m[SUM] == pytest.approx(total, abs=1e-13)
        assert m[ROOT] == pytest.approx(math.sqrt(2.0))


@pytest.mark.parametrize("run", [in_python, in_machine_code])
def test_what_does_not_exist_is_nan(run):
    m, _ = run([1.0] * 9 + [-2.0], 0.0)
    assert math.isnan(m[ROOT])


def test_an_exception_from_outside_is_no_fault_of_the_numbers():
    script = PythonScript()
    write(script)

    def ask(*_):
        raise ValueError("behind the wall")

    with pytest.raises(CallbackError) as caught:
        script.made(ask)["run"]([1.0] * 13, [0])
    assert "behind the wall" in str(caught.value.__cause__)
