"""Result of an input search: actuation schemes, best first, and the numbers of those evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mbssa.arrays import Ints
from mbssa.input_search.criteria import Criterion, front, ordered
from mbssa.input_search.evaluate import Evaluated
from mbssa.input_search.query import Query
from mbssa.input_search.undriven import Undriven
from mbssa.mechanism import Mechanism, Views
from mbssa.structure import Structure


@dataclass(frozen=True, slots=True)
class Row:
    """An actuation scheme, represented by its best set of coordinates, and its figures."""

    inputs: tuple[str, ...]
    n_groups: int
    largest: int
    levels: int
    width: int
    closed_forms: int
    cost: float
    valid: bool
    sets: int
    valid_sets: int
    alike: int
    alike_valid: int
    margin: float
    pairs: str

    def figures(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        values = {each.name: getattr(self, each.name) for each in fields(Row)}
        return values | {"inputs": list(self.inputs)}


@dataclass(frozen=True, slots=True)
class Transformation(Row):
    """An actuation scheme of :class:`Transformations`, represented by its best set of coordinates.

    Attributes
    ----------
    inputs : driven coordinates, as ``1-2.slide``
    n_groups, largest, levels, width : number of groups, bodies of the largest one, levels, groups in the
        widest level; 0 where the mobility count fails
    closed_forms : groups whose type is in the library
    cost : predicted time of one time step, µs
    valid : whether this set has full rank
    sets, valid_sets : sets of coordinates of the same joints, and the number of valid ones
    alike : equivalent schemes by symmetry, of those evaluated, with this one
    alike_valid : number of these with a valid set: the symmetry is one of the structure, ranks are of the
        geometry
    margin : smallest over largest singular value of the released motions, 0 where the set is not valid
    pairs : body numbers of the pairs chosen for the multiple joints; empty where there are none

    Examples
    --------
    >>> import mbssa
    >>> row = mbssa.transform(mbssa.load("rotor")).best
    >>> row.inputs, row.n_groups, row.closed_forms
    (('1-13.slide', '8-9.angle', '13-15.angle'), 9, 9)
    >>> print(*row.structure().groups[:4])
    SG-1{13} SG-2{15} SG-3{9, 10} SG-4{8}
    """

    base: Undriven = field(repr=False, compare=False)

    def mechanism(self) -> Mechanism:
        """The mechanism with these inputs, ready to be decomposed or saved."""
        return self.base.driven_by(self.inputs)

    def structure(self) -> Structure:
        """Its structural groups."""
        from mbssa.analysis.decompose import decompose

        return decompose(self.mechanism(), precision=self.base.query.precision)

    @property
    def verdict(self) -> str:
        """ "valid", or the reason why not: the mobility count, or a rank and its place."""
        return "valid" if self.valid else self.base.reason(self.mechanism())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; the groups are those of :meth:`structure`."""
        groups = self.structure().groups if self.n_groups else ()
        return self.figures() | {
            "verdict": self.verdict,
            "groups": [list(group.bodies) for group in groups],
            "types": [group.type_name for group in groups],
        }


