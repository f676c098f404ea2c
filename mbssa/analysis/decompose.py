"""Decomposition of a mechanism into its structure, by either method."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from mbssa.decomposition.incidence import initialise
from mbssa.decomposition.matching import match
from mbssa.decomposition.treatment import DENSE
from mbssa.mechanism import Mechanism
from mbssa.structure import Structure, build_structure

Method = Literal["matching", "exhaustive"]


def decompose(
    mechanism: Mechanism,
    method: Method = "matching",
    time_limit: float | None = None,
    *,
    by_count: bool = False,
    precision: float | None = None,
) -> Structure:
    """Find the structural groups of a mechanism and the DAG that orders them.

    Parameters
    ----------
    mechanism : a validated mechanism; it needs no geometry
    method : "matching" takes nearly linear time. "exhaustive" is the paper's own search over chains
        of growing length (its Algorithms 1 to 3), exponential in the size of the largest group. Its
        Eq. (5) can be fooled (planar ``1-2R 1-2P 2-3R``); the answer then has a note that says so.
    time_limit : seconds after which the exhaustive search gives up; its answer then has
        ``determined == False`` and a note. The matching ignores it.
    by_count : by the count alone. Otherwise a mechanism that moves although its count does not come
        out (redundant constraints, passive rotations) is decomposed after a recorded treatment, see
        ``Structure.treatment``; the exhaustive search knows no treatment. Which of several dependent
        constraints is left out follows the order of the joints, and the groups may follow it too.
    precision : of the geometry's numbers, m, for that treatment; found from their digits if not given

    Returns
    -------
    Structure. An over- or under-constrained mechanism is an answer too: see ``Structure.parts``.

    Raises
    ------
    ValueError
        Unknown method, or a precision that is no length from 0 to 1 m.
    TypeError
        Not a mechanism.

    Examples
    --------
    >>> import mbssa
    >>> rotor = mbssa.decompose(mbssa.load("rotor"))
    >>> print(*rotor.groups)
    SG-1{9, 10, 13} SG-2{15} SG-3{3, 6} SG-4{11, 14, 16} SG-5{4, 7} SG-6{8, 12} SG-7{2, 5}
    """
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"takes a Mechanism, not {mechanism!r}; mbssa.load(…) reads one")
    if method not in get_args(Method):
        raise ValueError(f"method {method!r} is unknown; write 'matching' or 'exhaustive'")
    if precision is not None and not (isinstance(precision, int | float) and 0.0 <= precision <= 1.0):
        raise ValueError(f"precision is {precision!r}; write a length from 0 to 1 m")
    incidence = initialise(mechanism)
    treatment = None
    if method == "matching":
        partition = match(incidence)
        # Ranks could determine what the count does not: redundancy needs a surplus, and passive rotations a
        # mechanism in space. A planar chain without an input, the commonest fault, needs no ranks.
        surplus = any(part.kind == "over" for part in partition.parts)
        spinning = bool(partition.parts) and mechanism.space == "spatial"
        if (surplus or spinning) and worth_treating(mechanism) and not by_count:
            from mbssa.singularities.redundancy import guards, treat

            treatment = treat(mechanism, precision)
            if treatment is not None:
                treated = replace(incidence, units=treatment.units, freedom_of_body=treatment.freedom_of_body)
                partition = match(treated)
                if not partition.parts and (ties := guards(mechanism, partition.label, treatment, precision)):
                    partition = match(treated, ties)
    else:
        from mbssa.decomposition.exhaustive import search

        partition = search(incidence, time_limit)
        if not partition.parts and not partition.unresolved and match(incidence).parts:
            note = "Eq. (5) lets a surplus and a shortage cancel here: the matching finds no determined count"
            partition = replace(partition, note=note)
    return build_structure(mechanism, incidence, partition, method, treatment)


def worth_treating(mechanism: Mechanism) -> bool:
    """Return whether ranks of the whole mechanism are affordable: up to 1,200 units of freedom."""
    return mechanism.freedom * (mechanism.n_bodies - 1) <= DENSE
