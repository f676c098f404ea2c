"""A mechanism with other inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mbssa import Mechanism


def redriven(mechanism: Mechanism, names: Sequence[str]) -> Mechanism:
    """The same mechanism with these coordinates driven and no others; it carries no motion.

    Raises
    ------
    ValueError
        Coordinates that there are not: all of them.

    Examples
    --------
    >>> import mbssa
    >>> from groups import driven_coordinates
    >>> driven_coordinates(redriven(mbssa.load("pendulum_four_bar"), ["1-3.angle"]))
    ('1-3.angle',)
    """
    driven = np.zeros_like(mechanism.driven)
    faults = []
    for name in names:
        identity, _, coordinate = name.rpartition(".")
        try:
            joint = mechanism.joint(identity)
        except KeyError as error:
            faults.append(f"{name}: {error.args[0]}")
            continue
        if coordinate not in joint.type.coordinates:
            there = ", ".join(joint.type.coordinates)
            faults.append(f"{name}: joint {joint.id} {joint.type.code} has {there}")
        else:
            driven[joint.index] |= 1 << joint.type.coordinates.index(coordinate)
    if faults:
        raise ValueError("\n".join(faults))
    return replace(mechanism, driven=driven, motion=None)
