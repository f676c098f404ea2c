"""Checks of users' functions, at the reference and near it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats
from mbssa.faults import Faults
from mbssa.joints.poses import Poses
from mbssa.joints.user import Resolved, UserFunction, check_shape, value_and_derivative
from mbssa.joints.user_sources import error_line, name_of

if TYPE_CHECKING:
    from mbssa.joints.poses import Poses
    from mbssa.joints.relations import JointRelations
    from mbssa.mechanism import Mechanism


_ADVICE = (
    "write it with + - * / ** and NumPy's functions of complex numbers (np.sqrt(x @ x) for np.linalg.norm "
    "and np.hypot, np.arctan for np.arctan2; no abs, max, comparison, math.* or float()), or give "
    "`derivative`"
)

#: Steps of the central differences that check derivatives, rad and sizes of the mechanism; and the share of
#: the largest derivative by which they may differ: a missing term is more.
_STEPS, _AGREE = (1e-3, 1e-4), 1e-5

#: Motion from the reference to the pose of the second check, rad and sizes of the mechanism.
_ASIDE = 0.01

#: Twists' components in messages.
_COMPONENTS = ("x", "y", "z", "turning about x", "turning about y")


def check_functions(mechanism: Mechanism, relations: Mapping[int, JointRelations], poses: Poses) -> None:
    """Check the users' functions of a mechanism at its reference, each once as long as nothing changes."""
    faults = Faults()
    for j, found in relations.items():
        if found.function is None:
            continue
        at = poses[list(found.bodies)]
        try:
            resolved = found.function.resolve()
            _check_once(
                found.function, resolved, at.position.tobytes(), at.rotation.tobytes(), at.angle.tobytes()
            )
        except ValueError as error:
            faults.add(f"joint {mechanism.joint_ids[j]}", str(error), "function")
    faults.raise_if_any(mechanism.name or "mechanism")


@lru_cache(1024)
def _check_once(
    function: UserFunction, _resolved: Resolved, position: bytes, rotation: bytes, angle: bytes
) -> None:
    m = function.bodies
    arrays = np.frombuffer(position), np.frombuffer(rotation), np.frombuffer(angle)
    check_function(function, Poses(arrays[0].reshape(m, 3), arrays[1].reshape(m, 3, 3), arrays[2]))


def check_function(function: UserFunction, poses: Poses) -> None:
    """Call a user's function at and near its bodies' reference poses; check derivatives by differences."""
    # ValueError if it fails, returns anything but one finite number, writes into its arguments or is not
    # analytic, or if its derivative is another function's.
    resolved = function.resolve()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not np.isfinite(value := _number(function, resolved.function, poses)):
            raise ValueError(f"{function.name} returns {value} at the reference; it must be finite there")
        _check_at(function, resolved, poses)
        aside = _ASIDE * np.random.default_rng(7).uniform(-1.0, 1.0, (function.bodies, 6))
        poses = _moved(function, poses, aside)
        if np.isfinite(_number(function, resolved.function, poses)):
            _check_at(function, resolved, poses)


def _check_at(function: UserFunction, resolved: Resolved, poses: Poses) -> None:
    name, derivative = function.name, resolved.derivative
    if derivative is None:
        _number(function, resolved.function, poses, complex)
    elif not np.isfinite(_slope(function, derivative, poses)).all():
        raise ValueError(f"{name_of(derivative)}, the derivative of {name}, is not finite")
    value, exact = value_and_derivative(function, poses)
    exact = exact * _scale(function)
    error = np.full(exact.shape, np.inf)
    for h in _STEPS:
        near = _differences(function, resolved.function, poses, h)
        if not np.isfinite(near).all():
            return
        error = np.minimum(error, np.abs(near - exact))
        largest = max(np.abs(near).max(), abs(value), 1e-9)
    if (error <= _AGREE * largest).all():
        return
    k, i = np.unravel_index(int(np.argmax(np.where(np.isnan(error), np.inf, error))), error.shape)
    by = (*_COMPONENTS, "the angle" if function.planar else "turning about z")[i]
    what = f"by {by} of its body {k + 1} is {(exact / _scale(function))[k, i]:.6g}"
    differences = f"differences give {(near / _scale(function))[k, i]:.6g}"
    if derivative is None:
        raise ValueError(
            f"{name} is not analytic: by complex step its derivative {what}, {differences}; {_ADVICE}"
        )
    wanted = "(m, 3), by x, y and angle" if function.planar else "(m, 6), by v and w in world axes"
    raise ValueError(
        f"{name_of(derivative)} is not the derivative of {name}: that {what}, {differences}; give {wanted}"
    )


def _number(
    function: UserFunction, call: Callable[..., Any], poses: Poses, kind: type[float | complex] = float
) -> float:
    """Real part of the value of a function of real or complex arguments."""
    try:
        found = call(*_arguments(function, poses, kind))
    except (Exception, SystemExit) as error:
        if kind is float:
            raise ValueError(_failure(call, error)) from error
        raise ValueError(
            f"{name_of(call)} takes no complex numbers ({error_line(error)}); {_ADVICE}"
        ) from error
    if np.ndim(found) != 0 or not np.issubdtype(np.asarray(found).dtype, np.number):
        shape = f"an array of shape {np.shape(found)}" if np.ndim(found) else f"{found!r}"
        raise ValueError(
            f"{name_of(call)} returns {shape}; it must return one number, zero where the constraint holds"
        )
    return float(np.real(found))


def _slope(function: UserFunction, call: Callable[..., Any], poses: Poses) -> Floats:
    try:
        found = np.asarray(call(*_arguments(function, poses, float)), dtype=np.float64)
    except (Exception, SystemExit) as error:
        raise ValueError(_failure(call, error)) from error
    check_shape(function, call, found)
    return found


def _failure(call: Callable[..., Any], error: BaseException) -> str:
    if "read-only" in str(error):
        return f"{name_of(call)} writes into its arguments; write into a copy (q = q.copy())"
    return f"{name_of(call)} fails at the reference: {error_line(error)}"


def _arguments(function: UserFunction, poses: Poses, kind: type[float | complex]) -> tuple[Any, ...]:
    """Arguments of a function, which are read-only."""
    q: npt.NDArray[Any] = np.array(poses.position, dtype=kind)
    if function.planar:
        q[:, 2] = poses.angle
    arguments = (q,) if function.planar else (q, np.array(poses.rotation, dtype=kind))
    for array in arguments:
        array.flags.writeable = False
    return arguments


def _differences(function: UserFunction, call: Callable[..., Any], poses: Poses, h: float) -> Floats:
    """Central differences (m, 6) of the fourth order by steps of h, times the scale."""
    found = np.zeros((function.bodies, 6))
    for k in range(function.bodies):
        for i in (0, 1, 5) if function.planar else range(6):
            for ahead, factor in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
                step = np.zeros((function.bodies, 6))
                step[k, i] = ahead * h
                found[k, i] += factor * _number(function, call, _moved(function, poses, step))
    return found / (12 * h)


def _scale(function: UserFunction) -> Floats:
    """Units (6,) of motions: the mechanism's size, and 1 rad."""
    return np.array([function.size] * 3 + [1.0] * 3)


def _moved(function: UserFunction, poses: Poses, step: Floats) -> Poses:
    """Poses after a motion (m, 6) of the bodies in units of the scale: translation, then rotation vector."""
    return poses.moved(step * _scale(function), np.zeros((function.bodies, 3)))
