"""Placement of the vertices of a structural graph."""

# Starting positions come from networkx; a deterministic search (simulated annealing, then descent) moves one
# vertex or one cluster at a time, several candidates at once, to reduce crossings of lines, vertices on
# lines, and outlines that touch other bodies.

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats
from mbssa.pictures import style
from mbssa.pictures.geometry import directions, distance_to_segment, segments_cross
from mbssa.pictures.network import Network

#: Length of a line inside a group and between groups, mm.
INNER, OUTER = 16.0, 21.0

#: Starts without needless crossings for a network of some 20 vertices.
_PLANAR_STARTS = 12

_ROOM = style.BODY_RADIUS + style.OUTLINE_GAP
_APART_BODY = _ROOM + style.BODY_RADIUS + 2.0
_APART_CLUSTER = 2 * _ROOM + 4.0

Indices = npt.NDArray[np.intp]
Points = npt.NDArray[np.complex128]

#: Pairs (P, 2) of things that can be in each other's way, for each of these pairs of kinds: vertices (0),
#: edges (1), clusters (2).
Pairs = list[Indices]
_KINDS = ((0, 0), (0, 1), (1, 1), (2, 2), (2, 0), (2, 1))


def place(graph: Network) -> Floats:
    """Positions (V, 2) of the vertices in mm, y upwards; the same for the same network."""
    scene = _Scene(graph)
    points, heat = (np.array(each) for each in zip(*_starts(graph, scene), strict=True))
    # The best ones, turned upright, are moved to where nothing near is better.
    upright = np.array([scene.upright(each) for each in scene.improved(9, points, 60.0, 9, heat)[:3]])
    points = scene.improved(2, upright, 16.0, 9, np.zeros(len(upright)))
    return np.stack([points[0].real, points[0].imag], axis=1)


