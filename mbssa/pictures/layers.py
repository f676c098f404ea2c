"""Rows of a structural diagram: order within rows, and positions."""

# The classical layered drawing: an arrow that skips rows passes through a narrow gap in each of them, rows
# are sorted by barycentres to avoid crossings, and positions are least squares with room kept between.

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import networkx as nx
import numpy as np
from scipy.optimize import isotonic_regression

from mbssa.arrays import Floats

Node: TypeAlias = Hashable
Arc: TypeAlias = tuple[Node, Node]

#: Half the room in mm that an arrow takes where it passes through a row.
PASSAGE = 1.6


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of nodes at ``x`` (mm); ``ways`` gives every arc the places (row, x) that it passes through."""

    row: Mapping[Node, int]
    x: Mapping[Node, float]
    ways: Mapping[Arc, tuple[tuple[int, float], ...]]


def rows(graph: nx.DiGraph[Node], room: Mapping[Node, tuple[float, float]]) -> Rows:
    """Rows of an acyclic graph; ``room``: width of each node to its left and right, mm."""
    row = {node: level for level, nodes in enumerate(nx.topological_generations(graph)) for node in nodes}
    links: nx.DiGraph[Node] = nx.DiGraph()
    links.add_nodes_from(graph)
    passages: dict[Arc, list[Node]] = {}
    for a, b in graph.edges:
        passages[a, b] = [("passage", a, b, level) for level in range(row[a] + 1, row[b])]
        nx.add_path(links, [a, *passages[a, b], b])
    level_of = {node: row[node] if node in row else node[3] for node in links}  # type: ignore[index]
    order = _ordered(links, level_of)
    x = _positions(links, order, room)
    ways = {arc: tuple((level_of[node], x[node]) for node in nodes) for arc, nodes in passages.items()}
    return Rows(row, {node: x[node] for node in graph}, ways)


def _ordered(links: nx.DiGraph[Node], level_of: Mapping[Node, int]) -> list[list[Node]]:
    """Rows from the top, each sorted so that few arrows cross."""
    order: list[list[Node]] = [[] for _ in range(max(level_of.values()) + 1)]
    for node in links:
        order[level_of[node]].append(node)
    best, fewest = [list(row) for row in order], _crossings(links, order)
    for sweep in range(16):
        down = sweep % 2 == 0
        sides = range(1, len(order)) if down else range(len(order) - 2, -1, -1)
        for level in sides:
            other = order[level - 1 if down else level + 1]
            place = {node: k for k, node in enumerate(other)}
            near = links.predecessors if down else links.successors
            order[level] = _by_barycentre(order[level], place, near)
        _swap(links, order)
        found = _crossings(links, order)
        if found < fewest:
            best, fewest = [list(row) for row in order], found
    return best


def _by_barycentre(
    row: list[Node], place: Mapping[Node, int], near: Callable[[Node], Iterable[Node]]
) -> list[Node]:
    middle = {}
    for k, node in enumerate(row):
        places = [place[other] for other in near(node) if other in place]
        middle[node] = sum(places) / len(places) if places else float(k)
    return sorted(row, key=lambda node: middle[node])


def _swap(links: nx.DiGraph[Node], order: list[list[Node]]) -> None:
    """Exchange neighbours in a row while that takes crossings away."""
    for _ in range(4):
        changed = False
        for level, row in enumerate(order):
            around = order[max(level - 1, 0) : level + 2]
            for k in range(len(row) - 1):
                before = _crossings(links, around)
                row[k], row[k + 1] = row[k + 1], row[k]
                if _crossings(links, around) < before:
                    changed = True
                else:
                    row[k], row[k + 1] = row[k + 1], row[k]
        if not changed:
            return


def _crossings(links: nx.DiGraph[Node], order: Sequence[Sequence[Node]]) -> int:
    total = 0
    for above, below in pairwise(order):
        place = {node: k for k, node in enumerate(below)}
        arcs = np.array(
            [(k, place[end]) for k, node in enumerate(above) for end in links.successors(node)], dtype=int
        ).reshape(-1, 2)
        start, end = arcs.T
        total += int(((start[:, None] < start) & (end[:, None] > end)).sum())
    return total


def _positions(
    links: nx.DiGraph[Node], order: Sequence[Sequence[Node]], room: Mapping[Node, tuple[float, float]]
) -> dict[Node, float]:
    """Coordinate x of all nodes: near the mean of their neighbours, never closer than their room allows."""
    narrow = (PASSAGE, PASSAGE)
    offsets: list[Floats] = []
    x: dict[Node, float] = {}
    for row in order:
        sizes = [room.get(node, narrow) for node in row]
        steps = [a[1] + b[0] for a, b in pairwise(sizes)]
        offset = np.concatenate([[0.0], np.cumsum(steps)])
        offsets.append(offset)
        x.update(zip(row, (offset - offset.mean()).tolist(), strict=True))
    for sweep in range(60):
        levels = range(len(order)) if sweep % 2 else range(len(order) - 1, -1, -1)
        for level in levels:
            row = order[level]
            wish, weight = zip(*(_wish(links, x, node, node in room) for node in row), strict=True)
            fit = isotonic_regression(np.array(wish) - offsets[level], weights=np.array(weight)).x
            x.update(zip(row, (fit + offsets[level]).tolist(), strict=True))
    return x


def _wish(links: nx.DiGraph[Node], x: Mapping[Node, float], node: Node, real: bool) -> tuple[float, float]:
    """Preferred position of a node and its weight: passages are vertically aligned."""
    near = [*links.predecessors(node), *links.successors(node)]
    if not near:
        return x[node], 0.1
    return sum(x[other] for other in near) / len(near), (1.0 if real else 3.0)