@dataclass(frozen=True, eq=False)
class Transformations:
    """Result of :func:`mbssa.transform`.

    Attributes
    ----------
    mechanism : as given, with its own inputs
    query, criterion : of the search
    undriven : the mechanism without inputs, once for each choice of pairs for its multiple joints
    evaluated : schemes that the mobility count determines
    n_sets, n_distributions : sets of inputs and schemes that the query allows
    n_evaluated : number of schemes evaluated
    complete : whether all schemes were evaluated
    way : exhaustive, or best first by exchange of one input
    stopped : reason for an earlier end: "time", "number", "settled" or "interrupted"; else empty
    every : whether ``rows`` includes schemes without a valid set
    own : the present inputs of the mechanism, evaluated likewise; None where it has none
    notes : sentences on the limits of the search

    Examples
    --------
    >>> import mbssa
    >>> answer = mbssa.transform(mbssa.load("planar_four_bar"), criterion="groups,largest")
    >>> [(row.inputs, row.n_groups, row.largest, row.alike) for row in answer.rows]
    [(('1-2.angle',), 2, 2, 2), (('2-3.angle',), 1, 3, 2)]
    >>> answer.own.inputs == answer.best.inputs
    True
    """

    mechanism: Mechanism
    query: Query
    criterion: Criterion
    undriven: tuple[Undriven, ...]
    evaluated: Evaluated
    n_sets: int
    n_distributions: int
    n_evaluated: int
    complete: bool
    way: Literal["all", "best-first"] = "all"
    stopped: str = ""
    every: bool = False
    own: Transformation | None = None
    notes: tuple[str, ...] = ()

    @property
    def basis(self) -> Literal["numeric", "generic"]:
        """Rank that decides validity: numeric at the given geometry, or generic at random geometry."""
        return self.undriven[0].basis

    @property
    def n_determined(self) -> int:
        """Number of evaluated sets that the mobility count determines."""
        return int(self.evaluated.sets[self.evaluated.determined].sum())

    @property
    def n_valid(self) -> int:
        """Number of evaluated sets of full rank."""
        return int(self.evaluated.valid.sum())

    @property
    def n_structures(self) -> int:
        """Number of different kinematic structures of the valid sets."""
        return len(np.unique(self.evaluated.structure[self.evaluated.valid > 0]))

    @cached_property
    def shown(self) -> Ints:
        """Row numbers of ``evaluated`` in the order of ``rows``."""
        order = ordered(self.evaluated, self.criterion)
        order = order[self.evaluated.alike[order] > 0]
        return order if self.every else order[self.evaluated.valid[order] > 0]

    @property
    def rows(self) -> Sequence[Transformation]:
        """Schemes, best first; made on demand."""
        return _Rows(self, self.shown, _row_of)

    @property
    def best(self) -> Transformation | None:
        """The first row; None where there is none."""
        return self.rows[0] if len(self.shown) else None

    def front(self, first: str, second: str) -> list[Transformation]:
        """The Pareto front of two criteria among the rows, best in the first one first.

        Raises
        ------
        ValueError
            An unknown criterion.
        """
        rows, taken = self.rows, self.evaluated.take(self.shown)
        return [rows[place] for place in front(taken, first, second).tolist()]

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, ready for JSON; the first ``top`` rows, or all."""
        own = None if self.own is None else self.own.to_dict()
        names = ("n_sets", "n_distributions", "n_determined", "n_valid", "n_structures", "complete")
        return {
            "mechanism": self.mechanism.name,
            "criterion": self.criterion.text,
            "basis": self.basis,
            "n_inputs": self.evaluated.places.shape[1],
            "looked_at": self.n_evaluated,
            **{name: getattr(self, name) for name in names},
            "notes": list(self.notes),
            "own": own,
            "n_rows": len(self.shown),
            "rows": [row.to_dict() for row in self.rows[:top]],
        }

    def _repr_html_(self) -> str:
        from mbssa.reports.html import html_of

        return html_of(self, "mbssa.reports.input_search:search_report")

    def __repr__(self) -> str:
        name = self.mechanism.name or "a mechanism"
        return (
            f"<Transformations of {name}: {len(self.shown)} rows, {self.n_valid} valid sets of {self.n_sets}>"
        )


def _row_of(answer: Transformations, row: int) -> Transformation:
    return transformation(answer.undriven[int(answer.evaluated.variant[row])], answer.evaluated, row)


def transformation(base: Undriven, evaluated: Evaluated, row: int) -> Transformation:
    """One row of the columns, by its number."""
    figures: dict[str, Any] = {name: column[row].item() for name, column in evaluated.figures().items()}
    inputs = base.names(evaluated.places[row], evaluated.bits[row])
    return Transformation(inputs=inputs, pairs=base.pairs, base=base, **figures)


class _Rows(Views[Transformation]):
    def __repr__(self) -> str:
        shown = ", ".join("+".join(row.inputs) for row in self[:5])
        return f"<{len(self)} transformations: {shown}{', …' if len(self) > 5 else ''}>"
