"""The motion that a model carries: from its table to data in SI units, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mbssa.expressions import ExpressionError, function_of
from mbssa.faults import Faults, ModelError, meant
from mbssa.io.toml_text import toml_tables, toml_text
from mbssa.joints.catalogue import coordinate_unit, is_length
from mbssa.mechanism import Mechanism
from mbssa.motion import DefaultMotion, InputLaw, Parameter

if TYPE_CHECKING:
    from mbssa.io.schema import AnyLaw, MotionEntry

Law = TypeVar("Law")

#: Parameters that are times or frequencies; ``phase`` is an angle, the others are as their coordinate.
_OF_TIME = ("times", "frequency", "begin", "duration")


def motion_of(entry: MotionEntry, length: float, angle: float, faults: Faults) -> DefaultMotion:
    """Motion of a checked table, in SI units; ``length`` and ``angle`` are m and rad in a unit of it."""
    inputs = {}
    for name, law in entry.inputs.items():
        scale = length if is_length(name) else angle
        check_law(law, entry.duration, f"[motion] {name}", faults, coordinate_unit(name))
        inputs[name] = law_in_si(law, scale, angle)
    return DefaultMotion(float(entry.duration), entry.steps, inputs)


def law_in_si(law: AnyLaw, scale: float, angle: float) -> InputLaw:
    """A law of a checked table in SI units; ``scale`` and ``angle`` are those of its values and its phase."""
    given = law.model_dump(exclude_unset=True, exclude_none=True, exclude={"law"})
    if law.law == "formula":
        given.setdefault("unit", 1.0)
    return InputLaw(law.law, {key: _in_si(key, given[key], scale, angle) for key in given})


def unit_of_parameter(name: str, unit: str) -> str:
    """SI unit of a law's parameter, "" of times and frequencies; ``unit`` is that of what it moves."""
    return "" if name in _OF_TIME else "rad" if name == "phase" else unit


def _in_si(name: str, value: float | str | list[float], scale: float, angle: float) -> Parameter:
    if isinstance(value, str):
        return value
    factor = 1.0 if name in _OF_TIME else angle if name == "phase" else scale
    if isinstance(value, list):
        return tuple(float(each * factor) for each in value)
    return float(value * factor)


def check_law(law: AnyLaw, duration: float | None, where: str, faults: Faults, unit: str = "") -> None:
    """Collect what is wrong with a law in itself, in a motion of this duration (s) and values in ``unit``."""
    if law.law == "formula":
        try:
            function_of(law.formula, ("t",), unit)
        except ExpressionError as error:
            faults.add(f"{where} formula", str(error))
    if law.law == "ramp" and law.duration is None:
        if duration is None:
            faults.add(f"{where} duration", "is missing; write how long the step lasts, s", "missing")
        elif law.begin >= duration:
            faults.add(f"{where} begin", f"is {law.begin}; the motion ends at {duration} s", "conflict")
    if law.law != "spline":
        return
    if len(law.times) != len(law.values):
        what = f"{len(law.values)} numbers for {len(law.times)} times; write one each"
        faults.add(f"{where} values", what)
    falling = [k for k in range(1, len(law.times)) if law.times[k] <= law.times[k - 1]]
    if falling:
        at = falling[0]
        what = f"{law.times[at]} follows {law.times[at - 1]}; write increasing times"
        faults.add(f"{where} times[{at + 1}]", what)
    elif duration is not None and (law.times[0] > 0 or law.times[-1] < duration):
        what = f"reach from {law.times[0]} to {law.times[-1]} s; the motion lasts from 0 to {duration} s"
        faults.add(f"{where} times", what)


def by_id(mechanism: Mechanism, laws: Mapping[str, Law]) -> dict[str, Law]:
    """Laws by coordinate, with the id of each joint that is named by its bodies."""
    if not isinstance(laws, Mapping):
        raise TypeError(f"{laws!r} names no coordinates; write them as in {{'1-2.angle': 0.5}}")
    found: dict[str, Law] = {}
    for name, law in laws.items():
        called = mechanism.called(name)
        # A second law for one coordinate keeps its name, with which it is a fault.
        found[name if called in laws or called in found else called] = law
    return found


