"""Addresses at which kernels call users' functions, in this process."""

from __future__ import annotations

import ctypes
import math
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from types import CellType, FunctionType
from typing import Any

import numpy as np

from groups.kernels import foreign
from mbssa.arrays import Floats
from mbssa.compiled import compiled_for_c
from mbssa.compiled.linking import call_by_address
from mbssa.faults import Fault
from mbssa.joints.user import Resolved, UserFunction, derivative_on_copies, jet, on_copies
from mbssa.joints.user_sources import error_line, name_of
from mbssa.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class _Bound:
    """A function of this process: its record, what must live as long, and why it is not compiled, if so."""

    record: Floats
    alive: tuple[Any, ...]
    why_python: str


_bound: dict[tuple[UserFunction, Resolved], _Bound] = {}
_binding = threading.Lock()
_faults: dict[UserFunction, Fault] = {}
_taking = threading.Lock()  # others may add meanwhile
_interrupted = threading.Event()


def addresses(functions: Sequence[UserFunction], compiled: bool) -> list[int]:
    """Addresses for :func:`groups.kernels.foreign.call_foreign`."""
    if not compiled:
        return [_python_jet(function) for function in functions]
    return [_bound_to(function).record.ctypes.data for function in functions]


def why_python(function: UserFunction) -> str:
    """Why a function is called back in Python, in a line; empty where it is compiled."""
    return _bound_to(function).why_python


def take_faults() -> tuple[Fault, ...]:
    """The first exception inside each function since the last call: those calls were answered with NaN."""
    with _taking:
        found = [_faults.popitem()[1] for _ in range(len(_faults))]
    if _interrupted.is_set():
        _interrupted.clear()
        raise KeyboardInterrupt
    return tuple(reversed(found))


def of_joints(fault: Fault, mechanism: Mechanism) -> Fault:
    """A fault of a function with the joints that have it before its name."""
    found = [
        mechanism.joint_ids[j]
        for j, geometry in sorted(mechanism.joint_geometry.items())
        if geometry.function is not None and name_of(geometry.function) == fault.place
    ]
    return fault.at(f"joint {', '.join(found)}: {fault.place}") if found else fault


@dataclass(frozen=True, eq=False)
class _PythonJet:
    """The jet of a function in Python; an exception inside the function is noted and answered with NaN."""

    function: UserFunction
    resolved: Resolved

    def __call__(self, values: Floats, out: Floats) -> None:
        try:
            jet(self.function, self.resolved, values, out)
        except (Exception, SystemExit) as error:
            out[:] = np.nan
            _faults.setdefault(self.function, Fault(self.function.name, error_line(error), "function"))


_python_jets: dict[tuple[UserFunction, Resolved], _PythonJet] = {}


def _python_jet(function: UserFunction) -> int:
    key = function, function.resolve()
    python_jet = _python_jets.setdefault(key, _PythonJet(*key))
    foreign.in_python[id(python_jet)] = python_jet
    return id(python_jet)


def _bound_to(function: UserFunction) -> _Bound:
    resolved = function.resolve()
    with _binding:
        key = function, resolved
        if key not in _bound:
            _bound[key] = _bind(function, resolved)
        return _bound[key]


def _bind(function: UserFunction, resolved: Resolved) -> _Bound:
    m, given = function.bodies, resolved.derivative is not None
    number = np.dtype(np.float64 if given else np.complex128)
    alike = replace(function, size=1.0)  # mechanisms of many sizes need one compilation
    parts = [_part(alike, resolved.function, number, (1,))]
    if resolved.derivative is not None:
        parts.append(_part(alike, resolved.derivative, number, function.shape))
    compiled = compiled_for_c(foreign.given if given else foreign.analytic)
    places = [compiled.address, parts[0].address, parts[-1].address]
    assert max(places) < 2**53, "addresses are kept as float64"
    record = np.array([*places, function.planar, m, function.size], dtype=np.float64)
    why = next((part.why_python for part in parts if part.why_python), "")
    return _Bound(record, (compiled, *parts), why)


# --- one callable ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Part:
    """A callable as ``void (void *q, void *R, void *answer)`` and what must live as long."""

    address: int
    alive: tuple[Any, ...]
    why_python: str


