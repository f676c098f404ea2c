"""Foreign functions are data: one compiled caller serves them all, in this process and the next."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest
from lives import life_of

from groups.kernels.foreign import BODY_IN, BODY_OUT, HEAD_IN, HEAD_OUT, call_foreign
from mbssa.compiled import compiled

SIGNATURE = ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_double)] * 3)


def several(addresses, values, out):
    for k in range(len(addresses)):
        call_foreign(addresses[k], values[k], out[k, 0 : out.shape[1]])


class Scaled:
    """A foreign function: its own number times what it is given."""

    def __init__(self, factor):
        self.jet = SIGNATURE(self._jet)
        self.record = np.array([ctypes.cast(self.jet, ctypes.c_void_p).value, factor], dtype=np.float64)
        self.address = self.record.ctypes.data

    def _jet(self, record, values, out):
        for k in range(9):
            out[k] = record[1] * values[k]


@pytest.mark.usefixtures("life")
@pytest.mark.parametrize("number", [np.int64, np.float64])
def test_each_is_called_by_its_address(number):
    functions = [Scaled(2.0), Scaled(-3.0)]
    addresses = np.array([f.address for f in functions], dtype=number)
    values, out = (
        np.random.default_rng(0).normal(size=(2, HEAD_IN + BODY_IN)),
        np.zeros((2, HEAD_OUT + BODY_OUT)),
    )
    life_of(several)(addresses, values, out)
    assert (out == [[2.0], [-3.0]] * values[:, :9]).all()


@pytest.mark.usefixtures("life")
def test_nobody_has_no_value():
    out = np.zeros((1, 9))
    life_of(several)(np.zeros(1), np.ones((1, 20)), out)
    assert np.isnan(out[0, 0])


@pytest.mark.slow
def test_another_function_compiles_nothing_anew():
    run = compiled(several)
    for factor in (2.0, 3.0):
        run(np.array([Scaled(factor).address]), np.ones((1, 20)), np.zeros((1, 9)))
        before = len(run.signatures)
    assert len(run.signatures) == before


CALLER = """
import ctypes
import numpy as np
from groups.kernels.foreign import call_foreign
from mbssa.compiled import compiled

def caller(address, values, out):
    call_foreign(address, values, out)

def five(record, values, out):
    out[0] = 5.0

jet = ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_double)] * 3)(five)
record, out = np.array([ctypes.cast(jet, ctypes.c_void_p).value], dtype=float), np.zeros(9)
compiled(caller)(record.ctypes.data, np.zeros(20), out)
stats = compiled(caller).stats
print(out[0], sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_the_next_process_loads_the_caller_from_disk(tmp_path):
    (tmp_path / "caller_of_foreign.py").write_text(CALLER)
    search = os.pathsep.join([str(tmp_path), *sys.path])
    given = os.environ | {"PYTHONPATH": search, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", "import caller_of_foreign"]
    said = [subprocess.check_output(command, env=given, text=True) for _ in range(2)]
    assert said == ["5.0 0 1\n", "5.0 1 0\n"]


@pytest.mark.parametrize(
    ("values", "out"),
    [(np.zeros((20, 2))[:, 0], np.zeros(9)), (np.zeros(20), np.zeros(9, dtype=np.float32))],
)
def test_other_arrays_are_refused(values, out):
    with pytest.raises(TypeError, match="contiguous arrays of float64"):
        call_foreign(Scaled(1.0).address, values, out)


@pytest.mark.slow
def test_other_arrays_are_refused_when_compiled():
    from numba.core.errors import TypingError

    with pytest.raises(TypingError, match="contiguous arrays of float64"):
        compiled(several)(np.zeros(1, dtype=np.int64), np.zeros((20, 2)).T, np.zeros((2, 9)).T)
