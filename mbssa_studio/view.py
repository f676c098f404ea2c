"""The session as plain data for the page: drawing, table, matrix, groups, all from the same tables."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from groups.pictures.scene import Scene, outlines_of
from groups.rotations import quaternion_of
from mbssa.joints.catalogue import coordinate_unit, types_of
from mbssa.joints.frames import joint_frames
from mbssa.mechanism import Mechanism
from mbssa.pictures.hues import FRAME, NO_GROUP, body_colours, group_hues
from mbssa.structure import Structure
from mbssa.units import LENGTHS, given_in
from mbssa_studio.document import body_tables, joint_tables, named_points, numbers_of, point_of, points_of
from mbssa_studio.session import Session, State

#: Bodies beyond which the page shows neither the matrix nor the drawing.
MOST_BODIES = 300

_JOINT = re.compile(r"\[\[joint\]\] (\d+)(?: \([^)]*\))?\s*(\w*)")


def view(session: Session) -> dict[str, Any]:
    """Content of the page for a session, ready for JSON."""
    state = session.state
    bodies = body_tables(state.tables)
    joints = joint_tables(state.tables)
    structure = state.structure
    colours = body_colours(structure) if structure is not None else [FRAME] + [NO_GROUP] * len(bodies)
    groups = groups_of(structure)
    group_of = {body: group["number"] for group in groups for body in group["bodies"]}
    mechanism = state.mechanism
    return {
        "revision": session.revision,
        "name": state.name,
        "title": _plain(state.tables.get("title", "")),
        "text": state.text,
        "note": session.note,
        "undo": bool(session.done),
        "redo": bool(session.undone),
        "space": _plain(state.tables.get("space", "")),
        "unit": unit_of(state)[0],
        "metres": unit_of(state)[1],
        "reach": _reach(mechanism),
        "placed": mechanism is not None and mechanism.has_geometry,
        "faults": [_fault(fault.place, fault.message) for fault in state.faults],
        "bodies": [
            {
                "number": k + 1,
                "name": str(body.get("name", "frame" if k == 0 else k + 1)),
                "points": named_points(body),
                "colour": colours[k] if k < len(colours) else NO_GROUP,
                "group": group_of.get(k + 1),
            }
            for k, body in enumerate([{}, *bodies])
        ],
        "joints": [
            {
                "index": k,
                "bodies": numbers_of(joint, bodies),
                "written": _plain(joint.get("bodies", [])),
                "type": _plain(joint.get("type", "")),
                "driven": _plain(joint.get("driven", False)) or bool(joint.get("driven_pairs")),
                "point": point_of(joint, bodies),
                "axis": _plain(joint.get("axis")),
                "points": points_of(joint),
                "ratio": _plain(joint.get("ratio")),
            }
            for k, joint in enumerate(joints)
        ],
        "outlines": [] if structure is None else outlines(structure, unit_of(state)[1]),
        "matrix": _matrix(bodies, joints) if len(bodies) < MOST_BODIES else None,
        "types": [
            row.code for row in types_of("planar" if state.tables.get("space") == "planar" else "spatial")
        ],
        "groups": groups,
        "mobility": None if mechanism is None else mechanism.mobility,
        "determined": structure is not None and structure.determined,
        "ids": [] if mechanism is None else list(mechanism.joint_ids),
        "inputs": [] if mechanism is None else inputs_of(mechanism),
    }


def unit_of(state: State) -> tuple[str, float]:
    """Length unit of the file and the metres in it."""
    units = state.tables.get("units")
    length = units.get("length", "m") if isinstance(units, dict) else "m"
    known = length if isinstance(length, str) and length in LENGTHS else "m"
    return known, LENGTHS[known]


def _plain(value: Any) -> Any:
    """Value of a file as JSON has it, and as text where it has none such: dates, infinity, deep nesting."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)[:100]
    return value


def _reach(mechanism: Mechanism | None) -> float:
    """Range of the slider of a length to each side, m: half the size of the mechanism."""
    return joint_frames(mechanism).size / 2 if mechanism is not None and mechanism.has_geometry else 0.1


def inputs_of(mechanism: Mechanism) -> list[dict[str, Any]]:
    """Driven coordinates with their joints' places and bodies."""
    return [
        {
            "name": f"{mechanism.joint_ids[j]}.{name}",
            "coordinate": name,
            "bodies": [b + 1 for b in joint_bodies],
            "unit": unit,
            "scale": scale,  # m or rad in the unit
        }
        for j in np.flatnonzero(mechanism.driven).tolist()
        for joint_bodies in [mechanism.joint_bodies(j)]
        for name in mechanism.joints[j].driven
        for unit, scale in [given_in(coordinate_unit(name), mechanism.units)]
    ]


def outlines(structure: Structure, metres: float) -> list[dict[str, Any]]:
    """Profiles of cams and of their followers, at the reference and in the unit of the file."""
    if not (mechanism := structure.mechanism).has_geometry:
        return []
    frames = joint_frames(mechanism)
    poses, still = (frames.position[None], quaternion_of(frames.rotation)[None]), np.zeros(1, dtype=int)
    scene = Scene(structure, frames, tuple(range(mechanism.n_bodies)), *poses, still)
    return [
        {
            "body": outline.body + 1,
            "closed": outline.closed,
            "points": (scene.world(outline.body, outline.points)[0, :, :2] / metres).round(9).tolist(),
        }
        for outline in outlines_of(scene)
    ]


def _fault(where: str, what: str) -> dict[str, Any]:
    place = _JOINT.match(where)
    return {
        "where": where,
        "what": what,
        "joint": int(place[1]) - 1 if place else None,
        "field": place[2] if place else "",
    }


def groups_of(structure: Structure | None) -> list[dict[str, Any]]:
    """Structural groups with their levels and hues; none where the structure is not determined."""
    if structure is None or not structure.determined:
        return []
    hues = group_hues(structure)
    level = {number: k + 1 for k, numbers in enumerate(structure.levels) for number in numbers}
    return [
        {
            "number": group.number,
            "bodies": list(group.bodies),
            "type": group.type_name,
            "needs": list(group.depends_on),
            "level": level[group.number],
            "colour": hues[group.number].colour,
        }
        for group in structure.groups
    ]


def _matrix(bodies: list[Any], joints: list[Any]) -> list[list[str]]:
    """The paper's extended adjacency matrix of the tables; a shared joint is in the cell of each pair."""
    n = len(bodies) + 1
    cells = [["-"] * n for _ in range(n)]
    for joint in joints:
        ends = sorted(set(numbers_of(joint, bodies)))
        code = str(joint.get("type", "?"))
        for place, i in enumerate(ends):
            for j in ends[place + 1 :]:
                before = cells[i - 1][j - 1]
                cells[i - 1][j - 1] = cells[j - 1][i - 1] = code if before == "-" else f"{before}+{code}"
    return cells
