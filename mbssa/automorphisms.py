"""Automorphisms of a coloured graph: colour refinement and individualisation (McKay 1981)."""

# Colours are refined until neighbours distinguish no more; then one vertex after the other (the base) is
# individualised until all colours differ. For each other vertex of a base vertex's colour a second colouring
# is refined in step; where both agree to the end there is an automorphism. (pynauty and igraph are GPL.)

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mbssa.disjoint_set import DisjointSet

#: (vertex, role of the edge) of each edge of each vertex.
Neighbours = Sequence[Sequence[tuple[int, int]]]

#: Bits that count the edges of one role to a cell; every degree is below 2 to this power.
_DEGREE_BITS = 32

#: Vertices visited by refinements before the search stops: a few seconds.
MOST_STEPS = 2_000_000


@dataclass(frozen=True, slots=True)
class Automorphisms:
    """Generators of the automorphism group of a graph."""

    images: list[list[int]]  # vertex v goes to images[g][v]
    order: int  # of the group that the images generate, with the identity
    complete: bool  # False where the search stopped at its bound: there may be more


@dataclass(frozen=True, slots=True)
class Colouring:
    """Equitable colouring: vertices of one colour have equal edges to each colour."""

    colour: list[int]  # of each vertex
    # cells: vertices of each colour; copies share these lists, so they are replaced, never changed
    cells: list[list[int]]
    trace: list[object]  # of the refinement; differs for colourings that no isomorphism takes to each other


def refine(neighbours: Neighbours, label: Sequence[Any]) -> Colouring:
    """Refine labels to the coarsest equitable colouring (Weisfeiler–Leman)."""
    number = {sign: k for k, sign in enumerate(sorted(set(label)))}
    cells: list[list[int]] = [[] for _ in number]
    for vertex, sign in enumerate(label):
        cells[number[sign]].append(vertex)
    start = Colouring([number[sign] for sign in label], cells, [len(cell) for cell in cells])
    _split(neighbours, start, range(len(cells)))
    return start


def _split(neighbours: Neighbours, colouring: Colouring, splitters: Iterable[int]) -> None:
    """Split cells by their edges to the splitters and to every cell that comes of it, in place."""
    # Colours depend on earlier colours alone, never on numbers of vertices: colourings that an automorphism
    # takes to each other are split alike.
    colour, cells = colouring.colour, colouring.cells
    pending = deque(splitters)
    while pending:
        edges: dict[int, int] = {}
        for v in cells[pending.popleft()]:
            for u, role in neighbours[v]:
                edges[u] = edges.get(u, 0) + (1 << _DEGREE_BITS * role)
        touched: dict[int, dict[int, list[int]]] = {}
        for u, total in edges.items():
            touched.setdefault(colour[u], {}).setdefault(total, []).append(u)
        for c in sorted(touched):
            pieces = touched[c]
            if sum(map(len, pieces.values())) < len(cells[c]):
                pieces[0] = [u for u in cells[c] if u not in edges]
            totals = sorted(pieces)
            colouring.trace.append((c, [(total, len(pieces[total])) for total in totals]))
            # The largest piece keeps the colour: edges to it are known from edges to the whole cell.
            largest = max(totals, key=lambda total: (len(pieces[total]), -total))
            cells[c] = pieces.pop(largest)
            for total in sorted(pieces):
                for u in pieces[total]:
                    colour[u] = len(cells)
                pending.append(len(cells))
                cells.append(pieces[total])


class _Bound(Exception):
    """The search has taken all the steps that it may."""


@dataclass
class _Graph:
    neighbours: Neighbours
    label: list[Any]
    left: int

    def individualised(self, colouring: Colouring, vertex: int) -> Colouring:
        """The colouring with one vertex in a cell of its own, refined."""
        self.left -= len(self.label)
        if self.left < 0:
            raise _Bound
        colour, cells = colouring.colour.copy(), colouring.cells.copy()
        own = colour[vertex]
        cells[own] = [v for v in cells[own] if v != vertex]
        colour[vertex] = len(cells)
        cells.append([vertex])
        answer = Colouring(colour, cells, [])
        _split(self.neighbours, answer, [colour[vertex]])
        return answer

    def is_automorphism(self, image: Sequence[int]) -> bool:
        return all(
            self.label[v] == self.label[image[v]]
            and sorted((image[u], role) for u, role in edges) == sorted(self.neighbours[image[v]])
            for v, edges in enumerate(self.neighbours)
        )


def automorphisms(neighbours: Neighbours, label: Sequence[Any], most: int = MOST_STEPS) -> Automorphisms:
    """Generators of the automorphism group of a graph whose edges have one role at both ends."""
    # ``neighbours`` are (vertex, role) of each edge of each vertex. ``most`` bounds the vertices visited by
    # refinements; what the search has found by then is sound.
    graph = _Graph(neighbours, list(label), most)
    orbits, images, order = DisjointSet(len(label)), list[list[int]](), 1
    try:
        # Colourings from the equitable one to one of single vertices, and the vertices individualised.
        path, base = [refine(neighbours, graph.label)], list[int]()
        while open_cells := [cell for cell in path[-1].cells if len(cell) > 1]:
            base.append(min(min((len(cell), cell) for cell in open_cells)[1]))
            path.append(graph.individualised(path[-1], base[-1]))
        # From the end: generators that fix a longer beginning of the base fix every shorter one too.
        for level in range(len(base) - 1, -1, -1):
            refused: list[int] = []
            for v in sorted(path[level].cells[path[level].colour[base[level]]]):
                if any(orbits.connected(v, other) for other in (base[level], *refused)):
                    continue
                image = _isomorphism(graph, path[level + 1], graph.individualised(path[level], v))
                if image is None:
                    refused.append(v)
                    continue
                images.append(image)
                for member, goal in enumerate(image):
                    orbits.merge(member, goal)
            order *= orbits.size(base[level])
    except _Bound:
        return Automorphisms(images, order, complete=False)
    return Automorphisms(images, order, complete=True)


def _isomorphism(graph: _Graph, a: Colouring, b: Colouring) -> list[int] | None:
    """An automorphism that takes every cell of ``a`` to that of ``b``; None where there is none."""
    if a.trace != b.trace:
        return None
    image, cells = _guess(a, b)
    if graph.is_automorphism(image):
        return image
    if cells is None:
        return None
    mine, theirs = cells
    v = min(mine, key=lambda u: (u not in theirs, u))
    left = graph.individualised(a, v)
    for w in sorted(theirs, key=lambda u: (u != v, u in mine, u)):
        found = _isomorphism(graph, left, graph.individualised(b, w))
        if found is not None:
            return found
    return None


def _guess(a: Colouring, b: Colouring) -> tuple[list[int], tuple[list[int], list[int]] | None]:
    """Map that fixes the vertices common to two cells; and the cells to individualise if it is wrong."""
    # Where equal legs are exchanged all others stay: most automorphisms are guessed after one step.
    image = list(range(len(a.colour)))
    open_cells = moved_cells = None
    for mine, theirs in zip(a.cells, b.cells, strict=True):
        here, there = (sorted(set(x) - set(y)) for x, y in ((mine, theirs), (theirs, mine)))
        for v, w in zip(here, there, strict=True):
            image[v] = w
        if len(mine) > 1:
            open_cells = open_cells or (mine, theirs)
            moved_cells = moved_cells or ((mine, theirs) if here else None)
    return image, moved_cells or open_cells
