"""Spanning trees with cut joints, in the form that Wehage's algorithm takes them: chosen, or the user's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mbssa.disjoint_set import spanning_forest
from mbssa.loops.assembly import LoopGraph
from mbssa.loops.cycle_basis import n_loops

#: Remedy of a record that is no tree.
_TREE = 'write {"P": [0, 1, …], "loop_terminators": [[5, 10], …]}, numbers of bodies'


@dataclass(frozen=True, slots=True)
class CutTree:
    """Tree and its cut joints, as in Tables 1, 4 and 6 of the paper."""

    parents: tuple[int, ...]  # of body 1, 2, …, virtual bodies last; 0 for the frame
    terminators: tuple[tuple[int, int], ...]  # two bodies of each loop that coincide when it is closed
    cuts: tuple[int, ...]  # edges of the loop graph, one for each pair of terminators


def chosen_tree(graph: LoopGraph) -> CutTree:
    """Tree of the joints with few coordinates and, of these, of those near the frame."""
    far = _distances(graph)
    weights = graph.weights
    order = sorted(
        range(len(graph.ends)),
        key=lambda e: (weights[e], sum(far[b] for b in graph.ends[e]), graph.ends[e], e),
    )
    return _tree(graph, spanning_forest(graph.mechanism.n_bodies, graph.ends, order))


def tree_of_cuts(graph: LoopGraph, names: Sequence[str]) -> CutTree:
    """Tree that is left when these joints are cut; ValueError with the reason why they cannot be."""
    m = graph.mechanism
    edge_of = {joint: edge for edge, joint in enumerate(graph.joints)}
    cuts: list[int] = []
    faults: list[str] = []
    for name in names:
        try:
            joint = m.joint(name)
        except KeyError as error:
            faults.append(str(error.args[0]))
            continue
        if joint.index not in edge_of:
            faults.append(f"joint {joint} closes no loop")
        elif edge_of[joint.index] in cuts:
            faults.append(f"joint {joint.id} is cut twice")
        else:
            cuts.append(edge_of[joint.index])
    kept = [edge for edge in range(len(graph.ends)) if edge not in cuts]
    whole = spanning_forest(m.n_bodies, graph.ends, [*kept, *cuts])
    out = [m.joint_ids[graph.joints[edge]] for edge in cuts if edge in whole]
    more = [m.joint_ids[graph.joints[edge]] for edge in kept if edge not in whole]
    if not faults and (out or more):
        wanted = n_loops(m.n_bodies, graph.ends) or "no"
        loops = "1 loop needs 1 cut" if wanted == 1 else f"{wanted} loops need {wanted} cuts"
        there = "there is none" if not cuts else "here is 1" if len(cuts) == 1 else f"here are {len(cuts)}"
        loose = "bodies come loose from the frame: " if out else ""
        remedy = [f"leave out {', '.join(out)}"] if out else []
        remedy += [f"cut {', '.join(more)} too"] if more else []
        faults.append(f"{loose}{loops}, and {there}; {', and '.join(remedy)}, for instance")
    if faults:
        raise ValueError("; ".join(faults))
    return _tree(graph, whole, cuts)


def tree_of_record(graph: LoopGraph, record: Mapping[str, Any]) -> CutTree:
    """Tree of the user, with the lists of the paper's Table 1: ``P`` and ``loop_terminators``."""
    # ``parent_joints``, which the table has too, are read only where two joints join a body to its parent;
    # there they are ids of joints.
    parents, pairs = record.get("P", ()), record.get("loop_terminators")
    if not _is_numbers(parents) or not isinstance(pairs, list) or not all(map(_is_numbers, pairs)):
        raise ValueError(_TREE)
    from mbssa.loops.merging import wehage

    wehage(parents, pairs)  # refuses parents that form no tree
    n = graph.mechanism.n_bodies
    if len(parents) < n:
        raise ValueError(
            f"P has {len(parents)} parents; write one for each of the {n} bodies, 0 for the frame"
        )
    names = record.get("parent_joints", [])
    if not isinstance(names, list):
        raise ValueError("parent_joints is no list; write a joint's id for each body, null for the frame")
    faults: list[str] = []

    def edge_between(body: int, other: int, who: int) -> int | None:
        a, b = (parents[each - 1] if each > n else each for each in (body, other))
        joining = [e for e, ends in enumerate(graph.ends) if ends == (min(a, b) - 1, max(a, b) - 1)]
        if len(joining) > 1 and who <= len(names):
            ids = graph.mechanism.joint_ids
            joining = [e for e in joining if ids[graph.joints[e]] == names[who - 1]]
        if len(joining) == 1:
            return joining[0]
        why = "no joint joins" if not joining else "several joints join"
        hint = "" if not joining else "; write the ids of joints in parent_joints"
        faults.append(f"{why} the bodies {a} and {b}{hint}")
        return None

    kept = [edge_between(body, parents[body - 1], body) for body in range(2, n + 1)]
    cuts = [edge_between(first, second, max(first, second)) for first, second in pairs]
    used = [edge for edge in (*kept, *cuts) if edge is not None]
    for edge in sorted(set(used)):
        if used.count(edge) > 1:
            faults.append(f"joint {graph.mechanism.joint_ids[graph.joints[edge]]} is a duplicate")
    for edge in sorted(set(range(len(graph.ends))) - set(used)):
        faults.append(f"joint {graph.mechanism.joint_ids[graph.joints[edge]]} is neither kept nor cut")
    if faults:
        raise ValueError("; ".join(faults))
    terminators = tuple((first, second) for first, second in pairs)
    return CutTree(tuple(parents), terminators, tuple(edge for edge in cuts if edge is not None))


def read_tree(path: Path) -> dict[str, Any]:
    """Record of a JSON file."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise ValueError(_TREE)
    return record


def _is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(type(each) is int for each in value)


def _distances(graph: LoopGraph, edges: Sequence[int] | None = None) -> list[int]:
    """Joints from the frame to each body; bodies that do not hang on it count as next to it."""
    return [max(1, far) if body else 0 for body, (_, far) in enumerate(_hung(graph, edges))]


def _hung(graph: LoopGraph, edges: Sequence[int] | None = None) -> list[tuple[int, int]]:
    """Parent (body index; -1 for the frame) and distance of each body, breadth first along these edges."""
    n = graph.mechanism.n_bodies
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for edge in range(len(graph.ends)) if edges is None else edges:
        a, b = graph.ends[edge]
        neighbours[a].append(b)
        neighbours[b].append(a)
    hung: dict[int, tuple[int, int]] = {0: (-1, 0)}
    for root in range(n):
        hung.setdefault(root, (0, 1))
        queue = [root]
        for body in queue:
            for other in sorted(neighbours[body]):
                if other not in hung:
                    hung[other] = (body, hung[body][1] + 1)
                    queue.append(other)
    return [hung[body] for body in range(n)]


def _tree(graph: LoopGraph, kept: Sequence[int], cuts: Sequence[int] | None = None) -> CutTree:
    """Tree with the virtual body of each cut on the side that is nearer to the frame."""
    hung = _hung(graph, kept)
    parents = [parent + 1 for parent, _ in hung]
    if cuts is None:
        cuts = sorted(set(range(len(graph.ends))) - set(kept))
    terminators = []
    for edge in cuts:
        # The other way round, a terminator could lie on the other's way to the frame (see merging.py).
        near, far = sorted(graph.ends[edge], key=lambda body: (hung[body][1], body))
        parents.append(near + 1)
        terminators.append((far + 1, len(parents)))
    return CutTree(tuple(parents), tuple(terminators), tuple(cuts))
