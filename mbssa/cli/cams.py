"""The command ``mbssa cams``."""

from __future__ import annotations

from pathlib import Path

import typer

from mbssa.cli.console import NOT_DETERMINED, OK, draw, present, refuse
from mbssa.cli.options import ALLOW, FORCE, FORMAT, MODEL, OUTPUT, TRUST, UNITS, option


def cams(
    model: str = MODEL,
    form: str = FORMAT,
    output: Path | None = OUTPUT,
    picture: Path | None = option(
        "FILE", "Draw the profiles and the followers' laws to FILE: .svg, .png or .pdf."
    ),
    force: bool = FORCE,
    trust: bool = TRUST,
    allow: list[Path] | None = ALLOW,
    units: str = UNITS,
) -> None:
    """List properties of the cams of MODEL, its joints of type L.

    Follower law and its peaks, minimum radii of curvature, undercutting,
    pressure angle, required face width.

    Exit 0: each follower touches all of its profile; 1: one does not (the
    properties are printed all the same); 2: bad input.

    Example: mbssa cams my_cam.toml --picture my_cam.svg
    """
    from mbssa.cli.inputs import shown_in
    from mbssa.cli.outputs import STILL, target_faults, targets_of
    from mbssa.io import load
    from mbssa.reports.cams import cams_of, cams_report

    targets = targets_of(("--output", output, ()), ("--picture", picture, STILL))
    refuse(target_faults(targets, [model], force))
    mechanism = shown_in(load(model), units)
    found = cams_of(mechanism)
    if picture is not None:
        from mbssa.pictures.cams import cam_picture

        draw(
            (picture, lambda: cam_picture([(cam.name, cam.report.profile) for cam in found], mechanism.units))
        )
    present(cams_report(mechanism, found), form, output)
    raise typer.Exit(OK if all(cam.report.sound for cam in found) else NOT_DETERMINED)
