"""Whether a user's function can be worked with: called once at the reference and once near it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mbssa.faults import Fault, ModelError
from mbssa.joints.user import Resolved, UserFunction, value_and_derivative
from mbssa.joints.user_sources import in_python, name_of, said

if TYPE_CHECKING:
    from mbssa.joints.relations import JointRelations, Poses
    from mbssa.mechanism import Mechanism

Floats = npt.NDArray[np.float64]

_ADVICE = (
    "write it with + - * / ** and NumPy's functions of complex numbers (np.sqrt(x @ x) for np.linalg.norm "
    "and np.hypot, np.arctan for np.arctan2; no abs, max, comparison, math.* or float()), or give "
    "`derivative`"
)

#: Steps of the central differences that check derivatives, rad and sizes of the mechanism; and how much of
#: the largest derivative they may differ by: a term that is missing is more.
_STEPS, _AGREE = (1e-3, 1e-4), 1e-5

#: How far bodies are moved from where they are checked for a second time, rad and sizes of the mechanism.
_ASIDE = 0.01


def check_functions(mechanism: Mechanism, relations: Mapping[int, JointRelations], poses: Poses) -> None:
    """Check the users' functions of a mechanism at its reference, each once as long as nothing changes.

    Raises
    ------
    ModelError
        Every function that :func:`check_function` refuses, with its joint.
    """
    faults = []
    for j, found in relations.items():
        if found.function is None:
            continue
        of = list(found.bodies)
        try:
            _check_once(
                found.function,
                found.function.resolve(),
                *(part[of].tobytes() for part in (poses.position, poses.rotation, poses.angle)),
            )
        except ValueError as error:
            faults.append(Fault(f"joint {mechanism.joint_ids[j]}", str(error)))
    if faults:
        raise ModelError(mechanism.name or "mechanism", faults)


@lru_cache(1024)
def _check_once(
    function: UserFunction, _resolved: Resolved, position: bytes, rotation: bytes, angle: bytes
) -> None:
    m = function.bodies
    check_function(
        function,
        np.frombuffer(position).reshape(m, 3),
        np.frombuffer(rotation).reshape(m, 3, 3),
        np.frombuffer(angle),
    )


def check_function(
    function: UserFunction, position: Floats, rotation: Floats | None = None, angle: Floats | None = None
) -> None:
    """Call a user's function at a pose and near it: do its derivatives agree with central differences?

    Parameters
    ----------
    position, rotation, angle : as :func:`value_and_derivative` takes them, at the reference

    Raises
    ------
    ValueError
        As :meth:`UserFunction.resolve`; the function fails there, returns anything but one finite number,
        writes into its arguments, is not analytic, or its derivative is another function's.

    Examples
    --------
    >>> far = UserFunction(lambda q: abs(q[0, 0]) - 5.0, 1, True)
    >>> check_function(far, np.array([[5.0, 4.0, 0.0]]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: <lambda> is not analytic: by complex step its derivative by x of its body 1 is 0, ...
    """
    resolved = function.resolve()
    turned = np.tile(np.eye(3), (function.bodies, 1, 1)) if rotation is None else rotation
    angles = np.zeros(function.bodies) if angle is None else angle
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _check_at(function, resolved, position, turned, angles, False)
        rng = np.random.default_rng(7)
        step = _ASIDE * rng.uniform(-1.0, 1.0, (function.bodies, 6)) * _scale(function)
        _check_at(function, resolved, *_moved(function, position, turned, angles, step), True)


def _check_at(
    function: UserFunction, resolved: Resolved, position: Floats, rotation: Floats, angle: Floats, aside: bool
) -> None:
    name = function.name
    value = _number(function, resolved.function, position, rotation, angle, real=True)
    if not np.isfinite(value):
        if aside:
            return
        raise ValueError(f"{name} returns {value} at the reference; it must be finite there")
    if resolved.derivative is None:
        _number(function, resolved.function, position, rotation, angle, real=False)
    else:
        slope = _slope(function, resolved.derivative, position, rotation, angle)
        if not np.isfinite(slope).all():
            raise ValueError(f"{name_of(resolved.derivative)}, the derivative of {name}, is not finite")
    exact = value_and_derivative(function, position, rotation, angle)[1] * _scale(function)
    off = np.full(exact.shape, np.inf)
    for h in _STEPS:
        near = _differences(function, resolved.function, position, rotation, angle, h)
        if not np.isfinite(near).all():
            return
        off = np.minimum(off, np.abs(near - exact))
        largest = max(np.abs(near).max(), abs(value), 1e-9)
    bad = ~(off <= _AGREE * largest)
    if not bad.any():
        return
    k, i = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
    by = (
        "x",
        "y",
        "z",
        "turning about x",
        "turning about y",
        "the angle" if function.planar else "turning about z",
    )
    what = f"by {by[i]} of its body {k + 1} is {(exact / _scale(function))[k, i]:.6g}"
    differences = f"differences say {(near / _scale(function))[k, i]:.6g}"
    if resolved.derivative is None:
        raise ValueError(
            f"{name} is not analytic: by complex step its derivative {what}, {differences}; {_ADVICE}"
        )
    wanted = "(m, 3), by x, y and angle" if function.planar else "(m, 6), by v and w in world axes"
    raise ValueError(
        f"{name_of(resolved.derivative)} is not the derivative of {name}: that {what}, {differences}; "
        f"give {wanted}"
    )


def _number(
    function: UserFunction,
    call: Callable[..., Any],
    position: Floats,
    rotation: Floats,
    angle: Floats,
    real: bool,
) -> float:
    """Value of a function, if that is a number; arguments are real or complex."""
    arguments = _arguments(function, position, rotation, angle, float if real else complex)
    try:
        found = in_python(call)(*arguments)
    except (Exception, SystemExit) as error:
        if real:
            raise ValueError(_failure(name_of(call), error)) from error
        raise ValueError(f"{name_of(call)} takes no complex numbers ({said(error)}); {_ADVICE}") from error
    if np.ndim(found) != 0 or not np.issubdtype(np.asarray(found).dtype, np.number):
        shape = f"an array of shape {np.shape(found)}" if np.ndim(found) else f"{found!r}"
        raise ValueError(
            f"{name_of(call)} returns {shape}; it must return one number, zero where the constraint holds"
        )
    return float(np.real(found))


def _slope(
    function: UserFunction, call: Callable[..., Any], position: Floats, rotation: Floats, angle: Floats
) -> Floats:
    arguments = _arguments(function, position, rotation, angle, float)
    try:
        found = np.asarray(in_python(call)(*arguments), dtype=np.float64)
    except (Exception, SystemExit) as error:
        raise ValueError(_failure(name_of(call), error)) from error
    if found.shape != function.shape:
        what = f"the derivative must have {function.shape}, a row a body"
        raise ValueError(f"{name_of(call)} returns shape {found.shape}; {what}")
    return found


def _failure(name: str, error: BaseException) -> str:
    if "read-only" in str(error):
        return f"{name} writes into its arguments; write into a copy (q = q.copy())"
    return f"{name} fails at the reference: {said(error)}"


def _arguments(
    function: UserFunction, position: Floats, rotation: Floats, angle: Floats, kind: type
) -> tuple[Any, ...]:
    """Arguments of a function, which are read-only."""
    q: npt.NDArray[Any] = np.array(position, dtype=kind)
    if function.planar:
        q[:, 2] = angle
    arguments = (q,) if function.planar else (q, np.array(rotation, dtype=kind))
    for array in arguments:
        array.flags.writeable = False
    return arguments


def _differences(
    function: UserFunction,
    call: Callable[..., Any],
    position: Floats,
    rotation: Floats,
    angle: Floats,
    h: float,
) -> Floats:
    """(m, 6) central differences of the fourth order by steps of h, times the scale."""
    found = np.zeros((function.bodies, 6))
    for k in range(function.bodies):
        for i in (0, 1, 5) if function.planar else range(6):
            for ahead, factor in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
                step = np.zeros((function.bodies, 6))
                step[k, i] = ahead * h
                pose = _moved(function, position, rotation, angle, step * _scale(function))
                found[k, i] += factor * _number(function, call, *pose, real=True)
    return found / (12 * h)


def _scale(function: UserFunction) -> Floats:
    """(6,) what motions are measured by: the mechanism's size, and 1 rad."""
    return np.array([function.size] * 3 + [1.0] * 3)


def _moved(
    function: UserFunction, position: Floats, rotation: Floats, angle: Floats, step: Floats
) -> tuple[Floats, Floats, Floats]:
    """Poses after a motion (m, 6) of the bodies: translation, then rotation vector."""
    if function.planar:
        return position + step[:, :3] * [1.0, 1.0, 0.0], rotation, angle + step[:, 5]
    from scipy.spatial.transform import Rotation

    return position + step[:, :3], Rotation.from_rotvec(step[:, 3:]).as_matrix() @ rotation, angle
