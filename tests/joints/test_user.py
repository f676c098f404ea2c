"""Users' functions: derivatives are derivatives, faults have names, and what is no function is refused."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbssa.joints.poses import Poses
from mbssa.joints.user import UserFunction, check_function, value_and_derivative
from mbssa.trust import VARIABLE


@pytest.fixture(autouse=True)
def _functions_of_files_are_trusted(monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")


def rod(q):
    """Distance of a point of body 1 from the origin of body 2."""
    x = q[0, 0] + 0.3 * np.cos(q[0, 2]) - q[1, 0]
    y = q[0, 1] + 0.3 * np.sin(q[0, 2]) - q[1, 1]
    return np.sqrt(x**2 + y**2) - 1.0


def rod_derivative(q):
    x = q[0, 0] + 0.3 * np.cos(q[0, 2]) - q[1, 0]
    y = q[0, 1] + 0.3 * np.sin(q[0, 2]) - q[1, 1]
    d = np.hypot(x, y)
    turning = 0.3 * (y * np.cos(q[0, 2]) - x * np.sin(q[0, 2]))
    return np.array([[x, y, turning], [-x, -y, 0.0]]) / d


def leg(p, R):
    """Distance of two points of two bodies."""
    along = p[0] + R[0] @ np.array([0.1, 0.2, 0.3]) - p[1] - R[1] @ np.array([-0.2, 0.1, 0.4])
    return np.sqrt(np.sum(along**2)) - 0.5


def leg_derivative(p, R):
    arms = R[0] @ np.array([0.1, 0.2, 0.3]), R[1] @ np.array([-0.2, 0.1, 0.4])
    along = p[0] + arms[0] - p[1] - arms[1]
    along = along / np.linalg.norm(along)
    return np.array([[*along, *np.cross(arms[0], along)], [*-along, *-np.cross(arms[1], along)]])


FUNCTIONS = {
    "planar": UserFunction(rod, 2, True),
    "spatial": UserFunction(leg, 2, False),
    "planar, given": UserFunction(rod, 2, True, rod_derivative),
    "spatial, given": UserFunction(leg, 2, False, leg_derivative),
}


class Moving:
    """Two bodies at a random pose, moving at random."""

    def __init__(self, seed, planar):
        rng = np.random.default_rng(seed)
        self.planar = planar
        self.P, self.V = rng.normal(size=(2, 3)), rng.normal(size=(2, 6))
        self.T = rng.normal(size=2) * 5
        self.R = Rotation.random(2, random_state=rng).as_matrix()
        if planar:
            self.P[:, 2], self.V[:, 2:5] = 0.0, 0.0
            self.R = Rotation.from_rotvec(self.T[:, None] * [0.0, 0.0, 1.0]).as_matrix()

    def after(self, time, body=None, twist=None):
        """The poses a time later at constant twists; or at another twist of one body, the others at rest."""
        V = self.V if twist is None else np.zeros((2, 6))
        if twist is not None:
            V[body] = twist
        turned = Rotation.from_rotvec(time * V[:, 3:]).as_matrix() @ self.R
        return Poses(self.P + time * V[:, :3], turned, self.T + time * V[:, 5])


def test_derivatives_are_those_of_the_value():
    for seed in range(3):
        for name in FUNCTIONS:
            function = FUNCTIONS[name]
            poses = Moving(seed, function.planar)
            value, found = value_and_derivative(function, poses.after(0.0))
            assert value == pytest.approx(
                value_and_derivative(FUNCTIONS[name[:7].rstrip(",")], poses.after(0.0))[0]
            ), (name, seed)
            h = 1e-5
            for body in range(2):
                for i, unit in enumerate(np.eye(6)):
                    ahead, behind = (
                        value_and_derivative(function, poses.after(time, body, unit))[0] for time in (h, -h)
                    )
                    wanted = 0.0 if function.planar and i in (2, 3, 4) else (ahead - behind) / (2 * h)
                    assert found[body, i] == pytest.approx(wanted, abs=1e-8), (name, seed)


def test_the_planar_angle_is_unwrapped():
    belt = UserFunction(lambda q: q[0, 2] - 2 * q[1, 2], 2, True)
    value, _ = value_and_derivative(belt, Poses.of(np.zeros((2, 3)), angle=np.array([20.0, 7.0])))
    assert value == 6.0


# --- checking --------------------------------------------------------------------------------------


def test_sound_functions_pass():
    for name in FUNCTIONS:
        function = FUNCTIONS[name]
        poses = Moving(2, function.planar)
        check_function(function, poses.after(0.0))


def _in_place(q):
    q[0, 0] = 0.0
    return q[0, 1]


def _math(q):
    import math

    return math.cos(q[0, 2])


UNSOUND = {
    "abs": (lambda q: np.abs(q[0, 0]) + q[0, 1], "not analytic: .* by x of its body 1"),
    "norm": (lambda q: np.linalg.norm(q[0, :2] - q[1, :2]), "not analytic"),
    "real": (lambda q: q[0, 2].real - q[1, 0], "not analytic: .* by the angle of its body 1"),
    "conj": (lambda q: np.vdot(q[0], q[1]), "not analytic"),
    "hypot": (lambda q: np.hypot(q[0, 0], 1.0), "takes no complex numbers"),
    "math": (_math, "_math is not analytic: .*or give `derivative`"),
    "float": (lambda q: float(q[0, 0]), "not analytic"),
    "wrong index": (lambda q: q[2, 0], "fails at the reference: IndexError"),
    "array": (lambda q: q[0], r"shape \(3,\)"),
    "nothing": (lambda q: None, "returns None"),
    "nan": (lambda q: q[0, 0] / (q[0, 1] - q[0, 1]), "must be finite there"),
    "in place": (_in_place, "writes into its arguments"),
}


def test_what_is_unsound_is_said():
    for name in UNSOUND:
        function, message = UNSOUND[name]
        poses = Moving(2, planar=True)
        with pytest.raises(ValueError, match=message):
            check_function(UserFunction(function, 2, True), poses.after(0.0))


def test_a_wrong_derivative_is_said():
    for derivative, message in [
        (lambda q: -rod_derivative(q), "is not the derivative of rod: .*differences give"),
        (lambda q: rod_derivative(q)[:1], r"shape \(1, 3\); the derivative must have \(2, 3\)"),
        (lambda q: rod_derivative(q) * np.nan, "is not finite"),
        (lambda q: 1 / 0, "ZeroDivisionError"),
        (lambda q: {}, "<lambda> fails at the reference: TypeError"),
        (lambda q: [["x", "y", "angle"]] * 2, "<lambda> fails at the reference: ValueError"),
    ]:
        poses = Moving(2, planar=True)
        with pytest.raises(ValueError, match=message):
            check_function(UserFunction(rod, 2, True, derivative), poses.after(0.0))


def test_a_real_function_is_sound_with_its_derivative():
    function = UserFunction(
        lambda q: np.hypot(q[0, 0], q[0, 1]), 1, True, lambda q: q * [1.0, 1.0, 0.0] / np.hypot(*q[0, :2])
    )
    check_function(function, Poses.of(np.array([[3.0, 4.0, 0.0]])))


def test_a_failure_has_its_functions_name():
    with pytest.raises(ValueError, match="rod: IndexError"):
        value_and_derivative(UserFunction(rod, 1, True), Poses.of(np.zeros((1, 3))))


# --- finding and carrying --------------------------------------------------------------------------


@pytest.fixture
def constraints(tmp_path):
    (tmp_path / "constraints.py").write_text("GAIN = 3\ndef line(q):\n    return GAIN * q[0, 0]\n")
    return tmp_path


def _of_file(folder, source):
    return UserFunction(f"{folder}/{source}" if ".py" in source else source, 1, True)


def test_a_file_beside_the_model(constraints):
    function = _of_file(constraints, "constraints.py:line")
    assert value_and_derivative(function, Poses.of(np.array([[2.0, 0, 0]])))[0] == 6.0
    assert pickle.loads(pickle.dumps(function)) == function


def test_an_edited_file_is_read_anew(constraints):
    function = _of_file(constraints, "constraints.py:line")
    value_and_derivative(function, Poses.of(np.zeros((1, 3))))
    (constraints / "constraints.py").write_text("GAIN = 4\ndef line(q):\n    return GAIN * q[0, 0]\n")
    assert value_and_derivative(function, Poses.of(np.array([[2.0, 0, 0]])))[0] == 8.0


def test_a_function_of_a_module():
    function = UserFunction("numpy:sum", 1, True)
    assert value_and_derivative(function, Poses.of(np.array([[1.0, 2.0, 0]])))[0] == 3.0


def test_what_cannot_be_found_is_said(constraints):
    for source, message in [
        ("constraints.py", "names no function"),
        ("other.py:line", "no file .*other.py"),
        ("constraints.py:lime", "constraints.py has no lime; it has line"),
        ("constraints.py:GAIN", r"GAIN is no function; write def GAIN\(q\)"),
        ("constraintz:line", "no module constraintz"),
        ("syntax.py:f", "syntax.py line 2 failed: SyntaxError"),
        ("raises.py:f", "raises.py line 2 failed: ZeroDivisionError"),
        ("arguments.py:f", r"arguments.py:f takes \(a, b\); write def f\(q\)"),
        ("imports.py:f", "failed: ModuleNotFoundError: No module named 'nowhere'"),
    ]:
        (constraints / "syntax.py").write_text("x = 1\ndef f(q) return 1\n")
        (constraints / "raises.py").write_text("x = 1\nx / 0\n")
        (constraints / "arguments.py").write_text("def f(a, b):\n    return 1\n")
        (constraints / "imports.py").write_text("import nowhere\n")
        with pytest.raises(ValueError, match=message):
            _of_file(constraints, source).resolve()


def test_nothing_is_imported_before_it_is_asked_for(tmp_path):
    (tmp_path / "loud.py").write_text("raise SystemExit\n")
    pickle.loads(pickle.dumps(UserFunction("loud.py:f", 1, True)))


def test_lambdas_and_closures_are_pickled():
    gain = 5.0
    function = pickle.loads(pickle.dumps(UserFunction(lambda q: gain * q[0, 0], 1, True)))
    assert value_and_derivative(function, Poses.of(np.array([[2.0, 0, 0]])))[0] == 10.0


def test_what_cannot_be_pickled_says_what_to_do():
    import threading

    lock = threading.Lock()

    def held(q):
        with lock:
            return q[0, 0]

    with pytest.raises(ValueError, match=r"held .*'file.py:held'"):
        pickle.dumps(UserFunction(held, 1, True))
