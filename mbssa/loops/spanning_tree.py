"""Spanning trees with cut joints, in the form that Wehage's algorithm takes them: chosen, or the user's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mbssa.disjoint_set import breadth_first, spanning_forest
from mbssa.loops.assembly import LoopGraph
from mbssa.loops.merging import wehage

#: Remedy of a record that is no tree.
_TREE = 'write {"P": [0, 1, …], "loop_terminators": [[5, 10], …]}, numbers of bodies'


class CutTree(NamedTuple):
    """Tree and its cut joints, as in Tables 1, 4 and 6 of the paper."""

    parents: list[int]  # of body 1, 2, …, virtual bodies last; 0 for the frame
    terminators: list[tuple[int, int]]  # two bodies of each loop that coincide when it is closed
    cuts: list[int]  # joint indices, one for each pair of terminators


def chosen_tree(graph: LoopGraph) -> CutTree:
    """Tree of the joints with few coordinates and, of these, of those near the frame."""
    ends, far = graph.ends, _parents_and_depths(graph, graph.ends)[1]
    weight = graph.mechanism.grade.tolist()
    order = sorted(ends, key=lambda j: (weight[j], sum(far[body] for body in ends[j]), ends[j], j))
    kept = spanning_forest(graph.mechanism.n_bodies, ends, order)
    return _tree(graph, kept, sorted(ends.keys() - kept))


def tree_of_cuts(graph: LoopGraph, names: Sequence[str]) -> CutTree:
    """Tree that is left when these joints are cut; ValueError with the reason why they cannot be."""
    m = graph.mechanism
    cuts: list[int] = []
    faults: list[str] = []
    for name in names:
        try:
            joint = m.joint(name)
        except KeyError as error:
            faults.append(str(error.args[0]))
            continue
        if joint.index not in graph.ends:
            faults.append(f"joint {joint} closes no loop")
        elif joint.index in cuts:
            faults.append(f"joint {joint.id} is cut twice")
        else:
            cuts.append(joint.index)
    kept = [joint for joint in graph.ends if joint not in cuts]
    whole = spanning_forest(m.n_bodies, graph.ends, [*kept, *cuts])
    out = [m.joint_ids[joint] for joint in cuts if joint in whole]
    more = [m.joint_ids[joint] for joint in kept if joint not in whole]
    if not faults and (out or more):
        wanted = len(graph.ends) - len(whole)
        loops = "1 loop needs 1 cut" if wanted == 1 else f"{wanted or 'no'} loops need {wanted or 'no'} cuts"
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
    wehage(parents, pairs)  # refuses parents that form no tree
    n, ids = graph.mechanism.n_bodies, graph.mechanism.joint_ids
    if len(parents) < n:
        raise ValueError(
            f"P has {len(parents)} parents; write one for each of the {n} bodies, 0 for the frame"
        )
    names = record.get("parent_joints", [])
    if not isinstance(names, list):
        raise ValueError("parent_joints is no list; write a joint's id for each body, null for the frame")
    faults: list[str] = []
    used: list[int] = []
    hanging = [(body, parents[body - 1]) for body in range(2, n + 1)]
    for body, pair in [*((pair[0], pair) for pair in hanging), *((max(pair), pair) for pair in pairs)]:
        a, b = (parents[each - 1] if each > n else each for each in pair)
        joining = [j for j, ends in graph.ends.items() if ends == (min(a, b) - 1, max(a, b) - 1)]
        if len(joining) > 1:
            joining = [j for j in joining if ids[j] in names[body - 1 : body]] or joining
        if len(joining) == 1:
            used += joining
        elif joining:
            faults.append(f"several joints join the bodies {a} and {b}; write their ids in parent_joints")
        else:
            faults.append(f"no joint joins the bodies {a} and {b}")
    faults += [f"joint {ids[j]} is a duplicate" for j in sorted(set(used)) if used.count(j) > 1]
    faults += [f"joint {ids[j]} is neither kept nor cut" for j in sorted(graph.ends.keys() - used)]
    if faults:
        raise ValueError("; ".join(faults))
    return CutTree(parents, [(first, second) for first, second in pairs], used[n - 1 :])


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


def _parents_and_depths(graph: LoopGraph, joints: Iterable[int]) -> tuple[list[int], list[int]]:
    """Parent (body number; 0 for the frame) and distance from the frame of each body along some joints."""
    # Bodies that do not hang on the frame count as next to it.
    n, ends = graph.mechanism.n_bodies, {joint: graph.ends[joint] for joint in joints}
    parents, depths = [0] * n, [0] * n
    for body, joint in breadth_first(ends, range(n)).items():
        if body:
            above = 0 if joint is None else sum(ends[joint]) - body
            parents[body], depths[body] = above + 1, depths[above] + 1
    return parents, depths


def _tree(graph: LoopGraph, kept: Sequence[int], cuts: list[int]) -> CutTree:
    """Tree with the virtual body of each cut on the side that is nearer to the frame."""
    parents, far = _parents_and_depths(graph, kept)
    terminators = []
    for joint in cuts:
        # The other way round, a terminator could lie on the other's way to the frame (see merging.py).
        a, b = sorted(graph.ends[joint], key=lambda body: (far[body], body))
        parents.append(a + 1)
        terminators.append((b + 1, len(parents)))
    return CutTree(parents, terminators, cuts)
