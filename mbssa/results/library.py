"""Names by which the input search still calls :mod:`mbssa.group_library`."""

from __future__ import annotations

from collections.abc import Mapping

from mbssa.group_library import COSTS, LIBRARIES


def libraries() -> Mapping[str, frozenset[str]]:
    """Libraries of group types by name."""
    return LIBRARIES


def costs() -> Mapping[str, float]:
    """µs that an instant of a group of each type takes."""
    return COSTS
