"""The command ``mbssa draw``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import typer

from groups.cli.options import CommonOptions, coordinate_values, shown_in, with_options
from groups.model import build
from groups.motion import default_motion, sample, speed
from groups.trajectory import Trajectory
from mbssa import Mechanism, decompose, load
from mbssa.cli.console import NOT_DETERMINED, OK, fail, failing, refuse
from mbssa.cli.options import MODEL, UNITS, WATCH, flag, option
from mbssa.cli.outputs import STILL, Target, target_faults
from mbssa.io.motion import by_id
from mbssa.units import SI

#: Steps from the reference to given inputs: so small that the branch of the reference is kept.
_STEPS = 361


@with_options("force", "trust", "allow")
def draw(
    model: str = MODEL,
    output: Path | None = option(
        "FILE", ".svg, .png or .pdf, - prints SVG; by default MODEL.svg here.", None, "--output", "-o"
    ),
    time: float | None = option("SECONDS", "Draw it at this time of its own motion.", min=0.0),
    inputs: list[str] | None = option(
        "COORDINATE=VALUE,...", "Draw it at these inputs: 1-2.angle=30deg (or rad, m, mm)."
    ),
    points: list[str] | None = option(
        "BODY.POINT,...", "With --time, draw the paths of these points: coupler.tip."
    ),
    findings: bool = flag(
        "--findings", "In grey, with what mbssa check finds in colour; at the reference alone."
    ),
    *,
    common: CommonOptions,
    watch: bool = WATCH,
    units: str = UNITS,
) -> None:
    """Draw MODEL with its structural groups in colour, at its reference or elsewhere.

    Each group has a hue, in the order in which they are solved, and each of its
    bodies a shade. A model that cannot be solved is drawn as its file has it.

    Exit 0: drawn; 1: not all bodies can be placed at that time or those inputs
    (the others are drawn); 2: bad input.

    Example: mbssa draw rotor --output rotor.png
    """
    from groups.pictures import findings_at_reference, mechanism_at
    from groups.pictures.drawing import resting
    from mbssa.pictures import save

    path = output or Path(f"{Path(model).stem if Path(model).suffix else model}.svg")
    target = Target("--output", path, STILL)
    faults = target_faults([target], [model], common.force)
    if time is not None and inputs:
        faults.append("--time with --inputs: write one of the two")
    if points and time is None:
        faults.append("--points: are for the paths of a motion; write --time SECONDS too")
    if findings and (time is not None or inputs):
        faults.append("--findings: are those of the reference; leave --time and --inputs out")
    refuse(faults)
    mechanism = load(model)
    if not mechanism.has_geometry:
        fail(f"{model} has no geometry to draw; mbssa decompose {model} --picture FILE draws its graph")
    with failing():
        if time is not None:
            trajectory, where = _at_time(mechanism, time), None
        elif inputs:
            trajectory, where = _at_inputs(mechanism, inputs), ", ".join(inputs)
        else:
            trajectory, where = resting(mechanism), "reference"
        shown = shown_in(trajectory, units)
        if findings:
            picture = findings_at_reference(shown.mechanism)
        else:
            picture = mechanism_at(shown, -1, points=points or (), where=where)
        with target.place() as place:
            save(picture, place)
    if not target.is_standard:
        print(f"wrote {path}")
    raise typer.Exit(OK if trajectory.ok else NOT_DETERMINED)


def _at_time(mechanism: Mechanism, time: float) -> Trajectory:
    """Its own motion until this time."""
    model, whole = build(decompose(mechanism)), default_motion(mechanism)
    if not whole.time[0] <= time <= whole.time[-1]:
        ends = f"from {whole.time[0]:g} to {whole.time[-1]:g} s"
        raise ValueError(f"--time {time:g}: the motion goes {ends}; write a time in it")
    steps = max(2, math.ceil(len(whole.time) * time / (whole.time[-1] - whole.time[0] or 1.0)))
    motion = default_motion(mechanism, steps=steps, duration=time) if time else whole.within(slice(1))
    return model.solve(motion, level="position")


def _at_inputs(mechanism: Mechanism, texts: Sequence[str]) -> Trajectory:
    """Motion in a straight line of the inputs from the reference to these."""
    model = build(decompose(mechanism))
    start = model.reference_inputs
    faults: list[str] = []
    given = by_id(mechanism, coordinate_values("--inputs", texts, mechanism.units, SI, faults))
    why = f"is no driven coordinate; the model has {', '.join(start)}"
    faults += [f"--inputs {name}: {why}" for name in given if name not in start]
    if faults:
        raise ValueError("; ".join(faults))
    laws = {name: speed(given.get(name, value) - value, value) for name, value in start.items()}
    return model.solve(sample(mechanism, laws, np.linspace(0.0, 1.0, _STEPS)), level="position")