@cache
def _part(
    function: UserFunction, call: Callable[..., Any], number: np.dtype[Any], answer: tuple[int, ...]
) -> _Part:
    back = _called_back(function, call, number, answer)
    place = ctypes.cast(back, ctypes.c_void_p).value
    assert place is not None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Numba, about speed
            code = _machine_code(function, call, number, answer, place)
    except Exception as error:  # whatever it is, Python can do it
        return _Part(place, (back,), _why(error))
    return _Part(code.address, (code, back), "")


def _why(error: Exception) -> str:
    """The line of Numba's message that names the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    for line, then in pairwise(lines):
        if line.endswith("raised a specific error:"):
            return then
    telling = [line for line in lines if not line.startswith("Failed in ")]
    return telling[0] if telling else error_line(error)


def _called_back(
    function: UserFunction, call: Callable[..., Any], number: np.dtype[Any], answer: tuple[int, ...]
) -> Any:
    """The callable behind a callback. Exceptions stop here: C has none."""
    m, python = function.bodies, (on_copies if len(answer) == 1 else derivative_on_copies)(function, call)
    nothing = complex(np.nan, np.nan) if number.kind == "c" else np.nan

    @lru_cache(64)
    def array(place: int, shape: tuple[int, ...]) -> Any:
        held: Any = (ctypes.c_char * (number.itemsize * math.prod(shape))).from_address(place)
        return np.frombuffer(held, dtype=number).reshape(shape)

    def back(q: int, R: int, out: int) -> None:
        found = array(out, answer)
        try:
            if _interrupted.is_set():
                found[...] = nothing
                return
            with np.errstate(all="ignore"):
                found[...] = python(array(q, (m, 3)), array(R, (m, 3, 3)))
        except KeyboardInterrupt:
            _interrupted.set()
            found[...] = nothing
        except BaseException as error:
            found[...] = nothing
            _faults.setdefault(function, Fault(function.name, error_line(error), "function"))

    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(back)


def _machine_code(
    function: UserFunction,
    call: Callable[..., Any],
    number: np.dtype[Any],
    answer: tuple[int, ...],
    back: int,
) -> Any:
    """The callable compiled. Where it raises an exception it is called back, and that is noted there."""
    import numba

    m, ask, carray = function.bodies, call_by_address(), foreign.compiled_numbers()
    inner = _with_callees(call, {})
    callee = numba.njit(lambda q, R: inner(q)) if function.planar else inner

    def value(q: Any, R: Any, out: Any) -> None:
        poses, turns, found = carray(q, (m, 3)), carray(R, (m, 3, 3)), carray(out, answer)
        try:
            found[0] = callee(poses, turns)
        except Exception:
            ask(back, poses, turns, found)

    def slope(q: Any, R: Any, out: Any) -> None:
        poses, turns, found = carray(q, (m, 3)), carray(R, (m, 3, 3)), carray(out, answer)
        try:
            given = callee(poses, turns)
            if given.shape[0] != answer[0] or given.shape[1] != answer[1]:
                raise ValueError  # Python names the cause
            for k in range(answer[0]):
                for i in range(answer[1]):
                    found[k, i] = given[k, i]
        except Exception:
            ask(back, poses, turns, found)

    pointer: Any = numba.types.CPointer
    signature = numba.types.void(*[pointer(numba.from_dtype(number))] * 3)
    return numba.cfunc(signature, error_model="numpy")(value if len(answer) == 1 else slope)


def _with_callees(call: Callable[..., Any], seen: dict[Any, Any]) -> Any:
    """A callable for Numba, with the plain functions that it calls by name made ready too."""
    import numba

    if hasattr(call, "py_func"):
        return call
    if not isinstance(call, FunctionType):
        raise TypeError(f"{type(call).__name__} is no plain function")
    seen[call] = call

    def ready(value: Any) -> Any:
        own = isinstance(value, FunctionType) and value not in seen and value.__module__ != "numpy"
        if own:
            seen[value] = _with_callees(value, seen)
        return seen[value] if isinstance(value, FunctionType) and value in seen else value

    scope = dict(call.__globals__)
    for name in call.__code__.co_names:
        if name in scope:
            scope[name] = ready(scope[name])
    cells = tuple(CellType(ready(cell.cell_contents)) for cell in call.__closure__ or ())
    twin = FunctionType(call.__code__, scope, call.__name__, call.__defaults__, cells)
    twin.__module__ = call.__module__
    seen[call] = numba.njit(error_model="numpy")(twin)
    return seen[call]
