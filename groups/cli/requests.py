"""Models, motions, bodies, modes and solvers named on the command line, checked before anything is solved."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from groups.building import build, solvers_of
from groups.cli.refusal import RefusedError, motion_to_write, solvable_model
from groups.cli.runner import Request
from groups.model import Model
from groups.motion import Motion, default_motion, driven_coordinates, read_motion
from groups.motion.sampling import usual_motion
from groups.trajectory import LEVELS, Level, Trajectory, body_index
from mbssa import Mechanism, ModelError
from mbssa.cli.console import BETWEEN, NOT_DETERMINED, fail
from mbssa.film import FILMS, Film, require_video
from mbssa.joints.catalogue import is_length
from mbssa.units import given_in, numbers_in_si

T = TypeVar("T")

#: Numbers of one pose, its velocity and its acceleration.
_NUMBERS = {"planar": (3, 3, 3), "spatial": (7, 6, 6)}


def bodies_asked(mechanism: Mechanism, texts: Sequence[str]) -> list[int] | None:
    """Indices of bodies, ascending, from names and numbers with commas between; None if none is named.

    Raises
    ------
    ValueError
        Bodies that there are not: all of them.

    Examples
    --------
    >>> import mbssa
    >>> bodies_asked(mbssa.load("planar_four_bar"), ["coupler,2"])
    [1, 2]
    """
    names = names_asked(texts)
    found, faults = set(), []
    for name in names:
        try:
            found.add(body_index(mechanism, name))
        except KeyError as error:
            faults.append(f"--keep: {error.args[0]}")
    if texts and not names:
        faults.append("--keep: names no body")
    if faults:
        raise ValueError(BETWEEN.join(faults))
    return sorted(found) if names else None


def expressions_asked(texts: Sequence[str], faults: list[str]) -> dict[str, str]:
    """Expressions by name, from ``NAME=EXPRESSION``; what is wrong with them is added to ``faults``."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, expression = (part.strip() for part in text.partition("="))
        if not (name and equals and expression):
            faults.append(f"--quantity {text}: write NAME=EXPRESSION")
        elif name in found:
            faults.append(f"--quantity {text}: {name} has an expression already")
        found[name] = expression
    return found


def modes_asked(model: Model, texts: Sequence[str]) -> dict[int, int]:
    """Numbers of modes by numbers of groups, from ``GROUP=NUMBER``.

    Raises
    ------
    ValueError
        Other texts, groups that there are not, or one twice: all of them.

    Examples
    --------
    >>> import groups, mbssa
    >>> modes_asked(groups.build(mbssa.decompose(mbssa.load("planar_four_bar"))), ["2=1"])
    {2: 1}
    """
    return _by_group(model, texts, "mode", "NUMBER, such as 2=1", lambda _group, text: int(text), r"\d{1,9}")


def solvers_asked(model: Model, texts: Sequence[str]) -> dict[int, str]:
    """Names of solvers by numbers of groups, from ``GROUP=NAME``; dashes may stand for spaces.

    Raises
    ------
    ValueError
        Other texts, groups that there are not, solvers that a group cannot have, or one twice: all of them.

    Examples
    --------
    >>> import groups, mbssa
    >>> solvers_asked(groups.build(mbssa.decompose(mbssa.load("planar_four_bar"))), ["2=global-dense"])
    {2: 'global dense'}
    """

    def name(group: int, text: str) -> str:
        names = {one.casefold(): one for one in solvers_of(model, group)}
        try:
            return names[text.replace("-", " ").casefold()]
        except KeyError:
            raise ValueError(f"group {group} can have {', '.join(names.values())}") from None

    return _by_group(model, texts, "solver", "NAME, such as 2=Newton", name)


def _by_group(
    model: Model,
    texts: Sequence[str],
    option: str,
    example: str,
    read: Callable[[int, str], T],
    value: str = ".+",
) -> dict[int, T]:
    """Parse ``GROUP=VALUE``, with all faults at once."""
    found: dict[int, T] = {}
    faults, groups = [], model.structure.n_groups
    for text in names_asked(texts):
        try:
            match = re.fullmatch(rf"(?:SG-)?(\d{{1,9}})=({value})", text)
            if match is None:
                raise ValueError(f"write GROUP={example}")
            group = int(match[1])
            if not 1 <= group <= groups:
                raise ValueError(f"there is no group {group}; the groups are 1 to {groups}")
            meant = read(group, match[2])
            if found.setdefault(group, meant) != meant:
                raise ValueError(f"group {group} already has {option} {found[group]}")
        except ValueError as error:
            faults.append(f"--{option} {text}: {error}")
    if faults:
        raise ValueError(BETWEEN.join(faults))
    return found


