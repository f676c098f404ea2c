"""Content of a structural graph as plain data: vertices, bundles of lines, clusters. No drawing here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from mbssa.pictures.hues import Hue, body_colours, group_hues, tinted
from mbssa.structure import Structure

VertexKind = Literal["frame", "body", "joint"]
State = Literal["frame", "sound", "over", "under", "open"]
ClusterKind = Literal["group", "over", "under"]


@dataclass(frozen=True, slots=True)
class Vertex:
    """Body, or the small square of a joint of three bodies."""

    kind: VertexKind
    key: str
    number: int
    name: str
    # state: over- (over) or under-constrained (under) by the count, or not reached by the search (open)
    state: State = "sound"
    fill: str | None = None  # shade of a body of a group


@dataclass(frozen=True, slots=True)
class Bundle:
    """The lines of one joint between two vertices: one line a free coordinate, some of them driven."""

    key: str
    ends: tuple[int, int]
    grade: int
    driven: int
    code: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """Vertices that share an outline: a structural group with its hue, or a part that is not determined."""

    kind: ClusterKind
    key: str
    label: str  # of a group with its level in brackets where there are several
    members: tuple[int, ...]
    hue: Hue | None = None


@dataclass(frozen=True, slots=True)
class Network:
    """Content of the structural graph. Vertex 0 is the frame; bodies keep their index."""

    vertices: tuple[Vertex, ...]
    bundles: tuple[Bundle, ...]
    clusters: tuple[Cluster, ...]
    order: tuple[tuple[int, int], ...]  # pairs of clusters (indices; -1 is the frame), predecessors first


def network(structure: Structure) -> Network:
    """Network of the structural graph of a structure."""
    vertices = list(_bodies(structure))
    bundles: list[Bundle] = []
    hubs: dict[int, tuple[int, ...]] = {}
    for key, joint in zip(joint_keys(structure), structure.mechanism.joints, strict=True):
        ends = structure.mechanism.joint_bodies(joint.index)
        shape = joint.type.grade, len(joint.driven), joint.type.code
        if len(ends) == 2:
            bundles.append(Bundle(key, (ends[0], ends[1]), *shape))
            continue
        hub = len(vertices)
        hubs[hub] = ends
        vertices.append(Vertex("joint", f"{key}-square", hub, joint.type.code))
        bundles += [Bundle(f"{key}-arm-{end + 1}", (hub, end), *shape) for end in ends]
    clusters = tuple(_with_squares(cluster, hubs) for cluster in _clusters(structure))
    return Network(tuple(vertices), tuple(bundles), clusters, tuple(_order(structure, clusters)))


def joint_keys(structure: Structure) -> list[str]:
    """One identifier per joint that XML accepts: ``joint-2-3``, ``joint-2-3.2`` for the second."""
    seen: dict[str, int] = {}
    keys = []
    for joint in range(structure.mechanism.n_joints):
        ends = sorted(structure.mechanism.joint_bodies(joint))
        key = "joint-" + "-".join(str(end + 1) for end in ends)
        seen[key] = seen.get(key, 0) + 1
        keys.append(key if seen[key] == 1 else f"{key}.{seen[key]}")
    return keys


def _bodies(structure: Structure) -> Iterator[Vertex]:
    state: dict[int, State] = dict.fromkeys(structure.unresolved, "open")
    for part in reversed(structure.parts):  # over-constrained parts come first and have the last word
        state.update(dict.fromkeys(part.bodies, part.kind))
    colours, grouped = body_colours(structure), structure.group_of_body.tolist()
    for body in structure.mechanism.bodies:
        fill = tinted(colours[body.index], 0.4) if grouped[body.index] else None
        kind: VertexKind = "body" if body.index else "frame"
        key = f"body-{body.number}"
        yield Vertex(kind, key, body.number, body.name, state.get(body.index, "sound"), fill)


def _clusters(structure: Structure) -> Iterator[Cluster]:
    hues = group_hues(structure)
    levels = structure.level_of_group.tolist()
    for group in structure.groups:
        label, key = f"SG-{group.number}", f"group-{group.number}"
        if max(levels) > 1:
            label += f" ({levels[group.number - 1]})"
        yield Cluster("group", key, label, tuple(group.body_indices.tolist()), hues[group.number])
    for number, part in enumerate(structure.parts, start=1):
        if not structure.group_of_body[list(part.bodies)].any():  # else the group is the outline
            label = f"{part.kind} by {part.units}"
            yield Cluster(part.kind, f"part-{number}", label, part.bodies)


def _with_squares(cluster: Cluster, hubs: dict[int, tuple[int, ...]]) -> Cluster:
    """The cluster with the squares of those joints of three bodies that lie wholly in it."""
    mine = set(cluster.members)
    inside = tuple(hub for hub, ends in hubs.items() if mine.issuperset(ends))
    return replace(cluster, members=cluster.members + inside)


def _order(structure: Structure, clusters: tuple[Cluster, ...]) -> Iterator[tuple[int, int]]:
    for place, cluster in enumerate(clusters):
        yield -1, place
        if cluster.kind == "group":
            for before in structure.groups[place].depends_on:
                yield before - 1, place
