"""Loop (linear-graph) methods, which solve a mechanism loop by loop, for comparison with structural groups.

>>> import mbssa
>>> from mbssa.loops import independent_loops
>>> print(*independent_loops(mbssa.load("nine_bar")).loops)
CL-1{1, 2, 3, 4, 5, 6} CL-2{1, 6, 5, 7, 8, 9}
"""

from typing import TYPE_CHECKING

from mbssa.lazy import lazy as _lazy

if TYPE_CHECKING:
    from mbssa.loops.comparison import Comparison, Way, compare_loops
    from mbssa.loops.merging import Substructure, wehage
    from mbssa.loops.methods import independent_loops, wehage_substructures
    from mbssa.loops.structure import Loop, LoopStructure, Module

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

__getattr__, __dir__ = _lazy(
    __name__,
    {
        "comparison": ("Comparison", "Way", "compare_loops"),
        "merging": ("Substructure", "wehage"),
        "methods": ("independent_loops", "wehage_substructures"),
        "structure": ("Loop", "LoopStructure", "Module"),
    },
)
