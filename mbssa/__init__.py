"""Take a mechanism apart: structural groups, the DAG that orders them, and what is wrong with it.

>>> import mbssa
>>> structure = mbssa.decompose(mbssa.load("rotor"))
>>> structure.determined, structure.n_groups
(True, 7)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mbssa.gathering import (
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
from mbssa.mechanism import Body, BodyGeometry, Joint, JointFrame, JointGeometry, Mechanism
from mbssa.search import decompose
from mbssa.search.partition import Part
from mbssa.singularities.check import Finding, Report, check
from mbssa.singularities.repairs import Proposal
from mbssa.structure import Group, Pair, Structure

if TYPE_CHECKING:
    from mbssa.transformations.question import with_inputs
    from mbssa.transformations.result import Transformation, Transformations
    from mbssa.transformations.transforming import transform

__all__ = [
    "Body",
    "BodyGeometry",
    "Fault",
    "Finding",
    "Group",
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

# Every command passes here; only who searches over inputs pays for the search.
_HOMES = {
    "Transformation": "result",
    "Transformations": "result",
    "transform": "transforming",
    "with_inputs": "question",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"mbssa.transformations.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'mbssa' has no attribute {name!r}")
