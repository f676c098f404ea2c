"""A user's own constraints: Python functions of the poses of some bodies, zero where the constraint holds.

In the plane a function is ``function(q)``: rows x, y, angle of its bodies (m, m, rad; the angle unwrapped).
In space it is ``function(p, R)``: positions (m, 3) of the bodies' origins and their rotations (m, 3, 3), the
bodies' axes as columns, in the world. It returns one number.

Derivatives are had by complex step, so arguments come as complex numbers, and what is analytic may be used:
+ - * / **, and NumPy's sqrt, exp, log, sin, cos, tan, arcsin, arccos, arctan, sum, dot, cross, @. What is not
(abs, max, comparisons, norm, hypot, arctan2, math.*, float()) needs a ``derivative``: of the same arguments,
then real, (m, 3) by x, y and angle, or (m, 6) by the velocities of the origins and the angular velocities,
world axes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.faults import Fault, ModelError
from mbssa.joints.joint_type import Space
from mbssa.joints.kernels import analytic_jet, given_jet
from mbssa.joints.user_sources import (
    Source,
    imported,
    importing,
    in_python,
    name_of,
    pickled,
    said,
    short_name,
)
from mbssa.trust import REMEDY, may_run

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class UserFunction:
    """A user's function as data: nothing is imported before :meth:`resolve`; it can be pickled.

    Attributes
    ----------
    source : "module:name", "file.py:name", or the callable itself
    bodies : how many bodies it takes
    planar : whether it is called as ``function(q)``; else as ``function(p, R)``
    derivative : of it, likewise; None for complex step
    unit : "m", "rad" or "1": what its value is measured in
    folder : where a file's name starts from: the model's folder; None for the current one
    size : a length that a motion is large against, m: the mechanism's; it sets steps and no answer

    Examples
    --------
    >>> rod = UserFunction(lambda q: (q[0, 0] - q[1, 0]) ** 2 + (q[0, 1] - q[1, 1]) ** 2 - 25.0, 2, True)
    >>> value, slope = value_and_derivative(rod, np.array([[3.0, 0, 0], [0, 4.0, 0]]))
    >>> value, slope[:, :2].tolist()
    (0.0, [[6.0, -8.0], [-6.0, 8.0]])
    """

    source: Source
    bodies: int
    planar: bool
    derivative: Source | None = None
    unit: str = "1"
    folder: str | None = None
    size: float = 1.0

    @property
    def name(self) -> str:
        """Its name in messages."""
        return name_of(self.source)

    @property
    def shape(self) -> tuple[int, int]:
        """Of its derivative: (m, 3) in the plane, (m, 6) in space."""
        return self.bodies, 3 if self.planar else 6

    def resolve(self) -> Resolved:
        """Import the function and its derivative.

        Raises
        ------
        ValueError
            No such module, file or name in it; a module that cannot be imported; what is no function of the
            arguments that it will get.
        """
        with importing:
            function = self._found(self.source)
            derivative = None if self.derivative is None else self._found(self.derivative)
        return Resolved(function, derivative)

    def _found(self, source: Source) -> Callable[..., Any]:
        if not may_run(source):
            raise ValueError(f"{source}: code that a file names is not run; {REMEDY}")
        found = imported(source, self.folder) if isinstance(source, str) else source
        if not callable(found):
            raise ValueError(f"{name_of(source)} is no function; write {self._head(source)}: …")
        taken = _signature(in_python(found))
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


def user_function(
    function: Source, derivative: Source | None, bodies: int, space: Space, size: float = 1.0
) -> UserFunction:
    """A user's function, and its derivative, of the poses of some bodies of a planar or spatial mechanism.

    >>> user_function("constraints.py:belt", None, 2, "planar").planar
    True
    """
    return UserFunction(function, bodies, space == "planar", derivative, size=size)


@dataclass(frozen=True)
class Resolved:
    """The callables of a :class:`UserFunction`."""

    function: Callable[..., Any]
    derivative: Callable[..., Any] | None


def value_and_derivative(
    function: UserFunction, position: Floats, rotation: Floats | None = None, angle: Floats | None = None
) -> tuple[float, Floats]:
    """Value of a user's function, and (m, 6) its derivative by the twists of its bodies.

    Parameters
    ----------
    position : (m, 3) origins of the bodies, m
    rotation : (m, 3, 3) their rotations; not needed in the plane
    angle : (m,) their unwrapped angles in the plane, rad; zero if not given

    Raises
    ------
    ValueError
        As :meth:`UserFunction.resolve`.
    ModelError
        Whatever goes wrong inside the function, with its name.
    """
    m, resolved = function.bodies, function.resolve()
    values, out = np.zeros(1 + 19 * m), np.zeros(3 + 6 * m)
    row = values[1:].reshape(m, 19)
    row[:, :3] = position
    row[:, 3:12] = (np.tile(np.eye(3), (m, 1, 1)) if rotation is None else rotation).reshape(m, 9)
    row[:, 12] = 0.0 if angle is None else angle
    call = asked(function, resolved.function)
    try:
        with np.errstate(all="ignore"):
            if resolved.derivative is None:
                analytic_jet(call, function.planar, function.size, values, out)
            else:
                slope = asked_derivative(function, resolved.derivative)
                given_jet(call, slope, function.planar, function.size, values, out)
    except (Exception, SystemExit) as error:
        raise ModelError(function.name, [Fault("", said(error))]) from error
    return float(out[0]), out[3:].reshape(m, 6)


def asked(function: UserFunction, call: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A user's callable, as the kernels ask it: of both arrays. It gets copies, to do with as it likes."""
    plain = in_python(call)
    if function.planar:
        return lambda q, R: plain(q.copy())
    return lambda q, R: plain(q.copy(), R.copy())


def asked_derivative(function: UserFunction, call: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A user's derivative likewise; a ValueError where its shape is not a row a body."""
    plain, wanted = asked(function, call), function.shape

    def derivative(q: Any, R: Any) -> Any:
        found = np.asarray(plain(q, R), dtype=np.float64)
        if found.shape != wanted:
            what = f"the derivative must have {wanted}, a row a body"
            raise ValueError(f"{name_of(call)} returns shape {found.shape}; {what}")
        return found

    return derivative


@lru_cache(256)
def _signature(call: Callable[..., Any]) -> inspect.Signature | None:
    """None where nobody knows: written in C."""
    try:
        return inspect.signature(call)
    except ValueError:
        return None
