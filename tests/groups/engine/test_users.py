"""Users' functions in the engine: traced where that gives the same numbers, called where not."""

import numpy as np
import pytest
from random_mechanisms import CARRIERS, random_mechanism, swing

import groups
import mbssa
from groups.engine.solve import plan_of
from groups.engine.users import Opaque, OpaqueError, traced
from groups.trajectory import STATUS
from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.evaluation import evaluated
from mbssa.graph.frames import Frame
from mbssa.graph.nodes import Graph
from mbssa.joints.poses import Poses
from mbssa.joints.user import UserFunction

ROD = 0.3


def rod(q):
    return np.sqrt((q[1, 0] - q[0, 0]) ** 2 + (q[1, 1] - q[0, 1]) ** 2) - ROD


def by_equality(q):
    return rod(q) + (0.0 if q[0, 0] == 0.1 else 0.0 * q[0, 1])


def by_membership(q):
    return rod(q) + (0.0 if q[0, 0] in (0.1, 0.2) else 0.0 * q[0, 1])


def by_key(q):
    return rod(q) + {0.1: 0.0}.get(q[0, 0], 0.0)


def by_real_part(q):
    return rod(q) + 0.0 * q[0, 0].real


def by_table(q):
    """A table is read for the real part; the rest is by its tangent."""
    return rod(q) + 0.0 * (np.interp(q[0, 0].real, [-1.0, 1.0], [-1.0, 1.0]) + (q[0, 0] - q[0, 0].real))


def swallows(q):
    """The traced function differs from the called one."""
    try:
        return rod(q) + 0.0 * float(np.real(q[0, 0]))
    except TypeError:
        return q[0, 0] * q[1, 1]


def real(q):
    return max(rod(q), -1.0)


def slope(q):
    along = (q[1] - q[0]) * np.array([1.0, 1.0, 0.0])
    along = along / np.sqrt(np.sum(along**2))
    return np.stack((-along, along))


#: Whether they can be traced.
RODS = {
    rod: True, by_equality: False, by_membership: False, by_key: False, by_real_part: False, by_table: False,
    swallows: False, real: False,
}  # fmt: skip


def slider(function, derivative=None):
    """Crank of 0.1, rod of 0.3 by the function."""
    builder = {
        "format": 1, "space": "planar",
        "body": [{"name": "crank", "origin": [0.1, 0.0]}, {"name": "ram", "origin": [0.4, 0.0]}],
        "joint": [
            {"bodies": ["frame", "crank"], "type": "R", "driven": ["angle"], "point": [0.0, 0.0]},
            {"bodies": ["frame", "ram"], "type": "P", "point": [0.4, 0.0], "axis": [1.0, 0.0]},
            {"bodies": ["crank", "ram"], "id": "rod", "type": "USER", "function": function, "unit": "m"}
            | ({} if derivative is None else {"derivative": derivative}),
        ],
    }  # fmt: skip
    return groups.build(mbssa.decompose(mbssa.load(builder)))


def turned(model, steps=41):
    time = np.linspace(0.0, 1.0, steps)
    motion = groups.sample(model.mechanism, {"1-2.angle": groups.polynomial(0.0, 2 * np.pi)}, time)
    return model.solve(motion, compiled=False, branch="checked")


@pytest.mark.parametrize("function", RODS, ids=lambda function: function.__name__)
def test_all_rods_are_one_rod(function):
    """x = r cos + sqrt(l² - r² sin²), and its derivatives at a constant speed."""
    model = slider(function, slope if function is real else None)
    trajectory = turned(model)
    assert trajectory.ok, trajectory.faults()
    nodes = [node for part in plan_of(model).parts for node in part.routine.graph.nodes]
    assert any(op == "user" for op, _, _ in nodes) is not RODS[function]
    turn, w = 2 * np.pi * trajectory.time, 2 * np.pi
    s, c = 0.1 * np.sin(turn), 0.1 * np.cos(turn)
    across = np.sqrt(ROD**2 - s**2)
    ram = trajectory.body("ram")
    for level, wanted in (
        (ram.position, c + across),
        (ram.velocity, w * (-s - s * c / across)),
        (ram.acceleration, w**2 * (-c - (c**2 - s**2) / across - (s * c) ** 2 / across**3)),
    ):
        assert np.abs(level[:, 0] - wanted).max() < 1e-11 * np.abs(wanted).max()


