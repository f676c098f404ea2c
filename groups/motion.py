"""Driven coordinates over time: value, rate and acceleration of each at every instant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mbssa import Mechanism
from mbssa.joints.catalogue import CATALOGUE, coordinate_unit
from mbssa.joints.equations import coordinates, equations_of
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.system import Configuration, relative_pose

Floats = npt.NDArray[np.float64]

#: A law gives value, rate and acceleration (T,) at times (T,).
Law = Callable[[Floats], tuple[Floats, Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Motion:
    """Sampled inputs of a mechanism.

    Attributes
    ----------
    time : (T,) s, strictly increasing
    names : the D driven coordinates as ``joint.coordinate``, in the order of the model's joints
    value, rate, acceleration : (D, T) in m and rad, per s and per s²

    Raises
    ------
    ValueError
        Shapes that do not fit, numbers that are not finite, time that does not increase: all of them.

    Examples
    --------
    >>> zero = np.zeros((1, 2))
    >>> Motion(np.array([0.0, 1.0]), ("1-2.angle",), zero, zero, zero).names
    ('1-2.angle',)
    """

    time: Floats
    names: tuple[str, ...]
    value: Floats
    rate: Floats
    acceleration: Floats

    def __post_init__(self) -> None:
        faults = []
        if self.time.ndim != 1 or len(self.time) == 0:
            faults.append("time has no instants")
        elif not np.isfinite(self.time).all():
            faults.append(f"time is not finite at instant {int(np.flatnonzero(~np.isfinite(self.time))[0])}")
        elif (np.diff(self.time) <= 0).any():
            at = int(np.flatnonzero(np.diff(self.time) <= 0)[0]) + 1
            faults.append(f"time does not increase at instant {at} ({self.time[at]} s)")
        for label in ("value", "rate", "acceleration"):
            array = getattr(self, label)
            if array.shape != (len(self.names), len(self.time)):
                shape = (len(self.names), len(self.time))
                faults.append(f"{label} has the shape {array.shape}; it needs {shape}")
            elif not np.isfinite(array).all():
                row, at = np.argwhere(~np.isfinite(array))[0].tolist()
                faults.append(f"{label} of {self.names[row]} is not finite at t = {self.time[at]} s")
        if faults:
            raise ValueError("; ".join(faults))


def driven_coordinates(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of the driven coordinates in the order of the joints.

    >>> import mbssa
    >>> driven_coordinates(mbssa.load("rotor"))
    ('9-13.angle', '13-15.angle', '11-14.angle_1')
    """
    return tuple(f"{joint.id}.{name}" for joint in mechanism.joints if joint.driven for name in joint.driven)


def reference_inputs(mechanism: Mechanism, frames: Frames, at: Configuration) -> Floats:
    """(D,) values of the driven coordinates in a configuration, m and rad; angles near ``at_reference``."""
    values = []
    for joint in mechanism.joints:
        if not joint.driven:
            continue
        kind = CATALOGUE[int(mechanism.joint_type[joint.index])]
        rows = equations_of(kind)
        assert rows is not None
        which = np.array([joint.index])
        body = np.array([mechanism.joint_bodies(joint.index)[:2]])
        d, C, _, _ = relative_pose(frames, at, which, body)
        given = {name: column[which] / frames.size for name, column in frames.parameters.items()}
        found, _ = coordinates(rows, d, C, given)
        for name in joint.driven:
            value = float(found[0, kind.coordinates.index(name)])
            length = coordinate_unit(name) == "m"
            value *= frames.size if length else 1.0
            known = joint.geometry.at_reference.get(name) if joint.geometry is not None else None
            if known is not None and not length:
                value += 2 * np.pi * round((known - value) / (2 * np.pi))
            values.append(value)
    return np.array(values)


def constant(value: float) -> Law:
    """A coordinate that stands still.

    >>> [float(part[0]) for part in constant(0.5)(np.array([2.0]))]
    [0.5, 0.0, 0.0]
    """
    return polynomial(value)


def speed(rate: float, start: float = 0.0) -> Law:
    """Constant speed from ``start`` at t = 0.

    >>> [float(part[0]) for part in speed(3.0, 1.0)(np.array([2.0]))]
    [7.0, 3.0, 0.0]
    """
    return polynomial(start, rate)


