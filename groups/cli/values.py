"""Numbers by the names of coordinates, as commands take them: ``NAME=VALUE`` in the units of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from groups.cli.requests import names_asked
from mbssa.cli import completion
from mbssa.joints.catalogue import is_length
from mbssa.units import given_in

InitialOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        autocompletion=completion.coordinates,
        help="Value of a released coordinate at the start, in MODEL's units; may be repeated.",
    ),
]
ApplyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        autocompletion=completion.coordinates,
        help="Constant force or torque along a joint coordinate; may be repeated.",
    ),
]


def numbers_asked(
    option: str, texts: Sequence[str], units: tuple[str, str], measured: tuple[str, str], faults: list[str]
) -> dict[str, float]:
    """Numbers by coordinate from ``NAME=VALUE``, in SI; what is wrong is added to ``faults``.

    ``measured``: SI units of what belongs to a slide, and of what belongs to an angle.
    """
    found: dict[str, float] = {}
    of_length, of_angle = measured
    for text in names_asked(texts):
        name, equals, number = (part.strip() for part in text.partition("="))
        value = number_of(number)
        if not equals or value is None:
            faults.append(f"{option} {text}: write NAME=VALUE, such as 1-2.angle=30")
            continue
        if name in found:
            faults.append(f"{option} {text}: {name} has a value already")
        found[name] = value * given_in(of_length if is_length(name) else of_angle, units)[1]
    return found


def number_of(text: str) -> float | None:
    """A number; None where the text is none."""
    try:
        return float(text)
    except ValueError:
        return None
