"""User-defined constraints: Python functions of the poses of some bodies, zero where the constraint holds."""

# function(q): rows x, y, angle (m, rad) of its bodies; in space function(p, R): origins (m, 3), rotations (m,
# 3, 3), world. Derivatives are by complex step, so functions must be analytic; others need a ``derivative``,
# (m, 3) by x, y, angle or (m, 6) by the twists of the origins, world axes.

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.faults import Fault, ModelError
from mbssa.joints.poses import Poses
from mbssa.joints.user_jets import analytic_jet, given_jet
from mbssa.joints.user_sources import Source, error_line, imported, importing, name_of, pickled, short_name
from mbssa.trust import REMEDY, may_run


@dataclass(frozen=True)
class UserFunction:
    """A user's function as data: nothing is imported before :meth:`resolve`; it can be pickled."""

    source: Source  # "module:name", "file.py:name", or the callable itself
    bodies: int  # number of its bodies
    planar: bool  # called as function(q); else as function(p, R)
    derivative: Source | None = None  # source of its derivative; None for complex step
    size: float = 1.0  # of the mechanism, m, which sets the length of steps

    @property
    def name(self) -> str:
        """Its name in messages."""
        return name_of(self.source)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the derivative: (m, 3) in the plane, (m, 6) in space."""
        return self.bodies, 3 if self.planar else 6

    def resolve(self) -> Resolved:
        """Import the function and its derivative; ValueError with the reason why it cannot be."""
        with importing:
            function = self._found(self.source)
            derivative = None if self.derivative is None else self._found(self.derivative)
        return Resolved(function, derivative)

    def _found(self, source: Source) -> Callable[..., Any]:
        if not may_run(source):
            raise ValueError(f"{source}: code that a file names is not run; {REMEDY}")
        found = imported(source) if isinstance(source, str) else source
        if not callable(found):
            raise ValueError(f"{name_of(source)} is no function; write {self._head(source)}: …")
        taken = _signature(found)
        if taken is not None:
            try:
                taken.bind(*range(1 if self.planar else 2))
            except TypeError:
                raise ValueError(
                    f"{name_of(source)} takes {taken}; write {self._head(source)}: …, as it is called"
                ) from None
        return found

    def _head(self, source: Source) -> str:
        return f"def {short_name(source)}{'(q)' if self.planar else '(p, R)'}"

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(self)


@dataclass(frozen=True)
class Resolved:
    """The callables of a :class:`UserFunction`."""

    function: Callable[..., Any]
    derivative: Callable[..., Any] | None


def value_and_derivative(function: UserFunction, poses: Poses) -> tuple[float, Floats]:
    """Value of a user's function at the poses of its m bodies, and its derivative (m, 6) by their twists."""
    m = function.bodies
    values, out = np.zeros(1 + 19 * m), np.zeros(3 + 6 * m)
    row = values[1:].reshape(m, 19)
    row[:, :3], row[:, 3:12], row[:, 12] = poses.position, poses.rotation.reshape(m, 9), poses.angle
    resolved = function.resolve()
    try:
        with np.errstate(all="ignore"):
            jet(function, resolved, values, out)
    except (Exception, SystemExit) as error:
        raise ModelError(function.name, [Fault("", error_line(error), "function")]) from error
    return float(out[0]), out[3:].reshape(m, 6)


def jet(function: UserFunction, resolved: Resolved, values: Floats, out: Floats) -> None:
    """Value, derivatives by twists and time derivatives, laid out as in :mod:`mbssa.joints.user_jets`."""
    call = on_copies(function, resolved.function)
    if resolved.derivative is None:
        analytic_jet(call, function.planar, function.size, values, out)
    else:
        derivative = derivative_on_copies(function, resolved.derivative)
        given_jet(call, derivative, function.planar, function.size, values, out)


def on_copies(function: UserFunction, call: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A user's callable as a function of both arrays, of which it gets copies."""
    if function.planar:
        return lambda q, R: call(q.copy())
    return lambda q, R: call(q.copy(), R.copy())


def derivative_on_copies(function: UserFunction, call: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A user's derivative likewise; a ValueError where its shape is not a row a body."""
    plain = on_copies(function, call)

    def derivative(q: Any, R: Any) -> Any:
        found = np.asarray(plain(q, R), dtype=np.float64)
        check_shape(function, call, found)
        return found

    return derivative


def check_shape(function: UserFunction, call: Callable[..., Any], found: Floats) -> None:
    """Check the shape of a value of a user's derivative."""
    if found.shape != function.shape:
        what = f"the derivative must have {function.shape}, a row a body"
        raise ValueError(f"{name_of(call)} returns shape {found.shape}; {what}")


@lru_cache(256)
def _signature(call: Callable[..., Any]) -> inspect.Signature | None:
    """Signature of a function; None of one written in C."""
    try:
        return inspect.signature(call)
    except ValueError:
        return None
