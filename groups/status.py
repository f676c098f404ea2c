"""Arrays of a solution by name, and the numbers of ``status``: of a group at an instant, with their texts."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

#: Texts of a status, by its number.
STATUS = (
    "ok",
    "not converged",  # Newton stopped short, or a length that should fit does not: the residual is the gap
    "singular",  # a dead point: the position is met but the rates have no answer
    "predecessor group failed",  # a body that the group hangs on has no answer
    "out of reach",  # no real solution: points too far apart or too near
    "branch jump",  # the assembly mode could not be followed
    "dropped equations violated",  # solved, but an equation that was left out is not
    "gimbal",  # two axes of a universal joint line up so that a spin is left open
    "not computed",  # the run was stopped before it
    "lifted off",  # a contact has ended: its place is outside its limits, or its bodies are apart
    "penetrates",  # a contact's bodies would go into one another
    "passed a singular position",  # since the instant before: it may be on another branch
)
OK, NOT_CONVERGED, SINGULAR, PREDECESSOR_FAILED, OUT_OF_REACH, BRANCH_JUMP, DROPPED = range(7)
GIMBAL, NOT_COMPUTED, CONTACT_LOST, INTERPENETRATION, PASSED_SINGULAR = range(7, 12)
#: A contact has ended; a group's loop stays open, or does not close in its mode or with rates.
CONTACT_ENDED = CONTACT_LOST, INTERPENETRATION
OPEN = NOT_CONVERGED, SINGULAR, OUT_OF_REACH, BRANCH_JUMP


class ResultArray(NamedTuple):
    """One array of a solution: memory, archives and labelled datasets are made from these."""

    by: Literal["body", "group"]  # it has a row for each of these
    dtype: type[np.generic]
    title: str = ""  # where labelled data have the array as it is
    unit: str = "1"
    # Shapes of an entry, of a spatial and of a planar mechanism.
    entry: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    level: int = 0  # 1 where it begins with the velocities, 2 with the accelerations


#: Motions of the bodies, the quality of the groups' solutions, and the proof of their branches.
OUTPUTS = {
    "position": ResultArray("body", np.float64, entry=((3,), (2,))),
    "orientation": ResultArray("body", np.float64, entry=((4,), ())),
    "velocity": ResultArray("body", np.float64, entry=((6,), (3,)), level=1),
    "acceleration": ResultArray("body", np.float64, entry=((6,), (3,)), level=2),
}
QUALITY = {
    "status": ResultArray("group", np.int8, "how the group was solved", ""),
    "residual": ResultArray("group", np.float64, "largest residual, angles as arcs at the size", "m"),
    "iterations": ResultArray("group", np.int64, "Newton steps"),
    "condition": ResultArray("group", np.float64, "smallest over largest pivot"),
}
PROVEN = {"proven": ResultArray("group", np.int8)}
