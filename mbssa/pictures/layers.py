"""Rows of a structural diagram: order within rows, and positions."""

# The classical layered drawing: an arrow that skips rows passes through a narrow gap in each of them, rows
# are sorted by barycentres to avoid crossings, and positions are least squares with room kept between.

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
from scipy.optimize import isotonic_regression

Node: TypeAlias = Hashable
Arc: TypeAlias = tuple[Node, Node]

#: Half the room in mm that an arrow takes where it passes through a row.
PASSAGE = 1.6


def rows(
    graph: nx.DiGraph[Node], room: Mapping[Node, tuple[float, float]]
) -> tuple[dict[Node, tuple[float, int]], dict[Arc, list[Node]]]:
    """Places (x in mm, row) of nodes and passages, and those on the way of each arc, its ends too."""
    # ``room`` is the width of each node to its left and right, mm; the graph is acyclic.
    row = {node: level for level, nodes in enumerate(nx.topological_generations(graph)) for node in nodes}
    links: nx.DiGraph[Node] = nx.DiGraph()
    links.add_nodes_from(graph)
    ways: dict[Arc, list[Node]] = {}
    for a, b in graph.edges:
        passages: dict[Node, int] = {("passage", a, b, level): level for level in range(row[a] + 1, row[b])}
        row |= passages
        ways[a, b] = [a, *passages, b]
        nx.add_path(links, ways[a, b])
    order = _ordered(links, row)
    x = _positions(links, order, room)
    return {node: (x[node], row[node]) for node in links}, ways


def spaced(wishes: Iterable[float], steps: Sequence[float], weights: Any = None, most: float = np.inf) -> Any:
    """Ascending values nearest to the ``wishes``, at least these ``steps`` apart, from -most to most."""
    offset = np.concatenate([[0.0], np.cumsum(steps)])
    fit = isotonic_regression(np.array([*wishes]) - offset, weights=weights).x
    return np.clip(fit, -most, most - offset[-1]) + offset


def _ordered(links: nx.DiGraph[Node], level_of: Mapping[Node, int]) -> list[list[Node]]:
    """Rows from the top, each sorted so that few arrows cross."""
    order: list[list[Node]] = [[] for _ in range(max(level_of.values()) + 1)]
    for node in links:
        order[level_of[node]].append(node)
    best, fewest = [*order], _crossings(links, order)
    rng = np.random.default_rng(0)
    for sweep in range(96 if fewest else 0):
        if sweep and sweep % 8 == 0:
            order = [sorted(row, key=lambda _: rng.random()) for row in best]
        down = sweep % 2 == 0
        near = links.predecessors if down else links.successors
        for level in range(1, len(order)) if down else range(len(order) - 2, -1, -1):
            place = {node: k for k, node in enumerate(order[level - 1 if down else level + 1])}
            middle = {
                node: fmean([place[other] for other in near(node) if other in place] or [k])
                for k, node in enumerate(order[level])
            }
            order[level] = sorted(middle, key=middle.__getitem__)
        found = _crossings(links, order)
        if found < fewest:
            best, fewest = [*order], found
    return best


def _crossings(links: nx.DiGraph[Node], order: Sequence[Sequence[Node]]) -> int:
    total = 0
    for above, below in pairwise(order):
        place = {node: k for k, node in enumerate(below)}
        arcs = [(k, place[end]) for k, node in enumerate(above) for end in links.successors(node)]
        start, end = np.array(arcs, dtype=int).reshape(-1, 2).T
        total += int(((start[:, None] < start) & (end[:, None] > end)).sum())
    return total


def _positions(
    links: nx.DiGraph[Node], order: Sequence[Sequence[Node]], room: Mapping[Node, tuple[float, float]]
) -> dict[Node, float]:
    """Coordinate x of all nodes: near the mean of their neighbours, never closer than their room allows."""
    steps, x = [], dict[Node, float]()
    for row in order:
        sizes = [room.get(node, (PASSAGE, PASSAGE)) for node in row]
        steps.append([a[1] + b[0] for a, b in pairwise(sizes)])
        x.update(zip(row, spaced([0.0] * len(row), steps[-1]).tolist(), strict=True))
    for sweep in range(60):
        for level in range(len(order)) if sweep % 2 else range(len(order) - 1, -1, -1):
            wishes, weights = [], []
            for node in order[level]:
                near = [x[other] for other in (*links.predecessors(node), *links.successors(node))]
                wishes.append(fmean(near or [x[node]]))
                weights.append((1.0 if node in room else 3.0) if near else 0.1)  # passages are aligned
            x.update(zip(order[level], spaced(wishes, steps[level], weights).tolist(), strict=True))
    return x
