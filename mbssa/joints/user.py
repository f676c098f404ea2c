"""User-defined constraints: Python functions of the poses of some bodies, zero where the constraint holds."""

# function(q): rows x, y, angle (m, rad) of its bodies; in space function(p, R): origins (m, 3), rotations (m,
# 3, 3), world. Derivatives are by complex step, so functions must be analytic; others need a ``derivative``,
# (m, 3) by x, y, angle or (m, 6) by the twists of the origins, world axes.

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats
from mbssa.faults import Fault, Faults, ModelError
from mbssa.joints.poses import Poses
from mbssa.joints.user_sources import Source, error_line, imported, importing, name_of, pickled, short_name
from mbssa.trust import REMEDY, may_run

if TYPE_CHECKING:
    from mbssa.joints.relations import JointRelations
    from mbssa.mechanism import Mechanism

#: Step of the complex step, so small that its square is nothing beside 1 (Squire & Trapp 1998).
COMPLEX_STEP = 1e-30

#: Steps of the central differences that check derivatives, rad and sizes of the mechanism; and the share of
#: the largest derivative by which they may differ: a missing term is more.
_STEPS, _AGREE = (1e-3, 1e-4), 1e-5

#: Motion from the reference to the pose of the second check, rad and sizes of the mechanism.
_ASIDE = 0.01

_ADVICE = (
    "write it with + - * / ** and NumPy's functions of complex numbers (np.sqrt(x @ x) for np.linalg.norm "
    "and np.hypot, np.arctan for np.arctan2; no abs, max, comparison, math.* or float()), or give "
    "`derivative`"
)


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
    def columns(self) -> list[int]:
        """Components of a twist that its bodies have."""
        return [0, 1, 5] if self.planar else [0, 1, 2, 3, 4, 5]

    def resolve(self) -> Called:
        """Import the function and its derivative; ValueError with the reason why it cannot be."""
        with importing:
            function = self._found(self.source)
            return Called(self, function, None if self.derivative is None else self._found(self.derivative))

    def _found(self, source: Source) -> Callable[..., Any]:
        if not may_run(source):
            raise ValueError(f"{source}: code that a file names is not run; {REMEDY}")
        found = imported(source) if isinstance(source, str) else source
        head = f"def {short_name(source)}{'(q)' if self.planar else '(p, R)'}"
        if not callable(found):
            raise ValueError(f"{name_of(source)} is no function; write {head}: …")
        if (taken := _signature(found)) is not None:
            try:
                taken.bind(*range(1 if self.planar else 2))
            except TypeError:
                what = f"takes {taken}; write {head}: …, as it is called"
                raise ValueError(f"{name_of(source)} {what}") from None
        return found

    def arguments(self, poses: Poses) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Places q (m, 3), in the plane with rows x, y, angle, and rotations R (m, 3, 3)."""
        q = np.array(poses.position)
        if self.planar:
            q[:, 2] = poses.angle
        return q, poses.rotation

    def moved(self, poses: Poses, step: Floats) -> Poses:
        """Poses after a translation and a turn (m, 6) of each body, in sizes of the mechanism and rad."""
        return poses.moved(step * ([self.size] * 3 + [1.0] * 3), np.zeros((self.bodies, 3)))

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(self)


@lru_cache(256)
def _signature(call: Callable[..., Any]) -> inspect.Signature | None:
    """Signature of a function; None of one written in C."""
    try:
        return inspect.signature(call)
    except ValueError:
        return None


@dataclass(frozen=True)
class Called:
    """A user's function as it is called: with copies of places q (m, 3) and rotations R (m, 3, 3)."""

    user: UserFunction
    function: Callable[..., Any]
    derivative: Callable[..., Any] | None

    def __call__(self, q: Any, R: Any) -> Any:
        return self._on_copies(self.function, q, R)

    def _on_copies(self, call: Callable[..., Any], q: Any, R: Any) -> Any:
        return call(q.copy()) if self.user.planar else call(q.copy(), R.copy())

    def slope(self, q: Any, R: Any, w: Any, S: Any) -> float:
        """Derivative along changes w of q and S of R."""
        if self.derivative is None:
            step = COMPLEX_STEP * 1j
            return float(np.imag(self(q + step * w, R + step * S)) / COMPLEX_STEP)
        by_twist = self.by_twists(q, R)
        found = float((by_twist[:, :3] * w).sum())
        if not self.user.planar:  # of dR = ω × R; a direction may have other parts, which are no turns
            turned = np.cross(by_twist[:, None, 3:], R.swapaxes(1, 2))
            found += 0.5 * float((turned * S.swapaxes(1, 2)).sum())
        return found

    def by_twists(self, q: Any, R: Any) -> Floats:
        """Value of the derivative that is given."""
        assert self.derivative is not None
        return self.shaped(self._on_copies(self.derivative, q, R))

    def shaped(self, derivative: Any) -> Floats:
        """A value of the derivative; a ValueError where its shape is not a row a body."""
        found, wanted = np.asarray(derivative, dtype=np.float64), (self.user.bodies, len(self.user.columns))
        if found.shape != wanted:
            what = f"the derivative must have {wanted}, a row a body"
            raise ValueError(f"{name_of(self.derivative or '')} returns shape {found.shape}; {what}")
        return found