class _Scene:
    """Arrays of a network, with the cost of its placements, whose points are x + iy."""

    def __init__(self, graph: Network) -> None:
        n = len(graph.vertices)
        lanes: dict[tuple[int, int], float] = {}
        self.least = np.full((n, n), 3.4 * style.BODY_RADIUS)
        for bundle in graph.bundles:
            a, b = sorted(bundle.ends)
            lanes[a, b] = lanes.get((a, b), -style.LINE_GAP) + style.LINE_GAP * (bundle.grade + 1)
            room = 2 * style.BODY_RADIUS + style.text_size(bundle.code, style.SMALL_TEXT)[0] + 5.5
            self.least[a, b] = self.least[b, a] = max(self.least[a, b], room)  # for the text on the line
        self.edges = np.array(sorted(lanes), dtype=np.intp).reshape(-1, 2)
        self.clear = style.BODY_RADIUS + 2.2 + np.array([lanes[pair] / 2 for pair in sorted(lanes)])
        self.members = [np.array(cluster.members, dtype=np.intp) for cluster in graph.clusters]
        widest = max(map(len, self.members), default=1)
        self.padded = np.array([np.resize(each, widest) for each in self.members], dtype=np.intp)
        self.padded = self.padded.reshape(-1, widest)
        self.arcs = np.array(graph.order, dtype=np.intp).reshape(-1, 2)
        self.normals = directions()
        self.target, self.weight = _distances(graph, self.edges)
        # Of each kind, a table (things, n) of which vertices a thing has.
        one: Any = np.eye(n, dtype=bool)
        things = one, one[self.edges].any(axis=1), one[self.padded].any(axis=1)
        self.pairs = [_apart(things[a], things[b]) for a, b in _KINDS]
        # What is moved at once, a vertex or a cluster, and the pairs with a thing that has some of it.
        self.moves: list[tuple[Indices, Pairs]] = []
        for moved in [*np.arange(n)[:, None], *(each for each in self.members if 1 < len(each) < n)]:
            hit = [has[:, moved].any(axis=1) for has in things]
            changed = [
                pairs[hit[a][pairs[:, 0]] | hit[b][pairs[:, 1]]]
                for (a, b), pairs in zip(_KINDS, self.pairs, strict=True)
            ]
            self.moves.append((moved, changed))

    def improved(self, seed: int, points: Points, reach: float, sweeps: int, heat: Floats) -> Points:
        """Move vertices and clusters of S placements (S, V), warm at first; the best first."""
        rng, row = np.random.default_rng(seed), np.arange(len(points))
        for at in (np.arange(sweeps) / sweeps).tolist():
            for number in rng.permutation(len(self.moves)).tolist():
                moved, pairs = self.moves[number]
                tried = _candidates(points, moved, reach * 0.04**at, rng)
                cost = self._cost(tried.reshape(-1, points.shape[1]), pairs).reshape(len(points), -1)
                cost = cost - 0.007**at * heat[:, None] * rng.gumbel(size=cost.shape)
                points = tried[row, np.argmin(cost.round(9), axis=1)]
        return np.asarray(points[np.argsort(self._cost(points, self.pairs).round(6), kind="stable")])

    def upright(self, points: Points) -> Points:
        """A placement turned as a whole to where the order of solution runs downwards best."""
        turned = _around(72)[:, None] * points
        return np.asarray(turned[int(np.argmin(self._rise(turned.imag.T).round(6)))])

    def _cost(self, points: Points, pairs: Pairs) -> Any:
        """Cost (K,) of placements (K, V), as far as these ``pairs`` go."""
        vertices, vertex_edge, edges, clusters, cluster_vertex, cluster_edge = (each.T for each in pairs)
        at = np.stack([points.real.T, points.imag.T])  # twice as fast as with the placements first
        start, end = at[:, self.edges[:, 0]], at[:, self.edges[:, 1]]
        a, b = vertices
        x, y = at[:, a] - at[:, b]
        gap = np.sqrt(x * x + y * y)
        strain = self.weight[a, b, None] * (gap / self.target[a, b, None] - 1) ** 2
        total = strain.sum(axis=0) + _short(gap, self.least[a, b, None], 20.0) + self._rise(at[1])
        v, e = vertex_edge
        total += _short(distance_to_segment(at[:, v], start[:, e], end[:, e]), self.clear[e, None], 8.0)
        e, f = edges
        total += 9.0 * segments_cross(start[:, e], end[:, e], start[:, f], end[:, f]).sum(axis=0)
        # Outlines that touch each other, a foreign body, or (less bad) a foreign line.
        normal_x, normal_y = self.normals.T[:, None, :, None]
        projected = at[0][:, None] * normal_x + at[1][:, None] * normal_y  # (V, D, K)
        support = projected[self.padded].max(axis=1)
        opposite = -np.roll(support, len(self.normals) // 2, axis=1)
        c, d = clusters
        total += _short((opposite[d] - support[c]).max(axis=1), _APART_CLUSTER, 12.0)
        c, v = cluster_vertex
        total += _short((projected[v] - support[c]).max(axis=1), _APART_BODY, 12.0)
        c, e = cluster_edge
        nearest = np.minimum(projected[self.edges[e, 0]], projected[self.edges[e, 1]])
        return total + _short((nearest - support[c]).max(axis=1), _ROOM + 1.0, 3.0)

    def _rise(self, height: Floats) -> Any:
        """Cost of the heights (V, K): the frame should be above, and predecessors above successors."""
        middle = np.concatenate([height[self.padded].mean(axis=1), height[:1]])  # index -1: the frame
        before, after = self.arcs.T
        return 0.2 * np.clip((middle[after] - middle[before]) / OUTER + 1.5, 0.0, 4.0).sum(axis=0)


def _apart(a: Any, b: Any) -> Indices:
    """Pairs (P, 2) of things, rows of two tables of the vertices that they have, with none in common."""
    apart = ~(a[:, None] & b).any(axis=-1)
    return np.argwhere(np.triu(apart) if a is b else apart)


def _short(gap: Any, wanted: Any, weight: float) -> Any:
    missing = np.clip(1 - gap / wanted, 0, 3)
    return (weight * (missing**2 + 0.3 * missing)).sum(axis=0)


def _distances(graph: Network, edges: Indices) -> tuple[Floats, Floats]:
    """Wanted distance of every two vertices along the lines, and how much it is wanted."""
    home = {body: place for place, cluster in enumerate(graph.clusters) for body in cluster.members}
    ways: nx.Graph[int] = nx.Graph()
    ways.add_nodes_from(range(len(graph.vertices)))
    for a, b in edges.tolist():
        ways.add_edge(a, b, length=INNER if a in home and home.get(a) == home.get(b) else OUTER)
    target = np.asarray(nx.floyd_warshall_numpy(ways, range(len(graph.vertices)), weight="length"))
    target[np.isinf(target)] = 4 * OUTER
    np.fill_diagonal(target, 1.0)
    weight = (INNER / target) ** 2
    weight[edges[:, 0], edges[:, 1]] *= 2.5
    weight[edges[:, 1], edges[:, 0]] *= 2.5
    return target, weight


def _starts(graph: Network, scene: _Scene) -> Iterator[tuple[Points, float]]:
    """Starting positions (mm), and the temperature of the search there."""
    # By networkx, on the lines plus a spoke from each cluster's middle to its members. Drawings of as many
    # lines as can be drawn without a crossing are only warmed a little, so as to keep that.
    n = len(graph.vertices)
    spokes = [(n + k, int(body)) for k, mine in enumerate(scene.members) for body in mine]
    lines = [(int(a), int(b)) for a, b in scene.edges]
    ways: nx.Graph[int] = nx.Graph(spokes + lines)
    ways.add_nodes_from(range(n))
    layouts = [(nx.kamada_kawai_layout(ways), 3.0), (nx.circular_layout(ways), 3.0)]
    for seed in range(min(_PLANAR_STARTS, n // 2, 4800 // n**2)):
        layouts.append((nx.planar_layout(_planar(n, spokes, lines, seed)), (1.5, 0.4)[seed % 2]))
    for layout, heat in layouts:
        points = np.array([complex(*layout[vertex]) for vertex in range(n)])
        lengths = np.abs(points[scene.edges[:, 0]] - points[scene.edges[:, 1]])
        points *= INNER / max(float(np.median(lengths)) if len(lengths) else 1.0, 1e-9)
        yield scene.upright(points - points.mean()), heat


def _planar(n: int, spokes: list[tuple[int, int]], lines: list[tuple[int, int]], seed: int) -> nx.Graph[int]:
    """The spokes and as many of the lines, in an order that depends on ``seed``, as stay planar."""
    kept: nx.Graph[int] = nx.Graph(spokes)
    kept.add_nodes_from(range(n))
    for number in np.random.default_rng(seed).permutation(len(lines)).tolist():
        kept.add_edge(*lines[number])
        if not nx.check_planarity(kept)[0]:
            kept.remove_edge(*lines[number])
    return kept


def _candidates(points: Points, moved: Indices, reach: float, rng: np.random.Generator) -> Points:
    """Candidates (S, K, V): as it is, shifted all around, and for a cluster also turned and mirrored."""
    far = _around(8) * reach * rng.uniform(0.3, 1.0, 8)
    shifts = np.concatenate([far * np.exp(1j * rng.uniform(0, np.pi / 4)), 0.4 * far])
    turns = np.exp(1j * np.pi * min(1.0, reach / 20) * rng.uniform(-1, 1, 5))
    shifted = points[:, None, moved] + shifts[:, None]
    if len(moved) > 1:
        middle = points[:, None, moved].mean(axis=2, keepdims=True)
        way = points[:, None, moved] - middle
        ways = np.concatenate([-way.conj(), way.conj(), -way, turns[:, None] * way], axis=1)
        shifted = np.concatenate([shifted, middle + ways], axis=1)
    tried = np.repeat(points[:, None], 1 + shifted.shape[1], axis=1)
    tried[:, 1:, moved] = shifted
    return tried


def _around(count: int) -> Points:
    return np.asarray(np.exp(2j * np.pi * np.arange(count) / count))
