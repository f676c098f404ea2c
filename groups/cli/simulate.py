"""The command ``mbssa simulate``."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import typer

from groups.cli import options
from groups.cli.running import stoppable_progress
from groups.dynamics.forward import Event, Method
from groups.dynamics.forward import simulate as simulate_by
from groups.dynamics.forward.equations import Integrator
from groups.dynamics.forward.running import moving_model
from groups.reports.dynamics import simulation_report
from groups.trajectory import load_trajectory
from mbssa import load
from mbssa.cli.console import BETWEEN, NOT_DETERMINED, fail_all, failing, refuse, stopping
from mbssa.cli.options import MODEL, STEPS, number_of, option
from mbssa.cli.outputs import TABLES, Target, targets_of
from mbssa.units import SI

_STIFFNESS, _DAMPING = "1e7 N/m", "200 N s/m"


@stopping("nothing more was written")
@options.with_options()
def simulate(
    model: str = MODEL,
    duration: float | None = option("S", "Seconds.", show_default="of MODEL's motion, or 1"),
    steps: int | None = STEPS,
    method: Method = option(
        "NAME",
        "How the equations of motion are written: groups, partitioning, lagrange, penalty or dae.",
        "groups",
    ),
    tolerance: float = option("X", "Relative, of the integrator.", 1e-8),
    integrator: Integrator | None = option(
        "NAME",
        "Integrator of SciPy: DOP853, RK45, RK23, Radau, BDF or LSODA.",
        show_default="DOP853; Radau for penalty",
    ),
    largest_step: float = option(
        "S",
        "Seconds that a step may take: less than the shortest contact lasts.",
        math.inf,
        show_default="any",
    ),
    most_steps: int = option("N", "Steps of the integrator after which a run is given up.", 1_000_000, min=1),
    initial: list[str] | None = options.INITIAL,
    rate: list[str] | None = option(
        "COORDINATE=VALUE,...",
        "Rate of a released coordinate at the start, in MODEL's units per second; may be repeated.",
    ),
    drive: list[str] | None = option(
        "COORDINATE,...", "Coordinates that keep the law of MODEL's motion; all others are released."
    ),
    apply: list[str] | None = options.APPLY,
    until: list[str] | None = option(
        "QUANTITY=VALUE", 'End where a quantity passes a value: "1-2.angle=90deg"; may be repeated.'
    ),
    restart: Path | None = option("FILE", "Go on from the last instant of a run that was written as .npz."),
    limits: Literal["note", "stop"] = typer.Option(
        "note", help="What happens where a joint coordinate reaches a limit of MODEL."
    ),
    stiffness: str = option("X", "Stiffness of joints by --method penalty, in MODEL's units.", _STIFFNESS),
    damping: str = option("X", "Damping of joints by --method penalty, in MODEL's units.", _DAMPING),
    *,
    outputs: options.OutputOptions,
    energies: options.Files = option("FILE", "Write energies and errors over time: .csv or .parquet."),
    reactions: options.Files = option("FILE", "Write reactions of all joints over time: .csv or .parquet."),
    compiled: bool | None = options.COMPILED,
    common: options.CommonOptions,
) -> None:
    """Simulate MODEL under its masses, gravity and forces: forward dynamics.

    MODEL's driven coordinates are released and move as the forces have it, from
    the reference at rest, or from --initial and --rate; --drive keeps some on
    their motion law. Ctrl-C stops a run and keeps what it has.

    Exit 0: the run came to its end, or to --until; 1: the model cannot be
    simulated as given, not to the end, or its energy is off balance; 2: bad
    input; 130: stopped.

    Example: mbssa simulate slider_crank --duration 2 --animate fall.html

    Example: mbssa simulate slider_crank --output first.npz, and then mbssa simulate
    slider_crank --restart first.npz --output second.npz
    """
    tables = targets_of(("--energies", energies, TABLES), ("--reactions", reactions, TABLES))
    faults = outputs.faults([model, restart], common.force, common.form, tables)
    if method != "penalty" and (stiffness, damping) != (_STIFFNESS, _DAMPING):
        faults.append("--stiffness, --damping: are of joints by --method penalty; write it too")
    refuse(faults)

    with failing(code=NOT_DETERMINED):
        released = moving_model(load(model))
    units, at_rest = released.mechanism.units, options.at_reference(released)
    faults = outputs.faults_at_reference(at_rest)
    given: dict[str, Any] = {
        "initial": options.coordinate_values("--initial", initial, units, SI, faults),
        "rates": options.coordinate_values("--rate", rate, units, ("m/s", "rad/s"), faults),
        "applied": options.coordinate_values("--apply", apply, units, ("N", "N m"), faults),
        "stiffness": number_of("--stiffness", stiffness, "N/m", units, faults),
        "damping": number_of("--damping", damping, "N s/m", units, faults),
    }
    events = []
    for text, quantity, number in options.pairs("--until", until, "QUANTITY=VALUE", faults):
        try:
            unit = at_rest.quantity(quantity).unit
            value = number_of(f"--until {text}", number, unit, units, faults)
            events.append(Event(text, quantity, value))
        except ValueError as error:
            faults.append(f"--until {error}")
    try:
        before = None if restart is None else load_trajectory(restart)
    except ValueError as error:
        faults.append(f"--restart: {error}")
    except OSError as error:
        faults.append(f"--restart {restart}: {error.strerror or error}")
    refuse(faults)
    motion = released.mechanism.motion
    seconds = duration if duration is not None else 1.0 if motion is None else motion.duration

    try:
        with stoppable_progress(f"simulating {seconds:g} s") as progress:
            found = simulate_by(
                released,
                seconds,
                method=method,
                tolerance=tolerance,
                steps=steps or 201,
                prescribed=drive or (),
                events=events,
                start=before,
                integrator=integrator,
                largest_step=largest_step,
                most_steps=most_steps,
                stop_at_limits=limits == "stop",
                compiled=compiled,
                progress=progress,
                **given,
            )
    except (ValueError, ModuleNotFoundError) as error:
        fail_all([options.by_option(fault) for fault in str(error).split(BETWEEN)])
    found = replace(found, trajectory=options.shown_in(found.trajectory, outputs.units))

    def write(target: Target) -> None:
        if target not in tables:
            outputs.write(found.trajectory, target)
        else:
            (found if target.option == "--energies" else found.forces).write(target.path, force=True)

    stopped = "what was computed is kept" * (found.status == "stopped")
    targets, report = [*outputs.targets, *tables], simulation_report(found)
    options.conclude(targets, write, report, common.form, found.ok, stopped)
