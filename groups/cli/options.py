"""Options that several commands have, their values, and the files that are written of a motion."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, cast

import numpy as np
import typer

from groups.model import Model, solvers_of
from groups.results.table import QUANTITIES, Choice
from groups.trajectory import LEVELS, Level, Trajectory, at_rest
from mbssa.cli import completion, outputs
from mbssa.cli.console import BETWEEN, NOT_DETERMINED, OK, STOPPED, present, refuse
from mbssa.cli.inputs import shown_in as mechanism_in
from mbssa.cli.options import ALLOW, FORCE, FORMAT, TRUST, UNITS, number_of, option
from mbssa.film import FILMS, Film
from mbssa.joints.catalogue import is_length
from mbssa.reports.table import Report

Files = list[Path] | None
Texts = Sequence[str] | None
Units = tuple[str, str]
Write = Callable[[outputs.Target], object]

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
    def targets(self) -> list[outputs.Target]:
        """Files of numbers, pictures and animations."""
        return outputs.targets_of(
            ("--output", self.output, outputs.TRAJECTORY),
            ("--plot", self.plot, outputs.STILL),
            ("--animate", self.animate, outputs.MOVING),
        )

    @property
    def columns(self) -> Choice:
        """Columns of the tables."""
        joints = self.joints[0] if self.joints in (["all"], ["driven"]) else self.joints
        derived = expressions(self.quantity, []) or None
        given = {"quantities": self.quantities, "joints": joints, "bodies": self.bodies, "derived": derived}
        return cast(Choice, {"units": "file"} | {key: of for key, of in given.items() if of})

    def faults(
        self, read: Iterable[str | Path | None], force: bool, form: str, others: Sequence[outputs.Target] = ()
    ) -> list[str]:
        """Faults, before the model is read: ``read`` are the run's files, ``others`` its own targets."""
        faults = outputs.target_faults([*self.targets, *others], read, force, form)
        faults += [
            f"--quantities {name}: no such kind; there are {', '.join(QUANTITIES)}"
            for name in self.quantities or ()
            if name not in QUANTITIES
        ]
        expressions(self.quantity, faults)
        tables = [path for path in self.output or () if path.suffix.lower() in ("", *outputs.TABLES)]
        films = [path for path in self.animate or () if path.suffix.lower() in FILMS]
        faults += dict.fromkeys(f"--{fault}" for path in films for fault in self._film.faults(path))
        if not tables and any(one is not None for one in (self.quantities, self.joints, self.bodies)):
            faults.append("--quantities, --joints, --bodies: are for columns; write --output FILE.csv too")
        if not tables and not self.plot and self.quantity:
            faults.append("--quantity: is for columns and curves; write --output FILE.csv or --plot FILE too")
        if self.curves is not None and (not self.plot or self.points):
            faults.append("--curves: are over time; write --plot FILE too, without --points")
        if self.points and not self.plot and not self.animate:
            faults.append("--points: is for pictures; write --plot FILE or --animate FILE too")
        if self._film != Film() and not films:
            kinds = "FILE.gif, .mp4 or .webm"
            faults.append(f"--frames, --fps, --width: are for films; write --animate {kinds} too")
        return faults

    def faults_at_reference(self, still: Trajectory) -> list[str]:
        """Obstacles to writing the files, found by those of :func:`at_reference` before the solution."""
        faults, some_kept = list[str](), len(still.kept) < still.mechanism.n_bodies
        for target in self.targets:
            is_table, ending = target.endings is outputs.TRAJECTORY, target.path.suffix or ".csv"
            try:
                with suppress(OSError), TemporaryDirectory() as folder:  # which may be full
                    self.write(still, replace(target, path=Path(folder, f"trial{ending}")))
            except (KeyError, ModuleNotFoundError, ValueError) as error:
                text = str(error.args[0]).replace("keep fewer when solving", "name fewer with --keep")
                if target.endings is outputs.STILL and some_kept and not self.points:
                    text += "; --keep more bodies, or write --points"
                faults += text.split(BETWEEN) if is_table else [f"{target.option}: {text}"]
        return [*dict.fromkeys(faults)]

    def write(self, trajectory: Trajectory, target: outputs.Target) -> None:
        """Write the numbers or a picture of a motion; whether a file may be replaced is checked before."""
        trajectory, columns = shown_in(trajectory, self.units), self.columns
        if target.endings is outputs.TRAJECTORY:
            trajectory.write(target.path, force=True, **columns)
            return
        from groups.pictures import write

        chosen: dict[str, Any] = {"points": self.points, "curves": self.curves, "film": self._film}
        chosen |= {"derived": columns.get("derived"), "picture": "paths" if self.points else "coordinates"}
        write(trajectory, target.path, units="file", **chosen)

    @property
    def _film(self) -> Film:
        return Film(self.frames, self.fps, self.width)


