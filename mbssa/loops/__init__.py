"""The rival of structural groups: linear graph algorithms, which solve a mechanism loop by loop.

>>> import mbssa
>>> from mbssa.loops import independent_loops
>>> print(*independent_loops(mbssa.load("nine_bar")).loops)
CL-1{1, 2, 3, 4, 5, 6} CL-2{1, 6, 5, 7, 8, 9}
"""

from mbssa.loops.comparison import Comparison, Way, compare_loops
from mbssa.loops.independent import independent_loops
from mbssa.loops.structure import Loop, LoopStructure, Module
from mbssa.loops.substructures import wehage_substructures
from mbssa.loops.wehage import Substructure, wehage

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
