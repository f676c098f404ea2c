"""Criteria of kinematic structures: lexicographic order, weighted sum and Pareto front."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbssa.arrays import Floats, Ints

if TYPE_CHECKING:
    from mbssa.input_search.evaluate import Evaluated

#: Criteria: the good direction, more (1) or less (-1), and what a picture calls them.
CRITERIA = {
    "groups": (1, "structural groups"),
    "largest": (-1, "bodies of the largest group"),
    "closed": (1, "groups with a closed form"),
    "open": (-1, "groups without a closed form"),
    "levels": (-1, "levels"),
    "width": (1, "groups of the widest level"),
    "cost": (-1, "predicted cost of an instant in µs"),
    "margin": (1, "margin of the rank"),
}

#: Relative difference up to which values are equal: sums of the same terms differ by rounding.
_EQUAL = 1e-9

#: Small groups first make the fewest equations to iterate on; closed forms need no iteration at all.
DEFAULT = "groups,largest,closed,cost"

#: Term of a weighted sum: sign, weight and name; few digits, so that sums stay finite in SQL too.
_TERM = r"([+-]?)(?:(\d{1,15}(?:\.\d{0,15})?(?:e[+-]?\d\d?)?|\.\d{1,15})\*)?([a-z_]+)"
_SUM = rf"{_TERM}(?:(?=[+-]){_TERM})*"

#: Letters of a criterion at most: SQL takes some hundred terms.
_MOST_LETTERS = 1_000


@dataclass(frozen=True, slots=True)
class Criterion:
    """Order of structures by weighted sums, more is better; a later one decides between equals."""

    text: str
    sums: tuple[tuple[tuple[float, str], ...], ...]  # of (weight, criterion)


def criterion(text: str = DEFAULT) -> Criterion:
    """Read ``groups,largest`` (each in its good direction) or ``2*groups-1*largest`` (more is better)."""
    if len(text) > _MOST_LETTERS:
        raise ValueError(f"{len(text):,} characters; write {_MOST_LETTERS:,} at most")
    compact = re.sub(r"\s+", "", text)
    if not re.fullmatch(f"{_SUM}(?:,{_SUM})*", compact):
        raise ValueError(
            f"{text!r} is neither a list such as 'groups,largest' nor a sum such as "
            "'2*groups-1*largest+0.5*closed'"
        )
    parts = [f"{CRITERIA[part][0]}*{part}" if part in CRITERIA else part for part in compact.split(",")]
    sums = tuple(
        tuple((float(f"{sign}{weight or 1}"), name) for sign, weight, name in re.findall(_TERM, part))
        for part in parts
    )
    _check_known(text, [name for terms in sums for _, name in terms])
    return Criterion(compact, sums)


def _check_known(text: str, names: Iterable[str]) -> None:
    unknown = [name for name in names if name not in CRITERIA]
    if unknown:
        near = [match for name in unknown for match in difflib.get_close_matches(name, CRITERIA, n=1)]
        hint = f"; did you mean {' and '.join(map(repr, dict.fromkeys(near)))}?" if near else ""
        shown = ", ".join(map(repr, unknown))
        raise ValueError(f"{text!r}: unknown {shown}{hint}; the criteria are {', '.join(CRITERIA)}")


def values_of(evaluated: Evaluated, name: str) -> Floats:
    """Values (D,) of one criterion."""
    return np.asarray(getattr(evaluated, "n_groups" if name == "groups" else name), dtype=np.float64)


def keys_of(evaluated: Evaluated, wanted: Criterion) -> list[Floats]:
    """Columns to sort by, the first one first, smaller is better."""
    return [-np.sum([w * values_of(evaluated, name) for w, name in terms], axis=0) for terms in wanted.sums]


def ordered(evaluated: Evaluated, wanted: Criterion) -> Ints:
    """Row numbers, best first; ties by valid sets first, then in the order of the joints."""
    keys = [~evaluated.determined, *keys_of(evaluated, wanted), evaluated.valid == 0, evaluated.variant]
    keys += list(evaluated.places.T)
    return np.lexsort(keys[::-1]).astype(np.int64)


def front(evaluated: Evaluated, first: str, second: str) -> Ints:
    """Row numbers of the Pareto front of two criteria, best in the first one first."""
    # A row is on it if no other is better in one and at least as good in the other; of rows with equal values
    # (to one part in 10⁹) only the first is named.
    _check_known(f"{first},{second}", [first, second])
    a, b = (_steps(-CRITERIA[name][0] * values_of(evaluated, name)) for name in (first, second))
    order = np.lexsort((np.arange(len(a)), b, a))
    least = np.minimum.accumulate(b[order])
    better = np.diff(least, prepend=len(b)) < 0
    return order[better].astype(np.int64)


def _steps(values: Floats) -> Ints:
    """Places of the values in ascending order, from 0; equal ones have the same."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    above = np.diff(ascending) > _EQUAL * np.abs(ascending[1:])
    places = np.zeros(len(values), dtype=np.int64)
    places[order[1:]] = np.cumsum(above)
    return places