def conclude(
    targets: Sequence[outputs.Target], write: Write, report: Report, form: str, ok: bool, stopped: str = ""
) -> NoReturn:
    """Write the files of a command, print its report with them, and exit; 2 where one cannot be written."""
    if stopped:
        print(f"stopped by Ctrl-C; {stopped}", file=sys.stderr)
    files, faults = outputs.written(targets, write)
    present(report.with_files(files), form, beside=files)
    refuse(faults)
    raise typer.Exit(STOPPED if stopped else OK if ok else NOT_DETERMINED)


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
        parameters, records = list[inspect.Parameter](), dict[str, tuple[Any, list[str]]]()
        for each in inspect.signature(command, eval_str=True).parameters.values():
            some, of = [each], each.annotation
            if isinstance(of, type) and is_dataclass(of):
                every = inspect.signature(of, eval_str=True).parameters.values()
                some = [one for one in every if not chosen or one.name in chosen]
                defaults = {one.name: one.default.default for one in every}
                records[each.name] = functools.partial(of, **defaults), [one.name for one in some]
            parameters += [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in some]

        @functools.wraps(command)
        def expanded(**given: Any) -> None:
            made = {name: of(**{n: given.pop(n) for n in names}) for name, (of, names) in records.items()}
            command(**given, **made)

        vars(expanded)["__signature__"] = inspect.Signature(parameters)
        return expanded

    return expand


# --- values ------------------------------------------------------------------------------------------

#: Options by the parameters of :mod:`groups` that faults begin with.
_OPTIONS = {
    "applied": "--apply", "damping": "--damping", "duration": "--duration", "initial": "--initial",
    "integrator": "--integrator", "largest_step": "--largest-step", "prescribed": "--drive",
    "rates": "--rate", "start": "--restart", "steps": "--steps", "stiffness": "--stiffness",
    "tolerance": "--tolerance",
}  # fmt: skip


def by_option(fault: str) -> str:
    """A fault of a parameter as one of the option that gave it; other faults as they are."""
    return re.sub(r"^\w+", lambda word: _OPTIONS.get(word[0], word[0]), fault)


def pairs(
    option: str, texts: Texts, example: str, faults: list[str], what: str = ""
) -> Iterator[tuple[str, str, str]]:
    """Each text with its two parts around =, such as ``NAME=VALUE``; faults are added to ``faults``."""
    taken = set()
    for text in texts or ():
        name, _, value = (part.strip() for part in text.partition("="))
        if not (name and value):
            faults.append(f"{option} {text}: write {example}")
            continue
        if what and name in taken:
            faults.append(f"{option} {text}: {name} has {what} already")
        taken.add(name)
        yield text, name, value


def expressions(texts: Texts, faults: list[str]) -> dict[str, str]:
    """Expressions by name, from ``NAME=EXPRESSION``; faults are added to ``faults``."""
    found = pairs("--quantity", texts, "NAME=EXPRESSION", faults, "an expression")
    return {name: expression for _, name, expression in found}


def coordinate_values(
    option: str, texts: Texts, units: Units, si_units: Units, faults: list[str]
) -> dict[str, float]:
    """Numbers by coordinate from ``NAME=VALUE``, in SI; faults are added to ``faults``."""
    # `units` hold for numbers without a unit of their own; `si_units` are those of the quantity for a slide,
    # and for an angle.
    example = "NAME=VALUE, such as 1-2.angle=30deg"
    return {
        name: number_of(f"{option} {text}", number, si_units[0 if is_length(name) else 1], units, faults)
        for text, name, number in pairs(option, texts, example, faults, "a value")
    }


def by_group(model: Model, option: str, texts: Texts, faults: list[str]) -> dict[int, Any]:
    """Numbers of modes or names of solvers by numbers of groups; faults are added to ``faults``."""
    found, groups, is_mode = dict[int, Any](), model.structure.n_groups, option == "mode"
    for text in texts or ():
        match = re.fullmatch(r"(?:SG-)?(\d{1,9})=" + (r"(\d{1,9})" if is_mode else "(.+)"), text)
        group = 0 if match is None else int(match[1])
        if match is None:
            fault = f"write GROUP={'NUMBER, such as 2=1' if is_mode else 'NAME, such as 2=Newton'}"
        elif not 1 <= group <= groups:
            fault = f"there is no group {group}; the groups are 1 to {groups}"
        else:
            named = match[2].replace("-", " ").casefold()  # dashes may stand for spaces
            names = () if is_mode else solvers_of(model, group)
            value = int(match[2]) if is_mode else next((n for n in names if n.casefold() == named), None)
            if value is not None and found.setdefault(group, value) == value:
                continue
            other = f"group {group} already has {option} {found.get(group)}"
            fault = other if value is not None else f"group {group} can have {', '.join(names)}"
        faults.append(f"--{option} {text}: {fault}")
    return found
