"""Laws of coordinates, functions of time that give value, rate and acceleration, and motions from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from groups.motion.sampled import Motion, instants_of, name_faults, reference_values
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.expressions import function_of
from mbssa.graph import nodes
from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.evaluation import evaluated as graph_values
from mbssa.graph.nodes import Graph, Number
from mbssa.io.motion import by_id
from mbssa.joints.catalogue import coordinate_unit
from mbssa.motion import LONGEST, MOST_STEPS, SHORTEST, DefaultMotion, InputLaw
from mbssa.texts import counted

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

#: A law gives value, rate and acceleration (T,) at times (T,).
Law = Callable[[Floats], tuple[Floats, Floats, Floats]]

#: Points between which a bare value is differentiated: doubled until the acceleration settles.
_FEWEST, _MOST = 501, 64_001

#: Points about a single instant.
_NEAR = 11

#: Instants below which no spline can be differentiated twice.
FEWEST = 4

#: Change of the acceleration, over its largest, at which it has settled.
_SETTLED = 1e-9


class OutsideError(ValueError):
    """An instant that a law does not reach; no reason to try the law in another way."""


def reached(t: Floats, first: float, last: float, what: str) -> None:
    """Refuse instants outside of the range of a law, but for rounding."""
    slack = 1e-9 * (last - first)
    outside = np.flatnonzero((t < first - slack) | (t > last + slack))
    if len(outside):
        there = f"{what}, {first:.9g} to {last:.9g} s; end before, or let it reach there"
        raise OutsideError(f"t = {t[outside[0]]:.9g} s lies outside {there}")


def of_time(value: Callable[[Number], Number]) -> Law:
    """The law of a value on any numbers; its rates are derivatives of the expression graph."""
    levels = [value(Graph().input("t", 0))]
    for _ in range(2):
        levels += derivative(levels[-1:], Direction(lambda *_: 1.0))

    def law(t: Floats) -> tuple[Floats, Floats, Floats]:
        with np.errstate(all="ignore"):
            parts = [np.broadcast_to(x, t.shape) for x in graph_values(levels, lambda *_: t)]
        return parts[0], parts[1], parts[2]

    return law


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
    for number in coefficients:
        if not isinstance(number, int | float | np.number) or not np.isfinite(number):
            remedy = "write a number, such as 6.28 for 1 turn per second"
            raise ValueError(f"{number!r} is not a finite number; {remedy}")
    return of_time(lambda t: nodes.polynomial(t, coefficients))


def harmonic(amplitude: float, frequency: float, phase: float = 0.0, mean: float = 0.0) -> Law:
    """mean + amplitude sin(2π frequency t + phase); frequency in Hz, phase in rad.

    >>> [round(float(part[0]), 9) for part in harmonic(2.0, 1.0, mean=1.0)(np.array([0.25]))]
    [3.0, 0.0, -78.956835209]
    """
    w = 2 * np.pi * frequency
    return of_time(lambda t: mean + amplitude * nodes.sin(w * t + phase))


def ramp(start: float, end: float, begin: float, duration: float) -> Law:
    """Smooth step from ``start`` to ``end``: the quintic with no rate or acceleration at either end.

    >>> [round(float(part[0]), 9) for part in ramp(0.0, 2.0, 1.0, 4.0)(np.array([3.0]))]
    [1.0, 0.9375, 0.0]
    """
    rise = end - start

    # Rates by factors, without cancellation at the end.
    def law(t: Floats) -> tuple[Floats, Floats, Floats]:
        s = np.clip((t - begin) / duration, 0.0, 1.0)
        value = start + rise * s**3 * (10 - 15 * s + 6 * s * s)
        rate = rise / duration * 30 * s**2 * (1 - s) ** 2
        second = rise / duration**2 * 60 * s * (1 - s) * (1 - 2 * s)
        return value, rate, second

    return law


def spline(times: npt.ArrayLike, values: npt.ArrayLike) -> Law:
    """The natural cubic spline through points.

    A ValueError for fewer than two points, times that do not increase, numbers that are not finite or not as
    many values as times; and from the law, for an instant outside the times.

    >>> [round(float(part[0]), 9) for part in spline([0, 1, 2], [0, 1, 0])(np.array([1.0]))]
    [1.0, 0.0, -3.0]
    """
    from scipy.interpolate import CubicSpline

    curve = CubicSpline(np.asarray(times, dtype=float), np.asarray(values, dtype=float), bc_type="natural")
    first, last = float(curve.x[0]), float(curve.x[-1])

    def law(t: Floats) -> tuple[Floats, Floats, Floats]:
        reached(t, first, last, "the points of the spline")
        return curve(t), curve(t, 1), curve(t, 2)

    return law


def formula(text: str, unit: Literal["m", "rad", ""] = "", scale: float = 1.0) -> Law:
    """An expression of the time t in s; what has no unit counts ``scale`` of ``unit``."""
    return of_time(function_of(text, ("t",), unit, scale))


def law_of(given: Callable[[Any], Any] | str, unit: Literal["m", "rad", ""], t: Floats) -> Law:
    """The law of an expression in text, or of any function of time; what gives rates at t (T,) as it is."""
    law = formula(given, unit) if isinstance(given, str) else given
    try:
        return law if isinstance(law(t), tuple) else partial(evaluated, law)
    except (TypeError, ValueError):  # it takes one instant, or says at its evaluation what is wrong
        return partial(evaluated, law)


def evaluated(law: Callable[[Any], Any], t: Floats) -> tuple[Floats, Floats, Floats]:
    """Value, rate and acceleration (T,) of a law, or of any function of time, at instants (T,)."""
    # The rates of a value alone are derivatives of the function's expression, where it can be traced. Another
    # function is sampled on a regular grid over the instants, 501 to 64,001 points, doubled until the
    # acceleration settles, and differentiated by the quintic spline through it; for a single instant the grid
    # reaches 5 ms to both sides of it, from 11 points on.
    parts = _called(law, t)
    if isinstance(parts, tuple):
        return parts
    first, last, points = (t[0], t[-1], _FEWEST) if len(t) > 1 else (t[0] - 5e-3, t[0] + 5e-3, _NEAR)
    if (traced := _traced(law, np.append(t, np.linspace(first, last, _NEAR)))) is not None:
        return parts, traced[1][: len(t)], traced[2][: len(t)]
    rates, change = None, np.inf
    while points <= _MOST and change >= _SETTLED:
        grid = np.linspace(first, last, points)
        finer = np.asarray(_called(law, grid))
        if not np.isfinite(finer).all():
            at = grid[~np.isfinite(finer)][0]
            raise ValueError(f"is not finite at t = {at:.9g} s, where it is differentiated")
        before, previous = rates, change
        rates, points = differentiated(grid, finer, t), 2 * points - 1
        if before is not None:
            largest = max(float(np.abs(rates[1]).max()), 1e-300)
            change = float(np.abs(rates[1] - before[1]).max()) / largest
            if change > previous:  # from here on, rounding of the values is all that a finer grid brings
                return parts, *before
    assert rates is not None
    return parts, *rates


def _traced(law: Callable[[Any], Any], t: Floats) -> tuple[Floats, Floats, Floats] | None:
    """Value and rates of a function of time by its expression; None where that has other values."""
    try:
        found, values = of_time(law)(t), _called(law, t)
        alike = np.abs(found[0] - values) <= 1e-9 * np.abs(values).max(initial=0.0)
    except Exception:  # of nodes: what is wrong with the function itself is raised when it is sampled
        return None
    return found if alike.all() else None


def spline_fault(instants: int) -> str:
    """Fault of a number of instants that no spline can be made of; empty without one."""
    few = f"{counted(instants, 'instant')} cannot determine a spline, which needs {FEWEST}"
    return few if instants < FEWEST else ""


def through(times: Floats, values: Floats) -> BSpline:
    """The spline through four points or more: quintic, with a smooth second derivative; cubic through few."""
    from scipy.interpolate import make_interp_spline

    if fault := spline_fault(len(times)):
        raise ValueError(fault)
    return make_interp_spline(times, values, k=5 if len(times) > 5 else 3)


def differentiated(times: Floats, values: Floats, at: Floats) -> tuple[Floats, Floats]:
    """First and second derivative of the spline through four points or more."""
    # Without the part that stands still, rounding is that of the motion alone.
    spline = through(times, values - values[0])
    return spline(at, 1), spline(at, 2)


def _called(law: Callable[[Any], Any], t: Floats) -> Floats | tuple[Floats, Floats, Floats]:
    """Values of the function, as (T,) or three of them."""
    if not callable(law):
        raise ValueError(
            f"is {law!r}; write a law such as groups.speed(1.0), a function of t, or an expression"
        )
    try:
        answer = law(t)
    except OutsideError:
        raise
    except (TypeError, ValueError):
        # Functions of the math module and those that compare t take one instant.
        each = [law(float(instant)) for instant in t]
        answer = tuple(zip(*each, strict=True)) if each and isinstance(each[0], tuple) else each
    try:
        several = [np.asarray(part, float) for part in (answer if isinstance(answer, tuple) else [answer])]
        parts = [np.array(np.broadcast_to(part, t.shape)) for part in several]
    except (TypeError, ValueError):
        parts = []
    if len(parts) != (3 if isinstance(answer, tuple) else 1):
        raise ValueError("gives no numbers; return the value at t, or (value, rate, acceleration)")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else parts[0]


# --- motions ---------------------------------------------------------------------------------------


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
    names, laws = mechanism.driven_coordinates, by_id(mechanism, laws)
    faults = name_faults(names, laws, "law")
    instants = instants_of(time, faults)
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
        driven = ", ".join(mechanism.driven_coordinates) or "nothing, as none is driven"
        remedy = f"write [motion] into its file, or give a motion of {driven}"
        raise ValueError(f"{mechanism.name or 'the mechanism'} carries no motion; {remedy}")
    check_span(steps, duration)
    instants, inputs = steps or stored.steps, mechanism.n_driven
    if instants * inputs > MOST_STEPS:
        most = f"{MOST_STEPS // inputs:,} steps at most"
        raise ValueError(f"{instants:,} steps of {inputs} inputs; write {most}")
    start = cache(lambda: reference_values(mechanism) if at_reference is None else at_reference)
    laws = laws_from_data(stored, lambda name: start().get(name, 0.0))
    time = np.linspace(0.0, stored.duration if duration is None else duration, instants)
    return sample(mechanism, laws, time)


def usual_motion(mechanism: Mechanism, within: tuple[float, float] | None = None) -> DefaultMotion | None:
    """Motion of 1 s and 361 instants for a mechanism that has none, and one driven coordinate; else None."""
    # It is described at `default_motion`; `within` are other limits (m or rad) than the coordinate's.
    if mechanism.n_driven != 1:
        return None
    (name,) = mechanism.driven_coordinates
    limits = within or mechanism.coordinate_limits.get(name)
    if limits is None:
        turn = InputLaw("speed", {"rate": 2 * np.pi})
        return DefaultMotion(1.0, 361, {name: turn}) if name.endswith(".angle") else None
    low, high = limits
    start = reference_values(mechanism)[name]
    if not low <= start <= high or low == high:
        return None
    mean, amplitude = (low + high) / 2, (high - low) / 2
    phase = float(np.arcsin(np.clip((start - mean) / amplitude, -1.0, 1.0)))
    given = {"amplitude": amplitude, "frequency": 1.0, "phase": phase, "mean": mean}
    return DefaultMotion(1.0, 361, {name: InputLaw("harmonic", given)})


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
    given: dict[str, Any] = {"phase": 0.0, "begin": 0.0, **law.parameters}
    if law.name == "formula":
        return formula(given["formula"], unit, given["unit"])
    if law.name == "spline":
        return spline(given["times"], given["values"])
    key = {"constant": "value", "harmonic": "mean"}.get(law.name, "start")
    start = given[key] if key in given else at_reference()
    if law.name == "harmonic":
        amplitude, phase = given["amplitude"], given["phase"]
        mean = start if key in given else start - amplitude * float(np.sin(phase))
        return harmonic(amplitude, given["frequency"], phase, mean)
    if law.name == "ramp":
        return ramp(start, given["end"], given["begin"], given.get("duration", duration - given["begin"]))
    return polynomial(start, *given.get("coefficients", [given["rate"]] if law.name == "speed" else ()))
