"""A mechanism as a networkx multigraph: bodies are nodes, kinematic pairs are edges."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

from mbssa.faults import Fault, Faults, ModelError, meant
from mbssa.joints.catalogue import Space
from mbssa.mechanism import FRAME, Mechanism
from mbssa.texts import strange
from mbssa.units import ANGLES, LENGTHS, SI

if TYPE_CHECKING:
    import networkx as nx

_NODE = ("name", "geometry")
_EDGE = ("type", "driven", "geometry", "id", "bodies", "index")


def to_networkx(mechanism: Mechanism) -> nx.MultiGraph[int]:
    """The structural graph of a mechanism, with all data of the mechanism.

    Nodes are the body numbers 1 (the frame) to N, with ``name`` where bodies have names and ``geometry``
    (``origin``, ``points``, …) where there is any. Edges are keyed by the joint's id; they have ``type``,
    ``driven`` (list of coordinates), ``geometry`` (the keys of a model file, SI units) where there is any,
    ``id`` where it was given, and what an undirected graph does not keep: ``bodies``, the numbers in
    the joint's own order, and ``index``, its place among the joints. A joint of three bodies and more (a gear
    on a carrier, a user's constraint) is one edge between its first two, whose ``bodies`` name them all.
    ``graph.graph`` has ``space``, ``name``, ``title``, ``source``, ``notes``, ``unread`` and, for joints that
    three or more bodies share, ``multiple_joints``: the numbers of the bodies and the ids of the pairs, and
    ``motion``, the table of a model file, where the mechanism carries one for its inputs; ``gravity`` and
    ``force`` likewise; and ``units`` of length and angle for tables, where they are not m and rad.
    :func:`from_networkx` returns the same mechanism.

    Examples
    --------
    >>> import mbssa
    >>> graph = mbssa.to_networkx(mbssa.load("spatial_four_bar"))
    >>> sorted(graph.edges(keys=True))
    [(1, 2, '1-2'), (1, 4, '1-4'), (2, 3, '2-3'), (3, 4, '3-4')]
    >>> graph.edges[1, 2, "1-2"]["type"], graph.edges[1, 2, "1-2"]["driven"]
    ('R', ['angle'])
    """
    import networkx as nx

    from mbssa.io.records import about_record, body_record, plain

    about = {key: getattr(mechanism, key) for key in ("space", "name", "title", "source")}
    about |= {"notes": []} | about_record(mechanism, mechanism.joint_ids)
    graph: nx.MultiGraph[int] = nx.MultiGraph(**about)
    for index in range(mechanism.n_bodies):
        named = {} if mechanism.body_names is None else {"name": mechanism.body_names[index]}
        geometry = body_record(mechanism, index)
        graph.add_node(index + 1, **named, **({"geometry": geometry} if geometry else {}))
    for joint in mechanism.joints:
        about = {"id": joint.id} if joint.index in mechanism.joint_names else {}
        geometry = plain(joint.geometry or {})
        about |= {"geometry": geometry} if geometry else {}
        about |= {"type": joint.type.code, "driven": list(joint.driven)}
        i, j = joint.bodies[:2]
        graph.add_edge(i, j, key=joint.id, **about, bodies=joint.bodies, index=joint.index)
    return graph


def from_networkx(graph: nx.Graph[Any], space: Space | None = None, *, name: str = "") -> Mechanism:
    """A mechanism from a graph, a multigraph where two bodies form two pairs.

    Nodes are the numbers 1 (the frame) to N, or the names of the bodies with one called ``frame``; names
    are numbered in the order of the nodes. An edge needs ``type`` alone; ``driven`` may be names, a count
    or true. A key that is a text, other than the default id, is the joint's id. Edges with an ``index``
    are taken in its order, else in the graph's.

    Parameters
    ----------
    space : "planar" or "spatial"; if not given, ``graph.graph["space"]``
    name : of the mechanism; if not given, the graph's

    Raises
    ------
    ModelError
        With every fault found.

    Examples
    --------
    >>> import mbssa, networkx as nx
    >>> graph = nx.MultiGraph()
    >>> graph.add_edge("frame", "crank", key="motor", type="R", driven=1)
    'motor'
    >>> mbssa.from_networkx(graph, "planar").joints[0].id
    'motor'
    """
    from mbssa.io.records import from_record, plain, with_multiple_joints

    name = name or str(graph.graph.get("name") or "") or "graph"
    faults = Faults()
    numbers, names = _numbered(graph, name)
    record: dict[str, Any] = {"format": 1, "space": space or graph.graph.get("space")}
    if record["space"] is None:
        faults.add("space", 'is missing; write from_networkx(graph, "planar") or "spatial"', "missing")
    record |= {
        key: graph.graph[key]
        for key in ("title", "source", "notes", "unread", "motion", "gravity", "force")
        if graph.graph.get(key)
    }
    bodies = _bodies(graph, numbers, names, faults)
    if bodies is None:
        record["bodies"] = len(numbers)
    else:
        record["body"] = bodies
    record["joint"] = _joints(graph, numbers, faults)
    units = tuple(graph.graph.get("units", SI))
    if units not in itertools.product(LENGTHS, ANGLES):
        what = f"are {units}; write a length of {', '.join(LENGTHS)} and an angle of {', '.join(ANGLES)}"
        faults.add("units", what, "unknown")
    faults.raise_if_any(name)
    mechanism = replace(from_record(plain(record), name, name), units=units)
    if several := graph.graph.get("multiple_joints"):
        ids = {identity: joint for joint, identity in enumerate(mechanism.joint_ids)}
        mechanism = with_multiple_joints(mechanism, several, ids, "multiple_joints", name)
    frame = graph.nodes[next(iter(numbers))].get("name")
    if not isinstance(frame, str) or frame in (mechanism.body_names or (frame,)):
        return mechanism
    if (control := strange(frame)) is not None:
        what = f"{frame!r} has the control character {control}; write it without"
        raise ModelError(mechanism.name, [Fault("node 1 name", what)])
    return replace(mechanism, body_names=(frame, *(mechanism.body_names or ())[1:]))


def _numbered(graph: nx.Graph[Any], name: str) -> tuple[dict[Any, int], bool]:
    """Number of every node, and whether the nodes are names."""
    nodes = list(graph.nodes)
    if set(nodes) == set(range(1, len(nodes) + 1)):
        return {node: node for node in sorted(nodes)}, False
    if FRAME in nodes and all(isinstance(node, str) for node in nodes):
        nodes.sort(key=lambda node: node != FRAME)
        return {node: number for number, node in enumerate(nodes, 1)}, True
    shown = ", ".join(map(repr, nodes[:8]))
    what = f"are {shown}; number the bodies from 1 (the frame) to N, or name them and one of them frame"
    raise ModelError(name, [Fault("nodes", what)])


def _bodies(
    graph: nx.Graph[Any], numbers: Mapping[Any, int], names: bool, faults: Faults
) -> list[dict[str, Any]] | None:
    """Tables of the movable bodies; None where they have neither names nor geometry."""
    tables = []
    any_said = names
    for node, number in numbers.items():
        data, where = graph.nodes[node], f"node {node}"
        _known(data, _NODE, where, faults)
        said = data.get("name", node if names else None)
        any_said = any_said or said is not None or bool(data.get("geometry"))
        geometry = _geometry(data, where, faults)
        if number > 1:
            tables.append(({} if said in (None, str(number)) else {"name": said}) | geometry)
        elif geometry:
            faults.add(where, "the frame is the world and has no geometry; take it out", "unsupported")
    return tables if any_said else None


def _joints(graph: nx.Graph[Any], numbers: Mapping[Any, int], faults: Faults) -> list[dict[str, Any]]:
    """Tables of the joints in their order."""
    if graph.is_multigraph():
        edges = list(cast("nx.MultiGraph[Any]", graph).edges(keys=True, data=True))
    else:
        edges = [(u, v, None, data) for u, v, data in graph.edges(data=True)]
    if all(isinstance(data.get("index"), int) for *_, data in edges):
        edges.sort(key=lambda edge: edge[-1]["index"])
    seen: dict[tuple[int, ...], int] = {}
    tables = []
    for u, v, key, data in edges:
        where = f"edge ({u}, {v})"
        _known(data, _EDGE, where, faults)
        ends = (numbers[u], numbers[v])
        bodies = data.get("bodies", ends)
        listed = isinstance(bodies, list | tuple) and all(isinstance(body, Integral) for body in bodies)
        if not listed or sorted(bodies[:2]) != sorted(ends):
            what = f"bodies are {bodies!r}; they are the two ends in the joint's order, then further numbers"
            faults.add(where, what)
            continue
        joined = tuple(sorted(bodies))
        seen[joined] = seen.get(joined, 0) + 1
        default = "-".join(map(str, joined)) + (f"#{seen[joined]}" if seen[joined] > 1 else "")
        identity = data.get("id", key if isinstance(key, str) and key != default else None)
        table: dict[str, Any] = {"bodies": list(bodies)}
        table |= {} if identity is None else {"id": identity}
        table |= {entry: data[entry] for entry in ("type", "driven") if entry in data}
        tables.append(_geometry(data, where, faults) | table)
    return tables


def _known(data: Mapping[str, Any], known: tuple[str, ...], where: str, faults: Faults) -> None:
    for key in data:
        if key not in known:
            hint = meant(str(key), known)
            faults.add(where, f"unknown attribute {key!r}; {hint}it may have {', '.join(known)}", "unknown")


def _geometry(data: Mapping[str, Any], where: str, faults: Faults) -> dict[str, Any]:
    geometry = data.get("geometry") or {}
    if not isinstance(geometry, Mapping):
        faults.add(f"{where} geometry", f"is {geometry!r}; write a dictionary with the keys of a file")
        return {}
    reserved = {"name", "bodies", "type", "id", "driven"} & set(geometry)
    for key in sorted(reserved):
        faults.add(f"{where} geometry", f"{key!r} stands beside it, not in it", "conflict")
    return {key: value for key, value in geometry.items() if key not in reserved}
