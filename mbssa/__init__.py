"""Take a mechanism apart: structural groups, the DAG that orders them, and what is wrong with it.

>>> import mbssa
>>> structure = mbssa.decompose(mbssa.load("rotor"))
>>> structure.determined, structure.n_groups
(True, 7)
"""

from __future__ import annotations

from mbssa.lazy import lazy as _lazy

TYPE_CHECKING = False  # typing takes a while to import

if TYPE_CHECKING:
    from mbssa import loops as loops
    from mbssa import pictures as pictures
    from mbssa.analysis.check import Finding, Report, check
    from mbssa.analysis.decompose import decompose
    from mbssa.decomposition.partition import Part
    from mbssa.input_search.query import with_inputs
    from mbssa.input_search.result import Transformation, Transformations
    from mbssa.input_search.search import transform
    from mbssa.io import (
        Builder,
        Fault,
        ModelError,
        builtin_names,
        from_adjacency,
        from_networkx,
        from_pairs,
        load,
        save,
        to_networkx,
    )
    from mbssa.loads import Force, Inertia
    from mbssa.mechanism import Body, BodyGeometry, Joint, JointFrame, JointGeometry, Mechanism
    from mbssa.singularities.proposals import Proposal
    from mbssa.structure import Group, Pair, Structure

__all__ = [
    "Body",
    "BodyGeometry",
    "Builder",
    "Fault",
    "Finding",
    "Force",
    "Group",
    "Inertia",
    "Joint",
    "JointFrame",
    "JointGeometry",
    "Mechanism",
    "ModelError",
    "Pair",
    "Part",
    "Proposal",
    "Report",
    "Structure",
    "Transformation",
    "Transformations",
    "builtin_names",
    "check",
    "decompose",
    "from_adjacency",
    "from_networkx",
    "from_pairs",
    "load",
    "save",
    "to_networkx",
    "transform",
    "with_inputs",
]

# Nothing is imported before its first use: the command line must start at once, and the search over inputs
# is for those who search.
__getattr__, __dir__ = _lazy(
    __name__,
    {
        "analysis.check": ("Finding", "Report", "check"),
        "analysis.decompose": ("decompose",),
        "decomposition.partition": ("Part",),
        "input_search.query": ("with_inputs",),
        "input_search.result": ("Transformation", "Transformations"),
        "input_search.search": ("transform",),
        "io": ("Builder", "Fault", "ModelError", "builtin_names", "from_adjacency", "from_networkx",
               "from_pairs", "load", "save", "to_networkx"),
        "loads": ("Force", "Inertia"),
        "mechanism": ("Body", "BodyGeometry", "Joint", "JointFrame", "JointGeometry", "Mechanism"),
        "singularities.proposals": ("Proposal",),
        "structure": ("Group", "Pair", "Structure"),
    },
    ("loops", "pictures"),
)  # fmt: skip
