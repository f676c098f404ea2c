"""Placement of the vertices of a structural graph."""

# Starting positions come from networkx; a deterministic search (simulated annealing, then descent) moves one
# vertex or one cluster at a time, several candidates at once, to reduce crossings of lines, vertices on
# lines, and outlines that touch other bodies.

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
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

#: Cost a vertex below which a placement is not warmed again.
_GOOD = 0.12

_ROOM = style.BODY_RADIUS + style.OUTLINE_GAP
_APART_BODY = _ROOM + style.BODY_RADIUS + 2.0
_APART_CLUSTER = 2 * _ROOM + 4.0

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _Terms:
    """Pairs of things that a move can change (every row is a pair of indices), and clusters."""

    vertices: Indices
    vertex_edge: Indices
    edges: Indices
    clusters: Indices
    cluster_vertex: Indices
    cluster_edge: Indices
    changed: Indices


@dataclass(frozen=True)
class _Scene:
    """Arrays of one network, and targets of the search."""

    edges: Indices
    edge_room: Floats
    members: tuple[Indices, ...]
    padded: Indices
    target: Floats
    weight: Floats
    least: Floats
    arcs: Indices
    whole: _Terms
    handles: list[tuple[Indices, _Terms]]
    normals: Floats = field(default_factory=directions)

    @property
    def n_vertices(self) -> int:
        return len(self.target)


def place(graph: Network) -> Floats:
    """Positions (V, 2) of the vertices in mm, y upwards; the same for the same network."""
    scene = _scene(graph)
    found = list(_starts(graph, scene))
    starts, heat = np.stack([points for points, _ in found]), np.array([warmth for _, warmth in found])
    moved = _improve(scene, starts, np.random.default_rng(0), _sweeps(60.0, 9), heat)
    best, *others = _settled(scene, moved[np.argsort(_whole_cost(scene, moved), kind="stable")[:3]])
    if _whole_cost(scene, best[None])[0] < _GOOD * scene.n_vertices:
        return np.asarray(best)
    again = np.stack([best] * (3 if scene.n_vertices < 30 else 1) + others)
    heat = np.where(np.arange(len(again)) < len(again) - len(others), 1.5, 0.8)
    again = _settled(scene, _improve(scene, again, np.random.default_rng(1), _sweeps(40.0, 6), heat))
    all_of_them = np.stack([best, *again])
    return np.asarray(all_of_them[int(np.argmin(_whole_cost(scene, all_of_them)))])


def _settled(scene: _Scene, points: Floats) -> Floats:
    """Placements (S, V, 2) turned upright and moved to where nothing near is better; the best first."""
    start = np.stack([_upright(scene, one) for one in points])
    cold = np.zeros(len(start))
    moved = _improve(scene, start, np.random.default_rng(2), _sweeps(16.0, 9), cold)
    return np.asarray(moved[np.argsort(_whole_cost(scene, moved), kind="stable")])


def _upright(scene: _Scene, points: Floats) -> Floats:
    """The placement turned as a whole to where the order of solution runs downwards best."""
    if not len(scene.members):
        return points
    turned = points @ _turn(np.linspace(0.0, 2 * np.pi, 72, endpoint=False))
    return np.asarray(turned[int(np.argmin(_by_direction(scene, turned).round(6)))])


def _sweeps(reach: float, count: int) -> list[tuple[float, float]]:
    """Reach of a move in mm, and part of the warmth that is left, in each sweep."""
    at = np.arange(count) / count
    return list(zip((reach * 0.04**at).tolist(), (0.007**at).tolist(), strict=True))


def _whole_cost(scene: _Scene, points: Floats) -> Floats:
    return _cost(scene, points, scene.whole, 1).round(6)


def _scene(graph: Network) -> _Scene:
    lanes: dict[tuple[int, int], float] = {}
    for bundle in graph.bundles:
        a, b = sorted(bundle.ends)
        lanes[a, b] = lanes.get((a, b), -style.LINE_GAP) + style.LINE_GAP * (bundle.grade + 1)
    edges = np.array(sorted(lanes), dtype=np.intp).reshape(-1, 2)
    room = np.array([lanes[pair] / 2 for pair in sorted(lanes)])
    members = tuple(np.array(cluster.members, dtype=np.intp) for cluster in graph.clusters)
    widest = max((len(mine) for mine in members), default=1)
    padded = np.array(
        [np.pad(mine, (0, widest - len(mine)), mode="edge") for mine in members], dtype=np.intp
    ).reshape(len(members), widest)
    target, weight = _distances(graph, edges)
    everything = _all_terms(len(graph.vertices), edges, members)
    arcs = np.array(graph.order, dtype=np.intp).reshape(-1, 2)
    handles = _handles(everything, len(graph.vertices), edges, members)
    return _Scene(edges, room, members, padded, target, weight, _least(graph), arcs, everything, handles)


