"""Users' functions at their addresses: the same numbers compiled and in Python, wherever they are called."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from groups.encoding.user_functions import addresses, take_faults, why_python
from groups.kernels.foreign import call_foreign
from mbssa.compiled import compiled
from mbssa.joints import user
from mbssa.joints.user import UserFunction
from mbssa.trust import VARIABLE

pytestmark = pytest.mark.slow  # Numba compiles each function


@pytest.fixture(autouse=True)
def _functions_of_files_are_trusted(monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")


def many(times, address, values, out):
    for _ in range(times):
        call_foreign(address, values, out)


def length(x, y):
    return np.sqrt(x**2 + y**2)


def rod(q):
    return length(q[0, 0] + 0.3 * np.cos(q[0, 2]) - q[1, 0], q[0, 1] - q[1, 1]) - 1.0


def dyad(p, R):
    return R[0, 0, 0] * R[1, 2, 1] - np.sum((p[0] - p[1]) ** 2) / (2.0 + R[0, 1, 1])


class Plain:
    """A callable that is no plain function, which Numba cannot take."""

    def __init__(self, call):
        self.call = call
        self.__qualname__ = call.__name__

    def __call__(self, q):
        return self.call(q)


def in_python(q):
    """Numba knows no poly1d."""
    return np.poly1d([1.0, 0.0])(np.sin(q[0, 2])) * q[1, 0]


def real(q):
    return np.hypot(q[0, 0], q[1, 1])


def real_derivative(q):
    d = np.hypot(q[0, 0], q[1, 1])
    found = np.zeros((2, 3))
    found[0, 0], found[1, 1] = q[0, 0] / d, q[1, 1] / d
    return found


FUNCTIONS = {
    "planar": (UserFunction(rod, 2, True), True),
    "spatial": (UserFunction(dyad, 2, False), True),
    "planar in Python": (UserFunction(in_python, 2, True), False),
    "given": (UserFunction(real, 2, True, real_derivative), True),
    "given in Python": (UserFunction(Plain(real), 2, True, Plain(real_derivative)), False),
}


def moving(seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=39)
    values[0] = 1.0
    values[1:].reshape(2, 19)[:, 3:12] = Rotation.random(2, random_state=rng).as_matrix().reshape(2, 9)
    return values


def jet(function, values):
    """The oracle: the same kernels as plain Python, around the plain function."""
    out = np.zeros(15)
    user.jet(function, function.resolve(), values, out)
    return out


def compiled_jet(function, values, times=1, run=None):
    out = np.zeros(15)
    (compiled(many) if run is None else run)(times, addresses([function], True)[0], values, out)
    return out


@pytest.fixture(autouse=True)
def _no_faults():
    yield
    take_faults()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_is_python(name):
    function, is_compiled = FUNCTIONS[name]
    assert (why_python(function) == "") == is_compiled
    values, out = moving(), np.zeros(15)
    np.testing.assert_allclose(
        compiled_jet(function, values, run=compiled(many)), jet(function, values), rtol=1e-12, atol=1e-12
    )
    assert take_faults() == ()
    many(1, addresses([function], False)[0], values, out)
    np.testing.assert_array_equal(out, jet(function, values))


def test_functions_of_numba_are_taken_as_they_are():
    import numba

    function = UserFunction(numba.njit(lambda q: q[0, 0] ** 2), 2, True)
    assert why_python(function) == ""
    values = moving()
    np.testing.assert_allclose(
        compiled_jet(function, values), jet(UserFunction(lambda q: q[0, 0] ** 2, 2, True), values)
    )


def test_threads_get_the_same_bits():
    function, _ = FUNCTIONS["planar"]
    cases = [moving(seed) for seed in range(8)]
    alone = [compiled_jet(function, values) for values in cases]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda values: compiled_jet(function, values, times=50), cases * 3))
    assert (np.array(together) == np.array(alone * 3)).all()


def _elsewhere(pickled, values):
    function = pickle.loads(pickled)
    return os.getpid(), compiled_jet(function, values), why_python(function)


def test_a_closure_goes_to_another_process(processes):
    gain = 3.0
    function = UserFunction(lambda q: gain * q[0, 0] ** 2, 2, True)
    values = moving()
    assert (processes(function, values)[1] == compiled_jet(function, values)).all()


def test_a_file_goes_to_another_process_by_its_name(processes, tmp_path):
    (tmp_path / "constraints.py").write_text("def line(q):\n    return 2 * q[0, 0] - q[1, 1]\n")
    function = UserFunction(f"{tmp_path / 'constraints.py'}:line", 2, True)
    values = moving()
    assert (processes(function, values)[1] == compiled_jet(function, values)).all()


@pytest.fixture(scope="module")
def processes():
    """One process of loky's, and whatever is pickled the usual way there."""
    import cloudpickle
    from joblib.externals.loky import ProcessPoolExecutor

    module = __import__("sys").modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    pool = ProcessPoolExecutor(1)
    try:
        yield lambda function, values: pool.submit(_elsewhere, pickle.dumps(function), values).result()
    finally:
        pool.shutdown(kill_workers=True)
        cloudpickle.unregister_pickle_by_value(module)


# --- what goes wrong -------------------------------------------------------------------------------


def _refuses(q):
    if q[0, 0].real > 0.0:
        raise RuntimeError("too far right")
    return q[0, 0] ** 2


@pytest.mark.parametrize("call", [_refuses, Plain(_refuses)])
def test_an_exception_is_nan_and_is_kept(call, capfd):
    function = UserFunction(call, 2, True)
    values = moving()
    values[1] = 2.0
    assert np.isnan(compiled_jet(function, values, times=3)[[0, 1, 2, 3]]).all()
    faults = take_faults()
    assert [str(fault) for fault in faults] == ["_refuses: RuntimeError: too far right"]
    assert take_faults() == ()
    values[1] = -2.0
    assert compiled_jet(function, values)[0] == 4.0
    assert take_faults() == ()
    assert capfd.readouterr() == ("", "")


def _wrong_shape(q):
    return q[:1] * 1.0


@pytest.mark.parametrize("derivative", [_wrong_shape, Plain(_wrong_shape)])
def test_a_derivative_of_another_shape_is_a_fault(derivative):
    out = compiled_jet(UserFunction(real, 2, True, derivative), moving())
    assert np.isnan(out[3])
    assert "shape" in str(take_faults()[0])


def _inverse(q):
    return 1.0 / q[0, 0]


def test_divisions_by_zero_are_no_exceptions(capfd):
    for name, call in (
        ("compiled", _inverse),
        ("Python", Plain(_inverse)),
    ):
        values = moving()
        values[1] = 0.0
        assert not np.isfinite(compiled_jet(UserFunction(call, 2, True), values)[0]), name
    assert take_faults() == ()
    assert capfd.readouterr() == ("", "")


def test_ctrl_c_inside_a_function_is_not_lost():
    calls = []

    def interrupted(q):
        calls.append(1)
        raise KeyboardInterrupt

    assert np.isnan(compiled_jet(UserFunction(interrupted, 2, True), moving(), times=5)[0])
    assert len(calls) == 1
    with pytest.raises(KeyboardInterrupt):
        take_faults()
    assert take_faults() == ()


def test_an_edited_file_is_compiled_anew(tmp_path):
    function = UserFunction(f"{tmp_path / 'constraints.py'}:line", 2, True)
    values = moving()
    for gain in (2, 3):
        (tmp_path / "constraints.py").write_text(f"def line(q):\n    return {gain} * q[0, 0]\n")
        assert compiled_jet(function, values)[3] == gain
