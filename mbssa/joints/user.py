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


#: Step of the complex step, so small that its square is nothing beside 1 (Squire & Trapp 1998).
COMPLEX_STEP = 1e-30


class Called:
    """A user's function as it is called: with copies of places q (m, 3) and rotations R (m, 3, 3)."""

    # In the plane q has rows x, y, angle, and R is not read.

    def __init__(self, function: UserFunction) -> None:
        self.user, self.resolved = function, function.resolve()

    def __call__(self, q: Any, R: Any) -> Any:
        return self._on_copies(self.resolved.function, q, R)

    def _on_copies(self, call: Callable[..., Any], q: Any, R: Any) -> Any:
        return call(q.copy()) if self.user.planar else call(q.copy(), R.copy())

    def slope(self, q: Any, R: Any, w: Any, S: Any) -> float:
        """Derivative along changes w of q and S of R."""
        if self.resolved.derivative is None:
            step = COMPLEX_STEP * 1j
            return float(np.imag(self(q + step * w, R + step * S)) / COMPLEX_STEP)
        by_twist = self.derivative(q, R)
        found = float((by_twist[:, :3] * w).sum())
        if not self.user.planar:  # of dR = ω × R; a direction may have other parts, which are no turns
            turned = np.cross(by_twist[:, None, 3:], R.swapaxes(1, 2))
            found += 0.5 * float((turned * S.swapaxes(1, 2)).sum())
        return found

    def derivative(self, q: Any, R: Any) -> Floats:
        """Value of the derivative that is given; a ValueError where its shape is not a row a body."""
        call = self.resolved.derivative
        assert call is not None
        found = np.asarray(self._on_copies(call, q, R), dtype=np.float64)
        check_shape(self.user, call, found)
        return found


def value_and_derivative(function: UserFunction, poses: Poses) -> tuple[float, Floats]:
    """Value of a user's function at the poses of its m bodies, and its derivative (m, 6) by their twists."""
    call, m = Called(function), function.bodies
    q, R, found = poses.position.copy(), poses.rotation, np.zeros((m, 6))
    columns = [0, 1, 5] if function.planar else list(range(6))
    if function.planar:
        q[:, 2] = poses.angle
    try:
        with np.errstate(all="ignore"):
            value = float(np.real(call(q, R)))
            if call.resolved.derivative is not None:
                found[:, columns] = call.derivative(q, R)
                return value, found
            for k, i in np.ndindex(m, len(columns)):
                w, S, unit = np.zeros((m, 3)), np.zeros((m, 3, 3)), np.eye(3)[i % 3]
                if i < 3:
                    w[k] = unit
                else:
                    S[k] = np.cross(unit, R[k], axisb=0, axisc=0)
                found[k, columns[i]] = call.slope(q, R, w, S)
    except (Exception, SystemExit) as error:
        raise ModelError(function.name, [Fault("", error_line(error), "function")]) from error
    return value, found


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
