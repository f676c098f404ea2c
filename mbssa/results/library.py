"""Which group types have a solver in which library: the *in library* column of Tables 9, 11 and 15."""

from __future__ import annotations

from collections.abc import Mapping

#: Types that the paper says its library MBDSBEG has (Tables 9, 11, 15).
MBDSBEG = frozenset({"1P3D", "1R3D", "1F3D", "1P1U1S3D", "1R1U1S3D"})


def libraries() -> Mapping[str, frozenset[str]]:
    """Libraries by name: the paper's, and those that installed packages announce.

    A package announces one with an entry point of the group ``mbssa.library`` that names a collection
    of type names.

    >>> sorted(libraries()["mbdsbeg"])
    ['1F3D', '1P1U1S3D', '1P3D', '1R1U1S3D', '1R3D']
    """
    from importlib.metadata import entry_points

    found = {"mbdsbeg": MBDSBEG}
    for entry in sorted(entry_points(group="mbssa.library"), key=lambda entry: entry.name):
        found[entry.name] = frozenset(entry.load())
    return found
