"""Shape of a DAG: its modular decomposition, and its automorphisms."""

# A set of groups is either one group, or parts side by side, or parts in series, or a *prime* order of parts.
# Automorphisms of the labelled DAG exchange equal parts that lie side by side, turn primes, and do the same
# inside of parts.

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, permutations
from operator import itemgetter
from typing import Any, Literal

from mbssa.automorphisms import Automorphisms, automorphisms
from routes.dag import Dag
from routes.enumeration.partial_order import Closure, in_series, members, modules, side_by_side

#: Automorphisms of a prime order, at most.
MOST_TURNS = 50_000

Kind = Literal["single", "parallel", "series", "prime"]


class TooLarge(ValueError):
    """More possibilities than can be enumerated in reasonable time; the message has their number.

    >>> issubclass(TooLarge, ValueError)
    True
    """


@dataclass(frozen=True, eq=False)
class Shape:
    """Set of groups up to isomorphism; isomorphic sets of one :class:`Composition` share one object."""

    kind: Kind
    number: int  # in the order of Composition.shapes; parts have lower numbers
    size: int = 1  # groups
    parts: tuple[Shape, ...] = ()
    needs: tuple[int, ...] = ()  # by part of a prime order, bit mask of the parts that precede it
    # Automorphisms of a prime order but the identity: part i goes to place turn[i].
    turns: tuple[tuple[int, ...], ...] = ()
    depth: int = 1  # of parts in parts

    @cached_property
    def runs(self) -> tuple[tuple[Shape, int], ...]:
        """Equal parts that follow each other, and how many they are."""
        return tuple((part, len(list(equal))) for part, equal in groupby(self.parts))

    @cached_property
    def views(self) -> tuple[Callable[[tuple[Any, ...]], tuple[Any, ...]], ...]:
        """Permutations of a tuple with an entry for each part, one for each automorphism but the identity."""
        return tuple(itemgetter(*turn) for turn in self.turns)


@dataclass(frozen=True, eq=False)
class Composition:
    """The shape of a whole DAG, with its groups (indices from 0) at the shape's places."""

    shape: Shape
    places: tuple[int, ...]
    shapes: tuple[Shape, ...]


#: Relations of the parts i and j: whether i goes before j, and which colours of them have arcs.
_Relations = tuple[tuple[tuple[int, tuple[tuple[int, int], ...]], ...], ...]

#: Kinds and relations of the parts of a prime order.
_Order = tuple[Sequence[int], _Relations]

#: A shape, and the groups at its places.
_Part = tuple[Shape, tuple[int, ...]]


def compose(dag: Dag, *, symmetry: bool = True) -> Composition:
    """Shape of a DAG with at least one group."""
    # With `symmetry`, shapes are equal where an automorphism of the labelled DAG (labels, and needs as they
    # are given) can take one to the other; without, where the order alone is the same, and nothing is turned.
    composer = _Composer(dag, symmetry)
    return Composition(*composer.composed(), tuple(composer.shapes))


def colours(dag: Dag) -> list[int]:
    """A number by group, the same for groups that an automorphism can exchange."""
    # Colours are refined by those of predecessors and successors until they are stable.
    rise = [0] * len(dag)
    for group in reversed(dag.order):
        rise[group] = 1 + max((rise[other] for other in dag.needed_by[group]), default=-1)
    colour = _ranked([(dag.level[g], rise[g], dag.labels[g]) for g in range(len(dag))])
    while True:
        signs = [
            (
                colour[g],
                tuple(sorted(colour[other] for other in dag.needs[g])),
                tuple(sorted(colour[other] for other in dag.needed_by[g])),
            )
            for g in range(len(dag))
        ]
        refined = _ranked(signs)
        if max(refined, default=0) == max(colour, default=0):
            return colour
        colour = refined


def _ranked(signs: Sequence[tuple[object, ...]]) -> list[int]:
    number = {sign: k for k, sign in enumerate(sorted(set(signs)))}
    return [number[sign] for sign in signs]


@dataclass
class _Node:
    mask: int
    kind: Kind = "single"
    children: range = field(default_factory=lambda: range(0))