def through_asked(texts: Sequence[str]) -> list[str] | Literal["auto"]:
    """The inputs to be borrowed, from texts with commas between, or ``auto``.

    >>> through_asked(["1-2.slide,1-13", "13-15"]), through_asked(["auto"])
    (['1-2.slide', '1-13', '13-15'], 'auto')
    """
    names = names_asked(texts)
    return "auto" if names == ["auto"] else names


def through_faults(texts: Sequence[str], request: Request, modes: Sequence[str]) -> list[str]:
    """Faults of a list of inputs, alone or beside borrowed ones; whether they exist is checked later.

    >>> through_faults(["1-5.angle"], Request(workers=2), [])[0].partition(":")[0]
    '--through with --workers'
    """
    names, faults = names_asked(texts), []
    if not names:
        faults.append("--through: names no coordinate; write 1-2.slide,13-15, or auto")
    elif "auto" in names and len(names) > 1:
        faults.append("--through auto: picks all inputs itself; write no other")
    if modes:
        faults.append("--through with --mode: borrowed inputs are led from the mode of the reference")
    runs = {
        "--workers": request.workers,
        f"--executor {request.executor}": request.executor,
        "--plan": request.plan,
        "--checkpoint": request.checkpoint,
        "--resume": request.resume or None,
    }
    beside = [option for option, value in runs.items() if value is not None]
    if beside:
        faults.append(
            f"--through with {' and '.join(beside)}: borrowed inputs tie groups into one loop, "
            "which one core leads from instant to instant"
        )
    return faults


def points_asked(texts: Sequence[str]) -> list[str] | None:
    """Points of bodies from texts with commas between; None if none is named.

    >>> points_asked(["coupler.tracer,2-3"])
    ['coupler.tracer', '2-3']
    """
    return names_asked(texts) or None


def names_asked(texts: Sequence[str]) -> list[str]:
    """Names with commas between.

    >>> names_asked(["2-3.slide, 4-5", "residual"])
    ['2-3.slide', '4-5', 'residual']
    """
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def values_asked(
    option: str, texts: Sequence[str], units: tuple[str, str], measured: tuple[str, str], faults: list[str]
) -> dict[str, float]:
    """Numbers by coordinate from ``NAME=VALUE``, in SI; what is wrong is added to ``faults``.

    ``units`` hold for numbers without a unit of their own. ``measured``: SI units of what belongs to a slide,
    and of what belongs to an angle.

    >>> values_asked("--initial", ["1-4.slide=2", "1-2.angle=1rad"], ("mm", "deg"), ("m", "rad"), [])
    {'1-4.slide': 0.002, '1-2.angle': 1.0}
    """
    found: dict[str, float] = {}
    for text in names_asked(texts):
        name, _, number = (part.strip() for part in text.rpartition("="))
        si = measured[0 if is_length(name) else 1]
        try:
            (value,), unit = numbers_in_si([number])
        except ValueError:
            faults.append(f"{option} {text}: write NAME=VALUE, such as 1-2.angle=30deg")
            continue
        if unit not in ("", si):
            faults.append(f"{option} {text}: is in {si}, not in {unit}")
        if name in found:
            faults.append(f"{option} {text}: {name} has a value already")
        found[name] = value * (1.0 if unit else given_in(si, units)[1])
    return found


def number_asked(text: str) -> float | None:
    """A number, or None where the text is none.

    >>> number_asked("0.5"), number_asked("half")
    (0.5, None)
    """
    try:
        return float(text)
    except ValueError:
        return None


def standing(model: Model, kept: Sequence[int] | None, level: Level) -> Trajectory:
    """One instant at the reference, on which columns and pictures are tried before anything is solved."""
    from groups.pictures.scene import at_rest

    bodies = np.arange(model.mechanism.n_bodies) if kept is None else np.array(kept)
    return at_rest(model.mechanism, model.reference, bodies, LEVELS.index(level), model.structure.n_groups)


@dataclass(frozen=True)
class Pictures:
    """Points whose paths are drawn, curves over time, and the size and rate of films."""

    points: Sequence[str] | None
    curves: Sequence[str] | None
    film: Film


