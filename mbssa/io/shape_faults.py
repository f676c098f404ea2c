"""Faults of shape in a model file: what pydantic found, as place, problem and remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from mbssa.faults import Fault, Faults, meant
from mbssa.io.record_units import in_si
from mbssa.io.schema import LAWS, ModelFile
from mbssa.io.table import by_places, place_text, shape_fault, table_at


def check_shape(raw: dict[str, Any], faults: Faults) -> ModelFile | None:
    """The file as checked tables in SI; entries of wrong shape are reported, then neutralised."""
    # Points keep their names where their body is neutralised. Vectors are counted by the likely space in the
    # second round, where the space itself was wrong in the first.
    points = _points(raw)
    for _ in range(3):
        try:
            return in_si(ModelFile.model_validate(raw, context={"space": raw.get("space"), "points": points}))
        except ValidationError as error:
            by_place = by_places(error, raw)
        _rename(raw, by_place)
        for place, several in by_place.items():
            faults.append(_fault(place, several, raw))
        _neutralise(raw, by_place)
    return None


def _points(raw: dict[str, Any]) -> dict[str, Any]:
    """Points of bodies by the names that joints, forces and centres of mass may give."""
    bodies = raw["body"] if isinstance(raw.get("body"), list) else []
    points: dict[str, Any] = {}
    for number, body in enumerate(bodies, 2):
        named = body.get("points") if isinstance(body, dict) else None
        for name, at in named.items() if isinstance(named, dict) else ():
            points[f"{body.get('name', number)}.{name}"] = at
    return points


def where_in(place: tuple[int | str, ...], raw: dict[str, Any]) -> str:
    """Place such as ``[[joint]] 3 (2-5) axis``: the table, counted from 1, its bodies, the key."""
    if len(place) >= 2 and place[0] in ("body", "joint", "force") and isinstance(place[1], int):
        entry = raw[place[0]][place[1]]
        head = entry_name(str(place[0]), place[1], entry if isinstance(entry, dict) else {})
        rest = place[2:]
    elif place[:1] == ("motion",):
        head, rest = "[motion]", place[1:]
        if rest[:1] == ("inputs",) and len(rest) > 1:
            head, rest = f"[motion] {rest[1]}", rest[2:]
    else:
        head, rest = "", place
    return " ".join(filter(None, (head, place_text(rest))))


def entry_name(table: str, index: int, entry: dict[str, Any]) -> str:
    """Place of a table, counted from 1, with its id, its bodies or its name: ``[[joint]] 3 (2, 5)``."""
    place = f"[[{table}]] {index + 1}"
    for key in {"joint": ("id", "bodies"), "force": ("id", "type"), "body": ("name",)}[table]:
        given = entry.get(key)
        text = ", ".join(map(str, given)) if key == "bodies" and isinstance(given, list) else given
        if text and isinstance(text, str):
            return f"{place} ({text})"
    return place


def _fault(place: tuple[int | str, ...], problems: list[Any], raw: dict[str, Any]) -> Fault:
    where, problem = where_in(place, raw), problems[0]
    if problem["type"] == "union_tag_not_found":
        return Fault(where, f'has no law; write law = "speed", or one of {", ".join(LAWS)}', "missing")
    if problem["type"] == "union_tag_invalid":
        law = str(problem["ctx"]["tag"])
        hint = meant(law, LAWS)
        return Fault(where, f"{law!r} is not a law; {hint}the laws are {', '.join(LAWS)}", "unknown")
    return shape_fault(where, problems, table_at(ModelFile, problem["loc"]))


def _rename(raw: dict[str, Any], by_place: dict[tuple[int | str, ...], list[Any]]) -> None:
    """Give a missing key the value of the one that was meant for it, which alone is then a fault."""
    for place in [place for place, several in by_place.items() if several[0]["type"] == "missing"]:
        beside = [
            str(other[-1])
            for other, several in by_place.items()
            if other[:-1] == place[:-1] and several[0]["type"] == "extra_forbidden"
        ]
        if near := difflib.get_close_matches(str(place[-1]), beside, n=1):
            table: Any = raw
            for step in place[:-1]:
                table = table[step]
            table[place[-1]] = table[near[0]]
            del by_place[place]


def _likely_space(raw: dict[str, Any]) -> str:
    """The space that was meant: by its spelling, else planar where a joint's point has two numbers."""
    near = difflib.get_close_matches(str(raw.get("space", "")).lower(), ("planar", "spatial"), n=1)
    joints = raw["joint"] if isinstance(raw.get("joint"), list) else []
    points = [joint.get("point") for joint in joints if isinstance(joint, dict)]
    flat = any(isinstance(point, list) and len(point) == 2 for point in points)
    return near[0] if near else "planar" if flat else "spatial"


def _neutralise(raw: dict[str, Any], places: Iterable[tuple[int | str, ...]]) -> None:
    """Take reported entries out so that the rest can be checked; joints keep their numbers."""
    unread: dict[Any, dict[str, Any]] = {"body": {}, "joint": {"bodies": [1, 1], "type": UNREAD}}
    unread["force"] = {"type": UNREAD}
    for place in places:
        if place[:1] and place[0] in unread and len(place) > 1:
            entries, index = raw[str(place[0])], place[1]
            if isinstance(entries[index], dict) and len(place) > 2 and place[2] not in ("bodies", "type"):
                entries[index].pop(place[2], None)
            else:
                entries[index] = dict(unread[place[0]])
        elif place[:2] == ("motion", "inputs") and len(place) > 2:
            # The coordinate keeps a law: that its own is wrong has been said.
            raw["motion"]["inputs"][place[2]] = {"law": "constant"}
        elif place[:1] == ("motion",) and len(place) > 1 and place[1] != "inputs":
            raw.get("motion", {}).pop(place[1], None)
        elif place:
            fallback = {"format": 1, "space": _likely_space(raw)}.get(str(place[0]))
            raw.pop(str(place[0]), None)
            if fallback is not None:
                raw[str(place[0])] = fallback


#: Type of a joint or a force whose shape was wrong: reported already, skipped by the checks of meaning.
UNREAD = "\0unread"
