"""Packages whose names are imported at their first use."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing takes a while to import

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any


def lazy(
    package: str, homes: Mapping[str, Iterable[str]], modules: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package: names by their modules, and modules."""
    home_of = {name: module for module, names in homes.items() for name in names}

    def value(name: str) -> Any:
        from importlib import import_module

        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    def listed() -> list[str]:
        there = vars(sys.modules[package])
        return sorted({*there["__all__"], *modules, *(name for name in there if name.startswith("__"))})

    return value, listed