def picture_faults(
    model: Model,
    kept: Sequence[int] | None,
    level: Level,
    plot: bool,
    animations: Sequence[Path],
    pictures: Pictures,
    derived: Mapping[str, str] | None,
) -> list[str]:
    """Obstacles to drawing pictures, found on the reference configuration alone."""
    from groups.pictures.coordinates import coordinates
    from groups.pictures.drawing import MOST_BODIES
    from groups.pictures.page import MOST_BODIES as MOST_BODIES_OF_A_PAGE
    from groups.pictures.paths import paths
    from groups.pictures.points import points_of
    from groups.pictures.scene import scene_of
    from mbssa.pictures.limits import refuse_beyond

    still, faults = standing(model, kept, level), []
    try:
        if plot and pictures.points is None:
            coordinates(still, pictures.curves, derived=derived)
        elif plot:
            paths(still, pictures.points)
    except ValueError as error:
        advice = (
            "; --keep more bodies, or write --points" if kept is not None and pictures.points is None else ""
        )
        faults.append(f"--plot: {error}{advice}")
    try:
        if animations:
            drawn = len(set(still.kept.tolist()) | {0})
            films = [path for path in animations if path.suffix.lower() in FILMS]
            faults += list(
                dict.fromkeys(f"--{fault}" for path in films for fault in pictures.film.faults(path))
            )
            if any(FILMS[path.suffix.lower()].encoder for path in films):
                require_video()
            most = MOST_BODIES if films else MOST_BODIES_OF_A_PAGE
            refuse_beyond(most, drawn, "bodies", "one animation", "name fewer with --keep")
            points_of(scene_of(still, 1), pictures.points)
    except (ModuleNotFoundError, ValueError) as error:
        faults.append(f"--animate: {error}")
    return faults


def memory_fault(model: Model, instants: int, kept: Sequence[int] | None, level: Level) -> str | None:
    """A sentence if a trajectory would not fit into this machine's memory.

    >>> import groups, mbssa
    >>> rotor = groups.build(mbssa.decompose(mbssa.load("rotor")))
    >>> memory_fault(rotor, 10**12, [1], "position").split(", and")[0]
    '1,000,000,000,000 instants of 1 body need 303,000 GB'
    """
    mechanism = model.mechanism
    rows = mechanism.n_bodies if kept is None else len(model.held_bodies(np.array(kept, dtype=np.int64)))
    poses = 8 * rows * sum(_NUMBERS[mechanism.space][: LEVELS.index(level) + 1])
    needed = instants * (poses + 24 * mechanism.n_driven + 25 * model.structure.n_groups)
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # no such question on this system
        return None
    if needed < 0.9 * there:
        return None
    bodies = "1 body" if rows == 1 else f"{rows:,} bodies"
    return (
        f"{instants:,} instants of {bodies} need {needed / 1e9:,.0f} GB, and this machine has "
        f"{there / 1e9:,.0f}; write fewer --steps, name bodies with --keep, or a lower --level"
    )


def model_asked(mechanism: Mechanism, name: str) -> Model:
    """The model of a mechanism that can be solved; else the reasons, and exit 1."""
    try:
        return solvable_model(mechanism, name)
    except RefusedError as error:
        fail(str(error), NOT_DETERMINED)


def through_others(model: Model, through: Sequence[str], solvers: Mapping[int, str] | None = None) -> Model:
    """The model solved by the groups for other inputs, which ``solvers`` name; or why not, and exit 2."""
    try:
        found = build(model.structure, solvers, borrow=through_asked(through))
    except ValueError as error:
        fail(f"--through: {error}")
    if found.borrowed is None and solvers is None:
        said = "no other inputs leave fewer groups without a closed form; MODEL's own are taken"
        print(f"--through auto: {said}", file=sys.stderr)
    return found


def motion_asked(
    model: Model,
    name: str,
    path: Path | None,
    steps: int | None,
    duration: float | None,
    kept: list[int] | None,
    level: Level,
) -> Motion:
    """Motion of the options, or the model's own; a fault in it ends the program with exit code 2."""
    mechanism = model.mechanism
    carried = mechanism.motion or usual_motion(mechanism)
    if path is None and carried is None:
        names = driven_coordinates(mechanism)
        columns = f"\n\nor give columns, --motion FILE.csv, with the header\n\n{','.join(('time', *names))}"
        fail(
            f"{name} carries no motion. Write one into its file, or into a file of its own for "
            f"--motion FILE.toml:\n\n{motion_to_write(mechanism)}{columns if names else ''}"
        )
    if path is None and mechanism.motion is None and carried is not None:
        ((coordinate, law),) = carried.inputs.items()
        range_ = "one turn" if law.name == "speed" else "the range of its limits"
        print(f"{name} carries no motion: {coordinate} goes through {range_} in 1 s", file=sys.stderr)
    instants = steps or (carried.steps if path is None and carried is not None else 1)
    fault = memory_fault(model, instants, kept, level)
    if fault is not None:
        fail(fault)
    try:
        if path is None:
            motion = default_motion(mechanism, steps=steps, duration=duration)
        else:
            motion = read_motion(mechanism, path, steps=steps, duration=duration)
    except ModelError:
        raise  # says its place itself
    except ValueError as error:
        fail(f"{path or name}: {error}")
    fault = memory_fault(model, len(motion.time), kept, level)
    if fault is not None:
        fail(fault)
    return motion