def test_a_step_by_equality_is_no_answer_of_the_other_branch():
    """The rod is longer everywhere but at the reference."""
    trajectory = turned(slider(lambda q: rod(q) - (0.0 if q[0, 0] == 0.1 else 0.05), slope), 5)
    reach = trajectory.body("ram").position[1:4, 0]
    turn = 2 * np.pi * trajectory.time[1:4]
    wanted = 0.1 * np.cos(turn) + np.sqrt(0.35**2 - (0.1 * np.sin(turn)) ** 2)
    solved = np.isfinite(reach)
    np.testing.assert_allclose(reach[solved], wanted[solved], rtol=1e-9)


def test_an_exception_on_the_way_ends_the_run_by_name():
    def late(q):
        if q[0, 0].real < 0.05:
            raise RuntimeError("behind the wall")
        return rod(q)

    with pytest.raises(ValueError, match=r"^joint rod: .*late: RuntimeError: behind the wall"):
        turned(slider(late))


def test_a_pivot_that_is_zero_by_structure_is_singular():
    model = groups.build(mbssa.decompose(random_mechanism([*CARRIERS, "b c PL", "a c PL"], 162651)))
    trajectory = model.solve(swing(model, 0.6, 9, seed=162651), compiled=False, branch="checked")
    assert STATUS[trajectory.status[0, 2]] == "singular"
    assert not trajectory.ok


# --- functions by themselves -------------------------------------------------------------------------


def saddle(p, R):
    at = R[0].T @ (p[1] + R[1] @ np.array([0.4, 0.2, 0.38]) - p[0])
    return at[2] - 0.3 - at[0] * at[1] + np.exp(0.1 * R[1, 0, 0]) * np.sin(p[1, 2])


def saddle_that_is_called(p, R):
    return saddle(p, R) + 0.0 * R[0, 0, 0].real


def saddle_by_twists(p, R):
    """Complex steps of turns about the world's axes."""
    found = np.zeros((2, 6))
    for k in range(2):
        for i in range(3):
            q, S, turn = p.astype(complex), R.astype(complex), np.zeros((3, 3))
            q[k, i] += 1e-30j
            found[k, i] = saddle(q, S).imag / 1e-30
            turn[(i + 2) % 3, (i + 1) % 3], turn[(i + 1) % 3, (i + 2) % 3] = 1.0, -1.0
            S[k] += 1e-30j * (turn @ S[k])
            found[k, 3 + i] = saddle(p + 0j, S).imag / 1e-30
    return found


@pytest.mark.parametrize("lives", ["floats", "arrays"])
@pytest.mark.parametrize("derivative_key", [None, saddle_by_twists])
def test_functions_in_space_that_are_called_have_the_traced_ones_rates(derivative_key, lives):
    """Value, and both rates by time, of two bodies that turn and move."""
    reference = Poses.of(np.array([[0.0, 0.0, 0.0], [0.3, 0.1, 0.2]]))

    def rates(function):
        graph = Graph()
        frames = []
        for k in range(2):
            x = [graph.input("q", 4 * k + i) for i in range(4)]
            frame = Frame(reference.position[k].tolist(), np.eye(3).tolist()).turn(0, x[0]).turn(1, x[1])
            frames.append(frame.turn(2, x[2]).shift(0, x[3]))
        time = Direction(lambda name, k: graph.input("d" + name, k))
        value = traced(function, frames, reference, "saddle")
        first = derivative([value], time)
        nodes = [value, *first, *derivative(first, time)]
        assert any(op == "user" for op, _, _ in graph.nodes) is (function.source is saddle_that_is_called)
        random = np.random.default_rng(4)
        given = {name: random.normal(size=(8, 3)) for name in ("q", "dq", "ddq")}
        if lives == "arrays":
            return np.array(evaluated(nodes, lambda name, k: given[name][k]))
        return np.array([evaluated(nodes, lambda name, k, t=t: float(given[name][k, t])) for t in range(3)]).T

    wanted = rates(UserFunction(saddle, 2, False))
    found = rates(UserFunction(saddle_that_is_called, 2, False, derivative_key))
    np.testing.assert_allclose(found[:2], wanted[:2], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[2], wanted[2], rtol=1e-9, atol=1e-9)


