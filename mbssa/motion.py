"""The motion that a model carries: laws of its driven coordinates, as plain data.

This package only keeps it; the package ``groups`` makes functions of time of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Seconds that a motion or a step may last, and instants of a motion, all inputs together, at most.
SHORTEST, LONGEST, MOST_STEPS = 1e-9, 1e9, 10_000_000

#: Value of a law's parameter, SI units.
Parameter = float | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class InputLaw:
    """Motion law of one driven coordinate: its name and parameters, m, rad and s.

    Names and parameters are those of the tables of :mod:`mbssa.io.schema`; a parameter that the
    file does not give is missing here too.

    >>> InputLaw("speed", {"rate": 6.28}).parameters
    {'rate': 6.28}
    """

    name: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DefaultMotion:
    """Content of ``[motion]`` in a model file.

    Attributes
    ----------
    duration : s, from t = 0
    steps : instants, both ends included
    inputs : a law for each driven coordinate, called ``joint.coordinate``

    Examples
    --------
    >>> import mbssa
    >>> motion = mbssa.load("planar_four_bar").motion
    >>> motion.duration, motion.steps, list(motion.inputs)
    (1.0, 361, ['1-2.angle'])
    """

    duration: float
    steps: int
    inputs: Mapping[str, InputLaw]
