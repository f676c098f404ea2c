"""The rival of structural groups: linear graph algorithms, which solve a mechanism loop by loop.

>>> import mbssa
>>> from mbssa.loops import independent_loops
>>> print(*independent_loops(mbssa.load("nine_bar")).loops)
CL-1{1, 2, 3, 4, 5, 6} CL-2{1, 6, 5, 7, 8, 9}
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbssa.loops.comparison import Comparison, Way, compare_loops
    from mbssa.loops.independent import independent_loops
    from mbssa.loops.merging import Substructure, wehage
    from mbssa.loops.structure import Loop, LoopStructure, Module
    from mbssa.loops.substructures import wehage_substructures

__all__ = [
    "Comparison",
    "Loop",
    "LoopStructure",
    "Module",
    "Substructure",
    "Way",
    "compare_loops",
    "independent_loops",
    "wehage",
    "wehage_substructures",
]

# Every command line passes here to register ``mbssa loops``; only that command pays for the rest.
_HOMES = {
    "comparison": ("Comparison", "Way", "compare_loops"),
    "independent": ("independent_loops",),
    "merging": ("Substructure", "wehage"),
    "structure": ("Loop", "LoopStructure", "Module"),
    "substructures": ("wehage_substructures",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"mbssa.loops.{home}"), name)
    raise AttributeError(f"module 'mbssa.loops' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
