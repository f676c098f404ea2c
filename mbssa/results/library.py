"""Which group types have a solver in which library (Tables 9, 11 and 15), and what they cost."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

#: Types that the paper says its library MBDSBEG has (Tables 9, 11, 15).
MBDSBEG = frozenset({"1P3D", "1R3D", "1F3D", "1P1U1S3D", "1R1U1S3D"})


def libraries() -> Mapping[str, frozenset[str]]:
    """Libraries by name: the paper's, and those that installed packages announce.

    A package announces one with an entry point of the group ``mbssa.library`` that names a literal collection
    of type names. It is read from the package's file: a table must not cost the import of a package.

    >>> sorted(libraries()["mbdsbeg"])
    ['1F3D', '1P1U1S3D', '1P3D', '1R1U1S3D', '1R3D']
    """
    found = {"mbdsbeg": MBDSBEG}
    for entry in sorted(entry_points(group="mbssa.library"), key=lambda entry: entry.name):
        found[entry.name] = frozenset(_announced(entry))
    return found


def costs() -> Mapping[str, float]:
    """µs that an instant of a group of each type takes, as installed packages announce it.

    A package announces them with an entry point of the group ``mbssa.costs`` that names a literal mapping of
    type names to µs. Where two know a type, the cheaper one counts.
    """
    found: dict[str, float] = {}
    for entry in sorted(entry_points(group="mbssa.costs"), key=lambda entry: entry.name):
        for name, cost in dict(_announced(entry)).items():
            found[name] = min(float(cost), found.get(name, float("inf")))
    return found


def _announced(entry: EntryPoint) -> Any:
    """What an entry point names, read as a literal; by importing it where it is none."""
    top, *rest = entry.module.split(".")
    spec = find_spec(top)
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        path = Path(folder, *rest).with_suffix(".py")
        if not rest or not path.is_file():
            continue
        for line in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == entry.attr:
                try:
                    return ast.literal_eval(line.value)
                except ValueError:  # computed there
                    break
    return entry.load()
