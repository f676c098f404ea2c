"""The answer of a search over inputs: rows best first, made on demand, and what was looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from mbssa.mechanism import IntArray, Mechanism
from mbssa.structure import Structure
from mbssa.transformations.base import Base
from mbssa.transformations.criteria import Criterion, front, ordered
from mbssa.transformations.judged import Judged
from mbssa.transformations.question import Question
from mbssa.transformations.row import Row


@dataclass(frozen=True, slots=True)
class Transformation(Row):
    """One row of an answer; the attributes are those of :class:`~mbssa.transformations.row.Row`, and

    Attributes
    ----------
    alike : distributions, of those looked at, that symmetry makes the same as this one, itself included
    alike_valid : how many of them have a valid set: the symmetry is the structure's, ranks are the geometry's

    Examples
    --------
    >>> import mbssa
    >>> row = mbssa.transform(mbssa.load("rotor")).best
    >>> row.inputs, row.n_groups, row.closed_forms
    (('1-2.slide', '1-13.slide', '13-15.angle'), 9, 9)
    >>> print(*row.structure().groups[:4])
    SG-1{2} SG-2{13} SG-3{15} SG-4{9, 10}
    """

    alike: int
    alike_valid: int
    base: Base = field(repr=False, compare=False)

    def mechanism(self) -> Mechanism:
        """The mechanism with these inputs, ready to be decomposed or saved."""
        return self.base.driven_by(self.inputs)

    def structure(self) -> Structure:
        """Its structural groups."""
        from mbssa.analysis.decompose import decompose

        return decompose(self.mechanism(), precision=self.base.question.precision)

    @property
    def verdict(self) -> str:
        """ "valid", or why not: what the count lacks, or which rank falls short and where."""
        return "valid" if self.valid else self.base.reason(self.mechanism())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; the groups are those of :meth:`structure`."""
        groups = self.structure().groups if self.n_groups else ()
        return self.figures() | {
            "alike": self.alike,
            "alike_valid": self.alike_valid,
            "verdict": self.verdict,
            "groups": [list(group.bodies) for group in groups],
            "types": [group.type_name for group in groups],
        }


@dataclass(frozen=True, eq=False)
class Transformations:
    """Answer of :func:`mbssa.transform`.

    Attributes
    ----------
    mechanism : as it was given, with its own inputs
    question, criterion : what was asked
    bases : the undriven mechanism, once for each choice of pairs for its multiple joints
    judged : what was looked at and is determined by the count; others may be missing
    n_sets, n_distributions : how many the question allows
    looked_at : how many distributions were looked at
    complete : whether all of them were looked at
    stopped : what ended the search before: "time" or "interrupted" (Ctrl-C); empty where nothing did
    every : whether ``rows`` names those without a valid set too
    own : the inputs that the mechanism has now, judged the same way; None where it has none
    notes : what the person should know of the search

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
    question: Question
    criterion: Criterion
    bases: tuple[Base, ...]
    judged: Judged
    n_sets: int
    n_distributions: int
    looked_at: int
    complete: bool
    stopped: str = ""
    every: bool = False
    own: Transformation | None = None
    notes: tuple[str, ...] = ()

    @property
    def basis(self) -> Literal["numeric", "generic"]:
        """Which rank decides what is valid: at the given geometry, or at random geometry."""
        return self.bases[0].basis

    @property
    def n_determined(self) -> int:
        """Sets that the count determines, of those looked at."""
        return int(self.judged.sets[self.judged.determined].sum())

    @property
    def n_valid(self) -> int:
        """Sets of full rank, of those looked at."""
        return int(self.judged.valid.sum())

    @property
    def n_structures(self) -> int:
        """Different kinematic structures among the valid sets."""
        return len(np.unique(self.judged.structure[self.judged.valid > 0]))

    @cached_property
    def shown(self) -> IntArray:
        """Numbers of the rows of ``judged`` that ``rows`` names, best first."""
        order = ordered(self.judged, self.criterion)
        order = order[self.judged.alike[order] > 0]
        return order if self.every else order[self.judged.valid[order] > 0]

    @property
    def rows(self) -> Sequence[Transformation]:
        """Distributions, best first; made on demand."""
        return _Rows(self)

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
        chosen = self.shown
        return [row_of(self, int(chosen[k])) for k in front(self.judged.take(chosen), first, second)]

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, ready for JSON; the first ``top`` rows, or all."""
        return {
            "mechanism": self.mechanism.name,
            "criterion": self.criterion.text,
            "basis": self.basis,
            "n_inputs": self.judged.n_inputs,
            "n_sets": self.n_sets,
            "n_distributions": self.n_distributions,
            "looked_at": self.looked_at,
            "n_determined": self.n_determined,
            "n_valid": self.n_valid,
            "n_structures": self.n_structures,
            "complete": self.complete,
            "notes": list(self.notes),
            "own": None if self.own is None else self.own.to_dict(),
            "n_rows": len(self.shown),
            "rows": [row.to_dict() for row in self.rows[:top]],
        }

    def __repr__(self) -> str:
        name = self.mechanism.name or "a mechanism"
        return (
            f"<Transformations of {name}: {len(self.shown)} rows, {self.n_valid} valid sets of {self.n_sets}>"
        )


def row_of(answer: Transformations, row: int) -> Transformation:
    """One row of ``answer.judged`` as a view."""
    return transformation(answer.bases, answer.judged, row)


def transformation(bases: Sequence[Base] | Mapping[int, Base], judged: Judged, row: int) -> Transformation:
    """One row of the columns, by its number."""
    base = bases[int(judged.variant[row])]
    n = {name: column[row].item() for name, column in judged.columns().items() if column.ndim == 1}
    return Transformation(
        inputs=base.names(judged.places[row], judged.bits[row]),
        n_groups=n["n_groups"],
        largest=n["largest"],
        levels=n["levels"],
        width=n["width"],
        closed_forms=n["closed"],
        cost=n["cost"],
        valid=n["valid"] > 0,
        sets=n["sets"],
        valid_sets=n["valid"],
        alike=n["alike"],
        alike_valid=n["alike_valid"],
        margin=n["margin"],
        pairs=base.pairs,
        base=base,
    )


class _Rows(Sequence[Transformation]):
    def __init__(self, answer: Transformations) -> None:
        self._answer = answer

    def __len__(self) -> int:
        return len(self._answer.shown)

    @overload
    def __getitem__(self, index: int) -> Transformation: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Transformation]: ...
    def __getitem__(self, index: int | slice) -> Transformation | Sequence[Transformation]:
        chosen = self._answer.shown[index]
        if isinstance(index, slice):
            return [row_of(self._answer, int(row)) for row in chosen]
        return row_of(self._answer, int(chosen))

    def __iter__(self) -> Iterator[Transformation]:
        return (row_of(self._answer, int(row)) for row in self._answer.shown)

    def __repr__(self) -> str:
        shown = ", ".join("+".join(row.inputs) for row in self[:5])
        return f"<{len(self)} transformations: {shown}{', …' if len(self) > 5 else ''}>"