def value_and_derivative(function: UserFunction, poses: Poses) -> tuple[float, Floats]:
    """Value of a user's function at the poses of its m bodies, and its derivative (m, 6) by their twists."""
    call, m = function.resolve(), function.bodies
    (q, R), found = function.arguments(poses), np.zeros((m, 6))
    try:
        with np.errstate(all="ignore"):
            value = float(np.real(call(q, R)))
            if call.derivative is not None:
                found[:, function.columns] = call.by_twists(q, R)
                return value, found
            for k, i in np.ndindex(m, len(function.columns)):
                w, S, unit = np.zeros((m, 3)), np.zeros((m, 3, 3)), np.eye(3)[i % 3]
                if i < 3:
                    w[k] = unit
                else:
                    S[k] = np.cross(unit, R[k], axisb=0, axisc=0)
                found[k, function.columns[i]] = call.slope(q, R, w, S)
    except (Exception, SystemExit) as error:
        raise ModelError(function.name, [Fault("", error_line(error), "function")]) from error
    return value, found


# --- checks at the reference and near it -------------------------------------------------------------


def check_functions(mechanism: Mechanism, relations: Mapping[int, JointRelations], poses: Poses) -> None:
    """Check the users' functions of a mechanism at its reference, each once as long as nothing changes."""
    faults = Faults()
    for j, found in relations.items():
        if found.function is not None:
            at = poses[list(found.bodies)]
            try:
                arrays = (at.position.tobytes(), at.rotation.tobytes(), at.angle.tobytes())
                _check_once(found.function.resolve(), *arrays)
            except ValueError as error:
                faults.add(f"joint {mechanism.joint_ids[j]}", str(error), "function")
    faults.raise_if_any(mechanism.name or "mechanism")


@lru_cache(1024)
def _check_once(call: Called, position: bytes, rotation: bytes, angle: bytes) -> None:
    p, R, turned = map(np.frombuffer, (position, rotation, angle))
    check_function(call.user, Poses(p.reshape(-1, 3), R.reshape(-1, 3, 3), turned))


def check_function(function: UserFunction, poses: Poses) -> None:
    """Call a user's function at and near its bodies' reference poses; check derivatives by differences."""
    # ValueError if it fails, returns anything but one finite number, writes into its arguments or is not
    # analytic, or if its derivative is another function's.
    call = function.resolve()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not np.isfinite(value := _number(call, poses)):
            raise ValueError(f"{function.name} returns {value} at the reference; it must be finite there")
        _check_at(call, poses)
        aside = _ASIDE * np.random.default_rng(7).uniform(-1.0, 1.0, (function.bodies, 6))
        poses = function.moved(poses, aside)
        if np.isfinite(_number(call, poses)):
            _check_at(call, poses)


def _check_at(call: Called, poses: Poses) -> None:
    function, derivative = call.user, call.derivative
    if derivative is None:
        _number(call, poses, complex)
    elif not np.isfinite(call.shaped(_result(call, derivative, poses, dtype=np.float64))).all():
        raise ValueError(f"{name_of(derivative)}, the derivative of {function.name}, is not finite")
    value, exact = value_and_derivative(function, poses)
    exact[:, :3] *= function.size
    error = np.full(exact.shape, np.inf)
    for h in _STEPS:
        near = _differences(call, poses, h)
        if not np.isfinite(near).all():
            return
        error = np.minimum(error, np.abs(near - exact))
        largest = max(np.abs(near).max(), abs(value), 1e-9)
    if (error <= _AGREE * largest).all():
        return
    k, i = np.unravel_index(int(np.argmax(np.where(np.isnan(error), np.inf, error))), error.shape)
    turning = [f"turning about {axis}" for axis in "xyz"]
    by = "the angle" if function.planar and i == 5 else ["x", "y", "z", *turning][i]
    size = function.size if i < 3 else 1.0
    what = f"by {by} of its body {k + 1} is {exact[k, i] / size:.6g}"
    differences = f"differences give {near[k, i] / size:.6g}"
    if derivative is None:
        head = f"{function.name} is not analytic: by complex step its derivative"
        raise ValueError(f"{head} {what}, {differences}; {_ADVICE}")
    wanted = "(m, 3), by x, y and angle" if function.planar else "(m, 6), by v and w in world axes"
    head = f"{name_of(derivative)} is not the derivative of {function.name}"
    raise ValueError(f"{head}: that {what}, {differences}; give {wanted}")


def _number(call: Called, poses: Poses, kind: type[float | complex] = float) -> float:
    """Real part of the value of a function of real or complex arguments."""
    found = _result(call, call.function, poses, kind)
    if found.ndim or not np.issubdtype(found.dtype, np.number):
        given = f"an array of shape {found.shape}" if found.ndim else f"{found.item()!r}"
        wanted = "it must return one number, zero where the constraint holds"
        raise ValueError(f"{name_of(call.function)} returns {given}; {wanted}")
    return float(np.real(found))


def _result(
    call: Called, one: Callable[..., Any], poses: Poses, kind: type[Any] = float, dtype: Any = None
) -> npt.NDArray[Any]:
    """Result of the function or the derivative, on arguments that are read-only."""
    arguments = [array.astype(kind) for array in call.user.arguments(poses)]
    for array in arguments:
        array.flags.writeable = False
    try:
        return np.asarray(one(*arguments[: 1 if call.user.planar else 2]), dtype)
    except (Exception, SystemExit) as error:
        what = f"fails at the reference: {error_line(error)}"
        if kind is complex:
            what = f"takes no complex numbers ({error_line(error)}); {_ADVICE}"
        elif "read-only" in str(error):
            what = "writes into its arguments; write into a copy (q = q.copy())"
        raise ValueError(f"{name_of(one)} {what}") from error


def _differences(call: Called, poses: Poses, h: float) -> Floats:
    """Central differences (m, 6) of the fourth order by steps of h, in sizes of the mechanism and rad."""
    function = call.user
    found = np.zeros((function.bodies, 6))
    for k in range(function.bodies):
        for i in function.columns:
            for ahead, factor in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
                step = np.zeros((function.bodies, 6))
                step[k, i] = ahead * h
                found[k, i] += factor * _number(call, function.moved(poses, step))
    return found / (12 * h)
