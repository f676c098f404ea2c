"""The command ``mbssa linearise``."""

from __future__ import annotations

from functools import partial

from groups.cli import options
from groups.dynamics.forward.small_motions import equilibrium
from groups.dynamics.forward.small_motions import linearise as linearise_about
from groups.reports.dynamics import small_motions_report
from mbssa import load
from mbssa.cli.console import NOT_DETERMINED, deliver, fail, failing, refuse
from mbssa.cli.options import MODEL, SHEET, flag, number_of, option
from mbssa.cli.outputs import MOVING, Target, targets_of
from mbssa.joints.catalogue import coordinate_unit
from mbssa.progress import bar
from mbssa.texts import counted
from mbssa.units import SI, chosen_units


@options.with_options("units", "animate", "points", "frames", "fps", "width", "force", "trust", "allow")
def linearise(
    model: str = MODEL,
    here: bool = flag("--here", "Linearise where MODEL stands; search for no equilibrium."),
    initial: list[str] | None = options.INITIAL,
    apply: list[str] | None = options.APPLY,
    output: options.Files = options.files_option(
        "Write the modes: .csv or .json, - prints CSV", "--output", "-o"
    ),
    *,
    outputs: options.OutputOptions,
    mode: int = option("N", "Mode that --animate shows, from the table.", 1, min=1),
    amplitude: str | None = option(
        "X",
        "Amplitude of the coordinate that moves most, for --animate, in MODEL's units.",
        show_default="0.1 rad, or 0.1 of the size",
    ),
    common: options.CommonOptions,
    form: str = SHEET,
) -> None:
    """Find the static equilibrium of MODEL, its eigenfrequencies and mode shapes.

    MODEL's driven coordinates are released, and the state of rest under weight
    and forces is searched for from the reference, or from --initial, downhill.
    About it the equations of motion are linearised. Frequencies are those of
    damped oscillations; amplitudes are by the units shown, the largest is 1.

    Exit 0: found; 1: no equilibrium was found, or the mode to be animated does
    not swing; 2: bad input, or a search that leaves the workspace.

    Example: mbssa linearise slider_crank --animate swing.html
    """
    sheets = targets_of(("--output", output, (".csv", ".json")))
    faults = outputs.faults([model], common.force, form, sheets)
    if amplitude is not None and not outputs.animate:
        faults.append("--amplitude: is of the mode that is played; write --animate FILE too")
    mechanism = load(model)
    units = mechanism.units
    start = options.coordinate_values("--initial", initial, units, SI, faults)
    applied = options.coordinate_values("--apply", apply, units, ("N", "N m"), faults)
    refuse(faults)
    rest = None
    with failing():
        if not here:
            with bar() as show:
                progress = partial(show, "searching for an equilibrium")
                rest = equilibrium(mechanism, initial=start, applied=applied, progress=progress)
        found = linearise_about(mechanism, at=start if rest is None else rest.coordinates, applied=applied)

    if outputs.animate:  # one period of the mode
        faults = outputs.faults_at_reference(options.at_reference(found.model))
        modes, at_most = len(found.frequency), None
        if mode > modes:
            faults.append(f"--mode {mode}: beyond the last of {counted(modes, 'mode')}")
        elif amplitude is not None:
            unit = coordinate_unit(found.moved_most(mode - 1))
            at_most = number_of(f"--amplitude {amplitude}", amplitude, unit, units, faults)
            faults += [f"--amplitude {amplitude}: must be a number other than 0"] * (at_most == 0.0)
        refuse(faults)
        try:
            played = found.mode(mode - 1, at_most)
        except ValueError as error:
            fail(f"--mode {mode}: {str(error).partition(' ')[2].partition(' ')[2]}", NOT_DETERMINED)
        if not played.ok:
            fail(f"--amplitude: mode {mode} leaves the workspace at this amplitude; write a smaller one")
    report = small_motions_report(found, rest, chosen_units(outputs.units, units))

    def write(target: Target) -> None:
        if target.endings is MOVING:
            outputs.write(played, target)
        else:
            deliver(report.export(target.path.suffix.lower().removeprefix(".")), target.path)

    options.conclude([*sheets, *outputs.targets], write, report, form, rest is None or rest.found)
