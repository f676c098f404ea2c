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
    """Mobility count of a mechanism without one contact."""

    joint: int  # index of the contact
    missing: int  # units after its loss
    parts: tuple[Part, ...]  # over- and under-constrained ones then


def contacts_lost(mechanism: Mechanism) -> tuple[ContactLost, ...]:
    """Loss of each contact, in the order of the joints; of very many, the first 100."""
    # A driven contact takes its inputs with it.
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