def _least(graph: Network) -> Floats:
    """Distance (V, V), mm, that leaves room for the text on a line, and for the eye elsewhere."""
    n = len(graph.vertices)
    least = np.full((n, n), 3.4 * style.BODY_RADIUS)
    for bundle in graph.bundles:
        a, b = bundle.ends
        room = 2 * style.BODY_RADIUS + style.text_size(bundle.code, style.SMALL_TEXT)[0] + 5.5
        least[a, b] = least[b, a] = max(least[a, b], room)
    return least


def _distances(graph: Network, edges: Indices) -> tuple[Floats, Floats]:
    """Wanted distance of every two vertices along the lines, and how much it is wanted."""
    home = {body: place for place, cluster in enumerate(graph.clusters) for body in cluster.members}
    ways: nx.Graph[int] = nx.Graph()
    ways.add_nodes_from(range(len(graph.vertices)))
    for a, b in edges.tolist():
        ways.add_edge(a, b, length=INNER if a in home and home.get(a) == home.get(b) else OUTER)
    n = len(graph.vertices)
    target = np.full((n, n), 4 * OUTER)
    for a, reached in nx.all_pairs_dijkstra_path_length(ways, weight="length"):
        for b, length in reached.items():
            target[a, b] = length
    np.fill_diagonal(target, 1.0)
    weight = (INNER / target) ** 2
    weight[edges[:, 0], edges[:, 1]] *= 2.5
    weight[edges[:, 1], edges[:, 0]] *= 2.5
    return target, weight


def _all_terms(n: int, edges: Indices, members: Sequence[Indices]) -> _Terms:
    """All pairs of things that can be in each other's way."""
    ends = [set(pair) for pair in edges.tolist()]
    inside = [set(mine.tolist()) for mine in members]

    def rows(pairs: Iterable[tuple[int, int]]) -> Indices:
        return np.array(list(pairs), dtype=np.intp).reshape(-1, 2)

    edge, cluster = range(len(ends)), range(len(inside))
    return _Terms(
        vertices=rows(combinations(range(n), 2)),
        vertex_edge=rows((v, e) for v in range(n) for e in edge if v not in ends[e]),
        edges=rows((e, f) for e, f in combinations(edge, 2) if not ends[e] & ends[f]),
        clusters=rows((c, d) for c, d in combinations(cluster, 2) if not inside[c] & inside[d]),
        cluster_vertex=rows((c, v) for c in cluster for v in range(n) if v not in inside[c]),
        cluster_edge=rows((c, e) for c in cluster for e in edge if not ends[e] & inside[c]),
        changed=np.arange(len(inside), dtype=np.intp),
    )


def _terms_of(every: _Terms, n: int, edges: Indices, members: Sequence[Indices], moved: Indices) -> _Terms:
    """Those of the pairs that change when the ``moved`` vertices move."""
    vertex = np.zeros(n, dtype=bool)
    vertex[moved] = True
    edge = vertex[edges].any(axis=1)
    cluster = np.array([vertex[mine].any() for mine in members], dtype=bool)

    def hit(pairs: Indices, first: Any, second: Any) -> Indices:
        return np.asarray(pairs[first[pairs[:, 0]] | second[pairs[:, 1]]])

    return _Terms(
        vertices=hit(every.vertices, vertex, vertex),
        vertex_edge=hit(every.vertex_edge, vertex, edge),
        edges=hit(every.edges, edge, edge),
        clusters=hit(every.clusters, cluster, cluster),
        cluster_vertex=hit(every.cluster_vertex, cluster, vertex),
        cluster_edge=hit(every.cluster_edge, cluster, edge),
        changed=np.flatnonzero(cluster),
    )


