"""Driven coordinates of a mechanism: their names, their values at the reference, and at instants."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.bounds import LARGEST, range_fault
from mbssa.faults import meant
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.poses import Poses
from mbssa.joints.system import coordinates_at

#: Numbers of a joint's bodies: names that differ by them alone are coordinates of two joints.
_JOINT = re.compile(r"\d+")


@dataclass(frozen=True, eq=False)
class Motion:
    """Sampled inputs of a mechanism.

    A ValueError has all faults: shapes that do not fit, numbers that are not finite, time that does not
    increase.

    Attributes
    ----------
    time : (T,) s, strictly increasing
    names : the D driven coordinates as ``joint.coordinate``, in the order of the model's joints
    value, rate, acceleration : (D, T) in m and rad, per s and per s²

    Examples
    --------
    >>> zero = np.zeros((1, 2))
    >>> Motion(np.array([0.0, 1.0]), ("1-2.angle",), zero, zero, zero).within(slice(1, 2)).time
    array([1.])
    """

    time: Floats
    names: tuple[str, ...]
    value: Floats
    rate: Floats
    acceleration: Floats

    def __post_init__(self) -> None:
        faults, shape = time_faults(self.time), (len(self.names), len(self.time))
        for label in ("value", "rate", "acceleration"):
            array = getattr(self, label)
            if array.shape != shape:
                faults.append(f"{label} has the shape {array.shape}; it needs {shape}")
                continue
            largest = LARGEST if label == "value" else np.finfo(float).max
            for row, at in np.argwhere(~(np.abs(array) <= largest))[:1].tolist():
                number = array[row, at]
                what = range_fault(number) if np.isfinite(number) else "is not finite"
                faults.append(f"{label} of {self.names[row]} {what} at t = {self.time[at]:.9g} s")
        if faults:
            raise ValueError("; ".join(faults))

    def within(self, span: slice) -> Motion:
        """The motion at some of its instants, copied."""
        levels = (array[:, span].copy() for array in (self.value, self.rate, self.acceleration))
        return Motion(self.time[span].copy(), self.names, *levels)


def time_faults(time: Floats) -> list[str]:
    """Faults of instants, which have to be (T,), finite and strictly increasing."""
    if time.ndim != 1:
        return [f"time has the shape {time.shape}; write (T,)"]
    if not len(time):
        return ["time has no instants"]
    if not np.isfinite(time).all():
        return [f"time is not finite at instant {int(np.flatnonzero(~np.isfinite(time))[0])}"]
    if (np.abs(time) > LARGEST).any():
        return [f"time {range_fault(float(time[np.argmax(np.abs(time))]))}"]
    if (np.diff(time) <= 0).any():
        at = int(np.flatnonzero(np.diff(time) <= 0)[0]) + 1
        return [f"time does not increase at instant {at} ({time[at]:.9g} s after {time[at - 1]:.9g} s)"]
    return []


def instants_of(given: npt.ArrayLike, faults: list[str]) -> Floats:
    """Instants (T,); faults are added where they are not finite and strictly increasing numbers."""
    try:
        time = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        faults.append(f"time is {given!r}; write increasing numbers")
        return np.zeros(2)
    faults += time_faults(time)
    return time if time.ndim == 1 else np.zeros(2)


def finite(
    given: npt.ArrayLike, time: Floats, what: str, faults: list[str], *shapes: tuple[int, ...]
) -> Floats:
    """Numbers over time, of its shape or one of these; a fault is added where they are not, or not finite."""
    try:
        array = np.array(given, dtype=float)
    except (TypeError, ValueError) as error:
        faults.append(f"{what} are no numbers: {error}")
        return np.zeros((shapes or (time.shape,))[0])
    sound = np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
    if array.shape not in (shapes or (time.shape,)):
        wanted = f"they need {' or '.join(map(str, shapes))}" if shapes else f"time has {time.shape}"
        faults.append(f"{what} have the shape {array.shape}; {wanted}")
    elif not sound.all():
        faults.append(f"{what} are not finite at t = {time[~sound][0]:.9g} s")
    return array


def driven_coordinates(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of the driven coordinates in the order of the joints.

    >>> import mbssa
    >>> driven_coordinates(mbssa.load("rotor"))
    ('9-13.angle', '13-15.angle', '11-14.angle_1')
    """
    return mechanism.driven_coordinates


def reference_inputs(mechanism: Mechanism, frames: Frames, at: Poses) -> Floats:
    """Values (D,) of the driven coordinates in a configuration, m and rad; angles near ``at_reference``."""
    # A coordinate of a type without equations on a relative pose (gears, cams) has its at_reference.
    values = []
    for j in np.flatnonzero(mechanism.driven).tolist():
        joint, found = mechanism.joints[j], frames.at_reference(mechanism, j)
        if joint.type.pair is not None:
            here = coordinates_at(mechanism, frames, at, [j])[0]
            found = dict(zip(joint.type.coordinates, here, strict=True))
        values += [found.get(name, 0.0) for name in joint.driven]
    return np.array(values)


def reference_values(mechanism: Mechanism) -> dict[str, float]:
    """Values of the driven coordinates in the assembled reference configuration, m and rad."""
    bare = [mechanism.joint_ids[j] for j in mechanism.without_geometry if mechanism.driven[j]]
    if bare:
        raise ValueError(
            f"no geometry at {', '.join(bare)}, so the reference has no values to start from; "
            "give the joints geometry, or a start of its own to every law"
        )
    frames = joint_frames(mechanism)
    at = assemble(mechanism, frames, hold=True).configuration
    values = reference_inputs(mechanism, frames, at).tolist()
    return dict(zip(driven_coordinates(mechanism), values, strict=True))


def name_faults(names: tuple[str, ...], given: Iterable[str], what: str) -> list[str]:
    """Driven coordinates that are not among ``given``, and given ones that are not driven."""
    given = list(given)
    faults = [f"no {what} for {name}" for name in names if name not in given]
    for name in given:
        if name not in names:
            misspelt = [known for known in names if _JOINT.sub("", known) != _JOINT.sub("", str(name))]
            hint = meant(name, misspelt).rstrip() or f"driven are {', '.join(names) or 'none'}"
            faults.append(f"{name} is not driven; {hint}")
    return faults


def check_drives(mechanism: Mechanism, motion: Motion) -> None:
    """Refuse a motion of other coordinates than a mechanism has driven."""
    wanted = driven_coordinates(mechanism)
    if tuple(motion.names) != wanted:
        raise ValueError(f"the motion drives {motion.names}; the model needs {wanted}")
