"""Mobility count of a mechanism after the loss of each force-closed contact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mbssa.decomposition.incidence import initialise
from mbssa.decomposition.matching import match
from mbssa.joints.catalogue import CATALOGUE

if TYPE_CHECKING:
    from mbssa.decomposition.partition import Part
    from mbssa.mechanism import Mechanism

#: Contacts examined at most: each costs a search.
MOST_CONTACTS = 100


@dataclass(frozen=True, slots=True)
class ContactLost:
    """The count of a mechanism without one contact.

    ``joint`` is the contact's index; ``missing`` the number of missing units after its loss;
    ``parts`` the over- and under-constrained parts then.
    """

    joint: int
    missing: int
    parts: tuple[Part, ...]


def contacts_lost(mechanism: Mechanism) -> tuple[ContactLost, ...]:
    """One answer per contact, in the order of the joints; of very many, the first 100.

    A driven contact takes its inputs with it.

    >>> import mbssa
    >>> cam = mbssa.from_pairs(3, [(1, 2, "R", 1), (1, 3, "P", 0), (2, 3, "L", 0)], "planar")
    >>> [(lost.missing, [b + 1 for b in lost.parts[0].bodies]) for lost in contacts_lost(cam)]
    [(1, [3])]
    """
    answers = []
    incidence = initialise(mechanism)
    contacts = [j for j, row in enumerate(mechanism.joint_type.tolist()) if CATALOGUE[row].is_contact]
    for j in contacts[:MOST_CONTACTS]:
        # The joint remains, without units, so that joint numbers do not change.
        units = incidence.units.copy()
        units[j] = 0
        parts = match(replace(incidence, units=units)).parts
        missing = sum(part.units for part in parts if part.kind == "under")
        answers.append(ContactLost(j, int(missing), parts))
    return tuple(answers)