def _starts(graph: Network, scene: _Scene) -> Iterator[tuple[Floats, float]]:
    """Starting positions (mm), and the temperature of the search there."""
    # By networkx, on the lines plus a spoke from each cluster's middle to its members. Drawings of as many
    # lines as can be drawn without a crossing are only warmed a little, so as to keep that.
    n = scene.n_vertices
    spokes = [(n + k, int(body)) for k, mine in enumerate(scene.members) for body in mine]
    lines = [(int(a), int(b)) for a, b in scene.edges]
    ways: nx.Graph[int] = nx.Graph(spokes + lines)
    ways.add_nodes_from(range(n))
    yield _scaled(scene, _rows_by_order(graph, scene)), 3.0
    yield _scaled(scene, _array(nx.kamada_kawai_layout(ways), n)), 3.0
    for seed in range(min(_PLANAR_STARTS, n // 2, 4800 // n**2)):
        drawn = nx.planar_layout(_planar(n, spokes, lines, seed))
        yield _scaled(scene, _array(drawn, n)), (1.5, 0.4)[seed % 2]


def _planar(n: int, spokes: list[tuple[int, int]], lines: list[tuple[int, int]], seed: int) -> nx.Graph[int]:
    """The spokes and as many of the lines, in an order that depends on ``seed``, as stay planar."""
    kept: nx.Graph[int] = nx.Graph(spokes)
    kept.add_nodes_from(range(n))
    for number in np.random.default_rng(seed).permutation(len(lines)).tolist():
        kept.add_edge(*lines[number])
        if not nx.check_planarity(kept)[0]:
            kept.remove_edge(*lines[number])
    return kept


def _array(layout: dict[int, Any], n: int) -> Floats:
    return np.array([layout[vertex] for vertex in range(n)], dtype=np.float64)


def _scaled(scene: _Scene, points: Floats) -> Floats:
    """The points in mm, so that lines are about as long as they should be, with the frame above."""
    points = points - points.mean(axis=0)
    lengths = np.linalg.norm(points[scene.edges[:, 0]] - points[scene.edges[:, 1]], axis=-1)
    points = points * (INNER / max(float(np.median(lengths, axis=0)) if len(lengths) else 1.0, 1e-9))
    x, y = points[0]
    reach = float(np.hypot(x, y))
    if reach < 1e-9:
        return points
    turn = np.array([[y, x], [-x, y]]) / reach  # takes the frame's direction to (0, 1)
    return np.asarray(points @ turn, dtype=np.float64)


def _rows_by_order(graph: Network, scene: _Scene) -> Floats:
    """The frame above, clusters in rows by how much must be solved before them."""
    level = np.zeros(len(graph.clusters), dtype=int)
    for _ in range(len(level)):
        for before, after in graph.order:
            if before >= 0:
                level[after] = max(level[after], level[before] + 1)
    points = np.zeros((scene.n_vertices, 2))
    for row in range(int(level.max(initial=0)) + 1):
        across = 0.0
        for number in np.flatnonzero(level == row):
            for body in scene.members[number]:
                points[body] = across, -30.0 * (row + 1) + 2 * (body % 3)
                across += INNER
            across += OUTER - INNER
        here = [int(body) for k in np.flatnonzero(level == row) for body in scene.members[k]]
        if here:
            points[here, 0] -= points[here, 0].mean()
    return points


def _improve(
    scene: _Scene,
    points: Floats,
    rng: np.random.Generator,
    sweeps: Sequence[tuple[float, float]],
    heat: Floats,
) -> Floats:
    """Move every vertex and cluster of S placements ``points`` (S, V, 2) once in a sweep; ``heat`` (S,)."""
    # Each goes to the best of some places near it.
    row = np.arange(len(points))
    for reach, warmth in sweeps:
        for number in rng.permutation(len(scene.handles)).tolist():
            moved, terms = scene.handles[number]
            tried = _candidates(points, moved, reach, rng)
            count = tried.shape[1]
            cost = _cost(scene, tried.reshape(-1, *points.shape[1:]), terms, count).reshape(-1, count)
            cost = cost - warmth * heat[:, None] * rng.gumbel(size=cost.shape)
            points = tried[row, np.argmin(cost.round(9), axis=1)]
    return points


def _handles(
    every: _Terms, n: int, edges: Indices, members: Sequence[Indices]
) -> list[tuple[Indices, _Terms]]:
    """Sets of vertices that move together: every vertex, every cluster of several."""
    sets = [np.array([v]) for v in range(n)]
    sets += [mine for mine in members if 1 < len(mine) < n]
    return [(mine, _terms_of(every, n, edges, members, mine)) for mine in sets]


def _candidates(points: Floats, moved: Indices, reach: float, rng: np.random.Generator) -> Floats:
    """Candidates (S, K, V, 2): as it is, shifted all around, and for a cluster also turned and mirrored."""
    around = directions(8) * reach * rng.uniform(0.3, 1.0, (8, 1))
    shifts = np.concatenate([around @ _turn(rng.uniform(0, np.pi / 4, 1))[0], 0.4 * around])
    turns = np.concatenate([_MIRRORS, _turn(rng.uniform(-1, 1, 5) * min(1.0, reach / 20) * np.pi)])
    count = 1 + len(shifts) + (len(turns) if len(moved) > 1 else 0)
    tried = np.repeat(points[:, None], count, axis=1)
    tried[:, 1 : 1 + len(shifts), moved] += shifts[:, None]
    if len(moved) > 1:
        middle = points[:, None, moved].mean(axis=2, keepdims=True)
        tried[:, 1 + len(shifts) :, moved] = middle + (points[:, None, moved] - middle) @ turns
    return tried


_MIRRORS = np.array([[[-1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]], [[-1.0, 0.0], [0.0, -1.0]]])


def _turn(angle: Floats) -> Floats:
    """Rotations (A, 2, 2) of rows of points."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([np.stack([c, s], axis=-1), np.stack([-s, c], axis=-1)], axis=1)


def _cost(scene: _Scene, points: Floats, terms: _Terms, count: int) -> Floats:
    """Cost (K,) of each of the K placements (K, V, 2), as far as ``terms`` go."""
    # Of each ``count`` placements in a row, the first is as it was before the move. Inside, coordinates come
    # first and placements last, (2, V, K): that is twice as fast.
    at = np.ascontiguousarray(points.transpose(2, 1, 0))
    total = _by_distance(scene, at, terms) + _by_lines(scene, at, terms)
    if len(scene.members):
        total = total + _by_outlines(scene, at, terms, count) + _by_direction(scene, points)
    return np.asarray(total)


def _by_distance(scene: _Scene, at: Floats, terms: _Terms) -> Any:
    a, b = terms.vertices.T
    x, y = at[:, a] - at[:, b]
    gap = np.sqrt(x * x + y * y)
    strain = scene.weight[a, b, None] * (gap / scene.target[a, b, None] - 1) ** 2
    crowded = np.clip(1 - gap / scene.least[a, b, None], 0, None)
    return (strain + 20 * crowded**2 + 4 * crowded).sum(axis=0)


def _by_lines(scene: _Scene, at: Floats, terms: _Terms) -> Any:
    start, end = at[:, scene.edges[:, 0]], at[:, scene.edges[:, 1]]
    e, f = terms.edges.T
    crossing = segments_cross(start[:, e], end[:, e], start[:, f], end[:, f])
    v, e = terms.vertex_edge.T
    clear = style.BODY_RADIUS + 2.2 + scene.edge_room[e, None]
    near = np.clip(1 - distance_to_segment(at[:, v], start[:, e], end[:, e]) / clear, 0, None)
    return 9.0 * crossing.sum(axis=0) + (8 * near**2 + 2 * near).sum(axis=0)


def _by_outlines(scene: _Scene, at: Floats, terms: _Terms, count: int) -> Any:
    """Outlines that touch each other, a foreign body, or (less bad) a foreign line."""
    x, y = scene.normals.T[:, None, :, None]
    projected = at[0][:, None] * x + at[1][:, None] * y  # (V, D, K)
    support = np.repeat(projected[:, :, ::count][scene.padded].max(axis=1), count, axis=-1)  # (C, D, K)
    support[terms.changed] = projected[scene.padded[terms.changed]].max(axis=1)
    half = len(scene.normals) // 2
    c, d = terms.clusters.T
    total = _short((-np.roll(support, half, axis=1)[d] - support[c]).max(axis=1), _APART_CLUSTER, 12.0)
    c, v = terms.cluster_vertex.T
    total = total + _short((projected[v] - support[c]).max(axis=1), _APART_BODY, 12.0)
    c, e = terms.cluster_edge.T
    nearest = np.minimum(projected[scene.edges[e, 0]], projected[scene.edges[e, 1]])
    return total + _short((nearest - support[c]).max(axis=1), _ROOM + 1.0, 3.0)


def _short(gap: Any, wanted: float, weight: float) -> Any:
    missing = np.clip(1 - gap / wanted, 0, 3)
    return (weight * (missing**2 + 0.4 * missing)).sum(axis=0)


def _by_direction(scene: _Scene, points: Floats) -> Any:
    """The frame above, and predecessors above successors."""
    height = points[..., 1]
    middle = height[:, scene.padded].mean(axis=-1)
    middle = np.concatenate([middle, height[:, :1]], axis=1)  # index -1: the frame
    before, after = scene.arcs.T
    rise = np.clip((middle[:, after] - middle[:, before]) / OUTER + 1.5, 0, None)
    return 0.2 * np.minimum(rise, 4.0).sum(-1)
