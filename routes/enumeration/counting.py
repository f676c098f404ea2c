"""Number of kinematic routes, counted without listing them."""

# Maps *onto* k stages that strictly ascend along the DAG, for each k and part, up to automorphisms: strict
# order polynomials (Stanley, Enumerative Combinatorics 1, section 3.12). Series parts follow one another;
# side by side, maps *into* m stages multiply, and r equal parts are a multiset of r maps.

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise
from math import comb, prod
from typing import TYPE_CHECKING

from mbssa.structure import Structure
from routes.dag import Dag
from routes.enumeration.composition import Shape, TooLarge, compose
from routes.enumeration.partial_order import members

if TYPE_CHECKING:
    from groups.model import Model

#: Links threaded in prime orders before the count is refused: some ten seconds.
MOST_LINKS = 4_000_000

#: Groups of a part for which the maps onto each number of stages are still counted.
MOST_STAGES = 3_000

#: Groups side by side, when nothing goes before or after them.
MOST_WIDE = 30_000


def count(source: Dag | Structure | Model, symmetry: bool = True, *, effort: int = MOST_LINKS) -> int:
    """Number of kinematic routes: sequences of stages of independent groups.

    Parameters
    ----------
    source : a DAG, or a structure or model, whose DAG is labelled as :meth:`Dag.of` says
    symmetry : count equivalent routes, by automorphisms of the labelled DAG, once
    effort : steps in irregular parts, at most; a million take some ten seconds

    Raises
    ------
    TooLarge
        A part of the DAG is too wide and irregular for its routes to be counted.

    Examples
    --------
    >>> import mbssa
    >>> stewart = mbssa.decompose(mbssa.load("stewart_inverse"))
    >>> count(stewart, symmetry=False), count(stewart)
    (4683, 32)
    """
    dag = source if isinstance(source, Dag) else Dag.of(source)
    if not len(dag):
        return 1
    composition = compose(dag, symmetry=symmetry)
    shape = composition.shape
    onto: dict[int, list[int]] = {}
    for number in _needed(shape, composition.shapes):
        onto[number] = _onto(composition.shapes[number], onto, symmetry, effort)
    return _total(shape, onto, symmetry)


def _needed(shape: Shape, shapes: Sequence[Shape]) -> list[int]:
    """Numbers of the shapes whose maps onto stages are needed, parts before wholes."""
    wanted: set[int] = set()
    totals = set(shape.parts) if shape.kind == "series" else {shape}
    for one in totals:
        wanted.update([one.number] if one.kind == "prime" else [part.number for part in one.parts])
    for number in range(len(shapes) - 1, -1, -1):
        if number in wanted:
            wanted.update(part.number for part in shapes[number].parts)
    return sorted(wanted)


def _total(shape: Shape, onto: dict[int, list[int]], symmetry: bool) -> int:
    if shape.kind == "single":
        return 1
    if shape.kind == "series":
        return prod(_total(part, onto, symmetry) for part in shape.parts)
    if shape.number in onto:
        return sum(onto[shape.number])
    if shape.size > MOST_WIDE:
        raise TooLarge(f"{shape.size:,} groups side by side: routes of at most {MOST_WIDE:,} are counted")
    if shape.size > MOST_STAGES and any(part.size > 1 for part in shape.parts):
        raise _too_long(shape)
    into = _into_side_by_side(shape, onto, shape.size, symmetry)
    # Sum over k of the k-th difference of the counts at 0, whose weights follow from each other.
    n, total = shape.size, 0
    weight, binomial = int(n % 2 == 0), 1
    for j in range(1, n + 1):
        binomial = binomial * (n + 2 - j) // j
        weight = (weight + (-binomial if (n - j) % 2 else binomial)) // 2
        total += weight * into[j]
    return total


def _too_long(shape: Shape) -> TooLarge:
    return TooLarge(
        f"{shape.size:,} groups that are not all side by side or in series: routes of at most "
        f"{MOST_STAGES:,} such groups are counted"
    )


def _onto(shape: Shape, onto: dict[int, list[int]], symmetry: bool, effort: int) -> list[int]:
    """Orbits of maps onto k = 0 … size stages."""
    if shape.kind == "single":
        return [0, 1]
    if shape.size > MOST_STAGES:
        raise _too_long(shape)
    if shape.kind == "series":
        found = [1]
        for part in shape.parts:
            found = _convolved(found, onto[part.number])
        return found
    if shape.kind == "parallel":
        return _differences(_into_side_by_side(shape, onto, shape.size, symmetry))
    return _onto_prime(shape, onto, effort)


def _convolved(a: Sequence[int], b: Sequence[int]) -> list[int]:
    if list(b) == [0, 1]:
        return [0, *a]
    out = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b):
                out[i + j] += x * y
    return out


def _differences(into: list[int]) -> list[int]:
    """Maps onto k stages, from the maps into m = 0, 1, … stages: differences at 0."""
    row, found = into, []
    while row:
        found.append(row[0])
        row = [b - a for a, b in pairwise(row)]
    return found


