"""Motions from laws: a person's, the model's own, or one constant speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from groups.motion.laws import Law, evaluated, formula, harmonic, polynomial, ramp, speed, spline
from groups.motion.sampled import Motion, name_faults, reference_values, time_faults
from mbssa import Mechanism
from mbssa.io.motion import by_id
from mbssa.joints.catalogue import coordinate_unit
from mbssa.motion import LONGEST, MOST_STEPS, SHORTEST, DefaultMotion, InputLaw


def sample(
    mechanism: Mechanism, laws: Mapping[str, Law | Callable[[Any], Any] | str], time: npt.ArrayLike
) -> Motion:
    """Laws of the driven coordinates at these instants.

    A ValueError has all faults: a driven coordinate without a law, a law for none, time that does not
    increase, a law that gives no finite numbers.

    Parameters
    ----------
    laws : for each driven coordinate a law of this package, an expression of t (s) in text, or any function
        of t that returns the value (m or rad) or the tuple (value, rate, acceleration). The rates of a value
        alone are derivatives of its operations, or where these cannot be traced, of a spline through many.
    time : (T,) s, increasing

    Examples
    --------
    >>> import mbssa
    >>> four_bar = mbssa.load("planar_four_bar")
    >>> motion = sample(four_bar, {"1-2.angle": lambda t: 0.1 * t**2}, np.linspace(0, 1, 11))
    >>> motion.acceleration[0, [0, 5, 10]].round(6)
    array([0.2, 0.2, 0.2])
    """
    names, laws, instants = mechanism.driven_coordinates, by_id(mechanism, laws), np.array(time, dtype=float)
    faults = name_faults(names, laws, "law") + time_faults(instants)
    levels = np.zeros((3, len(names), instants.size))
    for row, name in enumerate(() if faults else names):
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # an overflow is reported as not finite
                law = laws[name]
                made = formula(law, coordinate_unit(name)) if isinstance(law, str) else law
                levels[:, row] = evaluated(made, instants)
        except ValueError as error:
            faults.append(f"law of {name}: {error}")
    if faults:
        raise ValueError("; ".join(faults))
    return Motion(instants, names, *levels)


def constant_speed(
    mechanism: Mechanism, rate: float = 2 * np.pi, duration: float = 1.0, steps: int = 101
) -> Motion:
    """Every input at one constant speed from its value at the reference.

    ``rate`` in rad/s or m/s; ``steps`` instants over ``duration`` seconds, both ends included.

    >>> import mbssa
    >>> constant_speed(mbssa.load("rotor"), rate=0.1, steps=11).value.shape
    (3, 11)
    """
    check_span(steps, duration)
    laws = {name: speed(rate, value) for name, value in reference_values(mechanism).items()}
    return sample(mechanism, laws, np.linspace(0.0, duration, steps))


def default_motion(
    mechanism: Mechanism,
    *,
    steps: int | None = None,
    duration: float | None = None,
    at_reference: Mapping[str, float] | None = None,
) -> Motion:
    """The motion that the model carries: ``[motion]`` of its file; else the usual one.

    The usual motion of a mechanism with one driven coordinate has 1 s and 361 instants: a harmonic from the
    reference through the range of the coordinate's limits and back; without limits one turn of an ``angle``
    at constant speed. Others, and those with a reference outside of the limits, have none: a ValueError, as
    for a motion of other inputs, a spline that ends before, steps below 1 or a duration that is not positive.

    Parameters
    ----------
    steps : instants, both ends included; the model's if not given
    duration : s from t = 0, by the same laws; the model's if not given
    at_reference : values of the driven coordinates there (:attr:`groups.Model.reference_inputs`), which are
        otherwise found by assembling the mechanism

    Examples
    --------
    >>> import mbssa
    >>> motion = default_motion(mbssa.load("planar_four_bar"), steps=5)
    >>> (motion.value[0] - motion.value[0, 0]).round(3)
    array([0.   , 1.571, 3.142, 4.712, 6.283])
    """
    stored = usual_motion(mechanism) if mechanism.motion is None else mechanism.motion
    if stored is None:
        name = mechanism.name or "the mechanism"
        inputs = ", ".join(mechanism.driven_coordinates) or "nothing, as none is driven"
        raise ValueError(
            f"{name} carries no motion; write [motion] into its file, or give a motion of {inputs}"
        )
    return stored_motion(mechanism, stored, steps, duration, at_reference)


def usual_motion(mechanism: Mechanism, within: tuple[float, float] | None = None) -> DefaultMotion | None:
    """Motion of 1 s and 361 instants for a mechanism that has none, and one driven coordinate; else None."""
    # It is described at `default_motion`; `within` are other limits (m or rad) than the coordinate's.
    if mechanism.n_driven != 1:
        return None
    (name,) = mechanism.driven_coordinates
    joint, coordinate = mechanism.joints[mechanism.place_of(name)[0]], mechanism.place_of(name)[1]
    limits = within or (None if joint.geometry is None else joint.geometry.limits.get(coordinate))
    if limits is None:
        turn = InputLaw("speed", {"rate": 2 * np.pi})
        return DefaultMotion(1.0, 361, {name: turn}) if coordinate == "angle" else None
    low, high = limits
    start = reference_values(mechanism)[name]
    if not low <= start <= high or low == high:
        return None
    mean, amplitude = (low + high) / 2, (high - low) / 2
    phase = float(np.arcsin(np.clip((start - mean) / amplitude, -1.0, 1.0)))
    given = {"amplitude": amplitude, "frequency": 1.0, "phase": phase, "mean": mean}
    return DefaultMotion(1.0, 361, {name: InputLaw("harmonic", given)})


def stored_motion(
    mechanism: Mechanism,
    stored: DefaultMotion,
    steps: int | None,
    duration: float | None,
    at_reference: Mapping[str, float] | None = None,
) -> Motion:
    """Instants of a motion that is kept as data."""
    check_span(steps, duration)
    instants, inputs = steps or stored.steps, mechanism.n_driven
    if instants * inputs > MOST_STEPS:
        raise ValueError(
            f"{instants:,} steps of {inputs} inputs; write {MOST_STEPS // inputs:,} steps at most"
        )
    start = cache(lambda: reference_values(mechanism) if at_reference is None else at_reference)
    laws = laws_from_data(stored, lambda name: start().get(name, 0.0))
    time = np.linspace(0.0, stored.duration if duration is None else duration, instants)
    return sample(mechanism, laws, time)


def laws_from_data(stored: DefaultMotion, at_reference: Callable[[str], float]) -> dict[str, Law]:
    """Laws of a motion that is kept as data, by coordinate; those without a start ask for the reference's."""
    return {
        name: law_from_data(law, partial(at_reference, name), stored.duration, coordinate_unit(name))
        for name, law in stored.inputs.items()
    }