def polynomial(*coefficients: float) -> Law:
    """c0 + c1 t + c2 t² + …

    >>> [float(part[0]) for part in polynomial(1, 2, 3)(np.array([2.0]))]
    [17.0, 14.0, 6.0]
    """
    p = np.polynomial.Polynomial(coefficients)
    return lambda t: (p(t), p.deriv(1)(t), p.deriv(2)(t))


def harmonic(amplitude: float, frequency: float, phase: float = 0.0, mean: float = 0.0) -> Law:
    """mean + amplitude sin(2π frequency t + phase); frequency in Hz, phase in rad.

    >>> [round(float(part[0]), 9) for part in harmonic(2.0, 1.0, mean=1.0)(np.array([0.25]))]
    [3.0, 0.0, -78.956835209]
    """
    w = 2 * np.pi * frequency

    def law(t: Floats) -> tuple[Floats, Floats, Floats]:
        s, c = np.sin(w * t + phase), np.cos(w * t + phase)
        return mean + amplitude * s, amplitude * w * c, -amplitude * w * w * s

    return law


def ramp(start: float, end: float, begin: float, duration: float) -> Law:
    """Smooth step from ``start`` to ``end``: the quintic with no rate or acceleration at either end.

    >>> [round(float(part[0]), 9) for part in ramp(0.0, 2.0, 1.0, 4.0)(np.array([3.0]))]
    [1.0, 0.9375, 0.0]
    """

    def law(t: Floats) -> tuple[Floats, Floats, Floats]:
        s = np.clip((t - begin) / duration, 0.0, 1.0)
        inside = (s > 0) & (s < 1)
        rise = end - start
        value = start + rise * s**3 * (10 - 15 * s + 6 * s * s)
        rate = np.where(inside, rise / duration * 30 * s**2 * (1 - s) ** 2, 0.0)
        second = np.where(inside, rise / duration**2 * 60 * s * (1 - s) * (1 - 2 * s), 0.0)
        return value, rate, second

    return law


def spline(times: npt.ArrayLike, values: npt.ArrayLike) -> Law:
    """The natural cubic spline through points.

    Raises
    ------
    ValueError
        Times that do not increase, or other numbers of times and values.

    Examples
    --------
    >>> [round(float(part[0]), 9) for part in spline([0, 1, 2], [0, 1, 0])(np.array([1.0]))]
    [1.0, 0.0, -3.0]
    """
    from scipy.interpolate import CubicSpline

    through = CubicSpline(np.asarray(times, dtype=float), np.asarray(values, dtype=float), bc_type="natural")
    return lambda t: (through(t), through(t, 1), through(t, 2))


def sample(mechanism: Mechanism, laws: Mapping[str, Law], time: npt.ArrayLike) -> Motion:
    """Laws of the driven coordinates at these instants.

    Raises
    ------
    ValueError
        A driven coordinate without a law, or a law for none: their names.

    Examples
    --------
    >>> import mbssa
    >>> sample(mbssa.load("planar_four_bar"), {"1-2.angle": speed(1.0)}, [0.0, 0.5]).value
    array([[0. , 0.5]])
    """
    names = driven_coordinates(mechanism)
    faults = [f"no law for {name}" for name in names if name not in laws]
    faults += [f"{name} is not driven; driven are {', '.join(names)}" for name in laws if name not in names]
    if faults:
        raise ValueError("; ".join(faults))
    instants = np.asarray(time, dtype=float)
    parts = [[np.broadcast_to(part, instants.shape) for part in laws[name](instants)] for name in names]
    columns = np.array(parts, dtype=float).reshape(len(names), 3, len(instants))
    return Motion(instants, names, columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy())


def constant_speed(
    mechanism: Mechanism, rate: float = 2 * np.pi, duration: float = 1.0, steps: int = 101
) -> Motion:
    """Every input at one constant speed from its value at the reference.

    ``rate`` in rad/s or m/s; ``steps`` instants over ``duration`` seconds, both ends included.

    >>> import mbssa
    >>> constant_speed(mbssa.load("rotor"), rate=0.1, steps=11).value.shape
    (3, 11)
    """
    frames = joint_frames(mechanism)
    start = reference_inputs(mechanism, frames, Configuration.reference(frames))
    names = driven_coordinates(mechanism)
    laws = {name: speed(rate, float(value)) for name, value in zip(names, start, strict=True)}
    return sample(mechanism, laws, np.linspace(0.0, duration, steps))
