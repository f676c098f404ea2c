"""Take a mechanism apart: structural groups, the DAG that orders them, and what is wrong with it.

>>> import mbssa
>>> structure = mbssa.decompose(mbssa.load("rotor"))
>>> structure.determined, structure.n_groups
(True, 7)
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes a while to import

if TYPE_CHECKING:
    from typing import Any

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

#: Module of each name. Nothing is imported before its first use: the command line must start at
#: once, and only who searches over inputs pays for the search.
_HOMES = {
    **dict.fromkeys(
        ("Builder", "Fault", "ModelError", "builtin_names", "from_adjacency", "from_networkx", "from_pairs",
         "load", "save", "to_networkx"),
        "io",
    ),
    **dict.fromkeys(
        ("Body", "BodyGeometry", "Joint", "JointFrame", "JointGeometry", "Mechanism"), "mechanism"
    ),
    **dict.fromkeys(("Force", "Inertia"), "loads"),
    "decompose": "analysis.decompose",
    "Part": "decomposition.partition",
    **dict.fromkeys(("Finding", "Report", "check"), "analysis.check"),
    "Proposal": "singularities.proposals",
    **dict.fromkeys(("Group", "Pair", "Structure"), "structure"),
    **dict.fromkeys(("Transformation", "Transformations"), "input_search.result"),
    "transform": "input_search.search",
    "with_inputs": "input_search.query",
}  # fmt: skip


#: Modules for users, imported on first use.
_MODULES = ("loops", "pictures")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"mbssa.{name}")
    if name in _HOMES:
        found = getattr(import_module(f"mbssa.{_HOMES[name]}"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'mbssa' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