class _Composer:
    """Shapes found so far in a DAG, by their key, and prime orders."""

    def __init__(self, dag: Dag, symmetry: bool) -> None:
        self.closure, self.symmetry, self.n = Closure.of(dag), symmetry, len(dag)
        self.colour = colours(dag) if symmetry else [0] * self.n
        self.arcs = [(a, b) for b in range(self.n) for a in dag.needs[b]] if symmetry else []
        self.rank = {group: turn for turn, group in enumerate(dag.order)}
        self.shapes: list[Shape] = []
        self.by_key: dict[object, Shape] = {}
        self.primes: dict[object, list[tuple[Shape, _Relations]]] = {}

    def composed(self) -> _Part:
        """The shape of the whole DAG."""
        nodes = self._taken_apart((1 << self.n) - 1)
        done = dict[int, _Part]()  # children come behind
        for i in range(len(nodes) - 1, -1, -1):
            node = nodes[i]
            parts = [done[child] for child in node.children]
            if node.kind == "single":
                group = node.mask.bit_length() - 1
                done[i] = (self._shared(("single", self.colour[group]), "single", ()), (group,))
            elif node.kind == "parallel":
                parts.sort(key=lambda part: (part[0].number, self._first(part)))
                done[i] = self._joined("parallel", parts)
            elif node.kind == "series":
                done[i] = self._joined("series", parts, tuple(sorted(self._full_arcs(parts))))
            else:
                parts.sort(key=self._first)
                done[i] = self._prime(parts)
        return done[0]

    def _first(self, part: _Part) -> int:
        """Place of a part's first group in the order of solution."""
        return min(self.rank[group] for group in part[1])

    def _taken_apart(self, whole: int) -> list[_Node]:
        """The tree of parts; every node precedes its children."""
        nodes = [_Node(whole)]
        for node in nodes:
            if not node.mask & (node.mask - 1):
                continue
            node.kind, pieces = "parallel", side_by_side(self.closure, node.mask)
            if len(pieces) == 1:
                node.kind, pieces = "series", in_series(self.closure, node.mask)
                if len(pieces) == 1:
                    node.kind, pieces = "prime", modules(self.closure, node.mask)
                if not self._alike(pieces):
                    # Groups of a part differ in their arcs from outside: no automorphism of one part alone.
                    node.kind, pieces = "prime", [1 << group for group in members(node.mask)]
            node.children = range(len(nodes), len(nodes) + len(pieces))
            nodes += map(_Node, pieces)
        return nodes

    def _between(
        self, pieces: Sequence[Sequence[int]]
    ) -> tuple[Counter[tuple[int, int]], Counter[tuple[int, int, int, int]]]:
        """Counts of colours by piece, and of arcs by piece and colour of both ends."""
        colour, piece_of = self.colour, {group: k for k, piece in enumerate(pieces) for group in piece}
        count = Counter((k, colour[group]) for group, k in piece_of.items())
        across = Counter(
            (piece_of[a], colour[a], piece_of[b], colour[b])
            for a, b in self.arcs
            if a in piece_of and b in piece_of and piece_of[a] != piece_of[b]
        )
        return count, across

    def _alike(self, masks: Sequence[int]) -> bool:
        """Whether groups of a colour in one piece have the same arcs to all groups of a colour in another."""
        count, across = self._between([list(members(mask)) for mask in masks])
        return all(n == count[i, c] * count[j, d] for (i, c, j, d), n in across.items())

    def _full_arcs(self, parts: Sequence[_Part]) -> Iterator[tuple[int, int, int, int]]:
        yield from self._between([places for _, places in parts])[1]

    def _shared(
        self,
        key: object,
        kind: Kind,
        parts: tuple[Shape, ...],
        needs: tuple[int, ...] = (),
        turns: tuple[tuple[int, ...], ...] = (),
    ) -> Shape:
        if key not in self.by_key:
            size = sum(part.size for part in parts) or 1
            depth = 1 + max((part.depth for part in parts), default=0)
            shape = Shape(kind, len(self.shapes), size, parts, needs, turns, depth)
            self.shapes.append(shape)
            self.by_key[key] = shape
        return self.by_key[key]

    def _joined(self, kind: Kind, parts: Sequence[_Part], pattern: object = None) -> _Part:
        key = kind, tuple(part[0].number for part in parts), pattern
        return self._shared(key, kind, tuple(part[0] for part in parts)), _places(parts)

    def _prime(self, parts: list[_Part]) -> _Part:
        """A prime order, its parts put in the places of an isomorphic one if that is known."""
        relations = self._relations(parts)
        kinds = [part[0].number for part in parts]
        same = self.primes.setdefault(tuple(sorted(kinds)), [])
        for shape, pattern in same if self.symmetry else ():
            match = _match(([part.number for part in shape.parts], pattern), (kinds, relations))
            if match is not None:
                # Of all matches the one that puts the groups solved first into the first places.
                match = min([match, *(tuple(match[i] for i in turn) for turn in shape.turns)])
                return shape, _places([parts[place] for place in match])
        place_of = {group: k for k, part in enumerate(parts) for group in part[1]}
        before = [[place_of[x] for x in members(self.closure.below[p[1][0]]) if x in place_of] for p in parts]
        needs = tuple(sum(1 << k for k in {*ks} - {j}) for j, ks in enumerate(before))
        turns = _turns(kinds, relations) if self.symmetry else ()
        shape = self._shared(object(), "prime", tuple(part[0] for part in parts), needs, turns)
        same.append((shape, relations))
        return shape, _places(parts)

    def _relations(self, parts: Sequence[_Part]) -> _Relations:
        """Relations (i, j): whether part i goes before part j (1), and which colours of them have arcs."""
        between: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for i, c, j, d in self._full_arcs(parts):
            between.setdefault((i, j), []).append((c, d))
        first, below = [part[1][0] for part in parts], self.closure.below
        return tuple(
            tuple((below[b] >> a & 1, tuple(sorted(between.get((i, j), ())))) for j, b in enumerate(first))
            for i, a in enumerate(first)
        )


