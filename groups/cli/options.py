"""Options that several commands have, and those of the files that are written of a motion."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, cast, get_type_hints

import numpy as np
import typer

from groups.cli.arguments import expressions
from groups.model import Model
from groups.posed import at_rest
from groups.results.table import QUANTITIES, Choice, chosen_columns
from groups.trajectory import LEVELS, Level, Trajectory
from mbssa.cli import completion
from mbssa.cli.console import BETWEEN, present, refuse
from mbssa.cli.inputs import shown_in as mechanism_in
from mbssa.cli.options import ALLOW, FORCE, FORMAT, TRUST, UNITS, option
from mbssa.cli.outputs import (
    MOVING,
    STANDARD,
    STILL,
    TABLES,
    TRAJECTORY,
    Target,
    target_faults,
    targets_of,
    written,
)
from mbssa.film import FILMS, Film, require_video
from mbssa.reports.table import Report

Files = list[Path] | None

INITIAL: Any = option(
    "COORDINATE=VALUE,...", "Value of a released coordinate at the start, in MODEL's units; may be repeated."
)
APPLY: Any = option(
    "COORDINATE=VALUE,...", "Constant force or torque along a joint coordinate; may be repeated."
)
QUANTITY: Any = option(
    "NAME=EXPRESSION", 'A column by expression, such as "camber=angle(hub.z, world.z)"; may be repeated.'
)
COMPILED: Any = typer.Option(
    None,
    "--compiled/--no-compiled",
    help="Solve by machine code, or by NumPy; by default what is faster.",
    show_default=False,
)


def files_option(text: str, *names: str) -> Any:
    """Option of files to write."""
    return option("FILE", f"{text}; may be repeated.", None, *names)


@dataclass(frozen=True)
class CommonOptions:
    """Options that stand at the end of a command."""

    force: bool = FORCE
    trust: bool = TRUST
    allow: list[Path] | None = ALLOW
    form: str = FORMAT


@dataclass(frozen=True)
class OutputOptions:
    """Options of the files of a motion: numbers by columns, still pictures, animations."""

    output: Files = files_option(
        "Write the numbers: .csv, .parquet, .npz or .nc, - prints CSV", "--output", "-o"
    )
    quantities: list[str] | None = option(
        "KIND,...",
        "Columns of .csv and .parquet: driven, joints, points, bodies, groups.",
        complete=completion.words(*QUANTITIES),
        show_default="all",
    )
    joints: list[str] | None = option(
        "NAME,...",
        "Joints (2-3) or coordinates (2-3.angle) in the columns; or driven.",
        complete=completion.names,
        show_default="all",
    )
    bodies: list[str] | None = option(
        "BODY,...", "Bodies in the columns, with their named points.", show_default="all"
    )
    quantity: list[str] | None = QUANTITY
    units: str = UNITS
    plot: Files = files_option("Draw coordinates over time, or the paths of --points: .png, .svg or .pdf")
    curves: list[str] | None = option(
        "NAME,...",
        "What --plot draws over time: joints, coordinates, bodies, and names of --quantity.",
        complete=completion.recorded,
    )
    points: list[str] | None = option(
        "BODY.POINT,...", "Draw the paths of these points, or centres of these joints."
    )
    animate: Files = files_option("Animate: .gif, .mp4, .webm, or .html to play and turn in a browser")
    frames: int | None = option("N", "Frames of a film, evenly chosen.")
    fps: float | None = option("X", "Frames of a film per second.")
    width: int | None = option("PX", "Pixels of a film across.")

    @property
    def targets(self) -> list[Target]:
        """Files of numbers, pictures and animations."""
        return targets_of(
            ("--output", self.output, TRAJECTORY),
            ("--plot", self.plot, STILL),
            ("--animate", self.animate, MOVING),
        )

    @property
    def columns(self) -> Choice:
        """Columns of the tables."""
        joints = self.joints[0] if self.joints in (["all"], ["driven"]) else self.joints
        derived = expressions(self.quantity, []) or None
        given = {"quantities": self.quantities, "joints": joints, "bodies": self.bodies, "derived": derived}
        return cast(Choice, {"units": "file"} | {key: of for key, of in given.items() if of is not None})

    @property
    def film(self) -> Film:
        """Size and rate of films."""
        return Film(self.frames, self.fps, self.width)

    def faults(
        self, read: Iterable[str | Path | None], force: bool, form: str, others: Sequence[Target] = ()
    ) -> list[str]:
        """Faults, before the model is read: ``read`` are the run's files, ``others`` its own targets."""
        faults = target_faults([*self.targets, *others], read, force, form)
        faults += [
            f"--quantities {name}: no such kind; there are {', '.join(QUANTITIES)}"
            for name in self.quantities or ()
            if name not in QUANTITIES
        ]
        expressions(self.quantity, faults)
        columns = self.quantities, self.joints, self.bodies
        if not self._tables and any(one is not None for one in columns):
            faults.append("--quantities, --joints, --bodies: are for columns; write --output FILE.csv too")
        if not self._tables and not self.plot and self.quantity:
            faults.append("--quantity: is for columns and curves; write --output FILE.csv or --plot FILE too")
        if self.curves is not None and (not self.plot or self.points):
            faults.append("--curves: are over time; write --plot FILE too, without --points")
        if self.points and not self.plot and not self.animate:
            faults.append("--points: is for pictures; write --plot FILE or --animate FILE too")
        if self.film != Film() and not self._films:
            faults.append(
                "--frames, --fps, --width: are for films; write --animate FILE.gif, .mp4 or .webm too"
            )
        return faults

    def faults_at_reference(
        self, model: Model, kept: Sequence[int] | None = None, level: Level = "acceleration"
    ) -> list[str]:
        """Obstacles to drawing and tabulating, found on the reference configuration before the solution."""
        faults: list[str] = []
        if not (self._tables or self.plot or self.animate):
            return faults
        still = at_reference(model, kept, level)
        try:
            if self.plot and self.points:
                from groups.pictures.paths import paths

                paths(still, self.points)
            elif self.plot:
                from groups.pictures.coordinates import coordinates

                coordinates(still, self.curves, derived=self.columns.get("derived"))
        except ValueError as error:
            advice = "" if kept is None or self.points else "; --keep more bodies, or write --points"
            faults.append(f"--plot: {error}{advice}")
        try:
            if self.animate:
                from groups.pictures.drawing import MOST_BODIES
                from groups.pictures.page import MOST_BODIES as MOST_BODIES_OF_A_PAGE
                from groups.pictures.paths import points_of
                from groups.pictures.scene import scene_of
                from mbssa.pictures.limits import refuse_beyond

                films = self._films
                faults += dict.fromkeys(f"--{fault}" for path in films for fault in self.film.faults(path))
                if any(FILMS[path.suffix.lower()].encoder for path in films):
                    require_video()
                most = MOST_BODIES if films else MOST_BODIES_OF_A_PAGE
                bodies = len(set(still.kept.tolist()) | {0})
                refuse_beyond(most, bodies, "bodies", "one animation", "name fewer with --keep")
                points_of(scene_of(still, 1), self.points)
        except (ModuleNotFoundError, ValueError) as error:
            faults.append(f"--animate: {error}")
        try:
            if self._tables:
                chosen_columns(still, **self.columns)
        except (KeyError, ValueError) as error:
            faults += str(error.args[0]).split(BETWEEN)
        return faults

    def write(self, trajectory: Trajectory, target: Target) -> None:
        """Write the numbers or a picture of a motion; whether a file may be replaced is checked before."""
        trajectory = shown_in(trajectory, self.units)
        if target.endings is TRAJECTORY:
            trajectory.write(target.path, force=True, **self.columns)
            return
        from groups.pictures import write

        write(
            trajectory,
            target.path,
            picture="paths" if self.points else "coordinates",
            points=self.points,
            curves=self.curves,
            film=self.film,
            derived=self.columns.get("derived"),
            units="file",
        )

    @property
    def _tables(self) -> list[Path]:
        """Files that have columns."""
        paths = self.output or ()
        return [path for path in paths if path == STANDARD or path.suffix.lower() in TABLES]

    @property
    def _films(self) -> list[Path]:
        return [path for path in self.animate or () if path.suffix.lower() in FILMS]


