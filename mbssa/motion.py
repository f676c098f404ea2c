"""Motion that a model carries: laws of its driven coordinates, as plain data."""

# This package only keeps it; the package ``groups`` makes functions of time of it.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Seconds that a motion or a step may last, and instants of a motion, all inputs together, at most.
SHORTEST, LONGEST, MOST_STEPS = 1e-9, 1e9, 10_000_000

#: Value of a law's parameter, SI units; a formula is text.
Parameter = float | str | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class InputLaw:
    """Motion law of one driven coordinate: its name and parameters, m, rad and s."""

    # Names and parameters are those of the tables of mbssa.io.schema; a parameter that the file does not give
    # is missing here too.

    name: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DefaultMotion:
    """Content of ``[motion]`` in a model file."""

    duration: float  # s, from t = 0
    steps: int  # time steps, both ends included
    inputs: Mapping[str, InputLaw]  # a law for each driven coordinate, by ``joint.coordinate``