def _places(parts: Sequence[_Part]) -> tuple[int, ...]:
    return tuple(group for part in parts for group in part[1])


def _turns(kinds: Sequence[int], relations: _Relations) -> tuple[tuple[int, ...], ...]:
    """Automorphisms of a prime order but the identity."""
    count = len(kinds)
    found = _symmetry((kinds, relations))
    if found.order > MOST_TURNS or not found.complete:
        raise TooLarge(
            f"an order of {count} parts that cannot be taken apart has more than {MOST_TURNS:,} symmetries; "
            "leave them out with symmetry=False"
        )
    turns = [tuple(range(count))]
    known = set(turns)
    for turn in turns:
        products = (tuple(image[place] for place in turn) for image in found.images)
        new = [turn for turn in dict.fromkeys(products) if turn not in known]
        turns += new
        known.update(new)
    return tuple(sorted(turns[1:]))


def _match(order: _Order, other: _Order) -> tuple[int, ...] | None:
    """Place in another prime order of each part of one; None where they are not isomorphic."""
    # A prime order is in one piece: generators that exchange the two are there if they are isomorphic.
    count = len(order[0])
    images = _symmetry(order, other).images
    match = next((image for image in images if image[0] >= count), None)
    return None if match is None else tuple(place - count for place in match[:count])


def _symmetry(*orders: _Order) -> Automorphisms:
    """Automorphisms of prime orders side by side; a vertex between two parts has their relation as label."""
    label: list[tuple[object, ...]] = [(0, kind) for kinds, _ in orders for kind in kinds]
    neighbours: list[list[tuple[int, int]]] = [[] for _ in label]
    begin = 0
    for kinds, relations in orders:
        for i, j in permutations(range(len(kinds)), 2):
            if relations[i][j] != (0, ()):
                ends = [(begin + i, 0), (begin + j, 1)]
                for vertex, role in ends:
                    neighbours[vertex].append((len(label), role))
                neighbours.append(ends)
                label.append((1, *relations[i][j]))
        begin += len(kinds)
    return automorphisms(neighbours, label)
