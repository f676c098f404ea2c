"""The motion that a model carries: from its table to data in SI units, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mbssa.expressions import ExpressionError, function_of
from mbssa.faults import Faults, ModelError, meant
from mbssa.io.toml_text import toml_tables, toml_text
from mbssa.joints.catalogue import coordinate_unit
from mbssa.mechanism import Mechanism
from mbssa.motion import DefaultMotion, InputLaw

if TYPE_CHECKING:
    from mbssa.io.schema import AnyLaw, MotionEntry

Law = TypeVar("Law")


def motion_of(entry: MotionEntry, faults: Faults) -> DefaultMotion:
    """Motion of a checked table in SI units."""
    for name, law in entry.inputs.items():
        check_law(law, entry.duration, f"[motion] {name}", faults, coordinate_unit(name))
    inputs = {name: law_of(law) for name, law in entry.inputs.items()}
    return DefaultMotion(entry.duration, entry.steps, inputs)


def law_of(law: AnyLaw) -> InputLaw:
    """A law of a checked table in SI units."""
    keys = law.model_fields_set - {"law"} | {"unit"}
    given = {key: value for key, value in law if key in keys and value is not None}
    if law.law == "formula":
        given.setdefault("unit", 1.0)
    return InputLaw(law.law, given)


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


def coordinate_faults(mechanism: Mechanism, motion: DefaultMotion) -> Faults:
    """Faults of driven coordinates without a law, and of laws of coordinates that are not driven."""
    driven = mechanism.driven_coordinates
    faults = Faults()
    for name in motion.inputs:
        if name in driven:
            continue
        advice = f"driven are {', '.join(driven[:20])}" if driven else "nothing is driven"
        joint, _, coordinate = name.rpartition(".")
        if hint := meant(name, driven, most=2):
            advice = hint + advice
        else:
            with suppress(KeyError):
                if coordinate in mechanism.joint(joint).type.coordinates:
                    remedy = f'write driven = ["{coordinate}"] at joint {joint}, or leave the law out'
                    advice = f"{remedy}; {advice}"
        faults.add(f"[motion] {name}", f"is not driven; {advice}", "unknown")
    for name in driven:
        if name not in motion.inputs:
            what = f'has no law; write "{name}" = {{ law = "constant" }} or another law'
            faults.add(f"[motion] {name}", what, "missing")
    return faults


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
    return [f"motion: it moves {moves}, driven are {', '.join(mechanism.driven_coordinates) or 'none'}"]


def read_motion_file(path: Path, mechanism: Mechanism) -> DefaultMotion:
    """Motion in a TOML file: the content of ``[motion]``, or that table, and ``units`` beside it."""
    # Without units it has those of the model file.
    from mbssa.io.shape_faults import check_shape

    raw, faults = toml_tables(toml_text(path), str(path)), Faults()
    units = raw.pop("units", dict(zip(("length", "angle"), mechanism.units, strict=True)))
    record = raw["motion"] if isinstance(raw.get("motion"), dict) else raw
    model = check_shape({"format": 1, "space": "spatial", "motion": record, "units": units}, faults)
    if model is not None and model.motion is not None:
        motion = motion_of(model.motion, faults)
        if not faults:
            motion = with_ids(mechanism, motion)
            faults += coordinate_faults(mechanism, motion)
    if faults:
        raise ModelError(str(path), [fault.at(fault.place.removeprefix("[motion] ")) for fault in faults])
    return motion
