"""Values of options: names, numbers of coordinates, modes and solvers of groups; all faults at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from groups.model import Model, solvers_of
from groups.trajectory import body_index
from mbssa import Mechanism
from mbssa.cli.options import number_of
from mbssa.joints.catalogue import is_length

T = TypeVar("T")


def body_indices(mechanism: Mechanism, names: Sequence[str] | None, faults: list[str]) -> list[int] | None:
    """Indices of bodies, ascending, from names and numbers; None if none is named."""
    found = set()
    for name in names or ():
        try:
            found.add(body_index(mechanism, name))
        except KeyError as error:
            faults.append(f"--keep: {error.args[0]}")
    return sorted(found) or None


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
    option: str, texts: Iterable[str] | None, example: str, faults: list[str], what: str = ""
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


def expressions(texts: Sequence[str] | None, faults: list[str]) -> dict[str, str]:
    """Expressions by name, from ``NAME=EXPRESSION``; faults are added to ``faults``."""
    found = pairs("--quantity", texts, "NAME=EXPRESSION", faults, "an expression")
    return {name: expression for _, name, expression in found}


def modes(model: Model, texts: Sequence[str] | None, faults: list[str]) -> dict[int, int]:
    """Numbers of modes by numbers of groups, from ``GROUP=NUMBER``; faults are added to ``faults``."""
    return _by_group(
        model, texts, faults, "mode", "NUMBER, such as 2=1", lambda _group, text: int(text), r"\d{1,9}"
    )


def solvers(model: Model, texts: Sequence[str] | None, faults: list[str]) -> dict[int, str]:
    """Names of solvers by numbers of groups, from ``GROUP=NAME``; dashes may stand for spaces."""

    def name(group: int, text: str) -> str:
        names = {one.casefold(): one for one in solvers_of(model, group)}
        try:
            return names[text.replace("-", " ").casefold()]
        except KeyError:
            raise ValueError(f"group {group} can have {', '.join(names.values())}") from None

    return _by_group(model, texts, faults, "solver", "NAME, such as 2=Newton", name)


def _by_group(
    model: Model,
    texts: Sequence[str] | None,
    faults: list[str],
    option: str,
    example: str,
    read: Callable[[int, str], T],
    value: str = ".+",
) -> dict[int, T]:
    """Parse ``GROUP=VALUE``."""
    found: dict[int, T] = {}
    groups = model.structure.n_groups
    for text in texts or ():
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
    return found


def coordinate_values(
    option: str,
    texts: Sequence[str] | None,
    units: tuple[str, str],
    si_units: tuple[str, str],
    faults: list[str],
) -> dict[str, float]:
    """Numbers by coordinate from ``NAME=VALUE``, in SI; faults are added to ``faults``."""
    # `units` hold for numbers without a unit of their own; `si_units` are those of the quantity for a slide,
    # and for an angle.
    example = "NAME=VALUE, such as 1-2.angle=30deg"
    return {
        name: number_of(f"{option} {text}", number, si_units[0 if is_length(name) else 1], units, faults)
        for text, name, number in pairs(option, texts, example, faults, "a value")
    }
