"""The mechanism that a command is about, by the options that name its inputs."""

from __future__ import annotations

from dataclasses import replace

import typer

from mbssa.io import load
from mbssa.mechanism import Mechanism
from mbssa.units import chosen_units


def loaded(model: str, inputs: str | None, terminals: list[str] | None, pairs: str | None) -> Mechanism:
    """Load the mechanism of a command, with its own inputs or with these; ModelError has all faults."""
    mechanism = load(model)
    if inputs is None:
        if terminals:
            raise typer.BadParameter(
                "is for --inputs; name coordinates of this body's pair there too", param_hint="--terminal"
            )
        if pairs is not None:
            raise typer.BadParameter("is for --inputs; name the coordinates too", param_hint="--pairs")
        return mechanism
    from mbssa.input_search.query import with_inputs

    return with_inputs(mechanism, inputs, terminals or (), pairs or ())


def shown_in(mechanism: Mechanism, units: str) -> Mechanism:
    """A mechanism of which reports are in the units of ``--units``."""
    chosen = chosen_units(units, mechanism.units)
    return mechanism if chosen == mechanism.units else replace(mechanism, units=chosen)
