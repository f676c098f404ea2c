"""Criteria of kinematic structures: lexicographic order, weighted sum and Pareto front."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Floats, Ints
from mbssa.input_search.evaluate import Evaluated

#: Criteria, and the better direction: more (1) or less (-1).
DIRECTIONS = {
    "groups": 1,
    "largest": -1,
    "closed": 1,
    "open": -1,
    "levels": -1,
    "width": 1,
    "cost": -1,
    "margin": 1,
}

#: Columns of :class:`Evaluated` that have another name.
_COLUMN = {"groups": "n_groups"}

#: Relative difference up to which values are equal: sums of the same terms differ by rounding.
_EQUAL = 1e-9

#: Small groups first make the fewest equations to iterate on; closed forms need no iteration at all.
DEFAULT = "groups,largest,closed,cost"


@dataclass(frozen=True, slots=True)
class Criterion:
    """Order of structures: lexicographic, or by one weighted sum."""

    text: str
    # terms: (weight, criterion); lexicographic: weights 1, each in its good direction; sum: more is better
    terms: tuple[tuple[float, str], ...]
    lexicographic: bool


#: Terms of a criterion or conditions at most, and the largest number in one: what SQL takes.
MOST_TERMS, LARGEST = 100, 1e15


def criterion(text: str = DEFAULT) -> Criterion:
    """Read ``groups,largest`` (lexicographic) or ``2*groups-1*largest+0.5*closed`` (weighted sum)."""
    # A ValueError names every term that is no criterion.
    if len(text) > 5_000:
        raise ValueError(f"a criterion of {len(text):,} characters; write {MOST_TERMS} terms at most")
    compact = re.sub(r"\s+", "", text)
    names = compact.split(",")
    n_terms = max(len(names), len(re.findall("[a-z_]+", compact)))
    if n_terms > MOST_TERMS:
        raise ValueError(f"a criterion of {n_terms:,} terms; write {MOST_TERMS} at most")
    if all(re.fullmatch(r"[a-z_]*", name) for name in names):
        _known(text, names)
        return Criterion(compact, tuple((1.0, name) for name in names), lexicographic=True)
    pattern = r"([+-]?)(?:(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)\*)?([a-z_]+)"
    parts = list(re.finditer(pattern, compact))
    if "".join(part[0] for part in parts) != compact or any(not part[1] for part in parts[1:]):
        raise ValueError(
            f"criterion {text!r} is neither a list such as 'groups,largest' nor a sum such as "
            "'2*groups-1*largest+0.5*closed'"
        )
    _known(text, [part[3] for part in parts])
    terms = tuple(((-1.0 if part[1] == "-" else 1.0) * float(part[2] or 1.0), part[3]) for part in parts)
    if any(abs(weight) > LARGEST for weight, _ in terms):
        raise ValueError(f"criterion {text!r} has a weight above {LARGEST:g}; write smaller ones")
    return Criterion(compact, terms, lexicographic=False)


def _known(text: str, names: list[str]) -> None:
    unknown = [name for name in names if name not in DIRECTIONS]
    if not unknown:
        return
    near = {match: None for name in unknown for match in difflib.get_close_matches(name, DIRECTIONS, n=1)}
    hint = f"; did you mean {' and '.join(map(repr, near))}?" if near else ""
    shown = ", ".join(map(repr, unknown))
    raise ValueError(f"criterion {text!r}: unknown {shown}{hint}; the criteria are {', '.join(DIRECTIONS)}")


def values_of(evaluated: Evaluated, name: str) -> Floats:
    """Values (D,) of one criterion."""
    return np.asarray(getattr(evaluated, _COLUMN.get(name, name)), dtype=np.float64)


def keys_of(evaluated: Evaluated, wanted: Criterion) -> list[Floats]:
    """Columns to sort by, the first one first, smaller is better."""
    if wanted.lexicographic:
        return [-DIRECTIONS[name] * values_of(evaluated, name) for _, name in wanted.terms]
    total = np.zeros(len(evaluated))
    for weight, name in wanted.terms:
        total += weight * values_of(evaluated, name)
    return [-total]


def ordered(evaluated: Evaluated, wanted: Criterion) -> Ints:
    """Row numbers, best first; ties by valid sets first, then in the order of the joints."""
    places = [evaluated.places[:, k] for k in range(evaluated.n_inputs)]
    keys = [
        ~evaluated.determined,
        *keys_of(evaluated, wanted),
        evaluated.valid == 0,
        evaluated.variant,
        *places,
    ]
    return np.lexsort(keys[::-1]).astype(np.int64)


def front(evaluated: Evaluated, first: str, second: str) -> Ints:
    """Row numbers of the Pareto front of two criteria, best in the first one first."""
    # A row is on it if no other is better in one and at least as good in the other; of rows with equal values
    # (to one part in 10⁹) only the first is named.
    _known(f"{first},{second}", [first, second])
    a, b = (_steps(-DIRECTIONS[name] * values_of(evaluated, name)) for name in (first, second))
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