def _into(onto: Sequence[int], most: int) -> list[int]:
    """Maps into m = 0 … most stages: they choose the stages that they are onto."""
    row, found = list(onto), []
    for _ in range(most + 1):
        found.append(row[0])
        for k in range(len(row) - 1):
            row[k] += row[k + 1]
    return found


def _into_side_by_side(shape: Shape, onto: dict[int, list[int]], most: int, symmetry: bool) -> list[int]:
    into = [1] * (most + 1)
    for part, times in shape.runs:
        maps = list(range(most + 1)) if part.kind == "single" else _into(onto[part.number], most)
        if symmetry:
            factors = (
                _twins(times, most)
                if part.kind == "single"
                else [comb(m + times - 1, times) if m else 0 for m in maps]
            )
        else:
            factors = [m**times for m in maps]
        into = [a * b for a, b in zip(into, factors, strict=True)]
    return into


def _twins(times: int, most: int) -> list[int]:
    """Multisets of ``times`` of m = 0 … most stages."""
    found = [0, 1][: most + 1]
    for m in range(1, most):
        found.append(found[-1] * (m + times) // m)
    return found


def _onto_prime(shape: Shape, onto: dict[int, list[int]], budget: int) -> list[int]:
    """Burnside's lemma: the mean over all automorphisms of the number of invariant maps."""
    cycles = Counter(_cycles(turn) for turn in (tuple(range(len(shape.parts))), *shape.turns))
    found = [0] * (shape.size + 1)
    for parts, times in sorted(cycles.items()):
        threaded, used = _threaded(shape, parts, onto, budget)
        budget -= used
        for k, n in enumerate(threaded):
            found[k] += times * n
    turns = 1 + len(shape.turns)
    return [n // turns for n in found]


def _cycles(turn: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    seen: set[int] = set()
    cycles = []
    for i in range(len(turn)):
        if i not in seen:
            cycle, j = [i], turn[i]
            while j != i:
                cycle.append(j)
                j = turn[j]
            seen.update(cycle)
            cycles.append(tuple(sorted(cycle)))
    return tuple(cycles)


def _threaded(
    shape: Shape, cycles: Sequence[tuple[int, ...]], onto: dict[int, list[int]], budget: int
) -> tuple[list[int], int]:
    """Maps onto k stages under which the parts of a cycle go the same way, and number of links threaded."""
    # Parts, as chains of a link a stage, are threaded link by link; within a stage, links come in descending
    # order of their parts. So a link of a higher or the same part than the last begins a stage, and a lower
    # one may (descents of linear extensions).
    cycle_of = {part: k for k, cycle in enumerate(cycles) for part in cycle}
    before = [{cycle_of[i] for part in cycle for i in members(shape.needs[part])} for cycle in cycles]
    # A topological order, in which a later part never comes before an earlier one.
    level = Dag(tuple(map(tuple, before))).level
    turn = sorted(range(len(cycles)), key=lambda k: (level[k], k))
    place = {k: i for i, k in enumerate(turn)}
    needs = [sum(1 << place[b] for b in before[k]) for k in turn]
    ways = [onto[shape.parts[cycles[k][0]].number] for k in turn]
    width = [max(1, (len(w) - 1).bit_length()) for w in ways]
    shift = [sum(width[:i]) for i in range(len(turn))]
    full = [(1 << w) - 1 for w in width]
    digit = (shape.size + 2) * (shape.size + 1).bit_length()
    complete = (1 << len(turn)) - 1
    waiting = [0]
    # By what is threaded (a bit field for each part: links while it goes on, all bits once it is complete):
    # the complete parts and, by the last part, the ways as a polynomial in the number of stages, packed into
    # one integer.
    states: dict[int, tuple[int, dict[int, int]]] = {0: (0, {-1: 1})}
    used = 0
    while True:
        state = heappop(waiting)
        done, last = states.pop(state)
        if done == complete:
            total = sum(last.values())
            return [total >> digit * k & ((1 << digit) - 1) for k in range(shape.size + 1)], used
        if used > budget:
            raise TooLarge(
                f"{shape.size} groups in {len(turn)} parts are neither side by side nor in series, and more "
                f"than {len(states):,} sets of them can be solved first: too many to count their routes"
            )
        everything, higher = sum(last.values()), 0
        came = sorted(last, reverse=True)
        seen = 0
        for i in range(len(turn) - 1, -1, -1):
            if done >> i & 1 or needs[i] & ~done:
                continue
            used += 1
            while seen < len(came) and came[seen] > i:
                higher += last[came[seen]]
                seen += 1
            value = (everything << digit) + higher
            links = (state >> shift[i] & full[i]) + 1
            cleared = state & ~(full[i] << shift[i])
            ended = ways[i][links] if links < len(ways[i]) else 0
            for here, weight in ((full[i], ended), (links, int(links + 1 < len(ways[i])))):
                if not weight:
                    continue
                following = cleared | here << shift[i]
                if following not in states:
                    heappush(waiting, following)
                    states[following] = (done | (here == full[i]) << i, {})
                kept = states[following][1]
                kept[i] = kept.get(i, 0) + weight * value
