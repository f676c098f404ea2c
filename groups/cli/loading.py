"""Models that can be solved and their motions; what prevents a solution is an error of the command."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from groups.cli.arguments import by_option
from groups.model import Model, build
from groups.motion import Motion, default_motion, driven_coordinates, read_motion
from groups.motion.columns import header_of
from groups.motion.laws import usual_motion
from groups.trajectory import LEVELS, Level
from mbssa import Mechanism, ModelError
from mbssa.analysis.check import Report, check
from mbssa.cli.console import NOT_DETERMINED, fail
from mbssa.joints.catalogue import is_length
from mbssa.texts import counted, listed
from mbssa.trust import REMEDY
from mbssa.units import given_in

#: Joints, findings and proposals that a message lists before it only counts the rest.
_LISTED = 40
#: Numbers of one pose, its velocity and its acceleration.
_NUMBERS = {"planar": (3, 3, 3), "spatial": (7, 6, 6)}


def solvable_model(mechanism: Mechanism, name: str) -> Model:
    """Model of a mechanism with geometry that is determined by its inputs; else exit 1 with all reasons."""
    report = check(mechanism)
    if mechanism.without_geometry or mechanism.untrusted or not report.solvable:
        fail(_reasons(report, name), NOT_DETERMINED)
    try:
        return build(report.structure)
    except ValueError as error:
        fail(f"{name} cannot be solved as given\n  - {error}", NOT_DETERMINED)


def motion_to_solve(
    model: Model,
    name: str,
    path: Path | None,
    steps: int | None,
    duration: float | None,
    kept: Sequence[int] | None = None,
    level: Level = "acceleration",
) -> Motion:
    """Motion of the options, or the model's own; else exit 2."""
    # The bodies `kept` and the `level` of the solution decide how much memory it needs.
    mechanism = model.mechanism
    own = mechanism.motion or usual_motion(mechanism)
    if path is None and own is None:
        inputs = driven_coordinates(mechanism)
        columns = f"\n\nor give columns, --motion FILE.csv, with the header\n\n{header_of(mechanism)}"
        fail(
            f"{name} carries no motion. Write one into its file, or into a file of its own for "
            f"--motion FILE.toml:\n\n{_motion_to_write(inputs, mechanism.units)}{columns if inputs else ''}"
        )
    if path is None and mechanism.motion is None and own is not None:
        ((coordinate, law),) = own.inputs.items()
        range_ = "one turn" if law.name == "speed" else "the range of its limits"
        print(f"{name} carries no motion: {coordinate} goes through {range_} in 1 s", file=sys.stderr)
    _check_memory(model, steps or (own.steps if path is None and own is not None else 1), kept, level)
    try:
        if path is None:
            motion = default_motion(mechanism, steps=steps, duration=duration)
        else:
            motion = read_motion(mechanism, path, steps=steps, duration=duration)
    except ModelError:
        raise  # names its place itself
    except ValueError as error:
        named = by_option(str(error))
        fail(named if named.startswith("--") else f"{path or name}: {error}")
    _check_memory(model, len(motion.time), kept, level)
    return motion


def _motion_to_write(inputs: Sequence[str], units: tuple[str, str]) -> str:
    """Suggested ``[motion]`` of a model file, with these driven coordinates and units of length and angle."""
    lines = ["[motion]", "duration = 1.0", "steps = 101"]
    if inputs:
        lines += ["", "[motion.inputs]"]
    for name in inputs:
        given = given_in("m" if is_length(name) else "rad", units)[1]
        amplitude = float(f"{(0.01 if is_length(name) else 0.1) / given:.1g}")
        lines.append(f'"{name}" = {{ law = "harmonic", amplitude = {amplitude}, frequency = 1.0 }}')
    return "\n".join(lines)


def _check_memory(model: Model, instants: int, kept: Sequence[int] | None, level: Level) -> None:
    """Exit 2 if a trajectory does not fit into this machine's memory."""
    mechanism = model.mechanism
    rows = mechanism.n_bodies if kept is None else len(model.held_bodies(np.array(kept, dtype=np.int64)))
    poses = 8 * rows * sum(_NUMBERS[mechanism.space][: LEVELS.index(level) + 1])
    needed = instants * (poses + 24 * mechanism.n_driven + 25 * model.structure.n_groups)
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not available on this system
        return
    if needed >= 0.9 * memory:
        fail(
            f"{instants:,} instants of {counted(rows, 'body')} need {needed / 1e9:,.0f} GB, and this machine "
            f"has {memory / 1e9:,.0f}; write fewer --steps, name bodies with --keep, or a lower --level"
        )


def _reasons(report: Report, name: str) -> str:
    mechanism = report.structure.mechanism
    lines = [f"{name} cannot be solved as given"]
    if mechanism.without_geometry:
        bare = [
            f"{mechanism.joint_ids[j]} {mechanism.joints[j].type.code}"
            f" ({', '.join(mechanism.joints[j].type.required)})"
            for j in mechanism.without_geometry
        ]
        lines.append(f"  - no geometry at {listed(bare, _LISTED)}: write these keys at the joints")
    if untrusted := mechanism.untrusted_said:
        lines.append(f"  - code that the file names is not run, at {untrusted}; {REMEDY}")
    fatal = [finding.text for finding in report.findings if finding.fatal]
    lines += [f"  - {text}" for text in fatal[:_LISTED]]
    if len(fatal) > _LISTED:
        lines.append(f"  - … and {len(fatal) - _LISTED} more")
    if report.solvable:
        return "\n".join(lines)
    if report.proposals:
        lines.append("what would help, each verified")
    for proposal in report.proposals[:_LISTED]:
        text = proposal.text
        if proposal.kind == "inputs":
            text += f"; then driven: {listed(driven_coordinates(proposal.apply(mechanism)), _LISTED)}"
        lines.append(f"  - {text}")
    return "\n".join([*lines, f"mbssa check {name} says more"])
