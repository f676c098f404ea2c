"""Content of a structural graph as plain data: vertices, bundles of lines, clusters. No drawing here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from mbssa.pictures.hues import Hue, body_colours, group_hues, tinted
from mbssa.pictures.style import State
from mbssa.structure import Structure


class Vertex(NamedTuple):
    """Body, or the small square of a joint of three bodies, whose name is the joint's type."""

    state: State
    key: str
    name: str
    number: int = 0
    fill: str | None = None  # shade of a body of a group


class Bundle(NamedTuple):
    """The lines of one joint between two vertices: one line a free coordinate, some of them driven."""

    key: str
    ends: tuple[int, int]
    grade: int
    driven: int
    code: str


class Cluster(NamedTuple):
    """Vertices that share an outline: a structural group with its hue, or a part that is not determined."""

    state: State  # sound: a group
    key: str
    label: str  # of a group with its level in brackets where there are several
    members: tuple[int, ...]
    hue: Hue | None = None


class Network(NamedTuple):
    """Content of the structural graph. Vertex 0 is the frame; bodies keep their index."""

    vertices: list[Vertex]
    bundles: list[Bundle]
    clusters: list[Cluster]
    order: list[tuple[int, int]]  # pairs of clusters (indices; -1 is the frame), predecessors first


def network(structure: Structure) -> Network:
    """Network of the structural graph of a structure."""
    vertices, bundles = [*_bodies(structure)], list[Bundle]()
    squares: dict[int, tuple[int, ...]] = {}
    seen = Counter[str]()
    for joint in structure.mechanism.joints:
        ends = structure.mechanism.joint_bodies(joint.index)
        key = "joint-" + "-".join(str(end + 1) for end in sorted(ends))
        seen[key] += 1
        if seen[key] > 1:
            key += f".{seen[key]}"  # an identifier that XML accepts
        shape = joint.type.grade, len(joint.driven), joint.type.code
        if len(ends) == 2:
            bundles.append(Bundle(key, (ends[0], ends[1]), *shape))
            continue
        square = len(vertices)
        squares[square] = ends
        vertices.append(Vertex("joint", f"{key}-square", joint.type.code))
        bundles += [Bundle(f"{key}-arm-{end + 1}", (square, end), *shape) for end in ends]
    clusters = []
    for cluster in _clusters(structure):
        inside = [square for square, ends in squares.items() if {*ends} <= {*cluster.members}]
        clusters.append(cluster._replace(members=(*cluster.members, *inside)))
    order = [(-1, place) for place in range(len(clusters))]
    order += [(before - 1, group.number - 1) for group in structure.groups for before in group.depends_on]
    return Network(vertices, bundles, clusters, order)


def _bodies(structure: Structure) -> Iterator[Vertex]:
    state: dict[int, State] = dict.fromkeys(structure.unresolved, "open")
    for part in reversed(structure.parts):  # over-constrained parts come first and have the last word
        state |= dict.fromkeys(part.bodies, part.kind)
    state[0] = "frame"
    colours = body_colours(structure)
    for body, group in zip(structure.mechanism.bodies, structure.group_of_body.tolist(), strict=True):
        fill = tinted(colours[body.index], 0.4) if group else None
        yield Vertex(state.get(body.index, "sound"), f"body-{body.number}", body.name, body.number, fill)


def _clusters(structure: Structure) -> Iterator[Cluster]:
    hues, levels = group_hues(structure), structure.level_of_group.tolist()
    for group, level in zip(structure.groups, levels, strict=True):
        label = f"SG-{group.number} ({level})" if max(levels) > 1 else f"SG-{group.number}"
        members = tuple(group.body_indices.tolist())
        yield Cluster("sound", f"group-{group.number}", label, members, hues[group.number])
    for number, part in enumerate(structure.parts, start=1):
        if not structure.group_of_body[list(part.bodies)].any():  # else the group is the outline
            yield Cluster(part.kind, f"part-{number}", f"{part.kind} by {part.units}", part.bodies)
