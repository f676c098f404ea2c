"""Arrays of a solution, by name: the table that memory, archives and labelled datasets are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True, slots=True)
class ResultArray:
    """One array of a solution."""

    by: Literal["body", "group"]  # it has a row for each of these
    dtype: type[np.generic]
    title: str = ""  # where labelled data have the array as it is
    unit: str = "1"
    # Shapes of an entry, of a planar and of a spatial mechanism.
    components: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    level: int = 0  # 1 where it begins with the velocities, 2 with the accelerations

    def entry(self, planar: bool) -> tuple[int, ...]:
        """Shape of an entry."""
        return self.components[0 if planar else 1]


#: Motions of the bodies, and the quality of the groups' solutions.
OUTPUTS = {
    "position": ResultArray("body", np.float64, components=((2,), (3,))),
    "orientation": ResultArray("body", np.float64, components=((), (4,))),
    "velocity": ResultArray("body", np.float64, components=((3,), (6,)), level=1),
    "acceleration": ResultArray("body", np.float64, components=((3,), (6,)), level=2),
}
QUALITY = {
    "status": ResultArray("group", np.int8, "how the group was solved", ""),
    "residual": ResultArray("group", np.float64, "largest residual, angles as arcs at the size", "m"),
    "iterations": ResultArray("group", np.int64, "Newton steps"),
    "condition": ResultArray("group", np.float64, "smallest over largest pivot"),
}
#: Branches that are proven, where a proof was made.
PROVEN = {"proven": ResultArray("group", np.int8)}