def check_span(steps: int | None, duration: float | None) -> None:
    """Refuse spans that have no instants."""
    faults = []
    if steps is not None and not (isinstance(steps, Integral) and 1 <= steps <= MOST_STEPS):
        faults.append(f"steps is {steps!r}; write a whole number from 1 to {MOST_STEPS:,}")
    if duration is not None and not (isinstance(duration, Real) and SHORTEST <= duration <= LONGEST):
        faults.append(f"duration is {duration!r}; write {SHORTEST:g} to {LONGEST:g} seconds")
    if faults:
        raise ValueError("; ".join(faults))


def law_from_data(
    law: InputLaw, at_reference: Callable[[], float], duration: float, unit: Literal["m", "rad", ""] = ""
) -> Law:
    """A law from its data, for a coordinate in ``unit``, which starts ``at_reference`` if nothing is said."""
    given: dict[str, Any] = dict(law.parameters)
    if law.name == "formula":
        return formula(given["formula"], unit, given["unit"])
    if law.name == "spline":
        return spline(given["times"], given["values"])
    if law.name == "harmonic":
        amplitude, phase = given.get("amplitude", 0.0), given.get("phase", 0.0)
        mean = given["mean"] if "mean" in given else at_reference() - amplitude * float(np.sin(phase))
        return harmonic(amplitude, given.get("frequency", 0.0), phase, mean)
    key = "value" if law.name == "constant" else "start"
    start = given[key] if key in given else at_reference()
    if law.name == "ramp":
        begin = given.get("begin", 0.0)
        return ramp(start, given.get("end", 0.0), begin, given.get("duration", duration - begin))
    if law.name == "speed":
        return speed(given.get("rate", 0.0), start)
    return polynomial(start, *given.get("coefficients", ()))