def conclude(targets: Sequence[Target], write: Callable[[Target], object], report: Report, form: str) -> None:
    """Write the files of a command and print its report with them; exit 2 where one cannot be written."""
    files, faults = written(targets, write)
    present(report.with_files(files), form, beside=files)
    refuse(faults)


def shown_in(trajectory: Trajectory, units: str) -> Trajectory:
    """A motion of which tables, pictures and sentences are in the units of ``--units``."""
    mechanism = mechanism_in(trajectory.mechanism, units)
    return trajectory if mechanism is trajectory.mechanism else replace(trajectory, mechanism=mechanism)


def at_reference(
    model: Model, kept: Sequence[int] | None = None, level: Level = "acceleration"
) -> Trajectory:
    """One instant at the reference, on which columns and pictures are tried before the solution."""
    bodies = np.arange(model.mechanism.n_bodies) if kept is None else np.array(kept)
    return at_rest(model.mechanism, model.reference, bodies, LEVELS.index(level), model.structure.n_groups)


def with_options(*chosen: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace parameters that are dataclasses of options by their fields, all or the ``chosen`` ones."""

    # Typer makes an option of each parameter in the signature of a command.
    def expand(command: Callable[..., None]) -> Callable[..., None]:
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters: list[inspect.Parameter] = []
        records: list[tuple[str, Any]] = []
        for each in inspect.signature(command, eval_str=True).parameters.values():
            if not is_dataclass(each.annotation):
                parameters.append(each.replace(kind=keyword))
                continue
            records.append((each.name, each.annotation))
            hints = get_type_hints(each.annotation)
            parameters += [
                inspect.Parameter(field.name, keyword, default=field.default, annotation=hints[field.name])
                for field in fields(each.annotation)
                if field.name in chosen or not chosen
            ]

        @functools.wraps(command)
        def expanded(**given: Any) -> None:
            def value(field: Field[Any]) -> Any:
                own: Any = field.default
                return given.pop(field.name) if field.name in chosen or not chosen else own.default

            made = {name: record(**{f.name: value(f) for f in fields(record)}) for name, record in records}
            command(**given, **made)

        vars(expanded)["__signature__"] = inspect.Signature(parameters)
        return expanded

    return expand