def with_ids(mechanism: Mechanism, motion: DefaultMotion) -> DefaultMotion:
    """The motion with the ids of joints that it names by their bodies."""
    return dataclasses.replace(motion, inputs=by_id(mechanism, motion.inputs))


def _advice(mechanism: Mechanism, name: str, shown: str) -> str:
    """Remedy for a motion law of a coordinate that is not driven."""
    joint, _, coordinate = name.rpartition(".")
    try:
        there = coordinate in mechanism.joint(joint).type.coordinates
    except KeyError:
        there = False
    if not there:
        return shown
    return f'write driven = ["{coordinate}"] at joint {joint}, or leave the law out; {shown}'


def coordinate_faults(mechanism: Mechanism, motion: DefaultMotion) -> Faults:
    """Faults of driven coordinates without a law, and of laws of coordinates that are not driven."""
    driven = list(_driven(mechanism))
    faults = Faults()
    for name in motion.inputs:
        if name not in driven:
            shown = f"driven are {', '.join(driven[:20])}" if driven else "nothing is driven"
            hint = meant(name, driven, most=2)
            advice = hint + shown if hint else _advice(mechanism, name, shown)
            faults.add(f"[motion] {name}", f"is not driven; {advice}", "unknown")
    for name in driven:
        if name not in motion.inputs:
            what = f'has no law; write "{name}" = {{ law = "constant" }} or another law'
            faults.add(f"[motion] {name}", what, "missing")
    return faults


def _driven(mechanism: Mechanism) -> Iterator[str]:
    for joint in mechanism.driven.nonzero()[0].tolist():
        view = mechanism.joints[joint]
        yield from (f"{view.id}.{name}" for name in view.driven)


# --- back ------------------------------------------------------------------------------------------


def motion_record(mechanism: Mechanism) -> dict[str, Any] | None:
    """Table of a mechanism's motion; None if it has none, or one that no longer fits its inputs."""
    motion = mechanism.motion
    if motion is None or coordinate_faults(mechanism, motion):
        return None
    inputs = {name: law_record(law) for name, law in motion.inputs.items()}
    return {"duration": motion.duration, "steps": motion.steps, "inputs": inputs}


def law_record(law: InputLaw) -> dict[str, Any]:
    """Table of a law."""
    values = {
        key: list(value) if isinstance(value, tuple) else value for key, value in law.parameters.items()
    }
    return {"law": law.name} | values


def lost_motion(mechanism: Mechanism) -> list[str]:
    """Motion as something that a file loses, if it no longer fits the inputs."""
    if mechanism.motion is None or motion_record(mechanism) is not None:
        return []
    moves = ", ".join(mechanism.motion.inputs) or "nothing"
    return [f"motion: it moves {moves}, driven are {', '.join(_driven(mechanism)) or 'none'}"]


def motion_from_record(record: Any, units: Any, source_name: str) -> DefaultMotion:
    """Motion of a plain table by itself, which may have ``units`` as a model file."""
    # A ModelError has every fault but those of :func:`coordinate_faults`.
    from mbssa.io.shape_faults import check_shape

    faults = Faults()
    raw: dict[str, Any] = {"format": 1, "space": "spatial", "motion": record}
    model = check_shape(raw if units is None else raw | {"units": units}, faults)
    if model is not None and model.motion is not None:
        motion = motion_of(model.motion, *model.units.scales, faults)
        if not faults:
            return motion
    raise ModelError(source_name, faults)


def read_motion_file(path: Path, mechanism: Mechanism) -> DefaultMotion:
    """Motion in a TOML file: the content of ``[motion]``, or that table, and ``units`` beside it."""
    # Without units it has those of the model file.
    raw = toml_tables(toml_text(path), str(path))
    length, angle = mechanism.units
    units = raw.pop("units", {"length": length, "angle": angle})
    record = raw["motion"] if isinstance(raw.get("motion"), dict) else raw
    try:
        motion = with_ids(mechanism, motion_from_record(record, units, str(path)))
        coordinate_faults(mechanism, motion).raise_if_any(str(path))
    except ModelError as error:
        faults = [fault.at(fault.place.removeprefix("[motion] ")) for fault in error.faults]
        raise ModelError(str(path), faults) from None
    return motion