def test_second_derivative_is_good_whatever_the_speed_and_the_size():
    def squared(q):
        return (q[0, 0] - q[1, 0]) ** 2 + q[0, 1] * np.sin(q[1, 2])

    x, v = np.random.default_rng(5).normal(size=(2, 6))
    exact = 2 * (v[0] - v[3]) ** 2 + 2 * v[1] * v[5] * np.cos(x[5]) - x[1] * v[5] ** 2 * np.sin(x[5])
    for size in (0.03, 1.0, 30.0):
        for faster in (1e-6, 1.0, 1e6):
            second = Opaque(UserFunction(squared, 2, True, size=size), "squared").of(2)
            found = second(*x, *(faster * v), *(faster * v)) / faster**2
            assert found == pytest.approx(exact, rel=1e-8), (faster, size)


def test_a_derivative_of_another_shape_and_what_is_no_number_end_the_run():
    for function, key, message in (
        (rod, lambda q: q[:1], "shape"),
        (lambda q: "long", None, "ValueError"),
        (lambda q: None, None, "TypeError"),
    ):
        opaque = Opaque(UserFunction(function, 2, True, key), "rod")
        with pytest.raises(OpaqueError, match=message):
            opaque.of(1 if key else 0)(*[0.1, 0.2, 0.3, 0.4, 0.5, 0.6] * (2 if key else 1))


def test_nan_is_not_handed_to_functions():
    asked = []
    opaque = Opaque(UserFunction(lambda q: asked.append(1) or 1.0, 1, True), "rod")
    assert np.isnan(opaque.of(0)(0.0, np.nan, 0.0))
    np.testing.assert_array_equal(opaque.of(0)(np.array([0.0, np.nan]), 0.0, 0.0), [1.0, np.nan])
    assert len(asked) == 1


def guarded(q):
    """A branch that is taken for numbers only, far from the reference."""
    if q.dtype in (float, complex) and q[0, 2].real > 2:
        return q[1, 1] - 0.1 * (q[0, 2] - 2) ** 2
    return q[1, 1]


def caught(q):
    try:
        if q[0, 2].real > 2:
            return q[1, 1] - 0.1 * (q[0, 2] - 2) ** 2
    except TypeError:
        pass
    return q[1, 1]


@pytest.mark.parametrize("function", [guarded, caught])
def test_what_a_function_asks_for_far_from_the_reference_is_met(function):
    made = mbssa.Builder("planar").body("crank").body("slider")
    made.joint("R", "frame", "crank", point=(0.0, 0.0), driven=True)
    made.joint("P", "frame", "slider", point=(0.0, 0.0), axis=(0.0, 1.0))
    made.joint("USER", "crank", "slider", function=function, unit="m")
    model = groups.build(mbssa.decompose(made.build()))
    motion = groups.sample(model.mechanism, {"1-2.angle": groups.speed(3.0)}, np.linspace(0.0, 1.0, 7))
    place = model.solve(motion, compiled=False).body("slider").position[:, 1]
    np.testing.assert_allclose(place, 0.1 * np.maximum(3.0 * motion.time - 2.0, 0.0) ** 2, atol=1e-12)
