"""Re-selection of independent coordinates that have become ill-conditioned."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

from mbssa import Mechanism, Structure, decompose
from mbssa.input_search.query import driven_by

if TYPE_CHECKING:
    pass


#: Rate of any coordinate for a unit rate of an independent one, from which coordinates are re-selected.
POOR = 5.0


def structure_of(mechanism: Mechanism) -> Structure:
    """Structure of a mechanism in its driven coordinates; where none is driven, in those of partition."""
    if not mechanism.n_driven:
        independent = resolve_name("groups.partitioning:partition")(mechanism, driven=()).independent
        if not independent:
            raise ValueError(f"{mechanism.name} has no freedom: there is nothing to simulate")
        mechanism = driven_by(mechanism, independent)
    structure = decompose(mechanism)
    if not structure.determined:
        raise ValueError(
            f"{mechanism.name}: {', '.join(mechanism.driven_coordinates)} are not its independent "
            "coordinates, since the mobility count is not determined with them; see mbssa check"
        )
    return structure
